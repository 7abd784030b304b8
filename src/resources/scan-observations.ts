// Memory of scans outside the ledger, dropped by prunes once nothing can ask for it: without that, it only grows.

import type { Instant } from "../base/instant.ts";
import type { Sql } from "../db/connection.ts";
import { isDroppableRange } from "../db/thinning.ts";

/** Time after which a record that ended is forgotten: until then it may be restored, or return. */
const REMEMBERED_MS = 90 * 86_400_000;

/** Tables with a row per record, and the column with its number. Sightings of addresses in use keep their reporters. */
const MEMORIES: ReadonlyArray<readonly [table: string, column: string, condition?: string]> = [
  ["discovery_vlan_names", "host_n"],
  ["discovery_macs", "host_n"],
  ["discovery_tellings", "host_n"],
  ["discovery_served", "host_n"],
  ["discovery_reads", "host_n"],
  ["discovery_reads_by_name", "host_n"],
  ["discovery_open_ports", "host_n"],
  ["ended_hosts", "host_n"],
  ["discovery_reporters", "host_n", "AND n NOT IN (SELECT reporter_n FROM discovery_sightings)"],
  ["discovery_credentials", "credential_n"],
  ["discovery_schedule_runs", "schedule_n"],
  ["discovery_sweeps", "network_n"],
  ["discovery_sign_counts", "network_n"],
];

/**
 * Drops the memory of records that ended long ago, and decisions on identity that none of the retained states
 * needs. Call after dropSightings.
 * @param retained sequences of the states of thinned history, ascending
 */
export function dropScanMemory(db: Sql["$client"], retained: readonly number[], now: Instant): void {
  dropDecisions(db, retained);
  const gone = db.query(GONE).values(now - REMEMBERED_MS) as Array<[number]>;
  const numbers = JSON.stringify(gone.map(([n]) => n));
  for (const [table, column, condition = ""] of MEMORIES)
    db.query(`DELETE FROM ${table} WHERE ${column} IN (SELECT value FROM json_each(?1)) ${condition}`).run(numbers);
}

/** A decision holds until the next one at its address, or until its host ends. */
function dropDecisions(db: Sql["$client"], retained: readonly number[]): void {
  const drop = db.prepare("DELETE FROM discovery_identities WHERE network_n = ? AND ip_address = ? AND sequence = ?");
  const ended = db.query(DECISIONS).values(retained.at(-1) ?? 0) as Array<[number, string, number, number]>;
  for (const [networkN, address, since, until] of ended)
    if (isDroppableRange({ since, until }, retained)) drop.run(networkN, address, since);
  drop.finalize();
}

/** When records died: far in the future while they live. */
const DEATHS = (numbers: string) => `WITH remembered AS MATERIALIZED (${numbers}),
  deaths AS MATERIALIZED (SELECT n, max(died) AS died FROM history_spans
    WHERE n IN (SELECT n FROM remembered) GROUP BY n)`;
const GONE = `${DEATHS(MEMORIES.map(([table, column]) => `SELECT ${column} AS n FROM ${table}`).join(" UNION "))}
  SELECT r.n FROM remembered r LEFT JOIN deaths d ON d.n = r.n LEFT JOIN history_transactions t ON t.sequence = d.died
  WHERE r.n IS NOT NULL AND (d.n IS NULL OR t.at <= ?1)`;
const DECISIONS = `${DEATHS("SELECT DISTINCT host_n AS n FROM discovery_identities")}
  SELECT network_n, ip_address, sequence, until FROM (
    SELECT i.network_n, i.ip_address, i.sequence, coalesce(lead(i.sequence) OVER (
      PARTITION BY i.network_n, i.ip_address ORDER BY i.sequence), d.died, 0) AS until
    FROM discovery_identities i LEFT JOIN deaths d ON d.n = i.host_n)
  WHERE until <= ?1`;
