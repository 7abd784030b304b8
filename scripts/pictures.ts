// Screenshots of the demo for the handbook, from Chromium on the compiled executable. They show the current date.
// Retake them when the pages change visibly: all of them, or those named as arguments.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { EXECUTABLE, startExecutable } from "./benchmark/executable.ts";

const FOLDER = join(import.meta.dir, "..", "src", "handbook", "pictures");
const DEMO = { email: "demo@larkfield.example", password: "look-around" };
const SIZE = { width: 1280, height: 800 };
/** WebP quality: text stays sharp at about 100 kB per picture. */
const QUALITY = 70;
/** Timeout of a page; it matters only on a busy machine. */
const WAIT_MAX_MS = 120_000;
const SETTLE_MS = 3_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Picture {
  readonly name: string;
  /** @returns path of the page */
  readonly path: (demo: Demo) => Promise<string> | string;
  /** Text on the page once its content is shown. */
  readonly text: string;
}

/** MAC address of a laptop that arrives in the morning, moves around, and leaves in the evening. */
const LAPTOP = "8c:16:45:31:4d:0e";

const PICTURES: readonly Picture[] = [
  { name: "find", path: async (demo) => `/?q=${LAPTOP}${(await demo.lastPort(LAPTOP)).at}`, text: "Confidence" },
  {
    name: "host",
    path: async (demo) => `/hosts/${await demo.idOf("hosts", "acc-library-2")}?tab=ports`,
    text: "acc-library-2",
  },
  {
    name: "interface",
    path: async (demo) => {
      const { portId, at } = await demo.lastPort(LAPTOP);
      return `/interfaces/${portId}?tab=overview${at}`;
    },
    text: "lt-mchen",
  },
  {
    name: "map",
    // Before and after the replacement of acc-library-2.
    path: async (demo) =>
      `/map?${await demo.campus()}&at=${demo.timeBefore(9, "18:00")}&vs=${demo.timeBefore(10, "06:00")}`,
    text: "vanished",
  },
  { name: "compare", path: (demo) => `/hosts?vs=${demo.timeBefore(10, "06:00")}`, text: "acc-library-2" },
  {
    name: "subnet",
    path: async (demo) => `/subnets/${await demo.idOf("subnets", "10.20.20.0/24")}`,
    text: "10.20.20.0/24",
  },
  { name: "changes", path: () => "/changes", text: "moved from" },
  {
    name: "start",
    path: async (demo) => `/start?${await demo.campus()}&step=scan&scan=${await demo.lastScan()}`,
    text: "What next",
  },
];

interface Interval {
  readonly from: string;
  readonly to: string | null;
  readonly port: { readonly id: string } | null;
}

/** Queries to the demo that complete the URLs of pages. */
class Demo {
  private readonly page: Page;
  private readonly origin: string;
  private readonly startedAt: number;

  constructor(page: Page, origin: string, startedAt: number) {
    this.page = page;
    this.origin = origin;
    this.startedAt = startedAt;
  }

  /** Finds the id of the record with this name in a list. */
  async idOf(path: string, name: string): Promise<string> {
    const query = path === "networks" ? "limit=50" : `search=${encodeURIComponent(name)}&limit=50`;
    const records = await this.get<Array<Readonly<Record<string, unknown>>>>(`${path}?${query}`);
    const found = records.find((record) => [record.name, record.cidr, record.if_name].includes(name));
    if (found === undefined) throw new Error(`pictures: ${path} has no record named ${name}`);
    return String(found.id);
  }

  /** Finds the current or last port of a MAC address, and the time parameter for URLs of pages. */
  async lastPort(mac: string): Promise<{ readonly portId: string; readonly at: string }> {
    const { intervals } = await this.get<{ intervals: Interval[] }>(`locate/timeline?mac=${mac}&from=-14d`);
    const last = intervals.filter(({ port }) => port !== null).sort((a, b) => (a.from < b.from ? 1 : -1))[0];
    if (last?.port == null) throw new Error(`pictures: ${mac} has no known port`);
    const { from, to, port } = last;
    return { portId: port.id, at: to === null ? "" : `&at=${new Date(Date.parse(from) + HOUR_MS).toISOString()}` };
  }

  /** Network parameter for URLs of pages: the larger of the demo's networks. */
  async campus(): Promise<string> {
    return `network=${await this.idOf("networks", "Main campus")}`;
  }

  /** Finds the last completed scan of the larger of the demo's networks. @returns its id */
  async lastScan(): Promise<string> {
    const query = `${(await this.campus()).replace("network", "network_id")}&status=Completed&order_direction=desc&limit=1`;
    const [last] = await this.get<ReadonlyArray<{ readonly id: string }>>(`discovery/scans?${query}`);
    if (last === undefined) throw new Error("pictures: no completed scan");
    return last.id;
  }

  private async get<T>(path: string): Promise<T> {
    const response = await this.page.request.get(`${this.origin}/api/v1/${path}`);
    return ((await response.json()) as { data: T }).data;
  }

  /** Timestamp `daysAgo` days before the demo's start, at the given time of day. */
  timeBefore(daysAgo: number, time: string): string {
    return `${new Date(this.startedAt - daysAgo * DAY_MS).toISOString().slice(0, 10)}T${time}:00Z`;
  }
}

const requestedNames = process.argv.slice(2);
const selected = PICTURES.filter(({ name }) => requestedNames.length === 0 || requestedNames.includes(name));
const directory = mkdtempSync(join(tmpdir(), "netledger-pictures-"));
const startedAt = Date.now();
const running = await startExecutable(EXECUTABLE, join(directory, "data"), ["--demo"]);
try {
  const origin = `http://127.0.0.1:${running.port}`;
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: isRoot ? ["--no-sandbox"] : [] });
  try {
    const context = await browser.newContext({
      viewport: SIZE,
      deviceScaleFactor: 2,
      colorScheme: "light",
      timezoneId: "UTC",
      locale: "en-GB",
    });
    context.setDefaultTimeout(WAIT_MAX_MS);
    const page = await context.newPage();
    await page.goto(origin);
    await page.getByLabel("E-mail").fill(DEMO.email);
    await page.getByLabel("Password").fill(DEMO.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("banner").waitFor();
    const demo = new Demo(page, origin, startedAt);
    const session = await context.newCDPSession(page);
    for (const { name, path, text } of selected) {
      await page.goto(origin + (await path(demo)));
      await page.getByRole("main").getByText(text).first().waitFor();
      // The change stream never ends, so no event marks the end of all other requests.
      await page.waitForTimeout(SETTLE_MS);
      const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
      const bytes = Uint8Array.fromBase64(data);
      await Bun.write(join(FOLDER, `${name}.webp`), bytes);
      console.log(`${name}.webp ${Math.round(bytes.length / 1000)} kB`);
    }
  } finally {
    await browser.close();
  }
} finally {
  await running.stop();
  rmSync(directory, { recursive: true, force: true });
}
