// Common interface of the compared products: the same inventory behind three HTTP servers, each with its own requests.
// Independent of any product.

import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Entry, Version } from "./rows.ts";

/** Requests of a client operation, which are sent in sequence, repeatedly. */
export interface Operation {
  readonly requests: (i: number) => Uint8Array;
  /** Number of requests per operation. */
  readonly requestCount: number;
}

/** Position of a page in the list of a network. */
export interface PagePosition {
  readonly networkId: string;
  readonly offset: number;
}

/** Page in the form that all products must agree on: the values, independent of their notation. */
export interface ProductPage {
  readonly total: number;
  /** Records in creation order, normalized by normalizeRecord(). */
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface BulkHost {
  readonly network_id: string;
  readonly name: string;
  readonly interfaces: ReadonlyArray<Readonly<Record<string, unknown>>>;
}

export interface Product {
  readonly name: string;
  /** Port while the product runs. */
  readonly port: number;
  /** Processes of the product; their children count as well. */
  readonly pids: readonly number[];
  /** Loads the rows, unless they exist. The product is not running before or afterwards. */
  load(versions: () => Iterable<Version>): Promise<void>;
  /** Starts the product. @returns milliseconds from the start of the first process to the first served page */
  start(): Promise<number>;
  stop(): Promise<void>;
  /** Reads the first page over all networks, again and again. */
  livePage(): Operation;
  /** Reads pages in sequence, never the same one twice in a row. */
  livePages(positions: readonly PagePosition[]): Operation;
  /** Reads a page of a network at varying timestamps. */
  asOfPage(networkId: string, instants: readonly string[]): Promise<Operation>;
  count(): Operation;
  /** Changes single entries durably, one after another. */
  update(ids: readonly Entry[]): Operation;
  /** Creates the hosts with their entries, by the product's best method. */
  bulk(hosts: readonly BulkHost[]): Promise<void>;
  /** Requests a diff. @returns number of entries reported as changed */
  diff(from: string, to: string): Promise<number>;
  /** @param networkId null for all visible networks @param at null for the current state */
  page(networkId: string | null, at: string | null): Promise<ProductPage>;
  /** Measures rows, history and indexes on disk, in megabytes, without database logs. */
  diskMb(): Promise<number>;
}

export const PAGE_ROWS = 50;

/** Two fields of an update, always with new values: an update that changes nothing would cost nothing. */
export function updatedFields(i: number): { oper_status: string; if_alias: string } {
  return { oper_status: i % 2 === 0 ? "Testing" : "Dormant", if_alias: `uplink, moved ${i} times` };
}

/** Selects the fields with a value, with timestamps as numbers. @param lacking fields that the product lacks */
export function normalizeRecord(
  record: Readonly<Record<string, unknown>>,
  lacking: readonly string[] = [],
): Record<string, unknown> {
  const names = Object.keys(record).filter(
    (name) => record[name] !== null && record[name] !== undefined && !lacking.includes(name),
  );
  return Object.fromEntries(
    names.sort().map((name) => [name, /_(at|from|to)$/.test(name) ? Date.parse(String(record[name])) : record[name]]),
  );
}

/** Selects items in a fixed pseudo-random order: equal in every run, without neighbors in sequence. */
export function pick<T>(items: readonly T[], i: number): T {
  return items[(i * 7919) % items.length] as T;
}

/** Polls a starting product until the first success. @param exitProblem returns the problem if it has exited */
export async function firstResponseMs(
  startedAt: number,
  url: string,
  headers: Record<string, string>,
  exitProblem: () => string | null,
): Promise<number> {
  for (;;) {
    const response = await fetch(url, { headers }).catch(() => null);
    if (response?.ok) {
      await response.bytes();
      return performance.now() - startedAt;
    }
    const problem = exitProblem();
    if (problem !== null) throw new Error(problem);
    if (performance.now() - startedAt > HANG_MS)
      throw new Error(
        `${url} did not respond within ${HANG_MS / 1000} s${response === null ? "" : `: ${response.status} ${(await response.text()).slice(0, 300)}`}`,
      );
    await response?.bytes().catch(() => null);
    await Bun.sleep(2);
  }
}
