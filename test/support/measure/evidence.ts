// Evidence of a failed test: the logs of its appliances and, from one more run of it, everything a browser can record.
// `scripts/test` names the folders and keeps them for tests that fail.

import { appendFileSync } from "node:fs";
import { join } from "node:path";

/** The folder for traces and screenshots; null but in the run that `scripts/test` makes for evidence. */
export const EVIDENCE_FOLDER: string | null = process.env.TEST_EVIDENCE ?? null;

/** @returns appends text to the log of this name; outside `scripts/test` it drops it */
export function logTo(name: string): (text: string) => void {
  const folder = process.env.TEST_LOGS;
  return folder === undefined ? () => {} : (text) => appendFileSync(join(folder, `${name}.log`), text);
}
