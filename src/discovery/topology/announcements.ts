// The announcements on an interface as one list: the entry's own LLDP and CDP fields, then its additional neighbors.
// Pure.

import { parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import type { IfEntryRecord } from "../../resources/if-entries/if-entry.ts";
import type { MoreCdpNeighbor, MoreNeighbor, Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type {
  CdpCapability,
  ChassisIdSubtype,
  LldpCapability,
  PortIdSubtype,
} from "../../resources/if-entries/vocabulary.ts";
import { deviceName } from "./device-names.ts";

/** A neighbor's announcement on one link, with the far end that the entry stores. */
export interface Announcement {
  readonly protocol: "Lldp" | "Cdp";
  readonly chassis_id?: { readonly subtype: ChassisIdSubtype; readonly value: string };
  /** For CDP, an interface name. */
  readonly port_id?: { readonly subtype: PortIdSubtype; readonly value: string };
  readonly sys_name?: string;
  readonly port_desc?: string;
  readonly mgmt_addr?: string;
  readonly device_id?: string;
  readonly platform?: string;
  readonly address?: string;
  readonly capabilities?: readonly (LldpCapability | CdpCapability)[];
}

type AnnouncingFields = Pick<
  IfEntryRecord,
  | "lldp_chassis_id"
  | "lldp_port_id"
  | "lldp_sys_name"
  | "lldp_sys_desc"
  | "lldp_port_desc"
  | "lldp_mgmt_addr"
  | "lldp_capabilities"
  | "cdp_device_id"
  | "cdp_port_id"
  | "cdp_platform"
  | "cdp_address"
  | "cdp_capabilities"
> & { readonly more_neighbors?: readonly MoreNeighbor[] | undefined };

interface AnnouncementList {
  readonly announcements: readonly Announcement[];
  /** Number of announcements in the entry's own fields; the rest are its `more_neighbors`, in order. */
  readonly ownCount: number;
  /** As stored in the entry. */
  readonly moreNeighbors: ReadonlyArray<Neighbor | null>;
}

const NO_ANNOUNCEMENTS: AnnouncementList = { announcements: [], ownCount: 0, moreNeighbors: [] };

/** LLDP first, then CDP, then the others in order. */
export function announcementsOf(entry: AnnouncingFields): AnnouncementList {
  const own: Announcement[] = [];
  if (isLldp(entry)) {
    own.push(
      present({
        protocol: "Lldp",
        chassis_id: entry.lldp_chassis_id,
        port_id: entry.lldp_port_id,
        sys_name: entry.lldp_sys_name,
        port_desc: entry.lldp_port_desc,
        mgmt_addr: entry.lldp_mgmt_addr,
        capabilities: entry.lldp_capabilities,
      }),
    );
  }
  if (isCdp(entry))
    own.push(
      cdp({
        device_id: entry.cdp_device_id,
        port_id: entry.cdp_port_id,
        platform: entry.cdp_platform,
        address: entry.cdp_address,
        capabilities: entry.cdp_capabilities,
      }),
    );
  const more = entry.more_neighbors ?? [];
  if (own.length === 0 && more.length === 0) return NO_ANNOUNCEMENTS;
  return {
    announcements: [...own, ...more.map(moreAnnouncement)],
    ownCount: own.length,
    moreNeighbors: more.map(({ neighbor }) => neighbor ?? null),
  };
}

/** For each of announcementsOf, how the sender describes itself. */
export function descriptionsOf(entry: AnnouncingFields): readonly (string | undefined)[] {
  return [
    ...(isLldp(entry) ? [entry.lldp_sys_desc] : []),
    ...(isCdp(entry) ? [entry.cdp_platform] : []),
    ...(entry.more_neighbors ?? []).map((each) => (each.protocol === "Cdp" ? each.platform : each.sys_desc)),
  ];
}

/**
 * Equal for equal announcements, regardless of the entry's other fields. For comparison within one program version;
 * must not be stored.
 */
export function announcementsFingerprint(entry: AnnouncingFields): string {
  const { lldp_chassis_id: chassis, lldp_port_id: port } = entry;
  const own = [
    chassis?.subtype,
    chassis?.value,
    port?.subtype,
    port?.value,
    entry.lldp_sys_name,
    entry.lldp_port_desc,
    entry.lldp_mgmt_addr,
    entry.cdp_device_id,
    entry.cdp_port_id,
    entry.cdp_platform,
    entry.cdp_address,
  ];
  const more = (entry.more_neighbors ?? []).map(({ neighbor: _farEnd, ...announced }) => announced);
  if (more.length === 0 && own.every((each) => each === undefined)) return "";
  return Bun.hash(JSON.stringify([own, more])).toString(36);
}

/**
 * True if switches without the protocol forward the announcement, so that its sender may be further away: CDP, whose
 * group address they treat as ordinary multicast, not LLDP (IEEE 802.1Q table 8-1). Also CDP that an agent reports as
 * LLDP (lldpd, ProCurve): device ID as chassis ID and system name.
 */
export function isFloodable({ protocol, chassis_id: chassis, sys_name: sysName }: Announcement): boolean {
  if (protocol === "Cdp") return true;
  if (chassis?.subtype !== "LocallyAssigned" || parseMac(chassis.value) !== null || parseIp(chassis.value) !== null)
    return false;
  return sysName === undefined || deviceName(sysName) === deviceName(chassis.value);
}

function isLldp(entry: AnnouncingFields): boolean {
  return (
    entry.lldp_chassis_id !== undefined ||
    entry.lldp_port_id !== undefined ||
    entry.lldp_sys_name !== undefined ||
    entry.lldp_mgmt_addr !== undefined ||
    entry.lldp_port_desc !== undefined
  );
}

function isCdp(entry: AnnouncingFields): boolean {
  return entry.cdp_device_id !== undefined || entry.cdp_port_id !== undefined || entry.cdp_address !== undefined;
}

function moreAnnouncement(more: MoreNeighbor): Announcement {
  if (more.protocol === "Cdp") return cdp(more);
  const { neighbor: _farEnd, sys_desc: _text, ...announced } = more;
  return announced;
}

type CdpFields = Omit<MoreCdpNeighbor, "protocol" | "neighbor">;

function cdp({
  device_id,
  port_id,
  platform,
  address,
  capabilities,
}: { [Name in keyof CdpFields]: CdpFields[Name] | undefined }): Announcement {
  return present({
    protocol: "Cdp",
    device_id,
    port_id: port_id === undefined ? undefined : { subtype: "InterfaceName", value: port_id },
    platform,
    address,
    capabilities,
  });
}

function present(
  fields: { protocol: Announcement["protocol"] } & { [Name in keyof Announcement]?: Announcement[Name] | undefined },
): Announcement {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as unknown as Announcement;
}
