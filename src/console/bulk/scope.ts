// Which records are written at once: those that are marked, or all that a filter finds.

import { api, rethrown } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";
import { bulkText } from "../text/bulk.ts";

export interface BulkScope {
  readonly kind: EditedKind;
  /** Null for all that the filter finds. */
  readonly ids: readonly string[] | null;
  readonly filter: string;
  readonly networkId: string | null;
  readonly count: number;
}

/** What the API takes at once, for tags and deletions. */
export const AT_ONCE_MAX = 1_000;

/** All of them take the same. */
type AnyList = "/api/v1/vlans";

/** The ids of all of them, at most AT_ONCE_MAX, and of those that a further condition holds for. @throws Refusal */
export async function idsOf({ kind, ids, filter, networkId }: BulkScope, condition = ""): Promise<string[]> {
  const both = ids === null ? [filter, condition] : [condition];
  const asked = both.filter((each) => each !== "").map((each) => `(${each})`);
  const query = {
    ...(asked.length === 0 ? {} : { filter: asked.join(" AND ") }),
    ...(networkId === null || ids !== null ? {} : { network_id: networkId }),
    ...entryOf(kind)?.alone,
  };
  const windows =
    ids === null ? [{ limit: AT_ONCE_MAX }] : idGroups(ids).map((each) => ({ ids: each, limit: IDS_MAX }));
  const found: string[] = [];
  for (const window of windows) {
    const { data, error, response } = await api
      .GET(apiPath(kind) as AnyList, { params: { query: { ...query, ...window } as never } })
      .catch(rethrown);
    if (data === undefined) throw refusalOf(response, error);
    // The filter may find more than when it was chosen: a part of what it finds is nobody's choice.
    if (ids === null && data.meta.pagination.has_more)
      throw new Refusal({ status: 0, code: "too_many", message: bulkText.tooMany(AT_ONCE_MAX), requestId: null });
    found.push(...data.data.map(({ id }) => id));
  }
  return found;
}
