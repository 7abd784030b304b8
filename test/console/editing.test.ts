// Editing in Chromium, on the executable: what is typed is checked, kept, saved over the version that it was begun on, and
// taken back; what others change meanwhile is not written over.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { formsOf } from "../../scripts/console-forms.ts";
import { createBareApp } from "../../src/bare-app.ts";
import { EDITED_KINDS, operationsOf } from "../../src/console/editing/edited-kinds.ts";
import { bodyOf, editedOf, meanwhile } from "../../src/console/editing/edits.ts";
import { type FormField, isSameTyped, sentValue, typedOf, wrongWith } from "../../src/console/editing/field.ts";
import { helpSaid } from "../../src/console/editing/field-help.ts";
import { openApiDocument } from "../../src/http/documentation.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, closeBrowser, hasChromium, settles, Visitor } from "../support/browser/browser.ts";
import { ensureExecutable, PASSWORD, type Running, type SetUp, Workplace } from "../support/executable/executable.ts";

const OWNER = "owner@acme.example";
const VIEWER = "viewer@acme.example";

const field = (about: Partial<FormField> & Pick<FormField, "name" | "type">): FormField => ({
  isNullable: false,
  isRequired: false,
  ...about,
});
const NAME = field({ name: "name", type: "text", isRequired: true, minLength: 1, maxLength: 5 });
const NOTE = field({ name: "description", type: "text", isNullable: true, maxLength: 4_000 });
const NUMBER = field({ name: "number", type: "integer", isRequired: true, minimum: 1, maximum: 4_094 });
const TAGS = field({ name: "tags", type: "ids", isRequired: true });

describe("a field of a form", () => {
  test.each([
    [NAME, "", "A value is required."],
    [NAME, "   ", "A value is required."],
    [NAME, "sw-1", null],
    [NAME, "😀😀😀😀😀", null],
    [NAME, "switch", "At most 5 characters; it has 6."],
    [NOTE, "", null],
    [NUMBER, "20", null],
    [NUMBER, " 20 ", null],
    [NUMBER, "0", "A number from 1 to 4094."],
    [NUMBER, "4095", "A number from 1 to 4094."],
    [NUMBER, "2e3", "A whole number, such as 20."],
    [NUMBER, "20.5", "A whole number, such as 20."],
    [field({ name: "status", type: "choice", choices: ["Up"] }), "Down", "A value is required."],
    [TAGS, [], null],
  ] as const)("is checked by the limits of the API's schema", (of, typed, sentence) => {
    expect([typed, wrongWith(of, typed)]).toEqual([typed, sentence]);
  });

  test("gives back what it was given where nobody touches it", () => {
    for (const [of, value] of [
      [NAME, "sw-1"],
      [NOTE, null],
      [NUMBER, 20],
      [TAGS, ["b", "a"]],
      [field({ name: "hidden", type: "boolean" }), true],
    ] as const)
      expect(sentValue(of, typedOf(of, value))).toEqual(value);
    expect(isSameTyped(["a", "b"], ["b", "a"])).toBe(true);
  });

  test("is explained in the words of a form, not in those of JSON", async () => {
    const help = (type: FormField["type"], description: string) => helpSaid({ type, description });
    expect(help("text", "Not blank, no control characters.")).toBeNull();
    expect(help("text", '"" when none is given; null clears it.')).toBeNull();
    expect(help("boolean", "Default in a create: true.")).toBeNull();
    expect(help("text", "What people read. Default in a create: the key. No control characters.")).toBe(
      "What people read. Default: the key.",
    );
    expect(help("integer", "Hours unseen after which a record is stale; null: never.")).toBe(
      "Hours unseen after which a record is stale; empty: never.",
    );
    expect(help("choice", "`date`: a day such as 2026-11-21.")).toBe("date: a day such as 2026-11-21.");
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    const said = EDITED_KINDS.flatMap((kind) => {
      const { create, update } = operationsOf(kind);
      return [...forms[create], ...forms[update]].map((each) => helpSaid(each) ?? "");
    });
    expect(said.some((each) => each !== "")).toBe(true);
    expect(said.filter((each) => /`|\bnull\b|control characters|in a create/i.test(each))).toEqual([]);
  });

  test("of the API is in a form, or is left out for a reason", async () => {
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    const text = await Bun.file("src/console/editing/forms.ts").text();
    const listed = (kind: string, list: "placed" | "shown") => {
      const said = new RegExp(`\\n  ${kind}: \\{[\\s\\S]*?${list}: \\[([^\\]]*)\\]`).exec(text)?.[1] ?? "";
      return [...said.matchAll(/"(\w+)"/g)].map(([, name]) => name ?? "");
    };
    for (const kind of EDITED_KINDS) {
      const { create, update } = operationsOf(kind);
      for (const operation of [create, update]) {
        // Each custom field is one of the form.
        const placed = operation === create ? listed(kind, "placed") : [];
        const inForm = [...placed, ...listed(kind, "shown"), "custom_fields"];
        const taken = forms[operation].map(({ name }) => name);
        const left = taken.filter((name) => !inForm.includes(name) && !(name in IDENTITY));
        const reasons = Object.keys(LEFT_OUT[kind] ?? {}).filter((name) => taken.includes(name));
        expect([operation, left.sort()]).toEqual([operation, reasons.sort()]);
        expect([operation, inForm.filter((name) => name !== "custom_fields" && !taken.includes(name))]).toEqual([
          operation,
          [],
        ]);
      }
    }
  });
});

/** Of the record itself, or where it belongs, which a record that is there does not change. */
const IDENTITY = { id: true, organization_id: true, network_id: true, host_id: true };
const PARTS = "records of their own";
const TOLD = "told by the device";
const ORDER = "orders are for programs";
/** What the API takes and no form has, and why. */
const LEFT_OUT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  host: {
    virtualization: TOLD,
    credential_assignments: PARTS,
    ip_addresses: PARTS,
    ports: PARTS,
    services: PARTS,
    interfaces: PARTS,
    expected_updated_at: "If-Match says it",
  },
  if_entry: {
    fdb_macs: TOLD,
    lldp_chassis_id: TOLD,
    lldp_port_id: TOLD,
    lldp_sys_name: TOLD,
    lldp_sys_desc: TOLD,
    lldp_port_desc: TOLD,
    lldp_mgmt_addr: TOLD,
    cdp_device_id: TOLD,
    cdp_port_id: TOLD,
    cdp_platform: TOLD,
    cdp_address: TOLD,
    neighbor: TOLD,
  },
  ip_address: { position: ORDER },
  ip_range: { subnet_id: "the API finds the most specific one" },
  service: { virtualization: TOLD, bindings: PARTS, position: ORDER },
};

describe("two edits of one record", () => {
  const fields = [NAME, NOTE, NUMBER, TAGS];
  const base = { name: "sw-1", description: null, number: 20, tags: ["a"] };

  test("send what is required and what was typed, and nothing else", () => {
    const typed = { description: "Hall 2", number: "20" };
    const edited = editedOf(fields, base, typed);
    expect(edited).toEqual([NOTE]);
    expect(bodyOf(fields, base, edited, typed)).toEqual({
      name: "sw-1",
      number: 20,
      tags: ["a"],
      description: "Hall 2",
    });
  });

  test("clash where both changed a field to something else, and nowhere else", () => {
    const theirs = { name: "sw-2", description: "Hall 3", number: 30, tags: ["a", "b"] };
    const typed = { description: "Hall 2", number: "30" };
    expect(meanwhile(fields, base, theirs, typed)).toEqual({
      clashes: [{ field: NOTE, was: "", theirs: "Hall 3", mine: "Hall 2" }],
      others: ["name", "tags"],
    });
  });
});

describe.skipIf(!hasChromium)("whoever edits", () => {
  let workplace: Workplace;
  let appliance: SetUp & { readonly running: Running; readonly client: ReturnType<Running["withKey"]> };
  let visitor: Visitor;
  let page: Page;
  let host: Wire;

  beforeAll(async () => {
    ensureExecutable();
    workplace = new Workplace();
    appliance = await workplace.serveSetUp();
    await workplace.command(
      ...["user", "create", "--email", VIEWER, "--role", "Viewer", "--networks", appliance.networkId],
      ...["--password-file", await workplace.passwordFile()],
    );
    visitor = await Visitor.arrive(appliance.running.url);
    page = await visitor.signIn(OWNER, PASSWORD);
  });

  beforeEach(async () => {
    const { client, networkId } = appliance;
    host = await made(
      client.post("hosts", { network_id: networkId, name: "access-1", hidden: false, tags: [], description: "Hall 1" }),
    );
    visitor.troubles();
    await page.goto(`${appliance.running.url}/hosts/${host.id}`);
  });

  afterAll(async () => {
    await visitor.leave();
    await closeBrowser();
    await workplace.close();
  });

  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const saved = () => page.getByText("Saved.").waitFor();
  const now = () => made(appliance.client.get(`hosts/${host.id}`));
  const history = async (): Promise<Wire[]> =>
    made(appliance.client.get(`hosts/${host.id}/history`)) as unknown as Promise<Wire[]>;
  const byOthers = async (changes: object) => {
    const { name, hidden, tags } = await now();
    await made(appliance.client.put(`hosts/${host.id}`, { id: host.id, name, hidden, tags, ...changes }));
  };

  test("closes by Escape a form in which nothing was changed, and no other", async () => {
    await edit();
    const form = page.getByRole("form", { name: "Edit access-1" });
    const location = page.getByLabel("Location");
    await location.fill("Room 2");
    await page.keyboard.press("Escape");
    await settles(() => location.inputValue(), "Room 2");
    await location.fill("");
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await history()).toHaveLength(1);
    expect(visitor.troubles()).toEqual([]);
  });

  test("changes a host, says why, reads what undoing comes to, and undoes it", async () => {
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    await page.keyboard.press("e");
    const name = page.getByLabel("Name", { exact: true });
    await name.waitFor();
    await settles(() => page.evaluate("document.activeElement?.id"), "edit-name");
    await page.getByLabel("Asset tag").fill("LF-00042");
    await page.getByLabel("Why").fill("Inventur – geprüft");
    await save();
    await saved();
    await page.locator(".facts").getByText("LF-00042").waitFor();
    const [version] = await history();
    expect(version).toMatchObject({
      changed_fields: ["asset_tag"],
      transaction: { reason: "Inventur – geprüft", actor: { name: OWNER } },
    });
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    const plan = page.getByRole("region", { name: "Undo this transaction" });
    await plan.getByText("Changes host access-1").waitFor();
    await plan.getByText("Asset tag", { exact: true }).waitFor();
    await plan.locator("del").getByText("LF-00042").waitFor();
    await plan.locator("ins").getByText("none").waitFor();
    expect(await now()).toMatchObject({ asset_tag: "LF-00042" });
    await page.getByRole("button", { name: "Undo it" }).click();
    await page.getByText("Done.").waitFor();
    expect(await now()).toMatchObject({ asset_tag: null });
    expect(await history()).toHaveLength(3);
    expect(visitor.troubles()).toEqual([]);
  });

  test("leaves what a colleague changed meanwhile in other fields, without being asked", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await byOthers({ description: "Hall 2" });
    await save();
    await saved();
    await page.getByText("Meanwhile others changed Description.").waitFor();
    expect(await now()).toMatchObject({ model: "C9300-48P", description: "Hall 2" });
    expect(visitor.troubles().filter((each) => !each.includes("412"))).toEqual([]);
  });

  test("chooses where both changed the same field, and loses nothing that was typed", async () => {
    await edit();
    await page.getByLabel("Description", { exact: true }).fill("Hall 3");
    await page.getByLabel("Model").fill("C9300-48P");
    await byOthers({ description: "Hall 2" });
    await save();
    const clash = page.getByRole("alert").filter({ hasText: "Others changed this while you edited." });
    await clash.waitFor();
    await settles(() => clash.locator("dd").allTextContents(), ["Hall 1", "Hall 2", "Hall 3"]);
    expect(await now()).toMatchObject({ description: "Hall 2", model: null });
    await settles(() => page.getByRole("button", { name: "Save again" }).isDisabled(), true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await clash.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("button", { name: "Save again" }).click();
    await saved();
    expect(await now()).toMatchObject({ description: "Hall 3", model: "C9300-48P" });
    visitor.troubles();
  });

  test("reads at the field what the API refuses, and what is wrong before it is sent", async () => {
    await edit();
    await page.getByLabel("Name", { exact: true }).fill(" ");
    await page.getByText("A value is required.").waitFor();
    await settles(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
    await page.getByLabel("Name", { exact: true }).fill("access\u0007");
    await save();
    const wrong = page.locator(".edit-wrong");
    await wrong.waitFor();
    await settles(() => wrong.textContent(), expect.stringContaining("control"));
    await settles(() => page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
    expect(await now()).toMatchObject({ name: "access-1" });
    await page.getByRole("button", { name: "Cancel" }).click();
    const button = page.getByRole("button", { name: "Edit", exact: true });
    await button.waitFor();
    await settles(() => page.evaluate("document.activeElement?.textContent"), "Edit");
    expect(visitor.troubles().filter((each) => !each.includes("400"))).toEqual([]);
  });

  test("finds what was typed after a reload, and after the session ended", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    await page.reload();
    await page.getByText("What you had typed is back.").waitFor();
    await settles(() => page.getByLabel("Model").inputValue(), "C9300-48P");
    await visitor.context.clearCookies();
    await save();
    await page.getByLabel("E-mail").fill(OWNER);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("What you had typed is back.").waitFor();
    await save();
    await saved();
    expect(await now()).toMatchObject({ model: "C9300-48P" });
    expect(await page.evaluate("Object.keys(sessionStorage)")).toEqual([]);
    visitor.troubles();
  });

  test("shows what it saved, undid and removed, though the feed of changes says nothing", async () => {
    const feed = /\/api\/v1\/changes\?/;
    await page.route(feed, (route) => route.fulfill({ status: 204 }));
    await page.reload();
    await edit();
    await page.getByLabel("Name", { exact: true }).fill("access-2");
    await save();
    await page.getByRole("heading", { name: "access-2", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("button", { name: "Undo it" }).click();
    await page.getByRole("heading", { name: "access-1", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("form").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("heading", { name: "This host is gone" }).waitFor();
    expect(visitor.troubles().filter((trouble) => !trouble.includes("404"))).toEqual([]);
    await page.unroute(feed);
  });

  test("saves once, though the answer was lost on the way", async () => {
    await edit();
    await page.getByLabel("Model").fill("C9300-48P");
    let isLost = false;
    await page.route(`**/api/v1/hosts/${host.id}`, async (route) => {
      if (isLost || route.request().method() !== "PUT") return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await save();
    await page.getByText("It is not known whether it was saved.").waitFor();
    await page.getByRole("button", { name: "Save again" }).click();
    await saved();
    expect(await history()).toHaveLength(2);
    expect(await now()).toMatchObject({ model: "C9300-48P" });
    visitor.troubles();
  });

  test("brings back what a host was, and a host that is gone with its parts, having read what that comes to", async () => {
    const { client, networkId, running } = appliance;
    const port = { host_id: host.id, network_id: networkId, if_index: 7, if_descr: "Gi1/0/7" };
    await made(client.post("if-entries", port));
    const { updated_at: then } = await now();
    await byOthers({ description: "Hall 9" });
    await page.goto(`${running.url}/hosts/${host.id}?at=${then}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.locator(".plan");
    await plan.getByText("Changes host access-1").waitFor();
    await plan.getByText("Description", { exact: true }).waitFor();
    await plan.locator("del").getByText("Hall 9").waitFor();
    await plan.locator("ins").getByText("Hall 1").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await now()).toMatchObject({ description: "Hall 9" });
    await page.getByLabel("Why").fill("wrong hall");
    await page.getByRole("button", { name: "Restore this" }).click();
    await page.getByRole("link", { name: /^Transaction/ }).click();
    await page.getByText("wrong hall").waitFor();
    expect(await now()).toMatchObject({ description: "Hall 1" });
    await page.getByRole("button", { name: "Undo it" }).click();
    await plan.locator("del").getByText("Hall 1").waitFor();
    await plan.locator("ins").getByText("Hall 9").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await client.delete(`hosts/${host.id}`);
    await page.goto(`${running.url}/hosts/${host.id}`);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByText("Brings back interface").waitFor();
    await page.evaluate(
      `new MutationObserver(() => {
        window.saidNone ||= document.body.textContent.includes("There is no such host");
      }).observe(document.body, { subtree: true, childList: true, characterData: true })`,
    );
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.evaluate("window.saidNone ?? false")).toBe(false);
    const entries = (await client.get(`if-entries?host_id=${host.id}`)).data as unknown as Wire[];
    expect(entries.map(({ if_index }) => if_index)).toEqual([7]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("is offered it neither in the past nor without the right", async () => {
    await page.goto(`${appliance.running.url}/hosts/${host.id}?at=${host.created_at}&edit=yes`);
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.getByRole("button", { name: /^Edit|^Save/ }).count()).toBe(0);
    const viewer = await Visitor.arrive(appliance.running.url);
    try {
      const seen = await viewer.signIn(VIEWER, PASSWORD, `/hosts/${host.id}?edit=yes`);
      await seen.getByRole("heading", { name: "access-1" }).waitFor();
      expect(await seen.getByRole("button", { name: /^Edit|^Save|^Restore/ }).count()).toBe(0);
      expect(viewer.troubles()).toEqual([]);
    } finally {
      await viewer.leave();
    }
  });

  test("sets the fields that the organization has added, clears one, and is told at its field what is wrong", async () => {
    const { client } = appliance;
    const define = (body: object) => made(client.post("custom-fields", { kinds: ["host"], ...body }));
    await define({ key: "room", label: "Room", type: "text" });
    await define({ key: "rented", label: "Rented", type: "boolean" });
    await define({ key: "power_w", label: "Power", type: "number" });
    await define({ key: "contract", label: "Contract", type: "url" });
    await define({ key: "criticality", label: "Criticality", type: "choice", choices: ["low", "high"] });
    await define({ key: "warranty", label: "Warranty", type: "date" });
    await page.reload();
    await edit();
    await page.getByLabel("Room").fill("x".repeat(1_001));
    await page.getByText("At most 1000 characters; it has 1001.").waitFor();
    await page.getByLabel("Room").fill("H2.17");
    await page.getByLabel("Rented").selectOption({ label: "no" });
    await page.getByLabel("Power").fill("42.5");
    await page.getByLabel("Criticality").selectOption("high");
    await page.getByLabel("Warranty").fill("2027-01-31");
    await page.getByLabel("Contract").fill("javascript:alert(1)");
    await save();
    await page.locator(".edit-wrong").waitFor();
    await settles(() => page.getByLabel("Contract").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Contract").fill("https://erp.example/17");
    await page.getByRole("button", { name: "Save again" }).click();
    await saved();
    const values = { room: "H2.17", rented: false, power_w: 42.5, criticality: "high", warranty: "2027-01-31" };
    expect(await now()).toMatchObject({ custom_fields: { ...values, contract: "https://erp.example/17" } });
    await edit();
    await page.getByLabel("Room").fill("");
    await save();
    await saved();
    const { custom_fields: left } = await now();
    expect(Object.keys(left).sort()).toEqual(["contract", "criticality", "power_w", "rented", "warranty"]);
    visitor.troubles();
  });

  test("has a form for an interface, a subnet and a VLAN, in any width and light", async () => {
    const { client, networkId } = appliance;
    const vlan = await made(client.post("vlans", { network_id: networkId, number: 20, name: "Offices" }));
    const subnet = await made(
      client.post("subnets", { network_id: networkId, cidr: "10.9.0.0/24", name: "Lab", subnet_type: "Lan", tags: [] }),
    );
    const entry = await made(
      client.post("if-entries", { host_id: host.id, network_id: networkId, if_index: 1, if_descr: "Gi1/0/1" }),
    );
    const tag = await made(client.post("tags", { name: "core", color: "Blue" }));
    await page.goto(`${appliance.running.url}/subnets/${subnet.id}?edit=yes`);
    await page.getByLabel("VLAN", { exact: true }).selectOption({ label: "20 Offices" });
    await page.getByLabel("Tags").selectOption({ label: "core" });
    await page.getByRole("button", { name: "Remove core" }).waitFor();
    await save();
    await saved();
    expect(await made(client.get(`subnets/${subnet.id}`))).toMatchObject({ vlan_id: vlan.id, tags: [tag.id] });
    await page.goto(`${appliance.running.url}/interfaces/${entry.id}?edit=yes`);
    await page.getByLabel("Operational status").selectOption("Down");
    await page.getByLabel("Speed", { exact: true }).fill("1000000000");
    await save();
    await saved();
    expect(await made(client.get(`if-entries/${entry.id}`))).toMatchObject({ oper_status: "Down", speed_bps: 1e9 });
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(`${appliance.running.url}/vlans/${vlan.id}?edit=yes`);
    await page.getByLabel("Number").fill("4095");
    await page.getByText("A number from 1 to 4094.").waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await accessibilityFindings(page)]).toEqual([colorScheme, []]);
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(visitor.troubles()).toEqual([]);
  });
});
