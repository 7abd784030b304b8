// From the text of a cell to the value that a body has of it, by the field's schema. What cannot be the value is left
// as the text that it is: the schema then says what is wrong with it. Pure.

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { exceededBound, type JsonBounds } from "../base/json-bounds.ts";
import type { FieldType } from "../resources/custom-fields/field-type.ts";
import { cellText, unguarded } from "../schemas/csv.ts";

/** What a cell says of a field: its value, or that it cannot say this. */
export type CellValue = { readonly value: unknown } | { readonly message: string };

/** Whether a cell says what an export would write of the value: then it asks for nothing. */
export function saysSame(cell: string, value: unknown): boolean {
  if (value === null || value === undefined) return cell === "";
  // Nearly all cells of a table that is sent back are texts that need no guard.
  if (cell === value && !cell.includes("'")) return true;
  return cell === cellText(value);
}

/** The value of a cell. */
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

/** A schema without the null that it may be. */
export function plainSchema(schema: TSchema): TSchema {
  if (!KindGuard.IsUnion(schema)) return schema;
  const branches = schema.anyOf.filter((branch) => !KindGuard.IsNull(branch));
  return branches.length === 1 ? (branches[0] as TSchema) : schema;
}

/** Whether an empty cell is a value: null. */
export function isNullable(schema: TSchema): boolean {
  return KindGuard.IsUnion(schema) && schema.anyOf.some((branch) => KindGuard.IsNull(branch));
}

/** What `listCell` of csv.ts wrote, or a person. */
function listOf(text: string): unknown[] {
  if (text.startsWith("[") && !isDeep(text)) {
    try {
      const items: unknown = JSON.parse(text);
      if (Array.isArray(items)) return items;
    } catch {
      // A list whose first item begins with a bracket.
    }
  }
  return text.split(";").map((item) => item.trim());
}

/** The value of a custom field: null clears it. What cannot be of its type is the text that it is. */
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

/** Objects in each other: what fields hold has two or three. A cell is bounded by the bytes of its table. */
const DEPTH_MAX = 16;
const CELL_BOUNDS: JsonBounds = {
  depth: DEPTH_MAX,
  containers: Number.POSITIVE_INFINITY,
  commas: Number.POSITIVE_INFINITY,
};

function isDeep(text: string): boolean {
  return exceededBound(text, CELL_BOUNDS) !== null;
}

/** JSON that no schema was asked of. */
export function jsonValue(text: string): CellValue {
  try {
    if (isDeep(text)) return { message: `nests arrays and objects more than ${DEPTH_MAX} deep` };
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { message: "must be a JSON object" };
  }
}
