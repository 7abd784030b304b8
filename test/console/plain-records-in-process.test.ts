// Records without a dedicated page, in the test process: editing, deletion, restoration and links, by the user's
// permissions.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";

describe("a record without a dedicated page", () => {
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  const open = (path: string) => page.goto(appliance.url + path);
  const fact = (name: string) => page.locator("dl.facts > div").filter({ has: page.getByText(name, { exact: true }) });

  test("is edited and deleted on its page, and restored from its deletion notice", async () => {
    await expectOk(
      client.post("subnets", { network_id: appliance.networkId, cidr: "10.7.0.0/24", subnet_type: "Lan" }),
    );
    const host = await expectOk(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "printer",
        ip_addresses: [{ ip_address: "10.7.0.9" }],
      }),
    );
    const [address] = host.ip_addresses as readonly JsonRecord[];
    await open(`/records/ip_address/${address?.id}`);
    await page.getByRole("heading", { name: "10.7.0.9", level: 1 }).waitFor();
    await fact("Host").getByRole("link", { name: "printer" }).waitFor();
    await page.keyboard.press("e");
    await page.locator("#edit-name").fill("tray 2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await fact("Name").getByText("tray 2").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page
      .getByRole("form", { name: "Delete address 10.7.0.9 tray 2" })
      .getByRole("button", { name: "Delete" })
      .click();
    await page.getByText("This address no longer exists. It was removed").waitFor();
    expect((await client.get(`ip-addresses/${address?.id}`)).status).toBe(404);
    await page.getByRole("button", { name: "Restore" }).click();
    const plan = page.getByRole("region", { name: "Restore this state" });
    await plan.getByText("Restores address 10.7.0.9").waitFor();
    await plan.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await expectOk(client.get(`ip-addresses/${address?.id}`))).toMatchObject({ name: "tray 2" });
    expect(visitor.problems()).toEqual([]);
  });

  test("of a network shows when records expire, lets it be changed, and lists what expires next", async () => {
    await open(`/records/network/${appliance.networkId}`);
    await fact("Random MACs expire after (hours)").getByText("72", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Expires next" }).waitFor();
    await page.getByText("Nothing expires").waitFor();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Hosts expire after (hours)").fill("48");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await fact("Hosts expire after (hours)").getByText("48", { exact: true }).waitFor();
    expect(await expectOk(client.get(`networks/${appliance.networkId}`))).toMatchObject({
      expire_hosts_after_hours: 48,
      expire_addresses_after_hours: 720,
    });
    expect(visitor.problems()).toEqual([]);
  });

  test("is linked from every difference, and found after being deleted elsewhere", async () => {
    const host = await expectOk(
      client.post("hosts", { network_id: appliance.networkId, name: "web", ports: [{ number: 443, protocol: "Tcp" }] }),
    );
    const [port] = host.ports as readonly JsonRecord[];
    await expectOk(client.delete(`ports/${port?.id}`, { "x-change-reason": "switched off" }));
    const { sequence } = await expectOk(client.get("ledger"));
    await open(`/changes/${sequence}`);
    await page.locator(".difference").getByRole("link", { name: "443/Tcp" }).click();
    // The port's last state: the link leads to the preceding transaction.
    await page.getByRole("heading", { name: "443/Tcp", level: 1 }).waitFor();
    expect(page.url()).toContain(`/records/port/${port?.id}?at=`);
    await page.keyboard.press("t");
    await page.getByText("switched off").first().waitFor();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("cannot be restored without permission, and is reported as unknown if it never existed", async () => {
    const tag = await expectOk(client.post("tags", { name: "spare", color: "Gray" }));
    await expectOk(client.delete(`tags/${tag.id}`));
    const { visitor: viewer, page: viewerPage } = await appliance.openAs(VIEWER, `/records/tag/${tag.id}`);
    await viewerPage.getByText("This tag no longer exists.").waitFor();
    await viewerPage.locator("ol.transactions > li").first().waitFor();
    await expectEventually(() => viewerPage.getByRole("button", { name: "Restore" }).count(), 0);
    expect(viewer.problems()).toEqual([]);
    await viewerPage.goto(`${appliance.url}/records/spaceship/${tag.id}`);
    await viewerPage.getByText("Record not found").waitFor();
    await viewerPage.goto(`${appliance.url}/records/tag/00000000-0000-4000-8000-000000000000`);
    await viewerPage.getByText("Tag not found").waitFor();
  });
});
