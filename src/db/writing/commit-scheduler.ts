// Scheduling of waiting commands into commits. Each user, each scan and the appliance itself has a queue; long commands
// get separate commits and alternate with the rest. Independent of commands and their effects.

import { FairQueue } from "../../base/fair-queue.ts";
import type { Author } from "./ledger.ts";
import type { WriteRequest } from "./writer.ts";

/** Maximum commands per commit. */
export const MAX_GROUP = 64;
/** Maximum total input size per commit. */
export const MAX_GROUP_BYTES = 256 * 1024;
/** Maximum permission-lowering commands per commit. */
export const MAX_URGENT_GROUP = 8;
/** Commands with larger input count as large. */
export const LARGE_WRITE_BYTES = 64 * 1024;

/** A command waiting for its turn. */
export interface WaitingWrite {
  readonly id: number;
  /** Input size; 0 if negligible. */
  readonly bytes: number;
  readonly request: WriteRequest;
}

/** Queue for an author's commands: all keys of a user share the user's queue. */
export function queueOf({ type, id, userId }: Author): string {
  if (type === "User" || type === "ApiKey") return `user ${userId ?? id}`;
  return type === "Discovery" ? `scan ${id}` : "appliance";
}

/** Whether a queue belongs to a user, and thus has a limit. */
export function isUserQueue(queue: string): boolean {
  return queue.startsWith("user ");
}

export class CommitScheduler {
  private readonly urgent = new FairQueue<WaitingWrite>();
  private readonly ordinary = new FairQueue<WaitingWrite>();
  private readonly takesLong: (command: string) => boolean;
  private turn: "urgent" | "small" | "large" = "large";
  /** Duration of the last large command, and of all other commits since. */
  private largeMs = 0;
  private smallMs = 0;

  /** @param takesLong whether a command may take long regardless of its input */
  constructor(takesLong: (command: string) => boolean) {
    this.takesLong = takesLong;
  }

  get isEmpty(): boolean {
    return this.urgent.isEmpty && this.ordinary.isEmpty;
  }

  add(write: WaitingWrite): void {
    this.lanesOf(write).add(queueOf(write.request.actor), write);
  }

  /** Returns unserved commands of a commit to the front of their queues, in their original order. */
  putBack(writes: readonly WaitingWrite[]): void {
    for (const write of writes.toReversed()) this.lanesOf(write).putBack(queueOf(write.request.actor), write);
  }

  /**
   * Commands of the next commit, in order; empty if nothing waits. Urgent ones come first, but never twice in a row if
   * others wait. Large commands and all others get equal writer time while both wait.
   */
  next(): WaitingWrite[] {
    const isUrgentNext = this.turn !== "urgent" || this.ordinary.isEmpty;
    const urgent = isUrgentNext ? this.group(this.urgent, MAX_URGENT_GROUP) : [];
    if (urgent.length > 0) {
      this.turn = "urgent";
      return urgent;
    }
    const isLargeNext = this.smallMs > 0 && this.smallMs >= this.largeMs;
    return (isLargeNext ? this.large() : null) ?? this.small() ?? this.large() ?? [];
  }

  /** Newly arrived commands that may join the current commit; none if it is exclusive. */
  arrivals(taken: readonly WaitingWrite[]): WaitingWrite[] {
    return this.turn === "small" ? this.group(this.ordinary, MAX_GROUP, false, taken) : [];
  }

  /** Reports the duration of the current commit. */
  served(durationMs: number): void {
    if (this.turn === "large") [this.largeMs, this.smallMs] = [durationMs, 0];
    else this.smallMs += durationMs;
  }

  private small(): WaitingWrite[] | null {
    const taken = this.group(this.ordinary, MAX_GROUP, false);
    if (taken.length === 0) return null;
    this.turn = "small";
    return taken;
  }

  private large(): WaitingWrite[] | null {
    const taken = this.ordinary.take((write) => this.isLarge(write));
    if (taken === null) return null;
    this.turn = "large";
    return [taken];
  }

  /** Takes commands that fit into a commit with `others`, one queue at a time. A large command fits with none. */
  private group(
    queue: FairQueue<WaitingWrite>,
    maxCount: number,
    withLarge = true,
    others: readonly WaitingWrite[] = [],
  ): WaitingWrite[] {
    const taken: WaitingWrite[] = [];
    let bytes = others.reduce((sum, write) => sum + write.bytes, 0);
    const fits = (write: WaitingWrite) =>
      this.isLarge(write) ? withLarge && taken.length === 0 : bytes + write.bytes <= MAX_GROUP_BYTES;
    while (others.length + taken.length < maxCount) {
      const write = queue.take(fits);
      if (write === null) break;
      taken.push(write);
      if (this.isLarge(write)) break;
      bytes += write.bytes;
    }
    return taken;
  }

  private isLarge({ bytes, request }: WaitingWrite): boolean {
    return bytes > LARGE_WRITE_BYTES || this.takesLong(request.command);
  }

  private lanesOf({ request }: WaitingWrite): FairQueue<WaitingWrite> {
    return request.isUrgent === true ? this.urgent : this.ordinary;
  }
}
