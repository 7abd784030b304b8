// Scans of a measured appliance, requested and awaited.

import { ask } from "./asking.ts";
import type { Running } from "./executable.ts";
import type { BuiltStore } from "./store.ts";

/** Timeout of a scan. */
const LIMIT_S = 600;
const POLL_MS = 100;

export interface ScanRecord {
  readonly id: string;
  readonly status: string;
  readonly progress: {
    readonly addresses_total: number;
    readonly hosts_found: number;
    readonly requests: number;
    readonly errors: Record<string, number>;
  } | null;
  readonly outcome: {
    readonly records: Record<string, { created: number; updated: number; deleted: number }>;
    readonly icmp: string | null;
    readonly problem: string | null;
  } | null;
}

/** Adds the community of the benchmark's switches. */
export async function addCommunity(running: Running, store: BuiltStore): Promise<void> {
  await ask(running, store, "POST", "/credentials", {
    organization_id: store.organizationId,
    name: "public",
    credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: "public" } },
    assigned_network_ids: [store.networkIds.campus],
    host_assignments: [],
    tags: [],
  });
}

/**
 * Runs a scan of the network `campus` to its end.
 * @param meanwhile called at every poll of its state
 */
export async function scanned(
  running: Running,
  store: BuiltStore,
  request: object,
  meanwhile: () => Promise<void> = async () => {},
): Promise<ScanRecord> {
  const asked = await ask<ScanRecord>(running, store, "POST", "/discovery/scans", {
    network_id: store.networkIds.campus,
    ...request,
  });
  const deadline = performance.now() + LIMIT_S * 1_000;
  for (;;) {
    const scan = await ask<ScanRecord>(running, store, "GET", `/discovery/scans/${asked.id}`);
    if (scan.status === "Completed") return scan;
    if (scan.status !== "Queued" && scan.status !== "Running")
      throw new Error(`the scan ended as ${scan.status}: ${scan.outcome?.problem}`);
    if (performance.now() > deadline) throw new Error(`the scan takes longer than ${LIMIT_S} s`);
    await meanwhile();
    await Bun.sleep(POLL_MS);
  }
}
