// What refers to what, and what a removal does about it: refuse, take along, or clear the reference. Each kind says what
// its own records refer to. The one place that looks against the direction of the foreign keys.

import { countedEntities, entityWord } from "../base/entity-words.ts";
import { DomainError } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import type { AnyKind, RecordBase, Reference } from "../db/kind.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";

/** A reference that a record has. */
export interface ReferenceHeld extends Reference {
  readonly ids: readonly string[];
}

/** A record that refers to another, and what a removal of the other would make of it. */
export interface Referrer {
  readonly kind: AnyKind;
  readonly record: RecordBase;
  /** Whether a state of the record still refers to the other. */
  readonly refers: (state: RecordBase) => boolean;
  /** The changed fields of such a state without the reference; null where it can't be without. */
  readonly without: (state: RecordBase) => object | null;
}

/** A reference and the kind whose records have it. */
type OfKind = readonly [from: AnyKind, reference: Reference];

/** Takes an id off a list of ids. */
export function offList<Field extends string>(field: Field) {
  return (record: Readonly<Record<Field, readonly string[]>>, id: string) =>
    ({ [field]: record[field].filter((each) => each !== id) }) as Record<Field, string[]>;
}

/** Removes a record with what it owns, and takes the references to it off what stays. */
export function removeWithItsOwn(tx: WriteTransaction, kind: AnyKind, id: string): void {
  for (const of of referencesTo(tx, kind)) {
    const [from, { without }] = of;
    for (const record of referring(tx, of, id)) {
      const changes = without?.(record, id) ?? null;
      if (changes === null) removeWithItsOwn(tx, from, record.id);
      else tx.update(from, record.id, changes);
    }
  }
  tx.remove(kind, id);
}

/** What a record refers to, as far as a removal of it would have to do something about the record. */
export function referencesOf(kind: AnyKind, record: RecordBase): ReferenceHeld[] {
  return (kind.references ?? []).flatMap((reference) => {
    const ids = idsIn(kind, reference, record);
    return ids.length === 0 ? [] : [{ ...reference, ids }];
  });
}

/** The live records that refer to a record, as this transaction has changed them so far. */
export function referrersOf(tx: WriteTransaction, kind: AnyKind, id: string): Referrer[] {
  return referencesTo(tx, kind).flatMap((of) => {
    const [from, reference] = of;
    return referring(tx, of, id).map((record) => ({
      kind: from,
      record,
      refers: (state: RecordBase) => idsIn(from, reference, state).includes(id),
      without: (state: RecordBase) => reference.without?.(state, id) ?? null,
    }));
  });
}

/** @throws DomainError entity_in_use with the dependants counted by kind */
export function refuseInUse(tx: WriteTransaction, kind: AnyKind, id: string): void {
  // A record may refer to another in more ways than one, and is one dependant all the same.
  const found = new Map<AnyKind, Set<string>>();
  let isRemoved = false;
  for (const of of referencesTo(tx, kind)) {
    const [from, { refuses, without }] = of;
    if (refuses !== true) continue;
    const ids = found.get(from) ?? new Set();
    for (const record of referring(tx, of, id)) ids.add(record.id);
    if (ids.size === 0) continue;
    found.set(from, ids);
    if (without === undefined) isRemoved = true;
  }
  if (found.size === 0) return;
  const what = [...found].map(([from, ids]) => countedEntities(from, ids.size)).join(", ");
  const how = isRemoved
    ? "remove them first, or repeat with cascade=true to remove them too"
    : `remove the ${entityWord(kind)} from these first, or repeat with cascade=true to do that and keep them`;
  throw new DomainError("entity_in_use", `The ${entityWord(kind)} is in use by ${what}; ${how}.`, {
    entity: kind.name,
    id,
    dependants: Object.fromEntries([...found].map(([from, ids]) => [from.plural, ids.size])),
  });
}

/** Those that their records go along with first: what goes need not be changed. */
function referencesTo(tx: WriteTransaction, { name }: AnyKind): OfKind[] {
  const found = tx.kinds.flatMap((from) =>
    (from.references ?? []).filter(({ to }) => to === name).map((reference): OfKind => [from, reference]),
  );
  const isCleared = ([, { without }]: OfKind) => without !== undefined;
  return [...found.filter((each) => !isCleared(each)), ...found.filter(isCleared)];
}

/** What a record names by a reference. */
function idsIn(from: AnyKind, { field, isMeant }: Reference, record: RecordBase): readonly string[] {
  if (isMeant?.(record) === false) return [];
  if (!isColumn(field)) return from.links?.(record).find(({ relation }) => relation === field)?.ids ?? [];
  const id = ownValue(record, field);
  return typeof id === "string" ? [id] : [];
}

function isColumn(field: string): boolean {
  return field.endsWith("_id");
}

/** The live records that refer to `id`, as this transaction has changed them so far. */
function referring(tx: WriteTransaction, [from, reference]: OfKind, id: string): RecordBase[] {
  const { field } = reference;
  const candidates: RecordBase[] = isColumn(field)
    ? tx.children(from, field.replace(/_id$/, "_n"), id)
    : tx
        .referringTo(field, id)
        .filter((each) => each.kind === from.code)
        .flatMap((each) => tx.find(from, each.id) ?? []);
  return candidates.filter((record) => idsIn(from, reference, record).includes(id));
}
