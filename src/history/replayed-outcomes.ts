// Replay policy for idempotent requests (Idempotency-Key): only a caller who still has the original permissions gets
// the stored outcome.

import { type CommandActor, requireRole } from "../access/actor.ts";
import type { Role } from "../access/role.ts";
import { DomainError, notFound } from "../base/errors.ts";
import type { KnownOutcome } from "../db/writing/kept-outcomes.ts";
import type { Author } from "../db/writing/ledger.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import type { ReplayPolicy } from "../db/writing/writer.ts";
import { apiKeyKind } from "../resources/api-keys/api-key.ts";
import { findWritableKey } from "../resources/api-keys/writable-key.ts";
import { networkKind } from "../resources/networks/network.ts";
import { reachesTransaction } from "./restore/restore-commands.ts";

/** Stored permissions of the original request: role, and network record numbers; null for all networks. */
type StoredPermissions = readonly [role: Role, networks: readonly number[] | null];

/** Commands whose outcome contains a secret that the record does not have. */
const RETURNS_SECRET: ReadonlySet<string> = new Set(["api_key.create", "api_key.rotate"]);

/** Allows a replay if the current permissions include the original ones. */
export const REPLAY_POLICY: ReplayPolicy = { permissionsOf, assertMayReplay: assertMayReplay };

function permissionsOf(tx: WriteTransaction, author: Author): StoredPermissions {
  const { role, networkIds } = author as CommandActor;
  return [role, networkIds === null ? null : networkIds.flatMap((id) => tx.recordN(id) ?? [])];
}

/**
 * @throws DomainError auth_permission_denied for a lesser role; entity_not_found if the caller no longer reaches all
 * networks reached then, or everything written; for an API key that the caller may not read, the errors of a new
 * request
 */
function assertMayReplay(tx: WriteTransaction, known: KnownOutcome, author: Author): void {
  const actor = author as CommandActor;
  assertIncludesPermissions(tx, actor, known.rights as StoredPermissions);
  if (known.sequence !== null && !reachesTransaction(tx, known.sequence, actor))
    throw notFound({ name: "transaction" }, String(known.sequence));
  if (RETURNS_SECRET.has(tx.source)) assertMayReadKey(tx, (known.result as { readonly id: string }).id, actor);
}

function assertIncludesPermissions(
  tx: WriteTransaction,
  actor: CommandActor,
  [role, networks]: StoredPermissions,
): void {
  requireRole(actor.role, role, "Replaying the response to this request");
  if (actor.networkIds === null) return;
  const reached = new Set(actor.networkIds.map((id) => tx.recordN(id)));
  const lost = networks?.find((n) => !reached.has(n));
  if (lost !== undefined) throw notFound(networkKind, tx.recordId(lost) as string);
  if (networks !== null) return;
  throw new DomainError(
    "entity_not_found",
    "The response to this request is replayed only to a caller who reaches every network, as the original caller did.",
    { entity: networkKind.name, id: null },
  );
}

/** A deleted key no longer grants access. @throws DomainError entity_not_found, auth_permission_denied */
function assertMayReadKey(tx: WriteTransaction, id: string, actor: CommandActor): void {
  if (tx.find(apiKeyKind, id) !== null && findWritableKey(tx, id, actor) === null) throw notFound(apiKeyKind, id);
}
