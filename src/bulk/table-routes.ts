// Routes for POST /api/v1/…/import/csv: import a table in export format.

import { Type } from "@sinclair/typebox";
import type { Access, Actor } from "../access/actor.ts";
import { entityWords } from "../base/entity-words.ts";
import { ownValue } from "../base/fields.ts";
import { pascalCase } from "../base/text.ts";
import { BULK_BODY_LIMIT_BYTES } from "../http/body.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { runWrite } from "../records/write-responses.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { cellText, csvHead, csvRows, fieldColumns } from "../schemas/csv.ts";
import { successResponse } from "../schemas/envelope.ts";
import { PLAN_TOKEN_LENGTH, PlanToken } from "../schemas/plan-token.ts";
import { OneOf, QueryList, TABLE_ROWS_MAX } from "../schemas/schemas.ts";
import { BULK_CHANGES_MAX, bulkPlanFields } from "./bulk-plan.ts";
import { readCsvTable, TABLE_ISSUES_MAX } from "./read-table.ts";
import { columnRoles, matchColumns } from "./table-columns.ts";
import type { TableCommands } from "./table-commands.ts";
import { IMPORTABLE } from "./written-resources.ts";

const Count = Type.Integer({ minimum: 0 });
const ResultBody = Type.Object(
  {
    applied: bulkPlanFields.applied,
    sequence: bulkPlanFields.sequence,
    plan: bulkPlanFields.plan,
    counts: Type.Object({
      rows: Type.Integer({ minimum: 0, description: "Rows that are not empty." }),
      created: Count,
      updated: Count,
      unchanged: Type.Integer({
        minimum: 0,
        description: "Rows whose record already had these values: no new version.",
      }),
    }),
    ignored_columns: Type.Array(Type.String(), {
      description: "Exported columns that an import does not write.",
    }),
    changes: bulkPlanFields.changes,
  },
  { $id: "TableImportResult" },
);

/** Registers the imports of all resources that accept tables. */
export function tableRoutes(surface: Surface<Actor, Access>, backend: Backend<TableCommands>): void {
  for (const importable of IMPORTABLE) {
    const { kind, path, group, write } = importable.resource;
    const nouns = entityWords(kind);
    surface.postTable(
      `/api/v1/${path}/import/csv`,
      {
        operationId: `import${pascalCase(kind.plural)}`,
        summary: `Import ${nouns} from CSV atomically`,
        description: `Creates and updates ${nouns} from the rows of a table (handbook: tables). Accepts the columns of the export in any order; a missing column keeps the value, an empty cell clears it. Records are never deleted. A row matches the record with its \`id\`, else the one with its ${importable.key.map((field) => `\`${field}\``).join(", ")}; \`match\` selects other columns. Names are accepted in place of ids. At most ${TABLE_ROWS_MAX} rows and ${BULK_BODY_LIMIT_BYTES / 1024 / 1024} MiB. \`dry_run\` returns the plan and writes nothing. An error lists up to ${TABLE_ISSUES_MAX} issues, each with its \`row\` and \`column\`.`,
        group,
        access: write,
        bodyLimitBytes: BULK_BODY_LIMIT_BYTES,
        query: tableQuery(importable),
        table: {
          read: (bytes, charset) => readCsvTable(importable, bytes, charset),
          get example() {
            return exampleTable(importable);
          },
        },
        responseSchema: ResultBody,
        errors: [
          "validation_failed",
          "entity_reference_invalid",
          "entity_already_exists",
          "entity_in_use",
          "entity_stale",
          "entity_access_denied",
          "auth_permission_denied",
          "validation_id_mismatch",
        ],
        example: {
          parameters: { dry_run: true },
          data: {
            applied: false,
            sequence: null,
            plan: "5".repeat(PLAN_TOKEN_LENGTH),
            counts: { rows: 1, created: 0, updated: 0, unchanged: 1 },
            ignored_columns: [],
            changes: [],
          },
        },
      },
      async (call) => {
        const { dry_run: dryRun = false, match, plan } = call.query as TableQuery;
        const { sequence, result } = await runWrite(backend, call, `${kind.name}.import_csv`, {
          bytes: call.body,
          match: match === undefined || match.length === 0 ? null : match,
          dryRun,
          plan,
        });
        const head = JSON.stringify({ applied: sequence !== null, sequence }).slice(0, -1);
        return successResponse(call, `${head},${result.members}}`);
      },
    );
  }
}

interface TableQuery {
  readonly dry_run?: boolean;
  readonly match?: string[];
  readonly plan?: string;
}

function tableQuery(importable: RecordWrites) {
  return Type.Object({
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description: `true: return what would change, at most the first ${BULK_CHANGES_MAX} changes, and write nothing.`,
      }),
    ),
    match: Type.Optional(
      QueryList(OneOf(matchColumns(importable)), {
        description: `The columns that match a row to its record. Default: \`id\`, else ${importable.key.join(", ")}.`,
      }),
    ),
    plan: Type.Optional(PlanToken),
  });
}

/** The exported row of the example, without columns that are not imported. */
function exampleTable(importable: RecordWrites): string {
  const { example } = importable.resource;
  const fields = [...columnRoles(importable)].flatMap(([name, role]) =>
    role.type === "Field" && cellText(ownValue(example, name)) !== "" ? name : [],
  );
  const columns = fieldColumns(fields);
  return csvHead(columns) + csvRows(columns, [example]);
}
