// A network as it is shown: with the credentials assigned to the whole of it, which are records of their own.

import type { Reader } from "../../db/reader.ts";
import { spliced, type ComposeFor } from "../answers.ts";
import { credentialAssignmentKind, type CredentialAssignmentRecord } from "../credential-assignments/credential-assignment.ts";

/** Adds `credential_ids`: what is assigned to single hosts of the network is not among them. */
export const composeNetworks: ComposeFor = (reader: Reader) => (items, asOf) => {
  const assignments = reader.parts(credentialAssignmentKind, "network", items.map((item) => item.n), asOf);
  return items.map((item) => {
    const ids = (assignments.get(item.n) ?? []).flatMap(networkWideCredential);
    return spliced(item.text, `"credential_ids":${JSON.stringify(ids)}`);
  });
};

function networkWideCredential(text: string): string[] {
  // A network has many hosts: most of its assignments are theirs, and are not worth parsing.
  if (!text.includes('"host_id":null')) return [];
  return [(JSON.parse(text) as CredentialAssignmentRecord).credential_id];
}
