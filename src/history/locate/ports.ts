// Port facts at one point in time: devices, far ends, number of forwarding entries, and other reports of the far end.
// Reads through RecordsAt.

import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import { FAR_END_ROLES, type FarHost, farEndRole } from "../far-end.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import { hostRef, type LocationDraft, portRef } from "./drafts.ts";
import {
  ENTRY_RANGES,
  entryRangeOf,
  type HostFact,
  isUp,
  majorityOf,
  type PortFact,
  type ReportFact,
  type SequenceRange,
  SHARED_PORT_MIN,
} from "./facts.ts";
import { announcedName, farEnds, hostsOf, linkSource } from "./far-ends.ts";
import type { PortWithParts } from "./port-groups.ts";
import { portsWithSameFarEnd } from "./shared-far-ends.ts";

/** ieee8023adLag (IANAifType-MIB). */
const IF_TYPE_LAG = 161;

/** Host facts; checks each host once for a forwarding table. */
export class HostFacts {
  private readonly records: RecordsAt;
  private readonly switches = new Map<number, boolean>();

  constructor(records: RecordsAt) {
    this.records = records;
  }

  /** Call before `fact`. */
  prefetch(hosts: readonly NumberedRecord<HostRecord>[]): void {
    const unknown = hosts.map(({ n }) => n).filter((n) => !this.switches.has(n));
    const counts = this.records.counts(fdbEntryKind, unknown, (count) =>
      count === 0 ? { low: 0, high: 0 } : { low: 1, high: Number.MAX_SAFE_INTEGER },
    );
    for (const [n, count] of counts) this.switches.set(n, count > 0);
  }

  fact({ n, record }: NumberedRecord<HostRecord>): HostFact {
    return { ref: hostRef(record), hostname: record.hostname, isSwitch: this.switches.get(n) === true };
  }

  farHost({ n, record }: NumberedRecord<HostRecord>): FarHost {
    return { deviceType: record.device_type ?? "Unknown", isForwarding: this.switches.get(n) === true };
  }
}

/** Port facts by the id of each interface of a group, without ports of devices that are not visible to the caller. */
export function portFacts(
  records: RecordsAt,
  hosts: HostFacts,
  groups: readonly PortWithParts[],
  drafts: readonly LocationDraft[],
): Map<string, PortFact> {
  const ports = groups.flatMap(({ place, parts }) => [place, ...parts]);
  const devices = hostsOf(records, ports);
  const ends = farEnds(records, ports);
  const neighborHosts = neighborHostsOf(records, ports);
  hosts.prefetch([...devices.values(), ...[...ends.values()].map(({ host }) => host), ...neighborHosts.values()]);
  const roles = new Map(
    ports.map(({ record }) => {
      const hostOf = ({ id }: Neighbor) => farHostOf(hosts, neighborHosts.get(id));
      return [record.id, farEndRole(record, hostOf, farHostOf(hosts, ends.get(record.id)?.host))];
    }),
  );
  const roleOf = ({ place, parts }: PortWithParts) =>
    FAR_END_ROLES.find((role) => [place, ...parts].some(({ record }) => roles.get(record.id) === role)) ?? null;
  /** The interface of a group that has the neighbor. */
  const linkedOf = ({ place, parts }: PortWithParts) =>
    [place, ...parts].find(({ record }) => ends.has(record.id)) ??
    [place, ...parts].find(({ record }) => announcedName(record) !== null) ??
    place;
  const holders = holdersOf(groups, drafts);
  const counts = entryCounts(records, holders);
  const undecided = groups.filter((group) => roleOf(group) !== "Network");
  const majorities = majoritiesOf(
    records,
    undecided.map((group) => (holders.get(group) as Holder).port),
    counts,
  );
  const withFarEnd = undecided
    .map(linkedOf)
    .filter(({ record }) => ends.has(record.id) || announcedName(record) !== null);
  const reports = reportFacts(records, portsWithSameFarEnd(records, withFarEnd, ports, ends));
  const facts = new Map<string, PortFact>();
  for (const group of groups) {
    const { record } = group.place;
    const device = devices.get(record.host_id);
    const holder = holders.get(group);
    if (device === undefined || holder === undefined) continue;
    const linked = linkedOf(group).record;
    const end = ends.get(linked.id);
    const announced = announcedName(linked);
    const neighbor = {
      source: end?.source ?? linkSource(linked),
      host: end === undefined ? null : hosts.fact(end.host),
      announced,
      role: roleOf(group) ?? "Unknown",
      alsoReportedAt: reports.get(linked.id) ?? [],
    };
    const all = [record, ...group.parts.map((part) => part.record)];
    const fact: PortFact = {
      ref: portRef(record),
      ifIndex: record.if_index,
      ifDescr: record.if_descr,
      adminStatus: record.admin_status,
      operStatus: record.oper_status,
      device: hosts.fact(device),
      members: group.members.map((member) => portRef(member.record)),
      forwards: holder.others.reduce((sum, { n }) => sum + (counts.get(n) ?? 0), counts.get(holder.port.n) ?? 0),
      holdsMost: majorities.has(holder.port.n),
      leadsTo: null,
      isAggregate: record.if_type === IF_TYPE_LAG,
      createdAt: record.created_at,
      neighbor: end === undefined && announced === null ? null : neighbor,
      nativeVlanId: all.find((each) => each.native_vlan_id !== undefined)?.native_vlan_id ?? null,
      vlanIds: [...new Set(all.flatMap((each) => each.vlan_ids ?? []))],
    };
    for (const { id } of all) facts.set(id, fact);
  }
  return facts;
}

/** The interface of a group that has its forwarding entries, then the others, which usually have none. */
interface Holder {
  readonly port: NumberedRecord<IfEntryRecord>;
  readonly others: readonly NumberedRecord<IfEntryRecord>[];
  /** Numbers of entries per draft. */
  readonly ownRowCounts: readonly number[];
}

function holdersOf(groups: readonly PortWithParts[], drafts: readonly LocationDraft[]): Map<PortWithParts, Holder> {
  const rowsOf = drafts.map(({ entries }) => Map.groupBy(entries, ({ record }) => record.if_entry_id));
  return new Map(
    groups.map((group) => {
      const all = [group.place, ...group.parts];
      const port = all.find(({ record }) => rowsOf.some((rows) => rows.has(record.id))) ?? group.place;
      const ownRows = rowsOf
        .map((rows) => all.reduce((sum, { record }) => sum + (rows.get(record.id)?.length ?? 0), 0))
        .filter((count) => count > 0);
      const others = all.filter((each) => each !== port);
      return [group, { port, others, ownRowCounts: ownRows.length === 0 ? [0] : [...new Set(ownRows)] }];
    }),
  );
}

/** A busy port's table changes constantly, so only its order of magnitude counts. */
function entryCounts(records: RecordsAt, holders: ReadonlyMap<PortWithParts, Holder>): Map<number, number> {
  const all = [...holders.values()];
  const others = records.counts(
    fdbEntryKind,
    all.flatMap((holder) => holder.others.map(({ n }) => n)),
    (count) => ({ low: count, high: count }),
  );
  const byN = new Map(all.map((holder) => [holder.port.n, holder]));
  const counts = records.counts(fdbEntryKind, byN.keys(), (count, n) => {
    const { others: parts, ownRowCounts } = byN.get(n) as Holder;
    const partRows = parts.reduce((sum, part) => sum + (others.get(part.n) ?? 0), 0);
    return intersection(
      ownRowCounts.map((ownRows) => {
        const index = entryRangeOf(Math.max(0, count + partRows - ownRows));
        const { low, high } = ENTRY_RANGES[index] as (typeof ENTRY_RANGES)[number];
        return { low: low === 0 ? 0 : low + ownRows - partRows, high: high + ownRows - partRows };
      }),
    );
  });
  return new Map([...others, ...counts]);
}

/** Hosts by the ids of the far ends that ports store. */
function neighborHostsOf(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
): Map<string, NumberedRecord<HostRecord>> {
  const neighbors = ports.flatMap(({ record }) => [
    record.neighbor,
    ...(record.more_neighbors ?? []).map(({ neighbor }) => neighbor),
  ]);
  const idsOf = (type: Neighbor["type"]) => neighbors.map((each) => (each?.type === type ? each.id : null));
  const far = records.byIds(ifEntryKind, idsOf("IfEntry"));
  const hosts = hostsOf(records, [...far.values()]);
  const found = records.byIds(hostKind, idsOf("Host"));
  for (const [id, { record }] of far) {
    const host = hosts.get(record.host_id);
    if (host !== undefined) found.set(id, host);
  }
  return found;
}

function farHostOf(hosts: HostFacts, host: NumberedRecord<HostRecord> | undefined): FarHost | null {
  return host === undefined ? null : hosts.farHost(host);
}

/** Shared ports that report the same far ends, one per device. */
function reportFacts(
  records: RecordsAt,
  reports: ReadonlyMap<string, readonly NumberedRecord<IfEntryRecord>[]>,
): Map<string, ReportFact[]> {
  const reporting = [...new Map([...reports.values()].flat().map((port) => [port.n, port])).values()];
  const ns = reporting.map(({ n }) => n);
  const counts = records.counts(fdbEntryKind, ns, (count) =>
    count > SHARED_PORT_MIN
      ? { low: SHARED_PORT_MIN + 1, high: Number.MAX_SAFE_INTEGER }
      : { low: 0, high: SHARED_PORT_MIN },
  );
  const majorities = majoritiesOf(records, reporting, counts);
  const devices = hostsOf(records, reporting);
  return new Map(
    [...reports].map(([id, ports]) => {
      const shared = ports
        .filter(({ n }) => (counts.get(n) ?? 0) > SHARED_PORT_MIN)
        .sort((left, right) => Number(majorities.has(right.n)) - Number(majorities.has(left.n)) || left.n - right.n);
      const byDevice = Map.groupBy(shared, ({ record }) => record.host_id);
      const facts = [...byDevice].flatMap(([hostId, [port]]): ReportFact[] => {
        const device = devices.get(hostId);
        return device === undefined || port === undefined
          ? []
          : [{ device: hostRef(device.record), port: portRef(port.record), holdsMost: majorities.has(port.n) }];
      });
      return [id, facts.sort((left, right) => (left.device.name < right.device.name ? -1 : 1))];
    }),
  );
}

/** Ports that are up, shared, and have more than half of their device's table. */
function majoritiesOf(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  counts: ReadonlyMap<number, number>,
): Set<number> {
  const hosts = hostsOf(records, ports);
  const shared = ports.flatMap(({ n, record }) => {
    const rows = counts.get(n) ?? 0;
    const device = hosts.get(record.host_id);
    return rows > SHARED_PORT_MIN &&
      device !== undefined &&
      isUp({ adminStatus: record.admin_status, operStatus: record.oper_status })
      ? [{ n, rows, deviceN: device.n }]
      : [];
  });
  const byDevice = Map.groupBy(shared, ({ deviceN }) => deviceN);
  const totals = records.counts(fdbEntryKind, byDevice.keys(), (total, n) =>
    intersection((byDevice.get(n) ?? []).map(({ rows }) => majorityOf(rows, total).total)),
  );
  const found = new Set<number>();
  const deviceNs = new Map(shared.map(({ n, deviceN }) => [n, deviceN]));
  records.counts(fdbEntryKind, deviceNs.keys(), (rows, n) => {
    const { holdsMost, rows: range } = majorityOf(rows, totals.get(deviceNs.get(n) as number) ?? 0);
    if (holdsMost) found.add(n);
    return range;
  });
  return found;
}

function intersection(ranges: readonly SequenceRange[]): SequenceRange {
  return {
    low: Math.max(0, ...ranges.map(({ low }) => low)),
    high: Math.min(Number.MAX_SAFE_INTEGER, ...ranges.map(({ high }) => high)),
  };
}
