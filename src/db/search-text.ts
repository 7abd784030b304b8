// Full-text index entries for records, and the matching search terms. The only module that folds text for this index,
// so that both sides agree. Contains no SQL except FTS5 query syntax.

import { parseIp } from "../base/ip.ts";
import { foldCase } from "../base/text.ts";

/** Searchable strings of a record. */
export interface SearchTexts {
  /**
   * Free text, matched by the prefix of any word, and of any part of a word after punctuation (`sw` finds
   * `core-sw-01`).
   */
  readonly words?: ReadonlyArray<string | null | undefined>;
  /** Addresses and similar values, matched by their own prefix only (`10.2.` does not find 110.2.3.4). */
  readonly values?: ReadonlyArray<string | null | undefined>;
}

/**
 * Maximum characters and words per search, enforced by parameter validation. Query cost grows with the matches of each
 * word.
 */
export const SEARCH_MAX_LENGTH = 200;
export const SEARCH_MAX_WORDS = 10;
/** Longer words are found by their first characters and parts only. */
const WORD_MAX_LENGTH = 255;
const WORD_MAX_PARTS = 32;

/** Text to index; empty for a record that cannot be found. */
export function searchText(texts: SearchTexts): string {
  const entries = new Distinct();
  for (const text of texts.words ?? [])
    if (typeof text === "string") for (const word of words(text)) for (const part of parts(word)) entries.add(part);
  for (const text of texts.values ?? [])
    if (typeof text === "string") for (const word of words(text)) entries.add(truncate(word));
  return entries.all.join(" ");
}

/** Distinct strings in insertion order. Mostly a handful, for which a set would cost more than it saves. */
export class Distinct {
  readonly all: string[] = [];
  private seen: Set<string> | null = null;

  add(text: string): void {
    if (this.all.length < LIST_MAX) {
      if (!this.all.includes(text)) this.all.push(text);
      return;
    }
    this.seen ??= new Set(this.all);
    if (this.seen.has(text)) return;
    this.seen.add(text);
    this.all.push(text);
  }
}
const LIST_MAX = 24;

/** Distinct words of a search; none for an empty search. */
export function searchWords(search: string): string[] {
  return [...new Set(words(search))];
}

/**
 * FTS5 query strings, one per search word. Each word must be a prefix of an entry, as typed or in canonical address
 * notation.
 */
export function searchTerms(search: string): string[] {
  return searchWords(search).map((word) =>
    [...new Set([word, ...canonicalPrefixes(word)])].map((each) => `${phrase(each)}*`).join(" OR "),
  );
}

/** Query for exactly one whole entry: an address. */
export function exactTerm(text: string): string {
  return phrase(words(text).join(""));
}

/** FTS5 phrase for one entry. */
export function phrase(word: string): string {
  return `"${truncate(word).replaceAll('"', '""')}"`;
}

/** Folded words of a string, split at white space and control characters only. */
export function words(text: string): string[] {
  if (isPlain(text)) {
    const folded = text.toLowerCase();
    if (folded.includes(" ")) return folded.split(" ").filter(isNotEmpty);
    return folded === "" ? [] : [folded];
  }
  // Lone surrogates are stored as U+FFFD, so search for that.
  return foldCase(text.toWellFormed())
    .split(/[\s\p{Cc}]+/u)
    .filter(isNotEmpty);
}

/** Printable ASCII, as nearly all names are. A first scan calls this a hundred thousand times. */
export function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function isNotEmpty(word: string): boolean {
  return word !== "";
}

/**
 * Canonical prefixes for addresses in other notations: a MAC address or its prefix with dashes (IEEE 802) or Cisco's
 * dots, or a complete IPv6 address not in canonical form (RFC 5952).
 */
export function canonicalPrefixes(word: string): string[] {
  const prefixes: string[] = [];
  if (DASHED_MAC.test(word)) prefixes.push(word.replaceAll("-", ":"));
  if (DOTTED_MAC.test(word)) prefixes.push(word.replaceAll(".", "").replace(/(..)(?=.)/g, "$1:"));
  const ip = parseIp(word);
  if (ip !== null) prefixes.push(ip.text);
  return prefixes;
}

/** Lowercase MAC address or prefix with at least one separator. */
const DASHED_MAC = /^[0-9a-f]{2}-(?:[0-9a-f]{2}-){0,4}[0-9a-f]{0,2}$/;
const DOTTED_MAC = /^[0-9a-f]{4}\.(?:[0-9a-f]{4}\.)?[0-9a-f]{0,4}$/;

/** Truncates a word to the indexed length without splitting a character. */
export function truncate(word: string): string {
  if (word.length <= WORD_MAX_LENGTH) return word;
  return word.slice(0, WORD_MAX_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

/** A word, and its suffix from the start of each alphanumeric run. */
export function parts(word: string): string[] {
  const fullWord = truncate(word);
  const found = [fullWord];
  if (isPlain(fullWord)) addPlainParts(found, fullWord);
  else
    for (const { index } of fullWord.matchAll(/(?<=[^\p{L}\p{M}\p{N}])[\p{L}\p{N}]/gu)) {
      if (found.length === WORD_MAX_PARTS) break;
      found.push(fullWord.slice(index));
    }
  return found;
}

/** Like parts, for ASCII: a regular expression would cost several times as much. */
function addPlainParts(found: string[], fullWord: string): void {
  let isWithin = isLetterOrDigit(fullWord.charCodeAt(0));
  for (let index = 1; index < fullWord.length && found.length < WORD_MAX_PARTS; index += 1) {
    const wasWithin = isWithin;
    isWithin = isLetterOrDigit(fullWord.charCodeAt(index));
    if (isWithin && !wasWithin) found.push(fullWord.slice(index));
  }
}

/** ASCII only. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
