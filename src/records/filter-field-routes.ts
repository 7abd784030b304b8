// Routes for /api/v1/fields/{kind}: filterable fields of a kind, for writing and completing filters.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Surface } from "../http/surface.ts";
import { FIELD_KINDS, type FieldKind } from "../resources/custom-fields/field-type.ts";
import { metaAt, successBody } from "../schemas/envelope.ts";
import { Nullable, OneOf } from "../schemas/schemas.ts";
import { askableFields, type CustomFieldsOf } from "./custom-fields-at.ts";
import { COMPARATORS } from "./filter/grammar.ts";
import type { FieldOfKind } from "./filter/schema-fields.ts";
import { COMPARATORS_OF, VALUE_TYPES } from "./filter/value-tests.ts";
import { type Filterable, fieldsOf } from "./filter-fields.ts";
import { OVER_TIME_USAGE } from "./read-filter.ts";
import { RESOURCES } from "./resources.ts";
import { RowFields, type RowList } from "./row-fields.ts";

const Field = Type.Object(
  {
    name: Type.String({ description: "As a filter writes it: `oper_status`, `source.type`, `host`." }),
    type: OneOf([...VALUE_TYPES, "object", "record"], {
      description: "`object`: only `:*`. `record`: its own fields follow after a dot.",
    }),
    operators: Type.Array(OneOf([...COMPARATORS, ":*"])),
    values: Nullable(Type.Array(Type.String()), { description: "Of a vocabulary or a boolean: all values." }),
    units: Type.Array(Type.String(), { description: "What may follow a number: `10G`." }),
    is_many: Type.Boolean({ description: "Whether there may be several values, of which any one matches." }),
    refers_to: Nullable(Type.String(), { description: "The kind whose fields follow: `host.name`." }),
    over_time: Type.Boolean({ description: "Whether `changes`, `ever`, `always` and `was` can ask it." }),
    description: Nullable(Type.String()),
  },
  { $id: "FilterField" },
);
const Fields = Type.Object(
  {
    kind: Type.String(),
    path: Type.String({ description: "Of its list, below `/api/v1`; or from `/` on." }),
    is_searched: Type.Boolean({ description: "Whether a filter may hold words to search for." }),
    fields: Type.Array(Field),
    functions: Type.Array(Type.Object({ name: Type.String(), usage: Type.String() })),
  },
  { $id: "FilterFields" },
);

/**
 * Registers /api/v1/fields/{kind}.
 * @param rowLists lists whose rows are not records
 */
export function filterFieldRoutes(surface: Surface<Actor, Access>, reader: Reader, rowLists: readonly RowList[]): void {
  // Computed on first request: computing all would take a tenth of the startup time.
  const told = new Map<string, () => Answer>([
    ...RESOURCES.map(({ kind, path }) => once(kind.name, () => answerOf(kind.name, path, fieldsOf(kind.name)))),
    ...rowLists.map((list) => once(list.name, () => answerOf(list.name, list.path, new RowFields(list)))),
  ]);
  surface.get(
    "/api/v1/fields/:kind",
    {
      operationId: "listFilterFields",
      summary: "List the fields that a filter can use, of a kind of record or of the rows of another list",
      description:
        "Names, types, operators and values, for completion. Fields of other records follow their name after a dot. Rows that are not records (scans, transactions, versions) have a kind as well, without word search and functions over time.",
      group: "Questions",
      access: VIEWER,
      params: Type.Object({ kind: OneOf([...told.keys()], { description: "The kind of record or row." }) }),
      answer: Fields,
      isRecord: false,
      example: {
        parameters: { kind: "vlan" },
        get data() {
          const vlan = told.get("vlan")?.() as Answer;
          return { ...vlan, fields: vlan.fields.slice(0, 3) };
        },
      },
    },
    (call) => {
      const { kind } = call.params;
      const versions = rowLists.find((list) => list.name === kind && FIELD_KINDS.includes(list.recordOf as FieldKind));
      const answer =
        versions !== undefined || FIELD_KINDS.includes(kind as FieldKind)
          ? withCustomFieldsOf(told.get(kind)?.() as Answer, versions, askableFields(reader, call.actor, null))
          : told.get(kind)?.();
      return new Response(successBody(JSON.stringify(answer), metaAt(null)), {
        headers: { ...call.headers, "content-type": "application/json" },
      });
    },
  );
}

type Answer = ReturnType<typeof answerOf>;

function once(kind: string, answer: () => Answer): [kind: string, answer: () => Answer] {
  let kept: Answer | undefined;
  return [kind, () => (kept ??= answer())];
}

function withCustomFieldsOf(answer: Answer, versions: RowList | undefined, custom: CustomFieldsOf): Answer {
  const { kind, path } = answer;
  if (custom(versions?.recordOf ?? kind).size === 0) return answer;
  const fields = versions === undefined ? fieldsOf(kind) : new RowFields(versions);
  return answerOf(kind, path, fields.with(custom));
}

function answerOf(kind: string, path: string, fields: Filterable) {
  return {
    kind,
    path,
    is_searched: fields.isSearched,
    fields: fields.list().map(shown),
    functions: fields.hasVersions ? Object.entries(OVER_TIME_USAGE).map(([name, usage]) => ({ name, usage })) : [],
  };
}

function shown({ name, value, isMany, refersTo, isVersioned, description }: FieldOfKind) {
  return {
    name,
    type: value?.name ?? (refersTo === null ? "object" : "record"),
    operators: [...(value === null ? [] : COMPARATORS_OF[value.name]), ":*" as const],
    values: value?.name === "enumeration" ? [...value.values] : value?.name === "boolean" ? ["true", "false"] : null,
    units: value?.name === "number" && value.isInBits ? ["k", "M", "G", "T"] : [],
    is_many: isMany,
    refers_to: refersTo,
    over_time: isVersioned,
    description,
  };
}
