// Nodes of a map: hosts, and devices known only from announcements. Pure.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import type { MapHost } from "../../discovery/topology/facts.ts";
import type { ResolvedClaim } from "../../discovery/topology/resolve.ts";
import { isFactoryName } from "../../resources/hosts/factory-names.ts";
import { labelOf } from "./announced-names.ts";
import type { MapNode } from "./map.ts";

/** @param managedAt the node's own address that others announce as its management address */
export function hostNode(host: MapHost, managedAt: string | undefined): MapNode {
  const { id, name, sys_name, chassis_id, manufacturer, model, stale_since } = host;
  return {
    id,
    kind: "Known",
    name,
    sys_name,
    chassis_id,
    manufacturer,
    model,
    management_address:
      managedAt ??
      urlAddress(host) ??
      host.addresses.find(({ ip_address }) => ip_address.includes("."))?.ip_address ??
      host.addresses[0]?.ip_address ??
      null,
    ...(stale_since === null ? {} : { stale_since }),
  };
}

/**
 * Node for a claim that identifies no host.
 * @param addressesNamed addresses that devices with a name announce elsewhere
 */
export function unknownDeviceNode(
  networkId: string,
  resolved: ResolvedClaim,
  addressesNamed: (label: string) => readonly string[],
): MapNode {
  const identity = identityOf(resolved, addressesNamed);
  const digest = new Bun.CryptoHasher("sha256").update(`${networkId} ${identity}`).digest("hex");
  return unknownNode(`unknown-${digest.slice(0, 16)}`, resolved.claim);
}

/** Merges two descriptions of a device: prefers the one with an address, else the first. */
export function moreCompleteNode(first: MapNode, second: MapNode): MapNode {
  return first.management_address === null && second.management_address !== null ? second : first;
}

/** The address in the management URL, if it belongs to the host. */
function urlAddress({ management_url: url, addresses }: MapHost): string | null {
  return url === null
    ? null
    : (addresses.find(
        ({ ip_address }) =>
          url.includes(`//${ip_address}/`) ||
          url.includes(`//${ip_address}:`) ||
          url.includes(`//[${ip_address}]`) ||
          url.endsWith(`//${ip_address}`),
      )?.ip_address ?? null);
}

/**
 * Identifies devices that are not hosts by name and address. Some announce another chassis id on every port, so a name
 * without an address is enough, unless it is a factory default or several devices have it.
 */
function identityOf(
  { claim, isNameShared }: ResolvedClaim,
  addressesNamed: (label: string) => readonly string[],
): string {
  const {
    chassisMac,
    chassisText,
    addresses: [address],
    macs: [mac],
    serials: [serial],
    port,
    announcementIndexes: places,
  } = claim;
  const label = labelOf(claim);
  if (label !== undefined) {
    const [known, ...others] = address !== undefined ? [address] : addressesNamed(label);
    const isNameEnough = !isFactoryName(label) && !isNameShared && others.length === 0;
    const rest = address ?? (isNameEnough ? known : (chassisMac ?? chassisText?.text ?? mac ?? serial));
    return `name ${label} ${rest ?? ""}`;
  }
  const identifier = chassisMac ?? chassisText?.text ?? address ?? mac ?? serial;
  return identifier === undefined ? `port ${port.id} ${places[0]}` : `id ${identifier}`;
}

function unknownNode(id: string, claim: IdentityClaim): MapNode {
  const announcements = claim.announcementIndexes.map((index) => claim.port.announcements[index] as Announcement);
  const first = <Name extends keyof Announcement>(name: Name) =>
    announcements.find((each) => each[name] !== undefined)?.[name];
  const sysName = first("sys_name") ?? null;
  const chassis = first("chassis_id")?.value ?? null;
  return {
    id,
    kind: "Unknown",
    name:
      sysName ??
      first("device_id") ??
      chassis ??
      first("mgmt_addr") ??
      first("address") ??
      claim.portIds[0]?.value ??
      "unknown",
    sys_name: sysName,
    chassis_id: chassis,
    manufacturer: null,
    model: first("platform") ?? null,
    management_address: first("mgmt_addr") ?? first("address") ?? null,
  };
}
