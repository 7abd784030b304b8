// Recorder of last-used times for keys and sessions, at most once a minute each, without delaying requests.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { SignInCommands } from "./commands.ts";
import type { UsageReport } from "./gate.ts";
import { type OriginCall, originOf } from "./session-origin.ts";

export const USAGE_INTERVAL_MS = 60_000;
/** Maximum number of keys and sessions remembered; clearing them costs extra writes. */
const MAX_REMEMBERED = 50_000;

export class UsageRecorder implements UsageReport {
  private readonly writes: WriteQueue<SignInCommands>;
  private readonly log: Log;
  private readonly recordedAt = new Map<string, Instant>();

  constructor(writes: WriteQueue<SignInCommands>, log: Log) {
    this.writes = writes;
    this.log = log;
  }

  keyUsed(keyN: number, at: Instant): void {
    if (this.isDue(`key ${keyN}`, at)) this.logFailure(this.writes.run("key.touch", { n: keyN, at }, SYSTEM_AUTHOR));
  }

  sessionUsed(hash: Uint8Array, at: Instant, call: OriginCall): void {
    if (this.isDue(`session ${Buffer.from(hash).toString("base64")}`, at))
      this.logFailure(this.writes.run("session.touch", { hash, at, origin: originOf(call) }, SYSTEM_AUTHOR));
  }

  /** Whether a use is due for recording; marks it as recorded. */
  private isDue(name: string, at: Instant): boolean {
    const last = this.recordedAt.get(name);
    if (last !== undefined && at - last < USAGE_INTERVAL_MS && at >= last) return false;
    if (this.recordedAt.size >= MAX_REMEMBERED) this.recordedAt.clear();
    this.recordedAt.set(name, at);
    return true;
  }

  private logFailure(write: Promise<unknown>): void {
    write.catch((error: unknown) => this.log.warn("usage_not_recorded", { cause: String(error) }));
  }
}
