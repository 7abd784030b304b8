// Resources whose records can be edited in bulk, with the commands that write a single record: bulk writes go through
// these.

import type { TObject } from "@sinclair/typebox";
import type { CommandActor } from "../access/actor.ts";
import { ownValue } from "../base/fields.ts";
import type { WriteTransaction } from "../db/writing/transaction.ts";
import { hostCommands } from "../resources/hosts/commands.ts";
import { HostUpdate } from "../resources/hosts/host-body.ts";
import { hostResource } from "../resources/hosts/resource.ts";
import { ifEntryCommands } from "../resources/if-entries/commands.ts";
import { IfEntryUpdate } from "../resources/if-entries/if-entry.ts";
import { ifEntryResource } from "../resources/if-entries/resource.ts";
import { ipAddressCommands } from "../resources/ip-addresses/commands.ts";
import { IpAddressUpdate } from "../resources/ip-addresses/ip-address.ts";
import { ipAddressResource } from "../resources/ip-addresses/resource.ts";
import { ipRangeCommands } from "../resources/ip-ranges/commands.ts";
import { IpRangeUpdate } from "../resources/ip-ranges/ip-range.ts";
import { ipRangeResource } from "../resources/ip-ranges/resource.ts";
import { networkCommands } from "../resources/networks/commands.ts";
import { NetworkUpdate } from "../resources/networks/network.ts";
import { networkResource } from "../resources/networks/resource.ts";
import { portCommands } from "../resources/ports/commands.ts";
import { PortUpdate } from "../resources/ports/port.ts";
import { portResource } from "../resources/ports/resource.ts";
import type { Resource } from "../resources/resource.ts";
import { serviceCommands } from "../resources/services/commands.ts";
import { serviceResource } from "../resources/services/resource.ts";
import { ServiceUpdate } from "../resources/services/service-body.ts";
import { subnetCommands } from "../resources/subnets/commands.ts";
import { subnetResource } from "../resources/subnets/resource.ts";
import { SubnetUpdate } from "../resources/subnets/subnet.ts";
import { tagCommands } from "../resources/tags/commands.ts";
import { tagResource } from "../resources/tags/resource.ts";
import { TagUpdate } from "../resources/tags/tag.ts";
import { vlanCommands } from "../resources/vlans/commands.ts";
import { vlanResource } from "../resources/vlans/resource.ts";
import { VlanUpdate } from "../resources/vlans/vlan.ts";

/** A command that writes one record from its operation's validated body. */
// biome-ignore lint/suspicious/noExplicitAny: each takes the body of its own kind, which its schema validates.
export type WriteOne = (tx: WriteTransaction, input: any, actor: CommandActor, box: any) => unknown;

export interface Editable {
  readonly resource: Resource;
  /** Body of its PUT, and its command. */
  readonly Update: TObject;
  readonly update: WriteOne;
  /** Body fields with records of their own, which differ for each record. */
  readonly parts: readonly string[];
}

/** In the order of the documentation. */
export const EDITABLE: readonly Editable[] = [
  { resource: networkResource, Update: NetworkUpdate, update: networkCommands["network.update"], parts: [] },
  { resource: subnetResource, Update: SubnetUpdate, update: subnetCommands["subnet.update"], parts: [] },
  { resource: ipRangeResource, Update: IpRangeUpdate, update: ipRangeCommands["ip_range.update"], parts: [] },
  { resource: vlanResource, Update: VlanUpdate, update: vlanCommands["vlan.update"], parts: [] },
  {
    resource: hostResource,
    Update: HostUpdate,
    update: hostCommands["host.update"],
    parts: ["interfaces", "ip_addresses", "ports", "services", "credential_assignments"],
  },
  { resource: ipAddressResource, Update: IpAddressUpdate, update: ipAddressCommands["ip_address.update"], parts: [] },
  { resource: portResource, Update: PortUpdate, update: portCommands["port.update"], parts: [] },
  {
    resource: serviceResource,
    Update: ServiceUpdate,
    update: serviceCommands["service.update"],
    parts: ["bindings"],
  },
  {
    resource: ifEntryResource,
    Update: IfEntryUpdate,
    update: ifEntryCommands["if_entry.update"],
    parts: ["fdb_macs"],
  },
  { resource: tagResource, Update: TagUpdate, update: tagCommands["tag.update"], parts: [] },
];

/** Body fields that identify or place a record: no write changes them. */
export const PLACES = ["id", "organization_id", "network_id", "host_id", "service_id", "expected_updated_at"];

/** Fields that a bulk write may set to the same value on many records. */
export function settableFields({ Update, parts }: Editable): string[] {
  return Object.keys(Update.properties).filter((name) => !PLACES.includes(name) && !parts.includes(name));
}

/** Completes a body with required fields from the record. */
export function bodyOver({ Update }: Editable, record: object, said: object): object {
  const own = record as Readonly<Record<string, unknown>>;
  return { ...Object.fromEntries((Update.required ?? []).map((name) => [name, ownValue(own, name)])), ...said };
}
