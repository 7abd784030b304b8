// Custom field definitions of an organization.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { owner, tick, versionsOf, watchWrites } = appliance;

describeRecords(
  {
    path: "/api/v1/custom-fields",
    entity: "custom_field",
    writeRole: "Admin",
    scope: "in the organization",
    body: (_networkId, position) => ({
      key: `field_${position}`,
      label: "Rack",
      kinds: ["host", "vlan"],
      type: "choice",
      choices: ["R1", "R2"],
      required: true,
      default: "R1",
      description: "where it stands",
    }),
    change: { field: "label", to: (body) => (body.label === "Rack" ? "Cabinet" : "Rack") },
    unique: "key",
    isUniqueFixed: true,
    invalid: {
      body: { id: 1, key: "Rack", label: " ", kinds: ["port"], type: "Text", choices: [5], required: 1, extra: null },
      paths: ["/id", "/key", "/label", "/kinds/0", "/type", "/choices/0", "/required", "/extra"],
    },
    references: [],
  },
  appliance,
);

const newField = (fields: JsonRecord = {}) =>
  expectOk(owner.post("custom-fields", { key: "rack", kinds: ["host"], type: "text", ...fields }));

describe("a custom field", () => {
  test("has its key as label by default, is optional, and has neither default nor choices", async () => {
    expect(await newField()).toMatchObject({
      key: "rack",
      label: "rack",
      kinds: ["host"],
      type: "text",
      choices: [],
      required: false,
      default: null,
      description: null,
    });
  });

  test("stores each kind once, in a fixed order", async () => {
    expect(await newField({ kinds: ["vlan", "host", "vlan"] })).toMatchObject({ kinds: ["host", "vlan"] });
  });

  test("keeps its key permanently, but can be relabeled", async () => {
    const field = await newField();
    tick();
    const body = { label: "Cabinet", kinds: ["host"], type: "text" };
    expect(await owner.put(`custom-fields/${field.id}`, { ...body, key: "cabinet" })).toMatchObject(
      invalid({ path: "/key", value: "cabinet" }),
    );
    expect(await expectOk(owner.put(`custom-fields/${field.id}`, { ...body, key: "rack" }))).toMatchObject({
      key: "rack",
      label: "Cabinet",
    });
    expect(versionsOf(field.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["label"] });
  });

  test("is refused while another one has the same key, and takes over its lineage afterwards", async () => {
    const field = await newField();
    expect(await owner.post("custom-fields", { key: "rack", kinds: ["vlan"], type: "date" })).toMatchObject(
      refusal(409, "entity_already_exists", { field: "key", value: "rack" }),
    );
    tick();
    await owner.delete(`custom-fields/${field.id}`);
    tick();
    expect(await newField({ type: "number" })).toMatchObject({ lineage_id: field.id, type: "number" });
  });

  test.each([
    ["text", "a rack", 5, /must be text, not 5/],
    ["text", "a\nb", " ", /must not be blank/],
    ["text", "x".repeat(1_000), "x".repeat(1_001), /at most 1,000 characters/],
    ["url", "https://a.example/", "x".repeat(2_001), /^must have at most 2000 characters$/],
    ["text", "a", ["a"], /^must be a string, a number, true, false or null$/],
    ["text", "tab\tand line\r\n", "bell\u0007", /control characters/],
    ["number", -1.5, "5", /must be a number, not "5"/],
    ["boolean", false, 0, /must be true or false, not 0/],
    ["date", "2024-02-29", "2026-02-29", /must be a date such as 2026-11-21/],
    ["date", "2026-11-21", "21.11.2026", /must be a date/],
    ["url", "https://a.example/b?c=d", "javascript:alert(1)", /begins with http/],
    ["url", "HTTP://a.example", "https://a.example/b c", /begins with http/],
    ["url", "http://[2001:db8::1]/", `http://a.example/${"x".repeat(2_000)}`, /./],
  ])("accepts for type %p the default %p, but not %p", async (type, good, bad, sentence) => {
    expect(await newField({ key: "good", type, default: good })).toMatchObject({ default: good });
    const expectNothingWritten = watchWrites();
    const response = await owner.post("custom-fields", { key: "bad", kinds: ["host"], type, default: bad });
    expect(response).toMatchObject(invalid({ path: "/default" }));
    expect(response.body.params.issues[0].message).toMatch(sentence);
    expectNothingWritten();
  });

  test("has distinct choices if it is of type choice, its default among them", async () => {
    const field = { key: "rack", kinds: ["host"], type: "choice" };
    expect(await owner.post("custom-fields", field)).toMatchObject(invalid({ path: "/choices" }));
    expect(await owner.post("custom-fields", { ...field, choices: ["a", "b", "a"], default: "c" })).toMatchObject(
      invalid({ path: "/choices/2", value: "a" }, { path: "/default", value: "c" }),
    );
    expect(await owner.post("custom-fields", { ...field, type: "text", choices: ["a"] })).toMatchObject(
      invalid({ path: "/choices" }),
    );
    expect(await newField({ type: "choice", choices: ["b", "a"], default: "a" })).toMatchObject({
      choices: ["b", "a"],
    });
  });

  test("is limited to 64 per kind", async () => {
    for (let n = 0; n < 64; n += 1) await newField({ key: `field_${n}`, kinds: n === 0 ? ["host", "vlan"] : ["host"] });
    const response = await owner.post("custom-fields", { key: "more", kinds: ["vlan", "host"], type: "text" });
    expect(response).toMatchObject(invalid({ path: "/kinds", value: "host" }));
    expect(await newField({ key: "more", kinds: ["vlan"] })).toMatchObject({ kinds: ["vlan"] });
  });

  test("is restored after deletion, unless the limit is reached or its key is taken", async () => {
    const field = await newField({ key: "old" });
    const at = field.updated_at;
    tick();
    await expectOk(owner.delete(`custom-fields/${field.id}`));
    const otherField = await newField({ key: "old" });
    tick();
    const restore = () => owner.post(`custom-fields/${field.id}/restore`, { at });
    expect(await restore()).toMatchObject(refusal(409, "entity_already_exists"));
    await expectOk(owner.delete(`custom-fields/${otherField.id}`));
    for (let n = 0; n < 64; n += 1) await newField({ key: `field_${n}` });
    tick();
    const expectNothingWritten = watchWrites();
    const full = await restore();
    expect(full.status).toBe(409);
    expect(full.body.params.conflicts).toMatchObject([{ code: "limit_reached", entity_type: "custom_field" }]);
    expectNothingWritten();
    const [anyField] = (await owner.get("custom-fields?limit=1")).data as JsonRecord[];
    await expectOk(owner.delete(`custom-fields/${anyField?.id}`));
    tick();
    expect(await restore()).toMatchObject({ status: 200 });
    expect((await owner.get(`custom-fields/${field.id}`)).data).toMatchObject({ key: "old" });
  });
});
