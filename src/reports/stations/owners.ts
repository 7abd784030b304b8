// Hosts of a network by MAC address, from their interfaces or IP addresses, with their names. Reads through RecordsAt,
// or from the live tables for the present.

import { type MacType, macTypeOf } from "../../base/mac.ts";
import { append } from "../../base/multimap.ts";
import { compareCodePoints, textSortKey } from "../../base/text.ts";
import type { AnyKind, Kind } from "../../db/kind.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { exactTerm } from "../../db/search-text.ts";
import type { NumberedRecord, RecordsAt } from "../../history/records-at.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";

/** Maximum number of hosts per MAC address, and of addresses per host. */
export const OWNERS_MAX = 8;
/** MAC addresses looked up per step. */
const BATCH_MACS = 50;
/** Hosts read per step. */
const BATCH_HOSTS = 200;
/** Maximum number of records per lookup; beyond it, each MAC address is looked up separately. */
const MATCHES_MAX = 1_000;
/** MAC types that hosts can have. */
const HOST_MAC_TYPES: readonly MacType[] = ["Universal", "LocallyAdministered", "VirtualRouter"];

interface NamedRecord {
  readonly id: string;
  readonly name: string;
}

export interface StationHost extends NamedRecord {
  /** Its interface with the MAC address, if known. */
  readonly interface: NamedRecord | null;
  readonly ip_addresses: string[];
}

/** Ids of addresses and interfaces that currently have one of these MAC addresses, at most `limit` of each kind. */
export interface CurrentOwners {
  readonly addressIds: readonly string[];
  readonly interfaceIds: readonly string[];
}
export type FindCurrentOwners = (macs: readonly string[], limit: number) => CurrentOwners | null;

/** Reads the live tables if the requested transaction is the newest. */
export function currentOwners(reader: Reader, sequence: number): FindCurrentOwners {
  const idsIn = (table: "ip_addresses" | "if_entries", macs: string, limit: number) =>
    (
      reader
        .statement(
          `SELECT r.id FROM json_each(+?1) j CROSS JOIN ${table} l ON l.mac_address = j.value
            CROSS JOIN history_records r ON r.n = l.n LIMIT +?2`,
        )
        .values(macs, limit) as Array<[string]>
    ).map(([id]) => id);
  return (macs, limit) => {
    if (reader.head().sequence !== sequence) return null;
    const requested = JSON.stringify(macs);
    return { addressIds: idsIn("ip_addresses", requested, limit), interfaceIds: idsIn("if_entries", requested, limit) };
  };
}

/** Hosts of a network by MAC address, from their interfaces or IP addresses. */
export class Owners {
  private readonly records: RecordsAt;
  private readonly networkId: string;
  private readonly currentOwners: FindCurrentOwners;
  private readonly addresses = new Map<string, IpAddressRecord[]>();
  private readonly interfaces = new Map<string, IfEntryRecord[]>();
  private readonly hosts = new Map<string, NumberedRecord<HostRecord>>();

  constructor(records: RecordsAt, networkId: string, currentOwners: FindCurrentOwners) {
    this.records = records;
    this.currentOwners = currentOwners;
    this.networkId = networkId;
  }

  *lookUp(macs: ReadonlySet<string>): Generator<void> {
    const requested = [...macs].filter((mac) => HOST_MAC_TYPES.includes(macTypeOf(mac)));
    for (let start = 0; start < requested.length; start += BATCH_MACS) {
      const batch = requested.slice(start, start + BATCH_MACS);
      if (!this.addOwners(batch)) for (const mac of batch) this.addOwners([mac], true);
      yield;
    }
    const ids = new Set<string>();
    for (const lists of [this.addresses, this.interfaces])
      for (const list of lists.values()) for (const { host_id } of list) ids.add(host_id);
    const wanted = [...ids];
    for (let start = 0; start < wanted.length; start += BATCH_HOSTS) {
      for (const [id, host] of this.records.byIds(hostKind, wanted.slice(start, start + BATCH_HOSTS)))
        this.hosts.set(id, host);
      yield;
    }
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
        (left, right) =>
          compareCodePoints(textSortKey(left.name), textSortKey(right.name)) || compareCodePoints(left.id, right.id),
      )
      .slice(0, OWNERS_MAX);
  }

  /** @returns false if the result may be incomplete, unless isEnough */
  private addOwners(macs: readonly string[], isEnough = false): boolean {
    const found = this.findNow(macs) ?? this.findInHistory(macs);
    if (found.length >= MATCHES_MAX && !isEnough) return false;
    const requested = new Set(macs);
    for (const { kind, record } of found) {
      const mac = record.mac_address;
      if (typeof mac !== "string" || !requested.has(mac) || record.network_id !== this.networkId) continue;
      if (kind === ipAddressKind) append(this.addresses, mac, record as IpAddressRecord);
      else append(this.interfaces, mac, record as IfEntryRecord);
    }
    return true;
  }

  private findNow(macs: readonly string[]): Owner[] | null {
    const now = this.currentOwners(macs, MATCHES_MAX);
    if (now === null) return null;
    return [
      ...this.records.byIds(ipAddressKind, now.addressIds).values(),
      ...this.records.byIds(ifEntryKind, now.interfaceIds).values(),
    ];
  }

  private findInHistory(macs: readonly string[]): Owner[] {
    // One query for both kinds: each would have to skip the learned MAC addresses, which are most of the index matches.
    const kinds: readonly Kind<IpAddressRecord & IfEntryRecord>[] = [ipAddressKind, ifEntryKind] as AnyKind[];
    return this.records.matching(kinds, macs.map(exactTerm).join(" OR "), MATCHES_MAX);
  }
}

type Owner = NumberedRecord<IpAddressRecord> | NumberedRecord<IfEntryRecord>;
