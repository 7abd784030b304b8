// A Viewer and a Member meet what they may not: they walk through every page of a month of a campus, in Chromium, on the
// executable, and are offered nothing that the API would refuse; what they send by hand all the same is refused.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Request } from "playwright-core";
import { PAGE_PATHS } from "../../src/console/url/page-paths.ts";
import { DEMO_EMAIL } from "../../src/demo/cast.ts";
import { DEMO_PASSWORD } from "../../src/demo/demo.ts";
import { closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { PAGE_SAMPLES } from "../support/browser/page-samples.ts";
import { ensureExecutable, type Running, Workplace } from "../support/executable/executable.ts";
import { LONG_TEST_HANG_MS } from "../support/measure/limits.ts";

const PASSWORD = "correct horse battery staple";

/** Controls that write: what they are called, on which pages, and the operations of which one has to be permitted. */
const WRITERS: ReadonlyArray<readonly [called: RegExp, where: RegExp, operations: readonly string[]]> = [
  [/^New network/, /./, ["createNetwork"]],
  [/^New tag/, /./, ["createTag"]],
  [/^New custom field/, /./, ["createCustomField"]],
  [/^New marker/, /./, ["createMarker"]],
  [/^New subnet/, /./, ["createSubnet"]],
  [/^New range/, /./, ["createIpRange"]],
  [/^New VLAN/, /./, ["createVlan"]],
  [/^New host/, /./, ["createHost"]],
  [/^New address/, /./, ["createIpAddress"]],
  [/^New port/, /./, ["createPort"]],
  [/^New service/, /./, ["createService"]],
  [/^New interface/, /./, ["createIfEntry"]],
  [/^New schedule/, /./, ["createSchedule"]],
  [/^Edit the organization$/, /./, ["updateOrganization"]],
  [/^(Edit|Delete)/, /^\/hosts/, ["updateHost"]],
  [/^(Edit|Delete)/, /^\/interfaces/, ["updateIfEntry"]],
  [/^(Edit|Delete)/, /^\/subnets/, ["updateSubnet"]],
  [/^(Edit|Delete)/, /^\/vlans/, ["updateVlan"]],
  [/^(Edit|Delete)/, /schedules/, ["updateSchedule"]],
  [/^(Edit|Delete)/, /^\/records\/tag/, ["updateTag"]],
  [/^(Edit|Delete) /, /people/, ["updateUser"]],
  [/^(Edit|Rotate|Delete) the key /, /keys/, ["updateApiKey"]],
  [/^(Edit|Delete)/, /^\/settings\/credentials/, ["updateCredential"]],
  [/^New credential$/, /./, ["createCredential"]],
  [/^Try it$/, /^\/settings\/credentials/, ["tryCredential"]],
  [/^New user$/, /./, ["createUser"]],
  [/^New key$/, /./, ["createApiKey"]],
  [/^Import CSV$/, /^\/hosts/, ["importHosts"]],
  [/^Import CSV$/, /^\/interfaces/, ["importIfEntries"]],
  [/^Import CSV$/, /^\/addresses/, ["importIpAddresses"]],
  [/^Import CSV$/, /^\/ports/, ["importPorts"]],
  [/^Import CSV$/, /^\/services/, ["importServices"]],
  [/^Import CSV$/, /^\/subnets\/list/, ["importSubnets"]],
  [/^Import CSV$/, /^\/subnets\/ranges/, ["importIpRanges"]],
  [/^Import CSV$/, /^\/vlans/, ["importVlans"]],
  [/^Import CSV$/, /networks/, ["importNetworks"]],
  [/^Import CSV$/, /tags/, ["importTags"]],
  [/^Import CSV$/, /^\/discovery\/schedules/, ["importSchedules"]],
  [/^Import CSV$/, /custom-fields/, ["importCustomFields"]],
  [/^Import CSV$/, /markers/, ["importMarkers"]],
  [/^(Join or split|Show what would change)/, /./, ["consolidateHosts", "splitHost"]],
  [/^Scan/, /./, ["createScan"]],
  [/^Check /, /./, ["checkIpAddress"]],
  [/^Bind /, /./, ["createBinding"]],
  [/^Allocate/, /./, ["allocateFromSubnet"]],
  [/^Accept: /, /./, ["acceptConflict"]],
  [/^Undo it$/, /./, ["revertTransaction"]],
  [/^Take a backup$/, /./, ["createBackup"]],
  [/^Preview$/, /retention/, ["previewRetention"]],
  [/^Verify now$/, /./, ["createLedgerVerification"]],
  [/^Change password$/, /./, ["changePassword"]],
];

/** What writes nothing but one's own preferences, or nothing at all. */
const HARMLESS =
  /^(\d{4}-\d\d-\d\d [\d:]+|After it|Apply|Export CSV|Columns|History|More|Copy all|Copy as curl|Filter by .*|Standard columns|Views|Save this view|Pause|Pin|Reset all|Reset: .*|Older|Next|Before it|Compare .*|.* ago|All interfaces of the device|Fullest first|Settings(: .*)?)$/;

interface Offer {
  readonly path: string;
  readonly name: string;
}

afterAll(() => closeBrowser());

describe.skipIf(!hasChromium)("whoever may do less", () => {
  let workplace: Workplace;
  let running: Running;
  let owner: Visitor;
  let ownersPage: Page;
  let addresses: string[];
  /** What an Owner is offered: what is looked for is there to be found. */
  let offered: Offer[];

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    running = await workplace.serveDemo();
    owner = await Visitor.arrive(running.url);
    ownersPage = await owner.signIn(DEMO_EMAIL, DEMO_PASSWORD);
    const api = (path: string) => `${running.url}/api/v1/${path}`;
    const { data: networks } = await (await ownersPage.request.get(api("networks?limit=0"))).json();
    for (const role of ["Viewer", "Member"]) {
      const answer = await ownersPage.request.post(api("users"), {
        data: {
          email: emailOf(role),
          name: role,
          role,
          password: PASSWORD,
          network_ids: networks.map(({ id }: { id: string }) => id),
        },
      });
      expect([role, answer.status()]).toEqual([role, 200]);
    }
    addresses = await Promise.all(
      PAGE_PATHS.map(async (path) => {
        const sample = PAGE_SAMPLES[path];
        if (sample === undefined) {
          expect([path, path.includes(":")], "a new page of records takes a place in PAGE_SAMPLES").toEqual([
            path,
            false,
          ]);
          return path;
        }
        const [list, field] = sample;
        const { data } = await (await ownersPage.request.get(api(list))).json();
        return path.replace(":kind", "tag").replace(/:\w+/, String(data[0][field]));
      }),
    );
    addresses.push(
      ...["services", "addresses", "history"].map((tab) => `${addresses[PAGE_PATHS.indexOf("/hosts/:id")]}?tab=${tab}`),
    );
    const { data: newest } = await (await ownersPage.request.get(api("transactions?limit=1"))).json();
    addresses.push(`/changes/${newest[0].sequence}`);
    offered = await walk(owner, ownersPage);
  }, LONG_TEST_HANG_MS);

  afterAll(async () => {
    await owner.leave();
    await workplace.close();
  });

  const emailOf = (role: string) => `${role.toLowerCase()}@campus.example`;

  /** What can be pressed on every page. */
  async function walk(visitor: Visitor, page: Page): Promise<Offer[]> {
    const found: Offer[] = [];
    const awaited = new Set<Request>();
    // The stream of changes has no end.
    page.on("request", (request) => !request.url().includes("/api/v1/changes?after=") && awaited.add(request));
    const end = (request: Request) => awaited.delete(request);
    page.on("requestfinished", end);
    page.on("requestfailed", end);
    for (const path of addresses) {
      await page.goto(running.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator(".waiting").first().waitFor({ state: "detached" });
      await page.locator("main[aria-busy=true]").waitFor({ state: "detached" });
      // Some controls come with an answer that others of the page do not wait for.
      await settles(async () => awaited.size, 0);
      await page.evaluate("new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(() => shown())))");
      const names = (await page.evaluate(
        `[...document.querySelectorAll("main button:not(.copied), main a.button, main input[type=file]")]
          .map((each) => (each.getAttribute("aria-label") ?? each.textContent ?? each.type).trim())`,
      )) as string[];
      found.push(...names.map((name) => ({ path: new URL(path, running.url).pathname, name })));
      expect([path, visitor.troubles()]).toEqual([path, []]);
    }
    return found;
  }

  const writerOf = ({ path, name }: Offer) =>
    WRITERS.find(([called, where]) => called.test(name) && where.test(path)) ?? null;
  /** What writes, and what nobody has said of whether it does. */
  const told = (offers: readonly Offer[]) => ({
    writers: offers.filter((offer) => writerOf(offer) !== null),
    unknown: offers.filter((offer) => writerOf(offer) === null && !HARMLESS.test(offer.name)),
  });

  test("is offered less than an Owner, of whom it is known what every control on every page does", () => {
    const { writers, unknown } = told(offered);
    expect(unknown).toEqual([]);
    const unseen = WRITERS.filter((writer) => !writers.some((offer) => writerOf(offer) === writer));
    expect(unseen.map(([called, where]) => `${called} ${where}`)).toEqual([]);
  });

  test.each(["Viewer", "Member"])(
    "a %s walks through every page, is offered nothing that is refused, and is refused what is sent by hand",
    async (role) => {
      const visitor = await Visitor.arrive(running.url);
      const page = await visitor.signIn(emailOf(role), PASSWORD);
      const me = (await (await page.request.get(`${running.url}/api/auth/me`)).json()).data;
      const permitted = new Set<string>(me.permitted_operations);
      const { writers, unknown } = told(await walk(visitor, page));
      expect(unknown).toEqual([]);
      expect(writers.filter((offer) => writerOf(offer)?.[2].some((each) => permitted.has(each)) !== true)).toEqual([]);
      // The last transaction is the Owner's.
      expect(writers.filter(({ name }) => name === "Undo it")).toEqual([]);
      // They are offered what they may: a Viewer can change their password, a Member the inventory.
      expect(writers.length).toBeGreaterThan(role === "Viewer" ? 0 : 25);

      const { paths } = await (await page.request.get(`${running.url}/api/openapi.json`)).json();
      const refused: string[] = [];
      for (const [path, methods] of Object.entries<Record<string, { operationId?: string }>>(paths))
        for (const [method, { operationId }] of Object.entries(methods)) {
          if (!["post", "put", "delete"].includes(method) || operationId === undefined) continue;
          if (permitted.has(operationId) || ["setUp", "signIn", "signOut"].includes(operationId)) continue;
          const url = running.url + path.replaceAll(/\{\w+\}/g, "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0001");
          const answer = await page.request.fetch(url, { method: method.toUpperCase(), data: {} });
          refused.push(operationId);
          expect([operationId, answer.status()]).toEqual([operationId, 403]);
        }
      expect(refused).toContain("createTag");
      expect(refused.length).toBeGreaterThan(role === "Viewer" ? 80 : 25);
      const written = await ownersPage.request.get(`${running.url}/api/v1/transactions?actor_id=${me.id}`);
      expect((await written.json()).data).toEqual([]);
      visitor.troubles();
      await visitor.leave();
    },
    LONG_TEST_HANG_MS,
  );
});
