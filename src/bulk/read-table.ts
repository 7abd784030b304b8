// CSV table parser: encoding, delimiter, header and rows. Reports all problems at once. Runs on the thread that
// validates bodies; independent of records.

import Papa from "papaparse";
import { oneEntity } from "../base/entity-words.ts";
import type { Issue } from "../base/errors.ts";
import { nearestName } from "../base/nearest-name.ts";
import { sharedBytes } from "../base/shared-bytes.ts";
import type { RecordWrites } from "../resources/record-writes.ts";
import { TABLE_ROWS_MAX } from "../schemas/schemas.ts";
import type { CheckResult } from "../schemas/validation.ts";
import { columnRoles, mayHaveColumn } from "./table-columns.ts";

/** Maximum additional empty rows. */
const EMPTY_ROWS_MAX = 10_000;
/** Maximum cells per table: full rows of the kind with the most columns. 64 MiB of commas would be as many cells. */
const TABLE_CELLS_MAX = 8_000_000;
/** Maximum characters per cell: more than any field accepts. */
const CELL_MAX_LENGTH = 2 * 1024 * 1024;
/** Maximum issues reported per table. */
export const TABLE_ISSUES_MAX = 1_000;

/** A table in the writer's input form: only the columns that an import reads. */
export interface Table {
  readonly columns: readonly string[];
  /** Row number, as in a spreadsheet, followed by the cells. */
  readonly rows: ReadonlyArray<readonly [row: number, ...cells: string[]]>;
  /** Exported columns that are not imported. */
  readonly ignored: readonly string[];
}

/** @param charset of the request's Content-Type; null means UTF-8, or the byte order mark's */
export function readCsvTable(importable: RecordWrites, bytes: Uint8Array, charset: string | null): CheckResult {
  const text = decode(bytes, charset);
  if (typeof text !== "string") return { ok: false, issues: [text] };
  if (maxCells(text) > TABLE_CELLS_MAX)
    return { ok: false, issues: [{ path: "", message: `has more than ${TABLE_CELLS_MAX} cells; send it in parts` }] };
  const known = columnRoles(importable);
  const { rows, issues } = parseRows(text, new Set(known.keys()));
  const [header, ...body] = rows;
  if (header === undefined || header.every((cell) => cell.trim() === ""))
    return { ok: false, issues: [{ path: "", message: "must begin with a row that names its columns" }] };
  const names = header.map((name) => name.trim());
  const columnIndexes = headerIndexes(importable, names, body, issues);
  const numbered = body.flatMap((cells, index) =>
    cells.every((cell) => cell === "") ? [] : [{ row: index + 2, cells }],
  );
  if (numbered.length > TABLE_ROWS_MAX)
    issues.push({
      path: "",
      message: `has ${numbered.length} rows; at most ${TABLE_ROWS_MAX} can be imported at once`,
    });
  for (const { row, cells } of numbered) {
    if (issues.length >= TABLE_ISSUES_MAX) break;
    const longCell = cells.findIndex((cell) => cell.length > CELL_MAX_LENGTH);
    if (longCell >= 0) {
      const column = names[longCell] ?? String(longCell + 1);
      issues.push({ path: `/${row}/${column}`, message: `has more than ${CELL_MAX_LENGTH} characters`, row, column });
    }
    if (cells.length > names.length && cells.slice(names.length).some((cell) => cell !== ""))
      issues.push({
        path: `/${row}`,
        message: `has ${cells.length} cells, but the header has ${names.length}: a delimiter or a quote may be missing`,
        row,
      });
  }
  if (issues.length > 0) return { ok: false, issues: issues.slice(0, TABLE_ISSUES_MAX) };
  const imported = columnIndexes.filter((index) => known.get(names[index] as string)?.type !== "Shown");
  const table: Table = {
    columns: imported.map((index) => names[index] as string),
    // Spreadsheets omit empty cells at the end of a row.
    rows: numbered.map(({ row, cells }) => [row, ...imported.map((index) => cells[index] ?? "")]),
    ignored: columnIndexes.flatMap((index) => (imported.includes(index) ? [] : (names[index] as string))),
  };
  return { ok: true, value: sharedBytes(JSON.stringify(table)) };
}

function decode(bytes: Uint8Array, charset: string | null): string | Issue {
  const label = charset ?? (bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8");
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(label as "utf-8", { fatal: true });
  } catch {
    return { path: "/Content-Type", message: "names an unknown charset", value: label.slice(0, 100) };
  }
  try {
    return decoder.decode(bytes);
  } catch {
    return {
      path: "",
      message: `is not ${label.toUpperCase()}; specify its encoding in Content-Type, such as text/csv; charset=windows-1252`,
    };
  }
}

/** Spreadsheet delimiters; the one that yields the most known columns in the header is used. */
const DELIMITERS = [",", ";", "\t"];

function parseRows(text: string, known: ReadonlySet<string>): { rows: string[][]; issues: Issue[] } {
  // A spreadsheet's delimiter declaration.
  const note = /^sep=(.)\r?\n/i.exec(text);
  const content = note === null ? text : text.slice(note[0].length);
  const delimiter = note?.[1] ?? bestDelimiter(content, known);
  if (hasManyStrayQuotes(content, delimiter))
    return { rows: [["quotes"]], issues: [{ path: "", message: "has too many undoubled quotes" }] };
  const preview = 1 + TABLE_ROWS_MAX + EMPTY_ROWS_MAX;
  const { data, errors, meta } = Papa.parse<string[]>(content, { delimiter, preview, skipEmptyLines: false });
  const issues = errors.flatMap(({ type, row = 0 }): Issue[] =>
    type === "Quotes"
      ? [{ path: `/${row + 1}`, message: "has an unclosed or undoubled quotation mark", row: row + 1 }]
      : [],
  );
  if (meta.truncated)
    issues.push({
      path: "",
      message: `has more than ${preview} rows; at most ${TABLE_ROWS_MAX} can be imported at once`,
    });
  return { rows: data, issues: issues.slice(0, TABLE_ISSUES_MAX) };
}

/** Upper bound of cells: counts all possible delimiters, even within quotes. */
function maxCells(text: string): number {
  let count = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === SEMICOLON || code === TAB || code === LINE_FEED || code === CARRIAGE_RETURN)
      count += 1;
  }
  return count;
}

const [COMMA, SEMICOLON, TAB, LINE_FEED, CARRIAGE_RETURN] = [0x2c, 0x3b, 0x09, 0x0a, 0x0d];

/** Whether there are more stray quotes than reported issues: the parser would record each of them. */
function hasManyStrayQuotes(text: string, delimiter: string): boolean {
  const ends = new Set([delimiter, "\r", "\n", ""]);
  let stray = 0;
  for (let index = 0; index < text.length; index += 1) {
    // Start of a cell.
    let isOpen = text[index] === '"';
    if (isOpen) index += 1;
    while (isOpen) {
      const quote = text.indexOf('"', index);
      if (quote < 0) return false;
      index = quote + 1;
      if (text[index] === '"') {
        index += 1;
        continue;
      }
      while (text[index] === " ") index += 1;
      isOpen = !ends.has(text.charAt(index));
      if (isOpen) stray += 1;
      if (stray > TABLE_ISSUES_MAX) return true;
    }
    while (!ends.has(text.charAt(index))) index += 1;
  }
  return false;
}

function bestDelimiter(text: string, known: ReadonlySet<string>): string {
  const counts = DELIMITERS.map((delimiter) => {
    const header = Papa.parse<string[]>(text, { delimiter, preview: 1 }).data[0] ?? [];
    return { delimiter, named: header.filter((name) => known.has(name.trim())).length };
  });
  return counts.reduce((best, each) => (each.named > best.named ? each : best)).delimiter;
}

/** Positions of named columns; adds problems with names to `issues`. */
function headerIndexes(
  importable: RecordWrites,
  names: readonly string[],
  body: readonly string[][],
  issues: Issue[],
): number[] {
  const known = columnRoles(importable);
  const first = new Map<string, number>();
  return names.flatMap((name, index) => {
    if (issues.length >= TABLE_ISSUES_MAX) return [];
    const note = (message: string) => {
      issues.push({ path: `/1/${name === "" ? index + 1 : name}`, message, row: 1, column: name.slice(0, 200) });
    };
    if (name === "") {
      if (body.some((cells) => (cells[index] ?? "") !== ""))
        note(`is column ${index + 1}, which has cells but no name`);
      return [];
    }
    if (!mayHaveColumn(importable, name)) {
      const nearest = nearestName(name, [...known.keys()]);
      note(
        `is not a column of ${oneEntity(importable.resource.kind)}${nearest === null ? "" : `; did you mean ${nearest}?`}`,
      );
      return [];
    }
    if (first.has(name)) note("appears twice");
    first.set(name, index);
    return [index];
  });
}
