// Bulk operation scope: selected records, or all that match a filter.

import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { Refusal } from "../api/refusal.ts";
import type { Saved } from "../editing/saved.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";
import { groupedDigits } from "../text/digits.ts";

export interface BulkScope {
  readonly kind: EditedKind;
  /** Selected records; null for all that match the filter. */
  readonly ids: readonly string[] | null;
  readonly filter: string;
  readonly networkId: string | null;
  readonly count: number;
}

/** Properties of a bulk operation's form. */
export interface BulkOperation {
  readonly scope: BulkScope;
  /** @param saved null if canceled */
  onEnd(saved: Saved | null): void;
}

/** API limit for tagging and deleting. */
export const BULK_MAX = 1_000;

/** Ids of the records, at most BULK_MAX. @param condition additional filter condition @throws Refusal */
export async function idsOf({ kind, ids, filter, networkId }: BulkScope, condition = ""): Promise<string[]> {
  const conditions = ids === null ? [filter, condition] : [condition];
  const clauses = conditions.filter((clause) => clause !== "").map((clause) => `(${clause})`);
  const query = {
    ...(clauses.length === 0 ? {} : { filter: clauses.join(" AND ") }),
    ...(networkId === null || ids !== null ? {} : { network_id: networkId }),
    ...entryOf(kind)?.withoutParts,
  };
  const pages = ids === null ? [{ limit: BULK_MAX }] : idGroups(ids).map((group) => ({ ids: group, limit: IDS_MAX }));
  const found: string[] = [];
  for (const page of pages) {
    const { data, meta } = await read(apiPath(kind), { query: { ...query, ...page } as never }).load();
    // The filter may match more records than when it was chosen; acting on only some of them was not requested.
    const message = `At most ${groupedDigits(BULK_MAX)} records at once. Narrow the filter.`;
    if (ids === null && meta.pagination.has_more)
      throw new Refusal({ status: 0, code: "too_many", message, requestId: null });
    found.push(...data.map(({ id }) => id));
  }
  return found;
}
