// What an operation looks like in the OpenAPI document, derived from what it promises: one source for check and documentation.
// Must not know any resource; the document around the operations is made in documentation.ts.

import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/errors.ts";
import { API_VERSION, SERVER_VERSION } from "./envelope.ts";
import { STATUS } from "./errors.ts";
import { ERROR_EXAMPLES } from "./error-examples.ts";
import { jsonSchema, type Json, type NamedSchemas } from "./json-schema.ts";
import { LIMIT_DEFAULT } from "./schemas.ts";
import type { Method, Operation } from "./surface.ts";

/** @returns the OpenAPI 3.1 operation object; schemas with a name are put into `named` and referred to */
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

/** What operations refer to, besides named schemas. */
export function sharedComponents(): Json {
  const count = (description: string) => ({ type: "integer", minimum: 0, description });
  return {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "A user API key: `Authorization: Bearer nlk_…`." },
      session: {
        type: "apiKey",
        in: "cookie",
        name: "session_id",
        description: "The cookie of a sign-in at `/api/auth/login`.",
      },
    },
    headers: {
      RequestId: {
        description: "Names this request in the appliance's log; the caller's own `X-Request-Id` where it is sane.",
        required: true,
        schema: { type: "string" },
      },
      ETag: {
        description: "The version of the record (strong), for If-Match and If-None-Match.",
        required: true,
        schema: { type: "string" },
        example: '"4711"',
      },
      SetCookie: { description: "Opens or ends the session: the cookie `session_id`.", schema: { type: "string" } },
      IdempotencyReplayed: {
        description: "`true` on the answer of a request that was done before.",
        schema: { type: "string", const: "true" },
      },
      RetryAfter: { description: "Seconds to wait.", schema: { type: "integer", minimum: 0 } },
      WwwAuthenticate: {
        description: "The scheme that API keys take.",
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
          "Makes it safe to repeat the request: for 24 hours the same caller, key and request get the answer of the first time and nothing is done again. Requests that were refused are not kept.",
        schema: { type: "string", minLength: 1, maxLength: 255 },
      },
      IfNoneMatch: {
        name: "If-None-Match",
        in: "header",
        required: false,
        description: "An ETag: the answer is 304 when the record is still that version.",
        schema: { type: "string" },
      },
      IfMatch: {
        name: "If-Match",
        in: "header",
        required: false,
        description: "An ETag: the answer is 412, and nothing changes, unless the record is that version.",
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
              total_count: count("What matches the filters, whatever the page."),
              limit: count("As asked for; 0 is no limit."),
              offset: count("As asked for."),
              has_more: { type: "boolean", description: "Whether rows follow this page." },
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
          error: { type: "string", description: "One English sentence that a person can act on." },
          params: {
            type: "object",
            additionalProperties: true,
            description: "The values in the sentence.",
            properties: {
              issues: {
                type: "array",
                description: "With `validation_failed`, and with any code of a bulk write: every offender.",
                items: {
                  type: "object",
                  required: ["path", "message"],
                  properties: {
                    path: {
                      type: "string",
                      description: "A JSON pointer (RFC 6901) into the body, or `/` and the name of a parameter.",
                    },
                    message: { type: "string" },
                    code: {
                      type: "string",
                      description: "In a bulk write: what this offender alone would have been refused with.",
                    },
                    value: { description: "What was sent; left out for secrets." },
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

/** `meta` with members of its own. */
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
  at: { type: "string", format: "date-time", description: "The instant asked for, where one was." },
  resolution: {
    type: "string",
    enum: ["daily", "monthly", "none"],
    description:
      "Only where the instant asked for lies in thinned history: what is kept there, the last state of each day, of each month, or none.",
  },
  resolved_at: {
    type: ["string", "null"],
    format: "date-time",
    description:
      "With `resolution`: the instant as of which the answer really is, the last one kept before that; null where nothing is known of so long ago.",
  },
  thinned_until: {
    type: "string",
    format: "date-time",
    description:
      "Only where changes were asked for and history was thinned: up to this instant not every one is there any more.",
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
const ETAG_HEADER = { ETag: { $ref: "#/components/headers/ETag" } };

/** How the roles that operations ask for are told; the role `Viewer` is every caller's. */
interface DocumentedAccess {
  readonly role?: string;
  readonly sessionOnly?: boolean;
}

function documented(access: unknown): DocumentedAccess | null {
  return access === "anyone" ? null : (access as DocumentedAccess);
}

function accessSentence(access: unknown): string {
  const asked = documented(access);
  if (asked === null) return "Takes no credentials.";
  const least =
    asked.role === undefined || asked.role === LEAST_ROLE ? null : `Takes the role ${asked.role} or a higher one`;
  if (asked.sessionOnly === true)
    return least === null
      ? "By sign-in only: API keys are refused."
      : `${least}, by sign-in only: API keys are refused.`;
  return `${least ?? "Every role may"}.`;
}

/** What an operation does that has nothing to say but what all of its form do; one of no such form says so itself (a test looks). */
function formSentence(method: Method, operation: Operation<unknown>): string | undefined {
  const { operationId, answer } = operation;
  const past =
    operation.query !== undefined && Object.hasOwn(operation.query.properties, "at")
      ? ", or with `at` as it was then"
      : "";
  const cascade =
    operation.query !== undefined && Object.hasOwn(operation.query.properties, "cascade")
      ? " One that others depend on is refused, unless `cascade` takes these along."
      : "";
  if (operation.media?.some(({ type }) => type === "text/csv") === true && answer === null)
    return "All rows of the list, by the same filters and orders, as a table.";
  if (operation.isList === true) return `What the caller reaches, as it is${past}, page by page.`;
  const isRecord = answersRecord(operation) || operation.isRecord === false;
  if (method === "GET" && isRecord)
    return `The record as it is${past}.${operation.params === undefined ? "" : " What the caller does not reach is not there: 404."}`;
  if (method === "POST" && operationId.startsWith("create"))
    return "Answers the record as it was made. It may bring an `id` of its own, which was never used before.";
  if (method === "PUT" && isRecord)
    return "What the body requires is replaced, what else it leaves out stays. Answers the record as it was written.";
  if (method === "DELETE")
    return `Answers the record as it was closed; asked with an earlier \`at\` it is still there.${cascade}`;
  if (method === "POST" && operationId.startsWith("delete"))
    return `In one transaction, in which all of them go or none. Answers the records as they were closed.${cascade}`;
  return undefined;
}

const LEAST_ROLE = "Viewer";

function security(access: unknown): Json[] {
  const asked = documented(access);
  if (asked === null) return [];
  return asked.sessionOnly === true ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
}

/** Whether a repeated request is answered as the first one was. */
function isRepeatable(method: Method, operation: Operation<unknown>): boolean {
  return method === "POST" && operation.access !== "anyone" && operation.setsCookie !== true;
}

/** Whether the answer is one versioned record: then its version is its ETag. */
function answersRecord(operation: Operation<unknown>): boolean {
  return (
    operation.isRecord ??
    (operation.answer !== null &&
      KindGuard.IsObject(operation.answer) &&
      Object.hasOwn(operation.answer.properties, "valid_from"))
  );
}

function responses(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json {
  const codesByStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodes(method, operation))
    codesByStatus.set(STATUS[code], [...(codesByStatus.get(STATUS[code]) ?? []), code]);
  const result: Json = { "200": success(method, operation, named) };
  if (method === "GET" && answersRecord(operation)) {
    result["304"] = {
      description: "The record is still the version that If-None-Match names.",
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
      ...(method !== "DELETE" && answersRecord(operation) ? ETAG_HEADER : {}),
      ...(operation.setsCookie === true ? COOKIE_HEADER : {}),
      ...(isRepeatable(method, operation) ? REPLAYED_HEADER : {}),
    },
    content: {
      ...(operation.answer === null ? {} : { "application/json": envelope(operation, operation.answer, named) }),
      ...Object.fromEntries(
        (operation.media ?? []).map(({ type, description, example }) => [
          type,
          { schema: { type: "string", description }, example },
        ]),
      ),
    },
  };
}

function envelope(operation: Operation<unknown>, answer: TSchema, named: NamedSchemas): Json {
  const isList = operation.isList === true;
  const data = jsonSchema(answer, named);
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
    example: { success: true, data: operation.example.data, meta: exampleMeta },
  };
}

function successSentence(method: Method, operation: Operation<unknown>): string {
  if (operation.answer === null) return operation.media?.[0]?.description ?? "Done.";
  if (operation.isList === true) return "The page that was asked for.";
  if (!answersRecord(operation)) return "Done.";
  if (method === "GET") return "The record.";
  return method === "DELETE" ? "The record as it was closed." : "The record as it was written.";
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
  401: "No valid credentials",
  403: "Not allowed",
  404: "Not there, or out of reach",
  409: "In conflict with what is there",
  412: "No longer the version that If-Match names",
  413: "Too large",
  415: "Not JSON",
  422: "The Idempotency-Key was used for another request",
  429: "Too many at once; see Retry-After",
  500: "A fault of the appliance",
  503: "Shutting down",
  507: "The disk is full",
};

function errorCodes(method: Method, operation: Operation<unknown>): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(["validation_failed"]);
  const asked = documented(operation.access);
  if (asked !== null) {
    for (const code of [
      "auth_not_authenticated",
      "auth_session_expired",
      "auth_key_disabled",
      "auth_key_expired",
    ] as const)
      codes.add(code);
    if (asked.role !== LEAST_ROLE) codes.add("auth_permission_denied");
    if (asked.sessionOnly === true) codes.add("auth_session_required");
    if (method !== "GET") codes.add("auth_origin_rejected");
    if (method !== "GET" && operation.setsCookie !== true) codes.add("store_read_only");
  }
  // Nobody may keep an appliance busy for all.
  if (operation.isAlwaysAdmitted !== true) codes.add("rate_limit_exceeded");
  if (operation.params !== undefined) codes.add("entity_not_found");
  if (operation.body !== undefined || method === "POST")
    for (const code of ["malformed_json", "payload_too_large"] as const) codes.add(code);
  if (operation.body !== undefined) codes.add("unsupported_media_type");
  if (method !== "GET")
    for (const code of ["rate_limit_exceeded", "shutting_down", "storage_full"] as const) codes.add(code);
  if (takesIfMatch(method, operation)) codes.add("precondition_failed");
  // A repetition is told to who has the rights with which it was done.
  if (isRepeatable(method, operation))
    for (const code of ["idempotency_key_reused", "auth_permission_denied", "entity_not_found"] as const)
      codes.add(code);
  codes.add("internal_error");
  for (const code of operation.errors ?? []) codes.add(code);
  return codes;
}

function takesIfMatch(method: Method, operation: Operation<unknown>): boolean {
  return (method === "PUT" || method === "DELETE") && answersRecord(operation);
}

function parameters(method: Method, operation: Operation<unknown>, named: NamedSchemas): Json[] {
  const list: Json[] = [];
  for (const [place, schema] of [
    ["path", operation.params],
    ["query", operation.query],
  ] as const) {
    const object = schema as TObject | undefined;
    for (const [name, property] of Object.entries(object?.properties ?? {})) {
      const description = property.description ?? PARAMETER_SENTENCES[name];
      const { description: _told, ...rest } = jsonSchema(property as TSchema, named);
      const example =
        operation.example.parameters?.[name] ??
        (place === "path" ? (operation.example.data as Record<string, unknown> | null)?.[name] : undefined);
      list.push({
        name,
        in: place,
        required: place === "path" || object?.required?.includes(name) === true,
        ...(description === undefined ? {} : { description }),
        ...(KindGuard.IsArray(property) ? { style: "form", explode: true } : {}),
        schema: rest,
        ...(typeof example === "string" || typeof example === "number" ? { example } : {}),
      });
    }
  }
  if (method === "GET" && answersRecord(operation)) list.push({ $ref: "#/components/parameters/IfNoneMatch" });
  if (takesIfMatch(method, operation)) list.push({ $ref: "#/components/parameters/IfMatch" });
  if (isRepeatable(method, operation)) list.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return list;
}

/** For parameters that mean the same wherever they stand and that their schema says nothing of. */
const PARAMETER_SENTENCES: Readonly<Record<string, string>> = {
  id: "The record's id.",
  host_id: "Only those of this host.",
  network_id: "Only those of this network.",
  offset: "Rows to pass over.",
  sequence: "The transaction's sequence.",
};
