// How much of the ports of a device the overview of its page shows. Plain functions.

/** A host with fewer is no switch: its interfaces are a list, not a picture. */
const SHOWN_FROM = 4;

/** Whether a device with as many has a picture there. */
export function isPlateShown(ports: number): boolean {
  return ports >= SHOWN_FROM;
}

/** Where a host hangs is told with all of its addresses: those of a host with more are asked for on a tab of their own. */
const PLACES_ADDRESSES_MAX = 50;

/** Whether the overview says where a host hangs: of a switch one asks what hangs on it. */
export function arePlacesShown({
  interfaces,
  ip_addresses,
}: Readonly<Record<"interfaces" | "ip_addresses", number>>): boolean {
  return !isPlateShown(interfaces) && ip_addresses <= PLACES_ADDRESSES_MAX;
}

/** The first groups that have as many ports together; of the last one, its first ports. */
export function upTo<Group extends { readonly ports: readonly unknown[] }>(
  groups: readonly Group[],
  most: number,
): Group[] {
  const shown: Group[] = [];
  let room = most;
  for (const group of groups) {
    if (room <= 0) break;
    shown.push(group.ports.length <= room ? group : { ...group, ports: group.ports.slice(0, room) });
    room -= group.ports.length;
  }
  return shown;
}
