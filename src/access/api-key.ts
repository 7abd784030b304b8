// The text of an API key: making it, recognising it, hashing it, masking it.
// Must not know who owns a key or what it may do.

import type { Random } from "../base/random.ts";

/** Marks a key of this product, for people and for secret scanners. */
export const API_KEY_PREFIX = "nlk_";

/** Base62 characters that carry the 256 random bits (62^43 is just above 2^256). */
export const API_KEY_SECRET_LENGTH = 43;

/** Base62 characters of the checksum that ends the key (62^6 is above 2^32). */
export const API_KEY_CHECKSUM_LENGTH = 6;

/** Of the whole key, in characters, all ASCII: 53. */
export const API_KEY_LENGTH = API_KEY_PREFIX.length + API_KEY_SECRET_LENGTH + API_KEY_CHECKSUM_LENGTH;

/**
 * A new key: `nlk_`, then 256 random bits as 43 base62 digits (`0-9A-Za-z`, most significant first, zero-padded), then the CRC-32
 * (IEEE 802.3, as in zip) of those 47 characters as 6 base62 digits in the same way. The checksum lets a scanner tell a leaked key from
 * text that merely looks like one, and protects nothing.
 */
export function generateApiKey(random: Random): string {
  const number = BigInt(`0x${random.bytes(SECRET_BYTES).toHex()}`);
  const unsigned = API_KEY_PREFIX + toBase62(number, API_KEY_SECRET_LENGTH);
  return unsigned + checksumOf(unsigned);
}

/** Whether the text has the form of a key and its checksum is right: anything else can be refused without asking the store. */
export function isWellFormedApiKey(text: string): boolean {
  return FORM.test(text) && checksumOf(text.slice(0, -API_KEY_CHECKSUM_LENGTH)) === text.slice(-API_KEY_CHECKSUM_LENGTH);
}

/** The SHA-256 of the key's characters, 32 bytes: what is stored and looked up. A fast hash is enough for 256 random bits. */
export function hashApiKey(text: string): Uint8Array {
  const digest = new Uint8Array(Bun.SHA256.byteLength);
  Bun.SHA256.hash(text, digest);
  return digest;
}

/** What identifies a key without authenticating: `nlk_`, the first four random characters, `…`. Throws on what is not a key. */
export function maskApiKey(text: string): string {
  if (!isWellFormedApiKey(text)) throw new Error("Only a well-formed API key can be masked: a shorter text would be shown whole.");
  return `${text.slice(0, API_KEY_PREFIX.length + MASK_VISIBLE_LENGTH)}…`;
}

const SECRET_BYTES = 32;
const MASK_VISIBLE_LENGTH = 4;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const FORM = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${API_KEY_SECRET_LENGTH + API_KEY_CHECKSUM_LENGTH}}$`);

function checksumOf(ascii: string): string {
  let rest = Bun.hash.crc32(ascii);
  let text = "";
  for (let digit = 0; digit < API_KEY_CHECKSUM_LENGTH; digit += 1) {
    text = DIGITS.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function toBase62(number: bigint, length: number): string {
  let text = "";
  for (let rest = number; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, "0");
}
