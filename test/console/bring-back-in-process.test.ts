// Restored fields, records and transactions in the test process: selected fields of a record only, against the version
// that was read; and a deleted switch with all its children.

import { beforeEach, describe, expect, test } from "bun:test";
import { changedHost } from "../support/appliance/changed-host.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { visitForAll } from "../support/page/visit.ts";
import { settles } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";
const PORTS = 48;

describe("restoring", () => {
  let discovery: DiscoveryClient;
  const { appliance, client, visitor, page } = visitForAll(async ({ addUser, client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    await addUser(VIEWER, "Viewer", [networkId]);
    await made(client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Offices", tags: [] }));
  });

  beforeEach(() => void visitor.troubles());

  const open = (path: string, on = page) => on.goto(appliance.url + path);
  const current = (id: string): Promise<Wire> => made(client.get(`hosts/${id}`));
  const bodyOf = ({ id, name, hidden, tags }: Wire) => ({ id, name, hidden, tags });
  const offer = (name: string, on = page) => on.getByRole("button", { name: `Restore fields of ${name}` });

  test("two changed fields leaves the others alone, and is undone", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-1");
    await open(`/hosts/${host.id}?at=${host.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await offer("core-1-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-1-new" });
    await form.getByLabel("Description").check();
    await settles(() => form.getByRole("checkbox").count(), 5);
    await form.getByText("in the attic").waitFor();
    // Warns about references deleted since.
    await form.getByText("without what is gone since").waitFor();
    await form.getByLabel("Tags").check();
    await form.getByLabel("Why").fill("CHG-13: it is in the cellar after all");
    await form.getByRole("button", { name: "Restore these 2 fields" }).click();
    await page.getByText("Saved.").waitFor();
    const [kept] = host.tags;
    const back = { name: "core-1-new", hostname: null, asset_tag: "A-2", description: "in the cellar", tags: [kept] };
    expect(await current(host.id)).toMatchObject(back);
    const [written] = await discovery.all("transactions?reason=CHG-13");
    expect(written).toMatchObject({ command: "host.update", changes: { host: { Updated: 1 } } });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect(await current(host.id)).toMatchObject({ ...back, description: "in the attic", tags: [] });
    expect(visitor.troubles()).toEqual([]);
  });

  test("does not overwrite a field changed in the meantime, and shows it again", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-2");
    await open(`/compare?vs=${host.updated_at}&types=host`);
    await offer("core-2-new").click();
    const form = page.getByRole("form", { name: "Restore fields of core-2-new" });
    await form.getByLabel("Asset tag").check();
    const { id, name, hidden, tags } = changed;
    await made(client.put(`hosts/${id}`, { id, name, hidden, tags, asset_tag: "A-3" }));
    await form.getByRole("button", { name: "Restore this field" }).click();
    await form.getByText("It was changed meanwhile.").waitFor();
    await form.getByText("A-3").waitFor();
    expect((await current(host.id)).asset_tag).toBe("A-3");
    await form.getByRole("button", { name: "Restore this field" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await current(host.id)).toMatchObject({ asset_tag: "A-1", name: "core-2-new", hostname: null });
    // The browser reports the expected refusal.
    expect(visitor.troubles().filter((trouble) => !/412/.test(trouble))).toEqual([]);
  });

  test("shows remaining differences at once in place, and offers concurrent changes", async () => {
    const { host } = await changedHost(client, appliance.networkId, "core-7");
    await changedHost(client, appliance.networkId, "core-8");
    await open(`/compare?vs=${host.updated_at}&types=host`);
    const lines = page.locator(".difference > li");
    const line = lines.filter({ hasText: "core-7" });
    await settles(
      () => line.locator("dt").allTextContents(),
      ["Asset tag", "Description", "Host name", "Name", "Tags"],
    );
    const order = async () => (await lines.allTextContents()).map((text) => /core-\d/.exec(text)?.[0]);
    await settles(order, ["core-8", "core-7"]);
    const bringBack = async (labels: readonly string[]) => {
      await offer("core-7").click();
      const form = page.getByRole("form", { name: /^Restore fields of core-7/ });
      for (const label of labels) await form.getByRole("checkbox", { name: new RegExp(`^${label}:`) }).check();
      await form.getByRole("button", { name: /^Restore (this|these)/ }).click();
      await line.getByText("Saved.").waitFor();
    };
    await bringBack(["Description", "Asset tag"]);
    await settles(() => line.locator("dt").allTextContents(), ["Host name", "Name", "Tags"]);
    await line.getByRole("button", { name: "Close" }).click();
    // A restored field is no longer offered.
    await offer("core-7").click();
    await settles(() => page.getByRole("form").getByRole("checkbox").count(), 3);
    await page.getByRole("form").getByRole("button", { name: "Cancel" }).click();
    await bringBack(["Host name", "Name", "Tags"]);
    // The deleted tag stays deleted, so tags still differ.
    await settles(() => line.locator("dt").allTextContents(), ["Tags"]);
    expect(await order()).toEqual(["core-8", "core-7"]);
    // After the undo the difference is back.
    await line.getByRole("button", { name: "Undo", exact: true }).click();
    await line.getByRole("button", { name: "Undo" }).click();
    await line.getByText("Done.").waitFor();
    await settles(() => line.locator(":scope > dl dt").allTextContents(), ["Host name", "Name", "Tags"]);
    await line.getByRole("button", { name: "Close" }).click();
    // Changes by others are offered, and do not move content until accepted.
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(await current(host.id)), description: "by others" }));
    const offered = page.locator(".live-note");
    await offered.getByText(/^1 change since/).waitFor();
    expect(await line.locator(":scope > dl dt").allTextContents()).toEqual(["Host name", "Name", "Tags"]);
    await offered.getByRole("button").click();
    await line.getByText("by others").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("is not offered to a Viewer, nor to an Owner between two past instants", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-3");
    const { page: theirs } = await appliance.arrived(VIEWER);
    for (const [on, path] of [
      [theirs, `/hosts/${host.id}?vs=${host.updated_at}`],
      [page, `/hosts/${host.id}?vs=${host.updated_at}&at=${changed.updated_at}`],
    ] as const) {
      await open(path, on);
      await on.locator(".difference").getByText("in the attic").waitFor();
      expect(await offer("core-3-new", on).count()).toBe(0);
    }
    await open(`/hosts/${host.id}?vs=${host.updated_at}`);
    await offer("core-3-new").click();
    await page.getByRole("form").getByText("without what is gone since").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("a record that differs in its parts only says so", async () => {
    const host = await made(client.post("hosts", { network_id: appliance.networkId, name: "core-parts" }));
    const named = { host_id: host.id, if_index: 1, if_descr: "Gi1/0/1" };
    const entry = await made(client.post("if-entries", named));
    await made(client.put(`if-entries/${entry.id}`, { ...named, if_alias: "to nowhere" }));
    await open(`/hosts/${host.id}?at=${entry.updated_at}`);
    await page.getByRole("link", { name: "Restore…" }).click();
    await page.getByText("Its own fields are unchanged; only its ports, addresses and other parts differ.").waitFor();
    await made(
      client.put(`hosts/${host.id}`, { id: host.id, name: "core-parts", hidden: false, asset_tag: "A-9", tags: [] }),
    );
    await page.reload();
    await page.getByRole("button", { name: "Restore fields of core-parts" }).waitFor();
    expect(await page.getByText("Its own fields are unchanged").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
  });

  test("reloads the plan before executing it if records changed in the meantime", async () => {
    const { host, changed } = await changedHost(client, appliance.networkId, "core-6");
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-3" }));
    await open(`/hosts/${host.id}?at=${changed.updated_at}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore it as it was" });
    await plan.locator("del").getByText("A-3").waitFor();
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-4", hidden: true }));
    const before = (await made(client.get("ledger"))).sequence;
    await plan.getByLabel("Why").fill("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByRole("alert").getByText("Records changed since you read this").waitFor();
    await plan.locator("del").getByText("A-4").waitFor();
    await settles(() => plan.locator("dt").allTextContents(), ["Asset tag", "Hidden"]);
    expect((await made(client.get("ledger"))).sequence).toBe(before);
    // The typed text is still there.
    expect(await plan.getByLabel("Why").inputValue()).toBe("CHG-15");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByText("Done.").waitFor();
    expect(await current(host.id)).toMatchObject({ asset_tag: "A-2", hidden: false });
    // The same for an undo, which is no longer possible and gives the reason.
    await plan.getByRole("button", { name: "Undo", exact: true }).click();
    const undo = page.getByRole("region", { name: "Undo this transaction" });
    await undo.locator("ins").getByText("A-4").waitFor();
    await made(client.put(`hosts/${host.id}`, { ...bodyOf(changed), asset_tag: "A-5" }));
    await undo.getByRole("button", { name: "Undo" }).click();
    await undo.getByRole("alert").waitFor();
    await undo.getByText("asset_tag was changed again since").waitFor();
    expect((await current(host.id)).asset_tag).toBe("A-5");
    // The browser reports the expected refusals.
    expect(visitor.troubles().filter((trouble) => !/409/.test(trouble))).toEqual([]);
  });

  test("a deleted switch includes its 48 ports, addresses and cables, as its plan says", async () => {
    const core = await made(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "core",
        interfaces: [{ if_index: 1, if_descr: "Te1/1", if_name: "Te1/1" }],
      }),
    );
    const [uplink] = (await made(client.get(`hosts/${core.id}`))).interfaces;
    const access = await made(
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
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    expect((await client.get(`hosts/${access.id}`)).status).toBe(404);
    await page.getByRole("link", { name: "Show it as it was last" }).click();
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.getByRole("region", { name: "Restore it as it was" });
    await plan.getByText("Brings back host access-1").waitFor();
    await plan.getByText("Brings back address 10.2.3.41").waitFor();
    // Children are counted, with a list on demand.
    await plan.getByText(`Brings back ${PORTS} interfaces`).click();
    await plan.getByText("Brings back interface Gi1/0/48").waitFor();
    await settles(() => plan.getByText(/^Brings back interface/).count(), PORTS);
    expect((await client.get(`hosts/${access.id}`)).status).toBe(404);
    await plan.getByLabel("Why").fill("CHG-14: deleted by mistake");
    await plan.getByRole("button", { name: "Restore this" }).click();
    await plan.getByText("Done.").waitFor();
    const after = await current(access.id);
    const shown = ({ ip_addresses, interfaces }: Wire) => ({
      addresses: ip_addresses.map(({ id, ip_address }: Wire) => [id, ip_address]),
      interfaces: interfaces.map(({ id, if_index, if_name, neighbor }: Wire) => [id, if_index, if_name, neighbor]),
    });
    expect(shown(after)).toEqual(shown(before));
    expect(after.interfaces.at(-1).neighbor).toEqual({ type: "IfEntry", id: uplink.id });
    await plan.getByRole("link", { name: /^Transaction/ }).click();
    await page.getByText("CHG-14: deleted by mistake").first().waitFor();
    const [written] = await discovery.all("transactions?reason=CHG-14");
    expect(page.url()).toEndWith(`/changes/${written?.sequence}`);
    expect(written).toMatchObject({ command: "host.restore", changes: { if_entry: { Created: PORTS } } });
    // The page of a deleted record also restores it, and then redirects to the record's page.
    await made(client.delete(`hosts/${access.id}`));
    await open(`/hosts/${access.id}`);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await plan.getByText("Brings back host access-1").waitFor();
    await plan.getByRole("button", { name: "Bring it back" }).click();
    await page.getByText("Brought back.").waitFor();
    await page.getByRole("link", { name: /^transaction/ }).waitFor();
    expect(shown(await current(access.id))).toEqual(shown(before));
    // The page requests the record while it is deleted, and expects the 404.
    expect(visitor.troubles().filter((trouble) => !/404/.test(trouble))).toEqual([]);
  });
});
