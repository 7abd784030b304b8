// Sightings of a scan, as passed to the writer, and the writer's results. Plain data: it crosses threads.

import type { PortProtocol } from "../resources/ports/port-type.ts";
import type { Device } from "./device.ts";
import type { RowCount, RowReason } from "./rows.ts";

/** An address that responded or that another device reported. */
export interface AddressSighting {
  /** Canonical. */
  readonly ip_address: string;
  readonly mac_address: string | null;
  /** The MAC address serves many addresses: its owner responds for others, so it does not identify this address. */
  readonly is_mac_shared?: true;
  /** Seen only on bridges within a machine: other machines may have the address on theirs. */
  readonly is_local?: true;
  /** From reverse DNS. Undefined: not queried or no response; null: no name. */
  readonly hostname?: string | null;
  /** Kinds of responses; empty if only another device's neighbor table lists it. */
  readonly answered: readonly ("Icmp" | "Tcp" | "Neighbor" | "Snmp")[];
  /** Undefined: no ports probed. */
  readonly ports?: ProbedPorts;
}

/** Names of the kinds of responses. */
export const METHOD_NAMES: Readonly<Record<AddressSighting["answered"][number], string>> = {
  Icmp: "ICMP echo",
  Tcp: "TCP",
  Neighbor: "ARP or neighbor discovery",
  Snmp: "SNMP",
};

export interface ProbedPorts {
  /** Numbers of the TCP and UDP ports probed. */
  readonly asked: readonly number[];
  /** Ports that responded. */
  readonly open: readonly OpenPort[];
  /** TCP ports that the address itself refused. The others are silent. Undefined: none, or unknown. */
  readonly refused?: readonly number[];
}

export interface OpenPort {
  readonly number: number;
  readonly protocol: PortProtocol;
  /** Service identified on the port; null if unknown. */
  readonly service: IdentifiedService | null;
}

export interface IdentifiedService {
  /** User-readable: `OpenSSH 9.2p1`, `nginx: Welcome`. */
  readonly name: string;
  /** As in self/well-known-services.ts: `ssh`, `http`. */
  readonly service_definition: string;
}

/** A device that responded to SNMP at an address. */
export interface DeviceSighting {
  /** Polled address. */
  readonly ip_address: string;
  /** MAC address seen there, if the appliance is on that link. */
  readonly mac_address: string | null;
  readonly hostname?: string | null;
  readonly device: Device;
  /** Its neighbor tables (neighborLines in reconcile/neighbor-tables.ts); undefined if it serves none. */
  readonly neighbors?: string;
  /** The working credential, tried first from now on. */
  readonly credential: WorkingCredential | null;
  /** Without it, every report is compared. */
  readonly digest?: ReportDigest;
  /** True if an earlier command already wrote part of it. */
  readonly is_continued?: boolean;
  /** Returned by that command; see Unfinished. */
  readonly is_repeat?: boolean;
}

/** Groups of signs that change together and count once. */
export const SIGN_GROUPS = ["serial_numbers", "cards", "chassis_id", "engine_id", "system_name", "addresses"] as const;
export type SignGroup = (typeof SIGN_GROUPS)[number];

/** Of a device's report, what the writer needs if it is the same as before (digestOf in reconcile/reports.ts). */
export interface ReportDigest {
  readonly hash: string;
  /** Its own addresses (ownLines in reconcile/neighbor-tables.ts). */
  readonly own: string;
  /** Groups of which it has a sign. */
  readonly sign_groups: readonly SignGroup[];
}

export interface WorkingCredential {
  readonly credential_id: string;
  /** For AES-256, if two key extension methods are in use; null otherwise. */
  readonly key_extension: "Blumenthal" | "Reeder" | null;
}

export const FINDING_TYPES = [
  "Created",
  "Changed",
  "Closed",
  "Unreached",
  "Partial",
  "Skipped",
  "Ignored",
  "Undecided",
  "Read",
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];

/** One line of a scan's result. */
export interface Finding {
  readonly type: FindingType;
  /** Record kind, singular; null for an address without a record. */
  readonly entity: string | null;
  readonly id: string | null;
  /** User-visible name: a host name, an address, a CIDR. */
  readonly label: string;
  /** One clause: the reason for creating, changing, closing or not reaching it. */
  readonly reason: string;
  /** For an undecided host: the host that it may be. */
  readonly other_id?: string;
  /** For a host: its child records, by kind, plural. */
  readonly records?: Readonly<Record<string, RecordCounts>>;
  /** For a table read: the outcomes of its rows. */
  readonly rows?: RowCount;
  /** For an ARP table: addresses outside the network's subnets, at most OUTSIDE_REPORTED_MAX. */
  readonly addresses?: readonly string[];
  /** For a dry run: field → current and new value. */
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
}

/** Maximum addresses listed in one finding; its count includes all. */
export const OUTSIDE_REPORTED_MAX = 1_000;

/** A device that responded. */
export interface SeenDevice {
  /** Responding address. */
  readonly ip_address: string;
  readonly host_id: string;
  readonly name: string;
}

export interface RecordCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

/** A device that reported more than one command writes. */
export interface Unfinished {
  /** Responding address. */
  readonly ip_address: string;
  /** True if another device reported the same host earlier in this scan; that report takes precedence. */
  readonly is_repeat: boolean;
}

/** A learned address that was dropped. */
export interface SetAside {
  readonly ip_address: string;
  readonly mac_address: string | null;
  readonly reason: RowReason;
}

/** Result of a scan's command. */
export interface Recorded {
  /** All records, by kind, plural. */
  readonly records: Readonly<Record<string, RecordCounts>>;
  readonly findings: readonly Finding[];
  /** IDs of the hosts seen, by the address where each was seen. */
  readonly hosts: ReadonlyArray<{ readonly ip_address: string; readonly host_id: string }>;
  /** Hosts among them that responded as devices; omitted if none. */
  readonly devices?: readonly SeenDevice[];
  /** Learned addresses that were dropped; omitted if none. */
  readonly set_aside?: readonly SetAside[];
  /** Devices that reported more than one command writes: their sightings must be sent again. Omitted if none. */
  readonly unfinished?: readonly Unfinished[];
  /** True if more would have ended than one command ends: it must be repeated. Omitted otherwise. */
  readonly is_cut_off?: true;
}
