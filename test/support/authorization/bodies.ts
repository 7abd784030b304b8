// Request bodies for POST, distinct on every call, and disposable records without dependents for delete requests.

import { addUser, expectOk, type JsonRecord, newApiKey, newIgnored } from "../appliance/factories.ts";
import { exampleBody } from "../contract/example-bodies.ts";
import type { CallContext, SentRequest } from "./call-context.ts";
import { ORGANIZATION_WORD, SECRET_WORD, type Site } from "./fixture.ts";

/** Expected error code when a caller with the role creates a record at a site; null for success. */
export function creationCode(context: CallContext, plural: string, site: Site): string | null {
  if (plural === "networks" || plural === "tags" || plural === "custom-fields" || plural === "users")
    return context.isOwn(site) ? null : "entity_access_denied";
  if (plural === "credentials" || plural === "auth/keys")
    return !context.isOwn(site) ? "entity_access_denied" : context.reaches(site) ? null : "entity_reference_invalid";
  return context.reaches(site) ? null : "entity_reference_invalid";
}

let counter = 0;

/** Request body for POST, with unique values on every call. */
export function bodyOf(
  context: Pick<CallContext, "caller" | "fixture">,
  plural: string,
  site: Site,
): JsonRecord | Promise<JsonRecord> {
  counter += 1;
  const { word, octet, networkId, organizationId, switchId, records } = site;
  const tags = [records.tags?.id];
  // Visible to callers limited to one network of the organization, so without a network's mark.
  const common = site.name === "foreign" ? word : ORGANIZATION_WORD;
  switch (plural) {
    case "networks":
      return {
        organization_id: organizationId,
        name: `${site.name === "foreign" ? "zzforeign" : "zzfar"} network ${counter}`,
        tags,
      };
    case "subnets":
      return {
        network_id: networkId,
        cidr: `10.${octet}.${128 + ((counter >> 8) & 127)}.${counter & 255}/32`,
        name: `${word} subnet`,
        vlan_id: records.vlans?.id,
        tags,
      };
    case "ip-ranges": {
      const address = `10.${octet}.${64 + ((counter >> 8) & 63)}.${counter & 255}`;
      const subnet_id = records.subnets?.id;
      const description = `${word} range`;
      return { network_id: networkId, subnet_id, first: address, last: address, purpose: "Dhcp", description, tags };
    }
    case "vlans":
      return { network_id: networkId, number: 300 + counter, name: `${word} vlan` };
    case "hosts":
      return {
        network_id: networkId,
        name: `${word} host ${counter}`,
        tags,
        virtualization: { type: "Kvm", details: { service_id: records.services?.id } },
      };
    case "ip-addresses":
      return {
        host_id: switchId,
        ip_address: `10.${octet}.${64 + ((counter >> 8) & 63)}.${counter & 255}`,
        subnet_id: records.subnets?.id,
      };
    case "ports":
      return { host_id: switchId, number: 1_000 + counter, protocol: "Tcp" };
    case "services":
      return { host_id: switchId, name: `${word} service ${counter}`, service_definition: word, tags };
    case "bindings":
      return bindingToNewPort(site, 1_000 + counter);
    case "if-entries":
      return {
        host_id: switchId,
        if_index: 1_000 + counter,
        if_descr: `${word} ${counter}`,
        native_vlan_id: records.vlans?.id,
        neighbor: { type: "Host", id: records.hosts?.id },
      };
    case "discovery/schedules":
      return {
        network_id: networkId,
        name: `${word} schedule ${counter}`,
        cron: "30 2 * * *",
        timezone: "Europe/Berlin",
        kind: "full",
        targets: [`10.${octet}.0.0/24`, `10.${octet}.1.7`],
      };
    case "tags":
      return { organization_id: organizationId, name: `${common} tag ${counter}`, color: "Red" };
    case "custom-fields":
      return { organization_id: organizationId, key: `${common}_field_${counter}`, kinds: ["vlan"], type: "text" };
    case "credentials":
      return {
        organization_id: organizationId,
        name: `${common} credential ${counter}`,
        credential_type: { type: "SnmpV1", community: { mode: "Inline", value: `${SECRET_WORD}-${counter}` } },
        assigned_network_ids: [networkId],
        host_assignments: [{ host_id: records.hosts?.id, ip_address_ids: [records["ip-addresses"]?.id] }],
        tags,
      };
    case "users":
      return {
        organization_id: organizationId,
        email: `user-${counter}@${common}.example`,
        name: `${common} user ${counter}`,
        role: "Viewer",
        network_ids: [networkId],
        password: `${SECRET_WORD}-password-${counter}`,
      };
    case "auth/keys":
      return { ...keyBody(context, site), name: `key ${counter}` };
    default:
      return exampleBody(context.fixture.appliance, plural, idsIn(site), `${word} ${counter}`);
  }
}

function idsIn({ networkId, records }: Site): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(records).map(([plural, { id }]) => [plural, id])),
    networks: networkId,
  };
}

export function keyBody({ caller }: Pick<CallContext, "caller">, site: Site): JsonRecord {
  return {
    organization_id: site.organizationId,
    user_id: caller.userId,
    name: "key",
    tags: [site.records.tags?.id],
    network_ids: [site.networkId],
  };
}

async function bindingToNewPort(site: Site, number: number): Promise<JsonRecord> {
  const { id } = await expectOk(site.owner.post("ports", { host_id: site.records.hosts?.id, number, protocol: "Udp" }));
  return {
    service_id: site.records.services?.id,
    type: "Port",
    port_id: id,
    ip_address_id: site.records["ip-addresses"]?.id,
  };
}

/** Creates a record without dependents at a site. @returns its id */
export async function disposableRecord(
  context: CallContext,
  plural: string,
  site: Site,
  role?: "Owner",
): Promise<string> {
  const { appliance } = context.fixture;
  const { organizationId } = site;
  if (plural === "users") {
    counter += 1;
    return addUser(appliance, {
      organizationId,
      name: `${site.name === "foreign" ? site.word : ORGANIZATION_WORD} victim ${counter}`,
      role: role ?? "Viewer",
      networkIds: [site.networkId],
    });
  }
  if (plural === "auth/keys")
    return newApiKey(appliance, {
      organizationId,
      userId: role === undefined ? context.caller.userId : site.ownerId,
      permissions: "Viewer",
    }).id;
  if (plural === "discovery/ignored") {
    counter += 1;
    const label = `${site.word} victim ${counter}`;
    return newIgnored(appliance, { network_id: site.networkId, label }, organizationId).id;
  }
  const body = await bodyOf(context, plural, site);
  const unassigned = plural === "credentials" ? { ...body, assigned_network_ids: [], host_assignments: [] } : body;
  return (await expectOk(site.owner.post(plural, unassigned))).id;
}

/** Builds a request whose path names a disposable record. */
export function disposablePath(...given: Parameters<typeof disposableRecord>): () => Promise<SentRequest> {
  return async () => ({ path: given[0].path.replace(":id", await disposableRecord(...given)) });
}
