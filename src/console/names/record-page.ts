// The pages of a record, by the name of its kind in the API.

import { entryOf } from "../kinds/kinds.ts";

/** Null where records of the kind have none of their own. */
export function recordPage(kind: string, id: string): string | null {
  return entryOf(kind)?.page?.replace(":id", id) ?? null;
}

/** Its own page, else the one that all kinds share; null for a kind without history. */
export function anyRecordPage(kind: string, id: string): string | null {
  return recordPage(kind, id) ?? plainPage(kind, id);
}

/** The page that shows its history; null for a kind without one. */
export function historyPage(kind: string, id: string): string | null {
  return entryOf(kind)?.hasTabs === true ? `${recordPage(kind, id)}?tab=history` : plainPage(kind, id);
}

function plainPage(kind: string, id: string): string | null {
  return entryOf(kind)?.path === undefined ? null : `/records/${kind}/${id}`;
}
