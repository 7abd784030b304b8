// Pages with custom fields under axe-core in Chromium, on the executable. custom-fields-in-process.test.ts covers text
// and behavior.

import { describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { addRackedHosts, HOSTILE, MANUAL } from "../support/appliance/custom-fields.ts";
import { accessibilityFindings, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

describe.skipIf(!hasChromium)("accessible custom fields", () => {
  let hostId = "";
  let before = "";
  const { appliance, visitor, page } = visitForAll(async ({ client, networkId }) => {
    ({ hostId, before } = await addRackedHosts(client, networkId));
  });

  const cell = (name: string) => page.getByRole("cell", { name });
  const PAGES: ReadonlyArray<readonly [title: string, path: () => string, shown: () => Locator]> = [
    [
      "a list filtered by one",
      () => '/hosts?columns=name,custom_fields.room,custom_fields.rack&filter=custom_fields.room = "South"',
      () => cell("South"),
    ],
    [
      "a list in the past",
      () => `/hosts?columns=name,custom_fields.room,custom_fields.rack&at=${before}`,
      () => cell(HOSTILE),
    ],
    [
      "a list ordered by one",
      () => "/hosts?columns=name,custom_fields.room&order=-custom_fields.room",
      () => page.getByRole("row").nth(1).getByRole("link", { name: "core-1" }),
    ],
    ["the page of a host", () => `/hosts/${hostId}`, () => page.getByRole("link", { name: MANUAL })],
    [
      "a list comparing two timestamps",
      () => `/hosts?columns=name,custom_fields.room&vs=${before}`,
      () => cell("South").locator("ins"),
    ],
  ];

  test.each(PAGES)("%s passes axe-core", async (_title, path, expected) => {
    await page.goto(appliance.url + path());
    await expected().waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems()).toEqual([]);
  });

  test("a form with an overlong default passes axe-core", async () => {
    await page.goto(`${appliance.url}/settings/custom-fields?new=custom_field`);
    const form = page.getByRole("form");
    await form.getByLabel("Key").fill("shelf");
    await form.getByLabel("hosts").check();
    await form.getByLabel("Type").selectOption("text");
    await form.getByLabel("Default").fill("x".repeat(2_001));
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("must have at most 2000 characters").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
  });
});
