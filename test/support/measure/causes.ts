// Time of a test run by cause: spans appended by the test processes to a file of the run.

import { appendFileSync } from "node:fs";

/** Causes of time spent outside the tests themselves. */
export const CAUSES = [
  "module loading",
  "appliance starts",
  "sign-ins",
  "browser starts",
  "page loads",
  "axe runs",
  "proofs",
] as const;
export type Cause = (typeof CAUSES)[number];

/** Environment variable of `scripts/test`: the file that takes a line `cause TAB milliseconds` per span. */
export const CAUSES_FILE = "TEST_CAUSES";

/** Open spans, and the wall time of the outermost ones. */
let [underWay, outermostMs] = [0, 0];

/** Runs an action and charges its wall time to a cause. Without effect on the action outside `scripts/test`. */
export async function spentOn<T>(cause: Cause, action: () => T | Promise<T>): Promise<T> {
  const beganMs = performance.now();
  underWay += 1;
  try {
    return await action();
  } finally {
    underWay -= 1;
    const ms = performance.now() - beganMs;
    if (underWay === 0) outermostMs += ms;
    charge(cause, ms);
  }
}

/** Charges the lifetime of this process so far, without spans: before the first test it only loads files. */
export function chargeLoading(): void {
  charge("module loading", performance.now() - outermostMs);
}

/** Charges wall time in milliseconds to a cause. */
function charge(cause: Cause, ms: number): void {
  const file = process.env[CAUSES_FILE];
  // One short write in append mode: lines of several processes do not interleave.
  if (file !== undefined) appendFileSync(file, `${cause}\t${ms.toFixed(1)}\n`);
}
