// Scans through the API on a simulated network. No assertions beyond success.

import type { TestAppliance } from "./appliance.ts";
import type { Client } from "./client.ts";
import { expectOk, type JsonRecord, newCredential, snmpV2c } from "./factories.ts";

/** Runs a scan of the first network to completion. */
export async function runScan(
  appliance: TestAppliance,
  fields: JsonRecord = {},
  client: Client = appliance.owner,
): Promise<JsonRecord> {
  return waitForScan(appliance, (await startScan(appliance, fields, client)).id);
}

/** Requests a scan of the first network. */
export function startScan(
  appliance: TestAppliance,
  fields: JsonRecord = {},
  client: Client = appliance.owner,
): Promise<JsonRecord> {
  return expectOk(
    client.post("/api/v1/discovery/scans", { network_id: appliance.first.networkId, kind: "full", ...fields }),
  );
}

/** Waits for a scan to complete, which the client must be able to read; by default the first Owner. */
export async function waitForScan(
  appliance: TestAppliance,
  id: string,
  client: Client = appliance.owner,
): Promise<JsonRecord> {
  const never = new AbortController().signal;
  for (let live = appliance.scans.live(id); live !== null; live = appliance.scans.live(id))
    await appliance.scans.waitForChange(id, live.version, never);
  return (await client.get(`/api/v1/discovery/scans/${id}`)).data;
}

export async function findings(appliance: TestAppliance, scan: JsonRecord): Promise<JsonRecord[]> {
  return (await appliance.owner.get(`/api/v1/discovery/scans/${scan.id}/findings?limit=1000`)).data;
}

/** Creates a credential with this community, for the first network by default. */
export function communityOf(appliance: TestAppliance, community: string, fields: JsonRecord = {}): Promise<JsonRecord> {
  return newCredential(appliance, {
    name: community,
    credential_type: snmpV2c(community),
    assigned_network_ids: [appliance.first.networkId],
    ...fields,
  });
}

/** Holds back all probes of the network. */
export function holdProbes(appliance: TestAppliance): {
  readonly reached: Promise<void>;
  readonly release: () => void;
} {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  appliance.probes.hold = async (_address, signal) => {
    reached.resolve();
    if (!signal.aborted)
      await Promise.race([
        gate.promise,
        new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
      ]);
  };
  const release = () => {
    appliance.probes.hold = async () => {};
    gate.resolve();
  };
  return { reached: reached.promise, release };
}
