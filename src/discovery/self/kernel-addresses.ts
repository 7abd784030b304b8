// Asks the kernel for the addresses of all interfaces.
// I/O only: rtnetlink.ts knows the bytes, inventory-addresses.ts what is worth keeping.

import { dumpKernel } from "../kernel/netlink-socket.ts";
import { addressDumpRequest, type KernelAddress, parseAddressDatagram } from "./rtnetlink.ts";

/**
 * Every address of every interface, in the kernel's order.
 *
 * Netlink because nothing simpler is exact. /proc/net has no IPv4 prefix length next to its interface: `fib_trie` and `route` show what routing made
 * of the addresses, without those of interfaces that are down. node:os `networkInterfaces()` leaves out what has no carrier, so that a pulled cable
 * would delete addresses, and names IPv4 aliases by their label. Through bun:ffi it works the same in a compiled executable.
 *
 * Throws an Error when the kernel or the C library refuses: no answer must not be taken for a machine without addresses.
 */
export function readKernelAddresses(): KernelAddress[] {
  return dumpKernel(addressDumpRequest(), (datagram) => parseAddressDatagram(datagram).addresses, "addresses");
}
