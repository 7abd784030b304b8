// What a scan tells of a record, merged with what the record says: discovery's own values follow the network, a person's value stands and
// the scan's is kept beside it. Pure: who set a value is asked for.

/** Field → the scan's value, where a person's stands. */
export type Beside = Readonly<Record<string, unknown>>;

/**
 * The changes that bring a record to what was told of it.
 * @param record as it stands; optional fields without a value may be left out
 * @param told undefined: nothing was said, and nothing changes; null: it has none
 * @param none how the kind writes "none": null, or undefined for a field that is left out
 * @param isSetByPerson asked only for fields that differ
 * @returns fields to be set, undefined for one that is to be left out; empty where the record says all of it already
 */
export function mergeTold(
  record: object,
  told: Readonly<Record<string, unknown>>,
  none: null | undefined,
  isSetByPerson: (field: string) => boolean,
): Record<string, unknown> {
  const current = record as Readonly<Record<string, unknown>>;
  const kept = (record as { readonly discovered?: Beside }).discovered;
  const changes: Record<string, unknown> = {};
  let beside: Record<string, unknown> | null = null;
  const besideNow = (): Record<string, unknown> => (beside ??= { ...kept });
  for (const field in told) {
    const value = told[field];
    if (value === undefined) continue;
    const isKept = kept !== undefined && Object.hasOwn(kept, field);
    if (isEqual(current[field] ?? null, value)) {
      if (isKept) delete besideNow()[field];
    } else if (isSetByPerson(field)) {
      if (!isKept || !isEqual(kept?.[field], value)) besideNow()[field] = value;
    } else {
      changes[field] = value ?? none;
      if (isKept) delete besideNow()[field];
    }
  }
  if (beside !== null) changes["discovered"] = Object.keys(beside).length === 0 ? undefined : sorted(beside);
  return changes;
}

/** Most values are texts and numbers: those are compared without a walk. */
function isEqual(a: unknown, b: unknown): boolean {
  return (
    a === b || (typeof a === "object" && typeof b === "object" && a !== null && b !== null && Bun.deepEquals(a, b))
  );
}

/** In one order, whichever field came first. */
function sorted(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));
}
