// From an empty folder to a map in Chromium, on the executable: the printed link, this machine, scan targets, optional
// credentials, and the first scan, of agents on loopback; errors on the way, and roles without access.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { offerOf } from "../../src/console/first-run/subnet-offer.ts";
import { wrongTarget } from "../../src/console/scanning/targets.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";
import { stopwatch } from "../support/measure/processor-time.ts";
import { recordingText } from "../support/reconcile/recorded-reads.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { startAgents } from "../support/snmp/agents.ts";
import { viewOfSnmprec } from "../support/snmp/view.ts";

const EMAIL = "ada@acme.example";
const COMMUNITY = "see-and-tell";
/** Two cabled switches. */
const SWITCHES = ["switch-a", "switch-b"] as const;
/** Their subnet; its other addresses have no device, yet answer. */
const SUBNET = "127.77.4.0/29";
/** Maximum time from the executable to a map. */
const MAP_WITHIN_MS = 180_000;

afterAll(() => closeBrowser());

describe("a subnet of the first scan", () => {
  test.each([
    ["10.2.3.0/24", "Unknown", ["eth0"], 256, null, true],
    ["192.168.0.0/20", "Lan", ["eth0"], 4_096, null, true],
    ["10.0.0.0/16", "Lan", ["eth0"], 65_536, "large", true],
    ["10.0.0.0/8", "Lan", [], 16_777_216, "huge", false],
    ["172.17.0.0/16", "Unknown", ["docker0"], 65_536, "containers", true],
    ["172.18.0.0/24", "Unknown", ["br-0123456789ab"], 256, "containers", true],
    ["172.19.0.0/24", "DockerBridge", [], 256, "containers", true],
    ["192.168.9.0/24", "Unknown", ["br-lan"], 256, null, true],
    ["10.8.0.0/24", "Unknown", ["wg0"], 256, "tunnel", true],
    ["127.0.0.0/8", "Loopback", ["lo"], 16_777_216, "huge", false],
    ["127.0.5.0/24", "Unknown", ["lo"], 256, "loopback", true],
    ["203.0.113.0/24", "Unknown", ["eth0"], 256, "public", true],
    ["100.64.3.0/24", "Unknown", ["eth0"], 256, null, true],
    ["10.9.0.0/24", "Remote", [], 256, "elsewhere", true],
    ["fd00::/64", "Unknown", ["eth0"], 2 ** 64, "ipv6", false],
    ["fd00::/120", "Unknown", ["eth0"], 256, null, true],
    ["2001:db8::/120", "Unknown", ["eth0"], 256, "public", true],
  ] as const)("%s of type %s by %p has %p addresses, with warning %p", (cidr, type, by, size, doubt, isPossible) => {
    expect(offerOf({ cidr, subnet_type: type }, by)).toEqual({ cidr, size, doubt, isPossible });
  });

  test.each([
    ["10.2.3.4", null],
    ["10.2.3.0/24", null],
    ["255.255.255.255", null],
    ["2001:db8::1", null],
    ["2001:db8::/120", null],
    ["10.2.3.4/24", { meant: "10.2.3.0/24" }],
    ["192.168.255.129/25", { meant: "192.168.255.128/25" }],
    ["10.2.3", { meant: null }],
    ["10.2.3.256", { meant: null }],
    ["10.02.3.4", { meant: null }],
    ["10.2.3.0/33", { meant: null }],
    ["10.2.3.1-10.2.3.9", { meant: null }],
    ["printer", { meant: null }],
    ["2001:db8:::1", { meant: null }],
  ] as const)("entered as %s has error %p", (typed, wrong) => {
    expect(wrongTarget(typed)).toEqual(wrong);
  });
});

describe.skipIf(!hasChromium)("a new user following the printed link of an empty appliance", () => {
  let workplace: Workplace;
  let running: Running;
  let visitor: Visitor;
  const agents: SnmpAgent[] = [];

  beforeAll(async () => {
    ensureExecutable();
    const views = SWITCHES.map((name) => viewOfSnmprec(recordingText(name)));
    agents.push(
      ...(await startAgents(
        views.map((view, index) => ({ address: `127.77.4.${index + 1}`, communities: { [COMMUNITY]: view } })),
      )),
    );
  });
  beforeEach(() => {
    workplace = new Workplace();
  });
  afterEach(async () => {
    await visitor.leave();
    await workplace.close();
  });
  afterAll(() => {
    for (const agent of agents) agent.close();
  });

  const serve = async () => {
    running = await workplace.serve(["--snmp-port", String(agents[0]?.port)]);
  };

  /** Path and fragment of the link printed at the start. */
  const link = () => (/\S+\/#setup=\S+/.exec(running.lines[2] ?? "")?.[0] ?? "").slice(running.url.length);

  const question = (page: Page, name: string) => page.getByRole("heading", { level: 2, name }).waitFor();

  async function claim(page: Page): Promise<void> {
    await page.getByLabel("Your name").fill("Ada Byron");
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.keyboard.press("Enter");
    await question(page, "What does this machine see of itself?");
  }

  /** Starts an appliance and claims it, in a separate browser. */
  async function claimed(): Promise<Page> {
    await serve();
    visitor = await Visitor.arrive(running.url);
    const page = await visitor.open(link());
    await claim(page);
    return page;
  }

  /** Goes to the credentials step, past this machine. */
  async function chooseSubnet(page: Page): Promise<void> {
    await page.getByRole("link", { name: "Skip this step" }).click();
    await question(page, "What should be scanned?");
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByText("8 addresses in all.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await question(page, "Which credentials may be used?");
  }

  async function giveCommunity(page: Page, community: string): Promise<void> {
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill(community);
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).waitFor();
  }

  async function scan(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByRole("heading", { name: "What next" }).waitFor();
  }

  const read = async (page: Page, path: string): Promise<Wire[]> =>
    (await (await page.request.get(`${running.url}/api/v1/${path}`)).json()).data;

  test(`has a map of the network in less than ${MAP_WITHIN_MS / 60_000} minutes, and refreshed every night`, async () => {
    const elapsedMs = stopwatch();
    await serve();
    visitor = await Visitor.arrive(running.url);
    const asked = visitor.requests();
    const page = await visitor.open(link());
    await claim(page);
    // The records to be created are shown first.
    const seen = (await read(page, "discovery/self")) as unknown as Wire;
    for (const { ip_address } of seen.addresses)
      await page.getByRole("cell", { name: ip_address, exact: true }).waitFor();
    await page.getByText(`${seen.hostname}: `).waitFor();
    expect(await read(page, "hosts")).toEqual([]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Record this machine" }).click();
    await page.getByText("Recorded as").waitFor();
    const [self] = await read(page, "hosts");
    await page.getByRole("main").getByRole("link", { name: self?.name, exact: true }).waitFor();
    expect(self?.ip_addresses.map((each: Wire) => each.ip_address).toSorted()).toEqual(
      seen.addresses.map((each: Wire) => each.ip_address).toSorted(),
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Continue" }).click();

    await question(page, "What should be scanned?");
    for (const { cidr } of await read(page, "subnets"))
      await page.getByRole("checkbox", { name: cidr, exact: true }).waitFor();
    // The test may run anywhere: the machine's own subnets must not be scanned.
    for (const box of await page.locator(".way-choice input:checked").all()) await box.uncheck();
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByText("8 addresses in all.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();

    await question(page, "Which credentials may be used?");
    await giveCommunity(page, COMMUNITY);
    await page.getByText(SUBNET).waitFor();
    await page.getByText("SNMP v2c, Main").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await scan(page);
    await page.getByText("2 devices by SNMP").waitFor();
    const picture = page.getByRole("application", { name: /^Picture of the map: \d+ devices, [1-9]\d* links/ });
    await picture.waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);

    await page.getByRole("listitem").getByRole("link", { name: "Open the map" }).click();
    await page.getByRole("heading", { level: 1, name: "Map" }).waitFor();
    await picture.waitFor();
    for (const name of SWITCHES) await page.getByRole("button", { name, exact: true }).first().waitFor();
    const tookMs = elapsedMs();
    console.log(`From the executable to a map of two switches: ${(tookMs / 1_000).toFixed(1)} s.`);
    expect(tookMs).toBeLessThan(MAP_WITHIN_MS);
    const [network] = await read(page, "networks");
    const topology = await read(page, `topology?network_id=${network?.id}`);
    const { nodes, links } = topology as unknown as { nodes: Wire[]; links: Wire[] };
    const idOf = new Map(nodes.map(({ id, name }) => [name, id]));
    const between = SWITCHES.map((name) => idOf.get(name)).toSorted();
    expect(links.map(({ ends }) => ends.map((end: Wire) => end.node_id).toSorted())).toContainEqual(between);

    await page.goBack();
    await page.getByText("The same scan, of the same addresses, by itself:").waitFor();
    await page.locator(".due-times li").nth(4).waitFor();
    await page.getByRole("button", { name: "Scan this every night" }).click();
    await page.getByText("Scanned by itself:").waitFor();
    const zone = await page.evaluate<string>("Intl.DateTimeFormat().resolvedOptions().timeZone");
    expect(await read(page, "discovery/schedules")).toEqual([
      expect.objectContaining({
        ...{ name: "Every night", kind: "full", cron: "17 2 * * *", timezone: zone },
        ...{ targets: [SUBNET], is_enabled: true, next_run_at: expect.stringMatching(/T\d\d:17:/) },
      }),
    ]);
    expect(await accessibilityFindings(page)).toEqual([]);
    for (const name of ["Hosts", "Scan something else", "New user", "Take a backup"])
      expect([name, await page.getByRole("listitem").getByRole("link", { name, exact: true }).count()]).not.toEqual([
        name,
        0,
      ]);

    // Typed secrets are in no URL and in no browser storage.
    expect(asked.filter((url) => url.includes(COMMUNITY) || url.includes(running.setupToken))).toEqual([]);
    const kept = await page.evaluate<string>(
      "JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }])",
    );
    expect(kept).not.toContain(COMMUNITY);
    expect(running.log).not.toContain(COMMUNITY);
    expect(running.log).not.toContain(running.setupToken);
    expect(visitor.troubles()).toEqual([]);
  });

  test("needs no mouse, on a small dark screen, and no credential: responding hosts are on the map, and missing data is reported", async () => {
    await serve();
    visitor = await Visitor.arrive(running.url, { colorScheme: "dark", viewport: { width: 360, height: 740 } });
    const page = await visitor.open(link());
    const isWithin = () => page.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth");
    const looksRight = async (what: string) =>
      expect([what, await accessibilityFindings(page), await isWithin()]).toEqual([what, [], true]);
    /** As many Tab presses as a sighted user would need. */
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await page.evaluate<string>(FOCUSED)) === name) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab leads to no ${name}, but to ${await page.evaluate<string>(FOCUSED)}`);
    };
    await page.getByRole("heading", { name: "Claim this appliance" }).waitFor();
    await tabTo("E-mail");
    await page.keyboard.type(EMAIL);
    await tabTo("Password");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");

    await question(page, "What does this machine see of itself?");
    await looksRight("this machine");
    await tabTo("Record this machine");
    await page.keyboard.press("Enter");
    await page.getByText("Recorded as").waitFor();
    await looksRight("this machine, recorded");
    await tabTo("Continue");
    await page.keyboard.press("Enter");

    // The question has the focus: the next control is one Tab away.
    await page.locator("h2:focus", { hasText: "What should be scanned?" }).waitFor();
    for (const { cidr } of await read(page, "subnets")) {
      const box = page.getByRole("checkbox", { name: cidr, exact: true });
      if (!(await box.isChecked())) continue;
      await tabTo(cidr);
      await page.keyboard.press("Space");
      await page.getByRole("checkbox", { name: cidr, exact: true, checked: false }).waitFor();
    }
    await tabTo("Continue");
    await page.keyboard.press("Enter");
    await page.getByText("Tick a subnet, or type an address or a subnet.").waitFor();
    await page.getByLabel("Others").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await page.keyboard.type("127.77.4.9/29");
    await tabTo("Continue");
    await page.keyboard.press("Enter");
    await page.getByText("127.77.4.9/29 is an address in a subnet: write 127.77.4.8/29.").waitFor();
    await looksRight("what to scan, refused");
    await page.getByLabel("Others").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("127.77.4.8/29");
    await looksRight("what to scan");
    await tabTo("Continue");
    await page.keyboard.press("Enter");

    await page.locator("h2:focus", { hasText: "Which credentials may be used?" }).waitFor();
    await tabTo("An SNMP v2c community");
    await page.keyboard.press("Space");
    await page.getByLabel("Community", { exact: true }).waitFor();
    await looksRight("a community");
    await page.keyboard.press("ArrowDown");
    await page.getByLabel("Authentication password").waitFor();
    await tabTo("Save and continue");
    await page.keyboard.press("Enter");
    await page.getByLabel("User").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await looksRight("a user, refused");
    // Back to the choice above.
    for (let presses = 0; (await page.evaluate<string>(FOCUSED)) !== "An SNMP v3 user" && presses < 20; presses += 1)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ArrowDown");
    await page.getByText("the map has devices and no links").waitFor();
    await looksRight("no credential");
    await tabTo("Continue");
    await page.keyboard.press("Enter");

    await page.locator("h2:focus", { hasText: "The first scan" }).waitFor();
    await page.getByText("nothing: only a sweep, which sends no secret").waitFor();
    await looksRight("what will be asked");
    await tabTo("Start the first scan");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "What next" }).waitFor();
    await page.getByText("Done. 6 addresses answered.").waitFor();
    await page.getByRole("application", { name: /^Picture of the map: [67] devices, 0 links/ }).waitFor();
    await looksRight("what came of it");
    expect(await read(page, "discovery/scans")).toEqual([
      expect.objectContaining({ kind: "sweep", targets: ["127.77.4.8/29"], status: "Completed" }),
    ]);
    // Later scans can read more: this leads to credentials, with the selection kept.
    await tabTo("Add credentials, and read devices by SNMP");
    await page.keyboard.press("Enter");
    await page.locator("h2:focus", { hasText: "Which credentials may be used?" }).waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test("continues at the same step once the subnets are known", async () => {
    const page = await claimed();
    const known = Promise.withResolvers<void>();
    await page.route("**/api/v1/subnets?*", async (route) => {
      await known.promise;
      await route.continue();
    });
    await page.getByRole("link", { name: "Skip this step" }).click();
    await question(page, "What should be scanned?");
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByRole("button", { name: "Continue" }).click();
    await settles(() => page.getByLabel("Others").inputValue(), SUBNET);
    known.resolve();
    await question(page, "Which credentials may be used?");
    expect(visitor.troubles()).toEqual([]);
  });

  test("corrects a wrong community, and loses only the secret on reload or session end", async () => {
    const page = await claimed();
    await chooseSubnet(page);
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill("forgotten");
    await page.waitForURL((url) => url.searchParams.get("credentials") === "v2c");
    await page.reload();
    await page.getByLabel("An SNMP v2c community").and(page.locator(":checked")).waitFor();
    await settles(() => page.getByLabel("Community", { exact: true }).inputValue(), "");
    await page.getByRole("link", { name: "Back" }).click();
    await page.getByText("8 addresses in all.").waitFor();
    await settles(() => page.getByLabel("Others").inputValue(), SUBNET);
    await page.goBack();
    await question(page, "Which credentials may be used?");
    expect(visitor.troubles()).toEqual([]);

    await visitor.context.clearCookies();
    await page.getByLabel("Community", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByText("Your session has ended.").waitFor();
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await question(page, "Which credentials may be used?");
    await page.getByLabel("An SNMP v2c community").and(page.locator(":checked")).waitFor();
    await settles(() => page.getByLabel("Community", { exact: true }).inputValue(), "");
    expect(visitor.troubles().every((each) => each.includes("401"))).toBe(true);

    await giveCommunity(page, "wrong");
    await scan(page);
    await page.getByText("No device answered SNMP: 6 addresses were asked with “SNMP v2c, Main”.").waitFor();
    await page.getByText("2 addresses: no answer: silent, or the community is wrong").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The result stays.
    await page.reload();
    await page.getByText("No device answered SNMP").waitFor();
    await page.getByRole("link", { name: "Give another credential" }).click();
    await giveCommunity(page, COMMUNITY);
    await scan(page);
    await page.getByText("2 devices by SNMP").waitFor();
    expect(await read(page, "credentials")).toHaveLength(2);
    expect(visitor.troubles()).toEqual([]);
  });

  test("cancels a long scan, and sees refusals by the appliance", async () => {
    const page = await claimed();
    const { searchParams } = new URL(page.url());
    const network = searchParams.get("network") ?? "";
    await page.goto(`${running.url}/start?network=${network}&step=scan`);
    await page.getByText("Nothing is chosen to be scanned.").waitFor();
    await page.goto(`${running.url}/start?network=${network}&step=scan&others=224.0.0.1&credentials=none`);
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByRole("alert").filter({ hasText: "224.0.0.1 is" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.troubles().every((each) => each.includes("400"))).toBe(true);
    await page.goto(`${running.url}/start?network=${network}&step=where&others=127.128.0.0/15`);
    await page.getByText("131,072 addresses in all.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("One of them is larger than /16: scan all of it").and(page.locator(":focus")).waitFor();
    await page.getByText("Tick this, or name smaller subnets.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel("Others").fill("127.128.0.0/16");
    await page.getByText("65,536 addresses in all.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("None: only a sweep").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByText("answered so far").waitFor();
    await page.getByRole("button", { name: "End this scan" }).click();
    await page.getByText("It was stopped before it finished.").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });
});

/** Accessible name of the focused element. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  const label = focused?.labels?.[0]?.textContent ?? focused?.getAttribute("aria-label") ?? focused?.textContent ?? "";
  return label.trim();
})()`;

describe.skipIf(!hasChromium)("the guided setup", () => {
  const appliance = serveForAll(async ({ addUser, networkId }) => {
    for (const role of ["Member", "Viewer"] as const) await addUser(`${role}@acme.example`, role, [networkId]);
  });

  test("is offered to an Admin on the empty start page and host list, in Discovery and in the palette", async () => {
    const { visitor, page } = await appliance.arrived(OWNER, "/");
    for (const path of ["/", "/hosts", "/discovery"]) {
      await page.goto(appliance.url + path);
      await page.getByRole("main").getByRole("link", { name: "Get started" }).click();
      await page.getByRole("heading", { level: 2, name: "What does this machine see of itself?" }).waitFor();
      // The only network.
      await page.waitForURL((url) => url.searchParams.get("network") === appliance.networkId);
    }
    await page.goto(`${appliance.url}/hosts?at=2030-01-01T00:00:00Z`);
    await page.getByText("No hosts existed").waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: "Get started" }).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill("get started");
    await page.getByRole("option", { name: "Get started" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2, name: "What does this machine see of itself?" }).waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBeNull();
    await page.goto(`${appliance.url}/start?at=2030-01-01T00:00:00Z`);
    await page.getByText("The past is not scanned.").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });

  test.each([
    ["Member", "You may scan what lies in the network's subnets:", "Discovery"],
    ["Viewer", "What has been found so far is here:", "Hosts"],
  ])("is not offered to a %s, who sees who may use it, with links onward", async (role, said, onward) => {
    const { visitor, page } = await appliance.arrived(`${role}@acme.example`, "/start?step=credentials");
    await page.getByText("This is for Admins").waitFor();
    await page.getByText(said).waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: onward }).click();
    await page.getByRole("heading", { level: 1, name: onward }).waitFor();
    await page.goto(`${appliance.url}/`);
    await page.getByText("The inventory is empty. An Admin starts the first scan.").waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: "Get started" }).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("option", { name: "Get started" }).count()).toBe(0);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is for the selected network, reuses another network's credential, and restarts with another network", async () => {
    const { client, organizationId, networkId } = appliance;
    const branch = await made(client.post("networks", { organization_id: organizationId, name: "Branch" }));
    const credential = await made(
      client.post("credentials", {
        organization_id: organizationId,
        name: "Everywhere",
        credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: COMMUNITY } },
        assigned_network_ids: [networkId],
        host_assignments: [],
        tags: [],
      }),
    );
    await made(
      client.post("subnets", { network_id: branch.id, cidr: "10.7.0.0/24", name: "Desks", subnet_type: "Lan" }),
    );
    await made(
      client.post("subnets", { network_id: branch.id, cidr: "10.8.0.0/16", name: "Halls", subnet_type: "Lan" }),
    );
    const { visitor, page } = await appliance.arrived(OWNER, "/start");
    await page.getByText("A scan is of one network. Choose one:").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Branch" }).click();
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "What to scan" }).click();
    await page.getByRole("checkbox", { name: "10.7.0.0/24", checked: true }).waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16", checked: false }).waitFor();
    await page.getByText("Halls · 65,536 addresses · large: it takes a while").waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16" }).check();
    await page.getByText("65,792 addresses in all.").waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16" }).uncheck();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("A credential of another network").check();
    await page.getByLabel("Credential", { exact: true }).selectOption({ label: "Everywhere" });
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).waitFor();
    await page.getByText("Everywhere").waitFor();
    expect((await made(client.get(`credentials/${credential.id}`))).assigned_network_ids.toSorted()).toEqual(
      [networkId, branch.id].toSorted(),
    );
    await page.getByRole("link", { name: "Change: With" }).click();
    await page.getByLabel("What this network has: Everywhere").and(page.locator(":checked")).waitFor();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Main" });
    await page.getByRole("heading", { level: 2, name: "What does this machine see of itself?" }).waitFor();
    await settles(async () => [...new URL(page.url()).searchParams.keys()], ["network"]);
    expect(visitor.troubles()).toEqual([]);
  });
});
