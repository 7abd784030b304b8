// Secrets that someone put into a URL, where proxies, logs and histories of shells keep them. Only tells that they are
// there: must not say where, nor repeat any of it.

import { carriesKey, KEY_TEXT } from "../base/credential-texts.ts";
import { DomainError } from "../base/errors.ts";

/**
 * Whether a URL carries an API key, whole or most of one, however it is encoded, or names a parameter as other products
 * name theirs. On every request's path: what is ordinary is recognized by two searches.
 */
export function carriesSecret(url: string): boolean {
  if (carriesKey(url)) return true;
  if (url.includes("?") && PARAMETER.test(url)) return true;
  return url.includes("%") && hidesSecret(url);
}

/** What a log line or an answer may say of a path or a URL. */
export function withoutSecrets(url: string): string {
  return carriesSecret(url) ? "[hidden]" : url;
}

/** 400, whoever asks and whatever for. */
export function secretInUrl(): DomainError {
  return new DomainError(
    "validation_failed",
    "The URL contains a key, token or password, and proxies, logs and browsers keep URLs: send keys as Authorization: Bearer nlk_…, and replace this one.",
    {
      issues: [{ path: "", message: "must not contain a key, token or password" }],
    },
  );
}

/** Behind the first question mark or an ampersand: another question mark is part of a value (RFC 3986 section 3.4). */
const PARAMETER =
  /(?:^[^?]*\?|&)(?:x[-_])?(?:api[-_]?key|key|(?:access|auth|setup|api)?[-_]?token|(?:client[-_]?)?secret|authorization|bearer|session_id|(?:current_|new_)?password)(?:\[\]|%5b%5d)?=/i;

/** Encoded once more than it takes, it would still be shown to whoever reads the log. */
const DECODINGS_MAX = 3;

function hidesSecret(url: string): boolean {
  for (const text of decodingsOf(url)) if (KEY_TEXT.test(text) || PARAMETER.test(text)) return true;
  return false;
}

/** A text without its escapes, as often as something is left of them. */
export function* decodingsOf(text: string): Generator<string> {
  let [before, decoded] = ["", text];
  for (let times = 0; times < DECODINGS_MAX && decoded !== before; times += 1) {
    before = decoded;
    decoded = decoded.replace(ENCODED_ASCII, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded !== before) yield decoded;
  }
}

/**
 * What a key or a parameter's name is made of, and % itself; not ? & = #, which are values when they are encoded. What
 * is not UTF-8 throws nothing here.
 */
const ENCODED_ASCII = /%(2[5d]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)/gi;
