// Trial of one credential on one agent, reported step by step: agent present, credential accepted, data visible. Reads
// no more than that requires, and decides nothing.

import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { SnmpValue } from "../mib/reads.ts";
import { textOf } from "../mib/values.ts";
import type { SnmpCredential, UserCredential } from "./credential.ts";
import { type FailureReason, failure, isFailure, isFinal, type SnmpFailure } from "./failure.ts";
import { hasKeyExtension, type KeyExtension } from "./net-snmp-user.ts";
import { type AgentReply, ERROR_STATUS } from "./requests.ts";
import { getScalars } from "./scalars.ts";
import { openSnmpSession, type SnmpSession, type SnmpTimeouts } from "./session.ts";
import { withDeadline } from "./time-limit.ts";
import {
  endedStep,
  TRIAL_TEXT_MAX_LENGTH,
  type TrialFact,
  type TrialStep,
  type TrialStepName,
  untriedStep,
} from "./trial-steps.ts";
import { isException } from "./value.ts";
import { errorFailure, walk } from "./walk.ts";

const SNMP_PORT = 161;
/** Deadline of the trial's SNMP part. */
export const SNMP_TRIAL_DEADLINE_MS = 14_000;
/** Per table. */
const TABLE_DEADLINE_MS = 2_500;
/** Rows are counted up to this number. */
const ROWS_COUNTED_MAX = 50;
const TRIAL_TIMEOUTS: SnmpTimeouts = { timeoutMs: 1_000, retries: 1 };

export interface TryCredentialOptions {
  /** Called before each send with the credential. */
  readonly maySend: () => boolean;
  readonly signal: AbortSignal;
  /** Called with each step as it ends. */
  readonly onStep?: ((step: TrialStep) => void) | undefined;
  readonly timers: Timers;
  readonly random: Random;
  readonly timeouts?: SnmpTimeouts;
}

/** Never rejects because of a device's behavior, and leaves no socket open. */
export async function tryCredential(
  target: { readonly address: string; readonly port?: number },
  credential: SnmpCredential,
  options: TryCredentialOptions,
): Promise<TrialStep[]> {
  const limit = withDeadline(options.signal, SNMP_TRIAL_DEADLINE_MS, options.timers);
  const agentAddress = { address: target.address, port: target.port ?? SNMP_PORT };
  try {
    const steps: TrialStep[] = [];
    const add = (step: TrialStep) => {
      steps.push(step);
      options.onStep?.(step);
    };
    const limited = { ...options, signal: limit.signal };
    const { session, steps: first } = await authenticate(agentAddress, credential, limited);
    first.forEach(add);
    if (session === null) {
      for (const step of READING_STEPS) add(untriedStep(step, NOT_ACCEPTED));
      return steps;
    }
    try {
      await checkTables(session, limit.signal, options.timers, add);
    } finally {
      session.close();
    }
    return steps;
  } finally {
    limit.release();
  }
}

const NOT_ACCEPTED = "Not tried: the device has not accepted the credential.";

interface Target {
  readonly address: string;
  readonly port: number;
}

interface Authenticated {
  /** Null if the agent does not accept the credential. */
  readonly session: SnmpSession | null;
  /** Steps for the agent and the authentication. */
  readonly steps: readonly TrialStep[];
}

/** Checks whether an agent is present and responds to one small request with the credential. */
async function authenticate(
  target: Target,
  credential: SnmpCredential,
  options: TryCredentialOptions,
): Promise<Authenticated> {
  const startedMs = performance.now();
  let last: Attempt | null = null;
  for (const extension of extensionsOf(credential)) {
    last = await attempt(target, credential, extension, options);
    if (last.session !== null && !isFailure(last.reply)) break;
    last.session?.close();
    // The key is wrong only if an engine that reported its ID stays silent or reports a decryption error.
    const { reply, engine } = last;
    const isKeyProblem = engine !== null && isFailure(reply) && ["no_answer", "wrong_password"].includes(reply.reason);
    if (!isKeyProblem) break;
  }
  if (last === null) throw new Error("snmp: no way to try the credential");
  const { session, reply, engine } = last;
  if (credential.version !== "SnmpV3") return communityResult(target, credential.version, last, startedMs, options);
  if (engine === null) {
    const untried = untriedStep("authentication", "Not tried: no engine responded, so no secret was sent.");
    return { session: null, steps: [missingAgentStep(target, reply as SnmpFailure, startedMs, "SNMPv3"), untried] };
  }
  const agent: TrialStep = {
    ...endedStep("agent", startedMs, {
      outcome: "Passed",
      sentence: "An SNMPv3 engine responds with its id and time.",
      facts: [
        { name: "engine_id", value: engine.id },
        { name: "engine_boots", value: String(engine.boots) },
        { name: "engine_time_seconds", value: String(engine.timeSeconds) },
      ],
    }),
    duration_ms: Math.max(0, Math.round(engine.foundMs - startedMs)),
  };
  return isFailure(reply)
    ? { session: null, steps: [agent, userRefused(credential, reply, engine.foundMs)] }
    : { session, steps: [agent, userAccepted(credential, last.extension, engine.foundMs)] };
}

interface Engine {
  readonly id: string;
  readonly boots: number;
  readonly timeSeconds: number;
  readonly foundMs: number;
}

interface Attempt {
  readonly session: SnmpSession | null;
  readonly reply: AgentReply | SnmpFailure;
  /** SNMPv3 only, once discovered. */
  readonly engine: Engine | null;
  readonly extension: KeyExtension | null;
}

/** Key extension methods to try; a single null if there is no choice. */
function extensionsOf(credential: SnmpCredential): readonly (KeyExtension | null)[] {
  return credential.version === "SnmpV3" && hasKeyExtension(credential) ? ["Blumenthal", "Reeder"] : [null];
}

async function attempt(
  target: Target,
  credential: SnmpCredential,
  extension: KeyExtension | null,
  { timers, random, signal, maySend, timeouts = TRIAL_TIMEOUTS }: TryCredentialOptions,
): Promise<Attempt> {
  let foundMs: number | null = null;
  const session = await openSnmpSession(target, credential, {
    timers,
    random,
    timeouts,
    maySend,
    keyExtension: extension ?? "Blumenthal",
    onRequest: () => {
      if (!isFailure(session) && session.hasFoundEngine) foundMs ??= performance.now();
    },
  });
  if (isFailure(session)) return { session: null, reply: session, engine: null, extension };
  const reply = await session.request({ kind: "Get", oids: [SYS_UP_TIME] }, signal);
  const engine = session.engine === null ? null : { ...session.engine, foundMs: foundMs ?? performance.now() };
  return { session, reply, engine, extension };
}

function userAccepted(
  { security_name, auth_protocol, priv_protocol }: UserCredential,
  extension: KeyExtension | null,
  startedMs: number,
): TrialStep {
  const level =
    auth_protocol === "None"
      ? "without authentication"
      : `authenticated by ${auth_protocol}${priv_protocol === "None" ? "" : ` and encrypted by ${priv_protocol}`}`;
  const sentence = `The device accepts the user ${security_name}, ${level}.`;
  const facts = extension === null ? [] : [{ name: "key_extension", value: extension }];
  return endedStep("authentication", startedMs, { outcome: "Passed", sentence, facts });
}

/** Distinguishes the usmStats reports of RFC 3414 §5; silence remains ambiguous. */
function userRefused(
  { security_name, auth_protocol, priv_protocol, context_name }: UserCredential,
  { reason, clause }: SnmpFailure,
  startedMs: number,
): TrialStep {
  const isSilent = reason === "no_answer";
  const unsupported =
    auth_protocol === "None"
      ? "it may require authentication"
      : priv_protocol === "None"
        ? "it may require privacy, or know the user without authentication"
        : "it may know the user without privacy";
  const sentences: Partial<Record<FailureReason, string>> = {
    wrong_user: `The device has no user ${security_name} (unknownUserNames): correct the security_name, or add the user there.`,
    wrong_password: clause.includes("privacy")
      ? "The device cannot decrypt the request (decryptionErrors): its privacy password or priv_protocol differs."
      : "The device knows the user, but the signature is wrong (wrongDigests): its authentication password or auth_protocol differs.",
    unsupported:
      context_name && clause.includes("context")
        ? `The device accepts the user, but does not serve the context ${context_name}.`
        : clause.includes("security level")
          ? `The device knows the user with another security level (unsupportedSecLevels): ${unsupported}.`
          : `The device accepts the user, but refuses the request: ${clause}.`,
    no_answer:
      priv_protocol === "None"
        ? "The engine responded to discovery but ignores the user. These causes cannot be distinguished from here: the user is not permitted from this address, or the device drops what it does not accept."
        : "The engine responded to discovery but ignores the user. These causes cannot be distinguished from here: the privacy password or priv_protocol is wrong, which many devices do not report, or the user has no read access.",
  };
  const missing = clause.startsWith("the credential has no ") ? `Not sent: ${clause}.` : null;
  const sentence = missing ?? sentences[reason] ?? asSentence(clause);
  return endedStep("authentication", startedMs, { outcome: isSilent ? "Unclear" : "Failed", reason, sentence });
}

/** A wrong community gets no response: engine discovery, which needs no secret, shows whether an agent is present. */
async function communityResult(
  target: Target,
  version: "SnmpV1" | "SnmpV2c",
  { session, reply }: Attempt,
  startedMs: number,
  options: TryCredentialOptions,
): Promise<Authenticated> {
  const protocol = version === "SnmpV1" ? "SNMPv1" : "SNMPv2c";
  if (!isFailure(reply)) {
    const agent = endedStep("agent", startedMs, { outcome: "Passed", sentence: "An SNMP agent responds." });
    // One response proves both.
    const sentence = `The device accepts the community in ${protocol}.`;
    return { session, steps: [agent, endedStep("authentication", performance.now(), { outcome: "Passed", sentence })] };
  }
  if (reply.reason !== "no_answer") {
    const agent =
      reply.reason === "port_closed" || reply.reason === "unreachable" || reply.reason === "cancelled"
        ? missingAgentStep(target, reply, startedMs, protocol)
        : endedStep("agent", startedMs, { outcome: "Passed", sentence: "The port responds." });
    const refused = { outcome: "Failed", reason: reply.reason, sentence: asSentence(reply.clause) } as const;
    const authentication =
      agent.outcome === "Passed"
        ? endedStep("authentication", startedMs, refused)
        : untriedStep("authentication", "No agent was there to receive the community.");
    return { session: null, steps: [agent, authentication] };
  }
  const silentMs = performance.now();
  const waitedMs = silentMs - startedMs;
  const engine = await discoverEngine(target, options);
  const agent =
    engine === null
      ? missingAgentStep(target, reply, silentMs, protocol)
      : endedStep("agent", silentMs, {
          outcome: "Passed",
          sentence: "An SNMP agent is running: it responds to SNMPv3 discovery, which requires no secret.",
          facts: [{ name: "engine_id", value: engine.id }],
        });
  const outcome = engine === null ? "Unclear" : "Failed";
  const sentence =
    engine === null
      ? "No response to the community. Devices ignore a wrong one, so it may be wrong, or the request may not have arrived."
      : `It ignores this community: it is wrong, may not be used from this address, or the device does not accept ${protocol}.`;
  const authentication = endedStep("authentication", startedMs, { outcome, reason: "no_answer", sentence });
  return { session: null, steps: [agent, { ...authentication, duration_ms: Math.round(waitedMs) }] };
}

const ANONYMOUS: UserCredential = {
  credential_id: "",
  name: "",
  version: "SnmpV3",
  security_name: "",
  auth_protocol: "None",
  auth_password: null,
  priv_protocol: "None",
  priv_password: null,
  context_name: null,
};

/** Discovery without a user (RFC 3414 §4); sends nothing after that. Null if no response. */
async function discoverEngine(target: Target, options: TryCredentialOptions): Promise<{ readonly id: string } | null> {
  const { timers, random, signal, timeouts = TRIAL_TIMEOUTS } = options;
  const maySend = (): boolean => options.maySend() && (isFailure(session) || !session.hasFoundEngine);
  const session = await openSnmpSession(target, ANONYMOUS, { timers, random, timeouts, maySend });
  if (isFailure(session)) return null;
  try {
    await session.request({ kind: "Get", oids: [SYS_UP_TIME] }, signal);
    return session.engine;
  } finally {
    session.close();
  }
}

function missingAgentStep({ port }: Target, problem: SnmpFailure, startedMs: number, protocol: string): TrialStep {
  const { reason, clause } = problem;
  if (reason === "no_answer")
    return endedStep("agent", startedMs, {
      outcome: "Unclear",
      reason,
      sentence: `No agent responds to ${protocol} on UDP port ${port}. These causes cannot be distinguished from here: no SNMP agent is running there, a filter drops the packets on the path or on the device, ${protocol === "SNMPv3" ? "or the agent does not support SNMPv3" : "or the community is wrong and the agent does not support SNMPv3 either"}.`,
    });
  const sentence =
    reason === "port_closed"
      ? `UDP port ${port} is closed: the device itself reports that no SNMP agent listens there. Enable the agent, or let it listen on this address.`
      : asSentence(clause);
  return endedStep("agent", startedMs, { outcome: "Failed", reason, sentence });
}

const READING_STEPS = ["system", "interfaces", "addresses", "lldp", "forwarding"] as const satisfies TrialStepName[];

/** Columns requested per table, in order, until one has rows. */
const TABLES: ReadonlyArray<{
  readonly step: Exclude<(typeof READING_STEPS)[number], "system">;
  readonly tableName: string;
  /** Consequence of an empty table. */
  readonly empty: string;
  readonly columns: readonly string[];
}> = [
  {
    step: "interfaces",
    tableName: "interfaces (IF-MIB)",
    empty: "a scan finds none of its interfaces",
    // ifDescr of ifTable, ifName of ifXTable.
    columns: ["1.3.6.1.2.1.2.2.1.2", "1.3.6.1.2.1.31.1.1.1.1"],
  },
  {
    step: "addresses",
    tableName: "its own addresses (IP-MIB)",
    empty: "a scan finds none of its addresses but this one",
    // ipAdEntIfIndex of ipAddrTable, ipAddressIfIndex of ipAddressTable.
    columns: ["1.3.6.1.2.1.4.20.1.2", "1.3.6.1.2.1.4.34.1.3"],
  },
  {
    step: "lldp",
    tableName: "neighbors (LLDP-MIB)",
    empty: "it has no neighbors that speak LLDP, or does not report them",
    // lldpRemPortId, lldpV2RemPortId.
    columns: ["1.0.8802.1.1.2.1.4.1.1.7", "1.3.111.2.802.1.1.13.1.4.1.1.8"],
  },
  {
    step: "forwarding",
    tableName: "MAC addresses behind its ports (BRIDGE-MIB, Q-BRIDGE-MIB)",
    empty: "it is not a bridge, has learned none, or keeps them in one context per VLAN",
    // dot1dTpFdbPort, dot1qTpFdbPort.
    columns: ["1.3.6.1.2.1.17.4.3.1.2", "1.3.6.1.2.1.17.7.1.2.2.1.2"],
  },
];

/** Reads the system group and checks whether the tables that scans read are served. */
async function checkTables(
  session: SnmpSession,
  signal: AbortSignal,
  timers: Timers,
  add: (step: TrialStep) => void,
): Promise<void> {
  const system = await readSystem(session, signal);
  add(system.step);
  let stopReason = system.stopReason;
  for (const table of TABLES) {
    if (stopReason !== null || signal.aborted) {
      add(untriedStep(table.step, `Not tried: ${(stopReason ?? failure("deadline")).clause}.`));
      continue;
    }
    const limit = withDeadline(signal, TABLE_DEADLINE_MS, timers);
    try {
      const read = await readTable(session, table, limit.signal);
      add(read.step);
      stopReason = read.stopReason;
    } finally {
      limit.release();
    }
  }
}

interface StepRead {
  readonly step: TrialStep;
  /** Reason to stop; null to continue. */
  readonly stopReason: SnmpFailure | null;
}

async function readSystem(session: SnmpSession, signal: AbortSignal): Promise<StepRead> {
  const startedMs = performance.now();
  const { values, problem, failure } = await getScalars(session, SYSTEM_GROUP, signal);
  const facts = [...values].map(([name, value]): TrialFact => ({ name, value: printable(value) }));
  if (failure !== null && values.size === 0) {
    const sentence = `The device responded once and then stopped: ${failure.clause}.`;
    const step = endedStep("system", startedMs, { outcome: "Failed", reason: failure.reason, sentence });
    return { step, stopReason: failure };
  }
  if (values.size > 0) {
    const missing = Object.keys(SYSTEM_GROUP).filter((name) => !values.has(name));
    const sentence = `The device identifies itself${missing.length === 0 ? "" : `, without ${missing.join(" and ")}`}.`;
    return { step: endedStep("system", startedMs, { outcome: "Passed", sentence, facts }), stopReason: null };
  }
  if (problem !== null) {
    const reason = problem === REFUSED ? "refused" : "agent_error";
    const sentence =
      problem === REFUSED
        ? "The device accepts the credential but denies it the system group: extend its view there, or use a higher security level (authentication and privacy)."
        : asSentence(problem);
    return { step: endedStep("system", startedMs, { outcome: "Failed", reason, sentence }), stopReason: null };
  }
  return { step: await emptyViewStep(session, signal, startedMs), stopReason: null };
}

/** No error and no value: checks whether the agent shows anything at all. */
async function emptyViewStep(session: SnmpSession, signal: AbortSignal, startedMs: number): Promise<TrialStep> {
  const reply = await session.request({ kind: "GetNext", oids: [ROOT_OID] }, signal);
  const first = isFailure(reply) || reply.errorStatus !== 0 ? undefined : reply.varbinds[0];
  const isEmpty =
    first === undefined
      ? !isFailure(reply) && reply.errorStatus === ERROR_STATUS.noSuchName
      : isException(first) || !first.oid.startsWith(`${ROOT_OID}.`);
  const sentence = isEmpty
    ? "The device accepts the credential but returns nothing: its view there is empty."
    : "The device accepts the credential but does not return the system group, which identifies devices: add 1.3.6.1.2.1.1 to its view.";
  return endedStep("system", startedMs, { outcome: "Failed", reason: "nothing_shown", sentence });
}

async function readTable(
  session: SnmpSession,
  { step, tableName, empty, columns }: (typeof TABLES)[number],
  signal: AbortSignal,
): Promise<StepRead> {
  const startedMs = performance.now();
  let problem: { readonly reason: FailureReason; readonly clause: string } | null = null;
  for (const oid of columns) {
    const walked = await walk(session, { column: oid }, { signal, rowCap: ROWS_COUNTED_MAX, maxSilences: 1 });
    const column = walked.columns.get("column");
    const count = column?.values.size ?? 0;
    const clause = walked.failure?.clause ?? column?.problem ?? null;
    if (count > 0) {
      const isTruncated = clause !== null && count < ROWS_COUNTED_MAX;
      const rows = count >= ROWS_COUNTED_MAX ? `${ROWS_COUNTED_MAX} or more` : String(count);
      const rowText = count === 1 ? "1 row" : `${rows} rows`;
      const outcome = isTruncated ? "Failed" : "Passed";
      const reason = isTruncated ? (walked.failure?.reason ?? reasonOf(clause)) : null;
      const sentence = `The table of ${tableName} ${isTruncated ? `was cut off after ${rowText}: ${clause}` : `has ${rowText}`}.`;
      const facts = [{ name: "rows", value: rows }];
      return { step: endedStep(step, startedMs, { outcome, reason, sentence, facts }), stopReason: null };
    }
    if (clause !== null) problem ??= { reason: walked.failure?.reason ?? reasonOf(clause), clause };
    if (walked.failure !== null && isFinal(walked.failure))
      return { step: tableFailed(step, tableName, walked.failure, startedMs), stopReason: walked.failure };
  }
  if (problem !== null) return { step: tableFailed(step, tableName, problem, startedMs), stopReason: null };
  const sentence = `Nothing under ${tableName}: ${empty}.`;
  return { step: endedStep(step, startedMs, { outcome: "Empty", sentence }), stopReason: null };
}

function tableFailed(
  step: TrialStepName,
  tableName: string,
  { reason, clause }: SnmpFailure,
  startedMs: number,
): TrialStep {
  const sentence = `The table of ${tableName} cannot be read: ${clause}.`;
  return endedStep(step, startedMs, { outcome: "Failed", reason, sentence });
}

function reasonOf(clause: string): FailureReason {
  if (clause === REFUSED) return "refused";
  return STUCK.test(clause) ? "not_increasing" : "agent_error";
}

/** Formats device text: one line without control characters, truncated. */
function printable(value: SnmpValue): string {
  const text = typeof value === "object" ? textOf(value) : String(value);
  return (text ?? "").slice(0, TRIAL_TEXT_MAX_LENGTH);
}

function asSentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

const ROOT_OID = "1.3";
const SYS_UP_TIME = "1.3.6.1.2.1.1.3.0";
const SYSTEM_GROUP = {
  sys_name: "1.3.6.1.2.1.1.5.0",
  sys_descr: "1.3.6.1.2.1.1.1.0",
  sys_object_id: "1.3.6.1.2.1.1.2.0",
};
const REFUSED = errorFailure(ERROR_STATUS.noAccess).clause;
/** Clauses of walk.ts for an agent that loops. */
const STUCK = /^the device('s responses do not advance| repeats )/;
