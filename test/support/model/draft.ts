// Random transaction under construction, on the real store and on the naive model: writes that a user, a scan or a
// restore could make. Does not check the store's results.

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
  type JsonRecord,
  networkFields,
  portFields,
  type Store,
  serviceFields,
  subnetFields,
  tagFields,
} from "../store/store.ts";

/** A version of a record; never changed. */
export interface ModelRecord {
  readonly kind: AnyKind;
  readonly id: string;
  readonly fields: JsonRecord;
  readonly created_at: string;
  readonly valid_from: string;
  readonly lineage_id: string | null;
  /** Written together with the version. */
  readonly observed: Observed;
}

/** Part of the model that a draft needs. */
interface DraftModel {
  readonly random: SeededRandom;
  readonly unknownFields: ReadonlySet<string>;
  readonly movesHosts: boolean;
  readonly observed: ReadonlyMap<string, Observed>;
  newName(): string;
  pickDeleted(kind: AnyKind): ModelRecord | null;
}

const COLORS = ["Pink", "Green", "Amber", "Yellow"] as const;
/** Recurring names, in various cases and scripts. */
export const NAMES = "alpha|Beta|beta|Ärger|ärger|zebra|Éclair|eclair|10|9|日本|😀 smile|ﬁn|a'b\"c\\d|straße".split(
  "|",
);
/** Searchable strings: punctuation, various cases, scripts and white space. */
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
  private readonly model: DraftModel;
  private readonly store: Store;
  private readonly tx: WriteTransaction;
  private readonly at: string;

  constructor(
    model: DraftModel,
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

  writeRandomly(): void {
    const { random } = this.model;
    const count = 1 + random.integer(5);
    for (let index = 0; index < count; index += 1) {
      const choice = random.integer(150);
      if (choice < 100) this.actOnRecords(choice);
      else this.actOnDetails(choice);
    }
  }

  all(kind: AnyKind): ModelRecord[] {
    return [...this.records.values()].filter((record) => record.kind === kind);
  }

  create(kind: AnyKind, allFields: JsonRecord): ModelRecord {
    const { random, unknownFields } = this.model;
    const fields = Object.fromEntries(Object.entries(allFields).filter(([field]) => !unknownFields.has(field)));
    // Some get a given id, which decides their order within a transaction.
    const givenId =
      random.integer(3) === 0
        ? {
            id: random
              .bytes(16)
              .toHex()
              .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-a$4-$5"),
          }
        : {};
    const observed: Observed = kind.observed.length > 0 && random.integer(2) === 0 ? { last_seen_at: this.at } : {};
    const created = this.tx.create(kind, this.store.organizationId, fields, { ...givenId, observed });
    const record = { kind, id: created.id, fields, created_at: "", valid_from: "", lineage_id: null, observed: {} };
    this.records.set(created.id, record);
    this.observed.set(created.id, observed);
    return record;
  }

  update(record: ModelRecord, changes: JsonRecord): void {
    const known = this.records.get(record.id) as ModelRecord;
    this.tx.update(record.kind, record.id, changes);
    this.records.set(record.id, { ...known, fields: { ...known.fields, ...changes } });
  }

  remove(record: ModelRecord): void {
    this.tx.remove(record.kind, record.id);
    this.records.delete(record.id);
  }

  /** Restores a record under its former id. */
  revive(record: ModelRecord, changes: JsonRecord = {}): void {
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

  private actOnRecords(choice: number): void {
    const { random } = this.model;
    const hosts = this.all(hostKind);
    if (choice < 3) this.create(networkKind, networkFields(this.store.organizationId, this.model.newName()));
    else if (choice < 12) this.create(hostKind, this.newHost());
    else if (choice < 24 && hosts.length > 0) this.addPort(random.pick(hosts));
    else if (choice < 36 && hosts.length > 0) this.addEntry(random.pick(hosts));
    else if (choice < 42) this.addTag();
    else if (choice < 52 && hosts.length > 0)
      this.update(
        random.pick(hosts),
        random.integer(2) === 0
          ? { name: this.model.newName() }
          : { hidden: random.integer(2) === 0, tags: this.randomTags() },
      );
    else if (choice < 58)
      this.withRandom(portKind, (port) => this.update(port, { type: random.pick(["Custom", "Ssh"]) }));
    else if (choice < 66)
      this.withRandom(ifEntryKind, (entry) =>
        this.update(entry, {
          oper_status: random.pick(["Up", "Down"]),
          if_alias: random.pick([undefined, "uplink", ...TEXTS]),
        }),
      );
    else if (choice < 72)
      this.withRandom(tagKind, (tag) =>
        this.update(
          tag,
          random.integer(2) === 0
            ? { color: random.pick(COLORS), is_application: random.integer(2) === 0 }
            : { name: this.model.newName() },
        ),
      );
    else if (choice < 76) this.withRandom(portKind, (port) => this.remove(port));
    else if (choice < 80) this.withRandom(ifEntryKind, (entry) => this.removeEntry(entry));
    else if (choice < 82) this.withRandom(tagKind, (tag) => this.removeTag(tag));
    else if (choice < 85) this.withRandom(hostKind, (host) => this.removeHost(host));
    else if (choice < 89)
      this.withRandom(hostKind, (host) => (this.model.movesHosts ? this.moveHost(host) : undefined));
    else if (choice < 92) this.withRandom(ifEntryKind, (entry) => this.forwardTo(entry));
    else if (choice < 96) this.withRandom(ifEntryKind, (entry) => this.observe(entry));
    else if (choice < 98) this.withRandom(portKind, (port) => this.observe(port));
    else {
      const created = this.create(hostKind, this.newHost());
      this.addPort(created);
      this.removeHost(created);
    }
  }

  /** Strings, addresses, services, subnets and restored records. */
  private actOnDetails(choice: number): void {
    const { random } = this.model;
    const hosts = this.all(hostKind);
    // An earlier store has no custom fields.
    if (choice < 106 && this.model.unknownFields.size === 0 && random.integer(3) === 0)
      this.withRandom(hostKind, (host) => this.update(host, { custom_fields: this.randomValues() }));
    else if (choice < 106)
      this.withRandom(hostKind, (host) =>
        this.update(host, {
          [random.pick(
            ["description", "hostname", "sys_name", "sys_descr", "manufacturer", "model", "asset_tag"].filter(
              (field) => !this.model.unknownFields.has(field),
            ),
          )]: random.pick([null, ...TEXTS]),
        }),
      );
    else if (choice < 114 && hosts.length > 0) this.addAddress(random.pick(hosts));
    else if (choice < 117)
      this.withRandom(ipAddressKind, (address) =>
        this.update(
          address,
          random.pick([{ mac_address: random.pick([null, ...MACS]) }, { name: random.pick(TEXTS) }]),
        ),
      );
    else if (choice < 119) this.withRandom(ipAddressKind, (address) => this.remove(address));
    else if (choice < 122)
      this.withRandom(ifEntryKind, (entry) => this.update(entry, { mac_address: random.pick([undefined, ...MACS]) }));
    else if (choice < 126 && hosts.length > 0) this.addService(random.pick(hosts));
    else if (choice < 128)
      this.withRandom(serviceKind, (service) =>
        this.changeService(
          service,
          random.pick([
            { name: this.model.newName() },
            { service_definition: random.pick(DEFINITIONS) },
            { tags: this.randomTags() },
          ]),
        ),
      );
    else if (choice < 129) this.withRandom(serviceKind, (service) => this.remove(service));
    else if (choice < 131) this.addSubnet(random.pick(this.all(networkKind)));
    else if (choice < 132)
      this.withRandom(networkKind, (network) => this.update(network, { description: random.pick([null, ...TEXTS]) }));
    else if (choice < 133)
      this.withRandom(tagKind, (tag) => this.update(tag, { description: random.pick(["", ...TEXTS]) }));
    else if (choice < 137) this.restoreDeleted(hostKind, () => true);
    else if (choice < 139)
      this.restoreDeleted(tagKind, (tag) => !this.all(tagKind).some((other) => other.fields.name === tag.fields.name));
    else if (choice < 141) this.restoreDeleted(portKind, (port) => this.isUniqueOnHost(port, "number"));
    else if (choice < 145) this.restoreDeleted(ifEntryKind, (entry) => this.isUniqueOnHost(entry, "if_index"));
    else if (choice < 148) this.restoreDeleted(ipAddressKind, (address) => this.isUniqueOnHost(address, "ip_address"));
    else this.restoreDeleted(serviceKind, (service) => this.isUniqueOnHost(service, "name", "service_definition"));
  }

  /**
   * Restores a record if its host and its siblings allow it: into the current network of the host, with the tags that
   * still exist.
   */
  private restoreDeleted(kind: AnyKind, mayLive: (record: ModelRecord) => boolean): void {
    const record = this.model.pickDeleted(kind);
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

  private isUniqueOnHost(record: ModelRecord, ...unique: string[]): boolean {
    const host = this.records.get(record.fields.host_id as string);
    return (
      host !== undefined &&
      !this.parts(record.kind, host).some(
        (other) => other.id !== record.id && unique.every((field) => other.fields[field] === record.fields[field]),
      )
    );
  }

  private addAddress(host: ModelRecord): void {
    const { random } = this.model;
    const ref = hostRef(host);
    const fields = addressFields(ref, this.subnetOf(ref.network_id).id, random.pick(IPS), {
      mac_address: random.pick([null, ...MACS]),
      name: random.pick(["", ...TEXTS]),
    });
    if (!this.parts(ipAddressKind, host).some((address) => address.fields.ip_address === fields.ip_address))
      this.create(ipAddressKind, fields);
  }

  private addService(host: ModelRecord): void {
    const { random } = this.model;
    const fields = serviceFields(hostRef(host), random.pick(NAMES), {
      service_definition: random.pick(DEFINITIONS),
      tags: this.randomTags(),
    });
    if (
      !this.parts(serviceKind, host).some(
        ({ fields: { name, service_definition } }) =>
          name === fields.name && service_definition === fields.service_definition,
      )
    )
      this.create(serviceKind, fields);
  }

  private changeService(service: ModelRecord, changes: JsonRecord): void {
    if (this.isUniqueOnHost({ ...service, fields: { ...service.fields, ...changes } }, "name", "service_definition"))
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
    if (!this.all(subnetKind).some(({ fields }) => fields.network_id === network.id && fields.cidr === cidr))
      this.create(subnetKind, subnetFields(network.id, cidr, { name: random.pick(NAMES) }));
  }

  /** Any subnet of a network, for records that need one. */
  private subnetOf(networkId: string): ModelRecord {
    return (
      this.all(subnetKind).find(({ fields }) => fields.network_id === networkId) ??
      this.create(subnetKind, subnetFields(networkId, "172.16.0.0/12"))
    );
  }

  /** Custom field values, by key and in order; undefined for none. */
  private randomValues(): JsonRecord | undefined {
    const { random } = this.model;
    const values = {
      ...(random.integer(2) === 0 ? { height: random.pick([-1, 0, 2, 10, 1.5]) } : {}),
      ...(random.integer(2) === 0 ? { rack: random.pick(TEXTS.filter((text) => text !== "")) } : {}),
      ...(random.integer(3) === 0 ? { spare: random.integer(2) === 0 } : {}),
    };
    return Object.keys(values).length === 0 ? undefined : values;
  }

  private newHost(): JsonRecord {
    const { random } = this.model;
    const networks = this.all(networkKind);
    // Some networks have many hosts. Names recur, so that later incarnations find their lineage.
    return hostFields(
      random.pick(random.integer(2) === 0 ? networks.slice(0, 3) : networks).id,
      random.integer(2) === 0 ? random.pick(NAMES) : this.model.newName(),
      { tags: this.randomTags() },
    );
  }

  private addPort(host: ModelRecord): void {
    const number = 1 + this.model.random.integer(6);
    if (this.parts(portKind, host).some((port) => port.fields.number === number)) return;
    this.create(portKind, portFields(hostRef(host), number));
  }

  private addEntry(host: ModelRecord): void {
    const index = 1 + this.model.random.integer(8);
    if (this.parts(ifEntryKind, host).some((entry) => entry.fields.if_index === index)) return;
    const { random } = this.model;
    this.create(
      ifEntryKind,
      ifEntryFields(hostRef(host), index, {
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
    const known = this.all(fdbEntryKind).filter(({ fields }) => fields.if_entry_id === entry.id);
    const existing = known.find(({ fields }) => fields.mac_address === mac);
    if (existing !== undefined) this.remove(existing);
    else this.create(fdbEntryKind, fdbEntryFields({ id: entry.id, ...partRef(entry) }, mac));
    this.tx.setComposed(ifEntryKind, entry.id, known.length + (existing === undefined ? 1 : -1) > 0);
  }

  private removeEntry(entry: ModelRecord): void {
    for (const learned of this.all(fdbEntryKind)) if (learned.fields.if_entry_id === entry.id) this.remove(learned);
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

  private randomTags(): string[] {
    return this.all(tagKind)
      .filter(() => this.model.random.integer(4) === 0)
      .map((tag) => tag.id);
  }

  private parts(kind: AnyKind, host: ModelRecord): ModelRecord[] {
    return this.all(kind).filter((part) => part.fields.host_id === host.id);
  }

  private withRandom(kind: AnyKind, action: (record: ModelRecord) => void): void {
    const records = this.all(kind);
    if (records.length > 0) action(this.model.random.pick(records));
  }
}

function hostRef(host: ModelRecord): { id: string; network_id: string } {
  return { id: host.id, network_id: host.fields.network_id as string };
}

function partRef(part: ModelRecord): { host_id: string; network_id: string } {
  return { host_id: part.fields.host_id as string, network_id: part.fields.network_id as string };
}
