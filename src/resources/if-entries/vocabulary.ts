// Enumerations of an interface entry, each in the order of its MIB numbers, which start at 1. Does not translate
// values; the probes do.

import { wordList } from "../../base/word-list.ts";

/** IF-MIB `ifAdminStatus` (RFC 2863): up(1) down(2) testing(3). The desired state. */
export const ADMIN_STATUSES = ["Up", "Down", "Testing"] as const;

export type AdminStatus = (typeof ADMIN_STATUSES)[number];

/**
 * IF-MIB `ifOperStatus` (RFC 2863): up(1) down(2) testing(3) unknown(4) dormant(5) notPresent(6) lowerLayerDown(7). The
 * current state.
 */
export const OPER_STATUSES = ["Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"] as const;

export type OperStatus = (typeof OPER_STATUSES)[number];

/**
 * LLDP-MIB `LldpChassisIdSubtype` (IEEE 802.1AB, chassis ID TLV): chassisComponent(1) interfaceAlias(2)
 * portComponent(3) macAddress(4) networkAddress(5) interfaceName(6) local(7).
 */
export const CHASSIS_ID_SUBTYPES = wordList(
  "ChassisComponent InterfaceAlias PortComponent MacAddress NetworkAddress InterfaceName LocallyAssigned",
);

export type ChassisIdSubtype = (typeof CHASSIS_ID_SUBTYPES)[number];

/**
 * LLDP-MIB `LldpPortIdSubtype` (IEEE 802.1AB, port ID TLV): interfaceAlias(1) portComponent(2) macAddress(3)
 * networkAddress(4) interfaceName(5) agentCircuitId(6) local(7).
 */
export const PORT_ID_SUBTYPES = wordList(
  "InterfaceAlias PortComponent MacAddress NetworkAddress InterfaceName AgentCircuitId LocallyAssigned",
);

export type PortIdSubtype = (typeof PORT_ID_SUBTYPES)[number];

/**
 * System capabilities (IEEE 802.1AB §8.5.8.1; LLDP-MIB `LldpSystemCapabilitiesMap`): other(0) repeater(1) bridge(2)
 * wlanAccessPoint(3) router(4) telephone(5) docsisCableDevice(6) stationOnly(7) cVLANComponent(8) sVLANComponent(9)
 * twoPortMACRelay(10). Numbered from 0, unlike the other lists.
 */
export const LLDP_CAPABILITIES = [
  ...wordList("Other Repeater Bridge WlanAccessPoint Router Telephone DocsisCableDevice StationOnly"),
  ...wordList("CVlanComponent SVlanComponent TwoPortMacRelay"),
] as const;

export type LldpCapability = (typeof LLDP_CAPABILITIES)[number];

/**
 * CISCO-CDP-MIB `cdpCacheCapabilities`, by the bits 0x01 to 0x400: router, transparent bridge, source-route bridge,
 * switch, host, IGMP, repeater, phone, remotely managed device, CVTA, two-port MAC relay.
 */
export const CDP_CAPABILITIES = wordList(
  "Router TransparentBridge SourceRouteBridge Switch Host Igmp Repeater Phone RemotelyManaged Cvta TwoPortMacRelay",
);

export type CdpCapability = (typeof CDP_CAPABILITIES)[number];

export type Capability = LldpCapability | CdpCapability;
