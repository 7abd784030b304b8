// Addresses of all interfaces, from the kernel. I/O only: rtnetlink.ts parses the bytes, inventory-addresses.ts
// selects.

import { KernelRefused } from "../kernel/libc.ts";
import { dumpKernel } from "../kernel/netlink-socket.ts";
import { readProcAddresses } from "./proc-addresses.ts";
import { addressDumpRequest, type KernelAddress, parseAddressDatagram } from "./rtnetlink.ts";

export interface KernelAddresses {
  readonly addresses: readonly KernelAddress[];
  /** False if addresses of interfaces that are down may be missing. */
  readonly isComplete: boolean;
}

/**
 * Lists every address of every interface, in kernel order. Uses netlink because nothing simpler is exact. /proc/net has
 * no IPv4 prefix length per interface: `fib_trie` and `route` show routing results, without interfaces that are down.
 * node:os `networkInterfaces()` omits interfaces without a carrier, so that a pulled cable would delete addresses, and
 * reports IPv4 aliases by label. bun:ffi also works in a compiled executable. Falls back to /proc/net if netlink or
 * bun:ffi is refused. Throws an Error if both fail: a failure must not look like a machine without addresses.
 */
export function readKernelAddresses(): KernelAddresses {
  try {
    const read = (datagram: Uint8Array) => parseAddressDatagram(datagram).addresses;
    return { addresses: dumpKernel(addressDumpRequest(), read, "addresses"), isComplete: true };
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return { addresses: readProcAddresses(), isComplete: false };
  }
}
