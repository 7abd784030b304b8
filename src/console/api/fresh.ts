// What a page does when something is written that it shows: a record is asked for again, a list offers to be. Nothing
// that one reads moves by itself.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { exactNow } from "../time/clock.ts";
import { type Concern, concerns, type LiveChange } from "./concern.ts";
import { onChanges } from "./live.ts";

export interface Live extends Concern {
  /**
   * `refresh` asks again by itself, for what stays where it stands: a record, a counter. `offer` says how much changed,
   * and asks again when somebody wants it: a list.
   */
  readonly how: "refresh" | "offer";
  /** At most so often by itself; half a second unless it is said. */
  readonly everyMs?: number;
}

interface Offer {
  readonly sinceMs: number;
  readonly count: number;
  readonly again: () => void;
}

const offers = signal<readonly Offer[]>([]);

/** What the page could show anew; null for nothing. Where it asks several things, that of which most changed. */
export const offered = computed(() => {
  const changed = offers.value.filter(({ count }) => count > 0);
  if (changed.length === 0) return null;
  return {
    count: Math.max(...changed.map(({ count }) => count)),
    sinceMs: Math.min(...changed.map(({ sinceMs }) => sinceMs)),
  };
});

/** Shows it. */
export function showOffered(): void {
  for (const { count, again } of offers.peek()) if (count > 0) again();
}

const EVERY_MS = 500;

const refreshing = new Set<() => void>();

/** What was written on this page itself is shown without hearing of it: the feed may be late, or have broken off. */
export function refreshNow(): void {
  for (const refresh of [...refreshing]) refresh();
}

interface FreshOptions {
  /** Null where what is shown cannot change: the past. */
  readonly live: Live | null;
  /** What is shown: where it is another, counting begins anew. */
  readonly name: string;
  /** Changes up to then are shown already, in milliseconds since 1970; left out, those that are heard of are new. */
  readonly sinceMs?: number | undefined;
  readonly again: () => void;
  /** Whether an answer is waited for: none is asked for meanwhile. */
  readonly isBusy?: (() => boolean) | undefined;
}

/** For what `useAnswer` does not ask; that has `live` as an option. */
export function useFresh({ live, name, sinceMs, again, isBusy }: FreshOptions): void {
  const latest = useRef({ live, again, isBusy });
  latest.current = { live, again, isBusy };
  const how = live?.how ?? null;
  // In the frame in which it is shown: what the bar offers is then shown already.
  useLayoutEffect(() => {
    if (how === null) return;
    return how === "offer" ? offerAgain(latest, sinceMs) : refreshAgain(latest);
  }, [how, name, sinceMs]);
}

interface Latest {
  readonly current: Pick<FreshOptions, "live" | "again" | "isBusy">;
}

function countOf(latest: Latest, changes: readonly LiveChange[] | null, afterMs: number): number {
  const { live } = latest.current;
  if (live === null) return 0;
  if (changes === null) return 1;
  return changes.filter((change) => change.atMs > afterMs && concerns(live, change)).length;
}

function offerAgain(latest: Latest, sinceMs: number | undefined): () => void {
  let own: Offer = { sinceMs: sinceMs ?? exactNow(), count: 0, again: () => latest.current.again() };
  offers.value = [...offers.peek(), own];
  const replaceBy = (next: Offer | null) => {
    offers.value = offers.peek().flatMap((each) => (each !== own ? [each] : next === null ? [] : [next]));
    own = next ?? own;
  };
  const stop = onChanges((changes) => {
    const count = countOf(latest, changes, sinceMs ?? 0);
    if (count > 0) replaceBy({ ...own, count: own.count + count });
  });
  return () => {
    stop();
    replaceBy(null);
  };
}

/** Not while nobody sees the page, nor while an answer is on its way. */
function refreshAgain(latest: Latest): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const due = () => {
    timer = undefined;
    if (document.visibilityState === "hidden" || latest.current.isBusy?.() === true) wait();
    else latest.current.again();
  };
  const wait = () => {
    timer ??= setTimeout(due, latest.current.live?.everyMs ?? EVERY_MS);
  };
  const stop = onChanges((changes) => {
    if (countOf(latest, changes, 0) > 0) wait();
  });
  // An answer that is on its way may be of before: it is given up.
  const now = () => latest.current.again();
  refreshing.add(now);
  return () => {
    stop();
    refreshing.delete(now);
    clearTimeout(timer);
  };
}
