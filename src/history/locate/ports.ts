// Port facts at one point in time: devices, far ends, number of forwarding entries, and other reports of the far end.
// Reads through RecordsAt.

import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import { type FarHost, farEndRole } from "../far-end.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import { hostRef, type LocationDraft, portRef } from "./drafts.ts";
import {
  CROWD_RANGES,
  CROWDED_MIN,
  crowdIndex,
  type HostFact,
  isUp,
  majorityOf,
  type PortFact,
  type ReportFact,
  type SequenceRange,
} from "./facts.ts";
import { announcedName, farEnds, hostsOf, linkSource } from "./far-ends.ts";
import { reportedElsewhere } from "./namings.ts";

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

/** Port facts by id, without ports of devices that are not visible to the caller. */
export function portFacts(
  records: RecordsAt,
  hosts: HostFacts,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  drafts: readonly LocationDraft[],
): Map<string, PortFact> {
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
  const ns = ports.map(({ n }) => n);
  const counts = records.counts(fdbEntryKind, ns, crowdRanges(ports, drafts));
  const undecided = ports.filter(({ record }) => roles.get(record.id) !== "Network");
  const majorities = majoritiesOf(records, undecided, counts);
  const withFarEnd = undecided.filter(({ record }) => ends.has(record.id) || announcedName(record) !== null);
  const reports = reportFacts(records, reportedElsewhere(records, withFarEnd, ports, ends));
  const facts = new Map<string, PortFact>();
  for (const { n, record } of ports) {
    const device = devices.get(record.host_id);
    if (device === undefined) continue;
    const end = ends.get(record.id);
    const announced = announcedName(record);
    const neighbor = {
      source: end?.source ?? linkSource(record),
      host: end === undefined ? null : hosts.fact(end.host),
      announced,
      role: roles.get(record.id) ?? "Unknown",
      alsoReportedAt: reports.get(record.id) ?? [],
    };
    facts.set(record.id, {
      ref: portRef(record),
      ifIndex: record.if_index,
      ifDescr: record.if_descr,
      adminStatus: record.admin_status,
      operStatus: record.oper_status,
      device: hosts.fact(device),
      forwards: counts.get(n) ?? 0,
      holdsMost: majorities.has(n),
      leadsTo: null,
      isAggregate: record.if_type === IF_TYPE_LAG,
      createdAt: record.created_at,
      neighbor: end === undefined && announced === null ? null : neighbor,
      nativeVlanId: record.native_vlan_id ?? null,
      vlanIds: record.vlan_ids ?? [],
    });
  }
  return facts;
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

/** Crowded ports that report the same far ends, one per device. */
function reportFacts(
  records: RecordsAt,
  reports: ReadonlyMap<string, readonly NumberedRecord<IfEntryRecord>[]>,
): Map<string, ReportFact[]> {
  const reporting = [...new Map([...reports.values()].flat().map((port) => [port.n, port])).values()];
  const ns = reporting.map(({ n }) => n);
  const counts = records.counts(fdbEntryKind, ns, (count) =>
    count > CROWDED_MIN ? { low: CROWDED_MIN + 1, high: Number.MAX_SAFE_INTEGER } : { low: 0, high: CROWDED_MIN },
  );
  const majorities = majoritiesOf(records, reporting, counts);
  const devices = hostsOf(records, reporting);
  return new Map(
    [...reports].map(([id, ports]) => {
      const crowded = ports
        .filter(({ n }) => (counts.get(n) ?? 0) > CROWDED_MIN)
        .sort((left, right) => Number(majorities.has(right.n)) - Number(majorities.has(left.n)) || left.n - right.n);
      const byDevice = Map.groupBy(crowded, ({ record }) => record.host_id);
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

/** Ports that are up, crowded, and have more than half of their device's table. */
function majoritiesOf(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  counts: ReadonlyMap<number, number>,
): Set<number> {
  const hosts = hostsOf(records, ports);
  const crowded = ports.flatMap(({ n, record }) => {
    const rows = counts.get(n) ?? 0;
    const device = hosts.get(record.host_id);
    return rows > CROWDED_MIN &&
      device !== undefined &&
      isUp({ adminStatus: record.admin_status, operStatus: record.oper_status })
      ? [{ n, rows, deviceN: device.n }]
      : [];
  });
  const byDevice = Map.groupBy(crowded, ({ deviceN }) => deviceN);
  const totals = records.counts(fdbEntryKind, byDevice.keys(), (total, n) =>
    intersection((byDevice.get(n) ?? []).map(({ rows }) => majorityOf(rows, total).total)),
  );
  const found = new Set<number>();
  const deviceNs = new Map(crowded.map(({ n, deviceN }) => [n, deviceN]));
  records.counts(fdbEntryKind, deviceNs.keys(), (rows, n) => {
    const { holdsMost, rows: range } = majorityOf(rows, totals.get(deviceNs.get(n) as number) ?? 0);
    if (holdsMost) found.add(n);
    return range;
  });
  return found;
}

/** A busy port's table changes constantly, so only its order of magnitude counts. */
function crowdRanges(
  ports: readonly NumberedRecord<IfEntryRecord>[],
  drafts: readonly LocationDraft[],
): (count: number, n: number) => SequenceRange {
  const ids = new Map(ports.map(({ n, record }) => [n, record.id]));
  const ownRowCounts = new Map<string, Set<number>>();
  for (const { entries } of drafts) {
    for (const [portId, rows] of Map.groupBy(entries, ({ record }) => record.if_entry_id))
      ownRowCounts.set(portId, (ownRowCounts.get(portId) ?? new Set()).add(rows.length));
  }
  return (count, n) =>
    intersection(
      [...(ownRowCounts.get(ids.get(n) ?? "") ?? [0])].map((ownRows) => {
        const { low, high } = CROWD_RANGES[crowdIndex(Math.max(0, count - ownRows))] as (typeof CROWD_RANGES)[number];
        return { low: low === 0 ? 0 : low + ownRows, high: high + ownRows };
      }),
    );
}

function intersection(ranges: readonly SequenceRange[]): SequenceRange {
  return {
    low: Math.max(0, ...ranges.map(({ low }) => low)),
    high: Math.min(Number.MAX_SAFE_INTEGER, ...ranges.map(({ high }) => high)),
  };
}
