// Hostile scan results in the console, in Chromium, on the executable: banners, page titles, certificate and DNS names,
// SNMP texts; and hostile file names of imports and exports.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { made, type Wire } from "../support/appliance/factories.ts";
import { brokenOn, UNBROKEN } from "../support/browser/broken.ts";
import { closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { EXECUTABLE, ensureExecutable, PASSWORD, type Running, Workplace } from "../support/executable/executable.ts";
import {
  ANNOUNCED,
  type Announced,
  CERTIFIED,
  HOSTILE_PORTS,
  HostileMachines,
  MACHINES,
  NAME_SERVER,
  NAMED,
} from "../support/sweep/hostile-machines.ts";
import { SWEEP_LAB_MISSING } from "../support/sweep/lab.ts";

const OWNER = "owner@acme.example";
/** Maximum length, with characters special to file systems, headers and parsers. */
const NETWORK = `../\\";\u202egpj.html ${"שרת ".repeat(40)}${"W".repeat(70)}`;
const WIDTHS = [360, 1_280] as const;
/** The test's name server requires root. */
const hasNames = SWEEP_LAB_MISSING === null;
const withoutNames = hasNames ? "" : `left out ${SWEEP_LAB_MISSING}: `;

describe.skipIf(!hasChromium)("data announced to a scan", () => {
  let workplace: Workplace;
  let machines: HostileMachines;
  let running: Running;
  let discovery: DiscoveryClient;
  let network: Wire;
  let before: string;
  let between: string;
  let tried: Wire;
  let scans: readonly Wire[];
  let hosts: readonly Wire[];
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    const setUp = await workplace.setUp();
    machines = await HostileMachines.start(hasNames);
    const resolver = workplace.path("resolv.conf");
    writeFileSync(resolver, `nameserver ${NAME_SERVER}\n`);
    const asking = ["--snmp-port", String(machines.snmpPort), "--scan-tcp-ports", HOSTILE_PORTS.join(",")];
    running = await workplace.serve(asking, hasNames ? { command: withResolver(resolver) } : {});
    const client = running.withKey(setUp.key);
    discovery = new DiscoveryClient(client, setUp.organizationId);
    network = await discovery.network(NETWORK);
    await discovery.credential(community("public"), [network.id]);
    before = (await made(client.get("ledger"))).at;
    const targets = [...MACHINES, ...(hasNames ? [NAME_SERVER, ...NAMED] : [])];
    const asked = { network_id: network.id, kind: "full", targets };
    tried = await discovery.scanned({ ...asked, commit: false });
    const first = await discovery.scanned(asked);
    hosts = await discovery.all(`/api/v1/hosts?network_id=${network.id}`);
    between = (await made(client.get("ledger"))).at;
    machines.swap();
    scans = [first, await discovery.scanned(asked)];
    visitor = await Visitor.arrive(running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  beforeEach(() => {
    visitor.troubles();
  });

  afterAll(async () => {
    machines.close();
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const at = (address: string): Wire => {
    const found = hosts.find((host) => host.ip_addresses.some((each: Wire) => each.ip_address === address));
    if (found === undefined) throw new Error(`no host has ${address}`);
    return found;
  };

  const firstAnnouncedAt = (address: string) => Object.keys(ANNOUNCED)[MACHINES.indexOf(address)] as Announced;

  const servicesOf = (host: Wire) =>
    Object.fromEntries(
      (host.services as Wire[]).flatMap(({ name, bindings }) =>
        (bindings as Wire[]).map(({ port_id }) => [
          (host.ports as Wire[]).find(({ id }) => id === port_id)?.number,
          name,
        ]),
      ),
    );

  const looked = async (address: string) => {
    await page.goto(running.url + address);
    await page.locator("main:has(h1):not(:has(.waiting))").waitFor();
    await unbroken(address);
    expect([address, visitor.troubles()]).toEqual([address, []]);
  };

  /** @param what the page, named in a failure */
  const unbroken = async (what: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await settles(async () => ({ what, width, ...(await brokenOn(page, [ANNOUNCED.direction])) }), {
        what,
        width,
        ...UNBROKEN,
      });
    }
  };

  test("is stored verbatim, on one line, without invisible characters, and truncated", () => {
    const kept = Object.fromEntries(MACHINES.map((address) => [firstAnnouncedAt(address), servicesOf(at(address))]));
    const alike = (word: string, ofSsh = word) => ({
      2222: ofSsh,
      2323: `Telnet: to ${word}`,
      5672: `${word} 1`,
      8080: `${word}: ${word}`,
      8081: word,
      8443: `${word}: ${word}`,
      8554: word,
      11211: `memcached ${word}`,
      // Only known products are identified here.
      2121: "FTP",
      2525: "SMTP",
      40110: "POP3",
      40143: "IMAP",
      161: "SNMP",
    });
    const { markup, template } = ANNOUNCED;
    const pair = (word: string) => `${word}: ${word}`.slice(0, 100);
    const long = (length: number) => "W".repeat(length);
    expect(kept.link).toEqual(alike("javascript:broken=3"));
    expect(kept.markup).toEqual({
      ...alike(markup, markup.replaceAll(" ", "/")),
      8080: pair(markup),
      8443: pair(markup),
      // The realm ends at a quote.
      8081: "HTTP",
    });
    const titled = `${template}: ${template.replace("&lt;", "<").replace("&gt;", ">")}`;
    expect(kept.template).toEqual({ ...alike(template, template.replaceAll(" ", "/")), 8080: titled, 8443: titled });
    const turned = "שרת-הדפסה خادم gnp.exe";
    expect(kept.direction).toEqual(alike(turned, turned.replaceAll(" ", "/")));
    expect(kept.control).toEqual(alike("a [31mb c d e f g"));
    expect(kept.invalid).toEqual({
      ...alike("a ÿbÃ(cí d"),
      // 0xff starts a telnet command, which consumes the following bytes.
      2323: "Telnet: to a Ã(cí d",
    });
    expect(kept.long).toEqual({
      ...alike(long(60)),
      2222: long(100),
      2323: `Telnet: to ${long(89)}`,
      5672: long(100),
      // Its page was truncated.
      8080: long(60),
      8443: long(60),
      8554: long(100),
      11211: `memcached ${long(90)}`,
    });
    expect(kept.blank).toEqual({
      ...alike(ANNOUNCED.blank),
      // Nothing visible remains, so it is named after its port.
      2222: "ssh",
      8080: "HTTP alternate",
      8081: "HTTP",
      8443: "HTTPS alternate",
      8554: "rtsp",
    });
    for (const name of [kept.piled, kept.formula].flatMap((each) => Object.values(each ?? {})) as string[])
      expect(name).toMatch(/^[^\p{C}]{1,100}$/u);
    expect(kept.formula?.[8554]).toBe(ANNOUNCED.formula);
    expect(kept.piled?.[8554]).toBe(ANNOUNCED.piled);
  });

  test.skipIf(!hasNames)(`${withoutNames}includes DNS names of hosts only, and no others`, () => {
    expect(Object.fromEntries(NAMED.map((address) => [address.slice(-3), at(address).hostname]))).toEqual({
      101: null,
      102: null,
      103: null,
      104: null,
      105: null,
      106: `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(61)}`,
      107: "constructor",
      108: "honest.example",
      109: "xn--4dbrk0ce",
    });
    expect(NAMED.slice(0, 5).map((address) => at(address).name)).toEqual(NAMED.slice(0, 5));
    expect(servicesOf(at(NAME_SERVER))).toEqual({ 53: ANNOUNCED.markup });
  });

  test("excludes names in certificates", async () => {
    expect(await made(discovery.client.get(`search?q=${CERTIFIED}`))).toEqual([]);
  });

  test("is labeled by its visible text if a device's name is invisible", () => {
    const [blank] = MACHINES.filter((address) => firstAnnouncedAt(address) === "blank");
    expect(at(blank as string)).toMatchObject({ name: blank, sys_name: ANNOUNCED.blank });
  });

  /** The machine that announces it now. */
  const announcing = (word: Announced) => at(MACHINES.find((each) => machines.announcedAt(each) === word) as string);

  test("breaks, runs, overflows and reverses nothing on record pages, on phone and desktop", async () => {
    for (const host of MACHINES.map(at)) await looked(`/hosts/${host.id}`);
    const { id, services, interfaces } = announcing("direction");
    for (const tab of ["ports", "neighbors", "addresses", "services", "history", "credentials"])
      await looked(`/hosts/${id}?tab=${tab}`);
    for (const tab of ["services", "neighbors"])
      for (const word of ["long", "markup"] as const) await looked(`/hosts/${announcing(word).id}?tab=${tab}`);
    for (const address of [
      `/hosts/${id}/identity`,
      `/hosts/${id}?edit=yes`,
      `/hosts/${id}?remove=yes`,
      `/hosts/${id}?at=${between}`,
      `/hosts/${id}?vs=${between}`,
      `/hosts/${id}?vs=${between}&tab=services`,
      `/interfaces/${interfaces[0].id}`,
      `/records/service/${services[2].id}`,
      `/services?edit=service:${services[2].id}`,
    ])
      await looked(address);
  });

  test("nor on lists, maps, changes, search results and scan pages", async () => {
    const shown = `network=${network.id}`;
    const lists = ["/hosts", "/interfaces", "/addresses", "/services", "/ports", "/stations?show=all", "/conflicts"];
    for (const address of [
      ...lists,
      ...["/hosts", "/services"].flatMap((list) => [`${list}?at=${between}`, `${list}?vs=${between}`]),
      "/",
      ...["Telnet", "127.17.67.5", "שרת", MACHINES[0]].map((asked) => `/?q=${encodeURIComponent(asked as string)}`),
      `/map?${shown}`,
      `/map?${shown}&table=links`,
      `/map?${shown}&isolated=yes&table=devices`,
      `/changes?${shown}`,
      `/compare?${shown}&vs=${before}`,
      `/compare?${shown}&vs=${between}`,
      "/discovery",
      "/discovery/waiting",
      `/discovery/${tried.id}`,
      ...scans.flatMap(({ id, outcome: { transactions } }) => [
        `/changes/${transactions.last}`,
        ...["", "?type=Changed", "?type=Closed", "?type=Read"].map((type) => `/discovery/${id}${type}`),
      ]),
    ])
      await looked(address);
  });

  test("is plain text in the palette, and links to its record", async () => {
    await page.goto(`${running.url}/hosts`);
    await page.getByRole("banner").waitFor();
    const options = page.getByRole("dialog").getByRole("option");
    for (const word of [ANNOUNCED.markup.slice(0, 6), "שרת", "javascript", "WWWWWWWW"]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "A page, an action or a record" }).fill(word);
      const found = options.filter({ hasText: word }).filter({ hasText: /(?:host|service|interface|network)$/ });
      await found.first().waitFor();
      await unbroken(`palette: ${word}`);
      await found.first().click();
      await page.waitForURL(/\/(?:hosts|interfaces|records\/\w+)\/[\da-f-]{36}/);
      await page.locator("main:has(h1):not(:has(.waiting))").waitFor();
    }
    expect(visitor.troubles()).toEqual([]);
  });

  test("does not name saved files, except by letters, within file system limits", async () => {
    const marker = `"; filename="evil.html"; x=${ANNOUNCED.markup.slice(0, 30)}`;
    await made(discovery.client.post("markers", { name: marker, at: between }));
    const named = { id: network.id, name: `../${"שרת ".repeat(50)}";‮gpj.html`, tags: [] };
    await made(discovery.client.put(`networks/${network.id}`, { ...network, ...named }));
    const at = encodeURIComponent(`marker:${marker}`);
    for (const [address, link, name] of [
      ["/hosts", "Export CSV", /^hosts\.csv$/],
      [`/services?at=${at}`, "Export CSV", /^services-[\dTZ.-]+\.csv$/],
      [`/map?network=${network.id}`, "Mermaid", /^map\.mmd$/],
      [`/map?network=${network.id}`, "GraphML", /^map\.graphml$/],
      [`/map?network=${network.id}`, "SVG", /^map-[\p{L}\p{N}.-]{1,80}\.svg$/u],
      [`/map?network=${network.id}`, "PNG", /^map-[\p{L}\p{N}.-]{1,80}\.png$/u],
    ] as const) {
      await page.goto(running.url + address);
      await page.locator("main:has(h1):not(:has(.waiting))").waitFor();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page
          .locator("main")
          .locator("a, button")
          .filter({ hasText: new RegExp(`^${link}$`) })
          .first()
          .click(),
      ]);
      expect([address, link, download.suggestedFilename()]).toEqual([address, link, expect.stringMatching(name)]);
    }
    expect(visitor.troubles()).toEqual([]);
  });

  test("is shown verbatim as an import's table name, with an error if it is not a table", async () => {
    const cells = "name\r\nfrom-a-file\r\n";
    for (const name of [
      "<img src=x onerror=broken=6>.csv",
      `${ANNOUNCED.direction}.csv`,
      `${"W".repeat(251)}.csv`,
      "a\u0007b\u2028c.csv",
      "=cmd|' /C calc'!A0.csv",
    ]) {
      await page.goto(`${running.url}/hosts?table=yes`);
      const buffer = Buffer.from(cells);
      await page.getByLabel(/A CSV file|Another file/).setInputFiles({ name, mimeType: "text/csv", buffer });
      await page.getByText(/: 1 row$/).waitFor();
      await unbroken(name);
      // Dropped as well.
      const dropped = JSON.stringify([cells, name]);
      await page.evaluate(`(() => {
        const [cells, name] = ${dropped};
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([cells + "second\\r\\n"], name, { type: "text/csv" }));
        document.querySelector(".table-drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
      })()`);
      await page.getByText(/: 2 rows$/).waitFor();
      await unbroken(name);
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
    }
    await page.goto(`${running.url}/hosts?table=yes`);
    await page.getByLabel("A CSV file").waitFor();
    await page.evaluate(`(() => {
      // As of a folder, or of a file that somebody removes meanwhile.
      Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotFoundError"));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([], "folder.csv"));
      document.querySelector(".table-drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
    })()`);
    await page.getByText("It cannot be read: it is a folder, or no longer there.").waitFor();
    expect(visitor.troubles()).toEqual([]);
  });
});

/** The executable with a separate name server. */
function withResolver(file: string): readonly string[] {
  const inside = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"';
  return ["unshare", "--mount", "--", "sh", "-ec", inside, "sh", file, EXECUTABLE];
}
