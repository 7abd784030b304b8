// Two appliances that are indistinguishable to a caller confined to one network. Its network has the same records, ids
// and timestamps in both. Only one has records outside it, written in between and as similar as possible. No
// assertions.

import type { Instant } from "../../../src/base/instant.ts";
import { newAppliance, type TestAppliance } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord, newApiKey, newUser } from "../appliance/factories.ts";
import { waitForScan } from "../appliance/scans.ts";

export interface PairedAppliance {
  readonly appliance: TestAppliance;
  /** Callers confined to one network, by name. */
  readonly callers: Readonly<Record<string, Client>>;
  /** Ids of records in that network or of the organization, by the path below /api/v1; for hosts, deleted ones too. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly networkId: string;
  /** Timestamps between the steps. */
  readonly instants: readonly string[];
  /** Number of steps up to a transaction: its sequence in a ledger without other transactions. */
  stepsUpTo(sequence: number): number;
  /** Sequences of the steps. */
  readonly sequences: readonly number[];
}

/** Time between two steps. */
const STEP_MS = 60_000;

/** @param hasOutsideRecords whether records outside the network exist */
export async function newPairedAppliance(hasOutsideRecords: boolean): Promise<PairedAppliance> {
  // A scan's link write would be an extra transaction that is not a step.
  const appliance = await newAppliance({ scanning: { links: () => ({ find: () => [] }) } });
  const { owner, first, clock } = appliance;
  const far = (await expectOk(owner.post("networks", { name: "far" }))).id;
  const second = await appliance.newOrganization("Second");
  const foreignOwner = await appliance.signedIn(second.userId);
  const only = [first.networkId];
  const callers = {
    "a Viewer": (await newUser(appliance, { role: "Viewer", networkIds: only, name: "a Viewer" })).client,
    "a Member": (await newUser(appliance, { role: "Member", networkIds: only, name: "a Member" })).client,
    "a key with the role Owner": newApiKey(appliance, { networkIds: only }).client,
    "a key with the role Viewer": newApiKey(appliance, { permissions: "Viewer", networkIds: only }).client,
  };
  const fixture = new PairedFixture(appliance, owner, first);
  const outside = hasOutsideRecords
    ? new OutsideActivity(
        [
          { client: owner, organizationId: first.organizationId, networkId: far },
          { client: foreignOwner, ...second },
        ],
        owner,
      )
    : null;
  const start = clock.now() + STEP_MS;
  for (const [index, step] of STEPS.entries()) {
    await outside?.before(index);
    fixture.advanceTo(start + index * STEP_MS);
    await step(fixture);
    await outside?.after(index);
    fixture.advanceTo(start + index * STEP_MS + STEP_MS / 2);
    fixture.instants.push(clock.text());
  }
  fixture.advanceTo(start + (STEPS.length + 1) * STEP_MS);
  // Scans are not transactions, so their ids differ.
  for (const [client, networkId] of [
    ...(hasOutsideRecords
      ? ([
          [owner, far],
          [foreignOwner, second.networkId],
        ] as const)
      : []),
    [owner, first.networkId] as const,
  ]) {
    const { id } = await expectOk(client.post("discovery/scans", { network_id: networkId, kind: "snmp" }));
    await waitForScan(appliance, id);
    if (networkId === first.networkId) fixture.ids["discovery/scans"] = [id];
  }
  fixture.advanceTo(start + (STEPS.length + 2) * STEP_MS);
  const sequences = fixture.sequences();
  const shared = appliance.reader.recordN(far) === null ? 0 : sequences.length;
  if (shared !== STEPS.length) throw new Error(`${sequences.length} transactions for ${STEPS.length} steps`);
  return {
    appliance,
    callers,
    ids: fixture.ids,
    networkId: first.networkId,
    instants: fixture.instants,
    sequences,
    stepsUpTo: (sequence) => sequences.filter((step) => step <= sequence).length,
  };
}

class PairedFixture {
  readonly appliance: TestAppliance;
  readonly networkId: string;
  readonly organizationId: string;
  readonly instants: string[] = [];
  readonly ids: Record<string, string[]> = {};
  private readonly owner: Client;
  private readonly steps: Instant[] = [];
  private last = 0;

  constructor(
    appliance: TestAppliance,
    owner: Client,
    first: { readonly networkId: string; readonly organizationId: string },
  ) {
    this.appliance = appliance;
    this.owner = owner;
    this.networkId = first.networkId;
    this.organizationId = first.organizationId;
    this.ids.networks = [first.networkId];
  }

  advanceTo(instant: Instant): void {
    const { clock } = this.appliance;
    if (clock.now() > instant) throw new Error("writes outside the network take longer than a step");
    clock.advance(instant - clock.now());
  }

  /** New id that is equal in both appliances. */
  newId(plural: string): string {
    this.last += 1;
    const id = `01936f2e-0d5c-7d3a-9a3b-${this.last.toString(16).padStart(12, "0")}`;
    this.ids[plural] = [...(this.ids[plural] ?? []), id];
    return id;
  }

  /** An assigned id, by position. */
  id(plural: string, index = 0): string {
    return this.ids[plural]?.[index] as string;
  }

  async post(path: string, body: unknown): Promise<void> {
    await this.send("POST", path, body);
  }

  /** Creates a record with an id that is equal in both appliances. */
  create(plural: string, body: JsonRecord): Promise<void> {
    return this.post(plural, { id: this.newId(plural), ...body });
  }

  /** Creates a record in the network. */
  createInNetwork(plural: string, body: JsonRecord): Promise<void> {
    return this.create(plural, { network_id: this.networkId, ...body });
  }

  async put(path: string, changes: JsonRecord): Promise<void> {
    const record = await expectOk(this.owner.get(path));
    await this.send("PUT", path, { ...record, ...changes });
  }

  async delete(path: string): Promise<void> {
    await this.send("DELETE", path);
  }

  sequences(): number[] {
    const rows = this.appliance.reader.db.query<{ sequence: number }, [string]>(
      "SELECT sequence FROM history_transactions WHERE at IN (SELECT value FROM json_each(?)) ORDER BY sequence",
    );
    return rows.all(JSON.stringify(this.steps)).map((row) => row.sequence);
  }

  private async send(method: string, path: string, body?: unknown): Promise<void> {
    const at = this.appliance.clock.now();
    await expectOk(
      this.owner.send(method, path, body, {
        "x-request-id": `step-${this.steps.length}`,
        "x-change-reason": `CHG-${this.steps.length}`,
      }),
    );
    if (this.appliance.reader.head().at !== at) throw new Error(`${method} ${path} was not written at its timestamp`);
    this.steps.push(at);
  }
}

const mac = (n: number) => `02:00:00:00:00:${n.toString(16).padStart(2, "0")}`;

const CREDENTIAL = {
  name: "read-only",
  credential_type: { type: "SnmpV1", community: { mode: "Inline", value: "a community" } },
};

const addHost = (name: string, last: number) => (fixture: PairedFixture) => {
  const id = fixture.newId("ip-addresses");
  const ip_addresses = [{ id, ip_address: `10.2.0.${last}`, mac_address: mac(last) }];
  return fixture.createInNetwork("hosts", { name, ip_addresses });
};

/** Writes in the network, one transaction each. */
const STEPS: ReadonlyArray<(fixture: PairedFixture) => Promise<void>> = [
  (fixture) => fixture.create("tags", { name: "core", color: "Green" }),
  (fixture) => fixture.createInNetwork("vlans", { number: 120, name: "Servers" }),
  (fixture) =>
    fixture.createInNetwork("subnets", {
      cidr: "10.2.0.0/16",
      name: "Room",
      vlan_id: fixture.id("vlans"),
      tags: [fixture.id("tags")],
    }),
  (fixture) =>
    fixture.createInNetwork("hosts", {
      name: "web-1",
      hostname: "web-1.example.net",
      description: "the web",
      tags: [fixture.id("tags")],
      ip_addresses: [{ id: fixture.newId("ip-addresses"), ip_address: "10.2.0.1", mac_address: mac(1), name: "front" }],
      ports: [{ id: fixture.newId("ports"), number: 443, protocol: "Tcp" }],
      services: [
        { id: fixture.newId("services"), name: "web", service_definition: "Nginx", tags: [fixture.id("tags")] },
      ],
    }),
  (fixture) =>
    fixture.create("bindings", {
      service_id: fixture.id("services"),
      type: "Port",
      port_id: fixture.id("ports"),
      ip_address_id: fixture.id("ip-addresses"),
    }),
  addHost("access-1", 2),
  (fixture) =>
    fixture.create("if-entries", {
      host_id: fixture.id("hosts"),
      if_index: 1,
      if_descr: "eth0",
      mac_address: mac(1),
      ip_address_id: fixture.id("ip-addresses"),
    }),
  (fixture) =>
    fixture.create("if-entries", {
      host_id: fixture.id("hosts", 1),
      if_index: 7,
      if_descr: "GigabitEthernet1/0/7",
      fdb_macs: [mac(1)],
      native_vlan_id: fixture.id("vlans"),
      lldp_sys_name: "web-1.example.net",
      neighbor: { type: "IfEntry", id: fixture.id("if-entries") },
    }),
  addHost("old-1", 3),
  (fixture) =>
    fixture.create("credentials", {
      organization_id: fixture.organizationId,
      ...CREDENTIAL,
      assigned_network_ids: [fixture.networkId],
      host_assignments: [{ host_id: fixture.id("hosts") }],
      tags: [fixture.id("tags")],
    }),
  (fixture) => fixture.put(`hosts/${fixture.id("hosts")}`, { name: "web-one", description: null }),
  (fixture) => fixture.put(`subnets/${fixture.id("subnets")}`, { name: "Server room" }),
  (fixture) => fixture.delete(`hosts/${fixture.id("hosts", 2)}`),
  (fixture) =>
    fixture.post("tags/assign/bulk-add", {
      entity_type: "host",
      entity_ids: [fixture.id("hosts", 1)],
      tag_id: fixture.id("tags"),
    }),
  addHost("old-1", 3),
  (fixture) => fixture.put(`if-entries/${fixture.id("if-entries", 1)}`, { oper_status: "Down" }),
  (fixture) => fixture.put(`networks/${fixture.networkId}`, { description: "north" }),
  (fixture) =>
    fixture.createInNetwork("discovery/schedules", {
      name: "Night",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      kind: "full",
    }),
  (fixture) => fixture.put(`discovery/schedules/${fixture.id("discovery/schedules")}`, { targets: ["10.2.0.0/16"] }),
  (fixture) => fixture.createInNetwork("markers", { name: "before the move", at: fixture.instants[4] }),
  (fixture) => fixture.create("markers", { name: "before it all", at: fixture.instants[2] }),
  (fixture) => fixture.createInNetwork("ip-ranges", { first: "10.2.0.50", last: "10.2.0.99", purpose: "Dhcp" }),
  (fixture) =>
    fixture.put(`ip-ranges/${fixture.id("ip-ranges")}`, { first: "10.2.0.40", last: "10.2.0.99", purpose: "Reserved" }),
];

interface OutsideNetwork {
  readonly client: Client;
  readonly organizationId: string;
  readonly networkId: string;
}

/** Writes outside the network: the same names and more records, before and after each step. */
class OutsideActivity {
  private readonly networks: readonly OutsideNetwork[];
  private readonly owner: Client;
  private readonly hosts: Array<{ readonly client: Client; readonly id: string }> = [];

  constructor(networks: readonly OutsideNetwork[], owner: Client) {
    this.networks = networks;
    this.owner = owner;
  }

  async before(step: number): Promise<void> {
    for (const { client, organizationId, networkId } of this.networks) {
      // The first organization's tags and network names are visible to all its users; the other organization's are not
      // visible here.
      const isForeign = client !== this.owner;
      const create = (path: string, body: JsonRecord) => this.create(client, path, body);
      if (step === 1) {
        if (isForeign) await create("tags", { name: "core", color: "Green" });
        await create("markers", { network_id: networkId, name: "before the move" });
        if (isForeign) await create("markers", { name: "before it all" });
        await create("vlans", { network_id: networkId, number: 120, name: "Servers" });
        const schedule = { name: "Night", cron: "30 2 * * *", kind: "full" };
        await create("discovery/schedules", { network_id: networkId, ...schedule });
        await create("subnets", { network_id: networkId, cidr: "10.2.0.0/16", name: "Room" });
      }
      const range = { first: "10.2.0.45", last: "10.2.0.60", purpose: "Dhcp" };
      if (step === 2) await create("ip-ranges", { network_id: networkId, ...range });
      if (step >= 2) await this.addStation(client, networkId, step);
      const assigned = { assigned_network_ids: [networkId], host_assignments: [], tags: [] };
      if (isForeign && step === 9)
        await create("credentials", { organization_id: organizationId, ...CREDENTIAL, ...assigned });
    }
    // Keys are visible to their user only, and not to keys.
    if (step === 5)
      await this.create(this.owner, "auth/keys", {
        organization_id: this.networks[0]?.organizationId,
        user_id: (await expectOk(this.owner.get("/api/auth/me"))).id,
        name: "another",
        tags: [],
      });
  }

  async after(step: number): Promise<void> {
    for (const { client, id } of this.hosts.filter((_, index) => index % 7 === step % 7)) {
      const changed = { ...(await expectOk(client.get(`hosts/${id}`))), description: `changed in ${step}` };
      await expectOk(client.put(`hosts/${id}`, changed, { "x-change-reason": `CHG-${step}` }));
    }
    const [oldest] = step % 4 === 3 ? this.hosts.splice(0, 1) : [];
    if (oldest !== undefined) await expectOk(oldest.client.delete(`hosts/${oldest.id}`));
    const hostCount = this.hosts.length;
    const temporaryId = (await expectOk(this.owner.post("networks", { name: `soon gone ${step}` }))).id;
    await this.addStation(this.owner, temporaryId, step, false);
    await expectOk(this.owner.delete(`networks/${temporaryId}?cascade=true`));
    this.hosts.length = hostCount;
  }

  /**
   * Copies of the steps' records: the same host, addresses, MAC addresses and neighbors, and a switch that forwards to
   * all of them.
   */
  private async addStation(client: Client, networkId: string, step: number, hasSubnet = true): Promise<void> {
    const ip_addresses = hasSubnet
      ? [
          { ip_address: `10.2.${step}.1`, mac_address: mac(1), name: "front" },
          ...(step === 3 ? [{ ip_address: "10.2.0.1", mac_address: mac(1) }] : []),
        ]
      : [];
    const host = await this.create(client, "hosts", {
      network_id: networkId,
      name: step % 2 === 0 ? "web-1" : "old-1",
      hostname: "web-1.example.net",
      description: "the web",
      ip_addresses,
      ports: [{ number: 443, protocol: "Tcp" }],
      services: [{ name: "web", service_definition: "Nginx" }],
    });
    await this.create(client, "if-entries", {
      host_id: host,
      if_index: 7,
      if_descr: "GigabitEthernet1/0/7",
      mac_address: mac(2),
      fdb_macs: [mac(1), mac(2), mac(3)],
      lldp_sys_name: "web-1.example.net",
    });
  }

  private async create(client: Client, path: string, body: JsonRecord): Promise<string> {
    const data = await expectOk(client.post(path, body, { "x-change-reason": "CHG-1" }));
    const id = (data.api_key ?? data).id as string;
    if (path === "hosts") this.hosts.push({ client, id });
    return id;
  }
}
