// Writer commands for restoring one record and for reverting a transaction. With `dryRun` they compute and return the
// plan without writing.

import { type CommandActor, requireRole, requireSession } from "../../access/actor.ts";
import { isInReach } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { entityWord } from "../../base/entity-words.ts";
import { DomainError, notFound } from "../../base/errors.ts";
import type { Instant } from "../../base/instant.ts";
import type { AnyKind } from "../../db/kind.ts";
import { type CallsOf, type Conditional, markLongRunning } from "../../db/writing/command.ts";
import type { Author } from "../../db/writing/ledger.ts";
import { Past, type PastRecord, type WrittenVersion } from "../../db/writing/past.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { notFoundAt } from "../../records/read-instant.ts";
import { KINDS, RESOURCES } from "../../records/resources.ts";
import { type ApiKeyRecord, apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { findWritableKey } from "../../resources/api-keys/writable-key.ts";
import { renewConsolidation } from "../../resources/consolidations/consolidation.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { assertPlanned } from "../../schemas/plan-token.ts";
import type { RestoreDraft } from "./draft.ts";
import {
  type CoverageChanges,
  plannedCoverage,
  restoredCoverage,
  revertedCoverage,
  writeCoverage,
} from "./draft-coverage.ts";
import { draftToken } from "./draft-token.ts";
import { writeDraft } from "./draft-write.ts";
import { assertMayRevert, assertMayWrite } from "./own-transactions.ts";
import { type ReportedPlan, refusal, reportPlan, type TokenedPlan } from "./plan.ts";
import { draftRestore } from "./restore.ts";
import { draftRevert } from "./revert.ts";

interface PlanInput {
  readonly dryRun: boolean;
  /** Token of the plan that the caller has seen. */
  readonly plan?: string | undefined;
}

interface RestoreInput extends PlanInput, Conditional {
  readonly id: string;
  readonly at: Instant;
  /** Whether `at` was not past when requested: then it means the present, even if the ledger's clock is ahead. */
  readonly isPresent: boolean;
}

interface RevertInput extends PlanInput {
  readonly sequence: number;
}

/**
 * Command to restore a record of this kind to a point in time. Throws DomainError entity_not_found if it did not exist
 * then or is out of reach; precondition_failed; the errors of its own update; and for conflicts: entity_already_exists,
 * entity_in_use, entity_stale, auth_permission_denied; entity_stale also if the quoted plan no longer applies.
 */
function restoreRecord(kind: AnyKind) {
  return markLongRunning((tx: WriteTransaction, input: RestoreInput, actor: CommandActor): ReportedPlan => {
    const past = new Past(tx.db, KINDS);
    const { sequence, thinned } = input.isPresent ? past.present() : past.resolve(input.at);
    const subject = findVisibleRecord(tx, past, kind, input.id, sequence, actor);
    if (subject === null)
      throw notFoundAt(kind, input.id, { at: input.at, asOf: thinned === undefined ? {} : { thinned } });
    const isAlive = tx.find(kind, input.id) !== null;
    if (!isAlive && kind.code === networkKind.code) requireRole(actor.role, "Owner", "Restoring a deleted network");
    if (isAlive) assertVersion(input.ifMatch, tx.versionOf(input.id));
    else if (typeof input.ifMatch === "string")
      throw new DomainError(
        "precondition_failed",
        "The record is deleted, so it has no version that If-Match can match.",
        { expected: input.ifMatch.slice(0, 200), actual: null },
      );
    const draft = draftRestore(tx, past, subject, sequence, actor);
    const coverage = restoredCoverage(draft, sequence, actor);
    const planned = carryOut(draft, coverage, input, `The ${entityWord(kind)} cannot be restored`, actor);
    return reportPlan(planned, thinned);
  });
}

/**
 * Reverts a transaction.
 * @throws DomainError entity_not_found if the caller does not reach all of it; auth_permission_denied, below Admin also
 * for other authors' transactions and for writes that require Admin; auth_session_required; entity_access_denied; and
 * for conflicts: entity_already_exists, entity_in_use, entity_stale, which also means that the quoted plan no longer
 * applies
 */
function revertTransaction(tx: WriteTransaction, input: RevertInput, actor: CommandActor): ReportedPlan {
  const { sequence } = input;
  const past = new Past(tx.db, KINDS);
  if (past.isThinned(sequence)) throw thinnedError(past, sequence, actor);
  const versions = past.writtenIn(sequence);
  // No error reveals whether the transaction has more versions than the caller sees.
  const visible = versions.filter((version) => isVisible(tx, past, [version], actor));
  if (visible.length > 0) assertMayRevert(tx, past, { sequence, versions: visible }, actor);
  if (visible.length === 0 || visible.length < versions.length)
    throw notFound({ name: "transaction" }, String(sequence));
  if (versions.some(({ kind, after }) => kind.code === networkKind.code && after === null))
    requireRole(actor.role, "Owner", "Restoring a deleted network");
  const draft = draftRevert(tx, past, versions, sequence, actor);
  // API keys are visible in signed-in sessions only.
  if (draft.conflicts.some((conflict) => conflict.entity_type === apiKeyKind.name))
    requireSession(actor, "Reverting changes to API keys");
  const coverage = revertedCoverage(draft, sequence, actor);
  assertMayWrite(draft, coverage, sequence, actor);
  const planned = carryOut(draft, coverage, input, `The transaction ${sequence} cannot be reverted`, actor);
  if (!input.dryRun)
    for (const { kind, n, before } of versions)
      if (kind.code === hostKind.code && before === null) renewConsolidation(tx, n, sequence);
  if (actor.type !== "ApiKey") return reportPlan(planned);
  const actions = planned.actions.filter((action) => action.entity_type !== apiKeyKind.name);
  return reportPlan({ ...planned, actions });
}

/**
 * Whether a caller reaches everything a transaction wrote. In thinned history, only callers who reach every network do.
 */
export function reachesTransaction(tx: WriteTransaction, sequence: number, author: Author): boolean {
  const actor = author as CommandActor;
  if (author.organizationId === null || actor.networkIds === null) return true;
  const past = new Past(tx.db, KINDS);
  return !past.isThinned(sequence) && isVisible(tx, past, past.writtenIn(sequence), actor);
}

function carryOut(
  draft: RestoreDraft,
  coverage: CoverageChanges,
  { dryRun, plan }: PlanInput,
  refusedMessage: string,
  actor: CommandActor,
): TokenedPlan {
  const hasFullReach = actor.networkIds === null;
  const draftPlan = plannedCoverage(draft.toPlan(hasFullReach), coverage);
  const planned = { ...draftPlan, token: draftToken(draft, draftPlan, coverage, hasFullReach) };
  assertPlanned(plan, planned.token);
  if (dryRun) return planned;
  if (planned.conflicts.length > 0) throw refusal(refusedMessage, planned.conflicts, actor.role);
  writeDraft(draft, actor);
  writeCoverage(draft, coverage);
  return planned;
}

/**
 * Error for a transaction in thinned history: only callers who reach the whole organization learn that it existed.
 */
function thinnedError(past: Past, sequence: number, actor: CommandActor): DomainError {
  if (actor.networkIds !== null || past.organizationOf(sequence) !== actor.organizationId)
    return notFound({ name: "transaction" }, String(sequence));
  return new DomainError(
    "entity_stale",
    `The transaction ${sequence} cannot be reverted: history was thinned there, and its changes are no longer known. Nothing was written.`,
    { entity: "transaction", id: String(sequence) },
  );
}

/** The record at that time; null if this caller would not find it then. */
function findVisibleRecord(
  tx: WriteTransaction,
  past: Past,
  kind: AnyKind,
  id: string,
  sequence: number,
  actor: CommandActor,
): PastRecord | null {
  const n = tx.recordN(id);
  if (n === null || !past.wasMember(tx.recordN(actor.organizationId) as number, kind, n, sequence)) return null;
  const subject = past.at(n, sequence);
  if (subject === null || subject.kind.code !== kind.code || !isInReach(kind, subject.record, actor)) return null;
  return kind.code !== apiKeyKind.code || isWritableKey(tx, subject.record as ApiKeyRecord, actor) ? subject : null;
}

/**
 * Whether the key is the caller's own, then and now, or writable for an Owner or Admin.
 * @throws DomainError auth_permission_denied
 */
function isWritableKey(tx: WriteTransaction, formerKey: ApiKeyRecord, actor: CommandActor): boolean {
  if (formerKey.user_id !== actor.userId && !atLeast(actor.role, "Admin")) return false;
  return tx.find(apiKeyKind, formerKey.id) === null || findWritableKey(tx, formerKey.id, actor) !== null;
}

/** Whether the entire transaction is visible to the caller. */
function isVisible(
  tx: WriteTransaction,
  past: Past,
  versions: readonly WrittenVersion[],
  actor: CommandActor,
): boolean {
  const organizationN = tx.recordN(actor.organizationId) as number;
  return (
    versions.length > 0 &&
    versions.every(
      ({ kind, n, before, after }) =>
        past.wasEverMember(organizationN, kind, n) &&
        [before, after].every((state) => state === null || isInReach(kind, state.record, actor)),
    )
  );
}

/** Restore commands of all resources. */
const RESTORES: { readonly [command: `${string}.restore`]: ReturnType<typeof restoreRecord> } = Object.fromEntries(
  RESOURCES.filter(({ isReadOnly }) => isReadOnly !== true).map(({ kind }) => [
    `${kind.name}.restore`,
    restoreRecord(kind),
  ]),
);

export const restoreCommands = { ...RESTORES, "transaction.revert": markLongRunning(revertTransaction) };
export type RestoreCommands = CallsOf<typeof restoreCommands & typeof RESTORES>;
