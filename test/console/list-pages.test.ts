// Console lists in Chromium, on the executable: long ones, scrolling, links and accessibility.
// list-pages-in-process.test.ts covers filters, exports and keys.

import { afterEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { WINDOW_ROWS } from "../../src/console/lists/rows-window.ts";
import { addListedHosts } from "../support/appliance/listed-hosts.ts";
import {
  APPEARANCES,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
} from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("list pages", () => {
  // The page is for tests that start from a link.
  const { appliance, visitor, page } = visitForAll(({ client, networkId }) => addListedHosts(client, networkId));

  afterEach(() => expect(visitor.problems()).toEqual([]));

  /** Opens a list at its start, from another page. */
  const openList = async (path: string) => {
    await follow(page, "/");
    await follow(page, path);
  };
  const rows = (page: Page) => page.locator(".list tbody tr:not(.spacer)");

  test("a list of any length is scrolled to its end, rendering only visible rows", async () => {
    await openList("/hosts");
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    await page.evaluate("document.querySelector('.list').scrollTop = 1e9");
    await page.getByRole("link", { name: "خادم الطباعة" }).waitFor();
    await expectEventually(() => page.getByRole("table").getAttribute("aria-rowcount"), "1201");
    await expectEventually(() => rows(page).last().getAttribute("aria-rowindex"), "1201");
  });

  test("loaded rows are cached: scrolling back sends no request, and shows them at once", async () => {
    const page = await visitor.open("/hosts");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    const requestedUrls = visitor.requests();
    const box = await page.locator(".list").boundingBox();
    if (box === null) throw new Error("there is no list");
    await page.mouse.move(box.x + 200, box.y + 200);
    for (let step = 0; step < 60; step += 1) await page.mouse.wheel(0, 400);
    await rows(page).getByRole("link", { name: "host-1850" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 14_000");
    await rows(page).getByRole("link", { name: "host-1500" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 0");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    // Several windows per request, without duplicates; the first was already loaded.
    const requests = requestedUrls.filter((url) => /\/api\/v1\/hosts\?.*limit=/.test(url));
    const windows = requests.flatMap((url) => {
      const { searchParams } = new URL(url);
      const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
      return Array.from({ length: limit / WINDOW_ROWS }, (_, index) => offset / WINDOW_ROWS + index);
    });
    expect(windows).toContain(17);
    expect(windows).not.toContain(0);
    expect(new Set(windows).size).toBe(windows.length);
    expect(requests.length).toBeLessThan(windows.length);
  });

  test("Back returns to the previously visible row", async () => {
    await openList("/hosts");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 14_000");
    await rows(page).getByRole("link", { name: "host-1505" }).click();
    await page.getByRole("heading", { name: "host-1505", level: 1 }).waitFor();
    await page.goBack();
    await rows(page).getByRole("link", { name: "host-1505" }).waitFor();
    await expectEventually(() => page.evaluate("document.querySelector('.list').scrollTop"), 14_000);
    // A new visit starts at the top.
    await page.getByRole("link", { name: "Find", exact: true }).click();
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    await expectEventually(() => page.evaluate("document.querySelector('.list').scrollTop"), 0);
  });

  test("a column filter accepts local times", async () => {
    const context = await visitor.context.browser()?.newContext({
      timezoneId: "America/New_York",
      storageState: await visitor.context.storageState(),
    });
    if (context === undefined) throw new Error("the browser is gone");
    const page = await context.newPage();
    await page.goto(`${appliance.url}/hosts?columns=name,updated_at`);
    await page.getByRole("columnheader", { name: "Updated" }).hover();
    await page.getByRole("button", { name: "Filter by Updated" }).click();
    await page.getByLabel("Comparison").selectOption({ label: "is after" });
    await page.getByRole("textbox", { name: "Value" }).fill("2026-03-01 03:12");
    await page.keyboard.press("Enter");
    const field = page.getByRole("combobox", { name: "Filter" });
    await expectEventually(() => field.inputValue(), 'updated_at > "2026-03-01T08:12:00.000Z"');
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    await context.close();
  });

  test("a column filter is disabled until its type is known, and then accepts input", async () => {
    const page = await visitor.context.newPage();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/v1/fields/*", async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("columnheader", { name: "Manufacturer" }).hover();
    await page.getByRole("button", { name: "Filter by Manufacturer" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Loading").waitFor();
    expect(await dialog.locator("input, select").count()).toBe(0);
    release();
    await dialog.getByRole("textbox", { name: "Value" }).waitFor();
    await expectEventually(() => page.evaluate("document.activeElement?.localName"), "select");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Juniper");
    await page.keyboard.press("Enter");
    await page.getByText("600 hosts", { exact: true }).waitFor();
  });

  test("rows show a record's new name when it is renamed", async () => {
    const { client, networkId } = appliance;
    const fields = { network_id: networkId, hidden: false, tags: [] };
    const host = (await client.post("hosts", { ...fields, name: "before", ip_addresses: [] })).data;
    const port = { host_id: host.id, network_id: networkId, if_index: 1, if_descr: "Gi1/0/1", if_type: 6 };
    await client.post("if-entries", { ...port, admin_status: "Up", oper_status: "Up" });
    await follow(page, "/interfaces");
    await rows(page).getByRole("link", { name: "before" }).waitFor();
    expect(await client.put(`hosts/${host.id}`, { ...host, name: "afterwards" })).toMatchObject({ status: 200 });
    await rows(page).getByRole("link", { name: "afterwards" }).waitFor();
    expect(visitor.problems()).toEqual([]);
    await client.delete(`if-entries/${(await client.get(`if-entries?host_id=${host.id}`)).data[0].id}`);
    await client.delete(`hosts/${host.id}`);
  });

  test("keyboard navigation starts at the first visible row, and typing stays in its field", async () => {
    await openList("/hosts?columns=none,such");
    // Unknown columns are replaced by the list's default ones.
    await page.getByRole("columnheader", { name: "Manufacturer" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 2800");
    await rows(page).getByRole("link", { name: "host-1100" }).waitFor();
    await page.keyboard.press("j");
    const active = page.locator("tr.is-active");
    await active.waitFor();
    await expectEventually(() => active.getAttribute("data-row"), "100");
    await expectEventually(() => page.evaluate<number>("document.querySelector('.list').scrollTop"), 2_800);
    await page.getByRole("combobox", { name: "Filter" }).focus();
    for (const top of [11_200, 2_884]) {
      await page.evaluate(`document.querySelector('.list').scrollTop = ${top}`);
      await rows(page)
        .and(page.locator(`[data-row="${top / 28}"]`))
        .getByRole("link")
        .first()
        .waitFor();
    }
    await active.waitFor();
    await expectEventually(() => page.evaluate<string>("document.activeElement.getAttribute('role')"), "combobox");
  });

  test.each(APPEARANCES)(
    "any record name is safe, without overflow, and accessible: %s, %i wide",
    async (colorScheme, width) => {
      await page.setViewportSize({ width, height: 740 });
      await page.emulateMedia({ colorScheme });
      for (const [path, text] of [
        ["/hosts?order=created_at", "1,200 hosts"],
        ["/hosts?at=2020-01-01T00:00:00Z", "No hosts existed at this time."],
        ["/interfaces", "No interfaces."],
        ["/addresses", "No addresses."],
        ["/services", "No services."],
        ["/vlans", "No VLANs."],
      ] as const) {
        await follow(page, path);
        await page.getByText(text).first().waitFor();
        await expectAccessibleWithin(page, path);
      }
    },
  );
});
