// Addresses by themselves: the subnet that they find, who may move one that a credential names, what goes with them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import {
  made,
  newCredential,
  newHost,
  newNetwork,
  newSubnet,
  newUser,
  transactionCount,
  versionsOf,
  writtenIn,
  type Wire,
} from "../support/factories.ts";
import { newIfEntry } from "../support/inventory.ts";
import { describeRecords } from "../support/record-battery.ts";
import { ipAddressShape, problems } from "../support/shapes.ts";

const PATH = "/api/v1/ip-addresses";
const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

const get = (path: string) => made(appliance.owner.get(`/api/v1/${path}`));
const post = (body: Wire, by = appliance.owner) => by.post(PATH, body);
const put = (id: string, body: Wire, by = appliance.owner) => by.put(`${PATH}/${id}`, body);

/** Of the battery: the second byte of the addresses of each host. */
const prefixOf = new Map<string, number>();
let last = 0;

describeRecords(
  {
    path: PATH,
    entity: "ip_address",
    writeRole: "Member",
    roleBelow: "Viewer",
    place: "in a network",
    container: {
      field: "host_id",
      entity: "host",
      make: async (by, networkId) => {
        const { id } = await made(by.post("/api/v1/hosts", { network_id: networkId, name: "server" }));
        prefixOf.set(id, (last = (last + 1) & 255));
        await made(by.post("/api/v1/subnets", { network_id: networkId, cidr: `10.${prefixOf.get(id)}.0.0/16` }));
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
    change: { field: "name", to: (body) => (body["name"] === "eth0" ? "" : "eth0") },
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
    references: [
      {
        field: "host_id",
        entity: "host",
        naming: (body, id) => ({ ...body, host_id: id }),
        make: async (by, networkId) =>
          (await made(by.post("/api/v1/hosts", { network_id: networkId, name: "Reference" })))["id"],
      },
      {
        field: "subnet_id",
        entity: "subnet",
        naming: (body, id) => ({ ...body, subnet_id: id }),
        make: async (by, networkId) =>
          (await made(by.post("/api/v1/subnets", { network_id: networkId, cidr: "10.0.0.0/8" })))["id"],
      },
    ],
  },
  () => appliance,
);

describe("an address", () => {
  test("is the one that stands in its host, to the letter, and has no MAC and an empty name when none is given", async () => {
    const subnet = await newSubnet(appliance, { cidr: "2001:db8::/64" });
    const host = await newHost(appliance);
    const address = await made(
      post({ host_id: host["id"], network_id: host["network_id"], ip_address: "2001:DB8:0::A" }),
    );
    expect(problems(address, ipAddressShape)).toEqual([]);
    expect(address).toMatchObject({
      host_id: host["id"],
      network_id: host["network_id"],
      subnet_id: subnet["id"],
      ip_address: "2001:db8::a",
      mac_address: null,
      name: "",
      position: 0,
      last_seen_at: address["created_at"],
    });
    expect((await get(`hosts/${host["id"]}`))["ip_addresses"]).toEqual([address]);
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({ operation: "Updated", changed: ["ip_addresses"] });
  });

  test("comes after the host's last one, unless it says where", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const host = await newHost(appliance, {
      ip_addresses: [
        { ip_address: "10.2.3.1", position: 4 },
        { ip_address: "10.2.3.2", position: 1 },
      ],
    });
    expect(await made(post({ host_id: host["id"], ip_address: "10.2.3.3" }))).toMatchObject({ position: 5 });
    expect(await made(post({ host_id: host["id"], ip_address: "10.2.3.4", position: 0 }))).toMatchObject({
      position: 0,
    });
    expect(await made(post({ host_id: host["id"], ip_address: "10.2.3.5", position: 2_147_483_647 }))).toMatchObject({
      position: 2_147_483_647,
    });
    expect(await made(post({ host_id: host["id"], ip_address: "10.2.3.6" }))).toMatchObject({
      position: 2_147_483_647,
    });
  });

  test("loses its MAC and its name to null, and keeps what is left out", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const host = await newHost(appliance);
    const address = await made(
      post({ host_id: host["id"], ip_address: "10.2.3.1", mac_address: "001B.21AA.BBCC", name: "eth0", position: 3 }),
    );
    expect(await made(put(address["id"], { ip_address: "10.2.3.1" }))).toEqual(address);
    expect(await made(put(address["id"], { ip_address: "10.2.3.1", mac_address: null, name: null }))).toMatchObject({
      mac_address: null,
      name: "",
      position: 3,
    });
    expect(versionsOf(appliance, address["id"]).at(-1)).toMatchObject({ changed: ["mac_address", "name"] });
  });

  test.each([["10.2.3"], ["1"], ["10.2.3.4/24"], ["fe80::1%eth0"], ["10.2.3.256"], [" 10.2.3.4"], [""], [5], [null]])(
    "is not %p",
    async (ip_address) => {
      const host = await newHost(appliance);
      const before = transactionCount(appliance);
      expect(await post({ host_id: host["id"], ip_address })).toMatchObject({
        status: 400,
        body: { code: "validation_failed", params: { issues: [{ path: "/ip_address", value: ip_address }] } },
      });
      expect(transactionCount(appliance)).toBe(before);
    },
  );

  test("is one of its host: of another host it may be again", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const [host, other] = [await newHost(appliance), await newHost(appliance)];
    for (const { id } of [host, other] as Wire[]) await made(post({ host_id: id, ip_address: "10.2.3.1" }));
    expect(await post({ host_id: host["id"], ip_address: "10.2.3.1" })).toMatchObject({
      status: 409,
      body: { code: "entity_already_exists", params: { entity: "ip_address", field: "ip_address", value: "10.2.3.1" } },
    });
  });
});

describe("the subnet of an address", () => {
  test("is the most specific one of the network that contains it, or the one that is told", async () => {
    const cidrs = ["0.0.0.0/0", "10.0.0.0/8", "10.2.0.0/16", "10.2.3.0/24", "2001:db8::/32", "2001:db8:1::/48"];
    const subnets = new Map<string, string>();
    for (const cidr of cidrs) subnets.set(cidr, (await newSubnet(appliance, { cidr }))["id"]);
    const elsewhere = await newNetwork(appliance);
    await newSubnet(appliance, { cidr: "10.2.3.0/30", network_id: elsewhere["id"] });
    const host = await newHost(appliance);
    const [first, ...others] = [
      ["10.2.3.1", "10.2.3.0/24"],
      ["10.2.4.1", "10.2.0.0/16"],
      ["10.3.4.1", "10.0.0.0/8"],
      ["192.0.2.1", "0.0.0.0/0"],
      ["2001:db8:1::1", "2001:db8:1::/48"],
      ["2001:db8:2::1", "2001:db8::/32"],
    ] as const;
    let address = await made(post({ host_id: host["id"], ip_address: first[0] }));
    expect(address["subnet_id"]).toBe(subnets.get(first[1]));
    // Moved from one to the next, it finds the subnet of each.
    for (const [ip_address, cidr] of others) {
      address = await made(put(address["id"], { ip_address, subnet_id: null }));
      expect([ip_address, address["subnet_id"]]).toEqual([ip_address, subnets.get(cidr)]);
      expect(await made(post({ host_id: host["id"], ip_address: ip_address.replace(/1$/, "9") }))).toMatchObject({
        subnet_id: subnets.get(cidr),
      });
    }
    const told = await made(
      post({ host_id: host["id"], ip_address: "10.2.3.1", subnet_id: subnets.get("10.0.0.0/8") }),
    );
    expect(told["subnet_id"]).toBe(subnets.get("10.0.0.0/8"));
    // It stays where it was put while the address stays.
    for (const subnet_id of [undefined, null])
      expect(await made(put(told["id"], { ip_address: "10.2.3.1", subnet_id }))).toEqual(told);
    expect(await made(put(told["id"], { ip_address: "10.2.3.2" }))).toMatchObject({
      subnet_id: subnets.get("10.2.3.0/24"),
    });
  });

  test("has to be there, to contain it, and to be of the host's network", async () => {
    const [subnet, elsewhere] = [await newSubnet(appliance, { cidr: "10.2.3.0/24" }), await newNetwork(appliance)];
    const foreign = await newSubnet(appliance, { cidr: "10.2.0.0/16", network_id: elsewhere["id"] });
    const host = await newHost(appliance);
    const address = await made(post({ host_id: host["id"], ip_address: "10.2.3.1" }));
    const before = transactionCount(appliance);
    for (const attempt of [
      (body: Wire) => post({ host_id: host["id"], ...body }),
      (body: Wire) => put(address["id"], body),
    ]) {
      for (const ip_address of ["10.2.4.1", "2001:db8::1", "10.2.4.1"]) {
        expect(await attempt({ ip_address })).toMatchObject({
          status: 400,
          body: { code: "validation_failed", params: { issues: [{ path: "/ip_address", value: ip_address }] } },
        });
        const issue = {
          path: "/subnet_id",
          value: subnet["id"],
          message: `is the subnet 10.2.3.0/24, which does not contain ${ip_address}; left out or null, the most specific subnet that contains the address is found`,
        };
        expect(await attempt({ ip_address, subnet_id: subnet["id"] })).toMatchObject({
          status: 400,
          body: { code: "validation_failed", params: { issues: [issue] } },
        });
      }
      for (const subnet_id of [foreign["id"], UNKNOWN_ID]) {
        expect(await attempt({ ip_address: "10.2.3.2", subnet_id })).toMatchObject({
          status: 400,
          body: {
            code: "entity_reference_invalid",
            params: { entity: "subnet", field: "subnet_id", ids: [subnet_id] },
          },
        });
      }
    }
    expect(transactionCount(appliance)).toBe(before);
  });
});

describe("an address that a credential is assigned to", () => {
  test("is moved by an Admin alone; a Member changes the rest of it", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const host = await newHost(appliance, { ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }] });
    const [named, free] = host["ip_addresses"] as [Wire, Wire];
    await newCredential(appliance, { host_assignments: [{ host_id: host["id"], ip_address_ids: [named["id"]] }] });
    const member = (await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] })).client;
    const admin = (await newUser(appliance, { role: "Admin" })).client;
    const before = transactionCount(appliance);
    expect(await put(named["id"], { ip_address: "10.2.3.66" }, member)).toMatchObject({
      status: 403,
      body: { code: "auth_permission_denied", params: { required: "Admin", actual: "Member" } },
    });
    expect(transactionCount(appliance)).toBe(before);
    expect(await put(named["id"], { ip_address: "10.2.3.1", name: "mgmt" }, member)).toMatchObject({
      status: 200,
      data: { name: "mgmt" },
    });
    expect(await put(free["id"], { ip_address: "10.2.3.67" }, member)).toMatchObject({ status: 200 });
    expect(await put(named["id"], { ip_address: "10.2.3.66" }, admin)).toMatchObject({ status: 200 });
  });

  test("is taken off the assignment when it goes, and with the last one the assignment goes: it never widens", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const host = await newHost(appliance, {
      ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }, { ip_address: "10.2.3.3" }],
    });
    const ids = (host["ip_addresses"] as Wire[]).map((address) => address["id"] as string);
    const credential = await newCredential(appliance, {
      host_assignments: [{ host_id: host["id"], ip_address_ids: ids.slice(0, 2) }],
    });
    const assignments = async () => (await get(`credentials/${credential["id"]}`))["host_assignments"];
    await made(appliance.owner.delete(`${PATH}/${ids[0]}`));
    expect(writtenIn(appliance)).toEqual({
      "Deleted ip_address": 1,
      "Updated credential_assignment": 1,
      "Updated credential": 1,
      "Updated host": 1,
    });
    expect(await assignments()).toEqual([{ host_id: host["id"], ip_address_ids: [ids[1]] }]);
    expect((await get(`hosts/${host["id"]}`))["credential_assignments"]).toEqual([
      { credential_id: credential["id"], ip_address_ids: [ids[1]] },
    ]);
    await made(appliance.owner.post(`${PATH}/bulk-delete`, [ids[1]]));
    expect(writtenIn(appliance)).toEqual({
      "Deleted ip_address": 1,
      "Deleted credential_assignment": 1,
      "Updated credential": 1,
      "Updated host": 1,
    });
    expect(await assignments()).toEqual([]);
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({
      changed: ["credential_assignments", "ip_addresses"],
    });
  });
});

describe("deleting an address", () => {
  test("takes the bindings to it along and the reference off interface entries, in one transaction, and the past keeps all of it", async () => {
    await newSubnet(appliance, { cidr: "10.2.3.0/24" });
    const host = await newHost(appliance, {
      ip_addresses: [{ ip_address: "10.2.3.1" }, { ip_address: "10.2.3.2" }],
      ports: [{ number: 80, protocol: "Tcp" }],
    });
    const [gone, kept] = host["ip_addresses"] as [Wire, Wire];
    const port_id = host["ports"][0].id;
    const bindings = [
      { type: "Port", port_id, ip_address_id: gone["id"] },
      { type: "IpAddress", ip_address_id: gone["id"] },
      { type: "Port", port_id, ip_address_id: kept["id"] },
      { type: "Port", port_id },
    ];
    const service = await made(
      appliance.owner.post("/api/v1/services", {
        host_id: host["id"],
        name: "web",
        service_definition: "Nginx",
        bindings,
      }),
    );
    const entry = await newIfEntry(appliance, host["id"], { ip_address_id: gone["id"] });
    const whole = await get(`hosts/${host["id"]}`);
    appliance.clock.advance(1_000);
    const closed = await made(appliance.owner.delete(`${PATH}/${gone["id"]}`));
    expect(closed).toEqual({ ...gone, valid_to: appliance.clock.text() });
    expect(writtenIn(appliance)).toEqual({
      "Deleted ip_address": 1,
      "Deleted binding": 2,
      "Updated service": 1,
      "Updated if_entry": 1,
      "Updated host": 1,
    });
    expect((await get(`services/${service["id"]}`))["bindings"]).toEqual(service["bindings"].slice(2));
    expect(await get(`if-entries/${entry["id"]}`)).not.toHaveProperty("ip_address_id");
    expect(versionsOf(appliance, host["id"]).at(-1)).toMatchObject({
      changed: ["interfaces", "ip_addresses", "services"],
    });
    const then = await get(`hosts/${host["id"]}?at=${whole["updated_at"]}`);
    const timeless = (record: Wire) =>
      JSON.parse(JSON.stringify(record).replaceAll(/"valid_to":("[^"]*"|null)/g, '"valid_to":0'));
    expect(timeless(then)).toEqual(timeless(whole));
  });
});

describe("the addresses of a host", () => {
  test("are 10,000 at most, also when they come one by one", async () => {
    await newSubnet(appliance, { cidr: "10.0.0.0/8" });
    const host = await newHost(appliance, {
      ip_addresses: Array.from({ length: 10_000 }, (_, n) => ({ ip_address: `10.1.${n >> 8}.${n & 255}` })),
    });
    const before = transactionCount(appliance);
    expect(await post({ host_id: host["id"], ip_address: "10.2.0.1" })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/host_id", value: host["id"] }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
  }, 30_000);

  test("are listed by host and by network, now and then", async () => {
    const other = await newNetwork(appliance);
    for (const network_id of [appliance.first.networkId, other["id"]])
      await newSubnet(appliance, { cidr: "10.2.3.0/24", network_id });
    const [host, second, elsewhere] = [
      await newHost(appliance),
      await newHost(appliance),
      await newHost(appliance, { network_id: other["id"] }),
    ] as [Wire, Wire, Wire];
    const ids: string[] = [];
    for (const each of [host, second, elsewhere])
      ids.push((await made(post({ host_id: each["id"], ip_address: "10.2.3.1" })))["id"]);
    appliance.clock.advance(1_000);
    const at = appliance.clock.text();
    appliance.clock.advance(1_000);
    await made(appliance.owner.delete(`/api/v1/hosts/${second["id"]}`));
    const found = async (query: string) =>
      (await appliance.owner.get(`${PATH}?${query}`)).data.map((address: Wire) => ids.indexOf(address["id"]));
    for (const [query, now, then] of [
      ["", [0, 2], [0, 1, 2]],
      [`host_id=${second["id"]}`, [], [1]],
      [`network_id=${appliance.first.networkId}`, [0], [0, 1]],
      [`network_id=${other["id"]}&host_id=${elsewhere["id"]}`, [2], [2]],
    ] as Array<[string, number[], number[]]>) {
      expect([query, await found(query), await found(`${query}&at=${at}`)]).toEqual([query, now, then]);
      expect([query, await found(`${query}&limit=0`), await found(`${query}&limit=0&at=${at}`)]).toEqual([
        query,
        now,
        then,
      ]);
    }
  });
});
