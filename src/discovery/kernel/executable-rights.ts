// Whether an executable gives rights to whoever runs it. A program compiled by Bun runs any code for whoever sets
// BUN_BE_BUN, and no build can refuse that: such rights are then everybody's.

import { readFileSync, statSync } from "node:fs";
import { KernelRefused, openLibc } from "./libc.ts";

/**
 * Whether everybody on this machine may execute a file, and gets file capabilities (capabilities(7)) or another
 * identity (setuid, setgid) by it.
 */
export function givesRightsToAll(path: string): boolean {
  // Nothing is left of one that was replaced since.
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
  return (mode & EXECUTE_BY_OTHERS) !== 0 && ((mode & SET_IDENTITY) !== 0 || hasCapabilities(path));
}

const EXECUTE_BY_OTHERS = 0o001;
const SET_IDENTITY = 0o6000;
/** Where the kernel keeps those of a file (xattr(7)). */
const ATTRIBUTE = "security.capability";

function hasCapabilities(path: string): boolean {
  try {
    const { symbols, close } = openLibc(
      { getxattr: { args: ["ptr", "ptr", "ptr", "usize"], returns: "i64" } },
      "to read what an executable is given",
    );
    const size = symbols.getxattr(terminated(path), terminated(ATTRIBUTE), null, 0n);
    close();
    return Number(size) > 0;
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return capabilitiesAreOfFile(readFileSync("/proc/self/status", "utf8"));
  }
}

/**
 * Whether this process has capabilities that its executable must have given it: root has all, and what a service
 * manager gives is ambient.
 * @param status as of proc_pid_status(5)
 */
export function capabilitiesAreOfFile(status: string): boolean {
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)(?:\\s+(\\S+))?`, "m").exec(status);
  const bits = (name: string) => BigInt(`0x${field(name)?.[1] ?? "0"}`);
  return field("Uid")?.[2] !== "0" && (bits("CapPrm") & ~bits("CapAmb")) !== 0n;
}

function terminated(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
