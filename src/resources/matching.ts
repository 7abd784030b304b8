// Which record each item of a list stands for: the one of its id, else the one of the same real thing, else a new one.
// Pure; what is then written is the caller's.

import type { Issue } from "../base/errors.ts";

export interface Matched<Item, Stored> {
  readonly item: Item;
  /** Where the item stands in the list. */
  readonly position: number;
  /** Null: to be created. */
  readonly stored: Stored | null;
}

export interface Matching<Item, Stored> {
  readonly matched: Array<Matched<Item, Stored>>;
  /** Stored records that no item stands for: to be removed. */
  readonly unmatched: Stored[];
  readonly issues: Issue[];
}

/** What two records of the same real thing share, by field. */
export type Likeness = Readonly<Record<string, string | number | null>>;

/**
 * @param likenessOf its fields always in the same order
 * @param pointer of the list: `/ports`
 */
export function match<Item extends { id?: string }, Stored extends { id: string }>(
  items: readonly Item[],
  stored: readonly Stored[],
  likenessOf: (thing: Item | Stored) => Likeness,
  pointer: string,
): Matching<Item, Stored> {
  const issues: Issue[] = [];
  // As JSON: a character in one field must not make two things one.
  const identityOf = (thing: Item | Stored) => JSON.stringify(likenessOf(thing));
  const byId = new Map(stored.map((record) => [record.id, record]));
  const byIdentity = new Map(stored.map((record) => [identityOf(record), record]));
  const claimed = new Set<string>();
  const ids = new Map<string, number>();
  const identities = new Map<string, number>();
  // Ids first: an item that names a record takes it, whatever other items look like.
  const named = items.map((item, position) => {
    if (item.id === undefined) return null;
    const other = ids.get(item.id);
    if (other === undefined) ids.set(item.id, position);
    else
      issues.push({
        path: `${pointer}/${position}/id`,
        message: `is also the id of ${pointer}/${other}`,
        value: item.id,
      });
    const record = byId.get(item.id) ?? null;
    if (record !== null) claimed.add(record.id);
    return record;
  });
  const matched: Array<Matched<Item, Stored>> = [];
  for (const [position, item] of items.entries()) {
    const identity = identityOf(item);
    const twin = identities.get(identity);
    if (twin === undefined) identities.set(identity, position);
    else
      issues.push({
        path: `${pointer}/${position}`,
        message: `is the same as ${pointer}/${twin}`,
        value: likenessOf(item),
      });
    // One id makes one record; the write is refused for the other, but not before all issues are found.
    if (item.id !== undefined && ids.get(item.id) !== position) continue;
    let record = named[position] ?? null;
    const alike = byIdentity.get(identity);
    if (record === null && alike !== undefined && !claimed.has(alike.id)) {
      record = alike;
      claimed.add(alike.id);
    }
    matched.push({ item, position, stored: record });
  }
  return { matched, unmatched: stored.filter((record) => !claimed.has(record.id)), issues };
}
