// Machine resources of the appliance: disk space, memory and clock synchronization, from a few small files and
// file-system calls. Does not evaluate them.

import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { sizeOf } from "../base/byte-size.ts";

/** Machine state, read on each call. */
export interface Machine {
  /** File system of the data; null if unavailable. */
  disk(): { readonly sizeBytes: number; readonly freeBytes: number } | null;
  /** The database and its write-ahead log. */
  store(): { readonly databaseBytes: number; readonly logBytes: number };
  memory(): Memory;
  /** Whether a time service synchronizes the clock; null if unknown. */
  isClockSynchronized(): boolean | null;
}

interface Memory {
  /** Resident memory of this process. */
  readonly processBytes: number;
  /** Memory of the machine, or the limit of this process if lower; null if unavailable. */
  readonly totalBytes: number | null;
  /** Part of `totalBytes` that is available. */
  readonly availableBytes: number | null;
}

/** Text of a file; null if unreadable. */
type ReadText = (path: string) => string | null;

/** @param database path; disk space is that of its directory */
export function systemMachine(database: string): Machine {
  return {
    disk: () => diskOf(dirname(database)),
    store: () => ({ databaseBytes: sizeOf(database), logBytes: sizeOf(`${database}-wal`) }),
    memory: () => ({ processBytes: process.memoryUsage.rss(), ...memoryLeft(textOf) }),
    isClockSynchronized: () => isSynchronized(existsSync),
  };
}

function diskOf(folder: string): ReturnType<Machine["disk"]> {
  try {
    const { blocks, bavail, bsize } = statfsSync(folder);
    return { sizeBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch {
    return null;
  }
}

/** From proc_meminfo(5), and the control group of this process if limited (Linux, cgroup v2). */
export function memoryLeft(read: ReadText): Pick<Memory, "totalBytes" | "availableBytes"> {
  const machine = read("/proc/meminfo") ?? "";
  const total = kilobytesIn(machine, "MemTotal");
  const available = kilobytesIn(machine, "MemAvailable");
  const group = groupLimit(read);
  if (group === null) return { totalBytes: total, availableBytes: available };
  return {
    totalBytes: Math.min(group.totalBytes, total ?? group.totalBytes),
    availableBytes: Math.min(group.availableBytes, available ?? group.availableBytes),
  };
}

function groupLimit(read: ReadText): { readonly totalBytes: number; readonly availableBytes: number } | null {
  const path = /^0::(\/.*)$/m.exec(read("/proc/self/cgroup") ?? "")?.[1];
  if (path === undefined) return null;
  const readGroupFile = (name: string) => read(join("/sys/fs/cgroup", path, name)) ?? "";
  const limit = Number.parseInt(readGroupFile("memory.max"), 10);
  const used = Number.parseInt(readGroupFile("memory.current"), 10);
  if (Number.isNaN(limit) || Number.isNaN(used)) return null;
  // Inactive file pages are reclaimable.
  const cached = Number(/^inactive_file (\d+)$/m.exec(readGroupFile("memory.stat"))?.[1] ?? 0);
  return { totalBytes: limit, availableBytes: Math.max(0, limit - used + cached) };
}

function kilobytesIn(text: string, name: string): number | null {
  const found = new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1];
  return found === undefined ? null : Number(found) * 1_024;
}

/** For systemd-timesyncd, which creates this file after setting the clock (systemd-timesyncd.service(8)). */
export function isSynchronized(exists: (path: string) => boolean): boolean | null {
  if (exists("/run/systemd/timesync/synchronized")) return true;
  return exists("/run/systemd/timesync") ? false : null;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
