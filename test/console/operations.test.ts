// Owner-only operations in Chromium, on the executable: consequences are shown before the action, and other roles
// neither see nor download backups. operations-in-process.test.ts covers verification and pruning by other roles.

import { afterAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { DEMO_EMAIL } from "../../src/demo/people.ts";
import {
  accessibilityFindings,
  closeBrowser,
  expectEventually,
  hasChromium,
  Visitor,
} from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { PASSWORD, Sandbox } from "../support/executable/executable.ts";

const ADMIN = "admin@acme.example";
const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const OTHERS = [
  [ADMIN, "Admin"],
  [MEMBER, "Member"],
  [VIEWER, "Viewer"],
] as const;

const TEN_DAYS_MS = 10 * 86_400_000;

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("operations", () => {
  const appliance = serveForAll(async ({ addUser, networkId }) => {
    for (const [email, role] of OTHERS) await addUser(email, role, role === "Admin" ? [] : [networkId]);
  });

  const focused = (page: Page) => page.evaluate("document.activeElement?.textContent");

  test("a backup is taken, verified, downloaded after repeating the password, and deleted permanently", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/settings/backups");
    await page.getByText("No backups.").waitFor();
    await page.getByRole("button", { name: "Take a backup" }).click();
    const row = page.getByRole("row").filter({ hasText: "netledger-" });
    await row.getByText("Verified").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const [backup] = (await appliance.client.get("backups")).data as unknown as [Record<string, unknown>];
    const name = String(backup?.name);
    await expectEventually(() => row.textContent(), expect.stringContaining(`transaction ${backup?.sequence}`));

    await row.getByRole("button", { name: `Download ${name}` }).click();
    const form = page.getByRole("form", { name: `Download ${name}` });
    await form.getByText("hashes of passwords and API keys").waitFor();
    expect(await focused(page)).toBe(`Download ${name}`);
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Download");
    await page.keyboard.press("Enter");
    await form.getByLabel("Your password").fill("not my password");
    await form.getByRole("button", { name: "Download" }).click();
    await form.getByRole("alert").waitFor();
    // A wrong password does not end the session.
    expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
    expect(visitor.problems().filter((problem) => !problem.includes("401"))).toEqual([]);
    await form.getByLabel("Your password").fill(PASSWORD);
    const downloading = page.waitForEvent("download");
    await form.getByRole("button", { name: "Download" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(name);
    const file = appliance.sandbox.path("downloaded.db");
    await download.saveAs(file);
    await page.getByText(`${name} was downloaded.`).waitFor();
    await expectEventually(
      () => page.locator(".command").textContent(),
      expect.stringContaining(`--backup ${name} --head ${backup?.sequence}:`),
    );
    const head = `${backup?.sequence}:${backup?.hash}`;
    expect(await appliance.sandbox.run(["verify", "--backup", file, "--head", head])).toMatchObject({ code: 0 });

    await row.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByText("This cannot be undone.").waitFor();
    await page.getByText("This is the newest complete backup.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    await expectEventually(() => row.count(), 1);
    await row.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByRole("button", { name: "Delete the backup" }).click();
    await page.getByText(`${name} was deleted.`).waitFor();
    await page.getByText("No backups.").waitFor();
    expect((await appliance.client.get("backups")).data).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("the ledger is verified with progress and findings", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/ledger");
    await page.getByText("No verification yet.").waitFor();
    // A ledger of this size is verified before its progress is queried.
    let isHeldBack = true;
    await page.route("**/api/v1/ledger/verifications", async (route) => {
      if (route.request().method() !== "GET" || !isHeldBack) return route.continue();
      const response = await route.fetch();
      const { data, ...rest } = await response.json();
      if (data.length === 0) return route.fulfill({ response: response });
      isHeldBack = false;
      const progress = { step: "versions", done: 572, total: 3_319 };
      const running = { ...data[0], status: "Running", ended_at: null, is_sound: null, verified: null, progress };
      return route.fulfill({ response: response, json: { ...rest, data: [running] } });
    });
    await page.getByRole("button", { name: "Verify now" }).click();
    await page.getByText("versions, 572 of 3,319").waitFor();
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByText("Ledger intact – no problems found").waitFor();
    expect(await focused(page)).toBe("Verify now");
    const head = (await appliance.client.get("ledger")).data as unknown as Record<string, unknown>;
    await page.getByText(`${head.sequence}:${head.hash}`, { exact: true }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test.each(OTHERS)("%s sees no backups, and the API refuses access to them", async (email) => {
    const { visitor, page } = await appliance.visitAs(email, "/settings/backups");
    await page.getByText("For signed-in Owners only").waitFor();
    expect(await page.getByRole("main").getByRole("navigation").getByRole("link").allTextContents()).not.toContain(
      "Backups",
    );
    expect(await page.getByRole("button", { name: "Take a backup" }).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    const name = "netledger-20261121T091500123Z.db";
    const { request } = page;
    const api = `${appliance.url}/api/v1/backups`;
    const responses = [
      await request.get(api),
      await request.post(api),
      await request.post(`${api}/${name}/download`, { data: { password: PASSWORD } }),
      await request.delete(`${api}/${name}`),
    ];
    expect(responses.map((response) => response.status())).toEqual([403, 403, 403, 403]);
    expect((await appliance.client.get("backups")).data as unknown).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("an Owner with a month of history", () => {
  test("previews a prune, and copies its command", async () => {
    const sandbox = new Sandbox();
    const running = await sandbox.serveDemo();
    const visitor = await Visitor.create(running.url, { permissions: ["clipboard-read", "clipboard-write"] });
    const page = await visitor.signIn(DEMO_EMAIL, DEMO_PASSWORD, "/settings/retention");
    const day = new Date(Date.now() - TEN_DAYS_MS).toISOString().slice(0, 10);
    await page.getByLabel("Prune history before").fill(day);
    await page.getByLabel("Keep").selectOption("monthly");
    await page.getByRole("button", { name: "Preview" }).click();
    const command = `netledger prune --data DIR --before ${day} --keep monthly`;
    await page.getByRole("button", { name: command }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(command);
    expect(page.url()).toContain(`before=${day}&keep=monthly`);
    const previewUrl = `${running.url}/api/v1/retention/preview?before=${day}T00:00:00Z&keep=monthly`;
    const { data } = await (await page.request.get(previewUrl)).json();
    expect(data.dropped).toBeGreaterThan(0);
    await page.getByText(`${data.dropped.toLocaleString("en")} versions, `).waitFor();
    await page.getByText("Dropped data cannot be restored.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const dryRun = await sandbox.command("prune", "--before", day, "--keep", "monthly", "--dry-run");
    expect(dryRun.out).toContain(`Would drop ${data.dropped} `);
    await page.getByLabel("Prune history before").fill("1990-01-01");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("Nothing would be dropped.").waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
    await sandbox.close();
  });
});
