// Differences between two points in time: records added, removed and changed, with fields and authors. Reads the
// changes in between, not the inventory. Reverted changes do not count.

import type { Actor } from "../access/actor.ts";
import { CUSTOM_FIELDS, changedCustomFields, fieldValueOf } from "../base/custom-field-names.ts";
import { ownValue } from "../base/fields.ts";
import type { Instant } from "../base/instant.ts";
import type { AnyKind } from "../db/kind.ts";
import {
  ChangeLog,
  type ChangeQuery,
  type ChangeStep,
  type LedgerEntry,
  type VersionStamp,
} from "../db/reading/change-log.ts";
import type { Reader } from "../db/reading/reader.ts";
import type { NumberSet } from "../db/reading/resolved-condition.ts";
import { RESOURCES } from "../records/resources.ts";
import { CHANGE_KINDS, composedTexts } from "./change-view.ts";
import { DiffFilter, type EndsFilter } from "./diff-filter.ts";
import { DiffCounts, DiffPage } from "./diff-page.ts";
import { ReachedFields } from "./reached-fields.ts";
import { RecordNames } from "./record-names.ts";
import { type Sort, type TouchedRecord, TouchedRecords } from "./touched-records.ts";

export interface DiffQuery {
  readonly actor: Actor;
  readonly types: readonly string[];
  /** Only this network, or host; 0 if not visible to the caller. */
  readonly networkN: number | null;
  readonly hostN: number | null;
  /** Only these records; absent for all. */
  readonly ids?: readonly string[];
  /** Only records that match at either end. Requires a single type. */
  readonly filter?: EndsFilter | undefined;
  /** Fields to ignore. */
  readonly ignore?: readonly string[] | undefined;
  /** Sequence numbers. */
  readonly from: number;
  readonly to: number;
}

type Fields = Readonly<Record<string, unknown>>;

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
  /** The last transaction that changed it; null if thinning dropped it. */
  readonly transaction: LedgerEntry | null;
}

interface DifferentRecord {
  readonly kind: AnyKind;
  readonly name: string;
  readonly record: Fields;
  readonly transaction: LedgerEntry;
}

export type Difference =
  | (DifferentRecord & { readonly change: "added" | "removed" })
  | (DifferentRecord & { readonly change: "changed"; readonly fields: readonly FieldChange[] });

/** Records per step. */
const STEP_RECORDS = 200;

/** Set on every version, or observed without one: timestamps rather than content. */
export const UNCOMPARED: ReadonlySet<string> = new Set(
  "created_at updated_at valid_from valid_to last_seen_at last_discovery_id last_used last_login".split(" "),
);

/**
 * Differences in steps, by kind in page order; an empty step yields to other reads. To group them by `change`, request
 * one at a time.
 */
export class Diff {
  private readonly reader: Reader;
  private readonly query: DiffQuery;
  private readonly log: ChangeLog;
  private readonly kinds: readonly AnyKind[];
  private readonly touched = new TouchedRecords();
  private readonly reached: ReachedFields;
  private readonly filter: DiffFilter;
  private readonly uncompared: ReadonlySet<string>;
  /** Names at the later end, otherwise at the earlier one. */
  readonly names: RecordNames;
  /** Records that match the filter; null for all. */
  private matching: NumberSet | null = null;
  /** Counts all differences passed, on the page or not. */
  readonly counts = new DiffCounts();

  /** @throws DomainError validation_failed for an invalid filter */
  constructor(reader: Reader, query: DiffQuery) {
    this.reader = reader;
    this.query = query;
    this.log = new ChangeLog(reader);
    this.reached = new ReachedFields(reader, query.actor);
    this.kinds = CHANGE_KINDS.filter((kind) => query.types.includes(kind.name));
    this.filter = new DiffFilter(reader, query, this.kinds[0]);
    this.uncompared = new Set([...UNCOMPARED, ...(query.ignore ?? [])]);
    this.names = new RecordNames(reader, query.actor, [query.to, query.from]);
  }

  /** End of thinned history within the filter's look-back; null if there is none. */
  get filterThinnedUntil(): Instant | null {
    return this.filter.thinnedUntil;
  }

  /** Gathers the changed records. Must run to completion first. */
  *gather(): Generator<void> {
    const { actor, networkN, hostN, from, to } = this.query;
    const query: ChangeQuery = {
      reach: actor,
      kinds: this.kinds,
      ...(networkN === null ? {} : { networkN }),
      ...(hostN === null ? {} : { hostN }),
    };
    const kindIndexes = new Map(this.kinds.map((kind, index) => [kind, index]));
    for (const { changes } of this.changes(query, from, to)) {
      for (const { n, kind, operation, changedFields } of changes) {
        const differs = changedFields?.every((field) => PART_FIELDS.has(field)) !== true;
        this.touched.add(kindIndexes.get(kind) as number, n, operation, differs);
      }
      yield;
    }
    if (this.isThinned) yield* this.correctInitialState();
    this.matching = yield* this.filter.matching(this.touched);
  }

  /**
   * By kind and record.
   * @param page selects the differences to return; continues across calls
   */
  *differences(sorts: readonly Sort[], page = new DiffPage(0, 0)): Generator<Difference[]> {
    const ends = [this.query.from, this.query.to].map((sequence) => this.reader.atSequence(sequence));
    const [sort] = sorts;
    for (const step of this.touched.steps(sorts, STEP_RECORDS)) {
      const kind = this.kinds[step.kindIndex] as AnyKind;
      const records = step.records.filter(({ n }) => this.matching?.has(n) !== false);
      if (records.length === 0) yield [];
      else if (sort !== undefined && sort !== "changed" && sorts.length === 1 && page.isOutside(records.length)) {
        // Counting additions and removals does not require reading the records.
        this.counts.add(kind, sort, records.length);
        page.pass(records.length);
        yield [];
      } else
        for (const run of this.reader.lightRuns(kind, records, this.query.actor, () => ends))
          for (const found of this.compare(kind, run)) {
            for (const { change } of found) this.counts.add(kind, change, 1);
            yield page.take(found);
          }
    }
  }

  /** Changes to the requested records, or to all. */
  private *changes(query: ChangeQuery, after: number, until: number): Generator<ChangeStep> {
    const { ids } = this.query;
    if (ids === undefined) return yield* this.log.changes(query, after, until);
    const ns = ids.flatMap((id) => this.reader.recordN(id) ?? []);
    for (const n of this.log.everVisibleAmong(this.kinds, ns, query.reach, query.networkN ?? null))
      yield* this.log.changesOf(query, n, { after, until });
  }

  private get isThinned(): boolean {
    return this.query.from < this.reader.thinnedHistory.until;
  }

  /** After thinning, the remaining versions do not show the initial state. */
  private *correctInitialState(): Generator<void> {
    const { from, to } = this.query;
    for (const { kindIndex: kindPlace, records } of this.touched.steps(null, STEP_RECORDS)) {
      const ns = records.map((record) => record.n);
      const alive = this.log.aliveAt(ns, from);
      for (const { n } of records)
        this.touched.correct(kindPlace, n, alive.has(n), this.log.lastDropped(n, from, to) > 0);
      yield;
    }
  }

  /** Compares records of one kind. Records with many versions produce empty steps. */
  private *compare(kind: AnyKind, records: readonly TouchedRecord[]): Generator<Difference[]> {
    const { from, to } = this.query;
    const changesByRecord = new Map(
      records.map(({ n }) => [n, new LastChanges(this.isThinned ? this.log.lastDropped(n, from, to) : 0)]),
    );
    let isFirst = true;
    for (const versions of this.log.versionsBetween(kind, [...changesByRecord.keys()], from, to)) {
      if (!isFirst) yield [];
      isFirst = false;
      const visibleFields = this.reached.of(kind, versions);
      for (const [index, version] of versions.entries())
        changesByRecord.get(version.n)?.add({ ...version, changedFields: visibleFields[index] ?? null });
    }
    const before = this.documents(kind, records, from);
    const after = this.documents(kind, records, to);
    const entries = this.log.entries([...changesByRecord.values()].flatMap((lastChanges) => lastChanges.sequences()));
    const entryOf = (sequence: number) => entries.get(sequence) as LedgerEntry;
    const named = (record: Fields) => ({ kind, name: this.names.ofRecord(kind, record), record });
    const differences: Difference[] = [];
    for (const [n, lastChanges] of changesByRecord) {
      const old = before.get(n);
      const now = after.get(n);
      const { last, lastCreatedOrDeleted } = lastChanges;
      // Attributed to its creator, even if changed since.
      if (old === undefined && now !== undefined)
        differences.push({ change: "added", ...named(now), transaction: entryOf(lastCreatedOrDeleted || last) });
      else if (old !== undefined && now === undefined)
        differences.push({ change: "removed", ...named(old), transaction: entryOf(last) });
      else if (old !== undefined && now !== undefined) {
        const fields = this.changedFields(old, now).map((field) => ({
          field,
          from: fieldValueOf(old, field) ?? null,
          to: fieldValueOf(now, field) ?? null,
          transaction: entries.get(lastChanges.lastChangeOf(field)) ?? null,
        }));
        if (fields.length > 0)
          differences.push({ change: "changed", ...named(now), fields, transaction: entryOf(last) });
      }
    }
    yield differences;
  }

  private changedFields(old: Fields, now: Fields): string[] {
    const isChanged = (name: string) => !isSame(ownValue(old, name), ownValue(now, name)) && !this.uncompared.has(name);
    const changed = Object.keys(now).filter(isChanged);
    for (const name of Object.keys(old)) if (!Object.hasOwn(now, name) && isChanged(name)) changed.push(name);
    const index = changed.indexOf(CUSTOM_FIELDS);
    if (index >= 0) {
      const custom = changedCustomFields(old[CUSTOM_FIELDS], now[CUSTOM_FIELDS]);
      changed.splice(index, 1, ...custom.filter((name) => !this.uncompared.has(name)));
    }
    return changed.sort();
  }

  /** Documents at one end: complete for added or removed records, otherwise without observations and `valid_to`. */
  private documents(kind: AnyKind, records: readonly TouchedRecord[], sequence: number): Map<number, Fields> {
    const existence = sequence === this.query.from ? "wasAlive" : "isAlive";
    const stayed = records.filter((record) => record.wasAlive && record.isAlive);
    const others = records.filter((record) => record[existence] && !(record.wasAlive && record.isAlive));
    return new Map([
      ...this.documentsOf(kind, others, sequence, "itemsOf"),
      ...this.documentsOf(kind, stayed, sequence, "ownItemsOf"),
    ]);
  }

  private documentsOf(
    kind: AnyKind,
    records: readonly TouchedRecord[],
    sequence: number,
    method: "itemsOf" | "ownItemsOf",
  ): Array<[number, Fields]> {
    if (records.length === 0) return [];
    const asOf = this.reader.atSequence(sequence);
    const { actor } = this.query;
    const ns = records.map((record) => record.n);
    const items = this.reader[method](kind, ns, asOf, actor);
    const texts = composedTexts(this.reader, actor, kind, items, asOf, false);
    return items.map(({ n }, index) => [n, JSON.parse(texts[index] as string) as Fields]);
  }
}

/** Fields for parts that are compared as separate records. */
const PART_FIELDS = new Set(
  RESOURCES.flatMap(({ kind, example }) => kind.owners?.(example).map((owner) => owner.as) ?? []),
);

function isSame(old: unknown, now: unknown): boolean {
  return old === now || (typeof old === "object" && typeof now === "object" && Bun.deepEquals(old, now));
}

/** Versions of one record in the period: its last change, and the last change of each field. */
class LastChanges {
  last = 0;
  /** The last version that created or deleted it; 0 for none. */
  lastCreatedOrDeleted = 0;
  private readonly lastOf = new Map<string, number>();
  /** The last version dropped by thinning; 0 for none. */
  private readonly lastDropped: number;

  constructor(lastDropped: number) {
    this.lastDropped = lastDropped;
  }

  /** Call in chronological order. */
  add({ sequence, changedFields }: VersionStamp): void {
    this.last = sequence;
    if (changedFields === null) this.lastCreatedOrDeleted = sequence;
    else for (const field of changedFields) this.lastOf.set(field, sequence);
  }

  /** The last transaction that changed a field, 0 if dropped. A creation changes all fields. */
  lastChangeOf(field: string): number {
    const known = Math.max(this.lastOf.get(field) ?? 0, this.lastCreatedOrDeleted);
    if (this.lastDropped > known) return 0;
    // Versions do not list derived fields.
    return known || this.last;
  }

  sequences(): number[] {
    return [this.last, this.lastCreatedOrDeleted, ...this.lastOf.values()];
  }
}
