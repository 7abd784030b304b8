// Where something is as of one transaction, as an answer; and the same as plain values for whoever asks at many of them.
// Runs beside the thread that answers.

import type { Actor } from "../../access/actor.ts";
import type { LongRead } from "../../db/long-reads.ts";
import type { Reader } from "../../db/reader.ts";
import type { Thinned } from "../../db/thinned-past.ts";
import { metaAt, resolvedMembers, successBody } from "../../http/envelope.ts";
import type { Location } from "./answer.ts";
import type { Asked } from "./facts.ts";
import { gather } from "./gathering.ts";
import { rank } from "./ranking.ts";
import { RecordsAt, type Sight, type Trace } from "../records-at.ts";

/** What is looked for, by whom, where. Plain data: it crosses to another thread. */
export interface LocateQuery {
  readonly actor: Actor;
  readonly asked: Asked;
  /** Only in this network; null for all that the caller reaches. */
  readonly networkId: string | null;
}

export interface LocateInput extends LocateQuery {
  /** The transaction that the answer is as of. */
  readonly sequence: number;
  /** The instant to be echoed; null where none was asked for. */
  readonly at: string | null;
  /** Where that lies in thinned history. */
  readonly thinned?: Thinned;
}

/** The answer as an envelope. */
export const locate: LongRead = function* (reader: Reader, input: LocateInput) {
  const location = yield* pausing(locationAt(reader, input.asked, input.sequence, sightOf(reader, input), null));
  yield encoder.encode(successBody(JSON.stringify(location), metaAt(input.at, resolvedMembers(input.thinned))));
};

/** Where `asked` was as of a transaction, as far as a caller of that sight knows. Yields between steps of some milliseconds. */
export function* locationAt(
  reader: Reader,
  asked: Asked,
  sequence: number,
  sight: Sight,
  trace: Trace | null,
): Generator<void, Location> {
  return yield* rank(yield* gather(new RecordsAt(reader, sequence, sight, trace), asked));
}

/** Steps as those of a long read that has nothing to tell yet: others have their turn in between. */
function* pausing<T>(steps: Generator<void, T>): Generator<Uint8Array, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield PAUSE;
  }
}

const PAUSE = new Uint8Array(0);

/** What the caller of a query sees of the network that is asked for, or of all. */
export function sightOf(reader: Reader, { actor, networkId }: LocateQuery): Sight {
  const { organizationN } = actor;
  const reached = actor.networkNs === null ? null : reader.recordIds(actor.networkNs);
  if (networkId === null) return { organizationN, networkIds: reached };
  return { organizationN, networkIds: reached === null || reached.includes(networkId) ? [networkId] : [] };
}

const encoder = new TextEncoder();
