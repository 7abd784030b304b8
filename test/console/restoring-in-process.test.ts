// Restoring fields, records and transactions in the test process: only the selected fields of a record, against the
// version that was read; and a deleted switch with all its children.

import { afterEach, describe, expect, test } from "bun:test";
import { changedHost } from "../support/appliance/changed-host.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";
const PORTS = 48;

describe("restoring", () => {
  let discovery: DiscoveryClient;
  const { appliance, client, visitor, page } = visitForAll(async ({ addUser, client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    await addUser(VIEWER, "Viewer", [networkId]);
    await expectOk(client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", tags: [] }));
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const open = (path: string, target = page) => target.goto(appliance.url + path);
  const current = (id: string): Promise<JsonRecord> => expectOk(client.get(`hosts/${id}`));
  const bodyOf = ({ id, name, hidden, tags }: JsonRecord) => ({ id, name, hidden, tags });
  const offer = (name: string, target = page) => target.getByRole("button", { name: `Restore fields of ${name}` });

  test("two changed fields leaves the others alone, and is undone", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-1");
    await open(`/hosts/${host.id}?at=${host.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await offer("core-1-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-1-new" });
    await form.getByLabel("Description").check();
    await expectEventually(() => form.getByRole("checkbox").count(), 5);
    await form.getByText("in the attic").waitFor();
    // Warns about references deleted since.
    await form.getByText("without records deleted since").waitFor();
    await form.getByLabel("Tags").check();
    await form.getByLabel("Why").fill("CHG-13: it is in the cellar after all");
    await form.getByRole("button", { name: "Restore these 2 fields" }).click();
    await page.getByText("Saved.").waitFor();
    const [remainingTag] = host.tags;
    const restored = {
      name: "core-1-new",
      hostname: null,
      asset_tag: "A-2",
      description: "in the cellar",
      tags: [remainingTag],
    };
    expect(await current(host.id)).toMatchObject(restored);
    const [transaction] = await discovery.list("transactions?reason=CHG-13");
    expect(transaction).toMatchObject({ command: "host.update", changes: { host: { Updated: 1 } } });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect(await current(host.id)).toMatchObject({ ...restored, description: "in the attic", tags: [] });
  });

  test("does not overwrite a field changed in the meantime, and shows it again", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-2");
    await open(`/compare?vs=${host.updated_at}&types=host`);
    await offer("core-2-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-2-new" });
    await form.getByLabel("Asset tag").check();
    const { id, name, hidden, tags } = changed;
    await expectOk(client.put(`hosts/${id}`, { id, name, hidden, tags, asset_tag: "A-3" }));
    await form.getByRole("button", { name: "Restore this field" }).click();
    await form.getByText("The record was changed in the meantime.").waitFor();
    await form.getByText("A-3").waitFor();
    expect((await current(host.id)).asset_tag).toBe("A-3");
    await form.getByRole("button", { name: "Restore this field" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await current(host.id)).toMatchObject({ asset_tag: "A-1", name: "core-2-new", hostname: null });
    // The browser reports the expected refusal.
    expect(visitor.problems().filter((problem) => !/412/.test(problem))).toEqual([]);
  });

  test("shows remaining differences immediately in place, and offers concurrent changes", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-7");
    await changedHost(client, appliance.networkId, "core-8");
    await open(`/compare?vs=${host.updated_at}&types=host`);
    const lines = page.locator(".difference > li");
    const line = lines.filter({ hasText: "core-7" });
    await expectEventually(
      () => line.locator("dt").allTextContents(),
      ["Asset tag", "Description", "Host name", "Name", "Tags"],
    );
    const order = async () => (await lines.allTextContents()).map((text) => /core-\d/.exec(text)?.[0]);
    await expectEventually(order, ["core-8", "core-7"]);
    const restore = async (labels: readonly string[]) => {
      await offer("core-7").click();
      const form = page.getByRole("form", { name: /^Restore fields of core-7/ });
      for (const label of labels) await form.getByRole("checkbox", { name: new RegExp(`^${label}:`) }).check();
      await form.getByRole("button", { name: /^Restore (this|these)/ }).click();
      await line.getByText("Saved.").waitFor();
    };
    await restore(["Description", "Asset tag"]);
    await expectEventually(() => line.locator("dt").allTextContents(), ["Host name", "Name", "Tags"]);
    await line.getByRole("button", { name: "Close" }).click();
    // A restored field is no longer offered.
    await offer("core-7").click();
    await expectEventually(() => page.getByRole("form").getByRole("checkbox").count(), 3);
    await page.getByRole("form").getByRole("button", { name: "Cancel" }).click();
    await restore(["Host name", "Name", "Tags"]);
    // The deleted tag stays deleted, so tags still differ.
    await expectEventually(() => line.locator("dt").allTextContents(), ["Tags"]);
    expect(await order()).toEqual(["core-8", "core-7"]);
    // After the undo the difference is back.
    await line.getByRole("button", { name: "Undo", exact: true }).click();
    await line.getByRole("button", { name: "Undo" }).click();
    await line.getByText("Done.").waitFor();
    await expectEventually(() => line.locator(":scope > dl dt").allTextContents(), ["Host name", "Name", "Tags"]);
    await line.getByRole("button", { name: "Close" }).click();
    // Changes by others are offered, and do not move content until accepted.
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(await current(host.id)), description: "by others" }));
    const offered = page.locator(".live-note");
    await offered.getByText(/^1 change since/).waitFor();
    expect(await line.locator(":scope > dl dt").allTextContents()).toEqual(["Host name", "Name", "Tags"]);
    await offered.getByRole("button").click();
    await line.getByText("by others").waitFor();
  });

  test("is not offered to a Viewer, nor to an Owner between two past timestamps", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-3");
    const { page: viewerPage } = await appliance.openAs(VIEWER);
    for (const [target, path] of [
      [viewerPage, `/hosts/${host.id}?vs=${host.updated_at}`],
      [page, `/hosts/${host.id}?vs=${host.updated_at}&at=${changed.updated_at}`],
    ] as const) {
      await open(path, target);
      await target.locator(".difference").getByText("in the attic").waitFor();
      expect(await offer("core-3-new", target).count()).toBe(0);
    }
    await open(`/hosts/${host.id}?vs=${host.updated_at}`);
    await offer("core-3-new").click();
    await page.getByRole("form").getByText("without records deleted since").waitFor();
  });

  test("a record that differs only in its parts says so", async () => {
    const host = await expectOk(client.post("hosts", { network_id: appliance.networkId, name: "core-parts" }));
    const interfaceBody = { host_id: host.id, if_index: 1, if_descr: "Gi1/0/1" };
    const entry = await expectOk(client.post("if-entries", interfaceBody));
    await expectOk(client.put(`if-entries/${entry.id}`, { ...interfaceBody, if_alias: "to nowhere" }));
    await open(`/hosts/${host.id}?at=${entry.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await page.getByText("Its own fields are unchanged; only its ports, addresses and other parts differ.").waitFor();
    await expectOk(
      client.put(`hosts/${host.id}`, { id: host.id, name: "core-parts", hidden: false, asset_tag: "A-9", tags: [] }),
    );
    await page.reload();
    await page.getByRole("button", { name: "Restore fields of core-parts" }).waitFor();
    expect(await page.getByText("Its own fields are unchanged").count()).toBe(0);
  });

  test("reloads the plan before executing it if records changed in the meantime", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-6");
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-3" }));
    await open(`/hosts/${host.id}?at=${changed.updated_at}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore this state" });
    await plan.locator("del").getByText("A-3").waitFor();
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-4", hidden: true }));
    const before = (await expectOk(client.get("ledger"))).sequence;
    await plan.getByLabel("Why").fill("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByRole("alert").getByText("Records have changed in the meantime").waitFor();
    await plan.locator("del").getByText("A-4").waitFor();
    await expectEventually(() => plan.locator("dt").allTextContents(), ["Asset tag", "Hidden"]);
    expect((await expectOk(client.get("ledger"))).sequence).toBe(before);
    // The typed text is still there.
    expect(await plan.getByLabel("Why").inputValue()).toBe("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByText("Done.").waitFor();
    expect(await current(host.id)).toMatchObject({ asset_tag: "A-2", hidden: false });
    // An undo is also refused, with the reason.
    await plan.getByRole("button", { name: "Undo", exact: true }).click();
    const undo = page.getByRole("region", { name: "Undo this transaction" });
    await undo.locator("ins").getByText("A-4").waitFor();
    await expectOk(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-5" }));
    await undo.getByRole("button", { name: "Undo" }).click();
    await undo.getByRole("alert").waitFor();
    await undo.getByText("asset_tag was changed again since").waitFor();
    expect((await current(host.id)).asset_tag).toBe("A-5");
    // The browser reports the expected refusals.
    expect(visitor.problems().filter((problem) => !/409/.test(problem))).toEqual([]);
  });

  test("a deleted switch includes its 48 ports, addresses and cables, as its plan says", async () => {
    const core = await expectOk(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "core",
        interfaces: [{ if_index: 1, if_descr: "Te1/1", if_name: "Te1/1" }],
      }),
    );
    const [uplink] = (await expectOk(client.get(`hosts/${core.id}`))).interfaces;
    const access = await expectOk(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "access-1",
        ip_addresses: [{ ip_address: "10.2.3.41" }, { ip_address: "10.2.3.42" }],
        interfaces: Array.from({ length: PORTS }, (_, port) => ({
          if_index: port + 1,
          if_descr: `GigabitEthernet1/0/${port + 1}`,
          if_name: `Gi1/0/${port + 1}`,
          ...(port === PORTS - 1 ? { neighbor: { type: "IfEntry", id: uplink.id } } : {}),
        })),
      }),
    );
    const before = await current(access.id);
    expect(before.interfaces).toHaveLength(PORTS);
    await open(`/hosts/${access.id}`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "Delete host access-1" }).waitFor();
    await page.locator("form").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
    expect((await client.get(`hosts/${access.id}`)).status).toBe(404);
    await page.getByRole("link", { name: "Show last state" }).click();
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore this state" });
    await plan.getByText("Restores host access-1").waitFor();
    await plan.getByText("Restores address 10.2.3.41").waitFor();
    // Children are counted, with a list on demand.
    await plan.getByText(`Restores ${PORTS} interfaces`).click();
    await plan.getByText("Restores interface Gi1/0/48").waitFor();
    await expectEventually(() => plan.getByText(/^Restores interface/).count(), PORTS);
    expect((await client.get(`hosts/${access.id}`)).status).toBe(404);
    await plan.getByLabel("Why").fill("CHG-14: deleted by mistake");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByText("Done.").waitFor();
    const after = await current(access.id);
    const partsOf = ({ ip_addresses, interfaces }: JsonRecord) => ({
      addresses: ip_addresses.map(({ id, ip_address }: JsonRecord) => [id, ip_address]),
      interfaces: interfaces.map(({ id, if_index, if_name, neighbor }: JsonRecord) => [
        id,
        if_index,
        if_name,
        neighbor,
      ]),
    });
    expect(partsOf(after)).toEqual(partsOf(before));
    expect(after.interfaces.at(-1).neighbor).toEqual({ type: "IfEntry", id: uplink.id });
    await plan.getByRole("link", { name: /^Transaction/ }).click();
    await page.getByText("CHG-14: deleted by mistake").first().waitFor();
    const [transaction] = await discovery.list("transactions?reason=CHG-14");
    expect(page.url()).toEndWith(`/changes/${transaction?.sequence}`);
    expect(transaction).toMatchObject({ command: "host.restore", changes: { if_entry: { Created: PORTS } } });
    // The page of a deleted record also restores it, and then redirects to the record's page.
    await expectOk(client.delete(`hosts/${access.id}`));
    await open(`/hosts/${access.id}`);
    await page.getByRole("button", { name: "Restore" }).click();
    await plan.getByText("Restores host access-1").waitFor();
    await plan.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Restored.").waitFor();
    await page.getByRole("link", { name: /^transaction/ }).waitFor();
    expect(partsOf(await current(access.id))).toEqual(partsOf(before));
    // The page requests the record while it is deleted, and expects the 404.
    expect(visitor.problems().filter((problem) => !/404/.test(problem))).toEqual([]);
  });
});
