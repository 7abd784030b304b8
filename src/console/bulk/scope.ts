// Records of a bulk operation: selected ones, or all that match a filter.

import { api, rethrown } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { apiPath, type EditedKind, entryOf } from "../kinds/kinds.ts";
import { groupedDigits } from "../text/digits.ts";

export interface BulkScope {
  readonly kind: EditedKind;
  /** Null for all matches of the filter. */
  readonly ids: readonly string[] | null;
  readonly filter: string;
  readonly networkId: string | null;
  readonly count: number;
}

/** Limit of the API for tags and deletions. */
export const AT_ONCE_MAX = 1_000;

/** Representative of all list paths: they take the same query. */
type AnyList = "/api/v1/vlans";

/** Ids of the records, at most AT_ONCE_MAX, that also match the condition. @throws Refusal */
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
    // The filter may match more than at selection time. A partial operation was never requested.
    if (ids === null && data.meta.pagination.has_more)
      throw new Refusal({
        status: 0,
        code: "too_many",
        message: `At most ${groupedDigits(AT_ONCE_MAX)} at once: narrow the filter.`,
        requestId: null,
      });
    found.push(...data.data.map(({ id }) => id));
  }
  return found;
}
