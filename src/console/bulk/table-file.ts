// Parser for tables saved by spreadsheets. Pure; based on a CSV library.

import Papa from "papaparse";

/** Parsed table. */
export interface Table {
  readonly name: string;
  readonly headers: readonly string[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  /** Spreadsheet row number: the header is row 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Limit of the API. */
export const TABLE_ROWS_MAX = 100_000;

/** Encoding label (WHATWG Encoding). */
export type Charset = ConstructorParameters<typeof TextDecoder>[0] & string;

/** Encodings used by Western spreadsheets instead of UTF-8. */
export const CHARSETS: readonly Charset[] = ["windows-1252", "iso-8859-15", "windows-1250", "windows-1251", "utf-16le"];

/** Decoded text of a file; null if invalid in the encoding. @param charset null for UTF-8 */
export function textOfFile(bytes: ArrayBuffer, charset: Charset | null): string | null {
  try {
    return new TextDecoder(charset ?? "utf-8", { fatal: charset === null }).decode(bytes);
  } catch {
    return null;
  }
}

/** @returns the table, or the row that cannot be parsed */
export function readTable(name: string, text: string): Table | { readonly brokenLine: number } {
  const [declared, said] = /^sep=(.)\r?\n/i.exec(text) ?? [""];
  const delimiter = said ?? delimiterOf(text);
  const { data, errors } = Papa.parse<string[]>(text.slice(declared.length), { delimiter, header: false });
  const [broken] = errors.filter(({ type }) => type === "Quotes");
  const all = data.map((cells, index) => ({ line: index + 1, cells }));
  if (broken !== undefined) return { brokenLine: (broken.row ?? 0) + 1 };
  const [head, ...rows] = all;
  const headers = (head?.cells ?? []).map((cell) => cell.trim());
  while (headers.at(-1) === "") headers.pop();
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const long = filled.find(({ cells }) => cells.slice(headers.length).some((cell) => cell !== ""));
  if (long !== undefined) return { brokenLine: long.line };
  return { name, headers, rows: filled.map((row) => ({ ...row, cells: headers.map((_, at) => row.cells[at] ?? "") })) };
}

/** Delimiter of the header row; field names contain none of the four. */
function delimiterOf(text: string): string {
  const [head = ""] = text.split(/\r?\n/, 1);
  const countOf = (sign: string) => head.replaceAll(/"[^"]*"/g, "").split(sign).length;
  return [",", ";", "\t", "|"].reduce((best, sign) => (countOf(sign) > countOf(best) ? sign : best));
}

/** CSV to send: mapped columns under their API names, and constant columns. */
export function writtenTable(
  { rows }: Table,
  columns: readonly (string | null)[],
  constants: Readonly<Record<string, string>>,
): string {
  const sent = columns.flatMap((column, at) => (column === null ? [] : [{ column, at }]));
  const headers = [...sent.map(({ column }) => column), ...Object.keys(constants)];
  const same = Object.values(constants);
  return Papa.unparse([headers, ...rows.map(({ cells }) => [...sent.map(({ at }) => cells[at] ?? ""), ...same])], {
    newline: "\r\n",
  });
}
