// A switch that another one replaces under its name and address: what the former one learned is no longer there.

import { beforeEach, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { readSwitch } from "../support/reconcile/read-switch.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { newSubnet, owner, tick } = appliance;
const scan = new ScanWriter(appliance);

beforeEach(() => newSubnet({ cidr: "10.0.0.0/24" }));

const [PC, DESK] = ["00:1b:21:00:09:01", "00:1b:21:00:09:02"] as const;
const [FORMER, SUCCESSOR] = ["00:1b:21:0a:00:10", "00:1b:21:0b:00:10"] as const;

async function read(mac: string, macs: Readonly<Record<number, string>>): Promise<void> {
  const ports = Object.fromEntries(Object.entries(macs).map(([port, learned]) => [port, { macs: [learned] }]));
  await scan.devices(deviceAt("10.0.0.1", readSwitch({ name: "acc-1", address: "10.0.0.1", mac, ports })));
  tick();
}

const list = async (path: string): Promise<JsonRecord[]> => (await owner.get(path)).data;
const places = async (mac: string) =>
  (await list("stations?limit=0")).filter((row) => row.mac_address === mac).map(({ port }) => port.name);
const portOf = async (mac: string, at = "") =>
  (await owner.get(`locate?mac=${mac}${at}`)).data.candidates[0]?.port?.name ?? null;

test("stations are at the successor now, and at the former one before", async () => {
  await read(FORMER, { 3: PC, 4: DESK });
  const before = appliance.clock.text();
  await read(SUCCESSOR, { 5: PC });
  expect(await list("hosts?limit=0")).toHaveLength(2);
  expect([await places(PC), await places(DESK)]).toEqual([["Gi0/5"], []]);
  expect(await list("conflicts?type=Mac")).toEqual([]);
  expect([await portOf(PC), await portOf(DESK)]).toEqual(["Gi0/5", null]);
  expect([await portOf(PC, `&at=${before}`), await portOf(DESK, `&at=${before}`)]).toEqual(["Gi0/3", "Gi0/4"]);
});

test("the former one regains its stations when it returns", async () => {
  await read(FORMER, { 3: PC });
  await read(SUCCESSOR, { 5: PC });
  await read(FORMER, { 3: PC });
  expect(await places(PC)).toEqual(["Gi0/3"]);
});

test("a list that a user entered is kept", async () => {
  await read(FORMER, { 3: PC });
  const [entry = {}] = (await list("if-entries?limit=0")).filter(({ if_name }) => if_name === "Gi0/4");
  const { id, if_index, if_descr } = entry;
  await expectOk(owner.put(`if-entries/${id}`, { id, if_index, if_descr, fdb_macs: [DESK] }));
  await read(SUCCESSOR, { 5: PC });
  expect([await places(PC), await places(DESK)]).toEqual([["Gi0/5"], ["Gi0/4"]]);
});
