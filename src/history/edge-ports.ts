// Edge ports, which connect end devices and no other network, and ports that learned a MAC address. An aggregate counts
// as one port with its members, as does a port with its subinterfaces.

import { OPERATION, scopeKey } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { exactTerm } from "../db/search-text.ts";
import { membersSql } from "../db/shape.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import type { DeviceType } from "../resources/hosts/device-type.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { stackedEntry } from "../resources/if-entries/link-index-entries.ts";
import type { Neighbor } from "../resources/if-entries/more-neighbors.ts";
import { FAR_END_ROLES, type FarEndFields, type FarEndRole, type FarHost, farEndRole } from "./far-end.ts";
import { PortStack, type StackedPort } from "./port-stack.ts";

/** Maximum MAC addresses of an edge port: a phone with a PC behind it, or a host with its containers. */
export const EDGE_MACS_MAX = 4;

/** Definition of an edge port, for the API reference. */
export const EDGE_PORT = `An aggregate counts as one port with its members (\`lag_id\`), and so does a port with its units (\`parent_id\`). An edge port has ${EDGE_MACS_MAX} MAC addresses at most and no network at its far end: no neighbor, or one that is a phone, an access point, a server or another end device, by the \`device_type\` of the host or else by the capabilities it announces.`;

const ENTRY = `'{' || ${membersSql(fdbEntryKind, "v")} || '}'`;
const PORT = `'{' || ${membersSql(ifEntryKind, "v")} || '}'`;

/** Ports that had learned a MAC address as of a transaction. */
export function portsAt(
  reader: Pick<ReadConnection, "statement">,
  query: { readonly reach: Reach; readonly sequence: number },
  networkId: string,
  macAddress: string,
): readonly number[] {
  return entriesAt(reader, query, networkId, macAddress).map(({ port }) => port);
}

/** Forwarding entries of a MAC address as of a transaction: record numbers of the entry and of its port. */
export function entriesAt(
  reader: Pick<ReadConnection, "statement">,
  { reach, sequence }: { readonly reach: Reach; readonly sequence: number },
  networkId: string,
  macAddress: string,
): ReadonlyArray<{ readonly port: number; readonly entry: number }> {
  const rows = reader
    .statement(
      `SELECT (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id'), r.n
        FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
        CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
        CROSS JOIN history_spans s ON s.scope = +?2 * 64 + r.kind AND s.n = r.n AND s.born <= +?3 AND s.died > +?3
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
          AND key <= ((r.n << 31) | +?3))
        WHERE ${ENTRY} ->> '$.network_id' = +?4`,
    )
    .values(exactTerm(macAddress), reach.organizationN, sequence, networkId) as Array<[number, number]>;
  return rows.map(([port, entry]) => ({ port, entry }));
}

/** A port or an aggregate. */
export interface EdgePort {
  readonly n: number;
  readonly id: string;
  readonly hostId: string;
  /** Members of an aggregate. */
  readonly memberIds: readonly string[];
}

/**
 * Edge ports as of a transaction, for any interface that is one or part of one; null for others. A port is an edge if
 * its far end is not a network (far-end.ts) and it has few MAC addresses. With a MAC address: whether the station is
 * connected there, rather than to an edge port of the device at the far end, such as an access point or a hypervisor
 * that reports its own forwarding table.
 */
export function edgesAt(
  reader: Pick<ReadConnection, "statement">,
  sequence: number,
): (port: number, macAddress?: string) => EdgePort | null {
  const edges = new Edges(reader, sequence);
  return (port, macAddress) => {
    const edge = edges.edgeOf(port);
    return edge === null || (macAddress !== undefined && edges.isBehindFarEnd(edge, macAddress)) ? null : edge;
  };
}

/** A port or an aggregate, and the role of its far end; null if nothing is known there. */
export interface PortPlace extends EdgePort {
  readonly role: FarEndRole | null;
}

/** Ports and aggregates as of a transaction, for any interface that is one or part of one; null for others. */
export function portPlacesAt(
  reader: Pick<ReadConnection, "statement">,
  sequence: number,
): (port: number) => PortPlace | null {
  const edges = new Edges(reader, sequence);
  return (port) => edges.placeOf(port);
}

/** Newest version of record ?1 as of transaction ?2. */
const VERSION = `history_versions v WHERE v.key = (SELECT max(key) FROM history_versions WHERE key > (+?1 << 31)
  AND key <= ((+?1 << 31) | +?2)) AND v.operation <> ${OPERATION.Deleted}`;
const RECORD_N = "SELECT n FROM history_records WHERE id = +?1";
const COUNT = `SELECT coalesce((SELECT count FROM history_census WHERE scope = +?1 AND sequence <= +?2
  ORDER BY sequence DESC LIMIT 1), 0)`;
const FIELDS = [
  "neighbor",
  "more_neighbors",
  "lldp_chassis_id",
  "lldp_port_id",
  "lldp_sys_name",
  "lldp_mgmt_addr",
  "lldp_sys_desc",
  "lldp_capabilities",
  "cdp_device_id",
  "cdp_port_id",
  "cdp_address",
  "cdp_platform",
  "cdp_capabilities",
] as const satisfies readonly (keyof FarEndFields)[];
const PORT_FIELDS = `SELECT json_extract(${PORT}, '$.id', '$.host_id', ${FIELDS.map((field) => `'$.${field}'`).join(", ")})
  FROM ${VERSION}`;
/** Interfaces of a host that are part of another one. */
const STACKED_OF_HOST = `SELECT json_extract(${PORT}, '$.id', '$.lag_id', '$.parent_id')
  FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
  CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${ifEntryKind.code}
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
    AND key <= ((r.n << 31) | +?2)) AND v.operation <> ${OPERATION.Deleted}
  WHERE ${PORT} ->> '$.host_id' = +?3`;
const HOST_OF_PORT = `SELECT ${PORT} ->> '$.host_id' FROM ${VERSION}`;
const TYPE_OF_HOST = `SELECT coalesce('{' || ${membersSql(hostKind, "v")} || '}' ->> '$.device_type', 'Unknown') FROM ${VERSION}`;
/** Ports of a host that forward to a MAC address. */
const PORTS_OF_HOST = `SELECT (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id')
  FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?3) t
  CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
    AND key <= ((r.n << 31) | +?2)) AND v.operation <> ${OPERATION.Deleted}
  WHERE ${ENTRY} ->> '$.host_id' = +?1 AND ${ENTRY} ->> '$.mac_address' = +?4`;

interface PortAt {
  readonly id: string;
  readonly hostId: string;
  readonly role: FarEndRole | null;
  /** Hosts at its far end with a forwarding table, by id. */
  readonly forwarding: readonly string[];
}

/** A port or an aggregate, with all its parts. */
interface PlaceAt extends PortPlace {
  readonly forwarding: readonly string[];
  readonly macCount: number;
}

class Edges {
  private readonly reader: Pick<ReadConnection, "statement">;
  private readonly sequence: number;
  /** By record number of any interface of the place. */
  private readonly places = new Map<number, PlaceAt | null>();
  private readonly ports = new Map<number, PortAt | null>();
  private readonly stacks = new Map<string, PortStack>();
  private readonly hosts = new Map<string, FarHost | null>();

  constructor(reader: Pick<ReadConnection, "statement">, sequence: number) {
    this.reader = reader;
    this.sequence = sequence;
  }

  edgeOf(port: number): PlaceAt | null {
    const place = this.placeOf(port);
    return place !== null && place.macCount <= EDGE_MACS_MAX && (place.role === null || place.role === "End")
      ? place
      : null;
  }

  isBehindFarEnd({ n }: EdgePort, macAddress: string): boolean {
    return (this.placeOf(n)?.forwarding ?? []).some((hostId) => {
      const rows = this.reader
        .statement(PORTS_OF_HOST)
        .values(hostId, this.sequence, exactTerm(macAddress), macAddress) as Array<[number]>;
      return rows.some(([port]) => this.edgeOf(port) !== null);
    });
  }

  /** Null for a port that does not exist. */
  placeOf(port: number): PlaceAt | null {
    let place = this.places.get(port);
    if (place === undefined) {
      place = this.readPlace(port);
      this.places.set(port, place);
    }
    return place;
  }

  private readPlace(port: number): PlaceAt | null {
    const own = this.port(port);
    if (own === null) return null;
    const stack = this.stackOf(own.hostId);
    const id = stack.placeOf(own.id);
    const n = id === own.id ? port : this.numberOf(id);
    if (n === null) return null;
    if (n !== port) return this.placeOf(n);
    const parts = stack.partsOf(id).flatMap((part) => this.numberOf(part) ?? []);
    const ends = [own, ...parts.flatMap((part) => this.port(part) ?? [])];
    const place: PlaceAt = {
      n,
      id,
      hostId: own.hostId,
      memberIds: stack.membersOf(id),
      role: FAR_END_ROLES.find((role) => ends.some((end) => end.role === role)) ?? null,
      forwarding: ends.flatMap((end) => end.forwarding),
      macCount: [n, ...parts].reduce((sum, part) => sum + this.count(part), 0),
    };
    return place;
  }

  private port(n: number): PortAt | null {
    const known = this.ports.get(n);
    if (known !== undefined) return known;
    const text = this.value(PORT_FIELDS, n) as string | null;
    const port = text === null ? null : this.readPort(text);
    this.ports.set(n, port);
    return port;
  }

  /** @param text JSON array of the id, the id of the host, and FIELDS; null for missing ones */
  private readPort(text: string): PortAt {
    const [id, hostId, ...values] = JSON.parse(text) as [string, string, ...unknown[]];
    if (values.every((value) => value === null)) return { id, hostId, role: null, forwarding: [] };
    const entry = FIELDS.map((field, index) => [field, values[index] ?? undefined]);
    const forwarding = new Set<string>();
    const role = farEndRole(Object.fromEntries(entry) as FarEndFields, (neighbor) => {
      const farId = this.hostIdOf(neighbor);
      const host = farId === null ? null : this.host(farId);
      if (farId !== null && host?.isForwarding === true) forwarding.add(farId);
      return host;
    });
    return { id, hostId, role, forwarding: [...forwarding] };
  }

  private stackOf(hostId: string): PortStack {
    let stack = this.stacks.get(hostId);
    if (stack === undefined) {
      const rows = this.reader
        .statement(STACKED_OF_HOST)
        .values(exactTerm(stackedEntry(hostId)), this.sequence, hostId) as Array<[string]>;
      stack = new PortStack(rows.map(([text]) => stackedPort(text)));
      this.stacks.set(hostId, stack);
    }
    return stack;
  }

  private numberOf(id: string): number | null {
    return this.value(RECORD_N, id) as number | null;
  }

  private hostIdOf({ type, id }: Neighbor): string | null {
    if (type === "Host") return id;
    const n = this.numberOf(id);
    return n === null ? null : (this.value(HOST_OF_PORT, n) as string | null);
  }

  private host(id: string): FarHost | null {
    let host = this.hosts.get(id);
    if (host === undefined) {
      const n = this.numberOf(id);
      const deviceType = n === null ? null : (this.value(TYPE_OF_HOST, n) as DeviceType | null);
      host = n === null || deviceType === null ? null : { deviceType, isForwarding: this.count(n) > 0 };
      this.hosts.set(id, host);
    }
    return host;
  }

  /** Number of forwarding entries of a port or a host. */
  private count(n: number): number {
    const [row] = this.reader.statement(COUNT).values(scopeKey(n, fdbEntryKind), this.sequence) as [[number]];
    return row[0];
  }

  /** First column of the only row of a statement about a record. */
  private value(statement: string, key: number | string): unknown {
    const values = statement === RECORD_N ? [key] : [key, this.sequence];
    return this.reader.statement(statement).values(...values)[0]?.[0] ?? null;
  }
}

/** @param text JSON array of the id, `lag_id` and `parent_id`; null for missing ones */
function stackedPort(text: string): StackedPort {
  const [id, lag, parent] = JSON.parse(text) as [string, string | null, string | null];
  return { id, ...(lag === null ? {} : { lag_id: lag }), ...(parent === null ? {} : { parent_id: parent }) };
}
