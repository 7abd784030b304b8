// What is known of a thing to locate at one instant: who it may be, the ports that forward to it, and what they
// announce. Plain data.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";

export const ASKED_BY = ["mac", "ip", "hostname"] as const;

/** A canonical MAC or IP address, or a name. */
export interface LocateQuestion {
  readonly by: (typeof ASKED_BY)[number];
  readonly value: string;
}

export const RECORD_TYPES = ["host", "ip_address", "if_entry", "fdb_entry", "subnet", "vlan"] as const;

/** A record as evidence: its name, and since when it had been as it was seen. */
export interface RecordRef {
  readonly entity_type: (typeof RECORD_TYPES)[number];
  readonly id: string;
  readonly name: string;
  readonly valid_from: string;
}

export interface HostFact {
  readonly ref: RecordRef;
  readonly hostname: string | null;
  /** Whether it has a forwarding table of its own. */
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

/** How a far end is known: by LLDP or CDP, or entered otherwise. */
export type LinkSource = "Lldp" | "Cdp" | "Entered";

/** What is at the other end of a port. */
interface NeighborFact {
  readonly source: LinkSource;
  /** Null if no host of the inventory is known to be it. */
  readonly host: HostFact | null;
  /** What it calls itself. */
  readonly announced: string | null;
  /** Crowded ports of other devices of the network that name the same far end, one per device. */
  readonly namedAt: readonly NamingFact[];
}

/** A crowded port (CROWDED_MIN), not down, with the far end of another. */
export interface NamingFact {
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
  /** Entries that lead to this port. */
  readonly forwards: number;
  /** Whether these are more than half of the device's; false for few (CROWDED_MIN), or a known switch as far end. */
  readonly holdsMost: boolean;
  /** The devices that forward to the subject too and whose MAC address was learned here; null if not looked for. */
  readonly leadsTo: readonly RecordRef[] | null;
  /** A link aggregate (IEEE 802.1AX). */
  readonly isAggregate: boolean;
  readonly createdAt: string;
  readonly neighbor: NeighborFact | null;
  readonly nativeVlanId: string | null;
  readonly vlanIds: readonly string[];
}

/** A port that is down forwards to nobody. */
export function isUp({
  adminStatus,
  operStatus,
}: {
  readonly adminStatus: AdminStatus;
  readonly operStatus: OperStatus;
}): boolean {
  return (
    adminStatus !== "Down" && operStatus !== "Down" && operStatus !== "NotPresent" && operStatus !== "LowerLayerDown"
  );
}

export interface Sighting {
  readonly port: PortFact;
  /** One entry per VLAN. */
  readonly entries: ReadonlyArray<{ readonly ref: RecordRef; readonly vlanNumber: number | null }>;
}

/** A link that leads to the thing itself. */
export interface LinkFact {
  readonly device: HostFact;
  /** Null if only the device is known. */
  readonly port: PortFact | null;
  readonly source: LinkSource;
  /** Whether it leads to the interface itself, not only its host. */
  readonly isExact: boolean;
  /** The port's own entry, or that of the thing's interface. */
  readonly reportedBy: RecordRef;
  /** The announced name by which it was found. */
  readonly announced: string | null;
}

/** Why a subject may be what is looked for. */
export type Identity =
  /** An address record has the address, or an address record or interface has the MAC address. */
  | { readonly kind: "Address" | "AddressMac" | "InterfaceMac"; readonly record: RecordRef }
  /** An interface with the address has a MAC address. */
  | { readonly kind: "AddressInterface"; readonly record: RecordRef; readonly address: RecordRef }
  /** The host has this name, or one that begins with it up to a dot. */
  | { readonly kind: "Name" | "ShortName"; readonly record: RecordRef; readonly called: string }
  /** A device announces this name on a port, and no record of its own has it. */
  | { readonly kind: "Announced"; readonly record: RecordRef; readonly called: string };

/** A candidate: a host with one of its MAC addresses, or an unknown device. */
export interface Subject {
  readonly networkId: string;
  readonly host: HostFact | null;
  /** The address asked for, or the first one of that MAC address. */
  readonly address: AddressFact | null;
  readonly mac: string | null;
  readonly identities: readonly Identity[];
  readonly sightings: readonly Sighting[];
  readonly links: readonly LinkFact[];
}

export interface Facts {
  readonly asked: LocateQuestion;
  readonly subjects: readonly Subject[];
  /** By id, and by `network id/number`. */
  readonly vlans: ReadonlyMap<string, VlanFact>;
  /** Whether limits were reached. */
  readonly isCutShort: boolean;
}

/** How many other entries lead to a port, in orders of magnitude: small changes of a busy port mean nothing. */
export const CROWDS = [
  { low: 0, high: 0 },
  { low: 1, high: 3 },
  { low: 4, high: 15 },
  { low: 16, high: 63 },
  { low: 64, high: Number.MAX_SAFE_INTEGER },
] as const;

/** More than a telephone and what is plugged into it, or a host with its containers' bridge. */
export const CROWDED_MIN = 4;
/** Tables of ports with more other entries are not read row by row. */
export const LISTED_MAX = 63;

export function crowdOf(others: number): number {
  return CROWDS.findIndex(({ low, high }) => others >= low && others <= high);
}

export interface SequenceRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Whether a port's entries are more than half of its device's, and the ranges in which both numbers may move
 * independently without changing that. The ranges meet at a power of two if one lies between, to be equal for many
 * numbers.
 */
export function majorityOf(
  rows: number,
  total: number,
): { readonly holdsMost: boolean; readonly rows: SequenceRange; readonly total: SequenceRange } {
  const half = Math.floor(total / 2);
  const holdsMost = rows > half;
  const [low, high] = holdsMost ? [half + 1, rows] : [rows, half];
  const power = high < 1 ? 0 : 2 ** Math.floor(Math.log2(high));
  const meeting = power >= low ? power : Math.floor((low + high) / 2);
  if (holdsMost)
    return {
      holdsMost,
      rows: { low: meeting, high: Number.MAX_SAFE_INTEGER },
      total: { low: 0, high: 2 * meeting - 1 },
    };
  return { holdsMost, rows: { low: 0, high: meeting }, total: { low: 2 * meeting, high: Number.MAX_SAFE_INTEGER } };
}
