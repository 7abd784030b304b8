// Split of a host: the given children move to a new host, with their dependents moved or divided. `dryRun` computes the
// same plan and writes nothing.

import { type Static, Type } from "@sinclair/typebox";
import type { CommandActor } from "../../access/actor.ts";
import { getReachable, getReferenced } from "../../access/reach.ts";
import { alreadyExists, invalid, referenceInvalid } from "../../base/errors.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { ChangeInput } from "../../db/writing/command.ts";
import type { WriteTransaction } from "../../db/writing/transaction.ts";
import { assertVersion } from "../../schemas/entity-tags.ts";
import { assertPlanned, PlanToken } from "../../schemas/plan-token.ts";
import { Body, CHILDREN_MAX, Name, Uuid } from "../../schemas/schemas.ts";
import { bindingKind } from "../bindings/binding.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { customFieldsOfBody } from "../custom-fields/field-values.ts";
import { newValues } from "../custom-fields/write-values.ts";
import { fdbEntryKind } from "../fdb-entries/fdb-entry.ts";
import { HOST_DEFAULTS, type HostRecord, hostKind } from "../hosts/host.ts";
import { STACKED_FIELDS } from "../if-entries/apply.ts";
import { type IfEntryRecord, ifEntryKind } from "../if-entries/if-entry.ts";
import { ignoredKind } from "../ignored/ignored.ts";
import { addIgnoredEntry, isDiscovered, isIgnorableKind } from "../ignored/removal.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { recordLabel } from "../record-label.ts";
import { serviceKind } from "../services/service.ts";
import { MANUAL } from "../source.ts";
import { assertMayMove, splitAssignments } from "./assignments.ts";
import type { ChildRecord } from "./children.ts";
import { MoveDraft } from "./draft.ts";
import type { MoveResult } from "./plan.ts";

const ids = (noun: string) =>
  Type.Optional(Type.Array(Uuid, { maxItems: CHILDREN_MAX, description: `The ${noun} that move to the new host.` }));

export const HostSplit = Body(
  {
    name: { ...Name, description: "Name of the new host." },
    id: Type.Optional({ ...Uuid, description: "Id of the new host, never used before; omitted: a generated one." }),
    ip_address_ids: ids("addresses"),
    if_entry_ids: ids("interface entries"),
    port_ids: ids("ports"),
    service_ids: ids("services"),
    ...customFieldsOfBody,
    dry_run: Type.Optional(Type.Boolean({ default: false, description: "true: return the plan, and write nothing." })),
    plan: Type.Optional(PlanToken),
  },
  { $id: "HostSplit" },
);
export type HostSplit = Static<typeof HostSplit>;

const LISTS = [
  { field: "ip_address_ids", kind: ipAddressKind },
  { field: "if_entry_ids", kind: ifEntryKind },
  { field: "port_ids", kind: portKind },
  { field: "service_ids", kind: serviceKind },
] as const satisfies ReadonlyArray<{ field: keyof HostSplit; kind: AnyKind }>;

/**
 * Moves some children of a host to a new host. Discovery does not recreate them on the original host.
 * @throws DomainError entity_not_found; precondition_failed; entity_stale if the quoted plan is outdated;
 * entity_reference_invalid for an id that is not a child of the host; validation_failed if no child is given;
 * entity_already_exists; auth_permission_denied, entity_access_denied if credentials are assigned
 */
export function splitHost(tx: WriteTransaction, input: ChangeInput<HostSplit>, actor: CommandActor): MoveResult {
  const { id, body } = input;
  const host = getReachable(tx, hostKind, id, actor);
  assertVersion(input.ifMatch, tx.versionOf(id));
  const moving = movingChildren(tx, host, body, actor);
  assertMayMove(
    tx,
    tx.children(credentialAssignmentKind, "host_n", id),
    actor,
    "Splitting a host that has credentials assigned",
  );
  if (body.id !== undefined && tx.recordN(body.id) !== null) throw alreadyExists(hostKind, "id", body.id);

  const newId = body.id ?? tx.newId();
  const values = newValues(tx, { kind: hostKind, organizationId: actor.organizationId, given: body.custom_fields });
  const draft = new MoveDraft(tx);
  draft.create(hostKind, { name: body.name }, null, () =>
    tx.create(
      hostKind,
      actor.organizationId,
      { ...HOST_DEFAULTS, name: body.name, network_id: host.network_id, source: MANUAL, custom_fields: values },
      { id: newId },
    ),
  );
  moveListed(draft, moving, newId);
  splitAssignments(draft, host, newId, new Set(moving.map(({ record }) => record.id)), actor);
  for (const { kind, record } of moving)
    if (isIgnorableKind(kind) && isDiscovered(tx, kind, { ...record, network_id: host.network_id }))
      draft.create(ignoredKind, { name: recordLabel(kind, record) }, "scans do not re-create it on this host", () =>
        addIgnoredEntry(tx, kind, record.id),
      );
  const { dry_run: isDryRun, plan, ...request } = body;
  const token = draft.token([id, request], newId);
  assertPlanned(plan, token);
  if (isDryRun !== true) draft.write();
  return { hostId: isDryRun === true ? (body.id ?? null) : newId, token, actions: draft.actions(), refused: [] };
}

interface MovingChild {
  readonly kind: AnyKind;
  readonly record: ChildRecord;
}

function movingChildren(tx: WriteTransaction, host: HostRecord, body: HostSplit, actor: CommandActor): MovingChild[] {
  const moving: MovingChild[] = LISTS.flatMap(({ field, kind }) => {
    const records = getReferenced(tx, kind as AnyKind, body[field] ?? [], field, actor) as unknown as ChildRecord[];
    const foreign = records.filter((record) => record.host_id !== host.id).map((record) => record.id);
    if (foreign.length > 0) throw referenceInvalid(kind, field, foreign);
    return records.map((record) => ({ kind, record }));
  });
  if (moving.length > 0) return moving;
  const fields = LISTS.map(({ field }) => field).join(", ");
  throw invalid({ path: "", message: `must list at least one record to move; use ${fields}` });
}

function moveListed(draft: MoveDraft, moving: readonly MovingChild[], newId: string): void {
  const { tx } = draft;
  const movedIds = new Set(moving.map(({ record }) => record.id));
  const positions = new Map<AnyKind, number>();
  for (const { kind, record } of moving) {
    const position = positions.get(kind) ?? 0;
    positions.set(kind, position + 1);
    draft.set(kind, record, { host_id: newId, ...(record.position === undefined ? {} : { position }) }, "Moved");
    if (kind.code !== ifEntryKind.code) continue;
    for (const entry of tx.children(fdbEntryKind, "if_entry_n", record.id))
      draft.set(fdbEntryKind, entry, { host_id: newId }, "Moved");
  }
  const hostId = moving[0]?.record.host_id ?? newId;
  for (const binding of tx.children(bindingKind, "host_n", hostId)) {
    const parts = [binding.service_id, binding.port_id, binding.ip_address_id].filter((id) => id !== null);
    const movedCount = parts.filter((id) => movedIds.has(id)).length;
    if (movedCount === parts.length) draft.set(bindingKind, binding, { host_id: newId }, "Moved");
    else if (movedCount > 0)
      draft.close(bindingKind, binding, null, "its service, port and address are no longer on one host");
  }
  for (const entry of tx.children(ifEntryKind, "host_n", hostId) as IfEntryRecord[]) {
    const { id, ip_address_id: addressId } = entry;
    if (addressId !== undefined && movedIds.has(addressId) !== movedIds.has(id))
      draft.set(ifEntryKind, entry, { ip_address_id: undefined }, "Changed", "its address is on the other host");
    for (const field of STACKED_FIELDS) {
      const other = entry[field];
      if (other !== undefined && movedIds.has(other) !== movedIds.has(id))
        draft.set(ifEntryKind, entry, { [field]: undefined }, "Changed", "it refers to an interface of the other host");
    }
  }
}
