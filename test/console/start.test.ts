// Guided setup in Chromium, on the executable, from an empty data directory to a map: the printed link, this machine,
// scan targets, optional credentials, and the first scan of agents on loopback; also errors, and roles without access.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { subnetChoice } from "../../src/console/first-run/subnet-choice.ts";
import { checkTarget } from "../../src/console/scanning/targets.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import {
  accessibilityFindings,
  closeBrowser,
  expectEventually,
  hasChromium,
  Visitor,
} from "../support/browser/browser.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";
import { ensureExecutable, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";
import { stopwatch } from "../support/measure/processor-time.ts";
import { recordingText } from "../support/reconcile/recorded-reads.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { startAgents } from "../support/snmp/agents.ts";
import { viewOfSnmprec } from "../support/snmp/view.ts";

const EMAIL = "ada@acme.example";
const COMMUNITY = "see-and-tell";
/** Two cabled switches. */
const SWITCHES = ["switch-a", "switch-b"] as const;
/** Subnet of the switches. Its other addresses respond without SNMP. */
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
  ] as const)("%s of type %s by %p has %p addresses, with warning %p", (cidr, type, by, size, doubt, isScannable) => {
    expect(subnetChoice({ cidr, subnet_type: type }, by)).toEqual({ cidr, size, skipReason: doubt, isScannable });
  });

  test.each([
    ["10.2.3.4", null],
    ["10.2.3.0/24", null],
    ["255.255.255.255", null],
    ["2001:db8::1", null],
    ["2001:db8::/120", null],
    ["10.2.3.4/24", { suggestion: "10.2.3.0/24" }],
    ["192.168.255.129/25", { suggestion: "192.168.255.128/25" }],
    ["10.2.3", { suggestion: null }],
    ["10.2.3.256", { suggestion: null }],
    ["10.02.3.4", { suggestion: null }],
    ["10.2.3.0/33", { suggestion: null }],
    ["10.2.3.1-10.2.3.9", { suggestion: null }],
    ["printer", { suggestion: null }],
    ["2001:db8:::1", { suggestion: null }],
  ] as const)("entered as %s has error %p", (typed, error) => {
    expect(checkTarget(typed)).toEqual(error);
  });
});

describe.skipIf(!hasChromium)("a new user following the printed link of an empty appliance", () => {
  let sandbox: Sandbox;
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
    sandbox = new Sandbox();
  });
  afterEach(async () => {
    await visitor.close();
    await sandbox.close();
  });
  afterAll(() => {
    for (const agent of agents) agent.close();
  });

  const serve = async () => {
    running = await sandbox.serve(["--snmp-port", String(agents[0]?.port)]);
  };

  /** Path and fragment of the link printed at the start. */
  const setupLink = () => (/\S+\/#setup=\S+/.exec(running.lines[2] ?? "")?.[0] ?? "").slice(running.url.length);

  const waitForStep = (page: Page, name: string) => page.getByRole("heading", { level: 2, name }).waitFor();

  async function claim(page: Page): Promise<void> {
    await page.getByLabel("Your name").fill("Ada Byron");
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.keyboard.press("Enter");
    await waitForStep(page, "Record this machine?");
  }

  /** Starts an appliance and claims it, in a separate browser. */
  async function serveAndClaim(): Promise<Page> {
    await serve();
    visitor = await Visitor.create(running.url);
    const page = await visitor.open(setupLink());
    await claim(page);
    return page;
  }

  /** Goes to the credentials step, past this machine. */
  async function chooseSubnet(page: Page): Promise<void> {
    await page.getByRole("link", { name: "Skip this step" }).click();
    await waitForStep(page, "What should be scanned?");
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByText("8 addresses in total.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await waitForStep(page, "Which credentials may be used?");
  }

  async function enterCommunity(page: Page, community: string): Promise<void> {
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill(community);
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).waitFor();
  }

  async function scan(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByRole("heading", { name: "What next" }).waitFor();
  }

  const read = async (page: Page, path: string): Promise<JsonRecord[]> =>
    (await (await page.request.get(`${running.url}/api/v1/${path}`)).json()).data;

  test(`gets a map of the network in less than ${MAP_WITHIN_MS / 60_000} minutes, refreshed every night`, async () => {
    const elapsedMs = stopwatch();
    await serve();
    visitor = await Visitor.create(running.url);
    const requestedUrls = visitor.requests();
    const page = await visitor.open(setupLink());
    await claim(page);
    // The records to be created are shown first.
    const selfReport = (await read(page, "discovery/self")) as unknown as JsonRecord;
    for (const { ip_address } of selfReport.addresses)
      await page.getByRole("cell", { name: ip_address, exact: true }).waitFor();
    await page.getByText(`${selfReport.hostname}: `).waitFor();
    expect(await read(page, "hosts")).toEqual([]);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Record this machine" }).click();
    await page.getByText("Recorded as").waitFor();
    const [self] = await read(page, "hosts");
    await page.getByRole("main").getByRole("link", { name: self?.name, exact: true }).waitFor();
    expect(self?.ip_addresses.map(({ ip_address }: JsonRecord) => ip_address).toSorted()).toEqual(
      selfReport.addresses.map(({ ip_address }: JsonRecord) => ip_address).toSorted(),
    );
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Continue" }).click();

    await waitForStep(page, "What should be scanned?");
    for (const { cidr } of await read(page, "subnets"))
      await page.getByRole("checkbox", { name: cidr, exact: true }).waitFor();
    // The test may run anywhere: the machine's own subnets must not be scanned.
    for (const box of await page.locator(".first-run-choice input:checked").all()) await box.uncheck();
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByText("8 addresses in total.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();

    await waitForStep(page, "Which credentials may be used?");
    await enterCommunity(page, COMMUNITY);
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
    const { nodes, links } = topology as unknown as { nodes: JsonRecord[]; links: JsonRecord[] };
    const idOf = new Map(nodes.map(({ id, name }) => [name, id]));
    const switchIds = SWITCHES.map((name) => idOf.get(name)).toSorted();
    expect(links.map(({ ends }) => ends.map((end: JsonRecord) => end.node_id).toSorted())).toContainEqual(switchIds);

    await page.goBack();
    await page.getByText("Repeat this scan automatically:").waitFor();
    await page.locator(".due-times li").nth(4).waitFor();
    await page.getByRole("button", { name: "Scan this every night" }).click();
    await page.getByText("Scheduled:").waitFor();
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
    expect(requestedUrls.filter((url) => url.includes(COMMUNITY) || url.includes(running.setupToken))).toEqual([]);
    const browserState = await page.evaluate<string>(
      "JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }])",
    );
    expect(browserState).not.toContain(COMMUNITY);
    expect(running.log).not.toContain(COMMUNITY);
    expect(running.log).not.toContain(running.setupToken);
    expect(visitor.problems()).toEqual([]);
  });

  test("needs no mouse and no credential on a small dark screen, and shows what the map lacks", async () => {
    await serve();
    visitor = await Visitor.create(running.url, { colorScheme: "dark", viewport: { width: 360, height: 740 } });
    const page = await visitor.open(setupLink());
    const isWithin = () => page.evaluate<boolean>("document.documentElement.scrollWidth <= window.innerWidth");
    const expectAccessible = async (step: string) =>
      expect([step, await accessibilityFindings(page), await isWithin()]).toEqual([step, [], true]);
    /** Presses Tab until the control has the focus. */
    const tabTo = async (name: string) => {
      for (let presses = 0; presses < 60; presses += 1) {
        if ((await page.evaluate<string>(FOCUSED)) === name) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab leads to no ${name}, but to ${await page.evaluate<string>(FOCUSED)}`);
    };
    const pressOn = async (name: string, key = "Enter") => {
      await tabTo(name);
      await page.keyboard.press(key);
    };
    await page.getByRole("heading", { name: "Claim this appliance" }).waitFor();
    await tabTo("E-mail");
    await page.keyboard.type(EMAIL);
    await tabTo("Password");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");

    await waitForStep(page, "Record this machine?");
    await expectAccessible("this machine");
    await pressOn("Record this machine");
    await page.getByText("Recorded as").waitFor();
    await expectAccessible("this machine, recorded");
    await pressOn("Continue");

    // The question has the focus: the next control is one Tab away.
    await page.locator("h2:focus", { hasText: "What should be scanned?" }).waitFor();
    for (const { cidr } of await read(page, "subnets")) {
      const box = page.getByRole("checkbox", { name: cidr, exact: true });
      if (!(await box.isChecked())) continue;
      await pressOn(cidr, "Space");
      await page.getByRole("checkbox", { name: cidr, exact: true, checked: false }).waitFor();
    }
    await pressOn("Continue");
    await page.getByText("Select a subnet, or enter an address or subnet.").waitFor();
    await page.getByLabel("Others").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await page.keyboard.type("127.77.4.9/29");
    await pressOn("Continue");
    await page.getByText("127.77.4.9/29 is an address within a subnet. Did you mean 127.77.4.8/29?").waitFor();
    await expectAccessible("invalid targets");
    await page.getByLabel("Others").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("127.77.4.8/29");
    await expectAccessible("targets");
    await pressOn("Continue");

    await page.locator("h2:focus", { hasText: "Which credentials may be used?" }).waitFor();
    await pressOn("An SNMP v2c community", "Space");
    await page.getByLabel("Community", { exact: true }).waitFor();
    await expectAccessible("a community");
    await page.keyboard.press("ArrowDown");
    await page.getByLabel("Authentication password").waitFor();
    await pressOn("Save and continue");
    await page.getByLabel("User").and(page.locator("[aria-invalid=true]:focus")).waitFor();
    await expectAccessible("invalid user");
    // Back to the choice above.
    for (let presses = 0; (await page.evaluate<string>(FOCUSED)) !== "An SNMP v3 user" && presses < 20; presses += 1)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("ArrowDown");
    await page.getByText("the map shows devices without links").waitFor();
    await expectAccessible("no credential");
    await pressOn("Continue");

    await page.locator("h2:focus", { hasText: "The first scan" }).waitFor();
    await page.getByText("none: sweep only, sends no credentials").waitFor();
    await expectAccessible("scan preview");
    await pressOn("Start the first scan");
    await page.getByRole("heading", { name: "What next" }).waitFor();
    await page.getByText("Done. 6 addresses responded.").waitFor();
    await page.getByRole("application", { name: /^Picture of the map: [67] devices, 0 links/ }).waitFor();
    await expectAccessible("result");
    expect(await read(page, "discovery/scans")).toEqual([
      expect.objectContaining({ kind: "sweep", targets: ["127.77.4.8/29"], status: "Completed" }),
    ]);
    // Later scans can read more: the link leads to the credentials step, with the selection kept.
    await pressOn("Add credentials and read devices over SNMP");
    await page.locator("h2:focus", { hasText: "Which credentials may be used?" }).waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test("continues at the same step once the subnets have loaded", async () => {
    const page = await serveAndClaim();
    const subnetsLoaded = Promise.withResolvers<void>();
    await page.route("**/api/v1/subnets?*", async (route) => {
      await subnetsLoaded.promise;
      await route.continue();
    });
    await page.getByRole("link", { name: "Skip this step" }).click();
    await waitForStep(page, "What should be scanned?");
    await page.getByLabel("Others").fill(SUBNET);
    await page.getByRole("button", { name: "Continue" }).click();
    await expectEventually(() => page.getByLabel("Others").inputValue(), SUBNET);
    subnetsLoaded.resolve();
    await waitForStep(page, "Which credentials may be used?");
    expect(visitor.problems()).toEqual([]);
  });

  test("corrects a wrong community, and loses only the secret on reload or session end", async () => {
    const page = await serveAndClaim();
    await chooseSubnet(page);
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill("forgotten");
    await page.waitForURL((url) => url.searchParams.get("credentials") === "v2c");
    await page.reload();
    await page.getByLabel("An SNMP v2c community").and(page.locator(":checked")).waitFor();
    await expectEventually(() => page.getByLabel("Community", { exact: true }).inputValue(), "");
    await page.getByRole("link", { name: "Back" }).click();
    await page.getByText("8 addresses in total.").waitFor();
    await expectEventually(() => page.getByLabel("Others").inputValue(), SUBNET);
    await page.goBack();
    await waitForStep(page, "Which credentials may be used?");
    expect(visitor.problems()).toEqual([]);

    await visitor.context.clearCookies();
    await page.getByLabel("Community", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Save and continue" }).click();
    await page.getByText("Your session has ended.").waitFor();
    await page.getByLabel("E-mail").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await waitForStep(page, "Which credentials may be used?");
    await page.getByLabel("An SNMP v2c community").and(page.locator(":checked")).waitFor();
    await expectEventually(() => page.getByLabel("Community", { exact: true }).inputValue(), "");
    expect(visitor.problems().every((problem) => problem.includes("401"))).toBe(true);

    await enterCommunity(page, "wrong");
    await scan(page);
    await page.getByText("No device responded to SNMP: 6 addresses were queried with “SNMP v2c, Main”.").waitFor();
    await page.getByText("2 addresses: no response: no SNMP, or wrong community").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    // The result stays.
    await page.reload();
    await page.getByText("No device responded to SNMP").waitFor();
    await page.getByRole("link", { name: "Add another credential" }).click();
    await enterCommunity(page, COMMUNITY);
    await scan(page);
    await page.getByText("2 devices by SNMP").waitFor();
    expect(await read(page, "credentials")).toHaveLength(2);
    expect(visitor.problems()).toEqual([]);
  });

  test("cancels a long scan, and sees errors from the appliance", async () => {
    const page = await serveAndClaim();
    const { searchParams } = new URL(page.url());
    const network = searchParams.get("network") ?? "";
    await page.goto(`${running.url}/start?network=${network}&step=scan`);
    await page.getByText("No scan targets selected.").waitFor();
    await page.goto(`${running.url}/start?network=${network}&step=scan&others=224.0.0.1&credentials=none`);
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByRole("alert").filter({ hasText: "224.0.0.1 is" }).waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(visitor.problems().every((problem) => problem.includes("400"))).toBe(true);
    await page.goto(`${running.url}/start?network=${network}&step=where&others=127.128.0.0/15`);
    await page.getByText("131,072 addresses in total.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("One target is larger than /16: scan it completely").and(page.locator(":focus")).waitFor();
    await page.getByText("Select this, or enter smaller subnets.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel("Others").fill("127.128.0.0/16");
    await page.getByText("65,536 addresses in total.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("None: sweep only").check();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).click();
    await page.getByText("responded so far").waitFor();
    await page.getByRole("button", { name: "Cancel this scan" }).click();
    await page.getByText("Canceled before it finished.").waitFor();
    expect(visitor.problems()).toEqual([]);
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
    const { visitor, page } = await appliance.visitAs(OWNER, "/");
    for (const path of ["/", "/hosts", "/discovery"]) {
      await page.goto(appliance.url + path);
      await page.getByRole("main").getByRole("link", { name: "Get started" }).click();
      await page.getByRole("heading", { level: 2, name: "Record this machine?" }).waitFor();
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
    await page.getByRole("heading", { level: 2, name: "Record this machine?" }).waitFor();
    expect(new URL(page.url()).searchParams.get("at")).toBeNull();
    await page.goto(`${appliance.url}/start?at=2030-01-01T00:00:00Z`);
    await page.getByText("Scans can't be started in the past.").waitFor();
    expect(visitor.problems()).toEqual([]);
  });

  test.each([
    ["Member", "You may scan the network's subnets:", "Discovery"],
    ["Viewer", "See what has been found so far:", "Hosts"],
  ])("is not offered to a %s, with a note on who may use it and links onward", async (role, notice, linkName) => {
    const { visitor, page } = await appliance.visitAs(`${role}@acme.example`, "/start?step=credentials");
    await page.getByText("For Admins").waitFor();
    await page.getByText(notice).waitFor();
    expect(await page.getByRole("main").getByRole("button").count()).toBe(0);
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: linkName }).click();
    await page.getByRole("heading", { level: 1, name: linkName }).waitFor();
    await page.goto(`${appliance.url}/`);
    await page.getByText("The inventory is empty. An Admin starts the first scan.").waitFor();
    expect(await page.getByRole("main").getByRole("link", { name: "Get started" }).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("option", { name: "Get started" }).count()).toBe(0);
    expect(visitor.problems()).toEqual([]);
  });

  test("applies to the selected network, reuses another's credential, and restarts for another network", async () => {
    const { client, organizationId, networkId } = appliance;
    const branch = await expectOk(client.post("networks", { organization_id: organizationId, name: "Branch" }));
    const credential = await expectOk(
      client.post("credentials", {
        organization_id: organizationId,
        name: "Everywhere",
        credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: COMMUNITY } },
        assigned_network_ids: [networkId],
        host_assignments: [],
        tags: [],
      }),
    );
    const lan = { network_id: branch.id, subnet_type: "Lan" };
    await expectOk(client.post("subnets", { ...lan, cidr: "10.7.0.0/24", name: "Desks" }));
    await expectOk(client.post("subnets", { ...lan, cidr: "10.8.0.0/16", name: "Halls" }));
    const { visitor, page } = await appliance.visitAs(OWNER, "/start");
    await page.getByText("A scan covers one network. Choose one:").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "Branch" }).click();
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "What to scan" }).click();
    await page.getByRole("checkbox", { name: "10.7.0.0/24", checked: true }).waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16", checked: false }).waitFor();
    await page.getByText("Halls · 65,536 addresses · large: takes a while").waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16" }).check();
    await page.getByText("65,792 addresses in total.").waitFor();
    await page.getByRole("checkbox", { name: "10.8.0.0/16" }).uncheck();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByLabel("A credential of another network").check();
    await page.getByLabel("Credential", { exact: true }).selectOption({ label: "Everywhere" });
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Start the first scan" }).waitFor();
    await page.getByText("Everywhere").waitFor();
    expect((await expectOk(client.get(`credentials/${credential.id}`))).assigned_network_ids.toSorted()).toEqual(
      [networkId, branch.id].toSorted(),
    );
    await page.getByRole("link", { name: "Change: Credentials" }).click();
    await page.getByLabel("Credentials of this network: Everywhere").and(page.locator(":checked")).waitFor();
    await page.getByRole("banner").getByLabel("Network").selectOption({ label: "Main" });
    await page.getByRole("heading", { level: 2, name: "Record this machine?" }).waitFor();
    await expectEventually(async () => [...new URL(page.url()).searchParams.keys()], ["network"]);
    expect(visitor.problems()).toEqual([]);
  });
});
