// Device type classifier, based on what a device reports and on what its neighbors hear from it. Pure; returns null
// rather than guess.

import { typeOfKindWords, typeOfObjectId, typeOfProduct, typeOfSystem } from "../../resources/hosts/device-families.ts";
import type { DeviceType, DeviceTypeSource } from "../../resources/hosts/device-type.ts";
import type { Capability } from "../../resources/if-entries/vocabulary.ts";

export interface TypeEvidence {
  readonly model?: string | null | undefined;
  readonly sys_descr?: string | null | undefined;
  readonly sys_object_id?: string | null | undefined;
  /** sysServices (RFC 3418): a sum of layers. */
  readonly sys_services?: number | null | undefined;
  /** Announced by the device itself. */
  readonly capabilities?: readonly Capability[] | null | undefined;
}

export interface ConcludedType {
  readonly device_type: DeviceType;
  readonly device_type_source: DeviceTypeSource;
}

/** Type of a device by its own report: product, family, words of its description, capabilities, then layers. */
export function typeByReport(evidence: TypeEvidence): ConcludedType | null {
  const { model, sys_descr, sys_object_id, sys_services, capabilities } = evidence;
  const texts = [model, sys_descr].filter((text) => typeof text === "string");
  const byTexts = (typeOf: (text: string) => DeviceType | null) =>
    texts.reduce<DeviceType | null>((type, text) => type ?? typeOf(text), null);
  return (
    concluded(routing(byTexts(typeOfProduct), capabilities), "Description") ??
    concluded(routing(typeOfObjectId(sys_object_id ?? ""), capabilities), "ObjectId") ??
    concluded(routing(byTexts(typeOfKindWords), capabilities), "Description") ??
    concluded(isGenericAgent(sys_object_id) ? byTexts(typeOfSystem) : null, "Description") ??
    concluded(typeByCapabilities(capabilities ?? []), "Capabilities") ??
    concluded(SERVICES.get(sys_services ?? 0) ?? null, "Services")
  );
}

/**
 * True for net-snmp, bsnmpd and OpenBSD's agent, and without a sysObjectID. Vendors assign their appliances a specific
 * one: an appliance on Linux is not a server.
 */
function isGenericAgent(objectId: string | null | undefined): boolean {
  return objectId == null || /^1\.3\.6\.1\.4\.1\.(8072\.3\.2|12325\.1\.1\.2|30155\.23)(\.|$)/.test(objectId);
}

/** A device as announced to a neighbor: its capabilities and description. */
export interface NeighborEvidence {
  readonly capabilities?: readonly Capability[] | undefined;
  /** typeOfDescription of its announcement. */
  readonly described: DeviceType | null;
}

/** Type of a device by its announcements, regardless of their order. */
export function typeByNeighbors(evidence: readonly NeighborEvidence[]): ConcludedType | null {
  const capabilities = [...new Set(evidence.flatMap((each) => each.capabilities ?? []))];
  const [described = null] = evidence.flatMap((each) => each.described ?? []).sort();
  return concluded(routing(described, capabilities) ?? typeByCapabilities(capabilities), "Neighbors");
}

/** Ports that one type of device has open, in order: print services (RFC 1179, RFC 8010, JetDirect), then cameras. */
const PORTS: ReadonlyArray<readonly [type: DeviceType, ports: readonly number[]]> = [["Printer", [515, 631, 9100]]];
/** Two of a type's ports are needed: CUPS alone also runs on workstations. */
const PORTS_MIN = 2;

/** Manufacturers of one type of device, by the registered name of a MAC address. */
const VENDORS: ReadonlyArray<readonly [type: DeviceType, name: RegExp]> = [
  [
    "Camera",
    /^(axis communications|hangzhou hikvision|zhejiang dahua|hanwha (techwin|vision)|mobotix|vivotek|avigilon)/i,
  ],
  ["Phone", /^(yealink|xiamen yealink|snom|polycom|grandstream|gigaset|fanvil|spectralink)/i],
  ["Printer", /^(brother|kyocera|lexmark|xerox|ricoh|konica|oki |oki data|seiko epson|zebra tech)/i],
  ["Storage", /^(synology|qnap|netapp|drobo)/i],
  ["Pdu", /^(raritan|server technology|schleifenbauer)/i],
  ["Firewall", /^(fortinet|palo alto networks|watchguard|sonicwall)/i],
  ["AccessPoint", /^(ruckus|aerohive|xirrus)/i],
];

/** Type of a host that reports nothing itself: by two open ports of a type, else by the vendor of a MAC address. */
export function typeFromOutside(openPorts: Iterable<number>, vendors: readonly string[]): ConcludedType | null {
  const open = new Set(openPorts);
  const byPorts = PORTS.find(([, ports]) => ports.filter((port) => open.has(port)).length >= PORTS_MIN);
  const byVendor = VENDORS.find(([, name]) => vendors.some((vendor) => name.test(vendor)));
  return concluded(byPorts?.[0] ?? null, "OpenPorts") ?? concluded(byVendor?.[0] ?? null, "Vendor");
}

/** Bridge alone decides nothing: phones and access points announce it too. */
function typeByCapabilities(capabilities: readonly Capability[]): DeviceType | null {
  const has = (...names: readonly Capability[]) => names.some((name) => capabilities.includes(name));
  if (has("Telephone", "Phone")) return "Phone";
  if (has("WlanAccessPoint")) return "AccessPoint";
  if (has("StationOnly")) return "Host";
  if (has("Switch")) return has("Router") ? "Layer3Switch" : "Switch";
  if (has("Router")) return has("Bridge") ? "Layer3Switch" : "Router";
  return null;
}

/** A switch that announces that it routes. */
function routing(type: DeviceType | null, capabilities: readonly Capability[] | null | undefined): DeviceType | null {
  return type === "Switch" && capabilities?.includes("Router") === true ? "Layer3Switch" : type;
}

/**
 * sysServices (RFC 3418): 2^(L−1) for each layer L. Only sums that one type has: 2 is a bridge, 4 a router, and 72,
 * layers 4 and 7, "a host offering application services". Agents that report more list every layer they know.
 */
const SERVICES: ReadonlyMap<number, DeviceType> = new Map([
  [2, "Switch"],
  [3, "Switch"],
  [4, "Router"],
  [5, "Router"],
  [6, "Layer3Switch"],
  [72, "Host"],
]);

function concluded(type: DeviceType | null, source: DeviceTypeSource): ConcludedType | null {
  return type === null ? null : { device_type: type, device_type_source: source };
}
