// One unit of work of the one writer: commands change records in it, and its end writes the net effect:
// at most one version per record, one ledger transaction, one instant. Knows no resource and no HTTP.

import { alreadyExists, DomainError, notFound } from "../../base/errors.ts";
import { formatInstant, type Instant } from "../../base/instant.ts";
import type { UuidSource } from "../../base/uuid.ts";
import { withoutInvisible } from "../../base/visible.ts";
import type { Sql } from "../connection.ts";
import {
  type AnyKind,
  type Kind,
  liveIdentity,
  type NoneBeside,
  type Observed,
  type OPERATION,
  type OwnFields,
  parseMembers,
  parseObserved,
  type RecordBase,
  seenIdentity,
} from "../kind.ts";
import { ChangedRecords, referredId } from "./changed-records.ts";
import { type Entry, type EntryChange, netChange } from "./entry.ts";
import { type Author, writeLedger } from "./ledger.ts";
import type { Statements } from "./statements.ts";

/** What a command left behind: the sequence of its ledger transaction, or null where nothing changed. */
export interface CommandOutcome<T> {
  readonly sequence: number | null;
  readonly result: T;
  /**
   * Of a command that wrote nothing: the last transaction that it saw. What it answers of the ledger is read as of
   * that.
   */
  readonly head?: number;
  /** The command was run for the same request before, and is not run again. */
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

/** What a transaction comes to for one record. */
export interface NetChange {
  readonly kind: AnyKind;
  readonly id: string;
  readonly operation: keyof typeof OPERATION;
  /** The fields of an update; null where everything is new or gone. */
  readonly changed: readonly string[] | null;
  readonly before: RecordBase | null;
  readonly after: RecordBase | null;
}

export class WriteTransaction {
  /** The instant of this transaction, later than every earlier one (UTC milliseconds). */
  readonly instant: Instant;
  readonly wallAt: Instant;
  readonly sequence: number;
  readonly author: Author;
  /** The name of the command: `host.update`. */
  readonly source: string;
  readonly statements: Statements;
  readonly kinds: readonly AnyKind[];
  private readonly uuids: UuidSource;
  private readonly entries = new Map<string, Entry>();
  /** The same by the code of their kind. */
  private readonly byCode: Entry[][] = [];
  /** What was changed since someone last asked for it; see takeNetChanges. */
  private readonly recent = new Set<Entry>();
  private readonly changed = new ChangedRecords();
  /** Numbers that were asked for: every record asks for its organization's. */
  private readonly numbers = new Map<string, number>();
  private readonly invisible = new Map<string, Map<string, string[]>>();
  private readonly afterwards: Array<() => void> = [];

  /**
   * @param options.kinds all that there are, in the order of their codes
   * @param options.notBefore the earliest instant that the transaction may have; without it only the ledger sets one
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

  /** The live record, as this transaction has changed it so far; null when there is none. */
  find<R extends RecordBase>(kind: Kind<R>, id: string): R | null {
    const known = this.entries.get(id);
    if (known) return known.kind.code === kind.code ? visible<R>(known) : null;
    const row = this.statements.liveById(kind).get(id) as LiveRow | null;
    return row === null ? null : visible<R>(this.hold(kind, row));
  }

  /** As find, with the error for a record that is not there. */
  get<R extends RecordBase>(kind: Kind<R>, id: string): R {
    const record = this.find(kind, id);
    if (record === null) throw notFound(kind, id);
    return record;
  }

  /**
   * The live records whose column refers to `parentId`: in page order, then those that this transaction made or moved
   * there.
   */
  children<R extends RecordBase>(kind: Kind<R>, column: string, parentId: string): R[] {
    const parent = this.statements.recordN(parentId);
    const found = new Set<Entry>();
    if (parent !== null) {
      for (const row of this.statements.liveByColumn(kind, column).all(parent) as LiveRow[])
        found.add(this.hold(kind, row));
    }
    for (const entry of this.changed.withParent(kind, column, parentId)) found.add(entry);
    return [...found]
      .filter(
        (entry) =>
          entry.after !== null && (entry.after === entry.before || referredId(kind, column, entry.after) === parentId),
      )
      .map((entry) => entry.after as R);
  }

  /**
   * The live record that stands for the same real thing, of a kind whose things are unique; null when there is none.
   */
  findByIdentity<R extends RecordBase>(kind: Kind<R>, identity: string): R | null {
    return this.withIdentity(kind, identity)[0] ?? null;
  }

  /** Another record than this one that stands for the same real thing, so that this one cannot come to. */
  findTwin<R extends RecordBase>(kind: Kind<R>, record: R): R | null {
    const identity = liveIdentity(kind, record);
    if (identity === null) return null;
    const same = this.withIdentity(kind, identity).find((each) => each.id !== record.id);
    return same ?? this.findSeenTwin(kind, record);
  }

  /** Another one whose name is seen as this one's is, but for those that this transaction named. */
  private findSeenTwin<R extends RecordBase>(kind: Kind<R>, record: R): R | null {
    const within = kind.unique?.seenWithin?.(record);
    if (within === undefined) return null;
    const seen = seenIdentity(kind, record) as string;
    const others = this.invisibleWithin(kind, within).get(seen) ?? [];
    // One that is the same to the letter is found without it.
    for (const identity of seen === liveIdentity(kind, record) ? others : [seen, ...others])
      for (const each of this.withIdentity(kind, identity)) if (each.id !== record.id) return each;
    return null;
  }

  /**
   * By what is seen of them, the identities of live records in which something cannot be seen, as this transaction found
   * them. Looked for once: a table names thousands.
   */
  private invisibleWithin(kind: AnyKind, within: string): ReadonlyMap<string, readonly string[]> {
    const place = `${kind.code}/${within}`;
    let found = this.invisible.get(place);
    if (found === undefined) {
      found = new Map<string, string[]>();
      for (const identity of this.statements.identitiesBeyondAscii(kind, within)) {
        const seen = withoutInvisible(identity);
        if (seen !== identity) found.set(seen, [...(found.get(seen) ?? []), identity]);
      }
      this.invisible.set(place, found);
    }
    return found;
  }

  /** Whether this transaction made a record, or gave it what makes it unique. */
  isNewlyNamed(kind: AnyKind, id: string): boolean {
    const { before = null, after = null } = this.entries.get(id) ?? {};
    return after !== null && (before === null || liveIdentity(kind, before) !== liveIdentity(kind, after));
  }

  /** What is the same to the letter is for the live tables to refuse. @throws DomainError entity_already_exists */
  private assertSeenApart(changes: readonly EntryChange[]): void {
    const named = new Set<string>();
    for (const { entry } of changes) {
      const { kind, id, after } = entry;
      if (after === null || kind.unique?.seenWithin === undefined || !this.isNewlyNamed(kind, id)) continue;
      const name = `${kind.code}/${seenIdentity(kind, after)}`;
      if (named.has(name) || this.findSeenTwin(kind, after) !== null)
        throw alreadyExists(kind, kind.unique.field, kind.unique.value(after));
      named.add(name);
    }
  }

  private withIdentity<R extends RecordBase>(kind: Kind<R>, identity: string): R[] {
    const row = this.statements.liveByIdentity(kind).get(identity) as LiveRow | null;
    const entries = [this.changed.withIdentity(kind, identity), row === null ? null : this.hold(kind, row)];
    return entries.flatMap((entry) =>
      // What had the identity may have given it up since.
      entry !== null && entry.after !== null && liveIdentity(kind, entry.after) === identity ? (entry.after as R) : [],
    );
  }

  /** The records that name `targetId` in the id list `relation`, or did before this transaction changed them again. */
  referringTo(relation: string, targetId: string): Array<{ kind: number; id: string }> {
    const target = this.statements.recordN(targetId);
    const found = new Map(
      (target === null ? [] : this.statements.linksTo(target, relation)).map((each) => [each.id, each]),
    );
    for (const { id, kind } of this.changed.withLink(relation, targetId)) found.set(id, { kind: kind.code, id });
    return [...found.values()];
  }

  /** The number of a record, live or not; null for an id that was never used. */
  recordN(id: string): number | null {
    const known = this.entries.get(id)?.n || this.numbers.get(id);
    if (known) return known;
    const n = this.statements.recordN(id);
    if (n !== null) this.numbers.set(id, n);
    return n;
  }

  /** The id of a record number; null for one that was never given out. */
  recordId(n: number): string | null {
    return this.statements.recordId(n);
  }

  /** The kind of this name, as another kind refers to it. */
  kindNamed(name: string): AnyKind {
    const kind = this.kinds.find((each) => each.name === name);
    if (kind === undefined) throw new Error(`transaction: there is no kind ${name}`);
    return kind;
  }

  /** For side tables that have no history. */
  get db(): Sql {
    return this.statements.db;
  }

  /** An id for a record to be created in this transaction, known before it is. */
  newId(): string {
    return this.uuids.next(this.instant);
  }

  /**
   * A new record.
   * @throws DomainError entity_already_exists for an id that was ever used
   */
  create<R extends RecordBase, T extends OwnFields<R>>(
    kind: Kind<R>,
    organizationId: string,
    fields: T & NoneBeside<R, T>,
    options: { id?: string; composed?: boolean; observed?: Observed } = {},
  ): R {
    const id = options.id ?? this.newId();
    // An id made here is new.
    if (options.id !== undefined && (this.entries.has(id) || this.statements.recordN(id) !== null)) {
      throw new DomainError("entity_already_exists", `The id ${id} was used before; ids are never reused.`, {
        entity: kind.name,
        field: "id",
        value: id,
      });
    }
    const at = formatInstant(this.instant);
    const after = { id, ...fields, lineage_id: null, created_at: at, updated_at: at, valid_from: at } as unknown as R;
    // An organization is created together with its first records, and is a record of its own.
    const created = organizationId === id || this.entries.get(organizationId)?.before === null;
    const organizationN = created ? 0 : this.recordN(organizationId);
    if (organizationN === null) throw new Error(`transaction: the organization ${organizationId} has no number`);
    return this.add(kind, { n: 0, organizationN, organizationId }, after, options);
  }

  /**
   * A record that has ended, alive again under its own id and number: its life goes on where it broke off.
   * @param record what it is from now on; its `created_at` and `lineage_id` are those that it always had
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
      throw new Error(`transaction: ${kind.name} ${id} has not ended before this transaction`);
    const at = formatInstant(this.instant);
    const after = { ...record, updated_at: at, valid_from: at };
    const organizationN = this.recordN(organizationId);
    if (organizationN === null) throw new Error(`transaction: the organization ${organizationId} has no number`);
    return this.add(kind, { n, organizationN, organizationId }, after, options);
  }

  /** Sets fields of a live record. Equal values change nothing; an undefined value leaves the field out. */
  update<R extends RecordBase, T extends Partial<OwnFields<R>> & object>(
    kind: Kind<R>,
    id: string,
    changes: T & NoneBeside<R, T>,
  ): R {
    const entry = this.held(kind, id);
    entry.after = { ...(entry.after as RecordBase), ...changes };
    this.changed.note(entry);
    this.recent.add(entry);
    return entry.after as R;
  }

  /** Counts `field` as changed although it is not among the record's own members: a part of it, or a secret. */
  touch<R extends RecordBase>(kind: Kind<R>, id: string, field: string): void {
    const entry = this.held(kind, id);
    entry.touched.add(field);
    this.recent.add(entry);
  }

  /** Says whether parts that are records of their own are composed into this one. */
  setComposed<R extends RecordBase>(kind: Kind<R>, id: string, composed: boolean): void {
    this.held(kind, id).composed = composed;
  }

  /** Ends a record's life. What refers to it must have been dealt with by the command. */
  remove<R extends RecordBase>(kind: Kind<R>, id: string): void {
    const entry = this.held(kind, id);
    entry.after = null;
    this.recent.add(entry);
  }

  /** Refreshes observation values, which by itself makes no version. */
  observe<R extends RecordBase>(kind: Kind<R>, id: string, observed: Observed): void {
    const entry = this.held(kind, id);
    entry.observed = { ...entry.observed, ...observed };
    entry.observedChanged = true;
  }

  /** Runs after the records are written and have their numbers: for side tables that stay out of history. */
  afterwardsRun(action: () => void): void {
    this.afterwards.push(action);
  }

  /** What this transaction comes to so far, without the versions of owners. */
  netChanges(): NetChange[] {
    return [...this.eachNetChange()];
  }

  /** The same one by one: a transaction that is open for long has very many. */
  *eachNetChange(): Generator<NetChange> {
    for (const entry of this.entries.values()) {
      const change = netChange(entry);
      if (change !== null) yield netChangeOf(change);
    }
  }

  /**
   * What the records come to that were changed since this was last asked for, each as of the whole transaction: over
   * one that stays open for many commands, each command costs what it changes itself.
   */
  takeNetChanges(): NetChange[] {
    const changes = [...this.recent].map(netChange).filter((change) => change !== null);
    this.recent.clear();
    return changes.map(netChangeOf);
  }

  /** What the records of a kind say that this transaction has made or changed so far, without those that it removed. */
  changedOf<R extends RecordBase>(kind: Kind<R>): R[] {
    return (this.byCode[kind.code] ?? []).flatMap(({ before, after }) =>
      after === null || after === before ? [] : [after as R],
    );
  }

  /**
   * Takes the records of a kind out of a transaction that will never be finished, and tells what it came to for them:
   * what is done with one command need not be held for those after it. For kinds that name no others.
   */
  release(kind: AnyKind): NetChange[] {
    const released = this.byCode[kind.code] ?? [];
    delete this.byCode[kind.code];
    for (const entry of released) {
      this.entries.delete(entry.id);
      this.recent.delete(entry);
    }
    this.changed.forget(kind);
    return released.flatMap((entry) => {
      const change = netChange(entry);
      return change === null ? [] : [netChangeOf(change)];
    });
  }

  /**
   * Writes the net effect. Answers the sequence, or null where no version came of it.
   * @param refusal thrown where a version would come of it: what stands in the way of every change
   */
  finish(refusal: DomainError | null = null): number | null {
    const changeOf = this.touchOwners();
    const changes = [...this.entries.values()].flatMap((entry) => changeOf.get(entry) ?? []);
    if (changes.length > 0 && refusal !== null) throw refusal;
    this.assertSeenApart(changes);
    if (changes.length > 0) writeLedger(this, changes);
    for (const entry of this.entries.values()) {
      // What was created has what was observed of it.
      if (entry.observedChanged && entry.before !== null && entry.after !== null) this.statements.setObserved(entry);
    }
    for (const action of this.afterwards) action();
    return changes.length > 0 ? this.sequence : null;
  }

  /**
   * A change of a part is a change of the whole: service for its bindings, host for its children.
   * @returns the net change of each record that has one
   */
  private touchOwners(): Map<Entry, EntryChange> {
    const changeOf = new Map<Entry, EntryChange>();
    // Owners have lower codes than their parts: they are in line, or get in line, before it is their turn.
    for (let code = this.byCode.length - 1; code > 0; code -= 1) {
      for (const entry of this.byCode[code] ?? []) {
        const change = netChange(entry);
        if (change === null) continue;
        changeOf.set(entry, change);
        if (entry.kind.owners === undefined) continue;
        for (const state of [entry.before, entry.after]) {
          if (state === null) continue;
          for (const owner of entry.kind.owners(state)) {
            const kind = this.kindNamed(owner.kind);
            if (kind.code >= entry.kind.code)
              throw new Error(`transaction: ${entry.kind.name} is owned by ${owner.kind}, whose code is not lower`);
            if (this.find(kind, owner.id) === null) continue;
            this.held(kind, owner.id).touched.add(owner.as);
          }
        }
      }
    }
    return changeOf;
  }

  /** The record number of the organization that a record found or created here belongs to. */
  organizationNOf(id: string): number {
    return this.entries.get(id)?.organizationN ?? 0;
  }

  /** What wrote the version that was found: its transaction, and the beginning of that one's hash. */
  versionOf(id: string): { readonly sequence: number; readonly mark: string } {
    const sequence = this.entries.get(id)?.sequence ?? 0;
    return { sequence, mark: this.statements.markOf(sequence) };
  }

  /** The observation values in force of a record found here. */
  observedOf(id: string): Observed {
    return this.entries.get(id)?.observed ?? {};
  }

  /** Whether this transaction has changed a record so far; not for what only its parts make of it in the end. */
  isChanged(id: string): boolean {
    const entry = this.entries.get(id);
    return entry !== undefined && netChange(entry) !== null;
  }

  /** Whether this transaction ended the life of a record of this kind. */
  wasRemoved<R extends RecordBase>(kind: Kind<R>, id: string): boolean {
    const entry = this.entries.get(id);
    return entry !== undefined && entry.kind.code === kind.code && entry.before !== null && entry.after === null;
  }

  /**
   * Holds a record that was not alive before this transaction.
   * @param place its number, 0 for one that has none yet, and its organization
   */
  private add<R extends RecordBase>(
    kind: Kind<R>,
    place: Pick<Entry, "n" | "organizationN" | "organizationId">,
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
    this.keep(entry);
    this.changed.note(entry);
    this.recent.add(entry);
    return after;
  }

  private held(kind: AnyKind, id: string): Entry {
    if (this.find(kind, id) === null) throw notFound(kind, id);
    return this.entries.get(id) as Entry;
  }

  private hold(kind: AnyKind, row: LiveRow): Entry {
    const before = parseMembers<RecordBase>(row.members);
    const known = this.entries.get(before.id);
    if (known) return known;
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
    this.keep(entry);
    return entry;
  }

  private keep(entry: Entry): void {
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
