// Pending approvals in Chromium, on the executable: addresses and subnets added by a Member, with the effect of sending
// credentials there; approved singly and in bulk, and withdrawn; and the view of other roles.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, hasChromium, Visitor } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { PASSWORD } from "../support/executable/executable.ts";

const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";

describe.skipIf(!hasChromium)("items pending an Admin's approval", () => {
  let discovery: DiscoveryClient;
  let member: Visitor;
  let host: JsonRecord;
  const fill: Fill = async ({ addUser, client, networkId, organizationId, url }) => {
    discovery = new DiscoveryClient(client, organizationId);
    await addUser(MEMBER, "Member", [networkId]);
    await addUser(VIEWER, "Viewer", [networkId]);
    await expectOk(client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", tags: [] }));
    host = await expectOk(
      client.post("hosts", { network_id: networkId, name: "core-1", ip_addresses: [{ ip_address: "10.2.3.1" }] }),
    );
    await discovery.credential(community("s3cret"), [networkId], { name: "campus" });
    await discovery.credential(community("s3cret"), [], { name: "core", host_assignments: [{ host_id: host.id }] });
    member = await Visitor.create(url);
    await member.signIn(MEMBER, PASSWORD);
  };
  const { appliance, client, visitor: admin, page } = visitForAll(fill);

  const open = (path: string, target = page) => target.goto(appliance.url + path);
  const pendingValues = async (): Promise<string[]> =>
    (await discovery.list("discovery/withheld")).map(({ value }) => value);

  /** Sends a request as the Member, with the browser's session. */
  async function asMember(method: "post" | "put" | "delete", path: string, data: JsonRecord): Promise<JsonRecord> {
    const origin = appliance.url;
    const [tab] = member.context.pages();
    const response = await (tab as Page).request[method](`${origin}/api/v1/${path}`, { data, headers: { origin } });
    const body = await response.json();
    if (!response.ok()) throw new Error(JSON.stringify(body));
    return body.data;
  }
  const newAddress = (ip_address: string) => asMember("post", "ip-addresses", { host_id: host.id, ip_address });
  const row = (value: string) => page.getByRole("row").filter({ hasText: value });

  test("an address given to a host by a Member appears live, is confirmed, and the confirmation is undone", async () => {
    await open("/discovery/waiting");
    await page.getByText("No items are waiting").waitFor();
    await newAddress("10.2.3.9");
    await row("10.2.3.9").getByText("The SNMP credential “core” would be sent to 10.2.3.9").waitFor();
    await row("10.2.3.9").getByText(MEMBER).waitFor();
    await page.getByRole("link", { name: "Waiting 1" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The same rows as a table.
    const exported = await page.getByRole("link", { name: "Export CSV" }).getAttribute("href");
    expect(exported).toBe("/api/v1/discovery/withheld/export/csv");
    const table = await page.request.get(appliance.url + exported);
    expect(await table.text()).toContain(",10.2.3.9,");
    await page.getByRole("button", { name: "Confirm: 10.2.3.9" }).click();
    const plan = page.getByRole("region", { name: "Approve credentials" });
    await plan.getByText("would be sent to 10.2.3.9, as an address of core-1").waitFor();
    // An entry without a changed field names none.
    await expectEventually(
      () => plan.getByRole("listitem").allTextContents(),
      ["Changes address 10.2.3.9 The SNMP credential “core” would be sent to 10.2.3.9, as an address of core-1."],
    );
    await plan.getByText("Undo the transaction to stop that").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await pendingValues()).toEqual(["10.2.3.9"]);
    await plan.getByLabel("Why").fill("CHG-12: new uplink");
    await plan.getByRole("button", { name: "Approve" }).click();
    await plan.getByText("Done.").waitFor();
    await page.getByText("No items are waiting").waitFor();
    expect(await pendingValues()).toEqual([]);
    const [transaction] = await discovery.list("transactions?reason=CHG-12");
    expect(transaction).toMatchObject({ command: "ip_address.confirm", reason: "CHG-12: new uplink" });
    await plan.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    await row("10.2.3.9").waitFor();
    expect(await pendingValues()).toEqual(["10.2.3.9"]);
    expect(admin.problems()).toEqual([]);
  });

  test("several are opened from the start page, approved together, and undone together", async () => {
    const subnet = await asMember("post", "subnets", {
      network_id: appliance.networkId,
      cidr: "10.2.9.0/24",
      subnet_type: "Lan",
    });
    await open("/");
    await page.getByRole("link", { name: "2 items need an admin's approval" }).click();
    await page.getByRole("heading", { name: "Waiting for an Admin" }).waitFor();
    // The credential's page links there as well.
    await open("/settings/credentials");
    await page.getByRole("link", { name: "campus" }).click();
    await page.getByRole("link", { name: "Items that need an Admin's approval" }).click();
    await page.getByRole("heading", { name: "Waiting for an Admin" }).waitFor();
    await row("10.2.9.0/24").getByText("would be sent to every address of 10.2.9.0/24").waitFor();
    await page.getByLabel("Select 10.2.9.0/24").check();
    await page.getByLabel("Select 10.2.3.9").check();
    await page.getByRole("button", { name: "Approve 2 selected" }).click();
    const plan = page.getByRole("region", { name: "Approve credentials" });
    await plan.getByText("would be sent to every address of 10.2.9.0/24").waitFor();
    await plan.getByRole("button", { name: "Approve" }).click();
    await plan.getByText("Done.").waitFor();
    await expectEventually(() => plan.getByRole("link", { name: /^Transaction/ }).count(), 2);
    await page.getByText("No items are waiting").waitFor();
    expect(await pendingValues()).toEqual([]);
    const after = await expectOk(client.get(`subnets/${subnet.id}`));
    expect(after).toMatchObject({ accepts_credentials: true, cidr: "10.2.9.0/24", subnet_type: "Lan" });
    await plan.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    await row("10.2.3.9").waitFor();
    expect(await pendingValues()).toEqual(["10.2.9.0/24", "10.2.3.9"]);
    expect((await expectOk(client.get(`subnets/${subnet.id}`))).accepts_credentials).toBe(false);
    expect(admin.problems()).toEqual([]);
  });

  test("a record changed since its preview is not approved", async () => {
    const address = await newAddress("10.2.3.20");
    await open("/discovery/waiting");
    await page.getByRole("button", { name: "Confirm: 10.2.3.20" }).click();
    const plan = page.getByRole("region", { name: "Approve credentials" });
    await plan.getByText("would be sent to 10.2.3.20,").waitFor();
    await asMember("put", `ip-addresses/${address.id}`, { ip_address: "10.2.3.66" });
    await plan.getByRole("button", { name: "Approve" }).click();
    await plan.getByText("10.2.3.20 has changed since this page was loaded.").waitFor();
    expect(await pendingValues()).toEqual(["10.2.9.0/24", "10.2.3.9", "10.2.3.66"]);
    // The browser reports the expected refusal.
    expect(admin.problems().filter((problem) => !/412/.test(problem))).toEqual([]);
  });

  test("a Member and a Viewer see pending items and the role that approves them, now and in the past", async () => {
    const phone = { viewport: { width: 360, height: 740 } };
    const { visitor: viewer, page: viewerPage } = await appliance.visitAs(VIEWER, "/", phone);
    await viewerPage.getByRole("heading", { name: "Needs attention" }).waitFor();
    expect(await viewerPage.getByText("for an Admin").count()).toBe(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await viewerPage.emulateMedia({ colorScheme });
      await open("/discovery/waiting", viewerPage);
      await viewerPage.getByText("Only an Admin can approve them.").waitFor();
      await viewerPage.getByText("would be sent to 10.2.3.9,").waitFor();
      expect(await accessibilityFindings(viewerPage)).toEqual([]);
    }
    expect(await viewerPage.getByRole("button", { name: /^Confirm/ }).count()).toBe(0);
    expect(await viewerPage.getByRole("checkbox").count()).toBe(0);
    expect(viewer.problems()).toEqual([]);
    const [tab] = member.context.pages() as [Page];
    await open("/discovery/waiting", tab);
    await tab.getByText("Only an Admin can approve them.").waitFor();
    expect(await tab.getByRole("button", { name: /^Confirm/ }).count()).toBe(0);
    const { data } = await client.get("transactions?limit=1&order_direction=asc");
    const [first] = data as unknown as JsonRecord[];
    await open(`/discovery/waiting?at=${first?.at}`);
    await page.getByText("No items were waiting then.").waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
