// Attacks on a signed-in user in Chromium, on the executable: markup in every field of every kind, and a page of
// another origin that knows the appliance's URL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DescribedFields, formsOf } from "../../scripts/console-forms.ts";
import { apiPath, EDITED_KINDS, type EditedKind, operationOn } from "../../src/console/kinds/kinds.ts";
import { PAGE_PATHS } from "../../src/console/url/page-paths.ts";
import { openApiDocument } from "../../src/http/documentation.ts";
import { createBareApp } from "../../src/registry/bare-app.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { follow, hasChromium } from "../support/browser/browser.ts";
import { type Fill, visitForAll } from "../support/browser/visit.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { recordingText } from "../support/reconcile/recorded-reads.ts";
import type { SnmpAgent } from "../support/snmp/agent.ts";
import { startAgents } from "../support/snmp/agents.ts";
import { viewOfSnmprec } from "../support/snmp/view.ts";

const MARKUP = `"><img src=x onerror="window.broken=1"><script>window.broken=2</script>`;
const LINK = "javascript:window.broken=3";

/** Valid values of formatted fields. */
const FORMATTED_VALUES: Readonly<Record<string, unknown>> = {
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
/** Texts announced by devices, without a form. */
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

/** Tables and scalars with free text from a device: system, interfaces, VLANs, LLDP. */
const TEXT_OIDS = [
  "1.3.6.1.2.1.1.1.0 1.3.6.1.2.1.1.5.0 1.3.6.1.2.1.1.6.0 1.3.6.1.2.1.2.2.1.2. 1.3.6.1.2.1.31.1.1.1.18.",
  "1.3.6.1.2.1.17.7.1.4.3.1.1. 1.0.8802.1.1.2.1.4.1.1.8. 1.0.8802.1.1.2.1.4.1.1.9. 1.0.8802.1.1.2.1.4.1.1.10.",
].flatMap((line) => line.split(" "));
const SYS_CONTACT = "1.3.6.1.2.1.1.4.0";
/** ENTITY-MIB of a chassis: class, serial number, manufacturer, model. */
const CHASSIS = { "5.1": "2|3", "11.1": MARKUP, "12.1": MARKUP, "13.1": MARKUP };

/** A recorded switch with markup in every text. */
function hostileRecording(): string {
  const hex = (text: string) => `4x|${Buffer.from(text).toString("hex")}`;
  const lines = recordingText("switch-b")
    .split("\n")
    .map((line) => {
      const [oid = ""] = line.split("|");
      if (oid === SYS_CONTACT) return `${oid}|${hex(LINK)}`;
      return TEXT_OIDS.some((prefix) => oid.startsWith(prefix)) ? `${oid}|${hex(MARKUP)}` : line;
    });
  const chassis = Object.entries(CHASSIS).map(
    ([row, value]) => `1.3.6.1.2.1.47.1.1.1.1.${row}|${value === MARKUP ? hex(MARKUP) : value}`,
  );
  return [...lines, ...chassis].join("\n");
}

/** A record of a kind with markup in each of its texts. */
function hostileBody(kind: EditedKind, fields: DescribedFields, references: JsonRecord): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, type, isRequired, maxLength } of fields) {
    if (name in references && name !== "subnet_id") body[name] = references[name];
    else if (name in FORMATTED_VALUES && (isRequired || name !== "number")) body[name] = FORMATTED_VALUES[name];
    else if (type === "text") body[name] = MARKUP.slice(0, maxLength);
  }
  return kind === "if_entry" ? { ...body, ...ANNOUNCED } : body;
}

describe.skipIf(!hasChromium)("an attacker who uses the console", () => {
  let device: SnmpAgent | undefined;
  let discovery: DiscoveryClient;
  const records = new Map<EditedKind, JsonRecord>();

  beforeAll(async () => {
    [device] = await startAgents([
      { address: "127.17.66.1", communities: { public: viewOfSnmprec(hostileRecording()) } },
    ]);
  });
  afterAll(() => device?.close());
  const fill: Fill = async ({ client, networkId, organizationId }) => {
    discovery = new DiscoveryClient(client, organizationId);
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    // Containers come first, and a custom field before the records with values of it.
    const order: EditedKind[] = ["custom_field", "network", "subnet", "host", ...EDITED_KINDS];
    let references: JsonRecord = { network_id: networkId };
    for (const kind of new Set(order)) {
      const hasCustomFields = ["host", "subnet", "vlan", "if_entry", "service", "ip_range"].includes(kind);
      const body = {
        ...hostileBody(kind, forms[operationOn("create", kind)], references),
        ...(hasCustomFields ? { custom_fields: { hostile: LINK } } : {}),
      };
      const record = await expectOk(client.post(apiPath(kind).replace("/api/v1/", ""), body));
      records.set(kind, record);
      if (kind === "host") references = { ...references, host_id: record.id };
    }
  };
  const { appliance, visitor, page } = visitForAll(fill, { args: () => ["--snmp-port", String(device?.port)] });

  /** @param isTyped whether the path is opened as a URL, and the browser may report errors, for missing records */
  const openSafely = async (path: string, isTyped = false) => {
    if (isTyped) await page.goto(appliance.url + path);
    else await follow(page, path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".waiting").first().waitFor({ state: "detached" });
    const state = await page.evaluate<unknown>(`({
      broken: window.broken ?? null,
      foreign: document.querySelectorAll("body script:not([src]), main img, main iframe").length,
      links: [...document.querySelectorAll("a[href]")]
        .map(({ href }) => new URL(href))
        .filter(({ origin, protocol }) => origin !== location.origin && protocol !== "ssh:")
        .map(({ href }) => href),
    })`);
    expect([path, state]).toEqual([path, { broken: null, foreign: 0, links: [] }]);
    const problems = visitor.problems();
    if (!isTyped) expect([path, problems]).toEqual([path, []]);
    expect([path, problems.filter((problem) => /threw:|another host|Content Security/.test(problem))]).toEqual([
      path,
      [],
    ]);
  };

  test("runs nothing on any page from markup in strings of every kind and in device announcements", async () => {
    const fixedPaths = PAGE_PATHS.filter((path) => !path.includes(":"));
    const idOf = (kind: EditedKind) => records.get(kind)?.id;
    const pages = ["hosts/host", "interfaces/if_entry", "subnets/subnet", "vlans/vlan"].flatMap((pair) => {
      const [path, kind] = pair.split("/") as [string, EditedKind];
      const recordPath = `/${path}/${idOf(kind)}`;
      return [recordPath, `${recordPath}?tab=history`, `${recordPath}?edit=yes`, `${recordPath}?remove=yes`];
    });
    const tabs = ["ports", "neighbors", "addresses", "services"].map((tab) => `/hosts/${idOf("host")}?tab=${tab}`);
    const forms = [...records].map(([kind, { id }]) => `/hosts?edit=${kind}:${id}`);
    const others = [`/?q=${encodeURIComponent('"><img')}`, `/?q=00:1b:21:66:66:66`, "/map?table=links"];
    for (const path of [...fixedPaths, ...pages, ...tabs, ...forms, ...others]) await openSafely(path);
    // Markup is displayed as text.
    await page.goto(`${appliance.url}/hosts`);
    await page.getByRole("link", { name: MARKUP, exact: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "A page, an action or a record" }).fill('"><img');
    await page.getByRole("option").first().waitFor();
    expect(await page.evaluate<unknown>("window.broken ?? null")).toBeNull();
  });

  test("runs nothing from a device's announcements, from first scan to history", async () => {
    const network = await discovery.network("Hostile");
    await discovery.credential(community("public"), [network.id]);
    const scanRequest = { network_id: network.id, kind: "snmp", targets: [device?.address] };
    const dryRun = await discovery.runScan({ ...scanRequest, commit: false });
    const scan = await discovery.runScan(scanRequest);
    const [host] = (await appliance.client.get(`hosts?network_id=${network.id}&limit=1`))
      .data as unknown as JsonRecord[];
    expect(host).toMatchObject({ sys_name: MARKUP, sys_contact: LINK, sys_location: MARKUP });
    const [entry] = (await appliance.client.get(`if-entries?host_id=${host?.id}&filter=if_alias:*&limit=1`))
      .data as unknown as JsonRecord[];
    expect(entry?.if_alias).toBe(MARKUP);
    const tabs = ["", "ports", "neighbors", "addresses", "services", "history"];
    for (const path of [
      `/discovery/${dryRun.id}`,
      `/discovery/${scan.id}`,
      ...tabs.map((tab) => `/hosts/${host?.id}?tab=${tab}`),
      `/hosts/${host?.id}?edit=yes`,
      `/interfaces/${entry?.id}`,
      `/interfaces/${entry?.id}?edit=yes`,
      `/changes?network=${network.id}`,
      `/map?network=${network.id}`,
      `/map?network=${network.id}&table=links`,
      `/?q=${encodeURIComponent(MARKUP.slice(0, 40))}`,
    ])
      await openSafely(path);
  });

  test("runs nothing from a URL, and redirects nowhere", async () => {
    const encodedMarkup = encodeURIComponent(MARKUP);
    const id = records.get("host")?.id;
    for (const path of [
      `/hosts?filter=${encodedMarkup}`,
      `/hosts?filter=name%20=%20${encodeURIComponent(JSON.stringify(MARKUP))}`,
      `/hosts?columns=${encodedMarkup},constructor,__proto__`,
      `/hosts?order=${encodedMarkup}`,
      `/hosts?network=${encodedMarkup}`,
      `/hosts?edit=__proto__:${encodedMarkup}`,
      `/hosts?new=constructor`,
      `/hosts?remove=host:${encodedMarkup}`,
      `/hosts?at=${encodedMarkup}`,
      `/hosts?at=marker:${encodedMarkup}`,
      `/hosts?vs=${encodedMarkup}`,
      `/hosts/${encodedMarkup}`,
      `/hosts/${id}?tab=constructor`,
      `/records/constructor/${id}`,
      `/records/tag/${encodedMarkup}`,
      `/changes/${encodedMarkup}`,
      `/changes?actor=${encodedMarkup}&reason=${encodedMarkup}&filter=${encodedMarkup}`,
      `/discovery?scan=yes&targets=${encodedMarkup}&why=${encodedMarkup}&kind=${encodedMarkup}`,
      `/map?period=${encodedMarkup}&from=${encodedMarkup}&to=${encodedMarkup}`,
      `/nowhere/${encodedMarkup}`,
      `/?q=${encodedMarkup}&returnTo=https://elsewhere.example/&next=//elsewhere.example/`,
      "//elsewhere.example/hosts",
      "//elsewhere.example/%2e%2e/hosts?at=-1h",
    ])
      await openSafely(path, true);
    // "Now" leads to a page of the appliance, not to the host in the path.
    await page.goto(`${appliance.url}//elsewhere.example/?at=${encodeURIComponent("2026-01-01T00:00:00Z")}`);
    await page.getByRole("banner").waitFor();
    await page.keyboard.press("t");
    await page.waitForURL((url) => !url.searchParams.has("at"));
    expect(new URL(page.url()).origin).toBe(appliance.url);
    visitor.problems();
  });

  test("runs nothing when API responses, the handbook and the reference are opened in the browser", async () => {
    const encodedMarkup = encodeURIComponent(MARKUP);
    const { data: networks } = await appliance.client.get("networks?limit=1");
    const [network] = networks as unknown as JsonRecord[];
    for (const path of [
      "/api/v1/hosts",
      "/api/v1/tags/export/csv",
      `/api/v1/hosts?filter=${encodedMarkup}`,
      `/api/v1/${encodedMarkup}`,
      "/api/v1/diff?from=2020-01-01T00:00:00Z&format=text",
      ...["json", "mermaid", "dot", "graphml"].map(
        (format) => `/api/v1/topology?network_id=${network?.id}&format=${format}`,
      ),
      `/handbook?q=${encodedMarkup}`,
      `/handbook/${encodedMarkup}`,
      `/docs?url=${encodedMarkup}&spec=https://elsewhere.example/api.json`,
      `/docs/${encodedMarkup}`,
    ]) {
      const openedPage = await visitor.context.newPage();
      const download = openedPage.waitForEvent("download").catch(() => null);
      const response = await openedPage.goto(appliance.url + path).catch(() => null);
      // Downloads are not displayed.
      if (response === null) expect([path, await download]).toEqual([path, expect.anything()]);
      else {
        const headers = response.headers();
        expect([path, headers["x-content-type-options"]]).toEqual([path, "nosniff"]);
        expect([path, headers["content-security-policy"]]).toEqual([
          path,
          expect.stringContaining("frame-ancestors 'none'"),
        ]);
        expect([path, await openedPage.evaluate<unknown>("window.broken ?? null")]).toEqual([path, null]);
      }
      await openedPage.close();
      const problems = visitor.problems().filter((problem) => /another host/.test(problem));
      expect([path, problems]).toEqual([path, []]);
    }
  });

  test("cannot write, read or frame anything from a page of another origin", async () => {
    const target = appliance.url;
    const hostId = records.get("host")?.id;
    const head = async () => (await appliance.client.get("ledger")).body.data.sequence;
    const before = await head();
    const sessions = async () => (await page.request.get(`${target}/api/auth/sessions`)).status();
    // Another port of the same address is the same site, so same-site rules do not help.
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
        const outcomes = {};
        const attempt = async (name, path, init) => {
          try {
            const response = await fetch(target + path, { credentials: "include", ...init });
            outcomes[name] = response.type === "opaque" ? "opaque" : "read " + response.status;
          } catch { outcomes[name] = "refused"; }
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
        await attempt("sign in as me", "/api/auth/login", { method: "POST", mode: "no-cors", body: JSON.stringify({ email: "evil@acme.example", password: "correct horse battery" }), headers: { "Content-Type": "text/plain" } });
        await attempt("claim", "/api/auth/setup", { method: "POST", mode: "no-cors", body: "{}", headers: { "Content-Type": "text/plain" } });
        await attempt("key", "/api/v1/auth/keys", { method: "POST", mode: "no-cors", body, headers: { "Content-Type": "text/plain" } });
        await attempt("preferences", "/api/auth/preferences", { method: "PUT", body: "{}", headers: { "Content-Type": "application/json" } });
        await attempt("feed", "/api/v1/changes?after=0", { headers: { Accept: "text/event-stream" } });
        await attempt("script", "/api/v1/hosts", { mode: "no-cors", headers: {} });
        outcomes.script = await new Promise((done) => {
          const script = document.createElement("script");
          script.onload = () => done("read as a script");
          script.onerror = () => done("refused");
          script.src = target + "/api/v1/hosts";
          document.body.append(script);
        });
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
        try { outcomes.framed = shown.contentDocument === null ? "closed" : shown.contentDocument.title; } catch { outcomes.framed = "closed"; }
        return outcomes;
      })(${JSON.stringify({ target, hostId })})`,
    );
    const { framed, ...attempts } = results;
    expect(Object.values(attempts).filter((outcome) => outcome.startsWith("read "))).toEqual([]);
    expect(framed).toBe("closed");
    const inFrame = trap.frames().find((frame) => frame.url().includes("/hosts"));
    expect(inFrame === undefined ? 0 : await inFrame.locator("main").count()).toBe(0);
    expect(await head()).toBe(before);
    expect((await appliance.client.get("tags?search=owned")).body.data).toEqual([]);
    expect(await sessions()).toBe(200);
    // Pages are isolated from their opener and from those they open.
    for (const [path, selector] of [
      ["/hosts", "header"],
      ["/handbook", "main"],
      ["/docs", "body"],
    ] as const) {
      const [opened] = await Promise.all([
        visitor.context.waitForEvent("page"),
        trap.evaluate(`void window.open(${JSON.stringify(target + path)})`),
      ]);
      await opened.locator(selector).first().waitFor();
      expect([path, await opened.evaluate<unknown>("window.opener === null")]).toEqual([path, true]);
      await opened.close();
    }
    visitor.problems();
  });
});
