// Links of a host to its neighbors, and the MAC addresses that locate the host itself. Pure.

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
export interface NeighborLink<LinkType, End> {
  readonly link: LinkType;
  readonly near: End;
  readonly far: End;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Links of a device, sorted by port. A link to itself appears once. */
export function neighborLinks<End extends LinkEnd, LinkType extends Link<End>>(
  id: string,
  links: readonly (LinkType & Link<End>)[],
): NeighborLink<LinkType, End>[] {
  return links
    .flatMap((link) => {
      const [first, second] = link.ends;
      if (first === undefined || second === undefined) return [];
      if (first.node_id === id) return [{ link, near: first, far: second }];
      return second.node_id === id ? [{ link, near: second, far: first }] : [];
    })
    .sort((a, b) => collator.compare(a.near.port ?? "", b.near.port ?? ""));
}

/** Start of a link; `isOrEarlier` if the link already existed at the beginning of the period. */
export interface LinkSince {
  readonly instant: string;
  readonly isOrEarlier: boolean;
}

/**
 * Start of the last uninterrupted interval of each link that exists at the end of the period.
 * @param fromMs beginning of the period
 */
export function sinceByLink(links: readonly Link<unknown>[], fromMs: number): Map<string, LinkSince> {
  const since = links.flatMap(({ id, intervals = [] }): [string, LinkSince][] => {
    const last = intervals.at(-1);
    if (last === undefined || last.to !== null) return [];
    return [[id, { instant: last.from, isOrEarlier: (parseInstant(last.from) ?? 0) <= fromMs }]];
  });
  return new Map(since);
}

/** A device may have many MAC addresses, nearly all of them on one link. */
const MACS_MAX = 4;

/**
 * MAC addresses to look up in the forwarding tables of other devices.
 * @param records addresses of the host, then its interfaces
 */
export function ownMacs(records: readonly { readonly mac_address?: string | null }[]): string[] {
  return [...new Set(records.flatMap(({ mac_address }) => mac_address || []))].slice(0, MACS_MAX);
}

/** Labels of the fields that one end of a link announces, in order of their value for identifying the device. */
export const LABELS = {
  sys_name: "system name",
  device_id: "device ID",
  chassis_id: "chassis ID",
  port_id: "port ID",
  port_desc: "port description",
  platform: "platform",
  mgmt_addr: "management address",
  address: "address",
  capabilities: "capabilities",
} as const;
type AnnouncedField = keyof typeof LABELS;

/** Announced fields with a value, in the order of `LABELS`. */
export function announcedFields(
  evidence: Readonly<Partial<Record<AnnouncedField, string | readonly string[] | { readonly value: string }>>>,
): { readonly field: AnnouncedField; readonly value: string }[] {
  return (Object.keys(LABELS) as AnnouncedField[]).flatMap((field) => {
    const announced = evidence[field];
    const text = typeof announced === "object" && "value" in announced ? announced.value : announced;
    const value = typeof text === "object" ? text.join(", ") : text;
    return value ? [{ field, value }] : [];
  });
}
