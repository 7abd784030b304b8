// Finding in Chromium, on the executable: where something is and was, for whom, and what is called as was asked.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Route } from "playwright-core";
import { askedOf } from "../../src/console/find/asked.ts";
import { pageOfRequest } from "../../src/console/find/attention.ts";
import { type Interval, isAtInstant, isCutOff, spanAround, staysOf } from "../../src/console/find/stays.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

describe("a question by its form", () => {
  test.each([
    "00:1b:21:AA:bb:cc",
    "00-1b-21-aa-bb-cc",
    "001b.21aa.bbcc",
    "001b-21aa-bbcc",
    "001B21AABBCC",
    "0:1b:21:aa:bb:cc",
    " 00 1b 21 aa bb cc ",
  ])("%s is a MAC address", (text) => {
    expect(askedOf(text)).toEqual({ by: "mac", value: "00:1b:21:aa:bb:cc" });
  });

  test.each([
    "10.2.3.4",
    "0.0.0.0",
    "255.255.255.255",
    "2001:db8::1",
    "::",
    "fe80::1b:21ff:feaa:bbcc",
    "::ffff:10.2.3.4",
  ])("%s is an IP address", (value) => {
    expect(askedOf(value)).toEqual({ by: "ip", value });
  });

  test.each(["web-1", "web-1.example.net", "Zürich Mitte", "1b21", "10.2.3.4.example", "مفتاح"])(
    "%s may be the name of a host",
    (value) => {
      expect(askedOf(value)).toEqual({ by: "hostname", value });
    },
  );

  test.each([
    "",
    " ",
    "120",
    "10.2.",
    "10.2.3.256",
    "010.2.3.4",
    "10.2.3.0/24",
    "VLAN 120",
    "gi1/0/7",
    "2001:db8::/32",
    "a\u0000b",
  ])("%j is none of these", (text) => {
    expect(askedOf(text)).toBeNull();
  });

  test("and a name is no longer than a name can be", () => {
    expect(askedOf("x".repeat(255))?.by).toBe("hostname");
    expect(askedOf("x".repeat(256))).toBeNull();
  });
});

describe("what needs attention", () => {
  test.each([
    [
      "/api/v1/if-entries?filter=changes%28oper_status%2C+%22-24h%22%29+%3E%3D+6",
      "/interfaces?filter=changes%28oper_status%2C+%22-24h%22%29+%3E%3D+6",
    ],
    ["/api/v1/hosts?filter=stale_since%3A*&network_id=7", "/hosts?filter=stale_since%3A*"],
    ["/api/v1/locate?mac=8c%3A16%3A45%3A31%3A4d%3A0e", "/?q=8c%3A16%3A45%3A31%3A4d%3A0e"],
    ["/api/v1/discovery/scans?status=Failed&network_id=7", "/discovery?filter=status+%3D+Failed"],
    ["/api/v1/discovery/scans/7/findings?type=Unreached", "/discovery/7?type=Unreached"],
    ["/api/v1/discovery/schedules?ids=7%2C8", "/discovery/schedules"],
    ["/api/v1/discovery/withheld?network_id=7", "/discovery/waiting"],
    ["/api/v1/no-such-list?status=Failed", null],
  ])("%s is shown at %j", (request, page) => {
    expect(pageOfRequest(request)).toBe(page);
  });
});

describe("where something has been", () => {
  const interval = (from: number, to: number | null, port: string) =>
    ({
      from: new Date(from).toISOString(),
      to: to === null ? null : new Date(to).toISOString(),
      switch: { id: "s", name: "s" },
      port: { id: port, name: port },
    }) as Interval;

  test("is told with the gaps in which nothing is known, each place by the same look", () => {
    const stays = staysOf(
      [interval(1_000, 2_000, "a"), interval(2_000, 3_000, "b"), interval(5_000, null, "a")],
      9_000,
    );
    expect(stays.map(({ from, to, tone, holds }) => [from, to, tone, holds])).toEqual([
      [1_000, 2_000, 0, false],
      [2_000, 3_000, 1, false],
      [3_000, 5_000, -1, false],
      [5_000, 9_000, 0, true],
    ]);
    expect(stays.map((stay) => isAtInstant(stay, 2_000))).toEqual([false, true, false, false]);
    expect(stays.map((stay) => isAtInstant(stay, null))).toEqual([false, false, false, true]);
    expect(staysOf([], 9_000)).toEqual([]);
  });

  test("ends with what is not known any more", () => {
    expect(staysOf([interval(1_000, 2_000, "a")], 9_000).at(-1)).toEqual({
      interval: null,
      from: 2_000,
      to: 9_000,
      holds: true,
      tone: -1,
    });
  });

  test("that lasts from before what was asked for does not begin there", () => {
    const span = { from: 1_000_000 };
    const cut = [1_000_000, 1_030_000, 1_090_000].map((from) => isCutOff({ from }, span));
    expect([cut, isCutOff({ from: 0 }, { from: null })]).toEqual([[true, true, false], false]);
  });

  test("is asked for the last month, for a month around an older instant, or from the beginning", () => {
    const day = 86_400_000;
    const now = 1_000.3 * day;
    expect(spanAround(null, now, false)).toEqual({ from: now - 30 * day, to: now, query: { from: "-30d" } });
    expect(spanAround(now - 14 * day, now, false)).toEqual(spanAround(null, now, false));
    const older = spanAround(now - 100 * day, now, false);
    expect([older.from, older.to]).toEqual([885 * day, 915 * day]);
    expect(older.query).toEqual({ from: "1972-06-04T00:00:00Z", to: "1972-07-04T00:00:00Z" });
    expect(spanAround(now - 15.5 * day, now, false).to).toBe(999 * day);
    expect(spanAround(now - 100 * day, now, true).query).toEqual({});
  });
});

const OWNER = "owner@acme.example";
const GUEST = "night@acme.example";
const MAC = "00:1b:21:aa:bb:cc";
const HOSTILE = `<script>document.title="run"</script> \u202egnp.exe 🖧 ${"w".repeat(180)}`;

describe.skipIf(!hasChromium)("finding", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let origin: string;
  let lastNight: string;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const served = await workplace.setUp();
    const guest = ["--email", GUEST, "--role", "Viewer", "--networks", served.networkId];
    const created = await workplace.command(
      "user",
      "create",
      ...guest,
      "--password-file",
      await workplace.passwordFile(),
    );
    expect(created).toMatchObject({ code: 0 });
    const running = await workplace.serve();
    appliance = { ...served, running };
    origin = running.url;
    lastNight = await fill();
  });

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  /** @returns an instant at which the MAC address was where it is no more */
  async function fill(): Promise<string> {
    const { networkId, organizationId, running, key } = appliance;
    const client = running.withKey(key);
    const host = (network_id: string, name: string, more: Wire = {}) =>
      made(client.post("hosts", { network_id, name, hidden: false, tags: [], ...more }));
    const secret = await made(client.post("networks", { organization_id: organizationId, name: "Vault" }));
    const subnet = await made(
      client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Lab", subnet_type: "Lan", tags: [] }),
    );
    const address = { subnet_id: subnet.id, ip_address: "10.2.3.4", mac_address: MAC };
    const range = { first: "10.2.3.200", last: "10.2.3.220", purpose: "Dhcp", description: "Clients", tags: [] };
    await made(client.post("ip-ranges", { network_id: networkId, subnet_id: subnet.id, ...range }));
    await host(networkId, "laptop-7", { ip_addresses: [address] });
    const port = async (network_id: string, name: string, fdb_macs: string[]) => {
      const { id: host_id } = await host(network_id, name);
      const fields = { host_id, network_id, if_index: 7, if_descr: "GigabitEthernet1/0/7", if_name: "Gi1/0/7" };
      const entry = { ...fields, if_type: 6, admin_status: "Up", oper_status: "Up", fdb_macs };
      const { id } = await made(client.post("if-entries", entry));
      return { ...entry, id };
    };
    const moved = (entry: { readonly id: string }, fdb_macs: string[]) =>
      made(client.put(`if-entries/${entry.id}`, { ...entry, fdb_macs }));
    const library = await port(networkId, "library-sw", [MAC]);
    const reading = await port(networkId, "reading-sw", []);
    await port(secret.id, "vault-sw", [MAC]);
    const { updated_at } = await host(networkId, "printer-2");
    await moved(library, []);
    await moved(reading, [MAC]);
    await host(networkId, "twin");
    await host(networkId, "twin");
    await host(networkId, HOSTILE);
    const gone = await host(networkId, "old-server");
    await client.delete(`hosts/${gone.id}`);
    return updated_at;
  }

  test("finds where a MAC was last night and sends the link, which shows another user what is in his networks", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD);
    await page.keyboard.press("/");
    await page.keyboard.type(MAC.replaceAll(":", "").toUpperCase());
    await page.keyboard.press("Enter");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.getByRole("link", { name: "reading-sw" }).first().waitFor();
    await card.getByRole("row").filter({ hasText: "library-sw" }).last().getByRole("link").first().click();
    const then = page.getByRole("region", { name: "Where it was" });
    await then.locator(".locate-facts").first().getByRole("link", { name: "library-sw" }).waitFor();
    await then.getByText("Why", { exact: true }).first().click();
    await then
      .getByText(/forwards to 00:1b:21:aa:bb:cc/)
      .first()
      .waitFor();
    await then.getByRole("link", { name: "Gi1/0/7" }).first().waitFor();
    const link = page.url();
    expect(link).toContain("at=");
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();

    const other = await Visitor.arrive(origin);
    const opened = await other.signIn(GUEST, PASSWORD, link.slice(origin.length));
    const seen = opened.getByRole("region", { name: "Where it was" });
    await seen.locator(".locate-facts").first().getByRole("link", { name: "library-sw" }).waitFor();
    await opened.getByRole("heading", { name: "Interface" }).first().waitFor();
    expect(await opened.getByText("vault").count()).toBe(0);
    await opened.goto(`${origin}/?q=vault-sw`);
    await opened.getByText("Nothing is, or ever was, called “vault-sw”").waitFor();
    expect(other.troubles()).toEqual([]);
    await other.leave();
  });

  test("two devices of one name are both told, and each leads to its own page", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/?q=twin");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.locator(".note").getByText("2 hosts are called twin").waitFor();
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    const links = page.locator(".hits a");
    await settles(() => links.count(), 2);
    const addresses = await links.evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    expect(new Set(addresses).size).toBe(2);
    await links.first().click();
    await page.getByRole("heading", { name: "twin" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("what fails says so once, whatever was asked, and is asked again at once", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD);
    // Beside what the frame says of all pages.
    const problems = page.getByRole("main").getByRole("alert");
    const questions = /\/api\/v1\/(search|locate)/;
    const error = "The appliance is being restarted.";
    const body = { success: false, code: "internal_error", error, params: {}, meta: {} };
    const failing = [
      { how: (route: Route) => route.fulfill({ status: 503, json: body }), says: error },
      { how: (route: Route) => route.abort(), says: "The appliance did not answer." },
    ];
    for (const { how, says } of failing) {
      await page.route(questions, how);
      await page.goto(`${origin}/?q=10.2.3.4`);
      await problems.filter({ hasText: says }).waitFor();
      await page.locator("main:not(:has(.waiting))").waitFor();
      await settles(() => problems.count(), 1);
      expect(await accessibilityFindings(page)).toEqual([]);
      await page.unroute(questions);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("region", { name: "Where it is" }).getByRole("link", { name: "laptop-7" }).first().waitFor();
      await page.locator(".hits a").first().waitFor();
      expect(await problems.count()).toBe(0);
    }
    // What differs is told apart.
    await page.route(/\/api\/v1\/search/, (route) => route.abort());
    await page.route(/\/api\/v1\/locate/, (route) =>
      route.fulfill({ status: 500, json: { ...body, error: "Broken." } }),
    );
    await page.goto(`${origin}/?q=10.2.3.4`);
    await problems.filter({ hasText: "Broken." }).waitFor();
    await problems.filter({ hasText: "The appliance did not answer." }).waitFor();
    expect(visitor.troubles().filter((each) => !/net::ERR_|50[03]/.test(each))).toEqual([]);
    await visitor.leave();
  });

  test("an address that nobody has is said to be free, given out by DHCP, or in no subnet", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/?q=10.2.3.77");
    const card = page.getByRole("region", { name: "Where it is" });
    await card.getByText("Free in 10.2.3.0/24 Lab").waitFor();
    await page.goto(`${origin}/?q=10.2.3.200`);
    await card.getByText("Given out by DHCP (Clients) in 10.2.3.0/24 Lab").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await card.getByRole("link", { name: "10.2.3.0/24" }).click();
    await page.getByRole("heading", { name: "10.2.3.0/24" }).waitFor();
    await page.goto(`${origin}/?q=10.99.0.1`);
    await card.getByText("No subnet that is known has it.").waitFor();
    // At an instant at which there was no subnet yet.
    await page.goto(`${origin}/?q=10.2.3.77&at=2020-01-01T00:00:00Z`);
    await page.getByRole("region", { name: "Where it was" }).getByText("No subnet that is known has it.").waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("what is gone leads to what it was last, and what there never was says what to try", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD, "/?q=old-server");
    await page.locator(".hits").getByRole("link", { name: "old-server" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    expect(page.url()).toContain("at=");
    await page.goto(`${origin}/?q=10.99.0.1&network=${appliance.networkId}`);
    await page.getByText("Nothing is known of 10.99.0.1").waitFor();
    await page.getByText("Nothing is, or ever was, called “10.99.0.1”").waitFor();
    await page.getByRole("link", { name: "Look in all networks" }).click();
    await page.waitForURL(`${origin}/?q=10.99.0.1`);
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("names that would run, turn around or overflow are shown as they are", async () => {
    const visitor = await Visitor.arrive(origin, { viewport: { width: 360, height: 740 } });
    const page = await visitor.signIn(OWNER, PASSWORD, "/?q=document.title");
    await page.locator(".hits").getByText(HOSTILE).waitFor();
    expect(await page.title()).toBe("document.title · netledger");
    expect(await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth")).toBeLessThanOrEqual(
      0,
    );
    await page.goto(`${origin}/?q=${encodeURIComponent("<script>")}`);
    await page.locator(".hits").getByText(HOSTILE).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("the start leads to what is new, what needs attention, what was asked for, and what is pinned", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(OWNER, PASSWORD);
    await page.getByRole("heading", { name: "The last 24 hours" }).waitFor();
    await page.getByRole("link", { name: /hosts added/ }).waitFor();
    await page.locator(".start").getByRole("link", { name: "laptop-7" }).click();
    await page.getByRole("heading", { name: "laptop-7" }).waitFor();
    await page.getByRole("button", { name: "Pin" }).click();
    await page.getByRole("button", { name: "Pinned", pressed: true }).waitFor();
    await page.goto(`${origin}/?q=printer-2`);
    await page.locator(".hits").getByRole("link", { name: "printer-2" }).waitFor();
    await page.getByRole("link", { name: "Find", exact: true }).click();
    const atHand = page.locator(".start-line");
    await atHand.getByRole("link", { name: "printer-2" }).waitFor();
    await atHand.getByRole("link", { name: "laptop-7" }).waitFor();
    await page.getByRole("heading", { name: "Gone" }).waitFor();
    await page.locator(".trouble").filter({ hasText: "Gone" }).getByRole("link", { name: "old-server" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    await page.goto(`${origin}/`);
    await page.getByRole("link", { name: "in the last week" }).click();
    await page.getByRole("heading", { name: "What vanished" }).waitFor();
    await page.locator(".most").getByRole("link", { name: "old-server" }).first().waitFor();
    expect(visitor.troubles()).toEqual([]);
    // Of the pins the appliance knows, of the questions this browser: until one signs out.
    await page.goto(`${origin}/`);
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Password").waitFor();
    await page.close();
    const again = await visitor.signIn(OWNER, PASSWORD);
    await again.locator(".start-line").getByRole("link", { name: "laptop-7" }).waitFor();
    expect(await again.locator(".start-line").getByRole("link", { name: "printer-2" }).count()).toBe(0);
    await visitor.leave();
  });

  test.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("has nothing that axe-core finds, now and then: %s, %i pixels wide", async (colorScheme, width) => {
    const visitor = await Visitor.arrive(origin, { colorScheme, viewport: { width, height: 740 } });
    const page = await visitor.signIn(OWNER, PASSWORD);
    const found = [`/?q=${MAC}`, `/?q=${MAC}&at=${lastNight}`, "/?q=twin", "/?q=10.99.0.1"];
    for (const address of [...found, "/", `/?at=${lastNight}`, "/?at=2020-01-01T00:00:00Z"]) {
      await page.goto(origin + address);
      await page.locator(".hits, .start").first().waitFor();
      if (found.includes(address)) await page.locator(".locate").waitFor();
      for (const each of await page.locator(".locate summary").all()) await each.click();
      expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
      const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([address, beside <= 0]).toEqual([address, true]);
    }
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });
});
