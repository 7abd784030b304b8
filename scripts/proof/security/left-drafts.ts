// Drafts left in a tab of a real browser: remains found by the next user of the machine, however the session ended.

import { existsSync } from "node:fs";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proof, Proving } from "../part.ts";
import { MEMBER_EMAIL, OWNER_EMAIL, OWNER_PASSWORD, PERSON_PASSWORD, populate, Stage } from "./stage.ts";

const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

/** Occurs nowhere else. */
const TYPED = "Kz4w canary draft";
/** Storage and content of a tab. */
const LEFT = `JSON.stringify([
  { ...sessionStorage },
  { ...localStorage },
  history.state,
  document.documentElement.outerHTML,
  ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value),
])`;

interface Way {
  readonly name: string;
  /** Ends the session of the page's user: the sign-in page follows. */
  readonly end: (page: Page, context: BrowserContext) => Promise<void>;
}

export async function proveLeftDrafts(proving: Proving): Promise<Proof> {
  if (CHROMIUM === undefined)
    return { findings: [], leftOut: ["Drafts that stay in a browser: there is no Chromium."] };
  const stage = new Stage(proving, "left-drafts");
  try {
    await populate(stage);
    return { findings: [await leftDrafts(stage, CHROMIUM)] };
  } finally {
    await stage.close();
  }
}

async function leftDrafts(stage: Stage, executablePath: string): Promise<Finding> {
  const browser = await chromium.launch({
    executablePath,
    // Chromium has no sandbox for root in a container.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    // Enables the back/forward cache, as in ordinary browsers.
    ignoreDefaultArgs: ["--disable-back-forward-cache"],
  });
  try {
    const told: string[] = [];
    let isHeld = true;
    for (const way of waysOf(stage)) {
      const context = await browser.newContext();
      context.setDefaultTimeout(HANG_MS);
      const page = await typed(stage, context);
      const wasKept = String(await page.evaluate(LEFT)).includes(TYPED);
      await way.end(page, context);
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      const isLeft = String(await page.evaluate(LEFT)).includes(TYPED);
      await signIn(page, MEMBER_EMAIL, PERSON_PASSWORD);
      await page.locator("#edit-name").waitFor();
      const isFound = String(await page.evaluate(LEFT)).includes(TYPED);
      await context.close();
      isHeld &&= wasKept && !isLeft && !isFound;
      told.push(`${way.name}: ${isLeft || isFound ? "found" : wasKept ? "nothing" : "nothing was kept before"}`);
    }
    return {
      claim: "unsaved input is gone from the tab when the next user signs in, however the session ended",
      held: isHeld,
      figure: told.join("; "),
    };
  } finally {
    await browser.close();
  }
}

/** A form of a new host, as the Owner. */
async function typed(stage: Stage, context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${stage.running.url}/hosts?new=host`);
  await signIn(page, OWNER_EMAIL, OWNER_PASSWORD);
  await page.locator("#edit-network_id").selectOption({ index: 1 });
  await page.locator("#edit-name").fill(TYPED);
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

function waysOf(stage: Stage): readonly Way[] {
  const { url } = stage.running;
  const elsewhere = async (context: BrowserContext) => {
    const tab = await context.newPage();
    await tab.goto(`${url}/vlans`);
    await signOut(tab);
    await tab.getByRole("button", { name: "Sign in" }).waitFor();
    await tab.close();
  };
  const ended = async (context: BrowserContext) => {
    const session = (await context.cookies()).find(({ name }) => name === "session_id")?.value ?? "";
    await stage.send("POST", "/api/auth/logout", undefined, [["Cookie", `session_id=${session}`]]);
  };
  return [
    { name: "signed out", end: signOut },
    { name: "signed out in another tab", end: (_, context) => elsewhere(context) },
    {
      name: "a session that had ended when the form was sent",
      end: async (page, context) => {
        await ended(context);
        // The change stream may have noticed before.
        await page.evaluate("document.querySelector('form.edit')?.requestSubmit()");
      },
    },
    {
      name: "a session that had ended when another page was asked for",
      end: async (page, context) => {
        await ended(context);
        await page.evaluate("document.querySelector(`nav a[href^='/vlans']`)?.click()");
        await page.getByRole("button", { name: "Sign in" }).waitFor();
        await page.goBack();
      },
    },
    {
      name: "a session that had ended when the page was loaded",
      end: async (page, context) => {
        await context.clearCookies();
        await page.reload();
      },
    },
    {
      name: "signed out elsewhere before the way back from another document",
      end: async (page, context) => {
        await page.goto(`${url}/docs`);
        await elsewhere(context);
        await page.goBack();
      },
    },
  ];
}
