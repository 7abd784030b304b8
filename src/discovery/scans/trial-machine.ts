// Credential trial in the scanning thread: opens the secret, checks reachability, tries the credential, and reports
// whether a scan would send it there. Read-only.

import type { Timers } from "../../base/timers.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { METHOD_NAMES } from "../sightings.ts";
import { withDeadline } from "../snmp/time-limit.ts";
import { endedStep, TRIAL_STEPS, type TrialStep, untriedStep } from "../snmp/trial-steps.ts";
import { CurrentPermissions } from "./credential-permissions.ts";
import type { OpenedCredentials } from "./opened-credentials.ts";
import type { Probes } from "./probes.ts";
import { REACH_DEADLINE_MS, type TrialRequest } from "./trial.ts";

export interface TrialParts {
  readonly probes: Pick<Probes, "reach" | "tryCredential">;
  readonly reader: Reader;
  readonly credentials: OpenedCredentials;
  readonly timers: Timers;
}

/**
 * Never rejects because of a device's behavior. Sends nothing once the credential was changed or deleted.
 * @param signal ends the trial soon
 * @param onStep called with each step as it ends
 */
export async function runTrial(
  request: TrialRequest,
  { probes, reader, credentials, timers }: TrialParts,
  signal: AbortSignal,
  onStep: (step: TrialStep) => void,
): Promise<TrialStep[]> {
  const steps: TrialStep[] = [];
  const add = (step: TrialStep) => {
    steps.push(step);
    onStep(step);
  };
  const { credential_id: id, network_id, ip_address: address } = request;
  const openedMs = performance.now();
  const opened = credentials.get(id);
  if (opened?.ok !== true) {
    const secret = endedStep("secret", openedMs, {
      outcome: "Failed",
      reason: opened === null ? "cancelled" : "secret_unreadable",
      sentence:
        opened === null
          ? "The credential has been deleted."
          : `${opened.refusal.clause.charAt(0).toUpperCase()}${opened.refusal.clause.slice(1)}.`,
    });
    add(secret);
    for (const step of TRIAL_STEPS.slice(1, -1)) add(untriedStep(step, "Nothing was sent."));
    return steps;
  }
  add(endedStep("secret", openedMs, { outcome: "Passed", sentence: "The secret can be read." }));
  const networkN = reader.recordN(network_id);
  const permissions = networkN === null ? null : new CurrentPermissions(reader, networkN);
  const maySend = () =>
    permissions?.untilCommit(`trial ${id}`, () => Bun.deepEquals(credentials.get(id), opened)) ?? false;
  add(await reach(probes, address, timers, signal));
  // The probe reports these steps itself.
  steps.push(...(await probes.tryCredential(address, opened.credential, { maySend, signal, onStep })));
  if (permissions !== null) add(scansStep(permissions, request));
  return steps;
}

/** Checks whether the address responds to a sweep, without contacting its services. */
async function reach(
  probes: TrialParts["probes"],
  address: string,
  timers: Timers,
  signal: AbortSignal,
): Promise<TrialStep> {
  const startedMs = performance.now();
  const limit = withDeadline(signal, REACH_DEADLINE_MS, timers);
  try {
    const { answered, methods, hasRoute } = await probes.reach(address, limit.signal);
    if (!hasRoute)
      return endedStep("reach", startedMs, {
        outcome: "Failed",
        reason: "no_route",
        sentence: "This machine has no route to the address.",
      });
    if (answered.length > 0)
      return endedStep("reach", startedMs, {
        outcome: "Passed",
        sentence: `The address responds (${answered.map((method) => METHOD_NAMES[method]).join(", ")}).`,
      });
    return endedStep("reach", startedMs, {
      outcome: "Unclear",
      reason: limit.signal.aborted ? "deadline" : "no_answer",
      sentence: `The address does not respond to ${methods}. It may be down or unused, or respond to SNMP only, which is tried next.`,
    });
  } finally {
    limit.release();
  }
}

/** Reports whether a scan of the network without targets, requested now, would send the credential to the address. */
function scansStep(
  permissions: CurrentPermissions,
  { credential_id: id, ip_address: address }: TrialRequest,
): TrialStep {
  const startedMs = performance.now();
  const { subnets, assignments, byAddress } = permissions.at(address);
  const addressIds = (byAddress.get(address) ?? []).map((each) => each.id);
  const ownAssignments = assignments.filter((each) => each.credential_id === id);
  const hostAssignments = ownAssignments.filter(
    ({ host_id, ip_address_ids: ids }) =>
      host_id !== null && (ids === null || ids.some((each) => addressIds.includes(each))),
  );
  const ending = (): Parameters<typeof endedStep>[2] => {
    if (hostAssignments.some(({ covered }) => covered.has(address)))
      return { outcome: "Passed", sentence: "Scans send it there: it is assigned to the host at this address." };
    const isNetworkWide = ownAssignments.some(({ host_id }) => host_id === null);
    if (isNetworkWide && subnets.accepts(address))
      return {
        outcome: "Passed",
        sentence:
          "Scans send it there: it is assigned to the network, and a subnet with this address accepts credentials.",
      };
    if (permissions.isTargetIp(id, address, false))
      return { outcome: "Passed", sentence: "The next scan sends it there: the address is one of its target_ips." };
    if (hostAssignments.length > 0)
      return {
        outcome: "Failed",
        reason: "waits_for_confirmation",
        sentence:
          "No scan sends it there yet: it is assigned to the host at this address, but an Admin has yet to confirm the address.",
      };
    if (isNetworkWide) {
      const subnet = subnets.smallestOf(address);
      return {
        outcome: "Failed",
        reason: "subnet_refuses",
        sentence:
          subnet === null
            ? "No scan sends it there: it is assigned to the network, but no subnet of the network contains this address."
            : `No scan sends it there: it is assigned to the network, but the subnet ${subnet.cidr} does not accept credentials.`,
      };
    }
    return {
      outcome: "Failed",
      reason: "not_assigned",
      sentence: "No scan sends it there: it is assigned neither to the network nor to a host with this address.",
    };
  };
  return endedStep("scans", startedMs, ending());
}
