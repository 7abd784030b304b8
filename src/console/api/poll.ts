// Polling for state outside the change feed, such as the progress of a scan, while it is visible.

import { useEffect, useRef } from "preact/hooks";
import type { ApiResponse } from "./response.ts";

/** Repeats a request while the page is visible and no response is pending. @param everyMs null disables polling */
export function usePoll(response: Pick<ApiResponse<unknown>, "retry" | "isLoading">, everyMs: number | null): void {
  const latest = useRef(response);
  latest.current = response;
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState !== "hidden" && !latest.current.isLoading) latest.current.retry();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
