// Host page in Chromium, on the executable: its sections under axe-core, including on a phone, and its display rules.

import { describe, expect, test } from "bun:test";
import { firstPorts, isFaceplateShown, isLocationShown } from "../../src/console/hosts/faceplate-limits.ts";
import { managementLinks } from "../../src/console/hosts/management-links.ts";
import { neighborLinks, sinceByLink } from "../../src/console/hosts/neighbors.ts";
import {
  accessibilityFindings,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
} from "../support/browser/browser.ts";
import { type FilledHosts, fillHosts } from "../support/browser/hosts.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("the page of a host", () => {
  let filled: FilledHosts;
  const appliance = serveForAll(async ({ client, networkId }) => {
    filled = await fillHosts(client, networkId);
  });

  test("links to interface pages that describe type and far end in words", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, `/interfaces/${filled.ports[4]?.id}`);
    const fact = (name: string) => page.locator(".facts > div").filter({ hasText: name }).first().locator("dd");
    await page.getByRole("heading", { name: "Connected devices" }).waitFor();
    await page.locator(".facts").getByText("core-9", { exact: true }).first().waitFor();
    await expectEventually(() => fact("Neighbor").textContent(), "core-9 Te1/1/4");
    await expectEventually(() => fact("Type").textContent(), "Ethernet ethernetCsmacd, 6");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("shows a consolidated host as a former self, linked from its destination", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts/${filled.survivingHost.id}`);
    const former = page.getByText("Merged hosts");
    await former.waitFor();
    await page.locator("main:not(:has(.waiting))").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.goto(`${appliance.url}/hosts/${filled.survivingHost.id}?tab=history`);
    await former.waitFor();
    await page.getByRole("link", { name: "<b>10.2.3.99</b>" }).first().click();
    await page.getByRole("heading", { name: "<b>10.2.3.99</b>", level: 1 }).waitFor();
    expect(page.url()).toContain("at=");
    expect(await former.count()).toBe(0);
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "core-router" }).click();
    await page.getByRole("heading", { name: "core-router", level: 1 }).waitFor();
    expect(page.url()).toContain("at=");
    await former.waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test.each(["light", "dark"] as const)("is accessible, on all tabs, now and in the past: %s", async (colorScheme) => {
    const contextOptions = { colorScheme, viewport: { width: 420, height: 740 } };
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts/${filled.switchId}`, contextOptions);
    for (const query of [
      "",
      "?tab=ports",
      "?tab=neighbors",
      "?tab=addresses",
      "?tab=services",
      "?tab=history",
      `?at=${filled.ports[5]?.created_at}`,
    ]) {
      await follow(page, `/hosts/${filled.switchId}${query}`);
      await page.locator("main table, main h2, .transactions, main p").first().waitFor();
      await expectAccessibleWithin(page, query);
    }
    expect(visitor.problems()).toEqual([]);
  });
});

describe("connected devices", () => {
  const end = (node_id: string, port: string | null) => ({ node_id, port });

  test("are listed from either end of a link, in port order", () => {
    const links = [
      { id: "a", ends: [end("x", "Gi1/0/10"), end("other", null)] },
      { id: "b", ends: [end("far", "Te1"), end("x", "Gi1/0/9")] },
      { id: "c", ends: [end("far", "Te2"), end("other", "Te3")] },
    ];
    expect(neighborLinks("x", links).map(({ near, far }) => [near.port, far.node_id])).toEqual([
      ["Gi1/0/9", "far"],
      ["Gi1/0/10", "other"],
    ]);
  });

  test("are connected since the start of their last interval, if that has not ended", () => {
    const fromMs = Date.parse("2026-03-01T00:00:00Z");
    const since = sinceByLink(
      [
        { id: "longer", ends: [], intervals: [{ from: "2026-03-01T00:00:00.000Z", to: null }] },
        {
          id: "again",
          ends: [],
          intervals: [
            { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" },
            { from: "2026-03-05T00:00:00.000Z", to: null },
          ],
        },
        { id: "gone", ends: [], intervals: [{ from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" }] },
      ],
      fromMs,
    );
    expect([...since]).toEqual([
      ["longer", { instant: "2026-03-01T00:00:00.000Z", isOrEarlier: true }],
      ["again", { instant: "2026-03-05T00:00:00.000Z", isOrEarlier: false }],
    ]);
  });
});

describe("ports on the overview", () => {
  const group = (count: number) => ({ ports: Array.from({ length: count }, (_, index) => index) });

  test("are shown from four ports on, up to the available space", () => {
    expect([0, 3, 4, 3_271].map(isFaceplateShown)).toEqual([false, false, true, true]);
    const isShown = (interfaces: number, addresses: number) => isLocationShown({ interfaces, ip_addresses: addresses });
    expect([isShown(0, 1), isShown(3, 50), isShown(3, 51), isShown(4, 1)]).toEqual([true, true, false, false]);
    const sizes = (counts: readonly number[]) => firstPorts(counts.map(group), 100).map(({ ports }) => ports.length);
    expect(sizes([48, 4])).toEqual([48, 4]);
    expect(sizes([48, 52, 1])).toEqual([48, 52]);
    expect(sizes([48, 60, 9])).toEqual([48, 52]);
    expect(sizes([300])).toEqual([100]);
    expect(firstPorts([group(300)], 100)[0]?.ports.at(-1)).toBe(99);
  });
});

describe("management links", () => {
  const host = { management_url: null, ip_addresses: [{ ip_address: "2001:db8::1" }], ports: [] };

  test("lead to listening ports, with IPv6 in brackets", () => {
    const ports = [
      { number: 22, protocol: "Tcp" },
      { number: 443, protocol: "Tcp" },
    ];
    expect(managementLinks({ ...host, ports }).map(({ href }) => href)).toEqual([
      "ssh://[2001:db8::1]",
      "https://[2001:db8::1]/",
    ]);
    expect(managementLinks(host)).toEqual([]);
  });

  test.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "not a url",
    "ssh://-oProxyCommand=x/",
    "ssh://-lroot@sw-1/",
    "https://bank.example@sw-1/",
  ])("never contain %s, whatever a device announces", (management_url) => {
    expect(managementLinks({ ...host, management_url })).toEqual([]);
  });
});
