// Credential views with the assigned networks and hosts, which are separate records.

import type { Actor } from "../../access/actor.ts";
import { renderMembers } from "../../db/kind.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { appendMembers, type ComposeFor, variesByCaller } from "../compose.ts";
import { credentialAssignmentsView } from "../credential-assignments/assignments.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { hostKind } from "../hosts/host.ts";
import { networkKind } from "../networks/network.ts";

/** Adds `assigned_network_ids` and `host_assignments`, limited to the caller's networks. */
export const composeCredentials: ComposeFor = Object.assign(variesByCaller(composeCredential), {
  reachFields: { assigned_network_ids: networkKind, host_assignments: hostKind },
  parts: { scope: "credential" as const, kinds: [credentialAssignmentKind] },
});

function composeCredential(reader: Reader, actor: Actor): Compose {
  const reachCache = new Map<string, boolean>();
  const reaches = (networkId: string): boolean => {
    if (actor.networkNs === null) return true;
    let known = reachCache.get(networkId);
    if (known === undefined) {
      const n = reader.recordN(networkId);
      known = n !== null && actor.networkNs.includes(n);
      reachCache.set(networkId, known);
    }
    return known;
  };
  return (items, asOf) => {
    const assignments = reader.parts(
      credentialAssignmentKind,
      "credential",
      items.map((item) => item.n),
      asOf,
      actor,
    );
    return items.map((item) =>
      appendMembers(item.text, renderMembers(credentialAssignmentsView(assignments.get(item.n) ?? [], reaches))),
    );
  };
}
