// Reads, live and as of an instant, on a read-only connection. One code path builds both: only the population
// (who is in a scope) and the place of the newest version differ. Knows no resource and no HTTP.

import { getTableName } from "drizzle-orm";
import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";
import type { Sql } from "../connection.ts";
import { MARK_OF_HASH } from "../hash.ts";
import { type AnyKind, liveColumnOf, type ScopeName } from "../kind.ts";
import { PrunedHistory } from "../pruned-history.ts";
import { membersSql } from "../shape.ts";
import type { Condition } from "./condition.ts";
import { type ItemSql, itemSql, ownFieldsSql, ownItemSql } from "./item-sql.ts";
import type { AsOf, ListQuery, Reach } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import { Populations } from "./population.ts";
import { ReadConnection } from "./read-connection.ts";
import type { Settled } from "./settled-condition.ts";
import { Sieve } from "./sieve.ts";
import { SqlBuilder } from "./sql-builder.ts";

interface Page {
  /** JSON objects, comma-separated, UTF-8. */
  readonly items: Uint8Array;
  /** How many records match, whatever the page. */
  readonly total: number;
}

/** What a page's bytes stand between. */
interface Frame {
  readonly head: string;
  readonly tail: string;
}

export interface Item {
  readonly n: number;
  /** The record as a JSON object. */
  readonly text: string;
}

export interface FoundItem extends Item {
  /** The transaction that wrote this version. */
  readonly sequence: number;
  /** The beginning of that transaction's hash. */
  readonly mark: string;
  /** Whether a later version or the end of the record followed. */
  readonly ended: boolean;
}

/** What is composed into a record: kinds that live in its scope. */
export interface Parts {
  readonly scope: ScopeName;
  readonly kinds: readonly AnyKind[];
  /** What a step of a long read takes where parts are only counted: records, and parts of them. */
  readonly step?: { readonly records: number; readonly parts: number };
}

/** Adds to items what is kept as records of their own. */
export type Compose = (items: Item[], asOf: AsOf | null) => string[];

/** Rows per step of a long read: about a millisecond. */
const CHUNK_ROWS = 500;
const CHUNK_ROWS_COMPOSED = 20;
/** Parts per step of a long read of composed records, as long as one record does not have more. */
const CHUNK_PARTS = 2_000;
/** The same of parts that SQLite itself puts into a record. */
const CHUNK_RENDERED_PARTS = 10_000;

/** A statement that answers one page, and what is bound to it. */
interface PageStatement {
  readonly text: string;
  readonly values: ReadonlyArray<string | number>;
}

export class Reader extends ReadConnection {
  private readonly clock: Clock;
  private readonly populations: Populations;
  private readonly sieve: Sieve;

  /** @param isHeldStill as ReadConnection takes it */
  constructor(db: Sql, clock: Clock, isHeldStill = false) {
    super(db, isHeldStill);
    this.populations = new Populations(this);
    this.sieve = new Sieve({ connection: this, populations: this.populations, head: () => this.head() });
    this.clock = clock;
  }

  /** The wall clock's time, which the present begins at. */
  now(): Instant {
    return this.clock.now();
  }

  /** The newest transaction; sequence 0 in an empty ledger. */
  head(): { sequence: number; at: Instant; lastN: number } {
    const row = this.statement(
      "SELECT sequence, at, last_n FROM history_transactions ORDER BY sequence DESC LIMIT 1",
    ).values()[0] as [number, number, number] | undefined;
    return row === undefined ? { sequence: 0, at: -1, lastN: 0 } : { sequence: row[0], at: row[1], lastN: row[2] };
  }

  /**
   * What `at` means: the last transaction at or before it, where history was thinned the last one that is kept; or null
   * for the present. An instant that is not before the wall clock is the present, also while the ledger's clock leads.
   */
  resolve(at: Instant | null): AsOf | null {
    if (at === null || at >= this.now()) return null;
    const row = this.statement(
      "SELECT sequence, last_n FROM history_transactions WHERE at <= +? ORDER BY at DESC LIMIT 1",
    ).values(at)[0] as [number, number] | undefined;
    if (row === undefined) return { sequence: 0, lastN: 0, present: false };
    const [asked, lastN] = row;
    if (asked >= this.thinnedPast.until) return { sequence: asked, lastN, present: false };
    const kept = this.thinnedPast.keptUpTo(asked);
    const thinned = this.thinnedPast.told(asked, kept);
    return { ...this.atSequence(kept), ...(thinned === undefined ? {} : { thinned }) };
  }

  /** The present, held still for a long read. */
  present(): AsOf {
    const head = this.head();
    return { sequence: head.sequence, lastN: head.lastN, present: true };
  }

  /** As of exactly one transaction: how a write answers with what it wrote. */
  atSequence(sequence: number): AsOf {
    const row = this.statement("SELECT last_n FROM history_transactions WHERE sequence = +?").values(sequence)[0] as
      | [number]
      | undefined;
    return {
      sequence,
      lastN: row?.[0] ?? 0,
      present: false,
      ...(sequence < this.thinnedPast.until ? { endsAreThinned: true } : {}),
    };
  }

  /** Where history was thinned. */
  get thinnedPast(): PrunedHistory {
    return this.remember(
      "thinned past",
      () => new PrunedHistory((sql, ...values) => this.statement(sql).values(...values) as unknown[][]),
    );
  }

  /** The hash of a transaction, as hexadecimal digits; null for one that does not exist. */
  hashOf(sequence: number): string | null {
    const row = this.statement("SELECT lower(hex(hash)) FROM history_transactions WHERE sequence = +?").values(
      sequence,
    )[0] as [string] | undefined;
    return row?.[0] ?? null;
  }

  /** The beginning of a transaction's hash, as hexadecimal digits; nothing for one that does not exist. */
  markOf(sequence: number): string {
    const row = this.statement(`SELECT ${MARK_OF_HASH} FROM history_transactions WHERE sequence = +?`).values(
      sequence,
    )[0] as [string] | undefined;
    return row?.[0] ?? "";
  }

  /** The number of a record by its id, live or not; null for an id that was never used. */
  recordN(id: string): number | null {
    const row = this.statement("SELECT n FROM history_records WHERE id = +?").values(id)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  /** The ids of record numbers, in the order given. */
  recordIds(ns: readonly number[]): string[] {
    const rows = this.statement(
      "SELECT r.id FROM json_each(?) j JOIN history_records r ON r.n = j.value ORDER BY j.key",
    ).values(JSON.stringify(ns)) as Array<[string]>;
    return rows.map((row) => row[0]);
  }

  /** One record with its version, or null where the caller sees none. */
  find(kind: AnyKind, id: string, reach: Reach, asOf: AsOf | null, within: ListQuery["within"] = {}): FoundItem | null {
    const query: ListQuery = { kind, reach, asOf, within, ids: [id], limit: 1, offset: 0 };
    if (this.populations.findsNothing(query)) return null;
    const sql = new SqlBuilder(asOf);
    const population = this.populations.population(query, sql);
    const version =
      asOf === null
        ? `(SELECT sequence FROM ${getTableName(kind.table)} WHERE n = p.n)`
        : `(SELECT key & 2147483647 FROM history_versions WHERE key <= ((p.n << 31) | ?1) ORDER BY key DESC LIMIT 1)`;
    const mark = `(SELECT ${MARK_OF_HASH} FROM history_transactions WHERE sequence = ${version})`;
    const ended =
      asOf === null
        ? "0"
        : "EXISTS (SELECT 1 FROM history_versions WHERE key > ((p.n << 31) | ?1) AND key < ((p.n + 1) << 31))";
    const { item, joins } = this.itemSql(kind, asOf, reach);
    const text = `SELECT p.n, ${version}, ${mark}, ${item}, ${ended} FROM (${population} LIMIT 1) p${joins}`;
    const row = this.statement(text).values(...sql.values)[0] as [number, number, string, string, number] | undefined;
    return row === undefined ? null : { n: row[0], sequence: row[1], mark: row[2], text: row[3], ended: row[4] === 1 };
  }

  /** One page as bytes, straight from the database. */
  page(query: ListQuery): Page {
    return this.snapshot(() => {
      const total = this.total(query);
      return { items: this.framed(this.pageStatement(query, () => ({ head: "", tail: "" }))), total };
    });
  }

  /**
   * One page as bytes between two texts: SQLite puts them together, since every copy of a page in JavaScript is felt.
   * Count and items are of one state of the database.
   */
  framedPage(query: ListQuery, frame: (total: number) => Frame): Uint8Array<ArrayBuffer> {
    if (query.asOf !== null) return this.framed(this.pageStatement(query, frame));
    return this.snapshot(() => {
      const shape = shapeOfPlainPage(query);
      if (shape === null) return this.framed(this.pageStatement(query, frame));
      // Between two commits pages of the same list are asked for with the same words: what they are need not be worked
      // out again.
      const statement = this.remember(shape, () => this.plainPageStatement(query));
      const { head, tail } = frame(this.total(query));
      return this.framed(
        statement === null
          ? nothingBetween(head, tail)
          : { text: statement.text, values: [...statement.values, query.limit, query.offset, head, tail] },
      );
    });
  }

  private framed({ text, values }: PageStatement): Uint8Array<ArrayBuffer> {
    return (this.statement(text).values(...values)[0] as [Uint8Array<ArrayBuffer>])[0];
  }

  /**
   * As pageStatement, without what its last four values are: limit and offset, head and tail. Null where nothing is to
   * be found.
   */
  private plainPageStatement(query: ListQuery): PageStatement | null {
    if (this.populations.findsNothing(query)) return null;
    const { text, values } = this.pageStatement(query, () => ({ head: "", tail: "" }));
    return { text, values: values.slice(0, -4) };
  }

  private pageStatement(query: ListQuery, frame: (total: number) => Frame): PageStatement {
    const { head, tail } = frame(this.total(query));
    if (this.populations.findsNothing(query)) return nothingBetween(head, tail);
    const sql = new SqlBuilder(query.asOf);
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const rows = `SELECT ${item} AS item FROM (${this.populations.page(query, sql, query.limit)}) p${joins}`;
    const text = `SELECT CAST(concat(${sql.bind(head)}, (SELECT group_concat(item, ',')
      FROM (${rows})), ${sql.bind(tail)}) AS BLOB)`;
    return { text, values: sql.values };
  }

  /**
   * One page with parts composed in. Reads on one state of the database.
   * @returns null where the parts are too many for one step
   */
  composedPage(
    query: ListQuery,
    compose: Compose,
    parts: Parts | undefined,
    frame: (total: number) => Frame,
  ): Uint8Array<ArrayBuffer> | null {
    return this.snapshot(() => {
      const { head, tail } = frame(this.total(query));
      const items = this.items(query);
      if (
        parts !== undefined &&
        this.areMany(
          items.map((item) => item.n),
          parts,
          query.asOf,
        )
      )
        return null;
      return encoder.encode(head + compose(items, query.asOf).join(",") + tail) as Uint8Array<ArrayBuffer>;
    });
  }

  /** Whether these records have more parts together than one step should put together. */
  areMany(ns: readonly number[], parts: Parts, asOf: AsOf | null): boolean {
    return ns.length > 0 && this.weight(ns, parts.kinds, asOf) > CHUNK_PARTS;
  }

  /** Whether SQLite would put more parts into the records of a page than one step should take. */
  isHeavyPage(query: ListQuery): boolean {
    const kinds = this.renderedKinds(query.kind, query.reach);
    return (
      kinds.length > 0 &&
      !this.populations.findsNothing(query) &&
      this.weight([...this.numbers(query)], kinds, query.asOf) > CHUNK_RENDERED_PARTS
    );
  }

  /** How many parts of a kind live in a record. */
  countParts(n: number, kind: Pick<AnyKind, "code">, asOf: AsOf | null): number {
    return this.populations.countIn([n], kind, asOf);
  }

  /** How many parts of these kinds live in these records together. */
  private weight(ns: readonly number[], kinds: ReadonlyArray<Pick<AnyKind, "code">>, asOf: AsOf | null): number {
    return kinds.reduce((sum, kind) => sum + this.populations.countIn(ns, kind, asOf), 0);
  }

  /** What SQLite puts into the records of a kind; nothing where the organization never had any. */
  private renderedKinds(kind: AnyKind, reach: Reach): ReadonlyArray<Pick<AnyKind, "code">> {
    const { composedSql } = kind;
    return composedSql !== undefined && this.hadAny(composedSql.code, reach.organizationN) ? [composedSql] : [];
  }

  /** The records of one page, each as text. */
  items(query: ListQuery): Item[] {
    if (this.populations.findsNothing(query)) return [];
    const sql = new SqlBuilder(query.asOf);
    const limit = query.limit === 0 ? -1 : query.limit;
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const text = `SELECT p.n, ${item} FROM (${this.populations.page(query, sql, limit)}) p${joins}`;
    return (this.statement(text).values(...sql.values) as Array<[number, string]>).map(([n, item]) => ({
      n,
      text: item,
    }));
  }

  /**
   * Records by their numbers, in the order given, as of one instant. Each must have lived then; whether the caller may
   * see it is not asked.
   */
  itemsOf(kind: AnyKind, ns: readonly number[], asOf: AsOf, reach: Reach): Item[] {
    return this.itemsAs(this.itemSql(kind, asOf, reach), ns, asOf);
  }

  /** As itemsOf, without observation values and `valid_to`: what two versions of a record are compared by. */
  ownItemsOf(kind: AnyKind, ns: readonly number[], asOf: AsOf, reach: Reach): Item[] {
    const isComposed = this.renderedKinds(kind, reach).length > 0;
    return this.itemsAs({ item: ownItemSql(kind, isComposed), joins: "" }, ns, asOf);
  }

  private itemsAs({ item, joins }: ItemSql, ns: readonly number[], asOf: AsOf): Item[] {
    const rows = this.statement(
      `SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(+?2) ORDER BY key) p${joins}`,
    ).values(asOf.sequence, JSON.stringify(ns)) as Array<[number, string]>;
    return rows.map(([n, text]) => ({ n, text }));
  }

  /** Some of the own fields of the records that are asked for, in list order: of each a JSON array of their values. */
  ownFields(query: ListQuery, fields: readonly string[]): string[] {
    if (this.populations.findsNothing(query)) return [];
    const sql = new SqlBuilder(query.asOf);
    const text = `SELECT ${ownFieldsSql(query.kind, fields, query.asOf)}
      FROM (${this.populations.page(query, sql, query.limit === 0 ? -1 : query.limit)}) p`;
    return (this.statement(text).values(...sql.values) as Array<[string]>).map(([values]) => values);
  }

  /**
   * Records of a kind in runs, each so short that what SQLite puts into them is no more than one step should take.
   * @param asOf when each of them is looked at
   */
  *lightRuns<T extends { readonly n: number }>(
    kind: AnyKind,
    records: readonly T[],
    reach: Reach,
    asOf: (record: T) => readonly AsOf[],
  ): Generator<readonly T[]> {
    const kinds = this.renderedKinds(kind, reach);
    let start = 0;
    let weight = 0;
    if (kinds.length > 0) {
      for (const [place, record] of records.entries()) {
        const own = asOf(record).reduce((sum, each) => sum + this.weight([record.n], kinds, each), 0);
        if (place > start && weight + own > CHUNK_RENDERED_PARTS) {
          yield records.slice(start, place);
          start = place;
          weight = 0;
        }
        weight += own;
      }
    }
    if (start < records.length) yield records.slice(start);
  }

  /** How many records match, whatever the page. */
  total(query: ListQuery): number {
    return this.populations.count(query);
  }

  /**
   * The list of all that matches its condition, in steps: without one, the same list.
   * @param query as of a fixed sequence, unless all steps are taken on one state of the database
   */
  *sifted(query: ListQuery): Generator<void, ListQuery> {
    return query.condition === undefined ? query : yield* this.sieve.sifted(query);
  }

  /** The same list, with an order that comes from memory looked up, in steps. @param query as of sifted */
  *ordering(query: ListQuery): Generator<void, ListQuery> {
    return yield* this.populations.ordering(query);
  }

  /** What a condition on rows that are no records asks of records, looked up. @param asOf as of sifted */
  *settledRow(condition: Condition, reach: Reach, asOf: AsOf | null): Generator<void, Settled> {
    return yield* this.sieve.settledRow(condition, { reach, asOf });
  }

  /** The same at once; null where it is not few records that have to be looked at. */
  siftedAtOnce(query: ListQuery): ListQuery | null {
    return query.condition === undefined ? query : this.sieve.siftedAtOnce(query);
  }

  /**
   * All that is asked for, in chunks of comma-separated JSON objects, at one fixed sequence and with no
   * transaction held in between. `query.asOf` must not be null.
   * @param parts what is composed in, so that records with very many are taken one by one
   */
  *chunks(query: ListQuery, compose: Compose | null, parts?: Parts): Generator<Uint8Array> {
    if (this.populations.findsNothing(query)) return;
    const rows = chunkRows(compose, parts);
    yield* this.rendered(query, this.numberChunks(query, rows), compose, parts);
  }

  /**
   * What `chunks` gives, and how many match in all. Where it takes a look at each record to know, or an order, that is
   * done here, once for both, before the first chunk is asked for.
   */
  countedChunks(
    query: ListQuery,
    compose: Compose | null,
    parts?: Parts,
  ): { readonly total: number; readonly chunks: Generator<Uint8Array> } {
    if (this.populations.findsNothing(query)) return { total: 0, chunks: this.chunks(query, compose, parts) };
    if (this.isWalked(query)) return { total: this.total(query), chunks: this.chunks(query, compose, parts) };
    const { total, numbers } = this.snapshot(() => this.gathered(query));
    return { total, chunks: this.rendered(query, sliced(numbers, chunkRows(compose, parts)), compose, parts) };
  }

  /**
   * The parts of several owners, by owner, in page order.
   * @param outside a scope that parts may live in as well: only those that live in none of it
   */
  parts(
    kind: AnyKind,
    scope: ScopeName,
    ownerNs: readonly number[],
    asOf: AsOf | null,
    outside?: ScopeName,
  ): Map<number, string[]> {
    const sql = new SqlBuilder(asOf);
    const owners = sql.bind(JSON.stringify(ownerNs));
    const [field, outsideField = ""] = [kind.scopes[scope], outside && kind.scopes[outside]];
    if (field === undefined) throw new Error(`reader: ${kind.plural} do not live in a ${scope}`);
    const column = liveColumnOf(field);
    const isOutside =
      outside === undefined
        ? ""
        : asOf === null
          ? ` AND l.${liveColumnOf(outsideField)} IS NULL`
          : ` AND (SELECT ('{' || ${membersSql(kind, "w")} || '}') ->> '$.${outsideField}' FROM history_versions w
            WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1) IS NULL`;
    const population =
      asOf === null
        ? `SELECT l.${column} AS owner, l.n AS n FROM ${getTableName(kind.table)} l
          WHERE l.${column} IN (SELECT value FROM json_each(${owners}))${isOutside} ORDER BY l.${column}, l.n`
        : `SELECT j.value AS owner, s.n AS n FROM json_each(${owners}) j CROSS JOIN history_spans s
          WHERE s.scope = j.value * 64 + ${kind.code} AND s.born <= ?1 AND s.died > ?1${isOutside} ORDER BY j.key, s.n`;
    const { item, joins } = itemSql(kind, asOf, kind.composedSql !== undefined);
    const rows = this.statement(`SELECT p.owner, ${item} FROM (${population}) p${joins}`).values(
      ...sql.values,
    ) as Array<[number, string]>;
    const parts = new Map<number, string[]>();
    for (const [owner, text] of rows) {
      const list = parts.get(owner);
      if (list === undefined) parts.set(owner, [text]);
      else list.push(text);
    }
    return parts;
  }

  /** What renders a kind's items; parts are asked for only where the organization ever had any. */
  private itemSql(kind: AnyKind, asOf: AsOf | null, reach: Reach): ItemSql {
    return itemSql(kind, asOf, this.renderedKinds(kind, reach).length > 0);
  }

  private hadAny(kindCode: number, organizationN: number): boolean {
    const scope = organizationN * 64 + kindCode;
    return this.remember(
      `census ${scope}`,
      () => this.statement("SELECT 1 FROM history_census WHERE scope = ? LIMIT 1").values(scope).length > 0,
    );
  }

  /** Records by their numbers, as chunks of comma-separated JSON objects. */
  private *rendered(
    query: ListQuery,
    numberChunks: Iterable<number[]>,
    compose: Compose | null,
    parts: Parts | undefined,
  ): Generator<Uint8Array> {
    const { asOf } = query;
    if (asOf === null) throw new Error("reader: a long read is as of a fixed sequence");
    const { item, joins } = this.itemSql(query.kind, asOf, query.reach);
    const [kinds, atOnce] =
      parts === undefined
        ? [this.renderedKinds(query.kind, query.reach), CHUNK_RENDERED_PARTS]
        : [parts.kinds, parts.step?.parts ?? CHUNK_PARTS];
    for (const numbers of this.lightChunks(numberChunks, asOf, kinds, atOnce)) {
      const text =
        compose === null
          ? `SELECT CAST(group_concat(item, ',') AS BLOB)
            FROM (SELECT ${item} AS item FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins})`
          : `SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins}`;
      const found = this.statement(text).values(asOf.sequence, JSON.stringify(numbers)) as unknown[][];
      if (compose === null) yield found[0]?.[0] as Uint8Array;
      else
        yield encoder.encode(
          compose(
            (found as Array<[number, string]>).map(([n, item]) => ({ n, text: item })),
            asOf,
          ).join(","),
        );
    }
  }

  /** Record numbers in list order, so few at a time that their parts of these kinds are no more than `atOnce`. */
  private *lightChunks(
    numberChunks: Iterable<number[]>,
    asOf: AsOf,
    kinds: ReadonlyArray<Pick<AnyKind, "code">>,
    atOnce: number,
  ): Generator<number[]> {
    for (const numbers of numberChunks) {
      // In halves until they are light: one look is enough for most.
      const heavy = [numbers];
      for (let some = heavy.pop(); some !== undefined; some = heavy.pop()) {
        if (some.length <= 1 || kinds.length === 0 || some.length + this.weight(some, kinds, asOf) <= atOnce) {
          if (some.length > 0) yield some;
          continue;
        }
        const half = some.length >> 1;
        heavy.push(some.slice(half), some.slice(0, half));
      }
    }
  }

  /** Record numbers in list order, chunk by chunk: by key where the order is the page order, else from one pass. */
  private *numberChunks(query: ListQuery, rows: number): Generator<number[]> {
    if (!this.isWalked(query)) {
      yield* sliced(this.numbers(query), rows);
      return;
    }
    let after = 0;
    let offset = query.offset;
    for (;;) {
      const sql = new SqlBuilder(query.asOf);
      const text = `SELECT n FROM (${this.populations.inPageOrder(query, sql, after)} LIMIT ${sql.bind(rows)} OFFSET
        ${sql.bind(offset)})`;
      const numbers = (this.statement(text).values(...sql.values) as Array<[number]>).map((row) => row[0]);
      if (numbers.length > 0) yield numbers;
      if (numbers.length < rows) return;
      after = numbers[numbers.length - 1] as number;
      offset = 0;
    }
  }

  /** Whether all of it is asked for in page order, and each step can go on where the last one came to. */
  private isWalked(query: ListQuery): boolean {
    return (
      query.limit === 0 &&
      query.numbers === undefined &&
      (query.order ?? []).length === 0 &&
      !isSifted(query) &&
      this.populations.wayThrough(query) !== "sorted"
    );
  }

  /** The record numbers that are asked for, in list order, and how many match in all. */
  private gathered(query: ListQuery): { total: number; numbers: Uint32Array } {
    // As long as nothing came after a present that is held still, the live tables say the same, and sooner. What scopes
    // hold is told by spans alone.
    const isNow =
      query.scopes === undefined && query.asOf?.present === true && query.asOf.sequence === this.head().sequence;
    const where = isNow ? { ...query, asOf: null } : query;
    if (!isSifted(query)) return { total: this.total(where), numbers: this.numbers(where) };
    const all = this.numbers({ ...where, limit: 0, offset: 0 });
    return {
      total: all.length,
      numbers: all.subarray(query.offset, query.limit === 0 ? undefined : query.offset + query.limit),
    };
  }

  /**
   * Record numbers in list order: there may be a million, for which rows of their own would take a hundred times the
   * memory.
   */
  private numbers(query: ListQuery): Uint32Array {
    const isInOrder = (query.order ?? []).length === 0;
    const sorted = this.populations.orderedOutside(query) ?? (isInOrder ? query.numbers : undefined);
    if (sorted !== undefined)
      return sorted.subarray(query.offset, query.limit === 0 ? undefined : query.offset + query.limit);
    const sql = new SqlBuilder(query.asOf);
    const row = this.statement(
      `SELECT CAST(group_concat(n) AS BLOB)
        FROM (${this.populations.page(query, sql, query.limit === 0 ? -1 : query.limit)})`,
    ).values(...sql.values)[0] as [Uint8Array | null];
    return numbersIn(row[0]);
  }
}

const encoder = new TextEncoder();

/** Whether no census knows how many match. */
function isSifted(query: ListQuery): boolean {
  return (query.filters ?? []).length > 0 || (query.search ?? "") !== "";
}

function chunkRows(compose: Compose | null, parts: Parts | undefined): number {
  return compose === null ? CHUNK_ROWS : (parts?.step?.records ?? CHUNK_ROWS_COMPOSED);
}

function* sliced(numbers: Uint32Array, rows: number): Generator<number[]> {
  for (let start = 0; start < numbers.length; start += rows) yield Array.from(numbers.subarray(start, start + rows));
}

function nothingBetween(head: string, tail: string): PageStatement {
  return { text: "SELECT CAST(+? AS BLOB)", values: [head + tail] };
}

/** Networks in reach up to which a page's words are remembered: each takes its own part of the text. */
const REMEMBERED_NETWORKS_MAX = 8;

/** What tells live pages of one list from those of others; null where more than who is in it decides. */
function shapeOfPlainPage(query: ListQuery): string | null {
  const { kind, reach, within, ids, search, filters, order } = query;
  if (
    ids !== undefined ||
    query.numbers !== undefined ||
    query.scopes !== undefined ||
    query.among !== undefined ||
    search !== undefined ||
    (filters !== undefined && filters.length > 0) ||
    (order !== undefined && order.length > 0)
  )
    return null;
  if (reach.networkNs !== null && reach.networkNs.length > REMEMBERED_NETWORKS_MAX) return null;
  let place = "";
  for (const scope in within) {
    const id = within[scope as ScopeName];
    if (id !== undefined) place += ` ${scope} ${id}`;
  }
  return `page ${kind.code} ${reach.organizationN} ${reach.networkNs === null ? "all" : reach.networkNs.join()}${place}`;
}
