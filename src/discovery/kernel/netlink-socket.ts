// rtnetlink socket opened through libc. Takes less than a millisecond and never waits: the kernel answers before `send`
// returns. I/O only; does not interpret messages.

import { ptr } from "bun:ffi";
import { KernelRefused, openLibc } from "./libc.ts";
import { type ResponseEnd, responseEnd, viewOf } from "./netlink-messages.ts";

/**
 * Reads all items of a dump, datagram by datagram; repeats the dump if the data changed in the meantime. Throws
 * KernelRefused if the kernel or C library refuses, else an Error: a failure must not look like an empty list.
 * @param what the items listed, for messages: "addresses"
 */
export function dumpKernel<Item>(request: Uint8Array, read: (datagram: Uint8Array) => Item[], what: string): Item[] {
  const socket = openNetlink(what);
  try {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const items: Item[] = [];
      if (!socket.dump(request, (datagram) => items.push(...read(datagram)))) return items;
    }
    throw new Error(`The kernel's ${what} changed during each of ${MAX_ATTEMPTS} attempts to list them.`);
  } finally {
    socket.close();
  }
}

export interface NetlinkSocket {
  /** Requests a list and reads it to the end. @returns true if it changed in the meantime */
  dump(request: Uint8Array, take: (datagram: Uint8Array) => void): boolean;
  /**
   * Requests one item: returns the response datagram, valid until the next call, or the errno of the kernel's refusal.
   */
  query(request: Uint8Array): Uint8Array | number;
  close(): void;
}

/** Throws KernelRefused. @param what the items to request, for messages: "addresses" */
export function openNetlink(what: string): NetlinkSocket {
  const libc = openLibc(SYMBOLS, `to ask the kernel for its ${what}`);
  const { socket, send, recv, close } = libc.symbols;
  const descriptor = socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_ROUTE);
  if (descriptor < 0) {
    libc.close();
    throw new KernelRefused(`The kernel refuses an rtnetlink socket to list its ${what}.`);
  }
  const buffer = new Uint8Array(BUFFER_BYTES);
  const sendRequest = (request: Uint8Array): void => {
    const sent = Number(send(descriptor, ptr(request), request.length, 0));
    if (sent !== request.length) throw new KernelRefused(`The kernel rejects requests for its ${what}.`);
  };
  const receive = (): { datagram: Uint8Array; end: ResponseEnd } => {
    // With MSG_TRUNC, the length is the datagram's own even if the buffer is too small.
    const length = Number(recv(descriptor, ptr(buffer), buffer.length, MSG_DONTWAIT | MSG_TRUNC));
    if (length <= 0 || length > buffer.length) throw new Error(`The kernel's response about its ${what} is truncated.`);
    const datagram = buffer.subarray(0, length);
    return { datagram, end: responseEnd(viewOf(datagram)) };
  };
  return {
    dump: (request, take) => {
      sendRequest(request);
      for (let isInterrupted = false; ; ) {
        const { datagram, end } = receive();
        if (end.refusedErrno !== null) {
          throw new KernelRefused(`The kernel refuses to list its ${what} (errno ${end.refusedErrno}).`);
        }
        isInterrupted ||= end.isInterrupted;
        take(datagram);
        if (end.isLast) return isInterrupted;
      }
    },
    query: (request) => {
      sendRequest(request);
      const { datagram, end } = receive();
      return end.refusedErrno ?? datagram;
    },
    close: () => {
      close(descriptor);
      libc.close();
    },
  };
}

const MAX_ATTEMPTS = 10;

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const NETLINK_ROUTE = 0;
const MSG_TRUNC = 0x20;
const MSG_DONTWAIT = 0x40;

/** The kernel fills dump datagrams up to 32 KiB. */
const BUFFER_BYTES = 64 * 1024;

const SYMBOLS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  send: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
  recv: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
  close: { args: ["i32"], returns: "i32" },
} as const;
