// What the writer runs for custom fields, and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../../access/reach.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, takingLong } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../wire/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import {
  type CustomFieldCreate,
  type CustomFieldRecord,
  type CustomFieldUpdate,
  customFieldKind,
} from "./custom-field.ts";
import { assertDefinition, assertRoom } from "./definition-rules.ts";
import { FIELD_KINDS } from "./field-type.ts";

/** What a write says of a field, as it is kept. */
type Said = Pick<CustomFieldRecord, "kinds" | "type" | "choices" | "required" | "default" | "description">;

/**
 * A field of the organization.
 * @throws DomainError entity_access_denied, entity_already_exists, validation_failed
 */
function createCustomField(tx: WriteTransaction, input: { body: CustomFieldCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  const said = saidOf(body, { choices: [], required: false, default: null, description: null });
  assertDefinition(said);
  const field = tx.create(
    customFieldKind,
    actor.organizationId,
    { organization_id: actor.organizationId, key: body.key, label: body.label ?? body.key, ...said },
    body.id === undefined ? {} : { id: body.id },
  );
  assertRoom(tx, actor.organizationId, said.kinds);
  return field;
}

/**
 * Changes a field, but for its key. Fields that are left out stay.
 * @throws DomainError entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch,
 * validation_failed
 */
function updateCustomField(tx: WriteTransaction, input: ChangeInput<CustomFieldUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const field = getReachable(tx, customFieldKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  const said = saidOf(body, field);
  assertDefinition(said);
  assertSameIds(field, body, ["id", "key"]);
  const updated = tx.update(customFieldKind, id, { label: body.label ?? field.label, ...said });
  assertRoom(tx, actor.organizationId, said.kinds);
  return updated;
}

/** @param otherwise what holds where the body says nothing */
function saidOf(
  body: CustomFieldCreate | CustomFieldUpdate,
  otherwise: Pick<CustomFieldRecord, "choices" | "required" | "default" | "description">,
): Said {
  return {
    kinds: FIELD_KINDS.filter((kind) => body.kinds.includes(kind)),
    type: body.type,
    choices: body.choices ?? otherwise.choices,
    required: body.required ?? otherwise.required,
    default: body.default === undefined ? otherwise.default : body.default,
    description: body.description === undefined ? otherwise.description : body.description,
  };
}

const removeCustomField = removeOne(customFieldKind);

export const customFieldCommands = {
  "custom_field.create": createCustomField,
  "custom_field.update": updateCustomField,
  "custom_field.delete": takingLong(removeCustomField),
  "custom_field.bulk_delete": removeEach(customFieldKind, removeCustomField),
};
export type CustomFieldCommands = CallsOf<typeof customFieldCommands>;
