// Far ends of interface entries: their hosts, and the source of each. Reads through RecordsAt.

import { parseMac } from "../../base/mac.ts";
import { foldCase } from "../../base/text.ts";
import { wholeTerm } from "../../db/search-text.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedClue, neighborClue } from "../../resources/if-entries/link-clues.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { Known, RecordsAt } from "../records-at.ts";
import type { LinkSource } from "./facts.ts";
import { exactNameQuery, foldName } from "./names.ts";

/** Maximum names or addresses per full-text query. */
const TERMS_MAX = 250;
/** Results per query. */
const MATCHES_MAX = 1_000;

export interface FarEnd {
  readonly host: Known<HostRecord>;
  readonly source: LinkSource;
}

/**
 * Far ends by interface entry id. In order of precedence: the resolved neighbor; the host with an interface whose
 * neighbor is this one; the only host of the network with the LLDP or CDP name; the host with the LLDP chassis id, as a
 * MAC address or as its own chassis id. Chassis ids are not unique in practice, so names come first. An entry without
 * announcements leads to the only host that announces its device and this port. Ambiguous matches are discarded.
 */
export function farEnds(records: RecordsAt, ports: readonly IfEntryRecord[]): Map<string, FarEnd> {
  const found = resolved(records, ports);
  const unresolved = () => ports.filter((port) => port.neighbor === undefined && !found.has(port.id));
  const take = (port: IfEntryRecord, candidates: readonly FarEnd[]) => {
    const alike = new Map(
      candidates
        .filter(({ host }) => host.record.network_id === port.network_id)
        .map((end) => [end.host.record.id, end]),
    );
    const [only] = alike.values();
    // Ignore a device that announces itself to itself.
    if (alike.size === 1 && only !== undefined && only.host.record.id !== port.host_id) found.set(port.id, only);
  };
  const announcing = (port: IfEntryRecord, hosts: readonly Known<HostRecord>[] | undefined) =>
    (hosts ?? []).map((host) => ({ host, source: linkSource(port) }));
  const reverse = pointingAt(records, unresolved());
  for (const port of unresolved()) take(port, reverse.get(port.id) ?? []);
  const byName = hostsByName(records, unresolved().map(systemName));
  for (const port of unresolved()) take(port, announcing(port, byName.get(foldName(systemName(port) ?? ""))));
  const byMac = hostsByMac(records, unresolved().map(chassisMac));
  for (const port of unresolved()) take(port, announcing(port, byMac.get(chassisMac(port) ?? "")));
  const devices = [
    ...records
      .byIds(
        hostKind,
        ports.map(({ host_id: id }) => id),
      )
      .values(),
  ];
  const byChassis = Map.groupBy(devices, ({ record }) => foldChassis(record.chassis_id ?? ""));
  for (const port of unresolved())
    if (port.lldp_chassis_id !== undefined)
      take(port, announcing(port, byChassis.get(foldChassis(port.lldp_chassis_id.value))));
  const naming = namingBack(
    records,
    unresolved().filter((port) => announcedName(port) === null),
  );
  for (const port of unresolved()) take(port, naming.get(port.id) ?? []);
  return found;
}

export function linkSource(entry: IfEntryRecord): LinkSource {
  if (
    entry.lldp_chassis_id !== undefined ||
    entry.lldp_port_id !== undefined ||
    entry.lldp_sys_name !== undefined ||
    entry.lldp_mgmt_addr !== undefined
  )
    return "Lldp";
  return entry.cdp_device_id !== undefined || entry.cdp_address !== undefined || entry.cdp_port_id !== undefined
    ? "Cdp"
    : "Entered";
}

/** The name, otherwise any other announced id; null if nothing is announced. */
export function announcedName(entry: IfEntryRecord): string | null {
  return systemName(entry) ?? entry.lldp_chassis_id?.value ?? entry.lldp_mgmt_addr ?? entry.cdp_address ?? null;
}

export function inBatches<T>(items: readonly T[]): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < items.length; start += TERMS_MAX) batches.push(items.slice(start, start + TERMS_MAX));
  return batches;
}

function resolved(records: RecordsAt, ports: readonly IfEntryRecord[]): Map<string, FarEnd> {
  const farPorts = records.byIds(
    ifEntryKind,
    ports.map(({ neighbor }) => (neighbor?.type === "IfEntry" ? neighbor.id : null)),
  );
  const hostId = ({ neighbor }: IfEntryRecord) =>
    neighbor?.type === "Host" ? neighbor.id : (farPorts.get(neighbor?.id ?? "")?.record.host_id ?? null);
  const hosts = records.byIds(hostKind, ports.map(hostId));
  return new Map(
    ports.flatMap((port) => {
      const host = hosts.get(hostId(port) ?? "");
      return host === undefined ? [] : [[port.id, { host, source: linkSource(port) }] as const];
    }),
  );
}

/** Links are often known at one end only. */
function pointingAt(records: RecordsAt, ports: readonly IfEntryRecord[]): Map<string, FarEnd[]> {
  const found = inBatches(ports).flatMap((batch) =>
    records.matching([ifEntryKind], batch.map(({ id }) => wholeTerm(neighborClue(id))).join(" OR "), MATCHES_MAX),
  );
  const hosts = records.byIds(
    hostKind,
    found.map(({ record }) => record.host_id),
  );
  const pointing = Map.groupBy(found, ({ record }) => record.neighbor?.id ?? "");
  return new Map(
    [...pointing].map(([id, entries]) => [
      id,
      entries.flatMap(({ record }) => {
        const host = hosts.get(record.host_id);
        return host === undefined ? [] : [{ host, source: linkSource(record) }];
      }),
    ]),
  );
}

/** Entries that announce an entry's device and port as their far end. */
function namingBack(records: RecordsAt, ports: readonly IfEntryRecord[]): Map<string, FarEnd[]> {
  const devices = records.byIds(
    hostKind,
    ports.map(({ host_id: id }) => id),
  );
  const queries = new Set(
    [...devices.values()]
      .flatMap(({ record }) => [...namesOf(record), ...(record.chassis_id === null ? [] : [record.chassis_id])])
      .map((name) => wholeTerm(announcedClue(name))),
  );
  const told = inBatches([...queries]).flatMap((batch) =>
    records.matching([ifEntryKind], batch.join(" OR "), MATCHES_MAX),
  );
  const found = Map.groupBy(
    ports.flatMap((port) => {
      const device = devices.get(port.host_id)?.record;
      return device === undefined
        ? []
        : told
            .filter(
              ({ record }) => record.host_id !== port.host_id && namesPort(record, port) && namesHost(record, device),
            )
            .map(({ record }) => ({ port, record }));
    }),
    ({ port }) => port,
  );
  // Another host of the same name may own the port.
  const called = hostsByName(
    records,
    [...found.values()].flatMap((pairs) => pairs.map(({ record }) => systemName(record))),
  );
  const hosts = records.byIds(
    hostKind,
    [...found.values()].flatMap((pairs) => pairs.map(({ record }) => record.host_id)),
  );
  const isMeant = ({ port, record }: { port: IfEntryRecord; record: IfEntryRecord }) =>
    !(called.get(foldName(systemName(record) ?? "")) ?? []).some(
      (host) => host.record.network_id === port.network_id && host.record.id !== port.host_id,
    );
  return new Map(
    [...found].map(([port, pairs]) => [
      port.id,
      pairs.filter(isMeant).flatMap(({ record }) => {
        const host = hosts.get(record.host_id);
        return host === undefined ? [] : [{ host, source: linkSource(record) }];
      }),
    ]),
  );
}

function namesHost(entry: IfEntryRecord, host: HostRecord): boolean {
  const name = systemName(entry);
  const chassis = entry.lldp_chassis_id?.value;
  if (chassis !== undefined && host.chassis_id !== null) return foldChassis(chassis) === foldChassis(host.chassis_id);
  return name !== null && namesOf(host).has(foldName(name));
}

/** Vendors differ in the port id they announce: name, description, MAC address or number. */
function namesPort(entry: IfEntryRecord, port: IfEntryRecord): boolean {
  const told = entry.lldp_port_id?.value ?? entry.cdp_port_id;
  if (told === undefined || entry.network_id !== port.network_id || entry.neighbor !== undefined) return false;
  if (entry.lldp_port_id?.subtype === "LocallyAssigned" && told === String(port.if_index)) return true;
  return (
    [port.if_name, port.if_descr].some((own) => own !== undefined && foldCase(own) === foldCase(told)) ||
    (port.mac_address !== undefined && parseMac(told) === port.mac_address)
  );
}

/** A host's names, folded. */
function namesOf({ name, hostname, sys_name: sysName }: HostRecord): Set<string> {
  return new Set([name, hostname, sysName].filter((text) => text !== null).map(foldName));
}

function foldChassis(id: string): string {
  return parseMac(id) ?? foldCase(id.trim());
}

function hostsByName(records: RecordsAt, names: readonly (string | null)[]): Map<string, Known<HostRecord>[]> {
  const queries = [...new Set(names.filter((name) => name !== null).map(foldName))]
    .map(exactNameQuery)
    .filter((query) => query !== null);
  const found = new Map<string, Known<HostRecord>[]>();
  for (const batch of inBatches(queries)) {
    for (const host of records.matching([hostKind], batch.map((query) => `(${query})`).join(" OR "), MATCHES_MAX)) {
      for (const own of namesOf(host.record)) found.set(own, [...(found.get(own) ?? []), host]);
    }
  }
  return found;
}

/** Hosts with an address or interface of these MAC addresses, by MAC address. */
export function hostsByMac(records: RecordsAt, macs: readonly (string | null)[]): Map<string, Known<HostRecord>[]> {
  const owners: Array<{ readonly mac: string; readonly hostId: string }> = [];
  for (const batch of inBatches([...new Set(macs.filter((mac) => mac !== null))])) {
    const query = batch.map(wholeTerm).join(" OR ");
    const found: ReadonlyArray<Known<IpAddressRecord> | Known<IfEntryRecord>> = [
      ...records.matching([ipAddressKind], query, MATCHES_MAX),
      ...records.matching([ifEntryKind], query, MATCHES_MAX),
    ];
    for (const { record } of found)
      if (typeof record.mac_address === "string") owners.push({ mac: record.mac_address, hostId: record.host_id });
  }
  const hosts = records.byIds(
    hostKind,
    owners.map(({ hostId }) => hostId),
  );
  return new Map(
    [...Map.groupBy(owners, ({ mac }) => mac)].map(([mac, list]) => [
      mac,
      list.flatMap(({ hostId }) => hosts.get(hostId) ?? []),
    ]),
  );
}

/** Announced name of the far end; null if none. */
export function systemName(entry: IfEntryRecord): string | null {
  return entry.lldp_sys_name ?? entry.cdp_device_id ?? null;
}

function chassisMac(entry: IfEntryRecord): string | null {
  return entry.lldp_chassis_id === undefined ? null : parseMac(entry.lldp_chassis_id.value);
}
