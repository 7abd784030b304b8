// Finds the credential that opens a device and reads the device with it. What is read and what it means is for the MIBs
// to say.

import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { Device } from "../device.ts";
import { deviceOf } from "../mib/device.ts";
import { READING_PLAN } from "../mib/plan.ts";
import type { ReadStep, Reads } from "../mib/reads.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { WorkingCredential } from "../sightings.ts";
import type { SnmpCredential } from "./credential.ts";
import { type FailureReason, failure, isFailure, type SnmpFailure } from "./failure.ts";
import { hasKeyExtension, type KeyExtension } from "./net-snmp-user.ts";
import { readSteps } from "./read-steps.ts";
import { openSnmpSession, SNMP_TIMEOUTS, type SnmpSession, type SnmpTimeouts } from "./session.ts";
import { errorFailure } from "./walk.ts";

const SNMP_PORT = 161;

/** While a credential is tried: most of those that are wrong say nothing, and each of them costs as much as this. */
const TRYING_TIMEOUTS: SnmpTimeouts = { timeoutMs: 1_000, retries: 1 };

export interface AskDeviceOptions {
  /** In the order in which they are tried. */
  readonly credentials: readonly SnmpCredential[];
  /** What opened it the last time: tried first where it is among the credentials. */
  readonly remembered: WorkingCredential | null;
  /** What the agent has reported so far, so that what it serves no more is missed; null where that is not known. */
  readonly served?: ServedBefore | null;
  /** Asked before everything that is sent with a credential; always true by default. */
  readonly maySend?: (credential: SnmpCredential) => boolean;
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly random: Random;
  /** Called for every datagram that is sent. */
  readonly onRequest?: () => void;
  readonly tryingTimeouts?: SnmpTimeouts;
  /** Of the reading itself; those of session.ts and read-steps.ts by default. */
  readonly timeouts?: SnmpTimeouts;
  readonly deviceDeadlineMs?: number;
  readonly stepDeadlineMs?: number;
}

/** What is read, and what is made of it. */
export interface DeviceReader {
  readonly plan: readonly ReadStep[];
  readonly deviceOf: (reads: Reads, served: ServedBefore | null) => Device;
}

interface TriedCredential {
  readonly credential_id: string;
  readonly reason: FailureReason;
  /** For people. */
  readonly clause: string;
}

export type DeviceOutcome =
  | { readonly ok: true; readonly device: Device; readonly credential: WorkingCredential; readonly requests: number }
  | { readonly ok: false; readonly failures: readonly TriedCredential[]; readonly requests: number };

/**
 * Tries the credentials one after the other, each with one small question, and reads the device with the first that is
 * answered. Never rejects because of what a device does, and leaves no socket behind. A closed port or an address that
 * cannot be reached ends the trying: the one failure is then the last.
 */
export async function askDevice(
  target: { readonly address: string; readonly port?: number },
  options: AskDeviceOptions,
  reader: DeviceReader = ALL,
): Promise<DeviceOutcome> {
  let requests = 0;
  const onRequest = (): void => {
    requests += 1;
    options.onRequest?.();
  };
  const failures: TriedCredential[] = [];
  for (const { credential, extensions } of inOrder(options)) {
    const opened = await open({ address: target.address, port: target.port ?? SNMP_PORT }, credential, extensions, {
      ...options,
      onRequest,
    });
    if (isFailure(opened)) {
      failures.push({ credential_id: credential.credential_id, ...opened });
      // One that was taken back ends nothing but its own trial.
      if (ENDS_TRYING.has(opened.reason) && options.maySend?.(credential) !== false) break;
      continue;
    }
    try {
      const reads = await readSteps(opened.session, reader.plan, options);
      const device = reader.deviceOf(reads, options.served ?? null);
      const working = { credential_id: credential.credential_id, key_extension: opened.extension };
      return { ok: true, device, credential: working, requests };
    } finally {
      opened.session.close();
    }
  }
  return { ok: false, failures, requests };
}

const ALL: DeviceReader = { plan: READING_PLAN, deviceOf };

const ENDS_TRYING: ReadonlySet<FailureReason> = new Set(["port_closed", "unreachable", "cancelled"]);

const SYS_OBJECT_ID = "1.3.6.1.2.1.1.2.0";
const SYS_UP_TIME = "1.3.6.1.2.1.1.3.0";

interface Trial {
  readonly credential: SnmpCredential;
  /** Ways to make its key; one null where there is no choice. */
  readonly extensions: readonly (KeyExtension | null)[];
}

interface Opened {
  readonly session: SnmpSession;
  readonly extension: KeyExtension | null;
}

function inOrder({ credentials, remembered }: AskDeviceOptions): Trial[] {
  const first = credentials.filter(({ credential_id }) => credential_id === remembered?.credential_id);
  const ordered = [...first, ...credentials.filter((credential) => !first.includes(credential))];
  return ordered.map((credential) => {
    if (credential.version !== "SnmpV3" || !hasKeyExtension(credential)) return { credential, extensions: [null] };
    const isReeder = credential.credential_id === remembered?.credential_id && remembered.key_extension === "Reeder";
    return { credential, extensions: isReeder ? ["Reeder", "Blumenthal"] : ["Blumenthal", "Reeder"] };
  });
}

async function open(
  target: { readonly address: string; readonly port: number },
  credential: SnmpCredential,
  extensions: Trial["extensions"],
  options: AskDeviceOptions,
): Promise<Opened | SnmpFailure> {
  let problem = failure("no_answer");
  for (const extension of extensions) {
    const { timers, random, onRequest = () => {}, tryingTimeouts = TRYING_TIMEOUTS } = options;
    const maySend = (): boolean => options.maySend?.(credential) !== false;
    const keyExtension = extension ?? "Blumenthal";
    const session = await openSnmpSession(target, credential, {
      timers,
      random,
      onRequest,
      maySend,
      timeouts: tryingTimeouts,
      keyExtension,
    });
    if (isFailure(session)) return session;
    const refusal = await tryOut(session, options.signal);
    if (refusal === null) {
      session.timeouts = options.timeouts ?? SNMP_TIMEOUTS;
      return { session, extension };
    }
    session.close();
    problem = refusal;
    // Only with the wrong key is an engine silent that has reported its id, or does it say that it cannot decrypt.
    const isOfKey = session.hasFoundEngine && (refusal.reason === "no_answer" || refusal.reason === "wrong_password");
    if (!isOfKey) break;
  }
  return problem;
}

/** Null when the agent answers: even that the object is not there. */
async function tryOut(session: SnmpSession, signal: AbortSignal): Promise<SnmpFailure | null> {
  const answer = await session.ask({ kind: "Get", oids: [SYS_OBJECT_ID, SYS_UP_TIME] }, signal);
  if (isFailure(answer)) return answer;
  const problem = answer.errorStatus === 0 ? null : errorFailure(answer.errorStatus);
  return problem?.reason === "refused" ? problem : null;
}
