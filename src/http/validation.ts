// Checks a value against its schema and tells all that is wrong with it at once, by JSON pointer.
// Normalises texts by their format (UUIDs to lower case, addresses to canonical form); coerces nothing else.

import { Kind, TypeGuard, type TObject, type TSchema, type TUnion } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck } from "@sinclair/typebox/compiler";
import { ValueErrorType, type ValueError } from "@sinclair/typebox/errors";
import type { Issue } from "../base/errors.ts";
import { isSecretFieldName } from "../base/log.ts";
import { FORMATS } from "./schemas.ts";

/** A body with more offenders than this is not a typo; the rest is counted, not listed. */
export const MAX_ISSUES = 200;

export type Checked = { ok: true; value: unknown } | { ok: false; issues: Issue[] };

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();

/**
 * A schema with `secret: true` (answered masked) or `writeOnly: true` (never answered) holds a secret: no issue echoes a value at or below it,
 * in the place of what holds one, or under an unknown name beside one: a misspelled password is a password.
 * @param at where the value stands, as a JSON pointer prefix
 * @returns the normalised value, or every offender
 */
export function check(schema: TSchema, value: unknown, at = ""): Checked {
  const stripped = strip(schema, value);
  const issues: Issue[] = [];
  unreadableTexts(stripped, at, issues);
  if (!compile(schema).Check(stripped)) collect(schema, stripped, at, false, issues);
  if (issues.length > 0) return { ok: false, issues: issues.slice(0, MAX_ISSUES) };
  return { ok: true, value: normalise(schema, stripped) };
}

function compile(schema: TSchema): TypeCheck<TSchema> {
  let checker = compiled.get(schema);
  if (checker === undefined) {
    checker = TypeCompiler.Compile(schema);
    compiled.set(schema, checker);
  }
  return checker;
}

/** @param isSecret whether all of the value is inside a secret */
function collect(schema: TSchema, value: unknown, at: string, isSecret: boolean, issues: Issue[]): void {
  const seen = new Set<string>();
  for (const error of compile(schema).Errors(value)) {
    if (issues.length >= MAX_ISSUES) return;
    if (error.type === ValueErrorType.Union) {
      const branch = branchOf(error.schema as TUnion, error.value);
      if (branch !== null) {
        collect(branch, error.value, at + error.path, isSecret || isInSecret(schema, error.path), issues);
        continue;
      }
    }
    // The schema's limits are in characters (RFC 8259), not in UTF-16 units.
    if (error.type === ValueErrorType.StringMaxLength && [...(error.value as string)].length <= (error.schema["maxLength"] as number)) continue;
    // A missing property is reported twice: once as missing, once as of the wrong type.
    if (seen.has(error.path)) continue;
    seen.add(error.path);
    const path = at + error.path;
    const message = sentence(error);
    const isMissing = error.type === ValueErrorType.ObjectRequiredProperty || error.value === undefined;
    // The schema of an unknown field's error is the object that it stands in.
    const isHidden = isSecret || isInSecret(schema, error.path) || holdsSecret(error.schema) || isSecretFieldName(path.slice(path.lastIndexOf("/") + 1));
    issues.push(isMissing || isHidden ? { path, message } : { path, message, value: shown(error.value) });
  }
}

/** Offending values are echoed so that they can be found, not so that they can be stored. */
function shown(value: unknown): unknown {
  if (typeof value === "string") return value.length > 200 ? `${value.slice(0, 200)}…` : value;
  if (value === null || typeof value !== "object") return value;
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}

/** Whether a path leads to a secret or into one. It crosses no union: `collect` goes on in the branch that was meant. */
function isInSecret(schema: TSchema, path: string): boolean {
  let place: TSchema | undefined = schema;
  for (const segment of path.split("/").slice(1)) {
    if (place === undefined || isSecretItself(place)) break;
    place = TypeGuard.IsArray(place) ? place.items : (place["properties"] as Record<string, TSchema> | undefined)?.[segment];
  }
  return place !== undefined && isSecretItself(place);
}

const holders = new WeakMap<TSchema, boolean>();

/** Whether a value of the schema is or contains a secret. */
function holdsSecret(schema: TSchema): boolean {
  let holds = holders.get(schema);
  if (holds === undefined) {
    const parts = [...Object.values((schema["properties"] ?? {}) as Record<string, TSchema>), ...((schema["anyOf"] ?? []) as TSchema[]), ...(TypeGuard.IsArray(schema) ? [schema.items] : [])];
    holds = isSecretItself(schema) || parts.some(holdsSecret);
    holders.set(schema, holds);
  }
  return holds;
}

function isSecretItself(schema: TSchema): boolean {
  return schema["secret"] === true || schema["writeOnly"] === true;
}

function sentence(error: ValueError): string {
  const schema = error.schema;
  switch (error.type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not a field here";
    case ValueErrorType.StringFormat:
    case ValueErrorType.StringFormatUnknown:
      return FORMATS[schema["format"] as string]?.sentence ?? "has the wrong format";
    case ValueErrorType.StringMinLength:
    case ValueErrorType.StringMaxLength:
      return `must have ${range(schema["minLength"], schema["maxLength"])} characters`;
    case ValueErrorType.ArrayMaxItems:
    case ValueErrorType.ArrayMinItems:
      return `must have ${range(schema["minItems"], schema["maxItems"])} items`;
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
      return `must be ${range(schema["minimum"], schema["maximum"], "from")}`;
    case ValueErrorType.Integer:
      return `must be an integer${schema["minimum"] === undefined ? "" : ` ${range(schema["minimum"], schema["maximum"], "from")}`}`;
    case ValueErrorType.Boolean:
      return "must be true or false";
    case ValueErrorType.String:
      return Array.isArray(schema["enum"]) ? oneOf(schema["enum"]) : "must be a string";
    case ValueErrorType.Array:
      return "must be an array";
    case ValueErrorType.Object:
      return "must be an object";
    case ValueErrorType.Literal:
      return `must be ${JSON.stringify(schema["const"])}`;
    case ValueErrorType.Union:
      return unionSentence(schema as TUnion);
    default:
      return Array.isArray(schema["enum"]) ? oneOf(schema["enum"]) : error.message.charAt(0).toLowerCase() + error.message.slice(1);
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.join(", ")}`;
}

function unionSentence(union: TUnion): string {
  for (const field of DISCRIMINATORS) {
    const tags = union.anyOf.map((branch) => branch.properties?.[field]?.const as unknown).filter((tag) => tag !== undefined);
    if (tags.length > 0) return `must be an object whose ${field} is one of ${tags.join(", ")}`;
  }
  return "has the wrong type";
}

function range(low: unknown, high: unknown, from = ""): string {
  if (low === undefined && high === undefined) return "the right number of";
  if (high === undefined) return `${low} or more`;
  if (low === undefined) return `at most ${high}`;
  return `${from === "" ? "" : `${from} `}${low} to ${high}`;
}

/** The fields that tell the branches of a union apart. */
const DISCRIMINATORS = ["type", "mode"] as const;

/** The branch that was meant: the one of the discriminator, or the only one that is not null. */
function branchOf(union: TUnion, value: unknown): TSchema | null {
  const branches = union.anyOf.filter((branch) => branch[Kind] !== "Null");
  if (branches.length === 1) return branches[0] as TSchema;
  if (value === null || typeof value !== "object") return null;
  for (const field of DISCRIMINATORS) {
    const tag = (value as Record<string, unknown>)[field];
    const tagged = branches.filter((branch) => branch.properties?.[field]?.const === tag);
    if (tagged.length === 1) return tagged[0] as TSchema;
  }
  return null;
}

/** Takes out what a schema ignores: read-only fields that a client sends back as it got them. */
function strip(schema: TSchema, value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (TypeGuard.IsUnion(schema)) {
    const branch = branchOf(schema, value);
    return branch === null ? value : strip(branch, value);
  }
  if (TypeGuard.IsArray(schema)) return Array.isArray(value) ? value.map((item) => strip(schema.items, item)) : value;
  if (!TypeGuard.IsObject(schema) || Array.isArray(value)) return value;
  const ignored = schema["ignored"] as readonly string[] | undefined;
  const properties = (schema as TObject).properties;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => ignored === undefined || !ignored.includes(name))
      .map(([name, each]) => [name, Object.hasOwn(properties, name) ? strip(properties[name] as TSchema, each) : each]),
  );
}

function normalise(schema: TSchema, value: unknown): unknown {
  if (typeof value === "string") {
    const format = schema["format"] as string | undefined;
    if (format !== undefined) return FORMATS[format]?.parse(value) ?? value;
    if (TypeGuard.IsUnion(schema)) {
      const branch = branchOf(schema, value);
      return branch === null ? value : normalise(branch, value);
    }
    return value;
  }
  if (value === null || typeof value !== "object") return value;
  if (TypeGuard.IsUnion(schema)) {
    const branch = branchOf(schema, value);
    return branch === null ? value : normalise(branch, value);
  }
  if (Array.isArray(value)) return TypeGuard.IsArray(schema) ? value.map((item) => normalise(schema.items, item)) : value;
  if (!TypeGuard.IsObject(schema)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, Object.hasOwn(schema.properties, name) ? normalise(schema.properties[name] as TSchema, each) : each]));
}

/** Half characters and NULs are not text: SQLite and every client would each make something else of them. */
function unreadableTexts(value: unknown, at: string, issues: Issue[]): void {
  if (issues.length >= MAX_ISSUES) return;
  if (typeof value === "string") {
    if (!value.isWellFormed() || value.includes("\0")) issues.push({ path: at, message: "must be well-formed Unicode text without NUL characters" });
  } else if (Array.isArray(value)) {
    value.forEach((item, position) => unreadableTexts(item, `${at}/${position}`, issues));
  } else if (value !== null && typeof value === "object") {
    for (const [name, each] of Object.entries(value)) unreadableTexts(each, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, issues);
  }
}
