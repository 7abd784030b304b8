// Facts about a station at one point in time: possible identities, ports that forward to it, and their neighbor
// announcements. Plain data.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";
import type { FarEndRole } from "../far-end.ts";

export const LOCATE_TERM_TYPES = ["mac", "ip", "hostname"] as const;

/** A canonical MAC or IP address, or a name. */
export interface LocateTerm {
  readonly by: (typeof LOCATE_TERM_TYPES)[number];
  readonly value: string;
}

export const RECORD_TYPES = ["host", "ip_address", "if_entry", "fdb_entry", "subnet", "vlan"] as const;

/** A record as evidence: its name, and the start of its state at that time. */
export interface RecordRef {
  readonly entity_type: (typeof RECORD_TYPES)[number];
  readonly id: string;
  readonly name: string;
  readonly valid_from: string;
}

export interface HostFact {
  readonly ref: RecordRef;
  readonly hostname: string | null;
  /** Whether it has a forwarding table. */
  readonly isSwitch: boolean;
}

export interface AddressFact {
  readonly ref: RecordRef;
  readonly ipAddress: string;
  readonly subnet: SubnetFact | null;
}

interface SubnetFact {
  readonly ref: RecordRef;
  readonly cidr: string;
  readonly vlan: VlanFact | null;
}

export interface VlanFact {
  readonly ref: RecordRef;
  readonly number: number;
}

/** Source of a far end: LLDP, CDP, or entered otherwise. */
export type LinkSource = "Lldp" | "Cdp" | "Entered";

/** The far end of a port. */
interface NeighborFact {
  readonly source: LinkSource;
  /** Null if it matches no host of the inventory. */
  readonly host: HostFact | null;
  /** Its announced name. */
  readonly announced: string | null;
  readonly role: FarEndRole;
  /** Shared ports of other devices in the network that report the same far end, one per device. */
  readonly alsoReportedAt: readonly ReportFact[];
}

/** A shared port (SHARED_PORT_MIN) that is not down and shares its far end with another. */
export interface ReportFact {
  readonly device: RecordRef;
  readonly port: RecordRef;
  readonly holdsMost: boolean;
}

export interface PortFact {
  readonly ref: RecordRef;
  readonly ifIndex: number;
  readonly ifDescr: string;
  readonly adminStatus: AdminStatus;
  readonly operStatus: OperStatus;
  readonly device: HostFact;
  /** Of an aggregate. */
  readonly members: readonly RecordRef[];
  /** Number of forwarding entries for this port and its parts. */
  readonly forwards: number;
  /** Whether it has over half of its device's entries; false for few (SHARED_PORT_MIN), or with a known switch behind. */
  readonly holdsMost: boolean;
  /** Devices that also forward to the subject and whose MAC address was learned here; null if not looked up. */
  readonly leadsTo: readonly RecordRef[] | null;
  /** A link aggregate (IEEE 802.1AX). */
  readonly isAggregate: boolean;
  readonly createdAt: string;
  readonly neighbor: NeighborFact | null;
  readonly nativeVlanId: string | null;
  readonly vlanIds: readonly string[];
}

/** A port that is down does not forward. */
export function isUp({ adminStatus, operStatus }: Pick<PortFact, "adminStatus" | "operStatus">): boolean {
  return adminStatus !== "Down" && !["Down", "NotPresent", "LowerLayerDown"].includes(operStatus);
}

export interface Sighting {
  readonly port: PortFact;
  /** Units of the port that learned the subject. */
  readonly units: readonly RecordRef[];
  /** One entry per VLAN. */
  readonly entries: ReadonlyArray<{ readonly ref: RecordRef; readonly vlanNumber: number | null }>;
}

/** A link whose far end is the station itself. */
export interface LinkFact {
  readonly device: HostFact;
  /** Null if only the device is known. */
  readonly port: PortFact | null;
  readonly source: LinkSource;
  /** Whether the far end is the interface itself, not only its host. */
  readonly isExact: boolean;
  /** Interface entry that reports the link: the port's own, or the station's interface. */
  readonly reportedBy: RecordRef;
  /** The announced name that matched. */
  readonly announced: string | null;
}

/** Reason why a subject matches the query. */
export type Identity =
  /** An address record has the address, or an address record or interface has the MAC address. */
  | { readonly kind: "Address" | "AddressMac" | "InterfaceMac"; readonly record: RecordRef }
  /** An interface with the address has a MAC address. */
  | { readonly kind: "AddressInterface"; readonly record: RecordRef; readonly address: RecordRef }
  /** The host has this name, or one that starts with it up to a dot. */
  | { readonly kind: "Name" | "ShortName"; readonly record: RecordRef; readonly matchedName: string }
  /** A device announces this name on a port, but no record has it. */
  | { readonly kind: "Announced"; readonly record: RecordRef; readonly matchedName: string };

/** A candidate: a host with one of its MAC addresses, or an unknown device. */
export interface Subject {
  readonly networkId: string;
  readonly host: HostFact | null;
  /** The requested address, or the first one with the MAC address. */
  readonly address: AddressFact | null;
  readonly mac: string | null;
  readonly identities: readonly Identity[];
  readonly sightings: readonly Sighting[];
  readonly links: readonly LinkFact[];
}

export interface Facts {
  readonly term: LocateTerm;
  readonly subjects: readonly Subject[];
  /** Keyed by id, and by `network id/number`. */
  readonly vlans: ReadonlyMap<string, VlanFact>;
  /** Whether limits truncated the facts. */
  readonly isTruncated: boolean;
}

/** Ranges of other entries per port, by order of magnitude: small changes on a busy port are not significant. */
export const ENTRY_RANGES = [
  { low: 0, high: 0 },
  { low: 1, high: 3 },
  { low: 4, high: 15 },
  { low: 16, high: 63 },
  { low: 64, high: Number.MAX_SAFE_INTEGER },
] as const;

/** Ranges from this index of ENTRY_RANGES on count as many. */
export const MANY = 3;

/** More than a phone with a PC behind it, or a host with a container bridge. */
export const SHARED_PORT_MIN = 4;
/** Ports with more other entries are not read row by row. */
export const LISTED_MAX = 63;

export function entryRangeOf(others: number): number {
  return ENTRY_RANGES.findIndex(({ low, high }) => others >= low && others <= high);
}

export interface SequenceRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Whether a port has more than half of its device's entries, and the ranges in which both numbers may change
 * independently without affecting that. The ranges meet at a power of two if possible, so that they are the same for
 * many numbers.
 */
export function majorityOf(
  rows: number,
  total: number,
): { readonly holdsMost: boolean; readonly rows: SequenceRange; readonly total: SequenceRange } {
  const half = Math.floor(total / 2);
  const holdsMost = rows > half;
  const [low, high] = holdsMost ? [half + 1, rows] : [rows, half];
  const power = high < 1 ? 0 : 2 ** Math.floor(Math.log2(high));
  const boundary = power >= low ? power : Math.floor((low + high) / 2);
  if (holdsMost)
    return {
      holdsMost,
      rows: { low: boundary, high: Number.MAX_SAFE_INTEGER },
      total: { low: 0, high: 2 * boundary - 1 },
    };
  return { holdsMost, rows: { low: 0, high: boundary }, total: { low: 2 * boundary, high: Number.MAX_SAFE_INTEGER } };
}
