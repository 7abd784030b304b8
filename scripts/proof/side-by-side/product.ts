// What is compared: the same inventory behind three HTTP servers, each asked in its own words. Knows none of them.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Entry, Version } from "./rows.ts";

/** One thing that a client wants, as the requests that it takes: all are sent, one after the other, again and again. */
export interface Operation {
  readonly requests: (i: number) => Uint8Array;
  /** How many of them make one operation. */
  readonly each: number;
}

/** Which page of a network. */
export interface PagePlace {
  readonly networkId: string;
  readonly offset: number;
}

/** A page as every product has to answer it: the values alone, whatever their spelling. */
export interface PageSeen {
  readonly total: number;
  /** Records in the order of their creation, as normalRecord() makes them. */
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface BulkHost {
  readonly network_id: string;
  readonly name: string;
  readonly interfaces: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface Product {
  readonly name: string;
  /** Where it listens while it runs. */
  readonly port: number;
  /** Its processes; of each the children count as well. */
  readonly pids: readonly number[];
  /** Loads the rows, unless they are there. Not running before or afterwards. */
  load(versions: () => Iterable<Version>): Promise<void>;
  /** @returns milliseconds from the start of the first process to the first page that is answered */
  start(): Promise<number>;
  stop(): Promise<void>;
  /** The first page of all, again and again. */
  livePage(): Operation;
  /** One page after the other, no two in a row the same. */
  livePages(places: readonly PagePlace[]): Operation;
  /** A page of a network at one instant after the other. */
  asOfPage(networkId: string, instants: readonly string[]): Promise<Operation>;
  count(): Operation;
  /** One durable change of one entry after the other. */
  update(ids: readonly Entry[]): Operation;
  /** Creates the hosts with their entries, by the best way that it has. */
  bulk(hosts: readonly BulkHost[]): Promise<void>;
  /** @returns how many entries it told as changed */
  diff(from: string, to: string): Promise<number>;
  /** @param at null for the present; @param networkId null for all that the caller sees */
  page(networkId: string | null, at: string | null): Promise<PageSeen>;
  /** Rows, history and indexes on the disk, in megabytes; logs of the database apart. */
  diskMb(): Promise<number>;
}

export const PAGE_ROWS = 50;

/** The two fields that every update writes; each time other values, since equal ones would cost nothing. */
export function updatedFields(i: number): { oper_status: string; if_alias: string } {
  return { oper_status: i % 2 === 0 ? "Testing" : "Dormant", if_alias: `uplink, moved ${i} times` };
}

/** A value for each field that has one; instants as numbers. @param without fields that this product has no word for */
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

/** Visits the items in no order, always the same one: runs are alike, neighbors are not. */
export function pick<T>(items: readonly T[], i: number): T {
  return items[(i * 7919) % items.length] as T;
}

/** Asks until the answer is one of success; for whoever waits for a start. */
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
