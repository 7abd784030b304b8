// Text matching one character at a time: word starts, equal addresses, order of prefixes. Shares no code with the code
// under test.

import { foldCase } from "../../../src/base/text.ts";

const isLetterOrDigit = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
const isWordCharacter = (character: string | undefined) =>
  character !== undefined && /[\p{L}\p{M}\p{N}]/u.test(character);

/** The text from each word start to the next white space; folded. */
export function wordStarts(text: string): string[] {
  const found: string[] = [];
  for (const word of text.split(/[\s\p{Cc}]+/u)) {
    const characters = [...foldCase(word)];
    for (let index = 0; index < characters.length; index += 1) {
      if (index === 0 || (isLetterOrDigit(characters[index]) && !isWordCharacter(characters[index - 1])))
        found.push(characters.slice(index).join(""));
    }
  }
  return found;
}

/** All stored forms that a search word may match; folded. */
export function storedForms(word: string): string[] {
  const plain = foldCase(word);
  const digits = plain.replaceAll(/[-.]/g, "");
  const isHex = /^[0-9a-f]{2,12}$/.test(digits);
  const pairs = (digits.match(/..?/g) ?? []).join(":");
  const isDashed =
    isHex &&
    plain.includes("-") &&
    plain.split("-").every((pair, index, all) => pair.length === 2 || (index === all.length - 1 && pair.length < 2));
  const isDotted =
    isHex &&
    plain.includes(".") &&
    plain
      .split(".")
      .every((group, index, all) => group.length === 4 || (index > 0 && index === all.length - 1 && group.length < 4));
  // A trailing dash matches a colon.
  const dashed = plain.endsWith("-") ? `${pairs}:` : pairs;
  return [plain, ...(isDashed ? [dashed] : []), ...(isDotted ? [pairs] : [])];
}

/** Vendor names of the interface types that tests draw, each with all variants. */
const INTERFACE_TYPES = [
  ["gi", "gig", "gige", "gigabit", "gigabitethernet"],
  ["te", "ten", "tengig", "tengige", "tengigabitethernet"],
  ["po", "portchannel", "port-channel"],
];

/**
 * Whether a word is a prefix of an interface name, full or abbreviated, or of its number. A type before a number is
 * complete, not a prefix of another type.
 */
export function startsInterfaceName(name: string, word: string): boolean {
  const [, type = "", number = ""] = /^([a-z-]+?)\s*(\d\S*)$/.exec(foldCase(name)) ?? [];
  const types = INTERFACE_TYPES.find((names) => names.includes(type));
  if (types === undefined) return false;
  if (number.startsWith(word)) return true;
  const [, typePrefix = word, rest = ""] = /^([a-z-]+)(\d.*)$/.exec(word) ?? [];
  if (rest === "") return types.some((variant) => variant.startsWith(typePrefix));
  const isMatchingType = INTERFACE_TYPES.some((names) => names.includes(typePrefix))
    ? types.includes(typePrefix)
    : types.some((name) => name.startsWith(typePrefix));
  return isMatchingType && number.startsWith(rest);
}

/** Interface type and number of a whole string; null for others. Folded. */
export function canonicalInterface(text: string): string | null {
  const [, type = "", number = ""] = /^([a-z-]+?)\s*(\d\S*)$/.exec(text) ?? [];
  const types = INTERFACE_TYPES.find((names) => names.includes(type));
  return types === undefined ? null : `${types[0]}${number}`;
}

/** Removes accents. */
export function stripAccents(text: string): string {
  const letters = [...text.normalize("NFD")].filter((letter) => letter < "\u0300" || letter > "\u036f");
  return letters.join("").normalize("NFC").replaceAll("ß", "ss");
}

/** IPv4 before IPv6, then by first address, then the shorter prefix first. */
export function compareCidrs(left: string, right: string): number {
  const [a, b] = [cidrNumbers(left), cidrNumbers(right)];
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function cidrNumbers(cidr: string): number[] {
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
