// Session with one SNMP agent through net-snmp: one request at a time, with retries and a time limit. Does not
// interpret responses; no datagram makes it throw.

import { type User, Version3 } from "net-snmp";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { SnmpCredential } from "./credential.ts";
import { type DatagramListener, type DatagramSocket, openDatagramSocket } from "./datagram-socket.ts";
import { failure, isFailure, type SnmpFailure } from "./failure.ts";
import { verdictOf } from "./net-snmp-errors.ts";
import { createNetSnmp, type NetSnmp, type ResponseCallback } from "./net-snmp-session.ts";
import { type KeyExtension, snmpUserOf } from "./net-snmp-user.ts";
import type { AgentReply, SnmpRequest, SnmpRequester } from "./requests.ts";

export interface SnmpTimeouts {
  /** Until the first retry; each further wait is 1.5 times as long. */
  readonly timeoutMs: number;
  readonly retries: number;
}

export const SNMP_TIMEOUTS: SnmpTimeouts = { timeoutMs: 1_500, retries: 2 };

export interface SessionOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly timeouts?: SnmpTimeouts;
  readonly onRequest?: () => void;
  /** Called before every datagram; false ends the request as `cancelled`, unsent. */
  readonly maySend?: () => boolean;
  /** For AES-256; default Blumenthal. */
  readonly keyExtension?: KeyExtension;
}

/**
 * Sends nothing yet. The caller closes the session.
 * @param target IPv4 or IPv6 address and UDP port
 */
export async function openSnmpSession(
  target: { readonly address: string; readonly port: number },
  credential: SnmpCredential,
  options: SessionOptions,
): Promise<SnmpSession | SnmpFailure> {
  const user = credential.version === "SnmpV3" ? snmpUserOf(credential, options.keyExtension ?? "Blumenthal") : null;
  if (isFailure(user)) return user;
  const session = new SnmpSession(credential, user, options);
  const socket = await openDatagramSocket(target.address, target.port, session.listener);
  if (isFailure(socket)) return socket;
  session.start(socket);
  return session;
}

export class SnmpSession implements SnmpRequester {
  readonly hasBulk: boolean;
  readonly listener: DatagramListener;
  timeouts: SnmpTimeouts;
  private readonly options: SessionOptions;
  private readonly snmp: NetSnmp;
  /** Community or context name of the credential itself. */
  private readonly context: string;
  private socket: DatagramSocket | null = null;
  private pending: Pending | null = null;
  private hasAnswered = false;
  /** True once another context responded: until then, the agent may have none. */
  private hasAnsweredInOtherContext = false;
  /** Longest response time so far. */
  private slowestMs = 0;
  private isClosed = false;

  constructor(credential: SnmpCredential, user: User | null, options: SessionOptions) {
    this.options = options;
    this.timeouts = options.timeouts ?? SNMP_TIMEOUTS;
    this.hasBulk = credential.version !== "SnmpV1";
    this.context = credential.version === "SnmpV3" ? (credential.context_name ?? "") : credential.community;
    this.listener = { received: (datagram) => this.receive(datagram), failed: (problem) => this.settle(problem) };
    this.snmp = createNetSnmp(credential, user, (datagram, register) => this.send(datagram, register));
    this.snmp.on("error", () => this.retry(failure("garbage")));
  }

  start(socket: DatagramSocket): void {
    this.socket = socket;
    if (this.isClosed) socket.close();
  }

  /** True if an SNMPv3 engine responded to discovery. */
  get hasFoundEngine(): boolean {
    return this.snmp.msgSecurityParameters !== undefined;
  }

  /** Engine data reported by SNMPv3 discovery; null before that. */
  get engine(): { readonly id: string; readonly boots: number; readonly timeSeconds: number } | null {
    const securityParameters = this.snmp.msgSecurityParameters;
    if (securityParameters === undefined) return null;
    const {
      msgAuthoritativeEngineID: id,
      msgAuthoritativeEngineBoots: boots,
      msgAuthoritativeEngineTime,
    } = securityParameters;
    return {
      id: Buffer.from(id ?? []).toString("hex"),
      boots: boots ?? 0,
      timeSeconds: msgAuthoritativeEngineTime ?? 0,
    };
  }

  request(snmpRequest: SnmpRequest, signal: AbortSignal): Promise<AgentReply | SnmpFailure> {
    return this.requestIn(this.context, snmpRequest, signal);
  }

  withBriefTimeout(): SnmpRequester {
    const request = (snmpRequest: SnmpRequest, signal: AbortSignal) =>
      this.requestIn(this.context, snmpRequest, signal, this.briefTimeouts());
    return {
      hasBulk: this.hasBulk,
      request,
      withBriefTimeout: () => this.withBriefTimeout(),
      inVlan: (vlan) => this.inVlan(vlan),
    };
  }

  inVlan(vlan: number): SnmpRequester {
    const context = this.snmp.version === Version3 ? `vlan-${vlan}` : `${this.context}@${vlan}`;
    const requesterWith = (timeouts?: () => SnmpTimeouts): SnmpRequester => ({
      hasBulk: this.hasBulk,
      request: (snmpRequest, signal) => this.requestIn(context, snmpRequest, signal, timeouts?.()),
      withBriefTimeout: () => requesterWith(() => this.briefTimeouts()),
      inVlan: (other) => this.inVlan(other),
    });
    return requesterWith();
  }

  /** Frees the socket; an open request ends as `cancelled`. Idempotent. */
  close(): void {
    this.isClosed = true;
    this.settle(failure("cancelled"));
    this.socket?.close();
  }

  private requestIn(
    context: string,
    snmpRequest: SnmpRequest,
    signal: AbortSignal,
    timeouts?: SnmpTimeouts,
  ): Promise<AgentReply | SnmpFailure> {
    if (this.pending !== null) throw new Error("The previous request is still pending.");
    if (signal.aborted) return Promise.resolve(failureOf(signal));
    if (this.isClosed) return Promise.resolve(failure("cancelled"));
    return new Promise((resolve) => {
      const onAbort = (): void => this.settle(failureOf(signal));
      signal.addEventListener("abort", onAbort);
      const pending: Pending = {
        snmpRequest,
        context,
        timeouts:
          timeouts ??
          (context === this.context || this.hasAnsweredInOtherContext ? this.timeouts : this.briefTimeouts()),
        sentAtMs: 0,
        attempt: 0,
        issue: 0,
        sendCount: 0,
        strayCount: 0,
        byteCount: 0,
        waitedMs: 0,
        datagram: null,
        problem: null,
        stopWaiting: null,
        settle: (result) => {
          signal.removeEventListener("abort", onAbort);
          resolve(result);
        },
      };
      this.pending = pending;
      this.issue(pending);
    });
  }

  /** Contexts that may not exist get less time: an agent that responds quickly elsewhere would do so here too. */
  private briefTimeouts(): SnmpTimeouts {
    const timeoutMs = Math.max(MIN_BRIEF_TIMEOUT_MS, OTHER_CONTEXT_FACTOR * this.slowestMs);
    return { ...this.timeouts, timeoutMs: Math.min(this.timeouts.timeoutMs, timeoutMs) };
  }

  /** net-snmp sends it, after engine discovery if needed. */
  private issue(pending: Pending): void {
    pending.issue += 1;
    pending.sendCount = 0;
    const { issue, snmpRequest } = pending;
    const callback: ResponseCallback = (error, pdu) => {
      if (this.pending !== pending || pending.issue !== issue) return;
      if (error !== null) this.handleError(error, pending);
      else {
        this.hasAnswered = true;
        if (pending.context !== this.context) this.hasAnsweredInOtherContext = true;
        this.slowestMs = Math.max(this.slowestMs, performance.now() - pending.sentAtMs);
        this.settle({
          varbinds: pdu.varbinds,
          errorStatus: pdu.errorStatus,
          errorIndex: pdu.errorIndex,
          byteCount: pending.byteCount,
        });
      }
    };
    if (this.snmp.version === Version3) this.snmp.context = pending.context;
    else this.snmp.community = pending.context;
    const oids = [...snmpRequest.oids];
    if (snmpRequest.kind === "Get") this.snmp.get(oids, callback);
    else if (snmpRequest.kind === "GetNext") this.snmp.getNext(oids, callback);
    else this.snmp.getBulk(oids, 0, snmpRequest.maxRepetitions ?? 1, callback);
  }

  /** @param register makes net-snmp await the response, which might arrive before a socket callback */
  private send(datagram: Uint8Array, register: () => void): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.sendCount += 1;
    if (pending.sendCount > MAX_SENDS) {
      this.settle(failure("garbage", "the device keeps restarting the discovery"));
      return;
    }
    if (this.isWithdrawn()) return;
    register();
    // The second send of one issue means that the engine was discovered.
    if (pending.sendCount > 1) pending.attempt = 0;
    pending.datagram = datagram;
    pending.sentAtMs = performance.now();
    this.transmit(pending, datagram);
  }

  private transmit(pending: Pending, datagram: Uint8Array): void {
    pending.stopWaiting?.();
    const [byte = 0] = this.options.random.bytes(1);
    const waitMs = pending.timeouts.timeoutMs * BACKOFF ** pending.attempt * (1 + (JITTER * byte) / 255);
    pending.stopWaiting = this.options.timers.after(waitMs, () => {
      pending.waitedMs += waitMs;
      pending.attempt += 1;
      if (pending.attempt > pending.timeouts.retries) this.settle(this.silence(pending));
      else if (!this.isWithdrawn()) this.transmit(pending, pending.datagram ?? datagram);
    });
    this.options.onRequest?.();
    this.socket?.send(datagram);
  }

  private isWithdrawn(): boolean {
    if (this.options.maySend?.() !== false) return false;
    this.settle(failure("cancelled", WITHDRAWN));
    return true;
  }

  private receive(datagram: Buffer): void {
    const pending = this.pending;
    if (pending === null) return;
    const { issue, sendCount } = pending;
    pending.byteCount = datagram.length;
    try {
      this.snmp.onMsg(datagram);
    } catch {
      // Decodable but unexpected by net-snmp: signed without security, missing fields.
      if (this.pending === pending && pending.issue === issue) this.retry(failure("garbage"));
    }
    if (this.pending === pending && pending.issue === issue && pending.sendCount === sendCount) pending.strayCount += 1;
  }

  private handleError(error: Error, pending: Pending): void {
    const verdict = verdictOf(error, pending.context !== "" && this.snmp.version === Version3);
    if (verdict.isCertain) this.settle(verdict.failure);
    else this.retry(verdict.failure);
  }

  /**
   * The datagram was not a valid response, and net-snmp may have stopped waiting: retries immediately, as often as
   * after silence.
   */
  private retry(problem: SnmpFailure): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.problem = problem;
    pending.attempt += 1;
    if (pending.attempt > pending.timeouts.retries) {
      this.settle(problem);
      return;
    }
    this.forgetRequests(pending);
    this.issue(pending);
  }

  private settle(result: AgentReply | SnmpFailure): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.stopWaiting?.();
    this.pending = null;
    this.forgetRequests(pending);
    pending.settle(result);
  }

  /** Frees net-snmp's timer and callback for each request. */
  private forgetRequests(pending: Pending): void {
    pending.issue += 1;
    if (this.snmp.reqCount > 0) this.snmp.cancelRequests(new Error("given up"));
  }

  private silence(pending: Pending): SnmpFailure {
    if (pending.problem !== null) return pending.problem;
    const seconds = `${(pending.waitedMs / 1000).toFixed(1)} s`;
    if (pending.strayCount > 0)
      return failure("no_answer", `no matching response within ${seconds}, only unrelated ones`);
    if (this.hasAnswered) return failure("no_answer", `no response within ${seconds}`);
    if (this.snmp.version !== Version3) return failure("no_answer");
    if (!this.hasFoundEngine) return failure("no_answer", "no response: no SNMP agent, or it does not support SNMPv3");
    return failure(
      "no_answer",
      "no response after engine discovery: the privacy password or protocol is wrong, or the user has no read access",
    );
  }
}

const WITHDRAWN = "the credential was withdrawn or changed meanwhile";

const BACKOFF = 1.5;
/** Random part of a wait, to spread retries. */
const JITTER = 0.25;
const MIN_BRIEF_TIMEOUT_MS = 200;
const OTHER_CONTEXT_FACTOR = 4;
/** Up to three in SNMPv3: for the engine ID, its time, the response. */
const MAX_SENDS = 4;

interface Pending {
  readonly snmpRequest: SnmpRequest;
  readonly context: string;
  readonly timeouts: SnmpTimeouts;
  readonly settle: (result: AgentReply | SnmpFailure) => void;
  attempt: number;
  /** Incremented per request to net-snmp: callbacks of earlier ones are ignored. */
  issue: number;
  /** Datagrams of this issue, without retries. */
  sendCount: number;
  /** Datagrams that matched no request. */
  strayCount: number;
  /** Size of the last datagram received. */
  byteCount: number;
  waitedMs: number;
  /** Send time of the first datagram, by performance.now. */
  sentAtMs: number;
  /** Retried unchanged: a response to any attempt counts. */
  datagram: Uint8Array | null;
  /** Reason for rejecting the last datagram. */
  problem: SnmpFailure | null;
  stopWaiting: (() => void) | null;
}

function failureOf(signal: AbortSignal): SnmpFailure {
  return isFailure(signal.reason) ? signal.reason : failure("cancelled");
}
