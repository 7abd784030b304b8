// Proves a store: the file, the hash chain over the ledger, and all that is derived from it. Reads only, in short steps,
// so that it may run beside a running appliance; what is written after it began is left to the next time.

import { formatInstant, type Instant } from "../base/instant.ts";
import type { Sql } from "../db/connection.ts";
import type { AnyKind } from "../db/kind.ts";
import { Derivation } from "./derived.ts";
import { Findings, type Finding } from "./findings.ts";
import { DerivedVerification } from "./verify-derived.ts";
import { inSnapshot } from "./ledger-walk.ts";
import { LedgerVerification, type LedgerCount, type Until } from "./verify-ledger.ts";

export interface Progress {
  readonly step: string;
  /** How far this step has come. */
  readonly done: number;
  /** Where it ends; null where that is not known beforehand. */
  readonly total: number | null;
}

export interface Report {
  /** The newest transaction when the verification began; its hash stands for the whole ledger. Null for an empty one. */
  readonly head: { readonly sequence: number; readonly at: Instant; readonly hash: string } | null;
  readonly count: Readonly<LedgerCount>;
  readonly findings: readonly Finding[];
  /** Findings beyond those listed. */
  readonly more: number;
  /** Tables whose pages were left out. */
  readonly unchecked: readonly string[];
}

export interface VerifyOptions {
  /** An appliance is at work on the data: nothing may hold a state of the database for long, or its log would grow meanwhile. */
  readonly isBusy?: boolean;
  readonly onProgress?: (progress: Progress) => void;
}

/** By far the largest table. Every row of it is read and checked in any case; this is about SQLite's own pages. */
const LARGE_TABLE = "history_versions";

/** Everything at once. */
export function verifyLedger(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions = {}): Report {
  const steps = verifySteps(db, kinds, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    options.onProgress?.(step.value);
  }
}

/** In steps of some tens of milliseconds, but for SQLite's own checks of the file, which take a table at a time. */
export function* verifySteps(db: Sql, kinds: readonly AnyKind[], options: VerifyOptions = {}): Generator<Progress, Report> {
  const unchecked = options.isBusy === true ? [LARGE_TABLE] : [];
  const findings = new Findings();
  const derivation = new Derivation(db);
  const { until, head } = begin(db, findings);
  const byCode = new Map(kinds.map((kind) => [kind.code, kind]));
  const ledger = new LedgerVerification({ db, kinds: byCode, until, findings, derivation });
  const derived = new DerivedVerification({ db, kinds, until, findings, derivation });
  try {
    yield* summed("file", fileChecks(db, findings, unchecked));
    yield* placed("versions", guarded(findings, ledger.versions((life) => derived.life(life))), until.lastN);
    yield* placed("transactions", guarded(findings, ledger.transactions()), until.sequence);
    yield* summed("live rows", guarded(findings, derived.liveRows()));
    yield* summed("links and observations", guarded(findings, derived.leftovers()));
    yield* summed("census", guarded(findings, derived.census()));
    yield* summed("spans", guarded(findings, derived.surplusSpans()));
    yield* summed("activity", guarded(findings, derived.activity()));
    yield* summed("search", guarded(findings, derived.surplusTexts()));
    yield* summed("lineages", guarded(findings, derived.lineages()));
  } finally {
    ledger.close();
    derived.close();
  }
  return { head, count: ledger.count, findings: findings.list, more: findings.more, unchecked };
}

/** Where the ledger stands, and whether its end is in order. */
function begin(db: Sql, findings: Findings): { until: Until; head: Report["head"] } {
  const ends: Array<{ table: string; n: number }> = [];
  for (const [table, maximum] of [["history_records", "max(n)"], ["history_versions", "max(key) >> 31"]] as const) {
    findings.during("file", table, () => {
      ends.push({ table, n: (db.$client.query(`SELECT ${maximum} AS n FROM ${table}`).get() as { n: number | null }).n ?? 0 });
    });
  }
  // After them: what is written in between is not beyond it.
  let rows: Array<[number, number, number, Uint8Array]> = [];
  findings.during("file", "history_transactions", () => {
    rows = db.$client.query("SELECT sequence, at, last_n, hash FROM history_transactions ORDER BY sequence DESC LIMIT 1").values() as typeof rows;
  });
  const [sequence, at, lastN, hash] = rows[0] ?? [0, 0, 0, new Uint8Array(0)];
  for (const { table, n } of ends) if (n > lastN) findings.add("record", `n ${lastN + 1} to ${n}`, `rows of ${table} beyond the last transaction`);
  return { until: { sequence, lastN }, head: rows.length === 0 ? null : { sequence, at, hash: Buffer.from(hash).toString("hex") } };
}

/** The full text index and the tables that SQLite keeps for it: made anew from the texts. */
function isSearchIndex(table: string): boolean {
  return table === "history_search" || (table.startsWith("history_search_") && table !== "history_search_texts");
}

/** SQLite's own checks, one table after the other: none of them holds a state of the database for longer than its table takes. */
function* fileChecks(db: Sql, findings: Findings, unchecked: readonly string[]): Generator<number> {
  const tables = db.$client.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").values() as Array<[string]>;
  for (const [table] of tables) {
    if (unchecked.includes(table)) continue;
    const check = isSearchIndex(table) ? "search" : "file";
    findings.during(check, table, () => inSnapshot(db, () => {
      // The index notices what was committed since only when it is asked something.
      if (check === "search") db.$client.prepare("SELECT count(*) FROM history_search WHERE history_search MATCH 'a'").values();
      for (const [message] of db.$client.prepare(`PRAGMA integrity_check("${table}")`).values() as Array<[string]>) {
        if (message !== "ok") findings.add(check, table, message);
      }
      for (const [, row, parent] of db.$client.prepare(`PRAGMA foreign_key_check("${table}")`).values() as Array<[string, number | null, string]>) {
        findings.add("file", `${table}, row ${row ?? "?"}`, `refers to a row of ${parent} that is not there`);
      }
    }));
    yield 1;
  }
}

/** A file that is damaged may end a step; the others still tell what they can. */
function* guarded(findings: Findings, steps: Generator<number>): Generator<number> {
  try {
    yield* steps;
  } catch (error) {
    findings.add("file", "the database", error instanceof Error ? error.message : String(error));
  }
}

/** Steps that tell how many rows they took. */
function* summed(step: string, steps: Generator<number>): Generator<Progress> {
  let done = 0;
  for (const count of steps) {
    done += count;
    yield { step, done, total: null };
  }
}

/** Steps that tell which place of `total` they came to. */
function* placed(step: string, steps: Generator<number>, total: number): Generator<Progress> {
  for (const done of steps) yield { step, done, total };
}

/** What an operator reads. */
export function describeReport(report: Report): string {
  const { head, count, findings, more, unchecked } = report;
  const lines = [
    head === null ? "The ledger is empty." : `Last transaction: ${head.sequence}, at ${formatInstant(head.at)}, hash ${head.hash}`,
    `Verified: ${count.transactions} transactions, ${count.records} records, ${count.versions} versions`,
    ...findings.map((finding) => `  ${finding.check}: ${finding.where}: ${finding.message}`),
  ];
  if (more > 0) lines.push(`  and ${more} more`);
  if (unchecked.length > 0) lines.push(`Not while an appliance is at work on the data: the page check of ${unchecked.join(", ")}`);
  const total = findings.length + more;
  lines.push(total === 0 ? "Sound." : `Not sound: ${total} ${total === 1 ? "finding" : "findings"}.`);
  return `${lines.join("\n")}\n`;
}
