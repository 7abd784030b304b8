// References between records and their handling on removal: refuse, cascade, or clear. Each kind declares its own
// references. The only module that follows foreign keys backwards.

import { countedEntities, entityWord } from "../base/entity-words.ts";
import { DomainError } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import type { AnyKind, RecordBase, Reference } from "../db/kind.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/** A reference of a record with the referenced ids. */
export interface ReferenceHeld extends Reference {
  readonly ids: readonly string[];
}

/** A record that references another, and the effect of removing the other. */
export interface Referrer {
  readonly kind: AnyKind;
  readonly record: RecordBase;
  /** Whether a state of the record still has the reference. */
  readonly refers: (state: RecordBase) => boolean;
  /** The changed fields of such a state without the reference; null if the record cannot exist without it. */
  readonly without: (state: RecordBase) => object | null;
}

/** A reference and its referencing kind. */
type IncomingReference = readonly [from: AnyKind, reference: Reference];

/** Removes an id from a list of ids. */
export function withoutListItem<Field extends string>(field: Field) {
  return (record: Readonly<Record<Field, readonly string[]>>, id: string) =>
    ({ [field]: record[field].filter((each) => each !== id) }) as Record<Field, string[]>;
}

/** Removes a record with its dependents, and clears the references to it in the remaining records. */
export function removeCascading(tx: WriteTransaction, kind: AnyKind, id: string): void {
  for (const incoming of referencesTo(tx, kind)) {
    const [from, { without }] = incoming;
    for (const record of findReferring(tx, incoming, id)) {
      const changes = without?.(record, id) ?? null;
      if (changes === null) removeCascading(tx, from, record.id);
      else tx.update(from, record.id, changes);
    }
  }
  tx.remove(kind, id);
}

/** Outgoing references of a record. */
export function referencesOf(kind: AnyKind, record: RecordBase): ReferenceHeld[] {
  return (kind.references ?? []).flatMap((reference) => {
    const ids = idsIn(kind, reference, record);
    return ids.length === 0 ? [] : [{ ...reference, ids }];
  });
}

/** Live records that reference a record, including changes made in this transaction. */
export function referrersOf(tx: WriteTransaction, kind: AnyKind, id: string): Referrer[] {
  return referencesTo(tx, kind).flatMap((incoming) => {
    const [from, reference] = incoming;
    return findReferring(tx, incoming, id).map((record) => ({
      kind: from,
      record,
      refers: (state: RecordBase) => idsIn(from, reference, state).includes(id),
      without: (state: RecordBase) => reference.without?.(state, id) ?? null,
    }));
  });
}

/** @throws DomainError entity_in_use with the dependents counted by kind */
export function assertNotInUse(tx: WriteTransaction, kind: AnyKind, id: string): void {
  // A record with several references to another counts as one dependent.
  const found = new Map<AnyKind, Set<string>>();
  let isRemoved = false;
  for (const incoming of referencesTo(tx, kind)) {
    const [from, { refuses, without }] = incoming;
    if (refuses !== true) continue;
    const ids = found.get(from) ?? new Set();
    for (const record of findReferring(tx, incoming, id)) ids.add(record.id);
    if (ids.size === 0) continue;
    found.set(from, ids);
    if (without === undefined) isRemoved = true;
  }
  if (found.size === 0) return;
  const usage = [...found].map(([from, ids]) => countedEntities(from, ids.size)).join(", ");
  const remedy = isRemoved
    ? "remove them first, or repeat with cascade=true to remove them too"
    : `remove the ${entityWord(kind)} from these first, or repeat with cascade=true to do that and keep them`;
  throw new DomainError("entity_in_use", `The ${entityWord(kind)} is in use by ${usage}; ${remedy}.`, {
    entity: kind.name,
    id,
    dependants: Object.fromEntries([...found].map(([from, ids]) => [from.plural, ids.size])),
  });
}

/** Cascading references first: records about to be removed need no update. */
function referencesTo(tx: WriteTransaction, { name }: AnyKind): IncomingReference[] {
  const found = tx.kinds.flatMap((from) =>
    (from.references ?? []).filter(({ to }) => to === name).map((reference): IncomingReference => [from, reference]),
  );
  const isCleared = ([, { without }]: IncomingReference) => without !== undefined;
  return [...found.filter((each) => !isCleared(each)), ...found.filter(isCleared)];
}

/** Ids that a record references. */
function idsIn(from: AnyKind, { field, matchesTarget }: Reference, record: RecordBase): readonly string[] {
  if (matchesTarget?.(record) === false) return [];
  if (!isColumn(field)) return from.links?.(record).find(({ relation }) => relation === field)?.ids ?? [];
  const id = ownValue(record, field);
  return typeof id === "string" ? [id] : [];
}

function isColumn(field: string): boolean {
  return field.endsWith("_id");
}

/** Live records that reference `id`, including changes made in this transaction. */
function findReferring(tx: WriteTransaction, [from, reference]: IncomingReference, id: string): RecordBase[] {
  const { field } = reference;
  const candidates: RecordBase[] = isColumn(field)
    ? tx.children(from, field.replace(/_id$/, "_n"), id)
    : tx
        .referringTo(field, id)
        .filter((each) => each.kind === from.code)
        .flatMap((each) => tx.find(from, each.id) ?? []);
  return candidates.filter((record) => idsIn(from, reference, record).includes(id));
}
