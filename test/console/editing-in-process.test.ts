// Editing in the test process: input is validated, kept, saved against the version it started from, and undone;
// concurrent changes are not overwritten.

import { beforeEach, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { loseResponse } from "../support/browser/lost-responses.ts";
import { OWNER, visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";

describe("editing", () => {
  let host: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  beforeEach(async () => {
    const body = { name: "access-1", hidden: false, tags: [], description: "Hall 1" };
    host = await expectOk(client.post("hosts", { network_id: appliance.networkId, ...body }));
    visitor.problems();
    await page.goto(`${appliance.url}/hosts/${host.id}`);
  });

  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const waitForSaved = () => page.getByText("Saved.").waitFor();
  const current = () => expectOk(client.get(`hosts/${host.id}`));
  const history = async (): Promise<JsonRecord[]> =>
    expectOk(client.get(`hosts/${host.id}/history`)) as unknown as Promise<JsonRecord[]>;
  const changeByOthers = async (changes: object) => {
    const { name, hidden, tags } = await current();
    await expectOk(client.put(`hosts/${host.id}`, { id: host.id, name, hidden, tags, ...changes }));
  };

  test("closes an unchanged form by Escape, and no other", async () => {
    await edit();
    const form = page.getByRole("form", { name: "Edit access-1" });
    const location = page.getByLabel("Location");
    await location.fill("Room 2");
    await page.keyboard.press("Escape");
    await expectEventually(() => location.inputValue(), "Room 2");
    await location.fill("");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await history()).toHaveLength(1);
    expect(visitor.problems()).toEqual([]);
  });

  test("changes a host with a reason, previews the undo, and undoes it", async () => {
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.keyboard.press("e");
    const name = page.getByLabel("Name", { exact: true });
    await name.waitFor();
    await expectEventually(() => page.evaluate("document.activeElement?.id"), "edit-name");
    await page.getByLabel("Asset tag").fill("LF-00042");
    await page.getByLabel("Why").fill("Inventur – geprüft");
    await save();
    await waitForSaved();
    await page.locator(".facts").getByText("LF-00042").waitFor();
    const [version] = await history();
    expect(version).toMatchObject({
      changed_fields: ["asset_tag"],
      transaction: { reason: "Inventur – geprüft", actor: { name: OWNER } },
    });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    const plan = page.getByRole("region", { name: "Undo this transaction" });
    await plan.getByText("Changes host access-1").waitFor();
    await plan.getByText("Asset tag", { exact: true }).waitFor();
    await plan.locator("del").getByText("LF-00042").waitFor();
    await plan.locator("ins").getByText("none").waitFor();
    expect(await current()).toMatchObject({ asset_tag: "LF-00042" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect(await current()).toMatchObject({ asset_tag: null });
    expect(await history()).toHaveLength(3);
    expect(visitor.problems()).toEqual([]);
  });

  test("keeps other fields changed concurrently by another user, without asking", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await changeByOthers({ description: "Hall 2" });
    await save();
    await waitForSaved();
    await page.getByText("Others have changed Description in the meantime.").waitFor();
    expect(await current()).toMatchObject({ model: "C9300-48P", description: "Hall 2" });
    expect(visitor.problems().filter((problem) => !problem.includes("412"))).toEqual([]);
  });

  test("shows API errors at the field, and other errors before sending", async () => {
    await edit();
    await page.getByLabel("Name", { exact: true }).fill(" ");
    await page.getByText("A value is required.").waitFor();
    await expectEventually(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
    await page.getByLabel("Name", { exact: true }).fill("access\u0007");
    await save();
    const wrong = page.locator(".edit-error");
    await wrong.waitFor();
    await expectEventually(() => wrong.textContent(), expect.stringContaining("control"));
    await expectEventually(() => page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
    expect(await current()).toMatchObject({ name: "access-1" });
    await page.getByRole("button", { name: "Cancel" }).click();
    const button = page.getByRole("button", { name: "Edit", exact: true });
    await button.waitFor();
    await expectEventually(() => page.evaluate("document.activeElement?.textContent"), "Edit");
    expect(visitor.problems().filter((problem) => !problem.includes("400"))).toEqual([]);
  });

  test("restores a draft after a reload, but not after the session ended", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await page.reload();
    await page.getByText("Your input was restored.").waitFor();
    await expectEventually(() => page.getByLabel("Model").inputValue(), "C9300-48P");
    await visitor.context.clearCookies();
    await save();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    await page.getByRole("button", { name: "Sign in" }).click();
    await expectEventually(() => page.getByLabel("Model").inputValue(), "");
    expect(await page.getByText("Your input was restored.").count()).toBe(0);
    await page.getByLabel("Model").fill("C9300-48P");
    await save();
    await waitForSaved();
    expect(await current()).toMatchObject({ model: "C9300-48P" });
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    visitor.problems();
  });

  test("shows saved, undone and deleted state even without the change feed", async () => {
    const feed = /\/api\/v1\/changes\?/;
    await page.route(feed, (route) => route.fulfill({ status: 204 }));
    await page.reload();
    await edit();
    await page.getByLabel("Name", { exact: true }).fill("access-2");
    await save();
    await page.getByRole("heading", { name: "access-2", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "access-1", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("form").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("404"))).toEqual([]);
    await page.unroute(feed);
  });

  test("saves once even if the response is lost", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await loseResponse(page, `/api/v1/hosts/${host.id}`, "PUT");
    await save();
    await page.getByText("We couldn't confirm that the change was saved.").waitFor();
    await page.getByRole("button", { name: "Save again" }).click();
    await waitForSaved();
    expect(await history()).toHaveLength(2);
    expect(await current()).toMatchObject({ model: "C9300-48P" });
    visitor.problems();
  });

  test("is offered neither in the past nor without permission", async () => {
    await page.goto(`${appliance.url}/hosts/${host.id}?at=${host.created_at}&edit=yes`);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.getByRole("button", { name: /^Edit|^Save/ }).count()).toBe(0);
    const { visitor: viewer, page: viewerPage } = await appliance.openAs(VIEWER, `/hosts/${host.id}?edit=yes`);
    await viewerPage.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await viewerPage.getByRole("button", { name: /^Edit|^Save|^Restore/ }).count()).toBe(0);
    expect(viewer.problems()).toEqual([]);
  });

  test("sets custom fields, clears one, and shows errors at the field", async () => {
    const define = (body: object) => expectOk(client.post("custom-fields", { kinds: ["host"], ...body }));
    await define({ key: "room", label: "Room", type: "text" });
    await define({ key: "rented", label: "Rented", type: "boolean" });
    await define({ key: "power_w", label: "Power", type: "number" });
    await define({ key: "contract", label: "Contract", type: "url" });
    await define({ key: "criticality", label: "Criticality", type: "choice", choices: ["low", "high"] });
    await define({ key: "warranty", label: "Warranty", type: "date" });
    await page.reload();
    await edit();
    await page.getByLabel("Room").fill("x".repeat(1_001));
    await page.getByText("At most 1000 characters; it has 1001.").waitFor();
    await page.getByLabel("Room").fill("H2.17");
    await page.getByLabel("Rented").selectOption({ label: "no" });
    await page.getByLabel("Power").fill("42.5");
    await page.getByLabel("Criticality").selectOption("high");
    await page.getByLabel("Warranty").fill("2027-01-31");
    await page.getByLabel("Contract").fill("javascript:alert(1)");
    await save();
    await page.locator(".edit-error").waitFor();
    await expectEventually(() => page.getByLabel("Contract").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Contract").fill("https://erp.example/17");
    await page.getByRole("button", { name: "Save again" }).click();
    await waitForSaved();
    const values = { room: "H2.17", rented: false, power_w: 42.5, criticality: "high", warranty: "2027-01-31" };
    expect(await current()).toMatchObject({ custom_fields: { ...values, contract: "https://erp.example/17" } });
    await edit();
    await page.getByLabel("Room").fill("");
    await save();
    await waitForSaved();
    const { custom_fields: remaining } = await current();
    expect(Object.keys(remaining).sort()).toEqual(["contract", "criticality", "power_w", "rented", "warranty"]);
    visitor.problems();
  });
});
