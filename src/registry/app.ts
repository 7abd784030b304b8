// HTTP surface, composed from the routes of all directories.

import { cookie } from "@elysiajs/cookie";
import { Elysia } from "elysia";
import type { Access, Actor } from "../access/actor.ts";
import type { Backups } from "../backup/backups.ts";
import { backupRoutes } from "../backup/routes.ts";
import type { Clock } from "../base/clock.ts";
import type { Counters } from "../base/counters.ts";
import type { Instant } from "../base/instant.ts";
import type { Cidr } from "../base/ip.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { Timers } from "../base/timers.ts";
import { bulkUpdateRoutes } from "../bulk/bulk-update-routes.ts";
import { tableRoutes } from "../bulk/table-routes.ts";
import type { CommitWatch } from "../db/commit-watch.ts";
import { SCHEMA_VERSION } from "../db/files/migrate.ts";
import { readFailureOf } from "../db/sqlite-failures.ts";
import { identityRoutes } from "../discovery/reconcile/identity-routes.ts";
import { checkRoutes } from "../discovery/scans/check-routes.ts";
import type { Scans } from "../discovery/scans/director.ts";
import { scanRoutes } from "../discovery/scans/routes.ts";
import { scheduledTargetProblems } from "../discovery/scans/scope.ts";
import { trialRoutes } from "../discovery/scans/trial-routes.ts";
import { type DiscoveryOptions, discoveryRoutes } from "../discovery/self/routes.ts";
import { handbookRoutes } from "../handbook/routes.ts";
import { changeFeedRoutes } from "../history/change-feed-routes.ts";
import { diffRoutes } from "../history/diff-routes.ts";
import { lastSeenOfHost } from "../history/last-place.ts";
import { ledgerRoutes } from "../history/ledger-routes.ts";
import { locateRoutes } from "../history/locate/routes.ts";
import { recordHistoryRoutes } from "../history/record-history-routes.ts";
import { restoreRoutes } from "../history/restore/restore-routes.ts";
import { retentionRoutes } from "../history/retention-routes.ts";
import type { AllowedHosts } from "../http/allowed-hosts.ts";
import type { BodyChecks } from "../http/body-checks.ts";
import { type Console, consolePages } from "../http/console-pages.ts";
import { DOCS_PATH, documentation } from "../http/documentation.ts";
import { type HealthLimitation, healthRoutes } from "../http/health.ts";
import { Surface } from "../http/surface.ts";
import { applianceRoutes } from "../operations/appliance-routes.ts";
import type { ListeningState } from "../operations/appliance-state.ts";
import { type BillOfMaterialsSource, billOfMaterialsRoutes } from "../operations/bill-of-materials-routes.ts";
import { logRoutes } from "../operations/log-routes.ts";
import type { Machine } from "../operations/machine.ts";
import { verificationRoutes } from "../operations/verification-routes.ts";
import type { Verifications } from "../operations/verifications.ts";
import type { Backend } from "../records/backend.ts";
import { filterFieldRoutes } from "../records/filter-field-routes.ts";
import { RESOURCES } from "../records/resources.ts";
import { activityRoutes } from "../reports/activity/activity-routes.ts";
import { conflictRoutes } from "../reports/conflicts/routes.ts";
import { expiringRoutes } from "../reports/expiring/expiring-routes.ts";
import { faceplateRoutes } from "../reports/faceplate/faceplate-routes.ts";
import { ipamRoutes } from "../reports/ipam/ipam-routes.ts";
import { searchRoutes } from "../reports/search-routes.ts";
import { stationRoutes } from "../reports/stations/stations-routes.ts";
import { summaryRoutes } from "../reports/summary/summary-routes.ts";
import { topologyRoutes } from "../reports/topology/routes.ts";
import { vendorRoutes } from "../reports/vendor-routes.ts";
import { withheldRoutes } from "../reports/withheld/withheld-routes.ts";
import { apiKeyRoutes } from "../resources/api-keys/routes.ts";
import { bindingRoutes } from "../resources/bindings/routes.ts";
import { componentRoutes } from "../resources/components/routes.ts";
import { consolidationRoutes } from "../resources/consolidations/routes.ts";
import { credentialRoutes } from "../resources/credentials/routes.ts";
import { customFieldRoutes } from "../resources/custom-fields/routes.ts";
import { hostRoutes } from "../resources/hosts/routes.ts";
import { ifEntryRoutes } from "../resources/if-entries/routes.ts";
import { ignoredRoutes } from "../resources/ignored/routes.ts";
import { ipAddressRoutes } from "../resources/ip-addresses/routes.ts";
import { ipRangeRoutes } from "../resources/ip-ranges/routes.ts";
import { mapPositionRoutes } from "../resources/map-positions/routes.ts";
import { markerRoutes } from "../resources/markers/routes.ts";
import { networkRoutes } from "../resources/networks/routes.ts";
import { organizationRoutes } from "../resources/organizations/routes.ts";
import { portRoutes } from "../resources/ports/routes.ts";
import { scheduleRoutes } from "../resources/schedules/routes.ts";
import { serviceRoutes } from "../resources/services/routes.ts";
import { subnetRoutes } from "../resources/subnets/routes.ts";
import { tagAssignmentRoutes } from "../resources/tag-assignments/routes.ts";
import { tagRoutes } from "../resources/tags/routes.ts";
import { userRoutes } from "../resources/users/routes.ts";
import { vlanRoutes } from "../resources/vlans/routes.ts";
import type { AccessGate } from "../sessions/gate.ts";
import { preferenceRoutes } from "../sessions/preference-routes.ts";
import { signInRoutes } from "../sessions/routes.ts";
import { sessionRoutes } from "../sessions/session-routes.ts";
import type { SignIn } from "../sessions/sign-in.ts";
import type { AllCommands } from "./commands.ts";
import { ROW_LISTS } from "./row-lists.ts";

export interface AppOptions {
  readonly backend: Backend<AllCommands>;
  readonly gate: AccessGate;
  readonly signIn: SignIn;
  /** Lets requests wait for changes. */
  readonly watch: CommitWatch;
  /** For API keys. */
  readonly random: Random;
  readonly log: Log;
  readonly counters: Counters;
  readonly clock: Clock;
  /** Prefix of request ids: unique per start. */
  readonly requestIdPrefix: string;
  readonly monotonicMs: () => number;
  readonly discovery: DiscoveryOptions;
  /** Queued and running scans. */
  readonly scans: Scans;
  readonly backups: Backups;
  readonly verifications: Verifications;
  readonly startedAt: Instant;
  /** Machine state. */
  readonly machine: Machine;
  /** Listener and certificate; null until listening. */
  readonly served: () => ListeningState | null;
  /** Bill of materials. */
  readonly billOfMaterials: BillOfMaterialsSource;
  /** Whether a backup is being served. */
  readonly isReadOnly: boolean;
  readonly isDemo: boolean;
  /** Features unavailable on this machine. */
  readonly limitations: readonly HealthLimitation[];
  /** Whether it is served over TLS. */
  readonly isTls: boolean;
  /** Accepted host names. */
  readonly hosts: AllowedHosts;
  /** Proxies that may report the caller address. */
  readonly trustedProxies: readonly Cidr[];
  /** Tracks fully received requests that await their response. */
  readonly awaitingResponse: Set<Request>;
  /** Thread for checking large bodies; null checks them on this thread. */
  readonly bodyChecks: BodyChecks | null;
  readonly timers: Timers;
  /** Console for browsers; null serves only the documentation. */
  readonly console: Console | null;
}

/** Placeholder actor for operations without credentials: no organization, no reach. */
const NOBODY: Actor = { type: "User", n: 0, userN: 0, role: "Viewer", organizationN: 0, networkNs: [] };

/** The complete HTTP side of an inventory, without a socket: call `handle` with requests. */
export function createApp(options: AppOptions) {
  // standardHostname tells Elysia the minimum offset of the path, for routes that Bun does not match (trailing slash):
  // 7 characters, or 11, which excludes three-letter hosts over HTTP and two-letter hosts over HTTPS.
  const app = new Elysia({ aot: true, normalize: false, handler: { standardHostname: options.isTls } });
  const cookieApp = new Elysia({ aot: true, normalize: false }).use(
    cookie({ path: "/", httpOnly: true, sameSite: "lax" }).as("scoped"),
  );
  const surface = new Surface<Actor, Access>({
    ...options,
    app: app as unknown as Elysia,
    cookieApp: cookieApp as unknown as Elysia,
    idPrefix: options.requestIdPrefix,
    unauthenticated: NOBODY,
    explain: readFailureOf,
  });
  const limitations = () => [...options.limitations, ...options.hosts.limitations];
  // Registered first: a later error hook would expose exception messages.
  app.onError(({ code, error, request }) =>
    code === "NOT_FOUND" ? surface.notRouted(request) : surface.failed(error, request),
  );
  signInRoutes(surface, options.backend, options.signIn, options.gate, options.isReadOnly);
  sessionRoutes(surface, options.backend, options.clock);
  preferenceRoutes(surface, options.backend);
  app.use(cookieApp);
  apiKeyRoutes(surface, options.backend, options.random);
  backupRoutes(surface, options.backend, options.backups, ({ actor, source }, password) =>
    options.signIn.confirm(actor, password, source),
  );
  bindingRoutes(surface, options.backend);
  credentialRoutes(surface, options.backend);
  discoveryRoutes(surface, options.backend, options.discovery);
  scanRoutes(surface, options.backend, options.scans, options.watch);
  checkRoutes(surface, options.backend, options.scans);
  trialRoutes(surface, options.backend, options.scans);
  healthRoutes(surface, {
    readStore: () => options.backend.reader.head(),
    schemaVersion: SCHEMA_VERSION,
    isReadOnly: options.isReadOnly,
    isDemo: options.isDemo,
    limitations,
  });
  hostRoutes(surface, options.backend, lastSeenOfHost);
  consolidationRoutes(surface, options.backend);
  ifEntryRoutes(surface, options.backend);
  componentRoutes(surface, options.backend);
  ignoredRoutes(surface, options.backend);
  ipAddressRoutes(surface, options.backend);
  ipRangeRoutes(surface, options.backend);
  ipamRoutes(surface, options.backend);
  logRoutes(surface, options.backend);
  applianceRoutes(surface, { ...options, limitations, reader: options.backend.reader });
  billOfMaterialsRoutes(surface, options.billOfMaterials);
  mapPositionRoutes(surface, options.backend);
  markerRoutes(surface, options.backend);
  networkRoutes(surface, options.backend);
  organizationRoutes(surface, options.backend);
  portRoutes(surface, options.backend);
  scheduleRoutes(surface, options.backend, scheduledTargetProblems);
  serviceRoutes(surface, options.backend);
  subnetRoutes(surface, options.backend);
  tagAssignmentRoutes(surface, options.backend);
  tagRoutes(surface, options.backend);
  customFieldRoutes(surface, options.backend);
  userRoutes(surface, options.backend);
  vlanRoutes(surface, options.backend);
  filterFieldRoutes(surface, options.backend.reader, ROW_LISTS);
  changeFeedRoutes(surface, options.backend, options.watch, options.counters);
  activityRoutes(surface, options.backend, options.clock);
  diffRoutes(surface, options.backend, options.clock);
  ledgerRoutes(surface, options.backend);
  verificationRoutes(surface, options.backend, options.verifications, (name) => options.backups.file(name).path);
  locateRoutes(surface, options.backend);
  recordHistoryRoutes(surface, options.backend);
  restoreRoutes(surface, options.backend);
  bulkUpdateRoutes(surface, options.backend);
  tableRoutes(surface, options.backend);
  retentionRoutes(surface, options.backend, options.clock);
  conflictRoutes(surface, options.backend);
  summaryRoutes(surface, options.backend, options.clock);
  expiringRoutes(surface, options.backend);
  withheldRoutes(surface, options.backend);
  searchRoutes(surface, options.backend);
  faceplateRoutes(surface, options.backend);
  identityRoutes(surface, options.backend);
  stationRoutes(surface, options.backend);
  topologyRoutes(surface, options.backend);
  vendorRoutes(surface);
  documentation(
    surface,
    RESOURCES.flatMap(({ group, about }) => (about === undefined ? [] : [{ name: group, description: about }])),
  );
  handbookRoutes(surface);
  if (options.console === null) surface.redirect("/", DOCS_PATH);
  else consolePages(surface, options.console, DOCS_PATH);
  return { app, surface };
}
