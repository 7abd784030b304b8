// Time of a test run by cause: spans that the test processes append to a file of the run.

import { appendFileSync } from "node:fs";

/** Causes of time that is not spent in the tests themselves. */
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

/** Spans that have not ended; the wall time of those that were in no other. */
let [underWay, outermostMs] = [0, 0];

/** Runs an action and charges its wall time to a cause. Outside `scripts/test` it only runs it. */
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

/** Charges the life of this process until now, without spans: before the first test it has loaded files alone. */
export function chargeLoading(): void {
  charge("module loading", performance.now() - outermostMs);
}

/** Charges wall time in milliseconds to a cause. */
function charge(cause: Cause, ms: number): void {
  const file = process.env[CAUSES_FILE];
  // One short write in append mode: lines of several processes do not mix.
  if (file !== undefined) appendFileSync(file, `${cause}\t${ms.toFixed(1)}\n`);
}
