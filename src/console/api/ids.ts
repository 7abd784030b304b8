// How many records a list takes by `ids`, and ids in groups of so many.

/** As many as a list takes by `ids`. */
export const IDS_MAX = 300;

/** In the order given; none for none. */
export function idGroups(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, group) =>
    ids.slice(group * IDS_MAX, (group + 1) * IDS_MAX),
  );
}
