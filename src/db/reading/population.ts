// Who is in a list, live or as of an instant: SQL that selects record numbers, and their counts. Only the population
// differs between the two, live tables or spans. Knows nothing of what is shown of a record.

import { getTableColumns, getTableName } from "drizzle-orm";
import { customFieldKey } from "../../base/custom-field-names.ts";
import { ownValue } from "../../base/fields.ts";
import { textSortKey } from "../../base/text.ts";
import { type AnyKind, liveColumnOf, SCOPE_CODES, SCOPES, type ScopeName, scopeKey } from "../kind.ts";
import { BLOCK_BITS } from "../schema.ts";
import { searchTerms, searchWords } from "../search-text.ts";
import { membersSql } from "../shape.ts";
import { type ComputedKey, ComputedKeyOrder } from "./computed-key-order.ts";
import { sortSql, sortValueSql } from "./item-sql.ts";
import type { AsOf, Filter, ListQuery, OrderTerm } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import type { ReadConnection } from "./read-connection.ts";
import { SortKeyTimelines, TIMELINE_RECORDS_MAX, TIMELINE_RECORDS_MIN } from "./sort-key-timelines.ts";
import { SqlBuilder } from "./sql-builder.ts";
import { WordIndex } from "./word-index.ts";

/** Networks up to this number are merged in page order. */
const MAX_MERGED_NETWORKS = 64;
/**
 * Above it records up to this number are sorted; more than these stand so close that a walk over all meets them soon.
 */
const MAX_SORTED_RECORDS = 20_000;

export class Populations {
  private readonly connection: ReadConnection;
  readonly index: WordIndex;
  private readonly timelines: SortKeyTimelines;

  constructor(connection: ReadConnection) {
    this.connection = connection;
    this.index = new WordIndex(connection);
    this.timelines = new SortKeyTimelines(connection);
  }

  /** Whether the answer is known to be empty before anything is looked up. */
  findsNothing(query: ListQuery): boolean {
    if (query.asOf !== null && query.asOf.sequence === 0) return true;
    if (query.numbers !== undefined) return query.numbers.length === 0;
    if (query.scopes !== undefined) return query.scopes.length === 0;
    if (query.ids !== undefined && query.ids.length === 0) return true;
    if (query.filters?.some((filter) => "namesAny" in filter && filter.namesAny.length === 0)) return true;
    return isConfined(query) && !mayBeBeside(query.kind) && query.reach.networkNs?.length === 0;
  }

  /** How many records match, whatever the page: the census of what they fill, or counted where no census has it. */
  count(query: ListQuery): number {
    if (this.findsNothing(query)) return 0;
    if (query.numbers !== undefined) return query.numbers.length;
    const sql = new SqlBuilder(query.asOf);
    if (query.scopes !== undefined) return this.first(countsSql(query.scopes, query.asOf, sql), sql);
    const scopes = this.wholeScopes(query);
    // What lives now is counted once between two commits; what lived at one of a million instants is asked each time.
    if (scopes !== null && query.asOf === null) {
      return this.connection.remember(`total ${query.kind.code} ${scopes.join()}`, () =>
        this.first(censusSql(scopes, query.kind, null, sql), sql),
      );
    }
    return this.first(
      scopes === null
        ? `SELECT count(*) FROM (${this.population(query, sql)})`
        : censusSql(scopes, query.kind, query.asOf, sql),
      sql,
    );
  }

  /** `SELECT … AS n` of a page of who matches, in list order. @param limit rows; −1 for all */
  page(query: ListQuery, sql: SqlBuilder, limit: number): string {
    const numbers = this.orderedOutside(query) ?? ((query.order ?? []).length === 0 ? query.numbers : undefined);
    if (numbers === undefined)
      return `${this.ordered(query, sql)} LIMIT ${sql.bind(limit)} OFFSET ${sql.bind(query.offset)}`;
    const page = numbers.subarray(query.offset, limit < 0 ? undefined : query.offset + limit);
    return `SELECT value AS n FROM json_each(${sql.bind(JSON.stringify(Array.from(page)))}) ORDER BY key`;
  }

  /**
   * The record numbers of all who match, in list order, where that is by keys that no version keeps; undefined where SQL
   * has the order.
   */
  orderedOutside(query: ListQuery): Uint32Array | undefined {
    const { kind, asOf } = query;
    const terms = (query.order ?? []).map((term) => ({
      ...term,
      ...computedKey(kind, term),
    }));
    if (terms.every((term) => term.keyOf === null)) return undefined;
    const sql = new SqlBuilder(asOf);
    const population = this.population(query, sql);
    const values = terms.map(
      ({ field, byKey, keyOf }, place) =>
        `${sortValueSql(kind, { field, byKey: byKey && keyOf === null }, asOf)} AS value_${place}`,
    );
    const order = new ComputedKeyOrder(terms);
    // There may be a million: row by row, so that they are never all there as rows.
    const rows = this.connection
      .statement(`SELECT p.n AS n, ${values.join(", ")} FROM (${population}) p`)
      .iterate(...sql.values) as Iterable<Record<string, string | number | null> & { n: number }>;
    for (const row of rows)
      order.add(
        row.n,
        terms.map((_, place) => row[`value_${place}`] ?? null),
      );
    return order.sorted();
  }

  /**
   * The same list by the numbers of who is in it, in order, where that comes from what is known of their keys, which is
   * read in steps; else as it is. Where all that a scope has is listed: what has to be looked at to be found is ordered
   * while it is.
   */
  *ordering(query: ListQuery): Generator<void, ListQuery> {
    const { kind, asOf, order: [term, ...more] = [] } = query;
    // The present is in the live tables.
    if (asOf === null || asOf.present || term === undefined || more.length > 0) return query;
    if (!this.timelines.serves(kind, term)) return query;
    const total = query.numbers?.length ?? (this.wholeScopes(query) === null ? 0 : this.count(query));
    if (total < TIMELINE_RECORDS_MIN || total > TIMELINE_RECORDS_MAX) return query;
    const numbers = yield* this.timelines.ordered(kind, term, query.numbers ?? this.everybody(query), asOf);
    return numbers === null ? query : { ...query, numbers, order: [] };
  }

  /** The record numbers of who matches, in page order. */
  private everybody(query: ListQuery): Uint32Array {
    const sql = new SqlBuilder(query.asOf);
    const text = `SELECT CAST(group_concat(n) AS BLOB) FROM (${this.inPageOrder(query, sql)})`;
    const [[numbers]] = this.connection.statement(text).values(...sql.values) as [[Uint8Array | null]];
    return numbersIn(numbers);
  }

  /** `SELECT … AS n` of who matches, in list order, where SQL has it. */
  private ordered(query: ListQuery, sql: SqlBuilder): string {
    const order = query.order ?? [];
    if (order.length === 0) return this.inPageOrder(query, sql);
    const population = this.population(query, sql);
    const terms = order.map((term) => sortSql(query.kind, term, query.asOf));
    return `SELECT p.n AS n FROM (${population}) p ORDER BY ${[...terms, "p.n"].join(", ")}`;
  }

  /** `SELECT … AS n` of who matches beyond the record number `after`, in page order. */
  inPageOrder(query: ListQuery, sql: SqlBuilder, after = 0): string {
    // SQLite knows the order of two loops in each other, not that of what they come to.
    return this.goesByBlocks(query)
      ? `${this.population(query, sql, { after, byBlocks: true })} ORDER BY b.block, s.n`
      : `${this.population(query, sql, { after })} ORDER BY n`;
  }

  /** `SELECT … AS n` of who matches with a record number in (after, until], in any order. */
  populationWithin(query: ListQuery, sql: SqlBuilder, { after, until }: { after: number; until: number }): string {
    return this.population(query, sql, { after, until, byBlocks: this.goesByBlocks(query) });
  }

  /** The numbers of all that is found by words, whoever sees it. */
  foundNumbers(query: Pick<ListQuery, "search" | "kind" | "asOf" | "reach">): number[] {
    const sql = new SqlBuilder(query.asOf);
    const each = this.found(query, sql).map((found) => `SELECT * FROM (${found})`);
    if (each.length === 0) return [];
    const rows = this.connection.statement(each.join(" INTERSECT ")).values(...sql.values) as Array<[number]>;
    return rows.map(([n]) => n);
  }

  /** Whether the dead are passed over by blocks: in a walk over what is large, an organization or a network. */
  private goesByBlocks(query: ListQuery): boolean {
    if (query.asOf === null || query.numbers !== undefined || query.scopes !== undefined) return false;
    if (isLedByMatches(query) || this.wayThrough(query) !== "walked") return false;
    const containers = this.containers(query);
    const base = containers?.at(-1);
    return containers !== null && (base === undefined || base.scope === "network");
  }

  /**
   * `SELECT … AS n` of who matches; several arms are merged in page order by the ORDER BY of the caller.
   * @param part record numbers in (after, until]; `byBlocks` as of an instant, over a single container: by blocks (`b`)
   * of spans (`s`)
   */
  population(
    query: ListQuery,
    sql: SqlBuilder,
    { after = 0, until = null, byBlocks = false }: { after?: number; until?: number | null; byBlocks?: boolean } = {},
  ): string {
    const { kind, reach, asOf } = query;
    if (query.numbers !== undefined) {
      const beyond = after > 0 ? ` WHERE value > ${sql.bind(after)}` : "";
      return `SELECT value AS n FROM json_each(${sql.bind(`[${query.numbers.join()}]`)})${beyond}`;
    }
    if (query.scopes !== undefined) {
      if (asOf === null)
        throw new Error(`population: who of the ${kind.plural} is in scopes is asked as of an instant`);
      const last = sql.bind(asOf.lastN);
      return query.scopes
        .map(
          (
            scope,
          ) => `SELECT s.n AS n FROM history_spans s WHERE s.scope = ${sql.bind(scope)} AND s.n > ${sql.bind(after)}
            AND s.n <= ${last} AND s.born <= ?1 AND s.died > ?1`,
        )
        .join(" UNION ALL ");
    }
    const containers = this.containers(query);
    if (containers === null) return "SELECT 0 AS n WHERE 0";
    const networkNs = isConfined(query) ? reach.networkNs : null;
    // The innermost container is the smallest; what is around it is checked record by record. Only the organization is
    // not, as of an instant: containers() finds none outside of it, and no record ever leaves it.
    const base = containers.at(-1);
    const checks = containers.slice(0, -1);
    const way = this.wayThrough(query);
    const baseColumn =
      base?.column ?? (way === "walked" ? "organization_n" : liveColumnOf(kind.scopes.network as string));
    // A network that is asked for is one that the caller reaches.
    const confinement = way === "walked" && !containers.some((each) => each.scope === "network") ? networkNs : null;
    // One arm per container, or one over all of them that leaves the sorting to the caller.
    const arms =
      way === "sorted"
        ? [{ container: "c.value", source: `json_each(${sql.bind(JSON.stringify(networkNs))}) c CROSS JOIN ` }]
        : (way === "merged" && networkNs !== null ? networkNs : [base?.n ?? reach.organizationN]).map((n) => ({
            container: sql.bind(n),
            source: "",
          }));
    const byIds = numbersOf(query, sql);
    const found = this.found(query, sql);
    const selects = arms.map(({ container, source }) => {
      const where: string[] = [];
      if (asOf === null) {
        // A plus keeps the planner from an index that is not the one meant.
        where.push(byIds === null ? `l.${baseColumn} = ${container}` : `+l.${baseColumn} = ${container}`);
        if (byIds !== null) where.push(`l.n IN (${byIds})`);
        if (baseColumn !== "organization_n") where.push(`+l.organization_n = ${sql.bind(reach.organizationN)}`);
        for (const check of checks) where.push(`+l.${check.column} = ${sql.bind(check.n)}`);
        if (confinement !== null) where.push(livesInOneOf(kind, sql.bind(JSON.stringify(confinement))));
        if (after > 0) where.push(`l.n > ${sql.bind(after)}`);
        if (until !== null) where.push(`l.n <= ${sql.bind(until)}`);
        for (const each of found) where.push(`l.n IN (${each})`);
        for (const filter of query.filters ?? []) where.push(isLive(kind, filter, sql));
        return `SELECT l.n AS n FROM ${source}${getTableName(kind.table)} l WHERE ${where.join(" AND ")}`;
      }
      where.push(`s.scope = ${container} * 64 + ${kind.code}`, "s.born <= ?1", "s.died > ?1");
      if (byBlocks) {
        const [first, last] = [sql.bind(after), sql.bind(Math.min(asOf.lastN, until ?? asOf.lastN))];
        where.unshift(
          `b.scope = ${container} * 64 + ${kind.code}`,
          `b.block >= (${first} >> ${BLOCK_BITS}) AND b.block <= (${last} >> ${BLOCK_BITS})`,
          "(b.alive > 0 OR b.died > ?1)",
        );
        where.push(
          `s.n >= (b.block << ${BLOCK_BITS}) AND s.n < ((b.block + 1) << ${BLOCK_BITS})`,
          `+s.n > ${first} AND +s.n <= ${last}`,
        );
      } else
        where.push(
          byIds === null
            ? `s.n > ${sql.bind(after)} AND s.n <= ${sql.bind(Math.min(asOf.lastN, until ?? asOf.lastN))}`
            : `s.n IN (${byIds})`,
        );
      if (byIds !== null && after > 0) where.push(`+s.n > ${sql.bind(after)}`);
      if (byIds !== null && until !== null) where.push(`+s.n <= ${sql.bind(until)}`);
      for (const check of checks) where.push(livedIn(sql.bind(check.n * 64 + kind.code)));
      if (confinement !== null) where.push(livedInOneOf(kind, sql.bind(JSON.stringify(confinement))));
      for (const each of found) where.push(`s.n IN (${each})`);
      for (const filter of query.filters ?? []) where.push(was(kind, filter, sql));
      const blocks = byBlocks ? "history_span_blocks b CROSS JOIN " : "";
      return `SELECT s.n AS n FROM ${source}${blocks}history_spans s WHERE ${where.join(" AND ")}`;
    });
    return selects.join(" UNION ALL ");
  }

  /**
   * Who is found by the search, as SQL that selects record numbers: all of these must.
   * @returns none where nothing is searched for
   */
  private found(query: Pick<ListQuery, "search" | "kind" | "asOf" | "reach">, sql: SqlBuilder): string[] {
    const { kind, asOf, reach, search } = query;
    if (search === undefined) return [];
    const called = (words: readonly string[]) =>
      sql.bind(JSON.stringify(this.index.calledBy(reach.organizationN, kind, words, asOf)));
    const words = searchWords(search);
    if (kind.search === undefined) return words.length === 0 ? [] : [`SELECT value FROM json_each(${called(words)})`];
    // What also finds others tells of the words as they are written; what a record is called, without their marks.
    return searchTerms(search).map(
      (term, place) =>
        `${foundBy(sql.bind(term), kind, asOf)} UNION ALL SELECT value FROM json_each(${called([words[place] as string])})`,
    );
  }

  /**
   * How a list goes through what its caller may see: over a single scope (walked), with what is out of reach left out;
   * over the networks in reach, each in page order (merged); or over them one after the other (sorted).
   */
  wayThrough(query: ListQuery): "walked" | "merged" | "sorted" {
    if (query.scopes !== undefined) return "merged";
    const { networkNs } = query.reach;
    const isWithin = Object.values(query.within ?? {}).some((id) => id !== undefined);
    if (!isConfined(query) || networkNs === null || isWithin || isLedByMatches(query)) return "walked";
    // They are few.
    if (mayBeBeside(query.kind)) return "walked";
    if (networkNs.length <= MAX_MERGED_NETWORKS) return "merged";
    return this.countIn(networkNs, query.kind, query.asOf) <= MAX_SORTED_RECORDS ? "sorted" : "walked";
  }

  /** The containers that the population fills: their census is its count. Null where it has to be counted. */
  private wholeScopes(query: ListQuery): readonly number[] | null {
    const containers = this.containers(query);
    if (containers === null) return [];
    if (query.ids !== undefined || query.among !== undefined) return null;
    if ((query.filters ?? []).length > 0 || terms(query).length > 0) return null;
    const networkNs = isConfined(query) ? query.reach.networkNs : null;
    if (containers.length === 0 && networkNs !== null) return mayBeBeside(query.kind) ? null : networkNs;
    if (containers.length === 0) return [query.reach.organizationN];
    // A network that was asked for and may be seen is one whole scope of its organization.
    if (containers.length === 1 && containers[0]?.scope === "network") return [containers[0].n];
    if (containers.length === 1 && networkNs === null && containers[0] !== undefined) return [containers[0].n];
    return null;
  }

  /** How many records of a kind live in these containers together. */
  countIn(containerNs: readonly number[], kind: Pick<AnyKind, "code">, asOf: AsOf | null): number {
    const sql = new SqlBuilder(asOf);
    return this.first(censusSql(containerNs, kind, asOf, sql), sql);
  }

  /** The containers asked for, outermost first; null where one of them can't hold anything that the caller sees. */
  private containers(query: ListQuery): Array<{ scope: ScopeName; n: number; column: string }> | null {
    const containers: Array<{ scope: ScopeName; n: number; column: string }> = [];
    for (const scope of SCOPES) {
      const id = query.within?.[scope];
      if (id === undefined) continue;
      const field = query.kind.scopes[scope];
      if (field === undefined) throw new Error(`population: ${query.kind.plural} do not live in a ${scope}`);
      const n = this.connection.remember(`container ${query.reach.organizationN} ${scope} ${id}`, () =>
        this.containerN(scope, id, query.reach.organizationN),
      );
      if (n === null) return null;
      if (scope === "network" && query.reach.networkNs !== null && !query.reach.networkNs.includes(n)) return null;
      containers.push({ scope, n, column: liveColumnOf(field) });
    }
    return containers;
  }

  /** The number of a container that ever lived in the organization. */
  private containerN(scope: ScopeName, id: string, organizationN: number): number | null {
    const sql = `SELECT r.n FROM history_records r WHERE r.id = +? AND r.kind = +? AND EXISTS (SELECT 1
      FROM history_spans s
        WHERE s.scope = +? * 64 + r.kind AND s.n = r.n)`;
    const row = this.connection.statement(sql).values(id, SCOPE_CODES[scope], organizationN)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  private first(text: string, sql: SqlBuilder): number {
    const row = this.connection.statement(text).values(...sql.values)[0] as [number | null] | undefined;
    return row?.[0] ?? 0;
  }
}

/** Whether the caller's networks matter for this kind: tags, users and the like belong to the organization alone. */
function isConfined(query: ListQuery): boolean {
  return query.reach.networkNs !== null && query.kind.scopes.network !== undefined;
}

/** Whether records of a kind may lie in no network, and are seen by all of the organization then. */
function mayBeBeside(kind: AnyKind): boolean {
  return kind.networkIsOptional === true;
}

/** Whether it is few records, found by what they are asked for, that are looked at, and not who is in a container. */
function isLedByMatches(query: ListQuery): boolean {
  return (
    query.ids !== undefined ||
    query.among !== undefined ||
    terms(query).length > 0 ||
    (query.asOf === null && (query.filters ?? []).some((filter) => !("equals" in filter)))
  );
}

/** A `SELECT` of the record numbers that are asked for by id or number; null where none are. */
function numbersOf({ ids, among }: ListQuery, sql: SqlBuilder): string | null {
  const numbered = among === undefined ? null : `SELECT value FROM json_each(${sql.bind(`[${among.join()}]`)})`;
  if (ids === undefined) return numbered;
  const named = `SELECT r.n FROM json_each(${sql.bind(JSON.stringify(ids))}) j CROSS JOIN history_records r ON r.id = j.value`;
  return numbered === null ? named : `${named} INTERSECT ${numbered}`;
}

function terms(query: ListQuery): string[] {
  return query.search === undefined ? [] : searchTerms(query.search);
}

/** Who is found by a term: by a text that is, or was then, the newest of its record. */
function foundBy(term: string, kind: AnyKind, asOf: AsOf | null): string {
  const until = asOf === null ? "x.key < (((t.key >> 31) + 1) << 31)" : "x.key <= (((t.key >> 31) << 31) | ?1)";
  const known = asOf === null ? "" : " AND (t.key & 2147483647) <= ?1";
  const found = kind.search?.findsItself === true ? "t.key >> 31" : "t.owner_n";
  return `SELECT ${found} FROM history_search CROSS JOIN history_search_texts t ON t.key = history_search.rowid
    WHERE history_search MATCH ${term}${known} AND NOT EXISTS (SELECT 1 FROM history_search_texts x
    WHERE x.key > t.key AND ${until})`;
}

/** Field names come from the resources, never from a caller. */
function isLive(kind: AnyKind, filter: Filter, sql: SqlBuilder): string {
  if ("namesAny" in filter) {
    const targets = `SELECT r.n FROM json_each(${sql.bind(JSON.stringify(filter.namesAny))}) j
      CROSS JOIN history_records r ON r.id = j.value`;
    return `l.n IN (SELECT k.n FROM live_links k WHERE k.target_n IN (${targets}) AND k.relation = '${filter.field}')`;
  }
  if ("names" in filter)
    return `l.n IN (SELECT k.n FROM ${getTableName(kind.table)} k WHERE k.${liveColumnOf(filter.field)} = (SELECT n
      FROM history_records WHERE id = ${sql.bind(filter.names)}))`;
  const value = sql.bind(sqlValue(filter.equals));
  return Object.hasOwn(getTableColumns(kind.table), filter.field)
    ? `+l.${filter.field} = ${value}`
    : `('{' || l.members || '}') ->> '$.${filter.field}' = ${value}`;
}

/** The same of the version of then: no index knows it, so each who lived then is looked at. */
function was(kind: AnyKind, filter: Filter, sql: SqlBuilder): string {
  const version = "FROM history_versions w WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1";
  if ("namesAny" in filter) {
    return `EXISTS (SELECT 1 FROM json_each((SELECT ('{' || ${membersSql(kind, "w")} || '}') -> '$.${filter.field}'
      ${version})) t WHERE t.value IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(filter.namesAny))})))`;
  }
  return `(SELECT ('{' || ${membersSql(kind, "w")} || '}') ->> '$.${filter.field}' ${version}) = ${sql.bind("names" in filter ? filter.names : sqlValue(filter.equals))}`;
}

/** JSON's true and false are 1 and 0 to SQLite. */
function sqlValue(value: string | number | boolean): string | number {
  return typeof value === "boolean" ? Number(value) : value;
}

function livedIn(scope: string): string {
  return `EXISTS (SELECT 1 FROM history_spans e WHERE e.scope = ${scope} AND e.n = s.n AND e.born <= ?1
    AND e.died > ?1)`;
}

/** Whether a record lives in one of many networks, or in none where that means all. */
function livesInOneOf(kind: AnyKind, networkNs: string): string {
  const column = `+l.${liveColumnOf(kind.scopes.network as string)}`;
  const isInOne = `${column} IN (SELECT value FROM json_each(${networkNs}))`;
  return mayBeBeside(kind) ? `(${column} IS NULL OR ${isInOne})` : isInOne;
}

/**
 * Whether a record lived in one of many networks, or in none where that means all. Its own document tells: there may be
 * thousands of scopes to look for it in.
 */
function livedInOneOf(kind: AnyKind, networkNs: string): string {
  const networks = `SELECT value FROM json_each(${networkNs})`;
  const field = kind.scopes.network as string;
  if (field === "id") return `+s.n IN (${networks})`;
  const beside = mayBeBeside(kind) ? " UNION ALL SELECT ''" : "";
  return `(SELECT coalesce(('{' || ${membersSql(kind, "w")} || '}') ->> '$.${field}', '') FROM history_versions w
    WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1) IN (SELECT id FROM history_records
    WHERE n IN (${networks})${beside})`;
}

/** How many records of a kind lived in these containers together. */
function censusSql(
  containerNs: readonly number[],
  kind: Pick<AnyKind, "code">,
  asOf: AsOf | null,
  sql: SqlBuilder,
): string {
  return countsSql(
    containerNs.map((n) => scopeKey(n, kind)),
    asOf,
    sql,
  );
}

/** How many lived in these scopes together. */
function countsSql(scopes: readonly number[], asOf: AsOf | null, sql: SqlBuilder): string {
  const until = asOf === null ? "" : " AND c.sequence <= ?1";
  const census = (scope: string) =>
    `(SELECT c.count FROM history_census c WHERE c.scope = ${scope}${until} ORDER BY c.sequence DESC LIMIT 1)`;
  if (scopes.length === 1) return `SELECT ${census(sql.bind(scopes[0] as number))}`;
  return `SELECT coalesce(sum(${census("j.value")}), 0) FROM json_each(${sql.bind(JSON.stringify(scopes))}) j`;
}

/** What a field is ordered by where versions keep no key of it. */
function computedKey(kind: AnyKind, { field, byKey }: OrderTerm): ComputedKey {
  if (customFieldKey(field) !== null) return { keyOf: textSortKey, isMissingLast: true };
  return { keyOf: (byKey ? ownValue(kind.orderKeys, field) : undefined) ?? null };
}
