// Which interface of a device is which interface entry of the inventory. Devices renumber their interfaces when they start (RFC 2863 §3.1.5),
// so a name that is the only one of its kind says more than a number. Pure.

/** What an interface is known by, on either side. */
export interface NumberedInterface {
  readonly if_index: number;
  readonly if_name?: string | null | undefined;
  readonly if_descr?: string | undefined;
}

/**
 * The entry of each interface that was told; interfaces without one are new.
 *
 * An entry of the same number and name is it. Else the one entry of that name is it, whose own number now means another interface or none; else
 * the entry of the same number, which was given another name. No entry is two interfaces.
 */
export function matchInterfaces<Told extends NumberedInterface, Stored extends NumberedInterface>(told: readonly Told[], stored: readonly Stored[]): Map<Told, Stored> {
  const matched = new Map<Told, Stored>();
  const byIndex = new Map(stored.map((entry) => [entry.if_index, entry]));
  const open: Told[] = [];
  for (const each of told) {
    const entry = byIndex.get(each.if_index);
    if (entry !== undefined && isNamedAlike(each, entry)) matched.set(each, entry);
    else open.push(each);
  }
  if (open.length === 0) return matched;

  const taken = new Set(matched.values());
  const toldByName = onlyOnes(told);
  const storedByName = onlyOnes(stored);
  const left: Told[] = [];
  for (const each of open) {
    const name = nameOf(each);
    const entry = name === null || toldByName.get(name) !== each ? undefined : storedByName.get(name);
    if (entry !== undefined && !taken.has(entry)) {
      matched.set(each, entry);
      taken.add(entry);
    } else left.push(each);
  }
  for (const each of left) {
    const entry = byIndex.get(each.if_index);
    if (entry === undefined || taken.has(entry)) continue;
    matched.set(each, entry);
    taken.add(entry);
  }
  return matched;
}

/** Also where one side says no name. */
function isNamedAlike(some: NumberedInterface, other: NumberedInterface): boolean {
  const bothNamed = hasText(some.if_name) && hasText(other.if_name);
  if (bothNamed) return some.if_name === other.if_name;
  return !hasText(some.if_descr) || !hasText(other.if_descr) || some.if_descr === other.if_descr;
}

/** By name, those whose name no other has. */
function onlyOnes<Numbered extends NumberedInterface>(all: readonly Numbered[]): Map<string, Numbered> {
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
