// Carries out a reading plan on one agent, step by step: what fails in one step stays in it. Knows no MIB and no
// sockets.

import type { Timers } from "../../base/timers.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../mib/reads.ts";
import { type FailureReason, failure as failureFor, isFailure, isFinal, type SnmpFailure } from "./failure.ts";
import type { AgentReply, SnmpRequester } from "./requests.ts";
import { getScalars } from "./scalars.ts";
import { limited } from "./time-limit.ts";
import { newPace, type Pace, type Walked, walk } from "./walk.ts";

export const DEVICE_DEADLINE_MS = 600_000;
export const STEP_DEADLINE_MS = 120_000;

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly deviceDeadlineMs?: number;
  readonly stepDeadlineMs?: number;
  /** Called before each step with what is behind it. */
  readonly onStep?: (step: ReadStep) => void;
}

/**
 * Reads what the plan asks for. Never rejects: what could not be read says why. Once the agent has gone (its port
 * closed, or silent to a step and to the simplest question after it) the steps that are left fail for that reason
 * without being asked.
 */
export async function readSteps(
  asking: SnmpRequester,
  plan: readonly ReadStep[],
  options: ReadOptions,
): Promise<Reads> {
  const reads = new Map<string, StepRead>();
  const device = limited(options.signal, options.deviceDeadlineMs ?? DEVICE_DEADLINE_MS, options.timers);
  const pace = newPace();
  const silences = new Silences();
  let gone: SnmpFailure | null = null;
  try {
    for (const step of plan) {
      if (step.isNeeded !== undefined && !step.isNeeded(reads)) continue;
      if (gone !== null) {
        reads.set(step.name, failedStep(step, gone));
        continue;
      }
      options.onStep?.(step);
      if (silences.isDoubtful(step)) {
        const silence = await briefSilence(asking, step, device.signal);
        if (silence !== null) {
          reads.set(step.name, failedStep(step, silence));
          gone = await whetherGone(asking, silence, device.signal);
          continue;
        }
      }
      const limit = limited(device.signal, options.stepDeadlineMs ?? STEP_DEADLINE_MS, options.timers);
      try {
        const { read, failure } = await readStep(asking, step, reads, limit.signal, pace);
        reads.set(step.name, read);
        if (failure?.reason === "no_answer" && isEmpty(read)) silences.add(step);
        gone = failure === null ? null : await whetherGone(asking, failure, device.signal);
      } finally {
        limit.release();
      }
    }
  } finally {
    device.release();
  }
  return reads;
}

/**
 * Steps that are waited for in vain at full length, of a device that answers others. Whatever is asked of it then is
 * first asked briefly.
 */
export const MAX_SILENT_STEPS = 3;

/** Which parts of a device have said nothing while others answered. */
class Silences {
  private readonly subtrees = new Set<string>();
  private count = 0;

  add(step: ReadStep): void {
    this.count += 1;
    const oid = firstOid(step);
    if (oid !== null) this.subtrees.add(moduleOf(oid));
  }

  /** Whether it is likely that nothing comes of a step. */
  isDoubtful(step: ReadStep): boolean {
    // Contexts of VLANs are tried briefly of themselves.
    if (step.vlanContexts !== undefined) return false;
    const oid = firstOid(step);
    return this.count >= MAX_SILENT_STEPS || (oid !== null && this.subtrees.has(moduleOf(oid)));
  }
}

/**
 * What a whole MIB stands under: a group of mib-2, one of an enterprise's, or of another registry. One process of an
 * agent serves it, or none.
 */
function moduleOf(oid: string): string {
  const arcs = oid.split(".");
  return arcs.slice(0, oid.startsWith("1.3.6.1.2.1.") ? 7 : oid.startsWith("1.3.6.1.4.1.") ? 9 : 6).join(".");
}

function firstOid({ scalars = {}, columns = {} }: ReadStep): string | null {
  return Object.values(scalars)[0] ?? Object.values(columns)[0] ?? null;
}

function isEmpty({ scalars, columns }: StepRead): boolean {
  return (
    scalars.size === 0 && [...columns.values()].every(({ values, isComplete }) => values.size === 0 && !isComplete)
  );
}

/**
 * Its silence to the smallest question of a step, without waiting for long; null where it answers, whatever that is.
 */
async function briefSilence(asking: SnmpRequester, step: ReadStep, signal: AbortSignal): Promise<SnmpFailure | null> {
  const oid = firstOid(step);
  if (oid === null) return null;
  const kind = step.scalars === undefined ? "GetNext" : "Get";
  const answer = await asking.briefly().ask({ kind, oids: [oid] }, signal);
  return isFailure(answer) && answer.reason === "no_answer" ? answer : null;
}

/** After so many contexts in a row that say nothing the rest are not asked. */
const MAX_SILENT_CONTEXTS = 2;

interface StepOutcome {
  readonly read: StepRead;
  /** What ended it before its end. */
  readonly failure: SnmpFailure | null;
}

async function readStep(
  asking: SnmpRequester,
  step: ReadStep,
  reads: Reads,
  signal: AbortSignal,
  pace: Pace,
): Promise<StepOutcome> {
  const scalars = step.scalars === undefined ? null : await getScalars(asking, step.scalars, signal);
  const { columns, failure } = await readColumns(asking, step, reads, scalars?.failure ?? null, signal, pace);
  return {
    read: { scalars: scalars?.values ?? new Map(), scalarsProblem: scalars?.problem ?? null, columns },
    failure,
  };
}

/** @param before what ended the step already */
async function readColumns(
  asking: SnmpRequester,
  step: ReadStep,
  reads: Reads,
  before: SnmpFailure | null,
  signal: AbortSignal,
  pace: Pace,
): Promise<{ columns: ReadonlyMap<string, ColumnRead>; failure: SnmpFailure | null }> {
  const { columns, vlanContexts } = step;
  if (columns === undefined) return { columns: new Map(), failure: before };
  if (before !== null) return { columns: failedColumns(columns, before.clause), failure: before };
  if (vlanContexts === undefined) return walk(asking, columns, { signal, pace });
  return readContexts(asking, columns, vlanContexts(reads), signal, pace);
}

/**
 * The columns of every context in one, each index after the VLAN's number. An agent that says nothing or no to the
 * first of them, and answers in its own context, has none: then there is nothing in them, and that is all.
 */
async function readContexts(
  asking: SnmpRequester,
  columns: Readonly<Record<string, string>>,
  vlans: readonly number[],
  signal: AbortSignal,
  pace: Pace,
): Promise<{ columns: ReadonlyMap<string, ColumnRead>; failure: SnmpFailure | null }> {
  const merged = new Map(
    Object.keys(columns).map((name) => [
      name,
      { values: new Map<string, SnmpValue>(), problem: null as string | null },
    ]),
  );
  let ended: SnmpFailure | null = null;
  let silentCount = 0;
  for (const vlan of vlans) {
    if (ended !== null) {
      for (const into of merged.values()) into.problem ??= `VLAN ${vlan}: ${ended.clause}`;
      break;
    }
    const walked = await walk(asking.inVlan(vlan), columns, { signal, pace, maxSilences: 1 });
    if (vlan === vlans[0] && isRefused(walked) && !isFailure(await probe(asking, signal))) break;
    for (const [name, column] of walked.columns) {
      const into = merged.get(name) as { values: Map<string, SnmpValue>; problem: string | null };
      for (const [index, value] of column.values) into.values.set(`${vlan}.${index}`, value);
      if (!column.isComplete) into.problem ??= `VLAN ${vlan}: ${column.problem ?? "not read"}`;
    }
    silentCount = walked.failure?.reason === "no_answer" ? silentCount + 1 : 0;
    // A context that the agent does not know is no reason to give up the others; its closed port is.
    const isOver = walked.failure !== null && (isFinal(walked.failure) || walked.failure.reason === "deadline");
    if (isOver || silentCount >= MAX_SILENT_CONTEXTS) ended = walked.failure;
  }
  const entries = [...merged].map(
    ([name, { values, problem }]) => [name, { isComplete: problem === null, problem, values }] as const,
  );
  return { columns: new Map(entries), failure: ended };
}

/** Whether a context gave nothing because it is not there, or not for us. */
function isRefused({ columns, failure }: Walked): boolean {
  if (failure !== null && !REFUSALS.has(failure.reason)) return false;
  return [...columns.values()].every(
    (column) => column.values.size === 0 && !column.isComplete && (failure !== null || column.problem === REFUSED),
  );
}

const REFUSALS: ReadonlySet<FailureReason> = new Set(["no_answer", "unsupported", "refused"]);
const REFUSED = failureFor("refused").clause;

/** After a step that broke off: why there is no use in going on, or null. */
async function whetherGone(
  asking: SnmpRequester,
  failure: SnmpFailure,
  signal: AbortSignal,
): Promise<SnmpFailure | null> {
  if (isFinal(failure)) return failure;
  if (failure.reason !== "no_answer") return null;
  // A table that it says nothing to is one thing, an agent that says nothing any more another.
  const answer = await probe(asking, signal);
  return isFailure(answer) ? answer : null;
}

function probe(asking: SnmpRequester, signal: AbortSignal): Promise<AgentReply | SnmpFailure> {
  return asking.ask({ kind: "Get", oids: [SYS_UP_TIME] }, signal);
}

const SYS_UP_TIME = "1.3.6.1.2.1.1.3.0";

function failedStep(step: ReadStep, failure: SnmpFailure): StepRead {
  return {
    scalars: new Map(),
    scalarsProblem: step.scalars === undefined ? null : failure.clause,
    columns: failedColumns(step.columns ?? {}, failure.clause),
  };
}

function failedColumns(columns: Readonly<Record<string, string>>, problem: string): ReadonlyMap<string, ColumnRead> {
  return new Map(Object.keys(columns).map((name) => [name, { isComplete: false, problem, values: new Map() }]));
}
