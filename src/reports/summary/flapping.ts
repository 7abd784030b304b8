// Flapping ports: interfaces whose operational status changed often within a day. Uses an index of the versions that
// changed it, in bounded steps.

import type { TransactionRange } from "../../db/reading/activity.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import type { Reach } from "../../db/reading/list-query.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { ifEntryKind } from "../../resources/if-entries/if-entry.ts";

/** Status changes per day that count as flapping. */
export const FLAPPING_CHANGES = 6;

export interface FlappingPort {
  readonly n: number;
  readonly changes: number;
  /** Transaction of the last change. */
  readonly last: number;
}

const STEP_VERSIONS = 20_000;
/** Ports looked up per step. */
const STEP_PORTS = 500;
const COMMA = 44;
const DIGIT_0 = 48;
const NONE = new Uint8Array(0);

const IS_OF_STATUS = `instr(changed, '"oper_status"') > 0`;
const CHANGES = `history_versions INDEXED BY history_versions_of_status WHERE ${IS_OF_STATUS}`;
/** Transaction of the first change that exceeds a step. */
const TOO_MANY = `SELECT key & 2147483647 FROM ${CHANGES} AND (key & 2147483647) >= +?1
  AND (key & 2147483647) <= +?2 ORDER BY key & 2147483647 LIMIT 1 OFFSET +?3`;
/** Returned as one BLOB of text: transferring half a million rows would take longer than finding them. */
const CHANGED = `SELECT CAST(group_concat(key >> 31) AS BLOB) FROM ${CHANGES} AND (key & 2147483647) >= +?1
  AND (key & 2147483647) <= +?2`;
/** Changes of one transaction, by record. */
const CHANGED_AT_ONCE = `SELECT CAST(group_concat(n) AS BLOB), max(n) FROM (SELECT key >> 31 AS n FROM ${CHANGES}
  AND (key & 2147483647) = +?1 AND key > ((+?2 << 31) | +?1) ORDER BY key LIMIT +?3)`;
const LAST_CHANGES = `SELECT j.value, (SELECT max(key) & 2147483647 FROM history_versions
  WHERE key > ((j.value << 31) | +?2) AND key <= ((j.value << 31) | +?3) AND ${IS_OF_STATUS}) FROM json_each(+?1) j`;
/** Most changes first. @param networkN null for everything within the caller's reach */
export function* flappingPorts(
  reader: Reader,
  reach: Reach,
  networkN: number | null,
  { after, until }: TransactionRange,
  stepVersions = STEP_VERSIONS,
): Generator<void, readonly FlappingPort[]> {
  const counts =
    adjustCachedCounts(reader, { after, until }) ?? (yield* countDay(reader, { after, until }, stepVersions));
  // Copied: a query for a later day may change the counts meanwhile.
  const frequent = [...counts.frequent].map((n) => ({ n, changes: counts.of(n) }));
  const log = new ChangeLog(reader);
  const flapping: FlappingPort[] = [];
  for (let start = 0; start < frequent.length; start += STEP_PORTS) {
    const changesByN = new Map(frequent.slice(start, start + STEP_PORTS).map(({ n, changes }) => [n, changes]));
    const ns = [...changesByN.keys()];
    const visible = log.everVisibleAmong([ifEntryKind], ns, reach, networkN);
    const rows = reader.statement(LAST_CHANGES).values(JSON.stringify(ns), after, until) as Array<[number, number]>;
    for (const [n, last] of rows) if (visible.has(n)) flapping.push({ n, changes: changesByN.get(n) as number, last });
    yield;
  }
  return flapping.sort((left, right) => right.changes - left.changes || right.last - left.last || left.n - right.n);
}

/** Days cached per thread; each takes some bytes per record that changed within it. */
const DAYS_MAX = 3;
/** Recent counts of this thread: views of the present and steps through the past query nearly the same day. */
const cachedDays = new WeakMap<Reader, readonly CountedDay[]>();

interface CountedDay extends TransactionRange {
  readonly counts: ChangesOfRecords;
  /** End of the thinned history; a different end invalidates the counts. */
  readonly thinned: number;
}

/** @param replaced the cached day that this one replaces */
function cacheDay(reader: Reader, day: CountedDay, replaced: CountedDay | null): void {
  const others = (cachedDays.get(reader) ?? []).filter(
    (each) =>
      each !== replaced && each.thinned === day.thinned && (each.after !== day.after || each.until !== day.until),
  );
  cachedDays.set(reader, [day, ...others].slice(0, DAYS_MAX));
}

/** Counts of a cached day, adjusted by the changes at both ends; null if either end has too many. */
function adjustCachedCounts(reader: Reader, { after, until }: TransactionRange): ChangesOfRecords | null {
  for (const day of cachedDays.get(reader) ?? []) {
    if (day.thinned !== reader.thinnedHistory.until) continue;
    const endChanges = between(reader, day.until, until);
    const startChanges = endChanges === null ? null : between(reader, day.after, after);
    if (endChanges === null || startChanges === null) continue;
    // Additions first, so that no count drops below zero on the way.
    if (until > day.until) day.counts.change(endChanges, 1);
    if (after < day.after) day.counts.change(startChanges, 1);
    if (until < day.until) day.counts.change(endChanges, -1);
    if (after > day.after) day.counts.change(startChanges, -1);
    cacheDay(reader, { ...day, after, until }, day);
    return day.counts;
  }
  return null;
}

/** Changes between two transactions in either order; null if they exceed a step. */
function between(reader: Reader, left: number, right: number): Uint8Array | null {
  if (left === right) return NONE;
  const [after, until] = left < right ? [left, right] : [right, left];
  if (reader.statement(TOO_MANY).values(after + 1, until, STEP_VERSIONS).length > 0) return null;
  const [changed] = reader.statement(CHANGED).values(after + 1, until)[0] as [Uint8Array | null];
  return changed ?? NONE;
}

function* countDay(
  reader: Reader,
  { after, until }: TransactionRange,
  stepVersions: number,
): Generator<void, ChangesOfRecords> {
  const counts = new ChangesOfRecords();
  const thinned = reader.thinnedHistory.until;
  for (let from = after + 1; from <= until; ) {
    const [next] = (reader.statement(TOO_MANY).values(from, until, stepVersions)[0] ?? []) as [number?];
    if (next === from) {
      for (let n: number | null = 0; n !== null; ) {
        const row = reader.statement(CHANGED_AT_ONCE).values(from, n, stepVersions)[0] as
          | [Uint8Array, number]
          | [null, null];
        counts.change(row[0] ?? NONE, 1);
        yield;
        n = row[1];
      }
      from += 1;
    } else {
      const [changed] = reader.statement(CHANGED).values(from, next === undefined ? until : next - 1)[0] as [
        Uint8Array | null,
      ];
      counts.change(changed ?? NONE, 1);
      yield;
      from = next ?? until + 1;
    }
  }
  cacheDay(reader, { after, until, counts, thinned }, null);
  return counts;
}

const CHAPTER_BITS = 16;
const CHAPTER_RECORDS = 2 ** CHAPTER_BITS;
const NO_CHAPTER = new Uint32Array(0);

/** Change counts of very many records: one number each, in chapters of consecutive record numbers. */
class ChangesOfRecords {
  /** Records with enough changes. */
  readonly frequent = new Set<number>();
  private readonly chapters = new Map<number, Uint32Array>();

  /** @param ns decimal, comma-separated; empty for none @param by weight of each change */
  change(ns: Uint8Array, by: 1 | -1): void {
    if (ns.length === 0) return;
    // Records changed by one transaction have neighboring numbers.
    let number = -1;
    let chapter: Uint32Array = NO_CHAPTER;
    let n = 0;
    for (let index = 0; index <= ns.length; index += 1) {
      const letter = index === ns.length ? COMMA : (ns[index] as number);
      if (letter !== COMMA) {
        n = n * 10 + letter - DIGIT_0;
        continue;
      }
      const chapterNumber = n >>> CHAPTER_BITS;
      if (chapterNumber !== number) {
        number = chapterNumber;
        chapter = this.chapter(chapterNumber);
      }
      const page = n & (CHAPTER_RECORDS - 1);
      const changes = (chapter[page] as number) + by;
      chapter[page] = changes;
      if (changes === FLAPPING_CHANGES) this.frequent.add(n);
      else if (changes === FLAPPING_CHANGES - 1) this.frequent.delete(n);
      n = 0;
    }
  }

  of(n: number): number {
    return this.chapters.get(n >>> CHAPTER_BITS)?.[n & (CHAPTER_RECORDS - 1)] ?? 0;
  }

  private chapter(number: number): Uint32Array {
    let chapter = this.chapters.get(number);
    if (chapter === undefined) this.chapters.set(number, (chapter = new Uint32Array(CHAPTER_RECORDS)));
    return chapter;
  }
}
