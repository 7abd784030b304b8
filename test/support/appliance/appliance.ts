// Complete in-process appliance on a real SQLite file: the real app, the real commands, and an injected clock.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { AuthorPermissions } from "../../../src/access/current-permissions.ts";
import { generateSessionToken, hashSessionToken } from "../../../src/access/session-token.ts";
import { BackupFolder, type BackupFolderOptions } from "../../../src/backup/backups.ts";
import { takeBackup } from "../../../src/backup/take.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { Counters } from "../../../src/base/counters.ts";
import { formatInstant, type Instant } from "../../../src/base/instant.ts";
import type { Cidr } from "../../../src/base/ip.ts";
import { createLog, type Log } from "../../../src/base/log.ts";
import type { Timers } from "../../../src/base/timers.ts";
import { UuidSource } from "../../../src/base/uuid.ts";
import { CommitWatch } from "../../../src/db/commit-watch.ts";
import { Commits } from "../../../src/db/commits.ts";
import { openReadOnly, type Sql } from "../../../src/db/connection.ts";
import type { LongReads } from "../../../src/db/reading/long-reads.ts";
import { Reader } from "../../../src/db/reading/reader.ts";
import { DirectWriteQueue } from "../../../src/db/writing/write-queue.ts";
import { ScanDirector } from "../../../src/discovery/scans/director.ts";
import { type MachineParts, openScanMachine } from "../../../src/discovery/scans/scan-machine.ts";
import { areScansActive, organizationIdOf } from "../../../src/discovery/scans/scan-reads.ts";
import { type ScanMessages, type ScannerOptions, serveScans } from "../../../src/discovery/scans/scan-thread.ts";
import type { MachineSnapshot } from "../../../src/discovery/self/machine.ts";
import { readMachine } from "../../../src/discovery/self/read-machine.ts";
import { linksOf } from "../../../src/discovery/topology/find-links.ts";
import { AllowedHosts, type HostRules } from "../../../src/http/allowed-hosts.ts";
import type { BillOfMaterials } from "../../../src/operations/bill-of-materials.ts";
import type { Machine } from "../../../src/operations/machine.ts";
import { StoredVerifications, type VerificationsOptions } from "../../../src/operations/verifications.ts";
import { serveVerification } from "../../../src/operations/verify-thread.ts";
import { type AppOptions, createApp } from "../../../src/registry/app.ts";
import { COMMANDS } from "../../../src/registry/commands.ts";
import { LONG_READS } from "../../../src/registry/long-reads.ts";
import type { CreatedOrganization } from "../../../src/resources/organizations/commands.ts";
import { openWriter } from "../../../src/server/open-writer.ts";
import { AccessGate } from "../../../src/sessions/gate.ts";
import { SignIn } from "../../../src/sessions/sign-in.ts";
import { SignInThrottle } from "../../../src/sessions/sign-in-throttle.ts";
import { UsageRecorder } from "../../../src/sessions/usage.ts";
import { documentCheck } from "../contract/openapi.ts";
import { DirectLongReads } from "../injected/direct-long-reads.ts";
import { type DirectThread, directThread } from "../injected/direct-thread.ts";
import { FakeProbes } from "../injected/fake-probes.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import { scratchParent } from "../measure/scratch-parent.ts";
import { writeNewDatabase } from "../store/new-database.ts";
import { Client } from "./client.ts";
import { SecondWriter } from "./second-writer.ts";

/** Clock that advances only on request. */
export class TestClock implements Clock {
  private at: Instant = Date.UTC(2026, 10, 21, 9, 0, 0, 0);

  now(): Instant {
    return this.at;
  }

  /** Advances by milliseconds; negative values move it back. */
  advance(ms: number): Instant {
    this.at += ms;
    return this.at;
  }

  text(): string {
    return formatInstant(this.at);
  }
}

/** Timers that fire only when a test advances the time. */
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

  /** Number of pending timers. */
  get count(): number {
    return this.waiting.size;
  }

  /** Advances the clock and fires the due timers in order. */
  pass(ms: number): void {
    const now = this.clock.advance(ms);
    const due = [...this.waiting].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]);
    for (const [entry] of due) if (this.waiting.delete(entry)) entry();
  }
}

/** Appliance before its setup. */
export interface UnclaimedAppliance {
  readonly clock: TestClock;
  readonly timers: TestTimers;
  readonly random: SeededRandom;
  readonly reader: Reader;
  readonly writes: DirectWriteQueue<typeof COMMANDS>;
  readonly commits: Commits;
  readonly counters: Counters;
  readonly databasePath: string;
  readonly dataDirectory: string;
  /** Key that seals secrets at rest. */
  readonly secretKey: Uint8Array;
  readonly log: Log;
  readonly logLines: string[];
  /** Throttle of failed sign-ins; entering it runs an attempt. */
  readonly throttle: SignInThrottle;
  /** Names of the long reads started. */
  readonly longReadsStarted: string[];
  readonly secondWriter: SecondWriter;
  /** Queued and running scans. */
  readonly scans: ScanDirector;
  readonly scanThread: DirectThread<ScanMessages>;
  readonly verifications: StoredVerifications;
  /** The simulated network, unless a test passes its own probes. */
  readonly probes: FakeProbes;
  /** Client without credentials. Clients derived from it check each response against the OpenAPI document. */
  readonly anonymous: Client;
  readonly app: ReturnType<typeof createApp>["app"];
  readonly surface: ReturnType<typeof createApp>["surface"];
  handle(request: Request): Promise<Response>;
  /** Creates another organization with a network and an Owner. */
  newOrganization(name: string): Promise<CreatedOrganization>;
  /** Client signed in as a user, with a session created directly to save the cost of the sign-in. */
  signedIn(userId: string): Promise<Client>;
  /** As signedIn; returns the cookie. */
  openSession(userId: string): Promise<string>;
  close(): Promise<void>;
}

export interface TestAppliance extends UnclaimedAppliance {
  /** The organization created at setup. */
  readonly first: CreatedOrganization;
  /** Signed in as the Owner of the first organization. */
  readonly owner: Client;
}

/** Default password of every test user. */
export const PASSWORD = "correct horse battery";

/** Argon2id hash of PASSWORD with minimal parameters: verification takes them from the hash. */
export const PASSWORD_HASH =
  "$argon2id$v=19$m=8,t=1,p=1$hi+dvdZ3QO6cysXiYM3ik3km7Zqn+uRyf6Z/AICjmzQ$qiNGiDUqui2AouP9sJHy6h3Vht39IIHZ4eqIbHINgII";

/** Token that claims a new appliance. */
export const SETUP_TOKEN = "7K3M-0QXZ-V9T2-H4RC-8WJP-5NDF-1BGY";

const GIB = 1024 ** 3;

/** Healthy machine with ample resources. */
const LARGE_MACHINE: Machine = {
  disk: () => ({ sizeBytes: 100 * GIB, freeBytes: 60 * GIB }),
  store: () => ({ databaseBytes: 4_000_000, logBytes: 0 }),
  memory: () => ({ processBytes: GIB / 8, totalBytes: 8 * GIB, availableBytes: 4 * GIB }),
  isClockSynchronized: () => true,
};

/** Bill of materials with no components except the program. */
const SMALL_BILL_OF_MATERIALS: BillOfMaterials = {
  bom: '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[]}',
  components: [
    {
      name: "netledger",
      version: "0.2.0",
      purl: null,
      licence: "Apache-2.0",
      part_of: ["server"],
      texts: [{ title: "LICENSE", text: "Apache License …", is_standard: false }],
    },
  ],
};

/** Neither a backup nor a demo, without limitations. */
const ORDINARY = { isReadOnly: false, isDemo: false, limitations: [], console: null };

const UPKEEP = { machine: LARGE_MACHINE, served: () => null, billOfMaterials: async () => SMALL_BILL_OF_MATERIALS };

export interface TestApplianceOptions {
  /** Clock that times requests; constant if not set. */
  monotonicMs?: () => number;
  isTls?: boolean;
  /** Accepted host names; all if not set. */
  hosts?: HostRules;
  /** Peer address of a request, which otherwise has none: there is no socket. */
  peerOf?: (request: Request) => string;
  trustedProxies?: readonly Cidr[];
  /** Receives the requests that have arrived completely and await their response. */
  answering?: Set<Request>;
  /** Creates the database file at the given path; a new database if not set. */
  prepare?: (databasePath: string) => void;
  /** Snapshot for self discovery; the real machine if not set. */
  machine?: MachineSnapshot;
  /** Backup options, instead of an in-process copy. */
  backups?: Partial<BackupFolderOptions>;
  /** Verification options, instead of in-process steps. */
  verifications?: Partial<VerificationsOptions>;
  /** Machine readings, instead of a large idle machine's. */
  upkeep?: Partial<Pick<AppOptions, "machine" | "served" | "billOfMaterials">>;
  /** The served console; none if not set. */
  console?: AppOptions["console"];
  /** Clock, instead of one at a constant time. */
  clock?: TestClock;
  /** Timers, instead of those fired by the test. */
  timers?: TestTimers;
  /** Whether responses may differ from the current document. */
  isOfEarlierVersion?: true;
  /** Scan settings. */
  scanning?: { readonly secretsFolder?: string } & Partial<
    Pick<MachineParts, "commands" | "links" | "probes" | "afterScans">
  >;
}

/** An appliance after its setup: the first organization, and a session of its Owner. */
interface Claim {
  readonly database: Uint8Array;
  readonly randomState: number;
  readonly secretKey: Uint8Array;
  readonly tookMs: number;
  readonly first: CreatedOrganization;
  readonly cookie: string;
}

/** Written once per process by the product, then copied. */
let claim: Promise<Claim> | undefined;

/** Appliance with one organization and its Owner, set up separately if it has its own database or clock. */
export async function newAppliance(options: TestApplianceOptions = {}): Promise<TestAppliance> {
  if (options.prepare !== undefined || options.clock !== undefined) {
    const unclaimed = newUnclaimedAppliance(options);
    const first = await unclaimed.newOrganization("First");
    return { ...unclaimed, first, owner: await unclaimed.signedIn(first.userId) };
  }
  claim ??= newClaim();
  const claimed = await claim;
  const unclaimed = newUnclaimedAppliance(options, claimed);
  unclaimed.clock.advance(claimed.tookMs);
  return { ...unclaimed, first: claimed.first, owner: unclaimed.anonymous.with({ cookie: claimed.cookie }) };
}

async function newClaim(): Promise<Claim> {
  const appliance = newUnclaimedAppliance();
  const { clock, random, secretKey } = appliance;
  const startedAt = clock.now();
  const first = await appliance.newOrganization("First");
  const cookie = await appliance.openSession(first.userId);
  const database = appliance.reader.db.serialize();
  await appliance.close();
  return { database, randomState: random.state, secretKey, tookMs: clock.now() - startedAt, first, cookie };
}

export function newUnclaimedAppliance(options: TestApplianceOptions = {}, claimed?: Claim): UnclaimedAppliance {
  const dataDirectory = mkdtempSync(join(scratchParent(), "netledger-test-"));
  const databasePath = join(dataDirectory, "netledger.db");
  if (claimed === undefined) (options.prepare ?? writeNewDatabase)(databasePath);
  else writeFileSync(databasePath, claimed.database, { flag: "wx" });
  const clock = options.clock ?? new TestClock();
  const random = seededRandom(claimed?.randomState ?? 1);
  const discoveryIds = new UuidSource(random);
  const logLines: string[] = [];
  const timers = options.timers ?? new TestTimers(clock);
  const counters = new Counters();
  const { log_lines: counts } = counters.counts;
  const log = createLog({ write: (line) => logLines.push(line), format: "text", clock, counts });
  const secretKey = claimed?.secretKey ?? random.bytes(32);
  const writer = openWriter({ databasePath, secretKey }, clock, random);
  // Power loss is not tested here: the thousands of commits of a test file need no fsync.
  (writer as unknown as { db: Sql }).db.$client.run("PRAGMA synchronous = OFF");
  const secondWriter = new SecondWriter(databasePath, clock, random);
  const commits = new Commits({ head: () => reader.head().sequence, timers, monotonicMs: () => clock.now(), log });
  const writes = new DirectWriteQueue(writer, (sequence) => commits.notify(sequence));
  const db = openReadOnly(databasePath);
  const reader = new Reader(db, clock);
  const gate = new AccessGate({ reader, clock, usage: new UsageRecorder(writes, log) });
  const throttle = new SignInThrottle(clock, timers);
  const longReadsStarted: string[] = [];
  const direct = new DirectLongReads(reader, LONG_READS);
  const longReads: LongReads = {
    start: (read, input, options) => {
      longReadsStarted.push(read.readName);
      return direct.start(read, input, options);
    },
    close: () => direct.close(),
  };
  const probes = new FakeProbes();
  const { secretsFolder = null, commands = COMMANDS, links = linksOf, afterScans } = options.scanning ?? {};
  const activeProbes = options.scanning?.probes ?? probes;
  const scanner: ScannerOptions = { databasePath, secretKey, secretsFolder, snmpPort: 161, tcpPorts: null };
  const scanThread = directThread(
    serveScans((settings) =>
      openScanMachine(settings, { probes: activeProbes, commands, links, clock, timers, random, afterScans }),
    ),
  );
  const rights = new AuthorPermissions(db.$client);
  const scans = new ScanDirector({
    writes,
    commits,
    startThread: scanThread.start,
    scanner,
    timers,
    log,
    counts: counters.counts.scans,
    organizationIdOf: (networkId) => organizationIdOf(reader, networkId),
    hasUnfinished: () => areScansActive(reader),
    mayRequest: (requester) => rights.mayRequest(requester, clock.now()),
  });
  const verificationIds = new UuidSource(random);
  const verifications = new StoredVerifications({
    file: join(dataDirectory, "netledger-verifications.json"),
    database: databasePath,
    startThread: directThread(serveVerification).start,
    newId: () => verificationIds.next(clock.now()),
    clock,
    timers,
    log,
    ...options.verifications,
  });
  const { app, surface } = createApp({
    ...ORDINARY,
    ...(options.console === undefined ? {} : { console: options.console }),
    backend: { reader, writes, longReads, log, authorOf: (call) => gate.authorOf(call) },
    gate,
    signIn: new SignIn({ reader, writes, gate, clock, random, throttle, setupToken: () => SETUP_TOKEN }),
    clock,
    watch: new CommitWatch({ commits, timers, head: () => reader.head().sequence, monotonicMs: () => clock.now() }),
    random,
    log,
    counters,
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
    verifications,
    startedAt: clock.now(),
    ...UPKEEP,
    ...options.upkeep,
    isTls: options.isTls ?? false,
    hosts: new AllowedHosts(options.hosts ?? { isLoopback: false, names: [] }),
    trustedProxies: options.trustedProxies ?? [],
    awaitingResponse: options.answering ?? new Set(),
    scans,
    discovery: {
      newDiscoveryId: () => discoveryIds.next(clock.now()),
      readMachine: async () => options.machine ?? (await readMachine()),
    },
  });
  const { peerOf } = options;
  // The only method of the socket that the app calls.
  if (peerOf !== undefined) app.server = { requestIP: (from: Request) => ({ address: peerOf(from) }) } as never;
  const handle = async (request: Request) => app.handle(request);
  const check = options.isOfEarlierVersion === true ? undefined : documentCheck(handle);
  const anonymous = new Client(handle, {}, "http://localhost", check);
  const setUp = async (name: string) => {
    const { result } = await writes.run(
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
  const openSession = async (userId: string) => {
    const token = generateSessionToken(random);
    await writes.run("session.open", { hash: hashSessionToken(token), userId, at: clock.now() }, SYSTEM_AUTHOR);
    return `session_id=${token}`;
  };
  return {
    clock,
    timers,
    random,
    reader,
    writes,
    commits,
    counters,
    databasePath,
    dataDirectory,
    secretKey,
    log,
    logLines,
    throttle,
    longReadsStarted,
    secondWriter,
    scans,
    scanThread,
    verifications,
    probes,
    anonymous,
    app,
    surface,
    handle,
    newOrganization: setUp,
    openSession,
    signedIn: async (userId) => anonymous.with({ cookie: await openSession(userId) }),
    close: async () => {
      await scans.stop();
      await verifications.close();
      db.$client.close();
      secondWriter.close();
      await writes.close();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
