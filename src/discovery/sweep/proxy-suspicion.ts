// Addresses known only by one MAC address: a few are hosts that drop everything, many are a router's proxy ARP (RFC
// 1027). Pure.

/** With more silent addresses a station answers for others. */
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

  /** What is credible at the end. */
  *unsuspected(): Generator<Sighting> {
    for (const held of this.held.values()) yield* held ?? [];
  }
}
