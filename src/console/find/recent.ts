// Recent successful searches in this browser, newest first, per user until sign-out.

import { signal } from "@preact/signals";
import { me } from "../session/me.ts";
import { RECENT, readStored, writeStored } from "../url/local-storage.ts";

const SEARCHES_MAX = 12;

/** Incremented by each update, since the browser's storage is not a signal. */
const revision = signal(0);

/** Searches as typed. */
export function recentSearches(): readonly string[] {
  return revision.value < 0 ? [] : read();
}

export function rememberSearch(search: string): void {
  if (me.peek()?.id === undefined) return;
  setSearches([search, ...read().filter((earlier) => earlier !== search)].slice(0, SEARCHES_MAX));
}

/** @param searches complete new list; empty to clear */
export function setSearches(searches: readonly string[]): void {
  const user = me.peek()?.id;
  const stored = searches.length === 0 || user === undefined ? null : JSON.stringify({ user, questions: searches });
  writeStored(RECENT, stored);
  revision.value += 1;
}

/** The stored value may belong to another user or version. */
function read(): readonly string[] {
  try {
    const stored = JSON.parse(readStored(RECENT) ?? "") as { user?: unknown; questions?: unknown };
    const { user, questions: searches } = stored;
    if (user !== me.value?.id || !Array.isArray(searches)) return [];
    return searches.filter((search): search is string => typeof search === "string");
  } catch {
    return [];
  }
}
