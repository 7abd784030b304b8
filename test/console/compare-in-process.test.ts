// Comparison of two timestamps in the test process: lists of added, removed and changed records, and record pages.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectOk } from "../support/appliance/factories.ts";
import { fillTwoInstants, type TwoInstants } from "../support/browser/two-instants.ts";
import type { Page } from "../support/page/page.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

const GUEST = "guest@acme.example";

describe("comparing two timestamps", () => {
  let filled: TwoInstants;
  const { appliance, visitor, page } = visitForAll(async ({ addUser, client, networkId }) => {
    await addUser(GUEST, "Viewer");
    filled = await fillTwoInstants(client, networkId);
  });
  beforeAll(() => page.close());

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const rows = (page: Page) => page.locator(".list tbody tr:not(.spacer)");
  const withInstants = (path: string) =>
    `${path}${path.includes("?") ? "&" : "?"}at=${filled.after}&vs=${filled.before}`;

  test("a record is compared with a timestamp ahead of the page's clock as soon as the clock reaches it", async () => {
    const host = await expectOk(
      appliance.client.post("hosts", { network_id: appliance.networkId, name: "just-written" }),
    );
    const ahead = new Date(Date.parse(host.created_at) + 1_500).toISOString();
    const page = await visitor.open(`/hosts/${host.id}?vs=${ahead}`);
    await page.getByText("No differences between A and B.").waitFor();
    await page.close();
  });

  test("a list shows deleted rows first, marks new ones, and shows old and new values", async () => {
    const page = await visitor.open(withInstants("/hosts?columns=name,serial_number,model"));
    await page.getByRole("link", { name: "3 differ" }).waitFor();
    for (const words of ["1 added", "1 removed", "1 changed"]) await page.getByRole("link", { name: words }).waitFor();
    const [deletedRow, next] = [rows(page).nth(0), rows(page).nth(1)];
    await expectEventually(() => deletedRow.textContent(), "Removedleaving");
    await expectEventually(() => next.textContent(), "Addedarriving");
    const core = rows(page).filter({ hasText: "core" });
    await expectEventually(() => core.locator("del").allTextContents(), ["FOC1", "C9300-24T"]);
    await expectEventually(() => core.locator("ins").allTextContents(), ["FOC2", "none"]);
    // A changed field without a column is listed by name.
    await expectEventually(
      () => core.getByText("Changed").locator("..").textContent(),
      expect.stringContaining("Description"),
    );
  });

  test("the list can be limited to differences, sorted, and exported as CSV", async () => {
    const page = await visitor.open(withInstants("/hosts"));
    await page.getByRole("link", { name: "3 differ" }).click();
    await page.getByText("3 hosts").waitFor();
    await expectEventually(
      () => rows(page).locator("td:nth-child(3)").allTextContents(),
      ["arriving", "core", "leaving"],
    );
    await page.getByRole("link", { name: "Name", exact: true }).click();
    await page.locator("th[aria-sort=descending]").waitFor();
    await rows(page).first().getByText("leaving").waitFor();
    const csv = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
    const text = await (await page.request.get(appliance.url + csv)).text();
    expect(
      text
        .trim()
        .split("\r\n")
        .map((line) => line.split(",")[0]),
    ).toContain("removed");
    await page.getByRole("link", { name: "1 removed" }).click();
    await page.getByText("1 host", { exact: true }).waitFor();
    await page.goBack();
    await page.getByText("3 hosts").waitFor();
  });

  test("a filter applies at both timestamps: rows that no longer match still show their change", async () => {
    const page = await visitor.open(withInstants(`/interfaces?filter=${encodeURIComponent('oper_status = "Up"')}`));
    await page.getByRole("link", { name: "3 differ" }).waitFor();
    // Of three ports up earlier, one is deleted and one is down; one is new.
    await rows(page).nth(3).waitFor();
    const texts = await rows(page).allTextContents();
    expect(texts.filter((text) => text.startsWith("Removed"))).toHaveLength(1);
    expect(texts.filter((text) => text.startsWith("Added"))).toHaveLength(1);
    expect(texts.filter((text) => text.startsWith("Changed"))).toEqual([expect.stringContaining("Up → Down")]);
    expect(await page.locator("tr.is-changed del").first().textContent()).not.toBe("");
  });

  test("a swapped list is seen from the later timestamp: additions become removals, and new values become old ones", async () => {
    const page = await visitor.open(withInstants("/hosts?columns=name,serial_number"));
    await rows(page).nth(0).getByText("leaving").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await rows(page).nth(0).getByText("arriving").waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBe(filled.before);
    await page.getByText("A is the later one").waitFor();
    await expectEventually(() => rows(page).nth(0).textContent(), "Removedarriving");
    const core = rows(page).filter({ hasText: "core" });
    await expectEventually(() => core.locator("del").allTextContents(), ["FOC2"]);
    await expectEventually(() => core.locator("ins").allTextContents(), ["FOC1"]);
    // Filtering by one type of difference does not undo the swap.
    await page.getByRole("link", { name: "1 added" }).click();
    await page.getByText("1 host", { exact: true }).waitFor();
    await rows(page).getByRole("link", { name: "leaving" }).waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await rows(page).getByRole("link", { name: "arriving" }).waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBe(filled.after);
  });

  test("identical states are reported as such", async () => {
    const page = await visitor.open(`/services?at=${filled.late}&vs=${filled.after}`);
    await page.getByText("No differences in this list between A and B.").waitFor();
    await page.goto(`${appliance.url}/hosts?at=${filled.before}&vs=marker:before the move&only=differences`);
    await page.getByText("No differences in this list between A and B.").waitFor();
  });

  test("a selected timestamp later than the displayed one is still A, with a notice", async () => {
    const page = await visitor.open(`/hosts?at=${filled.before}&only=differences`);
    await page.getByRole("heading", { name: "Hosts" }).waitFor();
    await page.getByRole("button", { name: "Compare…" }).click();
    const field = page.locator("#compare").getByRole("combobox");
    await field.fill(filled.after);
    await field.press("Enter");
    await rows(page).filter({ hasText: "arriving" }).getByText("Removed").waitFor();
    await page.getByText("A is the later one").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await rows(page).filter({ hasText: "arriving" }).getByText("Added").waitFor();
    expect(await page.getByText("A is the later one").count()).toBe(0);
  });

  test("observations are included on request, on lists, record pages and /compare", async () => {
    const requested = visitor.requests();
    const page = await visitor.open(withInstants("/hosts"));
    const lastDiff = () => new URL(requested.findLast((url) => url.includes("/api/v1/diff?")) ?? "");
    for (const path of ["/hosts", "/compare", "/subnets", `/hosts/${filled.switchId}`]) {
      await page.goto(appliance.url + withInstants(path));
      const checkbox = page.getByRole("checkbox", { name: "Include learned data (MAC tables, last seen)" });
      await checkbox.waitFor();
      await page.locator("main .sign").first().waitFor();
      expect([path, lastDiff().searchParams.get("ignore")]).toEqual([path, "stale_since"]);
      await Promise.all([
        page.waitForResponse((response) => response.url().includes("/api/v1/diff?")),
        checkbox.check(),
      ]);
      expect([path, lastDiff().searchParams.has("ignore")]).toEqual([path, false]);
      await page.locator("main .sign").first().waitFor();
      expect(new URL(page.url()).searchParams.get("observed")).toBe("1");
    }
  });

  test("subnets form a tree, with deleted ones above", async () => {
    const page = await visitor.open(withInstants("/subnets"));
    for (const words of ["3 differ", "1 added", "1 removed", "1 changed"])
      await page.getByRole("link", { name: words }).waitFor();
    const trees = page.locator(".subnet-tree tbody tr");
    await trees.nth(0).filter({ hasText: "Removed 10.9.9.0/24Old lab" }).waitFor();
    await expectEventually(() => trees.filter({ hasText: "10.2.3.0/28" }).locator("del").allTextContents(), ["none"]);
    await page.getByRole("link", { name: "1 added" }).click();
    await trees.getByText("New lab").waitFor();
    await expectEventually(() => trees.count(), 1);
  });

  test("an interface, a subnet with its addresses, and a VLAN show their former values", async () => {
    const page = await visitor.open(withInstants(`/interfaces/${filled.portId}`));
    const status = page.locator(".facts > div").filter({ hasText: "Operational status" });
    await status.locator("del").waitFor();
    await expectEventually(() => status.textContent(), "Operational statusUp → Down");
    await page.goto(appliance.url + withInstants(`/subnets/${filled.subnetId}`));
    await page.getByRole("link", { name: "10.2.3.5 In use arriving (Added)" }).waitFor();
    await expectEventually(() => page.locator(".cell-is-removed").allTextContents(), ["1 Removed", "2 Removed"]);
    await page.locator(".facts > div").filter({ hasText: "VLAN" }).getByText("none → 20 Offices").waitFor();
    await page.goto(appliance.url + withInstants(`/vlans/${filled.vlanId}`));
    const list = page.getByRole("region", { name: "Changes from A to B" });
    await list.getByText("Offices, new", { exact: true }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "10.2.3.0/28" }).getByText("Changed").first().waitFor();
    // Swapped, and swapped back.
    await page.goto(`${appliance.url}${withInstants(`/hosts/${filled.switchId}`)}`);
    const serial = page.locator(".facts > div").filter({ hasText: "Serial number" });
    await serial.getByText("FOC1 → FOC2").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await serial.getByText("FOC2 → FOC1").waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBe(filled.before);
    await list.getByRole("listitem").filter({ hasText: "10.2.3.6" }).getByText("Removed").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await serial.getByText("FOC1 → FOC2").waitFor();
    await page.goto(`${appliance.url}${withInstants("/compare")}`);
    const all = page.locator(".difference > li");
    await all.filter({ hasText: "host arriving" }).getByText("Added").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await all.filter({ hasText: "host arriving" }).getByText("Removed").waitFor();
    await all.filter({ hasText: "host leaving" }).getByText("Added").waitFor();
    await page.goto(`${appliance.url}${withInstants("/subnets")}`);
    const trees = page.locator(".subnet-tree tbody tr");
    await trees.filter({ hasText: "Old lab" }).getByText("Removed").waitFor();
    await page.getByRole("link", { name: "Swap" }).click();
    await trees.filter({ hasText: "New lab" }).getByText("Removed").waitFor();
    await page.goto(`${appliance.url}/hosts/${filled.addedId}?at=${filled.late}&vs=${filled.after}`);
    await page.getByText("No differences between A and B.").waitFor();
  });

  test.each([
    ["/subnets", "**/api/v1/subnets/tree?*", ".subnet-tree tbody tr", "New lab"],
    ["a host's addresses", "**/api/v1/ip-addresses?*order_by=ip_address*", "table tbody tr", "10.2.3.6"],
    ["a host's services", "**/api/v1/ports?*order_by=number*", "table tbody tr", "443"],
  ])(
    "after a swap each row of %s appears once, with its former differences, until the new ones arrive",
    async (target, pattern, selector, text) => {
      const path = target.startsWith("/") ? target : `/hosts/${filled.switchId}?tab=${target.split(" ").at(-1)}`;
      const page = await visitor.open(withInstants(path));
      const rowsOf = page.locator(selector).filter({ hasText: text });
      await rowsOf.getByText("Added").waitFor();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await page.route(pattern, async (route) => {
        await released;
        await route.continue();
      });
      const requested = page.waitForRequest(pattern);
      await page.getByRole("link", { name: "Swap" }).click();
      await requested;
      await expectEventually(() => rowsOf.allTextContents(), [expect.stringContaining("Added")]);
      release();
      await rowsOf.getByText("Removed").waitFor();
      await expectEventually(() => rowsOf.count(), 1);
    },
  );

  test("tags appear by name next to their color in lists and on pages, and clicking a tag filters by it", async () => {
    const page = await visitor.open(`/hosts?at=${filled.before}&columns=name,tags`);
    const core = rows(page).filter({ hasText: "core" });
    await core.getByRole("link", { name: "Core", exact: true }).click();
    await page.getByText("1 host", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("filter")).toBe('tags.name = "Core"');
    await core.locator(".tag-Blue").waitFor();
    // The tag has since been removed.
    await page.goto(`${appliance.url}${withInstants("/hosts?columns=name,tags&only=changed")}`);
    await core.locator("del").getByText("Core", { exact: true }).waitFor();
    await page.goto(`${appliance.url}/hosts/${filled.switchId}?at=${filled.before}`);
    await page.locator(".facts .tag").getByText("Core").waitFor();
  });

  test("a user without access to the network sees no differences", async () => {
    const { visitor: guest, page } = await appliance.openAs(GUEST, withInstants("/hosts"));
    await page.getByText("No differences in this list between A and B.").waitFor();
    expect(await page.content()).not.toContain("leaving");
    expect(guest.problems()).toEqual([]);
  });
});
