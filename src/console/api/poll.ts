// What the change feed does not tell of, such as the progress of a scan, is asked for at intervals while it is looked at.

import { useEffect, useRef } from "preact/hooks";
import type { Answer } from "./answer.ts";

/**
 * Asks again and again, while the page is seen and no answer is waited for.
 * @param everyMs null where it cannot change
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
