// What can be asked of a field by its schema: its type, whether there may be several values, and the fields within it.
// Knows no kind of record.

import { Kind as SchemaKind, type TSchema } from "@sinclair/typebox";
import { ownValue } from "../../base/fields.ts";
import type { ValueType } from "./value-tests.ts";

/** A field as `GET /api/v1/fields/{kind}` tells it. */
export interface FieldOfKind {
  readonly name: string;
  readonly value: ValueType | null;
  readonly isMany: boolean;
  /** The kind whose fields follow after a dot. */
  readonly refersTo: string | null;
  /** Whether it can be asked over time: it is kept in the record's versions. */
  readonly isVersioned: boolean;
  readonly description: string | null;
}

/** A field by the schema of its values. */
export function plainField(name: string, schema: TSchema): FieldOfKind {
  const { isMany, item } = itemOf(schema);
  const value = valueTypeOf(item, name.slice(name.lastIndexOf(".") + 1));
  return { name, value, isMany, refersTo: null, isVersioned: true, description: descriptionOf(schema) };
}

export function descriptionOf({ description }: TSchema): string | null {
  return description ?? null;
}

/** A schema without null, and of a list that of its items. */
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

/** The fields of an object, or of any of the objects that it may be. */
export function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> {
  const arms = ((schema.anyOf ?? [schema]) as TSchema[]).filter(({ type }) => type === "object");
  const properties: Record<string, TSchema> = {};
  for (const arm of arms)
    for (const [name, inner] of Object.entries((arm.properties ?? {}) as Record<string, TSchema>)) {
      const before = ownValue(properties, name);
      properties[name] = before === undefined ? inner : together(before, inner);
    }
  return properties;
}

/** Two forms of one field: a vocabulary has the values of both. */
function together(one: TSchema, other: TSchema): TSchema {
  const values = [...vocabularyOf(one), ...vocabularyOf(other)];
  return values.length === 0
    ? one
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

/** Null for an object. A count that is a decimal string where it is large compares as the number that it is. */
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
