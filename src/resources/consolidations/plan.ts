// Plan of a consolidation or split, as reported: one action per record, and the conflicts that prevent it.

import { type Static, Type } from "@sinclair/typebox";
import { invalid } from "../../base/errors.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import { ReportedPlanToken } from "../../schemas/plan-token.ts";
import { Nullable, OneOf, Uuid } from "../../schemas/schemas.ts";
import { bindingKind } from "../bindings/binding.ts";
import { displayNameOf, type NameLookup } from "../bindings/display-names.ts";
import { componentKind } from "../components/component.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { hostKind } from "../hosts/host.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { ignoredKind } from "../ignored/ignored.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import { portKind } from "../ports/port.ts";
import { serviceKind } from "../services/service.ts";

const MOVE_ACTIONS = ["Moved", "Kept", "Closed", "Created", "Changed"] as const;
export type MoveActionName = (typeof MOVE_ACTIONS)[number];

const REPORTED_KINDS = [
  hostKind,
  ipAddressKind,
  ifEntryKind,
  portKind,
  serviceKind,
  bindingKind,
  componentKind,
  credentialAssignmentKind,
  ignoredKind,
];
const TYPES = REPORTED_KINDS.map((kind) => kind.name);
const name = Type.Optional(Type.String({ description: "The record's name, address or number, if it has one." }));

const MoveAction = Type.Object(
  {
    entity_type: OneOf(TYPES),
    id: Nullable(Uuid, { description: "Null for a record that a dry run would create." }),
    name,
    action: OneOf(MOVE_ACTIONS, {
      description:
        "Moved: to the other host, under its own id. Kept: the destination's record, if both hosts have one. Closed: the other host's record. Created, Changed: consequences.",
    }),
    fields: Type.Array(Type.String(), { description: "For a moved or changed record: the fields that change." }),
    into_id: Type.Optional(Type.String({ ...Uuid, description: "For a closed record: its replacement." })),
    reason: Type.Optional(Type.String({ description: "Reason, unless the record is simply moved." })),
  },
  { $id: "MoveAction" },
);
export type MoveAction = Static<typeof MoveAction>;

const MoveRefusal = Type.Object(
  { entity_type: OneOf(TYPES), id: Uuid, name, message: Type.String() },
  { $id: "MoveRefusal" },
);
export type MoveRefusal = Static<typeof MoveRefusal>;

export const MovePlan = Type.Object(
  {
    host_id: Nullable(Uuid, {
      description: "The remaining host, or the new one; null in the dry run of a split.",
    }),
    applied: Type.Boolean({ description: "Whether anything was written; false for a dry run." }),
    sequence: Nullable(Type.Integer({ minimum: 1 }), {
      description: "The transaction, which can be reverted; null if nothing was written.",
    }),
    plan: ReportedPlanToken,
    actions: Type.Array(MoveAction),
    refused: Type.Array(MoveRefusal, { description: "Obstacles, in a dry run; otherwise they are an error." }),
  },
  { $id: "MovePlan" },
);

/** Result of either command; the response adds whether and in which transaction it was written. */
export interface MoveResult {
  readonly hostId: string | null;
  /** Hash of the plan. */
  readonly token: string;
  readonly actions: readonly MoveAction[];
  readonly refused: readonly MoveRefusal[];
}

/** Subject of an action. */
export function moveSubject(kind: AnyKind, record: RecordBase, nameOf: NameLookup): Omit<MoveRefusal, "message"> {
  const name = displayNameOf(kind, record, nameOf);
  return { entity_type: kind.name, id: record.id, ...(name === null ? {} : { name }) };
}

/** @throws DomainError validation_failed listing all conflicts, if there are any */
export function throwIfRefused(refused: readonly MoveRefusal[], path: string): void {
  if (refused.length > 0) throw invalid(refused.map(({ message, id }) => ({ path, message, value: id })));
}
