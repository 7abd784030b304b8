// Host page in the test process: port layout, neighbors, changes, deleted hosts.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type FilledHosts, fillHosts } from "../support/browser/hosts.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("the page of a host", () => {
  let filled: FilledHosts;
  const { appliance, visitor, page } = visitForAll(async ({ client, networkId }) => {
    filled = await fillHosts(client, networkId);
  });
  beforeAll(() => page.close());
  afterEach(() => expect(visitor.problems()).toEqual([]));

  test("shows ports in physical order, with the names of their stations", async () => {
    const page = await visitor.open(`/hosts/${filled.switchId}?tab=ports`);
    await page.getByRole("heading", { name: "access-one" }).waitFor();
    const plate = page.locator(".plate");
    await plate.getByRole("heading", { name: "Module 1/0" }).waitFor();
    await expectEventually(() => plate.getByRole("listitem").count(), 24);
    await page.getByRole("link", { name: "Gi1/0/3, Up, printer-2" }).click();
    const row = page.getByRole("row", { name: /Gi1\/0\/3/ });
    await row.getByRole("link", { name: "printer-2" }).waitFor();
    await expectEventually(() => page.getByText("<b>uplink</b>").count(), 1);
    await row.getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("heading", { name: "printer-2" }).waitFor();
  });

  test("has a switch's ports on its first tab, each linked to its row, and no faceplate for other hosts", async () => {
    const page = await visitor.open(`/hosts/${filled.switchId}`);
    const plate = page.getByRole("region", { name: "Ports" });
    await page.getByRole("heading", { name: "Details" }).waitFor();
    await plate.getByRole("link", { name: "Gi1/0/24, disabled" }).waitFor();
    await expectEventually(() => plate.getByRole("listitem").count(), 24);
    // An unknown tab in the URL also shows the first tab.
    await page.goto(`${appliance.url}/hosts/${filled.switchId}?tab=cables`);
    await plate.getByRole("link", { name: "Gi1/0/3, Up, printer-2" }).click();
    await page.locator("tr.is-chosen").getByRole("link", { name: "Gi1/0/3" }).waitFor();
    await expectEventually(
      () => page.getByRole("link", { name: "Interfaces 24" }).getAttribute("aria-current"),
      "true",
    );
    await page.locator("tr.is-chosen").getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("heading", { name: "printer-2" }).waitFor();
    await page.getByRole("link", { name: "Services and ports 0" }).waitFor();
    // For hosts other than switches, the page shows the switch port.
    await page.getByRole("row", { name: /^00:1b:21:00:00:02 access-one Gi1\/0\/3 Up / }).waitFor();
    expect(await page.locator(".plates, .waiting").count()).toBe(0);
  });

  test("shows connected devices, stations on its ports, and its own switch port", async () => {
    const page = await visitor.open(`/hosts/${filled.switchId}?tab=neighbors`);
    const links = page.getByRole("table").filter({ hasText: "Remote port" });
    const row = links.getByRole("row", { name: /^Gi1\/0\/5 core-9 not in the inventory Te1\/1\/4 Up 1G \d{4}-/ });
    await row.getByText("LLDP", { exact: true }).click();
    await row.getByText("The far device announces itself but is not in the inventory.").waitFor();
    const announcement = row.getByRole("listitem");
    await expectEventually(
      () => announcement.textContent(),
      "access-one Gi1/0/5 received via LLDP: system name core-9, chassis ID 00:1b:21:00:00:99, port ID Te1/1/4.",
    );
    const stations = page.getByRole("table").filter({ hasText: "00:1b:21:00:00:02" });
    await stations.getByRole("row", { name: /^Gi1\/0\/3 printer-2 10\.2\.3\.2/ }).waitFor();
    await stations.getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("link", { name: "Neighbors" }).click();
    const switchPort = page.getByRole("row", { name: /^00:1b:21:00:00:02 access-one Gi1\/0\/3 Up .*90%/ });
    await switchPort.getByText("Why").click();
    await switchPort.getByRole("listitem").getByRole("link", { name: "Gi1/0/3" }).first().waitFor();
  });

  test("shows its changes with author and reason, with links to the state before", async () => {
    const page = await visitor.open(`/hosts/${filled.switchId}?tab=history`);
    const change = page.getByRole("listitem").filter({ hasText: "CHG-17" });
    // The page names the host, so the sentence need not.
    await change.getByText(/^name access-1 → access-one/).waitFor();
    await change.getByRole("button").click();
    await expectEventually(() => change.locator("ins").first().textContent(), "access-one");
    const added = page
      .getByRole("listitem")
      .filter({ hasText: /new interface/ })
      .first();
    await added.getByRole("button").click();
    await added.getByRole("link", { name: "Show at that time" }).click();
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(page.url()).toContain("at=");
  });

  test("shows a deleted host's last state with date and reason, and a notice before its creation", async () => {
    const requestedUrls = visitor.requests();
    const page = await visitor.open(`/hosts/${filled.deletedHost.id}`);
    await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
    expect(requestedUrls.filter((url) => url.includes("/history") && !url.includes("limit=1"))).toEqual([]);
    await page.getByText("scrapped").waitFor();
    await page.getByRole("link", { name: "Show last state" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    await page.getByText("10.2.3.9").first().waitFor();
    // A deleted host's children are requested as of a time when it existed, and at no other.
    for (const tab of ["", "&tab=ports", "&tab=neighbors", "&tab=addresses", "&tab=services"]) {
      await page.goto(`${page.url().split("&tab")[0]}${tab}`);
      await page.getByRole("heading", { name: "old-server" }).waitFor();
      await page.locator("main:not(:has(.waiting))").waitFor();
      await page.keyboard.press("t");
      await page.getByRole("heading", { name: "This host no longer exists" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "old-server" }).waitFor();
    }
    await page.goto(`${appliance.url}/hosts/${filled.switchId}?tab=ports&at=2020-01-01T00:00:00Z`);
    await page.getByRole("heading", { name: "This host did not exist yet" }).waitFor();
    expect(visitor.problems()).toEqual([]);
    await page.goto(`${appliance.url}/hosts/01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010`);
    await page.getByText("Host not found").waitFor();
    // The timestamp in the URL is invalid, not the host.
    await page.goto(`${appliance.url}/hosts/${filled.switchId}?at=whenever`);
    await page.getByRole("alert").filter({ hasText: "Request" }).waitFor();
    expect(await page.getByText("Host not found").count()).toBe(0);
    // Only the expected refusals of these pages.
    expect(visitor.problems().filter((problem) => !/\b40[04]\b/.test(problem))).toEqual([]);
  });
});
