// NATS: the server's initial INFO.

import type { Fingerprint } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identified } from "./service-text.ts";

export const nats: Fingerprint = {
  name: "nats",
  ports: [4222],
  transport: "Tcp",
  request: null,
  read: (answer) => {
    const line = firstLine(answer, "INFO {");
    if (line === "More") return "More";
    if (line === null || !line.includes('"server_id"')) return "Other";
    const version = /"version" *: *"([\w.+-]{1,40})"/.exec(line)?.[1];
    return identified(version === undefined ? "NATS" : `NATS ${version}`, "nats");
  },
};
