// Credentials in the test process, with an agent on loopback: a wrong one is found by a trial and corrected; recipients
// are listed before saving; secrets are never shown afterwards; all by role.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import { type Fill, visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { probesOf, startSwitch } from "../support/snmp/small-switch.ts";

const MEMBER = "member@acme.example";
const DEVICE = "127.0.9.1";
const [WRONG, RIGHT] = ["wr0ng-word-of-acme", "r1ght-word-of-acme"];

describe("a credential", () => {
  let agent: SnmpAgent;
  beforeAll(async () => {
    agent = await startSwitch(DEVICE, RIGHT);
  });
  const fill: Fill = async ({ addUser, client, networkId }) => {
    await addUser(MEMBER, "Member", [networkId]);
    const subnet = { network_id: networkId, cidr: "127.0.9.0/30", subnet_type: "Lan", tags: [] };
    await expectOk(client.post("subnets", subnet));
  };
  const { appliance, client, visitor, page } = visitForAll(fill, { scanning: () => ({ probes: probesOf(agent) }) });
  afterAll(() => agent.close());

  let urls: string[];
  beforeAll(() => {
    urls = visitor.requests();
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const open = (path: string, target = page) => target.goto(appliance.url + path);
  const records = async (path: string): Promise<JsonRecord[]> =>
    expectOk(client.get(path)) as unknown as Promise<JsonRecord[]>;
  const step = (name: string) =>
    page
      .locator(".trial-steps > li")
      .filter({ has: page.locator(".trial-name", { hasText: new RegExp(`^${name}$`) }) });

  /** Scans the device. @returns the completed scan's id */
  async function runScan(): Promise<string> {
    const discovery = new DiscoveryClient(client, appliance.organizationId);
    const request = { network_id: appliance.networkId, kind: "full", targets: [DEVICE] };
    return (await discovery.waitForEnd((await discovery.start(request)).id)).id;
  }

  /** Asserts that saved secrets are absent from the page, browser storage, URLs and the log. */
  async function expectNowhere(...secrets: readonly string[]): Promise<void> {
    const browserState = await page.evaluate<string>(
      "document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(({ value }) => value).join() + JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }) + location.href",
    );
    for (const secret of secrets) {
      expect(browserState).not.toContain(secret);
      expect(urls.join("\n")).not.toContain(secret);
      expect(appliance.testAppliance.logLines.join("\n")).not.toContain(secret);
    }
  }

  test("is created: its targets are shown first, and the secret never afterwards", async () => {
    await open("/settings/credentials");
    await page.getByText("No credentials").waitFor();
    await page.getByRole("button", { name: "New credential" }).click();
    const form = page.getByRole("form", { name: "New credential" });
    await form.getByText("No additional device receives the credential.").waitFor();
    await form.getByLabel("Name", { exact: true }).fill("Switches");
    const secret = form.getByLabel("Community", { exact: true });
    expect([await secret.getAttribute("type"), await secret.getAttribute("autocomplete")]).toEqual([
      "password",
      "new-password",
    ]);
    await secret.fill(WRONG);
    // No draft: after a reload the form is empty.
    await page.reload();
    await form.waitFor();
    await expectEventually(() => secret.inputValue(), "");
    await expectNowhere(WRONG);
    await form.getByLabel("Name", { exact: true }).fill("Switches");
    await secret.fill(WRONG);
    await form.getByLabel("Main", { exact: true }).check();
    await form.getByText("Main: it is now also sent to 1 subnet that accepts credentials: 127.0.9.0/30").waitFor();
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The credential Switches was created.").waitFor();
    await page.getByRole("row", { name: /Switches SNMPv2c 1 0/ }).waitFor();
    await expectNowhere(WRONG);
  });

  test("that is wrong fails a trial, is fixed, tried again, and finds the switch", async () => {
    await open(`/discovery/${await runScan()}`);
    await page.getByRole("heading", { name: "Result" }).waitFor();
    await page
      .getByText(/no response: no SNMP agent, or a wrong community/)
      .first()
      .waitFor();
    expect(await records("hosts?search=access-9")).toEqual([]);
    await open("/settings/credentials");
    await page.getByRole("link", { name: "Switches" }).click();
    await page.getByRole("heading", { name: "Recipients and reasons" }).waitFor();
    await page.getByRole("row", { name: "127.0.9.0/30 Sent accepts credentials" }).waitFor();
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await page.evaluate(
      "window.stepsWhileBusy = []; new MutationObserver(() => { if (document.querySelector('.trial button').disabled) window.stepsWhileBusy.push(document.querySelectorAll('.trial-steps > li').length) }).observe(document.querySelector('.trial'), { childList: true, subtree: true })",
    );
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("It does not work").waitFor();
    // Completed steps appeared before the rest.
    expect(await page.evaluate<number>("Math.min(...window.stepsWhileBusy.filter((count) => count > 0))")).toBeLessThan(
      5,
    );
    await step("Secret").getByText("passed").waitFor();
    await step("Authentication").getByText("unclear").waitFor();
    await step("Authentication")
      .getByText(/so it may be wrong, or the request may not have arrived/)
      .waitFor();
    await step("Sent by scans").getByText("passed").waitFor();

    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const form = page.getByRole("form", { name: "Edit the credential Switches" });
    await expectEventually(() => form.getByLabel("Keep the stored secret").isChecked(), true);
    expect(await form.getByLabel("New community").count()).toBe(0);
    await form.getByText("Undo restores everything except a secret: the old one is not stored.").waitFor();
    await form.getByLabel("Enter a new one; the old one is lost").check();
    await form.getByLabel("New community").fill(RIGHT);
    await form.getByText("The next scan sends the new secret to all its devices.").waitFor();
    await form.getByLabel("Why (stored in the history)").fill("CHG-31: the word was mistyped");
    await form.getByRole("button", { name: "Save" }).click();
    await page.getByText("The credential Switches was saved.").waitFor();
    await page.getByRole("row", { name: /changed: secret CHG-31: the word was mistyped/ }).waitFor();
    await expectNowhere(WRONG, RIGHT);

    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("It works").first().waitFor();
    await step("System group").getByText("access-9").waitFor();
    await step("System group").getByText("Acme Switch 48 <img src=x onerror=alert(1)>").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    await step("Interfaces")
      .getByText(/has 1 row/)
      .waitFor();
    expect(await records("hosts?search=access-9")).toEqual([]);

    await runScan();
    const [host] = await records("hosts?search=access-9");
    expect(host?.sys_name).toBe("access-9");
    await open(`/hosts/${host?.id}`);
    await page.getByRole("heading", { name: "access-9", level: 1 }).waitFor();
    await expectNowhere(WRONG, RIGHT);
  });

  test("is assigned to a host on the host's page, tried from there, and unassigned; undoing restores it", async () => {
    const [host] = await records("hosts?search=access-9");
    await open(`/hosts/${host?.id}?tab=credentials`);
    await page.getByRole("row", { name: /Switches SNMPv2c to its network/ }).waitFor();
    await page.getByRole("button", { name: "Assign a credential" }).click();
    await page.getByLabel("Selected addresses").check();
    await page.getByRole("button", { name: "Assign", exact: true }).click();
    await page.getByText("Choose at least one address, or all addresses.").waitFor();
    await page.getByRole("checkbox", { name: DEVICE }).check();
    await page.getByRole("button", { name: "Assign", exact: true }).click();
    await page.getByText("Switches is assigned to this host.").waitFor();
    const row = page.getByRole("row", { name: /to this host, to its network/ });
    await row.getByText("receives it").waitFor();
    await page.getByText("The assignments of this host were last changed by").waitFor();
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("It works").first().waitFor();
    const assignments = async () => (await expectOk(client.get(`hosts/${host?.id}`))).credential_assignments.length;
    expect(await assignments()).toBe(1);
    await page.getByRole("button", { name: "Unassign Switches" }).click();
    await page
      .getByRole("form", { name: /Unassign Switches from/ })
      .getByRole("button", { name: "Unassign" })
      .click();
    await page.getByText("Switches is no longer assigned to this host.").waitFor();
    expect(await assignments()).toBe(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await expectEventually(assignments, 1);
  });

  test("is visible to a Member without Admin actions, which the API refuses too", async () => {
    const [credential] = await records("credentials");
    const { visitor: member, page: memberPage } = await appliance.openAs(
      MEMBER,
      `/settings/credentials/${credential?.id}`,
    );
    await memberPage.getByRole("heading", { name: "Switches", level: 1 }).waitFor();
    await memberPage.getByRole("row", { name: /127.0.9.0\/30/ }).waitFor();
    await memberPage.getByText("changed: secret").waitFor();
    for (const name of ["Edit", "Delete", "Try it"])
      expect(await memberPage.getByRole("button", { name, exact: true }).count()).toBe(0);
    await open("/settings/credentials", memberPage);
    await memberPage.getByRole("link", { name: "Switches" }).waitFor();
    expect(await memberPage.getByRole("button", { name: "New credential" }).count()).toBe(0);
    const [host] = await records("hosts?search=access-9");
    await open(`/hosts/${host?.id}?tab=credentials`, memberPage);
    await memberPage.getByRole("row", { name: /Switches/ }).waitFor();
    expect(await memberPage.getByRole("button", { name: /^(Assign|Unassign|Try)/ }).count()).toBe(0);
    expect(member.problems()).toEqual([]);
    const rejection = await memberPage.request.post(`${appliance.url}/api/v1/credentials/${credential?.id}/try`, {
      data: { network_id: appliance.networkId, ip_address: DEVICE },
    });
    expect(rejection.status()).toBe(403);
  });

  test("for SNMPv3 accepts each of its passwords separately, and is deleted after listing the consequences", async () => {
    await open("/");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill("new credential");
    await page.getByRole("option", { name: "New credential" }).first().waitFor();
    await page.keyboard.press("Enter");
    const form = page.getByRole("form", { name: "New credential" });
    await form.getByLabel("Name", { exact: true }).fill("Routers");
    await form.getByLabel("Type", { exact: true }).selectOption("SnmpV3");
    await form.getByLabel("User (security name)").fill("poller");
    await form.getByLabel("Authentication password", { exact: true }).fill(WRONG);
    await form.getByLabel("Authentication", { exact: true }).selectOption("Sha512");
    await form
      .getByRole("group", { name: /^Privacy password/ })
      .getByLabel("Read it from a file")
      .check();
    await form.getByLabel("Privacy password: path of the file").fill("routers/priv");
    await form.getByLabel("Main", { exact: true }).check();
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The credential Routers was created.").waitFor();
    const routers = (await records("credentials")).find(({ name }) => name === "Routers");
    expect(routers?.credential_type).toEqual({
      type: "SnmpV3",
      security_name: "poller",
      auth_protocol: "Sha512",
      auth_password: { mode: "Inline", value: "********" },
      priv_protocol: "Aes128",
      priv_password: { mode: "FilePath", path: "routers/priv" },
    });
    await page.getByRole("link", { name: "Routers" }).click();
    await page.getByText("in the file routers/priv").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await page.getByRole("button", { name: "Try it" }).click();
    await step("Secret")
      .getByText(/no folder of secrets is configured/)
      .waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("The credential is assigned to 1 network and will no longer be sent there.").waitFor();
    await page.getByRole("button", { name: "Delete the credential" }).click();
    await page.getByText("The credential Routers was deleted.").waitFor();
    expect((await records("credentials")).map(({ name }) => name)).toEqual(["Switches"]);
    await page.getByRole("link", { name: "Show history" }).click();
    await page.getByRole("heading", { name: "Routers", level: 1 }).waitFor();
    await expectNowhere(WRONG, RIGHT);
  });
});
