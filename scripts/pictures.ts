// The handbook's pictures: screenshots of the demo in Chromium, on the compiled executable. They are of the day on which
// they are taken; take them again when what they show looks different: all, or those that are named.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { EXECUTABLE, startExecutable } from "./benchmark/executable.ts";

const FOLDER = join(import.meta.dir, "..", "src", "handbook", "pictures");
const DEMO = { email: "demo@larkfield.example", password: "look-around" };
const SIZE = { width: 1280, height: 800 };
/** Of WebP: text stays sharp, and a picture has about 100 kB. */
const QUALITY = 70;
/** Pages of the demo come at once; a busy machine takes longer. */
const WAIT_MAX_MS = 120_000;
const DRAWN_MS = 3_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Picture {
  readonly name: string;
  /** @returns the address of the page, below the origin */
  readonly path: (demo: Demo) => Promise<string> | string;
  /** What stands on it once it shows what it is about. */
  readonly text: string;
}

/** It comes in the morning, moves about, and leaves in the evening. */
const LAPTOP = "8c:16:45:31:4d:0e";

const PICTURES: readonly Picture[] = [
  { name: "find", path: async (demo) => `/?q=${LAPTOP}${(await demo.lastPlace(LAPTOP)).at}`, text: "Confidence" },
  {
    name: "host",
    path: async (demo) => `/hosts/${await demo.idOf("hosts", "acc-library-2")}?tab=ports`,
    text: "acc-library-2",
  },
  {
    name: "interface",
    path: async (demo) => {
      const { portId, at } = await demo.lastPlace(LAPTOP);
      return `/interfaces/${portId}?tab=overview${at}`;
    },
    text: "lt-mchen",
  },
  {
    name: "map",
    // Before acc-library-2 was replaced, and after.
    path: async (demo) => `/map?${await demo.campus()}&at=${demo.then(9, "18:00")}&vs=${demo.then(10, "06:00")}`,
    text: "vanished",
  },
  {
    name: "compare",
    path: (demo) => `/hosts?vs=${demo.then(10, "06:00")}`,
    text: "acc-library-2",
  },
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

/** The demo as it is asked for what pages are about. */
class Demo {
  private readonly page: Page;
  private readonly origin: string;
  private readonly began: number;

  constructor(page: Page, origin: string, began: number) {
    this.page = page;
    this.origin = origin;
    this.began = began;
  }

  /** Of the one of a kind that is called so. */
  async idOf(path: string, name: string, more = ""): Promise<string> {
    const query = `search=${encodeURIComponent(name)}&limit=50${more}`;
    const answer = await this.page.request.get(
      `${this.origin}/api/v1/${path}?${path === "networks" ? "limit=50" : query}`,
    );
    const { data } = (await answer.json()) as { data: Array<Readonly<Record<string, unknown>>> };
    const found = data.find((each) => [each.name, each.cidr, each.if_name].includes(name));
    if (found === undefined) throw new Error(`pictures: ${path} has nothing called ${name}`);
    return String(found.id);
  }

  /** The port that a MAC address is at, or was at last; and what addresses of pages say of that instant. */
  async lastPlace(mac: string): Promise<{ readonly portId: string; readonly at: string }> {
    const answer = await this.page.request.get(`${this.origin}/api/v1/locate/timeline?mac=${mac}&from=-14d`);
    const { data } = (await answer.json()) as { data: { intervals: Interval[] } };
    const last = data.intervals.filter(({ port }) => port !== null).sort((a, b) => (a.from < b.from ? 1 : -1))[0];
    if (last?.port == null) throw new Error(`pictures: ${mac} was nowhere`);
    const { from, to, port } = last;
    return { portId: port.id, at: to === null ? "" : `&at=${new Date(Date.parse(from) + HOUR_MS).toISOString()}` };
  }

  /** What addresses of pages say of the larger of its networks. */
  async campus(): Promise<string> {
    return `network=${await this.idOf("networks", "Main campus")}`;
  }

  /** The last scan of the larger of its networks that came to its end. */
  async lastScan(): Promise<string> {
    const query = `${(await this.campus()).replace("network", "network_id")}&status=Completed&order_direction=desc&limit=1`;
    const answer = await this.page.request.get(`${this.origin}/api/v1/discovery/scans?${query}`);
    const { data } = (await answer.json()) as { data: ReadonlyArray<{ readonly id: string }> };
    if (data[0] === undefined) throw new Error("pictures: there is no scan");
    return data[0].id;
  }

  /** An instant, so many days before the demo began and at that time of the day. */
  then(daysAgo: number, time: string): string {
    return `${new Date(this.began - daysAgo * DAY_MS).toISOString().slice(0, 10)}T${time}:00Z`;
  }
}

const named = process.argv.slice(2);
const taken = PICTURES.filter(({ name }) => named.length === 0 || named.includes(name));
const directory = mkdtempSync(join(tmpdir(), "netledger-pictures-"));
const began = Date.now();
const running = await startExecutable(EXECUTABLE, join(directory, "data"), ["--demo"]);
try {
  const origin = `http://127.0.0.1:${running.port}`;
  const isRoot = process.getuid?.() === 0;
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: isRoot ? ["--no-sandbox"] : [],
  });
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
    const demo = new Demo(page, origin, began);
    const session = await context.newCDPSession(page);
    for (const { name, path, text } of taken) {
      await page.goto(origin + (await path(demo)));
      await page.getByRole("main").getByText(text).first().waitFor();
      // The stream of changes never ends, so that nothing tells when all the rest has come.
      await page.waitForTimeout(DRAWN_MS);
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
