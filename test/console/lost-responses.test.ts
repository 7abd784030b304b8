// Lost responses in Chromium, on the executable: a write without a response is retried and executed once, for every
// form that creates records; typed text survives a reload but not the session, and secrets survive neither.

import { afterEach, describe, expect, test } from "bun:test";
import { isOutcomeUnknown, unreachable } from "../../src/console/api/refusal.ts";
import { keepDraftsOf, loadDraft, storeDraft } from "../../src/console/forms/drafts.ts";
import { RequestKeys } from "../../src/console/forms/request-key.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, hasChromium } from "../support/browser/browser.ts";
import { loseResponse } from "../support/browser/lost-responses.ts";
import { OWNER, visitForAll } from "../support/browser/visit.ts";
import { PASSWORD } from "../support/executable/executable.ts";

const NEXT_EMAIL = "next@acme.example";

describe("request keys", () => {
  test("are the same for the same request until it is done, and different for any other", () => {
    const keys = new RequestKeys();
    const first = keys.keyFor("a");
    expect([keys.keyFor("a"), keys.keyFor("b") === first]).toEqual([first, false]);
    keys.settle("a");
    expect(keys.keyFor("a")).not.toBe(first);
  });

  test("keep no draft if the browser stores nothing", () => {
    const name = { userId: "u", kind: "host", id: "new" };
    keepDraftsOf("u");
    storeDraft(name, { base: {}, tag: "", typed: { name: "x" }, reason: "" });
    expect(loadDraft(name)).toBeNull();
  });
});

test("a request without a response is in doubt, an unsent one is not", () => {
  const unsure = (status: number, code: string) => isOutcomeUnknown({ status, code });
  expect([unsure(0, "too_many"), unsure(0, "table"), unsure(409, "entity_in_use")]).toEqual([false, false, false]);
  expect([isOutcomeUnknown(unreachable(new Error("lost"))), unsure(502, "unknown"), unsure(504, "unknown")]).toEqual([
    true,
    true,
    true,
  ]);
});

describe.skipIf(!hasChromium)("on a network that loses responses", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(async () => {
    await page.unrouteAll({ behavior: "wait" });
    visitor.problems();
  });

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = async (path: string) => (await expectOk(client.get(path))) as unknown as JsonRecord[];

  test("a new host is created once, even if the page is reloaded before the retry", async () => {
    await loseResponse(page, "/api/v1/hosts");
    await open("/hosts");
    await button("New host").click();
    await page.locator("#edit-network_id").selectOption({ index: 1 });
    await page.locator("#edit-name").fill("twin");
    await button("Create").click();
    await page.getByText("We couldn't confirm that the record was created.").waitFor();
    await page.reload();
    await page.getByText("We couldn't confirm that the record was created.").waitFor();
    // The submitted form is locked: an edited one would create a second record.
    await expectEventually(
      () => page.evaluate("document.querySelector('#edit-name').closest('[inert]') !== null"),
      true,
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Save again").click();
    await page.locator(".edit-saved").waitFor();
    expect(await list("hosts?search=twin")).toHaveLength(1);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  /** The credentials step of the first run, with a community typed and submitted. */
  async function enterCommunity(networkId: string, community: string): Promise<void> {
    await open(`/start?network=${networkId}&step=credentials&others=127.77.9.0/30`);
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill(community);
    await button("Save and continue").click();
  }
  const UNCERTAIN_NOTICE = "It is unknown whether the credential was saved.";
  const credentialsOf = async (networkId: string) =>
    (await list("credentials?limit=0")).filter(({ assigned_network_ids }) => assigned_network_ids.includes(networkId));
  const newNetwork = async (name: string) => (await expectOk(client.post("networks", { name }))).id as string;
  const browserState = () =>
    page.evaluate<string>("JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])");

  test("the setup credential is saved once, with a notice after a reload", async () => {
    const networkId = await newNetwork("Saved");
    await loseResponse(page, "/api/v1/credentials");
    await enterCommunity(networkId, "not-for-storage");
    await page.getByText(UNCERTAIN_NOTICE).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await browserState()).not.toContain("not-for-storage");
    await page.reload();
    await page.getByText("The credential you sent before was saved.").waitFor();
    await page.getByLabel("Credentials of this network: SNMP v2c, Saved").and(page.locator(":checked")).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    await button("Continue").click();
    await button("Start the first scan").waitFor();
    expect(await credentialsOf(networkId)).toHaveLength(1);
  });

  /** The form of a new credential, with a community and its other fields filled in. */
  async function typeCredential(name: string, community: string) {
    await open("/settings/credentials?new=credential");
    const form = page.getByRole("form", { name: "New credential" });
    await form.getByLabel("Name", { exact: true }).fill(name);
    await form.getByLabel("Community", { exact: true }).fill(community);
    await form.getByRole("group", { name: "Networks" }).getByRole("checkbox").first().check();
    await form.getByLabel("First targets").fill("10.9.0.1\n10.9.0.2");
    return form;
  }
  const namedCredentials = async (name: string) =>
    (await list("credentials?limit=0")).filter((item) => item.name === name);

  test("a settings credential is saved once, even if the page is reloaded and its secret re-entered", async () => {
    await loseResponse(page, "/api/v1/credentials");
    const form = await typeCredential("Access switches", "n0t-public");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("We couldn't confirm that the request was carried out.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await browserState()).not.toContain("n0t-public");
    await page.reload();
    await form.getByText("Enter the secrets again").waitFor();
    await expectEventually(() => form.getByLabel("Name", { exact: true }).inputValue(), "Access switches");
    await expectEventually(() => form.getByLabel("First targets").inputValue(), "10.9.0.1\n10.9.0.2");
    await expectEventually(() => form.getByLabel("Community", { exact: true }).inputValue(), "");
    await expectEventually(
      () => form.getByRole("group", { name: "Networks" }).getByRole("checkbox").first().isChecked(),
      true,
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByLabel("Community", { exact: true }).fill("n0t-public");
    await button("Send again").click();
    await page.getByText("The credential Access switches was created.").waitFor();
    expect(await namedCredentials("Access switches")).toMatchObject([{ target_ips: ["10.9.0.1", "10.9.0.2"] }]);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  test("a second credential is not created if another secret is entered after the reload, and the first is reported", async () => {
    await loseResponse(page, "/api/v1/credentials");
    const form = await typeCredential("Core switches", "n0t-public");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("We couldn't confirm that the request was carried out.").waitFor();
    await page.reload();
    await form.getByText("Enter the secrets again").waitFor();
    await form.getByLabel("Community", { exact: true }).fill("something else");
    await button("Send again").click();
    await form.getByText("The earlier request has already been carried out.").waitFor();
    expect(await namedCredentials("Core switches")).toHaveLength(1);
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("link", { name: "Core switches" }).waitFor();
  });

  test("a partial user form survives a reload without the password, and is not shown to the next user", async () => {
    await client.post("users", { email: NEXT_EMAIL, name: "Next", role: "Admin", password: PASSWORD });
    await open("/settings/people");
    await button("New user").click();
    const creationForm = page.getByRole("form", { name: "New user" });
    const type = async () => {
      await creationForm.getByLabel("Name", { exact: true }).fill("Night shift");
      await creationForm.getByLabel("E-mail").fill("night@acme.example");
      await creationForm.getByLabel("Role").selectOption("Member");
      await creationForm.getByRole("checkbox").first().check();
      await creationForm.getByLabel("Password").fill("a secret of the night");
    };
    const signIn = async (email: string) => {
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("banner").waitFor();
    };
    await type();
    expect(await browserState()).not.toContain("a secret");
    await page.reload();
    await creationForm.getByText("Your input was restored.").waitFor();
    await expectEventually(() => creationForm.getByLabel("Name", { exact: true }).inputValue(), "Night shift");
    await expectEventually(() => creationForm.getByLabel("Role").inputValue(), "Member");
    await expectEventually(() => creationForm.getByRole("checkbox").first().isChecked(), true);
    await expectEventually(() => creationForm.getByLabel("Password").inputValue(), "");
    expect(await accessibilityFindings(page)).toEqual([]);
    // The session ends, which the submission detects.
    await type();
    await visitor.context.clearCookies();
    await creationForm.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await browserState()).not.toContain("Night shift");
    await signIn(OWNER);
    await expectEventually(() => creationForm.getByLabel("Name", { exact: true }).inputValue(), "");
    // The user signs out in another tab.
    await type();
    expect(await browserState()).toContain("Night shift");
    const tab = await visitor.open("/vlans");
    await tab.getByRole("button", { name: /^Account/ }).click();
    await tab.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("Your session has ended.").waitFor();
    expect(await browserState()).not.toContain("Night shift");
    await signIn(NEXT_EMAIL);
    await expectEventually(() => creationForm.getByLabel("Name", { exact: true }).inputValue(), "");
    // The tab is signed in as well.
    await tab.getByRole("button", { name: "Account: Next" }).waitFor();
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });
});
