// Required change reasons in the console, in the test process: enabled by an Owner, then needed for every write.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const MEMBER = "member@acme.example";

describe("in an organization that demands reasons", () => {
  let host: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(
    async ({ addUser, client, networkId }) => {
      await addUser(MEMBER, "Member", [networkId]);
      host = await expectOk(client.post("hosts", { network_id: networkId, name: "access-1", description: "Hall 1" }));
    },
    { path: "/settings/organization" },
  );

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const open = (path: string) => page.goto(appliance.url + path);

  test("an Owner enables it after reading the consequences, and a form open elsewhere asks for one", async () => {
    const { visitor: colleague, page: memberPage } = await appliance.openAs(MEMBER, `/hosts/${host.id}`);
    await memberPage.getByRole("button", { name: "Edit", exact: true }).click();
    await memberPage.getByLabel("Model").fill("C9300-48P");
    const save = memberPage.getByRole("button", { name: "Save", exact: true });
    await expectEventually(() => save.isDisabled(), false);

    await page.getByText("Optional").waitFor();
    await button("Edit the organization").click();
    await page.getByText("programs that send none can no longer write").waitFor();
    await page.getByText("cannot be undone by its transaction").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Acme Networks");
    await page.getByLabel("Require a reason for every change").check();
    await button("Save").click();
    await page.getByText("Required for every change").waitFor();
    await page.getByRole("listitem").filter({ hasText: "Acme Networks" }).first().waitFor();
    expect(await expectOk(client.get("organizations"))).toMatchObject({
      name: "Acme Networks",
      require_change_reason: true,
    });

    await memberPage.getByLabel("Why (required)").waitFor();
    await expectEventually(() => memberPage.getByLabel("Model").inputValue(), "C9300-48P");
    await expectEventually(() => save.isDisabled(), true);
    await memberPage.getByText("Required: Why.").waitFor();
    await memberPage.getByLabel("Why (required)").fill("CHG-1");
    await save.click();
    await memberPage.getByText("Saved.").waitFor();
    // The undo needs a reason as well.
    await memberPage.getByRole("button", { name: "Undo", exact: true }).click();
    await memberPage.getByLabel("Why (required)").waitFor();
    await expectEventually(() => memberPage.getByRole("button", { name: "Undo" }).isDisabled(), true);
    await memberPage.getByLabel("Why (required)").fill("CHG-1 was wrong");
    await memberPage.getByRole("button", { name: "Undo" }).click();
    await memberPage.getByText("Done.").waitFor();
    expect(colleague.problems()).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    const { data } = await client.get("transactions?limit=2");
    expect(data.map(({ reason }: JsonRecord) => reason)).toEqual(["CHG-1 was wrong", "CHG-1"]);
  });

  test("keys and users need one at the field, and a key is then created with one", async () => {
    visitor.problems();
    await open("/settings/keys");
    await button("New key").first().click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Monitoring");
    const isValid = () =>
      form
        .getByLabel("Why (required)")
        .evaluate((field) => (field as unknown as { validity: { valid: boolean } }).validity.valid);
    expect(await isValid()).toBe(false);
    await form.getByLabel("Why (required)").fill("  ");
    expect(await isValid()).toBe(false);
    await form.getByRole("button", { name: "Create" }).click();
    expect(visitor.problems()).toEqual([]);
    await form.getByLabel("Why (required)").fill("CHG-2");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The key Monitoring was created.").waitFor();
    await open("/settings/people");
    await button("New user").click();
    await page.getByRole("form").getByLabel("Why (required)").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("the API refuses writes without one, from the page's session as well", async () => {
    const url = `${appliance.url}/api/v1/tags`;
    const response = await page.request.post(url, { data: { name: "silent", color: "Red" } });
    expect([response.status(), (await response.json()).params.issues[0].path]).toEqual([400, "/X-Change-Reason"]);
    expect(await client.post("tags", { name: "silent", color: "Red" })).toMatchObject({ status: 400 });
  });
});
