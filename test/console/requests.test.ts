// Number of requests of a page in Chromium, on the executable: of a host page loaded with an empty cache, after a save,
// and while a scan changes the host; and of the page of a running scan.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { expectEventually, hasChromium, waitUntilShown } from "../support/browser/browser.ts";
import { type FilledHosts, fillHosts } from "../support/browser/hosts.ts";
import { OWNER, serveForAll } from "../support/browser/visit.ts";

/** Page, scripts and styles included. */
const COLD_MAX = 17;

describe.skipIf(!hasChromium)("the page", () => {
  let filled: FilledHosts;
  const appliance = serveForAll(async ({ client, networkId }) => {
    filled = await fillHosts(client, networkId);
  });

  /** Opens a path in a new browser; `sent` are the requests so far, without the origin. */
  async function open(path: string, { networksAfter }: { readonly networksAfter?: RegExp } = {}) {
    const { visitor, page: handbook } = await appliance.visitAs(OWNER, "/handbook");
    await handbook.close();
    if (networksAfter !== undefined) {
      const response = visitor.context.waitForEvent("response", (each) => networksAfter.test(each.url()));
      await visitor.context.route(/networks\?limit=0/, async (route) => {
        await response;
        await route.continue();
      });
    }
    const sent: string[] = [];
    visitor.context.on("request", (request) => {
      sent.push(`${request.method()} ${request.url().slice(appliance.url.length)}`);
    });
    const page = await visitor.context.newPage();
    await page.goto(appliance.url + path);
    await waitUntilShown(page);
    // The feed is requested last.
    await expectEventually(async () => sent.some((each) => each.startsWith("GET /api/v1/changes")), true);
    await page.locator(".live-state").getByText("live").waitFor();
    await page.waitForLoadState("load");
    return { page, sent, problems: () => visitor.problems() };
  }

  test.each([
    ["a switch", async () => filled.switchId, (page: Page) => page.locator("section[aria-label=Ports]")],
    [
      "a plain host",
      async () => (await appliance.client.get("hosts?search=printer-2")).data[0].id,
      (page: Page) => page.locator("main").getByText("access-one").first(),
    ],
  ] as const)("of %s takes at most 17 requests from an empty cache, all different", async (_, idOf, lastShown) => {
    const { page, sent, problems } = await open(`/hosts/${await idOf()}`);
    await lastShown(page).waitFor();
    expect({ sent, isWithin: sent.length <= COLD_MAX }).toEqual({ sent, isWithin: true });
    expect(new Set(sent).size).toBe(sent.length);
    expect(problems()).toEqual([]);
  });

  test("of a switch requests no network by id while the list of networks is still loading", async () => {
    const { page, sent, problems } = await open(`/hosts/${filled.switchId}`, { networksAfter: /faceplate/ });
    await page.locator("section[aria-label=Ports]").waitFor();
    await page.locator("main").getByText("Main", { exact: true }).first().waitFor();
    expect(sent.filter((each) => each.includes("/networks"))).toEqual([expect.stringContaining("limit=0")]);
    expect(problems()).toEqual([]);
  });

  test("of a host reads only the host after a save, and all of it in one request while a scan changes its parts", async () => {
    const { page, sent, problems } = await open(`/hosts/${filled.switchId}`);
    const hostRead = `GET /api/v1/hosts?ids=${filled.switchId}&include=overview`;
    const faceplateRead = `GET /api/v1/hosts/${filled.switchId}/faceplate?limit=385&include=host`;
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Description", exact: true }).fill("In the basement");
    sent.splice(0);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    await page.locator(".facts").getByText("In the basement").waitFor();
    // These changes are read after anything that the save outdated.
    for (const { id } of filled.ports.slice(8, 12)) {
      const port = (await appliance.client.get(`if-entries/${id}`)).data;
      const oper_status = port.oper_status === "Up" ? "Down" : "Up";
      expect((await appliance.client.put(`if-entries/${id}`, { ...port, oper_status })).status).toBe(200);
    }
    const added = { host_id: filled.switchId, if_index: 25, if_descr: "25", if_name: "Gi1/0/25", if_type: 6 };
    expect((await appliance.client.post("if-entries", added)).status).toBe(200);
    const ssh = { host_id: filled.switchId, number: 22, protocol: "Tcp" };
    expect((await appliance.client.post("ports", ssh)).status).toBe(200);
    await page.getByRole("link", { name: "SSH", exact: true }).waitFor();
    await page.getByRole("link", { name: "Gi1/0/12, Up", exact: true }).waitFor();
    await page.getByRole("link", { name: "Gi1/0/25, Unknown", exact: true }).waitFor();
    await page.getByRole("link", { name: /^Interfaces\s*25$/ }).waitFor();
    expect(sent.slice(0, 2)).toEqual([`PUT /api/v1/hosts/${filled.switchId}`, hostRead]);
    expect(new Set(sent.slice(2))).toEqual(new Set([faceplateRead]));
    expect(problems()).toEqual([]);
  });

  test("of a plain host reads all of it in one request while a scan finds ports", async () => {
    const [{ id }] = (await appliance.client.get("hosts?search=printer-2")).data;
    const { page, sent, problems } = await open(`/hosts/${id}`);
    await page.locator("main").getByText("access-one").first().waitFor();
    sent.splice(0);
    for (const number of [22, 8080])
      expect((await appliance.client.post("ports", { host_id: id, number, protocol: "Tcp" })).status).toBe(200);
    await page.getByRole("link", { name: "SSH", exact: true }).waitFor();
    await page.getByRole("link", { name: /^Services and ports\s*2$/ }).waitFor();
    expect(new Set(sent)).toEqual(new Set([`GET /api/v1/hosts?ids=${id}&include=overview`]));
    expect(problems()).toEqual([]);
  });

  test("of a running scan sends one request per poll, and reads the findings once there are more", async () => {
    const scan = { network_id: appliance.networkId, kind: "sweep", targets: ["127.0.0.0/20"] };
    const { id } = (await appliance.client.post("discovery/scans", { ...scan, commit: false })).data;
    const { page, sent, problems } = await open(`/discovery/${id}`);
    await page.getByRole("heading", { name: "Progress" }).waitFor();
    await page.getByText("Nothing yet.").waitFor();
    sent.splice(0);
    const poll = `GET /api/v1/discovery/scans/${id}`;
    await expectEventually(async () => sent.length >= 4, true);
    expect([...new Set(sent)]).toEqual([poll]);
    // A dry run reports its findings at the end.
    await appliance.client.post(`discovery/scans/${id}/cancel`, {});
    await page.locator(".finding").first().waitFor();
    expect(problems()).toEqual([]);
  });
});
