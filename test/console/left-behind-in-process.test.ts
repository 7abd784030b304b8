// User data left behind in a tab, in the test process: no unsaved text, however the session ends; browser settings
// remain.

import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import type { Page } from "../support/page/page.ts";
import { OWNER, serveForAll } from "../support/page/visit.ts";
import type { Visitor } from "../support/page/visitor.ts";
import { expectEventually } from "../support/page/waiting.ts";

const NEXT_USER = "next@acme.example";
/** Part of every typed text. */
const TYPED_TEXT = "half-typed";

let host: JsonRecord;
let visitor: Visitor;

const appliance = serveForAll(async ({ addUser, client, networkId }) => {
  await addUser(NEXT_USER, "Admin");
  host = await expectOk(client.post("hosts", { network_id: networkId, name: "access-1" }));
});

const stored = (page: Page) => page.evaluate<string>("JSON.stringify({ ...sessionStorage })");
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

interface Form {
  readonly name: string;
  readonly path: string;
  /** Types into the form; `submit` then sends it. */
  type(page: Page): Promise<void>;
  readonly submit: string;
}

const FORMS: readonly Form[] = [
  {
    name: "a new host",
    path: "/hosts?new=host",
    async type(page) {
      await page.locator("#edit-network_id").selectOption({ index: 1 });
      await page.locator("#edit-name").fill(TYPED_TEXT);
    },
    submit: "Create",
  },
  {
    name: "an edited host",
    get path() {
      return `/hosts/${host.id}?edit=yes`;
    },
    type: (page) => page.getByLabel("Model").fill(TYPED_TEXT),
    submit: "Save",
  },
  {
    name: "a new user",
    path: "/settings/people?new=user",
    async type(page) {
      const form = page.getByRole("form", { name: "New user" });
      await form.getByLabel("Name", { exact: true }).fill(TYPED_TEXT);
      await form.getByLabel("E-mail").fill("typed@acme.example");
      await form.getByLabel("Password").fill("a phrase of theirs");
    },
    submit: "Create",
  },
  {
    name: "a new credential",
    path: "/settings/credentials?new=credential",
    async type(page) {
      const form = page.getByRole("form", { name: "New credential" });
      await form.getByLabel("Name", { exact: true }).fill(TYPED_TEXT);
      await form.getByLabel("Community", { exact: true }).fill("a community");
    },
    submit: "Create",
  },
];

/** Signs in, opens a form, and types into it. */
async function typeInto({ path, type }: Form): Promise<Page> {
  const session = await appliance.openAs(OWNER, path);
  const { page } = session;
  visitor = session.visitor;
  await type(page);
  await expectEventually(() => stored(page), expect.stringContaining(TYPED_TEXT));
  // Records the tab's storage as soon as the sign-in form appears.
  await page.evaluate(`new MutationObserver(() => {
    if (document.querySelector(".sign-in") !== null) window.storedAtSignOut ??= JSON.stringify({ ...sessionStorage });
  }).observe(document, { subtree: true, childList: true })`);
  return page;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account/ }).click();
  await button(page, "Sign out").click();
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Sign in").click();
  await page.getByRole("banner").waitFor();
}

/** Asserts that the signed-out tab shows and stores nothing typed. */
async function expectNothingRemains(page: Page): Promise<void> {
  await button(page, "Sign in").waitFor();
  expect(await page.evaluate("window.storedAtSignOut ?? '{}'")).toBe("{}");
  expect(await stored(page)).toBe("{}");
  expect(await page.evaluate("JSON.stringify([{ ...localStorage }, history.state, document.title])")).not.toContain(
    TYPED_TEXT,
  );
}

describe.each(FORMS)("unsaved input of $name is discarded", (form) => {
  test("after sign-out, for the next user of the tab and for the same one", async () => {
    const page = await typeInto(form);
    await signOut(page);
    await expectNothingRemains(page);
    for (const email of [NEXT_USER, OWNER]) {
      await signIn(page, email);
      await page.getByRole("form").getByRole("button", { name: form.submit, exact: true }).waitFor();
      expect(await page.getByText("Your input was restored.").count()).toBe(0);
      expect(
        await page.evaluate(`[...document.querySelectorAll("input")].map(({ value }) => value).join()`),
      ).not.toContain(TYPED_TEXT);
      await signOut(page);
      await button(page, "Sign in").waitFor();
    }
  });

  test("when its submission is rejected because the session has ended", async () => {
    const page = await typeInto(form);
    await visitor.context.clearCookies();
    await button(page, form.submit).click();
    await page.getByText("Your session has ended.").waitFor();
    await expectNothingRemains(page);
  });
});

describe("unsaved input is discarded", () => {
  const [form] = FORMS as [Form];

  test("when a request is rejected because the session has ended", async () => {
    const page = await typeInto(form);
    await visitor.context.clearCookies();
    await page.evaluate(`document.querySelector("nav a[href^='/vlans']").click()`);
    await page.getByText("Your session has ended.").waitFor();
    await expectNothingRemains(page);
  });

  test("when the page is loaded after the session has ended", async () => {
    const page = await typeInto(form);
    await visitor.context.clearCookies();
    await page.reload();
    await expectNothingRemains(page);
    await page.reload();
    await expectNothingRemains(page);
  });

  test("in every tab, once one of them signs out; a session opened in one is open in all", async () => {
    const page = await typeInto(form);
    const tab = await visitor.open("/vlans");
    await signOut(tab);
    await page.getByText("Your session has ended.").waitFor();
    await expectNothingRemains(page);
    expect(await tab.getByText("Your session has ended.").count()).toBe(0);
    await signIn(tab, NEXT_USER);
    await page.getByRole("button", { name: `Account: ${NEXT_USER}` }).waitFor();
    expect(await page.locator("#edit-name").inputValue()).toBe("");
    expect(visitor.problems()).toEqual([]);
  });

  test("when the page returns from the browser's cache after another sign-out or sign-in", async () => {
    const page = await typeInto(form);
    const back = () => page.evaluate("dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))");
    // A page in the back/forward cache receives no events.
    await page.evaluate("addEventListener('storage', (event) => event.stopImmediatePropagation(), { capture: true })");
    await back();
    await page.getByText("Your input was restored.").waitFor();
    const tab = await visitor.open("/vlans");
    await signOut(tab);
    await button(tab, "Sign in").waitFor();
    await signIn(tab, NEXT_USER);
    expect(await stored(page)).toContain(TYPED_TEXT);
    await back();
    await page.getByRole("button", { name: `Account: ${NEXT_USER}` }).waitFor();
    await page.locator("#edit-name").waitFor();
    expect([await stored(page), await page.locator("#edit-name").inputValue()]).toEqual(["{}", ""]);
    await signOut(tab);
    await button(tab, "Sign in").waitFor();
    await back();
    await expectNothingRemains(page);
  });

  test("including names of markers, which the next user may not be allowed to see", async () => {
    const body = { name: "before the move", at: new Date().toISOString(), network_id: appliance.networkId };
    await expectOk(appliance.client.post("markers", body));
    const { page } = await appliance.openAs(OWNER, "/vlans");
    const name = page.getByText("before the move");
    await name.first().waitFor({ state: "attached" });
    await signOut(page);
    await page.route(/\/api\/v1\/markers/, (route) => route.abort());
    const markersRequest = page.waitForRequest(/\/api\/v1\/markers/);
    await signIn(page, NEXT_USER);
    await markersRequest;
    await page.getByRole("heading", { name: "VLANs", level: 1 }).waitFor();
    expect(await name.count()).toBe(0);
  });

  test("while browser preferences are kept", async () => {
    const page = await typeInto(form);
    const settings = () =>
      page.evaluate<string>(
        "JSON.stringify(['zone', 'time-range', 'network'].map((name) => localStorage.getItem(`netledger:${name}`)))",
      );
    await page.evaluate(`for (const [name, value] of [["zone", "UTC"], ["time-range", "day"], ["network", "${appliance.networkId}"]])
      localStorage.setItem("netledger:" + name, value)`);
    await signOut(page);
    await expectNothingRemains(page);
    expect(await settings()).toBe(JSON.stringify(["UTC", "day", appliance.networkId]));
  });
});
