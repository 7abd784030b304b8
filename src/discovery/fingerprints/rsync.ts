// rsync: the protocol version in the daemon's greeting.

import type { Fingerprint } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identified } from "./service-text.ts";

export const rsync: Fingerprint = {
  name: "rsync",
  ports: [873],
  transport: "Tcp",
  request: null,
  read: (answer) => {
    const line = firstLine(answer, "@RSYNCD: ");
    if (line === "More") return "More";
    const version = /^@RSYNCD: (\d[\d.]*)/.exec(line ?? "");
    return version ? identified(`rsync (protocol ${version[1]})`, "rsync") : "Other";
  },
};
