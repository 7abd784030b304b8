// What is to be written of a network's links at the end of a scan: the neighbors that its announcements come to and its entries do not say.
// Reads and resolves; writes nothing.

import type { Reader } from "../../db/reader.ts";
import { networkFacts, type Unwritten } from "./network-facts.ts";
import type { NetworkFacts, ShownPort } from "./facts.ts";
import type { NeighborLink } from "./link-neighbors.ts";
import { resolveNeighbors, type PortResolution } from "./resolve.ts";

/** The command, as the writer knows it. */
export const LINKS_COMMAND = "discovery.links";
/** Entries of one command. */
export const LINKS_OF_BATCH = 1_000;

/**
 * How a scan finds the links of its network: nothing to write where nothing has changed.
 * @param unwritten what a scan that only tells what it would do would have written before
 */
export function linksOf(
  reader: Reader,
  networkN: number,
  unwritten?: Unwritten,
): { find(): Generator<{ readonly command: string; readonly input: { readonly links: readonly NeighborLink[] } }> } {
  return {
    *find() {
      const facts = networkFacts(reader, networkN, null, unwritten);
      // A network's worth of parsed records is left behind: the collector would wait until there are several, and keep the room.
      Bun.gc(true);
      const links = changedLinks(facts);
      Bun.gc(true);
      for (let start = 0; start < links.length; start += LINKS_OF_BATCH)
        yield { command: LINKS_COMMAND, input: { links: links.slice(start, start + LINKS_OF_BATCH) } };
    },
  };
}

/** The links of which an entry says something else than what is announced comes to. */
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
