// Last known port of devices absent from all forwarding tables as of a transaction, from the most recently ended
// entries.

import { formatInstant } from "../base/instant.ts";
import { type Kind, scopeKey } from "../db/kind.ts";
import type { Reader } from "../db/reading/reader.ts";
import { exactTerm } from "../db/search-text.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import type { LastSeen, LastSeenOf } from "../resources/last-seen.ts";
import { edgesAt, portPlacesAt, portsAt } from "./edge-ports.ts";
import { type RecordOfNetwork, RecordsAt, type Visibility } from "./records-at.ts";

/** Maximum ended forwarding entries examined, newest first. */
const EXAMINED_MAX = 50;
/** Maximum MAC addresses of a machine; one with more is a device whose ports are known by its links. */
const MACS_MAX = 8;
/** Maximum addresses of a machine that are examined. */
const ADDRESSES_MAX = 64;

/** Ended record. */
export interface EndedRecord<R> {
  readonly n: number;
  readonly record: R;
  /** Transaction of its end. */
  readonly died: number;
  /** State of all records immediately before. */
  readonly before: RecordsAt;
}

/** Last known locations as of a transaction, limited to the caller's reach. */
export class LastPlaces {
  private readonly reader: Reader;
  private readonly sequence: number;
  private readonly visibility: Visibility;
  private readonly isPresent: boolean;

  constructor(reader: Reader, sequence: number, visibility: Visibility) {
    this.reader = reader;
    this.sequence = sequence;
    this.visibility = visibility;
    this.isPresent = reader.head().sequence === sequence;
  }

  /** Last known location of a machine that is in no forwarding table; null if it is in one, or if none is known. */
  ofAbsent(networkId: string, macs: readonly string[]): LastSeen | null {
    if (macs.length === 0 || macs.length > MACS_MAX) return null;
    return macs.some((mac) => this.isLearned(networkId, mac)) ? null : this.last(networkId, macs);
  }

  private isLearned(networkId: string, mac: string): boolean {
    const { reader, sequence } = this;
    if (this.isPresent) return reader.statement(LEARNED).values(mac, reader.recordN(networkId) ?? 0).length > 0;
    const reach = { organizationN: this.visibility.organizationN, networkNs: null };
    return portsAt(reader, { reach, sequence }, networkId, mac).length > 0;
  }

  /** True if a MAC address is at an edge port. */
  isAtEdge(networkId: string, macs: readonly string[]): boolean {
    const { reader, sequence } = this;
    const query = { reach: { organizationN: this.visibility.organizationN, networkNs: null }, sequence };
    const edge = edgesAt(reader, sequence);
    return macs.some((mac) => portsAt(reader, query, networkId, mac).some((port) => edge(port, mac) !== null));
  }

  /**
   * Ended records in their last state, most recently ended first.
   * @param query FTS5 query built from search-text.ts terms
   */
  *ended<R extends RecordOfNetwork>(kind: Kind<R>, query: string): Generator<EndedRecord<R>> {
    const { reader, sequence, visibility } = this;
    const { organizationN, networkIds } = visibility;
    // Filters before the limit: otherwise records of other networks could crowd out those of visible ones.
    const within = networkIds?.flatMap((id) => reader.recordN(id) ?? []) ?? [organizationN];
    const ended = reader
      .statement(ENDED)
      .values(query, JSON.stringify(within), sequence, EXAMINED_MAX, kind.code) as Array<[n: number, died: number]>;
    for (const [n, died] of ended) {
      const before = new RecordsAt(reader, died - 1, visibility);
      const [found] = before.byIds(kind, reader.recordIds([n])).values();
      if (found !== undefined) yield { n, record: found.record, died, before };
    }
  }

  /** @param networkId null for any visible network */
  last(networkId: string | null, macs: readonly string[]): LastSeen | null {
    if (macs.length === 0) return null;
    let other: LastSeen | null = null;
    for (const { record, died, before } of this.ended(fdbEntryKind, macs.map(exactTerm).join(" OR "))) {
      if (!macs.includes(record.mac_address)) continue;
      if (networkId !== null && record.network_id !== networkId) continue;
      const [port] = before.byIds(ifEntryKind, [record.if_entry_id]).values();
      if (port === undefined) continue;
      const edge = edgesAt(this.reader, died - 1)(port.n, record.mac_address);
      if (edge !== null) return this.placeAt(before, edge.id, died);
      const place = portPlacesAt(this.reader, died - 1)(port.n);
      // An access point may have more stations than an edge port allows.
      if (place?.role === "End") return this.placeAt(before, place.id, died);
      // Possibly an unmanaged switch: not an edge port, but not a known network device either.
      if (other === null && place?.role === null) other = this.placeAt(before, place.id, died);
    }
    return other;
  }

  private placeAt(before: RecordsAt, portId: string, died: number): LastSeen | null {
    const port = before.byIds(ifEntryKind, [portId]).get(portId)?.record;
    if (port === undefined) return null;
    const nameIn = (records: RecordsAt) => records.byIds(hostKind, [port.host_id]).get(port.host_id)?.record.name;
    const name = nameIn(new RecordsAt(this.reader, this.sequence, this.visibility)) ?? nameIn(before);
    const [[at]] = this.reader.statement(INSTANT_OF).values(died) as [[number]];
    return name === undefined
      ? null
      : {
          switch: { id: port.host_id, name },
          port: { id: port.id, name: port.if_name ?? port.if_descr },
          until: formatInstant(at),
        };
  }
}

/**
 * MAC addresses of a host's addresses as of a transaction, or of the most recently ended ones. Empty for a host with interface
 * entries, which is located by its links.
 */
export function hostMacs(reader: Reader, hostN: number, sequence: number, visibility: Visibility): string[] {
  const records = new RecordsAt(reader, sequence, visibility);
  if (records.childrenOf(ifEntryKind, hostN, 1).length > 0) return [];
  const present = records.childrenOf(ipAddressKind, hostN, ADDRESSES_MAX);
  const addresses = present.length > 0 ? present : lastAddresses(reader, hostN, sequence, visibility);
  return [...new Set(addresses.flatMap(({ record }) => record.mac_address ?? []))];
}

/** The addresses of a host before the last one ended. */
function lastAddresses(reader: Reader, hostN: number, sequence: number, visibility: Visibility) {
  const [[died]] = reader.statement(LAST_ENDED).values(scopeKey(hostN, ipAddressKind), sequence) as [[number | null]];
  return died === null
    ? []
    : new RecordsAt(reader, died - 1, visibility).childrenOf(ipAddressKind, hostN, ADDRESSES_MAX);
}

/** Last known location of a host that is in no forwarding table. */
export const lastSeenOfHost: LastSeenOf = (reader, actor, hostN, asOf) => {
  // Decides for most hosts without reading a record.
  if (asOf === null && reader.statement(PLACED).values(hostN).length > 0) return null;
  const { sequence } = asOf ?? reader.head();
  const networkIds = actor.networkNs === null ? null : reader.recordIds(actor.networkNs);
  const visibility = { organizationN: actor.organizationN, networkIds };
  const [host] = new RecordsAt(reader, sequence, visibility).byIds(hostKind, reader.recordIds([hostN])).values();
  if (host === undefined) return null;
  const macs = hostMacs(reader, hostN, sequence, visibility);
  return new LastPlaces(reader, sequence, visibility).ofAbsent(host.record.network_id, macs);
};

/** `last seen at Gi1/0/19 of acc-admin-1 until 2026-11-27 21:00 UTC`. */
export function describeLastSeen({ port, switch: device, until }: LastSeen): string {
  return `last seen at ${port.name} of ${device.name} until ${until.slice(0, 16).replace("T", " ")} UTC`;
}

/** Whether a host is a device, located by its links, or one of its MAC addresses is in a forwarding table. */
const PLACED = `SELECT 1 FROM if_entries WHERE host_n = +?1
  UNION ALL
  SELECT 1 FROM ip_addresses a CROSS JOIN fdb_entries f ON f.mac_address = a.mac_address AND f.network_n = a.network_n
  WHERE a.host_n = +?1
  LIMIT 1`;
const LEARNED = "SELECT 1 FROM fdb_entries WHERE mac_address = +?1 AND network_n = +?2 LIMIT 1";
const ENDED = `SELECT r.n, s.died
  FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
  CROSS JOIN history_records r ON r.n = t.n AND r.kind = +?5
  CROSS JOIN json_each(+?2) j
  CROSS JOIN history_spans s ON s.scope = j.value * 64 + r.kind AND s.n = r.n AND s.died <= +?3
  ORDER BY s.died DESC LIMIT +?4`;
const LAST_ENDED = "SELECT max(died) FROM history_spans WHERE scope = +?1 AND died <= +?2";
const INSTANT_OF = "SELECT at FROM history_transactions WHERE sequence = +?";
