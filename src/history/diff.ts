// What differs between two instants: which records were added, removed and changed, field by field, and by whom. Goes through
// the changes between the two, not through the inventory. What changed and changed back is no difference.

import type { Actor } from "../access/actor.ts";
import { ChangeLog, type ChangeQuery, type Cursor, type LedgerEntry } from "../db/change-log.ts";
import type { AnyKind } from "../db/kind.ts";
import type { AsOf } from "../db/list-query.ts";
import type { Reader } from "../db/reader.ts";
import { CHANGE_KINDS, composeOf } from "./change-view.ts";
import { recordLabel } from "./record-label.ts";

export interface DiffQuery {
  readonly actor: Actor;
  readonly types: readonly string[];
  /** Only this network, or host; 0 for one that does not exist for the caller. */
  readonly networkN: number | null;
  readonly hostN: number | null;
  /** Sequences. */
  readonly from: number;
  readonly to: number;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface FieldChange {
  readonly field: string;
  readonly from: unknown;
  readonly to: unknown;
  /** The last transaction that changed it; null where history was thinned and that is not known any more. */
  readonly transaction: LedgerEntry | null;
}

/** One record that differs. */
export type Difference =
  | { readonly change: "added" | "removed"; readonly kind: AnyKind; readonly name: string; readonly record: Fields; readonly transaction: LedgerEntry }
  | { readonly change: "changed"; readonly kind: AnyKind; readonly name: string; readonly record: Fields; readonly fields: readonly FieldChange[]; readonly transaction: LedgerEntry };

/** Versions that are gathered in one step. */
const STEP_VERSIONS = 2_000;
/** Records that are compared in one step. */
const STEP_RECORDS = 200;

/** Of every version, or seen without one: they say when, not what. */
const UNCOMPARED = new Set(["created_at", "updated_at", "valid_from", "valid_to", "last_seen_at", "last_discovery_id", "last_used", "last_login"]);

/**
 * The differences in steps, kind by kind and within a kind in page order; an empty step hands the turn to other reads. First
 * those of one `change`, then of the next, if they are asked for one after the other.
 */
export class Diff {
  private readonly reader: Reader;
  private readonly query: DiffQuery;
  private readonly log: ChangeLog;
  private readonly kinds: readonly AnyKind[];
  private touched: Touched = new Touched();

  constructor(reader: Reader, query: DiffQuery) {
    this.reader = reader;
    this.query = query;
    this.log = new ChangeLog(reader);
    this.kinds = CHANGE_KINDS.filter((kind) => query.types.includes(kind.name));
  }

  /** Gathers what was touched between the two. To be run to its end before anything else. */
  *gather(): Generator<void> {
    const { actor, networkN, hostN, from, to } = this.query;
    const query: ChangeQuery = { reach: actor, kinds: this.kinds, ...(networkN === null ? {} : { networkN }), ...(hostN === null ? {} : { hostN }) };
    let cursor: Cursor = { sequence: from, n: 0 };
    for (;;) {
      const changes = this.log.changes(query, cursor, to, STEP_VERSIONS);
      for (const { n, sequence, kind, operation, changedFields } of changes) this.touched.add(n, sequence, this.kinds.indexOf(kind), operation, changedFields);
      const last = changes.at(-1);
      if (last === undefined || changes.length < STEP_VERSIONS) break;
      cursor = { sequence: last.sequence, n: last.n };
      yield;
    }
    this.touched.sort();
  }

  /** The differences of these sorts, in the order of kinds and records. */
  *differences(sorts: ReadonlyArray<Difference["change"]>): Generator<Difference[]> {
    let step: TouchedRecord[] = [];
    for (const record of this.records()) {
      const sort = sortOf(record);
      if (sort === null || !sorts.includes(sort)) continue;
      if (step.length === STEP_RECORDS || (step.length > 0 && step[0]?.kindPlace !== record.kindPlace)) {
        yield this.compare(step);
        step = [];
      }
      step.push(record);
    }
    if (step.length > 0) yield this.compare(step);
  }

  private get isThinned(): boolean {
    return this.query.from < this.reader.thinnedPast.until;
  }

  /** The touched records. Where versions were dropped, those that are left do not tell how it began. */
  private *records(): Generator<TouchedRecord> {
    if (!this.isThinned) return yield* this.touched.records();
    const corrected = (step: readonly TouchedRecord[]): TouchedRecord[] => {
      const alive = this.log.aliveAt(step.map((record) => record.n), this.query.from);
      return step.map((record) => ({ ...record, wasAlive: alive.has(record.n), lastDropped: this.log.lastDropped(record.n, this.query.from, this.query.to) }));
    };
    let step: TouchedRecord[] = [];
    for (const record of this.touched.records()) {
      step.push(record);
      if (step.length < STEP_RECORDS) continue;
      yield* corrected(step);
      step = [];
    }
    yield* corrected(step);
  }

  /** Records of one kind. */
  private compare(records: readonly TouchedRecord[]): Difference[] {
    const kind = this.kinds[(records[0] as TouchedRecord).kindPlace] as AnyKind;
    const before = this.documents(kind, records.filter((record) => record.wasAlive), this.query.from);
    const after = this.documents(kind, records.filter((record) => record.isAlive), this.query.to);
    const entries = this.log.entries(records.flatMap((record) => record.versions.map((version) => version.sequence)));
    const differences: Difference[] = [];
    for (const record of records) {
      const old = before.get(record.n);
      const now = after.get(record.n);
      const transaction = entries.get((record.versions.at(-1) as TouchedVersion).sequence) as LedgerEntry;
      // Added by who made it, whoever changed it since.
      const made = entries.get((record.versions.findLast((version) => version.changedFields === null) ?? (record.versions.at(-1) as TouchedVersion)).sequence) as LedgerEntry;
      if (old === undefined && now !== undefined) differences.push({ change: "added", kind, name: recordLabel(kind.name, now), record: now, transaction: made });
      else if (old !== undefined && now === undefined) differences.push({ change: "removed", kind, name: recordLabel(kind.name, old), record: old, transaction });
      else if (old !== undefined && now !== undefined) {
        const fields = changedFields(old, now).map((field) => ({ field, from: old[field] ?? null, to: now[field] ?? null, transaction: entries.get(lastChangeOf(field, record)) ?? null }));
        if (fields.length > 0) differences.push({ change: "changed", kind, name: recordLabel(kind.name, now), record: now, fields, transaction });
      }
    }
    return differences;
  }

  private documents(kind: AnyKind, records: readonly TouchedRecord[], sequence: number): Map<number, Fields> {
    if (records.length === 0) return new Map();
    const asOf: AsOf = this.reader.atSequence(sequence);
    const { actor } = this.query;
    const items = this.reader.itemsOf(kind, records.map((record) => record.n), asOf, actor);
    const compose = composeOf(kind, false);
    const texts = compose === undefined ? items.map((item) => item.text) : compose(this.reader, actor)(items, asOf);
    return new Map(items.map((item, place) => [item.n, JSON.parse(texts[place] as string) as Fields]));
  }
}

/** Parts that are records of their own, and differ as such. */
const PARTS = new Set(["interfaces", "ip_addresses", "ports", "services", "bindings"]);

function sortOf({ wasAlive, isAlive, versions, lastDropped }: TouchedRecord): Difference["change"] | null {
  if (wasAlive && isAlive) return lastDropped === 0 && versions.every((version) => version.changedFields?.every((field) => PARTS.has(field)) === true) ? null : "changed";
  if (wasAlive) return "removed";
  return isAlive ? "added" : null;
}

function changedFields(old: Fields, now: Fields): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => !UNCOMPARED.has(name) && !isSame(old[name], now[name])).sort();
}

function isSame(old: unknown, now: unknown): boolean {
  return old === now || (typeof old === "object" && typeof now === "object" && Bun.deepEquals(old, now));
}

/** The last transaction that changed a field, 0 where that was dropped; what was made anew changed in whole. */
function lastChangeOf(field: string, { versions, lastDropped }: TouchedRecord): number {
  const version = versions.findLast((each) => each.changedFields === null || each.changedFields.includes(field));
  if (lastDropped > (version?.sequence ?? 0)) return 0;
  // A field that follows from others is named by none.
  return (version ?? (versions.at(-1) as TouchedVersion)).sequence;
}

interface TouchedVersion {
  readonly sequence: number;
  readonly changedFields: readonly string[] | null;
}

interface TouchedRecord {
  readonly n: number;
  readonly kindPlace: number;
  readonly wasAlive: boolean;
  readonly isAlive: boolean;
  readonly versions: readonly TouchedVersion[];
  /** The last of its versions in between that were dropped when history was thinned; 0 for none. */
  readonly lastDropped: number;
}

const OPERATIONS = ["Created", "Updated", "Deleted"] as const;

/** Versions between two instants, by record: as numbers in a row, since there may be millions. */
class Touched {
  private length = 0;
  private ns = new Uint32Array(1_024);
  private sequences = new Uint32Array(1_024);
  private kindPlaces = new Uint8Array(1_024);
  private operations = new Uint8Array(1_024);
  /** Places among the distinct lists of fields. */
  private fieldLists = new Uint32Array(1_024);
  private readonly lists: Array<readonly string[] | null> = [null];
  private readonly listPlaces = new Map<string, number>();
  private order = new Uint32Array(0);

  add(n: number, sequence: number, kindPlace: number, operation: (typeof OPERATIONS)[number], fields: readonly string[] | null): void {
    if (this.length === this.ns.length) this.grow();
    this.ns[this.length] = n;
    this.sequences[this.length] = sequence;
    this.kindPlaces[this.length] = kindPlace;
    this.operations[this.length] = OPERATIONS.indexOf(operation);
    this.fieldLists[this.length] = fields === null ? 0 : this.listPlace(fields);
    this.length += 1;
  }

  /** By kind, then by record, then by time. */
  sort(): void {
    const { ns, kindPlaces, sequences } = this;
    this.order = Uint32Array.from({ length: this.length }, (_, place) => place).sort(
      (a, b) => (kindPlaces[a] as number) - (kindPlaces[b] as number) || (ns[a] as number) - (ns[b] as number) || (sequences[a] as number) - (sequences[b] as number),
    );
  }

  *records(): Generator<TouchedRecord> {
    for (let start = 0; start < this.order.length; ) {
      const first = this.order[start] as number;
      const n = this.ns[first] as number;
      const versions: TouchedVersion[] = [];
      let place = start;
      let last = first;
      for (; place < this.order.length && this.ns[this.order[place] as number] === n; place += 1) {
        last = this.order[place] as number;
        versions.push({ sequence: this.sequences[last] as number, changedFields: this.lists[this.fieldLists[last] as number] ?? null });
      }
      // What is created was not there before; what is changed or deleted was.
      yield { n, kindPlace: this.kindPlaces[first] as number, wasAlive: this.operations[first] !== 0, isAlive: this.operations[last] !== 2, versions, lastDropped: 0 };
      start = place;
    }
  }

  private listPlace(fields: readonly string[]): number {
    const name = fields.join();
    let place = this.listPlaces.get(name);
    if (place === undefined) {
      place = this.lists.push(fields) - 1;
      this.listPlaces.set(name, place);
    }
    return place;
  }

  private grow(): void {
    const size = this.length * 2;
    const grown = <T extends Uint32Array | Uint8Array>(array: T, larger: T): T => {
      larger.set(array);
      return larger;
    };
    this.ns = grown(this.ns, new Uint32Array(size));
    this.sequences = grown(this.sequences, new Uint32Array(size));
    this.kindPlaces = grown(this.kindPlaces, new Uint8Array(size));
    this.operations = grown(this.operations, new Uint8Array(size));
    this.fieldLists = grown(this.fieldLists, new Uint32Array(size));
  }
}
