// SSH: the server's identification string (RFC 4253 section 4.2).

import type { Fingerprint } from "./fingerprint.ts";
import { identified, latin1Of, textOfLatin1 } from "./service-text.ts";

export const ssh: Fingerprint = {
  name: "ssh",
  ports: [22, 2222, 22222],
  transport: "Tcp",
  request: null,
  read: ({ bytes, isComplete }) => {
    // Other lines may precede it.
    const text = latin1Of(bytes);
    const match = /^SSH-(?:2\.0|1\.\d+)-([^\r\n ]*)[^\r\n]*(\r?\n)?/m.exec(text);
    if (match && (match[2] !== undefined || isComplete))
      return identified(textOfLatin1(match[1] ?? "").replace(/[_-](?=v?\d)/i, " ") || "SSH", "ssh");
    return isComplete || !mayPrecedeIdentification(text) ? "Other" : "More";
  },
};

/** True for text that the identification may still follow. */
function mayPrecedeIdentification(text: string): boolean {
  return text.length < 4_096 && !/[^\t\r\n\x20-\x7e\x80-\xff]/.test(text);
}
