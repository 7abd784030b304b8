// Secret detection in URLs, which proxies, logs and shell histories store. Never reveals the position or any part of a
// secret.

import { containsKey, KEY_TEXT } from "../base/credential-detection.ts";
import { DomainError } from "../base/errors.ts";

/**
 * Whether a URL contains an API key, or most of one, in any encoding, or a parameter named as other products name their
 * secrets. Runs on every request: ordinary URLs pass after two searches.
 */
export function carriesSecret(url: string): boolean {
  if (containsKey(url)) return true;
  if (url.includes("?") && PARAMETER.test(url)) return true;
  return url.includes("%") && hidesSecret(url);
}

/** A path or URL that is safe in log lines and responses. */
export function withoutSecrets(url: string): string {
  return carriesSecret(url) ? "[hidden]" : url;
}

/** 400, for every caller and path. */
export function secretInUrl(): DomainError {
  return new DomainError(
    "validation_failed",
    "The URL contains a key, token or password, and proxies, logs and browsers keep URLs: send keys as Authorization: Bearer nlk_…, and replace the exposed one.",
    {
      issues: [{ path: "", message: "must not contain a key, token or password" }],
    },
  );
}

/** After the first question mark or an ampersand: later question marks are part of a value (RFC 3986 section 3.4). */
const PARAMETER =
  /(?:^[^?]*\?|&)(?:x[-_])?(?:api[-_]?key|key|(?:access|auth|setup|api)?[-_]?token|(?:client[-_]?)?secret|authorization|bearer|session_id|(?:current_|new_)?password)(?:\[\]|%5b%5d)?=/i;

/** A secret encoded more often than needed is still readable in a log. */
const DECODINGS_MAX = 3;

function hidesSecret(url: string): boolean {
  for (const text of decodingsOf(url)) if (KEY_TEXT.test(text) || PARAMETER.test(text)) return true;
  return false;
}

/** Successive percent-decodings of a string, while escapes remain. */
export function* decodingsOf(text: string): Generator<string> {
  let [before, decoded] = ["", text];
  for (let rounds = 0; rounds < DECODINGS_MAX && decoded !== before; rounds += 1) {
    before = decoded;
    decoded = decoded.replace(ENCODED_ASCII, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded !== before) yield decoded;
  }
}

/**
 * Characters of keys and parameter names, and % itself; not ? & = #, which are data when encoded. Never throws for
 * invalid UTF-8.
 */
const ENCODED_ASCII = /%(2[5d]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)/gi;
