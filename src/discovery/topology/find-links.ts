// Links to write at the end of a scan: announced neighbors that the entries lack. Read-only.

import { append } from "../../base/multimap.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { isAsStrong } from "../../resources/hosts/device-type.ts";
import type { Neighbor } from "../../resources/if-entries/more-neighbors.ts";
import { type ConcludedType, type NeighborEvidence, typeByNeighbors } from "../device-types/classify.ts";
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

/** Type of a host as announced to its neighbors. */
export interface HeardType extends ConcludedType {
  readonly host_id: string;
}

/** Entries per command. */
const LINKS_PER_BATCH = 1_000;

/** @param pendingWrites earlier writes of a dry run */
export function linksOf(
  reader: Reader,
  networkN: number,
  pendingWrites?: PendingWrites,
): { find(): Generator<{ readonly links: readonly NeighborLink[]; readonly types: readonly HeardType[] }> } {
  return {
    *find() {
      const facts = networkFacts(reader, networkN, null, pendingWrites);
      // All parsed records of the network are garbage now: the collector would wait for several networks' worth.
      Bun.gc(true);
      const { links, types } = neighborChangesOf(facts);
      Bun.gc(true);
      for (let start = 0; start < Math.max(links.length, types.length); start += LINKS_PER_BATCH) {
        const end = start + LINKS_PER_BATCH;
        yield { links: links.slice(start, end), types: types.slice(start, end) };
      }
    },
  };
}

/**
 * Returns the links that differ from the entry, and the types that differ from the host's unless it has better ones.
 */
export function neighborChangesOf(facts: NetworkFacts): {
  readonly links: readonly NeighborLink[];
  readonly types: readonly HeardType[];
} {
  const resolutions = resolveNeighbors(facts.hosts, facts.ports);
  const links = facts.ports.flatMap((port) => {
    const link = linkOf(port, resolutions.get(port.id));
    return isStored(port, link) ? [] : [link];
  });
  return { links, types: changedTypes(facts, resolutions) };
}

function changedTypes(
  { hosts, ports }: NetworkFacts,
  resolutions: ReadonlyMap<string, PortResolution>,
): readonly HeardType[] {
  const hostOf = new Map(ports.map(({ id, host_id }) => [id, host_id]));
  const evidenceByHost = new Map<string, NeighborEvidence[]>();
  for (const { id, announcements, described } of ports) {
    const farEnds = announcements.length === 0 ? [] : (resolutions.get(id)?.announced ?? []);
    for (const [index, to] of farEnds.entries()) {
      const hostId = to?.type === "IfEntry" ? hostOf.get(to.id) : to?.id;
      const evidence = { capabilities: announcements[index]?.capabilities, described: described[index] ?? null };
      if (hostId !== undefined) append(evidenceByHost, hostId, evidence);
    }
  }
  return hosts.flatMap((host) => {
    const concluded = typeByNeighbors(evidenceByHost.get(host.id) ?? []);
    if (concluded === null || isAsStrong(host, "Services")) return [];
    const isKnown =
      host.device_type === concluded.device_type && host.device_type_source === concluded.device_type_source;
    return isKnown ? [] : [{ host_id: host.id, ...concluded }];
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
