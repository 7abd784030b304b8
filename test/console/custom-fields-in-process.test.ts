// Custom fields in the console, in the test process: as columns, in filters, on record pages, and in comparisons.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { addRackedHosts, HOSTILE, MANUAL } from "../support/appliance/custom-fields.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import type { Page } from "../support/page/page.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("custom fields in the console", () => {
  let hostId = "";
  let vlanId = "";
  let before = "";
  const { client, visitor, page } = visitForAll(async ({ client, networkId }) => {
    ({ hostId, vlanId, before } = await addRackedHosts(client, networkId));
  });
  beforeAll(() => page.close());
  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("are optional list columns, and become a filter by a click", async () => {
    const page = await visitor.open("/hosts");
    await page.getByRole("link", { name: "core-1" }).waitFor();
    expect(await page.getByRole("columnheader", { name: "Room" }).count()).toBe(0);
    await page.getByRole("button", { name: "Columns", exact: true }).click();
    await page.getByRole("checkbox", { name: "Room" }).check();
    await page.getByRole("checkbox", { name: "Rack <b>" }).check();
    await page.keyboard.press("Escape");
    await page.getByRole("cell", { name: "South" }).waitFor();
    expect(new URL(page.url()).searchParams.get("columns")).toContain("custom_fields.room");
    await page.getByRole("columnheader", { name: "Room" }).hover();
    await page.getByRole("button", { name: "Filter by Room" }).click();
    await page.locator("#column-filter-value").selectOption("South");
    await page.getByRole("button", { name: "Add to the filter" }).click();
    await page.getByText("1 host").first().waitFor();
    expect(new URL(page.url()).searchParams.get("filter")).toBe('custom_fields.room = "South"');
    const pastPage = await visitor.open(`/hosts?columns=name,custom_fields.room,custom_fields.rack&at=${before}`);
    await pastPage.getByRole("cell", { name: "North" }).waitFor();
    await pastPage.getByRole("cell", { name: HOSTILE }).waitFor();
  });

  test("order a list, now and in the past, with missing values last", async () => {
    const page = await visitor.open("/hosts?columns=name,custom_fields.height");
    const first = page.getByRole("row").nth(1);
    await page.getByRole("columnheader", { name: "Height" }).getByRole("link").click();
    await expectEventually(async () => new URL(page.url()).searchParams.get("order") ?? "", "custom_fields.height");
    await first.getByRole("link", { name: "core-1" }).waitFor();
    await page.getByRole("columnheader", { name: "Height" }).getByRole("link").click();
    await expectEventually(async () => new URL(page.url()).searchParams.get("order") ?? "", "-custom_fields.height");
    await first.getByRole("link", { name: "core-1" }).waitFor();
    await page.goto(`${new URL(page.url()).origin}/hosts?columns=name,custom_fields.room&order=-custom_fields.room`);
    await first.getByRole("link", { name: "core-1" }).waitFor();
    await page.getByRole("columnheader", { name: "Room" }).waitFor();
  });

  test("of a host and a VLAN appear by label, and only a URL is a link", async () => {
    const page = await visitor.open(`/hosts/${hostId}`);
    const fact = (name: string) => page.locator("dl.facts > div").filter({ hasText: name });
    const link = page.getByRole("link", { name: MANUAL });
    await link.waitFor();
    expect([await link.getAttribute("href"), await link.getAttribute("rel")]).toEqual([MANUAL, "noopener noreferrer"]);
    await fact("Notes").getByText("https://not.a.link.example").waitFor();
    expect(await page.getByRole("link", { name: "https://not.a.link.example" }).count()).toBe(0);
    await fact("Room").getByText("South").waitFor();
    expect(await fact("Rack").count()).toBe(0);
    await page.goto(`${new URL(page.url()).origin}/vlans/${vlanId}`);
    await fact("Rack <b>").getByText("R7").waitFor();
  });

  test("are compared individually at two timestamps, on the page and in the list", async () => {
    const page = await visitor.open(`/hosts/${hostId}?vs=${before}`);
    const room = page.locator("dl.facts > div").filter({ hasText: "Room" });
    await expectEventually(
      async () => [await room.locator("del").textContent(), await room.textContent()].join(),
      "North,RoomNorth → South",
    );
    await page.locator("dl.facts > div").filter({ hasText: "Rack <b>" }).locator("del").getByText(HOSTILE).waitFor();
    await page.goto(`${new URL(page.url()).origin}/hosts?columns=name,custom_fields.room&vs=${before}`);
    const cell = page.getByRole("cell").filter({ has: page.locator("del") });
    await cell.locator("del").getByText("North").waitFor();
    await cell.locator("ins").getByText("South").waitFor();
    await page.getByTitle("Rack <b>").waitFor();
  });

  test("that were renamed appear in the past under their former label", async () => {
    const { data } = await client.get("custom-fields");
    const [room] = data.filter(({ key }: JsonRecord) => key === "room");
    const { id, ...rest } = room;
    expect(await client.put(`custom-fields/${id}`, { ...rest, label: "Hall" })).toMatchObject({ status: 200 });
    const currentPage = await visitor.open(`/hosts/${hostId}`);
    const facts = (page: Page, name: string) => page.locator("dl.facts > div").filter({ hasText: name });
    await facts(currentPage, "Hall").getByText("South").waitFor();
    await expectEventually(() => facts(currentPage, "Room").count(), 0);
    await currentPage.goto(`${new URL(currentPage.url()).origin}/hosts/${hostId}?at=${before}`);
    await facts(currentPage, "Room").getByText("North").waitFor();
    await expectEventually(() => facts(currentPage, "Hall").count(), 0);
    await currentPage.goto(`${new URL(currentPage.url()).origin}/hosts?columns=name,custom_fields.room&at=${before}`);
    await currentPage.getByRole("columnheader", { name: "Room" }).waitFor();
  });

  test("report an overlong default at the field, with the limit", async () => {
    const page = await visitor.open("/settings/custom-fields?new=custom_field");
    const form = page.getByRole("form");
    await form.getByLabel("Key").fill("shelf");
    await form.getByLabel("hosts").check();
    await form.getByLabel("Type").selectOption("text");
    const value = form.getByLabel("Default");
    await value.fill("x".repeat(2_001));
    await form.getByRole("button", { name: "Create" }).click();
    await value.and(page.locator("[aria-invalid=true]")).waitFor();
    await form.getByText("must have at most 2000 characters").waitFor();
    visitor.problems();
    await value.fill("A");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByRole("cell", { name: "shelf" }).first().waitFor();
  });
});
