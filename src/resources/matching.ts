// List item matching to stored records: by id, else by identity, else as new. Pure. The caller writes.

import type { Issue } from "../base/errors.ts";

export interface Matched<Item, Stored> {
  readonly item: Item;
  /** Index of the item in the list. */
  readonly position: number;
  /** Null for a record to create. */
  readonly stored: Stored | null;
}

export interface Matching<Item, Stored> {
  readonly matched: Array<Matched<Item, Stored>>;
  /** Stored records without an item: to be removed. */
  readonly unmatched: Stored[];
  readonly issues: Issue[];
}

/** Identifying fields and their values; equal for the same real-world object. */
export type IdentifyingFields = Readonly<Record<string, string | number | null>>;

/**
 * @param identifyingFieldsOf returns its fields always in the same order
 * @param pointer of the list: `/ports`
 */
export function match<Item extends { id?: string }, Stored extends { id: string }>(
  items: readonly Item[],
  stored: readonly Stored[],
  identifyingFieldsOf: (value: Item | Stored) => IdentifyingFields,
  pointer: string,
): Matching<Item, Stored> {
  const issues: Issue[] = [];
  // JSON separates the fields unambiguously.
  const identityOf = (value: Item | Stored) => JSON.stringify(identifyingFieldsOf(value));
  const byId = new Map(stored.map((record) => [record.id, record]));
  const byIdentity = new Map(stored.map((record) => [identityOf(record), record]));
  const claimed = new Set<string>();
  const ids = new Map<string, number>();
  const identities = new Map<string, number>();
  // Ids first: an item with a record's id takes that record, even if another item has the same identity.
  const matchedById = items.map((item, position) => {
    if (item.id === undefined) return null;
    const firstPosition = ids.get(item.id);
    if (firstPosition === undefined) ids.set(item.id, position);
    else
      issues.push({
        path: `${pointer}/${position}/id`,
        message: `is also the id of ${pointer}/${firstPosition}`,
        value: item.id,
      });
    const record = byId.get(item.id) ?? null;
    if (record !== null) claimed.add(record.id);
    return record;
  });
  const matched: Array<Matched<Item, Stored>> = [];
  for (const [position, item] of items.entries()) {
    const identity = identityOf(item);
    const firstPosition = identities.get(identity);
    if (firstPosition === undefined) identities.set(identity, position);
    else
      issues.push({
        path: `${pointer}/${position}`,
        message: `is the same as ${pointer}/${firstPosition}`,
        value: identifyingFieldsOf(item),
      });
    // Skips a duplicate id; the write is rejected, but only after all issues are found.
    if (item.id !== undefined && ids.get(item.id) !== position) continue;
    let record = matchedById[position] ?? null;
    const candidate = byIdentity.get(identity);
    if (record === null && candidate !== undefined && !claimed.has(candidate.id)) {
      record = candidate;
      claimed.add(candidate.id);
    }
    matched.push({ item, position, stored: record });
  }
  return { matched, unmatched: stored.filter((record) => !claimed.has(record.id)), issues };
}
