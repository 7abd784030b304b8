// Ranking of changes by relevance to people: which changes of a transaction are highlighted, in which order, and the
// count buckets for the rest. Pure.

import { ownValue } from "../base/fields.ts";
import { isCounted } from "../db/change-counts.ts";
import type { RecordChange } from "../db/reading/change-log.ts";

/** Required parts of a change; `changedFields` as visible to the caller, null for a creation or deletion. */
export type ToldChange = Pick<RecordChange, "kind" | "operation" | "changedFields">;

/** Fields by decreasing relevance; unlisted ones rank below all of these. */
const FIELDS = [
  "oper_status",
  "admin_status",
  "name",
  "hostname",
  "host_id",
  "cidr",
  "number",
  "speed_bps",
  "native_vlan_id",
  "vlan_ids",
  "neighbor",
  "serial_number",
  "model",
  "stale_since",
];
/** Fields that change with every station that comes and goes, or as a side effect. */
const LAST_FIELDS = ["fdb_macs", "discovered", "source"];

/** Fields whose change in a scan deserves immediate attention. */
const NEWS = new Set([
  "speed_bps",
  "native_vlan_id",
  "vlan_ids",
  "name",
  "hostname",
  "host_id",
  "cidr",
  "serial_number",
]);

/** Rank of moves: below additions and removals of whole records, above port changes. */
export const MOVES_PLACE = 1.25;

/** Ranks of additions and removals; 1 for unlisted kinds. Parts rank below their owners. */
const PLACES_OF_KINDS: Readonly<Record<string, number>> = {
  host: 0,
  ip_address: 4,
  if_entry: 5,
  port: 6,
  service: 6,
  ignored: 7,
};

/**
 * Rank of a change, 0 first; null if it is only counted.
 * @param isByPerson whether a user or an API key made it
 */
export function placeOf(change: ToldChange, isByPerson: boolean): number | null {
  const { kind, operation, changedFields } = change;
  // A binding is shown with its service.
  if (kind.name === "binding" || !isTold(change)) return null;
  if (operation !== "Updated" || changedFields === null) {
    const place = ownValue(PLACES_OF_KINDS, kind.name) ?? 1;
    return isByPerson && kind.name !== "ignored" ? Math.min(place, 1) : place;
  }
  const told = toldFieldNames(change).filter((field) => !LAST_FIELDS.includes(field));
  if (isByPerson) return changedFields.includes("fdb_macs") && told.length === 0 ? null : 2;
  if (told.includes("oper_status") || told.includes("admin_status")) return 2;
  if (told.some((field) => NEWS.has(field))) return 3;
  if (told.includes("neighbor")) return 4;
  // An address becomes stale with its host, which also changes the neighbor data of interfaces.
  return told.length === 0 || kind.name === "if_entry" || kind.name === "ip_address" ? null : 6;
}

/** Whether the record itself changed, not only its parts, which are shown separately. */
export function isTold({ kind, operation, changedFields }: ToldChange): boolean {
  return isCounted(kind, operation, changedFields);
}

/** Changed fields to show for an update, most relevant first. */
export function toldFieldNames({ kind, changedFields }: ToldChange): readonly string[] {
  const fields = (changedFields ?? []).filter((field) => kind.toldParts?.includes(field) !== true);
  return fields.toSorted((one, other) => rankOf(one) - rankOf(other));
}

function rankOf(field: string): number {
  const last = LAST_FIELDS.indexOf(field);
  if (last >= 0) return FIELDS.length + 1 + last;
  const place = FIELDS.indexOf(field);
  return place < 0 ? FIELDS.length : place;
}
