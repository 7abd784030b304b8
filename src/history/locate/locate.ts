// Station location as of one transaction, as a response or as plain values. Runs in a long-read thread.

import type { Actor } from "../../access/actor.ts";
import { withoutBidiControls } from "../../base/text.ts";
import type { FixedMoment } from "../../db/reading/list-query.ts";
import { longRead, pausing, utf8 } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import type { LastSeen } from "../../resources/last-seen.ts";
import { sightingInstant } from "../../resources/sightings.ts";
import { metaAt, successBody } from "../../schemas/envelope.ts";
import { describeLastSeen, LastPlaces } from "../last-place.ts";
import { RecordsAt, type Trace, type Visibility } from "../records-at.ts";
import type { LocateTerm } from "./facts.ts";
import { formerHolders, formerHosts, formerSelf } from "./former-devices.ts";
import { gather } from "./gather-facts.ts";
import type { Location, PresentLocation } from "./locate-schema.ts";
import { rank } from "./ranking.ts";

/** Plain data: it crosses to another thread. */
export interface LocateQuery {
  readonly actor: Actor;
  readonly term: LocateTerm;
  /** Null for all networks in reach. */
  readonly networkId: string | null;
}

export interface LocateInput extends LocateQuery {
  readonly moment: FixedMoment;
}

export const locate = longRead("locate", function* (reader: Reader, input: LocateInput) {
  const { moment, term } = input;
  const { sequence } = moment.asOf;
  const visibility = visibilityOf(reader, input);
  const found = yield* pausing(locationAt(reader, term, sequence, visibility, null));
  const location = withLastSeen(found, lastSeen(reader, input, found, visibility));
  yield utf8(successBody(JSON.stringify(location), metaAt(moment)));
});

/** Last place of what is at no edge port now: at an uplink, it is only somewhere beyond. */
function lastSeen(
  reader: Reader,
  { moment, term }: LocateInput,
  { candidates }: PresentLocation,
  visibility: Visibility,
): LastSeen | null {
  const [first] = candidates;
  if (first?.port?.role === "Edge") return null;
  const places = new LastPlaces(reader, moment.asOf.sequence, visibility);
  if (term.by === "mac") return places.last(first?.network_id ?? null, [term.value]);
  const known = candidates
    .filter(({ host }) => host?.id === first?.host?.id)
    .flatMap(({ mac_address }) => mac_address ?? []);
  if (first !== undefined && known.length > 0) return places.last(first.network_id, [...new Set(known)]);
  const former =
    term.by === "ip"
      ? formerHolders(reader, places, term.value, visibility, sightingInstant(moment))
      : first === undefined
        ? formerHosts(reader, places, term.value, visibility)
        : formerSelf(reader, first, moment.asOf.sequence, visibility);
  for (const { networkId, macs } of former) {
    // It is elsewhere, under another name or address.
    if (places.isAtEdge(networkId, macs)) return null;
    const last = places.last(networkId, macs);
    if (last !== null) return last;
  }
  return null;
}

function withLastSeen(location: PresentLocation, last_seen: LastSeen | null): Location {
  if (last_seen === null) return { ...location, last_seen };
  const explanation = `${location.explanation} It was ${withoutBidiControls(describeLastSeen(last_seen))}.`;
  return { ...location, explanation, last_seen };
}

/** As of a transaction, within a sight. Yields between steps of a few milliseconds. */
export function* locationAt(
  reader: Reader,
  term: LocateTerm,
  sequence: number,
  visibility: Visibility,
  trace: Trace | null,
): Generator<void, PresentLocation> {
  return yield* rank(yield* gather(new RecordsAt(reader, sequence, visibility, trace), term));
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
