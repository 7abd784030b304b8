// History as the writer sees it, within its own transaction: versions at a sequence, contents of containers, versions
// of a transaction. Read-only. Independent of callers.

import type { Instant } from "../../base/instant.ts";
import type { Sql } from "../connection.ts";
import { type AnyKind, type Observed, parseMembers, parseObserved, type RecordBase, scopeKey } from "../kind.ts";
import { PrunedHistory, type ThinnedNotice } from "../pruned-history.ts";
import { byKindSql, membersSql, observedSql } from "../shape.ts";
import type { Author } from "./ledger.ts";

/** A record's earlier state. */
export interface PastRecord {
  readonly kind: AnyKind;
  readonly n: number;
  /** Its own fields, from the newest version at that time. */
  readonly record: RecordBase;
  /** Observation values written with that version. */
  readonly observed: Observed;
}

/** Resolved point in time. */
interface PastInstant {
  /** The last transaction at or before it, or the last retained one in thinned history; 0 for none. */
  readonly sequence: number;
  readonly thinned: ThinnedNotice | undefined;
}

/** Effect of one transaction on one record. */
export interface WrittenVersion {
  readonly kind: AnyKind;
  readonly n: number;
  readonly id: string;
  /** Null if the record did not exist before. */
  readonly before: PastRecord | null;
  /** Null if the record was deleted. */
  readonly after: PastRecord | null;
}

type VersionRow = [n: number, kind: number, observed: string, members: string | null];

// Keys exceed JavaScript's integer precision: SQL packs and unpacks them.
const SEQUENCE_AT = "SELECT sequence FROM history_transactions WHERE at <= ? ORDER BY at DESC LIMIT 1";
const NEWEST = "SELECT coalesce(max(sequence), 0) FROM history_transactions";
const ORGANIZATION_OF = "SELECT organization_id FROM history_transactions WHERE sequence = ?";
const AUTHOR_OF = "SELECT actor_type, actor_id FROM history_transactions WHERE sequence = ?";
const SOURCE_OF = "SELECT source FROM history_transactions WHERE sequence = ?";
/** Commands that only move records between hosts, and the revert of such a move. */
const MOVING = "'host.consolidate', 'host.split', 'transaction.revert'";
const WRITTEN_SINCE = (excluded: string) => `SELECT 1 FROM history_versions v
  JOIN history_transactions t ON t.sequence = v.key & 2147483647
  WHERE v.key > ((?1 << 31) | ?2) AND v.key < ((?1 + 1) << 31) AND t.source NOT LIKE 'discovery.%'
    AND t.source NOT IN (${excluded}) LIMIT 1`;
const VERSION_AT = (
  members: string,
) => `SELECT r.n, r.kind, ${observedSql("v")}, ${members} FROM history_records r CROSS JOIN history_versions v
  WHERE r.n = ?1 AND v.key > (r.n << 31) AND v.key <= ((r.n << 31) | ?2) ORDER BY v.key DESC LIMIT 1`;
const LAST_BEFORE_REMOVAL = (members: string) => `WITH removal AS (SELECT key FROM history_versions
    WHERE key >= (?1 << 31) AND key < ((?1 + 1) << 31) ORDER BY key DESC LIMIT 1)
  SELECT r.n, r.kind, ${observedSql("v")}, ${members}, (SELECT key & 2147483647 FROM removal)
  FROM history_records r CROSS JOIN history_versions v
  WHERE r.n = ?1 AND v.key > (r.n << 31) AND v.key < (SELECT key FROM removal) ORDER BY v.key DESC LIMIT 1`;
const MEMBERS_AT = (members: string) => `SELECT s.n, ?3, ${observedSql("v")}, ${members} FROM history_spans s
  CROSS JOIN history_versions v ON v.key = (SELECT key FROM history_versions WHERE key <= ((s.n << 31) | ?2)
    ORDER BY key DESC LIMIT 1)
  WHERE s.scope = ?1 AND s.born <= ?2 AND s.died > ?2 ORDER BY s.n`;
const WAS_MEMBER = "SELECT 1 FROM history_spans WHERE scope = ?1 AND n = ?2 AND born <= ?3 AND died > ?3";
const WAS_EVER_MEMBER = "SELECT 1 FROM history_spans WHERE scope = ?1 AND n = ?2 LIMIT 1";
const WRITTEN_IN = (members: string) => `SELECT v.key >> 31, r.kind, ${observedSql("v")}, ${members}, r.id
  FROM history_versions v INDEXED BY history_versions_by_sequence
  CROSS JOIN history_records r ON r.n = v.key >> 31 WHERE (v.key & 2147483647) = ?1 ORDER BY v.key`;

/** Versions of records of any kind, within the transaction that restores or reverts. */
export class Past {
  private readonly db: Sql;
  private readonly kinds: ReadonlyMap<number, AnyKind>;
  /** Members of version `v` of record `r`, in the current shape of any kind. */
  private readonly members: string;
  private readonly thinnedPast: PrunedHistory;

  constructor(db: Sql, kinds: readonly AnyKind[]) {
    this.db = db;
    this.members = byKindSql(kinds, "r.kind", "v", membersSql);
    this.kinds = new Map(kinds.map((kind) => [kind.code, kind]));
    this.thinnedPast = new PrunedHistory((sql, ...values) => this.rows(sql, ...values));
  }

  resolve(at: Instant): PastInstant {
    const requested = (this.rows(SEQUENCE_AT, at)[0]?.[0] as number | undefined) ?? 0;
    const sequence = this.thinnedPast.lastCompleteUpTo(requested);
    return { sequence, thinned: this.thinnedPast.notice(requested, sequence) };
  }

  /** The state before this transaction. */
  present(): PastInstant {
    return { sequence: this.rows(NEWEST)[0]?.[0] as number, thinned: undefined };
  }

  /** Whether a transaction's versions, or the state before it, may have been thinned. */
  isThinned(sequence: number): boolean {
    return sequence <= this.thinnedPast.until;
  }

  /** Organization of a transaction; null for the appliance's own, and if there is no such transaction. */
  organizationOf(sequence: number): string | null {
    return (this.rows(ORGANIZATION_OF, sequence)[0]?.[0] as string | null | undefined) ?? null;
  }

  /** Author of a transaction; null if there is no such transaction. */
  authorOf(sequence: number): Pick<Author, "type" | "id"> | null {
    const [row] = this.rows(AUTHOR_OF, sequence) as Array<[Author["type"], string | null]>;
    return row === undefined ? null : { type: row[0], id: row[1] };
  }

  /** Command name of a transaction; null if there is no such transaction. */
  sourceOf(sequence: number): string | null {
    return (this.rows(SOURCE_OF, sequence)[0]?.[0] as string | undefined) ?? null;
  }

  /** Whether only scans changed a record's content after a transaction; moves do not count. */
  isOnlyScannedSince(n: number, sequence: number): boolean {
    return this.rows(WRITTEN_SINCE(MOVING), n, sequence).length === 0;
  }

  /** Whether only scans wrote a record after a transaction. */
  isOnlyWrittenByScansSince(n: number, sequence: number): boolean {
    return this.rows(WRITTEN_SINCE("''"), n, sequence).length === 0;
  }

  /** A record as of a transaction; null if it was not alive. */
  at(n: number, sequence: number): PastRecord | null {
    return this.parse(this.rows(VERSION_AT(this.members), n, sequence)[0] as VersionRow | undefined);
  }

  /** The last state of a removed record, and the transaction that removed it; null if pruned. */
  beforeRemoval(n: number): { readonly state: PastRecord; readonly removedIn: number } | null {
    const [row] = this.rows(LAST_BEFORE_REMOVAL(this.members), n) as Array<[...VersionRow, removedIn: number]>;
    if (row === undefined) return null;
    const [number, code, observed, members, removedIn] = row;
    const state = this.parse([number, code, observed, members]);
    return state === null ? null : { state, removedIn };
  }

  /** Contents of a container as of a transaction, in page order. */
  membersAt(containerN: number, kind: AnyKind, sequence: number): PastRecord[] {
    const rows = this.rows(
      MEMBERS_AT(membersSql(kind, "v")),
      scopeKey(containerN, kind),
      sequence,
      kind.code,
    ) as VersionRow[];
    return rows.map((row) => this.parse(row)).filter((each) => each !== null);
  }

  /** Whether a record was in a container as of a transaction. */
  wasMember(containerN: number, kind: AnyKind, n: number, sequence: number): boolean {
    return this.rows(WAS_MEMBER, scopeKey(containerN, kind), n, sequence).length > 0;
  }

  /** Whether a record was ever in a container. */
  wasEverMember(containerN: number, kind: AnyKind, n: number): boolean {
    return this.rows(WAS_EVER_MEMBER, scopeKey(containerN, kind), n).length > 0;
  }

  /** Versions of a transaction, by record number. */
  writtenIn(sequence: number): WrittenVersion[] {
    const rows = this.rows(WRITTEN_IN(this.members), sequence) as Array<[...VersionRow, id: string]>;
    return rows.flatMap(([n, code, observed, members, id]) => {
      const kind = this.kind(code);
      if (kind.isPermanent === true) return [];
      return [{ kind, n, id, before: this.at(n, sequence - 1), after: this.parse([n, code, observed, members]) }];
    });
  }

  private parse(row: VersionRow | undefined): PastRecord | null {
    if (row === undefined || row[3] === null) return null;
    const [n, code, observed, members] = row;
    return { kind: this.kind(code), n, record: parseMembers<RecordBase>(members), observed: parseObserved(observed) };
  }

  private kind(code: number): AnyKind {
    const kind = this.kinds.get(code);
    if (kind === undefined) throw new Error(`past: no kind has the code ${code}`);
    return kind;
  }

  private rows(sql: string, ...values: number[]): unknown[][] {
    return this.db.$client.query(sql).values(...values) as unknown[][];
  }
}
