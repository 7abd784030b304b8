// Test failure evidence in dist/test-failures: appliance logs from the run itself, and trace, screenshots and browser
// console from a second run of the failed tests, which never changes the result.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { type BatchResult, FAILURES_FOLDER, runBatch } from "./run-batch.ts";

/** Maximum number of files to run again: a change that breaks everything needs no more evidence. */
const FILES_MAX = 5;

/**
 * Runs the failed tests again with full recording.
 * @param root the checkout
 * @param env environment of the test processes
 * @returns paths of the evidence, relative to the checkout
 */
export async function collectEvidence(
  root: string,
  results: readonly BatchResult[],
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const failed = results.flatMap(({ failures }) => [...failures]);
  for (const [file, names] of failed.slice(0, FILES_MAX)) {
    const folder = join(
      FAILURES_FOLDER,
      file
        .replace(/^test\//, "")
        .replaceAll("/", "-")
        .replace(/\.test\.ts$/, ""),
    );
    mkdirSync(folder, { recursive: true });
    let output = "";
    await runBatch([file], {
      env: { ...env, TEST_EVIDENCE: folder },
      args: ["--test-name-pattern", names.map(patternOf).join("|")],
      write: (text) => (output += text),
    });
    await Bun.write(join(folder, "rerun.txt"), output);
  }
  for (const { failures, logs } of results) {
    const [file] = failures.keys();
    if (logs === null || file === undefined || !existsSync(logs)) continue;
    renameSync(logs, join(FAILURES_FOLDER, `${file.replace(/^test\//, "").replaceAll("/", "-")}-logs`));
  }
  for (const name of readdirSync(FAILURES_FOLDER))
    if (name.startsWith(".running-")) rmSync(join(FAILURES_FOLDER, name), { recursive: true, force: true });
  return readdirSync(FAILURES_FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Converts a test name in Bun's report, `describe > test [12.00ms]`, to a pattern for --test-name-pattern. */
function patternOf(reported: string): string {
  const name = reported.replace(/ \[[\d.]+m?s\]$/, "");
  return name
    .split(" > ")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(" ");
}
