// Mapping of file columns to API columns. Pure.

const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Column with names instead of ids: `tag_names` for `tags`; null if there is none. */
function namesOf(column: string, known: readonly string[]): string | null {
  const names = column.endsWith("_id") ? column.replace(/_id$/, "_name") : `${column.replace(/s$/, "")}_names`;
  return known.includes(names) ? names : null;
}

/**
 * API column for each header; null without a match. API names take precedence over display titles: `Host name` is
 * `hostname`. An id column whose cells are not ids, as is common in manually created tables, maps to the name column.
 * @param known columns of the kind's export
 * @param titleOf display title of a column
 * @param cellsOf cells of a column by its index; by default, none
 */
export function matchColumns(
  headers: readonly string[],
  known: readonly string[],
  titleOf: (column: string) => string,
  cellsOf: (index: number) => readonly string[] = () => [],
): (string | null)[] {
  const matched = columnsByHeader(headers, known, titleOf);
  return matched.map((column, index) => {
    const names = column === null ? null : namesOf(column, known);
    if (names === null || matched.includes(names)) return column;
    const parts = cellsOf(index).flatMap((cell) => cell.split(";"));
    return parts.some((part) => part.trim() !== "" && !ID.test(part.trim())) ? names : column;
  });
}

function columnsByHeader(
  headers: readonly string[],
  known: readonly string[],
  titleOf: (column: string) => string,
): (string | null)[] {
  const byName = new Map(known.map((column) => [column, column]));
  const byTitle = new Map<string, string>();
  for (const column of known) {
    for (const word of [column, titleOf(column)])
      if (!byTitle.has(normalized(word))) byTitle.set(normalized(word), column);
    // If both a name and an id column exist, a title such as `Network` means the name.
    if (column.endsWith("_name") && known.includes(column.replace(/_name$/, "_id")))
      byTitle.set(normalized(titleOf(column.replace(/_name$/, "_id"))), column);
  }
  const usedColumns = new Set(headers.filter((header) => byName.has(header)));
  return headers.map((header) => {
    const exact = byName.get(header);
    if (exact !== undefined) return exact;
    const matched = byTitle.get(normalized(header));
    if (matched === undefined || usedColumns.has(matched)) return null;
    usedColumns.add(matched);
    return matched;
  });
}

function normalized(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Column that is assigned to two headers; null if there is none. */
export function duplicateColumn(columns: readonly (string | null)[]): string | null {
  return columns.find((column, index) => column !== null && columns.indexOf(column) !== index) ?? null;
}
