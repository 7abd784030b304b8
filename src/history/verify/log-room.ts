// Verification pauses in which a running appliance can reset its WAL. A reset requires a moment without readers, and
// back-to-back steps leave none for minutes. Reads nothing itself.

import { statSync } from "node:fs";
import { pauseThread } from "../../base/timers.ts";
import { JOURNAL_SIZE_LIMIT_BYTES } from "../../db/connection.ts";

/** Long enough for a commit that checkpoints the WAL, and for the next one, which restarts it. */
const PAUSE_MS = 20;
const PAUSES_MAX = 50;

export class WalPauses {
  private readonly log: string;
  private readonly pause: (ms: number) => void;
  /** WAL size above which to pause. */
  private limitBytes = JOURNAL_SIZE_LIMIT_BYTES;

  /** @param database its path */
  constructor(database: string, pause = pauseThread) {
    this.log = `${database}-wal`;
    this.pause = pause;
  }

  /**
   * Pauses for up to a second if the WAL has grown. Call without an open snapshot. If the WAL stays large, because of
   * another reader or too few writes, waits until it has grown by as much again.
   */
  pauseIfLarge(): void {
    if (this.sizeBytes() <= this.limitBytes) return;
    for (let pauses = 0; pauses < PAUSES_MAX; pauses += 1) {
      this.pause(PAUSE_MS);
      // A restarted WAL is truncated to the limit.
      if (this.sizeBytes() <= JOURNAL_SIZE_LIMIT_BYTES) {
        this.limitBytes = JOURNAL_SIZE_LIMIT_BYTES;
        return;
      }
    }
    this.limitBytes = this.sizeBytes() + JOURNAL_SIZE_LIMIT_BYTES;
  }

  private sizeBytes(): number {
    return statSync(this.log, { throwIfNoEntry: false })?.size ?? 0;
  }
}
