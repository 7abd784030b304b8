// Editing in Chromium, on the executable: input is validated, kept, saved against the version it started from, and
// undone; concurrent changes are not overwritten.

import { beforeEach, describe, expect, test } from "bun:test";
import { formsOf } from "../../scripts/console-forms.ts";
import { formFields } from "../../src/console/editing/form-fields.ts";
import { bodyOf, concurrentChanges, editedOf } from "../../src/console/forms/edits.ts";
import { type FormField, isSameInput, sentValue, typedOf, validationError } from "../../src/console/forms/field.ts";
import { helpText } from "../../src/console/forms/field-help.ts";
import { EDITED_KINDS, loadDetails, operationOn } from "../../src/console/kinds/kinds.ts";
import { openApiDocument } from "../../src/http/documentation.ts";
import { createBareApp } from "../../src/registry/bare-app.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import {
  accessibilityFindings,
  expectAccessibleInBoth,
  expectEventually,
  hasChromium,
} from "../support/browser/browser.ts";
import { visitForAll } from "../support/browser/visit.ts";

const VIEWER = "viewer@acme.example";

const field = (options: Partial<FormField> & Pick<FormField, "name" | "type">): FormField => ({
  isNullable: false,
  isRequired: false,
  ...options,
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
  ] as const)("is validated by the limits of the API schema", (formField, typed, sentence) => {
    expect([typed, validationError(formField, typed)]).toEqual([typed, sentence]);
  });

  test("round-trips an untouched value", () => {
    for (const [formField, value] of [
      [NAME, "sw-1"],
      [NOTE, null],
      [NUMBER, 20],
      [TAGS, ["b", "a"]],
      [field({ name: "hidden", type: "boolean" }), true],
    ] as const)
      expect(sentValue(formField, typedOf(formField, value))).toEqual(value);
    expect(isSameInput(["a", "b"], ["b", "a"])).toBe(true);
  });

  test("has form labels instead of JSON terms", async () => {
    const help = (type: FormField["type"], description: string) => helpText({ type, description });
    expect(help("text", "Not blank, no control characters.")).toBeNull();
    expect(help("text", 'Default: "". Null clears the description.')).toBeNull();
    expect(help("boolean", "Default on create: true.")).toBeNull();
    expect(help("text", "The display name. Default on create: the key. No control characters.")).toBe(
      "The display name. Default: the key.",
    );
    expect(help("integer", "Hours unseen after which a record is stale; null: never.")).toBe(
      "Hours unseen after which a record is stale; empty: never.",
    );
    expect(help("choice", "`date`: a day such as 2026-11-21.")).toBe("date: a day such as 2026-11-21.");
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    const helpTexts = EDITED_KINDS.flatMap((kind) => {
      const [create, update] = [operationOn("create", kind), operationOn("update", kind)];
      return [...forms[create], ...forms[update]].map((field) => helpText(field) ?? "");
    });
    expect(helpTexts.some((text) => text !== "")).toBe(true);
    expect(helpTexts.filter((text) => /`|\bnull\b|control characters|(?:in a|on) create/i.test(text))).toEqual([]);
  });

  test("exists for every API field, except those exempt for a stated reason", async () => {
    const forms = formsOf(JSON.parse(await openApiDocument(createBareApp().app)));
    for (const kind of EDITED_KINDS) {
      const details = await loadDetails(kind);
      for (const operation of [operationOn("create", kind), operationOn("update", kind)]) {
        const fields = formFields(forms[operation], details, operation.startsWith("create"));
        // Every custom field appears in the form.
        const inForm = [...fields.map(({ name }) => name), "custom_fields"];
        const apiFields = forms[operation].map(({ name }) => name);
        const omitted = apiFields.filter((name) => !inForm.includes(name) && !(name in IDENTITY));
        const reasons = Object.keys(EXCLUDED_FIELDS[kind] ?? {}).filter((name) => apiFields.includes(name));
        expect([operation, omitted.sort()]).toEqual([operation, reasons.sort()]);
        const listed = [...(details.form ?? []), ...(details.unset ?? []), ...Object.keys(details.defaults ?? {})];
        expect([operation, listed.filter((name) => !apiFields.includes(name))]).toEqual([operation, []]);
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

/** Ids of the record and its containers, fixed after creation. */
const IDENTITY = { id: true, organization_id: true, network_id: true, host_id: true };
const PARTS = "separate records";
const DEVICE_REPORTED = "reported by the device";
const ORDER = "list order is for API clients";
const excluded = (names: string, reason: string) => Object.fromEntries(names.split(" ").map((name) => [name, reason]));
/** API fields without a form field, and why. */
const EXCLUDED_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  host: {
    virtualization: DEVICE_REPORTED,
    ...excluded("credential_assignments ip_addresses ports services interfaces", PARTS),
    expected_updated_at: "sent as If-Match",
  },
  if_entry: excluded(
    "fdb_macs lldp_chassis_id lldp_port_id lldp_sys_name lldp_sys_desc lldp_port_desc lldp_mgmt_addr " +
      "lldp_capabilities cdp_device_id cdp_port_id cdp_platform cdp_address cdp_capabilities neighbor",
    DEVICE_REPORTED,
  ),
  ip_address: { position: ORDER },
  ip_range: { subnet_id: "the API finds the most specific one" },
  service: { virtualization: DEVICE_REPORTED, bindings: PARTS, position: ORDER },
};

describe("concurrent edits of one record", () => {
  const fields = [NAME, NOTE, NUMBER, TAGS];
  const base = { name: "sw-1", description: null, number: 20, tags: ["a"] };

  test("send only required and edited fields", () => {
    const typed = { description: "Hall 2", number: "20" };
    const edited = editedOf(fields, base, typed);
    expect(edited).toEqual([NOTE]);
    const body = { name: "sw-1", number: 20, tags: ["a"], description: "Hall 2" };
    expect(bodyOf(fields, base, edited, typed)).toEqual(body);
  });

  test("conflict only if both changed a field to different values", () => {
    const otherVersion = { name: "sw-2", description: "Hall 3", number: 30, tags: ["a", "b"] };
    const typed = { description: "Hall 2", number: "30" };
    expect(concurrentChanges(fields, base, otherVersion, typed)).toEqual({
      conflicts: [{ field: NOTE, was: "", theirs: "Hall 3", mine: "Hall 2" }],
      others: ["name", "tags"],
    });
  });
});

describe.skipIf(!hasChromium)("editing", () => {
  let host: JsonRecord;
  const { appliance, client, visitor, page } = visitForAll(({ addUser, networkId }) =>
    addUser(VIEWER, "Viewer", [networkId]),
  );

  beforeEach(async () => {
    const body = { name: "access-1", hidden: false, tags: [], description: "Hall 1" };
    host = await expectOk(client.post("hosts", { network_id: appliance.networkId, ...body }));
    visitor.problems();
    await page.goto(`${appliance.url}/hosts/${host.id}`);
  });

  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
  const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
  const waitForSaved = () => page.getByText("Saved.").waitFor();
  const current = () => expectOk(client.get(`hosts/${host.id}`));
  const changeByOthers = async (changes: object) => {
    const { name, hidden, tags } = await current();
    await expectOk(client.put(`hosts/${host.id}`, { id: host.id, name, hidden, tags, ...changes }));
  };

  test("lets the user resolve a conflict on a field, without losing input", async () => {
    await edit();
    await page.getByLabel("Description", { exact: true }).fill("Hall 3");
    await page.getByLabel("Model").fill("C9300-48P");
    await changeByOthers({ description: "Hall 2" });
    await save();
    const conflict = page.getByRole("alert").filter({ hasText: "Others changed this field while you were editing." });
    await conflict.waitFor();
    await expectEventually(() => conflict.locator("dd").allTextContents(), ["Hall 1", "Hall 2", "Hall 3"]);
    expect(await current()).toMatchObject({ description: "Hall 2", model: null });
    await expectEventually(() => page.getByRole("button", { name: "Save again" }).isDisabled(), true);
    expect(await accessibilityFindings(page)).toEqual([]);
    await conflict.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("button", { name: "Save again" }).click();
    await waitForSaved();
    expect(await current()).toMatchObject({ description: "Hall 3", model: "C9300-48P" });
    visitor.problems();
  });

  test("restores a former state of a host, and a deleted host with its parts, after a preview", async () => {
    const port = { host_id: host.id, network_id: appliance.networkId, if_index: 7, if_descr: "Gi1/0/7" };
    await expectOk(client.post("if-entries", port));
    const { updated_at: restorePoint } = await current();
    await changeByOthers({ description: "Hall 9" });
    await page.goto(`${appliance.url}/hosts/${host.id}?at=${restorePoint}`);
    await page.getByRole("button", { name: "Restore this" }).click();
    const plan = page.locator(".plan");
    await plan.getByText("Changes host access-1").waitFor();
    await plan.getByText("Description", { exact: true }).waitFor();
    await plan.locator("del").getByText("Hall 9").waitFor();
    await plan.locator("ins").getByText("Hall 1").waitFor();
    expect(await accessibilityFindings(page)).toEqual([]);
    expect(await current()).toMatchObject({ description: "Hall 9" });
    await page.getByLabel("Why").fill("wrong hall");
    await page.getByRole("button", { name: "Restore this" }).click();
    await page.getByRole("link", { name: /^Transaction/ }).click();
    await page.getByText("wrong hall").waitFor();
    expect(await current()).toMatchObject({ description: "Hall 1" });
    await page.getByRole("button", { name: "Undo" }).click();
    await plan.locator("del").getByText("Hall 1").waitFor();
    await plan.locator("ins").getByText("Hall 9").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await client.delete(`hosts/${host.id}`);
    await page.goto(`${appliance.url}/hosts/${host.id}`);
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Restores interface").waitFor();
    await page.evaluate(
      `new MutationObserver(() => {
        window.sawNotFound ||= document.body.textContent.includes("Host not found");
      }).observe(document.body, { subtree: true, childList: true, characterData: true })`,
    );
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("heading", { name: "access-1" }).waitFor();
    expect(await page.evaluate("window.sawNotFound ?? false")).toBe(false);
    const entries = (await client.get(`if-entries?host_id=${host.id}`)).data as unknown as JsonRecord[];
    expect(entries.map(({ if_index }) => if_index)).toEqual([7]);
    expect(visitor.problems()).toEqual([]);
  });

  test("has a form for an interface, a subnet and a VLAN, in any width and color scheme", async () => {
    const vlan = await expectOk(client.post("vlans", { network_id: appliance.networkId, number: 20, name: "Offices" }));
    const subnet = await expectOk(
      client.post("subnets", {
        network_id: appliance.networkId,
        cidr: "10.9.0.0/24",
        name: "Lab",
        subnet_type: "Lan",
        tags: [],
      }),
    );
    const entry = await expectOk(
      client.post("if-entries", {
        host_id: host.id,
        network_id: appliance.networkId,
        if_index: 1,
        if_descr: "Gi1/0/1",
      }),
    );
    const tag = await expectOk(client.post("tags", { name: "core", color: "Blue" }));
    await page.goto(`${appliance.url}/subnets/${subnet.id}?edit=yes`);
    await page.getByLabel("VLAN", { exact: true }).selectOption({ label: "20 Offices" });
    await page.getByLabel("Tags").selectOption({ label: "core" });
    await page.getByRole("button", { name: "Remove core" }).waitFor();
    await save();
    await waitForSaved();
    expect(await expectOk(client.get(`subnets/${subnet.id}`))).toMatchObject({ vlan_id: vlan.id, tags: [tag.id] });
    await page.goto(`${appliance.url}/interfaces/${entry.id}?edit=yes`);
    await page.getByLabel("Operational status").selectOption("Down");
    await page.getByLabel("Speed", { exact: true }).fill("1000000000");
    await save();
    await waitForSaved();
    expect(await expectOk(client.get(`if-entries/${entry.id}`))).toMatchObject({ oper_status: "Down", speed_bps: 1e9 });
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(`${appliance.url}/vlans/${vlan.id}?edit=yes`);
    await page.getByLabel("Number").fill("4095");
    await page.getByText("A number from 1 to 4094.").waitFor();
    await expectAccessibleInBoth(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(visitor.problems()).toEqual([]);
  });
});
