// Reads of a recorded device with some objects removed: absent, silent, or cut off.

import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../../../src/discovery/mib/reads.ts";
import { parseRecording, readsOf, recordingText } from "./recorded-reads.ts";
import { NO_RESPONSE } from "./synthetic-reads.ts";

/** Every step of the plan, needed or not, as read from a faultless agent. */
export type RecordedSteps = ReadonlyMap<string, StepRead>;

export interface Removal {
  readonly step: string;
  /** Removed part of the step: all of it, all its columns, one column or one scalar. */
  readonly part: "all" | "columns" | string;
  /**
   * absent: the agent lacks the object. silent: no response. cut: half of the rows, then no response. ragged: like
   * cut, but each column extends further than the previous one; ragged backwards: the reverse.
   */
  readonly mode: "absent" | "silent" | "cut" | "ragged" | "ragged backwards";
}

/** Reads only the plan's objects from a recording: some have a million other lines. */
export function recordedSteps(name: string, plan: readonly ReadStep[]): RecordedSteps {
  const oidsOf = ({ scalars = {}, columns = {} }: ReadStep) => [...Object.values(scalars), ...Object.values(columns)];
  const oids = new Set(plan.flatMap(oidsOf));
  const pattern = new RegExp(`^(?:${[...oids].map((oid) => oid.replaceAll(".", "\\.")).join("|")})[.|]`);
  const lines = recordingText(name)
    .split("\n")
    .filter((line) => pattern.test(line));
  return readsOf(
    parseRecording(lines.join("\n")),
    plan.map(({ isNeeded: _always, ...step }) => step),
  ) as RecordedSteps;
}

/** Reads by the plan, without unneeded steps. @param removed objects to remove; null for none */
export function reducedReads(all: RecordedSteps, plan: readonly ReadStep[], removed: Removal | null): Reads {
  const reads = new Map<string, StepRead>();
  for (const step of plan) {
    if (step.isNeeded?.(reads) === false) continue;
    const complete = all.get(step.name) as StepRead;
    reads.set(step.name, removed?.step === step.name ? reduceStep(complete, removed) : complete);
  }
  return reads;
}

/** All removals that make sense for a device: of each nonempty table, each scalar, each required column. */
export function possibleRemovals(all: RecordedSteps, plan: readonly ReadStep[]): Removal[] {
  const removed: Removal[] = [];
  const reads = reducedReads(all, plan, null);
  for (const { name: step, optional } of plan) {
    if (!reads.has(step)) continue;
    const { scalars, columns } = all.get(step) as StepRead;
    const filled = [...columns].flatMap(([name, { values }]) => (values.size > 0 ? [name] : []));
    if (scalars.size + filled.length > 0)
      removed.push({ step, part: "all", mode: "absent" }, { step, part: "all", mode: "silent" });
    for (const name of scalars.keys()) removed.push({ step, part: name, mode: "absent" });
    if (filled.length === 0) continue;
    if (scalars.size > 0) removed.push({ step, part: "columns", mode: "absent" });
    for (const mode of ["cut", "ragged", "ragged backwards"] as const) removed.push({ step, part: "columns", mode });
    const removableColumns = filled.length < 2 ? [] : filled.filter((name) => optional?.includes(name) !== true);
    for (const part of removableColumns) removed.push({ step, part, mode: "absent" });
  }
  return removed;
}

function reduceStep(complete: StepRead, { part, mode }: Removal): StepRead {
  const isScalarRemoved = (name: string): boolean => part === "all" || part === name;
  const names = [...complete.columns.keys()];
  const columns = [...complete.columns].map(([name, column], index): [string, ColumnRead] => {
    if (part !== "all" && part !== "columns" && part !== name) return [name, column];
    if (mode === "absent") return [name, { isComplete: true, problem: null, values: new Map() }];
    const ragged = (mode === "ragged" ? index + 1 : names.length - index) / (names.length + 1);
    const share = mode === "silent" ? 0 : mode === "cut" ? 1 / 2 : ragged;
    return [name, { isComplete: false, problem: NO_RESPONSE, values: firstOf(column.values, share) }];
  });
  const isSilent = mode === "silent" && part === "all" && complete.scalars.size > 0;
  return {
    scalars: new Map([...complete.scalars].filter(([name]) => !isScalarRemoved(name))),
    scalarsProblem: isSilent ? NO_RESPONSE : null,
    columns: new Map(columns),
  };
}

function firstOf(values: ReadonlyMap<string, SnmpValue>, share: number): Map<string, SnmpValue> {
  return new Map([...values].slice(0, Math.floor(values.size * share)));
}
