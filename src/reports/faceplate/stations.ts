// Stations on the ports of a device: MAC addresses of its forwarding table, with the names of their hosts in the
// network. Reads through RecordsAt.

import { compareCodePoints, textSortKey } from "../../base/text.ts";
import { type MacInfo, macInfo } from "../../base/vendors/vendor.ts";
import type { NumberedRecord, RecordsAt } from "../../history/records-at.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import type { IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import { type FindCurrentOwners, Owners, type StationHost } from "../stations/owners.ts";

/** Maximum per port: more stations mean that there is a network behind the port, not a desk. */
export const STATIONS_MAX = 100;
/** Allows for entries of a MAC address in several VLANs. */
const ENTRIES_MAX = 4 * STATIONS_MAX;

export interface PortStation extends MacInfo {
  readonly mac_address: string;
  readonly vlan_numbers: number[];
  /** Start of its presence at this port. */
  readonly since: string;
  readonly hosts: StationHost[];
}

export interface PortStations {
  readonly stations: readonly PortStation[];
  readonly hasMore: boolean;
}

/**
 * By record number of the port. Yields between steps of a few milliseconds.
 * @param sources record numbers of each port and its parts
 * @param counts number of entries of each port and part
 * @param currentOwners lookup by the index of MAC addresses; returns null for a past timestamp
 */
export function* stationsAt(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  sources: ReadonlyMap<number, readonly number[]>,
  counts: ReadonlyMap<number, number>,
  currentOwners: FindCurrentOwners,
): Generator<void, Map<number, PortStations>> {
  const entriesAt = new Map<number, NumberedRecord<FdbEntryRecord>[]>();
  let entriesRead = 0;
  for (const { n } of ports) {
    const filled = (sources.get(n) ?? [n]).filter((source) => (counts.get(source) ?? 0) > 0);
    if (filled.length === 0) continue;
    const entries = filled.flatMap((source) => records.childrenOf(fdbEntryKind, source, ENTRIES_MAX));
    entriesAt.set(n, entries);
    entriesRead += entries.length;
    if (entriesRead < STATIONS_MAX) continue;
    entriesRead = 0;
    yield;
  }
  const listed = new Map<number, { macs: Map<string, FdbEntryRecord[]>; hasMore: boolean }>();
  for (const [n, entries] of entriesAt) {
    const all = Map.groupBy(
      entries.map(({ record }) => record),
      ({ mac_address: mac }) => mac,
    );
    const macs = [...all].sort(([left], [right]) => compareCodePoints(left, right)).slice(0, STATIONS_MAX);
    listed.set(n, { macs: new Map(macs), hasMore: all.size > STATIONS_MAX || entries.length >= ENTRIES_MAX });
  }
  const networkId = ports[0]?.record.network_id ?? "";
  const owners = new Owners(records, networkId, currentOwners);
  yield* owners.lookUp(new Set([...listed.values()].flatMap(({ macs }) => [...macs.keys()])));
  return new Map(
    [...listed].map(([n, { macs, hasMore }]) => [
      n,
      { stations: [...macs].map(([mac, entries]) => stationOf(mac, entries, owners.of(mac))).sort(byName), hasMore },
    ]),
  );
}

function stationOf(mac: string, entries: readonly FdbEntryRecord[], hosts: StationHost[]): PortStation {
  const vlans = new Set(entries.flatMap(({ vlan_number: number }) => number ?? []));
  const since = entries.map(({ created_at }) => created_at).sort()[0] as string;
  return {
    mac_address: mac,
    ...macInfo(mac),
    vlan_numbers: [...vlans].sort((left, right) => left - right),
    since,
    hosts,
  };
}

/** Named stations first. */
function byName(left: PortStation, right: PortStation): number {
  const [name, otherName] = [left.hosts[0]?.name, right.hosts[0]?.name];
  return (
    Number(name === undefined) - Number(otherName === undefined) ||
    compareCodePoints(textSortKey(name ?? ""), textSortKey(otherName ?? "")) ||
    compareCodePoints(left.mac_address, right.mac_address)
  );
}
