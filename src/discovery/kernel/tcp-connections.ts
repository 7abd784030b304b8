// Accepted TCP connections of this process, as the kernel reports them: peer and last activity. Can close one so that
// the descriptor's owner sees a close by the peer; the caller decides which one.

import { ptr } from "bun:ffi";
import { readdirSync, readFileSync } from "node:fs";
import { KernelRefused, openLibc } from "./libc.ts";
import { ipOfSocketAddress } from "./socket-address.ts";

interface TcpConnection {
  readonly descriptor: number;
  /** Peer address from the kernel; IPv4 also as `::ffff:192.0.2.1`. */
  readonly address: string;
  readonly port: number;
  /** True if any data was sent to the peer; false if the kernel does not report it (before Linux 4.6). */
  readonly hasSentData: boolean;
  /** Milliseconds since data was last sent, or since the accept. */
  readonly sentAgoMs: number;
  /** Milliseconds since data was last received, or since the accept. */
  readonly receivedAgoMs: number;
}

/** Maximum open descriptors of this process. */
export function descriptorLimit(): number {
  const [, soft = "unlimited"] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/**
 * Lists the open descriptors. Listing takes a descriptor: if none is free, returns every number below the limit. Null
 * on any other error.
 */
export function openDescriptors(limit: number): number[] | null {
  try {
    return readdirSync("/proc/self/fd").map(Number);
  } catch (error) {
    const isFull = error instanceof Error && "code" in error && error.code === "EMFILE";
    return isFull ? Array.from({ length: limit }, (_, descriptor) => descriptor) : null;
  }
}

/** Returns null if this process may not call the C library. */
export function openTcpConnections(): TcpConnections | null {
  try {
    return new TcpConnections();
  } catch (error) {
    if (error instanceof KernelRefused) return null;
    throw error;
  }
}

/** One handle to the library. Throws KernelRefused if unavailable. */
class TcpConnections {
  private readonly libc = openLibc(SYMBOLS, "to list connections");
  private readonly address = Buffer.alloc(128);
  private readonly info = Buffer.alloc(256);
  private readonly length = new Uint32Array(1);

  /** Filters the descriptors for connections accepted at a port. */
  acceptedAt(port: number, descriptors: readonly number[]): TcpConnection[] {
    const { getsockname, getpeername, getsockopt } = this.libc.symbols;
    const [address, info, length] = [ptr(this.address), ptr(this.info), ptr(this.length)];
    const addressFrom = (lookup: typeof getsockname, descriptor: number) => {
      this.length[0] = this.address.length;
      return lookup(descriptor, address, length) === 0
        ? ipOfSocketAddress(this.address.subarray(0, this.length[0]))
        : null;
    };
    return descriptors.flatMap((descriptor): TcpConnection[] => {
      if (addressFrom(getsockname, descriptor)?.port !== port) return [];
      const peer = addressFrom(getpeername, descriptor);
      this.length[0] = this.info.length;
      if (peer === null || getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, length) !== 0) return [];
      return [
        {
          descriptor,
          address: peer.ip.text,
          port: peer.port,
          hasSentData: (this.length[0] ?? 0) >= DATA_SEGMENTS_OUT + 4 && this.info.readUInt32LE(DATA_SEGMENTS_OUT) > 0,
          sentAgoMs: this.info.readUInt32LE(LAST_DATA_SENT),
          receivedAgoMs: this.info.readUInt32LE(LAST_DATA_RECEIVED),
        },
      ];
    });
  }

  /** Shuts down as if the peer had closed: the owner still has to close the descriptor. */
  end({ descriptor }: TcpConnection): void {
    this.libc.symbols.shutdown(descriptor, SHUT_RDWR);
  }

  close(): void {
    this.libc.close();
  }
}

const SYMBOLS = {
  getsockname: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  getpeername: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  shutdown: { args: ["i32", "i32"], returns: "i32" },
} as const;

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const SHUT_RDWR = 2;
/** Offsets in struct tcp_info (linux/tcp.h), which only grows at its end. */
const LAST_DATA_SENT = 44;
const LAST_DATA_RECEIVED = 52;
const DATA_SEGMENTS_OUT = 156;
