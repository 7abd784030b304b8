// Faceplate of a device as of one transaction: physical port layout, stations and neighbors by name, and the time each
// port last had a link. Every step is bounded; reads through RecordsAt.

import type { Static } from "@sinclair/typebox";
import type { Actor } from "../../access/actor.ts";
import { formatInstant, parseInstant } from "../../base/instant.ts";
import { valueScope } from "../../db/kind.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, PAUSE } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { type PortPlace, portPlacesAt } from "../../history/edge-ports.ts";
import { linkSource, systemName } from "../../history/locate/far-ends.ts";
import { visibilityOf } from "../../history/locate/locate.ts";
import { PortStack } from "../../history/port-stack.ts";
import { type NumberedRecord, RecordsAt } from "../../history/records-at.ts";
import { notFoundAt } from "../../records/read-instant.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import type { ListedHost } from "../../resources/hosts/host-body.ts";
import { composeHostOverviews } from "../../resources/hosts/host-view.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { vlanKind } from "../../resources/vlans/vlan.ts";
import { metaAt, successBody, thinnedUntilMember } from "../../schemas/envelope.ts";
import { CHILDREN_MAX } from "../../schemas/schemas.ts";
import { currentOwners } from "../stations/owners.ts";
import type { Faceplate, FaceplatePort } from "./faceplate-schema.ts";
import { layOutPorts } from "./port-layout.ts";
import { stationsAt } from "./stations.ts";

/** Passed to another thread. */
export interface FaceplateInput {
  readonly actor: Actor;
  readonly hostId: string;
  /** Requested interfaces; null for all. */
  readonly ids: readonly string[] | null;
  /** Maximum number of interfaces, in the order of the response; 0 for all. */
  readonly limit: number;
  readonly includesHost: boolean;
  readonly moment: FixedMoment;
}

/** @throws DomainError entity_not_found for a host not visible to the caller at that time */
export const faceplate = longRead("faceplate", function* (reader: Reader, input: FaceplateInput) {
  const steps = faceplateAt(reader, input);
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      const { data, isThinned } = step.value;
      const until = isThinned ? reader.thinnedHistory.incompleteUntil(0) : null;
      const meta = metaAt(input.moment, thinnedUntilMember(until));
      yield new TextEncoder().encode(successBody(JSON.stringify(data), meta));
      return;
    }
    yield PAUSE;
  }
});

function* faceplateAt(
  reader: Reader,
  { actor, hostId, ids, limit, includesHost, moment }: FaceplateInput,
): Generator<void, { readonly data: Faceplate; readonly isThinned: boolean }> {
  const { sequence } = moment.asOf;
  const records = new RecordsAt(reader, sequence, visibilityOf(reader, { actor, networkId: null }));
  const host = records.byIds(hostKind, [hostId]).get(hostId);
  if (host === undefined) throw notFoundAt(hostKind, hostId, moment);
  const all = records.childrenOf(ifEntryKind, host.n, CHILDREN_MAX);
  // The layout needs the names of all interfaces.
  const layout = layOutPorts(all.map(layoutInput));
  const inOrder = [...layout.groups.flatMap((group) => group.ports), ...layout.logical];
  const requested = ids === null ? inOrder : inOrder.filter(({ id }) => ids.includes(id));
  const wanted = new Set(requested.slice(0, limit === 0 ? undefined : limit).map(({ n }) => n));
  const ports = all.filter(({ n }) => wanted.has(n));
  yield;
  const stack = new PortStack(all.map(({ record }) => record));
  const byId = new Map(all.map((port) => [port.record.id, port]));
  const partsOf = ({ record }: NumberedRecord<IfEntryRecord>) =>
    stack.partsOf(record.id).flatMap((id) => byId.get(id) ?? []);
  const sources = new Map(ports.map((port) => [port.n, [port.n, ...partsOf(port).map(({ n }) => n)]]));
  const counts = records.counts(fdbEntryKind, [...sources.values()].flat(), (count) => ({ low: count, high: count }));
  const stations = yield* stationsAt(records, ports, sources, counts, currentOwners(reader, sequence));
  const linked = [...new Set(ports.flatMap((port) => [port, ...partsOf(port)]))];
  const neighbors = neighborsOf(records, linked, portPlacesAt(reader, sequence));
  const named = (ids: readonly (string | undefined)[]) =>
    ids.flatMap((id) => {
      const record = byId.get(id ?? "")?.record;
      return record === undefined ? [] : [{ id: record.id, name: record.if_name || record.if_descr }];
    });
  const vlans = vlansOf(records, ports);
  yield;
  const upEndedAt = lastUpTimes(reader, ports, host.record.network_id, sequence);
  const portBody = ({ n, record }: NumberedRecord<IfEntryRecord>): FaceplatePort => ({
    id: record.id,
    if_index: record.if_index,
    name: record.if_name || record.if_descr,
    if_descr: record.if_descr,
    if_alias: record.if_alias ?? null,
    if_type: record.if_type,
    admin_status: record.admin_status,
    oper_status: record.oper_status,
    speed_bps: record.speed_bps ?? null,
    mac_address: record.mac_address ?? null,
    native_vlan: vlans.get(record.native_vlan_id ?? "") ?? null,
    tagged_vlans: (record.vlan_ids ?? [])
      .flatMap((id) => vlans.get(id) ?? [])
      .sort((left, right) => left.number - right.number),
    lag: named([record.lag_id])[0] ?? null,
    parent: named([record.parent_id])[0] ?? null,
    members: named(stack.membersOf(record.id)),
    neighbor: (sources.get(n) ?? []).map((source) => neighbors.get(source)).find((each) => each !== undefined) ?? null,
    more_neighbors: record.more_neighbors?.length ?? 0,
    fdb_entries: (sources.get(n) ?? []).reduce((sum, source) => sum + (counts.get(source) ?? 0), 0),
    stations: [...(stations.get(n)?.stations ?? [])],
    has_more_stations: stations.get(n)?.hasMore ?? false,
    unused_since: record.oper_status === "Up" ? null : (upEndedAt.get(n) ?? null),
    known_since: record.created_at,
  });
  const bodiesByN = new Map(ports.map((port) => [port.n, portBody(port)]));
  const bodiesOf = (items: readonly { readonly n: number }[]) => items.flatMap(({ n }) => bodiesByN.get(n) ?? []);
  const thinnedUntil = reader.thinnedHistory.incompleteUntil(0);
  return {
    data: {
      host: { id: host.record.id, name: host.record.name },
      ...(includesHost ? { host_record: hostRecord(reader, actor, host.n, moment) } : {}),
      groups: layout.groups
        .map((group) => ({ ...group, ports: bodiesOf(group.ports) }))
        .filter(({ ports: items }) => items.length > 0),
      logical: bodiesOf(layout.logical),
    },
    isThinned:
      thinnedUntil !== null && ports.some(({ record }) => (parseInstant(record.created_at) ?? 0) < thinnedUntil),
  };
}

function hostRecord(reader: Reader, actor: Actor, n: number, { asOf }: FixedMoment): Static<typeof ListedHost> {
  const [text] = composeHostOverviews(reader, actor)(reader.itemsOf(hostKind, [n], asOf, actor), asOf);
  return JSON.parse(text as string);
}

/** Layout input, plus the record number, by which ports are selected. */
function layoutInput({ n, record: { id, if_index, if_name, if_descr, if_type } }: NumberedRecord<IfEntryRecord>) {
  return { n, id, if_index, name: if_name || if_descr, if_type };
}

/** Time at which each port was last up. Omits ports that were never up. */
function lastUpTimes(
  reader: Reader,
  ports: readonly NumberedRecord[],
  networkId: string,
  sequence: number,
): ReadonlyMap<number, string> {
  const networkN = reader.recordN(networkId);
  const scope = networkN === null ? null : valueScope(ifEntryKind, "oper_status", "Up", networkN);
  if (scope === null) return new Map();
  const rows = reader
    .statement(
      `SELECT j.value, (SELECT t.at FROM history_spans s CROSS JOIN history_transactions t ON t.sequence = s.died
          WHERE s.scope = +?1 AND s.n = j.value AND s.born <= +?2 AND s.died <= +?2 ORDER BY s.born DESC LIMIT 1)
        FROM json_each(+?3) j`,
    )
    .values(scope, sequence, JSON.stringify(ports.map(({ n }) => n))) as Array<[number, number | null]>;
  return new Map(rows.flatMap(([n, at]) => (at === null ? [] : [[n, formatInstant(at)] as const])));
}

/** Neighbors of the ports, from LLDP, CDP or manual entry. */
function neighborsOf(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  placeOf: (port: number) => PortPlace | null,
): ReadonlyMap<number, NonNullable<FaceplatePort["neighbor"]>> {
  const farPorts = records.byIds(
    ifEntryKind,
    ports.map(({ record: { neighbor } }) => (neighbor?.type === "IfEntry" ? neighbor.id : null)),
  );
  const hostIdOf = ({ neighbor }: IfEntryRecord) =>
    neighbor?.type === "Host" ? neighbor.id : farPorts.get(neighbor?.id ?? "")?.record.host_id;
  const hosts = records.byIds(
    hostKind,
    ports.map(({ record }) => hostIdOf(record)),
  );
  return new Map(
    ports.flatMap(({ n, record }) => {
      const host = hosts.get(hostIdOf(record) ?? "")?.record;
      const far = record.neighbor?.type === "IfEntry" ? farPorts.get(record.neighbor.id)?.record : undefined;
      const source = linkSource(record);
      if (source === "Entered" && host === undefined) return [];
      const neighbor = {
        source,
        host: host === undefined ? null : { id: host.id, name: host.name },
        interface: far === undefined ? null : { id: far.id, name: far.if_name || far.if_descr },
        announced_name: systemName(record),
        announced_port: record.lldp_port_id?.value ?? record.cdp_port_id ?? null,
        role: placeOf(n)?.role ?? "Unknown",
      };
      return [[n, neighbor] as const];
    }),
  );
}

function vlansOf(records: RecordsAt, ports: readonly NumberedRecord<IfEntryRecord>[]) {
  const ids = ports.flatMap(({ record }) => [record.native_vlan_id, ...(record.vlan_ids ?? [])]);
  return new Map(
    [...records.byIds(vlanKind, ids)].map(([id, { record }]) => [id, { id, number: record.number, name: record.name }]),
  );
}
