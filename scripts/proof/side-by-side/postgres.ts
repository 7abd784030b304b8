// PostgreSQL 15 in the comparison: a private cluster on a socket in the part's directory, tuned for the machine, with a
// small server in front of it.

import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { freePort } from "../../benchmark/executable.ts";
import { ApiServer } from "./base-servers.ts";
import type { Variant } from "./postgres-server.ts";
import { firstResponseMs, type Operation, PAGE_ROWS, type PagePosition, type Product, pick } from "./product.ts";
import { loadProduct } from "./rounds.ts";
import type { Rows, Version } from "./rows.ts";

/** Debian's program directory, which is not on the PATH. */
const DEBIAN_PROGRAMS = "/usr/lib/postgresql/15/bin";
/** Maximum length of a socket's path in bytes. */
const SOCKET_NAME_MAX = 107;

/** Reason why PostgreSQL is not available; null if it is. */
export function unavailableReason(directory: string): string | null {
  if (programFolder() === null) return "PostgreSQL 15 is not installed (Debian: postgresql-15)";
  if (process.getuid?.() === 0 && accountOf("postgres") === null)
    return "PostgreSQL refuses to run as root, and there is no account postgres";
  if (join(directory, "postgres", SOCKET).length > SOCKET_NAME_MAX)
    return "the directory's name is too long for PostgreSQL's socket";
  return null;
}

function programFolder(): string | null {
  const folders = [DEBIAN_PROGRAMS, ...(process.env.PATH ?? "").split(":")];
  const versionOf = (folder: string) => String(Bun.spawnSync([join(folder, "postgres"), "--version"]).stdout);
  const hasVersion15 = (folder: string) => existsSync(join(folder, "initdb")) && versionOf(folder).includes(") 15.");
  return folders.find(hasVersion15) ?? null;
}

const SOCKET = ".s.PGSQL.5432";

export class Postgres extends ApiServer implements Product {
  readonly name = "PostgreSQL 15";
  /** Fastest variant by kind of page: `live`, or the id of a network. */
  readonly chosen: Record<string, Variant> = {};
  private readonly renderedChosen: Record<string, Variant> = {};
  private readonly directory: string;
  private readonly cluster: string;
  private readonly bin = programFolder() as string;
  private readonly rows: Rows;
  private readonly connections: number;
  protected readonly headers: Record<string, string>;
  private database: Bun.Subprocess | null = null;
  private server: Bun.Subprocess | null = null;

  constructor(directory: string, rows: Rows, connections: number) {
    super();
    this.directory = join(directory, "postgres");
    this.cluster = join(this.directory, "cluster");
    this.rows = rows;
    this.connections = connections;
    this.headers = { authorization: `Bearer ${rows.store.key}` };
  }

  get pids(): readonly number[] {
    return [this.database, this.server].filter((child) => child !== null).map(({ pid }) => pid);
  }

  async load(versions: () => Iterable<Version>): Promise<void> {
    mkdirSync(this.directory, { mode: 0o700 });
    const account = process.getuid?.() === 0 ? accountOf("postgres") : null;
    if (account !== null) {
      // PostgreSQL must reach its own directory; siblings remain unreadable.
      chmodSync(join(this.directory, ".."), 0o711);
      chownSync(this.directory, account.uid, account.gid);
    }
    const options = "--encoding UTF8 --locale C.UTF-8 --username postgres --auth trust --no-instructions";
    await finish(this.spawn("initdb", ["--pgdata", this.cluster, ...options.split(" ")]), "initdb");
    await this.startDatabase();
    try {
      await this.psql(await Bun.file(join(import.meta.dir, "postgres-schema.sql")).text());
      const hash = new Bun.CryptoHasher("sha256").update(this.rows.store.key).digest("hex");
      await this.psql(`INSERT INTO api_keys VALUES ('\\x${hash}', '${this.rows.store.organizationId}');\n`);
      await this.copyRows(versions);
      await this.psql(await Bun.file(join(import.meta.dir, "postgres-indexes.sql")).text());
    } finally {
      await this.stop();
    }
  }

  async start(): Promise<number> {
    this.port = await freePort();
    const started = performance.now();
    await this.startDatabase();
    const server = Bun.spawn(
      [process.execPath, join(import.meta.dir, "postgres-server.ts"), join(this.directory, SOCKET), String(this.port)],
      { stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(this.directory, "..", "postgres-server.log")) },
    );
    this.server = server;
    return firstResponseMs(started, this.url(path(null, null)), this.headers, () =>
      server.exitCode === null && this.database?.exitCode === null
        ? null
        : "PostgreSQL or its server exited during the start",
    );
  }

  async stop(): Promise<void> {
    this.server?.kill("SIGTERM");
    await this.server?.exited;
    this.server = null;
    // SIGINT requests a "fast" shutdown, which disconnects clients and writes memory to disk.
    this.database?.kill("SIGINT");
    await this.database?.exited;
    this.database = null;
  }

  livePage(): Operation {
    return this.getOperation(() => path(null, null, this.chosen.live));
  }

  livePages(positions: readonly PagePosition[]): Operation {
    return this.pagesOperation(positions, (networkId) => path(networkId, null, this.chosen.live));
  }

  /** Usual page without maintained totals, which shows the cost of `count(*)`. */
  countedLivePage(): Operation {
    return this.getOperation(() => path(null, null, { ...USUAL, ...this.chosen.live, total: "counted" }));
  }

  /** Usual page without a total. */
  uncountedLivePage(): Operation {
    return this.getOperation(() => path(null, null, { ...USUAL, ...this.chosen.live, total: "none" }));
  }

  async asOfPage(networkId: string, instants: readonly string[]): Promise<Operation> {
    return this.getOperation((i) => path(networkId, pick(instants, i), this.chosen[networkId]));
  }

  /** Page of prerendered objects; see createRendered(). */
  renderedLivePage(): Operation {
    return this.getOperation(() => path(null, null, { render: "stored", method: "period", total: "stored" }));
  }

  renderedAsOfPage(networkId: string, instants: readonly string[]): Operation {
    return this.getOperation((i) => path(networkId, pick(instants, i), this.renderedChosen[networkId]));
  }

  /** Creates the tables with prerendered objects; to be called while it runs, and after the disk measurement. */
  async createRendered(): Promise<void> {
    await this.psql(await Bun.file(join(import.meta.dir, "postgres-rendered.sql")).text());
  }

  countedAsOfPage(networkId: string, instants: readonly string[]): Operation {
    return this.getOperation((i) => {
      return path(networkId, pick(instants, i), { ...USUAL, ...this.chosen[networkId], total: "counted" });
    });
  }

  count(): Operation {
    return this.getOperation(() => path(null, null, this.chosen.live, 1));
  }

  /** Tries every variant, and selects the fastest for each kind of page. */
  async choose(instants: readonly string[], seconds: number): Promise<void> {
    const renders = ["sql", "js"] as const;
    this.chosen.live = await this.fastest(
      renders.map((render) => ({ render, method: "period", total: "stored" })),
      (variant) => () => path(null, null, variant),
      seconds,
    );
    for (const { networkId } of this.rows.depths) {
      const variants = (["period", "walk"] as const).flatMap((method) =>
        renders.map((render) => ({ render, method, total: "stored" as const })),
      );
      const paths = (variant: Variant) => (i: number) => path(networkId, pick(instants, i), variant);
      this.chosen[networkId] = await this.fastest(variants, paths, seconds);
      this.renderedChosen[networkId] = await this.fastest(
        (["period", "walk"] as const).map((method) => ({ render: "stored", method, total: "stored" as const })),
        paths,
        seconds,
      );
    }
  }

  protected pagePath(networkId: string | null, at: string | null): string {
    return path(networkId, at, this.chosen[networkId ?? "live"]);
  }

  /** Measures tables and indexes, without the write-ahead log; to be called while stopped, when all is written. */
  async diskMb(): Promise<number> {
    return folderBytes(join(this.cluster, "base")) / 1e6;
  }

  /** Measures the write-ahead log, which PostgreSQL retains for reuse. */
  walMb(): number {
    return folderBytes(join(this.cluster, "pg_wal")) / 1e6;
  }

  private async fastest(
    variants: readonly Variant[],
    paths: (variant: Variant) => (i: number) => string,
    seconds: number,
  ): Promise<Variant> {
    const trials: Array<{ variant: Variant; rate: number }> = [];
    // The best of several rounds counts, as other load can only slow it down. The first one also plans and warms up.
    for (const variant of Array.from({ length: TRIAL_ROUNDS }, () => variants).flat()) {
      const operation = this.getOperation(paths(variant));
      const { requestsPerSecond, failures } = await loadProduct(this, operation, seconds, this.connections);
      if (failures > 0) {
        const response = await fetch(this.url(paths(variant)(0)), { headers: this.headers });
        throw new Error(`PostgreSQL's server failed at ${JSON.stringify(variant)}: ${await response.text()}`);
      }
      trials.push({ variant, rate: requestsPerSecond });
    }
    return (trials.sort((a, b) => b.rate - a.rate)[0] as { variant: Variant }).variant;
  }

  private async startDatabase(): Promise<void> {
    const settings = { listen_addresses: "", unix_socket_directories: this.directory, ...tuning() };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = join(this.directory, "..", "postgres.log");
    // Runs in the foreground, so that its pid is the postmaster's.
    const database = Bun.spawn([...asPostgres(), join(this.bin, "postgres"), "-D", this.cluster, ...options], {
      cwd: "/",
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(log),
    });
    this.database = database;
    const deadline = performance.now() + HANG_MS;
    // PostgreSQL listens before it accepts connections: its pid file reports "ready".
    const pidFile = join(this.cluster, "postmaster.pid");
    const status = () => (existsSync(pidFile) ? readFileSync(pidFile, "utf8") : "").split("\n")[7];
    while (!status()?.startsWith("ready")) {
      if (database.exitCode !== null || performance.now() > deadline)
        throw new Error(`PostgreSQL did not start; see ${log}`);
      await Bun.sleep(2);
    }
  }

  private async copyRows(versions: () => Iterable<Version>): Promise<void> {
    const hosts = new Map<string, string>();
    for (const { record } of versions()) hosts.set(record.host_id as string, record.network_id as string);
    const organization = this.rows.store.organizationId;
    await this.copy(
      "hosts",
      [...hosts].map(([id, network]) => `${id}\t${organization}\t${network}\tswitch\n`),
    );
    await this.copy("if_entries", lines(versions, organization, true));
    await this.copy("if_entries_history", lines(versions, organization, false));
  }

  private async copy(table: string, rows: Iterable<string>): Promise<void> {
    const child = this.psqlProcess(["--command", `\\copy ${table} from pstdin`]);
    let chunk: string[] = [];
    for (const row of rows) {
      chunk.push(row);
      if (chunk.length < COPY_ROWS) continue;
      child.stdin.write(chunk.join(""));
      await child.stdin.flush();
      chunk = [];
    }
    child.stdin.write(chunk.join(""));
    await finish(child, `copying into ${table}`);
  }

  private async psql(text: string): Promise<void> {
    const child = this.psqlProcess(["--file", "-"]);
    child.stdin.write(text);
    await finish(child, "preparing the tables");
  }

  private psqlProcess(extra: readonly string[]): Bun.Subprocess<"pipe", "ignore", "pipe"> {
    const options = "--no-psqlrc --quiet --set ON_ERROR_STOP=1 --username postgres --dbname postgres";
    return this.spawn("psql", [...options.split(" "), "--host", this.directory, ...extra]);
  }

  private spawn(program: string, args: readonly string[]): Bun.Subprocess<"pipe", "ignore", "pipe"> {
    return Bun.spawn([...asPostgres(), join(this.bin, program), ...args], {
      cwd: "/",
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
    });
  }
}

const USUAL = { render: "sql", method: "period" } as const;
const COPY_ROWS = 500;
/** Rounds in which every variant is tried. */
const TRIAL_ROUNDS = 3;

/**
 * Settings of the cluster; all others are PostgreSQL's defaults. fsync and synchronous_commit are listed although they
 * are defaults, because everything depends on them.
 */
export function tuning(): Record<string, string> {
  // As usual, a quarter of the memory for buffers, and half including the kernel's cache.
  const memoryMb = totalmem() / 2 ** 20;
  return {
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    wal_level: "minimal",
    max_wal_senders: "0",
    shared_buffers: `${Math.round(Math.min(4_096, memoryMb / 4))}MB`,
    effective_cache_size: `${Math.round(memoryMb / 2)}MB`,
    work_mem: "64MB",
    maintenance_work_mem: "512MB",
    max_wal_size: "4GB",
    checkpoint_timeout: "15min",
    // The data is in memory and on an SSD: random reads cost little more than sequential ones.
    random_page_cost: "1.1",
    effective_io_concurrency: "200",
    // Both cores serve other requests: JIT compilation or parallel plans for a short query are pure overhead.
    // plan_cache_mode stays at auto: forced generic plans had no measurable gain.
    jit: "off",
    max_parallel_workers_per_gather: "0",
    timezone: "UTC",
    log_timezone: "UTC",
  };
}

function path(networkId: string | null, at: string | null, variant?: Variant, limit = PAGE_ROWS): string {
  const extra = [
    networkId === null ? "" : `&network_id=${networkId}`,
    at === null ? "" : `&at=${at}`,
    variant === undefined ? "" : `&render=${variant.render}&method=${variant.method}&total=${variant.total}`,
  ];
  return `/api/v1/if-entries?limit=${limit}${extra.join("")}`;
}

/** Formats rows for COPY, in column order. */
function* lines(versions: () => Iterable<Version>, organization: string, live: boolean): Generator<string> {
  const names = "if_index if_type speed_bps created_at last_seen_at first_discovery_id last_discovery_id".split(" ");
  const texts = `mac_address admin_status oper_status if_descr if_name if_alias lldp_chassis_id lldp_port_id
  lldp_sys_name lldp_port_desc`.split(/\s+/);
  for (const { id, from, to, record } of versions()) {
    if ((to === null) !== live) continue;
    const period = `["${from}",${to === null ? "" : `"${to}"`})`;
    yield `${[id, organization, record.network_id, record.host_id, ...names.map((name) => record[name]), period, ...texts.map((name) => record[name])].map(cell).join("\t")}\n`;
  }
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "\\N";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");
}

async function finish(child: Bun.Subprocess<"pipe", "ignore", "pipe">, task: string): Promise<void> {
  child.stdin.end();
  const [errors, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${task} failed: ${errors.slice(-1_000)}`);
}

/** Prefix that runs a program as postgres: PostgreSQL refuses to run as root. setpriv(1) execs it and keeps the pid. */
function asPostgres(): string[] {
  return process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
}

function accountOf(name: string): { uid: number; gid: number } | null {
  const result = Bun.spawnSync(["getent", "passwd", name]);
  const [, , uid, gid] = result.stdout.toString().split(":");
  return result.exitCode === 0 ? { uid: Number(uid), gid: Number(gid) } : null;
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
