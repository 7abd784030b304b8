// The ports of a bridge as interfaces, and its address: the base group of BRIDGE-MIB (RFC 4188).

import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { columnOf, scalarOf } from "./columns.ts";
import { ifIndexOf, macOf, singleSubIdOf } from "./values.ts";

/** dot1dBaseBridgeAddress, dot1dBasePortTable: index dot1dBasePort. */
export const BRIDGE_STEP = {
  name: "bridge",
  table: "forwarding",
  scalars: { dot1dBaseBridgeAddress: "1.3.6.1.2.1.17.1.1.0" },
  columns: { dot1dBasePortIfIndex: "1.3.6.1.2.1.17.1.4.1.2" },
} as const satisfies ReadStep;

/** dot1dBasePort (RFC 4188) has 16 bits. */
export const BRIDGE_PORT_MAX = 65_535;

/** Which interface a bridge port is. */
export interface BridgePorts {
  /** Null for a port that belongs to no interface of the device: Juniper gives 0 for those of units that it does not show. */
  ifIndexOf(port: number): number | null;
  /** Whether the bridge has a port of that number, with an interface or without. */
  has(port: number): boolean;
  readonly isServed: boolean;
  /** Whether a port that is not in it is none. */
  readonly isComplete: boolean;
}

/** Null for all zeros, or what is no address; undefined where the device serves none. */
export function bridgeAddressOf(reads: Reads): string | null | undefined {
  const value = scalarOf(reads, BRIDGE_STEP.name, "dot1dBaseBridgeAddress");
  return value instanceof Uint8Array ? macOf(value) : undefined;
}

/**
 * Agents that serve forwarding entries or VLANs and no dot1dBasePortTable count ports as they count interfaces.
 * @param interfaces by ifIndex
 */
export function bridgePortsOf(reads: Reads, interfaces: { has(ifIndex: number): boolean }): BridgePorts {
  const column = columnOf(reads, BRIDGE_STEP.name, "dot1dBasePortIfIndex");
  const ports = portMapOf(column.values, interfaces);
  const isServed = column.values.size > 0;
  const isAlike = !isServed && column.isComplete;
  return {
    ifIndexOf: (port) => (isAlike ? (interfaces.has(port) ? port : null) : (ports.get(port) ?? null)),
    has: (port) => (isAlike ? interfaces.has(port) : ports.has(port)),
    isServed,
    isComplete: column.isComplete,
  };
}

/** Port → ifIndex, null for one of no interface. Indexes are ports. */
function portMapOf(values: ReadonlyMap<string, SnmpValue>, interfaces: { has(ifIndex: number): boolean }): Map<number, number | null> {
  const ports = new Map<number, number | null>();
  for (const [index, value] of values) {
    const port = singleSubIdOf(index, BRIDGE_PORT_MAX);
    const ifIndex = ifIndexOf(value);
    if (port !== null && port > 0) ports.set(port, ifIndex !== null && interfaces.has(ifIndex) ? ifIndex : null);
  }
  return ports;
}
