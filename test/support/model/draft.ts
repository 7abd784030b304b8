// Random transaction under construction, on the real store and on the naive model: possible writes of a person, a scan
// or a restore. Must not judge the results of the store.

import type { AnyKind, Observed } from "../../../src/db/kind.ts";
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
import type { SeededRandom } from "../injected/seeded-random.ts";
import {
  addressFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  networkFields,
  portFields,
  type Store,
  serviceFields,
  subnetFields,
  tagFields,
  type Wire,
} from "../store/store.ts";

/** A version of a record; never changed. */
export interface ModelRecord {
  readonly kind: AnyKind;
  readonly id: string;
  readonly fields: Wire;
  readonly created_at: string;
  readonly valid_from: string;
  readonly lineage_id: string | null;
  /** Written together with the version. */
  readonly observed: Observed;
}

/** Interface of the model that a draft needs. */
interface ForDraft {
  readonly random: SeededRandom;
  readonly unknownFields: ReadonlySet<string>;
  readonly movesHosts: boolean;
  readonly observed: ReadonlyMap<string, Observed>;
  newName(): string;
  pickEnded(kind: AnyKind): ModelRecord | null;
}

const COLORS = ["Pink", "Green", "Amber", "Yellow"] as const;
/** Recurring names, in various cases and scripts. */
export const NAMES = [
  "alpha",
  "Beta",
  "beta",
  "Ärger",
  "ärger",
  "zebra",
  "Éclair",
  "eclair",
  "10",
  "9",
  "日本",
  "😀 smile",
  "ﬁn",
  "a'b\"c\\d",
  "straße",
];
/** Searchable texts: punctuation, various cases, scripts and blanks. */
export const TEXTS = [
  "core-sw-01 (old)",
  "Core/SW_02.example.net",
  "router\tR7\n“Ärger” im Keller",
  "SW sw Sw",
  "日本 東京-1",
  "ΟΔΟΣ οδος",
  "a\u00a0b\u2028c",
  "10.2.3.4:8080",
  "x@example.org",
  "…(((7)))",
  'O\'Brien\u0085NEAR "AND" OR* NOT',
  "aa-bb-cc",
];
/** Interface names by number: full, abbreviated, or without a known type. */
const INTERFACES: ReadonlyArray<(index: number) => string> = [
  (index) => `GigabitEthernet1/0/${index}`,
  (index) => `Gi1/0/${index}`,
  (index) => `TenGigabitEthernet 1/1/${index}`,
  (index) => `Te1/1/${index}.100`,
  (index) => `port-channel${index}`,
  (index) => `ge-0/0/${index}`,
  (index) => `Slot 1 Port ${index}`,
  (index) => `Uplink Te1/${index} to core`,
  () => "Gibson",
  () => "",
];
const MACS = ["aa:bb:cc:00:00:01", "aa:bb:cc:00:00:02", "aa:bc:00:00:00:03", "00:1b:21:aa:bb:cc", "10:20:30:40:50:60"];
const IPS = "10.2.3.4 10.2.3.40 10.20.3.4 110.2.3.4 192.168.7.1 2001:db8::1 2001:db8::10:1 fe80::1b:21 ::1".split(" ");
const DEFINITIONS = ["ssh", "SSH", "nginx"];
const OBSERVER = "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00ff";

/** A transaction under construction, on the store and on the model. */
export class Draft {
  readonly records: Map<string, ModelRecord>;
  readonly observed = new Map<string, Observed>();
  private readonly model: ForDraft;
  private readonly store: Store;
  private readonly tx: WriteTransaction;
  private readonly at: string;

  constructor(
    model: ForDraft,
    store: Store,
    tx: WriteTransaction,
    records: ReadonlyMap<string, ModelRecord>,
    at: string,
  ) {
    this.model = model;
    this.store = store;
    this.tx = tx;
    this.records = new Map(records);
    this.at = at;
  }

  randomly(): void {
    const { random } = this.model;
    const count = 1 + random.integer(5);
    for (let each = 0; each < count; each += 1) {
      const dice = random.integer(150);
      if (dice < 100) this.act(dice);
      else this.actOnMore(dice);
    }
  }

  all(kind: AnyKind): ModelRecord[] {
    return [...this.records.values()].filter((record) => record.kind === kind);
  }

  create(kind: AnyKind, described: Wire): ModelRecord {
    const { random, unknownFields } = this.model;
    const fields = Object.fromEntries(Object.entries(described).filter(([field]) => !unknownFields.has(field)));
    // Some have a given id, of any UUID version, which decides their order within a transaction.
    const own =
      random.integer(3) === 0
        ? {
            id: random
              .bytes(16)
              .toHex()
              .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5"),
          }
        : {};
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

  /** Restores a record under its former id. */
  revive(record: ModelRecord, changes: Wire = {}): void {
    const { random } = this.model;
    const fields = { ...record.fields, ...changes };
    const observed: Observed = random.integer(2) === 0 ? record.observed : { last_seen_at: this.at };
    const lineage_id = record.lineage_id === null && record.kind.absent === "omitted" ? undefined : record.lineage_id;
    this.tx.revive(
      record.kind,
      this.store.organizationId,
      {
        id: record.id,
        ...fields,
        lineage_id,
        created_at: record.created_at,
        updated_at: record.valid_from,
        valid_from: record.valid_from,
      } as never,
      { observed },
    );
    this.records.set(record.id, { ...record, fields });
    this.observed.set(record.id, observed);
  }

  private act(dice: number): void {
    const { random } = this.model;
    const hosts = this.all(hostKind);
    if (dice < 3) this.create(networkKind, networkFields(this.store.organizationId, this.model.newName()));
    else if (dice < 12) this.create(hostKind, this.newHost());
    else if (dice < 24 && hosts.length > 0) this.addPort(random.pick(hosts));
    else if (dice < 36 && hosts.length > 0) this.addEntry(random.pick(hosts));
    else if (dice < 42) this.addTag();
    else if (dice < 52 && hosts.length > 0)
      this.update(
        random.pick(hosts),
        random.integer(2) === 0
          ? { name: this.model.newName() }
          : { hidden: random.integer(2) === 0, tags: this.someTags() },
      );
    else if (dice < 58) this.somePort((port) => this.update(port, { type: random.pick(["Custom", "Ssh"]) }));
    else if (dice < 66)
      this.someEntry((entry) =>
        this.update(entry, {
          oper_status: random.pick(["Up", "Down"]),
          if_alias: random.pick([undefined, "uplink", ...TEXTS]),
        }),
      );
    else if (dice < 72)
      this.some(tagKind, (tag) =>
        this.update(
          tag,
          random.integer(2) === 0
            ? { color: random.pick(COLORS), is_application: random.integer(2) === 0 }
            : { name: this.model.newName() },
        ),
      );
    else if (dice < 76) this.somePort((port) => this.remove(port));
    else if (dice < 80) this.someEntry((entry) => this.removeEntry(entry));
    else if (dice < 82) this.some(tagKind, (tag) => this.removeTag(tag));
    else if (dice < 85) this.some(hostKind, (host) => this.removeHost(host));
    else if (dice < 89) this.some(hostKind, (host) => (this.model.movesHosts ? this.moveHost(host) : undefined));
    else if (dice < 92) this.someEntry((entry) => this.forwardTo(entry));
    else if (dice < 96) this.someEntry((entry) => this.observe(entry));
    else if (dice < 98) this.somePort((port) => this.observe(port));
    else {
      const made = this.create(hostKind, this.newHost());
      this.addPort(made);
      this.removeHost(made);
    }
  }

  /** Texts, addresses, services, subnets and restored records. */
  private actOnMore(dice: number): void {
    const { random } = this.model;
    const hosts = this.all(hostKind);
    // An earlier store has none.
    if (dice < 106 && this.model.unknownFields.size === 0 && random.integer(3) === 0)
      this.some(hostKind, (host) => this.update(host, { custom_fields: this.someValues() }));
    else if (dice < 106)
      this.some(hostKind, (host) =>
        this.update(host, {
          [random.pick(
            ["description", "hostname", "sys_name", "sys_descr", "manufacturer", "model", "asset_tag"].filter(
              (field) => !this.model.unknownFields.has(field),
            ),
          )]: random.pick([null, ...TEXTS]),
        }),
      );
    else if (dice < 114 && hosts.length > 0) this.addAddress(random.pick(hosts));
    else if (dice < 117)
      this.some(ipAddressKind, (address) =>
        this.update(
          address,
          random.pick([{ mac_address: random.pick([null, ...MACS]) }, { name: random.pick(TEXTS) }]),
        ),
      );
    else if (dice < 119) this.some(ipAddressKind, (address) => this.remove(address));
    else if (dice < 122)
      this.someEntry((entry) => this.update(entry, { mac_address: random.pick([undefined, ...MACS]) }));
    else if (dice < 126 && hosts.length > 0) this.addService(random.pick(hosts));
    else if (dice < 128)
      this.some(serviceKind, (service) =>
        this.changeService(
          service,
          random.pick([
            { name: this.model.newName() },
            { service_definition: random.pick(DEFINITIONS) },
            { tags: this.someTags() },
          ]),
        ),
      );
    else if (dice < 129) this.some(serviceKind, (service) => this.remove(service));
    else if (dice < 131) this.addSubnet(random.pick(this.all(networkKind)));
    else if (dice < 132)
      this.some(networkKind, (network) => this.update(network, { description: random.pick([null, ...TEXTS]) }));
    else if (dice < 133) this.some(tagKind, (tag) => this.update(tag, { description: random.pick(["", ...TEXTS]) }));
    else if (dice < 137) this.bringBack(hostKind, () => true);
    else if (dice < 139)
      this.bringBack(tagKind, (tag) => !this.all(tagKind).some((each) => each.fields.name === tag.fields.name));
    else if (dice < 141) this.bringBack(portKind, (port) => this.hasRoom(port, "number"));
    else if (dice < 145) this.bringBack(ifEntryKind, (entry) => this.hasRoom(entry, "if_index"));
    else if (dice < 148) this.bringBack(ipAddressKind, (address) => this.hasRoom(address, "ip_address"));
    else this.bringBack(serviceKind, (service) => this.hasRoom(service, "name", "service_definition"));
  }

  /**
   * Restores a record if its host and its siblings allow it: into the current network of the host, with the tags that
   * still exist.
   */
  private bringBack(kind: AnyKind, mayLive: (record: ModelRecord) => boolean): void {
    const record = this.model.pickEnded(kind);
    if (record === null || this.records.has(record.id) || !mayLive(record)) return;
    const host = this.records.get(record.fields.host_id as string);
    const network_id = host?.fields.network_id as string | undefined;
    const tags = record.fields.tags as string[] | undefined;
    this.revive(record, {
      ...(network_id === undefined ? {} : { network_id }),
      ...(kind === ipAddressKind && network_id !== undefined ? { subnet_id: this.subnetOf(network_id).id } : {}),
      ...(tags === undefined ? {} : { tags: tags.filter((id) => this.records.has(id)) }),
    });
  }

  private hasRoom(record: ModelRecord, ...unique: string[]): boolean {
    const host = this.records.get(record.fields.host_id as string);
    return (
      host !== undefined &&
      !this.parts(record.kind, host).some(
        (each) => each.id !== record.id && unique.every((field) => each.fields[field] === record.fields[field]),
      )
    );
  }

  private addAddress(host: ModelRecord): void {
    const { random } = this.model;
    const place = placeOf(host);
    const fields = addressFields(place, this.subnetOf(place.network_id).id, random.pick(IPS), {
      mac_address: random.pick([null, ...MACS]),
      name: random.pick(["", ...TEXTS]),
    });
    if (!this.parts(ipAddressKind, host).some((each) => each.fields.ip_address === fields.ip_address))
      this.create(ipAddressKind, fields);
  }

  private addService(host: ModelRecord): void {
    const { random } = this.model;
    const fields = serviceFields(placeOf(host), random.pick(NAMES), {
      service_definition: random.pick(DEFINITIONS),
      tags: this.someTags(),
    });
    if (
      !this.parts(serviceKind, host).some(
        (each) => each.fields.name === fields.name && each.fields.service_definition === fields.service_definition,
      )
    )
      this.create(serviceKind, fields);
  }

  private changeService(service: ModelRecord, changes: Wire): void {
    if (this.hasRoom({ ...service, fields: { ...service.fields, ...changes } }, "name", "service_definition"))
      this.update(service, changes);
  }

  private addSubnet(network: ModelRecord): void {
    const { random } = this.model;
    const cidr = random.pick([
      `10.${random.integer(12)}.0.0/16`,
      `${9 + random.integer(3)}.0.0.0/8`,
      `2001:db8:${random.integer(20).toString(16)}::/48`,
      "::/0",
      "0.0.0.0/0",
    ]);
    if (!this.all(subnetKind).some((each) => each.fields.network_id === network.id && each.fields.cidr === cidr))
      this.create(subnetKind, subnetFields(network.id, cidr, { name: random.pick(NAMES) }));
  }

  /** Any subnet of a network, for records that need one. */
  private subnetOf(networkId: string): ModelRecord {
    return (
      this.all(subnetKind).find((each) => each.fields.network_id === networkId) ??
      this.create(subnetKind, subnetFields(networkId, "172.16.0.0/12"))
    );
  }

  /** Custom field values, by key and in order; undefined for none. */
  private someValues(): Wire | undefined {
    const { random } = this.model;
    const values = {
      ...(random.integer(2) === 0 ? { height: random.pick([-1, 0, 2, 10, 1.5]) } : {}),
      ...(random.integer(2) === 0 ? { rack: random.pick(TEXTS.filter((text) => text !== "")) } : {}),
      ...(random.integer(3) === 0 ? { spare: random.integer(2) === 0 } : {}),
    };
    return Object.keys(values).length === 0 ? undefined : values;
  }

  private newHost(): Wire {
    const { random } = this.model;
    const networks = this.all(networkKind);
    // Some networks have many. Names recur, so that later incarnations find their lineage.
    return hostFields(
      random.pick(random.integer(2) === 0 ? networks.slice(0, 3) : networks).id,
      random.integer(2) === 0 ? random.pick(NAMES) : this.model.newName(),
      { tags: this.someTags() },
    );
  }

  private addPort(host: ModelRecord): void {
    const number = 1 + this.model.random.integer(6);
    if (this.parts(portKind, host).some((port) => port.fields.number === number)) return;
    this.create(portKind, portFields(placeOf(host), number));
  }

  private addEntry(host: ModelRecord): void {
    const index = 1 + this.model.random.integer(8);
    if (this.parts(ifEntryKind, host).some((entry) => entry.fields.if_index === index)) return;
    const { random } = this.model;
    this.create(
      ifEntryKind,
      ifEntryFields(placeOf(host), index, {
        if_descr: random.pick(INTERFACES)(index),
        if_name: random.pick([() => undefined, ...INTERFACES])(index),
        mac_address: random.pick([undefined, ...MACS]),
      }),
    );
  }

  private addTag(): void {
    const name = this.model.random.pick(NAMES);
    if (this.all(tagKind).some((tag) => tag.fields.name === name)) return;
    this.create(tagKind, tagFields(this.store.organizationId, name, { color: this.model.random.pick(COLORS) }));
  }

  /** Adds or removes an address in the forwarding table of an interface. */
  forwardTo(entry: ModelRecord, mac = `00:00:00:00:00:0${this.model.random.integer(10)}`): void {
    const known = this.all(fdbEntryKind).filter((each) => each.fields.if_entry_id === entry.id);
    const same = known.find((each) => each.fields.mac_address === mac);
    if (same !== undefined) this.remove(same);
    else this.create(fdbEntryKind, fdbEntryFields({ id: entry.id, ...placeOf2(entry) }, mac));
    this.tx.setComposed(ifEntryKind, entry.id, known.length + (same === undefined ? 1 : -1) > 0);
  }

  private removeEntry(entry: ModelRecord): void {
    for (const each of this.all(fdbEntryKind)) if (each.fields.if_entry_id === entry.id) this.remove(each);
    this.remove(entry);
  }

  private removeHost(host: ModelRecord): void {
    for (const entry of this.parts(ifEntryKind, host)) this.removeEntry(entry);
    for (const kind of [portKind, serviceKind, ipAddressKind])
      for (const part of this.parts(kind, host)) this.remove(part);
    this.remove(host);
  }

  private removeTag(tag: ModelRecord): void {
    for (const tagged of [...this.all(hostKind), ...this.all(serviceKind)]) {
      const tags = tagged.fields.tags as string[];
      if (tags.includes(tag.id)) this.update(tagged, { tags: tags.filter((id) => id !== tag.id) });
    }
    this.remove(tag);
  }

  /** Moves a host to another network, and perhaps back later. */
  private moveHost(host: ModelRecord): void {
    const network_id = this.model.random.pick(this.all(networkKind)).id;
    for (const kind of [portKind, ifEntryKind, fdbEntryKind, serviceKind])
      for (const part of this.parts(kind, host)) this.update(part, { network_id });
    for (const address of this.parts(ipAddressKind, host))
      this.update(address, { network_id, subnet_id: this.subnetOf(network_id).id });
    this.update(host, { network_id });
  }

  private observe(record: ModelRecord): void {
    const observed = {
      ...(this.observed.get(record.id) ?? this.model.observed.get(record.id)),
      last_seen_at: this.at,
      last_discovery_id: OBSERVER,
    };
    this.tx.observe(record.kind, record.id, observed);
    this.observed.set(record.id, observed);
  }

  private someTags(): string[] {
    return this.all(tagKind)
      .filter(() => this.model.random.integer(4) === 0)
      .map((tag) => tag.id);
  }

  private parts(kind: AnyKind, host: ModelRecord): ModelRecord[] {
    return this.all(kind).filter((part) => part.fields.host_id === host.id);
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
  return { id: host.id, network_id: host.fields.network_id as string };
}

function placeOf2(part: ModelRecord): { host_id: string; network_id: string } {
  return { host_id: part.fields.host_id as string, network_id: part.fields.network_id as string };
}
