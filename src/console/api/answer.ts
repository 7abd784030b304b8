// API responses in components. The previous response stays until the next arrives, so that nothing jumps while moving
// through time. Responses for past timestamps are cached, since they do not change.

import { effect } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Answered, asRefusal, isAborted, isReachable, type Read } from "./client.ts";
import { type Live, useFresh } from "./fresh.ts";
import { useHeld } from "./held.ts";
import { liveState } from "./live.ts";
import type { Refusal } from "./refusal.ts";

export interface Answer<Data, Meta = unknown> {
  /** Undefined until the first response. */
  readonly data: Data | undefined;
  readonly meta: Meta | undefined;
  /** Whether `data` belongs to a previous request, shown until the current one is answered. */
  readonly isEarlier: boolean;
  /** Whether a response is pending. */
  readonly isLoading: boolean;
  /** Error of the current request; `data` may still hold an earlier response to the same request. */
  readonly problem: Refusal | undefined;
  /** Repeats the request. */
  again(): void;
}

/**
 * Whether it is still unknown if the record exists at the URL's timestamp. Components below then send no requests and
 * keep their responses, since requests for parts of a deleted record would fail.
 */
export const Unsettled = createContext(false);

/** Cache size, in responses. */
const KEPT_MAX = 60;
const kept = new Map<string, Answered<unknown, unknown>>();

/**
 * Whether a response can be cached: past timestamps, and filterable fields. Permissions can change, so the cache is
 * only in this page's memory.
 */
function isLasting(url: string): boolean {
  return /[?&]at=\d{4}-/.test(url) || url.startsWith("/api/v1/fields/");
}

/** Clears the cache when the user may have changed. */
export function forgetAnswers(): void {
  kept.clear();
  for (const listener of forgetful) listener();
}

const forgetful = new Set<() => void>();

/** Listens for a possible change of user. */
export function onForgotten(listener: () => void): void {
  forgetful.add(listener);
}

/** Drops cached filterable fields after a custom field was added or removed. */
export function forgetFields(): void {
  for (const url of [...kept.keys()]) if (url.startsWith("/api/v1/fields/")) kept.delete(url);
}

interface State<Data, Meta> {
  readonly url: string | null;
  readonly answered: Answered<Data, Meta> | undefined;
  readonly problem: Refusal | undefined;
}

/**
 * Response to a read; keeps the previous one until the next arrives. For another subject, give the component a `key`,
 * so that it does not show the last one's response.
 * @param told null sends no request
 * @param live changes that outdate the response; ignored for requests with a timestamp
 */
export function useAnswer<Data, Meta>(told: Read<Data, Meta> | null, live: Live | null = null): Answer<Data, Meta> {
  const asked = useContext(Unsettled) ? null : told;
  const [state, setState] = useState<State<Data, Meta>>({ url: null, answered: undefined, problem: undefined });
  const [turn, setTurn] = useState(0);
  const loading = useRef<string | null>(null);
  const askedAgain = useRef<string | null>(null);
  const url = asked?.url ?? null;
  // Depends on `url`, since `asked` is a new object on every render. A layout effect sends the request one frame
  // earlier.
  useLayoutEffect(() => {
    if (asked === null || url === null) return;
    const before = askedAgain.current === url ? undefined : (kept.get(url) as Answered<Data, Meta> | undefined);
    if (before !== undefined) {
      setState({ url, answered: before, problem: undefined });
      return;
    }
    const abort = new AbortController();
    loading.current = url;
    asked
      .load(abort.signal)
      .then((answered) => {
        if (isLasting(url)) keepAnswer(url, answered);
        loading.current = null;
        askedAgain.current = null;
        setState({ url, answered, problem: undefined });
      })
      .catch((cause: unknown) => {
        if (isAborted(cause)) return;
        loading.current = null;
        // Drop the response to another request.
        setState((last) => ({
          url,
          answered: last.url === url ? last.answered : undefined,
          problem: asRefusal(cause),
        }));
      });
    return () => abort.abort();
  }, [url, turn]);
  const again = () => {
    askedAgain.current = url;
    setTurn((last) => last + 1);
  };
  const isWaiting = state.url === url && state.problem !== undefined && isOfRestart(state.problem);
  useEffect(() => (isWaiting ? whenBack(again) : undefined), [isWaiting]);
  useFresh({
    live: url === null || /[?&]at=/.test(url) ? null : live,
    name: `${turn} ${url}`,
    again,
    isBusy: () => loading.current !== null,
  });
  useHeld(told !== null && state.answered !== undefined && state.url !== url);
  return {
    data: state.answered?.data,
    meta: state.answered?.meta,
    isEarlier: state.answered !== undefined && (state.url !== url || state.problem !== undefined),
    isLoading: url !== null && (state.url !== url || loading.current !== null),
    problem: state.url === url ? state.problem : undefined,
    again,
  };
}

/** Whether a retry can succeed without user action, e.g. after a restart of the appliance. */
function isOfRestart({ code, status }: Refusal): boolean {
  return code === "unreachable" || (status >= 502 && status <= 504);
}

/** Calls back once the appliance is reachable again. @returns a function that cancels the wait */
function whenBack(act: () => void): () => void {
  let was = true;
  return effect(() => {
    const is = isReachable.value && liveState.value !== "waiting";
    if (is && !was) queueMicrotask(act);
    was = is;
  });
}

function keepAnswer(url: string, answered: Answered<unknown, unknown>): void {
  kept.delete(url);
  kept.set(url, answered);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_MAX) break;
    kept.delete(oldest);
  }
}
