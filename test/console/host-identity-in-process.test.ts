// Identity of a host on its page: the decision, its signs with their weights, and the next best host.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { serveVisited, type VisitedAppliance } from "../support/page/visited-appliance.ts";
import { Visitor } from "../support/page/visitor.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { numbered } from "../support/reconcile/sightings.ts";

let appliance: VisitedAppliance;
let visitor: Visitor;
let hosts: JsonRecord[];

beforeAll(async () => {
  appliance = await serveVisited();
  const scan = new ScanWriter(appliance.testAppliance);
  const first = numbered(2, { sys_name: "vm-2", sys_object_id: "1.3.6.1.4.1.8072.3.2.10" });
  const interfaces = first.device.interfaces ?? [];
  await scan.devices(first);
  await scan.devices(numbered(3, { ...first.device, sys_name: "vm-3", interfaces, addresses: [] }));
  hosts = (await expectOk(appliance.client.get("hosts?order_by=name"))) as JsonRecord[];
  visitor = await Visitor.create(appliance.running.url);
});

afterAll(async () => {
  await visitor.close();
  await appliance.close();
});

test("the page of a host shows why a device is this host, and which one it would be otherwise", async () => {
  const [first, second] = hosts as [JsonRecord, JsonRecord];
  expect([first.name, second.name]).toEqual(["vm-2", "vm-3"]);
  const page = await visitor.signedIn("owner@acme.example", `/hosts/${second.id}`);
  await page.getByText(/Undecided, so a host of its own: vm-2 has the same MAC address/).waitFor();
  await page.getByRole("row", { name: /^MAC addresses 13 00:1b:21/ }).waitFor();
  await page.getByRole("row", { name: /^System name -4\.3 vm-3 instead of vm-2/ }).waitFor();
  await page.getByRole("link", { name: "vm-2" }).first().click();
  await page.getByText(/A new host: it shared no sign with another one/).waitFor();
  expect(visitor.problems()).toEqual([]);
});
