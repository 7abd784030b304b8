// Subnets: prefixes of a network, their addresses, and their VLAN.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { networkReference, reference, tagReference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { clock, first, owner, instant, newHost, newNetwork, newOrganization, newSubnet, newUser } = appliance;
const { newVlan, tick, watchWrites, versionsOf, newMember } = appliance;

describeRecords(
  {
    path: "/api/v1/subnets",
    entity: "subnet",
    writeRole: "Member",
    scope: "in a network",
    body: (networkId, position) => ({
      network_id: networkId,
      cidr: `172.16.${position}.0/24`,
      name: "Server room",
      description: "first floor",
      subnet_type: "Lan",
      vlan_id: null,
      tags: [],
    }),
    change: {
      field: "description",
      to: (body) => (body.description === "first floor" ? "second floor" : "first floor"),
    },
    unique: "cidr",
    invalid: {
      body: {
        id: "x",
        network_id: null,
        cidr: "10.0.0.1/24",
        name: null,
        description: 1,
        subnet_type: "lan",
        vlan_id: "7",
        tags: ["a", 5],
        number: 1,
      },
      paths: ["/id", "/cidr", "/name", "/description", "/subnet_type", "/vlan_id", "/tags/0", "/tags/1", "/number"],
    },
    references: [
      networkReference(),
      reference("vlan_id", "vlan", async (caller, networkId) => {
        return (await expectOk(caller.post("vlans", { network_id: networkId, number: 77 }))).id;
      }),
      tagReference(),
    ],
  },
  appliance,
);

const post = (fields: object, caller: Client = owner) =>
  caller.post("subnets", { network_id: first.networkId, ...fields });

describe("a subnet", () => {
  test("is named by its prefix, of unknown type and manual source by default", async () => {
    expect(await expectOk(post({ cidr: "10.2.3.0/24" }))).toMatchObject({
      cidr: "10.2.3.0/24",
      name: "10.2.3.0/24",
      description: null,
      subnet_type: "Unknown",
      vlan_id: null,
      source: { type: "Manual" },
      tags: [],
    });
  });

  test.each([
    ["10.2.3.4/24"],
    ["10.2.3.0"],
    ["10.2.3.0/33"],
    ["10.2.3.0/-1"],
    ["10.2.3/24"],
    ["010.2.3.0/24"],
    ["10.2.3.0/024"],
    [" 10.2.3.0/24"],
    ["2001:db8::1/64"],
    ["2001:db8::/129"],
    ["fe80::%eth0/64"],
    [""],
  ])("rejects the prefix %p", async (cidr) => {
    const expectNothingWritten = watchWrites();
    expect(await post({ cidr })).toMatchObject(invalid({ path: "/cidr", value: cidr }));
    expectNothingWritten();
  });

  test.each([
    ["2001:0DB8:0:0::/64", "2001:db8::/64"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["::/0", "::/0"],
    ["192.0.2.7/32", "192.0.2.7/32"],
  ])("normalizes the prefix %s to %s, which is unique in a network", async (cidr, canonical) => {
    expect(await expectOk(post({ cidr }))).toMatchObject({ cidr: canonical, name: canonical });
    expect(await post({ cidr: canonical })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "subnet", field: "cidr", value: canonical }),
    );
  });

  test("may be inside another one, and exist in two networks", async () => {
    const otherNetwork = await newNetwork();
    await expectOk(post({ cidr: "10.0.0.0/8" }));
    await expectOk(post({ cidr: "10.1.0.0/16" }));
    await expectOk(post({ cidr: "10.0.0.0/8", network_id: otherNetwork.id }));
    expect((await owner.get(`subnets?network_id=${first.networkId}`)).body.meta.pagination.total_count).toBe(2);
  });

  test("is on a VLAN of its own network only, whether or not another network is in reach", async () => {
    const otherNetwork = await newNetwork();
    const foreignVlan = await newVlan({ network_id: otherNetwork.id });
    const subnet = await newSubnet();
    const { client } = await newMember();
    const expectNothingWritten = watchWrites();
    for (const caller of [owner, client]) {
      for (const id of [foreignVlan.id, UNKNOWN_ID]) {
        const denial = refusal(400, "entity_reference_invalid", { entity: "vlan", field: "vlan_id", ids: [id] });
        expect(await post({ cidr: "10.9.0.0/16", vlan_id: id }, caller)).toMatchObject(denial);
        expect(await caller.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, vlan_id: id })).toMatchObject(denial);
      }
    }
    expectNothingWritten();
  });

  test("keeps its VLAN when omitted, and clears it by null", async () => {
    const vlan = await newVlan();
    const subnet = await newSubnet({ vlan_id: vlan.id });
    expect(await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr }))).toEqual(subnet);
    expect(await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, vlan_id: null }))).toMatchObject({
      vlan_id: null,
    });
  });

  test("reports all unknown tags, and no others", async () => {
    const tag = await expectOk(owner.post("tags", { name: "there", color: "Red" }));
    const missing = [UNKNOWN_ID, UNKNOWN_ID.replace("dead", "beef")];
    expect(await post({ cidr: "10.9.0.0/16", tags: [missing[0], tag.id, missing[1], missing[0]] })).toMatchObject(
      refusal(400, "entity_reference_invalid", { entity: "tag", field: "tags", ids: missing }),
    );
  });

  test("removes duplicate tags, and creates no version for an equal list", async () => {
    const tag = await expectOk(owner.post("tags", { name: "there", color: "Red" }));
    const subnet = await expectOk(post({ cidr: "10.9.0.0/16", tags: [tag.id, tag.id.toUpperCase()] }));
    expect(subnet.tags).toEqual([tag.id]);
    expect(await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.9.0.0/16", tags: [tag.id, tag.id] }))).toEqual(
      subnet,
    );
    expect(versionsOf(subnet.id)).toHaveLength(1);
  });

  test("refuses a prefix that excludes its addresses", async () => {
    const subnet = await expectOk(post({ cidr: "10.2.2.0/23" }));
    await newHost({
      ip_addresses: [{ ip_address: "10.2.2.5" }, { ip_address: "10.2.3.5" }, { ip_address: "10.2.3.6" }],
    });
    const expectNothingWritten = watchWrites();
    for (const [cidr, outside] of [
      ["10.2.2.0/24", 2],
      ["10.2.3.0/24", 1],
      ["2001:db8::/64", 3],
    ] as const) {
      expect(await owner.put(`subnets/${subnet.id}`, { cidr })).toMatchObject(
        refusal(409, "entity_in_use", { entity: "subnet", id: subnet.id, dependants: { ip_addresses: outside } }),
      );
    }
    expectNothingWritten();
    expect(await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.2.0.0/22" }))).toMatchObject({
      id: subnet.id,
      cidr: "10.2.0.0/22",
    });
  });

  test("is not deleted while it has addresses; a cascade includes them, creating versions of their hosts", async () => {
    const subnet = await expectOk(post({ cidr: "10.2.3.0/24" }));
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.3.6" }] });
    const expectNothingWritten = watchWrites();
    expect(await owner.delete(`subnets/${subnet.id}`)).toMatchObject({
      status: 409,
      body: {
        code: "entity_in_use",
        error:
          "The subnet is in use by 2 IP addresses; remove them first, or repeat with cascade=true to remove them too.",
        params: { entity: "subnet", id: subnet.id, dependants: { ip_addresses: 2 } },
      },
    });
    expectNothingWritten();
    tick();
    const closed = await expectOk(owner.delete(`subnets/${subnet.id}?cascade=true`));
    tick();
    expect((await owner.get(`hosts/${host.id}`)).data).toMatchObject({ ip_addresses: [], updated_at: closed.valid_to });
    expect(versionsOf(host.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["ip_addresses"] });
    expect((await owner.get(`hosts/${host.id}?at=${host.valid_from}`)).data.ip_addresses).toMatchObject([
      { ip_address: "10.2.3.5" },
      { ip_address: "10.2.3.6" },
    ]);
    expect((await owner.get(`subnets?at=${host.valid_from}`)).data).toEqual([closed]);
  });

  test("can take over a prefix that another one gave up", async () => {
    const [first, second] = [
      await expectOk(post({ cidr: "10.1.0.0/16" })),
      await expectOk(post({ cidr: "10.2.0.0/16" })),
    ];
    await expectOk(owner.put(`subnets/${first.id}`, { cidr: "10.3.0.0/16" }));
    expect(await expectOk(owner.put(`subnets/${second.id}`, { cidr: "10.1.0.0/16" }))).toMatchObject({
      cidr: "10.1.0.0/16",
      name: "10.2.0.0/16",
    });
  });
});

describe("the list of subnets", () => {
  test("is empty for an unknown or foreign network, or an id of another kind", async () => {
    const subnet = await newSubnet();
    const second = await newOrganization("Second");
    for (const id of [UNKNOWN_ID, second.networkId, subnet.id, first.organizationId]) {
      for (const limit of ["50", "0"]) {
        expect(await owner.get(`subnets?network_id=${id}&limit=${limit}`)).toMatchObject({
          status: 200,
          data: [],
          body: { meta: { pagination: { total_count: 0 } } },
        });
      }
    }
    expect(await owner.get("subnets?network_id=first")).toMatchObject(invalid({ path: "/network_id", value: "first" }));
  });

  test("counts a network's subnets at a timestamp", async () => {
    const [first, second] = [await newSubnet(), await newSubnet()];
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.delete(`subnets/${first.id}`));
    tick();
    const query = `subnets?network_id=${appliance.first.networkId}&limit=1`;
    expect((await owner.get(query)).body).toMatchObject({
      data: [second],
      meta: { pagination: { total_count: 1, has_more: false } },
    });
    expect((await owner.get(`${query}&at=${at}`)).body).toMatchObject({
      data: [{ id: first.id }],
      meta: { at, pagination: { total_count: 2, has_more: true } },
    });
  });
});

describe("credential acceptance of a subnet", () => {
  let member: Client;
  beforeEach(async () => {
    member = (await newMember()).client;
  });
  const put = (subnet: JsonRecord, fields: object, caller: Client) =>
    caller.put(`subnets/${subnet.id}`, { cidr: subnet.cidr, ...fields });
  const adminOnly = refusal(403, "auth_permission_denied", { required: "Admin", actual: "Member" });

  test("defaults to true for an Admin and to false for a Member, who may not set it", async () => {
    const { client: admin } = await newUser({ role: "Admin" });
    for (const caller of [owner, admin]) {
      expect(await newSubnet({}, caller)).toMatchObject({ accepts_credentials: true });
      expect(await newSubnet({ accepts_credentials: false }, caller)).toMatchObject({ accepts_credentials: false });
    }
    expect(await newSubnet({}, member)).toMatchObject({ accepts_credentials: false });
    expect(await newSubnet({ accepts_credentials: false }, member)).toMatchObject({ accepts_credentials: false });
    const expectNothingWritten = watchWrites();
    expect(await post({ cidr: "10.9.0.0/16", accepts_credentials: true }, member)).toMatchObject(adminOnly);
    expect(await post({ cidr: "10.9.0.0/16", accepts_credentials: null }, member)).toMatchObject(
      invalid({ path: "/accepts_credentials" }),
    );
    expectNothingWritten();
  });

  test("can be changed by an Admin only, like the prefix and type of an accepting subnet; unchanged values are accepted", async () => {
    const accepting = await newSubnet({ subnet_type: "Lan" });
    const otherSubnet = await newSubnet({ subnet_type: "Lan" }, member);
    const expectNothingWritten = watchWrites();
    for (const fields of [{ cidr: "10.9.0.0/16" }, { subnet_type: "Dmz" }, { accepts_credentials: false }]) {
      expect(await put(accepting, fields, member)).toMatchObject(adminOnly);
    }
    expect(await put(otherSubnet, { accepts_credentials: true }, member)).toMatchObject(adminOnly);
    expectNothingWritten();
    // A client with partial permissions may send back the other fields as read.
    expect(await expectOk(put(accepting, { ...accepting, name: "Renamed" }, member))).toMatchObject({
      name: "Renamed",
      accepts_credentials: true,
    });
    expect(await expectOk(put(accepting, {}, member))).toMatchObject({ accepts_credentials: true });
    expect(await expectOk(put(otherSubnet, { cidr: "10.9.0.0/16", subnet_type: "Dmz" }, member))).toMatchObject({
      cidr: "10.9.0.0/16",
      accepts_credentials: false,
    });
    const changed = await expectOk(
      put(accepting, { cidr: "10.8.0.0/16", subnet_type: "Dmz", accepts_credentials: false }, owner),
    );
    expect(changed).toMatchObject({ cidr: "10.8.0.0/16", accepts_credentials: false });
    expect(await expectOk(put(changed, { subnet_type: "Lan" }, member))).toMatchObject({ subnet_type: "Lan" });
    expect(versionsOf(accepting.id).map(({ changed }) => changed)).toEqual([
      null,
      ["name"],
      ["accepts_credentials", "cidr", "subnet_type"],
      ["subnet_type"],
    ]);
  });

  test("cannot be regained by a Member, by a restore or a revert", async () => {
    const accepting = await newSubnet({ subnet_type: "Lan" });
    const whileAccepting = instant();
    const closed = await expectOk(put(accepting, { accepts_credentials: false }, owner));
    const closingSequence = appliance.reader.head().sequence;
    const whileClosed = instant();
    await expectOk(put(closed, { cidr: "10.8.0.0/16" }, member));
    const path = `subnets/${accepting.id}`;
    const expectNothingWritten = watchWrites();
    const denial = refusal(403, "auth_permission_denied", {
      conflicts: [{ code: "role_too_low", field: "accepts_credentials" }],
    });
    expect(await member.post(`${path}/restore`, { at: whileAccepting })).toMatchObject(denial);
    expectNothingWritten();
    expect((await member.post(`${path}/restore`, { at: whileClosed })).status).toBe(200);
    expect((await member.post(`transactions/${closingSequence}/revert`, {})).status).toBe(403);
    expect((await owner.post(`transactions/${closingSequence}/revert`, {})).status).toBe(200);
    expect(await expectOk(member.get(path))).toMatchObject({ accepts_credentials: true });
    // Its acceptance ends with it, and only an Admin can restore that.
    await expectOk(member.delete(path));
    const deletionSequence = appliance.reader.head().sequence;
    expect(await member.post(`${path}/restore`, { at: whileAccepting })).toMatchObject(denial);
    expect((await member.post(`transactions/${deletionSequence}/revert`, {})).status).toBe(403);
    // Undoing an Admin's change to the prefix changes where credentials go, so a Member may not.
    expect((await owner.post(`${path}/restore`, { at: whileAccepting })).status).toBe(200);
    const moved = await expectOk(put(accepting, { cidr: "10.7.0.0/16" }, owner));
    const moveSequence = appliance.reader.head().sequence;
    expect(await member.post(`${path}/restore`, { at: whileAccepting })).toMatchObject({
      status: 403,
      body: { params: { conflicts: [{ code: "role_too_low", field: "cidr" }] } },
    });
    expect((await member.post(`transactions/${moveSequence}/revert`, {})).status).toBe(403);
    expect(await expectOk(member.get(path))).toEqual(moved);
  });

  test("filters lists and exports, now and in the past", async () => {
    const accepting = await newSubnet();
    const otherSubnet = await newSubnet({}, member);
    const at = instant();
    await expectOk(put(accepting, { accepts_credentials: false }, owner));
    const found = async (query: string) =>
      ((await owner.get(`subnets?${query}`)).data as JsonRecord[]).map(({ id }) => id);
    expect(await found("accepts_credentials=true")).toEqual([]);
    expect(await found("accepts_credentials=false")).toEqual([accepting.id, otherSubnet.id]);
    expect(await found(`accepts_credentials=true&at=${at}`)).toEqual([accepting.id]);
    expect(await found(`accepts_credentials=false&at=${at}`)).toEqual([otherSubnet.id]);
    const { text } = await owner.get(`subnets/export/csv?accepts_credentials=true&at=${at}`);
    expect(csvRecords(text)).toMatchObject([{ id: accepting.id, accepts_credentials: "true" }]);
  });
});
