// Hostile content in the console, in Chromium, on the executable: names on every page, a device with thousands of
// interfaces, a host with thousands of addresses.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type PageOfRows, pageOfRead, pageOfRows, windowToRead } from "../../src/console/components/paged-rows.ts";
import { accessibilityFindings, expectEventually, follow, hasChromium } from "../support/browser/browser.ts";
import { ADDRESSES, fillHostile, HOSTILE_NAMES, type HostileNetwork, INTERFACES } from "../support/browser/hostile.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";

/** With more elements, layout and scrolling stutter. */
const ELEMENTS_MAX = 6_000;

describe.skipIf(!hasChromium)("hostile names", () => {
  let filled: HostileNetwork;
  /** Timestamp before any of the records existed. */
  let before: string;
  let sequence: number;
  const appliance = serveForAll(async ({ client, networkId }) => {
    before = (await client.get("ledger")).body.data.at;
    filled = await fillHostile(client, networkId);
    sequence = (await client.get(`hosts/${filled.hosts.markup.id}/history`)).body.data[0].transaction.sequence;
  });

  const paths = (): string[] => {
    const { hosts, device, server, interfaceId, subnet, vlan } = filled;
    const hostTabs = ["", "?tab=ports", "?tab=neighbors", "?tab=addresses", "?tab=services", "?tab=history"];
    return [
      `/?q=${encodeURIComponent(HOSTILE_NAMES.markup.slice(0, 60))}`,
      ..."/ /?q=00:1b:21:01:00:00 /hosts /interfaces /addresses /services /subnets /vlans /conflicts".split(" "),
      ..."/stations?show=all /changes /discovery /ledger".split(" "),
      ...[hosts.markup, hosts.rightToLeft, hosts.emoji].map(({ id }) => `/hosts/${id}`),
      ...[hosts.formula, device, server].flatMap(({ id }) => hostTabs.map((tab) => `/hosts/${id}${tab}`)),
      `/interfaces/${interfaceId}`,
      `/interfaces/${interfaceId}?tab=history`,
      `/subnets/${subnet.id}`,
      `/subnets/${subnet.id}?tab=history`,
      `/vlans/${vlan.id}`,
      `/map?network=${appliance.networkId}`,
      `/map?network=${appliance.networkId}&table=links`,
      `/changes/${sequence}`,
      `/compare?vs=${before}`,
    ];
  };

  test("break, execute and overflow nothing on any page, on phone and desktop", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER);
    for (const path of paths()) {
      await follow(page, path);
      await waitUntilLoaded(page);
      for (const width of [360, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        const state = await page.evaluate<Record<string, unknown>>(`({
            overflow: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
            broken: window.broken ?? null,
            foreign: document.querySelectorAll("main script, main img, main iframe, a[href^='javascript:']").length,
          })`);
        expect([path, width, state]).toEqual([path, width, { overflow: 0, broken: null, foreign: 0 }]);
      }
    }
    expect(visitor.problems()).toEqual([]);
  });

  test("are not formulas in exported CSV", async () => {
    const { page } = await appliance.visitAs(OWNER);
    for (const list of ["/hosts", "/interfaces", "/addresses", "/services", "/subnets", "/vlans"]) {
      await page.goto(appliance.url + list);
      const href = await page.getByRole("link", { name: "Export CSV", exact: true }).getAttribute("href");
      const csv = await (await page.request.get(appliance.url + href)).text();
      expect([list, csv.length > 500, csv.match(/(?:^|,)"?[=+@\-\t][^,]{0,20}/m)?.[0]]).toEqual([
        list,
        true,
        undefined,
      ]);
    }
  });

  test("of thousands of interfaces are paged, searched, and linked", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts/${filled.device.id}?tab=ports`);
    await page.getByRole("link", { name: /^Interfaces 3,271$/ }).waitFor();
    const table = page.getByRole("table");
    await table.getByRole("link", { name: "Te1/1", exact: true }).waitFor();
    expect(INTERFACES).toBe(3_271);
    expect(await page.evaluate<number>("document.getElementsByTagName('*').length")).toBeLessThan(ELEMENTS_MAX);
    await page.getByRole("link", { name: "Next: Interfaces" }).first().click();
    await table.getByRole("link", { name: "Te3/5", exact: true }).waitFor();
    // The chosen port is on another page of the table.
    await page.getByRole("link", { name: "Te12/48, Down", exact: true }).click();
    const row = table.locator("tr.is-chosen");
    await row.getByRole("link", { name: "Te12/48" }).waitFor();
    await row.locator("a:focus").waitFor();
    await page.getByLabel("Filter: Interfaces").fill("vl3271");
    await table.getByRole("link", { name: "Vl3271" }).waitFor();
    await expectEventually(() => table.locator("tbody tr").count(), 2);
    await page.getByText("1 of 3,271").waitFor();
    expect(page.url()).toContain("find=vl3271");
    // The host's identity does not wait for the details of all its addresses.
    const requestedUrls = visitor.requests();
    await page.goto(`${appliance.url}/hosts/${filled.server.id}`);
    await page.getByRole("link", { name: "Addresses 10,000" }).waitFor();
    await page.getByRole("heading", { name: "Details" }).waitFor();
    await waitUntilLoaded(page);
    // A port's stations do not wait for those of all ports.
    await page.goto(`${appliance.url}/interfaces/${filled.interfaceId}`);
    await page.getByText("Nothing connected.").waitFor();
    await waitUntilLoaded(page);
    const reads = requestedUrls.filter((url) => url.includes("/api/v1/") && !url.includes("/changes"));
    for (const part of ["/hosts?", "/faceplate?"]) expect(reads.some((url) => url.includes(part))).toBe(true);
    for (const { pathname, search } of reads.map((url) => new URL(url)))
      expect([pathname, (await appliance.client.get(pathname + search)).text.length < 50_000]).toEqual([
        pathname,
        true,
      ]);
    await page.goto(`${appliance.url}/hosts/${filled.device.id}`);
    await page.getByRole("link", { name: "All 3,271 interfaces" }).waitFor();
    await expectEventually(() => page.locator(".plate li").count(), 384);
    const plates = requestedUrls.filter(
      (url) => url.includes(`/hosts/${filled.device.id}/faceplate`) && !url.includes("ids="),
    );
    expect(plates.map((url) => new URL(url).searchParams.get("limit"))).toEqual(["385"]);
    await page.getByRole("link", { name: "All 3,271 interfaces" }).click();
    await table.getByRole("link", { name: "Te1/1", exact: true }).waitFor();
    await page.getByText("Page 1 of 33").first().waitFor();
    await expectEventually(() => page.locator(".plate li").count(), 12 * 48);
    await page.goto(`${appliance.url}/hosts/${filled.server.id}?tab=addresses&page=100`);
    await page.getByRole("table").getByText("10.0.39.15", { exact: true }).waitFor();
    await expectEventually(() => page.getByRole("link", { name: "Addresses 10,000" }).count(), 1);
    expect(ADDRESSES).toBe(10_000);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("of thousands of addresses are paged, searched, and compared", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER);
    const requestedUrls = visitor.requests();
    const addressReads = () =>
      requestedUrls
        .splice(0)
        .filter((url) => url.includes("/api/v1/ip-addresses?") && url.includes("order_by=ip_address"))
        .map((url) => new URL(url).searchParams.get("limit"));
    const host = `/hosts/${filled.server.id}?tab=addresses`;
    await page.goto(`${appliance.url}${host}&page=2`);
    const rows = page.getByRole("region", { name: "Addresses" }).locator("tbody tr");
    await rows.first().getByText("10.0.0.100", { exact: true }).waitFor();
    await rows.last().getByText("10.0.0.199", { exact: true }).waitFor();
    await page.getByText("Page 2 of 100").first().waitFor();
    await page.getByRole("link", { name: "Next: Addresses" }).first().click();
    await rows.first().getByText("10.0.0.200", { exact: true }).waitFor();
    expect(addressReads()).toEqual(["100", "100"]);
    // Matches within an address, and the focus stays while all addresses load.
    await page.getByLabel("Filter: Addresses").pressSequentially(".39.15");
    await page.getByText("1 of 10,000").waitFor();
    await rows.getByText("10.0.39.15", { exact: true }).waitFor();
    await expectEventually(() => page.getByLabel("Filter: Addresses").inputValue(), ".39.15");
    expect(addressReads()).toEqual(["0"]);
    await page.getByLabel("Filter: Addresses").fill("");
    await page.getByText("Page 1 of 100").first().waitFor();
    // Page numbers beyond the end show the last page.
    await page.goto(`${appliance.url}${host}&page=4000`);
    await page.getByText("Page 100 of 100").first().waitFor();
    await rows.last().getByText("10.0.39.15", { exact: true }).waitFor();

    const vs = (await appliance.client.get("ledger")).body.data.at;
    const fetchAddress = (address: string) =>
      appliance.client.get(`ip-addresses?filter=${encodeURIComponent(`ip_address = ${address}`)}`);
    const deletedAddress = (await fetchAddress("10.0.20.7")).body.data[0];
    const moved = (await fetchAddress("10.0.10.1")).body.data[0];
    expect((await appliance.client.delete(`ip-addresses/${deletedAddress.id}`)).status).toBe(200);
    expect((await appliance.client.put(`ip-addresses/${moved.id}`, { ...moved, name: "moved" })).status).toBe(200);
    await page.goto(`${appliance.url}${host}&vs=${vs}&page=100`);
    await page.getByText("Page 100 of 100").first().waitFor();
    await rows.last().getByText("Removed").waitFor();
    await rows.last().getByText("10.0.20.7", { exact: true }).waitFor();
    await expectEventually(() => rows.count(), 100);
    await page.goto(`${appliance.url}${host}&vs=${vs}&page=26`);
    await rows.filter({ hasText: "10.0.10.1" }).filter({ hasText: "moved" }).getByText("Changed").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("a host with many services", () => {
  let id: string;
  const appliance = serveForAll(async ({ client, networkId }) => {
    // The last service is bound to the last port.
    const ports = Array.from({ length: 450 }, (_, index) => ({
      id: idOf(index),
      number: 10_001 + index,
      protocol: "Tcp",
    }));
    const services = Array.from({ length: 250 }, (_, index) => ({
      name: `service ${index + 1}`,
      service_definition: "Http",
      bindings: [{ type: "Port", port_id: idOf(200 + index), ip_address_id: null }],
    }));
    const host = { network_id: networkId, name: "proxy", hidden: false, tags: [], ports, services };
    const { status, body } = await client.post("hosts", host);
    expect([status, body.error]).toEqual([200, undefined]);
    id = body.data.id;
  });

  const idOf = (index: number) => `01936f2e-0d5c-7d3a-9a39-${index.toString(16).padStart(12, "0")}`;

  test("is paged, with its ports, and shows each binding's target wherever it is", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER);
    const requestedUrls = visitor.requests();
    const limitsOf = (path: string) =>
      requestedUrls
        .filter((url) => url.includes(`/api/v1/${path}?host_id=`))
        .map((url) => new URL(url).searchParams)
        .filter((query) => query.has("offset"))
        .map((query) => `${query.get("limit")} from ${query.get("offset")}`);
    await page.goto(`${appliance.url}/hosts/${id}?tab=services`);
    await page.getByRole("link", { name: /^Services and ports 700$/ }).waitFor();
    const services = page.getByRole("region", { name: "Services" });
    const ports = page.getByRole("region", { name: "Listening ports" });
    await services.getByRole("row", { name: "service 1 Http 10201/Tcp" }).waitFor();
    await ports.getByRole("row", { name: "10100 Tcp Custom" }).waitFor();
    expect([await services.locator("tbody tr").count(), await ports.locator("tbody tr").count()]).toEqual([100, 100]);
    expect([limitsOf("services"), limitsOf("ports")]).toEqual([["100 from 0"], ["100 from 0"]]);
    await page.getByRole("link", { name: "Next: Listening ports" }).first().click();
    await ports.getByRole("row", { name: "10101 Tcp Custom" }).waitFor();
    await page.getByLabel("Filter: Services").fill("10450/");
    await services.getByRole("row", { name: "service 250 Http 10450/Tcp" }).waitFor();
    await page.getByText("1 of 250").waitFor();
    // The ports keep their position.
    await ports.getByRole("row", { name: "10101 Tcp Custom" }).waitFor();
    await expectEventually(() => ports.locator("tbody tr").count(), 100);
    expect([limitsOf("services"), limitsOf("ports")]).toEqual([
      ["100 from 0", "0 from 0"],
      ["100 from 0", "100 from 100", "0 from 0"],
    ]);

    const vs = (await appliance.client.get("ledger")).body.data.at;
    expect((await appliance.client.delete(`ports/${idOf(0)}`)).status).toBe(200);
    await page.goto(`${appliance.url}/hosts/${id}?tab=services&vs=${vs}&ports_page=5`);
    const last = ports.locator("tbody tr").last();
    await last.getByText("Removed").waitFor();
    await expectEventually(() => last.textContent(), expect.stringContaining("10001"));
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });
});

/** Waits until the page has a title and no pending requests. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator("main:has(h1):not(:has(.waiting))").waitFor();
}

describe("a page of rows", () => {
  const rows = Array.from({ length: 250 }, (_, index) => `Gi1/0/${index}`);
  const options = { page: null, find: "", textOf: (row: string) => row };
  const summarize = ({ rows: shown, ...rest }: PageOfRows<string>) => ({
    ...rest,
    first: shown[0],
    count: shown.length,
  });

  test("is the requested one, the last one beyond the end, and the first for an invalid number", () => {
    const firstPage = { page: 1, pages: 3, found: 250, first: "Gi1/0/0", count: 100 };
    expect(summarize(pageOfRows(rows, options))).toEqual(firstPage);
    expect(summarize(pageOfRows(rows, { ...options, page: "3" }))).toMatchObject({
      page: 3,
      first: "Gi1/0/200",
      count: 50,
    });
    expect(summarize(pageOfRows(rows, { ...options, page: "9" }))).toMatchObject({ page: 3 });
    for (const page of ["0", "-1", "1.5", "x"]) expect(pageOfRows(rows, { ...options, page }).page).toBe(1);
  });

  test("contains rows with all search words, in any case, and is one empty page without matches", () => {
    expect(pageOfRows(rows, { ...options, find: " GI1 /249 " }).rows).toEqual(["Gi1/0/249"]);
    const emptyPage = { page: 1, pages: 1, found: 0, count: 0 };
    expect(summarize(pageOfRows(rows, { ...options, find: "Te" }))).toMatchObject(emptyPage);
  });

  test("is requested alone without a search, and all are requested if there may be more", () => {
    const query = (page: string | null, find = "") => ({ page, find });
    expect(windowToRead(250, query("3"))).toEqual({ limit: 100, offset: 200 });
    expect(windowToRead(250, query("9"))).toEqual({ limit: 100, offset: 200 });
    expect(windowToRead(undefined, query("9"))).toEqual({ limit: 100, offset: 800 });
    expect(windowToRead(0, query(null))).toEqual({ limit: 100, offset: 0 });
    for (const count of [250, undefined]) expect(windowToRead(count, query("2", "x"))).toEqual({ limit: 0, offset: 0 });
    expect(windowToRead(100, query("1", "x"))).toEqual({ limit: 100, offset: 0 });
  });

  test("shows removed rows after the last listed one, and waits for all rows during a search", () => {
    const removedRows = ["gone-1", "gone-2"];
    const summaryOfPage = (page: string, removed: readonly string[] = removedRows) => {
      const { offset, limit } = windowToRead(250, { page, find: "" });
      const read = { rows: rows.slice(offset, offset + limit), count: 250, trailing: removed };
      return summarize(pageOfRead(read, { ...options, page }) as PageOfRows<string>);
    };
    expect(summaryOfPage("2")).toEqual({ page: 2, pages: 3, found: 252, first: "Gi1/0/100", count: 100 });
    expect(summaryOfPage("3")).toMatchObject({ first: "Gi1/0/200", count: 52 });
    const many = Array.from({ length: 120 }, (_, index) => `gone-${index}`);
    expect(summaryOfPage("3", many)).toMatchObject({ pages: 4, first: "Gi1/0/200", count: 100 });
    expect(summaryOfPage("4", many)).toMatchObject({ pages: 4, first: "gone-50", count: 70 });
    const part = { rows: rows.slice(0, 100), count: 250, trailing: removedRows };
    expect(pageOfRead(part, { ...options, find: "/249" })).toBeNull();
    expect(pageOfRead({ ...part, rows }, { ...options, find: "gone" })?.rows).toEqual(removedRows);
    expect(summarize(pageOfRead({ rows: [], count: 0, trailing: [] }, options) as PageOfRows<string>)).toMatchObject({
      pages: 1,
      found: 0,
    });
  });

  test("is that of the selected row, unless another was requested or it is not found", () => {
    const chosen = { ...options, isSelected: (row: string) => row === "Gi1/0/150" };
    expect(pageOfRows(rows, chosen).page).toBe(2);
    expect(pageOfRows(rows, { ...chosen, page: "1" }).page).toBe(1);
    expect(pageOfRows(rows, { ...chosen, find: "/249" }).page).toBe(1);
  });
});
