// The links of a network to write at the end of a scan: neighbors that announcements lead to and entries lack. Writes
// nothing.

import type { Reader } from "../../db/reading/reader.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { NetworkFacts, ShownPort } from "./facts.ts";
import { networkFacts, type Unwritten } from "./network-facts.ts";
import { type PortResolution, resolveNeighbors } from "./resolve.ts";

/** Where one interface entry leads. Plain data: it crosses threads. */
export interface NeighborLink {
  readonly if_entry_id: string;
  /** announcementsFingerprint of the entry as it was when this was decided. */
  readonly fingerprint: string;
  readonly neighbor: Neighbor | null;
  /** Of each of its `more_neighbors`, in their order. */
  readonly more: ReadonlyArray<Neighbor | null>;
}

/** Entries of one command. */
const LINKS_OF_BATCH = 1_000;

/**
 * @param unwritten what a dry run would have written before
 */
export function linksOf(
  reader: Reader,
  networkN: number,
  unwritten?: Unwritten,
): { find(): Generator<{ readonly links: readonly NeighborLink[] }> } {
  return {
    *find() {
      const facts = networkFacts(reader, networkN, null, unwritten);
      // A network's worth of parsed records is garbage now: the collector would wait for several.
      Bun.gc(true);
      const links = changedLinks(facts);
      Bun.gc(true);
      for (let start = 0; start < links.length; start += LINKS_OF_BATCH)
        yield { links: links.slice(start, start + LINKS_OF_BATCH) };
    },
  };
}

/** The links whose entry differs from what is announced. */
export function changedLinks({ hosts, ports }: NetworkFacts): NeighborLink[] {
  const resolutions = resolveNeighbors(hosts, ports);
  return ports.flatMap((port) => {
    const link = linkOf(port, resolutions.get(port.id));
    return isSaid(port, link) ? [] : [link];
  });
}

function linkOf(port: ShownPort, resolution: PortResolution | undefined): NeighborLink {
  const announced = resolution?.announced ?? [];
  return {
    if_entry_id: port.id,
    fingerprint: port.fingerprint,
    neighbor: resolution?.neighbor ?? null,
    more: port.moreNeighbors.map((_, place) => announced[port.ownCount + place] ?? null),
  };
}

function isSaid(port: ShownPort, { neighbor, more }: NeighborLink): boolean {
  return port.neighbor?.id === neighbor?.id && port.moreNeighbors.every((to, place) => to?.id === more[place]?.id);
}
