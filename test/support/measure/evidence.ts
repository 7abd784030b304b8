// Evidence for a failed test: the logs of its appliances and, from a second run, all recordings of the browser.
// `scripts/test` names the directories and keeps those of failed tests.

import { appendFileSync } from "node:fs";
import { join } from "node:path";

/** Directory for traces and screenshots; null except in the evidence run of `scripts/test`. */
export const EVIDENCE_FOLDER: string | null = process.env.TEST_EVIDENCE ?? null;

/** @returns a function that appends text to the log of this name, or drops it outside `scripts/test` */
export function logTo(name: string): (text: string) => void {
  const folder = process.env.TEST_LOGS;
  return folder === undefined ? () => {} : (text) => appendFileSync(join(folder, `${name}.log`), text);
}
