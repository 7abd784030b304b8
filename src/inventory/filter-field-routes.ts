// /api/v1/fields/{kind}: what a filter can ask of the records of a kind, for whoever writes or completes one.

import { Type } from "@sinclair/typebox";
import { type Access, type Actor, VIEWER } from "../access/actor.ts";
import type { Surface } from "../http/surface.ts";
import { metaAt, successBody } from "../wire/envelope.ts";
import { Nullable, OneOf } from "../wire/schemas.ts";
import { COMPARATORS } from "./filter/grammar.ts";
import { COMPARATORS_OF, VALUE_TYPES } from "./filter/value-tests.ts";
import { type FieldOfKind, fieldsOf } from "./filter-fields.ts";
import { OVER_TIME_USAGE } from "./read-filter.ts";
import { RESOURCES } from "./resources.ts";

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
    path: Type.String({ description: "Of its list, below `/api/v1`." }),
    is_searched: Type.Boolean({ description: "Whether a filter may hold words to search for." }),
    fields: Type.Array(Field),
    functions: Type.Array(Type.Object({ name: Type.String(), usage: Type.String() })),
  },
  { $id: "FilterFields" },
);

const KIND_NAMES = RESOURCES.map(({ kind }) => kind.name);

/** /api/v1/fields/{kind}. */
export function filterFieldRoutes(surface: Surface<Actor, Access>): void {
  surface.get(
    "/api/v1/fields/:kind",
    {
      operationId: "listFilterFields",
      summary: "List what a filter can ask of a kind of record",
      description:
        "Names, types, operators and values, for completion. Fields of other records follow their name after a dot.",
      group: "Questions",
      access: VIEWER,
      params: Type.Object({ kind: OneOf(KIND_NAMES, { description: "The kind of record." }) }),
      answer: Fields,
      isRecord: false,
      example: {
        parameters: { kind: "vlan" },
        data: { ...answerOf("vlan"), fields: answerOf("vlan").fields.slice(0, 3) },
      },
    },
    (call) =>
      new Response(successBody(JSON.stringify(answerOf(call.params.kind)), metaAt(null)), {
        headers: { ...call.headers, "content-type": "application/json" },
      }),
  );
}

function answerOf(kindName: string) {
  const fields = fieldsOf(kindName);
  return {
    kind: kindName,
    path: RESOURCES.find(({ kind }) => kind.name === kindName)?.path ?? "",
    is_searched: fields.kind.search !== undefined || fields.kind.called !== undefined,
    fields: fields.list().map(shown),
    functions: Object.entries(OVER_TIME_USAGE).map(([name, usage]) => ({ name, usage })),
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
