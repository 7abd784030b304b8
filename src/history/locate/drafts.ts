// Candidates for a MAC address, IP address or name, with the records that show their location: the first of two steps
// from a query to facts. Reads through RecordsAt, and does not rate its findings.

import type { Kind } from "../../db/kind.ts";
import { exactTerm } from "../../db/search-text.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedEntry, neighborEntry } from "../../resources/if-entries/link-index-entries.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import type { Identity, LocateTerm, RecordRef } from "./facts.ts";
import { announcedName, farEnds, hostsOf, inBatches } from "./far-ends.ts";
import { matchingName, nameQuery } from "./names.ts";

/** Maximum records examined per MAC or IP address. */
const MATCHES_MAX = 1_000;
/** Maximum ports that announce one device. */
const LINKS_MAX = 200;
/** Maximum hosts of one name. */
const HOSTS_MAX = 50;
const CHILDREN_MAX = 500;
/** Maximum drafts: hosts, once per MAC address. */
const DRAFTS_MAX = 500;

/** One possible match with its evidence: a host with one of its MAC addresses, or an unknown device. */
export interface LocationDraft {
  readonly networkId: string;
  readonly host: NumberedRecord<HostRecord> | null;
  readonly mac: string | null;
  address: NumberedRecord<IpAddressRecord> | null;
  readonly identities: Identity[];
  readonly interfaces: Map<string, IfEntryRecord>;
  readonly announcements: Announcement[];
  /** Forwarding entries for its MAC address. */
  readonly entries: NumberedRecord<FdbEntryRecord>[];
}

/** A port whose far end is the draft, with the device of the port. */
interface Announcement {
  readonly port: NumberedRecord<IfEntryRecord>;
  /** The announced name that matched. */
  readonly matchedName: string | null;
  /** Whether the far end is the interface itself, not only the host. */
  readonly isExact: boolean;
}

interface DraftResult {
  readonly drafts: readonly LocationDraft[];
  /** Whether limits truncated the result. */
  readonly isTruncated: boolean;
}

/** Yields between steps of a few milliseconds. */
export function* collectDrafts(records: RecordsAt, term: LocateTerm): Generator<void, DraftResult> {
  const drafting = new DraftBuilder(records);
  if (term.by === "mac") yield* drafting.byMac(term.value);
  else if (term.by === "ip") yield* drafting.byAddress(term.value);
  else yield* drafting.byName(term.value);
  return drafting.result();
}

class DraftBuilder {
  private readonly records: RecordsAt;
  private readonly drafts = new Map<string, LocationDraft>();
  private isTruncated = false;

  constructor(records: RecordsAt) {
    this.records = records;
  }

  result(): DraftResult {
    return { drafts: [...this.drafts.values()], isTruncated: this.isTruncated };
  }

  *byMac(mac: string): Generator<void> {
    const term = exactTerm(mac);
    const addresses = this.matching(ipAddressKind, term).filter(({ record }) => record.mac_address === mac);
    const interfaces = this.matching(ifEntryKind, term).filter(({ record }) => record.mac_address === mac);
    const entries = this.matching(fdbEntryKind, term);
    const hosts = hostsOf(this.records, [...addresses, ...interfaces]);
    const addressIds = interfaces.map(({ record }) => record.ip_address_id);
    const assigned = this.records.byIds(ipAddressKind, addressIds);
    for (const address of addresses) {
      const draft = this.draft(hosts.get(address.record.host_id), mac);
      draft?.identities.push({ kind: "AddressMac", record: addressRef(address.record) });
      setAddress(draft, address);
    }
    for (const { record } of interfaces) {
      const draft = this.draft(hosts.get(record.host_id), mac);
      draft?.identities.push({ kind: "InterfaceMac", record: portRef(record) });
      draft?.interfaces.set(record.id, record);
      setAddress(draft, assigned.get(record.ip_address_id ?? ""));
    }
    yield;
    yield* this.addAnnouncements(exactTerm(announcedEntry(mac)), mac, () => mac);
    for (const [networkId, rows] of Map.groupBy(entries, ({ record }) => record.network_id)) {
      const own = [...this.drafts.values()].filter((draft) => draft.networkId === networkId);
      // Forwarding entries are only meaningful within their network.
      for (const draft of own.length > 0 ? own : [this.unknown(networkId, mac)]) draft.entries.push(...rows);
    }
    yield* this.addLinks();
  }

  *byAddress(ip: string): Generator<void> {
    const addresses = this.matching(ipAddressKind, exactTerm(ip)).filter(({ record }) => record.ip_address === ip);
    const hosts = hostsOf(this.records, addresses);
    for (const address of addresses) {
      const host = hosts.get(address.record.host_id);
      if (host === undefined) continue;
      const interfaces = this.interfacesOf(host);
      const assigned = interfaces.find((entry) => entry.ip_address_id === address.record.id);
      const mac = address.record.mac_address ?? assigned?.mac_address ?? null;
      const draft = this.draft(host, mac);
      draft?.identities.push({ kind: "Address", record: addressRef(address.record) });
      if (assigned !== undefined) {
        const record = portRef(assigned);
        draft?.identities.push({ kind: "AddressInterface", record, address: addressRef(address.record) });
      }
      setAddress(draft, address);
      for (const entry of interfaces)
        if (entry === assigned || (mac !== null && entry.mac_address === mac)) draft?.interfaces.set(entry.id, entry);
      yield;
    }
    yield* this.addAnnouncements(exactTerm(announcedEntry(ip)), null, () => ip);
    yield* this.addEntries();
    yield* this.addLinks();
  }

  *byName(name: string): Generator<void> {
    for (const { host, matchedName, isExact } of this.hostsNamed(name)) {
      this.addHost(host, { kind: isExact ? "Name" : "ShortName", record: hostRef(host.record), matchedName });
      yield;
    }
    yield* this.addAnnouncements(nameQuery(name, announcedEntry), null, (entry) => announcedName(entry) ?? name);
    yield* this.addEntries();
    yield* this.addLinks();
    this.dropUnplaced();
  }

  /** By exact name; otherwise hosts whose name starts with it up to a dot. */
  private hostsNamed(name: string): Array<{ host: NumberedRecord<HostRecord>; matchedName: string; isExact: boolean }> {
    const query = nameQuery(name, (text) => text);
    if (query === null) return [];
    const found = this.matching(hostKind, query, HOSTS_MAX).flatMap((host) => {
      const match = matchingName(host.record, name);
      return match === null ? [] : [{ host, ...match }];
    });
    const exact = found.filter(({ isExact }) => isExact);
    return exact.length > 0 ? exact : found;
  }

  /** One draft per MAC address of a host; one without a MAC address if it has none. */
  private addHost(host: NumberedRecord<HostRecord>, identity: Identity): void {
    const addresses = this.noteLimit(this.records.childrenOf(ipAddressKind, host.n, CHILDREN_MAX), CHILDREN_MAX);
    const interfaces = this.interfacesOf(host);
    const parts = [...addresses.map(({ record }) => record), ...interfaces];
    const macs = new Set(parts.map((part) => part.mac_address ?? null));
    if (macs.size > 1) macs.delete(null);
    if (macs.size === 0) macs.add(null);
    for (const mac of macs) {
      const draft = this.draft(host, mac);
      draft?.identities.push(identity);
      for (const entry of interfaces) {
        if (mac !== null && entry.mac_address !== mac) continue;
        draft?.interfaces.set(entry.id, entry);
        if (mac !== null) draft?.identities.push({ kind: "InterfaceMac", record: portRef(entry) });
      }
      const own = interfaces.filter((entry) => draft?.interfaces.has(entry.id));
      const assigned = new Set(own.map((entry) => entry.ip_address_id));
      for (const address of addresses.filter(({ record }) => record.mac_address === mac || assigned.has(record.id))) {
        if (mac !== null && address.record.mac_address === mac)
          draft?.identities.push({ kind: "AddressMac", record: addressRef(address.record) });
        setAddress(draft, address);
      }
      // An address without a MAC address may belong to any of them.
      if (draft?.address === null)
        for (const address of addresses) if (address.record.mac_address === null) setAddress(draft, address);
    }
  }

  /**
   * Ports on which a device announces this name. Assigned to its host, otherwise to the network's drafts, otherwise to
   * an unknown device.
   * @param mac an announced MAC address
   */
  private *addAnnouncements(
    query: string | null,
    mac: string | null,
    announcedNameOf: (port: IfEntryRecord) => string,
  ): Generator<void> {
    if (query === null) return;
    const ports = this.matching(ifEntryKind, query, LINKS_MAX);
    const ends = farEnds(this.records, ports);
    yield;
    for (const port of ports) {
      const { network_id: networkId, id } = port.record;
      const matchedName = announcedNameOf(port.record);
      const host = ends.get(id)?.host ?? null;
      const isOwn = (draft: LocationDraft) =>
        draft.networkId === networkId && (host === null || draft.host?.record.id === host.record.id);
      if (![...this.drafts.values()].some(isOwn)) {
        const identity: Identity = { kind: "Announced", record: portRef(port.record), matchedName };
        if (host === null) this.unknown(networkId, mac).identities.push(identity);
        else if (mac === null) this.addHost(host, identity);
        else this.draft(host, mac)?.identities.push(identity);
      }
      const own = [...this.drafts.values()].filter(isOwn);
      for (const draft of own)
        draft.announcements.push({ port, matchedName, isExact: mac !== null || own.length === 1 });
    }
  }

  private *addEntries(): Generator<void> {
    const byMac = Map.groupBy(this.drafts.values(), ({ mac }) => mac);
    for (const macs of inBatches([...byMac.keys()].filter((mac) => mac !== null))) {
      for (const row of this.matching(fdbEntryKind, macs.map(exactTerm).join(" OR "))) {
        for (const draft of byMac.get(row.record.mac_address) ?? [])
          if (draft.networkId === row.record.network_id) draft.entries.push(row);
      }
      yield;
    }
  }

  /** Ports whose neighbor is a draft's host or interface. */
  private *addLinks(): Generator<void> {
    const wanted = new Map<string, LocationDraft[]>();
    for (const draft of this.drafts.values()) {
      for (const id of draft.host === null ? [] : [draft.host.record.id, ...draft.interfaces.keys()])
        wanted.set(id, [...(wanted.get(id) ?? []), draft]);
    }
    for (const ids of inBatches([...wanted.keys()])) {
      const query = ids.map((id) => exactTerm(neighborEntry(id))).join(" OR ");
      for (const port of this.matching(ifEntryKind, query, LINKS_MAX)) {
        const { neighbor } = port.record;
        for (const draft of wanted.get(neighbor?.id ?? "") ?? [])
          draft.announcements.push({ port, matchedName: null, isExact: neighbor?.type === "IfEntry" });
      }
      yield;
    }
  }

  /** Drops a host's unseen MAC addresses if one was seen; otherwise keeps only one. */
  private dropUnplaced(): void {
    for (const [host, drafts] of Map.groupBy(this.drafts, ([, draft]) => draft.host)) {
      if (host === null) continue;
      const placed = drafts.filter(([, draft]) => isPlaced(draft));
      const retained = new Set(
        placed.length > 0 ? placed : [drafts.sort(([, left], [, right]) => positionOf(left) - positionOf(right))[0]],
      );
      for (const draft of drafts) if (!retained.has(draft)) this.drafts.delete(draft[0]);
    }
  }

  private interfacesOf(host: NumberedRecord<HostRecord>): IfEntryRecord[] {
    const entries = this.records.childrenOf(ifEntryKind, host.n, CHILDREN_MAX);
    return this.noteLimit(entries, CHILDREN_MAX).map(({ record }) => record);
  }

  /** Null if the host is not visible to the caller. */
  private draft(host: NumberedRecord<HostRecord> | undefined, mac: string | null): LocationDraft | null {
    if (host === undefined) return null;
    const key = `${host.record.id} ${mac}`;
    if (this.drafts.size < DRAFTS_MAX || this.drafts.has(key))
      return this.getOrCreate(key, { networkId: host.record.network_id, host, mac });
    this.isTruncated = true;
    return null;
  }

  private unknown(networkId: string, mac: string | null): LocationDraft {
    return this.getOrCreate(`${networkId} ${mac}`, { networkId, host: null, mac });
  }

  private getOrCreate(key: string, identityKey: Pick<LocationDraft, "networkId" | "host" | "mac">): LocationDraft {
    const draft = this.drafts.get(key) ?? {
      ...identityKey,
      address: null,
      identities: [],
      interfaces: new Map(),
      announcements: [],
      entries: [],
    };
    this.drafts.set(key, draft);
    return draft;
  }

  private matching<R extends HostRecord | IfEntryRecord | IpAddressRecord | FdbEntryRecord>(
    kind: Kind<R>,
    query: string,
    limit = MATCHES_MAX,
  ): NumberedRecord<R>[] {
    return this.noteLimit(this.records.matching([kind], query, limit), limit);
  }

  private noteLimit<T>(found: T[], limit: number): T[] {
    if (found.length >= limit) this.isTruncated = true;
    return found;
  }
}

export function hostRef({ id, name, valid_from }: HostRecord): RecordRef {
  return { entity_type: "host", id, name, valid_from };
}

export function addressRef({ id, ip_address: name, valid_from }: IpAddressRecord): RecordRef {
  return { entity_type: "ip_address", id, name, valid_from };
}

export function portRef({ id, if_name: name, if_descr: descr, valid_from }: IfEntryRecord): RecordRef {
  return { entity_type: "if_entry", id, name: name ?? descr, valid_from };
}

/** Keeps the address with the lowest position. */
function setAddress(draft: LocationDraft | null, address: NumberedRecord<IpAddressRecord> | undefined): void {
  if (draft === null || address === undefined) return;
  if (draft.address === null || address.record.position < draft.address.record.position) draft.address = address;
}

function positionOf({ address }: LocationDraft): number {
  return address?.record.position ?? Number.MAX_SAFE_INTEGER;
}

function isPlaced({ entries, announcements, interfaces }: LocationDraft): boolean {
  return (
    entries.length > 0 ||
    announcements.some(({ isExact }) => isExact) ||
    [...interfaces.values()].some(({ neighbor }) => neighbor !== undefined)
  );
}
