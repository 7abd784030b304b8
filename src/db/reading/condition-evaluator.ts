// List filter for a condition: walks the list's records in windows of record numbers, each a step of some tens of
// milliseconds, and parses the documents that SQL cannot decide. Holds no transaction between two steps.

import { getTableName } from "drizzle-orm";
import { CUSTOM_FIELDS } from "../../base/custom-field-names.ts";
import { runSteps } from "../../base/steps.ts";
import { type AnyKind, OPERATION, SCOPES } from "../kind.ts";
import { changedSql, membersSql, observedSql } from "../shape.ts";
import { Candidates, isCheap } from "./candidates.ts";
import type { Bind, Condition } from "./condition.ts";
import { conditionSql, type DocumentSql, type Window } from "./condition-sql.ts";
import { concatenate, resolveContainers } from "./container-conditions.ts";
import { ChangesOfRecords, type FieldChanges } from "./field-changes.ts";
import { itemSql, versionEndSql } from "./item-sql.ts";
import type { AsOf, ListQuery } from "./list-query.ts";
import { numbersIn } from "./number-list.ts";
import type { Populations } from "./population.ts";
import type { ReadConnection } from "./read-connection.ts";
import { type Document, holdsFor, NumberSet, type ResolvedCondition } from "./resolved-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** Limits per step. */
export interface EvaluatorBounds {
  /** Record numbers per step: some tens of milliseconds for a dense list. */
  readonly windowNumbers: number;
  /** Fewer records are processed in one step, regardless of their numbers. */
  readonly singleStepMax: number;
  /** Maximum versions since a time, per record of a list, for testing only changed records at that time. */
  readonly changedShare: number;
}

const BOUNDS: EvaluatorBounds = { windowNumbers: 8_192, singleStepMax: 5_000, changedShare: 0.4 };
/** Versions, or documents to parse, per step. */
const STEP_VERSIONS = 5_000;
/** Maximum records for a response without steps. */
const AT_ONCE_MAX = 1_000;

/** Dependencies of an evaluator. */
export interface EvaluatorSource {
  readonly connection: ReadConnection;
  readonly populations: Populations;
  readonly fieldChanges: FieldChanges;
  /** The newest transaction and the highest record number. */
  readonly head: () => { readonly sequence: number; readonly lastN: number };
}

export class ConditionEvaluator {
  private readonly source: EvaluatorSource;
  private readonly candidates: Candidates;
  private readonly bounds: EvaluatorBounds;

  constructor(source: EvaluatorSource, bounds = BOUNDS) {
    this.source = source;
    this.bounds = bounds;
    this.candidates = new Candidates(source.connection, source.populations);
  }

  /**
   * The list of all records that match the condition.
   * @param query as of a fixed sequence, unless all steps run on one snapshot
   */
  *filtered(query: ListQuery): Generator<void, ListQuery> {
    const plan = yield* this.planFor(query);
    return this.as(query, Array.isArray(plan) ? plan : yield* this.matches(plan));
  }

  /** Like `filtered`, in one step; null if too many records would have to be examined. */
  filteredAtOnce(query: ListQuery): ListQuery | null {
    const { condition } = query;
    if (condition === undefined) return query;
    const isSmall = this.source.head().lastN <= AT_ONCE_MAX;
    if (!isSmall && !isCheap(condition, query, (list) => this.source.populations.count(list))) return null;
    const plan = runSteps(this.planFor(query));
    if (Array.isArray(plan)) return this.as(query, plan);
    const { among } = plan.query;
    const isFew = isSmall || (among?.length ?? this.upperBound(plan.query)) <= AT_ONCE_MAX;
    return isFew ? this.as(query, runSteps(this.matches(plan))) : null;
  }

  /**
   * Resolves the record lookups of a condition on rows that are not records.
   * @param list the caller's reach and the point in time
   */
  *resolvedRow(condition: Condition, list: Pick<ListQuery, "reach" | "asOf">): Generator<void, ResolvedCondition> {
    switch (condition.type) {
      case "all":
      case "any": {
        const parts: ResolvedCondition[] = [];
        for (const part of condition.parts) parts.push(yield* this.resolvedRow(part, list));
        return { type: condition.type, parts };
      }
      case "not":
        return { type: "not", part: yield* this.resolvedRow(condition.part, list) };
      case "field":
      case "present":
        return condition;
      case "names":
        return yield* this.named(condition, list);
      default:
        throw new Error(`condition evaluator: ${condition.type} applies to records only`);
    }
  }

  /** Numbers of all records of a list that match its condition, ascending. */
  private *numbers(query: ListQuery): Generator<void, Uint32Array> {
    return yield* this.matches(yield* this.narrowed(query));
  }

  private as(query: ListQuery, matches: readonly number[] | Uint32Array): ListQuery {
    const { kind, reach, asOf, limit, offset, order = [] } = query;
    const list = { kind, reach, limit, offset, order };
    if (matches instanceof Uint32Array) return { ...list, asOf, numbers: matches };
    const { sequence, lastN } = this.source.head();
    return { ...list, asOf: asOf ?? { sequence, lastN, present: true }, scopes: matches };
  }

  /** Scopes that contain exactly the matches, or the records to examine. */
  private *planFor(query: ListQuery): Generator<void, number[] | NarrowedList> {
    const narrowed = yield* this.narrowed(query);
    return this.candidates.scopesOf(narrowed.resolved, narrowed.query) ?? narrowed;
  }

  private *narrowed(query: ListQuery): Generator<void, NarrowedList> {
    const { condition, ...rest } = query;
    if (condition === undefined || this.source.populations.findsNothing(rest))
      return { query: rest, resolved: { type: "all", parts: [] } };
    const { condition: resolved, query: within } = this.candidates.within(yield* this.resolved(condition, rest), rest);
    const asOf = this.newest(rest);
    const isNumbered = rest.ids !== undefined || rest.among !== undefined;
    const among = isNumbered ? null : this.candidates.of(resolved, { ...within, asOf });
    return { query: among === null ? within : { ...within, among: among.sorted }, resolved };
  }

  private *matches({ query, resolved: initial }: NarrowedList): Generator<void, Uint32Array> {
    if (query.among?.length === 0 || this.source.populations.findsNothing(query)) return NumberSet.NONE.sorted;
    const newest = () => this.newest(query);
    if (this.fitsOneStep(query)) return this.matchesIn({ ...query, asOf: newest() }, initial, EVERYTHING);
    const { among, resolved } =
      query.among === undefined
        ? splitNumbers(yield* resolveContainers(initial, query, this.source.connection, newest))
        : { among: NumberSet.of(query.among), resolved: initial };
    const lastN = query.asOf?.lastN ?? this.source.head().lastN;
    const matches: Uint32Array[] = [];
    for (let after = 0; after < lastN; after += this.bounds.windowNumbers) {
      const window = { after, until: Math.min(lastN, after + this.bounds.windowNumbers) };
      const inWindow = among?.within(window);
      if (inWindow?.length === 0) continue;
      const part = { ...query, asOf: newest(), ...(inWindow === undefined ? {} : { among: inWindow }) };
      matches.push(this.matchesIn(part, resolved, window));
      yield;
    }
    return concatenate(matches);
  }

  /** Resolves the lookups of a condition outside the record itself. */
  private *resolved(condition: Condition, query: ListQuery): Generator<void, ResolvedCondition> {
    switch (condition.type) {
      case "all":
      case "any": {
        const parts: ResolvedCondition[] = [];
        for (const part of condition.parts) parts.push(yield* this.resolved(part, query));
        return { type: condition.type, parts };
      }
      case "not":
        return { type: "not", part: yield* this.resolved(condition.part, query) };
      case "field":
      case "present":
        return condition;
      case "names":
        return yield* this.named(condition, query);
      case "named": {
        const { by, kind, nested } = condition;
        const found = yield* this.numbers(list(query, kind, nested));
        return { type: "numbers", numbers: yield* this.referencedBy(kind, by, found, this.newest(query)) };
      }
      case "found": {
        const found = { ...query, search: condition.search, asOf: this.newest(query) };
        return { type: "numbers", numbers: NumberSet.of(this.source.populations.foundNumbers(found)) };
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
    { paths, kind, nested, entryOf }: Extract<Condition, { type: "names" }>,
    context: Pick<ListQuery, "reach" | "asOf">,
  ): Generator<void, ResolvedCondition> {
    const found = yield* this.numbers(list(context, kind, nested));
    yield;
    return { type: "names", paths, ids: new Set(this.idsOf(found)), ...(entryOf === undefined ? {} : { entryOf }) };
  }

  /** While no commit has followed a pinned present, the live tables give the same result faster. */
  private newest({ asOf }: ListQuery): AsOf | null {
    return asOf?.present === true && asOf.sequence === this.source.head().sequence ? null : asOf;
  }

  /** Whether few enough records for one step. */
  private fitsOneStep(query: ListQuery): boolean {
    return query.ids !== undefined || (query.among?.length ?? this.upperBound(query)) <= this.bounds.singleStepMax;
  }

  /** Upper bound of the list's size: the conditions ignored here only reduce it. */
  private upperBound({ kind, reach, asOf, within }: ListQuery): number {
    const innermost = SCOPES.findLast((scope) => within?.[scope] !== undefined);
    const place =
      innermost === undefined
        ? { reach: { ...reach, networkNs: null } }
        : { reach, within: { [innermost]: within?.[innermost] } };
    return this.source.populations.count({ kind, asOf, ...place, limit: 0, offset: 0 });
  }

  private matchesIn(query: ListQuery, resolved: ResolvedCondition, window: Window): Uint32Array {
    const { kind, asOf } = query;
    const sql = new SqlBuilder(asOf);
    const population = this.source.populations.populationWithin(query, sql, window);
    if (resolved.type === "all" && resolved.parts.length === 0) return this.allOf(population, sql);
    const bind: Bind = (value) => sql.bind(value);
    const { joins, verdict } = verdictSql(kind, asOf, (document) =>
      conditionSql(resolved, document, {
        bind,
        window,
        asOf: (sequence, expression) => pastSql(query, sequence, expression, bind),
      }),
    );
    // LIMIT stops SQLite from computing the verdict for each use.
    const text = `SELECT CAST(group_concat(iif(verdict = 1, n, NULL)) AS BLOB), CAST(group_concat(iif(verdict = 1, NULL, n)) AS BLOB)
      FROM (SELECT p.n AS n, ${verdict} AS verdict FROM (${population}) p${joins} LIMIT -1) WHERE verdict <> 0`;
    const [[sure, unsure]] = this.source.connection.statement(text).values(...sql.values) as [[Numbers, Numbers]];
    const found = numbersIn(sure);
    if (unsure === null) return found.sort();
    const narrowed = this.matchingDocuments(query, resolved, numbersIn(unsure));
    return NumberSet.of([...found, ...narrowed]).sorted;
  }

  private allOf(population: string, sql: SqlBuilder): Uint32Array {
    const [numbers] = this.source.connection
      .statement(`SELECT CAST(group_concat(n) AS BLOB) FROM (${population})`)
      .values(...sql.values)[0] as [Uint8Array | null];
    return numbersIn(numbers).sort();
  }

  /** The subset of these records whose documents match. */
  private *matchingDocuments(query: ListQuery, resolved: ResolvedCondition, ns: Uint32Array): Generator<number> {
    const { kind, asOf } = query;
    const documentAt = (n: number, sequence: number) => this.versionOf(query, n, sequence);
    const { item, joins } = itemSql(kind, asOf, false);
    for (let start = 0; start < ns.length; start += STEP_VERSIONS) {
      const sql = new SqlBuilder(asOf);
      const numbers = sql.bind(`[${ns.subarray(start, start + STEP_VERSIONS).join()}]`);
      const rows = this.source.connection
        .statement(`SELECT p.n, ${item} FROM (SELECT value AS n FROM json_each(${numbers})) p${joins}`)
        .values(...sql.values) as Array<[number, string]>;
      for (const [n, text] of rows) if (holdsFor(resolved, n, JSON.parse(text) as Document, documentAt)) yield n;
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
    return this.source.connection.cached(
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
  private *referencedBy(kind: AnyKind, by: string, ns: Uint32Array, asOf: AsOf | null): Generator<void, NumberSet> {
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
  ): Generator<void, ResolvedCondition> {
    const { changesIndex: index } = query.kind;
    const until = query.asOf?.sequence ?? this.source.head().sequence;
    const counts =
      index?.field === field
        ? yield* this.source.fieldChanges.counts(index, { after, until })
        : yield* this.examinedChanges(field, after, query);
    const matching = NumberSet.of(counts.numbers(test));
    if (!test(0)) return { type: "numbers", numbers: matching };
    const changed = NumberSet.of(counts.numbers(() => true));
    return { type: "changed", changed, matching, otherwise: { type: "all", parts: [] } };
  }

  private *examinedChanges(field: string, after: number, query: ListQuery): Generator<void, ChangesOfRecords> {
    const counts = new ChangesOfRecords();
    // Every version changes these fields without listing them.
    const isInEveryVersion = field === "updated_at" || field === "valid_from";
    // Versions list custom fields one by one.
    const named = field === CUSTOM_FIELDS ? `"${CUSTOM_FIELDS}.` : `"${field}"`;
    for (const versions of this.versionsAfter(query, after, () => "0")) {
      for (const { n, isUpdate, isReached, changed } of versions)
        if (isUpdate && isReached && (isInEveryVersion || changed?.includes(named) === true)) counts.add(n);
      yield;
    }
    return counts;
  }

  /** A record without a version in the period did not change, so its state at the end applies to the whole period. */
  private *overTime(
    { type, after, nested }: Extract<Condition, { type: "ever" | "always" }>,
    query: ListQuery,
  ): Generator<void, ResolvedCondition> {
    const resolved = yield* this.resolved(nested, query);
    const isAlways = type === "always";
    /** By record: whether it matched in every examined version, or in any. */
    const verdicts = new Map<number, boolean>();
    const add = (n: number, isMatch: boolean) => {
      const before = verdicts.get(n) ?? isAlways;
      verdicts.set(n, isAlways ? before && isMatch : before || isMatch);
    };
    const verdictOf = (document: DocumentSql, bind: Bind) => versionConditionSql(resolved, document, bind);
    for (const versions of this.versionsAfter(query, after, verdictOf)) {
      for (const { n, sequence, isReached, verdict } of versions)
        add(n, isReached && (verdict === 2 ? this.matchedAt(query, resolved, n, sequence) : verdict === 1));
      yield;
    }
    // Changed records also count as of the start.
    const changed = NumberSet.of(verdicts.keys());
    const matched = yield* this.matchedAmong(query, resolved, changed, after);
    for (const n of changed.sorted) add(n, matched.has(n));
    const matching = NumberSet.of([...verdicts].flatMap(([n, isMatch]) => (isMatch ? [n] : [])));
    return { type: "changed", changed, matching, otherwise: resolved };
  }

  /** If little has changed since, unchanged records need no read of past versions: their current state applies. */
  private *atInstant(
    { sequence: as, nested }: Extract<Condition, { type: "was" }>,
    query: ListQuery,
  ): Generator<void, ResolvedCondition> {
    const resolved = yield* this.resolved(nested, query);
    const until = query.asOf?.sequence ?? this.source.head().sequence;
    if (this.hasManyVersions(query, as, until)) return { type: "was", sequence: as, nested: resolved };
    const numbers = new Set<number>();
    for (const versions of this.versionsAfter(query, as, () => "0")) {
      for (const { n } of versions) numbers.add(n);
      yield;
    }
    const changed = NumberSet.of(numbers);
    const matching = yield* this.matchedAmong(query, resolved, changed, as);
    return { type: "changed", changed, matching, otherwise: resolved };
  }

  private hasManyVersions(query: ListQuery, after: number, until: number): boolean {
    const maxCount = Math.ceil(this.bounds.changedShare * (query.ids?.length ?? this.upperBound(query)));
    const [count] = this.source.connection
      .statement(
        `SELECT count(*) FROM (SELECT 1 FROM history_versions INDEXED BY history_versions_by_sequence
          WHERE (key & 2147483647) > +?1 AND (key & 2147483647) <= +?2 LIMIT +?3)`,
      )
      .values(after, until, maxCount)[0] as [number];
    return count >= maxCount;
  }

  /** The subset of these records that matched as of a transaction. */
  private *matchedAmong(
    query: ListQuery,
    resolved: ResolvedCondition,
    among: NumberSet,
    sequence: number,
  ): Generator<void, NumberSet> {
    const matched: number[] = [];
    for (let start = 0; start < among.size; start += STEP_VERSIONS) {
      const sql = new SqlBuilder(null);
      const bind: Bind = (value) => sql.bind(value);
      const numbers = bind(`[${among.sorted.subarray(start, start + STEP_VERSIONS).join()}]`);
      const verdict = pastSql(query, sequence, (document) => versionConditionSql(resolved, document, bind), bind);
      const rows = this.source.connection
        .statement(
          `SELECT n, verdict FROM (SELECT p.n AS n, ${verdict} AS verdict FROM (SELECT value AS n FROM json_each(${numbers})) p
            LIMIT -1) WHERE verdict IS NOT 0`,
        )
        .values(...sql.values) as Array<[number, 1 | null]>;
      for (const [n, verdict] of rows)
        if (verdict === 1 || this.matchedAt(query, resolved, n, sequence)) matched.push(n);
      yield;
    }
    return NumberSet.of(matched);
  }

  private matchedAt(query: ListQuery, resolved: ResolvedCondition, n: number, sequence: number): boolean {
    const document = this.versionOf(query, n, sequence);
    return document !== null && holdsFor(resolved, n, document, () => null);
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

/** Comma-separated record numbers; null for none. */
type Numbers = Uint8Array | null;

/** A list, and the condition to test on each record; `among` if only a few can match. */
interface NarrowedList {
  readonly query: ListQuery;
  readonly resolved: ResolvedCondition;
}

/** If the matches are within sets of numbers: the smallest set, and the rest of the condition. */
function splitNumbers(resolved: ResolvedCondition): {
  readonly among?: NumberSet;
  readonly resolved: ResolvedCondition;
} {
  if (resolved.type !== "all") return { resolved };
  const numbered = resolved.parts.filter((part) => part.type === "numbers");
  const [smallest] = numbered.toSorted((a, b) => a.numbers.size - b.numbers.size);
  if (smallest === undefined) return { resolved };
  const parts = resolved.parts.filter((part) => part !== smallest);
  return { among: smallest.numbers, resolved: { type: "all", parts } };
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

/** Condition on a version's own document, regardless of the record. */
function versionConditionSql(resolved: ResolvedCondition, document: DocumentSql, bind: Bind): string {
  return conditionSql(resolved, document, { bind, window: EVERYTHING, asOf: () => "NULL" });
}

/** All matching records of a kind, for the same caller and point in time. */
function list({ reach, asOf }: Pick<ListQuery, "reach" | "asOf">, kind: AnyKind, nested: Condition | null): ListQuery {
  return { kind, reach, asOf, limit: 0, offset: 0, ...(nested === null ? {} : { condition: nested }) };
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
  const wrap = (sql: string) => (as === "value" ? sql : `coalesce(${sql}, 2)`);
  const isObserved = kind.observed.length > 0;
  const currentObserved = "(SELECT o.observed FROM observations o WHERE o.n = p.n)";
  if (asOf === null) {
    const observed = isObserved ? currentObserved : null;
    const verdict = wrap(expression({ n: "p.n", members: "d.members", observed, end: "NULL" }));
    return { joins: ` CROSS JOIN ${getTableName(kind.table)} d ON d.n = p.n`, verdict };
  }
  const document: DocumentSql = {
    n: "p.n",
    members: "d.members",
    observed: !isObserved ? null : asOf.present ? `coalesce(${currentObserved}, d.observed)` : "d.observed",
    end: asOf.present ? "NULL" : versionEndSql(asOf),
  };
  // Unpacks once for all tests: a subquery with LIMIT is not flattened.
  return {
    joins: "",
    verdict: `(SELECT ${wrap(expression(document))} FROM (SELECT ${membersSql(kind, "v")} AS members,
      ${observedSql("v")} AS observed
      FROM history_versions v WHERE v.key <= ((p.n << 31) | ?1)
      ORDER BY v.key DESC LIMIT 1) d)`,
  };
}

/** The same as of another transaction: 0 if the record did not exist or was out of reach. */
function pastSql(
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
