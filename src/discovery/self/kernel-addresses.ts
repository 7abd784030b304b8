// Asks the kernel for the addresses of all interfaces.
// I/O only: rtnetlink.ts knows the bytes, inventory-addresses.ts what is worth keeping.

import { KernelRefused } from "../kernel/libc.ts";
import { dumpKernel } from "../kernel/netlink-socket.ts";
import { readProcAddresses } from "./proc-addresses.ts";
import { addressDumpRequest, type KernelAddress, parseAddressDatagram } from "./rtnetlink.ts";

export interface KernelAddresses {
  readonly addresses: readonly KernelAddress[];
  /** False where those of interfaces that are switched off may be missing. */
  readonly isWhole: boolean;
}

/**
 * Every address of every interface, in the kernel's order.
 *
 * Netlink because nothing simpler is exact. /proc/net has no IPv4 prefix length next to its interface: `fib_trie` and
 * `route` show what routing made of the addresses, without those of interfaces that are down. node:os
 * `networkInterfaces()` leaves out what has no carrier, so that a pulled cable would delete addresses, and names IPv4
 * aliases by their label. Through bun:ffi it works the same in a compiled executable.
 *
 * Where netlink or bun:ffi is refused, those that /proc/net tells. Throws an Error when neither is to be had: no answer
 * must not be taken for a machine without addresses.
 */
export function readKernelAddresses(): KernelAddresses {
  try {
    const read = (datagram: Uint8Array) => parseAddressDatagram(datagram).addresses;
    return { addresses: dumpKernel(addressDumpRequest(), read, "addresses"), isWhole: true };
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return { addresses: readProcAddresses(), isWhole: false };
  }
}
