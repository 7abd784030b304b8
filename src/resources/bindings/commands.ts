// Writer commands for bindings.

import type { CommandActor } from "../../access/actor.ts";
import { assertOwnOrganization, assertSameIds, getReferenced } from "../../access/reach.ts";
import { alreadyExists } from "../../base/errors.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { siblingsBelowLimit } from "../hosts/new-child.ts";
import { removeOne } from "../ignored/removal.ts";
import { withCollectedIssues } from "../issues.ts";
import { recordToUpdate } from "../record-changes.ts";
import { type ServiceRecord, serviceKind } from "../services/service.ts";
import { addBinding, checkTarget, targetOf, targetsOf } from "./apply.ts";
import { type BindingCreate, type BindingTarget, type BindingUpdate, bindingIdentity, bindingKind } from "./binding.ts";

/**
 * Adds a binding to a service.
 * @throws DomainError entity_access_denied, entity_reference_invalid, validation_failed, entity_already_exists
 */
function createBinding(tx: WriteTransaction, input: { body: BindingCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  const service = getReferenced(tx, serviceKind, [body.service_id], "service_id", actor)[0] as ServiceRecord;
  assertSameIds(service, { host_id: body.host_id, network_id: body.network_id }, ["host_id", "network_id"]);
  siblingsBelowLimit(tx, bindingKind, "service_n", service.id);
  const target = targetOf(body, null);
  return withCollectedIssues(body, (part) => {
    checkTarget(target, targetsOf(tx, service.host_id), part);
    return part.attempt(() => {
      assertUnique(tx, service.id, target, null);
      return addBinding(tx, service, body, target, actor);
    });
  });
}

/**
 * Changes the target of a binding. An omitted address keeps its value; null means all addresses.
 * @throws DomainError entity_reference_invalid, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
function updateBinding(tx: WriteTransaction, input: ChangeInput<BindingUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const binding = recordToUpdate(tx, bindingKind, input, actor, ["id", "service_id", "host_id", "network_id"]);
  const target = targetOf(body, binding);
  return withCollectedIssues(body, (part) => {
    checkTarget(target, targetsOf(tx, binding.host_id), part);
    return part.attempt(() => {
      assertUnique(tx, binding.service_id, target, id);
      return tx.update(bindingKind, id, { ...target });
    });
  });
}

/** The store rejects duplicates too, but names one fixed field; the offending field depends on the form. */
function assertUnique(tx: WriteTransaction, serviceId: string, target: BindingTarget, ownId: string | null): void {
  const existing = tx.findByIdentity(bindingKind, bindingIdentity(serviceId, target));
  if (existing === null || existing.id === ownId) return;
  const field = target.type === "Port" ? "port_id" : "ip_address_id";
  throw alreadyExists(bindingKind, field, target[field]);
}

const removeBinding = removeOne(bindingKind);

export const bindingCommands = {
  "binding.create": createBinding,
  "binding.update": updateBinding,
  "binding.delete": removeBinding,
  "binding.bulk_delete": removeEach(bindingKind, removeBinding),
};
export type BindingCommands = CallsOf<typeof bindingCommands>;
