// Which sort keys records had when, in memory: a list by name at ever other instants, as while one moves through time, is
// ordered without looking each record's version up. What was written once stays, so it holds for as long as it is kept.

import { compareCodePoints } from "../../base/text.ts";
import type { AnyKind } from "../kind.ts";
import { sortKeysSql } from "../shape.ts";
import type { AsOf, OrderTerm } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";

/** Fewer are looked up one by one, and sooner. */
export const TIMELINE_RECORDS_MIN = 1_000;
/** More would take too much memory: about 200 bytes each. */
export const TIMELINE_RECORDS_MAX = 50_000;
/** Versions that are read for it at most: with more of them, looking those of one instant up costs less. */
const VERSIONS_MAX = 400_000;
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
  private ranks: Uint32Array | null = null;

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

  /** By place of a value: where it stands in SQLite's order, null before all texts. */
  ranked(): Uint32Array {
    if (this.ranks !== null) return this.ranks;
    const { values } = this;
    const order = Uint32Array.from(values, (_, place) => place).sort((a, b) => {
      const [one, other] = [values[a] as string | null, values[b] as string | null];
      if (one === null || other === null) return Number(one !== null) - Number(other !== null);
      return compareCodePoints(one, other);
    });
    this.ranks = new Uint32Array(values.length);
    for (const [rank, place] of order.entries()) this.ranks[place] = rank;
    return this.ranks;
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
   * The same records in order; equal ones as they are given. Null where looking their versions up costs less.
   * @param ns record numbers, ascending, of records that lived then
   */
  ordered(kind: AnyKind, term: OrderTerm, ns: Uint32Array, { sequence }: AsOf): Uint32Array | null {
    const known = this.known(kind, term, ns, sequence);
    if (known === null) return null;
    const ranks = known.ranked();
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

  private known(kind: AnyKind, term: OrderTerm, ns: Uint32Array, sequence: number): FieldTimelines | null {
    const name = nameOf(kind, term);
    const known = this.fields.get(name) ?? new FieldTimelines();
    this.fields.delete(name);
    this.fields.set(name, known);
    for (const oldest of this.fields.keys()) {
      if (this.fields.size <= FIELDS_MAX) break;
      this.fields.delete(oldest);
    }
    const missing = Array.from(ns).filter((n) => (known.ofRecord.get(n)?.upTo ?? -1) < sequence);
    if (missing.length === 0) return known;
    if (known.ofRecord.size + missing.length > 2 * TIMELINE_RECORDS_MAX) known.ofRecord.clear();
    if (this.load(kind, term, missing, known)) return known;
    this.fields.set(name, null);
    return null;
  }

  /** @returns false where there are too many versions */
  private load(kind: AnyKind, { field }: OrderTerm, ns: readonly number[], known: FieldTimelines): boolean {
    const [[head]] = this.connection.statement("SELECT max(sequence) FROM history_transactions").values() as [[number]];
    const rows = this.connection
      .statement(
        `SELECT v.key >> 31 AS n, v.key & 2147483647 AS sequence, ${sortKeysSql(kind, "v")} ->> '$.${field}' AS value
        FROM json_each(+?) j CROSS JOIN history_versions v
          ON v.key BETWEEN (j.value << 31) AND ((j.value << 31) | 2147483647) ORDER BY j.key, v.key`,
      )
      .iterate(JSON.stringify(ns)) as Iterable<{ n: number; sequence: number; value: string | null }>;
    let count = 0;
    let timeline: Timeline = { from: [], values: [], upTo: -1 };
    let last = -1;
    for (const { n, sequence, value } of rows) {
      count += 1;
      if (count > VERSIONS_MAX) return false;
      if (n !== last) {
        last = n;
        timeline = { from: [], values: [], upTo: head };
        known.ofRecord.set(n, timeline);
      }
      known.learn(timeline, sequence, value);
    }
    return true;
  }
}

const PLACES = 2 ** 17;

function nameOf({ code }: AnyKind, { field }: OrderTerm): string {
  return `${code} ${field}`;
}
