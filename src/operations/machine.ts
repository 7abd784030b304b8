// What the machine has left for the appliance: room on the disk of its data, memory, and a clock that somebody sets.
// Reads a few small files and asks the file system; judges nothing.

import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { sizeOf } from "../base/byte-size.ts";

/** What is read of the machine, each time anew. */
export interface Machine {
  /** Of the file system that the data are on; null where it does not tell. */
  disk(): { readonly sizeBytes: number; readonly freeBytes: number } | null;
  /** The database and its write-ahead log. */
  store(): { readonly databaseBytes: number; readonly logBytes: number };
  memory(): Memory;
  /** Whether something keeps the clock right; null where nothing here tells. */
  isClockSynchronized(): boolean | null;
}

interface Memory {
  /** What of this process is in memory. */
  readonly processBytes: number;
  /** Of the machine, or what this process may have where that is less; null where it is not told. */
  readonly totalBytes: number | null;
  /** What of it can still be had. */
  readonly availableBytes: number | null;
}

/** The text of a file; null where it cannot be read. */
type ReadText = (path: string) => string | null;

/** @param database its path; the disk is that of its folder */
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

/** By proc_meminfo(5), and by the control group of this process where that has a limit (Linux, cgroup v2). */
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
  const ofGroup = (name: string) => read(join("/sys/fs/cgroup", path, name)) ?? "";
  const limit = Number.parseInt(ofGroup("memory.max"), 10);
  const used = Number.parseInt(ofGroup("memory.current"), 10);
  if (Number.isNaN(limit) || Number.isNaN(used)) return null;
  // Pages of files that nobody has looked at lately are given up for whoever needs memory.
  const cached = Number(/^inactive_file (\d+)$/m.exec(ofGroup("memory.stat"))?.[1] ?? 0);
  return { totalBytes: limit, availableBytes: Math.max(0, limit - used + cached) };
}

function kilobytesIn(text: string, name: string): number | null {
  const found = new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(text)?.[1];
  return found === undefined ? null : Number(found) * 1_024;
}

/** Where systemd-timesyncd keeps the clock, which makes this file once it has set it (systemd-timesyncd.service(8)). */
export function isSynchronized(isThere: (path: string) => boolean): boolean | null {
  if (isThere("/run/systemd/timesync/synchronized")) return true;
  return isThere("/run/systemd/timesync") ? false : null;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
