// What changed, in Chromium, on the executable: the feed and its filters, one transaction whole, two instants compared.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("what changed", () => {
  let workplace: Workplace;
  let appliance: Awaited<ReturnType<Workplace["serveSetUp"]>>;
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
    await page.keyboard.press("Enter");
    await page.waitForURL(/reason=4711/);
    const reason = page.getByLabel("Reason contains").and(page.locator(":focus"));
    const change = page.locator(".transaction");
    await change.getByText("VLAN 120 Phones: name Voice → Phones").waitFor();
    // Those that were there before have it, too.
    await settles(() => change.count(), 1);
    // Whoever narrows it further is where they were, and comes back to what they asked before.
    await reason.fill("4712");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/reason=4712/);
    await page.goBack();
    await settles(() => page.getByLabel("Reason contains").inputValue(), "4711");
    await settles(() => page.getByLabel("Kinds").inputValue(), "vlan");
    await settles(() => change.count(), 1);
    expect(all).toBeGreaterThan(1);
    await change.getByRole("button").click();
    await change.getByText("Phones").first().waitFor();
    await settles(() => change.locator("del").first().textContent(), "Voice");
    await change.getByRole("link", { name: /^Transaction \d+$/ }).click();
    await page.getByRole("heading", { name: /^Transaction \d+$/ }).waitFor();
    await page.getByText("CHG-4711: as it is called").waitFor();
    await page.locator(".phrases").getByText("name Voice → Phones").waitFor();
    await page.getByRole("link", { name: "Compare before and after" }).click();
    await page.getByRole("heading", { name: "Compare", exact: true }).waitFor();
    await page.getByText("1 VLAN", { exact: true }).waitFor();
    await settles(() => page.locator("ins").first().textContent(), "Phones");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("is told in sentences whose names lead to the record as it was then, also where it is gone since", async () => {
    const { client, networkId } = appliance;
    const gone = await made(client.post("hosts", { network_id: networkId, name: "old-1", hidden: false, tags: [] }));
    await made(client.delete(`hosts/${gone.id}`));
    const page = await visitor.open("/changes");
    const line = page.locator(".transaction").filter({ hasText: "host old-1 gone" });
    await line.getByRole("link", { name: "old-1" }).click();
    await page.getByRole("heading", { name: "old-1" }).waitFor();
    await page.getByRole("status").filter({ hasText: "As of" }).waitFor();
    await page.goto(`${appliance.running.url}/`);
    const latest = page.getByRole("heading", { name: "Latest changes" }).locator("xpath=..");
    await latest.getByText("host old-1 gone").waitFor();
    await latest.getByText("new host old-1").waitFor();
    await latest.getByRole("link", { name: "All changes" }).click();
    await page.getByRole("heading", { name: "Changes" }).waitFor();
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

  test("is paged in the address: a page that is sent stays what it was, whatever is written meanwhile", async () => {
    const { client, networkId } = appliance;
    for (let number = 1_000; number < 1_060; number += 1)
      await made(client.post("vlans", { network_id: networkId, number, name: `lab ${number}` }));
    const page = await visitor.open("/changes?types=vlan");
    await page.getByText("new VLAN 1059 lab 1059").waitFor();
    await page.getByRole("link", { name: "Older" }).click();
    const first = page.locator(".transaction").first();
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    const sent = page.url();
    expect(sent).toMatch(/[?&]offset=50&until=/);
    await made(client.post("vlans", { network_id: networkId, number: 2_000, name: "later" }));
    await page.goto(`${appliance.running.url}/ledger`);
    await page.goto(sent);
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    await page.getByLabel("Kinds").selectOption("");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("new VLAN 2000 later").waitFor();
    expect(page.url()).not.toMatch(/offset|until/);
    await page.goBack();
    await first.getByText("new VLAN 1009 lab 1009").waitFor();
    await page.getByRole("link", { name: "Newer" }).click();
    await first.getByText("new VLAN 2000 later").waitFor();
    expect(visitor.troubles()).toEqual([]);
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
