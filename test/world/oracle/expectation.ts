// Keys of records that must be present, and of records that may be present.

export class Expectation {
  readonly required = new Set<string>();
  readonly tolerated = new Set<string>();

  add(key: string, as: "required" | "tolerated"): void {
    this[as].add(key);
  }
}

/** Kinds of records whose presence is measured. */
export const KINDS = ["interface", "address", "vlan", "component", "host"] as const;
export type Kind = (typeof KINDS)[number];
export type Expectations = Readonly<Record<Kind, Expectation>>;

export function newExpectations(): Expectations {
  return Object.fromEntries(KINDS.map((kind) => [kind, new Expectation()])) as unknown as Expectations;
}
