// Text matching one character at a time: starts of words, equal addresses, order of prefixes. Must not use the code
// under test.

import { foldCase } from "../../../src/base/text.ts";

const isLetterOrDigit = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
const isOfWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{M}\p{N}]/u.test(character);

/** The text from each start of a word to the next blank; folded. */
export function beginnings(text: string): string[] {
  const found: string[] = [];
  for (const word of text.split(/[\s\p{Cc}]+/u)) {
    const characters = [...foldCase(word)];
    for (let place = 0; place < characters.length; place += 1) {
      if (place === 0 || (isLetterOrDigit(characters[place]) && !isOfWord(characters[place - 1])))
        found.push(characters.slice(place).join(""));
    }
  }
  return found;
}

/** All stored forms that a search word may match; folded. */
export function formsOf(word: string): string[] {
  const plain = foldCase(word);
  const digits = plain.replaceAll(/[-.]/g, "");
  const isHex = /^[0-9a-f]{2,12}$/.test(digits);
  const pairs = (digits.match(/..?/g) ?? []).join(":");
  const isDashed =
    isHex &&
    plain.includes("-") &&
    plain.split("-").every((pair, place, all) => pair.length === 2 || (place === all.length - 1 && pair.length < 2));
  const isDotted =
    isHex &&
    plain.includes(".") &&
    plain
      .split(".")
      .every((group, place, all) => group.length === 4 || (place > 0 && place === all.length - 1 && group.length < 4));
  // A trailing dash matches a colon.
  const dashed = plain.endsWith("-") ? `${pairs}:` : pairs;
  return [plain, ...(isDashed ? [dashed] : []), ...(isDotted ? [pairs] : [])];
}

/** Vendor names of the same interface types: those drawn, each with all variants. */
const INTERFACE_TYPES = [
  ["gi", "gig", "gige", "gigabit", "gigabitethernet"],
  ["te", "ten", "tengig", "tengige", "tengigabitethernet"],
  ["po", "portchannel", "port-channel"],
];

/**
 * Whether a word is a prefix of an interface name, full or abbreviated, or of its number. A type before a number is
 * complete, not a prefix of another type.
 */
export function beginsInterface(name: string, word: string): boolean {
  const [, type = "", number = ""] = /^([a-z-]+?)\s*(\d\S*)$/.exec(foldCase(name)) ?? [];
  const types = INTERFACE_TYPES.find((each) => each.includes(type));
  if (types === undefined) return false;
  if (number.startsWith(word)) return true;
  const [, begun = word, rest = ""] = /^([a-z-]+)(\d.*)$/.exec(word) ?? [];
  if (rest === "") return types.some((each) => each.startsWith(begun));
  const isMeant = INTERFACE_TYPES.some((each) => each.includes(begun))
    ? types.includes(begun)
    : types.some((each) => each.startsWith(begun));
  return isMeant && number.startsWith(rest);
}

/** Interface type and number of a whole text; null for any other text. Folded. */
export function interfaceOf(text: string): string | null {
  const [, type = "", number = ""] = /^([a-z-]+?)\s*(\d\S*)$/.exec(text) ?? [];
  const types = INTERFACE_TYPES.find((each) => each.includes(type));
  return types === undefined ? null : `${types[0]}${number}`;
}

/** Without accents. */
export function unmarked(text: string): string {
  const letters = [...text.normalize("NFD")].filter((letter) => letter < "\u0300" || letter > "\u036f");
  return letters.join("").normalize("NFC").replaceAll("ß", "ss");
}

/** IPv4 before IPv6, then by first address, then the shorter prefix first. */
export function compareCidrs(left: string, right: string): number {
  const [a, b] = [numbers(left), numbers(right)];
  for (let place = 0; place < Math.max(a.length, b.length); place += 1) {
    const difference = (a[place] ?? 0) - (b[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbers(cidr: string): number[] {
  const [address, length] = cidr.split("/") as [string, string];
  if (address.includes(".")) return [4, ...address.split(".").map(Number), Number(length)];
  const [head, tail] = address.split("::").map((part) =>
    part
      .split(":")
      .filter((group) => group !== "")
      .map((group) => Number.parseInt(group, 16)),
  );
  const gap = 8 - (head?.length ?? 0) - (tail?.length ?? 0);
  return [6, ...(head ?? []), ...Array.from({ length: gap }, () => 0), ...(tail ?? []), Number(length)];
}
