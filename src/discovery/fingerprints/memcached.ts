// memcached: the version, by the text protocol.

import type { Fingerprint } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identified } from "./service-text.ts";

export const memcached: Fingerprint = {
  name: "memcached",
  ports: [11_211],
  transport: "Tcp",
  request: () => new TextEncoder().encode("version\r\n"),
  read: (answer) => {
    const line = firstLine(answer, "VERSION ");
    if (line === "More") return "More";
    return line === null ? "Other" : identified(`memcached ${line.slice("VERSION ".length)}`, "memcache");
  },
};
