// API key text: generation, recognition, hash and mask.
// Independent of a key's owner and permissions.

import type { Random } from "../base/random.ts";

/** Identifies keys of this product to people and secret scanners. */
export const API_KEY_PREFIX = "nlk_";

/** Number of base62 characters after the prefix; they encode 256 bits (62^43 is just above 2^256). */
export const API_KEY_DIGITS = 43;

/** Length of the complete key in ASCII characters: 47. */
export const API_KEY_LENGTH = API_KEY_PREFIX.length + API_KEY_DIGITS;

/**
 * A new key: `nlk_`, then 256 bits as 43 base62 digits (`0-9A-Za-z`, most significant first, zero-padded). The first
 * 224 bits are random; the last 32 are the CRC-32 (IEEE 802.3, as in zip) of those 28 bytes. The checksum lets a
 * scanner distinguish a leaked key from similar text; it provides no security.
 */
export function generateApiKey(random: Random): string {
  const secret = random.bytes(SECRET_BYTES);
  const bits = (BigInt(`0x${secret.toHex()}`) << CHECKSUM_BITS) | BigInt(Bun.hash.crc32(secret));
  return API_KEY_PREFIX + toBase62(bits);
}

/** Whether the text has the form and checksum of a key; anything else can be rejected without reading the store. */
export function isWellFormedApiKey(text: string): boolean {
  if (!FORM.test(text)) return false;
  const bits = fromBase62(text.slice(API_KEY_PREFIX.length));
  const hex = (bits >> CHECKSUM_BITS).toString(16).padStart(2 * SECRET_BYTES, "0");
  return hex.length === 2 * SECRET_BYTES && BigInt(Bun.hash.crc32(Uint8Array.fromHex(hex))) === (bits & CHECKSUM_MASK);
}

/** SHA-256 of the key's characters, 32 bytes, for storage and lookup. A fast hash suffices for 224 random bits. */
export function hashApiKey(text: string): Uint8Array {
  const digest = new Uint8Array(Bun.SHA256.byteLength);
  Bun.SHA256.hash(text, digest);
  return digest;
}

/**
 * Mask that identifies a key without authenticating: `nlk_`, the first four characters, `…`. Throws for anything but a
 * key.
 */
export function maskApiKey(text: string): string {
  if (!isWellFormedApiKey(text))
    throw new Error("Only a well-formed API key can be masked: shorter text would be shown in full.");
  return `${text.slice(0, API_KEY_PREFIX.length + MASK_VISIBLE_LENGTH)}…`;
}

const SECRET_BYTES = 28;
const CHECKSUM_BITS = 32n;
const CHECKSUM_MASK = (1n << CHECKSUM_BITS) - 1n;
const MASK_VISIBLE_LENGTH = 4;
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const POWERS_OF_62 = Array.from({ length: 9 }, (_, digits) => 62n ** BigInt(digits));
const FORM = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${API_KEY_DIGITS}}$`);

function toBase62(number: bigint): string {
  let text = "";
  for (let rest = number; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(API_KEY_DIGITS, "0");
}

/** Eight digits at a time fit into a number exactly, which avoids most of the slow bigint arithmetic. */
function fromBase62(text: string): bigint {
  let number = 0n;
  for (let start = 0; start < text.length; start += 8) {
    const end = Math.min(start + 8, text.length);
    let value = 0;
    for (let i = start; i < end; i += 1) value = value * 62 + DIGITS.indexOf(text.charAt(i));
    number = number * (POWERS_OF_62[end - start] as bigint) + BigInt(value);
  }
  return number;
}
