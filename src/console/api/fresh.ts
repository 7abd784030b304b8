// Page updates after writes: records reload, lists offer to reload. Content being read never moves by itself.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { exactNow } from "../time/clock.ts";
import { type ChangeFilter, type LiveChange, matchesChange } from "./change-filter.ts";
import { onChanges } from "./live.ts";

export interface Live extends ChangeFilter {
  /** `refresh` reloads automatically, for content that keeps its place. `offer` reloads on request, for lists. */
  readonly how: "refresh" | "offer";
  /** Minimum interval between automatic reloads; 500 ms by default. */
  readonly everyMs?: number;
  /** Waits for the feed after the page's own writes as well. */
  readonly isBackground?: true;
  /** Reloads after the page's own writes only: another response follows the feed. */
  readonly isOwnOnly?: boolean;
  /** Kinds whose writes by the page itself outdate the response; `types` by default. */
  readonly ownTypes?: readonly string[];
}

interface Offer {
  readonly sinceMs: number;
  readonly count: number;
  readonly retry: () => void;
}

const offers = signal<readonly Offer[]>([]);

/** Pending offer; null for none. With several requests, the largest count applies. */
export const offered = computed(() => {
  const changed = offers.value.filter(({ count }) => count > 0);
  if (changed.length === 0) return null;
  return {
    count: Math.max(...changed.map(({ count }) => count)),
    sinceMs: Math.min(...changed.map(({ sinceMs }) => sinceMs)),
  };
});

/** Accepts the offer. */
export function acceptOffers(): void {
  for (const { count, retry } of offers.peek()) if (count > 0) retry();
}

const DEFAULT_EVERY_MS = 500;

const refreshing = new Set<(type: string | undefined) => void>();
/** Transaction of the page's last write: what it changed is reloaded already when the feed reports it. */
let lastWrite: number | null = null;

/** A write of this page. */
interface OwnWrite {
  /** Its transaction; null if it changed nothing. */
  readonly sequence: number | null;
  /** Kind of all changed records, as in the change feed; omitted for several. */
  readonly type?: string;
}

/** Reloads after the page's own write, without waiting for the feed, which may be late or disconnected. */
export function refreshNow({ sequence, type }: OwnWrite = { sequence: null }): void {
  lastWrite = sequence;
  for (const refresh of [...refreshing]) refresh(type);
}

interface FreshOptions {
  /** Null for immutable content: the past. */
  readonly live: Live | null;
  /** Identity of the content; a new one resets the count. */
  readonly name: string;
  /** Ignores changes up to this time, in milliseconds since 1970; if omitted, all changes received count. */
  readonly sinceMs?: number | undefined;
  readonly retry: () => void;
  /** Whether a response is pending, which defers the reload. */
  readonly isBusy?: (() => boolean) | undefined;
}

/** For requests outside `useResponse`, which has its own `live` option. */
export function useFresh({ live, name, sinceMs, retry, isBusy }: FreshOptions): void {
  const latest = useRef({ live, retry, isBusy });
  latest.current = { live, retry, isBusy };
  const how = live?.how ?? null;
  // A layout effect, so that the offer is reset in the frame that shows the content.
  useLayoutEffect(() => {
    if (how === null) return;
    return how === "offer" ? offerReload(latest, sinceMs) : autoReload(latest);
  }, [how, name, sinceMs]);
}

interface Latest {
  readonly current: Pick<FreshOptions, "live" | "retry" | "isBusy">;
}

function matchCount(latest: Latest, changes: readonly LiveChange[] | null, afterMs: number): number {
  const { live } = latest.current;
  if (live === null) return 0;
  if (changes === null) return 1;
  if (live.isOwnOnly === true) return 0;
  return changes.filter((change) => change.atMs > afterMs && matchesChange(live, change)).length;
}

function offerReload(latest: Latest, sinceMs: number | undefined): () => void {
  let ownOffer: Offer = { sinceMs: sinceMs ?? exactNow(), count: 0, retry: () => latest.current.retry() };
  offers.value = [...offers.peek(), ownOffer];
  const replaceOwn = (next: Offer | null) => {
    offers.value = offers.peek().flatMap((offer) => (offer !== ownOffer ? [offer] : next === null ? [] : [next]));
    ownOffer = next ?? ownOffer;
  };
  const stop = onChanges((changes) => {
    const count = matchCount(latest, changes, sinceMs ?? 0);
    if (count > 0) replaceOwn({ ...ownOffer, count: ownOffer.count + count });
  });
  return () => {
    stop();
    replaceOwn(null);
  };
}

/** Defers the reload while the page is hidden or a response is pending. */
function autoReload(latest: Latest): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const fire = () => {
    timer = undefined;
    if (document.visibilityState === "hidden" || latest.current.isBusy?.() === true) wait();
    else latest.current.retry();
  };
  const wait = () => {
    timer ??= setTimeout(fire, latest.current.live?.everyMs ?? DEFAULT_EVERY_MS);
  };
  const stop = onChanges((changes) => {
    const isKnown = latest.current.live?.isBackground !== true;
    const others = isKnown ? (changes?.filter(({ sequence }) => sequence !== lastWrite) ?? null) : changes;
    if (matchCount(latest, others, 0) > 0) wait();
  });
  const reload = (type: string | undefined) => {
    const { live, retry } = latest.current;
    if (live === null || live.isBackground === true) return;
    const types = live.ownTypes ?? live.types;
    if (type !== undefined && (types?.includes(type) === false || live.operation === "Deleted")) return;
    // Abandons a pending response, which may predate the write.
    retry();
  };
  refreshing.add(reload);
  return () => {
    stop();
    refreshing.delete(reload);
    clearTimeout(timer);
  };
}
