// Forms in the test process, on the pages that use them: errors shown at their fields before and after a request, no
// secrets in drafts, and drafts that end with their input.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk } from "../support/appliance/factories.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("a form of the console", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(async () => {
    await page.unrouteAll({ behavior: "wait" });
    visitor.problems();
  });

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const stored = () => page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
  /** Displayed error texts. */
  const fieldErrors = async () => (await page.locator(".edit-error").allTextContents()).map((text) => text.trim());

  test("shows errors at each field on submit, sends nothing, and clears them once corrected", async () => {
    await open("/settings/people?new=user");
    const form = page.getByRole("form", { name: "New user" });
    await form.getByLabel("Password").fill("short");
    expect(await fieldErrors()).toEqual([]);
    await form.getByRole("button", { name: "Create" }).click();
    await expectEventually(fieldErrors, [
      "A value is required.",
      "A value is required.",
      "At least 10 characters; it has 5.",
    ]);
    await form.getByLabel("Name", { exact: true }).and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await form.getByLabel("Name", { exact: true }).fill("Night shift");
    await form.getByLabel("E-mail").fill("night@acme.example");
    await form.getByLabel("Password").fill("long enough");
    await expectEventually(fieldErrors, []);
    expect(visitor.problems()).toEqual([]);
    await button("Cancel").click();
  });

  test("shows an API refusal only at its field, until the field is edited", async () => {
    await open("/settings/keys?new=api_key");
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Reports");
    const sources = form.getByLabel("Allowed source CIDRs");
    await sources.fill("10.0.0.1/8");
    await form.getByRole("button", { name: "Create" }).click();
    await sources.and(page.locator("[aria-invalid=true]:focus")).waitFor();
    expect(await form.getByRole("alert").count()).toBe(0);
    await sources.fill("10.0.0.0/8");
    await expectEventually(fieldErrors, []);
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The key Reports was created.").waitFor();
  });

  test("stores no secret, even while it is visible, and no draft of cleared input", async () => {
    await open("/settings/people?new=user");
    const form = page.getByRole("form", { name: "New user" });
    await form.getByRole("button", { name: "Show" }).click();
    await expectEventually(() => form.getByLabel("Password").getAttribute("type"), "text");
    await form.getByLabel("Password").fill("seen by all who look");
    await form.getByLabel("Name", { exact: true }).fill("Day shift");
    expect(await stored()).toContain("Day shift");
    expect(await stored()).not.toContain("seen by all");
    await form.getByLabel("Name", { exact: true }).fill("");
    await expectEventually(() => page.evaluate("Object.keys(sessionStorage)"), []);
  });

  test("of the first run requires a complete credential, with passwords of the standard's minimum length", async () => {
    await open(`/start?network=${appliance.networkId}&step=credentials&others=127.77.9.0/30`);
    const save = button("Save and continue");
    await button("Continue").click();
    await expectEventually(fieldErrors, ["Choose one."]);
    await page.getByLabel("An SNMP v2c community").check();
    await save.click();
    await expectEventually(fieldErrors, ["A value is required."]);
    await page.getByLabel("An SNMP v3 user").check();
    await page.getByLabel("Authentication password", { exact: true }).fill("short");
    await expectEventually(fieldErrors, [
      "A value is required.",
      "At least 8 characters; it has 5.",
      "A value is required.",
    ]);
    // Without authentication, nothing is encrypted.
    await page.getByLabel("Authentication", { exact: true }).selectOption("None");
    await expectEventually(fieldErrors, ["A value is required."]);
    expect(await page.getByLabel("Encryption", { exact: true }).count()).toBe(0);
    await page.getByLabel("User", { exact: true }).fill("noc");
    await expectEventually(fieldErrors, []);
    await save.click();
    await button("Start the first scan").waitFor();
    const { data } = await client.get("credentials");
    expect(data).toMatchObject([
      { credential_type: { type: "SnmpV3", security_name: "noc", auth_protocol: "None", priv_protocol: "None" } },
    ]);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  test("of a credential lists the first target addresses, and the number of others", async () => {
    await open("/settings/credentials?new=credential");
    const form = page.getByRole("form", { name: "New credential" });
    const targets = Array.from({ length: 14 }, (_, index) => `10.9.0.${index + 1}`);
    await form.getByLabel("First targets").fill(targets.join("\n"));
    await form.getByText(`The next scan sends it to ${targets.slice(0, 12).join(", ")} and 2 more.`).waitFor();
    await button("Cancel").click();
  });

  test("reports a concurrent change, and overwrites it on the second attempt only", async () => {
    const user = await expectOk(
      client.post("users", { email: "late@acme.example", name: "Late", role: "Viewer", password: "a long one" }),
    );
    await open("/settings/people");
    await page.getByRole("button", { name: "Edit Late" }).click();
    const form = page.getByRole("form", { name: "Edit Late" });
    await form.getByLabel("Name", { exact: true }).fill("Later");
    const concurrentEdit = { email: "late@acme.example", name: "Earlier", role: "Viewer" };
    await expectOk(client.put(`users/${user.id}`, concurrentEdit));
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("Others have changed this record in the meantime.").waitFor();
    expect((await client.get(`users/${user.id}`)).data).toMatchObject({ name: "Earlier" });
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("Later was saved.").waitFor();
    expect((await client.get(`users/${user.id}`)).data).toMatchObject({ name: "Later" });
  });
});
