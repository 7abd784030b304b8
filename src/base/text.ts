// The order of text: without regard to case, then by code point; and text that turns nothing beside it.
// Must not depend on a locale: the same list sorts the same way on every machine.

import { ownValue } from "./fields.ts";

/**
 * The form in which texts that differ only in case, or only in how an accent is composed, are equal. Lower case in NFC,
 * with the final sigma taken for a sigma. Simpler than Unicode's full case folding (`ß` stays apart from `ss`) and
 * enough for ordering and searching. Folding twice changes nothing.
 */
export function foldCase(text: string): string {
  // Most of what is written by the hundred thousand is ASCII.
  if (ASCII.test(text)) return text.toLowerCase();
  // NFC comes last: J with caron has no composed capital, but its lower case has.
  return text.toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Without the marks of Latin, Greek and Cyrillic letters: `zürich` as `zurich`, `łódź` as `lodz`, `straße` as
 * `strasse`. Of text that foldCase has folded; folding twice changes nothing.
 */
export function foldMarks(text: string): string {
  if (ASCII.test(text)) return text;
  const plain = text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC");
  return plain.replace(/[ßæœøłđðþı]/g, (letter) => ownValue(PLAIN_LETTERS, letter) as string);
}

/** Letters that have no decomposition in Unicode. */
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
 * What orders texts without regard to case, then by code point, where it is compared by code point. For texts without
 * control characters: U+0001 stands before whatever a longer text goes on with.
 */
export function textSortKey(text: string): string {
  return `${foldCase(text)}\u0001${text}`;
}

/**
 * Negative, zero or positive, as for Array.sort. By code point, which is also the order of the UTF-8 bytes and so of
 * SQLite's BINARY; `<` on strings goes by UTF-16 unit and puts U+10000 and above before U+E000–U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let index = 0;
  while (index < shorter && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  // The first difference may be in the second half of a pair: the whole code point counts.
  if (index > 0 && isHighSurrogate(a, index - 1) && (isLowSurrogate(a, index) || isLowSurrogate(b, index))) index -= 1;
  return (a.codePointAt(index) ?? -1) - (b.codePointAt(index) ?? -1);
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

function isLowSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00;
}

/** `200,000`. A count from 0. toLocaleString loads all locales for it, which is felt at a start. */
export function groupedDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `if_entry` as `IfEntry`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)(.)/g, (_all, first: string) => first.toUpperCase());
}

/**
 * A sentence with names in it, without the signs by which one of them could turn the words of the others (Unicode
 * Standard Annex 9): embeddings, overrides, isolates and marks, which show nothing themselves.
 */
export function withoutTurns(sentence: string): string {
  return sentence.replaceAll(/[\u061c\u200e\u200f\u2029\u202a-\u202e\u2066-\u2069]/g, "");
}
