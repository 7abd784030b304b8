// Reader for single instances by GET, even if an agent returns only a few per request. Independent of sockets and time.
// Pure.

import type { SnmpValue } from "../mib/reads.ts";
import { failure, isFailure, type SnmpFailure } from "./failure.ts";
import { type AgentReply, ERROR_STATUS, type SnmpRequester } from "./requests.ts";
import { isException, varbindValue } from "./value.ts";
import { errorFailure } from "./walk.ts";

interface ScalarsRead {
  /** Existing instances. */
  readonly values: ReadonlyMap<string, SnmpValue>;
  /** Reason for unread instances; null if all were read. */
  readonly problem: string | null;
  /** Failure that ended the reading as a whole. */
  readonly failure: SnmpFailure | null;
}

/**
 * Requests all together; then without the one that the agent reports in an error; else one by one.
 * @param scalars name → OID
 */
export async function getScalars(
  requester: SnmpRequester,
  scalars: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ScalarsRead> {
  const values = new Map<string, SnmpValue>();
  let problem: string | null = null;
  // Pending groups, one request each.
  const groups: Scalar[][] = [Object.entries(scalars).map(([name, oid]) => ({ name, oid }))];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.length === 0) continue;
    const reply = await requester.request({ kind: "Get", oids: group.map((scalar) => scalar.oid) }, signal);
    const outcome = isFailure(reply) ? { problem: reply } : collect(reply, group, values);
    if (outcome === null) continue;
    if (isFailure(reply) && reply.reason !== "garbage") return { values, problem: reply.clause, failure: reply };
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
  /** Null if the instance merely does not exist. */
  readonly problem: SnmpFailure | null;
  readonly culprit?: Scalar | undefined;
}

/** @returns null if the whole request got a response, including nonexistent instances */
function collect(
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
  if (!isAnswered) return { problem: failure("garbage", "the device's response does not match the request") };
  const read = varbinds.map((varbind) => (isException(varbind) ? null : varbindValue(varbind)));
  if (read.includes(undefined)) return { problem: failure("garbage") };
  for (const [index, value] of read.entries())
    if (value !== null && value !== undefined) values.set((group[index] as Scalar).name, value);
  return null;
}
