// Single records as of one transaction, by full-text search, id or container, limited to what a caller can access.
// Reports each lookup to a trace, so that later changes to the result can be detected. Renders nothing.

import { type AnyKind, type Kind, parseMembers, type RecordBase, scopeKey } from "../db/kind.ts";
import type { ReadConnection } from "../db/reading/read-connection.ts";
import { byKindSql, membersSql } from "../db/shape.ts";

/** Visibility: an organization, or some of its networks. */
export interface Visibility {
  readonly organizationN: number;
  /** Ids of networks; null for the entire organization. */
  readonly networkIds: readonly string[] | null;
}

/** Every record searched here belongs to a network. */
export type RecordOfNetwork = RecordBase & { readonly network_id: string };

/** A record with its number. */
export interface NumberedRecord<R extends RecordBase = RecordBase> {
  readonly n: number;
  readonly kind: AnyKind;
  readonly record: R;
}

/** Collects the dependencies of a result. */
export interface Trace {
  /** A full-text query. */
  term(query: string): void;
  record(n: number, kind: AnyKind): void;
  /** Records in a scope (kind.ts, scopeKey). */
  members(scope: number): void;
  /** Number of records in a scope: relevant only below `low` or above `high`. */
  count(scope: number, low: number, high: number): void;
}

/** Range of counts that are equivalent. */
interface CountRange {
  readonly low: number;
  readonly high: number;
}

/** Newest version of record `r` up to transaction ?1. */
const VERSION = `CROSS JOIN history_versions v ON v.key = (SELECT w.key FROM history_versions w
  WHERE w.key <= ((r.n << 31) | ?1) AND w.key > (r.n << 31) ORDER BY w.key DESC LIMIT 1)`;

/** SQL that tests whether version `v` of record `r` is in one of these networks: a parameter with their ids. */
export function inNetworksSql(kinds: Iterable<AnyKind>, networkIds: string): string {
  return `('{' || ${membersOf(kinds)} || '}') ->> '$.network_id' IN (SELECT value FROM json_each(+${networkIds}))`;
}

/** Parameters of a visibility: the organization, and the networks unless all are visible. */
export function visibilityValues({ organizationN, networkIds }: Visibility): (string | number)[] {
  return networkIds === null ? [organizationN] : [organizationN, JSON.stringify(networkIds)];
}

/** Members of version `v` of record `r`. @param kinds its possible kinds */
function membersOf(kinds: Iterable<AnyKind>): string {
  return byKindSql(kinds, "r.kind", "v", membersSql);
}

export class RecordsAt {
  private readonly connection: ReadConnection;
  private readonly sequence: number;
  private readonly visibility: Visibility;
  private readonly trace: Trace | null;
  private readonly known = new Map<string, NumberedRecord | null>();

  /** @param sequence the transaction to read as of */
  constructor(connection: ReadConnection, sequence: number, visibility: Visibility, trace: Trace | null = null) {
    this.connection = connection;
    this.sequence = sequence;
    this.visibility = visibility;
    this.trace = trace;
  }

  /**
   * Records whose full-text entry matched then, by record number.
   * @param query FTS5 query built from search-text.ts terms
   */
  matching<R extends RecordOfNetwork>(kinds: readonly Kind<R>[], query: string, limit: number): NumberedRecord<R>[] {
    this.trace?.term(query);
    const text = `SELECT r.n, r.kind, ${membersOf(kinds)}
      FROM (SELECT history_search.rowid AS key FROM history_search WHERE history_search MATCH +?2
        AND (history_search.rowid & 2147483647) <= ?1) t
      CROSS JOIN history_records r ON r.n = t.key >> 31 ${VERSION}
      WHERE r.kind IN (${kinds.map((kind) => kind.code).join(", ")})
        AND NOT EXISTS (SELECT 1 FROM history_search_texts x WHERE x.key > t.key AND x.key <= ((r.n << 31) | ?1))
        AND v.members IS NOT NULL AND ${this.visible(kinds, "?4")} LIMIT +?3`;
    return this.load(kinds, text, [this.sequence, query, limit, ...visibilityValues(this.visibility)]);
  }

  /** Records by id, without those that did not exist or are not visible to the caller. */
  byIds<R extends RecordOfNetwork>(
    kind: Kind<R>,
    ids: Iterable<string | null | undefined>,
  ): Map<string, NumberedRecord<R>> {
    const wanted = new Set<string>();
    for (const id of ids) if (typeof id === "string") wanted.add(id);
    const missing = [...wanted].filter((id) => !this.known.has(id));
    if (missing.length > 0) {
      for (const id of missing) this.known.set(id, null);
      const text = `SELECT r.n, r.kind, ${membersOf([kind])} FROM json_each(+?2) j
        CROSS JOIN history_records r ON r.id = j.value ${VERSION}
        WHERE v.members IS NOT NULL AND ${this.visible([kind], "?3")}`;
      this.load([kind], text, [this.sequence, JSON.stringify(missing), ...visibilityValues(this.visibility)]);
    }
    const found = new Map<string, NumberedRecord<R>>();
    for (const id of wanted) {
      const known = this.known.get(id);
      if (known?.kind === kind) found.set(id, known as NumberedRecord<R>);
    }
    return found;
  }

  /** Visible records of a kind in a container, in page order. */
  childrenOf<R extends RecordOfNetwork>(kind: Kind<R>, containerN: number, limit: number): NumberedRecord<R>[] {
    return this.queryChildren(kind, containerN, "", [], limit);
  }

  /** Like childrenOf, only records with one of these values in a field. */
  childrenWith<R extends RecordOfNetwork>(
    kind: Kind<R>,
    containerN: number,
    field: keyof R & string,
    values: readonly (string | number)[],
  ): NumberedRecord<R>[] {
    const condition = ` AND ('{' || ${membersOf([kind])} || '}') ->> '$.${field}' IN (SELECT value FROM json_each(+?4))`;
    return this.queryChildren(kind, containerN, condition, [JSON.stringify(values)], values.length);
  }

  /**
   * Number of records of a kind in each container.
   * @param rangeOf the range of counts equivalent to a container's own
   */
  counts(
    kind: AnyKind,
    containerNs: Iterable<number>,
    rangeOf: (count: number, containerN: number) => CountRange,
  ): Map<number, number> {
    const ns = [...new Set(containerNs)];
    const counts = new Map<number, number>();
    if (ns.length === 0) return counts;
    const text = `SELECT j.value, coalesce((SELECT c.count FROM history_census c
      WHERE c.scope = j.value * 64 + ${kind.code} AND c.sequence <= ?1 ORDER BY c.sequence DESC LIMIT 1), 0)
      FROM json_each(+?2) j`;
    const rows = this.connection.statement(text).values(this.sequence, JSON.stringify(ns)) as [number, number][];
    for (const [n, count] of rows) {
      counts.set(n, count);
      const { low, high } = rangeOf(count, n);
      this.trace?.count(scopeKey(n, kind), low, high);
    }
    return counts;
  }

  /** Record number of an id, whether it existed then or not; null if the id was never used. */
  numberOf(id: string): number | null {
    const [row] = this.connection.statement("SELECT n FROM history_records WHERE id = +?").values(id) as [number][];
    return row?.[0] ?? null;
  }

  private queryChildren<R extends RecordOfNetwork>(
    kind: Kind<R>,
    containerN: number,
    condition: string,
    values: readonly string[],
    limit: number,
  ): NumberedRecord<R>[] {
    const scope = scopeKey(containerN, kind);
    this.trace?.members(scope);
    const text = `SELECT r.n, r.kind, ${membersOf([kind])} FROM history_spans s
      CROSS JOIN history_records r ON r.n = s.n ${VERSION}
      WHERE s.scope = +?2 AND s.born <= ?1 AND s.died > ?1 AND v.members IS NOT NULL${condition}
        AND ${this.visible([kind], `?${4 + values.length}`)} ORDER BY s.n LIMIT +?3`;
    return this.load([kind], text, [this.sequence, scope, limit, ...values, ...visibilityValues(this.visibility)]);
  }

  private load<R extends RecordOfNetwork>(
    kinds: readonly Kind<R>[],
    text: string,
    values: readonly (string | number)[],
  ): NumberedRecord<R>[] {
    const found: NumberedRecord<R>[] = [];
    const rows = this.connection.statement(text).values(...values) as [number, number, string][];
    for (const [n, code, members] of rows) {
      const kind = kinds.find((each) => each.code === code);
      if (kind === undefined) continue;
      const record = parseMembers<R>(members);
      const known = (this.known.get(record.id) as NumberedRecord<R> | null | undefined) ?? { n, kind, record };
      this.known.set(record.id, known);
      this.trace?.record(n, kind);
      found.push(known);
    }
    return found;
  }

  /** Tests whether the caller sees record `r` in version `v`. @param first the first parameter of visibilityValues */
  private visible(kinds: readonly AnyKind[], first: string): string {
    const isOwn = `EXISTS (SELECT 1 FROM history_spans o WHERE o.scope = +${first} * 64 + r.kind AND o.n = r.n)`;
    if (this.visibility.networkIds === null) return isOwn;
    return `${isOwn} AND ${inNetworksSql(kinds, `?${Number(first.slice(1)) + 1}`)}`;
  }
}
