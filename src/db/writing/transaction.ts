// The writer's unit of work: commands change records in it, and finishing writes the net effect: at most one version
// per record, one ledger transaction, one timestamp. Independent of resources and HTTP.

import { alreadyExists, DomainError, notFound } from "../../base/errors.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import type { UuidSource } from "../../base/uuid.ts";
import { withoutInvisible } from "../../base/visible.ts";
import type { Sql } from "../connection.ts";
import {
  type AnyKind,
  type Kind,
  liveIdentity,
  type NoOtherFields,
  type Observed,
  type OPERATION,
  type OwnFields,
  parseMembers,
  parseObserved,
  type RecordBase,
  seenIdentity,
} from "../kind.ts";
import { ChangedRecords, referencedId } from "./changed-records.ts";
import { type Entry, type EntryChange, netChange } from "./entry.ts";
import { type Author, writeLedger } from "./ledger.ts";
import type { Statements } from "./statements.ts";

/** Outcome of a command: the sequence of its ledger transaction, or null if nothing changed. */
export interface CommandOutcome<T> {
  readonly sequence: number | null;
  readonly result: T;
  /** For a command that wrote nothing: the last transaction it saw, as of which the response is read. */
  readonly head?: number;
  /** The same request was executed before, and was not executed again. */
  readonly isReplayed?: true;
}

interface LiveRow {
  n: number;
  organization_n: number;
  sequence: number;
  composed: number;
  members: string;
  observed: string | null;
}

/** Net change of one record within a transaction. */
export interface NetChange {
  readonly kind: AnyKind;
  readonly id: string;
  readonly operation: keyof typeof OPERATION;
  /** Changed fields of an update; null for a creation or deletion. */
  readonly changed: readonly string[] | null;
  readonly before: RecordBase | null;
  readonly after: RecordBase | null;
}

export class WriteTransaction {
  /** Timestamp of this transaction, later than every earlier one (UTC milliseconds). */
  readonly instant: Instant;
  readonly wallAt: Instant;
  readonly sequence: number;
  readonly author: Author;
  /** Name of the command: `host.update`. */
  readonly source: string;
  readonly statements: Statements;
  readonly kinds: readonly AnyKind[];
  private readonly uuids: UuidSource;
  private readonly entries = new Map<string, Entry>();
  /** Stored entries by record number: members of a row read again need no parsing. */
  private readonly stored = new Map<number, Entry>();
  /** Stored children by kind, column and parent, read once: the live tables change when the transaction ends. */
  private readonly storedChildren = new Map<string, readonly Entry[]>();
  /** Entries by kind code. */
  private readonly byCode: Entry[][] = [];
  /** Changed since the last takeNetChanges. */
  private readonly recent = new Set<Entry>();
  private readonly changed = new ChangedRecords();
  /** Stored entries that were updated or removed. */
  private readonly changedStored = new Set<Entry>();
  /** Cache of record numbers: every record needs its organization's. */
  private readonly numbers = new Map<string, number>();
  private readonly invisible = new Map<string, Map<string, string[]>>();
  private readonly afterWriteActions: Array<() => void> = [];

  /**
   * @param options.kinds all kinds, in the order of their codes
   * @param options.notBefore lower bound for the transaction's timestamp; default: only the ledger sets one
   */
  constructor(options: {
    statements: Statements;
    kinds: readonly AnyKind[];
    author: Author;
    source: string;
    wallAt: Instant;
    uuids: UuidSource;
    notBefore?: Instant | undefined;
  }) {
    const { statements, kinds, author, source, wallAt, uuids, notBefore } = options;
    const previous = statements.head();
    this.statements = statements;
    this.kinds = kinds;
    this.author = author;
    this.source = source;
    this.wallAt = wallAt;
    this.instant = Math.max(wallAt, previous.at + 1, notBefore ?? -1);
    this.sequence = previous.sequence + 1;
    this.uuids = uuids;
  }

  /** The live record, including changes made in this transaction; null if none. */
  find<R extends RecordBase>(kind: Kind<R>, id: string): R | null {
    const known = this.entries.get(id);
    if (known) return known.kind.code === kind.code ? visible<R>(known) : null;
    const row = this.statements.liveById(kind).get(id) as LiveRow | null;
    return row === null ? null : visible<R>(this.entryFor(kind, row));
  }

  /** Like find. @throws DomainError if the record does not exist */
  get<R extends RecordBase>(kind: Kind<R>, id: string): R {
    const record = this.find(kind, id);
    if (record === null) throw notFound(kind, id);
    return record;
  }

  /**
   * Live records whose column refers to `parentId`: in page order, followed by those that this transaction created or
   * moved there.
   */
  children<R extends RecordBase>(kind: Kind<R>, column: string, parentId: string): R[] {
    const stored = this.storedChildrenOf(kind, column, parentId);
    const changed = this.changed.withParent(kind, column, parentId);
    const isChild = ({ before, after }: Entry) =>
      after !== null && (after === before || referencedId(kind, column, after) === parentId);
    const found = changed.length === 0 ? stored : [...new Set([...stored, ...changed])];
    return found.filter(isChild).map((entry) => entry.after as R);
  }

  /**
   * Unique identities of the stored children, without reading the records; null if this transaction changed any of the
   * children.
   */
  storedIdentities(kind: AnyKind, column: string, parentId: string): string[] | null {
    const wasChild = ({ before }: Entry) => before !== null && referencedId(kind, column, before) === parentId;
    if (this.changed.withParent(kind, column, parentId).length > 0) return null;
    for (const entry of this.changedStored) if (entry.kind.code === kind.code && wasChild(entry)) return null;
    const parent = this.recordN(parentId);
    return parent === null ? [] : this.statements.liveIdentities(kind, column, parent);
  }

  private storedChildrenOf(kind: AnyKind, column: string, parentId: string): readonly Entry[] {
    const name = `${kind.code}.${column}/${parentId}`;
    const known = this.storedChildren.get(name);
    if (known !== undefined) return known;
    const parent = this.recordN(parentId);
    // A new parent has none, and no number yet.
    if (parent === null) return [];
    const rows = this.statements.liveByColumn(kind, column).all(parent) as LiveRow[];
    const entries = rows.map((row) => this.entryFor(kind, row));
    this.storedChildren.set(name, entries);
    return entries;
  }

  /** The live record with this unique identity; null if none. */
  findByIdentity<R extends RecordBase>(kind: Kind<R>, identity: string): R | null {
    return this.withIdentity(kind, identity)[0] ?? null;
  }

  /** Another live record with the same unique identity, which is in conflict with it. */
  findDuplicate<R extends RecordBase>(kind: Kind<R>, record: R): R | null {
    const identity = liveIdentity(kind, record);
    if (identity === null) return null;
    const same = this.withIdentity(kind, identity).find((each) => each.id !== record.id);
    return same ?? this.findLookalike(kind, record);
  }

  /** Another record whose name looks the same, except those named by this transaction. */
  private findLookalike<R extends RecordBase>(kind: Kind<R>, record: R): R | null {
    const within = kind.unique?.seenWithin?.(record);
    if (within === undefined) return null;
    const visibleForm = seenIdentity(kind, record) as string;
    const others = this.invisibleWithin(kind, within).get(visibleForm) ?? [];
    // An exact match was already searched for.
    for (const identity of visibleForm === liveIdentity(kind, record) ? others : [visibleForm, ...others])
      for (const each of this.withIdentity(kind, identity)) if (each.id !== record.id) return each;
    return null;
  }

  /**
   * Live identities with invisible characters, by their visible form, as of the start of the transaction. Cached: a
   * table import checks thousands of names.
   */
  private invisibleWithin(kind: AnyKind, within: string): ReadonlyMap<string, readonly string[]> {
    const place = `${kind.code}/${within}`;
    let found = this.invisible.get(place);
    if (found === undefined) {
      found = new Map<string, string[]>();
      for (const identity of this.statements.nonAsciiIdentities(kind, within)) {
        const visibleForm = withoutInvisible(identity);
        if (visibleForm !== identity) found.set(visibleForm, [...(found.get(visibleForm) ?? []), identity]);
      }
      this.invisible.set(place, found);
    }
    return found;
  }

  /** Whether this transaction created a record, or changed its unique identity. */
  isNewlyNamed(kind: AnyKind, id: string): boolean {
    const { before = null, after = null } = this.entries.get(id) ?? {};
    return after !== null && (before === null || liveIdentity(kind, before) !== liveIdentity(kind, after));
  }

  /** The live tables reject exact duplicates. @throws DomainError entity_already_exists for names that look the same */
  private assertNoLookalikes(changes: readonly EntryChange[]): void {
    const named = new Set<string>();
    for (const { entry } of changes) {
      const { kind, id, after } = entry;
      if (after === null || kind.unique?.seenWithin === undefined || !this.isNewlyNamed(kind, id)) continue;
      const name = `${kind.code}/${seenIdentity(kind, after)}`;
      if (named.has(name) || this.findLookalike(kind, after) !== null)
        throw alreadyExists(kind, kind.unique.field, kind.unique.value(after));
      named.add(name);
    }
  }

  private withIdentity<R extends RecordBase>(kind: Kind<R>, identity: string): R[] {
    const row = this.statements.liveByIdentity(kind).get(identity) as LiveRow | null;
    const entries = [this.changed.withIdentity(kind, identity), row === null ? null : this.entryFor(kind, row)];
    return entries.flatMap((entry) =>
      // The record may have lost this identity since.
      entry !== null && entry.after !== null && liveIdentity(kind, entry.after) === identity ? (entry.after as R) : [],
    );
  }

  /** Records that have `targetId` in the id list `relation`, or had it earlier in this transaction. */
  referringTo(relation: string, targetId: string): Array<{ kind: number; id: string }> {
    const target = this.statements.recordN(targetId);
    const linked = target === null ? [] : this.statements.linksTo(target, relation);
    const found = new Map(linked.map((each) => [each.id, each]));
    for (const { id, kind } of this.changed.withLink(relation, targetId)) found.set(id, { kind: kind.code, id });
    return [...found.values()];
  }

  /** Record number of an id, live or not; null if the id was never used. */
  recordN(id: string): number | null {
    const known = this.entries.get(id)?.n || this.numbers.get(id);
    if (known) return known;
    const n = this.statements.recordN(id);
    if (n !== null) this.numbers.set(id, n);
    return n;
  }

  /** Id of a record number; null if never assigned. */
  recordId(n: number): string | null {
    return this.statements.recordId(n);
  }

  /** Kind by name, as references use it. */
  kindByName(name: string): AnyKind {
    const kind = this.kinds.find((each) => each.name === name);
    if (kind === undefined) throw new Error(`transaction: unknown kind ${name}`);
    return kind;
  }

  /** For side tables without history. */
  get db(): Sql {
    return this.statements.db;
  }

  /** An id for a record to be created later in this transaction. */
  newId(): string {
    return this.uuids.next(this.instant);
  }

  /**
   * Creates a record, by default of the lineage of the last one with its identity.
   * @throws DomainError entity_already_exists for an id that was ever used
   */
  create<R extends RecordBase, T extends OwnFields<R>>(
    kind: Kind<R>,
    organizationId: string,
    fields: T & NoOtherFields<R, T>,
    options: { id?: string; lineageId?: string | null; composed?: boolean; observed?: Observed } = {},
  ): R {
    const id = options.id ?? this.newId();
    // Generated ids are new.
    if (options.id !== undefined && (this.entries.has(id) || this.statements.recordN(id) !== null)) {
      const params = { entity: kind.name, field: "id", value: id };
      throw new DomainError("entity_already_exists", `The id ${id} was used before; ids are never reused.`, params);
    }
    const at = formatInstant(this.instant);
    const after = { id, ...fields, lineage_id: null, created_at: at, updated_at: at, valid_from: at } as unknown as R;
    // An organization is created together with its first records, and is itself a record.
    const created = organizationId === id || this.entries.get(organizationId)?.before === null;
    const organizationN = created ? 0 : this.recordN(organizationId);
    if (organizationN === null) throw new Error(`transaction: the organization ${organizationId} has no number`);
    return this.add(kind, { n: 0, organizationN, organizationId, lineageId: options.lineageId }, after, options);
  }

  /**
   * Revives an ended record under its own id and number.
   * @param record its new state; `created_at` and `lineage_id` must be the original ones
   */
  revive<R extends RecordBase>(
    kind: Kind<R>,
    organizationId: string,
    record: R,
    options: { composed?: boolean; observed?: Observed } = {},
  ): R {
    const { id } = record;
    const n = this.statements.recordN(id);
    if (n === null || this.find(kind, id) !== null || this.entries.has(id))
      throw new Error(`transaction: ${kind.name} ${id} did not end before this transaction`);
    const at = formatInstant(this.instant);
    const after = { ...record, updated_at: at, valid_from: at };
    const organizationN = this.recordN(organizationId);
    if (organizationN === null) throw new Error(`transaction: the organization ${organizationId} has no number`);
    return this.add(kind, { n, organizationN, organizationId }, after, options);
  }

  /** Sets fields of a live record. Equal values change nothing; an undefined value removes the field. */
  update<R extends RecordBase, T extends Partial<OwnFields<R>> & object>(
    kind: Kind<R>,
    id: string,
    changes: T & NoOtherFields<R, T>,
  ): R {
    const entry = this.liveEntry(kind, id);
    entry.after = { ...(entry.after as RecordBase), ...changes };
    if (entry.before !== null) this.changedStored.add(entry);
    this.changed.add(entry);
    this.recent.add(entry);
    return entry.after as R;
  }

  /** Marks `field` as changed although it is not among the record's own members: a part or a secret. */
  touch<R extends RecordBase>(kind: Kind<R>, id: string, field: string): void {
    const entry = this.liveEntry(kind, id);
    entry.touched.add(field);
    this.recent.add(entry);
  }

  /** Sets whether parts stored as separate records are composed into the record. */
  setComposed<R extends RecordBase>(kind: Kind<R>, id: string, composed: boolean): void {
    this.liveEntry(kind, id).composed = composed;
  }

  /** Ends a record. The command must have handled all references to it. */
  remove<R extends RecordBase>(kind: Kind<R>, id: string): void {
    const entry = this.liveEntry(kind, id);
    entry.after = null;
    if (entry.before !== null) this.changedStored.add(entry);
    this.recent.add(entry);
  }

  /** Refreshes observation values, which does not create a version. */
  observe<R extends RecordBase>(kind: Kind<R>, id: string, observed: Observed): void {
    const entry = this.liveEntry(kind, id);
    entry.observed = { ...entry.observed, ...observed };
    entry.observedChanged = true;
  }

  /** Runs after records are written and numbered: for side tables without history. */
  runAfterWrite(action: () => void): void {
    this.afterWriteActions.push(action);
  }

  /** Net changes so far, without the resulting owner versions. */
  netChanges(): NetChange[] {
    return [...this.eachNetChange()];
  }

  /** As netChanges, one by one: a long-running transaction has many. */
  *eachNetChange(): Generator<NetChange> {
    for (const entry of this.entries.values()) {
      const change = netChange(entry);
      if (change !== null) yield netChangeOf(change);
    }
  }

  /**
   * Net changes of records changed since the last call, each for the whole transaction. In a transaction that spans
   * many commands, each command pays only for its own changes.
   */
  takeNetChanges(): NetChange[] {
    const changes = [...this.recent].map(netChange).filter((change) => change !== null);
    this.recent.clear();
    return changes.map(netChangeOf);
  }

  /** Records of a kind created or changed so far, without removed ones. */
  changedOf<R extends RecordBase>(kind: Kind<R>): R[] {
    return (this.byCode[kind.code] ?? []).flatMap(({ before, after }) =>
      after === null || after === before ? [] : [after as R],
    );
  }

  /**
   * Drops the records of a kind from a transaction that will never be finished, and returns their net changes, so that
   * later commands need not keep them. Only for kinds without references to others.
   */
  release(kind: AnyKind): NetChange[] {
    const released = this.byCode[kind.code] ?? [];
    delete this.byCode[kind.code];
    // Later commands read the children of then.
    this.storedChildren.clear();
    for (const entry of released) {
      this.entries.delete(entry.id);
      this.stored.delete(entry.n);
      this.recent.delete(entry);
      this.changedStored.delete(entry);
    }
    this.changed.forget(kind);
    return released.flatMap((entry) => {
      const change = netChange(entry);
      return change === null ? [] : [netChangeOf(change)];
    });
  }

  /**
   * Writes the net effect. Returns the sequence, or null if no version was written.
   * @param refusal thrown if a version would be written: a reason to reject any change
   */
  finish(refusal: DomainError | null = null): number | null {
    const changeOf = this.touchOwners();
    const changes = [...this.entries.values()].flatMap((entry) => changeOf.get(entry) ?? []);
    if (changes.length > 0 && refusal !== null) throw refusal;
    this.assertNoLookalikes(changes);
    if (changes.length > 0) writeLedger(this, changes);
    // New records are inserted with their observation values.
    const observed = [...this.entries.values()].filter(
      (entry) => entry.observedChanged && entry.before !== null && entry.after !== null,
    );
    this.statements.setObserved(observed);
    for (const action of this.afterWriteActions) action();
    return changes.length > 0 ? this.sequence : null;
  }

  /**
   * Propagates changes to parts to their owners: service for its bindings, host for its children.
   * @returns the net change of each changed record
   */
  private touchOwners(): Map<Entry, EntryChange> {
    const changeOf = new Map<Entry, EntryChange>();
    // Owners have lower codes than their parts, so they are processed later.
    for (let code = this.byCode.length - 1; code > 0; code -= 1) {
      for (const entry of this.byCode[code] ?? []) {
        const change = netChange(entry);
        if (change === null) continue;
        changeOf.set(entry, change);
        if (entry.kind.owners === undefined) continue;
        for (const state of [entry.before, entry.after]) {
          if (state === null) continue;
          for (const owner of entry.kind.owners(state)) {
            const kind = this.kindByName(owner.kind);
            if (kind.code >= entry.kind.code)
              throw new Error(`transaction: ${entry.kind.name} is owned by ${owner.kind}, whose code is not lower`);
            if (this.find(kind, owner.id) === null) continue;
            this.liveEntry(kind, owner.id).touched.add(owner.as);
          }
        }
      }
    }
    return changeOf;
  }

  /** Organization record number of a record found or created here. */
  organizationNOf(id: string): number {
    return this.entries.get(id)?.organizationN ?? 0;
  }

  /** Transaction of the stored version, and the first bytes of its hash, read on use: few writes have an If-Match. */
  versionOf(id: string): { readonly sequence: number; readonly hashPrefix: string } {
    const sequence = this.entries.get(id)?.sequence ?? 0;
    const { statements } = this;
    return {
      sequence,
      get hashPrefix() {
        return statements.hashPrefixOf(sequence);
      },
    };
  }

  /** Current observation values of a record found here. */
  observedOf(id: string): Observed {
    return this.entries.get(id)?.observed ?? {};
  }

  /** Whether this transaction has changed a record so far, not counting changes through its parts. */
  isChanged(id: string): boolean {
    const entry = this.entries.get(id);
    return entry !== undefined && netChange(entry) !== null;
  }

  /** Whether this transaction removed a record of this kind. */
  wasRemoved<R extends RecordBase>(kind: Kind<R>, id: string): boolean {
    const entry = this.entries.get(id);
    return entry !== undefined && entry.kind.code === kind.code && entry.before !== null && entry.after === null;
  }

  /**
   * Adds a record that was not live before this transaction.
   * @param place its number, 0 if not yet assigned, and its organization
   */
  private add<R extends RecordBase>(
    kind: Kind<R>,
    place: Pick<Entry, "n" | "organizationN" | "organizationId" | "lineageId">,
    after: R,
    options: { composed?: boolean; observed?: Observed },
  ): R {
    const entry: Entry = {
      ...place,
      kind,
      id: after.id,
      sequence: 0,
      before: null,
      after,
      observed: options.observed ?? {},
      composed: options.composed ?? false,
      touched: new Set(),
      observedChanged: false,
    };
    this.register(entry);
    this.changed.add(entry);
    this.recent.add(entry);
    return after;
  }

  private liveEntry(kind: AnyKind, id: string): Entry {
    if (this.find(kind, id) === null) throw notFound(kind, id);
    return this.entries.get(id) as Entry;
  }

  private entryFor(kind: AnyKind, row: LiveRow): Entry {
    const known = this.stored.get(row.n);
    if (known) return known;
    const before = parseMembers<RecordBase>(row.members);
    const entry: Entry = {
      kind,
      id: before.id,
      n: row.n,
      organizationN: row.organization_n,
      organizationId: null,
      sequence: row.sequence,
      before,
      after: before,
      observed: parseObserved(row.observed ?? ""),
      composed: row.composed === 1,
      touched: new Set(),
      observedChanged: false,
    };
    this.stored.set(row.n, entry);
    this.register(entry);
    return entry;
  }

  private register(entry: Entry): void {
    this.entries.set(entry.id, entry);
    (this.byCode[entry.kind.code] ??= []).push(entry);
  }
}

function netChangeOf({ entry, operation, changed }: NonNullable<ReturnType<typeof netChange>>): NetChange {
  return { kind: entry.kind, id: entry.id, operation, changed, before: entry.before, after: entry.after };
}

function visible<R extends RecordBase>(entry: Entry): R | null {
  return entry.after as R | null;
}
