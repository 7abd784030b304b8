// Required change reasons in the console, in Chromium, on the executable: every write has a field for one, and no typed
// text is lost. required-reasons-in-process.test.ts covers enabling and effects.

import { describe, expect, test } from "bun:test";
import { Glob } from "bun";
import type { Locator } from "playwright-core";
import { newUnclaimedAppliance } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import {
  accessibilityFindings,
  expectAccessibleInBoth,
  expectEventually,
  hasChromium,
} from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";

/** Console writes without a reason although the API accepts one, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  "PUT /api/auth/password": "a user's own password needs no reason",
  "POST /api/auth/setup": "there is no organization yet",
  "POST /api/v1/ip-addresses/{id}/check": "discovery writes the result",
};

describe("every console write", () => {
  /** Source text of a call, from the method name to the closing parenthesis. */
  function callAt(text: string, start: number): string {
    let depth = 0;
    for (let position = text.indexOf("(", start); position < text.length; position += 1) {
      if (text[position] === "(") depth += 1;
      if (text[position] === ")") depth -= 1;
      if (depth === 0) return text.slice(start, position + 1);
    }
    return text.slice(start);
  }

  test("sends a reason if the API stores it, or is exempt for a stated reason", async () => {
    const appliance = newUnclaimedAppliance();
    const reasonedWrites = new Set(
      appliance.surface.routes
        .filter(({ method, operation }) => method !== "GET" && operation.writesNoTransaction !== true)
        .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`),
    );
    await appliance.close();
    const root = new URL("../../src/console/", import.meta.url).pathname;
    const found: string[] = [];
    const missingReason: string[] = [];
    for await (const file of new Glob("**/*.{ts,tsx}").scan(root)) {
      const text = await Bun.file(root + file).text();
      for (const { index } of text.matchAll(/\.(?:POST|PUT|DELETE|PATCH)\(|fetch\(/g)) {
        const call = callAt(text, index);
        const method = /^\.(\w+)\(/.exec(call)?.[1] ?? /method: "(\w+)"/.exec(call)?.[1];
        if (method === undefined || method === "HEAD") continue;
        const path = /"(\/api\/[^"]+)"/.exec(call)?.[1];
        const name = path === undefined ? `${method} of ${file}` : `${method} ${path}`;
        found.push(name);
        if (path !== undefined && !reasonedWrites.has(name)) continue;
        // The header is sent with the write, or built just before.
        const sendsReason = call.includes("reasonHeader(") || /\bheaders\b(?!:)/.test(call);
        if (!sendsReason && !(name in WITHOUT)) missingReason.push(name);
      }
    }
    expect(missingReason).toEqual([]);
    expect(Object.keys(WITHOUT).filter((name) => !found.includes(name) || !reasonedWrites.has(name))).toEqual([]);
    expect(found.length).toBeGreaterThan(25);
  });
});

describe.skipIf(!hasChromium)("in an organization that demands reasons", () => {
  let host: JsonRecord;
  let subnet: JsonRecord;
  let before: JsonRecord;
  const fill: Fill = async ({ client, networkId }) => {
    host = await expectOk(client.post("hosts", { network_id: networkId, name: "access-1", description: "Hall 1" }));
    for (const name of ["spare-1", "spare-2"])
      await expectOk(client.post("hosts", { network_id: networkId, name, sys_location: "Hall 1" }));
    subnet = await expectOk(client.post("subnets", { network_id: networkId, cidr: "10.5.0.0/29", name: "Lab" }));
    await expectOk(client.post("ports", { host_id: host.id, number: 8443, protocol: "Tcp" }));
    await expectOk(client.post("services", { host_id: host.id, name: "portal", service_definition: "Https" }));
    await expectOk(client.post("tags", { name: "leased", color: "Amber" }));
    before = await expectOk(client.get(`hosts/${host.id}`));
    await expectOk(client.put(`hosts/${host.id}`, { id: host.id, name: "access-2", hidden: false, tags: [] }));
  };
  const { appliance, visitor, page } = visitForAll(fill, { path: "/settings/organization" });

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  const why = () => page.getByLabel("Why (required)");
  const open = (path: string) => page.goto(appliance.url + path);

  test("enabling and a record form that asks for one are accessible", async () => {
    await page.getByText("Optional").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Edit the organization").click();
    await page.getByText("programs that send none can no longer write").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Acme Networks");
    await page.getByLabel("Require a reason for every change").check();
    await expectAccessibleInBoth(page);
    await button("Save").click();
    await page.getByText("Required for every change").waitFor();
    await open(`/hosts/${host.id}?edit=yes`);
    await page.getByLabel("Model").fill("C9300-48P");
    await page.getByText("Required: Why.").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    await button("Cancel").click();
    expect(visitor.problems()).toEqual([]);
  });

  /** Steps that open a form, and the button that submits it. */
  const FORMS: ReadonlyArray<readonly [title: string, open: () => Promise<unknown>, submitButton: () => Locator]> = [
    ["a new host", () => open("/hosts?new=host"), () => button("Create")],
    [
      "the deletion of a host",
      async () => {
        await open(`/hosts/${host.id}`);
        await button("Delete")
          .or(page.getByRole("link", { name: "Delete", exact: true }))
          .click();
      },
      () => page.getByRole("form").getByRole("button", { name: "Delete", exact: true }),
    ],
    [
      "a bulk edit",
      async () => {
        await open('/hosts?filter=sys_location = "Hall 1"');
        await button("Edit").click();
        await page.getByLabel("Add a field to set").selectOption({ label: "Location" });
        await page.getByRole("region", { name: "Edit 2 hosts" }).getByLabel("Location").fill("Hall North");
        await button("Preview").click();
      },
      () => button("Change 2 hosts"),
    ],
    [
      "an import",
      async () => {
        await open("/hosts");
        await button("Import CSV").click();
        const buffer = Buffer.from("name,network_name\r\npc-1,Main\r\n");
        await page.getByLabel(/file/).setInputFiles({ name: "pcs.csv", mimeType: "text/csv", buffer });
        await page.getByText("pcs.csv: 1 row").waitFor();
        await button("Preview").click();
      },
      () => button("Write 1 row"),
    ],
    [
      "a binding",
      async () => {
        await open(`/hosts/${host.id}?tab=services`);
        await button("Bind portal").click();
        await page.getByRole("combobox", { name: "Port", exact: true }).selectOption({ label: "8443/Tcp" });
      },
      () => button("Bind"),
    ],
    [
      "allocated addresses",
      async () => {
        await open(`/subnets/${subnet.id}`);
        await button("Allocate next free").click();
      },
      () => button("Reserve"),
    ],
    [
      "a restored record",
      async () => {
        await open(`/hosts/${host.id}?at=${before.updated_at}`);
        await button("Restore this").click();
      },
      () => page.getByRole("region", { name: "Restore this state" }).getByRole("button", { name: "Restore this" }),
    ],
  ];

  test.each(FORMS)(
    "%s asks for it up front, and cannot be submitted without",
    async (_title, openForm, submitButton) => {
      visitor.problems();
      await openForm();
      await why().waitFor();
      await page.getByText("Your organization requires a reason for every change.").waitFor();
      await expectEventually(() => submitButton().isDisabled(), true);
      await why().fill("   ");
      await expectEventually(() => submitButton().isDisabled(), true);
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(visitor.problems()).toEqual([]);
    },
  );
});
