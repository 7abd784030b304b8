// What a record can be found by, as text for the index, and what a search asks of that index. The one place that knows how
// both are folded: they must agree. No SQL but the index's own query language.

import { foldCase } from "../base/text.ts";

/** Texts that a record is found by. */
export interface SearchTexts {
  /** Free text: found by the beginning of any of its words, and of any part of a word after punctuation (`sw` finds `core-sw-01`). */
  readonly words?: ReadonlyArray<string | null | undefined>;
  /** Addresses and the like: found by their own beginning only (`10.2.` does not find 110.2.3.4). */
  readonly wholes?: ReadonlyArray<string | null | undefined>;
}

/** Words of a search at most; what is beyond is refused where the parameter is checked. */
export const SEARCH_MAX_LENGTH = 200;
/** A word beyond this length, and beyond so many parts, is found by what comes before. */
const WORD_MAX_LENGTH = 255;
const WORD_MAX_PARTS = 32;

/** The text that is indexed; empty for a record that cannot be found. */
export function searchText(texts: SearchTexts): string {
  const entries = new Set<string>();
  for (const text of texts.words ?? []) {
    if (typeof text !== "string") continue;
    for (const word of words(text)) for (const part of parts(word)) entries.add(part);
  }
  for (const text of texts.wholes ?? []) if (typeof text === "string") for (const word of words(text)) entries.add(word.slice(0, WORD_MAX_LENGTH));
  return [...entries].join(" ");
}

/**
 * What a search means: each of its words must begin some entry of the record. FTS5 query strings, one per word; none for a
 * search that asks nothing.
 */
export function searchTerms(search: string): string[] {
  return [...new Set(words(search))].map((word) => `"${word.slice(0, WORD_MAX_LENGTH).replaceAll('"', '""')}"*`);
}

/** The query of exactly one whole entry: an address. */
export function wholeTerm(text: string): string {
  return `"${words(text).join("").slice(0, WORD_MAX_LENGTH).replaceAll('"', '""')}"`;
}

function words(text: string): string[] {
  // A half of a surrogate pair is stored as U+FFFD, and is to be found as that.
  return foldCase(text.toWellFormed())
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "");
}

/** A word from each of its beginnings on: its own, and every letter or digit that follows neither. */
function* parts(word: string): Generator<string> {
  const whole = word.slice(0, WORD_MAX_LENGTH);
  yield whole;
  let count = 1;
  for (const { index } of whole.matchAll(/(?<=[^\p{L}\p{M}\p{N}])[\p{L}\p{N}]/gu)) {
    if (count === WORD_MAX_PARTS) return;
    count += 1;
    yield whole.slice(index);
  }
}
