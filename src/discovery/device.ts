// What a device says of itself by SNMP: plain data between the MIBs, which are read on one side of it, and the
// inventory, which is brought to it on the other. Must not know how it is read, nor how the store keeps it.

import type { AdminStatus, ChassisIdSubtype, OperStatus, PortIdSubtype } from "../resources/if-entries/vocabulary.ts";
import type { RowCount } from "./rows.ts";

/** What is read of a device in one piece, and may fail in one piece. */
export const DEVICE_TABLES = [
  "system",
  "entity",
  "interfaces",
  "interface_extensions",
  "addresses",
  "arp",
  "forwarding",
  "vlans",
  "lldp",
  "cdp",
] as const;
export type DeviceTable = (typeof DEVICE_TABLES)[number];

/**
 * complete: read to its end; what is not in it is not there. partial: it broke off; what was read holds, what was not
 * says nothing. failed: nothing of it was read. absent: the agent does not serve it, which says nothing about what it
 * would hold.
 */
type TableState = "complete" | "partial" | "failed" | "absent";

export interface TableReport {
  readonly state: TableState;
  /**
   * Why it is partial or failed, in a clause for people; else null. Of a table that was read whole, but says what leads
   * nowhere, that it is so.
   */
  readonly problem: string | null;
}

/**
 * A device as its agent reported it. Everywhere in it `undefined` is what was not reported (what is known stays),
 * `null` what the device says it has not (what is known is cleared), and a list is all there is of its kind.
 */
export interface Device {
  readonly tables: Readonly<Record<DeviceTable, TableReport>>;
  /** What became of the rows that were read. */
  readonly rows: Readonly<Record<DeviceTable, RowCount>>;
  /** What was concluded of a table that does not say so itself, in clauses for people. Absent where nothing was. */
  readonly conclusions?: Readonly<Partial<Record<DeviceTable, readonly string[]>>>;
  /** The scalars and columns of which something was reported (mib/served.ts); absent where nothing was. */
  readonly served?: readonly string[];
  /** What was served before and is not, of tables that were read to their ends; absent where nothing was. */
  readonly missed?: readonly string[];
  /**
   * Tables that broke off, or are not served any more: what they do not tell may be there all the same. Absent where
   * there are none.
   */
  readonly broken?: readonly DeviceTable[];
  /** SNMPv2-MIB system group (RFC 3418). Texts without control characters, trimmed; null for empty ones. */
  readonly sys_name?: string | null;
  readonly sys_descr?: string | null;
  /** Dotted: `1.3.6.1.4.1.9.1.516`. */
  readonly sys_object_id?: string | null;
  readonly sys_location?: string | null;
  readonly sys_contact?: string | null;
  /**
   * ENTITY-MIB (RFC 6933) of the chassis; of the first member where the chassis is a stack. Else by sysObjectID, as far
   * as that tells.
   */
  readonly manufacturer?: string | null;
  readonly model?: string | null;
  readonly serial_number?: string | null;
  /** lldpLocChassisId (IEEE 802.1AB). */
  readonly chassis_id?: LinkId<ChassisIdSubtype> | null;
  /** dot1dBaseBridgeAddress (RFC 4188). */
  readonly bridge_address?: string | null;
  /**
   * Lists of its interfaces that rest on bridge ports being counted as interfaces, since it serves no
   * dot1dBasePortTable: of a device that once served that table they say nothing.
   */
  readonly assumed_lists?: readonly PortList[];
  /** The `forwarding` of the interfaces is all that carries VLANs; of what carries none there may be more. */
  readonly is_forwarding_partial?: true;
  /** ifTable with ifXTable (RFC 2863), by ifIndex. */
  readonly interfaces?: readonly DeviceInterface[];
  /** The ifIndexes of those of which a row of ifXTable is kept, whatever it tells. Absent where there are none. */
  readonly extended_interfaces?: readonly number[];
  /** IP-MIB (RFC 4293, old and new) and IPV6-MIB, each address once, by ipSortKey. */
  readonly addresses?: readonly DeviceAddress[];
  /**
   * ipNetToMediaTable and ipNetToPhysicalTable: whom the device has spoken with on its links. Complete entries only.
   */
  readonly arp?: readonly ArpEntry[];
  /** dot1qVlanStaticTable, dot1qVlanCurrentTable (RFC 4363) or CISCO-VTP-MIB, by number. */
  readonly vlans?: readonly DeviceVlan[];
}

/** What an interface has by the bridge port that it is. */
export type PortList = "forwarding" | "vlans" | "native_vlan";

/** A row of ifTable with its row of ifXTable. */
export interface InterfaceRow {
  readonly if_index: number;
  /** "" where the device has none. */
  readonly if_descr?: string;
  readonly if_name?: string | null;
  readonly if_alias?: string | null;
  /** IANAifType-MIB number. */
  readonly if_type?: number;
  /**
   * ifHighSpeed × 10^6 where it is there and not nought, else ifSpeed unless that is nought or its maximum, 2^32 − 1.
   */
  readonly speed_bps?: number | null;
  readonly admin_status?: AdminStatus;
  readonly oper_status?: OperStatus;
  /** ifPhysAddress of six bytes that are not all nought; null for others. */
  readonly mac_address?: string | null;
}

/** What other tables say of an interface. */
export interface InterfaceLinks {
  /** dot1qPvid: the VLAN of untagged frames. */
  readonly native_vlan?: number | null;
  /** Every VLAN that the port is a member of, tagged and untagged, ascending. */
  readonly vlans?: readonly number[];
  /**
   * dot1qTpFdbTable, else dot1dTpFdbTable: what it has learned here; neither its own addresses nor invalid entries. By
   * MAC, then VLAN.
   */
  readonly forwarding?: readonly ForwardingEntry[];
  /** What its neighbors announce on this link, in a fixed order. */
  readonly lldp?: readonly LldpAnnouncement[];
  readonly cdp?: readonly CdpAnnouncement[];
}

export interface DeviceInterface extends InterfaceRow, InterfaceLinks {}

export interface DeviceAddress {
  /** Canonical, without a zone. */
  readonly ip_address: string;
  /** Null where the device does not tell. */
  readonly prefix_length: number | null;
  /** Null where the device does not tell. */
  readonly if_index: number | null;
}

export interface ArpEntry {
  readonly ip_address: string;
  readonly mac_address: string;
  /** Null where the device does not tell: some give static entries the ifIndex 0. */
  readonly if_index: number | null;
}

export interface ForwardingEntry {
  readonly mac_address: string;
  /** Null where the table has none (dot1dTpFdbTable). */
  readonly vlan_number: number | null;
}

export interface DeviceVlan {
  readonly number: number;
  /** Null where the device gives none. */
  readonly name: string | null;
}

export interface LinkId<Subtype> {
  readonly subtype: Subtype;
  /**
   * MacAddress canonical, NetworkAddress as IP text; others as text, or as hexadecimal pairs with colons where they are
   * not printable.
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
  /** The first management address: IPv4 before IPv6; null where it is not known whether there is one. */
  readonly mgmt_addr?: string | null;
}

/** cdpCacheTable (CISCO-CDP-MIB). Absent: not announced. */
export interface CdpAnnouncement {
  readonly device_id?: string;
  readonly port_id?: string;
  readonly platform?: string;
  readonly address?: string;
}
