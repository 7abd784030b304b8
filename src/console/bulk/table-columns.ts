// Mapping of file columns to API columns. Pure.

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Column with names instead of ids: `tag_names` for `tags`; null without one. */
function namesOf(column: string, known: readonly string[]): string | null {
  const names = column.endsWith("_id") ? column.replace(/_id$/, "_name") : `${column.replace(/s$/, "")}_names`;
  return known.includes(names) ? names : null;
}

/**
 * API column of each header; null without a match. API names take precedence over display titles: `Host name` is
 * `hostname`. An id column whose cells are not ids maps to the name column, common in hand-made tables.
 * @param known columns of the kind's export
 * @param titleOf display title of a column
 * @param cellsOf cells below the header at a position; defaults to ids
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
    // Where a name and an id column exist, a title such as `Network` means the name.
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

/** Column assigned to two headers; null without one. */
export function columnTwice(columns: readonly (string | null)[]): string | null {
  return columns.find((column, at) => column !== null && columns.indexOf(column) !== at) ?? null;
}
