// A naive model of the store: full copies of everything after each transaction, and lists answered by looking at all of it.
// Draws random transactions and runs them on a real store and on itself. Must not use the store to know what it expects.

import { foldCase } from "../../src/base/text.ts";
import { formatInstant } from "../../src/base/instant.ts";
import type { AnyKind, Observed } from "../../src/db/kind.ts";
import type { OrderTerm } from "../../src/db/list-query.ts";
import type { WriteTransaction } from "../../src/db/transaction.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { portKind } from "../../src/resources/ports/port.ts";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { seededRandom, type SeededRandom } from "./seeded-random.ts";
import { fdbEntryFields, hostFields, ifEntryFields, networkFields, portFields, type Store, tagFields, type Wire } from "./store.ts";

/** A version of a record; never changed. */
export interface ModelRecord {
  readonly kind: AnyKind;
  readonly id: string;
  readonly fields: Wire;
  readonly created_at: string;
  readonly valid_from: string;
  readonly lineage_id: string | null;
  /** Written with the version. */
  readonly observed: Observed;
}

/** Everything after a transaction. */
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
  readonly order?: readonly OrderTerm[];
}

const NAMES = ["alpha", "Beta", "beta", "Ärger", "ärger", "zebra", "Éclair", "eclair", "10", "9", "日本", "😀 smile", "ﬁn", "a'b\"c\\d", "straße"];
const COLORS = ["Pink", "Green", "Amber", "Yellow"] as const;
const OBSERVER = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00ff";

export class Model {
  readonly snapshots: Snapshot[] = [];
  /** The observation values in force. */
  readonly observed = new Map<string, Observed>();
  /** Every id that ever was, with its kind. */
  readonly ids: Array<{ id: string; kind: AnyKind }> = [];
  readonly random: SeededRandom;
  private readonly store: Store;
  private readonly roots = new Map<string, string>();
  private readonly versionsOf = new Map<string, string[]>();
  /** Learned by each interface entry, by its id; worked out once per snapshot. */
  private readonly macs = new WeakMap<Snapshot, Map<string, string[]>>();
  private name = 0;

  constructor(store: Store, seed: number) {
    this.store = store;
    this.random = seededRandom(seed);
    const { sequence, at } = store.transactions().at(-1) as { sequence: number; at: number };
    const first = { kind: networkKind, id: store.networkId, fields: networkFields(store.organizationId, "first"), created_at: formatInstant(at), valid_from: formatInstant(at), lineage_id: null, observed: {} };
    this.versionsOf.set(first.id, [first.valid_from]);
    this.ids.push(first);
    this.snapshots.push({ sequence: 0, at: at - 1, records: new Map() }, { sequence, at, records: new Map([[first.id, first]]) });
  }

  get head(): Snapshot {
    return this.snapshots.at(-1) as Snapshot;
  }

  /** What held at an instant. */
  at(instant: number): Snapshot {
    return this.snapshots.findLast((snapshot) => snapshot.at <= instant) as Snapshot;
  }

  /** One transaction on both; the clock goes on by up to a minute, or stands, or goes back. */
  step(act: (draft: Draft) => void = (draft) => draft.randomly()): void {
    const { random, store } = this;
    const dice = random.integer(10);
    if (dice > 1) store.clock.at += random.integer(60_000);
    else if (dice === 1) store.clock.at -= random.integer(1_000);
    const at = Math.max(store.clock.at, this.head.at + 1);
    let draft: Draft | null = null;
    const [reply] = store.group((tx) => {
      draft = new Draft(this, store, tx, this.head.records, formatInstant(at));
      act(draft);
    });
    if (reply === undefined || !reply.ok) throw new Error(`the model's transaction was refused: ${JSON.stringify(reply)}`);
    const records = this.commit(draft as unknown as Draft, formatInstant(at));
    if (records === null) {
      if (reply.outcome.sequence !== null) throw new Error(`transaction ${reply.outcome.sequence} wrote something where nothing changed`);
      return;
    }
    if (reply.outcome.sequence !== this.head.sequence + 1) throw new Error(`wrote ${reply.outcome.sequence} after ${this.head.sequence}`);
    this.snapshots.push({ sequence: this.head.sequence + 1, at, records });
  }

  /** The items of a list, in order, as they stand on the wire. */
  list(snapshot: Snapshot, query: ModelQuery, isLive = false): Wire[] {
    const networkOf = (record: ModelRecord) => (record.kind === networkKind ? record.id : (record.fields["network_id"] as string | undefined));
    const matching = [...snapshot.records.values()].filter((record) => {
      if (record.kind !== query.kind) return false;
      const network = networkOf(record);
      if (query.reach !== null && network !== undefined && !query.reach.includes(network)) return false;
      if (query.network !== undefined && network !== query.network) return false;
      if (query.host !== undefined && record.fields["host_id"] !== query.host) return false;
      return query.ids === undefined || query.ids.includes(record.id);
    });
    matching.sort((a, b) => this.compare(a, b, query.order ?? []));
    return matching.map((record) => this.wire(snapshot, record, isLive));
  }

  newName(): string {
    this.name += 1;
    return `${this.random.pick(NAMES)} ${this.name}`;
  }

  /** A record as it stood at a snapshot, with its true end. */
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
      ...Object.fromEntries(kind.observed.map((field) => [field, (isLive ? this.observed.get(record.id) : record.observed)?.[field] ?? (kind.absent === "omitted" ? undefined : null)])),
      ...(macs.length > 0 ? { fdb_macs: [...new Set(macs)].sort() } : {}),
      valid_to: end === null && kind.absent === "omitted" ? undefined : end,
    });
    return JSON.parse(text) as Wire;
  }

  private macsOf(snapshot: Snapshot): Map<string, string[]> {
    let macs = this.macs.get(snapshot);
    if (macs === undefined) {
      macs = new Map();
      for (const { kind, fields } of snapshot.records.values()) {
        if (kind === fdbEntryKind) macs.set(fields["if_entry_id"], [...(macs.get(fields["if_entry_id"]) ?? []), fields["mac_address"]]);
      }
      this.macs.set(snapshot, macs);
    }
    return macs;
  }

  private compare(a: ModelRecord, b: ModelRecord, order: readonly OrderTerm[]): number {
    for (const { field, direction, folded } of order) {
      const [left, right] = [a, b].map((record) => (field in record ? record[field as keyof ModelRecord] : field === "updated_at" ? record.valid_from : record.fields[field]));
      const result = (folded ? bytes(foldCase(left as string), foldCase(right as string)) : 0) || bytes(left, right);
      if (result !== 0) return direction === "desc" ? -result : result;
    }
    return bytes(a.created_at, b.created_at) || bytes(a.id, b.id);
  }

  private commit(draft: Draft, at: string): Map<string, ModelRecord> | null {
    const before = this.head.records;
    const touched = new Set<string>();
    const touch = (record: ModelRecord | undefined) => {
      const owner = record?.kind === fdbEntryKind ? (record.fields["if_entry_id"] as string) : record?.kind === portKind || record?.kind === ifEntryKind ? (record.fields["host_id"] as string) : null;
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

    const gone = changed.map((id) => before.get(id)).filter((record) => record !== undefined && !draft.records.has(record.id)) as ModelRecord[];
    gone.sort((a, b) => bytes(a.created_at, b.created_at) || bytes(a.id, b.id));
    for (const record of gone) {
      const identity = record.kind.identity(record.fields);
      if (identity !== null) this.roots.set(`${record.kind.name} ${identity}`, record.lineage_id ?? record.id);
    }
    const records = new Map(before);
    for (const id of new Set([...changed, ...touched])) {
      const after = draft.records.get(id);
      if (after === undefined) {
        if (before.has(id)) this.versionsOf.get(id)?.push(at);
        records.delete(id);
        continue;
      }
      const known = before.get(id);
      const identity = after.kind.identity(after.fields);
      records.set(id, {
        ...after,
        valid_from: at,
        created_at: known?.created_at ?? at,
        lineage_id: known === undefined ? ((identity === null ? undefined : this.roots.get(`${after.kind.name} ${identity}`)) ?? null) : known.lineage_id,
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

/** A transaction on its way, on the store and on the model. */
export class Draft {
  readonly records: Map<string, ModelRecord>;
  readonly observed = new Map<string, Observed>();
  private readonly model: Model;
  private readonly store: Store;
  private readonly tx: WriteTransaction;
  private readonly at: string;

  constructor(model: Model, store: Store, tx: WriteTransaction, records: ReadonlyMap<string, ModelRecord>, at: string) {
    this.model = model;
    this.store = store;
    this.tx = tx;
    this.records = new Map(records);
    this.at = at;
  }

  randomly(): void {
    const { random } = this.model;
    const count = 1 + random.integer(5);
    for (let each = 0; each < count; each += 1) this.act(random.integer(100));
  }

  all(kind: AnyKind): ModelRecord[] {
    return [...this.records.values()].filter((record) => record.kind === kind);
  }

  create(kind: AnyKind, fields: Wire): ModelRecord {
    const { random } = this.model;
    // Some bring their own id, of any version, which decides their place within a transaction.
    const own = random.integer(3) === 0 ? { id: random.bytes(16).toHex().replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5") } : {};
    const observed: Observed = kind.observed.length > 0 && random.integer(2) === 0 ? { last_seen_at: this.at } : {};
    const made = this.tx.create(kind, this.store.organizationId, fields, { ...own, observed });
    const record = { kind, id: made.id, fields, created_at: "", valid_from: "", lineage_id: null, observed: {} };
    this.records.set(made.id, record);
    this.observed.set(made.id, observed);
    return record;
  }

  update(record: ModelRecord, changes: Wire): void {
    const known = this.records.get(record.id) as ModelRecord;
    this.tx.update(record.kind, record.id, changes);
    this.records.set(record.id, { ...known, fields: { ...known.fields, ...changes } });
  }

  remove(record: ModelRecord): void {
    this.tx.remove(record.kind, record.id);
    this.records.delete(record.id);
  }

  private act(dice: number): void {
    const { random } = this.model;
    const hosts = this.all(hostKind);
    if (dice < 3) this.create(networkKind, networkFields(this.store.organizationId, this.model.newName()));
    else if (dice < 12) this.create(hostKind, this.newHost());
    else if (dice < 24 && hosts.length > 0) this.addPort(random.pick(hosts));
    else if (dice < 36 && hosts.length > 0) this.addEntry(random.pick(hosts));
    else if (dice < 42) this.addTag();
    else if (dice < 52 && hosts.length > 0) this.update(random.pick(hosts), random.integer(2) === 0 ? { name: this.model.newName() } : { hidden: random.integer(2) === 0, tags: this.someTags() });
    else if (dice < 58) this.somePort((port) => this.update(port, { type: random.pick(["Custom", "Ssh"]) }));
    else if (dice < 66) this.someEntry((entry) => this.update(entry, { oper_status: random.pick(["Up", "Down"]), if_alias: random.pick([undefined, "uplink"]) }));
    else if (dice < 72) this.some(tagKind, (tag) => this.update(tag, random.integer(2) === 0 ? { color: random.pick(COLORS), is_application: random.integer(2) === 0 } : { name: this.model.newName() }));
    else if (dice < 76) this.somePort((port) => this.remove(port));
    else if (dice < 80) this.someEntry((entry) => this.removeEntry(entry));
    else if (dice < 82) this.some(tagKind, (tag) => this.removeTag(tag));
    else if (dice < 85) this.some(hostKind, (host) => this.removeHost(host));
    else if (dice < 89) this.some(hostKind, (host) => this.moveHost(host));
    else if (dice < 92) this.someEntry((entry) => this.forwardTo(entry));
    else if (dice < 96) this.someEntry((entry) => this.observe(entry));
    else if (dice < 98) this.somePort((port) => this.observe(port));
    else {
      const made = this.create(hostKind, this.newHost());
      this.addPort(made);
      this.removeHost(made);
    }
  }

  private newHost(): Wire {
    const { random } = this.model;
    // Names come again: later incarnations find their lineage.
    return hostFields(random.pick(this.all(networkKind)).id, random.integer(2) === 0 ? random.pick(NAMES) : this.model.newName(), { tags: this.someTags() });
  }

  private addPort(host: ModelRecord): void {
    const number = 1 + this.model.random.integer(6);
    if (this.parts(portKind, host).some((port) => port.fields["number"] === number)) return;
    this.create(portKind, portFields(placeOf(host), number));
  }

  private addEntry(host: ModelRecord): void {
    const index = 1 + this.model.random.integer(8);
    if (this.parts(ifEntryKind, host).some((entry) => entry.fields["if_index"] === index)) return;
    this.create(ifEntryKind, ifEntryFields(placeOf(host), index));
  }

  private addTag(): void {
    const name = this.model.random.pick(NAMES);
    if (this.all(tagKind).some((tag) => tag.fields["name"] === name)) return;
    this.create(tagKind, tagFields(this.store.organizationId, name, { color: this.model.random.pick(COLORS) }));
  }

  /** The forwarding table of an interface: one address more or one less. */
  private forwardTo(entry: ModelRecord): void {
    const { random } = this.model;
    const known = this.all(fdbEntryKind).filter((each) => each.fields["if_entry_id"] === entry.id);
    const mac = `00:00:00:00:00:0${random.integer(10)}`;
    const same = known.find((each) => each.fields["mac_address"] === mac);
    if (same !== undefined) this.remove(same);
    else this.create(fdbEntryKind, fdbEntryFields({ id: entry.id, ...placeOf2(entry) }, mac));
    this.tx.setComposed(ifEntryKind, entry.id, known.length + (same === undefined ? 1 : -1) > 0);
  }

  private removeEntry(entry: ModelRecord): void {
    for (const each of this.all(fdbEntryKind)) if (each.fields["if_entry_id"] === entry.id) this.remove(each);
    this.remove(entry);
  }

  private removeHost(host: ModelRecord): void {
    for (const entry of this.parts(ifEntryKind, host)) this.removeEntry(entry);
    for (const port of this.parts(portKind, host)) this.remove(port);
    this.remove(host);
  }

  private removeTag(tag: ModelRecord): void {
    for (const host of this.all(hostKind)) {
      const tags = host.fields["tags"] as string[];
      if (tags.includes(tag.id)) this.update(host, { tags: tags.filter((id) => id !== tag.id) });
    }
    this.remove(tag);
  }

  /** To another network, and later perhaps back. */
  private moveHost(host: ModelRecord): void {
    const network_id = this.model.random.pick(this.all(networkKind)).id;
    for (const kind of [portKind, ifEntryKind, fdbEntryKind]) for (const part of this.parts(kind, host)) this.update(part, { network_id });
    this.update(host, { network_id });
  }

  private observe(record: ModelRecord): void {
    const observed = { ...(this.observed.get(record.id) ?? this.model.observed.get(record.id)), last_seen_at: this.at, last_discovery_id: OBSERVER };
    this.tx.observe(record.kind, record.id, observed);
    this.observed.set(record.id, observed);
  }

  private someTags(): string[] {
    return this.all(tagKind).filter(() => this.model.random.integer(4) === 0).map((tag) => tag.id);
  }

  private parts(kind: AnyKind, host: ModelRecord): ModelRecord[] {
    return this.all(kind).filter((part) => part.fields["host_id"] === host.id);
  }

  private some(kind: AnyKind, act: (record: ModelRecord) => void): void {
    const records = this.all(kind);
    if (records.length > 0) act(this.model.random.pick(records));
  }

  private somePort(act: (record: ModelRecord) => void): void {
    this.some(portKind, act);
  }

  private someEntry(act: (record: ModelRecord) => void): void {
    this.some(ifEntryKind, act);
  }
}

function placeOf(host: ModelRecord): { id: string; network_id: string } {
  return { id: host.id, network_id: host.fields["network_id"] as string };
}

function placeOf2(part: ModelRecord): { host_id: string; network_id: string } {
  return { host_id: part.fields["host_id"] as string, network_id: part.fields["network_id"] as string };
}

function isSame(before: ModelRecord | undefined, after: ModelRecord | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return Bun.deepEquals(JSON.parse(JSON.stringify(before.fields)), JSON.parse(JSON.stringify(after.fields)));
}

/** As SQLite compares: nothing first, then numbers, then texts by their UTF-8 bytes. */
function bytes(left: unknown, right: unknown): number {
  const [a, b] = [left, right].map((value) => (value === undefined ? null : typeof value === "boolean" ? Number(value) : value));
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
