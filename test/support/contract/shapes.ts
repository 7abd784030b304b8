// Response fields of every record, as data (handbook: records), and their check. Keys are exact: an unlisted key fails
// like a missing one.

import { expect } from "bun:test";
import type { ApiResponse } from "../appliance/client.ts";

/** Errors of a value at a path, one sentence each; empty if valid. */
type Check = (value: unknown, path: string) => string[];

/** Fields of an object; those wrapped in `omittable` may be missing. */
type Shape = Readonly<Record<string, Check>>;

const TIMESTAMP = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

const optional = new WeakSet<Check>();

/** Fields with the same check; names separated by spaces. */
const fields = (check: Check, names: string): Shape =>
  Object.fromEntries(names.split(" ").map((name) => [name, check]));

export const text: Check = is("a string", (value) => typeof value === "string");
const flag: Check = is("a boolean", (value) => typeof value === "boolean");
const integer: Check = is("an integer", (value) => Number.isSafeInteger(value));
const uuid: Check = is("a lower-case UUID", (value) => typeof value === "string" && UUID.test(value));
const timestamp: Check = is(
  "a UTC timestamp with three digits and Z",
  (value) => typeof value === "string" && TIMESTAMP.test(value),
);
const mac: Check = is("a MAC address, lower case with colons", (value) => typeof value === "string" && MAC.test(value));

function orNull(check: Check): Check {
  return (value, path) => (value === null ? [] : check(value, path));
}

function listOf(check: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, `${path}/${index}`))
      : [`${path}: ${show(value)} is not an array`];
}

function oneOf(...values: readonly string[]): Check {
  return is(`one of ${values.join(" ")}`, (value) => typeof value === "string" && values.includes(value));
}

/** May be missing. If present it has a value, null only where the check allows it. */
function omittable(check: Check): Check {
  const omittableCheck: Check = (value, path) => check(value, path);
  optional.add(omittableCheck);
  return omittableCheck;
}

export function object(shape: Shape): Check {
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return [`${path}: ${show(value)} is not an object`];
    const found = value as Record<string, unknown>;
    const unlisted = Object.keys(found).filter((key) => shape[key] === undefined);
    return [
      ...unlisted.map((key) => `${path}/${key}: not documented`),
      ...Object.entries(shape).flatMap(([key, check]) => {
        if (Object.hasOwn(found, key)) return check(found[key], `${path}/${key}`);
        return optional.has(check) ? [] : [`${path}/${key}: missing`];
      }),
    ];
  };
}

/** Errors that a check finds in a value. */
export function problems(value: unknown, check: Check): string[] {
  return check(value, "");
}

const ROLES = ["Owner", "Admin", "Member", "Viewer"];
const ADMIN_STATUSES = ["Up", "Down", "Testing"];
const OPER_STATUSES = ["Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"];
export const COLORS = [
  ..."Pink Rose Red Amber Orange Green Emerald Teal Cyan Blue".split(" "),
  ..."Indigo Purple Fuchsia Violet Sky Gray Lime Yellow".split(" "),
];

const sourceShape = object({ type: oneOf("Manual", "System", "Discovery", "Inferred", "Unknown") });
const SUBTYPES = "InterfaceAlias PortComponent MacAddress NetworkAddress InterfaceName LocallyAssigned".split(" ");
const chassisId = object({ subtype: oneOf("ChassisComponent", ...SUBTYPES), value: text });
const portId = object({ subtype: oneOf("AgentCircuitId", ...SUBTYPES), value: text });
const neighbor = object({ type: oneOf("IfEntry", "Host"), id: uuid });
const secret = object({ mode: oneOf("Inline", "FilePath"), value: omittable(text), path: omittable(text) });
const inlineSecret = object({ mode: oneOf("Inline"), value: oneOf("********") });

/** created_at … lineage_id of every record (handbook: time, "Versions and their intervals"). */
const versionFields: Shape = {
  ...fields(timestamp, "created_at updated_at valid_from"),
  valid_to: orNull(timestamp),
  lineage_id: orNull(uuid),
};
/** Discovery fields of host children. */
const discoveryFields: Shape = {
  ...versionFields,
  last_seen_at: timestamp,
  ...fields(orNull(uuid), "first_discovery_id last_discovery_id"),
};

export const credentialShape = object({
  ...fields(uuid, "id organization_id"),
  name: text,
  assigned_network_ids: listOf(uuid),
  credential_type: (value, path) => {
    const type = (value as { type?: unknown } | null)?.type;
    if (type === "SnmpV1" || type === "SnmpV2c")
      return object({
        type: text,
        community: (value as { community?: { mode?: string } }).community?.mode === "Inline" ? inlineSecret : secret,
      })(value, path);
    return object({
      type: oneOf("SnmpV3"),
      security_name: text,
      auth_protocol: oneOf("None", "Md5", "Sha1", "Sha256", "Sha384", "Sha512"),
      auth_password: omittable(orNull(secret)),
      priv_protocol: oneOf("None", "Des", "Aes128", "Aes256"),
      priv_password: omittable(orNull(secret)),
      context_name: omittable(orNull(text)),
    })(value, path);
  },
  host_assignments: listOf(object({ host_id: uuid, ip_address_ids: omittable(listOf(uuid)) })),
  tags: listOf(uuid),
  target_ips: orNull(listOf(text)),
  secrets_updated_at: orNull(timestamp),
  ...versionFields,
});

/** Interface entry within its host. */
const hostInterfaceShape = object({
  ...fields(uuid, "id host_id network_id"),
  admin_status: oneOf(...ADMIN_STATUSES),
  oper_status: oneOf(...OPER_STATUSES),
  if_descr: text,
  ...fields(integer, "if_index if_type"),
  ...fields(orNull(text), "if_alias if_name cdp_address cdp_device_id cdp_platform cdp_port_id"),
  ...fields(orNull(text), "lldp_mgmt_addr lldp_port_desc lldp_sys_desc lldp_sys_name"),
  lldp_chassis_id: orNull(chassisId),
  lldp_port_id: orNull(portId),
  ...fields(orNull(listOf(text)), "lldp_capabilities cdp_capabilities"),
  ...fields(orNull(uuid), "ip_address_id lag_id parent_id"),
  mac_address: orNull(mac),
  neighbor: orNull(neighbor),
  speed_bps: orNull(integer),
  ...discoveryFields,
});

export const ipAddressShape = object({
  ...fields(uuid, "id host_id network_id subnet_id"),
  ...fields(text, "ip_address name"),
  mac_address: orNull(mac),
  position: integer,
  ...discoveryFields,
});

export const portShape = object({
  ...fields(uuid, "id host_id network_id"),
  number: integer,
  protocol: oneOf("Tcp", "Udp"),
  type: text,
  ...discoveryFields,
});

/** An address binding has no port. */
export const bindingShape = object({
  ...fields(uuid, "id service_id network_id"),
  ...fields(orNull(uuid), "ip_address_id port_id"),
  type: oneOf("Port", "IpAddress"),
  ...discoveryFields,
});

export const serviceShape = object({
  ...fields(uuid, "id host_id network_id"),
  ...fields(text, "name service_definition"),
  position: integer,
  source: sourceShape,
  tags: listOf(uuid),
  virtualization: orNull(object({ type: oneOf("Docker", "Podman"), details: is("an object", isObject) })),
  bindings: listOf(bindingShape),
  ...discoveryFields,
});

export const hostShape = object({
  ...fields(uuid, "id network_id"),
  name: text,
  hidden: flag,
  tags: listOf(uuid),
  credential_assignments: listOf(object({ credential_id: uuid, ip_address_ids: omittable(listOf(uuid)) })),
  interfaces: listOf(hostInterfaceShape),
  ip_addresses: listOf(ipAddressShape),
  ports: listOf(portShape),
  services: listOf(serviceShape),
  source: sourceShape,
  virtualization: orNull(
    object({ type: oneOf("Proxmox", "VCenter", "Esxi", "HyperV", "Kvm"), details: is("an object", isObject) }),
  ),
  ...fields(orNull(text), "hostname description sys_name sys_descr sys_object_id sys_location sys_contact"),
  ...fields(orNull(text), "manufacturer model serial_number management_url asset_tag"),
  chassis_id: orNull(is("a string or an object", (value) => typeof value === "string" || isObject(value))),
  consolidated_into: orNull(uuid),
  ...fields(omittable(orNull(text)), "device_type device_type_source bridge_address engine_id split_from"),
  last_seen_at: orNull(timestamp),
  ...versionFields,
});

export const tagShape = object({
  ...fields(uuid, "id organization_id"),
  ...fields(text, "name description"),
  color: oneOf(...COLORS),
  is_application: flag,
  ...versionFields,
});

/** Interface entry in a list. Optional fields without a value are omitted, so none is ever null. */
export const ifEntryShape = object({
  admin_status: oneOf(...ADMIN_STATUSES),
  oper_status: oneOf(...OPER_STATUSES),
  ...fields(timestamp, "created_at updated_at"),
  ...fields(uuid, "host_id id network_id"),
  if_descr: text,
  ...fields(integer, "if_index if_type"),
  ...fields(omittable(text), "if_alias if_name cdp_address cdp_device_id cdp_platform cdp_port_id"),
  ...fields(omittable(text), "lldp_mgmt_addr lldp_port_desc lldp_sys_desc lldp_sys_name"),
  lldp_chassis_id: omittable(chassisId),
  lldp_port_id: omittable(portId),
  ...fields(omittable(listOf(text)), "lldp_capabilities cdp_capabilities"),
  ...fields(omittable(uuid), "first_discovery_id last_discovery_id lineage_id ip_address_id native_vlan_id"),
  ...fields(omittable(uuid), "lag_id parent_id"),
  ...fields(omittable(timestamp), "last_seen_at valid_from valid_to"),
  fdb_macs: omittable(listOf(mac)),
  mac_address: omittable(mac),
  neighbor: omittable(neighbor),
  speed_bps: omittable(integer),
  vlan_ids: omittable(listOf(uuid)),
});

/** `last_used` is null before the first use. */
export const apiKeyShape = object({
  ...fields(uuid, "id organization_id user_id"),
  ...fields(text, "name key"),
  ...fields(listOf(uuid), "tags network_ids"),
  ...fields(orNull(timestamp), "expires_at last_used"),
  ...fields(flag, "is_enabled all_networks"),
  allowed_sources: orNull(listOf(text)),
  permissions: oneOf(...ROLES),
  ...versionFields,
});

const paginationShape = object({ has_more: flag, limit: integer, offset: integer, total_count: integer });
const meta: Shape = {
  api_version: is("1", (value) => value === 1),
  server_version: is("a version", (value) => typeof value === "string" && value !== ""),
  at: omittable(timestamp),
};

const successShape = object({
  success: is("true", (value) => value === true),
  data: is("an object", isObject),
  meta: object(meta),
});
const listShape = object({
  success: is("true", (value) => value === true),
  data: listOf(is("an object", isObject)),
  meta: object({ ...meta, pagination: paginationShape }),
});
const errorShape = object({
  success: is("false", (value) => value === false),
  code: is("a machine-readable code", (value) => typeof value === "string" && /^[a-z]+(_[a-z]+)*$/.test(value)),
  error: is("a text", (value) => typeof value === "string" && value.length > 8),
  params: is("an object", isObject),
  meta: object(meta),
});

/** Errors of a response's envelope (handbook: api); the status determines its type. */
export function envelopeProblems(response: ApiResponse): string[] {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith("application/json")) return [`content-type: ${show(type)} is not application/json`];
  if (response.headers.get("x-request-id") === null) return ["x-request-id: missing"];
  if (response.status !== 200)
    return response.status >= 400
      ? problems(response.body, errorShape)
      : [`status: ${response.status} is neither 200 nor an error`];
  return problems(response.body, Array.isArray(response.body?.data) ? listShape : successShape);
}

/** Asserts a success in its envelope. @returns its `data` */
export async function expectSuccess(pending: Promise<ApiResponse>): Promise<any> {
  const response = await pending;
  if (response.status !== 200)
    throw new Error(`expected 200, got ${response.status}: ${response.text.slice(0, 2_000)}`);
  expect(envelopeProblems(response)).toEqual([]);
  return response.data;
}

/** Asserts a refusal by status, code and these params, in its envelope. @returns the response */
export async function expectRefusal(
  pending: Promise<ApiResponse>,
  status: number,
  code: string,
  params: object = {},
): Promise<ApiResponse> {
  const response = await pending;
  if (response.status !== status || response.body?.code !== code)
    throw new Error(`expected ${status} ${code}, got ${response.status}: ${response.text.slice(0, 2_000)}`);
  expect(response.body.params ?? {}).toMatchObject(params);
  expect(envelopeProblems(response)).toEqual([]);
  return response;
}

/** Asserts `validation_failed`. @returns the pointers of all issues, sorted */
export async function issuePaths(pending: Promise<ApiResponse>): Promise<string[]> {
  const { body } = await expectRefusal(pending, 400, "validation_failed");
  expect(
    problems(body.params.issues, listOf(object({ path: text, message: text, value: omittable(() => []) }))),
  ).toEqual([]);
  return body.params.issues.map((issue: { path: string }) => issue.path).sort();
}

function is(description: string, test: (value: unknown) => boolean): Check {
  return (value, path) => (test(value) ? [] : [`${path}: ${show(value)} is not ${description}`]);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 120 ? `${json.slice(0, 120)}…` : json;
}
