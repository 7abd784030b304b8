// Credential detection in arbitrary text: stored or displayed parts of a request must not contain credentials.
// Independent of their owners and validity.

/** A quarter of a key's digits: a shorter text is its mask, which may be searched for, or a name. */
export const KEY_TEXT = /nlk_[0-9A-Za-z]{11}/;

/** Whether a string contains an API key, or most of one. */
export function containsKey(text: string): boolean {
  return text.includes("nlk_") && KEY_TEXT.test(text);
}

/** Whether a string contains an API key, or something like a session token. */
export function containsCredential(text: string): boolean {
  return containsKey(text) || SESSION_TOKEN.test(text);
}

/**
 * 256 random bits in base64url. Only one in billions has letters of one case alone; a UUID followed by a number always
 * does.
 */
const SESSION_TOKEN = /(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{42}[AEIMQUYcgkosw048](?![\w-])/;
