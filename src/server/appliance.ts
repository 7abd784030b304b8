// Composition root: opens the data, starts the writer, builds the app, listens, and stops in order. Independent of
// flags. Prints only log lines.

import { AuthorPermissions } from "../access/current-permissions.ts";
import { BackupFolder, NO_BACKUPS } from "../backup/backups.ts";
import { startBackup } from "../backup/job.ts";
import type { Counters } from "../base/counters.ts";
import type { Instant } from "../base/instant.ts";
import type { Cidr } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { StartThread } from "../base/thread.ts";
import { systemTimers as timers } from "../base/timers.ts";
import { UuidSource } from "../base/uuid.ts";
import { CommitWatch } from "../db/commit-watch.ts";
import { Commits } from "../db/commits.ts";
import { openBackup } from "../db/files/backup-file.ts";
import { type DataFiles, DataLock, dataFiles, ensureDataDirectory, LOCK_WAIT_MS } from "../db/files/data-directory.ts";
import { DatabaseRefused, orRefused, readHeader, refuseForeignFile, SCHEMA_VERSION } from "../db/files/migrate.ts";
import { LongReadPool, type LongReads, ThreadLongReads } from "../db/reading/long-reads.ts";
import { Reader } from "../db/reading/reader.ts";
import {
  ThreadWriteQueue,
  type WriteMessages,
  type WriteQueue,
  type WriterOptions,
} from "../db/writing/write-queue.ts";
import type { Limitation } from "../discovery/kernel/limitations.ts";
import { descriptorLimit, openDescriptors, openTcpConnections } from "../discovery/kernel/tcp-connections.ts";
import { NO_SCANS, ScanDirector } from "../discovery/scans/director.ts";
import { areScansActive, organizationIdOf } from "../discovery/scans/scan-reads.ts";
import { type ScannerOptions, startOrEnd } from "../discovery/scans/scan-thread.ts";
import { ScheduleRunner } from "../discovery/scans/schedule-runner.ts";
import { AllowedHosts } from "../http/allowed-hosts.ts";
import { BodyChecks } from "../http/body-checks.ts";
import type { Console } from "../http/console-pages.ts";
import { UnfinishedRequests } from "../http/unfinished-requests.ts";
import type { ListeningState } from "../operations/appliance-state.ts";
import { embeddedBillOfMaterials } from "../operations/bill-of-materials.ts";
import { systemMachine } from "../operations/machine.ts";
import { NO_VERIFICATIONS, StoredVerifications } from "../operations/verifications.ts";
import { type AppOptions, createApp } from "../registry/app.ts";
import { type AllCommands, mayReducePermissions } from "../registry/commands.ts";
import { callerOfRead } from "../registry/long-reads.ts";
import { scheduleFirstSummary } from "../reports/summary/first-summary.ts";
import { AccessGate } from "../sessions/gate.ts";
import { ReadOnlyWriteQueue } from "../sessions/read-only-writes.ts";
import { generateSetupToken } from "../sessions/setup-token.ts";
import { isClaimed, SignIn } from "../sessions/sign-in.ts";
import { SignInThrottle } from "../sessions/sign-in-throttle.ts";
import { UsageRecorder } from "../sessions/usage.ts";
import type { PairFiles } from "../tls/pair.ts";
import { type App, isLoopback } from "./listener.ts";
import { checkClock, loadKey, openReader, type StoreOptions } from "./store.ts";
import {
  backupThread,
  bodiesThread,
  demoScannerThread,
  readsThread,
  scannerThread,
  verifierThread,
  writerThread,
} from "./threads.ts";
import { type ListenOptions, listen, type Served, type ServedTls } from "./tls-listener.ts";

const monotonicMs = () => performance.now();

/** Null for plain HTTP; watched files; or a self-signed pair of the appliance. */
export type TlsMode = PairFiles | "self-signed" | null;

export interface ApplianceOptions extends StoreOptions, ListenOptions {
  readonly counters: Counters;
  readonly tls: TlsMode;
  /** Accepted host names in addition to those of its certificate. */
  readonly hostNames: readonly string[];
  /** Proxies that may report the caller address. */
  readonly trustedProxies: readonly Cidr[];
  /** Creates the first organization; called only if there is none, before any request is served. */
  readonly firstSetup: ((writes: WriteQueue<AllCommands>) => Promise<unknown>) | null;
  /** For a demo, whose scans query a simulated network: preparation before any request is served. Otherwise null. */
  readonly demo: ((reader: Reader, writes: WriteQueue<AllCommands>) => Promise<unknown>) | null;
  /** Capabilities that this machine denies the process. */
  readonly limitations: readonly Limitation[];
  /** Scan settings. */
  readonly scanning: Pick<ScannerOptions, "secretsFolder" | "snmpPort" | "tcpPorts">;
  readonly console: Console | null;
  /** Tests may pass one that fails. */
  readonly writerThread?: StartThread<WriteMessages>;
}

export interface Appliance {
  /** Base URL with the actual port. */
  readonly url: string;
  /** Certificate for HTTPS; null for plain HTTP. */
  readonly tls: ServedTls | null;
  readonly directory: string;
  /** Setup token while there is no organization; then null. */
  readonly setupToken: string | null;
  /** Resolves with the reason if it cannot continue. */
  readonly crashed: Promise<string>;
  /** Stops accepting, completes running requests, checkpoints the log and releases the data. Takes about DRAIN_MS. */
  stop(): Promise<void>;
}

/** Options of the app that composeApp adds. */
type Composed =
  | "backend"
  | "gate"
  | "signIn"
  | "requestIdPrefix"
  | "monotonicMs"
  | "discovery"
  | "startedAt"
  | "billOfMaterials";

interface AppParts extends Omit<AppOptions, Composed | "isTls" | "timers"> {
  readonly reader: Reader;
  readonly writes: WriteQueue<AllCommands>;
  readonly longReads: LongReads;
  readonly tls: TlsMode;
  readonly setupToken: string | null;
}

/**
 * @throws DatabaseRefused, ListenError with one sentence for the operator; errors of `firstSetup`
 */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const { clock, log, random, counters } = options;
  const hosts = await allowedHosts(options);
  const awaitingResponse = new Set<Request>();
  const files = dataFiles(options.directory);
  // Closed in reverse order, even if the start fails.
  await using opened = new AsyncDisposableStack();
  const { reader, writes, commits, writer, crashed } = await openData(files, options, opened);
  if (options.firstSetup !== null) {
    if (isClaimed(reader)) log.info("setup_skipped", { reason: "An organization already exists." });
    else await options.firstSetup(writes);
  }
  const isDemo = options.demo !== null;
  await options.demo?.(reader, writes);
  const setupToken = isClaimed(reader) ? null : generateSetupToken(random);
  const services = startServices(files.database, reader, commits, options, opened);
  const backups = new BackupFolder({
    directory: files.backups,
    database: files.database,
    takeBackup: (request) => startBackup(backupThread, request),
    clock,
    log,
  });
  opened.defer(() => backups.close());
  const verificationIds = new UuidSource(random);
  const verifications = new StoredVerifications({
    file: files.verifications,
    database: files.database,
    startThread: verifierThread,
    newId: () => verificationIds.next(clock.now()),
    clock,
    timers,
    log,
  });
  opened.defer(() => verifications.close());
  let served: Served | null = null;
  const permissions = new AuthorPermissions(reader.db);
  const scans = new ScanDirector({
    writes,
    commits,
    startThread: startOrEnd(isDemo ? demoScannerThread : scannerThread),
    scanner: { ...writer, ...options.scanning },
    timers,
    log,
    counts: counters.counts.scans,
    organizationIdOf: (networkId) => organizationIdOf(reader, networkId),
    hasUnfinished: () => areScansActive(reader),
    mayRequest: (requester) => permissions.mayRequest(requester, clock.now()),
  });
  counters.gauge("scans_under_way", () => scans.count);
  opened.defer(() => scans.stop());
  await scans.start();
  const schedules = new ScheduleRunner({ reader, writes, commits, scans, clock, timers, log });
  const app = composeApp({
    ...options,
    ...services,
    reader,
    writes,
    backups,
    verifications,
    machine: systemMachine(files.database),
    served: () => served && servedState(served),
    scans,
    hosts,
    awaitingResponse,
    isReadOnly: false,
    isDemo,
    setupToken,
  });
  const { tlsCertificate: certificate, tlsKey: privateKey } = files;
  const tls = options.tls === "self-signed" ? { own: { certificate, privateKey } } : options.tls;
  const listening = await listen(app, options, tls, hosts);
  served = listening;
  logLimitations(hosts, log);
  opened.defer(() => listening.stop());
  opened.defer(limitUnfinishedRequests(listening, awaitingResponse, options));
  // Requests that wait for changes or follow a scan would delay the stop. Scans and verifications stop in parallel with
  // the other requests.
  opened.defer(() => {
    services.watch.close();
    schedules.stop();
    void scans.stop();
    void verifications.close();
  });
  schedules.start();
  opened.defer(scheduleFirstSummary({ reader, longReads: services.longReads, clock, timers }));
  const running = opened.move();
  return {
    url: listening.url,
    tls: listening.tls,
    directory: files.directory,
    setupToken,
    crashed,
    stop: () => running.disposeAsync(),
  };
}

export interface ReadOnlyOptions extends ListenOptions {
  /** A backup file, absolute. */
  readonly file: string;
  /** A read-only appliance has no directory for a self-signed pair. */
  readonly tls: Exclude<TlsMode, "self-signed">;
  /** Accepted host names in addition to those of its certificate. */
  readonly hostNames: readonly string[];
  readonly trustedProxies: readonly Cidr[];
  readonly limitations: readonly Limitation[];
  readonly counters: Counters;
  readonly console: Console | null;
}

/** Serves a backup read-only; the file is never modified. */
export interface ReadOnlyAppliance extends Appliance {
  /** Time of the last change in the backup; null for none. */
  readonly asOf: Instant | null;
}

/**
 * @throws DatabaseRefused, ListenError with one sentence for the operator
 */
export async function startReadOnlyAppliance(options: ReadOnlyOptions): Promise<ReadOnlyAppliance> {
  const { file, clock } = options;
  const hosts = await allowedHosts(options);
  const awaitingResponse = new Set<Request>();
  await using opened = new AsyncDisposableStack();
  const reader = new Reader(openBackup(file), clock);
  opened.defer(() => reader.close());
  const services = startServices(
    file,
    reader,
    commitsOf(() => reader, options),
    options,
    opened,
  );
  const head = orRefused(file, () => reader.head());
  let served: Served | null = null;
  const app = composeApp({
    ...options,
    ...services,
    reader,
    writes: new ReadOnlyWriteQueue(reader),
    backups: NO_BACKUPS,
    verifications: NO_VERIFICATIONS,
    machine: systemMachine(file),
    served: () => served && servedState(served),
    scans: NO_SCANS,
    hosts,
    awaitingResponse,
    isReadOnly: true,
    isDemo: false,
    setupToken: null,
  });
  const listening = await listen(app, options, options.tls, hosts);
  served = listening;
  logLimitations(hosts, options.log);
  opened.defer(() => listening.stop());
  opened.defer(limitUnfinishedRequests(listening, awaitingResponse, options));
  opened.defer(() => services.watch.close());
  const running = opened.move();
  return {
    url: listening.url,
    tls: listening.tls,
    directory: file,
    setupToken: null,
    asOf: head.sequence === 0 ? null : head.at,
    crashed: new Promise(() => {}),
    stop: () => running.disposeAsync(),
  };
}

async function allowedHosts({
  listen: { host },
  hostNames,
}: ApplianceOptions | ReadOnlyOptions): Promise<AllowedHosts> {
  return new AllowedHosts({ isLoopback: await isLoopback(host), names: hostNames });
}

/** @returns a function that stops it */
function limitUnfinishedRequests(
  { listener, tls }: Served,
  awaitingResponse: ReadonlySet<Request>,
  { trustedProxies, log }: ApplianceOptions | ReadOnlyOptions,
): () => void {
  const limit = descriptorLimit();
  const unfinished = new UnfinishedRequests({
    descriptors: () => openDescriptors(limit),
    open: openTcpConnections,
    descriptorLimit: limit,
    server: listener,
    isTls: tls !== null,
    awaitingResponse,
    trustedProxies,
    timers,
    log,
  });
  return () => unfinished.stop();
}

function logLimitations({ limitations }: AllowedHosts, log: Log): void {
  for (const { code, message } of limitations) log.warn("machine_limits", { limitation: code, message });
}

/** Public state of the socket, without its private key. */
function servedState({ url, tls }: Served): ListeningState {
  if (tls === null) return { url, certificate: null };
  const { certificate: _certificate, privateKey: _privateKey, ...pair } = tls.inUse();
  return { url, certificate: { pair, isOwn: tls.isSelfSigned } };
}

/** Locks the data, migrates it to this version, and opens it for writing and reading. @throws DatabaseRefused */
async function openData(files: DataFiles, options: ApplianceOptions, opened: AsyncDisposableStack) {
  const { clock, log, counters } = options;
  ensureDataDirectory(files.directory);
  refuseForeignFile(files.database);
  const lock = DataLock.acquire(files.lock, LOCK_WAIT_MS);
  if (lock === null) throw new DatabaseRefused(`The data in ${files.directory} are in use by another netledger.`);
  opened.defer(() => lock.release());
  const previousVersion = readHeader(files.database)?.schemaVersion ?? 0;
  const crash = Promise.withResolvers<string>();
  const commits = commitsOf(() => reader, options);
  const writer: WriterOptions = { databasePath: files.database, secretKey: loadKey(files, options.random) };
  const writes = await ThreadWriteQueue.open<AllCommands>({
    startThread: options.writerThread ?? writerThread,
    writer,
    clock,
    mayBeUrgent: mayReducePermissions,
    onCommit: (sequence) => commits.notify(sequence),
    onCrash: crash.resolve,
    counts: counters.counts.writes,
    monotonicMs,
  }).catch((error: Error) => {
    throw new DatabaseRefused(error.message);
  });
  counters.gauge("writes_waiting", () => writes.waitingCount);
  counters.gauge("oldest_write_wait", () => writes.oldestWaitMs);
  opened.defer(() => writes.close());
  // Irreversible except by an earlier backup: the log records the reason.
  if (previousVersion > 0 && previousVersion < SCHEMA_VERSION)
    log.info("brought_up_to_date", { schema_before: previousVersion, schema: SCHEMA_VERSION });
  const reader = openReader(files, clock);
  opened.defer(() => reader.close());
  checkClock(reader, options);
  return { reader, writes, commits, writer, crashed: crash.promise };
}

/** @param reader called only once there are subscribers */
function commitsOf(reader: () => Reader, { log }: { readonly log: Log }): Commits {
  return new Commits({ head: () => reader().head().sequence, timers, monotonicMs, log });
}

/** Services of the app, independent of how its store was opened. Their threads start on first use. */
function startServices(
  databasePath: string,
  reader: Reader,
  commits: Commits,
  { log, counters }: { readonly log: Log; readonly counters: Counters },
  opened: AsyncDisposableStack,
) {
  const lane = () =>
    new ThreadLongReads(readsThread, databasePath, (reason) => log.error("long_reads_crashed", { reason }));
  const longReads = new LongReadPool([lane(), lane()], [lane()], callerOfRead, counters.counts.long_reads);
  counters.gauge("long_reads_under_way", () => longReads.count);
  opened.defer(() => longReads.close());
  const bodyChecks = new BodyChecks(bodiesThread, (reason) => log.error("body_checks_crashed", { reason }));
  opened.defer(() => bodyChecks.close());
  const watch = new CommitWatch({ commits, timers, head: () => reader.head().sequence, monotonicMs });
  return { longReads, bodyChecks, watch };
}

/** The app for a store. Reads nothing from the store before the first request. */
function composeApp(options: AppParts): App {
  const { reader, writes, longReads, clock, random, log } = options;
  const gate = new AccessGate({ reader, clock, usage: new UsageRecorder(writes, log) });
  const signIn = new SignIn({
    reader,
    writes,
    gate,
    clock,
    random,
    throttle: new SignInThrottle(clock, timers),
    setupToken: () => options.setupToken,
  });
  const discoveryIds = new UuidSource(random);
  const { app } = createApp({
    ...options,
    backend: { reader, writes, longReads, log, authorOf: (call) => gate.authorOf(call) },
    gate,
    signIn,
    requestIdPrefix: random.bytes(6).toHex(),
    monotonicMs,
    startedAt: clock.now(),
    billOfMaterials: embeddedBillOfMaterials,
    timers,
    isTls: options.tls !== null,
    discovery: { newDiscoveryId: () => discoveryIds.next(clock.now()) },
  });
  return app;
}
