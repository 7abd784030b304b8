// A period that changes are asked of, [from, to): its parameters, and the transactions that fall into it. Must not read
// the clock.

import { Type } from "@sinclair/typebox";
import { invalid } from "../base/errors.ts";
import type { Instant } from "../base/instant.ts";
import type { TransactionRange } from "../db/reading/activity.ts";
import type { Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { askedInstant } from "../records/read-instant.ts";
import { InstantOrAge } from "../schemas/schemas.ts";

export const periodQuery = {
  from: Type.Optional(
    InstantOrAge(
      "Only from this instant on, from so long ago (`-24h`, `-7d`), or from this marker on. Default: from the beginning.",
    ),
  ),
  to: Type.Optional(
    InstantOrAge("Only before this instant, before so long ago, or before this marker. Default: up to now."),
  ),
};

interface Asked {
  readonly actor: Reach;
  readonly query: { readonly from?: string; readonly to?: string };
}

export class Period {
  /** Null for the beginning. */
  readonly from: Instant | null;
  /** Exclusive; null for now, with everything that has been written. */
  readonly to: Instant | null;
  /** As it is asked for: now where nothing is, and maybe in the future. */
  readonly end: Instant;

  /** @throws DomainError validation_failed where it ends before it begins */
  constructor(reader: Reader, { actor, query }: Asked, now: Instant) {
    const { from, to } = query;
    this.from = from === undefined ? null : askedInstant(reader, actor, from, "/from", now);
    const end = to === undefined ? null : askedInstant(reader, actor, to, "/to", now);
    if (this.from !== null && this.from > (end ?? Number.POSITIVE_INFINITY))
      throw invalid([{ path: "/from", message: "must not be later than to", value: from }]);
    // An instant in the future takes in all that there is, also where the ledger's clock leads.
    this.to = end === null || end > now ? null : end;
    this.end = end ?? now;
  }

  /**
   * The instant by which everything must have been written that the answer tells.
   * @param at another one up to which it tells; null for none
   */
  settledBy(at: Instant | null): Instant | null {
    // What happens at an end itself does not belong to it, and may still happen.
    if (this.to !== null) return Math.min(this.to - 1, at ?? this.to);
    return at ?? (this.from === null ? null : this.from - 1);
  }

  /**
   * To be asked on the state of the database that the answer is of.
   * @param last none is later than this transaction
   */
  sequences(reader: Reader, last = reader.head().sequence): TransactionRange {
    const past = reader.thinnedPast;
    const until = this.to === null ? last : Math.min(last, past.lastBefore(this.to));
    const after = this.from === null ? 0 : past.lastBefore(this.from);
    return { after: Math.min(after, until), until };
  }
}

/**
 * What the range of a query is; a null `to` is the present.
 * @throws DomainError validation_failed where it does not begin before it ends
 */
export function pastRange(
  reader: Reader,
  { actor, query: { from, to } }: Asked,
): { from: Instant | null; to: Instant | null } {
  const now = reader.now();
  const begin = from === undefined ? null : askedInstant(reader, actor, from, "/from", now);
  const end = to === undefined ? now : askedInstant(reader, actor, to, "/to", now);
  if (begin !== null && begin >= Math.min(end, now))
    throw invalid([{ path: "/from", message: end < now ? "must be before to" : "must be in the past", value: from }]);
  return { from: begin, to: end >= now ? null : end };
}
