// MySQL and MariaDB: the initial handshake of the server, or its refusal.

import type { Fingerprint } from "./fingerprint.ts";
import { identified, latin1Of } from "./service-text.ts";

const PROTOCOL_VERSION = 10;
const ERROR = 0xff;

export const mysql: Fingerprint = {
  name: "mysql",
  ports: [3306, 3307],
  transport: "Tcp",
  request: null,
  read: ({ bytes, isComplete }) => {
    const more = isComplete ? "Other" : "More";
    if (bytes.length < 5) return more;
    // Length 3, little-endian; sequence number 1, which is 0 in the first packet.
    const length = (bytes[0] ?? 0) | ((bytes[1] ?? 0) << 8) | ((bytes[2] ?? 0) << 16);
    if (length > 1_024 || bytes[3] !== 0) return "Other";
    if (bytes.length < length + 4) return more;
    const text = latin1Of(bytes.subarray(5, length + 4));
    if (bytes[4] === ERROR) {
      const isMysql = /MariaDB|MySQL|Host '.*' is (?:not allowed|blocked)|Too many connections/i.test(text);
      return isMysql ? identified(/MariaDB/i.test(text) ? "MariaDB" : "MySQL", "mysql") : "Other";
    }
    const version = /^(\d[\w.+~-]{1,60})\0/.exec(text)?.[1];
    if (bytes[4] !== PROTOCOL_VERSION || version === undefined) return "Other";
    // MariaDB prefixes its version with a fake MySQL version, for old replicas.
    const maria = /^(?:5\.5\.5-)?(\d+\.\d+\.\d+)-MariaDB/i.exec(version)?.[1];
    return identified(
      maria === undefined ? `MySQL ${/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? ""}` : `MariaDB ${maria}`,
      "mysql",
    );
  },
};
