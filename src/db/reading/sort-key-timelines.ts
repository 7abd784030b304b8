// In-memory timelines of sort keys: sorts a list by name at many points in time, as when moving through history,
// without a version lookup per record. Stored versions never change, so timelines stay valid.

import { compareCodePoints } from "../../base/text.ts";
import type { AnyKind } from "../kind.ts";
import { sortKeysSql } from "../shape.ts";
import type { AsOf, OrderTerm } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";
import { sortedInSteps } from "./sorted-in-steps.ts";

/** Below this, individual lookups are faster. */
export const TIMELINE_RECORDS_MIN = 1_000;
/** Above this, memory use is too high: about 200 bytes per record. */
export const TIMELINE_RECORDS_MAX = 50_000;
/** Maximum versions to read: beyond it, version lookups at one point in time cost less. */
const VERSIONS_MAX = 400_000;
/** Records whose versions one step reads; on a cold disk each may be a separate page. */
export const STEP_RECORDS = 64;
/** Versions per step; one record may slightly exceed it. */
export const STEP_VERSIONS = 2_048;
/** Values compared per step. */
const STEP_VALUES = 4_096;
/** Fields in memory: those of the lists in current use. */
const FIELDS_MAX = 2;

/** Key changes of one record: sequence and key of each, and the sequence up to which they are known. */
interface Timeline {
  readonly from: number[];
  readonly values: number[];
  upTo: number;
}

/** Timelines of one field, for the requested records of a kind. */
class FieldTimelines {
  readonly byRecord = new Map<number, Timeline>();
  private readonly values: Array<string | null> = [];
  private readonly indexByValue = new Map<string | null, number>();
  /** Rank of each value in SQLite's order, null before all strings. Null until computed. */
  ranks: Uint32Array | null = null;

  add(timeline: Timeline, sequence: number, value: string | null): void {
    let index = this.indexByValue.get(value);
    if (index === undefined) {
      index = this.values.push(value) - 1;
      this.indexByValue.set(value, index);
      this.ranks = null;
    }
    if (timeline.values.at(-1) === index) return;
    timeline.from.push(sequence);
    timeline.values.push(index);
  }

  /** Ranks the values, in steps. Repeats if another list adds values in the meantime. */
  *rank(): Generator<void> {
    while (this.ranks === null) {
      const values = this.values.slice();
      const order = yield* sortedInSteps(
        Uint32Array.from(values, (_, index) => index),
        (a, b) => compareKeys(values[a] as string | null, values[b] as string | null),
        STEP_VALUES,
      );
      if (values.length !== this.values.length) continue;
      const ranks = new Uint32Array(values.length);
      for (const [rank, index] of order.entries()) ranks[index] = rank;
      this.ranks = ranks;
    }
  }
}

export class SortKeyTimelines {
  private readonly connection: ReadConnection;
  /** By kind and field, most recently used last. Null for fields with too many versions. */
  private readonly fields = new Map<string, FieldTimelines | null>();

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /** Whether timelines support the order: only keys stored with versions. */
  supports(kind: AnyKind, term: OrderTerm): boolean {
    return term.byKey && Object.hasOwn(kind.sortKeys ?? {}, term.field) && this.fields.get(nameOf(kind, term)) !== null;
  }

  /**
   * Sorts the records; ties keep the given order. Null if version lookups cost less. Runs in steps, during which other
   * lists may load the same timelines.
   * @param ns record numbers, ascending, of records alive at that time
   */
  *ordered(kind: AnyKind, term: OrderTerm, ns: Uint32Array, { sequence }: AsOf): Generator<void, Uint32Array | null> {
    const timelines = this.fieldTimelines(nameOf(kind, term), ns, sequence);
    if (!(yield* this.load({ kind, term, ns, sequence }, timelines))) {
      this.fields.set(nameOf(kind, term), null);
      return null;
    }
    // Another list may have added values in the meantime.
    while (timelines.ranks === null) yield* timelines.rank();
    const { ranks } = timelines;
    const sign = term.direction === "desc" ? -1 : 1;
    // Packs both into one number: a rank is below 2^26, a position below 2^17.
    const rows = new Float64Array(ns.length);
    for (const [index, n] of ns.entries()) {
      const { from, values } = timelines.byRecord.get(n) as Timeline;
      let position = from.length - 1;
      while (position > 0 && (from[position] as number) > sequence) position -= 1;
      rows[index] = sign * (ranks[values[position] as number] as number) * POSITIONS + index;
    }
    rows.sort();
    return Uint32Array.from(rows, (row) => ns[((row % POSITIONS) + POSITIONS) % POSITIONS] as number);
  }

  /** Timelines of a field, evicting old ones. A list in progress keeps the object it started with. */
  private fieldTimelines(name: string, ns: Uint32Array, sequence: number): FieldTimelines {
    let timelines = this.fields.get(name) ?? new FieldTimelines();
    let missing = 0;
    for (const n of ns) if (!isLoaded(timelines, n, sequence)) missing += 1;
    if (missing > 0 && timelines.byRecord.size + missing > 2 * TIMELINE_RECORDS_MAX) timelines = new FieldTimelines();
    this.fields.delete(name);
    this.fields.set(name, timelines);
    for (const oldest of this.fields.keys()) {
      if (this.fields.size <= FIELDS_MAX) break;
      this.fields.delete(oldest);
    }
    return timelines;
  }

  /** Reads missing timelines. @returns false if there are too many versions */
  private *load(
    { kind, term, ns, sequence }: { kind: AnyKind; term: OrderTerm; ns: Uint32Array; sequence: number },
    timelines: FieldTimelines,
  ): Generator<void, boolean> {
    let [count, records, versions] = [0, 0, 0];
    for (const n of ns) {
      if (isLoaded(timelines, n, sequence)) continue;
      const timeline: Timeline = { from: [], values: [], upTo: this.head() };
      for (let after = n * KEYS_OF_RECORD; ; ) {
        const rows = this.versionsOf(kind, term, after, n);
        for (const [key, value] of rows) {
          timelines.add(timeline, key % KEYS_OF_RECORD, value);
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
      timelines.byRecord.set(n, timeline);
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

  /** Keys and field values of versions after a key; one step's worth. */
  private versionsOf(kind: AnyKind, { field }: OrderTerm, after: number, n: number): Array<[number, string | null]> {
    return this.connection
      .statement(
        `SELECT v.key, ${sortKeysSql(kind, "v")} ->> '$.${field}' FROM history_versions v
        WHERE v.key > ?1 AND v.key <= ((?2 << 31) | 2147483647) ORDER BY v.key LIMIT ${STEP_VERSIONS}`,
      )
      .values(after, n) as Array<[number, string | null]>;
  }
}

const POSITIONS = 2 ** 17;
/** A version's key is the record number times this, plus the sequence. */
const KEYS_OF_RECORD = 2 ** 31;

function nameOf({ code }: AnyKind, { field }: OrderTerm): string {
  return `${code} ${field}`;
}

function isLoaded(timelines: FieldTimelines, n: number, sequence: number): boolean {
  return (timelines.byRecord.get(n)?.upTo ?? -1) >= sequence;
}

function compareKeys(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return compareCodePoints(a, b);
}
