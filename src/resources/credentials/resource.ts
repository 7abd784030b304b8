// Credentials as a resource.

import { ADMIN, VIEWER } from "../../access/actor.ts";
import type { Resource } from "../resource.ts";
import { CREDENTIAL_EXAMPLE, Credential, type CredentialRecord, credentialKind } from "./credential.ts";
import { composeCredentials } from "./credential-view.ts";

export const credentialResource: Resource<CredentialRecord> = {
  kind: credentialKind,
  path: "credentials",
  group: "Credentials",
  about: "How discovery authenticates to devices. Secrets are encrypted at rest and never returned.",
  responseSchema: Credential,
  compose: composeCredentials,
  example: CREDENTIAL_EXAMPLE,
  names: {
    columns: {
      credential_ids: "credential_names",
      credential_assignments: { name: "credential_names", id: (assignment) => assignment.credential_id },
    },
    fields: ["name"],
    example: "Switches",
  },
  restores:
    "Includes its assignments in networks that the caller reaches; it is sent where it was sent then. Inline secrets are not in the history: the current ones stay, and a deleted credential that had any cannot be restored.",
  read: VIEWER,
  write: ADMIN,
};
