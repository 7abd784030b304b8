// The appliance in the comparison: the compiled executable on its own store.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { requestBytes } from "../../benchmark/load.ts";
import {
  firstAnswerMs,
  freePort,
  normalRecord,
  PAGE_ROWS,
  pick,
  updatedFields,
  type BulkHost,
  type Entry,
  type Operation,
  type PagePlace,
  type PageSeen,
  type Product,
} from "./product.ts";
import type { Rows } from "./rows.ts";

export class Netledger implements Product {
  readonly name = "netledger";
  port = 0;
  private readonly executable: string;
  private readonly rows: Rows;
  private readonly headers: Record<string, string>;
  private child: Bun.Subprocess | null = null;
  private updates = 0;

  constructor(executable: string, rows: Rows) {
    this.executable = executable;
    this.rows = rows;
    this.headers = { authorization: `Bearer ${rows.store.key}` };
  }

  get pids(): readonly number[] {
    return this.child === null ? [] : [this.child.pid];
  }

  /** The rows come from it. */
  async load(): Promise<void> {}

  async start(): Promise<number> {
    this.port = await freePort();
    const log = join(this.rows.store.directory, "side-by-side.log");
    const began = performance.now();
    const child = Bun.spawn(
      [this.executable, "serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.rows.store.directory],
      { stdin: "ignore", stdout: "ignore", stderr: Bun.file(log) },
    );
    this.child = child;
    return firstAnswerMs(began, this.url(null, null), this.headers, () =>
      child.exitCode === null ? null : "netledger ended while it started",
    );
  }

  async stop(): Promise<void> {
    this.child?.kill("SIGTERM");
    await this.child?.exited;
    this.child = null;
  }

  livePage(): Operation {
    return this.get(() => this.path(null, null));
  }

  livePages(places: readonly PagePlace[]): Operation {
    return this.get((i) => {
      const { networkId, offset } = pick(places, i);
      return `${this.path(networkId, null)}&offset=${offset}`;
    });
  }

  async asOfPage(networkId: string, instants: readonly string[]): Promise<Operation> {
    return this.get((i) => this.path(networkId, pick(instants, i)));
  }

  count(): Operation {
    return this.get(() => "/api/v1/if-entries?limit=1");
  }

  update(entries: readonly Entry[]): Operation {
    return {
      each: 1,
      requests: () => {
        const i = (this.updates += 1);
        const { id, if_index, if_descr } = entries[i % entries.length] as Entry;
        return requestBytes(
          "PUT",
          `/api/v1/if-entries/${id}`,
          this.headers,
          JSON.stringify({ if_index, if_descr, ...updatedFields(i) }),
        );
      },
    };
  }

  async bulk(hosts: readonly BulkHost[]): Promise<void> {
    await this.ask("/api/v1/hosts/bulk", {
      method: "POST",
      headers: { ...this.headers, "content-type": "application/json" },
      body: JSON.stringify(hosts),
    });
  }

  async diff(from: string, to: string): Promise<number> {
    const { data } = (await this.ask(`/api/v1/diff?from=${from}&to=${to}&types=if_entry`, {
      headers: this.headers,
    })) as { data: { changed: unknown[] } };
    return data.changed.length;
  }

  async page(networkId: string | null, at: string | null): Promise<PageSeen> {
    const { data, meta } = (await this.ask(this.path(networkId, at), { headers: this.headers })) as {
      data: Array<Record<string, unknown>>;
      meta: { pagination: { total_count: number } };
    };
    return { total: meta.pagination.total_count, records: data.map((record) => normalRecord(record)) };
  }

  /** Stopped, so that the log is written back. */
  async diskMb(): Promise<number> {
    const files = readdirSync(this.rows.store.directory).filter((name) => name.startsWith("netledger.db"));
    return files.reduce((sum, name) => sum + statSync(join(this.rows.store.directory, name)).size, 0) / 1e6;
  }

  private get(path: (i: number) => string): Operation {
    return { each: 1, requests: (i) => requestBytes("GET", path(i), this.headers) };
  }

  private path(networkId: string | null, at: string | null): string {
    return `/api/v1/if-entries?limit=${PAGE_ROWS}${networkId === null ? "" : `&network_id=${networkId}`}${at === null ? "" : `&at=${at}`}`;
  }

  private url(networkId: string | null, at: string | null): string {
    return `http://127.0.0.1:${this.port}${this.path(networkId, at)}`;
  }

  private async ask(path: string, init: RequestInit): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, init);
    if (!answer.ok) throw new Error(`netledger answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    return answer.json();
  }
}
