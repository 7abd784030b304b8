// Records of kinds without a page of their own, in Chromium, on the executable: what each says now and said then, its
// history, and the way back, for who may.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const VIEWER = "viewer@acme.example";

describe.skipIf(!hasChromium)("a record without a page of its own", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    await workplace.command(
      ...["user", "create", "--email", VIEWER, "--role", "Viewer", "--networks", appliance.networkId],
      ...["--password-file", await workplace.passwordFile()],
    );
    visitor = await Visitor.arrive(appliance.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const open = (address: string) => page.goto(appliance.running.url + address);
  const fact = (name: string) => page.locator("dl.facts > div").filter({ has: page.getByText(name, { exact: true }) });

  test("tells what it says and said, and is brought back as it was then, by what the list says of it", async () => {
    const { client } = appliance;
    const tag = await made(client.post("tags", { name: "core", color: "Red", description: "Do not touch" }));
    await made(client.put(`tags/${tag.id}`, { name: "core", color: "Blue", description: "" }));
    await open("/settings/tags");
    await page.getByRole("checkbox", { name: "core" }).check();
    await page.getByRole("link", { name: "History", exact: true }).click();
    await page.waitForURL(`**/records/tag/${tag.id}`);
    await page.getByRole("heading", { name: "core", level: 1 }).waitFor();
    await fact("Color").getByText("Blue").waitFor();
    await page.locator("ol.transactions > li").nth(1).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The past, where nothing is edited but what was can be brought back.
    await open(`/records/tag/${tag.id}?at=${tag.updated_at}`);
    await fact("Color").getByText("Red").waitFor();
    await fact("Description").getByText("Do not touch").waitFor();
    expect(await page.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Restore this" }).click();
    await page.getByText("Changes tag core").waitFor();
    await page.getByLabel("Why").fill("It was right");
    await page
      .getByRole("region", { name: "Restore it as it was" })
      .getByRole("button", { name: "Restore this" })
      .click();
    await page.getByText("Done.").waitFor();
    expect(await made(client.get(`tags/${tag.id}`))).toMatchObject({ color: "Red", description: "Do not touch" });
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is edited and removed on its page, and brought back from where it is said to be gone", async () => {
    const { client, networkId } = appliance;
    await made(client.post("subnets", { network_id: networkId, cidr: "10.7.0.0/24", subnet_type: "Lan" }));
    const host = await made(
      client.post("hosts", { network_id: networkId, name: "printer", ip_addresses: [{ ip_address: "10.7.0.9" }] }),
    );
    const [address] = host.ip_addresses as readonly Wire[];
    await open(`/records/ip_address/${address?.id}`);
    await page.getByRole("heading", { name: "10.7.0.9", level: 1 }).waitFor();
    await fact("Host").getByRole("link", { name: "printer" }).waitFor();
    await page.keyboard.press("e");
    await page.locator("#edit-name").fill("tray 2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await fact("Name").getByText("tray 2").waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page
      .getByRole("form", { name: "Delete address 10.7.0.9 tray 2" })
      .getByRole("button", { name: "Delete" })
      .click();
    await page.getByText("This address is gone. It was removed").waitFor();
    expect((await client.get(`ip-addresses/${address?.id}`)).status).toBe(404);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Bring it back" }).click();
    const plan = page.getByRole("region", { name: "Restore it as it was" });
    await plan.getByText("Brings back address 10.7.0.9").waitFor();
    await plan.getByRole("button", { name: "Bring it back" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await made(client.get(`ip-addresses/${address?.id}`))).toMatchObject({ name: "tray 2" });
    expect(visitor.troubles()).toEqual([]);
  });

  test("is a link wherever a difference names it, and what was deleted elsewhere is found there", async () => {
    const { client, networkId } = appliance;
    const host = await made(
      client.post("hosts", { network_id: networkId, name: "web", ports: [{ number: 443, protocol: "Tcp" }] }),
    );
    const [port] = host.ports as readonly Wire[];
    await made(client.delete(`ports/${port?.id}`, { "x-change-reason": "switched off" }));
    const { sequence } = await made(client.get("ledger"));
    await open(`/changes/${sequence}`);
    await page.locator(".difference").getByRole("link", { name: "443/Tcp" }).click();
    // As it was last: the transaction before is what the link is of.
    await page.getByRole("heading", { name: "443/Tcp", level: 1 }).waitFor();
    expect(page.url()).toContain(`/records/port/${port?.id}?at=`);
    await page.keyboard.press("t");
    await page.getByText("switched off").first().waitFor();
    await page.getByRole("button", { name: "Bring it back" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("is not brought back by who may not, and says so of what is nothing", async () => {
    const { client } = appliance;
    const tag = await made(client.post("tags", { name: "spare", color: "Gray" }));
    await made(client.delete(`tags/${tag.id}`));
    const other = await Visitor.arrive(appliance.running.url);
    const theirs = await other.signIn(VIEWER, PASSWORD, `/records/tag/${tag.id}`);
    await theirs.getByText("This tag is gone.").waitFor();
    await theirs.locator("ol.transactions > li").first().waitFor();
    await settles(() => theirs.getByRole("button", { name: "Bring it back" }).count(), 0);
    expect(other.troubles()).toEqual([]);
    await theirs.goto(`${appliance.running.url}/records/spaceship/${tag.id}`);
    await theirs.getByText("There is no such record").waitFor();
    await theirs.goto(`${appliance.running.url}/records/tag/00000000-0000-4000-8000-000000000000`);
    await theirs.getByText("There is no such tag").waitFor();
    expect(await accessibilityFindings(theirs)).toEqual([]);
    await other.leave();
  });
});
