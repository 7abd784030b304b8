// CSV tables (RFC 4180, with CRLF and a header row), safe to open in a spreadsheet. Independent of resources.

import type { TObject } from "@sinclair/typebox";
import { ownValue } from "../base/fields.ts";

/** Media type of an export; the table has a header row. */
export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** A column: its name, and its cell for a record. */
export interface CsvColumn {
  readonly name: string;
  readonly cell: (record: Record<string, unknown>) => unknown;
}

/** The header row. */
export function csvHead(columns: readonly CsvColumn[]): string {
  return row(columns.map((column) => column.name));
}

/** One row per record. */
export function csvRows(columns: readonly CsvColumn[], records: readonly Record<string, unknown>[]): string {
  return records.map((record) => row(columns.map((column) => column.cell(record)))).join("");
}

/** Columns for all properties of a schema. */
export function schemaColumns(schema: TObject): CsvColumn[] {
  return fieldColumns(Object.keys(schema.properties));
}

/** Columns for a record's own fields, named like them. */
export function fieldColumns(fields: readonly string[]): CsvColumn[] {
  return fields.map((name) => ({ name, cell: (record) => ownValue(record, name) }));
}

function row(cells: readonly unknown[]): string {
  return `${cells.map((cell) => quoted(cellText(cell))).join(",")}\r\n`;
}

/**
 * Unquoted text of a cell: empty for null; semicolon-separated for lists of plain values; JSON for objects, or only the
 * type of an object without other fields.
 */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return guarded(cell);
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell);
  if (Array.isArray(cell) && cell.every((each) => typeof each === "string" || typeof each === "number"))
    return guarded(cell.join(";"));
  return onlyType(cell) ?? guarded(JSON.stringify(cell));
}

/** Cell of a list of free-text values: JSON if the joined items would be ambiguous. */
export function listCell(items: readonly string[]): readonly string[] | string {
  const isPlain = items.every((item) => item.trim() === item && item !== "" && !item.includes(";"));
  return isPlain && items[0]?.startsWith("[") !== true ? items : JSON.stringify(items);
}

/** The type of an object without other fields, such as a source. */
function onlyType(cell: object): string | null {
  const [entry, ...others] = Object.entries(cell);
  return entry?.[0] === "type" && typeof entry[1] === "string" && others.length === 0 ? guarded(entry[1]) : null;
}

/**
 * Prevents formula injection: prefixes an apostrophe to text that a spreadsheet would run as a formula. Covers formulas
 * after spaces, invisible characters, and semicolons, which separate cells in some locales. Text that already looks
 * guarded gets another apostrophe, so that `unguarded` can tell the two apart.
 */
function guarded(value: string): string {
  const within = replaceGuards(value, (apostrophes) => `'${apostrophes}`);
  return isFormula(value.slice(leadingApostrophes(value))) ? `'${within}` : within;
}

/** Removes the guard of a cell, returning the original value. */
export function unguarded(text: string): string {
  if (!text.includes("'")) return text;
  const value = replaceGuards(text, (apostrophes) => apostrophes.slice(1));
  const count = leadingApostrophes(value);
  return count > 0 && isFormula(value.slice(count)) ? value.slice(1) : value;
}

/** Whether a spreadsheet may interpret a string with this beginning. */
function isFormula(text: string): boolean {
  return /^[\t\r\n]/.test(text) || FORMULA.test(text.charAt(/^[\s\p{Cc}\p{Cf}]*/u.exec(text)?.[0].length ?? 0));
}

/** Replaces the apostrophes, if any, between a separator with its spaces and a formula after it. */
function replaceGuards(text: string, replace: (apostrophes: string) => string): string {
  let result = "";
  let done = 0;
  // Scans each run of spaces once, regardless of its length.
  for (const { 0: run, index } of text.matchAll(/[;\t\r\n][\s\p{Cc}\p{Cf}]*/gu)) {
    const start = index + run.length;
    let end = start;
    while (text.charAt(end) === "'") end += 1;
    if (!FORMULA.test(text.charAt(end))) continue;
    result += text.slice(done, start) + replace(text.slice(start, end));
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

function leadingApostrophes(text: string): number {
  let count = 0;
  while (text.charAt(count) === "'") count += 1;
  return count;
}

/** First characters of a formula, including the fullwidth forms of East Asian keyboards. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;

function quoted(value: string): string {
  return /[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
