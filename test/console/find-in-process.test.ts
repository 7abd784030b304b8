// Search in the test process: current and past locations, access, and records by name.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { expectOk } from "../support/appliance/factories.ts";
import { fillSearchFixture, MOVED_MAC } from "../support/browser/search-fixture.ts";
import type { Route } from "../support/page/network.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const GUEST = "night@acme.example";

describe("locating", () => {
  const appliance = serveForAll(async ({ addUser, client, networkId, organizationId }) => {
    await addUser(GUEST, "Viewer", [networkId]);
    await fillSearchFixture(client, networkId, organizationId);
  });

  test("shows a MAC's location of last night and shares the link, limited to the other user's networks", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    await page.keyboard.press("/");
    await page.keyboard.type(MOVED_MAC.replaceAll(":", "").toUpperCase());
    await page.keyboard.press("Enter");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.getByRole("link", { name: "reading-sw" }).first().waitFor();
    await card.getByRole("row").filter({ hasText: "library-sw" }).last().getByRole("link").first().click();
    const pastCard = page.getByRole("region", { name: "Where it was" });
    await pastCard.locator(".locate-facts").first().getByRole("link", { name: "library-sw" }).waitFor();
    await pastCard.getByText("Why", { exact: true }).first().click();
    await pastCard
      .getByText(/forwards to 00:1b:21:aa:bb:cc/)
      .first()
      .waitFor();
    await pastCard.getByRole("link", { name: "Gi1/0/7" }).first().waitFor();
    const link = page.url();
    expect(link).toContain("at=");
    expect(visitor.problems()).toEqual([]);

    const { visitor: guest, page: guestPage } = await appliance.openAs(GUEST, link.slice(appliance.url.length));
    const guestCard = guestPage.getByRole("region", { name: "Where it was" });
    await guestCard.locator(".locate-facts").first().getByRole("link", { name: "library-sw" }).waitFor();
    await guestPage.getByRole("heading", { name: "Interface" }).first().waitFor();
    expect(await guestPage.getByText("vault").count()).toBe(0);
    await guestPage.goto(`${appliance.url}/?q=vault-sw`);
    await guestPage.getByText("No match for “vault-sw”, now or in the past").waitFor();
    expect(guest.problems()).toEqual([]);
  });

  test("shows both devices of one name, each with a link to its page", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/?q=twin");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.locator(".note").getByText("2 hosts are called twin").waitFor();
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    const links = page.locator(".hits a");
    await expectEventually(() => links.count(), 2);
    const hrefs = await links.evaluateAll((all) => all.map((element) => element.getAttribute("href")));
    expect(new Set(hrefs).size).toBe(2);
    await links.first().click();
    await page.getByRole("heading", { name: "twin" }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("reports a failure once, whatever the query, and retries immediately", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    // Excludes the frame's messages, which appear on every page.
    const problems = page.getByRole("main").getByRole("alert");
    const queryUrls = /\/api\/v1\/(search|locate)/;
    const error = "The appliance is being restarted.";
    const body = { success: false, code: "internal_error", error, params: {}, meta: {} };
    const failing = [
      { respond: (route: Route) => route.fulfill({ status: 503, json: body }), message: error },
      { respond: (route: Route) => route.abort(), message: "The appliance did not respond." },
    ];
    for (const { respond, message } of failing) {
      await page.route(queryUrls, respond);
      await page.goto(`${appliance.url}/?q=10.2.3.4`);
      await problems.filter({ hasText: message }).waitFor();
      await page.locator("main:not(:has(.waiting))").waitFor();
      await expectEventually(() => problems.count(), 1);
      await page.unroute(queryUrls);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("region", { name: "Where it is" }).getByRole("link", { name: "laptop-7" }).first().waitFor();
      await page.locator(".hits a").first().waitFor();
      expect(await problems.count()).toBe(0);
    }
    // Different failures have different messages.
    await page.route(/\/api\/v1\/search/, (route) => route.abort());
    await page.route(/\/api\/v1\/locate/, (route) =>
      route.fulfill({ status: 500, json: { ...body, error: "Broken." } }),
    );
    await page.goto(`${appliance.url}/?q=10.2.3.4`);
    await problems.filter({ hasText: "Broken." }).waitFor();
    await problems.filter({ hasText: "The appliance did not respond." }).waitFor();
    expect(visitor.problems().filter((problem) => !/net::ERR_|50[03]/.test(problem))).toEqual([]);
  });

  test("shows an address without a host as free, within DHCP, or outside every subnet", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/?q=10.2.3.77");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.getByText("Free in 10.2.3.0/24 Lab").waitFor();
    await page.goto(`${appliance.url}/?q=10.2.3.200`);
    await card.getByText("Assigned by DHCP (Clients) in 10.2.3.0/24 Lab").waitFor();
    await card.getByRole("link", { name: "10.2.3.0/24" }).click();
    await page.getByRole("heading", { name: "10.2.3.0/24" }).waitFor();
    await page.goto(`${appliance.url}/?q=10.99.0.1`);
    await card.getByText("Not in any known subnet.").waitFor();
    // At this timestamp, no subnet existed yet.
    await page.goto(`${appliance.url}/?q=10.2.3.77&at=2020-01-01T00:00:00Z`);
    await page.getByRole("region", { name: "Where it was" }).getByText("Not in any known subnet.").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("links a deleted record to its last state, and gives hints for an unknown one", async () => {
    const { visitor, page } = await appliance.openAs(OWNER, "/?q=old-server");
    await page.locator(".hits").getByRole("link", { name: "old-server" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    expect(page.url()).toContain("at=");
    await page.goto(`${appliance.url}/?q=10.99.0.1&network=${appliance.networkId}`);
    await page.getByText("10.99.0.1 is unknown").waitFor();
    await page.getByText("No match for “10.99.0.1”, now or in the past").waitFor();
    await page.getByRole("link", { name: "Search all networks" }).click();
    await page.waitForURL(`${appliance.url}/?q=10.99.0.1`);
    expect(visitor.problems()).toEqual([]);
  });

  test("starts on a page that links to new records, attention items, recent searches and pins", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    await page.getByRole("heading", { name: "The last 24 hours" }).waitFor();
    await page.getByRole("link", { name: /hosts added/ }).waitFor();
    await page.locator(".start").getByRole("link", { name: "laptop-7" }).click();
    await page.getByRole("heading", { name: "laptop-7" }).waitFor();
    await page.getByRole("button", { name: "Pin" }).click();
    await page.getByRole("button", { name: "Pinned", pressed: true }).waitFor();
    await page.goto(`${appliance.url}/?q=printer-2`);
    await page.locator(".hits").getByRole("link", { name: "printer-2" }).waitFor();
    // A query is remembered once its result is shown, after the surrounding frame.
    const remembered = () => page.evaluate<string>("localStorage.getItem('netledger:recent') ?? ''");
    await expectEventually(remembered, expect.stringContaining("printer-2"));
    await page.getByRole("link", { name: "Find", exact: true }).click();
    const startLine = page.locator(".start-line");
    await startLine.getByRole("link", { name: "printer-2" }).waitFor();
    await startLine.getByRole("link", { name: "laptop-7" }).waitFor();
    await page.getByRole("heading", { name: "Removed" }).waitFor();
    await page.locator(".trouble").filter({ hasText: "Removed" }).getByRole("link", { name: "old-server" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    await page.goto(`${appliance.url}/`);
    await page.getByRole("link", { name: "unstable this week" }).click();
    await page.getByRole("heading", { name: "Removed" }).waitFor();
    await page.locator(".activity-list").getByRole("link", { name: "old-server" }).first().waitFor();
    expect(visitor.problems()).toEqual([]);
    // The appliance stores the pins, the browser the queries until sign-out.
    await page.goto(`${appliance.url}/`);
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.close();
    const nextPage = await visitor.signIn(OWNER, PASSWORD);
    await nextPage.locator(".start-line").getByRole("link", { name: "laptop-7" }).waitFor();
    expect(await nextPage.locator(".start-line").getByRole("link", { name: "printer-2" }).count()).toBe(0);
  });

  test("shows the last place of a machine that is off, on its own page and in its subnet too", async () => {
    const { visitor, page } = await appliance.openAs(OWNER);
    const { client, networkId } = appliance;
    const [ip, mac] = ["10.77.0.9", "00:1b:21:77:00:09"];
    const subnet = await expectOk(
      client.post("subnets", { network_id: networkId, cidr: "10.77.0.0/28", subnet_type: "Lan" }),
    );
    const host = await expectOk(
      client.post("hosts", {
        network_id: networkId,
        name: "loft-pc",
        ip_addresses: [{ ip_address: ip, mac_address: mac }],
      }),
    );
    const device = await expectOk(client.post("hosts", { network_id: networkId, name: "loft-sw" }));
    const port = { host_id: device.id, if_index: 19, if_descr: "Gi1/0/19", oper_status: "Up" };
    const { id } = await expectOk(client.post("if-entries", { ...port, fdb_macs: [mac] }));
    await expectOk(client.put(`if-entries/${id}`, { ...port, fdb_macs: [] }));
    for (const path of [`/?q=${ip}`, `/hosts/${host.id}`, `/subnets/${subnet.id}?tab=addresses`]) {
      await page.goto(appliance.url + path);
      await page.getByText("last seen at").first().waitFor();
      await page.getByRole("link", { name: "loft-sw" }).first().waitFor();
    }
    expect(visitor.problems()).toEqual([]);
  });
});
