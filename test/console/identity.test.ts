// Host identity in Chromium, on the executable: merging two hosts, splitting one, and no longer ignoring records; each
// with a preview and an undo.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";

const VIEWER = "viewer@acme.example";

describe.skipIf(!hasChromium)("host identity", () => {
  let discovery: DiscoveryClient;
  let subnet: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(async ({ addUser, client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    await addUser(VIEWER, "Viewer", [networkId]);
    const offices = { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", subnet_type: "Lan", tags: [] };
    subnet = await expectOk(client.post("subnets", offices));
  });

  const open = (path: string, target = page) => target.goto(appliance.url + path);
  const hosts = (search: string): Promise<JsonRecord[]> => discovery.list(`hosts?search=${search}`);
  const newHost = (name: string, addresses: readonly string[]): Promise<JsonRecord> =>
    expectOk(
      client.post("hosts", {
        network_id: appliance.networkId,
        name,
        hidden: false,
        tags: [],
        ip_addresses: addresses.map((ip_address) => ({ subnet_id: subnet.id, ip_address })),
      }),
    );
  const addressesOf = async (name: string): Promise<string[] | null> => {
    const [host] = (await hosts(name)).filter((host) => host.name === name);
    return host === undefined ? null : host.ip_addresses.map(({ ip_address }: JsonRecord) => ip_address).sort();
  };

  test("two hosts are consolidated after a preview, and split again", async () => {
    const core = await newHost("core-1", ["10.2.3.1"]);
    await newHost("core-1-oob", ["10.2.3.2"]);
    await open(`/hosts/${core.id}`);
    await page.getByRole("link", { name: "Join or split…" }).click();
    await page.getByLabel("The other host").fill("core-1-nobody");
    await page.getByText("No other host of this network has this name.").waitFor();
    await page.getByLabel("The other host").fill("core");
    await page.getByRole("button", { name: "core-1-oob" }).click();
    await page.getByText("Moves address 10.2.3.2").waitFor();
    await page.getByText("Closes host core-1-oob").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect([await addressesOf("core-1"), await addressesOf("core-1-oob")]).toEqual([["10.2.3.1"], ["10.2.3.2"]]);
    await page.getByLabel("Why").fill("one device, two cables");
    await page.getByRole("button", { name: "Join", exact: true }).click();
    await page.getByText("Done.").waitFor();
    expect([await addressesOf("core-1"), await addressesOf("core-1-oob")]).toEqual([["10.2.3.1", "10.2.3.2"], null]);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect([await addressesOf("core-1"), await addressesOf("core-1-oob")]).toEqual([["10.2.3.1"], ["10.2.3.2"]]);
    expect(visitor.problems()).toEqual([]);
  });

  test("only the previewed plan is consolidated, and a changed one is shown again", async () => {
    const left = await newHost("left-1", ["10.2.3.21"]);
    const right = await newHost("right-1", ["10.2.3.22"]);
    await open(`/hosts/${left.id}/identity`);
    await page.getByLabel("The other host").fill("right");
    await page.getByRole("button", { name: "right-1" }).click();
    await page.getByText("Moves address 10.2.3.22").waitFor();
    await expectOk(client.post("ip-addresses", { host_id: right.id, subnet_id: subnet.id, ip_address: "10.2.3.23" }));
    await page.getByRole("button", { name: "Join", exact: true }).click();
    await page.getByText("Records have changed in the meantime").waitFor();
    await page.getByText("Moves address 10.2.3.23").waitFor();
    expect([await addressesOf("left-1"), await addressesOf("right-1")]).toEqual([
      ["10.2.3.21"],
      ["10.2.3.22", "10.2.3.23"],
    ]);
    await page.getByRole("button", { name: "Join", exact: true }).click();
    await page.getByText("Done.").waitFor();
    expect(await addressesOf("left-1")).toEqual(["10.2.3.21", "10.2.3.22", "10.2.3.23"]);
    expect(visitor.problems().filter((problem) => !/409/.test(problem))).toEqual([]);
  });

  test("a host is split by selected parts", async () => {
    const both = await newHost("server-1", ["10.2.3.11", "10.2.3.12"]);
    await open(`/hosts/${both.id}/identity`);
    const plan = page.getByRole("button", { name: "Preview…" });
    await page.getByLabel("10.2.3.12").check();
    await expectEventually(() => plan.isDisabled(), true);
    await page.getByLabel("Name of the new host").fill("server-2");
    await page.reload();
    await page.getByText("Your input was restored.").waitFor();
    await expectEventually(() => page.getByLabel("10.2.3.12").isChecked(), true);
    await expectEventually(() => page.getByLabel("Name of the new host").inputValue(), "server-2");
    await plan.click();
    await page.getByText("Creates host server-2").waitFor();
    await page.getByText("Moves address 10.2.3.12").waitFor();
    // Cancel keeps all input.
    await page.getByRole("button", { name: "Cancel" }).click();
    await expectEventually(() => page.getByLabel("10.2.3.12").isChecked(), true);
    await expectEventually(() => page.getByLabel("Name of the new host").inputValue(), "server-2");
    await plan.click();
    await page.getByRole("button", { name: "Split", exact: true }).click();
    await page.getByText("Done.").waitFor();
    expect([await addressesOf("server-1"), await addressesOf("server-2")]).toEqual([["10.2.3.11"], ["10.2.3.12"]]);
    const newHostLink = page.getByText("The new host: server-2").getByRole("link", { name: "server-2" });
    await expectEventually(() => newHostLink.getAttribute("href"), `/hosts/${(await hosts("server-2"))[0]?.id}`);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect([await addressesOf("server-1"), await addressesOf("server-2")]).toEqual([["10.2.3.11", "10.2.3.12"], null]);
    expect(await newHostLink.count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
  });

  test("a deleted host stops being ignored, and undo ignores it again", async () => {
    await discovery.runScan({ network_id: appliance.networkId, kind: "sweep", targets: ["127.0.9.1"] });
    const [found] = await hosts("127.0.9.1");
    await expectOk(client.send("DELETE", `hosts/${found?.id}?ignore=true`));
    const entries = async () => (await discovery.list("discovery/ignored")).map(({ label }) => label);
    expect(await entries()).toEqual(["127.0.9.1"]);
    await open("/discovery/ignored");
    await page.getByRole("row").filter({ hasText: "127.0.9.1" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Stop ignoring" }).click();
    const plan = page.getByRole("region", { name: "Stop ignoring" });
    await plan.getByText("Removes ignored record 127.0.9.1").waitFor();
    await plan.getByText("The next scan that finds the record creates it again.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await entries()).toEqual(["127.0.9.1"]);
    await plan.getByLabel("Why").fill("a new printer");
    await plan.getByRole("button", { name: "Stop ignoring" }).click();
    await plan.getByText("Done.").waitFor();
    await page.getByText("No entries.").waitFor();
    expect(await entries()).toEqual([]);
    await plan.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("row").filter({ hasText: "127.0.9.1" }).waitFor();
    expect(await entries()).toEqual(["127.0.9.1"]);
    expect(visitor.problems()).toEqual([]);
  });

  test("actions are not offered to a Viewer, nor in the past", async () => {
    const [host] = await hosts("core-1");
    await open(`/hosts/${host?.id}/identity?at=2026-01-01T00:00:00Z`);
    await page.getByText("Hosts can't be joined or split in the past.").waitFor();
    const { page: viewerPage } = await appliance.visitAs(VIEWER, `/hosts/${host?.id}/identity`);
    await viewerPage.getByText("Your role can't join or split hosts.").waitFor();
    await open(`/hosts/${host?.id}`, viewerPage);
    await viewerPage.getByRole("heading", { name: "core-1" }).waitFor();
    expect(await viewerPage.getByRole("link", { name: "Join or split…" }).count()).toBe(0);
    const status = await viewerPage.evaluate<number>(
      `fetch("/api/v1/hosts/${host?.id}/split", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "mine", dry_run: true }) }).then(({ status }) => status)`,
    );
    expect(status).toBe(403);
  });
});
