// How a name is asked of the search index, and when two names are one. Makes queries; asks nothing.

import { foldCase } from "../../base/text.ts";
import { wholeTerm } from "../../db/search-text.ts";

/** Names are one whatever their case, and with the dot of the DNS root or without. */
export function foldName(name: string): string {
  return foldCase(name.trim()).replace(/\.$/, "");
}

/** What has every word of the name as an entry of its own; null for a name without words. */
export function exactNameQuery(name: string): string | null {
  const words = wordsOf(name);
  return words.length === 0 ? null : words.map(wholeTerm).join(" AND ");
}

/**
 * What is called so, or begins so up to a dot.
 * @param entryOf how such a name stands in the index
 */
export function nameQuery(name: string, entryOf: (text: string) => string): string | null {
  const words = wordsOf(entryOf(foldName(name)));
  const last = words.at(-1);
  if (last === undefined) return null;
  const before = words
    .slice(0, -1)
    .map((word) => `${wholeTerm(word)} AND `)
    .join("");
  return `${before}(${wholeTerm(last)} OR ${wholeTerm(`${last}.`)}*)`;
}

function wordsOf(name: string): string[] {
  return name.split(/[\s\p{Cc}]+/u).filter((word) => word !== "");
}
