// Console lists in the test process: filters by clicks and by text, exports, keyboard navigation.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { addListedHosts } from "../support/appliance/listed-hosts.ts";
import { OWNER, serveForAll, visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("list pages", () => {
  const { appliance, visitor, page } = visitForAll(({ client, networkId }) => addListedHosts(client, networkId));
  beforeAll(() => page.close());

  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("a filter is typed with completions, is part of the URL, and applies to the CSV", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("combobox", { name: "Filter" }).fill("manu");
    await page.getByRole("option", { name: "manufacturer" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type('= "Cisco" AND name : "host-100"');
    await page.keyboard.press("Enter");
    await page.getByText("5 hosts", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("filter")).toBe('manufacturer = "Cisco" AND name : "host-100"');
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const lines = await (await page.request.get(appliance.url + csv)).text();
    expect(lines.trim().split("\r\n")).toHaveLength(6);
    await page.goBack();
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
  });

  test("a filter is built by clicks, and an invalid one shows the position", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("columnheader", { name: "Manufacturer" }).hover();
    await page.getByRole("button", { name: "Filter by Manufacturer" }).click();
    await page.getByLabel("Comparison").selectOption("=");
    await page.getByRole("textbox", { name: "Value" }).fill("Juniper");
    await page.keyboard.press("Enter");
    await page.getByText("600 hosts", { exact: true }).waitFor();
    const field = page.getByRole("combobox", { name: "Filter" });
    await expectEventually(() => field.inputValue(), 'manufacturer = "Juniper"');
    await field.fill("manufaturer = 1");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("manufacturer").waitFor();
    // Only the refusal, as a response and in the browser's console.
    expect(visitor.problems().every((problem) => problem.includes("400"))).toBe(true);
  });

  test("an unknown network or one out of reach is reported, not shown as empty", async () => {
    const page = await visitor.open(`/hosts?network=${crypto.randomUUID()}`);
    await page.getByRole("heading", { name: "Network not found" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "All networks" }).click();
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
  });

  test("columns and order are part of the URL, and a view is stored", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("link", { name: "Manufacturer" }).click();
    await page.getByRole("columnheader", { name: "Manufacturer" }).and(page.locator("[aria-sort=ascending]")).waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Serial number" }).check();
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "Serial number" }).waitFor();
    const listUrl = page.url();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByLabel("View name").fill("by manufacturer");
    await page.getByRole("button", { name: "Save this view" }).click();
    await page.getByRole("link", { name: "by manufacturer" }).waitFor();
    await page.close();
    const next = await visitor.open("/hosts");
    await next.getByRole("button", { name: "Views" }).click();
    await next.getByRole("link", { name: "by manufacturer" }).click();
    await next.getByRole("columnheader", { name: "Serial number" }).waitFor();
    expect(next.url()).toBe(listUrl);
  });

  test("rows are navigated and opened by keyboard only", async () => {
    const page = await visitor.open("/hosts?filter=name%20:%20%22host-100%22");
    await page.getByText("10 hosts", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await expectEventually(
      () => page.locator("tr[aria-selected=true]").textContent(),
      expect.stringContaining("host-1002"),
    );
    await page.getByRole("button", { name: "Select none" }).click();
    expect(await page.locator("tr[aria-selected=true]").count()).toBe(0);
    // From a button the keys return to the rows.
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "host-1003" }).waitFor();
  });
});

const GUEST = "guest@acme.example";

describe("a list", () => {
  const appliance = serveForAll(async ({ addUser, client, networkId }) => {
    await addUser(GUEST, "Viewer", [networkId]);
    const host = { network_id: networkId, name: "core-1", hidden: false, tags: [], ip_addresses: [] };
    await client.post("hosts", host);
  });
  const selections = [
    [OWNER, 1],
    [GUEST, 0],
  ] as const;

  test.each(selections)("offers to select rows only to users who can act on them: %s", async (email, count) => {
    const { visitor, page } = await appliance.openAs(email, "/hosts");
    await page.getByRole("link", { name: "core-1" }).waitFor();
    expect(await page.getByRole("checkbox", { name: "Select core-1" }).count()).toBe(count);
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await expectEventually(() => page.getByText("1 selected").count(), count);
    const cells = await page.getByRole("row").nth(1).getByRole("cell").count();
    expect(cells).toBe((await page.getByRole("columnheader").count()) + count);
    expect(visitor.problems()).toEqual([]);
  });
});
