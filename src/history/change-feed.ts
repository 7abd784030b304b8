// Change feed: versions in commit order, in whole transactions, so that a client can resume without gaps. A position is
// a sequence with the first bytes of its transaction's hash.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type ChangeQuery, type ChangeStep, type RecordChange } from "../db/reading/change-log.ts";
import { longRead, PAUSE, utf8 } from "../db/reading/long-reads.ts";
import type { Reader } from "../db/reading/reader.ts";
import { CHANGE_KINDS, ChangeView } from "./change-view.ts";

export interface ChangeFeedInput {
  readonly actor: Actor;
  readonly types: readonly string[];
  /** Only this network; 0 if not visible to the caller. */
  readonly networkN: number | null;
  readonly after: number;
  /** Maximum number of versions, but at least one whole transaction. */
  readonly limit: number;
  readonly format: "json" | "events";
}

/** JSON line before the versions: the position to continue from. */
export interface ChangeFeedHead {
  /** Complete up to this transaction. */
  readonly after: number;
  /** First bytes of its hash: differs in another ledger. */
  readonly mark: string;
  /** Whether more changes are already available. */
  readonly hasMore: boolean;
  /** Versions found so far: 0 for an empty page. */
  readonly count: number;
  /** End of thinned history, if the page starts before it; otherwise null. */
  readonly thinnedUntil: number | null;
}

/** Versions per step. */
const STEP_VERSIONS = 100;

/** Yields a ChangeFeedHead, then the versions: comma-separated objects, or complete events. */
export const changeFeed = longRead("change_feed", function* (reader: Reader, input: ChangeFeedInput) {
  const log = new ChangeLog(reader);
  const query: ChangeQuery = {
    reach: input.actor,
    kinds: CHANGE_KINDS.filter((kind) => input.types.includes(kind.name)),
    ...(input.networkN === null ? {} : { networkN: input.networkN }),
  };
  const until = reader.head().sequence;
  const steps = log.changes(query, input.after, until);
  const { found, head, isComplete } = yield* collect(steps, input.after, until, input.limit);
  const thinned = reader.thinnedHistory.until;
  yield utf8(
    JSON.stringify({
      ...head,
      mark: reader.hashPrefixOf(head.after),
      thinnedUntil: input.after < thinned ? thinned : null,
    } satisfies ChangeFeedHead),
  );
  const view = new ChangeView(reader, input.actor);
  let isFirst = true;
  for (const part of parts(found, isComplete ? [] : restOfTransaction(steps, head.after))) {
    if (part.changes.length === 0) {
      yield PAUSE;
      continue;
    }
    let index = 0;
    for (const run of view.lightRuns(part.changes)) {
      const texts = view.render(run, { withType: true, withChildren: false });
      if (input.format === "json") yield utf8((isFirst ? "" : ",") + texts.join(","));
      else yield utf8(texts.map((text, offset) => formatEvent(text, endEventId(part, index + offset))).join(""));
      index += run.length;
      isFirst = false;
    }
  }

  /** Only a transaction's last version has an id: a client cut off within a transaction receives all of it again. */
  function endEventId(part: Part, index: number): string | null {
    const { sequence } = part.changes[index] as RecordChange;
    return (part.changes[index + 1] ?? part.next)?.sequence === sequence
      ? null
      : `${sequence}-${reader.hashPrefixOf(sequence)}`;
  }
});

/** Versions sent together, and the version after them. */
interface Part {
  readonly changes: readonly RecordChange[];
  readonly next: RecordChange | undefined;
}

/** Short steps; empty ones yield to other reads. @param rest versions after the found ones */
function* parts(found: readonly RecordChange[], rest: Iterable<readonly RecordChange[]>): Generator<Part> {
  let left = found;
  for (const more of rest) {
    yield { changes: [], next: undefined };
    // Hold the last version back until its successor is known.
    for (; left.length > STEP_VERSIONS; left = left.slice(STEP_VERSIONS))
      yield { changes: left.slice(0, STEP_VERSIONS), next: left[STEP_VERSIONS] };
    left = [...left, ...more];
  }
  for (; left.length > 0; left = left.slice(STEP_VERSIONS))
    yield { changes: left.slice(0, STEP_VERSIONS), next: left[STEP_VERSIONS] };
}

/** The rest of a transaction whose first versions were found. */
function* restOfTransaction(steps: Generator<ChangeStep>, sequence: number): Generator<readonly RecordChange[]> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return;
    yield step.value.changes.filter((change) => change.sequence === sequence);
    if (step.value.through >= sequence) return;
  }
}

interface FoundChanges {
  readonly found: readonly RecordChange[];
  /** False for the start of one large transaction, which is streamed. */
  readonly isComplete: boolean;
  readonly head: Omit<ChangeFeedHead, "mark" | "thinnedUntil">;
}

function* collect(
  steps: Generator<ChangeStep>,
  after: number,
  until: number,
  limit: number,
): Generator<Uint8Array, FoundChanges> {
  const found: RecordChange[] = [];
  for (let step = steps.next(); step.done !== true; step = steps.next()) {
    const { changes, through } = step.value;
    for (const change of changes) found.push(change);
    const page = completeTransactions(found, limit, through);
    if (page !== null) {
      // If all found versions are sent, the page covers everything examined.
      const last = page.length === found.length ? through : (page.at(-1) as RecordChange).sequence;
      return { found: page, isComplete: true, head: { after: last, hasMore: last < until, count: page.length } };
    }
    const [first] = found;
    if (first !== undefined && found.length > limit) {
      const head = { after: first.sequence, hasMore: first.sequence < until, count: found.length };
      return { found, isComplete: false, head };
    }
    yield PAUSE;
  }
  return { found, isComplete: true, head: { after: Math.max(after, until), hasMore: false, count: found.length } };
}

/**
 * Versions of one page: whole transactions within the limit, or the first one, however large. Null if none is known to
 * be complete.
 * @param through last transaction whose versions were all examined
 */
function completeTransactions(found: readonly RecordChange[], limit: number, through: number): RecordChange[] | null {
  const [first, last] = [found[0], found.at(-1)];
  if (found.length < limit || first === undefined || last === undefined) return null;
  if (first.sequence === last.sequence && last.sequence > through) return null;
  const isEnd = (index: number) =>
    index < found.length ? found[index - 1]?.sequence !== found[index]?.sequence : last.sequence <= through;
  let end = limit;
  while (end > 0 && !isEnd(end)) end -= 1;
  return found.slice(0, end > 0 ? end : found.findIndex((_, index) => isEnd(index + 1)) + 1);
}

/** Formats a server-sent event (WHATWG HTML). */
function formatEvent(data: string, id: string | null): string {
  return `event: change\n${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}
