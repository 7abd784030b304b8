// Tags: the exact list contract, their order, and effects on tagged records.

import { describe, expect, test } from "bun:test";
import { tagKind } from "../../src/resources/tags/tag.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { clock, first, handle, owner, inTransaction, newApiKey, newNetwork, newSubnet, newTag } = appliance;
const { tick, watchWrites, versionsOf, writtenIn } = appliance;

describeRecords(
  {
    path: "/api/v1/tags",
    entity: "tag",
    writeRole: "Admin",
    scope: "in the organization",
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
const names = async (query: string) => ((await list(query)).data as JsonRecord[]).map((tag) => tag.name);

/** Creates tags at the same time, with names that ascend with their ids. */
function createTags(count: number): void {
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
    const tag = await expectOk(owner.post("tags", { name: "core", color: "Sky" }));
    expect(tag).toMatchObject({
      organization_id: first.organizationId,
      name: "core",
      description: "",
      color: "Sky",
      is_application: false,
    });
    expect(await expectOk(owner.post("tags", { name: "edge", color: "Sky", description: null }))).toMatchObject({
      description: "",
    });
  });

  test("clears its description by null and keeps it when omitted", async () => {
    const tag = await newTag({ name: "core", description: "the core", is_application: true });
    const unchanged = await expectOk(owner.put(`tags/${tag.id}`, { name: "core", color: "Green" }));
    expect(unchanged).toEqual(tag);
    const cleared = await expectOk(owner.put(`tags/${tag.id}`, { name: "core", color: "Green", description: null }));
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
    await expectOk(owner.put(`tags/${tag.id}`, { name: "new", color: "Green" }));
    expect(await newTag({ name: "old" })).toMatchObject({ lineage_id: null });
  });

  test("accepts names of 255 characters, counted as characters", async () => {
    expect((await owner.post("tags", { name: "😀".repeat(255), color: "Red" })).status).toBe(200);
    expect(await owner.post("tags", { name: "😀".repeat(256), color: "Red" })).toMatchObject(
      invalid({ path: "/name" }),
    );
    expect((await owner.post("tags", { name: "a", color: "Red", description: "d".repeat(4_000) })).status).toBe(200);
    expect(await owner.post("tags", { name: "b", color: "Red", description: "d".repeat(4_001) })).toMatchObject(
      invalid({ path: "/description" }),
    );
  });
});

describe("deleting a tag", () => {
  test("removes it from every record, in the same transaction, and keeps the past", async () => {
    const [gone, unchanged] = [await newTag(), await newTag()];
    const network = await newNetwork({ tags: [gone.id, unchanged.id, gone.id] });
    const subnet = await newSubnet({ tags: [gone.id] });
    const untouched = await newSubnet({ tags: [unchanged.id] });
    expect(network.tags).toEqual([gone.id, unchanged.id]);
    tick();
    const closed = await expectOk(owner.delete(`tags/${gone.id}`));
    tick();

    const at = closed.valid_to;
    expect((await owner.get(`networks/${network.id}`)).data).toMatchObject({ tags: [unchanged.id], updated_at: at });
    expect((await owner.get(`subnets/${subnet.id}`)).data).toMatchObject({ tags: [], updated_at: at });
    expect((await owner.get(`subnets/${untouched.id}`)).data).toEqual(untouched);
    const sequence = versionsOf(gone.id).at(-1)?.sequence as number;
    expect(versionsOf(network.id).at(-1)).toMatchObject({ operation: "Updated", sequence, changed: ["tags"] });
    expect(versionsOf(subnet.id).at(-1)).toMatchObject({ operation: "Updated", sequence, changed: ["tags"] });

    const before = (await list(`at=${subnet.valid_from}`)).data;
    expect(before).toEqual([{ ...gone, valid_to: at }, unchanged]);
    expect((await owner.get(`subnets/${subnet.id}?at=${subnet.valid_from}`)).data).toEqual({ ...subnet, valid_to: at });
    expect((await owner.get(`networks?ids=${network.id}&at=${network.valid_from}`)).data).toEqual([
      { ...network, valid_to: at },
    ]);
    expect((await list(`at=${at}`)).data).toEqual([unchanged]);
  });

  test("creates one version of a record with several of them in bulk", async () => {
    const [first, second, unchanged] = [await newTag(), await newTag(), await newTag()];
    const network = await newNetwork({ tags: [first.id, unchanged.id, second.id] });
    tick();
    const closed = await expectOk(owner.post("tags/bulk-delete", [second.id, first.id]));
    expect(closed).toEqual([first, second].map((tag) => ({ ...tag, valid_to: clock.text() })));
    expect(writtenIn()).toEqual({ "Deleted tag": 2, "Updated network": 1 });
    expect((await owner.get(`networks/${network.id}`)).data.tags).toEqual([unchanged.id]);
  });

  test("accepts cascade, to no effect", async () => {
    for (const cascade of ["true", "false"]) {
      const [tag, otherTag] = [await newTag(), await newTag()];
      await newNetwork({ tags: [tag.id, otherTag.id] });
      await expectOk(owner.delete(`tags/${tag.id}?cascade=${cascade}`));
      expect(writtenIn()).toEqual({ "Deleted tag": 1, "Updated network": 1 });
      await expectOk(owner.post(`tags/bulk-delete?cascade=${cascade}`, [otherTag.id]));
      expect(writtenIn()).toEqual({ "Deleted tag": 1, "Updated network": 1 });
    }
    expect(await owner.delete(`tags/${first.networkId}?cascade=1`)).toMatchObject(
      invalid({ path: "/cascade", value: "1" }),
    );
  });
});

describe("the list of tags", () => {
  test("orders names ignoring case, then by code point", async () => {
    const ordered = ["A", "a", "B", "b", "e\u0301", "\u00e9", "SS", "ss", "Z", "z", "ß", "ß2", "Ä", "ä", "～", "😀"];
    // Composed and decomposed é fold to the same string: the code points as written decide.
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

  test("groups ascending regardless of the direction: that applies only to order_by", async () => {
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

  test("orders by last change, and at a timestamp by the last change before it", async () => {
    const tags: JsonRecord[] = [];
    for (const name of ["a", "b", "c"]) {
      tags.push(await newTag({ name }));
      tick();
    }
    const at = clock.text();
    tick();
    await expectOk(owner.put(`tags/${tags[0]?.id}`, { name: "z", color: "Green" }));
    tick();
    expect(await names("order_by=updated_at")).toEqual(["b", "c", "z"]);
    expect(await names("order_by=updated_at&order_direction=desc")).toEqual(["z", "c", "b"]);
    expect(await names(`order_by=updated_at&at=${at}`)).toEqual(["a", "b", "c"]);
    expect(await names("order_by=name")).toEqual(["b", "c", "z"]);
    expect(await names(`order_by=name&order_direction=desc&at=${at}`)).toEqual(["c", "b", "a"]);
  });

  test("streams all of them, in chunks, as one JSON document", async () => {
    createTags(1_203);
    const page = await list("limit=1000");
    expect(page.body.meta.pagination).toEqual({ total_count: 1_203, limit: 1_000, offset: 0, has_more: true });
    const streamed = await list("limit=0");
    expect(streamed.data).toHaveLength(1_203);
    expect(streamed.data.slice(0, 1_000)).toEqual(page.data);
    expect(await names("limit=0&order_by=name&order_direction=desc")).toEqual((await names("limit=0")).reverse());
  });

  test("streams the state at its start, despite concurrent writes", async () => {
    createTags(1_100);
    const expected = (await list("limit=0")).text;
    const { key } = newApiKey();
    const response = await handle(
      new Request("http://localhost/api/v1/tags?limit=0", { headers: { authorization: `Bearer ${key}` } }),
    );
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      // Between chunks, the last tag is deleted and one is created.
      const last = (await list(`limit=1&offset=${1_099 - chunks.length}`)).data[0];
      await expectOk(owner.delete(`tags/${last.id}`));
      await newTag();
      chunks.push(chunk);
    }
    expect(chunks.length).toBeGreaterThan(3);
    expect(Buffer.concat(chunks).toString()).toBe(expected);
  });

  test("explains how to write an offset whose plus was not escaped", async () => {
    const at = async (text: string) => (await owner.get(`tags?at=${text}`)).body.params.issues[0].message;
    expect(await at("2026-11-21T10:00:00+01:00")).toEndWith("; encode + as %2B in a query");
    expect(await at("yesterday")).not.toContain("%2B");
  });

  test("reports all errors of a query at once", async () => {
    const response = await list(
      "limit=9999&offset=-4&order_by=x&group_by=y&order_direction=z&at=then&nonsense=1&ids=q&order_by=name",
    );
    const paths = response.body.params.issues.map((issue: { path: string }) => issue.path);
    expect(paths.sort()).toEqual("/at /group_by /ids/0 /limit /nonsense /offset /order_by /order_direction".split(" "));
  });

  test("writes nothing", async () => {
    const expectNothingWritten = watchWrites();
    for (const query of ["", "limit=0", "order_by=name", "at=2026-01-01T00:00:00Z"]) await list(query);
    expectNothingWritten();
  });
});
