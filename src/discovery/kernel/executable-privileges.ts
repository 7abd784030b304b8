// Detection of privileges granted by an executable. An executable built by Bun runs arbitrary code for users who set
// BUN_BE_BUN, and no build option prevents that, so its privileges are available to every user.

import { readFileSync, statSync } from "node:fs";
import { KernelRefused, openLibc } from "./libc.ts";

/**
 * True if every user may execute the file and thereby gains file capabilities (capabilities(7)) or another identity
 * (setuid, setgid).
 */
export function grantsPrivilegesToAll(path: string): boolean {
  // A file replaced since has no privileges.
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
  return (mode & EXECUTE_BY_OTHERS) !== 0 && ((mode & SET_IDENTITY) !== 0 || hasCapabilities(path));
}

const EXECUTE_BY_OTHERS = 0o001;
const SET_IDENTITY = 0o6000;
/** Extended attribute of file capabilities (xattr(7)). */
const ATTRIBUTE = "security.capability";

function hasCapabilities(path: string): boolean {
  try {
    const { symbols, close } = openLibc(
      { getxattr: { args: ["ptr", "ptr", "ptr", "usize"], returns: "i64" } },
      "to read the capabilities of an executable",
    );
    const size = symbols.getxattr(terminated(path), terminated(ATTRIBUTE), null, 0n);
    close();
    return Number(size) > 0;
  } catch (error) {
    if (!(error instanceof KernelRefused)) throw error;
    return hasFileCapabilities(readFileSync("/proc/self/status", "utf8"));
  }
}

/**
 * True if this process has capabilities that can only come from its executable: root has all of them, and those from a
 * service manager are ambient.
 * @param status text of proc_pid_status(5)
 */
export function hasFileCapabilities(status: string): boolean {
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)(?:\\s+(\\S+))?`, "m").exec(status);
  const bits = (name: string) => BigInt(`0x${field(name)?.[1] ?? "0"}`);
  return field("Uid")?.[2] !== "0" && (bits("CapPrm") & ~bits("CapAmb")) !== 0n;
}

function terminated(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
