// Interface of the compared products: the same inventory behind three HTTP servers, each with its own requests. Must
// not know any of them.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Entry, Version } from "./rows.ts";

/** A client operation as its requests: all are sent in sequence, repeatedly. */
export interface Operation {
  readonly requests: (i: number) => Uint8Array;
  /** Number of requests per operation. */
  readonly each: number;
}

/** A page of a network. */
export interface PagePlace {
  readonly networkId: string;
  readonly offset: number;
}

/** Expected page of every product: the values, independent of their notation. */
export interface PageSeen {
  readonly total: number;
  /** Records in creation order, normalized by normalRecord(). */
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface BulkHost {
  readonly network_id: string;
  readonly name: string;
  readonly interfaces: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface Product {
  readonly name: string;
  /** Port while it runs. */
  readonly port: number;
  /** Its processes; their children count as well. */
  readonly pids: readonly number[];
  /** Loads the rows, unless they exist. Not running before or afterwards. */
  load(versions: () => Iterable<Version>): Promise<void>;
  /** @returns milliseconds from the start of the first process to the first answered page */
  start(): Promise<number>;
  stop(): Promise<void>;
  /** The overall first page, repeatedly. */
  livePage(): Operation;
  /** Pages in sequence, never the same one twice in a row. */
  livePages(places: readonly PagePlace[]): Operation;
  /** A page of a network at varying timestamps. */
  asOfPage(networkId: string, instants: readonly string[]): Promise<Operation>;
  count(): Operation;
  /** Durable changes of single entries, in sequence. */
  update(ids: readonly Entry[]): Operation;
  /** Creates the hosts with their entries, by the product's best method. */
  bulk(hosts: readonly BulkHost[]): Promise<void>;
  /** @returns number of entries reported as changed */
  diff(from: string, to: string): Promise<number>;
  /** @param at null for the present; @param networkId null for all visible networks */
  page(networkId: string | null, at: string | null): Promise<PageSeen>;
  /** Rows, history and indexes on disk, in megabytes, without database logs. */
  diskMb(): Promise<number>;
}

export const PAGE_ROWS = 50;

/** The two fields of every update, always with new values, since an update without a change would cost nothing. */
export function updatedFields(i: number): { oper_status: string; if_alias: string } {
  return { oper_status: i % 2 === 0 ? "Testing" : "Dormant", if_alias: `uplink, moved ${i} times` };
}

/** Fields with a value; timestamps as numbers. @param without fields that this product lacks */
export function normalRecord(
  record: Readonly<Record<string, unknown>>,
  without: readonly string[] = [],
): Record<string, unknown> {
  const names = Object.keys(record).filter(
    (name) => record[name] !== null && record[name] !== undefined && !without.includes(name),
  );
  return Object.fromEntries(
    names.sort().map((name) => [name, /_(at|from|to)$/.test(name) ? Date.parse(String(record[name])) : record[name]]),
  );
}

/** Selects items in a fixed pseudo-random order: equal in every run, without neighbors in sequence. */
export function pick<T>(items: readonly T[], i: number): T {
  return items[(i * 7919) % items.length] as T;
}

/** Polls until the first success, after a start. */
export async function firstAnswerMs(
  began: number,
  url: string,
  headers: Record<string, string>,
  hasEnded: () => string | null,
): Promise<number> {
  for (;;) {
    const answer = await fetch(url, { headers }).catch(() => null);
    if (answer?.ok) {
      await answer.bytes();
      return performance.now() - began;
    }
    const end = hasEnded();
    if (end !== null) throw new Error(end);
    if (performance.now() - began > HANG_MS)
      throw new Error(
        `${url} did not answer in ${HANG_MS / 1000} s${answer === null ? "" : `: ${answer.status} ${(await answer.text()).slice(0, 300)}`}`,
      );
    await answer?.bytes().catch(() => null);
    await Bun.sleep(2);
  }
}
