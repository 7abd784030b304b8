// Complete tasks in Chromium, on the executable: over plain HTTP on a LAN, through a restart, on a backup, during a
// scan, and from a filter built by clicks to its exported file.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { DEMO_EMAIL } from "../../src/demo/people.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { expectEventually, hasChromium, LAN_NAME, Visitor } from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { ensureExecutable, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";

describe.skipIf(!hasChromium)("with a month of campus history", () => {
  let sandbox: Sandbox;
  let demo: Running;

  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    demo = await sandbox.serveDemo(["--host-name", LAN_NAME]);
  });

  afterAll(async () => {
    await sandbox.close();
  });

  test("over plain HTTP on a LAN a switch is found, listed, opened, and seen on the map and in changes", async () => {
    const visitor = await Visitor.create(demo.url.replace("127.0.0.1", LAN_NAME));
    const page = await visitor.signIn(DEMO_EMAIL, DEMO_PASSWORD);
    await expectEventually(() => page.evaluate<boolean>("isSecureContext"), false);
    await page.getByLabel("Find anything").fill("acc-admin-1");
    await page.keyboard.press("Enter");
    await page.locator(".hits").getByRole("link", { name: "acc-admin-1" }).first().click();
    await page.getByRole("heading", { name: "acc-admin-1" }).waitFor();
    await page
      .getByRole("link", { name: /^Interfaces \d/ })
      .first()
      .click();
    await page.getByRole("link", { name: "Gi1/0/31" }).first().waitFor();
    const pages = page.getByRole("navigation", { name: "Pages" });
    await pages.getByRole("link", { name: "Hosts", exact: true }).click();
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    await page.getByRole("row").nth(3).waitFor();
    await pages.getByRole("link", { name: "Map", exact: true }).click();
    await page.locator("main").getByRole("link", { name: "Main campus" }).click();
    await page.locator("canvas").waitFor();
    await pages.getByRole("link", { name: "Changes", exact: true }).click();
    await page.getByText("lt-mchen.larkfield.example").first().waitFor();
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });

  test("interfaces down for 30 days are filtered by clicks, and exported as CSV", async () => {
    const visitor = await Visitor.create(demo.url);
    const page = await visitor.signIn(DEMO_EMAIL, DEMO_PASSWORD, "/interfaces");
    await page.getByRole("columnheader", { name: "Operational status" }).hover();
    await page.getByRole("button", { name: "Filter by Operational status" }).click();
    await page.getByLabel("Comparison").selectOption("=");
    await page.locator("#column-filter-value").selectOption("Down");
    await page.getByLabel("How long").selectOption("-30d");
    await page.getByRole("button", { name: "Add to the filter" }).click();
    await page.waitForURL(/filter=always/);
    expect(new URL(page.url()).searchParams.get("filter")).toBe('always(oper_status = "Down", "-30d")');
    const count = page.locator(".list-count");
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const [head = "", ...lines] = (await (await page.request.get(demo.url + csv)).text()).trim().split("\r\n");
    await expectEventually(async () => Number((await count.textContent())?.replaceAll(/\D/g, "")), lines.length);
    const columnIndex = head.split(",").indexOf("oper_status");
    const states = new Set(lines.map((line) => fieldsOf(line)[columnIndex]));
    expect([lines.length > 100, [...states]]).toEqual([true, ["Down"]]);
    expect(visitor.problems()).toEqual([]);
    await visitor.close();
  });
});

/** Fields of a CSV row without line breaks. */
function fieldsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

describe.skipIf(!hasChromium)("on a separate appliance", () => {
  let host: JsonRecord;
  let entry: JsonRecord;
  let subnet: JsonRecord;
  let vlan: JsonRecord;
  const appliance = serveForAll(async ({ client, networkId: network_id }) => {
    subnet = await expectOk(client.post("subnets", { network_id, cidr: "127.0.0.0/24", name: "here" }));
    vlan = await expectOk(client.post("vlans", { network_id, number: 20, name: "Staff" }));
    host = await expectOk(
      client.post("hosts", {
        network_id,
        name: "access-1",
        hidden: false,
        tags: [],
        ip_addresses: [{ ip_address: "127.0.0.200" }],
        interfaces: [{ if_index: 1, if_descr: "Gi1/0/1", oper_status: "Up", native_vlan_id: vlan.id }],
      }),
    );
    [entry = {}] = host.interfaces as JsonRecord[];
  });

  test("changes are followed during a scan, and nothing moves until requested", async () => {
    const { visitor, page } = await appliance.visitAs(OWNER, "/changes");
    await page.getByText("new host access-1").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    const scans = await visitor.open("/discovery");
    const { client, networkId } = appliance;
    const body = { network_id: networkId, kind: "sweep", targets: ["127.0.0.7", "127.0.0.8"] };
    const scan = await expectOk(client.post("discovery/scans", body, { "x-change-reason": "CHG-9: a look" }));
    await page.getByText(/^\d+ changes? since/).waitFor();
    expect(await page.getByText("127.0.0.7").count()).toBe(0);
    await page.keyboard.press(".");
    const line = page.locator(".transaction").filter({ hasText: "CHG-9" }).first();
    await line
      .getByText(/new hosts?:? .*127\.0\.0\.[78]/)
      .first()
      .waitFor();
    await scans.locator(`a[href*="${scan.id}"]`).first().waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("a page reports a restart of the appliance, and continues by itself, still signed in", async () => {
    const { running, sandbox } = appliance;
    const listen = new URL(running.url).host;
    const { visitor, page } = await appliance.visitAs(OWNER, `/hosts/${host.id}`);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    const list = await visitor.open("/hosts");
    await list.getByRole("link", { name: "access-1" }).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
    expect(visitor.problems()).toEqual([]);
    await running.stop();
    // Loaded data stays; new requests report that the appliance does not respond.
    await page.getByRole("link", { name: /^History/ }).click();
    await page.getByText("The appliance did not respond").waitFor();
    await page.getByText("Can't reach the appliance.").waitFor();
    await list.getByRole("link", { name: "access-1" }).waitFor();
    await sandbox.serve([], { listen });
    await page.getByText("new host access-1").waitFor();
    await page.getByText("The appliance did not respond").waitFor({ state: "detached" });
    await list.getByText("live", { exact: true }).waitFor();
    expect(await list.getByLabel("Password").count()).toBe(0);
    // The browser's message about an unreachable host.
    expect(visitor.problems().filter((problem) => !/net::ERR_|503/.test(problem))).toEqual([]);
  });

  test("a backup is served read-only: every page has a notice and no write controls", async () => {
    const { sandbox } = appliance;
    const file = sandbox.path("copy.db");
    expect((await sandbox.command("backup", file)).code).toBe(0);
    const copy = await sandbox.serve(["--read-only", file]);
    const visitor = await Visitor.create(copy.url);
    const page = await visitor.signIn(OWNER, PASSWORD);
    for (const [address, heading] of [
      ["/", "Find"],
      ["/?q=access-1", "access-1"],
      ["/hosts", "Hosts"],
      [`/hosts/${host.id}`, "access-1"],
      [`/hosts/${host.id}?tab=history`, "access-1"],
      ["/interfaces", "Interfaces"],
      [`/interfaces/${entry.id}`, "Gi1/0/1"],
      ["/addresses", "Addresses"],
      ["/services", "Services"],
      ["/subnets", "Subnets"],
      [`/subnets/${subnet.id}`, "127.0.0.0/24"],
      ["/vlans", "VLANs"],
      [`/vlans/${vlan.id}`, "VLAN 20"],
      ["/conflicts", "Conflicts"],
      ["/stations", "Stations"],
      ["/map", "Map"],
      ["/changes", "Changes"],
      ["/changes/1", "Transaction 1"],
      ["/compare?vs=2026-01-01T00:00:00Z", "Compare"],
      ["/discovery", "Discovery"],
      ["/discovery/schedules", "Schedules"],
      ["/discovery/ignored", "Ignored"],
      ["/ledger", "Ledger"],
    ] as const) {
      await page.goto(copy.url + address);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.getByText("A read-only backup").waitFor();
      await waitUntilLoaded(page);
      expect([address, await writeControls(page).count()]).toEqual([address, 0]);
      expect([address, visitor.problems()]).toEqual([address, []]);
    }
    await page.goto(`${copy.url}/hosts`);
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByRole("heading", { name: "My views" }).waitFor();
    expect(await writeControls(page).count()).toBe(0);
    await visitor.close();
  });
});

/** Waits until all requests have a response. */
async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator(".waiting").first().waitFor({ state: "detached" });
}

/** Writing controls, on any page. */
function writeControls(page: Page) {
  const name = /^(Pin|Pinned|Save this view|Remove the view .*|Move device|Reset layout)$/;
  return page.getByRole("button", { name });
}
