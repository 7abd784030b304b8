// Aggregates in the console: the interface page, the faceplate, the list of stations, locate and the map.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { serveVisited, type VisitedAppliance } from "../support/page/visited-appliance.ts";
import { Visitor } from "../support/page/visitor.ts";

let appliance: VisitedAppliance;
let visitor: Visitor;

beforeAll(async () => {
  appliance = await serveVisited();
  visitor = await Visitor.create(appliance.running.url);
});

afterAll(async () => {
  await visitor.close();
  await appliance.close();
});

const STATION = "00:1b:21:00:09:01";

/** A switch with the aggregate Po1 of Gi0/7 and Gi0/8, and the subinterface Po1.20. */
async function newSwitch(name: string, fdb_macs: string[]): Promise<JsonRecord> {
  const { client, networkId } = appliance;
  const [member, other, aggregate] = [1, 2, 3].map(() => Bun.randomUUIDv7()) as [string, string, string];
  const up = { admin_status: "Up", oper_status: "Up" };
  await expectOk(
    client.post("hosts", {
      network_id: networkId,
      name,
      interfaces: [
        { id: member, if_index: 7, if_descr: "Gi0/7", if_type: 6, lag_id: aggregate, ...up },
        { id: other, if_index: 8, if_descr: "Gi0/8", if_type: 6, lag_id: aggregate, ...up },
        { id: aggregate, if_index: 100, if_descr: "Po1", if_type: 161, fdb_macs, ...up },
        { if_index: 101, if_descr: "Po1.20", if_type: 135, parent_id: aggregate, ...up },
      ],
    }),
  );
  return { member, other, aggregate };
}

test("an aggregate is shown with its members, and each member with its aggregate, on every page", async () => {
  const { client } = appliance;
  const near = await newSwitch("acc-1", [STATION]);
  const far = await newSwitch("acc-2", []);
  const page = await visitor.signedIn("owner@acme.example", `/interfaces/${near.member}`);
  await page.locator("dl.facts > div").filter({ hasText: "Aggregate" }).getByText("Po1").waitFor();
  await page.goto(`${appliance.running.url}/interfaces/${near.aggregate}`);
  await page.locator("dl.facts > div").filter({ hasText: "Members" }).getByText("Gi0/8").waitFor();
  const { host_id } = (await client.get(`if-entries/${near.member}`)).data;
  await page.goto(`${appliance.running.url}/hosts/${host_id}?tab=ports`);
  await page.getByRole("row").filter({ hasText: "Gi0/7" }).filter({ hasText: "in Po1" }).first().waitFor();
  await page.goto(`${appliance.running.url}/stations`);
  await page.getByRole("row").filter({ hasText: STATION }).getByText("Gi0/7, Gi0/8").waitFor();
  await page.goto(`${appliance.running.url}/?q=${STATION}`);
  await page.locator("dl.locate-facts > div").filter({ hasText: "Port" }).getByText("Gi0/7, Gi0/8").first().waitFor();
  for (const [nearPort, farPort] of [
    ["member", "member"],
    ["other", "other"],
  ] as const) {
    const { id, host_id: host, if_index, if_descr } = (await client.get(`if-entries/${near[nearPort]}`)).data;
    const neighbor = { type: "IfEntry", id: far[farPort] };
    await expectOk(client.put(`if-entries/${id}`, { id, host_id: host, if_index, if_descr, neighbor }));
  }
  await page.goto(`${appliance.running.url}/map?chosen=${host_id}`);
  await page.getByRole("row").filter({ hasText: "acc-2" }).getByText("Gi0/7, Gi0/8").waitFor();
  expect(visitor.problems()).toEqual([]);
});
