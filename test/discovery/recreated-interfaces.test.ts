// Interfaces that are deleted and created again under the same name: one entry tracks them, even while the agent still
// lists the old rows.

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
/** ifIndex and name of each entry, without the uplink. */
const listed = async () => (await entries()).slice(1).map(({ if_index, if_descr }) => `${if_index} ${if_descr}`);
const idOf = async (ifIndex: number) => (await entries()).find(({ if_index }) => if_index === ifIndex)?.id;

describe("a re-created interface", () => {
  test("keeps its entry while the agent lists the old row as down, and once that row is gone", async () => {
    await read([3, "tun0"]);
    const id = await idOf(3);
    await read([3, "tun0", "Disabled"], [4, "tun0"]);
    expect([await listed(), await idOf(4)]).toEqual([["4 tun0"], id]);
    expect((await read([3, "tun0", "Disabled"], [4, "tun0"])).sequence).toBeNull();
    await read([5, "tun0"]);
    expect([await listed(), await idOf(5)]).toEqual([["5 tun0"], id]);
  });

  test("keeps its entry through many re-creations in succession, each with a stale row and another MAC address", async () => {
    const names = ["vpn0", "vpn1", "vpn2", "br-lan"];
    const rowsOf = (round: number, status?: AgentInterface["status"]): Row[] =>
      names.map((name, position) => [10 * round + position, name, status, `02:00:0c:00:0${round}:0${position}`]);
    await read(...rowsOf(1));
    const ids = (await entries()).map(({ id }) => id);
    for (let round = 2; round < 9; round += 1) await read(...rowsOf(round - 1, "Disabled"), ...rowsOf(round));
    expect((await entries()).map(({ id }) => id)).toEqual(ids);
    expect(await listed()).toEqual(names.map((name, position) => `${80 + position} ${name}`));
  });

  test("keeps its entry if the new row is down too", async () => {
    await read([3, "eth0.7"]);
    const id = await idOf(3);
    await read([3, "eth0.7", "Disabled"], [4, "eth0.7", "Down"]);
    expect([await listed(), await idOf(4)]).toEqual([["4 eth0.7"], id]);
  });

  test("keeps its entry if several stale rows are still listed", async () => {
    await read([3, "tun0"]);
    const id = await idOf(3);
    await read([3, "tun0", "Down"], [4, "tun0", "Disabled"], [5, "tun0"]);
    expect([await listed(), await idOf(5)]).toEqual([["5 tun0"], id]);
  });

  test("continues the most recently seen entry if earlier releases left several with the same name", async () => {
    await read([3, "tun0"]);
    // Two rows, both up: they differ only in ifIndex.
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

  test("stays deleted if a user deleted and ignored it", async () => {
    await read([3, "tun0"]);
    expect((await owner.delete(`if-entries/${await idOf(3)}?ignore=true`)).status).toBe(200);
    tick();
    await read([3, "tun0", "Disabled"], [4, "tun0"]);
    await read([5, "tun0"]);
    expect(await listed()).toEqual([]);
  });

  test("is counted as a row, and its stale row as a duplicate", async () => {
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

  test("are two entries from the first read on, even if one is down", async () => {
    await read([3, "port", "Disabled"], [4, "port"]);
    expect(await listed()).toEqual(["3 port", "4 port"]);
    expect((await read([3, "port", "Disabled"], [4, "port"])).sequence).toBeNull();
  });

  test("are not matched by name after a restart with new ifIndex values", async () => {
    await read([3, "port"], [4, "port"]);
    await read([13, "port"], [14, "port"]);
    expect(await listed()).toEqual(["13 port", "14 port"]);
  });
});

test("short-lived container interfaces leave no entries for rows that the agent only lists as down", async () => {
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
