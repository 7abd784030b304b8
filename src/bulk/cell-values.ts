// Conversion of cell text to field values by schema. Text that cannot be converted is passed on unchanged, so that
// schema validation reports it.

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { exceededBound, type JsonBounds } from "../base/json-bounds.ts";
import type { FieldType } from "../resources/custom-fields/field-type.ts";
import { cellText, unguarded } from "../schemas/csv.ts";

/** Parsed value of a cell, or the reason for rejecting its text. */
export type CellValue = { readonly value: unknown } | { readonly message: string };

/** Whether a cell equals the exported form of a value, and thus requests no change. */
export function matchesValue(cell: string, value: unknown): boolean {
  if (value === null || value === undefined) return cell === "";
  // Nearly all cells of a re-imported table are strings without a formula guard.
  if (cell === value && !cell.includes("'")) return true;
  return cell === cellText(value);
}

/** Parses the text of a cell by schema. */
export function cellValue(cell: string, schema: TSchema): CellValue {
  const plain = plainSchema(schema);
  if (cell === "") return emptyValue(schema, plain);
  const text = unguarded(cell);
  if (KindGuard.IsArray(plain)) return { value: listOf(text) };
  switch (plain.type) {
    case "integer":
    case "number":
      return { value: /^[+-]?\d{1,16}$/.test(text.trim()) ? Number(text.trim()) : text };
    case "boolean":
      return { value: BOOLEANS.get(text.trim().toLowerCase()) ?? text };
    case "string":
      return { value: text };
    default:
      return jsonValue(text);
  }
}

/** Schema without null. */
export function plainSchema(schema: TSchema): TSchema {
  if (!KindGuard.IsUnion(schema)) return schema;
  const branches = schema.anyOf.filter((branch) => !KindGuard.IsNull(branch));
  return branches.length === 1 ? (branches[0] as TSchema) : schema;
}

/** Whether an empty cell means null. */
export function isNullable(schema: TSchema): boolean {
  return KindGuard.IsUnion(schema) && schema.anyOf.some((branch) => KindGuard.IsNull(branch));
}

/** Parses a list written by `listCell` of csv.ts, or manually. */
function listOf(text: string): unknown[] {
  if (text.startsWith("[") && !isDeep(text)) {
    try {
      const items: unknown = JSON.parse(text);
      if (Array.isArray(items)) return items;
    } catch {
      // Not JSON: a separated list whose first item starts with a bracket.
    }
  }
  return text.split(";").map((item) => item.trim());
}

/** Value of a custom field: null clears it. Text that does not fit the type is passed on unchanged. */
export function customValue(cell: string, type: FieldType): unknown {
  if (cell === "") return null;
  const text = unguarded(cell);
  if (type === "number") return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text.trim()) : text;
  return type === "boolean" ? (BOOLEANS.get(text.trim().toLowerCase()) ?? text) : text;
}

const BOOLEANS = new Map([
  ["true", true],
  ["false", false],
]);

function emptyValue(schema: TSchema, plain: TSchema): CellValue {
  if (isNullable(schema)) return { value: null };
  if (KindGuard.IsArray(plain)) return { value: [] };
  if (
    plain.type === "string" &&
    plain.minLength === undefined &&
    plain.format === undefined &&
    plain.enum === undefined
  )
    return { value: "" };
  return { message: "must not be empty" };
}

/** Maximum nesting: field values use two or three levels. The table size limits a cell's length. */
const DEPTH_MAX = 16;
const CELL_BOUNDS: JsonBounds = {
  depth: DEPTH_MAX,
  containers: Number.POSITIVE_INFINITY,
  commas: Number.POSITIVE_INFINITY,
};

function isDeep(text: string): boolean {
  return exceededBound(text, CELL_BOUNDS) !== null;
}

/** Parses JSON, without checking it against a schema. */
export function jsonValue(text: string): CellValue {
  try {
    if (isDeep(text)) return { message: `nests arrays and objects more than ${DEPTH_MAX} deep` };
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { message: "must be a JSON object" };
  }
}
