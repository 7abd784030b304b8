// One-time setup token: proves at first start that the person claiming the appliance can read its log. Independent of
// the effects of a claim.

import { timingSafeEqual } from "node:crypto";
import type { Random } from "../base/random.ts";

/** Groups of four characters, joined by hyphens: 28 characters of 5 bits, 140 bits. */
export const SETUP_TOKEN_GROUPS = 7;
export const SETUP_TOKEN_GROUP_LENGTH = 4;

/**
 * A new token in Crockford's base32 (no I, L, O, U), suitable for dictation and typing: `7K3M-0QXZ-…`, 34 characters.
 */
export function generateSetupToken(random: Random): string {
  const bytes = random.bytes(SETUP_TOKEN_GROUPS * SETUP_TOKEN_GROUP_LENGTH);
  // 256 is a multiple of 32: the low five bits of a random byte are an unbiased digit.
  const digits = Array.from(bytes, (byte) => DIGITS.charAt(byte & 31)).join("");
  return digits.match(GROUP)?.join("-") ?? "";
}

/**
 * Whether the typed text is the token, ignoring case, hyphens and spaces; I, L and O are read as 1, 1 and 0. The time
 * taken does not depend on the position of the first difference.
 */
export function setupTokenMatches(expected: string, typed: string): boolean {
  return sameSecret(fold(expected), fold(typed));
}

/**
 * Whether two secrets are equal; the time taken reveals neither the position of a difference nor the expected length.
 */
export function sameSecret(a: string, b: string): boolean {
  // UTF-16 instead of UTF-8, in which all lone surrogates are equal.
  return timingSafeEqual(Bun.SHA256.hash(Buffer.from(a, "utf16le")), Bun.SHA256.hash(Buffer.from(b, "utf16le")));
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const GROUP = new RegExp(`.{${SETUP_TOKEN_GROUP_LENGTH}}`, "g");

function fold(text: string): string {
  return text.replace(/[-\s]/g, "").toUpperCase().replace(/[IL]/g, "1").replaceAll("O", "0");
}
