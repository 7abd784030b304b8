// Recorded devices, replayed by the test agent and scanned by the executable: the inventory in the API matches the
// recording, as counted from its lines by recorded-truth.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Cidr, cidrContains, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import type { Wire } from "../support/appliance/factories.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { ensureExecutable, Workplace } from "../support/executable/executable.ts";
import { fixtureNames, recordingNames, recordingText } from "../support/reconcile/recorded-reads.ts";
import {
  expectedAddresses,
  expectedArp,
  expectedCdp,
  expectedForwarding,
  expectedInterfaces,
  expectedLldp,
  expectedMembership,
  expectedRows,
  expectedVlans,
  inOrder,
  pairs,
  type Raw,
  rawOf,
  sorted,
} from "../support/reconcile/recorded-truth.ts";
import { startAgents } from "../support/snmp/agents.ts";
import { type SnmpView, viewOfSnmprec } from "../support/snmp/view.ts";

const recordings = recordingNames();

test.skipIf(recordings.length === 0)(
  "recordings of real devices are replayed as well (skipped without ../shared/snmp-recordings and snmp-recordings-lost)",
  () => expect(recordings.length).toBeGreaterThan(0),
);

/** A column each of ifXTable, dot1dBasePortTable and entPhysicalTable. */
const TAKEN = {
  ifName: "1.3.6.1.2.1.31.1.1.1.1",
  dot1dBasePortIfIndex: "1.3.6.1.2.1.17.1.4.1.2",
  entPhysicalClass: "1.3.6.1.2.1.47.1.1.1.1.5",
};
/** Lines of these tables. */
const TAKEN_AWAY = /^1\.3\.6\.1\.2\.1\.(31\.1\.1|17\.1\.4|47\.1\.1\.1)\..*\n/gm;

/** Inventory of a device after one scan of a separate network. */
interface Inventory {
  readonly scan: Wire;
  readonly findings: readonly Wire[];
  readonly interfaces: readonly Wire[];
  /** Of the device itself. */
  readonly addresses: readonly Wire[];
  /** Of all other hosts. */
  readonly heard: readonly Wire[];
  readonly vlans: readonly Wire[];
  readonly subnets: readonly Wire[];
  /** Writes of a second scan. */
  readonly rewritten: Wire;
  /** Writes and findings of a third scan, with three of the device's tables no longer served. */
  readonly withoutTables: Wire;
  readonly missed: readonly Wire[];
}

const replayed = [...fixtureNames(), ...recordings].map((name, index) => ({
  name,
  raw: rawOf(recordingText(name)),
  address: `127.16.${index}.1`,
}));
const inventories = new Map<string, Inventory>();
const open: Array<{ close(): unknown }> = [];

beforeAll(async () => {
  ensureExecutable();
  // Encoded beforehand: a late first answer would mark the agent as slow.
  const lesser = replayed.map(({ name }) => viewOfSnmprec(recordingText(name).replaceAll(TAKEN_AWAY, "")));
  const agents = await startAgents(
    replayed.map(({ name, address }) => ({ address, communities: { public: viewOfSnmprec(recordingText(name)) } })),
  );
  open.push(...agents);
  const place = new Workplace();
  open.push(place);
  const { key, organizationId } = await place.setUp();
  const running = await place.serve(["--snmp-port", String(agents[0]?.port)]);
  const discovery = new DiscoveryClient(running.withKey(key), organizationId);
  await Promise.all(
    replayed.map(async ({ name, address }, index) => {
      const { id } = await discovery.network(name);
      await discovery.credential(community("public"), [id]);
      const asked = { network_id: id, kind: "snmp", targets: [address] };
      const scan = await discovery.scanned(asked);
      const rewritten = (await discovery.scanned(asked)).outcome;
      const interfaces = await discovery.all(`/api/v1/if-entries?network_id=${id}&order_by=if_index`);
      const addresses = await discovery.all(`/api/v1/ip-addresses?network_id=${id}`);
      const isOwn = (each: Wire) => each.host_id === interfaces[0]?.host_id;
      agents[index]?.serve("public", lesser[index] as SnmpView);
      const third = await discovery.scanned(asked);
      inventories.set(name, {
        scan,
        rewritten,
        withoutTables: third.outcome,
        missed: (await discovery.findings(third)).filter(({ type }) => type === "Partial"),
        findings: await discovery.findings(scan),
        interfaces,
        addresses: addresses.filter(isOwn),
        heard: addresses.filter((each) => !isOwn(each)),
        vlans: await discovery.all(`/api/v1/vlans?network_id=${id}`),
        subnets: await discovery.all(`/api/v1/subnets?network_id=${id}`),
      });
    }),
  );
});
afterAll(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe.each(replayed)("the inventory of $name", ({ name, raw, address }) => {
  const of = (): Inventory => inventories.get(name) as Inventory;

  test("has every interface with its name, alias, number, type, speed, MAC address and statuses", () => {
    const FIELDS = "if_index if_descr if_name if_alias if_type speed_bps admin_status oper_status mac_address".split(
      " ",
    );
    const shown = (entries: readonly Wire[]) =>
      entries.map((entry) => Object.fromEntries(FIELDS.map((field) => [field, entry[field] ?? null])));
    expect(shown(of().interfaces)).toEqual(shown(expectedInterfaces(raw)));
  });

  test("has every address of the device, and no other except the probed one", () => {
    const told = of()
      .addresses.map((each) => each.ip_address as string)
      .filter((each) => each !== address);
    expect(sorted(told)).toEqual(sorted(Object.keys(expectedAddresses(raw))));
  });

  test("has every neighbor of the device in a known subnet", () => {
    const own = expectedAddresses(raw);
    // One device answers ARP for hosts on the other side.
    const cards = new Set(expectedInterfaces(raw).map((each) => each.mac_address));
    const others = expectedArp(raw)
      .map((entry) => entry.split(" "))
      .filter(([, , mac]) => !cards.has(mac));
    const heard = others.map(([, address]) => address as string);
    const placed = heard.filter(
      (each) =>
        !(each in own) &&
        of().subnets.some((subnet) => cidrContains(parseCidr(subnet.cidr) as Cidr, parseIp(each) as Ip)),
    );
    const known = new Set(of().heard.map((each) => each.ip_address));
    expect(placed.filter((each) => !known.has(each) && !isEverybodys(each))).toEqual([]);
  });

  test("has every VLAN, with member ports and native ports", () => {
    const named = [...expectedVlans(raw)].map(([number, name]): [number, string] => [number, name || `VLAN ${number}`]);
    expect(new Map(of().vlans.map((vlan) => [vlan.number, vlan.name]))).toEqual(
      new Map([...named, ...unnamed(raw, name)]),
    );
    const numbers = new Map(of().vlans.map((vlan) => [vlan.id, vlan.number]));
    const { members, natives } = expectedMembership(raw, name);
    expect(
      pairs(
        of().interfaces.flatMap((entry) =>
          (entry.vlan_ids ?? []).map((id: string) => [entry.if_index, numbers.get(id)]),
        ),
      ),
    ).toEqual(pairs(members));
    expect(
      pairs(
        of().interfaces.flatMap((entry) =>
          entry.native_vlan_id == null ? [] : [[entry.if_index, numbers.get(entry.native_vlan_id)]],
        ),
      ),
    ).toEqual(pairs(natives));
  });

  test("has every forwarding entry on its interface", () => {
    const told = of().interfaces.flatMap((entry) =>
      (entry.fdb_macs ?? []).map((mac: string) => `${entry.if_index} ${mac}`),
    );
    // A MAC address on a port is reported once, in however many VLANs.
    expect(sorted(told)).toEqual(
      sorted([...new Set(expectedForwarding(raw, name).placed.map((entry) => entry.split(" ").slice(0, 2).join(" ")))]),
    );
  });

  test("has every LLDP neighbor on its interface", () => {
    expect(
      inOrder(
        announced(of().interfaces, "Lldp", ["chassis_id", "port_id", "sys_name", "sys_desc", "port_desc", "mgmt_addr"]),
      ),
    ).toEqual(inOrder(expectedLldp(raw)) as never);
  });

  test("has every CDP neighbor on its interface", () => {
    expect(inOrder(announced(of().interfaces, "Cdp", ["device_id", "port_id", "platform", "address"]))).toEqual(
      inOrder(expectedCdp(raw)) as never,
    );
  });

  test("accounts for every row read: stored, or excluded for a reason", () => {
    const accounts = of().findings.filter((finding) => finding.type === "Read");
    const read = accounts.map(({ label, rows }): [string, number] => [
      (label as string).slice(label.lastIndexOf(": ") + 2),
      rows.read,
    ]);
    const expected = Object.entries(expectedRows(raw)).filter(([, count]) => count > 0);
    expect(new Map(read)).toEqual(new Map(expected));
    expect(read).toHaveLength(expected.length);
    for (const { rows } of accounts)
      expect(
        rows.kept + Object.values(rows.set_aside as Record<string, number>).reduce((sum, count) => sum + count, 0),
      ).toBe(rows.read);
    const arp = accounts.find(({ label }) => label.endsWith(": arp"))?.rows;
    expect(arp?.kept ?? 0).toBe(of().heard.length);
    const outside = accounts.flatMap(({ addresses = [] }) => addresses as string[]);
    expect(outside).toHaveLength(arp?.set_aside.outside ?? 0);
    const isKnown = (address: string): boolean =>
      of().subnets.some((subnet) => cidrContains(parseCidr(subnet.cidr) as Cidr, parseIp(address) as Ip));
    expect(outside.filter(isKnown)).toEqual([]);
  });

  test("equals the scan's report, and a second scan creates nothing", () => {
    const { scan, interfaces, vlans, rewritten } = of();
    expect(scan.outcome).toMatchObject({
      problem: null,
      hosts: { devices: 1 },
      records: {
        if_entries: { created: interfaces.length, deleted: 0 },
        ...(vlans.length === 0 ? {} : { vlans: { created: vlans.length } }),
      },
    });
    expect(rewritten).toMatchObject({ problem: null, hosts: { devices: 1 }, transactions: null, records: {} });
  });

  test("is unchanged when ifXTable, dot1dBasePortTable and entPhysicalTable are no longer served, which is reported", () => {
    const { withoutTables, missed, interfaces } = of();
    expect(withoutTables).toMatchObject({ problem: null, hosts: { devices: 1 }, transactions: null, records: {} });
    const host = interfaces[0]?.host_id;
    const oids = [...raw.keys()];
    for (const [column, oid] of Object.entries(TAKEN)) {
      if (!oids.some((each) => each.startsWith(`${oid}.`))) continue;
      const reason = expect.stringMatching(new RegExp(`the device no longer serves .*\\b${column}\\b`));
      expect(missed).toContainEqual(expect.objectContaining({ entity: "host", id: host, reason }));
    }
  });
});

/** Neighbors announced on interfaces: the first of the protocol, and further ones. */
function announced(interfaces: readonly Wire[], protocol: "Lldp" | "Cdp", fields: readonly string[]): object[] {
  const prefix = protocol.toLowerCase();
  return interfaces.flatMap((entry) => {
    const first = Object.fromEntries(
      fields.flatMap((field) => (entry[`${prefix}_${field}`] == null ? [] : [[field, entry[`${prefix}_${field}`]]])),
    );
    const more: Wire[] = (entry.more_neighbors ?? [])
      .filter((each: Wire) => each.protocol === protocol)
      .map(({ protocol: _, neighbor: __, ...rest }: Wire) => rest);
    return [...(Object.keys(first).length === 0 ? [] : [first]), ...more].map((each) => ({
      if_index: entry.if_index,
      ...each,
    }));
  });
}

/** Addresses that identify no host: of this machine, of a link. */
function isEverybodys(address: string): boolean {
  return /^(127\.|0\.|169\.254\.|fe80:|::1$)/.test(address);
}

/** VLANs with member ports but without a name on the device are named by number. */
function unnamed(raw: Raw, name: string): Array<[number, string]> {
  const named = expectedVlans(raw);
  const { members, natives } = expectedMembership(raw, name);
  const numbers = new Set([...members, ...natives].map(([, vlan]) => vlan as number));
  return [...numbers].filter((number) => !named.has(number)).map((number) => [number, `VLAN ${number}`]);
}
