// Proxy ARP detection (RFC 1027) for addresses known only by a MAC address: a few are hosts that drop everything, many
// belong to a router that answers for them. Pure.

/** With more silent addresses than this, a station answers for others. */
export const MAX_SILENT_ADDRESSES_OF_ONE_STATION = 4;

export class ProxySuspicion<Sighting> {
  /** Null for a station with too many. */
  private readonly held = new Map<string, Sighting[] | null>();

  hold(mac: string, sighting: Sighting): void {
    const held = this.held.get(mac);
    if (held === null) return;
    const all = [...(held ?? []), sighting];
    this.held.set(mac, all.length > MAX_SILENT_ADDRESSES_OF_ONE_STATION ? null : all);
  }

  /** Yields the credible sightings. Call at the end. */
  *unsuspected(): Generator<Sighting> {
    for (const held of this.held.values()) yield* held ?? [];
  }
}
