// Chromium for tests of the console: pages that tell what went wrong in them, seen or not. Each test has a context of its
// own, as a person with a fresh browser would.

import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { systemTimers } from "../../../src/base/timers.ts";
import { cookieOf } from "../appliance/sign-in.ts";
import { spentOn } from "../measure/causes.ts";
import { EVIDENCE_FOLDER, logTo } from "../measure/evidence.ts";
import { HANG_MS } from "../measure/limits.ts";

/** Debian's, the cheaper first: the shell is the same engine without the windows around it, at a third of the time. */
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

const POLL_MS = 40;

const AXE_OPTIONS = {
  // WCAG 2.2, levels A and AA, and axe-core's own best practices.
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
  // All rules run on all elements: only what passes is not listed element by element, which takes two thirds of the time.
  resultTypes: ["violations"],
  // Style sheets are asked for again for one experimental rule alone, which is not among these.
  preload: false,
};

/** Rules whose outcome depends on colors. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** Input of all other rules: the elements of a page, its size, open dialogs and popovers, the focus. */
const PAGE_STATE = `[
  innerWidth,
  innerHeight,
  ...[...document.querySelectorAll(":popover-open, :modal, :focus")].map(({ tagName, id }) => tagName + id),
  document.documentElement.outerHTML,
].join()`;

/** A name of the LAN that leads to this machine, in the browser alone: over plain HTTP it is no secure context. */
export const LAN_NAME = "netledger.lan";

/** Whether there is one on this machine: tests that need it say so where there is none. */
export const hasChromium = CHROMIUM !== undefined;

let running: Promise<Browser> | undefined;

/** Starts it once for a process. */
async function browser(): Promise<Browser> {
  running ??= spentOn("browser starts", launch);
  return running;
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM ?? "",
    args: [
      // Rendered in software either way: without a process of its own for that.
      "--disable-gpu",
      // Or it keeps a process beside the page's own, for a page that might be opened next.
      "--renderer-process-limit=1",
      // Root has no sandbox in a container.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      // It can resolve no name: what a page gets, it gets from this machine.
      `--host-resolver-rules=MAP ${LAN_NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ],
  });
}

/** axe-core, minified. */
function axeSource(): string {
  return readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
}

/** Number of visitors that left evidence: names their files. */
let kept = 0;

/** Visitors that have not left: those of a failed test. */
const present = new Set<Visitor>();

/** Closes the contexts that a failed test left open; call it in afterAll. The browser ends with the process. */
export async function closeBrowser(): Promise<void> {
  for (const visitor of present) await visitor.leave();
}

/** A cookie until the first page of a user who did not sign in by the form. */
const ARRIVING = "arriving";

/** On that first page: what the console remembers of a user who signs in by its form. */
const REMEMBER_SIGN_IN = `if (location.protocol.startsWith("http") && document.cookie.includes("${ARRIVING}=1")) {
  localStorage.setItem("netledger:signed-in", "yes");
  document.cookie = "${ARRIVING}=; max-age=0; path=/";
}`;

/** A browser of somebody's own, with all its pages. */
export class Visitor {
  readonly context: BrowserContext;
  private readonly origin: string;
  /** Sentences about what no journey may have: see `troubles`. */
  private readonly found: string[] = [];

  private constructor(context: BrowserContext, origin: string) {
    this.context = context;
    this.origin = origin;
  }

  /** @param origin of the appliance: `http://127.0.0.1:8080` */
  static async arrive(origin: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const visitor = new Visitor(context, origin);
    context.setDefaultTimeout(HANG_MS);
    present.add(visitor);
    await visitor.record();
    context.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${origin}/`) && !url.startsWith("data:") && !url.startsWith("blob:"))
        visitor.found.push(`asked another host: ${url}`);
    });
    context.on("response", (response) => {
      if (response.status() >= 400)
        visitor.found.push(`${response.status()} for ${response.url().slice(origin.length)}`);
    });
    context.on("weberror", (error) => visitor.found.push(`threw: ${error.error().message}`));
    // Violations of the policy are among them.
    context.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) visitor.found.push(`${message.type()}: ${message.text()}`);
    });
    return visitor;
  }

  /** Opens an address below the origin. */
  async open(path: string): Promise<Page> {
    const page = await this.context.newPage();
    for (const name of ["goto", "reload"] as const) {
      const load = page[name].bind(page) as (...args: unknown[]) => Promise<never>;
      page[name] = (...args: unknown[]) => spentOn("page loads", () => load(...args));
    }
    await page.goto(this.origin + path);
    return page;
  }

  /**
   * Signs in, and opens an address as that user. Through the form only in a context that has a page already, and where
   * only the browser knows the appliance's name or trusts its certificate: tests of the form fill it in themselves.
   */
  async signIn(email: string, password: string, path = "/"): Promise<Page> {
    const isFirst = this.context.pages().length === 0;
    const { hostname, protocol } = new URL(this.origin);
    if (!isFirst || hostname === LAN_NAME || protocol === "https:") return this.signInByForm(email, password, path);
    await spentOn("sign-ins", async () => {
      const answer = await fetch(`${this.origin}/api/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password }),
      });
      if (!answer.ok) throw new Error(`signing in was answered ${answer.status}: ${await answer.text()}`);
      const { name, value } = cookieOf(answer);
      await this.context.addCookies([
        { name, value, url: this.origin, httpOnly: true, sameSite: "Lax" },
        { name: ARRIVING, value: "1", url: this.origin },
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
   * What went wrong since it was last asked: answers of 400 and above, requests to other hosts, violations of the
   * policy, errors and warnings of the browser's console, exceptions that nobody caught.
   */
  troubles(): string[] {
    return this.found.splice(0);
  }

  /** Every URL that is asked for from now on, in order, as it grows. */
  requests(): string[] {
    const urls: string[] = [];
    this.context.on("request", (request) => urls.push(request.url()));
    return urls;
  }

  async leave(): Promise<void> {
    if (!present.delete(this)) return;
    if (EVIDENCE_FOLDER !== null) await this.keepEvidence(EVIDENCE_FOLDER);
    await this.context.close();
  }

  /** Records a trace and what the browser's console says, in the run for evidence alone: it slows what it records. */
  private async record(): Promise<void> {
    if (EVIDENCE_FOLDER === null) return;
    await this.context.tracing.start({ screenshots: true, snapshots: true });
    const log = logTo("console");
    this.context.on("console", (message) => log(`${message.type()}: ${message.text()}\n`));
    this.context.on("weberror", (error) => log(`threw: ${error.error().stack}\n`));
  }

  private async keepEvidence(folder: string): Promise<void> {
    kept += 1;
    for (const [index, page] of this.context.pages().entries())
      await page.screenshot({ path: join(folder, `page-${kept}-${index + 1}.png`) });
    await this.context.tracing.stop({ path: join(folder, `trace-${kept}.zip`) });
  }
}

/** Once the page is as light as it is going to be. */
export async function dimmingOver(page: Page): Promise<void> {
  // The policy forbids what a function that is waited for would be evaluated by.
  await page.evaluate(
    "Promise.all((document.querySelector('main')?.getAnimations() ?? []).map(({ finished }) => finished.catch(() => null)))",
  );
}

/**
 * What axe-core finds on a page by WCAG 2.2, levels A and AA, and its own best practices; one sentence each with the
 * element. Not while it is dimmed: until what was asked for is there, it shows what is from before.
 */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  await page.locator("main[aria-busy=true]").waitFor({ state: "detached" });
  await dimmingOver(page);
  const { violations } = await spentOn("axe runs", async () => {
    // Once for a document: its 0.5 MB are parsed each time.
    if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource());
    // The same state in the other color scheme: only colors differ.
    const isSeen = await page.evaluate<boolean>(`axe.seenState === (axe.seenState = ${PAGE_STATE})`);
    const options = isSeen ? { ...AXE_OPTIONS, runOnly: COLOR_RULES } : AXE_OPTIONS;
    return page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${failureSummary ?? ""}`),
  );
}

/**
 * Follows a link to an address below the origin, within the document: scripts are not loaded again. Waits until the page
 * is shown.
 */
export async function follow(page: Page, address: string): Promise<void> {
  const { href } = new URL(address, page.url());
  await page.evaluate(`(async () => {
    const link = Object.assign(document.createElement("a"), { href: ${JSON.stringify(href)} });
    // The page of another path stays until that one is loaded.
    if (link.pathname !== location.pathname) document.querySelector("main h1")?.setAttribute("data-left", "");
    document.body.append(link);
    link.click();
    link.remove();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  })()`);
  await isShown(page);
}

/** Waits until a page has its heading and all answers, and nothing of an earlier address is left. */
export async function isShown(page: Page): Promise<void> {
  await page.locator("main:not([aria-busy=true]):has(h1:not([data-left])):not(:has(.waiting))").waitFor();
}

/**
 * Waits until what is read of a page is as expected: for what comes a moment after that which was waited for. Fails with
 * what it read last. `waitForFunction` is none for these pages: where it has to look twice, their policy refuses it.
 * @param expected a value, or what `expect` matches: `expect.stringContaining("Voice")`
 */
export async function settles<T>(read: () => Promise<T>, expected: T): Promise<void> {
  const late = AbortSignal.timeout(HANG_MS);
  let last = await read();
  while (!isAs(last, expected) && !late.aborted) {
    await new Promise<void>((resolve) => systemTimers.after(POLL_MS, resolve));
    last = await read();
  }
  expect<unknown>(last).toEqual(expected);
}

function isAs(value: unknown, expected: unknown): boolean {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
