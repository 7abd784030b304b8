// Data derived from the ledger to make reads cheap: a record's live row, links, and spans in its containers. Pure
// except for id lookups. Must not write.

import { calledChanges, entryPlace } from "../../db/called-words.ts";
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
interface TextSince {
  readonly sequence: number;
  readonly ownerN: number;
  readonly text: string;
}

/** Word-index changes of a record in a transaction. */
interface WordsSince {
  readonly sequence: number;
  readonly entries: string;
}

/** History of one record so far, version by version. */
export interface Life {
  readonly n: number;
  readonly id: string;
  readonly kind: AnyKind;
  readonly organizationN: number;
  /** Scope → the sequence since which the record is in it. */
  readonly open: Map<number, number>;
  readonly closed: Span[];
  readonly texts: TextSince[];
  readonly words: WordsSince[];
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
      if (n === undefined) throw new Error(`it names ${id}, which no record has`);
      if (this.knownNs.size >= MAX_KNOWN_IDS) this.knownNs.clear();
      this.knownNs.set(id, n);
    }
    return n;
  }

  /** Starts a life with its first version. @throws Error if the record refers to missing ones */
  begin(kind: AnyKind, id: string, version: LedgerVersion, record: RecordBase): Life {
    const life: Life = {
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
    for (const scope of this.scopes(life, record)) life.open.set(scope, version.sequence);
    this.note(life, version, null, record);
    return life;
  }

  /**
   * Adds a life's next version.
   * @param record null for a deletion
   * @throws Error if the record refers to missing ones
   */
  go(life: Life, version: LedgerVersion, record: RecordBase | null): void {
    const before = life.newest.operation === OPERATION.Deleted ? null : life.record;
    life.newest = version;
    if (record !== null) life.record = record;
    this.note(life, version, before, record);
    const identity = record === null ? life.kind.identity(life.record) : null;
    if (identity !== null)
      life.ends.push({ sequence: version.sequence, identity, lineageId: life.record.lineage_id ?? life.id });
    this.live(life, version, record);
  }

  /** Updates the scopes of a record from a version on. */
  private live(life: Life, version: LedgerVersion, record: RecordBase | null): void {
    const scopes = new Set(record === null ? [] : this.scopes(life, record));
    for (const [scope, born] of life.open) {
      if (scopes.has(scope)) continue;
      life.open.delete(scope);
      life.closed.push({ scope, born, died: version.sequence });
    }
    for (const scope of scopes) if (!life.open.has(scope)) life.open.set(scope, version.sequence);
  }

  /** Derives activity, names, counts and texts of a version. */
  private note(life: Life, version: LedgerVersion, before: RecordBase | null, after: RecordBase | null): void {
    this.noteActivity(life, version, before, after);
    this.noteWords(life, version, before, after);
    this.noteCounts(life, version, before, after);
    this.noteText(life, version, after);
  }

  private noteActivity(
    life: Life,
    { sequence }: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    const scopes = [before, after].flatMap((record) =>
      record === null ? [] : activityScopes(life.kind, record, life.organizationN, (id) => this.n(id)),
    );
    for (const scope of new Set(scopes)) life.activity.push([scope, sequence]);
  }

  private noteWords(
    life: Life,
    { sequence }: LedgerVersion,
    before: RecordBase | null,
    after: RecordBase | null,
  ): void {
    const { kind, organizationN } = life;
    if (kind.called === undefined) return;
    const entries = calledChanges(
      entryPlace(organizationN, kind),
      before === null ? [] : kind.called(before),
      after === null ? [] : kind.called(after),
    );
    if (entries !== "") life.words.push({ sequence, entries });
  }

  private noteCounts(life: Life, version: LedgerVersion, before: RecordBase | null, after: RecordBase | null): void {
    const { kind, organizationN } = life;
    const operation = operationOf(version.operation);
    const changed = version.changed === null ? null : (JSON.parse(version.changed) as string[]);
    if (!isCounted(kind, operation, changed)) return;
    for (const scope of countedScopes(kind, [before, after], organizationN, (id) => this.n(id)))
      life.counted.push([scope, version.sequence, operation]);
  }

  private noteText(life: Life, { sequence }: LedgerVersion, after: RecordBase | null): void {
    const { search } = life.kind;
    if (search === undefined) return;
    const text = after === null ? "" : searchText(search.texts(after));
    const { text: before, ownerN: ownerBefore } = life.texts.at(-1) ?? { text: "", ownerN: null };
    const ownerN = this.n(search.finds(life.record));
    if (text !== before || (text !== "" && ownerN !== ownerBefore)) life.texts.push({ sequence, ownerN, text });
  }

  /** Spans of a life so far; open ones end with ALIVE. */
  spans(life: Life): Span[] {
    return [...life.closed, ...[...life.open].map(([scope, born]) => ({ scope, born, died: ALIVE }))];
  }

  /** Live row of a live record, by column. */
  liveRow(life: Life): Record<string, string | number | null> {
    const { kind, record, newest } = life;
    return {
      n: life.n,
      organization_n: life.organizationN,
      sequence: newest.sequence,
      identity: liveIdentity(kind, record),
      composed: newest.composed,
      sort_keys: newest.sortKeysToday,
      members: newest.membersToday,
      ...(ownColumns(kind, record, (id) => this.n(id)) as Record<string, string | number | null>),
    };
  }

  /** Distinct links of a live record: relation and record number. */
  links(life: Life): Array<{ relation: string; target_n: number }> {
    return (life.kind.links?.(life.record) ?? []).flatMap(({ relation, ids }) =>
      [...new Set(ids)].map((id) => ({ relation, target_n: this.n(id) })),
    );
  }

  private scopes(life: Life, record: RecordBase): number[] {
    return scopesOf(life.kind, record, life.organizationN, (id) => this.n(id));
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
      if (organization === undefined) throw new Error(`it lives in ${networkId}, which is in no organization`);
      this.organizationsOfNetworks.set(networkId, organization);
    }
    return organization;
  }
}
