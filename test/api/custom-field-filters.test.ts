// Filters and searches on custom fields: each type, on the record itself and on referenced ones, now, in the past and
// over time.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { first, newHost, owner, tick } = appliance;

const newField = (fields: JsonRecord) =>
  expectOk(owner.post("custom-fields", { kinds: ["host"], type: "text", ...fields }));
const fetchFiltered = (path: string, filter: string, extra = "") =>
  owner.get(`${path}?filter=${encodeURIComponent(filter)}&include_children=false${extra}`);
const findHosts = async (filter: string, extra = "") => {
  const response = await fetchFiltered("hosts", filter, extra);
  expect(response.body).toMatchObject({ success: true });
  return (response.data as JsonRecord[]).map(({ name }) => name);
};

let hosts: Record<string, JsonRecord> = {};

beforeEach(async () => {
  await newField({ key: "rack" });
  await newField({ key: "height", type: "number" });
  await newField({ key: "spare", type: "boolean" });
  await newField({ key: "support_until", type: "date" });
  await newField({ key: "room", type: "choice", choices: ["North", "South"] });
  await newField({ key: "manual", type: "url" });
  hosts = {};
  const values: Record<string, JsonRecord> = {
    one: { rack: "R1 Größe", height: 1, spare: true, support_until: "2026-10-31", room: "North" },
    two: { rack: "R2", height: 2.5, spare: false, support_until: "2027-01-01", room: "South" },
    three: { rack: "r10 left", height: 42, manual: "https://docs.example/acme/9000" },
    none: {},
  };
  for (const [name, custom_fields] of Object.entries(values)) hosts[name] = await newHost({ name, custom_fields });
});

describe("a filter on a custom field", () => {
  test.each([
    ['custom_fields.rack = "r2"', ["two"]],
    ['custom_fields.rack = "R1*"', ["one", "three"]],
    ['custom_fields.rack : "GRÖSSE"', []],
    ['custom_fields.rack : "größe"', ["one"]],
    ['custom_fields.rack != "R2"', ["one", "three", "none"]],
    ["custom_fields.rack:*", ["one", "two", "three"]],
    ["NOT custom_fields:*", ["none"]],
    ["custom_fields.height > 2", ["two", "three"]],
    ["custom_fields.height <= 2.5", ["one", "two"]],
    ["custom_fields.height = 42", ["three"]],
    ["custom_fields.spare = true", ["one"]],
    ["custom_fields.spare = false", ["two"]],
    ["custom_fields.spare != true", ["two", "three", "none"]],
    ["custom_fields.support_until < 2026-11-01", ["one"]],
    ['custom_fields.support_until >= "2026-10-31"', ["one", "two"]],
    ["custom_fields.support_until > -7d", ["two"]],
    ["custom_fields.room = north", ["one"]],
    ["custom_fields.room:*", ["one", "two"]],
    ['custom_fields.manual : "acme"', ["three"]],
    ['custom_fields.height > 1 AND custom_fields.rack = "R2"', ["two"]],
  ])("%s finds %p", async (filter, names) => {
    expect(await findHosts(filter)).toEqual(names);
  });

  test.each([
    [
      "custom_fields.rak = 1",
      /^names `rak`, which is not a custom field of a host \(did you mean `custom_fields\.rack`\?\)$/,
    ],
    ["custom_fields.rack.a = 1", /^names `rack\.a`, which is not a custom field of a host/],
    ["custom_fields.constructor:*", /which is not a custom field/],
    ["custom_fields.height = tall", /must be a number/],
    ["custom_fields.height : abc", /must be a number/],
    ["custom_fields.room = East", /must be one of North, South/],
    ["custom_fields.room < North", /must compare a value of a vocabulary by/],
    ["custom_fields.support_until = soon", /must be an RFC 3339 timestamp/],
    ["custom_fields = 5", /must compare a field of custom_fields/],
  ])("%s is refused in a sentence", async (filter, sentence) => {
    const response = await fetchFiltered("hosts", filter);
    expect(response).toMatchObject(invalid({ path: "/filter" }));
    expect(response.body.params.issues[0].message).toMatch(sentence);
  });

  test("applies to referenced records", async () => {
    await expectOk(owner.post("if-entries", { host_id: hosts.two?.id, if_index: 1, if_descr: "a" }));
    await expectOk(owner.post("if-entries", { host_id: hosts.one?.id, if_index: 1, if_descr: "b" }));
    const entries = await owner.get(`if-entries?filter=${encodeURIComponent('host.custom_fields.rack = "R2"')}`);
    expect((entries.data as JsonRecord[]).map(({ if_descr }) => if_descr)).toEqual(["a"]);
    const none = await owner.get(`if-entries?filter=${encodeURIComponent("custom_fields.rack:*")}`);
    expect(none.body.params.issues[0].message).toMatch(
      /^names `rack`, which is not a custom field of an interface entry/,
    );
  });

  test("uses past values at a timestamp, and each version's own in histories", async () => {
    const instant = hosts.none?.updated_at as string;
    for (const rack of ["R3", "R4", "R2"]) {
      tick();
      await expectOk(owner.put(`hosts/${hosts.two?.id}`, { ...hosts.two, custom_fields: { rack } }));
    }
    expect(await findHosts('custom_fields.rack = "R4"')).toEqual([]);
    expect(await findHosts('custom_fields.rack = "R2"', `&at=${instant}`)).toEqual(["two"]);
    expect(await findHosts('ever(custom_fields.rack = "R4", "-1h")')).toEqual(["two"]);
    expect(await findHosts(`was("${instant}", custom_fields.rack = "R2")`)).toEqual(["two"]);
    expect(await findHosts('changes(custom_fields.rack, "-1h") = 3')).toEqual(["two"]);
    expect(await findHosts('changes(custom_fields.height, "-1h") > 0')).toEqual([]);
    expect(await findHosts('changes(custom_fields, "-1h") = 3')).toEqual(["two"]);
  });

  test("uses the field's definition at that timestamp if it has changed since", async () => {
    const instant = hosts.none?.updated_at as string;
    const height = ((await owner.get("custom-fields?search=height")).data as JsonRecord[])[0];
    tick();
    await expectOk(owner.delete(`custom-fields/${height?.id}?cascade=true`));
    expect((await fetchFiltered("hosts", "custom_fields.height > 2")).status).toBe(400);
    expect(await findHosts("custom_fields.height > 2", `&at=${instant}`)).toEqual(["two", "three"]);
    await newField({ key: "height" });
    tick();
    await expectOk(owner.put(`hosts/${hosts.none?.id}`, { ...hosts.none, custom_fields: { height: "5" } }));
    expect(await findHosts('custom_fields.height = "5"')).toEqual(["none"]);
    // Values of a former number type do not match as text, nor the reverse.
    expect(await findHosts('ever(custom_fields.height : "4", "-1h")')).toEqual([]);
    expect(await findHosts("was(now, custom_fields.height:*)")).toEqual(["none"]);
    expect(await findHosts("custom_fields.height > 2", `&at=${instant}`)).toEqual(["two", "three"]);
  });

  test("is accepted at timestamps before the field existed, and matches nothing", async () => {
    const before = hosts.none?.updated_at as string;
    tick();
    await newField({ key: "floor", type: "number" });
    expect(await findHosts("custom_fields.floor > 1", `&at=${before}`)).toEqual([]);
  });

  test("is listed with its type among the fields of its kind, in its organization only", async () => {
    const { data } = await owner.get("fields/host");
    const custom = (data.fields as JsonRecord[]).filter(({ name }) => name.startsWith("custom_fields."));
    expect(custom.map(({ name, type, values, over_time }) => [name, type, values, over_time])).toEqual([
      ["custom_fields.rack", "text", null, true],
      ["custom_fields.height", "number", null, true],
      ["custom_fields.spare", "boolean", ["true", "false"], true],
      ["custom_fields.support_until", "date", null, true],
      ["custom_fields.room", "enumeration", ["North", "South"], true],
      ["custom_fields.manual", "text", null, true],
    ]);
    const vlan = (await owner.get("fields/vlan")).data.fields as JsonRecord[];
    expect(vlan.filter(({ name }) => name.startsWith("custom_fields."))).toEqual([]);
    const { userId } = await appliance.newOrganization("another");
    const foreign = (await (await appliance.signedIn(userId)).get("fields/host")).data.fields as JsonRecord[];
    expect(foreign.filter(({ name }) => name.startsWith("custom_fields."))).toEqual([]);
  });
});

describe("a search", () => {
  test("finds records by the text of their custom fields, globally and in lists, now and in the past", async () => {
    const searchHosts = async (search: string, extra = "") =>
      ((await owner.get(`hosts?search=${encodeURIComponent(search)}${extra}`)).data as JsonRecord[]).map(
        ({ name }) => name,
      );
    expect(await searchHosts("R1")).toEqual(["one", "three"]);
    expect(await searchHosts("acme")).toEqual(["three"]);
    expect(await searchHosts("south")).toEqual(["two"]);
    const [hit] = (await owner.get("search?q=acme")).data as JsonRecord[];
    expect(hit).toMatchObject({
      type: "host",
      id: hosts.three?.id,
      match: { field: "custom_fields.manual", value: "https://docs.example/acme/9000" },
    });
    const instant = hosts.none?.updated_at as string;
    tick();
    await expectOk(owner.put(`hosts/${hosts.two?.id}`, { ...hosts.two, custom_fields: { room: "North" } }));
    expect(await searchHosts("south")).toEqual([]);
    expect(await searchHosts("south", `&at=${instant}`)).toEqual(["two"]);
    await newField({ key: "purpose", kinds: ["vlan", "if_entry", "service", "subnet", "ip_range"] });
    const vlan = { network_id: first.networkId, number: 9, custom_fields: { purpose: "Telephones" } };
    const { id } = await expectOk(owner.post("vlans", vlan));
    expect((await owner.get("vlans?search=telephones")).data).toMatchObject([{ id }]);
  });
});

describe("a history filter", () => {
  test("applies to the custom fields of each version, by type, and accepts past and current fields", async () => {
    const host = hosts.one as JsonRecord;
    const path = `hosts/${host.id}/history`;
    const versions = async (filter: string, extra = "") => {
      const response = await owner.get(`${path}?filter=${encodeURIComponent(filter)}&include_children=false${extra}`);
      expect([filter, response.status, response.status === 200 ? "" : response.text]).toEqual([filter, 200, ""]);
      return (response.data as JsonRecord[]).map(({ record }) => record.custom_fields?.height);
    };
    const put = async (custom_fields: JsonRecord) => {
      tick();
      const current = (await owner.get(`hosts/${host.id}`)).data;
      await expectOk(owner.put(`hosts/${host.id}`, { ...current, custom_fields }));
    };
    await put({ height: 10, spare: null });
    await put({ height: 2 });
    await put({ height: null, support_until: "2027-01-01" });
    tick();
    const at = appliance.clock.text();
    tick();
    expect(await versions("record.custom_fields.height:*")).toEqual([2, 10, 1]);
    expect(await versions("record.custom_fields.height > 1")).toEqual([2, 10]);
    expect(await versions("record.custom_fields.spare = true")).toEqual([1]);
    expect(await versions("record.custom_fields.support_until >= 2027-01-01")).toEqual([undefined]);
    expect(await versions('record.custom_fields.rack : "größe" AND NOT record.custom_fields.height = 2')).toEqual([
      undefined,
      10,
      1,
    ]);
    expect(await versions("changed_fields = custom_fields.height AND record.custom_fields.height < 5")).toEqual([2]);
    for (const [filter, expectedText] of [
      ["record.custom_fields.heigth > 1", "record.custom_fields.height"],
      ["record.custom_fields.height > tall", "number"],
      ["record.custom_fields.room = East", "North"],
    ] as const) {
      const refused = await owner.get(`${path}?filter=${encodeURIComponent(filter)}`);
      expect(refused).toMatchObject(invalid({ path: "/filter" }));
      expect(refused.body.params.issues[0].message).toContain(expectedText);
    }
    const { fields } = (await owner.get("fields/host_version")).data;
    expect(fields).toContainEqual(expect.objectContaining({ name: "record.custom_fields.height", type: "number" }));
    // A deleted field is available as of an earlier time.
    const height = ((await owner.get("custom-fields")).data as JsonRecord[]).find(
      ({ key }) => key === "height",
    ) as JsonRecord;
    await expectOk(owner.delete(`custom-fields/${height.id}?cascade=true`));
    tick();
    const afterDeletion = await owner.get(`${path}?filter=${encodeURIComponent("record.custom_fields.height > 1")}`);
    expect(afterDeletion).toMatchObject(invalid({ path: "/filter" }));
    expect(await versions("record.custom_fields.height > 1", `&at=${at}`)).toEqual([2, 10]);
    // Other histories have none.
    const tag = await expectOk(owner.post("tags", { name: "t", color: "Red" }));
    expect(
      await owner.get(`tags/${tag.id}/history?filter=${encodeURIComponent("record.custom_fields.height > 1")}`),
    ).toMatchObject(invalid({ path: "/filter" }));
  });
});
