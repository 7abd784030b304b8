// Filter of a list by a condition: walks its records in windows of record numbers, each a step of some tens of
// milliseconds, and parses the documents that SQL cannot decide. Holds no transaction between two steps.

import { getTableName } from "drizzle-orm";
import { CUSTOM_FIELDS } from "../../base/custom-field-names.ts";
import { type AnyKind, OPERATION, SCOPES } from "../kind.ts";
import { changedSql, membersSql, observedSql } from "../shape.ts";
import { Candidates, isCheap } from "./candidates.ts";
import type { Bind, Condition } from "./condition.ts";
import { conditionSql, type DocumentSql, type Window } from "./condition-sql.ts";
import { byInhabitants, concatenated } from "./inhabitants.ts";
import { itemSql, versionEndSql } from "./item-sql.ts";
import type { AsOf, ListQuery } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import type { Populations } from "./population.ts";
import type { ReadConnection } from "./read-connection.ts";
import { type Document, holdsFor, NumberSet, type Settled } from "./settled-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Limits per step. */
export interface SieveBounds {
  /** Record numbers per step: some tens of milliseconds for a dense list. */
  readonly windowNumbers: number;
  /** Fewer records are processed in one step, whatever their numbers. */
  readonly oneStepMax: number;
  /** Maximum versions since a time, per record of a list, for testing only changed records at that time. */
  readonly changedShare: number;
}

const BOUNDS: SieveBounds = { windowNumbers: 8_192, oneStepMax: 5_000, changedShare: 0.4 };
/** Versions, or documents to parse, per step. */
const STEP_VERSIONS = 5_000;
/** Maximum records for an answer without steps. */
const AT_ONCE_MAX = 1_000;

/** Dependencies of a sieve. */
export interface SieveSource {
  readonly connection: ReadConnection;
  readonly populations: Populations;
  /** The newest transaction and the highest record number. */
  readonly head: () => { readonly sequence: number; readonly lastN: number };
}

export class Sieve {
  private readonly source: SieveSource;
  private readonly candidates: Candidates;
  private readonly bounds: SieveBounds;

  constructor(source: SieveSource, bounds = BOUNDS) {
    this.source = source;
    this.bounds = bounds;
    this.candidates = new Candidates(source.connection, source.populations);
  }

  /**
   * The list of all records that match the condition.
   * @param query as of a fixed sequence, unless all steps run on one snapshot
   */
  *sifted(query: ListQuery): Generator<void, ListQuery> {
    const plan = yield* this.planned(query);
    return this.as(query, Array.isArray(plan) ? plan : yield* this.matches(plan));
  }

  /** As sifted, in one step; null if too many records would have to be examined. */
  siftedAtOnce(query: ListQuery): ListQuery | null {
    const { condition } = query;
    if (condition === undefined) return query;
    const isSmall = this.source.head().lastN <= AT_ONCE_MAX;
    if (!isSmall && !isCheap(condition, query, (of) => this.source.populations.count(of))) return null;
    const plan = drained(this.planned(query));
    if (Array.isArray(plan)) return this.as(query, plan);
    const { among } = plan.query;
    const isFew = isSmall || (among?.length ?? this.countAround(plan.query)) <= AT_ONCE_MAX;
    return isFew ? this.as(query, drained(this.matches(plan))) : null;
  }

  /**
   * Resolves the record lookups of a condition on rows that are not records.
   * @param of the caller's reach and the point in time
   */
  *settledRow(condition: Condition, of: Pick<ListQuery, "reach" | "asOf">): Generator<void, Settled> {
    switch (condition.type) {
      case "all":
      case "any": {
        const parts: Settled[] = [];
        for (const part of condition.parts) parts.push(yield* this.settledRow(part, of));
        return { type: condition.type, parts };
      }
      case "not":
        return { type: "not", part: yield* this.settledRow(condition.part, of) };
      case "field":
      case "present":
        return condition;
      case "names":
        return yield* this.named(condition, of);
      default:
        throw new Error(`sieve: ${condition.type} asks what only records have`);
    }
  }

  /** Numbers of all records of a list that match its condition, ascending. */
  private *numbers(query: ListQuery): Generator<void, Uint32Array> {
    return yield* this.matches(yield* this.looked(query));
  }

  private as(query: ListQuery, matches: readonly number[] | Uint32Array): ListQuery {
    const { kind, reach, asOf, limit, offset, order = [] } = query;
    const of = { kind, reach, limit, offset, order };
    if (matches instanceof Uint32Array) return { ...of, asOf, numbers: matches };
    const { sequence, lastN } = this.source.head();
    return { ...of, asOf: asOf ?? { sequence, lastN, present: true }, scopes: matches };
  }

  /** Scopes that contain exactly the matches, or the records to examine. */
  private *planned(query: ListQuery): Generator<void, number[] | Looked> {
    const looked = yield* this.looked(query);
    return this.candidates.scopesOf(looked.settled, looked.query) ?? looked;
  }

  private *looked(query: ListQuery): Generator<void, Looked> {
    const { condition, ...rest } = query;
    if (condition === undefined || this.source.populations.findsNothing(rest))
      return { query: rest, settled: { type: "all", parts: [] } };
    const { condition: settled, query: within } = this.candidates.within(yield* this.settled(condition, rest), rest);
    const asOf = this.newest(rest);
    const isNumbered = rest.ids !== undefined || rest.among !== undefined;
    const among = isNumbered ? null : this.candidates.of(settled, { ...within, asOf });
    return { query: among === null ? within : { ...within, among: among.sorted }, settled };
  }

  private *matches({ query, settled: asked }: Looked): Generator<void, Uint32Array> {
    if (query.among?.length === 0 || this.source.populations.findsNothing(query)) return NumberSet.NONE.sorted;
    const newest = () => this.newest(query);
    if (this.isShort(query)) return this.matching({ ...query, asOf: newest() }, asked, EVERYTHING);
    const { among, settled } =
      query.among === undefined
        ? ledByNumbers(yield* byInhabitants(asked, query, this.source.connection, newest))
        : { among: NumberSet.of(query.among), settled: asked };
    const lastN = query.asOf?.lastN ?? this.source.head().lastN;
    const matches: Uint32Array[] = [];
    for (let after = 0; after < lastN; after += this.bounds.windowNumbers) {
      const window = { after, until: Math.min(lastN, after + this.bounds.windowNumbers) };
      const here = among?.within(window);
      if (here?.length === 0) continue;
      const part = { ...query, asOf: newest(), ...(here === undefined ? {} : { among: here }) };
      matches.push(this.matching(part, settled, window));
      yield;
    }
    return concatenated(matches);
  }

  /** Resolves the lookups of a condition outside the record itself. */
  private *settled(condition: Condition, query: ListQuery): Generator<void, Settled> {
    switch (condition.type) {
      case "all":
      case "any": {
        const parts: Settled[] = [];
        for (const part of condition.parts) parts.push(yield* this.settled(part, query));
        return { type: condition.type, parts };
      }
      case "not":
        return { type: "not", part: yield* this.settled(condition.part, query) };
      case "field":
      case "present":
        return condition;
      case "names":
        return yield* this.named(condition, query);
      case "named": {
        const { by, kind, that } = condition;
        const found = yield* this.numbers(of(query, kind, that));
        return { type: "numbers", numbers: yield* this.namedBy(kind, by, found, this.newest(query)) };
      }
      case "found": {
        const numbers = this.source.populations.foundNumbers({
          ...query,
          search: condition.search,
          asOf: this.newest(query),
        });
        return { type: "numbers", numbers: NumberSet.of(numbers) };
      }
      case "changes":
        return yield* this.countedChanges(condition, query);
      case "ever":
      case "always":
        return yield* this.overTime(condition, query);
      case "was":
        return yield* this.atInstant(condition, query);
    }
  }

  /** Referenced records, by id. */
  private *named(
    { places, kind, that, entryOf }: Extract<Condition, { type: "names" }>,
    asking: Pick<ListQuery, "reach" | "asOf">,
  ): Generator<void, Settled> {
    const found = yield* this.numbers(of(asking, kind, that));
    yield;
    return { type: "names", places, ids: new Set(this.idsOf(found)), ...(entryOf === undefined ? {} : { entryOf }) };
  }

  /** While no commit has followed a pinned present, the live tables give the same result faster. */
  private newest({ asOf }: ListQuery): AsOf | null {
    return asOf?.present === true && asOf.sequence === this.source.head().sequence ? null : asOf;
  }

  /** Whether few enough records for one step. */
  private isShort(query: ListQuery): boolean {
    return query.ids !== undefined || (query.among?.length ?? this.countAround(query)) <= this.bounds.oneStepMax;
  }

  /** Upper bound of the list's size: the conditions ignored here only reduce it. */
  private countAround({ kind, reach, asOf, within }: ListQuery): number {
    const innermost = SCOPES.findLast((scope) => within?.[scope] !== undefined);
    return this.source.populations.count({
      kind,
      reach: innermost === undefined ? { ...reach, networkNs: null } : reach,
      asOf,
      ...(innermost === undefined ? {} : { within: { [innermost]: within?.[innermost] } }),
      limit: 0,
      offset: 0,
    });
  }

  private matching(query: ListQuery, settled: Settled, window: Window): Uint32Array {
    const { kind, asOf } = query;
    const sql = new SqlBuilder(asOf);
    const population = this.source.populations.populationWithin(query, sql, window);
    if (settled.type === "all" && settled.parts.length === 0) return this.allOf(population, sql);
    const bind: Bind = (value) => sql.bind(value);
    const { joins, verdict } = verdictSql(kind, asOf, (document) =>
      conditionSql(settled, document, {
        bind,
        window,
        asOf: (sequence, expression) => thenSql(query, sequence, expression, bind),
      }),
    );
    // LIMIT stops SQLite from computing the verdict for each use.
    const text = `SELECT CAST(group_concat(iif(verdict = 1, n, NULL)) AS BLOB), CAST(group_concat(iif(verdict = 1, NULL, n)) AS BLOB)
      FROM (SELECT p.n AS n, ${verdict} AS verdict FROM (${population}) p${joins} LIMIT -1) WHERE verdict <> 0`;
    const [sure, unsure] = this.source.connection.statement(text).values(...sql.values)[0] as [
      Uint8Array | null,
      Uint8Array | null,
    ];
    const found = numbersIn(sure);
    if (unsure === null) return found.sort();
    const looked = this.lookedAt(query, settled, numbersIn(unsure));
    return NumberSet.of([...found, ...looked]).sorted;
  }

  private allOf(population: string, sql: SqlBuilder): Uint32Array {
    const [numbers] = this.source.connection
      .statement(`SELECT CAST(group_concat(n) AS BLOB) FROM (${population})`)
      .values(...sql.values)[0] as [Uint8Array | null];
    return numbersIn(numbers).sort();
  }

  /** The subset of these records whose documents match. */
  private *lookedAt(query: ListQuery, settled: Settled, ns: Uint32Array): Generator<number> {
    const { kind, asOf } = query;
    const documentAt = (n: number, sequence: number) => this.versionOf(query, n, sequence);
    const { item, joins } = itemSql(kind, asOf, false);
    for (let start = 0; start < ns.length; start += STEP_VERSIONS) {
      const sql = new SqlBuilder(asOf);
      const numbers = sql.bind(`[${ns.subarray(start, start + STEP_VERSIONS).join()}]`);
      const rows = this.source.connection
        .statement(`SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(${numbers})) p${joins}`)
        .values(...sql.values) as Array<[number, string]>;
      for (const [n, text] of rows) if (holdsFor(settled, n, JSON.parse(text) as Document, documentAt)) yield n;
    }
  }

  /** A record as of another transaction, if the caller reaches it today. */
  private versionOf(query: ListQuery, n: number, sequence: number): Document | null {
    const row = this.source.connection
      .statement(
        `SELECT '{' || ${membersSql(query.kind, "v")} || '}' FROM history_versions v
          WHERE v.key > (+?1 << 31) AND v.key <= ((+?1 << 31) | +?2) ORDER BY v.key DESC LIMIT 1`,
      )
      .values(n, sequence)[0] as [string | null] | undefined;
    const document = row?.[0] == null ? null : (JSON.parse(row[0]) as Document);
    return document !== null && this.reaches(query, document) ? document : null;
  }

  private reaches({ kind, reach }: ListQuery, document: Document): boolean {
    const field = kind.scopes.network;
    if (reach.networkNs === null || field === undefined) return true;
    const networkId = (document[field] ?? null) as string | null;
    return networkId === null ? kind.networkIsOptional === true : this.reachedIds(reach.networkNs).has(networkId);
  }

  private reachedIds(networkNs: readonly number[]): ReadonlySet<string> {
    return this.source.connection.remember(
      `ids of ${networkNs.join()}`,
      () => new Set(this.idsOf(Uint32Array.from(networkNs))),
    );
  }

  private idsOf(ns: Uint32Array): string[] {
    const rows = this.source.connection
      .statement("SELECT r.id FROM json_each(?) j CROSS JOIN history_records r ON r.n = j.value")
      .values(`[${ns.join()}]`) as Array<[string]>;
    return rows.map(([id]) => id);
  }

  /** Records that these records refer to in a field. */
  private *namedBy(kind: AnyKind, by: string, ns: Uint32Array, asOf: AsOf | null): Generator<void, NumberSet> {
    const owners = new Set<number>();
    for (let start = 0; start < ns.length; start += STEP_VERSIONS) {
      const sql = new SqlBuilder(asOf);
      const numbers = sql.bind(`[${ns.subarray(start, start + STEP_VERSIONS).join()}]`);
      const owner = ({ members }: DocumentSql) => `('{' || ${members} || '}') ->> '$.${by}'`;
      const { joins, verdict } = verdictSql(kind, asOf, owner, "value");
      const rows = this.source.connection
        .statement(
          `SELECT r.n FROM (SELECT DISTINCT ${verdict} AS id FROM (SELECT value AS n FROM json_each(${numbers})) p${joins}) o
            CROSS JOIN history_records r ON r.id = o.id`,
        )
        .values(...sql.values) as Array<[number]>;
      for (const [n] of rows) owners.add(n);
      yield;
    }
    return NumberSet.of(owners);
  }

  private *countedChanges(
    { after, field, test }: Extract<Condition, { type: "changes" }>,
    query: ListQuery,
  ): Generator<void, Settled> {
    const counts = new Map<number, number>();
    // Every version changes these fields without listing them.
    const isOfEvery = field === "updated_at" || field === "valid_from";
    // Versions list custom fields one by one.
    const named = field === CUSTOM_FIELDS ? `"${CUSTOM_FIELDS}.` : `"${field}"`;
    for (const versions of this.versionsAfter(query, after, () => "0")) {
      for (const { n, isUpdate, isReached, changed } of versions)
        if (isUpdate && isReached && (isOfEvery || changed?.includes(named) === true))
          counts.set(n, (counts.get(n) ?? 0) + 1);
      yield;
    }
    const those = NumberSet.of([...counts].flatMap(([n, count]) => (test(count) ? [n] : [])));
    if (!test(0)) return { type: "numbers", numbers: those };
    const changed = NumberSet.of(counts.keys());
    return { type: "changed", changed, those, otherwise: { type: "all", parts: [] } };
  }

  /** A record without a version in the period did not change, so its state at the end applies to the whole period. */
  private *overTime(
    { type, after, that }: Extract<Condition, { type: "ever" | "always" }>,
    query: ListQuery,
  ): Generator<void, Settled> {
    const settled = yield* this.settled(that, query);
    const isAlways = type === "always";
    /** By record: whether it matched in every examined version, or in any. */
    const verdicts = new Map<number, boolean>();
    const add = (n: number, is: boolean) => {
      const before = verdicts.get(n) ?? isAlways;
      verdicts.set(n, isAlways ? before && is : before || is);
    };
    const verdictOf = (document: DocumentSql, bind: Bind) => wholeSql(settled, document, bind);
    for (const versions of this.versionsAfter(query, after, verdictOf)) {
      for (const { n, sequence, isReached, verdict } of versions)
        add(n, isReached && (verdict === 2 ? this.heldAt(query, settled, n, sequence) : verdict === 1));
      yield;
    }
    // Changed records also count as of the start.
    const changed = NumberSet.of(verdicts.keys());
    const held = yield* this.heldAmong(query, settled, changed, after);
    for (const n of changed.sorted) add(n, held.has(n));
    const those = NumberSet.of([...verdicts].flatMap(([n, is]) => (is ? [n] : [])));
    return { type: "changed", changed, those, otherwise: settled };
  }

  /** If little has changed since, unchanged records need no read of past versions: their current state applies. */
  private *atInstant({ as, that }: Extract<Condition, { type: "was" }>, query: ListQuery): Generator<void, Settled> {
    const settled = yield* this.settled(that, query);
    const until = query.asOf?.sequence ?? this.source.head().sequence;
    if (this.isManyAfter(query, as, until)) return { type: "was", as, that: settled };
    const numbers = new Set<number>();
    for (const versions of this.versionsAfter(query, as, () => "0")) {
      for (const { n } of versions) numbers.add(n);
      yield;
    }
    const changed = NumberSet.of(numbers);
    return {
      type: "changed",
      changed,
      those: yield* this.heldAmong(query, settled, changed, as),
      otherwise: settled,
    };
  }

  private isManyAfter(query: ListQuery, after: number, until: number): boolean {
    const most = Math.ceil(this.bounds.changedShare * (query.ids?.length ?? this.countAround(query)));
    const [count] = this.source.connection
      .statement(
        `SELECT count(*) FROM (SELECT 1 FROM history_versions INDEXED BY history_versions_by_sequence
          WHERE (key & 2147483647) > +?1 AND (key & 2147483647) <= +?2 LIMIT +?3)`,
      )
      .values(after, until, most)[0] as [number];
    return count >= most;
  }

  /** The subset of these records that matched as of a transaction. */
  private *heldAmong(
    query: ListQuery,
    settled: Settled,
    among: NumberSet,
    sequence: number,
  ): Generator<void, NumberSet> {
    const held: number[] = [];
    for (let start = 0; start < among.size; start += STEP_VERSIONS) {
      const sql = new SqlBuilder(null);
      const bind: Bind = (value) => sql.bind(value);
      const numbers = bind(`[${among.sorted.subarray(start, start + STEP_VERSIONS).join()}]`);
      const verdict = thenSql(query, sequence, (document) => wholeSql(settled, document, bind), bind);
      const rows = this.source.connection
        .statement(
          `SELECT n, verdict FROM (SELECT p.n AS n, ${verdict} AS verdict FROM (SELECT value AS n FROM json_each(${numbers})) p
            LIMIT -1) WHERE verdict IS NOT 0`,
        )
        .values(...sql.values) as Array<[number, 1 | null]>;
      for (const [n, verdict] of rows) if (verdict === 1 || this.heldAt(query, settled, n, sequence)) held.push(n);
      yield;
    }
    return NumberSet.of(held);
  }

  private heldAt(query: ListQuery, settled: Settled, n: number, sequence: number): boolean {
    const document = this.versionOf(query, n, sequence);
    return document !== null && holdsFor(settled, n, document, () => null);
  }

  /**
   * Versions of a kind after a transaction, up to that of the list, in bounded steps.
   * @param verdictOf an expression over a version's document
   */
  private *versionsAfter(
    query: ListQuery,
    after: number,
    verdictOf: (document: DocumentSql, bind: Bind) => string,
  ): Generator<VersionVerdict[]> {
    const { kind, reach, asOf } = query;
    const until = asOf?.sequence ?? this.source.head().sequence;
    const field = kind.scopes.network;
    for (let from = after; from < until; ) {
      const to = this.stepEnd(from, until);
      const sql = new SqlBuilder(null);
      const bind: Bind = (value) => sql.bind(value);
      const members = "d.members";
      const isReached =
        reach.networkNs === null || field === undefined
          ? "1"
          : `coalesce(('{' || ${members} || '}') ->> '$.${field}' IN (SELECT value FROM json_each(${bind(JSON.stringify([...this.reachedIds(reach.networkNs)]))})), ${kind.networkIsOptional === true ? 1 : 0})`;
      const verdict = verdictOf({ n: "(d.key >> 31)", members, observed: null, end: "NULL" }, bind);
      const rows = this.source.connection
        .statement(
          `SELECT d.key >> 31, d.key & 2147483647, d.operation, ${isReached}, d.changed,
            CASE d.operation WHEN ${OPERATION.Deleted} THEN 0 ELSE coalesce(${verdict}, 2) END
            FROM (SELECT v.key, v.operation, ${changedSql(kind, "v")} AS changed, ${membersSql(kind, "v")} AS members
              FROM history_versions v INDEXED BY history_versions_by_sequence
              CROSS JOIN history_records r ON r.n = v.key >> 31
              WHERE (v.key & 2147483647) > ${bind(from)} AND (v.key & 2147483647) <= ${bind(to)} AND r.kind = ${kind.code}
              LIMIT -1) d`,
        )
        .values(...sql.values) as Array<[number, number, number, number, string | null, number]>;
      yield rows.map(([n, sequence, operation, reached, changed, verdict]) => ({
        n,
        sequence,
        isUpdate: operation === OPERATION.Updated,
        isReached: reached === 1,
        changed,
        verdict,
      }));
      from = to;
    }
  }

  /** Last transaction of a step: one step's worth of versions, or a single transaction. */
  private stepEnd(after: number, until: number): number {
    const row = this.source.connection
      .statement(
        `SELECT key & 2147483647 FROM history_versions INDEXED BY history_versions_by_sequence
          WHERE (key & 2147483647) > +?1 AND (key & 2147483647) <= +?2
          ORDER BY key & 2147483647 LIMIT 1 OFFSET ${STEP_VERSIONS}`,
      )
      .values(after, until)[0] as [number] | undefined;
    return row === undefined ? until : Math.max(after + 1, row[0] - 1);
  }
}

/** A list, and the condition to test on each record; `among` if only a few can match. */
interface Looked {
  readonly query: ListQuery;
  readonly settled: Settled;
}

/** Runs all steps at once. */
function drained<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** If the matches are within sets of numbers: the smallest set, and the rest of the condition. */
function ledByNumbers(settled: Settled): { readonly among?: NumberSet; readonly settled: Settled } {
  if (settled.type !== "all") return { settled };
  const numbered = settled.parts.filter((part) => part.type === "numbers");
  const [least] = numbered.toSorted((a, b) => a.numbers.size - b.numbers.size);
  if (least === undefined) return { settled };
  return { among: least.numbers, settled: { type: "all", parts: settled.parts.filter((part) => part !== least) } };
}

interface VersionVerdict {
  readonly n: number;
  readonly sequence: number;
  readonly isUpdate: boolean;
  readonly isReached: boolean;
  /** JSON array of field names. */
  readonly changed: string | null;
  /** 1 or 0; 2 if only the document can decide. */
  readonly verdict: number;
}

const EVERYTHING: Window = { after: 0, until: 2 ** 32 };

/** Condition on a version's own document, whatever the record. */
function wholeSql(settled: Settled, document: DocumentSql, bind: Bind): string {
  return conditionSql(settled, document, { bind, window: EVERYTHING, asOf: () => "NULL" });
}

/** All matching records of a kind, for the same caller and point in time. */
function of({ reach, asOf }: Pick<ListQuery, "reach" | "asOf">, kind: AnyKind, that: Condition | null): ListQuery {
  return { kind, reach, asOf, limit: 0, offset: 0, ...(that === null ? {} : { condition: that }) };
}

/**
 * An expression over the newest version of p.n, and the joins to p that it needs.
 * @param as a verdict is 1 or 0, or 2 for NULL; a value is returned unchanged
 */
function verdictSql(
  kind: AnyKind,
  asOf: AsOf | null,
  expression: (document: DocumentSql) => string,
  as: "verdict" | "value" = "verdict",
): { readonly joins: string; readonly verdict: string } {
  const known = (sql: string) => (as === "value" ? sql : `coalesce(${sql}, 2)`);
  const isObserved = kind.observed.length > 0;
  const inForce = "(SELECT o.observed FROM observations o WHERE o.n = p.n)";
  if (asOf === null)
    return {
      joins: ` CROSS JOIN ${getTableName(kind.table)} d ON d.n = p.n`,
      verdict: known(
        expression({ n: "p.n", members: "d.members", observed: isObserved ? inForce : null, end: "NULL" }),
      ),
    };
  const document: DocumentSql = {
    n: "p.n",
    members: "d.members",
    observed: !isObserved ? null : asOf.present ? `coalesce(${inForce}, d.observed)` : "d.observed",
    end: asOf.present ? "NULL" : versionEndSql(asOf),
  };
  // Unpacks once for all tests: a subquery with LIMIT is not flattened.
  return {
    joins: "",
    verdict: `(SELECT ${known(expression(document))} FROM (SELECT ${membersSql(kind, "v")} AS members,
      ${observedSql("v")} AS observed
      FROM history_versions v WHERE v.key <= ((p.n << 31) | ?1)
      ORDER BY v.key DESC LIMIT 1) d)`,
  };
}

/** The same as of another transaction: 0 if the record did not exist or was out of reach. */
function thenSql(
  { kind, reach }: ListQuery,
  sequence: number,
  expression: (document: DocumentSql) => string,
  bind: Bind,
): string {
  const members = "d.members";
  const field = kind.scopes.network;
  const isOut =
    reach.networkNs === null || field === undefined
      ? ""
      : `WHEN ('{' || ${members} || '}') ->> '$.${field}' NOT IN (SELECT r.id FROM json_each(${bind(JSON.stringify(reach.networkNs))}) j CROSS JOIN history_records r ON r.n = j.value) THEN 0`;
  const verdict = expression({ n: "p.n", members, observed: null, end: "NULL" });
  return `(CASE (SELECT CASE WHEN d.operation = ${OPERATION.Deleted} THEN 0 ${isOut} ELSE coalesce(${verdict}, 2) END
    FROM (SELECT v.operation, ${membersSql(kind, "v")} AS members
      FROM history_versions v WHERE v.key > (p.n << 31) AND v.key <= ((p.n << 31) | ${bind(sequence)}) ORDER BY v.key DESC LIMIT 1) d)
    WHEN 1 THEN 1 WHEN 2 THEN NULL ELSE 0 END)`;
}
