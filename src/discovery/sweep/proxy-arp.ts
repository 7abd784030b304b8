// Proxy ARP detection (RFC 1027) for addresses known only by a MAC address: a few are hosts that drop everything, but
// many belong to a router that replies for them. Pure.

/** With more silent addresses than this, a station responds for others. */
export const MAX_SILENT_ADDRESSES_PER_STATION = 4;

export class ProxyArpDetector<Sighting> {
  /** Null for a station with too many. */
  private readonly candidates = new Map<string, Sighting[] | null>();

  add(mac: string, sighting: Sighting): void {
    const candidates = this.candidates.get(mac);
    if (candidates === null) return;
    const all = [...(candidates ?? []), sighting];
    this.candidates.set(mac, all.length > MAX_SILENT_ADDRESSES_PER_STATION ? null : all);
  }

  /** Yields the credible sightings. Call at the end. */
  *credible(): Generator<Sighting> {
    for (const candidates of this.candidates.values()) yield* candidates ?? [];
  }
}
