// Other ports that report the same far end: a far end with many ports is not an end station. Reads through RecordsAt.

import { parseMac } from "../../base/mac.ts";
import { foldCase } from "../../base/text.ts";
import { wholeTerm } from "../../db/search-text.ts";
import { type IfEntryRecord, ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { announcedClue, neighborClue } from "../../resources/if-entries/link-clues.ts";
import type { Known, RecordsAt } from "../records-at.ts";
import { isUp } from "./facts.ts";
import { type FarEnd, farEnds, inBatches, systemName } from "./far-ends.ts";
import { foldName } from "./names.ts";

/** Maximum interface entries that report the far ends of one query. */
const MATCHES_MAX = 1_000;

/**
 * By port id, interface entries of the network's other devices, not down, with the same far end.
 * @param known interface entries to consider as well, with their far ends
 */
export function namedElsewhere(
  records: RecordsAt,
  ports: readonly Known<IfEntryRecord>[],
  known: readonly Known<IfEntryRecord>[],
  ends: ReadonlyMap<string, FarEnd>,
): Map<string, Known<IfEntryRecord>[]> {
  const queries = [...new Set(ports.flatMap(({ record }) => clues(record, ends.get(record.id))))].map(wholeTerm);
  const told = inBatches(queries).flatMap((batch) => records.matching([ifEntryKind], batch.join(" OR "), MATCHES_MAX));
  const more = told.filter(({ record }) => !known.some((each) => each.record.id === record.id));
  const all = new Map([
    ...ends,
    ...farEnds(
      records,
      more.map(({ record }) => record),
    ),
  ]);
  const others = [...new Map([...known, ...more].map((each) => [each.record.id, each])).values()].filter(({ record }) =>
    isUp({ adminStatus: record.admin_status, operStatus: record.oper_status }),
  );
  return new Map(
    ports.map(({ record }) => [record.id, others.filter((other) => isSameEnd(record, other.record, all))]),
  );
}

/** Search terms for entries with this far end. */
function clues(entry: IfEntryRecord, end: FarEnd | undefined): string[] {
  const announced = [entry.lldp_chassis_id?.value, systemName(entry), entry.lldp_mgmt_addr, entry.cdp_address];
  const host = end?.host.record;
  if (host !== undefined) announced.push(host.name, host.hostname, host.sys_name, host.chassis_id);
  const texts = announced
    .filter((text) => typeof text === "string" && /\S/.test(text))
    .map((text) => announcedClue(text as string));
  return host === undefined
    ? texts
    : [neighborClue(host.id), ...(entry.neighbor === undefined ? [] : [neighborClue(entry.neighbor.id)]), ...texts];
}

function isSameEnd(one: IfEntryRecord, other: IfEntryRecord, ends: ReadonlyMap<string, FarEnd>): boolean {
  if (one.network_id !== other.network_id || one.host_id === other.host_id) return false;
  const host = ends.get(one.id)?.host.record.id ?? null;
  if (host !== (ends.get(other.id)?.host.record.id ?? null) || host === other.host_id) return false;
  return host !== null || isSameAnnounced(one, other);
}

/** Whether two announcements match: same name and chassis id if both have them, otherwise same management address. */
function isSameAnnounced(one: IfEntryRecord, other: IfEntryRecord): boolean {
  const pairs = [
    [fold(one.lldp_chassis_id?.value), fold(other.lldp_chassis_id?.value)],
    [foldedName(one), foldedName(other)],
  ].filter(([left, right]) => left !== null && right !== null);
  if (pairs.length > 0) return pairs.every(([left, right]) => left === right);
  const address = one.lldp_mgmt_addr ?? one.cdp_address;
  return address !== undefined && address === (other.lldp_mgmt_addr ?? other.cdp_address);
}

function foldedName(entry: IfEntryRecord): string | null {
  const name = systemName(entry);
  return name === null ? null : foldName(name);
}

function fold(id: string | undefined): string | null {
  return id === undefined ? null : (parseMac(id) ?? foldCase(id.trim()));
}
