// What a verification has found so far. Must not check anything itself.

import { sqliteCode } from "../../db/sqlite-code.ts";

/**
 * The ledger itself, or what is derived from it and can be made anew, with the indexes and triggers that are on its
 * tables.
 */
export const LEDGER_CHECKS = ["file", "transaction", "record", "version", "segment"] as const;
const DERIVED_CHECKS = ["schema", "live", "link", "span", "census", "activity", "search", "lineage"] as const;
/**
 * What stands beside the ledger and is not implied by it: damaged rows are dropped, and observations come again from
 * the newest versions.
 */
export const BESIDE_CHECKS = ["observation", "scan", "memory", "outcome", "session", "secret"] as const;
export type BesideCheck = (typeof BESIDE_CHECKS)[number];
/** What was written down of the ledger once, and is not so: the ledger may be sound all the same, and another one. */
export const KNOWN_CHECK = "known";
type Check = (typeof LEDGER_CHECKS)[number] | (typeof DERIVED_CHECKS)[number] | BesideCheck | typeof KNOWN_CHECK;

export interface Damage {
  readonly check: Check;
  /** The row or rows: `host 0193… (n 12), transaction 5`. */
  readonly where: string;
  readonly message: string;
}

/** Findings kept; the others are counted. */
const MAX_FINDINGS = 1_000;

/** What was found, as far as it is listed: of a verification that is under way, or of its report. */
export interface ListedDamage {
  readonly findings: readonly Damage[];
  /** Findings beyond those listed. */
  readonly more: number;
}

export class Findings {
  readonly list: Damage[] = [];
  /** Those that are not in the list. */
  more = 0;

  /** Lists a finding, or counts it where the list is full. */
  add(check: Check, where: string, message: string): void {
    if (this.list.length < MAX_FINDINGS) this.list.push({ check, where, message });
    else this.more += 1;
  }

  /** Runs a check that may not even come to its end; what it throws is a finding, but for want of room. */
  during(check: Check, where: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (isOutOfRoom(error)) throw error;
      this.add(check, where, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Whether there is no room for what a verification puts aside: that says nothing of the data, which it only reads. */
export function isOutOfRoom(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "SQLITE_FULL" || code === "SQLITE_IOERR_WRITE";
}

/** The first finding, and how many there are beside it; null where nothing was found. */
export function describeFirst({ findings, more }: ListedDamage): string | null {
  const [first] = findings;
  if (first === undefined) return null;
  const others = findings.length + more - 1;
  return `${first.check}: ${first.where}: ${first.message}${others > 0 ? ` (and ${others} more)` : ""}`;
}

/** How a finding names a record. @param id null where the ledger has none for the number */
export function whereRecord(kind: string, id: string | null, n: number): string {
  return `${kind} ${id ?? "?"} (n ${n})`;
}
