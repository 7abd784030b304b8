// Route for GET /api/v1/activity: number of changes by time, record, field, actor or network; creations and deletions.

import { type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../../access/actor.ts";
import type { Clock } from "../../base/clock.ts";
import { CUSTOM_FIELDS, customFieldKey } from "../../base/custom-field-names.ts";
import { type Issue, invalid } from "../../base/errors.ts";
import { ownValue } from "../../base/fields.ts";
import { nearestName } from "../../base/nearest-name.ts";
import type { AnyKind } from "../../db/kind.ts";
import { CHANGE_TYPES, OPERATIONS, TransactionOfChange } from "../../history/change-view.ts";
import { narrowingQuery, resolveNarrowing } from "../../history/narrowing.ts";
import { Period, periodQuery } from "../../history/period.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../records/backend.ts";
import { respondWithLongRead } from "../../records/long-read-responses.ts";
import { settledAt } from "../../records/read-instant.ts";
import { CHANGE_LOG_RESOURCES } from "../../records/resources.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, Nullable, OneOf, QueryList, Timestamp, Uuid } from "../../schemas/schemas.ts";
import { activity } from "./activity.ts";
import { type ActivityInput, GROUPINGS } from "./matching-changes.ts";

const BUCKETS_DEFAULT = 100;
const BUCKETS_MAX = 500;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const counts = {
  created: count("Including records that came back after they were deleted."),
  updated: count("Versions that changed fields."),
  deleted: count("Records that were deleted."),
  total: count("All of them."),
};
const ends = {
  first: Type.String({ format: "date-time", description: "Time of the first of these changes." }),
  last: Type.String({ format: "date-time", description: "Time of the last of these changes." }),
};
const namedRecord = (description: string) => Nullable(Type.Object({ id: Uuid, name: Type.String() }), { description });

/** Response schema of one grouping. */
function groupingSchema(grouping: (typeof GROUPINGS)[number], title: string, group: TProperties): TObject {
  return Type.Object(
    {
      group_by: Type.Literal(grouping),
      from: Timestamp,
      to: Timestamp,
      ...counts,
      group_count: Type.Integer({ minimum: 0, description: "Total number of groups, including those beyond `limit`." }),
      groups: Type.Array(Type.Object({ ...group, ...counts }, { $id: `${title}Group` })),
    },
    { $id: title },
  );
}

const Activity = Type.Union(
  [
    groupingSchema("time", "ActivityByTime", {
      from: Timestamp,
      to: Type.String({ format: "date-time", description: "End of the part, exclusive: the start of the next one." }),
      types: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), { description: "Totals by kind of record." }),
    }),
    groupingSchema("type", "ActivityByType", { entity_type: OneOf(CHANGE_TYPES), ...ends }),
    groupingSchema("record", "ActivityByRecord", {
      entity_type: OneOf(CHANGE_TYPES),
      id: Uuid,
      name: Nullable(Type.String(), {
        description: "As of `to`, or of its deletion; null if a prune left no version with a name.",
      }),
      network_id: Nullable(Uuid, { description: "Null for a record outside networks." }),
      host: namedRecord("The host that it belongs to."),
      ...ends,
    }),
    groupingSchema("field", "ActivityByField", { entity_type: OneOf(CHANGE_TYPES), field: Type.String(), ...ends }),
    groupingSchema("actor", "ActivityByActor", { actor: TransactionOfChange.properties.actor, ...ends }),
    groupingSchema("network", "ActivityByNetwork", {
      network: namedRecord("Null for records that belong to the organization as a whole."),
      ...ends,
    }),
  ],
  { $id: "Activity" },
);

const EXAMPLE = {
  group_by: "time",
  from: "2026-11-21T08:00:00.000Z",
  to: "2026-11-21T10:00:00.000Z",
  created: 2,
  updated: 1,
  deleted: 0,
  total: 3,
  group_count: 2,
  groups: [
    {
      from: "2026-11-21T08:00:00.000Z",
      to: "2026-11-21T09:00:00.000Z",
      types: {},
      created: 0,
      updated: 0,
      deleted: 0,
      total: 0,
    },
    {
      from: "2026-11-21T09:00:00.000Z",
      to: "2026-11-21T10:00:00.000Z",
      types: { host: 1, port: 2 },
      created: 2,
      updated: 1,
      deleted: 0,
      total: 3,
    },
  ],
};

const Query = Type.Object({
  ...periodQuery,
  from: Type.Optional({
    ...periodQuery.from,
    description:
      "Start of the period: a timestamp, an age (`-24h`, `-7d`) or a marker. Default: the first change of the subject.",
  }),
  to: Type.Optional({ ...periodQuery.to, description: "End of the period, exclusive. Default: now." }),
  group_by: Type.Optional(
    OneOf(GROUPINGS, {
      default: "time",
      description:
        "How the counts are grouped. All groupings except `time` are ordered by number of changes, highest first.",
    }),
  ),
  buckets: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: BUCKETS_MAX,
      default: BUCKETS_DEFAULT,
      description:
        "Only with `group_by=time`: number of equal parts of the period, including empty ones. Fewer if the period is shorter than that many milliseconds.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: LIMIT_DEFAULT,
      description: "Not with `group_by=time`: maximum number of groups.",
    }),
  ),
  ...narrowingQuery,
  operation: Type.Optional(
    OneOf(OPERATIONS, {
      description: "Only changes of this type: `Created` for new records, `Deleted` for removed ones.",
    }),
  ),
  fields: Type.Optional(
    QueryList(Type.String({ minLength: 1, maxLength: 64 }), {
      description: "Only updates of at least one of these fields, as in `changed_fields`.",
    }),
  ),
});

const DESCRIPTION = `Counts the versions of the change feed in \`[from, to)\`, by time, kind of record, record, field, actor or network. A host that changed only in its children is counted with them, and
a service with its bindings: each change counts once. \`group_by=record&types=if_entry&fields=oper_status\` finds flapping ports; \`group_by=record&types=if_entry&fields=fdb_macs\`, ports where
MAC addresses come and go; \`operation=Created\`, new records. By field, a version counts under each field that it changed.

By time, kind, network and actor it uses running counts, whatever the period; with \`fields\` or \`id\`, and by record or field, it reads the versions of the period one by one.
API keys are not counted. In thinned history the remaining versions count, and \`meta.thinned_until\` is its end.`;

/** /api/v1/activity. */
export function activityRoutes(surface: Surface<Actor, Access>, backend: Backend, clock: Clock): void {
  const { reader } = backend;
  surface.get(
    "/api/v1/activity",
    {
      operationId: "activity",
      summary: "Count changes",
      description: DESCRIPTION,
      group: "Questions",
      access: VIEWER,
      query: Query,
      responseSchema: Activity,
      example: { parameters: { from: "2026-11-21T08:00:00Z", to: "2026-11-21T10:00:00Z", buckets: 2 }, data: EXAMPLE },
    },
    (call) => {
      const { group_by = "time", buckets, limit, operation, fields, types } = call.query;
      rejectIneffective({ isByTime: group_by === "time", buckets, limit });
      rejectUnknownFields(fields ?? [], types ?? CHANGE_TYPES);
      const period = new Period(reader, call, clock.now());
      return settledAt(backend, period.settledBy(null), () => {
        const input: ActivityInput = {
          actor: plainActor(call.actor),
          groupBy: group_by,
          narrowing: resolveNarrowing(reader, call.actor, call.query),
          operation: operation ?? null,
          fields: fields ?? null,
          buckets: buckets ?? BUCKETS_DEFAULT,
          limit: limit ?? LIMIT_DEFAULT,
          from: period.from,
          to: period.end,
          ...period.sequences(reader),
        };
        return respondWithLongRead(backend, call, activity, input);
      });
    },
  );
}

/** @throws DomainError validation_failed for a parameter without effect */
function rejectIneffective({
  isByTime,
  buckets,
  limit,
}: {
  readonly isByTime: boolean;
  readonly buckets: number | undefined;
  readonly limit: number | undefined;
}): void {
  if (!isByTime && buckets !== undefined)
    throw invalid({ path: "/buckets", message: "requires group_by=time", value: buckets });
  if (isByTime && limit !== undefined)
    throw invalid({ path: "/limit", message: "does not apply to group_by=time: use buckets", value: limit });
}

/** Fields that change but never appear in a response. */
const HIDDEN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  user: ["password"],
  ip_address: ["credential_ids"],
};
/** Metadata of every version: not changes by themselves. */
const VERSION_METADATA_FIELDS = ["id", "created_at", "updated_at", "valid_from", "valid_to", "lineage_id"];

/** Observations create no version, and separately reported parts are counted on their own. */
function isUncounted(kind: AnyKind, field: string): boolean {
  return (
    VERSION_METADATA_FIELDS.includes(field) ||
    (kind.observed as readonly string[]).includes(field) ||
    kind.partFields?.includes(field) === true
  );
}

/** @throws DomainError validation_failed for field names that no record of these kinds has */
function rejectUnknownFields(fields: readonly string[], types: readonly string[]): void {
  const known = new Set(
    CHANGE_LOG_RESOURCES.filter(({ kind }) => types.includes(kind.name)).flatMap(({ kind, responseSchema }) =>
      [...Object.keys(responseSchema.properties), ...(ownValue(HIDDEN_FIELDS, kind.name) ?? [])].filter(
        (field) => !isUncounted(kind, field),
      ),
    ),
  );
  const issues: Issue[] = [];
  for (const [index, field] of fields.entries()) {
    if (field !== CUSTOM_FIELDS && known.has(customFieldKey(field) === null ? field : CUSTOM_FIELDS)) continue;
    const nearest = nearestName(field, known);
    issues.push({
      path: `/fields/${index}`,
      message: `is not a versioned field of these kinds${field === CUSTOM_FIELDS ? "; custom_fields.KEY for one of them?" : nearest === null ? "" : `; ${nearest}?`}`,
      value: field,
    });
  }
  if (issues.length > 0) throw invalid(issues);
}
