// Small candidate sets that include all matches of a condition, from containers, record numbers or the word index.
// Avoids a scan of all other records.

import { type Lookup, lookupOf } from "../called-words.ts";
import { SCOPE_CODES, SCOPES, type ScopeName, scopeKey, valueScope } from "../kind.ts";
import { wholeTerm } from "../search-text.ts";
import { type Condition, type FieldCondition, type FieldPlace, ownFieldOf } from "./condition.ts";
import type { ListQuery } from "./list-query.ts";
import type { Populations } from "./population.ts";
import type { ReadConnection } from "./read-connection.ts";
import { NumberSet, type Settled } from "./settled-condition.ts";
import { SqlBuilder } from "./sql-builder.ts";

/** With more candidates, a full scan is as good. */
const CANDIDATES_MAX = 10_000;
/** Small enough to stop looking for a smaller set. */
const FEW = 100;
/** Conjuncts tried for a small set: each costs as much as it may find. */
const PARTS_MAX = 10;
/** Maximum scopes merged side by side. */
const MERGED_SCOPES_MAX = 64;
/** Maximum containers looked up one by one. */
const CONTAINERS_MAX = 100;
/** Maximum referenced records for lookups in the full-text index, and their number per query. */
const NAMED_MAX = 2_000;
const NAMED_AT_ONCE = 100;

export class Candidates {
  private readonly connection: ReadConnection;
  private readonly populations: Populations;

  constructor(connection: ReadConnection, populations: Populations) {
    this.connection = connection;
    this.populations = populations;
  }

  /** A superset of the matches; null if it would be large. */
  of(condition: Settled, query: ListQuery): NumberSet | null {
    switch (condition.type) {
      case "all": {
        let least: NumberSet | null = null;
        for (const part of condition.parts.slice(0, PARTS_MAX)) {
          const set = this.of(part, query);
          if (set !== null && (least === null || set.size < least.size)) least = set;
          if (least !== null && least.size <= FEW) break;
        }
        return least;
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
        const [place, second] = condition.places;
        if (condition.ids.size === 0) return NumberSet.NONE;
        const scope = place === undefined || second !== undefined ? null : scopeOf(place, query);
        if (scope !== null) return this.livingIn(scope, [...condition.ids], query);
        const { entryOf, ids } = condition;
        return entryOf === undefined ? null : this.everHad(entryOf, [...ids], query);
      }
      case "field":
        return this.ofField(condition, query);
      default:
        return null;
    }
  }

  /** Moves conditions on containers into `within`, where possible. */
  within(condition: Settled, query: ListQuery): { readonly condition: Settled; readonly query: ListQuery } {
    const parts = condition.type === "all" ? condition.parts : [condition];
    const within = { ...query.within };
    const left = parts.filter((part) => {
      const container = containerIn(part, query);
      if (container === null || within[container.scope] !== undefined) return true;
      within[container.scope] = container.id;
      return false;
    });
    return { condition: { type: "all", parts: left }, query: { ...query, within } };
  }

  /**
   * Disjoint scopes that contain exactly the matches: those of a group. Null if the condition asks more than that, or
   * if the list covers less than its networks.
   */
  scopesOf(condition: Settled, query: ListQuery): number[] | null {
    if (condition.type === "all" && condition.parts.length === 1)
      return this.scopesOf(condition.parts[0] as Settled, query);
    const { kind, reach, ids, among, search, filters = [], within = {} } = query;
    const { network, ...others } = within;
    if (ids !== undefined || search !== undefined || filters.length > 0) return null;
    if (among !== undefined || Object.values(others).some((id) => id !== undefined)) return null;
    if (condition.type === "names") {
      const [id, second] = [...condition.ids];
      const isGroup = isSameNames(condition.places, kind.groups?.names ?? []);
      // A record may refer to one outside the caller's reach.
      if (!isGroup || id === undefined || second !== undefined || network !== undefined || reach.networkNs !== null)
        return null;
      return this.numberOf(id).map((n) => scopeKey(n, kind));
    }
    if (condition.type !== "field" || condition.test.lookup?.is !== "whole") return null;
    const { text } = condition.test.lookup;
    const field = ownFieldOf(condition.place);
    if (field === null || valueScope(kind, field, text, 0) === null) return null;
    const networkNs = this.networksOf(query);
    return networkNs.length > MERGED_SCOPES_MAX
      ? null
      : networkNs.flatMap((n) => valueScope(kind, field, text, n) ?? []);
  }

  /** Networks that a list covers. */
  private networksOf({ reach, within }: ListQuery): readonly number[] {
    const asked = within?.network;
    if (asked !== undefined) {
      const [n = 0] = this.numberOf(asked);
      return reach.networkNs === null || reach.networkNs.includes(n) ? [n] : [];
    }
    if (reach.networkNs !== null) return reach.networkNs;
    const rows = this.connection
      .statement("SELECT DISTINCT n FROM history_spans WHERE scope = +?")
      .values(scopeKey(reach.organizationN, { code: SCOPE_CODES.network })) as Array<[number]>;
    return rows.map(([n]) => n);
  }

  private ofField({ place, test, called }: FieldCondition, query: ListQuery): NumberSet | null {
    const { lookup } = test;
    if (lookup === undefined) return null;
    if (lookup.is === "whole" && ownFieldOf(place) === "id") return NumberSet.of(this.numberOf(lookup.text));
    const scope = scopeOf(place, query);
    if (scope !== null && lookup.is === "whole") return this.livingIn(scope, [lookup.text], query);
    const entries = called === undefined ? null : lookupOf(called, lookup);
    if (entries === null) return null;
    const until = query.asOf?.sequence ?? 2 ** 31 - 1;
    const found = this.populations.index.everCalled(
      query.reach.organizationN,
      query.kind,
      entries,
      until,
      CANDIDATES_MAX,
    );
    return found === null ? null : NumberSet.of(found);
  }

  /** Records in any of these containers. */
  private livingIn(scope: ScopeName, ids: readonly string[], query: ListQuery): NumberSet | null {
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
  private everHad(entryOf: (id: string) => string, ids: readonly string[], query: ListQuery): NumberSet | null {
    if (ids.length > NAMED_MAX) return null;
    const until = query.asOf?.sequence ?? 2 ** 31 - 1;
    const found = new Set<number>();
    for (let start = 0; start < ids.length; start += NAMED_AT_ONCE) {
      const terms = ids.slice(start, start + NAMED_AT_ONCE).map((id) => wholeTerm(entryOf(id)));
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

/** Whether finding candidates examines few records, whatever the data. */
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
        lookup.is === "whole" && (ownFieldOf(condition.place) === "id" || isSmall(scopeOf(condition.place, query)));
      return isIn || isQuick(condition);
    }
    case "names": {
      const [place, second] = condition.places;
      const isIn = place !== undefined && second === undefined && isSmall(scopeOf(place, query));
      return isIn && condition.that !== null && narrows(condition.that, { ...query, kind: condition.kind }, countOf);
    }
    case "named":
      return condition.that !== null && narrows(condition.that, { ...query, kind: condition.kind }, countOf);
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
      const { kind, that } = condition;
      const inner = { kind, reach: query.reach, asOf: query.asOf, limit: 0, offset: 0 };
      return that !== null && isNarrow(that, inner, countOf)
        ? true
        : countOf(inner) <= CHEAP_MAX && (that === null || isCheap(that, inner, countOf));
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

function entriesOf({ called, test: { lookup } }: FieldCondition): Lookup | null {
  return called === undefined || lookup === undefined ? null : lookupOf(called, lookup);
}

/** Maximum records of another kind to scan within one step. */
const CHEAP_MAX = 500;

/** A network may hold very many records of a kind. */
function isSmall(scope: ScopeName | null): boolean {
  return scope !== null && scope !== "network";
}

/** The one container that the condition requires; null if it requires none or several. */
function containerIn(condition: Settled, query: ListQuery): { readonly scope: ScopeName; readonly id: string } | null {
  if (condition.type === "names") {
    const [place, other] = condition.places;
    const [id, second] = condition.ids;
    const scope = place === undefined || other !== undefined ? null : scopeOf(place, query);
    return scope === null || id === undefined || second !== undefined ? null : { scope, id };
  }
  if (condition.type !== "field" || condition.test.lookup?.is !== "whole") return null;
  const scope = scopeOf(condition.place, query);
  return scope === null ? null : { scope, id: condition.test.lookup.text };
}

/** Container scope of a field; null if it is not a container's id. */
export function scopeOf(place: FieldPlace, { kind }: ListQuery): ScopeName | null {
  const field = ownFieldOf(place);
  return field === null || field === "id" ? null : (SCOPES.find((scope) => kind.scopes[scope] === field) ?? null);
}

/** Whether the places are exactly these fields of the record itself. */
function isSameNames(places: readonly FieldPlace[], fields: readonly string[]): boolean {
  const names = places.map(({ of, steps }) => (of === "members" && steps.length === 1 ? steps[0]?.name : undefined));
  return names.length === fields.length && fields.every((field) => names.includes(field));
}
