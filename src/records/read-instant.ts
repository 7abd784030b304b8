// Point in time of a read: parses the caller's text, settles the past, and presents the result in responses.
//
// A request names a time as text; SQL reads as of a sequence. The way from one to the other:
//
// 1. SYNTAX. The schema formats `as-of` and `instant-or-age` accept a timestamp (RFC 3339 with an offset), an age
//    (-90s, -15m, -24h, -7d, -2w) or `marker:` with a name or id; the latter also `now`. schemas/schemas.ts refuses any
//    other text before a handler runs.
// 2. TEXT TO INSTANT (parseInstantText). Timestamps are truncated to milliseconds. Ages count back from one `now` per
//    request, the same for both ends of a range; in a filter they count back from `at`, or from now without it. A day
//    has 24 hours: no time zone is involved. A marker is looked up among the live markers in the caller's reach, as of
//    now even for a query about the past: moving a marker changes what its name means.
// 3. INSTANT TO PRESENT OR PAST (Reader.resolve). A timestamp at or after the clock's time is the present (null): live
//    tables, no fence. This holds even while the ledger's timestamps are ahead of a clock that was set back, so a write
//    that was just acknowledged is visible.
// 4. PAST TO SEQUENCE. The last transaction with at <= timestamp. A version is valid from its transaction's `at`
// inclusive, so a read at exactly that timestamp includes it. Before the first transaction the sequence is 0, as of
//    which nothing exists.
// 5. SETTLING (settledAt). The snapshot may lack a commit in progress that is dated at or before the timestamp.
//    settlePast() fences it off (db/writing/read-fence.ts) or returns a promise; after that steps 3 and 4 are repeated
// on a new snapshot. From here on no transaction can be inserted at or before the timestamp, and the result is final.
// 6. THINNED HISTORY (PrunedHistory.lastCompleteUpTo). If a prune dropped versions there, the sequence moves back to
//    the last transaction whose state is complete: the last of the previous day or month, the end of the previous
//    segment, or 0. `thinned` carries the resolution and that transaction's time into `meta` and headers.
// 7. READING. The result is one value, Moment {at, asOf}, passed whole; asOf has the sequence and last_n, the highest
//    record number by then. SQL selects spans with born <= sequence < died and n <= last_n, and the newest version with
//    a key up to n << 31 | sequence. `at` itself is only shown (meta.at) and used as the base of ages.
//
// Ranges are half-open, [from, to): the end is excluded, so the settled timestamp is to - 1, and an end in the future
// means everything written (history/period.ts). A long read runs in steps on other snapshots, so fixed() pins the
// present to the newest transaction as well. Permissions are always the current ones.

import type { Entity } from "../base/entity-words.ts";
import { DomainError, invalid, notFound } from "../base/errors.ts";
import { formatInstant, type Instant, parseInstant, parseInstantOrAge } from "../base/instant.ts";
import type { AsOf, FixedMoment, Moment, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";
import { findMarkers, type NamedMarker } from "../resources/markers/marker-lookup.ts";
import type { ResponseMoment } from "../schemas/envelope.ts";
import { MARKER_PREFIX, NAME_MAX_LENGTH } from "../schemas/schemas.ts";

type ReadingBackend = { readonly reader: Reader; readonly writes: Pick<WriteQueue, "settlePast"> };
type MaybeAsyncResponse = Response | Promise<Response>;

/**
 * Responds as of the request's `at`, on one snapshot: the present if `at` has not passed; otherwise the past, once
 * nothing more can be written there.
 * @param now from which ages count
 * @throws DomainError validation_failed for an unknown marker
 */
export function readingAt(
  backend: ReadingBackend,
  { actor, query: { at: text } }: { readonly actor: Reach; readonly query: { readonly at?: string } },
  read: (moment: Moment) => MaybeAsyncResponse,
  now = backend.reader.now(),
): MaybeAsyncResponse {
  const at = text === undefined ? null : requestedInstant(backend.reader, actor, text, "/at", now);
  return settledAt(backend, at, (asOf) => read({ at, asOf }));
}

/** The same for a timestamp; null for the present. */
export function settledAt(
  backend: ReadingBackend,
  at: Instant | null,
  read: (asOf: AsOf | null) => MaybeAsyncResponse,
): MaybeAsyncResponse {
  const { reader, writes } = backend;
  return reader.snapshot(() => {
    const asOf = reader.resolve(at);
    if (at === null || asOf === null) return read(null);
    const settled = writes.settlePast(at, reader.head().sequence);
    return settled === null ? read(asOf) : settled.then(() => reader.snapshot(() => read(reader.resolve(at))));
  });
}

/** Moment for a long read. */
export function fixedMoment(reader: Reader, { at, asOf }: Moment): FixedMoment {
  return { at, asOf: asOf ?? reader.present() };
}

/**
 * Timestamp requested by a caller in the parameter or field at `path`.
 * @param text a timestamp, age, `now` or marker, as accepted by the formats as-of and instant-or-age
 * @param now from which ages count: the same for both ends of a range
 * @throws DomainError validation_failed with the problem from parseInstantText
 */
export function requestedInstant(
  reader: Reader,
  reach: Reach,
  text: string,
  path: string,
  now = reader.now(),
): Instant {
  const parsed = parseInstantText(reader, reach, text, now);
  if (typeof parsed === "number") return parsed;
  const { problem } = parsed ?? { problem: "must be a timestamp, an age or a marker" };
  throw invalid({ path, message: problem, value: text.slice(0, 200) });
}

/**
 * Parses a string as a point in time: a timestamp (RFC 3339), an age, `now`, or `marker:` with the name or id of a live
 * marker in the caller's reach. The only place that implements this.
 * @returns null for anything else; for an unknown or ambiguous marker the problem, as the rest of a sentence
 */
export function parseInstantText(
  reader: Reader,
  reach: Reach,
  text: string,
  now = reader.now(),
): Instant | { readonly problem: string } | null {
  if (!text.startsWith(MARKER_PREFIX)) return parseInstantOrAge(text, now);
  const name = text.slice(MARKER_PREFIX.length);
  const found = reader.snapshot(() => findMarkers(reader, reach, name));
  const [marker, ...others] = found;
  if (marker === undefined) {
    // Names are shorter, but a filter has room for far more.
    const excerpt = JSON.stringify([...name].slice(0, NAME_MAX_LENGTH).join(""));
    return { problem: `must name a marker: no marker is named ${excerpt}; GET /api/v1/markers lists them` };
  }
  if (others.length === 0) return parseInstant(marker.at) as Instant;
  const markers = found.slice(0, MARKERS_LISTED).map(describeMarker);
  const more = found.length > MARKERS_LISTED ? `, and ${found.length - MARKERS_LISTED} more` : "";
  return { problem: `is the name of ${found.length} markers; give the id of one: ${markers.join(", ")}${more}` };
}

/** Maximum markers listed for an ambiguous name. */
const MARKERS_LISTED = 10;

function describeMarker({ id, networkName }: NamedMarker): string {
  return `${MARKER_PREFIX}${id} (${networkName === null ? "of the organization" : `of the network ${networkName}`})`;
}

/** Headers in place of the `meta` fields on thinned history. */
export function resolvedHeaders({ asOf }: Moment): Record<string, string> {
  if (asOf?.thinned === undefined) return {};
  const { resolution, resolvedAt } = asOf.thinned;
  return {
    "x-resolution": resolution,
    ...(resolvedAt === null ? {} : { "x-resolved-at": formatInstant(resolvedAt) }),
  };
}

/** 404 as of a moment. In thinned history, the record may have existed. */
export function notFoundAt(entity: Entity, id: string, { at, asOf }: ResponseMoment): DomainError {
  const error = notFound(entity, id, at === null ? null : formatInstant(at));
  if (asOf?.thinned === undefined) return error;
  const { resolution } = asOf.thinned;
  const resolvedAt = asOf.thinned.resolvedAt === null ? null : formatInstant(asOf.thinned.resolvedAt);
  const stateText = resolvedAt === null ? "no earlier state is retained" : `this is the state of ${resolvedAt}`;
  return new DomainError(error.code, `${error.message} History was thinned there: ${stateText}.`, {
    ...error.params,
    resolution,
    resolved_at: resolvedAt,
  });
}
