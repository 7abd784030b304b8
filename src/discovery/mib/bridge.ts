// The ports of a bridge as interfaces, and its address: the base group of BRIDGE-MIB (RFC 4188).

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

/** dot1dBasePort (RFC 4188) has 16 bits. */
export const BRIDGE_PORT_MAX = 65_535;

/**
 * How the interface of a bridge port is known.
 * - table: dot1dBasePortTable says it.
 * - extended: the table maps every port to the interface of its number, and so is every other port named: some agents
 * leave interfaces that they create as they go, such as tunnels, out of the table.
 * - unclear: as extended, but some of those other ports are no known interfaces; only the ports in the table are known.
 * - assumed: there is no dot1dBasePortTable; ports are taken as ifIndexes. Not used where a device once served the
 * table.
 * - unread: the table was not read to its end.
 */
export type PortBasis = "table" | "extended" | "unclear" | "assumed" | "unread";

export interface BridgePorts {
  readonly basis: PortBasis;
  /** Null for a port of no interface: Juniper gives 0 for those of units that it hides. */
  ifIndexOf(port: number): number | null;
  has(port: number): boolean;
  isListed(port: number): boolean;
  /** Whether an interface that no port leads to has none. */
  isSettled(ifIndex: number): boolean;
  readonly isServed: boolean;
  /** Whether a port that is not in it is none. */
  readonly isComplete: boolean;
  readonly rows: Readonly<Record<typeof BRIDGE_STEP.name, RowCount>>;
}

/** Null for all zeros, or what is no address; undefined where the device serves none. */
export function bridgeAddressOf(reads: Reads): string | null | undefined {
  const value = scalarOf(reads, BRIDGE_STEP, "dot1dBaseBridgeAddress");
  return value instanceof Uint8Array ? macOf(value) : undefined;
}

export interface Interfaces {
  has(ifIndex: number): boolean;
  /** Whether an ifIndex that is missing does not exist. */
  readonly areWhole: boolean;
}

/**
 * @param named the ports that other tables name
 * @param areAllNamed whether those tables were read to their ends
 */
export function bridgePortsOf(
  reads: Reads,
  interfaces: Interfaces,
  named: Iterable<number>,
  areAllNamed: boolean,
): BridgePorts {
  const column = columnOf(reads, BRIDGE_STEP, "dot1dBasePortIfIndex");
  const ports = portMapOf(column.values, interfaces);
  const isServed = column.values.size > 0;
  const basis = basisOf(isServed, column.isComplete, ports, interfaces, named, areAllNamed);
  const areInterfaces = basis === "extended" || basis === "assumed";
  const listed = basis === "unclear" ? new Set(ports.values()) : null;
  return {
    basis,
    ifIndexOf: (port) => ports.get(port) ?? (areInterfaces && !ports.has(port) && interfaces.has(port) ? port : null),
    has: (port) => ports.has(port) || (areInterfaces && interfaces.has(port)),
    isListed: (port) => ports.has(port),
    isSettled: (ifIndex) => column.isComplete && (listed === null || listed.has(ifIndex)),
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
  named: Iterable<number>,
  areAllNamed: boolean,
): PortBasis {
  if (!isComplete) return "unread";
  if (!isServed) return "assumed";
  for (const [port, ifIndex] of ports) if (ifIndex !== port) return "table";
  let [found, lost] = [0, 0];
  for (const port of named) {
    if (ports.has(port)) continue;
    if (interfaces.has(port)) found += 1;
    else lost += 1;
  }
  if (!areAllNamed && ports.size > 0) return "unclear";
  if (ports.size === 0 || found + lost === 0) return "table";
  if (lost === 0) return "extended";
  return found > 0 || !interfaces.areWhole ? "unclear" : "table";
}

/** Port → ifIndex, null for one of no interface. */
function portMapOf(values: ReadonlyMap<string, SnmpValue>, interfaces: Interfaces): Map<number, number | null> {
  const ports = new Map<number, number | null>();
  for (const [index, value] of values) {
    const port = singleSubIdOf(index, BRIDGE_PORT_MAX);
    const ifIndex = ifIndexOf(value);
    if (port !== null && port > 0) ports.set(port, ifIndex !== null && interfaces.has(ifIndex) ? ifIndex : null);
  }
  return ports;
}
