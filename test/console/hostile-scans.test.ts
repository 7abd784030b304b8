// Hostile scan results in the console, in Chromium, on the executable: banners, page titles, certificate and DNS names,
// SNMP strings; and hostile file names in imports and exports.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { closeBrowser, expectEventually, follow, hasChromium, Visitor } from "../support/browser/browser.ts";
import { damageOn, UNDAMAGED } from "../support/browser/page-damage.ts";
import { community, DiscoveryClient } from "../support/executable/discovery-client.ts";
import { EXECUTABLE, ensureExecutable, PASSWORD, type Running, Sandbox } from "../support/executable/executable.ts";
import {
  CERTIFICATE_PREFIX,
  HOSTILE_PORTS,
  HOSTILE_TEXTS,
  HostileMachines,
  type HostileText,
  MACHINES,
  NAME_SERVER,
  NAMED_ADDRESSES,
} from "../support/sweep/hostile-machines.ts";
import { SWEEP_LAB_MISSING } from "../support/sweep/lab.ts";

const OWNER = "owner@acme.example";
/** Name of maximum length, with characters special to file systems, headers and parsers. */
const NETWORK = `../\\";\u202egpj.html ${"שרת ".repeat(40)}${"W".repeat(70)}`;
const WIDTHS = [360, 1_280] as const;
/** The test's name server requires root. */
const hasNames = SWEEP_LAB_MISSING === null;
const withoutNames = hasNames ? "" : `skipped ${SWEEP_LAB_MISSING}: `;

describe.skipIf(!hasChromium)("data announced to a scan", () => {
  let sandbox: Sandbox;
  let machines: HostileMachines;
  let running: Running;
  let discovery: DiscoveryClient;
  let network: JsonRecord;
  let before: string;
  let between: string;
  let dryRun: JsonRecord;
  let scans: readonly JsonRecord[];
  let hosts: readonly JsonRecord[];
  let visitor: Visitor;
  let page: Page;

  beforeAll(async () => {
    ensureExecutable();
    sandbox = new Sandbox();
    const setUp = await sandbox.setUp();
    machines = await HostileMachines.start(hasNames);
    const resolver = sandbox.path("resolv.conf");
    writeFileSync(resolver, `nameserver ${NAME_SERVER}\n`);
    const serveArguments = ["--snmp-port", String(machines.snmpPort), "--scan-tcp-ports", HOSTILE_PORTS.join(",")];
    running = await sandbox.serve(serveArguments, hasNames ? { command: withResolver(resolver) } : {});
    const client = running.withKey(setUp.key);
    discovery = new DiscoveryClient(client, setUp.organizationId);
    network = await discovery.network(NETWORK);
    await discovery.credential(community("public"), [network.id]);
    before = (await expectOk(client.get("ledger"))).at;
    const targets = [...MACHINES, ...(hasNames ? [NAME_SERVER, ...NAMED_ADDRESSES] : [])];
    const scanRequest = { network_id: network.id, kind: "full", targets };
    dryRun = await discovery.runScan({ ...scanRequest, commit: false });
    const first = await discovery.runScan(scanRequest);
    hosts = await discovery.list(`/api/v1/hosts?network_id=${network.id}`);
    between = (await expectOk(client.get("ledger"))).at;
    machines.swap();
    scans = [first, await discovery.runScan(scanRequest)];
    visitor = await Visitor.create(running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  beforeEach(() => {
    visitor.problems();
  });

  afterAll(async () => {
    machines.close();
    await visitor.close();
    await closeBrowser();
    await sandbox.close();
  });

  const hostAt = (address: string): JsonRecord => {
    const found = hosts.find((host) => host.ip_addresses.some(({ ip_address }: JsonRecord) => ip_address === address));
    if (found === undefined) throw new Error(`no host has ${address}`);
    return found;
  };

  const firstAnnouncedAt = (address: string) => Object.keys(HOSTILE_TEXTS)[MACHINES.indexOf(address)] as HostileText;

  const servicesOf = (host: JsonRecord) =>
    Object.fromEntries(
      (host.services as JsonRecord[]).flatMap(({ name, bindings }) =>
        (bindings as JsonRecord[]).map(({ port_id }) => [
          (host.ports as JsonRecord[]).find(({ id }) => id === port_id)?.number,
          name,
        ]),
      ),
    );

  const openSafely = async (path: string) => {
    await follow(page, path);
    await expectUnbroken(path);
    expect([path, visitor.problems()]).toEqual([path, []]);
  };

  /** @param name of the page, for failures */
  const expectUnbroken = async (name: string) => {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expectEventually(async () => ({ name, width, ...(await damageOn(page, [HOSTILE_TEXTS.direction])) }), {
        name,
        width,
        ...UNDAMAGED,
      });
    }
  };

  test("is stored verbatim, on one line, without invisible characters, and truncated", () => {
    const stored = Object.fromEntries(
      MACHINES.map((address) => [firstAnnouncedAt(address), servicesOf(hostAt(address))]),
    );
    const expectedServices = (word: string, sshText = word) => ({
      2222: sshText,
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
    const { markup, template } = HOSTILE_TEXTS;
    const pair = (word: string) => `${word}: ${word}`.slice(0, 100);
    const long = (length: number) => "W".repeat(length);
    expect(stored.link).toEqual(expectedServices("javascript:broken=3"));
    expect(stored.markup).toEqual({
      ...expectedServices(markup, markup.replaceAll(" ", "/")),
      8080: pair(markup),
      8443: pair(markup),
      // The realm ends at a quote.
      8081: "HTTP",
    });
    const titled = `${template}: ${template.replace("&lt;", "<").replace("&gt;", ">")}`;
    expect(stored.template).toEqual({
      ...expectedServices(template, template.replaceAll(" ", "/")),
      8080: titled,
      8443: titled,
    });
    const reordered = "שרת-הדפסה خادم gnp.exe";
    expect(stored.direction).toEqual(expectedServices(reordered, reordered.replaceAll(" ", "/")));
    expect(stored.control).toEqual(expectedServices("a [31mb c d e f g"));
    expect(stored.invalid).toEqual({
      ...expectedServices("a ÿbÃ(cí d"),
      // 0xff starts a telnet command, which consumes the following bytes.
      2323: "Telnet: to a Ã(cí d",
    });
    expect(stored.long).toEqual({
      ...expectedServices(long(60)),
      2222: long(100),
      2323: `Telnet: to ${long(89)}`,
      5672: long(100),
      // Its page was truncated.
      8080: long(60),
      8443: long(60),
      8554: long(100),
      11211: `memcached ${long(90)}`,
    });
    expect(stored.blank).toEqual({
      ...expectedServices(HOSTILE_TEXTS.blank),
      // Nothing visible remains, so it is named after its port.
      2222: "ssh",
      8080: "HTTP alternate",
      8081: "HTTP",
      8443: "HTTPS alternate",
      8554: "rtsp",
    });
    for (const name of [stored.piled, stored.formula].flatMap((texts) => Object.values(texts ?? {})) as string[])
      expect(name).toMatch(/^[^\p{C}]{1,100}$/u);
    expect(stored.formula?.[8554]).toBe(HOSTILE_TEXTS.formula);
    expect(stored.piled?.[8554]).toBe(HOSTILE_TEXTS.piled);
  });

  test.skipIf(!hasNames)(`${withoutNames}includes DNS names of hosts only, and no others`, () => {
    const hostnames = NAMED_ADDRESSES.map((address) => [address.slice(-3), hostAt(address).hostname]);
    expect(Object.fromEntries(hostnames)).toEqual({
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
    expect(NAMED_ADDRESSES.slice(0, 5).map((address) => hostAt(address).name)).toEqual(NAMED_ADDRESSES.slice(0, 5));
    expect(servicesOf(hostAt(NAME_SERVER))).toEqual({ 53: HOSTILE_TEXTS.markup });
  });

  test("excludes names in certificates", async () => {
    expect(await expectOk(discovery.client.get(`search?q=${CERTIFICATE_PREFIX}`))).toEqual([]);
  });

  test("is labeled by its visible text if a device's name is invisible", () => {
    const [blankAddress] = MACHINES.filter((address) => firstAnnouncedAt(address) === "blank");
    const host = hostAt(blankAddress as string);
    const [{ mac_address }] = host.interfaces;
    expect(host).toMatchObject({ name: `Intel ${mac_address}`, sys_name: HOSTILE_TEXTS.blank });
  });

  /** The host that announces the text after the last scan. */
  const hostAnnouncing = (word: HostileText) =>
    hostAt(MACHINES.find((address) => machines.textAt(address) === word) as string);

  test("breaks, executes, overflows and reverses nothing on record pages, on phone and desktop", async () => {
    for (const host of MACHINES.map(hostAt)) await openSafely(`/hosts/${host.id}`);
    const { id, services, interfaces } = hostAnnouncing("direction");
    for (const tab of ["ports", "neighbors", "addresses", "services", "history", "credentials"])
      await openSafely(`/hosts/${id}?tab=${tab}`);
    for (const tab of ["services", "neighbors"])
      for (const word of ["long", "markup"] as const) await openSafely(`/hosts/${hostAnnouncing(word).id}?tab=${tab}`);
    for (const path of [
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
      await openSafely(path);
  });

  test("breaks nothing on lists, maps, changes, search results and scan pages", async () => {
    const networkQuery = `network=${network.id}`;
    const lists = ["/hosts", "/interfaces", "/addresses", "/services", "/ports", "/stations?show=all", "/conflicts"];
    for (const path of [
      ...lists,
      ...["/hosts", "/services"].flatMap((list) => [`${list}?at=${between}`, `${list}?vs=${between}`]),
      "/",
      ...["Telnet", "127.17.67.5", "שרת", MACHINES[0]].map((query) => `/?q=${encodeURIComponent(query as string)}`),
      `/map?${networkQuery}`,
      `/map?${networkQuery}&table=links`,
      `/map?${networkQuery}&isolated=yes&table=devices`,
      `/changes?${networkQuery}`,
      `/compare?${networkQuery}&vs=${before}`,
      `/compare?${networkQuery}&vs=${between}`,
      "/discovery",
      "/discovery/waiting",
      `/discovery/${dryRun.id}`,
      ...scans.flatMap(({ id, outcome: { transactions } }) => [
        `/changes/${transactions.last}`,
        ...["", "?type=Changed", "?type=Closed", "?type=Read"].map((type) => `/discovery/${id}${type}`),
      ]),
    ])
      await openSafely(path);
  });

  test("is plain text in the palette, and links to its record", async () => {
    await page.goto(`${running.url}/hosts`);
    await page.getByRole("banner").waitFor();
    const options = page.getByRole("dialog").getByRole("option");
    for (const word of [HOSTILE_TEXTS.markup.slice(0, 6), "שרת", "javascript", "WWWWWWWW"]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "A page, an action or a record" }).fill(word);
      const found = options.filter({ hasText: word }).filter({ hasText: /(?:host|service|interface|network)$/ });
      await found.first().waitFor();
      await expectUnbroken(`palette: ${word}`);
      await found.first().click();
      await page.waitForURL(/\/(?:hosts|interfaces|records\/\w+)\/[\da-f-]{36}/);
      await page.locator("main:has(h1):not(:has(.waiting))").waitFor();
    }
    expect(visitor.problems()).toEqual([]);
  });

  test("does not name saved files, except by letters, within file system limits", async () => {
    const marker = `"; filename="evil.html"; x=${HOSTILE_TEXTS.markup.slice(0, 30)}`;
    await expectOk(discovery.client.post("markers", { name: marker, at: between }));
    const renamedNetwork = { id: network.id, name: `../${"שרת ".repeat(50)}";‮gpj.html`, tags: [] };
    await expectOk(discovery.client.put(`networks/${network.id}`, { ...network, ...renamedNetwork }));
    const at = encodeURIComponent(`marker:${marker}`);
    for (const [path, link, name] of [
      ["/hosts", "Export CSV", /^hosts\.csv$/],
      [`/services?at=${at}`, "Export CSV", /^services-[\dTZ.-]+\.csv$/],
      [`/map?network=${network.id}`, "Mermaid", /^map\.mmd$/],
      [`/map?network=${network.id}`, "GraphML", /^map\.graphml$/],
      [`/map?network=${network.id}`, "SVG", /^map-[\p{L}\p{N}.-]{1,80}\.svg$/u],
      [`/map?network=${network.id}`, "PNG", /^map-[\p{L}\p{N}.-]{1,80}\.png$/u],
    ] as const) {
      await page.goto(running.url + path);
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
      expect([path, link, download.suggestedFilename()]).toEqual([path, link, expect.stringMatching(name)]);
    }
    expect(visitor.problems()).toEqual([]);
  });

  test("is shown verbatim as an import's table name, with an error if it is not a table", async () => {
    const cells = "name\r\nfrom-a-file\r\n";
    for (const name of [
      "<img src=x onerror=broken=6>.csv",
      `${HOSTILE_TEXTS.direction}.csv`,
      `${"W".repeat(251)}.csv`,
      "a\u0007b\u2028c.csv",
      "=cmd|' /C calc'!A0.csv",
    ]) {
      await page.goto(`${running.url}/hosts?table=yes`);
      const buffer = Buffer.from(cells);
      await page.getByLabel(/A CSV file|Another file/).setInputFiles({ name, mimeType: "text/csv", buffer });
      await page.getByText(/: 1 row$/).waitFor();
      await expectUnbroken(name);
      // By drag and drop as well.
      const dropped = JSON.stringify([cells, name]);
      await page.evaluate(`(() => {
        const [cells, name] = ${dropped};
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([cells + "second\\r\\n"], name, { type: "text/csv" }));
        document.querySelector(".table-drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
      })()`);
      await page.getByText(/: 2 rows$/).waitFor();
      await expectUnbroken(name);
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
    }
    await page.goto(`${running.url}/hosts?table=yes`);
    await page.getByLabel("A CSV file").waitFor();
    await page.evaluate(`(() => {
      // Simulates a directory, or a file deleted in the meantime.
      Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException("gone", "NotFoundError"));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([], "folder.csv"));
      document.querySelector(".table-drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
    })()`);
    await page.getByText("The file cannot be read: it is a folder or no longer exists.").waitFor();
    expect(visitor.problems()).toEqual([]);
  });
});

/** The executable with a separate name server. */
function withResolver(file: string): readonly string[] {
  const inside = 'mount --bind "$1" /etc/resolv.conf; shift; exec "$@"';
  return ["unshare", "--mount", "--", "sh", "-ec", inside, "sh", file, EXECUTABLE];
}
