// Unfounded versions: those that a scan wrote although nothing about their record had changed since the previous
// version.

import { ratio } from "./presence.ts";

/** A version as the change feed reports it. */
export interface Change {
  readonly type: string;
  readonly operation: "Created" | "Updated" | "Deleted";
  readonly fields: readonly string[];
  readonly byScan: boolean;
  readonly at: number;
  readonly id: string;
  readonly record: any;
  /** Previous state; undefined for a new record. */
  readonly before: any;
}

/** Fields about the discovery of a record, and lists of records that have their own versions. */
const NOT_OF_THE_WORLD = new Set(["source", "interfaces", "ip_addresses", "ports", "services", "components"]);

export class Versions {
  private total = 0;
  private unfounded = 0;
  /** Unfounded versions on days without events, after all earlier changes were read. */
  private quiet = 0;
  readonly examples = new Map<string, number>();

  add(change: Change, isFounded: boolean, isSettledDay: boolean): void {
    if (change.operation === "Updated" && change.fields.every((field) => NOT_OF_THE_WORLD.has(field))) return;
    this.total += 1;
    if (isFounded) return;
    this.unfounded += 1;
    if (isSettledDay) this.quiet += 1;
    const { if_name, ip_address, name } = change.record;
    const fields = change.fields.length === 0 ? "" : `: ${change.fields.join(", ")}`;
    const example = `${change.operation} ${change.type} ${if_name ?? ip_address ?? name}${fields}`;
    this.examples.set(example, (this.examples.get(example) ?? 0) + 1);
  }

  get unfoundedShare(): number {
    return ratio(this.unfounded, Math.max(1, this.total));
  }

  get onQuietDays(): number {
    return this.quiet;
  }
}
