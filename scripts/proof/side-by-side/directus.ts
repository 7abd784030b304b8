// Directus in the comparison: a generic REST layer over SQLite, with revisions enabled, queried as its users would.

import { Database } from "bun:sqlite";
import { cpSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../benchmark/executable.ts";
import { requestBytes } from "../../benchmark/load.ts";
import { ComparedServer } from "./base-servers.ts";
import type { InstalledDirectus } from "./directus-install.ts";
import {
  type BulkHost,
  firstResponseMs,
  normalizeRecord,
  type Operation,
  PAGE_ROWS,
  type PagePosition,
  type Product,
  type ProductPage,
  pick,
} from "./product.ts";
import { loadProduct } from "./rounds.ts";
import type { Entry, Rows, Version } from "./rows.ts";

const TOKEN = "side-by-side-static-token-of-the-administrator";
const COLUMNS = `network_id:uuid host_id:uuid if_index:integer if_type:integer speed_bps:bigInteger created_at:timestamp
  updated_at:timestamp last_seen_at:timestamp first_discovery_id:uuid last_discovery_id:uuid mac_address:string
  admin_status:string oper_status:string if_descr:string if_name:string if_alias:string lldp_chassis_id:json
  lldp_port_id:json lldp_sys_name:string lldp_port_desc:string`;
const TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  COLUMNS.split(/\s+/).map((column) => column.split(":")),
);
const NAMES = Object.keys(TYPES);
/** Version of the data that setUp() creates. */
const SHAPE = 1;
/** Fields that Directus lacks: the bounds of a version are those of revisions, which no list returns. */
const MISSING_FIELDS = ["valid_from", "valid_to"];
/** Number of timestamps for past reads: the client must know the newest revisions at each of them. */
const INSTANTS = 24;

/** Methods by which a client builds a past page from revisions. */
type Method = "all revisions" | "newest revisions";

export class Directus extends ComparedServer implements Product {
  readonly name: string;
  /** Faster method by network. */
  readonly chosen: Record<string, Method> = {};
  private readonly directory: string;
  private readonly installed: InstalledDirectus;
  private readonly rows: Rows;
  private readonly connections: number;
  protected readonly headers = { authorization: `Bearer ${TOKEN}` };
  private readonly operations = new Map<string, Operation>();
  private child: Bun.Subprocess | null = null;

  constructor(installed: InstalledDirectus, directory: string, rows: Rows, connections: number) {
    super();
    this.installed = installed;
    this.name = `Directus ${installed.version.split(".")[0]}`;
    this.directory = join(directory, "directus");
    this.rows = rows;
    this.connections = connections;
  }

  get pids(): readonly number[] {
    return this.child === null ? [] : [this.child.pid];
  }

  async load(versions: () => Iterable<Version>): Promise<void> {
    mkdirSync(join(this.directory, "extensions"), { recursive: true });
    mkdirSync(join(this.directory, "uploads"));
    // Cached: the empty database with two collections is always the same, and takes a quarter of a minute to create.
    const { folder, version } = this.installed;
    const hash = Bun.hash([version, SHAPE, JSON.stringify(TYPES)].join()).toString(16);
    const template = join(folder, `empty-${hash}.db`);
    if (!existsSync(template)) {
      await this.setUp();
      cpSync(this.database(), template);
    } else cpSync(template, this.database());
    this.insert(versions);
  }

  private async setUp(): Promise<void> {
    const bootstrap = Bun.spawn([this.installed.node, this.installed.cli, "bootstrap"], {
      cwd: this.directory,
      env: this.environment(),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const [errors, code] = await Promise.all([bootstrap.stderr.text(), bootstrap.exited]);
    if (code !== 0) throw new Error(`Directus could not be set up: ${errors.slice(-500)}`);
    await this.launch("/server/ping");
    try {
      const field = (name: string, type: string) => ({
        field: name,
        type,
        schema: name.endsWith("_id") ? { is_indexed: name === "network_id" || name === "host_id" } : {},
        meta: type === "json" ? { special: ["cast-json"] } : {},
      });
      const key = { schema: { is_primary_key: true, length: 36 }, meta: { special: ["uuid"] } };
      const create = (collection: string, fields: readonly object[]) => {
        const allFields = [{ field: "id", type: "uuid", ...key }, ...fields];
        const meta = { accountability: "all" };
        return this.request("POST", "/collections", { collection, schema: {}, meta, fields: allFields });
      };
      await create("hosts", [field("network_id", "uuid"), field("name", "string")]);
      await create(
        "if_entries",
        NAMES.map((name) => field(name, TYPES[name] as string)),
      );
    } finally {
      await this.stop();
    }
  }

  async start(): Promise<number> {
    return this.launch(livePath());
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child === null) return;
    child.kill("SIGTERM");
    // Killed after a timeout: Directus sometimes waits for its schedules, and nothing here depends on its exit.
    const timeout = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
    await child.exited;
    clearTimeout(timeout);
    this.child = null;
  }

  livePage(): Operation {
    return this.getOperation(() => livePath());
  }

  livePages(positions: readonly PagePosition[]): Operation {
    return this.pagesOperation(positions, livePath);
  }

  /** @param instants timestamps, of which only a few are used */
  async asOfPage(networkId: string, instants: readonly string[]): Promise<Operation> {
    return this.pastOperation(networkId, instants, this.chosen[networkId] ?? "newest revisions");
  }

  count(): Operation {
    return this.getOperation(() => "/items/if_entries?limit=1&meta=filter_count");
  }

  /** Tries both methods of reading the past, and selects the faster one for each network. */
  async choose(instants: readonly string[], seconds: number): Promise<void> {
    for (const { networkId } of this.rows.depths) {
      const rates = new Map<Method, number>();
      for (const method of ["all revisions", "newest revisions"] as const) {
        const operation = await this.pastOperation(networkId, instants, method);
        const { requestsPerSecond } = await loadProduct(this, operation, seconds, this.connections);
        rates.set(method, requestsPerSecond / operation.requestCount);
      }
      this.chosen[networkId] =
        (rates.get("all revisions") ?? 0) > (rates.get("newest revisions") ?? 0) ? "all revisions" : "newest revisions";
    }
  }

  update(entries: readonly Entry[]): Operation {
    return this.updateOperation("PATCH", "/items/if_entries", entries, () => ({
      updated_at: new Date().toISOString(),
    }));
  }

  /** Sends two requests: hosts and entries are separate collections, and each batch of items is one transaction. */
  async bulk(hosts: readonly BulkHost[]): Promise<void> {
    const now = new Date().toISOString();
    const ids = hosts.map(() => Bun.randomUUIDv7());
    const items = hosts.map(({ name, network_id }, i) => ({ id: ids[i], name, network_id }));
    await this.request("POST", "/items/hosts?fields=id", items);
    const entries = hosts.flatMap(({ network_id, interfaces }, i) => {
      const fields = { host_id: ids[i], network_id, created_at: now, updated_at: now };
      return interfaces.map((entry) => ({ ...entry, id: Bun.randomUUIDv7(), ...fields }));
    });
    await this.request("POST", "/items/if_entries?fields=id", entries);
  }

  /**
   * Reads the changes between two timestamps. Revisions do not contain the earlier values, which would take as many
   * requests again.
   */
  async diff(from: string, to: string): Promise<number> {
    const filter = `filter[collection][_eq]=if_entries&filter[activity][timestamp][_gt]=${from}&filter[activity][timestamp][_lte]=${to}`;
    const path = `/revisions?limit=-1&fields=item,delta,activity.timestamp,activity.user&sort=id&${filter}`;
    const revisions = await this.request<{ data: Array<{ item: string }> }>("GET", path);
    return new Set(revisions.data.map(({ item }) => item)).size;
  }

  async page(networkId: string | null, at: string | null): Promise<ProductPage> {
    type Live = { data: Array<Record<string, unknown>>; meta: { filter_count: number } };
    type Revisions = { data: Array<{ item: string; data: Record<string, unknown> }> };
    const live = await this.request<Live>("GET", livePath(networkId));
    const total = live.meta.filter_count;
    if (at === null) return { total, records: live.data.map((record) => normalizeRecord(record, MISSING_FIELDS)) };
    const ids = live.data.map(({ id }) => id as string);
    const revisions = await this.request<Revisions>("GET", newestPath(await this.newestRevisions(ids, at)));
    const byItem = new Map(revisions.data.map(({ item, data }) => [item, data]));
    // The other method must give the same result.
    const all = await this.request<Revisions>("GET", allPath(ids, at));
    for (const id of ids)
      if (!Bun.deepEquals(all.data.find(({ item }) => item === id)?.data, byItem.get(id)))
        throw new Error("the two methods of reading the past from Directus differ");
    return { total, records: ids.map((id) => normalizeRecord(byItem.get(id) ?? {}, MISSING_FIELDS)) };
  }

  /** To be called while Directus is stopped, so that the log is checkpointed. */
  async diskMb(): Promise<number> {
    return statSync(this.database()).size / 1e6;
  }

  private database(): string {
    return join(this.directory, "data.db");
  }

  /**
   * Requests of a past page, in sequence: first the current page, since no Directus list supports timestamps (it would
   * lack records deleted since, but there are none). Then either all revisions of its items up to the timestamp, of
   * which the newest is each item's state; or the numbers of the newest revisions, and then those revisions.
   */
  private async pastOperation(networkId: string, instants: readonly string[], method: Method): Promise<Operation> {
    const name = `${networkId} ${method}`;
    const operation = this.operations.get(name) ?? (await this.makePastOperation(networkId, instants, method));
    this.operations.set(name, operation);
    return operation;
  }

  private async makePastOperation(networkId: string, instants: readonly string[], method: Method): Promise<Operation> {
    const live = await this.request<{ data: Array<{ id: string }> }>("GET", livePath(networkId));
    const ids = live.data.map(({ id }) => id);
    const list = this.getBytes(livePath(networkId));
    const sampledInstants = Array.from({ length: INSTANTS }, (_, i) => pick(instants, i));
    if (method === "all revisions") {
      const all = sampledInstants.map((at) => this.getBytes(allPath(ids, at)));
      return { requestCount: 2, requests: (i) => (i % 2 === 0 ? list : (all[(i >> 1) % INSTANTS] as Uint8Array)) };
    }
    // What the client computes from the second response is precomputed: the client's work is not measured.
    const steps: Uint8Array[][] = [];
    for (const at of sampledInstants) {
      const newest = this.getBytes(newestPath(await this.newestRevisions(ids, at)));
      steps.push([list, this.getBytes(numbersPath(ids, at)), newest]);
    }
    return {
      requestCount: 3,
      requests: (i) => (steps[Math.floor(i / 3) % INSTANTS] as Uint8Array[])[i % 3] as Uint8Array,
    };
  }

  private async newestRevisions(ids: readonly string[], at: string): Promise<number[]> {
    const response = await this.request<{ data: Array<{ max: { id: number } }> }>("GET", numbersPath(ids, at));
    return response.data.map(({ max }) => max.id);
  }

  private getBytes(path: string): Uint8Array {
    return requestBytes("GET", path, this.headers);
  }

  private async launch(path: string): Promise<number> {
    this.port = await freePort();
    const started = performance.now();
    const child = Bun.spawn([this.installed.node, this.installed.cli, "start"], {
      cwd: this.directory,
      env: this.environment(),
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(this.directory, "directus.log")),
    });
    this.child = child;
    return firstResponseMs(started, this.url(path), this.headers, () =>
      child.exitCode === null ? null : "Directus exited during its start",
    );
  }

  /** Environment with documented settings, which disable pure overhead and all contact with the outside. */
  private environment(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? "",
      NODE_ENV: "production",
      HOST: "127.0.0.1",
      PORT: String(this.port),
      PUBLIC_URL: "/",
      DB_CLIENT: "sqlite3",
      DB_FILENAME: this.database(),
      SECRET: "a secret of the comparison, at least 32 bytes long",
      ADMIN_EMAIL: "owner@example.com",
      ADMIN_PASSWORD: "side by side",
      ADMIN_TOKEN: TOKEN,
      EXTENSIONS_PATH: join(this.directory, "extensions"),
      STORAGE_LOCAL_ROOT: join(this.directory, "uploads"),
      TELEMETRY: "false",
      SERVE_APP: "false",
      WEBSOCKETS_ENABLED: "false",
      RATE_LIMITER_ENABLED: "false",
      PRESSURE_LIMITER_ENABLED: "false",
      CACHE_ENABLED: "false",
      LOG_LEVEL: "error",
      MAX_PAYLOAD_SIZE: "256mb",
      // Keeps revisions forever, as the others do.
      REVISIONS_RETENTION: "infinite",
      ACTIVITY_RETENTION: "infinite",
    };
  }

  /** Inserts the rows in Directus' own format (derived from its revisions) into its file: its API would take hours. */
  private insert(versions: () => Iterable<Version>): void {
    const db = new Database(this.database());
    try {
      // This setting in the file speeds up Directus; its commits keep SQLite's default durability (FULL).
      db.run("PRAGMA journal_mode = WAL");
      const { id: user } = db.query("SELECT id FROM directus_users LIMIT 1").get() as { id: string };
      const entry = db.prepare(
        `INSERT INTO if_entries (id, ${NAMES.join(", ")}) VALUES (?${", ?".repeat(NAMES.length)})`,
      );
      const activity = db.prepare(
        `INSERT INTO directus_activity (id, action, user, timestamp, ip, user_agent, collection, item)
          VALUES (?, ?, ?, ?, '127.0.0.1', 'side-by-side', 'if_entries', ?)`,
      );
      const revision = db.prepare(
        `INSERT INTO directus_revisions (id, activity, collection, item, data, delta)
          VALUES (?, ?, 'if_entries', ?, ?, ?)`,
      );
      const last = db.query(
        `SELECT max(coalesce((SELECT max(id) FROM directus_activity), 0), coalesce((SELECT max(id)
          FROM directus_revisions), 0)) AS n`,
      );
      let { n } = last.get() as { n: number };
      const insertAll = db.transaction(() => {
        // The versions of an item are in chronological order: the newest revision has the highest number.
        for (const { id, from, to, record, changed } of versions()) {
          n += 1;
          const item: Record<string, unknown> = { id };
          for (const name of NAMES) item[name] = record[name] ?? null;
          const data = JSON.stringify(item);
          const delta =
            changed === null
              ? data
              : JSON.stringify(Object.fromEntries([...changed, "updated_at"].map((name) => [name, item[name]])));
          activity.run(n, changed === null ? "create" : "update", user, Date.parse(from), id);
          revision.run(n, n, id, data, delta);
          if (to === null) entry.run(id, ...NAMES.map((name) => toStored(item[name], TYPES[name] as string)));
        }
      });
      insertAll();
      // Directus creates no such index: every query for an item would scan all revisions.
      db.run("CREATE INDEX side_by_side_revisions_by_item ON directus_revisions (collection, item)");
      db.run("ANALYZE");
      db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } finally {
      db.close();
    }
  }
}

const STOP_DEADLINE_MS = 10_000;

function livePath(networkId: string | null = null): string {
  return `/items/if_entries?limit=${PAGE_ROWS}&sort=id&fields=*&meta=filter_count${networkId === null ? "" : `&filter[network_id][_eq]=${networkId}`}`;
}

function upTo(ids: readonly string[], at: string): string {
  return `limit=-1&filter[collection][_eq]=if_entries&filter[item][_in]=${ids.join(",")}&filter[activity][timestamp][_lte]=${at}`;
}

function allPath(ids: readonly string[], at: string): string {
  return `/revisions?fields=item,data&sort=-id&${upTo(ids, at)}`;
}

function numbersPath(ids: readonly string[], at: string): string {
  return `/revisions?aggregate[max]=id&groupBy[]=item&${upTo(ids, at)}`;
}

function newestPath(numbers: readonly number[]): string {
  return `/revisions?fields=item,data&limit=-1&filter[id][_in]=${numbers.join(",")}`;
}

/** Converts a value to the form in which Directus stores it in SQLite. */
function toStored(value: unknown, type: string): string | number | null {
  if (value === null) return null;
  if (type === "timestamp") return Date.parse(value as string);
  return type === "json" ? JSON.stringify(value) : (value as string | number);
}
