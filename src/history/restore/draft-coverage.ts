// Where credentials go once a draft is written: by an Admin's restore where they went then, by an Admin's revert where
// they went before. Below that role nothing widens: what comes back waits for its confirmation.

import type { CommandActor } from "../../access/actor.ts";
import { atLeast } from "../../access/role.ts";
import {
  type Covered,
  cover,
  coverageEndedIn,
  coverageMadeIn,
  coveredAt,
  endCoverage,
} from "../../resources/credential-assignments/coverage.ts";
import {
  type CredentialAssignmentRecord,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import { reachesCredential } from "../../resources/credential-assignments/reach.ts";
import { credentialKind } from "../../resources/credentials/credential.ts";
import { type IpAddressRecord, ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { isWritten, type RestoreDraft } from "./draft.ts";
import type { Planned } from "./plan.ts";

/** What a draft does to coverage besides what the store ends by itself. */
export interface CoverageChanges {
  readonly begun: readonly Covered[];
  readonly ended: readonly Covered[];
}

/** Of a restore: of what it writes, that which was covered as of the transaction that it goes back to. */
export function coverageThen(draft: RestoreDraft, sequence: number, actor: CommandActor): CoverageChanges {
  const isAssignable = assignable(draft, actor);
  const begun: Covered[] = [];
  for (const { kind, after } of draft.all.filter(isWritten)) {
    if (after === null) continue;
    if (kind.code === credentialAssignmentKind.code) {
      if (isAssignable(after as CredentialAssignmentRecord))
        for (const value of coveredAt(draft.tx, after.id, sequence)) begun.push({ assignmentId: after.id, value });
    } else if (kind.code === ipAddressKind.code) {
      const { host_id: hostId, ip_address: value } = after as IpAddressRecord;
      for (const assignment of draft.tx.children(credentialAssignmentKind, "host_n", hostId)) {
        if (isAssignable(assignment) && coveredAt(draft.tx, assignment.id, sequence).has(value))
          begun.push({ assignmentId: assignment.id, value });
      }
    }
  }
  return { begun, ended: [] };
}

/** Of a revert: what the transaction began to cover ends, and what it ended begins again. The plan says so. */
export function coverageBefore(draft: RestoreDraft, sequence: number, actor: CommandActor): CoverageChanges {
  const ended = coverageMadeIn(draft.tx, sequence);
  for (const { assignmentId, value } of ended)
    draft.get(assignmentId)?.reasons.add(`its credential no longer goes to ${value}`);
  const isAssignable = assignable(draft, actor);
  const begun = coverageEndedIn(draft.tx, sequence).filter(({ assignmentId }) =>
    isAssignable(draft.find(credentialAssignmentKind, assignmentId) as CredentialAssignmentRecord | null),
  );
  return { begun, ended };
}

/** What a plan tells of it: an assignment of which nothing but where its credential goes is undone changes as well. */
export function plannedCoverage(planned: Planned, { ended }: CoverageChanges): Planned {
  const changed = new Set(ended.map(({ assignmentId }) => assignmentId));
  return {
    ...planned,
    actions: planned.actions.map((action) =>
      action.action === "Skip" && changed.has(action.id)
        ? { ...action, action: "Update" as const, fields: [COVERED_FIELD] }
        : action,
    ),
  };
}

/** What history says has changed by it. */
const COVERED_FIELD = "credential_ids";

/** To be called when the draft is written. What is taken back makes a version, as what was confirmed did. */
export function writeCoverage(draft: RestoreDraft, { begun, ended }: CoverageChanges): void {
  const { tx } = draft;
  for (const pair of ended) {
    endCoverage(tx, pair);
    const assignment: CredentialAssignmentRecord | null = tx.find(credentialAssignmentKind, pair.assignmentId);
    if (assignment !== null) tx.touch(credentialAssignmentKind, assignment.id, COVERED_FIELD);
  }
  for (const { assignmentId, value } of begun) cover(tx, assignmentId, [value], "Restored");
}

/** Assignments whose credential the caller could assign: who restores an address confirms it, too. */
function assignable(
  draft: RestoreDraft,
  actor: CommandActor,
): (assignment: CredentialAssignmentRecord | null) => boolean {
  if (!atLeast(actor.role, "Admin")) return () => false;
  // A credential that comes back itself was looked at for itself.
  return (assignment) =>
    assignment !== null &&
    (draft.tx.find(credentialKind, assignment.credential_id) === null ||
      reachesCredential(draft.tx, assignment.credential_id, actor));
}
