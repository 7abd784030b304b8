// Permission to revert below Admin: only the caller's own transactions, if the caller could make every write of the
// transaction and of its reversal today. Checks for no other conflicts.

import { type Access, ADMIN, type CommandActor, requireRole } from "../../access/actor.ts";
import { isInReach } from "../../access/reach.ts";
import { atLeast } from "../../access/role.ts";
import { entityWords } from "../../base/entity-words.ts";
import { type DomainError, notFound } from "../../base/errors.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { Past, WrittenVersion } from "../../db/writing/past.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { RESOURCES } from "../../records/resources.ts";
import { type ApiKeyRecord, apiKeyKind } from "../../resources/api-keys/api-key.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";
import { isWritten, type RestoreDraft } from "./draft.ts";
import type { CoverageChanges } from "./draft-coverage.ts";

interface Reverted {
  readonly sequence: number;
  /** Its versions, all within the caller's reach. */
  readonly versions: readonly WrittenVersion[];
}

/**
 * @throws DomainError entity_not_found if it contains API keys that the caller may not read; auth_permission_denied for
 * another author's transaction, and for record kinds that the caller may not write
 */
export function assertMayRevert(tx: WriteTransaction, past: Past, reverted: Reverted, actor: CommandActor): void {
  if (atLeast(actor.role, "Admin")) return;
  const { sequence, versions } = reverted;
  if (versions.some((version) => isHiddenKey(version, actor))) throw unknown(sequence);
  if (!isOwn(tx, past, sequence, actor)) requireRole(actor.role, "Admin", "Reverting another user's changes");
  for (const { kind } of versions) assertMayWriteKind(kind, actor);
}

/**
 * Checks the reversal, which may affect more than the transaction did: records that refer to its records.
 * @throws DomainError entity_not_found, auth_permission_denied
 */
export function assertMayWrite(
  draft: RestoreDraft,
  coverage: CoverageChanges,
  sequence: number,
  actor: CommandActor,
): void {
  if (atLeast(actor.role, "Admin")) return;
  for (const { kind, before, after } of draft.all)
    if ([before, after].some((state) => state !== null && !isInReach(kind, state, actor))) throw unknown(sequence);
  for (const drafted of draft.all.filter(isWritten)) assertMayWriteKind(drafted.kind, actor);
  // Only a role that may grant coverage may revoke it.
  if (coverage.started.length + coverage.ended.length > 0)
    requireRole(actor.role, "Admin", "Changing where a credential is sent");
}

/** A user owns the writes of the user's keys. A key owns neither its user's writes nor those of other keys. */
function isOwn(tx: WriteTransaction, past: Past, sequence: number, actor: CommandActor): boolean {
  const author = past.authorOf(sequence);
  if (author === null || author.id === null) return false;
  if (author.type === actor.type && author.id === actor.id) return true;
  if (author.type !== "ApiKey" || actor.type !== "User") return false;
  const keyN = tx.recordN(author.id);
  const key = keyN === null ? null : past.at(keyN, sequence);
  return key?.kind.code === apiKeyKind.code && (key.record as ApiKeyRecord).user_id === actor.userId;
}

/** API keys are visible to their owner in a signed-in session only. */
function isHiddenKey({ kind, before, after }: WrittenVersion, actor: CommandActor): boolean {
  if (kind.code !== apiKeyKind.code) return false;
  return (
    actor.type === "ApiKey" ||
    [before, after].some((state) => state !== null && (state.record as ApiKeyRecord).user_id !== actor.userId)
  );
}

/** @throws DomainError auth_permission_denied */
function assertMayWriteKind(kind: AnyKind, actor: CommandActor): void {
  requireRole(actor.role, writeAccess(kind).role, `Reverting changes to ${entityWords(kind)}`);
}

function writeAccess(kind: AnyKind): Access {
  const code = kind.code === fdbEntryKind.code ? ifEntryKind.code : kind.code;
  // Kinds without a list: credential assignments and the organization.
  return RESOURCES.find((each) => each.kind.code === code)?.write ?? ADMIN;
}

function unknown(sequence: number): DomainError {
  return notFound({ name: "transaction" }, String(sequence));
}
