// What is known of a thing that is to be located, as of one instant: who it may be, which ports forward to it, what is announced
// on them. Plain data between who gathers it and who judges it; no SQL, no judgement.

import type { AdminStatus, OperStatus } from "../../resources/if-entries/vocabulary.ts";

export const ASKED_BY = ["mac", "ip", "hostname"] as const;

/** What is looked for: a canonical MAC or IP address, or a name. */
export interface Asked {
  readonly by: (typeof ASKED_BY)[number];
  readonly value: string;
}

export const RECORD_TYPES = ["host", "ip_address", "if_entry", "fdb_entry", "subnet", "vlan"] as const;

/** A record as evidence: which one, what it was called, and since when it had been as it was seen. */
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

export interface SubnetFact {
  readonly ref: RecordRef;
  readonly cidr: string;
  readonly vlan: VlanFact | null;
}

export interface VlanFact {
  readonly ref: RecordRef;
  readonly number: number;
}

/** How a far end is known: a device says so by LLDP or CDP, or it was entered without either. */
export type LinkSource = "Lldp" | "Cdp" | "Entered";

/** What is at the other end of a port. */
export interface NeighborFact {
  readonly source: LinkSource;
  /** Null where no host of the inventory is known to be it. */
  readonly host: HostFact | null;
  /** What it calls itself. */
  readonly announced: string | null;
  /** Crowded ports at which other devices of the network name the same far end; one of each device. */
  readonly namedAt: readonly NamingFact[];
}

/** A crowded port (CROWDED_MIN) that is not down, and whose far end is the same as another one's. */
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
  /** Rows of the device's forwarding table that lead to this port. */
  readonly forwards: number;
  /** Whether these are more than half of the device's table; false where they are few (CROWDED_MIN), or the far end is known to be a switch. */
  readonly holdsMost: boolean;
  /** The devices that forward to the subject as well and of which one's own MAC address was learned here; null where that was not looked for. */
  readonly leadsTo: readonly RecordRef[] | null;
  /** Whether it stands for several ports (IEEE 802.1AX). */
  readonly isAggregate: boolean;
  /** Since when the inventory knows the port. */
  readonly createdAt: string;
  readonly neighbor: NeighborFact | null;
  readonly nativeVlanId: string | null;
  readonly vlanIds: readonly string[];
}

/** Whether what is told of a port may still hold: one that is down forwards to nobody. */
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

/** A port that forwards to a MAC address. */
export interface Sighting {
  readonly port: PortFact;
  /** The rows that say so, one per VLAN. */
  readonly entries: ReadonlyArray<{ readonly ref: RecordRef; readonly vlanNumber: number | null }>;
}

/** A link that leads to the thing itself. */
export interface LinkFact {
  readonly device: HostFact;
  /** Null where only the device is known. */
  readonly port: PortFact | null;
  readonly source: LinkSource;
  /** Whether it leads to the very interface that is looked for, or only to its host. */
  readonly isExact: boolean;
  /** Who says so: the port's own entry, or the entry of the thing's interface. */
  readonly reportedBy: RecordRef;
  /** What the thing calls itself there, where that is why it was found. */
  readonly announced: string | null;
}

/** Why a subject may be what is looked for. */
export type Identity =
  /** An address record has the address, or an address record or interface has the MAC address. */
  | { readonly kind: "Address" | "AddressMac" | "InterfaceMac"; readonly record: RecordRef }
  /** An interface that the address is assigned to has a MAC address. */
  | { readonly kind: "AddressInterface"; readonly record: RecordRef; readonly address: RecordRef }
  /** The host is called so, or its name begins with it up to a dot. */
  | { readonly kind: "Name" | "ShortName"; readonly record: RecordRef; readonly called: string }
  /** A device announces itself so on a port, and no record of its own says so. */
  | { readonly kind: "Announced"; readonly record: RecordRef; readonly called: string };

/** One thing that may be what is looked for: a host with one of its MAC addresses, or an unknown device. */
export interface Subject {
  readonly networkId: string;
  readonly host: HostFact | null;
  /** The address that was asked for, or the first one of that MAC address. */
  readonly address: AddressFact | null;
  readonly mac: string | null;
  readonly identities: readonly Identity[];
  readonly sightings: readonly Sighting[];
  readonly links: readonly LinkFact[];
}

export interface Facts {
  readonly asked: Asked;
  readonly subjects: readonly Subject[];
  /** By id, and by `network id/number`. */
  readonly vlans: ReadonlyMap<string, VlanFact>;
  /** Whether there was more than is looked at. */
  readonly isCutShort: boolean;
}

/** How many other rows of a forwarding table lead to a port, in orders of magnitude: small changes of a busy port mean nothing. */
export const CROWDS = [
  { low: 0, high: 0 },
  { low: 1, high: 3 },
  { low: 4, high: 15 },
  { low: 16, high: 63 },
  { low: 64, high: Number.MAX_SAFE_INTEGER },
] as const;

/** Other rows from which on a port is crowded: more than a telephone and what is plugged into it, or a host with its containers' bridge. */
export const CROWDED_MIN = 4;
/** Tables of ports with more other rows than these are not read row by row. */
export const LISTED_MAX = 63;

/** The place in CROWDS of a number of other rows. */
export function crowdOf(others: number): number {
  return CROWDS.findIndex(({ low, high }) => others >= low && others <= high);
}

/** Between which numbers a number may move. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/**
 * Whether a port's rows are more than half of its device's, and how far each of both numbers may move, whatever the other one does in its
 * range, before that could be answered otherwise. The ranges meet at a power of two where one lies between: so they are the same for many numbers.
 */
export function majorityOf(
  rows: number,
  total: number,
): { readonly holdsMost: boolean; readonly rows: Range; readonly total: Range } {
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
