// netledger serve: runs the appliance until a signal stops it.

import { resolve } from "node:path";
import { Counters } from "../base/counters.ts";
import { type Log, systemLog } from "../base/log.ts";
import type { StartThread } from "../base/thread.ts";
import { systemTimers } from "../base/timers.ts";
import { UuidSource } from "../base/uuid.ts";
import { wordList } from "../base/word-list.ts";
import { dataFiles } from "../db/files/data-directory.ts";
import { DatabaseRefused, refusalOfWork } from "../db/files/migrate.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { WriteMessages, WriteQueue } from "../db/writing/write-queue.ts";
import { demoStateOf } from "../demo/demo-marker.ts";
import { findLimitations, type Limitation, limitationsOfExecutable } from "../discovery/kernel/limitations.ts";
import { discoverSelf } from "../discovery/self/discover.ts";
import type { SelfCommands } from "../discovery/self/reconcile.ts";
import { hasEchoTool } from "../discovery/sweep/echo-tools.ts";
import { type Console, embeddedConsole, loadConsole } from "../http/console-pages.ts";
import type { AllCommands } from "../registry/commands.ts";
import { SERVER_VERSION } from "../schemas/envelope.ts";
import { type Appliance, startAppliance, startReadOnlyAppliance } from "../server/appliance.ts";
import { isLoopback } from "../server/listener.ts";
import { ownAddresses, type ServedTls } from "../server/tls-listener.ts";
import { type PairFiles, readTlsPair, TlsRefused } from "../tls/pair.ts";
import { defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { type Config, UsageError, unknownVariables } from "./config.ts";
import { type DemoAccount, greeting, readOnlyGreeting } from "./greeting.ts";
import { operatorOf } from "./operator.ts";
import { createOrganization, type OrganizationSettings, validateOrganization } from "./organization-setup.ts";
import { readPasswordFile } from "./password-file.ts";

/** Maximum time of the entire stop, including the writer's last transactions and the checkpoint. */
const STOP_MAX_MS = 4_800;

const TLS = ["tlsCertificate", "tlsKey"] as const;
const SETUP = ["setupOrganization", "setupNetwork", "setupEmail", "setupPasswordFile"] as const;

const ALWAYS = wordList("listen tlsSelfSigned plainHttp demo self acceptClock snmpPort logFormat");
const OPTIONAL = [
  "servedData",
  ...TLS,
  ...SETUP,
  "hostName",
  "trustedProxy",
  "readOnly",
  "secretsFolder",
  "scanTcpPorts",
  "console",
] as const;

export const serve = defineCommand(
  {
    name: "serve",
    summary: "runs the appliance: the API over HTTP or HTTPS, on the data of one folder.",
    always: ALWAYS,
    maybe: OPTIONAL,
  },
  (config, io) => runAppliance(config, io),
);

type ServeConfig = Config<(typeof ALWAYS)[number], (typeof OPTIONAL)[number]>;

/** @param writerThread tests may pass one that fails */
export async function runAppliance(
  config: ServeConfig,
  io: ProcessIo,
  writerThread?: StartThread<WriteMessages>,
): Promise<number> {
  const setup = unattendedSetup(config);
  if (setup !== null && config.readOnly !== null)
    throw new UsageError("--read-only serves a backup as it is: it cannot be combined with a set-up");
  requireNoDemoConflicts(config, setup !== null);
  const files = tlsFiles(config);
  await requireProtection(config, files);
  // From here on, a signal stops the appliance in order once the start is complete.
  const stopped = io.untilStopped();
  const counters = new Counters();
  const log = systemLog(config.logFormat, { counts: counters.counts.log_lines });
  // An unhandled rejection must not end all other requests; the store is safe on its own thread.
  process.on("unhandledRejection", (cause) => log.error("unhandled_rejection", { cause }));
  for (const name of unknownVariables()) log.warn("variable_not_known", { name });
  if (config.readOnly !== null) return runReadOnly(config.readOnly, files, config, io, stopped, { log, counters });
  const limitations: Limitation[] = [];
  const directory = config.servedData ?? resolve(config.demo ? "data-demo" : "data");
  const demo = config.demo ? await openDemo(directory, config, io, log) : null;
  if (demo === null) refuseDemo(directory);
  const appliance = await startAppliance({
    limitations,
    listen: config.listen,
    tls: config.tlsSelfSigned ? "self-signed" : files,
    hostNames: config.hostName ?? [],
    trustedProxies: config.trustedProxy ?? [],
    directory,
    demo: demo?.open ?? null,
    acceptClock: config.acceptClock,
    clock: io.clock,
    random: io.random,
    counters,
    log,
    console: await servedConsole(config),
    scanning: { secretsFolder: config.secretsFolder, snmpPort: config.snmpPort, tcpPorts: config.scanTcpPorts },
    firstSetup:
      setup === null
        ? null
        : async (writes) => {
            const password = await readPasswordFile(
              setup.passwordFile,
              "--setup-password-file",
              setup.settings.email,
              io,
            );
            const { organizationId, networkId } = await createOrganization(writes, setup.settings, password, {
              onlyFirst: true,
              reason: null,
            });
            log.info("set_up", { organization_id: organizationId, network_id: networkId, email: setup.settings.email });
            if (config.self) await recordSelf(writes, organizationId, networkId, io, log);
          },
    ...(writerThread === undefined ? {} : { writerThread }),
  }).catch((error: unknown) => {
    throw refusalOfWork(error, dataFiles(directory).database);
  });
  log.info("started", {
    version: SERVER_VERSION,
    url: appliance.url,
    data: appliance.directory,
    ...fingerprintOf(appliance.tls),
    pid: process.pid,
  });
  reloadOnHangup(appliance.tls, io);
  announce(greeting(appliance, config.listen, demo?.account() ?? null, ownAddresses), io, log);
  // The checks take tens of milliseconds of the start; the first response need not wait for them.
  setImmediate(() => void logLimitations(limitations, log));
  return runUntilStopped(appliance, stopped, log);
}

/** Opens the demo, whose code is imported only then. @throws DatabaseRefused */
async function openDemo(directory: string, config: ServeConfig, { clock, random }: ProcessIo, log: Log) {
  const { setDemoPassword: giveDemoPassword, prepareDemo } = await import("../demo/demo.ts");
  await prepareDemo({ directory, clock, random, log });
  // With a proxy in front, the demo is not for this machine alone.
  const isReachable = config.plainHttp || config.trustedProxy !== null || !(await isLoopback(config.listen.host));
  let account: DemoAccount | null = null;
  return {
    open: async (reader: Reader, writes: WriteQueue<AllCommands>) => {
      account = await giveDemoPassword(reader, writes, { isReachable, random });
    },
    account: (): DemoAccount | null => account,
  };
}

/** Scans of a real network must not use demo subnets and schedules. @throws DatabaseRefused */
function refuseDemo(directory: string): void {
  if (demoStateOf(directory) === "none") return;
  throw new DatabaseRefused(`${directory} holds a demo: serve it with --demo, or give another folder with --data.`);
}

/** @throws UsageError */
function requireNoDemoConflicts({ demo, readOnly }: ServeConfig, isSettingUp: boolean): void {
  if (!demo) return;
  if (readOnly !== null) throw new UsageError("--demo and --read-only cannot be combined");
  if (isSettingUp) throw new UsageError("--demo creates its own organization: it cannot be combined with a set-up");
}

/** @throws UsageError for a file that is not a console */
async function servedConsole({ console: file }: ServeConfig): Promise<Console | null> {
  if (file === null) return embeddedConsole();
  return loadConsole(file).catch(() => {
    throw new UsageError(`--console ${file} is not a console: build one with ./scripts/bun scripts/console.ts`);
  });
}

async function logLimitations(limitations: Limitation[], log: Log): Promise<void> {
  const tools = { timers: systemTimers, permit: async () => {}, findTool: (name: string) => Bun.which(name) };
  limitations.push(...limitationsOfExecutable(), ...(await findLimitations({ hasEchoTool: () => hasEchoTool(tools) })));
  warnAbout(limitations, log);
}

function warnAbout(limitations: readonly Limitation[], log: Log): void {
  for (const { code, message } of limitations) log.warn("machine_limits", { limitation: code, message });
}

async function runReadOnly(
  file: string,
  tls: PairFiles | null,
  config: ServeConfig,
  io: ProcessIo,
  stopped: Promise<string>,
  { log, counters }: { readonly log: Log; readonly counters: Counters },
): Promise<number> {
  const { clock, random } = io;
  const limitations = limitationsOfExecutable();
  warnAbout(limitations, log);
  const appliance = await startReadOnlyAppliance({
    limitations,
    file,
    listen: config.listen,
    tls,
    hostNames: config.hostName ?? [],
    trustedProxies: config.trustedProxy ?? [],
    clock,
    random,
    counters,
    log,
    console: await servedConsole(config),
  }).catch((error: unknown) => {
    throw refusalOfWork(error, file);
  });
  log.info("started", {
    version: SERVER_VERSION,
    url: appliance.url,
    read_only: file,
    ...fingerprintOf(appliance.tls),
    pid: process.pid,
  });
  reloadOnHangup(appliance.tls, io);
  announce(readOnlyGreeting(appliance), io, log);
  return runUntilStopped(appliance, stopped, log);
}

/** Records the machine as the network's first host. A failure does not stop the startup: the API can repeat it. */
async function recordSelf(
  writes: WriteQueue<SelfCommands>,
  organizationId: string,
  networkId: string,
  { clock, random }: ProcessIo,
  log: Log,
): Promise<void> {
  try {
    const discoveryId = new UuidSource(random).next(clock.now());
    const { result } = await discoverSelf(writes, { networkId, discoveryId, actor: operatorOf(organizationId) });
    log.info("self_recorded", { host_id: result.host_id, created: result.created });
  } catch (error) {
    log.error("self_not_recorded", { cause: error });
  }
}

async function runUntilStopped(appliance: Appliance, stopped: Promise<string>, log: Log): Promise<number> {
  const end = await Promise.race([
    stopped.then((signal) => ({ signal })),
    appliance.crashed.then((reason) => ({ reason })),
  ]);
  if ("reason" in end) {
    // Reads would continue and every write would fail: exit, so that a supervisor restarts the process.
    log.error("writer_crashed", { reason: end.reason });
    return EXIT.failed;
  }
  log.info("stopping", { signal: end.signal });
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, STOP_MAX_MS, "late");
  const outcome = await Promise.race([appliance.stop(), late, appliance.crashed.then(() => "crashed" as const)]);
  clearTimeout(timer);
  if (outcome !== undefined) {
    // Acknowledged writes are in the write-ahead log and are recovered at the next start.
    log.error("stop_cut_off", { reason: outcome });
    return EXIT.failed;
  }
  log.info("stopped");
  return EXIT.done;
}

/** A failed print must not prevent serving: full disk, pipe without a reader. */
function announce(text: string, { print }: ProcessIo, log: Log): void {
  print(text).catch((cause: unknown) => log.warn("greeting_not_printed", { cause: String(cause) }));
}

function fingerprintOf(tls: ServedTls | null): { certificate?: string } {
  return tls === null ? {} : { certificate: tls.pair.fingerprint };
}

/** SIGHUP reloads the certificate. Ignored without TLS: a reload must not exit without draining. */
function reloadOnHangup(tls: ServedTls | null, io: ProcessIo): void {
  io.onHangup(() => void tls?.checkNow());
}

/**
 * The given certificate and key, validated.
 * @throws UsageError for a mismatched pair, and for settings that exclude each other
 */
function tlsFiles(config: ServeConfig): PairFiles | null {
  const { tlsCertificate: certificate, tlsKey: privateKey, tlsSelfSigned, plainHttp, readOnly } = config;
  if ((certificate === null) !== (privateKey === null))
    throw new UsageError("--tls-certificate and --tls-key must be given together");
  if (tlsSelfSigned && certificate !== null)
    throw new UsageError("--tls-self-signed and --tls-certificate cannot be combined");
  if (plainHttp && (tlsSelfSigned || certificate !== null))
    throw new UsageError(
      "--plain-http means no TLS: it cannot be combined with --tls-certificate or --tls-self-signed",
    );
  if (tlsSelfSigned && readOnly !== null)
    throw new UsageError(
      "--tls-self-signed keeps its certificate in the data folder, and --read-only has none: give --tls-certificate and --tls-key",
    );
  if (certificate === null || privateKey === null) return null;
  const files = {
    certificate: { path: certificate, displayName: `--tls-certificate ${certificate}` },
    privateKey: { path: privateKey, displayName: `--tls-key ${privateKey}` },
  };
  try {
    readTlsPair(files);
  } catch (error) {
    throw error instanceof TlsRefused ? new UsageError(error.message) : error;
  }
  return files;
}

/** @throws UsageError if passwords and keys would be sent in plaintext without explicit permission */
async function requireProtection(config: ServeConfig, files: PairFiles | null): Promise<void> {
  if (config.plainHttp || config.tlsSelfSigned || files !== null) return;
  const { host, port } = config.listen;
  if (await isLoopback(host)) return;
  throw new UsageError(
    `--listen ${host.includes(":") ? `[${host}]` : host}:${port} is reachable from other machines, and HTTP exposes passwords and keys in transit: give --tls-certificate FILE and --tls-key FILE, or --tls-self-signed, or --plain-http behind a TLS proxy`,
  );
}

/** @throws UsageError if only some of the settings are given */
function unattendedSetup(config: ServeConfig): { settings: OrganizationSettings; passwordFile: string } | null {
  const {
    setupOrganization: organizationName,
    setupNetwork: networkName,
    setupEmail: email,
    setupPasswordFile: passwordFile,
  } = config;
  if (organizationName === null && networkName === null && email === null && passwordFile === null) {
    if (config.self)
      throw new UsageError("--self is for the unattended set-up: give --setup-organization and the others as well");
    return null;
  }
  if (organizationName === null || networkName === null || email === null || passwordFile === null) {
    throw new UsageError(
      "--setup-organization, --setup-network, --setup-email and --setup-password-file must be given together",
    );
  }
  return { settings: validateOrganization({ organizationName, networkName, email }, "setup-"), passwordFile };
}
