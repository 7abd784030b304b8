// Nodes of a map: hosts, and devices known only from announcements. Pure.

import type { Announcement } from "../../discovery/topology/announcements.ts";
import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import { firstLabel } from "../../discovery/topology/device-names.ts";
import type { MapHost } from "../../discovery/topology/facts.ts";
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

/** Node for a claim that identifies no host. */
export function unknownDeviceNode(networkId: string, claim: IdentityClaim): MapNode {
  const digest = new Bun.CryptoHasher("sha256").update(`${networkId} ${identityOf(claim)}`).digest("hex");
  return unknownNode(`unknown-${digest.slice(0, 16)}`, claim);
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

/** Identifies devices that are not hosts by name together with address or chassis id: many have a default name. */
function identityOf({
  names: [name],
  chassisMac,
  chassisText,
  addresses: [address],
  macs: [mac],
  serials: [serial],
  port,
  announcementIndexes: places,
}: IdentityClaim): string {
  const rest = address ?? chassisMac ?? chassisText?.text ?? mac ?? serial;
  if (name !== undefined) return `name ${firstLabel(name)} ${rest ?? ""}`;
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
