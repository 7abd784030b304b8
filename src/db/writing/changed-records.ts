// Index of the records that a transaction created or changed, by parent, reference and identity, since the live tables
// are only updated at its end. A returned entry may have changed again.

import { ownValue } from "../../base/fields.ts";
import { append } from "../../base/multimap.ts";
import { type AnyKind, liveIdentity, ownColumns, type RecordBase } from "../kind.ts";
import type { Entry } from "./entry.ts";

export class ChangedRecords {
  private readonly byKind = new Map<number, Entry[]>();
  private readonly byIdentity = new Map<string, Entry>();
  private readonly byParent = new Map<string, { entries: Map<unknown, Set<Entry>>; indexed: number }>();
  private readonly withLinks: Entry[] = [];
  private readonly byLink = new Map<string, Set<Entry>>();
  private linksIndexed = 0;

  /** Call after each change of a live entry. */
  add(entry: Entry): void {
    append(this.byKind, entry.kind.code, entry);
    if (entry.kind.links !== undefined) this.withLinks.push(entry);
    const identity = liveIdentity(entry.kind, entry.after as RecordBase);
    if (identity !== null) this.byIdentity.set(`${entry.kind.code}/${identity}`, entry);
  }

  /** Drops a kind. Only for kinds without references to others. */
  forget(kind: AnyKind): void {
    for (const { after } of this.byKind.get(kind.code) ?? []) {
      const identity = after === null ? null : liveIdentity(kind, after);
      if (identity !== null) this.byIdentity.delete(`${kind.code}/${identity}`);
    }
    this.byKind.delete(kind.code);
    for (const name of [...this.byParent.keys()]) if (name.startsWith(`${kind.code}.`)) this.byParent.delete(name);
  }

  /** The last entry to take this identity. */
  withIdentity(kind: AnyKind, identity: string): Entry | null {
    return this.byIdentity.get(`${kind.code}/${identity}`) ?? null;
  }

  /** Entries that had `parentId` in a live column after any of their changes, in that order. */
  withParent(kind: AnyKind, column: string, parentId: string): Entry[] {
    const changed = this.byKind.get(kind.code) ?? [];
    const name = `${kind.code}.${column}`;
    const index = this.byParent.get(name) ?? { entries: new Map<unknown, Set<Entry>>(), indexed: 0 };
    this.byParent.set(name, index);
    // Indexes each entry once per column: a bulk operation looks up every host.
    for (; index.indexed < changed.length; index.indexed += 1) {
      const entry = changed[index.indexed] as Entry;
      if (entry.after === null) continue;
      const parent = referencedId(kind, column, entry.after);
      const entries = index.entries.get(parent);
      if (entries === undefined) index.entries.set(parent, new Set([entry]));
      else entries.add(entry);
    }
    return [...(index.entries.get(parentId) ?? [])];
  }

  /** Entries that had `targetId` in the id list `relation` after any of their changes, in that order. */
  withLink(relation: string, targetId: string): Entry[] {
    for (; this.linksIndexed < this.withLinks.length; this.linksIndexed += 1) {
      const entry = this.withLinks[this.linksIndexed] as Entry;
      if (entry.after === null) continue;
      for (const link of entry.kind.links?.(entry.after) ?? []) {
        for (const id of link.ids) {
          const name = `${link.relation}/${id}`;
          const entries = this.byLink.get(name);
          if (entries === undefined) this.byLink.set(name, new Set([entry]));
          else entries.add(entry);
        }
      }
    }
    return [...(this.byLink.get(`${relation}/${targetId}`) ?? [])];
  }
}

/** The id whose record number a live column holds. */
export function referencedId(kind: AnyKind, column: string, record: RecordBase): unknown {
  const columns = ownColumns(kind, record, (id) => id);
  return ownValue(columns, column);
}
