// Endings of stopped and failed scans: status and problem message.

import { DomainError } from "../../base/errors.ts";
import type { Timers } from "../../base/timers.ts";
import type { ScanEnding } from "./scan.ts";
import type { StopReason } from "./scan-thread.ts";

/** A stopped scan is abandoned after this time. */
export const STOP_MS = 800;

/** The cause of an internal error goes to the log only, not to users. */
export interface Ending {
  readonly status: ScanEnding;
  /** One clause; null if none. */
  readonly problem: string | null;
  readonly cause: string | null;
}

/** Error with a user-readable message. */
export class ScanProblem extends Error {
  override readonly name = "ScanProblem";
}

/** Waits for the work, but only briefly after the signal. */
export async function untilStopped(work: Promise<void>, signal: AbortSignal, timers: Timers): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  let release = () => {};
  const stop = () => {
    release = timers.after(STOP_MS, () => reject(new Error("scans: the scan did not stop")));
  };
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    await Promise.race([work, promise]);
  } finally {
    release();
    signal.removeEventListener("abort", stop);
    work.catch(() => {});
  }
}

export function stopped(reason: StopReason): Ending {
  return { status: reason, problem: reason === "Interrupted" ? "the appliance was stopped" : null, cause: null };
}

export function failed(error: unknown): Ending {
  const isExpected = error instanceof ScanProblem || (error instanceof DomainError && error.code !== "internal_error");
  if (isExpected) return { status: "Failed", problem: error.message, cause: null };
  return {
    status: "Failed",
    problem: "something went wrong inside the appliance; see its log",
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}
