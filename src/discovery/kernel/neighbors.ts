// The kernel's neighbor table as it is now, and as it was a moment ago for those who ask often.
// I/O only: neighbor-messages.ts knows the bytes, proc-tables.ts the text.

import { readFileSync } from "node:fs";
import { KernelRefused } from "./libc.ts";
import { type KernelNeighbor, neighborDumpRequest, parseNeighborDatagram } from "./neighbor-messages.ts";
import { dumpKernel } from "./netlink-socket.ts";
import { linkIndexOf } from "./proc-links.ts";
import { parseArpTable } from "./proc-tables.ts";

/** Where neighbors are read: whom the kernel has spoken with, or tried to, on the links of this machine. */
export interface NeighborSource {
  /** Throws an Error when the kernel does not tell. */
  readonly read: () => KernelNeighbor[];
  /** Whether it says which of them have proved themselves lately. */
  readonly hasStates: boolean;
}

/** IPv4 and IPv6 by netlink; where that is refused, IPv4 alone from /proc/net/arp. */
export function openNeighbors(): NeighborSource {
  try {
    readByNetlink();
  } catch (error) {
    if (error instanceof KernelRefused) return { read: readByProc, hasStates: false };
  }
  return { read: readByNetlink, hasStates: true };
}

function readByNetlink(): KernelNeighbor[] {
  return dumpKernel(neighborDumpRequest(), parseNeighborDatagram, "neighbors");
}

function readByProc(): KernelNeighbor[] {
  return parseArpTable(readFileSync("/proc/net/arp", "utf8"), (ifName) => linkIndexOf("/sys", ifName));
}

/**
 * The table by address, read again when what was read is older than the caller takes. An address on two links is given
 * once, the live entry before others.
 */
export class NeighborTable {
  private readonly monotonicMs: () => number;
  private readonly read: () => KernelNeighbor[];
  private byAddress: ReadonlyMap<string, KernelNeighbor> = new Map();
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, read: () => KernelNeighbor[]) {
    this.monotonicMs = monotonicMs;
    this.read = read;
  }

  /** The entry of an address, and when the table was read; null where there is none. */
  find(ipAddress: string, maxAgeMs: number): { neighbor: KernelNeighbor; readAtMs: number } | null {
    const now = this.monotonicMs();
    if (now - this.readAtMs > maxAgeMs) {
      const byAddress = new Map<string, KernelNeighbor>();
      for (const neighbor of this.read()) {
        if (neighbor.mac_address !== null || !byAddress.has(neighbor.ip_address))
          byAddress.set(neighbor.ip_address, neighbor);
      }
      this.byAddress = byAddress;
      this.readAtMs = now;
    }
    const neighbor = this.byAddress.get(ipAddress);
    return neighbor === undefined ? null : { neighbor, readAtMs: this.readAtMs };
  }
}
