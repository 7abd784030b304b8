// Bridge-port decoder for the base group of BRIDGE-MIB (RFC 4188): the interface of each port, and the bridge address.

import { KEPT_ROW, type RowCount } from "../rows.ts";
import { columnOf, countStep, scalarOf } from "./columns.ts";
import type { ReadStep, Reads, SnmpValue } from "./reads.ts";
import { ifIndexOf, macOf, singleSubIdOf } from "./values.ts";

/** dot1dBaseBridgeAddress, dot1dBasePortTable: index dot1dBasePort. */
export const BRIDGE_STEP = {
  name: "bridge",
  table: "forwarding",
  scalars: { dot1dBaseBridgeAddress: "1.3.6.1.2.1.17.1.1.0" },
  columns: { dot1dBasePortIfIndex: "1.3.6.1.2.1.17.1.4.1.2" },
} as const satisfies ReadStep;

/** dot1dBasePort (RFC 4188) is 16 bits wide. */
export const BRIDGE_PORT_MAX = 65_535;

/**
 * Source of the mapping from bridge port to interface.
 * - table: dot1dBasePortTable.
 * - extended: the table maps every port to the interface with the same number, so every other referenced port is mapped
 * likewise. Some agents omit dynamically created interfaces, such as tunnels, from the table.
 * - unclear: as extended, but some of those other ports are not known interfaces. Only ports in the table are mapped.
 * - assumed: no dot1dBasePortTable; ports are taken as ifIndexes. Not used if the device ever served the table.
 * - unread: the table was not read completely.
 */
export type PortBasis = "table" | "extended" | "unclear" | "assumed" | "unread";

export interface BridgePorts {
  readonly basis: PortBasis;
  /** Null for a port without an interface: Juniper reports 0 for the ports of hidden units. */
  ifIndexOf(port: number): number | null;
  has(port: number): boolean;
  isListed(port: number): boolean;
  /** True if an interface without a mapped port certainly has none. */
  isMappingKnown(ifIndex: number): boolean;
  readonly isServed: boolean;
  /** True if a port missing here does not exist. */
  readonly isComplete: boolean;
  readonly rows: Readonly<Record<typeof BRIDGE_STEP.name, RowCount>>;
}

/** Returns null for all zeros or a malformed address, undefined if the device does not serve the scalar. */
export function bridgeAddressOf(reads: Reads): string | null | undefined {
  const value = scalarOf(reads, BRIDGE_STEP, "dot1dBaseBridgeAddress");
  return value instanceof Uint8Array ? macOf(value) : undefined;
}

export interface Interfaces {
  has(ifIndex: number): boolean;
  /** True if a missing ifIndex does not exist. */
  readonly areComplete: boolean;
}

/**
 * @param referenced ports referenced by other tables
 * @param areAllReferenced true if those tables were read completely
 */
export function bridgePortsOf(
  reads: Reads,
  interfaces: Interfaces,
  referenced: Iterable<number>,
  areAllReferenced: boolean,
): BridgePorts {
  const column = columnOf(reads, BRIDGE_STEP, "dot1dBasePortIfIndex");
  const ports = portMapOf(column.values, interfaces);
  const isServed = column.values.size > 0;
  const basis = basisOf(isServed, column.isComplete, ports, interfaces, referenced, areAllReferenced);
  const areInterfaces = basis === "extended" || basis === "assumed";
  const listed = basis === "unclear" ? new Set(ports.values()) : null;
  return {
    basis,
    ifIndexOf: (port) => ports.get(port) ?? (areInterfaces && !ports.has(port) && interfaces.has(port) ? port : null),
    has: (port) => ports.has(port) || (areInterfaces && interfaces.has(port)),
    isListed: (port) => ports.has(port),
    isMappingKnown: (ifIndex) => column.isComplete && (listed === null || listed.has(ifIndex)),
    isServed,
    isComplete: column.isComplete,
    rows: {
      [BRIDGE_STEP.name]: countStep(reads, BRIDGE_STEP, (index) => {
        const port = singleSubIdOf(index, BRIDGE_PORT_MAX);
        return port === null || !ports.has(port) ? "index" : ports.get(port) === null ? "no_interface" : KEPT_ROW;
      }),
    },
  };
}

function basisOf(
  isServed: boolean,
  isComplete: boolean,
  ports: ReadonlyMap<number, number | null>,
  interfaces: Interfaces,
  referenced: Iterable<number>,
  areAllReferenced: boolean,
): PortBasis {
  if (!isComplete) return "unread";
  if (!isServed) return "assumed";
  for (const [port, ifIndex] of ports) if (ifIndex !== port) return "table";
  let [found, unknown] = [0, 0];
  for (const port of referenced) {
    if (ports.has(port)) continue;
    if (interfaces.has(port)) found += 1;
    else unknown += 1;
  }
  if (!areAllReferenced && ports.size > 0) return "unclear";
  if (ports.size === 0 || found + unknown === 0) return "table";
  if (unknown === 0) return "extended";
  return found > 0 || !interfaces.areComplete ? "unclear" : "table";
}

/** Maps port to ifIndex; null for a port without an interface. */
function portMapOf(values: ReadonlyMap<string, SnmpValue>, interfaces: Interfaces): Map<number, number | null> {
  const ports = new Map<number, number | null>();
  for (const [index, value] of values) {
    const port = singleSubIdOf(index, BRIDGE_PORT_MAX);
    const ifIndex = ifIndexOf(value);
    if (port !== null && port > 0) ports.set(port, ifIndex !== null && interfaces.has(ifIndex) ? ifIndex : null);
  }
  return ports;
}
