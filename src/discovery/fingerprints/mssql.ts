// Microsoft SQL Server: PRELOGIN, which returns the version before any login ([MS-TDS] section 2.2.6.5).

import type { Fingerprint } from "./fingerprint.ts";
import { identified } from "./service-text.ts";

export const mssql: Fingerprint = {
  name: "mssql",
  ports: [1433],
  transport: "Tcp",
  request: prelogin,
  read: ({ bytes, isComplete }) => {
    if (bytes.length < HEADER_BYTES) return isComplete ? "Other" : "More";
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint16(2);
    if (bytes[0] !== TABULAR_RESULT || length < HEADER_BYTES + 6 || length > 4_096) return "Other";
    if (bytes.length < length) return isComplete ? "Other" : "More";
    // The version is the first option: token 1, offset 2, length 2.
    const position = HEADER_BYTES + view.getUint16(HEADER_BYTES + 1);
    if (bytes[HEADER_BYTES] !== OPTION_VERSION || view.getUint16(HEADER_BYTES + 3) < 6 || position + 4 > bytes.length)
      return "Other";
    const major = bytes[position] ?? 0;
    const release = RELEASES.get(major);
    const number = `${major}.${bytes[position + 1] ?? 0}.${view.getUint16(position + 2)}`;
    return identified(`Microsoft SQL Server ${release === undefined ? number : `${release} (${number})`}`, "ms-sql-s");
  },
};

/** Type 1, status 1, length 2, process 2, packet 1, window 1. */
const HEADER_BYTES = 8;
const TABULAR_RESULT = 0x04;
const OPTION_VERSION = 0;

const RELEASES: ReadonlyMap<number, string> = new Map([
  [10, "2008"],
  [11, "2012"],
  [12, "2014"],
  [13, "2016"],
  [14, "2017"],
  [15, "2019"],
  [16, "2022"],
  [17, "2025"],
]);

/** The options version, encryption (not supported), instance and thread, all empty or zero. */
function prelogin(): Uint8Array {
  const options = [
    [0, 21, 6],
    [1, 27, 1],
    [2, 28, 1],
    [3, 29, 4],
  ].flatMap(([token = 0, offset = 0, length = 0]) => [token, 0, offset, 0, length]);
  const payload = [...options, 0xff, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0];
  return Uint8Array.of(0x12, 1, 0, HEADER_BYTES + payload.length, 0, 0, 0, 0, ...payload);
}
