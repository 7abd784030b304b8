// The ledger in commit order: transactions and their versions, as visible to a caller. Reads in bounded steps, so that
// a walk over years blocks no other request. Does not render records.

import type { Instant } from "../../base/instant.ts";
import type { VersionOperation } from "../change-counts.ts";
import { type AnyKind, OPERATION, operationOf } from "../kind.ts";
import { writtenSql } from "../packing.ts";
import { byKindSql, changedSql, membersSql } from "../shape.ts";
import { Activity, type ActivityStep, type TransactionRange } from "./activity.ts";
import type { Reach } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";
import { SqlBuilder } from "./sql-builder.ts";

export interface RecordChange {
  readonly n: number;
  readonly sequence: number;
  readonly kind: AnyKind;
  readonly id: string;
  readonly operation: VersionOperation;
  /** Null for creations and deletions. */
  readonly changedFields: readonly string[] | null;
}

/** A version's transaction and changed fields. */
export type VersionStamp = Pick<RecordChange, "n" | "sequence" | "changedFields">;

export interface LedgerEntry {
  readonly sequence: number;
  readonly at: Instant;
  readonly actorType: "User" | "ApiKey" | "Discovery" | "System";
  readonly actorId: string | null;
  /** Name at that time. */
  readonly actorName: string;
  readonly requestId: string | null;
  /** Command that wrote it: `host.update`. */
  readonly source: string;
  /** Reason given by the author. */
  readonly reason: string | null;
}

/** Filter by reach, kinds and location. */
export interface ChangeQuery {
  readonly reach: Reach;
  readonly kinds: readonly AnyKind[];
  /** Only records in this network, or the network itself. */
  readonly networkN?: number;
  /** Only this host and its parts. */
  readonly hostN?: number;
  /** Only versions of this record, and versions that refer to it or replaced a version that did. */
  readonly referenced?: ReferencedRecord;
  /** Requires the record to be in scope just before or after the version; otherwise at any time. */
  readonly isInScopeThen?: true;
}

/** A record, and the field of other kinds that refers to it. */
export interface ReferencedRecord {
  readonly n: number;
  readonly id: string;
  readonly kinds: readonly AnyKind[];
  readonly field: string;
}

/** Result of one step of a walk. */
export interface ChangeStep {
  /** In commit order; empty if none is visible to the caller. */
  readonly changes: readonly RecordChange[];
  /** Last transaction whose versions were all examined. */
  readonly through: number;
}

/** Transactions examined per step. */
const STEP_TRANSACTIONS = 1_000;
/** Changes returned per step. */
const STEP_CHANGES = 1_000;
/** Versions examined per step, visible or not; fewer if each must be checked against many networks. */
const STEP_VERSIONS = 10_000;
const STEP_CHECKS = 100_000;

export class ChangeLog {
  private readonly connection: ReadConnection;

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /**
   * Versions in (after, until], in commit order. A step is bounded by the versions examined, as most may be invisible.
   */
  *changes(query: ChangeQuery, after: number, until: number): Generator<ChangeStep> {
    for (let through = after; through < until; ) {
      const stretch = this.touching(query, through, until, STEP_TRANSACTIONS);
      if (stretch.sequences.length === 0) yield { changes: [], through: stretch.through };
      else yield* this.changesIn(query, stretch);
      through = stretch.through;
    }
  }

  /** Versions of these transactions, in the same steps. */
  *changesIn(query: ChangeQuery, { sequences, through }: ActivityStep): Generator<ChangeStep> {
    const sql = new SqlBuilder(null);
    const visible = this.visible(query, sql, "a.value");
    const values = [...sql.values];
    const [sequencesJson, afterN, lastSequence, lastN] = [sql.bind("[]"), sql.bind(0), sql.bind(0), sql.bind(0)];
    const text = `SELECT ${changeSql(query.kinds, "a.value")} FROM ${versionsIn(sequencesJson, afterN)}
      AND v.key <= iif(a.value = ${lastSequence}, (${lastN} << 31) | a.value, 9223372036854775807)
      CROSS JOIN history_records r ON r.n = v.key >> 31 WHERE ${visible} LIMIT ${STEP_CHANGES}`;
    const versionsPerStep = Math.ceil(
      STEP_CHECKS / (STEP_CHECKS / STEP_VERSIONS + (query.reach.networkNs?.length ?? 0)),
    );
    for (let remaining = sequences, n = 0; remaining.length > 0; ) {
      const last = this.versionAt(versionsPerStep, remaining, n);
      const included = last === null ? remaining : remaining.slice(0, remaining.indexOf(last.sequence) + 1);
      const rows = this.connection
        .statement(text)
        .values(...values, JSON.stringify(included), n, last?.sequence ?? 0, last?.n ?? 0) as ChangeRow[];
      const changes = rows.map((row) => changeOf(query.kinds, row));
      const next = changes.length < STEP_CHANGES ? last : (changes.at(-1) as RecordChange);
      yield { changes, through: next === null ? through : next.sequence - 1 };
      remaining = next === null ? [] : remaining.slice(remaining.indexOf(next.sequence));
      n = next?.n ?? 0;
    }
  }

  /** Versions of one record, in the same steps. */
  *changesOf(query: ChangeQuery, n: number, { after, until }: TransactionRange): Generator<ChangeStep> {
    const sql = new SqlBuilder(null);
    const condition = this.visible(query, sql, "v.key & 2147483647");
    const [recordN, from, to] = [sql.bind(n), sql.bind(after), sql.bind(until)];
    const text = `SELECT ${changeSql(query.kinds, "v.key & 2147483647")}, ${condition} FROM history_versions v
      CROSS JOIN history_records r ON r.n = ${recordN}
      WHERE v.key > ((${recordN} << 31) | ${from}) AND v.key <= ((${recordN} << 31) | ${to})
      ORDER BY v.key LIMIT ${STEP_CHANGES}`;
    for (let through = after; through < until; ) {
      const values = [...sql.values.slice(0, -2), through, until];
      const rows = this.connection.statement(text).values(...values) as Array<[...ChangeRow, number]>;
      const last = rows.at(-1);
      through = last === undefined || rows.length < STEP_CHANGES ? until : last[1];
      yield { changes: rows.filter((row) => row[6] === 1).map((row) => changeOf(query.kinds, row)), through };
    }
  }

  /** Transactions in (after, until] that may match the query, limited to one step of `limit` transactions. */
  touching(query: ChangeQuery, after: number, until: number, limit: number): ActivityStep {
    if (query.hostN === undefined) return this.activity(query).next(after, until, limit);
    // A change to a shown part creates a host version. Include thinned host versions: the part's version may still
    // exist.
    const versionKeys = ["history_versions", "history_thinned"].map(
      (table) => `SELECT key FROM ${table} WHERE key > ((+?1 << 31) | +?2) AND key <= ((+?1 << 31) | +?3)`,
    );
    const rows = this.connection
      .statement(`SELECT key & 2147483647 FROM (${versionKeys.join(" UNION ALL ")} ORDER BY key LIMIT +?4)`)
      .values(query.hostN, after, until, limit) as Array<[number]>;
    const sequences = rows.map((row) => row[0]);
    return { sequences, through: sequences.length < limit ? until : (sequences.at(-1) as number) };
  }

  /** Activity of the organization or the network, within the caller's reach. */
  activity({ reach, networkN }: Pick<ChangeQuery, "reach" | "networkN">): Activity {
    const { networkNs, organizationN } = reach;
    // Scopes that together cover everything in the query.
    const scopes =
      networkN !== undefined ? [networkN] : networkNs === null ? [organizationN] : [-organizationN, ...networkNs];
    return new Activity(this.connection, organizationN, scopes);
  }

  /** Newest first. @param ns one record, or a few whose versions are listed together */
  versions(kind: AnyKind, ns: readonly number[], until: number, limit: number, offset: number): RecordChange[] {
    // Versions of a single record are stored in order, however many there are.
    const order = ns.length === 1 ? "v.key DESC" : "v.key & 2147483647 DESC, v.key >> 31 DESC";
    const rows = this.connection
      .statement(
        `SELECT ${changeSql([kind], "v.key & 2147483647")} FROM ${ns.length === 1 ? "(SELECT +?1 AS value)" : "json_each(+?1)"} j
          CROSS JOIN history_records r ON r.n = j.value
          CROSS JOIN history_versions v ON v.key > (j.value << 31) AND v.key <= ((j.value << 31) | +?2)
          ORDER BY ${order} LIMIT +?3 OFFSET +?4`,
      )
      .values(ns.length === 1 ? (ns[0] as number) : JSON.stringify(ns), until, limit, offset) as ChangeRow[];
    return rows.map((row) => changeOf([kind], row));
  }

  /**
   * Versions of several records of a kind in (after, until], by record, oldest first, in bounded steps.
   * @param ns ascending
   */
  *versionsBetween(kind: AnyKind, ns: readonly number[], after: number, until: number): Generator<VersionStamp[]> {
    const text = `SELECT j.value, v.key & 2147483647, ${changedSql(kind, "v")} FROM json_each(+?1) j
      CROSS JOIN history_versions v ON v.key > ((j.value << 31) | iif(j.key = 0, +?2, +?3))
      AND v.key <= ((j.value << 31) | +?4) LIMIT +?5`;
    for (let remaining = ns, from = after; remaining.length > 0; ) {
      const rows = this.connection
        .statement(text)
        .values(JSON.stringify(remaining), from, after, until, STEP_CHANGES) as Array<[number, number, string | null]>;
      yield rows.map(([n, sequence, changed]) => ({ n, sequence, changedFields: fieldsIn(changed) }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < STEP_CHANGES) return;
      remaining = remaining.slice(remaining.indexOf(last[0]));
      from = last[1];
    }
  }

  versionCount(n: number, until: number): number {
    const text = "SELECT count(*) FROM history_versions WHERE key > (+?1 << 31) AND key <= ((+?1 << 31) | +?2)";
    const [[count]] = this.connection.statement(text).values(n, until) as [[number]];
    return count;
  }

  /** The last version in (after, until] that thinning dropped; 0 for none. */
  lastDropped(n: number, after: number, until: number): number {
    const text = `SELECT max(key) & 2147483647 FROM history_thinned WHERE key > ((+?1 << 31) | +?2)
      AND key <= ((+?1 << 31) | +?3)`;
    const [[last]] = this.connection.statement(text).values(n, after, until) as [[number | null]];
    return last ?? 0;
  }

  aliveAt(ns: readonly number[], sequence: number): Set<number> {
    const text = `SELECT j.value FROM json_each(+?1) j CROSS JOIN history_versions v ON v.key = (SELECT max(key)
      FROM history_versions WHERE key > (j.value << 31) AND key <= ((j.value << 31) | +?2))
      WHERE v.operation <> ${OPERATION.Deleted}`;
    const rows = this.connection.statement(text).values(JSON.stringify(ns), sequence) as Array<[number]>;
    return new Set(rows.map((row) => row[0]));
  }

  /**
   * Number of a record that is or was visible to the caller; null for none.
   * @param ownerN additional container that holds it, or held it until its end: the user, for an API key
   */
  everVisible(kind: AnyKind, id: string, reach: Reach, ownerN: number | null = null): number | null {
    const sql = new SqlBuilder(null);
    const owned = ownerN === null ? "" : ` AND ${this.lastBelongedTo(sql.bind(ownerN), sql.bind(reach.organizationN))}`;
    const text = `SELECT r.n FROM history_records r WHERE r.id = ${sql.bind(id)} AND r.kind = ${kind.code}
      AND ${this.visible({ reach, kinds: [kind] }, sql)}${owned}`;
    const [row] = this.connection.statement(text).values(...sql.values) as Array<[number]>;
    return row?.[0] ?? null;
  }

  /**
   * The subset of these records that is of one of the kinds and is or was visible to the caller.
   * @param networkN only records that were ever in this network; null for any
   */
  everVisibleAmong(
    kinds: readonly AnyKind[],
    ns: readonly number[],
    reach: Reach,
    networkN: number | null,
  ): Set<number> {
    const sql = new SqlBuilder(null);
    const visible = this.visible({ reach, kinds, ...(networkN === null ? {} : { networkN }) }, sql);
    const text = `SELECT r.n FROM json_each(${sql.bind(JSON.stringify(ns))}) j
      CROSS JOIN history_records r ON r.n = j.value WHERE ${visible}`;
    return new Set((this.connection.statement(text).values(...sql.values) as Array<[number]>).map((row) => row[0]));
  }

  /** Unordered. */
  entries(sequences: Iterable<number>): Map<number, LedgerEntry> {
    const rows = this.connection
      .statement(
        `SELECT t.sequence, t.at, t.actor_type AS actorType, t.actor_id AS actorId, t.actor_name AS actorName,
          t.request_id AS requestId, t.source, t.reason FROM json_each(?) j
          CROSS JOIN history_transactions t ON t.sequence = j.value`,
      )
      .all(JSON.stringify([...new Set(sequences)])) as LedgerEntry[];
    return new Map(rows.map((entry) => [entry.sequence, entry]));
  }

  /** Last version of a step of `count`, after record `n` in the first transaction; null if fewer remain. */
  private versionAt(count: number, sequences: readonly number[], n: number): { n: number; sequence: number } | null {
    const text = `SELECT v.key >> 31, a.value FROM ${versionsIn("+?1", "+?2")} LIMIT 1 OFFSET +?3`;
    const [row] = this.connection.statement(text).values(JSON.stringify(sequences), n, count - 1) as [number, number][];
    return row === undefined ? null : { n: row[0], sequence: row[1] };
  }

  /** A record that changed owner is visible to its present owner. */
  private lastBelongedTo(container: string, organization: string): string {
    const end = `SELECT max(o.died) FROM history_spans o WHERE o.scope = ${organization} * 64 + r.kind AND o.n = r.n`;
    return `EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = ${container} * 64 + r.kind AND s.n = r.n
      AND s.died = (${end}))`;
  }

  /**
   * SQL that tests whether record `r` matches the query and is visible. A record that left a network shows as it was
   * there.
   * @param sequence of version `v`, for queries on single versions
   */
  private visible(query: ChangeQuery, sql: SqlBuilder, sequence = "0"): string {
    const { reach, kinds, networkN, hostN, referenced } = query;
    const atVersion = query.isInScopeThen === true ? ` AND s.born <= ${sequence} AND s.died >= ${sequence}` : "";
    const wasIn = (container: string, when = atVersion) =>
      `EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = ${container} * 64 + r.kind AND s.n = r.n${when})`;
    const where = [
      `r.kind IN (${kinds.map((kind) => kind.code).join(", ") || "0"})`,
      wasIn(sql.bind(reach.organizationN), ""),
    ];
    if (reach.networkNs !== null) {
      const organizationWide = kinds.filter((kind) => kind.scopes.network === undefined).map((kind) => kind.code);
      const networks = sql.bind(JSON.stringify(reach.networkNs));
      where.push(
        `(r.kind IN (${organizationWide.join(", ") || "0"}) OR EXISTS (SELECT 1 FROM json_each(${networks}) c
          CROSS JOIN history_spans s WHERE s.scope = c.value * 64 + r.kind AND s.n = r.n${atVersion})
          OR ${
            kinds
              .filter((kind) => kind.networkIsOptional === true)
              .map((kind) => wasOutsideNetworks(kind, query.isInScopeThen === true ? sequence : null))
              .join(" OR ") || "0"
          })`,
      );
    }
    if (networkN !== undefined) where.push(wasIn(sql.bind(networkN)));
    if (hostN !== undefined) {
      const host = sql.bind(hostN);
      // Parts that a host does not show create no host versions, so host versions do not lead to them.
      const shownKinds = kinds.filter((kind) => kind.owners !== undefined).map((kind) => kind.code);
      where.push(`(r.n = ${host} OR (r.kind IN (${shownKinds.join(", ") || "0"}) AND ${wasIn(host)}))`);
    }
    if (referenced !== undefined) where.push(referencesSql(referenced, sql));
    return where.join(" AND ");
  }
}

/** A version as read: record, transaction, kind, id, operation and changed fields. */
type ChangeRow = [number, number, number, string, number, string | null];

/** Columns of a ChangeRow for version v of record r. */
function changeSql(kinds: readonly AnyKind[], sequence: string): string {
  return `v.key >> 31, ${sequence}, r.kind, r.id, v.operation, ${byKindSql(kinds, "r.kind", "v", changedSql)}`;
}

function changeOf(kinds: readonly AnyKind[], row: ChangeRow | readonly [...ChangeRow, number]): RecordChange {
  const [n, sequence, code, id, operation, changed] = row;
  const kind = kinds.find((each) => each.code === code) as AnyKind;
  return { n, sequence, kind, id, operation: operationOf(operation), changedFields: fieldsIn(changed) };
}

/** Parsed field lists, which repeat across versions. Bounded: callers may invent names of custom fields. */
const parsedFields = new Map<string, readonly string[]>();
const PARSED_FIELDS_MAX = 1_000;

/** Names of changed fields. @param changed a JSON array; null for a creation or deletion */
function fieldsIn(changed: string | null): readonly string[] | null {
  if (changed === null) return null;
  let fields = parsedFields.get(changed);
  if (fields === undefined) {
    if (parsedFields.size >= PARSED_FIELDS_MAX) parsedFields.clear();
    parsedFields.set(changed, (fields = JSON.parse(changed) as readonly string[]));
  }
  return fields;
}

/** SQL that tests whether version `v` belongs to a record, or it or its predecessor refers to that record. */
function referencesSql({ n, id, kinds, field }: ReferencedRecord, sql: SqlBuilder): string {
  const referenceIn = (members: string) => `('{' || ${members} || '}') ->> '$.${field}'`;
  const referenced = sql.bind(id);
  const before = `(SELECT ${referenceIn(writtenSql("b", "members"))} FROM history_versions b WHERE b.key > (r.n << 31) AND b.key < v.key
    ORDER BY b.key DESC LIMIT 1)`;
  return `(r.n = ${sql.bind(n)} OR (r.kind IN (${kinds.map((kind) => kind.code).join(", ")})
    AND (${referenceIn(writtenSql("v", "members"))} IS ${referenced} OR ${before} IS ${referenced})))`;
}

/**
 * SQL that tests whether record `r` is of this kind and was outside all networks, so visible to the whole organization.
 * @param sequence just before or after this transaction; null for any time
 */
function wasOutsideNetworks(kind: AnyKind, sequence: string | null): string {
  const atVersion =
    sequence === null
      ? "w.key > (r.n << 31) AND w.key < ((r.n + 1) << 31)"
      : `w.key <= ((r.n << 31) | (${sequence})) AND w.key >= coalesce((SELECT max(b.key) FROM history_versions b
        WHERE b.key > (r.n << 31) AND b.key < ((r.n << 31) | (${sequence}))), r.n << 31)`;
  return `(r.kind = ${kind.code} AND EXISTS (SELECT 1 FROM history_versions w WHERE ${atVersion}
    AND w.operation <> ${OPERATION.Deleted}
    AND ('{' || ${membersSql(kind, "w")} || '}') ->> '$.${kind.scopes.network}' IS NULL))`;
}

/** In order; in the first transaction, only versions of records after `afterN`. */
function versionsIn(sequences: string, afterN: string): string {
  return `json_each(${sequences}) a CROSS JOIN history_versions v INDEXED BY history_versions_by_sequence
    ON (v.key & 2147483647) = +a.value AND v.key > iif(a.key = 0, (${afterN} << 31) | a.value, 0)`;
}
