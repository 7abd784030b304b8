// Results of faults, one JSON line each (the last one per fault counts), and their comparison between two commits.

import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { changeOf, type Fault, type FaultKind } from "./patch.ts";

/**
 * Result of a fault. `undetermined`: all executed test files passed, but some were not run; `survived`: all test files
 * passed; `gone`: the lines of the fault are not in the commit.
 */
export type Verdict = "caught" | "undetermined" | "survived" | "gone";

export interface Result {
  readonly id: string;
  readonly kind: FaultKind;
  /** Place in the original commit. */
  readonly file: string;
  readonly line: number;
  readonly was: string;
  readonly becomes: string;
  /** Commit of the executed tests. */
  readonly commit: string;
  readonly verdict: Verdict;
  readonly by?: string;
  readonly test?: string;
  readonly hung?: true;
  /** Checks and test files that passed, if the fault was not caught. */
  readonly ran?: readonly string[];
  readonly seconds: number;
}

/** Selects the fields of a fault that are part of its result. */
export function describeFault(fault: Fault): Pick<Result, "id" | "kind" | "file" | "line" | "was" | "becomes"> {
  const { id, kind, file, line } = fault;
  return { id, kind, file, line, ...changeOf(fault) };
}

/** Reads results by fault id; empty for a missing file. */
export function readResults(path: string): Map<string, Result> {
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line) as Result).map((result) => [result.id, result]));
}

export function appendResult(path: string, result: Result): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${JSON.stringify(result)}\n`);
}

/** Finds faults caught before but not after, including faults not tried after. */
export function lostFaults(
  before: ReadonlyMap<string, Result>,
  after: ReadonlyMap<string, Result>,
): { fault: Result; after: Verdict | "not tried" }[] {
  return [...before.values()]
    .filter(({ id, verdict }) => verdict === "caught" && after.get(id)?.verdict !== "caught")
    .map((fault) => ({ fault, after: after.get(fault.id)?.verdict ?? "not tried" }));
}

/** Summarizes the number of faults per verdict, and the checks that caught them. */
export function summaryOf(results: ReadonlyMap<string, Result>): string {
  const all = [...results.values()];
  const count = (accept: (result: Result) => boolean) => all.filter(accept).length;
  const caughtBy = (name: string, accept: (by: string) => boolean) =>
    `${count(({ verdict, by }) => verdict === "caught" && by !== undefined && accept(by))} by ${name}`;
  const caught = count(({ verdict }) => verdict === "caught");
  const others = (["undetermined", "survived", "gone"] as const).map(
    (name) => `${count(({ verdict }) => verdict === name)} ${name}`,
  );
  const catchers = [
    caughtBy("the type check", (by) => by === "type check"),
    caughtBy("the build", (by) => by === "build"),
    caughtBy("tests", (by) => by.startsWith("test/")),
  ];
  return `${all.length} tried: ${caught} caught (${catchers.join(", ")}), ${others.join(", ")}`;
}
