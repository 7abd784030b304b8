// Time spent in a test run, by cause: the test processes append timing spans to a shared file.

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

/** Environment variable of `scripts/test`: the file to which each span appends a line `cause TAB milliseconds`. */
export const CAUSES_FILE = "TEST_CAUSES";

/** Number of open spans, and total wall time of the outermost ones. */
let [openSpans, recordedMs] = [0, 0];

/** Runs an action and charges its wall time to a cause. Outside `scripts/test`, only runs the action. */
export async function recordTime<T>(cause: Cause, action: () => T | Promise<T>): Promise<T> {
  const startedMs = performance.now();
  openSpans += 1;
  try {
    return await action();
  } finally {
    openSpans -= 1;
    const ms = performance.now() - startedMs;
    if (openSpans === 0) recordedMs += ms;
    charge(cause, ms);
  }
}

/** Charges the process's uptime minus recorded spans: before the first test it only loads files. */
export function chargeLoading(): void {
  charge("module loading", performance.now() - recordedMs);
}

/** Charges wall time in milliseconds to a cause. */
function charge(cause: Cause, ms: number): void {
  const file = process.env[CAUSES_FILE];
  // One short write in append mode: lines of several processes do not interleave.
  if (file !== undefined) appendFileSync(file, `${cause}\t${ms.toFixed(1)}\n`);
}
