// Naive model of the store: full copies of all records after each transaction, and lists by full scan. Runs drawn
// writes on a real store and on itself. Must not use the store to derive expected results.

import { SYSTEM_AUTHOR } from "../../../src/access/actor.ts";
import { customFieldKey, fieldValueOf } from "../../../src/base/custom-field-names.ts";
import { formatInstant } from "../../../src/base/instant.ts";
import { foldCase } from "../../../src/base/text.ts";
import type { AnyKind, Observed } from "../../../src/db/kind.ts";
import type { Filter, OrderTerm } from "../../../src/db/reading/list-query.ts";
import type { Author } from "../../../src/db/writing/ledger.ts";
import type { WriteTransaction } from "../../../src/db/writing/transaction.ts";
import { fdbEntryKind } from "../../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../../src/resources/ip-addresses/ip-address.ts";
import { networkKind } from "../../../src/resources/networks/network.ts";
import { portKind } from "../../../src/resources/ports/port.ts";
import { serviceKind } from "../../../src/resources/services/service.ts";
import { subnetKind } from "../../../src/resources/subnets/subnet.ts";
import { tagKind } from "../../../src/resources/tags/tag.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import { networkFields, request, type Store, type Wire } from "../store/store.ts";
import { Draft, type ModelRecord, NAMES } from "./draft.ts";
import { beginnings, beginsInterface, compareCidrs, formsOf, unmarked } from "./naive-text.ts";

/** All records after a transaction. */
export interface Snapshot {
  readonly sequence: number;
  readonly at: number;
  readonly records: ReadonlyMap<string, ModelRecord>;
}

export interface ModelQuery {
  readonly kind: AnyKind;
  /** Ids of the networks in reach; null for all. */
  readonly reach: readonly string[] | null;
  readonly network?: string | undefined;
  readonly host?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[];
  readonly search?: string | undefined;
  readonly order?: readonly OrderTerm[];
}

export class Model {
  readonly snapshots: Snapshot[] = [];
  /** Current observation values. */
  readonly observed = new Map<string, Observed>();
  /** Every id ever used, with its kind. */
  readonly ids: Array<{ id: string; kind: AnyKind }> = [];
  readonly random: SeededRandom;
  /** Whether hosts move between networks: the store allows it, no command does it. */
  movesHosts = true;
  /** Author of the next transactions. */
  author: Author = SYSTEM_AUTHOR;
  private readonly store: Store;
  private readonly roots = new Map<string, string>();
  private readonly versionsOf = new Map<string, string[]>();
  /** Learned MAC addresses by id of the interface entry; computed once per snapshot. */
  private readonly macs = new WeakMap<Snapshot, Map<string, string[]>>();
  private readonly beginningsOf = new WeakMap<ModelRecord, readonly string[]>();
  private readonly calledOf = new WeakMap<ModelRecord, readonly string[]>();
  /** Search sources by record id; computed once per snapshot. */
  private readonly found = new WeakMap<Snapshot, Map<string, ModelRecord[]>>();
  /** Ended records with their last fields. */
  private readonly ended = new Map<string, ModelRecord>();
  /** Names of fields that records do not have yet. */
  readonly unknownFields = new Set<string>();
  private name = 0;

  constructor(store: Store, seed: number) {
    this.store = store;
    this.random = seededRandom(seed);
    const { sequence, at } = store.transactions().at(-1) as { sequence: number; at: number };
    const first = {
      kind: networkKind,
      id: store.networkId,
      fields: networkFields(store.organizationId, "first"),
      created_at: formatInstant(at),
      valid_from: formatInstant(at),
      lineage_id: null,
      observed: {},
    };
    this.versionsOf.set(first.id, [first.valid_from]);
    this.ids.push(first);
    this.snapshots.push(
      { sequence: 0, at: at - 1, records: new Map() },
      { sequence, at, records: new Map([[first.id, first]]) },
    );
  }

  get head(): Snapshot {
    return this.snapshots.at(-1) as Snapshot;
  }

  /** Snapshot at a timestamp. */
  at(instant: number): Snapshot {
    return this.snapshots.findLast((snapshot) => snapshot.at <= instant) as Snapshot;
  }

  /** Runs one transaction on both; the clock advances by up to a minute, stays, or goes back. */
  step(act: (draft: Draft) => void = (draft) => draft.randomly()): void {
    const { random, store } = this;
    const dice = random.integer(10);
    if (dice > 1) store.clock.at += random.integer(60_000);
    else if (dice === 1) store.clock.at -= random.integer(1_000);
    const at = Math.max(store.clock.at, this.head.at + 1);
    let draft: Draft | null = null;
    const command = (tx: WriteTransaction) => {
      draft = new Draft(this, store, tx, this.head.records, formatInstant(at));
      act(draft);
    };
    const [reply] = store.writer.execute([request(command, this.author)]);
    if (reply === undefined || !reply.ok)
      throw new Error(`the model's transaction was refused: ${JSON.stringify(reply)}`);
    const records = this.commit(draft as unknown as Draft, formatInstant(at));
    if (records === null) {
      if (reply.outcome.sequence !== null)
        throw new Error(`transaction ${reply.outcome.sequence} wrote something where nothing changed`);
      return;
    }
    if (reply.outcome.sequence !== this.head.sequence + 1)
      throw new Error(`wrote ${reply.outcome.sequence} after ${this.head.sequence}`);
    this.snapshots.push({ sequence: this.head.sequence + 1, at, records });
  }

  /** A transaction of the store itself, without versions. */
  skip(): void {
    const { sequence, at } = this.store.transactions().at(-1) as { sequence: number; at: number };
    this.snapshots.push({ sequence, at, records: this.head.records });
  }

  /** Items of a list, in order, in wire format. */
  list(snapshot: Snapshot, query: ModelQuery, isLive = false): Wire[] {
    return this.matching(snapshot, query, isLive).map((record) => this.wire(snapshot, record, isLive));
  }

  /** A page of a list, and the total. */
  page(
    snapshot: Snapshot,
    query: ModelQuery,
    isLive: boolean,
    limit: number,
    offset: number,
  ): { items: Wire[]; total: number } {
    const matching = this.matching(snapshot, query, isLive);
    return {
      items: matching.slice(offset, offset + limit).map((record) => this.wire(snapshot, record, isLive)),
      total: matching.length,
    };
  }

  private matching(snapshot: Snapshot, query: ModelQuery, isLive: boolean): ModelRecord[] {
    const networkOf = (record: ModelRecord) =>
      record.kind === networkKind ? record.id : (record.fields.network_id as string | undefined);
    const matching = [...snapshot.records.values()].filter((record) => {
      if (record.kind !== query.kind) return false;
      const network = networkOf(record);
      if (query.reach !== null && network !== undefined && !query.reach.includes(network)) return false;
      if (query.network !== undefined && network !== query.network) return false;
      if (query.host !== undefined && record.fields.host_id !== query.host) return false;
      if (query.ids !== undefined && !query.ids.includes(record.id)) return false;
      if (!(query.filters ?? []).every((filter) => passes(record, filter))) return false;
      return this.isFound(snapshot, record, query.search ?? "");
    });
    matching.sort((a, b) => this.compare(a, b, query.order ?? [], isLive));
    return matching;
  }

  /** Adds a field to all records of a kind, past and future. */
  gain(kind: AnyKind, field: string, value: unknown): void {
    this.unknownFields.delete(field);
    const gained = new Map<ModelRecord, ModelRecord>();
    const withField = (record: ModelRecord): ModelRecord => {
      if (record.kind !== kind) return record;
      const known = gained.get(record) ?? { ...record, fields: { ...record.fields, [field]: value } };
      gained.set(record, known);
      return known;
    };
    for (const [place, snapshot] of this.snapshots.entries()) {
      this.snapshots[place] = {
        ...snapshot,
        records: new Map([...snapshot.records].map(([id, record]) => [id, withField(record)])),
      };
    }
    for (const [id, record] of this.ended) this.ended.set(id, withField(record));
  }

  newName(): string {
    this.name += 1;
    return `${this.random.pick(NAMES)} ${this.name}`;
  }

  /** A record that has ended and is not live in any later snapshot. */
  pickEnded(kind: AnyKind): ModelRecord | null {
    const ended = [...this.ended.values()].filter(
      (record) => record.kind === kind && !this.head.records.has(record.id),
    );
    return ended.length === 0 ? null : this.random.pick(ended);
  }

  /** A record in wire format at a snapshot, with its actual end. */
  wire(snapshot: Snapshot, record: ModelRecord, isLive = false): Wire {
    const { kind } = record;
    const versions = this.versionsOf.get(record.id) as string[];
    const end = isLive ? null : (versions[versions.indexOf(record.valid_from) + 1] ?? null);
    const macs = this.macsOf(snapshot).get(record.id) ?? [];
    const text = JSON.stringify({
      id: record.id,
      ...record.fields,
      lineage_id: record.lineage_id === null && kind.absent === "omitted" ? undefined : record.lineage_id,
      created_at: record.created_at,
      updated_at: record.valid_from,
      valid_from: record.valid_from,
      ...Object.fromEntries(
        kind.observed.map((field) => [
          field,
          (isLive ? this.observed.get(record.id) : record.observed)?.[field] ??
            (kind.absent === "omitted" ? undefined : null),
        ]),
      ),
      ...(macs.length > 0 ? { fdb_macs: [...new Set(macs)].sort() } : {}),
      valid_to: end === null && kind.absent === "omitted" ? undefined : end,
    });
    return JSON.parse(text) as Wire;
  }

  /** A search with likely matches: words that a record matched at some time, truncated and rewritten. */
  newSearch(kind: AnyKind): string {
    const { random } = this;
    // One of few snapshots: the search sources are computed for each.
    const snapshot = this.snapshots[Math.floor((this.snapshots.length - 1) * (random.integer(21) / 20))] as Snapshot;
    const owners: ReadonlyArray<readonly [string, readonly ModelRecord[]]> =
      kind === ipAddressKind || !SEARCHED.has(kind) || kind === ifEntryKind
        ? this.of(snapshot, kind).map((each) => [each.id, [each]] as const)
        : [...this.foundBy(snapshot)].filter(([id]) => snapshot.records.get(id)?.kind === kind);
    if (owners.length === 0) return "none";
    const all = random
      .pick(owners)[1]
      .flatMap((each) => [...(each.kind === kind ? this.called(each) : []), ...this.beginnings(each)]);
    const word = () => {
      const begun = [...random.pick(all)];
      const cut = begun.slice(0, 1 + random.integer(begun.length)).join("");
      const otherwise = [
        cut.toUpperCase(),
        cut.replaceAll(":", "-"),
        cut.replace(/^(..):(..):?(..)?:?(..)?:?(..)?:?(..)?$/, "$1$2.$3$4.$5$6"),
        `${cut}x`,
        unmarked(cut),
        cut
          .replace(/^gi(?=\d)/, "GigabitEthernet")
          .replace(/^te(?=\d)/, "TenGig")
          .replace(/^port-ch\w*(?=\d)/, "Po"),
        cut.replace(/^([a-z])\w*(?=\d)/, "$1"),
      ];
      return random.integer(2) === 0 ? cut : random.pick(otherwise);
    };
    return all.length === 0
      ? "none"
      : Array.from({ length: random.pick([1, 1, 2, 3]) }, word).join(random.pick([" ", "  ", "\t"]));
  }

  private of(snapshot: Snapshot, kind: AnyKind): ModelRecord[] {
    return [...snapshot.records.values()].filter((record) => record.kind === kind);
  }

  private isFound(snapshot: Snapshot, record: ModelRecord, search: string): boolean {
    const words = search.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return true;
    // A child matches by its own texts, a parent also by those of its children.
    const searched = record.kind === ipAddressKind ? [record] : (this.foundBy(snapshot).get(record.id) ?? []);
    return words.every((word) => {
      const forms = formsOf(word);
      return (
        this.isCalled(record, word) ||
        searched.some((each) => this.beginnings(each).some((begun) => forms.some((form) => begun.startsWith(form))))
      );
    });
  }

  /** Whether a word is a prefix of the record's own name, with or without accents. */
  private isCalled(record: ModelRecord, word: string): boolean {
    const forms = formsOf(unmarked(foldCase(word)));
    return (
      this.called(record).some((begun) => forms.some((form) => begun.startsWith(form))) ||
      (CALLED.get(record.kind)?.interfaces ?? []).some((field) =>
        [String(record.fields[field] ?? ""), ...String(record.fields[field] ?? "").split(/\s+/)].some((name) =>
          beginsInterface(name, unmarked(foldCase(word))),
        ),
      )
    );
  }

  /** Texts whose prefixes match a record's name; folded, without accents. */
  private called(record: ModelRecord): readonly string[] {
    let known = this.calledOf.get(record);
    if (known === undefined) {
      const { words, wholes, interfaces = [] } = CALLED.get(record.kind) ?? { words: [], wholes: [] };
      const texts = (names: readonly string[]) =>
        names
          .map((name) => record.fields[name] as unknown)
          .filter((text) => typeof text === "string" || typeof text === "number");
      known = [
        ...[...texts([...words, ...interfaces]), ...customTexts(record)].flatMap((text) =>
          beginnings(String(text)).map(unmarked),
        ),
        ...texts(wholes).map(String),
      ];
      this.calledOf.set(record, known);
    }
    return known;
  }

  private foundBy(snapshot: Snapshot): Map<string, ModelRecord[]> {
    let found = this.found.get(snapshot);
    if (found === undefined) {
      found = new Map();
      for (const record of snapshot.records.values()) {
        const fields = SEARCHED.get(record.kind);
        if (fields === undefined) continue;
        const owner = fields.owner === undefined ? record.id : (record.fields[fields.owner] as string);
        const known = found.get(owner);
        if (known === undefined) found.set(owner, [record]);
        else known.push(record);
      }
      this.found.set(snapshot, found);
    }
    return found;
  }

  private beginnings(record: ModelRecord): readonly string[] {
    let known = this.beginningsOf.get(record);
    if (known === undefined) {
      const fields = SEARCHED.get(record.kind) ?? { words: [], wholes: [] };
      const texts = (names: readonly string[]) =>
        names.map((name) => record.fields[name] as unknown).filter((text) => typeof text === "string");
      known = [
        ...[...texts(fields.words), ...customTexts(record)].flatMap((text) => beginnings(text)),
        ...texts(fields.wholes),
      ];
      this.beginningsOf.set(record, known);
    }
    return known;
  }

  private macsOf(snapshot: Snapshot): Map<string, string[]> {
    let macs = this.macs.get(snapshot);
    if (macs === undefined) {
      macs = new Map();
      for (const { kind, fields } of snapshot.records.values()) {
        if (kind === fdbEntryKind)
          macs.set(fields.if_entry_id, [...(macs.get(fields.if_entry_id) ?? []), fields.mac_address]);
      }
      this.macs.set(snapshot, macs);
    }
    return macs;
  }

  private compare(a: ModelRecord, b: ModelRecord, order: readonly OrderTerm[], isLive: boolean): number {
    for (const { field, direction } of order) {
      const [left, right] = [a, b].map((record) => {
        if (field in record) return record[field as keyof ModelRecord];
        if (field === "updated_at") return record.valid_from;
        if (field === "last_seen_at") return (isLive ? this.observed.get(record.id) : record.observed)?.last_seen_at;
        return fieldValueOf(record.fields, field);
      });
      // Records without the custom field come last in either direction.
      if (customFieldKey(field) !== null && (left === undefined || right === undefined)) {
        if (left === right) continue;
        return left === undefined ? 1 : -1;
      }
      const result =
        field === "cidr"
          ? compareCidrs(left as string, right as string)
          : field === "ip_address"
            ? compareCidrs(`${left}/0`, `${right}/0`)
            : TEXT_FIELDS.has(field) || (customFieldKey(field) !== null && typeof left === "string")
              ? bytes(folded(left), folded(right)) || bytes(left, right)
              : bytes(left, right);
      if (result !== 0) return direction === "desc" ? -result : result;
    }
    return bytes(a.created_at, b.created_at) || bytes(a.id, b.id);
  }

  private commit(draft: Draft, at: string): Map<string, ModelRecord> | null {
    const before = this.head.records;
    const touched = new Set<string>();
    const touch = (record: ModelRecord | undefined) => {
      const isPart = record !== undefined && OWNED_BY_HOSTS.includes(record.kind);
      const owner =
        record?.kind === fdbEntryKind
          ? (record.fields.if_entry_id as string)
          : isPart
            ? (record.fields.host_id as string)
            : null;
      if (owner === null || touched.has(owner)) return;
      touched.add(owner);
      touch(before.get(owner));
      touch(draft.records.get(owner));
    };
    const ids = new Set([...before.keys(), ...draft.records.keys()]);
    const changed = [...ids].filter((id) => !isSame(before.get(id), draft.records.get(id)));
    for (const id of changed) {
      touch(before.get(id));
      touch(draft.records.get(id));
    }
    for (const [id, observed] of draft.observed) if (draft.records.has(id)) this.observed.set(id, observed);
    if (changed.length === 0) return null;

    const gone = changed
      .map((id) => before.get(id))
      .filter((record) => record !== undefined && !draft.records.has(record.id)) as ModelRecord[];
    gone.sort((a, b) => bytes(a.created_at, b.created_at) || bytes(a.id, b.id));
    for (const record of gone) {
      const identity = record.kind.identity(record.fields);
      if (identity !== null) this.roots.set(`${record.kind.name} ${identity}`, record.lineage_id ?? record.id);
    }
    const records = new Map(before);
    for (const id of new Set([...changed, ...touched])) {
      const after = draft.records.get(id);
      if (after === undefined) {
        const gone = before.get(id);
        if (gone !== undefined) {
          this.versionsOf.get(id)?.push(at);
          this.ended.set(id, gone);
        }
        records.delete(id);
        continue;
      }
      // A restored record keeps its created_at and lineage_id.
      const known = before.get(id) ?? this.ended.get(id);
      const identity = after.kind.identity(after.fields);
      records.set(id, {
        ...after,
        valid_from: at,
        created_at: known?.created_at ?? at,
        lineage_id:
          known === undefined
            ? ((identity === null ? undefined : this.roots.get(`${after.kind.name} ${identity}`)) ?? null)
            : known.lineage_id,
        observed: this.observed.get(id) ?? {},
      });
      if (known === undefined) {
        this.ids.push(after);
        this.versionsOf.set(id, [at]);
      } else this.versionsOf.get(id)?.push(at);
    }
    return records;
  }
}

/** Texts among the custom field values. */
function customTexts({ fields }: ModelRecord): string[] {
  return Object.values((fields.custom_fields ?? {}) as Wire).filter((value) => typeof value === "string");
}

const OWNED_BY_HOSTS: readonly AnyKind[] = [portKind, ifEntryKind, ipAddressKind, serviceKind];

/** Search sources of each kind: free text, addresses, and the record that is returned, if another one. */
const SEARCHED: ReadonlyMap<
  AnyKind,
  { readonly words: readonly string[]; readonly wholes: readonly string[]; readonly owner?: string }
> = new Map<AnyKind, { words: string[]; wholes: string[]; owner?: string }>([
  [hostKind, { words: ["name", "hostname", "sys_name", "description", "sys_descr", "asset_tag"], wholes: [] }],
  [tagKind, { words: ["name", "description"], wholes: [] }],
  [networkKind, { words: ["name", "description"], wholes: [] }],
  [ipAddressKind, { words: ["name"], wholes: ["ip_address", "mac_address"], owner: "host_id" }],
  [ifEntryKind, { words: [], wholes: ["mac_address"], owner: "host_id" }],
  [fdbEntryKind, { words: [], wholes: ["mac_address"], owner: "if_entry_id" }],
]);

/** Names of the records of each kind. */
const CALLED: ReadonlyMap<
  AnyKind,
  { readonly words: readonly string[]; readonly wholes: readonly string[]; readonly interfaces?: readonly string[] }
> = new Map<AnyKind, { words: string[]; wholes: string[]; interfaces?: string[] }>([
  [hostKind, { words: ["name", "hostname", "sys_name", "description", "sys_descr", "asset_tag"], wholes: [] }],
  [tagKind, { words: ["name", "description"], wholes: [] }],
  [networkKind, { words: ["name", "description"], wholes: [] }],
  [ipAddressKind, { words: ["name"], wholes: ["ip_address", "mac_address"] }],
  [ifEntryKind, { words: ["if_alias"], wholes: ["mac_address"], interfaces: ["if_name", "if_descr"] }],
  [subnetKind, { words: ["name", "description"], wholes: ["cidr"] }],
  [portKind, { words: ["type"], wholes: ["number"] }],
  [serviceKind, { words: ["name", "service_definition"], wholes: [] }],
]);

/** Case-insensitive order. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(
  "name hostname manufacturer model service_definition if_descr if_alias".split(" "),
);

function folded(value: unknown): unknown {
  return typeof value === "string" ? foldCase(value) : value;
}

function passes(record: ModelRecord, filter: Filter): boolean {
  const value = record.fields[filter.field];
  return "namesAny" in filter
    ? filter.namesAny.some((id) => (value as string[]).includes(id))
    : value === ("names" in filter ? filter.names : filter.equals);
}

function isSame(before: ModelRecord | undefined, after: ModelRecord | undefined): boolean {
  if (before === undefined || after === undefined || before === after) return before === after;
  return Bun.deepEquals(JSON.parse(JSON.stringify(before.fields)), JSON.parse(JSON.stringify(after.fields)));
}

/** SQLite's comparison order: NULL, then numbers, then texts by their UTF-8 bytes. */
function bytes(left: unknown, right: unknown): number {
  const [a, b] = [left, right].map((value) =>
    value === undefined ? null : typeof value === "boolean" ? Number(value) : value,
  );
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
