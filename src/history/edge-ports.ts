// Edge ports, where an end device connects and no further network, and ports that learned a MAC address. Must not know
// hosts.

import { OPERATION, scopeKey } from "../db/kind.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { exactTerm } from "../db/search-text.ts";
import { membersSql } from "../db/shape.ts";
import { fdbEntryKind } from "../resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../resources/if-entries/if-entry.ts";

/** Maximum MAC addresses of an edge port: a phone with a PC behind it, or a host with its containers. */
export const EDGE_MACS_MAX = 4;

const ENTRY = `'{' || ${membersSql(fdbEntryKind, "v")} || '}'`;
const PORT = `'{' || ${membersSql(ifEntryKind, "v")} || '}'`;

/** Ports that had learned a MAC address as of a transaction. */
export function portsAt(
  reader: Pick<ReadConnection, "statement">,
  { reach, sequence }: { readonly reach: Reach; readonly sequence: number },
  networkId: string,
  macAddress: string,
): readonly number[] {
  const rows = reader
    .statement(
      `SELECT (SELECT p.n FROM history_records p WHERE p.id = ${ENTRY} ->> '$.if_entry_id')
        FROM (SELECT DISTINCT history_search.rowid >> 31 AS n FROM history_search WHERE history_search MATCH +?1) t
        CROSS JOIN history_records r ON r.n = t.n AND r.kind = ${fdbEntryKind.code}
        CROSS JOIN history_spans s ON s.scope = +?2 * 64 + r.kind AND s.n = r.n AND s.born <= +?3 AND s.died > +?3
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (r.n << 31)
          AND key <= ((r.n << 31) | +?3))
        WHERE ${ENTRY} ->> '$.network_id' = +?4`,
    )
    .values(exactTerm(macAddress), reach.organizationN, sequence, networkId) as Array<[number]>;
  return rows.map(([port]) => port);
}

/** Returns whether a port is an edge port as of a transaction: no LLDP or CDP neighbor, and few MAC addresses. */
export function edgesAt(reader: Pick<ReadConnection, "statement">, sequence: number): (port: number) => boolean {
  const known = new Map<number, boolean>();
  const announced = ["neighbor", "lldp_chassis_id", "cdp_device_id"]
    .map((field) => `${PORT} ->> '$.${field}' IS NOT NULL`)
    .join(" OR ");
  const text = `SELECT v.operation <> ${OPERATION.Deleted} AND NOT (${announced}),
      coalesce((SELECT c.count FROM history_census c WHERE c.scope = +?3 AND c.sequence <= +?2
        ORDER BY c.sequence DESC LIMIT 1), 0)
    FROM history_versions v WHERE v.key = (SELECT max(key) FROM history_versions WHERE key > (+?1 << 31)
      AND key <= ((+?1 << 31) | +?2))`;
  return (port) => {
    let isEdge = known.get(port);
    if (isEdge === undefined) {
      const [row] = reader.statement(text).values(port, sequence, scopeKey(port, fdbEntryKind)) as [number, number][];
      isEdge = row !== undefined && row[0] === 1 && row[1] <= EDGE_MACS_MAX;
      known.set(port, isEdge);
    }
    return isEdge;
  };
}
