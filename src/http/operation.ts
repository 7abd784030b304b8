// What an operation looks like in the OpenAPI document, derived from what it promises. One source for check and documentation.

import { TypeGuard, type TObject, type TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { API_VERSION, SERVER_VERSION } from "./envelope.ts";
import { STATUS } from "./errors.ts";
import type { Method, Operation } from "./surface.ts";

type Json = Record<string, unknown>;

/** Named schemas met so far, for `components.schemas`. */
export const namedSchemas = new Map<string, Json>();

/** The OpenAPI 3.1 operation object. */
export function describeOperation(method: Method, operation: Operation<unknown>): Json {
  const statuses = new Map<number, ErrorCode[]>();
  for (const code of errorCodes(method, operation)) {
    const status = STATUS[code];
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  const responses: Json = { "200": success(operation) };
  if (method === "GET" && operation.params !== undefined) responses["304"] = { description: "The record is still the version that If-None-Match names.", headers: RESPONSE_HEADERS };
  for (const [status, codes] of [...statuses].sort((a, b) => a[0] - b[0])) responses[String(status)] = failure(status, codes);
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [operation.group],
    security: security(operation.access),
    parameters: parameters(method, operation),
    ...(operation.body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: jsonSchema(operation.body), ...(operation.example.body === undefined ? {} : { example: operation.example.body }) } } } }),
    responses,
  };
}

/** A TypeBox schema as plain JSON Schema; what has a `$id` becomes a reference to a component. */
export function jsonSchema(schema: TSchema): Json {
  if (typeof schema.$id === "string") {
    if (!namedSchemas.has(schema.$id)) {
      namedSchemas.set(schema.$id, {});
      namedSchemas.set(schema.$id, plain(schema));
    }
    return { $ref: `#/components/schemas/${schema.$id}` };
  }
  return plain(schema);
}

function plain(schema: TSchema): Json {
  const result: Json = {};
  for (const [name, value] of Object.entries(schema)) {
    if (name === "$id" || name === "ignored") continue;
    if (name === "properties") result[name] = Object.fromEntries(Object.entries(value as Record<string, TSchema>).map(([key, each]) => [key, jsonSchema(each)]));
    else if (name === "items" || (name === "additionalProperties" && typeof value === "object")) result[name] = jsonSchema(value as TSchema);
    else if (name === "anyOf") result[name] = (value as TSchema[]).map(jsonSchema);
    else if (name === "format" && !PUBLIC_FORMATS.has(value as string)) continue;
    else result[name] = value;
  }
  return result;
}

/** Formats that OpenAPI tools know; ours are told in words. */
const PUBLIC_FORMATS = new Set(["uuid", "date-time", "email"]);

function errorCodes(method: Method, operation: Operation<unknown>): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(["validation_failed"]);
  if (operation.access !== "anyone") {
    for (const code of ["auth_not_authenticated", "auth_session_expired", "auth_key_disabled", "auth_key_expired", "auth_permission_denied"] as const) codes.add(code);
    if (method !== "GET") codes.add("auth_origin_rejected");
  }
  if (operation.params !== undefined) codes.add("entity_not_found");
  if (operation.body !== undefined) for (const code of ["malformed_json", "payload_too_large", "unsupported_media_type"] as const) codes.add(code);
  if (method !== "GET") for (const code of ["rate_limit_exceeded", "shutting_down", "storage_full"] as const) codes.add(code);
  if ((method === "PUT" || method === "DELETE") && operation.params !== undefined) codes.add("precondition_failed");
  codes.add("internal_error");
  for (const code of operation.errors ?? []) codes.add(code);
  return codes;
}

function success(operation: Operation<unknown>): Json {
  const data = jsonSchema(operation.answer);
  const meta = { $ref: `#/components/schemas/${operation.isList === true ? "ListMeta" : "Meta"}` };
  const exampleMeta: Json = { api_version: API_VERSION, server_version: SERVER_VERSION };
  if (operation.isList === true) exampleMeta["pagination"] = { total_count: 1, limit: 50, offset: 0, has_more: false };
  return {
    description: "Done.",
    headers: { ...RESPONSE_HEADERS, ...(operation.params !== undefined && operation.isList !== true ? { ETag: { description: "The version of the record.", schema: { type: "string" } } } : {}) },
    content: {
      "application/json": {
        schema: { type: "object", required: ["success", "data", "meta"], properties: { success: { type: "boolean", const: true }, data, meta } },
        example: { success: true, data: operation.example.data, meta: exampleMeta },
      },
    },
  };
}

function failure(status: number, codes: ErrorCode[]): Json {
  return {
    description: `${REASONS[status] ?? "Refused"}: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    headers: RESPONSE_HEADERS,
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        example: { success: false, code: codes[0], error: "One English sentence that a person can act on.", params: {}, meta: { api_version: API_VERSION, server_version: SERVER_VERSION } },
      },
    },
  };
}

const RESPONSE_HEADERS = { "X-Request-Id": { description: "Names this request in the appliance's log.", schema: { type: "string" } } };

const REASONS: Record<number, string> = {
  400: "The request is not valid",
  401: "No valid credentials",
  403: "Not allowed",
  404: "Not there, or out of reach",
  409: "In conflict with what is there",
  412: "No longer the version that If-Match names",
  413: "Too large",
  415: "Not JSON",
  429: "Too many; see Retry-After",
  500: "A fault of the appliance",
  503: "Shutting down",
  507: "The disk is full",
};

function security(access: unknown): Json[] {
  if (access === "anyone") return [];
  const sessionOnly = typeof access === "object" && access !== null && (access as { sessionOnly?: boolean }).sessionOnly === true;
  return sessionOnly ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
}

function parameters(method: Method, operation: Operation<unknown>): Json[] {
  const list: Json[] = [];
  for (const [place, schema] of [["path", operation.params], ["query", operation.query]] as const) {
    for (const [name, property] of Object.entries((schema as TObject | undefined)?.properties ?? {})) {
      const description = property.description;
      const isList = TypeGuard.IsArray(property);
      list.push({
        name,
        in: place,
        required: place === "path",
        ...(description === undefined ? {} : { description }),
        ...(isList ? { style: "form", explode: true } : {}),
        schema: jsonSchema(property),
      });
    }
  }
  if (operation.params !== undefined && operation.isList !== true) {
    if (method === "GET") list.push({ name: "If-None-Match", in: "header", required: false, description: "Answer 304 when the record is still this version.", schema: { type: "string" } });
    if (method === "PUT" || method === "DELETE") list.push({ name: "If-Match", in: "header", required: false, description: "Refuse with 412 unless the record is this version.", schema: { type: "string" } });
  }
  return list;
}

/** Components that every operation refers to. */
export function commonComponents(): Json {
  return {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "A user API key: `Authorization: Bearer nlk_…`." },
      session: { type: "apiKey", in: "cookie", name: "session_id", description: "The cookie of a sign-in at /api/auth/login." },
    },
    schemas: {
      Meta: {
        type: "object",
        required: ["api_version", "server_version"],
        properties: { api_version: { type: "integer", const: API_VERSION }, server_version: { type: "string" }, at: { type: "string", format: "date-time", description: "The instant asked for, where one was." } },
      },
      ListMeta: {
        type: "object",
        required: ["api_version", "server_version", "pagination"],
        properties: {
          api_version: { type: "integer", const: API_VERSION },
          server_version: { type: "string" },
          at: { type: "string", format: "date-time", description: "The instant asked for, where one was." },
          pagination: {
            type: "object",
            required: ["total_count", "limit", "offset", "has_more"],
            properties: { total_count: { type: "integer" }, limit: { type: "integer" }, offset: { type: "integer" }, has_more: { type: "boolean" } },
          },
        },
      },
      Error: {
        type: "object",
        required: ["success", "code", "error", "params", "meta"],
        properties: {
          success: { type: "boolean", const: false },
          code: { type: "string", enum: Object.keys(STATUS) },
          error: { type: "string" },
          params: {
            type: "object",
            additionalProperties: true,
            properties: {
              issues: {
                type: "array",
                items: { type: "object", required: ["path", "message"], properties: { path: { type: "string" }, message: { type: "string" }, value: {} } },
              },
            },
          },
          meta: { $ref: "#/components/schemas/Meta" },
        },
      },
      ...Object.fromEntries(namedSchemas),
    },
  };
}
