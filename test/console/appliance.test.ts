// Appliance status, log and bill of materials in Chromium, on the executable: correct values, links from warnings to
// their remedies, and no loss of typed text on a full disk. appliance-in-process.test.ts covers the errors for a
// Member.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ApplianceUnderTest } from "../../scripts/proof/disk/appliance.ts";
import { SmallDisk } from "../../scripts/proof/disk/small-disk.ts";
import { sizeText } from "../../src/console/text/settings.ts";
import { expectOk } from "../support/appliance/factories.ts";
import {
  APPEARANCES,
  accessibilityFindings,
  closeBrowser,
  expectAccessibleWithin,
  expectEventually,
  follow,
  hasChromium,
  Visitor,
} from "../support/browser/browser.ts";
import { OWNER, visitForAll } from "../support/browser/visit.ts";
import { EXECUTABLE, ensureExecutable, PASSWORD, Sandbox } from "../support/executable/executable.ts";

const MEMBER = "member@acme.example";
const MISSING = "No backup has been taken yet.";
/** Disk size with space for the database log. */
const SMALL_DISK_BYTES = 256 * 2 ** 20;
const MANY_LINES = 60;

afterAll(() => closeBrowser());

/** Fails a sign-in, which the log reports. */
async function failSignIn(origin: string): Promise<void> {
  const response = await fetch(`${origin}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: `nobody-${crypto.randomUUID()}@acme.example`, password: "not my password" }),
  });
  expect(response.status).toBe(401);
}

const attention = (page: Page) =>
  page.locator("section").filter({ has: page.getByRole("heading", { level: 2, name: "Needs attention" }) });
const fact = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });

describe.skipIf(!hasChromium)("the appliance", () => {
  const { appliance, visitor, page } = visitForAll(
    async ({ addUser, client, networkId }) => {
      await addUser(MEMBER, "Member", [networkId]);
      await expectOk(client.post("hosts", { network_id: networkId, name: "core-1" }));
    },
    { parent: tmpdir(), context: { permissions: ["clipboard-read", "clipboard-write"] } },
  );

  afterEach(() => expect(visitor.problems()).toEqual([]));
  beforeEach(async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: null });
  });

  test("shows a missing backup on the start page until one is taken and verified, and the true state of disk and log", async () => {
    await follow(page, "/");
    await attention(page).getByRole("link", { name: MISSING }).click();
    await page.getByRole("heading", { level: 1, name: "Backups" }).waitFor();
    await page.getByRole("button", { name: "Take a backup" }).click();
    await page.getByText("Verified", { exact: true }).waitFor();
    await page.getByText("Last backup:").waitFor();
    await page.getByRole("button", { name: /^Verify netledger-/ }).click();
    await page.getByText("Verified again, no problems").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("link", { name: "Find", exact: true }).click();
    await attention(page).getByText("Nothing.", { exact: true }).waitFor();

    await follow(page, "/settings/appliance");
    await page.getByText("Nothing needs attention.").waitFor();
    const { data } = await (await page.request.get(`${appliance.url}/api/v1/appliance`)).json();
    const { blocks, bsize } = statfsSync(appliance.sandbox.data);
    expect(data.disk.size_bytes).toBe(blocks * bsize);
    expect(data.store).toMatchObject({
      database_bytes: statSync(join(appliance.sandbox.data, "netledger.db")).size,
      log_bytes: statSync(join(appliance.sandbox.data, "netledger.db-wal")).size,
    });
    expect(data.work).toMatchObject({ writes_waiting: 0, scans: 0 });
    expect(data.url).toBe(appliance.url);
    await fact(page, "Disk of the data")
      .getByText(`of ${sizeText(data.disk.size_bytes)} free`)
      .waitFor();
    await fact(page, "Last backup").getByText("Fine").waitFor();
    await fact(page, "Last backup").getByText(sizeText(data.backups.last.size_bytes)).first().waitFor();
    await fact(page, "TLS certificate").getByText("none: plain HTTP").waitFor();
  });

  test.each(APPEARANCES)("is accessible in %s colors, %i pixels wide", async (colorScheme, width) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    for (const path of ["/settings/appliance", "/settings/log", "/settings/about"]) {
      await follow(page, path);
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      await expectAccessibleWithin(page, path);
    }
  });

  test("shows a failed sign-in in its log live, and does not scroll while it is read", async () => {
    await follow(page, "/settings/log");
    const lines = page.locator(".log-line").filter({ hasText: "code=auth_invalid_credentials" });
    await page.locator(".log-line").first().waitFor();
    const before = await lines.count();
    await failSignIn(appliance.url);
    await expectEventually(() => lines.count(), before + 1);

    await page.getByRole("button", { name: "Pause" }).click();
    await failSignIn(appliance.url);
    await page.getByText("Paused: 1 new line", { exact: true }).waitFor();
    await expectEventually(() => lines.count(), before + 1);
    await page.getByRole("button", { name: "Copy all" }).click();
    const copied = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(copied.trim().split("\n")).toEqual(await page.locator(".log-line").allTextContents());
    await page.getByRole("button", { name: "Follow" }).click();
    await expectEventually(() => lines.count(), before + 2);

    // Once scrolled up, the log keeps its position.
    await Promise.all(Array.from({ length: MANY_LINES }, () => fetch(`${appliance.url}/api/v1/hosts`)));
    const refused = page.locator(".log-line").filter({ hasText: "code=auth_not_authenticated" });
    await expectEventually(() => refused.count(), MANY_LINES);
    const top = () => page.evaluate<number>("document.querySelector('.log').scrollTop");
    const atEnd = await top();
    expect(atEnd).toBeGreaterThan(0);
    await page.locator(".log").hover();
    await page.mouse.wheel(0, -200);
    await page.getByText("Paused", { exact: true }).waitFor();
    await expectEventually(async () => (await top()) < atEnd, true);
    await failSignIn(appliance.url);
    await page.getByText("Paused: 1 new line", { exact: true }).waitFor();
    expect(await top()).toBeLessThan(atEnd);
    await expectEventually(() => lines.count(), before + 2);
    await page.getByRole("button", { name: "Follow" }).click();
    await expectEventually(() => lines.count(), before + 3);

    await page.getByLabel("Level").selectOption("error");
    await page.getByText("No lines.").waitFor();
    expect(page.url()).toContain("level=error");
    await page.getByLabel("Level").selectOption("info");
    await page.getByLabel("Filter").fill('event = "started"');
    await page.getByRole("button", { name: "Apply" }).click();
    await expectEventually(() => page.locator(".log-line").count(), 1);
  });

  test("shows a Member who has access, on accessible pages", async () => {
    const { visitor: member, page: memberPage } = await appliance.visitAs(MEMBER);
    for (const path of ["/settings/appliance", "/settings/log"]) {
      await follow(memberPage, path);
      await memberPage.getByText("For signed-in Owners only").waitFor();
      expect([path, await accessibilityFindings(memberPage)]).toEqual([path, []]);
    }
    expect(member.problems()).toEqual([]);
  });

  test("lists its components with their license texts, and offers the bill of materials", async () => {
    const { visitor: member, page: memberPage } = await appliance.visitAs(MEMBER, "/settings/about");
    for (const [name, words] of [
      ["preact", "Permission is hereby granted, free of charge"],
      ["elysia", "Permission is hereby granted, free of charge"],
      ["drizzle-orm", "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"],
    ] as const) {
      await memberPage.getByLabel("Filter: Licenses").fill(name);
      const entry = memberPage.locator("details").filter({ has: memberPage.getByText(name, { exact: true }) });
      await entry.locator("summary").click();
      await entry.getByText(words).waitFor();
    }
    const downloading = memberPage.waitForEvent("download");
    await memberPage.getByRole("link", { name: "Bill of materials (CycloneDX)" }).click();
    const download = await downloading;
    const file = appliance.sandbox.path("bill.json");
    await download.saveAs(file);
    const bill = readFileSync(file, "utf8");
    expect(bill).toBe(readFileSync(`${EXECUTABLE}.cdx.json`, "utf8"));
    expect(member.problems()).toEqual([]);

    interface Component {
      readonly name: string;
      readonly group?: string;
      readonly version: string;
      readonly components?: readonly Component[];
    }
    const { components: billComponents } = JSON.parse(bill) as { components: Component[] };
    const componentName = ({ group, name, version }: Component) =>
      `${group === undefined ? "" : `${group}/`}${name} ${version}`;
    const { data } = await (await memberPage.request.get(`${appliance.url}/api/v1/licences`)).json();
    const listedComponents = data.components as Array<{
      name: string;
      version: string;
      part_of: string[];
      texts: unknown[];
    }>;
    const all = billComponents.flatMap((component) => [component, ...(component.components ?? [])]).map(componentName);
    expect(listedComponents.slice(1).map(componentName).sort()).toEqual(all.sort());
    expect(
      listedComponents
        .filter(({ texts }) => texts.length === 0)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["boringssl", "libarchive"]);
    expect(listedComponents.find(({ name }) => name === "preact")?.part_of).toEqual(["console"]);
    expect(listedComponents.find(({ name }) => name === "papaparse")?.part_of).toEqual(["server", "console"]);
  });
});

/** Resources of a test, released in reverse order regardless of the outcome. */
class Resources {
  private readonly releases: Array<() => unknown> = [];

  /** Registers a resource and its release. */
  with<T>(resource: T, release: (resource: T) => unknown): T {
    this.releases.push(() => release(resource));
    return resource;
  }

  async releaseAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let release = this.releases.pop(); release !== undefined; release = this.releases.pop())
      await Promise.resolve()
        .then(release)
        .catch((cause: unknown) => failures.push(cause));
    if (failures.length > 0) throw new AggregateError(failures, "not every resource could be released");
  }
}

describe("the resources of a test", () => {
  test("are released in reverse order, even if a release fails", async () => {
    const resources = new Resources();
    const released: string[] = [];
    for (const name of ["folder", "mount", "server"])
      resources.with(name, (resource) => {
        released.push(resource);
        if (resource === "mount") throw new Error("busy");
      });
    await expect(resources.releaseAll()).rejects.toThrow("not every resource");
    expect(released).toEqual(["server", "mount", "folder"]);
    await resources.releaseAll();
    expect(released).toHaveLength(3);
  });
});

describe.skipIf(!hasChromium)("an appliance over TLS", () => {
  const resources = new Resources();
  afterEach(() => resources.releaseAll());

  test("shows when its certificate expires", async () => {
    ensureExecutable();
    const sandbox = resources.with(new Sandbox(tmpdir()), (opened) => opened.close());
    await sandbox.setUp();
    const running = await sandbox.serve(["--tls-self-signed"]);
    const arriving = await Visitor.create(running.url, { ignoreHTTPSErrors: true });
    const visitor = resources.with(arriving, (opened) => opened.close());
    const page = await visitor.signIn(OWNER, PASSWORD, "/settings/appliance");
    const row = fact(page, "TLS certificate");
    await row.getByText("created and renewed by the appliance").waitFor();
    const { data } = await (await page.request.get(`${running.url}/api/v1/appliance`)).json();
    expect(data.certificate.days_left).toBeGreaterThan(800);
    await expectEventually(() => row.textContent(), expect.stringContaining(`${data.certificate.days_left} days left`));
    await expectEventually(() => row.textContent(), expect.stringContaining(data.certificate.not_after.slice(0, 4)));
    expect(JSON.stringify(data)).not.toContain("PRIVATE KEY");
    expect(visitor.problems()).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("a disk that fills up during an edit", () => {
  const resources = new Resources();
  afterEach(() => resources.releaseAll());

  test("is explained in the form and on the start page, and the same edit is saved once there is space", async () => {
    ensureExecutable();
    const sandbox = resources.with(new Sandbox(tmpdir()), (opened) => opened.close());
    const mounted = await SmallDisk.mount(sandbox.path("small"), { bytes: SMALL_DISK_BYTES });
    if (!(mounted instanceof SmallDisk)) {
      console.log(`A disk that fills up during an edit: ${mounted.reason}`);
      return;
    }
    const disk = resources.with(mounted, (opened) => opened.unmount());
    const paths = {
      executable: EXECUTABLE,
      data: join(disk.path, "data"),
      hostData: join(disk.hostPath, "data"),
      commandPrefix: disk.commandPrefix,
    };
    const appliance = resources.with(new ApplianceUnderTest(paths, sandbox.path("notes")), (appliance) =>
      appliance.close(),
    );
    const { running, client, networkId } = await appliance.serveSetUp();
    const host = await client.post("/api/v1/hosts", { network_id: networkId, name: "core-1" });
    const visitor = resources.with(await Visitor.create(running.url), (opened) => opened.close());
    const page = await visitor.signIn(OWNER, PASSWORD, `/hosts/${host.data.id}`);
    await page.getByRole("heading", { level: 1, name: "core-1" }).waitFor();
    await page.keyboard.press("e");
    await page.getByLabel("Description", { exact: true }).fill("In the hall, second rack");
    await page.getByLabel("Name", { exact: true }).fill("core-of-the-hall");
    expect(visitor.problems()).toEqual([]);

    disk.fillExcept(0);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("The disk is full or failing").waitFor();
    expect(visitor.problems().filter((problem) => !problem.includes("507"))).toEqual([]);
    await expectEventually(
      () => page.getByLabel("Description", { exact: true }).inputValue(),
      "In the hall, second rack",
    );
    await expectEventually(() => page.getByLabel("Name", { exact: true }).inputValue(), "core-of-the-hall");

    const start = await visitor.open("/");
    await attention(start)
      .getByText(/^The disk with the data is full: /)
      .waitFor();
    await follow(start, "/settings/appliance");
    await fact(start, "Disk of the data").getByText("Error").waitFor();
    expect(await accessibilityFindings(start)).toEqual([]);

    disk.release();
    // The open page updates by itself.
    await fact(start, "Disk of the data").getByText("Error").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "core-of-the-hall" }).waitFor();
    expect((await client.get(`/api/v1/hosts/${host.data.id}`)).data).toMatchObject({
      name: "core-of-the-hall",
      description: "In the hall, second rack",
    });
    expect(visitor.problems()).toEqual([]);
  });
});
