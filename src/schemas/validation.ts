// Schema validation of values, reporting all errors at once by JSON pointer. Does not coerce: only normalizes strings
// by their format (UUIDs to lower case, addresses to canonical form).

import { Kind, KindGuard, type TObject, type TSchema, type TUnion } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { type Issue, pointerTo } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { isSecretFieldName } from "../base/log.ts";
import { ACCEPTED_VALUES, FORMATS } from "./schemas.ts";

/** More issues than this are not a typo; the rest are counted, not listed. */
export const MAX_ISSUES = 200;

export type CheckResult = { ok: true; value: unknown } | { ok: false; issues: Issue[] };

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

/**
 * A schema with `secret: true` (masked in responses) or `writeOnly: true` (never in responses) holds a secret: no issue
 * echoes a value at or below it, in place of an object that holds one, or under an unknown name next to one: a
 * misspelled password field contains a password.
 * @param pointer position of the value, as a JSON pointer prefix
 * @param limit maximum number of reported issues
 * @returns the normalized value, or every issue
 */
export function check(schema: TSchema, value: unknown, pointer = "", limit = MAX_ISSUES): CheckResult {
  const stripped = strip(schema, value);
  const issues: Issue[] = [];
  if (!isReadable(stripped)) unreadableTexts(stripped, [], pointer, issues, limit);
  if (!compile(schema).Check(stripped)) collect(schema, stripped, pointer, false, issues, limit);
  if (issues.length > 0) return { ok: false, issues: issues.slice(0, limit) };
  return { ok: true, value: normalize(schema, stripped) };
}

function compile(schema: TSchema): TypeCheck<TSchema> {
  let checker = compiled.get(schema);
  if (checker === undefined) {
    checker = TypeCompiler.Compile(schema);
    compiled.set(schema, checker);
  }
  return checker;
}

/** @param isSecret whether the whole value is inside a secret */
function collect(
  schema: TSchema,
  value: unknown,
  pointer: string,
  isSecret: boolean,
  issues: Issue[],
  limit: number,
): void {
  const reportedPaths = new Set<string>();
  for (const error of compile(schema).Errors(value)) {
    if (issues.length >= limit) return;
    if (error.type === ValueErrorType.Union) {
      const union = error.schema as TUnion;
      const branch = branchOf(union, error.value) ?? branchOfType(union, error.value);
      if (branch !== null) {
        collect(branch, error.value, pointer + error.path, isSecret || isInSecret(schema, error.path), issues, limit);
        continue;
      }
      const discriminator = pointer + error.path === "" ? discriminatorOf(union) : null;
      if (
        discriminator !== null &&
        error.value !== null &&
        typeof error.value === "object" &&
        !Array.isArray(error.value)
      ) {
        // A body as a whole has no field name for an issue; its discriminator has one.
        const value = ownValue(error.value as Record<string, unknown>, discriminator.field);
        issues.push({
          path: `/${discriminator.field}`,
          message: value === undefined ? "is required" : oneOf(discriminator.tags),
          ...(value === undefined || containsSecret(error.schema) ? {} : { value: truncatedValue(value) }),
        });
        continue;
      }
    }
    // The schema's limits count characters (RFC 8259), not UTF-16 units.
    if (
      error.type === ValueErrorType.StringMaxLength &&
      [...(error.value as string)].length <= (error.schema.maxLength as number)
    )
      continue;
    // A missing property is reported twice: as missing, and as of the wrong type.
    if (reportedPaths.has(error.path)) continue;
    reportedPaths.add(error.path);
    const path = pointer + error.path;
    const message = sentence(error);
    const isMissing = error.type === ValueErrorType.ObjectRequiredProperty || error.value === undefined;
    // The error of an unknown field has the schema of its parent object.
    const isHidden =
      isSecret ||
      isInSecret(schema, error.path) ||
      containsSecret(error.schema) ||
      isSecretFieldName(path.slice(path.lastIndexOf("/") + 1));
    issues.push(isMissing || isHidden ? { path, message } : { path, message, value: truncatedValue(error.value) });
  }
}

/** Truncates offending values: they are echoed for identification only. */
function truncatedValue(value: unknown): unknown {
  if (typeof value === "string") return value.length > 200 ? `${value.slice(0, 200)}…` : value;
  if (value === null || typeof value !== "object") return value;
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}

/** Whether a path leads to a secret or into one. Does not cross unions: `collect` continues in the intended branch. */
function isInSecret(schema: TSchema, path: string): boolean {
  let current: TSchema | undefined = schema;
  for (const segment of path.split("/").slice(1)) {
    if (current === undefined || isSecretItself(current)) break;
    current = KindGuard.IsArray(current)
      ? current.items
      : ownValue(current.properties as Record<string, TSchema> | undefined, segment);
  }
  return current !== undefined && isSecretItself(current);
}

const secretSchemas = new WeakMap<TSchema, boolean>();

/** Whether a value of the schema is or contains a secret. */
function containsSecret(schema: TSchema): boolean {
  let result = secretSchemas.get(schema);
  if (result === undefined) {
    const parts = [
      ...Object.values((schema.properties ?? {}) as Record<string, TSchema>),
      ...((schema.anyOf ?? []) as TSchema[]),
      ...(KindGuard.IsArray(schema) ? [schema.items] : []),
    ];
    result = isSecretItself(schema) || parts.some(containsSecret);
    secretSchemas.set(schema, result);
  }
  return result;
}

function isSecretItself(schema: TSchema): boolean {
  return schema.secret === true || schema.writeOnly === true;
}

function sentence(error: ValueError): string {
  const schema = error.schema;
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not a known field";
    case ValueErrorType.StringFormat:
    case ValueErrorType.StringFormatUnknown:
      return ownValue(FORMATS, schema.format as string)?.sentence ?? "has the wrong format";
    case ValueErrorType.StringMinLength:
    case ValueErrorType.StringMaxLength:
      return `must have ${range(schema.minLength, schema.maxLength)} characters`;
    case ValueErrorType.ArrayMaxItems:
    case ValueErrorType.ArrayMinItems:
      return `must have ${range(schema.minItems, schema.maxItems)} items`;
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return `must be ${range(schema.minimum, schema.maximum, "from")}`;
    case ValueErrorType.Integer:
      return `must be an integer${schema.minimum === undefined ? "" : ` ${range(schema.minimum, schema.maximum, "from")}`}`;
    case ValueErrorType.Boolean:
      return "must be true or false";
    case ValueErrorType.String:
      return Array.isArray(schema.enum) ? oneOf(schema.enum) : "must be a string";
    case ValueErrorType.Array:
      return "must be an array";
    case ValueErrorType.Object:
      return "must be an object";
    case ValueErrorType.ObjectMinProperties:
      return `must have ${range(schema.minProperties, schema.maxProperties)} fields`;
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema.const)}`;
    case ValueErrorType.Union:
      return unionSentence(schema as TUnion);
    default:
      return ACCEPTED_VALUES in schema
        ? oneOf(schema[ACCEPTED_VALUES] as readonly unknown[])
        : Array.isArray(schema.enum)
          ? oneOf(schema.enum)
          : error.message.charAt(0).toLowerCase() + error.message.slice(1);
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.join(", ")}`;
}

function unionSentence(union: TUnion): string {
  const discriminator = discriminatorOf(union);
  if (discriminator !== null)
    return `must be an object whose ${discriminator.field} is one of ${discriminator.tags.join(", ")}`;
  const types = union.anyOf.map(({ type }) => ownValue(TYPE_WORDS, type as string));
  if (types.includes(undefined)) return "has the wrong type";
  const words = [...new Set(types.flatMap((each) => each ?? []))];
  return `must be ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** JSON types in sentences. */
const TYPE_WORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["a string"],
  number: ["a number"],
  integer: ["an integer"],
  boolean: ["true", "false"],
  array: ["an array"],
  object: ["an object"],
  null: ["null"],
};

/** The discriminator of a union and its values; null without one. */
function discriminatorOf(union: TUnion): { field: string; tags: unknown[] } | null {
  for (const field of DISCRIMINATORS) {
    const tags = union.anyOf
      .map((branch) => branch.properties?.[field]?.const as unknown)
      .filter((tag) => tag !== undefined);
    if (tags.length > 0) return { field, tags };
  }
  return null;
}

function range(low: unknown, high: unknown, from = ""): string {
  if (low === undefined && high === undefined) return "the right number of";
  if (high === undefined) return `${low} or more`;
  if (low === undefined) return `at most ${high}`;
  return `${from === "" ? "" : `${from} `}${low} to ${high}`;
}

/** Names of discriminator fields. */
const DISCRIMINATORS = ["type", "mode"] as const;

const alternatives = new WeakMap<TSchema, TSchema[]>();

/** The branches of a union, without null. */
function alternativesOf(union: TUnion): TSchema[] {
  let branches = alternatives.get(union);
  if (branches === undefined) {
    branches = union.anyOf.filter((branch) => branch[Kind] !== "Null");
    alternatives.set(union, branches);
  }
  return branches;
}

/** The intended branch: by discriminator, or the only one besides null. */
function branchOf(union: TUnion, value: unknown): TSchema | null {
  const branches = alternativesOf(union);
  if (branches.length === 1) return branches[0] as TSchema;
  if (value === null || typeof value !== "object") return null;
  for (const field of DISCRIMINATORS) {
    const tag = (value as Record<string, unknown>)[field];
    const tagged = branches.filter((branch) => branch.properties?.[field]?.const === tag);
    if (tagged.length === 1) return tagged[0] as TSchema;
  }
  return null;
}

/** The only branch for values of this type, whose limits the value exceeds; null if there are none or several. */
function branchOfType(union: TUnion, value: unknown): TSchema | null {
  const branches = alternativesOf(union).filter(({ type }) => isOfType(value, type));
  return branches.length === 1 ? (branches[0] as TSchema) : null;
}

/** @param type JSON Schema type name */
function isOfType(value: unknown, type: unknown): boolean {
  if (value === null) return type === "null";
  if (Array.isArray(value)) return type === "array";
  if (typeof value === "number") return type === "number" || (type === "integer" && Number.isInteger(value));
  return typeof value === type;
}

// The functions below visit every value of a body, up to a million in a bulk write: unchanged values are not copied.

/** Removes ignored fields: read-only ones that a client sends back unchanged. */
function strip(schema: TSchema, value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (KindGuard.IsUnion(schema)) {
    const branch = branchOf(schema, value);
    return branch === null ? value : strip(branch, value);
  }
  if (KindGuard.IsArray(schema))
    return Array.isArray(value) ? mapped(value, (item) => strip(schema.items, item)) : value;
  if (!KindGuard.IsObject(schema) || Array.isArray(value)) return value;
  const ignored = schema.ignored as readonly string[] | undefined;
  const isSentBack = ignored !== undefined && Object.keys(value).some((name) => ignored.includes(name));
  return mappedFields(
    schema,
    isSentBack ? Object.fromEntries(Object.entries(value).filter(([name]) => !ignored.includes(name))) : value,
    strip,
  );
}

function normalize(schema: TSchema, value: unknown): unknown {
  if (typeof value === "string") {
    const format = schema.format as string | undefined;
    if (format !== undefined) return ownValue(FORMATS, format)?.parse(value) ?? value;
    if (KindGuard.IsUnion(schema)) {
      const branch = branchOf(schema, value);
      return branch === null ? value : normalize(branch, value);
    }
    return value;
  }
  if (value === null || typeof value !== "object") return value;
  if (KindGuard.IsUnion(schema)) {
    const branch = branchOf(schema, value);
    return branch === null ? value : normalize(branch, value);
  }
  if (Array.isArray(value))
    return KindGuard.IsArray(schema) ? mapped(value, (item) => normalize(schema.items, item)) : value;
  return KindGuard.IsObject(schema) ? mappedFields(schema, value, normalize) : value;
}

/** Replaces each item; returns the same array if nothing changes. */
function mapped(items: unknown[], replace: (item: unknown) => unknown): unknown[] {
  let result = items;
  for (let position = 0; position < items.length; position += 1) {
    const replaced = replace(items[position]);
    if (replaced === items[position]) continue;
    if (result === items) result = [...items];
    result[position] = replaced;
  }
  return result;
}

/** Replaces the value of each field in the schema; returns the same object if nothing changes. */
function mappedFields(schema: TObject, object: object, replace: (schema: TSchema, value: unknown) => unknown): object {
  let result = object as Record<string, unknown>;
  for (const name of Object.keys(object)) {
    const field = ownValue(schema.properties, name);
    if (field === undefined) continue;
    const value = ownValue(object, name);
    const replaced = replace(field, value);
    if (replaced === value) continue;
    if (result === object) result = { ...result };
    result[name] = replaced;
  }
  return result;
}

/**
 * Rejects lone surrogates and NULs: SQLite and clients would each interpret them differently.
 * @param segments path of the value below `at`; joined only for an issue, since there may be millions of values
 */
function unreadableTexts(
  value: unknown,
  segments: Array<string | number>,
  pointer: string,
  issues: Issue[],
  limit: number,
): void {
  if (issues.length >= limit || value === null) return;
  if (typeof value === "string") {
    if (!isReadable(value))
      issues.push({
        path: `${pointer}${segments.map((name) => pointerTo(String(name))).join("")}`,
        message: "must be well-formed Unicode without NUL characters",
      });
  } else if (typeof value === "object") {
    for (const [name, each] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      segments.push(name);
      unreadableTexts(each, segments, pointer, issues, limit);
      segments.pop();
    }
  }
}

function isReadable(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (value === null || typeof value !== "object") return true;
  return Array.isArray(value) ? value.every(isReadable) : Object.values(value).every(isReadable);
}
