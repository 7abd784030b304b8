// What is beyond somebody's reach, in Chromium, on the executable, by the rights that they have: a Viewer of one network
// of two, and a Member whose network is taken away while they look.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { type FilledNetwork, fillNetwork } from "../support/browser/networks.ts";
import { ensureExecutable, PASSWORD, Workplace } from "../support/executable/executable.ts";

const VIEWER = "night@acme.example";
const MEMBER = "day@acme.example";

/** Nothing of what is beyond is asked for but whether it ever was; that the browser says without an address. */
const NOT_THERE = /^404 for \S+\/(history\?|transactions\/\d+)|status of 404/;

describe.skipIf(!hasChromium)("what is beyond one's reach", () => {
  let workplace: Workplace;
  let appliance: Awaited<ReturnType<Workplace["serveSetUp"]>>;
  let origin: string;
  let own: FilledNetwork;
  let vault: Wire;
  let beyond: FilledNetwork;
  /** Of transactions: the last one of the vault, with the viewer's own before and after it. */
  let ofVault: number;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    origin = appliance.running.url;
    const { client, networkId, organizationId } = appliance;
    own = await fillNetwork(client, networkId);
    vault = await made(client.post("networks", { organization_id: organizationId, name: "Vault" }));
    beyond = await fillNetwork(client, vault.id);
    ofVault = (await made(client.get("ledger"))).sequence;
    await made(client.post("vlans", { network_id: networkId, number: 77, name: "Later" }));
    const password = ["--password-file", await workplace.passwordFile()];
    for (const user of [
      ["--email", VIEWER, "--role", "Viewer", "--networks", networkId],
      ["--email", MEMBER, "--role", "Member", "--networks", `${networkId},${vault.id}`],
    ])
      expect(await workplace.command("user", "create", ...user, ...password)).toMatchObject({ code: 0 });
  });

  afterAll(async () => {
    await closeBrowser();
    await workplace.close();
  });

  test("a Viewer sees every page of his network, is refused nothing on the way, and nothing of the other is told", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(VIEWER, PASSWORD);
    for (const [address, heading] of [
      ["/", "Find"],
      ["/hosts", "Hosts"],
      [`/hosts/${own.switchId}`, "access-1"],
      [`/hosts/${own.switchId}?tab=history`, "access-1"],
      ["/interfaces", "Interfaces"],
      [`/interfaces/${own.flapped.id}`, "Gi1/0/7"],
      ["/addresses", "Addresses"],
      ["/services", "Services"],
      ["/subnets", "Subnets"],
      ["/subnets/list", "Subnets"],
      [`/subnets/${own.subnet.id}`, "10.2.3.0/28"],
      ["/vlans", "VLANs"],
      [`/vlans/${own.vlan.id}`, "VLAN 20"],
      ["/conflicts", "Conflicts"],
      ["/map", "Map"],
      ["/changes", "Changes"],
      ["/changes?tab=activity", "Changes"],
      ["/compare?vs=2020-01-01T00:00:00Z", "Compare"],
      ["/discovery", "Discovery"],
      ["/discovery/schedules", "Schedules"],
      ["/discovery/ignored", "Ignored"],
      ["/ledger", "Ledger"],
    ] as const) {
      await page.goto(origin + address);
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      expect([address, await page.getByText("Vault").count()]).toEqual([address, 0]);
      expect([address, visitor.troubles()]).toEqual([address, []]);
    }
    await page.getByText("What verifications found is for Owners").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await visitor.leave();
  });

  test("the addresses of what is in the other network say what of what is nowhere, and lead on", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(VIEWER, PASSWORD);
    for (const address of [
      `/hosts/${beyond.switchId}`,
      `/interfaces/${beyond.flapped.id}`,
      `/subnets/${beyond.subnet.id}`,
      `/vlans/${beyond.vlan.id}`,
      `/hosts/${beyond.switchId}?at=${beyond.beforeFlap}`,
      `/changes/${ofVault}`,
    ]) {
      await page.goto(origin + address);
      await page.getByText("within your reach.").waitFor();
      expect([address, await accessibilityFindings(page)]).toEqual([address, []]);
    }
    // The next of his own.
    await page.getByRole("link", { name: "After it" }).click();
    await page.getByRole("heading", { name: `Transaction ${ofVault + 1}` }).waitFor();
    await page.getByText("new VLAN 77 Later").waitFor();
    await page.getByRole("link", { name: "Before it" }).click();
    await page.locator(".difference").getByText("Gi1/0/8 of access-1").waitFor();
    expect(Number(page.url().split("/").at(-1))).toBeLessThan(ofVault);
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
    await visitor.leave();
  });

  test("whoever reaches several networks chooses the one whose map is drawn", async () => {
    const visitor = await Visitor.arrive(origin);
    const page = await visitor.signIn(MEMBER, PASSWORD, "/map");
    const networks = page.getByRole("main").getByRole("listitem");
    await networks.getByRole("link", { name: "Vault" }).waitFor();
    await settles(() => networks.count(), 2);
    expect(await accessibilityFindings(page)).toEqual([]);
    await networks.getByRole("link", { name: "Vault" }).click();
    await page.waitForURL(`**/map?network=${vault.id}`);
    await networks.first().waitFor({ state: "detached" });
    expect(visitor.troubles()).toEqual([]);
    await visitor.leave();
  });

  test("a network that is taken away while one looks is gone from the page, also of the past that one saw", async () => {
    const visitor = await Visitor.arrive(origin);
    const then = `/hosts/${beyond.switchId}?at=${beyond.beforeFlap}`;
    const page = await visitor.signIn(MEMBER, PASSWORD, then);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    const { client, networkId } = appliance;
    const users = (await made(client.get("users?limit=0"))) as unknown as Wire[];
    const { id, email, name, role, is_enabled } = users.find((each) => each.email === MEMBER) as Wire;
    await made(client.put(`users/${id}`, { id, email, name, role, is_enabled, network_ids: [networkId] }));
    await page.keyboard.press("t");
    await page.getByText("There is no such host, or it is not within your reach.").waitFor();
    await page.goto(origin + then);
    await page.getByText("There is no such host, or it is not within your reach.").waitFor();
    expect(await page.getByText("access-1").count()).toBe(0);
    expect(visitor.troubles().filter((each) => !NOT_THERE.test(each))).toEqual([]);
    await visitor.leave();
  });
});
