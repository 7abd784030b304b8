// Signed-in Chromium on a measured appliance, with an empty cache if measured.

import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { type Running, startExecutable } from "../executable.ts";
import type { BuiltStore } from "../store.ts";

const CHROMIUM = "/usr/bin/chromium";
const WATCH = join(import.meta.dir, "watch.js");
const VIEWPORT = { width: 1280, height: 800 };
const EMAIL = "console@example.net";
const PASSWORD = "the console is measured";

/** An appliance and a signed-in browser. */
export interface Browsing {
  readonly server: Running;
  readonly origin: string;
  readonly browser: Browser;
  /** A signed-in page in a new browser profile without a cache. Close its context. */
  fresh(): Promise<Page>;
  /** Processor time so far, in milliseconds: independent of other load. */
  processorMs(): Promise<ProcessorMs>;
  end(): Promise<void>;
}

export interface ProcessorMs {
  /** Of the renderer processes: scripts, layout, painting. */
  readonly pages: number;
  readonly server: number;
}

/** @throws Error if a page reports an error */
export async function browse(executable: string, store: BuiltStore): Promise<Browsing> {
  const server = await startExecutable(executable, store.directory);
  const origin = `http://127.0.0.1:${server.port}`;
  await addUser(origin, store.key);
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    // Chromium has no sandbox for root in a container.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("banner").waitFor();
  const storageState = await context.storageState();
  await context.close();
  const session = await browser.newBrowserCDPSession();
  return {
    server,
    origin,
    browser,
    processorMs: async () => {
      const { processInfo } = await session.send("SystemInfo.getProcessInfo");
      const pages = processInfo.filter(({ type }) => type === "renderer");
      return {
        pages: 1000 * pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0),
        server: 1000 * server.cpuSeconds(),
      };
    },
    fresh: async () => {
      const own: BrowserContext = await browser.newContext({ storageState, viewport: VIEWPORT });
      await own.addInitScript({ path: WATCH });
      own.on("weberror", (error) => {
        throw error.error();
      });
      return own.newPage();
    },
    end: async () => {
      await browser.close();
      await server.stop();
    },
  };
}

/** Adds a user with full read access, or reuses that of the previous run. */
async function addUser(origin: string, key: string): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ email: EMAIL, name: "console", role: "Admin", network_ids: [], password: PASSWORD }),
  });
  if (answer.status !== 200 && answer.status !== 409) throw new Error(`no user was made: ${await answer.text()}`);
}

/** Center and ends of the time bar's track, in page pixels. */
export interface TrackPlace {
  readonly left: number;
  readonly width: number;
  readonly y: number;
}

/** Sets the time bar to the period between two timestamps. */
export async function showBetween(page: Page, from: string, to: string): Promise<TrackPlace> {
  await page.getByLabel("Range", { exact: true }).selectOption("custom");
  await page.getByLabel("From", { exact: true }).fill(from);
  await page.getByLabel("Until", { exact: true }).fill(to);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const box = await page.getByRole("group", { name: "How much changed when" }).boundingBox();
  if (box === null) throw new Error("the time bar has no track");
  return { left: box.x, width: box.width, y: box.y + box.height / 2 };
}
