// The console's lists in Chromium, on the executable: long ones, filtered by clicks and by words, taken along.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { WINDOW_ROWS } from "../../src/console/lists/rows-window.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const HOSTS = 1_200;
const LONG = "n".repeat(255);
const HOSTILE = ["<img src=x onerror=alert(1)>", "خادم الطباعة", "🖨️ printer", LONG, "=cmd|' /C calc'!A0"];

describe.skipIf(!hasChromium)("the console's lists", () => {
  let workplace: Workplace;
  let appliance: Awaited<ReturnType<Workplace["serveSetUp"]>>;
  let visitor: Visitor;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const made = await workplace.serveSetUp();
    appliance = made;
    const names = [...HOSTILE, ...Array.from({ length: HOSTS - HOSTILE.length }, (_, n) => `host-${1000 + n}`)];
    const hosts = names.map((name, position) => ({
      network_id: made.networkId,
      name,
      hidden: false,
      tags: [],
      manufacturer: position % 2 === 0 ? "Juniper" : "Cisco",
      ip_addresses: [],
    }));
    for (let start = 0; start < hosts.length; start += 600)
      expect((await made.client.post("hosts/bulk", hosts.slice(start, start + 600))).status).toBe(200);
    visitor = await Visitor.arrive(made.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const rows = (page: Page) => page.locator(".list tbody tr:not(.spacer)");

  test("a list of any length is scrolled to its end, and draws no more than one sees", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, "/hosts");
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    await page.evaluate("document.querySelector('.list').scrollTop = 1e9");
    await page.getByRole("link", { name: "خادم الطباعة" }).waitFor();
    await settles(() => page.getByRole("table").getAttribute("aria-rowcount"), "1201");
    await settles(() => rows(page).last().getAttribute("aria-rowindex"), "1201");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("rows that were read stay: one who scrolls back asks for nothing, and sees them at once", async () => {
    const page = await visitor.open("/hosts");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    const asked = visitor.requests();
    const box = await page.locator(".list").boundingBox();
    if (box === null) throw new Error("there is no list");
    await page.mouse.move(box.x + 200, box.y + 200);
    for (let turn = 0; turn < 60; turn += 1) await page.mouse.wheel(0, 400);
    await rows(page).getByRole("link", { name: "host-1850" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 14_000");
    await rows(page).getByRole("link", { name: "host-1500" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 0");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    // Several windows with one request, each of them once; the first was there.
    const requests = asked.filter((url) => /\/api\/v1\/hosts\?.*limit=/.test(url));
    const windows = requests.flatMap((url) => {
      const { searchParams } = new URL(url);
      const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
      return Array.from({ length: limit / WINDOW_ROWS }, (_, place) => offset / WINDOW_ROWS + place);
    });
    expect(windows).toContain(17);
    expect(windows).not.toContain(0);
    expect(new Set(windows).size).toBe(windows.length);
    expect(requests.length).toBeLessThan(windows.length);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("a filter is typed with what can stand where one types, is part of the address, and is taken along as CSV", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("combobox", { name: "Filter" }).fill("manu");
    await page.getByRole("option", { name: "manufacturer" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type('= "Cisco" AND name : "host-100"');
    await page.keyboard.press("Enter");
    await page.getByText("5 hosts", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("filter")).toBe('manufacturer = "Cisco" AND name : "host-100"');
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const lines = await (await page.request.get(appliance.running.url + csv)).text();
    expect(lines.trim().split("\r\n")).toHaveLength(6);
    await page.goBack();
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("a filter is put together by clicks, and one that is wrong says where", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("columnheader", { name: "Manufacturer" }).hover();
    await page.getByRole("button", { name: "Filter by Manufacturer" }).click();
    await page.getByLabel("Comparison").selectOption("=");
    await page.getByRole("textbox", { name: "Value" }).fill("Juniper");
    await page.keyboard.press("Enter");
    await page.getByText("600 hosts", { exact: true }).waitFor();
    const field = page.getByRole("combobox", { name: "Filter" });
    await settles(() => field.inputValue(), 'manufacturer = "Juniper"');
    await field.fill("manufaturer = 1");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("manufacturer").waitFor();
    // The refusal, as answer and as the browser's word of it, and nothing else.
    expect(visitor.troubles().every((each) => each.includes("400"))).toBe(true);
    await page.close();
  });

  test("the way back leads to the row that one came from", async () => {
    const page = await visitor.open("/hosts");
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 14_000");
    await rows(page).getByRole("link", { name: "host-1505" }).click();
    await page.getByRole("heading", { name: "host-1505", level: 1 }).waitFor();
    await page.goBack();
    await rows(page).getByRole("link", { name: "host-1505" }).waitFor();
    await settles(() => page.evaluate("document.querySelector('.list').scrollTop"), 14_000);
    // To the list anew it is its beginning.
    await page.getByRole("link", { name: "Find", exact: true }).click();
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await rows(page).getByRole("link", { name: "host-1000" }).waitFor();
    await settles(() => page.evaluate("document.querySelector('.list').scrollTop"), 0);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("a network that is none, or out of reach, is said to be, and not to be empty", async () => {
    const page = await visitor.open(`/hosts?network=${crypto.randomUUID()}`);
    await page.getByRole("heading", { name: "No such network" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "All networks" }).click();
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("a column's filter takes times by the reader's clocks", async () => {
    const context = await visitor.context.browser()?.newContext({
      timezoneId: "America/New_York",
      storageState: await visitor.context.storageState(),
    });
    if (context === undefined) throw new Error("the browser is gone");
    const page = await context.newPage();
    await page.goto(`${appliance.running.url}/hosts?columns=name,updated_at`);
    await page.getByRole("columnheader", { name: "Updated" }).hover();
    await page.getByRole("button", { name: "Filter by Updated" }).click();
    await page.getByLabel("Comparison").selectOption({ label: "is after" });
    await page.getByRole("textbox", { name: "Value" }).fill("2026-03-01 03:12");
    await page.keyboard.press("Enter");
    const field = page.getByRole("combobox", { name: "Filter" });
    await settles(() => field.inputValue(), 'updated_at > "2026-03-01T08:12:00.000Z"');
    await page.getByText("1,200 hosts", { exact: true }).waitFor();
    await context.close();
  });

  test("a column's filter takes nothing until it is known what it can be, and then all that is typed", async () => {
    const page = await visitor.context.newPage();
    const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
    await page.route("**/api/v1/fields/*", async (route) => {
      await isLetGo;
      await route.continue();
    });
    await page.goto(`${appliance.running.url}/hosts`);
    await page.getByRole("columnheader", { name: "Manufacturer" }).hover();
    await page.getByRole("button", { name: "Filter by Manufacturer" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Loading").waitFor();
    expect(await dialog.locator("input, select").count()).toBe(0);
    letGo();
    await dialog.getByRole("textbox", { name: "Value" }).waitFor();
    await settles(() => page.evaluate("document.activeElement?.localName"), "select");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Juniper");
    await page.keyboard.press("Enter");
    await page.getByText("600 hosts", { exact: true }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("columns and order are part of the address, and a view is kept for the next time", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("link", { name: "Manufacturer" }).click();
    await page.getByRole("columnheader", { name: "Manufacturer" }).and(page.locator("[aria-sort=ascending]")).waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("checkbox", { name: "Serial number" }).check();
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "Serial number" }).waitFor();
    const address = page.url();
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByLabel("Name of the view").fill("by maker");
    await page.getByRole("button", { name: "Save this view" }).click();
    await page.getByRole("link", { name: "by maker" }).waitFor();
    await page.close();
    const next = await visitor.open("/hosts");
    await next.getByRole("button", { name: "Views" }).click();
    await next.getByRole("link", { name: "by maker" }).click();
    await next.getByRole("columnheader", { name: "Serial number" }).waitFor();
    expect(next.url()).toBe(address);
    expect(visitor.troubles()).toEqual([]);
    await next.close();
  });

  test("rows show what a record is called by now, when somebody renames it meanwhile", async () => {
    const { client, networkId } = appliance;
    const fields = { network_id: networkId, hidden: false, tags: [] };
    const host = (await client.post("hosts", { ...fields, name: "before", ip_addresses: [] })).data;
    const port = { host_id: host.id, network_id: networkId, if_index: 1, if_descr: "Gi1/0/1", if_type: 6 };
    await client.post("if-entries", { ...port, admin_status: "Up", oper_status: "Up" });
    const page = await visitor.open("/interfaces");
    await rows(page).getByRole("link", { name: "before" }).waitFor();
    expect(await client.put(`hosts/${host.id}`, { ...host, name: "afterwards" })).toMatchObject({ status: 200 });
    await rows(page).getByRole("link", { name: "afterwards" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
    await client.delete(`if-entries/${(await client.get(`if-entries?host_id=${host.id}`)).data[0].id}`);
    await client.delete(`hosts/${host.id}`);
  });

  test("rows are walked through and opened with the keyboard alone", async () => {
    const page = await visitor.open("/hosts?filter=name%20:%20%22host-100%22");
    await page.getByText("10 hosts", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await settles(() => page.locator("tr[aria-selected=true]").textContent(), expect.stringContaining("host-1002"));
    await page.getByRole("button", { name: "Select none" }).click();
    expect(await page.locator("tr[aria-selected=true]").count()).toBe(0);
    // From a button one goes back to the rows.
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "host-1003" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("the first row that is walked to is the first that one sees, and what is typed stays where it is typed", async () => {
    const page = await visitor.open("/hosts?columns=none,such");
    // Columns that there are none of are those that the list begins with.
    await page.getByRole("columnheader", { name: "Manufacturer" }).waitFor();
    await page.evaluate("document.querySelector('.list').scrollTop = 2800");
    await rows(page).getByRole("link", { name: "host-1100" }).waitFor();
    await page.keyboard.press("j");
    const active = page.locator("tr.is-active");
    await active.waitFor();
    await settles(() => active.getAttribute("data-row"), "100");
    await settles(() => page.evaluate<number>("document.querySelector('.list').scrollTop"), 2_800);
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
    await settles(() => page.evaluate<string>("document.activeElement.getAttribute('role')"), "combobox");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)(
    "whatever records are called, nothing runs, nothing overflows, and axe-core finds nothing: %s, %i wide",
    async (colorScheme, width) => {
      const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width, height: 740 } });
      const page = await own.signIn(OWNER, PASSWORD, "/hosts?order=created_at");
      for (const [address, words] of [
        ["/hosts?order=created_at", "1,200 hosts"],
        ["/hosts?at=2020-01-01T00:00:00Z", "There were no hosts here at this instant."],
        ["/interfaces", "There are no interfaces here."],
        ["/addresses", "There are no addresses here."],
        ["/services", "There are no services here."],
        ["/vlans", "There are no VLANs here."],
      ] as const) {
        await page.goto(appliance.running.url + address);
        await page.getByText(words).first().waitFor();
        expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([address, beside <= 0]).toEqual([address, true]);
      }
      expect(own.troubles()).toEqual([]);
      await own.leave();
    },
  );
});
