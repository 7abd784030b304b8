// Tags: the list contract to the letter, their order, and effects on tagged records.

import { describe, expect, test } from "bun:test";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { invalid, made, refusal, type Wire } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-battery.ts";
import { COLORS } from "../support/contract/shapes.ts";

const appliance = applianceForEach();
const { anonymous, clock, first, handle, owner } = appliance;
const { inTransaction, newApiKey, newNetwork, newSubnet, newTag } = appliance;
const { newUser, tick, writingWatched, versionsOf, writtenIn } = appliance;

describeRecords(
  {
    path: "/api/v1/tags",
    entity: "tag",
    writeRole: "Admin",
    place: "in the organization",
    body: (_networkId, position) => ({
      name: `tag ${position}`,
      description: "what it says",
      color: "Green",
      is_application: true,
    }),
    change: { field: "color", to: (body) => (body.color === "Green" ? "Fuchsia" : "Green") },
    unique: "name",
    invalid: {
      body: { id: "no", name: "", description: 5, color: "green", is_application: "true", extra: null },
      paths: ["/id", "/name", "/description", "/color", "/is_application", "/extra"],
    },
    references: [],
  },
  appliance,
);

const list = (query: string) => owner.get(`tags?${query}`);
const names = async (query: string) => ((await list(query)).data as Wire[]).map((tag) => tag.name);

/** Created at the same time; their names ascend with their ids. */
function manyTags(count: number): void {
  inTransaction((tx) => {
    for (let position = 0; position < count; position += 1) {
      const name = `t${position.toString().padStart(4, "0")}`;
      tx.create(tagKind, first.organizationId, {
        organization_id: first.organizationId,
        name,
        description: "",
        color: "Sky",
        is_application: false,
      });
    }
  });
}

describe("a tag", () => {
  test('has the description "" and is not an application by default', async () => {
    const tag = await made(owner.post("tags", { name: "core", color: "Sky" }));
    expect(tag).toMatchObject({
      organization_id: first.organizationId,
      name: "core",
      description: "",
      color: "Sky",
      is_application: false,
    });
    expect(await made(owner.post("tags", { name: "edge", color: "Sky", description: null }))).toMatchObject({
      description: "",
    });
  });

  test("clears its description by null and keeps it when omitted", async () => {
    const tag = await newTag({ name: "core", description: "the core", is_application: true });
    const kept = await made(owner.put(`tags/${tag.id}`, { name: "core", color: "Green" }));
    expect(kept).toEqual(tag);
    const cleared = await made(owner.put(`tags/${tag.id}`, { name: "core", color: "Green", description: null }));
    expect(cleared).toMatchObject({ description: "", is_application: true });
  });

  test("is distinguished by its exact name", async () => {
    for (const name of ["core", "Core", "core ", "corę"]) await newTag({ name });
    expect(await owner.post("tags", { name: "Core", color: "Red" })).toMatchObject(
      refusal(409, "entity_already_exists", { entity: "tag", field: "name", value: "Core" }),
    );
    expect((await list("")).body.meta.pagination.total_count).toBe(4);
  });

  test("may reuse a name that another one gave up", async () => {
    const tag = await newTag({ name: "old" });
    await made(owner.put(`tags/${tag.id}`, { name: "new", color: "Green" }));
    expect(await newTag({ name: "old" })).toMatchObject({ lineage_id: null });
  });

  test("accepts every known color, spelled exactly", async () => {
    for (const color of COLORS) await newTag({ color });
    const ordered = (await list("order_by=color&limit=100")).data.map((tag: Wire) => tag.color);
    expect(ordered).toEqual([...COLORS].sort());
  });

  test("accepts names of 255 characters, counted as characters", async () => {
    expect((await owner.post("tags", { name: "😀".repeat(255), color: "Red" })).status).toBe(200);
    expect(await owner.post("tags", { name: "😀".repeat(256), color: "Red" })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/name" }] } },
    });
    expect((await owner.post("tags", { name: "a", color: "Red", description: "d".repeat(4_000) })).status).toBe(200);
    expect(await owner.post("tags", { name: "b", color: "Red", description: "d".repeat(4_001) })).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/description" }] } },
    });
  });

  test("is visible throughout the organization, whatever the caller's networks", async () => {
    const tag = await newTag();
    const { client } = await newUser({ role: "Viewer" });
    expect((await client.get("tags")).data).toEqual([tag]);
    expect((await client.get(`tags/${tag.id}`)).data).toEqual(tag);
  });

  test("is listed for an API key like for its user", async () => {
    const tag = await newTag();
    const { client } = newApiKey({ permissions: "Viewer", networkIds: [] });
    expect(await client.get("tags?order_by=name")).toMatchObject({ status: 200, data: [tag] });
    expect(await client.post("tags", { name: "x", color: "Red" })).toMatchObject(
      refusal(403, "auth_permission_denied", { required: "Admin", actual: "Viewer" }),
    );
  });
});

describe("deleting a tag", () => {
  test("removes it from every record, in the same transaction, and keeps the past", async () => {
    const [gone, kept] = [await newTag(), await newTag()];
    const network = await newNetwork({ tags: [gone.id, kept.id, gone.id] });
    const subnet = await newSubnet({ tags: [gone.id] });
    const untouched = await newSubnet({ tags: [kept.id] });
    expect(network.tags).toEqual([gone.id, kept.id]);
    tick();
    const closed = await made(owner.delete(`tags/${gone.id}`));
    tick();

    const at = closed.valid_to;
    expect((await owner.get(`networks/${network.id}`)).data).toMatchObject({ tags: [kept.id], updated_at: at });
    expect((await owner.get(`subnets/${subnet.id}`)).data).toMatchObject({ tags: [], updated_at: at });
    expect((await owner.get(`subnets/${untouched.id}`)).data).toEqual(untouched);
    const sequence = versionsOf(gone.id).at(-1)?.sequence as number;
    expect(versionsOf(network.id).at(-1)).toMatchObject({ operation: "Updated", sequence, changed: ["tags"] });
    expect(versionsOf(subnet.id).at(-1)).toMatchObject({ operation: "Updated", sequence, changed: ["tags"] });

    const before = (await list(`at=${subnet.valid_from}`)).data;
    expect(before).toEqual([{ ...gone, valid_to: at }, kept]);
    expect((await owner.get(`subnets/${subnet.id}?at=${subnet.valid_from}`)).data).toEqual({ ...subnet, valid_to: at });
    expect((await owner.get(`networks?ids=${network.id}&at=${network.valid_from}`)).data).toEqual([
      { ...network, valid_to: at },
    ]);
    expect((await list(`at=${at}`)).data).toEqual([kept]);
  });

  test("in bulk makes one version of a record with several of them", async () => {
    const [first, second, kept] = [await newTag(), await newTag(), await newTag()];
    const network = await newNetwork({ tags: [first.id, kept.id, second.id] });
    tick();
    const closed = await made(owner.post("tags/bulk-delete", [second.id, first.id]));
    expect(closed).toEqual([first, second].map((tag) => ({ ...tag, valid_to: clock.text() })));
    expect(writtenIn()).toEqual({ "Deleted tag": 2, "Updated network": 1 });
    expect((await owner.get(`networks/${network.id}`)).data.tags).toEqual([kept.id]);
  });

  test("accepts cascade, which has no effect", async () => {
    for (const cascade of ["true", "false"]) {
      const [tag, other] = [await newTag(), await newTag()];
      await newNetwork({ tags: [tag.id, other.id] });
      await made(owner.delete(`tags/${tag.id}?cascade=${cascade}`));
      expect(writtenIn()).toEqual({ "Deleted tag": 1, "Updated network": 1 });
      await made(owner.post(`tags/bulk-delete?cascade=${cascade}`, [other.id]));
      expect(writtenIn()).toEqual({ "Deleted tag": 1, "Updated network": 1 });
    }
    expect(await owner.delete(`tags/${first.networkId}?cascade=1`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/cascade", value: "1" }] } },
    });
  });
});

describe("the list of tags", () => {
  test("orders names ignoring case, then by code point", async () => {
    const ordered = ["A", "a", "B", "b", "e\u0301", "\u00e9", "SS", "ss", "Z", "z", "ß", "ß2", "Ä", "ä", "～", "😀"];
    // Composed and decomposed é fold to the same text: the code points as written decide.
    const expected = ["A", "a", "B", "b", "SS", "ss", "Z", "z", "ß", "ß2", "Ä", "ä", "e\u0301", "\u00e9", "～", "😀"];
    for (const name of [...ordered].reverse()) await newTag({ name });
    expect(await names("order_by=name")).toEqual(expected);
    expect(await names("order_by=name&order_direction=asc")).toEqual(expected);
    expect(await names("order_by=name&order_direction=desc")).toEqual([...expected].reverse());
    expect(await names("order_by=name&limit=0")).toEqual(expected);
    expect(await names("group_by=name&order_direction=desc")).toEqual(expected);
    tick();
    const at = clock.text();
    tick();
    expect(await names(`order_by=name&at=${at}`)).toEqual(expected);
    expect(await names(`order_by=name&order_direction=desc&limit=0&at=${at}`)).toEqual([...expected].reverse());
  });

  test("groups ascending whatever the direction, which applies to order_by only", async () => {
    for (const [name, color, isApplication] of [
      ["b", "Red", true],
      ["a", "Blue", false],
      ["d", "Blue", true],
      ["c", "Red", false],
      ["e", "Blue", false],
    ] as const) {
      await newTag({ name, color, is_application: isApplication });
      tick();
    }
    expect(await names("")).toEqual(["b", "a", "d", "c", "e"]);
    expect(await names("order_direction=desc")).toEqual(["b", "a", "d", "c", "e"]);
    expect(await names("group_by=color")).toEqual(["a", "d", "e", "b", "c"]);
    expect(await names("group_by=color&order_direction=desc")).toEqual(["a", "d", "e", "b", "c"]);
    expect(await names("group_by=color&order_by=name&order_direction=desc")).toEqual(["e", "d", "a", "c", "b"]);
    expect(await names("group_by=color&order_by=created_at&order_direction=desc")).toEqual(["e", "d", "a", "c", "b"]);
    expect(await names("group_by=is_application&order_by=name")).toEqual(["a", "c", "e", "b", "d"]);
    expect(await names("group_by=is_application&order_by=color&order_direction=desc")).toEqual("c a e b d".split(" "));
    expect(await names("order_by=is_application&order_direction=desc")).toEqual(["b", "d", "a", "c", "e"]);
    expect(await names("order_by=created_at&order_direction=desc")).toEqual(["e", "c", "d", "a", "b"]);
    expect(await names("order_by=color&order_direction=desc")).toEqual(["b", "c", "a", "d", "e"]);
    expect(await names("group_by=color&order_by=color&order_direction=desc")).toEqual(["a", "d", "e", "b", "c"]);
  });

  test("orders by last change, and at an instant by the last change before it", async () => {
    const tags: Wire[] = [];
    for (const name of ["a", "b", "c"]) {
      tags.push(await newTag({ name }));
      tick();
    }
    const at = clock.text();
    tick();
    await made(owner.put(`tags/${tags[0]?.id}`, { name: "z", color: "Green" }));
    tick();
    expect(await names("order_by=updated_at")).toEqual(["b", "c", "z"]);
    expect(await names("order_by=updated_at&order_direction=desc")).toEqual(["z", "c", "b"]);
    expect(await names(`order_by=updated_at&at=${at}`)).toEqual(["a", "b", "c"]);
    expect(await names("order_by=name")).toEqual(["b", "c", "z"]);
    expect(await names(`order_by=name&order_direction=desc&at=${at}`)).toEqual(["c", "b", "a"]);
  });

  test("pages through an order without gaps or repetitions, with the same total on every page", async () => {
    for (let position = 0; position < 7; position += 1)
      await newTag({ name: `t${position}`, color: position % 2 === 0 ? "Red" : "Blue" });
    const all = await names("group_by=color&order_by=name&order_direction=desc&limit=0");
    expect(all).toEqual(["t5", "t3", "t1", "t6", "t4", "t2", "t0"]);
    const paged: string[] = [];
    for (let offset = 0; offset < 7; offset += 2) {
      const page = await list(`group_by=color&order_by=name&order_direction=desc&limit=2&offset=${offset}`);
      paged.push(...page.data.map((tag: Wire) => tag.name));
      expect(page.body.meta.pagination).toEqual({ total_count: 7, limit: 2, offset, has_more: offset < 5 });
    }
    expect(paged).toEqual(all);
    expect(await names("group_by=color&order_by=name&order_direction=desc&limit=0&offset=5")).toEqual(all.slice(5));
  });

  test("streams all of them, in chunks, as one JSON document", async () => {
    manyTags(1_203);
    const page = await list("limit=1000");
    expect(page.body.meta.pagination).toEqual({ total_count: 1_203, limit: 1_000, offset: 0, has_more: true });
    const streamed = await list("limit=0");
    expect(streamed.data).toHaveLength(1_203);
    expect(streamed.data.slice(0, 1_000)).toEqual(page.data);
    expect(await names("limit=0&order_by=name&order_direction=desc")).toEqual((await names("limit=0")).reverse());
  });

  test("streams the state at its start, despite concurrent writes", async () => {
    manyTags(1_100);
    const expected = (await list("limit=0")).text;
    const { key } = newApiKey();
    const response = await handle(
      new Request("http://localhost/api/v1/tags?limit=0", { headers: { authorization: `Bearer ${key}` } }),
    );
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      // Between chunks, the last tag is deleted and one is created.
      const last = (await list(`limit=1&offset=${1_099 - chunks.length}`)).data[0];
      await made(owner.delete(`tags/${last.id}`));
      await newTag();
      chunks.push(chunk);
    }
    expect(chunks.length).toBeGreaterThan(3);
    expect(Buffer.concat(chunks).toString()).toBe(expected);
  });

  test("answers HEAD like GET, without the body", async () => {
    const tag = await newTag();
    const head = await owner.send("HEAD", `tags/${tag.id}`);
    const { headers } = await owner.get(`tags/${tag.id}`);
    expect(head.status).toBe(200);
    expect(head.headers.get("etag")).toBe(headers.get("etag"));
    expect((await anonymous.send("HEAD", "tags")).status).toBe(401);
  });

  test("filters by ids at an instant", async () => {
    const tag = await newTag({ name: "was" });
    tick();
    const at = clock.text();
    tick();
    const closed = await made(owner.delete(`tags/${tag.id}`));
    const again = await newTag({ name: "was" });
    tick();
    expect((await list(`ids=${tag.id},${again.id}`)).data).toEqual([again]);
    const then = await list(`ids=${tag.id},${again.id}&at=${at}&order_by=name`);
    expect(then.data).toEqual([closed]);
    expect(then.body.meta.pagination.total_count).toBe(1);
    expect(again).toMatchObject({ lineage_id: tag.id });
  });

  test("omits a tag created and deleted between two requested instants", async () => {
    tick();
    const before = clock.text();
    clock.advance(10);
    const tag = await newTag();
    clock.advance(10);
    await made(owner.delete(`tags/${tag.id}`));
    clock.advance(10);
    const after = clock.text();
    clock.advance(10);
    expect((await list(`at=${before}`)).data).toEqual([]);
    expect((await list(`at=${tag.valid_from}`)).data).toMatchObject([{ id: tag.id }]);
    expect((await list(`at=${after}`)).data).toEqual([]);
  });

  test("explains how to write an offset whose plus was not escaped", async () => {
    const at = async (text: string) => (await owner.get(`tags?at=${text}`)).body.params.issues[0].message;
    expect(await at("2026-11-21T10:00:00+01:00")).toEndWith("; encode + as %2B in a query");
    expect(await at("yesterday")).not.toContain("%2B");
  });

  test("accepts any RFC 3339 instant, floors it to milliseconds and echoes it in UTC", async () => {
    const tag = await newTag();
    tick();
    const at = tag.valid_from as string;
    const [date, hour, rest] = [at.slice(0, 11), Number(at.slice(11, 13)), at.slice(13, -1)];
    for (const text of [
      `${date}${hour + 2}${rest}%2B02:00`,
      `${at.slice(0, -1)}999999z`,
      at.toLowerCase(),
      `${date}0${hour - 1}${rest}-01:00`,
    ]) {
      expect((await list(`at=${text}`)).body).toMatchObject({ data: [tag], meta: { at } });
    }
  });

  test.each([
    ["order_by=colour", "/order_by", "colour"],
    ["order_by=", "/order_by", ""],
    ["group_by=Name", "/group_by", "Name"],
    ["order_direction=DESC", "/order_direction", "DESC"],
  ])("refuses %s with the accepted values", async (query, path, value) => {
    const answer = await list(query);
    expect(answer).toMatchObject(invalid({ path, value }));
    expect(answer.body.params.issues[0].message).toMatch(
      /^must be one of .*(created_at, name, color, updated_at, is_application|asc, desc)$/,
    );
  });

  test("reports all errors of a query at once", async () => {
    const answer = await list(
      "limit=9999&offset=-4&order_by=x&group_by=y&order_direction=z&at=then&nonsense=1&ids=q&order_by=name",
    );
    const paths = answer.body.params.issues.map((issue: { path: string }) => issue.path);
    expect(paths.sort()).toEqual("/at /group_by /ids/0 /limit /nonsense /offset /order_by /order_direction".split(" "));
  });

  test("writes nothing", async () => {
    const expectNothingWritten = writingWatched();
    for (const query of ["", "limit=0", "order_by=name", "at=2026-01-01T00:00:00Z"]) await list(query);
    expectNothingWritten();
  });
});
