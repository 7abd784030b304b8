// Remembers when keys and sessions were used, at most once a minute for each, without making a request wait for it.

import type { Author } from "../db/transaction.ts";
import type { WriteQueue } from "../db/write-queue.ts";
import type { Log } from "../base/log.ts";
import type { Instant } from "../base/instant.ts";
import type { UsageReport } from "./gate.ts";

export const USAGE_INTERVAL_MS = 60_000;
/** Keys and sessions remembered at once; forgetting one costs a write too many. */
const MAX_REMEMBERED = 50_000;

/** The appliance itself, where it writes on nobody's behalf. */
export const SYSTEM_AUTHOR: Author = {
  type: "System",
  id: null,
  name: "netledger",
  organizationId: null,
  requestId: null,
};

export class UsageRecorder implements UsageReport {
  private readonly writes: WriteQueue;
  private readonly log: Log;
  private readonly recordedAt = new Map<string, Instant>();

  constructor(writes: WriteQueue, log: Log) {
    this.writes = writes;
    this.log = log;
  }

  keyUsed(keyN: number, at: Instant): void {
    this.record(`key ${keyN}`, at, "key.touch", { n: keyN, at });
  }

  sessionUsed(hash: Uint8Array, at: Instant): void {
    this.record(`session ${Buffer.from(hash).toString("base64")}`, at, "session.touch", { hash, at });
  }

  private record(name: string, at: Instant, command: string, input: object): void {
    const last = this.recordedAt.get(name);
    if (last !== undefined && at - last < USAGE_INTERVAL_MS && at >= last) return;
    if (this.recordedAt.size >= MAX_REMEMBERED) this.recordedAt.clear();
    this.recordedAt.set(name, at);
    this.writes
      .run(command, input, SYSTEM_AUTHOR)
      .catch((error: unknown) => this.log.warn("usage_not_recorded", { cause: String(error) }));
  }
}
