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

/** Networks up to this number are gone through by their own activity; callers who reach more, by the organization's. */
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

  /** The versions of one record, newest first. */
  versions(kind: AnyKind, n: number, id: string, limit: number, offset: number): Change[] {
    const rows = this.connection
      .statement("SELECT key & 2147483647, operation, changed FROM history_versions WHERE key > (+?1 << 31) AND key < ((+?1 + 1) << 31) ORDER BY key DESC LIMIT +?2 OFFSET +?3")
      .values(n, limit, offset) as Array<[number, number, string | null]>;
    return rows.map(([sequence, operation, changed]) => ({ n, sequence, kind, id, operation: operationOf(operation), changedFields: changed === null ? null : (JSON.parse(changed) as string[]) }));
  }

  /** How many versions a record has. */
  versionCount(n: number): number {
    return (this.connection.statement("SELECT count(*) FROM history_versions WHERE key > (+?1 << 31) AND key < ((+?1 + 1) << 31)").values(n)[0] as [number])[0];
  }

  /** The number of a record that the caller may see or could once have seen; null for none. */
  everSeen(kind: AnyKind, id: string, reach: Reach): number | null {
    const sql = new SqlBuilder(null);
    const text = `SELECT r.n FROM history_records r WHERE r.id = ${sql.bind(id)} AND r.kind = ${kind.code} AND ${this.visible({ reach, kinds: [kind] }, sql)}`;
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

  /** The transactions of a scope by their place in it, the newest first; and how many there are up to `until`. */
  latest(scope: number, until: number, limit: number, offset: number): { sequences: number[]; total: number } {
    const total = this.place(scope, until);
    const rows = this.connection
      .statement("SELECT sequence FROM history_activity WHERE scope = +?1 AND ordinal <= +?2 ORDER BY ordinal DESC LIMIT +?3")
      .values(scope, total - offset, limit) as Array<[number]>;
    return { sequences: rows.map((row) => row[0]), total };
  }

  /** How many transactions of a scope there were up to a sequence. */
  place(scope: number, until: number): number {
    const row = this.connection.statement("SELECT ordinal FROM history_activity WHERE scope = +?1 AND sequence <= +?2 ORDER BY sequence DESC LIMIT 1").values(scope, until)[0] as [number] | undefined;
    return row?.[0] ?? 0;
  }

  /** The scopes whose activity together holds all that the query is about. */
  scopes({ reach, networkN, hostN }: ChangeQuery): number[] {
    if (networkN !== undefined) return [networkN];
    const { networkNs, organizationN } = reach;
    if (hostN === undefined && networkNs !== null && networkNs.length < MAX_MERGED_SCOPES) return [-organizationN, ...networkNs];
    return [organizationN];
  }

  /** `SELECT … AS sequence` in order, each once. */
  private activity(query: ChangeQuery, sql: SqlBuilder, after: string, until: string): string {
    if (query.hostN !== undefined) {
      // A change of what lies in a host is a version of the host.
      const n = sql.bind(query.hostN);
      return `SELECT key & 2147483647 AS sequence FROM history_versions WHERE key > ((${n} << 31) | ${after}) AND key <= ((${n} << 31) | ${until}) ORDER BY key`;
    }
    const arms = this.scopes(query).map((scope) => `SELECT sequence FROM history_activity WHERE scope = ${sql.bind(scope)} AND sequence > ${after} AND sequence <= ${until}`);
    return `${arms.join(" UNION ")} ORDER BY sequence`;
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

const OPERATIONS = Object.keys(OPERATION) as Operation[];

function operationOf(code: number): Operation {
  const operation = OPERATIONS.find((name) => OPERATION[name] === code);
  if (operation === undefined) throw new Error(`change log: no operation has the code ${code}`);
  return operation;
}
