// What is known of a network's hosts and interfaces that concerns links. Plain data.

import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";
import type { Announcement } from "./announcements.ts";

export interface TopologyHost {
  readonly id: string;
  readonly name: string;
  readonly hostname: string | null;
  readonly sys_name: string | null;
  /** LLDP chassis id, whatever its subtype. */
  readonly chassis_id: string | null;
  readonly serial_number: string | null;
  readonly addresses: readonly TopologyAddress[];
}

export interface TopologyAddress {
  /** Canonical. */
  readonly ip_address: string;
  readonly mac_address: string | null;
}

export interface TopologyPort {
  readonly id: string;
  readonly host_id: string;
  readonly if_index: number;
  readonly if_descr: string;
  readonly if_name: string | null;
  readonly if_alias: string | null;
  readonly if_type: number;
  readonly mac_address: string | null;
  /** The entry's own. */
  readonly ip_address: string | null;
  /** In the order of announcementsOf. */
  readonly announcements: readonly Announcement[];
  /** How many are fields of the entry itself; the others are its `more_neighbors`. */
  readonly ownCount: number;
}

/** A host as a map of the network shows it. */
export interface ShownHost extends TopologyHost {
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly management_url: string | null;
  readonly stale_since: string | null;
}

/** With what it says of its far ends today. */
export interface ShownPort extends TopologyPort {
  readonly speed_bps: number | null;
  readonly oper_status: OperStatus;
  readonly stale_since: string | null;
  readonly neighbor: Neighbor | null;
  /** Of `more_neighbors`. */
  readonly moreNeighbors: ReadonlyArray<Neighbor | null>;
  /** Of announcementsFingerprint. */
  readonly fingerprint: string;
}

export interface NetworkFacts {
  readonly hosts: readonly ShownHost[];
  readonly ports: readonly ShownPort[];
}

/** What became of a network's facts; null for what is not there any more. By id. */
export interface FactsChange {
  readonly hosts: ReadonlyMap<string, ShownHost | null>;
  /** With the number of its record: interfaces stand in the order of these. */
  readonly ports: ReadonlyMap<string, { readonly n: number; readonly port: ShownPort } | null>;
}
