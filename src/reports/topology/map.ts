// A network as nodes and links. One link per cable, with both ends as evidence. An announced device that is no host is a
// node of its own.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";

export const NODE_KINDS = ["Known", "Unknown"] as const;
export const LINK_PROTOCOLS = ["Lldp", "Cdp", "Entered"] as const;
/** How well a link is known: both interfaces; the hosts, but not both interfaces; a device that is no host; flooded. */
export const CERTAINTIES = ["Interfaces", "Hosts", "Announced", "Beyond"] as const;

export interface MapNode {
  /** The host's, else made of what the device says of itself. */
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
  /** The interface's name, or how it is announced; null if unknown. */
  readonly port: string | null;
  readonly speed_bps: number | null;
  readonly oper_status: OperStatus | null;
  readonly stale_since?: string;
}

/** An announcement, and where it was heard. */
export interface LinkEvidence extends Announcement {
  readonly node_id: string;
  readonly if_entry_id: string;
}

export interface MapLink {
  readonly id: string;
  readonly protocol: (typeof LINK_PROTOCOLS)[number];
  readonly certainty: (typeof CERTAINTIES)[number];
  /** Whether several devices are announced on one interface: a hub, a telephone with a computer behind it. */
  readonly is_shared: boolean;
  readonly ends: readonly [MapEnd, MapEnd];
  /** The lower of both. */
  readonly speed_bps: number | null;
  /** Up where the known ends are, else that of an end that is not. */
  readonly oper_status: OperStatus | null;
  /** Shared by all links between the two nodes. */
  readonly group: string;
  readonly parallel: number;
  readonly evidence: readonly LinkEvidence[];
}

export interface NetworkMap {
  readonly nodes: readonly MapNode[];
  readonly links: readonly MapLink[];
}

/** By id; null for what is not shown any more. */
export interface MapChange {
  readonly nodes: ReadonlyMap<string, MapNode | null>;
  readonly links: ReadonlyMap<string, MapLink | null>;
}
