// Import report, for dry runs as well: counts by kind, rejected records, and local changes that were kept.

import { wordList } from "../base/word-list.ts";
import { onOneLine } from "./json-client.ts";

/** In import order. */
export const IMPORT_KINDS = wordList("tags fields networks VLANs subnets hosts interfaces addresses ranges");
export type ImportKind = (typeof IMPORT_KINDS)[number];

/** `kept`: differs from the source but was changed or deleted here. `refused`: cannot be imported. */
export const OUTCOMES = ["created", "changed", "unchanged", "kept", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Maximum lines of these shown at the end; `--verbose` shows all as they occur. */
const LISTED_MAX = 50;

/** Results of some records, until they are known to be written. */
export class PlanTally {
  readonly rows: Array<readonly [ImportKind, Outcome, string]> = [];
  /** Kept differences of records with other changes. */
  readonly kept: Array<readonly [ImportKind, string]> = [];

  add(kind: ImportKind, outcome: Outcome, line: string): void {
    this.rows.push([kind, outcome, line]);
  }

  refuse(kind: ImportKind, url: string, reason: string): void {
    this.add(kind, "refused", `${url}: ${reason}`);
  }

  /**
   * @param changes the changed fields; empty if the record stays unchanged @param kept the kept differences, with
   * reasons
   */
  addChange(kind: ImportKind, line: string, changes: readonly string[], kept: readonly string[]): void {
    const reasons = kept.join("; ");
    if (changes.length > 0) {
      this.add(kind, "changed", `${line} ${changes.join(", ")}`);
      if (kept.length > 0) this.kept.push([kind, `${line} ${reasons}`]);
    } else if (kept.length > 0) this.add(kind, "kept", `${line} ${reasons}`);
    else this.add(kind, "unchanged", line);
  }
}

export class ImportPlan {
  private readonly counts = new Map<string, number>();
  private readonly listed: Record<"kept" | "refused", string[]> = { kept: [], refused: [] };
  /** Total lines, shown or not. */
  private readonly totals = { kept: 0, refused: 0 };
  private readonly isVerbose: boolean;
  private readonly lines: string[] = [];

  /** @param isVerbose true for one line per record, read with takeLines */
  constructor(isVerbose: boolean) {
    this.isVerbose = isVerbose;
  }

  /** @param line text about the record: name or URL, and reason */
  add(kind: ImportKind, outcome: Outcome, line: string): void {
    this.counts.set(`${kind} ${outcome}`, this.count(kind, outcome) + 1);
    this.report(kind, outcome, line);
  }

  take(tally: PlanTally): void {
    for (const [kind, outcome, line] of tally.rows) this.add(kind, outcome, line);
    for (const [kind, line] of tally.kept) this.report(kind, "kept", line);
  }

  refuse(kind: ImportKind, url: string, reason: string): void {
    this.add(kind, "refused", `${url}: ${reason}`);
  }

  count(kind: ImportKind, outcome: Outcome): number {
    return this.counts.get(`${kind} ${outcome}`) ?? 0;
  }

  total(outcome: Outcome): number {
    return IMPORT_KINDS.reduce((sum, kind) => sum + this.count(kind, outcome), 0);
  }

  /** Returns the lines since the last call, if verbose. */
  takeLines(): string {
    return this.lines
      .splice(0)
      .map((line) => `${line}\n`)
      .join("");
  }

  /** Formats the counts as a table, then refused and kept records unless every line was shown. */
  text(): string {
    const rows = IMPORT_KINDS.map((kind) => [kind, ...OUTCOMES.map((outcome) => String(this.count(kind, outcome)))]);
    const table = [["", ...OUTCOMES], ...rows].map(([name = "", ...cells]) =>
      [name.padEnd(10), ...cells.map((cell) => cell.padStart(10))].join(""),
    );
    return `${[...table, ...this.list("refused"), ...this.list("kept")].join("\n")}\n`;
  }

  private report(kind: ImportKind, outcome: Outcome, line: string): void {
    if (this.isVerbose) this.lines.push(`${outcome} ${kind}: ${line}`);
    if (outcome !== "kept" && outcome !== "refused") return;
    this.totals[outcome] += 1;
    if (this.listed[outcome].length < LISTED_MAX) this.listed[outcome].push(`${kind}: ${line}`);
  }

  private list(outcome: "kept" | "refused"): string[] {
    const lines = this.listed[outcome];
    if (this.isVerbose || lines.length === 0) return [];
    const more = this.totals[outcome] - lines.length;
    return [
      "",
      outcome === "refused" ? "Refused:" : "Kept because they were changed in netledger:",
      ...lines.map((line) => `  ${line}`),
      ...(more > 0 ? [`  and ${more} more; --verbose lists all`] : []),
    ];
  }
}

/** Formats a record as a line of the plan. */
export function planLine(name: string, url: string): string {
  return `${onOneLine(name)} (${url})`;
}
