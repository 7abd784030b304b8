// Requests on a shared socket: matching replies, retransmitting, and canceling all at once. Independent of protocols.

import type { Timers } from "../../base/timers.ts";
import { EAGAIN, ENOBUFS } from "../kernel/sockets.ts";
import { type ErrorKind, errorKindOf } from "./error-kinds.ts";
import type { Drain, SocketPoller } from "./socket-poller.ts";

export interface Open<Answer> {
  answer(answer: Answer): void;
}

export interface ProbeRoundOptions {
  readonly timers: Timers;
  readonly poller: SocketPoller;
  /** Resolves when one more request may be sent. */
  readonly permit: () => Promise<void>;
}

export type ProbeOutcome<Answer> =
  | { readonly kind: "Answered"; readonly answer: Answer }
  | { readonly kind: "Silent" }
  | { readonly kind: "Failed"; readonly error: ErrorKind };

/** Repeats requests until there is a response, and listens while any is open. */
export class ProbeRound<Answer> {
  private readonly timers: Timers;
  private readonly poller: SocketPoller;
  private readonly permit: () => Promise<void>;
  private readonly drain: Drain;
  private readonly open = new Set<PendingProbe<Answer>>();
  private ended: { reason: unknown } | null = null;

  /** @param drain reads pending input of the socket */
  constructor({ timers, poller, permit }: ProbeRoundOptions, drain: Drain) {
    this.timers = timers;
    this.poller = poller;
    this.permit = permit;
    this.drain = drain;
  }

  /**
   * @param waitsMs one wait per attempt
   * @param send sends one request and returns 0 or an errno; late replies to earlier attempts count
   */
  async probe(waitsMs: readonly number[], send: (open: Open<Answer>) => number): Promise<ProbeOutcome<Answer>> {
    this.throwIfEnded();
    const pending = new PendingProbe<Answer>();
    this.open.add(pending);
    if (this.open.size === 1) this.poller.add(this.drain);
    try {
      for (const waitMs of waitsMs) {
        await this.permit();
        let errno = this.send(pending, send);
        // The kernel's buffer is briefly full.
        for (
          let attempt = 1;
          (errno === EAGAIN || errno === ENOBUFS) && attempt <= FULL_BUFFER_ATTEMPTS;
          attempt += 1
        ) {
          await this.waitFor(pending, FULL_BUFFER_WAIT_MS);
          errno = this.send(pending, send);
        }
        if (errno !== 0) return { kind: "Failed", error: errorKindOf(errno) };
        const answered = await this.waitFor(pending, waitMs);
        if (answered) return { kind: "Answered", answer: answered.answer };
      }
      return { kind: "Silent" };
    } finally {
      this.open.delete(pending);
      if (this.open.size === 0) this.poller.remove(this.drain);
    }
  }

  /** Rejects current and later calls with the reason. */
  end(reason: unknown): void {
    this.ended ??= { reason };
    this.poller.remove(this.drain);
    for (const pending of this.open) pending.refuse(reason);
  }

  private send(pending: PendingProbe<Answer>, send: (open: Open<Answer>) => number): number {
    // The socket is closed by now, and its descriptor may be reused.
    this.throwIfEnded();
    return pending.answered ? 0 : send(pending);
  }

  private throwIfEnded(): void {
    if (this.ended) throw this.ended.reason;
  }

  private waitFor(pending: PendingProbe<Answer>, waitMs: number): Promise<{ answer: Answer } | null> {
    if (this.ended) return Promise.reject(this.ended.reason);
    if (pending.answered) return Promise.resolve(pending.answered);
    return new Promise((resolve, reject) => {
      const cancel = this.timers.after(waitMs, () => settle(() => resolve(null)));
      const settle = (action: () => void): void => {
        cancel();
        pending.wake = pending.refuse = ignore;
        action();
      };
      pending.wake = (answered) => settle(() => resolve(answered));
      pending.refuse = (reason) => settle(() => reject(reason));
    });
  }
}

/** Together longer than the kernel keeps packets for an unresolved neighbor. */
const FULL_BUFFER_WAIT_MS = 50;
const FULL_BUFFER_ATTEMPTS = 80;

function ignore(): void {}

class PendingProbe<Answer> implements Open<Answer> {
  answered: { answer: Answer } | null = null;
  wake: (answered: { answer: Answer }) => void = ignore;
  refuse: (reason: unknown) => void = ignore;

  answer(answer: Answer): void {
    this.answered ??= { answer };
    this.wake(this.answered);
  }
}
