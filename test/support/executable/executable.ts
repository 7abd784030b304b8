// Compiled executable as run by a person or a supervisor: runs commands to completion, and appliances until stopped. No
// fixed delays: every wait is for a condition, with a deadline.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  EXECUTABLE,
  EXECUTABLE_OUTPUT,
  fingerprintOf,
  isUpToDate,
  lastFingerprint,
} from "../../../scripts/build-inputs.ts";
import { Client } from "../appliance/client.ts";
import { recordTime } from "../measure/causes.ts";
import { logTo } from "../measure/evidence.ts";
import { HANG_MS, LONG_HANG_MS } from "../measure/limits.ts";
import { schedulingOf } from "../measure/processor-time.ts";
import { scratchParent } from "../measure/scratch-parent.ts";
import { assertOwnNetwork } from "./own-network.ts";
import { demoSlot, keyOfSeeds, Seeds } from "./seeds.ts";

export { EXECUTABLE };

const ROOT = resolve(import.meta.dir, "../../..");
const BUILD = "scripts/build.ts";

export const PASSWORD = "correct horse battery";

/** Email address of the user that `setUp` creates with PASSWORD. */
export const OWNER = "owner@acme.example";

export interface CommandResult {
  readonly code: number | null;
  /** The terminating signal, if any. */
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Listen address, instead of any free port of 127.0.0.1. */
  readonly listen?: string;
  /** Data directory, instead of the sandbox's own. */
  readonly data?: string;
  readonly startDeadlineMs?: number;
  /** Command, instead of the executable. */
  readonly command?: readonly string[];
}

/** Prefix of a command. Root may open every file; without these capabilities it has the privileges of other users. */
export const UNPRIVILEGED =
  process.getuid?.() === 0
    ? ["setpriv", "--inh-caps=-dac_override,-dac_read_search", "--bounding-set=-dac_override,-dac_read_search"]
    : [];

/** Environment variable of `scripts/test` for its test processes: the fingerprint of the built executable. */
const BUILT = "TESTED_BUILD";

/** Builds the executable if its sources changed. Does nothing under `scripts/test`, which has already built it. */
export function ensureExecutable(): void {
  const builtByRun = process.env[BUILT];
  if (builtByRun !== undefined && builtByRun === (lastFingerprint(EXECUTABLE_OUTPUT) ?? "")) {
    if (existsSync(EXECUTABLE)) return;
    throw new Error("executable missing: the build of scripts/test failed");
  }
  if (isUpToDate(EXECUTABLE_OUTPUT, fingerprintOf(ROOT, BUILD))) return;
  const built = Bun.spawnSync([process.execPath, BUILD, "--if-changed"], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  if (!built.success || !existsSync(EXECUTABLE))
    throw new Error(`the executable could not be built: ${built.stderr.toString()}`);
}

export interface SetUp {
  readonly key: string;
  readonly networkId: string;
  readonly organizationId: string;
}

/** At most the duration of a test file: some tests read the state before the first change. */
const SET_UP_MAX_AGE_MS = 10 * 60_000;

const DEMO_MAX_AGE_MS = 30 * 60_000;

let openedSeeds: Seeds | undefined;

/** Seeds, opened after the build. */
function seeds(): Seeds {
  const sources = [import.meta.path, join(import.meta.dir, "seeds.ts")];
  openedSeeds ??= new Seeds(
    join(ROOT, "dist/seeds"),
    keyOfSeeds(EXECUTABLE, lastFingerprint(EXECUTABLE_OUTPUT) ?? "", sources),
  );
  return openedSeeds;
}

/** Temporary directory of a test, with helpers for its files and processes. */
export class Sandbox {
  readonly directory: string;
  /** Data directory; not created yet. */
  readonly data: string;
  private readonly running = new Set<Running>();

  /** @param parent parent directory: `tmpdir()` for tests of disks, synced writes and kills */
  constructor(parent = scratchParent()) {
    this.directory = mkdtempSync(join(parent, "netledger-system-"));
    this.data = join(this.directory, "data");
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  /** File with PASSWORD and a final newline. */
  async passwordFile(): Promise<string> {
    const path = this.path("password");
    await Bun.write(path, `${PASSWORD}\n`);
    return path;
  }

  /** Runs a command to completion. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
    const child = spawn(this.directory, args, options);
    if (options.stdin !== undefined) child.stdin.write(options.stdin);
    child.stdin.end();
    return waitForExit(child, `netledger ${args.join(" ")}`);
  }

  /** Runs a command on the data to completion. */
  command(...args: string[]): Promise<CommandResult> {
    return this.run([...args, "--data", this.data]);
  }

  /** Starts an appliance on any free port and waits until it has printed its address. */
  async serve(args: readonly string[] = [], options: RunOptions = {}): Promise<Running> {
    const child = spawn(
      this.directory,
      ["serve", "--data", options.data ?? this.data, "--listen", options.listen ?? "127.0.0.1:0", ...args],
      options,
    );
    child.stdin.end();
    const running = new Running(child);
    this.running.add(running);
    await recordTime("appliance starts", () => running.waitForStart(options.startDeadlineMs));
    return running;
  }

  /** Creates the first organization and an API key of its Owner without a server, or copies them from a seed. */
  async setUp(permissions = "Owner"): Promise<SetUp> {
    if (existsSync(this.data)) return this.createSetUp(permissions, this.data);
    const seed = {
      name: `set-up-${encodeURIComponent(permissions)}`,
      maxAgeMs: SET_UP_MAX_AGE_MS,
      make: (data: string) => this.createSetUp(permissions, data),
    };
    return seeds().put(seed, this.data);
  }

  /**
   * Like setUp, with a running appliance and a client with the key.
   * @param args additional arguments of `netledger serve`
   */
  async serveSetUp(
    args: readonly string[] = [],
  ): Promise<SetUp & { readonly running: Running; readonly client: Client }> {
    const setup = await this.setUp();
    const running = await this.serve(args);
    return { ...setup, running, client: running.withKey(setup.key) };
  }

  /**
   * Starts an appliance with the demo; its data is copied from a seed.
   * @param args additional arguments of `netledger serve`
   */
  async serveDemo(args: readonly string[] = [], options: RunOptions = {}): Promise<Running> {
    const make = async (data: string) => {
      const { code, err } = await (await this.serve(["--demo"], { data, startDeadlineMs: LONG_HANG_MS })).stop();
      if (code !== 0) throw new Error(`the demo could not be created: ${err}`);
      return null;
    };
    const name = `demo-${demoSlot(Date.now())}`;
    if (!existsSync(this.data)) await seeds().put({ name, maxAgeMs: DEMO_MAX_AGE_MS, make }, this.data);
    return this.serve(["--demo", ...args], options);
  }

  private async createSetUp(permissions: string, data: string): Promise<SetUp> {
    return setUpBy((args) => this.run([...args, "--data", data]), await this.passwordFile(), { permissions });
  }

  async close(): Promise<void> {
    for (const appliance of this.running) appliance.kill("SIGKILL");
    await Promise.all([...this.running].map((appliance) => appliance.exited));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

/** Running appliance. */
export class Running {
  private readonly child: Child;
  private out = "";
  private err = "";
  private readonly watchers = new Set<() => unknown>();
  private readonly streams: Promise<unknown>;

  constructor(child: Child) {
    this.child = child;
    const log = logTo(`appliance-${child.pid}`);
    this.streams = Promise.all([
      this.collect(child.stdout, (text) => (this.out += text)),
      this.collect(child.stderr, (text) => {
        this.err += text;
        log(text);
      }),
      child.exited,
    ]).then(() => this.notify());
  }

  get pid(): number {
    return this.child.pid;
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Lines of standard output. */
  get lines(): string[] {
    return this.out.trimEnd().split("\n");
  }

  /** Log so far. */
  get log(): string {
    return this.err;
  }

  get url(): string {
    return /https?:\/\/\S+/.exec(this.out)?.[0] ?? "";
  }

  get setupToken(): string {
    return /#setup=([0-9A-Z-]+)/.exec(this.out)?.[1] ?? "";
  }

  /** Exit status, with all output. */
  get exited(): Promise<CommandResult> {
    return this.streams.then(() => ({
      code: this.child.exitCode,
      signal: signalOf(this.child),
      out: this.out,
      err: this.err,
    }));
  }

  client(headers: Record<string, string> = {}): Client {
    return new Client((request) => fetch(request), headers, this.url);
  }

  /** Client with an API key. */
  withKey(key: string): Client {
    return this.client({ authorization: `Bearer ${key}` });
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Waits for the three lines of output, or the exit. */
  async waitForStart(deadlineMs = HANG_MS): Promise<void> {
    await this.waitUntil(() => this.out.split("\n").length > 3, "the three lines of the start", deadlineMs);
  }

  async waitForLog(text: string): Promise<void> {
    await this.waitUntil(() => this.err.includes(text), `the log to contain ${text}`);
  }

  /** @returns the exit, and the time taken in milliseconds, not counting waits for a CPU */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<CommandResult & { readonly tookMs: number }> {
    const startedAt = performance.now();
    const before = schedulingOf(this.pid).waitedMs;
    let waitedMs = 0;
    // On every output: the last line comes right before the exit.
    const check = () => (waitedMs = Math.max(waitedMs, schedulingOf(this.pid).waitedMs - before));
    this.watchers.add(check);
    this.kill(signal);
    const end = await withDeadline(this.exited, `the exit after ${signal}`, () => this.kill("SIGKILL"));
    this.watchers.delete(check);
    return { ...end, tookMs: performance.now() - startedAt - waitedMs };
  }

  /** Value in KiB of a line of /proc/PID/status: `RssAnon`. */
  memoryKib(field: string): number {
    return Number(
      new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))?.[1],
    );
  }

  private async waitUntil(isMet: () => boolean, condition: string, deadlineMs = HANG_MS): Promise<void> {
    await withDeadline(
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (!isMet() && this.child.exitCode === null && this.child.signalCode === null) return;
          this.watchers.delete(check);
          if (isMet()) resolve();
          else reject(new Error(`the appliance exited while waiting for ${condition}: ${this.err}`));
        };
        this.watchers.add(check);
        check();
      }),
      condition,
      () => this.kill("SIGKILL"),
      deadlineMs,
    );
  }

  private async collect(stream: ReadableStream<Uint8Array>, append: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      append(decoder.decode(chunk, { stream: true }));
      this.notify();
    }
  }

  private notify(): void {
    for (const watcher of [...this.watchers]) watcher();
  }
}

/** Name of the Owner's API key. */
export const SET_UP_KEY = "keeper";

/**
 * Creates an organization and an API key of its Owner without a server.
 * @param run runs a command on the data
 */
export async function setUpBy(
  run: (args: readonly string[]) => Promise<CommandResult>,
  passwordFile: string,
  { organization = "Acme", network = "Main", email = OWNER, permissions = "Owner" } = {},
): Promise<SetUp> {
  const owner = ["--email", email, "--password-file", passwordFile];
  const setup = await run(["setup", "--organization", organization, "--network", network, ...owner]);
  const key = await run(["key", "create", "--email", email, "--name", SET_UP_KEY, "--permissions", permissions]);
  if (setup.code !== 0 || key.code !== 0) throw new Error(setup.err + key.err);
  const idOf = (name: string) => new RegExp(`^${name}\t(.+)$`, "m").exec(setup.out)?.[1] ?? "";
  return { key: key.out.trim(), networkId: idOf("network_id"), organizationId: idOf("organization_id") };
}

/** Progress of a command: a line on standard error every five seconds. */
const PROGRESS = /^\S+ INFO {2}\w+ step=.*\n/gm;

/** Exit of a command, without its progress. @param condition the command, named in the timeout */
export async function waitForExit(
  child: Bun.Subprocess<any, "pipe", "pipe">,
  condition: string,
): Promise<CommandResult> {
  const [out, err] = await withDeadline(
    Promise.all([child.stdout.text(), child.stderr.text(), child.exited]),
    condition,
    () => child.kill("SIGKILL"),
  );
  return { code: child.exitCode, signal: signalOf(child), out, err: err.replaceAll(PROGRESS, "") };
}

/** The promise, or on timeout an error that names the awaited condition. */
export function withDeadline<T>(
  promise: Promise<T>,
  condition: string,
  onTimeout: () => void = () => {},
  deadlineMs = HANG_MS,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const signal = AbortSignal.timeout(deadlineMs);
  const giveUp = () => {
    onTimeout();
    reject(new Error(`waited ${deadlineMs} ms for ${condition}`));
  };
  signal.addEventListener("abort", giveUp);
  return Promise.race([promise, timeout]).finally(() => signal.removeEventListener("abort", giveUp));
}

function signalOf(child: Bun.Subprocess<any, any, any>): string | null {
  return child.signalCode === null ? null : String(child.signalCode);
}

function spawn(cwd: string, args: readonly string[], options: RunOptions): Child {
  assertOwnNetwork();
  return spawnPiped([...(options.command ?? [EXECUTABLE]), ...args], options.env, options.cwd ?? cwd);
}

/** Starts a program without our settings in its environment, for the same behavior on every machine. */
export function spawnPiped(command: readonly string[], env: Record<string, string> = {}, cwd = process.cwd()): Child {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("NETLEDGER_")));
  return Bun.spawn([...command], { cwd, env: { ...inherited, ...env }, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
}
