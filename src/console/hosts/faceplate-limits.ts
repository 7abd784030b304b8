// Rules for what a host's overview shows: the faceplate and its size, or the location. Pure.

/** Hosts with fewer ports are not switches; a list suffices for them. */
const FACEPLATE_PORTS_MIN = 4;

/** Whether the overview shows a faceplate for this number of ports. */
export function isFaceplateShown(ports: number): boolean {
  return ports >= FACEPLATE_PORTS_MIN;
}

/**
 * The location needs all addresses of a host, and `include=overview` has this many; a host with more shows it only on
 * the neighbors tab.
 */
export const LOCATION_ADDRESSES_MAX = 50;

/** Whether the overview shows the host's location. A switch shows its faceplate instead. */
export function isLocationShown({
  interfaces,
  ip_addresses,
}: Readonly<Record<"interfaces" | "ip_addresses", number>>): boolean {
  return !isFaceplateShown(interfaces) && ip_addresses <= LOCATION_ADDRESSES_MAX;
}

/** First groups with at most this number of ports in total; truncates the last group. */
export function firstPorts<Group extends { readonly ports: readonly unknown[] }>(
  groups: readonly Group[],
  maximum: number,
): Group[] {
  const shown: Group[] = [];
  let remaining = maximum;
  for (const group of groups) {
    if (remaining <= 0) break;
    shown.push(group.ports.length <= remaining ? group : { ...group, ports: group.ports.slice(0, remaining) });
    remaining -= group.ports.length;
  }
  return shown;
}
