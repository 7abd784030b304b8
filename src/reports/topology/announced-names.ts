// Management addresses by name of announced devices that are not hosts: a device may announce its address on only some
// of its ports. Updated interface by interface.

import type { IdentityClaim } from "../../discovery/topology/claims.ts";
import type { PortResolution } from "../../discovery/topology/resolve.ts";
import { firstLabel } from "../../resources/hosts/factory-names.ts";

/** Name of a claim without its domain; undefined if it has none. */
export function labelOf({ names: [name] }: IdentityClaim): string | undefined {
  return name === undefined ? undefined : firstLabel(name);
}

export class AnnouncedNames {
  /** Numbers of announcements, by name and address. */
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly byPort = new Map<string, ReadonlyArray<readonly [label: string, address: string]>>();

  /** @returns the names whose addresses changed */
  set(portId: string, resolution: PortResolution | undefined): ReadonlySet<string> {
    const before = this.byPort.get(portId) ?? [];
    const now = (resolution?.claims ?? []).flatMap(({ claim, hostId }) => {
      const [label, [address]] = [labelOf(claim), claim.addresses];
      return hostId === null && label !== undefined && address !== undefined ? [[label, address] as const] : [];
    });
    if (now.length === 0) this.byPort.delete(portId);
    else this.byPort.set(portId, now);
    const changed = new Set<string>();
    for (const [label, address] of now) if (this.add(label, address, 1)) changed.add(label);
    for (const [label, address] of before) if (this.add(label, address, -1)) changed.add(label);
    return changed;
  }

  /** Addresses announced with a name. */
  addressesOf(label: string): readonly string[] {
    return [...(this.counts.get(label)?.keys() ?? [])];
  }

  /** @returns true if the addresses changed */
  private add(label: string, address: string, difference: 1 | -1): boolean {
    const counts = this.counts.get(label) ?? new Map<string, number>();
    this.counts.set(label, counts);
    const count = (counts.get(address) ?? 0) + difference;
    if (count > 0) counts.set(address, count);
    else counts.delete(address);
    if (counts.size === 0) this.counts.delete(label);
    return difference === 1 ? count === 1 : count === 0;
  }
}
