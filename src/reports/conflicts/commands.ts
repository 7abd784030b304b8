// Writer commands for conflicts: accept one, and withdraw the acceptance. Neither appears in the change lists.

import type { CommandActor } from "../../access/actor.ts";
import { reachesNetwork } from "../../access/reach.ts";
import { DomainError, notFound } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { parseMac } from "../../base/mac.ts";
import { runSteps } from "../../base/steps.ts";
import { type CallsOf, exemptFromReason } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import {
  type Acceptance,
  type AcceptanceCreate,
  type AcceptedBy,
  acceptanceView,
  conflictAcceptanceKind,
} from "../../resources/conflict-acceptances/acceptance.ts";
import { addressConflicts } from "./address-conflicts.ts";
import {
  type Conflict,
  type ConflictQuery,
  conflictFingerprint,
  networksOf,
  type StatementSource,
} from "./conflict.ts";
import { acceptancesOf } from "./find-conflicts.ts";
import { macConflicts } from "./mac-conflicts.ts";
import { subnetConflicts } from "./subnet-conflicts.ts";

/**
 * Accepts a conflict; an already accepted one stays accepted.
 * @throws DomainError entity_stale if the conflict no longer exists or has changed since it was read
 */
function acceptConflict(tx: WriteTransaction, input: { body: AcceptanceCreate }, actor: CommandActor): Acceptance {
  const { body } = input;
  const organizationN = tx.recordN(actor.organizationId) as number;
  const connection: StatementSource = { statement: (sql) => tx.db.$client.query(sql) };
  const networkNs = actor.networkIds?.flatMap((id) => tx.recordN(id) ?? []) ?? null;
  const query = { reach: { organizationN, networkNs }, sequence: tx.sequence - 1, at: null };
  const conflict = conflictsOf(connection, query, body).find(
    (each) => each.value === body.value && conflictFingerprint(each) === body.fingerprint,
  );
  if (conflict === undefined)
    throw new DomainError("entity_stale", "Conflict not found, or it has changed; list the conflicts again.", {
      entity: "conflict",
      expected: body.fingerprint,
      actual: null,
    });
  const known = acceptancesOf(connection, query, [conflict]).get(body.fingerprint);
  if (known !== undefined) return known;
  const acceptance = tx.create(conflictAcceptanceKind, actor.organizationId, {
    organization_id: actor.organizationId,
    network_ids: networksOf(conflict),
    type: conflict.type,
    value: conflict.value,
    fingerprint: body.fingerprint,
    reason: body.reason ?? null,
    accepted_at: formatInstant(tx.instant),
    accepted_by: acceptedBy(actor),
    withdrawn_at: null,
    withdrawn_by: null,
  });
  return acceptanceView(acceptance);
}

/** Conflicts of one value that the caller can access. */
function conflictsOf(
  connection: StatementSource,
  query: ConflictQuery,
  { type, value }: AcceptanceCreate,
): readonly Conflict[] {
  if (type === "Mac") return parseMac(value) === value ? runSteps(macConflicts(connection, query, value)) : [];
  return runSteps(
    type === "Address" ? addressConflicts(connection, query, [value]) : subnetConflicts(connection, query),
  );
}

/**
 * Withdraws an acceptance, so that the conflict is reported again.
 * @throws DomainError entity_not_found for an acceptance not in force, or if the caller cannot access all of its
 * networks
 */
function withdrawAcceptance(tx: WriteTransaction, input: { id: string }, actor: CommandActor): Acceptance {
  const found = tx.find(conflictAcceptanceKind, input.id);
  if (
    found === null ||
    found.withdrawn_at !== null ||
    found.organization_id !== actor.organizationId ||
    !found.network_ids.every((id) => reachesNetwork(actor, id))
  )
    throw notFound({ name: "acceptance" }, input.id);
  tx.update(conflictAcceptanceKind, input.id, {
    withdrawn_at: formatInstant(tx.instant),
    withdrawn_by: acceptedBy(actor),
  });
  return acceptanceView(found);
}

function acceptedBy({ type, id, name }: CommandActor): AcceptedBy {
  return { type, id, name };
}

export const conflictCommands = {
  // An acceptance has its own reason.
  "conflict.accept": exemptFromReason(acceptConflict),
  "conflict.withdraw_acceptance": exemptFromReason(withdrawAcceptance),
};
export type ConflictCommands = CallsOf<typeof conflictCommands>;
