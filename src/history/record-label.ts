// What a person calls a record of any kind, from its document.

const LABELS: Readonly<Record<string, (record: Record<string, unknown>) => unknown>> = {
  subnet: (subnet) => subnet["cidr"],
  vlan: (vlan) => `VLAN ${vlan["number"]} ${vlan["name"]}`,
  ip_address: (address) => address["ip_address"],
  port: (port) => `${port["number"]}/${port["protocol"]}`,
  binding: (binding) => `binding ${binding["type"]}`,
  if_entry: (entry) => entry["if_name"] ?? entry["if_descr"],
  user: (user) => user["email"],
};

/** @param kind the singular of its kind: `if_entry` */
export function recordLabel(kind: string, record: Record<string, unknown>): string {
  return String(LABELS[kind]?.(record) ?? record["name"] ?? record["id"]);
}
