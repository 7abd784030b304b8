// Greetings in lines of text with a status before them, as FTP, SMTP, POP3 and IMAP servers send them (RFC 959 section
// 4.2). Pure; must not know which service it is.

import type { ServiceReply } from "./fingerprint.ts";
import { decodedText, latin1Of } from "./service-text.ts";

/**
 * The first reply, its lines with the codes taken off; null where it is no such reply, "More" where it has not come
 * whole.
 */
export function numberedReply({ bytes, isWhole }: ServiceReply): { code: number; text: string } | "More" | null {
  const start = latin1Of(bytes.subarray(0, 4));
  if (!/^\d{0,3}$/.test(start.slice(0, 3)) || (start.length === 4 && !/[ \r\n-]/.test(start.charAt(3)))) return null;
  const text = decodedText(bytes);
  const code = text.slice(0, 3);
  // The last line of several is the first whose code is not followed by a hyphen.
  const last = new RegExp(`^${code}(?: [^\\n]*)?\\r?\\n`, "m").exec(text);
  if (code.length < 3 || !last) {
    if (!isWhole) return "More";
    if (code.length < 3) return null;
  }
  const reply = last ? text.slice(0, last.index + last[0].length) : text;
  return { code: Number(code), text: reply.replace(/^\d{3}[ -]?/gm, "") };
}

/** The first line, where it begins with a word; null where it does not, "More" where it has not come whole. */
export function firstLine({ bytes, isWhole }: ServiceReply, beginning: string): string | null {
  const start = latin1Of(bytes.subarray(0, beginning.length));
  if (!beginning.startsWith(start)) return null;
  const end = bytes.indexOf(0x0a);
  if (end < 0 && !isWhole) return "More";
  if (start.length < beginning.length) return null;
  return decodedText(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}
