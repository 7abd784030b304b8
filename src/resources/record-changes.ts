// Common parts of commands that create or update one record. Independent of the fields of any kind.

import type { CommandActor } from "../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReachable } from "../access/reach.ts";
import type { Kind, NoOtherFields, OwnFields, RecordBase } from "../db/kind.ts";
import type { ChangeInput } from "../db/writing/command.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { assertVersion } from "../schemas/entity-tags.ts";

/**
 * Creates a record with the id in the body, if any.
 * @throws DomainError entity_already_exists
 */
export function createRecord<R extends RecordBase, T extends OwnFields<R>>(
  tx: WriteTransaction,
  kind: Kind<R>,
  { id }: { readonly id?: string },
  { organizationId }: CommandActor,
  fields: T & NoOtherFields<R, T>,
): R {
  return tx.create<R, T>(kind, organizationId, fields, id === undefined ? {} : { id });
}

/**
 * The record named in a path, to be updated.
 * @param fixedIds ids in the body that must be the record's own
 * @throws DomainError entity_not_found, precondition_failed, entity_access_denied, validation_id_mismatch,
 * validation_failed
 */
export function recordToUpdate<R extends RecordBase>(
  tx: WriteTransaction,
  kind: Kind<R>,
  { id, body, ifMatch }: ChangeInput<{ readonly organization_id?: string }>,
  actor: CommandActor,
  fixedIds: readonly string[],
): R {
  const record = getReachable(tx, kind, id, actor);
  assertVersion(ifMatch, tx.versionOf(id));
  assertOwnOrganization(body.organization_id, actor);
  assertSameIds(record, body, fixedIds);
  return record;
}
