// Redis and compatible servers: PING and INFO server, both read-only. Servers that require a password identify
// themselves by their error.

import type { Fingerprint } from "./fingerprint.ts";
import { identified, latin1Of } from "./service-text.ts";

export const redis: Fingerprint = {
  name: "redis",
  ports: [6379, 6380],
  transport: "Tcp",
  request: () => new TextEncoder().encode("PING\r\nINFO server\r\n"),
  read: ({ bytes, isComplete }) => {
    const text = latin1Of(bytes);
    if (/^-(?:NOAUTH|NOPERM|DENIED|LOADING|MASTERDOWN|ERR max number of clients)\b/.test(text))
      return identified("Redis", "redis");
    if (!"+PONG\r\n".startsWith(text.slice(0, 7)))
      return isComplete || !"-".startsWith(text.charAt(0)) || text.includes("\n") ? "Other" : "More";
    if (!isComplete && !isInfoComplete(text)) return "More";
    if (text.length < 7) return "Other";
    const valkey = /^valkey_version:(\d[\w.]*)/m.exec(text)?.[1];
    const version = /^redis_version:(\d[\w.]*)/m.exec(text)?.[1];
    return identified(
      valkey !== undefined ? `Valkey ${valkey}` : version !== undefined ? `Redis ${version}` : "Redis",
      "redis",
    );
  },
};

/** True if the second response is complete: an error line, or a bulk string of the announced length. */
function isInfoComplete(text: string): boolean {
  const info = text.slice(7);
  if (/^-[^\n]*\n/.test(info)) return true;
  const length = /^\$(\d{1,6})\r\n/.exec(info);
  return length !== null && info.length >= length[0].length + Number(length[1]);
}
