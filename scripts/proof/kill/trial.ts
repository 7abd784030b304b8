// Repeated trial of one store: start, check, write, kill, and lose unsynced data.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../../../test/support/appliance/factories.ts";
import {
  OWNER,
  PASSWORD,
  Running,
  spawnPiped,
  waitForExit,
  withDeadline,
} from "../../../test/support/executable/executable.ts";
import type { SeededRandom } from "../../../test/support/injected/seeded-random.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import { COMMUNITY, type Devices } from "./devices.ts";
import { ForgetfulDisk, type Loss, type LossMode } from "./forgetful-disk.ts";
import {
  HOSTS,
  IF_ENTRIES,
  KEYS,
  KnownState,
  Load,
  type LoadTarget,
  SCANS,
  sha256Of,
  statusAndBody,
  TAGS,
} from "./load.ts";
import { findFlaws } from "./store-checks.ts";

/** Moment of the kill. */
export type Moment =
  /** Some time after the load has started. */
  | "load"
  /** Shortly after a bulk write is sent. */
  | "bulk"
  /** During an orderly stop with its checkpoint. */
  | "stop"
  /** Before the appliance reports that it listens. */
  | "start"
  /** After the check of all existing records, before any write. */
  | "check";

const CLAIMS = ["lost", "partial", "repeated", "corrupt", "past", "scans", "backups", "refusals", "starts"] as const;

/** Problems by the claim that they refute. */
export type Problems = Readonly<Record<(typeof CLAIMS)[number], string[]>>;

export function noProblems(): Problems {
  return Object.fromEntries(CLAIMS.map((claim) => [claim, [] as string[]])) as Problems;
}

/** Totals of the rounds. */
export type Counts = typeof NO_COUNTS;

export const NO_COUNTS = {
  kills: 0,
  losses: 0,
  /** Alternative outcomes of a power loss that were checked. */
  alternatives: 0,
  acknowledged: 0,
  unanswered: 0,
  /** Interrupted requests that were sent again, and how many of them had already been applied. */
  repeated: 0,
  replayed: 0,
  pastResponses: 0,
  scansCompleted: 0,
  scansInterrupted: 0,
  backups: 0,
  verified: 0,
  unsyncedBytes: 0,
  droppedBytes: 0,
  changedNames: 0,
};

interface TrialOptions {
  readonly executable: string;
  /** Directory of this store alone; created if missing. */
  readonly directory: string;
  readonly devices: Devices;
  readonly random: SeededRandom;
  /** Path of the shim; null without a compiler: then a kill loses nothing. */
  readonly shim: string | null;
  readonly problems: Problems;
  readonly counts: Counts;
}

export interface Round {
  readonly mode: LossMode;
  readonly moment: Moment;
  readonly withScans: boolean;
  readonly withBackup: boolean;
  readonly verifies: boolean;
  /** Number of alternative outcomes to check per loss. */
  readonly alternatives: number;
}

/** Maximum number of acknowledged writes before the kill, and their timeout on a busy machine. */
const WRITES_MAX = 160;
const WRITES_MAX_MS = 1_500;
const START_SPREAD_MS = 260;

export class Trial {
  readonly state = new KnownState();
  private readonly options: TrialOptions;
  private readonly data: string;
  private readonly backups: string;
  private readonly disk: ForgetfulDisk;
  private target: LoadTarget | null = null;
  private lastRunning: Running | null = null;
  private cookie = "";
  private keyFile: string | null = null;

  constructor(options: TrialOptions) {
    this.options = options;
    this.data = join(options.directory, "data");
    this.backups = join(this.data, "backups");
    mkdirSync(this.data, { recursive: true, mode: 0o700 });
    Bun.write(join(options.directory, "password"), `${PASSWORD}\n`);
    this.disk = new ForgetfulDisk(this.data, join(options.directory, "disk.log"));
  }

  /** Kills the appliance several times while it creates its data. */
  async killDuringSetup(times: number, modes: readonly LossMode[]): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      const child = this.spawn();
      await Promise.race([child.exited, Bun.sleep(this.options.random.integer(START_SPREAD_MS * 2))]);
      await this.kill(child);
      this.losePower(this.options.random.pick(modes), 0);
    }
  }

  /** Starts the appliance, checks the results of all earlier rounds, writes, kills, and applies the loss. */
  async round({ mode, moment, withScans, withBackup, verifies, alternatives }: Round): Promise<void> {
    const { counts, random } = this.options;
    if (moment === "start") {
      const child = this.spawn();
      await Promise.race([child.exited, Bun.sleep(random.integer(START_SPREAD_MS))]);
      await this.kill(child);
      this.losePower(mode, alternatives);
      return;
    }
    const verifiesConcurrently = random.integer(2) === 0;
    if (verifies && !verifiesConcurrently && this.target !== null) await this.verify();
    const running = await this.start();
    if (running === null) return;
    const client = await this.checkState(running);
    if (verifies && verifiesConcurrently) await this.verify();
    if (moment === "check") {
      await this.kill(running);
      this.losePower(mode, alternatives);
      return;
    }
    await this.repeatInterrupted(running, client);
    const load = this.createLoad(client, { withScans, withBackup });
    const bulk = load.bulk;
    const loadRun = load.run();
    const spread = Promise.race([
      load.acknowledged(1 + random.integer(WRITES_MAX)).then(() => Bun.sleep(random.integer(10))),
      Bun.sleep(WRITES_MAX_MS),
    ]);
    const delayMs = random.integer(60);
    if (moment === "bulk")
      await Promise.race([Promise.all([spread, bulk]).then(() => Bun.sleep(delayMs)), running.exited]);
    else await Promise.race([spread, running.exited]);
    if (running.hasEnded)
      this.options.problems.starts.push(`the appliance ended on its own: ${running.log.slice(-300)}`);
    if (moment === "stop") {
      running.kill("SIGTERM");
      await Promise.race([running.exited, Bun.sleep(delayMs * 3)]);
    }
    await this.kill(running);
    await withDeadline(loadRun, "the connections to end");
    counts.unanswered += this.state.acknowledged.unanswered;
    this.losePower(mode, alternatives);
    rmSync(join(this.options.directory, "copy"), { recursive: true, force: true });
  }

  /** Runs a round with an orderly stop. @returns files whose contents the log does not explain */
  async orderlyRound(): Promise<string[]> {
    const running = await this.start();
    if (running === null) return ["the appliance did not start"];
    const client = await this.checkState(running);
    const load = this.createLoad(client, { withScans: true, withBackup: true });
    const loadRun = load.run();
    await Promise.race([load.acknowledged(WRITES_MAX), Bun.sleep(WRITES_MAX_MS)]);
    load.end();
    await withDeadline(loadRun, "the connections to end");
    await running.stop();
    return [...this.disk.unexplained(), ...[...this.disk.mapped].map((path) => `${path} was mapped`)];
  }

  /**
   * Tests the start after a kill before a sync: recovered data was only in the page cache, and must be durable before
   * it is served.
   * @returns unsynced bytes of the log before the start, and once the appliance listened
   */
  async recovery(): Promise<{ readonly before: number; readonly after: number }> {
    const running = await this.start({ FORGETFUL_IGNORE_SYNC: "1" });
    if (running === null) throw new Error("the appliance did not start");
    const client = await this.checkState(running);
    const { networkId } = this.target as LoadTarget;
    await expectOk(client.post("/api/v1/vlans", { network_id: networkId, number: 7 }));
    await this.kill(running);
    // Greater than 0, as the log has the writes of the start: without a log there would be nothing to lose.
    const before = this.disk.uncertainBytes("netledger.db-wal");
    const restarted = await this.start();
    if (restarted === null) throw new Error("the appliance did not restart");
    // Killed before any request: the response to the first one would be read from the log.
    await this.kill(restarted);
    return { before, after: this.disk.uncertainBytes("netledger.db-wal") };
  }

  /** Runs a round on a disk that ignores all syncs, and loses everything. @returns detected problems, and the loss */
  async roundOnLyingDisk(): Promise<{ readonly detected: Problems; readonly loss: Loss }> {
    const running = await this.start({ FORGETFUL_IGNORE_SYNC: "1" });
    if (running === null) throw new Error("the appliance did not start on a disk that ignores syncs");
    const client = await this.checkState(running);
    const load = this.createLoad(client, { withScans: false, withBackup: false });
    const loadRun = load.run();
    await withDeadline(load.acknowledged(20), "writes on a disk that ignores syncs");
    await this.kill(running);
    await withDeadline(loadRun, "the connections to end");
    const detected = noProblems();
    const loss = this.disk.losePower("dropped", this.options.random);
    const restarted = await this.start({}, detected);
    if (restarted !== null) {
      await this.checkState(restarted, detected);
      await this.kill(restarted);
    }
    return { detected, loss };
  }

  /** Final check: starts the appliance, checks everything, stops it cleanly, and verifies the store. */
  async end(): Promise<void> {
    const running = await this.start();
    if (running === null) return;
    await this.checkState(running);
    const { code } = await running.stop();
    if (code !== 0) this.options.problems.starts.push(`the appliance stopped with ${code}`);
    await this.verify();
    this.options.counts.backups += this.state.backups.length;
    for (const { name } of this.state.backups) await this.verify(["--backup", join(this.backups, name)]);
    this.options.problems.refusals.push(...this.state.refusals);
    this.options.counts.acknowledged += this.state.acknowledged.answered;
  }

  private createLoad(client: Client, parts: { readonly withScans: boolean; readonly withBackup: boolean }): Load {
    const { devices, random } = this.options;
    const target = this.target as LoadTarget;
    return new Load({ ...parts, state: this.state, target, client, devices, random, backups: this.backups });
  }

  /** Ends running processes after an aborted round. */
  async abandon(): Promise<void> {
    if (this.lastRunning === null || this.lastRunning.hasEnded) return;
    this.lastRunning.kill("SIGKILL");
    await this.lastRunning.exited;
  }

  private spawn(env: Record<string, string> = {}): Running {
    const { directory, devices, executable } = this.options;
    const args = ["serve", "--data", this.data, "--listen", "127.0.0.1:0", "--snmp-port", String(devices.port)];
    const setup = ["--setup-organization", "Acme", "--setup-network", "Main", "--setup-email", OWNER];
    args.push(...setup, "--setup-password-file", join(directory, "password"));
    this.lastRunning = new Running(spawnPiped([executable, ...args], this.environment(env), directory));
    return this.lastRunning;
  }

  private environment(env: Record<string, string>): Record<string, string> {
    if (this.options.shim === null) return {};
    // Slow syncs leave more to lose: the kill usually interrupts one.
    const delayMs = this.options.random.pick([5, 20, 40]);
    return {
      LD_PRELOAD: this.options.shim,
      FORGETFUL_SKIP_SYNC: "1",
      FORGETFUL_SYNC_DELAY_MS: String(delayMs),
      FORGETFUL_SYNC_JITTER_MS: String(delayMs >> 1),
      ...this.disk.environment,
      ...env,
    };
  }

  private async start(env: Record<string, string> = {}, problems = this.options.problems): Promise<Running | null> {
    const running = this.spawn(env);
    try {
      await running.waitForStart();
      return running;
    } catch (error) {
      problems.starts.push(String(error));
      await this.kill(running);
      return null;
    }
  }

  private async kill(running: Running): Promise<void> {
    running.kill("SIGKILL");
    await withDeadline(running.exited, "the end after SIGKILL");
    this.options.counts.kills += 1;
  }

  private losePower(mode: LossMode, alternatives: number): void {
    const { counts, directory, random, shim, problems } = this.options;
    if (shim === null) return;
    for (let i = 0; i < alternatives; i += 1) {
      const copy = join(directory, "copy");
      rmSync(copy, { recursive: true, force: true });
      this.disk.writePossibleOutcome(copy, "torn", random);
      counts.alternatives += 1;
      problems.corrupt.push(...findFlaws(join(copy, "netledger.db"), this.state.acknowledged.versions));
      if (this.keyFile !== null && this.keyFile !== fileHash(join(copy, "netledger.key")))
        problems.lost.push("netledger.key has changed");
      this.checkBackupFiles(join(copy, "backups"));
    }
    if (mode === "kept") return this.disk.keepAll();
    const loss = this.disk.losePower(mode, random);
    counts.losses += 1;
    for (const name of ["unsyncedBytes", "droppedBytes", "changedNames"] as const) counts[name] += loss[name];
    const copy = join(directory, "copy");
    rmSync(copy, { recursive: true, force: true });
    cpSync(this.data, copy, { recursive: true });
    problems.corrupt.push(...findFlaws(join(copy, "netledger.db"), this.state.acknowledged.versions));
  }

  /** Compares the expected state with the current responses. @returns a signed-in client */
  private async checkState(running: Running, problems: Problems = this.options.problems): Promise<Client> {
    const { counts } = this.options;
    if (this.target === null) return this.createFixtures(running);
    const target = this.target;
    const client = running.client({ cookie: this.cookie });
    const list = async (path: string): Promise<JsonRecord[]> => {
      const response = await client.get(path);
      if (response.status === 200) return response.data;
      problems.lost.push(`GET ${path}: ${response.status} ${response.text.slice(0, 200)}`);
      return [];
    };
    for (const [path, query] of [
      [HOSTS, `network_id=${target.networkId}&`],
      [TAGS, ""],
      [KEYS, ""],
      [IF_ENTRIES, `network_id=${target.networkId}&`],
    ] as const) {
      const listed = await list(`${path}?${query}limit=0`);
      const records =
        path === IF_ENTRIES ? listed.filter(({ host_id }) => this.state.switchIds.includes(host_id)) : listed;
      const { lost, partial } = this.state.acknowledged.compare(path, records);
      problems.lost.push(...lost);
      problems.partial.push(...partial);
    }
    for (const { path, text } of this.state.past) {
      counts.pastResponses += 1;
      const current = statusAndBody(await client.get(path));
      if (!isSamePast(text, current)) problems.past.push(`${path}: was ${firstDifference(text, current)}`);
    }
    await this.checkKeys(running, problems);
    await this.checkScans(client, problems);
    if (this.keyFile !== fileHash(join(this.data, "netledger.key"))) problems.lost.push("netledger.key has changed");
    this.checkBackupFiles(this.backups, problems);
    const listed = await list("/api/v1/backups");
    for (const { name, sequence, hash } of this.state.backups) {
      const current = listed.find((backup) => backup.name === name);
      if (current?.state !== "Done" || current.sequence !== sequence || current.hash !== hash)
        problems.backups.push(`${name} is reported as ${JSON.stringify(current)}`);
    }
    if (listed.some((backup) => backup.state === "Running"))
      problems.backups.push("a backup is reported as running that was never requested");
    return client;
  }

  /** Creates the records that the load needs, after the first completed start. */
  private async createFixtures(running: Running): Promise<Client> {
    const login = await running.client().post("/api/auth/login", { email: OWNER, password: PASSWORD });
    const { id: userId, organization_id: organizationId } = await expectOk(Promise.resolve(login));
    this.cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const client = running.client({ cookie: this.cookie });
    const [main] = (await client.get("/api/v1/networks")).data;
    const scanned = await expectOk(client.post("/api/v1/networks", { name: "Scanned" }));
    await expectOk(client.post("/api/v1/subnets", { network_id: main.id, cidr: "10.0.0.0/8" }));
    const credential = communityCredential(organizationId, "devices", COMMUNITY, [scanned.id]);
    await expectOk(client.post("/api/v1/credentials", credential));
    this.target = { organizationId, userId, networkId: main.id, scannedNetworkId: scanned.id };
    this.keyFile = fileHash(join(this.data, "netledger.key"));
    return client;
  }

  /** Repeats half of the interrupted requests, as a client without a response would: each must be applied just once. */
  private async repeatInterrupted(running: Running, client: Client): Promise<void> {
    const { counts, random, problems } = this.options;
    const { acknowledged, interrupted, keyTexts } = this.state;
    this.state.interrupted = [];
    for (const { request, path, body, key, list, expected, records } of interrupted) {
      if (random.integer(2) === 0) continue;
      const wasWritten = acknowledged.wasWritten(request);
      const answered = acknowledged.register(list, expected);
      const response = await client.send("POST", path, body, { "idempotency-key": key });
      const isReplayed = response.headers.get("idempotency-replayed") === "true";
      answered(response.status === 200 ? records(response.data) : null);
      counts.repeated += 1;
      if (isReplayed) counts.replayed += 1;
      if (response.status !== 200)
        problems.repeated.push(`POST ${path}, repeated: ${response.status} ${response.text.slice(0, 300)}`);
      else if (wasWritten !== null && wasWritten !== isReplayed)
        problems.repeated.push(
          `POST ${path} was ${wasWritten ? "written, but was applied again" : "not written, but was reported as done"}`,
        );
      else if (typeof response.data.key === "string") {
        // Only this response contains the text of the key: it must work.
        const { status } = await running.withKey(response.data.key).get("/api/v1/networks?limit=1");
        if (status !== 200) problems.repeated.push(`the key of POST ${path}, repeated, is refused with ${status}`);
        else keyTexts.set([...expected.keys()][0] as string, response.data.key);
      }
    }
  }

  /** Checks keys by using them, not only as records. */
  private async checkKeys(running: Running, problems: Problems): Promise<void> {
    const liveKeys = [...this.state.keyTexts].filter(
      ([id, text]) => text !== null && this.state.acknowledged.known(id)?.is_enabled === true,
    );
    for (const [id, text] of liveKeys.slice(-5)) {
      const { status } = await running.withKey(text as string).get("/api/v1/networks?limit=1");
      if (status !== 200) problems.lost.push(`the key ${id} is refused with ${status}`);
    }
    // After an unanswered rotation, the working text is unknown.
    for (const [id, text] of this.state.keyTexts) if (text === null) this.state.keyTexts.delete(id);
  }

  private async checkScans(client: Client, problems: Problems): Promise<void> {
    const { counts } = this.options;
    for (const [id, known] of this.state.scans) {
      const { status, data } = await client.get(`${SCANS}/${id}`);
      const isOpen = known.status === "Queued" || known.status === "Running";
      if (status !== 200) problems.scans.push(`the scan ${id}, which was ${known.status}, returns ${status}`);
      else if (isOpen && !["Interrupted", "Completed"].includes(data.status))
        problems.scans.push(`the scan ${id} was ${known.status} and is ${data.status}: ${data.outcome?.problem}`);
      else if (!isOpen && !Bun.deepEquals(data, known))
        problems.scans.push(`the scan ${id} was ${JSON.stringify(known)} and is ${JSON.stringify(data)}`);
      else if (!isOpen && data.status !== "Completed" && data.status !== "Interrupted")
        problems.scans.push(`the scan ${id} is ${data.status}: ${data.outcome?.problem}`);
      if (isOpen && data?.status === "Interrupted") counts.scansInterrupted += 1;
      if (data?.status === "Completed") counts.scansCompleted += 1;
      this.state.scans.delete(id);
    }
    for (const status of ["Queued", "Running"]) {
      const open = await client.get(`${SCANS}?status=${status}`);
      if (open.status === 200 && open.data.some((scan: JsonRecord) => scan.status === status))
        problems.scans.push(`a scan is ${status} after the start`);
    }
  }

  private checkBackupFiles(directory: string, problems: Problems = this.options.problems): void {
    for (const { name, sha256 } of this.state.backups) {
      const path = join(directory, name);
      if (!existsSync(path)) problems.backups.push(`${name} is missing`);
      else if (sha256Of(path, readFileSync(path)) !== sha256) problems.backups.push(`${name} has changed`);
    }
  }

  private async verify(extra: readonly string[] = []): Promise<void> {
    const { counts, executable, problems } = this.options;
    const args = extra.length > 0 ? extra : ["--data", this.data];
    const environment = this.environment({ FORGETFUL_SYNC_DELAY_MS: "0" });
    const child = spawnPiped([executable, "verify", ...args], environment, this.options.directory);
    child.stdin.end();
    const { out, err, code } = await waitForExit(child, "verify to end");
    counts.verified += 1;
    if (code !== 0)
      problems.corrupt.push(`verify ${args.join(" ")} ends with ${code}: ${out.slice(0, 500)} ${err.slice(0, 500)}`);
  }
}

function fileHash(path: string): string {
  return existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "none";
}

const VALID_TO = /,"valid_to":(null|"[^"]*")/g;

/** Whether two past responses are equal, except for `valid_to`: the next version sets it, and then it never changes. */
function isSamePast(previous: string, current: string): boolean {
  if (previous === current) return true;
  return (
    previous.replaceAll(VALID_TO, "") === current.replaceAll(VALID_TO, "") &&
    keepsValidTo(JSON.parse(previous.slice(4)), JSON.parse(current.slice(4)))
  );
}

function keepsValidTo(previous: unknown, current: unknown): boolean {
  if (typeof previous !== "object" || previous === null) return true;
  return Object.entries(previous).every(([name, value]) => {
    const actual = (current as Record<string, unknown>)[name];
    return name === "valid_to" ? value === null || value === actual : keepsValidTo(value, actual);
  });
}

/** Describes the first difference between two strings. */
function firstDifference(expected: string, actual: string): string {
  let index = 0;
  while (index < expected.length && expected[index] === actual[index]) index += 1;
  return `…${expected.slice(Math.max(0, index - 60), index + 60)}… and is …${actual.slice(Math.max(0, index - 20), index + 60)}…`;
}
