// The resources that take tables: what of a row's columns is written, and by what a row finds its record.

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import { namingOf, withNames } from "../inventory/name-columns.ts";
import { hostCommands } from "../resources/hosts/commands.ts";
import { HostCreate } from "../resources/hosts/host-body.ts";
import { ifEntryCommands } from "../resources/if-entries/commands.ts";
import { IfEntryCreate } from "../resources/if-entries/if-entry.ts";
import { ipAddressCommands } from "../resources/ip-addresses/commands.ts";
import { IpAddressCreate } from "../resources/ip-addresses/ip-address.ts";
import { ipRangeCommands } from "../resources/ip-ranges/commands.ts";
import { IpRangeCreate } from "../resources/ip-ranges/ip-range.ts";
import { networkCommands } from "../resources/networks/commands.ts";
import { NetworkCreate } from "../resources/networks/network.ts";
import { portCommands } from "../resources/ports/commands.ts";
import { PortCreate } from "../resources/ports/port.ts";
import type { Named } from "../resources/resource.ts";
import { serviceCommands } from "../resources/services/commands.ts";
import { ServiceCreate } from "../resources/services/service-body.ts";
import { subnetCommands } from "../resources/subnets/commands.ts";
import { SubnetCreate } from "../resources/subnets/subnet.ts";
import { tagCommands } from "../resources/tags/commands.ts";
import { TagCreate } from "../resources/tags/tag.ts";
import { vlanCommands } from "../resources/vlans/commands.ts";
import { VlanCreate } from "../resources/vlans/vlan.ts";
import { schemaColumns } from "../wire/csv.ts";
import { EDITABLE, type Editable, type WriteOne } from "./editable.ts";

interface Importing {
  /** The body of its POST, and what runs it. */
  readonly Create: TObject;
  readonly create: WriteOne;
  /** The fields that a row without an id finds its record by. */
  readonly key: readonly string[];
}

export interface Importable extends Editable, Importing {}

/** By path. */
const IMPORTING: Readonly<Record<string, Importing>> = {
  networks: { Create: NetworkCreate, create: networkCommands["network.create"], key: ["name"] },
  subnets: { Create: SubnetCreate, create: subnetCommands["subnet.create"], key: ["network_id", "cidr"] },
  "ip-ranges": {
    Create: IpRangeCreate,
    create: ipRangeCommands["ip_range.create"],
    key: ["network_id", "first", "last"],
  },
  vlans: { Create: VlanCreate, create: vlanCommands["vlan.create"], key: ["network_id", "number"] },
  hosts: { Create: HostCreate, create: hostCommands["host.create"], key: ["network_id", "name"] },
  "ip-addresses": {
    Create: IpAddressCreate,
    create: ipAddressCommands["ip_address.create"],
    key: ["host_id", "ip_address"],
  },
  ports: { Create: PortCreate, create: portCommands["port.create"], key: ["host_id", "number", "protocol"] },
  services: {
    Create: ServiceCreate,
    create: serviceCommands["service.create"],
    key: ["host_id", "service_definition", "name"],
  },
  "if-entries": { Create: IfEntryCreate, create: ifEntryCommands["if_entry.create"], key: ["host_id", "if_index"] },
  tags: { Create: TagCreate, create: tagCommands["tag.create"], key: ["name"] },
};

/** In the order of the documentation. */
export const IMPORTABLE: readonly Importable[] = EDITABLE.flatMap((editable) => {
  const importing = IMPORTING[editable.resource.path];
  return importing === undefined ? [] : [{ ...editable, ...importing }];
});

/** What a column is to an import. */
export type ColumnRole =
  /** A field of the record's bodies, or its id. */
  | { readonly as: "Field"; readonly schema: TSchema }
  /** The names of the records whose ids another column holds. */
  | { readonly as: "Names"; readonly ids: string; readonly isList: boolean; readonly of: Named }
  /** What an export shows besides: it is not written. */
  | { readonly as: "Shown" };

const roles = new WeakMap<Importable, ReadonlyMap<string, ColumnRole>>();

/** By its name, every column that an export of the kind writes. */
export function columnRoles(importable: Importable): ReadonlyMap<string, ColumnRole> {
  const known = roles.get(importable);
  if (known !== undefined) return known;
  const { resource, Create } = importable;
  // Which custom fields there are, each organization says.
  const own = (resource.columns ?? schemaColumns(resource.answer)).filter(({ name }) => name !== CUSTOM_FIELDS);
  // A table has less of parts than it takes to write them.
  const isShown = (name: string) =>
    name !== "fdb_macs" && (importable.parts.includes(name) || !Object.hasOwn(Create.properties, name));
  const made = new Map<string, ColumnRole>();
  for (const { name } of withNames(own, () => "")) {
    if (Object.hasOwn(Create.properties, name) && !isShown(name))
      made.set(name, { as: "Field", schema: Create.properties[name] as TSchema });
    else made.set(name, { as: "Shown" });
  }
  for (const [name, role] of [...made]) {
    const naming = role.as === "Field" ? namingOf(name) : null;
    if (naming === null || role.as !== "Field") continue;
    made.set(naming.column, { as: "Names", ids: name, isList: isList(role.schema), of: naming.of });
  }
  roles.set(importable, made);
  return made;
}

/** Whether a table of the kind may have the column; of a custom field, only its form is looked at. */
export function mayHaveColumn(importable: Importable, name: string): boolean {
  const isCustom = Object.hasOwn(importable.Create.properties, CUSTOM_FIELDS) && customFieldKey(name) !== null;
  return isCustom || columnRoles(importable).has(name);
}

/** The columns that `match` may name: texts, numbers and references. */
export function matchColumns(importable: Importable): string[] {
  return [...columnRoles(importable)].flatMap(([name, role]) =>
    role.as === "Field" && ["string", "integer"].includes(plainSchema(role.schema).type as string) ? name : [],
  );
}

/** A schema without the null that it may be. */
export function plainSchema(schema: TSchema): TSchema {
  if (!KindGuard.IsUnion(schema)) return schema;
  const branches = schema.anyOf.filter((branch) => !KindGuard.IsNull(branch));
  return branches.length === 1 ? (branches[0] as TSchema) : schema;
}

export function isNullable(schema: TSchema): boolean {
  return KindGuard.IsUnion(schema) && schema.anyOf.some((branch) => KindGuard.IsNull(branch));
}

function isList(schema: TSchema): boolean {
  return KindGuard.IsArray(plainSchema(schema));
}
