// Writer for a transaction's net effect: records, versions, live rows, spans, census and the transaction row.
//
// FORMAT (migrations/0001_ledger.sql, 0005, 0012, 0028)
//
// history_transactions  one row per write: sequence, `at`, author, command, last_n, reason, hash
// history_records       one row per record that ever existed: n, kind, id
// history_versions      one row per record and transaction that changed it
// history_thinned       key and hash of each version that a prune dropped
// history_segments      the ranges of sequences that prunes thinned
//
// These are the ledger. Everything else written here is derived from it: live tables, links, spans, census, blocks,
// activity, change counts, words, search text and lineages. `verify --repair-derived` rebuilds all of it. Observations
// are neither: they are refreshed in place and carry checksums.
//
// KEYS. A version's key is n << 31 | sequence. The versions of one record are adjacent and in chronological order, so
// the state of a record at a sequence is one seek: the greatest key <= n << 31 | sequence. n has 32 bits and the
// sequence 31, so keys exceed 2^53: they are combined and split only in SQL.
//   K1  Sequences are consecutive and `at` strictly increases. WriteTransaction computes both from the head;
//       history_transactions_are_appended asserts both.
//   K2  Record numbers are consecutive and ids never reused: newRecord() assigns them, history_records_are_appended
//       asserts it.
//   K3  Within a transaction, new records are numbered by kind, then id, so page order (created_at, id) is the order of
//       n. Only verify checks this: write() sorts directly before numbering, and revived records keep their old n.
//   K4  last_n is the highest n ever assigned. Reads of the past skip higher numbers without a lookup. Only verify
//       checks it: close() reads it from history_records, whose numbering K2 asserts, in the same transaction.
//   K5  A version belongs to the open transaction, the one whose row does not exist yet, and its key is new:
//       history_versions_belong_to_the_open_transaction asserts. The transaction row is written last and seals it.
//   K6  No row is changed or deleted: triggers assert it. Only a prune and `compact` lift them, on an offline store and
//       within one SQLite transaction (history/guards-off.ts).
//   K7  A tombstone, and only a tombstone, has no members: a CHECK asserts. A record's first version is its creation,
//       and only a creation follows a tombstone. Only verify checks the order: operations are computed from the live
//       row, and inserting a second live row of the same n violates its primary key.
//   K8  valid_from is the transaction's `at` as text. Only verify checks it: the constructor formats it once for all.
//
// PATCHES (db/packing.ts). An update may be stored as a patch: the bytes that differ from the record's last whole
// version, its base, and the number of equal bytes before and after. Creations and tombstones are whole.
//   P1  A base is whole, so unpacking never recurses: base() selects only rows without a patch.
//   P2  At most VERSIONS_PER_BASE patches follow a base: packed() writes a whole version instead of another one.
//   P3  Base and patch agree on the names that indexes of history_versions match: packVersion() refuses otherwise.
//   P4  Unpacking yields the hashed text. Not asserted here, since it would read back every row: verify recomputes each
//       hash from the unpacked text, and `compact` runs it before and after.
//   P5  A base outlives its patches: a prune unpacks those of a dropped base first (history/pack-versions.ts). Not
//       asserted, as a lost base changes the unpacked text: the prune's own verification finds it before its commit.
//
// HASHES (db/hash.ts). A version's hash covers id, kind, sequence, operation, shape, composed, changed, sort_keys,
// observed and members, unpacked. It omits valid_from, which follows from the transaction, and patch, which is
// storage. A transaction's hash covers the previous hash, all its columns, the number of its versions, their hashes in
// ascending n and, if set, the reason. Values are length-prefixed in UTF-16 code units, so different rows have
// different input. The head's hash therefore covers the whole ledger.
//   H1  Version hashes are chained in order of n: close() sorts. Only verify checks it, by recomputing the chain.
//   H2  A dropped version keeps its hash in history_thinned, so the chain still verifies. A trigger reserves that table
//       to prunes.
//
// SPANS. A span [born, died) says that record n was in a scope from transaction born until just before died; died is
// ALIVE while it still is. A scope is container number * 64 + kind code (db/kind.ts). A list as of a sequence is the
// spans with n <= last_n and born <= sequence < died, in order of n.
//   S1  A record opens a span in a scope at most once per transaction: the primary key asserts.
//   S2  Spans of a record in a scope do not overlap. Not asserted, since it costs a lookup per row: update() opens and
//       closes only the difference of two scope sets, and closing addresses the one open span. verify derives the spans
//       of every record from its versions and compares.
//   S3  Live rows equal the newest versions, and their links equal their members. Not asserted, since both are written
//       from the same rendered text: verify compares every row. isLinkedTo() asserts that no removed record is still
//       referenced.
//
// CENSUS. history_census has a row for each transaction that changed the number of open spans of a scope, with that
// number; a total at any sequence is one seek. A block has the live count and the last end among 1,024 neighboring n
// of a large scope, so that walks of the past skip dead ranges.
//   C1  Counts are never negative: CHECKs assert.
//   C2  A count equals the open spans at its sequence. Not asserted, since counting costs the size of the scope:
//       enter() and leave() are the only writers of both, and verify compares them (history/verify/census.ts).
//   C3  A row is written only if the count changed, so equal neighbors do not occur: write() skips a delta of 0.
//
// Foreign keys and these triggers dictate the order in write(): records, live rows, links, updates, removals, counts,
// versions, and the transaction row last.

import { alreadyExists, DomainError } from "../../base/errors.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import {
  activityScopes,
  type ChangeCounts,
  countedScopes,
  haveSameScopes,
  isCounted,
  type VersionOperation,
} from "../change-counts.ts";
import { hashTransaction, hashVersion } from "../hash.ts";
import {
  type AnyKind,
  containerId,
  isInSameScopes,
  liveIdentity,
  type Observed,
  OPERATION,
  ownColumns,
  type RecordBase,
  type RelatedIds,
  renderMembers,
  renderObserved,
  scopeKey,
  scopesOf,
} from "../kind.ts";
import { entryPrefixOf, nameIndexChanges } from "../name-entries.ts";
import { type PackedTexts, packVersion, VERSIONS_PER_BASE } from "../packing.ts";
import { BLOCK_BITS } from "../schema.ts";
import { searchText } from "../search-text.ts";
import { shapeOf } from "../shape.ts";
import { sqliteCode } from "../sqlite-code.ts";
import type { Entry, EntryChange } from "./entry.ts";
import { ROWS_PER_INSERT } from "./native-statement.ts";
import type { Statements, VersionRow } from "./statements.ts";

/** Author of a write. The ledger stores a copy that outlives the actor. */
export interface Author {
  readonly type: "User" | "ApiKey" | "Discovery" | "System";
  readonly id: string | null;
  readonly name: string;
  readonly organizationId: string | null;
  readonly requestId: string | null;
  /** Reason given by the caller (X-Change-Reason); absent if none. */
  readonly reason?: string | null;
  /** User behind the write: all keys of a user share one queue. Not stored in the ledger. */
  readonly userId?: string | null;
}

/** Transaction data for the ledger. */
interface TransactionData {
  readonly sequence: number;
  readonly instant: Instant;
  readonly wallAt: Instant;
  readonly author: Author;
  /** Name of the command: `host.update`. */
  readonly source: string;
  readonly statements: Statements;
  recordN(id: string): number | null;
}

/**
 * Maximum records created per transaction: twice a bulk of 1,000 hosts with 48 interfaces each. A small body that
 * expands into more would fill the ledger, which never shrinks, and block all other writers.
 */
export const MAX_CREATED_PER_TRANSACTION = 100_000;

/** A record as JSON: members, observation values, and sort keys. */
interface Rendered {
  readonly members: string;
  readonly observed: string;
  readonly sort_keys: string | null;
}

const UNPACKED = { patch: null } as const;

/** Scopes that show and count a record's change. */
interface ChangeScopes {
  readonly kind: AnyKind;
  readonly organizationN: number;
  readonly record: RecordBase;
  /** Whether activity is already recorded. */
  isActive: boolean;
  /** Counters of these scopes; null until first used. */
  counts: ChangeCounts[] | null;
}

/** @throws DomainError payload_too_large */
export function writeLedger(tx: TransactionData, changes: EntryChange[]): void {
  const created = changes.reduce((count, change) => count + (change.operation === "Created" ? 1 : 0), 0);
  if (created > MAX_CREATED_PER_TRANSACTION) {
    throw new DomainError(
      "payload_too_large",
      `The write would create ${created} records; the limit is ${MAX_CREATED_PER_TRANSACTION}. Split it.`,
      { limit_records: MAX_CREATED_PER_TRANSACTION },
    );
  }
  new LedgerWriter(tx).write(changes);
}

class LedgerWriter {
  private readonly tx: TransactionData;
  private readonly at: string;
  private readonly census = new Map<number, number>();
  /** The last assigned record number; null until needed. */
  private lastN: number | null = null;
  /** Pending rows. */
  private versions: VersionRow[] = [];
  private observed: Array<{ n: number; observed: string }> = [];
  private spans: Array<{ scope: number; n: number }> = [];
  private readonly texts: Array<{ n: number; sequence: number; owner_n: number; text: string }> = [];
  private readonly words: Array<{ n: number; sequence: number; entries: string }> = [];
  private readonly hashes: Array<{ n: number; hash: Uint8Array }> = [];
  private readonly numbers = new Map<string, number>();
  private readonly active = new Set<number>();
  private readonly counts = new Map<number, ChangeCounts>();
  private readonly blocks = new Map<number, Map<number, { alive: number; died: number }>>();
  private lastChangeScopes: ChangeScopes | null = null;
  private lastObserved: { kind: AnyKind; observed: Observed; text: string } | null = null;

  constructor(tx: TransactionData) {
    this.tx = tx;
    this.at = formatInstant(tx.instant);
  }

  write(changes: EntryChange[]): void {
    const creations = changes.filter((change) => change.operation === "Created");
    const updates = changes.filter((change) => change.operation === "Updated");
    const removals = changes.filter((change) => change.operation === "Deleted");
    this.freeIdentities(updates, removals, creations);
    // Children before the records they refer to, otherwise by number: the ledger alone must determine who was last.
    removals.sort((a, b) => b.entry.kind.code - a.entry.kind.code || a.entry.n - b.entry.n);
    // Before the creations: a record removed and recreated in one transaction keeps its lineage.
    for (const { entry } of removals) this.storeLineage(entry);
    // Numbers define page order: records created at one time sort by id.
    creations.sort((a, b) => a.entry.kind.code - b.entry.kind.code || (a.entry.id < b.entry.id ? -1 : 1));
    // Records first: all other rows refer to their numbers, those of one kind to each other's.
    const batches = Array.from({ length: Math.ceil(creations.length / ROWS_PER_INSERT) }, (_, index) =>
      creations.slice(index * ROWS_PER_INSERT, (index + 1) * ROWS_PER_INSERT),
    );
    for (const batch of batches) this.numberMany(batch);
    for (const batch of batches) this.createMany(batch);
    // Afterwards, as records created together may refer to each other.
    for (const change of creations) this.link(change.entry);
    for (const change of updates) this.update(change);
    // References first: records removed together may refer to each other.
    for (const { entry } of removals) this.tx.statements.unlink(entry.n);
    for (const change of removals) this.remove(change.entry);
    for (const [scope, delta] of this.census)
      if (delta !== 0) this.tx.statements.addToCensus(scope, this.tx.sequence, delta);
    for (const [scope, blocks] of this.blocks)
      for (const [block, { alive, died }] of blocks) this.tx.statements.addToBlock(scope, block, alive, died);
    for (const scope of this.active) this.tx.statements.addActivity(scope, this.tx.sequence);
    for (const [scope, counts] of this.counts) this.tx.statements.addChangeCounts(scope, this.tx.sequence, counts);
    this.close();
  }

  private numberMany(creations: readonly EntryChange[]): void {
    const rows: Array<{ n: number; kind: number; id: string }> = [];
    for (const { entry } of creations) {
      entry.after = entry.n > 0 ? this.revivedRecord(entry) : this.newRecord(entry, rows);
      this.numbers.set(entry.id, entry.n);
    }
    this.tx.statements.appendRecords(rows);
  }

  private createMany(creations: readonly EntryChange[]): void {
    for (const { entry } of creations) this.create(entry);
    this.tx.statements.insertObserved(this.observed);
    this.observed = [];
  }

  private create(entry: Entry): void {
    const { statements, sequence } = this.tx;
    const kind = entry.kind;
    const record = entry.after as RecordBase;
    if (entry.organizationN === 0) entry.organizationN = this.nOf(entry.organizationId as string);
    const rendered = this.render(entry);
    this.checkingUnique(kind, record, () => statements.insertLive(kind, this.liveRow(entry, rendered)));
    if (kind.observed.length > 0) this.observed.push({ n: entry.n, observed: rendered.observed });
    for (const scope of this.scopes(entry, record)) this.enter(scope, entry.n);
    for (const scope of largeScopes(entry, record, (id) => this.nOf(id))) this.block(scope, entry.n, 1);
    this.version(entry, "Created", null, rendered, sequence);
  }

  /** Assigns the next number to a new record. */
  private newRecord(entry: Entry, rows: Array<{ n: number; kind: number; id: string }>): RecordBase {
    const { kind } = entry;
    const { statements } = this.tx;
    const identity = kind.identity(entry.after as RecordBase);
    const last = identity === null ? null : statements.lineage(kind.code, identity);
    const lineage = entry.lineageId === undefined ? last : entry.lineageId;
    const at = this.at;
    // A kind that omits absent fields in lists omits them in its members too.
    const lineage_id = (kind.absent === "omitted" && lineage === null ? undefined : lineage) as string | null;
    this.lastN = (this.lastN ?? statements.lastN()) + 1;
    entry.n = this.lastN;
    rows.push({ n: entry.n, kind: kind.code, id: entry.id });
    return { ...(entry.after as RecordBase), lineage_id, created_at: at, updated_at: at, valid_from: at };
  }

  /** A revived record keeps its number, creation time and lineage. */
  private revivedRecord(entry: Entry): RecordBase {
    return { ...(entry.after as RecordBase), updated_at: this.at, valid_from: this.at };
  }

  private update(change: EntryChange): void {
    const { entry } = change;
    const { statements, sequence } = this.tx;
    const before = entry.before as RecordBase;
    const record: RecordBase = { ...(entry.after as RecordBase), updated_at: this.at, valid_from: this.at };
    entry.after = record;
    const rendered = this.render(entry);
    const { kind } = entry;
    if (
      liveIdentity(kind, before) === liveIdentity(kind, record) &&
      Bun.deepEquals(ownColumns(kind, before, asId), ownColumns(kind, record, asId))
    ) {
      // An UPDATE that names an indexed column rewrites its index entry even if the value is unchanged.
      const { sort_keys, members } = rendered;
      statements.updateContent(kind, { n: entry.n, sequence, composed: entry.composed ? 1 : 0, sort_keys, members });
    } else {
      this.checkingUnique(kind, record, () => statements.updateLive(kind, this.liveRow(entry, rendered)));
    }
    if (entry.kind.links !== undefined) this.relink(entry.n, entry.kind.links(before), entry.kind.links(record));
    if (!isInSameScopes(kind, before, record)) {
      const left = new Set(this.scopes(entry, before));
      for (const scope of this.scopes(entry, record)) if (!left.delete(scope)) this.enter(scope, entry.n);
      for (const scope of left) this.leave(scope, entry.n);
      const leftLarge = new Set(largeScopes(entry, before, (id) => this.nOf(id)));
      for (const scope of largeScopes(entry, record, (id) => this.nOf(id)))
        if (!leftLarge.delete(scope)) this.block(scope, entry.n, 1);
      for (const scope of leftLarge) this.block(scope, entry.n, -1);
    }
    this.version(entry, "Updated", change.changed, rendered, sequence);
  }

  private remove(entry: Entry): void {
    const { statements, sequence } = this.tx;
    const before = entry.before as RecordBase;
    const kind = entry.kind;
    if (statements.isLinkedTo(entry.n)) throw new Error(`ledger: ${kind.name} ${entry.id} is still referred to`);
    if (kind.observed.length > 0) statements.deleteObserved(entry.n);
    statements.deleteLive(kind, entry.n);
    for (const scope of this.scopes(entry, before)) this.leave(scope, entry.n);
    for (const scope of largeScopes(entry, before, (id) => this.nOf(id))) this.block(scope, entry.n, -1);
    this.version(entry, "Deleted", null, { members: null, observed: "", sort_keys: null }, sequence);
  }

  private storeLineage(entry: Entry): void {
    const before = entry.before as RecordBase;
    const identity = entry.kind.identity(before);
    if (identity !== null) this.tx.statements.storeLineage(entry.kind.code, identity, before.lineage_id ?? before.id);
  }

  /** Allows records to swap unique identities, or one to take over another's, within one transaction. */
  private freeIdentities(updates: EntryChange[], removals: EntryChange[], creations: EntryChange[]): void {
    const claimed = new Set<string>();
    const freed: Array<{ entry: Entry; key: string }> = [];
    for (const { entry } of creations) {
      const identity = liveIdentity(entry.kind, entry.after as RecordBase);
      if (identity !== null) claimed.add(`${entry.kind.code}/${identity}`);
    }
    for (const { entry } of updates) {
      const old = liveIdentity(entry.kind, entry.before as RecordBase);
      const now = liveIdentity(entry.kind, entry.after as RecordBase);
      if (old === now) continue;
      if (now !== null) claimed.add(`${entry.kind.code}/${now}`);
      if (old !== null) freed.push({ entry, key: `${entry.kind.code}/${old}` });
    }
    for (const { entry } of removals) {
      const old = liveIdentity(entry.kind, entry.before as RecordBase);
      if (old !== null) freed.push({ entry, key: `${entry.kind.code}/${old}` });
    }
    for (const { entry, key } of freed) if (claimed.has(key)) this.tx.statements.clearIdentity(entry.kind, entry.n);
  }

  private render(entry: Entry): Rendered {
    const { sortKeys } = entry.kind;
    return {
      members: renderMembers(entry.after as RecordBase),
      observed: this.observedText(entry),
      sort_keys: sortKeys === undefined ? null : JSON.stringify(sortKeysOf(sortKeys, entry.after as RecordBase)),
    };
  }

  /** Caches the last text: everything from one scan has the same scan id and time. */
  private observedText({ kind, observed }: Entry): string {
    const { lastObserved: last } = this;
    if (last?.kind === kind && kind.observed.every((field) => observed[field] === last.observed[field]))
      return last.text;
    const text = renderObserved(kind, observed);
    this.lastObserved = { kind, observed, text };
    return text;
  }

  private liveRow(entry: Entry, rendered: Pick<Rendered, "members" | "sort_keys">): Record<string, unknown> {
    const record = entry.after as RecordBase;
    return {
      n: entry.n,
      organization_n: entry.organizationN,
      sequence: this.tx.sequence,
      identity: liveIdentity(entry.kind, record),
      composed: entry.composed ? 1 : 0,
      sort_keys: rendered.sort_keys,
      members: rendered.members,
      ...ownColumns(entry.kind, record, (id) => this.nOf(id)),
    };
  }

  private version(
    entry: Entry,
    operation: VersionOperation,
    changed: string[] | null,
    rendered: { members: string | null; observed: string; sort_keys: string | null },
    sequence: number,
  ): void {
    const row = {
      operation: OPERATION[operation],
      shape: shapeOf(entry.kind),
      composed: operation !== "Deleted" && entry.composed ? 1 : 0,
      changed: changed === null ? null : JSON.stringify(changed),
      sort_keys: rendered.sort_keys,
      observed: rendered.observed,
      members: rendered.members,
    };
    const hash = hashVersion({ id: entry.id, kind: entry.kind.code, sequence, ...row });
    const packed = operation === "Updated" ? this.packed(entry.n, rendered as Rendered) : UNPACKED;
    this.versions.push({ n: entry.n, sequence, valid_from: this.at, hash, ...row, ...packed });
    if (this.versions.length === ROWS_PER_INSERT) this.writeVersions();
    this.hashes.push({ n: entry.n, hash });
    this.noteChange(entry, isCounted(entry.kind, operation, changed) ? operation : null);
    this.noteText(entry);
    this.noteWords(entry);
  }

  /** Packs a version against the record's last base, if possible. */
  private packed(n: number, rendered: Rendered): typeof UNPACKED | PackedTexts {
    const base = this.tx.statements.base(n, this.tx.sequence);
    if (base === null || base.followers >= VERSIONS_PER_BASE) return UNPACKED;
    return packVersion(base, rendered, this.at) ?? UNPACKED;
  }

  private writeVersions(): void {
    this.tx.statements.insertVersions(this.versions);
    this.versions = [];
  }

  /**
   * Runs last and in key order: FTS5 flushes its pending data as an extra segment on any other write, and on any key
   * lower than the previous one.
   */
  private writeWords(): void {
    const { statements } = this.tx;
    statements.insertSearchTexts(this.texts.sort((a, b) => a.n - b.n));
    statements.insertWords(this.words.sort((a, b) => a.n - b.n));
  }

  private writeSpans(): void {
    this.tx.statements.openSpan(this.spans, this.tx.sequence);
    this.spans = [];
  }

  /** @param counted operation to count; null if the version does not count */
  private noteChange(entry: Entry, counted: VersionOperation | null): void {
    const changeScopes = this.changeScopesOf(entry);
    if (!changeScopes.isActive) this.noteActivity(entry);
    changeScopes.isActive = true;
    if (counted !== null) for (const counts of (changeScopes.counts ??= this.countsOf(entry))) counts[counted] += 1;
  }

  /** Reuses the previous record's scopes: most records written together, such as the parts of one host, share them. */
  private changeScopesOf({ kind, organizationN, before, after }: Entry): ChangeScopes {
    const record = (after ?? before) as RecordBase;
    const changeScopes = { kind, organizationN, record, isActive: false, counts: null };
    if (before !== null && !haveSameScopes(kind, before, record)) return changeScopes;
    const { lastChangeScopes: last } = this;
    if (last?.kind === kind && last.organizationN === organizationN && haveSameScopes(kind, last.record, record))
      return last;
    this.lastChangeScopes = changeScopes;
    return changeScopes;
  }

  private noteActivity(entry: Entry): void {
    const records = [entry.before, entry.after].filter((record) => record !== null);
    const scopes = records.flatMap((record) =>
      activityScopes(entry.kind, record, entry.organizationN, (id) => this.nOf(id)),
    );
    for (const scope of scopes) this.active.add(scope);
  }

  private countsOf({ kind, organizationN, before, after }: Entry): ChangeCounts[] {
    return countedScopes(kind, [before, after], organizationN, (id) => this.nOf(id)).map((scope) => {
      let counts = this.counts.get(scope);
      if (counts === undefined) this.counts.set(scope, (counts = { Created: 0, Updated: 0, Deleted: 0 }));
      return counts;
    });
  }

  /** Records changed full-text entries, or a changed owner of them. */
  private noteText(entry: Entry): void {
    const { search } = entry.kind;
    if (search === undefined) return;
    const oldTexts = entry.before === null ? {} : search.texts(entry.before);
    const newTexts = entry.after === null ? {} : search.texts(entry.after);
    const owner = search.finds((entry.after ?? entry.before) as RecordBase);
    const isMoved = entry.before !== null && search.finds(entry.before) !== owner;
    if (!isMoved && Bun.deepEquals(oldTexts, newTexts)) return;
    const before = searchText(oldTexts);
    const after = searchText(newTexts);
    if (before === after && (!isMoved || after === "")) return;
    const ownerN = this.nOf(owner);
    this.texts.push({ n: entry.n, sequence: this.tx.sequence, owner_n: ownerN, text: after });
  }

  /** Records changes to searchable names. */
  private noteWords({ kind, n, organizationN, before, after }: Entry): void {
    const { indexedNames } = kind;
    if (indexedNames === undefined) return;
    const entries = nameIndexChanges(
      entryPrefixOf(organizationN, kind),
      before === null ? [] : indexedNames(before),
      after === null ? [] : indexedNames(after),
    );
    if (entries !== "") this.words.push({ n, sequence: this.tx.sequence, entries });
  }

  /** The transaction row comes last: it seals the transaction against more versions. */
  private close(): void {
    this.writeVersions();
    this.writeSpans();
    this.writeWords();
    const { statements, author, source, sequence, instant, wallAt } = this.tx;
    const row = {
      sequence,
      at: instant,
      wall_at: wallAt,
      organization_id: author.organizationId,
      actor_type: author.type,
      actor_id: author.id,
      actor_name: author.name,
      request_id: author.requestId,
      source,
      last_n: statements.lastN(),
      reason: author.reason ?? null,
    };
    this.hashes.sort((a, b) => a.n - b.n);
    const versionHashes = this.hashes.map((each) => each.hash);
    const hash = hashTransaction(statements.headHash(), row, versionHashes);
    statements.insertTransaction({ ...row, hash });
  }

  private link(entry: Entry): void {
    for (const link of entry.kind.links?.(entry.after as RecordBase) ?? []) {
      for (const target of new Set(link.ids)) this.tx.statements.link(entry.n, link.relation, this.nOf(target));
    }
  }

  /** Writes only the difference: a trunk may list four thousand VLANs, of which one changes. */
  private relink(n: number, before: readonly RelatedIds[], after: readonly RelatedIds[]): void {
    for (const { relation, ids } of after) {
      const old = before.find((link) => link.relation === relation)?.ids ?? [];
      if (ids === old || (ids.length === old.length && ids.every((id, at) => id === old[at]))) continue;
      const removed = new Set(old);
      const added = new Set(ids.filter((id) => !removed.has(id)));
      for (const id of ids) removed.delete(id);
      for (const id of removed) this.tx.statements.unlinkOne(n, relation, this.nOf(id));
      for (const id of added) this.tx.statements.link(n, relation, this.nOf(id));
    }
  }

  private scopes(entry: Entry, record: RecordBase): number[] {
    return scopesOf(entry.kind, record, entry.organizationN, (id) => this.nOf(id));
  }

  private enter(scope: number, n: number): void {
    this.spans.push({ scope, n });
    if (this.spans.length === ROWS_PER_INSERT) this.writeSpans();
    this.census.set(scope, (this.census.get(scope) ?? 0) + 1);
  }

  private leave(scope: number, n: number): void {
    this.tx.statements.closeSpan(scope, n, this.tx.sequence);
    this.census.set(scope, (this.census.get(scope) ?? 0) - 1);
  }

  /** Updates the live count of a record number's block. */
  private block(scope: number, n: number, delta: number): void {
    const blocks = this.blocks.get(scope) ?? new Map<number, { alive: number; died: number }>();
    this.blocks.set(scope, blocks);
    const number = Math.floor(n / 2 ** BLOCK_BITS);
    const block = blocks.get(number) ?? { alive: 0, died: 0 };
    blocks.set(number, block);
    block.alive += delta;
    if (delta < 0) block.died = this.tx.sequence;
  }

  private nOf(id: string): number {
    const known = this.numbers.get(id);
    if (known !== undefined) return known;
    const n = this.tx.recordN(id);
    if (n === null) throw new Error(`ledger: no record has the id ${id}`);
    this.numbers.set(id, n);
    return n;
  }

  private checkingUnique(kind: AnyKind, record: RecordBase, write: () => void): void {
    try {
      write();
    } catch (error) {
      if (kind.unique !== null && isUniqueViolation(error))
        throw alreadyExists(kind, kind.unique.field, kind.unique.value(record));
      throw error;
    }
  }
}

function sortKeysOf(sortKeys: NonNullable<AnyKind["sortKeys"]>, record: RecordBase): Record<string, string> {
  const keys: Record<string, string> = {};
  for (const [field, keyOf] of Object.entries(sortKeys)) {
    const value = Reflect.get(record, field);
    if (keyOf !== undefined && value !== null && value !== undefined) keys[field] = keyOf(value);
  }
  return keys;
}

/** Scopes of the organization and network, which may hold many records. */
function largeScopes(entry: Entry, record: RecordBase, n: (id: string) => number): number[] {
  const networkId = containerId(entry.kind, record, "network");
  const containers = networkId === null ? [entry.organizationN] : [entry.organizationN, n(networkId)];
  return containers.map((container) => scopeKey(container, entry.kind));
}

function isUniqueViolation(error: unknown): boolean {
  return sqliteCode(error) === "SQLITE_CONSTRAINT_UNIQUE";
}

/** Substitute for record numbers when comparing columns: equal ids have equal numbers. */
function asId(id: string): number {
  return id as unknown as number;
}
