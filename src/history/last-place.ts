// Last port of machines that are at none as of a transaction, from the forwarding entries that ended last.

import { formatInstant } from "../base/instant.ts";
import type { Reader } from "../db/reading/reader.ts";
import { exactTerm } from "../db/search-text.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../resources/ip-addresses/ip-address.ts";
import type { LastSeen, LastSeenOf } from "../resources/last-seen.ts";
import { edgesAt, portPlacesAt, portsAt } from "./edge-ports.ts";
import { RecordsAt, type Visibility } from "./records-at.ts";

/** Maximum ended forwarding entries examined, the newest first. */
const EXAMINED_MAX = 50;
/** Maximum MAC addresses of a machine; one with more is a device whose ports are known by its links. */
const MACS_MAX = 8;
/** Maximum addresses of a machine that are examined. */
const ADDRESSES_MAX = 64;

/** Last places as of a transaction, for a caller. */
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

  /** Last place of a machine that is in no forwarding table; null for others, and if none is known. */
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

  /** @param networkId null for any visible network */
  last(networkId: string | null, macs: readonly string[]): LastSeen | null {
    if (macs.length === 0) return null;
    let other: LastSeen | null = null;
    const ended = this.reader
      .statement(ENDED)
      .values(macs.map(exactTerm).join(" OR "), this.visibility.organizationN, this.sequence, EXAMINED_MAX) as Array<
      [n: number, died: number]
    >;
    for (const [n, died] of ended) {
      const before = new RecordsAt(this.reader, died - 1, this.visibility);
      const [entry] = before.byIds(fdbEntryKind, this.reader.recordIds([n])).values();
      if (entry === undefined || !macs.includes(entry.record.mac_address)) continue;
      if (networkId !== null && entry.record.network_id !== networkId) continue;
      const [port] = before.byIds(ifEntryKind, [entry.record.if_entry_id]).values();
      if (port === undefined) continue;
      const edge = edgesAt(this.reader, died - 1)(port.n, entry.record.mac_address);
      if (edge !== null) return this.placeAt(before, edge.id, died);
      const place = portPlacesAt(this.reader, died - 1)(port.n);
      // An access point has more stations than an edge port.
      if (place?.role === "End") return this.placeAt(before, place.id, died);
      // As behind an unmanaged switch: no edge port, but no known network either.
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

/** MAC addresses of a host's addresses as of a transaction; none if it has interface entries, whose links place it. */
export function hostMacs(reader: Reader, hostN: number, sequence: number, visibility: Visibility): string[] {
  const records = new RecordsAt(reader, sequence, visibility);
  if (records.childrenOf(ifEntryKind, hostN, 1).length > 0) return [];
  const addresses = records.childrenOf(ipAddressKind, hostN, ADDRESSES_MAX);
  return [...new Set(addresses.flatMap(({ record }) => record.mac_address ?? []))];
}

/** Last place of a host that is at no port. */
export const lastSeenOfHost: LastSeenOf = (reader, actor, hostN, asOf) => {
  const { sequence } = asOf ?? reader.head();
  const networkIds = actor.networkNs === null ? null : reader.recordIds(actor.networkNs);
  const visibility = { organizationN: actor.organizationN, networkIds };
  const [host] = new RecordsAt(reader, sequence, visibility).byIds(hostKind, reader.recordIds([hostN])).values();
  if (host === undefined) return null;
  const macs = hostMacs(reader, hostN, sequence, visibility);
  return new LastPlaces(reader, sequence, visibility).ofAbsent(host.record.network_id, macs);
};

/** `last seen at Gi1/0/19 of acc-admin-1 until 2026-11-27T21:00:00.000Z`. */
export function describeLastSeen({ port, switch: device, until }: LastSeen): string {
  return `last seen at ${port.name} of ${device.name} until ${until}`;
}

const LEARNED = "SELECT 1 FROM fdb_entries WHERE mac_address = +?1 AND network_n = +?2 LIMIT 1";
const ENDED = `SELECT r.n, s.died
  FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
  CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
  CROSS JOIN history_spans s ON s.scope = +?2 * 64 + r.kind AND s.n = r.n AND s.died <= +?3
  ORDER BY s.died DESC LIMIT +?4`;
const INSTANT_OF = "SELECT at FROM history_transactions WHERE sequence = +?";
