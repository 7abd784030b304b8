// Strict RFC 4180 reader. Independent of the writer.

/** Rows of a table, header row first. @throws Error for malformed tables */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let position = 0;
  while (position < text.length) {
    let cell: string;
    if (text[position] === '"') {
      const end = /"(?!")/.exec(text.slice(position + 1).replaceAll('""', "  "))?.index;
      if (end === undefined) throw new Error(`a quoted cell does not end: ${text.slice(position, position + 50)}`);
      cell = text.slice(position + 1, position + 1 + end).replaceAll('""', '"');
      position += end + 2;
    } else {
      cell = /^[^,\r\n"]*/.exec(text.slice(position))?.[0] ?? "";
      position += cell.length;
    }
    row.push(cell);
    if (text[position] === ",") position += 1;
    else if (text.startsWith("\r\n", position)) {
      rows.push(row);
      row = [];
      position += 2;
      continue;
    } else
      throw new Error(
        `a cell is followed by neither a comma nor CRLF: ${JSON.stringify(text.slice(position, position + 50))}`,
      );
    // A comma is followed by another cell, possibly empty.
    if (position === text.length || text.startsWith("\r\n", position)) {
      row.push("");
      rows.push(row);
      row = [];
      position += 2;
    }
  }
  const widths = new Set(rows.map((cells) => cells.length));
  if (widths.size > 1) throw new Error(`rows of ${[...widths].join(", ")} cells`);
  return rows;
}

/** Table with a header row, as records of strings. */
export function csvRecords(text: string): Array<Record<string, string>> {
  const [header = [], ...rows] = parseCsv(text);
  return rows.map((cells) => Object.fromEntries(header.map((name, position) => [name, cells[position] as string])));
}
