// Conditions with all lookups in other records, searches and changes resolved: the rest depends only on each record's
// document and number. No SQL.

import { type FieldCondition, type FieldPath, isPresentAt, valuesAt } from "./condition.ts";

export type ResolvedCondition =
  | { readonly type: "all" | "any"; readonly parts: readonly ResolvedCondition[] }
  | { readonly type: "not"; readonly part: ResolvedCondition }
  | FieldCondition
  | { readonly type: "present"; readonly path: FieldPath }
  /** Refers to one of these records. */
  | {
      readonly type: "names";
      readonly paths: readonly FieldPath[];
      readonly ids: ReadonlySet<string>;
      readonly entryOf?: (id: string) => string;
    }
  /** Is one of these records. */
  | { readonly type: "numbers"; readonly numbers: NumberSet }
  /** For changed records the result is precomputed; for all others the condition applies to the current document. */
  | {
      readonly type: "changed";
      readonly changed: NumberSet;
      readonly matching: NumberSet;
      readonly otherwise: ResolvedCondition;
    }
  | { readonly type: "was"; readonly sequence: number; readonly nested: ResolvedCondition };

/** Distinct record numbers, ascending. */
export class NumberSet {
  static readonly NONE = new NumberSet(new Uint32Array(0));
  readonly sorted: Uint32Array;

  /** @param sorted ascending, distinct */
  private constructor(sorted: Uint32Array) {
    this.sorted = sorted;
  }

  /** @param numbers in any order */
  static of(numbers: Iterable<number> | Uint32Array): NumberSet {
    const sorted = Uint32Array.from(numbers).sort();
    let count = 0;
    for (const n of sorted) if (count === 0 || sorted[count - 1] !== n) sorted[count++] = n;
    return new NumberSet(sorted.subarray(0, count));
  }

  get size(): number {
    return this.sorted.length;
  }

  has(n: number): boolean {
    return this.sorted[this.indexOf(n)] === n;
  }

  /** Numbers in (after, until]. */
  within({ after, until }: { readonly after: number; readonly until: number }): Uint32Array {
    return this.sorted.subarray(this.indexOf(after + 1), this.indexOf(until + 1));
  }

  /** Index of the first number that is not less. */
  private indexOf(n: number): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sorted[middle] as number) < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export type Document = Readonly<Record<string, unknown>>;

/** @param asOf the document of a record as of another transaction; null if it did not exist or was out of reach */
export function holdsFor(
  condition: ResolvedCondition,
  n: number,
  document: Document,
  asOf: (n: number, sequence: number) => Document | null,
): boolean {
  switch (condition.type) {
    case "all":
      return condition.parts.every((part) => holdsFor(part, n, document, asOf));
    case "any":
      return condition.parts.some((part) => holdsFor(part, n, document, asOf));
    case "not":
      return !holdsFor(condition.part, n, document, asOf);
    case "field":
      return valuesAt(document, condition.path.steps).some(condition.test.holds);
    case "present":
      return isPresentAt(document, condition.path.steps);
    case "names":
      return condition.paths.some((path) =>
        valuesAt(document, path.steps).some((value) => condition.ids.has(value as string)),
      );
    case "numbers":
      return condition.numbers.has(n);
    case "changed":
      return condition.changed.has(n) ? condition.matching.has(n) : holdsFor(condition.otherwise, n, document, asOf);
    case "was": {
      const past = asOf(n, condition.sequence);
      return past !== null && holdsFor(condition.nested, n, past, asOf);
    }
  }
}
