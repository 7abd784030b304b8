// Change ranking by relevance to people: which changes of a transaction are highlighted, in which order, and the count
// buckets for the rest. Pure.

import { ownValue } from "../base/fields.ts";
import { isCounted } from "../db/change-counts.ts";
import type { RecordChange } from "../db/reading/change-log.ts";

/** Required parts of a change; `changedFields` as visible to the caller, null for a creation or deletion. */
export type RankableChange = Pick<RecordChange, "kind" | "operation" | "changedFields">;

/** Fields by decreasing relevance; unlisted ones rank below all of these. */
const FIELDS = `oper_status admin_status name hostname host_id cidr number speed_bps native_vlan_id vlan_ids neighbor
  serial_number model stale_since`.split(/\s+/);
/** Fields that change with every station that comes and goes, or as a side effect. */
const LAST_FIELDS = ["fdb_macs", "discovered", "source"];

/** Fields whose change in a scan deserves immediate attention. */
const NOTABLE_FIELDS = new Set("speed_bps native_vlan_id vlan_ids name hostname host_id cidr serial_number".split(" "));

/** Rank of moves: below additions and removals of whole records, above port changes. */
export const MOVES_RANK = 1.25;

/** Ranks of additions and removals; 1 for unlisted kinds. Parts rank below their owners. */
const KIND_RANKS: Readonly<Record<string, number>> = {
  host: 0,
  component: 3,
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
export function rankOf(change: RankableChange, isByPerson: boolean): number | null {
  const { kind, operation, changedFields } = change;
  // A binding is shown with its service.
  if (kind.name === "binding" || !isShown(change)) return null;
  if (operation !== "Updated" || changedFields === null) {
    const rank = ownValue(KIND_RANKS, kind.name) ?? 1;
    return isByPerson && kind.name !== "ignored" ? Math.min(rank, 1) : rank;
  }
  const shownFields = shownFieldNames(change).filter((field) => !LAST_FIELDS.includes(field));
  if (isByPerson) return changedFields.includes("fdb_macs") && shownFields.length === 0 ? null : 2;
  if (shownFields.includes("oper_status") || shownFields.includes("admin_status")) return 2;
  if (shownFields.some((field) => NOTABLE_FIELDS.has(field))) return 3;
  if (shownFields.includes("neighbor")) return 4;
  // An address becomes stale with its host, which also changes the neighbor data of interfaces.
  return shownFields.length === 0 || kind.name === "if_entry" || kind.name === "ip_address" ? null : 6;
}

/** Whether the record itself changed, not only its parts, which are shown separately. */
export function isShown({ kind, operation, changedFields }: RankableChange): boolean {
  return isCounted(kind, operation, changedFields);
}

/** Changed fields to show for an update, most relevant first. */
export function shownFieldNames({ kind, changedFields }: RankableChange): readonly string[] {
  const fields = (changedFields ?? []).filter((field) => kind.partFields?.includes(field) !== true);
  return fields.toSorted((left, right) => fieldRank(left) - fieldRank(right));
}

function fieldRank(field: string): number {
  const last = LAST_FIELDS.indexOf(field);
  if (last >= 0) return FIELDS.length + 1 + last;
  const rank = FIELDS.indexOf(field);
  return rank < 0 ? FIELDS.length : rank;
}
