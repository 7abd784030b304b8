// Change query period, [from, to), with its parameters and its range of transactions. Does not read the clock.

import { Type } from "@sinclair/typebox";
import { invalid } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { TransactionRange } from "../db/reading/activity.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { requestedInstant } from "../records/read-instant.ts";
import { InstantOrAge } from "../schemas/schemas.ts";

export const periodQuery = {
  from: Type.Optional(
    InstantOrAge("Start of the range: a timestamp, an age (`-24h`, `-7d`) or a marker. Default: the beginning."),
  ),
  to: Type.Optional(InstantOrAge("End of the range, excluded: a timestamp, an age or a marker. Default: now.")),
};

interface PeriodRequest {
  readonly actor: Reach;
  readonly query: { readonly from?: string; readonly to?: string };
}

export class Period {
  /** Null for the beginning. */
  readonly from: Instant | null;
  /** Exclusive; null for now, including everything written so far. */
  readonly to: Instant | null;
  /** End as requested, possibly in the future; default: now. */
  readonly end: Instant;

  /** @throws DomainError validation_failed if the end precedes the start */
  constructor(reader: Reader, { actor, query }: PeriodRequest, now: Instant) {
    const { from, to } = query;
    this.from = from === undefined ? null : requestedInstant(reader, actor, from, "/from", now);
    const end = to === undefined ? null : requestedInstant(reader, actor, to, "/to", now);
    if (this.from !== null && this.from > (end ?? Number.POSITIVE_INFINITY))
      throw invalid([{ path: "/from", message: "must not be later than to", value: from }]);
    // An end in the future includes everything written, even if the ledger's clock is ahead.
    this.to = end === null || end > now ? null : end;
    this.end = end ?? now;
  }

  /**
   * Time up to which writes must be settled before responding.
   * @param at additional upper limit of the response; null for none
   */
  settledBy(at: Instant | null): Instant | null {
    // The end is exclusive: transactions at that time may still be written.
    if (this.to !== null) return Math.min(this.to - 1, at ?? this.to);
    return at ?? (this.from === null ? null : this.from - 1);
  }

  /**
   * Call within the snapshot that the response is read from.
   * @param last upper limit of the range
   */
  sequences(reader: Reader, last = reader.head().sequence): TransactionRange {
    const past = reader.thinnedHistory;
    const until = this.to === null ? last : Math.min(last, past.lastBefore(this.to));
    const after = this.from === null ? 0 : past.lastBefore(this.from);
    return { after: Math.min(after, until), until };
  }
}

/**
 * Resolved range of a query; a null `to` is the present.
 * @throws DomainError validation_failed if the range is empty
 */
export function pastRange(
  reader: Reader,
  { actor, query: { from, to } }: PeriodRequest,
): { from: Instant | null; to: Instant | null } {
  const now = reader.now();
  const begin = from === undefined ? null : requestedInstant(reader, actor, from, "/from", now);
  const end = to === undefined ? now : requestedInstant(reader, actor, to, "/to", now);
  if (begin !== null && begin >= Math.min(end, now))
    throw invalid([{ path: "/from", message: end < now ? "must be before to" : "must be in the past", value: from }]);
  return { from: begin, to: end >= now ? null : end };
}
