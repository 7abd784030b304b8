// IP addresses as separate records: their subnets, permission to change an address with credentials, and dependents.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, onPort, refusal, tcp } from "../support/appliance/factories.ts";
import { hostReference, subnetReference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { ipAddressShape, problems } from "../support/contract/shapes.ts";

const PATH = "/api/v1/ip-addresses";

const appliance = applianceForEach();
const { clock, first, owner, newCredential, newHost, newIfEntry, newNetwork, newSubnet, newUser } = appliance;
const { tick, watchWrites, versionsOf, writtenIn, newMember } = appliance;

const get = (path: string) => expectOk(owner.get(path));
const post = (body: JsonRecord, caller = owner) => caller.post(PATH, body);
const put = (id: string, body: JsonRecord, caller = owner) => caller.put(`${PATH}/${id}`, body);

/** For describeRecords: second octet of a host's addresses, by host id. */
const prefixOf = new Map<string, number>();
let last = 0;

describeRecords(
  {
    path: PATH,
    entity: "ip_address",
    writeRole: "Member",
    scope: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      create: async (caller, networkId) => {
        const { id } = await expectOk(caller.post("hosts", { network_id: networkId, name: "server" }));
        prefixOf.set(id, (last = (last + 1) & 255));
        await expectOk(caller.post("subnets", { network_id: networkId, cidr: `10.${prefixOf.get(id)}.0.0/16` }));
        return id;
      },
    },
    body: (hostId, position) => ({
      host_id: hostId,
      ip_address: `10.${prefixOf.get(hostId) ?? 0}.0.${position}`,
      mac_address: "00:1b:21:aa:bb:cc",
      name: "eth0",
      position: 7,
    }),
    change: { field: "name", to: (body) => (body.name === "eth0" ? "" : "eth0") },
    unique: "ip_address",
    writes: { created: { "Updated host": 1 }, updated: { "Updated host": 1 }, deleted: { "Updated host": 1 } },
    invalid: {
      body: {
        id: "x",
        host_id: 5,
        subnet_id: "10.0.0.0/8",
        ip_address: "010.1.1.1",
        mac_address: "00:1b",
        name: "a\nb",
        position: -1,
        prefix: 24,
      },
      paths: ["/id", "/subnet_id", "/ip_address", "/mac_address", "/name", "/position", "/prefix"],
    },
    references: [hostReference(), subnetReference()],
  },
  appliance,
);

describe("an address", () => {
  test("is identical to the one in its host, with no MAC and an empty name by default", async () => {
    const subnet = await newSubnet({ cidr: "2001:db8::/64" });
    const host = await newHost();
    const address = await expectOk(
      post({ host_id: host.id, network_id: host.network_id, ip_address: "2001:DB8:0::A" }),
    );
    expect(problems(address, ipAddressShape)).toEqual([]);
    expect(address).toMatchObject({
      host_id: host.id,
      network_id: host.network_id,
      subnet_id: subnet.id,
      ip_address: "2001:db8::a",
      mac_address: null,
      name: "",
      position: 0,
      last_seen_at: address.created_at,
    });
    expect((await get(`hosts/${host.id}`)).ip_addresses).toEqual([address]);
    expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["ip_addresses"] });
  });

  test("is appended after the host's last one, unless it has a position", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({
      ip_addresses: [
        { ip_address: "10.2.3.1", position: 4 },
        { ip_address: "10.2.3.2", position: 1 },
      ],
    });
    expect(await expectOk(post({ host_id: host.id, ip_address: "10.2.3.3" }))).toMatchObject({ position: 5 });
    expect(await expectOk(post({ host_id: host.id, ip_address: "10.2.3.4", position: 0 }))).toMatchObject({
      position: 0,
    });
    expect(await expectOk(post({ host_id: host.id, ip_address: "10.2.3.5", position: 2_147_483_647 }))).toMatchObject({
      position: 2_147_483_647,
    });
    expect(await expectOk(post({ host_id: host.id, ip_address: "10.2.3.6" }))).toMatchObject({
      position: 2_147_483_647,
    });
  });

  test("loses its MAC and its name by null, and keeps omitted fields", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost();
    const address = await expectOk(
      post({ host_id: host.id, ip_address: "10.2.3.1", mac_address: "001B.21AA.BBCC", name: "eth0", position: 3 }),
    );
    expect(await expectOk(put(address.id, { ip_address: "10.2.3.1" }))).toEqual(address);
    expect(await expectOk(put(address.id, { ip_address: "10.2.3.1", mac_address: null, name: null }))).toMatchObject({
      mac_address: null,
      name: "",
      position: 3,
    });
    expect(versionsOf(address.id).at(-1)).toMatchObject({ changed: ["mac_address", "name"] });
  });

  test.each([["10.2.3"], ["1"], ["10.2.3.4/24"], ["fe80::1%eth0"], ["10.2.3.256"], [" 10.2.3.4"], [""], [5], [null]])(
    "rejects %p",
    async (ip_address) => {
      const host = await newHost();
      const expectNothingWritten = watchWrites();
      expect(await post({ host_id: host.id, ip_address })).toMatchObject(
        invalid({ path: "/ip_address", value: ip_address }),
      );
      expectNothingWritten();
    },
  );

  test("is unique per host, but may repeat on another host", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const [host, other] = [await newHost(), await newHost()];
    for (const { id } of [host, other] as JsonRecord[]) await expectOk(post({ host_id: id, ip_address: "10.2.3.1" }));
    expect(await post({ host_id: host.id, ip_address: "10.2.3.1" })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "ip_address", field: "ip_address", value: "10.2.3.1" }),
    );
  });
});

describe("the subnet of an address", () => {
  test("is the most specific one of the network that contains it, or the given one", async () => {
    const cidrs = ["0.0.0.0/0", "10.0.0.0/8", "10.2.0.0/16", "10.2.3.0/24", "2001:db8::/32", "2001:db8:1::/48"];
    const subnets = new Map<string, string>();
    for (const cidr of cidrs) subnets.set(cidr, (await newSubnet({ cidr })).id);
    const elsewhere = await newNetwork();
    await newSubnet({ cidr: "10.2.3.0/30", network_id: elsewhere.id });
    const host = await newHost();
    const [first, ...others] = [
      ["10.2.3.1", "10.2.3.0/24"],
      ["10.2.4.1", "10.2.0.0/16"],
      ["10.3.4.1", "10.0.0.0/8"],
      ["192.0.2.1", "0.0.0.0/0"],
      ["2001:db8:1::1", "2001:db8:1::/48"],
      ["2001:db8:2::1", "2001:db8::/32"],
    ] as const;
    let address = await expectOk(post({ host_id: host.id, ip_address: first[0] }));
    expect(address.subnet_id).toBe(subnets.get(first[1]));
    // Each changed address gets its new subnet.
    for (const [ip_address, cidr] of others) {
      address = await expectOk(put(address.id, { ip_address, subnet_id: null }));
      expect([ip_address, address.subnet_id]).toEqual([ip_address, subnets.get(cidr)]);
      expect(await expectOk(post({ host_id: host.id, ip_address: ip_address.replace(/1$/, "9") }))).toMatchObject({
        subnet_id: subnets.get(cidr),
      });
    }
    const placed = await expectOk(
      post({ host_id: host.id, ip_address: "10.2.3.1", subnet_id: subnets.get("10.0.0.0/8") }),
    );
    expect(placed.subnet_id).toBe(subnets.get("10.0.0.0/8"));
    // The chosen subnet stays while the address is unchanged.
    for (const subnet_id of [undefined, null])
      expect(await expectOk(put(placed.id, { ip_address: "10.2.3.1", subnet_id }))).toEqual(placed);
    expect(await expectOk(put(placed.id, { ip_address: "10.2.3.2" }))).toMatchObject({
      subnet_id: subnets.get("10.2.3.0/24"),
    });
  });

  test("must exist, contain it, and be in the host's network", async () => {
    const [subnet, elsewhere] = [await newSubnet({ cidr: "10.2.3.0/24" }), await newNetwork()];
    const foreign = await newSubnet({ cidr: "10.2.0.0/16", network_id: elsewhere.id });
    const host = await newHost();
    const address = await expectOk(post({ host_id: host.id, ip_address: "10.2.3.1" }));
    const expectNothingWritten = watchWrites();
    for (const attempt of [
      (body: JsonRecord) => post({ host_id: host.id, ...body }),
      (body: JsonRecord) => put(address.id, body),
    ]) {
      for (const ip_address of ["10.2.4.1", "2001:db8::1", "10.2.4.1"]) {
        expect(await attempt({ ip_address })).toMatchObject(invalid({ path: "/ip_address", value: ip_address }));
        const issue = {
          path: "/subnet_id",
          value: subnet.id,
          message: `is the subnet 10.2.3.0/24, which does not contain ${ip_address}; omit it to use the most specific subnet that contains the address`,
        };
        expect(await attempt({ ip_address, subnet_id: subnet.id })).toMatchObject(invalid(issue));
      }
      for (const subnet_id of [foreign.id, UNKNOWN_ID]) {
        expect(await attempt({ ip_address: "10.2.3.2", subnet_id })).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: "subnet", field: "subnet_id", ids: [subnet_id] }),
        );
      }
    }
    expectNothingWritten();
  });
});

describe("an address with an assigned credential", () => {
  test("can be moved by an Admin only; a Member can edit the rest", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }] });
    const [assigned, free] = host.ip_addresses as [JsonRecord, JsonRecord];
    await newCredential({ host_assignments: [{ host_id: host.id, ip_address_ids: [assigned.id] }] });
    const member = (await newMember()).client;
    const admin = (await newUser({ role: "Admin" })).client;
    const expectNothingWritten = watchWrites();
    expect(await put(assigned.id, { ip_address: "10.2.3.66" }, member)).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" }),
    );
    expectNothingWritten();
    expect(await put(assigned.id, { ip_address: "10.2.3.1", name: "mgmt" }, member)).toMatchObject({
      status: 200,
      data: { name: "mgmt" },
    });
    expect(await put(free.id, { ip_address: "10.2.3.67" }, member)).toMatchObject({ status: 200 });
    expect(await put(assigned.id, { ip_address: "10.2.3.66" }, admin)).toMatchObject({ status: 200 });
  });

  test("is removed from the assignment when deleted, and the last one ends the assignment: it never widens", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({
      ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }, { ip_address: "10.2.3.3" }],
    });
    const ids = (host.ip_addresses as JsonRecord[]).map((address) => address.id as string);
    const credential = await newCredential({
      host_assignments: [{ host_id: host.id, ip_address_ids: ids.slice(0, 2) }],
    });
    const assignments = async () => (await get(`credentials/${credential.id}`)).host_assignments;
    await expectOk(owner.delete(`${PATH}/${ids[0]}`));
    expect(writtenIn()).toEqual({
      "Deleted ip_address": 1,
      "Updated credential_assignment": 1,
      "Updated credential": 1,
      "Updated host": 1,
    });
    expect(await assignments()).toEqual([{ host_id: host.id, ip_address_ids: [ids[1]] }]);
    expect((await get(`hosts/${host.id}`)).credential_assignments).toEqual([
      { credential_id: credential.id, ip_address_ids: [ids[1]] },
    ]);
    await expectOk(owner.post(`${PATH}/bulk-delete`, [ids[1]]));
    expect(writtenIn()).toEqual({
      "Deleted ip_address": 1,
      "Deleted credential_assignment": 1,
      "Updated credential": 1,
      "Updated host": 1,
    });
    expect(await assignments()).toEqual([]);
    expect(versionsOf(host.id).at(-1)).toMatchObject({ changed: ["credential_assignments", "ip_addresses"] });
  });
});

describe("deleting an address", () => {
  test("deletes its bindings and clears interface entries' references, in one transaction, and the past keeps them", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({
      ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }],
      ports: [tcp(80)],
    });
    const [gone, remaining] = host.ip_addresses as [JsonRecord, JsonRecord];
    const port_id = host.ports[0].id;
    const bindings = [
      { type: "Port", port_id, ip_address_id: gone.id },
      { type: "IpAddress", ip_address_id: gone.id },
      { type: "Port", port_id, ip_address_id: remaining.id },
      onPort(port_id),
    ];
    const service = await expectOk(
      owner.post("services", { host_id: host.id, name: "web", service_definition: "Nginx", bindings }),
    );
    const entry = await newIfEntry(host.id, { ip_address_id: gone.id });
    const before = await get(`hosts/${host.id}`);
    tick();
    const closed = await expectOk(owner.delete(`${PATH}/${gone.id}`));
    expect(closed).toEqual({ ...gone, valid_to: clock.text() });
    expect(writtenIn()).toEqual({
      "Deleted ip_address": 1,
      "Deleted binding": 2,
      "Updated service": 1,
      "Updated if_entry": 1,
      "Updated host": 1,
    });
    expect((await get(`services/${service.id}`)).bindings).toEqual(service.bindings.slice(2));
    expect(await get(`if-entries/${entry.id}`)).not.toHaveProperty("ip_address_id");
    expect(versionsOf(host.id).at(-1)).toMatchObject({ changed: ["interfaces", "ip_addresses", "services"] });
    const past = await get(`hosts/${host.id}?at=${before.updated_at}`);
    const timeless = (record: JsonRecord) =>
      JSON.parse(JSON.stringify(record).replaceAll(/"valid_to":("[^"]*"|null)/g, '"valid_to":0'));
    expect(timeless(past)).toEqual(timeless(before));
  });
});

describe("the addresses of a host", () => {
  test("are at most 10,000, even when added one by one", async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    const host = await newHost({
      ip_addresses: Array.from({ length: 10_000 }, (_, n) => ({ ip_address: `10.1.${n >> 8}.${n & 255}` })),
    });
    const expectNothingWritten = watchWrites();
    expect(await post({ host_id: host.id, ip_address: "10.2.0.1" })).toMatchObject(
      invalid({ path: "/host_id", value: host.id }),
    );
    expectNothingWritten();
  });

  test("are listed by host and by network, now and in the past", async () => {
    const other = await newNetwork();
    for (const network_id of [first.networkId, other.id]) await newSubnet({ cidr: "10.2.3.0/24", network_id });
    const [host, second, elsewhere] = [await newHost(), await newHost(), await newHost({ network_id: other.id })] as [
      JsonRecord,
      JsonRecord,
      JsonRecord,
    ];
    const ids: string[] = [];
    for (const holder of [host, second, elsewhere])
      ids.push((await expectOk(post({ host_id: holder.id, ip_address: "10.2.3.1" }))).id);
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`hosts/${second.id}`));
    const found = async (query: string) =>
      (await owner.get(`${PATH}?${query}`)).data.map((address: JsonRecord) => ids.indexOf(address.id));
    for (const [query, present, past] of [
      ["", [0, 2], [0, 1, 2]],
      [`host_id=${second.id}`, [], [1]],
      [`network_id=${first.networkId}`, [0], [0, 1]],
      [`network_id=${other.id}&host_id=${elsewhere.id}`, [2], [2]],
    ] as Array<[string, number[], number[]]>) {
      expect([query, await found(query), await found(`${query}&at=${at}`)]).toEqual([query, present, past]);
      expect([query, await found(`${query}&limit=0`), await found(`${query}&limit=0&at=${at}`)]).toEqual([
        query,
        present,
        past,
      ]);
    }
  });
});
