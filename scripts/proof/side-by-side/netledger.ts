// netledger in the comparison: the compiled executable on its own store.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../benchmark/executable.ts";
import { ApiServer } from "./base-servers.ts";
import { firstResponseMs, type Operation, PAGE_ROWS, type PagePosition, type Product, pick } from "./product.ts";
import type { Rows } from "./rows.ts";

export class Netledger extends ApiServer implements Product {
  readonly name = "netledger";
  private readonly executable: string;
  private readonly rows: Rows;
  protected readonly headers: Record<string, string>;
  private child: Bun.Subprocess | null = null;

  constructor(executable: string, rows: Rows) {
    super();
    this.executable = executable;
    this.rows = rows;
    this.headers = { authorization: `Bearer ${rows.store.key}` };
  }

  get pids(): readonly number[] {
    return this.child === null ? [] : [this.child.pid];
  }

  /** Nothing to load: the rows originate here. */
  async load(): Promise<void> {}

  async start(): Promise<number> {
    this.port = await freePort();
    const log = join(this.rows.store.directory, "side-by-side.log");
    const started = performance.now();
    const child = Bun.spawn(
      [this.executable, "serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.rows.store.directory],
      { stdin: "ignore", stdout: "ignore", stderr: Bun.file(log) },
    );
    this.child = child;
    return firstResponseMs(started, this.url(this.pagePath(null, null)), this.headers, () =>
      child.exitCode === null ? null : "netledger exited during its start",
    );
  }

  async stop(): Promise<void> {
    this.child?.kill("SIGTERM");
    await this.child?.exited;
    this.child = null;
  }

  livePage(): Operation {
    return this.getOperation(() => this.pagePath(null, null));
  }

  livePages(positions: readonly PagePosition[]): Operation {
    return this.pagesOperation(positions, (networkId) => this.pagePath(networkId, null));
  }

  async asOfPage(networkId: string, instants: readonly string[]): Promise<Operation> {
    return this.getOperation((i) => this.pagePath(networkId, pick(instants, i)));
  }

  count(): Operation {
    return this.getOperation(() => "/api/v1/if-entries?limit=1");
  }

  /** To be called while netledger is stopped, so that the log is checkpointed. */
  async diskMb(): Promise<number> {
    const files = readdirSync(this.rows.store.directory).filter((name) => name.startsWith("netledger.db"));
    return files.reduce((sum, name) => sum + statSync(join(this.rows.store.directory, name)).size, 0) / 1e6;
  }

  protected pagePath(networkId: string | null, at: string | null): string {
    return `/api/v1/if-entries?limit=${PAGE_ROWS}${networkId === null ? "" : `&network_id=${networkId}`}${at === null ? "" : `&at=${at}`}`;
  }
}
