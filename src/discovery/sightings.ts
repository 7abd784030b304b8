// What a scan has seen, as it is handed to the writer, and what the writer says came of it. Plain data: it crosses
// threads.

import type { PortProtocol } from "../resources/ports/port-type.ts";
import type { Device } from "./device.ts";
import type { RowCount, RowReason } from "./rows.ts";

/** An address that answered, or that another device has heard of. */
export interface AddressSighting {
  /** Canonical. */
  readonly ip_address: string;
  readonly mac_address: string | null;
  /**
   * The MAC address stands for many addresses: whoever has it answers on behalf of others, and it is no sign of who has
   * this one.
   */
  readonly is_mac_shared?: true;
  /** By reverse DNS. Undefined: not asked or not answered; null: it has none. */
  readonly hostname?: string | null;
  /** How it showed itself; empty for what only a neighbor table of another device tells. */
  readonly answered: readonly ("Icmp" | "Tcp" | "Neighbor" | "Snmp")[];
  /** The TCP and UDP ports that were asked, where they were; those of `open` answered. Undefined: none were asked. */
  readonly ports?: { readonly asked: readonly number[]; readonly open: readonly OpenPort[] };
}

export interface OpenPort {
  readonly number: number;
  readonly protocol: PortProtocol;
  /** What answers there; null where nothing is known of it. */
  readonly service: IdentifiedService | null;
}

export interface IdentifiedService {
  /** For people: `OpenSSH 9.2p1`, `nginx: Welcome`. */
  readonly name: string;
  /** As in self/well-known-services.ts: `ssh`, `http`. */
  readonly service_definition: string;
}

/** A device that answered by SNMP at an address. */
export interface DeviceSighting {
  /** Where it was asked. */
  readonly ip_address: string;
  /** The link-layer address seen there, where the appliance is on that link. */
  readonly mac_address: string | null;
  readonly hostname?: string | null;
  readonly device: Device;
  /** What opened it, to be tried first from now on. */
  readonly credential: WorkingCredential | null;
  /** Of all that is reported of the device (reconcile/reports.ts); without it every report is gone through. */
  readonly digest?: string;
  /** Whether it was written in part already, by the command before. */
  readonly is_continued?: boolean;
  /** As that command answered it; see Unfinished. */
  readonly is_repeat?: boolean;
}

export interface WorkingCredential {
  readonly credential_id: string;
  /** Of AES-256, where two ways to make the key are in use; null for all others. */
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
  "Read",
] as const;
export type FindingType = (typeof FINDING_TYPES)[number];

/** One line of a scan's outcome. */
export interface Finding {
  readonly type: FindingType;
  /** The kind of record, in the singular; null where there is none (an address that nothing is known of). */
  readonly entity: string | null;
  readonly id: string | null;
  /** What people call it: a host's name, an address, a CIDR. */
  readonly label: string;
  /** One clause: why it was created, changed, closed, not reached. */
  readonly reason: string;
  /** Of a host: records below it, by kind in the plural. */
  readonly records?: Readonly<Record<string, RecordCounts>>;
  /** Of a table that was read: what became of its rows. */
  readonly rows?: RowCount;
  /** Of an ARP table: addresses in none of the network's subnets, OUTSIDE_TOLD_MAX at most. */
  readonly addresses?: readonly string[];
  /** Of a scan that only tells what it would do: field → what it is and what it would be. */
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;
}

/** Addresses that one finding lists; how many there are is in its count. */
export const OUTSIDE_TOLD_MAX = 1_000;

/** A device that answered. */
export interface SeenDevice {
  /** Where it did. */
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
  /** Where it answered. */
  readonly ip_address: string;
  /** Whether another device reported the same host before it in this scan, whose word stands. */
  readonly is_repeat: boolean;
}

/** What a command of a scan came to. */
export interface Recorded {
  /** All records, by kind in the plural. */
  readonly records: Readonly<Record<string, RecordCounts>>;
  readonly findings: readonly Finding[];
  /** The hosts seen: their ids by the address under which each was. */
  readonly hosts: ReadonlyArray<{ readonly ip_address: string; readonly host_id: string }>;
  /** Those among them that answered as devices; left out where there are none. */
  readonly devices?: readonly SeenDevice[];
  /** Addresses that were heard of and are not kept; left out where there are none. */
  readonly set_aside?: ReadonlyArray<{ readonly ip_address: string; readonly reason: RowReason }>;
  /**
   * Where devices answered that reported more than one command writes: their sightings are to be sent again. Left out
   * where there are none.
   */
  readonly unfinished?: readonly Unfinished[];
}
