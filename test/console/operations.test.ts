// What an Owner looks after, in Chromium, on the executable: what it comes to is read before it is done, and those who
// may not are neither offered it nor let do it.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { accessibilityFindings, closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const ADMIN = "admin@acme.example";
const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";
const OTHERS = [
  [ADMIN, "Admin"],
  [MEMBER, "Member"],
  [VIEWER, "Viewer"],
] as const;

describe.skipIf(!hasChromium)("what an Owner looks after", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let origin: string;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    origin = appliance.running.url;
    for (const [email, role] of OTHERS) {
      const networks = role === "Admin" ? [] : ["--networks", appliance.networkId];
      const password = ["--password-file", await workplace.passwordFile()];
      const made = await workplace.command(
        "user",
        "create",
        "--email",
        email,
        "--role",
        role,
        ...networks,
        ...password,
      );
      expect(made).toMatchObject({ code: 0 });
    }
  });

  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  async function arrived(email: string, path: string): Promise<{ visitor: Visitor; page: Page }> {
    const visitor = await Visitor.arrive(origin);
    visitors.push(visitor);
    return { visitor, page: await visitor.signIn(email, PASSWORD, path) };
  }

  const focused = (page: Page) => page.evaluate("document.activeElement?.textContent");

  test("takes a backup, sees it verified, downloads it with the password asked again, and deletes it for good", async () => {
    const { visitor, page } = await arrived(OWNER, "/settings/backups");
    await page.getByText("There is no backup yet.").waitFor();
    await page.getByRole("button", { name: "Take a backup" }).click();
    const row = page.getByRole("row").filter({ hasText: "netledger-" });
    await row.getByText("Verified").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    const [backup] = (await appliance.client.get("backups")).data as unknown as [Record<string, unknown>];
    const name = String(backup?.name);
    expect(await row.textContent()).toContain(`transaction ${backup?.sequence}`);

    await row.getByRole("button", { name: `Download ${name}` }).click();
    const form = page.getByRole("form", { name: `Download ${name}` });
    await form.getByText("the hashes of passwords and API keys").waitFor();
    expect(await focused(page)).toBe(`Download ${name}`);
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Download");
    await page.keyboard.press("Enter");
    await form.getByLabel("Your password").fill("not my password");
    await form.getByRole("button", { name: "Download" }).click();
    await form.getByRole("alert").waitFor();
    // Whose password was wrong is still signed in.
    expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
    expect(visitor.troubles().filter((each) => !each.includes("401"))).toEqual([]);
    await form.getByLabel("Your password").fill(PASSWORD);
    const downloading = page.waitForEvent("download");
    await form.getByRole("button", { name: "Download" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(name);
    const file = workplace.path("taken-along.db");
    await download.saveAs(file);
    await page.getByText(`${name} was downloaded.`).waitFor();
    expect(await page.locator(".command").textContent()).toContain(`--backup ${name} --head ${backup?.sequence}:`);
    const head = `${backup?.sequence}:${backup?.hash}`;
    expect(await workplace.run(["verify", "--backup", file, "--head", head])).toMatchObject({ code: 0 });

    await row.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByText("This cannot be undone.").waitFor();
    await page.getByText("It is the newest backup that is complete.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await row.count()).toBe(1);
    await row.getByRole("button", { name: `Delete ${name}` }).click();
    await page.getByRole("button", { name: "Delete the backup" }).click();
    await page.getByText(`${name} was deleted.`).waitFor();
    await page.getByText("There is no backup yet.").waitFor();
    expect((await appliance.client.get("backups")).data).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("offers nothing of it in the past", async () => {
    const { visitor, page } = await arrived(OWNER, "/settings/backups?at=2026-01-01T00:00:00.000Z");
    await page.getByText("To change something, go back to now.").waitFor();
    expect(await page.getByRole("button", { name: "Take a backup" }).count()).toBe(0);
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Take a backup" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test.each(OTHERS)("%s finds no way to backups, and none is answered to their cookie", async (email) => {
    const { visitor, page } = await arrived(email, "/settings/backups");
    await page.getByText("This concerns the whole appliance.").waitFor();
    expect(await page.getByRole("main").getByRole("navigation").getByRole("link").allTextContents()).not.toContain(
      "Backups",
    );
    expect(await page.getByRole("button", { name: "Take a backup" }).count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    const name = "netledger-20261121T091500123Z.db";
    const { request } = page;
    const api = `${origin}/api/v1/backups`;
    const answers = [
      await request.get(api),
      await request.post(api),
      await request.post(`${api}/${name}/download`, { data: { password: PASSWORD } }),
      await request.delete(`${api}/${name}`),
    ];
    expect(answers.map((answer) => answer.status())).toEqual([403, 403, 403, 403]);
    expect((await appliance.client.get("backups")).data as unknown).toEqual([]);
  });
});
