// Which sort keys records had when, in memory: a list by name at ever other instants, as while one moves through time, is
// ordered without looking each record's version up. What was written once stays, so it holds for as long as it is kept.

import { compareCodePoints } from "../../base/text.ts";
import type { AnyKind } from "../kind.ts";
import { sortKeysSql } from "../shape.ts";
import type { AsOf, OrderTerm } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";
import { sortedInSteps } from "./sorted-in-steps.ts";

/** Fewer are looked up one by one, and sooner. */
export const TIMELINE_RECORDS_MIN = 1_000;
/** More would take too much memory: about 200 bytes each. */
export const TIMELINE_RECORDS_MAX = 50_000;
/** Versions that are read for it at most: with more of them, looking those of one instant up costs less. */
const VERSIONS_MAX = 400_000;
/** A step reads versions of as many records; from a cold disk each may be a page of its own. */
export const STEP_RECORDS = 64;
/** A step reads as many versions, or one record's few more. */
export const STEP_VERSIONS = 2_048;
/** A step compares as many values. */
const STEP_VALUES = 4_096;
/** Fields that are kept: those of the lists that somebody looks at. */
const FIELDS_MAX = 2;

/** Of one record: from which sequences on it had which keys, and up to which sequence that is known. */
interface Timeline {
  readonly from: number[];
  readonly values: number[];
  upTo: number;
}

/** Of all records of a kind that were asked for, by one field. */
class FieldTimelines {
  readonly ofRecord = new Map<number, Timeline>();
  private readonly values: Array<string | null> = [];
  private readonly placeOf = new Map<string | null, number>();
  /** By place of a value: where it stands in SQLite's order, null before all texts. Null while that is not known. */
  ranks: Uint32Array | null = null;

  learn(timeline: Timeline, sequence: number, value: string | null): void {
    let place = this.placeOf.get(value);
    if (place === undefined) {
      place = this.values.push(value) - 1;
      this.placeOf.set(value, place);
      this.ranks = null;
    }
    if (timeline.values.at(-1) === place) return;
    timeline.from.push(sequence);
    timeline.values.push(place);
  }

  /** Ranks the values, in steps. Another list may learn more of them meanwhile: then once more. */
  *rank(): Generator<void> {
    while (this.ranks === null) {
      const values = this.values.slice();
      const order = yield* sortedInSteps(
        Uint32Array.from(values, (_, place) => place),
        (a, b) => compareKeys(values[a] as string | null, values[b] as string | null),
        STEP_VALUES,
      );
      if (values.length !== this.values.length) continue;
      const ranks = new Uint32Array(values.length);
      for (const [rank, place] of order.entries()) ranks[place] = rank;
      this.ranks = ranks;
    }
  }
}

export class SortKeyTimelines {
  private readonly connection: ReadConnection;
  /** By kind and field; what was asked for last comes last. Null for what has too many versions. */
  private readonly fields = new Map<string, FieldTimelines | null>();

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /** Whether an order can come from here: by a key that versions keep. */
  serves(kind: AnyKind, term: OrderTerm): boolean {
    return term.byKey && Object.hasOwn(kind.sortKeys ?? {}, term.field) && this.fields.get(nameOf(kind, term)) !== null;
  }

  /**
   * The same records in order; equal ones as they are given. Null where looking their versions up costs less. In steps,
   * between which others may ask for the same.
   * @param ns record numbers, ascending, of records that lived then
   */
  *ordered(kind: AnyKind, term: OrderTerm, ns: Uint32Array, { sequence }: AsOf): Generator<void, Uint32Array | null> {
    const known = this.kept(nameOf(kind, term), ns, sequence);
    if (!(yield* this.load({ kind, term, ns, sequence }, known))) {
      this.fields.set(nameOf(kind, term), null);
      return null;
    }
    // What another list learns meanwhile may be new values.
    while (known.ranks === null) yield* known.rank();
    const { ranks } = known;
    const sign = term.direction === "desc" ? -1 : 1;
    // One number for both: a rank is below 2^26, a place below 2^17.
    const rows = new Float64Array(ns.length);
    for (const [place, n] of ns.entries()) {
      const { from, values } = known.ofRecord.get(n) as Timeline;
      let at = from.length - 1;
      while (at > 0 && (from[at] as number) > sequence) at -= 1;
      rows[place] = sign * (ranks[values[at] as number] as number) * PLACES + place;
    }
    rows.sort();
    return Uint32Array.from(rows, (row) => ns[((row % PLACES) + PLACES) % PLACES] as number);
  }

  /** What is known of a field. Whoever is in the middle of another list keeps what it began with. */
  private kept(name: string, ns: Uint32Array, sequence: number): FieldTimelines {
    let known = this.fields.get(name) ?? new FieldTimelines();
    let missing = 0;
    for (const n of ns) if (!isKnown(known, n, sequence)) missing += 1;
    if (missing > 0 && known.ofRecord.size + missing > 2 * TIMELINE_RECORDS_MAX) known = new FieldTimelines();
    this.fields.delete(name);
    this.fields.set(name, known);
    for (const oldest of this.fields.keys()) {
      if (this.fields.size <= FIELDS_MAX) break;
      this.fields.delete(oldest);
    }
    return known;
  }

  /** Reads what is missing. @returns false where there are too many versions */
  private *load(
    { kind, term, ns, sequence }: { kind: AnyKind; term: OrderTerm; ns: Uint32Array; sequence: number },
    known: FieldTimelines,
  ): Generator<void, boolean> {
    let [count, records, versions] = [0, 0, 0];
    for (const n of ns) {
      if (isKnown(known, n, sequence)) continue;
      const timeline: Timeline = { from: [], values: [], upTo: this.head() };
      for (let after = n * KEYS_OF_RECORD; ; ) {
        const rows = this.versionsOf(kind, term, after, n);
        for (const [key, value] of rows) {
          known.learn(timeline, key % KEYS_OF_RECORD, value);
          after = key;
        }
        count += rows.length;
        versions += rows.length;
        if (count > VERSIONS_MAX) return false;
        if (versions >= STEP_VERSIONS) {
          yield;
          [records, versions] = [0, 0];
        }
        if (rows.length < STEP_VERSIONS) break;
      }
      known.ofRecord.set(n, timeline);
      records += 1;
      if (records < STEP_RECORDS) continue;
      yield;
      [records, versions] = [0, 0];
    }
    return true;
  }

  private head(): number {
    const text = "SELECT max(sequence) FROM history_transactions";
    const [[head]] = this.connection.statement(text).values() as [[number]];
    return head;
  }

  /** Keys of versions, beyond one of them, with what the field was; as many as a step reads. */
  private versionsOf(kind: AnyKind, { field }: OrderTerm, after: number, n: number): Array<[number, string | null]> {
    return this.connection
      .statement(
        `SELECT v.key, ${sortKeysSql(kind, "v")} ->> '$.${field}' FROM history_versions v
        WHERE v.key > ?1 AND v.key <= ((?2 << 31) | 2147483647) ORDER BY v.key LIMIT ${STEP_VERSIONS}`,
      )
      .values(after, n) as Array<[number, string | null]>;
  }
}

const PLACES = 2 ** 17;
/** A version's key is its record's number times as many, and its sequence. */
const KEYS_OF_RECORD = 2 ** 31;

function nameOf({ code }: AnyKind, { field }: OrderTerm): string {
  return `${code} ${field}`;
}

function isKnown(known: FieldTimelines, n: number, sequence: number): boolean {
  return (known.ofRecord.get(n)?.upTo ?? -1) >= sequence;
}

function compareKeys(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  return compareCodePoints(one, other);
}
