// The tests that every kind of record has to pass, whatever it is: errors, versions, time, conditional requests, pages.
// What is special about a kind is tested in its own file.

import { beforeEach, describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Role } from "../../src/access/role.ts";
import { formatInstant, parseInstant } from "../../src/base/instant.ts";
import type { TestAppliance } from "./appliance.ts";
import type { Answer, Client } from "./client.ts";
import { made, newUser, transactionCount, versionsOf, type Wire } from "./factories.ts";

export interface RecordBattery {
  /** `/api/v1/tags` */
  readonly path: string;
  /** `tag`, as in errors. */
  readonly entity: string;
  /** The least role that writes, and the one below it. */
  readonly writeRole: Role;
  readonly roleBelow: Role;
  /** Where records live, and so who reaches them. */
  readonly place: "in the organization" | "in a network" | "is a network";
  /** A valid body with every optional field; another record for every position. */
  readonly body: (networkId: string, position: number) => Wire;
  /** A change of a body and the field that it changes. */
  readonly change: { readonly field: string; readonly to: (body: Wire) => unknown };
  /** What makes records one: a body with the same value is refused. */
  readonly unique: string;
  /** A body in which much is wrong, and the pointers to all of it. */
  readonly invalid: { readonly body: Wire; readonly paths: readonly string[] };
  /** Fields that name other records: a body that names `id`. */
  readonly references: ReadonlyArray<{ readonly field: string; readonly entity: string; readonly naming: (body: Wire, id: string) => Wire; readonly make: (by: Client, networkId: string) => Promise<string> }>;
}

const UNKNOWN_ID = "01936f2e-0d5c-7d3a-9a39-00000000dead";

interface Other {
  readonly organizationId: string;
  readonly networkId: string;
  readonly client: Client;
}

/** Registers the battery's tests, each on the appliance that the file made for it. */
export function describeRecords(battery: RecordBattery, applianceOfTest: () => TestAppliance): void {
  const { path, entity, change } = battery;
  const inNetwork = battery.place === "in a network";

  describe(`every ${entity.replaceAll("_", " ")}`, () => {
    let appliance: TestAppliance;
    let owner: Client;

    beforeEach(() => {
      appliance = applianceOfTest();
      owner = appliance.owner;
    });

    const body = (position = 1, networkId = appliance.first.networkId) => battery.body(networkId, position);
    const changed = (from: Wire): Wire => ({ ...from, [change.field]: change.to(from) });
    const create = (position = 1) => made(owner.post(path, body(position)));
    const other = async (): Promise<Other> => {
      const second = await appliance.newOrganization("Second");
      return { ...second, client: await appliance.signedIn(second.userId) };
    };

    test("is answered with exactly the documented fields", async () => {
      const created = await create();
      const schema = appliance.surface.routes.find((route) => route.method === "GET" && route.path === `${path}/:id`)?.operation.answer as TObject;
      const listed = (await owner.get(`${path}?ids=${created["id"]}`)).data[0];
      for (const record of [created, listed, (await owner.get(`${path}/${created["id"]}`)).data]) {
        expect([...Value.Errors(schema, record)]).toEqual([]);
        expect(Object.keys(record).sort()).toEqual(Object.keys(schema.properties).sort());
        expect(record).toEqual(created);
      }
      expect(created).toMatchObject(body());
      expect(created).toMatchObject({ valid_to: null, lineage_id: null, updated_at: created["created_at"], valid_from: created["created_at"] });
    });

    test("is hidden from anonymous callers before anything of the request is looked at", async () => {
      const attempts = [
        appliance.anonymous.get(`${path}?limit=wrong`),
        appliance.anonymous.get(`${path}/wrong`),
        appliance.anonymous.post(path, "{not json"),
        appliance.anonymous.put(`${path}/wrong`, { nonsense: 1 }),
        appliance.anonymous.delete(`${path}/wrong`),
      ];
      for (const answer of await Promise.all(attempts)) {
        expect(answer).toMatchObject({ status: 401, body: { success: false, code: "auth_not_authenticated" } });
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      }
    });

    test(`is read by every role and written from ${battery.writeRole} upwards`, async () => {
      const created = await create();
      const networkIds = [appliance.first.networkId, ...(battery.place === "is a network" ? [created["id"] as string] : [])];
      const below = (await newUser(appliance, { role: battery.roleBelow, networkIds })).client;
      const before = transactionCount(appliance);
      const attempts = [below.post(path, body(2)), below.post(path, { nonsense: 1 }), below.put(`${path}/${created["id"]}`, changed(body())), below.delete(`${path}/${created["id"]}`)];
      for (const answer of await Promise.all(attempts)) {
        expect(answer).toMatchObject({ status: 403, body: { code: "auth_permission_denied", params: { required: battery.writeRole, actual: battery.roleBelow } } });
      }
      expect(transactionCount(appliance)).toBe(before);
      expect((await below.get(`${path}/${created["id"]}`)).data).toEqual(created);
      expect((await below.get(`${path}?ids=${created["id"]}`)).data).toEqual([created]);

      const writer = (await newUser(appliance, { role: battery.writeRole, networkIds })).client;
      expect(await writer.post(path, body(2))).toMatchObject({ status: 200 });
      expect(await writer.put(`${path}/${created["id"]}`, changed(body()))).toMatchObject({ status: 200 });
      expect(await writer.delete(`${path}/${created["id"]}`)).toMatchObject({ status: 200 });
    });

    test("is the same 404 when it is unknown, deleted or another organization's", async () => {
      const deleted = await create();
      await owner.delete(`${path}/${deleted["id"]}`);
      const second = await other();
      const foreign = await made(second.client.post(path, body(1, second.networkId)));
      const before = transactionCount(appliance);
      for (const attempt of [
        (id: string) => owner.get(`${path}/${id}`),
        (id: string) => owner.put(`${path}/${id}`, body(2)),
        (id: string) => owner.delete(`${path}/${id}`),
        (id: string) => owner.put(`${path}/${id}`, body(2), { "if-match": '"1"' }),
      ]) {
        const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
        expect(unknown).toMatchObject({ status: 404, body: { code: "entity_not_found", params: { entity, id: "<id>" } } });
        for (const id of [deleted["id"], foreign["id"]]) expect(withoutId(await attempt(id), id)).toEqual(unknown);
      }
      expect((await owner.get(`${path}?ids=${foreign["id"]}&ids=${UNKNOWN_ID}`)).body).toMatchObject({ data: [], meta: { pagination: { total_count: 0 } } });
      expect((await owner.get(`${path}?limit=1000`)).text).not.toContain(foreign["id"]);
      expect(transactionCount(appliance)).toBe(before);
      expect((await second.client.get(`${path}/${foreign["id"]}`)).data).toEqual(foreign);
    });

    test("is refused with every offender at once, and nothing is written", async () => {
      const created = await create();
      const before = transactionCount(appliance);
      const paths = [...battery.invalid.paths].sort();
      for (const answer of [await owner.post(path, battery.invalid.body), await owner.put(`${path}/${created["id"]}`, battery.invalid.body)]) {
        expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
        const issues = answer.body.params.issues as Array<{ path: string; message: string }>;
        expect(issues.map((issue) => issue.path).filter((each) => each !== "/network_id").sort()).toEqual(paths);
        for (const issue of issues) expect(issue.message).not.toBe("");
      }
      expect(transactionCount(appliance)).toBe(before);
    });

    test("is refused with a field that it does not have, by its name", async () => {
      const created = await create();
      const before = transactionCount(appliance);
      for (const answer of [await owner.post(path, { ...body(2), colour: "Green" }), await owner.put(`${path}/${created["id"]}`, { ...body(), colour: "Green" })]) {
        expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed", params: { issues: [{ path: "/colour", value: "Green" }] } } });
      }
      const query = await owner.get(`${path}?nmae=x`);
      expect(query).toMatchObject({ status: 400, body: { code: "validation_failed", params: { issues: [{ path: "/nmae", value: "x" }] } } });
      expect(await owner.get(`${path}/wrong`)).toMatchObject({ status: 400, body: { code: "validation_failed", params: { issues: [{ path: "/id", value: "wrong" }] } } });
      expect(transactionCount(appliance)).toBe(before);
    });

    test.each([["null"], ["[]"], ['"text"'], ["5"], ["{}"]])("is not made of the JSON value %s", async (sent) => {
      const before = transactionCount(appliance);
      expect(await owner.post(path, sent)).toMatchObject({ status: 400, body: { code: "validation_failed" } });
      expect(transactionCount(appliance)).toBe(before);
    });

    test.each([["{"], [""], ["{'a':1}"]])("is not made of the malformed body %p", async (sent) => {
      expect(await owner.post(path, sent)).toMatchObject({ status: 400, body: { code: "malformed_json" } });
    });

    test("belongs to the caller's organization alone", async () => {
      const second = await other();
      const before = transactionCount(appliance);
      expect(await owner.post(path, { ...body(), organization_id: second.organizationId })).toMatchObject({ status: 403, body: { code: "entity_access_denied" } });
      expect(transactionCount(appliance)).toBe(before);
      const created = await made(owner.post(path, { ...body(), organization_id: appliance.first.organizationId.toUpperCase() }));
      expect(await owner.put(`${path}/${created["id"]}`, { ...body(), organization_id: second.organizationId })).toMatchObject({ status: 403 });
      expect((await owner.get(`${path}/${created["id"]}`)).data).toEqual(created);
    });

    test("is visible to `at` from its first instant to its last, and not a millisecond longer", async () => {
      const created = await create();
      const id = created["id"];
      appliance.clock.advance(5_000);
      const updated = await made(owner.put(`${path}/${id}`, changed(body())));
      appliance.clock.advance(5_000);
      const closed = await made(owner.delete(`${path}/${id}`));
      appliance.clock.advance(5_000);

      expect(updated).toMatchObject({ id, created_at: created["created_at"], valid_to: null });
      expect(updated["updated_at"]).toBe(updated["valid_from"]);
      expect(updated[change.field]).toEqual(changed(body())[change.field]);
      const ended = versionsOf(appliance, id).at(-1)?.valid_from as string;
      expect(closed).toEqual({ ...updated, valid_to: ended });
      const first = { ...created, valid_to: updated["valid_from"] };
      const expected: Array<[string, Wire | null]> = [
        [shift(created["valid_from"], -1), null],
        [created["valid_from"], first],
        [shift(updated["valid_from"], -1), first],
        [updated["valid_from"], closed],
        [shift(ended, -1), closed],
        [ended, null],
        [shift(ended, 1), null],
      ];
      for (const [at, record] of expected) {
        const one = await owner.get(`${path}/${id}?at=${at}`);
        if (record === null) expect(one).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
        else expect(one).toMatchObject({ status: 200, data: record, body: { meta: { at } } });
        for (const listing of [`${path}?ids=${id}&at=${at}`, `${path}?ids=${id}&at=${at}&limit=0`]) {
          const list = await owner.get(listing);
          expect(list.data).toEqual(record === null ? [] : [record]);
          expect(list.body.meta).toMatchObject({ at, pagination: { total_count: record === null ? 0 : 1 } });
        }
        const all = await owner.get(`${path}?limit=1000&at=${at}`);
        expect(all.data.filter((each: Wire) => each["id"] === id)).toEqual(record === null ? [] : [record]);
        expect(all.body.meta.pagination.total_count).toBe(all.data.length);
      }
      expect((await owner.get(`${path}/${id}`)).status).toBe(404);
      expect(versionsOf(appliance, id)).toMatchObject([
        { operation: "Created", changed: null, valid_from: created["valid_from"] },
        { operation: "Updated", changed: [change.field], valid_from: updated["valid_from"] },
        { operation: "Deleted", changed: null, valid_from: ended },
      ]);
    });

    test("is not there before the first transaction, and is the live one from now on", async () => {
      const created = await create();
      const past = await owner.get(`${path}?at=1999-12-31T23:59:59Z`);
      expect(past).toMatchObject({ status: 200, data: [], body: { meta: { at: "1999-12-31T23:59:59.000Z", pagination: { total_count: 0 } } } });
      expect((await owner.get(`${path}?at=2999-01-01T00:00:00%2B02:00&ids=${created["id"]}`)).body).toMatchObject({ data: [created], meta: { at: "2998-12-31T22:00:00.000Z" } });
      expect(await owner.get(`${path}/${created["id"]}?at=yesterday`)).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/at", value: "yesterday" }] } } });
    });

    test("makes no version when it is written as it is, also with all that was answered sent back", async () => {
      await create();
      const created = await create(2);
      const id = created["id"];
      const { etag, before } = { etag: (await owner.get(`${path}/${id}`)).headers.get("etag"), before: transactionCount(appliance) };
      appliance.clock.advance(1_000);
      for (const sent of [body(2), created, { ...created, id: (id as string).toUpperCase(), updated_at: "nonsense", valid_to: 5 }]) {
        const answer = await owner.put(`${path}/${id}`, sent);
        expect(answer).toMatchObject({ status: 200, data: created });
        expect(answer.headers.get("etag")).toBe(etag);
      }
      expect(transactionCount(appliance)).toBe(before);
      expect(versionsOf(appliance, id)).toHaveLength(1);
    });

    test("keeps what an update leaves out, and takes a GET body that was edited", async () => {
      const created = await create();
      const required = Object.fromEntries(Object.entries(body()).filter(([name]) => !isOptional(appliance, path, name)));
      expect((await owner.put(`${path}/${created["id"]}`, required)).data).toEqual(created);
      appliance.clock.advance(1_000);
      const edited = await made(owner.put(`${path}/${created["id"]}`, { ...created, [change.field]: change.to(created) }));
      expect(edited).toEqual({ ...created, [change.field]: change.to(created), updated_at: appliance.clock.text(), valid_from: appliance.clock.text() });
    });

    test("keeps its own ids", async () => {
      const created = await create();
      const before = transactionCount(appliance);
      expect(await owner.put(`${path}/${created["id"]}`, { ...body(), id: UNKNOWN_ID })).toMatchObject({
        status: 400,
        body: { code: "validation_id_mismatch", params: { path_id: created["id"], body_id: UNKNOWN_ID } },
      });
      if (inNetwork) {
        const network = await made(owner.post("/api/v1/networks", { name: "Elsewhere" }));
        expect(await owner.put(`${path}/${created["id"]}`, { ...body(), network_id: network["id"] })).toMatchObject({
          status: 400,
          body: { code: "validation_failed", params: { issues: [{ path: "/network_id", value: network["id"] }] } },
        });
      }
      expect(versionsOf(appliance, created["id"])).toHaveLength(1);
      expect(transactionCount(appliance)).toBe(before + (inNetwork ? 1 : 0));
    });

    test("is one of its kind among the living, and finds its lineage when it comes again", async () => {
      const first = await create(1);
      const second = await create(2);
      const before = transactionCount(appliance);
      const clash = { entity, field: battery.unique, value: first[battery.unique] };
      expect(await owner.post(path, body(1))).toMatchObject({ status: 409, body: { code: "entity_already_exists", params: clash } });
      expect(await owner.put(`${path}/${second["id"]}`, { ...body(2), [battery.unique]: first[battery.unique] })).toMatchObject({ status: 409, body: { code: "entity_already_exists", params: clash } });
      expect(transactionCount(appliance)).toBe(before);
      expect((await owner.get(`${path}/${second["id"]}`)).data).toEqual(second);

      await owner.delete(`${path}/${first["id"]}`);
      const again = await create(1);
      expect(again).toMatchObject({ lineage_id: first["id"] });
      expect(again["id"]).not.toBe(first["id"]);
      await owner.delete(`${path}/${again["id"]}`);
      expect(await create(1)).toMatchObject({ lineage_id: first["id"] });
      const elsewhere = await other();
      expect(await made(elsewhere.client.post(path, body(1, elsewhere.networkId)))).toMatchObject({ lineage_id: null });
    });

    test("may bring its id, which nothing else ever gets", async () => {
      const id = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
      const created = await made(owner.post(path, { ...body(1), id }));
      expect(created["id"]).toBe(id.toLowerCase());
      const refused = { status: 409, body: { code: "entity_already_exists", params: { entity, field: "id", value: id.toLowerCase() } } };
      expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
      await owner.delete(`${path}/${created["id"]}`);
      expect(await owner.post(path, { ...body(2), id })).toMatchObject(refused);
      const elsewhere = await other();
      expect(await elsewhere.client.post(path, { ...body(2, elsewhere.networkId), id })).toMatchObject(refused);
      // Also one that a record of another kind has.
      expect(await owner.post(path, { ...body(2), id: appliance.first.userId })).toMatchObject({ status: 409 });
      expect((await owner.get(path + `?ids=${id}`)).data).toEqual([]);
    });

    test("is guarded by its entity tag", async () => {
      const created = await create();
      const one = `${path}/${created["id"]}`;
      const read = await owner.get(one);
      const etag = read.headers.get("etag") as string;
      expect(etag).toMatch(/^"[^"]+"$/);
      const unchanged = await owner.get(one, { "if-none-match": `"other", W/${etag}` });
      expect(unchanged).toMatchObject({ status: 304, text: "" });
      expect(unchanged.headers.get("etag")).toBe(etag);
      appliance.clock.advance(1_000);
      const updated = await owner.put(one, changed(body()), { "if-match": etag });
      expect(updated.status).toBe(200);
      const now = updated.headers.get("etag") as string;
      expect(now).not.toBe(etag);
      expect((await owner.get(one)).headers.get("etag")).toBe(now);
      expect((await owner.get(one, { "if-none-match": etag })).status).toBe(200);
      // An ended version is another representation than the same one while it was the newest.
      const past = await owner.get(`${one}?at=${created["valid_from"]}`);
      expect([etag, now]).not.toContain(past.headers.get("etag"));

      const before = transactionCount(appliance);
      for (const stale of [etag, `W/${now}`, '"nonsense"', past.headers.get("etag") as string]) {
        expect(await owner.put(one, body(), { "if-match": stale })).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
        expect(await owner.delete(one, { "if-match": stale })).toMatchObject({ status: 412, body: { code: "precondition_failed" } });
      }
      expect(transactionCount(appliance)).toBe(before);
      expect((await owner.put(one, body(), { "if-match": "*" })).status).toBe(200);
      const last = (await owner.get(one)).headers.get("etag") as string;
      expect((await owner.delete(one, { "if-match": `"0", ${last}` })).status).toBe(200);
    });

    test("has an `updated_at` that always grows, however the clock is set back", async () => {
      const created = await create();
      const versions = [created];
      for (const back of [-60_000, -3_600_000, 0]) {
        appliance.clock.advance(back);
        const last = versions.at(-1) as Wire;
        const sent = last[change.field] === body()[change.field] ? changed(body()) : body();
        versions.push(await made(owner.put(`${path}/${created["id"]}`, sent)));
      }
      const instants = versions.map((version) => parseInstant(version["updated_at"]) as number);
      expect(instants).toEqual([...instants].sort((a, b) => a - b));
      expect(new Set(instants).size).toBe(4);
      // The clock is behind all of them: any instant from it on is the present.
      expect((await owner.get(`${path}/${created["id"]}?at=${created["valid_from"]}`)).data).toEqual(versions.at(-1) as Wire);
      appliance.clock.advance(7_200_000);
      for (const [position, version] of versions.entries()) {
        const next = versions[position + 1];
        expect((await owner.get(`${path}/${created["id"]}?at=${version["valid_from"]}`)).data).toEqual({ ...version, valid_to: next?.["valid_from"] ?? null });
      }
    });

    test("stands in pages by its creation, each page with the count of all", async () => {
      const before = (await owner.get(`${path}?limit=1000`)).data as Wire[];
      const records = [...before];
      for (let position = 1; position <= 5; position += 1) records.push(await create(position));
      const total = records.length;
      appliance.clock.advance(1_000);
      const at = appliance.clock.text();
      appliance.clock.advance(1_000);
      for (const when of ["", `&at=${at}`]) {
        const pagination = async (query: string) => {
          const { data, body: answer } = await owner.get(`${path}?${query}${when}`);
          return { data, ...answer.meta.pagination };
        };
        expect(await pagination("")).toEqual({ data: records, total_count: total, limit: 50, offset: 0, has_more: false });
        expect(await pagination("limit=2")).toEqual({ data: records.slice(0, 2), total_count: total, limit: 2, offset: 0, has_more: true });
        expect(await pagination(`limit=2&offset=${total - 2}`)).toEqual({ data: records.slice(-2), total_count: total, limit: 2, offset: total - 2, has_more: false });
        expect(await pagination(`limit=2&offset=${total - 3}`)).toMatchObject({ data: records.slice(-3, -1), has_more: true });
        expect(await pagination(`offset=${total}`)).toEqual({ data: [], total_count: total, limit: 50, offset: total, has_more: false });
        expect(await pagination("offset=2147483647")).toMatchObject({ data: [], total_count: total, has_more: false });
        expect(await pagination("limit=0")).toEqual({ data: records, total_count: total, limit: 0, offset: 0, has_more: false });
        expect(await pagination("limit=0&offset=2")).toEqual({ data: records.slice(2), total_count: total, limit: 0, offset: 2, has_more: false });
        expect(await pagination(`limit=0&offset=${total + 1}`)).toMatchObject({ data: [], total_count: total });
      }
    });

    test.each([
      ["limit=-1", "/limit", -1],
      ["limit=1001", "/limit", 1001],
      ["limit=ten", "/limit", "ten"],
      ["limit=", "/limit", ""],
      ["limit=1.5", "/limit", "1.5"],
      ["offset=-1", "/offset", -1],
      ["offset=2147483648", "/offset", 2147483648],
      ["at=2026-13-01T00:00:00Z", "/at", "2026-13-01T00:00:00Z"],
      ["at=2026-11-21", "/at", "2026-11-21"],
      ["ids=nonsense", "/ids/0", "nonsense"],
    ])("is not listed by %s, which is refused with the offending value", async (query, at, value) => {
      const answer = await owner.get(`${path}?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed", params: { issues: [{ path: at, value }] } } });
      expect(answer.headers.get("content-type")).toStartWith("application/json");
    });

    test("is found by its id in a list, in each way that ids can be sent", async () => {
      const records = [await create(1), await create(2), await create(3)];
      const [a, , c] = records.map((record) => record["id"] as string) as [string, string, string];
      for (const query of [`ids=${c}&ids=${a}`, `ids=${c},${a}`, `ids[]=${c}&ids[]=${a}`, `ids%5B%5D=${c},${a.toUpperCase()}`, `ids=${a}&ids=${a}&ids=${c}&ids=${UNKNOWN_ID}`]) {
        const answer = await owner.get(`${path}?${query}`);
        expect(answer.data).toEqual([records[0], records[2]]);
        expect(answer.body.meta.pagination).toEqual({ total_count: 2, limit: 50, offset: 0, has_more: false });
      }
      expect((await owner.get(`${path}?ids=`)).data).toEqual([]);
      expect((await owner.get(`${path}?ids=${a},${c}&limit=1`)).body.meta.pagination).toEqual({ total_count: 2, limit: 1, offset: 0, has_more: true });
      const many = Array.from({ length: 301 }, (_, position) => `${UNKNOWN_ID.slice(0, -4)}${position.toString().padStart(4, "0")}`);
      expect((await owner.get(`${path}?ids=${many.slice(0, 300).join(",")}`)).status).toBe(200);
      expect(await owner.get(`${path}?ids=${many.join(",")}`)).toMatchObject({ status: 400, body: { params: { issues: [{ path: "/ids" }] } } });
    });

    for (const reference of battery.references) {
      test(`names in ${reference.field} only what is there for the caller: unknown and foreign are the same`, async () => {
        const second = await other();
        const foreign = await reference.make(second.client, second.networkId);
        const own = await reference.make(owner, appliance.first.networkId);
        const created = await create(1);
        const before = transactionCount(appliance);
        const attempts = [
          (id: string) => owner.post(path, reference.naming(body(2), id)),
          // A record stays in its network: what it can't change, an update does not look up.
          ...(reference.field === "network_id" ? [] : [(id: string) => owner.put(`${path}/${created["id"]}`, reference.naming(body(1), id))]),
        ];
        for (const attempt of attempts) {
          const unknown = withoutId(await attempt(UNKNOWN_ID), UNKNOWN_ID);
          expect(unknown).toMatchObject({ status: 400, body: { code: "entity_reference_invalid", params: { entity: reference.entity, field: reference.field, ids: ["<id>"] } } });
          expect(withoutId(await attempt(foreign), foreign)).toEqual(unknown);
        }
        expect(transactionCount(appliance)).toBe(before);
        expect((await owner.post(path, reference.naming(body(2), own))).status).toBe(200);
      });
    }

    if (inNetwork) {
      test("does not exist for a Member who does not reach its network, at any instant", async () => {
        const hidden = await made(owner.post("/api/v1/networks", { name: "Hidden" }));
        const seen = await create(1);
        const unseen = await made(owner.post(path, body(2, hidden["id"])));
        appliance.clock.advance(1_000);
        const at = appliance.clock.text();
        appliance.clock.advance(1_000);
        const nowhere = (await newUser(appliance, { role: "Member" })).client;
        const member = (await newUser(appliance, { role: "Member", networkIds: [appliance.first.networkId] })).client;
        const both = (await newUser(appliance, { role: "Viewer", networkIds: [hidden["id"], appliance.first.networkId] })).client;
        for (const when of ["", `&at=${at}`]) {
          for (const [client, records] of [[member, [seen]], [both, [seen, unseen]], [nowhere, []], [owner, [seen, unseen]]] as const) {
            for (const limit of ["50", "0"]) {
              const list = await client.get(`${path}?limit=${limit}${when}`);
              expect(list.data).toEqual([...records]);
              expect(list.body.meta.pagination.total_count).toBe(records.length);
            }
            const reachesHidden = client === both || client === owner;
            for (const query of [`network_id=${hidden["id"]}`, `ids=${unseen["id"]}`, `network_id=${hidden["id"]}&ids=${unseen["id"]},${seen["id"]}`]) {
              const list = await client.get(`${path}?${query}${when}`);
              expect(list).toMatchObject({ status: 200, data: reachesHidden ? [unseen] : [], body: { meta: { pagination: { total_count: reachesHidden ? 1 : 0 } } } });
            }
            const one = await client.get(`${path}/${unseen["id"]}${when.replace("&", "?")}`);
            expect(one.status).toBe(reachesHidden ? 200 : 404);
          }
        }
        const before = transactionCount(appliance);
        for (const client of [member, nowhere]) {
          expect(await client.put(`${path}/${unseen["id"]}`, changed(body(2, hidden["id"])))).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
          expect(await client.delete(`${path}/${unseen["id"]}`)).toMatchObject({ status: 404, body: { code: "entity_not_found" } });
          const outOfReach = withoutId(await client.post(path, body(3, hidden["id"])), hidden["id"]);
          expect(outOfReach).toMatchObject({ status: 400, body: { code: "entity_reference_invalid", params: { field: "network_id" } } });
          expect(withoutId(await client.post(path, body(3, UNKNOWN_ID)), UNKNOWN_ID)).toEqual(outOfReach);
        }
        expect(transactionCount(appliance)).toBe(before);
        expect((await member.put(`${path}/${seen["id"]}`, changed(body(1)))).status).toBe(200);
      });
    }
  });
}

/** An answer with an id that must not matter taken out. */
function withoutId(answer: Answer, id: string): { status: number; body: unknown } {
  return { status: answer.status, body: JSON.parse(answer.text.replaceAll(id, "<id>")) };
}

function shift(instant: string, ms: number): string {
  return formatInstant((parseInstant(instant) as number) + ms);
}

function isOptional(appliance: TestAppliance, path: string, field: string): boolean {
  const schema = appliance.surface.routes.find((route) => route.method === "PUT" && route.path === `${path}/:id`)?.operation.body as TObject;
  return !(schema.required ?? []).includes(field);
}
