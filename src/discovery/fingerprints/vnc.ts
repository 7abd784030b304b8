// VNC: the version in the server's greeting (RFC 6143 section 7.1.1).

import type { Fingerprint } from "./fingerprint.ts";
import { firstLine } from "./line-greeting.ts";
import { identified } from "./service-text.ts";

export const vnc: Fingerprint = {
  name: "vnc",
  ports: [5900, 5901, 5902],
  transport: "Tcp",
  request: null,
  read: (answer) => {
    const line = firstLine(answer, "RFB ");
    if (line === "More") return "More";
    const version = /^RFB (\d{3})\.(\d{3})$/.exec(line ?? "");
    return version ? identified(`VNC (RFB ${Number(version[1])}.${Number(version[2])})`, "rfb") : "Other";
  },
};
