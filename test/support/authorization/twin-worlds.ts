// Two appliances that a caller confined to one network can't tell apart. Its network has the same records, ids and
// timestamps in both. Only one has records beyond, written in between and as similar as possible. No assertions.

import type { Instant } from "../../../src/base/instant.ts";
import { newAppliance, type TestAppliance } from "../appliance/appliance.ts";
import type { Client } from "../appliance/client.ts";
import { made, newApiKey, newUser, type Wire } from "../appliance/factories.ts";
import { untilEnded } from "../appliance/scans.ts";

export interface Twin {
  readonly appliance: TestAppliance;
  /** Confined to one network; by name. */
  readonly callers: Readonly<Record<string, Client>>;
  /** Ids of records in that network or of the organization, by the path below /api/v1; for hosts, deleted ones too. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly networkId: string;
  /** Timestamps between the steps. */
  readonly instants: readonly string[];
  /** Number of steps among the transactions up to this one: its sequence in a ledger without the others. */
  stepsUpTo(sequence: number): number;
  /** Sequences of the steps. */
  readonly sequences: readonly number[];
}

/** Between two steps. */
const STEP_MS = 60_000;

/** @param isCrowded whether records beyond the network exist */
export async function newTwin(isCrowded: boolean): Promise<Twin> {
  // A link write of a scan would be an extra transaction that is not a step.
  const appliance = await newAppliance({ scanning: { links: () => ({ find: () => [] }) } });
  const { owner, first, clock } = appliance;
  const far = (await made(owner.post("networks", { name: "far" }))).id;
  const second = await appliance.newOrganization("Second");
  const foreigner = await appliance.signedIn(second.userId);
  const only = [first.networkId];
  const callers = {
    "a Viewer": (await newUser(appliance, { role: "Viewer", networkIds: only, name: "a Viewer" })).client,
    "a Member": (await newUser(appliance, { role: "Member", networkIds: only, name: "a Member" })).client,
    "a key with the role Owner": newApiKey(appliance, { networkIds: only }).client,
    "a key with the role Viewer": newApiKey(appliance, { permissions: "Viewer", networkIds: only }).client,
  };
  const world = new TwinWorld(appliance, owner, first);
  const crowd = isCrowded
    ? new Crowd(
        [
          { by: owner, organizationId: first.organizationId, networkId: far },
          { by: foreigner, ...second },
        ],
        owner,
      )
    : null;
  const start = clock.now() + STEP_MS;
  for (const [place, step] of STEPS.entries()) {
    await crowd?.before(place);
    world.passTo(start + place * STEP_MS);
    await step(world);
    await crowd?.after(place);
    world.passTo(start + place * STEP_MS + STEP_MS / 2);
    world.instants.push(clock.text());
  }
  world.passTo(start + (STEPS.length + 1) * STEP_MS);
  // Scans are not transactions, so their ids differ.
  for (const [by, networkId] of [
    ...(isCrowded
      ? ([
          [owner, far],
          [foreigner, second.networkId],
        ] as const)
      : []),
    [owner, first.networkId] as const,
  ]) {
    const { id } = await made(by.post("discovery/scans", { network_id: networkId, kind: "snmp" }));
    await untilEnded(appliance, id);
    if (networkId === first.networkId) world.ids["discovery/scans"] = [id];
  }
  world.passTo(start + (STEPS.length + 2) * STEP_MS);
  const sequences = world.sequences();
  const shared = appliance.reader.recordN(far) === null ? 0 : sequences.length;
  if (shared !== STEPS.length) throw new Error(`${sequences.length} transactions for ${STEPS.length} steps`);
  return {
    appliance,
    callers,
    ids: world.ids,
    networkId: first.networkId,
    instants: world.instants,
    sequences,
    stepsUpTo: (sequence) => sequences.filter((each) => each <= sequence).length,
  };
}

class TwinWorld {
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

  passTo(instant: Instant): void {
    const { clock } = this.appliance;
    if (clock.now() > instant) throw new Error("twins: the crowd takes longer than a step");
    clock.advance(instant - clock.now());
  }

  /** An id that is equal in both worlds. */
  newId(plural: string): string {
    this.last += 1;
    const id = `01936f2e-0d5c-7d3a-9a3b-${this.last.toString(16).padStart(12, "0")}`;
    this.ids[plural] = [...(this.ids[plural] ?? []), id];
    return id;
  }

  /** One of the assigned ids, by position. */
  id(plural: string, place = 0): string {
    return this.ids[plural]?.[place] as string;
  }

  async post(path: string, body: unknown): Promise<void> {
    await this.send("POST", path, body);
  }

  /** Creates a record with an id that is equal in both worlds. */
  make(plural: string, body: Wire): Promise<void> {
    return this.post(plural, { id: this.newId(plural), ...body });
  }

  /** Creates a record in the network. */
  makeHere(plural: string, body: Wire): Promise<void> {
    return this.make(plural, { network_id: this.networkId, ...body });
  }

  async put(path: string, changes: Wire): Promise<void> {
    const record = await made(this.owner.get(path));
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
    await made(
      this.owner.send(method, path, body, {
        "x-request-id": `step-${this.steps.length}`,
        "x-change-reason": `CHG-${this.steps.length}`,
      }),
    );
    if (this.appliance.reader.head().at !== at)
      throw new Error(`twins: ${method} ${path} was not written at its instant`);
    this.steps.push(at);
  }
}

const mac = (n: number) => `02:00:00:00:00:${n.toString(16).padStart(2, "0")}`;

/** Writes in the network, one transaction each. */
const STEPS: ReadonlyArray<(world: TwinWorld) => Promise<void>> = [
  (world) => world.make("tags", { name: "core", color: "Green" }),
  (world) => world.makeHere("vlans", { number: 120, name: "Servers" }),
  (world) =>
    world.makeHere("subnets", {
      cidr: "10.2.0.0/16",
      name: "Room",
      vlan_id: world.id("vlans"),
      tags: [world.id("tags")],
    }),
  (world) =>
    world.makeHere("hosts", {
      name: "web-1",
      hostname: "web-1.example.net",
      description: "the web",
      tags: [world.id("tags")],
      ip_addresses: [{ id: world.newId("ip-addresses"), ip_address: "10.2.0.1", mac_address: mac(1), name: "front" }],
      ports: [{ id: world.newId("ports"), number: 443, protocol: "Tcp" }],
      services: [{ id: world.newId("services"), name: "web", service_definition: "Nginx", tags: [world.id("tags")] }],
    }),
  (world) =>
    world.make("bindings", {
      service_id: world.id("services"),
      type: "Port",
      port_id: world.id("ports"),
      ip_address_id: world.id("ip-addresses"),
    }),
  (world) =>
    world.makeHere("hosts", {
      name: "access-1",
      tags: [],
      ip_addresses: [{ id: world.newId("ip-addresses"), ip_address: "10.2.0.2", mac_address: mac(2) }],
    }),
  (world) =>
    world.make("if-entries", {
      host_id: world.id("hosts"),
      if_index: 1,
      if_descr: "eth0",
      mac_address: mac(1),
      ip_address_id: world.id("ip-addresses"),
    }),
  (world) =>
    world.make("if-entries", {
      host_id: world.id("hosts", 1),
      if_index: 7,
      if_descr: "GigabitEthernet1/0/7",
      fdb_macs: [mac(1)],
      native_vlan_id: world.id("vlans"),
      lldp_sys_name: "web-1.example.net",
      neighbor: { type: "IfEntry", id: world.id("if-entries") },
    }),
  (world) =>
    world.makeHere("hosts", {
      name: "old-1",
      ip_addresses: [{ id: world.newId("ip-addresses"), ip_address: "10.2.0.3", mac_address: mac(3) }],
    }),
  (world) =>
    world.make("credentials", {
      organization_id: world.organizationId,
      name: "read-only",
      credential_type: { type: "SnmpV1", community: { mode: "Inline", value: "a community" } },
      assigned_network_ids: [world.networkId],
      host_assignments: [{ host_id: world.id("hosts") }],
      tags: [world.id("tags")],
    }),
  (world) => world.put(`hosts/${world.id("hosts")}`, { name: "web-one", description: null }),
  (world) => world.put(`subnets/${world.id("subnets")}`, { name: "Server room" }),
  (world) => world.delete(`hosts/${world.id("hosts", 2)}`),
  (world) =>
    world.post("tags/assign/bulk-add", {
      entity_type: "host",
      entity_ids: [world.id("hosts", 1)],
      tag_id: world.id("tags"),
    }),
  (world) =>
    world.makeHere("hosts", {
      name: "old-1",
      ip_addresses: [{ id: world.newId("ip-addresses"), ip_address: "10.2.0.3", mac_address: mac(3) }],
    }),
  (world) => world.put(`if-entries/${world.id("if-entries", 1)}`, { oper_status: "Down" }),
  (world) => world.put(`networks/${world.networkId}`, { description: "north" }),
  (world) =>
    world.makeHere("discovery/schedules", {
      name: "Night",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      kind: "full",
    }),
  (world) => world.put(`discovery/schedules/${world.id("discovery/schedules")}`, { targets: ["10.2.0.0/16"] }),
  (world) => world.makeHere("markers", { name: "before the move", at: world.instants[4] }),
  (world) => world.make("markers", { name: "before it all", at: world.instants[2] }),
  (world) => world.makeHere("ip-ranges", { first: "10.2.0.50", last: "10.2.0.99", purpose: "Dhcp" }),
  (world) =>
    world.put(`ip-ranges/${world.id("ip-ranges")}`, { first: "10.2.0.40", last: "10.2.0.99", purpose: "Reserved" }),
];

interface Beyond {
  readonly by: Client;
  readonly organizationId: string;
  readonly networkId: string;
}

/** Writes beyond the network: the same names and more records, before and after each step. */
class Crowd {
  private readonly places: readonly Beyond[];
  private readonly owner: Client;
  private readonly hosts: Array<{ readonly by: Client; readonly id: string }> = [];

  constructor(places: readonly Beyond[], owner: Client) {
    this.places = places;
    this.owner = owner;
  }

  async before(step: number): Promise<void> {
    for (const { by, organizationId, networkId } of this.places) {
      // The first organization's tags and network names are visible to all its users; the other organization's are not
      // visible here.
      const isForeign = by !== this.owner;
      if (isForeign && step === 1) await this.make(by, "tags", { name: "core", color: "Green" });
      if (step === 1) await this.make(by, "markers", { network_id: networkId, name: "before the move" });
      if (isForeign && step === 1) await this.make(by, "markers", { name: "before it all" });
      if (step === 1) await this.make(by, "vlans", { network_id: networkId, number: 120, name: "Servers" });
      if (step === 1)
        await this.make(by, "discovery/schedules", {
          network_id: networkId,
          name: "Night",
          cron: "30 2 * * *",
          kind: "full",
        });
      if (step === 1) await this.make(by, "subnets", { network_id: networkId, cidr: "10.2.0.0/16", name: "Room" });
      if (step === 2)
        await this.make(by, "ip-ranges", {
          network_id: networkId,
          first: "10.2.0.45",
          last: "10.2.0.60",
          purpose: "Dhcp",
        });
      if (step >= 2) await this.station(by, networkId, step);
      if (isForeign && step === 9)
        await this.make(by, "credentials", {
          organization_id: organizationId,
          name: "read-only",
          credential_type: { type: "SnmpV1", community: { mode: "Inline", value: "a community" } },
          assigned_network_ids: [networkId],
          host_assignments: [],
          tags: [],
        });
    }
    // Keys are visible to their user only, and not to keys.
    if (step === 5)
      await this.make(this.owner, "auth/keys", {
        organization_id: this.places[0]?.organizationId,
        user_id: (await made(this.owner.get("/api/auth/me"))).id,
        name: "another",
        tags: [],
      });
  }

  async after(step: number): Promise<void> {
    for (const { by, id } of this.hosts.filter((_, place) => place % 7 === step % 7)) {
      await made(
        by.put(
          `hosts/${id}`,
          { ...(await made(by.get(`hosts/${id}`))), description: `changed in ${step}` },
          { "x-change-reason": `CHG-${step}` },
        ),
      );
    }
    const [oldest] = step % 4 === 3 ? this.hosts.splice(0, 1) : [];
    if (oldest !== undefined) await made(oldest.by.delete(`hosts/${oldest.id}`));
    const kept = this.hosts.length;
    const gone = (await made(this.owner.post("networks", { name: `soon gone ${step}` }))).id;
    await this.station(this.owner, gone, step, false);
    await made(this.owner.delete(`networks/${gone}?cascade=true`));
    this.hosts.length = kept;
  }

  /**
   * Copies of the steps' records: the same host, addresses, MAC addresses and neighbors, and a switch that forwards to
   * all of them.
   */
  private async station(by: Client, networkId: string, step: number, hasSubnet = true): Promise<void> {
    const ip_addresses = hasSubnet
      ? [
          { ip_address: `10.2.${step}.1`, mac_address: mac(1), name: "front" },
          ...(step === 3 ? [{ ip_address: "10.2.0.1", mac_address: mac(1) }] : []),
        ]
      : [];
    const host = await this.make(by, "hosts", {
      network_id: networkId,
      name: step % 2 === 0 ? "web-1" : "old-1",
      hostname: "web-1.example.net",
      description: "the web",
      ip_addresses,
      ports: [{ number: 443, protocol: "Tcp" }],
      services: [{ name: "web", service_definition: "Nginx" }],
    });
    await this.make(by, "if-entries", {
      host_id: host,
      if_index: 7,
      if_descr: "GigabitEthernet1/0/7",
      mac_address: mac(2),
      fdb_macs: [mac(1), mac(2), mac(3)],
      lldp_sys_name: "web-1.example.net",
    });
  }

  private async make(by: Client, path: string, body: Wire): Promise<string> {
    const data = await made(by.post(path, body, { "x-change-reason": "CHG-1" }));
    const id = (data.api_key ?? data).id as string;
    if (path === "hosts") this.hosts.push({ by, id });
    return id;
  }
}
