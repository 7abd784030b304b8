// Bulk writes in the test process, with their preview and undo.

import { beforeEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { addHostsInHalls } from "../support/appliance/halls.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("bulk editing", () => {
  const { appliance, client, visitor, page } = visitForAll(({ client, networkId }) =>
    addHostsInHalls(client, networkId),
  );

  beforeEach(() => void visitor.problems());

  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = (path: string) => expectOk(client.get(path)) as unknown as Promise<JsonRecord[]>;
  const countAt = async (location: string) => (await list(`hosts?limit=0&filter=sys_location = "${location}"`)).length;
  const openFiltered = (filter: string) => page.goto(`${appliance.url}/hosts?${new URLSearchParams({ filter })}`);
  const undo = async () => {
    await button("Undo").click();
    await button("Undo").click();
    await page.getByText("Done.").waitFor();
  };

  test("renames the location of all matches of a filter after a preview, and undoes it", async () => {
    await openFiltered('sys_location = "Hall 1"');
    await page.getByText("All 20 matching hosts").waitFor();
    await button("Edit").click();
    await page.getByRole("heading", { name: "Edit 20 hosts" }).waitFor();
    await expectEventually(() => button("Preview").isDisabled(), true);
    await page.getByLabel("Add a field to set").selectOption({ label: "Location" });
    await page.getByRole("region", { name: "Edit 20 hosts" }).getByLabel("Location").fill("Hall North");
    await button("Preview").click();
    await page.getByText("20 hosts would change.").waitFor();
    await page.getByRole("listitem").filter({ hasText: "access-1: Location Hall 1 to Hall North" }).first().waitFor();
    expect(await countAt("Hall North")).toBe(0);
    await page.getByLabel("Why").fill("CHG-7");
    await button("Change 20 hosts").click();
    await page.getByText("Saved.").waitFor();
    expect([await countAt("Hall North"), await countAt("Hall 1")]).toEqual([20, 0]);
    await undo();
    expect([await countAt("Hall North"), await countAt("Hall 1")]).toEqual([0, 20]);
    expect(visitor.problems()).toEqual([]);
  });

  test("reloads the plan if another user changed one of the records", async () => {
    await openFiltered('sys_location = "Hall 2"');
    await button("Edit").click();
    await page.getByLabel("Add a field to set").selectOption({ label: "Description" });
    await page.getByRole("region", { name: "Edit 20 hosts" }).getByLabel("Description").fill("leased");
    await button("Preview").click();
    await page.getByText("20 hosts would change.").waitFor();
    const [host] = await list('hosts?limit=1&filter=sys_location = "Hall 2"');
    await expectOk(client.post("hosts/bulk-update", { ids: [host?.id], set: { description: "leased" } }));
    await button("Change 20 hosts").click();
    await page.getByText("Some records have changed in the meantime. The preview has been updated.").waitFor();
    await page.getByText("19 hosts would change, 1 would remain unchanged.").waitFor();
    await button("Change 19 hosts").click();
    await page.getByText("Saved.").waitFor();
    expect(await list('hosts?limit=0&filter=description = "leased"')).toHaveLength(20);
  });

  test("refuses an outdated selection, and is disabled in the past", async () => {
    const otherNetwork = await expectOk(
      client.post("networks", { organization_id: appliance.organizationId, name: "Elsewhere" }),
    );
    await openFiltered('sys_location = "Hall 2"');
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete 20 hosts" }).waitFor();
    await page.getByRole("combobox", { name: "Network" }).selectOption(String(otherNetwork.id));
    await page.getByRole("heading", { name: "Delete 20 hosts" }).waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Network" }).selectOption("");
    await page.getByText("All 20 matching hosts").waitFor();
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete 20 hosts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("body").press("[");
    await page.getByRole("link", { name: "Back to now" }).waitFor();
    await page.getByRole("heading", { name: "Delete 20 hosts" }).waitFor({ state: "detached" });
    expect(await countAt("Hall 2")).toBe(20);
  });

  test("selects a range with Shift or by the keyboard", async () => {
    await openFiltered('sys_location = "Hall 2"');
    const boxes = page.getByRole("checkbox", { name: /^Select / });
    await boxes.nth(1).click();
    await boxes.nth(6).click({ modifiers: ["Shift"] });
    await page.getByText("6 selected").waitFor();
    expect(await Promise.all([0, 1, 4, 6, 7].map((row) => boxes.nth(row).isChecked()))).toEqual([
      ...[false, true, true, true, false],
    ]);
    await boxes.nth(2).click({ modifiers: ["Shift"] });
    await expectEventually(() => boxes.nth(2).isChecked(), true);
    await button("Select none").click();
    await page.getByRole("heading", { level: 1 }).click();
    for (const key of ["j", "x", "j", "j", "X"]) await page.keyboard.press(key);
    await page.getByText("3 selected").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("selects some, adds a tag, removes it from those that have it, and deletes them", async () => {
    const tag = await expectOk(client.post("tags", { name: "core", color: "Red" }));
    await openFiltered('name : "access-3"');
    for (const name of ["access-3", "access-30", "access-31"])
      await page.getByLabel(`Select ${name}`, { exact: true }).check();
    await button("Tags").click();
    await page.getByRole("region", { name: "Tags of 3 hosts" }).getByLabel("Tag").selectOption({ label: "core" });
    await page.getByText("0 of 3 have this tag.").waitFor();
    await button("Add to 3 hosts").click();
    await page.getByText("Saved.").waitFor();
    expect(await list(`hosts?filter=tags = "${tag.id}"`)).toHaveLength(3);
    await page.getByLabel("Select access-30", { exact: true }).check();
    await page.getByLabel("Select access-32", { exact: true }).check();
    await button("Tags").click();
    await page.getByRole("region", { name: "Tags of 2 hosts" }).getByLabel("Tag").selectOption({ label: "core" });
    await page.getByText("1 of 2 have this tag.").waitFor();
    await button("Remove from 1 host").click();
    // The notice of the first write is still shown.
    await page.getByRole("region", { name: "Tags of 2 hosts" }).waitFor({ state: "detached" });
    await page.getByText("Saved.").waitFor();
    expect(await list(`hosts?filter=tags = "${tag.id}"`)).toHaveLength(2);
    await page.getByLabel("Select access-3", { exact: true }).check();
    await page.getByLabel("Select access-31", { exact: true }).check();
    await button("Delete").click();
    await button("Delete 2 hosts").click();
    await page.getByText("Deleted.").waitFor();
    expect(await list(`hosts?filter=tags = "${tag.id}"`)).toHaveLength(0);
    await undo();
    expect(await list(`hosts?filter=tags = "${tag.id}"`)).toHaveLength(2);
    expect(visitor.problems()).toEqual([]);
  });

  test("covers all tags, networks and custom fields even if a network is chosen, since they belong to none", async () => {
    for (const name of ["first", "second"]) await expectOk(client.post("tags", { name, color: "Red" }));
    const filter = "name = first OR name = second";
    const query = new URLSearchParams({ network: appliance.networkId, filter });
    await page.goto(`${appliance.url}/settings/tags?${query}`);
    await page.getByText("All 2 matching tags").waitFor();
    const csv = await page.getByRole("link", { name: "Export CSV" }).getAttribute("href");
    expect((await page.request.get(appliance.url + csv)).status()).toBe(200);
    await button("Delete").click();
    await button("Delete 2 tags").click();
    await page.getByText("Deleted.").waitFor();
    expect(await list(`tags?filter=${filter}`)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });
});
