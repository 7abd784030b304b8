// Candidate lookup for sighted hosts, in the store's indexes and the transaction's own changes. identity.ts decides.

import { isSingleDevice } from "../../base/mac.ts";
import { scopeKey } from "../../db/kind.ts";
import { membersSql } from "../../db/shape.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { componentKind } from "../../resources/components/component.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { ignoredIdentity, ignoredKind } from "../../resources/ignored/ignored.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { ADDRESSES_PER_MAC_MAX, isSharedMac } from "../../resources/ip-addresses/shared-macs.ts";
import type { SignGroup } from "../sightings.ts";
import { areInterfacesUnread } from "./complete-reads.ts";
import { FormerHosts } from "./former-selves.ts";
import { hasConflict, type MatchCandidate } from "./identity.ts";
import { BY_PERSON, wasWrittenByUser } from "./provenance.ts";
import { HostsBySharedSigns } from "./shared-signs.ts";
import { countsAt } from "./sign-counts.ts";
import { type SignCounts, Weights } from "./sign-weights.ts";
import { engineSignOf, isOwnAddress, nameSign, type Signs, serialSigns } from "./signs.ts";

/** A sign shared by more hosts than this is ignored. */
const CANDIDATES_MAX = 64;

/** Signs of a known host, extended as the host is written. */
interface KnownSigns extends Signs {
  serialNumbers: ReadonlySet<string>;
  chassisId: string | null;
  engineId: string | null;
  sysName: string | null;
  readonly macs: Set<string>;
  readonly addresses: Set<string>;
  readonly cards: Map<string, string>;
  readonly managed: Set<string>;
}

/** Known hosts that a sighting may be, and the weights of their signs. */
export interface HostCandidates {
  readonly known: ReadonlyArray<MatchCandidate<string>>;
  readonly weights: Weights;
  /** Number of additional hosts that share a sign. */
  readonly leftOut: number;
}

/** At most CANDIDATES_MAX + 1 each, oldest first. */
interface HostsOfMac {
  readonly interfaces: string[];
  readonly addresses: string[];
  readonly remembered: string[];
}

export class KnownHosts {
  private readonly tx: WriteTransaction;
  private readonly networkId: string;
  private readonly networkN: number;
  private readonly counts: () => SignCounts;
  private readonly signs = new Map<string, KnownSigns>();
  private readonly losers = new Set<string>();
  private readonly shared = new Map<string, boolean>();
  private readonly formerHosts: FormerHosts;
  /** Addresses at which hosts responded as devices in this transaction. */
  private readonly reported = new Map<string, Set<string>>();
  /** Keyed by a sign gained in this transaction: `mac/…`. */
  private readonly changed = new Map<string, Set<string>>();

  /** @param scanId scan whose decisions all use the same counts */
  constructor(tx: WriteTransaction, networkId: string, scanId: string) {
    this.tx = tx;
    this.networkId = networkId;
    this.networkN = tx.recordN(networkId) ?? 0;
    this.counts = () => countsAt(tx, this.networkN, scanId);
    this.formerHosts = new FormerHosts(tx, networkId);
  }

  /**
   * Live hosts that share a sign, at most COMPARED_HOSTS_MAX, oldest first, hosts of this transaction last; then
   * consolidated hosts with a matching former sign. Excludes a host that lost the responding address through a manual
   * edit.
   * @param polledAddress the address that responded: always includes the host that responded there before
   */
  candidates(seen: Signs, polledAddress: string | null = null): HostCandidates {
    const found = new HostsBySharedSigns();
    const sharing = new Map<string, number>();
    const add = (group: SignGroup, value: string, ...lists: readonly string[][]) => {
      const all = new Set<string>();
      const usable = new Set<string>();
      for (const ids of lists) {
        for (const id of ids) {
          all.add(id);
          const survivor = ids.length > CANDIDATES_MAX ? null : this.formerHosts.survivorOf(id);
          if (survivor !== null) usable.add(survivor);
        }
      }
      const { size } = all;
      // A single host is the default.
      if (size > 1) sharing.set(`${group}/${value}`, size > CANDIDATES_MAX ? Number.POSITIVE_INFINITY : size);
      found.add(group, usable);
    };
    for (const serial of seen.serialNumbers) add("serial_numbers", serial, this.withSerial(serial));
    for (const [mac, hosts] of this.hostsByMac(seen.macs)) {
      const others = this.isShared(mac) ? [] : [hosts.addresses, hosts.remembered];
      add("cards", mac, ...[hosts.interfaces, ...others].map((ids) => this.withChanged("mac", mac, ids)));
    }
    const { chassisId, sysName } = seen;
    const engineId = engineSignOf(seen);
    if (chassisId !== null) add("chassis_id", chassisId, this.found("chassis", chassisId, HOST_BY("chassis_id")));
    if (engineId !== null) add("engine_id", engineId, this.found("engine", engineId, HOST_BY("engine_id")));
    if (sysName !== null) add("system_name", sysName, this.found("name", sysName, HOST_BY("sys_name")));
    for (const address of seen.addresses) add("addresses", address, this.holdersOf(address));
    const reporters = polledAddress === null ? [] : this.reportersAt(polledAddress);
    const closest = found.closest();
    const ids = new Set([...closest, ...reporters]);
    const isEligible = (id: string) => polledAddress === null || !this.wasTakenFrom(id, polledAddress);
    const known = [...ids].filter(isEligible).flatMap((id): Array<MatchCandidate<string>> => {
      const signs = this.signsOf(id);
      return signs === null ? [] : [{ id, signs, reportedThere: reporters.includes(id) }];
    });
    for (const { hostId: id, signs } of this.formerHosts.sharingSign(seen).filter(({ hostId }) => isEligible(hostId))) {
      const own = this.signsOf(id);
      // An address that the host has lost may belong to any host.
      const addresses = new Set([...signs.addresses].filter((address) => own?.addresses.has(address) === true));
      known.push({ id, signs: { ...signs, addresses }, reportedThere: reporters.includes(id), isFormerHost: true });
    }
    const weights = new Weights(this.counts(), (group, value) => sharing.get(`${group}/${value}`) ?? 1);
    return { known, weights, leftOut: found.size - closest.length };
  }

  /** True if other hosts were consolidated into this one. */
  isConsolidated(id: string): boolean {
    return this.formerHosts.formerNsOf(id).length > 0;
  }

  /** True if the device reporting at this address of the host has the host's current signs. */
  reportsCurrentSigns(id: string, address: string): boolean {
    const formerSigns = this.formerHosts.signsOf(id).filter(({ addresses }) => addresses.has(address));
    const own = this.signsOf(id);
    return own !== null && (formerSigns.length === 0 || formerSigns.some((former) => !hasConflict(former, own)));
  }

  /** True if a user moved the address from this host to another, by a split or by deleting and re-entering it. */
  wasTakenFrom(id: string, address: string): boolean {
    const others = this.holdersOf(address).filter((holder) => holder !== id);
    if (others.length === 0) return false;
    const identity = ignoredIdentity("ip_address", `${id}/${address}`);
    if (this.tx.findByIdentity(ignoredKind, identity) !== null) return true;
    return others.some((holder) => this.wasEnteredAt(holder, address)) && this.wasDeletedByPerson(id, address);
  }

  private wasEnteredAt(id: string, address: string): boolean {
    const record = this.tx.findByIdentity(ipAddressKind, `${id}/${address}`);
    return record !== null && record.first_discovery_id === null && wasWrittenByUser(this.tx, record.id);
  }

  private wasDeletedByPerson(id: string, address: string): boolean {
    const scope = scopeKey(this.tx.recordN(id) ?? 0, ipAddressKind);
    return this.tx.db.$client.query(DELETED_BY_PERSON).get(scope, address) !== null;
  }

  /** Returns the host that last reported itself at an address. */
  reportersAt(polledAddress: string): string[] {
    const rows = this.tx.db.$client.query(BY_REPORT).values(this.networkN, polledAddress) as Array<[string]>;
    return rows.map(([id]) => id);
  }

  atAddress(address: string): string[] {
    return this.holdersOf(address).filter((id) => this.signsOf(id)?.addresses.has(address) === true);
  }

  /**
   * Returns possible holders, unverified. For an address that every machine has: hosts seen there by this appliance.
   */
  holdersOf(address: string): string[] {
    return this.found("address", address, isOwnAddress(address) ? BY_ADDRESS : BY_COMMON_ADDRESS);
  }

  atMac(mac: string): string[] {
    const ids = new Set(this.found("mac", mac, INTERFACE_BY_MAC));
    const others = this.isShared(mac) ? [] : [ADDRESS_BY_MAC, BY_REMEMBERED_MAC];
    for (const sql of others) for (const id of this.found("mac", mac, sql)) ids.add(id);
    return [...ids]
      .flatMap((id) => this.formerHosts.survivorOf(id) ?? [])
      .filter((id) => this.signsOf(id)?.macs.has(mac) === true);
  }

  /** Returns null for a deleted host. */
  signsOf(id: string): Signs | null {
    const known = this.signs.get(id);
    if (known !== undefined) return known;
    const host = this.tx.find(hostKind, id);
    if (host === null || host.network_id !== this.networkId) return null;
    const addresses = this.tx.children(ipAddressKind, "host_n", id);
    const own = this.tx.children(ifEntryKind, "host_n", id).flatMap((each) => each.mac_address ?? []);
    const remembered = [this.tx.recordN(id) ?? 0, ...this.formerHosts.formerNsOf(id)].flatMap(
      (hostN) => this.tx.db.$client.query(REMEMBERED_MACS).values(this.networkN, hostN) as Array<[string]>,
    );
    const seen = [...addresses.flatMap((each) => each.mac_address ?? []), ...remembered.map(([mac]) => mac)];
    const signs: KnownSigns = {
      ...this.ownSigns(host),
      macs: new Set([
        ...own.filter(isSingleDevice),
        ...seen.filter((mac) => isSingleDevice(mac) && !this.isShared(mac)),
      ]),
      addresses: new Set(addresses.filter((each) => this.mayHave(id, each)).map((each) => each.ip_address)),
      cards: new Map(
        addresses.flatMap(({ ip_address, mac_address: mac }) => (mac === null ? [] : [[ip_address, mac] as const])),
      ),
      managed: this.reportedAt(id),
      unread: this.unreadOf(id),
    };
    this.signs.set(id, signs);
    return signs;
  }

  /** False for an address that every machine has, and for one that is kept although another host has it now. */
  private mayHave(id: string, { ip_address, stale_since }: IpAddressRecord): boolean {
    if (stale_since === undefined && isOwnAddress(ip_address)) return true;
    const holders = this.holdersOf(ip_address);
    const isPresent = (holder: string) =>
      this.tx.findByIdentity(ipAddressKind, `${holder}/${ip_address}`)?.stale_since === undefined;
    const isElsewhere = stale_since !== undefined && holders.some((each) => each !== id && isPresent(each));
    return holders.includes(id) && !isElsewhere;
  }

  /** Records signs that a host gained in this transaction. */
  recordSigns(
    id: string,
    gained: { readonly host?: HostRecord; readonly mac?: string | null; readonly address?: string },
  ): void {
    const { host, mac, address } = gained;
    const signs = this.signs.get(id);
    if (host !== undefined) {
      const own = this.ownSigns(host);
      if (signs !== undefined) Object.assign(signs, own);
      for (const serial of own.serialNumbers) this.put("serial", serial, id);
      if (own.chassisId !== null) this.put("chassis", own.chassisId, id);
      if (own.engineId !== null) this.put("engine", own.engineId, id);
      if (own.sysName !== null) this.put("name", own.sysName, id);
    }
    if (typeof mac === "string" && isSingleDevice(mac)) {
      signs?.macs.add(mac);
      this.put("mac", mac, id);
    }
    if (address !== undefined && isOwnAddress(address)) {
      signs?.addresses.add(address);
      this.put("address", address, id);
    }
  }

  /** Records where a host was seen: the address counts as its own even if every machine has it. */
  recordSeenAt(id: string, address: string): void {
    this.signs.get(id)?.addresses.add(address);
    this.put("address", address, id);
  }

  /** Records where a host responded as a device. */
  recordReportedAt(id: string, address: string): void {
    this.signs.get(id)?.managed.add(address);
    const addresses = this.reported.get(id);
    if (addresses === undefined) this.reported.set(id, new Set([address]));
    else addresses.add(address);
  }

  /** Records a MAC address shared by many hosts. */
  markShared(mac: string): void {
    this.shared.set(mac, true);
  }

  isShared(mac: string): boolean {
    let isShared = this.shared.get(mac);
    if (isShared === undefined) this.shared.set(mac, (isShared = isSharedMac(this.tx, this.networkN, mac)));
    return isShared;
  }

  isRemembered(id: string, mac: string): boolean {
    return (this.tx.db.$client.query(BY_REMEMBERED_MAC).values(this.networkN, mac) as Array<[string]>).some(
      ([host]) => host === id,
    );
  }

  /** Records that a host lost an address or was deleted. */
  forget(id: string): void {
    this.signs.delete(id);
    this.losers.add(id);
  }

  hasLost(id: string): boolean {
    return this.losers.has(id);
  }

  /** A single statement for all MAC addresses: one per address would dominate the cost. */
  private hostsByMac(macs: ReadonlySet<string>): Map<string, HostsOfMac> {
    if (macs.size === 0) return new Map();
    const list = JSON.stringify([...macs]);
    const rows = this.tx.db.$client.query(BY_MACS).values(this.networkN, list) as [string, ...(string | null)[]][];
    const idsByList = new Map<string | null, string[]>([[null, []]]);
    const idsOf = (numbers: string | null = null): string[] => {
      let ids = idsByList.get(numbers);
      if (ids === undefined) {
        ids = (numbers ?? "").split(" ").flatMap((n) => this.tx.recordId(Number(n)) ?? []);
        idsByList.set(numbers, ids.sort());
      }
      return ids;
    };
    return new Map(
      rows.map(([mac, ...found]) => {
        const [interfaces, addresses, remembered] = [idsOf(found[0]), idsOf(found[1]), idsOf(found[2])];
        if (!this.shared.has(mac)) this.shared.set(mac, addresses.length > ADDRESSES_PER_MAC_MAX);
        return [mac, { interfaces, addresses, remembered }];
      }),
    );
  }

  private ownSigns(host: HostRecord): Pick<KnownSigns, "serialNumbers" | "chassisId" | "engineId" | "sysName"> {
    const components = this.tx.children(componentKind, "host_n", host.id);
    return {
      serialNumbers: serialSigns([host.serial_number, ...components.map((each) => each.serial_number)]),
      chassisId: host.chassis_id,
      engineId: host.engine_id ?? null,
      sysName: nameSign(host.sys_name),
    };
  }

  private reportedAt(id: string): Set<string> {
    const rows = this.tx.db.$client.query(REPORTED_AT).values(this.tx.recordN(id) ?? 0) as Array<[string]>;
    return new Set([...rows.map(([address]) => address), ...(this.reported.get(id) ?? [])]);
  }

  /** Without components, the serial number may be one of several. */
  private unreadOf(id: string): Set<SignGroup> {
    const unread = new Set<SignGroup>();
    if (this.tx.children(componentKind, "host_n", id).length === 0) unread.add("serial_numbers");
    if (areInterfacesUnread(this.tx, id)) unread.add("cards");
    return unread;
  }

  private withSerial(serial: string): string[] {
    const own = this.tx.db.$client.query(HOST_BY("serial_number")).values(this.networkN, serial) as Array<[string]>;
    const members = this.tx.db.$client.query(BY_COMPONENT).values(this.networkN, serial) as Array<[string]>;
    return this.withChanged("serial", serial, [...new Set([...own, ...members].map(([id]) => id))]);
  }

  private found(sign: string, value: string, sql: string): string[] {
    const rows = this.tx.db.$client.query(sql).values(this.networkN, value) as Array<[string]>;
    const ids = rows.map(([id]) => id);
    return this.withChanged(sign, value, ids);
  }

  private withChanged(sign: string, value: string, stored: string[]): string[] {
    const changed = this.changed.get(`${sign}/${value}`);
    return changed === undefined ? stored : [...stored, ...changed];
  }

  private put(sign: string, value: string, id: string): void {
    const key = `${sign}/${value}`;
    const ids = this.changed.get(key);
    if (ids === undefined) this.changed.set(key, new Set([id]));
    else ids.add(id);
  }
}

/** Signs are compared in lower case; one row beyond the limit reveals an overly common sign. */
const LIMIT = `ORDER BY 1 LIMIT ${CANDIDATES_MAX + 1}`;
/** Must match the expressions of the indexes in the migration. */
const HOST_BY = (field: "serial_number" | "chassis_id" | "engine_id" | "sys_name") =>
  `SELECT r.id FROM hosts h JOIN history_records r ON r.n = h.n
    WHERE h.network_n = +?1 AND ${field.endsWith("_id") ? "" : "lower"}(json_extract('{' || h.members || '}',
    '$.${field}')) = +?2 ORDER BY h.n LIMIT ${CANDIDATES_MAX + 1}`;
const BY_COMPONENT = `SELECT DISTINCT r.id FROM components c JOIN history_records r ON r.n = c.host_n
  WHERE c.network_n = +?1 AND lower(json_extract('{' || c.members || '}', '$.serial_number')) = +?2 ${LIMIT}`;
const INTERFACE_BY_MAC = `SELECT DISTINCT r.id FROM if_entries e JOIN history_records r ON r.n = e.host_n
  WHERE e.mac_address = +?2 AND e.network_n = +?1 ${LIMIT}`;
const ADDRESS_BY_MAC = `SELECT DISTINCT r.id FROM ip_addresses a JOIN history_records r ON r.n = a.host_n
  WHERE a.mac_address = +?2 AND a.network_n = +?1 ${LIMIT}`;
const BY_COMMON_ADDRESS = `SELECT DISTINCT r.id FROM ip_addresses a JOIN history_records r ON r.n = a.host_n
  WHERE a.ip_address = +?2 AND a.network_n = +?1
  AND (EXISTS (SELECT 1 FROM discovery_tellings t WHERE t.network_n = +?1 AND t.ip_address = +?2
    AND t.host_n = a.host_n) OR NOT EXISTS (SELECT 1 FROM if_entries e WHERE e.host_n = a.host_n)) ${LIMIT}`;
const BY_REPORT = `SELECT r.id FROM discovery_tellings t JOIN history_records r ON r.n = t.host_n
    WHERE t.network_n = +?1 AND t.ip_address = +?2`;
const REPORTED_AT = "SELECT ip_address FROM discovery_tellings WHERE host_n = +?1";
const BY_REMEMBERED_MAC = `SELECT r.id FROM discovery_macs m JOIN history_records r ON r.n = m.host_n
    WHERE m.network_n = +?1 AND m.mac_address = +?2`;
/**
 * The record numbers of the three queries above for a list of MAC addresses. CANDIDATES_MAX exceeds
 * ADDRESSES_PER_MAC_MAX, so shared MAC addresses are detected.
 */
const BY_MACS = `SELECT j.value, ${["if_entries", "ip_addresses", "discovery_macs"]
  .map(
    (table) => `(SELECT group_concat(host_n, ' ') FROM (SELECT DISTINCT host_n FROM ${table}
      WHERE mac_address = j.value AND network_n = +?1 LIMIT ${CANDIDATES_MAX + 1}))`,
  )
  .join(", ")} FROM json_each(?2) j`;
const REMEMBERED_MACS = "SELECT mac_address FROM discovery_macs WHERE host_n = +?2 AND network_n = +?1";
/** Addresses that a user took from a host. */
const DELETED_BY_PERSON = `SELECT 1 FROM history_spans s JOIN history_transactions t ON t.sequence = s.died
  WHERE s.scope = +?1 AND ${BY_PERSON} AND ?2 = (SELECT ('{' || ${membersSql(ipAddressKind, "v")} || '}') ->> '$.ip_address'
    FROM history_versions v WHERE v.key < ((s.n << 31) | s.died) ORDER BY v.key DESC LIMIT 1) LIMIT 1`;
const BY_ADDRESS = `SELECT DISTINCT r.id FROM ip_addresses a JOIN history_records r ON r.n = a.host_n
  WHERE a.ip_address = +?2 AND a.network_n = +?1 ${LIMIT}`;
