// A list of any length as windows of rows, all of one instant: what is written while one scrolls neither shifts a row
// nor shows one twice. Without an instant in the address it is that of the ledger's newest transaction.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Answered, asRefusal, isAborted, type Read, read } from "../api/client.ts";
import { useHeld } from "../api/held.ts";
import type { Refusal } from "../api/refusal.ts";
import { nextRun, type RowRange, WINDOW_ROWS, type WindowRun, windowsToForget } from "./rows-window.ts";

/** Rows from an offset: those of one window, or of several beside each other. */
export type WindowRead<Row> = (window: {
  readonly at?: string;
  readonly limit: number;
  readonly offset: number;
}) => Read<readonly Row[]>;

export interface LongList<Row> {
  /** Undefined until the first window is there. */
  readonly count: number | undefined;
  /** `meta` of the first window. */
  readonly meta: unknown;
  /** The instant that all rows are of. */
  readonly at: string | null;
  /** Undefined while its window is not there yet. */
  rowAt(index: number): Row | undefined;
  /**
   * Asks for rows that are drawn and not there, and ahead of them for those that come next.
   * @param speed of the scrolling, in rows a second; less than 0 upwards
   */
  want(drawn: RowRange, speed: number): void;
  readonly problem: Refusal | undefined;
  /** Whether the rows are still those of the list that was asked for before. */
  readonly isEarlier: boolean;
  /** Asks for all anew, of the newest instant where the address says none. */
  again(): void;
}

/** What all windows of a list are of. */
interface Pin {
  /** Null while there is no transaction at all. */
  readonly at: string | null;
  /** Of the ledger when the list of now began; null for a list of the past. */
  readonly sequence: number | null;
}

interface Loaded<Row> {
  /** Of what list: the address of its first window without its instant. */
  readonly name: string;
  /** As the address had it; null for now. */
  readonly instant: string | null;
  readonly pin: Pin;
  readonly count: number;
  readonly meta: unknown;
  readonly windows: ReadonlyMap<number, readonly Row[]>;
}

/** One who scrolls fast passes many windows: what is asked for next is what is seen by the time that these are there. */
const REQUESTS_AT_ONCE = 2;

/** What is asked for of one list. */
interface Asking {
  readonly abort: AbortController;
  /** Numbers of windows that are there, are on their way, or have failed. */
  readonly asked: Set<number>;
  /** What is drawn, and how fast one scrolls. */
  drawn: RowRange;
  speed: number;
  loading: number;
  /** Whether something was written since a list of now began. */
  isLeftBehind: boolean;
}

function newAsking(): Asking {
  const drawn = { first: 0, end: 0 };
  return { abort: new AbortController(), asked: new Set(), drawn, speed: 0, loading: 0, isLeftBehind: false };
}

/**
 * @param name tells this list from others: another name loads another list, and shows this one until that is there
 * @param at of the address; null for now
 */
export function useLongList<Row>(name: string, at: string | null, windowOf: WindowRead<Row>): LongList<Row> {
  const [loaded, setLoaded] = useState<Loaded<Row> | null>(null);
  const [problem, setProblem] = useState<Refusal | undefined>(undefined);
  const [turn, setTurn] = useState(0);
  const asking = useRef<Asking>(newAsking());
  const full = `${name} ${at} ${turn}`;

  // Not once it is painted: what is asked for a frame earlier is there a frame earlier.
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
      // Rows of another instant are no answer to this one.
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
      // What failed is not asked for again before somebody wants to.
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
 * Windows of a list of now are read without an instant while nothing was written since the list began: when something
 * was last seen is known of now alone. Once something was, they are read as of then.
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
