// Which record each item of a list stands for: the one of its id, else the one of the same real thing, else a new one.
// Pure; what is then written is the caller's.

import type { Issue } from "../../base/errors.ts";

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

/**
 * @param identityOf what two records of the same real thing share
 * @param pointer of the list: `/ports`
 */
export function match<Item extends { id?: string }, Stored extends { id: string }>(
  items: readonly Item[],
  stored: readonly Stored[],
  identityOf: (thing: Item | Stored) => string,
  pointer: string,
): Matching<Item, Stored> {
  const issues: Issue[] = [];
  const byId = new Map(stored.map((record) => [record.id, record]));
  const byIdentity = new Map(stored.map((record) => [identityOf(record), record]));
  const claimed = new Map<string, number>();
  const claim = (record: Stored, position: number): Stored | null => {
    const other = claimed.get(record.id);
    if (other === undefined) {
      claimed.set(record.id, position);
      return record;
    }
    issues.push({ path: `${pointer}/${position}`, message: `stands for the same record as ${pointer}/${other}` });
    return null;
  };
  // Ids first: an item that names a record takes it, whatever other items look like.
  const first = items.map((item, position) => {
    const record = item.id === undefined ? undefined : byId.get(item.id);
    return record === undefined ? null : claim(record, position);
  });
  const identities = new Map<string, number>();
  const matched = items.map((item, position) => {
    const identity = identityOf(item);
    const twin = identities.get(identity);
    if (twin !== undefined) issues.push({ path: `${pointer}/${position}`, message: `is the same as ${pointer}/${twin}` });
    else identities.set(identity, position);
    let record = first[position] ?? null;
    if (record === null && (item.id === undefined || !byId.has(item.id))) {
      const alike = byIdentity.get(identity);
      if (alike !== undefined && !claimed.has(alike.id)) record = claim(alike, position);
    }
    return { item, position, stored: record };
  });
  return { matched, unmatched: stored.filter((record) => !claimed.has(record.id)), issues };
}
