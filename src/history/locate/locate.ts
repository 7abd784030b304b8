// Station location as of one transaction, as a response or as plain values. Runs in a long-read thread.

import type { Actor } from "../../access/actor.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, pausing, utf8 } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { RecordsAt, type Trace, type Visibility } from "../records-at.ts";
import type { LocateQuestion } from "./facts.ts";
import { gather } from "./gathering.ts";
import type { Location } from "./locate-schema.ts";
import { rank } from "./ranking.ts";

/** Plain data: it crosses to another thread. */
export interface LocateQuery {
  readonly actor: Actor;
  readonly question: LocateQuestion;
  /** Null for all networks in reach. */
  readonly networkId: string | null;
}

export interface LocateInput extends LocateQuery {
  readonly moment: FixedMoment;
}

export const locate = longRead("locate", function* (reader: Reader, input: LocateInput) {
  const location = yield* pausing(
    locationAt(reader, input.question, input.moment.asOf.sequence, visibilityOf(reader, input), null),
  );
  yield utf8(successBody(JSON.stringify(location), metaAt(input.moment)));
});

/** As of a transaction, within a sight. Yields between steps of a few milliseconds. */
export function* locationAt(
  reader: Reader,
  question: LocateQuestion,
  sequence: number,
  visibility: Visibility,
  trace: Trace | null,
): Generator<void, Location> {
  return yield* rank(yield* gather(new RecordsAt(reader, sequence, visibility, trace), question));
}

/** The caller's sight of the requested network, or of all. */
export function visibilityOf(
  reader: Reader,
  { actor, networkId }: Pick<LocateQuery, "actor" | "networkId">,
): Visibility {
  const { organizationN } = actor;
  const visibleIds = actor.networkNs === null ? null : reader.recordIds(actor.networkNs);
  if (networkId === null) return { organizationN, networkIds: visibleIds };
  return { organizationN, networkIds: visibleIds === null || visibleIds.includes(networkId) ? [networkId] : [] };
}
