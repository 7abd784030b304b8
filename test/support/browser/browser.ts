// Chromium for console tests. Pages report their errors, visible or not. Each test gets a separate context, like a new
// browser.

import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { systemTimers } from "../../../src/base/timers.ts";
import { cookieOf } from "../appliance/sign-in.ts";
import { recordTime } from "../measure/causes.ts";
import { EVIDENCE_FOLDER, logTo } from "../measure/evidence.ts";
import { HANG_MS } from "../measure/limits.ts";
import { findingsOfAxe } from "./axe.ts";

/**
 * Debian's Chromium, preferably the headless shell: the same engine without a window system, at a third of the time.
 */
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

const POLL_MS = 40;

/** LAN name of this machine, resolved only in the browser: not a secure context over plain HTTP. */
export const LAN_NAME = "netledger.lan";

/** Whether Chromium is installed; tests that need it report its absence. */
export const hasChromium = CHROMIUM !== undefined;

let running: Promise<Browser> | undefined;

/** Starts Chromium once per process. */
async function browser(): Promise<Browser> {
  running ??= recordTime("browser starts", launch);
  return running;
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? "",
    args: [
      // Rendering is in software either way: saves the GPU process.
      "--disable-gpu",
      // Otherwise Chromium keeps a spare renderer for the next page.
      "--renderer-process-limit=1",
      // V8 would spend a third of the CPU time on optimizing code that is hardly used again. Of its two optimizing
      // compilers, only the cheaper one runs, after ten times the usual number of calls.
      "--js-flags=--no-opt --invocation-count-for-maglev=4000 --invocation-count-for-maglev-osr=1000",
      // Chromium has no sandbox for root in a container.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      // Name resolution is off: pages can load only from this machine.
      `--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ],
  });
}

/** Number of visitors with stored evidence, used in file names. */
let evidenceCount = 0;

/** Visitors that are still open, such as those of a failed test. */
const activeVisitors = new Set<Visitor>();

/** Closes the contexts left open by failed tests; call it in afterAll. The browser ends with the process. */
export async function closeBrowser(): Promise<void> {
  for (const visitor of activeVisitors) await visitor.close();
}

/** Cookie set until the first page of a user who did not sign in through the form. */
const FIRST_VISIT = "arriving";

/** Stores on that first page what a sign-in through the console's form stores. */
const REMEMBER_SIGN_IN = `if (location.protocol.startsWith("http") && document.cookie.includes("${FIRST_VISIT}=1")) {
  localStorage.setItem("netledger:signed-in", "yes");
  document.cookie = "${FIRST_VISIT}=; max-age=0; path=/";
}`;

/** Separate browser context with all its pages. */
export class Visitor {
  readonly context: BrowserContext;
  private readonly origin: string;
  /** Problems that no journey may have: see `problems`. */
  private readonly messages: string[] = [];

  private constructor(context: BrowserContext, origin: string) {
    this.context = context;
    this.origin = origin;
  }

  /** @param origin of the appliance: `http://127.0.0.1:8080` */
  static async create(origin: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const visitor = new Visitor(context, origin);
    context.setDefaultTimeout(HANG_MS);
    activeVisitors.add(visitor);
    await visitor.record();
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:"))
        visitor.messages.push(`requested another host: ${url}`);
    });
    context.on("response", (response) => {
      if (response.status() >= 400)
        visitor.messages.push(`${response.status()} for ${response.url().slice(origin.length)}`);
    });
    context.on("weberror", (error) => visitor.messages.push(`threw: ${error.error().message}`));
    // Includes CSP violations.
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) visitor.messages.push(`${message.type()}: ${message.text()}`);
    });
    return visitor;
  }

  /** Opens a path below the origin. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    for (const name of ["goto", "reload"] as const) {
      const load = page[name].bind(page) as (...args: unknown[]) => Promise<never>;
      page[name] = (...args: unknown[]) => recordTime("page loads", () => load(...args));
    }
    await page.goto(this.origin + path);
    return page;
  }

  /**
   * Signs in and opens a path as that user. Uses the form only in a context with a page, and where only the browser
   * knows the appliance's name or trusts its certificate. Tests of the form fill it in themselves.
   */
  async signIn(email: string, password: string, path = "/"): Promise<Page> {
    const isFirst = this.context.pages().length === 0;
    const { hostname, protocol } = new URL(this.origin);
    if (!isFirst || hostname === LAN_NAME || protocol === "https:") return this.signInByForm(email, password, path);
    await recordTime("sign-ins", async () => {
      const response = await fetch(`${this.origin}/api/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password }),
      });
      if (!response.ok) throw new Error(`sign-in failed with status ${response.status}: ${await response.text()}`);
      const { name, value } = cookieOf(response);
      await this.context.addCookies([
        { name, value, url: this.origin, httpOnly: true, sameSite: "Lax" },
        { name: FIRST_VISIT, value: "1", url: this.origin },
      ]);
      await this.context.addInitScript(REMEMBER_SIGN_IN);
    });
    const page = await this.open(path);
    await page.getByRole("banner").waitFor();
    return page;
  }

  private async signInByForm(email: string, password: string, path: string): Promise<Page> {
    const page = await this.open(path);
    await page.getByLabel("E-mail").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("banner").waitFor();
    return page;
  }

  /**
   * Problems since the last call: responses of 400 and above, requests to other hosts, CSP violations, errors and
   * warnings of the browser's console, uncaught exceptions.
   */
  problems(): string[] {
    return this.messages.splice(0);
  }

  /** URLs requested from now on, in order; a live array. */
  requests(): string[] {
    const urls: string[] = [];
    this.context.on("request", (request) => urls.push(request.url()));
    return urls;
  }

  async close(): Promise<void> {
    if (!activeVisitors.delete(this)) return;
    if (EVIDENCE_FOLDER !== null) await this.keepEvidence(EVIDENCE_FOLDER);
    await this.context.close();
  }

  /** Records a trace and the browser's console in evidence runs only: recording is slow. */
  private async record(): Promise<void> {
    if (EVIDENCE_FOLDER === null) return;
    await this.context.tracing.start({ screenshots: true, snapshots: true });
    const log = logTo("console");
    this.context.on("console", (message) => log(`${message.type()}: ${message.text()}\n`));
    this.context.on("weberror", (error) => log(`threw: ${error.error().stack}\n`));
  }

  private async keepEvidence(folder: string): Promise<void> {
    evidenceCount += 1;
    for (const [index, page] of this.context.pages().entries())
      await page.screenshot({ path: join(folder, `page-${evidenceCount}-${index + 1}.png`) });
    await this.context.tracing.stop({ path: join(folder, `trace-${evidenceCount}.zip`) });
  }
}

/** Waits until the page has its final brightness. */
export async function waitForDimming(page: Page): Promise<void> {
  // The CSP forbids eval, which `waitForFunction` needs.
  await page.evaluate(
    "Promise.all((document.querySelector('main')?.getAnimations() ?? []).map(({ finished }) => finished.catch(() => null)))",
  );
}

/**
 * Findings of axe-core for WCAG 2.2, levels A and AA, and its best practices: a sentence each with the element. Waits
 * while the page is dimmed: until new data arrives, it shows the previous state.
 */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  await page.locator("main[aria-busy=true]").waitFor({ state: "detached" });
  await waitForDimming(page);
  return recordTime("axe runs", () => findingsOfAxe(page));
}

/** Asserts that axe-core finds nothing on a page, in light and in dark colors. */
export async function expectAccessibleInBoth(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
  }
}

/**
 * Asserts that axe-core finds nothing on a page, and that nothing overflows the window.
 * @param label the page, named in a failure
 */
export async function expectAccessibleWithin(page: Page, label: unknown): Promise<void> {
  expect([label, await accessibilityFindings(page)]).toEqual([label, []]);
  const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
  expect([label, overflow <= 0]).toEqual([label, true]);
}

/** Like expectAccessibleWithin, in light and in dark colors. */
export async function expectAccessibleWithinInBoth(page: Page, label: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expectAccessibleWithin(page, [label, colorScheme]);
  }
}

/** Color schemes and window widths for accessibility tests. */
export const APPEARANCES = [
  ["light", 1280],
  ["dark", 360],
] as const;

/**
 * Follows a link to a path below the origin within the document, without reloading scripts. Waits until the page is
 * shown.
 */
export async function follow(page: Page, path: string): Promise<void> {
  const { href } = new URL(path, page.url());
  await page.evaluate(`(async () => {
    const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(href)} });
    // The page of another path stays until that one is loaded.
    if (link.pathname !== location.pathname) document.querySelector("main h1")?.setAttribute("data-left", "");
    document.body.append(link);
    link.click();
    link.remove();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  })()`);
  await waitUntilShown(page);
}

/** Waits until a page has its heading and all responses, and nothing of the previous page remains. */
export async function waitUntilShown(page: Page): Promise<void> {
  await page.locator("main:not([aria-busy=true]):has(h1:not([data-left])):not(:has(.waiting))").waitFor();
}

/**
 * Waits until a value read from a page is as expected, for effects shortly after an awaited event. Fails with the last
 * value. `waitForFunction` does not work here: the CSP refuses its polling.
 * @param expected a value, or a matcher of `expect`: `expect.stringContaining("Voice")`
 */
export async function expectEventually<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const timeout = AbortSignal.timeout(HANG_MS);
  let last = await read();
  while (!matches(last, expected) && !timeout.aborted) {
    await new Promise<void>((resolve) => systemTimers.after(POLL_MS, resolve));
    last = await read();
  }
  expect<unknown>(last).toEqual(expected);
}

function matches(value: unknown, expected: unknown): boolean {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
