// Invalid input of every kind for every operation, from tables: always the envelope, always 4xx, never a change.

import { beforeAll, describe, expect, test } from "bun:test";
import { PASSWORD } from "../support/appliance/appliance.ts";
import { applianceForAll } from "../support/appliance/appliance-for-each.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { refusal } from "../support/appliance/factories.ts";
import { cookieOf } from "../support/appliance/sign-in.ts";
import {
  bodyOf,
  newRecordFixture,
  OPERATIONS,
  type Operation,
  pathOf,
  type RecordFixture,
} from "../support/contract/operations.ts";
import { envelopeProblems } from "../support/contract/shapes.ts";

const UNKNOWN = "0192f3a4-0000-7000-8000-000000000001";
/** Strings that occur only in exceptions or SQL. */
const LEAK =
  /TypeError|RangeError|SyntaxError|SQLITE|SELECT |INSERT |undefined is not|is not a function|Cannot read|\.ts:\d|node_modules|at async|Prepared|no such (table|column)/;

const appliance = applianceForAll();
const { anonymous, first, givePassword, handle, newApiKey, transactionCount, watchWrites } = appliance;
let fixture: RecordFixture;
/** Signed in as the Owner. */
let cookie: string;

beforeAll(async () => {
  fixture = await newRecordFixture(appliance);
  await givePassword(first.userId);
  const signedIn = await anonymous.post("/api/auth/login", { email: "owner@first.example", password: PASSWORD });
  cookie = `session_id=${cookieOf(signedIn).value}`;
});

/** Sends raw bytes or a string with arbitrary headers. */
async function send(
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const response = await handle(
    new Request(`http://localhost${path}`, {
      method,
      headers: { cookie, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body }),
    }),
  );
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : null,
    data: null,
  };
}

/** Sends requests and collects the deviations of their responses, so that one test reports all. */
class Attempts {
  private readonly deviations: unknown[] = [];

  /** Expects a refusal in the envelope, without a leak or a change, and with the code if given. */
  async expectRefusal(
    label: unknown,
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
    code?: string,
  ): Promise<ApiResponse> {
    const response = await this.expectNoCrash(label, method, path, body, headers);
    const { status, body: envelope } = response;
    if (status < 400) this.report(label, `returned ${status}`, response.text.slice(0, 300));
    if (code !== undefined && envelope?.code !== code) this.report(label, `${envelope?.code} is not ${code}`);
    return response;
  }

  /** Accepts success or refusal, but not a crash, a leak, or a change by a refused request. */
  async expectNoCrash(
    label: unknown,
    method: string,
    path: string,
    body?: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const before = transactionCount();
    const response = await send(method, path, body, headers);
    const problems = response.status === 304 ? [] : envelopeProblems(response);
    if (response.status >= 500) problems.push(`returned ${response.status}`);
    if (response.status >= 400 && transactionCount() !== before) problems.push("something was written");
    if (LEAK.test(response.text) && response.status !== 200) problems.push(`leaks ${LEAK.exec(response.text)?.[0]}`);
    if (problems.length > 0) this.report(label, ...problems, response.text.slice(0, 300));
    return response;
  }

  report(label: unknown, ...details: string[]): void {
    this.deviations.push([JSON.stringify(label).slice(0, 200), ...details]);
  }

  /** Asserts that there were no deviations. */
  finish(): void {
    if (this.deviations.length > 0)
      expect({ count: this.deviations.length, first: this.deviations.slice(0, 12) }).toEqual({ count: 0, first: [] });
    expect(this.deviations).toEqual([]);
  }
}

/** JSON pointers of a response's issues. */
function pointers(response: ApiResponse): string[] {
  return (response.body?.params?.issues ?? []).map((issue: { path: string }) => issue.path);
}

const WRITES = OPERATIONS.filter(
  ({ method, path, plural }) =>
    (method === "POST" || method === "PUT") && plural !== undefined && !path.endsWith("/rotate"),
);
const OTHER_WRITES = OPERATIONS.filter(
  ({ method, plural }) => (method === "POST" || method === "PUT") && plural === undefined,
);
const READS = OPERATIONS.filter(({ method, returns: result }) => method === "GET" && result !== "something else");
const SINGLE_RECORD = OPERATIONS.filter(({ path }) => path.includes(":id"));

/** Every location in a JSON value: pointer and value. */
function locations(value: unknown, pointer = ""): Array<[string, unknown]> {
  if (typeof value !== "object" || value === null) return [[pointer, value]];
  const nested = Object.entries(value).flatMap(([key, item]) => locations(item, `${pointer}/${key}`));
  return pointer === "" ? nested : [[pointer, value], ...nested];
}

/** A copy with a different value at a pointer. */
function withValue(body: JsonRecord, pointer: string, to: unknown): JsonRecord {
  const copy = structuredClone(body);
  const keys = pointer.slice(1).split("/");
  let target: any = copy;
  for (const key of keys.slice(0, -1)) target = target[key];
  target[keys.at(-1) as string] = to;
  return copy;
}

/** A body of the operation with a value for every field. */
function completeBody(operation: Operation): JsonRecord {
  const { password, ...body } = fixture.body(operation.plural as string);
  if (operation.method === "PUT") return { ...body, id: fixture.records[operation.plural as string]?.id };
  return password === undefined ? body : { ...body, password };
}

function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** Hostile values per location; the next location continues with the next values, so that all occur often. */
const HOSTILE_PER_LOCATION = 15;

const WRONG_TYPES: unknown[] = [5, -1.5, true, "text", [], [[]], {}, { a: 1 }, [null]];

/** Hostile values, each of the right type somewhere. */
const HOSTILE: unknown[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00x",
  "\ufeff",
  "\u202e",
  "n".repeat(300),
  "😀".repeat(256),
  "e\u0301".repeat(255),
  "'; DROP TABLE tags; --",
  "%00",
  "../../etc/passwd",
  "null",
  "NaN",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "-0",
  "1e400",
  "=cmd|' /C calc'!A0",
  "<script>alert(1)</script>",
  "${jndi:ldap://x}",
  "\r\nX-Injected: 1",
  "a".repeat(100_000),
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  UNKNOWN.toUpperCase(),
  "255.255.255.255",
  "0.0.0.0",
  "::",
  "0.0.0.0/0",
  "::/0",
  "ff:ff:ff:ff:ff:ff",
  "2026-11-21T09:00:00Z",
  "0000-00-00T00:00:00Z",
  "+275760-09-13T00:00:00.001Z",
  0,
  -0,
  -1,
  1,
  0.1,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  2 ** 64,
  null,
  false,
  [null],
  ["", ""],
  [{}],
  Array.from({ length: 1_500 }, () => UNKNOWN),
  Array.from({ length: 20 }, () => []),
  { length: 1 },
  { type: "toString" },
  { type: "__proto__", details: {} },
  { toString: null },
  { then: 1 },
];

/** Bodies other than JSON objects, or malicious ones. `malformed` marks invalid JSON. */
const RAW_BODIES: Array<[name: string, body: string | Uint8Array<ArrayBuffer>, malformed?: "malformed"]> = [
  ["space", "   ", "malformed"],
  ["an open object", "{", "malformed"],
  ["a closed object", "}", "malformed"],
  ["half a literal", "tru", "malformed"],
  ["single quotes", "{'name':'x'}", "malformed"],
  ["a bare key", "{name:1}", "malformed"],
  ["an extra comma", '{"name":1,}', "malformed"],
  ["an extra comma in an array", "[1,]", "malformed"],
  ["no value", '{"name":}', "malformed"],
  ["a comment", "{/* */}", "malformed"],
  ["two values", "{}{}", "malformed"],
  ["trailing text", "{}x", "malformed"],
  ["NaN", '{"number":NaN}', "malformed"],
  ["Infinity", '{"number":-Infinity}', "malformed"],
  ["hexadecimal", '{"number":0x10}', "malformed"],
  ["a plus sign", '{"number":+1}', "malformed"],
  ["a leading zero", '{"number":01}', "malformed"],
  ["a raw newline in a string", '{"name":"a\nb"}', "malformed"],
  ["a raw NUL in a string", '{"name":"a\u0000b"}', "malformed"],
  ["a NUL after the end", "{}\u0000", "malformed"],
  ["an invalid escape", '{"name":"\\x41"}', "malformed"],
  ["half a unicode escape", '{"name":"\\u12"}', "malformed"],
  ["an unterminated string", '{"name":"', "malformed"],
  ["XML", "<a/>", "malformed"],
  ["a form", "name=x&color=Red", "malformed"],
  ["ten thousand unclosed arrays", "[".repeat(10_000), "malformed"],
  ["two thousand unclosed objects", '{"a":'.repeat(2_000), "malformed"],
  ["null", "null"],
  ["true", "true"],
  ["a number", "5"],
  ["a huge number", "1e400"],
  ["a text", '"x"'],
  ["an array", "[]"],
  ["an array of objects", "[{}]"],
  ["arrays in arrays", `${"[".repeat(50_000)}${"]".repeat(50_000)}`],
  ["objects in objects", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`],
  [
    "objects in a known field",
    `{"tags":${"[".repeat(20_000)}${"]".repeat(20_000)},"name":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`,
  ],
  ["a prototype", '{"__proto__":{"name":"x","polluted":true}}'],
  ["a constructor", '{"constructor":{"prototype":{"polluted":true}},"prototype":1}'],
  ["property names of every object", '{"toString":1,"valueOf":1,"hasOwnProperty":1,"toJSON":1,"then":1,"":1}'],
  ["a hundred thousand unknown fields", `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`],
  ["a key of a megabyte", `{"${"k".repeat(1_000_000)}":1}`],
  ["a string of a megabyte", `{"name":"${"n".repeat(1_000_000)}"}`],
  ["keys that are lone surrogates", '{"\\ud800":1,"\\udfff":"\\ud83d"}'],
  ["invalid UTF-8 bytes in a string", bytes('{"name":"', [0xff, 0xfe, 0xc0, 0x80], '"}')],
  ["an overlong NUL and a surrogate in UTF-8", bytes('{"name":"', [0xc0, 0x80, 0xed, 0xa0, 0x80], '"}')],
  ["invalid UTF-8 bytes alone", bytes("", [0x80, 0x81, 0xfe, 0xff], ""), "malformed"],
  ["UTF-16", bytes("", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], ""), "malformed"],
  ["a byte order mark, then an object", bytes("", [0xef, 0xbb, 0xbf], '{"unknown":1}')],
  ["gzip", bytes("", [0x1f, 0x8b, 0x08, 0x00, 0x00], ""), "malformed"],
];

function bytes(before: string, middle: number[], after: string): Uint8Array<ArrayBuffer> {
  const encode = (text: string) => [...new TextEncoder().encode(text)];
  return Uint8Array.from([...encode(before), ...middle, ...encode(after)]);
}

describe("a body", () => {
  for (const operation of [...WRITES, ...OTHER_WRITES]) {
    const { method } = operation;

    test(`${method} ${operation.path}: refuses anything but an object of its fields`, async () => {
      const attempts = new Attempts();
      for (const [label, body, malformed] of RAW_BODIES) {
        const response = await attempts.expectRefusal(label, method, pathOf(operation, fixture), body);
        if (malformed !== undefined && response.body?.code !== "malformed_json")
          attempts.report(label, `${response.body?.code} is not malformed_json`);
      }
      await attempts.expectRefusal("no body", method, pathOf(operation, fixture));
      await attempts.expectRefusal("an empty body", method, pathOf(operation, fixture), "");
      attempts.finish();
    });
  }

  for (const operation of WRITES) {
    const { method } = operation;
    const name = `${method} ${operation.path}`;

    test(`${name}: refuses a wrong type in every position, naming the position`, async () => {
      const [attempts, body] = [new Attempts(), completeBody(operation)];
      for (const [pointer, value] of locations(body)) {
        for (const wrong of WRONG_TYPES) {
          if (kindOf(wrong) === kindOf(value)) continue;
          const response = await attempts.expectRefusal(
            [pointer, wrong],
            method,
            pathOf(operation, fixture),
            JSON.stringify(withValue(body, pointer, wrong)),
            {},
            "validation_failed",
          );
          // An error in a discriminator may point to the union itself.
          if (
            !pointers(response).some(
              (path) => path.startsWith(pointer) || (path !== "" && path === pointer.replace(/\/[^/]*$/, "")),
            )
          )
            attempts.report([pointer, wrong], `names ${pointers(response)}`);
        }
      }
      attempts.finish();
    });

    test(`${name}: refuses an unknown field in every object, naming it`, async () => {
      const [attempts, body] = [new Attempts(), completeBody(operation)];
      const objects = [
        "",
        ...locations(body).flatMap(([pointer, value]) => (kindOf(value) === "object" ? [pointer] : [])),
      ];
      for (const pointer of objects) {
        for (const field of [
          "tpyo",
          "constructor",
          "toString",
          "__proto__",
          "hasOwnProperty",
          "",
          "a/b",
          "🙂",
          "Name",
          "length",
        ]) {
          const text = JSON.stringify(
            pointer === "" ? { ...body, PLACEHOLDER: 1 } : withValue(body, `${pointer}/PLACEHOLDER`, 1),
          ).replace("PLACEHOLDER", field);
          const response = await attempts.expectRefusal(
            [pointer, field],
            method,
            pathOf(operation, fixture),
            text,
            {},
            "validation_failed",
          );
          const expected = `${pointer}/${field.replace("/", "~1")}`;
          if (!pointers(response).includes(expected)) attempts.report([pointer, field], `names ${pointers(response)}`);
        }
      }
      attempts.finish();
    });

    test(`${name}: survives hostile values in any position, and writes atomically`, async () => {
      const [attempts, body] = [new Attempts(), completeBody(operation)];
      let nextIndex = 0;
      for (const [pointer] of locations(body)) {
        for (let n = 0; n < HOSTILE_PER_LOCATION; n++) {
          const value = HOSTILE[nextIndex++ % HOSTILE.length];
          const valid = operation.method === "POST" ? { ...body, ...uniqueFields(operation) } : body;
          await attempts.expectNoCrash(
            [pointer, value],
            method,
            pathOf(operation, fixture),
            JSON.stringify(withValue(valid, pointer, value)),
          );
        }
        for (const number of "1e400 -1e400 1e-400 9007199254740993 -0 1.0 123456789012345678901234567890".split(" ")) {
          const text = JSON.stringify(withValue(body, pointer, "PLACEHOLDER")).replace('"PLACEHOLDER"', number);
          await attempts.expectNoCrash([pointer, number], method, pathOf(operation, fixture), text);
        }
      }
      attempts.finish();
    });

    test(`${name}: survives a missing or duplicated member in any position`, async () => {
      const [attempts, body] = [new Attempts(), completeBody(operation)];
      for (const [pointer] of locations(body))
        await attempts.expectNoCrash(
          [pointer, "missing"],
          method,
          pathOf(operation, fixture),
          JSON.stringify(withValue(body, pointer, undefined)),
        );
      for (const field of Object.keys(body)) {
        await attempts.expectNoCrash(
          [field, "twice"],
          method,
          pathOf(operation, fixture),
          `{${JSON.stringify(field)}:"first",${JSON.stringify(body).slice(1)}`,
        );
        await attempts.expectRefusal(
          [field, "twice, the last wrong"],
          method,
          pathOf(operation, fixture),
          `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(field)}:{"a":[]}}`,
        );
      }
      attempts.finish();
    });
  }

  test("may be missing or empty for an operation without fields; fields are refused, never silently dropped", async () => {
    const path = `/api/v1/auth/keys/${fixture.records["auth/keys"]?.id}/rotate`;
    for (const body of [undefined, "{}"]) expect((await send("POST", path, body)).status).toBe(200);
    const attempts = new Attempts();
    for (const body of ["{", "[]", "null", "5", '{"expires_at":"2031-01-01T00:00:00Z"}'])
      await attempts.expectRefusal(body, "POST", path, body);
    attempts.finish();
  });

  test("cannot pollute object prototypes", () => {
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).name).toBeUndefined();
  });

  test("is read as UTF-8: stored text round-trips, and a truncated character is refused", async () => {
    const [owner, path] = [anonymous.with({ cookie }), `/api/v1/tags/${fixture.records.tags?.id}`];
    for (const name of ["é", "e\u0301", "日本", "😀👩‍👩‍👧", "a\u00a0b", "\\", '"', "/"]) {
      const response = await owner.put(path, { name, color: "Red" });
      expect([name, response.status, response.data?.name ?? response.text]).toEqual([name, 200, name]);
      expect((await owner.get(path)).data.name).toBe(name);
    }
    const attempts = new Attempts();
    for (const name of ["\\ud800", "\\udc00", "a\\ud83d", "\\ud83dx\\ude00"])
      await attempts.expectRefusal(name, "PUT", path, `{"name":"${name}","color":"Red"}`);
    attempts.finish();
  });
});

describe("a path", () => {
  const IDS = [
    "abc",
    "0",
    "-1",
    "null",
    "undefined",
    "NaN",
    ":id",
    "{id}",
    "*",
    "%20",
    "%00",
    "%0a",
    "%0d%0aX-Injected:%201",
    "%",
    "%zz",
    "%f",
    "%ff",
    "%c0%80",
    "%ed%a0%80",
    "..%2f",
    "..%2f..%2fetc%2fpasswd",
    "%2f",
    "%5c",
    "a%2fb",
    "'",
    '"',
    "'%20OR%201=1--",
    "__proto__",
    "constructor",
    `${UNKNOWN}0`,
    UNKNOWN.slice(0, -1),
    UNKNOWN.replaceAll("-", ""),
    `{${UNKNOWN}}`,
    `urn:uuid:${UNKNOWN}`,
    `%7b${UNKNOWN}%7d`,
    `${UNKNOWN}%00`,
    `${UNKNOWN}%20`,
    `%20${UNKNOWN}`,
    `${UNKNOWN},${UNKNOWN}`,
    `${UNKNOWN};a=b`,
    UNKNOWN.replace("0", "g"),
    "🙂",
    "%F0%9F%99%82",
    "x".repeat(5_000),
  ];

  for (const operation of SINGLE_RECORD) {
    const { method } = operation;
    const takesBody = method !== "GET" && method !== "DELETE";

    test(`${method} ${operation.path}: refuses anything but a UUID`, async () => {
      const attempts = new Attempts();
      const body = takesBody ? JSON.stringify(bodyOf(operation, fixture)) : undefined;
      for (const id of IDS) {
        const response = await attempts.expectRefusal(id, method, operation.path.replace(":id", id), body);
        if (![400, 404, 405].includes(response.status)) attempts.report(id, `returned ${response.status}`);
      }
      attempts.finish();
    });

    test(`${method} ${operation.path}: an id of another kind is unknown`, async () => {
      const attempts = new Attempts();
      for (const [plural, record] of Object.entries(fixture.records)) {
        if (plural === operation.plural) continue;
        const body = takesBody
          ? JSON.stringify({ ...bodyOf(operation, fixture), ...(method === "PUT" ? { id: record.id } : {}) })
          : undefined;
        await attempts.expectRefusal(
          plural,
          method,
          operation.path.replace(":id", record.id),
          body,
          {},
          "entity_not_found",
        );
      }
      attempts.finish();
    });
  }
});

describe("a query", () => {
  const VALUES = [
    "",
    " ",
    "abc",
    "null",
    "undefined",
    "true",
    "[]",
    "{}",
    "0",
    "-0",
    "-1",
    "1.5",
    "1e3",
    "0x1",
    "01",
    "99999999999999999999",
    "NaN",
    "Infinity",
    "1001",
    "%00",
    "%ff",
    "%c0%80",
    "%",
    "%zz",
    "%u0041",
    "%0d%0aX:1",
    "%27%3B--",
    "__proto__",
    "a,b",
    ",",
    ",,,",
    "%2C",
    "..%2f",
    "%F0%9F%99%82",
    "%ed%a0%80",
    "2026-11-21",
    UNKNOWN,
    UNKNOWN.slice(1),
    "x".repeat(4_000),
  ];
  const NAMES = [
    "limit",
    "offset",
    "at",
    "ids",
    "ids[]",
    "ids[0]",
    "host_id",
    "network_id",
    "group_by",
    "order_by",
    "order_direction",
    "search",
    "at[]",
    "limit[]",
    "limit[x]",
    "__proto__",
    "constructor",
    "toString",
    "",
    "%00",
    "%ff",
    "%zz",
    "Limit",
    " limit",
    "🙂",
  ];

  for (const operation of READS) {
    const name = `GET ${operation.path}`;
    const path = () => pathOf(operation, fixture);

    test(`${name}: any value of any parameter is accepted or refused`, async () => {
      const attempts = new Attempts();
      for (const parameter of NAMES)
        for (const value of VALUES)
          await attempts.expectNoCrash([parameter, value], "GET", `${path()}?${parameter}=${value}`);
      attempts.finish();
    });

    test(`${name}: an unknown parameter is refused by name, with or without a value, even among known ones`, async () => {
      const attempts = new Attempts();
      for (const [query, field] of [
        ["tpyo=1", "tpyo"],
        ["tpyo", "tpyo"],
        ["tpyo=", "tpyo"],
        ["at=2999-01-01T00:00:00Z&tpyo=1", "tpyo"],
        ["constructor=1", "constructor"],
        ["__proto__=1", "__proto__"],
        ["toString", "toString"],
        ["At=2999-01-01T00:00:00Z", "At"],
        ["%74pyo=1", "tpyo"],
        ["a%2Fb=1", "a~1b"],
        ["=1", ""],
      ] as const) {
        const response = await attempts.expectRefusal(
          query,
          "GET",
          `${path()}?${query}`,
          undefined,
          {},
          "validation_failed",
        );
        if (pointers(response).join() !== `/${field}`) attempts.report(query, `names ${pointers(response)}`);
      }
      attempts.finish();
    });

    test(`${name}: odd query strings are accepted or refused`, async () => {
      const attempts = new Attempts();
      for (const query of [
        "?",
        "??",
        "?&",
        "?&&&",
        "?=",
        "?=1",
        "?=&=",
        "?;",
        "?a=b=c",
        "?#",
        "?%",
        "?%%",
        "?%3D",
        "?+",
        "?limit=1;offset=1",
        `?${"a=1&".repeat(2_000)}`,
        `?${"&".repeat(10_000)}`,
        `?x=${"y".repeat(12_000)}`,
        `?${"at=2999-01-01T00:00:00Z&".repeat(300)}`,
      ]) {
        await attempts.expectNoCrash(query.slice(0, 50), "GET", path() + query);
      }
      attempts.finish();
    });

    test(`${name}: a repeated parameter is refused, unless it is a list`, async () => {
      const [attempts, at] = [new Attempts(), "at=2999-01-01T00:00:00Z"];
      for (const repeated of [
        `${at}&${at}`,
        ...(operation.returns === "a list" ? ["limit=1&limit=1", "limit=1&limit[]=1", "offset=0&offset=0"] : []),
      ]) {
        await attempts.expectRefusal(repeated, "GET", `${path()}?${repeated}`, undefined, {}, "validation_failed");
      }
      attempts.finish();
    });
  }

  for (const operation of [...WRITES, ...OPERATIONS.filter(({ method }) => method === "DELETE")]) {
    test(`${operation.method} ${operation.path}: refuses any query parameter`, async () => {
      const attempts = new Attempts();
      for (const query of [
        "tpyo=1",
        "limit=5",
        "at=2999-01-01T00:00:00Z",
        "dry_run=true",
        ...(operation.method === "DELETE"
          ? ["cascade=yes", "cascade=", "cascade=1", "cascade=TRUE", "cascade=true&cascade=false"]
          : ["cascade=true"]),
      ]) {
        const body = operation.method === "DELETE" ? undefined : JSON.stringify(bodyOf(operation, fixture));
        await attempts.expectRefusal(
          query,
          operation.method,
          `${pathOf(operation, fixture)}?${query}`,
          body,
          {},
          "validation_failed",
        );
      }
      attempts.finish();
    });
  }
});

describe("a header", () => {
  const NOT_AUTHENTICATED = "auth_not_authenticated";

  test("Authorization in any malformed form is 401, with or without a cookie", async () => {
    const [attempts, { key }] = [new Attempts(), newApiKey()];
    const refuse = (label: unknown, headers: Record<string, string>) =>
      attempts.expectRefusal(label, "GET", "/api/v1/tags", undefined, headers, NOT_AUTHENTICATED);
    const wrong = [
      "",
      "Bearer",
      "Bearer ",
      "bearer",
      `Bearer${key}`,
      `Bearer ${key} ${key}`,
      `Bearer ${key},`,
      `Bearer "${key}"`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}x`,
      `Basic ${btoa(`owner:${key}`)}`,
      `Token ${key}`,
      key,
      'Digest username="a"',
      "Bearer null",
      "Bearer undefined",
      "Bearer nlk_",
      `Bearer nlk_${"0".repeat(43)}`,
      `Bearer nlk_${"0".repeat(49)}`,
      `Bearer ${"x".repeat(8_000)}`,
      "Bearer \u00ff\u00fe",
      "Bearer ../../etc/passwd",
      "Bearer ' OR 1=1 --",
      "Bearer __proto__",
      `Bearer ${key.toUpperCase()}`,
      "Negotiate AAAA",
      "=",
      ",",
    ];
    for (const authorization of wrong) {
      for (const withCookie of [true, false]) {
        const headers: Record<string, string> = { authorization, ...(withCookie ? {} : { cookie: "" }) };
        const response = await refuse([authorization, withCookie], headers);
        if (response.status !== 401) attempts.report([authorization, withCookie], `returned ${response.status}`);
        if (!/^Bearer\b/.test(response.headers.get("www-authenticate") ?? ""))
          attempts.report([authorization, withCookie], "no WWW-Authenticate");
        if (response.text.includes(key.slice(4, 30))) attempts.report([authorization, withCookie], "echoes the key");
      }
    }
    attempts.finish();
  });

  test("Cookie in any malformed form is 401; a valid one is found among others", async () => {
    const [attempts, token] = [new Attempts(), cookie.slice("session_id=".length)];
    const wrong = [
      "",
      ";",
      ";;;",
      "=",
      "session_id",
      "session_id=",
      "session_id=;",
      `session_id=${token}x`,
      `session_id=${token.slice(1)}`,
      `session_id="${token.slice(1)}"`,
      "session_id=%zz",
      "session_id=%",
      "session_id=%00",
      "session_id=%E0%A4%A",
      "session_id=null",
      "session_id=[object Object]",
      'session_id={"a":1}',
      'session_id=j:{"a":1}',
      "session_id=' OR 1=1 --",
      "session_id=__proto__",
      "__proto__=1",
      "constructor=1",
      `Session_Id=${token}`,
      `session_id2=${token}`,
      `xsession_id=${token}`,
      `session_id=${"x".repeat(8_000)}`,
      "session_id=\u00ff",
      "a=b; ".repeat(500),
      "session_id=abc",
      `session_id=${"A".repeat(43)}`,
      `;=;session_id =${"A".repeat(43)}`,
      "%00=%ff; session_id=%41",
    ];
    for (const value of wrong) {
      const sent = { cookie: value };
      const response = await attempts.expectRefusal(value, "GET", "/api/v1/tags", undefined, sent, NOT_AUTHENTICATED);
      if (response.status !== 401) attempts.report(value, `returned ${response.status}`);
    }
    attempts.finish();
    for (const value of [
      `a=b; ${cookie}`,
      `${cookie}; a=b`,
      `a=%zz; ${cookie}`,
      `__proto__=x; ${cookie}`,
      `;;${cookie};`,
      `a; ${cookie}`,
    ])
      expect([value, (await send("GET", "/api/v1/tags", undefined, { cookie: value })).status]).toEqual([value, 200]);
  });

  test("a cross-site Origin or Sec-Fetch-Site blocks writes authenticated by cookie, and no others", async () => {
    const [attempts, { key }] = [new Attempts(), newApiKey()];
    const tag = JSON.stringify({ name: "from elsewhere", color: "Red" });
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: "http://localhost.evil.example" },
      { origin: "http://localhost@evil.example" },
      { origin: "localhost" },
      { origin: "http://localhost:81" },
      { origin: "x".repeat(1_000) },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "made up" },
      { origin: "http://localhost", "sec-fetch-site": "same-site" },
      { origin: "http://localhost", "sec-fetch-site": "cross-site" },
    ] as Array<Record<string, string>>) {
      await attempts.expectRefusal(
        headers,
        "POST",
        "/api/v1/tags",
        tag,
        { host: "localhost", ...headers },
        "auth_origin_rejected",
      );
      const read = await attempts.expectNoCrash(headers, "GET", "/api/v1/tags", undefined, {
        host: "localhost",
        ...headers,
      });
      if (read.status !== 200) attempts.report(headers, "stops a GET");
    }
    attempts.finish();
    expect(
      (
        await send("POST", "/api/v1/tags", tag, {
          host: "localhost",
          origin: "https://evil.example",
          "sec-fetch-site": "cross-site",
          cookie: "",
          authorization: `Bearer ${key}`,
        })
      ).status,
    ).toBe(200);
  });

  test("If-Match and If-None-Match in any malformed form never let a write through", async () => {
    const [attempts, record] = [new Attempts(), fixture.records.vlans as JsonRecord];
    const path = `/api/v1/vlans/${record.id}`;
    for (const value of [
      '"',
      '""',
      "W/",
      'W/""',
      "x",
      "**",
      '"a',
      'a"',
      '"a",',
      ",",
      '"\\""',
      "null",
      "x".repeat(8_000),
      "\u00e9",
      `${'"a",'.repeat(1_000)}"b"`,
    ]) {
      const response = await attempts.expectRefusal(
        ["if-match", value],
        "PUT",
        path,
        JSON.stringify({ ...record, name: "never" }),
        { "if-match": value },
      );
      if (response.status !== 412 && response.status !== 400)
        attempts.report(["if-match", value], `returned ${response.status}`);
      const read = await attempts.expectNoCrash(["if-none-match", value], "GET", path, undefined, {
        "if-none-match": value,
      });
      if (read.status === 304) attempts.report(["if-none-match", value], "returned 304");
    }
    attempts.finish();
  });

  test("If-None-Match never makes a write 304: * refuses it, and a tag is ignored", async () => {
    const record = fixture.records.vlans as JsonRecord;
    const path = `/api/v1/vlans/${record.id}`;
    const put = (name: string, header: string) =>
      send("PUT", path, JSON.stringify({ ...record, name }), { "if-none-match": header });
    const expectNothingWritten = watchWrites();
    expect(await put("never", "*")).toMatchObject(refusal(412, "precondition_failed"));
    expect(await send("DELETE", path, undefined, { "if-none-match": " * " })).toMatchObject({ status: 412 });
    expectNothingWritten();
    const tag = (await send("GET", path)).headers.get("etag") as string;
    // Without a change, the response has the tag that was sent.
    expect(await put(record.name, tag)).toMatchObject({ status: 200, body: { data: { name: record.name } } });
    expect(await put("another", tag)).toMatchObject({ status: 200, body: { data: { name: "another" } } });
  });

  test("other malformed headers do not change the response", async () => {
    const odd: Array<Record<string, string>> = [
      { accept: "text/html" },
      { accept: "" },
      { "accept-encoding": "nonsense;q=x" },
      { "accept-language": "x".repeat(5_000) },
      { "x-request-id": "x".repeat(10_000) },
      { "x-request-id": "\u00ff" },
      { range: "bytes=0-1" },
      { "x-forwarded-for": "'; --" },
      { "x-forwarded-host": "evil.example" },
      { "x-http-method-override": "DELETE" },
      { "if-modified-since": "never" },
      { "content-type": "\u00ff" },
      { "content-type": "x" },
      { expect: "200-ok" },
      { te: "trailers" },
      { host: "evil.example" },
      { "content-length": "-5" },
      { "content-encoding": "gzip" },
      { upgrade: "websocket", connection: "upgrade" },
    ];
    const attempts = new Attempts();
    for (const headers of odd) {
      const response = await attempts.expectNoCrash(headers, "GET", "/api/v1/tags", undefined, headers);
      if (response.status !== 200) attempts.report(headers, `returned ${response.status}`);
    }
    attempts.finish();
  });

  test("Content-Type in any malformed form is 415 if there is a body", async () => {
    const attempts = new Attempts();
    for (const type of [
      " ",
      "x",
      "/",
      "json",
      "application",
      "application/",
      "application/json+x",
      "application/json, text/plain",
      "text/html; application/json",
      "application/json/x",
      "application/x-ndjson",
      "application/json-patch+json",
      "application/merge-patch+json",
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "application/x-www-form-urlencoded; charset=utf-8",
      "\u00ff",
      "x".repeat(5_000),
    ]) {
      await attempts.expectRefusal(
        type,
        "POST",
        "/api/v1/tags",
        JSON.stringify(fixture.body("tags")),
        { "content-type": type },
        "unsupported_media_type",
      );
    }
    attempts.finish();
  });
});

describe("sign-in and setup", () => {
  test("refuse any malformed body without setting a cookie", async () => {
    const attempts = new Attempts();
    const wrong = [
      {},
      { email: "owner@first.example" },
      { password: "x" },
      { email: 5, password: 5 },
      { email: ["owner@first.example"], password: { a: 1 } },
      { email: null, password: null },
      { email: "", password: "" },
      { email: "x", password: "y" },
      { email: "owner@first.example", password: "" },
      { email: "owner@first.example", password: "x".repeat(100_000) },
      { email: "a".repeat(100_000), password: "x" },
      { email: "owner@first.example\u0000", password: "x" },
      { email: "' OR 1=1 --", password: "' OR 1=1 --" },
      { email: "owner@first.example", password: "wrong wrong wrong", extra: 1 },
      { email: "owner@first.example", password: 98_765_432_198 },
    ];
    for (const body of wrong) {
      const response = await attempts.expectRefusal(body, "POST", "/api/auth/login", JSON.stringify(body), {
        cookie: "",
      });
      if (response.headers.getSetCookie().length > 0) attempts.report(body, "sets a cookie");
      if (/wrong wrong wrong|98765432198/.test(response.text)) attempts.report(body, "echoes the password");
    }
    for (const body of [
      {},
      { setup_token: "x" },
      { setup_token: 5, organization_name: [], network_name: {}, email: "x", password: "short" },
      {
        setup_token: "x",
        organization_name: "o",
        network_name: "n",
        email: "a@b.example",
        password: "a long enough password",
      },
    ]) {
      const response = await attempts.expectRefusal(body, "POST", "/api/auth/setup", JSON.stringify(body), {
        cookie: "",
      });
      if (response.headers.getSetCookie().length > 0) attempts.report(body, "sets a cookie");
      if (response.text.includes("a long enough password") || response.text.includes('"short"'))
        attempts.report(body, "echoes the password");
    }
    attempts.finish();
  });
});

/** Unused values for fields in the operation's body that must be unique. */
function uniqueFields(operation: Operation): JsonRecord {
  const body = fixture.body(operation.plural as string);
  return Object.fromEntries(
    ["name", "number", "if_index", "cidr", "email"]
      .filter((field) => Object.hasOwn(body, field))
      .map((field) => [field, body[field]]),
  );
}
