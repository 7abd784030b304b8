// Signed-in Chromium on the appliance under test; every page starts with an empty cache.

import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
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
  /** Opens a signed-in page in a new browser context without a cache. The caller closes the context. */
  newPage(): Promise<Page>;
  /** CPU time used so far. */
  processorMs(): Promise<ProcessorMs>;
  close(): Promise<void>;
}

export interface ProcessorMs {
  /** Time of the renderer processes: scripts, layout, painting. */
  readonly pages: number;
  readonly server: number;
}

/** Starts the appliance and a signed-in browser; an error in a page is thrown. */
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
      return { pages: 1000 * pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0), server: 1000 * server.cpuSeconds() };
    },
    newPage: async () => {
      const profile = await browser.newContext({ storageState, viewport: VIEWPORT });
      await profile.addInitScript({ path: WATCH });
      profile.on("weberror", (error) => {
        throw error.error();
      });
      return profile.newPage();
    },
    close: async () => {
      await browser.close();
      await server.stop();
    },
  };
}

/** Creates an Admin, or reuses the previous run's. */
async function addUser(origin: string, key: string): Promise<void> {
  const response = await fetch(`${origin}/api/v1/users`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ email: EMAIL, name: "console", role: "Admin", network_ids: [], password: PASSWORD }),
  });
  if (response.status !== 200 && response.status !== 409)
    throw new Error(`could not create the user: ${await response.text()}`);
}

/** Position of the time bar's track in page pixels; `y` is its center. */
export interface TrackBox {
  readonly left: number;
  readonly width: number;
  readonly y: number;
}

/** Sets the time bar to the period between two timestamps. */
export async function setTimeRange(page: Page, from: string, to: string): Promise<TrackBox> {
  await page.getByLabel("Range", { exact: true }).selectOption("custom");
  await page.getByLabel("From", { exact: true }).fill(from);
  await page.getByLabel("Until", { exact: true }).fill(to);
  await page.getByRole("button", { name: "Show", exact: true }).click();
  const box = await page.getByRole("group", { name: "Activity over time" }).boundingBox();
  if (box === null) throw new Error("the time bar has no track");
  return { left: box.x, width: box.width, y: box.y + box.height / 2 };
}
