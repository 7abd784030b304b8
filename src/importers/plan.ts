// What is done, or would be: counts by kind, what was refused, and what stays as it was changed here.

import { onOneLine } from "./json-client.ts";

/** In the order in which they are brought. */
export const BROUGHT_KINDS = [
  "tags",
  "fields",
  "networks",
  "VLANs",
  "subnets",
  "hosts",
  "interfaces",
  "addresses",
  "ranges",
] as const;
export type BroughtKind = (typeof BROUGHT_KINDS)[number];

/**
 * `kept`: differs from the source, and stays since somebody changed or deleted it here. `refused`: cannot be taken.
 */
export const OUTCOMES = ["created", "changed", "unchanged", "kept", "refused"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Of these, so many lines are told at the end; `--verbose` tells all as they come. */
const TOLD_MAX = 50;

/** What became of some records, before it is known that they were written. */
export class PlanTally {
  readonly rows: Array<readonly [BroughtKind, Outcome, string]> = [];
  /** Differences that stay, of records that are changed in others. */
  readonly kept: Array<readonly [BroughtKind, string]> = [];

  add(kind: BroughtKind, outcome: Outcome, line: string): void {
    this.rows.push([kind, outcome, line]);
  }

  refuse(kind: BroughtKind, url: string, reason: string): void {
    this.add(kind, "refused", `${url}: ${reason}`);
  }

  /** @param changes the fields that are changed; none: the record stays as it is @param kept what stays, and why */
  addChange(kind: BroughtKind, line: string, changes: readonly string[], kept: readonly string[]): void {
    const reasons = kept.join("; ");
    if (changes.length > 0) {
      this.add(kind, "changed", `${line} ${changes.join(", ")}`);
      if (kept.length > 0) this.kept.push([kind, `${line} ${reasons}`]);
    } else if (kept.length > 0) this.add(kind, "kept", `${line} ${reasons}`);
    else this.add(kind, "unchanged", line);
  }
}

export class Plan {
  private readonly counts = new Map<string, number>();
  private readonly told: Record<"kept" | "refused", string[]> = { kept: [], refused: [] };
  /** Lines there would be in all. */
  private readonly tellable = { kept: 0, refused: 0 };
  private readonly isVerbose: boolean;
  private readonly lines: string[] = [];

  /** @param isVerbose whether each record has a line, to be taken with takeLines */
  constructor(isVerbose: boolean) {
    this.isVerbose = isVerbose;
  }

  /** @param line what is told of the record: its name or URL, and why */
  add(kind: BroughtKind, outcome: Outcome, line: string): void {
    this.counts.set(`${kind} ${outcome}`, this.count(kind, outcome) + 1);
    this.tell(kind, outcome, line);
  }

  take(tally: PlanTally): void {
    for (const [kind, outcome, line] of tally.rows) this.add(kind, outcome, line);
    for (const [kind, line] of tally.kept) this.tell(kind, "kept", line);
  }

  refuse(kind: BroughtKind, url: string, reason: string): void {
    this.add(kind, "refused", `${url}: ${reason}`);
  }

  count(kind: BroughtKind, outcome: Outcome): number {
    return this.counts.get(`${kind} ${outcome}`) ?? 0;
  }

  total(outcome: Outcome): number {
    return BROUGHT_KINDS.reduce((sum, kind) => sum + this.count(kind, outcome), 0);
  }

  /** The lines since the last time, of a verbose plan. */
  takeLines(): string {
    return this.lines
      .splice(0)
      .map((line) => `${line}\n`)
      .join("");
  }

  /** The counts as a table, then what was refused and kept, if not every line was told. */
  text(): string {
    const rows = BROUGHT_KINDS.map((kind) => [kind, ...OUTCOMES.map((outcome) => String(this.count(kind, outcome)))]);
    const table = [["", ...OUTCOMES], ...rows].map(([name = "", ...cells]) =>
      [name.padEnd(10), ...cells.map((cell) => cell.padStart(10))].join(""),
    );
    return `${[...table, ...this.list("refused"), ...this.list("kept")].join("\n")}\n`;
  }

  private tell(kind: BroughtKind, outcome: Outcome, line: string): void {
    if (this.isVerbose) this.lines.push(`${outcome} ${kind}: ${line}`);
    if (outcome !== "kept" && outcome !== "refused") return;
    this.tellable[outcome] += 1;
    if (this.told[outcome].length < TOLD_MAX) this.told[outcome].push(`${kind}: ${line}`);
  }

  private list(outcome: "kept" | "refused"): string[] {
    const lines = this.told[outcome];
    if (this.isVerbose || lines.length === 0) return [];
    const more = this.tellable[outcome] - lines.length;
    return [
      "",
      outcome === "refused" ? "Refused:" : "Kept as changed here:",
      ...lines.map((line) => `  ${line}`),
      ...(more > 0 ? [`  and ${more} more; --verbose lists all`] : []),
    ];
  }
}

/** A record in a line of the plan. */
export function planLine(name: string, url: string): string {
  return `${onOneLine(name)} (${url})`;
}
