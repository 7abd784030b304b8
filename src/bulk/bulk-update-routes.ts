// Routes for POST /api/v1/…/bulk-update: set the same fields on many records.

import { type TSchema, Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { entityWords } from "../base/entity-words.ts";
import { invalid } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { FILTER_MAX_LENGTH } from "../base/filter-limits.ts";
import { pascalCase } from "../base/text.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { runWrite } from "../records/write-responses.ts";
import { ALL_ISSUES, ISSUES_MAX } from "../resources/issues.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { successResponse } from "../schemas/envelope.ts";
import { PLAN_TOKEN_LENGTH, PlanToken } from "../schemas/plan-token.ts";
import { Body, BULK_UPDATE_MAX, Uuid } from "../schemas/schemas.ts";
import { BULK_CHANGES_MAX, bulkPlanFields } from "./bulk-plan.ts";
import type { BulkUpdateCommands } from "./bulk-update-commands.ts";
import { EDITABLE, settableFields } from "./written-resources.ts";

const ResultBody = Type.Object(
  {
    applied: bulkPlanFields.applied,
    sequence: bulkPlanFields.sequence,
    plan: bulkPlanFields.plan,
    counts: Type.Object({
      matched: Type.Integer({ minimum: 0, description: "Records selected by `ids` or `filter`." }),
      updated: Type.Integer({ minimum: 0 }),
      unchanged: Type.Integer({ minimum: 0, description: "Records that already had these values: no new version." }),
    }),
    ids: Type.Array(Uuid, { description: "The records selected by `ids` or `filter`, changed or not." }),
    changes: bulkPlanFields.changes,
  },
  { $id: "BulkUpdateResult" },
);

/** Registers the bulk updates of all editable resources. */
export function bulkUpdateRoutes(surface: Surface<Actor, Access>, backend: Backend<BulkUpdateCommands>): void {
  for (const editable of EDITABLE) {
    const { kind, path, group, write, example } = editable.resource;
    const nouns = entityWords(kind);
    surface.post(
      `/api/v1/${path}/bulk-update`,
      {
        operationId: `update${pascalCase(kind.plural)}`,
        summary: `Set fields of many ${nouns} atomically`,
        description: `Sets the same fields for all records of \`ids\`, or for all that \`filter\` finds in the caller's reach at the time of writing; at most ${BULK_UPDATE_MAX}. Fields missing in \`set\` remain unchanged. Every rule of the single update applies to each record. Everything is written in one transaction, which can be reverted, or nothing is. \`dry_run\` returns the same response and writes nothing. ${ALL_ISSUES} Each issue names the record by \`id\`.`,
        group,
        access: write,
        issuesMax: ISSUES_MAX,
        body: bulkUpdateBody(editable),
        responseSchema: ResultBody,
        errors: [
          "entity_reference_invalid",
          "entity_already_exists",
          "entity_in_use",
          "entity_stale",
          "entity_access_denied",
          "auth_permission_denied",
        ],
        example: {
          body: { ids: [example.id], set: exampleSet(editable), dry_run: true },
          data: {
            applied: false,
            sequence: null,
            plan: "5".repeat(PLAN_TOKEN_LENGTH),
            counts: { matched: 1, updated: 1, unchanged: 0 },
            ids: [example.id],
            changes: [
              {
                entity_type: kind.name,
                id: example.id,
                name: "",
                operation: "Updated",
                fields: Object.entries(exampleSet(editable)).map(([field, to]) => ({ field, from: null, to })),
              },
            ],
          },
        },
      },
      async (call) => {
        const body = call.body as BulkUpdateBody;
        const { ids, filter } = body;
        if ((ids === undefined) === (filter === undefined))
          throw invalid([
            ids === undefined
              ? { path: "/ids", message: "is required unless filter is given" }
              : { path: "/filter", message: "must not be combined with ids" },
          ]);
        if (filter !== undefined && filter.trim() === "")
          throw invalid({ path: "/filter", message: "must not be blank: it would select every record" });
        const { sequence, result } = await runWrite(backend, call, `${kind.name}.bulk_update`, {
          set: body.set,
          dryRun: body.dry_run === true,
          plan: body.plan,
          ...(ids === undefined ? {} : { ids }),
          ...(filter === undefined ? {} : { filter }),
        });
        const head = JSON.stringify({ applied: sequence !== null, sequence }).slice(0, -1);
        return successResponse(call, `${head},${result.members}}`);
      },
    );
  }
}

interface BulkUpdateBody {
  readonly ids?: readonly string[];
  readonly filter?: string;
  readonly set: object;
  readonly dry_run?: boolean;
  readonly plan?: string;
}

function bulkUpdateBody(editable: RecordWrites) {
  const { kind } = editable.resource;
  const title = pascalCase(kind.name);
  const { properties } = editable.Update;
  return Body(
    {
      ids: Type.Optional(
        Type.Array(Uuid, {
          minItems: 1,
          maxItems: BULK_UPDATE_MAX,
          description: "The records to update; alternative to `filter`.",
        }),
      ),
      filter: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: FILTER_MAX_LENGTH,
          description: "Filter that selects the records, as in the list's `filter`; alternative to `ids`.",
        }),
      ),
      set: Body(
        Object.fromEntries(
          settableFields(editable).map((name) => [name, Type.Optional(ownValue(properties, name) as TSchema)]),
        ),
        { $id: `${title}BulkSet`, minProperties: 1, description: "Fields to set, as in the single update." },
      ),
      dry_run: Type.Optional(
        Type.Boolean({
          default: false,
          description: `true: return what would change, at most the first ${BULK_CHANGES_MAX} changes, and write nothing.`,
        }),
      ),
      plan: Type.Optional(PlanToken),
    },
    { $id: `${title}BulkUpdate` },
  );
}

/** Example field that every record of the kind accepts. */
function exampleSet(editable: RecordWrites): Record<string, unknown> {
  const fields = settableFields(editable);
  const field = ["description", "if_alias", "name", "number"].find((name) => fields.includes(name)) as string;
  return { [field]: field === "number" ? 8443 : "Moved to hall 2" };
}
