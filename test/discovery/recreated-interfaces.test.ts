// Interfaces that are deleted and created again under the same name: one entry tracks them, whatever the agent still
// lists.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";
import { type AgentInterface, type AgentTables, snmpd } from "../support/reconcile/snmpd.ts";

const appliance = applianceForEach();
const { owner, tick } = appliance;
const scan = new ScanWriter(appliance);
const { entries } = inventoryOf(appliance);

const UPLINK: AgentInterface = { index: 1, name: "eth0", phys: "00:1b:21:0c:00:01" };
type Row = readonly [index: number, name: string, status?: AgentInterface["status"], phys?: string];

const report = (rows: readonly Row[], more: Partial<AgentTables> = {}) =>
  deviceAt(
    "10.41.0.1",
    snmpd({
      name: "r-1",
      interfaces: [
        UPLINK,
        ...rows.map(([index, name, status = "Up", phys = ""]) => ({ index, name, status, phys, type: 53 })),
      ],
      addresses: { "10.41.0.1": 1 },
      ...more,
    }),
  );
const read = (...rows: Row[]) => scan.devices(report(rows));
/** Numbers and names of the entries, without the uplink, and the ids under which they began. */
const listed = async () => (await entries()).slice(1).map(({ if_index, if_descr }) => `${if_index} ${if_descr}`);
const idOf = async (number: number) => (await entries()).find(({ if_index }) => if_index === number)?.id;

describe("an interface that is created again", () => {
  test("keeps its entry while the agent lists the old one as down, and when it no longer does", async () => {
    await read([3, "tun0"]);
    const id = await idOf(3);
    await read([3, "tun0", "Disabled"], [4, "tun0"]);
    expect([await listed(), await idOf(4)]).toEqual([["4 tun0"], id]);
    expect((await read([3, "tun0", "Disabled"], [4, "tun0"])).sequence).toBeNull();
    await read([5, "tun0"]);
    expect([await listed(), await idOf(5)]).toEqual([["5 tun0"], id]);
  });

  test("keeps its entry through many of them in a row, each with a leftover and another MAC address", async () => {
    const names = ["vpn0", "vpn1", "vpn2", "br-lan"];
    const at = (round: number, status?: AgentInterface["status"]): Row[] =>
      names.map((name, position) => [10 * round + position, name, status, `02:00:0c:00:0${round}:0${position}`]);
    await read(...at(1));
    const ids = (await entries()).map(({ id }) => id);
    for (let round = 2; round < 9; round += 1) await read(...at(round - 1, "Disabled"), ...at(round));
    expect((await entries()).map(({ id }) => id)).toEqual(ids);
    expect(await listed()).toEqual(names.map((name, position) => `${80 + position} ${name}`));
  });

  test("keeps its entry if the link of the new one is down too", async () => {
    await read([3, "eth0.7"]);
    const id = await idOf(3);
    await read([3, "eth0.7", "Disabled"], [4, "eth0.7", "Down"]);
    expect([await listed(), await idOf(4)]).toEqual([["4 eth0.7"], id]);
  });

  test("keeps its entry if several former ones are still listed", async () => {
    await read([3, "tun0"]);
    const id = await idOf(3);
    await read([3, "tun0", "Down"], [4, "tun0", "Disabled"], [5, "tun0"]);
    expect([await listed(), await idOf(5)]).toEqual([["5 tun0"], id]);
  });

  test("continues the most recently seen entry, if earlier releases left several with its name", async () => {
    await read([3, "tun0"]);
    // Two rows at once, both up: only the numbers tell them apart.
    await read([3, "tun0"], [4, "tun0"]);
    await read([4, "tun0"]);
    const id = await idOf(4);
    await read([9, "tun0"]);
    expect([await listed(), await idOf(9)]).toEqual([["9 tun0"], id]);
  });

  test("keeps its entry on an agent without ifName", async () => {
    const rows: Row[][] = [
      [[3, "tun0"]],
      [
        [3, "tun0", "Disabled"],
        [4, "tun0"],
      ],
      [[5, "tun0"]],
    ];
    for (const each of rows) await scan.devices(report(each, { hasNames: false }));
    expect(await listed()).toEqual(["5 tun0"]);
  });

  test("stays deleted if a person deleted it", async () => {
    await read([3, "tun0"]);
    expect((await owner.delete(`if-entries/${await idOf(3)}?ignore=true`)).status).toBe(200);
    tick();
    await read([3, "tun0", "Disabled"], [4, "tun0"]);
    await read([5, "tun0"]);
    expect(await listed()).toEqual([]);
  });

  test("is counted as a row, and its leftover as a duplicate", async () => {
    await read([3, "tun0"]);
    const { result } = await read([3, "tun0", "Disabled"], [4, "tun0"]);
    const interfaces = result.findings.find(({ label }) => label === "r-1: interfaces");
    expect(interfaces?.rows).toEqual({ read: 3, kept: 2, set_aside: { duplicate: 1 } });
  });
});

describe("two interfaces with one name", () => {
  test("stay two entries while both are up, and when one goes down", async () => {
    await read([3, "port"], [4, "port"]);
    const ids = [await idOf(3), await idOf(4)];
    await read([3, "port", "Down"], [4, "port"]);
    await read([3, "port"], [4, "port", "Disabled"]);
    await read([3, "port"], [4, "port"]);
    expect([await idOf(3), await idOf(4)]).toEqual(ids);
    expect(await listed()).toEqual(["3 port", "4 port"]);
  });

  test("are two entries from the first read on, although one is down", async () => {
    await read([3, "port", "Disabled"], [4, "port"]);
    expect(await listed()).toEqual(["3 port", "4 port"]);
    expect((await read([3, "port", "Disabled"], [4, "port"])).sequence).toBeNull();
  });

  test("are not matched by name after a restart with other numbers", async () => {
    await read([3, "port"], [4, "port"]);
    await read([13, "port"], [14, "port"]);
    expect(await listed()).toEqual(["13 port", "14 port"]);
  });
});

test("interfaces of containers come and go without entries for what is only listed as deleted", async () => {
  const names = (round: number) => Array.from({ length: 6 }, (_, position) => `veth${round}${position}`);
  const rows = (round: number, status?: AgentInterface["status"]): Row[] => [
    ...names(round).map((name, position): Row => [20 * round + position, name, status]),
    [20 * round + 10, "docker0", status],
  ];
  for (let round = 1; round < 4; round += 1)
    await read(...(round > 1 ? rows(round - 1, "Disabled") : []), ...rows(round));
  const listedNames = (await entries()).map(({ if_descr }) => if_descr);
  expect(listedNames.filter((name) => name === "docker0")).toEqual(["docker0"]);
  expect(new Set(listedNames).size).toBe(listedNames.length);
});
