// How a scan ends that does not come to its own end: stopped from outside, or failed, and what is said of it. Must not write it down.

import { DomainError } from "../../base/errors.ts";
import type { Timers } from "../../base/timers.ts";
import type { StopReason } from "./scan-thread.ts";
import type { ScanEnding } from "./scan.ts";

/** A scan that was told to stop and does not is left behind after this. */
export const STOP_MS = 800;

/** What is said of an end: of a fault of ours people are told no more than that, and the log its cause. */
export interface Ending {
  readonly status: ScanEnding;
  /** One clause; null where there is nothing to be said. */
  readonly problem: string | null;
  readonly cause: string | null;
}

/** Why a scan cannot be done, in words for people. */
export class ScanProblem extends Error {
  override readonly name = "ScanProblem";
}

/** The work, or after its stop a moment more of it. */
export async function orStopped(work: Promise<void>, signal: AbortSignal, timers: Timers): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  let release = () => {};
  const stop = () => {
    release = timers.after(STOP_MS, () => reject(new Error("scans: it does not stop")));
  };
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    await Promise.race([work, promise]);
  } finally {
    release();
    signal.removeEventListener("abort", stop);
    // What it still comes to is nobody's any more.
    work.catch(() => {});
  }
}

export function stopped(reason: StopReason): Ending {
  return { status: reason, problem: reason === "Interrupted" ? "the appliance was stopped" : null, cause: null };
}

export function failed(error: unknown): Ending {
  const isTold = error instanceof ScanProblem || (error instanceof DomainError && error.code !== "internal_error");
  if (isTold) return { status: "Failed", problem: error.message, cause: null };
  return {
    status: "Failed",
    problem: "something went wrong inside the appliance; its log tells what",
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
