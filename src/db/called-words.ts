// What a record is called, as entries of the index of words, and what a search asks of that index. The one place that
// knows how both are folded: they must agree. No SQL.

import { ownValue } from "../base/fields.ts";
import { interfaceBeginnings, numberedInterface } from "../base/interface-name.ts";
import { foldCase, foldMarks } from "../base/text.ts";
import { canonicalBeginnings, cut, Distinct, isPlain, parts, words } from "./search-text.ts";

/**
 * How a text is found. Name: whole, or by the beginnings of its words. Text: by the beginnings of its words alone.
 * Interface: as a name, in full or abbreviated, and by its number. Address: by its beginning, and for the search of all
 * kinds from any octet or group on. Mac: by its beginning, and for the search of all kinds by any four digits. Number:
 * by its beginning.
 */
export type CalledAs = "Name" | "Text" | "Interface" | "Address" | "Mac" | "Number";

/** A text that people know a record by. */
export interface CalledText {
  readonly field: string;
  readonly value: string | number | null | undefined;
  readonly as: CalledAs;
  /** Only the search of all kinds goes by it, not that of the kind's own list. */
  readonly isApart?: true;
}

/**
 * The sorts of entries, by their first letter. Those that lists are searched by are ended as well, so that the index
 * alone tells who is called so at an instant; the others are beginnings only.
 */
export const ENTRY = {
  /** The beginning of a word or of a part of it. */
  word: "w",
  wordEnd: "x",
  /** The abbreviated name of an interface. */
  interface: "i",
  interfaceEnd: "j",
  /** All of a name. */
  whole: "v",
  /** As word, of texts that lists are not searched by. */
  apart: "s",
  /** An address from a later octet or group on. */
  tail: "p",
  /** Two neighbouring octets of a MAC address, as four digits. */
  digits: "m",
} as const;
export type EntrySort = (typeof ENTRY)[keyof typeof ENTRY];

/** What ends the entries of a sort; undefined for those that are not ended. */
const ENDS: Readonly<Partial<Record<string, EntrySort>>> = {
  [ENTRY.word]: ENTRY.wordEnd,
  [ENTRY.interface]: ENTRY.interfaceEnd,
};

/** A name beyond this length is found by its words alone. */
const WHOLE_MAX_LENGTH = 80;
export const MAC_DIGITS_MIN = 4;
const MAC_DIGITS = 12;
const HEX_DIGITS = "0123456789abcdef";
/** Digits of an octet, and of the entries of MAC addresses. */
const OCTET = 2;
const WINDOW = 4;
/** Stands between the words of a whole name: no white space to the index. */
const BLANK = "\u00a0";

/** A kind, as far as its place goes. */
export interface PlacedKind {
  readonly code: number;
  readonly scopes: { readonly host?: unknown };
}

/**
 * Where the entries of an organization's kind stand in the index. Both numbers in base 36: they stand in every entry.
 * Parts of hosts, of which there are most, stand behind everything else: who looks for a beginning walks past all
 * records of the entry before it.
 */
export function entryPlace(organizationN: number, { code, scopes }: PlacedKind): string {
  return `${scopes.host === undefined ? "a" : "b"}${organizationN.toString(36)}.${code.toString(36)}.`;
}

/** The words of a text, without regard to case and marks. */
export function foldedWords(text: string): string[] {
  const folded = words(text);
  return isPlain(text) ? folded : folded.map(foldMarks);
}

/** A whole name, as it is compared and indexed. */
export function foldedWhole(text: string): string {
  return foldedWords(text).join(BLANK);
}

/**
 * What changes in the index when a record that was called one way is called another.
 * @param before nothing for a record that begins
 * @param after nothing for one that ends
 * @returns the entries of the version that makes the change, separated by blanks; empty where nothing changes
 */
export function calledChanges(place: string, before: readonly CalledText[], after: readonly CalledText[]): string {
  // Nearly all versions are of these two sorts.
  if (before.length === 0) return inPlace(place, allEntries(after));
  if (isSameCalled(before, after)) return "";
  const gone = before.filter((text) => !isAmong(text, after));
  const come = after.filter((text) => !isAmong(text, before));
  if (gone.length === 0 && come.length === 0) return "";
  const had = calledEntries(gone);
  const has = calledEntries(come);
  // The digits of an address stand in one row, so that they can be looked for together: what stays of them matters only
  // beside others.
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

/** As the index takes them. */
function inPlace(place: string, entries: readonly string[]): string {
  return entries.length === 0 ? "" : place + entries.join(` ${place}`);
}

/** As calledEntries. */
function allEntries(called: readonly CalledText[]): string[] {
  const entries = new Distinct();
  for (const text of called) for (const entry of entriesOf(text)) entries.add(entry);
  return entries.all;
}

/** Whether both say the same in the same order. */
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

/** The sorts of entries that a text may have. */
export function entrySorts({ as, isApart }: CalledField): EntrySort[] {
  const word = isApart === true ? ENTRY.apart : ENTRY.word;
  if (as === "Mac") return isApart === true ? [ENTRY.digits] : [word, ENTRY.digits];
  if (as === "Address") return [word, ENTRY.whole, ENTRY.tail];
  if (as === "Text") return [word];
  return as === "Interface" ? [word, ENTRY.whole, ENTRY.interface] : [word, ENTRY.whole];
}

/** Every entry that finds a record, each once, without its place. */
export function calledEntries(called: readonly CalledText[]): Set<string> {
  const entries = new Set<string>();
  for (const text of called) for (const entry of entriesOf(text)) entries.add(entry);
  return entries;
}

/** Those of one text, some maybe twice. */
function entriesOf({ value, as, isApart }: CalledText): readonly string[] {
  if (value === null || value === undefined) return [];
  const text = String(value);
  // A thousand switches have the same few names and aliases; no two interfaces have the same address.
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

/** Texts whose entries are kept at hand, of each way to be found. */
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
    // `channel10` of `port-channel10`: what follows a hyphen is found as in any word.
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

/** Of a MAC address as it is stored: lower case, with colons. */
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

/** The entries of two octets, by their number: 65,536 at most. A scan asks for them a million times. */
const digits = new Map<number, string>();

function octetAt(text: string, at: number): number {
  return (hexDigit(text.charCodeAt(at)) << 4) | hexDigit(text.charCodeAt(at + 1));
}

/** @param code of a digit, or of a letter in lower case */
function hexDigit(code: number): number {
  return code < 97 ? code - 48 : code - 87;
}

/** Every two neighbouring octets. @param digits from the beginning of an octet on */
function macWindows(digits: string): string[] {
  const windows: string[] = [];
  for (let at = 0; at + WINDOW <= digits.length; at += OCTET) windows.push(digits.slice(at, at + WINDOW));
  return windows;
}

/**
 * The entries of the MAC addresses that have digits somewhere: from the beginning of an octet on, or from the middle of
 * one, where its first digit may be any; and so with a last octet of which only the first digit is given.
 * @param digits four to twelve
 * @returns what may be looked up one after the other: groups, of each of which an address has one entry
 */
export function macLookups(digits: string): string[][][] {
  const fromOctet = windowGroups(digits);
  return digits.length === MAC_DIGITS ? [fromOctet] : [fromOctet, windowGroups(` ${digits}`)];
}

/**
 * One digit alone of two octets says too little to be looked up.
 * @param digits from the beginning of an octet on, the first a blank where it may be any
 */
function windowGroups(digits: string): string[][] {
  const groups: string[][] = [];
  for (let at = 0; at + WINDOW - 1 <= digits.length; at += OCTET)
    groups.push(filled(digits.slice(at, at + WINDOW).padEnd(WINDOW)).map((window) => ENTRY.digits + window));
  return groups;
}

/** Every digit in the place of the blank; the text itself where there is none. */
function filled(text: string): string[] {
  return text.includes(" ") ? [...HEX_DIGITS].map((digit) => text.replace(" ", digit)) : [text];
}

/** Entries that begin so. */
export interface EntryBeginning {
  readonly sort: EntrySort;
  readonly end: EntrySort;
  readonly text: string;
}

/** How the index has a field. */
export type CalledField = Pick<CalledText, "as" | "isApart">;

/** Entries of which a record has all, or one that begins so. */
export type Lookup = { readonly all: readonly string[] } | { readonly beginning: string };

/**
 * The entries of every record whose field is a text, or begins with it; null where the index does not tell.
 * @param text as the index has it: a MAC address with colons, an address in canonical form
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

/** What a word of a list's search asks: one of these entries, as it was typed, or as it is written otherwise. */
export function wordBeginnings(word: string): EntryBeginning[] {
  const folded = cut(foldMarks(foldCase(word.toWellFormed())));
  return [
    ...[...new Set([folded, ...canonicalBeginnings(folded)])].map((text) => ({
      sort: ENTRY.word,
      end: ENTRY.wordEnd,
      text,
    })),
    ...interfaceBeginnings(folded).map((text) => ({ sort: ENTRY.interface, end: ENTRY.interfaceEnd, text })),
  ];
}
