// SNMP report of a device: plain data, passed from the MIB decoders to the inventory. Independent of how it is read and
// stored.

import type { ComponentClass } from "../resources/components/vocabulary.ts";
import type {
  AdminStatus,
  CdpCapability,
  ChassisIdSubtype,
  LldpCapability,
  OperStatus,
  PortIdSubtype,
} from "../resources/if-entries/vocabulary.ts";
import type { RowCount } from "./rows.ts";

/** Sections of a report, each read and failing as a whole. */
export const DEVICE_TABLES = [
  "system",
  "entity",
  "interfaces",
  "interface_extensions",
  "interface_stack",
  "addresses",
  "arp",
  "forwarding",
  "vlans",
  "lldp",
  "cdp",
] as const;
export type DeviceTable = (typeof DEVICE_TABLES)[number];

/**
 * complete: read completely; missing data does not exist. partial: the read was cut off; data read is valid, missing
 * data is unknown. failed: nothing was read. absent: the agent does not serve the table, so its data is unknown.
 */
type TableState = "complete" | "partial" | "failed" | "absent";

export interface TableReport {
  readonly state: TableState;
  /**
   * Reason for partial or failed, as a user-readable clause; else null. Also set for a fully read table with rows that
   * match nothing.
   */
  readonly problem: string | null;
}

/**
 * A device as reported by its agent. Throughout, `undefined` means not reported (stored values are kept), `null` means
 * that the device has none (stored values are cleared), and a list is complete for its kind.
 */
export interface Device {
  readonly tables: Readonly<Record<DeviceTable, TableReport>>;
  /** Row counts by outcome. */
  readonly rows: Readonly<Record<DeviceTable, RowCount>>;
  /** Values inferred rather than reported, as user-readable clauses. Absent if none. */
  readonly conclusions?: Readonly<Partial<Record<DeviceTable, readonly string[]>>>;
  /** Scalars and columns with at least one value (mib/served.ts); absent if none. */
  readonly served?: readonly string[];
  /** Objects of fully read tables that only earlier reads served; absent if none. */
  readonly missed?: readonly string[];
  /** Tables that were cut off or are no longer served: data missing there may still exist. Absent if none. */
  readonly broken?: readonly DeviceTable[];
  /** SNMPv2-MIB system group (RFC 3418). Texts without control characters, trimmed; null if empty. */
  readonly sys_name?: string | null;
  readonly sys_descr?: string | null;
  /** Dotted: `1.3.6.1.4.1.9.1.516`. */
  readonly sys_object_id?: string | null;
  readonly sys_location?: string | null;
  readonly sys_contact?: string | null;
  readonly sys_services?: number | null;
  /** sysUpTime (RFC 3418), in milliseconds; starts again after 497 days. */
  readonly up_time_ms?: number;
  /** snmpEngineID (RFC 3411), or as discovered by SNMPv3: hexadecimal, lower case. */
  readonly engine_id?: string;
  /** ifNumber (RFC 2863): the rows that ifTable should have. */
  readonly if_number?: number;
  /**
   * ENTITY-MIB (RFC 6933) of the chassis; in a stack, of the member with the lowest position. Else derived from
   * sysObjectID if possible.
   */
  readonly manufacturer?: string | null;
  readonly model?: string | null;
  readonly serial_number?: string | null;
  /** Chassis of entPhysicalTable (RFC 6933), by position. */
  readonly components?: readonly DeviceComponent[];
  /** lldpLocChassisId (IEEE 802.1AB). */
  readonly chassis_id?: LinkId<ChassisIdSubtype> | null;
  /** lldpLocSysCapEnabled, else lldpLocSysCapSupported; null if it announces none. */
  readonly capabilities?: readonly LldpCapability[] | null;
  /** dot1dBaseBridgeAddress (RFC 4188). */
  readonly bridge_address?: string | null;
  /**
   * Interface lists for which bridge port = ifIndex is assumed because dot1dBasePortTable is missing: ignored if the
   * device once served that table.
   */
  readonly assumed_lists?: readonly PortList[];
  /** The interfaces' `forwarding` includes all entries with a VLAN; entries without one may be missing. */
  readonly is_forwarding_partial?: true;
  /** ifTable with ifXTable (RFC 2863), by ifIndex. */
  readonly interfaces?: readonly DeviceInterface[];
  /** ifIndexes with an accepted row of ifXTable, regardless of its content. Absent if none. */
  readonly extended_interfaces?: readonly number[];
  /** Members of aggregates and units of ports, by ifIndex; all others are neither. */
  readonly stacking?: readonly StackedInterface[];
  /** IP-MIB (RFC 4293, old and new) and IPV6-MIB, each address once, by ipSortKey. */
  readonly addresses?: readonly DeviceAddress[];
  /** ipNetToMediaTable and ipNetToPhysicalTable: complete ARP and neighbor cache entries. */
  readonly arp?: readonly ArpEntry[];
  /** dot1qVlanStaticTable, dot1qVlanCurrentTable (RFC 4363) or CISCO-VTP-MIB, by number. */
  readonly vlans?: readonly DeviceVlan[];
}

/** Interface lists that depend on its bridge port. */
export type PortList = "forwarding" | "vlans" | "native_vlan";

/** A row of ifTable with its row of ifXTable. */
export interface IfRow {
  readonly if_index: number;
  /** "" if the device has none. */
  readonly if_descr?: string;
  readonly if_name?: string | null;
  readonly if_alias?: string | null;
  /** IANAifType-MIB number. */
  readonly if_type?: number;
  /** ifHighSpeed × 10^6 if present and non-zero, else ifSpeed unless zero or its maximum, 2^32 − 1. */
  readonly speed_bps?: number | null;
  readonly admin_status?: AdminStatus;
  readonly oper_status?: OperStatus;
  /** ifPhysAddress of six bytes that are a MAC address (mib/link-addresses.ts); null for others. */
  readonly mac_address?: string | null;
}

/** Interface data from other tables. */
export interface InterfaceLinks {
  /** dot1qPvid: the VLAN of untagged frames. */
  readonly native_vlan?: number | null;
  /** Every VLAN that the port is a member of, tagged or untagged, ascending. */
  readonly vlans?: readonly number[];
  /**
   * dot1qTpFdbTable, else dot1dTpFdbTable: learned entries, without the bridge's own addresses and invalid ones. Sorted
   * by MAC address, then VLAN.
   */
  readonly forwarding?: readonly ForwardingEntry[];
  /** Neighbor announcements on this link, in a fixed order. */
  readonly lldp?: readonly LldpAnnouncement[];
  readonly cdp?: readonly CdpAnnouncement[];
}

export interface DeviceInterface extends IfRow, InterfaceLinks {}

/** An interface that is part of another one (mib/stacking.ts). */
export interface StackedInterface {
  readonly if_index: number;
  /** The aggregate that the port is a member of (IEEE 802.1AX). */
  readonly lag_if_index?: number;
  /** The port or aggregate that the interface is a unit, subinterface or VLAN of. */
  readonly parent_if_index?: number;
}

export interface DeviceAddress {
  /** Canonical, without a zone. */
  readonly ip_address: string;
  /** Null if the device does not report it. */
  readonly prefix_length: number | null;
  /** Null if the device does not report it. */
  readonly if_index: number | null;
}

export interface ArpEntry {
  readonly ip_address: string;
  readonly mac_address: string;
  /** Null if the device does not report it: some give static entries ifIndex 0. */
  readonly if_index: number | null;
}

export interface ForwardingEntry {
  readonly mac_address: string;
  /** Null if the table has none (dot1dTpFdbTable). */
  readonly vlan_number: number | null;
}

/** A row of entPhysicalTable. */
export interface DeviceComponent {
  readonly class: ComponentClass;
  /** entPhysicalParentRelPos if it is set and unique, else the rank by entPhysicalIndex, from 1. */
  readonly position: number;
  /** Texts are null if the device reports none. */
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly serial_number: string | null;
}

export interface DeviceVlan {
  readonly number: number;
  /** Null if the device reports none. */
  readonly name: string | null;
}

export interface LinkId<Subtype> {
  readonly subtype: Subtype;
  /**
   * MacAddress canonical, NetworkAddress as IP text; others as text, or as colon-separated hex pairs if not printable.
   */
  readonly value: string;
}

/** lldpRemTable and lldpRemManAddrTable (IEEE 802.1AB), or their version 2. Absent: not announced. */
export interface LldpAnnouncement {
  readonly chassis_id?: LinkId<ChassisIdSubtype>;
  readonly port_id?: LinkId<PortIdSubtype>;
  readonly sys_name?: string;
  readonly sys_desc?: string;
  readonly port_desc?: string;
  /** First management address, IPv4 before IPv6; null if unknown. */
  readonly mgmt_addr?: string | null;
  /** lldpRemSysCapEnabled, else lldpRemSysCapSupported. */
  readonly capabilities?: readonly LldpCapability[];
}

/** cdpCacheTable (CISCO-CDP-MIB). Absent: not announced. */
export interface CdpAnnouncement {
  readonly device_id?: string;
  readonly port_id?: string;
  readonly platform?: string;
  readonly address?: string;
  readonly capabilities?: readonly CdpCapability[];
}
