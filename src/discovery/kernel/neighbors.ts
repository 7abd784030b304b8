// The kernel's neighbor table as it is now, and as it was a moment ago for those who ask often.
// I/O only: neighbor-messages.ts knows the bytes.

import { type KernelNeighbor, neighborDumpRequest, parseNeighborDatagram } from "./neighbor-messages.ts";
import { dumpKernel } from "./netlink-socket.ts";

/** Whom the kernel has spoken with, or tried to, on the links of this machine: IPv4 and IPv6. Throws an Error when the kernel refuses. */
export function readKernelNeighbors(): KernelNeighbor[] {
  return dumpKernel(neighborDumpRequest(), parseNeighborDatagram, "neighbors");
}

/** The table by address, read again when what was read is older than the caller takes. An address on two links is given once, the live entry before others. */
export class NeighborTable {
  readonly #monotonicMs: () => number;
  readonly #read: () => KernelNeighbor[];
  #byAddress: ReadonlyMap<string, KernelNeighbor> = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(monotonicMs: () => number, read: () => KernelNeighbor[] = readKernelNeighbors) {
    this.#monotonicMs = monotonicMs;
    this.#read = read;
  }

  /** The entry of an address, and when the table was read; null where there is none. */
  find(ipAddress: string, maxAgeMs: number): { neighbor: KernelNeighbor; readAtMs: number } | null {
    const now = this.#monotonicMs();
    if (now - this.#readAtMs > maxAgeMs) {
      const byAddress = new Map<string, KernelNeighbor>();
      for (const neighbor of this.#read()) {
        if (neighbor.mac_address !== null || !byAddress.has(neighbor.ip_address)) byAddress.set(neighbor.ip_address, neighbor);
      }
      this.#byAddress = byAddress;
      this.#readAtMs = now;
    }
    const neighbor = this.#byAddress.get(ipAddress);
    return neighbor === undefined ? null : { neighbor, readAtMs: this.#readAtMs };
  }
}
