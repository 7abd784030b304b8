// Tally of changes: number per operation, first and last transaction. No SQL.

import type { ChangeCounts, VersionOperation } from "../../db/change-counts.ts";

export class Tally {
  created = 0;
  updated = 0;
  deleted = 0;
  /** Transaction sequences. */
  first = Number.POSITIVE_INFINITY;
  last = 0;

  get total(): number {
    return this.created + this.updated + this.deleted;
  }

  /** Adds one change. */
  add(operation: VersionOperation, sequence: number): void {
    if (operation === "Created") this.created += 1;
    else if (operation === "Updated") this.updated += 1;
    else this.deleted += 1;
    this.extendTo(sequence, sequence);
  }

  /** Adds many changes. @param operation only this one; null for all */
  addCounts({ Created, Updated, Deleted }: ChangeCounts, operation: VersionOperation | null): void {
    if (operation === null || operation === "Created") this.created += Created;
    if (operation === null || operation === "Updated") this.updated += Updated;
    if (operation === null || operation === "Deleted") this.deleted += Deleted;
  }

  addTally({ created, updated, deleted, first, last }: Tally): void {
    this.created += created;
    this.updated += updated;
    this.deleted += deleted;
    this.extendTo(first, last);
  }

  extendTo(first: number, last: number): void {
    if (first < this.first) this.first = first;
    if (last > this.last) this.last = last;
  }
}

/** Most changes first, then the latest. */
export function compareByTotal(left: Tally, right: Tally): number {
  return right.total - left.total || right.last - left.last;
}
