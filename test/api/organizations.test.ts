// The caller's organization: one record, readable by all its users and renamed by its Owners.

import { describe, expect, test } from "bun:test";
import type { TObject } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, refusal } from "../support/appliance/factories.ts";

const PATH = "/api/v1/organizations";

const appliance = applianceForEach();
const { anonymous, clock, first, owner, signedIn } = appliance;
const { newApiKey, newOrganization, newUser, tick, transactionCount, watchWrites, versionsOf } = appliance;

describe("the organization", () => {
  test("is one record with exactly the documented fields", async () => {
    const response = await owner.get(PATH);
    expect(response).toMatchObject({
      status: 200,
      data: { id: first.organizationId, name: "First", valid_to: null, lineage_id: null },
    });
    expect(response.body.meta).not.toHaveProperty("pagination");
    const schema = appliance.surface.routes.find((route) => route.method === "GET" && route.path === PATH)?.operation
      .responseSchema as TObject;
    expect([...Value.Errors(schema, response.data)]).toEqual([]);
    expect(Object.keys(response.data).sort()).toEqual(Object.keys(schema.properties).sort());
  });

  test("is the caller's own, for users and keys of every role", async () => {
    const second = await newOrganization("Second");
    expect((await (await signedIn(second.userId)).get(PATH)).data).toMatchObject({
      id: second.organizationId,
      name: "Second",
    });
    expect((await (await newUser({ role: "Viewer" })).client.get(PATH)).data).toMatchObject({
      id: first.organizationId,
    });
    expect((await newApiKey({ permissions: "Viewer", networkIds: [] }).client.get(PATH)).data).toMatchObject({
      id: first.organizationId,
    });
    expect(await anonymous.get(PATH)).toMatchObject(refusal(401, "auth_not_authenticated"));
    expect(await anonymous.put(PATH, "{")).toMatchObject({ status: 401 });
  });

  test("is renamed by an Owner, keeping its former name in the past", async () => {
    const before = (await owner.get(PATH)).data;
    const renamed = await expectOk(owner.put(PATH, { name: "Renamed" }));
    expect(renamed).toEqual({ ...before, name: "Renamed", updated_at: clock.text(), valid_from: clock.text() });
    tick();
    expect((await owner.get(`${PATH}?at=${before.valid_from}`)).data).toEqual({
      ...before,
      valid_to: renamed.valid_from,
    });
    expect((await owner.get(`${PATH}?at=${renamed.valid_from}`)).body).toMatchObject({
      data: renamed,
      meta: { at: renamed.valid_from },
    });
    expect(await owner.get(`${PATH}?at=2020-01-01T00:00:00Z`)).toMatchObject(
      refusal(404, "entity_not_found", { entity: "organization", id: before.id }),
    );
    expect(versionsOf(before.id)).toMatchObject([
      { operation: "Created" },
      { operation: "Updated", changed: ["name"] },
    ]);
  });

  test("is not renamed by an Admin, nor by an Owner's key with role Admin", async () => {
    const before = transactionCount();
    const adminKey = newApiKey({ permissions: "Admin" });
    const { client: admin } = await newUser({ role: "Admin" });
    for (const client of [admin, adminKey.client]) {
      expect(await client.put(PATH, { name: "Mine" })).toMatchObject(
        refusal(403, "auth_permission_denied", { required: "Owner", actual: "Admin" }),
      );
    }
    // One write for the key, one for the user.
    expect(transactionCount()).toBe(before + 2);
  });

  test("cannot be changed by an Owner's key limited to some networks, since it applies to all", async () => {
    const { client } = newApiKey({ permissions: "Owner", networkIds: [first.networkId] });
    const before = transactionCount();
    for (const body of [{ name: "Mine" }, { name: "Example", require_change_reason: true }])
      expect(await client.put(PATH, body)).toMatchObject(refusal(403, "entity_access_denied"));
    expect(transactionCount()).toBe(before);
  });

  test("creates no version on an equal write, and accepts its own response", async () => {
    const response = await owner.get(PATH);
    const expectNothingWritten = watchWrites();
    for (const sent of [{ name: "First" }, response.data]) {
      const written = await owner.put(PATH, sent);
      expect(written).toMatchObject({ status: 200, data: response.data });
      expect(written.headers.get("etag")).toBe(response.headers.get("etag"));
    }
    expectNothingWritten();
  });

  test("reports every issue at once, and refuses the id of another organization", async () => {
    const expectNothingWritten = watchWrites();
    const response = await owner.put(PATH, { id: "x", name: "", plan: "gold" });
    expect(response).toMatchObject(refusal(400, "validation_failed"));
    expect(response.body.params.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      "/id",
      "/name",
      "/plan",
    ]);
    expect(await owner.put(PATH, { id: first.networkId, name: "x" })).toMatchObject(
      refusal(400, "validation_id_mismatch"),
    );
    expect(await owner.get(`${PATH}?limit=5`)).toMatchObject(invalid({ path: "/limit" }));
    expectNothingWritten();
  });

  test("is protected by its ETag", async () => {
    const etag = (await owner.get(PATH)).headers.get("etag") as string;
    expect(await owner.get(PATH, { "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
    const renamed = await owner.put(PATH, { name: "Renamed" }, { "if-match": etag });
    expect(renamed.status).toBe(200);
    expect(await owner.put(PATH, { name: "Again" }, { "if-match": etag })).toMatchObject(
      refusal(412, "precondition_failed"),
    );
    expect(renamed.headers.get("etag")).not.toBe(etag);
  });

  test("cannot be created or deleted through the API", async () => {
    for (const method of ["POST", "DELETE"]) {
      const response = await owner.send(method, PATH, method === "POST" ? { name: "Third" } : undefined);
      expect(response).toMatchObject({ status: 405, body: { success: false, code: "method_not_allowed" } });
      expect(response.headers.get("allow")).toContain("PUT");
    }
  });
});
