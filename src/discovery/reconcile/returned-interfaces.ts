// Lineage of ended interfaces that return under their name with another ifIndex. The ledger recognizes returns only by
// the ifIndex.

import { scopeKey } from "../../db/kind.ts";
import { membersSql } from "../../db/shape.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import type { DeviceInterface } from "../device.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Time after its end within which a name denotes the same interface. */
const RETURN_MS = 90 * 86_400_000;
/** Maximum number of ended entries compared, most recent first. */
const COMPARED_MAX = 1_000;

/** @returns the ids of their first incarnations, for those of the added interfaces that return */
export function lineagesOfReturned(
  { tx }: ScanWrite,
  host: HostRecord,
  added: readonly DeviceInterface[],
): ReadonlyMap<DeviceInterface, string> {
  const hostN = tx.recordN(host.id);
  if (added.length === 0 || hostN === null) return new Map();
  const rows = tx.db.$client.query(ENDED).values(scopeKey(hostN, ifEntryKind), tx.instant - RETURN_MS) as Array<
    [id: string, name: string | null, lineageId: string | null]
  >;
  const byName = new Map<string, string>();
  for (const [id, name, lineageId] of rows)
    if (name !== null && !byName.has(name) && tx.find(ifEntryKind, id) === null) byName.set(name, lineageId ?? id);
  const found = new Map<DeviceInterface, string>();
  if (byName.size === 0) return found;
  for (const [name, sameName] of Map.groupBy(added, ({ if_name, if_descr }) => if_name || if_descr || "")) {
    const [first, ...others] = sameName;
    const lineageId = byName.get(name);
    if (first !== undefined && others.length === 0 && lineageId !== undefined) found.set(first, lineageId);
  }
  return found;
}

const ENDED = `SELECT r.id, coalesce(nullif(d.document ->> '$.if_name', ''), nullif(d.document ->> '$.if_descr', '')),
    d.document ->> '$.lineage_id'
  FROM (SELECT e.n, (SELECT '{' || ${membersSql(ifEntryKind, "v")} || '}' FROM history_versions v
      WHERE v.key < ((e.n << 31) | e.died) ORDER BY v.key DESC LIMIT 1) AS document
    FROM (SELECT s.n, s.died FROM history_spans s JOIN history_transactions t ON t.sequence = s.died
      WHERE s.scope = ?1 AND t.at >= ?2 ORDER BY s.died DESC LIMIT ${COMPARED_MAX}) e) d
  JOIN history_records r ON r.n = d.n`;
