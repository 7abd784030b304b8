// The change feed: versions in commit order after a transaction, whole transactions at a time, so that whoever goes on from
// the last one misses nothing and needs no other place than its sequence.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type Change, type ChangeQuery, type Cursor } from "../db/change-log.ts";
import type { LongRead } from "../db/long-reads.ts";
import type { Reader } from "../db/reader.ts";
import { CHANGE_KINDS, ChangeView } from "./change-view.ts";

export interface ChangeFeedInput {
  readonly actor: Actor;
  readonly types: readonly string[];
  /** Only this network; 0 for one that does not exist for the caller. */
  readonly networkN: number | null;
  readonly after: number;
  /** Versions at most, but always one whole transaction. */
  readonly limit: number;
  readonly format: "json" | "events";
}

/** What stands before the versions: where to go on, as one line of JSON. */
export interface ChangeFeedHead {
  /** All up to this transaction is told. */
  readonly after: number;
  /** Whether more is there already. */
  readonly hasMore: boolean;
  readonly count: number;
  /** The transaction up to which history was thinned, where the page begins before it; else null. */
  readonly thinnedUntil: number | null;
}

/** Transactions that are looked through in one step. */
const STEP_TRANSACTIONS = 1_000;
/** Versions that are rendered in one step. */
const STEP_VERSIONS = 100;
/** Hands the turn to other reads. */
const PAUSE = new Uint8Array(0);

/** First ChangeFeedHead, then the versions: comma-separated objects, or events each with its own end. */
export const changeFeed: LongRead = function* (reader: Reader, input: ChangeFeedInput) {
  const log = new ChangeLog(reader);
  const query: ChangeQuery = {
    reach: input.actor,
    kinds: CHANGE_KINDS.filter((kind) => input.types.includes(kind.name)),
    ...(input.networkN === null ? {} : { networkN: input.networkN }),
  };
  const { found, head } = yield* collect(log, query, input.after, reader.head().sequence, input.limit);
  const thinned = reader.thinnedPast.until;
  yield encoder.encode(JSON.stringify({ ...head, thinnedUntil: input.after < thinned ? thinned : null } satisfies ChangeFeedHead));
  const view = new ChangeView(reader, input.actor);
  let isFirst = true;
  for (let start = 0; start < found.length; start += STEP_VERSIONS) {
    const step = found.slice(start, start + STEP_VERSIONS);
    const texts = view.render(step, { withType: true, isWhole: false });
    if (input.format === "json") yield encoder.encode((isFirst ? "" : ",") + texts.join(","));
    // Only the last of a transaction says where it stands: whoever is cut off within one gets the whole of it again.
    else yield encoder.encode(step.map((change, place) => event(texts[place] as string, found[start + place + 1]?.sequence === change.sequence ? null : change.sequence)).join(""));
    isFirst = false;
  }
};

/** The versions to tell, by their places; a large transaction alone may have many. */
function* collect(log: ChangeLog, query: ChangeQuery, after: number, until: number, limit: number): Generator<Uint8Array, { found: Change[]; head: Omit<ChangeFeedHead, "thinnedUntil"> }> {
  const found: Change[] = [];
  let cursor: Cursor = { sequence: after, n: 0 };
  for (;;) {
    // What the caller can't see may be much: it is gone through in steps as well.
    const step = log.sequences(query, cursor.n > 0 ? cursor.sequence - 1 : cursor.sequence, until, STEP_TRANSACTIONS);
    const last = step.at(-1);
    if (last === undefined) return { found, head: { after: until, hasMore: false, count: found.length } };
    for (;;) {
      const changes = log.changes(query, cursor, last, STEP_TRANSACTIONS);
      found.push(...changes);
      const newest = changes.at(-1);
      if (newest === undefined || changes.length < STEP_TRANSACTIONS) break;
      cursor = { sequence: newest.sequence, n: newest.n };
      const whole = wholeTransactions(found, limit);
      if (whole !== null) return { found: whole, head: { after: (whole.at(-1) as Change).sequence, hasMore: true, count: whole.length } };
      yield PAUSE;
    }
    cursor = { sequence: last, n: 0 };
    const whole = wholeTransactions(found, limit);
    if (whole !== null) return { found: whole, head: { after: (whole.at(-1) as Change).sequence, hasMore: true, count: whole.length } };
    // Exactly full: all that was looked through is told.
    if (found.length >= limit) return { found, head: { after: last, hasMore: last < until, count: found.length } };
    yield PAUSE;
  }
}

/** What of the found fits the limit, cut after a transaction that is surely whole; null while more is to be looked for. */
function wholeTransactions(found: readonly Change[], limit: number): Change[] | null {
  if (found.length <= limit) return null;
  const [first] = found;
  // The last transaction that begins and ends within the limit; else the first one, however large, once it is whole.
  let end = limit;
  while (end > 0 && found[end - 1]?.sequence === found[end]?.sequence) end -= 1;
  if (end > 0) return found.slice(0, end);
  const next = found.findIndex((change) => change.sequence !== first?.sequence);
  return next < 0 ? null : found.slice(0, next);
}

/** One event (WHATWG HTML, server-sent events). */
function event(data: string, id: number | null): string {
  return `event: change\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

const encoder = new TextEncoder();
