// Cross-site requests with the victim's cookie, which must not change anything, and request data in headers, which
// responses must not echo.

import type { Finding, ProofContext } from "../part.ts";
import { texts } from "../string-list.ts";
import { type Header, headerOf, jsonField, type RawRequest, type RawResponse } from "./raw-client.ts";
import {
  type Caller,
  dataOf,
  OWNER_EMAIL,
  OWNER_PASSWORD,
  type People,
  populate,
  sources,
  Testbed,
} from "./testbed.ts";

type Headers = readonly Header[];

/** Content types that browsers and attackers send. */
const CONTENT_TYPES: ReadonlyArray<string | null> = [
  ...texts(`application/json ¦ application/json; charset=utf-7 ¦ application/json;charset="utf-16" ¦ text/plain ¦
  text/plain; application/json ¦ application/x-www-form-urlencoded ¦ multipart/form-data; boundary=x ¦
  text/plain;charset=UTF-8, application/json ¦ application/csp-report ¦ application/json+anything`),
  null,
];

/** Headers that browsers set and pages cannot: each marks a cross-site request. */
const FOREIGN_ORIGINS: readonly Headers[] = [
  [["Origin", "https://evil.example"]],
  [["Origin", "null"]],
  [["Origin", "http://127.0.0.1:1"]],
  [["Origin", "http://127.0.0.1.evil.example"]],
  [
    ["Origin", "http://localhost"],
    // A name that the appliance accepts.
    ["Host", "evil.localhost"],
  ],
  [["Origin", "http://evil.example@127.0.0.1"]],
  [["Origin", ""]],
  [["Sec-Fetch-Site", "cross-site"]],
  [["Sec-Fetch-Site", "same-site"]],
  [["Sec-Fetch-Site", "CROSS-SITE"]],
];

const OVERRIDES = ["DELETE", "PUT", "POST"].flatMap((method) =>
  ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"].map((name): Header => [name, method]),
);

export async function proveCrossSite(context: ProofContext): Promise<Finding[]> {
  const testbed = new Testbed(context, "cross-site");
  try {
    const people = await populate(testbed);
    const session = await testbed.asOwner();
    return [
      ...(await testForgery(testbed, people, session)),
      await testMethods(testbed, people, session),
      ...(await testInjection(testbed, people, session)),
      await testHostHeaders(testbed, people),
    ];
  } finally {
    await testbed.close();
  }
}

/** Reads the head of the ledger, which the use of keys and sessions does not change. */
async function head({ byKey }: People): Promise<number> {
  return dataOf(await byKey.get("ledger")).sequence;
}

async function testForgery(testbed: Testbed, people: People, session: Caller): Promise<Finding[]> {
  const before = await head(people);
  const ledger = dataOf(await session.get("ledger"));
  const attacks: RawRequest[] = [];
  const body = JSON.stringify({ name: "forged", color: "Red" });
  const renaming = JSON.stringify({ name: "Taken over" });
  const attackers = JSON.stringify({ email: OWNER_EMAIL, password: OWNER_PASSWORD });
  for (const origin of FOREIGN_ORIGINS) {
    for (const type of CONTENT_TYPES) {
      const headers = [session.header, ...origin, ...contentType(type)];
      attacks.push({ method: "POST", path: "/api/v1/tags", headers, body });
      attacks.push({ method: "POST", path: "/api/auth/logout", headers, body: "" });
      attacks.push({ method: "PUT", path: "/api/v1/organizations", headers, body: renaming });
    }
    const path = `/api/v1/networks/${people.networkId}?cascade=true`;
    attacks.push({ method: "DELETE", path, headers: [session.header, ...origin] });
    // Signing the victim in as the attacker is an attack, too.
    const headers = [...contentType("application/json"), ...origin];
    attacks.push({ method: "POST", path: "/api/auth/login", headers, body: attackers });
  }
  const responses = await inBatches(attacks, (attack) => testbed.request(attack));
  const wrong = responses.filter(
    (response) =>
      response.status !== 403 ||
      jsonField(response, "code") !== "auth_origin_rejected" ||
      response.headers.has("set-cookie"),
  );
  // A request without browser headers passes, as from a script; but a form can't send JSON.
  const simple = CONTENT_TYPES.filter((type) => type === null || !type.startsWith("application/json"));
  const untyped = await inBatches(simple, (type) => {
    const headers = [session.header, ...contentType(type)];
    return testbed.request({ method: "POST", path: "/api/v1/tags", headers, body });
  });
  const after = await head(people);
  const origin: Header = ["Origin", `http://127.0.0.1:${testbed.port}`];
  const tag = { name: "of the same origin", color: "Red" };
  const sameOrigin = await session.post("tags", tag, origin, ["Sec-Fetch-Site", "same-origin"]);
  return [
    {
      claim:
        "no page of another site changes anything with the victim's cookie and any content type, or signs anyone in or out",
      held: wrong.length === 0 && after === before && ledger.sequence === before && sameOrigin.status === 200,
      figure: `${responses.length} requests from ${FOREIGN_ORIGINS.length} foreign origins with ${CONTENT_TYPES.length} content types, ${responses.length - wrong.length} refused with auth_origin_rejected${wrong.length === 0 ? "" : ` (${wrong[0]?.status} ${wrong[0]?.text.slice(0, 120)})`}; the ledger went from ${before} to ${after}; a same-origin request returns ${sameOrigin.status}`,
    },
    {
      claim: "a body with a content type that forms can send is refused before it is read",
      held: untyped.every(({ status }) => status === 415) && after === before,
      figure: untyped.map(({ status }) => status).join(", "),
    },
  ];
}

async function testMethods(testbed: Testbed, people: People, session: Caller): Promise<Finding> {
  const document = JSON.parse((await testbed.send("GET", "/api/openapi.json", undefined)).text) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const changing = Object.entries(document.paths).flatMap(([path, operations]) =>
    ["post", "put", "delete"].some((method) => method in operations) ? [path] : [],
  );
  const before = await head(people);
  const requests: RawRequest[] = [];
  for (const path of changing) {
    const resolved = path.replace("{id}", people.networkId).replaceAll(/\{\w+\}/g, "x");
    for (const method of ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])
      requests.push({ method, path: `${resolved}?_method=DELETE&cascade=true&method=POST`, headers: [session.header] });
    const override = OVERRIDES[requests.length % OVERRIDES.length] as Header;
    requests.push({ path: resolved, headers: [session.header, override] });
  }
  for (const override of OVERRIDES) {
    const path = `/api/v1/networks/${people.networkId}`;
    const headers = [session.header, override];
    requests.push({ path, headers });
    requests.push({ method: "POST", path, headers: [...headers, ...contentType("application/json")], body: "{}" });
  }
  const responses = await inBatches(requests, (request) => testbed.request(request));
  const after = await head(people);
  return {
    claim:
      "no GET, HEAD, OPTIONS, TRACE or PROPFIND changes anything at any path, and method override headers have no effect",
    held: after === before && responses.every(({ status }) => status < 500),
    figure: `${requests.length} requests at ${changing.length} paths; the ledger stays at ${after}`,
  };
}

const COVERED = texts(`/ ¦ /docs ¦ /docs/scalar.js ¦ /api/openapi.json ¦ /api/health ¦ /api/v1/hosts ¦ /api/auth/setup ¦
  /nothing ¦ /api/v1/hosts/export/csv`);
const CRLF = "\r\nX-Injected: yes\r\nSet-Cookie: session_id=stolen";

async function testInjection(testbed: Testbed, people: People, session: Caller): Promise<Finding[]> {
  const encoded = encodeURIComponent(CRLF);
  const name = `a"; filename="evil.exe${CRLF};\u202e=1+1`;
  const { networkId: network_id, byKey } = people;
  await byKey.post("hosts", { name: 'a"b', network_id, description: name });
  await byKey.put("organizations", { name: `Acme${CRLF}` });
  const key = byKey.header;
  const requests: RawRequest[] = [
    { path: `/${encoded}` },
    { path: `/?${encoded}` },
    { path: `/docs${encoded}` },
    { path: `//evil.example/${encoded}` },
    { path: "/\\evil.example" },
    { path: `/api/v1/hosts/export/csv?search=${encoded}&at=${encoded}`, headers: [key] },
    { path: `/api/v1/hosts?order_by=${encoded}`, headers: [key] },
    { path: "/api/v1/hosts/export/csv", headers: [key] },
    { path: "/api/v1/backups/export%0d%0aX-Injected:%20yes", headers: [key] },
    { path: `/api/v1/diff?format=csv&from=2020-01-01T00:00:00Z&types=${encoded}`, headers: [key] },
    { path: "/api/v1/hosts", headers: [key, ["X-Request-Id", "a%0d%0aX-Injected: yes"]] },
    { path: "/api/v1/hosts", headers: [key, ["X-Request-Id", "a\x01b\x7f"]] },
    { path: "/api/v1/hosts", headers: [key, ["If-None-Match", `"${encoded}"`]] },
    {
      method: "POST",
      path: "/api/v1/tags",
      headers: [key, ["Content-Type", "application/json"], ["Idempotency-Key", encoded]],
      body: JSON.stringify({ name: `t${CRLF}`, color: "Red" }),
    },
    { method: "X%0d%0aY", path: "/api/v1/hosts" },
  ];
  const responses: RawResponse[] = await inBatches(requests, (request) => testbed.request(request));
  const injected = responses.filter(
    (response) =>
      response.headers.has("x-injected") ||
      (response.headers.get("set-cookie") ?? []).some((cookie) => cookie.includes("stolen")),
  );
  const exports = await inBatches(["hosts", "tags", "subnets", "auth/keys", "users", "credentials"], (plural) =>
    session.get(`${plural}/export/csv`),
  );
  const dispositions = exports.map((response) => headerOf(response, "content-disposition") ?? `${response.status}`);
  const root = await testbed.send("GET", "/", undefined, [["X-Forwarded-Host", "evil.example"]]);
  const covered = await inBatches(COVERED, (path) => byKey.get(path));
  const page = await testbed.send("GET", "/docs", undefined);
  const policy = headerOf(page, "content-security-policy") ?? "";
  const secretResponses = await inBatches(["/api/auth/me", "/api/v1/auth/keys", "/api/v1/credentials"], (path) =>
    session.get(path),
  );
  return [
    {
      claim: "no request data becomes a response header, and file names are chosen by the program",
      held: injected.length === 0 && dispositions.every((text) => /^attachment; filename="[a-z0-9 _.-]+"$/i.test(text)),
      figure: `${responses.length} requests with line breaks in paths, queries, headers and names, ${injected.length} injected headers; ${dispositions.join(", ")}`,
    },
    {
      claim:
        "every response forbids sniffing; pages have a content security policy without other hosts or inline scripts, cannot be framed and send no referrer",
      held:
        covered.every((response) => headerOf(response, "x-content-type-options") === "nosniff") &&
        /default-src 'none'/.test(policy) &&
        /frame-ancestors 'none'/.test(policy) &&
        !/script-src[^;]*('unsafe|http|\*)/.test(policy) &&
        headerOf(page, "referrer-policy") === "no-referrer" &&
        headerOf(root, "location") === "/docs",
      figure: `nosniff on ${covered.filter((response) => headerOf(response, "x-content-type-options") === "nosniff").length} of ${covered.length}; ${policy.split("; ").slice(0, 2).join("; ")}; / redirects to ${headerOf(root, "location")}`,
    },
    {
      claim:
        "responses about users, keys and credentials are never cached, and responses about the inventory by no shared cache",
      held:
        secretResponses.every((response) => headerOf(response, "cache-control") === "no-store") &&
        /\bprivate\b/.test(headerOf(covered[5] as RawResponse, "cache-control") ?? ""),
      figure: `${secretResponses.map((response) => headerOf(response, "cache-control")).join("; ")}; hosts ${headerOf(covered[5] as RawResponse, "cache-control")}`,
    },
  ];
}

/** Tests Host headers chosen by an attacker. */
async function testHostHeaders(testbed: Testbed, people: People): Promise<Finding> {
  const foreign: Headers[] = [
    [["Host", "evil.example"]],
    [
      ["Host", "evil.example:80"],
      ["X-Forwarded-Host", "evil.example"],
    ],
  ];
  const spoofed: Headers[] = [
    [
      ["Host", `127.0.0.1:${testbed.port}`],
      ["X-Forwarded-Host", "evil.example"],
      ["Forwarded", "host=evil.example;proto=https"],
    ],
    [
      ["Host", `127.0.0.1:${testbed.port}`],
      ["X-Original-URL", "/api/v1/hosts"],
      ["X-Rewrite-URL", "/api/v1/hosts"],
    ],
  ];
  const paths = ["/", "/docs", "/api/openapi.json", "/api/auth/setup", "/nothing", "/api/v1/hosts"];
  const sendAll = (variants: readonly Headers[]) => {
    const requests = variants.flatMap((headers) => paths.map((path) => ({ path, headers })));
    return inBatches(requests, (request) => testbed.request(request));
  };
  const [refused, responses] = [await sendAll(foreign), await sendAll(spoofed)];
  const next = sources();
  const throttled: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    const headers = ["X-Forwarded-For", "X-Real-IP"].map((name): Header => [name, next()]);
    throttled.push((await testbed.signIn("nobody@acme.example", "wrong phrase", "127.240.0.1", headers)).status);
  }
  const absolute = await testbed.request({ path: "http://evil.example/api/v1/hosts", headers: [people.byKey.header] });
  return {
    claim:
      "a foreign Host appears in no response, path and address headers are not trusted, and X-Forwarded-For does not evade throttling",
    held:
      [...refused, ...responses].every((response) => !response.raw.includes("evil.example")) &&
      refused.every(({ status }) => status === 421) &&
      responses.every((response, index) =>
        index % paths.length === 5 ? response.status === 401 : response.status < 500,
      ) &&
      throttled.at(-1) === 429 &&
      absolute.status < 500 &&
      headerOf(absolute, "location") === null,
    figure: `${refused.length + responses.length} responses name no other host; six failures with a different X-Forwarded-For each: ${throttled.join(", ")}`,
  };
}

function contentType(type: string | null): Headers {
  return type === null ? [] : [["Content-Type", type]];
}

/** Runs actions a few at a time: floods are tested elsewhere. */
async function inBatches<T, R>(items: readonly T[], action: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let index = 0; index < items.length; index += 16)
    results.push(...(await Promise.all(items.slice(index, index + 16).map(action))));
  return results;
}
