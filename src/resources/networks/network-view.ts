// Network views with the credentials assigned to the whole network, which are separate records.

import type { Actor } from "../../access/actor.ts";
import type { Compose, Reader } from "../../db/reading/reader.ts";
import { appendMembers, type ComposeFor } from "../compose.ts";
import {
  type CredentialAssignmentRecord,
  credentialAssignmentKind,
} from "../credential-assignments/credential-assignment.ts";

/** Adds `credential_ids`. Assignments to single hosts are excluded, but skipping many of them takes time. */
export const composeNetworks: ComposeFor = Object.assign(composeNetwork, {
  parts: { scope: "network" as const, kinds: [credentialAssignmentKind] },
});

function composeNetwork(reader: Reader, actor: Actor): Compose {
  return (items, asOf) => {
    const assignments = reader.parts(
      credentialAssignmentKind,
      "network",
      items.map((item) => item.n),
      asOf,
      actor,
      "host",
    );
    return items.map((item) => {
      const ids = (assignments.get(item.n) ?? []).map(
        (text) => (JSON.parse(text) as CredentialAssignmentRecord).credential_id,
      );
      return appendMembers(item.text, `"credential_ids":${JSON.stringify(ids)}`);
    });
  };
}
