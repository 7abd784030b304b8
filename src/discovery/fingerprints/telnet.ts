// Telnet: the options offered by the server, or the text before its login prompt (RFC 854). Does not answer the
// options.

import type { Fingerprint } from "./fingerprint.ts";
import { decodedText, identified } from "./service-text.ts";

const PORTS = [23, 2323];
/** "Interpret as command". */
const IAC = 0xff;
const FIRST_COMMAND = 0xf0;
const PROMPT = /(?:login|username|password|user name)\s*:\s*$/i;

export const telnet: Fingerprint = {
  name: "telnet",
  ports: PORTS,
  transport: "Tcp",
  request: null,
  read: ({ bytes, isWhole, port }) => {
    const isCommand = bytes[0] === IAC;
    if (bytes.length < (isCommand ? 2 : 1)) return isWhole ? "Other" : "More";
    if (isCommand ? (bytes[1] ?? 0) < FIRST_COMMAND : !PORTS.includes(port)) return "Other";
    // Many servers stop here until their options are answered; a prompt ends the reading early.
    const lines = decodedText(withoutCommands(bytes))
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => /\p{L}{2}/u.test(line));
    if (!isWhole && !PROMPT.test(lines.at(-1) ?? "")) return "More";
    const title = lines.find((line) => !PROMPT.test(line));
    return identified(title === undefined ? "Telnet" : `Telnet: ${title}`, "telnet");
  },
};

/** Removes IAC sequences: whole subnegotiations, options of three bytes, all others of two. */
function withoutCommands(bytes: Uint8Array): Uint8Array {
  const kept: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== IAC) kept.push(byte);
    else if (bytes[at + 1] === 0xfa) {
      while (at < bytes.length && !(bytes[at] === IAC && bytes[at + 1] === 0xf0)) at += 1;
      at += 1;
    } else at += (bytes[at + 1] ?? 0) >= 0xfb && bytes[at + 1] !== IAC ? 2 : 1;
  }
  return Uint8Array.from(kept);
}
