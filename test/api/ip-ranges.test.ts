// IP ranges: placement, exclusivity, and lifecycle.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { reference, subnetReference, tagReference, UNKNOWN_ID } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";
import { expectRefusal } from "../support/contract/shapes.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForEach();
const { first, instant, newMember, newNetwork, newSubnet, newTag, owner, tick, versionsOf, watchWrites, writtenIn } =
  appliance;

/** A network with space for ranges. */
async function withSubnet(caller: Client, networkId: string): Promise<string> {
  await expectOk(caller.post("subnets", { network_id: networkId, cidr: "10.2.0.0/16" }));
  return networkId;
}

describeRecords(
  {
    path: "/api/v1/ip-ranges",
    entity: "ip_range",
    writeRole: "Member",
    scope: "in a network",
    container: { field: "network_id", entity: "network", create: withSubnet },
    body: (networkId, position) => ({
      network_id: networkId,
      first: `10.2.${position >> 7}.${2 * (position & 127)}`,
      last: `10.2.${position >> 7}.${2 * (position & 127) + 1}`,
      purpose: "Static",
      description: "first floor",
      tags: [],
    }),
    change: {
      field: "description",
      to: (body) => (body.description === "first floor" ? "second floor" : "first floor"),
    },
    unique: null,
    invalid: {
      body: {
        id: "x",
        network_id: null,
        subnet_id: "7",
        first: "10.2.0.256",
        last: "010.2.0.1",
        purpose: "dhcp",
        description: 1,
        tags: ["a", 5],
        name: "x",
      },
      paths: ["/id", "/subnet_id", "/first", "/last", "/purpose", "/description", "/tags/0", "/tags/1", "/name"],
    },
    references: [
      reference("network_id", "network", async (caller) =>
        withSubnet(caller, (await expectOk(caller.post("networks", { name: "Reference" }))).id),
      ),
      subnetReference(),
      tagReference(),
    ],
  },
  appliance,
);

const post = (fields: JsonRecord, caller: Client = owner) =>
  caller.post("ip-ranges", { network_id: first.networkId, purpose: "Other", ...fields });
const range = (from: string, to: string, fields: JsonRecord = {}) =>
  expectOk(post({ first: from, last: to, ...fields }));
const put = (record: JsonRecord, fields: JsonRecord, caller: Client = owner) =>
  caller.put(`ip-ranges/${record.id}`, { first: record.first, last: record.last, purpose: record.purpose, ...fields });

describe("an IP range", () => {
  test("is placed in the most specific subnet of its network that contains both ends", async () => {
    const wide = await newSubnet({ cidr: "10.0.0.0/8" });
    const narrow = await newSubnet({ cidr: "10.2.3.0/24" });
    const half = await newSubnet({ cidr: "10.2.3.0/25" });
    const ipv6 = await newSubnet({ cidr: "2001:db8::/48" });
    const all = await newSubnet({ cidr: "::/0" });
    const otherNetwork = await newNetwork();
    await newSubnet({ cidr: "10.2.3.0/28", network_id: otherNetwork.id });
    for (const [from, to, subnet] of [
      ["10.2.3.4", "10.2.3.4", half],
      ["10.2.3.0", "10.2.3.127", half],
      ["10.2.3.127", "10.2.3.128", narrow],
      ["10.2.3.200", "10.2.3.219", narrow],
      ["10.2.3.200", "10.2.4.1", wide],
      ["10.0.0.0", "10.255.255.255", wide],
      ["2001:DB8:0::1", "2001:db8:0:ffff::", ipv6],
      ["2001:db8::1", "2001:db9::", all],
    ] as const)
      expect(await range(from, to)).toMatchObject({ subnet_id: subnet.id, description: null, tags: [] });
    expect(await range("2001:DB8:0:0::000A", "2001:db8::000F")).toMatchObject({
      first: "2001:db8::a",
      last: "2001:db8::f",
    });
  });

  test("is refused outside every subnet of its network", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    await newSubnet({ cidr: "10.2.4.0/24" });
    const elsewhere = await newSubnet({ cidr: "10.2.3.0/24", network_id: (await newNetwork()).id });
    const existing = await range("10.2.3.200", "10.2.3.219");
    const expectNothingWritten = watchWrites();
    for (const send of [post, (fields: JsonRecord) => put(existing, fields)]) {
      for (const [from, to] of [
        ["10.2.3.250", "10.2.4.5"],
        ["10.9.0.1", "10.9.0.2"],
        ["2001:db8::1", "2001:db8::2"],
        ["::ffff:10.2.3.1", "::ffff:10.2.3.2"],
      ])
        expect(await send({ first: from, last: to })).toMatchObject(invalid({ path: "/first", value: from }));
      for (const [from, to] of [
        ["10.2.3.250", "10.2.4.5"],
        ["10.2.2.255", "10.2.3.0"],
        ["10.2.4.0", "10.2.4.1"],
      ])
        expect(await send({ first: from, last: to, subnet_id: subnet.id })).toMatchObject(
          invalid({ path: "/subnet_id", value: subnet.id }),
        );
      for (const id of [elsewhere.id, UNKNOWN_ID, existing.id])
        expect(await send({ first: "10.2.3.1", last: "10.2.3.2", subnet_id: id })).toMatchObject(
          refusal(400, "entity_reference_invalid", { entity: "subnet", field: "subnet_id", ids: [id] }),
        );
    }
    expectNothingWritten();
  });

  test("ends at or after its start, in addresses of one IP version", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    await newSubnet({ cidr: "::/0" });
    const existing = await range("10.2.3.200", "10.2.3.219");
    const expectNothingWritten = watchWrites();
    for (const send of [post, (fields: JsonRecord) => put(existing, fields)])
      for (const [from, to] of [
        ["10.2.3.10", "10.2.3.9"],
        // Ascending only as strings.
        ["10.2.10.1", "10.2.9.1"],
        ["10.2.3.1", "2001:db8::1"],
        ["2001:db8::1", "10.2.3.1"],
        ["2001:db8::10", "2001:db8::f"],
      ])
        expect(await send({ first: from, last: to })).toMatchObject(invalid({ path: "/last", value: to }));
    for (const wrong of ["10.2.3.0/24", "10.2.3", "", " 10.2.3.1", "10.2.3.01", "fe80::1%eth0", 7, null])
      expect(await post({ first: wrong, last: "10.2.3.9" })).toMatchObject(invalid({ path: "/first", value: wrong }));
    expectNothingWritten();
  });

  test("requires both ends and a purpose, even in an update", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const { id } = await range("10.2.3.200", "10.2.3.219");
    const expectNothingWritten = watchWrites();
    for (const response of [await owner.post("ip-ranges", {}), await owner.put(`ip-ranges/${id}`, {})])
      for (const path of ["/first", "/last", "/purpose"])
        expect(response.body.params.issues).toContainEqual(expect.objectContaining({ path }));
    expectNothingWritten();
  });

  test("stays in its subnet while unmoved, and is placed again when it moves", async () => {
    const wide = await newSubnet({ cidr: "10.2.0.0/16" });
    const created = await range("10.2.3.200", "10.2.3.219");
    const narrow = await newSubnet({ cidr: "10.2.3.0/24" });
    tick();
    expect(await expectOk(put(created, { description: "printers" }))).toMatchObject({
      subnet_id: wide.id,
      description: "printers",
    });
    expect(versionsOf(created.id).at(-1)).toMatchObject({ changed: ["description"] });
    tick();
    expect(await expectOk(put(created, { last: "10.2.3.220", subnet_id: null }))).toMatchObject({
      subnet_id: narrow.id,
      description: "printers",
    });
    expect(versionsOf(created.id).at(-1)).toMatchObject({ changed: ["last", "subnet_id"] });
    expect(await expectOk(put(created, { subnet_id: wide.id }))).toMatchObject({ subnet_id: wide.id });
  });

  test("is deleted with its subnet only by cascade, and restored with it by a revert", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const [single, otherRange] = [await range("10.2.3.1", "10.2.3.1"), await range("10.2.3.200", "10.2.3.219")];
    const expectNothingWritten = watchWrites();
    expect(await owner.delete(`subnets/${subnet.id}`)).toMatchObject({
      status: 409,
      body: {
        code: "entity_in_use",
        error:
          "The subnet is in use by 2 IP ranges; remove them first, or repeat with cascade=true to remove them too.",
        params: { entity: "subnet", id: subnet.id, dependants: { ip_ranges: 2 } },
      },
    });
    expectNothingWritten();
    tick();
    await expectOk(owner.delete(`subnets/${subnet.id}?cascade=true`));
    expect(writtenIn()).toEqual({ "Deleted subnet": 1, "Deleted ip_range": 2 });
    expect((await owner.get("ip-ranges")).data).toEqual([]);
    const { sequence } = versionsOf(single.id).at(-1) as { sequence: number };
    tick();
    expect((await owner.post(`transactions/${sequence}/revert`, {})).status).toBe(200);
    const restored = (await owner.get("ip-ranges?order_by=first")).data;
    expect(restored.map(({ first, last }: JsonRecord) => [first, last])).toEqual([
      [single.first, single.last],
      [otherRange.first, otherRange.last],
    ]);
  });

  test("blocks a new prefix of its subnet that would exclude it", async () => {
    const subnet = await newSubnet({ cidr: "10.2.0.0/16" });
    await range("10.2.3.200", "10.2.4.5");
    await range("10.2.200.1", "10.2.200.1");
    const expectNothingWritten = watchWrites();
    for (const [cidr, outside, detail] of [
      ["10.2.0.0/17", 1, "1 IP range (10.2.200.1) outside of 10.2.0.0/17"],
      ["10.2.3.0/24", 2, "2 IP ranges (10.2.3.200-10.2.4.5, …) outside of 10.2.3.0/24"],
    ] as const) {
      const response = await owner.put(`subnets/${subnet.id}`, { cidr });
      expect(response).toMatchObject(
        refusal(409, "entity_in_use", { entity: "subnet", id: subnet.id, dependants: { ip_ranges: outside } }),
      );
      expect(response.body.error).toBe(`The subnet has ${detail}; move or remove these first.`);
    }
    expectNothingWritten();
    expect(await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.2.0.0/15" }))).toMatchObject({
      cidr: "10.2.0.0/15",
    });
  });

  test("is found by addresses, description and tags, and ordered by address", async () => {
    await newSubnet({ cidr: "10.0.0.0/8" });
    await newSubnet({ cidr: "2001:db8::/32" });
    const tag = await newTag({ name: "printing" });
    const late = await range("10.10.0.1", "10.10.0.9", { purpose: "Dhcp" });
    const early = await range("10.9.0.1", "10.9.0.9", { description: "Printers", tags: [tag.id], purpose: "Static" });
    const ipv6 = await range("2001:db8::1", "2001:db8::ff", { purpose: "Reserved" });
    const ids = async (query: string) => (await owner.get(`ip-ranges?${query}`)).data.map(({ id }: JsonRecord) => id);
    expect(await ids("order_by=first")).toEqual([early.id, late.id, ipv6.id]);
    expect(await ids("order_by=last&order_direction=desc")).toEqual([ipv6.id, late.id, early.id]);
    expect(await ids("order_by=purpose")).toEqual([late.id, ipv6.id, early.id]);
    expect(await ids("search=printers")).toEqual([early.id]);
    expect(await ids("search=10.9.")).toEqual([early.id]);
    expect(await ids("search=2001:db8::ff")).toEqual([ipv6.id]);
    expect(await ids(`subnet_id=${ipv6.subnet_id}`)).toEqual([ipv6.id]);
    expect(await ids(`subnet_id=${UNKNOWN_ID}`)).toEqual([]);
    for (const [filter, found] of [
      ['first : "10.9.0.0/16"', [early]],
      ['first >= "10.9.0.2"', [late, ipv6]],
      ["purpose = Reserved", [ipv6]],
      ['subnet.cidr = "2001:db8::/32"', [ipv6]],
      ["network.name:*", [late, early, ipv6]],
      ['tags.name = "printing"', [early]],
      ["description:*", [early]],
      ['ever(purpose = "Dhcp", "-1d")', [late]],
    ] as const)
      expect([filter, await ids(`filter=${encodeURIComponent(filter)}`)]).toEqual([filter, found.map(({ id }) => id)]);
    const rows = csvRecords((await owner.get("ip-ranges/export/csv?order_by=first")).text);
    expect(rows[0]).toMatchObject({
      network_name: "First network",
      subnet_cidr: "10.0.0.0/8",
      first: "10.9.0.1",
      last: "10.9.0.9",
      purpose: "Static",
      tag_names: "printing",
    });
    expect((await owner.get("/api/v1/search?q=printers")).data).toMatchObject([
      { type: "ip_range", id: early.id, name: "10.9.0.1-10.9.0.9", match: { field: "description" } },
    ]);
  });
});

describe("exclusive ranges", () => {
  test("do not overlap each other, in any subnet of the network", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const narrow = await newSubnet({ cidr: "10.2.3.0/24" });
    const dhcp = await range("10.2.3.100", "10.2.3.199", { purpose: "Dhcp" });
    const expectNothingWritten = watchWrites();
    for (const purpose of ["Dhcp", "Reserved"])
      for (const [from, to] of [
        ["10.2.3.100", "10.2.3.199"],
        ["10.2.3.1", "10.2.3.100"],
        ["10.2.3.199", "10.2.3.250"],
        ["10.2.3.150", "10.2.3.150"],
        ["10.2.2.0", "10.2.4.0"],
      ])
        expect(await post({ first: from, last: to, purpose })).toMatchObject(
          refusal(409, "entity_already_exists", {
            entity: "ip_range",
            field: "first",
            value: from,
            overlapping_id: dhcp.id,
          }),
        );
    expect((await post({ first: "10.2.3.1", last: "10.2.3.100", purpose: "Reserved" })).body.error).toBe(
      "The Reserved range 10.2.3.1-10.2.3.100 overlaps the Dhcp range 10.2.3.100-10.2.3.199; no two Dhcp or Reserved ranges share an address.",
    );
    expectNothingWritten();
    for (const purpose of ["Static", "Gateway", "Other"])
      expect(await range("10.2.3.150", "10.2.3.160", { purpose })).toMatchObject({ subnet_id: narrow.id });
    await range("10.2.3.99", "10.2.3.99", { purpose: "Reserved" });
    await range("10.2.3.200", "10.2.3.200", { purpose: "Reserved" });
    const otherNetwork = await newNetwork();
    await newSubnet({ cidr: "10.2.0.0/16", network_id: otherNetwork.id });
    await range("10.2.3.100", "10.2.3.199", { purpose: "Dhcp", network_id: otherNetwork.id });
  });

  test("cannot overlap by moving or changing purpose, and can be edited in place", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const dhcp = await range("10.2.3.100", "10.2.3.199", { purpose: "Dhcp" });
    const fixed = await range("10.2.3.150", "10.2.3.150", { purpose: "Static" });
    const reserved = await range("10.2.3.10", "10.2.3.10", { purpose: "Reserved" });
    const expectNothingWritten = watchWrites();
    await expectRefusal(put(fixed, { purpose: "Reserved" }), 409, "entity_already_exists", { overlapping_id: dhcp.id });
    await expectRefusal(put(reserved, { last: "10.2.3.100" }), 409, "entity_already_exists", {
      overlapping_id: dhcp.id,
    });
    await expectRefusal(put(dhcp, { first: "10.2.3.10" }), 409, "entity_already_exists", {
      overlapping_id: reserved.id,
    });
    expectNothingWritten();
    expect(await expectOk(put(dhcp, { first: "10.2.3.11", purpose: "Reserved" }))).toMatchObject({
      first: "10.2.3.11",
    });
    await expectOk(put(dhcp, { first: "10.2.3.151" }));
    expect(await expectOk(put(fixed, { purpose: "Reserved" }))).toMatchObject({ purpose: "Reserved" });
    await expectOk(owner.delete(`ip-ranges/${reserved.id}`));
    await range("10.2.3.1", "10.2.3.149", { purpose: "Dhcp" });
  });

  test("are created once if sent a hundred times at once for the same addresses", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        post({ first: `10.2.3.${n + 1}`, last: `10.2.3.${n + 101}`, purpose: n % 2 === 0 ? "Dhcp" : "Reserved" }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 99 }, () => 409)]);
  });

  test("match a naive model over random writes", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    await newSubnet({ cidr: "10.2.0.0/26" });
    await newSubnet({ cidr: "2001:db8::/64" });
    const random = seededRandom(17);
    const ranges = new Map<string, { from: number; to: number; isIpv6: boolean; purpose: string }>();
    for (let step = 0; step < 250; step += 1) {
      const from = random.integer(200);
      const to = from + random.integer(12);
      const isIpv6 = random.integer(4) === 0;
      const purpose = ["Dhcp", "Reserved", "Static", "Other"][random.integer(4)] as string;
      const text = (n: number) => (isIpv6 ? `2001:db8::${n.toString(16)}` : `10.2.0.${n}`);
      const ids = [...ranges.keys()];
      const id = random.integer(3) === 0 ? ids[random.integer(ids.length)] : undefined;
      if (id !== undefined && random.integer(3) === 0) {
        await expectOk(owner.delete(`ip-ranges/${id}`));
        ranges.delete(id);
        continue;
      }
      const body = { network_id: first.networkId, first: text(from), last: text(to), purpose };
      const isRefused =
        (purpose === "Dhcp" || purpose === "Reserved") &&
        [...ranges].some(
          ([rangeId, range]) =>
            rangeId !== id &&
            range.isIpv6 === isIpv6 &&
            (range.purpose === "Dhcp" || range.purpose === "Reserved") &&
            Math.max(range.from, from) <= Math.min(range.to, to),
        );
      const response =
        id === undefined ? await owner.post("ip-ranges", body) : await owner.put(`ip-ranges/${id}`, body);
      expect([step, body, response.status]).toEqual([step, body, isRefused ? 409 : 200]);
      if (!isRefused) ranges.set(response.data.id, { from, to, isIpv6, purpose });
    }
    expect(ranges.size).toBeGreaterThan(40);
  });
});

describe("a restore of an IP range", () => {
  test("restores its former state, unless other ranges occupy its addresses now", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const dhcp = await range("10.2.3.100", "10.2.3.199", { purpose: "Dhcp" });
    const at = instant();
    await expectOk(put(dhcp, { last: "10.2.3.120" }));
    const reserved = await range("10.2.3.150", "10.2.3.160", { purpose: "Reserved" });
    const expectNothingWritten = watchWrites();
    const refused = await owner.post(`ip-ranges/${dhcp.id}/restore`, { at });
    expect(refused).toMatchObject({ status: 409, body: { code: "entity_already_exists" } });
    expect(refused.body.error).toContain("the Reserved range 10.2.3.150-10.2.3.160 has addresses of");
    expectNothingWritten();
    await expectOk(put(reserved, { first: "10.2.3.200", last: "10.2.3.200" }));
    tick();
    expect((await owner.post(`ip-ranges/${dhcp.id}/restore`, { at })).status).toBe(200);
    expect((await owner.get(`ip-ranges/${dhcp.id}`)).data).toMatchObject({ last: "10.2.3.199" });
  });

  test("validates one transaction's changes to several ranges together, and keeps them inside their subnet", async () => {
    const subnet = await newSubnet({ cidr: "10.2.0.0/16" });
    const at = instant();
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.2.0.0/15" }));
    const outside = await range("10.3.0.1", "10.3.0.9", { purpose: "Dhcp" });
    expect(await owner.post(`subnets/${subnet.id}/restore`, { at })).toMatchObject({
      status: 409,
      body: { code: "entity_in_use", error: expect.stringContaining("1 IP range outside of 10.2.0.0/16") },
    });
    const inside = await range("10.2.0.1", "10.2.0.9", { purpose: "Dhcp" });
    tick();
    await expectOk(owner.post("ip-ranges/bulk-delete", [outside.id, inside.id]) as Promise<never>);
    const { sequence } = versionsOf(outside.id).at(-1) as { sequence: number };
    tick();
    const blocking = await range("10.2.0.9", "10.2.0.20", { purpose: "Reserved" });
    const expectNothingWritten = watchWrites();
    expect(await owner.post(`transactions/${sequence}/revert`, {})).toMatchObject(
      refusal(409, "entity_already_exists"),
    );
    expectNothingWritten();
    await expectOk(owner.delete(`ip-ranges/${blocking.id}`));
    tick();
    expect((await owner.post(`transactions/${sequence}/revert`, {})).status).toBe(200);
    expect((await owner.get("ip-ranges?order_by=first")).data.map(({ first }: JsonRecord) => first)).toEqual([
      "10.2.0.1",
      "10.3.0.1",
    ]);
    await expectOk(
      owner.post(
        "ip-ranges/bulk-delete",
        (await owner.get("ip-ranges")).data.map(({ id }: JsonRecord) => id),
      ) as never,
    );
    await expectOk(owner.put(`subnets/${subnet.id}`, { cidr: "10.2.0.0/16" }));
    expect(await owner.post(`ip-ranges/${outside.id}/restore`, { at: outside.valid_from })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining("is now 10.2.0.0/16, which does not contain it") },
    });
  });

  test("requires a Member, like writing it", async () => {
    await newSubnet({ cidr: "10.2.0.0/16" });
    const { client } = await newMember();
    const mine = await expectOk(post({ first: "10.2.0.1", last: "10.2.0.9", purpose: "Dhcp" }, client));
    tick();
    await expectOk(put(mine, { purpose: "Static" }, client));
    tick();
    expect((await client.post(`ip-ranges/${mine.id}/restore`, { at: mine.valid_from })).status).toBe(200);
    expect((await client.get(`ip-ranges/${mine.id}`)).data).toMatchObject({ purpose: "Dhcp" });
  });
});
