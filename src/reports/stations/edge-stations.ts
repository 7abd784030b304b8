// Stations at the edge ports of a network as of a transaction: MAC addresses with the names of their hosts. Uplinks are
// excluded, since MAC addresses only pass through them. In bounded steps.

import { isSingleDevice } from "../../base/mac.ts";
import { compareCodePoints } from "../../base/text.ts";
import { macInfo } from "../../base/vendors/vendor.ts";
import { scopeKey } from "../../db/kind.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { EDGE_MACS_MAX, type EdgePort, edgesAt } from "../../history/edge-ports.ts";
import type { RecordsAt } from "../../history/records-at.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { currentOwners, Owners } from "./owners.ts";
import type { Station } from "./station-schema.ts";

/** Forwarding entries read per step. */
const STEP_ENTRIES = 2_000;
/** Ports examined per step. */
const STEP_PORTS = 200;
/** Stations described per step. */
const STEP_STATIONS = 200;

const PORT_ID = `('{' || ${membersSql(fdbEntryKind, "v")} || '}') ->> '$.if_entry_id'`;
/** Forwarding entries of a network or a device, with their ports. */
const ENTRIES = `SELECT s.n, ${PORT_ID} FROM history_spans s
  CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (s.n << 31)
    AND key <= ((s.n << 31) | +?3))
  WHERE s.scope = +?1 AND s.n > +?2 AND s.born <= +?3 AND s.died > +?3 ORDER BY s.n LIMIT ${STEP_ENTRIES}`;

export interface EdgeQuery {
  readonly sequence: number;
  readonly networkId: string;
  /** Record number of the network, or of the one device to examine. */
  readonly containerN: number;
}

/** Unordered. @param records as of the same transaction */
export function* edgeStations(reader: Reader, records: RecordsAt, query: EdgeQuery): Generator<void, Station[]> {
  const ports = yield* edgeCandidates(reader, query);
  const edgeOf = edgesAt(reader, query.sequence);
  /** By MAC address and id of the edge port. */
  const found = new Map<string, Sighting>();
  for (let start = 0; start < ports.length; start += STEP_PORTS) {
    for (const port of records.byIds(ifEntryKind, ports.slice(start, start + STEP_PORTS)).values()) {
      if (edgeOf(port.n) === null) continue;
      for (const { record } of records.childrenOf(fdbEntryKind, port.n, EDGE_MACS_MAX)) {
        const { mac_address: mac } = record;
        const edge = isSingleDevice(mac) ? edgeOf(port.n, mac) : null;
        if (edge === null) continue;
        const key = `${mac} ${edge.id}`;
        const known = found.get(key) ?? { mac, edge, hostId: port.record.host_id, units: new Set(), entries: [] };
        known.entries.push(record);
        if (port.record.parent_id !== undefined) known.units.add(port.record.id);
        found.set(key, known);
      }
    }
    yield;
  }
  const owners = new Owners(records, query.networkId, currentOwners(reader, query.sequence));
  yield* owners.lookUp(new Set([...found.values()].map(({ mac }) => mac)));
  const switches = records.byIds(
    hostKind,
    [...found.values()].map(({ hostId }) => hostId),
  );
  const places = records.byIds(
    ifEntryKind,
    [...found.values()].flatMap(({ edge, units }) => [edge.id, ...edge.memberIds, ...units]),
  );
  const named = (ids: Iterable<string>) =>
    [...ids].flatMap((id) => {
      const record = places.get(id)?.record;
      return record === undefined ? [] : [{ id, name: record.if_name || record.if_descr }];
    });
  const stations: Station[] = [];
  for (const [index, { mac, edge, hostId, units, entries }] of [...found.values()].entries()) {
    if (index % STEP_STATIONS === 0) yield;
    const [port] = named([edge.id]);
    if (port === undefined) continue;
    const vlans = new Set(entries.flatMap(({ vlan_number: number }) => number ?? []));
    stations.push({
      network_id: query.networkId,
      switch: { id: hostId, name: switches.get(hostId)?.record.name ?? "" },
      port,
      units: named(units),
      members: named(edge.memberIds),
      mac_address: mac,
      ...macInfo(mac),
      vlan_numbers: [...vlans].sort((left, right) => left - right),
      since: entries.map(({ created_at }) => created_at).sort(compareCodePoints)[0] as string,
      hosts: owners.of(mac),
    });
  }
  return stations;
}

/** A MAC address at an edge port. */
interface Sighting {
  readonly mac: string;
  readonly edge: EdgePort;
  readonly hostId: string;
  /** Interfaces that learned it, if they are units. */
  readonly units: Set<string>;
  readonly entries: FdbEntryRecord[];
}

/** Ids of ports with few enough MAC addresses to be edge ports. */
function* edgeCandidates(reader: Reader, { containerN, sequence }: EdgeQuery): Generator<void, string[]> {
  const entriesAt = new Map<string, number>();
  const scope = scopeKey(containerN, fdbEntryKind);
  for (let after = 0; ; ) {
    const rows = reader.statement(ENTRIES).values(scope, after, sequence) as Array<[number, string]>;
    for (const [, port] of rows) entriesAt.set(port, (entriesAt.get(port) ?? 0) + 1);
    yield;
    const last = rows.at(-1);
    if (last === undefined || rows.length < STEP_ENTRIES) break;
    [after] = last;
  }
  return [...entriesAt].flatMap(([port, count]) => (count <= EDGE_MACS_MAX ? [port] : []));
}
