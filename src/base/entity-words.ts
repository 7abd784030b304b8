// Names of record kinds in sentences. Each kind supplies its own words.

export interface Entity {
  /** As in errors and history: `if_entry`. */
  readonly name: string;
  /** Needed if the name with spaces for underscores, and an `s` in the plural, would be wrong: `VLAN`, `VLANs`. */
  readonly words?: { readonly one: string; readonly many: string };
}

/** `host`, `interface entry`. */
export function entityWord({ name, words }: Entity): string {
  return words?.one ?? name.replaceAll("_", " ");
}

/** `a host`, `an interface entry`. */
export function oneEntity(entity: Entity): string {
  const word = entityWord(entity);
  // By sound: a user, but an IP address.
  return `${/^[aeio]/i.test(word) ? "an" : "a"} ${word}`;
}

/** `1 host`, `2 interface entries`. */
export function countedEntities(entity: Entity, count: number): string {
  return `${count} ${count === 1 ? entityWord(entity) : entityWords(entity)}`;
}

/** `hosts`, `interface entries`. */
export function entityWords(entity: Entity): string {
  return entity.words?.many ?? `${entityWord(entity)}s`;
}
