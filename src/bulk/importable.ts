// Resources that accept tables: the columns to write, and the key that matches rows to records.

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { CUSTOM_FIELDS, customFieldKey } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import { namingOf, withNames } from "../records/name-columns.ts";
import { BindingCreate, BindingUpdate, bindingRow } from "../resources/bindings/binding.ts";
import { bindingCommands } from "../resources/bindings/commands.ts";
import { bindingResource } from "../resources/bindings/resource.ts";
import { customFieldCommands } from "../resources/custom-fields/commands.ts";
import { CustomFieldCreate, CustomFieldUpdate } from "../resources/custom-fields/custom-field.ts";
import type { FieldType } from "../resources/custom-fields/field-type.ts";
import { customFieldResource } from "../resources/custom-fields/resource.ts";
import { hostCommands } from "../resources/hosts/commands.ts";
import { HostCreate } from "../resources/hosts/host-body.ts";
import { ifEntryCommands } from "../resources/if-entries/commands.ts";
import { IfEntryCreate } from "../resources/if-entries/if-entry.ts";
import { ipAddressCommands } from "../resources/ip-addresses/commands.ts";
import { IpAddressCreate } from "../resources/ip-addresses/ip-address.ts";
import { ipRangeCommands } from "../resources/ip-ranges/commands.ts";
import { IpRangeCreate } from "../resources/ip-ranges/ip-range.ts";
import { markerCommands } from "../resources/markers/commands.ts";
import { MarkerCreate, MarkerUpdate } from "../resources/markers/marker.ts";
import { markerResource } from "../resources/markers/resource.ts";
import { networkCommands } from "../resources/networks/commands.ts";
import { NetworkCreate } from "../resources/networks/network.ts";
import { portCommands } from "../resources/ports/commands.ts";
import { PortCreate } from "../resources/ports/port.ts";
import type { Named } from "../resources/resource.ts";
import { scheduleCommands } from "../resources/schedules/commands.ts";
import { scheduleResource } from "../resources/schedules/resource.ts";
import { ScheduleCreate, ScheduleUpdate } from "../resources/schedules/schedule.ts";
import { serviceCommands } from "../resources/services/commands.ts";
import { ServiceCreate } from "../resources/services/service-body.ts";
import { subnetCommands } from "../resources/subnets/commands.ts";
import { SubnetCreate } from "../resources/subnets/subnet.ts";
import { tagCommands } from "../resources/tags/commands.ts";
import { TagCreate } from "../resources/tags/tag.ts";
import { vlanCommands } from "../resources/vlans/commands.ts";
import { VlanCreate } from "../resources/vlans/vlan.ts";
import { schemaColumns } from "../schemas/csv.ts";
import { customValue, plainSchema } from "./cell-values.ts";
import { EDITABLE, type Editable, type WriteOne } from "./editable.ts";
import { NAME_CELLS, type NameCell } from "./name-cells.ts";

interface Importing {
  /** Body of its POST, and its command. */
  readonly Create: TObject;
  readonly create: WriteOne;
  /** Fields that match a row without an id to its record. */
  readonly key: readonly string[];
  /** Validation schemas for bodies with several forms; `Create` and `Update` have the fields of all forms. */
  readonly forms?: { readonly Create: TSchema; readonly Update: TSchema };
  /** Parsers for fields whose schema does not determine the cell format. */
  readonly cells?: Readonly<Record<string, ReadCell>>;
}

/** Parses a non-empty cell. @param said another field's text in the row, otherwise in its record */
export type ReadCell = (cell: string, said: (field: string) => string) => unknown;

export interface Importable extends Editable, Importing {}

/** Kinds that can be edited singly or in a table, but not in bulk. */
const TABLED: readonly (Editable & Importing)[] = [
  {
    resource: bindingResource,
    Update: bindingRow.Update,
    update: bindingCommands["binding.update"],
    parts: [],
    Create: bindingRow.Create,
    create: bindingCommands["binding.create"],
    key: ["service_id", "type", "port_id", "ip_address_id"],
    forms: { Create: BindingCreate, Update: BindingUpdate },
  },
  {
    resource: scheduleResource,
    Update: ScheduleUpdate,
    update: scheduleCommands["schedule.update"],
    parts: [],
    Create: ScheduleCreate,
    create: scheduleCommands["schedule.create"],
    key: ["network_id", "name"],
  },
  {
    resource: markerResource,
    Update: MarkerUpdate,
    update: markerCommands["marker.update"],
    parts: [],
    Create: MarkerCreate,
    create: markerCommands["marker.create"],
    key: ["network_id", "name"],
  },
  {
    resource: customFieldResource,
    Update: CustomFieldUpdate,
    update: customFieldCommands["custom_field.update"],
    parts: [],
    Create: CustomFieldCreate,
    create: customFieldCommands["custom_field.create"],
    key: ["key"],
    cells: {
      default: (cell, said) => customValue(cell, said("type") as FieldType),
    },
  },
];

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
export const IMPORTABLE: readonly Importable[] = [
  ...EDITABLE.flatMap((editable) => {
    const importing = ownValue(IMPORTING, editable.resource.path);
    return importing === undefined ? [] : [{ ...editable, ...importing }];
  }),
  ...TABLED,
];

/** Role of a column in an import. */
export type ColumnRole =
  /** A body field, or the id. */
  | { readonly as: "Field"; readonly schema: TSchema }
  /** Names of the records whose ids another column holds. `cell`: for cells that contain more than names. */
  | {
      readonly as: "Names";
      readonly ids: string;
      readonly schema: TSchema;
      readonly isList: boolean;
      readonly of: Named;
      readonly cell?: NameCell;
    }
  /** An exported column that is not imported. */
  | { readonly as: "Shown" };

const roles = new WeakMap<Importable, ReadonlyMap<string, ColumnRole>>();

/** Roles of all columns that an export of the kind writes, by name. */
export function columnRoles(importable: Importable): ReadonlyMap<string, ColumnRole> {
  const known = roles.get(importable);
  if (known !== undefined) return known;
  const { resource, Create } = importable;
  // Custom fields depend on the organization.
  const own = (resource.columns ?? schemaColumns(resource.answer)).filter(({ name }) => name !== CUSTOM_FIELDS);
  // A table contains too little of a part to write it.
  const isShown = (name: string) =>
    name !== "fdb_macs" && (importable.parts.includes(name) || !Object.hasOwn(Create.properties, name));
  const made = new Map<string, ColumnRole>();
  for (const { name } of withNames(own, () => "")) {
    if (Object.hasOwn(Create.properties, name) && !isShown(name))
      made.set(name, { as: "Field", schema: ownValue(Create.properties, name) as TSchema });
    else made.set(name, { as: "Shown" });
  }
  for (const name of [...made.keys()]) {
    const naming = namingOf(name);
    const schema = ownValue(Create.properties, name) as TSchema | undefined;
    const cell = ownValue(NAME_CELLS, name);
    // An id column may be display-only if the name column contains everything.
    if (naming === null || schema === undefined || (cell === undefined && made.get(name)?.as !== "Field")) continue;
    if (!naming.isPlain && cell === undefined) continue;
    const [of] = naming.of as [Named];
    made.set(naming.column, { as: "Names", ids: name, schema, isList: isList(schema), of, ...(cell && { cell }) });
  }
  roles.set(importable, made);
  return made;
}

/** Whether a table of the kind may have the column; for custom fields, checks the format only. */
export function mayHaveColumn(importable: Importable, name: string): boolean {
  const isCustom = Object.hasOwn(importable.Create.properties, CUSTOM_FIELDS) && customFieldKey(name) !== null;
  return isCustom || columnRoles(importable).has(name);
}

/** Columns allowed in `match`: texts, numbers and references. */
export function matchColumns(importable: Importable): string[] {
  return [...columnRoles(importable)].flatMap(([name, role]) =>
    role.as === "Field" && ["string", "integer"].includes(plainSchema(role.schema).type as string) ? name : [],
  );
}

function isList(schema: TSchema): boolean {
  return KindGuard.IsArray(plainSchema(schema));
}
