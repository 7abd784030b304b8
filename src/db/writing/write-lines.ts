// Which of the commands that wait are of the next commit. Each user has a line, and so have each scan and the appliance
// itself; what takes long has a commit of its own, and between two such the others have their turn. Must not know
// commands or what they do.

import { FairLines } from "../../base/fair-lines.ts";
import type { Author } from "./ledger.ts";
import type { WriteRequest } from "./writer.ts";

/** Commands that share a commit at most. */
export const MAX_GROUP = 64;
/** What they may have been sent with, all together. */
export const MAX_GROUP_BYTES = 256 * 1024;
/** Commands that lower rights and share a commit at most. */
export const MAX_URGENT_GROUP = 8;
/** A command that comes with more than this is large. */
export const LARGE_WRITE_BYTES = 64 * 1024;

/** A command that waits for its turn. */
export interface WaitingWrite {
  readonly id: number;
  /** Of what it was sent with; 0 for what is nothing to speak of. */
  readonly bytes: number;
  readonly request: WriteRequest;
}

/** Whose line an author's commands wait in: all keys of a user in the user's. */
export function queueOf({ type, id, userId }: Author): string {
  if (type === "User" || type === "ApiKey") return `user ${userId ?? id}`;
  return type === "Discovery" ? `scan ${id}` : "appliance";
}

/** Whether a line is a person's, whose crowd is bounded. */
export function isUserLine(line: string): boolean {
  return line.startsWith("user ");
}

export class WriteLines {
  private readonly urgent = new FairLines<WaitingWrite>();
  private readonly ordinary = new FairLines<WaitingWrite>();
  private readonly takesLong: (command: string) => boolean;
  private turn: "urgent" | "small" | "large" = "large";
  /** What the last large command took, and what the others have had since. */
  private largeMs = 0;
  private smallMs = 0;

  /** @param takesLong whether a command may take long whatever it is sent with */
  constructor(takesLong: (command: string) => boolean) {
    this.takesLong = takesLong;
  }

  get isEmpty(): boolean {
    return this.urgent.isEmpty && this.ordinary.isEmpty;
  }

  add(write: WaitingWrite): void {
    this.lanesOf(write).add(queueOf(write.request.actor), write);
  }

  /** Takes back what is still to be served of a commit; in the order in which it was taken. */
  putBack(writes: readonly WaitingWrite[]): void {
    for (const write of writes.toReversed()) this.lanesOf(write).putBack(queueOf(write.request.actor), write);
  }

  /**
   * The commands of the next commit, in their order; none where nothing waits. What is urgent comes first, but never
   * twice in a row where something else waits. Large commands have as much of the writer's time as all others have,
   * where both wait.
   */
  next(): WaitingWrite[] {
    const isUrgentNext = this.turn !== "urgent" || this.ordinary.isEmpty;
    const urgent = isUrgentNext ? this.group(this.urgent, MAX_URGENT_GROUP) : [];
    if (urgent.length > 0) {
      this.turn = "urgent";
      return urgent;
    }
    const isLargeNext = this.smallMs > 0 && this.smallMs >= this.largeMs;
    const taken = (isLargeNext ? this.large() : null) ?? this.small() ?? this.large() ?? [];
    return taken;
  }

  /** What else shares the commit of what was taken last, and has come since; none where that shares with nobody. */
  further(taken: readonly WaitingWrite[]): WaitingWrite[] {
    return this.turn === "small" ? this.group(this.ordinary, MAX_GROUP, false, taken) : [];
  }

  /** To be told what the commit of what was taken last has taken. */
  served(tookMs: number): void {
    if (this.turn === "large") [this.largeMs, this.smallMs] = [tookMs, 0];
    else this.smallMs += tookMs;
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

  /** As many as share a commit with `others`, from the lines in turn. A large one shares none. */
  private group(
    lines: FairLines<WaitingWrite>,
    most: number,
    withLarge = true,
    others: readonly WaitingWrite[] = [],
  ): WaitingWrite[] {
    const taken: WaitingWrite[] = [];
    let bytes = others.reduce((sum, write) => sum + write.bytes, 0);
    const fits = (write: WaitingWrite) =>
      this.isLarge(write) ? withLarge && taken.length === 0 : bytes + write.bytes <= MAX_GROUP_BYTES;
    while (others.length + taken.length < most) {
      const write = lines.take(fits);
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

  private lanesOf({ request }: WaitingWrite): FairLines<WaitingWrite> {
    return request.isUrgent === true ? this.urgent : this.ordinary;
  }
}
