// The composition root: opens the data, starts the writer, builds the app, listens, and stops in order. Knows no flags and
// prints nothing but log lines.

import { hostname, networkInterfaces } from "node:os";
import { AccessGate } from "./access/gate.ts";
import { mayLowerRights } from "./access/lowering-rights.ts";
import { RightsNow } from "./access/rights-now.ts";
import { ReadOnlyWriteQueue } from "./access/read-only-writes.ts";
import { generateSetupToken } from "./access/setup-token.ts";
import { SignIn } from "./access/sign-in.ts";
import { SignInThrottle } from "./access/sign-in-throttle.ts";
import { UsageRecorder } from "./access/usage.ts";
import { createApp } from "./app.ts";
import { requireReadable } from "./backup/backup-file.ts";
import { BackupFolder, NO_BACKUPS, type Backups } from "./backup/backups.ts";
import { orderBackup } from "./backup/job.ts";
import type { Clock } from "./base/clock.ts";
import { formatInstant, type Instant } from "./base/instant.ts";
import type { Log } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import { startThread } from "./base/thread-start.ts";
import { systemTimers } from "./base/timers.ts";
import { UuidSource } from "./base/uuid.ts";
import type { ListenAddress } from "./config.ts";
import { openStill } from "./db/connection.ts";
import { dataFiles, DataLock, ensureDataDirectory, LOCK_WAIT_MS } from "./db/data-directory.ts";
import { DatabaseRefused, orRefused, readHeader, refuseForeignFile, SCHEMA_VERSION } from "./db/migrate.ts";
import { SharedOutLongReads, WorkerLongReads, type LongReads } from "./db/long-reads.ts";
import { Reader } from "./db/reader.ts";
import type { Limitation } from "./discovery/kernel/limitations.ts";
import { NO_SCANS, ScanDirector, type Scans } from "./discovery/scans/director.ts";
import type { ScannerOptions } from "./discovery/scans/scan-machine.ts";
import { areScansUnderWay, organizationIdOf } from "./discovery/scans/scan-reads.ts";
import { workerThread } from "./discovery/scans/scan-thread.ts";
import { ScheduleRunner } from "./discovery/scans/schedule-runner.ts";
import { readProcAddresses } from "./discovery/self/proc-addresses.ts";
import { WorkerWriteQueue, type WriteQueue } from "./db/write-queue.ts";
import { CommitWatch } from "./history/commit-watch.ts";
import { BodyChecks } from "./http/body-checks.ts";
import { callerOfRead, READS_IN_LARGE_STEPS, type ReadsOptions } from "./reads.ts";
import { ListenError, Listener, type App } from "./listener.ts";
import { checkClock, isClaimed, loadKey, openReader, type StoreOptions } from "./store.ts";
import { orderedFrom } from "./tls/order.ts";
import { readTlsPair, TlsRefused, type PairFiles, type TlsPair } from "./tls/pair.ts";
import { CertificateRenewal } from "./tls/renewal.ts";
import { ensureSelfSigned, namesOf, type SelfSignedFiles } from "./tls/self-signed.ts";
import type { WriterOptions } from "./writer.ts";

/** Null for plain HTTP; files that are watched over; or a pair of the appliance's own. */
export type TlsWish = PairFiles | "self-signed" | null;

export interface ApplianceOptions extends StoreOptions {
  readonly listen: ListenAddress;
  readonly tls: TlsWish;
  /** Makes the first organization; called only where there is none, before anything is answered. */
  readonly firstSetup: ((writes: WriteQueue) => Promise<unknown>) | null;
  readonly monotonicMs: () => number;
  /** What this machine refuses to the process. */
  readonly limitations: readonly Limitation[];
  /** What scans go by. */
  readonly scanning: Pick<ScannerOptions, "secretsFolder" | "snmpPort" | "tcpPorts">;
  /** Starts the writer's thread; a test may start one that fails. */
  readonly startWriter?: () => Worker;
}

export interface Appliance {
  /** Where it answers, with the port that it really has. */
  readonly url: string;
  /** What it answers HTTPS with; null for plain HTTP. */
  readonly tls: ServedTls | null;
  readonly directory: string;
  /** What claims the appliance while it has no organization; null once it has one. */
  readonly setupToken: string | null;
  /** Resolves with the reason when it cannot go on. */
  readonly crashed: Promise<string>;
  /** Stops accepting, finishes what runs, folds the log into the database, lets go of the data. Within about DRAIN_MS. */
  stop(): Promise<void>;
}

/** The certificate that new connections get. */
export interface ServedTls {
  /** At the start. */
  readonly pair: TlsPair;
  /** Where the certificate is. */
  readonly path: string;
  readonly isSelfSigned: boolean;
  /** Looks whether its files have changed, and takes over what is new. */
  look(): Promise<void>;
}

export interface AppParts {
  readonly reader: Reader;
  readonly writes: WriteQueue;
  readonly longReads: LongReads;
  readonly bodyChecks: BodyChecks;
  readonly backups: Backups;
  /** Whether a backup is served. */
  readonly isReadOnly: boolean;
  readonly limitations: readonly Limitation[];
  readonly watch: CommitWatch;
  readonly scans: Scans;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly monotonicMs: () => number;
  readonly tls: TlsWish;
  readonly setupToken: string | null;
}

/**
 * @throws DatabaseRefused, ListenError with one sentence for the operator; what `firstSetup` throws
 */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const { clock, log, random } = options;
  const files = dataFiles(options.directory);
  const closers: Array<() => unknown> = [];
  const close = async () => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
  };
  try {
    ensureDataDirectory(files.directory);
    refuseForeignFile(files.database);
    const lock = DataLock.take(files.lock, LOCK_WAIT_MS);
    if (lock === null) throw new DatabaseRefused(`The data in ${files.directory} are in use by another netledger.`);
    closers.push(() => lock.release());

    const found = readHeader(files.database)?.schemaVersion ?? 0;
    const crash = Promise.withResolvers<string>();
    const worker = options.startWriter?.() ?? new Worker(new URL("./writer.ts", import.meta.url).href);
    closers.push(() => worker.terminate());
    const writerOptions: WriterOptions = { databasePath: files.database, secretKey: loadKey(files, random) };
    const writes = await WorkerWriteQueue.open(
      worker,
      writerOptions,
      options.clock,
      mayLowerRights,
      crash.resolve,
    ).catch((error: Error) => {
      throw new DatabaseRefused(error.message);
    });
    closers.push(() => writes.close());
    // There is no way back from it but a backup of before: whoever looks for the reason finds it told.
    if (found > 0 && found < SCHEMA_VERSION)
      log.info("brought_up_to_date", { schema_before: found, schema: SCHEMA_VERSION });
    const reader = openReader(files, clock);
    closers.push(() => reader.close());
    checkClock(reader, options);

    if (options.firstSetup !== null) {
      if (isClaimed(reader)) log.info("setup_skipped", { reason: "There is an organization already." });
      else await options.firstSetup(writes);
    }
    const setupToken = isClaimed(reader) ? null : generateSetupToken(random);
    const longReads = startLongReads(files.database, log);
    closers.push(() => longReads.close());
    const backups = new BackupFolder({
      directory: files.backups,
      database: files.database,
      takeBackup: (order) =>
        orderBackup(
          startThread(() => new Worker(new URL("./backup-worker.ts", import.meta.url).href)),
          order,
        ),
      clock,
      log,
    });
    closers.push(() => backups.close());
    const watch = new CommitWatch({
      commits: writes.commits,
      timers: systemTimers,
      head: () => reader.head().sequence,
      monotonicMs: () => performance.now(),
    });
    const bodyChecks = startBodyChecks(log);
    closers.push(() => bodyChecks.close());
    const rights = new RightsNow(reader.db);
    const scans = new ScanDirector({
      writes,
      startThread: workerThread(() => startThread(() => new Worker(new URL("./scanner.ts", import.meta.url).href))),
      threadOptions: {
        databasePath: files.database,
        secretKey: writerOptions.secretKey,
        ...options.scanning,
      } satisfies ScannerOptions,
      timers: systemTimers,
      log,
      organizationIdOf: (networkId) => organizationIdOf(reader, networkId),
      hasLeftBehind: () => areScansUnderWay(reader),
      mayOrder: (orderer) => rights.mayOrder(orderer, clock.now()),
    });
    closers.push(() => scans.stop());
    await scans.start();
    const schedules = new ScheduleRunner({ reader, writes, scans, clock, timers: systemTimers, log });
    const app = composeApp({
      ...options,
      reader,
      writes,
      longReads,
      bodyChecks,
      watch,
      backups,
      scans,
      isReadOnly: false,
      setupToken,
    });
    const tls =
      options.tls === "self-signed"
        ? { own: { certificate: files.tlsCertificate, privateKey: files.tlsKey } }
        : options.tls;
    const served = await openListener(app, options, tls);
    closers.push(() => served.stop());
    // Who waits for changes, or follows a scan, would be waited for. Scans stop while requests end.
    closers.push(() => {
      watch.close();
      schedules.stop();
      void scans.stop();
    });
    schedules.start();
    return {
      url: served.url,
      tls: served.tls,
      directory: files.directory,
      setupToken,
      crashed: crash.promise,
      stop: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface ReadOnlyOptions {
  /** A backup, absolute. */
  readonly file: string;
  readonly listen: ListenAddress;
  /** There is no folder that a pair of its own could be kept in. */
  readonly tls: Exclude<TlsWish, "self-signed">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly monotonicMs: () => number;
}

/** Serves a backup: everything can be asked and nothing changed; the file stays as it is to the last byte. */
export interface ReadOnlyAppliance extends Appliance {
  /** The last change in the backup; null where there was none. */
  readonly asOf: Instant | null;
}

/**
 * @throws DatabaseRefused, ListenError with one sentence for the operator
 */
export async function startReadOnlyAppliance(options: ReadOnlyOptions): Promise<ReadOnlyAppliance> {
  const { file, clock, log } = options;
  requireReadable(file);
  const reader = new Reader(
    orRefused(file, () => openStill(file)),
    clock,
  );
  const writes = new ReadOnlyWriteQueue(reader);
  const longReads = startLongReads(file, log);
  const watch = new CommitWatch({
    commits: writes.commits,
    timers: systemTimers,
    head: () => reader.head().sequence,
    monotonicMs: () => performance.now(),
  });
  const bodyChecks = startBodyChecks(log);
  const stopReading = async () => {
    bodyChecks.close();
    await longReads.close();
    reader.close();
  };
  try {
    const head = orRefused(file, () => reader.head());
    const app = composeApp({
      ...options,
      reader,
      writes,
      longReads,
      bodyChecks,
      watch,
      backups: NO_BACKUPS,
      scans: NO_SCANS,
      isReadOnly: true,
      limitations: [],
      setupToken: null,
    });
    const served = await openListener(app, options, options.tls);
    const stop = async () => {
      watch.close();
      await served.stop();
      await stopReading();
    };
    return {
      url: served.url,
      tls: served.tls,
      directory: file,
      setupToken: null,
      asOf: head.sequence === 0 ? null : head.at,
      crashed: new Promise(() => {}),
      stop,
    };
  } catch (error) {
    await stopReading();
    throw error;
  }
}

/** The app that answers for a store. Takes nothing from the store until it is asked something. */
export function composeApp(options: AppParts): App {
  const { reader, writes, longReads, clock, random, log } = options;
  const gate = new AccessGate({ reader, clock, usage: new UsageRecorder(writes, log) });
  const signIn = new SignIn({
    reader,
    writes,
    gate,
    clock,
    random,
    throttle: new SignInThrottle(clock),
    setupToken: () => options.setupToken,
  });
  const discoveryIds = new UuidSource(random);
  const { app } = createApp({
    inventory: { reader, writes, longReads, log, authorOf: (call) => gate.authorOf(call) },
    gate,
    signIn,
    watch: options.watch,
    clock,
    random,
    log,
    requestIdPrefix: random.bytes(6).toHex(),
    monotonicMs: options.monotonicMs,
    backups: options.backups,
    bodyChecks: options.bodyChecks,
    timers: systemTimers,
    isReadOnly: options.isReadOnly,
    limitations: options.limitations,
    isTls: options.tls !== null,
    discovery: { newDiscoveryId: () => discoveryIds.next(clock.now()) },
    scans: options.scans,
  });
  return app;
}

interface Served {
  readonly url: string;
  readonly tls: ServedTls | null;
  stop(): Promise<void>;
}

/** Listens, with a certificate that is watched over where one was asked for. @param tls the files of a pair, or of one that the appliance makes itself; null for plain HTTP */
async function openListener(
  app: App,
  options: Pick<ApplianceOptions, "listen" | "clock" | "random" | "log">,
  tls: PairFiles | { readonly own: SelfSignedFiles } | null,
): Promise<Served> {
  const { listen: address, clock, random, log } = options;
  const parts = { app, address, log, timers: systemTimers };
  if (tls === null) {
    const listener = new Listener({ ...parts, pair: null });
    return { url: listener.url, tls: null, stop: () => listener.stop() };
  }
  const read = async () => {
    if (!("own" in tls)) return readTlsPair(tls);
    const { pair, isNew } = await ensureSelfSigned(
      tls.own,
      namesOf(address.host, hostname(), ownAddresses()),
      makeCertificate,
      clock,
      random,
    );
    if (isNew)
      log.info("certificate_made", {
        fingerprint: pair.fingerprint,
        names: pair.names,
        valid_to: formatInstant(pair.validTo),
      });
    return pair;
  };
  const pair = await read().catch((error: unknown) => {
    throw error instanceof TlsRefused ? new ListenError(`${error.message}.`) : error;
  });
  const listener = new Listener({ ...parts, pair });
  const renewal = new CertificateRenewal({
    read,
    pair,
    take: (next) => listener.renew(next),
    timers: systemTimers,
    clock,
    log,
  });
  const path = "own" in tls ? tls.own.certificate : tls.certificate.path;
  const stop = async () => {
    renewal.close();
    await listener.stop();
  };
  return { url: listener.url, tls: { pair, path, isSelfSigned: "own" in tls, look: () => renewal.look() }, stop };
}

const makeCertificate = orderedFrom(() =>
  startThread(() => new Worker(new URL("./certificate-worker.ts", import.meta.url).href)),
);

/** The machine's, but those that mean something on one link only. */
function ownAddresses(): string[] {
  const found = addressesByName() ?? readProcAddresses().map(({ ip }) => ip.text);
  return found.filter((address) => !/^fe[89ab]/i.test(address));
}

/** Null where netlink is refused, which getifaddrs(3) asks by. */
function addressesByName(): string[] | null {
  try {
    return Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  } catch {
    return null;
  }
}

function startLongReads(databasePath: string, log: Log): LongReads {
  const start = () => startThread(() => new Worker(new URL("./reads.ts", import.meta.url).href));
  const worker = () =>
    new WorkerLongReads(start, { databasePath } satisfies ReadsOptions, (message) =>
      log.error("long_reads_crashed", { reason: message }),
    );
  // Each is a thread that starts when it is first needed.
  return new SharedOutLongReads([worker(), worker()], [worker()], READS_IN_LARGE_STEPS, callerOfRead);
}

function startBodyChecks(log: Log): BodyChecks {
  return new BodyChecks(
    () => startThread(() => new Worker(new URL("./body-worker.ts", import.meta.url).href)),
    (message) => log.error("body_checks_crashed", { reason: message }),
  );
}
