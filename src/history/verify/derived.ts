// What the ledger implies of everything that is kept beside it to make reading cheap: a record's live row, its links,
// and the spans that it lived in its containers. Pure but for looking ids up. Must not write.

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

/** A stretch of the ledger in which a record lived in a scope: from `born` on, until before `died`. */
interface Span {
  readonly scope: number;
  readonly born: number;
  readonly died: number;
}

/** What a record is found by from a transaction on. */
interface TextSince {
  readonly sequence: number;
  readonly ownerN: number;
  readonly text: string;
}

/** What changes of what a record is called with a transaction. */
interface WordsSince {
  readonly sequence: number;
  readonly entries: string;
}

/** The life of one record so far, version by version. */
export interface Life {
  readonly n: number;
  readonly id: string;
  readonly kind: AnyKind;
  readonly organizationN: number;
  /** Scope → the sequence since which the record lives in it. */
  readonly open: Map<number, number>;
  readonly closed: Span[];
  readonly texts: TextSince[];
  readonly words: WordsSince[];
  /** Each of its ends: a record that was brought back may have several. */
  readonly ends: Array<{ readonly sequence: number; readonly identity: string; readonly lineageId: string }>;
  /** Where each of its versions shows: scope and sequence. */
  readonly activity: Array<readonly [number, number]>;
  /** Where each of its versions is counted: scope, sequence and operation. */
  readonly counted: Array<readonly [number, number, VersionOperation]>;
  /** The newest version, and the record as it stands there or, on a tombstone, as it stood last. */
  newest: LedgerVersion;
  record: RecordBase;
}

/** Ids kept at hand; beyond that they are looked up again. */
const MAX_KNOWN_IDS = 100_000;

const RECORD_N = "SELECT n FROM history_records WHERE id = ?";
const FIRST_MEMBERS = `SELECT ${membersSql(networkKind, "v")} FROM history_versions v
  WHERE v.key >= (?1 << 31) ORDER BY v.key LIMIT 1`;

/** What is implied of a life: an upgrade that brings one of these need not work the others out. */
const IMPLIED = ["spans", "activity", "words", "counts", "texts"] as const;
export type Implied = (typeof IMPLIED)[number];

/** Carries lives through their versions, and tells what is implied. */
export class Derivation {
  private readonly knownNs = new Map<string, number>();
  private readonly organizationsOfNetworks = new Map<string, string>();
  private readonly db: Sql;
  private readonly wanted: ReadonlySet<Implied>;

  /** @param wanted what lives are to tell; all of it unless told otherwise */
  constructor(db: Sql, wanted: readonly Implied[] = IMPLIED) {
    this.db = db;
    this.wanted = new Set(wanted);
  }

  /** @throws Error for an id that no record has */
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

  /** A life's beginning. @throws Error where the record names others that are not there */
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
    if (this.wanted.has("spans")) for (const scope of this.scopes(life, record)) life.open.set(scope, version.sequence);
    this.note(life, version, null, record);
    return life;
  }

  /**
   * A life's next version.
   * @param record null at its end
   * @throws Error where the record names others that are not there
   */
  go(life: Life, version: LedgerVersion, record: RecordBase | null): void {
    const before = life.newest.operation === OPERATION.Deleted ? null : life.record;
    life.newest = version;
    if (record !== null) life.record = record;
    this.note(life, version, before, record);
    const identity = record === null ? life.kind.identity(life.record) : null;
    if (identity !== null)
      life.ends.push({ sequence: version.sequence, identity, lineageId: life.record.lineage_id ?? life.id });
    if (this.wanted.has("spans")) this.live(life, version, record);
  }

  /** Where a record lives from a version on, and where no more. */
  private live(life: Life, version: LedgerVersion, record: RecordBase | null): void {
    const scopes = new Set(record === null ? [] : this.scopes(life, record));
    for (const [scope, born] of life.open) {
      if (scopes.has(scope)) continue;
      life.open.delete(scope);
      life.closed.push({ scope, born, died: version.sequence });
    }
    for (const scope of scopes) if (!life.open.has(scope)) life.open.set(scope, version.sequence);
  }

  /** What a version means for where it shows and what finds it. */
  private note(life: Life, version: LedgerVersion, before: RecordBase | null, after: RecordBase | null): void {
    if (this.wanted.has("activity")) this.noteActivity(life, version, before, after);
    if (this.wanted.has("words")) this.noteWords(life, version, before, after);
    if (this.wanted.has("counts")) this.noteCounts(life, version, before, after);
    if (this.wanted.has("texts")) this.noteText(life, version, after);
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

  /** The spans of a life so far, those that it still lives in among them, with ALIVE for their end. */
  spans(life: Life): Span[] {
    return [...life.closed, ...[...life.open].map(([scope, born]) => ({ scope, born, died: ALIVE }))];
  }

  /** The live row of a record that is alive, by column. */
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

  /** The links of a record that is alive: relation and record number, each once. */
  links(life: Life): Array<{ relation: string; target_n: number }> {
    return (life.kind.links?.(life.record) ?? []).flatMap(({ relation, ids }) =>
      [...new Set(ids)].map((id) => ({ relation, target_n: this.n(id) })),
    );
  }

  private scopes(life: Life, record: RecordBase): number[] {
    return scopesOf(life.kind, record, life.organizationN, (id) => this.n(id));
  }

  /** A record says its organization itself, or lives in a network that does; an organization is its own. */
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
