// Writer commands for tags. references.ts removes a deleted tag from its records.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization } from "../../access/reach.ts";
import { pickFields } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { assertReachesTagged } from "./reach.ts";
import { TAG_WRITE_FIELDS, type TagCreate, type TagUpdate, tagKind } from "./tag.ts";

/**
 * Creates a tag of the organization.
 * @throws DomainError entity_access_denied, entity_already_exists
 */
export function createTag(tx: WriteTransaction, input: { body: TagCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  return createRecord(tx, tagKind, body, actor, {
    organization_id: actor.organizationId,
    name: body.name,
    description: body.description ?? "",
    color: body.color,
    is_application: body.is_application ?? false,
  });
}

/**
 * Updates a tag. Omitted fields keep their values.
 * @throws DomainError entity_already_exists, entity_not_found, precondition_failed, entity_access_denied,
 * validation_id_mismatch, validation_failed
 */
function updateTag(tx: WriteTransaction, input: ChangeInput<TagUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const tag = recordToUpdate(tx, tagKind, input, actor, ["id"]);
  const updated = tx.update(tagKind, id, {
    ...pickFields(body, TAG_WRITE_FIELDS),
    description: body.description === undefined ? tag.description : (body.description ?? ""),
  });
  // Callers may send back what they read.
  if (tx.isChanged(id)) assertReachesTagged(tx, id, actor);
  return updated;
}

/** Deletes a tag and removes it from all records. */
const removeTag = removeOne(tagKind, (tx, tag, actor) => assertReachesTagged(tx, tag.id, actor));

export const tagCommands = {
  "tag.create": createTag,
  "tag.update": updateTag,
  "tag.delete": markLongRunning(removeTag),
  "tag.bulk_delete": removeEach(tagKind, removeTag),
};
export type TagCommands = CallsOf<typeof tagCommands>;
