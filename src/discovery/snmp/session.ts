// Asks one SNMP agent over net-snmp: one question at a time, again where no answer comes, never for longer than told. It makes nothing of the answers,
// and nothing that arrives, whatever its bytes, may throw out of it.

import { type User, Version3 } from "net-snmp";
import type { Random } from "../../base/random.ts";
import type { Timers } from "../../base/timers.ts";
import type { Answer, Asking, Question } from "./asking.ts";
import type { SnmpCredential } from "./credential.ts";
import { type DatagramSocket, type Listener, openDatagramSocket } from "./datagram-socket.ts";
import { type SnmpFailure, failure, isFailure } from "./failure.ts";
import { verdictOf } from "./net-snmp-errors.ts";
import { type Answered, createNetSnmp, type NetSnmp } from "./net-snmp-session.ts";
import { type KeyExtension, userOf } from "./net-snmp-user.ts";

/** How long a question is waited for. */
export interface Patience {
  /** Until the first repetition; each after it takes half as long again. */
  readonly timeoutMs: number;
  /** Repetitions of a question that gets no answer. */
  readonly retries: number;
}

export const PATIENCE: Patience = { timeoutMs: 1_500, retries: 2 };

export interface SessionOptions {
  readonly timers: Timers;
  readonly random: Random;
  readonly patience?: Patience;
  /** Called for every datagram that is sent. */
  readonly onRequest?: () => void;
  /** Asked before every datagram; false ends the question as `cancelled`, with nothing sent. */
  readonly maySend?: () => boolean;
  /** Of AES-256; Blumenthal unless told. */
  readonly keyExtension?: KeyExtension;
}

/**
 * Opens a socket to the agent; sends nothing yet. The caller closes what it gets.
 * @param target IPv4 or IPv6 address and UDP port
 */
export async function openSession(
  target: { readonly address: string; readonly port: number },
  credential: SnmpCredential,
  options: SessionOptions,
): Promise<SnmpSession | SnmpFailure> {
  const user = credential.version === "SnmpV3" ? userOf(credential, options.keyExtension ?? "Blumenthal") : null;
  if (isFailure(user)) return user;
  const session = new SnmpSession(credential, user, options);
  const socket = await openDatagramSocket(target.address, target.port, session.listener);
  if (isFailure(socket)) return socket;
  session.start(socket);
  return session;
}

export class SnmpSession implements Asking {
  readonly hasBulk: boolean;
  readonly listener: Listener;
  /** For the questions from now on. */
  patience: Patience;
  private readonly options: SessionOptions;
  private readonly snmp: NetSnmp;
  /** Community or context name of its own. */
  private readonly context: string;
  private socket: DatagramSocket | null = null;
  private pending: Pending | null = null;
  private hasAnswered = false;
  /** Whether a context that is not its own has: until then nobody knows that there are any. */
  private hasAnsweredElsewhere = false;
  /** Of all answers so far the longest. */
  private slowestMs = 0;
  private isClosed = false;

  /** For openSession. */
  constructor(credential: SnmpCredential, user: User | null, options: SessionOptions) {
    this.options = options;
    this.patience = options.patience ?? PATIENCE;
    this.hasBulk = credential.version !== "SnmpV1";
    this.context = credential.version === "SnmpV3" ? (credential.context_name ?? "") : credential.community;
    this.listener = { received: (datagram) => this.receive(datagram), failed: (problem) => this.settle(problem) };
    this.snmp = createNetSnmp(credential, user, (datagram, register) => this.send(datagram, register));
    this.snmp.on("error", () => this.tryAgain(failure("garbage")));
  }

  /** For openSession. */
  start(socket: DatagramSocket): void {
    this.socket = socket;
    if (this.isClosed) socket.close();
  }

  /** Whether an SNMPv3 engine answered its discovery. */
  get hasFoundEngine(): boolean {
    return this.snmp.msgSecurityParameters !== undefined;
  }

  ask(question: Question, signal: AbortSignal): Promise<Answer | SnmpFailure> {
    return this.askIn(this.context, question, signal);
  }

  briefly(): Asking {
    const ask = (question: Question, signal: AbortSignal) =>
      this.askIn(this.context, question, signal, this.briefPatience());
    return { hasBulk: this.hasBulk, ask, briefly: () => this.briefly(), inVlan: (vlan) => this.inVlan(vlan) };
  }

  inVlan(vlan: number): Asking {
    const context = this.snmp.version === Version3 ? `vlan-${vlan}` : `${this.context}@${vlan}`;
    const asking = (patience?: () => Patience): Asking => ({
      hasBulk: this.hasBulk,
      ask: (question, signal) => this.askIn(context, question, signal, patience?.()),
      briefly: () => asking(() => this.briefPatience()),
      inVlan: (other) => this.inVlan(other),
    });
    return asking();
  }

  /** Frees the socket at once; an open question is answered `cancelled`. Any number of times. */
  close(): void {
    this.isClosed = true;
    this.settle(failure("cancelled"));
    this.socket?.close();
  }

  private askIn(
    context: string,
    question: Question,
    signal: AbortSignal,
    patience?: Patience,
  ): Promise<Answer | SnmpFailure> {
    if (this.pending !== null) throw new Error("The question before has not been answered.");
    if (signal.aborted) return Promise.resolve(failureOf(signal));
    if (this.isClosed) return Promise.resolve(failure("cancelled"));
    return new Promise((resolve) => {
      const onAbort = (): void => this.settle(failureOf(signal));
      signal.addEventListener("abort", onAbort);
      const pending: Pending = {
        question,
        context,
        patience:
          patience ?? (context === this.context || this.hasAnsweredElsewhere ? this.patience : this.briefPatience()),
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

  /** What may not be there (a context, say) is not waited for like what is: an agent that answers fast elsewhere would here as well. */
  private briefPatience(): Patience {
    const timeoutMs = Math.max(MIN_BRIEF_TIMEOUT_MS, SLOWER_ELSEWHERE * this.slowestMs);
    return { ...this.patience, timeoutMs: Math.min(this.patience.timeoutMs, timeoutMs) };
  }

  /** Hands the question to net-snmp, which sends it, after finding the engine where it has to. */
  private issue(pending: Pending): void {
    pending.issue += 1;
    pending.sendCount = 0;
    const { issue, question } = pending;
    const answered: Answered = (error, pdu) => {
      if (this.pending !== pending || pending.issue !== issue) return;
      if (error !== null) this.takeError(error, pending);
      else {
        this.hasAnswered = true;
        if (pending.context !== this.context) this.hasAnsweredElsewhere = true;
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
    const oids = [...question.oids];
    if (question.kind === "Get") this.snmp.get(oids, answered);
    else if (question.kind === "GetNext") this.snmp.getNext(oids, answered);
    else this.snmp.getBulk(oids, 0, question.maxRepetitions ?? 1, answered);
  }

  /** @param register has net-snmp wait for the answer, which might come before a callback of the socket would */
  private send(datagram: Uint8Array, register: () => void): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.sendCount += 1;
    if (pending.sendCount > MAX_SENDS) {
      this.settle(failure("garbage", "the device asks for another beginning again and again"));
      return;
    }
    if (this.isTakenBack()) return;
    register();
    // The second of one issue is an advance: the engine has been found.
    if (pending.sendCount > 1) pending.attempt = 0;
    pending.datagram = datagram;
    pending.sentAtMs = performance.now();
    this.transmit(pending, datagram);
  }

  private transmit(pending: Pending, datagram: Uint8Array): void {
    pending.stopWaiting?.();
    const [byte = 0] = this.options.random.bytes(1);
    const waitMs = pending.patience.timeoutMs * BACKOFF ** pending.attempt * (1 + (JITTER * byte) / 255);
    pending.stopWaiting = this.options.timers.after(waitMs, () => {
      pending.waitedMs += waitMs;
      pending.attempt += 1;
      if (pending.attempt > pending.patience.retries) this.settle(this.silence(pending));
      else if (!this.isTakenBack()) this.transmit(pending, pending.datagram ?? datagram);
    });
    this.options.onRequest?.();
    this.socket?.send(datagram);
  }

  private isTakenBack(): boolean {
    if (this.options.maySend?.() !== false) return false;
    this.settle(failure("cancelled", TAKEN_BACK));
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
      // Decoded, but not what net-snmp reckons with: signed where nothing is signed, fields that are missing.
      if (this.pending === pending && pending.issue === issue) this.tryAgain(failure("garbage"));
    }
    if (this.pending === pending && pending.issue === issue && pending.sendCount === sendCount) pending.strayCount += 1;
  }

  private takeError(error: Error, pending: Pending): void {
    const verdict = verdictOf(error, pending.context !== "" && this.snmp.version === Version3);
    if (verdict.isCertain) this.settle(verdict.failure);
    else this.tryAgain(verdict.failure);
  }

  /** Something came that is no answer, and net-snmp may wait for none any more: asked anew, at once, as often as if there had been silence. */
  private tryAgain(problem: SnmpFailure): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.problem = problem;
    pending.attempt += 1;
    if (pending.attempt > pending.patience.retries) {
      this.settle(problem);
      return;
    }
    this.forgetRequests(pending);
    this.issue(pending);
  }

  private settle(result: Answer | SnmpFailure): void {
    const pending = this.pending;
    if (pending === null) return;
    pending.stopWaiting?.();
    this.pending = null;
    this.forgetRequests(pending);
    pending.settle(result);
  }

  /** Has net-snmp wait for nothing: it keeps a timer and a callback for each. */
  private forgetRequests(pending: Pending): void {
    pending.issue += 1;
    if (this.snmp.reqCount > 0) this.snmp.cancelRequests(new Error("given up"));
  }

  private silence(pending: Pending): SnmpFailure {
    if (pending.problem !== null) return pending.problem;
    const seconds = `${(pending.waitedMs / 1000).toFixed(1)} s`;
    if (pending.strayCount > 0)
      return failure("no_answer", `no answer to what was asked within ${seconds}, only others`);
    if (this.hasAnswered) return failure("no_answer", `no answer within ${seconds}`);
    if (this.snmp.version !== Version3) return failure("no_answer");
    if (!this.hasFoundEngine) return failure("no_answer", "no answer: it is silent, or does not speak SNMPv3");
    return failure(
      "no_answer",
      "no answer after it told its engine id: the privacy password or its protocol is another, or the user may not read",
    );
  }
}

/** Of a credential that must not be sent any more. */
export const TAKEN_BACK = "the credential was taken back or changed meanwhile";

const BACKOFF = 1.5;
/** Part of a waiting time that chance adds: what began together does not repeat together. */
const JITTER = 0.25;
const MIN_BRIEF_TIMEOUT_MS = 200;
const SLOWER_ELSEWHERE = 4;
/** SNMPv3 takes up to three: for the engine's id, its time, the answer. */
const MAX_SENDS = 4;

interface Pending {
  readonly question: Question;
  readonly context: string;
  readonly patience: Patience;
  readonly settle: (result: Answer | SnmpFailure) => void;
  attempt: number;
  /** Grows with each request that net-snmp makes of the question: callbacks of earlier ones mean nothing. */
  issue: number;
  /** Datagrams of this issue, without repetitions. */
  sendCount: number;
  /** Datagrams that came and answered nothing that was asked. */
  strayCount: number;
  /** Size of the last datagram that came. */
  byteCount: number;
  waitedMs: number;
  /** When the datagram left for the first time, by performance.now. */
  sentAtMs: number;
  /** What is repeated: an answer to any repetition answers the question. */
  datagram: Uint8Array | null;
  /** Why what came was no answer. */
  problem: SnmpFailure | null;
  stopWaiting: (() => void) | null;
}

function failureOf(signal: AbortSignal): SnmpFailure {
  return isFailure(signal.reason) ? signal.reason : failure("cancelled");
}
