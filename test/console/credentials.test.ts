// Credential pages under axe-core in Chromium, on the executable, with an agent on loopback: create, try, assign and
// delete. credentials-in-process.test.ts covers text and behavior.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { expectAccessibleInBoth, hasChromium } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { startSwitch } from "../support/snmp/small-switch.ts";

const DEVICE = "127.0.9.1";
const [WRONG, RIGHT] = ["wr0ng-word-of-acme", "r1ght-word-of-acme"];

describe.skipIf(!hasChromium)("credential pages", () => {
  let agent: SnmpAgent;
  let discovery: DiscoveryClient;
  beforeAll(async () => {
    agent = await startSwitch(DEVICE, RIGHT);
  });
  afterAll(() => agent.close());
  const fill: Fill = async ({ client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    const subnet = { network_id: networkId, cidr: "127.0.9.0/30", subnet_type: "Lan", tags: [] };
    await expectOk(client.post("subnets", subnet));
  };
  const { appliance, client, visitor, page } = visitForAll(fill, {
    args: () => ["--snmp-port", String(agent.port)],
    path: "/settings/credentials?new=credential",
  });

  afterEach(() => expect(visitor.problems()).toEqual([]));

  const open = (path: string) => page.goto(appliance.url + path);
  const runTrial = async (outcome: string) => {
    await page.getByRole("button", { name: /^Try (it|again)$/ }).click();
    await page.getByText(outcome).first().waitFor();
  };

  test("the form, the list, and a failed and a successful trial pass axe-core", async () => {
    const form = page.getByRole("form", { name: "New credential" });
    await form.getByLabel("Name", { exact: true }).fill("Switches");
    await form.getByLabel("Community", { exact: true }).fill(WRONG);
    await form.getByLabel("Main", { exact: true }).check();
    await form.getByText("Main: it is now also sent to 1 subnet that accepts credentials").waitFor();
    await expectAccessibleInBoth(page);
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The credential Switches was created.").waitFor();
    await page.getByRole("row", { name: /Switches SNMPv2c 1 0/ }).waitFor();
    await expectAccessibleInBoth(page);
    await page.getByRole("link", { name: "Switches" }).click();
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await runTrial("It does not work");
    await expectAccessibleInBoth(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Enter a new one; the old one is lost").check();
    await page.getByLabel("New community").fill(RIGHT);
    await page.getByLabel("Why (stored in the history)").fill("CHG-31: the word was mistyped");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The credential Switches was saved.").waitFor();
    await page.getByRole("row", { name: /changed: secret CHG-31: the word was mistyped/ }).waitFor();
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await runTrial("It works");
    await expectAccessibleInBoth(page);
  });

  test("an assignment to a host, and a trial from its page pass axe-core", async () => {
    await discovery.runScan({ network_id: appliance.networkId, kind: "snmp", targets: [DEVICE] });
    const [host] = (await client.get("hosts?search=access-9")).data as unknown as JsonRecord[];
    await open(`/hosts/${host?.id}?tab=credentials`);
    await page.getByRole("button", { name: "Assign a credential" }).click();
    await page.getByLabel("Selected addresses").check();
    await page.getByRole("button", { name: "Assign", exact: true }).click();
    await page.getByText("Choose at least one address, or all addresses.").waitFor();
    await page.getByRole("checkbox", { name: DEVICE }).check();
    await expectAccessibleInBoth(page);
    await page.getByRole("button", { name: "Assign", exact: true }).click();
    await page.getByText("Switches is assigned to this host.").waitFor();
    await runTrial("It works");
    await expectAccessibleInBoth(page);
  });

  test("the trial and the deletion of an SNMPv3 credential pass axe-core", async () => {
    const type = {
      type: "SnmpV3",
      security_name: "poller",
      auth_protocol: "Sha512",
      auth_password: { mode: "Inline", value: WRONG },
      priv_protocol: "Aes128",
      priv_password: { mode: "FilePath", path: "routers/priv" },
    };
    const { id } = await discovery.credential(type, [appliance.networkId], { name: "Routers" });
    await open(`/settings/credentials/${id}`);
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await runTrial("no folder of secrets is configured");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("The credential is assigned to 1 network and will no longer be sent there.").waitFor();
    await expectAccessibleInBoth(page);
    for (const secret of [WRONG, RIGHT]) expect(appliance.running.log).not.toContain(secret);
  });
});
