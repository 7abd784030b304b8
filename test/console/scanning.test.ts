// Scan requests in Chromium, on the executable: for a page's record or for selected rows, as a dry run and then for
// real, canceled, and for a single address; by role.

import { describe, expect, test } from "bun:test";
import { addressesOfTargets, isAnyLarge, targetsIn } from "../../src/console/scanning/targets.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectEventually, hasChromium } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const MEMBER = "member@acme.example";
const VIEWER = "viewer@acme.example";

describe("typed targets", () => {
  test("are separated by spaces, commas, semicolons and lines, each once", () => {
    expect(targetsIn(" 10.2.3.4,10.2.3.5\n10.2.4.0/24; 10.2.3.4 ")).toEqual(["10.2.3.4", "10.2.3.5", "10.2.4.0/24"]);
    expect(targetsIn(" \n ")).toEqual([]);
  });

  test.each([
    [["10.2.3.4"], 1, false],
    [["10.2.3.0/24", "2001:db8::/120"], 512, false],
    [["10.0.0.0/8"], 16_777_216, true],
    [["2001:db8::/32"], 2 ** 96, false],
    [["10.2.3.0/33"], null, false],
    [["printer"], null, false],
  ] as const)("show their number of addresses: %p", (targets, count, isLarge) => {
    expect([addressesOfTargets(targets), isAnyLarge(targets)]).toEqual([count, isLarge]);
  });
});

describe.skipIf(!hasChromium)("scanning", () => {
  let subnet: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(async ({ addUser, client, networkId }) => {
    await addUser(MEMBER, "Member", [networkId]);
    await addUser(VIEWER, "Viewer", [networkId]);
    const loopback = { network_id: networkId, cidr: "127.0.8.8/30", name: "Loops", subnet_type: "Lan", tags: [] };
    subnet = await expectOk(client.post("subnets", loopback));
  });

  const open = (path: string, target = page) => target.goto(appliance.url + path);
  const hosts = async (search: string): Promise<JsonRecord[]> =>
    expectOk(client.get(`hosts?search=${search}`)) as unknown as Promise<JsonRecord[]>;
  const scans = async (): Promise<JsonRecord[]> =>
    expectOk(client.get("discovery/scans?order_direction=desc")) as unknown as Promise<JsonRecord[]>;

  test("previews a scan of a subnet from its page, and runs it", async () => {
    await open(`/subnets/${subnet.id}`);
    await page.getByRole("link", { name: "Scan now" }).click();
    await expectEventually(() => page.getByLabel("Targets").inputValue(), "127.0.8.8/30");
    await page.getByText("Up to 4 addresses.").waitFor();
    await page.getByText("The network's credentials may be sent to all of these targets.").waitFor();
    await page.getByLabel("Kind", { exact: true }).selectOption("sweep");
    await page.getByText("No credentials are sent.").waitFor();
    await page.getByLabel("Dry run").check();
    await page.getByLabel("Why").fill("CHG-12: die neuen Geräte");
    // All typed text survives a reload: the URL stores it, and browsers limit how often that may be replaced.
    await page.waitForURL((url) => url.searchParams.get("why") === "CHG-12: die neuen Geräte");
    await page.reload();
    await expectEventually(() => page.getByLabel("Why").inputValue(), "CHG-12: die neuen Geräte");
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Start the dry run" }).click();
    const createdItem = page.getByRole("listitem").filter({ hasText: "Created" }).filter({ hasText: "127.0.8.9" });
    await createdItem.first().waitFor();
    expect(await hosts("127.0.8.9")).toEqual([]);
    expect(await accessibilityFindings(page)).toEqual([]);
    const dryRunUrl = page.url();
    await page.getByRole("button", { name: "Run for real" }).click();
    await page.waitForURL((url) => url.href !== dryRunUrl && /\/discovery\/[\da-f-]{36}/.test(url.pathname));
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await page.getByText("hosts: 2 added").waitFor();
    await page.getByText("CHG-12: die neuen Geräte").waitFor();
    expect(await hosts("127.0.8.9")).toHaveLength(1);
    expect(visitor.problems()).toEqual([]);
  });

  test("checks one address of a host, and links to the scan", async () => {
    const [host] = await hosts("127.0.8.9");
    await open(`/hosts/${host?.id}?tab=addresses`);
    await page.getByRole("button", { name: "Check now: 127.0.8.9" }).click();
    const resultLink = page.getByRole("link", { name: "responds" });
    await resultLink.waitFor();
    await resultLink.click();
    await page.getByText("127.0.8.9").first().waitFor();
    expect((await scans())[0]).toMatchObject({ kind: "sweep", targets: ["127.0.8.9"], commit: true });
    await open(`/hosts/${host?.id}?tab=addresses&at=-1s`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await page.getByRole("button", { name: /^Check / }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Scan now" }).count()).toBe(0);
    visitor.problems();
  });

  test("takes its targets from a list selection or from a device's page", async () => {
    await open("/addresses?filter=ip_address%20:%20%22127.0.8.0/24%22");
    await page.getByRole("row").filter({ hasText: "127.0.8.10" }).getByRole("checkbox").check();
    await page.getByRole("row").filter({ hasText: "127.0.8.9" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Scan now" }).click();
    await page.getByRole("heading", { name: "Scan now" }).waitFor();
    const targets = async () => targetsIn(await page.getByLabel("Targets").inputValue()).sort();
    await expectEventually(targets, ["127.0.8.10", "127.0.8.9"]);
    const [host] = await hosts("127.0.8.10");
    await open(`/hosts/${host?.id}`);
    await page.getByRole("button", { name: "Scan now" }).click();
    await page.getByRole("heading", { name: "Scan now" }).waitFor();
    await expectEventually(() => page.getByLabel("Targets").inputValue(), "127.0.8.10");
    await page.getByLabel("Add a subnet…").selectOption({ label: "127.0.8.8/30 Loops" });
    await expectEventually(() => page.getByLabel("Targets").inputValue(), "127.0.8.10 127.0.8.8/30");
    expect(visitor.problems()).toEqual([]);
  });

  test("shows an invalid target at the field, without losing input", async () => {
    await open("/discovery");
    await page.getByRole("link", { name: "Scan now" }).click();
    await page.getByLabel("Targets").fill("127.0.8.9\nprinter");
    await page.getByLabel("Why").fill("a look");
    await page.getByRole("button", { name: "Start the scan" }).click();
    await page.getByRole("alert").filter({ hasText: "printer must be" }).waitFor();
    await expectEventually(() => page.getByLabel("Why").inputValue(), "a look");
    await page.getByLabel("Targets").fill("10.0.0.0/8");
    await page.getByLabel("Larger than /16: scan it completely").waitFor();
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("heading", { name: "Scan now" }).waitFor({ state: "detached" });
    expect(visitor.problems().every((problem) => problem.includes("400"))).toBe(true);
  });

  test("cancels a running scan, with a notice that its writes are kept", async () => {
    await open("/discovery?ask=yes&targets=127.0.0.0/20&kind=sweep&dry=yes");
    await page.getByRole("button", { name: "Start the dry run" }).click();
    await page.getByText("Records already written stay.").waitFor();
    await page.getByRole("button", { name: "Cancel this scan" }).click();
    await page.getByText("Cancelled").waitFor();
    // A cancelled dry run is incomplete: it can be repeated, but not run for real.
    expect(await page.getByRole("button", { name: "Run for real" }).count()).toBe(0);
    await page.getByRole("link", { name: "Scan again…" }).click();
    await page.getByRole("heading", { name: "Scan now" }).waitFor();
    await expectEventually(() => page.getByLabel("Targets").inputValue(), "127.0.0.0/20");
    expect(visitor.problems()).toEqual([]);
  });

  test("starts once even if the response is lost", async () => {
    const before = (await scans()).length;
    await open("/discovery?ask=yes&targets=127.0.8.9&kind=sweep&why=sent%20twice");
    await page.route(
      "**/api/v1/discovery/scans",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await page.getByRole("button", { name: "Start the scan" }).click();
    await page.getByRole("form").getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Start the scan" }).click();
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await expectEventually(async () => (await scans()).length, before + 1);
    visitor.problems();
  });

  test("is offered to a Member inside the subnets only, and names the role required elsewhere", async () => {
    const emptySubnet = { cidr: "192.0.2.0/30", name: "Nobody", subnet_type: "Lan", tags: [] };
    await expectOk(client.post("subnets", { network_id: appliance.networkId, ...emptySubnet }));
    const requestPath = "/discovery?ask=yes&targets=198.51.100.1&kind=full";
    const { visitor: own, page: userPage } = await appliance.visitAs(MEMBER, requestPath);
    await userPage
      .getByText("The network's credentials are sent only to its subnets that accept credentials.")
      .waitFor();
    await userPage.getByRole("button", { name: "Start the scan" }).click();
    await userPage.getByRole("alert").filter({ hasText: "requires the role Admin; yours is Member" }).waitFor();
    expect(own.problems().every((problem) => problem.includes("403"))).toBe(true);
    await userPage.getByLabel("Targets").fill("192.0.2.1");
    await userPage.getByLabel("Kind", { exact: true }).selectOption("sweep");
    await userPage.getByRole("button", { name: "Start the scan" }).click();
    await userPage.getByRole("heading", { name: "Request" }).waitFor();
    expect((await scans())[0]).toMatchObject({ targets: ["192.0.2.1"], requested_by: { name: MEMBER } });
    expect(own.problems()).toEqual([]);
  });

  test("is not offered to a Viewer, and the API refuses the request", async () => {
    const [scan] = await scans();
    const [host] = await hosts("127.0.8.9");
    const { visitor: own, page: userPage } = await appliance.visitAs(VIEWER, "/discovery?ask=yes");
    for (const path of ["/discovery?ask=yes", `/discovery/${scan?.id}`, `/hosts/${host?.id}?tab=addresses`]) {
      await open(path, userPage);
      await userPage.getByRole("heading", { level: 1 }).waitFor();
      await userPage.locator("main table, main .facts").first().waitFor();
      expect([path, await userPage.getByRole("button", { name: /scan|check/i }).count()]).toEqual([path, 0]);
      expect([path, await userPage.getByRole("link", { name: /^Scan (now|again)/ }).count()]).toEqual([path, 0]);
    }
    expect(own.problems()).toEqual([]);
    const status = await userPage.evaluate<number>(
      `fetch("/api/v1/discovery/scans", { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ network_id: "${appliance.networkId}", kind: "sweep", targets: ["127.0.8.9"] }) })
        .then(({ status }) => status)`,
    );
    expect(status).toBe(403);
  });
});
