// Answers in components: what was last answered stays until the next is there, so that nothing jumps while one moves
// through time. Answers of the past are kept: at an instant they stay what they are.

import { effect } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Answered, asRefusal, isAborted, isReachable, type Read } from "./client.ts";
import { type Live, useFresh } from "./fresh.ts";
import { useHeld } from "./held.ts";
import { liveState } from "./live.ts";
import type { Refusal } from "./refusal.ts";

export interface Answer<Data, Meta = unknown> {
  /** Undefined until the first answer. */
  readonly data: Data | undefined;
  readonly meta: Meta | undefined;
  /** Whether `data` is of another read than the one that is asked for: it is shown until that is answered. */
  readonly isEarlier: boolean;
  /** Whether an answer is waited for. */
  readonly isLoading: boolean;
  /** Why there is no answer to what is asked for; `data` may be there from when the same was asked before. */
  readonly problem: Refusal | undefined;
  /** Asks once more. */
  again(): void;
}

/**
 * Whether it is not known yet that what is shown is there at the instant of the address. Below, nothing is asked until it
 * is, and what was last answered stays: parts of what is gone would be refused.
 */
export const Unsettled = createContext(false);

/** How many answers of the past are kept. */
const KEPT_MAX = 60;
const kept = new Map<string, Answered<unknown, unknown>>();

/**
 * Whether the same question has the same answer next time: of the past, or of what can be filtered. Reach can change:
 * only this page's memory keeps it.
 */
function isLasting(url: string): boolean {
  return /[?&]at=\d{4}-/.test(url) || url.startsWith("/api/v1/fields/");
}

/** Forgets what was answered: somebody else may have signed in. */
export function forgetAnswers(): void {
  kept.clear();
  for (const listener of forgetful) listener();
}

const forgetful = new Set<() => void>();

/** Hears that somebody else may have signed in. */
export function onForgotten(listener: () => void): void {
  forgetful.add(listener);
}

/** Forgets what can be filtered: a field has come or gone. */
export function forgetFields(): void {
  for (const url of [...kept.keys()]) if (url.startsWith("/api/v1/fields/")) kept.delete(url);
}

interface State<Data, Meta> {
  readonly url: string | null;
  readonly answered: Answered<Data, Meta> | undefined;
  readonly problem: Refusal | undefined;
}

/**
 * What a read is answered, and what the next is answered once it is there. Give the component a `key` where another
 * subject must not show the last one's answer for a moment.
 * @param told null while there is nothing to ask
 * @param live what of that which is written now makes it another; has no effect on what is asked as of an instant
 */
export function useAnswer<Data, Meta>(told: Read<Data, Meta> | null, live: Live | null = null): Answer<Data, Meta> {
  const asked = useContext(Unsettled) ? null : told;
  const [state, setState] = useState<State<Data, Meta>>({ url: null, answered: undefined, problem: undefined });
  const [turn, setTurn] = useState(0);
  const loading = useRef<string | null>(null);
  const askedAgain = useRef<string | null>(null);
  const url = asked?.url ?? null;
  // `asked` is another object each time: `url` says whether it is another read. A layout effect, since what is asked a
  // frame earlier is there a frame earlier.
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
        // What was answered to another question is no answer to this one.
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

/** Whether asking again helps by itself, as when the appliance is restarted. */
function isOfRestart({ code, status }: Refusal): boolean {
  return code === "unreachable" || status === 502 || status === 503;
}

/** Once the appliance answers again. @returns what ends the wait */
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
