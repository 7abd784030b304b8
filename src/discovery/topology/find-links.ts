// Links to write at the end of a scan: announced neighbors missing in the entries. Must not write.

import type { Reader } from "../../db/reading/reader.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import type { MapPort, NetworkFacts } from "./facts.ts";
import { networkFacts, type PendingWrites } from "./network-facts.ts";
import { type PortResolution, resolveNeighbors } from "./resolve.ts";

/** Far ends of one interface entry. Plain data: it crosses threads. */
export interface NeighborLink {
  readonly if_entry_id: string;
  /** announcementsFingerprint of the entry at the time of the decision. */
  readonly fingerprint: string;
  readonly neighbor: Neighbor | null;
  /** One for each of its `more_neighbors`, in order. */
  readonly more: ReadonlyArray<Neighbor | null>;
}

/** Entries per command. */
const LINKS_PER_BATCH = 1_000;

/** @param pendingWrites earlier writes of a dry run */
export function linksOf(
  reader: Reader,
  networkN: number,
  pendingWrites?: PendingWrites,
): { find(): Generator<{ readonly links: readonly NeighborLink[] }> } {
  return {
    *find() {
      const facts = networkFacts(reader, networkN, null, pendingWrites);
      // All parsed records of the network are garbage now: the collector would wait for several networks' worth.
      Bun.gc(true);
      const links = changedLinks(facts);
      Bun.gc(true);
      for (let start = 0; start < links.length; start += LINKS_PER_BATCH)
        yield { links: links.slice(start, start + LINKS_PER_BATCH) };
    },
  };
}

/** Returns the links that differ from the entry. */
export function changedLinks({ hosts, ports }: NetworkFacts): NeighborLink[] {
  const resolutions = resolveNeighbors(hosts, ports);
  return ports.flatMap((port) => {
    const link = linkOf(port, resolutions.get(port.id));
    return isStored(port, link) ? [] : [link];
  });
}

function linkOf(port: MapPort, resolution: PortResolution | undefined): NeighborLink {
  const announced = resolution?.announced ?? [];
  return {
    if_entry_id: port.id,
    fingerprint: port.fingerprint,
    neighbor: resolution?.neighbor ?? null,
    more: port.moreNeighbors.map((_, index) => announced[port.ownCount + index] ?? null),
  };
}

function isStored(port: MapPort, { neighbor, more }: NeighborLink): boolean {
  return port.neighbor?.id === neighbor?.id && port.moreNeighbors.every((to, index) => to?.id === more[index]?.id);
}
