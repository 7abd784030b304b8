// Polling for state outside the change feed, such as the progress of a scan, while it is visible. One request per poll:
// what depends on it is read only once it has changed.

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

/**
 * Repeats a request when a value that another response reports has changed, once no response is pending.
 * @param value value to which the first response belongs
 */
export function useReloadOn(response: Pick<ApiResponse<unknown>, "retry" | "isLoading">, value: string): void {
  const loaded = useRef(value);
  useEffect(() => {
    if (response.isLoading || loaded.current === value) return;
    loaded.current = value;
    response.retry();
  }, [value, response.isLoading]);
}
