// Filter properties of a field from its schema: type, multiplicity and inner fields. Independent of record kinds.

import { Kind as SchemaKind, type TSchema } from "@sinclair/typebox";
import { ownValue } from "../../base/fields.ts";
import type { ValueType } from "./value-tests.ts";

/** A field as listed by `GET /api/v1/fields/{kind}`. */
export interface FieldOfKind {
  readonly name: string;
  readonly value: ValueType | null;
  readonly isMany: boolean;
  /** Kind whose fields may follow after a dot. */
  readonly refersTo: string | null;
  /** Whether functions over time accept it: it is stored in the record's versions. */
  readonly isVersioned: boolean;
  readonly description: string | null;
}

/** A field from the schema of its values. */
export function plainField(name: string, schema: TSchema): FieldOfKind {
  const { isMany, item } = itemOf(schema);
  const value = valueTypeOf(item, name.slice(name.lastIndexOf(".") + 1));
  return { name, value, isMany, refersTo: null, isVersioned: true, description: descriptionOf(schema) };
}

export function descriptionOf({ description }: TSchema): string | null {
  return description ?? null;
}

/** Schema without null; for a list, the schema of its items. */
export function itemOf(schema: TSchema): { readonly isMany: boolean; readonly item: TSchema } {
  const plainSchema = withoutNull(schema);
  return plainSchema.type === "array"
    ? { isMany: true, item: withoutNull(plainSchema.items as TSchema) }
    : { isMany: false, item: plainSchema };
}

function withoutNull(schema: TSchema): TSchema {
  const arms = ((schema.anyOf ?? []) as TSchema[]).filter(({ type }) => type !== "null");
  return arms.length === 1 ? (arms[0] as TSchema) : schema;
}

/** Fields of an object, or of any of its alternatives. */
export function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  const arms = ((schema.anyOf ?? [schema]) as TSchema[]).filter(({ type }) => type === "object");
  const properties: Record<string, TSchema> = {};
  for (const arm of arms)
    for (const [name, inner] of Object.entries((arm.properties ?? {}) as Record<string, TSchema>)) {
      const before = ownValue(properties, name);
      properties[name] = before === undefined ? inner : mergeSchemas(before, inner);
    }
  return properties;
}

/** Merges two alternatives of a field: an enum gets the values of both. */
function mergeSchemas(left: TSchema, right: TSchema): TSchema {
  const values = [...vocabularyOf(left), ...vocabularyOf(right)];
  return values.length === 0
    ? left
    : ({ [SchemaKind]: "OneOf", type: "string", enum: [...new Set(values)] } as unknown as TSchema);
}

function vocabularyOf(schema: TSchema): readonly string[] {
  if (Array.isArray(schema.enum)) return schema.enum as string[];
  return typeof schema.const === "string" ? [schema.const] : [];
}

const FORMAT_TYPES: Readonly<Record<string, ValueType>> = {
  uuid: { name: "uuid" },
  "date-time": { name: "instant" },
  ip: { name: "ip_address" },
  cidr: { name: "prefix" },
  mac: { name: "mac_address" },
};

/** Null for an object. A count that is a decimal string if large compares as a number. */
export function valueTypeOf(schema: TSchema, name: string): ValueType | null {
  const values = vocabularyOf(schema);
  if (values.length > 0) return { name: "enumeration", values };
  const isNumber = ({ type }: TSchema) => type === "integer" || type === "number";
  if (isNumber(schema) || ((schema.anyOf ?? []) as TSchema[]).some(isNumber))
    return { name: "number", isInBits: name.endsWith("_bps") };
  if (schema.type === "boolean") return { name: "boolean" };
  if (schema.type === "string") return ownValue(FORMAT_TYPES, schema.format as string) ?? { name: "text" };
  return null;
}
