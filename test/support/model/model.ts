// Naive model of the store: full copies of all records after each transaction, and lists by full scan. Runs drawn
// writes on a real store and on itself. Never derives expected results from the store.

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
import { type JsonRecord, networkFields, request, type Store } from "../store/store.ts";
import { Draft, type ModelRecord, NAMES } from "./draft.ts";
import { compareCidrs, startsInterfaceName, storedForms, stripAccents, wordStarts } from "./naive-text.ts";

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
  /** Deleted records with their last fields. */
  private readonly deleted = new Map<string, ModelRecord>();
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
  step(action: (draft: Draft) => void = (draft) => draft.writeRandomly()): void {
    const { random, store } = this;
    const roll = random.integer(10);
    if (roll > 1) store.clock.at += random.integer(60_000);
    else if (roll === 1) store.clock.at -= random.integer(1_000);
    const at = Math.max(store.clock.at, this.head.at + 1);
    let draft: Draft | null = null;
    const command = (tx: WriteTransaction) => {
      draft = new Draft(this, store, tx, this.head.records, formatInstant(at));
      action(draft);
    };
    const [reply] = store.writer.execute([request(command, this.author)]);
    if (reply === undefined || !reply.ok)
      throw new Error(`the model's transaction was refused: ${JSON.stringify(reply)}`);
    const records = this.commit(draft as unknown as Draft, formatInstant(at));
    if (records === null) {
      if (reply.outcome.sequence !== null)
        throw new Error(`transaction ${reply.outcome.sequence} was written although nothing changed`);
      return;
    }
    if (reply.outcome.sequence !== this.head.sequence + 1)
      throw new Error(`wrote ${reply.outcome.sequence} after ${this.head.sequence}`);
    this.snapshots.push({ sequence: this.head.sequence + 1, at, records });
  }

  /** Takes over a transaction that the store wrote itself, without versions. */
  skip(): void {
    const { sequence, at } = this.store.transactions().at(-1) as { sequence: number; at: number };
    this.snapshots.push({ sequence, at, records: this.head.records });
  }

  /** Items of a list, in order, in wire format. */
  list(snapshot: Snapshot, query: ModelQuery, isLive = false): JsonRecord[] {
    return this.matching(snapshot, query, isLive).map((record) => this.toJson(snapshot, record, isLive));
  }

  /** A page of a list, and the total. */
  page(
    snapshot: Snapshot,
    query: ModelQuery,
    isLive: boolean,
    limit: number,
    offset: number,
  ): { items: JsonRecord[]; total: number } {
    const matching = this.matching(snapshot, query, isLive);
    return {
      items: matching.slice(offset, offset + limit).map((record) => this.toJson(snapshot, record, isLive)),
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
      if (!(query.filters ?? []).every((filter) => matchesFilter(record, filter))) return false;
      return this.matchesSearch(snapshot, record, query.search ?? "");
    });
    matching.sort((a, b) => this.compare(a, b, query.order ?? [], isLive));
    return matching;
  }

  /** Adds a field to all records of a kind, past and future. */
  addField(kind: AnyKind, field: string, value: unknown): void {
    this.unknownFields.delete(field);
    const updated = new Map<ModelRecord, ModelRecord>();
    const withField = (record: ModelRecord): ModelRecord => {
      if (record.kind !== kind) return record;
      const existing = updated.get(record) ?? { ...record, fields: { ...record.fields, [field]: value } };
      updated.set(record, existing);
      return existing;
    };
    for (const [index, snapshot] of this.snapshots.entries()) {
      this.snapshots[index] = {
        ...snapshot,
        records: new Map([...snapshot.records].map(([id, record]) => [id, withField(record)])),
      };
    }
    for (const [id, record] of this.deleted) this.deleted.set(id, withField(record));
  }

  newName(): string {
    this.name += 1;
    return `${this.random.pick(NAMES)} ${this.name}`;
  }

  /** A random deleted record that is not live now; null for none. */
  pickDeleted(kind: AnyKind): ModelRecord | null {
    const deleted = [...this.deleted.values()].filter(
      (record) => record.kind === kind && !this.head.records.has(record.id),
    );
    return deleted.length === 0 ? null : this.random.pick(deleted);
  }

  /** A record in wire format at a snapshot, with its actual end. */
  toJson(snapshot: Snapshot, record: ModelRecord, isLive = false): JsonRecord {
    const { kind } = record;
    const versions = this.versionsOf.get(record.id) as string[];
    const end = isLive ? null : (versions[versions.indexOf(record.valid_from) + 1] ?? null);
    const macs = macsOf(snapshot).get(record.id) ?? [];
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
    return JSON.parse(text) as JsonRecord;
  }

  /** A search with likely matches: words that a record matched at some time, truncated and rewritten. */
  newSearch(kind: AnyKind): string {
    const { random } = this;
    // One of a few snapshots: the search sources are computed for each.
    const snapshot = this.snapshots[Math.floor((this.snapshots.length - 1) * (random.integer(21) / 20))] as Snapshot;
    const owners: ReadonlyArray<readonly [string, readonly ModelRecord[]]> =
      kind === ipAddressKind || !SEARCH_FIELDS.has(kind) || kind === ifEntryKind
        ? this.recordsOf(snapshot, kind).map((record) => [record.id, [record]] as const)
        : [...searchSourcesOf(snapshot)].filter(([id]) => snapshot.records.get(id)?.kind === kind);
    if (owners.length === 0) return "none";
    const all = random
      .pick(owners)[1]
      .flatMap((source) => [...(source.kind === kind ? namePrefixes(source) : []), ...wordStartsOf(source)]);
    const word = () => {
      const start = [...random.pick(all)];
      const prefix = start.slice(0, 1 + random.integer(start.length)).join("");
      const variants = [
        prefix.toUpperCase(),
        prefix.replaceAll(":", "-"),
        prefix.replace(/^(..):(..):?(..)?:?(..)?:?(..)?:?(..)?$/, "$1$2.$3$4.$5$6"),
        `${prefix}x`,
        stripAccents(prefix),
        prefix
          .replace(/^gi(?=\d)/, "GigabitEthernet")
          .replace(/^te(?=\d)/, "TenGig")
          .replace(/^port-ch\w*(?=\d)/, "Po"),
        prefix.replace(/^([a-z])\w*(?=\d)/, "$1"),
      ];
      return random.integer(2) === 0 ? prefix : random.pick(variants);
    };
    return all.length === 0
      ? "none"
      : Array.from({ length: random.pick([1, 1, 2, 3]) }, word).join(random.pick([" ", "  ", "\t"]));
  }

  private recordsOf(snapshot: Snapshot, kind: AnyKind): ModelRecord[] {
    return [...snapshot.records.values()].filter((record) => record.kind === kind);
  }

  private matchesSearch(snapshot: Snapshot, record: ModelRecord, search: string): boolean {
    const words = search.split(/\s+/).filter((word) => word !== "");
    if (words.length === 0) return true;
    // A child matches by its own strings, a parent also by those of its children.
    const searched = record.kind === ipAddressKind ? [record] : (searchSourcesOf(snapshot).get(record.id) ?? []);
    return words.every((word) => {
      const forms = storedForms(word);
      return (
        this.matchesName(record, word) ||
        searched.some((source) => wordStartsOf(source).some((start) => forms.some((form) => start.startsWith(form))))
      );
    });
  }

  /** Whether a word is a prefix of the record's own name, with or without accents. */
  private matchesName(record: ModelRecord, word: string): boolean {
    const forms = storedForms(stripAccents(foldCase(word)));
    return (
      namePrefixes(record).some((start) => forms.some((form) => start.startsWith(form))) ||
      (NAME_FIELDS.get(record.kind)?.interfaces ?? []).some((field) =>
        [String(record.fields[field] ?? ""), ...String(record.fields[field] ?? "").split(/\s+/)].some((name) =>
          startsInterfaceName(name, stripAccents(foldCase(word))),
        ),
      )
    );
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
              ? compareValues(folded(left), folded(right)) || compareValues(left, right)
              : compareValues(left, right);
      if (result !== 0) return direction === "desc" ? -result : result;
    }
    return compareValues(a.created_at, b.created_at) || compareValues(a.id, b.id);
  }

  private commit(draft: Draft, at: string): Map<string, ModelRecord> | null {
    const before = this.head.records;
    const touched = new Set<string>();
    const touch = (record: ModelRecord | undefined) => {
      const isChild = record !== undefined && HOST_CHILD_KINDS.includes(record.kind);
      const owner =
        record?.kind === fdbEntryKind
          ? (record.fields.if_entry_id as string)
          : isChild
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

    const removed = changed
      .map((id) => before.get(id))
      .filter((record) => record !== undefined && !draft.records.has(record.id)) as ModelRecord[];
    removed.sort((a, b) => compareValues(a.created_at, b.created_at) || compareValues(a.id, b.id));
    for (const record of removed) {
      const identity = record.kind.identity(record.fields);
      if (identity !== null) this.roots.set(`${record.kind.name} ${identity}`, record.lineage_id ?? record.id);
    }
    const records = new Map(before);
    for (const id of new Set([...changed, ...touched])) {
      const after = draft.records.get(id);
      if (after === undefined) {
        const removed = before.get(id);
        if (removed !== undefined) {
          this.versionsOf.get(id)?.push(at);
          this.deleted.set(id, removed);
        }
        records.delete(id);
        continue;
      }
      // A restored record keeps its created_at and lineage_id.
      const existing = before.get(id) ?? this.deleted.get(id);
      const identity = after.kind.identity(after.fields);
      records.set(id, {
        ...after,
        valid_from: at,
        created_at: existing?.created_at ?? at,
        lineage_id:
          existing === undefined
            ? ((identity === null ? undefined : this.roots.get(`${after.kind.name} ${identity}`)) ?? null)
            : existing.lineage_id,
        observed: this.observed.get(id) ?? {},
      });
      if (existing === undefined) {
        this.ids.push(after);
        this.versionsOf.set(id, [at]);
      } else this.versionsOf.get(id)?.push(at);
    }
    return records;
  }
}

/** Strings among the custom field values. */
function customTexts({ fields }: ModelRecord): string[] {
  return Object.values((fields.custom_fields ?? {}) as JsonRecord).filter((value) => typeof value === "string");
}

const HOST_CHILD_KINDS: readonly AnyKind[] = [portKind, ifEntryKind, ipAddressKind, serviceKind];

interface TextFields {
  readonly words: readonly string[];
  readonly exact: readonly string[];
  readonly interfaces?: readonly string[];
  /** Field with the id of the record that a search returns, if not the record itself. */
  readonly owner?: string;
}

const ADDRESS_FIELDS: TextFields = { words: ["name"], exact: ["ip_address", "mac_address"] };
const NO_FIELDS: TextFields = { words: [], exact: [] };
const DESCRIBED_KINDS: ReadonlyArray<readonly [AnyKind, TextFields]> = [
  [hostKind, { words: ["name", "hostname", "sys_name", "description", "sys_descr", "asset_tag"], exact: [] }],
  [tagKind, { words: ["name", "description"], exact: [] }],
  [networkKind, { words: ["name", "description"], exact: [] }],
];

/** Search sources of each kind: free text and addresses. */
const SEARCH_FIELDS: ReadonlyMap<AnyKind, TextFields> = new Map<AnyKind, TextFields>([
  ...DESCRIBED_KINDS,
  [ipAddressKind, { ...ADDRESS_FIELDS, owner: "host_id" }],
  [ifEntryKind, { words: [], exact: ["mac_address"], owner: "host_id" }],
  [fdbEntryKind, { words: [], exact: ["mac_address"], owner: "if_entry_id" }],
]);

/** Names of the records of each kind. */
const NAME_FIELDS: ReadonlyMap<AnyKind, TextFields> = new Map<AnyKind, TextFields>([
  ...DESCRIBED_KINDS,
  [ipAddressKind, ADDRESS_FIELDS],
  [ifEntryKind, { words: ["if_alias"], exact: ["mac_address"], interfaces: ["if_name", "if_descr"] }],
  [subnetKind, { words: ["name", "description"], exact: ["cidr"] }],
  [portKind, { words: ["type"], exact: ["number"] }],
  [serviceKind, { words: ["name", "service_definition"], exact: [] }],
]);

/** Keeps a function's result for each key. */
function memoized<Key extends object, Value extends object>(compute: (key: Key) => Value): (key: Key) => Value {
  const results = new WeakMap<Key, Value>();
  return (key) => {
    const known = results.get(key);
    if (known !== undefined) return known;
    const result = compute(key);
    results.set(key, result);
    return result;
  };
}

/** Strings whose prefixes match a record's name; folded, without accents. */
const namePrefixes = memoized((record: ModelRecord): readonly string[] => {
  const { words, exact, interfaces = [] } = NAME_FIELDS.get(record.kind) ?? NO_FIELDS;
  const texts = (names: readonly string[]) =>
    names
      .map((name) => record.fields[name] as unknown)
      .filter((text) => typeof text === "string" || typeof text === "number");
  return [
    ...[...texts([...words, ...interfaces]), ...customTexts(record)].flatMap((text) =>
      wordStarts(String(text)).map(stripAccents),
    ),
    ...texts(exact).map(String),
  ];
});

const wordStartsOf = memoized((record: ModelRecord): readonly string[] => {
  const { words, exact } = SEARCH_FIELDS.get(record.kind) ?? NO_FIELDS;
  const texts = (names: readonly string[]) =>
    names.map((name) => record.fields[name] as unknown).filter((text) => typeof text === "string");
  return [...[...texts(words), ...customTexts(record)].flatMap((text) => wordStarts(text)), ...texts(exact)];
});

/** Search sources by record id. */
const searchSourcesOf = memoized(({ records }: Snapshot): Map<string, ModelRecord[]> => {
  const sources = [...records.values()].filter(({ kind }) => SEARCH_FIELDS.has(kind));
  return Map.groupBy(sources, ({ id, kind, fields }): string => fields[SEARCH_FIELDS.get(kind)?.owner ?? ""] ?? id);
});

/** Learned MAC addresses by id of the interface entry. */
const macsOf = memoized(({ records }: Snapshot): Map<string, string[]> => {
  const entries = [...records.values()].filter(({ kind }) => kind === fdbEntryKind);
  const groups = Map.groupBy(entries, ({ fields }): string => fields.if_entry_id);
  return new Map(Array.from(groups, ([id, group]) => [id, group.map(({ fields }) => fields.mac_address)]));
});

/** Fields in case-insensitive order. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(
  "name hostname manufacturer model service_definition if_descr if_alias".split(" "),
);

function folded(value: unknown): unknown {
  return typeof value === "string" ? foldCase(value) : value;
}

function matchesFilter(record: ModelRecord, filter: Filter): boolean {
  const value = record.fields[filter.field];
  return "namesAny" in filter
    ? filter.namesAny.some((id) => (value as string[]).includes(id))
    : value === ("names" in filter ? filter.names : filter.equals);
}

function isSame(before: ModelRecord | undefined, after: ModelRecord | undefined): boolean {
  if (before === undefined || after === undefined || before === after) return before === after;
  return Bun.deepEquals(JSON.parse(JSON.stringify(before.fields)), JSON.parse(JSON.stringify(after.fields)));
}

/** SQLite's comparison order: NULL, then numbers, then strings by their UTF-8 bytes. */
function compareValues(left: unknown, right: unknown): number {
  const [a, b] = [left, right].map((value) =>
    value === undefined ? null : typeof value === "boolean" ? Number(value) : value,
  );
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
