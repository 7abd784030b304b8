// Role of the device connected to a port: part of the network, or an end device. The single rule for edge ports, locate
// and the faceplate. Pure.

import { typeOfDescription } from "../resources/hosts/device-families.ts";
import { type DeviceType, isNetworkType } from "../resources/hosts/device-type.ts";
import type { IfEntryRecord } from "../resources/if-entries/if-entry.ts";
import type { Neighbor } from "../resources/if-entries/more-neighbors.ts";
import type { Capability } from "../resources/if-entries/vocabulary.ts";

/**
 * Network: the port leads to further network devices. End: a desk, whose stations count as connected to the port.
 * Unknown: a device announces itself without proving either.
 */
export const FAR_END_ROLES = ["Network", "End", "Unknown"] as const;
export type FarEndRole = (typeof FAR_END_ROLES)[number];

/** A host at the other end of a link. */
export interface FarHost {
  readonly deviceType: DeviceType;
  /** Whether it has a forwarding table. */
  readonly isForwarding: boolean;
}

/** Fields of a port that its role follows from. */
export type FarEndFields = Pick<
  IfEntryRecord,
  | "neighbor"
  | "more_neighbors"
  | "lldp_chassis_id"
  | "lldp_port_id"
  | "lldp_sys_name"
  | "lldp_mgmt_addr"
  | "lldp_sys_desc"
  | "lldp_capabilities"
  | "cdp_device_id"
  | "cdp_port_id"
  | "cdp_address"
  | "cdp_platform"
  | "cdp_capabilities"
>;

/**
 * Role of a port's far end; null if nothing is known there. A network among several neighbors takes precedence, then an
 * end: for a phone with a computer behind it, only the phone may announce its type.
 * @param hostOf null for a host that is not in the inventory
 * @param host the host at the other end, if it is known otherwise than by the port's own neighbor
 */
export function farEndRole(
  port: FarEndFields,
  hostOf: (neighbor: Neighbor) => FarHost | null,
  host: FarHost | null = null,
): FarEndRole | null {
  const own = port.neighbor === undefined ? host : (hostOf(port.neighbor) ?? host);
  const lldp = { capabilities: port.lldp_capabilities, description: port.lldp_sys_desc };
  const cdp = { capabilities: port.cdp_capabilities, description: port.cdp_platform };
  const announced = [
    ...(LLDP_FIELDS.some((field) => port[field] !== undefined) ? [lldp] : []),
    ...(CDP_FIELDS.some((field) => port[field] !== undefined) ? [cdp] : []),
  ];
  // LLDP and CDP describe the same neighbor once it is a host.
  const first = own === null ? announced.map((each) => announcedRole([each])) : [hostRole(own, announced)];
  const more = (port.more_neighbors ?? []).map((each) => {
    const described = {
      capabilities: each.capabilities,
      description: each.protocol === "Lldp" ? each.sys_desc : each.platform,
    };
    const farHost = each.neighbor === undefined ? null : hostOf(each.neighbor);
    return farHost === null ? announcedRole([described]) : hostRole(farHost, [described]);
  });
  const roles = [...first, ...more];
  return FAR_END_ROLES.find((role) => roles.includes(role)) ?? null;
}

const LLDP_FIELDS = ["lldp_chassis_id", "lldp_port_id", "lldp_sys_name", "lldp_mgmt_addr"] as const;
const CDP_FIELDS = ["cdp_device_id", "cdp_port_id", "cdp_address"] as const;

interface Announced {
  readonly capabilities: readonly Capability[] | undefined;
  readonly description: string | undefined;
}

/** A host counts by its type, else by its announcements, else by its forwarding table. */
function hostRole({ deviceType, isForwarding }: FarHost, announced: readonly Announced[]): FarEndRole {
  if (deviceType !== "Unknown") return roleOfType(deviceType);
  if (isForwarding) return "Network";
  // A cable that a user entered, to a desk or a patch panel.
  return announced.length === 0 ? "End" : announcedRole(announced);
}

/** The Bridge capability alone proves nothing if the device describes itself otherwise: phones and access points are bridges too. */
function announcedRole(announced: readonly Announced[]): FarEndRole {
  const has = (names: readonly Capability[]) =>
    announced.some(({ capabilities }) => capabilities?.some((each) => names.includes(each)) === true);
  if (has(END)) return "End";
  if (has(ROUTING)) return "Network";
  for (const { description } of announced) {
    const type = typeOfDescription(description);
    if (type !== null) return roleOfType(type);
  }
  return has(BRIDGING) ? "Network" : "Unknown";
}

function roleOfType(type: DeviceType): FarEndRole {
  return isNetworkType(type) ? "Network" : "End";
}

const END: readonly Capability[] = ["Telephone", "WlanAccessPoint", "StationOnly", "Phone"];
const ROUTING: readonly Capability[] = ["Router", "Switch"];
const BRIDGING: readonly Capability[] = [
  "Bridge",
  "CVlanComponent",
  "SVlanComponent",
  "TransparentBridge",
  "SourceRouteBridge",
];
