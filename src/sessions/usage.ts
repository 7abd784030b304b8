// Remembers when keys and sessions were used, at most once a minute for each, without making a request wait for it.

import { SYSTEM_AUTHOR } from "../access/actor.ts";
import type { Instant } from "../base/instant.ts";
import type { Log } from "../base/log.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import type { SignInCommands } from "./commands.ts";
import type { UsageReport } from "./gate.ts";
import { type OriginCall, originOf } from "./session-origin.ts";

export const USAGE_INTERVAL_MS = 60_000;
/** Keys and sessions remembered at once; forgetting one costs a write too many. */
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
    if (this.isDue(`key ${keyN}`, at)) this.follow(this.writes.run("key.touch", { n: keyN, at }, SYSTEM_AUTHOR));
  }

  sessionUsed(hash: Uint8Array, at: Instant, by: OriginCall): void {
    if (this.isDue(`session ${Buffer.from(hash).toString("base64")}`, at))
      this.follow(this.writes.run("session.touch", { hash, at, origin: originOf(by) }, SYSTEM_AUTHOR));
  }

  /** Whether a use is to be recorded; then it counts as recorded. */
  private isDue(name: string, at: Instant): boolean {
    const last = this.recordedAt.get(name);
    if (last !== undefined && at - last < USAGE_INTERVAL_MS && at >= last) return false;
    if (this.recordedAt.size >= MAX_REMEMBERED) this.recordedAt.clear();
    this.recordedAt.set(name, at);
    return true;
  }

  private follow(written: Promise<unknown>): void {
    written.catch((error: unknown) => this.log.warn("usage_not_recorded", { cause: String(error) }));
  }
}
