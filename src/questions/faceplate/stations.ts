// Who is behind the ports of a device: the MAC addresses of its forwarding table, and the hosts of its network that have
// them, by name. Reads through RecordsAt.

import { type MacType, macTypeOf } from "../../base/mac.ts";
import { compareCodePoints, textSortKey } from "../../base/text.ts";
import { type MacTold, macTold } from "../../base/vendors/vendor.ts";
import type { AnyKind, Kind } from "../../db/kind.ts";
import { wholeTerm } from "../../db/search-text.ts";
import type { Known, RecordsAt } from "../../history/records-at.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";

/** Named of one port: behind more is a network, and not a desk. */
export const STATIONS_MAX = 100;
/** Hosts named of one MAC address, and addresses of each of them. */
export const OWNERS_MAX = 8;
/** MAC addresses looked up at once. */
const BATCH_MACS = 50;
/** Records that one look finds: where they are more, each MAC address is looked up on its own. */
const MATCHES_MAX = 1_000;
/** The entries of a MAC address in several VLANs. */
const ENTRIES_MAX = 4 * STATIONS_MAX;

/** What hosts can have. */
const STATIONS: readonly MacType[] = ["Universal", "LocallyAdministered", "VirtualRouter"];

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface StationHost extends Named {
  /** Its interface that has the MAC address, where one is known to. */
  readonly interface: Named | null;
  readonly ip_addresses: string[];
}

export interface Station extends MacTold {
  readonly mac_address: string;
  readonly vlan_numbers: number[];
  /** Since when it is known at this port. */
  readonly since: string;
  readonly hosts: StationHost[];
}

/** The ids of addresses and interfaces that have one of these MAC addresses today, `limit` of each kind at most. */
export interface OwnersNow {
  readonly addressIds: readonly string[];
  readonly interfaceIds: readonly string[];
}
export type FindOwnersNow = (macs: readonly string[], limit: number) => OwnersNow | null;

export interface PortStations {
  readonly stations: readonly Station[];
  readonly hasMore: boolean;
}

/**
 * By the number of each port. Yields between steps of some milliseconds.
 * @param counts entries of each port
 * @param ownersNow the present has an index of MAC addresses; null from it where the present is not asked about
 */
export function* stationsAt(
  records: RecordsAt,
  ports: readonly Known<IfEntryRecord>[],
  counts: ReadonlyMap<number, number>,
  ownersNow: FindOwnersNow,
): Generator<void, Map<number, PortStations>> {
  const entriesAt = new Map<number, Known<FdbEntryRecord>[]>();
  let read = 0;
  for (const { n } of ports) {
    if ((counts.get(n) ?? 0) === 0) continue;
    const entries = records.livingIn(fdbEntryKind, n, ENTRIES_MAX);
    entriesAt.set(n, entries);
    read += entries.length;
    if (read < STATIONS_MAX) continue;
    read = 0;
    yield;
  }
  const listed = new Map<number, { macs: Map<string, FdbEntryRecord[]>; hasMore: boolean }>();
  for (const [n, entries] of entriesAt) {
    const all = Map.groupBy(
      entries.map(({ record }) => record),
      ({ mac_address: mac }) => mac,
    );
    const macs = [...all].sort(([one], [other]) => compareCodePoints(one, other)).slice(0, STATIONS_MAX);
    listed.set(n, { macs: new Map(macs), hasMore: all.size > STATIONS_MAX || entries.length === ENTRIES_MAX });
  }
  const networkId = ports[0]?.record.network_id ?? "";
  const owners = new Owners(records, networkId, ownersNow);
  yield* owners.lookUp(new Set([...listed.values()].flatMap(({ macs }) => [...macs.keys()])));
  return new Map(
    [...listed].map(([n, { macs, hasMore }]) => [
      n,
      { stations: [...macs].map(([mac, entries]) => stationOf(mac, entries, owners.of(mac))).sort(byName), hasMore },
    ]),
  );
}

function stationOf(mac: string, entries: readonly FdbEntryRecord[], hosts: StationHost[]): Station {
  const vlans = new Set(entries.flatMap(({ vlan_number: number }) => number ?? []));
  const since = entries.map(({ created_at }) => created_at).sort()[0] as string;
  return {
    mac_address: mac,
    ...macTold(mac),
    vlan_numbers: [...vlans].sort((one, other) => one - other),
    since,
    hosts,
  };
}

/** Those with a name first. */
function byName(one: Station, other: Station): number {
  const [name, otherName] = [one.hosts[0]?.name, other.hosts[0]?.name];
  return (
    Number(name === undefined) - Number(otherName === undefined) ||
    compareCodePoints(textSortKey(name ?? ""), textSortKey(otherName ?? "")) ||
    compareCodePoints(one.mac_address, other.mac_address)
  );
}

/** The hosts of a network that have MAC addresses, on their interfaces or with their IP addresses. */
class Owners {
  private readonly records: RecordsAt;
  private readonly networkId: string;
  private readonly ownersNow: FindOwnersNow;
  private readonly addresses = new Map<string, IpAddressRecord[]>();
  private readonly interfaces = new Map<string, IfEntryRecord[]>();
  private hosts: ReadonlyMap<string, Known<HostRecord>> = new Map();

  constructor(records: RecordsAt, networkId: string, ownersNow: FindOwnersNow) {
    this.records = records;
    this.ownersNow = ownersNow;
    this.networkId = networkId;
  }

  *lookUp(macs: ReadonlySet<string>): Generator<void> {
    const asked = [...macs].filter((mac) => STATIONS.includes(macTypeOf(mac)));
    for (let start = 0; start < asked.length; start += BATCH_MACS) {
      const batch = asked.slice(start, start + BATCH_MACS);
      if (!this.found(batch)) for (const mac of batch) this.found([mac], true);
      yield;
    }
    const ids = [...this.addresses.values(), ...this.interfaces.values()].flatMap((list) =>
      list.map(({ host_id: id }) => id),
    );
    this.hosts = this.records.byIds(hostKind, ids);
    yield;
  }

  of(mac: string): StationHost[] {
    const addresses = this.addresses.get(mac) ?? [];
    const interfaces = this.interfaces.get(mac) ?? [];
    const ids = new Set([...addresses, ...interfaces].map(({ host_id: id }) => id));
    return [...ids]
      .flatMap((id): StationHost[] => {
        const host = this.hosts.get(id)?.record;
        if (host === undefined) return [];
        const entry = interfaces.find((each) => each.host_id === id);
        return [
          {
            id,
            name: host.name,
            interface: entry === undefined ? null : { id: entry.id, name: entry.if_name || entry.if_descr },
            ip_addresses: addresses
              .filter((each) => each.host_id === id)
              .map(({ ip_address: text }) => text)
              .sort(compareCodePoints)
              .slice(0, OWNERS_MAX),
          },
        ];
      })
      .sort(
        (one, other) =>
          compareCodePoints(textSortKey(one.name), textSortKey(other.name)) || compareCodePoints(one.id, other.id),
      )
      .slice(0, OWNERS_MAX);
  }

  /** @returns false where there may be more, unless that is taken */
  private found(macs: readonly string[], isEnough = false): boolean {
    const found = this.foundNow(macs) ?? this.foundThen(macs);
    if (found.length >= MATCHES_MAX && !isEnough) return false;
    const asked = new Set(macs);
    for (const { kind, record } of found) {
      const mac = record.mac_address;
      if (typeof mac !== "string" || !asked.has(mac) || record.network_id !== this.networkId) continue;
      if (kind === ipAddressKind) push(this.addresses, mac, record as IpAddressRecord);
      else push(this.interfaces, mac, record as IfEntryRecord);
    }
    return true;
  }

  private foundNow(macs: readonly string[]): Owner[] | null {
    const now = this.ownersNow(macs, MATCHES_MAX);
    if (now === null) return null;
    return [
      ...this.records.byIds(ipAddressKind, now.addressIds).values(),
      ...this.records.byIds(ifEntryKind, now.interfaceIds).values(),
    ];
  }

  private foundThen(macs: readonly string[]): Owner[] {
    // Both at once: what the switches learned has to be passed over each time, and is most of what the index finds.
    const kinds: readonly Kind<IpAddressRecord & IfEntryRecord>[] = [ipAddressKind, ifEntryKind] as AnyKind[];
    return this.records.matching(kinds, macs.map(wholeTerm).join(" OR "), MATCHES_MAX);
  }
}

type Owner = Known<IpAddressRecord> | Known<IfEntryRecord>;

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
