// The columns of a table that say what its ids stand for: which column has which beside it, and whose names are in it.
// Must not look names up: that is reference-names.ts.

import type { CsvColumn } from "../http/csv.ts";

/** A record that another one refers to. */
export interface Target {
  /** The singular of its kind: `host`. */
  readonly kind: string;
  readonly id: string;
}

/** What people call a record; null for one that the caller does not see. */
export type NameOf = (target: Target) => string | number | null;

interface NameColumn {
  readonly name: string;
  readonly targets: (value: unknown) => Target[];
  /** Of a list: as many names as it has ids, in their order. */
  readonly isList: boolean;
}

/** The columns, and right after each that holds ids the one of their names. */
export function withNames(columns: readonly CsvColumn[], nameOf: NameOf): CsvColumn[] {
  return columns.flatMap((column) => {
    const names = nameColumn(column);
    if (names === undefined) return [column];
    const { name, targets, isList } = names;
    const cell = (record: Record<string, unknown>) => {
      const found = targets(record[column.name]).map((target) => nameOf(target) ?? "");
      return isList ? found : found[0];
    };
    return [column, { name, cell }];
  });
}

/** What `withNames` is going to ask the names of, for these records. */
export function targetsIn(columns: readonly CsvColumn[], records: ReadonlyArray<Record<string, unknown>>): Target[] {
  const found: Target[] = [];
  for (const column of columns) {
    const names = nameColumn(column);
    if (names === undefined) continue;
    for (const record of records) for (const target of names.targets(record[column.name])) found.push(target);
  }
  return found;
}

/** A name for the documentation's example of a table. */
export function exampleName({ kind }: Target): string | number | null {
  return EXAMPLE_NAMES[kind] ?? null;
}

function nameColumn(column: CsvColumn): NameColumn | undefined {
  return Object.hasOwn(NAME_COLUMNS, column.name) ? NAME_COLUMNS[column.name] : undefined;
}

function one(name: string, kind: string): NameColumn {
  return { name, isList: false, targets: (id) => (typeof id === "string" ? [{ kind, id }] : []) };
}

function many(name: string, kind: string): NameColumn {
  return listed<string>(name, (id) => ({ kind, id }));
}

function listed<Item>(name: string, target: (item: Item) => Target): NameColumn {
  return { name, isList: true, targets: (items) => (Array.isArray(items) ? (items as Item[]).map(target) : []) };
}

/** By the column of the ids. */
const NAME_COLUMNS: Readonly<Record<string, NameColumn>> = {
  organization_id: one("organization_name", "organization"),
  network_id: one("network_name", "network"),
  subnet_id: one("subnet_cidr", "subnet"),
  vlan_id: one("vlan_number", "vlan"),
  native_vlan_id: one("native_vlan_number", "vlan"),
  host_id: one("host_name", "host"),
  ip_address_id: one("ip_address", "ip_address"),
  port_id: one("port", "port"),
  service_id: one("service_name", "service"),
  user_id: one("user_email", "user"),
  tags: many("tag_names", "tag"),
  network_ids: many("network_names", "network"),
  assigned_network_ids: many("assigned_network_names", "network"),
  vlan_ids: many("vlan_numbers", "vlan"),
  credential_ids: many("credential_names", "credential"),
  credential_assignments: listed<{ credential_id: string }>("credential_names", (each) => ({
    kind: "credential",
    id: each.credential_id,
  })),
  host_assignments: listed<{ host_id: string }>("assigned_host_names", (each) => ({ kind: "host", id: each.host_id })),
  bindings: listed<{ port_id: string | null; ip_address_id: string | null }>("binding_names", (each) =>
    each.port_id === null
      ? { kind: "ip_address", id: each.ip_address_id as string }
      : { kind: "port", id: each.port_id },
  ),
  neighbor: {
    name: "neighbor_name",
    isList: false,
    targets: (neighbor) => {
      const { type, id } = (neighbor ?? {}) as { type?: "IfEntry" | "Host"; id?: string };
      return id === undefined ? [] : [{ kind: type === "Host" ? "host" : "if_entry", id }];
    },
  },
};

const EXAMPLE_NAMES: Readonly<Record<string, string | number>> = {
  organization: "Example",
  network: "Campus North",
  subnet: "10.2.3.0/24",
  vlan: 120,
  host: "web-1",
  ip_address: "10.2.3.4",
  port: "443/Tcp",
  service: "Web shop",
  user: "noc@example.net",
  tag: "core",
  credential: "Switches",
  if_entry: "core-1 Gi0/48",
};
