// Operations of the contract (handbook: api, "Compatibility") as data, for tests that cover all of them; with
// one live record of each kind, and bodies with every writable field.

import { PASSWORD, type TestAppliance } from "../appliance/appliance.ts";
import {
  expectOk,
  type JsonRecord,
  newComponent,
  newCredential,
  newHost,
  newIgnored,
  newNetwork,
  newSchedule,
  newSubnet,
  newTag,
  newUser,
  newVlan,
} from "../appliance/factories.ts";
import { keyBody, live, newIfEntry } from "../appliance/inventory.ts";
import { runScan } from "../appliance/scans.ts";
import { CREATABLE, exampleBody } from "./example-bodies.ts";

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `:id` is a record's id. */
  readonly path: string;
  /** Resource of `:id` and the body. */
  readonly plural?: string;
  /** A list has a page; a record has an ETag. */
  readonly returns: "a list" | "a record" | "something else";
  /** Refuses API keys. */
  readonly sessionOnly?: true;
  /** Needs no credentials. */
  readonly isPublic?: true;
}

/** Kinds with the standard operations, by the path below /api/v1. */
export const PLURALS = CREATABLE.map(({ path }) => path).sort();

/** Ports and addresses that the bindings of a fixture's bodies rotate through; any pair can coexist. */
const TARGETS = 16;

export const OPERATIONS: readonly Operation[] = [
  { method: "GET", path: "/api/health", returns: "something else", isPublic: true },
  { method: "GET", path: "/api/version", returns: "something else", isPublic: true },
  { method: "GET", path: "/api/auth/setup", returns: "something else", isPublic: true },
  { method: "POST", path: "/api/auth/setup", returns: "something else", isPublic: true },
  { method: "POST", path: "/api/auth/login", returns: "something else", isPublic: true },
  { method: "GET", path: "/api/auth/me", returns: "something else" },
  { method: "PUT", path: "/api/auth/password", returns: "something else", sessionOnly: true },
  { method: "GET", path: "/api/v1/organizations", plural: "organizations", returns: "a record" },
  { method: "PUT", path: "/api/v1/organizations", plural: "organizations", returns: "a record" },
  { method: "GET", path: "/api/v1/discovery/self", returns: "something else" },
  { method: "POST", path: "/api/v1/discovery/self", plural: "discovery/self", returns: "something else" },
  { method: "GET", path: "/api/v1/discovery/scans", plural: "discovery/scans", returns: "a list" },
  { method: "POST", path: "/api/v1/discovery/scans", plural: "discovery/scans", returns: "something else" },
  { method: "GET", path: "/api/v1/discovery/scans/:id", plural: "discovery/scans", returns: "something else" },
  { method: "GET", path: "/api/v1/discovery/scans/:id/findings", plural: "discovery/scans", returns: "a list" },
  {
    method: "POST",
    path: "/api/v1/auth/keys/:id/rotate",
    plural: "auth/keys",
    returns: "something else",
    sessionOnly: true,
  },
  ...PLURALS.flatMap((plural): Operation[] => {
    const path = `/api/v1/${plural}`;
    const common = { plural, ...(plural === "auth/keys" ? { sessionOnly: true as const } : {}) };
    return [
      { method: "GET", path, returns: "a list", ...common },
      { method: "POST", path, returns: "a record", ...common },
      { method: "GET", path: `${path}/:id`, returns: "a record", ...common },
      { method: "PUT", path: `${path}/:id`, returns: "a record", ...common },
      { method: "DELETE", path: `${path}/:id`, returns: "a record", ...common },
    ];
  }),
];

export interface RecordFixture {
  /** One live record of each kind, by the path below /api/v1, as returned by GET. */
  readonly records: Readonly<Record<string, JsonRecord>>;
  /** POST body with every writable field; unique names and numbers on each call. */
  body(plural: string): JsonRecord;
}

/** Creates one record of each kind in the first network, with references to each other. */
export async function newRecordFixture(appliance: TestAppliance): Promise<RecordFixture> {
  const { networkId } = appliance.first;
  const network = await newNetwork(appliance);
  const tag = await newTag(appliance);
  const vlan = await newVlan(appliance);
  const subnet = await newSubnet(appliance, { cidr: "198.51.100.0/24" });
  const user = await newUser(appliance, { role: "Member", networkIds: [networkId] });
  const credential = await newCredential(appliance);
  const schedule = await newSchedule(appliance);
  const host = await newHost(appliance, {
    ip_addresses: [{ ip_address: "198.51.100.1" }],
    ports: [{ number: 80, protocol: "Tcp" }],
    services: [{ name: "web", service_definition: "Nginx" }],
  });
  const entry = await newIfEntry(appliance, host.id);
  // Another host for separate children: an update of the first host may remove its children.
  const wide = await newSubnet(appliance, { cidr: "2001:db8::/64" });
  const parent = await newHost(appliance, {
    ip_addresses: Array.from({ length: TARGETS }, (_, position) => ({ ip_address: `198.51.100.${100 + position}` })),
    ports: Array.from({ length: TARGETS }, (_, position) => ({ number: 100 + position, protocol: "Tcp" })),
    services: [{ name: "parent", service_definition: "Nginx" }],
  });
  const [addresses, ports] = [parent.ip_addresses, parent.ports].map((children: JsonRecord[]) =>
    children.map((child) => child.id as string),
  ) as [string[], string[]];
  const service = parent.services[0].id;
  const binding = await expectOk(
    appliance.owner.post("bindings", { service_id: service, type: "Port", port_id: ports[0] }),
  );
  const key = (await appliance.owner.post("auth/keys", keyBody(appliance))).data.api_key;
  const ids: Record<string, string> = {
    "auth/keys": key.id,
    bindings: binding.id,
    components: newComponent(appliance, host).id,
    credentials: credential.id,
    "discovery/ignored": newIgnored(appliance).id,
    "discovery/schedules": schedule.id,
    hosts: host.id,
    "if-entries": entry.id,
    "ip-addresses": addresses[0] as string,
    networks: network.id,
    ports: ports[0] as string,
    services: service,
    subnets: subnet.id,
    tags: tag.id,
    users: user.id,
    vlans: vlan.id,
  };
  const range = { network_id: networkId, first: "198.51.100.200", last: "198.51.100.219", purpose: "Static" };
  ids["ip-ranges"] = (await expectOk(appliance.owner.post("ip-ranges", range))).id;
  const exampleOf = (path: string, name: string) => exampleBody(appliance, path, { ...ids, networks: networkId }, name);
  for (const { path } of CREATABLE)
    ids[path] ??= (await expectOk(appliance.owner.post(`${path}`, exampleOf(path, "first")))).id;
  const records: Record<string, JsonRecord> = {};
  for (const [plural, id] of Object.entries(ids)) records[plural] = await live(appliance, plural, id);
  records["discovery/scans"] = await runScan(appliance, { kind: "snmp" });
  records.organizations = (await appliance.owner.get("organizations")).data;
  const address = host.ip_addresses[0].id;
  const targets = { addresses, ports, service, parent: parent.id as string };
  const bodies: Bodies = {
    ...Object.fromEntries(PLURALS.map((path) => [path, (n: number) => exampleOf(path, `n${n}`)])),
    ...topLevelBodies(appliance, { tag, credential, subnet, wide, vlan, host, address }),
    ...childBodies(appliance, { tag, vlan, host, address, ...targets }),
  };
  let last = 0;
  return {
    records,
    body: (plural) => {
      last += 1;
      return bodies[plural]?.(last) ?? {};
    },
  };
}

type Bodies = Record<string, (n: number) => JsonRecord>;

function topLevelBodies(
  appliance: TestAppliance,
  records: Record<"tag" | "credential" | "subnet" | "wide" | "vlan" | "host", JsonRecord> & {
    readonly address: string;
  },
): Bodies {
  const { networkId, organizationId } = appliance.first;
  const { tag, credential, subnet, wide, vlan, host, address } = records;
  return {
    "auth/keys": (n) => ({
      ...keyBody(appliance),
      name: `k${n}`,
      tags: [tag.id],
      expires_at: "2031-01-01T00:00:00.000Z",
      is_enabled: true,
      network_ids: [networkId],
      permissions: "Viewer",
    }),
    credentials: (n) => ({
      name: `c${n}`,
      organization_id: organizationId,
      credential_type: {
        type: "SnmpV3",
        security_name: "s",
        auth_protocol: "Sha256",
        auth_password: { mode: "Inline", value: "auth password" },
        priv_protocol: "Aes128",
        priv_password: { mode: "Inline", value: "priv password" },
        context_name: "c",
      },
      assigned_network_ids: [networkId],
      host_assignments: [{ host_id: host.id, ip_address_ids: [address] }],
      tags: [tag.id],
      target_ips: ["192.0.2.1"],
    }),
    hosts: (n) => ({
      name: `h${n}`,
      network_id: networkId,
      hidden: false,
      tags: [tag.id],
      hostname: "h.example",
      description: "d",
      virtualization: { type: "Kvm", details: { vm_name: "v", vm_id: "1" } },
      credential_assignments: [{ credential_id: credential.id }],
      sys_name: "s",
      sys_descr: "d",
      sys_object_id: "1.3.6.1",
      sys_location: "l",
      sys_contact: "c",
      manufacturer: "m",
      model: "m",
      serial_number: "s",
      management_url: "https://192.0.2.1/",
      asset_tag: "NL-1",
      ip_addresses: [
        { ip_address: "198.51.100.7", subnet_id: subnet.id, mac_address: "00:00:5e:00:53:01", name: "a", position: 0 },
      ],
      ports: [{ number: 443, protocol: "Tcp" }],
      services: [
        {
          name: "s",
          service_definition: "D",
          position: 0,
          tags: [tag.id],
          virtualization: { type: "Docker", details: { container_name: "c" } },
          bindings: [],
        },
      ],
    }),
    networks: (n) => ({
      organization_id: organizationId,
      name: `n${n}`,
      description: "d",
      tags: [tag.id],
      stale_after_hours: 24,
      expire_addresses_after_hours: 48,
      expire_hosts_after_hours: 48,
      expire_random_macs_after_hours: 12,
    }),
    "discovery/schedules": (n) => ({
      network_id: networkId,
      name: `n${n}`,
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      kind: "full",
      targets: ["198.51.100.0/24", "192.0.2.7"],
      is_enabled: false,
    }),
    "ip-ranges": (n) => ({
      network_id: networkId,
      subnet_id: wide.id,
      first: `2001:db8::${n.toString(16)}:0`,
      last: `2001:db8::${n.toString(16)}:ff`,
      purpose: "Dhcp",
      description: "r",
      tags: [tag.id],
    }),
    subnets: (n) => ({
      network_id: networkId,
      cidr: `10.${n >> 8}.${n & 255}.0/24`,
      name: "s",
      description: "d",
      subnet_type: "Lan",
      vlan_id: vlan.id,
      tags: [tag.id],
      accepts_credentials: true,
    }),
    tags: (n) => ({
      organization_id: organizationId,
      name: `t${n}`,
      description: "d",
      color: "Green",
      is_application: false,
    }),
    users: (n) => ({
      email: `u${n}@example.org`,
      name: "u",
      role: "Viewer",
      network_ids: [networkId],
      is_enabled: true,
      password: PASSWORD,
    }),
    // Never the existing VLAN's number.
    vlans: (n) => ({ network_id: networkId, number: 1 + ((vlan.number + n) % 4_094), name: "v", description: "d" }),
    organizations: () => ({ name: "First" }),
    "discovery/self": () => ({ network_id: networkId }),
    "discovery/scans": () => ({
      network_id: networkId,
      kind: "snmp",
      targets: ["198.51.100.7", "198.51.100.0/30"],
      commit: false,
      allow_large: false,
    }),
  };
}

function childBodies(
  appliance: TestAppliance,
  records: Record<"tag" | "vlan" | "host", JsonRecord> & {
    readonly address: string;
    readonly addresses: string[];
    readonly ports: string[];
    readonly service: string;
    readonly parent: string;
  },
): Bodies {
  const { networkId } = appliance.first;
  const { tag, vlan, host, address, addresses, ports, service, parent } = records;
  return {
    "if-entries": (n) => ({
      host_id: host.id,
      network_id: networkId,
      if_index: 1_000 + n,
      if_descr: "d",
      if_name: "n",
      if_alias: "a",
      if_type: 6,
      admin_status: "Up",
      oper_status: "Down",
      speed_bps: 1_000,
      mac_address: "00:00:5e:00:53:02",
      ip_address_id: address,
      cdp_address: "a",
      cdp_capabilities: ["Phone"],
      cdp_device_id: "d",
      cdp_platform: "p",
      cdp_port_id: "p",
      fdb_macs: ["00:00:5e:00:53:03"],
      lldp_chassis_id: { subtype: "LocallyAssigned", value: "v" },
      lldp_port_id: { subtype: "LocallyAssigned", value: "v" },
      lldp_mgmt_addr: "192.0.2.3",
      lldp_capabilities: ["Telephone"],
      lldp_port_desc: "d",
      lldp_sys_desc: "d",
      lldp_sys_name: "n",
      native_vlan_id: vlan.id,
      vlan_ids: [vlan.id],
      neighbor: { type: "Host", id: host.id },
    }),
    bindings: (n) => ({
      service_id: service,
      host_id: parent,
      network_id: networkId,
      type: "Port",
      port_id: ports[n % TARGETS],
      ip_address_id: addresses[((n / TARGETS) % TARGETS) | 0],
    }),
    "ip-addresses": (n) => ({
      host_id: parent,
      network_id: networkId,
      ip_address: `2001:db8::${n.toString(16)}`,
      mac_address: "00:00:5e:00:53:04",
      name: "a",
      position: 3,
    }),
    ports: (n) => ({ host_id: parent, network_id: networkId, number: 10_000 + n, protocol: "Udp" }),
    services: (n) => ({
      host_id: parent,
      network_id: networkId,
      name: `s${n}`,
      service_definition: "D",
      position: 3,
      tags: [tag.id],
      virtualization: { type: "Podman", details: { container_name: "c", container_id: "i", compose_project: "p" } },
      bindings: [{ type: "Port", port_id: ports[0], ip_address_id: addresses[0] }],
    }),
  };
}

/** Path of the operation on a live record. */
export function pathOf(operation: Operation, fixture: RecordFixture): string {
  return operation.path.replace(":id", operation.plural === undefined ? "" : fixture.records[operation.plural]?.id);
}

/** Valid body of the operation: a new record's, or the existing record with all its read-only fields. */
export function bodyOf(operation: Operation, fixture: RecordFixture): JsonRecord | undefined {
  if (operation.method === "GET" || operation.method === "DELETE") return undefined;
  if (operation.path.endsWith("/rotate") || operation.plural === undefined) return {};
  if (operation.method === "POST") return fixture.body(operation.plural);
  return fixture.records[operation.plural];
}
