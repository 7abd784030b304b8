// The page of a host in Chromium, on the executable: what it is, its ports as they sit on it, what changed, what is gone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { managementLinks } from "../../src/console/hosts/management-links.ts";
import { neighborLinks, sinceByLink } from "../../src/console/hosts/neighbors.ts";
import { arePlacesShown, isPlateShown, upTo } from "../../src/console/hosts/plate-room.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";

describe.skipIf(!hasChromium)("the page of a host", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running };
  let visitor: Visitor;
  let switchId: string;
  let gone: Wire;
  let stays: Wire;
  let goes: Wire;
  const ports: Wire[] = [];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const served = await workplace.serveSetUp();
    appliance = served;
    const { client, networkId } = served;
    const subnet = await made(
      client.post("subnets", { network_id: networkId, cidr: "10.2.3.0/24", name: "Lab", subnet_type: "Lan", tags: [] }),
    );
    const host = (name: string, address: string) =>
      made(
        client.post("hosts", {
          network_id: networkId,
          name,
          hidden: false,
          tags: [],
          ip_addresses: [
            { subnet_id: subnet.id, ip_address: address, mac_address: `00:1b:21:00:00:0${address.at(-1)}` },
          ],
        }),
      );
    switchId = (await host("access-1", "10.2.3.1")).id;
    await host("printer-2", "10.2.3.2");
    for (let index = 1; index <= 24; index += 1)
      ports.push(
        await made(
          client.post("if-entries", {
            host_id: switchId,
            network_id: networkId,
            if_index: index,
            if_descr: `GigabitEthernet1/0/${index}`,
            if_name: `Gi1/0/${index}`,
            if_alias: index === 1 ? "<b>uplink</b>" : null,
            if_type: 6,
            speed_bps: 1_000_000_000,
            admin_status: index === 24 ? "Down" : "Up",
            oper_status: index % 2 === 0 ? "Down" : "Up",
            fdb_macs: index === 3 ? ["00:1b:21:00:00:02"] : [],
            ...(index === 5
              ? {
                  lldp_sys_name: "core-9",
                  lldp_chassis_id: { subtype: "MacAddress", value: "00:1b:21:00:00:99" },
                  lldp_port_id: { subtype: "InterfaceName", value: "Te1/1/4" },
                }
              : {}),
          }),
        ),
      );
    const before = await made(client.get(`hosts/${switchId}`));
    await made(
      client.put(
        `hosts/${switchId}`,
        { ...editable(before), name: "access-one" },
        { "x-change-reason": "CHG-17: renamed" },
      ),
    );
    gone = await host("old-server", "10.2.3.9");
    await client.delete(`hosts/${gone.id}`, { "x-change-reason": "scrapped" });
    stays = await made(client.post("hosts", { network_id: networkId, name: "core-router", hidden: false, tags: [] }));
    goes = await host("<b>10.2.3.99</b>", "10.2.3.8");
    await made(client.put(`hosts/${stays.id}/consolidate/${goes.id}`, {}));
    visitor = await Visitor.arrive(served.running.url);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  test("shows its ports as they sit on the device, and by name who hangs on them", async () => {
    const page = await visitor.signIn(OWNER, PASSWORD, `/hosts/${switchId}?tab=ports`);
    await page.getByRole("heading", { name: "access-one" }).waitFor();
    const plate = page.locator(".plate");
    await plate.getByRole("heading", { name: "Module 1/0" }).waitFor();
    await settles(() => plate.getByRole("listitem").count(), 24);
    await page.getByRole("link", { name: "Gi1/0/3, Up, printer-2" }).click();
    const row = page.getByRole("row", { name: /Gi1\/0\/3/ });
    await row.getByRole("link", { name: "printer-2" }).waitFor();
    await settles(() => page.getByText("<b>uplink</b>").count(), 1);
    await row.getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("heading", { name: "printer-2" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("has the ports of a switch on its first tab, where each leads to its row; a host without has no picture", async () => {
    const page = await visitor.open(`/hosts/${switchId}`);
    const plate = page.getByRole("region", { name: "Its ports" });
    await page.getByRole("heading", { name: "What it is" }).waitFor();
    await plate.getByRole("link", { name: "Gi1/0/24, disabled" }).waitFor();
    await settles(() => plate.getByRole("listitem").count(), 24);
    // So has it where the address names a tab that there is not.
    await page.goto(`${appliance.running.url}/hosts/${switchId}?tab=cables`);
    await plate.getByRole("link", { name: "Gi1/0/3, Up, printer-2" }).click();
    await page.locator("tr.is-chosen").getByRole("link", { name: "Gi1/0/3" }).waitFor();
    await settles(() => page.getByRole("link", { name: "Interfaces 24" }).getAttribute("aria-current"), "true");
    await page.locator("tr.is-chosen").getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("heading", { name: "printer-2" }).waitFor();
    await page.getByRole("link", { name: "Services and ports 0" }).waitFor();
    // Of what is no switch one asks where it hangs.
    await page.getByRole("row", { name: /^00:1b:21:00:00:02 access-one Gi1\/0\/3 Up / }).waitFor();
    expect(await page.locator(".plates, .waiting").count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("tells who is at the other end of its cables, who hangs on its ports, and on whose port it hangs", async () => {
    const page = await visitor.open(`/hosts/${switchId}?tab=neighbors`);
    const links = page.getByRole("table").filter({ hasText: "Port there" });
    const row = links.getByRole("row", { name: /^Gi1\/0\/5 core-9 not in the inventory Te1\/1\/4 Up 1G \d{4}-/ });
    await row.getByText("LLDP", { exact: true }).click();
    await row.getByText("The far device announces itself, and is not in the inventory.").waitFor();
    const heard = row.getByRole("listitem");
    await settles(
      () => heard.textContent(),
      "access-one Gi1/0/5 hears by LLDP: system name core-9, chassis ID 00:1b:21:00:00:99, port ID Te1/1/4.",
    );
    const stations = page.getByRole("table").filter({ hasText: "00:1b:21:00:00:02" });
    await stations.getByRole("row", { name: /^Gi1\/0\/3 printer-2 10\.2\.3\.2/ }).waitFor();
    await stations.getByRole("link", { name: "printer-2" }).click();
    await page.getByRole("link", { name: "Neighbors" }).click();
    const place = page.getByRole("row", { name: /^00:1b:21:00:00:02 access-one Gi1\/0\/3 Up .*90%/ });
    await place.getByText("Why").click();
    await place.getByRole("listitem").getByRole("link", { name: "Gi1/0/3" }).first().waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("has interfaces whose pages say what they are, and which device is at the other end, in words", async () => {
    const page = await visitor.open(`/interfaces/${ports[4]?.id}`);
    const fact = (name: string) => page.locator(".facts > div").filter({ hasText: name }).first().locator("dd");
    await page.getByRole("heading", { name: "What is connected" }).waitFor();
    await page.locator(".facts").getByText("core-9", { exact: true }).first().waitFor();
    await settles(() => fact("Neighbor").textContent(), "core-9 Te1/1/4");
    await settles(() => fact("Type").textContent(), "Ethernet ethernetCsmacd, 6");
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("tells what changed, who did it and why, and leads to how it was before", async () => {
    const page = await visitor.open(`/hosts/${switchId}?tab=history`);
    const change = page.getByRole("listitem").filter({ hasText: "CHG-17" });
    // The page says whose: the sentence need not.
    await change.getByText(/^name access-1 → access-one/).waitFor();
    await change.getByRole("button").click();
    await settles(() => change.locator("ins").first().textContent(), "access-one");
    const added = page
      .getByRole("listitem")
      .filter({ hasText: /new interface/ })
      .first();
    await added.getByRole("button").click();
    await added.getByRole("link", { name: "Show it then" }).click();
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(page.url()).toContain("at=");
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("that another one has gone into shows its former self, and the other one leads to it", async () => {
    const page = await visitor.open(`/hosts/${stays.id}`);
    const former = page.getByText("Former selves");
    await former.waitFor();
    await page.locator("main:not(:has(.waiting))").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.goto(`${appliance.running.url}/hosts/${stays.id}?tab=history`);
    await former.waitFor();
    await page.getByRole("link", { name: "<b>10.2.3.99</b>" }).first().click();
    await page.getByRole("heading", { name: "<b>10.2.3.99</b>", level: 1 }).waitFor();
    expect(page.url()).toContain("at=");
    expect(await former.count()).toBe(0);
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("link", { name: "core-router" }).click();
    await page.getByRole("heading", { name: "core-router", level: 1 }).waitFor();
    expect(page.url()).toContain("at=");
    await former.waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.close();
  });

  test("that is gone says since when and why, and shows what it was last; before its time it says when it began", async () => {
    const asked = visitor.requests();
    const page = await visitor.open(`/hosts/${gone.id}`);
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    expect(asked.filter((url) => url.includes("/history") && !url.includes("limit=1"))).toEqual([]);
    await page.getByText("scrapped").waitFor();
    await page.getByRole("link", { name: "Show it as it was last" }).click();
    await page.getByRole("heading", { name: "old-server" }).waitFor();
    await page.getByText("10.2.3.9").first().waitFor();
    // From where it was: its parts are asked for where it is there, and nowhere else.
    for (const tab of ["", "&tab=ports", "&tab=neighbors", "&tab=addresses", "&tab=services"]) {
      await page.goto(`${page.url().split("&tab")[0]}${tab}`);
      await page.getByRole("heading", { name: "old-server" }).waitFor();
      await page.locator("main:not(:has(.waiting))").waitFor();
      await page.keyboard.press("t");
      await page.getByRole("heading", { name: "This host is gone" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "old-server" }).waitFor();
    }
    await page.goto(`${appliance.running.url}/hosts/${switchId}?tab=ports&at=2020-01-01T00:00:00Z`);
    await page.getByRole("heading", { name: "This host did not exist yet" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
    await page.goto(`${appliance.running.url}/hosts/01936f2e-0d5c-7d3a-9a39-3f6f1f7a0010`);
    await page.getByText("There is no such host").waitFor();
    // Bad in the address is the instant, not the host.
    await page.goto(`${appliance.running.url}/hosts/${switchId}?at=whenever`);
    await page.getByRole("alert").filter({ hasText: "Request" }).waitFor();
    expect(await page.getByText("There is no such host").count()).toBe(0);
    // The refusals that these pages are made of, and nothing else.
    expect(visitor.troubles().filter((each) => !/\b40[04]\b/.test(each))).toEqual([]);
    await page.close();
  });

  test.each(["light", "dark"] as const)(
    "has nothing that axe-core finds, on any of its tabs, now and then: %s",
    async (colorScheme) => {
      const own = await Visitor.arrive(appliance.running.url, { colorScheme, viewport: { width: 420, height: 740 } });
      const page = await own.signIn(OWNER, PASSWORD, `/hosts/${switchId}`);
      for (const address of [
        "",
        "?tab=ports",
        "?tab=neighbors",
        "?tab=addresses",
        "?tab=services",
        "?tab=history",
        `?at=${ports[5]?.created_at}`,
      ]) {
        await page.goto(`${appliance.running.url}/hosts/${switchId}${address}`);
        await page.locator("main table, main h2, .transactions, main p").first().waitFor();
        expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
        const beside = await page.evaluate<number>("document.documentElement.scrollWidth - window.innerWidth");
        expect([address, beside <= 0]).toEqual([address, true]);
      }
      expect(own.troubles()).toEqual([]);
      await own.leave();
    },
  );
});

/** What a host may be sent back with. */
function editable({ id, network_id, name, hidden, tags, hostname, description }: Wire): Wire {
  return { id, network_id, name, hidden, tags, hostname, description };
}

describe("neighbors", () => {
  const end = (node_id: string, port: string | null) => ({ node_id, port });

  test("are those of the device, whichever end it is, in the order of its ports", () => {
    const links = [
      { id: "a", ends: [end("x", "Gi1/0/10"), end("other", null)] },
      { id: "b", ends: [end("far", "Te1"), end("x", "Gi1/0/9")] },
      { id: "c", ends: [end("far", "Te2"), end("other", "Te3")] },
    ];
    expect(neighborLinks("x", links).map(({ near, far }) => [near.port, far.node_id])).toEqual([
      ["Gi1/0/9", "far"],
      ["Gi1/0/10", "other"],
    ]);
  });

  test("have been there since their last interval began, if that has not ended", () => {
    const fromMs = Date.parse("2026-03-01T00:00:00Z");
    const since = sinceByLink(
      [
        { id: "longer", ends: [], intervals: [{ from: "2026-03-01T00:00:00.000Z", to: null }] },
        {
          id: "again",
          ends: [],
          intervals: [
            { from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" },
            { from: "2026-03-05T00:00:00.000Z", to: null },
          ],
        },
        {
          id: "gone",
          ends: [],
          intervals: [{ from: "2026-03-01T00:00:00.000Z", to: "2026-03-02T00:00:00.000Z" }],
        },
      ],
      fromMs,
    );
    expect([...since]).toEqual([
      ["longer", { instant: "2026-03-01T00:00:00.000Z", isOrEarlier: true }],
      ["again", { instant: "2026-03-05T00:00:00.000Z", isOrEarlier: false }],
    ]);
  });
});

describe("the ports on the overview", () => {
  const group = (count: number) => ({ ports: Array.from({ length: count }, (_, index) => index) });

  test("are shown from four on, up to as many as there is room for", () => {
    expect([0, 3, 4, 3_271].map(isPlateShown)).toEqual([false, false, true, true]);
    const shown = (interfaces: number, addresses: number) => arePlacesShown({ interfaces, addresses });
    expect([shown(0, 1), shown(3, 50), shown(3, 51), shown(4, 1)]).toEqual([true, true, false, false]);
    const sizes = (counts: readonly number[]) => upTo(counts.map(group), 100).map(({ ports }) => ports.length);
    expect(sizes([48, 4])).toEqual([48, 4]);
    expect(sizes([48, 52, 1])).toEqual([48, 52]);
    expect(sizes([48, 60, 9])).toEqual([48, 52]);
    expect(sizes([300])).toEqual([100]);
    expect(upTo([group(300)], 100)[0]?.ports.at(-1)).toBe(99);
  });
});

describe("management links", () => {
  const host = { management_url: null, ip_addresses: [{ ip_address: "2001:db8::1" }], ports: [] };

  test("lead to what listens, with IPv6 in brackets", () => {
    const ports = [
      { number: 22, protocol: "Tcp" },
      { number: 443, protocol: "Tcp" },
    ];
    expect(managementLinks({ ...host, ports }).map(({ href }) => href)).toEqual([
      "ssh://[2001:db8::1]",
      "https://[2001:db8::1]/",
    ]);
    expect(managementLinks(host)).toEqual([]);
  });

  test.each([
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "vbscript:x",
    "not a url",
    "ssh://-oProxyCommand=x/",
    "ssh://-lroot@sw-1/",
    "https://bank.example@sw-1/",
  ])("never follow %s, whatever a device says of itself", (management_url) => {
    expect(managementLinks({ ...host, management_url })).toEqual([]);
  });
});
