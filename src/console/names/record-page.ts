// Paths of record pages, by the API name of the kind.

import { entryOf } from "../kinds/kinds.ts";

/** Page of a record; null for a kind without dedicated pages. */
export function recordPage(kind: string, id: string): string | null {
  return entryOf(kind)?.page?.replace(":id", id) ?? null;
}

/** The kind's own page, else the generic record page; null for a kind without history. */
export function anyRecordPage(kind: string, id: string): string | null {
  return recordPage(kind, id) ?? plainPage(kind, id);
}

/** Page with the history; null for a kind without one. */
export function historyPage(kind: string, id: string): string | null {
  return entryOf(kind)?.hasTabs === true ? `${recordPage(kind, id)}?tab=history` : plainPage(kind, id);
}

function plainPage(kind: string, id: string): string | null {
  return entryOf(kind)?.path === undefined ? null : `/records/${kind}/${id}`;
}
