// Routes for /api/v1/fields/{kind}: filterable fields of a kind, for writing and completing filters.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { Surface } from "../http/surface.ts";
import { FIELD_KINDS, type FieldKind } from "../resources/custom-fields/field-type.ts";
import { successResponse } from "../schemas/envelope.ts";
import { Nullable, OneOf } from "../schemas/schemas.ts";
import { type CustomFieldsOf, filterableFields } from "./custom-fields-at.ts";
import { COMPARATORS } from "./filter/grammar.ts";
import type { FieldOfKind } from "./filter/schema-fields.ts";
import { COMPARATORS_OF, VALUE_TYPES } from "./filter/value-tests.ts";
import { type Filterable, fieldsOf } from "./filter-fields.ts";
import { OVER_TIME_USAGE } from "./read-filter.ts";
import { RESOURCES } from "./resources.ts";
import { RowFields, type RowList } from "./row-fields.ts";

const Field = Type.Object(
  {
    name: Type.String({ description: "As written in a filter: `oper_status`, `source.type`, `host`." }),
    type: OneOf([...VALUE_TYPES, "object", "record"], {
      description: "`object`: only `:*`. `record`: its own fields follow after a dot.",
    }),
    operators: Type.Array(OneOf([...COMPARATORS, ":*"])),
    values: Nullable(Type.Array(Type.String()), { description: "All values of a vocabulary or a boolean." }),
    units: Type.Array(Type.String(), { description: "Unit suffixes allowed after a number: `10G`." }),
    is_many: Type.Boolean({ description: "Whether there may be several values; any one may match." }),
    refers_to: Nullable(Type.String(), { description: "The kind whose fields may follow: `host.name`." }),
    over_time: Type.Boolean({ description: "Whether `changes`, `ever`, `always` and `was` accept it." }),
    description: Nullable(Type.String()),
  },
  { $id: "FilterField" },
);
const Fields = Type.Object(
  {
    kind: Type.String(),
    path: Type.String({ description: "Path of the list, below `/api/v1`; or absolute, starting with `/`." }),
    is_searched: Type.Boolean({ description: "Whether a filter may contain search words." }),
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
  const descriptions = new Map<string, () => FieldList>([
    ...RESOURCES.map(({ kind, path }) => lazily(kind.name, () => describeFields(kind.name, path, fieldsOf(kind.name)))),
    ...rowLists.map((list) => lazily(list.name, () => describeFields(list.name, list.path, new RowFields(list)))),
  ]);
  surface.get(
    "/api/v1/fields/:kind",
    {
      operationId: "listFilterFields",
      summary: "List the filterable fields of a kind of record, or of the rows of another list",
      description:
        "Names, types, operators and values, for completion. Fields of other records follow their name after a dot. Rows that are not records (scans, transactions, versions) have a kind as well, without word search and functions over time.",
      group: "Questions",
      access: VIEWER,
      params: Type.Object({ kind: OneOf([...descriptions.keys()], { description: "The kind of record or row." }) }),
      responseSchema: Fields,
      isRecord: false,
      example: {
        parameters: { kind: "vlan" },
        get data() {
          const vlan = descriptions.get("vlan")?.() as FieldList;
          return { ...vlan, fields: vlan.fields.slice(0, 3) };
        },
      },
    },
    (call) => {
      const { kind } = call.params;
      const versions = rowLists.find((list) => list.name === kind && FIELD_KINDS.includes(list.recordOf as FieldKind));
      const fieldList =
        versions !== undefined || FIELD_KINDS.includes(kind as FieldKind)
          ? withCustomFieldsOf(
              descriptions.get(kind)?.() as FieldList,
              versions,
              filterableFields(reader, call.actor, null),
            )
          : descriptions.get(kind)?.();
      return successResponse(call, JSON.stringify(fieldList));
    },
  );
}

type FieldList = ReturnType<typeof describeFields>;

function lazily(kind: string, fieldList: () => FieldList): [kind: string, answer: () => FieldList] {
  let cached: FieldList | undefined;
  return [kind, () => (cached ??= fieldList())];
}

function withCustomFieldsOf(fieldList: FieldList, versions: RowList | undefined, custom: CustomFieldsOf): FieldList {
  const { kind, path } = fieldList;
  if (custom(versions?.recordOf ?? kind).size === 0) return fieldList;
  const fields = versions === undefined ? fieldsOf(kind) : new RowFields(versions);
  return describeFields(kind, path, fields.with(custom));
}

function describeFields(kind: string, path: string, fields: Filterable) {
  return {
    kind,
    path,
    is_searched: fields.isSearched,
    fields: fields.list().map(describeField),
    functions: fields.hasVersions ? Object.entries(OVER_TIME_USAGE).map(([name, usage]) => ({ name, usage })) : [],
  };
}

function describeField({ name, value, isMany, refersTo, isVersioned, description }: FieldOfKind) {
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
