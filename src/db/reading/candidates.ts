// Small candidate sets that include all matches of a condition, from containers, record numbers or the word index.
// Avoids a scan of all other records.

import { SCOPE_CODES, SCOPES, type ScopeName, scopeKey, valueScope } from "../kind.ts";
import { type Lookup, lookupOf } from "../name-entries.ts";
import { exactTerm } from "../search-text.ts";
import { type Condition, type FieldCondition, type FieldPath, ownFieldOf } from "./condition.ts";
import type { ListQuery } from "./list-query.ts";
import type { Populations } from "./population.ts";
import type { ReadConnection } from "./read-connection.ts";
import { NumberSet, type ResolvedCondition } from "./resolved-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** With more candidates, a full scan is as fast. */
const CANDIDATES_MAX = 10_000;
/** Small enough to stop looking for a smaller set. */
const SMALL_SET_SIZE = 100;
/** Conjuncts tried for a small set: each costs as much as it may find. */
const PARTS_MAX = 10;
/** Maximum scopes merged in one query. */
const MERGED_SCOPES_MAX = 64;
/** Maximum containers looked up one by one. */
const CONTAINERS_MAX = 100;
/** Maximum referenced records for lookups in the full-text index, and their number per query. */
const REFERENCED_MAX = 2_000;
const REFERENCED_PER_QUERY = 100;

export class Candidates {
  private readonly connection: ReadConnection;
  private readonly populations: Populations;

  constructor(connection: ReadConnection, populations: Populations) {
    this.connection = connection;
    this.populations = populations;
  }

  /** A superset of the matches; null if it would be large. */
  of(condition: ResolvedCondition, query: ListQuery): NumberSet | null {
    switch (condition.type) {
      case "all": {
        let smallest: NumberSet | null = null;
        for (const part of condition.parts.slice(0, PARTS_MAX)) {
          const set = this.of(part, query);
          if (set !== null && (smallest === null || set.size < smallest.size)) smallest = set;
          if (smallest !== null && smallest.size <= SMALL_SET_SIZE) break;
        }
        return smallest;
      }
      case "any": {
        const found: number[] = [];
        for (const part of condition.parts) {
          const set = this.of(part, query);
          if (set === null || found.length + set.size > CANDIDATES_MAX) return null;
          for (const n of set.sorted) found.push(n);
        }
        return NumberSet.of(found);
      }
      case "numbers":
        return condition.numbers.size <= CANDIDATES_MAX ? condition.numbers : null;
      case "names": {
        const [path, second] = condition.paths;
        if (condition.ids.size === 0) return NumberSet.NONE;
        const scope = path === undefined || second !== undefined ? null : scopeOf(path, query);
        if (scope !== null) return this.recordsIn(scope, [...condition.ids], query);
        const { entryOf, ids } = condition;
        return entryOf === undefined ? null : this.recordsWithEntries(entryOf, [...ids], query);
      }
      case "field":
        return this.ofField(condition, query);
      default:
        return null;
    }
  }

  /** Moves conditions on containers into `within`, where possible. */
  within(
    condition: ResolvedCondition,
    query: ListQuery,
  ): { readonly condition: ResolvedCondition; readonly query: ListQuery } {
    const parts = condition.type === "all" ? condition.parts : [condition];
    const within = { ...query.within };
    const remaining = parts.filter((part) => {
      const container = requiredContainer(part, query);
      if (container === null || within[container.scope] !== undefined) return true;
      within[container.scope] = container.id;
      return false;
    });
    return { condition: { type: "all", parts: remaining }, query: { ...query, within } };
  }

  /**
   * Disjoint scopes that contain exactly the matches: those of a group. Null if the condition requires more, or
   * if the list covers less than its networks.
   */
  scopesOf(condition: ResolvedCondition, query: ListQuery): number[] | null {
    if (condition.type === "all" && condition.parts.length === 1)
      return this.scopesOf(condition.parts[0] as ResolvedCondition, query);
    const { kind, reach, ids, among, search, filters = [], within = {} } = query;
    const { network, ...others } = within;
    if (ids !== undefined || search !== undefined || filters.length > 0) return null;
    if (among !== undefined || Object.values(others).some((id) => id !== undefined)) return null;
    if (condition.type === "names") {
      const [id, second] = [...condition.ids];
      const isGroup = areSameFields(condition.paths, kind.groups?.names ?? []);
      // A record may refer to one outside the caller's reach.
      if (!isGroup || id === undefined || second !== undefined || network !== undefined || reach.networkNs !== null)
        return null;
      return this.numberOf(id).map((n) => scopeKey(n, kind));
    }
    if (condition.type !== "field" || condition.test.lookup?.match !== "whole") return null;
    const { text } = condition.test.lookup;
    const field = ownFieldOf(condition.path);
    if (field === null || valueScope(kind, field, text, 0) === null) return null;
    const networkNs = this.networksOf(query);
    return networkNs.length > MERGED_SCOPES_MAX
      ? null
      : networkNs.flatMap((n) => valueScope(kind, field, text, n) ?? []);
  }

  /** Networks that a list covers. */
  private networksOf({ reach, within }: ListQuery): readonly number[] {
    const requested = within?.network;
    if (requested !== undefined) {
      const [n = 0] = this.numberOf(requested);
      return reach.networkNs === null || reach.networkNs.includes(n) ? [n] : [];
    }
    if (reach.networkNs !== null) return reach.networkNs;
    const rows = this.connection
      .statement("SELECT DISTINCT n FROM history_spans WHERE scope = +?")
      .values(scopeKey(reach.organizationN, { code: SCOPE_CODES.network })) as Array<[number]>;
    return rows.map(([n]) => n);
  }

  private ofField({ path, test, wordIndex }: FieldCondition, query: ListQuery): NumberSet | null {
    const { lookup } = test;
    if (lookup === undefined) return null;
    if (lookup.match === "whole" && ownFieldOf(path) === "id") return NumberSet.of(this.numberOf(lookup.text));
    const scope = scopeOf(path, query);
    if (scope !== null && lookup.match === "whole") return this.recordsIn(scope, [lookup.text], query);
    const entries = wordIndex === undefined ? null : lookupOf(wordIndex, lookup);
    if (entries === null) return null;
    const until = query.asOf?.sequence ?? 2 ** 31 - 1;
    const { index } = this.populations;
    const found = index.everHadEntries(query.reach.organizationN, query.kind, entries, until, CANDIDATES_MAX);
    return found === null ? null : NumberSet.of(found);
  }

  /** Records in any of these containers. */
  private recordsIn(scope: ScopeName, ids: readonly string[], query: ListQuery): NumberSet | null {
    if (ids.length > CONTAINERS_MAX) return null;
    const { kind, reach, asOf } = query;
    const found: number[] = [];
    for (const id of ids) {
      const of: ListQuery = { kind, reach, asOf, within: { [scope]: id }, limit: 0, offset: 0 };
      if (this.populations.findsNothing(of)) continue;
      if (found.length + this.populations.count(of) > CANDIDATES_MAX) return null;
      const sql = new SqlBuilder(asOf);
      const rows = this.connection.statement(this.populations.inPageOrder(of, sql)).values(...sql.values);
      for (const [n] of rows as Array<[number]>) found.push(n);
    }
    return NumberSet.of(found);
  }

  /** Records that had one of these full-text entries at any time up to the query's transaction. */
  private recordsWithEntries(
    entryOf: (id: string) => string,
    ids: readonly string[],
    query: ListQuery,
  ): NumberSet | null {
    if (ids.length > REFERENCED_MAX) return null;
    const until = query.asOf?.sequence ?? 2 ** 31 - 1;
    const found = new Set<number>();
    for (let start = 0; start < ids.length; start += REFERENCED_PER_QUERY) {
      const terms = ids.slice(start, start + REFERENCED_PER_QUERY).map((id) => exactTerm(entryOf(id)));
      const rows = this.connection
        .statement(
          `SELECT rowid >> 31 FROM history_search WHERE history_search MATCH +?1 AND (rowid & 2147483647) <= +?2
            LIMIT +?3`,
        )
        .values(terms.join(" OR "), until, CANDIDATES_MAX + 1) as Array<[number]>;
      if (rows.length > CANDIDATES_MAX) return null;
      for (const [n] of rows) found.add(n);
      if (found.size > CANDIDATES_MAX) return null;
    }
    return NumberSet.of(found);
  }

  private numberOf(id: string): number[] {
    const rows = this.connection.statement("SELECT n FROM history_records WHERE id = +?").values(id) as Array<[number]>;
    return rows.map(([n]) => n);
  }
}

/** Whether finding candidates examines few records, regardless of the data. */
function isNarrow(condition: Condition, query: ListQuery, countOf: (query: ListQuery) => number): boolean {
  return isCheap(condition, query, countOf) && narrows(condition, query, countOf);
}

/** Whether the condition leads to few candidates. */
function narrows(condition: Condition, query: ListQuery, countOf: (query: ListQuery) => number): boolean {
  switch (condition.type) {
    case "all":
      return condition.parts.some((part) => narrows(part, query, countOf));
    case "any":
      return condition.parts.every((part) => narrows(part, query, countOf));
    case "field": {
      const { lookup } = condition.test;
      if (lookup === undefined) return false;
      const isIn =
        lookup.match === "whole" && (ownFieldOf(condition.path) === "id" || isSmall(scopeOf(condition.path, query)));
      return isIn || isQuick(condition);
    }
    case "names": {
      const [path, second] = condition.paths;
      const isIn = path !== undefined && second === undefined && isSmall(scopeOf(path, query));
      return (
        isIn && condition.nested !== null && narrows(condition.nested, { ...query, kind: condition.kind }, countOf)
      );
    }
    case "named":
      return condition.nested !== null && narrows(condition.nested, { ...query, kind: condition.kind }, countOf);
    default:
      return false;
  }
}

/**
 * Whether the lookups in other records are fast enough for one step.
 * @param countOf number of records of a kind in reach
 */
export function isCheap(condition: Condition, query: ListQuery, countOf: (query: ListQuery) => number): boolean {
  switch (condition.type) {
    case "all":
    case "any":
      return condition.parts.every((part) => isCheap(part, query, countOf));
    case "not":
      return isCheap(condition.part, query, countOf);
    case "names":
    case "named": {
      const { kind, nested } = condition;
      const inner = { kind, reach: query.reach, asOf: query.asOf, limit: 0, offset: 0 };
      return nested !== null && isNarrow(nested, inner, countOf)
        ? true
        : countOf(inner) <= CHEAP_MAX && (nested === null || isCheap(nested, inner, countOf));
    }
    case "found":
    case "changes":
    case "ever":
    case "always":
    case "was":
      return false;
    case "field":
      return !isIntersected(condition);
    default:
      return true;
  }
}

/** Whether one word-index lookup yields the candidates for a value. */
function isQuick(condition: FieldCondition): boolean {
  return entriesOf(condition) !== null && !isIntersected(condition);
}

/** Whether the lookup must intersect several entries, such as the digits of a MAC address. */
function isIntersected(condition: FieldCondition): boolean {
  const entries = entriesOf(condition);
  return entries !== null && "all" in entries && entries.all.length > 1;
}

function entriesOf({ wordIndex, test: { lookup } }: FieldCondition): Lookup | null {
  return wordIndex === undefined || lookup === undefined ? null : lookupOf(wordIndex, lookup);
}

/** Maximum records of another kind to scan within one step. */
const CHEAP_MAX = 500;

/** A network may hold many records of a kind. */
function isSmall(scope: ScopeName | null): boolean {
  return scope !== null && scope !== "network";
}

/** The one container that the condition requires; null if it requires none or several. */
function requiredContainer(
  condition: ResolvedCondition,
  query: ListQuery,
): { readonly scope: ScopeName; readonly id: string } | null {
  if (condition.type === "names") {
    const [path, other] = condition.paths;
    const [id, second] = condition.ids;
    const scope = path === undefined || other !== undefined ? null : scopeOf(path, query);
    return scope === null || id === undefined || second !== undefined ? null : { scope, id };
  }
  if (condition.type !== "field" || condition.test.lookup?.match !== "whole") return null;
  const scope = scopeOf(condition.path, query);
  return scope === null ? null : { scope, id: condition.test.lookup.text };
}

/** Container scope of a field; null if it is not a container's id. */
export function scopeOf(path: FieldPath, { kind }: ListQuery): ScopeName | null {
  const field = ownFieldOf(path);
  return field === null || field === "id" ? null : (SCOPES.find((scope) => kind.scopes[scope] === field) ?? null);
}

/** Whether the paths are exactly these fields of the record itself. */
function areSameFields(paths: readonly FieldPath[], fields: readonly string[]): boolean {
  const names = paths.map(({ source: of, steps }) =>
    of === "members" && steps.length === 1 ? steps[0]?.name : undefined,
  );
  return names.length === fields.length && fields.every((field) => names.includes(field));
}
