// Prepared statements of the writer, one set per connection. No business rules: those are in the ledger and the
// transaction.

import { and, desc, eq, getTableColumns, getTableName, lte, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { ChangeCounts } from "../change-counts.ts";
import type { Sql } from "../connection.ts";
import { CHAIN_START, HASH_MARK_SQL } from "../hash.ts";
import { type AnyKind, renderObserved } from "../kind.ts";
import type { BaseVersion } from "../packing.ts";
import { observedChecksum } from "../row-checksum.ts";
import {
  ALIVE,
  historyActivity,
  historyCensus,
  historyLineages,
  historyRecords,
  historySearchTexts,
  historySpans,
  historyTransactions,
  historyVersions,
  liveLinks,
  observations,
} from "../schema.ts";
import type { Entry } from "./entry.ts";
import { NativeInsert, NativeStatement, type RenderedQuery } from "./native-statement.ts";

/** A version row. SQL combines `n` and `sequence` into the key. */
export interface VersionRow extends Omit<typeof historyVersions.$inferInsert, "key" | "hash" | "patch"> {
  readonly n: number;
  readonly sequence: number;
  readonly hash: Uint8Array;
  readonly patch: bigint | null;
}

/** A record's last whole version. */
export interface LastBase extends BaseVersion {
  /** Number of versions after it. */
  readonly followers: number;
}

interface Head {
  readonly sequence: number;
  readonly at: number;
}

/** A single-row statement. */
interface SingleRowStatement {
  get(...values: Array<string | number>): unknown;
}

interface Lookup {
  all(...values: number[]): unknown[];
  values(...values: number[]): unknown[][];
}

const value = sql.placeholder;

/** Parameters: record number, sequence, and entries from nameIndexChanges. */
export const INSERT_WORDS = "INSERT INTO history_words (rowid, entries) VALUES ((?1 << 31) | ?2, ?3)";

export class Statements {
  readonly db: Sql;
  private readonly perKind = new Map<string, Prepared<ReturnType<typeof liveStatements>>>();
  private readonly ledger: Prepared<ReturnType<typeof ledgerStatements>>;
  private readonly updateBlock: { run(alive: number, died: number, scope: number, block: number): { changes: number } };
  private readonly insertBlock: { run(scope: number, block: number, alive: number, died: number): unknown };
  private readonly insertCounts: {
    run(scope: number, sequence: number, created: number, updated: number, deleted: number): unknown;
  };
  private readonly indexText: { run(n: number, sequence: number, text: string): unknown };
  private readonly indexEntries: { run(n: number, sequence: number, entries: string): unknown };
  private readonly storeObserved: { run(observed: string, checksum: number, numbers: string): unknown };
  private readonly readBase: { values(n: number, sequence: number): unknown[][] };
  private readonly readChanges: { values(): unknown[][] };
  private readonly readHashPrefix: { values(sequence: number): unknown[][] };
  private readonly lookups = new Map<string, Lookup>();

  constructor(db: Sql) {
    this.db = db;
    renderedLedger ??= ledgerStatements(db);
    this.ledger = prepare(db, renderedLedger);
    this.updateBlock = db.$client.prepare(
      "UPDATE history_span_blocks SET alive = alive + ?1, died = max(died, ?2) WHERE scope = +?3 AND block = +?4",
    );
    this.insertBlock = db.$client.prepare(
      "INSERT INTO history_span_blocks (scope, block, alive, died) VALUES (?, ?, ?, ?)",
    );
    this.insertCounts = db.$client.prepare(`
      INSERT INTO history_change_counts (scope, sequence, created, updated, deleted)
      SELECT +?1, +?2, ?3 + coalesce(c.created, 0), ?4 + coalesce(c.updated, 0), ?5 + coalesce(c.deleted, 0)
      FROM (SELECT 1) LEFT JOIN (SELECT created, updated, deleted FROM history_change_counts WHERE scope = +?1
        ORDER BY sequence DESC LIMIT 1) c`);
    this.readBase = db.$client.prepare(`SELECT b.key & 2147483647, b.members, b.observed, b.sort_keys,
        (SELECT count(*) FROM history_versions f WHERE f.key > b.key AND f.key < ((?1 << 31) | ?2))
      FROM history_versions b WHERE b.key > (?1 << 31) AND b.key < ((?1 << 31) | ?2) AND b.patch IS NULL
      ORDER BY b.key DESC LIMIT 1`);
    this.readChanges = db.$client.prepare("SELECT total_changes()");
    this.readHashPrefix = db.$client.prepare(`SELECT ${HASH_MARK_SQL} FROM history_transactions WHERE sequence = +?`);
    this.storeObserved = db.$client.prepare(`INSERT INTO observations (n, observed, checksum)
      SELECT value, ?1, ?2 + value FROM json_each(?3) WHERE true
      ON CONFLICT (n) DO UPDATE SET observed = excluded.observed, checksum = excluded.checksum`);
    this.indexText = db.$client.prepare("INSERT INTO history_search (rowid, text) VALUES ((?1 << 31) | ?2, ?3)");
    this.indexEntries = db.$client.prepare(INSERT_WORDS);
  }

  /** Rows inserted, updated or deleted by this connection since it was opened. */
  changes(): number {
    return (this.readChanges.values()[0] as [number])[0];
  }

  /** Sequence and timestamp of the newest transaction; not cached, since other processes may write. */
  head(): Head {
    const [sequence, at] = (this.ledger.head.first() as [number, number] | undefined) ?? [0, -1];
    return { sequence, at };
  }

  headHash(): Uint8Array {
    return (this.ledger.headHash.first()?.[0] as Uint8Array | undefined) ?? CHAIN_START;
  }

  /** First bytes of a transaction's hash, in hexadecimal; empty if there is no such transaction. */
  hashPrefixOf(sequence: number): string {
    return (this.readHashPrefix.values(sequence)[0]?.[0] as string | undefined) ?? "";
  }

  lastN(): number {
    return (this.ledger.lastN.first()?.[0] as number | undefined) ?? 0;
  }

  /** Adds records with their numbers, consecutive after the last one. */
  appendRecords(rows: ReadonlyArray<{ n: number; kind: number; id: string }>): void {
    this.ledger.insertRecord.run(rows);
  }

  recordN(id: string): number | null {
    return (this.ledger.recordN.first({ id })?.[0] as number | undefined) ?? null;
  }

  recordId(n: number): string | null {
    return (this.ledger.recordId.first({ n })?.[0] as string | undefined) ?? null;
  }

  insertTransaction(row: Omit<typeof historyTransactions.$inferInsert, "hash"> & { hash: Uint8Array }): void {
    this.ledger.insertTransaction.run({ ...row, hash: Buffer.from(row.hash) });
  }

  insertVersions(rows: readonly VersionRow[]): void {
    this.ledger.insertVersion.run(rows as ReadonlyArray<VersionRow & Record<string, unknown>>);
  }

  /** Base for packing the next version of a record; null if its last whole version is a deletion. */
  base(n: number, sequence: number): LastBase | null {
    const [row] = this.readBase.values(n, sequence) as [number, string | null, string, string | null, number][];
    if (row === undefined) return null;
    const [found, members, observed, sort_keys, followers] = row;
    return members === null ? null : { sequence: found, members, observed, sort_keys, followers };
  }

  /** Opens spans of records in scopes, from this transaction on. */
  openSpan(spans: ReadonlyArray<{ scope: number; n: number }>, sequence: number): void {
    this.ledger.insertSpan.run(spans.map(({ scope, n }) => ({ scope, n, born: sequence, died: ALIVE })));
  }

  closeSpan(scope: number, n: number, sequence: number): void {
    this.ledger.endSpan.run({ scope, n, died: sequence });
  }

  addToCensus(scope: number, sequence: number, delta: number): void {
    const last = (this.ledger.census.first({ scope, sequence })?.[0] as number | undefined) ?? 0;
    this.ledger.insertCensus.run({ scope, sequence, count: last + delta });
  }

  /** Changes the live count of a block. @param died the transaction that ended some; 0 for none */
  addToBlock(scope: number, block: number, alive: number, died: number): void {
    const { changes } = this.updateBlock.run(alive, died, scope, block);
    if (changes === 0) this.insertBlock.run(scope, block, alive, died);
  }

  /** Records activity of this transaction in a scope. */
  addActivity(scope: number, sequence: number): void {
    this.ledger.addActivity.run({ scope, sequence });
  }

  /** Adds this transaction's change counts to a scope. */
  addChangeCounts(scope: number, sequence: number, { Created, Updated, Deleted }: ChangeCounts): void {
    this.insertCounts.run(scope, sequence, Created, Updated, Deleted);
  }

  /** Full-text entries of records, from their versions of this transaction on. */
  insertSearchTexts(texts: ReadonlyArray<{ n: number; sequence: number; owner_n: number; text: string }>): void {
    this.ledger.insertSearchText.run(texts);
    for (const { n, sequence, text } of texts) if (text !== "") this.indexText.run(n, sequence, text);
  }

  /** Word-index changes for records, with their versions of this transaction. */
  insertWords(changes: ReadonlyArray<{ n: number; sequence: number; entries: string }>): void {
    for (const { n, sequence, entries } of changes) this.indexEntries.run(n, sequence, entries);
  }

  lineage(kind: number, identity: string): string | null {
    return (this.ledger.lineage.first({ kind, identity })?.[0] as string | undefined) ?? null;
  }

  /** Stores the lineage of an ended record's identity. */
  storeLineage(kind: number, identity: string, lineageId: string): void {
    this.ledger.storeLineage.run({ kind, identity, lineage_id: lineageId });
  }

  /** For records that have no row yet. */
  insertObserved(rows: ReadonlyArray<{ n: number; observed: string }>): void {
    this.ledger.insertObserved.run(rows.map((row) => ({ ...row, checksum: observedChecksum(row.n, row.observed) })));
  }

  /** One statement for all entries with the same values: a scan sees thousands at once. */
  setObserved(entries: readonly Entry[]): void {
    const byText = Map.groupBy(entries, (entry) => renderObserved(entry.kind, entry.observed));
    for (const [observed, same] of byText)
      this.storeObserved.run(observed, observedChecksum(0, observed), JSON.stringify(same.map(({ n }) => n)));
  }

  deleteObserved(n: number): void {
    this.ledger.deleteObserved.run({ n });
  }

  link(n: number, relation: string, targetN: number): void {
    this.ledger.link.run({ n, relation, target_n: targetN });
  }

  unlink(n: number): void {
    this.ledger.unlink.run({ n });
  }

  unlinkOne(n: number, relation: string, targetN: number): void {
    this.ledger.unlinkOne.run({ n, relation, target_n: targetN });
  }

  isLinkedTo(n: number): boolean {
    return this.ledger.isLinkedTo.first({ target_n: n }) !== undefined;
  }

  linksTo(targetN: number, relation: string): Array<{ kind: number; id: string }> {
    return this.ledger.linksTo
      .all({ target_n: targetN, relation })
      .map(([kind, id]) => ({ kind: kind as number, id: id as string }));
  }

  insertLive(kind: AnyKind, row: Record<string, unknown>): void {
    this.live(kind).insert.run(row);
  }

  updateLive(kind: AnyKind, row: Record<string, unknown>): void {
    this.live(kind).update.run(row);
  }

  /** Writes a new version without changes to filtered or constrained columns of the live table. */
  updateContent(
    kind: AnyKind,
    row: { n: number; sequence: number; composed: number; sort_keys: string | null; members: string },
  ): void {
    this.live(kind).updateContent.run(row);
  }

  deleteLive(kind: AnyKind, n: number): void {
    this.live(kind).remove.run({ n });
  }

  clearIdentity(kind: AnyKind, n: number): void {
    this.live(kind).clearIdentity.run({ n });
  }

  liveById(kind: AnyKind): SingleRowStatement {
    return this.live(kind).byId;
  }

  liveByIdentity(kind: AnyKind): SingleRowStatement {
    return this.live(kind).byIdentity;
  }

  /** Live identities with this prefix that are not pure ASCII. Covered by an index. */
  nonAsciiIdentities(kind: AnyKind, within: string): string[] {
    const rows = this.live(kind).nonAscii.values(within, `${within}\u{10ffff}`) as Array<[string]>;
    return rows.map(([identity]) => identity);
  }

  /** Live rows whose `column` holds a record number, in page order. */
  liveByColumn(kind: AnyKind, column: string): { all(...values: number[]): unknown[] } {
    return this.byColumn(kind, column, selectLive(kind));
  }

  /** Unique identities of those rows. */
  liveIdentities(kind: AnyKind, column: string, n: number): string[] {
    const select = `SELECT l.identity FROM ${getTableName(kind.table)} l`;
    return (this.byColumn(kind, column, select).values(n) as Array<[string]>).map(([identity]) => identity);
  }

  private byColumn(kind: AnyKind, column: string, select: string): Lookup {
    const name = `${select} ${column}`;
    let statement = this.lookups.get(name);
    if (statement === undefined) {
      if (!Object.hasOwn(getTableColumns(kind.table), column))
        throw new Error(`statements: ${kind.plural} has no column ${column}`);
      statement = this.db.$client.prepare(`${select} WHERE l.${column} = +? ORDER BY l.n`) as unknown as Lookup;
      this.lookups.set(name, statement);
    }
    return statement;
  }

  private live(kind: AnyKind): Prepared<ReturnType<typeof liveStatements>> {
    let statements = this.perKind.get(kind.name);
    if (statements === undefined) {
      let rendered = renderedLive.get(kind);
      if (rendered === undefined) {
        rendered = liveStatements(this.db, kind);
        renderedLive.set(kind, rendered);
      }
      statements = prepare(this.db, rendered);
      this.perKind.set(kind.name, statements);
    }
    return statements;
  }
}

/** Rendered once and prepared per connection: rendering takes longer, and the SQL never changes. */
let renderedLedger: ReturnType<typeof ledgerStatements> | null = null;
const renderedLive = new WeakMap<AnyKind, ReturnType<typeof liveStatements>>();

/** Prepare functions of the rendered statements, by name. */
type Rendered = Readonly<Record<string, (db: Sql) => unknown>>;
type Prepared<Statements extends Rendered> = { readonly [Name in keyof Statements]: ReturnType<Statements[Name]> };

function prepare<Statements extends Rendered>(db: Sql, rendered: Statements): Prepared<Statements> {
  return Object.fromEntries(Object.entries(rendered).map(([name, of]) => [name, of(db)])) as Prepared<Statements>;
}

function ledgerStatements(db: Sql) {
  const { sequence, at, hash } = historyTransactions;
  return {
    head: statement(db.select({ sequence, at }).from(historyTransactions).orderBy(desc(sequence)).limit(1)),
    headHash: statement(db.select({ hash }).from(historyTransactions).orderBy(desc(sequence)).limit(1)),
    lastN: statement(db.select({ n: historyRecords.n }).from(historyRecords).orderBy(desc(historyRecords.n)).limit(1)),
    insertRecord: insert(db.insert(historyRecords).values(placeholders(getTableColumns(historyRecords)))),
    recordN: statement(db.select({ n: historyRecords.n }).from(historyRecords).where(matching(historyRecords.id))),
    recordId: statement(db.select({ id: historyRecords.id }).from(historyRecords).where(matching(historyRecords.n))),
    insertTransaction: statement(
      db.insert(historyTransactions).values(placeholders(getTableColumns(historyTransactions))),
    ),
    insertVersion: insert(
      db
        .insert(historyVersions)
        // Combined in SQL: the key exceeds JavaScript's integer precision.
        .values({ ...placeholders(getTableColumns(historyVersions)), key: VERSION_KEY }),
    ),
    insertSpan: insert(db.insert(historySpans).values(placeholders(getTableColumns(historySpans)))),
    endSpan: statement(
      db
        .update(historySpans)
        .set({ died: sql`${value("died")}` })
        .where(and(matching(historySpans.scope, historySpans.n), eq(historySpans.died, ALIVE))),
    ),
    census: statement(
      db
        .select({ count: historyCensus.count })
        .from(historyCensus)
        .where(and(matching(historyCensus.scope), lte(historyCensus.sequence, value("sequence"))))
        .orderBy(desc(historyCensus.sequence))
        .limit(1),
    ),
    insertCensus: statement(db.insert(historyCensus).values(placeholders(getTableColumns(historyCensus)))),
    addActivity: statement(
      db.insert(historyActivity).values({
        scope: value("scope"),
        sequence: value("sequence"),
        ordinal: sql`1 + coalesce((SELECT a.ordinal FROM history_activity a WHERE a.scope = ${value("scope")} ORDER BY a.ordinal DESC LIMIT 1), 0)`,
      }),
    ),
    insertSearchText: insert(
      db.insert(historySearchTexts).values({ key: VERSION_KEY, owner_n: value("owner_n"), text: value("text") }),
    ),
    lineage: statement(
      db
        .select({ lineage_id: historyLineages.lineage_id })
        .from(historyLineages)
        .where(matching(historyLineages.kind, historyLineages.identity)),
    ),
    storeLineage: statement(
      db
        .insert(historyLineages)
        .values(placeholders(getTableColumns(historyLineages)))
        .onConflictDoUpdate({
          target: [historyLineages.kind, historyLineages.identity],
          set: { lineage_id: sql`excluded.lineage_id` },
        }),
    ),
    insertObserved: insert(db.insert(observations).values(placeholders(getTableColumns(observations)))),
    deleteObserved: statement(db.delete(observations).where(matching(observations.n))),
    link: statement(db.insert(liveLinks).values(placeholders(getTableColumns(liveLinks)))),
    unlink: statement(db.delete(liveLinks).where(matching(liveLinks.n))),
    unlinkOne: statement(db.delete(liveLinks).where(matching(liveLinks.n, liveLinks.relation, liveLinks.target_n))),
    isLinkedTo: statement(db.select({ n: liveLinks.n }).from(liveLinks).where(matching(liveLinks.target_n)).limit(1)),
    linksTo: statement(
      db
        .select({ kind: historyRecords.kind, id: historyRecords.id })
        .from(liveLinks)
        .innerJoin(historyRecords, eq(historyRecords.n, liveLinks.n))
        .where(matching(liveLinks.target_n, liveLinks.relation))
        .orderBy(liveLinks.n),
    ),
  };
}

const VERSION_KEY = sql`(${value("n")} << 31) | ${value("sequence")}`;

/** Columns of a live table that every version changes. */
const CONTENT = ["sequence", "composed", "sort_keys", "members"];

interface Renderable {
  toSQL(): RenderedQuery;
}

function statement(query: Renderable): (db: Sql) => NativeStatement {
  const rendered = query.toSQL();
  return (db) => new NativeStatement(db, rendered);
}

function insert(query: Renderable): (db: Sql) => NativeInsert {
  const rendered = query.toSQL();
  return (db) => new NativeInsert(db, rendered);
}

/** Condition that each column equals the parameter of its name. */
function matching(...columns: SQLiteColumn[]): SQL | undefined {
  return and(...columns.map((column) => eq(column, value(column.name))));
}

function liveStatements(db: Sql, kind: AnyKind) {
  const table = kind.table;
  const columns = getTableColumns(table);
  const assigning = (names: readonly string[]): Record<string, SQL> =>
    Object.fromEntries(names.map((name) => [name, sql`${value(name)}`]));
  const assignments = assigning(Object.keys(columns).filter((name) => name !== "n"));
  return {
    insert: statement(db.insert(table).values(placeholders(columns))),
    update: statement(db.update(table).set(assignments).where(matching(table.n))),
    updateContent: statement(db.update(table).set(assigning(CONTENT)).where(matching(table.n))),
    remove: statement(db.delete(table).where(matching(table.n))),
    clearIdentity: statement(db.update(table).set({ identity: null }).where(matching(table.n))),
    byId: ({ $client }: Sql) =>
      $client.prepare(
        `${selectLive(kind)} WHERE l.n = (SELECT n FROM history_records WHERE id = +? AND kind = ${kind.code})`,
      ) as SingleRowStatement,
    byIdentity: ({ $client }: Sql) =>
      $client.prepare(`${selectLive(kind)} WHERE l.identity = +?`) as SingleRowStatement,
    nonAscii: ({ $client }: Sql) =>
      $client.prepare(
        `SELECT identity FROM ${getTableName(table)} WHERE identity > +? AND identity < +?
          AND octet_length(identity) > length(identity)`,
      ),
  };
}

/** Parameters compared with these columns must be written `+?`: see SqlBuilder. */
function selectLive(kind: AnyKind): string {
  return `SELECT l.n, l.organization_n, l.sequence, l.composed, l.members, o.observed
    FROM ${getTableName(kind.table)} l LEFT JOIN observations o ON o.n = l.n`;
}

function placeholders<Columns extends Record<string, unknown>>(
  columns: Columns,
): { [Name in keyof Columns]: ReturnType<typeof sql.placeholder> } {
  const values: Record<string, ReturnType<typeof sql.placeholder>> = {};
  for (const name of Object.keys(columns)) values[name] = value(name);
  return values as { [Name in keyof Columns]: ReturnType<typeof sql.placeholder> };
}
