// Requests from the OpenAPI document: valid, nearly valid, and invalid. Text between @@ is an id resolved when sent, so
// that a seed gives the same requests although ids differ. Must not send anything.

import fc, { type Arbitrary } from "fast-check";
import type { DocumentedOperation } from "../../../test/support/contract/openapi.ts";
import { type JsonValue, MUTATIONS, type Mutation } from "./json-text.ts";

type Json = Record<string, unknown>;

/** Callers: the Owner of the first organization, users of the second one, or no user. The guesser may be locked out. */
const ASKERS = ["owner", "viewer", "member", "guesser", "nobody"] as const;
export type Asker = (typeof ASKERS)[number];

/** Base of a body before its mutation. */
type BodyBase =
  | { readonly of: "schema" | "anything"; readonly value: JsonValue }
  /** Record at the path, as returned by GET, or the document's example if there is none. */
  | { readonly of: "record" | "example" }
  | { readonly of: "text"; readonly text: string };

export interface Draft {
  readonly asker: Asker;
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

/** Part of every sent secret: no answer and no log line may contain it. */
export const SECRET_MARK = "sEcReT-mArK";

/** Drafts for one operation of a document: most with an error, some as a client would send. */
export function draftsOf(document: Json, documented: DocumentedOperation): Arbitrary<Draft> {
  const { method, path, operation } = documented;
  const parameters = ((operation.parameters ?? []) as Json[]).map((each) => resolved(document, each));
  const own = path.replace(/^\/api\/(v1\/)?/, "").replace(/\/\{.*$/, "");
  const contents = (operation.requestBody as Json | undefined)?.content as Readonly<Record<string, Json>> | undefined;
  const content = contents?.["application/json"];
  const schema =
    content === undefined ? null : withKnown(document, content.schema as Json, operation.operationId as string, own);
  const table = contents?.["text/csv"];
  const inPath = parameters.filter((each) => each.in === "path");
  const inQuery = parameters.filter((each) => each.in === "query");
  const target = (value: (parameter: Json, own: string) => Arbitrary<string>, query: Arbitrary<string>) =>
    fc
      .tuple(fc.tuple(...inPath.map((each) => fc.tuple(fc.constant(each.name as string), value(each, own)))), query)
      .map(
        ([values, query]) => values.reduce((now, [name, value]) => now.replace(`{${name}}`, () => value), path) + query,
      );
  // Wrong passwords slow the account down.
  const isPassword = operation.operationId === "changePassword";
  // A sign-in is for a user of the guesser's organization.
  const isSignIn = operation.operationId === "signIn";
  const wrong = fc.record({
    asker: isPassword
      ? fc.constantFrom<Asker>("guesser", "guesser", "guesser", "nobody")
      : isSignIn
        ? fc.constantFrom<Asker>("nobody", "nobody", "member")
        : fc.oneof(
            { weight: 8, arbitrary: fc.constant<Asker>("owner") },
            { weight: 1, arbitrary: fc.constant<Asker>("viewer") },
            { weight: 2, arbitrary: fc.constant<Asker>("member") },
            { weight: 1, arbitrary: fc.constant<Asker>("nobody") },
          ),
    method: fc.oneof(
      { weight: 30, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "PATCH", "PUT", "POST", "DELETE", "TRACE", "GET") },
    ),
    target: target(pathValue, queryOf(document, inQuery)),
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.array(header(), { maxLength: 3 }) },
    ),
    body:
      table !== undefined
        ? tableOf(table.example as string)
        : schema === null
          ? fc.oneof(
              { weight: 8, arbitrary: fc.constant(null) },
              { weight: 1, arbitrary: bodyOf(document, {}, method, own) },
            )
          : fc.oneof(
              { weight: 30, arbitrary: bodyOf(document, schema, method, own) },
              { weight: 1, arbitrary: fc.constant(null) },
            ),
  });
  const meant = fc.record({
    asker: fc.constant<Asker>(isPassword ? "guesser" : isSignIn ? "nobody" : "owner"),
    method: fc.constant(method),
    target: target(fittingPathValue, fittingQueryOf(document, inQuery)),
    headers: fc.constantFrom<Draft["headers"]>([], [["X-Change-Reason", "a reason"]]),
    body:
      table !== undefined
        ? fittingTableOf(table.example as string)
        : schema === null
          ? fc.constant(null)
          : fittingBodyOf(document, schema, method, own),
  });
  return fc.oneof({ weight: 3, arbitrary: wrong }, { weight: 1, arbitrary: meant });
}

/** A schema of a few texts, usually the first. */
function oneOf(mostly: string, ...others: string[]): Json {
  return { enum: [...Array.from({ length: 4 * others.length }, () => mostly), ...others] };
}

/** Usually the right one: wrong ones slow the account down, which would hide all other refusals. */
const PASSWORD_ASKED = oneOf("@@password@@", `${SECRET_MARK}-wrong`);

const idOf = (pool: string): Json => ({ enum: Array.from({ length: 8 }, (_, n) => `@@own/${pool}/${n}@@`) });
const idsOf = (pool: string): Json => ({ type: "array", minItems: 1, items: idOf(pool) });

/** Body fields that an operation needs, and that its schema does not describe enough. */
const KNOWN_FIELDS: Readonly<Record<string, Json>> = {
  signIn: { email: oneOf("@@guesser@@", "u1@example.org"), password: PASSWORD_ASKED },
  changePassword: { current_password: PASSWORD_ASKED },
  downloadBackup: { password: PASSWORD_ASKED },
  acceptConflict: {
    type: oneOf("Subnet", "Address", "Mac"),
    value: oneOf("@@conflict@@", "127.1.0.0/16"),
    fingerprint: oneOf("@@fingerprint@@", "0".repeat(64)),
  },
  writeHosts: { network_id: idOf("networks") },
  splitHost: { port_ids: idsOf("ports") },
  assignTags: { entity_type: oneOf("Host", "service", "SERVICE") },
  addTagToRecords: { entity_type: oneOf("Host", "service", "SERVICE") },
  removeTagFromRecords: { entity_type: oneOf("Host", "service", "SERVICE") },
};

/** Schema of a body, or of each item of its list, with the fields that the operation needs. */
function withKnown(document: Json, given: Json, operationId: string, own: string): Json {
  const schema = resolved(document, given);
  if (schema.type === "array") return { ...schema, items: withKnown(document, schema.items as Json, operationId, own) };
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  const known = own.endsWith("/bulk-update")
    ? {
        ids: idsOf(own.replace("/bulk-update", "")),
        set: { ...resolved(document, properties.set as Json), minProperties: 1 },
      }
    : KNOWN_FIELDS[operationId];
  if (known === undefined) return schema;
  return {
    ...schema,
    required: [...((schema.required ?? []) as string[]), ...Object.keys(known)],
    properties: { ...properties, ...known },
  };
}

/** @param own plural of the path, for ids without a specific name */
function bodyOf(document: Json, schema: Json, method: string, own: string): Arbitrary<Draft["body"]> {
  const fit = fc.record({
    of: fc.constant("schema" as const),
    value: valid(document, schema, nameOf(own), 0),
  });
  const anything = fc.record({ of: fc.constant("anything" as const), value: nonsense() });
  const known = fc.record({ of: fc.constant(method === "PUT" ? ("record" as const) : ("example" as const)) });
  const text = fc.record({
    of: fc.constant("text" as const),
    text: fc.oneof(fc.constantFrom(...NOT_JSON), fc.string({ maxLength: 40 })),
  });
  return fc.record({
    base: fc.oneof(
      { weight: 12, arbitrary: fit as Arbitrary<BodyBase> },
      { weight: method === "PUT" ? 8 : 2, arbitrary: known },
      { weight: 2, arbitrary: anything },
      { weight: 1, arbitrary: text },
    ),
    mutations: fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 4, arbitrary: fc.array(mutation(), { minLength: 1, maxLength: 1 }) },
      { weight: 2, arbitrary: fc.array(mutation(), { maxLength: 5 }) },
    ),
    encoding: fc.oneof(
      { weight: 25, arbitrary: fc.constant<Encoding>("utf-8") },
      { weight: 1, arbitrary: fc.constantFrom(...ENCODINGS) },
    ),
    type: fc.oneof(
      { weight: 25, arbitrary: fc.constant("application/json") },
      { weight: 1, arbitrary: fc.constantFrom(...MEDIA_TYPES) },
    ),
  });
}

/** A body that fits the schema, usually without optional fields; or the existing record unchanged. */
function fittingBodyOf(document: Json, schema: Json, method: string, own: string): Arbitrary<Draft["body"]> {
  const schemas = fc.record({
    of: fc.constant("schema" as const),
    value: valid(document, schema, nameOf(own), 0, SPARSE),
  });
  const known = fc.constant<BodyBase>({ of: method === "PUT" ? "record" : "example" });
  return fc
    .oneof({ weight: 3, arbitrary: schemas as Arbitrary<BodyBase> }, { weight: 1, arbitrary: known })
    .map((base) => ({ base, mutations: [], encoding: "utf-8" as const, type: "application/json" }));
}

/** Kind of ids in a body without a specific name: the plural of the path. */
function nameOf(own: string): string {
  return `/${own.replace(/\/(bulk-delete|assign).*$/, "")}`;
}

/** Few columns of the example, with rows that refer to existing records. */
function fittingTableOf(example: string): Arbitrary<Draft["body"]> {
  const [header = "", row = ""] = example.split("\r\n");
  const cells = [...row.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map(([, cell = ""]) => cell);
  const names = header.split(",");
  // Fields implied by the record's parent.
  const isTold = (name: string) =>
    ["id", "subnet_id"].includes(name) ||
    (name === "network_id" && ["host_id", "service_id"].some((each) => names.includes(each))) ||
    (name === "host_id" && names.includes("service_id"));
  const columns = names.flatMap((name, place) => (isTold(name) ? [] : [{ name, cell: cells[place] ?? "" }]));
  const cell = ({ name, cell }: { name: string; cell: string }): Arbitrary<string> => {
    if (/^[0-9a-f-]{36}$/.test(cell)) return id(name);
    if (name === "number") return fc.integer({ min: 1, max: 4_094 }).map(String);
    if (/^(name|key)$/.test(name)) return fc.nat(1_000_000).map((n) => `${name}_${n}`);
    return VOCABULARY.find(([pattern]) => pattern.test(name) && cell !== "")?.[1] ?? fc.constant(cell);
  };
  return fc.array(fc.tuple(...columns.map(cell)), { minLength: 1, maxLength: 3 }).map((rows) => ({
    base: {
      of: "text" as const,
      text: [columns.map(({ name }) => name), ...rows].map((cells) => `${cells.join(",")}\r\n`).join(""),
    },
    mutations: [],
    encoding: "utf-8" as const,
    type: "text/csv",
  }));
}

/** A table with some columns of the example, some unknown ones, and cells that are unchanged, random or misquoted. */
function tableOf(example: string): Arbitrary<Draft["body"]> {
  // No host beyond this machine may be looked up.
  const near = example.replaceAll(/\d{1,3}(\.\d{1,3}){3}/g, "127.0.0.1");
  const [header = "", row = ""] = near.split("\r\n");
  const names = header.split(",");
  const name = fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: key() });
  const cell = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...row.split(",")) },
    { weight: 3, arbitrary: fc.constantFrom(...CELLS) },
    { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: "binary" }) },
    { weight: 1, arbitrary: anyId() },
  );
  const grid = fc.oneof(
    { weight: 3, arbitrary: fc.constant([names, row.split(",")]) },
    {
      weight: 6,
      arbitrary: fc
        .tuple(
          fc.array(name, { minLength: 1, maxLength: 6 }),
          fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 5 }),
        )
        .map(([head, body]) => [head, ...body]),
    },
  );
  const text = fc
    .tuple(grid, fc.constantFrom(",", ",", ";", "\t", "|"), fc.constantFrom("\r\n", "\n", "\r"))
    .map(([rows, delimiter, end]) => rows.map((cells) => cells.join(delimiter) + end).join(""));
  return fc.record({
    base: fc.record({ of: fc.constant("text" as const), text }),
    mutations: fc.constant([]),
    encoding: fc.oneof(
      { weight: 20, arbitrary: fc.constant<Encoding>("utf-8") },
      { weight: 1, arbitrary: fc.constantFrom(...ENCODINGS) },
    ),
    type: fc.oneof(
      { weight: 20, arbitrary: fc.constant("text/csv") },
      { weight: 2, arbitrary: fc.constantFrom(...TABLE_TYPES) },
      { weight: 1, arbitrary: fc.constantFrom(...MEDIA_TYPES) },
    ),
  });
}

function mutation(): Arbitrary<Mutation> {
  return fc.record({
    kind: fc.constantFrom(...MUTATIONS),
    at: fc.nat(400),
    other: fc.nat(4_000),
    raw: raw(),
    key: key(),
  });
}

function key(): Arbitrary<string> {
  return fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 8, unit: "binary" }));
}

/** Any JSON text: extreme, or random. */
function raw(): Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...RAWS) },
    { weight: 2, arbitrary: fc.string({ maxLength: 60, unit: "binary" }).map((text) => JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.double().map((value) => JSON.stringify(value) ?? "0") },
    { weight: 2, arbitrary: anyId().map((id) => JSON.stringify(id)) },
    { weight: 1, arbitrary: fc.nat(20_000).map((length) => JSON.stringify("ä".repeat(length))) },
  );
}

function nonsense(): Arbitrary<JsonValue> {
  return fc.jsonValue({ maxDepth: 3, stringUnit: "binary" }) as Arbitrary<JsonValue>;
}

function resolved(document: Json, node: Json): Json {
  const reference = node.$ref;
  if (typeof reference !== "string") return node;
  return resolved(
    document,
    reference
      .slice(2)
      .split("/")
      .reduce((at, name) => at[name] as Json, document),
  );
}

/** Frequency of omitting an optional field, relative to including it. */
const [USUAL, SPARSE] = [2, 12];

/** A value that fits the schema, usually one that the appliance can process. */
function valid(document: Json, given: Json, name: string, depth: number, absence = USUAL): Arbitrary<JsonValue> {
  const schema = resolved(document, given);
  if (schema.readOnly === true) return fc.constantFrom<JsonValue>(null, "x", 1);
  if (schema.const !== undefined) return fc.constant(schema.const as JsonValue);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as JsonValue[]));
  if (Array.isArray(schema.anyOf))
    return fc.oneof(...(schema.anyOf as Json[]).map((each) => valid(document, each, name, depth, absence)));
  const types = ([] as unknown[]).concat(schema.type ?? "object");
  if (types.length > 1)
    return fc.oneof(...types.map((type) => valid(document, { ...schema, type }, name, depth, absence)));
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
      const least = (schema.minItems as number | undefined) ?? 0;
      return fc.array(valid(document, (schema.items ?? {}) as Json, name, depth + 1, absence), {
        minLength: least,
        maxLength: Math.max(least, depth > 2 ? 1 : 3),
      });
    }
    default: {
      // Keyed by record id: only map positions are.
      if (schema.patternProperties !== undefined)
        return fc.dictionary(
          fc.nat(7).map((n) => `@@own/hosts/${n}@@`),
          fc.oneof(
            ...Object.values(schema.patternProperties as Record<string, Json>).map((each) =>
              valid(document, each, name, depth + 1, absence),
            ),
          ),
          { minKeys: 1, maxKeys: 3 },
        );
      const properties = (schema.properties ?? {}) as Record<string, Json>;
      const absent = schema.minProperties === undefined ? absence : USUAL;
      const required = new Set((schema.required ?? []) as string[]);
      const fields = Object.entries(properties).map(([field, each]) => {
        const value = valid(document, each, field, depth + 1, absence);
        // A given id is rare; optional fields are usually omitted.
        const left = {
          weight: field === "id" || each.readOnly === true ? SPARSE : absent,
          arbitrary: fc.constant(undefined),
        };
        return [field, required.has(field) ? value : fc.oneof(left, { weight: 1, arbitrary: value })] as const;
      });
      return fc
        .tuple(...fields.map(([, value]) => value))
        .map(
          (values) =>
            Object.fromEntries(
              fields.map(([field], at) => [field, values[at]]).filter(([, value]) => value !== undefined),
            ) as JsonValue,
        );
    }
  }
}

function integer(schema: Json, name: string): Arbitrary<number> {
  // A waiting request would only take time.
  if (name === "wait") return fc.constantFrom(0, 0, 1);
  const low = (schema.minimum as number | undefined) ?? 0;
  const high = Math.min((schema.maximum as number | undefined) ?? 100_000, Number.MAX_SAFE_INTEGER);
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: low, max: Math.min(high, low + 300) }) },
    { weight: 1, arbitrary: fc.constant(low) },
    { weight: 1, arbitrary: fc.constant(high) },
  );
}

function text(schema: Json, name: string): Arbitrary<string> {
  if (schema.format === "password" || schema.writeOnly === true)
    return fc.nat(9_999).map((n) => `${SECRET_MARK}-${n}-${"x".repeat(10)}`);
  if (schema.format === "uuid") return id(name);
  for (const [pattern, values] of VOCABULARY) if (pattern.test(name)) return values;
  if (schema.format === "email") return fc.nat(99_999).map((n) => `u${n}@example.org`);
  const most = (schema.maxLength as number | undefined) ?? 100;
  const least = (schema.minLength as number | undefined) ?? 0;
  return fc.oneof(
    { weight: 6, arbitrary: fc.nat(1_000_000).map((n) => `${name} ${n}`.slice(0, Math.max(most, 1))) },
    {
      weight: 2,
      arbitrary: fc.string({ minLength: least, maxLength: Math.max(least, Math.min(most, 30)), unit: "grapheme" }),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "=1+1",
        "@SUM(A1)",
        '"',
        "a,b",
        "'; DROP TABLE hosts; --",
        "%s%n",
        "<script>",
        "../../etc/passwd",
        "${7*7}",
        "\u202Eabc",
        "👩‍👩‍👧",
        "é",
        "x".repeat(most),
      ),
    },
  );
}

const IP = fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 254 })).map(([a, b]) => `127.1.${a}.${b}`);
/** Only this machine's own addresses: scans must not leave it. */
const TARGETS = fc.constantFrom("127.0.0.1", "127.0.0.2", "127.0.0.0/30");
const MAC = fc
  .nat(0xffff)
  .map((n) => `02:00:5e:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`);
const INSTANT = fc.constantFrom(
  "@@now@@",
  "2026-01-01T00:00:00Z",
  "2020-02-29T23:59:59.999999999+01:00",
  "9999-12-31T23:59:59Z",
  "0000-01-01T00:00:00Z",
  "2040-01-01T00:00:00-23:59",
);
const AGE = fc.constantFrom("-1s", "-5s", "-2m", "-24h", "-52w");

/** Building blocks of meaningful texts, by field name. */
const VOCABULARY: ReadonlyArray<readonly [RegExp, Arbitrary<string>]> = [
  [/^targets$/, TARGETS],
  [/cidr/, fc.integer({ min: 3, max: 255 }).map((n) => `127.${n}.0.0/16`)],
  [/^(ip|ip_address|target_ips|lldp_mgmt_addr)$/, IP],
  [/mac/, MAC],
  [/^expires_at$/, fc.constantFrom("2031-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z")],
  [/^expected_updated_at$/, INSTANT],
  [/^(at|from|to|before)$/, fc.oneof(INSTANT, AGE)],
  // Once in four years: nothing runs during the test.
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
const ALL_POOLS = [
  "hosts",
  "networks",
  "tags",
  "subnets",
  "vlans",
  "services",
  "ports",
  "bindings",
  "if-entries",
  "ip-addresses",
  "credentials",
  "users",
  "organizations",
  "auth/keys",
  "discovery/schedules",
  "discovery/scans",
  "discovery/ignored",
];

/** Usually an id that fits the field; few numbers, so that requests hit each other's records. */
function id(name: string, own?: string): Arbitrary<string> {
  const pool =
    own ??
    (name.startsWith("/") ? name.slice(1) : undefined) ??
    (/^entity_ids?$/.test(name) ? "hosts" : undefined) ??
    POOLS.find(([pattern]) => pattern.test(name))?.[1];
  if (name === "id" && own === undefined) return fc.uuid();
  if (pool === undefined) return anyId();
  return fc.oneof(
    { weight: 9, arbitrary: fc.nat(7).map((n) => `@@own/${pool}/${n}@@`) },
    { weight: 1, arbitrary: anyId() },
  );
}

/** Of any kind, of the other organization, or unused. */
function anyId(): Arbitrary<string> {
  return fc.oneof(
    fc
      .tuple(fc.constantFrom("own", "other"), fc.constantFrom(...ALL_POOLS), fc.nat(7))
      .map(([whose, pool, n]) => `@@${whose}/${pool}/${n}@@`),
    fc.uuid(),
    fc.constantFrom(
      "00000000-0000-0000-0000-000000000000",
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
      "urn:uuid:00000000-0000-0000-0000-000000000000",
      "{00000000-0000-0000-0000-000000000000}",
      "1",
      "",
    ),
  );
}

function pathValue(parameter: Json, own: string): Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fittingPathValue(parameter, own) },
    { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: "binary" }).map(percentEncoded) },
    { weight: 1, arbitrary: fc.constantFrom(...PATH_TRICKS) },
  );
}

function fittingPathValue(parameter: Json, own: string): Arbitrary<string> {
  const schema = (parameter.schema ?? {}) as Json;
  if (schema.format === "uuid") return id("id", own);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as string[]));
  if (parameter.name === "sequence")
    return fc.oneof(fc.constant("@@sequence@@"), integer(schema, "sequence").map(String));
  if (parameter.name === "mac") return MAC;
  // The only remaining one names a backup.
  return fc.oneof({ weight: 3, arbitrary: fc.constant("@@backup@@") }, { weight: 1, arbitrary: fc.constant("x") });
}

/** Values of a query parameter that fit its schema. */
function fittingQueryValue(document: Json, parameter: Json): Arbitrary<string> {
  return valid(document, (parameter.schema ?? {}) as Json, parameter.name as string, 2).map((value) =>
    Array.isArray(value) ? value.join(",") : String(value),
  );
}

function pairOf(parameter: Json, value: Arbitrary<string>): Arbitrary<string> {
  return value.map((text) => `${parameter.name}=${percentEncoded(text)}`);
}

/** Required parameters, and perhaps one more. */
function fittingQueryOf(document: Json, parameters: readonly Json[]): Arbitrary<string> {
  const pairs = (isRequired: boolean) =>
    parameters
      .filter(({ required }) => (required === true) === isRequired)
      .map((each) => pairOf(each, fittingQueryValue(document, each)));
  const optional = pairs(false);
  const one = optional.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...optional), { maxLength: 1 });
  return fc.tuple(fc.tuple(...pairs(true)), one).map(([required, more]) => queryText([...required, ...more]));
}

function queryText(pairs: readonly string[]): string {
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function queryOf(document: Json, parameters: readonly Json[]): Arbitrary<string> {
  const known = parameters.map((parameter) => {
    const value = fc.oneof(
      { weight: 6, arbitrary: fittingQueryValue(document, parameter) },
      { weight: 1, arbitrary: fc.constantFrom(...QUERY_VALUES) },
      { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: "binary" }) },
    );
    return { isRequired: parameter.required === true, pair: pairOf(parameter, value) };
  });
  const required = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(...known.filter(({ isRequired }) => isRequired).map(({ pair }) => pair)) },
    { weight: 1, arbitrary: fc.constant([]) },
  );
  const odd = fc.oneof(
    fc.constantFrom(...QUERY_ODDITIES),
    fc
      .tuple(key(), fc.string({ maxLength: 10 }))
      .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`),
  );
  const optional = known.filter(({ isRequired }) => !isRequired).map(({ pair }) => pair);
  const one =
    optional.length === 0
      ? odd
      : fc.oneof({ weight: 12, arbitrary: fc.oneof(...optional) }, { weight: 1, arbitrary: odd });
  const none = { weight: optional.length === 0 ? 12 : 3, arbitrary: fc.constant([]) };
  const others = fc.oneof(none, { weight: 5, arbitrary: fc.array(one, { minLength: 1, maxLength: 4 }) });
  return fc.tuple(required, others).map(([first, more]) => queryText([...first, ...more]));
}

/** Text between @@ stays unencoded. */
function percentEncoded(text: string): string {
  return text
    .split(/(@@[^@]+@@)/)
    .map((part, at) => (at % 2 === 1 ? part : encodeURIComponent(part.toWellFormed())))
    .join("");
}

/** Valid in HTTP: its parser's refusals never reach the appliance. */
function header(): Arbitrary<readonly [string, string]> {
  const value = fc.oneof(
    fc.constantFrom(...HEADER_VALUES),
    fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, "").trim()),
    fc.constant("x".repeat(3_000)),
  );
  return fc.tuple(fc.constantFrom(...HEADERS), value);
}

const HEADERS = [
  "If-Match",
  "If-None-Match",
  "Idempotency-Key",
  "X-Change-Reason",
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Origin",
  "Referer",
  "Sec-Fetch-Site",
  "Content-Encoding",
  "Range",
  "If-Modified-Since",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-HTTP-Method-Override",
  "Last-Event-ID",
  "Cache-Control",
  "TE",
  "Via",
  "X-Request-Id",
  "User-Agent",
  "Forwarded",
];
const HEADER_VALUES = [
  "*",
  '"1"',
  'W/"1"',
  '"1", "2"',
  '""',
  "text/event-stream",
  "text/csv",
  "application/x-ndjson",
  "*/*;q=0",
  "null",
  "http://evil.example",
  "same-origin",
  "cross-site",
  "gzip",
  "identity",
  "bytes=0-1",
  "bytes=-1",
  "0:0",
  "127.0.0.1",
  "DELETE",
  "trailers",
  "\u00e9\u00ff",
  "a\tb",
  "",
  "'",
  "%0d%0aX-Evil: 1",
  "@@now@@",
  "@@sequence@@",
];
const MEDIA_TYPES = [
  "",
  "text/plain",
  "application/xml",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "application/json; charset=utf-16",
  "application/json;charset=latin1",
  "APPLICATION/JSON",
  "application/json, text/plain",
  "application/json;",
  "application/problem+json",
  "*/*",
  "application/jsonx",
];
const TABLE_TYPES = [
  "text/csv; charset=utf-16le",
  "text/csv;charset=windows-1252",
  "TEXT/CSV; header=present",
  'text/csv; charset="',
  "text/csv; charset=none",
];
const CELLS = [
  "",
  "'=1",
  "''",
  '"',
  '"a\nb"',
  '"a""b"',
  "a;b",
  "{",
  '"{""type"":1}"',
  "null",
  "1e309",
  "-1",
  "TRUE",
  "\u0000",
  "\ud800",
  "\u202e\u05d0",
  "x".repeat(5_000),
];
const NOT_JSON = [
  "",
  " ",
  "{",
  "[",
  "{]",
  '{"a":}',
  "nul",
  "NaN",
  "Infinity",
  "{'a':1}",
  '{"a":1,}',
  "[1,]",
  "// x\n{}",
  "{}{}",
  "[] []",
  '"\u0001"',
  '"\\x41"',
  '"\\ud800',
  "01",
  "+1",
  ".5",
  "1.",
  "0x10",
  "\u0000",
  "\ufeff{}",
  "<a/>",
  "a=1&b=2",
  '{"a":1',
  "true false",
];
const KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "",
  " ",
  "id ",
  "ID",
  "Id",
  "$where",
  "a.b",
  "a/b",
  "a~b",
  "\u0000",
  "\ud800",
  "name\u0000",
  "nаme",
  "x".repeat(3_000),
  "organizationId",
  "valid_from",
  "lineage_id",
  "0",
  "length",
];
const RAWS = [
  "null",
  "true",
  "false",
  "[]",
  "{}",
  '""',
  "0",
  "-0",
  "-1",
  "1.5",
  "1e400",
  "-1e400",
  "1e-400",
  "1E2",
  "9007199254740993",
  "2147483648",
  "-2147483649",
  "65536",
  "4095",
  "1".repeat(10_001),
  `0.${"1".repeat(10_000)}`,
  `1e${"9".repeat(400)}`,
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u202e"',
  '"\\ufeff"',
  '"\\u2028"',
  '"\\r\\nX-Evil: 1"',
  '" "',
  '"5"',
  '"true"',
  '"null"',
  '"__proto__"',
  '"2026-02-30T00:00:00Z"',
  '"2026-01-01"',
  '"127.0.0.256"',
  '"010.1.1.1"',
  '"::ffff:127.0.0.1"',
  '"fe80::1%eth0"',
  '"127.0.0.1/8"',
  '"127.0.0.0/33"',
  '"zz:zz:zz:zz:zz:zz"',
  '"0200.5e00.0001"',
  '"********"',
  '{"__proto__":{"a":1}}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"type":"Port"}',
  '{"type":"__proto__"}',
  '{"mode":"FilePath","path":"../../etc/passwd"}',
  '{"mode":"FilePath","path":"/etc/passwd"}',
  '{"mode":"Inline"}',
  "[[[[[[[[[[]]]]]]]]]]",
  "[null]",
  "[[]]",
  "[{}]",
  `"${"x".repeat(256)}"`,
  `"${"x".repeat(4_001)}"`,
  `"${"x".repeat(101)}"`,
  `"${"\\ud83d\\ude00".repeat(255)}"`,
  `"${"x".repeat(66_000)}"`,
];
const QUERY_VALUES = [
  "",
  "null",
  "undefined",
  "-1",
  "0",
  "1e3",
  "1.0",
  "+1",
  "0x1",
  "99999999999999999999",
  "2147483648",
  "true",
  "TRUE",
  "1",
  "NaN",
  "created_at",
  "__proto__",
  "constructor",
  "' OR 1=1 --",
  "%",
  "*",
  "_",
  "\u0000",
  "a\r\nb",
  "2026-01-01T00:00:00+01:00",
  "-999999999999999999999d",
  "-0s",
  "now",
  ",",
  ",,,",
  "[]",
  "{}",
];
const QUERY_ODDITIES = [
  "%",
  "%zz=1",
  "limit=%ff",
  "=",
  "&&&",
  "a",
  "limit",
  "limit=",
  "limit=1&limit=2",
  "limit[]=1",
  "ids[]=",
  "ids[0]=1",
  "__proto__=1",
  "at=%00",
  "%00=1",
  "limit=1%00",
  "?",
  "limit=1?x",
  "a=1;b=2",
  "#",
  "%2e%2e%2f",
  "\u00e4=1",
  `${"x".repeat(2_000)}=1`,
  "key=nlk_x",
  "ids=".concat("1,".repeat(400)),
];
const PATH_TRICKS = [
  "..%2f",
  "%2e%2e",
  "%2f",
  "..%5c..",
  "%00",
  "%ff",
  "%zz",
  "%",
  "a%2fb",
  ";",
  ".",
  "*",
  "null",
  "undefined",
  "0",
  "-1",
  "1e1",
  "export",
  "bulk-delete",
  "history",
  "__proto__",
  "constructor",
  "@@own/hosts/0@@%00",
  "@@own/hosts/0@@%20",
  "@@own/hosts/0@@;x=1",
  "%40",
  "x".repeat(2_000),
];
