// PostgreSQL: SSLRequest, answered by one letter. The version is visible only after a login.

import type { Fingerprint } from "./fingerprint.ts";
import { identified } from "./service-text.ts";

export const postgresql: Fingerprint = {
  name: "postgresql",
  ports: [5432, 5433],
  transport: "Tcp",
  request: () => Uint8Array.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f),
  read: ({ bytes, isComplete }) => {
    if (bytes.length === 0) return isComplete ? "Other" : "More";
    return bytes.length === 1 && (bytes[0] === 0x53 || bytes[0] === 0x4e)
      ? identified("PostgreSQL", "postgresql")
      : "Other";
  },
};
