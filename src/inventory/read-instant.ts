// The instant that a read is about: what `at` asks for, when it is settled, and what an answer says of it.

import type { Entity } from "../base/entity-words.ts";
import { DomainError, notFound } from "../base/errors.ts";
import { formatInstant, type Instant, parseInstantOrAge } from "../base/instant.ts";
import type { Thinned } from "../db/pruned-history.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { WriteQueue } from "../db/writing/write-queue.ts";

/**
 * Reads as of what `at` means, on one state of the database: the present where it has not passed, else the past, and
 * that only when nothing can be written there any more.
 */
export function readingAt(
  backend: { readonly reader: Reader; readonly writes: Pick<WriteQueue, "settlePast"> },
  at: Instant | null,
  read: (asOf: AsOf | null) => Response | Promise<Response>,
): Response | Promise<Response> {
  const { reader, writes } = backend;
  return reader.snapshot(() => {
    const asOf = reader.resolve(at);
    if (at === null || asOf === null) return read(null);
    const settled = writes.settlePast(at, reader.head().sequence);
    return settled === null ? read(asOf) : settled.then(() => reader.snapshot(() => read(reader.resolve(at))));
  });
}

/** What a query's `at` asks for. */
export interface ReadAt {
  readonly at: Instant | null;
  /** As it is echoed: an age as the instant that it comes to. */
  readonly asked: string | null;
}

/** @param now what an age reaches back from */
export function readAt(at: string | undefined, now: Instant): ReadAt {
  if (at === undefined) return { at: null, asked: null };
  const instant = parseInstantOrAge(at, now) as Instant;
  return { at: instant, asked: formatInstant(instant) };
}

/** What `meta` says of thinned history, for an answer that has none. */
export function resolvedHeaders(thinned: Thinned | undefined): Record<string, string> {
  if (thinned === undefined) return {};
  return {
    "x-resolution": thinned.resolution,
    ...(thinned.resolvedAt === null ? {} : { "x-resolved-at": formatInstant(thinned.resolvedAt) }),
  };
}

/** 404 as of an instant. Where history was thinned, nobody knows whether it was there. */
export function notFoundThen(
  entity: Entity,
  id: string,
  asked: string | null,
  thinned: Thinned | undefined,
): DomainError {
  const error = notFound(entity, id, asked);
  if (thinned === undefined) return error;
  const resolvedAt = thinned.resolvedAt === null ? null : formatInstant(thinned.resolvedAt);
  const kept = resolvedAt === null ? "nothing that old is kept" : `this is the state of ${resolvedAt}`;
  return new DomainError(error.code, `${error.message} History was thinned there: ${kept}.`, {
    ...error.params,
    resolution: thinned.resolution,
    resolved_at: resolvedAt,
  });
}
