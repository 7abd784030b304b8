// Editing in Chromium, on the executable: input is validated, kept, saved against the version it started from, and
// undone; concurrent changes are not overwritten.

import { beforeEach, describe, expect, test } from "bun:test";
import { formsOf } from "../../scripts/console-forms.ts";
import { formFields } from "../../src/console/editing/form-fields.ts";
import { bodyOf, editedOf, meanwhile } from "../../src/console/forms/edits.ts";
import { type FormField, isSameTyped, sentValue, typedOf, wrongWith } from "../../src/console/forms/field.ts";
import { helpSaid } from "../../src/console/forms/field-help.ts";
import { EDITED_KINDS, loadDetails, operationOn } from "../../src/console/kinds/kinds.ts";
import { openApiDocument } from "../../src/http/documentation.ts";
import { createBareApp } from "../../src/registry/bare-app.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { accessibilityFindings, expectAccessibleInBoth, hasChromium, settles } from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

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

describe("a form field", () => {
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
  ] as const)("is validated by the limits of the API schema", (of, typed, sentence) => {
    expect([typed, wrongWith(of, typed)]).toEqual([typed, sentence]);
  });

  test("round-trips an untouched value", () => {
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

  test("has form labels instead of JSON terms", async () => {
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
      const [create, update] = [operationOn("create", kind), operationOn("update", kind)];
      return [...forms[create], ...forms[update]].map((each) => helpSaid(each) ?? "");
    });
    expect(said.some((each) => each !== "")).toBe(true);
    expect(said.filter((each) => /`|\bnull\b|control characters|in a create/i.test(each))).toEqual([]);
  });

  test("exists for every API field, except those exempt for a stated reason", async () => {
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    for (const kind of EDITED_KINDS) {
      const details = await loadDetails(kind);
      for (const operation of [operationOn("create", kind), operationOn("update", kind)]) {
        const fields = formFields(forms[operation], details, operation.startsWith("create"));
        // Every custom field appears in the form.
        const inForm = [...fields.map(({ name }) => name), "custom_fields"];
        const taken = forms[operation].map(({ name }) => name);
        const left = taken.filter((name) => !inForm.includes(name) && !(name in IDENTITY));
        const reasons = Object.keys(LEFT_OUT[kind] ?? {}).filter((name) => taken.includes(name));
        expect([operation, left.sort()]).toEqual([operation, reasons.sort()]);
        const listed = [...(details.form ?? []), ...(details.unset ?? []), ...Object.keys(details.usual ?? {})];
        expect([operation, listed.filter((name) => !taken.includes(name))]).toEqual([operation, []]);
      }
    }
  });

  test("not mentioned by its kind comes after the others, unless the kind excludes it or it holds parts", () => {
    const all = [NAME, { ...NAME, name: "rack_unit" }, { ...NAME, name: "parts", type: "other" as const }];
    const names = (isNew: boolean, form: readonly string[], unset: readonly string[] = []) =>
      formFields(all, { form, unset }, isNew).map(({ name }) => name);
    expect(names(true, ["name"])).toEqual(["name", "rack_unit"]);
    expect(names(false, ["rack_unit", "name"])).toEqual(["rack_unit", "name"]);
    expect(names(false, ["name"], ["rack_unit"])).toEqual(["name"]);
  });
});

/** Of the record itself or its container, fixed after creation. */
const IDENTITY = { id: true, organization_id: true, network_id: true, host_id: true };
const PARTS = "records of their own";
const TOLD = "told by the device";
const ORDER = "orders are for programs";
/** API fields without a form field, and why. */
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

describe("concurrent edits of one record", () => {
  const fields = [NAME, NOTE, NUMBER, TAGS];
  const base = { name: "sw-1", description: null, number: 20, tags: ["a"] };

  test("send only required and edited fields", () => {
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

  test("conflict only if both changed a field to different values", () => {
    const theirs = { name: "sw-2", description: "Hall 3", number: 30, tags: ["a", "b"] };
    const typed = { description: "Hall 2", number: "30" };
    expect(meanwhile(fields, base, theirs, typed)).toEqual({
      clashes: [{ field: NOTE, was: "", theirs: "Hall 3", mine: "Hall 2" }],
      others: ["name", "tags"],
    });
  });
});

describe.skipIf(!hasChromium)("editing", () => {
  let host: Wire;
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  beforeEach(async () => {
    host = await made(
      client.post("hosts", {
        network_id: appliance.networkId,
        name: "access-1",
        hidden: false,
        tags: [],
        description: "Hall 1",
      }),
    );
    visitor.troubles();
    await page.goto(`${appliance.url}/hosts/${host.id}`);
  });

  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const saved = () => page.getByText("Saved.").waitFor();
  const now = () => made(client.get(`hosts/${host.id}`));
  const byOthers = async (changes: object) => {
    const { name, hidden, tags } = await now();
    await made(client.put(`hosts/${host.id}`, { id: host.id, name, hidden, tags, ...changes }));
  };

  test("lets the user resolve a conflict on a field, without losing input", async () => {
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

  test("restores a former state of a host, and a deleted host with its parts, after a preview", async () => {
    const port = { host_id: host.id, network_id: appliance.networkId, if_index: 7, if_descr: "Gi1/0/7" };
    await made(client.post("if-entries", port));
    const { updated_at: then } = await now();
    await byOthers({ description: "Hall 9" });
    await page.goto(`${appliance.url}/hosts/${host.id}?at=${then}`);
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
    await page.getByRole("button", { name: "Undo" }).click();
    await plan.locator("del").getByText("Hall 1").waitFor();
    await plan.locator("ins").getByText("Hall 9").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await client.delete(`hosts/${host.id}`);
    await page.goto(`${appliance.url}/hosts/${host.id}`);
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByText("Brings back interface").waitFor();
    await page.evaluate(
      `new MutationObserver(() => {
        window.saidNone ||= document.body.textContent.includes("Host not found");
      }).observe(document.body, { subtree: true, childList: true, characterData: true })`,
    );
    await page.getByRole("button", { name: "Bring it back" }).click();
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.evaluate("window.saidNone ?? false")).toBe(false);
    const entries = (await client.get(`if-entries?host_id=${host.id}`)).data as unknown as Wire[];
    expect(entries.map(({ if_index }) => if_index)).toEqual([7]);
    expect(visitor.troubles()).toEqual([]);
  });

  test("has a form for an interface, a subnet and a VLAN, in any width and color scheme", async () => {
    const vlan = await made(client.post("vlans", { network_id: appliance.networkId, number: 20, name: "Offices" }));
    const subnet = await made(
      client.post("subnets", {
        network_id: appliance.networkId,
        cidr: "10.9.0.0/24",
        name: "Lab",
        subnet_type: "Lan",
        tags: [],
      }),
    );
    const entry = await made(
      client.post("if-entries", {
        host_id: host.id,
        network_id: appliance.networkId,
        if_index: 1,
        if_descr: "Gi1/0/1",
      }),
    );
    const tag = await made(client.post("tags", { name: "core", color: "Blue" }));
    await page.goto(`${appliance.url}/subnets/${subnet.id}?edit=yes`);
    await page.getByLabel("VLAN", { exact: true }).selectOption({ label: "20 Offices" });
    await page.getByLabel("Tags").selectOption({ label: "core" });
    await page.getByRole("button", { name: "Remove core" }).waitFor();
    await save();
    await saved();
    expect(await made(client.get(`subnets/${subnet.id}`))).toMatchObject({ vlan_id: vlan.id, tags: [tag.id] });
    await page.goto(`${appliance.url}/interfaces/${entry.id}?edit=yes`);
    await page.getByLabel("Operational status").selectOption("Down");
    await page.getByLabel("Speed", { exact: true }).fill("1000000000");
    await save();
    await saved();
    expect(await made(client.get(`if-entries/${entry.id}`))).toMatchObject({ oper_status: "Down", speed_bps: 1e9 });
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(`${appliance.url}/vlans/${vlan.id}?edit=yes`);
    await page.getByLabel("Number").fill("4095");
    await page.getByText("A number from 1 to 4094.").waitFor();
    await expectAccessibleInBoth(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(visitor.troubles()).toEqual([]);
  });
});
