// API responses in components: each stays visible until the next one arrives. Responses for past timestamps are cached.

import { effect } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal, isAborted, isReachable, type Read, type ResponseData } from "./client.ts";
import { type Live, useFresh } from "./fresh.ts";
import { liveState } from "./live.ts";
import type { Refusal } from "./refusal.ts";
import { useStaleMark } from "./stale.ts";

export interface ApiResponse<Data, Meta = unknown> {
  /** Undefined until the first response. */
  readonly data: Data | undefined;
  readonly meta: Meta | undefined;
  /** Whether `data` belongs to a previous request, shown until the current one has a response. */
  readonly isEarlier: boolean;
  /** Whether a response is pending. */
  readonly isLoading: boolean;
  /** Error from the current request; `data` may still hold an earlier response to the same request. */
  readonly problem: Refusal | undefined;
  /** Repeats the request. */
  retry(): void;
}

/** Whether the record may not exist at the URL's timestamp. Components below then send no requests. */
export const Unsettled = createContext(false);

/** Cache size, in responses. */
const CACHE_MAX = 60;
const cache = new Map<string, ResponseData<unknown, unknown>>();

/** Past timestamps, and filterable fields. Permissions can change, so the cache is only in this page's memory. */
function isCacheable(url: string): boolean {
  return /[?&]at=\d{4}-/.test(url) || url.startsWith("/api/v1/fields/");
}

/** Clears the cache when the user may have changed. */
export function clearResponses(): void {
  cache.clear();
  for (const listener of clearListeners) listener();
}

const clearListeners = new Set<() => void>();

/** Listens for a possible change of user. */
export function onResponsesCleared(listener: () => void): void {
  clearListeners.add(listener);
}

/** Drops cached filterable fields after a custom field was added or removed. */
export function dropFieldResponses(): void {
  for (const url of [...cache.keys()]) if (url.startsWith("/api/v1/fields/")) cache.delete(url);
}

interface State<Data, Meta> {
  readonly url: string | null;
  readonly loaded: ResponseData<Data, Meta> | undefined;
  readonly problem: Refusal | undefined;
}

/**
 * Response to a read; keeps the previous one until the next arrives. For another subject, give the component a `key`,
 * so that it does not show the previous subject's response.
 * @param request null sends no request
 * @param live changes that outdate the response; ignored for requests with a timestamp
 */
export function useResponse<Data, Meta>(
  request: Read<Data, Meta> | null,
  live: Live | null = null,
): ApiResponse<Data, Meta> {
  const activeRequest = useContext(Unsettled) ? null : request;
  const [state, setState] = useState<State<Data, Meta>>({ url: null, loaded: undefined, problem: undefined });
  const [attempt, setAttempt] = useState(0);
  const loading = useRef<string | null>(null);
  const reloading = useRef<string | null>(null);
  const url = activeRequest?.url ?? null;
  // Depends on `url`: `activeRequest` is new on every render. A layout effect sends the request a frame earlier.
  useLayoutEffect(() => {
    if (activeRequest === null || url === null) return;
    const cached = reloading.current === url ? undefined : (cache.get(url) as ResponseData<Data, Meta> | undefined);
    if (cached !== undefined) {
      setState({ url, loaded: cached, problem: undefined });
      return;
    }
    const abort = new AbortController();
    loading.current = url;
    activeRequest
      .load(abort.signal)
      .then((loaded) => {
        if (isCacheable(url)) cacheResponse(url, loaded);
        loading.current = null;
        reloading.current = null;
        setState({ url, loaded, problem: undefined });
      })
      .catch((cause: unknown) => {
        if (isAborted(cause)) return;
        loading.current = null;
        // Drop the response to another request.
        setState((last) => ({ url, loaded: last.url === url ? last.loaded : undefined, problem: asRefusal(cause) }));
      });
    return () => abort.abort();
  }, [url, attempt]);
  const retry = () => {
    reloading.current = url;
    setAttempt((last) => last + 1);
  };
  const isWaiting = state.url === url && state.problem !== undefined && isTransient(state.problem);
  useEffect(() => (isWaiting ? whenReachable(retry) : undefined), [isWaiting]);
  useFresh({
    live: url === null || /[?&]at=/.test(url) ? null : live,
    name: `${attempt} ${url}`,
    retry,
    isBusy: () => loading.current !== null,
  });
  useStaleMark(request !== null && state.loaded !== undefined && state.url !== url);
  return {
    data: state.loaded?.data,
    meta: state.loaded?.meta,
    isEarlier: state.loaded !== undefined && (state.url !== url || state.problem !== undefined),
    isLoading: url !== null && (state.url !== url || loading.current !== null),
    problem: state.url === url ? state.problem : undefined,
    retry,
  };
}

/** Whether a retry can succeed without user action, e.g. after a restart of the appliance. */
function isTransient({ code, status }: Refusal): boolean {
  return code === "unreachable" || (status >= 502 && status <= 504);
}

/** Calls back once the appliance is reachable again. @returns a function that cancels the wait */
function whenReachable(action: () => void): () => void {
  let wasUp = true;
  return effect(() => {
    const isUp = isReachable.value && liveState.value !== "waiting";
    if (isUp && !wasUp) queueMicrotask(action);
    wasUp = isUp;
  });
}

function cacheResponse(url: string, loaded: ResponseData<unknown, unknown>): void {
  cache.delete(url);
  cache.set(url, loaded);
  for (const oldest of cache.keys()) {
    if (cache.size <= CACHE_MAX) break;
    cache.delete(oldest);
  }
}
