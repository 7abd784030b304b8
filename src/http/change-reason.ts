// Change reason of a write, parsed from the bytes of X-Change-Reason. Independent of its use.

import { containsCredential } from "../base/credential-detection.ts";
import type { Issue } from "../base/errors.ts";
import { CHANGE_REASON_MAX_LENGTH, FORMATS, type Format } from "../schemas/schemas.ts";

const HEADER = "X-Change-Reason";

/** Whether an operation may write to the ledger; it then accepts a reason and reports its transaction. */
export function mayTransact(method: string, operation: { readonly writesNoTransaction?: true }): boolean {
  return method !== "GET" && method !== "HEAD" && operation.writesNoTransaction !== true;
}

/**
 * The trimmed reason of a request; null if absent or blank. Raw UTF-8, or an extended value (RFC 8187 section 3.2),
 * since browsers send only Latin-1 in headers.
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
  const text = decodeUtf8(bytes);
  if (text === null) return refuse("must be UTF-8, or percent-encoded UTF-8 such as UTF-8''Gr%C3%BC%C3%9Fe (RFC 8187)");
  const reason = text.trim();
  if (reason === "") return null;
  // Reasons are stored permanently and displayed.
  if (containsCredential(reason)) return refuse("must not contain an API key or a session's token");
  const { parse, sentence } = FORMATS.name as Format;
  if (parse(reason) === null) return refuse(sentence, reason);
  const { length } = [...reason];
  if (length <= CHANGE_REASON_MAX_LENGTH) return reason;
  return refuse(`must have at most ${CHANGE_REASON_MAX_LENGTH} characters and has ${length}`, reason);
}

/** Charset, ignored language, and value. */
const EXTENDED = /^utf-8'[\w-]*'(.*)$/i;
/** Accepts some characters that RFC 8187 requires to be encoded: encodeURIComponent leaves them as they are. */
const PERCENT_ENCODED = /^(?:[ -$&-~]|%[\da-f]{2})*$/i;

/** Bytes of a header. The server returns one character per byte. Null for an invalid percent escape. */
function bytesOf(sent: string): Uint8Array | null {
  const value = EXTENDED.exec(sent)?.[1];
  if (value === undefined) return Buffer.from(sent, "latin1");
  if (!PERCENT_ENCODED.test(value)) return null;
  const decoded = value.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(decoded, "latin1");
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Null for invalid UTF-8. */
function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
