// Reads single instances by GET, however little of them an agent answers at once. Pure: it knows no sockets and no
// time, only answers.

import type { SnmpValue } from "../mib/reads.ts";
import { failure, isFailure, type SnmpFailure } from "./failure.ts";
import { type AgentReply, ERROR_STATUS, type SnmpRequester } from "./requests.ts";
import { isException, varbindValue } from "./value.ts";
import { errorFailure } from "./walk.ts";

interface ScalarsRead {
  /** Those that exist. */
  readonly values: ReadonlyMap<string, SnmpValue>;
  /** Why those of them that are missing could not be asked; null where all were. */
  readonly problem: string | null;
  /** What ended the reading as a whole. */
  readonly failure: SnmpFailure | null;
}

/**
 * Asks for all at once; without the one that the agent names as the reason of an error; else one by one.
 * @param scalars name → OID
 */
export async function getScalars(
  asking: SnmpRequester,
  scalars: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ScalarsRead> {
  const values = new Map<string, SnmpValue>();
  let problem: string | null = null;
  // Groups still to be asked for: each is one question.
  const groups: Scalar[][] = [Object.entries(scalars).map(([name, oid]) => ({ name, oid }))];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.length === 0) continue;
    const answer = await asking.ask({ kind: "Get", oids: group.map((scalar) => scalar.oid) }, signal);
    const outcome = isFailure(answer) ? { problem: answer } : take(answer, group, values);
    if (outcome === null) continue;
    if (isFailure(answer) && answer.reason !== "garbage") return { values, problem: answer.clause, failure: answer };
    if (outcome.culprit !== undefined && group.length > 1) {
      const { culprit } = outcome;
      groups.push(
        [culprit],
        group.filter((scalar) => scalar !== culprit),
      );
    } else if (group.length > 1) {
      groups.push(...group.map((scalar) => [scalar]));
    } else if (outcome.problem !== null) {
      problem ??= outcome.problem.clause;
    }
  }
  return { values, problem, failure: null };
}

interface Scalar {
  readonly name: string;
  readonly oid: string;
}

interface ScalarOutcome {
  /** Null for what is only not there. */
  readonly problem: SnmpFailure | null;
  readonly culprit?: Scalar | undefined;
}

/** @returns null when everything asked for was answered, if only by its not being there */
function take(
  { varbinds, errorStatus, errorIndex }: AgentReply,
  group: readonly Scalar[],
  values: Map<string, SnmpValue>,
): ScalarOutcome | null {
  if (errorStatus !== 0)
    return {
      problem: errorStatus === ERROR_STATUS.noSuchName ? null : errorFailure(errorStatus),
      culprit: group[errorIndex - 1],
    };
  const isAnswered =
    varbinds.length === group.length && varbinds.every((varbind, index) => varbind.oid === group[index]?.oid);
  if (!isAnswered) return { problem: failure("garbage", "the device answers something other than what was asked") };
  const read = varbinds.map((varbind) => (isException(varbind) ? null : varbindValue(varbind)));
  if (read.includes(undefined)) return { problem: failure("garbage") };
  for (const [index, value] of read.entries())
    if (value !== null && value !== undefined) values.set((group[index] as Scalar).name, value);
  return null;
}
