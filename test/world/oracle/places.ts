// Expected location of each station: its edge port at the last complete read of a forwarding table that contained it,
// and of the interfaces and bridge ports that the table refers to.

import type { Truth } from "../site/truth.ts";

export interface Place {
  readonly device: string;
  readonly port: string;
}

export class Places {
  private readonly newest = new Map<string, Place>();
  /** Places since, from tables whose interfaces or bridge ports were not all read: it may be there too. */
  private readonly unsure = new Map<string, Place>();
  /** By switch, the stations at its last complete read. */
  private readonly bySwitch = new Map<string, ReadonlyMap<string, string>>();

  read({ device, complete, stations }: Truth): void {
    if (!complete.has("forwarding")) return;
    const isSure = complete.has("interfaces") && complete.has("vlans");
    const listed = stations.map(({ mac, port }) => [mac, port] as const);
    // Without all ports, what was listed before may stay.
    this.bySwitch.set(device, new Map(isSure ? listed : [...(this.bySwitch.get(device) ?? []), ...listed]));
    for (const { mac, port } of stations) {
      if (!isSure) this.unsure.set(mac, { device, port });
      else {
        this.newest.set(mac, { device, port });
        this.unsure.delete(mac);
      }
    }
  }

  /** A person deleted the host of a switch: what it listed is known again once it is read. */
  forget(device: string): void {
    this.bySwitch.delete(device);
    for (const places of [this.newest, this.unsure])
      for (const [mac, place] of places) if (place.device === device) places.delete(mac);
  }

  /** Its last place, wherever it is now. */
  of(mac: string): Place | undefined {
    return this.newest.get(mac);
  }

  /** Other possible locations. */
  orElse(mac: string): Place | undefined {
    return this.unsure.get(mac);
  }

  /** Stations with a known place. */
  known(): string[] {
    return [...this.newest.keys()];
  }

  /** Stations that several switches still list: they moved, and the former switch has not been read since. */
  listedTwice(): string[] {
    const counts = new Map<string, number>();
    for (const stations of this.bySwitch.values())
      for (const mac of stations.keys()) counts.set(mac, (counts.get(mac) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > 1).map(([mac]) => mac);
  }
}
