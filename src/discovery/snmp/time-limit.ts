// An end to waiting, inside another end to waiting. Whoever is asked learns from the signal alone that it is over, and why.

import type { Timers } from "../../base/timers.ts";
import { failure } from "./failure.ts";

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** When what it limits has ended: frees its timer. */
  release(): void;
}

/** A signal that is aborted with the failure `deadline` after so long, or as `outer` is, with its reason. */
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
