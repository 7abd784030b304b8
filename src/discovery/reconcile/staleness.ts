// Query for records not seen by discovery for some time. Runs outside the writer: it scans a whole network.

import { getTableName } from "drizzle-orm";
import { formatInstant, type Instant } from "../../base/instant.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { AGING_KINDS } from "./commands.ts";

export interface Unseen {
  readonly entity: string;
  readonly id: string;
}

/**
 * Live, non-stale records found or seen by discovery and last seen before the cutoff, by kind and number. Excludes
 * manual records that no scan saw.
 * @param cutoff now minus the network's stale_after_hours
 */
export function* findUnseen(db: Reader["db"], networkN: number, cutoff: Instant): Generator<Unseen> {
  for (const kind of AGING_KINDS) {
    // Parts count as seen when entered; hosts only when discovered.
    const discoveredCondition = kind.observed.includes("last_discovery_id")
      ? "AND json_extract('{' || substr(o.observed, 2) || '}', '$.last_discovery_id') IS NOT NULL"
      : "";
    const rows = db
      .query(
        `SELECT r.id FROM ${getTableName(kind.table)} l JOIN observations o ON o.n = l.n
          JOIN history_records r ON r.n = l.n
         WHERE l.network_n = +?1 AND json_extract('{' || substr(o.observed, 2) || '}', '$.last_seen_at') < ?2
           AND json_extract('{' || l.members || '}', '$.stale_since') IS NULL ${discoveredCondition} ORDER BY l.n`,
      )
      .iterate(networkN, formatInstant(cutoff)) as Iterable<{ id: string }>;
    for (const { id } of rows) yield { entity: kind.name, id };
  }
}
