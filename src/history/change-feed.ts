// The change feed: versions in commit order after a transaction, whole transactions at a time, so that whoever goes on from
// the last one misses nothing. A place is a sequence, and the beginning of its transaction's hash.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type Change, type ChangeQuery, type ChangeStep } from "../db/change-log.ts";
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
  /** The beginning of that transaction's hash: a place that another ledger does not have. */
  readonly mark: string;
  /** Whether more is there already. */
  readonly hasMore: boolean;
  /** Of what was found so far: 0 for an empty page. */
  readonly count: number;
  /** The transaction up to which history was thinned, where the page begins before it; else null. */
  readonly thinnedUntil: number | null;
}

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
  const until = reader.head().sequence;
  const steps = log.changes(query, input.after, until);
  const { found, head, isWhole } = yield* collect(steps, input.after, until, input.limit);
  const thinned = reader.thinnedPast.until;
  yield encoder.encode(
    JSON.stringify({
      ...head,
      mark: reader.markOf(head.after),
      thinnedUntil: input.after < thinned ? thinned : null,
    } satisfies ChangeFeedHead),
  );
  const view = new ChangeView(reader, input.actor);
  let isFirst = true;
  for (const told of parts(found, isWhole ? [] : restOf(steps, head.after))) {
    if (told.changes.length === 0) {
      yield PAUSE;
      continue;
    }
    let place = 0;
    for (const run of view.lightRuns(told.changes)) {
      const texts = view.render(run, { withType: true, isWhole: false });
      if (input.format === "json") yield encoder.encode((isFirst ? "" : ",") + texts.join(","));
      else yield encoder.encode(texts.map((text, each) => event(text, endOf(told, place + each))).join(""));
      place += run.length;
      isFirst = false;
    }
  }

  /** Only the last version of a transaction says where it stands: whoever is cut off within one gets the whole of it again. */
  function endOf(told: Part, place: number): string | null {
    const { sequence } = told.changes[place] as Change;
    return (told.changes[place + 1] ?? told.next)?.sequence === sequence
      ? null
      : `${sequence}-${reader.markOf(sequence)}`;
  }
};

/** Versions that are told together, and which one comes after them. */
interface Part {
  readonly changes: readonly Change[];
  readonly next: Change | undefined;
}

/** So few at a time that a step is short; none to hand the turn on. @param rest what comes after the found */
function* parts(found: readonly Change[], rest: Iterable<readonly Change[]>): Generator<Part> {
  let left = found;
  for (const more of rest) {
    yield { changes: [], next: undefined };
    // The last one is kept back until it is known what comes after it.
    for (; left.length > STEP_VERSIONS; left = left.slice(STEP_VERSIONS))
      yield { changes: left.slice(0, STEP_VERSIONS), next: left[STEP_VERSIONS] };
    left = [...left, ...more];
  }
  for (; left.length > 0; left = left.slice(STEP_VERSIONS))
    yield { changes: left.slice(0, STEP_VERSIONS), next: left[STEP_VERSIONS] };
}

/** What a transaction has left of which the beginning was found. */
function* restOf(steps: Generator<ChangeStep>, sequence: number): Generator<readonly Change[]> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return;
    yield step.value.changes.filter((change) => change.sequence === sequence);
    if (step.value.through >= sequence) return;
  }
}

interface Found {
  readonly found: readonly Change[];
  /** Else they are the beginning of one large transaction, which is told whole without being held whole. */
  readonly isWhole: boolean;
  readonly head: Omit<ChangeFeedHead, "mark" | "thinnedUntil">;
}

/** The versions to tell. */
function* collect(
  steps: Generator<ChangeStep>,
  after: number,
  until: number,
  limit: number,
): Generator<Uint8Array, Found> {
  const found: Change[] = [];
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    const { changes, through } = step.value;
    for (const change of changes) found.push(change);
    const page = wholeTransactions(found, limit, through);
    if (page !== null) {
      // Where all that was found is told, all that was looked at is.
      const last = page.length === found.length ? through : (page.at(-1) as Change).sequence;
      return { found: page, isWhole: true, head: { after: last, hasMore: last < until, count: page.length } };
    }
    const [first] = found;
    if (first !== undefined && found.length > limit)
      return {
        found,
        isWhole: false,
        head: { after: first.sequence, hasMore: first.sequence < until, count: found.length },
      };
    yield PAUSE;
  }
  return { found, isWhole: true, head: { after: Math.max(after, until), hasMore: false, count: found.length } };
}

/**
 * What of the found is a page: whole transactions within the limit, or the first one, however large; null where none is known to be whole.
 * @param through all versions up to this transaction were looked at
 */
function wholeTransactions(found: readonly Change[], limit: number, through: number): Change[] | null {
  const [first, last] = [found[0], found.at(-1)];
  if (found.length < limit || first === undefined || last === undefined) return null;
  if (first.sequence === last.sequence && last.sequence > through) return null;
  const isEnd = (place: number) =>
    place < found.length ? found[place - 1]?.sequence !== found[place]?.sequence : last.sequence <= through;
  let end = limit;
  while (end > 0 && !isEnd(end)) end -= 1;
  return found.slice(0, end > 0 ? end : found.findIndex((_, place) => isEnd(place + 1)) + 1);
}

/** One event (WHATWG HTML, server-sent events). */
function event(data: string, id: string | null): string {
  return `event: change\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

const encoder = new TextEncoder();
