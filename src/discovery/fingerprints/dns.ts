// DNS over TCP: the server's version text (`version.bind`, RFC 4892).

import type { Fingerprint } from "./fingerprint.ts";
import { decodedText, identified } from "./service-text.ts";

export const dns: Fingerprint = {
  name: "dns",
  ports: [53],
  transport: "Tcp",
  request: () => Uint8Array.of(0, QUERY.length, ...QUERY),
  read: ({ bytes, isComplete }) => {
    if (bytes.length < 14) return isComplete ? "Other" : "More";
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint16(0);
    if (view.getUint16(2) !== QUERY_ID || ((bytes[4] ?? 0) & 0x80) === 0 || length < 12) return "Other";
    if (bytes.length < length + 2) return isComplete ? "Other" : "More";
    const text = firstText(bytes.subarray(2, length + 2));
    const isNumberOnly = text !== null && /^\d/.test(text);
    return identified(text === null ? "DNS" : isNumberOnly ? `BIND ${text}` : text, "domain");
  },
};

const QUERY_ID = 0x6e6c;
const TYPE_TXT = 16;
const CLASS_CHAOS = 3;
const NAME = Buffer.from("\x07version\x04bind\0");
/** ID 2, flags 2, one question, no other section; the name, its type, its class. */
const QUERY = Uint8Array.of(
  QUERY_ID >>> 8,
  QUERY_ID & 0xff,
  0,
  0,
  0,
  1,
  0,
  0,
  0,
  0,
  0,
  0,
  ...NAME,
  0,
  TYPE_TXT,
  0,
  CLASS_CHAOS,
);

/**
 * Returns the first string of the first answer record, if the response repeats the question; null for any other
 * message.
 */
function firstText(message: Uint8Array): string | null {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  if (((message[3] ?? 0) & 0x0f) !== 0 || view.getUint16(4) !== 1 || view.getUint16(6) === 0) return null;
  let offset = QUERY.length;
  // Name of the answer: a two-byte pointer, or repeated in full.
  if (((message[offset] ?? 0) & 0xc0) === 0xc0) offset += 2;
  else {
    while ((message[offset] ?? 0) !== 0) offset += (message[offset] ?? 0) + 1;
    offset += 1;
  }
  // Type 2, class 2, TTL 4, length 2; then the string's own length.
  if (offset + 11 > message.length || view.getUint16(offset) !== TYPE_TXT) return null;
  const start = offset + 11;
  const text = decodedText(message.subarray(start, start + (message[start - 1] ?? 0))).trim();
  return text === "" ? null : text;
}
