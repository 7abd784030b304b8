// Strict RFC 4180 reader. Must not know the writer.

/** Rows of a table, header row first. @throws Error for malformed tables */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let place = 0;
  while (place < text.length) {
    let cell: string;
    if (text[place] === '"') {
      const end = /"(?!")/.exec(text.slice(place + 1).replaceAll('""', "  "))?.index;
      if (end === undefined) throw new Error(`a quoted cell does not end: ${text.slice(place, place + 50)}`);
      cell = text.slice(place + 1, place + 1 + end).replaceAll('""', '"');
      place += end + 2;
    } else {
      cell = /^[^,\r\n"]*/.exec(text.slice(place))?.[0] ?? "";
      place += cell.length;
    }
    row.push(cell);
    if (text[place] === ",") place += 1;
    else if (text.startsWith("\r\n", place)) {
      rows.push(row);
      row = [];
      place += 2;
      continue;
    } else
      throw new Error(
        `a cell is followed by neither a comma nor CRLF: ${JSON.stringify(text.slice(place, place + 50))}`,
      );
    // A comma is followed by another cell, possibly empty.
    if (place === text.length || text.startsWith("\r\n", place)) {
      row.push("");
      rows.push(row);
      row = [];
      place += 2;
    }
  }
  const widths = new Set(rows.map((each) => each.length));
  if (widths.size > 1) throw new Error(`rows of ${[...widths].join(", ")} cells`);
  return rows;
}

/** Table with a header row, as records of texts. */
export function csvRecords(text: string): Array<Record<string, string>> {
  const [header = [], ...rows] = parseCsv(text);
  return rows.map((cells) => Object.fromEntries(header.map((name, place) => [name, cells[place] as string])));
}
