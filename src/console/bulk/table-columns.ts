// Which column of a file is which of the API. Plain functions.

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** What has the names where another column has ids: `tag_names` of `tags`; null where none does. */
function namesOf(column: string, known: readonly string[]): string | null {
  const names = column.endsWith("_id") ? column.replace(/_id$/, "_name") : `${column.replace(/s$/, "")}_names`;
  return known.includes(names) ? names : null;
}

/**
 * For each header the column that it means; null for none. By the name of the API first, then by what people call it:
 * `Host name` is `hostname`. Where it means ids and its cells are none, it means the names: people's tables have those.
 * @param known the columns of the kind's export
 * @param titleOf what people call one
 * @param cellsOf what stands below the header of a position; ids where it is left out
 */
export function matchColumns(
  headers: readonly string[],
  known: readonly string[],
  titleOf: (column: string) => string,
  cellsOf: (position: number) => readonly string[] = () => [],
): (string | null)[] {
  const meant = meantColumns(headers, known, titleOf);
  return meant.map((column, position) => {
    const names = column === null ? null : namesOf(column, known);
    if (names === null || meant.includes(names)) return column;
    const parts = cellsOf(position).flatMap((cell) => cell.split(";"));
    return parts.some((part) => part.trim() !== "" && !ID.test(part.trim())) ? names : column;
  });
}

function meantColumns(
  headers: readonly string[],
  known: readonly string[],
  titleOf: (column: string) => string,
): (string | null)[] {
  const byName = new Map(known.map((column) => [column, column]));
  const byTitle = new Map<string, string>();
  for (const column of known) {
    for (const word of [column, titleOf(column)]) if (!byTitle.has(plain(word))) byTitle.set(plain(word), column);
    // Names stand beside ids: `Network` of a person's table is a name.
    if (column.endsWith("_name") && known.includes(column.replace(/_name$/, "_id")))
      byTitle.set(plain(titleOf(column.replace(/_name$/, "_id"))), column);
  }
  const taken = new Set(headers.filter((header) => byName.has(header)));
  return headers.map((header) => {
    const exact = byName.get(header);
    if (exact !== undefined) return exact;
    const meant = byTitle.get(plain(header));
    if (meant === undefined || taken.has(meant)) return null;
    taken.add(meant);
    return meant;
  });
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** A column that two headers were said to be; null where there is none. */
export function columnTwice(columns: readonly (string | null)[]): string | null {
  return columns.find((column, at) => column !== null && columns.indexOf(column) !== at) ?? null;
}
