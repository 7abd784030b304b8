// Non-blocking sockets of every kind through libc, for features missing in node:net and node:dgram (raw ICMP, ARP, the
// errno of a failed connect). Never blocks, and does not interpret payloads. Calls return 0 for success, otherwise a
// positive errno.

import { errnoAt, KernelRefused, openLibc } from "./libc.ts";

export const AF_INET = 2;
export const AF_INET6 = 10;
export const AF_PACKET = 17;
export const SOCK_STREAM = 1;
export const SOCK_DGRAM = 2;
export const SOCK_RAW = 3;

export const EPERM = 1;
export const EAGAIN = 11;
export const EACCES = 13;
export const ENFILE = 23;
export const EMFILE = 24;
export const EADDRNOTAVAIL = 99;
export const ENETDOWN = 100;
export const ENETUNREACH = 101;
export const ENOBUFS = 105;
export const ECONNREFUSED = 111;
export const EHOSTDOWN = 112;
export const EHOSTUNREACH = 113;
export const EINPROGRESS = 115;

interface Received {
  /** Valid until the next call. */
  readonly bytes: Uint8Array;
  /** struct sockaddr of the sender; valid until the next call. */
  readonly from: Uint8Array;
}

export interface PolledSocket {
  readonly descriptor: number;
  /** POLL* bits reported by the kernel; 0 for none. */
  events: number;
}

export const POLLOUT = 0x04;
export const POLLERR = 0x08;
export const POLLHUP = 0x10;

/** Returns null if this process may not call the C library. */
export function openSockets(): Sockets | null {
  try {
    return new Sockets();
  } catch (error) {
    if (error instanceof KernelRefused) return null;
    throw error;
  }
}

/**
 * A handle to the C library. The caller closes its descriptors, then the library. Throws KernelRefused if unavailable.
 */
export class Sockets {
  private readonly libc = openLibc(SYMBOLS, "to open sockets");
  private readonly errnoLocation = this.libc.symbols.__errno_location();
  private readonly received = new Uint8Array(MAX_DATAGRAM_BYTES);
  private readonly from = new Uint8Array(SOCKADDR_STORAGE_BYTES);
  private readonly length = new Uint32Array(1);
  private readonly value = new Int32Array(1);
  private polled = new DataView(new ArrayBuffer(0));

  /** Returns a non-blocking, close-on-exec descriptor, or a negative errno. */
  open(family: number, type: number, protocol: number): number {
    const descriptor = this.libc.symbols.socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    return descriptor >= 0 ? descriptor : -this.errno();
  }

  connect(descriptor: number, address: Uint8Array): number {
    return this.libc.symbols.connect(descriptor, address, address.length) === 0 ? 0 : this.errno();
  }

  sendTo(descriptor: number, bytes: Uint8Array, address: Uint8Array): number {
    const sent = Number(
      this.libc.symbols.sendto(descriptor, bytes, bytes.length, MSG_NOSIGNAL, address, address.length),
    );
    return sent === bytes.length ? 0 : this.errno();
  }

  /** Returns the next datagram, truncated to 2,048 bytes; null if none or on an error. */
  receiveFrom(descriptor: number): Received | null {
    this.length[0] = this.from.length;
    const length = Number(
      this.libc.symbols.recvfrom(descriptor, this.received, this.received.length, 0, this.from, this.length),
    );
    if (length < 0) return null;
    return {
      bytes: this.received.subarray(0, length),
      from: this.from.subarray(0, Math.min(this.length[0] ?? 0, this.from.length)),
    };
  }

  /** Sets `events` of each socket to the wanted events that occurred, plus errors and hang-ups. */
  poll(sockets: readonly PolledSocket[], wanted: number): void {
    // struct pollfd: descriptor 4, events 2, revents 2.
    if (this.polled.byteLength < sockets.length * 8)
      this.polled = new DataView(new ArrayBuffer(Math.max(512, sockets.length) * 8));
    for (const [index, { descriptor }] of sockets.entries()) {
      this.polled.setInt32(index * 8, descriptor, true);
      this.polled.setUint32(index * 8 + 4, wanted, true);
    }
    const count = this.libc.symbols.poll(new Uint8Array(this.polled.buffer), sockets.length, 0);
    for (const [index, socket] of sockets.entries())
      socket.events = count > 0 ? this.polled.getUint16(index * 8 + 6, true) : 0;
  }

  /** Returns true on success. */
  setOption(descriptor: number, level: number, option: number, value: Uint8Array): boolean {
    return this.libc.symbols.setsockopt(descriptor, level, option, value, value.length) === 0;
  }

  /** Returns the number of bytes written to `buffer`; -1 on an error. */
  getOption(descriptor: number, level: number, option: number, buffer: Uint8Array): number {
    this.length[0] = buffer.length;
    return this.libc.symbols.getsockopt(descriptor, level, option, buffer, this.length) === 0
      ? (this.length[0] ?? 0)
      : -1;
  }

  /** SO_ERROR: the pending errno, cleared by reading; 0 if none. */
  takeError(descriptor: number): number {
    return this.getOption(descriptor, SOL_SOCKET, SO_ERROR, new Uint8Array(this.value.buffer)) === 4
      ? (this.value[0] ?? 0)
      : 0;
  }

  /** Enlarges the receive and send buffers up to this size, as far as the system allows. */
  enlargeBuffers(descriptor: number, bytes: number): void {
    const value = new Uint8Array(Int32Array.of(bytes).buffer);
    // First tries to exceed the system limit, which requires CAP_NET_ADMIN.
    if (!this.setOption(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, value))
      this.setOption(descriptor, SOL_SOCKET, SO_RCVBUF, value);
    if (!this.setOption(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, value))
      this.setOption(descriptor, SOL_SOCKET, SO_SNDBUF, value);
  }

  /** struct sockaddr of the local end; empty on an error. */
  localAddress(descriptor: number): Uint8Array {
    this.length[0] = this.from.length;
    if (this.libc.symbols.getsockname(descriptor, this.from, this.length) !== 0) return new Uint8Array();
    return this.from.slice(0, Math.min(this.length[0] ?? 0, this.from.length));
  }

  closeSocket(descriptor: number): void {
    this.libc.symbols.close(descriptor);
  }

  /** Closes the library, not the sockets. */
  close(): void {
    this.libc.close();
  }

  private errno(): number {
    return errnoAt(this.errnoLocation);
  }
}

const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
const SO_SNDBUF = 7;
const SO_RCVBUF = 8;
const SO_SNDBUFFORCE = 32;
const SO_RCVBUFFORCE = 33;

const MAX_DATAGRAM_BYTES = 2_048;
const SOCKADDR_STORAGE_BYTES = 128;

const SYMBOLS = {
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
  sendto: { args: ["i32", "ptr", "usize", "i32", "ptr", "u32"], returns: "i64" },
  recvfrom: { args: ["i32", "ptr", "usize", "i32", "ptr", "ptr"], returns: "i64" },
  poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
  setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  close: { args: ["i32"], returns: "i32" },
  __errno_location: { args: [], returns: "ptr" },
} as const;
