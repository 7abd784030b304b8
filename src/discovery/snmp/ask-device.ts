// Device read with its first working credential. Independent of the tables read and their meaning; see the MIB
// decoders.

import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { Device } from "../device.ts";
import { deviceOf } from "../mib/device.ts";
import { READING_PLAN } from "../mib/plan.ts";
import type { ReadStep, Reads } from "../mib/reads.ts";
import type { ServedBefore } from "../mib/served.ts";
import { withEngineId } from "../mib/system.ts";
import type { WorkingCredential } from "../sightings.ts";
import type { SnmpCredential } from "./credential.ts";
import { type FailureReason, failure, isFailure, type SnmpFailure } from "./failure.ts";
import { hasKeyExtension, type KeyExtension } from "./net-snmp-user.ts";
import { readSteps } from "./read-steps.ts";
import { openSnmpSession, SNMP_TIMEOUTS, type SnmpSession, type SnmpTimeouts } from "./session.ts";
import { errorFailure } from "./walk.ts";

const SNMP_PORT = 161;

/** Timeouts while trying credentials: a wrong one mostly gets no response, so each costs this much. */
const TRIAL_TIMEOUTS: SnmpTimeouts = { timeoutMs: 1_000, retries: 1 };

export interface PollDeviceOptions {
  /** In the order tried. */
  readonly credentials: readonly SnmpCredential[];
  /** Last working credential: tried first if it is among these. */
  readonly remembered: WorkingCredential | null;
  /** Columns that the agent has served so far, to detect those no longer served; null if unknown. */
  readonly served?: ServedBefore | null;
  /** Called before each send with a credential; default: always true. */
  readonly maySend?: (credential: SnmpCredential) => boolean;
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly random: Random;
  /** Called for every datagram sent. */
  readonly onRequest?: () => void;
  readonly trialTimeouts?: SnmpTimeouts;
  /** For the reading itself; default: those of session.ts and read-steps.ts. */
  readonly timeouts?: SnmpTimeouts;
  readonly deviceDeadlineMs?: number;
  readonly stepDeadlineMs?: number;
}

/** The read plan and the decoder of its results. */
export interface DeviceReader {
  readonly plan: readonly ReadStep[];
  readonly deviceOf: (reads: Reads, served: ServedBefore | null) => Device;
}

interface TriedCredential {
  readonly credential_id: string;
  readonly reason: FailureReason;
  /** User-readable. */
  readonly clause: string;
}

export type DeviceOutcome =
  | { readonly ok: true; readonly device: Device; readonly credential: WorkingCredential; readonly requests: number }
  | { readonly ok: false; readonly failures: readonly TriedCredential[]; readonly requests: number };

/**
 * Tries the credentials in order, each with one small request, and reads the device with the first that gets a
 * response. Never rejects because of a device's behavior, and leaves no socket open. A closed port or unreachable
 * address ends the attempts: that failure is then the last.
 */
export async function pollDevice(
  target: { readonly address: string; readonly port?: number },
  options: PollDeviceOptions,
  reader: DeviceReader = DEFAULT_READER,
): Promise<DeviceOutcome> {
  let requests = 0;
  const onRequest = (): void => {
    requests += 1;
    options.onRequest?.();
  };
  const failures: TriedCredential[] = [];
  for (const { credential, extensions } of trialsInOrder(options)) {
    const agent = { address: target.address, port: target.port ?? SNMP_PORT };
    const opened = await open(agent, credential, extensions, { ...options, onRequest });
    if (isFailure(opened)) {
      failures.push({ credential_id: credential.credential_id, ...opened });
      // A revoked credential ends only its own attempt.
      if (FINAL_REASONS.has(opened.reason) && options.maySend?.(credential) !== false) break;
      continue;
    }
    try {
      const reads = await readSteps(opened.session, reader.plan, options);
      const known = withEngineId(reads, opened.session.engine?.id ?? null);
      const device = reader.deviceOf(known, options.served ?? null);
      const working = { credential_id: credential.credential_id, key_extension: opened.extension };
      return { ok: true, device, credential: working, requests };
    } finally {
      opened.session.close();
    }
  }
  return { ok: false, failures, requests };
}

const DEFAULT_READER: DeviceReader = { plan: READING_PLAN, deviceOf };

const FINAL_REASONS: ReadonlySet<FailureReason> = new Set(["port_closed", "unreachable", "cancelled"]);

const SYS_OBJECT_ID = "1.3.6.1.2.1.1.2.0";
const SYS_UP_TIME = "1.3.6.1.2.1.1.3.0";

interface Trial {
  readonly credential: SnmpCredential;
  /** Key extension methods to try; a single null if there is no choice. */
  readonly extensions: readonly (KeyExtension | null)[];
}

interface Opened {
  readonly session: SnmpSession;
  readonly extension: KeyExtension | null;
}

function trialsInOrder({ credentials, remembered }: PollDeviceOptions): Trial[] {
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
  options: PollDeviceOptions,
): Promise<Opened | SnmpFailure> {
  let problem = failure("no_answer");
  for (const extension of extensions) {
    const { timers, random, onRequest = () => {}, trialTimeouts = TRIAL_TIMEOUTS } = options;
    const maySend = (): boolean => options.maySend?.(credential) !== false;
    const keyExtension = extension ?? "Blumenthal";
    const sessionOptions = { timers, random, onRequest, maySend, timeouts: trialTimeouts, keyExtension };
    const session = await openSnmpSession(target, credential, sessionOptions);
    if (isFailure(session)) return session;
    const refusal = await checkAccess(session, options.signal);
    if (refusal === null) {
      session.timeouts = options.timeouts ?? SNMP_TIMEOUTS;
      return { session, extension };
    }
    session.close();
    problem = refusal;
    // The key is wrong only if an engine that reported its ID stays silent or reports a decryption error.
    const isKeyProblem =
      session.hasFoundEngine && (refusal.reason === "no_answer" || refusal.reason === "wrong_password");
    if (!isKeyProblem) break;
  }
  return problem;
}

/** Returns null if the agent responds, even if only that the object does not exist. */
async function checkAccess(session: SnmpSession, signal: AbortSignal): Promise<SnmpFailure | null> {
  const reply = await session.request({ kind: "Get", oids: [SYS_OBJECT_ID, SYS_UP_TIME] }, signal);
  if (isFailure(reply)) return reply;
  const problem = reply.errorStatus === 0 ? null : errorFailure(reply.errorStatus);
  return problem?.reason === "refused" ? problem : null;
}
