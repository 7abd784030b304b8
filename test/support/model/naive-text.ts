// Texts as a person would look through them, one character at a time: where words begin, which addresses are the same,
// which prefix comes first. Must not use what it is compared with.

import { foldCase } from "../../../src/base/text.ts";

const isLetterOrDigit = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
const isOfWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{M}\p{N}]/u.test(character);

/** Everything from each beginning of a word on, up to the next blank; folded. */
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

/** A word of a search in each way in which what it looks for may be stored; folded. */
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
  // A dash at the end stands for the colon there.
  const dashed = plain.endsWith("-") ? `${pairs}:` : pairs;
  return [plain, ...(isDashed ? [dashed] : []), ...(isDotted ? [pairs] : [])];
}

/** What makers call the same types of interface: those that are drawn, each in every way that there is for it. */
const INTERFACE_TYPES = [
  ["gi", "gig", "gige", "gigabit", "gigabitethernet"],
  ["te", "ten", "tengig", "tengige", "tengigabitethernet"],
  ["po", "portchannel", "port-channel"],
];

/**
 * Whether a word is how the name of an interface begins: in full or abbreviated, or at its number. A type that is
 * written out before a number is that type, and no longer one that begins so.
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

/** The type and number of an interface that a whole text names; null for any other text. Folded. */
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

/** IPv4 before IPv6, by the first address, the shorter prefix first. */
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
