// Plans for restores and reverts, with one action per record and the conflicts; also the response schema.

import { type Static, Type } from "@sinclair/typebox";
import type { Role } from "../../access/role.ts";
import { entityWord } from "../../base/entity-words.ts";
import { DomainError, type ErrorCode } from "../../base/errors.ts";
import type { AnyKind, RecordBase } from "../../db/kind.ts";
import type { ThinnedNotice } from "../../db/pruned-history.ts";
import { KINDS } from "../../records/resources.ts";
import { recordLabel, recordName } from "../../resources/record-label.ts";
import { ReportedPlanToken } from "../../schemas/plan-token.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../../schemas/schemas.ts";

const PLAN_ACTIONS = ["Create", "Update", "Delete", "Skip"] as const;

/**
 * reference_gone: refers to a missing record, or no longer fits. identity_taken: another record has the same identity.
 * changed_later: changed again since. in_use: other records depend on it. secret_gone: history contains no secrets.
 * access_stays: users, API keys and the organization are not reverted. role_too_low: requires a higher role.
 * limit_reached: a limit would be exceeded.
 */
const CONFLICT_CODES = [
  ...(["reference_gone", "identity_taken", "changed_later", "in_use"] as const),
  ...(["secret_gone", "access_stays", "role_too_low", "limit_reached"] as const),
] as const;

/** Maximum conflicts listed. */
const CONFLICTS_MAX = 1_000;

/** Maximum updates listed with values: longer plans are not read in full, and values may be long. */
export const PLAN_VALUES_MAX = 10_000;

const TYPES = KINDS.map((kind) => kind.name);
const name = Type.Optional(Type.String({ description: "The record's name, address or number, if it has one." }));

export const PlanAction = Type.Object(
  {
    entity_type: OneOf(TYPES),
    id: Uuid,
    name,
    host_id: Type.Optional(
      Type.String({ ...Uuid, description: "The host that the record is part of; absent if it is not part of a host." }),
    ),
    action: OneOf(PLAN_ACTIONS, { description: "Create: restored under its own id. Skip: left unchanged." }),
    fields: Type.Array(Type.String(), {
      description: "For an Update, the fields that change; for children, their kind, as in the history.",
    }),
    changes: Type.Optional(
      Type.Array(
        Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() }, { $id: "PlanFieldChange" }),
        {
          description: `For an Update, the current and the future value of each of the record's own \`fields\`. A field without a value is null. Only for the first ${PLAN_VALUES_MAX} updates.`,
        },
      ),
    ),
    reason: Type.Optional(Type.String({ description: "Why the record is not simply restored to its earlier state." })),
  },
  { $id: "PlanAction" },
);

export const PlanConflict = Type.Object(
  {
    entity_type: OneOf(TYPES),
    id: Uuid,
    name,
    field: Type.Optional(Type.String()),
    code: OneOf(CONFLICT_CODES),
    message: Type.String(),
  },
  { $id: "PlanConflict" },
);

const planFields = {
  applied: Type.Boolean({
    description: "Whether anything was written; false for a dry run, and if there was nothing to change.",
  }),
  sequence: Nullable(Type.Integer({ minimum: 1 }), {
    description: "The transaction, which can be reverted; null if nothing was written.",
  }),
  plan: ReportedPlanToken,
  actions: Type.Array(PlanAction),
  conflicts: Type.Array(PlanConflict, {
    description: "In a dry run, the reasons that prevent the write; otherwise conflicts are an error.",
  }),
};

export const RestorePlan = Type.Object({ at: Timestamp, ...planFields }, { $id: "RestorePlan" });
export const RevertPlan = Type.Object(
  { transaction: Type.Integer({ minimum: 1, description: "The transaction that is reverted." }), ...planFields },
  { $id: "RevertPlan" },
);

export type PlanAction = Static<typeof PlanAction>;
export type PlanConflict = Static<typeof PlanConflict>;

/** Actions and conflicts. */
export interface Plan {
  readonly actions: readonly PlanAction[];
  readonly conflicts: readonly PlanConflict[];
}

/** A plan with its token. */
export interface TokenedPlan extends Plan {
  readonly token: string;
}

/** Plan as rendered JSON object members: a plan may have a hundred thousand actions, and is rendered once. */
export interface ReportedPlan {
  readonly members: string;
  /** Set for a restore from thinned history. */
  readonly thinned?: ThinnedNotice;
}

/** Renders a plan. The response adds whether it was applied, and the sequence of its transaction. */
export function reportPlan({ token, actions, conflicts }: TokenedPlan, thinned?: ThinnedNotice): ReportedPlan {
  const members = `"plan":"${token}","actions":${JSON.stringify(actions)},"conflicts":${JSON.stringify(conflicts.slice(0, CONFLICTS_MAX))}`;
  return { members, ...(thinned === undefined ? {} : { thinned }) };
}

/** Identifies the record of an action or conflict. */
export function subjectOf(kind: AnyKind, record: RecordBase): { entity_type: string; id: string; name?: string } {
  const name = recordName(kind, record);
  return { entity_type: kind.name, id: record.id, ...(name === null ? {} : { name }) };
}

/**
 * Error for a plan with conflicts. Its code is the one that fits all conflicts, otherwise entity_stale.
 * @param summary start of the message: `The host cannot be restored`
 * @param role of the caller
 */
export function refusal(summary: string, conflicts: readonly PlanConflict[], role: Role): DomainError {
  const first = conflicts[0] as PlanConflict;
  const others = conflicts.length - 1;
  const more =
    others === 0 ? "" : ` ${others} more ${others === 1 ? "reason is" : "reasons are"} listed in params.conflicts.`;
  const code = commonCode(conflicts);
  const roles = code === "auth_permission_denied" ? { required: "Admin" satisfies Role, actual: role } : {};
  const values = {
    ...roles,
    entity: first.entity_type,
    id: first.id,
    ...(first.field === undefined ? {} : { field: first.field }),
    conflicts: conflicts.slice(0, CONFLICTS_MAX),
  };
  return new DomainError(code, `${summary}: ${first.message}.${more} Nothing was written.`, values);
}

/** `the host switch-1`. */
export function recordPhrase(kind: AnyKind, record: RecordBase): string {
  return `the ${entityWord(kind)} ${recordLabel(kind, record)}`;
}

function commonCode(conflicts: readonly PlanConflict[]): ErrorCode {
  // Lack of permission overrides all other conflicts.
  if (conflicts.some((conflict) => conflict.code === "role_too_low")) return "auth_permission_denied";
  const codes = new Set(conflicts.map((conflict) => conflict.code));
  if (codes.size === 1 && codes.has("identity_taken")) return "entity_already_exists";
  return codes.size === 1 && codes.has("in_use") ? "entity_in_use" : "entity_stale";
}
