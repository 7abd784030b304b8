// The topology of a network as of one transaction, as an answer. Runs beside the thread that answers.

import type { Actor } from "../../access/actor.ts";
import type { LongRead } from "../../db/long-reads.ts";
import type { Reader } from "../../db/reader.ts";
import type { Thinned } from "../../db/thinned-past.ts";
import { resolvedMembers } from "../../http/envelope.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { formatted, type TopologyFormat } from "./formats.ts";
import { mapOf } from "./map.ts";
import { gatherNetworkFacts } from "./network-facts.ts";

/** Plain data: it crosses to another thread. */
export interface TopologyInput {
  readonly actor: Actor;
  readonly networkId: string;
  readonly includeIsolated: boolean;
  readonly format: TopologyFormat;
  /** The transaction that the answer is as of. */
  readonly sequence: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly at: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** The map of a network; an empty one of a network that the caller did not see then. */
export const topology: LongRead = function* (reader: Reader, input: TopologyInput) {
  const network = reader.find(networkKind, input.networkId, input.actor, reader.atSequence(input.sequence));
  const steps = network === null ? null : gatherNetworkFacts(reader, network.n, input.sequence);
  let facts = { hosts: [], ports: [] } as Parameters<typeof mapOf>[1];
  for (let step = steps?.next(); step !== undefined; step = steps?.next()) {
    if (step.done === true) {
      facts = step.value;
      break;
    }
    yield PAUSE;
  }
  const map = mapOf(input.networkId, facts, input.includeIsolated);
  yield PAUSE;
  for (const part of formatted(map, input.format, {
    networkId: input.networkId,
    at: input.at,
    resolved: resolvedMembers(input.thinned),
  }))
    yield encoder.encode(part);
};

const encoder = new TextEncoder();
