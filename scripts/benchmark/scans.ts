// Scan runner for the appliance under test: starts a scan and waits for it to complete.

import type { Running } from "./executable.ts";
import { callApi, communityCredential } from "./requests.ts";
import type { BuiltStore } from "./store.ts";

/** Timeout of a scan. */
const TIMEOUT_S = 600;
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

/** Creates a credential with the community of the benchmark's switches. */
export async function addSnmpCredential(
  running: Running,
  store: BuiltStore,
  networkId = store.networkIds.campus,
): Promise<void> {
  const credential = communityCredential(store.organizationId, "public", "public", [networkId]);
  await callApi(running, store, "POST", "/credentials", credential);
}

/**
 * Runs a scan of the `campus` network to completion.
 * @param onPoll called at every poll of its status
 */
export async function runScan(
  running: Running,
  store: BuiltStore,
  request: object,
  onPoll: () => Promise<void> = async () => {},
): Promise<ScanRecord> {
  const requested = await callApi<ScanRecord>(running, store, "POST", "/discovery/scans", {
    network_id: store.networkIds.campus,
    ...request,
  });
  const deadline = performance.now() + TIMEOUT_S * 1_000;
  for (;;) {
    const scan = await callApi<ScanRecord>(running, store, "GET", `/discovery/scans/${requested.id}`);
    if (scan.status === "Completed") return scan;
    if (scan.status !== "Queued" && scan.status !== "Running")
      throw new Error(`the scan finished with status ${scan.status}: ${scan.outcome?.problem}`);
    if (performance.now() > deadline) throw new Error(`the scan did not finish within ${TIMEOUT_S} s`);
    await onPoll();
    await Bun.sleep(POLL_MS);
  }
}
