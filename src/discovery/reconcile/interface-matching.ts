// Matching of a device's interfaces to stored entries. Devices renumber interfaces on restart (RFC 2863 §3.1.5), so a
// unique name outweighs a number. Pure.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";

interface NumberedInterface {
  readonly if_index: number;
  readonly if_name?: string | null | undefined;
  readonly if_descr?: string | undefined;
  readonly admin_status?: AdminStatus | undefined;
  readonly oper_status?: OperStatus | undefined;
  /** Of an entry that a complete read lacked. */
  readonly stale_since?: string | null | undefined;
  /** Undefined for an entry that a user entered. */
  readonly first_discovery_id?: string | null | undefined;
}

/**
 * Matches each reported interface to at most one entry; an unmatched interface is new or a leftover. In order: the
 * entry with the same number and name; the current entry with that name, if its number now denotes another interface, a
 * leftover or none; the entry with the same number, renamed, unless it was discovered and is stale.
 * @param inLastRead narrows entries with one name to those in the device's last read
 */
export function matchInterfaces<Reported extends NumberedInterface, Stored extends NumberedInterface>(
  reported: readonly Reported[],
  stored: readonly Stored[],
  inLastRead: (sameName: readonly Stored[]) => readonly Stored[] = (sameName) => sameName,
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

  const taken = new Map([...matched].map(([each, entry]) => [entry, each]));
  const reportedByName = currentByName(reported);
  const storedByName = currentByName(stored, inLastRead);
  const stillUnmatched: Reported[] = [];
  for (const each of unmatched) {
    const name = nameOf(each);
    const entry = name === null || reportedByName.get(name) !== each ? undefined : storedByName.get(name);
    const holder = entry === undefined ? undefined : taken.get(entry);
    if (entry !== undefined && (holder === undefined || nameOf(holder) === name)) {
      if (holder !== undefined) matched.delete(holder);
      matched.set(each, entry);
      taken.set(entry, each);
    } else stillUnmatched.push(each);
  }
  for (const each of stillUnmatched) {
    const entry = byIndex.get(each.if_index);
    if (entry === undefined || taken.has(entry) || isGone(entry)) continue;
    matched.set(each, entry);
    taken.set(entry, each);
  }
  return matched;
}

/**
 * Finds rows of deleted interfaces that the agent still lists, as snmpd does for five minutes: they are unmatched, and
 * another row with the name is current and has an entry. Without such an entry, they may be two interfaces.
 */
export function leftoversAmong<Reported extends NumberedInterface>(
  reported: readonly Reported[],
  matched: ReadonlyMap<Reported, unknown>,
): Set<Reported> {
  const unmatched = reported.filter((each) => !matched.has(each));
  if (unmatched.length === 0) return new Set();
  const byName = currentByName(reported);
  return new Set(
    unmatched.filter((each) => {
      const current = byName.get(nameOf(each) ?? "");
      return current !== undefined && current !== each && matched.has(current);
    }),
  );
}

export interface DeletedInterface {
  readonly if_index: number;
  /** Several names if several interfaces used the number in turn. */
  readonly names: ReadonlySet<string>;
  readonly descrs: ReadonlySet<string>;
}

/**
 * Finds the interfaces that a user deleted: same number and name, or the same unique name. The number alone suffices
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
  const currentReported = currentByName(all);
  for (const each of some) {
    const { if_name: name, if_descr: descr } = each;
    const numbered = byIndex.get(each.if_index);
    const isNameDeleted = hasText(name) ? names.has(name) : hasText(descr) && descrs.has(descr);
    if (
      (numbered !== undefined && matchesDeleted(each, numbered)) ||
      (isNameDeleted && currentReported.get(nameOf(each) as string) === each)
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

/** True if the device no longer has it, so that its number may denote another interface. */
function isGone({ stale_since, first_discovery_id }: NumberedInterface): boolean {
  return (stale_since ?? null) !== null && (first_discovery_id ?? null) !== null;
}

/** True also if one side has no name. */
function hasSameName(some: NumberedInterface, other: NumberedInterface): boolean {
  const bothNamed = hasText(some.if_name) && hasText(other.if_name);
  if (bothNamed) return some.if_name === other.if_name;
  return !hasText(some.if_descr) || !hasText(other.if_descr) || some.if_descr === other.if_descr;
}

/**
 * Maps each name to its current interface: the only one with the name, else the only one that is up, else the only one
 * that is enabled. Others with the name are then leftovers of deleted interfaces. Omits ambiguous names.
 * @param narrow applied to interfaces with one name
 */
function currentByName<Numbered extends NumberedInterface>(
  all: readonly Numbered[],
  narrow: (sameName: readonly Numbered[]) => readonly Numbered[] = (sameName) => sameName,
): Map<string, Numbered> {
  const current = new Map<string, Numbered>();
  for (const [name, sameName] of Map.groupBy(all, nameOf)) {
    if (name === null) continue;
    const candidates = sameName.length === 1 ? sameName : narrow(sameName);
    const liveness = candidates.reduce((highest, each) => Math.max(highest, livenessOf(each)), 0);
    const [first, ...others] = candidates.filter((each) => livenessOf(each) === liveness);
    if (first !== undefined && others.length === 0) current.set(name, first);
  }
  return current;
}

function livenessOf({ admin_status, oper_status }: NumberedInterface): number {
  if (oper_status === undefined || !DOWN.has(oper_status)) return 2;
  return admin_status === "Down" ? 0 : 1;
}

const DOWN: ReadonlySet<OperStatus> = new Set(["Down", "NotPresent", "LowerLayerDown"] as const);

function nameOf(each: NumberedInterface): string | null {
  if (hasText(each.if_name)) return each.if_name;
  return hasText(each.if_descr) ? each.if_descr : null;
}

function hasText(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text !== "";
}
