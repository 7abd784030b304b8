// Data derived from the ledger to make reads cheap: a record's live row, links, and spans in its containers. Pure
// except for id lookups. Read-only.

import { activityScopes, countedScopes, isCounted, type VersionOperation } from "../../db/change-counts.ts";
import type { Sql } from "../../db/connection.ts";
import {
  type AnyKind,
  containerId,
  liveIdentity,
  OPERATION,
  operationOf,
  ownColumns,
  parseMembers,
  type RecordBase,
  scopesOf,
} from "../../db/kind.ts";
import { entryPrefixOf, nameIndexChanges } from "../../db/name-entries.ts";
import { ALIVE } from "../../db/schema.ts";
import { searchText } from "../../db/search-text.ts";
import { membersSql } from "../../db/shape.ts";
import { networkKind } from "../../resources/networks/network.ts";
import type { LedgerVersion } from "./ledger-walk.ts";

/** Transactions during which a record was in a scope: from `born` up to, but excluding, `died`. */
interface Span {
  readonly scope: number;
  readonly born: number;
  readonly died: number;
}

/** Full-text entry of a record, from a transaction on. */
interface TextEntry {
  readonly sequence: number;
  readonly ownerN: number;
  readonly text: string;
}

/** Word-index changes for a record in a transaction. */
interface WordEntry {
  readonly sequence: number;
  readonly entries: string;
}

/** History of one record so far, version by version. */
export interface RecordHistory {
  readonly n: number;
  readonly id: string;
  readonly kind: AnyKind;
  readonly organizationN: number;
  /** Scope → the sequence since which the record is in it. */
  readonly open: Map<number, number>;
  readonly closed: Span[];
  readonly texts: TextEntry[];
  readonly words: WordEntry[];
  /** All deletions: a restored record may have several. */
  readonly ends: Array<{ readonly sequence: number; readonly identity: string; readonly lineageId: string }>;
  /** Scopes that show each version, with its sequence. */
  readonly activity: Array<readonly [number, number]>;
  /** Scopes that count each version, with sequence and operation. */
  readonly counted: Array<readonly [number, number, VersionOperation]>;
  /** The newest version, and its record or, for a tombstone, the last record before it. */
  newest: LedgerVersion;
  record: RecordBase;
}

/** Maximum cached ids; beyond it the cache is cleared. */
const MAX_KNOWN_IDS = 100_000;

const RECORD_N = "SELECT n FROM history_records WHERE id = ?";
const FIRST_MEMBERS = `SELECT ${membersSql(networkKind, "v")} FROM history_versions v
  WHERE v.key >= (?1 << 31) ORDER BY v.key LIMIT 1`;

/** Replays versions and collects derived data. */
export class Derivation {
  private readonly knownNs = new Map<string, number>();
  private readonly organizationsOfNetworks = new Map<string, string>();
  private readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** @throws Error if no record has the id */
  n(id: string): number {
    let n = this.knownNs.get(id);
    if (n === undefined) {
      n = this.db.$client.query(RECORD_N).values(id)[0]?.[0] as number | undefined;
      if (n === undefined) throw new Error(`it refers to ${id}, which does not exist`);
      if (this.knownNs.size >= MAX_KNOWN_IDS) this.knownNs.clear();
      this.knownNs.set(id, n);
    }
    return n;
  }

  /**
   * Starts a lifetime with its first version.
   * @throws Error if the record refers to missing ones
   */
  start(kind: AnyKind, id: string, version: LedgerVersion, record: RecordBase): RecordHistory {
    const history: RecordHistory = {
      n: version.n,
      id,
      kind,
      organizationN: this.organizationN(kind, record),
      open: new Map(),
      closed: [],
      texts: [],
      words: [],
      ends: [],
      activity: [],
      counted: [],
      newest: version,
      record,
    };
    for (const scope of this.scopes(history, record)) history.open.set(scope, version.sequence);
    this.derive(history, version, null, record);
    return history;
  }

  /**
   * Adds the next version of a lifetime.
   * @param record null for a deletion
   * @throws Error if the record refers to missing ones
   */
  append(history: RecordHistory, version: LedgerVersion, record: RecordBase | null): void {
    const before = history.newest.operation === OPERATION.Deleted ? null : history.record;
    history.newest = version;
    if (record !== null) history.record = record;
    this.derive(history, version, before, record);
    const identity = record === null ? history.kind.identity(history.record) : null;
    if (identity !== null)
      history.ends.push({ sequence: version.sequence, identity, lineageId: history.record.lineage_id ?? history.id });
    this.updateScopes(history, version, record);
  }

  /** Updates the scopes of a record from a version on. */
  private updateScopes(history: RecordHistory, version: LedgerVersion, record: RecordBase | null): void {
    const scopes = new Set(record === null ? [] : this.scopes(history, record));
    for (const [scope, born] of history.open) {
      if (scopes.has(scope)) continue;
      history.open.delete(scope);
      history.closed.push({ scope, born, died: version.sequence });
    }
    for (const scope of scopes) if (!history.open.has(scope)) history.open.set(scope, version.sequence);
  }

  /** Derives activity, names, counts and search text of a version. */
  private derive(
    history: RecordHistory,
    version: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    this.deriveActivity(history, version, before, after);
    this.deriveWords(history, version, before, after);
    this.deriveCounts(history, version, before, after);
    this.deriveText(history, version, after);
  }

  private deriveActivity(
    history: RecordHistory,
    { sequence }: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    const scopes = [before, after].flatMap((record) =>
      record === null ? [] : activityScopes(history.kind, record, history.organizationN, (id) => this.n(id)),
    );
    for (const scope of new Set(scopes)) history.activity.push([scope, sequence]);
  }

  private deriveWords(
    history: RecordHistory,
    { sequence }: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    const { kind, organizationN } = history;
    if (kind.indexedNames === undefined) return;
    const entries = nameIndexChanges(
      entryPrefixOf(organizationN, kind),
      before === null ? [] : kind.indexedNames(before),
      after === null ? [] : kind.indexedNames(after),
    );
    if (entries !== "") history.words.push({ sequence, entries });
  }

  private deriveCounts(
    history: RecordHistory,
    version: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    const { kind, organizationN } = history;
    const operation = operationOf(version.operation);
    const changed = version.changed === null ? null : (JSON.parse(version.changed) as string[]);
    if (!isCounted(kind, operation, changed)) return;
    for (const scope of countedScopes(kind, [before, after], organizationN, (id) => this.n(id)))
      history.counted.push([scope, version.sequence, operation]);
  }

  private deriveText(history: RecordHistory, { sequence }: LedgerVersion, after: RecordBase | null): void {
    const { search } = history.kind;
    if (search === undefined) return;
    const text = after === null ? "" : searchText(search.texts(after));
    const { text: before, ownerN: ownerBefore } = history.texts.at(-1) ?? { text: "", ownerN: null };
    const ownerN = this.n(search.finds(history.record));
    if (text !== before || (text !== "" && ownerN !== ownerBefore)) history.texts.push({ sequence, ownerN, text });
  }

  /** Spans of a lifetime so far; open ones end with ALIVE. */
  spans(history: RecordHistory): Span[] {
    return [...history.closed, ...[...history.open].map(([scope, born]) => ({ scope, born, died: ALIVE }))];
  }

  /** Live row of a live record, by column. */
  liveRow(history: RecordHistory): Record<string, string | number | null> {
    const { kind, record, newest } = history;
    return {
      n: history.n,
      organization_n: history.organizationN,
      sequence: newest.sequence,
      identity: liveIdentity(kind, record),
      composed: newest.composed,
      sort_keys: newest.currentSortKeys,
      members: newest.currentMembers,
      ...(ownColumns(kind, record, (id) => this.n(id)) as Record<string, string | number | null>),
    };
  }

  /** Distinct links of a live record: relation and record number. */
  links(history: RecordHistory): Array<{ relation: string; target_n: number }> {
    return (history.kind.links?.(history.record) ?? []).flatMap(({ relation, ids }) =>
      [...new Set(ids)].map((id) => ({ relation, target_n: this.n(id) })),
    );
  }

  private scopes(history: RecordHistory, record: RecordBase): number[] {
    return scopesOf(history.kind, record, history.organizationN, (id) => this.n(id));
  }

  /** A record contains its organization, or belongs to a network that does; an organization is its own. */
  private organizationN(kind: AnyKind, record: RecordBase): number {
    const own = (record as { organization_id?: unknown }).organization_id;
    if (typeof own === "string") return this.n(own);
    const network = containerId(kind, record, "network");
    return this.n(network === null ? record.id : this.organizationOfNetwork(network));
  }

  private organizationOfNetwork(networkId: string): string {
    let organization = this.organizationsOfNetworks.get(networkId);
    if (organization === undefined) {
      const members = this.db.$client.query(FIRST_MEMBERS).values(this.n(networkId))[0]?.[0] as string | undefined;
      organization =
        members === undefined ? undefined : parseMembers<{ organization_id?: string }>(members).organization_id;
      if (organization === undefined) throw new Error(`its network ${networkId} belongs to no organization`);
      this.organizationsOfNetworks.set(networkId, organization);
    }
    return organization;
  }
}
