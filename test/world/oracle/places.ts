// Expected location of each station: its edge port at the last complete read of a forwarding table that contained it,
// and of the interfaces and bridge ports that the table refers to.

import type { Truth } from "../site/truth.ts";

export interface Place {
  readonly device: string;
  readonly port: string;
}

export class Places {
  private readonly newest = new Map<string, Place>();
  /** Later locations from tables whose interfaces or bridge ports were read incompletely: possible alternatives. */
  private readonly uncertain = new Map<string, Place>();
  /** By switch: the stations in its last complete read. */
  private readonly bySwitch = new Map<string, ReadonlyMap<string, string>>();

  read({ device, complete, stations }: Truth): void {
    if (!complete.has("forwarding")) return;
    const isSure = complete.has("interfaces") && complete.has("vlans");
    const listed = stations.map(({ mac, port }) => [mac, port] as const);
    // If ports are missing, stations listed before may remain.
    this.bySwitch.set(device, new Map(isSure ? listed : [...(this.bySwitch.get(device) ?? []), ...listed]));
    for (const { mac, port } of stations) {
      if (!isSure) this.uncertain.set(mac, { device, port });
      else {
        this.newest.set(mac, { device, port });
        this.uncertain.delete(mac);
      }
    }
  }

  /** Records that a user deleted the host of a switch: its stations are known again after its next read. */
  forget(device: string): void {
    this.bySwitch.delete(device);
    for (const places of [this.newest, this.uncertain])
      for (const [mac, place] of places) if (place.device === device) places.delete(mac);
  }

  /** Last known location of a station, even if it has moved since. */
  of(mac: string): Place | undefined {
    return this.newest.get(mac);
  }

  /** Other possible locations. */
  alternativeOf(mac: string): Place | undefined {
    return this.uncertain.get(mac);
  }

  /** Stations with a known location. */
  known(): string[] {
    return [...this.newest.keys()];
  }

  /** Stations listed by several switches: they moved, and the previous switch has not been read since. */
  listedTwice(): string[] {
    const counts = new Map<string, number>();
    for (const stations of this.bySwitch.values())
      for (const mac of stations.keys()) counts.set(mac, (counts.get(mac) ?? 0) + 1);
    return [...counts].filter(([, count]) => count > 1).map(([mac]) => mac);
  }
}
