// What people call a record of any kind, from its document: what follows the word for its kind, as in "the VLAN 10 office".

const NAMES: Readonly<Record<string, (record: Record<string, unknown>) => unknown>> = {
  binding: (binding) => binding["type"],
  fdb_entry: (entry) => entry["mac_address"],
  if_entry: (entry) => entry["if_name"] || entry["if_descr"],
  ignored: (ignored) => ignored["label"],
  ip_address: (address) => address["ip_address"],
  port: (port) => `${port["number"]}/${port["protocol"]}`,
  subnet: (subnet) => subnet["cidr"],
  user: (user) => user["email"],
  vlan: (vlan) => `${vlan["number"]} ${vlan["name"]}`,
};

/**
 * @param kind the singular of its kind: `if_entry`
 * @returns null for a record that has neither a name nor an address or a number
 */
export function recordName(kind: string, record: Record<string, unknown>): string | null {
  const name = Object.hasOwn(NAMES, kind) ? NAMES[kind]?.(record) : record["name"];
  return typeof name === "string" && name !== "" ? name : null;
}

/** As recordName; what has no name is called by its id. */
export function recordLabel(kind: string, record: Record<string, unknown>): string {
  return recordName(kind, record) ?? String(record["id"]);
}
