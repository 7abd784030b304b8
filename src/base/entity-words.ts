// What things are called in sentences for people. An entity without an entry is called by its name.

const WORDS: Readonly<Record<string, { readonly one: string; readonly many: string }>> = {
  api_key: { one: "API key", many: "API keys" },
  credential_assignment: { one: "credential assignment", many: "credential assignments" },
  fdb_entry: { one: "forwarding entry", many: "forwarding entries" },
  if_entry: { one: "interface entry", many: "interface entries" },
  ignored: { one: "ignored record", many: "ignored records" },
  ip_address: { one: "IP address", many: "IP addresses" },
  vlan: { one: "VLAN", many: "VLANs" },
};

/** `host`, `interface entry`. */
export function entityWord(entity: string): string {
  return WORDS[entity]?.one ?? entity.replaceAll("_", " ");
}

/** `a host`, `an interface entry`. */
export function oneEntity(entity: string): string {
  const word = entityWord(entity);
  // By sound: a user, but an IP address.
  return `${/^[aeio]/i.test(word) ? "an" : "a"} ${word}`;
}

/** `1 host`, `2 interface entries`. */
export function countedEntities(entity: string, count: number): string {
  return `${count} ${count === 1 ? entityWord(entity) : entityWords(entity)}`;
}

/** `hosts`, `interface entries`. */
export function entityWords(entity: string): string {
  return WORDS[entity]?.many ?? `${entityWord(entity)}s`;
}
