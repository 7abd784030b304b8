// One store through many rounds: start, check, writes, kill, and loss of unsynced data.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../../test/support/appliance/client.ts";
import { made, type Wire } from "../../../test/support/appliance/factories.ts";
import { finished, PASSWORD, Running, spawnPiped, withDeadline } from "../../../test/support/executable/executable.ts";
import type { SeededRandom } from "../../../test/support/injected/seeded-random.ts";
import type { Devices } from "./devices.ts";
import { COMMUNITY } from "./devices.ts";
import { type Fate, ForgetfulDisk, type Loss } from "./forgetful-disk.ts";
import { HOSTS, IF_ENTRIES, KEYS, Load, Memory, type Place, SCANS, sha256Of, TAGS, timeless } from "./load.ts";
import { flawsOf } from "./store-checks.ts";

/** Moment of the kill. */
export type Moment =
  /** Some time after the start of the load. */
  | "load"
  /** Shortly after sending a bulk write. */
  | "bulk"
  /** During an orderly stop with its checkpoint. */
  | "stop"
  /** Before it has reported that it listens. */
  | "start"
  /** After the check of all existing records, before any write. */
  | "look";

/** Failures by the claim that they break. */
export interface Troubles {
  readonly lost: string[];
  readonly half: string[];
  readonly repeated: string[];
  readonly unsound: string[];
  readonly past: string[];
  readonly scans: string[];
  readonly backups: string[];
  readonly refusals: string[];
  readonly starts: string[];
}

export function noTroubles(): Troubles {
  return { lost: [], half: [], repeated: [], unsound: [], past: [], scans: [], backups: [], refusals: [], starts: [] };
}

/** Totals of the rounds. */
export interface Counts {
  kills: number;
  losses: number;
  /** Number of alternative power losses checked. */
  otherWays: number;
  acknowledged: number;
  unanswered: number;
  /** Interrupted requests sent again, and those of them already applied. */
  repeated: number;
  replayed: number;
  pastAnswers: number;
  scansCompleted: number;
  scansInterrupted: number;
  backups: number;
  verified: number;
  unsyncedBytes: number;
  droppedBytes: number;
  changedNames: number;
}

export function noCounts(): Counts {
  return {
    kills: 0,
    losses: 0,
    otherWays: 0,
    acknowledged: 0,
    unanswered: 0,
    repeated: 0,
    replayed: 0,
    pastAnswers: 0,
    scansCompleted: 0,
    scansInterrupted: 0,
    backups: 0,
    verified: 0,
    unsyncedBytes: 0,
    droppedBytes: 0,
    changedNames: 0,
  };
}

interface TrialOptions {
  readonly executable: string;
  /** Of this store only; created. */
  readonly directory: string;
  readonly devices: Devices;
  readonly random: SeededRandom;
  /** Null without a compiler: then a kill loses nothing. */
  readonly shim: string | null;
  readonly troubles: Troubles;
  readonly counts: Counts;
}

export interface Round {
  readonly fate: Fate;
  readonly moment: Moment;
  readonly withScans: boolean;
  readonly withBackup: boolean;
  readonly verifies: boolean;
  /** Number of alternatives checked per loss. */
  readonly otherWays: number;
}

/** Acknowledged writes before the kill, and the timeout for them on a busy machine. */
const WRITES_MAX = 160;
const WRITES_MAX_MS = 1_500;
const START_SPREAD_MS = 260;

export class Trial {
  readonly memory = new Memory();
  private readonly options: TrialOptions;
  private readonly data: string;
  private readonly log: string;
  private readonly disk: ForgetfulDisk;
  private place: Place | null = null;
  private last: Running | null = null;
  private cookie = "";
  private keyFile: string | null = null;

  constructor(options: TrialOptions) {
    this.options = options;
    this.data = join(options.directory, "data");
    this.log = join(options.directory, "disk.log");
    mkdirSync(this.data, { recursive: true, mode: 0o700 });
    Bun.write(join(options.directory, "password"), `${PASSWORD}\n`);
    this.disk = new ForgetfulDisk(this.data, this.log);
  }

  /** Kills it during its first creation of data, several times. */
  async killWhileMaking(times: number, fates: readonly Fate[]): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const child = this.spawn();
      await Promise.race([child.exited, Bun.sleep(this.options.random.integer(START_SPREAD_MS * 2))]);
      await this.kill(child);
      this.losePower(this.options.random.pick(fates), 0);
    }
  }

  /** Starts it, checks the results of all earlier rounds, writes, kills, and applies the fate. */
  async round({ fate, moment, withScans, withBackup, verifies, otherWays }: Round): Promise<void> {
    const { counts, random } = this.options;
    if (moment === "start") {
      const child = this.spawn();
      await Promise.race([child.exited, Bun.sleep(random.integer(START_SPREAD_MS))]);
      await this.kill(child);
      this.losePower(fate, otherWays);
      return;
    }
    const verifiesBeside = random.integer(2) === 0;
    if (verifies && !verifiesBeside && this.place !== null) await this.verify();
    const running = await this.start();
    if (running === null) return;
    const client = await this.lookThrough(running);
    if (verifies && verifiesBeside) await this.verify();
    if (moment === "look") {
      await this.kill(running);
      this.losePower(fate, otherWays);
      return;
    }
    await this.repeatCutOff(running, client);
    const load = this.loadOn(client, { withScans, withBackup });
    const bulk = load.bulk;
    const ran = load.run();
    const spread = Promise.race([
      load.acknowledged(1 + random.integer(WRITES_MAX)).then(() => Bun.sleep(random.integer(10))),
      Bun.sleep(WRITES_MAX_MS),
    ]);
    const shortly = random.integer(60);
    if (moment === "bulk")
      await Promise.race([Promise.all([spread, bulk]).then(() => Bun.sleep(shortly)), running.exited]);
    else await Promise.race([spread, running.exited]);
    if (running.hasEnded) this.options.troubles.starts.push(`it ended on its own: ${running.log.slice(-300)}`);
    if (moment === "stop") {
      running.kill("SIGTERM");
      await Promise.race([running.exited, Bun.sleep(shortly * 3)]);
    }
    await this.kill(running);
    await withDeadline(ran, "the connections to end");
    counts.unanswered += this.memory.acknowledged.unanswered;
    this.losePower(fate, otherWays);
    rmSync(join(this.options.directory, "copy"), { recursive: true, force: true });
  }

  /** A round with an orderly stop. @returns files whose contents the log does not explain */
  async calmRound(): Promise<string[]> {
    const running = await this.start();
    if (running === null) return ["it did not start"];
    const client = await this.lookThrough(running);
    const load = this.loadOn(client, { withScans: true, withBackup: true });
    const ran = load.run();
    await Promise.race([load.acknowledged(WRITES_MAX), Bun.sleep(WRITES_MAX_MS)]);
    load.end();
    await withDeadline(ran, "the connections to end");
    await running.stop();
    return [...this.disk.unexplained(), ...[...this.disk.mapped].map((path) => `${path} was mapped`)];
  }

  /**
   * After a kill before a sync, recovered data was only in the page cache; from then on it is answered, so it must be
   * durable.
   * @returns unsynced bytes of the log before the start, and once it listened
   */
  async recovery(): Promise<{ readonly before: number; readonly after: number }> {
    const running = await this.start({ FORGETFUL_IGNORE_SYNC: "1" });
    if (running === null) throw new Error("it did not start");
    const client = await this.lookThrough(running);
    const { networkId } = this.place as Place;
    await made(client.post("/api/v1/vlans", { network_id: networkId, number: 7 }));
    await this.kill(running);
    // A missing log has nothing to lose; this one has the writes of the start.
    const before = this.disk.uncertainBytes("netledger.db-wal");
    const again = await this.start();
    if (again === null) throw new Error("it did not start again");
    // No request so far: the answer to the first one would be read from there.
    await this.kill(again);
    return { before, after: this.disk.uncertainBytes("netledger.db-wal") };
  }

  /** A round on a disk that ignores all syncs; everything is lost then. @returns detected failures, and the loss */
  async roundOnLiar(): Promise<{ readonly noticed: Troubles; readonly loss: Loss }> {
    const running = await this.start({ FORGETFUL_IGNORE_SYNC: "1" });
    if (running === null) throw new Error("it did not start on a disk that lies");
    const client = await this.lookThrough(running);
    const load = this.loadOn(client, { withScans: false, withBackup: false });
    const ran = load.run();
    await withDeadline(load.acknowledged(20), "writes that a disk which lies forgets");
    await this.kill(running);
    await withDeadline(ran, "the connections to end");
    const noticed = noTroubles();
    const loss = this.disk.losePower("dropped", this.options.random);
    const again = await this.start({}, noticed);
    if (again !== null) {
      await this.lookThrough(again, noticed);
      await this.kill(again);
    }
    return { noticed, loss };
  }

  /** Final check: starts it, checks everything, stops it in order, verifies. */
  async end(): Promise<void> {
    const running = await this.start();
    if (running === null) return;
    await this.lookThrough(running);
    const { code } = await running.stop();
    if (code !== 0) this.options.troubles.starts.push(`it stopped with ${code}`);
    await this.verify();
    this.options.counts.backups += this.memory.backups.length;
    for (const { name } of this.memory.backups) await this.verify(["--backup", join(this.data, "backups", name)]);
    this.options.troubles.refusals.push(...this.memory.refusals);
    this.options.counts.acknowledged += this.memory.acknowledged.answered;
  }

  private loadOn(client: Client, parts: { readonly withScans: boolean; readonly withBackup: boolean }): Load {
    const { devices, random } = this.options;
    const backups = join(this.data, "backups");
    return new Load({ memory: this.memory, place: this.place as Place, client, devices, random, backups, ...parts });
  }

  /** Ends running processes after an aborted round. */
  async abandon(): Promise<void> {
    if (this.last === null || this.last.hasEnded) return;
    this.last.kill("SIGKILL");
    await this.last.exited;
  }

  private spawn(env: Record<string, string> = {}): Running {
    const { directory, devices, executable } = this.options;
    const args = ["serve", "--data", this.data, "--listen", "127.0.0.1:0", "--snmp-port", String(devices.port)];
    const setup = [
      "--setup-organization",
      "Acme",
      "--setup-network",
      "Main",
      "--setup-email",
      "owner@acme.example",
      "--setup-password-file",
      join(directory, "password"),
    ];
    this.last = new Running(spawnPiped([executable, ...args, ...setup], this.environment(env), directory));
    return this.last;
  }

  private environment(env: Record<string, string>): Record<string, string> {
    if (this.options.shim === null) return {};
    return {
      LD_PRELOAD: this.options.shim,
      FORGETFUL_SKIP_SYNC: "1",
      ...this.syncs(),
      ...this.disk.environment,
      ...env,
    };
  }

  /** Slow syncs leave more to lose: the kill usually hits one in progress. */
  private syncs(): Record<string, string> {
    const delayMs = this.options.random.pick([5, 20, 40]);
    return { FORGETFUL_SYNC_DELAY_MS: String(delayMs), FORGETFUL_SYNC_JITTER_MS: String(delayMs >> 1) };
  }

  private async start(
    env: Record<string, string> = {},
    troubles: Troubles = this.options.troubles,
  ): Promise<Running | null> {
    const running = this.spawn(env);
    try {
      await running.greeted();
      return running;
    } catch (error) {
      troubles.starts.push(String(error));
      await this.kill(running);
      return null;
    }
  }

  private async kill(running: Running): Promise<void> {
    running.kill("SIGKILL");
    await withDeadline(running.exited, "the end after SIGKILL");
    this.options.counts.kills += 1;
  }

  private losePower(fate: Fate, otherWays: number): void {
    const { counts, directory, random, shim, troubles } = this.options;
    if (shim === null) return;
    for (let way = 0; way < otherWays; way += 1) {
      const copy = join(directory, "copy");
      rmSync(copy, { recursive: true, force: true });
      this.disk.couldHaveLeft(copy, "torn", random);
      counts.otherWays += 1;
      troubles.unsound.push(...flawsOf(join(copy, "netledger.db"), this.memory.acknowledged.versions));
      if (this.keyFile !== null && this.keyFile !== fileHash(join(copy, "netledger.key")))
        troubles.lost.push("netledger.key has changed");
      this.checkBackupFiles(join(copy, "backups"));
    }
    if (fate === "kept") {
      this.disk.keep();
      return;
    }
    this.addUp(this.disk.losePower(fate, random));
    const copy = join(directory, "copy");
    rmSync(copy, { recursive: true, force: true });
    cpSync(this.data, copy, { recursive: true });
    troubles.unsound.push(...flawsOf(join(copy, "netledger.db"), this.memory.acknowledged.versions));
  }

  private addUp(loss: Loss): void {
    const { counts } = this.options;
    counts.losses += 1;
    counts.unsyncedBytes += loss.unsyncedBytes;
    counts.droppedBytes += loss.droppedBytes;
    counts.changedNames += loss.changedNames;
  }

  /** Compares all known state with the current answers. @returns a signed-in client */
  private async lookThrough(running: Running, troubles: Troubles = this.options.troubles): Promise<Client> {
    const { counts } = this.options;
    if (this.place === null) return this.settleIn(running);
    const place = this.place;
    const client = running.client({ cookie: this.cookie });
    const list = async (path: string): Promise<Wire[]> => {
      const answer = await client.get(path);
      if (answer.status === 200) return answer.data;
      troubles.lost.push(`GET ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
      return [];
    };
    const switches = new Set(this.memory.switchIds);
    for (const [path, records] of [
      [HOSTS, await list(`${HOSTS}?network_id=${place.networkId}&limit=0`)],
      [TAGS, await list(`${TAGS}?limit=0`)],
      [KEYS, await list(`${KEYS}?limit=0`)],
      [
        IF_ENTRIES,
        (await list(`${IF_ENTRIES}?network_id=${place.networkId}&limit=0`)).filter(({ host_id }) =>
          switches.has(host_id),
        ),
      ],
    ] as const) {
      const { lost, half } = this.memory.acknowledged.compare(path, records);
      troubles.lost.push(...lost);
      troubles.half.push(...half);
    }
    for (const { path, text } of this.memory.past) {
      counts.pastAnswers += 1;
      const now = timeless(await client.get(path));
      if (!isSamePast(text, now)) troubles.past.push(`${path}: was ${differing(text, now)}`);
    }
    await this.checkKeys(running, troubles);
    await this.checkScans(client, troubles);
    if (this.keyFile !== fileHash(join(this.data, "netledger.key"))) troubles.lost.push("netledger.key has changed");
    this.checkBackupFiles(join(this.data, "backups"), troubles);
    const told = await list("/api/v1/backups");
    for (const { name, sequence, hash } of this.memory.backups) {
      const now = told.find((backup) => backup.name === name);
      if (now?.state !== "Done" || now.sequence !== sequence || now.hash !== hash)
        troubles.backups.push(`${name} is reported as ${JSON.stringify(now)}`);
    }
    if (told.some((backup) => backup.state === "Running"))
      troubles.backups.push("a backup is reported as running that was never requested");
    return client;
  }

  /** Records that the load needs: created in the first completed start. */
  private async settleIn(running: Running): Promise<Client> {
    const login = await running.client().post("/api/auth/login", { email: "owner@acme.example", password: PASSWORD });
    const { id: userId, organization_id: organizationId } = await made(Promise.resolve(login));
    this.cookie = (login.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const client = running.client({ cookie: this.cookie });
    const [main] = (await client.get("/api/v1/networks")).data;
    const scanned = await made(client.post("/api/v1/networks", { name: "Scanned" }));
    await made(client.post("/api/v1/subnets", { network_id: main.id, cidr: "10.0.0.0/8" }));
    await made(
      client.post("/api/v1/credentials", {
        organization_id: organizationId,
        name: "devices",
        credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: COMMUNITY } },
        assigned_network_ids: [scanned.id],
        host_assignments: [],
        tags: [],
      }),
    );
    this.place = { organizationId, userId, networkId: main.id, scannedNetworkId: scanned.id };
    this.keyFile = fileHash(join(this.data, "netledger.key"));
    return client;
  }

  /**
   * Repeats half of the interrupted requests, like a client without their answers: each must be applied exactly once.
   */
  private async repeatCutOff(running: Running, client: Client): Promise<void> {
    const { counts, random, troubles } = this.options;
    const { acknowledged, cutOff, keyTexts } = this.memory;
    this.memory.cutOff = [];
    for (const { request, path, body, key, list, wanted, records } of cutOff) {
      if (random.integer(2) === 0) continue;
      const wasWritten = acknowledged.wasWritten(request);
      const answered = acknowledged.ask(list, wanted);
      const answer = await client.send("POST", path, body, { "idempotency-key": key });
      const isReplayed = answer.headers.get("idempotency-replayed") === "true";
      answered(answer.status === 200 ? records(answer.data) : null);
      counts.repeated += 1;
      if (isReplayed) counts.replayed += 1;
      if (answer.status !== 200)
        troubles.repeated.push(`POST ${path}, sent again: ${answer.status} ${answer.text.slice(0, 300)}`);
      else if (wasWritten !== null && wasWritten !== isReplayed)
        troubles.repeated.push(
          `POST ${path} was ${wasWritten ? "written, and was done again" : "not written, and was answered as done"}`,
        );
      else if (typeof answer.data.key === "string") {
        // A key whose text was never received, until now.
        const { status } = await running.withKey(answer.data.key).get("/api/v1/networks?limit=1");
        if (status !== 200) troubles.repeated.push(`the key of POST ${path}, sent again, is refused with ${status}`);
        else keyTexts.set([...wanted.keys()][0] as string, answer.data.key);
      }
    }
  }

  /** Checks keys by using them, not only as records. */
  private async checkKeys(running: Running, troubles: Troubles): Promise<void> {
    const living = [...this.memory.keyTexts].filter(
      ([id, text]) => text !== null && this.memory.acknowledged.known(id)?.is_enabled === true,
    );
    for (const [id, text] of living.slice(-5)) {
      const { status } = await running.withKey(text as string).get("/api/v1/networks?limit=1");
      if (status !== 200) troubles.lost.push(`the key ${id} is refused with ${status}`);
    }
    // After an unanswered rotation, it is unknown which text works.
    for (const [id, text] of this.memory.keyTexts) if (text === null) this.memory.keyTexts.delete(id);
  }

  private async checkScans(client: Client, troubles: Troubles): Promise<void> {
    const { counts } = this.options;
    for (const [id, known] of this.memory.scans) {
      const { status, data } = await client.get(`${SCANS}/${id}`);
      const isOpen = known.status === "Queued" || known.status === "Running";
      if (status !== 200) troubles.scans.push(`the scan ${id}, which was ${known.status}, is answered with ${status}`);
      else if (isOpen && !["Interrupted", "Completed"].includes(data.status))
        troubles.scans.push(`the scan ${id} was ${known.status} and is ${data.status}: ${data.outcome?.problem}`);
      else if (!isOpen && !Bun.deepEquals(data, known))
        troubles.scans.push(`the scan ${id} was ${JSON.stringify(known)} and is ${JSON.stringify(data)}`);
      else if (!isOpen && data.status !== "Completed" && data.status !== "Interrupted")
        troubles.scans.push(`the scan ${id} is ${data.status}: ${data.outcome?.problem}`);
      if (isOpen && data?.status === "Interrupted") counts.scansInterrupted += 1;
      if (data?.status === "Completed") counts.scansCompleted += 1;
      this.memory.scans.delete(id);
    }
    for (const status of ["Queued", "Running"]) {
      const open = await client.get(`${SCANS}?status=${status}`);
      if (open.status === 200 && open.data.some((scan: Wire) => scan.status === status))
        troubles.scans.push(`a scan is ${status} after the start`);
    }
  }

  private checkBackupFiles(directory: string, troubles: Troubles = this.options.troubles): void {
    for (const { name, sha256 } of this.memory.backups) {
      const path = join(directory, name);
      if (!existsSync(path)) troubles.backups.push(`${name} is missing`);
      else if (sha256Of(path, readFileSync(path)) !== sha256) troubles.backups.push(`${name} has changed`);
    }
  }

  private async verify(extra: readonly string[] = []): Promise<void> {
    const { counts, executable, troubles } = this.options;
    const args = extra.length > 0 ? extra : ["--data", this.data];
    const environment = this.environment({ FORGETFUL_SYNC_DELAY_MS: "0" });
    const child = spawnPiped([executable, "verify", ...args], environment, this.options.directory);
    child.stdin.end();
    const { out, err, code } = await finished(child, "verify to end");
    counts.verified += 1;
    if (code !== 0)
      troubles.unsound.push(`verify ${args.join(" ")} ends with ${code}: ${out.slice(0, 500)} ${err.slice(0, 500)}`);
  }
}

function fileHash(path: string): string {
  return existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "none";
}

const VALID_TO = /,"valid_to":(null|"[^"]*")/g;

/** Byte for byte, except for the end of the state: the next version adds `valid_to`, which then never changes. */
function isSamePast(then: string, now: string): boolean {
  if (then === now) return true;
  return (
    then.replaceAll(VALID_TO, "") === now.replaceAll(VALID_TO, "") &&
    keepEnds(JSON.parse(then.slice(4)), JSON.parse(now.slice(4)))
  );
}

function keepEnds(then: unknown, now: unknown): boolean {
  if (typeof then !== "object" || then === null) return true;
  return Object.entries(then).every(([name, value]) => {
    const other = (now as Record<string, unknown>)[name];
    return name === "valid_to" ? value === null || value === other : keepEnds(value, other);
  });
}

/** First difference of two texts. */
function differing(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return `…${one.slice(Math.max(0, at - 60), at + 60)}… and is …${other.slice(Math.max(0, at - 20), at + 60)}…`;
}
