// Search queries for names, and when two names are equal.

import { foldCase } from "../../base/text.ts";
import { wholeTerm } from "../../db/search-text.ts";

/** Lower case, without the root dot. */
export function foldName(name: string): string {
  return foldCase(name.trim()).replace(/\.$/, "");
}

/** Matches every word of the name as an entry; null without words. */
export function exactNameQuery(name: string): string | null {
  const words = wordsOf(name);
  return words.length === 0 ? null : words.map(wholeTerm).join(" AND ");
}

/**
 * Matches the name, or one that begins so up to a dot.
 * @param entryOf the form of such a name in the index
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
