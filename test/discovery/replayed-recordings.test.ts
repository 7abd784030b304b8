// Recorded devices, replayed by the test agent and scanned by the executable: the inventory in the API matches the
// recording, as computed from its lines by recorded-truth.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Cidr, cidrContains, type Ip, parseCidr, parseIp } from "../../src/base/ip.ts";
import { virtualRouterOf } from "../../src/base/mac.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { ensureExecutable, Sandbox } from "../support/executable/executable.ts";
import { fixtureNames, recordingNames, recordingText } from "../support/reconcile/recorded-reads.ts";
import {
  canonicalOrder,
  expectedAddresses,
  expectedArp,
  expectedCdp,
  expectedForwarding,
  expectedInterfaces,
  expectedLldp,
  expectedMembership,
  expectedRows,
  expectedVlans,
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

/** One column each of ifXTable, dot1dBasePortTable and entPhysicalTable. */
const REMOVED_COLUMNS = {
  ifName: "1.3.6.1.2.1.31.1.1.1.1",
  dot1dBasePortIfIndex: "1.3.6.1.2.1.17.1.4.1.2",
  entPhysicalClass: "1.3.6.1.2.1.47.1.1.1.1.5",
};
/** Recorded lines of these tables. */
const REMOVED_LINES = /^1\.3\.6\.1\.2\.1\.(31\.1\.1|17\.1\.4|47\.1\.1\.1)\..*\n/gm;

/** Inventory of a device after one scan of a separate network. */
interface Inventory {
  readonly scan: JsonRecord;
  readonly findings: readonly JsonRecord[];
  readonly interfaces: readonly JsonRecord[];
  /** Addresses of the device itself. */
  readonly addresses: readonly JsonRecord[];
  /** Addresses of all other hosts. */
  readonly learned: readonly JsonRecord[];
  readonly vlans: readonly JsonRecord[];
  readonly subnets: readonly JsonRecord[];
  /** Writes of a second scan. */
  readonly rewritten: JsonRecord;
  /** Writes and findings of a third scan, with three of the device's tables no longer served. */
  readonly withoutTables: JsonRecord;
  readonly missed: readonly JsonRecord[];
}

const replayed = [...fixtureNames(), ...recordings].map((name, index) => ({
  name,
  raw: rawOf(recordingText(name)),
  address: `127.16.${index}.1`,
}));
const inventories = new Map<string, Inventory>();
const closables: Array<{ close(): unknown }> = [];

beforeAll(async () => {
  ensureExecutable();
  // Encoded beforehand: a late first response would mark the agent as slow.
  const reducedViews = replayed.map(({ name }) => viewOfSnmprec(recordingText(name).replaceAll(REMOVED_LINES, "")));
  const agents = await startAgents(
    replayed.map(({ name, address }) => ({ address, communities: { public: viewOfSnmprec(recordingText(name)) } })),
  );
  closables.push(...agents);
  const sandbox = new Sandbox();
  closables.push(sandbox);
  const { key, organizationId } = await sandbox.setUp();
  const running = await sandbox.serve(["--snmp-port", String(agents[0]?.port)]);
  const discovery = new DiscoveryClient(running.withKey(key), organizationId);
  await Promise.all(
    replayed.map(async ({ name, address }, index) => {
      const { id } = await discovery.network(name);
      await discovery.credential(community("public"), [id]);
      const request = { network_id: id, kind: "snmp", targets: [address] };
      const scan = await discovery.runScan(request);
      const rewritten = (await discovery.runScan(request)).outcome;
      const interfaces = await discovery.list(`/api/v1/if-entries?network_id=${id}&order_by=if_index`);
      const addresses = await discovery.list(`/api/v1/ip-addresses?network_id=${id}`);
      const isOwn = ({ host_id }: JsonRecord) => host_id === interfaces[0]?.host_id;
      agents[index]?.serve("public", reducedViews[index] as SnmpView);
      const third = await discovery.runScan(request);
      inventories.set(name, {
        scan,
        rewritten,
        withoutTables: third.outcome,
        missed: (await discovery.findings(third)).filter(({ type }) => type === "Partial"),
        findings: await discovery.findings(scan),
        interfaces,
        addresses: addresses.filter(isOwn),
        learned: addresses.filter((record) => !isOwn(record)),
        vlans: await discovery.list(`/api/v1/vlans?network_id=${id}`),
        subnets: await discovery.list(`/api/v1/subnets?network_id=${id}`),
      });
    }),
  );
});
afterAll(async () => {
  for (const closable of closables.splice(0)) await closable.close();
});

describe.each(replayed)("the inventory of $name", ({ name, raw, address }) => {
  const inventory = (): Inventory => inventories.get(name) as Inventory;
  const isInSubnet = (text: string): boolean =>
    inventory().subnets.some((subnet) => cidrContains(parseCidr(subnet.cidr) as Cidr, parseIp(text) as Ip));

  test("has every interface with its name, alias, number, type, speed, MAC address and statuses", () => {
    const fields = "if_index if_descr if_name if_alias if_type speed_bps admin_status oper_status mac_address";
    const pickFields = (entries: readonly JsonRecord[]) =>
      entries.map((entry) => Object.fromEntries(fields.split(" ").map((field) => [field, entry[field] ?? null])));
    expect(pickFields(inventory().interfaces)).toEqual(pickFields(expectedInterfaces(raw)));
  });

  test("has every address of the device, and no other except the probed one", () => {
    const actual = inventory()
      .addresses.map(({ ip_address }) => ip_address as string)
      .filter((other) => other !== address);
    expect(sorted(actual)).toEqual(sorted(Object.keys(expectedAddresses(raw))));
  });

  test("has every neighbor of the device in a known subnet", () => {
    const own = expectedAddresses(raw);
    // One device responds to ARP for hosts on its other side. Virtual routers are not hosts.
    const ownMacs = new Set(expectedInterfaces(raw).map(({ mac_address }) => mac_address));
    const others = expectedArp(raw)
      .map((entry) => entry.split(" "))
      .filter(([, , mac]) => !ownMacs.has(mac) && virtualRouterOf(mac ?? "") === null);
    const learned = others.map(([, address]) => address as string);
    const inSubnets = learned.filter((other) => !(other in own) && isInSubnet(other));
    const known = new Set(inventory().learned.map(({ ip_address }) => ip_address));
    expect(inSubnets.filter((other) => !known.has(other) && !isShared(other))).toEqual([]);
  });

  test("has every VLAN, with member ports and native ports", () => {
    const named = [...expectedVlans(raw)].map(([number, name]): [number, string] => [number, name || `VLAN ${number}`]);
    expect(new Map(inventory().vlans.map((vlan) => [vlan.number, vlan.name]))).toEqual(
      new Map([...named, ...unnamed(raw, name)]),
    );
    const numbers = new Map(inventory().vlans.map((vlan) => [vlan.id, vlan.number]));
    const { members, natives } = expectedMembership(raw, name);
    const { interfaces } = inventory();
    const memberPorts = interfaces.flatMap((entry) =>
      (entry.vlan_ids ?? []).map((id: string) => [entry.if_index, numbers.get(id)]),
    );
    expect(pairs(memberPorts)).toEqual(pairs(members));
    const nativePorts = interfaces.filter((entry) => entry.native_vlan_id != null);
    expect(pairs(nativePorts.map((entry) => [entry.if_index, numbers.get(entry.native_vlan_id)]))).toEqual(
      pairs(natives),
    );
  });

  test("has every forwarding entry on its interface", () => {
    const actual = inventory().interfaces.flatMap((entry) =>
      (entry.fdb_macs ?? []).map((mac: string) => `${entry.if_index} ${mac}`),
    );
    // A MAC address on a port is reported once for all of its VLANs.
    expect(sorted(actual)).toEqual(
      sorted([
        ...new Set(expectedForwarding(raw, name).located.map((entry) => entry.split(" ").slice(0, 2).join(" "))),
      ]),
    );
  });

  for (const [protocol, fields, expected] of [
    ["Lldp", "chassis_id port_id sys_name sys_desc port_desc mgmt_addr capabilities", expectedLldp],
    ["Cdp", "device_id port_id platform address capabilities", expectedCdp],
  ] as const)
    test(`has every ${protocol.toUpperCase()} neighbor on its interface`, () => {
      const neighbors = announced(inventory().interfaces, protocol, fields.split(" "));
      expect(canonicalOrder(neighbors)).toEqual(canonicalOrder(expected(raw)) as never);
    });

  test("accounts for every row read: stored, or excluded for a reason", () => {
    const accounts = inventory().findings.filter((finding) => finding.type === "Read");
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
    expect(arp?.kept ?? 0).toBe(inventory().learned.length);
    const outside = accounts.flatMap(({ addresses = [] }) => addresses as string[]);
    expect(outside).toHaveLength(arp?.set_aside.outside ?? 0);
    expect(outside.filter(isInSubnet)).toEqual([]);
  });

  test("equals the scan's report, and a second scan creates nothing", () => {
    const { scan, interfaces, vlans, rewritten } = inventory();
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
    const { withoutTables, missed, interfaces } = inventory();
    expect(withoutTables).toMatchObject({ problem: null, hosts: { devices: 1 }, transactions: null, records: {} });
    const host = interfaces[0]?.host_id;
    const oids = [...raw.keys()];
    for (const [column, oid] of Object.entries(REMOVED_COLUMNS)) {
      if (!oids.some((other) => other.startsWith(`${oid}.`))) continue;
      const reason = expect.stringMatching(new RegExp(`the device no longer serves .*\\b${column}\\b`));
      expect(missed).toContainEqual(expect.objectContaining({ entity: "host", id: host, reason }));
    }
  });
});

/** Neighbors announced on interfaces by a protocol: the first, and any others. */
function announced(interfaces: readonly JsonRecord[], protocol: "Lldp" | "Cdp", fields: readonly string[]): object[] {
  const prefix = protocol.toLowerCase();
  return interfaces.flatMap((entry) => {
    const first = Object.fromEntries(
      fields.flatMap((field) => (entry[`${prefix}_${field}`] == null ? [] : [[field, entry[`${prefix}_${field}`]]])),
    );
    const more: JsonRecord[] = (entry.more_neighbors ?? [])
      .filter((neighbor: JsonRecord) => neighbor.protocol === protocol)
      .map(({ protocol: _, neighbor: __, ...rest }: JsonRecord) => rest);
    return [...(Object.keys(first).length === 0 ? [] : [first]), ...more].map((neighbor) => ({
      if_index: entry.if_index,
      ...neighbor,
    }));
  });
}

/** Whether an address identifies no host: loopback or link-local. */
function isShared(address: string): boolean {
  return /^(127\.|0\.|169\.254\.|fe80:|::1$)/.test(address);
}

/** VLANs with member ports but no name on the device, which are named by number. */
function unnamed(raw: Raw, name: string): Array<[number, string]> {
  const named = expectedVlans(raw);
  const { members, natives } = expectedMembership(raw, name);
  const numbers = new Set([...members, ...natives].map(([, vlan]) => vlan as number));
  return [...numbers].filter((number) => !named.has(number)).map((number) => [number, `VLAN ${number}`]);
}
