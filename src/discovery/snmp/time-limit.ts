// A deadline inside another one. The signal tells that it is over, and why.

import type { Timers } from "../../base/timers.ts";
import { failure } from "./failure.ts";

interface TimeLimit {
  readonly signal: AbortSignal;
  /** Frees its timer. */
  release(): void;
}

/** Aborts with the failure `deadline` after so long, or as `outer` does, with its reason. */
export function limited(outer: AbortSignal, ms: number, timers: Timers): TimeLimit {
  const controller = new AbortController();
  const pass = (): void => controller.abort(outer.reason);
  if (outer.aborted) pass();
  else outer.addEventListener("abort", pass);
  const stop = timers.after(ms, () =>
    controller.abort(failure("deadline", `not finished within ${Math.round(ms / 1000)} s`)),
  );
  return {
    signal: controller.signal,
    release: () => {
      stop();
      outer.removeEventListener("abort", pass);
    },
  };
}
