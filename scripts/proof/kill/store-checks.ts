// Store file checks without the program: SQLite's integrity, the ledger's sequence, and live rows against the newest
// versions. For copies only: opening the file as a writer checkpoints the log.

import { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { getTableName } from "drizzle-orm";
import { writtenSql } from "../../../src/db/packing.ts";
import { KINDS } from "../../../src/records/resources.ts";

/** Finds the flaws of a store. @param versions acknowledged versions, all of which must exist */
export function findFlaws(
  database: string,
  versions: readonly { readonly id: string; readonly at: string }[],
): string[] {
  if (!existsSync(database)) return versions.length === 0 ? [] : [`${database} is missing`];
  if (statSync(database).size === 0 && !existsSync(`${database}-wal`) && versions.length === 0) return [];
  const flaws: string[] = [];
  const db = new Database(database, { readwrite: true, strict: true });
  try {
    const integrity = db.query("PRAGMA integrity_check").values().flat();
    if (integrity.join() !== "ok") return [`integrity_check: ${integrity.slice(0, 3).join("; ")}`];
    if (db.query("SELECT 1 FROM sqlite_schema WHERE name = 'history_transactions'").get() === null)
      return versions.length === 0 ? [] : ["the ledger is missing"];
    const violations = db.query("PRAGMA foreign_key_check").values();
    if (violations.length > 0) flaws.push(`foreign_key_check: ${violations.length} rows`);
    const [gaps] = db
      .query("SELECT count(*) = coalesce(max(sequence), 0), count(DISTINCT at) = count(*) FROM history_transactions")
      .values() as [[number, number]];
    if (gaps[0] !== 1 || gaps[1] !== 1) flaws.push("the sequence has a gap, or two transactions share a timestamp");
    for (const kind of KINDS) flaws.push(...liveRowMismatches(db, getTableName(kind.table), kind.code));
    const versionQuery = db.query(
      `SELECT 1 FROM history_records r JOIN history_versions v ON v.key > (r.n << 31) AND v.key < ((r.n + 1) << 31)
        WHERE r.id = ? AND v.valid_from = ?`,
    );
    const lost = versions.filter(({ id, at }) => versionQuery.get(id, at) === null);
    if (lost.length > 0)
      flaws.push(
        `${lost.length} of ${versions.length} acknowledged versions are missing, such as ${lost[0]?.id} of ${lost[0]?.at}`,
      );
    return flaws;
  } catch (error) {
    return [...flaws, String(error)];
  } finally {
    db.close();
  }
}

function liveRowMismatches(db: Database, table: string, code: number): string[] {
  const differing = db
    .query(
      `SELECT count(*) FROM history_records r LEFT JOIN ${table} live ON live.n = r.n
       JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions
         WHERE key > (r.n << 31) AND key < ((r.n + 1) << 31))
       WHERE r.kind = ? AND ${writtenSql("v", "members")} IS NOT live.members AND NOT (v.operation = 3 AND live.n IS NULL)`,
    )
    .values(code)
    .flat()[0];
  return differing === 0 ? [] : [`${differing} rows of ${table} differ from their newest versions`];
}
