// Addresses that show themselves by nothing but one MAC address: a few are hosts that drop everything, many are a router that answers
// for its whole network (proxy ARP, RFC 1027). Pure.

/** A station may have a few addresses that drop everything; with more of them it answers for others. */
export const MAX_SILENT_ADDRESSES_OF_ONE_STATION = 4;

export class ProxySuspicion<Sighting> {
  /** Null for a station that has too many. */
  readonly #held = new Map<string, Sighting[] | null>();

  hold(mac: string, sighting: Sighting): void {
    const held = this.#held.get(mac);
    if (held === null) return;
    const all = [...(held ?? []), sighting];
    this.#held.set(mac, all.length > MAX_SILENT_ADDRESSES_OF_ONE_STATION ? null : all);
  }

  /** What may be believed, now that all was seen. */
  *unsuspected(): Generator<Sighting> {
    for (const held of this.#held.values()) yield* held ?? [];
  }
}
