// Texts that authenticate, recognized wherever they turn up: nothing that is kept or shown of a request may hold one.
// Must not know whose they are, nor whether they are good.

/** A quarter of a key's digits: a shorter text is its mask, which may be searched for, or a name. */
export const KEY_TEXT = /nlk_[0-9A-Za-z]{11}/;

/** Whether a text has an API key in it, whole or most of one. */
export function carriesKey(text: string): boolean {
  return text.includes("nlk_") && KEY_TEXT.test(text);
}

/** Whether a text has an API key in it, or what looks like the token of a session. */
export function carriesCredential(text: string): boolean {
  return carriesKey(text) || SESSION_TOKEN.test(text);
}

/**
 * 256 random bits in base64url. One in billions of them has letters of one case alone; a UUID with a number behind it
 * always does.
 */
const SESSION_TOKEN = /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{42}[AEIMQUYcgkosw048](?![\w-])/;
