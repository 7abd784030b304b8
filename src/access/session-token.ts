// Session token text, as in the cookie `session_id`: generation, recognition and hash.
// Independent of users, lifetimes and cookies.

import type { Random } from "../base/random.ts";

/** Number of characters for 256 bits in base64url (RFC 4648 §5) without padding. */
export const SESSION_TOKEN_LENGTH = 43;

/** A new token: 256 random bits in base64url without padding. */
export function generateSessionToken(random: Random): string {
  return random.bytes(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Whether the text has the form of a token; anything else can be rejected without reading the store. */
export function isWellFormedSessionToken(text: string): boolean {
  return FORM.test(text);
}

/** SHA-256 of the token's characters, 32 bytes, for storage and lookup. */
export function hashSessionToken(text: string): Uint8Array {
  const digest = new Uint8Array(Bun.SHA256.byteLength);
  Bun.SHA256.hash(text, digest);
  return digest;
}

const TOKEN_BYTES = 32;

/** The last character encodes four bits, so only sixteen characters are possible. */
const FORM = new RegExp(`^[A-Za-z0-9_-]{${SESSION_TOKEN_LENGTH - 1}}[AEIMQUYcgkosw048]$`);
