// The caller's organization: one record, read by all in it and renamed by its Owners.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { newAppliance, type TestAppliance } from "../support/appliance.ts";
import { made, newApiKey, newUser, transactionCount, versionsOf } from "../support/factories.ts";

const PATH = "/api/v1/organizations";

let appliance: TestAppliance;
beforeEach(async () => {
  appliance = await newAppliance();
});
afterEach(() => appliance.close());

describe("the organization", () => {
  test("is answered as one record with exactly the documented fields", async () => {
    const answer = await appliance.owner.get(PATH);
    expect(answer).toMatchObject({
      status: 200,
      data: { id: appliance.first.organizationId, name: "First", valid_to: null, lineage_id: null },
    });
    expect(answer.body.meta).not.toHaveProperty("pagination");
    const schema = appliance.surface.routes.find((route) => route.method === "GET" && route.path === PATH)?.operation
      .answer as TObject;
    expect([...Value.Errors(schema, answer.data)]).toEqual([]);
    expect(Object.keys(answer.data).sort()).toEqual(Object.keys(schema.properties).sort());
  });

  test("is the caller's own, for users and keys of every role", async () => {
    const second = await appliance.newOrganization("Second");
    expect((await (await appliance.signedIn(second.userId)).get(PATH)).data).toMatchObject({
      id: second.organizationId,
      name: "Second",
    });
    expect((await (await newUser(appliance, { role: "Viewer" })).client.get(PATH)).data).toMatchObject({
      id: appliance.first.organizationId,
    });
    expect((await newApiKey(appliance, { permissions: "Viewer", networkIds: [] }).client.get(PATH)).data).toMatchObject(
      { id: appliance.first.organizationId },
    );
    expect(await appliance.anonymous.get(PATH)).toMatchObject({
      status: 401,
      body: { code: "auth_not_authenticated" },
    });
    expect(await appliance.anonymous.put(PATH, "{")).toMatchObject({ status: 401 });
  });

  test("is renamed by an Owner, and was called otherwise before", async () => {
    const before = (await appliance.owner.get(PATH)).data;
    const renamed = await made(appliance.owner.put(PATH, { name: "Renamed" }));
    expect(renamed).toEqual({
      ...before,
      name: "Renamed",
      updated_at: appliance.clock.text(),
      valid_from: appliance.clock.text(),
    });
    appliance.clock.advance(1_000);
    expect((await appliance.owner.get(`${PATH}?at=${before.valid_from}`)).data).toEqual({
      ...before,
      valid_to: renamed["valid_from"],
    });
    expect((await appliance.owner.get(`${PATH}?at=${renamed["valid_from"]}`)).body).toMatchObject({
      data: renamed,
      meta: { at: renamed["valid_from"] },
    });
    expect(await appliance.owner.get(`${PATH}?at=2020-01-01T00:00:00Z`)).toMatchObject({
      status: 404,
      body: { code: "entity_not_found", params: { entity: "organization", id: before.id } },
    });
    expect(versionsOf(appliance, before.id)).toMatchObject([
      { operation: "Created" },
      { operation: "Updated", changed: ["name"] },
    ]);
  });

  test("is not renamed by an Admin, nor by an Owner's key that is an Admin's", async () => {
    const before = transactionCount(appliance);
    const keyed = newApiKey(appliance, { permissions: "Admin" });
    const { client: admin } = await newUser(appliance, { role: "Admin" });
    for (const client of [admin, keyed.client]) {
      expect(await client.put(PATH, { name: "Mine" })).toMatchObject({
        status: 403,
        body: { code: "auth_permission_denied", params: { required: "Owner", actual: "Admin" } },
      });
    }
    // The key and the user are the two.
    expect(transactionCount(appliance)).toBe(before + 2);
  });

  test("makes no version when it is written as it is, and takes its own answer back", async () => {
    const answer = await appliance.owner.get(PATH);
    const before = transactionCount(appliance);
    for (const sent of [{ name: "First" }, answer.data]) {
      const written = await appliance.owner.put(PATH, sent);
      expect(written).toMatchObject({ status: 200, data: answer.data });
      expect(written.headers.get("etag")).toBe(answer.headers.get("etag"));
    }
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is refused with every offender at once, and with another's id", async () => {
    const before = transactionCount(appliance);
    const answer = await appliance.owner.put(PATH, { id: "x", name: "", plan: "gold" });
    expect(answer).toMatchObject({ status: 400, body: { code: "validation_failed" } });
    expect(answer.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "/id",
      "/name",
      "/plan",
    ]);
    expect(await appliance.owner.put(PATH, { id: appliance.first.networkId, name: "x" })).toMatchObject({
      status: 400,
      body: { code: "validation_id_mismatch" },
    });
    expect(await appliance.owner.get(`${PATH}?limit=5`)).toMatchObject({
      status: 400,
      body: { params: { issues: [{ path: "/limit" }] } },
    });
    expect(transactionCount(appliance)).toBe(before);
  });

  test("is guarded by its entity tag", async () => {
    const etag = (await appliance.owner.get(PATH)).headers.get("etag") as string;
    expect(await appliance.owner.get(PATH, { "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
    const renamed = await appliance.owner.put(PATH, { name: "Renamed" }, { "if-match": etag });
    expect(renamed.status).toBe(200);
    expect(await appliance.owner.put(PATH, { name: "Again" }, { "if-match": etag })).toMatchObject({
      status: 412,
      body: { code: "precondition_failed" },
    });
    expect(renamed.headers.get("etag")).not.toBe(etag);
  });

  test("is neither made nor deleted here", async () => {
    for (const method of ["POST", "DELETE"]) {
      const answer = await appliance.owner.send(method, PATH, method === "POST" ? { name: "Third" } : undefined);
      expect(answer).toMatchObject({ status: 405, body: { success: false, code: "method_not_allowed" } });
      expect(answer.headers.get("allow")).toContain("PUT");
    }
  });
});
