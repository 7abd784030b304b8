// Routes for POST /api/v1/…/{id}/restore of every resource, and POST /api/v1/transactions/{sequence}/revert.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, MEMBER } from "../../access/actor.ts";
import { oneEntity } from "../../base/entity-words.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import { pascalCase } from "../../base/text.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { requestedInstant, settledAt } from "../../records/read-instant.ts";
import { RESOURCES } from "../../records/resources.ts";
import { runWrite, type WriteResult } from "../../records/write-responses.ts";
import { appendMembers } from "../../resources/compose.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { PLAN_TOKEN_LENGTH, PlanToken } from "../../schemas/plan-token.ts";
import { AsOfText, Body, IdParams, SequenceParams } from "../../schemas/schemas.ts";
import { type ReportedPlan, RestorePlan, RevertPlan } from "./plan.ts";
import type { RestoreCommands } from "./restore-commands.ts";

const dry_run = Type.Optional(
  Type.Boolean({ default: false, description: "true: return the plan and its conflicts without writing." }),
);
const RestoreBody = Body(
  {
    at: AsOfText("The timestamp to restore to, an age, or a marker. `at` in the response is the resolved timestamp."),
    dry_run,
    plan: Type.Optional(PlanToken),
  },
  { $id: "Restore" },
);
const RevertBody = Body({ dry_run, plan: Type.Optional(PlanToken) }, { $id: "Revert" });

const errors: readonly ErrorCode[] = ["entity_already_exists", "entity_in_use", "entity_stale", "entity_access_denied"];

const RESTORES =
  "Restores the record to its state at `at`; a deleted record is recreated under its own id. All or nothing, in one transaction that can be reverted. Conflicts are listed in `params.conflicts`. Honors `If-Match` with the live record's ETag, and the `plan` of a dry run, which covers all affected records. Where history was thinned, `meta.resolved_at` is the time of the state used.";
/** Registers the restores of all resources, and reverts. */
export function restoreRoutes(surface: Surface<Actor, Access>, backend: Backend<RestoreCommands>): void {
  for (const { kind, path, group, example, restores, write, isReadOnly } of RESOURCES) {
    if (isReadOnly === true) continue;
    const subject = { entity_type: kind.name, id: example.id };
    surface.post(
      `/api/v1/${path}/:id/restore`,
      {
        operationId: `restore${pascalCase(kind.name)}`,
        summary: `Restore ${oneEntity(kind)} to an earlier state`,
        description: restores === undefined ? RESTORES : `${RESTORES} ${restores}`,
        group,
        access: write,
        params: IdParams,
        body: RestoreBody,
        responseSchema: RestorePlan,
        errors: [...errors, "precondition_failed"],
        example: {
          parameters: { id: example.id },
          body: { at: "-1h", dry_run: false },
          data: {
            at: AT,
            applied: true,
            sequence: 43,
            plan: "5".repeat(PLAN_TOKEN_LENGTH),
            actions: [{ ...subject, action: "Create", fields: [] }],
            conflicts: [],
          },
        },
      },
      (call) => {
        const at = requestedInstant(backend.reader, call.actor, call.body.at, "/at");
        const { dry_run: dryRun = false, plan } = call.body;
        return settledAt(backend, at, (asOf) => {
          const input = { id: call.params.id, at, isPresent: asOf === null, dryRun, plan };
          const done = runWrite(backend, call, `${kind.name}.restore`, input);
          return answerPlan(call, done, at, { at: formatInstant(at) });
        });
      },
    );
  }
  surface.post(
    "/api/v1/transactions/:sequence/revert",
    {
      operationId: "revertTransaction",
      summary: "Revert a transaction",
      description:
        "Deletes what it created, restores the fields it changed, and restores what it deleted: all or nothing, in one transaction that can itself be reverted. Refused if later changes conflict, with all reasons in `params.conflicts`, and if the quoted `plan` of a dry run no longer applies. Later changes to other fields stay. Below the role Admin, only your own transactions, including those of your API keys if you are signed in, and only if you could make every write yourself today. Users, API keys and the organization are not reverted, and secrets are not in the history. Restoring a deleted network requires the role Owner.",
      group: "Changes",
      access: MEMBER,
      params: SequenceParams,
      body: RevertBody,
      responseSchema: RevertPlan,
      errors: [...errors, "auth_session_required"],
      example: {
        parameters: { sequence: 2 },
        body: { dry_run: true },
        data: {
          transaction: 2,
          applied: false,
          sequence: null,
          plan: "5".repeat(PLAN_TOKEN_LENGTH),
          actions: [
            {
              entity_type: "host",
              id: ID,
              name: "switch-1",
              action: "Update",
              fields: ["description"],
              changes: [{ field: "description", from: "Hall 2", to: "Hall 1" }],
            },
          ],
          conflicts: [],
        },
      },
    },
    (call) => {
      const { sequence } = call.params;
      const { dry_run: dryRun = false, plan } = call.body;
      const done = runWrite(backend, call, "transaction.revert", { sequence, dryRun, plan });
      return answerPlan(call, done, null, { transaction: sequence });
    },
  );

  /** @param at the requested time; null for none */
  async function answerPlan(
    call: ResourceCall<unknown, unknown, unknown>,
    done: Promise<WriteResult<ReportedPlan>>,
    at: Instant | null,
    fields: object,
  ): Promise<Response> {
    const { sequence, result } = await done;
    const plan = appendMembers(JSON.stringify({ ...fields, applied: sequence !== null, sequence }), result.members);
    const asOf = result.thinned === undefined ? {} : { thinned: result.thinned };
    return new Response(successBody(plan, metaAt({ at, asOf })), {
      headers: { ...call.headers, "content-type": "application/json" },
    });
  }
}

const AT = "2026-11-21T09:15:00.123Z";
const ID = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010";
