// Writer commands for custom fields and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertReachesAll, assertSameIds, getReachable } from "../../access/reach.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, type Removal, takingLong } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import {
  type CustomFieldCreate,
  type CustomFieldRecord,
  type CustomFieldUpdate,
  customFieldKind,
} from "./custom-field.ts";
import { assertDefinition, assertRoom } from "./definition-rules.ts";
import { FIELD_KINDS, type FieldValue } from "./field-type.ts";
import { clearValues, holdersOf, refuseHeld } from "./holders.ts";
import { forgetDefinitions } from "./write-values.ts";

/** Requires reach to all networks: required values, defaults and choices apply in every network. */
export const DEFINING = "Defining custom fields";

/** Field definition from a write, as stored. */
type Said = Pick<CustomFieldRecord, "kinds" | "type" | "choices" | "required" | "default" | "description">;

/**
 * Creates a custom field of the organization.
 * @throws DomainError entity_access_denied, entity_already_exists, validation_failed
 */
function createCustomField(tx: WriteTransaction, input: { body: CustomFieldCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertReachesAll(actor, DEFINING);
  assertOwnOrganization(body.organization_id, actor);
  const said = saidOf(body, { choices: [], required: false, default: null, description: null });
  assertDefinition(said);
  const field = tx.create(
    customFieldKind,
    actor.organizationId,
    { organization_id: actor.organizationId, key: body.key, label: body.label ?? body.key, ...said },
    body.id === undefined ? {} : { id: body.id },
  );
  forgetDefinitions(tx);
  assertRoom(tx, actor.organizationId, said.kinds);
  return field;
}

/**
 * Updates a field, except for its key. Omitted properties keep their values.
 * @throws DomainError entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch,
 * validation_failed
 */
function updateCustomField(tx: WriteTransaction, input: ChangeInput<CustomFieldUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const field = getReachable(tx, customFieldKind, id, actor);
  assertReachesAll(actor, DEFINING);
  assertVersion(input.ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  const said = saidOf(body, field);
  assertDefinition(said, field.choices);
  assertSameIds(field, body, ["id", "key"]);
  assertValuesStay(tx, field, said);
  const updated = tx.update(customFieldKind, id, { label: body.label ?? field.label, ...said });
  forgetDefinitions(tx);
  assertRoom(tx, actor.organizationId, said.kinds);
  return updated;
}

/**
 * Stored values must match the definition: its type, kinds and choices can change only while no record holds an
 * affected value.
 * @throws DomainError entity_in_use
 */
function assertValuesStay(tx: WriteTransaction, field: CustomFieldRecord, said: Said): void {
  const what = `The custom field ${field.key}`;
  if (said.type !== field.type) {
    const how = "clear these first, or make another field: the type of a field is fixed once it is used";
    return refuseHeld(holdersOf(tx, field), field, { what, how });
  }
  const left = field.kinds.filter((kind) => !said.kinds.includes(kind));
  if (left.length > 0) {
    const how = "clear these first: they would be left without the field";
    refuseHeld(holdersOf(tx, field, left), field, { what, how });
  }
  const gone = new Set<FieldValue>(field.choices.filter((choice) => !said.choices.includes(choice)));
  if (gone.size === 0) return;
  const how = "set these to another one first: the choice would be removed";
  refuseHeld(
    holdersOf(tx, field).filter(({ value }) => gone.has(value)),
    field,
    { what: `The choice ${[...gone].join(", ")} of the custom field ${field.key}`, how },
  );
}

/** @param otherwise values of omitted properties */
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

/**
 * Deletes a field; a cascade also deletes its values.
 * @throws DomainError entity_not_found, precondition_failed, entity_in_use, entity_access_denied
 */
function removeCustomField(tx: WriteTransaction, removal: Removal, actor: CommandActor): CustomFieldRecord {
  const { id, cascade = false, ifMatch } = removal;
  const field = getReachable(tx, customFieldKind, id, actor);
  assertReachesAll(actor, DEFINING);
  assertVersion(ifMatch, tx.versionOf(id));
  if (cascade) clearValues(tx, field);
  else {
    const how = "clear these first, or repeat with cascade=true to clear them all";
    refuseHeld(holdersOf(tx, field), field, { what: `The custom field ${field.key}`, how });
  }
  tx.remove(customFieldKind, id);
  forgetDefinitions(tx);
  return field;
}

export const customFieldCommands = {
  "custom_field.create": createCustomField,
  "custom_field.update": takingLong(updateCustomField),
  "custom_field.delete": takingLong(removeCustomField),
  "custom_field.bulk_delete": removeEach(customFieldKind, removeCustomField),
};
export type CustomFieldCommands = CallsOf<typeof customFieldCommands>;
