// Requests generated from the OpenAPI document: valid, nearly valid, and invalid. Text between @@ is a placeholder that
// is resolved when sent, so that a seed gives the same requests although ids differ. Sends nothing.

import fc, { type Arbitrary } from "fast-check";
import type { DocumentedOperation } from "../../../test/support/contract/openapi.ts";
import { texts } from "../string-list.ts";
import { type JsonValue, MUTATIONS, type Mutation } from "./json-text.ts";

type Json = Record<string, unknown>;

/** The Owner of the first organization, users of the second, or no user ("nobody"). The guesser may be locked out. */
export type Caller = "owner" | "viewer" | "member" | "guesser" | "nobody";

/** Body before its mutations. */
type BodyBase =
  | { readonly source: "schema" | "anything"; readonly value: JsonValue }
  /** The record at the path as GET returns it, or the document's example if there is none. */
  | { readonly source: "record" | "example" }
  | { readonly source: "text"; readonly text: string };

export interface Draft {
  readonly caller: Caller;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: {
    readonly base: BodyBase;
    readonly mutations: readonly Mutation[];
    readonly encoding: Encoding;
    readonly type: string;
  } | null;
}

const ENCODINGS = ["utf-8", "utf-16le", "latin1", "bom", "truncated", "broken"] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Part of every sent secret: no response and no log line may contain it. */
export const SECRET_MARK = "sEcReT-mArK";

/** Generates drafts for one operation: most with an error, some as a client would send them. */
export function draftsOf(document: Json, documented: DocumentedOperation): Arbitrary<Draft> {
  const { method, path, operation } = documented;
  const parameters = ((operation.parameters ?? []) as Json[]).map((parameter) => resolveRef(document, parameter));
  const resource = path.replace(/^\/api\/(v1\/)?/, "").replace(/\/\{.*$/, "");
  const contents = (operation.requestBody as Json | undefined)?.content as Readonly<Record<string, Json>> | undefined;
  const content = contents?.["application/json"];
  const schema =
    content === undefined
      ? null
      : withKnown(document, content.schema as Json, operation.operationId as string, resource);
  const table = contents?.["text/csv"];
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const target = (value: (parameter: Json, resource: string) => Arbitrary<string>, query: Arbitrary<string>) =>
    fc
      .tuple(
        fc.tuple(...inPath.map((param) => fc.tuple(fc.constant(param.name as string), value(param, resource)))),
        query,
      )
      .map(
        ([values, query]) =>
          values.reduce((filled, [name, value]) => filled.replace(`{${name}}`, () => value), path) + query,
      );
  // Wrong passwords throttle the account.
  const isPassword = operation.operationId === "changePassword";
  // A sign-in is for a user of the guesser's organization.
  const isSignIn = operation.operationId === "signIn";
  const malformed = fc.record({
    caller: isPassword
      ? fc.constantFrom<Caller>("guesser", "guesser", "guesser", "nobody")
      : isSignIn
        ? fc.constantFrom<Caller>("nobody", "nobody", "member")
        : fc.oneof(
            weighted(8, fc.constant<Caller>("owner")),
            weighted(1, fc.constant<Caller>("viewer")),
            weighted(2, fc.constant<Caller>("member")),
            weighted(1, fc.constant<Caller>("nobody")),
          ),
    method: fc.oneof(
      weighted(30, fc.constant(method)),
      weighted(1, fc.constantFrom("HEAD", "OPTIONS", "PATCH", "PUT", "POST", "DELETE", "TRACE", "GET")),
    ),
    target: target(pathValue, queryOf(document, inQuery)),
    headers: fc.oneof(weighted(3, fc.constant([])), weighted(2, fc.array(header(), { maxLength: 3 }))),
    body:
      table !== undefined
        ? tableOf(table.example as string)
        : schema === null
          ? fc.oneof(weighted(8, fc.constant(null)), weighted(1, bodyOf(document, {}, method, resource)))
          : fc.oneof(weighted(30, bodyOf(document, schema, method, resource)), weighted(1, fc.constant(null))),
  });
  const wellFormed = fc.record({
    caller: fc.constant<Caller>(isPassword ? "guesser" : isSignIn ? "nobody" : "owner"),
    method: fc.constant(method),
    target: target(fittingPathValue, fittingQueryOf(document, inQuery)),
    headers: fc.constantFrom<Draft["headers"]>([], [["X-Change-Reason", "a reason"]]),
    body:
      table !== undefined
        ? fittingTableOf(table.example as string)
        : schema === null
          ? fc.constant(null)
          : fittingBodyOf(document, schema, method, resource),
  });
  return fc.oneof(weighted(3, malformed), weighted(1, wellFormed));
}

/** Schema for one of a few strings, usually the first. */
function oneOf(mostly: string, ...others: string[]): Json {
  return { enum: [...Array.from({ length: 4 * others.length }, () => mostly), ...others] };
}

/** Usually the right password: wrong ones throttle the account, which would hide all other refusals. */
const PASSWORD_FIELD = oneOf("@@password@@", `${SECRET_MARK}-wrong`);

const idOf = (pool: string): Json => ({ enum: Array.from({ length: 8 }, (_, n) => `@@own/${pool}/${n}@@`) });
const idsOf = (pool: string): Json => ({ type: "array", minItems: 1, items: idOf(pool) });

/** Body fields that an operation needs and that its schema does not describe sufficiently. */
const KNOWN_FIELDS: Readonly<Record<string, Json>> = {
  signIn: { email: oneOf("@@guesser@@", "u1@example.org"), password: PASSWORD_FIELD },
  changePassword: { current_password: PASSWORD_FIELD },
  downloadBackup: { password: PASSWORD_FIELD },
  acceptConflict: {
    type: oneOf("Subnet", "Address", "Mac"),
    value: oneOf("@@conflict@@", "127.1.0.0/16"),
    fingerprint: oneOf("@@fingerprint@@", "0".repeat(64)),
  },
  writeHosts: { network_id: idOf("networks") },
  splitHost: { port_ids: idsOf("ports") },
  ignoreRecord: { entity: oneOf("port", "host"), record_id: idOf("ports") },
  assignTags: { entity_type: oneOf("Host", "service", "SERVICE") },
  addTagToRecords: { entity_type: oneOf("Host", "service", "SERVICE") },
  removeTagFromRecords: { entity_type: oneOf("Host", "service", "SERVICE") },
};

/** Adds the fields that the operation needs to the schema of its body, or of each item of a list. */
function withKnown(document: Json, given: Json, operationId: string, resource: string): Json {
  const schema = resolveRef(document, given);
  if (schema.type === "array")
    return { ...schema, items: withKnown(document, schema.items as Json, operationId, resource) };
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  const known = resource.endsWith("/bulk-update")
    ? {
        ids: idsOf(resource.replace("/bulk-update", "")),
        set: { ...resolveRef(document, properties.set as Json), minProperties: 1 },
      }
    : KNOWN_FIELDS[operationId];
  if (known === undefined) return schema;
  return {
    ...schema,
    required: [...((schema.required ?? []) as string[]), ...Object.keys(known)],
    properties: { ...properties, ...known },
  };
}

/** Generates bodies with and without errors. @param resource plural in the path, for ids without a specific name */
function bodyOf(document: Json, schema: Json, method: string, resource: string): Arbitrary<Draft["body"]> {
  const fitting = fc.record({
    source: fc.constant("schema" as const),
    value: valid(document, schema, nameOf(resource), 0),
  });
  const anything = fc.record({ source: fc.constant("anything" as const), value: nonsense() });
  const known = fc.record({ source: fc.constant(method === "PUT" ? ("record" as const) : ("example" as const)) });
  const text = fc.record({
    source: fc.constant("text" as const),
    text: fc.oneof(fc.constantFrom(...NOT_JSON), fc.string({ maxLength: 40 })),
  });
  return fc.record({
    base: fc.oneof(
      weighted(12, fitting as Arbitrary<BodyBase>),
      weighted(method === "PUT" ? 8 : 2, known),
      weighted(2, anything),
      weighted(1, text),
    ),
    mutations: fc.oneof(
      weighted(5, fc.constant([])),
      weighted(4, fc.array(mutation(), { minLength: 1, maxLength: 1 })),
      weighted(2, fc.array(mutation(), { maxLength: 5 })),
    ),
    encoding: encoding(25),
    type: fc.oneof(weighted(25, fc.constant("application/json")), weighted(1, fc.constantFrom(...MEDIA_TYPES))),
  });
}

/** Picks an encoding. @param weight weight of UTF-8, relative to all encodings together */
function encoding(weight: number): Arbitrary<Encoding> {
  return fc.oneof(weighted(weight, fc.constant<Encoding>("utf-8")), weighted(1, fc.constantFrom(...ENCODINGS)));
}

/** Generates bodies that fit the schema, usually without optional fields, or the existing record unchanged. */
function fittingBodyOf(document: Json, schema: Json, method: string, resource: string): Arbitrary<Draft["body"]> {
  const schemas = fc.record({
    source: fc.constant("schema" as const),
    value: valid(document, schema, nameOf(resource), 0, SPARSE),
  });
  const known = fc.constant<BodyBase>({ source: method === "PUT" ? "record" : "example" });
  return fc
    .oneof(weighted(3, schemas as Arbitrary<BodyBase>), weighted(1, known))
    .map((base) => ({ base, mutations: [], encoding: "utf-8" as const, type: "application/json" }));
}

/** Name for ids in a body that have no specific one: the plural in the path. */
function nameOf(resource: string): string {
  return `/${resource.replace(/\/(bulk-delete|assign).*$/, "")}`;
}

/** Generates tables with a few columns of the example, and rows that refer to existing records. */
function fittingTableOf(example: string): Arbitrary<Draft["body"]> {
  const [header = "", row = ""] = example.split("\r\n");
  const cells = [...row.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = ""]) => cell);
  const names = header.split(",");
  // Fields that the record's parent implies.
  const isImplied = (name: string) =>
    ["id", "subnet_id"].includes(name) ||
    (name === "network_id" && ["host_id", "service_id"].some((parent) => names.includes(parent))) ||
    (name === "host_id" && names.includes("service_id"));
  const columns = names.flatMap((name, index) => (isImplied(name) ? [] : [{ name, cell: cells[index] ?? "" }]));
  const cell = ({ name, cell }: { name: string; cell: string }): Arbitrary<string> => {
    if (/^[0-9a-f-]{36}$/.test(cell)) return id(name);
    if (name === "number") return fc.integer({ min: 1, max: 4_094 }).map(String);
    if (/^(name|key)$/.test(name)) return fc.nat(1_000_000).map((n) => `${name}_${n}`);
    return VOCABULARY.find(([pattern]) => pattern.test(name) && cell !== "")?.[1] ?? fc.constant(cell);
  };
  return fc.array(fc.tuple(...columns.map(cell)), { minLength: 1, maxLength: 3 }).map((rows) => ({
    base: {
      source: "text" as const,
      text: [columns.map(({ name }) => name), ...rows].map((cells) => `${cells.join(",")}\r\n`).join(""),
    },
    mutations: [],
    encoding: "utf-8" as const,
    type: "text/csv",
  }));
}

/** Generates tables with known and unknown columns, and with unchanged, random or misquoted cells. */
function tableOf(example: string): Arbitrary<Draft["body"]> {
  // No address outside this machine may be looked up.
  const local = example.replaceAll(/\d{1,3}(\.\d{1,3}){3}/g, "127.0.0.1");
  const [header = "", row = ""] = local.split("\r\n");
  const names = header.split(",");
  const name = fc.oneof(weighted(12, fc.constantFrom(...names)), weighted(1, key()));
  const cell = fc.oneof(
    weighted(6, fc.constantFrom(...row.split(","))),
    weighted(3, fc.constantFrom(...CELLS)),
    weighted(1, fc.string({ maxLength: 20, unit: "binary" })),
    weighted(1, anyId()),
  );
  const mixed = fc
    .tuple(fc.array(name, { minLength: 1, maxLength: 6 }), fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 5 }))
    .map(([head, body]) => [head, ...body]);
  const grid = fc.oneof(weighted(3, fc.constant([names, row.split(",")])), weighted(6, mixed));
  const text = fc
    .tuple(grid, fc.constantFrom(",", ",", ";", "\t", "|"), fc.constantFrom("\r\n", "\n", "\r"))
    .map(([rows, delimiter, end]) => rows.map((cells) => cells.join(delimiter) + end).join(""));
  return fc.record({
    base: fc.record({ source: fc.constant("text" as const), text }),
    mutations: fc.constant([]),
    encoding: encoding(20),
    type: fc.oneof(
      weighted(20, fc.constant("text/csv")),
      weighted(2, fc.constantFrom(...TABLE_TYPES)),
      weighted(1, fc.constantFrom(...MEDIA_TYPES)),
    ),
  });
}

function mutation(): Arbitrary<Mutation> {
  const kind = fc.constantFrom(...MUTATIONS);
  return fc.record({ kind, location: fc.nat(400), other: fc.nat(4_000), raw: raw(), key: key() });
}

function key(): Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 8, unit: "binary" }));
}

/** Generates JSON documents, extreme or random. */
function raw(): Arbitrary<string> {
  const toJson = (value: string | number) => JSON.stringify(value);
  return fc.oneof(
    weighted(6, fc.constantFrom(...RAWS)),
    weighted(2, fc.string({ maxLength: 60, unit: "binary" }).map(toJson)),
    weighted(1, fc.double().map(toJson)),
    weighted(2, anyId().map(toJson)),
    { weight: 1, arbitrary: fc.nat(20_000).map((length) => toJson("ä".repeat(length))) },
  );
}

function nonsense(): Arbitrary<JsonValue> {
  return fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }) as Arbitrary<JsonValue>;
}

function resolveRef(document: Json, node: Json): Json {
  const reference = node.$ref;
  if (typeof reference !== "string") return node;
  const path = reference.slice(2).split("/");
  return resolveRef(
    document,
    path.reduce((parent, name) => parent[name] as Json, document),
  );
}

/** Weights of omitting an optional field, relative to including it. */
const [USUAL, SPARSE] = [2, 12];

/** Generates values that fit the schema, usually ones that the appliance accepts. */
function valid(document: Json, given: Json, name: string, depth: number, omissionWeight = USUAL): Arbitrary<JsonValue> {
  const schema = resolveRef(document, given);
  if (schema.readOnly === true) return fc.constantFrom<JsonValue>(null, "x", 1);
  if (schema.const !== undefined) return fc.constant(schema.const as JsonValue);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as JsonValue[]));
  if (Array.isArray(schema.anyOf))
    return fc.oneof(...(schema.anyOf as Json[]).map((part) => valid(document, part, name, depth, omissionWeight)));
  const types = ([] as unknown[]).concat(schema.type ?? "object");
  if (types.length > 1)
    return fc.oneof(...types.map((type) => valid(document, { ...schema, type }, name, depth, omissionWeight)));
  switch (types[0]) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return integer(schema, name);
    case "string":
      return text(schema, name);
    case "array": {
      const minimum = (schema.minItems as number | undefined) ?? 0;
      return fc.array(valid(document, (schema.items ?? {}) as Json, name, depth + 1, omissionWeight), {
        minLength: minimum,
        maxLength: Math.max(minimum, depth > 2 ? 1 : 3),
      });
    }
    default: {
      // An object keyed by record id: only map positions are.
      if (schema.patternProperties !== undefined)
        return fc.dictionary(
          fc.nat(7).map((n) => `@@own/hosts/${n}@@`),
          fc.oneof(
            ...Object.values(schema.patternProperties as Record<string, Json>).map((property) =>
              valid(document, property, name, depth + 1, omissionWeight),
            ),
          ),
          { minKeys: 1, maxKeys: 3 },
        );
      const properties = (schema.properties ?? {}) as Record<string, Json>;
      const fieldOmissionWeight = schema.minProperties === undefined ? omissionWeight : USUAL;
      const required = new Set((schema.required ?? []) as string[]);
      const fields = Object.entries(properties).map(([field, property]) => {
        const value = valid(document, property, field, depth + 1, omissionWeight);
        // Clients rarely choose an id; optional fields are usually omitted.
        const weight = field === "id" || property.readOnly === true ? SPARSE : fieldOmissionWeight;
        const optional = fc.oneof(weighted(weight, fc.constant(undefined)), weighted(1, value));
        return [field, required.has(field) ? value : optional] as const;
      });
      return fc
        .tuple(...fields.map(([, value]) => value))
        .map(
          (values) =>
            Object.fromEntries(
              fields.map(([field], index) => [field, values[index]]).filter(([, value]) => value !== undefined),
            ) as JsonValue,
        );
    }
  }
}

function integer(schema: Json, name: string): Arbitrary<number> {
  // Requests that wait would only waste time.
  if (name === "wait") return fc.constantFrom(0, 0, 1);
  const low = (schema.minimum as number | undefined) ?? 0;
  const high = Math.min((schema.maximum as number | undefined) ?? 100_000, Number.MAX_SAFE_INTEGER);
  return fc.oneof(
    weighted(4, fc.integer({ min: low, max: Math.min(high, low + 300) })),
    weighted(1, fc.constant(low)),
    weighted(1, fc.constant(high)),
  );
}

function text(schema: Json, name: string): Arbitrary<string> {
  if (schema.format === "password" || schema.writeOnly === true)
    return fc.nat(9_999).map((n) => `${SECRET_MARK}-${n}-${"x".repeat(10)}`);
  if (schema.format === "uuid") return id(name);
  for (const [pattern, values] of VOCABULARY) if (pattern.test(name)) return values;
  if (schema.format === "email") return fc.nat(99_999).map((n) => `u${n}@example.org`);
  const maximum = (schema.maxLength as number | undefined) ?? 100;
  const minimum = (schema.minLength as number | undefined) ?? 0;
  const range = { minLength: minimum, maxLength: Math.max(minimum, Math.min(maximum, 30)) };
  const usual = fc.nat(1_000_000).map((n) => `${name} ${n}`.slice(0, Math.max(maximum, 1)));
  const odd = fc.constantFrom(...ODD_TEXTS, "x".repeat(maximum));
  return fc.oneof(weighted(6, usual), weighted(2, fc.string({ ...range, unit: "grapheme" })), weighted(1, odd));
}

const IP = fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 254 })).map(([a, b]) => `127.1.${a}.${b}`);
/** Scan targets: only this machine's addresses, as scans must not leave it. */
const TARGETS = fc.constantFrom("127.0.0.1", "127.0.0.2", "127.0.0.0/30");
const MAC = fc
  .nat(0xffff)
  .map((n) => `02:00:5e:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`);
const INSTANT = fc.constantFrom(
  ...texts(`@@now@@ ¦ 2026-01-01T00:00:00Z ¦ 2020-02-29T23:59:59.999999999+01:00 ¦ 9999-12-31T23:59:59Z ¦
  0000-01-01T00:00:00Z ¦ 2040-01-01T00:00:00-23:59`),
);
const ODD_TEXTS = texts(`=1+1 ¦ @SUM(A1) ¦ " ¦ a,b ¦ '; DROP TABLE hosts; -- ¦ %s%n ¦ <script> ¦ ../../etc/passwd ¦
  \${7*7} ¦ \u202Eabc ¦ 👩‍👩‍👧 ¦ é`);
const AGE = fc.constantFrom("-1s", "-5s", "-2m", "-24h", "-52w");

/** Meaningful strings by field name. */
const VOCABULARY: ReadonlyArray<readonly [RegExp, Arbitrary<string>]> = [
  [/^targets$/, TARGETS],
  [/cidr/, fc.integer({ min: 3, max: 255 }).map((n) => `127.${n}.0.0/16`)],
  [/^(ip|ip_address|target_ips|lldp_mgmt_addr)$/, IP],
  [/mac/, MAC],
  [/^expires_at$/, fc.constantFrom("2031-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z")],
  [/^expected_updated_at$/, INSTANT],
  [/^(at|from|to|before)$/, fc.oneof(INSTANT, AGE)],
  // Due once in four years: no scheduled scan runs during the test.
  [/^cron$/, fc.constant("30 2 29 2 *")],
  [/^timezone$/, fc.constantFrom("UTC", "Europe/Berlin")],
  [/email/, fc.nat(99_999).map((n) => `u${n}@example.org`)],
  [/^(first|last)$/, IP],
  [/^key$/, fc.nat(99_999).map((n) => `key_${n}`)],
  [/^management_url$/, fc.constantFrom("https://127.0.0.1/", "http://h.example/a?b")],
  [/^setup_token$/, fc.constant(`${SECRET_MARK}-token`)],
];

const POOLS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^host_|^hosts?$/, "hosts"],
  [/^network|^assigned_network/, "networks"],
  [/^tag|^tags/, "tags"],
  [/^subnet/, "subnets"],
  [/vlan/, "vlans"],
  [/^service/, "services"],
  [/^port/, "ports"],
  [/ip_address/, "ip-addresses"],
  [/credential/, "credentials"],
  [/^user/, "users"],
  [/^organization/, "organizations"],
];
const ALL_POOLS = texts(`hosts ¦ networks ¦ tags ¦ subnets ¦ vlans ¦ services ¦ ports ¦ bindings ¦ if-entries ¦
  ip-addresses ¦ credentials ¦ users ¦ organizations ¦ auth/keys ¦ discovery/schedules ¦ discovery/scans ¦
  discovery/ignored`);

const ODD_IDS = texts(`00000000-0000-0000-0000-000000000000 ¦ FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF ¦
  urn:uuid:00000000-0000-0000-0000-000000000000 ¦ {00000000-0000-0000-0000-000000000000} ¦ 1 ¦ `);

/** Usually an id that fits the field; from a small pool, so that requests share records. */
function id(name: string, resource?: string): Arbitrary<string> {
  const pool =
    resource ??
    (name.startsWith("/") ? name.slice(1) : undefined) ??
    (/^entity_ids?$/.test(name) ? "hosts" : undefined) ??
    POOLS.find(([pattern]) => pattern.test(name))?.[1];
  if (name === "id" && resource === undefined) return fc.uuid();
  if (pool === undefined) return anyId();
  const own = fc.nat(7).map((n) => `@@own/${pool}/${n}@@`);
  return fc.oneof(weighted(9, own), weighted(1, anyId()));
}

/** Id of any kind, of the other organization, or unused. */
function anyId(): Arbitrary<string> {
  return fc.oneof(
    fc
      .tuple(fc.constantFrom("own", "other"), fc.constantFrom(...ALL_POOLS), fc.nat(7))
      .map(([whose, pool, n]) => `@@${whose}/${pool}/${n}@@`),
    fc.uuid(),
    fc.constantFrom(...ODD_IDS),
  );
}

function pathValue(parameter: Json, resource: string): Arbitrary<string> {
  return fc.oneof(
    weighted(12, fittingPathValue(parameter, resource)),
    weighted(1, fc.string({ maxLength: 20, unit: "binary" }).map(percentEncoded)),
    weighted(1, fc.constantFrom(...PATH_TRICKS)),
  );
}

function fittingPathValue(parameter: Json, resource: string): Arbitrary<string> {
  const schema = (parameter.schema ?? {}) as Json;
  if (schema.format === "uuid") return id("id", resource);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as string[]));
  if (parameter.name === "sequence")
    return fc.oneof(fc.constant("@@sequence@@"), integer(schema, "sequence").map(String));
  if (parameter.name === "mac") return MAC;
  // The only remaining parameter names a backup.
  return fc.oneof(weighted(3, fc.constant("@@backup@@")), weighted(1, fc.constant("x")));
}

/** Values of a query parameter that fit its schema. */
function fittingQueryValue(document: Json, parameter: Json): Arbitrary<string> {
  return valid(document, (parameter.schema ?? {}) as Json, parameter.name as string, 2).map((value) =>
    Array.isArray(value) ? value.join(",") : String(value),
  );
}

function weighted<T>(weight: number, arbitrary: Arbitrary<T>) {
  return { weight, arbitrary };
}

function pairOf(parameter: Json, value: Arbitrary<string>): Arbitrary<string> {
  return value.map((text) => `${parameter.name}=${percentEncoded(text)}`);
}

/** Generates queries with the required parameters, and perhaps one more. */
function fittingQueryOf(document: Json, parameters: readonly Json[]): Arbitrary<string> {
  const pairs = (isRequired: boolean) =>
    parameters
      .filter(({ required }) => (required === true) === isRequired)
      .map((parameter) => pairOf(parameter, fittingQueryValue(document, parameter)));
  const optional = pairs(false);
  const extra = optional.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...optional), { maxLength: 1 });
  return fc.tuple(fc.tuple(...pairs(true)), extra).map(([required, more]) => queryText([...required, ...more]));
}

function queryText(pairs: readonly string[]): string {
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function queryOf(document: Json, parameters: readonly Json[]): Arbitrary<string> {
  const known = parameters.map((parameter) => {
    const value = fc.oneof(
      weighted(6, fittingQueryValue(document, parameter)),
      weighted(1, fc.constantFrom(...QUERY_VALUES)),
      weighted(1, fc.string({ maxLength: 20, unit: "binary" })),
    );
    return { isRequired: parameter.required === true, pair: pairOf(parameter, value) };
  });
  const pairs = (required: boolean) =>
    known.filter(({ isRequired }) => isRequired === required).map(({ pair }) => pair);
  const required = fc.oneof(weighted(6, fc.tuple(...pairs(true))), weighted(1, fc.constant([])));
  const odd = fc.oneof(
    fc.constantFrom(...QUERY_ODDITIES),
    fc
      .tuple(key(), fc.string({ maxLength: 10 }))
      .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`),
  );
  const optional = pairs(false);
  const extra = optional.length === 0 ? odd : fc.oneof(weighted(12, fc.oneof(...optional)), weighted(1, odd));
  const none = weighted(optional.length === 0 ? 12 : 3, fc.constant([]));
  const others = fc.oneof(none, weighted(5, fc.array(extra, { minLength: 1, maxLength: 4 })));
  return fc.tuple(required, others).map(([first, more]) => queryText([...first, ...more]));
}

/** Percent-encodes a string, except between @@. */
function percentEncoded(text: string): string {
  return text
    .split(/(@@[^@]+@@)/)
    .map((part, index) => (index % 2 === 1 ? part : encodeURIComponent(part.toWellFormed())))
    .join("");
}

/** Generates headers that are valid in HTTP: what the HTTP parser refuses never reaches the appliance. */
function header(): Arbitrary<readonly [string, string]> {
  const value = fc.oneof(
    fc.constantFrom(...HEADER_VALUES),
    fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, "").trim()),
    fc.constant("x".repeat(3_000)),
  );
  return fc.tuple(fc.constantFrom(...HEADERS), value);
}

const HEADERS = texts(`If-Match ¦ If-None-Match ¦ Idempotency-Key ¦ X-Change-Reason ¦ Accept ¦ Accept-Encoding ¦
  Accept-Language ¦ Origin ¦ Referer ¦ Sec-Fetch-Site ¦ Content-Encoding ¦ Range ¦ If-Modified-Since ¦ X-Forwarded-For ¦
  X-Forwarded-Host ¦ X-HTTP-Method-Override ¦ Last-Event-ID ¦ Cache-Control ¦ TE ¦ Via ¦ X-Request-Id ¦ User-Agent ¦
  Forwarded`);
const HEADER_VALUES = texts(`* ¦ "1" ¦ W/"1" ¦ "1", "2" ¦ "" ¦ text/event-stream ¦ text/csv ¦ application/x-ndjson ¦
  */*;q=0 ¦ null ¦ http://evil.example ¦ same-origin ¦ cross-site ¦ gzip ¦ identity ¦ bytes=0-1 ¦ bytes=-1 ¦ 0:0 ¦
  127.0.0.1 ¦ DELETE ¦ trailers ¦ \u00e9\u00ff ¦ a\tb ¦  ¦ ' ¦ %0d%0aX-Evil: 1 ¦ @@now@@ ¦ @@sequence@@`);
const MEDIA_TYPES = texts(` ¦ text/plain ¦ application/xml ¦ multipart/form-data; boundary=x ¦
  application/x-www-form-urlencoded ¦ application/json; charset=utf-16 ¦ application/json;charset=latin1 ¦
  APPLICATION/JSON ¦ application/json, text/plain ¦ application/json; ¦ application/problem+json ¦ */* ¦
  application/jsonx`);
const TABLE_TYPES = texts(`text/csv; charset=utf-16le ¦ text/csv;charset=windows-1252 ¦ TEXT/CSV; header=present ¦
  text/csv; charset=" ¦ text/csv; charset=none`);
const CELLS = texts(` ¦ '=1 ¦ '' ¦ " ¦ "a\nb" ¦ "a""b" ¦ a;b ¦ { ¦ "{""type"":1}" ¦ null ¦ 1e309 ¦ -1 ¦ TRUE ¦ \u0000 ¦
  \ud800 ¦ \u202e\u05d0 ¦ ${"x".repeat(5_000)}`);
const NOT_JSON = texts(` ¦ \x20 ¦ { ¦ [ ¦ {] ¦ {"a":} ¦ nul ¦ NaN ¦ Infinity ¦ {'a':1} ¦ {"a":1,} ¦ [1,] ¦ // x\n{} ¦
  {}{} ¦ [] [] ¦ "\u0001" ¦ "\\x41" ¦ "\\ud800 ¦ 01 ¦ +1 ¦ .5 ¦ 1. ¦ 0x10 ¦ \u0000 ¦ \ufeff{} ¦ <a/> ¦ a=1&b=2 ¦
  {"a":1 ¦ true false`);
const KEYS = texts(`__proto__ ¦ constructor ¦ prototype ¦ toString ¦ hasOwnProperty ¦  ¦ \x20 ¦ id\x20 ¦ ID ¦ Id ¦
  $where ¦ a.b ¦ a/b ¦ a~b ¦ \u0000 ¦ \ud800 ¦ name\u0000 ¦ nаme ¦ ${"x".repeat(3_000)} ¦ organizationId ¦ valid_from ¦
  lineage_id ¦ 0 ¦ length`);
const RAWS = texts(`null ¦ true ¦ false ¦ [] ¦ {} ¦ "" ¦ 0 ¦ -0 ¦ -1 ¦ 1.5 ¦ 1e400 ¦ -1e400 ¦ 1e-400 ¦ 1E2 ¦
  9007199254740993 ¦ 2147483648 ¦ -2147483649 ¦ 65536 ¦ 4095 ¦ ${"1".repeat(10_001)} ¦ 0.${"1".repeat(10_000)} ¦
  1e${"9".repeat(400)} ¦ "\\u0000" ¦ "a\\u0000b" ¦ "\\ud800" ¦ "\\udc00\\ud800" ¦ "\\u202e" ¦ "\\ufeff" ¦ "\\u2028" ¦
  "\\r\\nX-Evil: 1" ¦ " " ¦ "5" ¦ "true" ¦ "null" ¦ "__proto__" ¦ "2026-02-30T00:00:00Z" ¦ "2026-01-01" ¦
  "127.0.0.256" ¦ "010.1.1.1" ¦ "::ffff:127.0.0.1" ¦ "fe80::1%eth0" ¦ "127.0.0.1/8" ¦ "127.0.0.0/33" ¦
  "zz:zz:zz:zz:zz:zz" ¦ "0200.5e00.0001" ¦ "********" ¦ {"__proto__":{"a":1}} ¦ {"constructor":{"prototype":{"a":1}}} ¦
  {"type":"Port"} ¦ {"type":"__proto__"} ¦ {"mode":"FilePath","path":"../../etc/passwd"} ¦
  {"mode":"FilePath","path":"/etc/passwd"} ¦ {"mode":"Inline"} ¦ [[[[[[[[[[]]]]]]]]]] ¦ [null] ¦ [[]] ¦ [{}] ¦
  "${"x".repeat(256)}" ¦ "${"x".repeat(4_001)}" ¦ "${"x".repeat(101)}" ¦ "${"\\ud83d\\ude00".repeat(255)}" ¦
  "${"x".repeat(66_000)}"`);
const QUERY_VALUES = texts(` ¦ null ¦ undefined ¦ -1 ¦ 0 ¦ 1e3 ¦ 1.0 ¦ +1 ¦ 0x1 ¦ 99999999999999999999 ¦ 2147483648 ¦
  true ¦ TRUE ¦ 1 ¦ NaN ¦ created_at ¦ __proto__ ¦ constructor ¦ ' OR 1=1 -- ¦ % ¦ * ¦ _ ¦ \u0000 ¦ a\r\nb ¦
  2026-01-01T00:00:00+01:00 ¦ -999999999999999999999d ¦ -0s ¦ now ¦ , ¦ ,,, ¦ [] ¦ {}`);
const QUERY_ODDITIES = texts(`% ¦ %zz=1 ¦ limit=%ff ¦ = ¦ &&& ¦ a ¦ limit ¦ limit= ¦ limit=1&limit=2 ¦ limit[]=1 ¦
  ids[]= ¦ ids[0]=1 ¦ __proto__=1 ¦ at=%00 ¦ %00=1 ¦ limit=1%00 ¦ ? ¦ limit=1?x ¦ a=1;b=2 ¦ # ¦ %2e%2e%2f ¦ \u00e4=1 ¦
  ${"x".repeat(2_000)}=1 ¦ key=nlk_x ¦ ${"ids=".concat("1,".repeat(400))}`);
const PATH_TRICKS = texts(`..%2f ¦ %2e%2e ¦ %2f ¦ ..%5c.. ¦ %00 ¦ %ff ¦ %zz ¦ % ¦ a%2fb ¦ ; ¦ . ¦ * ¦ null ¦
  undefined ¦ 0 ¦ -1 ¦ 1e1 ¦ export ¦ bulk-delete ¦ history ¦ __proto__ ¦ constructor ¦ @@own/hosts/0@@%00 ¦
  @@own/hosts/0@@%20 ¦ @@own/hosts/0@@;x=1 ¦ %40 ¦ ${"x".repeat(2_000)}`);
