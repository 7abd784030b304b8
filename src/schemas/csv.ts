// Tables as text (RFC 4180, with CRLF and a header row), safe to open in a spreadsheet. Knows no resource.

import type { TObject } from "@sinclair/typebox";
import { ownValue } from "../base/fields.ts";

/** The media type of an export; the table has a header row. */
export const CSV_TYPE = "text/csv; charset=utf-8; header=present";

/** A column: its name, and the cell that it has of a record. */
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

/** Columns of all that a record's schema has. */
export function schemaColumns(schema: TObject): CsvColumn[] {
  return fieldColumns(Object.keys(schema.properties));
}

/** Columns of a record's own fields, under their own names. */
export function fieldColumns(fields: readonly string[]): CsvColumn[] {
  return fields.map((name) => ({ name, cell: (record) => ownValue(record, name) }));
}

function row(cells: readonly unknown[]): string {
  return `${cells.map((cell) => quoted(cellText(cell))).join(",")}\r\n`;
}

/**
 * What a cell says of a value, before it is quoted: nothing for null; lists of plain values joined by semicolons; JSON
 * for what has parts of its own, a type alone as it is.
 */
export function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "string") return guarded(cell);
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell);
  if (Array.isArray(cell) && cell.every((each) => typeof each === "string" || typeof each === "number"))
    return guarded(cell.join(";"));
  return onlyType(cell) ?? guarded(JSON.stringify(cell));
}

/** What a cell has of a list of free texts: JSON where its items, joined, could be taken for others. */
export function listCell(items: readonly string[]): readonly string[] | string {
  const isPlain = items.every((item) => item.trim() === item && item !== "" && !item.includes(";"));
  return isPlain && items[0]?.startsWith("[") !== true ? items : JSON.stringify(items);
}

/** Of an object that says its type and nothing else: a source. */
function onlyType(cell: object): string | null {
  const [entry, ...others] = Object.entries(cell);
  return entry?.[0] === "type" && typeof entry[1] === "string" && others.length === 0 ? guarded(entry[1]) : null;
}

/**
 * What a spreadsheet would run as a formula is shown as text: an apostrophe stands before it. Blanks and characters that
 * nobody sees do not hide a formula, nor does a semicolon, which parts cells where a spreadsheet speaks other languages.
 * What looks guarded already gets another apostrophe, so that `unguarded` knows each from the other.
 */
function guarded(value: string): string {
  const within = atRuns(value, (apostrophes) => `'${apostrophes}`);
  return wouldRun(value.slice(leadingApostrophes(value))) ? `'${within}` : within;
}

/** The value that a cell was written of: the guard taken off again. */
export function unguarded(text: string): string {
  if (!text.includes("'")) return text;
  const value = atRuns(text, (apostrophes) => apostrophes.slice(1));
  const count = leadingApostrophes(value);
  return count > 0 && wouldRun(value.slice(count)) ? value.slice(1) : value;
}

/** Whether a spreadsheet may take a text that begins so for something other than text. */
function wouldRun(text: string): boolean {
  return /^[\t\r\n]/.test(text) || FORMULA.test(text.charAt(/^[\s\p{Cc}\p{Cf}]*/u.exec(text)?.[0].length ?? 0));
}

/** Replaces the apostrophes, none or some, between a separator with its blanks and what would be run after it. */
function atRuns(text: string, replace: (apostrophes: string) => string): string {
  let result = "";
  let done = 0;
  // Each run of blanks is gone through once, however long it is.
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

/** What a formula begins with, in the wide forms of East Asian keyboards as well. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/;

function quoted(value: string): string {
  return /[",\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
