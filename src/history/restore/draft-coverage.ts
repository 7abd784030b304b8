// Credential coverage after a draft is written: an Admin's restore or revert brings it back. For lower roles it never
// widens: restored addresses wait for confirmation.

import type { CommandActor } from "../../access/actor.ts";
import { atLeast } from "../../access/role.ts";
import {
  type Covered,
  cover,
  coverageEndedIn,
  coverageStartedIn,
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
import type { Plan } from "./plan.ts";

/** Coverage changes in a draft, besides those that the store makes by itself. */
export interface CoverageChanges {
  readonly started: readonly Covered[];
  readonly ended: readonly Covered[];
}

/** For a restore: coverage of written records as of the transaction being restored. */
export function restoredCoverage(draft: RestoreDraft, sequence: number, actor: CommandActor): CoverageChanges {
  const isAssignable = assignable(draft, actor);
  const started: Covered[] = [];
  for (const { kind, after } of draft.all.filter(isWritten)) {
    if (after === null) continue;
    if (kind.code === credentialAssignmentKind.code) {
      if (isAssignable(after as CredentialAssignmentRecord))
        for (const value of coveredAt(draft.tx, after.id, sequence)) started.push({ assignmentId: after.id, value });
    } else if (kind.code === ipAddressKind.code) {
      const { host_id: hostId, ip_address: value } = after as IpAddressRecord;
      for (const assignment of draft.tx.children(credentialAssignmentKind, "host_n", hostId)) {
        if (isAssignable(assignment) && coveredAt(draft.tx, assignment.id, sequence).has(value))
          started.push({ assignmentId: assignment.id, value });
      }
    }
  }
  return { started, ended: [] };
}

/**
 * For a revert: ends coverage that the transaction started, restarts coverage that it ended, and adds both to the plan.
 */
export function revertedCoverage(draft: RestoreDraft, sequence: number, actor: CommandActor): CoverageChanges {
  const ended = coverageStartedIn(draft.tx, sequence);
  for (const { assignmentId, value } of ended)
    draft.get(assignmentId)?.reasons.add(`its credential is no longer sent to ${value}`);
  const isAssignable = assignable(draft, actor);
  const started = coverageEndedIn(draft.tx, sequence).filter(({ assignmentId }) =>
    isAssignable(draft.find(credentialAssignmentKind, assignmentId) as CredentialAssignmentRecord | null),
  );
  return { started, ended };
}

/** Adds coverage to a plan: an assignment changes even if only its coverage is reverted. */
export function plannedCoverage(plan: Plan, { ended }: CoverageChanges): Plan {
  const changed = new Set(ended.map(({ assignmentId }) => assignmentId));
  return {
    ...plan,
    actions: plan.actions.map((action) =>
      action.action === "Skip" && changed.has(action.id)
        ? { ...action, action: "Update" as const, fields: [COVERED_FIELD] }
        : action,
    ),
  };
}

/** Changed field reported in history. */
const COVERED_FIELD = "credential_ids";

/** Call after writing the draft. Revoked coverage creates a version, as its confirmation did. */
export function writeCoverage(draft: RestoreDraft, { started, ended }: CoverageChanges): void {
  const { tx } = draft;
  for (const pair of ended) {
    endCoverage(tx, pair);
    const assignment: CredentialAssignmentRecord | null = tx.find(credentialAssignmentKind, pair.assignmentId);
    if (assignment !== null) tx.touch(credentialAssignmentKind, assignment.id, COVERED_FIELD);
  }
  for (const { assignmentId, value } of started) cover(tx, assignmentId, [value], "Restored");
}

/** Assignments of credentials that the caller may assign: restoring an address also confirms it. */
function assignable(
  draft: RestoreDraft,
  actor: CommandActor,
): (assignment: CredentialAssignmentRecord | null) => boolean {
  if (!atLeast(actor.role, "Admin")) return () => false;
  // A credential in the draft was checked on its own.
  return (assignment) =>
    assignment !== null &&
    (draft.tx.find(credentialKind, assignment.credential_id) === null ||
      reachesCredential(draft.tx, assignment.credential_id, actor));
}
