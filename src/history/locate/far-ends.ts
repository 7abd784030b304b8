// Far ends of interface entries: their hosts, and the source of each. Reads through RecordsAt.

import { parseMac } from "../../base/mac.ts";
import { foldCase } from "../../base/text.ts";
import type { Kind } from "../../db/kind.ts";
import { exactTerm } from "../../db/search-text.ts";
import { isFactoryName } from "../../resources/hosts/factory-names.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedEntry, neighborEntry } from "../../resources/if-entries/link-index-entries.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import type { LinkSource } from "./facts.ts";
import { exactNameQuery, foldName } from "./names.ts";

/** Maximum names or addresses per full-text query. */
const TERMS_MAX = 250;
/** Results per query. */
const MATCHES_MAX = 1_000;

export interface FarEnd {
  readonly host: NumberedRecord<HostRecord>;
  readonly source: LinkSource;
}

/** The hosts of parts, by id. */
export function hostsOf(
  records: RecordsAt,
  parts: readonly NumberedRecord<IfEntryRecord | IpAddressRecord>[],
): Map<string, NumberedRecord<HostRecord>> {
  const ids = parts.map(({ record }) => record.host_id);
  return records.byIds(hostKind, ids);
}

/** Records of a kind that match one of the full-text queries. */
export function matchingAny<R extends HostRecord | IfEntryRecord | IpAddressRecord>(
  records: RecordsAt,
  kind: Kind<R>,
  queries: readonly string[],
): NumberedRecord<R>[] {
  return inBatches(queries).flatMap((batch) => records.matching([kind], batch.join(" OR "), MATCHES_MAX));
}

/**
 * Far ends by interface entry id. In order of precedence: the resolved neighbor; the host with an interface whose
 * neighbor is this entry; the only host of the network with the LLDP or CDP name; the host with the LLDP chassis id, as
 * a MAC address or as its own chassis id. Chassis ids are not unique in practice, so names come first. An entry without
 * announcements leads to the only host that announces its device and this port. Ambiguous matches are discarded.
 */
export function farEnds(
  records: RecordsAt,
  numberedPorts: readonly NumberedRecord<IfEntryRecord>[],
): Map<string, FarEnd> {
  const ports = numberedPorts.map(({ record }) => record);
  const found = resolved(records, ports);
  const unresolved = () => ports.filter((port) => port.neighbor === undefined && !found.has(port.id));
  const assign = (port: IfEntryRecord, candidates: readonly FarEnd[]) => {
    const distinct = new Map(
      candidates
        .filter(({ host }) => host.record.network_id === port.network_id)
        .map((end) => [end.host.record.id, end]),
    );
    const [only] = distinct.values();
    // Ignore a device that announces itself to itself.
    if (distinct.size === 1 && only !== undefined && only.host.record.id !== port.host_id) found.set(port.id, only);
  };
  const announcing = (port: IfEntryRecord, hosts: readonly NumberedRecord<HostRecord>[] | undefined) =>
    (hosts ?? []).flatMap((host) => endsAt(host, port));
  const reverse = reverseLinks(records, unresolved());
  for (const port of unresolved()) assign(port, reverse.get(port.id) ?? []);
  const byName = hostsByName(records, unresolved().map(systemName));
  for (const port of unresolved()) assign(port, announcing(port, byName.get(foldName(systemName(port) ?? ""))));
  const byMac = hostsByMac(records, unresolved().map(chassisMac));
  for (const port of unresolved()) assign(port, announcing(port, byMac.get(chassisMac(port) ?? "")));
  const devices = hostsOf(records, numberedPorts);
  const byChassis = Map.groupBy(devices.values(), ({ record }) => foldChassis(record.chassis_id ?? ""));
  for (const port of unresolved())
    if (port.lldp_chassis_id !== undefined)
      assign(port, announcing(port, byChassis.get(foldChassis(port.lldp_chassis_id.value))));
  const silent = unresolved().filter((port) => announcedName(port) === null);
  const reverseAnnouncements = announcedBack(records, silent, devices);
  for (const port of unresolved()) assign(port, reverseAnnouncements.get(port.id) ?? []);
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
    ports.flatMap((port) => endsAt(hosts.get(hostId(port) ?? ""), port).map((end) => [port.id, end] as const)),
  );
}

/** The far end that an entry of the host reports; empty if the host is unknown. */
function endsAt(host: NumberedRecord<HostRecord> | undefined, entry: IfEntryRecord): FarEnd[] {
  return host === undefined ? [] : [{ host, source: linkSource(entry) }];
}

/** Links are often known at one end only. */
function reverseLinks(records: RecordsAt, ports: readonly IfEntryRecord[]): Map<string, FarEnd[]> {
  const queries = ports.map(({ id }) => exactTerm(neighborEntry(id)));
  const found = matchingAny(records, ifEntryKind, queries);
  const hosts = hostsOf(records, found);
  const pointing = Map.groupBy(found, ({ record }) => record.neighbor?.id ?? "");
  return new Map(
    [...pointing].map(([id, entries]) => [
      id,
      entries.flatMap(({ record }) => endsAt(hosts.get(record.host_id), record)),
    ]),
  );
}

/** Entries that announce an entry's device and port as their far end. */
function announcedBack(
  records: RecordsAt,
  ports: readonly IfEntryRecord[],
  devices: ReadonlyMap<string, NumberedRecord<HostRecord>>,
): Map<string, FarEnd[]> {
  const own = ports.flatMap((port) => devices.get(port.host_id)?.record ?? []);
  const queries = new Set(
    own
      .flatMap((device) => [...namesOf(device), device.chassis_id, device.bridge_address])
      .filter((name) => typeof name === "string")
      .map((name) => exactTerm(announcedEntry(name))),
  );
  const reporting = matchingAny(records, ifEntryKind, [...queries]);
  const found = ports.map((port) => {
    const device = devices.get(port.host_id);
    const isReporting = ({ record }: NumberedRecord<IfEntryRecord>) =>
      device !== undefined &&
      record.host_id !== port.host_id &&
      namesPort(record, port) &&
      namesHost(records, record, device);
    return { port, reports: reporting.filter(isReporting) };
  });
  const all = found.flatMap(({ reports }) => reports);
  // Another host of the same name may own the port.
  const names = all.map(({ record }) => systemName(record));
  const hostsOfName = hostsByName(records, names);
  const hosts = hostsOf(records, all);
  const isAmbiguous = (port: IfEntryRecord, report: IfEntryRecord) =>
    (hostsOfName.get(foldName(systemName(report) ?? "")) ?? []).some(
      (host) => host.record.network_id === port.network_id && host.record.id !== port.host_id,
    );
  return new Map(
    found.map(({ port, reports }) => [
      port.id,
      reports.flatMap(({ record }) => (isAmbiguous(port, record) ? [] : endsAt(hosts.get(record.host_id), record))),
    ]),
  );
}

/**
 * Whether an entry announces a host: by its chassis id or bridge address, or by its name. Some devices announce another
 * chassis id on every port: then a management address, if any, must be one of the host's, and the name its own.
 */
function namesHost(records: RecordsAt, entry: IfEntryRecord, { n, record: host }: NumberedRecord<HostRecord>): boolean {
  const chassis = entry.lldp_chassis_id === undefined ? null : foldChassis(entry.lldp_chassis_id.value);
  const own = [host.chassis_id, host.bridge_address].filter((id) => typeof id === "string").map(foldChassis);
  if (chassis !== null && own.includes(chassis)) return true;
  const name = systemName(entry);
  if (name === null || !namesOf(host).has(foldName(name))) return false;
  if (chassis === null || host.chassis_id === null) return true;
  const address = entry.lldp_mgmt_addr ?? entry.cdp_address;
  if (address !== undefined) return records.childrenWith(ipAddressKind, n, "ip_address", [address]).length > 0;
  return !isFactoryName(foldName(name));
}

/** Vendors differ in the port id they announce: name, description, MAC address or number. */
function namesPort(entry: IfEntryRecord, port: IfEntryRecord): boolean {
  const reporting = entry.lldp_port_id?.value ?? entry.cdp_port_id;
  if (reporting === undefined || entry.network_id !== port.network_id || entry.neighbor !== undefined) return false;
  if (entry.lldp_port_id?.subtype === "LocallyAssigned" && reporting === String(port.if_index)) return true;
  return (
    [port.if_name, port.if_descr].some(
      (ownName) => ownName !== undefined && foldCase(ownName) === foldCase(reporting),
    ) ||
    (port.mac_address !== undefined && parseMac(reporting) === port.mac_address)
  );
}

/** A host's names, folded. */
function namesOf({ name, hostname, sys_name: sysName }: HostRecord): Set<string> {
  return new Set([name, hostname, sysName].filter((text) => text !== null).map(foldName));
}

export function foldChassis(id: string): string {
  return parseMac(id) ?? foldCase(id.trim());
}

function hostsByName(records: RecordsAt, names: readonly (string | null)[]): Map<string, NumberedRecord<HostRecord>[]> {
  const queries = [...new Set(names.filter((name) => name !== null).map(foldName))]
    .map(exactNameQuery)
    .flatMap((query) => (query === null ? [] : [`(${query})`]));
  const found = new Map<string, NumberedRecord<HostRecord>[]>();
  for (const host of matchingAny(records, hostKind, queries))
    for (const ownName of namesOf(host.record)) found.set(ownName, [...(found.get(ownName) ?? []), host]);
  return found;
}

/** Hosts with an address or interface of these MAC addresses, by MAC address. */
export function hostsByMac(
  records: RecordsAt,
  macs: readonly (string | null)[],
): Map<string, NumberedRecord<HostRecord>[]> {
  const queries = [...new Set(macs.filter((mac) => mac !== null))].map(exactTerm);
  const matches: NumberedRecord<IpAddressRecord | IfEntryRecord>[] = [
    ...matchingAny(records, ipAddressKind, queries),
    ...matchingAny(records, ifEntryKind, queries),
  ];
  const owned = matches.filter(({ record }) => typeof record.mac_address === "string");
  const hosts = hostsOf(records, owned);
  return new Map(
    [...Map.groupBy(owned, ({ record }) => record.mac_address ?? "")].map(([mac, parts]) => [
      mac,
      parts.flatMap(({ record }) => hosts.get(record.host_id) ?? []),
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
