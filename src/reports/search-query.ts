// Search query over all kinds and its matching: exact name, name prefix, words, or part of an address. Works on entries
// of the word index. Reads no records.

import { interfacePrefixes, numberedInterface } from "../base/interface-name.ts";
import { parseCidr, parseIp } from "../base/ip.ts";
import {
  ENTRY,
  type EntryType,
  foldWord,
  foldWords,
  type IndexedName,
  MAC_DIGITS_MIN,
  nameEntries,
  wordPrefixes,
} from "../db/name-entries.ts";

/** Kinds of match, best first. */
export const MATCHES = ["Exact", "Prefix", "Word", "Part"] as const;
export type MatchKind = (typeof MATCHES)[number];

/** The match of a record. */
export interface Match {
  readonly field: string;
  readonly value: string | number;
  readonly kind: MatchKind;
}

/** An index entry, or the prefix of entries. */
export interface QueryEntry {
  readonly sort: EntryType;
  readonly text: string;
}

/** A query word, and the prefixes of the entries it may match. */
export interface QueryWord {
  readonly text: string;
  readonly prefixes: readonly QueryEntry[];
}

/** One interpretation of a query's words. */
export interface WordReading {
  readonly words: readonly QueryWord[];
  /** Entries for an exact name. */
  readonly exact: readonly QueryEntry[];
  /** Entries for the prefix of a name. */
  readonly prefixEntries: readonly QueryEntry[];
}

export interface SearchQuery {
  /** As typed, and with the parts of interface names joined if they contained a space. */
  readonly readings: readonly [WordReading, ...WordReading[]];
  /** At least four hexadecimal digits, if the query can be a MAC address or part of one. */
  readonly macDigits: string | null;
  /** From `vlan 20`. */
  readonly vlanNumber: string | null;
}

/** @param q contains at least one word */
export function parseSearchQuery(q: string): SearchQuery {
  const words = foldWords(q);
  const joined = withoutSpaces(words);
  const readings = [words, ...(joined.length < words.length ? [joined] : [])].map(readingOf);
  return {
    readings: readings as [WordReading, ...WordReading[]],
    macDigits: macDigitsOf(words.join(" ")),
    vlanNumber: /^vlans?[ -]?0*(\d{1,4})$/.exec(words.join(" "))?.[1] ?? null,
  };
}

/** A query of these words alone, without MAC digits. @param words at least one */
export function queryOfWords(words: readonly QueryWord[]): SearchQuery {
  return { readings: [readingOf(words.map(({ text }) => text))], macDigits: null, vlanNumber: null };
}

/** @param words case-folded, at least one */
function readingOf(words: readonly string[]): WordReading {
  const text = words.join(" ");
  const whole = foldWord(text);
  const address = parseIp(text)?.text ?? parseCidr(text)?.text;
  const wholeTexts = [...new Set([whole, ...(address === undefined ? [] : [address])])];
  const numbered = numberedInterface(text);
  return {
    words: words.map((word) => ({ text: word, prefixes: wordEntries(word) })),
    exact: [
      ...wholeTexts.map((each) => ({ sort: ENTRY.fullName, text: each })),
      ...(numbered === null ? [] : [{ sort: ENTRY.interface, text: numbered.name }]),
    ],
    prefixEntries: [
      ...wholeTexts.map((each) => ({ sort: ENTRY.fullName, text: each })),
      ...interfacePrefixes(text).map((each) => ({ sort: ENTRY.interface, text: each })),
    ],
  };
}

/** Joins `gi 1/0/7` into one word: indexed names have the type spelled out, without a space. */
function withoutSpaces(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const before = joined.at(-1);
    if (before !== undefined && numberedInterface(`${before} ${word}`) !== null && /^\d/.test(word))
      joined[joined.length - 1] = before + word;
    else joined.push(word);
  }
  return joined;
}

/**
 * Digits of a full or partial MAC address in any notation: `aabb.ccdd`, `aa-bb-cc`, `aabbcc`, `b:cc:d`. Null for text
 * that reads as an IPv4 address with decimal groups.
 */
function macDigitsOf(text: string): string | null {
  const digits = text.replaceAll(/[-:. ]/g, "");
  const isMacText =
    /^[0-9a-f]+$/.test(text) ||
    /^[0-9a-f]{1,2}([-: ])(?:[0-9a-f]{2}\1)*[0-9a-f]{0,2}$/.test(text) ||
    (/^[0-9a-f]{1,4}\.(?:[0-9a-f]{4}\.)*[0-9a-f]{0,4}$/.test(text) && /[a-f]|^[0-9a-f]{4}\./.test(text));
  return isMacText && digits.length >= MAC_DIGITS_MIN && digits.length <= 12 ? digits : null;
}

/** Prefix entries of a word, both of list searches and of this search alone. */
function wordEntries(word: string): QueryEntry[] {
  return wordPrefixes(word).flatMap(({ entryType: sort, text }): QueryEntry[] =>
    sort === ENTRY.word
      ? [
          { sort, text },
          { sort: ENTRY.globalOnly, text },
        ]
      : [{ sort, text }],
  );
}

/** A string of a record with its index entries. */
interface IndexedText {
  readonly text: IndexedName;
  readonly entries: readonly string[];
}

/**
 * The best match of a record.
 * @param isVlan whether it is a VLAN, for queries such as `vlan 20`
 * @returns null for no match
 */
export function matchOf(calledTexts: readonly IndexedName[], query: SearchQuery, isVlan: boolean): Match | null {
  const texts = indexed(calledTexts);
  let best: Match | null = null;
  const offer = (kind: MatchKind, { field, value }: IndexedName) => {
    if (best === null || MATCHES.indexOf(kind) < MATCHES.indexOf(best.kind))
      best = { field, value: value as string | number, kind };
  };
  for (const { text, entries } of texts) {
    if (isVlan && query.vlanNumber !== null && text.as === "Number" && String(text.value) === query.vlanNumber)
      offer("Exact", text);
    if (text.as === "Mac" && query.macDigits !== null) {
      const offset = String(text.value).replaceAll(":", "").indexOf(query.macDigits);
      if (offset >= 0) offer(offset > 0 ? "Part" : query.macDigits.length === 12 ? "Exact" : "Prefix", text);
    }
    for (const { words, exact, prefixEntries } of query.readings) {
      if (exact.some((entry) => entries.includes(entry.sort + entry.text))) offer("Exact", text);
      else if (hasPrefix(entries, prefixEntries)) offer("Prefix", text);
      else if (words.length === 1 && hasPrefix(entries, [{ sort: ENTRY.tail, text: (words[0] as QueryWord).text }]))
        offer("Part", text);
    }
  }
  for (const { words } of query.readings) {
    const found = words.map(({ prefixes }) => texts.find(({ entries }) => hasPrefix(entries, prefixes)));
    const [first] = found;
    if (first !== undefined && found.every((each) => each !== undefined)) offer("Word", first.text);
  }
  return best;
}

/** The query words that are a prefix of a word in the record's names. */
export function wordsMatched(calledTexts: readonly IndexedName[], words: readonly QueryWord[]): QueryWord[] {
  const entries = indexed(calledTexts).flatMap((text) => text.entries);
  return words.filter(({ prefixes }) => hasPrefix(entries, prefixes));
}

function indexed(calledTexts: readonly IndexedName[]): IndexedText[] {
  const texts: IndexedText[] = [];
  for (const text of calledTexts) {
    if (text.value === null || text.value === undefined) continue;
    // MAC digits are compared directly: a MAC address has many entries.
    if (text.as === "Mac") texts.push({ text, entries: text.isGlobalOnly === true ? [] : [ENTRY.word + text.value] });
    else texts.push({ text, entries: [...nameEntries([text])] });
  }
  return texts;
}

function hasPrefix(entries: readonly string[], prefixes: readonly QueryEntry[]): boolean {
  return prefixes.some(({ sort, text }) =>
    entries.some((entry) => entry.startsWith(text, 1) && entry.startsWith(sort)),
  );
}

/** Returns the weaker of two matches. */
export function worseMatch(left: MatchKind, right: MatchKind): MatchKind {
  return MATCHES[Math.max(MATCHES.indexOf(left), MATCHES.indexOf(right))] as MatchKind;
}
