// Which column of a file is which of the API. Plain functions.

/**
 * For each header the column that it means; null for none. By the name of the API first, then by what people call it:
 * `Host name` is `hostname`.
 * @param known the columns of the kind's export
 * @param titleOf what people call one
 */
export function matchColumns(
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
