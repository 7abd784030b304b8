// Search-index entries for the far end of a link, which locate an announced name or address at any timestamp, and for
// interfaces stacked on others. Does not make a host searchable by its neighbors' names: no caller's search uses these.

import { parseIp } from "../../base/ip.ts";
import { parseMac } from "../../base/mac.ts";
import type { MoreNeighbor } from "./more-neighbors.ts";

/** Private-use characters, absent from all names, as entry prefixes; the first one also replaces whitespace. */
const ANNOUNCED = "\uE000";
const NEIGHBOR = "\uE001";
const STACKED = "\uE002";

/** Fields of an interface entry that describe its far end. */
export interface LinkIndexFields {
  readonly lldp_chassis_id?: { readonly value: string } | undefined;
  readonly lldp_port_id?: { readonly value: string } | undefined;
  readonly lldp_sys_name?: string | undefined;
  readonly lldp_mgmt_addr?: string | undefined;
  readonly cdp_device_id?: string | undefined;
  readonly cdp_address?: string | undefined;
  readonly neighbor?: { readonly id: string } | undefined;
  readonly more_neighbors?: readonly MoreNeighbor[] | undefined;
  readonly host_id: string;
  readonly lag_id?: string | undefined;
  readonly parent_id?: string | undefined;
}

/**
 * Entries of a link: the neighbor's id, and the names and addresses announced by LLDP (IEEE 802.1AB) or CDP; and the
 * host of an interface that is part of another one.
 */
export function linkIndexEntries(link: LinkIndexFields): string[] {
  const { lldp_port_id: portId } = link;
  const announced = [
    link.lldp_chassis_id?.value,
    link.lldp_sys_name,
    link.lldp_mgmt_addr,
    link.cdp_device_id,
    link.cdp_address,
  ];
  // Only port ids that are addresses: `Gi0/1` exists on every switch.
  if (portId !== undefined && canonical(portId.value) !== null) announced.push(portId.value);
  for (const each of link.more_neighbors ?? [])
    announced.push(
      ...(each.protocol === "Lldp"
        ? [each.chassis_id?.value, each.sys_name, each.mgmt_addr]
        : [each.device_id, each.address]),
    );
  const announcedEntries = announced
    .filter((text) => text !== undefined && /\S/.test(text))
    .map((text) => announcedEntry(text as string));
  const farEnds = [link.neighbor, ...(link.more_neighbors ?? []).map((each) => each.neighbor)].flatMap((each) =>
    each === undefined ? [] : [neighborEntry(each.id)],
  );
  const carriers = [link.lag_id, link.parent_id].filter((id) => id !== undefined);
  const stacked = carriers.length === 0 ? [] : [link.host_id, ...carriers].map(stackedEntry);
  return [...stacked, ...farEnds, ...announcedEntries];
}

/** Entry of the members and units of an interface, or of all interfaces of a host. */
export function stackedEntry(id: string): string {
  return STACKED + id;
}

/** Entry of a link to the neighbor with this id. */
export function neighborEntry(id: string): string {
  return NEIGHBOR + id;
}

/** Entry of a link whose far end announces this name or address. */
export function announcedEntry(text: string): string {
  if (/^[!-~]+$/.test(text)) return ANNOUNCED + (canonical(text) ?? text);
  return ANNOUNCED + text.trim().replaceAll(/[\s\p{Cc}]+/gu, ANNOUNCED);
}

/** Canonical address; null for any other string, most of which are excluded without parsing. */
function canonical(text: string): string | null {
  if (!/^[0-9a-f.:-]{2,45}$/i.test(text)) return null;
  return parseMac(text) ?? (/[.:]/.test(text) ? (parseIp(text)?.text ?? null) : null);
}
