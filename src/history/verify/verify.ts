// Store verification: the file, the hash chain of the ledger, derived data, and checksums of tables outside the ledger.
// Read-only, in short steps, so that an appliance can keep running; later writes are left to the next run.

import { formatInstant, type Instant } from "../../base/instant.ts";
import { runSteps } from "../../base/steps.ts";
import type { Sql } from "../../db/connection.ts";
import { type SchemaObject, schemaDifferences } from "../../db/files/expected-schema.ts";
import { DatabaseRefused } from "../../db/files/migrate.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { Resolution } from "../../db/pruned-history.ts";
import { lostRows } from "../../db/row-sums.ts";
import { Derivation } from "./derived.ts";
import { describeFirst, Findings, isOutOfSpace, KNOWN_CHECK, type ListedDamage } from "./findings.ts";
import { verifySecrets } from "./implied-secrets.ts";
import { inSnapshot } from "./ledger-walk.ts";
import { WalPauses } from "./log-room.ts";
import { checkOfTable, describeLost, verifyOtherTables } from "./outside-ledger.ts";
import { DerivedVerification } from "./verify-derived.ts";
import { type LedgerCount, type LedgerEnd, LedgerVerification } from "./verify-ledger.ts";
import { type ThinnedSegment, ThinningVerification } from "./verify-thinning.ts";

/** Progress of a long operation. */
export interface VerifyProgress {
  readonly step: string;
  /** Progress within this step. */
  readonly done: number;
  /** Total of this step; null if unknown in advance. */
  readonly total: number | null;
}

/** Result of a verification. */
export interface Report extends ListedDamage {
  /** The newest transaction at the start of the verification; its hash covers the whole ledger. Null if empty. */
  readonly head: { readonly sequence: number; readonly at: Instant; readonly hash: string } | null;
  readonly count: Readonly<LedgerCount>;
  /** Versions dropped by prunes, with only hashes left. */
  readonly dropped: number;
  readonly segments: readonly ThinnedSegment[];
  /** Tables whose pages were not checked. */
  readonly unchecked: readonly string[];
  /** By table, the rows outside the ledger that repairs gave up. */
  readonly lost: ReadonlyMap<string, number>;
}

/** A recorded transaction, from `GET /api/v1/ledger` or an earlier verification. */
export interface KnownHead {
  readonly sequence: number;
  /** In hexadecimal. */
  readonly hash: string;
}

/** Options of a verification. */
interface VerifyOptions {
  /** An appliance is using the data: no snapshot may be held for long, or the WAL would grow. */
  readonly isBusy?: boolean;
  /** Must match the ledger. */
  readonly knownHead?: KnownHead;
  /** Receives findings as they are found, for progress reports. */
  readonly findings?: Findings;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/** By far the largest table. All its rows are read and checked anyway; only SQLite's page check is skipped. */
const LARGE_TABLE = "history_versions";

/** Runs all steps at once. @throws DatabaseRefused if a prune has since changed the ledger */
export function verifyLedger(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions = {}): Report {
  return runSteps(verifySteps(db, kinds, options), (progress) => options.onProgress?.(progress));
}

/** @param sentence introduces the first finding @throws DatabaseRefused */
export function requireIntact(report: Report, sentence: string): void {
  const firstFinding = describeFirst(report);
  if (firstFinding !== null)
    throw new DatabaseRefused(`${sentence}: ${firstFinding}. Run netledger verify for all findings.`);
}

/**
 * In steps that hold a snapshot for at most some tens of milliseconds, except for SQLite's own file checks, which take
 * one table at a time.
 * @throws DatabaseRefused if a prune has since changed the ledger; SQLITE_FULL without disk space for temporary data
 */
export function* verifySteps(
  db: Sql,
  kinds: readonly AnyKind[],
  options: VerifyOptions = {},
): Generator<VerifyProgress, Report> {
  const pauses = options.isBusy === true ? new WalPauses(db.$client.filename) : null;
  const steps = allSteps(db, kinds, options);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      pauses?.pauseIfLarge();
      yield step.value;
    }
  } finally {
    steps.return(undefined as never);
  }
}

function* allSteps(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions): Generator<VerifyProgress, Report> {
  const unchecked = options.isBusy === true ? [LARGE_TABLE, ...(hasFreePages(db) ? [FREE_PAGES] : [])] : [];
  const { findings = new Findings() } = options;
  findings.guard("file", "sqlite_schema", () => checkSchema(db, findings));
  const { until, head } = findEnd(db, findings);
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const derivation = new Derivation(db);
  const input = { db, kinds: byCode, until, findings, derivation };
  const ledger = new LedgerVerification(input);
  const derived = new DerivedVerification({ ...input, kinds });
  const thinning = new ThinningVerification(input);
  let wasPruned = false;
  if (options.knownHead !== undefined) checkKnownHead(db, options.knownHead, findings);
  try {
    yield* withCount("file", guarded(findings, fileChecks(db, findings, unchecked, options.isBusy === true)));
    const versions = ledger.versions((history) => derived.history(history));
    yield* withPosition("versions", guarded(findings, versions), until.lastN);
    yield* withPosition("transactions", guarded(findings, ledger.transactions()), until.sequence);
    yield* withCount("dropped versions", guarded(findings, thinning.run(ledger.prunes, ledger.dayEnds)));
    yield* withCount("live rows", guarded(findings, derived.liveRows()));
    yield* withCount("links and observations", guarded(findings, derived.leftovers()));
    yield* withCount("rows outside the ledger", guarded(findings, verifyOtherTables(db, kinds, findings)));
    yield* withCount("secrets", guarded(findings, verifySecrets(db, findings)));
    yield* withCount("census", guarded(findings, derived.census()));
    yield* withCount("spans", guarded(findings, derived.surplusSpans()));
    yield* withCount("span blocks", guarded(findings, derived.spanBlocks()));
    yield* withCount("activity", guarded(findings, derived.activity()));
    yield* withCount("counts of changes", guarded(findings, derived.changeCounts()));
    yield* withCount("search", guarded(findings, derived.surplusTexts()));
    yield* withCount("words of the search index", guarded(findings, derived.indexWords()));
    yield* withCount("names in the search index", guarded(findings, derived.nameWords()));
    yield* withCount("lineages", guarded(findings, derived.lineages()));
  } finally {
    ledger.close();
    derived.close();
  }
  findings.guard("segment", "history_segments", () => {
    wasPruned = wasPrunedSince(db, until);
  });
  let lost: Report["lost"] = new Map();
  findings.guard("memory", "row_sums", () => {
    lost = lostRows(db);
  });
  if (wasPruned) throw new DatabaseRefused("The data was pruned in the meantime: verify it again.");
  return {
    head,
    count: ledger.count,
    dropped: ledger.dropped,
    segments: thinning.segments,
    findings: findings.list,
    more: findings.more,
    unchecked,
    lost,
  };
}

/** Finds tables, indexes, triggers and views that are missing, differ from the migrations, or are unexpected. */
function checkSchema(db: Sql, findings: Findings): void {
  for (const { expected, found, isReplaceable } of schemaDifferences(db)) {
    const { type, name, table } = (expected ?? found) as SchemaObject;
    const message =
      found === null
        ? "is missing"
        : expected === null
          ? "does not belong to netledger"
          : "differs from the definition in the migrations";
    const where = table === name ? `${type} ${name}` : `${type} ${name}, on ${table}`;
    findings.add(isReplaceable ? "schema" : "file", where, message);
  }
}

/** Detects a ledger truncated or replaced since its head was recorded. */
function checkKnownHead(db: Sql, { sequence, hash }: KnownHead, findings: Findings): void {
  findings.guard(KNOWN_CHECK, `transaction ${sequence}`, () => {
    const row = db.$client
      .query("SELECT lower(hex(hash)) AS hash FROM history_transactions WHERE sequence = ?")
      .get(sequence) as { hash: string } | null;
    if (row === null) findings.add(KNOWN_CHECK, `transaction ${sequence}`, "is given by --head, but not in the ledger");
    else if (row.hash !== hash)
      findings.add(KNOWN_CHECK, `transaction ${sequence}`, `has the hash ${row.hash}, but --head gives ${hash}`);
  });
}

/** Whether a prune happened during the verification, which then saw an inconsistent ledger. */
function wasPrunedSince(db: Sql, until: LedgerEnd): boolean {
  const text = "SELECT 1 FROM history_segments JOIN history_transactions ON sequence = pruned_by WHERE pruned_by > ?";
  return db.$client.query(text).get(until.sequence) !== null;
}

/** Determines the end of the ledger, and checks it. */
function findEnd(db: Sql, findings: Findings): { until: LedgerEnd; head: Report["head"] } {
  const ends: Array<{ table: string; n: number }> = [];
  for (const [table, maximum] of [
    ["history_records", "max(n)"],
    ["history_versions", "max(key) >> 31"],
  ] as const) {
    findings.guard("file", table, () => {
      const { n } = db.$client.query(`SELECT coalesce(${maximum}, 0) AS n FROM ${table}`).get() as { n: number };
      ends.push({ table, n });
    });
  }
  // Read after the maxima, so that concurrent writes are not beyond it.
  let rows: Array<[number, number, number, Uint8Array]> = [];
  findings.guard("file", "history_transactions", () => {
    rows = db.$client
      .query("SELECT sequence, at, last_n, hash FROM history_transactions ORDER BY sequence DESC LIMIT 1")
      .values() as typeof rows;
  });
  const [sequence, at, lastN, hash] = rows[0] ?? [0, 0, 0, new Uint8Array(0)];
  for (const { table, n } of ends)
    if (n > lastN) findings.add("record", `n ${lastN + 1} to ${n}`, `rows of ${table} beyond the last transaction`);
  return {
    until: { sequence, lastN },
    head: rows.length === 0 ? null : { sequence, at, hash: Buffer.from(hash).toString("hex") },
  };
}

/** Name in the list of unchecked parts. */
const FREE_PAGES = "the free pages";

/** Whether there are pages that belong to no table: SQLite only checks the freelist together with the whole file. */
function hasFreePages(db: Sql): boolean {
  return (db.$client.query("PRAGMA freelist_count").get() as { freelist_count: number }).freelist_count > 0;
}

/** Full-text index of a table: the table itself, or one of its FTS5 shadow tables. Can be rebuilt from the ledger. */
function searchIndexOf(table: string): "history_search" | "history_words" | null {
  if (table === "history_words" || table.startsWith("history_words_")) return "history_words";
  if (table === "history_search_texts") return null;
  return table === "history_search" || table.startsWith("history_search_") ? "history_search" : null;
}

/** Runs SQLite's own checks table by table, so that a snapshot is held for one table only. */
function* fileChecks(db: Sql, findings: Findings, unchecked: readonly string[], isBusy: boolean): Generator<number> {
  const tables = db.$client
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .values() as Array<[string]>;
  for (const [table] of tables) {
    if (unchecked.includes(table)) continue;
    const index = searchIndexOf(table);
    const check = index === null ? "file" : "search";
    findings.guard(check, table, () =>
      inSnapshot(db, () => {
        // The index only notices recent commits when it is queried.
        if (index !== null) db.$client.prepare(`SELECT count(*) FROM ${index} WHERE ${index} MATCH 'a'`).values();
        for (const message of errorsOf(db, `integrity_check("${table}")`))
          findings.add(checkOfTable(table, message) ?? check, table, message);
        const dangling = db.$client.prepare(`PRAGMA foreign_key_check("${table}")`).values();
        for (const [, row, parent] of dangling as Array<[string, number | null, string]>) {
          const where = `${table}, row ${row ?? "?"}`;
          findings.add(checkOfTable(table) ?? "file", where, `refers to a row of ${parent} that does not exist`);
        }
      }),
    );
    yield 1;
  }
  // With a running appliance, skip pages that became free since the start, too.
  if (isBusy || !hasFreePages(db)) return;
  const seen = new Set(findings.list.map(({ message }) => message));
  findings.guard("file", FREE_PAGES, () => {
    for (const message of errorsOf(db, "quick_check"))
      if (!seen.has(message)) findings.add("file", FREE_PAGES, message);
  });
  yield 1;
}

/** Errors that a check of SQLite reports, in one line each: SQLite lists those of a tree below a heading. */
function errorsOf(db: Sql, check: string): string[] {
  return (db.$client.prepare(`PRAGMA ${check}`).values() as Array<[string]>)
    .map(([message]) => message.replace(/^\*\*\* in database \w+ \*\*\*\n/, "").replaceAll("\n", "; "))
    .filter((message) => message !== "ok");
}

/** A damaged file may abort a step; the others still run. */
function* guarded(findings: Findings, steps: Generator<number>): Generator<number> {
  try {
    yield* steps;
  } catch (error) {
    if (isOutOfSpace(error)) throw error;
    findings.add("file", "the database", error instanceof Error ? error.message : String(error));
  }
}

/** Steps that report their number of rows. */
function* withCount(step: string, steps: Generator<number>): Generator<VerifyProgress> {
  let done = 0;
  for (const count of steps) {
    done += count;
    yield { step, done, total: null };
  }
}

/** Steps that report their position within `total`. */
function* withPosition(step: string, steps: Generator<number>, total: number): Generator<VerifyProgress> {
  for (const done of steps) yield { step, done, total };
}

/** Retention of a segment, in words. */
export const RETENTION_TEXTS: Readonly<Record<Resolution, string>> = {
  daily: "the last state of each day",
  monthly: "the last state of each month",
  none: "only the last state",
};

/** Report for the operator. */
export function describeReport(report: Report): string {
  const { head, count, dropped, segments, findings, more, unchecked, lost } = report;
  const lines = [
    head === null
      ? "The ledger is empty."
      : `Last transaction: ${head.sequence}, at ${formatInstant(head.at)}, hash ${head.hash}`,
    `Verified: ${count.transactions} transactions, ${count.records} records, ${count.versions} versions`,
    ...(dropped > 0 ? [`Dropped: ${dropped} versions, by their hashes`] : []),
    ...segments.map(
      ({ first, last, until, resolution, prunedBy }) =>
        `Thinned: transactions ${first} to ${last}, up to ${formatInstant(until)}: ${RETENTION_TEXTS[resolution]} (by transaction ${prunedBy})`,
    ),
    ...describeLost(lost),
    ...findings.map((finding) => `  ${finding.check}: ${finding.where}: ${finding.message}`),
  ];
  if (more > 0) lines.push(`  and ${more} more`);
  if (unchecked.length > 0)
    lines.push(`Not checked while an appliance uses the data: the pages of ${unchecked.join(", ")}`);
  const total = findings.length + more;
  lines.push(total === 0 ? "No problems found." : `${total} ${total === 1 ? "problem" : "problems"} found.`);
  return `${lines.join("\n")}\n`;
}
