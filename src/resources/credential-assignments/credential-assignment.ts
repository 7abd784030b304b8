// Credential assignment to a whole network (broadcast), to a host, or to some addresses of a host. The lists on
// credentials and on hosts are two views of these records.

import { integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { type Kind, liveColumns, type RecordBase } from "../../db/kind.ts";
import { credentials } from "../credentials/credential.ts";
import { hosts } from "../hosts/host.ts";
import { requiredReference } from "../live-columns.ts";
import { networks } from "../networks/network.ts";

export interface CredentialAssignmentRecord extends RecordBase {
  readonly credential_id: string;
  readonly network_id: string;
  /** Null for the whole network. */
  readonly host_id: string | null;
  /** Null for every address of the host. Never empty. */
  readonly ip_address_ids: readonly string[] | null;
}

export const credentialAssignments = sqliteTable("credential_assignments", {
  ...liveColumns,
  network_n: requiredReference(() => networks.n),
  host_n: integer().references(() => hosts.n),
  credential_n: requiredReference(() => credentials.n),
});

export const credentialAssignmentKind: Kind<CredentialAssignmentRecord> = {
  name: "credential_assignment",
  plural: "credential_assignments",
  code: 14,
  table: credentialAssignments,
  scopes: { network: "network_id", host: "host_id", credential: "credential_id" },
  isReportedByContainer: true,
  references: [
    { to: "network", field: "network_id" },
    { to: "credential", field: "credential_id", refuses: true },
    { to: "host", field: "host_id" },
    { to: "ip_address", field: "ip_address_ids", without: withoutAddress },
  ],
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

/** Unique key: one assignment per credential and host, or per credential and network. */
export function assignmentKey(
  assignment: Pick<CredentialAssignmentRecord, "credential_id" | "network_id" | "host_id">,
): string {
  return `${assignment.credential_id}/${assignment.host_id ?? assignment.network_id}`;
}

/** An assignment with an address list never widens: it is removed with its last address. */
function withoutAddress({ ip_address_ids }: CredentialAssignmentRecord, id: string) {
  const remaining = (ip_address_ids ?? []).filter((each) => each !== id);
  return remaining.length === 0 ? null : { ip_address_ids: remaining };
}
