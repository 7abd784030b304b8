// List of any length, loaded in windows of rows at a single timestamp, so that writes during scrolling neither shift
// nor repeat rows. Without a timestamp in the URL, the newest transaction's applies.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Answered, asRefusal, isAborted, type Read, read } from "../api/client.ts";
import { useHeld } from "../api/held.ts";
import type { Refusal } from "../api/refusal.ts";
import { nextRun, type RowRange, WINDOW_ROWS, type WindowRun, windowsToForget } from "./rows-window.ts";

/** Reads rows from an offset: one window, or several adjacent ones. */
export type WindowRead<Row> = (window: {
  readonly at?: string;
  readonly limit: number;
  readonly offset: number;
}) => Read<readonly Row[]>;

export interface LongList<Row> {
  /** Undefined until the first window is loaded. */
  readonly count: number | undefined;
  /** `meta` of the first window. */
  readonly meta: unknown;
  /** Timestamp of all rows. */
  readonly at: string | null;
  /** Undefined while its window is loading. */
  rowAt(index: number): Row | undefined;
  /**
   * Requests missing rows in view, then reads ahead.
   * @param speed of scrolling, in rows per second; negative upwards
   */
  want(drawn: RowRange, speed: number): void;
  readonly problem: Refusal | undefined;
  /** Whether the rows still belong to the previous list. */
  readonly isEarlier: boolean;
  /** Reloads the list; without a timestamp in the URL, at the newest transaction. */
  again(): void;
}

/** Version shared by all windows of a list. */
interface Pin {
  /** Null for an empty ledger. */
  readonly at: string | null;
  /** Ledger sequence at the start of a present list; null for a list of the past. */
  readonly sequence: number | null;
}

interface Loaded<Row> {
  /** Identity of the list, with its timestamp and reload count. */
  readonly name: string;
  /** Timestamp of the URL; null for now. */
  readonly instant: string | null;
  readonly pin: Pin;
  readonly count: number;
  readonly meta: unknown;
  readonly windows: ReadonlyMap<number, readonly Row[]>;
}

/** Fast scrolling passes many windows; a low limit keeps requests close to the rows in view. */
const REQUESTS_AT_ONCE = 2;

/** Requests of one list. */
interface Asking {
  readonly abort: AbortController;
  /** Numbers of windows that are loaded, loading or failed. */
  readonly asked: Set<number>;
  /** Rows in view, and scrolling speed. */
  drawn: RowRange;
  speed: number;
  loading: number;
  /** Whether the ledger changed since a present list was started. */
  isLeftBehind: boolean;
}

function newAsking(): Asking {
  const drawn = { first: 0, end: 0 };
  return { abort: new AbortController(), asked: new Set(), drawn, speed: 0, loading: 0, isLeftBehind: false };
}

/**
 * @param name identity of the list; a new name loads another list and keeps showing this one until then
 * @param at timestamp of the URL; null for now
 */
export function useLongList<Row>(name: string, at: string | null, windowOf: WindowRead<Row>): LongList<Row> {
  const [loaded, setLoaded] = useState<Loaded<Row> | null>(null);
  const [problem, setProblem] = useState<Refusal | undefined>(undefined);
  const [turn, setTurn] = useState(0);
  const asking = useRef<Asking>(newAsking());
  const full = `${name} ${at} ${turn}`;

  // A layout effect sends the request one frame earlier.
  useLayoutEffect(() => {
    const own = newAsking();
    asking.current = own;
    own.asked.add(0);
    setProblem(undefined);
    const begin = async () => {
      const { signal } = own.abort;
      const pin = at === null ? await headOf(signal) : { at, sequence: null };
      const first = await loadWindows(windowOf, pin, { first: 0, windows: 1 }, own);
      setLoaded({
        name: full,
        instant: at,
        pin,
        count: countOf(first),
        meta: first.meta,
        windows: new Map([[0, first.data]]),
      });
    };
    begin().catch((cause: unknown) => {
      if (isAborted(cause)) return;
      setProblem(asRefusal(cause));
      // Drop rows of another timestamp.
      setLoaded((last) => (last?.instant === at ? last : null));
    });
    return () => own.abort.abort();
  }, [full]);

  const want = (drawn: RowRange, speed: number) => {
    if (loaded === null || loaded.name !== full) return;
    const own = asking.current;
    own.drawn = drawn;
    own.speed = speed;
    const askNext = () => {
      if (own.loading === REQUESTS_AT_ONCE || own.abort.signal.aborted) return;
      const run = nextRun(own.drawn, own.speed, loaded.count, (window) => own.asked.has(window));
      if (run === null) return;
      // A failed window stays marked, so that it is not retried until the user asks.
      const numbers = Array.from({ length: run.windows }, (_, place) => run.first + place);
      for (const number of numbers) own.asked.add(number);
      own.loading += 1;
      loadWindows(windowOf, loaded.pin, run, own)
        .then(({ data }) => {
          const rowsOf = (number: number) => {
            const start = (number - run.first) * WINDOW_ROWS;
            return data.slice(start, start + WINDOW_ROWS);
          };
          setLoaded((last) => {
            if (last?.name !== full) return last;
            const windows = new Map([...last.windows, ...numbers.map((number) => [number, rowsOf(number)] as const)]);
            for (const number of windowsToForget(windows.keys(), own.drawn)) {
              windows.delete(number);
              own.asked.delete(number);
            }
            return { ...last, windows };
          });
        })
        .catch((cause: unknown) => {
          if (!isAborted(cause)) setProblem(asRefusal(cause));
        })
        .finally(() => {
          own.loading -= 1;
          askNext();
        });
      askNext();
    };
    askNext();
  };
  const isEarlier = loaded !== null && loaded.name !== full;
  useHeld(isEarlier && problem === undefined);
  return {
    count: loaded?.count,
    meta: loaded?.meta,
    at: loaded?.pin.at ?? null,
    rowAt: (index) => loaded?.windows.get(Math.floor(index / WINDOW_ROWS))?.[index % WINDOW_ROWS],
    want,
    problem,
    isEarlier,
    again: () => setTurn((last) => last + 1),
  };
}

function countOf({ data, meta }: Answered<readonly unknown[], unknown>): number {
  const { pagination } = meta as { pagination?: { total_count?: number } };
  return pagination?.total_count ?? data.length;
}

async function headOf(signal: AbortSignal): Promise<{ readonly at: string | null; readonly sequence: number }> {
  return (await read("/api/v1/ledger").load(signal)).data;
}

/**
 * Reads windows of a present list without a timestamp as long as the ledger is unchanged, since last-seen times exist
 * only for now. After a write, reads them at the timestamp of the list's start.
 */
async function loadWindows<Row>(
  windowOf: WindowRead<Row>,
  { at, sequence }: Pin,
  { first, windows }: WindowRun,
  own: Asking,
): Promise<Answered<readonly Row[], unknown>> {
  const { signal } = own.abort;
  const window = { limit: windows * WINDOW_ROWS, offset: first * WINDOW_ROWS };
  if (sequence !== null && !own.isLeftBehind) {
    const live = await windowOf(window).load(signal);
    if ((await headOf(signal)).sequence === sequence) return live;
    own.isLeftBehind = true;
  }
  return windowOf(at === null ? window : { ...window, at }).load(signal);
}
