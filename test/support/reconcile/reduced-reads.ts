// Reads of a recorded device with a part of its objects removed: absent, silent, or cut off.

import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../../../src/discovery/mib/reads.ts";
import { NO_ANSWER } from "./hand-made-reads.ts";
import { parseRecording, readsOf, recordingText } from "./recorded-reads.ts";

/** Every step of the plan, needed or not, as read from a faultless agent. */
export type Recorded = ReadonlyMap<string, StepRead>;

export interface Taken {
  readonly step: string;
  /** Removed part of the step: all of it, all its columns, one column or one scalar. */
  readonly what: "all" | "columns" | string;
  /**
   * absent: the agent lacks the object. silent: no answer. cut: the rows of the first half, then no answer. ragged: as
   * cut, but one column extends further than the previous one; ragged backwards: the reverse.
   */
  readonly how: "absent" | "silent" | "cut" | "ragged" | "ragged backwards";
}

/** Only the objects of the plan: some recordings have a million other lines. */
export function recorded(name: string, plan: readonly ReadStep[]): Recorded {
  const oidsOf = ({ scalars = {}, columns = {} }: ReadStep) => [...Object.values(scalars), ...Object.values(columns)];
  const oids = new Set(plan.flatMap(oidsOf));
  const asked = new RegExp(`^(?:${[...oids].map((oid) => oid.replaceAll(".", "\\.")).join("|")})[.|]`);
  const lines = recordingText(name)
    .split("\n")
    .filter((line) => asked.test(line));
  return readsOf(
    parseRecording(lines.join("\n")),
    plan.map(({ isNeeded: _always, ...step }) => step),
  ) as Recorded;
}

/** As the plan reads it, without unneeded steps. @param taken null for none */
export function reducedReads(all: Recorded, plan: readonly ReadStep[], taken: Taken | null): Reads {
  const reads = new Map<string, StepRead>();
  for (const step of plan) {
    if (step.isNeeded?.(reads) === false) continue;
    const whole = all.get(step.name) as StepRead;
    reads.set(step.name, taken?.step === step.name ? reduced(whole, taken) : whole);
  }
  return reads;
}

/** All removable parts of a device: each meaningful table, each scalar, each column present in all rows. */
export function takings(all: Recorded, plan: readonly ReadStep[]): Taken[] {
  const taken: Taken[] = [];
  const reads = reducedReads(all, plan, null);
  for (const { name: step, optional } of plan) {
    if (!reads.has(step)) continue;
    const { scalars, columns } = all.get(step) as StepRead;
    const filled = [...columns].flatMap(([name, { values }]) => (values.size > 0 ? [name] : []));
    if (scalars.size + filled.length > 0)
      taken.push({ step, what: "all", how: "absent" }, { step, what: "all", how: "silent" });
    for (const name of scalars.keys()) taken.push({ step, what: name, how: "absent" });
    if (filled.length === 0) continue;
    if (scalars.size > 0) taken.push({ step, what: "columns", how: "absent" });
    for (const how of ["cut", "ragged", "ragged backwards"] as const) taken.push({ step, what: "columns", how });
    const columnsToTake = filled.length < 2 ? [] : filled.filter((name) => optional?.includes(name) !== true);
    for (const what of columnsToTake) taken.push({ step, what, how: "absent" });
  }
  return taken;
}

function reduced(whole: StepRead, { what, how }: Taken): StepRead {
  const isScalarTaken = (name: string): boolean => what === "all" || what === name;
  const names = [...whole.columns.keys()];
  const columns = [...whole.columns].map(([name, column], at): [string, ColumnRead] => {
    if (what !== "all" && what !== "columns" && what !== name) return [name, column];
    if (how === "absent") return [name, { isComplete: true, problem: null, values: new Map() }];
    const ragged = (how === "ragged" ? at + 1 : names.length - at) / (names.length + 1);
    const share = how === "silent" ? 0 : how === "cut" ? 1 / 2 : ragged;
    return [name, { isComplete: false, problem: NO_ANSWER, values: firstOf(column.values, share) }];
  });
  const isSilent = how === "silent" && what === "all" && whole.scalars.size > 0;
  return {
    scalars: new Map([...whole.scalars].filter(([name]) => !isScalarTaken(name))),
    scalarsProblem: isSilent ? NO_ANSWER : null,
    columns: new Map(columns),
  };
}

function firstOf(values: ReadonlyMap<string, SnmpValue>, share: number): Map<string, SnmpValue> {
  return new Map([...values].slice(0, Math.floor(values.size * share)));
}
