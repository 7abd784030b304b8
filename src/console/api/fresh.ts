// Page updates after writes: records are reloaded, lists offer a reload. Content being read does not move by itself.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { exactNow } from "../time/clock.ts";
import { type Concern, concerns, type LiveChange } from "./concern.ts";
import { onChanges } from "./live.ts";

export interface Live extends Concern {
  /**
   * `refresh` reloads automatically, for content that keeps its place: a record, a counter. `offer` shows the number of
   * changes and reloads on request: a list.
   */
  readonly how: "refresh" | "offer";
  /** Minimum interval between automatic reloads; 500 ms by default. */
  readonly everyMs?: number;
}

interface Offer {
  readonly sinceMs: number;
  readonly count: number;
  readonly again: () => void;
}

const offers = signal<readonly Offer[]>([]);

/** Pending offer; null for none. Of several requests, the largest count applies. */
export const offered = computed(() => {
  const changed = offers.value.filter(({ count }) => count > 0);
  if (changed.length === 0) return null;
  return {
    count: Math.max(...changed.map(({ count }) => count)),
    sinceMs: Math.min(...changed.map(({ sinceMs }) => sinceMs)),
  };
});

/** Accepts the offer. */
export function showOffered(): void {
  for (const { count, again } of offers.peek()) if (count > 0) again();
}

const EVERY_MS = 500;

const refreshing = new Set<() => void>();

/** Reloads after the page's own write, without waiting for the feed, which may be late or disconnected. */
export function refreshNow(): void {
  for (const refresh of [...refreshing]) refresh();
}

interface FreshOptions {
  /** Null for immutable content: the past. */
  readonly live: Live | null;
  /** Identity of the content; a new one resets the count. */
  readonly name: string;
  /** Ignores changes up to this time, in milliseconds since 1970; if omitted, all changes received count. */
  readonly sinceMs?: number | undefined;
  readonly again: () => void;
  /** Whether a response is pending, which defers the reload. */
  readonly isBusy?: (() => boolean) | undefined;
}

/** For requests outside `useAnswer`, which has its own `live` option. */
export function useFresh({ live, name, sinceMs, again, isBusy }: FreshOptions): void {
  const latest = useRef({ live, again, isBusy });
  latest.current = { live, again, isBusy };
  const how = live?.how ?? null;
  // A layout effect, so that the offer is reset in the frame that shows the content.
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

/** Defers the reload while the page is hidden or a response is pending. */
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
  // Abandons a pending response, which may predate the write.
  const now = () => latest.current.again();
  refreshing.add(now);
  return () => {
    stop();
    refreshing.delete(now);
    clearTimeout(timer);
  };
}
