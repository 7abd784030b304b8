// A network's topology as of one transaction, read beside the answering thread.

import type { Actor } from "../../access/actor.ts";
import type { Thinned } from "../../db/pruned-history.ts";
import { longRead } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { resolvedMembers } from "../../wire/envelope.ts";
import { formatted, type TopologyFormat } from "./formats.ts";
import { mapOf } from "./map.ts";
import { gatherNetworkFacts } from "./network-facts.ts";

/** Crosses to another thread. */
export interface TopologyInput {
  readonly actor: Actor;
  readonly networkId: string;
  readonly includeIsolated: boolean;
  readonly format: TopologyFormat;
  readonly sequence: number;
  /** Null where none was asked for. */
  readonly at: string | null;
  readonly thinned?: Thinned;
}

/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** Empty for a network that the caller did not see then. */
export const topology = longRead(
  "topology",
  function* (reader: Reader, input: TopologyInput) {
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
  },
  { isInLargeSteps: true },
);

const encoder = new TextEncoder();
