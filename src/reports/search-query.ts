// What the search of all kinds asks, and how a record answers it: exactly called so, by the beginning of a name, by its
// words, or by a part of an address. Works on entries of the index of words; reads nothing.

import { interfaceBeginnings, numberedInterface } from "../base/interface-name.ts";
import { parseCidr, parseIp } from "../base/ip.ts";
import {
  type CalledText,
  calledEntries,
  ENTRY,
  type EntrySort,
  foldedWhole,
  foldedWords,
  MAC_DIGITS_MIN,
  wordBeginnings,
} from "../db/called-words.ts";

/** How a record is called so, best first. */
export const MATCHES = ["Exact", "Prefix", "Word", "Part"] as const;
export type MatchKind = (typeof MATCHES)[number];

/** Why a record is found. */
export interface Match {
  readonly field: string;
  readonly value: string | number;
  readonly kind: MatchKind;
}

/** An entry that is asked for, or the beginning of some. */
export interface AskedEntry {
  readonly sort: EntrySort;
  readonly text: string;
}

/** A word, and the entries that begin so where it begins a word of a record. */
export interface AskedWord {
  readonly text: string;
  readonly asked: readonly AskedEntry[];
}

/** A question as its words can be read. */
export interface WordReading {
  readonly words: readonly AskedWord[];
  /** All of a name is one of these. */
  readonly exact: readonly AskedEntry[];
  /** All of a name begins with one of these. */
  readonly beginnings: readonly AskedEntry[];
}

export interface SearchQuery {
  /** As it was typed, and with interfaces in one word where there was a blank in them. */
  readonly readings: readonly [WordReading, ...WordReading[]];
  /** Hexadecimal digits, four at least, if it can be a MAC address or a part of one. */
  readonly macDigits: string | null;
  /** Of `vlan 20`. */
  readonly vlanNumber: string | null;
}

/** @param q with a word in it at least */
export function readQuestion(q: string): SearchQuery {
  const words = foldedWords(q);
  const joined = withoutBlanks(words);
  const readings = [words, ...(joined.length < words.length ? [joined] : [])].map(readingOf);
  return {
    readings: readings as [WordReading, ...WordReading[]],
    macDigits: macDigitsOf(words.join(" ")),
    vlanNumber: /^vlans?[ -]?0*(\d{1,4})$/.exec(words.join(" "))?.[1] ?? null,
  };
}

/** A question of these words alone, and of no address of cards. @param words one at least */
export function questionOf(words: readonly AskedWord[]): SearchQuery {
  return { readings: [readingOf(words.map(({ text }) => text))], macDigits: null, vlanNumber: null };
}

/** @param words folded, one at least */
function readingOf(words: readonly string[]): WordReading {
  const text = words.join(" ");
  const whole = foldedWhole(text);
  const address = parseIp(text)?.text ?? parseCidr(text)?.text;
  const wholes = [...new Set([whole, ...(address === undefined ? [] : [address])])];
  const numbered = numberedInterface(text);
  return {
    words: words.map((word) => ({ text: word, asked: wordEntries(word) })),
    exact: [
      ...wholes.map((each) => ({ sort: ENTRY.whole, text: each })),
      ...(numbered === null ? [] : [{ sort: ENTRY.interface, text: numbered.name }]),
    ],
    beginnings: [
      ...wholes.map((each) => ({ sort: ENTRY.whole, text: each })),
      ...interfaceBeginnings(text).map((each) => ({ sort: ENTRY.interface, text: each })),
    ],
  };
}

/** `gi 1/0/7` as one word: what is written with a blank is one name, where the type is written out. */
function withoutBlanks(words: readonly string[]): string[] {
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
 * The digits of a MAC address or a part of it in any notation: `aabb.ccdd`, `aa-bb-cc`, `aabbcc`, `b:cc:d`. What reads as
 * an IPv4 address with decimal groups is none.
 */
function macDigitsOf(text: string): string | null {
  const digits = text.replaceAll(/[-:. ]/g, "");
  const isOne =
    /^[0-9a-f]+$/.test(text) ||
    /^[0-9a-f]{1,2}([-: ])(?:[0-9a-f]{2}\1)*[0-9a-f]{0,2}$/.test(text) ||
    (/^[0-9a-f]{1,4}\.(?:[0-9a-f]{4}\.)*[0-9a-f]{0,4}$/.test(text) && /[a-f]|^[0-9a-f]{4}\./.test(text));
  return isOne && digits.length >= MAC_DIGITS_MIN && digits.length <= 12 ? digits : null;
}

/** What begins a word: of what lists are searched by, and of what only this search goes by. */
function wordEntries(word: string): AskedEntry[] {
  return wordBeginnings(word).flatMap(({ sort, text }): AskedEntry[] =>
    sort === ENTRY.word
      ? [
          { sort, text },
          { sort: ENTRY.apart, text },
        ]
      : [{ sort, text }],
  );
}

/** A text of a record with its entries in the index. */
interface IndexedText {
  readonly text: CalledText;
  readonly entries: readonly string[];
}

/**
 * How a record answers, best first.
 * @param isVlan whether it is a VLAN, which `vlan 20` asks for
 * @returns null for one that is not called so
 */
export function matchOf(called: readonly CalledText[], query: SearchQuery, isVlan: boolean): Match | null {
  const texts = indexed(called);
  let best: Match | null = null;
  const take = (kind: MatchKind, { field, value }: CalledText) => {
    if (best === null || MATCHES.indexOf(kind) < MATCHES.indexOf(best.kind))
      best = { field, value: value as string | number, kind };
  };
  for (const { text, entries } of texts) {
    if (isVlan && query.vlanNumber !== null && text.as === "Number" && String(text.value) === query.vlanNumber)
      take("Exact", text);
    if (text.as === "Mac" && query.macDigits !== null) {
      const place = String(text.value).replaceAll(":", "").indexOf(query.macDigits);
      if (place >= 0) take(place > 0 ? "Part" : query.macDigits.length === 12 ? "Exact" : "Prefix", text);
    }
    for (const { words, exact, beginnings } of query.readings) {
      if (exact.some((asked) => entries.includes(asked.sort + asked.text))) take("Exact", text);
      else if (hasBeginning(entries, beginnings)) take("Prefix", text);
      else if (words.length === 1 && hasBeginning(entries, [{ sort: ENTRY.tail, text: (words[0] as AskedWord).text }]))
        take("Part", text);
    }
  }
  for (const { words } of query.readings) {
    const found = words.map(({ asked }) => texts.find(({ entries }) => hasBeginning(entries, asked)));
    const [first] = found;
    if (first !== undefined && found.every((each) => each !== undefined)) take("Word", first.text);
  }
  return best;
}

/** Which of these words begin a word of what a record is called. */
export function wordsMatched(called: readonly CalledText[], words: readonly AskedWord[]): AskedWord[] {
  const entries = indexed(called).flatMap((text) => text.entries);
  return words.filter(({ asked }) => hasBeginning(entries, asked));
}

function indexed(called: readonly CalledText[]): IndexedText[] {
  const texts: IndexedText[] = [];
  for (const text of called) {
    if (text.value === null || text.value === undefined) continue;
    // Its digits are compared as they are: they have many entries.
    if (text.as === "Mac") texts.push({ text, entries: text.isApart === true ? [] : [ENTRY.word + text.value] });
    else texts.push({ text, entries: [...calledEntries([text])] });
  }
  return texts;
}

function hasBeginning(entries: readonly string[], asked: readonly AskedEntry[]): boolean {
  return asked.some(({ sort, text }) => entries.some((entry) => entry.startsWith(text, 1) && entry.startsWith(sort)));
}

/** The worse of two. */
export function worse(one: MatchKind, other: MatchKind): MatchKind {
  return MATCHES[Math.max(MATCHES.indexOf(one), MATCHES.indexOf(other))] as MatchKind;
}
