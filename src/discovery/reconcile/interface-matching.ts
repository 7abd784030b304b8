// Matching of a device's interfaces to stored entries. Devices renumber interfaces on restart (RFC 2863 §3.1.5), so a
// unique name outweighs a number. Pure.

interface NumberedInterface {
  readonly if_index: number;
  readonly if_name?: string | null | undefined;
  readonly if_descr?: string | undefined;
}

/**
 * Matches each reported interface to at most one entry; an unmatched interface is new. In order: the entry with the
 * same number and name; the only entry with that name, if its number now denotes another interface or none; the entry
 * with the same number, renamed.
 */
export function matchInterfaces<Reported extends NumberedInterface, Stored extends NumberedInterface>(
  reported: readonly Reported[],
  stored: readonly Stored[],
): Map<Reported, Stored> {
  const matched = new Map<Reported, Stored>();
  const byIndex = new Map(stored.map((entry) => [entry.if_index, entry]));
  const unmatched: Reported[] = [];
  for (const each of reported) {
    const entry = byIndex.get(each.if_index);
    if (entry !== undefined && hasSameName(each, entry)) matched.set(each, entry);
    else unmatched.push(each);
  }
  if (unmatched.length === 0) return matched;

  const taken = new Set(matched.values());
  const reportedByName = uniqueByName(reported);
  const storedByName = uniqueByName(stored);
  const stillUnmatched: Reported[] = [];
  for (const each of unmatched) {
    const name = nameOf(each);
    const entry = name === null || reportedByName.get(name) !== each ? undefined : storedByName.get(name);
    if (entry !== undefined && !taken.has(entry)) {
      matched.set(each, entry);
      taken.add(entry);
    } else stillUnmatched.push(each);
  }
  for (const each of stillUnmatched) {
    const entry = byIndex.get(each.if_index);
    if (entry === undefined || taken.has(entry)) continue;
    matched.set(each, entry);
    taken.add(entry);
  }
  return matched;
}

export interface DeletedInterface {
  readonly if_index: number;
  /** Several names if several interfaces had the number in turn. */
  readonly names: ReadonlySet<string>;
  readonly descrs: ReadonlySet<string>;
}

/**
 * Finds the interfaces that a person deleted: same number and name, or the same unique name. The number alone counts
 * only if one side has no name.
 * @param some reported interfaces without an entry
 * @param all reported interfaces
 */
export function deletedInterfacesAmong<Reported extends NumberedInterface>(
  some: readonly Reported[],
  all: readonly Reported[],
  deleted: readonly DeletedInterface[],
): Set<Reported> {
  const found = new Set<Reported>();
  if (some.length === 0 || deleted.length === 0) return found;
  const byIndex = new Map(deleted.map((each) => [each.if_index, each]));
  const names = new Set(deleted.flatMap((each) => [...each.names]));
  const descrs = new Set(deleted.flatMap((each) => (each.names.size === 0 ? [...each.descrs] : [])));
  const uniqueReported = uniqueByName(all);
  for (const each of some) {
    const { if_name: name, if_descr: descr } = each;
    const numbered = byIndex.get(each.if_index);
    const isNameDeleted = hasText(name) ? names.has(name) : hasText(descr) && descrs.has(descr);
    if (
      (numbered !== undefined && matchesDeleted(each, numbered)) ||
      (isNameDeleted && uniqueReported.get(nameOf(each) as string) === each)
    )
      found.add(each);
  }
  return found;
}

function matchesDeleted(
  { if_name: name, if_descr: descr }: NumberedInterface,
  { names, descrs }: DeletedInterface,
): boolean {
  if (hasText(name) && names.size > 0) return names.has(name);
  return !hasText(descr) || descrs.size === 0 || descrs.has(descr);
}

/** True also if one side has no name. */
function hasSameName(some: NumberedInterface, other: NumberedInterface): boolean {
  const bothNamed = hasText(some.if_name) && hasText(other.if_name);
  if (bothNamed) return some.if_name === other.if_name;
  return !hasText(some.if_descr) || !hasText(other.if_descr) || some.if_descr === other.if_descr;
}

/** Keyed by name; unique names only. */
function uniqueByName<Numbered extends NumberedInterface>(all: readonly Numbered[]): Map<string, Numbered> {
  const byName = new Map<string, Numbered | null>();
  for (const each of all) {
    const name = nameOf(each);
    if (name !== null) byName.set(name, byName.has(name) ? null : each);
  }
  return new Map([...byName].filter((entry): entry is [string, Numbered] => entry[1] !== null));
}

function nameOf(each: NumberedInterface): string | null {
  if (hasText(each.if_name)) return each.if_name;
  return hasText(each.if_descr) ? each.if_descr : null;
}

function hasText(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text !== "";
}
