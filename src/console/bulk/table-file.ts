// Parser for tables saved by spreadsheets. Pure; based on a CSV library.

import Papa from "papaparse";

/** Parsed table. */
export interface Table {
  readonly name: string;
  readonly headers: readonly string[];
  /** `line` is the row number in a spreadsheet, where the header is row 1. */
  readonly rows: readonly { readonly line: number; readonly cells: readonly string[] }[];
}

/** API limit for imported rows. */
export const TABLE_ROWS_MAX = 100_000;

/** Encoding label (WHATWG Encoding). */
export type Charset = ConstructorParameters<typeof TextDecoder>[0] & string;

/** Encodings used by Western spreadsheets instead of UTF-8. */
export const CHARSETS: readonly Charset[] = ["windows-1252", "iso-8859-15", "windows-1250", "windows-1251", "utf-16le"];

/** Decodes a file; null if it is not valid UTF-8. @param charset null for UTF-8 */
export function textOfFile(bytes: ArrayBuffer, charset: Charset | null): string | null {
  try {
    return new TextDecoder(charset ?? "utf-8", { fatal: charset === null }).decode(bytes);
  } catch {
    return null;
  }
}

/** Parses a table. @returns the table, or the number of the row that cannot be parsed */
export function readTable(name: string, text: string): Table | { readonly brokenLine: number } {
  const [declared, declaredDelimiter] = /^sep=(.)\r?\n/i.exec(text) ?? [""];
  const delimiter = declaredDelimiter ?? delimiterOf(text);
  const { data, errors } = Papa.parse<string[]>(text.slice(declared.length), { delimiter, header: false });
  const [broken] = errors.filter(({ type }) => type === "Quotes");
  const lines = data.map((cells, index) => ({ line: index + 1, cells }));
  if (broken !== undefined) return { brokenLine: (broken.row ?? 0) + 1 };
  const [head, ...rows] = lines;
  const headers = (head?.cells ?? []).map((cell) => cell.trim());
  while (headers.at(-1) === "") headers.pop();
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const long = filled.find(({ cells }) => cells.slice(headers.length).some((cell) => cell !== ""));
  if (long !== undefined) return { brokenLine: long.line };
  return {
    name,
    headers,
    rows: filled.map((row) => ({ ...row, cells: headers.map((_, index) => row.cells[index] ?? "") })),
  };
}

/** Delimiter in the header row; field names contain none of the four. */
function delimiterOf(text: string): string {
  const [head = ""] = text.split(/\r?\n/, 1);
  const countOf = (character: string) => head.replaceAll(/"[^"]*"/g, "").split(character).length;
  return [",", ";", "\t", "|"].reduce((best, character) => (countOf(character) > countOf(best) ? character : best));
}

/** CSV to send: mapped columns under their API names, and constant columns. */
export function csvToSend(
  { rows }: Table,
  columns: readonly (string | null)[],
  constants: Readonly<Record<string, string>>,
): string {
  const sentColumns = columns.flatMap((column, index) => (column === null ? [] : [{ column, index }]));
  const headers = [...sentColumns.map(({ column }) => column), ...Object.keys(constants)];
  const constantValues = Object.values(constants);
  const sentRows = rows.map(({ cells }) => [...sentColumns.map(({ index }) => cells[index] ?? ""), ...constantValues]);
  return Papa.unparse([headers, ...sentRows], { newline: "\r\n" });
}
