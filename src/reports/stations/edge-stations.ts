// Stations at the edge ports of a network as of a transaction: MAC addresses with the names of their hosts. Uplinks are
// excluded, since MAC addresses only pass through them. In bounded steps.

import { isSingleDevice } from "../../base/mac.ts";
import { compareCodePoints } from "../../base/text.ts";
import { macInfo } from "../../base/vendors/vendor.ts";
import { scopeKey } from "../../db/kind.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { EDGE_MACS_MAX, edgesAt } from "../../history/edge-ports.ts";
import type { NumberedRecord, RecordsAt } from "../../history/records-at.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { Owners, ownersNow } from "./owners.ts";
import type { Station } from "./station-schema.ts";

/** Forwarding entries read per step. */
const STEP_ENTRIES = 2_000;
/** Ports examined per step. */
const STEP_PORTS = 200;

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
  const isEdge = edgesAt(reader, query.sequence);
  const found: Array<{
    readonly port: NumberedRecord<IfEntryRecord>;
    readonly entries: readonly NumberedRecord<FdbEntryRecord>[];
  }> = [];
  for (let start = 0; start < ports.length; start += STEP_PORTS) {
    for (const port of records.byIds(ifEntryKind, ports.slice(start, start + STEP_PORTS)).values()) {
      if (!isEdge(port.n)) continue;
      const entries = records.childrenOf(fdbEntryKind, port.n, EDGE_MACS_MAX);
      found.push({
        port,
        entries: entries.filter(({ record: { mac_address: mac } }) => isSingleDevice(mac) && isEdge(port.n, mac)),
      });
    }
    yield;
  }
  const owners = new Owners(records, query.networkId, ownersNow(reader, query.sequence));
  yield* owners.lookUp(new Set(found.flatMap(({ entries }) => entries.map(({ record }) => record.mac_address))));
  const switches = records.byIds(
    hostKind,
    found.map(({ port }) => port.record.host_id),
  );
  const stations: Station[] = [];
  for (const [index, { port, entries }] of found.entries()) {
    if (index % STEP_PORTS === 0) yield;
    const { id, host_id, if_name, if_descr } = port.record;
    for (const [mac, all] of Map.groupBy(entries, ({ record }) => record.mac_address)) {
      const vlans = new Set(all.flatMap(({ record }) => record.vlan_number ?? []));
      stations.push({
        network_id: query.networkId,
        switch: { id: host_id, name: switches.get(host_id)?.record.name ?? "" },
        port: { id, name: if_name || if_descr },
        mac_address: mac,
        ...macInfo(mac),
        vlan_numbers: [...vlans].sort((left, right) => left - right),
        since: all.map(({ record }) => record.created_at).sort(compareCodePoints)[0] as string,
        hosts: owners.of(mac),
      });
    }
  }
  return stations;
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
