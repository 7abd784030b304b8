// Proves a store: the file, the hash chain over the ledger, all that is derived from it, and by its checksums what
// stands beside it. Reads only, in short steps, so that it may run beside a running appliance; what is written after it
// began is left to the next time.

import { formatInstant, type Instant } from "../../base/instant.ts";
import type { Sql } from "../../db/connection.ts";
import { type SchemaObject, schemaDifferences } from "../../db/files/expected-schema.ts";
import { DatabaseRefused } from "../../db/files/migrate.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { Resolution } from "../../db/pruned-history.ts";
import { lostRows } from "../../db/row-sums.ts";
import { besideCheckOf, describeLost, verifyBeside } from "./beside-ledger.ts";
import { Derivation } from "./derived.ts";
import { describeFirst, Findings, isOutOfRoom, KNOWN_CHECK, type ListedDamage } from "./findings.ts";
import { verifySecrets } from "./implied-secrets.ts";
import { inSnapshot } from "./ledger-walk.ts";
import { LogRoom } from "./log-room.ts";
import { DerivedVerification } from "./verify-derived.ts";
import { type LedgerCount, LedgerVerification, type Until } from "./verify-ledger.ts";
import { type ThinnedSegment, ThinningVerification } from "./verify-thinning.ts";

/** How far a long piece of work has come. */
export interface VerifyProgress {
  readonly step: string;
  /** How far this step has come. */
  readonly done: number;
  /** Where it ends; null where that is not known beforehand. */
  readonly total: number | null;
}

/** What a verification came to. */
export interface Report extends ListedDamage {
  /**
   * The newest transaction when the verification began; its hash stands for the whole ledger. Null for an empty one.
   */
  readonly head: { readonly sequence: number; readonly at: Instant; readonly hash: string } | null;
  readonly count: Readonly<LedgerCount>;
  /** Versions that prunes dropped: their hashes are left. */
  readonly dropped: number;
  readonly segments: readonly ThinnedSegment[];
  /** Tables whose pages were left out. */
  readonly unchecked: readonly string[];
  /** By table, how many rows beside the ledger repairs have gone on without. */
  readonly lost: ReadonlyMap<string, number>;
}

/** A transaction as it was noted once: what `GET /api/v1/ledger` or an earlier verification said. */
export interface KnownHead {
  readonly sequence: number;
  /** As hexadecimal digits. */
  readonly hash: string;
}

/** What a verification goes by. */
interface VerifyOptions {
  /**
   * An appliance is at work on the data: nothing may hold a state of the database for long, or its log would grow
   * meanwhile.
   */
  readonly isBusy?: boolean;
  /** Must be in the ledger as it was. */
  readonly knownHead?: KnownHead;
  /** Where what is found is put: for whoever tells of it meanwhile. */
  readonly findings?: Findings;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/** By far the largest table. Every row of it is read and checked in any case; this is about SQLite's own pages. */
const LARGE_TABLE = "history_versions";

/** Everything at once. @throws DatabaseRefused where a prune changed the ledger in the meantime */
export function verifyLedger(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions = {}): Report {
  const steps = verifySteps(db, kinds, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    options.onProgress?.(step.value);
  }
}

/** @param sentence what is said of data that are not sound, before the first finding @throws DatabaseRefused */
export function requireSound(report: Report, sentence: string): void {
  const wrong = describeFirst(report);
  if (wrong !== null) throw new DatabaseRefused(`${sentence}: ${wrong}. Run netledger verify for all findings.`);
}

/**
 * In steps, none of which holds a state of the database for more than some tens of milliseconds, but for SQLite's own
 * checks of the file, which take a table at a time.
 * @throws DatabaseRefused where a prune changed the ledger in the meantime; SQLITE_FULL where there is no room for what
 * is put aside
 */
export function* verifySteps(
  db: Sql,
  kinds: readonly AnyKind[],
  options: VerifyOptions = {},
): Generator<VerifyProgress, Report> {
  const room = options.isBusy === true ? new LogRoom(db.$client.filename) : null;
  const steps = allSteps(db, kinds, options);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      room?.give();
      yield step.value;
    }
  } finally {
    steps.return(undefined as never);
  }
}

function* allSteps(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions): Generator<VerifyProgress, Report> {
  const unchecked = options.isBusy === true ? [LARGE_TABLE, ...(hasFreePages(db) ? [FREE_PAGES] : [])] : [];
  const { findings = new Findings() } = options;
  findings.during("file", "sqlite_schema", () => checkSchema(db, findings));
  const { until, head } = begin(db, findings);
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const derivation = new Derivation(db);
  const ledger = new LedgerVerification({ db, kinds: byCode, until, findings, derivation });
  const derived = new DerivedVerification({ db, kinds, until, findings, derivation });
  const thinning = new ThinningVerification({ db, kinds: byCode, until, findings });
  let overtaken = false;
  if (options.knownHead !== undefined) checkKnown(db, options.knownHead, findings);
  try {
    yield* summed("file", guarded(findings, fileChecks(db, findings, unchecked, options.isBusy === true)));
    yield* placed(
      "versions",
      guarded(
        findings,
        ledger.versions((life) => derived.life(life)),
      ),
      until.lastN,
    );
    yield* placed("transactions", guarded(findings, ledger.transactions()), until.sequence);
    yield* summed("dropped versions", guarded(findings, thinning.run(ledger.prunes, ledger.dayEnds)));
    yield* summed("live rows", guarded(findings, derived.liveRows()));
    yield* summed("links and observations", guarded(findings, derived.leftovers()));
    yield* summed("rows beside the ledger", guarded(findings, verifyBeside(db, kinds, findings)));
    yield* summed("secrets", guarded(findings, verifySecrets(db, findings)));
    yield* summed("census", guarded(findings, derived.census()));
    yield* summed("spans", guarded(findings, derived.surplusSpans()));
    yield* summed("span blocks", guarded(findings, derived.spanBlocks()));
    yield* summed("activity", guarded(findings, derived.activity()));
    yield* summed("counts of changes", guarded(findings, derived.changeCounts()));
    yield* summed("search", guarded(findings, derived.surplusTexts()));
    yield* summed("words of the search index", guarded(findings, derived.indexWords()));
    yield* summed("names in the search index", guarded(findings, derived.calledWords()));
    yield* summed("lineages", guarded(findings, derived.lineages()));
  } finally {
    ledger.close();
    derived.close();
  }
  findings.during("segment", "history_segments", () => {
    if (isOvertaken(db, until)) overtaken = true;
  });
  let lost: Report["lost"] = new Map();
  findings.during("memory", "row_sums", () => {
    lost = lostRows(db);
  });
  if (overtaken) throw new DatabaseRefused("The data were pruned in the meantime: verify them again.");
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

/**
 * Each table, index, trigger and view that is missing, that is another one than the migrations made, or that none of
 * them made.
 */
function checkSchema(db: Sql, findings: Findings): void {
  for (const { expected, found, isReplaceable } of schemaDifferences(db)) {
    const { type, name, table } = (expected ?? found) as SchemaObject;
    const message =
      found === null
        ? "is missing"
        : expected === null
          ? "does not belong to netledger"
          : "differs from what netledger made";
    findings.add(
      isReplaceable ? "schema" : "file",
      table === name ? `${type} ${name}` : `${type} ${name}, on ${table}`,
      message,
    );
  }
}

/** Finds that the ledger was cut, or made anew, since its head was written down. */
function checkKnown(db: Sql, { sequence, hash }: KnownHead, findings: Findings): void {
  findings.during(KNOWN_CHECK, `transaction ${sequence}`, () => {
    const row = db.$client
      .query("SELECT lower(hex(hash)) AS hash FROM history_transactions WHERE sequence = ?")
      .get(sequence) as { hash: string } | null;
    if (row === null) findings.add(KNOWN_CHECK, `transaction ${sequence}`, "is given by --head, but not in the ledger");
    else if (row.hash !== hash)
      findings.add(KNOWN_CHECK, `transaction ${sequence}`, `has the hash ${row.hash}, but --head gives ${hash}`);
  });
}

/** Whether a prune came after the verification began: what it saw of the ledger was no whole. */
function isOvertaken(db: Sql, until: Until): boolean {
  return (
    db.$client
      .query(
        "SELECT 1 FROM history_segments JOIN history_transactions ON sequence = pruned_by WHERE pruned_by > ? LIMIT 1",
      )
      .get(until.sequence) !== null
  );
}

/** Where the ledger stands, and whether its end is in order. */
function begin(db: Sql, findings: Findings): { until: Until; head: Report["head"] } {
  const ends: Array<{ table: string; n: number }> = [];
  for (const [table, maximum] of [
    ["history_records", "max(n)"],
    ["history_versions", "max(key) >> 31"],
  ] as const) {
    findings.during("file", table, () => {
      ends.push({
        table,
        n: (db.$client.query(`SELECT ${maximum} AS n FROM ${table}`).get() as { n: number | null }).n ?? 0,
      });
    });
  }
  // After them: what is written in between is not beyond it.
  let rows: Array<[number, number, number, Uint8Array]> = [];
  findings.during("file", "history_transactions", () => {
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

/** As it stands among what was left out. */
const FREE_PAGES = "the free pages";

/**
 * Whether there are pages that belong to no table: SQLite checks the list of them only together with the whole file.
 */
function hasFreePages(db: Sql): boolean {
  return (db.$client.query("PRAGMA freelist_count").get() as { freelist_count: number }).freelist_count > 0;
}

/** The full text index that a table belongs to: itself, or what SQLite keeps for it. Made anew from the ledger. */
function searchIndexOf(table: string): "history_search" | "history_words" | null {
  if (table === "history_words" || table.startsWith("history_words_")) return "history_words";
  if (table === "history_search_texts") return null;
  return table === "history_search" || table.startsWith("history_search_") ? "history_search" : null;
}

/**
 * SQLite's own checks, one table after the other: none of them holds a state of the database for longer than its table
 * takes.
 */
function* fileChecks(db: Sql, findings: Findings, unchecked: readonly string[], isBusy: boolean): Generator<number> {
  const tables = db.$client
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .values() as Array<[string]>;
  for (const [table] of tables) {
    if (unchecked.includes(table)) continue;
    const index = searchIndexOf(table);
    const check = index === null ? "file" : "search";
    findings.during(check, table, () =>
      inSnapshot(db, () => {
        // The index notices what was committed since only when it is asked something.
        if (index !== null) db.$client.prepare(`SELECT count(*) FROM ${index} WHERE ${index} MATCH 'a'`).values();
        for (const [message] of db.$client.prepare(`PRAGMA integrity_check("${table}")`).values() as Array<[string]>) {
          if (message !== "ok") findings.add(besideCheckOf(table, message) ?? check, table, message);
        }
        for (const [, row, parent] of db.$client.prepare(`PRAGMA foreign_key_check("${table}")`).values() as Array<
          [string, number | null, string]
        >) {
          const where = `${table}, row ${row ?? "?"}`;
          findings.add(besideCheckOf(table) ?? "file", where, `refers to a row of ${parent} that does not exist`);
        }
      }),
    );
    yield 1;
  }
  // Where an appliance is at work also those that have become free since the verification began are left out.
  if (isBusy || !hasFreePages(db)) return;
  const seen = new Set(findings.list.map(({ message }) => message));
  findings.during("file", FREE_PAGES, () => {
    for (const [message] of db.$client.prepare("PRAGMA quick_check").values() as Array<[string]>) {
      if (message !== "ok" && !seen.has(message)) findings.add("file", FREE_PAGES, message);
    }
  });
  yield 1;
}

/** A file that is damaged may end a step; the others still tell what they can. */
function* guarded(findings: Findings, steps: Generator<number>): Generator<number> {
  try {
    yield* steps;
  } catch (error) {
    if (isOutOfRoom(error)) throw error;
    findings.add("file", "the database", error instanceof Error ? error.message : String(error));
  }
}

/** Steps that tell how many rows they took. */
function* summed(step: string, steps: Generator<number>): Generator<VerifyProgress> {
  let done = 0;
  for (const count of steps) {
    done += count;
    yield { step, done, total: null };
  }
}

/** Steps that tell which place of `total` they came to. */
function* placed(step: string, steps: Generator<number>, total: number): Generator<VerifyProgress> {
  for (const done of steps) yield { step, done, total };
}

/** What is kept of a stretch, in words. */
export const KEPT_IN_WORDS: Readonly<Record<Resolution, string>> = {
  daily: "the last state of each day",
  monthly: "the last state of each month",
  none: "only the last state",
};

/** What an operator reads. */
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
        `Thinned: transactions ${first} to ${last}, up to ${formatInstant(until)}: ${KEPT_IN_WORDS[resolution]} (by transaction ${prunedBy})`,
    ),
    ...describeLost(lost),
    ...findings.map((finding) => `  ${finding.check}: ${finding.where}: ${finding.message}`),
  ];
  if (more > 0) lines.push(`  and ${more} more`);
  if (unchecked.length > 0)
    lines.push(`Not checked while an appliance uses the data: the pages of ${unchecked.join(", ")}`);
  const total = findings.length + more;
  lines.push(total === 0 ? "Sound." : `Not sound: ${total} ${total === 1 ? "finding" : "findings"}.`);
  return `${lines.join("\n")}\n`;
}
