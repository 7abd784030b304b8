// Free space of a subnet, compared with a reference implementation that checks every address; and allocations, which
// never assign an address twice, even to concurrent requests.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import {
  AddressScene,
  addressOf,
  cidrsOf,
  freeIndexes,
  isPrefixFree,
  type SubnetView,
  subnetViews,
} from "../support/model/address-scene.ts";

const appliance = applianceForEach();
const { first, instant, newHost, newMember, newNetwork, newSubnet, newTag, newViewer, newVlan, owner, tick } =
  appliance;

const free = async (subnet: JsonRecord, query = "", client = owner) =>
  expectOk(client.get(`subnets/${subnet.id}/free${query}`));
const allocate = async (subnet: JsonRecord, body: JsonRecord = {}, client = owner) =>
  expectOk(client.post(`subnets/${subnet.id}/allocate`, body));
const newRange = (from: string, to: string, purpose: string, fields: JsonRecord = {}) =>
  expectOk(owner.post("ip-ranges", { network_id: first.networkId, first: from, last: to, purpose, ...fields }));

describe("the free space of a subnet", () => {
  test.each([
    ["10.2.3.0/24", 254, "10.2.3.1"],
    ["0.0.0.0/0", 4_294_967_294, "0.0.0.1"],
    ["10.2.3.4/30", 2, "10.2.3.5"],
    ["10.2.3.4/31", 2, "10.2.3.4"],
    ["10.2.3.4/32", 1, "10.2.3.4"],
    ["2001:db8::/64", "18446744073709551615", "2001:db8::1"],
    ["2001:db8::/126", "3", "2001:db8::1"],
    ["2001:db8::/127", "2", "2001:db8::"],
    ["::ffff:10.0.0.0/127", "2", "::ffff:10.0.0.0"],
    ["2001:db8::1/128", "1", "2001:db8::1"],
  ])("%s initially has %p addresses, starting at %s", async (cidr, available, next) => {
    const subnet = await newSubnet({ cidr });
    expect(await free(subnet)).toEqual({ subnet_id: subnet.id, cidr, prefix_length: null, available, next: [next] });
  });

  test("excludes every host address, every range of any purpose and every child subnet", async () => {
    const wide = await newSubnet({ cidr: "10.2.0.0/16" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.1" }] });
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.3" }] });
    await newRange("10.2.3.4", "10.2.3.4", "Gateway");
    await newRange("10.2.3.5", "10.2.3.6", "Static");
    await newRange("10.2.3.8", "10.2.3.9", "Other", { subnet_id: wide.id });
    const at = instant();
    await newSubnet({ cidr: "10.2.3.128/25" });
    expect(await free(subnet, "?count=4")).toEqual({
      subnet_id: subnet.id,
      cidr: "10.2.3.0/24",
      prefix_length: null,
      available: 127 - 7,
      next: ["10.2.3.2", "10.2.3.7", "10.2.3.10", "10.2.3.11"],
    });
    expect(await free(subnet, `?at=${at}`)).toMatchObject({ available: 254 - 7, next: ["10.2.3.2"] });
    expect(await free(wide)).toMatchObject({ available: 65_534 - 256, next: ["10.2.0.1"] });
  });

  test("consists of all empty prefixes, listed by prefix length", async () => {
    const subnet = await newSubnet({ cidr: "10.2.0.0/22" });
    await newSubnet({ cidr: "10.2.0.0/26" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.1.7" }] });
    await newRange("10.2.2.255", "10.2.2.255", "Other");
    expect(await free(subnet, "?prefix_length=24&count=9")).toMatchObject({
      prefix_length: 24,
      available: 1,
      next: ["10.2.3.0/24"],
    });
    expect(await free(subnet, "?prefix_length=26&count=3")).toMatchObject({
      available: 16 - 3,
      next: ["10.2.0.64/26", "10.2.0.128/26", "10.2.0.192/26"],
    });
    const lone = await newSubnet({ cidr: "10.9.0.0/29" });
    // Single-address prefixes also skip the network and broadcast addresses.
    expect(await free(lone, "?prefix_length=32&count=9")).toMatchObject({ available: 6 });
    expect(await free(lone, "?prefix_length=31&count=9")).toMatchObject({ available: 4 });
    const ipv6Subnet = await newSubnet({ cidr: "2001:db8::/32" });
    expect(await free(ipv6Subnet, "?prefix_length=64")).toMatchObject({
      available: "4294967296",
      next: ["2001:db8::/64"],
    });
    expect(await free(ipv6Subnet, "?prefix_length=128")).toMatchObject({ next: ["2001:db8::1/128"] });
  });

  test("requires a prefix length that fits and a count within bounds", async () => {
    const [subnet, single] = [await newSubnet({ cidr: "10.2.3.0/24" }), await newSubnet({ cidr: "10.2.9.1/32" })];
    for (const [path, name] of [
      [`${subnet.id}/free?prefix_length=24`, "/prefix_length"],
      [`${subnet.id}/free?prefix_length=33`, "/prefix_length"],
      [`${subnet.id}/free?prefix_length=0`, "/prefix_length"],
      [`${single.id}/free?prefix_length=32`, "/prefix_length"],
      [`${subnet.id}/free?count=0`, "/count"],
      [`${subnet.id}/free?count=1001`, "/count"],
    ])
      expect(await owner.get(`subnets/${path}`)).toMatchObject(invalid({ path: name }));
    expect((await owner.get(`subnets/${first.networkId}/free`)).status).toBe(404);
  });

  test("equals a naive computation at random timestamps", async () => {
    const random = seededRandom(172);
    const scene = new AddressScene(owner, random, [first.networkId, (await newNetwork()).id]);
    const snapshots: Array<{ at: string; views: readonly SubnetView[] }> = [];
    for (let step = 0; step < 160; step += 1) {
      await scene.mutate();
      snapshots.push({ at: instant(), views: subnetViews(await scene.list()) });
      tick();
    }
    let compared = 0;
    for (const { at, views } of snapshots.filter((_, position) => position > 20 && random.integer(8) === 0))
      for (const subnet of views) {
        const freePositions = freeIndexes(subnet);
        const count = (n: number) => (subnet.isIpv6 ? String(n) : n);
        const result = await free({ id: subnet.id }, `?count=1000&at=${at}`);
        expect([at, result.available, result.next]).toEqual([
          at,
          count(freePositions.length),
          freePositions.map((position) => addressOf(position, subnet.isIpv6)),
        ]);
        const length = Number(subnet.cidr.split("/")[1]) + 1 + random.integer(3);
        if (length > (subnet.isIpv6 ? 128 : 32)) continue;
        const prefixes = cidrsOf(subnet, length).filter((cidr) => isPrefixFree(subnet, cidr));
        expect(await free({ id: subnet.id }, `?count=1000&prefix_length=${length}&at=${at}`)).toMatchObject({
          available: count(prefixes.length),
          next: prefixes.map(({ text }) => text),
        });
        compared += 1;
      }
    expect(compared).toBeGreaterThan(40);
  });
});

describe("an allocation", () => {
  test("assigns the lowest free address to a host, as if entered manually", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost({ ip_addresses: [{ ip_address: "10.2.3.1" }] });
    const body = { host_id: host.id, name: "eth1", mac_address: "00-1B-21-AA-BB-CC" };
    const { allocated, ip_addresses, ip_ranges, subnets } = await allocate(subnet, body);
    expect([allocated, ip_ranges, subnets]).toEqual([["10.2.3.2"], [], []]);
    expect(ip_addresses).toEqual([await expectOk(owner.get(`ip-addresses/${ip_addresses[0].id}`))]);
    expect(ip_addresses[0]).toMatchObject({
      host_id: host.id,
      subnet_id: subnet.id,
      ip_address: "10.2.3.2",
      name: "eth1",
      mac_address: "00:1b:21:aa:bb:cc",
      position: 1,
    });
    expect(
      (await expectOk(owner.get(`hosts/${host.id}`))).ip_addresses.map((address: JsonRecord) => address.ip_address),
    ).toEqual(["10.2.3.1", "10.2.3.2"]);
  });

  test("reserves the address as a one-address Reserved range if no host is given", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const tag = await newTag();
    const { allocated, ip_ranges } = await allocate(subnet, { description: "Printer", tags: [tag.id], count: 3 });
    expect(allocated).toEqual(["10.2.3.1", "10.2.3.2", "10.2.3.3"]);
    expect(ip_ranges).toEqual((await owner.get("ip-ranges?order_by=first")).data);
    expect(ip_ranges[1]).toMatchObject({
      subnet_id: subnet.id,
      first: "10.2.3.2",
      last: "10.2.3.2",
      purpose: "Reserved",
      description: "Printer",
      tags: [tag.id],
    });
    expect(await free(subnet)).toMatchObject({ available: 251, next: ["10.2.3.4"] });
  });

  test("creates subnets if given a prefix length", async () => {
    const subnet = await newSubnet({ cidr: "2001:db8::/48" });
    const vlan = await newVlan();
    const body = { prefix_length: 64, count: 2, name: "Floor", subnet_type: "Lan", vlan_id: vlan.id, description: "x" };
    const { allocated, subnets } = await allocate(subnet, body);
    expect(allocated).toEqual(["2001:db8::/64", "2001:db8:0:1::/64"]);
    expect(subnets).toMatchObject([
      { cidr: "2001:db8::/64", name: "Floor", subnet_type: "Lan", vlan_id: vlan.id, accepts_credentials: true },
      { cidr: "2001:db8:0:1::/64", network_id: subnet.network_id, description: "x" },
    ]);
    const { client } = await newMember();
    expect((await allocate(subnet, { prefix_length: 64 }, client)).subnets).toMatchObject([
      { cidr: "2001:db8:0:2::/64", name: "2001:db8:0:2::/64", accepts_credentials: false },
    ]);
    expect(
      await client.post(`subnets/${subnet.id}/allocate`, { prefix_length: 64, accepts_credentials: true }),
    ).toMatchObject({ status: 403, body: { code: "auth_permission_denied" } });
  });

  test("yields a hundred distinct results for a hundred concurrent requests of any kind", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const hosts = await Promise.all(Array.from({ length: 10 }, () => newHost()));
    const bodies = Array.from({ length: 100 }, (_, position) =>
      position % 3 === 0 ? { host_id: hosts[position % 10]?.id } : position % 3 === 1 ? {} : { prefix_length: 32 },
    );
    const results = await Promise.all(bodies.map((body) => allocate(subnet, body)));
    const addresses = results.flatMap(({ allocated }) => allocated as string[]).map((cidr) => cidr.replace("/32", ""));
    const lowest = Array.from({ length: 100 }, (_, position) => `10.2.3.${position + 1}`);
    expect(addresses.toSorted()).toEqual(lowest.toSorted());
    const counts = await Promise.all(
      ["ip-addresses", "ip-ranges", "subnets"].map(async (path) => (await owner.get(`${path}?limit=0`)).data.length),
    );
    expect(counts).toEqual([34, 33, 33 + 1]);
    expect(await free(subnet, "?count=1000")).toMatchObject({ available: 154 });
  });

  test("is all-or-nothing: refused if too few are free", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/29" });
    const host = await newHost();
    await allocate(subnet, { count: 2 });
    const before = await appliance.transactionCount();
    expect(await owner.post(`subnets/${subnet.id}/allocate`, { host_id: host.id, count: 5 })).toMatchObject({
      status: 409,
      body: {
        code: "entity_in_use",
        error: "The subnet 10.2.3.0/29 has 4 free addresses; 5 requested. Free some, or use another subnet.",
        params: { entity: "subnet", id: subnet.id, available: "4", count: 5 },
      },
    });
    expect(await appliance.transactionCount()).toBe(before);
    expect((await allocate(subnet, { host_id: host.id, count: 4 })).allocated).toHaveLength(4);
    expect((await owner.post(`subnets/${subnet.id}/allocate`, {})).status).toBe(409);
    expect((await owner.post(`subnets/${subnet.id}/allocate`, { prefix_length: 30 })).status).toBe(409);
  });

  test("returns the original result and keeps its reason when repeated with its key", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const headers = { "idempotency-key": "one", "x-change-reason": "CHG-17" };
    const [original, repeated] = [
      await owner.post(`subnets/${subnet.id}/allocate`, { count: 2 }, headers),
      await owner.post(`subnets/${subnet.id}/allocate`, { count: 2 }, headers),
    ];
    expect(repeated.headers.get("idempotency-replayed")).toBe("true");
    expect(repeated.data).toEqual(original.data);
    expect((await owner.get("transactions?reason=CHG-17")).data).toMatchObject([{ command: "subnet.allocate" }]);
    expect(await free(subnet)).toMatchObject({ available: 252 });
  });

  test("matches a naive computation after arbitrary creations and deletions", async () => {
    const random = seededRandom(173);
    const scene = new AddressScene(owner, random, [first.networkId, (await newNetwork()).id]);
    let allocatedCount = 0;
    for (let step = 0; step < 200; step += 1) {
      await scene.mutate();
      if (step % 2 === 0) continue;
      const views = subnetViews(await scene.list());
      const subnet = views[random.integer(views.length)];
      if (subnet === undefined) continue;
      const length = Number(subnet.cidr.split("/")[1]) + 1 + random.integer(3);
      const isPrefixRequest = random.integer(3) === 0 && length <= (subnet.isIpv6 ? 128 : 32);
      const expected = isPrefixRequest
        ? cidrsOf(subnet, length)
            .filter((cidr) => isPrefixFree(subnet, cidr))
            .map(({ text }) => text)
        : freeIndexes(subnet).map((position) => addressOf(position, subnet.isIpv6));
      const count = 1 + random.integer(5);
      const hosts = (await owner.get(`hosts?network_id=${subnet.networkId}`)).data;
      const host_id = random.integer(2) === 0 ? hosts[random.integer(hosts.length)]?.id : undefined;
      const body = {
        count,
        ...(isPrefixRequest ? { prefix_length: length } : host_id === undefined ? {} : { host_id }),
      };
      const { status, data } = await owner.post(`subnets/${subnet.id}/allocate`, body);
      expect([status, data?.allocated]).toEqual(
        expected.length < count ? [409, undefined] : [200, expected.slice(0, count)],
      );
      if (status === 200) allocatedCount += 1;
    }
    expect(allocatedCount).toBeGreaterThan(40);
  });

  test("is refused if fields do not apply, or ids belong to other networks", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const host = await newHost();
    const otherNetwork = await newNetwork();
    const foreignHost = await newHost({ network_id: otherNetwork.id });
    const before = appliance.transactionCount();
    for (const [body, ...paths] of [
      [{ name: "x" }, "/name"],
      [{ mac_address: "00:1b:21:aa:bb:cc" }, "/mac_address"],
      [{ host_id: host.id, description: "x", tags: [] }, "/description", "/tags"],
      [{ host_id: host.id, prefix_length: 26 }, "/host_id"],
      [{ vlan_id: null }, "/vlan_id"],
      [{ prefix_length: 24 }, "/prefix_length"],
      [{ count: 101 }, "/count"],
      [{ count: 0 }, "/count"],
      [{ purpose: "Dhcp" }, "/purpose"],
    ] as Array<[JsonRecord, ...string[]]>)
      expect([body, await owner.post(`subnets/${subnet.id}/allocate`, body)]).toMatchObject([
        body,
        { status: 400, body: { params: { issues: paths.map((path) => ({ path })) } } },
      ]);
    for (const host_id of [foreignHost.id, subnet.id])
      expect(await owner.post(`subnets/${subnet.id}/allocate`, { host_id })).toMatchObject(
        refusal(400, "entity_reference_invalid"),
      );
    const foreignSubnet = await newSubnet({ cidr: "10.2.3.0/24", network_id: otherNetwork.id });
    for (const { client } of [await newMember(), await newViewer()])
      expect((await client.get(`subnets/${foreignSubnet.id}/free`)).status).toBe(404);
    const { client } = await newMember();
    expect((await client.post(`subnets/${foreignSubnet.id}/allocate`, {})).status).toBe(404);
    expect((await (await newViewer()).client.post(`subnets/${subnet.id}/allocate`, {})).status).toBe(403);
    // Only the subnet created in the meantime.
    expect(appliance.transactionCount()).toBeGreaterThan(before);
    expect((await owner.get("ip-ranges")).data).toEqual([]);
  });
});
