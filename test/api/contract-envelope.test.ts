// Contract of every response's envelope (handbook: api, "The envelope", "Values", "Errors") and headers.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import {
  bodyOf,
  newRecordFixture,
  OPERATIONS,
  PLURALS,
  pathOf,
  type RecordFixture,
} from "../support/contract/operations.ts";
import { envelopeProblems, expectRefusal, expectSuccess } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const MIB = 1_048_576;

const appliance = applianceForAll();
const { anonymous, newApiKey, newTag, owner, watchWrites } = appliance;
let fixture: RecordFixture;

beforeAll(async () => {
  fixture = await newRecordFixture(appliance);
});

function checkEnvelope(response: ApiResponse): ApiResponse {
  expect(envelopeProblems(response)).toEqual([]);
  return response;
}

describe("a success", () => {
  test("is 200 for every operation, in the envelope, without error, code or params", async () => {
    for (const operation of OPERATIONS.filter(
      ({ method, path }) => method !== "DELETE" && !path.startsWith("/api/auth/") && !path.endsWith("/self"),
    )) {
      const response = await owner.send(operation.method, pathOf(operation, fixture), bodyOf(operation, fixture));
      expect([operation.method, operation.path, response.status, envelopeProblems(response)]).toEqual([
        operation.method,
        operation.path,
        200,
        [],
      ]);
      expect(Array.isArray(response.data)).toBe(operation.returns === "a list");
      expect(Object.keys(response.body.meta).sort()).toEqual(
        operation.returns === "a list"
          ? ["api_version", "pagination", "server_version"]
          : ["api_version", "server_version"],
      );
    }
  });

  test("carries API version 1 and the server's version everywhere", async () => {
    const versions = new Set<string>();
    for (const path of [
      ..."/api/health /api/version /api/v1/tags /api/v1/tags?limit=0".split(" "),
      ..."/api/v1/nothing /api/v1/tags?limit=x /api/auth/me /api/auth/setup".split(" "),
    ]) {
      const { body } = checkEnvelope(await owner.get(path));
      expect(body.meta.api_version).toBe(1);
      versions.add(body.meta.server_version);
    }
    expect(versions.size).toBe(1);
  });

  test("requires no credentials for health and version", async () => {
    for (const path of ["/api/health", "/api/version", "/api/auth/setup"]) {
      expect(checkEnvelope(await anonymous.get(path)).status).toBe(200);
      expect((await anonymous.get(path, { authorization: "Bearer nonsense" })).status).toBeOneOf([200, 401]);
    }
  });
});

describe("a refusal", () => {
  test("is 404 with entity and id for an unknown record, on every single-record operation", async () => {
    for (const operation of OPERATIONS.filter(({ path }) => path.includes(":id"))) {
      const body =
        operation.method === "GET" || operation.method === "DELETE"
          ? undefined
          : operation.method === "PUT"
            ? { ...bodyOf(operation, fixture), id: UNKNOWN }
            : {};
      const response = checkEnvelope(await owner.send(operation.method, operation.path.replace(":id", UNKNOWN), body));
      expect([operation.method, operation.path, response.status, response.body.code]).toEqual([
        operation.method,
        operation.path,
        404,
        "entity_not_found",
      ]);
      expect(response.body.params).toMatchObject({ id: UNKNOWN, entity: expect.any(String) });
    }
  });

  test("is 404 in the envelope for an unknown path, however deep or odd the path", async () => {
    const paths = [
      "/api",
      "/api/",
      "/api/v1",
      "/api/v1/",
      "/api/v2/tags",
      "/api/v1/tagz",
      `/api/v1/tags/${UNKNOWN}/x`,
      "/api/v1//tags",
      "/api/v1/tags%2f",
      "/api/v1/TAGS",
      "/api/%00",
      "/api/v1/%ff%fe",
      "/api/v1/%",
      "/api/nothing?x=1",
      `/api/v1/${"x/".repeat(500)}`,
    ];
    for (const path of paths) {
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"]) {
        const response = await owner.send(method, path, method === "GET" || method === "DELETE" ? undefined : {});
        expect([method, path, [400, 404, 405].includes(response.status), envelopeProblems(response)]).toEqual([
          method,
          path,
          true,
          [],
        ]);
      }
      expect((await owner.get(path)).status).toBeOneOf([400, 404]);
    }
  });

  test("is 405 with Allow for a wrong method, and changes nothing", async () => {
    const expectNothingWritten = watchWrites();
    const paths = new Map<string, Set<string>>();
    for (const operation of OPERATIONS)
      paths.set(operation.path, (paths.get(operation.path) ?? new Set()).add(operation.method));
    for (const [path, methods] of paths) {
      const operation = OPERATIONS.find((operation) => operation.path === path);
      if (operation === undefined) continue;
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "TRACE", "CONNECT"]) {
        if (methods.has(method)) continue;
        const response = await owner.send(
          method,
          pathOf(operation, fixture),
          ["PATCH", "POST", "PUT"].includes(method) ? {} : undefined,
        );
        expect([method, path, response.status, envelopeProblems(response)]).toEqual([method, path, 405, []]);
        expect(response.body.code).toBe("method_not_allowed");
        const allowed = (response.headers.get("allow") ?? "").split(/,\s*/);
        for (const allowedMethod of methods)
          expect([path, allowed]).toEqual([path, expect.arrayContaining([allowedMethod])]);
        expect(allowed).not.toContain(method);
      }
    }
    expectNothingWritten();
  });

  test("is 415 for another content type, while JSON with a charset is accepted", async () => {
    const body = JSON.stringify(fixture.body("tags"));
    for (const type of [
      "text/plain",
      "text/plain;charset=utf-8",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/xml",
      "application/octet-stream",
      "application/jsonp",
      "text/json",
    ]) {
      await expectRefusal(owner.post("tags", body, { "content-type": type }), 415, "unsupported_media_type");
    }
    const compressed = await expectRefusal(
      owner.post("tags", body, { "content-type": "application/json", "content-encoding": "gzip" }),
      415,
      "unsupported_media_type",
    );
    expect(compressed.body.error).toContain("Content-Encoding");
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      "Application/JSON",
    ]) {
      await expectSuccess(owner.post("tags", JSON.stringify(fixture.body("tags")), { "content-type": type }));
    }
  });

  test("is 413 for a body above 8 MiB, while 8 MiB is accepted", async () => {
    const tag = JSON.stringify(fixture.body("tags"));
    const expectNothingWritten = watchWrites();
    await expectRefusal(owner.post("tags", tag + " ".repeat(8 * MIB + 1 - tag.length)), 413, "payload_too_large");
    await expectRefusal(
      owner.put(`hosts/${fixture.records.hosts?.id}`, tag + " ".repeat(8 * MIB + 1 - tag.length)),
      413,
      "payload_too_large",
    );
    expectNothingWritten();
    await expectSuccess(owner.post("tags", tag + " ".repeat(8 * MIB - tag.length)));
  });

  test("is 401 for an oversized body of an anonymous caller", async () => {
    await expectRefusal(anonymous.post("tags", " ".repeat(8 * MIB + 1)), 401, "auth_not_authenticated");
  });

  test("reports all issues at once, as pointers with message and value", async () => {
    const response = await expectRefusal(
      owner.post("vlans", { network_id: "x", number: 4_095, name: 5, "a~/b": true }),
      400,
      "validation_failed",
    );
    const issues = Object.fromEntries(
      response.body.params.issues.map((issue: { path: string }) => [issue.path, issue]),
    );
    expect(Object.keys(issues).sort()).toEqual(["/a~0~1b", "/name", "/network_id", "/number"]);
    expect([issues["/network_id"].value, issues["/number"].value, issues["/name"].value]).toEqual(["x", 4_095, 5]);
    expect(issues["/number"].message).toMatch(/1.*4,?094/);
  });

  test("is a complete sentence", async () => {
    const responses = [
      await anonymous.get("tags"),
      await owner.get("nothing"),
      await owner.get(`tags/${UNKNOWN}`),
      await owner.send("PATCH", "tags"),
      await owner.get("tags?limit=x"),
      await owner.post("tags", {}),
      await owner.post("tags", "{"),
      await owner.post("tags", "{}", { "content-type": "text/plain" }),
      await owner.put(`tags/${fixture.records.tags?.id}`, fixture.records.tags, { "if-match": '"x"' }),
      await owner.post("subnets", { ...fixture.body("subnets"), vlan_id: UNKNOWN }),
      await owner.post("tags", { ...fixture.body("tags"), id: fixture.records.tags?.id }),
      await newApiKey().client.get("auth/keys"),
    ];
    for (const { body } of responses) expect(body.error).toMatch(/^[A-Z].*[.!?]$/su);
  });
});

describe("HEAD and OPTIONS", () => {
  test("HEAD has the GET's status and headers, OPTIONS is an unsupported method", async () => {
    for (const path of ["/api/v1/tags", `/api/v1/tags/${fixture.records.tags?.id}`, "/api/health"]) {
      const [head, get] = [await owner.send("HEAD", path), await owner.get(path)];
      expect([head.status, head.headers.get("content-type"), head.headers.get("etag")]).toEqual([
        get.status,
        get.headers.get("content-type"),
        get.headers.get("etag"),
      ]);
      expect(head.headers.get("x-request-id")).not.toBeNull();
    }
    expect((await owner.send("HEAD", "nothing")).status).toBe(404);
    expect((await anonymous.send("HEAD", "tags")).status).toBe(401);
    expect((await owner.send("HEAD", `tags/${UNKNOWN}`)).status).toBe(404);
    const response = await expectRefusal(owner.send("OPTIONS", "tags"), 405, "method_not_allowed");
    expect(response.headers.get("allow")).toContain("GET");
  });
});

describe("X-Request-Id", () => {
  test("is in every response, and unique", async () => {
    const requestIds = new Set<string>();
    const paths = [
      ..."/api/v1/tags /api/v1/tags?limit=0 /api/v1/tags?limit=x".split(" "),
      ..."/api/v1/nothing /api/health /api/openapi.json /docs /nothing".split(" "),
    ];
    for (const path of paths) {
      for (const caller of [owner, anonymous])
        requestIds.add((await caller.get(path)).headers.get("x-request-id") ?? "none");
    }
    expect(requestIds.size).toBe(2 * paths.length);
    expect(requestIds.has("none")).toBe(false);
    const { headers } = await owner.get(`tags/${fixture.records.tags?.id}`);
    const unchanged = await owner.get(`tags/${fixture.records.tags?.id}`, {
      "if-none-match": headers.get("etag") ?? "",
    });
    expect([unchanged.status, unchanged.headers.get("x-request-id") !== null]).toEqual([304, true]);
  });

  test("is taken from the request when valid, into the response and the ledger", async () => {
    for (const id of ["abc", "req-1.2_3", UNKNOWN, "a".repeat(64)]) {
      expect((await owner.get("tags", { "x-request-id": id })).headers.get("x-request-id")).toBe(id);
      expect((await anonymous.get("tags", { "x-request-id": id })).headers.get("x-request-id")).toBe(id);
    }
    await expectSuccess(owner.post("tags", fixture.body("tags"), { "x-request-id": "made-by-me" }));
    const { request_id } =
      appliance.reader.db
        .query<{ request_id: string }, []>("SELECT request_id FROM history_transactions ORDER BY sequence DESC LIMIT 1")
        .get() ?? {};
    expect(request_id).toBe("made-by-me");
  });

  test("is replaced when invalid", async () => {
    for (const id of ["", "a b", "é", "a".repeat(300), "<script>", 'a"b', "a;b=c", "a,b"]) {
      const generated = (await owner.get("tags", { "x-request-id": id })).headers.get("x-request-id");
      expect(generated).not.toBe(id);
      expect(generated).toMatch(/^[\w.:-]{1,128}$/);
    }
  });
});

describe("conditional requests", () => {
  const recordPaths = PLURALS.map((plural) => `/api/v1/${plural}`);

  test("every GET of one record has a strong ETag, stable until the record changes", async () => {
    for (const [index, path] of recordPaths.entries()) {
      const url = `${path}/${fixture.records[PLURALS[index] as string]?.id}`;
      const [first, second] = [await owner.get(url), await owner.get(url)];
      expect([path, first.headers.get("etag")]).toEqual([path, expect.stringMatching(/^"[\x21\x23-\x7e]+"$/)]);
      expect(second.headers.get("etag")).toBe(first.headers.get("etag"));
    }
    expect((await owner.get("organizations")).headers.get("etag")).toMatch(/^"[^"]+"$/);
  });

  test("no two versions of a record share an ETag, and returning to earlier content is a new version", async () => {
    const tag = await newTag({ name: "this" });
    const url = `tags/${tag.id}`;
    const etags = new Set([(await owner.get(url)).headers.get("etag")]);
    for (const name of ["that", "this"]) {
      await expectSuccess(owner.put(url, { ...tag, name }));
      etags.add((await owner.get(url)).headers.get("etag"));
    }
    expect(etags.size).toBe(3);
  });

  test("If-None-Match with the version, *, a list or a weak tag is 304 with the ETag and no body", async () => {
    const url = `tags/${fixture.records.tags?.id}`;
    const etag = (await owner.get(url)).headers.get("etag") ?? "";
    for (const value of [etag, "*", `"other", ${etag}`, `W/${etag}`, `W/"a",W/${etag}`]) {
      const response = await owner.get(url, { "if-none-match": value });
      expect([value, response.status, response.text, response.headers.get("etag")]).toEqual([value, 304, "", etag]);
    }
    for (const value of ['"other"', etag.slice(1, -1), "", '"', `"${etag}"`]) {
      const { status } = await owner.get(url, { "if-none-match": value });
      expect([value, status === 200 || status === 400]).toEqual([value, true]);
    }
  });

  test("If-None-Match reveals nothing out of reach, nor to an anonymous caller", async () => {
    expect((await owner.get(`tags/${UNKNOWN}`, { "if-none-match": "*" })).status).toBe(404);
    expect((await anonymous.get(`tags/${fixture.records.tags?.id}`, { "if-none-match": "*" })).status).toBe(401);
  });

  test("If-Match on a missing record is 404", async () => {
    await expectRefusal(owner.delete(`tags/${UNKNOWN}`, { "if-match": "*" }), 404, "entity_not_found");
  });
});
