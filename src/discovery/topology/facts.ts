// Facts about a network's hosts and interfaces that matter for links. Plain data.

import type { DeviceType, DeviceTypeSource } from "../../resources/hosts/device-type.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { OperStatus } from "../../resources/if-entries/vocabulary.ts";
import type { Announcement } from "./announcements.ts";

export interface TopologyHost {
  readonly id: string;
  readonly name: string;
  readonly hostname: string | null;
  readonly sys_name: string | null;
  /** LLDP chassis ID of any subtype. */
  readonly chassis_id: string | null;
  /** dot1dBaseBridgeAddress. */
  readonly bridge_address: string | null;
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
  /** The entry's own address. */
  readonly ip_address: string | null;
  /** In the order of announcementsOf. */
  readonly announcements: readonly Announcement[];
  /** Number of announcements in the entry's own fields; the rest are its `more_neighbors`. */
  readonly ownCount: number;
}

/** A host as shown on a network map. */
export interface MapHost extends TopologyHost {
  readonly manufacturer: string | null;
  readonly model: string | null;
  readonly management_url: string | null;
  readonly stale_since: string | null;
  readonly device_type: DeviceType;
  /** Of the scans' own type, if a user set another one. */
  readonly device_type_source: DeviceTypeSource | null;
}

/** With its stored far ends. */
export interface MapPort extends TopologyPort {
  readonly speed_bps: number | null;
  readonly oper_status: OperStatus;
  readonly stale_since: string | null;
  readonly neighbor: Neighbor | null;
  readonly lag_id: string | null;
  readonly parent_id: string | null;
  /** Far ends of `more_neighbors`. */
  readonly moreNeighbors: ReadonlyArray<Neighbor | null>;
  /** From announcementsFingerprint. */
  readonly fingerprint: string;
  /** For each announcement, the type of its sender by the description announced. */
  readonly described: ReadonlyArray<DeviceType | null>;
}

export interface NetworkFacts {
  readonly hosts: readonly MapHost[];
  readonly ports: readonly MapPort[];
}

/** Changes to a network's facts, by ID; null for removed ones. */
export interface FactsChange {
  readonly hosts: ReadonlyMap<string, MapHost | null>;
  /** With the record number: interfaces are ordered by it. */
  readonly ports: ReadonlyMap<string, { readonly n: number; readonly port: MapPort } | null>;
}
