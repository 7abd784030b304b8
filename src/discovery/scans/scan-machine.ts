// Assembly of the scanning thread: its read connection, the secret key, the probes. Never writes directly: writes go
// through the ports given to each scan.

import type { CommandActor } from "../../access/actor.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { SecretBox } from "../../base/secret-box.ts";
import type { Timers } from "../../base/timers.ts";
import { UuidSource } from "../../base/uuid.ts";
import { openReadOnly } from "../../db/connection.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { Reader } from "../../db/reading/reader.ts";
import type { Commands } from "../../db/writing/command.ts";
import { CoveringScans } from "../reconcile/covering-scans.ts";
import { findExpired, findExpiredSightings } from "../reconcile/expired.ts";
import { macsBefore, servedBefore } from "../reconcile/served-data.ts";
import { findUnseen } from "../reconcile/staleness.ts";
import { CurrentPermissions } from "./credential-permissions.ts";
import { DryRun } from "./dry-run.ts";
import { type Links, runScan } from "./engine.ts";
import { readKnownNetwork } from "./known-network.ts";
import { OpenedCredentials } from "./opened-credentials.ts";
import type { Probes } from "./probes.ts";
import { scanName } from "./scan.ts";
import type { ScanMachine, ScannerOptions, ScanOrder } from "./scan-thread.ts";
import { Scope } from "./scope.ts";
import { SecretFiles } from "./secret-files.ts";
import { runTrial } from "./trial-machine.ts";

export interface MachineParts {
  readonly probes: Probes;
  /** Writer commands for sightings, for dry runs. */
  readonly commands: Commands;
  readonly links: (
    reader: Reader,
    networkN: number,
    pendingWrites?: (kind: AnyKind) => ReadonlyMap<string, RecordBase | null>,
  ) => Links;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  /** Called after the last scan; default: immediate garbage collection. */
  readonly afterScans?: (() => void) | undefined;
}

export function openScanMachine(
  options: Pick<ScannerOptions, "databasePath" | "secretKey" | "secretsFolder">,
  parts: MachineParts,
): ScanMachine {
  const { clock, timers, random, commands, probes, afterScans = collect } = parts;
  const reader = new Reader(openReadOnly(options.databasePath), clock);
  const box = new SecretBox(options.secretKey, random);
  const files = new SecretFiles(options.secretsFolder);
  const uuids = new UuidSource(random);
  let running = 0;
  const onEnd = () => {
    running -= 1;
    if (running > 0) return;
    probes.forgetSecrets();
    afterScans();
  };
  return {
    scan: async (order, ports) => {
      const dryRun = order.commit
        ? null
        : new DryRun({
            db: openReadOnly(options.databasePath),
            commands,
            actor: actorOf(order),
            now: clock.now(),
            uuids,
          });
      running += 1;
      try {
        const network = readKnownNetwork(reader, order.network_id);
        const credentials = new OpenedCredentials(reader, box, files);
        return await runScan(order, ports, {
          probes,
          network,
          openCredential: (id) => credentials.get(id),
          permissions: (networkN) => new CurrentPermissions(reader, networkN),
          servedBefore: (networkN, address, hostId) => servedBefore(reader, networkN, address, hostId),
          macsBefore: (networkN, address, hostId) => macsBefore(reader, networkN, address, hostId),
          dryRun,
          links:
            network === null
              ? { find: () => [] }
              : parts.links(reader, network.n, dryRun === null ? undefined : (kind) => dryRun.pendingWrites(kind)),
          unseen: (networkN, cutoff) => findUnseen(reader.db, networkN, cutoff),
          expired: (networkN, scanId) => {
            const scope = Scope.ofSubnets(network?.subnets ?? [], new Set(network?.byAddress.keys()));
            const scans = new CoveringScans(reader.db, networkN, scanId, (address) => scope.contains(address));
            return {
              records: findExpired(reader.db, networkN, clock.now(), scans),
              sightings: findExpiredSightings(reader.db, networkN, clock.now(), scans),
            };
          },
          clock,
          timers,
        });
      } finally {
        dryRun?.close();
        onEnd();
      }
    },
    try: async (order, signal, onStep) => {
      running += 1;
      try {
        const credentials = new OpenedCredentials(reader, box, files);
        return await runTrial(order, { probes, reader, credentials, timers }, signal, onStep);
      } finally {
        onEnd();
      }
    },
    close: () => reader.close(),
  };
}

/** Nothing else would trigger the collector until the next scan. */
function collect(): void {
  Bun.gc(true);
}

function actorOf(order: ScanOrder): CommandActor {
  return {
    type: "Discovery",
    id: order.id,
    name: scanName(order.kind),
    organizationId: order.organization_id,
    requestId: null,
    userId: null,
    role: "Owner",
    networkIds: [order.network_id],
  };
}
