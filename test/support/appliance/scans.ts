// Scans through the API on a simulated network. No assertions beyond success.

import type { TestAppliance } from "./appliance.ts";
import type { Client } from "./client.ts";
import { made, newCredential, snmpV2c, type Wire } from "./factories.ts";

/** Runs a scan of the first network to its end. */
export async function scanned(
  appliance: TestAppliance,
  fields: Wire = {},
  by: Client = appliance.owner,
): Promise<Wire> {
  return untilEnded(appliance, (await asked(appliance, fields, by)).id);
}

/** Requests a scan of the first network. */
export function asked(appliance: TestAppliance, fields: Wire = {}, by: Client = appliance.owner): Promise<Wire> {
  return made(by.post("/api/v1/discovery/scans", { network_id: appliance.first.networkId, kind: "full", ...fields }));
}

/** Waits until the scan has ended. The first Owner must be able to read it. */
export async function untilEnded(appliance: TestAppliance, id: string): Promise<Wire> {
  const never = new AbortController().signal;
  for (let live = appliance.scans.live(id); live !== null; live = appliance.scans.live(id))
    await appliance.scans.beyond(id, live.version, never);
  return (await appliance.owner.get(`/api/v1/discovery/scans/${id}`)).data;
}

export async function findings(appliance: TestAppliance, scan: Wire): Promise<Wire[]> {
  return (await appliance.owner.get(`/api/v1/discovery/scans/${scan.id}/findings?limit=1000`)).data;
}

/** Creates a credential with this community, for the first network by default. */
export function communityOf(appliance: TestAppliance, community: string, fields: Wire = {}): Promise<Wire> {
  return newCredential(appliance, {
    name: community,
    credential_type: snmpV2c(community),
    assigned_network_ids: [appliance.first.networkId],
    ...fields,
  });
}

/** Holds back all probes of the network. */
export function holdBack(appliance: TestAppliance): { readonly reached: Promise<void>; readonly letGo: () => void } {
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
  const letGo = () => {
    appliance.probes.hold = async () => {};
    gate.resolve();
  };
  return { reached: reached.promise, letGo };
}
