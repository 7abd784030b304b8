// Candidates for a MAC address, IP address or name, with the records that show their location: the first of two steps
// from a query to facts. Reads through RecordsAt, without judgement.

import { wholeTerm } from "../../db/search-text.ts";
import { type FdbEntryRecord, fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedClue, neighborClue } from "../../resources/if-entries/link-clues.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { Known, RecordsAt } from "../records-at.ts";
import type { Identity, LocateQuestion, RecordRef } from "./facts.ts";
import { announcedName, farEnds, inBatches } from "./far-ends.ts";
import { foldName, nameQuery } from "./names.ts";

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
  readonly host: Known<HostRecord> | null;
  readonly mac: string | null;
  address: Known<IpAddressRecord> | null;
  readonly identities: Identity[];
  readonly interfaces: Map<string, IfEntryRecord>;
  readonly announcements: Announcement[];
  /** Forwarding entries for its MAC address. */
  readonly entries: Known<FdbEntryRecord>[];
}

/** A port whose far end is the draft, with the device of the port. */
interface Announcement {
  readonly port: Known<IfEntryRecord>;
  /** The announced name that matched. */
  readonly called: string | null;
  /** Whether the far end is the interface itself, not only the host. */
  readonly isExact: boolean;
}

interface Drafted {
  readonly drafts: readonly LocationDraft[];
  /** Whether limits truncated the result. */
  readonly isCutShort: boolean;
}

/** Yields between steps of a few milliseconds. */
export function* draftsOf(records: RecordsAt, asked: LocateQuestion): Generator<void, Drafted> {
  const drafting = new Drafting(records);
  if (asked.by === "mac") yield* drafting.byMac(asked.value);
  else if (asked.by === "ip") yield* drafting.byAddress(asked.value);
  else yield* drafting.byName(asked.value);
  return drafting.result();
}

class Drafting {
  private readonly records: RecordsAt;
  private readonly drafts = new Map<string, LocationDraft>();
  private isCutShort = false;

  constructor(records: RecordsAt) {
    this.records = records;
  }

  result(): Drafted {
    return { drafts: [...this.drafts.values()], isCutShort: this.isCutShort };
  }

  *byMac(mac: string): Generator<void> {
    const term = wholeTerm(mac);
    const addresses = this.cut(this.records.matching([ipAddressKind], term, MATCHES_MAX), MATCHES_MAX).filter(
      ({ record }) => record.mac_address === mac,
    );
    const interfaces = this.cut(this.records.matching([ifEntryKind], term, MATCHES_MAX), MATCHES_MAX).filter(
      ({ record }) => record.mac_address === mac,
    );
    const entries = this.cut(this.records.matching([fdbEntryKind], term, MATCHES_MAX), MATCHES_MAX);
    const hosts = this.records.byIds(
      hostKind,
      [...addresses, ...interfaces].map(({ record }) => record.host_id),
    );
    const assigned = this.records.byIds(
      ipAddressKind,
      interfaces.map(({ record }) => record.ip_address_id),
    );
    for (const address of addresses) {
      const draft = this.draft(hosts.get(address.record.host_id), mac);
      draft?.identities.push({ kind: "AddressMac", record: addressRef(address.record) });
      takeAddress(draft, address);
    }
    for (const { record } of interfaces) {
      const draft = this.draft(hosts.get(record.host_id), mac);
      draft?.identities.push({ kind: "InterfaceMac", record: portRef(record) });
      draft?.interfaces.set(record.id, record);
      takeAddress(draft, assigned.get(record.ip_address_id ?? ""));
    }
    yield;
    yield* this.takeAnnouncements(wholeTerm(announcedClue(mac)), mac, () => mac);
    for (const [networkId, rows] of Map.groupBy(entries, ({ record }) => record.network_id)) {
      const own = [...this.drafts.values()].filter((draft) => draft.networkId === networkId);
      // Forwarding entries are only meaningful within their network.
      for (const draft of own.length > 0 ? own : [this.unknown(networkId, mac)]) draft.entries.push(...rows);
    }
    yield* this.takeLinks();
  }

  *byAddress(ip: string): Generator<void> {
    const addresses = this.cut(this.records.matching([ipAddressKind], wholeTerm(ip), MATCHES_MAX), MATCHES_MAX).filter(
      ({ record }) => record.ip_address === ip,
    );
    const hosts = this.records.byIds(
      hostKind,
      addresses.map(({ record }) => record.host_id),
    );
    for (const address of addresses) {
      const host = hosts.get(address.record.host_id);
      if (host === undefined) continue;
      const interfaces = this.interfacesOf(host);
      const assigned = interfaces.find((entry) => entry.ip_address_id === address.record.id);
      const mac = address.record.mac_address ?? assigned?.mac_address ?? null;
      const draft = this.draft(host, mac);
      draft?.identities.push({ kind: "Address", record: addressRef(address.record) });
      if (assigned !== undefined)
        draft?.identities.push({
          kind: "AddressInterface",
          record: portRef(assigned),
          address: addressRef(address.record),
        });
      takeAddress(draft, address);
      for (const entry of interfaces)
        if (entry === assigned || (mac !== null && entry.mac_address === mac)) draft?.interfaces.set(entry.id, entry);
      yield;
    }
    yield* this.takeAnnouncements(wholeTerm(announcedClue(ip)), null, () => ip);
    yield* this.takeEntries();
    yield* this.takeLinks();
  }

  *byName(name: string): Generator<void> {
    for (const { host, called, isExact } of this.hostsCalled(name)) {
      this.takeHost(host, { kind: isExact ? "Name" : "ShortName", record: hostRef(host.record), called });
      yield;
    }
    yield* this.takeAnnouncements(nameQuery(name, announcedClue), null, (entry) => announcedName(entry) ?? name);
    yield* this.takeEntries();
    yield* this.takeLinks();
    this.dropUnplaced();
  }

  /** By exact name; otherwise hosts whose name starts with it up to a dot. */
  private hostsCalled(name: string): Array<{ host: Known<HostRecord>; called: string; isExact: boolean }> {
    const query = nameQuery(name, (text) => text);
    if (query === null) return [];
    const wanted = foldName(name);
    const found = this.cut(this.records.matching([hostKind], query, HOSTS_MAX), HOSTS_MAX).flatMap((host) => {
      const names = [host.record.name, host.record.hostname, host.record.sys_name].filter((each) => each !== null);
      const exact = names.find((each) => foldName(each) === wanted);
      const called = exact ?? names.find((each) => foldName(each).startsWith(`${wanted}.`));
      return called === undefined ? [] : [{ host, called, isExact: exact !== undefined }];
    });
    const exact = found.filter(({ isExact }) => isExact);
    return exact.length > 0 ? exact : found;
  }

  /** One draft per MAC address of a host; one without a MAC address if it has none. */
  private takeHost(host: Known<HostRecord>, identity: Identity): void {
    const addresses = this.cut(this.records.livingIn(ipAddressKind, host.n, CHILDREN_MAX), CHILDREN_MAX);
    const interfaces = this.interfacesOf(host);
    const macs = new Set(
      [...addresses, ...interfaces.map((record) => ({ record }))].map(({ record }) => record.mac_address ?? null),
    );
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
      const assigned = new Set(
        interfaces.filter((entry) => draft?.interfaces.has(entry.id)).map((entry) => entry.ip_address_id),
      );
      for (const address of addresses.filter(({ record }) => record.mac_address === mac || assigned.has(record.id))) {
        if (mac !== null && address.record.mac_address === mac)
          draft?.identities.push({ kind: "AddressMac", record: addressRef(address.record) });
        takeAddress(draft, address);
      }
      // An address without a MAC address may belong to any of them.
      if (draft?.address === null)
        for (const address of addresses) if (address.record.mac_address === null) takeAddress(draft, address);
    }
  }

  /**
   * Ports on which a device announces this name. Assigned to its host, otherwise to the network's drafts, otherwise to
   * an unknown device.
   * @param mac an announced MAC address
   */
  private *takeAnnouncements(
    query: string | null,
    mac: string | null,
    calledAt: (port: IfEntryRecord) => string,
  ): Generator<void> {
    if (query === null) return;
    const ports = this.cut(this.records.matching([ifEntryKind], query, LINKS_MAX), LINKS_MAX);
    const ends = farEnds(
      this.records,
      ports.map(({ record }) => record),
    );
    yield;
    for (const port of ports) {
      const { network_id: networkId, id } = port.record;
      const called = calledAt(port.record);
      const host = ends.get(id)?.host ?? null;
      const isOwn = (draft: LocationDraft) =>
        draft.networkId === networkId && (host === null || draft.host?.record.id === host.record.id);
      if (![...this.drafts.values()].some(isOwn)) {
        const identity: Identity = { kind: "Announced", record: portRef(port.record), called };
        if (host === null) this.unknown(networkId, mac).identities.push(identity);
        else if (mac === null) this.takeHost(host, identity);
        else this.draft(host, mac)?.identities.push(identity);
      }
      const own = [...this.drafts.values()].filter(isOwn);
      for (const draft of own) draft.announcements.push({ port, called, isExact: mac !== null || own.length === 1 });
    }
  }

  private *takeEntries(): Generator<void> {
    const byMac = Map.groupBy(
      [...this.drafts.values()].filter(({ mac }) => mac !== null),
      ({ mac }) => mac as string,
    );
    for (const macs of inBatches([...byMac.keys()])) {
      for (const row of this.cut(
        this.records.matching([fdbEntryKind], macs.map(wholeTerm).join(" OR "), MATCHES_MAX),
        MATCHES_MAX,
      )) {
        for (const draft of byMac.get(row.record.mac_address) ?? [])
          if (draft.networkId === row.record.network_id) draft.entries.push(row);
      }
      yield;
    }
  }

  /** Ports whose neighbor is a draft's host or interface. */
  private *takeLinks(): Generator<void> {
    const wanted = new Map<string, LocationDraft[]>();
    for (const draft of this.drafts.values()) {
      for (const id of draft.host === null ? [] : [draft.host.record.id, ...draft.interfaces.keys()])
        wanted.set(id, [...(wanted.get(id) ?? []), draft]);
    }
    for (const ids of inBatches([...wanted.keys()])) {
      for (const port of this.cut(
        this.records.matching([ifEntryKind], ids.map((id) => wholeTerm(neighborClue(id))).join(" OR "), LINKS_MAX),
        LINKS_MAX,
      )) {
        const { neighbor } = port.record;
        for (const draft of wanted.get(neighbor?.id ?? "") ?? [])
          draft.announcements.push({ port, called: null, isExact: neighbor?.type === "IfEntry" });
      }
      yield;
    }
  }

  /** Drops a host's unseen MAC addresses if one was seen; otherwise keeps only one. */
  private dropUnplaced(): void {
    for (const [, drafts] of Map.groupBy(
      [...this.drafts].filter(([, { host }]) => host !== null),
      ([, { host }]) => host,
    )) {
      const placed = drafts.filter(([, draft]) => isPlaced(draft));
      const kept = new Set(
        placed.length > 0 ? placed : [drafts.sort(([, one], [, other]) => positionOf(one) - positionOf(other))[0]],
      );
      for (const draft of drafts) if (!kept.has(draft)) this.drafts.delete(draft[0]);
    }
  }

  private interfacesOf(host: Known<HostRecord>): IfEntryRecord[] {
    return this.cut(this.records.livingIn(ifEntryKind, host.n, CHILDREN_MAX), CHILDREN_MAX).map(({ record }) => record);
  }

  /** Null if the host is not visible to the caller. */
  private draft(host: Known<HostRecord> | undefined, mac: string | null): LocationDraft | null {
    if (host === undefined) return null;
    const key = `${host.record.id} ${mac}`;
    if (this.drafts.size < DRAFTS_MAX || this.drafts.has(key))
      return this.drafted(key, { networkId: host.record.network_id, host, mac });
    this.isCutShort = true;
    return null;
  }

  private unknown(networkId: string, mac: string | null): LocationDraft {
    return this.drafted(`${networkId} ${mac}`, { networkId, host: null, mac });
  }

  private drafted(key: string, of: Pick<LocationDraft, "networkId" | "host" | "mac">): LocationDraft {
    const draft = this.drafts.get(key) ?? {
      ...of,
      address: null,
      identities: [],
      interfaces: new Map(),
      announcements: [],
      entries: [],
    };
    this.drafts.set(key, draft);
    return draft;
  }

  private cut<T>(found: T[], limit: number): T[] {
    if (found.length >= limit) this.isCutShort = true;
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
function takeAddress(draft: LocationDraft | null, address: Known<IpAddressRecord> | undefined): void {
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
