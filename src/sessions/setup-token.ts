// The one-time token that proves, at first start, that whoever claims the appliance can read its log.
// Must not know what a claim does.

import { timingSafeEqual } from "node:crypto";
import type { Random } from "../base/random.ts";

/** Groups of four characters, joined by hyphens: 28 characters of 5 bits, 140 bits. */
export const SETUP_TOKEN_GROUPS = 7;
export const SETUP_TOKEN_GROUP_LENGTH = 4;

/** A new token in Crockford's base32 (no I, L, O, U), made to be read out and typed: `7K3M-0QXZ-…`, 34 characters. */
export function generateSetupToken(random: Random): string {
  const bytes = random.bytes(SETUP_TOKEN_GROUPS * SETUP_TOKEN_GROUP_LENGTH);
  // 256 is a multiple of 32: the low five bits of a random byte are an unbiased digit.
  const digits = Array.from(bytes, (byte) => DIGITS.charAt(byte & 31)).join("");
  return digits.match(GROUP)?.join("-") ?? "";
}

/**
 * Whether someone typed the token: case, hyphens and blanks do not matter, and I, L and O are read as 1, 1 and 0.
 * Takes the same time wherever the first difference is.
 */
export function setupTokenMatches(expected: string, typed: string): boolean {
  return sameSecret(fold(expected), fold(typed));
}

/** Whether two secrets are equal, in a time that tells neither where they differ nor how long the expected one is. */
export function sameSecret(a: string, b: string): boolean {
  // UTF-16 rather than UTF-8, which would make all lone surrogates one.
  return timingSafeEqual(Bun.SHA256.hash(Buffer.from(a, "utf16le")), Bun.SHA256.hash(Buffer.from(b, "utf16le")));
}

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const GROUP = new RegExp(`.{${SETUP_TOKEN_GROUP_LENGTH}}`, "g");

function fold(text: string): string {
  return text.replace(/[-\s]/g, "").toUpperCase().replace(/[IL]/g, "1").replaceAll("O", "0");
}
