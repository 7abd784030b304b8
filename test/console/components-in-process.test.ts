// Components in the console: on the page of their host, in their list, and on a page of their own, without any action
// that writes.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, type JsonRecord, newComponent } from "../support/appliance/factories.ts";
import { serveVisited, type VisitedAppliance } from "../support/page/visited-appliance.ts";
import { Visitor } from "../support/page/visitor.ts";

let appliance: VisitedAppliance;
let visitor: Visitor;
let stack: JsonRecord;

beforeAll(async () => {
  appliance = await serveVisited();
  const { client, networkId, testAppliance } = appliance;
  stack = await expectOk(client.post("hosts", { network_id: networkId, name: "stack-1" }));
  newComponent(testAppliance, stack, { class: "StackMember", position: 2, serial_number: "AC-200" });
  newComponent(testAppliance, stack, { class: "StackMember", position: 1, serial_number: "AC-100" });
  visitor = await Visitor.create(appliance.running.url);
});

afterAll(async () => {
  await visitor.close();
  await appliance.close();
});

test("the page of a stack shows its members by position", async () => {
  const page = await visitor.signedIn("owner@acme.example", `/hosts/${stack.id}`);
  const table = page.getByRole("region", { name: "Components" });
  await table.getByRole("row", { name: /^1 .*Acme AX-48 AC-100/ }).waitFor();
  expect((await table.getByRole("row").allTextContents()).slice(1).map((row) => row[0])).toEqual(["1", "2"]);
  expect(visitor.problems()).toEqual([]);
});

test("components are listed, filtered, and shown with their history, without any way to change them", async () => {
  const page = await visitor.signedIn("owner@acme.example", "/components");
  await page.getByText("2 components", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Filter" }).fill("position = 2");
  await page.keyboard.press("Enter");
  await page.getByText("1 component", { exact: true }).waitFor();
  await page.getByRole("link", { name: "AC-200" }).first().click();
  await page.getByRole("heading", { name: "AC-200", level: 1 }).waitFor();
  await page.getByRole("heading", { name: "History" }).waitFor();
  for (const name of ["Edit", "Delete", "Restore", "New component"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  expect(visitor.problems()).toEqual([]);
});
