// netledger serve: runs the appliance until it is told to stop.

import { startAppliance, startReadOnlyAppliance, type Appliance, type ReadOnlyAppliance } from "../appliance.ts";
import { formatInstant } from "../base/instant.ts";
import { systemLog, type Log } from "../base/log.ts";
import { UuidSource } from "../base/uuid.ts";
import { UsageError, unknownVariables, type Config, type ListenAddress } from "../config.ts";
import type { WriteQueue } from "../db/write-queue.ts";
import { discoverSelf } from "../discovery/self/discover.ts";
import { SERVER_VERSION } from "../http/envelope.ts";
import { defineCommand, EXIT, type Surroundings } from "./command.ts";
import { operatorOf } from "./operator.ts";
import { checkWish, makeOrganization, type OrganizationWish } from "./organization-setup.ts";
import { readPasswordFile } from "./password-file.ts";

/** The stop as a whole, the writer's last transactions and the checkpoint included. */
const STOP_MAX_MS = 4_800;

const SETUP = ["setupOrganization", "setupNetwork", "setupEmail", "setupPasswordFile"] as const;

export const serve = defineCommand(
  {
    name: "serve",
    summary: "runs the appliance: the API over HTTP, on the data of one folder.",
    always: ["listen", "data", "self", "acceptClock", "snmpPort", "logFormat"],
    maybe: [...SETUP, "readOnly", "secretsFolder", "scanTcpPorts"],
  },
  (config, surroundings) => runAppliance(config, surroundings),
);

type ServeConfig = Config<"listen" | "data" | "self" | "acceptClock" | "snmpPort" | "logFormat", (typeof SETUP)[number] | "readOnly" | "secretsFolder" | "scanTcpPorts">;

/** @param startWriter starts the writer's thread; a test may start one that fails */
export async function runAppliance(config: ServeConfig, surroundings: Surroundings, startWriter?: () => Worker): Promise<number> {
  const setup = unattendedSetup(config);
  if (setup !== null && config.readOnly !== null) throw new UsageError("--read-only serves what is in the backup: it goes without a set-up");
  // From here on a signal ends the start in order as soon as it is through.
  const stopped = surroundings.untilStopped();
  const log = systemLog(config.logFormat);
  // A promise that nobody waits for must not take all others down; the store is behind its own thread.
  process.on("unhandledRejection", (cause) => log.error("unhandled_rejection", { cause }));
  for (const name of unknownVariables()) log.warn("variable_not_known", { name });
  if (config.readOnly !== null) return runReadOnly(config.readOnly, config, surroundings, stopped, log);
  const appliance = await startAppliance({
    listen: config.listen,
    directory: config.data,
    acceptClock: config.acceptClock,
    clock: surroundings.clock,
    random: surroundings.random,
    monotonicMs: () => performance.now(),
    log,
    scanning: { secretsFolder: config.secretsFolder, snmpPort: config.snmpPort, tcpPorts: config.scanTcpPorts },
    firstSetup:
      setup === null
        ? null
        : async (writes) => {
            const password = await readPasswordFile(setup.passwordFile, "--setup-password-file", surroundings);
            const { organizationId, networkId } = await makeOrganization(writes, setup.wish, password, true);
            log.info("set_up", { organization_id: organizationId, network_id: networkId, email: setup.wish.email });
            if (config.self) await recordSelf(writes, organizationId, networkId, surroundings, log);
          },
    ...(startWriter === undefined ? {} : { startWriter }),
  });
  log.info("started", { version: SERVER_VERSION, url: appliance.url, data: appliance.directory, pid: process.pid });
  await surroundings.print(greeting(appliance, config.listen));
  return untilTheEnd(appliance, stopped, log);
}

async function runReadOnly(file: string, config: ServeConfig, surroundings: Surroundings, stopped: Promise<string>, log: Log): Promise<number> {
  const { clock, random } = surroundings;
  const appliance = await startReadOnlyAppliance({ file, listen: config.listen, clock, random, monotonicMs: () => performance.now(), log });
  log.info("started", { version: SERVER_VERSION, url: appliance.url, read_only: file, pid: process.pid });
  await surroundings.print(readOnlyGreeting(appliance));
  return untilTheEnd(appliance, stopped, log);
}

/** The machine as the network's first host. Not worth failing the start for: it can be asked for again through the API. */
async function recordSelf(writes: WriteQueue, organizationId: string, networkId: string, { clock, random }: Surroundings, log: Log): Promise<void> {
  try {
    const discoveryId = new UuidSource(random).next(clock.now());
    const report = await discoverSelf(writes, { networkId, discoveryId, actor: operatorOf(organizationId) });
    log.info("self_recorded", { host_id: report.host_id, created: report.created });
  } catch (error) {
    log.error("self_not_recorded", { cause: error });
  }
}

async function untilTheEnd(appliance: Appliance, stopped: Promise<string>, log: Log): Promise<number> {
  const end = await Promise.race([stopped.then((signal) => ({ signal })), appliance.crashed.then((reason) => ({ reason }))]);
  if ("reason" in end) {
    // Reads would go on and every write would fail: better a supervisor starts the whole anew.
    log.error("writer_crashed", { reason: end.reason });
    return EXIT.failed;
  }
  log.info("stopping", { signal: end.signal });
  const { promise: late, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(resolve, STOP_MAX_MS, "late");
  const outcome = await Promise.race([appliance.stop(), late, appliance.crashed.then(() => "crashed" as const)]);
  clearTimeout(timer);
  if (outcome !== undefined) {
    // What was acknowledged is in the log file and found at the next start.
    log.error("stop_cut_off", { reason: outcome });
    return EXIT.failed;
  }
  log.info("stopped");
  return EXIT.done;
}

function greeting(appliance: Appliance, listen: ListenAddress): string {
  const { url, directory, setupToken } = appliance;
  const claim =
    setupToken === null
      ? `Claimed: sign in at ${url}/api/auth/login; the operations are at ${url}/docs`
      : `Claim it: curl -H 'content-type: application/json' '${reachable(url, listen)}/api/auth/setup' -d '{"setup_token":"${setupToken}","organization_name":"…","network_name":"…","email":"…","password":"…"}'`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nIts data is in ${directory}\n${claim}\n`;
}

function readOnlyGreeting({ url, directory: file, asOf }: ReadOnlyAppliance): string {
  const last = asOf === null ? "nothing was ever written in it" : `the last change in it is of ${formatInstant(asOf)}`;
  return `netledger ${SERVER_VERSION} listens on ${url}\nTo be read only: ${file}; ${last}\nSign in at ${url}/api/auth/login with a password of then, or use a key of then; the operations are at ${url}/docs\n`;
}

/** The wildcard is an address to listen on, not one to call. */
function reachable(url: string, listen: ListenAddress): string {
  if (listen.host === "0.0.0.0") return url.replace("0.0.0.0", "127.0.0.1");
  return listen.host === "::" ? url.replace("[::]", "[::1]") : url;
}

/** @throws UsageError when only some of the settings are given */
function unattendedSetup(config: ServeConfig): { wish: OrganizationWish; passwordFile: string } | null {
  const { setupOrganization: organizationName, setupNetwork: networkName, setupEmail: email, setupPasswordFile: passwordFile } = config;
  if (organizationName === null && networkName === null && email === null && passwordFile === null) {
    if (config.self) throw new UsageError("--self belongs to the unattended set-up: it takes --setup-organization and the others as well");
    return null;
  }
  if (organizationName === null || networkName === null || email === null || passwordFile === null) {
    throw new UsageError("--setup-organization, --setup-network, --setup-email and --setup-password-file are given all together or not at all");
  }
  return { wish: checkWish({ organizationName, networkName, email }, "setup-"), passwordFile };
}
