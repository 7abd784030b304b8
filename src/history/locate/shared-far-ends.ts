// Ports of other devices that report the same far end: a device reported by many ports is not an end station. Reads
// through RecordsAt.

import { exactTerm } from "../../db/search-text.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedEntry, neighborEntry } from "../../resources/if-entries/link-index-entries.ts";
import type { NumberedRecord, RecordsAt } from "../records-at.ts";
import { isUp } from "./facts.ts";
import { type FarEnd, farEnds, foldChassis, matchingAny, systemName } from "./far-ends.ts";
import { foldName } from "./names.ts";

/**
 * Interface entries of other devices in the network that are up and report the same far end, by port id.
 * @param known interface entries to consider as well, with their far ends
 */
export function portsWithSameFarEnd(
  records: RecordsAt,
  ports: readonly NumberedRecord<IfEntryRecord>[],
  known: readonly NumberedRecord<IfEntryRecord>[],
  ends: ReadonlyMap<string, FarEnd>,
): Map<string, NumberedRecord<IfEntryRecord>[]> {
  const queries = [...new Set(ports.flatMap(({ record }) => searchTerms(record, ends.get(record.id))))].map(exactTerm);
  const reported = matchingAny(records, ifEntryKind, queries);
  const more = reported.filter(({ record }) => !known.some((each) => each.record.id === record.id));
  const all = new Map([...ends, ...farEnds(records, more)]);
  const others = [...new Map([...known, ...more].map((each) => [each.record.id, each])).values()].filter(({ record }) =>
    isUp({ adminStatus: record.admin_status, operStatus: record.oper_status }),
  );
  return new Map(
    ports.map(({ record }) => [record.id, others.filter((other) => isSameEnd(record, other.record, all))]),
  );
}

/** Search terms for entries with this far end. */
function searchTerms(entry: IfEntryRecord, end: FarEnd | undefined): string[] {
  const announced = [entry.lldp_chassis_id?.value, systemName(entry), entry.lldp_mgmt_addr, entry.cdp_address];
  const host = end?.host.record;
  if (host !== undefined) announced.push(host.name, host.hostname, host.sys_name, host.chassis_id);
  const texts = announced
    .filter((text) => typeof text === "string" && /\S/.test(text))
    .map((text) => announcedEntry(text as string));
  return host === undefined
    ? texts
    : [neighborEntry(host.id), ...(entry.neighbor === undefined ? [] : [neighborEntry(entry.neighbor.id)]), ...texts];
}

function isSameEnd(left: IfEntryRecord, other: IfEntryRecord, ends: ReadonlyMap<string, FarEnd>): boolean {
  if (left.network_id !== other.network_id || left.host_id === other.host_id) return false;
  const host = ends.get(left.id)?.host.record.id ?? null;
  if (host !== (ends.get(other.id)?.host.record.id ?? null) || host === other.host_id) return false;
  return host !== null || isSameAnnounced(left, other);
}

/** Whether two announcements match: same name and chassis id if both have them, otherwise same management address. */
function isSameAnnounced(left: IfEntryRecord, other: IfEntryRecord): boolean {
  const pairs = [
    [left, other].map((entry) => folded(entry.lldp_chassis_id?.value, foldChassis)),
    [left, other].map((entry) => folded(systemName(entry), foldName)),
  ].filter((pair) => !pair.includes(null));
  if (pairs.length > 0) return pairs.every(([left, right]) => left === right);
  const address = left.lldp_mgmt_addr ?? left.cdp_address;
  return address !== undefined && address === (other.lldp_mgmt_addr ?? other.cdp_address);
}

function folded(text: string | null | undefined, fold: (text: string) => string): string | null {
  return text === null || text === undefined ? null : fold(text);
}
