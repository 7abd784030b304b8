// Response checker for the OpenAPI document of the same app: status, headers, error code and every field. Stricter than
// a client: undocumented fields fail too.

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { ApiResponse, OnResponse } from "../appliance/client.ts";

type Json = Record<string, unknown>;

export interface DocumentedOperation {
  readonly method: string;
  /** As in the document: `/api/v1/hosts/{id}`. */
  readonly path: string;
  readonly operation: Json;
}

interface Documentation {
  /** Path as in the document; undefined if no path matches. */
  readonly template: string | undefined;
  readonly operation: DocumentedOperation | undefined;
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/**
 * Formats of timestamps, UUIDs and other values in responses (handbook: api, "Values"), narrower than their standards.
 */
const RESPONSE_FORMATS: Record<string, RegExp | true> = {
  "date-time": /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  email: /^[^\s@]+@[^\s@]+$/,
  int32: true,
  int64: true,
  password: true,
};

/** Routing errors, outside any operation. 400 is for a secret in the URL. */
const ROUTING_CODES: Record<number, string> = {
  400: "validation_failed",
  404: "entity_not_found",
  405: "method_not_allowed",
  421: "host_not_allowed",
};

export class OpenApiDocument {
  readonly document: Json;
  readonly operations: readonly DocumentedOperation[];
  private readonly ajv: Ajv2020;
  /** The document with its schemas closed. */
  private readonly closed: Json;
  private readonly compiled = new Map<string, ValidateFunction>();
  private readonly patterns: { readonly pattern: RegExp; readonly path: string }[];
  /** By method and path of the requests so far. */
  private readonly documented = new Map<string, Documentation>();

  constructor(document: Json) {
    this.document = document;
    const paths = document.paths as Record<string, Record<string, Json>>;
    this.operations = Object.entries(paths).flatMap(([path, byMethod]) =>
      Object.entries(byMethod).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    // Literal segments win over parameters, as in the router.
    this.patterns = Object.keys(paths)
      .sort((a, b) => a.split("{").length - b.split("{").length)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}/?$`) }));
    // Strict: the document must not contain keywords or formats unknown to JSON Schema.
    this.ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      allowUnionTypes: true,
      allErrors: true,
      validateSchema: false,
      // A process compiles up to 2,700 schemas and runs most of them a few times.
      inlineRefs: false,
      code: { optimize: false },
      formats: RESPONSE_FORMATS,
    });
    this.closed = JSON.parse(
      JSON.stringify(document).replaceAll('"$ref":"#/components/schemas/', '"$ref":"document#/$defs/'),
    ) as Json;
    closeAll(this.closed);
    this.ajv.addSchema({ $id: "document", $defs: (this.closed.components as Json).schemas });
  }

  static async of(handle: (request: Request) => Promise<Response>): Promise<OpenApiDocument> {
    return new OpenApiDocument((await (await handle(new Request("http://localhost/api/openapi.json"))).json()) as Json);
  }

  /** Deviations of a response from the document, one sentence each; empty if there are none. */
  problems(method: string, url: string, actual: ApiResponse): string[] {
    const path = url.replace(/[?#].*$/s, "");
    if (!path.startsWith("/api/") || path === "/api/openapi.json" || method === "HEAD") return [];
    const title = `${method} ${path} returned ${actual.status}`;
    if (actual.headers.get("x-request-id") === null) return [`${title} without X-Request-Id`];
    const { template, operation } = this.documentationOf(method, path);
    if (template === undefined || operation === undefined) {
      const isRoutingError = ROUTING_CODES[actual.status] === actual.body?.code;
      return [
        ...(isRoutingError ? [] : [`${title}, and is not documented`]),
        ...this.mismatches(ERROR_SCHEMA, actual.body, title),
      ];
    }
    const response = (operation.operation.responses as Record<string, Json>)[String(actual.status)];
    if (response === undefined) return [`${title} ${actual.body?.code ?? ""}, which is not documented`];
    const found = undocumentedHeaders(response, actual).map((name) => `${title} with ${name}, which is not documented`);
    for (const name of missingHeaders(this.document, response, actual)) found.push(`${title} without ${name}`);
    const types = (response.content ?? {}) as Record<string, Json>;
    const type = (actual.headers.get("content-type") ?? "").replace(/;.*$/s, "");
    if (type !== "application/json" && type in types) return found;
    const content = types["application/json"];
    if (content === undefined)
      return actual.text === "" ? found : [...found, `${title} with a body, which is not documented`];
    if (actual.headers.get("content-type") !== "application/json")
      return [...found, `${title} as ${actual.headers.get("content-type")}`];
    if (actual.status >= 400 && !Object.hasOwn(content.examples as Json, actual.body?.code))
      found.push(`${title} ${actual.body?.code}, a code that is not documented`);
    return [
      ...found,
      ...this.mismatches(
        [
          "paths",
          template,
          method.toLowerCase(),
          "responses",
          String(actual.status),
          "content",
          "application/json",
          "schema",
        ],
        actual.body,
        title,
      ),
    ];
  }

  private documentationOf(method: string, path: string): Documentation {
    // Any id is matched like any other.
    const shape = `${method} ${path.replaceAll(ID, "id")}`;
    let found = this.documented.get(shape);
    if (found === undefined) {
      // Like the router: a literal segment without the method falls back to the parameter in its place.
      const templates = this.patterns.filter(({ pattern }) => pattern.test(path)).map((template) => template.path);
      const operation = templates
        .map((template) => this.operations.find((other) => other.path === template && other.method === method))
        .find((found) => found !== undefined);
      found = { template: operation?.path ?? templates[0], operation };
      this.documented.set(shape, found);
    }
    return found;
  }

  /** Deviations of a value from the schema at a pointer of the document. */
  mismatches(pointer: readonly string[], value: unknown, title: string): string[] {
    const name = pointer.join(" ");
    let validate = this.compiled.get(name);
    if (validate === undefined) {
      const schema = pointer.reduce((node, key) => node[key] as Json, this.closed);
      // Most responses share a schema by reference alone: the error's.
      const shared = Object.keys(schema).length === 1 ? this.ajv.getSchema(String(schema.$ref)) : undefined;
      validate = shared ?? this.ajv.compile(schema);
      this.compiled.set(name, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? [])
      .slice(0, 10)
      .map((error) => `${title}: ${error.instancePath || "the body"} ${error.message} ${JSON.stringify(error.params)}`);
  }
}

/** Pointer to the schema of all errors. */
export const ERROR_SCHEMA = ["components", "schemas", "Error"];

let shared: Promise<OpenApiDocument> | undefined;

/** Throws on undocumented responses. The document depends only on the code, so the first app's is used for all. */
export function documentCheck(handle: (request: Request) => Promise<Response>): OnResponse {
  return async (method, path, actual) => {
    shared ??= OpenApiDocument.of(handle);
    const problems = (await shared).problems(method, path, actual);
    if (problems.length > 0) throw new Error(`a response is not as documented:\n${problems.join("\n")}`);
  };
}

/** Headers with a meaning for clients, which must be documented if sent. */
const CLIENT_HEADERS = ["etag", "idempotency-replayed", "retry-after", "set-cookie", "www-authenticate"];

function undocumentedHeaders(response: Json, actual: ApiResponse): string[] {
  const documented = new Set(Object.keys((response.headers ?? {}) as Json).map((name) => name.toLowerCase()));
  return CLIENT_HEADERS.filter((name) => actual.headers.has(name) && !documented.has(name));
}

function missingHeaders(document: Json, response: Json, actual: ApiResponse): string[] {
  const shared = (document.components as Record<string, Json>).headers as Record<string, Json>;
  return Object.entries((response.headers ?? {}) as Record<string, Json>)
    .filter(([name, header]) => {
      const reference = header.$ref;
      const documented = typeof reference === "string" ? shared[reference.split("/").at(-1) ?? ""] : header;
      return documented?.required === true && !actual.headers.has(name);
    })
    .map(([name]) => name);
}

/** Forbids unlisted fields in every schema that lists fields and does not allow others. */
function closeAll(node: unknown): void {
  if (node === null || typeof node !== "object") return;
  const schema = node as Json;
  const isExample = (key: string) => key === "example" || key === "examples";
  for (const [key, child] of Object.entries(schema)) if (!isExample(key)) closeAll(child);
  const properties = schema.properties;
  if (schema.type !== undefined && typeof properties === "object" && schema.additionalProperties === undefined)
    schema.additionalProperties = false;
}
