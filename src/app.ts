// The HTTP surface as a table of contents.

import { cookie } from "@elysiajs/cookie";
import { Elysia } from "elysia";
import type { Access, Actor } from "./access/actor.ts";
import type { AccessGate } from "./access/gate.ts";
import { accessRoutes } from "./access/routes.ts";
import type { SignIn } from "./access/sign-in.ts";
import { backupRoutes } from "./backup/routes.ts";
import type { Backups } from "./backup/backups.ts";
import type { Clock } from "./base/clock.ts";
import type { Log } from "./base/log.ts";
import type { Random } from "./base/random.ts";
import type { Timers } from "./base/timers.ts";
import { SCHEMA_VERSION } from "./db/migrate.ts";
import { readTroubleOf } from "./db/trouble.ts";
import { discoveryRoutes, type DiscoveryOptions } from "./discovery/routes.ts";
import type { Scans } from "./discovery/scans/director.ts";
import { scanRoutes } from "./discovery/scans/routes.ts";
import { scheduledTargetProblems } from "./discovery/scans/scope.ts";
import { topologyRoutes } from "./discovery/topology/routes.ts";
import { changeFeedRoutes } from "./history/change-feed-routes.ts";
import type { CommitWatch } from "./history/commit-watch.ts";
import { diffRoutes } from "./history/diff-routes.ts";
import { ledgerRoutes } from "./history/ledger-routes.ts";
import { locateRoutes } from "./history/locate/routes.ts";
import { recordHistoryRoutes } from "./history/record-history-routes.ts";
import { restoreRoutes } from "./history/restore/restore-routes.ts";
import { documentation } from "./http/documentation.ts";
import type { BodyChecks } from "./http/body-checks.ts";
import { healthRoutes, type HealthLimitation } from "./http/health.ts";
import { Surface } from "./http/surface.ts";
import type { Inventory } from "./resources/answers.ts";
import { apiKeyRoutes } from "./resources/api-keys/routes.ts";
import { bindingRoutes } from "./resources/bindings/routes.ts";
import { credentialRoutes } from "./resources/credentials/routes.ts";
import { hostRoutes } from "./resources/hosts/routes.ts";
import { ifEntryRoutes } from "./resources/if-entries/routes.ts";
import { ignoredRoutes } from "./resources/ignored/routes.ts";
import { ipAddressRoutes } from "./resources/ip-addresses/routes.ts";
import { networkRoutes } from "./resources/networks/routes.ts";
import { organizationRoutes } from "./resources/organizations/routes.ts";
import { portRoutes } from "./resources/ports/routes.ts";
import { scheduleRoutes } from "./resources/schedules/routes.ts";
import { serviceRoutes } from "./resources/services/routes.ts";
import { subnetRoutes } from "./resources/subnets/routes.ts";
import { tagAssignmentRoutes } from "./resources/tag-assignments/routes.ts";
import { tagRoutes } from "./resources/tags/routes.ts";
import { userRoutes } from "./resources/users/routes.ts";
import { vlanRoutes } from "./resources/vlans/routes.ts";

export interface AppOptions {
  readonly inventory: Inventory;
  readonly gate: AccessGate;
  readonly signIn: SignIn;
  /** Waits for changes. */
  readonly watch: CommitWatch;
  /** For the texts of API keys. */
  readonly random: Random;
  readonly log: Log;
  readonly clock: Clock;
  /** Starts the ids of requests: different at every start. */
  readonly requestIdPrefix: string;
  readonly monotonicMs: () => number;
  readonly discovery: DiscoveryOptions;
  /** Those that wait and run. */
  readonly scans: Scans;
  readonly backups: Backups;
  /** Whether a backup is served. */
  readonly isReadOnly: boolean;
  /** What it does without on this machine. */
  readonly limitations: readonly HealthLimitation[];
  /** Whether it is served over TLS. */
  readonly isTls: boolean;
  /** Where large bodies are checked; null: on this thread as well. */
  readonly bodyChecks: BodyChecks | null;
  readonly timers: Timers;
}

/** The caller of operations that anyone may call: no organization, nothing in reach. */
const NOBODY: Actor = { type: "User", n: 0, userN: 0, role: "Viewer", organizationN: 0, networkNs: [] };

/** The whole HTTP side around an inventory, without a socket: requests go through its `handle`. */
export function createApp(options: AppOptions) {
  // standardHostname says where Elysia looks for the path, where Bun has not found the route (a slash at its end): behind 7 characters, or
  // behind 11, which leaves out hosts of three letters over HTTP and of two over HTTPS.
  const app = new Elysia({ aot: true, normalize: false, handler: { standardHostname: options.isTls } });
  const cookieApp = new Elysia({ aot: true, normalize: false }).use(
    cookie({ path: "/", httpOnly: true, sameSite: "lax" }).as("scoped"),
  );
  const surface = new Surface<Actor, Access>({
    app: app as unknown as Elysia,
    cookieApp: cookieApp as unknown as Elysia,
    gate: options.gate,
    bodyChecks: options.bodyChecks,
    timers: options.timers,
    log: options.log,
    monotonicMs: options.monotonicMs,
    idPrefix: options.requestIdPrefix,
    unauthenticated: NOBODY,
    explain: readTroubleOf,
    isTls: options.isTls,
  });
  // First of all: an error hook that is registered later lets exception texts through.
  app.onError(({ code, error, request }) =>
    code === "NOT_FOUND" ? surface.notRouted(request) : surface.failed(error, request),
  );
  accessRoutes(surface, options.inventory, options.signIn);
  app.use(cookieApp);
  apiKeyRoutes(surface, options.inventory, options.random);
  backupRoutes(surface, options.inventory, options.backups);
  bindingRoutes(surface, options.inventory);
  credentialRoutes(surface, options.inventory);
  discoveryRoutes(surface, options.inventory, options.discovery);
  scanRoutes(surface, options.inventory, options.scans, options.watch);
  healthRoutes(surface, {
    readStore: () => options.inventory.reader.head(),
    schemaVersion: SCHEMA_VERSION,
    isReadOnly: options.isReadOnly,
    limitations: options.limitations,
  });
  hostRoutes(surface, options.inventory);
  ifEntryRoutes(surface, options.inventory);
  ignoredRoutes(surface, options.inventory);
  ipAddressRoutes(surface, options.inventory);
  networkRoutes(surface, options.inventory);
  organizationRoutes(surface, options.inventory);
  portRoutes(surface, options.inventory);
  scheduleRoutes(surface, options.inventory, scheduledTargetProblems);
  serviceRoutes(surface, options.inventory);
  subnetRoutes(surface, options.inventory);
  tagAssignmentRoutes(surface, options.inventory);
  tagRoutes(surface, options.inventory);
  userRoutes(surface, options.inventory);
  vlanRoutes(surface, options.inventory);
  changeFeedRoutes(surface, options.inventory, options.watch);
  diffRoutes(surface, options.inventory, options.clock);
  ledgerRoutes(surface, options.inventory);
  locateRoutes(surface, options.inventory, options.clock);
  recordHistoryRoutes(surface, options.inventory);
  restoreRoutes(surface, options.inventory);
  topologyRoutes(surface, options.inventory, options.clock);
  app.use(documentation(surface));
  return { app, surface };
}
