// Addresses as the kernel's binary answers hold them.

import { type Ip, parseIp } from "../../base/ip.ts";

/** The address of 4 or 16 bytes in network order; null for any other length. */
export function ipOfBytes(bytes: Uint8Array): Ip | null {
  if (bytes.length === 4) return parseIp(bytes.join("."));
  return bytes.length === 16 ? parseIp(bytes.toHex().replace(/(.{4})(?=.)/g, "$1:")) : null;
}
