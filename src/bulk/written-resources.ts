// Resources that support table imports, and those that support bulk updates.

import type { TObject } from "@sinclair/typebox";
import { ownValue } from "../base/fields.ts";
import { BindingCreate, BindingUpdate, bindingRow } from "../resources/bindings/binding.ts";
import { bindingCommands } from "../resources/bindings/commands.ts";
import { bindingResource } from "../resources/bindings/resource.ts";
import { customFieldCommands } from "../resources/custom-fields/commands.ts";
import { CustomFieldCreate, CustomFieldUpdate } from "../resources/custom-fields/custom-field.ts";
import { customFieldResource } from "../resources/custom-fields/resource.ts";
import { hostCommands } from "../resources/hosts/commands.ts";
import { HostCreate, HostUpdate } from "../resources/hosts/host-body.ts";
import { hostResource } from "../resources/hosts/resource.ts";
import { ifEntryCommands } from "../resources/if-entries/commands.ts";
import { IfEntryCreate, IfEntryUpdate } from "../resources/if-entries/if-entry.ts";
import { ifEntryResource } from "../resources/if-entries/resource.ts";
import { ipAddressCommands } from "../resources/ip-addresses/commands.ts";
import { IpAddressCreate, IpAddressUpdate } from "../resources/ip-addresses/ip-address.ts";
import { ipAddressResource } from "../resources/ip-addresses/resource.ts";
import { ipRangeCommands } from "../resources/ip-ranges/commands.ts";
import { IpRangeCreate, IpRangeUpdate } from "../resources/ip-ranges/ip-range.ts";
import { ipRangeResource } from "../resources/ip-ranges/resource.ts";
import { markerCommands } from "../resources/markers/commands.ts";
import { MarkerCreate, MarkerUpdate } from "../resources/markers/marker.ts";
import { markerResource } from "../resources/markers/resource.ts";
import { networkCommands } from "../resources/networks/commands.ts";
import { NetworkCreate, NetworkUpdate } from "../resources/networks/network.ts";
import { networkResource } from "../resources/networks/resource.ts";
import { portCommands } from "../resources/ports/commands.ts";
import { PortCreate, PortUpdate } from "../resources/ports/port.ts";
import { portResource } from "../resources/ports/resource.ts";
import type { RecordCommand, RecordWrites } from "../resources/record-writes.ts";
import type { Resource } from "../resources/resource.ts";
import { scheduleCommands } from "../resources/schedules/commands.ts";
import { scheduleResource } from "../resources/schedules/resource.ts";
import { ScheduleCreate, ScheduleUpdate } from "../resources/schedules/schedule.ts";
import { serviceCommands } from "../resources/services/commands.ts";
import { serviceResource } from "../resources/services/resource.ts";
import { ServiceCreate, ServiceUpdate } from "../resources/services/service-body.ts";
import { subnetCommands } from "../resources/subnets/commands.ts";
import { subnetResource } from "../resources/subnets/resource.ts";
import { SubnetCreate, SubnetUpdate } from "../resources/subnets/subnet.ts";
import { tagCommands } from "../resources/tags/commands.ts";
import { tagResource } from "../resources/tags/resource.ts";
import { TagCreate, TagUpdate } from "../resources/tags/tag.ts";
import { vlanCommands } from "../resources/vlans/commands.ts";
import { vlanResource } from "../resources/vlans/resource.ts";
import { VlanCreate, VlanUpdate } from "../resources/vlans/vlan.ts";

/** Resources that can be imported as tables, in the order of the documentation. */
export const IMPORTABLE: readonly RecordWrites[] = [
  writesOf("network", networkResource, networkCommands, [NetworkCreate, NetworkUpdate], { key: ["name"] }),
  writesOf("subnet", subnetResource, subnetCommands, [SubnetCreate, SubnetUpdate], { key: ["network_id", "cidr"] }),
  writesOf("ip_range", ipRangeResource, ipRangeCommands, [IpRangeCreate, IpRangeUpdate], {
    key: ["network_id", "first", "last"],
  }),
  writesOf("vlan", vlanResource, vlanCommands, [VlanCreate, VlanUpdate], { key: ["network_id", "number"] }),
  writesOf("host", hostResource, hostCommands, [HostCreate, HostUpdate], {
    key: ["network_id", "name"],
    parts: ["interfaces", "ip_addresses", "ports", "services", "credential_assignments"],
  }),
  writesOf("ip_address", ipAddressResource, ipAddressCommands, [IpAddressCreate, IpAddressUpdate], {
    key: ["host_id", "ip_address"],
  }),
  writesOf("port", portResource, portCommands, [PortCreate, PortUpdate], { key: ["host_id", "number", "protocol"] }),
  writesOf("service", serviceResource, serviceCommands, [ServiceCreate, ServiceUpdate], {
    key: ["host_id", "service_definition", "name"],
    parts: ["bindings"],
  }),
  writesOf("if_entry", ifEntryResource, ifEntryCommands, [IfEntryCreate, IfEntryUpdate], {
    key: ["host_id", "if_index"],
    parts: ["fdb_macs"],
  }),
  writesOf("tag", tagResource, tagCommands, [TagCreate, TagUpdate], { key: ["name"] }),
  writesOf("binding", bindingResource, bindingCommands, [bindingRow.Create, bindingRow.Update], {
    key: ["service_id", "type", "port_id", "ip_address_id"],
    forms: { Create: BindingCreate, Update: BindingUpdate },
    isTableOnly: true,
  }),
  writesOf("schedule", scheduleResource, scheduleCommands, [ScheduleCreate, ScheduleUpdate], {
    key: ["network_id", "name"],
    isTableOnly: true,
  }),
  writesOf("marker", markerResource, markerCommands, [MarkerCreate, MarkerUpdate], {
    key: ["network_id", "name"],
    isTableOnly: true,
  }),
  writesOf("custom_field", customFieldResource, customFieldCommands, [CustomFieldCreate, CustomFieldUpdate], {
    key: ["key"],
    typedBy: { default: "type" },
    isTableOnly: true,
  }),
];

/** @param name prefix of its commands */
function writesOf<Name extends string>(
  name: Name,
  resource: Resource,
  commands: Readonly<Record<`${Name}.create` | `${Name}.update`, RecordCommand>>,
  [Create, Update]: readonly [TObject, TObject],
  rules: Omit<RecordWrites, "resource" | "Create" | "create" | "Update" | "update">,
): RecordWrites {
  const [create, update] = [commands[`${name}.create` as const], commands[`${name}.update` as const]];
  return { resource, Create, create, Update, update, ...rules };
}

/** Resources with bulk updates. */
export const EDITABLE: readonly RecordWrites[] = IMPORTABLE.filter(({ isTableOnly }) => isTableOnly !== true);

/** Body fields that identify or locate a record: no write changes them. */
export const FIXED_FIELDS = ["id", "organization_id", "network_id", "host_id", "service_id", "expected_updated_at"];

/** Fields that a bulk update may set. */
export function settableFields({ Update, parts = [] }: RecordWrites): string[] {
  return Object.keys(Update.properties).filter((name) => !FIXED_FIELDS.includes(name) && !parts.includes(name));
}

/** Completes a body with the record's own values for required fields that it lacks. */
export function bodyOver({ Update }: RecordWrites, record: object, changes: object): object {
  const stored = record as Readonly<Record<string, unknown>>;
  return { ...Object.fromEntries((Update.required ?? []).map((name) => [name, ownValue(stored, name)])), ...changes };
}
