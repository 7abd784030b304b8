// Writer commands for custom fields and the rules beyond the schema.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertReachesAll, assertSameIds, getReachable } from "../../access/reach.ts";
import type { Written } from "../../db/kind.ts";
import { type CallsOf, type ChangeInput, markLongRunning, type Removal } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { removeEach } from "../bulk-removal.ts";
import {
  type CustomFieldCreate,
  type CustomFieldRecord,
  type CustomFieldUpdate,
  customFieldKind,
} from "./custom-field.ts";
import { assertDefinition, assertFieldLimit } from "./definition-rules.ts";
import { FIELD_KINDS, type FieldValue } from "./field-type.ts";
import { assertNoHolders, clearValues, holdersOf } from "./field-usage.ts";
import { forgetDefinitions } from "./write-values.ts";

/** Requires reach to all networks: required values, defaults and choices apply in every network. */
export const DEFINING = "Defining custom fields";

/** Field definition from a write, as stored. */
type Definition = Pick<CustomFieldRecord, "kinds" | "type" | "choices" | "required" | "default" | "description">;

/**
 * Creates a custom field of the organization.
 * @throws DomainError entity_access_denied, entity_already_exists, validation_failed
 */
function createCustomField(tx: WriteTransaction, input: { body: CustomFieldCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertReachesAll(actor, DEFINING);
  assertOwnOrganization(body.organization_id, actor);
  const definition = definitionOf(body, { choices: [], required: false, default: null, description: null });
  assertDefinition(definition);
  const field = tx.create(
    customFieldKind,
    actor.organizationId,
    { organization_id: actor.organizationId, key: body.key, label: body.label ?? body.key, ...definition },
    body.id === undefined ? {} : { id: body.id },
  );
  forgetDefinitions(tx);
  assertFieldLimit(tx, actor.organizationId, definition.kinds);
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
  const definition = definitionOf(body, field);
  assertDefinition(definition, field.choices);
  assertSameIds(field, body, ["id", "key"]);
  assertNoValuesAffected(tx, field, definition);
  const updated = tx.update(customFieldKind, id, { label: body.label ?? field.label, ...definition });
  forgetDefinitions(tx);
  assertFieldLimit(tx, actor.organizationId, definition.kinds);
  return updated;
}

/**
 * Stored values must match the definition: its type, kinds and choices can change only while no record holds an
 * affected value.
 * @throws DomainError entity_in_use
 */
function assertNoValuesAffected(tx: WriteTransaction, field: CustomFieldRecord, definition: Definition): void {
  const subject = `The custom field ${field.key}`;
  if (definition.type !== field.type) {
    const remedy = "clear these first, or create another field: the type of a field is fixed once it is used";
    return assertNoHolders(holdersOf(tx, field), field, { subject, remedy });
  }
  const removedKinds = field.kinds.filter((kind) => !definition.kinds.includes(kind));
  if (removedKinds.length > 0) {
    const remedy = "clear these first: they would be left without the field";
    assertNoHolders(holdersOf(tx, field, removedKinds), field, { subject, remedy });
  }
  const removedChoices = new Set<FieldValue>(field.choices.filter((choice) => !definition.choices.includes(choice)));
  if (removedChoices.size === 0) return;
  const remedy = "set these to another choice first: their choice would be removed";
  assertNoHolders(
    holdersOf(tx, field).filter(({ value }) => removedChoices.has(value)),
    field,
    { subject: `The choice ${[...removedChoices].join(", ")} of the custom field ${field.key}`, remedy },
  );
}

/** @param defaults values of omitted properties */
function definitionOf(
  body: CustomFieldCreate | CustomFieldUpdate,
  defaults: Pick<CustomFieldRecord, "choices" | "required" | "default" | "description">,
): Definition {
  return {
    kinds: FIELD_KINDS.filter((kind) => body.kinds.includes(kind)),
    type: body.type,
    choices: body.choices ?? defaults.choices,
    required: body.required ?? defaults.required,
    default: body.default === undefined ? defaults.default : body.default,
    description: body.description === undefined ? defaults.description : body.description,
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
    const remedy = "clear these first, or repeat with cascade=true to clear them all";
    assertNoHolders(holdersOf(tx, field), field, { subject: `The custom field ${field.key}`, remedy });
  }
  tx.remove(customFieldKind, id);
  forgetDefinitions(tx);
  return field;
}

export const customFieldCommands = {
  "custom_field.create": createCustomField,
  "custom_field.update": markLongRunning(updateCustomField),
  "custom_field.delete": markLongRunning(removeCustomField),
  "custom_field.bulk_delete": removeEach(customFieldKind, removeCustomField),
};
export type CustomFieldCommands = CallsOf<typeof customFieldCommands>;
