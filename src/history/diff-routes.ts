// GET /api/v1/diff: differences between two points in time.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, plainActor, VIEWER } from "../access/actor.ts";
import type { Clock } from "../base/clock.ts";
import { customFieldKey } from "../base/custom-field-names.ts";
import { invalid } from "../base/errors.ts";
import { FILTER_MAX_LENGTH } from "../base/filter-limits.ts";
import { formatInstant, type Instant } from "../base/instant.ts";
import type { AnyKind } from "../db/kind.ts";
import { RESOLUTIONS } from "../db/pruned-history.ts";
import { ChangeLog } from "../db/reading/change-log.ts";
import type { Surface } from "../http/surface.ts";
import type { Backend } from "../records/backend.ts";
import { customFieldsAt } from "../records/custom-fields-at.ts";
import { respondWithLongRead } from "../records/long-read-responses.ts";
import { parsedFilter } from "../records/read-filter.ts";
import { requestedInstant, settledAt } from "../records/read-instant.ts";
import { CHANGE_LOG_RESOURCES, RESOURCES } from "../records/resources.ts";
import { hostKind } from "../resources/hosts/host.ts";
import { networkKind } from "../resources/networks/network.ts";
import { ORGANIZATION_EXAMPLE } from "../resources/organizations/organization.ts";
import { CSV_TYPE } from "../schemas/csv.ts";
import {
  defineFormat,
  IdsQuery,
  INT32_MAX,
  InstantOrAge,
  LIMIT_MAX,
  Nullable,
  OneOf,
  QueryList,
  Timestamp,
  Uuid,
} from "../schemas/schemas.ts";
import { CHANGE_TYPES, TRANSACTION_EXAMPLE, TransactionOfChange, unionOfKinds } from "./change-view.ts";
import { UNCOMPARED } from "./diff.ts";
import { DIFF_FORMATS, type DiffFormat, type DiffInput, diff } from "./diff-formats.ts";
import { SORTS } from "./touched-records.ts";

/** Fields across all kinds of records. */
const COMPARED_FIELDS = [
  ...new Set(
    CHANGE_LOG_RESOURCES.flatMap(({ responseSchema, schemaWithoutParts = responseSchema }) =>
      Object.keys(schemaWithoutParts.properties),
    ),
  ),
]
  .filter((name) => !UNCOMPARED.has(name))
  .sort();

defineFormat("compared-field", {
  parse: (text) => (COMPARED_FIELDS.includes(text) || customFieldKey(text) !== null ? text : null),
  sentence: "must be a compared field of a record, or custom_fields. followed by the key of a custom field",
});

const Query = Type.Object({
  from: InstantOrAge("The earlier timestamp, how long ago (`-24h`, `-7d`), or a marker."),
  to: Type.Optional(InstantOrAge("The later timestamp. Default: now.")),
  types: Type.Optional(QueryList(OneOf(CHANGE_TYPES), { description: "Only records of these kinds." })),
  network_id: Type.Optional(Uuid),
  host_id: Type.Optional(Type.String({ format: "uuid", description: "Only this host and its children." })),
  ...IdsQuery,
  filter: Type.Optional(
    Type.String({
      maxLength: FILTER_MAX_LENGTH,
      description:
        "Only records that match at one of the two timestamps, or at both; ages in it end at each of them. As for the list of that kind (`GET /api/v1/fields/{kind}`); `types` must name exactly one. Blank: everything.",
    }),
  ),
  change: Type.Optional(QueryList(OneOf(SORTS), { description: "Only differences of this type." })),
  ignore: Type.Optional(
    QueryList(Type.String({ format: "compared-field" }), {
      description:
        "Fields to ignore: a record with no other difference is not listed, and the fields of others are omitted. `stale_since` only means that something was not seen; `custom_fields` stands for all of them, `custom_fields.rack` for one.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LIMIT_MAX,
      default: 0,
      description: "Differences in the response; 0 for all. `counts` covers all of them, not just the page.",
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: INT32_MAX,
      default: 0,
      description: "Differences to skip: in JSON first what was added, then what was removed, then what changed.",
    }),
  ),
  format: Type.Optional(
    OneOf(DIFF_FORMATS, {
      default: "json",
      description:
        "`ndjson`: one line per record. `csv`: one row per record added or removed and per field changed. `text`: a readable report.",
    }),
  ),
});

const about = {
  entity_type: OneOf(CHANGE_TYPES),
  id: Uuid,
  name: Type.String({ description: "The record's name, address or number." }),
};
const transaction = { transaction: TransactionOfChange };
/** With the record at the end where it exists. */
const RecordDifference = unionOfKinds("WholeDifference", { id: about.id, name: about.name, ...transaction });
const ChangedFields = Type.Object(
  {
    ...about,
    host_id: Nullable(Uuid, { description: "The host that the record is part of; null if it is not part of a host." }),
    fields: Type.Array(
      Type.Object({
        field: Type.String(),
        from: Type.Unknown(),
        to: Type.Unknown(),
        transaction: Nullable(TransactionOfChange, {
          description:
            "The last transaction that changed it; null if it is no longer known because history was thinned.",
        }),
      }),
      { description: "Field by field. A field without a value is null." },
    ),
    ...transaction,
  },
  { $id: "FieldDifference" },
);
const Bound = Type.Object({
  at: Timestamp,
  sequence: Type.Integer({
    minimum: 0,
    description: "The last transaction at or before `at`; in thinned history, the last retained one.",
  }),
  resolution: Type.Optional(OneOf(RESOLUTIONS, { description: "Only in thinned history: its resolution." })),
  resolved_at: Type.Optional(
    Nullable(Timestamp, {
      description: "With `resolution`: the timestamp of the compared state; null if none is retained.",
    }),
  ),
});
const DiffAnswer = Type.Object(
  {
    from: Bound,
    to: Bound,
    added: Type.Array(RecordDifference),
    removed: Type.Array(RecordDifference),
    changed: Type.Array(ChangedFields),
    counts: Type.Record(
      Type.String(),
      Type.Object({
        added: Type.Optional(Type.Integer()),
        removed: Type.Optional(Type.Integer()),
        changed: Type.Optional(Type.Integer()),
      }),
      { description: "By kind of record." },
    ),
  },
  { $id: "Diff" },
);

const EXAMPLE = {
  from: { at: "2026-11-20T09:15:00.000Z", sequence: 17 },
  to: { at: "2026-11-21T09:15:00.000Z", sequence: 42 },
  added: [],
  removed: [],
  changed: [
    {
      entity_type: "organization",
      id: ORGANIZATION_EXAMPLE.id,
      name: ORGANIZATION_EXAMPLE.name,
      host_id: null,
      fields: [{ field: "name", from: "Example", to: ORGANIZATION_EXAMPLE.name, transaction: TRANSACTION_EXAMPLE }],
      transaction: TRANSACTION_EXAMPLE,
    },
  ],
  counts: { organization: { changed: 1 } },
};

const CONTENT_TYPES: Readonly<Record<DiffFormat, string>> = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: CSV_TYPE,
  text: "text/plain; charset=utf-8",
};

/** For file names, which must not contain colons. */
function fileInstant(at: Instant): string {
  return formatInstant(at).replaceAll(":", "-");
}

/** A filter requires exactly one kind, whose fields it uses. */
function assertOneKind(types: readonly string[] | undefined): void {
  const [type, ...others] = new Set(types);
  if (type !== undefined && others.length === 0 && RESOURCES.some(({ kind }) => kind.name === type)) return;
  const message = "must name exactly one kind of record that has a list, since a filter uses its fields";
  throw invalid([{ path: "/types", message, value: types ?? null }]);
}

/** Registers /api/v1/diff. */
export function diffRoutes(surface: Surface<Actor, Access>, backend: Backend, clock: Clock): void {
  const { reader } = backend;
  surface.get(
    "/api/v1/diff",
    {
      operationId: "diff",
      summary: "Compare the inventory at two timestamps",
      description:
        "What was added, removed and changed, field by field, with who did it and when. A change that was undone in between is not a difference, nor is a record that was only seen again. API keys are not compared. The cost depends on the changes between the two timestamps, not on the size of the inventory. In thinned history, kept states are compared, and formats without `meta` report this in the header `X-Thinned-Until`.",
      group: "Changes",
      access: VIEWER,
      query: Query,
      responseSchema: DiffAnswer,
      media: [
        {
          type: "application/x-ndjson",
          description: "One difference per line, as in `added`, `removed` and `changed`; `change` names the list.",
          example: `${JSON.stringify({ change: "changed", ...EXAMPLE.changed[0] })}\n`,
        },
        {
          type: "text/csv",
          description: "RFC 4180 with a header row.",
          example: "change,entity_type,id,name\r\nadded,host,01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010,core-1\r\n",
        },
        {
          type: "text/plain",
          description: "A readable report.",
          example: "Hosts\n  + core-1  (Ada, 2026-11-21T09:15:00.123Z)\n",
        },
      ],
      example: { parameters: { from: "-24h" }, data: EXAMPLE },
    },
    (call) => {
      const now = clock.now();
      const { from: earlier, to: later } = call.query;
      const fromAt = requestedInstant(reader, call.actor, earlier, "/from", now);
      const toAt = later === undefined ? now : requestedInstant(reader, call.actor, later, "/to", now);
      if (fromAt > toAt) throw invalid([{ path: "/from", message: "must not be later than to", value: earlier }]);
      const filter = parsedFilter(call.query.filter?.trim() ?? "");
      if (filter.node !== null) assertOneKind(call.query.types);
      assertDefined(call.query.ignore ?? [], call.actor, [fromAt, toAt, null]);
      // Settles the later end if it is past, which settles the earlier one too.
      const hasPassed = toAt < now;
      return settledAt(backend, hasPassed ? toAt : fromAt, async (settled) => {
        const asOf = hasPassed ? settled : null;
        const format = call.query.format ?? "json";
        const from = reader.resolve(fromAt);
        const fromSequence = (from ?? reader.head()).sequence;
        const thinnedUntil = reader.thinnedHistory.incompleteUntil(fromSequence);
        const input: DiffInput = {
          actor: plainActor(call.actor),
          types: call.query.types ?? CHANGE_TYPES,
          networkN: numberOf(networkKind, call.query.network_id, call.actor),
          hostN: numberOf(hostKind, call.query.host_id, call.actor),
          from: fromSequence,
          to: (asOf ?? reader.head()).sequence,
          ...(call.query.ids === undefined ? {} : { ids: call.query.ids }),
          ...(call.query.ignore === undefined ? {} : { ignore: call.query.ignore }),
          ...(filter.node === null
            ? {}
            : { filter: { from: { ...filter, base: fromAt }, to: { ...filter, base: toAt } } }),
          format,
          sorts: call.query.change ?? SORTS,
          offset: call.query.offset ?? 0,
          limit: call.query.limit ?? 0,
          fromAt,
          toAt,
          ...(from?.thinned === undefined ? {} : { fromThinned: from.thinned }),
          ...(asOf?.thinned === undefined ? {} : { toThinned: asOf.thinned }),
          thinnedUntil,
        };
        const headers = {
          ...call.headers,
          "content-type": CONTENT_TYPES[format],
          // CSV is a download, named by both timestamps.
          ...(format === "csv"
            ? { "content-disposition": `attachment; filename="diff-${fileInstant(fromAt)}-${fileInstant(toAt)}.csv"` }
            : {}),
          ...(thinnedUntil === null || format === "json" ? {} : { "x-thinned-until": formatInstant(thinnedUntil) }),
        };
        return respondWithLongRead(backend, call, diff, input, headers);
      });
    },
  );

  /** An ignored custom field must exist at either end or now; otherwise its name is mistyped. */
  function assertDefined(names: readonly string[], actor: Actor, ends: readonly (Instant | null)[]): void {
    const custom = names
      .map((name, index) => ({ key: customFieldKey(name), place: index }))
      .filter(({ key }) => key !== null);
    if (custom.length === 0) return;
    const keys = new Set(ends.flatMap((at) => customFieldsAt(reader, actor, reader.resolve(at)).map(({ key }) => key)));
    const unknown = custom.filter(({ key }) => !keys.has(key as string));
    if (unknown.length === 0) return;
    const message = "is not a custom field of the organization, at either timestamp or now";
    throw invalid(
      unknown.map(({ place: index }) => ({ path: `/ignore/${index}`, message, value: names[index] ?? null })),
    );
  }

  /** Null if not requested; 0 if never visible to the caller, which matches nothing. */
  function numberOf(kind: AnyKind, id: string | undefined, actor: Actor): number | null {
    return id === undefined ? null : (new ChangeLog(reader).everVisible(kind, id, actor) ?? 0);
  }
}
