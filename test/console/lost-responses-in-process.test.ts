// Lost responses in the test process: a write without a response is retried and executed once, for every form that
// creates records; typed text survives a reload, except for secrets.

import { afterEach, describe, expect, test } from "bun:test";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { loseResponse } from "../support/browser/lost-responses.ts";
import type { Route } from "../support/page/network.ts";
import { visitForAll } from "../support/page/visit.ts";
import { expectEventually } from "../support/page/waiting.ts";

describe("on a network that loses responses", () => {
  const { appliance, client, visitor, page } = visitForAll();

  afterEach(async () => {
    await page.unrouteAll({ behavior: "wait" });
    visitor.problems();
  });

  const open = (path: string) => page.goto(appliance.url + path);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const list = async (path: string) => (await expectOk(client.get(path))) as unknown as JsonRecord[];

  test("a record is deleted once with its dependents, despite retries", async () => {
    const network = await expectOk(client.post("networks", { name: "Branch" }));
    const vlan = await expectOk(client.post("vlans", { network_id: network.id, number: 30, name: "Till" }));
    await expectOk(
      client.post("subnets", { network_id: network.id, cidr: "10.30.0.0/24", vlan_id: vlan.id, name: "x" }),
    );
    await open(`/vlans/${vlan.id}`);
    await button("Delete").click();
    await page.getByRole("heading", { name: "Delete VLAN 30 Till" }).waitFor();
    await button("Delete").click();
    await page.getByRole("alert").getByText("in use").waitFor();
    await loseResponse(page, `/api/v1/vlans/${vlan.id}?cascade=true`, "DELETE");
    await button("Delete anyway").click();
    await page.getByText("We couldn't confirm that the change was saved.").waitFor();
    await button("Delete anyway").click();
    await page.getByRole("heading", { name: "This VLAN no longer exists" }).waitFor();
    expect(await list(`vlans/${vlan.id}/history`)).toMatchObject([{ operation: "Deleted" }, { operation: "Created" }]);
  });

  test("records are deleted in bulk once with their dependents, despite retries", async () => {
    const network = await expectOk(client.post("networks", { name: "Depot" }));
    for (const number of [40, 41]) {
      const vlan = await expectOk(client.post("vlans", { network_id: network.id, number, name: `v${number}` }));
      const cidr = `10.${number}.0.0/24`;
      await expectOk(client.post("subnets", { network_id: network.id, cidr, vlan_id: vlan.id, name: "x" }));
    }
    await open(`/vlans?network=${network.id}&filter=${encodeURIComponent("number >= 40")}`);
    await button("Delete").click();
    await button("Delete 2 VLANs").click();
    await page.getByRole("alert").getByText("in use").waitFor();
    await loseResponse(page, "/api/v1/vlans/bulk-delete?cascade=true");
    await button("Delete anyway").click();
    await page.getByText("It's safe to retry: nothing is done twice.").waitFor();
    await button("Delete anyway").click();
    await page.getByText("Deleted.").waitFor();
    expect(await list(`vlans?network_id=${network.id}`)).toEqual([]);
  });

  test("a user's other preferences are kept if they could not be read before one is set", async () => {
    const { data: host } = await client.post("hosts", { network_id: appliance.networkId, name: "pinned" });
    const storedPreferences = async () => {
      const response = await page.request.get(`${appliance.url}/api/auth/preferences`);
      return ((await response.json()) as { readonly data: Readonly<Record<string, unknown>> }).data;
    };
    await page.request.put(`${appliance.url}/api/auth/preferences`, {
      data: { "views.hosts": [{ name: "Mine", filter: "name = a" }] },
      headers: { origin: appliance.url },
    });
    const before = await storedPreferences();
    const preferences = "**/api/auth/preferences";
    await page.route(preferences, (route) => (route.request().method() === "GET" ? route.abort() : route.continue()));
    await open(`/hosts/${host.id}`);
    await button("Pin").click();
    await page.getByText("The appliance did not respond").first().waitFor();
    expect(await storedPreferences()).toEqual(before);
    await page.unroute(preferences);
    await button("Pin").click();
    await button("Pinned").waitFor();
    expect(await storedPreferences()).toEqual({ ...before, pins: [{ kind: "hosts", id: host.id }] });
  });

  test("a form is locked while sending, and keeps focus after a rejection", async () => {
    const { data: host } = await client.post("hosts", { network_id: appliance.networkId, name: "held" });
    await open(`/hosts/${host.id}`);
    await button("Edit").click();
    const field = page.locator("#edit-name");
    await field.fill("held-1");
    const release = Promise.withResolvers<void>();
    await page.route(`**/api/v1/hosts/${host.id}`, async (route) => {
      if (route.request().method() !== "PUT") return route.continue();
      await release.promise;
      return route.fulfill({ status: 503, body: "" });
    });
    await field.press("Enter");
    await page.getByRole("button", { name: "Saving…" }).waitFor();
    await page.keyboard.type("lost");
    expect(await field.inputValue()).toBe("held-1");
    release.resolve();
    await page.locator(".problem").waitFor();
    await page.keyboard.type("7");
    await expectEventually(() => field.inputValue(), "held-17");
    await button("Cancel").click();
  });

  test("a new record stays editable after the API rejects it", async () => {
    await expectOk(client.post("tags", { name: "taken", color: "Red" }));
    await open("/settings/tags?new=tag");
    await page.locator("#edit-name").fill("taken");
    await button("Create").click();
    await page.locator(".problem").waitFor();
    await page.locator("#edit-name").fill("free");
    await button("Create").click();
    await page.locator(".edit-saved").waitFor();
    expect(await list("tags?search=free")).toHaveLength(1);
  });

  test("an API key is created once, even if the page is reloaded before the response", async () => {
    await loseResponse(page, "/api/v1/auth/keys");
    await open("/settings/keys");
    await button("New key").click();
    const form = page.getByRole("form", { name: "New key" });
    await form.getByLabel("Name", { exact: true }).fill("Monitoring by day");
    await form.getByLabel("Expires").fill("2099-12-31");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("We couldn't confirm that the request was carried out.").waitFor();
    await page.reload();
    await form.getByText("We couldn't confirm that the request was carried out.").waitFor();
    await expectEventually(() => form.getByLabel("Name", { exact: true }).inputValue(), "Monitoring by day");
    await button("Send again").click();
    await page.getByText("The key Monitoring by day was created.").waitFor();
    const key = (await page.locator(".command").textContent())?.match(/nlk_\w+/)?.[0] ?? "";
    expect((await appliance.running.withKey(key).get("tags")).status).toBe(200);
    const response = await page.request.get(`${appliance.url}/api/v1/auth/keys?limit=0`);
    const { data } = (await response.json()) as { readonly data: readonly { readonly name: string }[] };
    expect(data.filter(({ name }) => name === "Monitoring by day")).toHaveLength(1);
  });

  /** The credentials step of the first run, with a community typed and submitted. */
  async function enterCommunity(networkId: string, community: string): Promise<void> {
    await open(`/start?network=${networkId}&step=credentials&others=127.77.9.0/30`);
    await page.getByLabel("An SNMP v2c community").check();
    await page.getByLabel("Community", { exact: true }).fill(community);
    await button("Save and continue").click();
  }
  const UNCERTAIN_NOTICE = "It is unknown whether the credential was saved.";
  const credentialsOf = async (networkId: string) =>
    (await list("credentials?limit=0")).filter(({ assigned_network_ids }) => assigned_network_ids.includes(networkId));
  const newNetwork = async (name: string) => (await expectOk(client.post("networks", { name }))).id as string;
  const browserState = () =>
    page.evaluate<string>("JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])");

  test("the setup credential is saved once despite retries, with or without a reload", async () => {
    for (const [name, retry] of [
      ["Stayed", async () => undefined],
      [
        "Reloaded",
        async () => {
          await page.reload();
          await page.getByText(UNCERTAIN_NOTICE).waitFor();
          await expectEventually(() => page.getByLabel("Community", { exact: true }).inputValue(), "");
        },
      ],
    ] as const) {
      const networkId = await newNetwork(name);
      // The request never arrived there.
      await page.route("**/api/v1/credentials", (route) =>
        route.request().method() === "POST" ? route.abort() : route.continue(),
      );
      await enterCommunity(networkId, "see-and-tell");
      await page.getByText(UNCERTAIN_NOTICE).waitFor();
      await page.unrouteAll({ behavior: "wait" });
      await retry();
      await page.getByLabel("Community", { exact: true }).fill("see-and-tell");
      await button("Save and continue").click();
      await button("Start the first scan").waitFor();
      expect(await credentialsOf(networkId)).toHaveLength(1);
      expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    }
  });

  test("a second setup credential is not saved next to a late one, regardless of what is typed then", async () => {
    const networkId = await newNetwork("Late");
    const lateRequest = Promise.withResolvers<Route>();
    await page.route("**/api/v1/credentials", (route) =>
      route.request().method() === "POST" ? lateRequest.resolve(route) : route.continue(),
    );
    await enterCommunity(networkId, "the-first-one");
    const route = await lateRequest.promise;
    const { headers, body } = { headers: await route.request().allHeaders(), body: route.request().postData() };
    await route.abort();
    await page.getByText(UNCERTAIN_NOTICE).waitFor();
    await page.reload();
    await page.getByText(UNCERTAIN_NOTICE).waitFor();
    await page.unrouteAll({ behavior: "wait" });
    const sentHeaders = Object.fromEntries(
      ["content-type", "idempotency-key", "x-request-id", "x-change-reason"].map((name) => [name, headers[name] ?? ""]),
    );
    const response = await page.request.post(`${appliance.url}/api/v1/credentials`, {
      headers: sentHeaders,
      data: body ?? "",
    });
    expect(response.status()).toBe(200);
    await page.getByLabel("Community", { exact: true }).fill("another-one");
    await button("Save and continue").click();
    await page.getByText("The credential you sent before was saved.").waitFor();
    await page.getByLabel("Credentials of this network: SNMP v2c, Late").and(page.locator(":checked")).waitFor();
    expect(await credentialsOf(networkId)).toHaveLength(1);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });

  test("addresses are allocated once", async () => {
    const { id } = await expectOk(
      client.post("subnets", { network_id: appliance.networkId, cidr: "10.40.0.0/29", name: "Lost" }),
    );
    await loseResponse(page, `/api/v1/subnets/${id}/allocate`);
    await open(`/subnets/${id}`);
    await button("Allocate next free").click();
    await button("Reserve").click();
    await page.getByText("Safe to retry: addresses are allocated only once.").waitFor();
    await button("Reserve").click();
    await page.getByText("Allocated: 10.40.0.1").waitFor();
    expect(await list(`ip-ranges?subnet_id=${id}`)).toHaveLength(1);
  });

  test("one backup is taken, and a selection after a lost response is bound correctly", async () => {
    await loseResponse(page, "/api/v1/backups");
    await open("/settings/backups");
    await button("Take a backup").click();
    await page.locator(".problem").waitFor();
    await expectEventually(() => button("Take a backup").isEnabled(), true);
    await button("Take a backup").click();
    await page.getByText("is being taken.").waitFor();
    expect(
      (await page.request.get(`${appliance.url}/api/v1/backups`).then((response) => response.json())).data,
    ).toHaveLength(1);
    const host = await expectOk(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "bound",
        ports: [80, 443].map((number) => ({ number, protocol: "Tcp" })),
        services: [{ name: "site", service_definition: "Http" }],
      }),
    );
    await loseResponse(page, "/api/v1/bindings");
    await open(`/hosts/${host.id}?tab=services`);
    await button("Bind site").click();
    const port = page.getByRole("combobox", { name: "Port", exact: true });
    await port.selectOption({ label: "80/Tcp" });
    await button("Bind").click();
    await page.locator(".problem").waitFor();
    await port.selectOption({ label: "443/Tcp" });
    await button("Bind").click();
    await page.getByRole("listitem").filter({ hasText: "443/Tcp at" }).waitFor();
    expect(await list(`bindings?host_id=${host.id}`)).toHaveLength(2);
  });

  test("a partial credential survives a reload: its type, hosts and networks, but no secret", async () => {
    const host = await expectOk(client.post("hosts", { network_id: appliance.networkId, name: "asked-by-v3" }));
    await open("/settings/credentials?new=credential");
    const form = page.getByRole("form", { name: "New credential" });
    await form.getByLabel("Name", { exact: true }).fill("Monitoring");
    await form.getByLabel("Type", { exact: true }).selectOption("SnmpV3");
    await form.getByLabel("User (security name)").fill("watcher");
    await form.getByLabel("Privacy", { exact: true }).selectOption("Aes256");
    await form.getByRole("group", { name: "Authentication password" }).getByLabel("Read it from a file").check();
    await form.getByLabel("Authentication password: path of the file").fill("v3-auth");
    await form.getByLabel("Privacy password", { exact: true }).fill("a secret of SNMP");
    await form.getByLabel("Add a host").fill("asked-by-v3");
    const option = form.locator('datalist option[value^="asked-by-v3"]');
    await option.waitFor({ state: "attached" });
    await form.getByLabel("Add a host").fill((await option.getAttribute("value")) ?? "");
    await form.getByRole("link", { name: "asked-by-v3" }).waitFor();
    await page.reload();
    await form.getByText("Your input was restored.").waitFor();
    expect(await browserState()).not.toContain("a secret");
    await expectEventually(() => form.getByLabel("User (security name)").inputValue(), "watcher");
    await expectEventually(() => form.getByLabel("Privacy", { exact: true }).inputValue(), "Aes256");
    await expectEventually(() => form.getByLabel("Authentication password: path of the file").inputValue(), "v3-auth");
    await expectEventually(() => form.getByLabel("Privacy password", { exact: true }).inputValue(), "");
    await form.getByRole("link", { name: "asked-by-v3" }).waitFor();
    await form.getByLabel("Privacy password", { exact: true }).fill("a secret of SNMP");
    await form.getByRole("button", { name: "Create" }).click();
    await page.getByText("The credential Monitoring was created.").waitFor();
    const credentials = await list("credentials?limit=0");
    expect(credentials.filter(({ name }) => name === "Monitoring")).toMatchObject([
      {
        credential_type: { type: "SnmpV3", security_name: "watcher", priv_protocol: "Aes256" },
        host_assignments: [{ host_id: host.id }],
      },
    ]);
  });

  test("a partial organization edit survives a reload", async () => {
    await open("/settings/organization");
    await button("Edit the organization").click();
    const form = page.locator("form.plan");
    await form.getByLabel("Name", { exact: true }).fill("Acme of tomorrow");
    await form.getByRole("checkbox").check();
    await page.reload();
    await button("Edit the organization").click();
    await form.getByText("Your input was restored.").waitFor();
    await expectEventually(() => form.getByLabel("Name", { exact: true }).inputValue(), "Acme of tomorrow");
    await expectEventually(() => form.getByRole("checkbox").isChecked(), true);
    await form.getByRole("button", { name: "Discard" }).click();
    await button("Edit the organization").click();
    await expectEventually(() => form.getByRole("checkbox").isChecked(), false);
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
  });
});
