// Random history for filters, written through the API: devices and their children in several networks, renamed, moved,
// deleted, recreated and restored, with strings in various scripts. Independent of filters.

import type { AnyKind } from "../../../src/db/kind.ts";
import { apiKeyKind } from "../../../src/resources/api-keys/api-key.ts";
import { bindingKind } from "../../../src/resources/bindings/binding.ts";
import { credentialKind } from "../../../src/resources/credentials/credential.ts";
import { fdbEntryKind } from "../../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../../src/resources/if-entries/if-entry.ts";
import { ignoredKind } from "../../../src/resources/ignored/ignored.ts";
import { ipAddressKind } from "../../../src/resources/ip-addresses/ip-address.ts";
import { portKind } from "../../../src/resources/ports/port.ts";
import { scheduleKind } from "../../../src/resources/schedules/schedule.ts";
import { serviceKind } from "../../../src/resources/services/service.ts";
import { userKind } from "../../../src/resources/users/user.ts";
import type { TestAppliance } from "../appliance/appliance.ts";
import type { ApiResponse } from "../appliance/client.ts";
import {
  addUser,
  expectOk,
  inTransaction,
  type JsonRecord,
  newApiKey,
  newCredential,
  newIgnored,
  newNetwork,
  newSchedule,
  newSubnet,
  newTag,
  newVlan,
} from "../appliance/factories.ts";
import { hostBody } from "../appliance/inventory.ts";
import { type SeededRandom, seededRandom } from "../injected/seeded-random.ts";
import { CIDRS, FilterDrafts, TEXTS } from "./filter-drafts.ts";

const DAY_MS = 86_400_000;

interface DeletedRecord {
  readonly list: string;
  readonly id: string;
  readonly lastSeen: string;
}

export class FilterHistory {
  readonly random: SeededRandom;
  readonly networks: string[];
  /** Timestamp strings, in order: at transactions, just before them and in between. */
  readonly instants: string[] = [];
  /** Timestamps by marker name. */
  readonly markers = new Map<string, string>();
  /** Successful writes, counted by name. */
  readonly done = new Map<string, number>();
  private readonly appliance: TestAppliance;
  private readonly drafts: FilterDrafts;
  private readonly hosts: string[] = [];
  private readonly entries: string[] = [];
  private readonly tags: string[] = [];
  private readonly vlans: JsonRecord[] = [];
  private readonly subnets: string[] = [];
  private readonly others: Array<[AnyKind, string]> = [];
  private readonly deleted: DeletedRecord[] = [];
  private name = 0;

  private constructor(appliance: TestAppliance, seed: number) {
    this.appliance = appliance;
    this.random = seededRandom(seed);
    this.drafts = new FilterDrafts(this.random);
    this.networks = [appliance.first.networkId];
  }

  /** @param steps number of steps, of about one write each, hours apart */
  static async create(appliance: TestAppliance, seed: number, steps: number): Promise<FilterHistory> {
    const history = new FilterHistory(appliance, seed);
    await history.populate();
    for (let step = 0; step < steps; step += 1) await history.step();
    for (const at of history.instants.filter((_, index) => index % 10 === 0)) await history.addMarker(at);
    return history;
  }

  /** Creates networks, subnets, VLANs and tags, and the first hosts in each network. */
  private async populate(): Promise<void> {
    const { appliance, random } = this;
    for (const [key, type] of [
      ["rack", "text"],
      ["height", "number"],
      ["spare", "boolean"],
    ])
      await expectOk(appliance.owner.post("custom-fields", { key, type, kinds: ["host"] }));
    for (const name of ["Lab", "stra\u00dfe"]) this.networks.push((await newNetwork(appliance, { name })).id);
    for (const network_id of this.networks) {
      for (const number of [10, 20, 30])
        this.vlans.push(
          await newVlan(appliance, { network_id, number, name: random.pick(["voice", "Data", "\u00e9"]) }),
        );
      for (const cidr of CIDRS)
        this.subnets.push(
          (
            await newSubnet(appliance, {
              network_id,
              cidr,
              subnet_type: random.pick(["Lan", "Dmz"]),
              vlan_id: random.pick([null, this.vlans.findLast((vlan) => vlan.network_id === network_id)?.id]),
            })
          ).id,
        );
    }
    for (let index = 0; index < 4; index += 1) await this.addTag();
    for (let index = 0; index < 8; index += 1) await this.addHost();
    for (const name of TEXTS.slice(0, 6)) await this.addOthers(name);
  }

  /** Creates records other than hosts: of the organization, or of a network and its scans. */
  private async addOthers(name: string): Promise<void> {
    const { appliance, random } = this;
    const network_id = random.pick(this.networks);
    const { length: index } = this.others;
    this.others.push(
      [
        scheduleKind,
        (await newSchedule(appliance, { name, network_id, cron: random.pick(["@daily", "0 3 * * *"]) })).id,
      ],
      [credentialKind, (await newCredential(appliance, { name, tags: this.randomTags() })).id],
      [userKind, addUser(appliance, { role: random.pick(["Viewer", "Admin"]), name: `user ${index}` })],
      [apiKeyKind, newApiKey(appliance, { networkIds: [network_id] }).id],
      [
        ignoredKind,
        newIgnored(appliance, { network_id, label: name, identity: name, signs: ["if_name:Gi0/2", name] }).id,
      ],
    );
  }

  private async changeOther(): Promise<boolean> {
    const [kind, id] = this.random.pick(this.others);
    this.name += 1;
    const name = `${this.drafts.text()} ${this.name}`;
    inTransaction(this.appliance, (tx) => tx.update(kind, id, kind === ignoredKind ? { label: name } : { name }));
    return true;
  }

  /** Reports interface data that only scans write. */
  private async discover(): Promise<boolean> {
    const entry = await this.liveRecord("if-entries", this.entries);
    if (entry === null) return false;
    const { random } = this;
    const changes = random.pick<JsonRecord>([
      { discovered: { if_alias: random.pick(TEXTS) } },
      { discovered: undefined },
      { stale_since: this.appliance.clock.text() },
      { stale_since: undefined },
      {
        more_neighbors: [
          {
            protocol: "Lldp",
            chassis_id: { subtype: "LocallyAssigned", value: random.pick(TEXTS) },
            port_id: { subtype: "InterfaceName", value: "Gi0/9" },
            sys_name: random.pick(TEXTS),
            ...(await this.neighborOf(entry)),
          },
          { protocol: "Cdp", device_id: random.pick(TEXTS), port_id: "Gi0/9" },
        ],
      },
    ]);
    inTransaction(this.appliance, (tx) => tx.update(ifEntryKind as AnyKind, entry.id, changes));
    return true;
  }

  /** A remote end in the same network, if there is any. */
  private async neighborOf({ network_id }: JsonRecord): Promise<JsonRecord> {
    for (const neighbor of this.neighbors().reverse()) {
      const { data } = await this.appliance.owner.get(
        `${neighbor.type === "Host" ? "hosts" : "if-entries"}/${neighbor.id}`,
      );
      if (data?.network_id === network_id && this.random.integer(2) === 0) return { neighbor };
    }
    return {};
  }

  private async addMarker(at: string): Promise<void> {
    const name = `before change ${this.markers.size}`;
    const response = await this.appliance.owner.post("markers", { name, at });
    if (succeeded(response)) this.markers.set(name, at);
  }

  private async step(): Promise<void> {
    const { appliance, random } = this;
    appliance.clock.advance(1 + random.integer(random.pick([60_000, DAY_MS / 24, DAY_MS])));
    if (random.integer(6) === 0) this.instants.push(appliance.clock.text());
    appliance.clock.advance(random.pick([0, 1, 1_000]));
    const [name, action] = this.pickAction();
    if (await action()) this.done.set(name, (this.done.get(name) ?? 0) + 1);
    if (random.integer(12) === 0) this.instants.push(appliance.clock.text());
  }

  private pickAction(): [string, () => Promise<boolean>] {
    const actions: Array<[number, string, () => Promise<boolean>]> = [
      [8, "add a host", () => this.addHost()],
      [14, "change a host", () => this.changeHost()],
      [8, "change parts", () => this.changeChildren()],
      [8, "add an entry", () => this.addEntry()],
      [36, "change an entry", () => this.changeEntry()],
      [3, "delete an entry", () => this.delete("if-entries", this.entries)],
      [3, "delete a host", () => this.delete("hosts", this.hosts)],
      [5, "restore", () => this.restore()],
      [10, "move a host", () => this.moveHost()],
      [4, "add a tag", () => this.addTag()],
      [3, "change a tag", () => this.changeTag()],
      [3, "delete a tag", () => this.delete("tags", this.tags)],
      [2, "change a VLAN", () => this.changeVlan()],
      [3, "change a subnet", () => this.changeSubnet()],
      [1, "change a network", () => this.changeNetwork()],
      [6, "discover", () => this.discover()],
      [5, "change another", () => this.changeOther()],
    ];
    let roll = this.random.integer(actions.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, action] of actions) {
      if (roll < weight) return [name, action];
      roll -= weight;
    }
    throw new RangeError("the weights of the actions do not add up");
  }

  private async addHost(): Promise<boolean> {
    const { random } = this;
    const network_id = random.pick([...this.networks, this.networks[0] as string]);
    const record = await this.write("POST", "hosts", {
      network_id,
      name: this.drafts.text(),
      description: this.drafts.optionalText(),
      sys_location: this.drafts.optionalText(),
      serial_number: random.pick([undefined, "FOC1234", "foc1235"]),
      hidden: random.integer(4) === 0,
      tags: this.randomTags(),
      virtualization: random.pick([
        undefined,
        null,
        { type: "Kvm", details: { vm_name: random.pick(TEXTS) } },
        { type: "Esxi", details: {} },
      ]),
      ...this.drafts.hostChildren(this.randomTags()),
    });
    if (record === null) return false;
    this.hosts.push(record.id);
    for (let index = 1; index <= random.integer(4); index += 1) await this.addEntryTo(record, index);
    return true;
  }

  private changeHost(): Promise<boolean> {
    const { random } = this;
    return this.changeRecord("hosts", this.hosts, (host) => ({
      ...hostBody(host),
      ...random.pick<JsonRecord>([
        { name: this.drafts.text() },
        { description: this.drafts.optionalText() },
        { description: "" },
        { sys_location: this.drafts.optionalText(), hostname: this.drafts.optionalText() },
        { asset_tag: random.pick([null, "AT-1", "at-1", "AT-2"]) },
        { hidden: !host.hidden },
        {
          custom_fields: random.pick<JsonRecord>([
            { rack: this.drafts.optionalText()?.trim() || null },
            { height: random.pick([null, -1, 0, 1.5, 10]) },
            { spare: random.pick([null, true, false]), rack: random.pick(TEXTS.filter((text) => text.trim() !== "")) },
          ]),
        },
        { tags: this.randomTags() },
        { name: this.drafts.text(), serial_number: random.pick([null, "FOC1234", "foc1235"]) },
      ]),
    }));
  }

  private changeChildren(): Promise<boolean> {
    const { random } = this;
    return this.changeRecord("hosts", this.hosts, (host) => {
      const { ip_addresses, ports, services } = this.drafts.hostChildren(this.randomTags());
      const bindings = (): JsonRecord[] => [
        ...host.ports.slice(0, 1).map(({ id }: JsonRecord) => ({ type: "Port", port_id: id })),
        ...host.ip_addresses.slice(0, 1).map(({ id }: JsonRecord) => ({ type: "IpAddress", ip_address_id: id })),
      ];
      return {
        ...hostBody(host),
        ...random.pick<JsonRecord>([
          { ip_addresses },
          { ports },
          { services },
          { ip_addresses, ports, services },
          { services: services.map((service: JsonRecord) => ({ ...service, bindings: bindings() })) },
        ]),
      };
    });
  }

  private async addEntry(): Promise<boolean> {
    const host = await this.liveRecord("hosts", this.hosts);
    return host !== null && this.addEntryTo(host, 1 + this.random.integer(6));
  }

  private async addEntryTo(host: JsonRecord, if_index: number): Promise<boolean> {
    const record = await this.write("POST", "if-entries", {
      host_id: host.id,
      if_index,
      if_descr: `port ${if_index}`,
      ...this.entryFields(host.network_id),
      ...this.entryFields(host.network_id),
    });
    if (record !== null) this.entries.push(record.id);
    return record !== null;
  }

  /** The latest hosts and interfaces. Some are in another network: writes that name them are refused. */
  private neighbors(): JsonRecord[] {
    return [
      ...this.hosts.slice(-2).map((id) => ({ type: "Host", id })),
      ...this.entries.slice(-2).map((id) => ({ type: "IfEntry", id })),
    ];
  }

  private entryFields(network_id: string): JsonRecord {
    const vlans = this.vlans.filter((vlan) => vlan.network_id === network_id).map((vlan) => vlan.id);
    return this.drafts.interfaceFields(vlans, this.neighbors());
  }

  private changeEntry(): Promise<boolean> {
    return this.changeRecord("if-entries", this.entries, (entry) => ({
      host_id: entry.host_id,
      if_index: entry.if_index,
      if_descr: entry.if_descr,
      ...this.entryFields(entry.network_id),
    }));
  }

  private async addTag(): Promise<boolean> {
    const { random } = this;
    this.name += 1;
    const name = random.integer(2) === 0 ? `tag ${this.name}` : `${random.pick(TEXTS)} ${this.name}`;
    this.tags.push((await newTag(this.appliance, { name, color: random.pick(["Red", "Blue"]) })).id);
    return true;
  }

  private changeTag(): Promise<boolean> {
    return this.changeRecord("tags", this.tags, (tag) => ({
      name: tag.name,
      color: this.random.pick(["Red", "Blue", "Green"]),
      description: this.random.pick(["", ...TEXTS]),
      is_application: this.random.integer(2) === 0,
    }));
  }

  private changeVlan(): Promise<boolean> {
    const ids = this.vlans.map((vlan) => vlan.id);
    return this.changeRecord("vlans", ids, ({ network_id, number }) => ({
      network_id,
      number,
      name: this.drafts.text(),
    }));
  }

  private changeSubnet(): Promise<boolean> {
    return this.changeRecord("subnets", this.subnets, ({ network_id, cidr }) => ({
      network_id,
      cidr,
      name: this.drafts.text(),
      description: this.drafts.optionalText(),
      subnet_type: this.random.pick(["Lan", "Dmz", "Guest"]),
    }));
  }

  private changeNetwork(): Promise<boolean> {
    return this.changeRecord("networks", this.networks, ({ name }) => ({
      name,
      description: this.drafts.optionalText(),
      tags: this.randomTags(),
      stale_after_hours: this.random.pick([null, 24, 100]),
    }));
  }

  private async delete(list: string, ids: string[]): Promise<boolean> {
    if (ids.length < 4) return false;
    const id = this.random.pick(ids);
    const lastSeen = this.appliance.clock.text();
    this.appliance.clock.advance(1);
    const response = await this.appliance.owner.delete(`${list}/${id}?cascade=true`);
    ids.splice(ids.indexOf(id), 1);
    if (!succeeded(response)) return false;
    this.deleted.push({ list, id, lastSeen });
    return true;
  }

  /** Restores deleted records under their former ids, or live records to an earlier state. */
  private async restore(): Promise<boolean> {
    const { random, appliance } = this;
    const [list, ids] = random.pick<[string, string[]]>([
      ["hosts", this.hosts],
      ["if-entries", this.entries],
    ]);
    if (this.deleted.length > 0 && random.integer(3) > 0) {
      const deleted = random.pick(this.deleted);
      const { owner } = appliance;
      if (!succeeded(await owner.post(`${deleted.list}/${deleted.id}/restore`, { at: deleted.lastSeen }))) return false;
      const restored = { hosts: this.hosts, "if-entries": this.entries, tags: this.tags }[deleted.list];
      if (!restored?.includes(deleted.id)) restored?.push(deleted.id);
      return true;
    }
    if (this.instants.length === 0) return false;
    return succeeded(
      await appliance.owner.post(`${list}/${random.pick(ids)}/restore`, { at: random.pick(this.instants) }),
    );
  }

  /** Writes directly to the store: no request moves a host. Its addresses may stay in a subnet of the old network. */
  private async moveHost(): Promise<boolean> {
    const host = await this.liveRecord("hosts", this.hosts);
    const network_id = this.random.pick(this.networks);
    if (host === null || host.network_id === network_id) return false;
    const childKinds: AnyKind[] = [portKind, ifEntryKind, ipAddressKind, fdbEntryKind, serviceKind];
    inTransaction(this.appliance, (tx) => {
      for (const kind of childKinds)
        for (const child of tx.children(kind, "host_n", host.id)) tx.update(kind, child.id, { network_id });
      for (const service of tx.children(serviceKind, "host_n", host.id))
        for (const child of tx.children(bindingKind, "service_n", service.id))
          tx.update(bindingKind, child.id, { network_id });
      tx.update(hostKind, host.id, { network_id });
    });
    return true;
  }

  private async changeRecord(
    list: string,
    ids: readonly string[],
    body: (record: JsonRecord) => JsonRecord,
  ): Promise<boolean> {
    const record = await this.liveRecord(list, ids);
    return record !== null && (await this.write("PUT", `${list}/${record.id}`, body(record))) !== null;
  }

  /** Null if the record was deleted along with another one. */
  private async liveRecord(list: string, ids: readonly string[]): Promise<JsonRecord | null> {
    if (ids.length === 0) return null;
    const response = await this.appliance.owner.get(`${list}/${this.random.pick(ids)}`);
    return succeeded(response) ? response.data : null;
  }

  private async write(method: "POST" | "PUT", path: string, body: JsonRecord): Promise<JsonRecord | null> {
    const response = await this.appliance.owner.send(method, path, body);
    return succeeded(response) ? response.data : null;
  }

  private randomTags(): string[] {
    return this.tags.filter(() => this.random.integer(this.tags.length) < 1);
  }
}

/** Whether the write succeeded. Expected refusals of random writes return false; anything else fails the test. */
function succeeded(response: ApiResponse): boolean {
  if (response.status === 200) return true;
  if (![404, 409].includes(response.status) && response.body?.code !== "entity_reference_invalid")
    throw new Error(`unexpected response ${response.status} to a history step: ${response.text}`);
  return false;
}
