// Writer commands for schedules. Does not decide when a schedule is due, and does not run it; discovery does.

import { type CommandActor, requireRole } from "../../access/actor.ts";
import { assertOwnOrganization, getReferenced } from "../../access/reach.ts";
import { pickFields } from "../../base/fields.ts";
import type { Written } from "../../db/kind.ts";
import type { CallsOf, ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { removeEach } from "../bulk-removal.ts";
import { removeOne } from "../ignored/removal.ts";
import { networkKind } from "../networks/network.ts";
import { createRecord, recordToUpdate } from "../record-changes.ts";
import { SCHEDULE_WRITE_FIELDS, type ScheduleCreate, type ScheduleUpdate, scheduleKind } from "./schedule.ts";

/**
 * Creates a schedule of a network.
 * @throws DomainError auth_permission_denied, entity_access_denied, entity_reference_invalid, entity_already_exists
 */
export function createSchedule(tx: WriteTransaction, input: { body: ScheduleCreate }, actor: CommandActor): Written {
  const { body } = input;
  assertOwnOrganization(body.organization_id, actor);
  getReferenced(tx, networkKind, [body.network_id], "network_id", actor);
  const targets = deduplicated(body.targets ?? null);
  assertMaySetTargets(null, targets, actor);
  return createRecord(tx, scheduleKind, body, actor, {
    network_id: body.network_id,
    name: body.name,
    cron: body.cron,
    timezone: body.timezone ?? "UTC",
    kind: body.kind,
    targets,
    is_enabled: body.is_enabled ?? true,
  });
}

/**
 * Updates a schedule. Omitted fields keep their values.
 * @throws DomainError auth_permission_denied, entity_already_exists, entity_not_found, precondition_failed,
 * entity_access_denied, validation_id_mismatch, validation_failed
 */
export function updateSchedule(tx: WriteTransaction, input: ChangeInput<ScheduleUpdate>, actor: CommandActor): Written {
  const { id, body } = input;
  const schedule = recordToUpdate(tx, scheduleKind, input, actor, ["id", "network_id"]);
  const targets = body.targets === undefined ? schedule.targets : deduplicated(body.targets);
  assertMaySetTargets(schedule.targets, targets, actor);
  return tx.update(scheduleKind, id, { ...pickFields(body, SCHEDULE_WRITE_FIELDS), targets });
}

/**
 * Requires an Admin: scans send the network's credentials to the targets of a schedule.
 * @throws DomainError auth_permission_denied
 */
function assertMaySetTargets(
  before: readonly string[] | null,
  after: readonly string[] | null,
  actor: CommandActor,
): void {
  if (after !== null && !Bun.deepEquals(before, after))
    requireRole(actor.role, "Admin", "Specifying targets of a schedule");
}

/** Deduplicates targets, keeping the given order. */
function deduplicated(targets: readonly string[] | null): readonly string[] | null {
  return targets === null ? null : [...new Set(targets)];
}

const removeSchedule = removeOne(scheduleKind);

export const scheduleCommands = {
  "schedule.create": createSchedule,
  "schedule.update": updateSchedule,
  "schedule.delete": removeSchedule,
  "schedule.bulk_delete": removeEach(scheduleKind, removeSchedule),
};
export type ScheduleCommands = CallsOf<typeof scheduleCommands>;
