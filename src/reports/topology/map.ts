// Network map of nodes and links. One link per cable or aggregate, with the announcements of both ends as evidence. An announced
// device that is not a host is a separate node.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";

export const NODE_KINDS = ["Known", "Unknown"] as const;
export const LINK_PROTOCOLS = ["Lldp", "Cdp", "Entered"] as const;
/**
 * Certainty of a link: both interfaces known; hosts known, but not both interfaces; the far device is not a host;
 * announcement flooded from farther away.
 */
export const CERTAINTIES = ["Interfaces", "Hosts", "Announced", "Beyond"] as const;

export interface MapNode {
  /** The host's id, else derived from the device's announcement. */
  readonly id: string;
  readonly kind: (typeof NODE_KINDS)[number];
  readonly name: string;
  readonly sys_name: string | null;
  readonly chassis_id: string | null;
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly management_address: string | null;
  readonly stale_since?: string;
}

export interface MapEnd {
  readonly node_id: string;
  /** Null if unknown. */
  readonly if_entry: { readonly id: string; readonly name: string; readonly if_index: number } | null;
  /** Name of the interface, or its announced name; null if unknown. */
  readonly port: string | null;
  readonly speed_bps: number | null;
  readonly oper_status: OperStatus | null;
  readonly stale_since?: string;
}

/** An announcement and the interface that received it. */
export interface LinkEvidence extends Announcement {
  readonly node_id: string;
  readonly if_entry_id: string;
}

export interface MapLink {
  readonly id: string;
  readonly protocol: (typeof LINK_PROTOCOLS)[number];
  readonly certainty: (typeof CERTAINTIES)[number];
  /** Whether several devices are announced on one interface: a hub, or a phone with a computer behind it. */
  readonly is_shared: boolean;
  readonly ends: readonly [MapEnd, MapEnd];
  /** The lower speed of both ends. */
  readonly speed_bps: number | null;
  /** Up if all known ends are, else the status of an end that is not. */
  readonly oper_status: OperStatus | null;
  /** Shared by all links between the two nodes. */
  readonly group: string;
  readonly parallel: number;
  /** Cables of an aggregate; empty for a single cable. */
  readonly members: ReadonlyArray<{ readonly ends: readonly [MapEnd, MapEnd] }>;
  readonly evidence: readonly LinkEvidence[];
}

export interface NetworkMap {
  readonly nodes: readonly MapNode[];
  readonly links: readonly MapLink[];
}

/** By id; null for removed items. */
export interface MapChange {
  readonly nodes: ReadonlyMap<string, MapNode | null>;
  readonly links: ReadonlyMap<string, MapLink | null>;
}
