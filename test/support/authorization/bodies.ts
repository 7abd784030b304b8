// Bodies of creates, each of a distinct record, and records without dependents, for requests that delete one.

import { addUser, made, newApiKey, newIgnored, type Wire } from "../appliance/factories.ts";
import { exampleBody } from "../contract/example-bodies.ts";
import type { Asking } from "./asking.ts";
import { ORGANIZATION_WORD, type Place, SECRET_WORD } from "./world.ts";

/** Expected code of a create in a place, for callers with the role; null for success. */
export function creationCode(asking: Asking, plural: string, place: Place): string | null {
  if (plural === "networks" || plural === "tags" || plural === "custom-fields" || plural === "users")
    return asking.isOwn(place) ? null : "entity_access_denied";
  if (plural === "credentials" || plural === "auth/keys")
    return !asking.isOwn(place) ? "entity_access_denied" : asking.reaches(place) ? null : "entity_reference_invalid";
  return asking.reaches(place) ? null : "entity_reference_invalid";
}

let last = 0;

/** Body of a create, of a distinct record each time. */
export function bodyOf(asking: Pick<Asking, "caller" | "world">, plural: string, place: Place): Wire | Promise<Wire> {
  last += 1;
  const { word, octet, networkId, organizationId, switchId, records } = place;
  const tags = [records.tags?.id];
  // Outside the network that a confined caller reaches, so without its mark.
  const common = place.name === "foreign" ? word : ORGANIZATION_WORD;
  switch (plural) {
    case "networks":
      return {
        organization_id: organizationId,
        name: `${place.name === "foreign" ? "zzforeign" : "zzfar"} network ${last}`,
        tags,
      };
    case "subnets":
      return {
        network_id: networkId,
        cidr: `10.${octet}.${128 + ((last >> 8) & 127)}.${last & 255}/32`,
        name: `${word} subnet`,
        vlan_id: records.vlans?.id,
        tags,
      };
    case "ip-ranges": {
      const address = `10.${octet}.${64 + ((last >> 8) & 63)}.${last & 255}`;
      const subnet_id = records.subnets?.id;
      const description = `${word} range`;
      return { network_id: networkId, subnet_id, first: address, last: address, purpose: "Dhcp", description, tags };
    }
    case "vlans":
      return { network_id: networkId, number: 300 + last, name: `${word} vlan` };
    case "hosts":
      return {
        network_id: networkId,
        name: `${word} host ${last}`,
        tags,
        virtualization: { type: "Kvm", details: { service_id: records.services?.id } },
      };
    case "ip-addresses":
      return {
        host_id: switchId,
        ip_address: `10.${octet}.${64 + ((last >> 8) & 63)}.${last & 255}`,
        subnet_id: records.subnets?.id,
      };
    case "ports":
      return { host_id: switchId, number: 1_000 + last, protocol: "Tcp" };
    case "services":
      return { host_id: switchId, name: `${word} service ${last}`, service_definition: word, tags };
    case "bindings":
      return boundToNewPort(place, 1_000 + last);
    case "if-entries":
      return {
        host_id: switchId,
        if_index: 1_000 + last,
        if_descr: `${word} ${last}`,
        native_vlan_id: records.vlans?.id,
        neighbor: { type: "Host", id: records.hosts?.id },
      };
    case "discovery/schedules":
      return {
        network_id: networkId,
        name: `${word} schedule ${last}`,
        cron: "30 2 * * *",
        timezone: "Europe/Berlin",
        kind: "full",
        targets: [`10.${octet}.0.0/24`, `10.${octet}.1.7`],
      };
    case "tags":
      return { organization_id: organizationId, name: `${common} tag ${last}`, color: "Red" };
    case "custom-fields":
      return { organization_id: organizationId, key: `${common}_field_${last}`, kinds: ["vlan"], type: "text" };
    case "credentials":
      return {
        organization_id: organizationId,
        name: `${common} credential ${last}`,
        credential_type: { type: "SnmpV1", community: { mode: "Inline", value: `${SECRET_WORD}-${last}` } },
        assigned_network_ids: [networkId],
        host_assignments: [{ host_id: records.hosts?.id, ip_address_ids: [records["ip-addresses"]?.id] }],
        tags,
      };
    case "users":
      return {
        organization_id: organizationId,
        email: `user-${last}@${common}.example`,
        name: `${common} user ${last}`,
        role: "Viewer",
        network_ids: [networkId],
        password: `${SECRET_WORD}-password-${last}`,
      };
    case "auth/keys":
      return { ...keyBody(asking, place), name: `key ${last}` };
    default:
      return exampleBody(asking.world.appliance, plural, idsIn(place), `${word} ${last}`);
  }
}

function idsIn({ networkId, records }: Place): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(records).map(([plural, { id }]) => [plural, id])),
    networks: networkId,
  };
}

export function keyBody({ caller }: Pick<Asking, "caller">, place: Place): Wire {
  return {
    organization_id: place.organizationId,
    user_id: caller.userId,
    name: "key",
    tags: [place.records.tags?.id],
    network_ids: [place.networkId],
  };
}

async function boundToNewPort(place: Place, number: number): Promise<Wire> {
  const { id } = await made(place.owner.post("ports", { host_id: place.records.hosts?.id, number, protocol: "Udp" }));
  return {
    service_id: place.records.services?.id,
    type: "Port",
    port_id: id,
    ip_address_id: place.records["ip-addresses"]?.id,
  };
}

/** The id of a new record in a place, without dependents. */
export async function victim(asking: Asking, plural: string, place: Place, role?: "Owner"): Promise<string> {
  const { appliance } = asking.world;
  const { organizationId } = place;
  if (plural === "users") {
    last += 1;
    return addUser(appliance, {
      organizationId,
      name: `${place.name === "foreign" ? place.word : ORGANIZATION_WORD} victim ${last}`,
      role: role ?? "Viewer",
      networkIds: [place.networkId],
    });
  }
  if (plural === "auth/keys")
    return newApiKey(appliance, {
      organizationId,
      userId: role === undefined ? asking.caller.userId : place.ownerId,
      permissions: "Viewer",
    }).id;
  if (plural === "discovery/ignored") {
    last += 1;
    return newIgnored(appliance, { network_id: place.networkId, label: `${place.word} victim ${last}` }, organizationId)
      .id;
  }
  const body = await bodyOf(asking, plural, place);
  const alone = plural === "credentials" ? { ...body, assigned_network_ids: [], host_assignments: [] } : body;
  return (await made(place.owner.post(plural, alone))).id;
}
