// Derived data rebuild from the ledger: spans, census, activity, search, lineages, live rows and links. One transaction
// on an offline store. Secrets, passwords and observations have no history and stay.

import { getTableColumns, getTableName } from "drizzle-orm";
import { ownValue } from "../../base/fields.ts";
import { runSteps } from "../../base/steps.ts";
import type { Sql } from "../../db/connection.ts";
import { dropForeignObjects } from "../../db/files/expected-schema.ts";
import { type AnyKind, OPERATION, parseMembers, type RecordBase } from "../../db/kind.ts";
import { OBSERVATIONS, observedChecksum } from "../../db/row-checksum.ts";
import { acceptRowSums, installRowSumTriggers } from "../../db/row-sums.ts";
import { ALIVE, BLOCK_BITS } from "../../db/schema.ts";
import { membersSql, sortKeysSql } from "../../db/shape.ts";
import { INSERT_WORDS } from "../../db/writing/statements.ts";
import { ChangeCountsRebuild } from "./change-counts.ts";
import { Derivation, type RecordHistory } from "./derived.ts";
import { type LedgerVersion, STEP_ROWS, walkVersions } from "./ledger-walk.ts";
import { countMissing, countOtherTables, type Dropped, dropDamaged, dropOrphans } from "./outside-ledger.ts";

/** The last record to end under each identity. */
const LINEAGES = `
  INSERT INTO history_lineages (kind, identity, lineage_id)
  SELECT kind, identity, lineage_id
    FROM (SELECT *, row_number() OVER (PARTITION BY kind, identity ORDER BY sequence DESC, n DESC) AS place
    FROM temp.ends)
  WHERE place = 1`;

const CENSUS = `
  INSERT INTO history_census (scope, sequence, count)
  SELECT scope, sequence, sum(sum(delta)) OVER (PARTITION BY scope ORDER BY sequence) FROM (
    SELECT scope, born AS sequence, 1 AS delta FROM history_spans
    UNION ALL SELECT scope, died, -1 FROM history_spans WHERE died <= (SELECT max(sequence) FROM history_transactions)
  ) GROUP BY scope, sequence HAVING sum(delta) <> 0`;

/** Span blocks of the container kinds that have them: organization and network. */
export const SPAN_BLOCKS = `
  SELECT s.scope, s.n >> ${BLOCK_BITS}, count(*) FILTER (WHERE s.died = ${ALIVE}),
    coalesce(max(s.died) FILTER (WHERE s.died < ${ALIVE}), 0)
  FROM history_spans s JOIN history_records r ON r.n = s.scope >> 6 AND r.kind IN (1, 2)
    GROUP BY s.scope, s.n >> ${BLOCK_BITS}`;

const ACTIVITY = `
  INSERT INTO history_activity (scope, sequence, ordinal)
  SELECT scope, sequence, row_number() OVER (PARTITION BY scope ORDER BY sequence)
    FROM (SELECT DISTINCT scope, sequence FROM temp.activity)`;

/** FTS5 command. */
const CLEAR_WORDS = "INSERT INTO history_words (history_words) VALUES ('delete-all')";

const INSERT_TEXT = "INSERT INTO history_search_texts (key, owner_n, text) VALUES ((?1 << 31) | ?2, ?3, ?4)";
const INSERT_OBSERVED = "INSERT INTO observations (n, observed, checksum) VALUES (?, ?, ?) ON CONFLICT (n) DO NOTHING";

/** @param n the record number reached */
type OnProgress = (n: number) => void;

interface Statement {
  run(...values: unknown[]): { readonly changes: number };
}

/**
 * Rebuilds all derived data, and restores indexes and triggers. The ledger must be intact: it is taken as truth. Drops
 * damaged rows outside the ledger, and resets missing observations to the newest versions. Missing rows count as lost,
 * on record.
 * @param onProgress called with the record number reached
 * @returns the dropped and the missing rows
 * @throws Error if a version is unreadable; then nothing is changed
 */
export function rebuildDerived(db: Sql, kinds: readonly AnyKind[], onProgress?: OnProgress): Dropped {
  return db.$client
    .transaction(() => {
      const definitions = dropForeignObjects(db);
      installRowSumTriggers(db);
      const [before, missing] = [countOtherTables(db), countMissing(db)];
      dropDamaged(db);
      const restored = rebuildWithin(db, kinds, onProgress);
      dropOrphans(db);
      for (const sql of definitions) db.$client.run(sql);
      const after = countOtherTables(db);
      const damaged = new Map([...before].map(([table, rows]) => [table, rows - (after.get(table) ?? 0)]));
      acceptRowSums(db, new Map([...missing].map(([table, rows]) => [table, rows + (damaged.get(table) ?? 0)])));
      return { damaged: damaged.set(OBSERVATIONS, restored), missing };
    })
    .immediate();
}

/**
 * Rebuilds derived data in the caller's transaction, without tables outside the ledger.
 * @returns the number of missing observations
 */
function rebuildWithin(db: Sql, kinds: readonly AnyKind[], onProgress?: OnProgress): number {
  return new Rebuild(db, kinds).run(onProgress);
}

/** Like rebuildWithin, except for the live state, which stays: for use after dropping older versions. */
export function rebuildPastWithin(db: Sql, kinds: readonly AnyKind[], onProgress?: OnProgress): void {
  new Rebuild(db, kinds).runForPast(onProgress);
}

/**
 * Rewrites live rows and links of these kinds from their newest versions, in the caller's transaction. Other derived
 * data stays: upcasters do not change its inputs.
 */
export function rebuildLiveWithin(db: Sql, kinds: readonly AnyKind[]): void {
  new Rebuild(db, kinds).runForLive();
}

class Rebuild {
  private readonly db: Sql;
  private readonly kinds: ReadonlyMap<number, AnyKind>;
  private readonly derivation: Derivation;
  private readonly statements = new Map<string, Statement>();
  private history: RecordHistory | null = null;
  private restoredObservations = 0;

  constructor(db: Sql, kinds: readonly AnyKind[]) {
    this.db = db;
    this.kinds = new Map(kinds.map((kind) => [kind.code, kind]));
    this.derivation = new Derivation(db);
  }

  /** @returns the number of missing observations */
  run(onProgress?: OnProgress): number {
    const { $client } = this.db;
    // Rows may refer to rows that are written later; at COMMIT all exist.
    $client.run("PRAGMA defer_foreign_keys = ON");
    $client.run("DELETE FROM live_links");
    for (const kind of this.kinds.values()) {
      const table = getTableName(kind.table);
      // Updates rows in place: deleting them would cascade to dependent rows, such as passwords.
      $client.run(`UPDATE ${table} SET identity = NULL`);
      $client.run(
        `DELETE FROM ${table} WHERE (SELECT kind FROM history_records r WHERE r.n = ${table}.n) IS NOT ${kind.code}`,
      );
    }
    this.rebuildPast((history) => {
      this.writePast(history);
      this.writeLive(history);
    }, onProgress);
    return this.restoredObservations;
  }

  runForPast(onProgress?: OnProgress): void {
    this.rebuildPast((history) => this.writePast(history), onProgress);
  }

  private rebuildPast(onHistory: (history: RecordHistory) => void, onProgress?: OnProgress): void {
    const { $client } = this.db;
    const counts = new ChangeCountsRebuild(this.db);
    const tables = "spans span_blocks census lineages activity change_counts search_texts".split(" ");
    for (const table of tables) $client.run(`DELETE FROM history_${table}`);
    $client.run("CREATE TEMP TABLE activity (scope INTEGER, sequence INTEGER)");
    $client.run("CREATE TEMP TABLE ends (kind INTEGER, identity TEXT, lineage_id TEXT, sequence INTEGER, n INTEGER)");
    $client.run(CLEAR_WORDS);
    this.walk((history) => {
      onHistory(history);
      counts.add(history);
    }, onProgress);
    counts.finish();
    $client.run(LINEAGES);
    $client.run(CENSUS);
    $client.run(`INSERT INTO history_span_blocks (scope, block, alive, died) ${SPAN_BLOCKS}`);
    this.finishActivityAndTexts();
    $client.run("DROP TABLE temp.ends");
  }

  /** Replays every record in turn. */
  private walk(onHistory: (history: RecordHistory) => void, onProgress?: OnProgress): void {
    const [[lastN]] = this.db.$client.query("SELECT coalesce(max(n), 0) FROM history_records").values() as [[number]];
    const steps = walkVersions(this.db, this.kinds, lastN, (versions) => this.step(versions, onHistory));
    runSteps(steps, onProgress);
    this.complete(onHistory);
  }

  runForLive(): void {
    for (const kind of this.kinds.values()) {
      const step = this.db.$client.prepare(`
        SELECT l.n, r.id, v.key & 2147483647 AS sequence, v.operation, v.changed, v.composed, ${membersSql(kind, "v")} AS
          currentMembers, ${sortKeysSql(kind, "v")} AS currentSortKeys
        FROM ${getTableName(kind.table)} l CROSS JOIN history_records r ON r.n = l.n
        CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions
          WHERE key > (l.n << 31) AND key <= ((l.n << 31) | 2147483647))
        WHERE l.n > ? ORDER BY l.n LIMIT ${STEP_ROWS}`);
      let after = 0;
      for (let count = STEP_ROWS; count === STEP_ROWS; ) {
        const versions = step.all(after) as Array<LedgerVersion & { id: string; currentMembers: string }>;
        for (const version of versions) {
          this.execute("DELETE FROM live_links WHERE n = ?", version.n);
          this.writeLiveRow(this.derivation.start(kind, version.id, version, parseMembers(version.currentMembers)));
        }
        after = versions.at(-1)?.n ?? after;
        count = versions.length;
      }
      step.finalize();
    }
  }

  private finishActivityAndTexts(): void {
    const { $client } = this.db;
    $client.run(ACTIVITY);
    // FTS5 command that reads the text again.
    $client.run("INSERT INTO history_search (history_search) VALUES ('rebuild')");
    $client.run("DROP TABLE temp.activity");
  }

  private step(versions: readonly LedgerVersion[], onHistory: (history: RecordHistory) => void): void {
    for (const version of versions) {
      const record = version.currentMembers === null ? null : parseMembers<RecordBase>(version.currentMembers);
      if (this.history !== null && this.history.n === version.n) {
        this.derivation.append(this.history, version, record);
        continue;
      }
      this.complete(onHistory);
      const kind = this.kinds.get(version.kind ?? 0);
      if (kind === undefined || version.id === null || record === null)
        throw new Error(`rebuild: n ${version.n} is not a readable record`);
      this.history = this.derivation.start(kind, version.id, version, record);
    }
  }

  private complete(onHistory: (history: RecordHistory) => void): void {
    if (this.history !== null) onHistory(this.history);
  }

  private writeActivityAndTexts(history: RecordHistory): void {
    const { n } = history;
    for (const [scope, sequence] of history.activity)
      this.execute("INSERT INTO temp.activity VALUES (?, ?)", scope, sequence);
    for (const { sequence, ownerN, text } of history.texts) this.execute(INSERT_TEXT, n, sequence, ownerN, text);
  }

  private words({ n, words }: RecordHistory): void {
    for (const { sequence, entries } of words) this.execute(INSERT_WORDS, n, sequence, entries);
  }

  private writePast(history: RecordHistory): void {
    const { kind, n } = history;
    this.writeActivityAndTexts(history);
    this.words(history);
    for (const { scope, born, died } of this.derivation.spans(history))
      this.execute("INSERT INTO history_spans (scope, n, born, died) VALUES (?, ?, ?, ?)", scope, n, born, died);
    for (const { identity, lineageId, sequence } of history.ends)
      this.execute("INSERT INTO temp.ends VALUES (?, ?, ?, ?, ?)", kind.code, identity, lineageId, sequence, n);
  }

  private writeLive(history: RecordHistory): void {
    const { kind, n } = history;
    if (history.newest.operation === OPERATION.Deleted) {
      this.execute(`DELETE FROM ${getTableName(kind.table)} WHERE n = ?`, n);
      this.execute("DELETE FROM observations WHERE n = ?", n);
      return;
    }
    this.writeLiveRow(history);
    if (kind.observed.length > 0) {
      const { observed } = history.newest;
      this.restoredObservations += this.execute(INSERT_OBSERVED, n, observed, observedChecksum(n, observed));
    }
  }

  /** Writes the live row and links of a live record. */
  private writeLiveRow(history: RecordHistory): void {
    const { kind, n } = history;
    const row = this.derivation.liveRow(history);
    const values = Object.keys(getTableColumns(kind.table)).map((column) => ownValue(row, column) ?? null);
    this.execute(upsertOf(kind), ...values);
    for (const link of this.derivation.links(history))
      this.execute("INSERT INTO live_links (n, relation, target_n) VALUES (?, ?, ?)", n, link.relation, link.target_n);
  }

  /** @returns the number of changed rows */
  private execute(sql: string, ...values: unknown[]): number {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.db.$client.prepare(sql) as Statement;
      this.statements.set(sql, statement);
    }
    return statement.run(...values).changes;
  }
}

function upsertOf(kind: AnyKind): string {
  const columns = Object.keys(getTableColumns(kind.table));
  const changes = columns.filter((column) => column !== "n").map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${getTableName(kind.table)} (${columns.join(", ")})
    VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT (n) DO UPDATE SET ${changes.join(", ")}`;
}
