// What a record can be found by, as text for the index, and what a search asks of that index. The one place that knows
// how both are folded: they must agree. No SQL but the index's own query language.

import { parseIp } from "../base/ip.ts";
import { foldCase } from "../base/text.ts";

/** Texts that a record is found by. */
export interface SearchTexts {
  /**
   * Free text: found by the beginning of any of its words, and of any part of a word after punctuation (`sw` finds
   * `core-sw-01`).
   */
  readonly words?: ReadonlyArray<string | null | undefined>;
  /** Addresses and the like: found by their own beginning only (`10.2.` does not find 110.2.3.4). */
  readonly wholes?: ReadonlyArray<string | null | undefined>;
}

/**
 * Characters and words of a search: what is beyond is refused where the parameter is checked. Each word costs all that
 * it finds.
 */
export const SEARCH_MAX_LENGTH = 200;
export const SEARCH_MAX_WORDS = 10;
/** A word beyond this length, and beyond so many parts, is found by what comes before. */
const WORD_MAX_LENGTH = 255;
const WORD_MAX_PARTS = 32;

/** The text that is indexed; empty for a record that cannot be found. */
export function searchText(texts: SearchTexts): string {
  const entries = new Distinct();
  for (const text of texts.words ?? [])
    if (typeof text === "string") for (const word of words(text)) for (const part of parts(word)) entries.add(part);
  for (const text of texts.wholes ?? [])
    if (typeof text === "string") for (const word of words(text)) entries.add(cut(word));
  return entries.all.join(" ");
}

/** Texts, each once and in their order. Mostly a handful, of which a set would cost more than it saves. */
export class Distinct {
  readonly all: string[] = [];
  private known: Set<string> | null = null;

  add(text: string): void {
    if (this.all.length < HANDFUL) {
      if (!this.all.includes(text)) this.all.push(text);
      return;
    }
    this.known ??= new Set(this.all);
    if (this.known.has(text)) return;
    this.known.add(text);
    this.all.push(text);
  }
}
const HANDFUL = 24;

/** The words of a search, each once; none for a search that asks nothing. */
export function searchWords(search: string): string[] {
  return [...new Set(words(search))];
}

/**
 * What a search means: each of its words must begin some entry of the record, as it was typed or as the address that it
 * is written otherwise. FTS5 query strings, one per word.
 */
export function searchTerms(search: string): string[] {
  return searchWords(search).map((word) =>
    [...new Set([word, ...canonicalBeginnings(word)])].map((each) => `${phrase(each)}*`).join(" OR "),
  );
}

/** The query of exactly one whole entry: an address. */
export function wholeTerm(text: string): string {
  return phrase(words(text).join(""));
}

/** The index's query of one entry. */
export function phrase(word: string): string {
  return `"${cut(word).replaceAll('"', '""')}"`;
}

/** The words of a text, folded; everything but white space and control characters belongs to one. */
export function words(text: string): string[] {
  if (isPlain(text)) {
    const folded = text.toLowerCase();
    if (folded.includes(" ")) return folded.split(" ").filter(isNotEmpty);
    return folded === "" ? [] : [folded];
  }
  // A half of a surrogate pair is stored as U+FFFD, and is to be found as that.
  return foldCase(text.toWellFormed())
    .split(/[\s\p{Cc}]+/u)
    .filter(isNotEmpty);
}

/** Printable ASCII, as nearly all names are: worked out a hundred thousand times in a first scan. */
export function isPlain(text: string): boolean {
  return /^[ -~]*$/.test(text);
}

function isNotEmpty(word: string): boolean {
  return word !== "";
}

/**
 * How an address that begins with this is stored, where the word may be one in another notation: a MAC address or its
 * beginning with dashes (IEEE 802) or Cisco's dots, or a whole IPv6 address that is not in its canonical form (RFC
 * 5952).
 */
export function canonicalBeginnings(word: string): string[] {
  const beginnings: string[] = [];
  if (DASHED_MAC.test(word)) beginnings.push(word.replaceAll("-", ":"));
  if (DOTTED_MAC.test(word)) beginnings.push(word.replaceAll(".", "").replace(/(..)(?=.)/g, "$1:"));
  const ip = parseIp(word);
  if (ip !== null) beginnings.push(ip.text);
  return beginnings;
}

/** From the first separator on, up to the last digit. Folded already. */
const DASHED_MAC = /^[0-9a-f]{2}-(?:[0-9a-f]{2}-){0,4}[0-9a-f]{0,2}$/;
const DOTTED_MAC = /^[0-9a-f]{4}\.(?:[0-9a-f]{4}\.)?[0-9a-f]{0,4}$/;

/** A word in the length that is indexed; a character is not cut in two. */
export function cut(word: string): string {
  if (word.length <= WORD_MAX_LENGTH) return word;
  return word.slice(0, WORD_MAX_LENGTH).replace(/[\ud800-\udbff]$/, "");
}

/** A word from each of its beginnings on: its own, and every letter or digit that follows neither. */
export function parts(word: string): string[] {
  const whole = cut(word);
  const found = [whole];
  if (isPlain(whole)) addPlainParts(found, whole);
  else
    for (const { index } of whole.matchAll(/(?<=[^\p{L}\p{M}\p{N}])[\p{L}\p{N}]/gu)) {
      if (found.length === WORD_MAX_PARTS) break;
      found.push(whole.slice(index));
    }
  return found;
}

/** The same by the letter: an expression would cost several times as much. */
function addPlainParts(found: string[], whole: string): void {
  let isWithin = isLetterOrDigit(whole.charCodeAt(0));
  for (let at = 1; at < whole.length && found.length < WORD_MAX_PARTS; at += 1) {
    const wasWithin = isWithin;
    isWithin = isLetterOrDigit(whole.charCodeAt(at));
    if (isWithin && !wasWithin) found.push(whole.slice(at));
  }
}

/** Of ASCII. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
