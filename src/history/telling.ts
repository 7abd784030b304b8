// How much a change tells a person: which of a transaction's changes are said by name, in which order, and what the
// rest of them is counted by. Pure.

import { ownValue } from "../base/fields.ts";
import { isCounted } from "../db/change-counts.ts";
import type { RecordChange } from "../db/reading/change-log.ts";

/** As far as it matters here; `changedFields` as the caller sees them, null where everything is new or gone. */
export type ToldChange = Pick<RecordChange, "kind" | "operation" | "changedFields">;

/** Fields from the most telling to the least; others stand before the last of these. */
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
/** What changes by itself with every station that comes and goes, or goes along with something else. */
const LAST_FIELDS = ["fdb_macs", "discovered", "source"];

/** What somebody will want to know at once where a scan finds it. */
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

/** Where what moved stands: what came and went as a whole before it, what became of ports after it. */
export const MOVES_PLACE = 1.25;

/** Where what came or went stands; 1 for what is not here. Parts tell less than what they are of. */
const PLACES_OF_KINDS: Readonly<Record<string, number>> = {
  host: 0,
  ip_address: 4,
  if_entry: 5,
  port: 6,
  service: 6,
  ignored: 7,
};

/**
 * The place of a change among the others, 0 first; null for what is only counted.
 * @param isByPerson whether a user or an API key made it
 */
export function placeOf(change: ToldChange, isByPerson: boolean): number | null {
  const { kind, operation, changedFields } = change;
  // A binding is told with its service.
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
  // An address grows stale with its host, and what an interface hears of its neighbor changes with that.
  return told.length === 0 || kind.name === "if_entry" || kind.name === "ip_address" ? null : 6;
}

/** Whether it is a change of the record's own: what only its parts changed is told with them. */
export function isTold({ kind, operation, changedFields }: ToldChange): boolean {
  return isCounted(kind, operation, changedFields);
}

/** The fields that an update is told by, the most telling first. */
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
