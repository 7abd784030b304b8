// Addresses of a subnet, listed individually or as ranges, compared with a naive model that checks every address.

import { describe, expect, test } from "bun:test";
import { ROW_EACH_MAX } from "../../src/reports/ipam/address-layout.ts";
import { BLOCKS_MAX } from "../../src/reports/ipam/subnet-blocks.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { AddressScene, addressIndex, addressOf } from "../support/model/address-scene.ts";

const { first, instant, newHost, newMember, newNetwork, newSubnet, newViewer, owner, tick } = applianceForEach();

const rowsOf = async (subnet: JsonRecord, query = "limit=0", caller = owner) =>
  (await expectOk(caller.get(`subnets/${subnet.id}/addresses?${query}`))) as unknown as JsonRecord[];
const newRange = (from: string, to: string, purpose: string, fields: JsonRecord = {}) =>
  expectOk(owner.post("ip-ranges", { network_id: first.networkId, first: from, last: to, purpose, ...fields }));
const blocksOf = async (subnet: JsonRecord, query = "") =>
  (await expectOk(owner.get(`subnets/${subnet.id}/blocks?${query}`))) as unknown as JsonRecord[];
/** A row in short form. */
const short = ({ first: from, last, count, state }: JsonRecord) => `${from}-${last} ${count} ${state}`;

/** Fingerprints and acceptances are tested in conflicts.test.ts. */
const OPEN_CONFLICT = { fingerprint: expect.any(String), acceptance: null };

describe("the addresses of a subnet", () => {
  test("are all listed in a small subnet, each with its state and hosts", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/28" });
    const mac_address = "00:1b:21:aa:bb:cc";
    const core = await newHost({ name: "core", ip_addresses: [{ ip_address: "10.2.3.2", name: "eth0", mac_address }] });
    const duplicate = await newHost({
      name: "twin",
      ip_addresses: [{ ip_address: "10.2.3.2" }, { ip_address: "10.2.3.9" }],
    });
    const gateway = await newRange("10.2.3.1", "10.2.3.1", "Gateway");
    const dhcp = await newRange("10.2.3.8", "10.2.3.10", "Dhcp", { description: "Phones" });
    const room = await newSubnet({ cidr: "10.2.3.12/30", name: "Room" });
    const empty = { ip_addresses: [], conflict: null, ip_range: null, subnet: null };
    const row = (address: string, state: string, fields: JsonRecord = {}) => ({
      ...empty,
      first: address,
      last: address,
      count: 1,
      state,
      ...fields,
    });
    const holder = (host: JsonRecord, position: number) => {
      const { id, name, mac_address: mac, last_seen_at } = host.ip_addresses[position];
      const vendor = mac === null ? null : "Intel Corporate";
      return {
        id,
        host: { id: host.id, name: host.name },
        name,
        mac_address: mac,
        vendor,
        last_seen_at,
        last_seen: null,
      };
    };
    const phones = { ip_range: { id: dhcp.id, purpose: "Dhcp", description: "Phones" } };
    expect(await rowsOf(subnet)).toEqual([
      row("10.2.3.0", "Network"),
      row("10.2.3.1", "Gateway", { ip_range: { id: gateway.id, purpose: "Gateway", description: null } }),
      row("10.2.3.2", "Used", { ip_addresses: [holder(core, 0), holder(duplicate, 0)], conflict: OPEN_CONFLICT }),
      ...[3, 4, 5, 6, 7].map((n) => row(`10.2.3.${n}`, "Free")),
      row("10.2.3.8", "Dhcp", phones),
      row("10.2.3.9", "Used", { ...phones, ip_addresses: [holder(duplicate, 1)] }),
      row("10.2.3.10", "Dhcp", phones),
      row("10.2.3.11", "Free"),
      {
        ...empty,
        first: "10.2.3.12",
        last: "10.2.3.15",
        count: 4,
        state: "Subnet",
        subnet: { id: room.id, cidr: "10.2.3.12/30", name: "Room" },
      },
    ]);
  });

  test("are merged into ranges in a large subnet, except those in use", async () => {
    const subnet = await newSubnet({ cidr: "10.2.0.0/16" });
    await newHost({ ip_addresses: [{ ip_address: "10.2.0.7" }, { ip_address: "10.2.9.9" }] });
    await newRange("10.2.1.0", "10.2.1.255", "Dhcp");
    await newRange("10.2.9.0", "10.2.9.255", "Static");
    await newSubnet({ cidr: "10.2.128.0/17" });
    expect((await rowsOf(subnet)).map(short)).toEqual([
      "10.2.0.0-10.2.0.0 1 Network",
      "10.2.0.1-10.2.0.6 6 Free",
      "10.2.0.7-10.2.0.7 1 Used",
      "10.2.0.8-10.2.0.255 248 Free",
      "10.2.1.0-10.2.1.255 256 Dhcp",
      "10.2.2.0-10.2.8.255 1792 Free",
      "10.2.9.0-10.2.9.8 9 Static",
      "10.2.9.9-10.2.9.9 1 Used",
      "10.2.9.10-10.2.9.255 246 Static",
      "10.2.10.0-10.2.127.255 30208 Free",
      "10.2.128.0-10.2.255.255 32768 Subnet",
    ]);
    const ipv6 = await newSubnet({ cidr: "2001:db8::/64" });
    await newHost({ ip_addresses: [{ ip_address: "2001:db8::ff" }] });
    expect((await rowsOf(ipv6)).map(short)).toEqual([
      "2001:db8::-2001:db8:: 1 Network",
      "2001:db8::1-2001:db8::fe 254 Free",
      "2001:db8::ff-2001:db8::ff 1 Used",
      "2001:db8::100-2001:db8::ffff:ffff:ffff:ffff 18446744073709551360 Free",
    ]);
    expect((await rowsOf(ipv6))[0]?.count).toBe("1");
    for (const [cidr, states] of [
      ["10.9.0.0/31", ["Free", "Free"]],
      ["10.9.0.2/32", ["Free"]],
      ["2001:db9::/127", ["Free", "Free"]],
      ["0.0.0.0/0", ["Network", "Free", "Subnet", "Free", "Subnet", "Subnet", "Free", "Broadcast"]],
    ] as const)
      expect((await rowsOf(await newSubnet({ cidr }))).map(({ state }) => state)).toEqual([...states]);
  });

  test("are paged", async () => {
    const subnet = await newSubnet({ cidr: "10.2.3.0/24" });
    const allRows = await rowsOf(subnet);
    expect(allRows).toHaveLength(256);
    const page = await owner.get(`subnets/${subnet.id}/addresses?limit=100&offset=200`);
    expect(page.data).toEqual(allRows.slice(200));
    expect(page.body.meta.pagination).toEqual({ total_count: 256, limit: 100, offset: 200, has_more: false });
    expect((await owner.get(`subnets/${subnet.id}/addresses`)).body.meta.pagination).toEqual({
      total_count: 256,
      limit: 50,
      offset: 0,
      has_more: true,
    });
    // Assembled in more than one step.
    const large = await newSubnet({ cidr: "10.4.0.0/20" });
    expect((await rowsOf(large)).map(short).at(-1)).toBe("10.4.15.255-10.4.15.255 1 Broadcast");
    expect(await rowsOf(large)).toHaveLength(ROW_EACH_MAX);
    expect(await rowsOf(await newSubnet({ cidr: "10.8.0.0/19" }))).toHaveLength(3);
  });

  test("are counted by block, for a requested prefix length and part of the subnet", async () => {
    const subnet = await newSubnet({ cidr: "10.2.0.0/16" });
    const room = await newSubnet({ cidr: "10.2.4.0/23", name: "Room" });
    await newHost({
      ip_addresses: [{ ip_address: "10.2.0.9" }, { ip_address: "10.2.1.255" }, { ip_address: "10.2.5.1" }],
    });
    await newRange("10.2.1.0", "10.2.2.127", "Dhcp");
    const blocks = await blocksOf(subnet);
    expect(blocks).toHaveLength(256);
    expect(blocks.slice(0, 5)).toEqual([
      { cidr: "10.2.0.0/24", counts: { Used: 1, Network: 1, Free: 254 }, subnet: null },
      { cidr: "10.2.1.0/24", counts: { Used: 1, Dhcp: 255 }, subnet: null },
      { cidr: "10.2.2.0/24", counts: { Dhcp: 128, Free: 128 }, subnet: null },
      { cidr: "10.2.3.0/24", counts: { Free: 256 }, subnet: null },
      { cidr: "10.2.4.0/24", counts: { Subnet: 256 }, subnet: { id: room.id, cidr: room.cidr, name: "Room" } },
    ]);
    expect((await blocksOf(subnet, "prefix_length=17")).map(({ cidr }) => cidr)).toEqual([
      "10.2.0.0/17",
      "10.2.128.0/17",
    ]);
    expect(await blocksOf(subnet, "within=10.2.4.0/22&prefix_length=22")).toEqual([
      { cidr: "10.2.4.0/22", counts: { Subnet: 512, Free: 512 }, subnet: null },
    ]);
    expect(await blocksOf(subnet, "prefix_length=28")).toHaveLength(BLOCKS_MAX);
    expect(await rowsOf(subnet, "limit=0&within=10.2.0.8/30")).toHaveLength(4);
    const ipv6 = await newSubnet({ cidr: "2001:db8::/64" });
    expect((await blocksOf(ipv6, "prefix_length=65"))[1]).toEqual({
      cidr: "2001:db8:0:0:8000::/65",
      counts: { Free: String(2n ** 63n) },
      subnet: null,
    });
    for (const [resource, query, path] of [
      ["blocks", "prefix_length=15", "/prefix_length"],
      ["blocks", "prefix_length=29", "/prefix_length"],
      ["blocks", "within=10.2.4.0/24&prefix_length=33", "/prefix_length"],
      ["blocks", "within=10.3.0.0/24", "/within"],
      ["blocks", "within=10.0.0.0/8", "/within"],
      ["addresses", "within=2001:db8::/64", "/within"],
      ["addresses", "within=10.2.4.1/24", "/within"],
    ]) {
      const response = await owner.get(`subnets/${subnet.id}/${resource}?${query}`);
      expect([query, response.status, response.body.params?.issues?.[0]?.path]).toEqual([query, 400, path]);
    }
  });

  test("are limited to networks the caller can access, now and in the past, with the last_seen of each address", async () => {
    const otherNetwork = await newNetwork();
    const far = await newSubnet({ cidr: "10.2.3.0/24", network_id: otherNetwork.id });
    const near = await newSubnet({ cidr: "10.2.3.0/30" });
    await newHost({ network_id: otherNetwork.id, ip_addresses: [{ ip_address: "10.2.3.1" }] });
    const old = await newHost({ name: "old", ip_addresses: [{ ip_address: "10.2.3.2" }] });
    const { id } = old;
    const at = instant();
    await expectOk(owner.put(`hosts/${id}`, { ...old, name: "new" }));
    const held = (rows: readonly JsonRecord[]) => rows.flatMap(({ ip_addresses }) => ip_addresses as JsonRecord[]);
    for (const { client } of [await newMember(), await newViewer()]) {
      expect(held(await rowsOf(near, "limit=0", client))).toMatchObject([
        { host: { id, name: "new" }, last_seen_at: old.ip_addresses[0].last_seen_at },
      ]);
      expect(held(await rowsOf(near, `limit=0&at=${at}`, client))).toMatchObject([{ host: { id, name: "old" } }]);
      for (const query of ["", `?at=${at}`])
        expect((await client.get(`subnets/${far.id}/addresses${query}`)).status).toBe(404);
    }
    expect((await owner.get(`subnets/${near.id}/addresses?at=2000-01-01T00:00:00Z`)).status).toBe(404);
  });

  test("match a naive model at random timestamps", async () => {
    const random = seededRandom(174);
    const networkIds = [first.networkId, (await newNetwork()).id];
    const scene = new AddressScene(owner, random, networkIds);
    const snapshots: Array<{ at: string; subnets: JsonRecord[]; expected: JsonRecord[][] }> = [];
    for (let step = 0; step < 160; step += 1) {
      // Large subnets that enclose all others.
      if (step % 25 === 0)
        for (const network_id of networkIds)
          for (const cidr of LARGE) await owner.post("subnets", { network_id, cidr });
      await scene.mutate();
      if (step > 20 && random.integer(8) === 0) {
        const all = await scene.list();
        const hosts = (await owner.get("hosts?limit=0")).data as JsonRecord[];
        const { subnets } = all;
        snapshots.push({ at: instant(), subnets, expected: subnets.map((subnet) => naive(subnet, { ...all, hosts })) });
      }
      tick();
    }
    let compared = 0;
    for (const { at, subnets, expected } of snapshots)
      for (const [position, subnet] of subnets.entries()) {
        compared += 1;
        expect([at, subnet.cidr, await rowsOf(subnet, `limit=0&at=${at}`)]).toEqual([
          at,
          subnet.cidr,
          expected[position] as JsonRecord[],
        ]);
      }
    expect(compared).toBeGreaterThan(80);
    // Parts and blocks of large subnets match their rows, address by address.
    let parts = 0;
    for (const { at, subnets, expected } of snapshots.slice(-3))
      for (const [position, subnet] of subnets.entries()) {
        if (!LARGE.includes(subnet.cidr)) continue;
        const allRows = (expected[position] as JsonRecord[]).flatMap(expandRow);
        const blocks = await blocksOf(subnet, `at=${at}`);
        expect(blocks).toHaveLength(256);
        for (const [index, { cidr, counts, subnet: enclosing }] of blocks.entries()) {
          const blockRows = allRows.slice(index * (allRows.length / 256), (index + 1) * (allRows.length / 256));
          expect([at, cidr, counts]).toEqual([at, cidr, countsOf(blockRows, cidr.includes(":"))]);
          const [id] = new Set(blockRows.map((row) => row.subnet?.id));
          expect(enclosing?.id).toBe(blockRows.every((row) => row.subnet?.id === id) ? id : undefined);
          if (blockRows.every(({ state }) => state === "Free") && index !== 7) continue;
          parts += 1;
          const rows = await rowsOf(subnet, `limit=0&at=${at}&within=${cidr}`);
          expect([at, cidr, rows.flatMap(expandRow)]).toEqual([at, cidr, blockRows]);
        }
      }
    expect(parts).toBeGreaterThan(20);
    const runs = snapshots
      .flatMap(({ expected }) => expected.flat())
      .filter(({ count, state }) => Number(count) > 1 && state !== "Subnet");
    expect(runs.length).toBeGreaterThan(40);
  });
});

/** Expands a row into its addresses. */
function expandRow(row: JsonRecord): JsonRecord[] {
  const from = addressIndex(row.first);
  const isIpv6 = row.first.includes(":");
  return Array.from({ length: addressIndex(row.last) - from + 1 }, (_, index) => {
    const address = addressOf(from + index, isIpv6);
    return { ...row, first: address, last: address, count: isIpv6 ? "1" : 1 };
  });
}

function countsOf(rows: readonly JsonRecord[], isIpv6: boolean): JsonRecord {
  const counts: Record<string, number> = {};
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
  return isIpv6 ? Object.fromEntries(Object.entries(counts).map(([state, count]) => [state, String(count)])) : counts;
}

const LARGE = ["10.0.0.0/16", "2001:db8::/112"];
const PURPOSES = ["Gateway", "Dhcp", "Reserved", "Static", "Other"];

type Inventory = Readonly<Record<"subnets" | "addresses" | "ranges" | "hosts", JsonRecord[]>>;

/** Individual addresses, with equal neighbors merged in large subnets. */
function naive(subnet: JsonRecord, { subnets, addresses, ranges, hosts }: Inventory): JsonRecord[] {
  const isIpv6 = subnet.cidr.includes(":");
  const isInScope = (record: JsonRecord, text: string) =>
    record.network_id === subnet.network_id && text.includes(":") === isIpv6;
  const spanOf = (cidr: string): [number, number] => {
    const [base = "", length = ""] = cidr.split("/");
    const from = addressIndex(base);
    return [from, from + 2 ** ((isIpv6 ? 128 : 32) - Number(length)) - 1];
  };
  const [from, to] = spanOf(subnet.cidr);
  const size = to - from + 1;
  const children = subnets
    .filter((other) => isInScope(other, other.cidr))
    .map((record) => ({ record, span: spanOf(record.cidr) }))
    .filter(({ span: [start, end] }) => start >= from && end <= to && end - start + 1 < size)
    .sort((a, b) => b.span[1] - b.span[0] - (a.span[1] - a.span[0]));
  const inRanges = ranges
    .filter((range) => isInScope(range, range.first))
    .map((record) => ({ record, start: addressIndex(record.first), end: addressIndex(record.last) }))
    .sort(
      (a, b) =>
        PURPOSES.indexOf(a.record.purpose) - PURPOSES.indexOf(b.record.purpose) ||
        a.end - a.start - (b.end - b.start) ||
        a.start - b.start,
    );
  const holders = new Map<number, JsonRecord[]>();
  for (const address of addresses.filter((address) => isInScope(address, address.ip_address))) {
    const { id, host_id, name, mac_address, last_seen_at } = address;
    const host = { id: host_id, name: hosts.find((candidate) => candidate.id === host_id)?.name };
    const position = addressIndex(address.ip_address);
    holders.set(position, [
      ...(holders.get(position) ?? []),
      { id, host, name, mac_address, vendor: null, last_seen_at, last_seen: null },
    ]);
  }
  const rows: Array<JsonRecord & { from: number; to: number }> = [];
  for (let position = from; position <= to; position += 1) {
    const child = children.find(({ span: [start, end] }) => start <= position && position <= end)?.record;
    const range =
      child === undefined ? inRanges.find(({ start, end }) => start <= position && position <= end)?.record : undefined;
    const held = child === undefined ? (holders.get(position) ?? []) : [];
    const edge = size <= 2 ? null : position === from ? "Network" : position === to && !isIpv6 ? "Broadcast" : null;
    const state =
      child !== undefined
        ? "Subnet"
        : range?.purpose === "Gateway"
          ? "Gateway"
          : held.length > 0
            ? "Used"
            : (edge ?? range?.purpose ?? "Free");
    const row = {
      state,
      ip_addresses: held,
      conflict: new Set(held.map(({ host }) => host.id)).size > 1 ? OPEN_CONFLICT : null,
      ip_range: range === undefined ? null : { id: range.id, purpose: range.purpose, description: range.description },
      subnet: child === undefined ? null : { id: child.id, cidr: child.cidr, name: child.name },
    };
    const previous = rows.at(-1);
    const isRun =
      previous !== undefined &&
      (size > ROW_EACH_MAX || state === "Subnet") &&
      previous.state === state &&
      previous.ip_range?.id === row.ip_range?.id &&
      previous.subnet?.id === row.subnet?.id &&
      held.length + previous.ip_addresses.length === 0;
    if (isRun) previous.to = position;
    else rows.push({ from: position, to: position, ...row });
  }
  return rows.map(({ from: start, to: end, ...row }) => ({
    first: addressOf(start, isIpv6),
    last: addressOf(end, isIpv6),
    count: isIpv6 ? String(end - start + 1) : end - start + 1,
    ...row,
  }));
}
