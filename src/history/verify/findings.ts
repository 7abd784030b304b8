// Findings of a verification. Checks nothing itself.

import { sqliteCode } from "../../db/sqlite-code.ts";

/**
 * Checks of the ledger itself, and of derived data, which can be rebuilt along with the indexes and triggers on its
 * tables.
 */
export const LEDGER_CHECKS = ["file", "transaction", "record", "version", "segment"] as const;
const DERIVED_CHECKS = ["schema", "live", "link", "span", "census", "activity", "search", "lineage"] as const;
/**
 * Checks of tables outside the ledger that it does not imply: a repair drops damaged rows, and resets observations to
 * the newest versions.
 */
export const OTHER_TABLE_CHECKS = ["observation", "scan", "memory", "outcome", "session", "secret"] as const;
export type OtherTableCheck = (typeof OTHER_TABLE_CHECKS)[number];
/** A formerly recorded head that does not match: the ledger may be intact, but a different one. */
export const KNOWN_CHECK = "known";
type Check = (typeof LEDGER_CHECKS)[number] | (typeof DERIVED_CHECKS)[number] | OtherTableCheck | typeof KNOWN_CHECK;

export interface Damage {
  readonly check: Check;
  /** The row or rows: `host 0193… (n 12), transaction 5`. */
  readonly where: string;
  readonly message: string;
}

/** Maximum findings listed; the others are only counted. */
const MAX_FINDINGS = 1_000;

/** Findings as far as listed, of a running verification or of its report. */
export interface ListedDamage {
  readonly findings: readonly Damage[];
  /** Findings beyond those listed. */
  readonly more: number;
}

export class Findings {
  readonly list: Damage[] = [];
  /** Findings not in the list. */
  more = 0;

  /** Lists a finding, or counts it if the list is full. */
  add(check: Check, where: string, message: string): void {
    if (this.list.length < MAX_FINDINGS) this.list.push({ check, where, message });
    else this.more += 1;
  }

  /** Runs a check and records a thrown error as a finding, except for lack of disk space. */
  guard(check: Check, where: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (isOutOfSpace(error)) throw error;
      this.add(check, where, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Whether disk space for temporary data ran out, which says nothing about the data: they are only read. */
export function isOutOfSpace(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "SQLITE_FULL" || code === "SQLITE_IOERR_WRITE";
}

/** The first finding, with the number of others; null if there are none. */
export function describeFirst({ findings, more }: ListedDamage): string | null {
  const [first] = findings;
  if (first === undefined) return null;
  const others = findings.length + more - 1;
  return `${first.check}: ${first.where}: ${first.message}${others > 0 ? ` (and ${others} more)` : ""}`;
}

/** A record's name in findings. @param id null if the ledger has none for the number */
export function whereRecord(kind: string, id: string | null, n: number): string {
  return `${kind} ${id ?? "?"} (n ${n})`;
}
