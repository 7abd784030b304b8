// Filter of lists whose rows are not records: its condition for the caller, and the matching rows. Tests rows in steps,
// in SQL as far as possible.

import type { Condition } from "../db/reading/condition.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { holdsFor, type Settled } from "../db/reading/settled-condition.ts";
import type { FilterText } from "./list-filter.ts";
import { readFilter } from "./read-filter.ts";
import { meantInstant } from "./read-instant.ts";
import type { RowFields } from "./row-fields.ts";

/** A condition on rows. */
export class RowFilter {
  private readonly condition: Condition;
  private settledAlone: Settled | null = null;

  private constructor(condition: Condition) {
    this.condition = condition;
  }

  /**
   * @returns null for an empty filter
   * @throws DomainError validation_failed
   */
  static of(reader: Reader, fields: RowFields, reach: Reach, filter: FilterText | undefined): RowFilter | null {
    if (filter === undefined) return null;
    const { text, base } = filter;
    const condition = readFilter(text, fields, {
      base,
      instantOf: (written) => meantInstant(reader, reach, written, base),
      sequenceAt: () => {
        throw new Error("filters: rows that have no versions are asked of no other instant");
      },
    });
    return condition === null ? null : new RowFilter(condition);
  }

  /** Whether the filter uses a field of the row. */
  asks(field: string): boolean {
    return asksOf(this.condition, field);
  }

  /**
   * Resolves its lookups of records.
   * @param asOf a fixed sequence, unless all steps run on one snapshot
   */
  *settled(reader: Reader, reach: Reach, asOf: AsOf | null): Generator<void, Settled> {
    return yield* reader.settledRow(this.condition, reach, asOf);
  }

  /** For rows without references to records: needs no lookups. */
  get alone(): Settled {
    this.settledAlone ??= settledAlone(this.condition);
    return this.settledAlone;
  }

  /** Whether a row without references to records matches. */
  holds(row: object): boolean {
    return holdsForRow(this.alone, row);
  }
}

export function holdsForRow(settled: Settled, row: object): boolean {
  return holdsFor(settled, 0, row as Readonly<Record<string, unknown>>, () => null);
}

/** Ordered source of rows. */
export interface RowSource<Key> {
  /** Rows of the next step; empty at the end. The SQL verdict is 1, 0, or null if only the row itself can decide. */
  readonly next: (last: Key | null) => ReadonlyArray<readonly [key: Key, verdict: number | null]>;
  /** Rows in response form. */
  readonly rows: (keys: readonly Key[]) => ReadonlyMap<Key, object>;
}

/** Keys of all matching rows, in order. */
export function* matchingKeys<Key>({ next, rows }: RowSource<Key>, settled: Settled): Generator<void, Key[]> {
  const found: Key[] = [];
  for (let step = next(null); step.length > 0; step = next((step.at(-1) as (typeof step)[0])[0])) {
    const unsure = step.flatMap(([key, verdict]) => (verdict === null ? [key] : []));
    const looked = unsure.length === 0 ? new Map<Key, object>() : rows(unsure);
    for (const [key, verdict] of step) {
      const row = looked.get(key);
      if (verdict === 1 || (row !== undefined && holdsForRow(settled, row))) found.push(key);
    }
    yield;
  }
  return found;
}

function settledAlone(condition: Condition): Settled {
  switch (condition.type) {
    case "all":
    case "any":
      return { type: condition.type, parts: condition.parts.map(settledAlone) };
    case "not":
      return { type: "not", part: settledAlone(condition.part) };
    case "field":
    case "present":
      return condition;
    default:
      throw new Error(`filters: ${condition.type} asks of records, and rows in memory name none`);
  }
}

function asksOf(condition: Condition, field: string): boolean {
  switch (condition.type) {
    case "all":
    case "any":
      return condition.parts.some((part) => asksOf(part, field));
    case "not":
      return asksOf(condition.part, field);
    case "field":
    case "present":
      return condition.place.steps[0]?.name === field;
    case "names":
      return condition.places.some(({ steps }) => steps[0]?.name === field);
    default:
      return false;
  }
}
