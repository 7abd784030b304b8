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
  read: ({ bytes, isComplete, port }) => {
    const isCommand = bytes[0] === IAC;
    if (bytes.length < (isCommand ? 2 : 1)) return isComplete ? "Other" : "More";
    if (isCommand ? (bytes[1] ?? 0) < FIRST_COMMAND : !PORTS.includes(port)) return "Other";
    // Many servers stop here until their options are answered; a prompt ends the reading early.
    const lines = decodedText(withoutCommands(bytes))
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => /\p{L}{2}/u.test(line));
    if (!isComplete && !PROMPT.test(lines.at(-1) ?? "")) return "More";
    const title = lines.find((line) => !PROMPT.test(line));
    return identified(title === undefined ? "Telnet" : `Telnet: ${title}`, "telnet");
  },
};

/** Removes IAC sequences: whole subnegotiations, options of three bytes, all others of two. */
function withoutCommands(bytes: Uint8Array): Uint8Array {
  const remaining: number[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte !== IAC) remaining.push(byte);
    else if (bytes[index + 1] === 0xfa) {
      while (index < bytes.length && !(bytes[index] === IAC && bytes[index + 1] === 0xf0)) index += 1;
      index += 1;
    } else index += (bytes[index + 1] ?? 0) >= 0xfb && bytes[index + 1] !== IAC ? 2 : 1;
  }
  return Uint8Array.from(remaining);
}
