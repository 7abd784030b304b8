// Narrowed diffs: by a filter at either end, by ids, by kind, and page by page.

import { beforeEach, describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, type JsonRecord } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { clock, newHost, newIfEntry, newNetwork, newTag, newViewer, owner, tick } = appliance;
/** Timestamp before all writes of a test. */
let start: string;

beforeEach(async () => {
  clock.advance(60_000);
  start = clock.text();
  tick();
});

async function diff(parameters: Record<string, string>, caller = owner): Promise<JsonRecord> {
  const response = await caller.get(`diff?${new URLSearchParams(parameters)}`);
  expect(response.status, response.text).toBe(200);
  return response.data;
}

const names = (found: JsonRecord) =>
  Object.fromEntries(
    ["added", "removed", "changed"].map((changeType) => [
      changeType,
      found[changeType].map(({ name }: JsonRecord) => name).sort(),
    ]),
  );

async function rename(host: JsonRecord | undefined, name: string) {
  const body = { id: host?.id, name, hidden: false, tags: [], services: null, ports: null, ip_addresses: null };
  expect((await owner.put(`hosts/${host?.id}`, body)).status).toBe(200);
}

async function setTag(tag: JsonRecord, changes: JsonRecord) {
  const { data } = await owner.put(`tags/${tag.id}`, { name: tag.name, color: tag.color, ...changes });
  tick();
  return data;
}

describe("a diff with a filter", () => {
  test("contains exactly the records that match at either end", async () => {
    const [entering, leaving, staying, unrelated] = await Promise.all(
      [
        ["into", "Green"],
        ["out", "Red"],
        ["within", "Red"],
        ["beside", "Blue"],
      ].map(([name, color]) => newTag({ name, color })),
    );
    const removed = await newTag({ name: "gone", color: "Red" });
    const removedUnrelated = await newTag({ name: "gone beside", color: "Blue" });
    tick();
    const from = clock.text();
    tick();
    await setTag(entering as JsonRecord, { color: "Red" });
    await setTag(leaving as JsonRecord, { color: "Green" });
    await setTag(staying as JsonRecord, { description: "still red" });
    await setTag(unrelated as JsonRecord, { color: "Green" });
    await owner.delete(`tags/${removed.id}`);
    await owner.delete(`tags/${removedUnrelated.id}`);
    await newTag({ name: "new", color: "Red" });
    await newTag({ name: "new beside", color: "Blue" });
    tick();

    const found = await diff({ from, types: "tag", filter: 'color = "Red"' });
    expect(names(found)).toEqual({ added: ["new"], removed: ["gone"], changed: ["into", "out", "within"] });
    expect(found.counts).toEqual({ tag: { added: 1, removed: 1, changed: 3 } });
    for (const filter of ["", "  "]) expect((await diff({ from, types: "tag", filter })).counts.tag.changed).toBe(4);
  });

  test("evaluates references and ages at each end", async () => {
    const host = await newHost({ name: "core" });
    const entry = await newIfEntry(host.id, { oper_status: "Up" });
    tick();
    const from = clock.text();
    tick();
    await rename(host, "spare");
    await owner.put(`if-entries/${entry.id}`, { ...entry, oper_status: "Down" });
    tick();
    const ofHost = (name: string, to = clock.text()) =>
      diff({ from, to, types: "if_entry", filter: `host.name = "${name}"` });
    for (const name of ["core", "spare"])
      expect((await ofHost(name)).changed).toMatchObject([{ id: entry.id, fields: [{ field: "oper_status" }] }]);
    expect((await ofHost("other")).changed).toEqual([]);
    // Older than an hour by then: only at the later end.
    clock.advance(2 * 3_600_000);
    await owner.put(`if-entries/${entry.id}`, { ...entry, oper_status: "Testing" });
    tick();
    const aged = { from, types: "if_entry", filter: 'created_at < "-1h"' };
    expect((await diff(aged)).changed).toHaveLength(1);
    expect((await diff({ ...aged, to: new Date(Date.parse(from) + 60_000).toISOString() })).changed).toEqual([]);
  });

  test("finds the same among many records as individually", async () => {
    const tags: JsonRecord[] = [];
    for (let number = 0; number < 30; number += 1)
      tags.push(await newTag({ name: `t${number}`, color: number % 3 === 0 ? "Red" : "Blue" }));
    tick();
    const from = clock.text();
    tick();
    for (const tag of tags) await setTag(tag, { description: "seen" });
    const found = await diff({ from, types: "tag", filter: 'color = "Red"' });
    expect(found.changed.map(({ name }: JsonRecord) => name)).toEqual(
      tags.filter((_, number) => number % 3 === 0).map(({ name }) => name),
    );
  });

  test("requires one kind of record, and reports errors of the filter", async () => {
    for (const types of [[], ["types=host", "types=tag"], ["types=organization"]]) {
      const response = await owner.get(`diff?${[`from=${start}`, "filter=name:*", ...types].join("&")}`);
      expect(response).toMatchObject(invalid({ path: "/types" }));
    }
    const wrong = await owner.get(`diff?from=${start}&types=tag&filter=colour:*`);
    expect(wrong).toMatchObject(invalid({ path: "/filter", position: 0, message: expect.stringContaining("color") }));
  });

  test("neither finds nor reveals records out of reach, at either end", async () => {
    const hidden = await newNetwork({ name: "hidden" });
    const { client: reader } = await newViewer();
    const visibleHost = await newHost({ name: "seen" });
    const secret = await newHost({ name: "secret", network_id: hidden.id });
    tick();
    await owner.delete(`hosts/${secret.id}`);
    tick();
    const query = { from: start, types: "host", filter: "name:*" };
    expect(names(await diff(query, reader))).toMatchObject({ added: ["seen"], removed: [] });
    expect((await diff({ from: start, ids: `${visibleHost.id},${secret.id},${hidden.id}` }, reader)).counts).toEqual({
      host: { added: 1 },
    });
    expect((await diff({ ...query, filter: 'network.name = "hidden"' }, reader)).counts).toEqual({});
  });
});

describe("a diff that ignores fields", () => {
  test("omits records with no other change, even from counts, in every format", async () => {
    const [renamed, both, recolored] = await Promise.all(["a", "b", "c"].map((name) => newTag({ name, color: "Red" })));
    tick();
    const from = clock.text();
    tick();
    await setTag(renamed as JsonRecord, { name: "a2" });
    await setTag(both as JsonRecord, { name: "b2", color: "Blue" });
    await setTag(recolored as JsonRecord, { color: "Blue" });
    await newTag({ name: "new", color: "Red" });
    tick();
    const query = { from, types: "tag" };
    const found = await diff({ ...query, ignore: "name" });
    expect(names(found)).toEqual({ added: ["new"], removed: [], changed: ["b2", "c"] });
    expect(found.changed.flatMap(({ fields }: JsonRecord) => fields.map(({ field }: JsonRecord) => field))).toEqual([
      "color",
      "color",
    ]);
    expect(found.counts).toEqual({ tag: { added: 1, changed: 2 } });
    expect((await diff({ ...query, ignore: "name,color" })).counts).toEqual({ tag: { added: 1 } });
    expect(
      (await diff({ ...query, ignore: "name", change: "changed", limit: "1", offset: "1" })).changed,
    ).toMatchObject([{ name: "c" }]);
    for (const [format, lines] of [
      ["ndjson", 3],
      ["csv", 4],
    ] as const) {
      const { text } = await owner.get(`diff?${new URLSearchParams({ ...query, ignore: "name", format })}`);
      expect(text.trim().split("\n")).toHaveLength(lines);
      expect(text).not.toContain("a2");
    }
    // Reverted changes and ignored fields are omitted; without the parameter, all are reported.
    expect((await diff(query)).counts).toEqual({ tag: { added: 1, changed: 3 } });
  });

  test("can ignore one custom field or all of them", async () => {
    for (const key of ["rack", "room"])
      expect(await owner.post("custom-fields", { key, kinds: ["host"], type: "text" })).toMatchObject({ status: 200 });
    const moved = await newHost({ name: "moved", custom_fields: { rack: "R1", room: "North" } });
    const otherHost = await newHost({ name: "other", custom_fields: { rack: "R1" } });
    tick();
    const from = clock.text();
    tick();
    for (const [host, values] of [
      [moved, { rack: "R2", room: "South" }],
      [otherHost, { rack: "R2" }],
    ] as const)
      expect(await owner.put(`hosts/${host.id}`, { ...host, custom_fields: values })).toMatchObject({ status: 200 });
    tick();
    const query = { from, types: "host" };
    const fieldsOf = (found: JsonRecord) =>
      found.changed.map(({ name, fields }: JsonRecord) => [name, ...fields.map(({ field }: JsonRecord) => field)]);
    expect(fieldsOf(await diff({ ...query, ignore: "custom_fields.rack" }))).toEqual([["moved", "custom_fields.room"]]);
    expect((await diff({ ...query, ignore: "custom_fields" })).counts).toEqual({});
    expect((await diff({ ...query, ignore: "custom_fields.rack,custom_fields.room" })).counts).toEqual({});
    // A deleted field existed at the earlier end.
    const [removed] = (await owner.get("custom-fields")).data.filter(({ key }: JsonRecord) => key === "rack");
    await owner.delete(`custom-fields/${removed.id}?cascade=true`);
    tick();
    expect(fieldsOf(await diff({ ...query, ignore: "custom_fields.rack" }))).toEqual([["moved", "custom_fields.room"]]);
  });

  test("accepts only existing fields that are compared", async () => {
    for (const ignore of ["nmae", "updated_at", "custom_fields.nowhere", "custom_fields."])
      expect(await owner.get(`diff?from=${start}&ignore=${ignore}`)).toMatchObject(invalid({ path: "/ignore/0" }));
  });
});

describe("a diff of some records", () => {
  test("contains the given ids, of any kind, and their parts only on request", async () => {
    const host = await newHost({ name: "core" });
    const otherHost = await newHost({ name: "other" });
    const tag = await newTag({ name: "a" });
    tick();
    const from = clock.text();
    tick();
    await rename(host, "core-1");
    await rename(otherHost, "other-1");
    const entry = await newIfEntry(host.id, {});
    await owner.delete(`tags/${tag.id}`);
    tick();
    const found = await diff({ from, ids: `${host.id},${tag.id}` });
    expect(names(found)).toEqual({ added: [], removed: ["a"], changed: ["core-1"] });
    expect((await diff({ from, ids: host.id, types: "tag" })).counts).toEqual({});
    expect((await diff({ from, ids: entry.id, host_id: otherHost.id })).counts).toEqual({});
    expect((await diff({ from, ids: entry.id, host_id: host.id })).counts).toEqual({ if_entry: { added: 1 } });
  });

  test("contains the same entries as the full diff", async () => {
    const hosts: JsonRecord[] = [];
    for (const name of ["a", "b", "c"]) hosts.push(await newHost({ name }));
    tick();
    const from = clock.text();
    tick();
    await rename(hosts[0], "a1");
    await rename(hosts[0], "a2");
    await owner.delete(`hosts/${hosts[1]?.id}`);
    tick();
    const all = await diff({ from });
    const partial = await diff({ from, ids: hosts.map(({ id }) => id).join() });
    expect(partial.changed).toEqual(all.changed);
    expect(partial.removed).toEqual(all.removed.filter(({ id }: JsonRecord) => id === hosts[1]?.id));
  });
});

describe("a page of a diff", () => {
  async function seedChanges() {
    const remaining: JsonRecord[] = [];
    const removed: JsonRecord[] = [];
    for (let number = 0; number < 4; number += 1) {
      remaining.push(await newTag({ name: `kept ${number}` }));
      removed.push(await newTag({ name: `gone ${number}` }));
    }
    tick();
    const from = clock.text();
    tick();
    for (const tag of remaining) await setTag(tag, { description: "changed" });
    for (const { id } of removed) await owner.delete(`tags/${id}`);
    for (let number = 0; number < 4; number += 1) await newTag({ name: `new ${number}` });
    tick();
    return from;
  }

  test("starts and ends as requested, counts everything, and all pages form the complete diff", async () => {
    const from = await seedChanges();
    const complete = await diff({ from, types: "tag" });
    const counts = { tag: { added: 4, removed: 4, changed: 4 } };
    expect(complete.counts).toEqual(counts);
    for (const limit of [1, 3, 5, 12, 100]) {
      const pages: JsonRecord[] = [];
      for (let offset = 0; offset < 12; offset += limit)
        pages.push(await diff({ from, types: "tag", limit: String(limit), offset: String(offset) }));
      for (const page of pages) {
        expect(page.counts).toEqual(counts);
        expect(page.added.length + page.removed.length + page.changed.length).toBeLessThanOrEqual(limit);
      }
      for (const changeType of ["added", "removed", "changed"])
        expect(pages.flatMap((page) => page[changeType])).toEqual(complete[changeType]);
    }
    expect(names(await diff({ from, types: "tag", offset: "12" }))).toEqual({ added: [], removed: [], changed: [] });
  });

  test("can be limited to one type of change, in every format", async () => {
    const from = await seedChanges();
    expect((await diff({ from, types: "tag", change: "removed", limit: "2" })).counts).toEqual({ tag: { removed: 4 } });
    const lines = async (format: string) =>
      (await owner.get(`diff?from=${from}&types=tag&change=changed&limit=2&offset=1&format=${format}`)).text.trim();
    const ndjson = (await lines("ndjson")).split("\n").map((line: string) => JSON.parse(line));
    expect(ndjson.map(({ change, name }: JsonRecord) => [change, name])).toEqual([
      ["changed", "kept 1"],
      ["changed", "kept 2"],
    ]);
    expect((await lines("csv")).split("\r\n")).toHaveLength(3);
    const text = await lines("text");
    expect(text).toContain("~ kept 2");
    expect(text).not.toContain("kept 3");
    expect(text).toEndWith("0 added, 0 removed, 4 changed.");
    expect(await owner.get(`diff?from=${from}&change=moved`)).toMatchObject(invalid({ path: "/change/0" }));
  });
});
