// Write access to tags for callers confined to networks: they must have access to every record with the tag. Reveals
// nothing about inaccessible records except that one exists.

import type { CommandActor } from "../../access/actor.ts";
import { isInReach } from "../../access/reach.ts";
import { DomainError } from "../../base/errors.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { apiKeyKind } from "../api-keys/api-key.ts";
import { reachesCredential } from "../credential-assignments/reach.ts";
import { credentialKind } from "../credentials/credential.ts";
import { type Referrer, referrersOf } from "../references.ts";
import { tagKind } from "./tag.ts";

/**
 * Call before the transaction removes the tag from any record.
 * @throws DomainError entity_access_denied
 */
export function assertReachesTagged(tx: WriteTransaction, tagId: string, actor: CommandActor): void {
  if (actor.networkIds === null) return;
  if (referrersOf(tx, tagKind, tagId).every((carrier) => isReachable(tx, carrier, actor))) return;
  throw new DomainError(
    "entity_access_denied",
    "The tag is on records out of the caller's reach: only a caller who reaches all of them can change it.",
    { entity: "tag", id: tagId },
  );
}

function isReachable(tx: WriteTransaction, { kind, record }: Referrer, actor: CommandActor): boolean {
  if (kind.code === credentialKind.code) return reachesCredential(tx, record.id, actor);
  // Keys are managed only by session, and session users who may write tags are not confined.
  if (kind.code === apiKeyKind.code) return false;
  return kind.scopes.network !== undefined && isInReach(kind, record, actor);
}
