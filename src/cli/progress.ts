// Periodic progress lines in the log during long commands.

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { VerifyProgress } from "../history/verify/verify.ts";

/** Time between two lines. */
const INTERVAL_MS = 5_000;

/** @param event of the lines: `verifying` */
export function progressTo(log: Log, clock: Clock, event: string): (progress: VerifyProgress) => void {
  let last = clock.now();
  return ({ step, done, total }) => {
    const now = clock.now();
    if (now - last < INTERVAL_MS && now >= last) return;
    last = now;
    log.info(event, { step, done, ...(total === null ? {} : { total }) });
  };
}
