// OpenAPI document: complete coverage of all operations, and correct descriptions.

import { beforeAll, describe, expect, test } from "bun:test";
import { type TObject, TypeGuard } from "@sinclair/typebox";
import { openApiDocument } from "../../src/http/documentation.ts";
import { STATUS } from "../../src/http/errors.ts";
import { check } from "../../src/schemas/validation.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import { type DocumentedOperation, ERROR_SCHEMA, OpenApiDocument } from "../support/contract/openapi.ts";

type Any = any;

const appliance = applianceForAll();
const { anonymous, handle, owner } = appliance;
let api: OpenApiDocument;
let document: Any;

beforeAll(async () => {
  api = await OpenApiDocument.of(handle);
  document = api.document;
});

const templateOf = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");
const titleOf = (listed: DocumentedOperation) => `${listed.method} ${listed.path}`;

/** Media types of responses without the envelope. */
const MEDIA_TYPES = [
  "text/csv",
  "application/x-ndjson",
  "text/event-stream",
  "text/plain",
  "text/vnd.mermaid",
  "application/graphml+xml",
  "application/vnd.sqlite3",
  "application/vnd.cyclonedx+json",
];

describe("the OpenAPI document", () => {
  test("is OpenAPI 3.1 with product, version, license and server", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({
      title: "netledger",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      license: { identifier: "Apache-2.0" },
    });
    expect(document.servers).toEqual([{ url: "/", description: expect.any(String) }]);
  });

  test("covers exactly the registered operations", () => {
    const registered = appliance.surface.routes.map((route) => `${route.method} ${templateOf(route.path)}`);
    expect(api.operations.map(titleOf).sort()).toEqual(registered.sort());
    expect(registered.length).toBeGreaterThan(20);
  });

  test("documents the 412 response of every PUT and DELETE to If-None-Match: *, regardless of what it changes", async () => {
    const changing = api.operations.filter(({ method }) => method === "PUT" || method === "DELETE");
    expect(changing.length).toBeGreaterThan(20);
    for (const { method, path, operation } of changing) {
      const response = await owner.send(method, path, method === "PUT" ? {} : undefined, { "if-none-match": "*" });
      expect([path, response.status, response.body?.code], `${method} ${path}`).toEqual([
        path,
        412,
        "precondition_failed",
      ]);
      expect(Object.keys((operation as Any).responses), `${method} ${path}`).toContain("412");
    }
  });

  test("gives every operation a unique id, a summary, a group, its security, and JSON except for tables, lines, text, streams and files", () => {
    const ids = api.operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const listed of api.operations) {
      const operation = listed.operation as Any;
      expect(operation.operationId, titleOf(listed)).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect(operation.summary, titleOf(listed)).toMatch(/^[A-Z].*[^.]$/);
      expect(operation.tags, titleOf(listed)).toHaveLength(1);
      expect(operation.security, titleOf(listed)).toBeArray();
      const { 200: success, ...refusals } = operation.responses;
      const isTable = titleOf(listed).endsWith("/import/csv");
      const sent = Object.keys(operation.requestBody?.content ?? { "application/json": null });
      expect(sent, titleOf(listed)).toEqual([isTable ? "text/csv" : "application/json"]);
      for (const body of Object.values<Any>(refusals).filter(({ content }) => content !== undefined))
        expect(Object.keys(body.content), titleOf(listed)).toEqual(["application/json"]);
      for (const type of Object.keys(success.content))
        expect(["application/json", ...MEDIA_TYPES], titleOf(listed)).toContain(type);
    }
  });

  test("describes every group of operations", () => {
    const used = new Set(api.operations.flatMap(({ operation }) => operation.tags as string[]));
    expect(document.tags.map((tag: Any) => tag.name).sort()).toEqual([...used].sort());
    for (const tag of document.tags) expect(tag.description, tag.name).toBeString();
  });

  test("describes each parameter of an operation", () => {
    for (const route of appliance.surface.routes) {
      const operation = document.paths[templateOf(route.path)][route.method.toLowerCase()];
      const parameters = operation.parameters.map((parameter: Any) =>
        parameter.$ref === undefined ? parameter : document.components.parameters[parameter.$ref.split("/").at(-1)],
      );
      const documented = parameters
        .filter((parameter: Any) => parameter.in !== "header")
        .map((parameter: Any) => `${parameter.in} ${parameter.name}`);
      const names = (location: string, schema: TObject | undefined) =>
        Object.keys(schema?.properties ?? {}).map((name) => `${location} ${name}`);
      expect(documented, route.path).toEqual([
        ...names("path", route.operation.params),
        ...names("query", route.operation.query),
      ]);
      for (const parameter of parameters)
        expect(parameter.description, `${route.method} ${route.path} ${parameter.name}`).toBeString();
      const inPath = [...templateOf(route.path).matchAll(/\{(\w+)\}/g)].map((match) => `path ${match[1]}`);
      expect(
        documented.filter((parameter: string) => parameter.startsWith("path")),
        route.path,
      ).toEqual(inPath);
    }
  });

  test("describes every operation beyond its summary and roles, and gives a contact", () => {
    const accessSentence =
      /^(?:Requires [^.]+|No authentication|Open to every role|Sign-in only: API keys are refused)\.$/;
    for (const listed of api.operations) {
      const operation = listed.operation as Any;
      const sentences = (operation.description as string)
        .split("\n\n")
        .filter((paragraph) => !accessSentence.test(paragraph));
      expect(sentences.join(" "), titleOf(listed)).toMatch(/^[^a-z].{10,}[.:|)]$/s);
      expect(sentences, titleOf(listed)).not.toContain(`${operation.summary}.`);
      expect(operation.description, titleOf(listed)).toMatch(
        /Requires the role|No authentication\.|Open to every role\.|Sign-in only/,
      );
    }
    expect(document.info.contact).toEqual({ name: expect.any(String) });
  });

  // Warnings of Spectral's ruleset `oas`, beyond those of the linter in the generated client's test.
  test("passes linter rules: no trailing slash or query in a path, no script in a string, no duplicate enumeration value", () => {
    for (const path of Object.keys(document.paths)) expect(path).toMatch(/^(?:\/[^/?{}]+|\/\{\w+\})+$/);
    const names = document.tags.map(({ name }: Any) => name);
    expect(new Set(names).size).toBe(names.length);
    const visit = (value: Any, key: string): void => {
      if (typeof value === "string" && (key === "description" || key === "title"))
        expect(value).not.toMatch(/eval\(|<script/i);
      if (value === null || typeof value !== "object") return;
      if (Array.isArray(value.enum))
        expect(new Set(value.enum.map((choice: Any) => JSON.stringify(choice))).size).toBe(value.enum.length);
      for (const [name, member] of Object.entries(value)) visit(member, name);
    };
    visit(document, "");
  });

  test("requires a body if the operation takes one", () => {
    for (const route of appliance.surface.routes) {
      const operation = document.paths[templateOf(route.path)][route.method.toLowerCase()];
      expect(operation.requestBody?.required, `${route.method} ${route.path}`).toBe(
        route.operation.body === undefined && route.operation.table === undefined ? undefined : true,
      );
    }
  });

  test("lists every status with its error codes, with an example of each", () => {
    for (const listed of api.operations) {
      const { responses } = listed.operation as Any;
      const failures = Object.entries(responses as Any).filter(([status]) => Number(status) >= 400);
      expect(failures.length, titleOf(listed)).toBeGreaterThan(1);
      for (const [status, response] of failures as [string, Any][]) {
        const { schema, examples } = response.content["application/json"];
        expect(schema).toEqual({ $ref: "#/components/schemas/Error" });
        for (const code of Object.keys(examples)) {
          expect(STATUS[code as keyof typeof STATUS], titleOf(listed)).toBe(Number(status));
          expect(document.components.examples[code].value.code).toBe(code);
        }
      }
    }
  });

  test("marks public operations as such, and lists the credentials of others", () => {
    for (const route of appliance.surface.routes) {
      const { security, responses } = document.paths[templateOf(route.path)][route.method.toLowerCase()];
      if (route.operation.access === "anyone") expect(security, route.path).toEqual([]);
      else {
        expect(security, route.path).toContainEqual({ session: [] });
        expect(Object.keys(responses), route.path).toContain("401");
      }
    }
    expect(Object.keys(document.components.securitySchemes)).toEqual(["apiKey", "session"]);
  });

  test("refers to existing components, all of them used", () => {
    const references = new Set(
      [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)].map(
        (match) => `${match[1]}/${match[2]}`,
      ),
    );
    const { securitySchemes: _named, ...components } = document.components;
    const defined = Object.entries(components).flatMap(([kind, byName]) =>
      Object.keys(byName as object).map((name) => `${kind}/${name}`),
    );
    expect(defined.sort()).toEqual([...references].sort());
    expect(JSON.stringify(document)).not.toContain('"$id"');
  });

  test("states the global limits", () => {
    for (const limit of ["8 MiB", "255 characters", "4,000 characters", "1,000", "10,000", "300"])
      expect(document.info.description).toContain(limit);
  });

  test("lists read-only fields that a body may send back", () => {
    const schema = document.paths["/api/v1/subnets/{id}"].put.requestBody.content["application/json"].schema;
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties.created_at).toMatchObject({ readOnly: true });
    expect(schema.required).toEqual(["cidr"]);
  });

  test("distinguishes null from absent", () => {
    const subnet = document.components.schemas.Subnet;
    expect(subnet.properties.vlan_id).toMatchObject({ type: ["string", "null"], format: "uuid" });
    expect(subnet.required).toContain("vlan_id");
    const entry = document.components.schemas.IfEntry;
    expect(entry.properties.mac_address.type).toBe("string");
    expect(entry.required.sort()).toEqual(
      "admin_status created_at host_id id if_descr if_index if_type network_id oper_status updated_at".split(" "),
    );
  });
});

describe("the examples of the OpenAPI document", () => {
  test("are accepted unchanged in bodies", () => {
    for (const { method, path, operation } of appliance.surface.routes) {
      if (operation.body === undefined) continue;
      expect(operation.example.body, `${method} ${path} has no example of its body`).toBeDefined();
      expect(check(operation.body, operation.example.body), `${method} ${path}`).toMatchObject({ ok: true });
    }
  });

  test("match the schema in responses, in canonical form", () => {
    for (const { method, path, operation } of appliance.surface.routes) {
      const { data, further } = operation.example;
      if (operation.responseSchema === null) continue;
      for (const value of [data, ...(further?.others ?? []).map((other) => other.data)])
        expect(check(operation.responseSchema, value), `${method} ${path}`).toEqual({ ok: true, value: value });
      if (TypeGuard.IsArray(operation.responseSchema)) expect(data, `${method} ${path}`).not.toBeEmpty();
    }
  });

  test("have no undocumented field in responses", () => {
    for (const listed of api.operations) {
      const { example, examples = {} } = (listed.operation as Any).responses["200"].content["application/json"] ?? {};
      const exampleValues = Object.values<Any>(examples).map(({ value }) => value);
      for (const response of example === undefined ? exampleValues : [example, ...exampleValues])
        expect(
          api.mismatches(
            [
              "paths",
              listed.path,
              listed.method.toLowerCase(),
              "responses",
              "200",
              "content",
              "application/json",
              "schema",
            ],
            response,
            titleOf(listed),
          ),
        ).toEqual([]);
    }
    const topology = api.operations.find(({ path }) => path === "/api/v1/topology") as DocumentedOperation;
    const { content } = (topology.operation as Any).responses["200"];
    expect(Object.keys(content["application/json"].examples)).toEqual(["instant", "period"]);
  });

  test("match the error schema for errors", () => {
    for (const [code, { value }] of Object.entries(document.components.examples as Any) as [string, Any][]) {
      expect(api.mismatches(ERROR_SCHEMA, value, code)).toEqual([]);
    }
  });
});

describe("the paths of the documentation", () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    handle(new Request(`http://localhost${path}`, { headers }));

  test("need no credentials and have a request id", async () => {
    for (const path of ["/api/openapi.json", "/openapi.json", "/openapi.json/", "/docs", "/docs/", "/docs/scalar.js"]) {
      const response = await get(path, { "x-request-id": "mine" });
      expect([path, response.status, response.headers.get("x-request-id")]).toEqual([path, 200, "mine"]);
      await response.arrayBuffer();
    }
  });

  test("redirect from / to the page", async () => {
    const response = await get("/");
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("/docs");
  });

  test.each(["/", "/api/openapi.json", "/openapi.json", "/docs", "/docs/scalar.js"])(
    "refuse another method at %s with 405 and the envelope",
    async (path) => {
      const response = await anonymous.send("POST", path);
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("GET, HEAD");
      expect(response.body.code).toBe("method_not_allowed");
    },
  );

  test("serve the same document as JSON, compressed and revalidated by ETag", async () => {
    const plain = await get("/api/openapi.json");
    expect(plain.headers.get("content-type")).toBe("application/json");
    const text = await plain.text();
    const packed = await get("/api/openapi.json", { "accept-encoding": "br, gzip" });
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(new TextDecoder().decode(Bun.gunzipSync(await packed.arrayBuffer()))).toBe(text);
    const unpacked = await get("/api/openapi.json", { "accept-encoding": "gzip;q=0" });
    expect(unpacked.headers.get("content-encoding")).toBeNull();
    const revalidated = await get("/api/openapi.json", { "if-none-match": plain.headers.get("etag") ?? "" });
    expect([revalidated.status, await revalidated.text()]).toEqual([304, ""]);
    expect(await openApiDocument({ handle: handle })).toBe(text);
    const short = await get("/openapi.json");
    expect([short.headers.get("content-type"), short.headers.get("etag"), await short.text()]).toEqual([
      "application/json",
      plain.headers.get("etag"),
      text,
    ]);
  });

  test("load nothing from other hosts", async () => {
    const response = await get("/docs");
    const html = await response.text();
    expect(html).not.toMatch(/https?:\/\/|["'(]\/\//);
    expect([...html.matchAll(/(?:src|href|data-url)="([^"]*)"/g)].map((match) => match[1]).sort()).toEqual(
      "/api/openapi.json /api/openapi.json /docs/scalar.js data:,".split(" "),
    );
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|'unsafe-eval'/);
  });

  test("serve the script compressed on request", async () => {
    const plain = await get("/docs/scalar.js");
    expect(plain.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const bytes = new Uint8Array(await plain.arrayBuffer());
    const packed = await get("/docs/scalar.js", { "accept-encoding": "gzip" });
    const sent = new Uint8Array(await packed.arrayBuffer());
    expect(sent.length * 3).toBeLessThan(bytes.length);
    expect(Bun.gunzipSync(sent)).toEqual(bytes);
    const revalidated = await get("/docs/scalar.js", { "if-none-match": packed.headers.get("etag") ?? "" });
    expect(revalidated.status).toBe(304);
  });
});

describe("checking responses against the document", () => {
  const subnets = "/api/v1/subnets";
  const response = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
    status,
    headers: new Headers({ "x-request-id": "1", "content-type": "application/json", ...headers }),
    text: JSON.stringify(body),
    body,
    data: undefined,
  });
  const meta = { api_version: 1, server_version: "1" };
  const pagination = { total_count: 0, limit: 50, offset: 0, has_more: false };
  const failure = (code: string) => ({ success: false, code, error: "No.", params: {}, meta });

  test("accepts a documented response", () => {
    expect(
      api.problems(
        "GET",
        `${subnets}?limit=5`,
        response(200, { success: true, data: [], meta: { ...meta, pagination } }),
      ),
    ).toEqual([]);
    expect(api.problems("GET", subnets, response(400, failure("validation_failed")))).toEqual([]);
    expect(api.problems("GET", "/api/v1/nothing", response(404, failure("entity_not_found")))).toEqual([]);
  });

  test.each([
    ["an undocumented field", 200, { success: true, data: [], meta: { ...meta, pagination }, extra: 1 }],
    ["a missing field", 200, { success: true, data: [], meta }],
    ["an undocumented status", 402, failure("validation_failed")],
    ["an undocumented code", 400, failure("malformed_json")],
    ["an unknown record field", 200, { success: true, data: [{ nothing: 1 }], meta: { ...meta, pagination } }],
  ])("refuses %s", (_title, status, body) => {
    expect(api.problems("GET", subnets, response(status, body))).not.toEqual([]);
  });

  test("refuses a missing and an undocumented header", () => {
    const list = { success: true, data: [], meta: { ...meta, pagination } };
    expect(api.problems("GET", subnets, response(200, list, { etag: '"1"' }))).toEqual([
      expect.stringContaining("etag"),
    ]);
    expect(api.problems("GET", subnets, response(401, failure("auth_not_authenticated")))).toEqual([
      expect.stringContaining("WWW-Authenticate"),
    ]);
  });
});
