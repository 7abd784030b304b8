// Log follower: the last lines, then new ones without gaps or duplicates, while the page is visible.

import { useEffect, useState } from "preact/hooks";
import { asRefusal, type DataOf, isAborted, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";

export type LogLine = DataOf<"/api/v1/log">[number];
export type LogLevel = LogLine["level"];

export interface FollowedLog {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** Lines discarded before they were read. */
  readonly dropped: number;
  readonly isRestarted: boolean;
  readonly isLoaded: boolean;
  readonly problem: Refusal | null;
}

/** Capacity of the appliance's log. */
const LINES_MAX = 1_000;
const FIRST_LINES = 200;
const FOLLOW_MS = 1_500;

const EMPTY_LOG: FollowedLog = { lines: [], dropped: 0, isRestarted: false, isLoaded: false, problem: null };

/** @param filter in the API's filter syntax; empty for none */
export function useLog(isEnabled: boolean, level: LogLevel, filter: string): FollowedLog {
  const [log, setLog] = useState(EMPTY_LOG);
  useEffect(() => {
    if (!isEnabled) return;
    setLog(EMPTY_LOG);
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let position: { readonly after: number; readonly mark: string } | null = null;
    const fetchLines = async () => {
      try {
        const { data, meta } = await read("/api/v1/log", {
          query: {
            level,
            limit: position === null ? FIRST_LINES : LINES_MAX,
            ...(filter === "" ? {} : { filter }),
            ...(position ?? {}),
          },
        }).load(abort.signal);
        const { after, mark, dropped, is_restarted } = meta.log;
        position = { after, mark };
        setLog((last) => ({
          lines: [...(is_restarted ? [] : last.lines), ...data].slice(-LINES_MAX),
          dropped: is_restarted ? 0 : last.dropped + dropped,
          isRestarted: last.isRestarted || is_restarted,
          isLoaded: true,
          problem: null,
        }));
      } catch (cause) {
        if (isAborted(cause)) return;
        setLog((last) => ({ ...last, problem: asRefusal(cause) }));
      }
    };
    const follow = async () => {
      if (position === null || document.visibilityState !== "hidden") await fetchLines();
      if (!abort.signal.aborted) timer = setTimeout(() => void follow(), FOLLOW_MS);
    };
    void follow();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [isEnabled, level, filter]);
  return log;
}
