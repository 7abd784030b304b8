// Polling for state outside the change feed, such as the progress of a scan, while it is visible.

import { useEffect, useRef } from "preact/hooks";
import type { Answer } from "./answer.ts";

/**
 * Repeats a request while the page is visible and no response is pending.
 * @param everyMs null disables polling
 */
export function usePoll(answer: Pick<Answer<unknown>, "again" | "isLoading">, everyMs: number | null): void {
  const latest = useRef(answer);
  latest.current = answer;
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState !== "hidden" && !latest.current.isLoading) latest.current.again();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
