// Word-index entries for record names, and the matching search entries. The only module that folds names for this
// index, so that stored and searched entries agree. Contains no SQL.

import { ownValue } from "../base/fields.ts";
import { interfacePrefixes, numberedInterface } from "../base/interface-name.ts";
import { foldCase, foldDiacritics } from "../base/text.ts";
import { canonicalPrefixes, Distinct, isPlain, parts, truncate, words } from "./search-text.ts";

/**
 * Matching rule for a string. Name: the whole text, or prefixes of its words. Text: prefixes of its words only.
 * Interface: as Name, in full or abbreviated, plus the interface number. Address: by prefix; global search also matches
 * from any octet or group. Mac: by prefix; global search also matches any four digits. Number: by prefix.
 */
export type NameMatching = "Name" | "Text" | "Interface" | "Address" | "Mac" | "Number";

/** A searchable name of a record. */
export interface IndexedName {
  readonly field: string;
  readonly value: string | number | null | undefined;
  readonly as: NameMatching;
  /** Used by global search only, not by the kind's own list. */
  readonly isGlobalOnly?: true;
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
  fullName: "v",
  /** Like `word`, for names that list searches skip. */
  globalOnly: "s",
  /** Suffix of an address, from a later octet or group. */
  tail: "p",
  /** Two adjacent octets of a MAC address, as four digits. */
  digits: "m",
} as const;
export type EntryType = (typeof ENTRY)[keyof typeof ENTRY];

/** End-entry type per entry type; undefined for types without end entries. */
const ENDS: Readonly<Partial<Record<string, EntryType>>> = {
  [ENTRY.word]: ENTRY.wordEnd,
  [ENTRY.interface]: ENTRY.interfaceEnd,
};

/** Longer names are only found by their words. */
const FULL_NAME_MAX_LENGTH = 80;
export const MAC_DIGITS_MIN = 4;
const MAC_DIGITS = 12;
const HEX_DIGITS = "0123456789abcdef";
/** Digits per octet and per MAC address entry. */
const OCTET = 2;
const WINDOW = 4;
/** Word separator in whole names. The index tokenizer does not treat it as white space. */
const BLANK = "\u00a0";

/** The parts of a kind that determine its entry prefix. */
export interface CodedKind {
  readonly code: number;
  readonly scopes: { readonly host?: unknown };
}

/**
 * Entry prefix for a kind in an organization. Both numbers are base 36, since every entry contains them. Host parts are
 * the most numerous, so they sort last: a prefix search scans all records of the entries before it.
 */
export function entryPrefixOf(organizationN: number, { code, scopes }: CodedKind): string {
  return `${scopes.host === undefined ? "a" : "b"}${organizationN.toString(36)}.${code.toString(36)}.`;
}

/** Words of a string, folded to ignore case and diacritics. */
export function foldWords(text: string): string[] {
  const folded = words(text);
  return isPlain(text) ? folded : folded.map(foldDiacritics);
}

/** A whole name, folded for comparison and indexing. */
export function foldWord(text: string): string {
  return foldWords(text).join(BLANK);
}

/**
 * Index changes when a record's names change.
 * @param before empty for a new record
 * @param after empty for a deleted record
 * @returns the entries to store with the new version, separated by spaces; empty if nothing changes
 */
export function nameIndexChanges(
  prefix: string,
  before: readonly IndexedName[],
  after: readonly IndexedName[],
): string {
  // Nearly all versions take one of these two paths.
  if (before.length === 0) return withPrefix(prefix, allEntries(after));
  if (areSameNames(before, after)) return "";
  const removed = before.filter((text) => !includesName(text, after));
  const added = after.filter((text) => !includesName(text, before));
  if (removed.length === 0 && added.length === 0) return "";
  const oldEntries = nameEntries(removed);
  const newEntries = nameEntries(added);
  // The digits of one address share a row, so that they can be searched together. Unchanged digits only need writing
  // along with changed ones.
  const hasNewMac = added.some(({ as }) => as === "Mac");
  const unchanged = nameEntries(after.filter((text) => (hasNewMac || text.as !== "Mac") && includesName(text, before)));
  const isNew = (entry: string) => !oldEntries.has(entry) && !unchanged.has(entry);
  const isDigits = (entry: string) => entry.startsWith(ENTRY.digits);
  const hasChangedDigits = hasNewMac && [...newEntries].some((entry) => isDigits(entry) && isNew(entry));
  const changes: string[] = [];
  for (const entry of newEntries) if (isNew(entry) || (hasChangedDigits && isDigits(entry))) changes.push(entry);
  if (hasChangedDigits)
    for (const entry of unchanged) if (isDigits(entry) && !newEntries.has(entry)) changes.push(entry);
  for (const entry of oldEntries) {
    const end = newEntries.has(entry) || unchanged.has(entry) ? undefined : ownValue(ENDS, entry[0] as string);
    if (end !== undefined) changes.push(end + entry.slice(1));
  }
  return withPrefix(prefix, changes);
}

/** Formats entries for the index, each with its prefix. */
function withPrefix(prefix: string, entries: readonly string[]): string {
  return entries.length === 0 ? "" : prefix + entries.join(` ${prefix}`);
}

/** Same entries as nameEntries. */
function allEntries(names: readonly IndexedName[]): string[] {
  const entries = new Distinct();
  for (const text of names) for (const entry of entriesOf(text)) entries.add(entry);
  return entries.all;
}

/** Whether both lists have the same fields and values in the same order. */
function areSameNames(a: readonly IndexedName[], b: readonly IndexedName[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) {
    const [{ field, value }, counterpart] = [a[index] as IndexedName, b[index] as IndexedName];
    if (value !== counterpart.value || field !== counterpart.field) return false;
  }
  return true;
}

function includesName({ field, value }: IndexedName, texts: readonly IndexedName[]): boolean {
  for (const other of texts) if (other.field === field && other.value === value) return true;
  return false;
}

/** Entry types that a string can produce. */
export function entryTypes({ as, isGlobalOnly }: IndexedField): EntryType[] {
  const word = isGlobalOnly === true ? ENTRY.globalOnly : ENTRY.word;
  if (as === "Mac") return isGlobalOnly === true ? [ENTRY.digits] : [word, ENTRY.digits];
  if (as === "Address") return [word, ENTRY.fullName, ENTRY.tail];
  if (as === "Text") return [word];
  return as === "Interface" ? [word, ENTRY.fullName, ENTRY.interface] : [word, ENTRY.fullName];
}

/** Distinct entries of a record, without prefix. */
export function nameEntries(names: readonly IndexedName[]): Set<string> {
  const entries = new Set<string>();
  for (const text of names) for (const entry of entriesOf(text)) entries.add(entry);
  return entries;
}

/** Entries of one text. May contain duplicates. */
function entriesOf({ value, as, isGlobalOnly }: IndexedName): readonly string[] {
  if (value === null || value === undefined) return [];
  const text = String(value);
  // A thousand switches share a few interface names and aliases, but interface addresses are unique.
  if (isGlobalOnly === true || as === "Mac" || as === "Address" || text.length > CACHED_MAX_LENGTH)
    return computeEntries(text, as, isGlobalOnly === true);
  const byText = cache[as];
  let entries = byText.get(text);
  if (entries === undefined) {
    entries = computeEntries(text, as, false);
    if (byText.size >= CACHE_MAX) byText.clear();
    byText.set(text, entries);
  }
  return entries;
}

/** Cache limits, per matching rule. */
const CACHE_MAX = 4_000;
const CACHED_MAX_LENGTH = 64;
const cache = {
  Name: new Map<string, readonly string[]>(),
  Text: new Map<string, readonly string[]>(),
  Interface: new Map<string, readonly string[]>(),
  Number: new Map<string, readonly string[]>(),
};

function computeEntries(text: string, as: NameMatching, isGlobalOnly: boolean): string[] {
  const entries: string[] = [];
  const word = isGlobalOnly ? ENTRY.globalOnly : ENTRY.word;
  if (as === "Mac") {
    if (!isGlobalOnly) entries.push(word + text);
    addDigits(entries, text);
  } else if (as === "Address") {
    entries.push(word + text, ENTRY.fullName + text);
    for (const { index } of text.matchAll(/(?<=[.:])[0-9a-f]/g)) entries.push(ENTRY.tail + text.slice(index));
  } else if (as === "Number") entries.push(word + text, ENTRY.fullName + text);
  else addWords(entries, text, as, word);
  return entries;
}

function addWords(entries: string[], text: string, as: NameMatching, entryType: EntryType): void {
  const folded = foldWords(text);
  const numbered = as === "Interface" ? numberedInterface(folded.join(" ")) : null;
  if (numbered !== null) {
    entries.push(ENTRY.interface + truncate(numbered.name));
    for (const part of parts(numbered.number)) entries.push(entryType + part);
    // `channel10` of `port-channel10`: the part after a hyphen is searchable, as in any word.
    for (const part of parts(folded.join("")).slice(1)) entries.push(entryType + part);
    return;
  }
  for (const word of folded) {
    for (const part of parts(word)) entries.push(entryType + part);
    const nested = as === "Interface" ? numberedInterface(word) : null;
    if (nested !== null) entries.push(ENTRY.interface + truncate(nested.name), entryType + nested.number);
  }
  if (as !== "Text" && folded.length > 0) {
    const fullName = folded.join(BLANK);
    if (fullName.length <= FULL_NAME_MAX_LENGTH) entries.push(ENTRY.fullName + fullName);
  }
}

/** @param text a MAC address as stored: lower case, with colons */
function addDigits(entries: string[], text: string): void {
  let octet = octetAt(text, 0);
  for (let index = OCTET + 1; index + OCTET <= text.length; index += OCTET + 1) {
    const next = octetAt(text, index);
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

/** Entries by the value of their two octets, at most 65,536. A scan looks one up a million times. */
const digits = new Map<number, string>();

function octetAt(text: string, index: number): number {
  return (hexDigit(text.charCodeAt(index)) << 4) | hexDigit(text.charCodeAt(index + 1));
}

/** @param code of a decimal digit or a lower-case letter */
function hexDigit(code: number): number {
  return code < 97 ? code - 48 : code - 87;
}

/** Every pair of adjacent octets. @param digits starting at an octet boundary */
function macWindows(digits: string): string[] {
  const windows: string[] = [];
  for (let index = 0; index + WINDOW <= digits.length; index += OCTET)
    windows.push(digits.slice(index, index + WINDOW));
  return windows;
}

/**
 * Lookups for MAC addresses that contain these digits, from an octet boundary or from the middle of an octet. The last
 * octet may be incomplete.
 * @param digits four to twelve
 * @returns alternative lookups to try in order; each is a list of groups, and a match has one entry of every group
 */
export function macLookups(digits: string): string[][][] {
  const aligned = windowGroups(digits);
  return digits.length === MAC_DIGITS ? [aligned] : [aligned, windowGroups(` ${digits}`)];
}

/**
 * Skips windows with a single known digit, which are not selective enough.
 * @param digits starting at an octet boundary; a leading blank matches any digit
 */
function windowGroups(digits: string): string[][] {
  const groups: string[][] = [];
  for (let index = 0; index + WINDOW - 1 <= digits.length; index += OCTET)
    groups.push(expandBlank(digits.slice(index, index + WINDOW).padEnd(WINDOW)).map((window) => ENTRY.digits + window));
  return groups;
}

/** Replaces a blank with every hex digit in turn; returns text without a blank unchanged. */
function expandBlank(text: string): string[] {
  return text.includes(" ") ? [...HEX_DIGITS].map((digit) => text.replace(" ", digit)) : [text];
}

/** A prefix of entries. */
export interface EntryPrefix {
  readonly entryType: EntryType;
  readonly end: EntryType;
  readonly text: string;
}

/** Index settings of a field. */
export type IndexedField = Omit<IndexedName, "field" | "value">;

/** Entries that a record must all have, or a prefix that at least one of its entries must start with. */
export type Lookup = { readonly all: readonly string[] } | { readonly beginning: string };

/**
 * Lookup for all records whose field equals or starts with a string; null if the index cannot decide.
 * @param text in index form: a MAC address with colons, an address in canonical form
 */
export function lookupOf(
  { as, isGlobalOnly }: IndexedField,
  { match, text }: { readonly match: "whole" | "beginning"; readonly text: string },
): Lookup | null {
  if (as === "Mac" && isGlobalOnly === true) {
    const digits = text.replaceAll(":", "");
    return digits.length < MAC_DIGITS_MIN ? null : { all: macWindows(digits).map((window) => ENTRY.digits + window) };
  }
  if (as === "Mac" || as === "Address")
    return match === "whole" ? { all: [ENTRY.word + text] } : { beginning: ENTRY.word + text };
  if (as !== "Name" || match !== "whole") return null;
  const fullName = foldWord(text);
  return fullName === "" || fullName.length > FULL_NAME_MAX_LENGTH ? null : { all: [ENTRY.fullName + fullName] };
}

/** Alternative prefixes for one word of a list search: as typed, and in canonical notation. */
export function wordPrefixes(word: string): EntryPrefix[] {
  const folded = truncate(foldDiacritics(foldCase(word.toWellFormed())));
  return [
    ...[...new Set([folded, ...canonicalPrefixes(folded)])].map((text) => ({
      entryType: ENTRY.word,
      end: ENTRY.wordEnd,
      text,
    })),
    ...interfacePrefixes(folded).map((text) => ({ entryType: ENTRY.interface, end: ENTRY.interfaceEnd, text })),
  ];
}
