// Filter for lists whose rows are not records: its condition for the caller, and the matching rows. Tests rows in
// steps, in SQL as far as possible.

import type { Condition } from "../db/reading/condition.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { holdsFor, type ResolvedCondition } from "../db/reading/resolved-condition.ts";
import type { RequestFilter } from "./list-filter.ts";
import { readFilter } from "./read-filter.ts";
import { parseInstantText } from "./read-instant.ts";
import type { RowFields } from "./row-fields.ts";

/** A condition on rows. */
export class RowFilter {
  private readonly condition: Condition;
  private settledInMemory: ResolvedCondition | null = null;

  private constructor(condition: Condition) {
    this.condition = condition;
  }

  /**
   * @returns null for an empty filter
   * @throws DomainError validation_failed
   */
  static of(reader: Reader, fields: RowFields, reach: Reach, filter: RequestFilter | undefined): RowFilter | null {
    if (filter === undefined) return null;
    const { base } = filter;
    const condition = readFilter(filter, fields, {
      base,
      instantOf: (literal) => parseInstantText(reader, reach, literal, base),
      sequenceAt: () => {
        throw new Error("filters: rows without versions cannot be read as of another timestamp");
      },
    });
    return condition === null ? null : new RowFilter(condition);
  }

  /** Whether the filter uses a field of the row. */
  usesField(field: string): boolean {
    return conditionUsesField(this.condition, field);
  }

  /**
   * Resolves its lookups of records.
   * @param asOf a fixed sequence, unless all steps run on one snapshot
   */
  *settled(reader: Reader, reach: Reach, asOf: AsOf | null): Generator<void, ResolvedCondition> {
    return yield* reader.resolvedRow(this.condition, reach, asOf);
  }

  /** For rows without references to records: needs no lookups. */
  get alone(): ResolvedCondition {
    this.settledInMemory ??= settledInMemory(this.condition);
    return this.settledInMemory;
  }

  /** Whether a row without references to records matches. */
  holds(row: object): boolean {
    return holdsForRow(this.alone, row);
  }
}

export function holdsForRow(settled: ResolvedCondition, row: object): boolean {
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
export function* matchingKeys<Key>({ next, rows }: RowSource<Key>, settled: ResolvedCondition): Generator<void, Key[]> {
  const found: Key[] = [];
  for (let step = next(null); step.length > 0; step = next((step.at(-1) as (typeof step)[0])[0])) {
    const undecided = step.flatMap(([key, verdict]) => (verdict === null ? [key] : []));
    const rowsByKey = undecided.length === 0 ? new Map<Key, object>() : rows(undecided);
    for (const [key, verdict] of step) {
      const row = rowsByKey.get(key);
      if (verdict === 1 || (row !== undefined && holdsForRow(settled, row))) found.push(key);
    }
    yield;
  }
  return found;
}

function settledInMemory(condition: Condition): ResolvedCondition {
  switch (condition.type) {
    case "all":
    case "any":
      return { type: condition.type, parts: condition.parts.map(settledInMemory) };
    case "not":
      return { type: "not", part: settledInMemory(condition.part) };
    case "field":
    case "present":
      return condition;
    default:
      throw new Error(`filters: ${condition.type} requires records, which rows in memory do not reference`);
  }
}

function conditionUsesField(condition: Condition, field: string): boolean {
  switch (condition.type) {
    case "all":
    case "any":
      return condition.parts.some((part) => conditionUsesField(part, field));
    case "not":
      return conditionUsesField(condition.part, field);
    case "field":
    case "present":
      return condition.path.steps[0]?.name === field;
    case "names":
      return condition.paths.some(({ steps }) => steps[0]?.name === field);
    default:
      return false;
  }
}
