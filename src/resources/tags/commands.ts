// What the writer runs for tags. Taking a tag off the records that carry it is references.ts' affair.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { WriteTransaction } from "../../db/transaction.ts";
import { assertVersion, type Written } from "../answers.ts";
import { removeRecord } from "../references.ts";
import { assertReachesTagged } from "./reach.ts";
import { tagKind, type TagCreate, type TagUpdate } from "./tag.ts";

/**
 * A tag of the organization.
 * @throws DomainError entity_access_denied, entity_already_exists
 */
export function createTag(tx: WriteTransaction, input: { body: TagCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  return tx.create(
    tagKind,
    actor.organizationId,
    {
      organization_id: actor.organizationId,
      name: body.name,
      description: body.description ?? "",
      color: body.color,
      is_application: body.is_application ?? false,
    },
    body.id === undefined ? {} : { id: body.id },
  );
}

/**
 * Changes a tag. Fields that are left out stay.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateTag(
  tx: WriteTransaction,
  input: { id: string; body: TagUpdate; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const { id, body } = input;
  const tag = getReachable(tx, tagKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(tag, body, ["id"]);
  const updated = tx.update(tagKind, id, {
    name: body.name,
    description: body.description === undefined ? tag.description : (body.description ?? ""),
    color: body.color,
    is_application: body.is_application ?? tag.is_application,
  });
  // What a caller has read it may send back.
  if (tx.isChanged(id)) assertReachesTagged(tx, id, actor);
  return updated;
}

/**
 * Deletes a tag and takes it off whatever carries it.
 * @throws DomainError entity_not_found; precondition_failed; entity_access_denied
 */
export function removeTag(
  tx: WriteTransaction,
  input: { id: string; ifMatch: string | null },
  actor: CommandActor,
): Written {
  const tag = getReachable(tx, tagKind, input.id, actor);
  assertVersion(input.ifMatch, tx.versionOf(input.id));
  assertReachesTagged(tx, input.id, actor);
  removeRecord(tx, tagKind, input.id, false);
  return tag;
}
