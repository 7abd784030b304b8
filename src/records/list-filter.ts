// Request filter: its query parameter, its condition for the caller and time, and its look-back.

import { Type } from "@sinclair/typebox";
import { FILTER_MAX_LENGTH } from "../base/filter-limits.ts";
import type { Instant } from "../base/instant.ts";
import type { Condition } from "../db/reading/condition.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { filterableFields } from "./custom-fields-at.ts";
import { fieldsOf } from "./filter-fields.ts";
import { type ParsedFilter, readFilter } from "./read-filter.ts";
import { parseInstantText } from "./read-instant.ts";

/** Query parameter of every list and export. */
export const FilterQuery = {
  filter: Type.Optional(
    Type.String({
      maxLength: FILTER_MAX_LENGTH,
      description:
        'Filter expression (AIP-160; handbook: questions), such as `oper_status = "Down" AND host.name = "core-*"`. `GET /api/v1/fields/{kind}` lists the fields. Blank: everything.',
    }),
  ),
};

/** A request's filter as plain data. */
export interface RequestFilter extends ParsedFilter {
  /** Time from which ages count. */
  readonly base: Instant;
}

interface ListCondition {
  /** Undefined for an empty filter. */
  readonly condition: Condition | undefined;
  /** First transaction whose changes it needs; null if it has no condition on history. */
  readonly after: number | null;
}

const NO_CONDITION: ListCondition = { condition: undefined, after: null };

/** Subject of a filter. */
interface FilterScope {
  readonly kindName: string;
  /** Reach for the markers it may name. */
  readonly reach: Reach;
  /** Point in time of the list; null for the present. */
  readonly asOf: AsOf | null;
}

/** @throws DomainError validation_failed */
export function listCondition(
  reader: Reader,
  { kindName, reach, asOf }: FilterScope,
  filter: RequestFilter,
): ListCondition {
  if (filter.node === null) return NO_CONDITION;
  let after: number | null = null;
  const { base } = filter;
  const condition = readFilter(filter, fieldsOf(kindName).with(filterableFields(reader, reach, asOf)), {
    base,
    instantOf: (literal) => parseInstantText(reader, reach, literal, base),
    sequenceAt: (instant) => {
      const head = asOf?.sequence ?? reader.head().sequence;
      const sequence = Math.min(reader.resolve(instant)?.sequence ?? head, head);
      after = Math.min(after ?? sequence, sequence);
      return sequence;
    },
  });
  return { condition: condition ?? undefined, after };
}

/** End of thinned history within a filter's look-back, for `meta`. */
export function thinnedUntil(reader: Reader, after: number | null): Instant | null {
  return after === null ? null : reader.thinnedHistory.incompleteUntil(after);
}
