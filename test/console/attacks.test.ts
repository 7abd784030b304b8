// What wants to act in somebody's name, in Chromium, on the executable: markup in every field of every kind, and a page of
// another origin that knows where the appliance is while its victim is signed in.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { type DescribedFields, formsOf } from "../../scripts/console-forms.ts";
import { createBareApp } from "../../src/bare-app.ts";
import { EDITED_KINDS, type EditedKind, operationsOf } from "../../src/console/editing/edited-kinds.ts";
import { PAGE_PATHS } from "../../src/console/url/page-paths.ts";
import { openApiDocument } from "../../src/http/documentation.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { closeBrowser, hasChromium, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const MARKUP = `"><img src=x onerror="window.broken=1"><script>window.broken=2</script>`;
const LINK = "javascript:window.broken=3";

type Served = SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };

/** What fields with a form of their own have. */
const FORMED: Readonly<Record<string, unknown>> = {
  cidr: "10.66.0.0/24",
  ip_address: "10.66.0.6",
  first: "10.66.0.100",
  last: "10.66.0.110",
  mac_address: "00:1b:21:66:66:66",
  number: 66,
  if_index: 66,
  key: "hostile",
  kinds: ["host", "subnet", "vlan", "if_entry", "service", "ip_range"],
  choices: [MARKUP, LINK],
  cron: "0 3 * * *",
  timezone: "UTC",
  at: "2026-01-01T00:00:00Z",
  management_url: LINK,
  protocol: "Tcp",
  purpose: "Other",
  color: "Red",
  type: "choice",
  kind: "sweep",
};
/** What devices announce of themselves, which no form has. */
const ANNOUNCED = {
  lldp_sys_name: MARKUP,
  lldp_sys_desc: MARKUP,
  lldp_port_desc: MARKUP,
  lldp_mgmt_addr: LINK,
  lldp_chassis_id: { subtype: "LocallyAssigned", value: MARKUP },
  lldp_port_id: { subtype: "LocallyAssigned", value: MARKUP },
  cdp_device_id: MARKUP,
  cdp_port_id: MARKUP,
  cdp_platform: MARKUP,
  cdp_address: LINK,
};

/** A record of a kind with markup in each of its texts. */
function hostileBody(kind: EditedKind, fields: DescribedFields, places: Wire): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, type, isRequired, maxLength } of fields) {
    if (name in places && name !== "subnet_id") body[name] = places[name];
    else if (name in FORMED && (isRequired || name !== "number")) body[name] = FORMED[name];
    else if (type === "text") body[name] = MARKUP.slice(0, maxLength);
  }
  return kind === "if_entry" ? { ...body, ...ANNOUNCED } : body;
}

describe.skipIf(!hasChromium)("whoever attacks through the console", () => {
  let workplace: Workplace;
  let appliance: Served;
  let visitor: Visitor;
  let page: Page;
  const records = new Map<EditedKind, Wire>();

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    // What the others are made within comes first; a custom field before those that have it.
    const order: EditedKind[] = ["custom_field", "network", "subnet", "host", ...EDITED_KINDS];
    let places: Wire = { network_id: appliance.networkId } as unknown as Wire;
    for (const kind of new Set(order)) {
      const { path, create } = operationsOf(kind);
      const valued = ["host", "subnet", "vlan", "if_entry", "service", "ip_range"].includes(kind);
      const body = {
        ...hostileBody(kind, forms[create], places),
        ...(valued ? { custom_fields: { hostile: LINK } } : {}),
      };
      const record = await made(appliance.client.post(path.replace("/api/v1/", ""), body));
      records.set(kind, record);
      if (kind === "host") places = { ...places, host_id: record.id } as unknown as Wire;
    }
    visitor = await Visitor.arrive(appliance.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const looked = async (address: string) => {
    await page.goto(appliance.running.url + address);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    const seen = await page.evaluate<unknown>(`({
      broken: window.broken ?? null,
      foreign: document.querySelectorAll("body script:not([src]), main img, main iframe, a[href^='javascript:']").length,
    })`);
    expect([address, seen]).toEqual([address, { broken: null, foreign: 0 }]);
    expect([address, visitor.troubles()]).toEqual([address, []]);
  };

  test("has markup in every text of every kind, and what devices announce, and runs nothing on any page", async () => {
    const plain = PAGE_PATHS.filter((path) => !path.includes(":"));
    const idOf = (kind: EditedKind) => records.get(kind)?.id;
    const pages = ["hosts/host", "interfaces/if_entry", "subnets/subnet", "vlans/vlan"].flatMap((pair) => {
      const [path, kind] = pair.split("/") as [string, EditedKind];
      const own = `/${path}/${idOf(kind)}`;
      return [own, `${own}?tab=history`, `${own}?edit=yes`, `${own}?remove=yes`];
    });
    const tabs = ["ports", "neighbors", "addresses", "services"].map((tab) => `/hosts/${idOf("host")}?tab=${tab}`);
    const forms = [...records].map(([kind, { id }]) => `/hosts?edit=${kind}:${id}`);
    const others = [`/?q=${encodeURIComponent('"><img')}`, `/?q=00:1b:21:66:66:66`, "/map?table=links"];
    for (const address of [...plain, ...pages, ...tabs, ...forms, ...others]) await looked(address);
    // As what it is: a text.
    await page.goto(`${appliance.running.url}/hosts`);
    await page.getByRole("link", { name: MARKUP, exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill('"><img');
    await page.getByRole("option").first().waitFor();
    expect(await page.evaluate<unknown>("window.broken ?? null")).toBeNull();
  }, 240_000);

  test("writes nothing, reads nothing and frames nothing from a page of another origin", async () => {
    const target = appliance.running.url;
    const hostId = records.get("host")?.id;
    const head = async () => (await appliance.client.get("ledger")).body.data.sequence;
    const before = await head();
    const sessions = async () => (await page.request.get(`${target}/api/auth/sessions`)).status();
    // Another port of the same address: the same site, so that no rule about sites helps.
    using attacker = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response("<!doctype html><title>free cables</title><body>", { headers: { "Content-Type": "text/html" } }),
    });
    const trap = await visitor.context.newPage();
    await trap.goto(`http://127.0.0.1:${attacker.port}/`);
    const results = await trap.evaluate<Record<string, string>>(
      `(async ({ target, hostId }) => {
        const told = {};
        const attempt = async (name, path, init) => {
          try {
            const answer = await fetch(target + path, { credentials: "include", ...init });
            told[name] = answer.type === "opaque" ? "opaque" : "read " + answer.status;
          } catch { told[name] = "refused"; }
        };
        const body = JSON.stringify({ name: "owned", color: "Red" });
        await attempt("read", "/api/v1/hosts", {});
        await attempt("blind read", "/api/v1/hosts", { mode: "no-cors" });
        await attempt("json", "/api/v1/tags", { method: "POST", body, headers: { "Content-Type": "application/json" } });
        await attempt("plain", "/api/v1/tags", { method: "POST", mode: "no-cors", body, headers: { "Content-Type": "text/plain" } });
        await attempt("csv", "/api/v1/tags/import/csv", { method: "POST", mode: "no-cors", body: "name,color\\nowned,Red", headers: { "Content-Type": "text/plain" } });
        await attempt("delete", "/api/v1/hosts/" + hostId + "?cascade=true", { method: "DELETE" });
        await attempt("backup", "/api/v1/backups", { method: "POST", mode: "no-cors" });
        await attempt("sign out", "/api/auth/logout", { method: "POST", mode: "no-cors" });
        await attempt("end others", "/api/auth/sessions/end-others", { method: "POST", mode: "no-cors" });
        const form = document.createElement("form");
        const frame = document.createElement("iframe");
        frame.name = "hidden";
        form.target = "hidden";
        form.method = "post";
        form.enctype = "text/plain";
        form.action = target + "/api/v1/tags";
        const field = document.createElement("input");
        field.name = '{"name":"owned","color":"Red","description":"';
        field.value = '"}';
        form.append(field);
        document.body.append(frame, form);
        const loaded = new Promise((done) => frame.addEventListener("load", done, { once: true }));
        form.submit();
        await loaded;
        const shown = document.createElement("iframe");
        const framed = new Promise((done) => shown.addEventListener("load", done, { once: true }));
        shown.src = target + "/hosts";
        document.body.append(shown);
        await framed;
        try { told.framed = shown.contentDocument === null ? "closed" : shown.contentDocument.title; } catch { told.framed = "closed"; }
        return told;
      })(${JSON.stringify({ target, hostId })})`,
    );
    const { framed, ...attempts } = results;
    expect(Object.values(attempts).filter((told) => told.startsWith("read "))).toEqual([]);
    expect(framed).toBe("closed");
    const inFrame = trap.frames().find((frame) => frame.url().includes("/hosts"));
    expect(inFrame === undefined ? 0 : await inFrame.locator("main").count()).toBe(0);
    expect(await head()).toBe(before);
    expect((await appliance.client.get("tags?search=owned")).body.data).toEqual([]);
    expect(await sessions()).toBe(200);
    // Nobody speaks to the page that opened it, or that it was opened by.
    const [opened] = await Promise.all([
      visitor.context.waitForEvent("page"),
      trap.evaluate(`void window.open(${JSON.stringify(`${target}/hosts`)})`),
    ]);
    await opened.getByRole("banner").waitFor();
    expect(await opened.evaluate<unknown>("window.opener === null")).toBe(true);
    visitor.troubles();
  }, 60_000);
});
