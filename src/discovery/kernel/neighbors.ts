// The kernel's neighbor table, with a short-lived cache for frequent lookups. I/O only: neighbor-messages.ts parses the
// bytes, proc-tables.ts the text.

import { readFileSync } from "node:fs";
import { KernelRefused } from "./libc.ts";
import { type KernelNeighbor, neighborDumpRequest, parseNeighborDatagram } from "./neighbor-messages.ts";
import { dumpKernel } from "./netlink-socket.ts";
import { linkIndexOf } from "./proc-links.ts";
import { parseArpTable } from "./proc-tables.ts";

/** Source of the kernel's neighbors: stations contacted, or attempted, on this machine's links. */
export interface NeighborSource {
  /** Throws an Error if the kernel refuses. */
  readonly read: () => KernelNeighbor[];
  /** True if it reports which neighbors were recently confirmed. */
  readonly hasStates: boolean;
}

/** IPv4 and IPv6 by netlink; if refused, only IPv4 from /proc/net/arp. */
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
 * The table by address, read again once older than the caller accepts. An address on two links appears once, live
 * entries first.
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

  /** Returns the entry of an address and the time of the table read; null if none. */
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
