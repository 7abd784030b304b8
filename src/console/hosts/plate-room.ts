// Extent of the faceplate on a device's overview. Pure.

/** Hosts with fewer ports are not switches; a list suffices for them. */
const SHOWN_FROM = 4;

/** Whether the overview shows a faceplate for this number of ports. */
export function isPlateShown(ports: number): boolean {
  return ports >= SHOWN_FROM;
}

/** The location requires all addresses of a host; hosts with more show it only on the neighbors tab. */
const PLACES_ADDRESSES_MAX = 50;

/** Whether the overview shows the host's location. A switch shows its faceplate instead. */
export function arePlacesShown({
  interfaces,
  ip_addresses,
}: Readonly<Record<"interfaces" | "ip_addresses", number>>): boolean {
  return !isPlateShown(interfaces) && ip_addresses <= PLACES_ADDRESSES_MAX;
}

/** First groups up to this number of ports; cuts the last group. */
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
