// Contract of the envelope (handbook: api, "The envelope", "Values", "Errors") of every answer, and its headers.

import { beforeAll, describe, expect, test } from "bun:test";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { Answer } from "../support/appliance/client.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { bodyOf, newWorld, OPERATIONS, PLURALS, pathOf, type World } from "../support/contract/operations.ts";
import { envelopeProblems, refused, succeeded } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
const MIB = 1_048_576;

const appliance = applianceForAll();
const { anonymous, clock, live, newApiKey, newHost, newIfEntry, newTag, owner, tick, writingWatched } = appliance;
let world: World;

beforeAll(async () => {
  world = await newWorld(appliance);
});

function checked(answer: Answer): Answer {
  expect(envelopeProblems(answer)).toEqual([]);
  return answer;
}

describe("a success", () => {
  test("is 200 for every operation, in the envelope, without error, code or params", async () => {
    for (const operation of OPERATIONS.filter(
      ({ method, path }) => method !== "DELETE" && !path.startsWith("/api/auth/") && !path.endsWith("/self"),
    )) {
      const answer = await owner.send(operation.method, pathOf(operation, world), bodyOf(operation, world));
      expect([operation.method, operation.path, answer.status, envelopeProblems(answer)]).toEqual([
        operation.method,
        operation.path,
        200,
        [],
      ]);
      expect(Array.isArray(answer.data)).toBe(operation.answers === "a list");
      expect(Object.keys(answer.body.meta).sort()).toEqual(
        operation.answers === "a list"
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
      const { body } = checked(await owner.get(path));
      expect(body.meta.api_version).toBe(1);
      versions.add(body.meta.server_version);
    }
    expect(versions.size).toBe(1);
  });

  test("of a delete contains the record's final version", async () => {
    for (const plural of PLURALS.filter((name) => name !== "networks")) {
      const made = await succeeded(owner.post(plural, world.body(plural)));
      const record = made.api_key ?? made;
      tick();
      const closed = await succeeded(
        owner.delete(`${plural}/${record.id}${plural === "credentials" ? "?cascade=true" : ""}`),
      );
      expect([plural, closed.id, closed.valid_to]).toEqual([plural, record.id, clock.text()]);
      expect(Object.keys(closed).filter((field) => !Object.hasOwn(record, field))).toEqual(
        plural === "if-entries" ? ["valid_to"] : [],
      );
      await refused(owner.get(`${plural}/${record.id}`), 404, "entity_not_found");
      await refused(owner.delete(`${plural}/${record.id}`), 404, "entity_not_found");
    }
  });

  test("of health and version requires no credentials", async () => {
    for (const path of ["/api/health", "/api/version", "/api/auth/setup"]) {
      expect(checked(await anonymous.get(path)).status).toBe(200);
      expect((await anonymous.get(path, { authorization: "Bearer nonsense" })).status).toBeOneOf([200, 401]);
    }
  });
});

describe("a refusal", () => {
  test("for missing credentials is 401 on every protected operation, with WWW-Authenticate if a key would be accepted", async () => {
    for (const operation of OPERATIONS.filter(({ anyone }) => anyone !== true)) {
      for (const body of operation.method === "GET" || operation.method === "DELETE"
        ? [undefined]
        : [bodyOf(operation, world), "{", "[]"]) {
        const answer = checked(await anonymous.send(operation.method, pathOf(operation, world), body));
        expect([operation.method, operation.path, answer.status, answer.body.code]).toEqual([
          operation.method,
          operation.path,
          401,
          "auth_not_authenticated",
        ]);
        if (operation.sessionOnly !== true && operation.path.startsWith("/api/v1/"))
          expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer\b/);
      }
    }
  });

  test("of an unknown record is 404 with entity and id, on every single-record operation", async () => {
    for (const operation of OPERATIONS.filter(({ path }) => path.includes(":id"))) {
      const body =
        operation.method === "GET" || operation.method === "DELETE"
          ? undefined
          : operation.method === "PUT"
            ? { ...bodyOf(operation, world), id: UNKNOWN }
            : {};
      const answer = checked(await owner.send(operation.method, operation.path.replace(":id", UNKNOWN), body));
      expect([operation.method, operation.path, answer.status, answer.body.code]).toEqual([
        operation.method,
        operation.path,
        404,
        "entity_not_found",
      ]);
      expect(answer.body.params).toMatchObject({ id: UNKNOWN, entity: expect.any(String) });
    }
  });

  test("of an unknown path is 404 in the envelope, however deep or odd the path", async () => {
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
        const answer = await owner.send(method, path, method === "GET" || method === "DELETE" ? undefined : {});
        expect([method, path, [400, 404, 405].includes(answer.status), envelopeProblems(answer)]).toEqual([
          method,
          path,
          true,
          [],
        ]);
      }
      expect((await owner.get(path)).status).toBeOneOf([400, 404]);
    }
  });

  test("of a wrong method is 405 with Allow, and changes nothing", async () => {
    const expectNothingWritten = writingWatched();
    const paths = new Map<string, Set<string>>();
    for (const operation of OPERATIONS)
      paths.set(operation.path, (paths.get(operation.path) ?? new Set()).add(operation.method));
    for (const [path, methods] of paths) {
      const operation = OPERATIONS.find((each) => each.path === path);
      if (operation === undefined) continue;
      for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "TRACE", "CONNECT"]) {
        if (methods.has(method)) continue;
        const answer = await owner.send(
          method,
          pathOf(operation, world),
          ["PATCH", "POST", "PUT"].includes(method) ? {} : undefined,
        );
        expect([method, path, answer.status, envelopeProblems(answer)]).toEqual([method, path, 405, []]);
        expect(answer.body.code).toBe("method_not_allowed");
        const allowed = (answer.headers.get("allow") ?? "").split(/,\s*/);
        for (const one of methods) expect([path, allowed]).toEqual([path, expect.arrayContaining([one])]);
        expect(allowed).not.toContain(method);
      }
    }
    expectNothingWritten();
  });

  test("of a non-JSON body is 400 malformed_json, on every operation with a body", async () => {
    const expectNothingWritten = writingWatched();
    for (const operation of OPERATIONS.filter(
      ({ method, path }) => ["POST", "PUT"].includes(method) && !path.endsWith("/rotate"),
    )) {
      for (const body of ["{", '{"name":}', "nul", "{'a':1}", "[1,]", "{}{}", '{"a":1}x']) {
        const answer = checked(await owner.send(operation.method, pathOf(operation, world), body));
        expect([operation.path, body, answer.status, answer.body.code]).toEqual([
          operation.path,
          body,
          400,
          "malformed_json",
        ]);
      }
    }
    expectNothingWritten();
  });

  test("of another content type is 415, while JSON with a charset is accepted", async () => {
    const body = JSON.stringify(world.body("tags"));
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
      await refused(owner.post("tags", body, { "content-type": type }), 415, "unsupported_media_type");
    }
    const packed = await refused(
      owner.post("tags", body, { "content-type": "application/json", "content-encoding": "gzip" }),
      415,
      "unsupported_media_type",
    );
    expect(packed.body.error).toContain("Content-Encoding");
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      "Application/JSON",
    ]) {
      await succeeded(owner.post("tags", JSON.stringify(world.body("tags")), { "content-type": type }));
    }
  });

  test("of a body above 8 MiB is 413, while 8 MiB is accepted", async () => {
    const tag = JSON.stringify(world.body("tags"));
    const expectNothingWritten = writingWatched();
    await refused(owner.post("tags", tag + " ".repeat(8 * MIB + 1 - tag.length)), 413, "payload_too_large");
    await refused(
      owner.put(`hosts/${world.records.hosts?.id}`, tag + " ".repeat(8 * MIB + 1 - tag.length)),
      413,
      "payload_too_large",
    );
    expectNothingWritten();
    await succeeded(owner.post("tags", tag + " ".repeat(8 * MIB - tag.length)));
  });

  test("of an oversized body is 401 for an anonymous caller", async () => {
    await refused(anonymous.post("tags", " ".repeat(8 * MIB + 1)), 401, "auth_not_authenticated");
  });

  test("reports all issues at once, as pointers with message and value", async () => {
    const answer = await refused(
      owner.post("vlans", { network_id: "x", number: 4_095, name: 5, "a~/b": true }),
      400,
      "validation_failed",
    );
    const issues = Object.fromEntries(answer.body.params.issues.map((issue: { path: string }) => [issue.path, issue]));
    expect(Object.keys(issues).sort()).toEqual(["/a~0~1b", "/name", "/network_id", "/number"]);
    expect([issues["/network_id"].value, issues["/number"].value, issues["/name"].value]).toEqual(["x", 4_095, 5]);
    expect(issues["/number"].message).toMatch(/1.*4,?094/);
  });

  test("is a complete sentence", async () => {
    const answers = [
      await anonymous.get("tags"),
      await owner.get("nothing"),
      await owner.get(`tags/${UNKNOWN}`),
      await owner.send("PATCH", "tags"),
      await owner.get("tags?limit=x"),
      await owner.post("tags", {}),
      await owner.post("tags", "{"),
      await owner.post("tags", "{}", { "content-type": "text/plain" }),
      await owner.put(`tags/${world.records.tags?.id}`, world.records.tags, { "if-match": '"x"' }),
      await owner.post("subnets", { ...world.body("subnets"), vlan_id: UNKNOWN }),
      await owner.post("tags", { ...world.body("tags"), id: world.records.tags?.id }),
      await newApiKey().client.get("auth/keys"),
    ];
    for (const { body } of answers) expect(body.error).toMatch(/^[A-Z].*[.!?]$/su);
  });
});

describe("HEAD and OPTIONS", () => {
  test("of a GET path: HEAD has the GET's status and headers, OPTIONS is an unsupported method", async () => {
    for (const path of ["/api/v1/tags", `/api/v1/tags/${world.records.tags?.id}`, "/api/health"]) {
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
    const answer = await refused(owner.send("OPTIONS", "tags"), 405, "method_not_allowed");
    expect(answer.headers.get("allow")).toContain("GET");
  });
});

describe("X-Request-Id", () => {
  test("is in every answer, and unique", async () => {
    const seen = new Set<string>();
    const paths = [
      ..."/api/v1/tags /api/v1/tags?limit=0 /api/v1/tags?limit=x".split(" "),
      ..."/api/v1/nothing /api/health /api/openapi.json /docs /nothing".split(" "),
    ];
    for (const path of paths) {
      for (const by of [owner, anonymous]) seen.add((await by.get(path)).headers.get("x-request-id") ?? "none");
    }
    expect(seen.size).toBe(2 * paths.length);
    expect(seen.has("none")).toBe(false);
    const { headers } = await owner.get(`tags/${world.records.tags?.id}`);
    const unchanged = await owner.get(`tags/${world.records.tags?.id}`, { "if-none-match": headers.get("etag") ?? "" });
    expect([unchanged.status, unchanged.headers.get("x-request-id") !== null]).toEqual([304, true]);
  });

  test("is taken from the request when valid, into the answer and the ledger", async () => {
    for (const id of ["abc", "req-1.2_3", UNKNOWN, "a".repeat(64)]) {
      expect((await owner.get("tags", { "x-request-id": id })).headers.get("x-request-id")).toBe(id);
      expect((await anonymous.get("tags", { "x-request-id": id })).headers.get("x-request-id")).toBe(id);
    }
    await succeeded(owner.post("tags", world.body("tags"), { "x-request-id": "made-by-me" }));
    const { request_id } =
      appliance.reader.db
        .query<{ request_id: string }, []>("SELECT request_id FROM history_transactions ORDER BY sequence DESC LIMIT 1")
        .get() ?? {};
    expect(request_id).toBe("made-by-me");
  });

  test("is replaced when invalid", async () => {
    for (const id of ["", "a b", "é", "a".repeat(300), "<script>", 'a"b', "a;b=c", "a,b"]) {
      const got = (await owner.get("tags", { "x-request-id": id })).headers.get("x-request-id");
      expect(got).not.toBe(id);
      expect(got).toMatch(/^[\w.:-]{1,128}$/);
    }
  });
});

describe("conditional requests", () => {
  const single = PLURALS.map((plural) => `/api/v1/${plural}`);

  test("every GET of one record has a strong ETag, stable until the record changes", async () => {
    for (const [index, path] of single.entries()) {
      const url = `${path}/${world.records[PLURALS[index] as string]?.id}`;
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
      await succeeded(owner.put(url, { ...tag, name }));
      etags.add((await owner.get(url)).headers.get("etag"));
    }
    expect(etags.size).toBe(3);
  });

  test("If-None-Match with the version, *, a list or a weak tag is 304 with the ETag and no body", async () => {
    const url = `tags/${world.records.tags?.id}`;
    const etag = (await owner.get(url)).headers.get("etag") ?? "";
    for (const value of [etag, "*", `"other", ${etag}`, `W/${etag}`, `W/"a",W/${etag}`]) {
      const answer = await owner.get(url, { "if-none-match": value });
      expect([value, answer.status, answer.text, answer.headers.get("etag")]).toEqual([value, 304, "", etag]);
    }
    for (const value of ['"other"', etag.slice(1, -1), "", '"', `"${etag}"`]) {
      const { status } = await owner.get(url, { "if-none-match": value });
      expect([value, status === 200 || status === 400]).toEqual([value, true]);
    }
  });

  test("If-None-Match reveals nothing out of reach, nor to an anonymous caller", async () => {
    expect((await owner.get(`tags/${UNKNOWN}`, { "if-none-match": "*" })).status).toBe(404);
    expect((await anonymous.get(`tags/${world.records.tags?.id}`, { "if-none-match": "*" })).status).toBe(401);
  });

  test("If-Match admits PUT and DELETE for the current version only, for every kind", async () => {
    for (const plural of PLURALS) {
      const made = await succeeded(owner.post(plural, world.body(plural)));
      const record = made.api_key ?? made;
      const url = `/api/v1/${plural}/${record.id}`;
      const read = await owner.get(url);
      const etag = read.headers.get("etag") ?? "";
      const expectNothingWritten = writingWatched();
      for (const stale of ['"0"', `W/${etag}`, '"a", "b"']) {
        const send = { "if-match": stale };
        expect([plural, stale, (await owner.put(url, read.data, send)).body.code]).toEqual([
          plural,
          stale,
          "precondition_failed",
        ]);
        expect([plural, stale, (await owner.delete(url, send)).status]).toEqual([plural, stale, 412]);
      }
      expectNothingWritten();
      for (const fresh of [etag, "*", `"a", ${etag}`])
        expect((await owner.put(url, read.data, { "if-match": fresh })).status).toBe(200);
      await succeeded(owner.delete(plural === "credentials" ? `${url}?cascade=true` : url, { "if-match": etag }));
    }
  });

  test("If-Match fails once another caller has written, also to a child", async () => {
    const host = await newHost();
    const url = `hosts/${host.id}`;
    const etag = (await owner.get(url)).headers.get("etag") ?? "";
    await newIfEntry(host.id);
    await refused(owner.put(url, hostBody(host, { name: "lost" }), { "if-match": etag }), 412, "precondition_failed");
    expect((await live("hosts", host.id)).name).toBe(host.name);
  });

  test("If-Match on a missing record is 404", async () => {
    await refused(owner.delete(`tags/${UNKNOWN}`, { "if-match": "*" }), 404, "entity_not_found");
  });
});
