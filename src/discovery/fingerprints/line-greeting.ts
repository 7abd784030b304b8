// Parser for line-based greetings with a leading status, as sent by FTP, SMTP, POP3 and IMAP servers (RFC 959 section
// 4.2). Pure; independent of the service.

import type { ServiceReply } from "./fingerprint.ts";
import { decodedText, latin1Of } from "./service-text.ts";

/** Returns the first reply with the codes removed from its lines; null if not such a reply, "More" if incomplete. */
export function numberedReply({ bytes, isComplete }: ServiceReply): { code: number; text: string } | "More" | null {
  const start = latin1Of(bytes.subarray(0, 4));
  if (!/^\d{0,3}$/.test(start.slice(0, 3)) || (start.length === 4 && !/[ \r\n-]/.test(start.charAt(3)))) return null;
  const text = decodedText(bytes);
  const code = text.slice(0, 3);
  // The last line is the first one whose code is not followed by a hyphen.
  const last = new RegExp(`^${code}(?: [^\\n]*)?\\r?\\n`, "m").exec(text);
  if (code.length < 3 || !last) {
    if (!isComplete) return "More";
    if (code.length < 3) return null;
  }
  const reply = last ? text.slice(0, last.index + last[0].length) : text;
  return { code: Number(code), text: reply.replace(/^\d{3}[ -]?/gm, "") };
}

/** Returns the first line if it begins with the given text; else null, or "More" if incomplete. */
export function firstLine({ bytes, isComplete }: ServiceReply, prefix: string): string | null {
  const start = latin1Of(bytes.subarray(0, prefix.length));
  if (!prefix.startsWith(start)) return null;
  const end = bytes.indexOf(0x0a);
  if (end < 0 && !isComplete) return "More";
  if (start.length < prefix.length) return null;
  return decodedText(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}
