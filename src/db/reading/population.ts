// Record selection for lists, live or as of a point in time: SQL for record numbers, and counts. Only the source
// differs, live tables or spans. Independent of how records are rendered.

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

/** Maximum number of networks merged in page order. */
const MAX_MERGED_NETWORKS = 64;
/**
 * Beyond that, up to this many records are sorted. More records are dense enough that a walk over all soon finds a
 * page.
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

  /** Whether the result is known to be empty without a lookup. */
  findsNothing(query: ListQuery): boolean {
    if (query.asOf !== null && query.asOf.sequence === 0) return true;
    if (query.numbers !== undefined) return query.numbers.length === 0;
    if (query.scopes !== undefined) return query.scopes.length === 0;
    if (query.ids !== undefined && query.ids.length === 0) return true;
    if (query.filters?.some((filter) => "namesAny" in filter && filter.namesAny.length === 0)) return true;
    return isConfined(query) && !mayBeOutsideNetworks(query.kind) && query.reach.networkNs?.length === 0;
  }

  /** Total matches regardless of the page: from the census of whole scopes, otherwise by counting. */
  count(query: ListQuery): number {
    if (this.findsNothing(query)) return 0;
    if (query.numbers !== undefined) return query.numbers.length;
    const sql = new SqlBuilder(query.asOf);
    if (query.scopes !== undefined) return this.first(countsSql(query.scopes, query.asOf, sql), sql);
    const scopes = this.completeScopes(query);
    // Live totals are cached between commits. Historical ones are not, as the points in time are too many.
    if (scopes !== null && query.asOf === null) {
      return this.connection.cached(`total ${query.kind.code} ${scopes.join()}`, () =>
        this.first(censusSql(scopes, query.kind, null, sql), sql),
      );
    }
    if (scopes !== null) return this.first(censusSql(scopes, query.kind, query.asOf, sql), sql);
    return this.first(`SELECT count(*) FROM (${this.population(query, sql)})`, sql);
  }

  /** `SELECT … AS n` for one page of matches, in list order. @param limit rows; −1 for all */
  page(query: ListQuery, sql: SqlBuilder, limit: number): string {
    const numbers = this.orderedInMemory(query) ?? ((query.order ?? []).length === 0 ? query.numbers : undefined);
    if (numbers === undefined)
      return `${this.ordered(query, sql)} LIMIT ${sql.bind(limit)} OFFSET ${sql.bind(query.offset)}`;
    const page = numbers.subarray(query.offset, limit < 0 ? undefined : query.offset + limit);
    return `SELECT value AS n FROM json_each(${sql.bind(JSON.stringify(Array.from(page)))}) ORDER BY key`;
  }

  /**
   * All matching record numbers in list order, if the sort keys are not stored with versions; undefined if SQL can
   * sort.
   */
  orderedInMemory(query: ListQuery): Uint32Array | undefined {
    const { kind, asOf } = query;
    const terms = (query.order ?? []).map((term) => ({ ...term, ...computedKey(kind, term) }));
    if (terms.every((term) => term.keyOf === null)) return undefined;
    const sql = new SqlBuilder(asOf);
    const population = this.population(query, sql);
    const values = terms.map(
      ({ field, byKey, keyOf }, index) =>
        `${sortValueSql(kind, { field, byKey: byKey && keyOf === null }, asOf)} AS value_${index}`,
    );
    const order = new ComputedKeyOrder(terms);
    // There may be a million, so iterate instead of loading all rows.
    const rows = this.connection
      .statement(`SELECT p.n AS n, ${values.join(", ")} FROM (${population}) p`)
      .iterate(...sql.values) as Iterable<Record<string, string | number | null> & { n: number }>;
    for (const row of rows)
      order.add(
        row.n,
        terms.map((_, index) => row[`value_${index}`] ?? null),
      );
    return order.sorted();
  }

  /**
   * The list with its order precomputed from sort key timelines, in steps; otherwise unchanged. Serves whole scopes and
   * given numbers only: other selections examine each record anyway, and sort in the process.
   */
  *ordering(query: ListQuery): Generator<void, ListQuery> {
    const { kind, asOf, order: [term, ...more] = [] } = query;
    // The present is in the live tables.
    if (asOf === null || asOf.present || term === undefined || more.length > 0) return query;
    if (!this.timelines.supports(kind, term)) return query;
    const total = query.numbers?.length ?? (this.completeScopes(query) === null ? 0 : this.count(query));
    if (total < TIMELINE_RECORDS_MIN || total > TIMELINE_RECORDS_MAX) return query;
    const numbers = yield* this.timelines.ordered(kind, term, query.numbers ?? this.allNumbers(query), asOf);
    return numbers === null ? query : { ...query, numbers, order: [] };
  }

  /** Record numbers of the matches, in page order. */
  private allNumbers(query: ListQuery): Uint32Array {
    const sql = new SqlBuilder(query.asOf);
    const text = `SELECT CAST(group_concat(n) AS BLOB) FROM (${this.inPageOrder(query, sql)})`;
    const [[numbers]] = this.connection.statement(text).values(...sql.values) as [[Uint8Array | null]];
    return numbersIn(numbers);
  }

  /** `SELECT … AS n` of the matches, in list order, if SQL can sort. */
  private ordered(query: ListQuery, sql: SqlBuilder): string {
    const order = query.order ?? [];
    if (order.length === 0) return this.inPageOrder(query, sql);
    const population = this.population(query, sql);
    const terms = order.map((term) => sortSql(query.kind, term, query.asOf));
    return `SELECT p.n AS n FROM (${population}) p ORDER BY ${[...terms, "p.n"].join(", ")}`;
  }

  /** `SELECT … AS n` of the matches after record number `after`, in page order. */
  inPageOrder(query: ListQuery, sql: SqlBuilder, after = 0): string {
    // SQLite knows the order of nested loops, but not that of computed values.
    return this.skipsByBlocks(query)
      ? `${this.population(query, sql, { after, byBlocks: true })} ORDER BY b.block, s.n`
      : `${this.population(query, sql, { after })} ORDER BY n`;
  }

  /** `SELECT … AS n` of the matches with a record number in (after, until], unordered. */
  populationWithin(query: ListQuery, sql: SqlBuilder, { after, until }: { after: number; until: number }): string {
    return this.population(query, sql, { after, until, byBlocks: this.skipsByBlocks(query) });
  }

  /** Record numbers of all full-text matches, regardless of reach. */
  foundNumbers(query: Pick<ListQuery, "search" | "kind" | "asOf" | "reach">): number[] {
    const sql = new SqlBuilder(query.asOf);
    const each = this.found(query, sql).map((found) => `SELECT * FROM (${found})`);
    if (each.length === 0) return [];
    const rows = this.connection.statement(each.join(" INTERSECT ")).values(...sql.values) as Array<[number]>;
    return rows.map(([n]) => n);
  }

  /** Whether to skip dead records by blocks: for walks over a large scope, an organization or a network. */
  private skipsByBlocks(query: ListQuery): boolean {
    if (query.asOf === null || query.numbers !== undefined || query.scopes !== undefined) return false;
    if (startsFromMatches(query) || this.accessPath(query) !== "walked") return false;
    const containers = this.containers(query);
    const base = containers?.at(-1);
    return containers !== null && (base === undefined || base.scope === "network");
  }

  /**
   * `SELECT … AS n` of the matches; the caller's ORDER BY merges several arms in page order.
   * @param after limits the record numbers to (after, until]; `byBlocks`, for a single container in the past: by blocks
   * (`b`) of spans (`s`)
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
      if (asOf === null) throw new Error(`population: a list of ${kind.plural} by scopes needs a point in time`);
      const last = sql.bind(asOf.lastN);
      return query.scopes
        .map((scope) => {
          const inScope = `s.scope = ${sql.bind(scope)} AND s.n > ${sql.bind(after)} AND s.n <= ${last}`;
          return `SELECT s.n AS n FROM history_spans s WHERE ${inScope} AND s.born <= ?1 AND s.died > ?1`;
        })
        .join(" UNION ALL ");
    }
    const containers = this.containers(query);
    if (containers === null) return "SELECT 0 AS n WHERE 0";
    const networkNs = isConfined(query) ? reach.networkNs : null;
    // The innermost container is the smallest; outer ones are checked per record. In the past the organization needs no
    // check: containers() finds none outside of it, and no record ever leaves it.
    const base = containers.at(-1);
    const checks = containers.slice(0, -1);
    const path = this.accessPath(query);
    const baseColumn =
      base?.column ?? (path === "walked" ? "organization_n" : liveColumnOf(kind.scopes.network as string));
    // A requested network is always within the caller's reach.
    const confinement = path === "walked" && !containers.some((each) => each.scope === "network") ? networkNs : null;
    // One arm per container, or one over all containers, sorted by the caller.
    const armOf = (n: number) => ({ container: sql.bind(n), source: "" });
    const arms =
      path === "sorted"
        ? [{ container: "c.value", source: `json_each(${sql.bind(JSON.stringify(networkNs))}) c CROSS JOIN ` }]
        : (path === "merged" && networkNs !== null ? networkNs : [base?.n ?? reach.organizationN]).map(armOf);
    const byIds = requestedNumbersSql(query, sql);
    const found = this.found(query, sql);
    const selects = arms.map(({ container, source }) => {
      const where: string[] = [];
      if (asOf === null) {
        // The plus keeps the planner from choosing another index.
        where.push(byIds === null ? `l.${baseColumn} = ${container}` : `+l.${baseColumn} = ${container}`);
        if (byIds !== null) where.push(`l.n IN (${byIds})`);
        if (baseColumn !== "organization_n") where.push(`+l.organization_n = ${sql.bind(reach.organizationN)}`);
        for (const check of checks) where.push(`+l.${check.column} = ${sql.bind(check.n)}`);
        if (confinement !== null) where.push(inNetworksSql(kind, sql.bind(JSON.stringify(confinement))));
        if (after > 0) where.push(`l.n > ${sql.bind(after)}`);
        if (until !== null) where.push(`l.n <= ${sql.bind(until)}`);
        for (const each of found) where.push(`l.n IN (${each})`);
        for (const filter of query.filters ?? []) where.push(liveFilterSql(kind, filter, sql));
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
      for (const check of checks) where.push(wasInSql(sql.bind(check.n * 64 + kind.code)));
      if (confinement !== null) where.push(wasInNetworksSql(kind, sql.bind(JSON.stringify(confinement))));
      for (const each of found) where.push(`s.n IN (${each})`);
      for (const filter of query.filters ?? []) where.push(pastFilterSql(kind, filter, sql));
      const blocks = byBlocks ? "history_span_blocks b CROSS JOIN " : "";
      return `SELECT s.n AS n FROM ${source}${blocks}history_spans s WHERE ${where.join(" AND ")}`;
    });
    return selects.join(" UNION ALL ");
  }

  /**
   * SQL for the record numbers that match the search; a record must be in all of them.
   * @returns an empty list without a search
   */
  private found(query: Pick<ListQuery, "search" | "kind" | "asOf" | "reach">, sql: SqlBuilder): string[] {
    const { kind, asOf, reach, search } = query;
    if (search === undefined) return [];
    const matchingNames = (words: readonly string[]) =>
      sql.bind(JSON.stringify(this.index.withNamePrefixes(reach.organizationN, kind, words, asOf)));
    const words = searchWords(search);
    if (kind.search === undefined)
      return words.length === 0 ? [] : [`SELECT value FROM json_each(${matchingNames(words)})`];
    // Full-text search of other strings keeps diacritics; the word index of names folds them.
    return searchTerms(search).map(
      (term, index) =>
        `${matchedBySql(sql.bind(term), kind, asOf)} UNION ALL SELECT value FROM json_each(${matchingNames([words[index] as string])})`,
    );
  }

  /**
   * Access path through the caller's records: over a single scope, skipping what is out of reach (walked); over the
   * networks in reach, merged in page order (merged); or network by network (sorted).
   */
  accessPath(query: ListQuery): "walked" | "merged" | "sorted" {
    if (query.scopes !== undefined) return "merged";
    const { networkNs } = query.reach;
    const isWithin = Object.values(query.within ?? {}).some((id) => id !== undefined);
    if (!isConfined(query) || networkNs === null || isWithin || startsFromMatches(query)) return "walked";
    // Such records are few.
    if (mayBeOutsideNetworks(query.kind)) return "walked";
    if (networkNs.length <= MAX_MERGED_NETWORKS) return "merged";
    return this.countIn(networkNs, query.kind, query.asOf) <= MAX_SORTED_RECORDS ? "sorted" : "walked";
  }

  /** Containers that the list covers completely, so that their census is its count. Null if it must be counted. */
  private completeScopes(query: ListQuery): readonly number[] | null {
    const containers = this.containers(query);
    if (containers === null) return [];
    if (query.ids !== undefined || query.among !== undefined) return null;
    if ((query.filters ?? []).length > 0 || terms(query).length > 0) return null;
    const networkNs = isConfined(query) ? query.reach.networkNs : null;
    if (containers.length === 0 && networkNs !== null) return mayBeOutsideNetworks(query.kind) ? null : networkNs;
    if (containers.length === 0) return [query.reach.organizationN];
    // A requested and visible network is one whole scope of its organization.
    if (containers.length === 1 && containers[0]?.scope === "network") return [containers[0].n];
    if (containers.length === 1 && networkNs === null && containers[0] !== undefined) return [containers[0].n];
    return null;
  }

  /** Number of records of a kind in these containers together. */
  countIn(containerNs: readonly number[], kind: Pick<AnyKind, "code">, asOf: AsOf | null): number {
    const sql = new SqlBuilder(asOf);
    return this.first(censusSql(containerNs, kind, asOf, sql), sql);
  }

  /** Requested containers, outermost first; null if one of them cannot contain anything visible to the caller. */
  private containers(query: ListQuery): Array<{ scope: ScopeName; n: number; column: string }> | null {
    const containers: Array<{ scope: ScopeName; n: number; column: string }> = [];
    for (const scope of SCOPES) {
      const id = query.within?.[scope];
      if (id === undefined) continue;
      const field = query.kind.scopes[scope];
      if (field === undefined) throw new Error(`population: ${query.kind.plural} have no ${scope} scope`);
      const n = this.connection.cached(`container ${query.reach.organizationN} ${scope} ${id}`, () =>
        this.containerN(scope, id, query.reach.organizationN),
      );
      if (n === null) return null;
      if (scope === "network" && query.reach.networkNs !== null && !query.reach.networkNs.includes(n)) return null;
      containers.push({ scope, n, column: liveColumnOf(field) });
    }
    return containers;
  }

  /** Record number of a container that was ever in the organization. */
  private containerN(scope: ScopeName, id: string, organizationN: number): number | null {
    const sql = `SELECT r.n FROM history_records r WHERE r.id = +? AND r.kind = +? AND EXISTS (SELECT 1
      FROM history_spans s
        WHERE s.scope = +? * 64 + r.kind AND s.n = r.n)`;
    const row = this.connection.statement(sql).values(id, SCOPE_CODES[scope], organizationN)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  private first(text: string, sql: SqlBuilder): number {
    const [row] = this.connection.statement(text).values(...sql.values) as Array<[number | null]>;
    return row?.[0] ?? 0;
  }
}

/** Whether the caller's networks restrict this kind: tags, users and the like belong to the organization only. */
function isConfined(query: ListQuery): boolean {
  return query.reach.networkNs !== null && query.kind.scopes.network !== undefined;
}

/** Whether records of a kind may be outside all networks, and then visible to the whole organization. */
function mayBeOutsideNetworks(kind: AnyKind): boolean {
  return kind.networkIsOptional === true;
}

/** Whether the query starts from a few matching records instead of a container's contents. */
function startsFromMatches(query: ListQuery): boolean {
  return (
    query.ids !== undefined ||
    query.among !== undefined ||
    terms(query).length > 0 ||
    (query.asOf === null && (query.filters ?? []).some((filter) => !("equals" in filter)))
  );
}

/** A `SELECT` of record numbers requested by id or number; null if none are. */
function requestedNumbersSql({ ids, among }: ListQuery, sql: SqlBuilder): string | null {
  const numbered = among === undefined ? null : `SELECT value FROM json_each(${sql.bind(`[${among.join()}]`)})`;
  if (ids === undefined) return numbered;
  const named = `SELECT r.n FROM json_each(${sql.bind(JSON.stringify(ids))}) j CROSS JOIN history_records r ON r.id = j.value`;
  return numbered === null ? named : `${named} INTERSECT ${numbered}`;
}

function terms(query: ListQuery): string[] {
  return query.search === undefined ? [] : searchTerms(query.search);
}

/** Record numbers matched by a term in the newest text of the record, now or at ?1. */
function matchedBySql(term: string, kind: AnyKind, asOf: AsOf | null): string {
  const until = asOf === null ? "x.key < (((t.key >> 31) + 1) << 31)" : "x.key <= (((t.key >> 31) << 31) | ?1)";
  const known = asOf === null ? "" : " AND (t.key & 2147483647) <= ?1";
  const found = kind.search?.findsItself === true ? "t.key >> 31" : "t.owner_n";
  return `SELECT ${found} FROM history_search CROSS JOIN history_search_texts t ON t.key = history_search.rowid
    WHERE history_search MATCH ${term}${known} AND NOT EXISTS (SELECT 1 FROM history_search_texts x
    WHERE x.key > t.key AND ${until})`;
}

/** Filter on a live record. Field names come from the resources, never from a caller. */
function liveFilterSql(kind: AnyKind, filter: Filter, sql: SqlBuilder): string {
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

/** The same filter on a past version: not indexed, so every record alive then is tested. */
function pastFilterSql(kind: AnyKind, filter: Filter, sql: SqlBuilder): string {
  const version = "FROM history_versions w WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1";
  if ("namesAny" in filter) {
    return `EXISTS (SELECT 1 FROM json_each((SELECT ('{' || ${membersSql(kind, "w")} || '}') -> '$.${filter.field}'
      ${version})) t WHERE t.value IN (SELECT value FROM json_each(${sql.bind(JSON.stringify(filter.namesAny))})))`;
  }
  return `(SELECT ('{' || ${membersSql(kind, "w")} || '}') ->> '$.${filter.field}' ${version}) = ${sql.bind("names" in filter ? filter.names : sqlValue(filter.equals))}`;
}

/** SQLite represents JSON's true and false as 1 and 0. */
function sqlValue(value: string | number | boolean): string | number {
  return typeof value === "boolean" ? Number(value) : value;
}

function wasInSql(scope: string): string {
  return `EXISTS (SELECT 1 FROM history_spans e WHERE e.scope = ${scope} AND e.n = s.n AND e.born <= ?1
    AND e.died > ?1)`;
}

/** Tests whether a record is in one of many networks, or in none if the kind allows that. */
function inNetworksSql(kind: AnyKind, networkNs: string): string {
  const column = `+l.${liveColumnOf(kind.scopes.network as string)}`;
  const isInOne = `${column} IN (SELECT value FROM json_each(${networkNs}))`;
  return mayBeOutsideNetworks(kind) ? `(${column} IS NULL OR ${isInOne})` : isInOne;
}

/**
 * Tests whether a record was in one of many networks, or in none if the kind allows that. Reads the document: there may
 * be thousands of scopes to search.
 */
function wasInNetworksSql(kind: AnyKind, networkNs: string): string {
  const networks = `SELECT value FROM json_each(${networkNs})`;
  const field = kind.scopes.network as string;
  if (field === "id") return `+s.n IN (${networks})`;
  const outsideNetworks = mayBeOutsideNetworks(kind) ? " UNION ALL SELECT ''" : "";
  return `(SELECT coalesce(('{' || ${membersSql(kind, "w")} || '}') ->> '$.${field}', '') FROM history_versions w
    WHERE w.key <= ((s.n << 31) | ?1) ORDER BY w.key DESC LIMIT 1) IN (SELECT id FROM history_records
    WHERE n IN (${networks})${outsideNetworks})`;
}

/** Number of records of a kind in these containers together. */
function censusSql(
  containerNs: readonly number[],
  kind: Pick<AnyKind, "code">,
  asOf: AsOf | null,
  sql: SqlBuilder,
): string {
  const scopes = containerNs.map((n) => scopeKey(n, kind));
  return countsSql(scopes, asOf, sql);
}

/** Number of records in these scopes together. */
function countsSql(scopes: readonly number[], asOf: AsOf | null, sql: SqlBuilder): string {
  const until = asOf === null ? "" : " AND c.sequence <= ?1";
  const census = (scope: string) =>
    `(SELECT c.count FROM history_census c WHERE c.scope = ${scope}${until} ORDER BY c.sequence DESC LIMIT 1)`;
  if (scopes.length === 1) return `SELECT ${census(sql.bind(scopes[0] as number))}`;
  return `SELECT coalesce(sum(${census("j.value")}), 0) FROM json_each(${sql.bind(JSON.stringify(scopes))}) j`;
}

/** Sort key for a field without a stored key. */
function computedKey(kind: AnyKind, { field, byKey }: OrderTerm): ComputedKey {
  if (customFieldKey(field) !== null) return { keyOf: textSortKey, isMissingLast: true };
  return { keyOf: (byKey ? ownValue(kind.orderKeys, field) : undefined) ?? null };
}
