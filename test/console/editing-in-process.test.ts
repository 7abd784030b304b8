// Editing in the test process: input is validated, kept, saved against the version it started from, and undone;
// concurrent changes are not overwritten.

import { beforeEach, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { OWNER, visitForAll } from "../support/page/visit.ts";
import { settles } from "../support/page/waiting.ts";

const VIEWER = "viewer@acme.example";

describe("editing", () => {
  let host: Wire;
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  beforeEach(async () => {
    host = await made(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "access-1",
        hidden: false,
        tags: [],
        description: "Hall 1",
      }),
    );
    visitor.troubles();
    await page.goto(`${appliance.url}/hosts/${host.id}`);
  });

  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const saved = () => page.getByText("Saved.").waitFor();
  const now = () => made(client.get(`hosts/${host.id}`));
  const history = async (): Promise<Wire[]> =>
    made(client.get(`hosts/${host.id}/history`)) as unknown as Promise<Wire[]>;
  const byOthers = async (changes: object) => {
    const { name, hidden, tags } = await now();
    await made(client.put(`hosts/${host.id}`, { id: host.id, name, hidden, tags, ...changes }));
  };

  test("closes an unchanged form by Escape, and no other", async () => {
    await edit();
    const form = page.getByRole("form", { name: "Edit access-1" });
    const location = page.getByLabel("Location");
    await location.fill("Room 2");
    await page.keyboard.press("Escape");
    await settles(() => location.inputValue(), "Room 2");
    await location.fill("");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await history()).toHaveLength(1);
    expect(visitor.troubles()).toEqual([]);
  });

  test("changes a host with a reason, previews the undo, and undoes it", async () => {
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.keyboard.press("e");
    const name = page.getByLabel("Name", { exact: true });
    await name.waitFor();
    await settles(() => page.evaluate("document.activeElement?.id"), "edit-name");
    await page.getByLabel("Asset tag").fill("LF-00042");
    await page.getByLabel("Why").fill("Inventur – geprüft");
    await save();
    await saved();
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
    expect(await now()).toMatchObject({ asset_tag: "LF-00042" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Done.").waitFor();
    expect(await now()).toMatchObject({ asset_tag: null });
    expect(await history()).toHaveLength(3);
    expect(visitor.troubles()).toEqual([]);
  });

  test("keeps other fields changed concurrently by another user, without asking", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await byOthers({ description: "Hall 2" });
    await save();
    await saved();
    await page.getByText("Meanwhile others changed Description.").waitFor();
    expect(await now()).toMatchObject({ model: "C9300-48P", description: "Hall 2" });
    expect(visitor.troubles().filter((each) => !each.includes("412"))).toEqual([]);
  });

  test("shows refusals of the API at the field, and errors before sending", async () => {
    await edit();
    await page.getByLabel("Name", { exact: true }).fill(" ");
    await page.getByText("A value is required.").waitFor();
    await settles(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
    await page.getByLabel("Name", { exact: true }).fill("access\u0007");
    await save();
    const wrong = page.locator(".edit-wrong");
    await wrong.waitFor();
    await settles(() => wrong.textContent(), expect.stringContaining("control"));
    await settles(() => page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
    expect(await now()).toMatchObject({ name: "access-1" });
    await page.getByRole("button", { name: "Cancel" }).click();
    const button = page.getByRole("button", { name: "Edit", exact: true });
    await button.waitFor();
    await settles(() => page.evaluate("document.activeElement?.textContent"), "Edit");
    expect(visitor.troubles().filter((each) => !each.includes("400"))).toEqual([]);
  });

  test("restores a draft after a reload, but not after the session ended", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await page.reload();
    await page.getByText("What you had typed is back.").waitFor();
    await settles(() => page.getByLabel("Model").inputValue(), "C9300-48P");
    await visitor.context.clearCookies();
    await save();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    await page.getByRole("button", { name: "Sign in" }).click();
    await settles(() => page.getByLabel("Model").inputValue(), "");
    expect(await page.getByText("What you had typed is back.").count()).toBe(0);
    await page.getByLabel("Model").fill("C9300-48P");
    await save();
    await saved();
    expect(await now()).toMatchObject({ model: "C9300-48P" });
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    visitor.troubles();
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
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    expect(visitor.troubles().filter((trouble) => !trouble.includes("404"))).toEqual([]);
    await page.unroute(feed);
  });

  test("saves once even if the answer is lost", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    let isLost = false;
    await page.route(`**/api/v1/hosts/${host.id}`, async (route) => {
      if (isLost || route.request().method() !== "PUT") return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await save();
    await page.getByText("It is not known whether it was saved.").waitFor();
    await page.getByRole("button", { name: "Save again" }).click();
    await saved();
    expect(await history()).toHaveLength(2);
    expect(await now()).toMatchObject({ model: "C9300-48P" });
    visitor.troubles();
  });

  test("is offered neither in the past nor without the right", async () => {
    await page.goto(`${appliance.url}/hosts/${host.id}?at=${host.created_at}&edit=yes`);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.getByRole("button", { name: /^Edit|^Save/ }).count()).toBe(0);
    const { visitor: viewer, page: seen } = await appliance.arrived(VIEWER, `/hosts/${host.id}?edit=yes`);
    await seen.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await seen.getByRole("button", { name: /^Edit|^Save|^Restore/ }).count()).toBe(0);
    expect(viewer.troubles()).toEqual([]);
  });

  test("sets custom fields, clears one, and shows errors at the field", async () => {
    const define = (body: object) => made(client.post("custom-fields", { kinds: ["host"], ...body }));
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
    await page.locator(".edit-wrong").waitFor();
    await settles(() => page.getByLabel("Contract").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Contract").fill("https://erp.example/17");
    await page.getByRole("button", { name: "Save again" }).click();
    await saved();
    const values = { room: "H2.17", rented: false, power_w: 42.5, criticality: "high", warranty: "2027-01-31" };
    expect(await now()).toMatchObject({ custom_fields: { ...values, contract: "https://erp.example/17" } });
    await edit();
    await page.getByLabel("Room").fill("");
    await save();
    await saved();
    const { custom_fields: left } = await now();
    expect(Object.keys(left).sort()).toEqual(["contract", "criticality", "power_w", "rented", "warranty"]);
    visitor.troubles();
  });
});
