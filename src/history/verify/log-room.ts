// Lets a working appliance start its log anew now and then. That takes a moment in which nobody reads from the log, and
// a verification leaves none: one step follows the other, for minutes. Reads nothing itself.

import { statSync } from "node:fs";
import { pauseThread } from "../../base/timers.ts";
import { JOURNAL_SIZE_LIMIT_BYTES } from "../../db/connection.ts";

/** Long enough for a commit, which folds the log into the database, and for the next one, which starts it anew. */
const PAUSE_MS = 20;
const PAUSES_MAX = 50;

export class LogRoom {
  private readonly log: string;
  private readonly pause: (ms: number) => void;
  /** The log may be so long before it is given room. */
  private limitBytes = JOURNAL_SIZE_LIMIT_BYTES;

  /** @param database its path */
  constructor(database: string, pause = pauseThread) {
    this.log = `${database}-wal`;
    this.pause = pause;
  }

  /**
   * Pauses for a second at most where the log has grown. To be called while no state of the database is held. Where it
   * was in vain, because somebody else reads or hardly anything is written, it has to grow by as much again.
   */
  give(): void {
    if (this.sizeBytes() <= this.limitBytes) return;
    for (let pauses = 0; pauses < PAUSES_MAX; pauses += 1) {
      this.pause(PAUSE_MS);
      // Started anew, it is cut back.
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
