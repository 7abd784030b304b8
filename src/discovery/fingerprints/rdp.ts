// RDP: the confirmation of a connection request ([MS-RDPBCGR] section 2.2.1). Does not log in.

import type { Fingerprint } from "./fingerprint.ts";
import { identified } from "./service-text.ts";

/** TPKT, X.224 connection request, and a negotiation request for TLS or CredSSP. */
const CONNECTION_REQUEST = Uint8Array.of(3, 0, 0, 19, 14, 0xe0, 0, 0, 0, 0, 0, 1, 0, 8, 0, 3, 0, 0, 0);
const CONNECTION_CONFIRM = 0xd0;

export const rdp: Fingerprint = {
  name: "rdp",
  ports: [3389],
  transport: "Tcp",
  request: () => CONNECTION_REQUEST,
  read: ({ bytes, isComplete }) => {
    if (bytes.length < 6) return isComplete || (bytes.length > 0 && bytes[0] !== 3) ? "Other" : "More";
    return bytes[0] === 3 && bytes[1] === 0 && bytes[5] === CONNECTION_CONFIRM
      ? identified("RDP", "ms-wbt-server")
      : "Other";
  },
};
