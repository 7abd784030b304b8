// A credential assigned to a whole network (broadcast), to a host, or to some addresses of a host.
// The credential's and the host's lists are two views of these records.

import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { liveColumns, type Kind, type RecordBase } from "../../db/kind.ts";
import { credentials } from "../credentials/credential.ts";
import { hosts } from "../hosts/host.ts";
import { networks } from "../networks/network.ts";

export interface CredentialAssignmentRecord extends RecordBase {
  readonly credential_id: string;
  readonly network_id: string;
  /** Null: for the whole network. */
  readonly host_id: string | null;
  /** Null: every address of the host. Never empty. */
  readonly ip_address_ids: readonly string[] | null;
}

export const credentialAssignments = sqliteTable("credential_assignments", {
  ...liveColumns,
  network_n: integer()
    .notNull()
    .references(() => networks.n),
  host_n: integer().references(() => hosts.n),
  credential_n: integer()
    .notNull()
    .references(() => credentials.n),
});

export const credentialAssignmentKind: Kind<CredentialAssignmentRecord> = {
  name: "credential_assignment",
  plural: "credential_assignments",
  code: 14,
  table: credentialAssignments,
  columns: (assignment, n) => ({
    network_n: n(assignment.network_id),
    host_n: assignment.host_id === null ? null : n(assignment.host_id),
    credential_n: n(assignment.credential_id),
  }),
  scopes: { network: "network_n", host: "host_n", credential: "credential_n" },
  scopeIds: (assignment) => ({
    network: assignment.network_id,
    host: assignment.host_id,
    credential: assignment.credential_id,
  }),
  links: (assignment) => [{ relation: "ip_address_ids", ids: assignment.ip_address_ids ?? [] }],
  owners: (assignment) =>
    assignment.host_id === null
      ? [
          { kind: "credential", id: assignment.credential_id, as: "assigned_network_ids" },
          { kind: "network", id: assignment.network_id, as: "credential_ids" },
        ]
      : [
          { kind: "credential", id: assignment.credential_id, as: "host_assignments" },
          { kind: "host", id: assignment.host_id, as: "credential_assignments" },
        ],
  observed: [],
  absent: "null",
  identity: assignmentKey,
  unique: { field: "credential_id", value: (assignment) => assignment.credential_id },
};

/** What there is one assignment of: a credential at a host, or in a network. */
export function assignmentKey(
  assignment: Pick<CredentialAssignmentRecord, "credential_id" | "network_id" | "host_id">,
): string {
  return `${assignment.credential_id}/${assignment.host_id ?? assignment.network_id}`;
}
