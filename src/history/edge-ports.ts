// Edge ports, where an end device connects and no further network, and ports that learned a MAC address.

import { OPERATION, scopeKey } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { exactTerm } from "../db/search-text.ts";
import { membersSql } from "../db/shape.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import type { DeviceType } from "../resources/hosts/device-type.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import type { Neighbor } from "../resources/if-entries/more-neighbors.ts";
import { type FarEndFields, type FarEndRole, type FarHost, farEndRole } from "./far-end.ts";

/** Maximum MAC addresses of an edge port: a phone with a PC behind it, or a host with its containers. */
export const EDGE_MACS_MAX = 4;

/** What an edge port is, for the reference. */
export const EDGE_PORT = `An edge port has ${EDGE_MACS_MAX} MAC addresses at most and no network at its far end: no neighbor, or one that is a phone, an access point, a server or another end device, by the \`device_type\` of the host or else by the capabilities it announces.`;

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

/**
 * Edge ports as of a transaction. A port is one if its far end is not a network (far-end.ts) and it has few MAC
 * addresses. With a MAC address: whether the station is connected there, rather than to an edge port of the device at
 * the far end, such as an access point or a hypervisor that reports its own forwarding table.
 */
export function edgesAt(
  reader: Pick<ReadConnection, "statement">,
  sequence: number,
): (port: number, macAddress?: string) => boolean {
  const edges = new Edges(reader, sequence);
  return (port, macAddress) =>
    edges.isEdge(port) && (macAddress === undefined || !edges.isBehindFarEnd(port, macAddress));
}

/** Role of the far end of each port as of a transaction; null if nothing is known there. */
export function farEndsAt(
  reader: Pick<ReadConnection, "statement">,
  sequence: number,
): (port: number) => FarEndRole | null {
  const edges = new Edges(reader, sequence);
  return (port) => edges.farEnd(port)?.role ?? null;
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
const PORT_FIELDS = `SELECT json_extract(${PORT}, ${FIELDS.map((field) => `'$.${field}'`).join(", ")}) FROM ${VERSION}`;
const HOST_OF_PORT = `SELECT ${PORT} ->> '$.host_id' FROM ${VERSION}`;
const TYPE_OF_HOST = `SELECT coalesce('{' || ${membersSql(hostKind, "v")} || '}' ->> '$.device_type', 'Unknown') FROM ${VERSION}`;
/** Ports of a host that forward to a MAC address. */
const PORTS_OF_HOST = `SELECT (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id')
  FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?3) t
  CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
    AND key <= ((r.n << 31) | +?2)) AND v.operation <> ${OPERATION.Deleted}
  WHERE ${ENTRY} ->> '$.host_id' = +?1 AND ${ENTRY} ->> '$.mac_address' = +?4`;

interface FarEndAt {
  readonly role: FarEndRole | null;
  /** Hosts there with a forwarding table, by id. */
  readonly forwarding: readonly string[];
}

class Edges {
  private readonly reader: Pick<ReadConnection, "statement">;
  private readonly sequence: number;
  private readonly known = new Map<number, boolean>();
  private readonly farEnds = new Map<number, FarEndAt | null>();
  private readonly hosts = new Map<string, FarHost | null>();

  constructor(reader: Pick<ReadConnection, "statement">, sequence: number) {
    this.reader = reader;
    this.sequence = sequence;
  }

  isEdge(port: number): boolean {
    let isEdge = this.known.get(port);
    if (isEdge === undefined) {
      const end = this.count(port) > EDGE_MACS_MAX ? null : this.farEnd(port);
      isEdge = end !== null && (end.role === null || end.role === "End");
      this.known.set(port, isEdge);
    }
    return isEdge;
  }

  isBehindFarEnd(port: number, macAddress: string): boolean {
    return (this.farEnd(port)?.forwarding ?? []).some((hostId) => {
      const rows = this.reader
        .statement(PORTS_OF_HOST)
        .values(hostId, this.sequence, exactTerm(macAddress), macAddress) as Array<[number]>;
      return rows.some(([n]) => this.isEdge(n));
    });
  }

  /** Null for a port that does not exist. */
  farEnd(port: number): FarEndAt | null {
    const known = this.farEnds.get(port);
    if (known !== undefined) return known;
    const text = this.value(PORT_FIELDS, port) as string | null;
    const end = text === null ? null : this.readFarEnd(text);
    this.farEnds.set(port, end);
    return end;
  }

  /** @param text JSON array of FIELDS, null for missing ones */
  private readFarEnd(text: string): FarEndAt {
    const values = JSON.parse(text) as unknown[];
    if (values.every((value) => value === null)) return { role: null, forwarding: [] };
    const entry = FIELDS.map((field, index) => [field, values[index] ?? undefined]);
    const forwarding = new Set<string>();
    const role = farEndRole(Object.fromEntries(entry) as FarEndFields, (neighbor) => {
      const hostId = this.hostIdOf(neighbor);
      const host = hostId === null ? null : this.host(hostId);
      if (hostId !== null && host?.isForwarding === true) forwarding.add(hostId);
      return host;
    });
    return { role, forwarding: [...forwarding] };
  }

  private hostIdOf({ type, id }: Neighbor): string | null {
    if (type === "Host") return id;
    const n = this.value(RECORD_N, id) as number | null;
    return n === null ? null : (this.value(HOST_OF_PORT, n) as string | null);
  }

  private host(id: string): FarHost | null {
    let host = this.hosts.get(id);
    if (host === undefined) {
      const n = this.value(RECORD_N, id) as number | null;
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
