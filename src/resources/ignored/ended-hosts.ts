// Signs of ended hosts, by which scans recognize a host that returns. Stored outside the ledger; without them, a
// returning host becomes a new host.

import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { KeyedRows } from "../../db/keyed-row.ts";
import { withChecksum } from "../../db/row-checksum.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import type { HostRecord } from "../hosts/host.ts";

/** Days within which a host returns with its lineage. */
const RETURN_DAYS = 90;
/** Maximum number of ended hosts to compare with a new device. */
const COMPARED_MAX = 64;

const endedHosts = sqliteTable("ended_hosts", {
  host_n: integer().notNull(),
  sign: text().notNull(),
  network_n: integer().notNull(),
  ended_at: integer().notNull(),
  lineage_id: text().notNull(),
  checksum: integer().notNull(),
});
const endedRows = new KeyedRows(endedHosts, ["host_n", "sign"]);

export interface EndedHost {
  readonly hostN: number;
  /** Id of its first incarnation. */
  readonly lineageId: string;
  /** Format of ignored entries: `serial:FOC1234`. */
  readonly signs: readonly string[];
}

/** Stores the signs of a host that this transaction removes, and drops those of hosts that can no longer return. */
export function rememberEndedHost(tx: WriteTransaction, host: HostRecord, signs: readonly string[]): void {
  const host_n = tx.recordN(host.id);
  const network_n = tx.recordN(host.network_id);
  // Created in this transaction.
  if (host_n === null || host_n <= 0 || network_n === null) return;
  tx.runAfterWrite(() => {
    tx.db.$client.query(DROP_OLD).run(network_n, earliestOf(tx));
    // It may have ended before and been restored.
    tx.db.$client.query(DROP).run(host_n);
    const ended = { host_n, network_n, ended_at: tx.instant, lineage_id: host.lineage_id ?? host.id };
    for (const sign of signs) endedRows.upsert(tx.db, withChecksum(endedHosts, { ...ended, sign }));
  });
}

/**
 * Hosts of a network that ended in the last RETURN_DAYS days and share signs with the given ones, most recently ended
 * first, except restored ones; at most COMPARED_MAX, those that share the most signs. Signs may differ in case.
 */
export function endedHostsWith(tx: WriteTransaction, networkN: number, signs: Iterable<string>): EndedHost[] {
  const { $client } = tx.db;
  const list = JSON.stringify([...signs].map((sign) => sign.toLowerCase()));
  const found = $client.query(WITH_SIGNS).values(networkN, list, earliestOf(tx)) as Array<[number, string]>;
  return found.map(([hostN, lineageId]) => {
    const rows = $client.query(SIGNS_OF).values(hostN) as Array<[string]>;
    return { hostN, lineageId, signs: rows.map(([sign]) => sign) };
  });
}

/** Drops the signs of a host that returned, or that was identified as another host. */
export function forgetEndedHost(tx: WriteTransaction, hostN: number): void {
  tx.runAfterWrite(() => {
    tx.db.$client.query(DROP).run(hostN);
  });
}

function earliestOf({ instant }: WriteTransaction): number {
  return instant - RETURN_DAYS * 86_400_000;
}

const WITH_SIGNS = `SELECT host_n, lineage_id FROM (
    SELECT e.host_n, e.lineage_id, e.ended_at FROM json_each(+?2) j
    CROSS JOIN ended_hosts e ON e.network_n = +?1 AND lower(e.sign) = j.value
    WHERE +e.ended_at >= ?3 AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.n = e.host_n)
    GROUP BY e.host_n ORDER BY count(*) DESC, e.ended_at DESC, e.host_n LIMIT ${COMPARED_MAX})
  ORDER BY ended_at DESC, host_n`;
const SIGNS_OF = "SELECT sign FROM ended_hosts WHERE host_n = +?1 ORDER BY sign";
const DROP = "DELETE FROM ended_hosts WHERE host_n = +?1";
const DROP_OLD = "DELETE FROM ended_hosts WHERE network_n = +?1 AND ended_at < +?2";
