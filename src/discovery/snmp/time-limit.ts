// Deadline nested in another signal. The signal carries the reason.

import type { Timers } from "../../base/timers.ts";
import { failure } from "./failure.ts";

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Frees the timer. */
  release(): void;
}

/** Aborts with the failure `deadline` after this time, or along with `outer`, with its reason. */
export function withDeadline(outer: AbortSignal, ms: number, timers: Timers): TimeLimit {
  const controller = new AbortController();
  const forwardAbort = (): void => controller.abort(outer.reason);
  if (outer.aborted) forwardAbort();
  else outer.addEventListener("abort", forwardAbort);
  const stop = timers.after(ms, () =>
    controller.abort(failure("deadline", `not finished within ${Math.round(ms / 1000)} s`)),
  );
  return {
    signal: controller.signal,
    release: () => {
      stop();
      outer.removeEventListener("abort", forwardAbort);
    },
  };
}
