// OpenAPI description of an operation, derived from its declaration, so that validation and documentation agree.
// Independent of any resource; documentation.ts builds the document around the operations.

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { ownValue } from "../base/fields.ts";
import { API_VERSION, SERVER_VERSION } from "../schemas/envelope.ts";
import { type Json, jsonSchema, type NamedSchemas } from "../schemas/json-schema.ts";
import { CHANGE_REASON_MAX_LENGTH, LIMIT_DEFAULT } from "../schemas/schemas.ts";
import { mayTransact } from "./change-reason.ts";
import { ERROR_EXAMPLES } from "./error-examples.ts";
import { STATUS } from "./errors.ts";
import type { Method, Operation } from "./surface.ts";

/** @returns the OpenAPI 3.1 operation object; named schemas are added to `named` and referenced */
export function describeOperation(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json {
  const description = [operation.description ?? formSentence(method, operation), accessSentence(operation.access)]
    .filter((each) => each !== undefined)
    .join("\n\n");
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    description,
    tags: [operation.group],
    security: security(operation.access),
    parameters: parameters(method, operation, named),
    ...(operation.table === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { "text/csv": { schema: { type: "string" }, example: operation.table.example } },
          },
        }),
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: jsonSchema(operation.body, named),
                ...(operation.example.body === undefined ? {} : { example: operation.example.body }),
              },
            },
          },
        }),
    responses: responses(method, operation, named),
  };
}

/** Shared components other than named schemas. */
export function sharedComponents(): Json {
  const count = (description: string) => ({ type: "integer", minimum: 0, description });
  return {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer nlk_…`." },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "session_id",
        description: "The session cookie, set by `/api/auth/login`.",
      },
    },
    headers: {
      RequestId: {
        description: "Identifies this request in the log: the caller's own `X-Request-Id` if it is well-formed.",
        required: true,
        schema: { type: "string" },
      },
      ETag: {
        description: "The record's version, a strong tag for If-Match and If-None-Match.",
        required: true,
        schema: { type: "string" },
        example: '"4711"',
      },
      SetCookie: { description: "Starts or ends the session: the cookie `session_id`.", schema: { type: "string" } },
      IdempotencyReplayed: {
        description: "`true` if the request was done before and this is its first response.",
        schema: { type: "string", const: "true" },
      },
      TransactionSequence: {
        description:
          "The sequence of the transaction that the request, or its first attempt, created: see `/transactions/{sequence}`. Absent if nothing changed.",
        schema: { type: "integer", minimum: 1 },
      },
      RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
      WwwAuthenticate: {
        description: "The authentication scheme of API keys.",
        required: true,
        schema: { type: "string", const: "Bearer" },
      },
    },
    parameters: {
      IdempotencyKey: {
        name: "Idempotency-Key",
        in: "header",
        required: false,
        description:
          "Makes the request safe to repeat: for 24 hours the same caller, key and request get the first response, and nothing is done again. Refused requests are not remembered.",
        schema: { type: "string", minLength: 1, maxLength: 255 },
      },
      ChangeReason: {
        name: "X-Change-Reason",
        in: "header",
        required: false,
        description:
          "The reason: stored permanently in the transaction, and shown wherever the transaction is. One line of UTF-8, or percent-encoded as `UTF-8''Gr%C3%BC%C3%9Fe` (RFC 8187), which browsers can send. If the organization requires one (`require_change_reason`), a change without one is 400 `validation_failed`, and nothing is written.",
        schema: { type: "string", maxLength: CHANGE_REASON_MAX_LENGTH },
      },
      IfNoneMatch: {
        name: "If-None-Match",
        in: "header",
        required: false,
        description: "An ETag: the response is 304 if the record is still that version.",
        schema: { type: "string" },
      },
      IfMatch: {
        name: "If-Match",
        in: "header",
        required: false,
        description: "An ETag: the response is 412, and nothing changes, unless the record is that version.",
        schema: { type: "string" },
      },
    },
    examples: Object.fromEntries(
      Object.entries(ERROR_EXAMPLES).map(([code, { summary, error, params }]) => [
        code,
        { summary, value: { success: false, code, error, params, meta: META_EXAMPLE } },
      ]),
    ),
    schemas: {
      Meta: { type: "object", required: ["api_version", "server_version"], properties: META_PROPERTIES },
      ListMeta: {
        type: "object",
        required: ["api_version", "server_version", "pagination"],
        properties: {
          ...META_PROPERTIES,
          pagination: {
            type: "object",
            required: ["total_count", "limit", "offset", "has_more"],
            properties: {
              total_count: count("Rows that match the filters, on all pages."),
              limit: count("As requested; 0 means no limit."),
              offset: count("As requested."),
              has_more: { type: "boolean", description: "Whether more rows follow this page." },
            },
          },
        },
      },
      Error: {
        type: "object",
        required: ["success", "code", "error", "params", "meta"],
        properties: {
          success: { type: "boolean", const: false },
          code: { type: "string", enum: Object.keys(STATUS), description: "Stable and machine-readable." },
          error: { type: "string", description: "One actionable English sentence." },
          params: {
            type: "object",
            additionalProperties: true,
            description: "The values in the sentence.",
            properties: {
              issues: {
                type: "array",
                description: "With `validation_failed`, and with any code of a bulk write: every issue.",
                items: {
                  type: "object",
                  required: ["path", "message"],
                  properties: {
                    path: {
                      type: "string",
                      description: "A JSON pointer (RFC 6901) into the body, or `/` and a parameter's name.",
                    },
                    message: { type: "string" },
                    code: {
                      type: "string",
                      description: "In a bulk write: the code that this issue would have had alone.",
                    },
                    value: { description: "The value sent; omitted if it may be secret." },
                    id: { type: "string", format: "uuid", description: "In a bulk update: the record." },
                    row: { type: "integer", minimum: 1, description: "In a table: the row; the header is row 1." },
                    column: { type: "string", description: "In a table: the column." },
                    position: {
                      type: "integer",
                      minimum: 0,
                      description: "In a filter: the offset of the first invalid character, from 0.",
                    },
                  },
                },
              },
            },
          },
          meta: { $ref: "#/components/schemas/Meta" },
        },
      },
    },
  };
}

/** `meta` with additional members. */
function metaWith(more: TObject, named: NamedSchemas): Json {
  const own = jsonSchema(more, named) as { required?: string[]; properties: Json };
  return {
    type: "object",
    required: ["api_version", "server_version", ...(own.required ?? [])],
    properties: { ...META_PROPERTIES, ...own.properties },
  };
}

const META_PROPERTIES: Json = {
  api_version: { type: "integer", const: API_VERSION },
  server_version: { type: "string" },
  at: { type: "string", format: "date-time", description: "The requested timestamp, if any." },
  resolution: {
    type: "string",
    enum: ["daily", "monthly", "none"],
    description:
      "Present if the requested timestamp is in thinned history: what is kept there, the last state of each day, of each month, or none.",
  },
  resolved_at: {
    type: ["string", "null"],
    format: "date-time",
    description:
      "With `resolution`: the timestamp of the state returned, the last one kept before the requested one; null if none is kept.",
  },
  thinned_until: {
    type: "string",
    format: "date-time",
    description: "Present if changes were requested from thinned history: some up to this timestamp were dropped.",
  },
};

const META_EXAMPLE = { api_version: API_VERSION, server_version: SERVER_VERSION };
const REQUEST_ID_HEADER = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };
const COOKIE_HEADER = {
  "Set-Cookie": {
    description: "The cookie `session_id`: HttpOnly, SameSite=Lax, and Secure under TLS.",
    required: true,
    schema: { type: "string" },
  },
};
const REPLAYED_HEADER = { "Idempotency-Replayed": { $ref: "#/components/headers/IdempotencyReplayed" } };
const SEQUENCE_HEADER = { "X-Transaction-Sequence": { $ref: "#/components/headers/TransactionSequence" } };
const ETAG_HEADER = { ETag: { $ref: "#/components/headers/ETag" } };

/** Access rules as documented; every caller has the role `Viewer`. */
interface DocumentedAccess {
  readonly role?: string;
  readonly sessionOnly?: boolean;
}

function documented(access: unknown): DocumentedAccess | null {
  return access === "anyone" ? null : (access as DocumentedAccess);
}

function accessSentence(access: unknown): string {
  const rule = documented(access);
  if (rule === null) return "No authentication.";
  const minimum =
    rule.role === undefined || rule.role === LOWEST_ROLE ? null : `Requires the role ${rule.role} or above`;
  if (rule.sessionOnly === true)
    return minimum === null ? "Sign-in only: API keys are refused." : `${minimum}; sign-in only: API keys are refused.`;
  return `${minimum ?? "Open to every role"}.`;
}

/** Generic description of an operation of a standard form; other operations must have their own (checked by a test). */
function formSentence(method: Method, operation: Operation<unknown>): string | undefined {
  const { operationId, responseSchema } = operation;
  const past =
    operation.query !== undefined && Object.hasOwn(operation.query.properties, "at")
      ? ", or with `at` as of that timestamp"
      : "";
  const cascade =
    operation.query !== undefined && Object.hasOwn(operation.query.properties, "cascade")
      ? " Refused if other records depend on it, unless `cascade` removes them too."
      : "";
  if (operation.media?.some(({ type }) => type === "text/csv") === true && responseSchema === null)
    return "All rows of the list, with the same filters and order.";
  if (operation.isList === true) return `The records in the caller's reach, as they are now${past}, in pages.`;
  const isRecord = returnsRecord(operation) || operation.isRecord === false;
  if (method === "GET" && isRecord)
    return `The record as it is now${past}.${operation.params === undefined ? "" : " 404 if it is out of the caller's reach."}`;
  if (method === "POST" && operationId.startsWith("create"))
    return "Returns the new record. The body may contain an `id` that was never used.";
  if (method === "PUT" && isRecord)
    return "Replaces the required fields; omitted optional fields keep their values. Returns the record as written.";
  if (method === "DELETE") return `Returns the deleted record. An earlier \`at\` still finds it.${cascade}`;
  if (method === "POST" && operationId.startsWith("delete"))
    return `Atomic, in one transaction. Returns the deleted records.${cascade}`;
  return undefined;
}

const LOWEST_ROLE = "Viewer";

function security(access: unknown): Json[] {
  const rule = documented(access);
  if (rule === null) return [];
  return rule.sessionOnly === true ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
}

/** Whether a retried request gets the first response again. */
function isRepeatable(method: Method, operation: Operation<unknown>): boolean {
  if (method === "GET" || operation.access === "anyone") return false;
  return operation.setsCookie !== true && operation.ignoresIdempotencyKey !== true;
}

/** Whether the response is one versioned record, whose version is the ETag. */
function returnsRecord(operation: Operation<unknown>): boolean {
  return (
    operation.isRecord ??
    (operation.responseSchema !== null &&
      KindGuard.IsObject(operation.responseSchema) &&
      Object.hasOwn(operation.responseSchema.properties, "valid_from"))
  );
}

function responses(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json {
  const codesByStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes(method, operation))
    codesByStatus.set(STATUS[code], [...(codesByStatus.get(STATUS[code]) ?? []), code]);
  const result: Json = { "200": success(method, operation, named) };
  if (method === "GET" && returnsRecord(operation)) {
    result["304"] = {
      description: "The record is still the version in If-None-Match.",
      headers: { ...REQUEST_ID_HEADER, ...ETAG_HEADER },
    };
  }
  for (const [status, codes] of [...codesByStatus].sort((a, b) => a[0] - b[0]))
    result[String(status)] = failure(status, codes);
  return result;
}

function success(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json {
  return {
    description: successSentence(method, operation),
    headers: {
      ...REQUEST_ID_HEADER,
      ...(method !== "DELETE" && returnsRecord(operation) ? ETAG_HEADER : {}),
      ...(operation.setsCookie === true ? COOKIE_HEADER : {}),
      ...(isRepeatable(method, operation) ? REPLAYED_HEADER : {}),
      ...(mayTransact(method, operation) ? SEQUENCE_HEADER : {}),
    },
    content: {
      ...(operation.responseSchema === null
        ? {}
        : { "application/json": envelope(operation, operation.responseSchema, named) }),
      ...Object.fromEntries(
        (operation.media ?? []).map(({ type, description, example }) => [
          type,
          { schema: { type: "string", description }, example },
        ]),
      ),
    },
  };
}

function envelope(operation: Operation<unknown>, responseSchema: TSchema, named: NamedSchemas): Json {
  const isList = operation.isList === true;
  const data = jsonSchema(responseSchema, named);
  const meta =
    operation.meta === undefined
      ? { $ref: `#/components/schemas/${isList ? "ListMeta" : "Meta"}` }
      : metaWith(operation.meta, named);
  const count = Array.isArray(operation.example.data) ? operation.example.data.length : 0;
  const exampleMeta =
    operation.meta !== undefined
      ? { ...META_EXAMPLE, ...(operation.example.meta as Json) }
      : isList
        ? { ...META_EXAMPLE, pagination: { total_count: count, limit: LIMIT_DEFAULT, offset: 0, has_more: false } }
        : META_EXAMPLE;
  return {
    schema: {
      type: "object",
      required: ["success", "data", "meta"],
      properties: { success: { type: "boolean", const: true }, data, meta },
    },
    ...examples(operation.example, exampleMeta),
  };
}

function examples({ data, further }: Operation<unknown>["example"], meta: Json): Json {
  const value = (payload: unknown) => ({ success: true, data: payload, meta });
  if (further === undefined) return { example: value(data) };
  const named = [{ ...further.first, data }, ...further.others];
  return {
    examples: Object.fromEntries(named.map(({ name, summary, data }) => [name, { summary, value: value(data) }])),
  };
}

function successSentence(method: Method, operation: Operation<unknown>): string {
  if (operation.responseSchema === null) return operation.media?.[0]?.description ?? "Done.";
  if (operation.isList === true) return "The requested page.";
  if (!returnsRecord(operation)) return "Done.";
  if (method === "GET") return "The record.";
  return method === "DELETE" ? "The deleted record." : "The record as written.";
}

function failure(status: number, codes: ErrorCode[]): Json {
  return {
    description: `${REASONS[status] ?? "Refused"}: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    headers: {
      ...REQUEST_ID_HEADER,
      ...(status === 401 ? { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } } : {}),
      ...(status === 429 || status === 503 ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } } : {}),
    },
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Error" },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

const REASONS: Record<number, string> = {
  400: "The request is not valid",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not found, or out of reach",
  409: "Conflicts with existing records",
  412: "Not the version in If-Match, or If-None-Match is *",
  413: "Too large",
  415: "Not JSON",
  421: "Another host's name",
  422: "The Idempotency-Key was used for another request",
  429: "Too many requests; see Retry-After",
  500: "An internal error",
  503: "Shutting down",
  507: "The disk is full",
};

function errorCodes(method: Method, operation: Operation<unknown>): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(["validation_failed", "host_not_allowed"]);
  const rule = documented(operation.access);
  if (rule !== null) {
    for (const code of [
      "auth_not_authenticated",
      "auth_session_expired",
      "auth_key_disabled",
      "auth_key_expired",
    ] as const)
      codes.add(code);
    if (rule.role !== LOWEST_ROLE) codes.add("auth_permission_denied");
    if (rule.sessionOnly === true) codes.add("auth_session_required");
    if (method !== "GET") codes.add("auth_origin_rejected");
    if (method !== "GET" && operation.changesSessionsOnly !== true) codes.add("store_read_only");
  }
  // No single caller may keep the appliance busy.
  if (operation.isAlwaysAdmitted !== true) codes.add("rate_limit_exceeded");
  if (operation.params !== undefined) codes.add("entity_not_found");
  if (operation.body !== undefined || method === "POST")
    for (const code of ["malformed_json", "payload_too_large"] as const) codes.add(code);
  if (operation.body !== undefined || operation.table !== undefined) codes.add("unsupported_media_type");
  if (method !== "GET")
    for (const code of ["rate_limit_exceeded", "shutting_down", "storage_full"] as const) codes.add(code);
  if (method === "PUT" || method === "DELETE") codes.add("precondition_failed");
  // A retry gets the stored response only with the permissions of the original request.
  if (isRepeatable(method, operation))
    for (const code of ["idempotency_key_reused", "auth_permission_denied", "entity_not_found"] as const)
      codes.add(code);
  codes.add("internal_error");
  for (const code of operation.errors ?? []) codes.add(code);
  return codes;
}

function takesIfMatch(method: Method, operation: Operation<unknown>): boolean {
  return (method === "PUT" || method === "DELETE") && returnsRecord(operation);
}

function parameters(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json[] {
  const list: Json[] = [];
  for (const [location, schema] of [
    ["path", operation.params],
    ["query", operation.query],
  ] as const) {
    const object = schema as TObject | undefined;
    for (const [name, property] of Object.entries(object?.properties ?? {})) {
      const description = property.description ?? ownValue(PARAMETER_SENTENCES, name);
      const { description: _description, ...rest } = jsonSchema(property as TSchema, named);
      const example =
        ownValue(operation.example.parameters, name) ??
        (location === "path" ? ownValue(operation.example.data as Record<string, unknown> | null, name) : undefined);
      list.push({
        name,
        in: location,
        required: location === "path" || object?.required?.includes(name) === true,
        ...(description === undefined ? {} : { description }),
        ...(KindGuard.IsArray(property) ? { style: "form", explode: true } : {}),
        schema: rest,
        ...(typeof example === "string" || typeof example === "number" ? { example } : {}),
      });
    }
  }
  if (method === "GET" && returnsRecord(operation)) list.push({ $ref: "#/components/parameters/IfNoneMatch" });
  if (takesIfMatch(method, operation)) list.push({ $ref: "#/components/parameters/IfMatch" });
  if (isRepeatable(method, operation)) list.push({ $ref: "#/components/parameters/IdempotencyKey" });
  if (mayTransact(method, operation)) list.push({ $ref: "#/components/parameters/ChangeReason" });
  return list;
}

/** Descriptions of parameters with one meaning everywhere, if their schema has none. */
const PARAMETER_SENTENCES: Readonly<Record<string, string>> = {
  id: "The record's id.",
  host_id: "Only those of this host.",
  network_id: "Only those of this network.",
  offset: "Rows to skip.",
  sequence: "The transaction's sequence.",
};
