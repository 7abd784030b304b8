// Reader for a network's hosts and links as of one transaction, in short steps outside any read transaction. Keeps a
// few hundred bytes per host, address and interface, no forwarding tables.

import { runSteps } from "../../base/steps.ts";
import { type AnyKind, parseMembers, type RecordBase, scopeKey } from "../../db/kind.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { ReadConnection } from "../../db/reading/read-connection.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { typeOfDescription } from "../../resources/hosts/device-families.ts";
import type { DeviceType, DeviceTypeSource } from "../../resources/hosts/device-type.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { announcementsFingerprint, announcementsOf, descriptionsOf } from "./announcements.ts";
import type { MapHost, MapPort, NetworkFacts, TopologyAddress } from "./facts.ts";

/** Records per step: a few milliseconds. */
const STEP_ROWS = 1_000;

/** Unwritten records by ID, treated as written; null for a deleted one. */
export type PendingWrites = (kind: AnyKind) => ReadonlyMap<string, RecordBase | null>;

const NO_PENDING_WRITES: PendingWrites = () => new Map();

/** Reads everything in one step, live or as of a past time, for a dedicated thread. */
export function networkFacts(
  reader: Reader,
  networkN: number,
  asOf: AsOf | null = null,
  pendingWrites: PendingWrites = NO_PENDING_WRITES,
): NetworkFacts {
  return runSteps(gatherNetworkFacts(reader, networkN, (asOf ?? reader.present()).sequence, pendingWrites));
}

/**
 * Reads everything as of one transaction, yielding between steps. @param pendingWrites records also treated as written
 */
export function* gatherNetworkFacts(
  connection: ReadConnection,
  networkN: number,
  sequence: number,
  pendingWrites: PendingWrites = NO_PENDING_WRITES,
): Generator<void, NetworkFacts> {
  return yield* composeFacts((kind, partOf) =>
    aliveParts(aliveRecords(connection, kind, networkN, sequence, pendingWrites(kind)), partOf),
  );
}

/** The parts of a kind's records, in page order, step by step. */
// biome-ignore lint/suspicious/noExplicitAny: each kind's function that builds its part types the records.
export type PartsOf = <Part>(kind: AnyKind, partOf: (record: any) => Part) => Iterable<readonly Part[]>;

/** Composes the facts from the parts of all records, yielding between steps. */
export function* composeFacts(partsOf: PartsOf): Generator<void, NetworkFacts> {
  const addresses = new Map<string, AddressPart[]>();
  const ipOf = new Map<string, string>();
  for (const step of partsOf(ipAddressKind, addressPart)) {
    for (const part of step) {
      ipOf.set(part.id, part.ip_address);
      const known = addresses.get(part.host_id);
      if (known === undefined) addresses.set(part.host_id, [part]);
      else known.push(part);
    }
    yield;
  }
  const hosts: MapHost[] = [];
  for (const step of partsOf(hostKind, hostPart)) {
    for (const host of step) hosts.push({ ...host, addresses: sortedByPosition(addresses.get(host.id)) });
    yield;
  }
  const ports: MapPort[] = [];
  for (const step of partsOf(ifEntryKind, portPart)) {
    for (const port of step) ports.push(mapPort(port, ipOf));
    yield;
  }
  return { hosts, ports };
}

/** Own data of an address. */
export type AddressPart = Pick<IpAddressRecord, "id" | "host_id" | "ip_address" | "mac_address" | "position">;
/** Own data of a host. */
export type HostPart = Omit<MapHost, "addresses">;
/** Own data of an interface entry. */
export type PortPart = MapPort & { readonly ip_address: null; readonly ip_address_id: string | null };

export function addressPart({ id, host_id, ip_address, mac_address, position }: IpAddressRecord): AddressPart {
  return { id, host_id, ip_address, mac_address, position };
}

/** Sorts the addresses of one host by position. */
export function sortedByPosition(parts: readonly AddressPart[] = []): TopologyAddress[] {
  return parts
    .toSorted((a, b) => a.position - b.position)
    .map(({ ip_address, mac_address }) => ({ ip_address, mac_address }));
}

export function hostPart(host: HostRecord): HostPart {
  const { id, name, hostname, sys_name, chassis_id, serial_number } = host;
  const { manufacturer, model, management_url, stale_since } = host;
  return {
    id,
    name,
    hostname,
    sys_name,
    chassis_id,
    bridge_address: host.bridge_address ?? null,
    serial_number,
    manufacturer,
    model,
    management_url,
    stale_since: stale_since ?? null,
    device_type: (host.discovered?.device_type ?? host.device_type ?? "Unknown") as DeviceType,
    device_type_source: (host.discovered?.device_type_source ?? host.device_type_source ?? null) as DeviceTypeSource,
  };
}

/** Shared: most interfaces have no neighbor. */
const NOT_DESCRIBED: readonly null[] = [];

export function portPart(entry: IfEntryRecord): PortPart {
  const {
    id,
    host_id,
    if_index,
    if_descr,
    if_name,
    if_alias,
    if_type,
    mac_address,
    speed_bps,
    oper_status,
    stale_since,
    neighbor,
    lag_id,
    parent_id,
  } = entry;
  const list = announcementsOf(entry);
  return {
    id,
    host_id,
    if_index,
    if_descr,
    if_name: if_name ?? null,
    if_alias: if_alias ?? null,
    if_type,
    mac_address: mac_address ?? null,
    ip_address: null,
    ip_address_id: entry.ip_address_id ?? null,
    speed_bps: speed_bps ?? null,
    oper_status,
    stale_since: stale_since ?? null,
    neighbor: neighbor ?? null,
    lag_id: lag_id ?? null,
    parent_id: parent_id ?? null,
    ...list,
    fingerprint: announcementsFingerprint(entry),
    described: list.announcements.length === 0 ? NOT_DESCRIBED : descriptionsOf(entry).map(typeOfDescription),
  };
}

/** Most interfaces have no address: returns the part unchanged. */
export function mapPort(part: PortPart, ipOf: ReadonlyMap<string, string>): MapPort {
  const { ip_address_id: id } = part;
  const ip_address = id === null ? null : (ipOf.get(id) ?? null);
  return ip_address === null ? part : { ...part, ip_address };
}

function* aliveParts<R, Part>(steps: Iterable<R[]>, partOf: (record: R) => Part): Generator<Part[]> {
  for (const step of steps) yield step.map(partOf);
}

/** The records of a kind in a network, in page order, step by step; unwritten ones last. */
function* aliveRecords<R extends RecordBase>(
  connection: ReadConnection,
  kind: AnyKind,
  networkN: number,
  sequence: number,
  pendingWrites: ReadonlyMap<string, RecordBase | null>,
): Generator<R[]> {
  const written = new Set<string>();
  for (const rows of storedRecords<R>(connection, kind, networkN, sequence)) {
    const step = rows.map(([, record]) => record);
    if (pendingWrites.size === 0) yield step;
    else {
      yield step.flatMap((record) => {
        written.add(record.id);
        const changed = pendingWrites.get(record.id);
        return changed === undefined ? [record] : changed === null ? [] : [changed as R];
      });
    }
  }
  if (pendingWrites.size > 0)
    yield [...pendingWrites].flatMap(([id, record]) => (record === null || written.has(id) ? [] : [record as R]));
}

/** The records of a kind in a network as of a transaction, with their numbers, in page order, step by step. */
export function* storedRecords<R>(
  connection: ReadConnection,
  kind: AnyKind,
  networkN: number,
  sequence: number,
): Generator<Array<[n: number, record: R]>> {
  const statement = `SELECT s.n, ${membersSql(kind, "v")} FROM history_spans s ${VERSION_JOIN}
    WHERE s.scope = +?2 AND ${ALIVE_THEN} AND s.n > +?3 ORDER BY s.n LIMIT ${STEP_ROWS}`;
  for (let after = 0; ; ) {
    const rows = parseRows<R>(connection.statement(statement).values(sequence, scopeKey(networkN, kind), after));
    const last = rows.at(-1);
    if (last !== undefined) yield rows;
    if (last === undefined || rows.length < STEP_ROWS) return;
    after = last[0];
  }
}

/** Same as storedRecords, for the given numbers only and in one read. */
export function storedByNumbers<R>(
  connection: ReadConnection,
  { kind, networkN, sequence }: { readonly kind: AnyKind; readonly networkN: number; readonly sequence: number },
  ns: readonly number[],
): Array<[n: number, record: R]> {
  const statement = `SELECT s.n, ${membersSql(kind, "v")} FROM json_each(+?3) j
    CROSS JOIN history_spans s ON s.scope = +?2 AND s.n = j.value ${VERSION_JOIN} WHERE ${ALIVE_THEN}`;
  return parseRows<R>(connection.statement(statement).values(sequence, scopeKey(networkN, kind), JSON.stringify(ns)));
}

/** Version key of the records of spans `s`, as of ?1. */
export const VERSION_KEY = `(SELECT w.key FROM history_versions w
  WHERE w.key <= ((s.n << 31) | ?1) AND w.key > (s.n << 31) ORDER BY w.key DESC LIMIT 1)`;
const VERSION_JOIN = `CROSS JOIN history_versions v ON v.key = ${VERSION_KEY}`;
const ALIVE_THEN = "s.born <= ?1 AND s.died > ?1 AND v.members IS NOT NULL";

function parseRows<R>(rows: unknown[][]): Array<[number, R]> {
  return (rows as Array<[number, string]>).map(([n, members]) => [n, parseMembers<R>(members)]);
}
