// PostgreSQL 15 in the comparison: a private cluster on a socket in the part's folder, tuned for the machine, with the
// small server in front of it.

import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { freePort } from "../../benchmark/executable.ts";
import { load } from "../../benchmark/load.ts";
import type { Variant } from "./postgres-server.ts";
import { cpuSecondsOf } from "./processes.ts";
import { firstAnswerMs, type Operation, PAGE_ROWS, type PagePlace, type Product, pick } from "./product.ts";
import type { Rows, Version } from "./rows.ts";
import { ServedByApi } from "./served.ts";

/** Debian's program folder, which is not on the PATH. */
const DEBIAN_PROGRAMS = "/usr/lib/postgresql/15/bin";
/** Maximum length of a socket's path in bytes. */
const SOCKET_NAME_MAX = 107;

/** Reason why PostgreSQL is not available; null if it is. */
export function whyNoPostgres(directory: string): string | null {
  if (programs() === null) return "PostgreSQL 15 is not installed (Debian: postgresql-15)";
  if (process.getuid?.() === 0 && accountOf("postgres") === null)
    return "PostgreSQL refuses to run as root, and there is no account postgres";
  if (join(directory, "postgres", SOCKET).length > SOCKET_NAME_MAX)
    return "the folder's name is too long for PostgreSQL's socket";
  return null;
}

function programs(): string | null {
  const folders = [DEBIAN_PROGRAMS, ...(process.env.PATH ?? "").split(":")];
  return (
    folders.find(
      (folder) =>
        existsSync(join(folder, "initdb")) &&
        Bun.spawnSync([join(folder, "postgres"), "--version"])
          .stdout.toString()
          .includes(") 15."),
    ) ?? null
  );
}

const SOCKET = ".s.PGSQL.5432";

export class Postgres extends ServedByApi implements Product {
  readonly name = "PostgreSQL 15";
  /** The fastest method, by the page of its trial. */
  readonly chosen: Record<string, Variant> = {};
  private readonly renderedChosen: Record<string, Variant> = {};
  private readonly directory: string;
  private readonly cluster: string;
  private readonly bin = programs() as string;
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
    return [this.database, this.server].filter((each) => each !== null).map(({ pid }) => pid);
  }

  async load(versions: () => Iterable<Version>): Promise<void> {
    mkdirSync(this.directory, { mode: 0o700 });
    const account = process.getuid?.() === 0 ? accountOf("postgres") : null;
    if (account !== null) {
      // PostgreSQL must reach its own folder; siblings stay unreadable.
      chmodSync(join(this.directory, ".."), 0o711);
      chownSync(this.directory, account.uid, account.gid);
    }
    await this.run("initdb", [
      "--pgdata",
      this.cluster,
      "--encoding",
      "UTF8",
      "--locale",
      "C.UTF-8",
      "--username",
      "postgres",
      "--auth",
      "trust",
      "--no-instructions",
    ]);
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
    const began = performance.now();
    await this.startDatabase();
    const server = Bun.spawn(
      [process.execPath, join(import.meta.dir, "postgres-server.ts"), join(this.directory, SOCKET), String(this.port)],
      { stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(this.directory, "..", "postgres-server.log")) },
    );
    this.server = server;
    return firstAnswerMs(began, this.url(path(null, null)), this.headers, () =>
      server.exitCode === null && this.database?.exitCode === null
        ? null
        : "PostgreSQL or its server ended while it started",
    );
  }

  async stop(): Promise<void> {
    this.server?.kill("SIGTERM");
    await this.server?.exited;
    this.server = null;
    // SIGINT is the "fast" shutdown: disconnects clients, and writes memory to disk.
    this.database?.kill("SIGINT");
    await this.database?.exited;
    this.database = null;
  }

  livePage(): Operation {
    return this.getting(() => path(null, null, this.chosen.live));
  }

  livePages(places: readonly PagePlace[]): Operation {
    return this.gettingPages(places, (networkId) => path(networkId, null, this.chosen.live));
  }

  /** The usual method without maintained totals: the cost of `count(*)`. */
  countedLivePage(): Operation {
    return this.getting(() =>
      path(null, null, { render: "sql", way: "period", ...this.chosen.live, total: "counted" }),
    );
  }

  /** Without a total. */
  uncountedLivePage(): Operation {
    return this.getting(() => path(null, null, { render: "sql", way: "period", ...this.chosen.live, total: "none" }));
  }

  async asOfPage(networkId: string, instants: readonly string[]): Promise<Operation> {
    return this.getting((i) => path(networkId, pick(instants, i), this.chosen[networkId]));
  }

  /** With prerendered objects; see makeRendered(). */
  renderedLivePage(): Operation {
    return this.getting(() => path(null, null, { render: "kept", way: "period", total: "kept" }));
  }

  renderedAsOfPage(networkId: string, instants: readonly string[]): Operation {
    return this.getting((i) => path(networkId, pick(instants, i), this.renderedChosen[networkId]));
  }

  /** Creates the tables with prerendered objects. While it runs, and after the disk measurement. */
  async makeRendered(): Promise<void> {
    await this.psql(await Bun.file(join(import.meta.dir, "postgres-rendered.sql")).text());
  }

  countedAsOfPage(networkId: string, instants: readonly string[]): Operation {
    return this.getting((i) =>
      path(networkId, pick(instants, i), { render: "sql", way: "period", ...this.chosen[networkId], total: "counted" }),
    );
  }

  count(): Operation {
    return this.getting(() => path(null, null, this.chosen.live, 1));
  }

  /** Tries every method of building a page, and keeps the fastest of each. */
  async choose(instants: readonly string[], seconds: number): Promise<void> {
    const renders = ["sql", "js"] as const;
    this.chosen.live = await this.fastest(
      renders.map((render) => ({ render, way: "period", total: "kept" })),
      (variant) => () => path(null, null, variant),
      seconds,
    );
    for (const { networkId } of this.rows.depths) {
      const variants = (["period", "walk"] as const).flatMap((way) =>
        renders.map((render) => ({ render, way, total: "kept" as const })),
      );
      const paths = (variant: Variant) => (i: number) => path(networkId, pick(instants, i), variant);
      this.chosen[networkId] = await this.fastest(variants, paths, seconds);
      this.renderedChosen[networkId] = await this.fastest(
        (["period", "walk"] as const).map((way) => ({ render: "kept", way, total: "kept" as const })),
        paths,
        seconds,
      );
    }
  }

  protected pagePath(networkId: string | null, at: string | null): string {
    return path(networkId, at, this.chosen[networkId ?? "live"]);
  }

  /** Tables and indexes, without the write-ahead log. Measured while stopped, so that everything is written. */
  async diskMb(): Promise<number> {
    return folderBytes(join(this.cluster, "base")) / 1e6;
  }

  /** The write-ahead log, which PostgreSQL keeps for reuse. */
  walMb(): number {
    return folderBytes(join(this.cluster, "pg_wal")) / 1e6;
  }

  private async fastest(
    variants: readonly Variant[],
    paths: (variant: Variant) => (i: number) => string,
    seconds: number,
  ): Promise<Variant> {
    const tried: Array<{ variant: Variant; rate: number }> = [];
    // By the best of several turns: other load only slows down. The first one also plans and warms up.
    for (const variant of Array.from({ length: TRIALS }, () => variants).flat()) {
      const operation = this.getting(paths(variant));
      const { requestsPerSecond, failures } = await load({
        port: this.port,
        seconds,
        connections: this.connections,
        cpuSeconds: () => cpuSecondsOf(this.pids),
        request: operation.requests,
      });
      if (failures > 0)
        throw new Error(
          `PostgreSQL's server failed at ${JSON.stringify(variant)}: ${await fetch(`http://127.0.0.1:${this.port}${paths(variant)(0)}`, { headers: this.headers }).then((answer) => answer.text())}`,
        );
      tried.push({ variant, rate: requestsPerSecond });
    }
    return (tried.sort((one, other) => other.rate - one.rate)[0] as { variant: Variant }).variant;
  }

  private async startDatabase(): Promise<void> {
    const settings = Object.entries(tuning()).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    // In the foreground, so that its pid is the postmaster's.
    const database = Bun.spawn(
      [
        ...asPostgres(),
        join(this.bin, "postgres"),
        "-D",
        this.cluster,
        "-c",
        "listen_addresses=",
        "-c",
        `unix_socket_directories=${this.directory}`,
        ...settings,
      ],
      { cwd: "/", stdin: "ignore", stdout: "ignore", stderr: Bun.file(join(this.directory, "..", "postgres.log")) },
    );
    this.database = database;
    const deadline = performance.now() + HANG_MS;
    // PostgreSQL listens before it accepts connections: its pid file reports "ready".
    while (
      !(
        await Bun.file(join(this.cluster, "postmaster.pid"))
          .text()
          .catch(() => "")
      )
        .split("\n")[7]
        ?.startsWith("ready")
    ) {
      if (database.exitCode !== null || performance.now() > deadline)
        throw new Error(`PostgreSQL did not start; see ${join(this.directory, "..", "postgres.log")}`);
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
    await ended(child, `copying into ${table}`);
  }

  private async psql(text: string): Promise<void> {
    const child = this.psqlProcess(["--file", "-"]);
    child.stdin.write(text);
    await ended(child, "preparing the tables");
  }

  private psqlProcess(more: readonly string[]): Bun.Subprocess<"pipe", "ignore", "pipe"> {
    return Bun.spawn(
      [
        ...asPostgres(),
        join(this.bin, "psql"),
        "--no-psqlrc",
        "--quiet",
        "--set",
        "ON_ERROR_STOP=1",
        "--host",
        this.directory,
        "--username",
        "postgres",
        "--dbname",
        "postgres",
        ...more,
      ],
      { cwd: "/", stdin: "pipe", stdout: "ignore", stderr: "pipe" },
    );
  }

  private async run(program: string, args: readonly string[]): Promise<void> {
    const child = Bun.spawn([...asPostgres(), join(this.bin, program), ...args], {
      cwd: "/",
      stdin: "pipe",
      stdout: "ignore",
      stderr: "pipe",
    });
    await ended(child, program);
  }
}

const COPY_ROWS = 500;
/** Turns for each method of building a page. */
const TRIALS = 3;

/**
 * Changed settings: all others are PostgreSQL's defaults. fsync and synchronous_commit are listed explicitly because
 * everything depends on them.
 */
export function tuning(): Record<string, string> {
  // The usual quarter of the memory; half including the kernel's cache.
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
  const more = [
    networkId === null ? "" : `&network_id=${networkId}`,
    at === null ? "" : `&at=${at}`,
    variant === undefined ? "" : `&render=${variant.render}&way=${variant.way}&total=${variant.total}`,
  ];
  return `/api/v1/if-entries?limit=${limit}${more.join("")}`;
}

/** Rows for COPY, in column order. */
function* lines(versions: () => Iterable<Version>, organization: string, live: boolean): Generator<string> {
  const names = [
    "if_index",
    "if_type",
    "speed_bps",
    "created_at",
    "last_seen_at",
    "first_discovery_id",
    "last_discovery_id",
  ];
  const texts = [
    "mac_address",
    "admin_status",
    "oper_status",
    "if_descr",
    "if_name",
    "if_alias",
    "lldp_chassis_id",
    "lldp_port_id",
    "lldp_sys_name",
    "lldp_port_desc",
  ];
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

async function ended(child: Bun.Subprocess<"pipe", "ignore", "pipe">, what: string): Promise<void> {
  child.stdin.end();
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${what} failed: ${said.slice(-1_000)}`);
}

/** PostgreSQL refuses to run as root. setpriv(1) execs the program, so that its pid is that of the process. */
function asPostgres(): string[] {
  return process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
}

function accountOf(name: string): { uid: number; gid: number } | null {
  const asked = Bun.spawnSync(["getent", "passwd", name]);
  const [, , uid, gid] = asked.stdout.toString().split(":");
  return asked.exitCode === 0 ? { uid: Number(uid), gid: Number(gid) } : null;
}

function folderBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile())
    .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0);
}
