// Oracle and figures on small worlds of three devices, with figures computed by hand.

import { expect, test } from "bun:test";
import { BCubed } from "./figures/b-cubed.ts";
import { Episodes } from "./figures/episodes.ts";
import { Presence } from "./figures/presence.ts";
import { Expectation } from "./oracle/expectation.ts";
import { SWEEP } from "./oracle/neighbor-reports.ts";
import { Oracle } from "./oracle/oracle.ts";
import { TABLES, type TableName } from "./site/machines.ts";
import type { Subject } from "./site/site.ts";
import type { Truth } from "./site/truth.ts";

const HOUR = 3_600_000;

/** True state of a device; by default read completely, with one interface and one address. */
function truth(device: string, fields: Partial<Truth> = {}): Truth {
  return {
    device,
    address: "10.0.0.1",
    complete: new Set(TABLES),
    short: null,
    isRestarted: false,
    interfaces: ["eth0"],
    staleRows: [],
    addresses: [{ ip: "10.0.0.1", mac: "00:1b:54:00:00:01" }],
    vlans: [],
    serials: [device],
    stations: [],
    neighbors: [],
    arpEntries: [],
    ...fields,
  };
}

const allBut = (...tables: TableName[]) => new Set(TABLES.filter((table) => !tables.includes(table)));
const ports = (count: number, from = 1) => Array.from({ length: count }, (_, index) => `Gi1/0/${from + index}`);
const newOracle = (changes: ReadonlyArray<readonly [Subject, number]> = []) => new Oracle(new Map(changes));

test("two machines in one host lower precision to the sum of their squared shares", () => {
  const figure = new BCubed();
  for (let count = 0; count < 3; count += 1) figure.add("a", "host 1");
  figure.add("b", "host 1");
  figure.add("c", "host 2");
  // 3 sightings at 3/4, one at 1/4, one at 1.
  expect(figure.precision).toBeCloseTo((3 * 0.75 + 0.25 + 1) / 5);
  expect(figure.recall).toBe(1);
});

test("a machine whose host changes its id lowers recall only", () => {
  const figure = new BCubed();
  for (const host of ["host 1", "host 1", "host 1", "host 2"]) figure.add("a", host);
  expect(figure.precision).toBe(1);
  expect(figure.recall).toBeCloseTo((9 + 1) / 16);
});

test("machines are whole if their sightings are all of one host, which has no others", () => {
  const figure = new BCubed();
  for (const [machine, host] of [
    ["a", "host 1"],
    ["b", "host 2"],
    ["b", "host 3"],
    ["c", "host 4"],
    ["d", "host 4"],
  ] as const)
    figure.add(machine, host);
  expect(figure.whole).toBe(1 / 4);
});

test("sightings without a host count as separate hosts", () => {
  const figure = new BCubed();
  figure.add("a", null);
  figure.add("a", null);
  expect([figure.precision, figure.recall]).toEqual([1, 0.5]);
});

test("a surplus, a duplicate and a missing record count once per scan, and a tolerated one never", () => {
  const figure = new Presence();
  const expectation = new Expectation();
  for (const key of ["a", "b", "c"]) expectation.add(key, "required");
  expectation.add("d", "tolerated");
  figure.add(["a", "b", "b", "d", "x"], expectation);
  expect([figure.precision, figure.recall]).toEqual([2 / 4, 2 / 3]);
  figure.add(["a", "b", "c"], expectation);
  expect([figure.precision, figure.recall]).toEqual([5 / 7, 5 / 6]);
});

test("an episode may open and close one scan late, but not two", () => {
  const figure = new Episodes();
  const late = new Episodes();
  const [conflict, none] = [new Set(["Address 10.0.0.1"]), new Set<string>()];
  for (const scan of [0, 1, 2, 3, 4, 5, 6]) {
    const required = scan >= 1 && scan < 4 ? conflict : none;
    figure.add(scan >= 2 && scan < 5 ? conflict : none, required, none);
    late.add(scan >= 3 && scan < 5 ? conflict : none, required, none);
  }
  expect([figure.precision, figure.recall]).toEqual([1, 1]);
  expect([late.precision, late.recall]).toEqual([0, 0]);
});

test("a conflict that is allowed to be listed counts neither for nor against", () => {
  const figure = new Episodes();
  figure.add(new Set(["Mac a"]), new Set(), new Set(["Mac a"]));
  figure.add(new Set(), new Set(), new Set());
  expect([figure.precision, figure.recall]).toEqual([1, 1]);
});

test("an interface is expected until a complete read lacks it", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { interfaces: ["eth0", "eth1"] }), 1);
  oracle.read(truth("a", { interfaces: ["eth0"], complete: allBut("interfaces") }), 2);
  expect([...oracle.expected().interface.required]).toEqual(["a/eth0", "a/eth1"]);
  oracle.read(truth("a", { interfaces: ["eth0"] }), 3);
  expect([...oracle.expected().interface.required]).toEqual(["a/eth0"]);
});

test("interfaces missing after a restart, or from less than half of a table, may stay until the next complete read", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { interfaces: ["eth0", "eth1"] }), 1);
  oracle.read(truth("a", { interfaces: ["eth0"], isRestarted: true }), 2);
  oracle.read(truth("b", { interfaces: ports(20) }), 1);
  oracle.read(truth("b", { interfaces: ports(9) }), 2);
  const { required, tolerated } = oracle.expected().interface;
  expect([...required]).toEqual(["a/eth0", ...ports(9).map((name) => `b/${name}`)]);
  expect([...tolerated]).toEqual(["a/eth1", ...ports(11, 10).map((name) => `b/${name}`)]);
  oracle.read(truth("a"), 3);
  oracle.read(truth("b", { interfaces: ports(9) }), 3);
  expect(oracle.expected().interface.tolerated.size).toBe(0);
});

test("an interface that is gone may stay while it is served, and stays for good with a note of a user", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { interfaces: ["eth0", "veth1", "veth2"] }), 1);
  oracle.noteAdded("a", "veth2");
  oracle.read(truth("a", { staleRows: ["veth1"] }), 2);
  const { required, tolerated } = oracle.expected().interface;
  expect([[...required], [...tolerated]]).toEqual([["a/eth0", "a/veth2"], ["a/veth1"]]);
  oracle.read(truth("a"), 3);
  expect([...oracle.expected().interface.required]).toEqual(["a/eth0", "a/veth2"]);
  expect(oracle.expected().interface.tolerated.size).toBe(0);
});

test("a VLAN is expected while the last complete read of any device has it", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { vlans: [10, 20] }), 1);
  oracle.read(truth("b", { vlans: [20] }), 1);
  oracle.read(truth("a", { vlans: [10] }), 2);
  expect([...oracle.expected().vlan.required].sort()).toEqual(["10", "20"]);
  oracle.read(truth("b", { vlans: [] }), 2);
  expect([...oracle.expected().vlan.required]).toEqual(["10"]);
});

test("new hardware may take over an address, and one with the same MAC address is expected at both devices", () => {
  const [card, other] = ["08:00:27:00:00:01", "00:1b:54:00:00:09"];
  const oracle = newOracle();
  oracle.read(truth("a", { addresses: [{ ip: "10.0.0.7", mac: card }] }), 1);
  oracle.read(truth("b", { addresses: [{ ip: "10.0.0.7", mac: card }] }), 2);
  expect([...oracle.expected().address.required]).toEqual(["a/10.0.0.7", "b/10.0.0.7"]);
  oracle.read(truth("c", { addresses: [{ ip: "10.0.0.7", mac: other }] }), 3);
  const { required, tolerated } = oracle.expected().address;
  expect([[...required], [...tolerated]]).toEqual([["c/10.0.0.7"], ["a/10.0.0.7", "b/10.0.0.7"]]);
});

/** A router's ARP table, as pairs of IP and MAC address. The MAC address also serves as the machine's id. */
function arpTable(reporter: string, ...pairs: ReadonlyArray<readonly [ip: string, mac: string]>) {
  const entries = pairs.map(([ip, mac]) => ({ ip, mac, machine: mac }));
  return { reporter, covers: () => true, entries };
}

const [PC, LAPTOP, RANDOM] = ["3c:52:82:00:00:01", "8c:16:45:00:00:02", "02:9a:1c:00:00:03"];

test("a machine that a sweep saw without a MAC address is revealed by the first report with one", () => {
  const oracle = newOracle();
  oracle.observeRemotely(arpTable("sweep", ["10.0.0.7", PC]), 1);
  expect(oracle.hasChanged([`device ${PC}`], 1)).toBe(false);
  oracle.observe(arpTable("r", ["10.0.0.7", PC]), 2);
  oracle.observe(arpTable("r", ["10.0.0.7", PC]), 3);
  expect([oracle.hasChanged([`device ${PC}`], 1), oracle.hasChanged([`device ${PC}`], 2)]).toEqual([true, false]);
});

test("an address may be in conflict while a device and a router report it with different MAC addresses", () => {
  const oracle = newOracle();
  oracle.observe(arpTable("r", ["10.0.0.1", PC]), 1);
  oracle.read(truth("a"), 2);
  expect([...oracle.conflicts().tolerated]).toEqual(["Address 10.0.0.1"]);
  oracle.observe(arpTable("r", ["10.0.0.1", "00:1b:54:00:00:01"]), 3);
  expect(oracle.conflicts().tolerated.size).toBe(0);
});

test("neighborReports expires after its time limit and two scans that checked it, with a grace of one more scan", () => {
  const oracle = newOracle();
  const scan = (now: number) => {
    oracle.observe(arpTable("r"), now);
    oracle.endScan(now);
    return [oracle.expected().host.required.size, oracle.expected().host.tolerated.size];
  };
  oracle.observe(arpTable("r", ["10.0.0.7", RANDOM]), 0);
  oracle.endScan(0);
  expect(scan(71 * HOUR)).toEqual([1, 0]);
  expect(scan(72 * HOUR)).toEqual([0, 1]);
  expect(scan(73 * HOUR)).toEqual([0, 1]);
  expect(scan(74 * HOUR)).toEqual([0, 0]);
  oracle.observe(arpTable("r", ["10.0.0.7", RANDOM]), 80 * HOUR);
  expect([...oracle.expected().host.required]).toEqual([`${RANDOM}#1`]);
});

test("neighborReports does not expire by tables that never had the address", () => {
  const oracle = newOracle();
  const sweep = { ...arpTable(SWEEP), covers: (ip: string) => ip === "10.0.0.7" };
  oracle.observe(arpTable(SWEEP, ["10.0.0.7", RANDOM]), 0);
  oracle.endScan(0);
  for (const [view, required] of [
    [arpTable("r"), 1],
    [arpTable("r"), 1],
    [sweep, 1],
    [{ ...sweep, covers: () => false }, 1],
    [sweep, 0],
  ] as const) {
    oracle.observe(view, 80 * HOUR);
    oracle.endScan(80 * HOUR);
    expect(oracle.expected().host.required.size).toBe(required);
  }
});

test("two MAC addresses that two routers see at one address are both expected, and are a conflict if the world says so", () => {
  const oracle = newOracle();
  oracle.observe(arpTable("r", ["10.0.0.7", PC]), 1);
  oracle.observe(arpTable("s", ["10.0.0.7", LAPTOP]), 2);
  oracle.observe(arpTable("r", ["10.0.0.7", PC]), 3);
  expect(oracle.expected().address.required.size).toBe(2);
  expect(oracle.conflicts().required.size).toBe(0);
  oracle.dispute("10.0.0.7");
  expect([...oracle.conflicts().required]).toEqual(["Address 10.0.0.7"]);
  oracle.observe(arpTable("s", ["10.0.0.7", PC]), 4);
  expect(oracle.conflicts().required.size).toBe(0);
});

test("a machine that has since changed its address does not keep one that a second machine has", () => {
  const oracle = newOracle();
  oracle.observe(arpTable("r", ["10.0.0.7", PC]), 1);
  oracle.observe(arpTable("r", ["10.0.0.8", PC]), 2);
  expect([...oracle.expected().address.required]).toEqual([`${PC}/10.0.0.7`, `${PC}/10.0.0.8`]);
  oracle.observe(arpTable("r", ["10.0.0.7", LAPTOP], ["10.0.0.8", PC]), 3);
  expect([...oracle.expected().address.required]).toEqual([`${LAPTOP}/10.0.0.7`, `${PC}/10.0.0.8`]);
  oracle.endScan(3);
  oracle.observe(arpTable("r", ["10.0.0.8", PC]), 4);
  expect([...oracle.expected().address.required]).toEqual([`${LAPTOP}/10.0.0.7`, `${PC}/10.0.0.8`]);
});

test("a table that is short in two reads in a row may have lost its other rows, until the next complete read", () => {
  const oracle = newOracle();
  const interfaces = ports(20);
  const short = truth("a", { interfaces, complete: allBut("interfaces"), short: "interfaces" });
  const expected = () => {
    const { required, tolerated } = oracle.expected().interface;
    return [required.size, tolerated.size];
  };
  oracle.read(truth("a", { interfaces }), 1);
  oracle.read(short, 2);
  expect(expected()).toEqual([20, 0]);
  oracle.read(short, 3);
  expect(expected()).toEqual([0, 20]);
  oracle.read(truth("a", { interfaces }), 4);
  expect(expected()).toEqual([20, 0]);
  expect(oracle.hasChanged(["device a"], 3)).toBe(true);
});

test("a device is due to become stale 30 days after its last read", () => {
  const oracle = newOracle();
  oracle.read(truth("a"), 0);
  expect(oracle.isLongUnread("a", 719 * HOUR)).toBe(false);
  expect(oracle.isLongUnread("a", 720 * HOUR)).toBe(true);
  expect(oracle.isLongUnread("b", 720 * HOUR)).toBe(false);
});

test("the next complete read justifies what a partial one left out, and only once", () => {
  const oracle = newOracle([["device a", 10]]);
  const isNew = (complete: Truth["complete"], now: number) => {
    oracle.read(truth("a", { complete }), now);
    return oracle.hasChanged(["device a"], now - 1);
  };
  expect(isNew(allBut("interfaces"), 20)).toBe(true);
  expect(isNew(allBut(), 30)).toBe(true);
  expect(isNew(allBut("interfaces"), 40)).toBe(false);
  expect(isNew(allBut(), 50)).toBe(false);
});

test("the next complete read justifies what changed before a partial one, but not what a complete one had", () => {
  const change = `mac ${PC}` as const;
  const isNew = (tables: readonly Truth["complete"][], changedAt: number) => {
    const oracle = newOracle([[change, changedAt]]);
    for (const [index, complete] of tables.entries()) oracle.read(truth("a", { complete }), 10 * (index + 1));
    return oracle.hasChanged(["device a", change], 10 * (tables.length - 1));
  };
  const [whole, partial] = [allBut(), allBut("forwarding")];
  expect(isNew([whole, partial, whole], 15)).toBe(true);
  expect(isNew([whole, partial, partial, whole], 15)).toBe(true);
  expect(isNew([whole, partial, whole], 5)).toBe(false);
  expect(isNew([whole, whole, whole], 15)).toBe(false);
  expect(isNew([whole, partial, whole, whole], 15)).toBe(false);
});

test("an old sweep does not keep a machine at an address that it has exchanged for another one", () => {
  const oracle = newOracle();
  oracle.observe(arpTable(SWEEP, ["10.0.0.7", PC], ["10.0.0.8", LAPTOP]), 1);
  oracle.observe(arpTable("r", ["10.0.0.8", PC], ["10.0.0.7", LAPTOP]), 2);
  oracle.endScan(2);
  oracle.observe(arpTable("r", ["10.0.0.8", PC], ["10.0.0.9", LAPTOP]), 3);
  const { required, tolerated } = oracle.expected().address;
  expect([...required].sort()).toEqual([`${PC}/10.0.0.8`, `${LAPTOP}/10.0.0.7`, `${LAPTOP}/10.0.0.9`]);
  expect(tolerated.size).toBe(0);
});

test("after a manual deletion the machine's next record is a different one, without the notes of the first", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { interfaces: ["eth0", "veth1"] }), 1);
  oracle.noteAdded("a", "veth1");
  oracle.deleted("a", 2);
  expect(oracle.expected().host.required.size).toBe(0);
  oracle.read(truth("a"), 2);
  const { host, interface: interfaces } = oracle.expected();
  expect([[...host.required], [...interfaces.required]]).toEqual([["a#1"], ["a#1/eth0"]]);
});

test("a station's location is the last edge port that had it in a complete forwarding table", () => {
  const oracle = newOracle();
  oracle.read(truth("a", { stations: [{ mac: PC, port: "Gi1/0/1" }] }), 1);
  oracle.read(truth("b", { stations: [{ mac: PC, port: "Gi1/0/9" }], complete: allBut("forwarding") }), 2);
  expect(oracle.places.of(PC)).toEqual({ device: "a", port: "Gi1/0/1" });
  oracle.read(truth("b", { stations: [{ mac: PC, port: "Gi1/0/9" }] }), 3);
  expect(oracle.places.of(PC)).toEqual({ device: "b", port: "Gi1/0/9" });
  expect([...oracle.conflicts().tolerated]).toEqual([`Mac ${PC}`]);
  oracle.read(truth("c", { stations: [{ mac: PC, port: "Gi1/0/2" }], complete: allBut("interfaces") }), 3);
  expect(oracle.places.of(PC)).toEqual({ device: "b", port: "Gi1/0/9" });
  expect(oracle.places.alternativeOf(PC)).toEqual({ device: "c", port: "Gi1/0/2" });
  oracle.read(truth("c"), 3);
  oracle.read(truth("a"), 4);
  expect(oracle.conflicts().tolerated.size).toBe(0);
});

test("a version is justified if its subject changed, or its far end was first read, since the previous version", () => {
  const oracle = newOracle([["mac 3c:52:82:00:00:01", 10]]);
  expect(oracle.hasChanged([`mac ${PC}`], 9)).toBe(true);
  expect(oracle.hasChanged([`mac ${PC}`], 10)).toBe(false);
  oracle.read(truth("a", { neighbors: [{ near: "eth0", device: "b", name: "eth1" }] }), 20);
  expect(oracle.hasChanged(["interface b eth1"], 15)).toBe(true);
  oracle.read(truth("a", { neighbors: [{ near: "eth0", device: "b", name: "eth1" }] }), 30);
  expect(oracle.hasChanged(["interface b eth1"], 25)).toBe(false);
});
