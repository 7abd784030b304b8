// Text order, ignoring case and then by code point; diacritic folding; removal of bidirectional controls. Independent
// of locales: the same list sorts the same way on every machine.

import { ownValue } from "./fields.ts";

/**
 * Form in which strings are equal if they differ only in case or in accent composition: lower case in NFC, with final
 * sigma as sigma. Simpler than Unicode's full case folding (`ß` differs from `ss`), and sufficient for ordering and
 * searching. Idempotent.
 */
export function foldCase(text: string): string {
  // Fast path: most text written in bulk is ASCII.
  if (ASCII.test(text)) return text.toLowerCase();
  // NFC comes last: J with caron has no composed capital, but its lower case has.
  return text.toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches all of ASCII.
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Removes diacritics from Latin, Greek and Cyrillic letters: `zürich` → `zurich`, `łódź` → `lodz`, `straße` →
 * `strasse`. For text folded by foldCase; idempotent.
 */
export function foldDiacritics(text: string): string {
  if (ASCII.test(text)) return text;
  const plain = text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
  return plain.replace(/[ßæœøłđðþı]/g, (letter) => ownValue(PLAIN_LETTERS, letter) as string);
}

/** Letters without a Unicode decomposition. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/**
 * Sort key for comparison by code point: orders strings ignoring case, then by code point. For strings without control
 * characters: U+0001 sorts before any continuation of a longer text.
 */
export function textSortKey(text: string): string {
  return `${foldCase(text)}\u0001${text}`;
}

/**
 * Comparator for Array.sort by code point, which is also the order of UTF-8 bytes and of SQLite's BINARY; `<` on
 * strings compares UTF-16 units and sorts U+10000 and above before U+E000–U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let index = 0;
  while (index < shorter && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  // If the first difference is in the second half of a surrogate pair, compare the whole code point.
  if (index > 0 && isHighSurrogate(a, index - 1) && (isLowSurrogate(a, index) || isLowSurrogate(b, index))) index -= 1;
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1);
}

/** Sorted copy, by code point; computes each key once. */
export function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, key: keyOf(item) }))
    .sort((a, b) => compareCodePoints(a.key, b.key))
    .map(({ item }) => item);
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

/** `200,000`, for counts from 0. toLocaleString would load all locales, which slows the start. */
export function groupedDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `if_entry` as `IfEntry`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(.)/g, (_all, first: string) => first.toUpperCase());
}

/**
 * Removes bidirectional controls from a sentence with names, so that no name can reorder the other words (Unicode
 * Standard Annex 9): embeddings, overrides, isolates and marks, which are all invisible.
 */
export function withoutBidiControls(sentence: string): string {
  return sentence.replaceAll(/[\u061c\u200e\u200f\u2029\u202a-\u202e\u2066-\u2069]/g, "");
}
