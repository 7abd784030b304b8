// TypeBox schema conversion to the JSON Schema (2020-12) of an OpenAPI 3.1 document. Constraints that only the
// appliance can check become part of the description.

import type { TSchema } from "@sinclair/typebox";
import { ownValue } from "../base/fields.ts";
import { INT32_MAX } from "./schemas.ts";

export type Json = Record<string, unknown>;
/** Named schemas, for `components.schemas`. */
export type NamedSchemas = Map<string, Json>;

/**
 * Adds a schema with an `$id` to `named` and returns a reference to it.
 * @throws Error if another schema has the same name
 */
export function jsonSchema(schema: TSchema, named: NamedSchemas): Json {
  const name = schema.$id;
  if (typeof name !== "string") return plain(schema, named);
  const rendered = plain(schema, named);
  const existing = named.get(name);
  if (existing === undefined) named.set(name, rendered);
  else if (!Bun.deepEquals(existing, rendered)) throw new Error(`duplicate schema name ${name}`);
  return { $ref: `#/components/schemas/${name}` };
}

/** Formats known to all tools; the appliance's own are described in words. */
const PUBLIC_FORMATS = new Set(["uuid", "date-time", "email"]);

const FORMAT_SENTENCES: Readonly<Record<string, string>> = {
  "as-of":
    "RFC 3339 with any offset; an age: `-90s`, `-15m`, `-24h`, `-7d`, `-2w`; or a marker: `marker:NAME`, `marker:ID`.",
  "instant-or-age":
    "RFC 3339 with any offset; an age: `-90s`, `-15m`, `-24h`, `-7d`, `-2w`; `now`; or a marker: `marker:NAME`, `marker:ID`.",
  ip: "An IPv4 or IPv6 address, without a zone.",
  cidr: "An IPv4 or IPv6 prefix without host bits.",
  target: "An IPv4 or IPv6 address without a zone, or a prefix without host bits.",
  mac: "A MAC address: lower case with colons in responses; upper case, `-` and dots are accepted too.",
  name: "Not blank, no control characters.",
  line: "No control characters.",
  "relative-path": "A relative path, without `..` in it.",
};

/** Keywords whose value is a schema, a list of schemas, or a map of schemas. */
const SCHEMA_KEYWORDS = new Set(["items", "additionalProperties", "not", "contains"]);
const LIST_KEYWORDS = new Set(["anyOf", "allOf", "oneOf"]);
const MAP_KEYWORDS = new Set(["properties", "patternProperties"]);

function plain(schema: TSchema, named: NamedSchemas): Json {
  const result: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "$id" || keyword === "ignored") continue;
    if (keyword === "secret") {
      if (schema.type === "string") result.format = "password";
    } else if (keyword === "format" && !PUBLIC_FORMATS.has(value as string)) {
      const sentence = ownValue(FORMAT_SENTENCES, value as string);
      if (sentence !== undefined)
        result.description = [schema.description, sentence].filter((each) => each !== undefined).join(" ");
    } else if (keyword === "description") result[keyword] ??= value;
    else if (SCHEMA_KEYWORDS.has(keyword) && typeof value === "object")
      result[keyword] = jsonSchema(value as TSchema, named);
    else if (LIST_KEYWORDS.has(keyword)) result[keyword] = (value as TSchema[]).map((each) => jsonSchema(each, named));
    else if (MAP_KEYWORDS.has(keyword)) result[keyword] = byName(value as Record<string, TSchema>, named);
    else result[keyword] = value;
  }
  if (result.properties !== undefined) result.properties = describeDefaults(result);
  if (result.type === "integer" && typeof result.maximum === "number")
    result.format = result.maximum <= INT32_MAX ? "int32" : "int64";
  addIgnoredFields(schema, result);
  return nullable(result);
}

function byName(schemas: Record<string, TSchema>, named: NamedSchemas): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, jsonSchema(each, named)]));
}

/**
 * Moves to the description what client generators misinterpret: a default, which they take for an always-present field,
 * and a field that is always null, which they take for an absent one.
 */
function describeDefaults(result: Json): Json {
  const required = (result.required ?? []) as string[];
  const withSentence = (schema: Json, sentence: string) => ({
    description: [schema.description, sentence].filter((each) => each !== undefined).join(" "),
  });
  const describeProperty = (name: string, { default: value, ...rest }: Json): Json => {
    if (rest.type === "null") return withSentence(rest, "Always null.");
    if (value === undefined) return rest;
    return required.includes(name)
      ? { ...rest, default: value }
      : { ...rest, ...withSentence(rest, `Default: \`${JSON.stringify(value)}\`.`) };
  };
  return Object.fromEntries(
    Object.entries((result.properties ?? {}) as Record<string, Json>).map(([name, schema]) => [
      name,
      describeProperty(name, schema),
    ]),
  );
}

/** Lists the read-only fields that a body may send back: a validating client would otherwise reject them. */
function addIgnoredFields(schema: TSchema, result: Json): void {
  const ignored = schema.ignored as readonly string[] | undefined;
  if (ignored === undefined) return;
  const properties = result.properties as Json;
  result.properties = {
    ...properties,
    ...Object.fromEntries(
      ignored
        .filter((name) => !Object.hasOwn(properties, name))
        .map((name) => [name, { readOnly: true, description: "Read-only: ignored in a body." }]),
    ),
  };
}

/** Turns a union of one inline type and null into a type array, which tools show as one type. */
function nullable(schema: Json): Json {
  const branches = schema.anyOf as Json[] | undefined;
  if (branches?.length !== 2 || branches[1]?.type !== "null") return schema;
  const [branch] = branches as [Json, Json];
  if (typeof branch.type !== "string" || Object.hasOwn(branch, "const")) return schema;
  const { anyOf: _branches, ...rest } = schema;
  const values = branch.enum as unknown[] | undefined;
  const description = [branch.description, rest.description].filter((each) => each !== undefined).join(" ");
  return {
    ...branch,
    ...rest,
    type: [branch.type, "null"],
    ...(values === undefined ? {} : { enum: [...values, null] }),
    ...(description === "" ? {} : { description }),
  };
}
