// Lost answers in Chromium, on the executable: a write without an answer is retried and executed once, for every form
// that creates; typed text survives a reload, except secrets, but not the session.

import { afterEach, describe, expect, test } from "bun:test";
import { isUnsure, unreachable } from "../../src/console/api/refusal.ts";
import { keepDraft, keepDraftsOf, keptDraft } from "../../src/console/forms/drafts.ts";
import { RequestKeys } from "../../src/console/forms/request-key.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, hasChromium, settles } from "../support/browser/browser.ts";
import { OWNER, visitForAll } from "../support/browser/visit.ts";
import { PASSWORD } from "../support/executable/executable.ts";

const NEXT = "next@acme.example";

describe("request keys", () => {
  test("are the same for the same request until it is done, and different for any other", () => {
    const keys = new RequestKeys();
    const first = keys.of("a");
    expect([keys.of("a"), keys.of("b") === first]).toEqual([first, false]);
    keys.settle("a");
    expect(keys.of("a")).not.toBe(first);
  });

  test("keep no draft if the browser stores nothing", () => {
    const name = { userId: "u", kind: "host", id: "new" };
    keepDraftsOf("u");
    keepDraft(name, { base: {}, tag: "", typed: { name: "x" }, reason: "" });
    expect(keptDraft(name)).toBeNull();
  });
});

test("an unsent request is not in doubt, one without an answer is", () => {
  const unsure = (status: number, code: string) => isUnsure({ status, code });
  expect([unsure(0, "too_many"), unsure(0, "table"), unsure(409, "entity_in_use")]).toEqual([false, false, false]);
  expect([isUnsure(unreachable(new Error("lost"))), unsure(502, "unknown"), unsure(504, "unknown")]).toEqual([
    true,
    true,
    true,
  ]);
});

describe.skipIf(!hasChromium)("on a network that loses answers", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(async () => {
    await page.unrouteAll({ behavior: "wait" });
    visitor.troubles();
  });

  const open = (address: string) => page.goto(appliance.url + address);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = async (path: string) => (await made(client.get(path))) as unknown as Wire[];

  /** Drops the first answer to a write there, after its execution. */
  async function loseAnswer(path: string, method = "POST"): Promise<void> {
    let isLost = false;
    await page.route(`**${path}`, async (route) => {
      if (isLost || route.request().method() !== method) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
  }

  test("a new host is created once, even if the page is reloaded before the retry", async () => {
    await loseAnswer("/api/v1/hosts");
    await open("/hosts");
    await button("New host").click();
    await page.locator("#edit-network_id").selectOption({ index: 1 });
    await page.locator("#edit-name").fill("twin");
    await button("Create").click();
    await page.getByText("It is not known whether it was created.").waitFor();
    await page.reload();
    await page.getByText("It is not known whether it was created.").waitFor();
    // The submitted form is locked: an edited one would create a second record.
    await settles(() => page.evaluate("document.querySelector('#edit-name').closest('[inert]') !== null"), true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Save again").click();
    await page.locator(".edit-saved").waitFor();
    expect(await list("hosts?search=twin")).toHaveLength(1);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  test("an API key is created once, and the created one is shown", async () => {
    await loseAnswer("/api/v1/auth/keys");
    await open("/settings/keys");
    await button("New key").click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Backups at night");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("It is not known whether it was done.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Send it again").click();
    await page.getByText("The key Backups at night was created.").waitFor();
    const key = (await page.locator(".command").textContent())?.match(/nlk_\w+/)?.[0] ?? "";
    const { status } = await fetch(`${appliance.url}/api/v1/tags`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(status).toBe(200);
    const told = await page.request.get(`${appliance.url}/api/v1/auth/keys?limit=0`);
    const { data } = (await told.json()) as { readonly data: readonly { readonly name: string }[] };
    expect(data.filter(({ name }) => name === "Backups at night")).toHaveLength(1);
  });

  /** The credentials step of the first run, with a community typed and submitted. */
  async function giveCommunity(networkId: string, community: string): Promise<void> {
    await open(`/start?network=${networkId}&step=credentials&others=127.77.9.0/30`);
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill(community);
    await button("Save and continue").click();
  }
  const UNSURE = "It is not known whether what you sent was saved.";
  const credentialsOf = async (networkId: string) =>
    (await list("credentials?limit=0")).filter((each) => each.assigned_network_ids.includes(networkId));
  const newNetwork = async (name: string) => (await made(client.post("networks", { name }))).id as string;
  const kept = () =>
    page.evaluate<string>("JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])");

  test("the setup credential is saved once, with a notice after a reload", async () => {
    const networkId = await newNetwork("Saved");
    await loseAnswer("/api/v1/credentials");
    await giveCommunity(networkId, "not-for-storage");
    await page.getByText(UNSURE).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await kept()).not.toContain("not-for-storage");
    await page.reload();
    await page.getByText("What you sent before was saved.").waitFor();
    await page.getByLabel("What this network has: SNMP v2c, Saved").and(page.locator(":checked")).waitFor();
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
    await form.getByLabel("Try first at").fill("10.9.0.1\n10.9.0.2");
    return form;
  }
  const namedCredentials = async (name: string) =>
    (await list("credentials?limit=0")).filter((each) => each.name === name);

  test("a settings credential is saved once, even if the page is reloaded and its secret re-entered", async () => {
    await loseAnswer("/api/v1/credentials");
    const form = await typeCredential("Access switches", "n0t-public");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("It is not known whether it was done.").waitFor();
    expect(await kept()).not.toContain("n0t-public");
    await page.reload();
    await form.getByText("Enter the secrets again").waitFor();
    await settles(() => form.getByLabel("Name", { exact: true }).inputValue(), "Access switches");
    await settles(() => form.getByLabel("Try first at").inputValue(), "10.9.0.1\n10.9.0.2");
    await settles(() => form.getByLabel("Community", { exact: true }).inputValue(), "");
    await settles(() => form.getByRole("group", { name: "Networks" }).getByRole("checkbox").first().isChecked(), true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByLabel("Community", { exact: true }).fill("n0t-public");
    await button("Send it again").click();
    await page.getByText("The credential Access switches was created.").waitFor();
    expect(await namedCredentials("Access switches")).toMatchObject([{ target_ips: ["10.9.0.1", "10.9.0.2"] }]);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  test("a second credential is not created if another secret is entered after the reload, and the first is reported", async () => {
    await loseAnswer("/api/v1/credentials");
    const form = await typeCredential("Core switches", "n0t-public");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("It is not known whether it was done.").waitFor();
    await page.reload();
    await form.getByText("Enter the secrets again").waitFor();
    await form.getByLabel("Community", { exact: true }).fill("something else");
    await button("Send it again").click();
    await form.getByText("The earlier request was carried out as it was sent.").waitFor();
    expect(await namedCredentials("Core switches")).toHaveLength(1);
    expect(await accessibilityFindings(page)).toEqual([]);
    await form.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("link", { name: "Core switches" }).waitFor();
  });

  test("a partial user form survives a reload without the password, and is gone for the next user", async () => {
    await client.post("users", { email: NEXT, name: "Next", role: "Admin", password: PASSWORD });
    await open("/settings/people");
    await button("New user").click();
    const adding = page.getByRole("form", { name: "New user" });
    const type = async () => {
      await adding.getByLabel("Name", { exact: true }).fill("Night shift");
      await adding.getByLabel("E-mail").fill("night@acme.example");
      await adding.getByLabel("Role").selectOption("Member");
      await adding.getByRole("checkbox").first().check();
      await adding.getByLabel("Password").fill("a secret of the night");
    };
    const signIn = async (email: string) => {
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("banner").waitFor();
    };
    await type();
    expect(await kept()).not.toContain("a secret");
    await page.reload();
    await adding.getByText("What you had typed is back.").waitFor();
    await settles(() => adding.getByLabel("Name", { exact: true }).inputValue(), "Night shift");
    await settles(() => adding.getByLabel("Role").inputValue(), "Member");
    await settles(() => adding.getByRole("checkbox").first().isChecked(), true);
    await settles(() => adding.getByLabel("Password").inputValue(), "");
    expect(await accessibilityFindings(page)).toEqual([]);
    // The session ends, which the submission detects.
    await type();
    await visitor.context.clearCookies();
    await adding.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await kept()).not.toContain("Night shift");
    await signIn(OWNER);
    await settles(() => adding.getByLabel("Name", { exact: true }).inputValue(), "");
    // The user signs out in another tab.
    await type();
    expect(await kept()).toContain("Night shift");
    const tab = await visitor.open("/vlans");
    await tab.getByRole("button", { name: /^Account/ }).click();
    await tab.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("Your session has ended.").waitFor();
    expect(await kept()).not.toContain("Night shift");
    await signIn(NEXT);
    await settles(() => adding.getByLabel("Name", { exact: true }).inputValue(), "");
    // The tab is signed in as well.
    await tab.getByRole("button", { name: "Account: Next" }).waitFor();
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    await tab.close();
  });
});
