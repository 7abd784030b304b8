// Nesting of subnets, compared with a naive model that checks every address. Utilization is tested in
// utilization.test.ts.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import {
  AddressScene,
  addressIndex,
  isReserved,
  type SubnetView,
  subnetViews,
} from "../support/model/address-scene.ts";

const { first, instant, newHost, newMember, newNetwork, newSubnet, owner, tick } = applianceForEach();

const treeOf = async (networkId: string, query = "", caller = owner) =>
  (await expectOk(caller.get(`subnets/tree?network_id=${networkId}${query}`))) as unknown as JsonRecord[];
const outline = (tree: readonly JsonRecord[]) =>
  tree.map(({ depth, cidr, child_count }) => `${"  ".repeat(depth)}${cidr} ${child_count}`);

const dhcp = (from: string, to: string) => ({ network_id: first.networkId, first: from, last: to, purpose: "Dhcp" });

describe("the subnet tree", () => {
  test("lists each parent before its children, in address order", async () => {
    for (const cidr of "2001:db8::/32 10.2.128.0/17 10.2.0.0/24 10.0.0.0/8 2001:db8:1::/48 10.2.0.0/25".split(" "))
      await newSubnet({ cidr });
    await newSubnet({ cidr: "192.0.2.0/24" });
    const at = instant();
    expect(outline(await treeOf(first.networkId))).toEqual([
      "10.0.0.0/8 2",
      "  10.2.0.0/24 1",
      "    10.2.0.0/25 0",
      "  10.2.128.0/17 0",
      "192.0.2.0/24 0",
      "2001:db8::/32 1",
      "  2001:db8:1::/48 0",
    ]);
    await newSubnet({ cidr: "10.2.0.0/16" });
    const current = outline(await treeOf(first.networkId));
    expect(current.slice(0, 5)).toEqual([
      "10.0.0.0/8 1",
      "  10.2.0.0/16 2",
      "    10.2.0.0/24 1",
      "      10.2.0.0/25 0",
      "    10.2.128.0/17 0",
    ]);
    expect(outline(await treeOf(first.networkId, `&at=${at}`))).toHaveLength(current.length - 1);
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
    await expectOk(owner.post("ip-ranges", dhcp("10.2.3.100", "10.2.3.139")));
    await newSubnet({ cidr: "10.2.3.128/25" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.200" }, { ip_address: "10.2.3.201" }] });
    await newSubnet({ cidr: "2001:db8::/32" });
    await newSubnet({ cidr: "2001:db8:1::/48" });
    const totals = (await treeOf(first.networkId)).map(({ cidr, utilization, total }) => [
      cidr,
      utilization.used,
      total,
    ]);
    expect(totals).toEqual([
      // 127 addresses directly in the /24 and 126 in its /25; the range takes 28 and 11 of them, and 1 and 2 are in
      // use.
      ["10.2.3.0/24", 2, { usable: 253, used: 3, free: 253 - 28 - 11 - 3, percent: 16.6 }],
      ["10.2.3.128/25", 2, { usable: 126, used: 2, free: 126 - 11 - 2, percent: 10.3 }],
      ["2001:db8::/32", "0", { usable: String(2n ** 96n), used: "0", free: String(2n ** 96n), percent: 0 }],
      ["2001:db8:1::/48", "0", { usable: String(2n ** 80n), used: "0", free: String(2n ** 80n), percent: 0 }],
    ]);
  });

  test("is limited to one network, within the caller's reach", async () => {
    const otherNetwork = await newNetwork();
    await newSubnet({ cidr: "10.2.0.0/16", network_id: otherNetwork.id });
    await newSubnet({ cidr: "10.2.3.0/24" });
    expect(outline(await treeOf(otherNetwork.id))).toEqual(["10.2.0.0/16 0"]);
    expect(outline(await treeOf(first.networkId))).toEqual(["10.2.3.0/24 0"]);
    const { client } = await newMember();
    expect(outline(await treeOf(first.networkId, "", client))).toEqual(["10.2.3.0/24 0"]);
    for (const query of ["", "&at=-1h"]) expect(await treeOf(otherNetwork.id, query, client)).toEqual([]);
    expect(await owner.get("subnets/tree")).toMatchObject(invalid({ path: "/network_id" }));
  });

  test("matches a naive model at random timestamps", async () => {
    const random = seededRandom(175);
    const networkIds = [first.networkId, (await newNetwork()).id];
    const scene = new AddressScene(owner, random, networkIds);
    const snapshots: Array<{ at: string; views: readonly SubnetView[] }> = [];
    for (let step = 0; step < 160; step += 1) {
      await scene.mutate();
      if (step > 20 && random.integer(6) === 0)
        snapshots.push({ at: instant(), views: subnetViews(await scene.list()) });
      tick();
    }
    let deepest = 0;
    for (const { at, views } of snapshots) {
      const { data } = await owner.get(`subnets?include=utilization&limit=0&at=${at}`);
      for (const networkId of networkIds) {
        const tree = await treeOf(networkId, `&at=${at}`);
        const expected = naive(views.filter((subnet) => subnet.networkId === networkId));
        const { length } = expected;
        expect([
          at,
          tree.map(({ id, parent_id, depth, child_count, total }) => ({ id, parent_id, depth, child_count, total })),
        ]).toEqual([at, expected]);
        const listed = data.filter(({ network_id }: JsonRecord) => network_id === networkId) as JsonRecord[];
        expect(new Map(tree.map(({ id, utilization }) => [id, utilization]))).toEqual(
          new Map(listed.map(({ id, utilization }) => [id, utilization])),
        );
        expect(listed).toHaveLength(length);
        deepest = Math.max(deepest, ...expected.map(({ depth }) => depth));
      }
    }
    expect(deepest).toBeGreaterThan(1);
    expect(snapshots.length).toBeGreaterThan(10);
  });
});

/** Tree by containment. Of two subnets with the same first address, the larger comes first. */
function naive(subnets: readonly SubnetView[]) {
  const enclosing = (subnet: SubnetView) =>
    subnets
      .filter((other) => other.nested.some(({ record }) => record.id === subnet.id))
      .sort((a, b) => a.indexes.length - b.indexes.length);
  return [...subnets]
    .sort(
      (a, b) =>
        Number(a.isIpv6) - Number(b.isIpv6) ||
        (a.indexes[0] as number) - (b.indexes[0] as number) ||
        b.indexes.length - a.indexes.length,
    )
    .map((subnet) => ({
      id: subnet.id,
      parent_id: enclosing(subnet)[0]?.id ?? null,
      depth: enclosing(subnet).length,
      child_count: subnets.filter((other) => enclosing(other)[0]?.id === subnet.id).length,
      total: totalOf(subnet, [subnet, ...subnets.filter((other) => enclosing(other).includes(subnet))]),
    }));
}

/** Totals of a subnet, each address counted in its smallest subnet. @param all the subnet and those within it */
function totalOf({ indexes: positions, isIpv6, addresses, ranges }: SubnetView, all: readonly SubnetView[]) {
  const usable = positions.filter((position) => {
    const [smallest] = all
      .filter((subnet) => subnet.indexes.includes(position))
      .sort((a, b) => a.indexes.length - b.indexes.length);
    // In IPv6 all addresses are usable, though allocations skip the first one.
    return isIpv6 || !isReserved(smallest as SubnetView, position);
  });
  const used = new Set(addresses.map(({ ip_address }) => addressIndex(ip_address)));
  const isClaimed = (position: number) =>
    ranges.some(
      (range) =>
        ["Dhcp", "Reserved"].includes(range.purpose) &&
        addressIndex(range.first) <= position &&
        position <= addressIndex(range.last),
    );
  const free = usable.filter((position) => !used.has(position) && !isClaimed(position));
  const count = (items: readonly unknown[]) => (isIpv6 ? String(items.length) : items.length);
  return {
    usable: count(usable),
    used: count(positions.filter((position) => used.has(position))),
    free: count(free),
    percent: Math.round(((usable.length - free.length) / usable.length) * 1_000) / 10,
  };
}
