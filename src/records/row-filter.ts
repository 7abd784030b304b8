// The filter of a list whose rows are no records: what it means for this caller, and which rows match. Rows are looked
// at in steps, by SQL as far as it can tell.

import type { Condition } from "../db/reading/condition.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { holdsFor, type Settled } from "../db/reading/settled-condition.ts";
import type { FilterText } from "./list-filter.ts";
import { readFilter } from "./read-filter.ts";
import { meantInstant } from "./read-instant.ts";
import type { RowFields } from "./row-fields.ts";

/** What a row has to be like. */
export class RowFilter {
  private readonly condition: Condition;
  private settledAlone: Settled | null = null;

  private constructor(condition: Condition) {
    this.condition = condition;
  }

  /**
   * @returns null for a filter that asks nothing
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

  /** Whether it asks anything of a field of the row. */
  asks(field: string): boolean {
    return asksOf(this.condition, field);
  }

  /**
   * With what it asks of records looked up.
   * @param asOf a fixed sequence, unless all steps are taken on one state of the database
   */
  *settled(reader: Reader, reach: Reach, asOf: AsOf | null): Generator<void, Settled> {
    return yield* reader.settledRow(this.condition, reach, asOf);
  }

  /** Of rows that name no record: such a filter asks nothing of the store. */
  get alone(): Settled {
    this.settledAlone ??= settledAlone(this.condition);
    return this.settledAlone;
  }

  /** Whether a row matches that names no record. */
  holds(row: object): boolean {
    return holdsForRow(this.alone, row);
  }
}

export function holdsForRow(settled: Settled, row: object): boolean {
  return holdsFor(settled, 0, row as Readonly<Record<string, unknown>>, () => null);
}

/** Rows in their order, as they are gone through. */
export interface RowSource<Key> {
  /** Those of the next step; none at the end. SQL tells 1 or 0, or null where only the row itself can tell. */
  readonly next: (last: Key | null) => ReadonlyArray<readonly [key: Key, verdict: number | null]>;
  /** As they are answered. */
  readonly rows: (keys: readonly Key[]) => ReadonlyMap<Key, object>;
}

/** The keys of all rows that match, in their order. */
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
