// Markers: named timestamps of the organization or of a network, accepted in place of a timestamp.

import { beforeEach, describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { networkReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newNetwork, newTag, newUser, owner, prune, tick, versionsOf, watchWrites } = appliance;
const newMarker = (fields: JsonRecord = {}, caller: Client = owner) =>
  expectOk(caller.post("markers", { name: "before", ...fields }));
const markerByName = (name: string) => `marker:${encodeURIComponent(name)}`;

describeRecords(
  {
    path: "/api/v1/markers",
    entity: "marker",
    writeRole: "Member",
    scope: "in a network",
    body: (networkId, position) => ({
      network_id: networkId,
      name: `before ${position}`,
      at: "2026-11-20T21:55:00.000Z",
      description: null,
    }),
    change: { field: "description", to: (body) => (body.description === null ? "the night before" : null) },
    unique: "name",
    invalid: {
      body: { id: 1, name: " ", at: "yesterday", description: [], tags: [] },
      paths: ["/id", "/name", "/at", "/description", "/tags"],
    },
    references: [networkReference()],
  },
  appliance,
);

describe("a marker", () => {
  test("belongs to the organization and marks the current time by default", async () => {
    expect(await newMarker()).toMatchObject({
      organization_id: first.organizationId,
      network_id: null,
      name: "before",
      at: clock.text(),
      description: null,
    });
    expect(
      await newMarker({ name: "of a network", network_id: first.networkId, at: "2026-11-20T22:55:00.1239+01:00" }),
    ).toMatchObject({ network_id: first.networkId, at: "2026-11-20T21:55:00.123Z" });
  });

  test("cannot be in the future, neither initially nor after an update", async () => {
    const marker = await newMarker();
    const at = "2026-11-21T10:00:00.000Z";
    const expectNothingWritten = watchWrites();
    for (const response of [
      await owner.post("markers", { name: "after", at }),
      await owner.put(`markers/${marker.id}`, { name: "before", at }),
    ])
      expect(response).toMatchObject(invalid({ path: "/at", message: "must not be in the future", value: at }));
    expectNothingWritten();
  });

  test("keeps omitted fields, and its network permanently", async () => {
    const { networkId } = first;
    const marker = await newMarker({ network_id: networkId, at: "2026-11-20T21:55:00.000Z", description: "why" });
    tick();
    expect(await expectOk(owner.put(`markers/${marker.id}`, { name: "Before" }))).toMatchObject({
      name: "Before",
      at: marker.at,
      description: "why",
      network_id: networkId,
    });
    expect(versionsOf(marker.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["name"] });
    for (const network_id of [null, (await newNetwork()).id])
      expect(await owner.put(`markers/${marker.id}`, { name: "Before", network_id })).toMatchObject(
        invalid(expect.objectContaining({ path: "/network_id" })),
      );
    expect((await owner.put(`markers/${marker.id}`, { name: "Before", network_id: networkId })).status).toBe(200);
  });

  test("has a unique name within its network or the organization, ignoring case", async () => {
    const otherNetwork = await newNetwork();
    await newMarker({ name: "Überall" });
    await newMarker({ name: "Überall", network_id: first.networkId });
    await newMarker({ name: "Überall", network_id: otherNetwork.id });
    for (const network_id of [undefined, null, first.networkId, otherNetwork.id])
      expect(await owner.post("markers", { name: "u\u0308BERALL", network_id })).toMatchObject(
        refusal(409, "entity_already_exists", { entity: "marker", field: "name" }),
      );
  });

  test("is deleted with its network", async () => {
    const network = await newNetwork();
    const [own, common] = [await newMarker({ network_id: network.id }), await newMarker()];
    tick();
    await expectOk(owner.delete(`networks/${network.id}`));
    expect((await owner.get(`markers/${own.id}`)).status).toBe(404);
    expect((await owner.get("markers")).data).toMatchObject([{ id: common.id }]);
  });

  test("is found by words, and listed by network and in time order", async () => {
    const early = await newMarker({ name: "after the move", at: "2026-11-19T00:00:00Z", network_id: first.networkId });
    const late = await newMarker({ name: "before the core upgrade", description: "CHG-7", at: "2026-11-20T00:00:00Z" });
    const ids = async (query: string) => (await owner.get(`markers?${query}`)).data.map(({ id }: JsonRecord) => id);
    expect(await ids("search=cor")).toEqual([late.id]);
    expect(await ids("search=chg-7")).toEqual([late.id]);
    expect(await ids("order_by=at&order_direction=desc")).toEqual([late.id, early.id]);
    expect(await ids(`network_id=${first.networkId}`)).toEqual([early.id]);
  });
});

describe("the markers visible to a caller", () => {
  let near: JsonRecord;
  let far: JsonRecord;
  let client: Client;
  /** One of the organization, and one each of a network within and out of reach. */
  const threeMarkers = async () =>
    [await newMarker(), await newMarker({ network_id: near.id }), await newMarker({ network_id: far.id })] as const;

  beforeEach(async () => {
    [near, far] = [await newNetwork(), await newNetwork()];
    ({ client } = await newUser({ role: "Member", networkIds: [near.id] }));
  });

  test("are the organization's and those of networks in reach, now and in the past, listed and individually", async () => {
    const [common, nearMarker, farMarker] = await threeMarkers();
    const statuses = [
      [common, 200],
      [nearMarker, 200],
      [farMarker, 404],
    ] as const;
    tick();
    const at = clock.text();
    tick();
    await newMarker({ name: "later", network_id: near.id });
    for (const query of ["", `at=${at}`]) {
      const { data, body } = await client.get(`markers?${query}`);
      const ids = [common.id, nearMarker.id, ...(query === "" ? [expect.any(String)] : [])];
      expect(data.map(({ id }: JsonRecord) => id)).toEqual(ids);
      expect(body.meta.pagination.total_count).toBe(ids.length);
      expect((await client.get(`markers?limit=1&offset=1&${query}`)).data).toMatchObject([{ id: nearMarker.id }]);
      expect((await client.get(`markers/export/csv?${query}`)).text.split("\r\n")).toHaveLength(ids.length + 2);
      expect((await client.get(`markers?search=bef&${query}`)).data).toHaveLength(2);
      for (const [{ id }, status] of statuses) expect((await client.get(`markers/${id}?${query}`)).status).toBe(status);
    }
    for (const [{ id }, status] of statuses) {
      expect((await client.get(`markers/${id}/history`)).status).toBe(status);
      expect((await client.put(`markers/${id}`, { name: "before", description: "seen" })).status).toBe(status);
    }
    const changedIds = (await client.get("changes?limit=1000")).data.map(({ record }: JsonRecord) => record.id);
    expect(changedIds).toEqual(expect.arrayContaining([common.id, nearMarker.id]));
    expect(changedIds).not.toContain(farMarker.id);
  });

  test("are filtered, now and over time, and counted among changes", async () => {
    const [common, nearMarker, farMarker] = await threeMarkers();
    tick();
    const at = clock.text();
    tick();
    for (const { id } of [common, nearMarker, farMarker]) {
      await expectOk(owner.put(`markers/${id}`, { name: "before", description: "changed" }));
      tick();
    }
    const ids = async (parameters: Record<string, string>) =>
      (await client.get(`markers?${new URLSearchParams(parameters)}`)).data.map(({ id }: JsonRecord) => id);
    for (const filter of [
      "name = before",
      `changes(description, "${at}") = 1`,
      `was("${at}", NOT description:*)`,
      `ever(NOT description:*, "${at}")`,
      `always(name = before, "${at}")`,
      `NOT always(description = changed, "${at}")`,
    ])
      expect([filter, await ids({ filter })]).toEqual([filter, [common.id, nearMarker.id]]);
    expect(await ids({ filter: "NOT network_id:*" })).toEqual([common.id]);
    expect(await ids({ filter: `network.name = "${near.name}"`, at })).toEqual([nearMarker.id]);
    const changed = (await client.get(`transactions?types=marker&from=${at}&order_direction=asc`)).body;
    expect(changed.meta.pagination.total_count).toBe(2);
    for (const [{ id }, count] of [
      [common, 2],
      [nearMarker, 2],
      [farMarker, 0],
    ] as const)
      expect((await client.get(`transactions?id=${id}`)).body.meta.pagination.total_count).toBe(count);
    expect((await client.get(`transactions?types=marker&network_id=${near.id}`)).data).toHaveLength(2);
  });

  test("exclude those of other organizations", async () => {
    await newMarker();
    const { client: stranger } = await appliance.newStranger();
    expect((await stranger.get("markers")).data).toEqual([]);
    expect(await stranger.get("tags?at=marker:before")).toMatchObject(
      invalid(expect.objectContaining({ path: "/at" })),
    );
  });

  test("are only the organization's for a caller without networks", async () => {
    const common = await newMarker();
    await newMarker({ network_id: near.id });
    const { client: lonely } = await newUser({ role: "Viewer", networkIds: [] });
    expect((await lonely.get("markers")).body).toMatchObject({
      data: [{ id: common.id }],
      meta: { pagination: { total_count: 1 } },
    });
  });

  test("determine name resolution: a unique one in reach is used, and ambiguous ones require ids", async () => {
    const farMarker = await newMarker({ network_id: far.id, at: "2026-11-18T00:00:00.000Z" });
    expect(await client.get("tags?at=marker:before")).toMatchObject(
      invalid({
        path: "/at",
        message: 'must name a marker: no marker is named "before"; GET /api/v1/markers lists them',
        value: "marker:before",
      }),
    );
    expect((await client.get(`tags?at=marker:${farMarker.id}`)).status).toBe(400);
    const nearMarker = await newMarker({ network_id: near.id, at: "2026-11-19T00:00:00.000Z" });
    expect((await client.get("tags?at=marker:BEFORE")).body.meta.at).toBe(nearMarker.at);
    const [{ message }] = (await owner.get("tags?at=marker:before")).body.params.issues;
    expect(message).toBe(
      `is the name of 2 markers; give the id of one: marker:${farMarker.id} (of the network ${far.name}), marker:${nearMarker.id} (of the network ${near.name})`,
    );
    const common = await newMarker({ at: "2026-11-20T00:00:00.000Z" });
    expect((await client.get("tags?at=marker:before")).body.params.issues[0].message).toBe(
      `is the name of 2 markers; give the id of one: marker:${nearMarker.id} (of the network ${near.name}), marker:${common.id} (of the organization)`,
    );
    for (const [caller, marker] of [
      [client, nearMarker],
      [client, common],
      [owner, farMarker],
    ] as const)
      expect((await caller.get(`tags?at=marker:${marker.id.toUpperCase()}`)).body.meta.at).toBe(marker.at);
    await owner.delete(`markers/${common.id}`);
    expect((await client.get("tags?at=marker:before")).body.meta.at).toBe(nearMarker.at);
    expect((await client.get(`tags?at=marker:${common.id}`)).status).toBe(400);
  });
});

/** Timestamp parameters of an operation. */
function instantsOf({ operation }: RegisteredRoute, part: "query" | "body"): string[] {
  const properties = ((operation[part] as TSchema | undefined)?.properties ?? {}) as Record<string, TSchema>;
  return Object.keys(properties).filter((name) => /^(as-of|instant-or-age)$/.test(String(properties[name]?.format)));
}

describe("a marker used as a timestamp", () => {
  const UNKNOWN = "01936f2e-0d5c-7d3a-9a39-00000000dead";
  /** Other required parameters. */
  const requiredParameters = (path: string, name: string): Record<string, string> => {
    if (path === "/api/v1/diff") return name === "from" ? {} : { from: "-7d" };
    if (["/api/v1/topology", "/api/v1/subnets/tree"].includes(path)) return { network_id: first.networkId };
    if (path === "/api/v1/search") return { q: "core" };
    return path.startsWith("/api/v1/locate") ? { ip: "10.2.3.4" } : {};
  };
  const urlOf = (path: string, name: string, text: string) =>
    `${path.replace(":id", UNKNOWN)}?${new URLSearchParams({ ...requiredParameters(path, name), [name]: text })}`;

  test("is resolved by every operation: an unknown one is refused by the parameter's name", async () => {
    let count = 0;
    for (const route of appliance.surface.routes) {
      for (const name of instantsOf(route, "query")) {
        count += 1;
        const response = await owner.get(urlOf(route.path, name, "marker:nowhere"));
        expect([route.path, name, response.body?.params?.issues]).toEqual([
          route.path,
          name,
          [
            {
              path: `/${name}`,
              message: 'must name a marker: no marker is named "nowhere"; GET /api/v1/markers lists them',
              value: "marker:nowhere",
            },
          ],
        ]);
      }
      for (const name of instantsOf(route, "body")) {
        count += 1;
        expect(await owner.post(route.path.replace(":id", UNKNOWN), { [name]: "marker:nowhere" })).toMatchObject(
          invalid(expect.objectContaining({ path: `/${name}`, value: "marker:nowhere" })),
        );
      }
    }
    // Lists, tables, records and their histories, restores, and reads over all resources.
    expect(count).toBeGreaterThan(70);
  });

  test("is the timestamp of every list and table, in the response and in its meta", async () => {
    await newHost({ name: "old" });
    await newTag({ name: "old" });
    tick();
    const marker = await newMarker({ name: "before: 100 % & é" });
    tick();
    await newTag({ name: "new" });
    tick();
    for (const route of appliance.surface.routes.filter(
      ({ method, path }) => method === "GET" && !path.includes(":"),
    )) {
      for (const name of instantsOf(route, "query").filter((parameter) => parameter !== "to")) {
        const [byName, byInstant] = [
          await owner.get(urlOf(route.path, name, "marker:BEFORE: 100 % & é")),
          await owner.get(urlOf(route.path, name, marker.at)),
        ];
        expect([route.path, byName.status, byName.text]).toEqual([route.path, 200, byInstant.text]);
        if (name === "at" && byName.body !== null && byName.body.meta.at !== undefined)
          expect(byName.body.meta.at).toBe(marker.at);
      }
    }
    expect((await owner.get(`tags?at=${markerByName("before: 100 % & é")}`)).data).toMatchObject([{ name: "old" }]);
    expect((await owner.get(`tags?at=marker:before:+100+%25+%26+%C3%A9`)).data).toMatchObject([{ name: "old" }]);
  });

  test("can be the target of a restore and the ends of a diff", async () => {
    const tag = await newTag({ name: "old" });
    tick();
    const before = await newMarker();
    tick();
    await expectOk(owner.put(`tags/${tag.id}`, { ...tag, name: "new" }));
    tick();
    const after = await newMarker({ name: "after" });
    tick();
    await expectOk(owner.put(`tags/${tag.id}`, { ...tag, name: "newer" }));
    const { data } = await owner.get("diff?from=marker:before&to=marker:after&types=tag");
    expect(data).toMatchObject({
      from: { at: before.at },
      to: { at: after.at },
      changed: [{ id: tag.id, fields: [{ field: "name", from: "old", to: "new" }] }],
    });
    expect(await owner.get("diff?from=marker:after&to=marker:before")).toMatchObject(
      invalid({ path: "/from", message: "must not be later than to", value: "marker:after" }),
    );
    const restored = await owner.post(`tags/${tag.id}/restore`, { at: "marker:before" });
    expect(restored).toMatchObject({ status: 200, data: { applied: true, at: before.at } });
    expect((await owner.get(`tags/${tag.id}`)).data.name).toBe("old");
  });

  test("is accepted in a filter, as the start of a period and as a compared value", async () => {
    const tag = await newTag({ name: "old" });
    tick();
    const before = await newMarker();
    tick();
    await expectOk(owner.put(`tags/${tag.id}`, { ...tag, name: "new" }));
    const filtered = async (filter: string, caller = owner) =>
      caller.get(`tags?${new URLSearchParams({ filter, limit: "0" })}`);
    for (const filter of [
      'was("marker:before", name = old)',
      'changes(name, "marker:BEFORE") = 1',
      'updated_at > "marker:before"',
      `created_at < "marker:${before.id}"`,
    ])
      expect([filter, (await filtered(filter)).data.map(({ id }: JsonRecord) => id)]).toEqual([filter, [tag.id]]);
    expect((await filtered('updated_at < "marker:before"')).data).toEqual([]);
    expect(await filtered('updated_at < "marker:nowhere"')).toMatchObject(
      invalid(
        expect.objectContaining({
          path: "/filter",
          position: 13,
          message: expect.stringContaining('must name a marker: no marker is named "nowhere"'),
        }),
      ),
    );
    expect((await filtered('updated_at < "nowhere"')).body.params.issues[0].message).toEndWith(
      "or a marker such as marker:NAME",
    );
    const network = await newNetwork();
    await expectOk(owner.put(`markers/${before.id}`, { name: "elsewhere" }));
    await newMarker({ network_id: network.id });
    const { client } = await newUser({ role: "Viewer", networkIds: [] });
    expect((await filtered('updated_at < "marker:before"')).status).toBe(200);
    expect((await filtered('updated_at < "marker:before"', client)).status).toBe(400);
  });

  test("bounds the list of transactions", async () => {
    await newTag({ name: "a" });
    tick();
    const marker = await newMarker();
    tick();
    await newTag({ name: "b" });
    const commands = async (query: string) =>
      (await owner.get(`transactions?${query}`)).data.map(({ command }: JsonRecord) => command);
    expect(await commands("from=marker:before")).toEqual(["tag.create", "marker.create"]);
    expect(await commands(`to=marker:${marker.id}&types=tag`)).toEqual(["tag.create"]);
    expect(await commands(`id=${marker.id}`)).toEqual(["marker.create"]);
  });

  test("is resolved by its current state, regardless of the requested timestamp", async () => {
    const tag = await newTag({ name: "old" });
    const marker = await newMarker();
    tick();
    const later = clock.text();
    await owner.put(`tags/${tag.id}`, { ...tag, name: "new" });
    tick();
    await expectOk(owner.put(`markers/${marker.id}`, { name: "moved", at: later }));
    expect((await owner.get(`tags/${tag.id}?at=marker:moved`)).data.name).toBe("new");
    expect((await owner.get(`markers?at=${marker.at}`)).data).toMatchObject([{ name: "before", at: marker.at }]);
    expect((await owner.get("tags?at=marker:before")).status).toBe(400);
  });

  test("resolves to its timestamp in thinned history, and the kept state is reported", async () => {
    const tag = await newTag({ name: "one" });
    tick();
    await owner.put(`tags/${tag.id}`, { ...tag, name: "two" });
    const marker = await newMarker();
    clock.advance(3 * 86_400_000);
    await owner.put(`tags/${tag.id}`, { ...tag, name: "three" });
    clock.advance(86_400_000);
    prune(clock.now() - 3_600_000, "none");
    const { text, body } = await owner.get("tags?at=marker:before");
    expect(text).toBe((await owner.get(`tags?at=${marker.at}`)).text);
    expect(body.meta).toMatchObject({ at: marker.at, resolution: "none" });
  });

  test.each([
    "marker:",
    "marker:%20",
    "Marker:before",
    "markers:before",
    "marker",
    `marker:${"x".repeat(256)}`,
    "marker:a%0Ab",
  ])("is rejected as %s", async (text) => {
    expect(await owner.get(`tags?at=${text}`)).toMatchObject(
      invalid({
        path: "/at",
        message: expect.stringMatching(/or a marker such as marker:NAME$/),
        value: expect.any(String),
      }),
    );
  });

  test("cannot replace a timestamp elsewhere: a marker's own must be one", async () => {
    await newMarker();
    expect(await owner.post("markers", { name: "again", at: "marker:before" })).toMatchObject(
      invalid(expect.objectContaining({ path: "/at" })),
    );
  });
});
