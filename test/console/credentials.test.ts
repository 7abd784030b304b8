// Credential pages under axe-core in Chromium, on the executable, with an agent on loopback: create, try, assign and
// delete. Texts and behavior are in credentials-in-process.test.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { made, type Wire } from "../support/appliance/factories.ts";
import { expectAccessibleInBoth, hasChromium } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";
import { DiscoveryClient } from "../support/executable/discovery-client.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { startSwitch } from "../support/snmp/small-switch.ts";

const DEVICE = "127.0.9.1";
const [WRONG, RIGHT] = ["wr0ng-word-of-acme", "r1ght-word-of-acme"];

describe.skipIf(!hasChromium)("accessible credential pages", () => {
  let agent: SnmpAgent;
  let discovery: DiscoveryClient;
  beforeAll(async () => {
    agent = await startSwitch(DEVICE, RIGHT);
  });
  afterAll(() => agent.close());
  const fill: Fill = async ({ client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    const subnet = { network_id: networkId, cidr: "127.0.9.0/30", subnet_type: "Lan", tags: [] };
    await made(client.post("subnets", subnet));
  };
  const { appliance, client, visitor, page } = visitForAll(fill, {
    args: () => ["--snmp-port", String(agent.port)],
    path: "/settings/credentials?new=credential",
  });

  const open = (path: string) => page.goto(appliance.url + path);
  const tryIt = async (outcome: string) => {
    await page.getByRole("button", { name: /^Try it/ }).click();
    await page.getByText(outcome).first().waitFor();
  };

  test("while one is created, in the list, and in a failed and a successful trial", async () => {
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
    await tryIt("It does not work");
    await expectAccessibleInBoth(page);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Type a new one: the old one is forgotten").check();
    await page.getByLabel("New community").fill(RIGHT);
    await page.getByLabel("Why (kept in history)").fill("CHG-31: the word was mistyped");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The credential Switches was saved.").waitFor();
    await page.getByRole("row", { name: /changed: secret CHG-31: the word was mistyped/ }).waitFor();
    await page.getByLabel("Address", { exact: true }).fill(DEVICE);
    await tryIt("It works");
    await expectAccessibleInBoth(page);
    expect(visitor.troubles()).toEqual([]);
  });

  test("while one is assigned to a host, and tried from there", async () => {
    await discovery.scanned({ network_id: appliance.networkId, kind: "snmp", targets: [DEVICE] });
    const [host] = (await client.get("hosts?search=access-9")).data as unknown as Wire[];
    await open(`/hosts/${host?.id}?tab=credentials`);
    await page.getByRole("button", { name: "Assign a credential" }).click();
    await page.getByLabel("Only these").check();
    await page.getByRole("button", { name: "Assign it" }).click();
    await page.getByText("Choose at least one address, or every address.").waitFor();
    await page.getByRole("checkbox", { name: DEVICE }).check();
    await expectAccessibleInBoth(page);
    await page.getByRole("button", { name: "Assign it" }).click();
    await page.getByText("Switches is assigned to this host.").waitFor();
    await tryIt("It works");
    await expectAccessibleInBoth(page);
    expect(visitor.troubles()).toEqual([]);
  });

  test("while one of SNMPv3 is tried, and deleted", async () => {
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
    await tryIt("no folder of secrets is configured");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("It is assigned to 1 network: it is no longer sent there.").waitFor();
    await expectAccessibleInBoth(page);
    for (const secret of [WRONG, RIGHT]) expect(appliance.running.log).not.toContain(secret);
    expect(visitor.troubles()).toEqual([]);
  });
});
