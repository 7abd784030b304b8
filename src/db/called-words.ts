// Word-index entries for record names, and the matching search entries. The only module that folds names for this
// index, so that both sides agree. Must not contain SQL.

import { ownValue } from "../base/fields.ts";
import { interfaceBeginnings, numberedInterface } from "../base/interface-name.ts";
import { foldCase, foldMarks } from "../base/text.ts";
import { canonicalPrefixes, cut, Distinct, isPlain, parts, words } from "./search-text.ts";

/**
 * Matching rule for a text. Name: the whole text, or prefixes of its words. Text: prefixes of its words only.
 * Interface: as Name, in full or abbreviated, plus the interface number. Address: by prefix; global search also matches
 * from any octet or group. Mac: by prefix; global search also matches any four digits. Number: by prefix.
 */
export type CalledAs = "Name" | "Text" | "Interface" | "Address" | "Mac" | "Number";

/** A searchable name of a record. */
export interface CalledText {
  readonly field: string;
  readonly value: string | number | null | undefined;
  readonly as: CalledAs;
  /** Used by global search only, not by the kind's own list. */
  readonly isApart?: true;
}

/**
 * Entry types, keyed by their first letter. Types used by list searches also have end entries, so the index alone gives
 * the matches at any point in time. Other types record only when an entry starts.
 */
export const ENTRY = {
  /** Prefix of a word, or of a part of a word. */
  word: "w",
  wordEnd: "x",
  /** Abbreviated interface name. */
  interface: "i",
  interfaceEnd: "j",
  /** The whole name. */
  whole: "v",
  /** As `word`, for texts that list searches skip. */
  apart: "s",
  /** Suffix of an address, from a later octet or group. */
  tail: "p",
  /** Two adjacent octets of a MAC address, as four digits. */
  digits: "m",
} as const;
export type EntrySort = (typeof ENTRY)[keyof typeof ENTRY];

/** End-entry type per entry type; undefined for types without end entries. */
const ENDS: Readonly<Partial<Record<string, EntrySort>>> = {
  [ENTRY.word]: ENTRY.wordEnd,
  [ENTRY.interface]: ENTRY.interfaceEnd,
};

/** Longer names are only found by their words. */
const WHOLE_MAX_LENGTH = 80;
export const MAC_DIGITS_MIN = 4;
const MAC_DIGITS = 12;
const HEX_DIGITS = "0123456789abcdef";
/** Digits per octet and per MAC address entry. */
const OCTET = 2;
const WINDOW = 4;
/** Word separator in whole names. The index tokenizer does not treat it as white space. */
const BLANK = "\u00a0";

/** The parts of a kind that determine its entry prefix. */
export interface PlacedKind {
  readonly code: number;
  readonly scopes: { readonly host?: unknown };
}

/**
 * Entry prefix for a kind in an organization. Both numbers are base 36, since every entry contains them. Host parts are
 * the most numerous, so they sort last: a prefix search scans all records of the entries before it.
 */
export function entryPlace(organizationN: number, { code, scopes }: PlacedKind): string {
  return `${scopes.host === undefined ? "a" : "b"}${organizationN.toString(36)}.${code.toString(36)}.`;
}

/** Words of a text, folded to ignore case and diacritics. */
export function foldedWords(text: string): string[] {
  const folded = words(text);
  return isPlain(text) ? folded : folded.map(foldMarks);
}

/** A whole name, folded for comparison and indexing. */
export function foldedWhole(text: string): string {
  return foldedWords(text).join(BLANK);
}

/**
 * Index changes when a record's names change.
 * @param before empty for a new record
 * @param after empty for a deleted record
 * @returns the entries to store with the new version, separated by spaces; empty if nothing changes
 */
export function calledChanges(place: string, before: readonly CalledText[], after: readonly CalledText[]): string {
  // Nearly all versions take one of these two paths.
  if (before.length === 0) return inPlace(place, allEntries(after));
  if (isSameCalled(before, after)) return "";
  const gone = before.filter((text) => !isAmong(text, after));
  const come = after.filter((text) => !isAmong(text, before));
  if (gone.length === 0 && come.length === 0) return "";
  const had = calledEntries(gone);
  const has = calledEntries(come);
  // The digits of one address share a row, so that they can be searched together. Unchanged digits only need writing
  // along with changed ones.
  const isOfMac = come.some(({ as }) => as === "Mac");
  const kept = calledEntries(after.filter((text) => (isOfMac || text.as !== "Mac") && isAmong(text, before)));
  const isNew = (entry: string) => !had.has(entry) && !kept.has(entry);
  const isDigits = (entry: string) => entry.startsWith(ENTRY.digits);
  const isOtherMac = isOfMac && [...has].some((entry) => isDigits(entry) && isNew(entry));
  const changes: string[] = [];
  for (const entry of has) if (isNew(entry) || (isOtherMac && isDigits(entry))) changes.push(entry);
  if (isOtherMac) for (const entry of kept) if (isDigits(entry) && !has.has(entry)) changes.push(entry);
  for (const entry of had) {
    const end = has.has(entry) || kept.has(entry) ? undefined : ownValue(ENDS, entry[0] as string);
    if (end !== undefined) changes.push(end + entry.slice(1));
  }
  return inPlace(place, changes);
}

/** Formats entries for the index, each with its prefix. */
function inPlace(place: string, entries: readonly string[]): string {
  return entries.length === 0 ? "" : place + entries.join(` ${place}`);
}

/** Same entries as calledEntries. */
function allEntries(called: readonly CalledText[]): string[] {
  const entries = new Distinct();
  for (const text of called) for (const entry of entriesOf(text)) entries.add(entry);
  return entries.all;
}

/** Whether both lists have the same fields and values in the same order. */
function isSameCalled(one: readonly CalledText[], other: readonly CalledText[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) {
    const [{ field, value }, its] = [one[at] as CalledText, other[at] as CalledText];
    if (value !== its.value || field !== its.field) return false;
  }
  return true;
}

function isAmong({ field, value }: CalledText, texts: readonly CalledText[]): boolean {
  for (const other of texts) if (other.field === field && other.value === value) return true;
  return false;
}

/** Entry types that a text can produce. */
export function entrySorts({ as, isApart }: CalledField): EntrySort[] {
  const word = isApart === true ? ENTRY.apart : ENTRY.word;
  if (as === "Mac") return isApart === true ? [ENTRY.digits] : [word, ENTRY.digits];
  if (as === "Address") return [word, ENTRY.whole, ENTRY.tail];
  if (as === "Text") return [word];
  return as === "Interface" ? [word, ENTRY.whole, ENTRY.interface] : [word, ENTRY.whole];
}

/** Distinct entries of a record, without prefix. */
export function calledEntries(called: readonly CalledText[]): Set<string> {
  const entries = new Set<string>();
  for (const text of called) for (const entry of entriesOf(text)) entries.add(entry);
  return entries;
}

/** Entries of one text. May contain duplicates. */
function entriesOf({ value, as, isApart }: CalledText): readonly string[] {
  if (value === null || value === undefined) return [];
  const text = String(value);
  // A thousand switches share a few interface names and aliases, but interface addresses are unique.
  if (isApart === true || as === "Mac" || as === "Address" || text.length > KNOWN_MAX_LENGTH)
    return workedOut(text, as, isApart === true);
  const byText = known[as];
  let entries = byText.get(text);
  if (entries === undefined) {
    entries = workedOut(text, as, false);
    if (byText.size >= KNOWN_MAX) byText.clear();
    byText.set(text, entries);
  }
  return entries;
}

/** Cache limits, per matching rule. */
const KNOWN_MAX = 4_000;
const KNOWN_MAX_LENGTH = 64;
const known = {
  Name: new Map<string, readonly string[]>(),
  Text: new Map<string, readonly string[]>(),
  Interface: new Map<string, readonly string[]>(),
  Number: new Map<string, readonly string[]>(),
};

function workedOut(text: string, as: CalledAs, isApart: boolean): string[] {
  const entries: string[] = [];
  const word = isApart ? ENTRY.apart : ENTRY.word;
  if (as === "Mac") {
    if (!isApart) entries.push(word + text);
    addDigits(entries, text);
  } else if (as === "Address") {
    entries.push(word + text, ENTRY.whole + text);
    for (const { index } of text.matchAll(/(?<=[.:])[0-9a-f]/g)) entries.push(ENTRY.tail + text.slice(index));
  } else if (as === "Number") entries.push(word + text, ENTRY.whole + text);
  else addWords(entries, text, as, word);
  return entries;
}

function addWords(entries: string[], text: string, as: CalledAs, sort: EntrySort): void {
  const folded = foldedWords(text);
  const numbered = as === "Interface" ? numberedInterface(folded.join(" ")) : null;
  if (numbered !== null) {
    entries.push(ENTRY.interface + cut(numbered.name));
    for (const part of parts(numbered.number)) entries.push(sort + part);
    // `channel10` of `port-channel10`: the part after a hyphen is searchable, as in any word.
    for (const part of parts(folded.join("")).slice(1)) entries.push(sort + part);
    return;
  }
  for (const word of folded) {
    for (const part of parts(word)) entries.push(sort + part);
    const within = as === "Interface" ? numberedInterface(word) : null;
    if (within !== null) entries.push(ENTRY.interface + cut(within.name), sort + within.number);
  }
  if (as !== "Text" && folded.length > 0) {
    const whole = folded.join(BLANK);
    if (whole.length <= WHOLE_MAX_LENGTH) entries.push(ENTRY.whole + whole);
  }
}

/** @param text a MAC address as stored: lower case, with colons */
function addDigits(entries: string[], text: string): void {
  let octet = octetAt(text, 0);
  for (let at = OCTET + 1; at + OCTET <= text.length; at += OCTET + 1) {
    const next = octetAt(text, at);
    const window = (octet << 8) | next;
    let entry = digits.get(window);
    if (entry === undefined) {
      entry = ENTRY.digits + window.toString(16).padStart(WINDOW, "0");
      digits.set(window, entry);
    }
    entries.push(entry);
    octet = next;
  }
}

/** Entries by the value of their two octets, 65,536 at most. A scan reads this a million times. */
const digits = new Map<number, string>();

function octetAt(text: string, at: number): number {
  return (hexDigit(text.charCodeAt(at)) << 4) | hexDigit(text.charCodeAt(at + 1));
}

/** @param code of a decimal digit or a lower-case letter */
function hexDigit(code: number): number {
  return code < 97 ? code - 48 : code - 87;
}

/** Every two adjacent octets. @param digits from an octet boundary on */
function macWindows(digits: string): string[] {
  const windows: string[] = [];
  for (let at = 0; at + WINDOW <= digits.length; at += OCTET) windows.push(digits.slice(at, at + WINDOW));
  return windows;
}

/**
 * Lookups for MAC addresses that contain these digits: aligned to an octet, or starting mid-octet with any first digit.
 * The last octet may have only its first digit.
 * @param digits four to twelve
 * @returns alternative lookups to try in order; each is a list of groups, and a match has one entry of every group
 */
export function macLookups(digits: string): string[][][] {
  const fromOctet = windowGroups(digits);
  return digits.length === MAC_DIGITS ? [fromOctet] : [fromOctet, windowGroups(` ${digits}`)];
}

/**
 * Skips a window with a single known digit: not selective enough.
 * @param digits from an octet boundary on; a blank first digit matches any digit
 */
function windowGroups(digits: string): string[][] {
  const groups: string[][] = [];
  for (let at = 0; at + WINDOW - 1 <= digits.length; at += OCTET)
    groups.push(filled(digits.slice(at, at + WINDOW).padEnd(WINDOW)).map((window) => ENTRY.digits + window));
  return groups;
}

/** Replaces the blank by every hex digit; returns the text itself if it has no blank. */
function filled(text: string): string[] {
  return text.includes(" ") ? [...HEX_DIGITS].map((digit) => text.replace(" ", digit)) : [text];
}

/** A prefix of entries. */
export interface EntryBeginning {
  readonly sort: EntrySort;
  readonly end: EntrySort;
  readonly text: string;
}

/** Index settings of a field. */
export type CalledField = Pick<CalledText, "as" | "isApart">;

/** Entries that a record must all have, or a prefix of which it must have one entry. */
export type Lookup = { readonly all: readonly string[] } | { readonly beginning: string };

/**
 * Lookup for all records whose field equals or starts with a text; null if the index cannot answer.
 * @param text in index form: a MAC address with colons, an address in canonical form
 */
export function lookupOf(
  { as, isApart }: CalledField,
  { is, text }: { readonly is: "whole" | "beginning"; readonly text: string },
): Lookup | null {
  if (as === "Mac" && isApart === true) {
    const digits = text.replaceAll(":", "");
    return digits.length < MAC_DIGITS_MIN ? null : { all: macWindows(digits).map((window) => ENTRY.digits + window) };
  }
  if (as === "Mac" || as === "Address")
    return is === "whole" ? { all: [ENTRY.word + text] } : { beginning: ENTRY.word + text };
  if (as !== "Name" || is !== "whole") return null;
  const whole = foldedWhole(text);
  return whole === "" || whole.length > WHOLE_MAX_LENGTH ? null : { all: [ENTRY.whole + whole] };
}

/** Alternative prefixes for one word of a list search: as typed, and in canonical notation. */
export function wordBeginnings(word: string): EntryBeginning[] {
  const folded = cut(foldMarks(foldCase(word.toWellFormed())));
  return [
    ...[...new Set([folded, ...canonicalPrefixes(folded)])].map((text) => ({
      sort: ENTRY.word,
      end: ENTRY.wordEnd,
      text,
    })),
    ...interfaceBeginnings(folded).map((text) => ({ sort: ENTRY.interface, end: ENTRY.interfaceEnd, text })),
  ];
}
