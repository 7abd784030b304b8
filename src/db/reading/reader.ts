// Reads, live and as of a point in time, on a read-only connection. One code path for both: only the population
// (records in a scope) and the lookup of the newest version differ. Independent of resources and HTTP.

import { getTableName } from "drizzle-orm";
import type { Clock } from "../../base/clock.ts";
import type { Instant } from "../../base/instant.ts";
import { append } from "../../base/multimap.ts";
import type { Sql } from "../connection.ts";
import { HASH_MARK_SQL } from "../hash.ts";
import { type AnyKind, liveColumnOf, type ScopeName } from "../kind.ts";
import { PrunedHistory } from "../pruned-history.ts";
import { membersSql } from "../shape.ts";
import type { Condition } from "./condition.ts";
import { ConditionEvaluator } from "./condition-evaluator.ts";
import { FieldChanges } from "./field-changes.ts";
import { type ItemSql, itemSql, ownFieldsSql, ownItemSql } from "./item-sql.ts";
import type { AsOf, ListQuery, Reach } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import { Populations } from "./population.ts";
import { ReadConnection } from "./read-connection.ts";
import type { ResolvedCondition } from "./resolved-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

interface Page {
  /** JSON objects, comma-separated, UTF-8. */
  readonly items: Uint8Array;
  /** Total matches, regardless of the page. */
  readonly total: number;
}

/** Strings around a page's bytes. */
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
  /** Transaction that wrote this version. */
  readonly sequence: number;
  /** First bytes of that transaction's hash. */
  readonly hashPrefix: string;
  /** Whether a later version or a deletion followed. */
  readonly ended: boolean;
}

/** Parts composed into a record: kinds in its scope. */
export interface Parts {
  readonly scope: ScopeName;
  readonly kinds: readonly AnyKind[];
  /** Limits per step if parts are only counted: records, and their parts. */
  readonly step?: { readonly records: number; readonly parts: number };
}

/** Adds parts that are stored as separate records to the items. */
export type Compose = (items: Item[], asOf: AsOf | null) => string[];

/** Rows per step of a long read: about a millisecond. */
const CHUNK_ROWS = 500;
const CHUNK_ROWS_COMPOSED = 20;
/** Parts per step of a long read of composed records; a single record may exceed it. */
const CHUNK_PARTS = 2_000;
/** The same for parts that SQLite renders into a record. */
const CHUNK_RENDERED_PARTS = 10_000;

/** A statement for one page, and its bound values. */
interface PageStatement {
  readonly text: string;
  readonly values: ReadonlyArray<string | number>;
}

export class Reader extends ReadConnection {
  readonly fieldChanges: FieldChanges;
  private readonly clock: Clock;
  private readonly populations: Populations;
  private readonly evaluator: ConditionEvaluator;

  /** @param isInTransaction see ReadConnection */
  constructor(db: Sql, clock: Clock, isInTransaction = false) {
    super(db, isInTransaction);
    this.populations = new Populations(this);
    this.fieldChanges = new FieldChanges(this, () => this.thinnedHistory.until);
    const { populations, fieldChanges } = this;
    this.evaluator = new ConditionEvaluator({ connection: this, populations, fieldChanges, head: () => this.head() });
    this.clock = clock;
  }

  /** Wall-clock time, from which on reads are live. */
  now(): Instant {
    return this.clock.now();
  }

  /** The newest transaction; sequence 0 if the ledger is empty. */
  head(): { sequence: number; at: Instant; lastN: number } {
    const text = "SELECT sequence, at, last_n FROM history_transactions ORDER BY sequence DESC LIMIT 1";
    const [row] = this.statement(text).values() as Array<[number, number, number]>;
    return row === undefined ? { sequence: 0, at: -1, lastN: 0 } : { sequence: row[0], at: row[1], lastN: row[2] };
  }

  /**
   * Resolves `at` to the last transaction at or before it, in thinned history to the last retained one; null for the
   * present. A time at or after the wall clock is the present, even while the ledger's clock is ahead.
   */
  resolve(at: Instant | null): AsOf | null {
    if (at === null || at >= this.now()) return null;
    const text = "SELECT sequence, last_n FROM history_transactions WHERE at <= +? ORDER BY at DESC LIMIT 1";
    const [row] = this.statement(text).values(at) as Array<[number, number]>;
    if (row === undefined) return { sequence: 0, lastN: 0, present: false };
    const [requested, lastN] = row;
    if (requested >= this.thinnedHistory.until) return { sequence: requested, lastN, present: false };
    const retained = this.thinnedHistory.lastCompleteUpTo(requested);
    const thinned = this.thinnedHistory.notice(requested, retained);
    return { ...this.atSequence(retained), ...(thinned === undefined ? {} : { thinned }) };
  }

  /** The present, pinned to the newest transaction for a long read. */
  present(): AsOf {
    const head = this.head();
    return { sequence: head.sequence, lastN: head.lastN, present: true };
  }

  /** As of exactly one transaction: lets a write respond with its own result. */
  atSequence(sequence: number): AsOf {
    const text = "SELECT last_n FROM history_transactions WHERE sequence = +?";
    const [row] = this.statement(text).values(sequence) as Array<[number]>;
    return {
      sequence,
      lastN: row?.[0] ?? 0,
      present: false,
      ...(sequence < this.thinnedHistory.until ? { endsAreThinned: true } : {}),
    };
  }

  /** Thinned history. */
  get thinnedHistory(): PrunedHistory {
    return this.cached(
      "thinned past",
      () => new PrunedHistory((sql, ...values) => this.statement(sql).values(...values) as unknown[][]),
    );
  }

  /** Hash of a transaction, in hexadecimal; null if there is no such transaction. */
  hashOf(sequence: number): string | null {
    const text = "SELECT lower(hex(hash)) FROM history_transactions WHERE sequence = +?";
    const [row] = this.statement(text).values(sequence) as Array<[string]>;
    return row?.[0] ?? null;
  }

  /** First bytes of a transaction's hash, in hexadecimal; empty if there is no such transaction. */
  hashPrefixOf(sequence: number): string {
    const text = `SELECT ${HASH_MARK_SQL} FROM history_transactions WHERE sequence = +?`;
    const [row] = this.statement(text).values(sequence) as Array<[string]>;
    return row?.[0] ?? "";
  }

  /** Record number of an id, live or not; null if the id was never used. */
  recordN(id: string): number | null {
    const row = this.statement("SELECT n FROM history_records WHERE id = +?").values(id)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  /** Ids of record numbers, in the given order. */
  recordIds(ns: readonly number[]): string[] {
    const text = "SELECT r.id FROM json_each(?) j JOIN history_records r ON r.n = j.value ORDER BY j.key";
    const rows = this.statement(text).values(JSON.stringify(ns)) as Array<[string]>;
    return rows.map((row) => row[0]);
  }

  /** One record with its version; null if not visible to the caller. */
  find(kind: AnyKind, id: string, reach: Reach, asOf: AsOf | null, within: ListQuery["within"] = {}): FoundItem | null {
    const query: ListQuery = { kind, reach, asOf, within, ids: [id], limit: 1, offset: 0 };
    if (this.populations.findsNothing(query)) return null;
    const sql = new SqlBuilder(asOf);
    const population = this.populations.population(query, sql);
    const version =
      asOf === null
        ? `(SELECT sequence FROM ${getTableName(kind.table)} WHERE n = p.n)`
        : `(SELECT key & 2147483647 FROM history_versions WHERE key <= ((p.n << 31) | ?1) ORDER BY key DESC LIMIT 1)`;
    const hashPrefix = `(SELECT ${HASH_MARK_SQL} FROM history_transactions WHERE sequence = ${version})`;
    const ended =
      asOf === null
        ? "0"
        : "EXISTS (SELECT 1 FROM history_versions WHERE key > ((p.n << 31) | ?1) AND key < ((p.n + 1) << 31))";
    const { item, joins } = this.itemSql(kind, asOf, reach);
    const text = `SELECT p.n, ${version}, ${hashPrefix}, ${item}, ${ended} FROM (${population} LIMIT 1) p${joins}`;
    const row = this.statement(text).values(...sql.values)[0] as [number, number, string, string, number] | undefined;
    return row === undefined
      ? null
      : { n: row[0], sequence: row[1], hashPrefix: row[2], text: row[3], ended: row[4] === 1 };
  }

  /** One page as bytes, rendered by SQLite. */
  page(query: ListQuery): Page {
    return this.snapshot(() => {
      const total = this.total(query);
      return { items: this.framed(this.pageStatement(query, () => ({ head: "", tail: "" }))), total };
    });
  }

  /**
   * One page as bytes between two strings. SQLite concatenates them, since every copy of a page in JavaScript is
   * measurable. Count and items come from one snapshot.
   */
  framedPage(query: ListQuery, frame: (total: number) => Frame): Uint8Array<ArrayBuffer> {
    if (query.asOf !== null) return this.framed(this.pageStatement(query, frame));
    return this.snapshot(() => {
      const shape = shapeOfPlainPage(query);
      if (shape === null) return this.framed(this.pageStatement(query, frame));
      // Pages of the same list have the same SQL and total between two commits, so both are cached.
      const { statement, total } = this.cached(shape, () => this.plainPage(query));
      const { head, tail } = frame(total);
      return this.framed(
        statement === null
          ? emptyPage(head, tail)
          : { text: statement.text, values: [...statement.values, query.limit, query.offset, head, tail] },
      );
    });
  }

  private framed({ text, values }: PageStatement): Uint8Array<ArrayBuffer> {
    return (this.statement(text).values(...values)[0] as [Uint8Array<ArrayBuffer>])[0];
  }

  /** As pageStatement, without the last four values: limit and offset, head and tail. No statement for no results. */
  private plainPage(query: ListQuery): { readonly statement: PageStatement | null; readonly total: number } {
    if (this.populations.findsNothing(query)) return { statement: null, total: 0 };
    const { text, values } = this.pageStatement(query, () => ({ head: "", tail: "" }));
    return { statement: { text, values: values.slice(0, -4) }, total: this.total(query) };
  }

  private pageStatement(query: ListQuery, frame: (total: number) => Frame): PageStatement {
    const { head, tail } = frame(this.total(query));
    if (this.populations.findsNothing(query)) return emptyPage(head, tail);
    const sql = new SqlBuilder(query.asOf);
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const rows = `SELECT ${item} AS item FROM (${this.populations.page(query, sql, query.limit)}) p${joins}`;
    const text = `SELECT CAST(concat(${sql.bind(head)}, (SELECT group_concat(item, ',')
      FROM (${rows})), ${sql.bind(tail)}) AS BLOB)`;
    return { text, values: sql.values };
  }

  /**
   * One page with parts composed in, from one snapshot.
   * @returns null if there are too many parts for one step
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
      const ns = parts === undefined ? [] : items.map((item) => item.n);
      if (parts !== undefined && this.haveTooManyParts(ns, parts, query.asOf)) return null;
      return encoder.encode(head + compose(items, query.asOf).join(",") + tail) as Uint8Array<ArrayBuffer>;
    });
  }

  /** Whether these records together have too many parts for one step. */
  haveTooManyParts(ns: readonly number[], parts: Parts, asOf: AsOf | null): boolean {
    return ns.length > 0 && this.weight(ns, parts.kinds, asOf) > CHUNK_PARTS;
  }

  /** Whether SQLite would render too many parts into a page for one step. */
  isHeavyPage(query: ListQuery): boolean {
    const kinds = this.renderedKinds(query.kind, query.reach);
    return (
      kinds.length > 0 &&
      !this.populations.findsNothing(query) &&
      this.weight([...this.numbers(query)], kinds, query.asOf) > CHUNK_RENDERED_PARTS
    );
  }

  /** Number of parts of a kind in a record. */
  countParts(n: number, kind: Pick<AnyKind, "code">, asOf: AsOf | null): number {
    return this.populations.countIn([n], kind, asOf);
  }

  /** Number of parts of these kinds in these records together. */
  private weight(ns: readonly number[], kinds: ReadonlyArray<Pick<AnyKind, "code">>, asOf: AsOf | null): number {
    return kinds.reduce((sum, kind) => sum + this.populations.countIn(ns, kind, asOf), 0);
  }

  /** Part kinds that SQLite renders into records of a kind; none if the organization never had any. */
  private renderedKinds(kind: AnyKind, reach: Reach): ReadonlyArray<Pick<AnyKind, "code">> {
    const { composedSql } = kind;
    return composedSql !== undefined && this.hadAny(composedSql.code, reach.organizationN) ? [composedSql] : [];
  }

  /** Records of one page, each as text. */
  items(query: ListQuery): Item[] {
    if (this.populations.findsNothing(query)) return [];
    const sql = new SqlBuilder(query.asOf);
    const limit = query.limit === 0 ? -1 : query.limit;
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const text = `SELECT p.n, ${item} FROM (${this.populations.page(query, sql, limit)}) p${joins}`;
    const rows = this.statement(text).values(...sql.values) as Array<[number, string]>;
    return rows.map(([n, item]) => ({ n, text: item }));
  }

  /**
   * Records by number, in the given order, as of one transaction. Each must have been alive then; does not check
   * visibility.
   */
  itemsOf(kind: AnyKind, ns: readonly number[], asOf: AsOf, reach: Reach): Item[] {
    return this.itemsAs(this.itemSql(kind, asOf, reach), ns, asOf);
  }

  /** Like itemsOf, without observation values and `valid_to`: for comparing two versions of a record. */
  ownItemsOf(kind: AnyKind, ns: readonly number[], asOf: AsOf, reach: Reach): Item[] {
    const isComposed = this.renderedKinds(kind, reach).length > 0;
    return this.itemsAs({ item: ownItemSql(kind, isComposed), joins: "" }, ns, asOf);
  }

  private itemsAs({ item, joins }: ItemSql, ns: readonly number[], asOf: AsOf): Item[] {
    const text = `SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(+?2) ORDER BY key) p${joins}`;
    const rows = this.statement(text).values(asOf.sequence, JSON.stringify(ns)) as Array<[number, string]>;
    return rows.map(([n, text]) => ({ n, text }));
  }

  /** Own fields of the selected records, in list order: a JSON array of values per record. */
  ownFields(query: ListQuery, fields: readonly string[]): string[] {
    if (this.populations.findsNothing(query)) return [];
    const sql = new SqlBuilder(query.asOf);
    const text = `SELECT ${ownFieldsSql(query.kind, fields, query.asOf)}
      FROM (${this.populations.page(query, sql, query.limit === 0 ? -1 : query.limit)}) p`;
    return (this.statement(text).values(...sql.values) as Array<[string]>).map(([values]) => values);
  }

  /**
   * Splits records of a kind into runs that SQLite can render, with their parts, within one step each.
   * @param asOf points in time at which a record is rendered
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
      for (const [position, record] of records.entries()) {
        const own = asOf(record).reduce((sum, each) => sum + this.weight([record.n], kinds, each), 0);
        if (position > start && weight + own > CHUNK_RENDERED_PARTS) {
          yield records.slice(start, position);
          start = position;
          weight = 0;
        }
        weight += own;
      }
    }
    if (start < records.length) yield records.slice(start);
  }

  /** Total matches, regardless of the page. */
  total(query: ListQuery): number {
    return this.populations.count(query);
  }

  /**
   * Replaces the list's condition by its matches, in steps; returns a list without a condition unchanged.
   * @param query as of a fixed sequence, unless all steps run on one snapshot
   */
  *filtered(query: ListQuery): Generator<void, ListQuery> {
    return query.condition === undefined ? query : yield* this.evaluator.filtered(query);
  }

  /** Precomputes an order that comes from memory, in steps. @param query as for `filtered` */
  *ordering(query: ListQuery): Generator<void, ListQuery> {
    return yield* this.populations.ordering(query);
  }

  /** Resolves the record lookups of a condition on rows that are not records. @param asOf as for `filtered` */
  *resolvedRow(condition: Condition, reach: Reach, asOf: AsOf | null): Generator<void, ResolvedCondition> {
    return yield* this.evaluator.resolvedRow(condition, { reach, asOf });
  }

  /** Like `filtered`, in one step; null if too many records would have to be examined. */
  filteredAtOnce(query: ListQuery): ListQuery | null {
    return query.condition === undefined ? query : this.evaluator.filteredAtOnce(query);
  }

  /**
   * The entire result in chunks of comma-separated JSON objects, as of one fixed sequence, without a transaction in
   * between. `query.asOf` must not be null.
   * @param parts composed parts, so that records with many are rendered one by one
   */
  *chunks(query: ListQuery, compose: Compose | null, parts?: Parts): Generator<Uint8Array> {
    if (this.populations.findsNothing(query)) return;
    const rows = chunkRows(compose, parts);
    yield* this.rendered(query, this.numberChunks(query, rows), compose, parts);
  }

  /**
   * Same as `chunks`, plus the total. If counting or sorting requires a full pass, it runs here, once for both, before
   * the first chunk is requested.
   */
  countedChunks(
    query: ListQuery,
    compose: Compose | null,
    parts?: Parts,
  ): { readonly total: number; readonly chunks: Generator<Uint8Array> } {
    if (this.populations.findsNothing(query)) return { total: 0, chunks: this.chunks(query, compose, parts) };
    if (this.isInPageOrder(query)) return { total: this.total(query), chunks: this.chunks(query, compose, parts) };
    const { total, numbers } = this.snapshot(() => this.collectNumbers(query));
    return { total, chunks: this.rendered(query, sliced(numbers, chunkRows(compose, parts)), compose, parts) };
  }

  /**
   * Parts of several owners in the caller's organization, by owner, in page order.
   * @param outside excludes parts that are also in a container of this scope
   */
  parts(
    kind: AnyKind,
    scope: ScopeName,
    ownerNs: readonly number[],
    asOf: AsOf | null,
    reach: Reach,
    outside?: ScopeName,
  ): Map<number, string[]> {
    if (!this.hadAny(kind.code, reach.organizationN)) return new Map();
    const sql = new SqlBuilder(asOf);
    const owners = sql.bind(JSON.stringify(ownerNs));
    const [field, outsideField = ""] = [kind.scopes[scope], outside && kind.scopes[outside]];
    if (field === undefined) throw new Error(`reader: ${kind.plural} have no ${scope} scope`);
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
    const statement = this.statement(`SELECT p.owner, ${item} FROM (${population}) p${joins}`);
    const parts = new Map<number, string[]>();
    for (const [owner, text] of statement.values(...sql.values) as Array<[number, string]>) append(parts, owner, text);
    return parts;
  }

  /** Item SQL of a kind; queries parts only if the organization ever had any. */
  private itemSql(kind: AnyKind, asOf: AsOf | null, reach: Reach): ItemSql {
    return itemSql(kind, asOf, this.renderedKinds(kind, reach).length > 0);
  }

  private hadAny(kindCode: number, organizationN: number): boolean {
    const scope = organizationN * 64 + kindCode;
    // A stream's steps are outside snapshots.
    return this.snapshot(() =>
      this.cached(
        `census ${scope}`,
        () => this.statement("SELECT 1 FROM history_census WHERE scope = ? LIMIT 1").values(scope).length > 0,
      ),
    );
  }

  /** Records by number, as chunks of comma-separated JSON objects. */
  private *rendered(
    query: ListQuery,
    numberChunks: Iterable<number[]>,
    compose: Compose | null,
    parts: Parts | undefined,
  ): Generator<Uint8Array> {
    const { asOf } = query;
    if (asOf === null) throw new Error("reader: a long read is as of a fixed sequence");
    const { item, joins } = this.itemSql(query.kind, asOf, query.reach);
    const [kinds, maxParts] =
      parts === undefined
        ? [this.renderedKinds(query.kind, query.reach), CHUNK_RENDERED_PARTS]
        : [parts.kinds, parts.step?.parts ?? CHUNK_PARTS];
    for (const numbers of this.lightChunks(numberChunks, asOf, kinds, maxParts)) {
      const text =
        compose === null
          ? `SELECT CAST(group_concat(item, ',') AS BLOB)
            FROM (SELECT ${item} AS item FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins})`
          : `SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins}`;
      const found = this.statement(text).values(asOf.sequence, JSON.stringify(numbers)) as unknown[][];
      if (compose === null) yield found[0]?.[0] as Uint8Array;
      else {
        const items = (found as Array<[number, string]>).map(([n, item]) => ({ n, text: item }));
        yield encoder.encode(compose(items, asOf).join(","));
      }
    }
  }

  /** Splits record numbers, in list order, so that each chunk has at most `maxParts` parts of these kinds. */
  private *lightChunks(
    numberChunks: Iterable<number[]>,
    asOf: AsOf,
    kinds: ReadonlyArray<Pick<AnyKind, "code">>,
    maxParts: number,
  ): Generator<number[]> {
    for (const numbers of numberChunks) {
      // Halves chunks until they are light: one check suffices for most.
      const heavy = [numbers];
      for (let batch = heavy.pop(); batch !== undefined; batch = heavy.pop()) {
        if (batch.length <= 1 || kinds.length === 0 || batch.length + this.weight(batch, kinds, asOf) <= maxParts) {
          if (batch.length > 0) yield batch;
          continue;
        }
        const half = batch.length >> 1;
        heavy.push(batch.slice(half), batch.slice(0, half));
      }
    }
  }

  /** Record numbers in list order, in chunks: by key if in page order, otherwise from one pass. */
  private *numberChunks(query: ListQuery, rows: number): Generator<number[]> {
    if (!this.isInPageOrder(query)) {
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

  /** Whether the whole list is in page order, so that each step can resume after the last record. */
  private isInPageOrder(query: ListQuery): boolean {
    return (
      query.limit === 0 &&
      query.numbers === undefined &&
      (query.order ?? []).length === 0 &&
      !needsCounting(query) &&
      this.populations.accessPath(query) !== "sorted"
    );
  }

  /** Selected record numbers, in list order, and the total. */
  private collectNumbers(query: ListQuery): { total: number; numbers: Uint32Array } {
    // While no commit has followed a pinned present, the live tables give the same result faster. Scopes are only in
    // spans.
    const isPresent =
      query.scopes === undefined && query.asOf?.present === true && query.asOf.sequence === this.head().sequence;
    const effectiveQuery = isPresent ? { ...query, asOf: null } : query;
    if (!needsCounting(query)) return { total: this.total(effectiveQuery), numbers: this.numbers(effectiveQuery) };
    const all = this.numbers({ ...effectiveQuery, limit: 0, offset: 0 });
    return { total: all.length, numbers: pageOf(all, query) };
  }

  /** Record numbers in list order: there may be a million, and separate rows would take a hundred times the memory. */
  private numbers(query: ListQuery): Uint32Array {
    const isInOrder = (query.order ?? []).length === 0;
    const sorted = this.populations.orderedInMemory(query) ?? (isInOrder ? query.numbers : undefined);
    if (sorted !== undefined) return pageOf(sorted, query);
    const sql = new SqlBuilder(query.asOf);
    const page = this.populations.page(query, sql, query.limit === 0 ? -1 : query.limit);
    const statement = this.statement(`SELECT CAST(group_concat(n) AS BLOB) FROM (${page})`);
    const [[numbers]] = statement.values(...sql.values) as [[Uint8Array | null]];
    return numbersIn(numbers);
  }
}

const encoder = new TextEncoder();

function pageOf(numbers: Uint32Array, { offset, limit }: ListQuery): Uint32Array {
  return numbers.subarray(offset, limit === 0 ? undefined : offset + limit);
}

/** Whether no census has the total. */
function needsCounting(query: ListQuery): boolean {
  return (query.filters ?? []).length > 0 || (query.search ?? "") !== "";
}

function chunkRows(compose: Compose | null, parts: Parts | undefined): number {
  return compose === null ? CHUNK_ROWS : (parts?.step?.records ?? CHUNK_ROWS_COMPOSED);
}

function* sliced(numbers: Uint32Array, rows: number): Generator<number[]> {
  for (let start = 0; start < numbers.length; start += rows) yield Array.from(numbers.subarray(start, start + rows));
}

function emptyPage(head: string, tail: string): PageStatement {
  return { text: "SELECT CAST(+? AS BLOB)", values: [head + tail] };
}

/** Maximum networks in reach for caching a page's SQL: each adds to the text. */
const CACHED_NETWORKS_MAX = 8;

/** Cache key for live pages of one list; null if more than its containers matters. */
function shapeOfPlainPage(query: ListQuery): string | null {
  const { kind, reach, within, ids, search, filters, order } = query;
  if ((ids ?? query.numbers ?? query.scopes ?? query.among ?? search) !== undefined) return null;
  if ((filters !== undefined && filters.length > 0) || (order !== undefined && order.length > 0)) return null;
  if (reach.networkNs !== null && reach.networkNs.length > CACHED_NETWORKS_MAX) return null;
  let position = "";
  for (const scope in within) {
    const id = within[scope as ScopeName];
    if (id !== undefined) position += ` ${scope} ${id}`;
  }
  return `page ${kind.code} ${reach.organizationN} ${reach.networkNs === null ? "all" : reach.networkNs.join()}${position}`;
}
