// The ledger in commit order: which transactions there were and which versions each of them wrote, as far as a caller sees
// them. Reads in steps of a bounded number of rows, so that a walk over years holds nobody up. Renders no record.

import type { Instant } from "../base/instant.ts";
import { OPERATION, type AnyKind } from "./kind.ts";
import type { Reach } from "./list-query.ts";
import type { ReadConnection } from "./read-connection.ts";
import { SqlBuilder } from "./sql-builder.ts";

export type Operation = keyof typeof OPERATION;

/** One version, by its record and its transaction. */
export interface Change {
  readonly n: number;
  readonly sequence: number;
  readonly kind: AnyKind;
  readonly id: string;
  readonly operation: Operation;
  /** The fields that differ from the version before; null where everything is new or gone. */
  readonly changedFields: readonly string[] | null;
}

export interface LedgerEntry {
  readonly sequence: number;
  readonly at: Instant;
  readonly actorType: "User" | "ApiKey" | "Discovery" | "System";
  readonly actorId: string | null;
  /** As it was called then. */
  readonly actorName: string;
  readonly requestId: string | null;
  /** The command that made it: `host.update`. */
  readonly source: string;
}

/** Whose changes, of which kinds, where. */
export interface ChangeQuery {
  readonly reach: Reach;
  readonly kinds: readonly AnyKind[];
  /** Only what lies in this network, or is it. */
  readonly networkN?: number;
  /** Only this host and what lies in it. */
  readonly hostN?: number;
}

/** A place between two versions: what comes after it is later, or later in the same transaction. */
export interface Cursor {
  readonly sequence: number;
  /** 0 before the versions of the transaction `sequence + 1`; else the record number of the last version passed in `sequence`. */
  readonly n: number;
}

/** Scopes up to this number are merged in order; more are sorted. */
const MAX_MERGED_SCOPES = 64;

export class ChangeLog {
  private readonly connection: ReadConnection;

  constructor(connection: ReadConnection) {
    this.connection = connection;
  }

  /** Versions after `cursor` up to the transaction `until`, in commit order, `limit` at most. */
  changes(query: ChangeQuery, cursor: Cursor, until: number, limit: number): Change[] {
    const kinds = new Map(query.kinds.map((kind) => [kind.code, kind]));
    const sql = new SqlBuilder(null);
    // A transaction that was begun is gone on with.
    const from = sql.bind(cursor.n > 0 ? cursor.sequence - 1 : cursor.sequence);
    const sequences = this.activity(query, sql, from, sql.bind(until));
    const begun = cursor.n > 0 ? ` AND (a.sequence > ${sql.bind(cursor.sequence)} OR v.key > ((${sql.bind(cursor.n)} << 31) | a.sequence))` : "";
    const text = `SELECT v.key >> 31, a.sequence, r.kind, r.id, v.operation, v.changed
      FROM (${sequences}) a CROSS JOIN history_versions v INDEXED BY history_versions_by_sequence ON (v.key & 2147483647) = +a.sequence CROSS JOIN history_records r ON r.n = v.key >> 31
      WHERE ${this.visible(query, sql)}${begun} LIMIT ${sql.bind(limit)}`;
    const rows = this.connection.statement(text).values(...sql.values) as Array<[number, number, number, string, number, string | null]>;
    return rows.map(([n, sequence, code, id, operation, changed]) => ({
      n,
      sequence,
      kind: kinds.get(code) as AnyKind,
      id,
      operation: operationOf(operation),
      changedFields: changed === null ? null : (JSON.parse(changed) as string[]),
    }));
  }

  /** The versions of one record up to a transaction, newest first. */
  versions(kind: AnyKind, n: number, id: string, until: number, limit: number, offset: number): Change[] {
    const rows = this.connection
      .statement("SELECT key & 2147483647, operation, changed FROM history_versions WHERE key > (+?1 << 31) AND key <= ((+?1 << 31) | +?2) ORDER BY key DESC LIMIT +?3 OFFSET +?4")
      .values(n, until, limit, offset) as Array<[number, number, string | null]>;
    return rows.map(([sequence, operation, changed]) => ({ n, sequence, kind, id, operation: operationOf(operation), changedFields: changed === null ? null : (JSON.parse(changed) as string[]) }));
  }

  /** How many versions a record had up to a transaction. */
  versionCount(n: number, until: number): number {
    return (this.connection.statement("SELECT count(*) FROM history_versions WHERE key > (+?1 << 31) AND key <= ((+?1 << 31) | +?2)").values(n, until)[0] as [number])[0];
  }

  /** The last version of a record after `after` and up to `until` that was dropped when history was thinned; 0 for none. */
  lastDropped(n: number, after: number, until: number): number {
    const row = this.connection.statement("SELECT max(key) & 2147483647 FROM history_thinned WHERE key > ((+?1 << 31) | +?2) AND key <= ((+?1 << 31) | +?3)").values(n, after, until)[0] as [number | null];
    return row[0] ?? 0;
  }

  /** Which of these records were alive as of a transaction. */
  aliveAt(ns: readonly number[], sequence: number): Set<number> {
    const rows = this.connection
      .statement(`SELECT j.value FROM json_each(+?1) j CROSS JOIN history_versions v ON v.key = (SELECT max(key) FROM history_versions WHERE key > (j.value << 31) AND key <= ((j.value << 31) | +?2)) WHERE v.operation <> ${OPERATION.Deleted}`)
      .values(JSON.stringify(ns), sequence) as Array<[number]>;
    return new Set(rows.map((row) => row[0]));
  }

  /**
   * The number of a record that the caller may see or could once have seen; null for none.
   * @param ownerN the container that it must live in besides, or have ended in: the user, for an API key
   */
  everSeen(kind: AnyKind, id: string, reach: Reach, ownerN: number | null = null): number | null {
    const sql = new SqlBuilder(null);
    const owned = ownerN === null ? "" : ` AND ${this.lastLivedIn(sql.bind(ownerN), sql.bind(reach.organizationN))}`;
    const text = `SELECT r.n FROM history_records r WHERE r.id = ${sql.bind(id)} AND r.kind = ${kind.code} AND ${this.visible({ reach, kinds: [kind] }, sql)}${owned}`;
    const row = this.connection.statement(text).values(...sql.values)[0] as [number] | undefined;
    return row?.[0] ?? null;
  }

  /** Transactions by their sequences, in any order. */
  entries(sequences: Iterable<number>): Map<number, LedgerEntry> {
    const rows = this.connection
      .statement("SELECT t.sequence, t.at, t.actor_type, t.actor_id, t.actor_name, t.request_id, t.source FROM json_each(?) j CROSS JOIN history_transactions t ON t.sequence = j.value")
      .values(JSON.stringify([...new Set(sequences)])) as Array<[number, number, LedgerEntry["actorType"], string | null, string, string | null, string]>;
    return new Map(rows.map(([sequence, at, actorType, actorId, actorName, requestId, source]) => [sequence, { sequence, at, actorType, actorId, actorName, requestId, source }]));
  }

  /** Which transactions after `after` up to `until` touched what the query is about, in order; `limit` at most. */
  sequences(query: ChangeQuery, after: number, until: number, limit: number): number[] {
    const sql = new SqlBuilder(null);
    const text = `SELECT sequence FROM (${this.activity(query, sql, sql.bind(after), sql.bind(until))}) LIMIT ${sql.bind(limit)}`;
    return (this.connection.statement(text).values(...sql.values) as Array<[number]>).map((row) => row[0]);
  }

  /** The transactions that touched any of these scopes, up to `until`, the newest first. */
  latest(scopes: readonly number[], until: number, limit: number, offset: number): number[] {
    const [scope, ...others] = scopes;
    if (scope !== undefined && others.length === 0) {
      const rows = this.connection
        .statement("SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal <= +?2 ORDER BY ordinal DESC LIMIT +?3")
        .values(scope, this.place(scope, until) - offset, limit) as Array<[number]>;
      return rows.map((row) => row[0]);
    }
    const sql = new SqlBuilder(null);
    const sequences = sequencesIn(scopes, sql, `sequence <= ${sql.bind(until)}`);
    const rows = this.connection.statement(`${sequences} ORDER BY sequence DESC LIMIT ${sql.bind(limit)} OFFSET ${sql.bind(offset)}`).values(...sql.values) as Array<[number]>;
    return rows.map((row) => row[0]);
  }

  /** How many transactions up to `until` touched any of these scopes. */
  total(scopes: readonly number[], until: number): number {
    const [scope, ...others] = scopes;
    if (scope !== undefined && others.length === 0) return this.place(scope, until);
    const rows = this.connection
      .statement("SELECT count(DISTINCT sequence) FROM history_activity WHERE scope IN (SELECT value FROM json_each(+?1)) AND sequence <= +?2")
      .values(JSON.stringify(scopes), until) as Array<[number]>;
    return rows[0]?.[0] ?? 0;
  }

  /** How many transactions of a scope there were up to a sequence. */
  private place(scope: number, until: number): number {
    const row = this.connection.statement("SELECT ordinal FROM history_activity WHERE scope = +?1 AND sequence <= +?2 ORDER BY sequence DESC LIMIT 1").values(scope, until)[0] as [number] | undefined;
    return row?.[0] ?? 0;
  }

  /** The scopes whose activity together holds all that the query is about. */
  scopes({ reach, networkN }: ChangeQuery): number[] {
    if (networkN !== undefined) return [networkN];
    const { networkNs, organizationN } = reach;
    return networkNs === null ? [organizationN] : [-organizationN, ...networkNs];
  }

  /** `SELECT … AS sequence` in order, each once. Without the limit SQLite leaves out the order of what is joined to more. */
  private activity(query: ChangeQuery, sql: SqlBuilder, after: string, until: string): string {
    if (query.hostN !== undefined) {
      // A change of what lies in a host is a version of the host.
      const n = sql.bind(query.hostN);
      // Also one that was dropped: what lay in the host may still be there.
      const touched = ["history_versions", "history_thinned"].map((table) => `SELECT key, key & 2147483647 AS sequence FROM ${table} WHERE key > ((${n} << 31) | ${after}) AND key <= ((${n} << 31) | ${until})`);
      return `${touched.join(" UNION ALL ")} ORDER BY key LIMIT -1`;
    }
    return `${sequencesIn(this.scopes(query), sql, `sequence > ${after} AND sequence <= ${until}`)} ORDER BY sequence LIMIT -1`;
  }

  /** Whether the record `r` lives in a container, or ended there: what was given away shows to whoever has it now. */
  private lastLivedIn(container: string, organization: string): string {
    const end = `SELECT max(o.died) FROM history_spans o WHERE o.scope = ${organization} * 64 + r.kind AND o.n = r.n`;
    return `EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = ${container} * 64 + r.kind AND s.n = r.n AND s.died = (${end}))`;
  }

  /** Whether the record `r` is what the query is about and the caller may see it. What has left a network shows as it was there. */
  private visible({ reach, kinds, networkN, hostN }: ChangeQuery, sql: SqlBuilder): string {
    const livedIn = (container: string) => `EXISTS (SELECT 1 FROM history_spans s WHERE s.scope = ${container} * 64 + r.kind AND s.n = r.n)`;
    const where = [`r.kind IN (${kinds.map((kind) => kind.code).join(", ") || "0"})`, livedIn(sql.bind(reach.organizationN))];
    if (reach.networkNs !== null) {
      const beside = kinds.filter((kind) => kind.scopes.network === undefined).map((kind) => kind.code);
      const reached = sql.bind(JSON.stringify(reach.networkNs));
      where.push(`(r.kind IN (${beside.join(", ") || "0"}) OR EXISTS (SELECT 1 FROM json_each(${reached}) c CROSS JOIN history_spans s WHERE s.scope = c.value * 64 + r.kind AND s.n = r.n))`);
    }
    if (networkN !== undefined) where.push(livedIn(sql.bind(networkN)));
    if (hostN !== undefined) {
      const host = sql.bind(hostN);
      where.push(`(r.n = ${host} OR ${livedIn(host)})`);
    }
    return where.join(" AND ");
  }
}

/** `SELECT … AS sequence`, each once, of the transactions that touched any of these scopes. */
function sequencesIn(scopes: readonly number[], sql: SqlBuilder, condition: string): string {
  if (scopes.length <= MAX_MERGED_SCOPES) return scopes.map((scope) => `SELECT sequence FROM history_activity WHERE scope = ${sql.bind(scope)} AND ${condition}`).join(" UNION ");
  return `SELECT DISTINCT sequence FROM json_each(${sql.bind(JSON.stringify(scopes))}) c CROSS JOIN history_activity ON scope = c.value AND ${condition}`;
}

const OPERATIONS = Object.keys(OPERATION) as Operation[];

function operationOf(code: number): Operation {
  const operation = OPERATIONS.find((name) => OPERATION[name] === code);
  if (operation === undefined) throw new Error(`change log: no operation has the code ${code}`);
  return operation;
}
