// Runner of a read plan on one agent, step by step; a failure stays within its step. Independent of MIBs and sockets.

import type { Timers } from "../../base/timers.ts";
import type { ColumnRead, ReadStep, Reads, SnmpValue, StepRead } from "../mib/reads.ts";
import { type FailureReason, failure as failureFor, isFailure, isFinal, type SnmpFailure } from "./failure.ts";
import type { AgentReply, SnmpRequester } from "./requests.ts";
import { getScalars } from "./scalars.ts";
import { withDeadline } from "./time-limit.ts";
import { newPace, type Pace, type WalkResult, walk } from "./walk.ts";

export const DEVICE_DEADLINE_MS = 600_000;
export const STEP_DEADLINE_MS = 120_000;

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly deviceDeadlineMs?: number;
  readonly stepDeadlineMs?: number;
  /** Called before each step. */
  readonly onStep?: (step: ReadStep) => void;
}

/**
 * Runs the plan. Never rejects: unread data carries its reason. Once the agent is gone (port closed, or silent to a
 * step and then to the simplest request), the remaining steps fail with that reason and are not polled.
 */
export async function readSteps(
  requester: SnmpRequester,
  plan: readonly ReadStep[],
  options: ReadOptions,
): Promise<Reads> {
  const reads = new Map<string, StepRead>();
  const device = withDeadline(options.signal, options.deviceDeadlineMs ?? DEVICE_DEADLINE_MS, options.timers);
  const pace = newPace();
  const silences = new SilentSubtrees();
  let stopReason: SnmpFailure | null = null;
  try {
    for (const step of plan) {
      if (step.isNeeded !== undefined && !step.isNeeded(reads)) continue;
      if (stopReason !== null) {
        reads.set(step.name, failedStep(step, stopReason));
        continue;
      }
      options.onStep?.(step);
      if (silences.isDoubtful(step)) {
        const silence = await probeBriefly(requester, step, device.signal);
        if (silence !== null) {
          reads.set(step.name, failedStep(step, silence));
          stopReason = await stopReasonFor(requester, silence, device.signal);
          continue;
        }
      }
      const limit = withDeadline(device.signal, options.stepDeadlineMs ?? STEP_DEADLINE_MS, options.timers);
      try {
        const { read, failure } = await readStep(requester, step, reads, limit.signal, pace);
        reads.set(step.name, read);
        if (failure?.reason === "no_answer" && isEmpty(read)) silences.add(step);
        stopReason = failure === null ? null : await stopReasonFor(requester, failure, device.signal);
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
 * Steps with a full-length timeout on a device that responds to others. After that, each step is first probed briefly.
 */
export const MAX_SILENT_STEPS = 3;

/** Subtrees of a device that stayed silent while others responded. */
class SilentSubtrees {
  private readonly subtrees = new Set<string>();
  private count = 0;

  add(step: ReadStep): void {
    this.count += 1;
    const oid = firstOid(step);
    if (oid !== null) this.subtrees.add(moduleOf(oid));
  }

  /** True if the step will probably time out. */
  isDoubtful(step: ReadStep): boolean {
    // VLAN contexts are always probed briefly.
    if (step.vlanContexts !== undefined) return false;
    const oid = firstOid(step);
    return this.count >= MAX_SILENT_STEPS || (oid !== null && this.subtrees.has(moduleOf(oid)));
  }
}

/**
 * Returns the subtree of a whole MIB: a group of mib-2, of an enterprise, or of another registry. A single process of
 * the agent serves it, or none.
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

/** Probes the smallest request of a step with a short timeout; null if the agent responds in any way. */
async function probeBriefly(
  requester: SnmpRequester,
  step: ReadStep,
  signal: AbortSignal,
): Promise<SnmpFailure | null> {
  const oid = firstOid(step);
  if (oid === null) return null;
  const kind = step.scalars === undefined ? "GetNext" : "Get";
  const reply = await requester.withBriefTimeout().request({ kind, oids: [oid] }, signal);
  return isFailure(reply) && reply.reason === "no_answer" ? reply : null;
}

/** Consecutive silent contexts after which the rest are skipped. */
const MAX_SILENT_CONTEXTS = 2;

interface StepOutcome {
  readonly read: StepRead;
  /** Failure that ended the step early. */
  readonly failure: SnmpFailure | null;
}

async function readStep(
  requester: SnmpRequester,
  step: ReadStep,
  reads: Reads,
  signal: AbortSignal,
  pace: Pace,
): Promise<StepOutcome> {
  const scalars = step.scalars === undefined ? null : await getScalars(requester, step.scalars, signal);
  const { columns, failure } = await readColumns(requester, step, reads, scalars?.failure ?? null, signal, pace);
  return {
    read: { scalars: scalars?.values ?? new Map(), scalarsProblem: scalars?.problem ?? null, columns },
    failure,
  };
}

/** @param before failure that already ended the step */
async function readColumns(
  requester: SnmpRequester,
  step: ReadStep,
  reads: Reads,
  before: SnmpFailure | null,
  signal: AbortSignal,
  pace: Pace,
): Promise<{ columns: ReadonlyMap<string, ColumnRead>; failure: SnmpFailure | null }> {
  const { columns, vlanContexts } = step;
  if (columns === undefined) return { columns: new Map(), failure: before };
  if (before !== null) return { columns: failedColumns(columns, before.clause), failure: before };
  if (vlanContexts === undefined) return walk(requester, columns, { signal, pace });
  return readContexts(requester, columns, vlanContexts(reads), signal, pace);
}

/**
 * Merges the columns of all contexts, prefixing each index with the VLAN number. An agent that stays silent or rejects
 * the first contexts, but responds in its default context, has no VLAN contexts: the result is then empty and complete.
 */
async function readContexts(
  requester: SnmpRequester,
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
      for (const target of merged.values()) target.problem ??= `VLAN ${vlan}: ${ended.clause}`;
      break;
    }
    const walked = await walk(requester.inVlan(vlan), columns, { signal, pace, maxSilences: 1 });
    if (vlan === vlans[0] && isRefused(walked) && !isFailure(await probe(requester, signal))) break;
    for (const [name, column] of walked.columns) {
      const target = merged.get(name) as { values: Map<string, SnmpValue>; problem: string | null };
      for (const [index, value] of column.values) target.values.set(`${vlan}.${index}`, value);
      if (!column.isComplete) target.problem ??= `VLAN ${vlan}: ${column.problem ?? "not read"}`;
    }
    silentCount = walked.failure?.reason === "no_answer" ? silentCount + 1 : 0;
    // A context unknown to the agent is no reason to skip the others; a closed port is.
    const hasEnded = walked.failure !== null && (isFinal(walked.failure) || walked.failure.reason === "deadline");
    if (hasEnded || silentCount >= MAX_SILENT_CONTEXTS) ended = walked.failure;
  }
  const entries = [...merged].map(
    ([name, { values, problem }]) => [name, { isComplete: problem === null, problem, values }] as const,
  );
  return { columns: new Map(entries), failure: ended };
}

/** True if a context returned nothing because it does not exist or is not accessible. */
function isRefused({ columns, failure }: WalkResult): boolean {
  if (failure !== null && !REFUSALS.has(failure.reason)) return false;
  return [...columns.values()].every(
    (column) => column.values.size === 0 && !column.isComplete && (failure !== null || column.problem === REFUSED),
  );
}

const REFUSALS: ReadonlySet<FailureReason> = new Set(["no_answer", "unsupported", "refused"]);
const REFUSED = failureFor("refused").clause;

/** Returns the reason to stop after a failed step, or null. */
async function stopReasonFor(
  requester: SnmpRequester,
  failure: SnmpFailure,
  signal: AbortSignal,
): Promise<SnmpFailure | null> {
  if (isFinal(failure)) return failure;
  if (failure.reason !== "no_answer") return null;
  // Distinguishes a table that times out from an agent that no longer responds.
  const reply = await probe(requester, signal);
  return isFailure(reply) ? reply : null;
}

function probe(requester: SnmpRequester, signal: AbortSignal): Promise<AgentReply | SnmpFailure> {
  return requester.request({ kind: "Get", oids: [SYS_UP_TIME] }, signal);
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
