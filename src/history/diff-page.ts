// Paging and counting of differences. Independent of records.

import { ownValue } from "../base/fields.ts";
import type { AnyKind } from "../db/kind.ts";
import type { Sort } from "./touched-records.ts";

/** Selects one page of an ordered sequence of differences. */
export class DiffPage {
  private readonly offset: number;
  private readonly limit: number;
  private passed = 0;

  /** @param limit 0 for all */
  constructor(offset: number, limit: number) {
    this.offset = offset;
    this.limit = limit;
  }

  /** Whether the next `count` differences are all outside the page. */
  isOutside(count: number): boolean {
    return this.passed + count <= this.offset || (this.limit > 0 && this.passed >= this.offset + this.limit);
  }

  pass(count: number): void {
    this.passed += count;
  }

  /** The part of the next differences that is on the page. */
  take<T>(next: T[]): T[] {
    const start = Math.max(0, this.offset - this.passed);
    const end = this.limit === 0 ? next.length : Math.max(0, this.offset + this.limit - this.passed);
    this.pass(next.length);
    return next.slice(start, end);
  }
}

export class DiffCounts {
  readonly byType: Record<string, Partial<Record<Sort, number>>> = {};
  readonly total = { added: 0, removed: 0, changed: 0 };

  add({ name }: Pick<AnyKind, "name">, sort: Sort, count: number): void {
    const counts = ownValue(this.byType, name) ?? {};
    this.byType[name] = counts;
    counts[sort] = (counts[sort] ?? 0) + count;
    this.total[sort] += count;
  }
}
