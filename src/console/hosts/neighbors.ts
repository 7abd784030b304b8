// Links of a host to its neighbors, and MAC addresses for its own location. Pure.

import { parseInstant } from "../time/instant.ts";
/** Part of a topology link that describes its ends. */
export interface Link<End> {
  readonly id: string;
  readonly ends: readonly End[];
  readonly intervals?: readonly { readonly from: string; readonly to: string | null }[];
}

interface LinkEnd {
  readonly node_id: string;
  readonly port: string | null;
}

/** Link from the perspective of one end. */
export interface NeighborLink<Told, End> {
  readonly link: Told;
  readonly near: End;
  readonly far: End;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Links of a device, sorted by port. A link to itself appears once. */
export function neighborLinks<End extends LinkEnd, Told extends Link<End>>(
  id: string,
  links: readonly (Told & Link<End>)[],
): NeighborLink<Told, End>[] {
  return links
    .flatMap((link) => {
      const [one, other] = link.ends;
      if (one === undefined || other === undefined) return [];
      if (one.node_id === id) return [{ link, near: one, far: other }];
      return other.node_id === id ? [{ link, near: other, far: one }] : [];
    })
    .sort((a, b) => collator.compare(a.near.port ?? "", b.near.port ?? ""));
}

/** Start of a link; `isOrEarlier` if it existed at the beginning of the period. */
export interface LinkSince {
  readonly instant: string;
  readonly isOrEarlier: boolean;
}

/**
 * Start of the last uninterrupted interval of each link that exists at the end of the period.
 * @param fromMs beginning of the period
 */
export function sinceByLink(links: readonly Link<unknown>[], fromMs: number): Map<string, LinkSince> {
  const since = new Map<string, LinkSince>();
  for (const { id, intervals = [] } of links) {
    const last = intervals.at(-1);
    if (last === undefined || last.to !== null) continue;
    since.set(id, { instant: last.from, isOrEarlier: (parseInstant(last.from) ?? 0) <= fromMs });
  }
  return since;
}

/** A device may have very many, nearly all of them on one cable. */
const MACS_MAX = 4;

/**
 * MAC addresses to look up in the forwarding tables of other devices.
 * @param of addresses of the host, then its interfaces
 */
export function ownMacs(of: readonly { readonly mac_address?: string | null }[]): string[] {
  const macs = new Set<string>();
  for (const { mac_address } of of) {
    if (mac_address) macs.add(mac_address);
    if (macs.size === MACS_MAX) break;
  }
  return [...macs];
}

/** Fields that one end of a link announces. */
interface Announcement {
  readonly sys_name?: string;
  readonly device_id?: string;
  readonly chassis_id?: { readonly value: string };
  readonly port_id?: { readonly value: string };
  readonly port_desc?: string;
  readonly platform?: string;
  readonly mgmt_addr?: string;
  readonly address?: string;
}

/** Announced fields, in order of their value for identifying the device. */
export function heardOf(evidence: Announcement): { readonly field: string; readonly value: string }[] {
  const { sys_name, device_id, chassis_id, port_id, port_desc, platform, mgmt_addr, address } = evidence;
  const told: Readonly<Record<string, string | undefined>> = {
    sys_name,
    device_id,
    chassis_id: chassis_id?.value,
    port_id: port_id?.value,
    port_desc,
    platform,
    mgmt_addr,
    address,
  };
  return Object.entries(told).flatMap(([field, value]) =>
    value === undefined || value === "" ? [] : [{ field, value }],
  );
}
