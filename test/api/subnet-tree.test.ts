// Nesting of subnets, compared with plain code that checks every address. Utilization has a separate test.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { AddressScene, isNobodys, placeOf, type Spread, spreadOf } from "../support/model/address-scene.ts";

const { first, instant, newHost, newMember, newNetwork, newSubnet, owner, tick } = applianceForEach();

const treeOf = async (networkId: string, query = "", by = owner) =>
  (await made(by.get(`subnets/tree?network_id=${networkId}${query}`))) as unknown as Wire[];
const drawn = (tree: readonly Wire[]) =>
  tree.map(({ depth, cidr, child_count }) => `${"  ".repeat(depth)}${cidr} ${child_count}`);

const dhcp = (from: string, to: string) => ({ network_id: first.networkId, first: from, last: to, purpose: "Dhcp" });

describe("the subnet tree", () => {
  test("lists each parent before its children, in address order", async () => {
    for (const cidr of "2001:db8::/32 10.2.128.0/17 10.2.0.0/24 10.0.0.0/8 2001:db8:1::/48 10.2.0.0/25".split(" "))
      await newSubnet({ cidr });
    await newSubnet({ cidr: "192.0.2.0/24" });
    const at = instant();
    expect(drawn(await treeOf(first.networkId))).toEqual([
      "10.0.0.0/8 2",
      "  10.2.0.0/24 1",
      "    10.2.0.0/25 0",
      "  10.2.128.0/17 0",
      "192.0.2.0/24 0",
      "2001:db8::/32 1",
      "  2001:db8:1::/48 0",
    ]);
    await newSubnet({ cidr: "10.2.0.0/16" });
    const now = drawn(await treeOf(first.networkId));
    expect(now.slice(0, 5)).toEqual([
      "10.0.0.0/8 1",
      "  10.2.0.0/16 2",
      "    10.2.0.0/24 1",
      "      10.2.0.0/25 0",
      "    10.2.128.0/17 0",
    ]);
    expect(drawn(await treeOf(first.networkId, `&at=${at}`))).toHaveLength(now.length - 1);
  });

  test("describes each subnet with its utilization", async () => {
    const wide = await newSubnet({ cidr: "10.2.0.0/16", name: "Site", subnet_type: "Lan" });
    const room = await newSubnet({ cidr: "10.2.3.0/24", name: "Room" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }] });
    expect(await treeOf(first.networkId)).toEqual([
      {
        id: wide.id,
        cidr: "10.2.0.0/16",
        name: "Site",
        subnet_type: "Lan",
        vlan_id: null,
        tags: [],
        parent_id: null,
        depth: 0,
        child_count: 1,
        utilization: { usable: 65_534, used: 0, dhcp: 0, reserved: 0, in_subnets: 256, free: 65_278, percent: 0.4 },
        total: { usable: 65_532, used: 1, free: 65_531, percent: 0 },
      },
      {
        id: room.id,
        cidr: "10.2.3.0/24",
        name: "Room",
        subnet_type: "Unknown",
        vlan_id: null,
        tags: [],
        parent_id: wide.id,
        depth: 1,
        child_count: 0,
        utilization: { usable: 254, used: 1, dhcp: 0, reserved: 0, in_subnets: 0, free: 253, percent: 0.4 },
        total: { usable: 254, used: 1, free: 253, percent: 0.4 },
      },
    ]);
  });

  test("has totals that count each address once, in its own subnet", async () => {
    await newSubnet({ cidr: "10.2.3.0/24" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.3.200" }] });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.200" }] });
    await made(owner.post("ip-ranges", dhcp("10.2.3.100", "10.2.3.139")));
    await newSubnet({ cidr: "10.2.3.128/25" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.200" }, { ip_address: "10.2.3.201" }] });
    await newSubnet({ cidr: "2001:db8::/32" });
    await newSubnet({ cidr: "2001:db8:1::/48" });
    const shown = (await treeOf(first.networkId)).map(({ cidr, utilization, total }) => [
      cidr,
      utilization.used,
      total,
    ]);
    expect(shown).toEqual([
      // 127 of its own, and 126 in the half; 28 and 11 of them are in the range, one and two are in use.
      ["10.2.3.0/24", 2, { usable: 253, used: 3, free: 253 - 28 - 11 - 3, percent: 16.6 }],
      ["10.2.3.128/25", 2, { usable: 126, used: 2, free: 126 - 11 - 2, percent: 10.3 }],
      ["2001:db8::/32", "0", { usable: String(2n ** 96n), used: "0", free: String(2n ** 96n), percent: 0 }],
      ["2001:db8:1::/48", "0", { usable: String(2n ** 80n), used: "0", free: String(2n ** 80n), percent: 0 }],
    ]);
  });

  test("is of one network, within the caller's reach", async () => {
    const other = await newNetwork();
    await newSubnet({ cidr: "10.2.0.0/16", network_id: other.id });
    await newSubnet({ cidr: "10.2.3.0/24" });
    expect(drawn(await treeOf(other.id))).toEqual(["10.2.0.0/16 0"]);
    expect(drawn(await treeOf(first.networkId))).toEqual(["10.2.3.0/24 0"]);
    const { client } = await newMember();
    expect(drawn(await treeOf(first.networkId, "", client))).toEqual(["10.2.3.0/24 0"]);
    for (const query of ["", "&at=-1h"]) expect(await treeOf(other.id, query, client)).toEqual([]);
    expect(await owner.get("subnets/tree")).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/network_id" }] } },
    });
  });

  test("matches a naive model at random instants", async () => {
    const random = seededRandom(175);
    const networkIds = [first.networkId, (await newNetwork()).id];
    const scene = new AddressScene(owner, random, networkIds);
    const told: Array<{ at: string; spread: readonly Spread[] }> = [];
    for (let step = 0; step < 160; step += 1) {
      await scene.happen();
      if (step > 20 && random.integer(6) === 0) told.push({ at: instant(), spread: spreadOf(await scene.all()) });
      tick();
    }
    let deepest = 0;
    for (const { at, spread } of told) {
      const { data } = await owner.get(`subnets?include=utilization&limit=0&at=${at}`);
      for (const networkId of networkIds) {
        const tree = await treeOf(networkId, `&at=${at}`);
        const expected = naive(spread.filter((subnet) => subnet.networkId === networkId));
        const { length } = expected;
        expect([
          at,
          tree.map(({ id, parent_id, depth, child_count, total }) => ({ id, parent_id, depth, child_count, total })),
        ]).toEqual([at, expected]);
        const listed = data.filter(({ network_id }: Wire) => network_id === networkId) as Wire[];
        expect(new Map(tree.map(({ id, utilization }) => [id, utilization]))).toEqual(
          new Map(listed.map(({ id, utilization }) => [id, utilization])),
        );
        expect(listed).toHaveLength(length);
        deepest = Math.max(deepest, ...expected.map(({ depth }) => depth));
      }
    }
    expect(deepest).toBeGreaterThan(1);
    expect(told.length).toBeGreaterThan(10);
  });
});

/** By containment; the larger first where both start at the same address. */
function naive(subnets: readonly Spread[]) {
  const around = (subnet: Spread) =>
    subnets
      .filter((other) => other.within.some(({ record }) => record.id === subnet.id))
      .sort((a, b) => a.places.length - b.places.length);
  return [...subnets]
    .sort(
      (a, b) =>
        Number(a.isSix) - Number(b.isSix) ||
        (a.places[0] as number) - (b.places[0] as number) ||
        b.places.length - a.places.length,
    )
    .map((subnet) => ({
      id: subnet.id,
      parent_id: around(subnet)[0]?.id ?? null,
      depth: around(subnet).length,
      child_count: subnets.filter((other) => around(other)[0]?.id === subnet.id).length,
      total: totalOf(subnet, [subnet, ...subnets.filter((other) => around(other).includes(subnet))]),
    }));
}

/** Totals over its addresses, each in the smallest enclosing subnet. @param all it, and those within */
function totalOf({ places, isSix, addresses, ranges }: Spread, all: readonly Spread[]) {
  const usable = places.filter((place) => {
    const [smallest] = all
      .filter((subnet) => subnet.places.includes(place))
      .sort((a, b) => a.places.length - b.places.length);
    // In IPv6 all are usable, though allocations skip the first one.
    return isSix || !isNobodys(smallest as Spread, place);
  });
  const used = new Set(addresses.map(({ ip_address }) => placeOf(ip_address)));
  const isClaimed = (place: number) =>
    ranges.some(
      (range) =>
        ["Dhcp", "Reserved"].includes(range.purpose) && placeOf(range.first) <= place && place <= placeOf(range.last),
    );
  const free = usable.filter((place) => !used.has(place) && !isClaimed(place));
  const count = (of: readonly unknown[]) => (isSix ? String(of.length) : of.length);
  return {
    usable: count(usable),
    used: count(places.filter((place) => used.has(place))),
    free: count(free),
    percent: Math.round(((usable.length - free.length) / usable.length) * 1_000) / 10,
  };
}
