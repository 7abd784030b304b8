// The text of a session token, as the cookie `session_id` carries it: making it, recognising it, hashing it.
// Must not know users, lifetimes or cookies.

import type { Random } from "../base/random.ts";

/** Characters of 256 bits in base64url (RFC 4648 §5) without padding. */
export const SESSION_TOKEN_LENGTH = 43;

/** A new token: 256 random bits in base64url without padding. */
export function generateSessionToken(random: Random): string {
  return random.bytes(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Whether the text has the form of a token: anything else can be refused without asking the store. */
export function isWellFormedSessionToken(text: string): boolean {
  return FORM.test(text);
}

/** The SHA-256 of the token's characters, 32 bytes: what is stored and looked up. */
export function hashSessionToken(text: string): Uint8Array {
  const digest = new Uint8Array(Bun.SHA256.byteLength);
  Bun.SHA256.hash(text, digest);
  return digest;
}

const TOKEN_BYTES = 32;

/** The last character carries four bits, so only sixteen characters can stand there. */
const FORM = new RegExp(`^[A-Za-z0-9_-]{${SESSION_TOKEN_LENGTH - 1}}[AEIMQUYcgkosw048]$`);
