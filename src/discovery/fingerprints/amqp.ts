// AMQP: sends the protocol header; a server answers with its properties, or with its own protocol version.

import type { Fingerprint } from "./fingerprint.ts";
import { identified, latin1Of, textOfLatin1 } from "./service-text.ts";

const CONNECTION_START = "\x00\x0a\x00\x0a";

export const amqp: Fingerprint = {
  name: "amqp",
  ports: [5672],
  transport: "Tcp",
  request: () => Uint8Array.of(0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1),
  read: ({ bytes, isComplete }) => {
    if (bytes.length < 8) return isComplete ? "Other" : "More";
    const text = latin1Of(bytes);
    if (text.startsWith("AMQP")) return identified(`AMQP ${bytes[5] ?? 0}.${bytes[6] ?? 0}`, "amqp");
    // A method frame on channel 0: type 1, channel 2, size 4, class and method 4.
    if (!text.startsWith("\x01\x00\x00")) return "Other";
    const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(3);
    if (length > 16_384) return "Other";
    if (bytes.length < length + 8 && !isComplete) return "More";
    if (!text.startsWith(CONNECTION_START, 7)) return "Other";
    const product = longString(text, "\x07product");
    const version = longString(text, "\x07version");
    return identified(product === null ? "AMQP" : `${product} ${version ?? ""}`, "amqp");
  },
};

/** Returns the value of a server property: `S`, four bytes of length, text. */
function longString(text: string, key: string): string | null {
  const offset = text.indexOf(`${key}S\0\0\0`);
  if (offset < 0) return null;
  const start = offset + key.length + 5;
  return textOfLatin1(text.slice(start, start + text.charCodeAt(start - 1)));
}
