// Schedules in Chromium, on the executable: created with a preview of the next five times, changed, deleted and
// restored; by role.

import { describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const MEMBER = "member@acme.example";

describe.skipIf(!hasChromium)("scheduling scans", () => {
  const { appliance, client, visitor, page } = visitForAll(
    ({ addUser, networkId }) => addUser(MEMBER, "Member", [networkId]),
    { context: { timezoneId: "UTC" } },
  );

  const schedules = (): Promise<JsonRecord[]> =>
    expectOk(client.get("discovery/schedules")) as unknown as Promise<JsonRecord[]>;
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const dueTimes = () => page.locator(".due-times time");

  test("creates a schedule with a preview of its next runs, changes, deletes and restores it", async () => {
    await page.goto(`${appliance.url}/discovery/schedules`);
    await button("New schedule").click();
    const form = page.getByRole("form");
    await form.getByLabel("Network", { exact: true }).selectOption({ index: 1 });
    await form.getByLabel("Name", { exact: true }).fill("Every night");
    await form.getByLabel("Time zone").fill("Europe/Berlin");
    await form.getByLabel("Cron").fill("30 2 * *");
    await form
      .getByText(
        "Minute, hour, day of month, month, day of week; or a word such as @hourly, @daily, @weekly, @monthly.",
      )
      .waitFor();
    await form.getByLabel("Cron").fill("30 2 * * *");
    await dueTimes().nth(4).waitFor();
    await expectEventually(() => dueTimes().count(), 5);
    // Times are in the reader's time zone and in the schedule's.
    await expectEventually(
      () => page.locator(".due-times li").allTextContents(),
      Array.from({ length: 5 }, () => expect.stringMatching(/ 0[01]:30 .* 02:30 Europe\/Berlin$/)),
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
    await form.getByLabel("Cron").fill("61 2 * * *");
    await form.getByText(/must be a cron expression with a next run/).waitFor();
    expect(visitor.problems().every((problem) => problem.includes("400"))).toBe(true);
    await form.getByLabel("Cron").fill("30 2 * * *");
    await dueTimes().nth(4).waitFor();
    await button("Create").click();
    await page.getByText("Created.").waitFor();
    const [saved] = await schedules();
    expect(saved).toMatchObject({ name: "Every night", cron: "30 2 * * *", timezone: "Europe/Berlin", kind: "full" });
    await page.getByRole("link", { name: "Show it" }).click();
    await page.getByRole("heading", { name: "Every night" }).waitFor();
    await expectEventually(() => dueTimes().first().getAttribute("datetime"), saved?.next_run_at);
    await page.keyboard.press("e");
    await page.getByLabel("Scope").fill("10.2.3.0/24");
    await page.getByLabel("Kind", { exact: true }).selectOption("sweep");
    await button("Save").click();
    await page.getByText("Saved.").waitFor();
    expect((await schedules())[0]).toMatchObject({ targets: ["10.2.3.0/24"], kind: "sweep" });
    await page.locator(".facts").getByText("10.2.3.0/24").waitFor();
    await button("Close").click();
    await button("Delete").click();
    await page.getByRole("form").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Deleted.").waitFor();
    expect(await schedules()).toEqual([]);
    await button("Undo").click();
    await button("Undo").click();
    await page.getByRole("heading", { name: "Every night" }).waitFor();
    expect(await schedules()).toMatchObject([{ name: "Every night", kind: "sweep" }]);
    expect(visitor.problems()).toEqual([]);
  });

  test("shows a Member the next run, without Admin actions", async () => {
    const [schedule] = await schedules();
    const { visitor: own, page: memberPage } = await appliance.visitAs(MEMBER, `/discovery/schedules/${schedule?.id}`);
    await memberPage.locator(".due-times time").nth(4).waitFor();
    expect(await memberPage.getByRole("button", { name: /^(Edit|Delete)$/ }).count()).toBe(0);
    await memberPage.goto(`${appliance.url}/discovery/schedules/${schedule?.id}?at=${schedule?.created_at}`);
    await memberPage.getByRole("heading", { name: "Every night" }).waitFor();
    expect(await memberPage.locator(".due-times").count()).toBe(0);
    await memberPage.goto(`${appliance.url}/discovery/schedules`);
    await memberPage.getByRole("link", { name: "Every night" }).waitFor();
    expect(await memberPage.getByRole("button", { name: "New schedule" }).count()).toBe(0);
    expect(own.problems()).toEqual([]);
  });
});
