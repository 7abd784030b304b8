// List of any length, loaded in windows of rows at a single timestamp, so that writes during scrolling neither shift
// nor repeat rows. Without a timestamp in the URL, uses that of the newest transaction.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { asRefusal, isAborted, type Read, type ResponseData, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { useStaleMark } from "../api/stale.ts";
import { nextRun, type RowRange, WINDOW_ROWS, type WindowRun, windowsToDrop } from "./rows-window.ts";

/** Reads rows from an offset: one window, or several adjacent ones. */
export type WindowRead<Row> = (window: {
  readonly at?: string | undefined;
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
  /** Row at an index; undefined while its window is loading. */
  rowAt(index: number): Row | undefined;
  /** Requests missing rows in view, then reads ahead. @param speed rows per second of scrolling; negative upwards */
  requestRows(rendered: RowRange, speed: number): void;
  readonly problem: Refusal | undefined;
  /** Whether the rows still belong to the previous list. */
  readonly isEarlier: boolean;
  /** Reloads the list; without a timestamp in the URL, as of the newest transaction. */
  retry(): void;
}

/** Ledger state that all windows of a list share. */
interface Pin {
  /** Null for an empty ledger. */
  readonly at: string | null;
  /** Ledger sequence when a list of current records was first read; null for a list of the past. */
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

/** Maximum parallel requests: a low limit keeps requests near the visible rows during fast scrolling. */
const REQUESTS_MAX = 2;

/** Request state of one list. */
class ListRequests {
  readonly abort = new AbortController();
  /** Numbers of windows that are loaded, loading or failed. */
  readonly requested = new Set([0]);
  /** Rows in view, and scrolling speed. */
  rendered: RowRange = { first: 0, end: 0 };
  speed = 0;
  loading = 0;
  /** Whether the ledger has changed since a list of current records was first read. */
  hasLedgerChanged = false;
}

/**
 * @param name identity of the list; a new name loads another list, and the previous one stays until it is loaded
 * @param at timestamp of the URL; null for now
 */
export function useLongList<Row>(name: string, at: string | null, windowOf: WindowRead<Row>): LongList<Row> {
  const [loaded, setLoaded] = useState<Loaded<Row> | null>(null);
  const [problem, setProblem] = useState<Refusal | undefined>(undefined);
  const [revision, setRevision] = useState(0);
  const requestState = useRef(new ListRequests());
  const fullName = `${name} ${at} ${revision}`;

  // A layout effect sends the request one frame earlier.
  useLayoutEffect(() => {
    const requests = new ListRequests();
    requestState.current = requests;
    setProblem(undefined);
    const loadFirst = async () => {
      const { signal } = requests.abort;
      const pin = at === null ? await headOf(signal) : { at, sequence: null };
      const first = await loadWindows(windowOf, pin, { first: 0, windows: 1 }, requests);
      const windows = new Map([[0, first.data]]);
      setLoaded({ name: fullName, instant: at, pin, count: countOf(first), meta: first.meta, windows });
    };
    loadFirst().catch((cause: unknown) => {
      if (isAborted(cause)) return;
      setProblem(asRefusal(cause));
      // Drops rows of another timestamp.
      setLoaded((last) => (last?.instant === at ? last : null));
    });
    return () => requests.abort.abort();
  }, [fullName]);

  const requestRows = (rendered: RowRange, speed: number) => {
    if (loaded === null || loaded.name !== fullName) return;
    const requests = requestState.current;
    requests.rendered = rendered;
    requests.speed = speed;
    const requestNext = () => {
      if (requests.loading === REQUESTS_MAX || requests.abort.signal.aborted) return;
      const run = nextRun(requests.rendered, requests.speed, loaded.count, (window) => requests.requested.has(window));
      if (run === null) return;
      // A failed window stays marked, so that it is not retried until the user asks.
      const numbers = Array.from({ length: run.windows }, (_, index) => run.first + index);
      for (const number of numbers) requests.requested.add(number);
      requests.loading += 1;
      loadWindows(windowOf, loaded.pin, run, requests)
        .then(({ data }) => {
          const rowsOf = (number: number) => {
            const start = (number - run.first) * WINDOW_ROWS;
            return data.slice(start, start + WINDOW_ROWS);
          };
          setLoaded((last) => {
            if (last?.name !== fullName) return last;
            const windows = new Map([...last.windows, ...numbers.map((number) => [number, rowsOf(number)] as const)]);
            for (const number of windowsToDrop(windows.keys(), requests.rendered)) {
              windows.delete(number);
              requests.requested.delete(number);
            }
            return { ...last, windows };
          });
        })
        .catch((cause: unknown) => {
          if (!isAborted(cause)) setProblem(asRefusal(cause));
        })
        .finally(() => {
          requests.loading -= 1;
          requestNext();
        });
      requestNext();
    };
    requestNext();
  };
  const isEarlier = loaded !== null && loaded.name !== fullName;
  useStaleMark(isEarlier && problem === undefined);
  return {
    count: loaded?.count,
    meta: loaded?.meta,
    at: loaded?.pin.at ?? null,
    rowAt: (index) => loaded?.windows.get(Math.floor(index / WINDOW_ROWS))?.[index % WINDOW_ROWS],
    requestRows,
    problem,
    isEarlier,
    retry: () => setRevision((last) => last + 1),
  };
}

function countOf({ data, meta }: ResponseData<readonly unknown[], unknown>): number {
  const { pagination } = meta as { pagination?: { total_count?: number } };
  return pagination?.total_count ?? data.length;
}

async function headOf(signal: AbortSignal): Promise<{ readonly at: string | null; readonly sequence: number }> {
  return (await read("/api/v1/ledger").load(signal)).data;
}

/**
 * Reads windows of current records without a timestamp while the ledger is unchanged, since last-seen times exist only
 * for now. After a write, reads them at the timestamp of the first window.
 */
async function loadWindows<Row>(
  windowOf: WindowRead<Row>,
  { at, sequence }: Pin,
  { first, windows }: WindowRun,
  requests: ListRequests,
): Promise<ResponseData<readonly Row[], unknown>> {
  const { signal } = requests.abort;
  const window = { limit: windows * WINDOW_ROWS, offset: first * WINDOW_ROWS };
  if (sequence !== null && !requests.hasLedgerChanged) {
    const live = await windowOf(window).load(signal);
    if ((await headOf(signal)).sequence === sequence) return live;
    requests.hasLedgerChanged = true;
  }
  return windowOf(at === null ? window : { ...window, at }).load(signal);
}
