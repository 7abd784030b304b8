// Keeps the memory of the process, with the keys and passwords that are in it while they are used, out of core files.
// Must not fail a start: where it cannot be had, things are as for any program.

import { readFileSync } from "node:fs";
import { openLibc } from "../discovery/kernel/libc.ts";

/**
 * Sets the soft limit of core files to nothing (RLIMIT_CORE), for this process and those that it starts. The hard limit
 * stays: who looks for the cause of a crash can raise it again with prlimit.
 * @returns whether no core file is written now
 */
export function forbidCoreFiles(): boolean {
  try {
    // Mostly it is so anyway, and the C library need not be opened.
    if (isForbidden()) return true;
    const { symbols } = openLibc(
      { getrlimit: { args: ["i32", "ptr"], returns: "i32" }, setrlimit: { args: ["i32", "ptr"], returns: "i32" } },
      "to forbid core files",
    );
    const limits = new BigUint64Array(2);
    if (symbols.getrlimit(RLIMIT_CORE, limits) !== 0) return false;
    limits[SOFT] = 0n;
    return symbols.setrlimit(RLIMIT_CORE, limits) === 0;
  } catch {
    return false;
  }
}

/** getrlimit(2), on the architectures that are released. */
const RLIMIT_CORE = 4;
/** Its place in struct rlimit. */
const SOFT = 0;

function isForbidden(): boolean {
  return /^Max core file size +0 /m.test(readFileSync("/proc/self/limits", "utf8"));
}
