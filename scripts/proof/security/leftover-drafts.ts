// Drafts left in a tab of a real browser: the next user of the machine must not find them, however the session ended.

import { existsSync } from "node:fs";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proof, ProofContext } from "../part.ts";
import { MEMBER_EMAIL, OWNER_EMAIL, OWNER_PASSWORD, PERSON_PASSWORD, populate, Testbed } from "./testbed.ts";

const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

/** Text of a draft; occurs nowhere else. */
const DRAFT = "Kz4w canary draft";
/** Script that returns the storage and content of a tab. */
const TAB_STATE = `JSON.stringify([
  { ...sessionStorage },
  { ...localStorage },
  history.state,
  document.documentElement.outerHTML,
  ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value),
])`;

interface SessionEnd {
  readonly name: string;
  /** Ends the session of the page's user, after which the page shows the sign-in form. */
  readonly end: (page: Page, context: BrowserContext) => Promise<void>;
}

export async function proveLeftDrafts(context: ProofContext): Promise<Proof> {
  if (CHROMIUM === undefined)
    return { findings: [], skipped: ["Drafts left in a browser: Chromium is not installed."] };
  const testbed = new Testbed(context, "left-drafts");
  try {
    await populate(testbed);
    return { findings: [await checkDrafts(testbed, CHROMIUM)] };
  } finally {
    await testbed.close();
  }
}

async function checkDrafts(testbed: Testbed, executablePath: string): Promise<Finding> {
  const browser = await chromium.launch({
    executablePath,
    // Chromium has no sandbox for root in a container.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    // Enables the back/forward cache, as in ordinary browsers.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  try {
    const results: string[] = [];
    let holds = true;
    for (const sessionEnd of sessionEnds(testbed)) {
      const context = await browser.newContext();
      context.setDefaultTimeout(HANG_MS);
      const page = await openDraft(testbed, context);
      const wasStored = String(await page.evaluate(TAB_STATE)).includes(DRAFT);
      await sessionEnd.end(page, context);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      const remains = String(await page.evaluate(TAB_STATE)).includes(DRAFT);
      await signIn(page, MEMBER_EMAIL, PERSON_PASSWORD);
      await page.locator("#edit-name").waitFor();
      const isFound = String(await page.evaluate(TAB_STATE)).includes(DRAFT);
      await context.close();
      holds &&= wasStored && !remains && !isFound;
      results.push(
        `${sessionEnd.name}: ${remains || isFound ? "found" : wasStored ? "nothing" : "no draft was stored before"}`,
      );
    }
    return {
      claim: "unsaved input is gone from the tab when the next user signs in, however the session ended",
      held: holds,
      figure: results.join("; "),
    };
  } finally {
    await browser.close();
  }
}

/** Opens a form for a new host as the Owner, and fills it in. */
async function openDraft(testbed: Testbed, context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${testbed.running.url}/hosts?new=host`);
  await signIn(page, OWNER_EMAIL, OWNER_PASSWORD);
  await page.locator("#edit-network_id").selectOption({ index: 1 });
  await page.locator("#edit-name").fill(DRAFT);
  return page;
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("banner").waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

function sessionEnds(testbed: Testbed): readonly SessionEnd[] {
  const { url } = testbed.running;
  const signOutInOtherTab = async (context: BrowserContext) => {
    const tab = await context.newPage();
    await tab.goto(`${url}/vlans`);
    await signOut(tab);
    await tab.getByRole("button", { name: "Sign in" }).waitFor();
    await tab.close();
  };
  const endSession = async (context: BrowserContext) => {
    const session = (await context.cookies()).find(({ name }) => name === "session_id")?.value ?? "";
    await testbed.send("POST", "/api/auth/logout", undefined, [["Cookie", `session_id=${session}`]]);
  };
  return [
    { name: "signed out", end: signOut },
    { name: "signed out in another tab", end: (_, context) => signOutInOtherTab(context) },
    {
      name: "a session ended before the form was sent",
      end: async (page, context) => {
        await endSession(context);
        // The change stream may have noticed the end already.
        await page.evaluate("document.querySelector('form.edit')?.requestSubmit()");
      },
    },
    {
      name: "a session ended before another page was requested",
      end: async (page, context) => {
        await endSession(context);
        await page.evaluate("document.querySelector(`nav a[href^='/vlans']`)?.click()");
        await page.getByRole("button", { name: "Sign in" }).waitFor();
        await page.goBack();
      },
    },
    {
      name: "a session ended before the page was loaded",
      end: async (page, context) => {
        await context.clearCookies();
        await page.reload();
      },
    },
    {
      name: "signed out in another tab before going back from another document",
      end: async (page, context) => {
        await page.goto(`${url}/docs`);
        await signOutInOtherTab(context);
        await page.goBack();
      },
    },
  ];
}
