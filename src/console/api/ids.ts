// Limit of the `ids` parameter, and grouping of ids by it.

/** Maximum number of ids that a list request accepts. */
export const IDS_MAX = 300;

/** Keeps the order; empty for no ids. */
export function idGroups(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, group) =>
    ids.slice(group * IDS_MAX, (group + 1) * IDS_MAX),
  );
}
