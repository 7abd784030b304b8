// A whole appliance on a real SQLite file, in this process: the real app, the real commands, an injected clock.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccessGate } from "../../src/access/gate.ts";
import { RightsNow } from "../../src/access/rights-now.ts";
import { generateSessionToken, hashSessionToken } from "../../src/access/session-token.ts";
import { SignInThrottle } from "../../src/access/sign-in-throttle.ts";
import { SignIn } from "../../src/access/sign-in.ts";
import { SYSTEM_AUTHOR, UsageRecorder } from "../../src/access/usage.ts";
import { createApp } from "../../src/app.ts";
import { BackupFolder, type BackupFolderOptions } from "../../src/backup/backups.ts";
import { takeBackup } from "../../src/backup/take.ts";
import type { Clock } from "../../src/base/clock.ts";
import { formatInstant, type Instant } from "../../src/base/instant.ts";
import type { Timers } from "../../src/base/timers.ts";
import { createLog } from "../../src/base/log.ts";
import { SecretBox } from "../../src/base/secret-box.ts";
import { UuidSource } from "../../src/base/uuid.ts";
import { openReadOnly, type Sql } from "../../src/db/connection.ts";
import type { LongReads } from "../../src/db/long-reads.ts";
import { Reader } from "../../src/db/reader.ts";
import { DirectWriteQueue } from "../../src/db/write-queue.ts";
import { ScanDirector } from "../../src/discovery/scans/director.ts";
import { openScanMachine, type MachineParts } from "../../src/discovery/scans/scan-machine.ts";
import { areScansUnderWay, organizationIdOf } from "../../src/discovery/scans/scan-reads.ts";
import type { MachineSnapshot } from "../../src/discovery/self/machine.ts";
import { readMachine } from "../../src/discovery/self/read-machine.ts";
import { linksOf } from "../../src/discovery/topology/find-links.ts";
import type { OrganizationMade } from "../../src/resources/organizations/commands.ts";
import { LONG_READS } from "../../src/reads.ts";
import { CommitWatch } from "../../src/history/commit-watch.ts";
import { commandsOf, openWriter } from "../../src/writer.ts";
import { Client } from "./client.ts";
import { directScanThread, type DirectScanThread } from "./direct-scan-thread.ts";
import { FakeProbes } from "./fake-probes.ts";
import { documentCheck } from "./openapi.ts";
import { seededRandom, type SeededRandom } from "./seeded-random.ts";
import { DirectLongReads } from "./direct-long-reads.ts";

/** A clock that stands still until it is told to move. */
export class TestClock implements Clock {
  private at: Instant = Date.UTC(2026, 10, 21, 9, 0, 0, 0);

  now(): Instant {
    return this.at;
  }

  /** Moves by so many milliseconds; backwards too. */
  advance(ms: number): Instant {
    this.at += ms;
    return this.at;
  }

  text(): string {
    return formatInstant(this.at);
  }
}

/** Timers that go off when a test lets the time pass: never by themselves. */
export class TestTimers implements Timers {
  private readonly clock: TestClock;
  private readonly waiting = new Map<() => void, Instant>();

  constructor(clock: TestClock) {
    this.clock = clock;
  }

  after(ms: number, action: () => void): () => void {
    const entry = () => action();
    this.waiting.set(entry, this.clock.now() + ms);
    return () => this.waiting.delete(entry);
  }

  /** How many there are. */
  get count(): number {
    return this.waiting.size;
  }

  /** Moves the clock, and sets off what is due by then, in its order. */
  pass(ms: number): void {
    const now = this.clock.advance(ms);
    const due = [...this.waiting].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]);
    for (const [entry] of due) if (this.waiting.delete(entry)) entry();
  }
}

/** An appliance that nobody has claimed yet. */
export interface UnclaimedAppliance {
  readonly clock: TestClock;
  readonly timers: TestTimers;
  readonly random: SeededRandom;
  readonly reader: Reader;
  readonly writes: DirectWriteQueue;
  readonly databasePath: string;
  readonly dataDirectory: string;
  /** What secrets at rest are sealed with. */
  readonly secretKey: Uint8Array;
  readonly logLines: string[];
  /** The long reads that were started, by name. */
  readonly longReadsAsked: string[];
  /** The scans that wait and run. */
  readonly scans: ScanDirector;
  readonly scanThread: DirectScanThread;
  /** The network that is scanned. */
  readonly probes: FakeProbes;
  /** Without credentials. Every client that is made from it checks each answer against the OpenAPI document. */
  readonly anonymous: Client;
  readonly app: ReturnType<typeof createApp>["app"];
  readonly surface: ReturnType<typeof createApp>["surface"];
  handle(request: Request): Promise<Response>;
  /** Another organization with its network and Owner. */
  newOrganization(name: string): Promise<OrganizationMade>;
  /** Signed in as a user, by a session made without the sign-in's cost. */
  signedIn(userId: string): Promise<Client>;
  close(): Promise<void>;
}

export interface TestAppliance extends UnclaimedAppliance {
  /** The organization that was set up first. */
  readonly first: OrganizationMade;
  /** Signed in as the Owner of the first organization. */
  readonly owner: Client;
}

/** What every user of a test signs in with, unless the test set another one. */
export const PASSWORD = "correct horse battery";

/** Argon2id of PASSWORD with parameters that cost nothing: verifying takes them from here. */
export const PASSWORD_HASH =
  "$argon2id$v=19$m=8,t=1,p=1$hi+dvdZ3QO6cysXiYM3ik3km7Zqn+uRyf6Z/AICjmzQ$qiNGiDUqui2AouP9sJHy6h3Vht39IIHZ4eqIbHINgII";

/** What claims an appliance that was not set up. */
export const SETUP_TOKEN = "7K3M-0QXZ-V9T2-H4RC-8WJP-5NDF-1BGY";

export interface TestApplianceOptions {
  /** What requests are timed by; it stands still where none is given. */
  monotonicMs?: () => number;
  isTls?: boolean;
  /** Puts a database where the appliance opens its own. */
  prepare?: (databasePath: string) => void;
  /** What self discovery finds; the real machine where none is given. */
  machine?: MachineSnapshot;
  /** How backups are taken, where not by a copy in this process. */
  backups?: Partial<BackupFolderOptions>;
  /** What scans go by. */
  scanning?: { readonly secretsFolder?: string } & Partial<Pick<MachineParts, "commands" | "links">>;
}

export async function newAppliance(options: TestApplianceOptions = {}): Promise<TestAppliance> {
  const unclaimed = newUnclaimedAppliance(options);
  const first = await unclaimed.newOrganization("First");
  return { ...unclaimed, first, owner: await unclaimed.signedIn(first.userId) };
}

export function newUnclaimedAppliance(options: TestApplianceOptions = {}): UnclaimedAppliance {
  const dataDirectory = mkdtempSync(join(tmpdir(), "netledger-test-"));
  const databasePath = join(dataDirectory, "netledger.db");
  options.prepare?.(databasePath);
  const clock = new TestClock();
  const random = seededRandom(1);
  const discoveryIds = new UuidSource(random);
  const logLines: string[] = [];
  const timers = new TestTimers(clock);
  const log = createLog({ write: (line) => logLines.push(line), format: "text", clock });
  const secretKey = random.bytes(32);
  const writer = openWriter({ databasePath, secretKey }, clock, random);
  // Nobody pulls the plug on it: the thousands of commits of a test file need not wait for the disk.
  (writer as unknown as { db: Sql }).db.$client.run("PRAGMA synchronous = OFF");
  const writes = new DirectWriteQueue(writer);
  const db = openReadOnly(databasePath);
  const reader = new Reader(db, clock);
  const gate = new AccessGate({ reader, clock, usage: new UsageRecorder(writes, log) });
  const longReadsAsked: string[] = [];
  const direct = new DirectLongReads(reader, LONG_READS);
  const longReads: LongReads = {
    start: (name, input, options) => {
      longReadsAsked.push(name);
      return direct.start(name, input, options);
    },
    close: () => direct.close(),
  };
  const probes = new FakeProbes();
  const {
    secretsFolder = null,
    commands = commandsOf(new SecretBox(secretKey, random)),
    links = linksOf,
  } = options.scanning ?? {};
  const scanThread = directScanThread(() =>
    openScanMachine({ databasePath, secretKey, secretsFolder }, { probes, commands, links, clock, timers, random }),
  );
  const rights = new RightsNow(db.$client);
  const scans = new ScanDirector({
    writes,
    startThread: scanThread.start,
    threadOptions: {},
    timers,
    log,
    organizationIdOf: (networkId) => organizationIdOf(reader, networkId),
    hasLeftBehind: () => areScansUnderWay(reader),
    mayOrder: (orderer) => rights.mayOrder(orderer, clock.now()),
  });
  const { app, surface } = createApp({
    limitations: [],
    inventory: { reader, writes, longReads, log, authorOf: (call) => gate.authorOf(call) },
    gate,
    signIn: new SignIn({
      reader,
      writes,
      gate,
      clock,
      random,
      throttle: new SignInThrottle(clock),
      setupToken: () => SETUP_TOKEN,
    }),
    clock,
    watch: new CommitWatch({
      commits: writes.commits,
      timers,
      head: () => reader.head().sequence,
      monotonicMs: () => clock.now(),
    }),
    random,
    log,
    bodyChecks: null,
    timers,
    requestIdPrefix: "test",
    monotonicMs: options.monotonicMs ?? (() => 0),
    backups: new BackupFolder({
      directory: join(dataDirectory, "backups"),
      database: databasePath,
      takeBackup: (order) => ({ taken: takeBackup(order), abandon: () => {} }),
      clock,
      log,
      ...options.backups,
    }),
    isReadOnly: false,
    isTls: options.isTls ?? false,
    scans,
    discovery: {
      newDiscoveryId: () => discoveryIds.next(clock.now()),
      readMachine: async () => options.machine ?? (await readMachine()),
    },
  });
  const handle = async (request: Request) => app.handle(request);
  const anonymous = new Client(handle, {}, "http://localhost", documentCheck(handle));
  const setUp = async (name: string) => {
    const { result } = await writes.run<OrganizationMade>(
      "organization.set_up",
      {
        organizationName: name,
        networkName: `${name} network`,
        email: `owner@${name.toLowerCase().replaceAll(/\W/g, "-")}.example`,
        passwordHash: PASSWORD_HASH,
        onlyFirst: false,
      },
      SYSTEM_AUTHOR,
    );
    clock.advance(1_000);
    return result;
  };
  const signedIn = async (userId: string) => {
    const token = generateSessionToken(random);
    await writes.run("session.open", { hash: hashSessionToken(token), userId, at: clock.now() }, SYSTEM_AUTHOR);
    return anonymous.with({ cookie: `session_id=${token}` });
  };
  return {
    clock,
    timers,
    random,
    reader,
    writes,
    databasePath,
    dataDirectory,
    secretKey,
    logLines,
    longReadsAsked,
    scans,
    scanThread,
    probes,
    anonymous,
    app,
    surface,
    handle,
    newOrganization: setUp,
    signedIn,
    close: async () => {
      await scans.stop();
      db.$client.close();
      await writes.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
