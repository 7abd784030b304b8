// Fields of every record in answers, as data (handbook: records), with the check of an answer. Keys are exact: an
// unlisted key fails like a missing one.

import { expect } from "bun:test";
import type { Answer } from "../appliance/client.ts";

/** Errors of a value at a path, one sentence each; empty if valid. */
type Check = (value: unknown, path: string) => string[];

/** Fields of an object; those wrapped in `leftOut` may be missing. */
type Shape = Readonly<Record<string, Check>>;

const TIMESTAMP = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

const optional = new WeakSet<Check>();

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
function leftOut(check: Check): Check {
  const may: Check = (value, path) => check(value, path);
  optional.add(may);
  return may;
}

export function object(shape: Shape): Check {
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return [`${path}: ${show(value)} is not an object`];
    const fields = value as Record<string, unknown>;
    const foreign = Object.keys(fields).filter((key) => shape[key] === undefined);
    return [
      ...foreign.map((key) => `${path}/${key}: no table has it`),
      ...Object.entries(shape).flatMap(([key, check]) => {
        if (Object.hasOwn(fields, key)) return check(fields[key], `${path}/${key}`);
        return optional.has(check) ? [] : [`${path}/${key}: missing`];
      }),
    ];
  };
}

/** Errors of a value by its check. */
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
const chassisId = object({
  subtype: oneOf(
    "ChassisComponent",
    "InterfaceAlias",
    "PortComponent",
    "MacAddress",
    "NetworkAddress",
    "InterfaceName",
    "LocallyAssigned",
  ),
  value: text,
});
const portId = object({
  subtype: oneOf(
    "InterfaceAlias",
    "PortComponent",
    "MacAddress",
    "NetworkAddress",
    "InterfaceName",
    "AgentCircuitId",
    "LocallyAssigned",
  ),
  value: text,
});
const neighbor = object({ type: oneOf("IfEntry", "Host"), id: uuid });
const secret = object({ mode: oneOf("Inline", "FilePath"), value: leftOut(text), path: leftOut(text) });
const inlineSecret = object({ mode: oneOf("Inline"), value: oneOf("********") });

/** created_at … lineage_id of every record (handbook: time, "Versions and their intervals"). */
const life: Shape = {
  created_at: timestamp,
  updated_at: timestamp,
  valid_from: timestamp,
  valid_to: orNull(timestamp),
  lineage_id: orNull(uuid),
};
/** Discovery fields of host children. */
const seen: Shape = {
  ...life,
  last_seen_at: timestamp,
  first_discovery_id: orNull(uuid),
  last_discovery_id: orNull(uuid),
};

export const credentialShape = object({
  id: uuid,
  name: text,
  organization_id: uuid,
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
      auth_password: leftOut(orNull(secret)),
      priv_protocol: oneOf("None", "Des", "Aes128", "Aes256"),
      priv_password: leftOut(orNull(secret)),
      context_name: leftOut(orNull(text)),
    })(value, path);
  },
  host_assignments: listOf(object({ host_id: uuid, ip_address_ids: leftOut(listOf(uuid)) })),
  tags: listOf(uuid),
  target_ips: orNull(listOf(text)),
  secrets_updated_at: orNull(timestamp),
  ...life,
});

/** Interface entry within its host. */
const hostInterfaceShape = object({
  id: uuid,
  host_id: uuid,
  network_id: uuid,
  admin_status: oneOf(...ADMIN_STATUSES),
  oper_status: oneOf(...OPER_STATUSES),
  cdp_address: orNull(text),
  cdp_device_id: orNull(text),
  cdp_platform: orNull(text),
  cdp_port_id: orNull(text),
  if_alias: orNull(text),
  if_descr: text,
  if_name: orNull(text),
  if_index: integer,
  if_type: integer,
  ip_address_id: orNull(uuid),
  lldp_chassis_id: orNull(chassisId),
  lldp_mgmt_addr: orNull(text),
  lldp_port_desc: orNull(text),
  lldp_port_id: orNull(portId),
  lldp_sys_desc: orNull(text),
  lldp_sys_name: orNull(text),
  mac_address: orNull(mac),
  neighbor: orNull(neighbor),
  speed_bps: orNull(integer),
  ...seen,
});

export const ipAddressShape = object({
  id: uuid,
  host_id: uuid,
  network_id: uuid,
  subnet_id: uuid,
  ip_address: text,
  mac_address: orNull(mac),
  name: text,
  position: integer,
  ...seen,
});

export const portShape = object({
  id: uuid,
  host_id: uuid,
  network_id: uuid,
  number: integer,
  protocol: oneOf("Tcp", "Udp"),
  type: text,
  ...seen,
});

/** An address binding has no port. */
export const bindingShape = object({
  id: uuid,
  service_id: uuid,
  network_id: uuid,
  ip_address_id: orNull(uuid),
  port_id: orNull(uuid),
  type: oneOf("Port", "IpAddress"),
  ...seen,
});

export const serviceShape = object({
  id: uuid,
  host_id: uuid,
  network_id: uuid,
  name: text,
  position: integer,
  service_definition: text,
  source: sourceShape,
  tags: listOf(uuid),
  virtualization: orNull(object({ type: oneOf("Docker", "Podman"), details: is("an object", isObject) })),
  bindings: listOf(bindingShape),
  ...seen,
});

export const hostShape = object({
  id: uuid,
  name: text,
  hostname: orNull(text),
  description: orNull(text),
  hidden: flag,
  network_id: uuid,
  tags: listOf(uuid),
  credential_assignments: listOf(object({ credential_id: uuid, ip_address_ids: leftOut(listOf(uuid)) })),
  interfaces: listOf(hostInterfaceShape),
  ip_addresses: listOf(ipAddressShape),
  ports: listOf(portShape),
  services: listOf(serviceShape),
  source: sourceShape,
  virtualization: orNull(
    object({ type: oneOf("Proxmox", "VCenter", "Esxi", "HyperV", "Kvm"), details: is("an object", isObject) }),
  ),
  sys_name: orNull(text),
  sys_descr: orNull(text),
  sys_object_id: orNull(text),
  sys_location: orNull(text),
  sys_contact: orNull(text),
  chassis_id: orNull(is("a string or an object", (value) => typeof value === "string" || isObject(value))),
  manufacturer: orNull(text),
  model: orNull(text),
  serial_number: orNull(text),
  management_url: orNull(text),
  asset_tag: orNull(text),
  consolidated_into: orNull(uuid),
  last_seen_at: orNull(timestamp),
  ...life,
});

export const tagShape = object({
  id: uuid,
  organization_id: uuid,
  name: text,
  description: text,
  color: oneOf(...COLORS),
  is_application: flag,
  ...life,
});

/** Interface entry in a list. Optional fields without a value are omitted, so none is ever null. */
export const ifEntryShape = object({
  admin_status: oneOf(...ADMIN_STATUSES),
  oper_status: oneOf(...OPER_STATUSES),
  created_at: timestamp,
  updated_at: timestamp,
  host_id: uuid,
  id: uuid,
  network_id: uuid,
  if_descr: text,
  if_index: integer,
  if_type: integer,
  cdp_address: leftOut(text),
  cdp_device_id: leftOut(text),
  cdp_platform: leftOut(text),
  cdp_port_id: leftOut(text),
  fdb_macs: leftOut(listOf(mac)),
  first_discovery_id: leftOut(uuid),
  last_discovery_id: leftOut(uuid),
  lineage_id: leftOut(uuid),
  if_alias: leftOut(text),
  if_name: leftOut(text),
  ip_address_id: leftOut(uuid),
  last_seen_at: leftOut(timestamp),
  lldp_chassis_id: leftOut(chassisId),
  lldp_mgmt_addr: leftOut(text),
  lldp_port_desc: leftOut(text),
  lldp_sys_desc: leftOut(text),
  lldp_sys_name: leftOut(text),
  lldp_port_id: leftOut(portId),
  mac_address: leftOut(mac),
  native_vlan_id: leftOut(uuid),
  neighbor: leftOut(neighbor),
  speed_bps: leftOut(integer),
  valid_from: leftOut(timestamp),
  valid_to: leftOut(timestamp),
  vlan_ids: leftOut(listOf(uuid)),
});

/** `last_used` is null before the first use. */
export const apiKeyShape = object({
  id: uuid,
  name: text,
  organization_id: uuid,
  user_id: uuid,
  tags: listOf(uuid),
  expires_at: orNull(timestamp),
  is_enabled: flag,
  network_ids: listOf(uuid),
  all_networks: flag,
  allowed_sources: orNull(listOf(text)),
  permissions: oneOf(...ROLES),
  key: text,
  last_used: orNull(timestamp),
  ...life,
});

const paginationShape = object({ has_more: flag, limit: integer, offset: integer, total_count: integer });
const meta: Shape = {
  api_version: is("1", (value) => value === 1),
  server_version: is("a version", (value) => typeof value === "string" && value !== ""),
  at: leftOut(timestamp),
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

/** Errors of an answer's envelope (handbook: api); the status determines its type. */
export function envelopeProblems(answer: Answer): string[] {
  const type = answer.headers.get("content-type") ?? "";
  if (!type.startsWith("application/json")) return [`content-type: ${show(type)} is not application/json`];
  if (answer.headers.get("x-request-id") === null) return ["x-request-id: missing"];
  if (answer.status !== 200)
    return answer.status >= 400
      ? problems(answer.body, errorShape)
      : [`status: ${answer.status} is neither 200 nor an error`];
  return problems(answer.body, Array.isArray(answer.body?.data) ? listShape : successShape);
}

/** Asserts a success in its envelope. @returns its `data` */
export async function succeeded(pending: Promise<Answer>): Promise<any> {
  const answer = await pending;
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 2_000)}`);
  expect(envelopeProblems(answer)).toEqual([]);
  return answer.data;
}

/** Asserts a refusal by status, code and these params, in its envelope. @returns the answer */
export async function refused(
  pending: Promise<Answer>,
  status: number,
  code: string,
  params: object = {},
): Promise<Answer> {
  const answer = await pending;
  if (answer.status !== status || answer.body?.code !== code)
    throw new Error(`expected ${status} ${code}, answered ${answer.status}: ${answer.text.slice(0, 2_000)}`);
  expect(answer.body.params ?? {}).toMatchObject(params);
  expect(envelopeProblems(answer)).toEqual([]);
  return answer;
}

/** Asserts `validation_failed`. @returns the pointers of all issues, sorted */
export async function issuePaths(pending: Promise<Answer>): Promise<string[]> {
  const { body } = await refused(pending, 400, "validation_failed");
  expect(problems(body.params.issues, listOf(object({ path: text, message: text, value: leftOut(() => []) })))).toEqual(
    [],
  );
  return body.params.issues.map((issue: { path: string }) => issue.path).sort();
}

function is(what: string, test: (value: unknown) => boolean): Check {
  return (value, path) => (test(value) ? [] : [`${path}: ${show(value)} is not ${what}`]);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const shown = JSON.stringify(value) ?? String(value);
  return shown.length > 120 ? `${shown.slice(0, 120)}…` : shown;
}
