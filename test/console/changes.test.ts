// What changed, in Chromium, on the executable: the feed and its filters, one transaction whole, two instants compared.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("what changed", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let vlan: Wire;
  let before: string;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const served = await workplace.serveSetUp();
    appliance = served;
    const { client, networkId } = served;
    vlan = await made(client.post("vlans", { network_id: networkId, number: 120, name: "Voice" }));
    before = vlan.created_at;
    await made(client.post("vlans", { network_id: networkId, number: 130, name: "<i>Guests</i>" }));
    const { id, network_id, number } = vlan;
    await made(
      client.put(
        `vlans/${vlan.id}`,
        { id, network_id, number, name: "Phones" },
        { "x-change-reason": "CHG-4711: as it is called" },
      ),
    );
    visitor = await Visitor.arrive(served.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("is a feed that is narrowed by kind and reason, in the address, each line opening to what it changed", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, "/changes");
    await page.getByText("CHG-4711").waitFor();
    const all = await page.locator(".transaction").count();
    await page.getByLabel("Kinds").selectOption("vlan");
    await page.getByLabel("Reason contains").fill("4711");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/reason=4711/);
    await page.getByText("1 VLAN changed").click();
    expect(await page.locator(".transaction").count()).toBe(1);
    expect(all).toBeGreaterThan(1);
    const change = page.locator(".transaction");
    await change.getByText("Phones").first().waitFor();
    expect(await change.locator("del").first().textContent()).toBe("Voice");
    await change.getByRole("link", { name: /^Transaction \d+$/ }).click();
    await page.getByRole("heading", { name: /^Transaction \d+$/ }).waitFor();
    await page.getByText("CHG-4711: as it is called").waitFor();
    await page.getByRole("link", { name: "Compare before and after" }).click();
    await page.getByRole("heading", { name: "Compare", exact: true }).waitFor();
    await page.getByText("1 VLAN", { exact: true }).waitFor();
    expect(await page.locator("ins").first().textContent()).toBe("Phones");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("between two instants is compared whichever of them is set first, and taken along as CSV", async () => {
    const page = await visitor.open(`/compare?vs=${before}`);
    await page.getByText("2 VLANs").waitFor();
    await page.getByRole("link", { name: "<i>Guests</i>" }).waitFor();
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const text = await (await page.request.get(appliance.running.url + csv)).text();
    expect(text).toContain("Phones");
    await page.goto(`${appliance.running.url}/compare?at=${before}&vs=2099-01-01T00:00:00Z`);
    await page.locator(".difference, .problem").first().waitFor();
    expect(visitor.troubles().filter((each) => !each.includes("400"))).toEqual([]);
    await page.close();
  });

  test("a transaction that is not there says so", async () => {
    const page = await visitor.open("/changes/999999");
    await page.getByText("There is no such transaction").waitFor();
    await page.goto(`${appliance.running.url}/changes/nonsense`);
    await page.getByText("There is no such transaction").waitFor();
    expect(visitor.troubles().filter((each) => !each.includes("404"))).toEqual([]);
    await page.close();
  });

  test.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("has nothing that axe-core finds: %s, %i pixels wide", async (colorScheme, width) => {
    const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width, height: 740 } });
    const page = await own.signIn(OWNER, PASSWORD, "/changes");
    for (const address of [
      "/changes",
      "/changes?tab=activity",
      "/compare",
      `/compare?vs=${before}`,
      `/changes?at=${before}`,
    ]) {
      await page.goto(appliance.running.url + address);
      await page.locator(".transactions, .most li, .difference, .periods").last().waitFor();
      expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
      const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
      expect([address, beside <= 0]).toEqual([address, true]);
    }
    expect(own.troubles()).toEqual([]);
    await own.leave();
  });
});
