// Subnet utilization in lists and records on request, compared with a naive model that checks every address.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { AddressScene, addressIndex } from "../support/model/address-scene.ts";

const { first, instant, newHost, newMember, newNetwork, newSubnet, newViewer, owner, tick } = applianceForEach();

const INCLUDED = "include=utilization";
const utilizationOf = async (subnet: JsonRecord, query = "", caller = owner) =>
  (await expectOk(caller.get(`subnets/${subnet.id}?${INCLUDED}${query}`))).utilization;
const newRange = (from: string, to: string, purpose: string, fields: JsonRecord = {}) =>
  expectOk(owner.post("ip-ranges", { network_id: first.networkId, first: from, last: to, purpose, ...fields }));

describe("the utilization of a subnet", () => {
  test.each([
    ["10.2.3.0/24", 254],
    ["10.0.0.0/8", 16_777_214],
    ["0.0.0.0/0", 4_294_967_294],
    ["10.2.3.4/30", 2],
    ["10.2.3.4/31", 2],
    ["10.2.3.4/32", 1],
    ["2001:db8::/64", "18446744073709551616"],
    ["::/0", "340282366920938463463374607431768211456"],
    ["2001:db8::1/128", "1"],
  ])("counts for %s %p usable addresses, all of them free", async (cidr, usable) => {
    const none = typeof usable === "string" ? "0" : 0;
    expect(await utilizationOf(await newSubnet({ cidr }))).toEqual({
      usable,
      used: none,
      dhcp: none,
      reserved: none,
      in_subnets: none,
      free: usable,
      percent: 0,
    });
  });

  test("counts an address once, regardless of its hosts and of how many ways it is taken", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.3.150" }] });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.3.0" }] });
    await newRange("10.2.3.100", "10.2.3.199", "Dhcp");
    await newRange("10.2.3.200", "10.2.3.255", "Reserved");
    await newRange("10.2.3.1", "10.2.3.99", "Static");
    expect(await utilizationOf(subnet)).toEqual({
      usable: 254,
      used: 3,
      dhcp: 100,
      reserved: 55,
      in_subnets: 0,
      free: 98,
      percent: 61.4,
    });
  });

  test("counts child subnets separately, and older addresses in the subnet they were entered in", async () => {
    const wide = await newSubnet({ cidr: "10.2.0.0/16" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }, { ip_address: "10.2.4.5" }] });
    await newRange("10.2.3.250", "10.2.4.4", "Dhcp");
    const room = await newSubnet({ cidr: "10.2.3.0/24" });
    const at = instant();
    const half = await newSubnet({ cidr: "10.2.3.128/25" });
    expect(await utilizationOf(wide)).toEqual({
      usable: 65_534,
      used: 2,
      dhcp: 11,
      reserved: 0,
      in_subnets: 256,
      // Without the room, the five addresses of the range beyond it and the host's.
      free: 65_534 - 256 - 5 - 1,
      percent: 0.4,
    });
    expect(await utilizationOf(room)).toMatchObject({ usable: 254, used: 0, dhcp: 0, in_subnets: 127, free: 126 });
    expect(await utilizationOf(half)).toMatchObject({ usable: 126, used: 0, free: 126 - 5, percent: 4 });
    expect(await utilizationOf(room, `&at=${at}`)).toMatchObject({ in_subnets: 0, free: 254 - 1 - 5 });
  });

  test("is included in lists and single records on request only", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const utilization = await utilizationOf(subnet);
    expect((await owner.get(`subnets?${INCLUDED}`)).data).toEqual([{ ...subnet, utilization }]);
    expect((await owner.get(`subnets?${INCLUDED}&limit=0`)).data).toEqual([{ ...subnet, utilization }]);
    expect((await owner.get("subnets")).data).toEqual([subnet]);
    expect((await owner.get(`subnets/${subnet.id}`)).data).toEqual(subnet);
    for (const path of [
      `subnets/export/csv?${INCLUDED}`,
      `subnets/${subnet.id}/history?${INCLUDED}`,
      `vlans?${INCLUDED}`,
      "subnets?include=hosts",
      "subnets?include=",
      `subnets?${INCLUDED}&${INCLUDED}`,
      "subnets?include=Utilization",
    ])
      expect([path, (await owner.get(path)).status]).toEqual([path, 400]);
    expect((await owner.get("subnets?filter=utilization:*")).status).toBe(400);
    const page = await owner.get(`subnets?${INCLUDED}&limit=1&offset=1`);
    expect(page).toMatchObject({ data: [], body: { meta: { pagination: { total_count: 1, limit: 1, offset: 1 } } } });
    expect(await owner.get(`subnets/${first.networkId}?${INCLUDED}`)).toMatchObject({ status: 404 });
  });

  test("has an ETag that changes with it, and still identifies the version", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const path = `subnets/${subnet.id}?${INCLUDED}`;
    const before = (await owner.get(path)).headers.get("etag") as string;
    expect((await owner.get(path, { "if-none-match": before })).status).toBe(304);
    await newHost({ ip_addresses: [{ ip_address: "10.2.3.5" }] });
    const after = await owner.get(path, { "if-none-match": before });
    expect(after).toMatchObject({ status: 200, data: { valid_from: subnet.valid_from, utilization: { used: 1 } } });
    const change = { cidr: subnet.cidr, name: "Renamed" };
    expect((await owner.put(`subnets/${subnet.id}`, change, { "if-match": before })).status).toBe(200);
    expect((await owner.put(`subnets/${subnet.id}`, change, { "if-match": before })).status).toBe(412);
  });

  test("is limited to the caller's reach, now and in the past", async () => {
    const otherNetwork = await newNetwork();
    const fields = { cidr: "10.2.3.0/24" };
    const [near, far] = [await newSubnet(fields), await newSubnet({ ...fields, network_id: otherNetwork.id })];
    for (const network_id of [first.networkId, otherNetwork.id])
      await newHost({ network_id, ip_addresses: [{ ip_address: "10.2.3.5" }] });
    const at = instant();
    await newHost({ network_id: otherNetwork.id, ip_addresses: [{ ip_address: "10.2.3.6" }] });
    await newRange("10.2.3.7", "10.2.3.9", "Dhcp", { network_id: otherNetwork.id });
    for (const { client } of [await newMember(), await newViewer()])
      for (const query of ["", `&at=${at}`]) {
        const { data } = await client.get(`subnets?${INCLUDED}${query}`);
        expect(data.map(({ id, utilization: { used, dhcp } }: JsonRecord) => [id, used, dhcp])).toEqual([
          [near.id, 1, 0],
        ]);
        expect((await client.get(`subnets/${far.id}?${INCLUDED}${query}`)).status).toBe(404);
      }
    expect(await utilizationOf(far)).toMatchObject({ used: 2, dhcp: 3, free: 249 });
    expect(await utilizationOf(far, `&at=${at}`)).toMatchObject({ used: 1, dhcp: 0, free: 253 });
  });

  test("matches a naive model at random timestamps", async () => {
    const random = seededRandom(171);
    const otherNetwork = await newNetwork();
    const scene = new AddressScene(owner, random, [first.networkId, otherNetwork.id]);
    const snapshots: Array<{ at: string; expected: Record<string, unknown> }> = [];
    for (let step = 0; step < 160; step += 1) {
      await scene.mutate();
      const at = instant();
      tick();
      snapshots.push({ at, expected: Object.fromEntries(naive(await scene.list())) });
    }
    for (const { at, expected } of [
      ...snapshots.filter(() => random.integer(3) === 0),
      snapshots.at(-1) as (typeof snapshots)[0],
    ]) {
      const { data } = await owner.get(`subnets?${INCLUDED}&limit=0&at=${at}`);
      expect([at, Object.fromEntries(data.map(({ id, utilization }: JsonRecord) => [id, utilization]))]).toEqual([
        at,
        expected,
      ]);
    }
    const { data } = await owner.get(`subnets?${INCLUDED}&limit=1000`);
    expect(data.length).toBeGreaterThan(8);
    expect(Object.fromEntries(data.map(({ id, utilization }: JsonRecord) => [id, utilization]))).toEqual(
      snapshots.at(-1)?.expected as Record<string, unknown>,
    );
  });
});

interface SubnetAddresses {
  readonly id: string;
  readonly networkId: string;
  readonly isIpv6: boolean;
  readonly all: readonly number[];
}

function naive({ subnets, addresses, ranges }: Record<string, JsonRecord[]>): Array<[string, unknown]> {
  const isIpv6 = (text: string) => text.includes(":");
  const expand = (subnet: JsonRecord): SubnetAddresses => {
    const [base = "", length = ""] = (subnet.cidr as string).split("/");
    const size = 2 ** ((isIpv6(base) ? 128 : 32) - Number(length));
    const all = Array.from({ length: size }, (_, n) => addressIndex(base) + n);
    return { id: subnet.id, networkId: subnet.network_id, isIpv6: isIpv6(base), all };
  };
  const expanded = (subnets ?? []).map(expand);
  return expanded.map((subnet) => {
    const { id, networkId, all } = subnet;
    const isInScope = (record: JsonRecord, text: string) =>
      record.network_id === networkId && isIpv6(text) === subnet.isIpv6;
    const usable = subnet.isIpv6 || all.length <= 2 ? all : all.slice(1, -1);
    const nested = new Set(
      expanded
        .filter((item) => item.networkId === networkId && item.isIpv6 === subnet.isIpv6 && item.all.length < all.length)
        .filter((item) => all.includes(item.all[0] as number))
        .flatMap((item) => item.all),
    );
    const inRange = (range: JsonRecord, n: number) => addressIndex(range.first) <= n && n <= addressIndex(range.last);
    const claims = (ranges ?? []).filter(
      (range) => isInScope(range, range.first) && ["Dhcp", "Reserved"].includes(range.purpose),
    );
    const hosts = new Set(
      (addresses ?? [])
        .filter((address) => isInScope(address, address.ip_address))
        .map(({ ip_address }) => addressIndex(ip_address)),
    );
    const ownAddresses = new Set(
      (addresses ?? []).filter(({ subnet_id }) => subnet_id === id).map(({ ip_address }) => ip_address),
    );
    const free = usable.filter((n) => !nested.has(n) && !hosts.has(n) && !claims.some((range) => inRange(range, n)));
    const countRanged = (purpose: string) =>
      usable.filter((n) =>
        claims.some((range) => range.subnet_id === id && range.purpose === purpose && inRange(range, n)),
      ).length;
    const count = (n: number) => (subnet.isIpv6 ? String(n) : n);
    return [
      id,
      {
        usable: count(usable.length),
        used: count(ownAddresses.size),
        dhcp: count(countRanged("Dhcp")),
        reserved: count(countRanged("Reserved")),
        in_subnets: count(usable.filter((n) => nested.has(n)).length),
        free: count(free.length),
        percent: Math.round(((usable.length - free.length) / usable.length) * 1_000) / 10,
      },
    ];
  });
}
