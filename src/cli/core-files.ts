// Core-dump protection: keeps process memory, with keys and passwords in use, out of core files.
// Never fails the start: without it, the process behaves like any other program.

import { readFileSync } from "node:fs";
import { openLibc } from "../discovery/kernel/libc.ts";

/**
 * Sets the soft limit for core files (RLIMIT_CORE) to 0, for this process and its children. The hard limit stays, so
 * that prlimit can raise it again for debugging a crash.
 * @returns whether core files are disabled
 */
export function forbidCoreFiles(): boolean {
  try {
    // Usually already the case, which saves opening the C library.
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

/** getrlimit(2), on the released architectures. */
const RLIMIT_CORE = 4;
/** Index in struct rlimit. */
const SOFT = 0;

function isForbidden(): boolean {
  return /^Max core file size +0 /m.test(readFileSync("/proc/self/limits", "utf8"));
}
