// Topology of a network, or around a host, as of one transaction. Read off the main thread.

import type { Actor } from "../../access/actor.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, PAUSE, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { cachedFacts } from "../../discovery/topology/cached-facts.ts";
import type { NetworkFacts } from "../../discovery/topology/facts.ts";
import { FactsCache } from "../../discovery/topology/facts-cache.ts";
import { type HostRecord, hostKind } from "../../resources/hosts/host.ts";
import { storedPositions } from "../../resources/map-positions/map-position.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { formatMap, type TopologyFormat } from "./formats.ts";
import type { NetworkMap } from "./map.ts";
import { type Center, neighborhoodOf } from "./neighborhood.ts";
import { placedNodes } from "./placed-nodes.ts";
import { mapOf } from "./whole-map.ts";

/** Passed to another thread. */
export interface TopologyInput {
  readonly actor: Actor;
  /** Null for the center's network. */
  readonly networkId: string | null;
  /** Null for the whole network. */
  readonly center: Center | null;
  readonly includeIsolated: boolean;
  readonly format: TopologyFormat;
  readonly moment: FixedMoment;
}

/** One memory per thread, keyed by its reader. */
const MEMORIES = new WeakMap<Reader, FactsCache>();

function memoryOf(reader: Reader): FactsCache {
  const memory = MEMORIES.get(reader) ?? new FactsCache();
  MEMORIES.set(reader, memory);
  return memory;
}

/** Map cache by facts, which are the same object while cached: with and without isolated hosts. */
const MAPS = new WeakMap<NetworkFacts, Map<boolean, NetworkMap>>();

function cachedMap(networkId: string, facts: NetworkFacts, includeIsolated: boolean): NetworkMap {
  const known = MAPS.get(facts) ?? new Map<boolean, NetworkMap>();
  MAPS.set(facts, known);
  const map = known.get(includeIsolated) ?? mapOf(networkId, facts, includeIsolated);
  known.set(includeIsolated, map);
  return map;
}

/** Empty for a network not visible to the caller at that time. */
export const topology = longRead(
  "topology",
  function* (reader: Reader, input: TopologyInput) {
    const { center, moment } = input;
    const { sequence } = moment.asOf;
    const networkId = shownNetwork(reader, { ...input, sequence });
    const network =
      networkId === null ? null : reader.find(networkKind, networkId, input.actor, reader.atSequence(sequence));
    let map: NetworkMap = { nodes: [], links: [] };
    if (network !== null && networkId !== null) {
      const facts = yield* pausing(cachedFacts(reader, network.n, sequence, memoryOf(reader)));
      const fullMap = cachedMap(networkId, facts, input.includeIsolated || center !== null);
      yield PAUSE;
      const visible = center === null ? fullMap : neighborhoodOf(fullMap, center);
      map = { nodes: placedNodes(visible.nodes, fullMap, storedPositions(reader, network.n)), links: visible.links };
    }
    yield PAUSE;
    const framing = { networkId: input.networkId ?? networkId, moment };
    for (const part of formatMap(map, input.format, framing)) yield encoder.encode(part);
  },
  { isInLargeSteps: true },
);

/** The requested network, else the center's; null if the center was not visible to the caller at that time. */
export function shownNetwork(
  reader: Reader,
  {
    actor,
    networkId,
    center,
    sequence,
  }: Pick<TopologyInput, "actor" | "networkId" | "center"> & { readonly sequence: number },
): string | null {
  if (networkId !== null || center === null) return networkId;
  const host = reader.find(hostKind, center.hostId, actor, reader.atSequence(sequence));
  return host === null ? null : (JSON.parse(host.text) as HostRecord).network_id;
}

const encoder = new TextEncoder();
