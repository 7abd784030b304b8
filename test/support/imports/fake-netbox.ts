// Fake server for NetBox's REST API, version 3 or 4, as documented, with the objects of a test.

type Json = Readonly<Record<string, unknown>>;

export interface FakeSite {
  readonly id: number;
  readonly name: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

/** Values of custom fields, by name. */
type Custom = Readonly<Record<string, unknown>>;

export interface FakeField {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly objects: readonly string[];
  readonly label?: string;
  /** Values and labels. */
  readonly choices?: ReadonlyArray<readonly [string, string]>;
}

export interface FakeInterface {
  readonly custom?: Custom;
  readonly id: number;
  readonly name: string;
  readonly type?: string;
  readonly mac?: string | null;
  readonly enabled?: boolean;
  readonly description?: string;
  readonly speedKbps?: number | null;
  readonly native?: FakeVlanRef | null;
  readonly tagged?: readonly FakeVlanRef[];
}

interface FakeVlanRef {
  readonly id: number;
  readonly vid: number;
  readonly name: string;
}

export interface FakeDevice {
  readonly custom?: Custom;
  readonly id: number;
  readonly name: string | null;
  /** Null for a virtual machine without a site. */
  readonly site: number | null;
  readonly description?: string;
  readonly serial?: string;
  readonly assetTag?: string | null;
  readonly manufacturer?: string;
  readonly model?: string;
  readonly location?: string;
  readonly rack?: string;
  readonly position?: number;
  readonly tags?: readonly string[];
  readonly interfaces?: readonly FakeInterface[];
  readonly primary?: number;
  readonly cluster?: number;
}

export interface FakeAddress {
  readonly custom?: Custom;
  readonly id: number;
  readonly address: string;
  readonly vrf?: number;
  readonly dnsName?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Interface of a device or of a virtual machine. */
  readonly on?: { readonly device?: number; readonly machine?: number; readonly interface: number };
}

export interface FakeVlan extends FakeVlanRef {
  readonly custom?: Custom;
  readonly site?: number | null;
  readonly group?: number;
  readonly description?: string;
}

export interface FakePrefix {
  readonly custom?: Custom;
  readonly id: number;
  readonly prefix: string;
  readonly site?: number | null;
  readonly location?: number;
  readonly region?: number;
  readonly vrf?: number;
  readonly vlan?: FakeVlanRef;
  /** Default: active. */
  readonly status?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

export interface NetboxFixture {
  tags: Array<{ id: number; name: string; color?: string; description?: string }>;
  fields: FakeField[];
  sites: FakeSite[];
  locations: Array<{ id: number; name: string; site: number }>;
  groups: Array<{ id: number; name: string; site: number }>;
  clusters: Array<{ id: number; name: string; site: number | null }>;
  vlans: FakeVlan[];
  prefixes: FakePrefix[];
  devices: FakeDevice[];
  machines: FakeDevice[];
  addresses: FakeAddress[];
}

export function emptyFixture(): NetboxFixture {
  const scopes = { sites: [], locations: [], groups: [], clusters: [] };
  return { tags: [], fields: [], ...scopes, vlans: [], prefixes: [], devices: [], machines: [], addresses: [] };
}

export interface FakeNetboxOptions {
  readonly version?: string;
  readonly token?: string;
  /** Called before the response; its result replaces the response. */
  readonly intercept?: (path: string, requestCount: number) => Response | Promise<Response | null> | null;
  /** Modifies an object before sending. */
  readonly distort?: (path: string, object: Json) => unknown;
  readonly pageMax?: number;
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface FakeNetbox {
  readonly url: string;
  /** Requested paths with queries. */
  readonly requestedPaths: string[];
  stop(): Promise<void>;
}

/** Starts the server on a free port of 127.0.0.1. The fixture may change while it runs. */
export function serveNetbox(fixture: NetboxFixture, options: FakeNetboxOptions = {}, port = 0): FakeNetbox {
  const { version = "4.2.3", token = "0123456789abcdef0123456789abcdef01234567", pageMax = 1_000 } = options;
  const requestedPaths: string[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    fetch: async (request) => {
      const url = new URL(request.url);
      requestedPaths.push(url.pathname + url.search);
      const override = await options.intercept?.(url.pathname, requestedPaths.length);
      if (override !== null && override !== undefined) return override;
      if (request.headers.get("authorization") !== `Token ${token}`)
        return Response.json({ detail: "Invalid token" }, { status: 403 });
      if (url.pathname === "/api/status/")
        return Response.json({ "netbox-version": version, "python-version": "3.11" });
      const form = version.startsWith("3") || /^4\.[01]\./.test(version) ? "site" : "scope";
      const objects = listOf(fixture, url, { form, version });
      if (objects === null) return Response.json({ detail: "Not found." }, { status: 404 });
      const limit = Math.min(pageMax, Number(url.searchParams.get("limit") ?? 50));
      const offset = Number(url.searchParams.get("offset") ?? 0);
      const results = objects
        .slice(offset, offset + limit)
        .map((object) => options.distort?.(url.pathname, object) ?? object);
      const next =
        offset + limit < objects.length ? `${url.origin}${url.pathname}?limit=${limit}&offset=${offset + limit}` : null;
      return Response.json({ count: objects.length, next, previous: null, results });
    },
  });
  return { url: server.url.href.replace(/\/$/, ""), requestedPaths, stop: () => server.stop(true) };
}

type Form = "site" | "scope";

function listOf(fixture: NetboxFixture, url: URL, server: { form: Form; version: string }): Json[] | null {
  const { form } = server;
  const query = url.searchParams;
  const lists: Readonly<Record<string, () => Json[]>> = {
    "/api/extras/tags/": () =>
      fixture.tags.map((tag) => ({
        ...nested(tag),
        slug: slug(tag.name),
        color: tag.color ?? "9e9e9e",
        description: tag.description ?? "",
      })),
    "/api/extras/custom-fields/": () => fixture.fields.map((field) => fieldJson(field, server.version)),
    "/api/extras/custom-field-choice-sets/": () =>
      fixture.fields.map(({ id, name, choices = [] }) => ({
        ...nested({ id, name }),
        base_choices: null,
        extra_choices: choices,
      })),
    "/api/dcim/sites/": () =>
      fixture.sites.map((site) => ({
        ...nested(site),
        slug: slug(site.name),
        description: site.description ?? "",
        tags: tagList(site.tags),
        status: choice("active"),
      })),
    "/api/dcim/locations/": () =>
      fixture.locations.map((hall) => ({ ...nested(hall), site: siteRef(fixture, hall.site), parent: null })),
    "/api/ipam/vlan-groups/": () =>
      fixture.groups.map((group) => ({ ...nested(group), ...siteOrScope(fixture, "scope", group.site) })),
    "/api/virtualization/clusters/": () =>
      fixture.clusters.map((cluster) => ({
        ...nested(cluster),
        ...siteOrScope(fixture, form, cluster.site),
        type: { id: 1, name: "KVM" },
      })),
    "/api/ipam/vlans/": () =>
      fixture.vlans.map((vlan) => ({
        ...vlanRef(vlan),
        site: vlan.site === undefined || vlan.site === null ? null : siteRef(fixture, vlan.site),
        group: vlan.group === undefined ? null : { id: vlan.group, name: `group ${vlan.group}` },
        description: vlan.description ?? "",
        custom_fields: vlan.custom ?? {},
        status: choice("active"),
      })),
    "/api/ipam/prefixes/": () => fixture.prefixes.map((prefix) => prefixJson(fixture, form, prefix)),
    "/api/dcim/devices/": () => fixture.devices.map((device) => deviceJson(fixture, device)),
    "/api/virtualization/virtual-machines/": () => fixture.machines.map((machine) => machineJson(fixture, machine)),
    "/api/dcim/interfaces/": () =>
      ownedBy(fixture.devices, query.getAll("device_id"), (device) => interfacesJson(device, "device", form)),
    "/api/virtualization/interfaces/": () =>
      ownedBy(fixture.machines, query.getAll("virtual_machine_id"), (machine) =>
        interfacesJson(machine, "virtual_machine", form),
      ),
    "/api/ipam/ip-addresses/": () => addressesJson(fixture, query),
  };
  return lists[url.pathname]?.() ?? null;
}

function ownedBy(
  devices: readonly FakeDevice[],
  ids: readonly string[],
  parts: (device: FakeDevice) => Json[],
): Json[] {
  const requestedIds = new Set(ids.map(Number));
  return devices.filter(({ id }) => requestedIds.has(id)).flatMap(parts);
}

function nested(object: { readonly id: number; readonly name: string }): Json {
  return { id: object.id, url: `http://netbox.invalid/api/x/${object.id}/`, display: object.name, name: object.name };
}

function siteRef(fixture: NetboxFixture, id: number): Json {
  return nested(fixture.sites.find((site) => site.id === id) ?? { id, name: `site ${id}` });
}

/** Scope fields since NetBox 4.2, before that a site. */
function siteOrScope(fixture: NetboxFixture, form: Form, site: number | null | undefined): Json {
  const hasNoSite = site === null || site === undefined;
  if (form === "site") return { site: hasNoSite ? null : siteRef(fixture, site) };
  return hasNoSite
    ? { scope_type: null, scope_id: null, scope: null }
    : { scope_type: "dcim.site", scope_id: site, scope: siteRef(fixture, site) };
}

/** Custom field: with a separate choice set since NetBox 3.6, and `object_types` since 4.0. */
function fieldJson(field: FakeField, version: string): Json {
  const { id, name, type, objects, choices } = field;
  const isOld = /^3\.[0-5]\./.test(version);
  return {
    ...nested({ id, name }),
    type: choice(type),
    label: field.label ?? "",
    description: "",
    required: true,
    default: null,
    [version.startsWith("3") ? "content_types" : "object_types"]: objects,
    ...(isOld
      ? { choices: choices?.map(([value]) => value) ?? [] }
      : { choice_set: choices === undefined ? null : { id } }),
  };
}

function prefixJson(fixture: NetboxFixture, form: Form, prefix: FakePrefix): Json {
  const scopeFields =
    form === "scope" && prefix.location !== undefined
      ? { scope_type: "dcim.location", scope_id: prefix.location, scope: { id: prefix.location, name: "a location" } }
      : form === "scope" && prefix.region !== undefined
        ? { scope_type: "dcim.region", scope_id: prefix.region, scope: { id: prefix.region, name: "a region" } }
        : siteOrScope(fixture, form, prefix.site);
  return {
    id: prefix.id,
    url: `http://netbox.invalid/api/ipam/prefixes/${prefix.id}/`,
    display: prefix.prefix,
    family: { value: prefix.prefix.includes(":") ? 6 : 4, label: "IP" },
    prefix: prefix.prefix,
    ...scopeFields,
    vrf: prefix.vrf === undefined ? null : { id: prefix.vrf, name: `vrf ${prefix.vrf}` },
    vlan: prefix.vlan === undefined ? null : vlanRef(prefix.vlan),
    status: choice(prefix.status ?? "active"),
    description: prefix.description ?? "",
    tags: tagList(prefix.tags),
    custom_fields: prefix.custom ?? {},
  };
}

function deviceJson(fixture: NetboxFixture, device: FakeDevice): Json {
  return {
    id: device.id,
    url: `http://netbox.invalid/api/dcim/devices/${device.id}/`,
    display: device.name ?? `${device.model ?? "Switch 48"} (${device.id})`,
    name: device.name,
    device_type: {
      id: 1,
      manufacturer: { id: 1, name: device.manufacturer ?? "Acme" },
      model: device.model ?? "Switch 48",
    },
    role: { id: 1, name: "Access" },
    serial: device.serial ?? "",
    asset_tag: device.assetTag ?? null,
    site: device.site === null ? null : siteRef(fixture, device.site),
    location: device.location === undefined ? null : { id: 1, name: device.location },
    rack: device.rack === undefined ? null : { id: 1, name: device.rack },
    position: device.position ?? null,
    status: choice("active"),
    primary_ip: device.primary === undefined ? null : { id: device.primary },
    primary_ip4: device.primary === undefined ? null : { id: device.primary },
    primary_ip6: null,
    description: device.description ?? "",
    comments: "",
    tags: tagList(device.tags),
    custom_fields: device.custom ?? {},
  };
}

function machineJson(fixture: NetboxFixture, machine: FakeDevice): Json {
  const { device_type: _type, serial: _serial, asset_tag: _asset, rack: _rack, ...rest } = deviceJson(fixture, machine);
  return {
    ...rest,
    url: `http://netbox.invalid/api/virtualization/virtual-machines/${machine.id}/`,
    cluster: machine.cluster === undefined ? null : { id: machine.cluster, name: `cluster ${machine.cluster}` },
  };
}

function interfacesJson(device: FakeDevice, owner: "device" | "virtual_machine", form: Form): Json[] {
  return (device.interfaces ?? []).map((port) => ({
    id: port.id,
    display: port.name,
    [owner]: { id: device.id, name: device.name, display: device.name },
    name: port.name,
    ...(owner === "device" ? { type: choice(port.type ?? "1000base-t"), speed: port.speedKbps ?? null } : {}),
    enabled: port.enabled ?? true,
    ...(form === "scope"
      ? {
          primary_mac_address:
            port.mac === undefined || port.mac === null ? null : { id: port.id, mac_address: port.mac },
        }
      : { mac_address: port.mac ?? null }),
    description: port.description ?? "",
    untagged_vlan: port.native === undefined || port.native === null ? null : vlanRef(port.native),
    tagged_vlans: (port.tagged ?? []).map(vlanRef),
    tags: [],
    custom_fields: port.custom ?? {},
  }));
}

function addressesJson(fixture: NetboxFixture, query: URLSearchParams): Json[] {
  const devices = new Set(query.getAll("device_id").map(Number));
  const machines = new Set(query.getAll("virtual_machine_id").map(Number));
  const isUnassigned = query.get("assigned_to_interface") === "false";
  return fixture.addresses
    .filter(({ on }) =>
      isUnassigned
        ? on === undefined
        : on !== undefined && (devices.has(on.device ?? -1) || machines.has(on.machine ?? -1)),
    )
    .map((address) => ({
      id: address.id,
      url: `http://netbox.invalid/api/ipam/ip-addresses/${address.id}/`,
      display: address.address,
      address: address.address,
      vrf: address.vrf === undefined ? null : { id: address.vrf, name: `vrf ${address.vrf}` },
      status: choice("active"),
      dns_name: address.dnsName ?? "",
      description: address.description ?? "",
      tags: tagList(address.tags),
      custom_fields: address.custom ?? {},
      ...assigned(address),
    }));
}

function assigned({ on }: FakeAddress): Json {
  if (on === undefined) return { assigned_object_type: null, assigned_object_id: null, assigned_object: null };
  const [type, owner, id] =
    on.device !== undefined
      ? ["dcim.interface", "device", on.device]
      : ["virtualization.vminterface", "virtual_machine", on.machine];
  return {
    assigned_object_type: type,
    assigned_object_id: on.interface,
    assigned_object: { id: on.interface, name: `if ${on.interface}`, [owner as string]: { id, name: "its owner" } },
  };
}

function vlanRef(vlan: FakeVlanRef): Json {
  return { ...nested(vlan), vid: vlan.vid };
}

function tagList(names: readonly string[] = []): Json[] {
  return names.map((name, position) => ({ id: position + 1, name, slug: slug(name), color: "9e9e9e", display: name }));
}

function choice(value: string): Json {
  return { value, label: value };
}

function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 50);
}
