// Asks the kernel for the addresses of all interfaces, over an rtnetlink socket opened through libc.
// I/O only: rtnetlink.ts knows the bytes, inventory-addresses.ts what is worth keeping.

import { dlopen, ptr } from "bun:ffi";
import { type AddressDatagram, addressDumpRequest, type KernelAddress, parseAddressDatagram } from "./rtnetlink.ts";

/**
 * Every address of every interface, in the kernel's order. Takes less than a millisecond and never waits: the kernel has answered before `send` returns.
 *
 * Netlink because nothing simpler is exact. /proc/net has no IPv4 prefix length next to its interface: `fib_trie` and `route` show what routing made
 * of the addresses, without those of interfaces that are down. node:os `networkInterfaces()` leaves out what has no carrier, so that a pulled cable
 * would delete addresses, and names IPv4 aliases by their label. Through bun:ffi it works the same in a compiled executable.
 *
 * Throws an Error when the kernel or the C library refuses: no answer must not be taken for a machine without addresses.
 */
export function readKernelAddresses(): KernelAddress[] {
  const libc = openLibc();
  try {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const datagrams = dumpAddresses(libc.symbols);
      if (!datagrams.some((datagram) => datagram.isInterrupted)) return datagrams.flatMap((datagram) => datagram.addresses);
    }
    throw new Error(`The kernel's addresses changed during each of ${MAX_ATTEMPTS} attempts to list them.`);
  } finally {
    libc.close();
  }
}

const MAX_ATTEMPTS = 10;

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const NETLINK_ROUTE = 0;
const MSG_TRUNC = 0x20;
const MSG_DONTWAIT = 0x40;

/** The kernel fills datagrams of a dump up to 32 KiB. */
const BUFFER_BYTES = 64 * 1024;

/** glibc, then musl under the names that it has on the two architectures. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

const SYMBOLS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  send: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
  recv: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
} as const;

type Libc = ReturnType<typeof dlopen<typeof SYMBOLS>>;

function openLibc(): Libc {
  const problems: string[] = [];
  for (const name of LIBC_NAMES) {
    try {
      return dlopen(name, SYMBOLS);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`The C library cannot be opened to ask the kernel for its addresses: ${problems.join("; ")}`);
}

function dumpAddresses(libc: Libc["symbols"]): AddressDatagram[] {
  const socket = libc.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_ROUTE);
  if (socket < 0) throw new Error("The kernel gives no rtnetlink socket to ask for its addresses.");
  try {
    const request = addressDumpRequest();
    if (Number(libc.send(socket, ptr(request), request.length, 0)) !== request.length) throw new Error("The kernel takes no request for its addresses.");
    const buffer = new Uint8Array(BUFFER_BYTES);
    const datagrams: AddressDatagram[] = [];
    for (;;) {
      // With MSG_TRUNC the length is the datagram's own, also when the buffer is too small for it.
      const length = Number(libc.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT | MSG_TRUNC));
      if (length <= 0 || length > buffer.length) throw new Error("The kernel's answer about its addresses breaks off.");
      const datagram = parseAddressDatagram(buffer.subarray(0, length));
      if (datagram.refusedErrno !== null) throw new Error(`The kernel refuses to list its addresses (errno ${datagram.refusedErrno}).`);
      datagrams.push(datagram);
      if (datagram.isLast) return datagrams;
    }
  } finally {
    libc.close(socket);
  }
}
