// Why a write is made, as its X-Change-Reason says: read from the header's bytes. Must not know what becomes of it.

import { carriesCredential } from "../base/credential-texts.ts";
import type { Issue } from "../base/errors.ts";
import { CHANGE_REASON_MAX_LENGTH, FORMATS, type Format } from "../schemas/schemas.ts";

const HEADER = "X-Change-Reason";

/** Whether an operation may write to the ledger: then it takes a reason, and tells the transaction that it made. */
export function mayTransact(method: string, operation: { readonly makesNoTransaction?: true }): boolean {
  return method !== "GET" && method !== "HEAD" && operation.makesNoTransaction !== true;
}

/**
 * The reason that a request gives, trimmed; null where it gives none or a blank one. In UTF-8, or as an extended value
 * (RFC 8187 section 3.2), since browsers send nothing beyond Latin-1 in a header.
 */
export function changeReason(headers: Headers, issues: Issue[]): string | null {
  const sent = headers.get(HEADER);
  if (sent === null) return null;
  const refuse = (message: string, value?: string) => {
    issues.push({ path: `/${HEADER}`, message, ...(value === undefined ? {} : { value: value.slice(0, 200) }) });
    return null;
  };
  const bytes = bytesOf(sent);
  if (bytes === null) return refuse("must be percent-encoded after UTF-8'', such as UTF-8''Gr%C3%BC%C3%9Fe (RFC 8187)");
  const text = utf8(bytes);
  if (text === null) return refuse("must be UTF-8, or percent-encoded UTF-8 such as UTF-8''Gr%C3%BC%C3%9Fe (RFC 8187)");
  const reason = text.trim();
  if (reason === "") return null;
  // It is kept for ever, and shown.
  if (carriesCredential(reason)) return refuse("must not contain an API key or a session's token");
  const { parse, sentence } = FORMATS.name as Format;
  if (parse(reason) === null) return refuse(sentence, reason);
  const { length } = [...reason];
  if (length <= CHANGE_REASON_MAX_LENGTH) return reason;
  return refuse(`must have at most ${CHANGE_REASON_MAX_LENGTH} characters and has ${length}`, reason);
}

/** A charset, a language that nobody asks for, and the value. */
const EXTENDED = /^utf-8'[\w-]*'(.*)$/i;
/** What RFC 8187 wants encoded and is visible stands for itself: encodeURIComponent leaves some of it. */
const PERCENT_ENCODED = /^(?:[ -$&-~]|%[\da-f]{2})*$/i;

/** What a header holds. The server hands over a character for each byte. Null where a percent sign stands for none. */
function bytesOf(sent: string): Uint8Array | null {
  const value = EXTENDED.exec(sent)?.[1];
  if (value === undefined) return Buffer.from(sent, "latin1");
  if (!PERCENT_ENCODED.test(value)) return null;
  const decoded = value.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Null for what is no UTF-8. */
function utf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
