// Reads, live and as of an instant, on a read-only connection. One code path builds both: only the population
// (who is in a scope) and the place of the newest version differ. Knows no resource and no HTTP.

import { getTableName } from "drizzle-orm";
import type { Database, Statement } from "bun:sqlite";
import type { Clock } from "../base/clock.ts";
import type { Instant } from "../base/instant.ts";
import type { Sql } from "./connection.ts";
import { SCOPE_CODES, type AnyKind, type ScopeName } from "./kind.ts";
import { itemSql, sortSql, type ItemSql } from "./item-sql.ts";

/** The transaction that a read is as of. Live reads have none. */
export interface AsOf {
  readonly sequence: number;
  /** The highest record number that existed then: what is beyond it need not be looked at. */
  readonly lastN: number;
  /** True for a long read of the present, fixed at one sequence: observation values are today's and nothing has ended. */
  readonly present: boolean;
}

/** What a caller may see: an organization, and in it all networks or some. */
export interface Reach {
  readonly organizationN: number;
  /** Record numbers of networks; null for all of the organization. */
  readonly networkNs: readonly number[] | null;
}

export interface OrderTerm {
  readonly field: string;
  readonly direction: "asc" | "desc";
  /** Ordered by the folded text first, then by code point. */
  readonly folded: boolean;
}

export interface ListQuery {
  readonly kind: AnyKind;
  readonly reach: Reach;
  readonly asOf: AsOf | null;
  /** Containers by id; a record must live in each. An id that is no container finds nothing. */
  readonly within?: Partial<Record<ScopeName, string | undefined>>;
  readonly ids?: readonly string[] | undefined;
  /** Empty for page order: `created_at`, then `id`. */
  readonly order?: readonly OrderTerm[];
  /** Rows; 0 for all. */
  readonly limit: number;
  readonly offset: number;
}

export interface Page {
  /** JSON objects, comma-separated, UTF-8. */
  readonly items: Uint8Array;
  /** How many records match, whatever the page. */
  readonly total: number;
}

/** What a page's bytes stand between. */
export interface Frame {
  readonly head: string;
  readonly tail: string;
}

export interface Item {
  readonly n: number;
  /** The record as a JSON object. */
  readonly text: string;
}

export interface FoundItem extends Item {
  /** The transaction that wrote this version: the record's ETag. */
  readonly sequence: number;
  /** Whether a later version or the end of the record followed. */
  readonly ended: boolean;
}

/** What is composed into a record: kinds that live in its scope. */
export interface Parts {
  readonly scope: ScopeName;
  readonly kinds: readonly AnyKind[];
}

/** Adds to items what is kept as records of their own. */
export type Compose = (items: Item[], asOf: AsOf | null) => string[];

/** Facts remembered between two commits at most. */
const MAX_REMEMBERED = 10_000;
/** Networks up to this number are merged in page order. */
const MAX_MERGED_NETWORKS = 64;
/** Above it records up to this number are sorted; more than these stand so close that a walk over all meets them soon. */
const MAX_SORTED_RECORDS = 20_000;
/** Characters of SQL that are kept prepared; each takes some 13 bytes. A list over 64 networks has 20,000. */
const MAX_PREPARED_LENGTH = 1_000_000;
/** Rows per step of a long read: about a millisecond. */
const CHUNK_ROWS = 500;
const CHUNK_ROWS_COMPOSED = 20;
/** Parts per step of a long read of composed records, as long as one record does not have more. */
const CHUNK_PARTS = 2_000;

type Value = string | number;

export class Reader {
  readonly db: Database;
  private readonly clock: Clock;
  private readonly remembered = new Map<string, unknown>();
  private rememberedVersion = -1;
  private isHeldStill = false;
  private readonly prepared = new Map<string, Statement>();
  private preparedLength = 0;

  constructor(db: Sql, clock: Clock) {
    this.db = db.$client;
    this.clock = clock;
  }

  /** The newest transaction; sequence 0 in an empty ledger. */
  head(): { sequence: number; at: Instant; lastN: number } {
    const row = this.statement("SELECT sequence, at, last_n FROM history_transactions ORDER BY sequence DESC LIMIT 1").values()[0] as [number, number, number] | undefined;
    return row === undefined ? { sequence: 0, at: -1, lastN: 0 } : { sequence: row[0], at: row[1], lastN: row[2] };
  }

  /**
   * What `at` means: the last transaction at or before it, or null for the present.
   * An instant that is not before the wall clock is the present, also while the ledger's clock leads.
   */
  resolve(at: Instant | null): AsOf | null {
    if (at === null || at >= this.clock.now()) return null;
    const row = this.statement("SELECT sequence, last_n FROM history_transactions WHERE at <= ? ORDER BY at DESC LIMIT 1").values(at)[0] as [number, number] | undefined;
    return row === undefined ? { sequence: 0, lastN: 0, present: false } : { sequence: row[0], lastN: row[1], present: false };
  }

  /** The present, held still for a long read. */
  present(): AsOf {
    const head = this.head();
    return { sequence: head.sequence, lastN: head.lastN, present: true };
  }

  /** As of exactly one transaction: how a write answers with what it wrote. */
  atSequence(sequence: number): AsOf {
    const row = this.statement("SELECT last_n FROM history_transactions WHERE sequence = ?").values(sequence)[0] as [number] | undefined;
    return { sequence, lastN: row?.[0] ?? 0, present: false };
  }

  /** The number of a record by its id, live or not; null for an id that was never used. */
  recordN(id: string): number | null {
    const row = this.statement("SELECT n FROM history_records WHERE id = ?").values(id)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  /** The ids of record numbers, in the order given. */
  recordIds(ns: readonly number[]): string[] {
    const rows = this.statement("SELECT r.id FROM json_each(?) j JOIN history_records r ON r.n = j.value ORDER BY j.key").values(JSON.stringify(ns)) as Array<[string]>;
    return rows.map((row) => row[0]);
  }

  /** Runs several reads on one state of the database. */
  snapshot<T>(read: () => T): T {
    if (this.isHeldStill) return read();
    this.statement("BEGIN").run();
    try {
      this.forgetChanged();
      this.isHeldStill = true;
      return read();
    } finally {
      this.isHeldStill = false;
      this.statement("COMMIT").run();
    }
  }

  /**
   * Drops what is remembered if anything was committed since: by this process or another, SQLite itself tells.
   * To be called where a request begins to read.
   */
  forgetChanged(): void {
    if (this.isHeldStill) return;
    const [version] = this.statement("PRAGMA data_version").values()[0] as [number];
    if (version === this.rememberedVersion) return;
    this.rememberedVersion = version;
    this.remembered.clear();
  }

  /** What `make` made since the last commit, or makes now: for small facts that every request asks again. */
  remember<T>(name: string, make: () => T): T {
    const known = this.remembered.get(name);
    if (known !== undefined) return known as T;
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    const made = make();
    this.remembered.set(name, made);
    return made;
  }

  /** One record with its version, or null where the caller sees none. */
  find(kind: AnyKind, id: string, reach: Reach, asOf: AsOf | null, within: ListQuery["within"] = {}): FoundItem | null {
    const query: ListQuery = { kind, reach, asOf, within, ids: [id], limit: 1, offset: 0 };
    if (this.findsNothing(query)) return null;
    const sql = new SqlBuilder(asOf);
    const population = this.population(query, sql);
    const version =
      asOf === null
        ? `(SELECT sequence FROM ${getTableName(kind.table)} WHERE n = p.n)`
        : `(SELECT key & 2147483647 FROM history_versions WHERE key <= ((p.n << 31) | ?1) ORDER BY key DESC LIMIT 1)`;
    const ended = asOf === null ? "0" : "EXISTS (SELECT 1 FROM history_versions WHERE key > ((p.n << 31) | ?1) AND key < ((p.n + 1) << 31))";
    const { item, joins } = this.itemSql(kind, asOf, reach);
    const text = `SELECT p.n, ${version}, ${item}, ${ended} FROM (${population} LIMIT 1) p${joins}`;
    const row = this.statement(text).values(...sql.values)[0] as [number, number, string, number] | undefined;
    return row === undefined ? null : { n: row[0], sequence: row[1], text: row[2], ended: row[3] === 1 };
  }

  /** One page as bytes, straight from the database. */
  page(query: ListQuery): Page {
    let total = 0;
    const items = this.framedPage(query, (counted) => {
      total = counted;
      return { head: "", tail: "" };
    });
    return { items, total };
  }

  /**
   * One page as bytes between two texts that may depend on the total: SQLite puts them together, since every copy of a page in
   * JavaScript is felt. Count and items are of one state of the database.
   */
  framedPage(query: ListQuery, frame: (total: number) => Frame): Uint8Array<ArrayBuffer> {
    return query.asOf === null ? this.snapshot(() => this.framed(query, frame)) : this.framed(query, frame);
  }

  private framed(query: ListQuery, frame: (total: number) => Frame): Uint8Array<ArrayBuffer> {
    const { head, tail } = frame(this.total(query));
    if (this.findsNothing(query)) return encoder.encode(head + tail) as Uint8Array<ArrayBuffer>;
    const sql = new SqlBuilder(query.asOf);
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const rows = `SELECT ${item} AS item FROM (${this.ordered(query, sql)} LIMIT ${sql.bind(query.limit)} OFFSET ${sql.bind(query.offset)}) p${joins}`;
    const text = `SELECT CAST(concat(${sql.bind(head)}, (SELECT group_concat(item, ',') FROM (${rows})), ${sql.bind(tail)}) AS BLOB)`;
    return (this.statement(text).values(...sql.values)[0] as [Uint8Array<ArrayBuffer>])[0];
  }

  /** One page with parts composed in. Reads on one state of the database. */
  composedPage(query: ListQuery, compose: Compose, frame: (total: number) => Frame): Uint8Array<ArrayBuffer> {
    return this.snapshot(() => {
      const { head, tail } = frame(this.total(query));
      return encoder.encode(head + compose(this.items(query), query.asOf).join(",") + tail) as Uint8Array<ArrayBuffer>;
    });
  }

  /** The records of one page, each as text. */
  items(query: ListQuery): Item[] {
    if (this.findsNothing(query)) return [];
    const sql = new SqlBuilder(query.asOf);
    const limit = query.limit === 0 ? -1 : query.limit;
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    const text = `SELECT p.n, ${item} FROM (${this.ordered(query, sql)} LIMIT ${sql.bind(limit)} OFFSET ${sql.bind(query.offset)}) p${joins}`;
    return (this.statement(text).values(...sql.values) as Array<[number, string]>).map(([n, item]) => ({ n, text: item }));
  }

  total(query: ListQuery): number {
    if (this.findsNothing(query)) return 0;
    const sql = new SqlBuilder(query.asOf);
    const scopes = this.wholeScopes(query);
    // What lives now is counted once between two commits; what lived at one of a million instants is asked each time.
    if (scopes !== null && query.asOf === null) {
      return this.remember(`total ${query.kind.code} ${scopes.join()}`, () => this.first(censusSql(scopes, query.kind, null, sql), sql));
    }
    return this.first(scopes === null ? `SELECT count(*) FROM (${this.population(query, sql)})` : censusSql(scopes, query.kind, query.asOf, sql), sql);
  }

  private first(text: string, sql: SqlBuilder): number {
    const row = this.statement(text).values(...sql.values)[0] as [number | null] | undefined;
    return row?.[0] ?? 0;
  }

  /**
   * All that is asked for, in chunks of comma-separated JSON objects, at one fixed sequence and with no
   * transaction held in between. `query.asOf` must not be null.
   * @param parts what is composed in, so that records with very many are taken one by one
   */
  *chunks(query: ListQuery, compose: Compose | null, parts?: Parts): Generator<Uint8Array> {
    if (query.asOf === null) throw new Error("reader: a long read is as of a fixed sequence");
    if (this.findsNothing(query)) return;
    const rows = compose === null ? CHUNK_ROWS : CHUNK_ROWS_COMPOSED;
    const { item, joins } = this.itemSql(query.kind, query.asOf, query.reach);
    for (const numbers of this.lightChunks(query, query.asOf, rows, parts)) {
      const text =
        compose === null
          ? `SELECT CAST(group_concat(item, ',') AS BLOB) FROM (SELECT ${item} AS item FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins})`
          : `SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(?2) ORDER BY key) p${joins}`;
      const found = this.statement(text).values(query.asOf.sequence, JSON.stringify(numbers)) as unknown[][];
      if (compose === null) yield found[0]?.[0] as Uint8Array;
      else yield encoder.encode(compose((found as Array<[number, string]>).map(([n, item]) => ({ n, text: item })), query.asOf).join(","));
    }
  }

  /** The parts of several owners, by owner, in page order. */
  parts(kind: AnyKind, scope: ScopeName, ownerNs: readonly number[], asOf: AsOf | null): Map<number, string[]> {
    const sql = new SqlBuilder(asOf);
    const owners = sql.bind(JSON.stringify(ownerNs));
    const column = kind.scopes[scope];
    if (column === undefined) throw new Error(`reader: ${kind.plural} do not live in a ${scope}`);
    const population =
      asOf === null
        ? `SELECT l.${column} AS owner, l.n AS n FROM ${getTableName(kind.table)} l WHERE l.${column} IN (SELECT value FROM json_each(${owners})) ORDER BY l.${column}, l.n`
        : `SELECT j.value AS owner, s.n AS n FROM json_each(${owners}) j CROSS JOIN history_spans s WHERE s.scope = j.value * 64 + ${kind.code} AND s.born <= ?1 AND s.died > ?1 ORDER BY j.key, s.n`;
    const { item, joins } = itemSql(kind, asOf, kind.composedSql !== undefined);
    const rows = this.statement(`SELECT p.owner, ${item} FROM (${population}) p${joins}`).values(...sql.values) as Array<[number, string]>;
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
    return itemSql(kind, asOf, kind.composedSql !== undefined && this.hadAny(kind.composedSql.code, reach.organizationN));
  }

  private hadAny(kindCode: number, organizationN: number): boolean {
    const scope = organizationN * 64 + kindCode;
    return this.remember(`census ${scope}`, () => this.statement("SELECT 1 FROM history_census WHERE scope = ? LIMIT 1").values(scope).length > 0);
  }

  /** A prepared statement, prepared once. */
  statement(sql: string): Statement {
    let statement = this.prepared.get(sql);
    if (statement === undefined) {
      // Shapes are few; the bound keeps a caller who finds a way to vary them from filling the memory.
      if (this.preparedLength + sql.length > MAX_PREPARED_LENGTH) {
        for (const old of this.prepared.values()) old.finalize();
        this.prepared.clear();
        this.preparedLength = 0;
      }
      statement = this.db.prepare(sql);
      this.prepared.set(sql, statement);
      this.preparedLength += sql.length;
    }
    return statement;
  }

  /** Record numbers in list order, so few at a time that their parts are not too many. */
  private *lightChunks(query: ListQuery, asOf: AsOf, rows: number, parts: Parts | undefined): Generator<number[]> {
    for (const numbers of this.numberChunks(query, rows)) {
      if (parts === undefined) {
        yield numbers;
        continue;
      }
      let chunk: number[] = [];
      let weight = 0;
      for (const n of numbers) {
        const own = 1 + parts.kinds.reduce((sum, kind) => sum + this.countAt(n * 64 + kind.code, asOf.sequence), 0);
        if (chunk.length > 0 && weight + own > CHUNK_PARTS) {
          yield chunk;
          chunk = [];
          weight = 0;
        }
        chunk.push(n);
        weight += own;
      }
      yield chunk;
    }
  }

  private countAt(scope: number, sequence: number): number {
    const row = this.statement("SELECT count FROM history_census WHERE scope = ? AND sequence <= ? ORDER BY sequence DESC LIMIT 1").values(scope, sequence)[0] as [number] | undefined;
    return row?.[0] ?? 0;
  }

  /** Record numbers in list order, chunk by chunk: by key where the order is the page order, else from one sorted pass. */
  private *numberChunks(query: ListQuery, rows: number): Generator<number[]> {
    if ((query.order ?? []).length > 0 || query.limit > 0 || this.wayThrough(query) === "sorted") {
      const sql = new SqlBuilder(query.asOf);
      const text = `${this.ordered(query, sql)} LIMIT ${sql.bind(query.limit === 0 ? -1 : query.limit)} OFFSET ${sql.bind(query.offset)}`;
      const all = (this.statement(text).values(...sql.values) as Array<[number]>).map((row) => row[0]);
      for (let start = 0; start < all.length; start += rows) yield all.slice(start, start + rows);
      return;
    }
    let after = 0;
    let offset = query.offset;
    for (;;) {
      const sql = new SqlBuilder(query.asOf);
      const text = `SELECT n FROM (${this.population(query, sql, after)} ORDER BY n LIMIT ${sql.bind(rows)} OFFSET ${sql.bind(offset)})`;
      const numbers = (this.statement(text).values(...sql.values) as Array<[number]>).map((row) => row[0]);
      if (numbers.length > 0) yield numbers;
      if (numbers.length < rows) return;
      after = numbers[numbers.length - 1] as number;
      offset = 0;
    }
  }

  private findsNothing(query: ListQuery): boolean {
    if (query.asOf !== null && query.asOf.sequence === 0) return true;
    if (query.ids !== undefined && query.ids.length === 0) return true;
    return isConfined(query) && query.reach.networkNs?.length === 0;
  }

  private ordered(query: ListQuery, sql: SqlBuilder): string {
    const population = this.population(query, sql);
    const order = query.order ?? [];
    if (order.length === 0) return `${population} ORDER BY n`;
    const terms = order.flatMap((term) => sortSql(query.kind, term, query.asOf));
    return `SELECT p.n AS n FROM (${population}) p ORDER BY ${[...terms, "p.n"].join(", ")}`;
  }

  /** `SELECT … AS n` of who matches; several arms are merged in page order by the ORDER BY of the caller. */
  private population(query: ListQuery, sql: SqlBuilder, after = 0): string {
    const { kind, reach, asOf } = query;
    const containers = this.containers(query);
    if (containers === null) return "SELECT 0 AS n WHERE 0";
    const networkNs = isConfined(query) ? reach.networkNs : null;
    // The innermost container is the smallest; what is around it is checked record by record. Only the organization is not, as of an
    // instant: containers() finds none outside of it, and no record ever leaves it.
    const base = containers.at(-1);
    const checks = containers.slice(0, -1);
    const way = this.wayThrough(query);
    const baseColumn = base?.column ?? (way === "walked" ? "organization_n" : (kind.scopes.network as string));
    // A network that is asked for is one that the caller reaches.
    const confinement = way === "walked" && !containers.some((each) => each.scope === "network") ? networkNs : null;
    // One arm per container, or one over all of them that leaves the sorting to the caller.
    const arms =
      way === "sorted"
        ? [{ container: "c.value", source: `json_each(${sql.bind(JSON.stringify(networkNs))}) c CROSS JOIN ` }]
        : (way === "merged" && networkNs !== null ? networkNs : [base?.n ?? reach.organizationN]).map((n) => ({ container: sql.bind(n), source: "" }));
    const ids = query.ids === undefined ? null : sql.bind(JSON.stringify(query.ids));
    const byIds = ids === null ? null : `SELECT r.n FROM json_each(${ids}) j JOIN history_records r ON r.id = j.value`;
    const selects = arms.map(({ container, source }) => {
      const where: string[] = [];
      if (asOf === null) {
        // A plus keeps the planner from an index that is not the one meant.
        where.push(byIds === null ? `l.${baseColumn} = ${container}` : `+l.${baseColumn} = ${container}`);
        if (byIds !== null) where.push(`l.n IN (${byIds})`);
        if (baseColumn !== "organization_n") where.push(`+l.organization_n = ${sql.bind(reach.organizationN)}`);
        for (const check of checks) where.push(`+l.${check.column} = ${sql.bind(check.n)}`);
        if (confinement !== null) where.push(`+l.${kind.scopes.network} IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(confinement))}))`);
        if (after > 0) where.push(`l.n > ${sql.bind(after)}`);
        return `SELECT l.n AS n FROM ${source}${getTableName(kind.table)} l WHERE ${where.join(" AND ")}`;
      }
      where.push(`s.scope = ${container} * 64 + ${kind.code}`, "s.born <= ?1", "s.died > ?1");
      where.push(byIds === null ? `s.n > ${sql.bind(after)} AND s.n <= ${sql.bind(asOf.lastN)}` : `s.n IN (${byIds})`);
      if (byIds !== null && after > 0) where.push(`+s.n > ${sql.bind(after)}`);
      for (const check of checks) where.push(livedIn(sql.bind(check.n * 64 + kind.code)));
      if (confinement !== null) where.push(livedInOneOf(kind, sql.bind(JSON.stringify(confinement))));
      return `SELECT s.n AS n FROM ${source}history_spans s WHERE ${where.join(" AND ")}`;
    });
    return selects.join(" UNION ALL ");
  }

  /**
   * How a list goes through what its caller may see: over a single scope (walked), with what is out of reach left out;
   * over the networks in reach, each in page order (merged); or over them one after the other (sorted).
   */
  private wayThrough(query: ListQuery): "walked" | "merged" | "sorted" {
    const { networkNs } = query.reach;
    const isWithin = Object.values(query.within ?? {}).some((id) => id !== undefined);
    if (!isConfined(query) || networkNs === null || isWithin || query.ids !== undefined) return "walked";
    if (networkNs.length <= MAX_MERGED_NETWORKS) return "merged";
    return this.countIn(networkNs, query.kind, query.asOf) <= MAX_SORTED_RECORDS ? "sorted" : "walked";
  }

  /** The containers that the population fills: their census is its count. Null where it has to be counted. */
  private wholeScopes(query: ListQuery): readonly number[] | null {
    const containers = this.containers(query);
    if (containers === null) return [];
    if (query.ids !== undefined) return null;
    const networkNs = isConfined(query) ? query.reach.networkNs : null;
    if (containers.length === 0) return networkNs ?? [query.reach.organizationN];
    // A network that was asked for and may be seen is one whole scope of its organization.
    if (containers.length === 1 && containers[0]?.scope === "network") return [containers[0].n];
    if (containers.length === 1 && networkNs === null && containers[0] !== undefined) return [containers[0].n];
    return null;
  }

  private countIn(containerNs: readonly number[], kind: AnyKind, asOf: AsOf | null): number {
    const sql = new SqlBuilder(asOf);
    return (this.statement(censusSql(containerNs, kind, asOf, sql)).values(...sql.values)[0] as [number])[0];
  }

  /** The containers asked for, outermost first; null where one of them can't hold anything that the caller sees. */
  private containers(query: ListQuery): Array<{ scope: ScopeName; n: number; column: string }> | null {
    const containers: Array<{ scope: ScopeName; n: number; column: string }> = [];
    for (const scope of SCOPE_ORDER) {
      const id = query.within?.[scope];
      if (id === undefined) continue;
      const column = query.kind.scopes[scope];
      if (column === undefined) throw new Error(`reader: ${query.kind.plural} do not live in a ${scope}`);
      const n = this.remember(`container ${query.reach.organizationN} ${scope} ${id}`, () => this.containerN(scope, id, query.reach.organizationN));
      if (n === null) return null;
      if (scope === "network" && query.reach.networkNs !== null && !query.reach.networkNs.includes(n)) return null;
      containers.push({ scope, n, column });
    }
    return containers;
  }

  /** The number of a container that ever lived in the organization. */
  private containerN(scope: ScopeName, id: string, organizationN: number): number | null {
    const row = this.statement(
      "SELECT r.n FROM history_records r WHERE r.id = +? AND r.kind = +? AND EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = +? * 64 + r.kind AND s.n = r.n)",
    ).values(id, SCOPE_CODES[scope], organizationN)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }
}

const SCOPE_ORDER: readonly ScopeName[] = ["network", "credential", "host", "service", "if_entry", "user"];
const encoder = new TextEncoder();

/** Whether the caller's networks matter for this kind: tags, users and the like belong to the organization alone. */
function isConfined(query: ListQuery): boolean {
  return query.reach.networkNs !== null && query.kind.scopes.network !== undefined;
}

function livedIn(scope: string): string {
  return `EXISTS (SELECT 1 FROM history_spans e WHERE e.scope = ${scope} AND e.n = s.n AND e.born <= ?1 AND e.died > ?1)`;
}

/** Whether a record lived in one of many networks. Its own document tells: there may be thousands of scopes to look for it in. */
function livedInOneOf(kind: AnyKind, networkNs: string): string {
  const networks = `SELECT value FROM json_each(${networkNs})`;
  const column = kind.scopes.network as string;
  if (column === "n") return `+s.n IN (${networks})`;
  const field = column.replace(/_n$/, "_id");
  return `(SELECT ('{' || w.members || '}') ->> '$.${field}' FROM history_versions w WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1) IN (SELECT id FROM history_records WHERE n IN (${networks}))`;
}

/** How many records of a kind lived in these containers together. */
function censusSql(containerNs: readonly number[], kind: AnyKind, asOf: AsOf | null, sql: SqlBuilder): string {
  const until = asOf === null ? "" : " AND c.sequence <= ?1";
  const census = (scope: string) => `(SELECT c.count FROM history_census c WHERE c.scope = ${scope}${until} ORDER BY c.sequence DESC LIMIT 1)`;
  const keys = containerNs.map((n) => n * 64 + kind.code);
  if (keys.length === 1) return `SELECT ${census(sql.bind(keys[0] as number))}`;
  return `SELECT coalesce(sum(${census("j.value")}), 0) FROM json_each(${sql.bind(JSON.stringify(keys))}) j`;
}

/** Collects the values of a statement; ?1 is the sequence in every as-of statement. */
class SqlBuilder {
  readonly values: Value[] = [];

  constructor(asOf: AsOf | null) {
    if (asOf !== null) this.values.push(asOf.sequence);
  }

  bind(value: Value): string {
    this.values.push(value);
    // The plus changes no value. Without it SQLite plans for the value (LIMIT, partial indexes) and prepares again whenever it is bound.
    return `+?${this.values.length}`;
  }
}
