// Cross-site requests with the victim's cookie, and arbitrary header values: they change nothing, and are never echoed
// as a header.

import type { Finding, Proving } from "../part.ts";
import { headerOf, memberOf, type RawAnswer, type RawRequest } from "./raw-client.ts";
import { dataOf, OWNER_EMAIL, OWNER_PASSWORD, type People, populate, Stage, sources } from "./stage.ts";

type Headers = Array<[string, string]>;

/** Content types of browsers and attackers. */
const CONTENT_TYPES: ReadonlyArray<string | null> = [
  "application/json",
  "application/json; charset=utf-7",
  'application/json;charset="utf-16"',
  "text/plain",
  "text/plain; application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain;charset=UTF-8, application/json",
  "application/csp-report",
  "application/json+anything",
  null,
];

/** Headers set by browsers that pages cannot set: each marks a cross-site request. */
const STRANGERS: readonly Headers[] = [
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

const OVERRIDES: readonly Headers[] = ["DELETE", "PUT", "POST"].flatMap(
  (method) =>
    [[["X-HTTP-Method-Override", method]], [["X-HTTP-Method", method]], [["X-Method-Override", method]]] as Headers[],
);

export async function proveForeignPages(proving: Proving): Promise<Finding[]> {
  const stage = new Stage(proving, "foreign-pages");
  try {
    const people = await populate(stage);
    const session = await stage.cookieOf(OWNER_EMAIL, OWNER_PASSWORD);
    return [
      ...(await forgery(stage, people, session)),
      await methods(stage, people, session),
      ...(await injection(stage, people, session)),
      await hosts(stage, people),
    ];
  } finally {
    await stage.close();
  }
}

/** Head of the ledger. It does not include the use of keys and sessions. */
async function head(stage: Stage, people: People): Promise<number> {
  return dataOf(await stage.send("GET", "/api/v1/ledger", undefined, [people.key])).sequence;
}

async function forgery(stage: Stage, people: People, session: [string, string]): Promise<Finding[]> {
  const before = await head(stage, people);
  const host = dataOf(await stage.send("GET", "/api/v1/ledger", undefined, [session]));
  const attacks: RawRequest[] = [];
  const body = JSON.stringify({ name: "forged", color: "Red" });
  for (const stranger of STRANGERS) {
    for (const type of CONTENT_TYPES) {
      const headers = [session, ...stranger, ...(type === null ? [] : [["Content-Type", type] as [string, string]])];
      attacks.push({ method: "POST", path: "/api/v1/tags", headers, body });
      attacks.push({ method: "POST", path: "/api/auth/logout", headers, body: "" });
      attacks.push({
        method: "PUT",
        path: "/api/v1/organizations",
        headers,
        body: JSON.stringify({ name: "Taken over" }),
      });
    }
    attacks.push({
      method: "DELETE",
      path: `/api/v1/networks/${people.networkId}?cascade=true`,
      headers: [session, ...stranger],
    });
    // Signing the victim in as the attacker is also an attack.
    attacks.push({
      method: "POST",
      path: "/api/auth/login",
      headers: [["Content-Type", "application/json"], ...stranger],
      body: JSON.stringify({ email: OWNER_EMAIL, password: OWNER_PASSWORD }),
    });
  }
  const answers = await inTurns(attacks, (attack) => stage.ask(attack));
  const wrong = answers.filter(
    (answer) =>
      answer.status !== 403 || memberOf(answer, "code") !== "auth_origin_rejected" || answer.headers.has("set-cookie"),
  );
  // Without browser headers a request passes, like that of a script; but a form can't send JSON.
  const simple = CONTENT_TYPES.filter((type) => type === null || !type.startsWith("application/json"));
  const untyped = await inTurns(simple, (type) =>
    stage.ask({
      method: "POST",
      path: "/api/v1/tags",
      headers: [session, ...(type === null ? [] : [["Content-Type", type] as [string, string]])],
      body,
    }),
  );
  const after = await head(stage, people);
  const own = await stage.send("POST", "/api/v1/tags", { name: "of our own page", color: "Red" }, [
    session,
    ["Origin", `http://127.0.0.1:${stage.port}`],
    ["Sec-Fetch-Site", "same-origin"],
  ]);
  return [
    {
      claim:
        "no page of another site changes anything by the victim's cookie, whatever the content type, nor signs anyone in or out",
      held: wrong.length === 0 && after === before && host.sequence === before && own.status === 200,
      figure: `${answers.length} requests of ${STRANGERS.length} strangers with ${CONTENT_TYPES.length} content types, ${answers.length - wrong.length} refused with auth_origin_rejected${wrong.length === 0 ? "" : ` (${wrong[0]?.status} ${wrong[0]?.text.slice(0, 120)})`}; the ledger went from ${before} to ${after}; our own page's request is answered with ${own.status}`,
    },
    {
      claim: "a body that a form or a text/plain request can send is not JSON: it is refused before it is read",
      held: untyped.every(({ status }) => status === 415) && after === before,
      figure: `${untyped.map(({ status }) => status).join(", ")}`,
    },
  ];
}

async function methods(stage: Stage, people: People, session: [string, string]): Promise<Finding> {
  const document = JSON.parse((await stage.send("GET", "/api/openapi.json", undefined)).text) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const changing = Object.entries(document.paths).flatMap(([path, each]) =>
    ["post", "put", "delete"].some((method) => method in each) ? [path] : [],
  );
  const before = await head(stage, people);
  const requests: RawRequest[] = [];
  for (const path of changing) {
    const real = path.replace("{id}", people.networkId).replaceAll(/\{\w+\}/g, "x");
    for (const method of ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])
      requests.push({ method, path: `${real}?_method=DELETE&cascade=true&method=POST`, headers: [session] });
    requests.push({ path: real, headers: [session, ...(OVERRIDES[requests.length % OVERRIDES.length] as Headers)] });
  }
  for (const override of OVERRIDES)
    requests.push(
      { path: `/api/v1/networks/${people.networkId}`, headers: [session, ...override] },
      {
        method: "POST",
        path: `/api/v1/networks/${people.networkId}`,
        headers: [session, ...override, ["Content-Type", "application/json"]],
        body: "{}",
      },
    );
  const answers = await inTurns(requests, (request) => stage.ask(request));
  const after = await head(stage, people);
  return {
    claim:
      "no GET, HEAD, OPTIONS, TRACE or PROPFIND changes anything at any path, and method override headers have no effect",
    held: after === before && answers.every(({ status }) => status < 500),
    figure: `${requests.length} requests at ${changing.length} paths; the ledger stays at ${after}`,
  };
}

const CRLF = "\r\nX-Injected: yes\r\nSet-Cookie: session_id=stolen";

async function injection(stage: Stage, people: People, session: [string, string]): Promise<Finding[]> {
  const encoded = encodeURIComponent(CRLF);
  const name = `a"; filename="evil.exe${CRLF};\u202e=1+1`;
  await stage.send("POST", "/api/v1/hosts", { name: 'a"b', network_id: people.networkId, description: name }, [
    people.key,
  ]);
  await stage.send("PUT", "/api/v1/organizations", { name: `Acme${CRLF}` }, [people.key]);
  const requests: RawRequest[] = [
    { path: `/${encoded}` },
    { path: `/?${encoded}` },
    { path: `/docs${encoded}` },
    { path: `//evil.example/${encoded}` },
    { path: "/\\evil.example" },
    { path: `/api/v1/hosts/export/csv?search=${encoded}&at=${encoded}`, headers: [people.key] },
    { path: `/api/v1/hosts?order_by=${encoded}`, headers: [people.key] },
    { path: "/api/v1/hosts/export/csv", headers: [people.key] },
    { path: "/api/v1/backups/export%0d%0aX-Injected:%20yes", headers: [people.key] },
    { path: `/api/v1/diff?format=csv&from=2020-01-01T00:00:00Z&types=${encoded}`, headers: [people.key] },
    { path: "/api/v1/hosts", headers: [people.key, ["X-Request-Id", "a%0d%0aX-Injected: yes"]] },
    { path: "/api/v1/hosts", headers: [people.key, ["X-Request-Id", "a\x01b\x7f"]] },
    { path: "/api/v1/hosts", headers: [people.key, ["If-None-Match", `"${encoded}"`]] },
    {
      method: "POST",
      path: "/api/v1/tags",
      headers: [people.key, ["Content-Type", "application/json"], ["Idempotency-Key", encoded]],
      body: JSON.stringify({ name: `t${CRLF}`, color: "Red" }),
    },
    { method: "X%0d%0aY", path: "/api/v1/hosts" },
  ];
  const answers: RawAnswer[] = await inTurns(requests, (request) => stage.ask(request));
  const torn = answers.filter(
    (answer) =>
      answer.headers.has("x-injected") ||
      (answer.headers.get("set-cookie") ?? []).some((cookie) => cookie.includes("stolen")),
  );
  const exports = await inTurns(["hosts", "tags", "subnets", "auth/keys", "users", "credentials"], (each) =>
    stage.send("GET", `/api/v1/${each}/export/csv`, undefined, [session]),
  );
  const dispositions = exports.map((answer) => headerOf(answer, "content-disposition") ?? `${answer.status}`);
  const root = await stage.send("GET", "/", undefined, [["X-Forwarded-Host", "evil.example"]]);
  const covered = await inTurns(
    [
      "/",
      "/docs",
      "/docs/scalar.js",
      "/api/openapi.json",
      "/api/health",
      "/api/v1/hosts",
      "/api/auth/setup",
      "/nothing",
      "/api/v1/hosts/export/csv",
    ],
    (path) => stage.send("GET", path, undefined, [people.key]),
  );
  const page = await stage.send("GET", "/docs", undefined);
  const policy = headerOf(page, "content-security-policy") ?? "";
  const secretAnswers = await inTurns(["/api/auth/me", "/api/v1/auth/keys", "/api/v1/credentials"], (path) =>
    stage.send("GET", path, undefined, [session]),
  );
  return [
    {
      claim: "no request data becomes an answer header, and file names are the program's own",
      held: torn.length === 0 && dispositions.every((each) => /^attachment; filename="[a-z0-9 _.-]+"$/i.test(each)),
      figure: `${answers.length} requests with line breaks in paths, queries, headers and names, ${torn.length} torn answers; ${dispositions.join(", ")}`,
    },
    {
      claim:
        "every answer forbids sniffing; pages have a content security policy without other hosts or inline scripts, cannot be framed and send no referrer",
      held:
        covered.every((answer) => headerOf(answer, "x-content-type-options") === "nosniff") &&
        /default-src 'none'/.test(policy) &&
        /frame-ancestors 'none'/.test(policy) &&
        !/script-src[^;]*('unsafe|http|\*)/.test(policy) &&
        headerOf(page, "referrer-policy") === "no-referrer" &&
        headerOf(root, "location") === "/docs",
      figure: `nosniff on ${covered.filter((answer) => headerOf(answer, "x-content-type-options") === "nosniff").length} of ${covered.length}; ${policy.split("; ").slice(0, 2).join("; ")}; / leads to ${headerOf(root, "location")}`,
    },
    {
      claim:
        "answers about users, keys and credentials are never cached, and those about the inventory by no shared cache",
      held:
        secretAnswers.every((answer) => headerOf(answer, "cache-control") === "no-store") &&
        /\bprivate\b/.test(headerOf(covered[5] as RawAnswer, "cache-control") ?? ""),
      figure: `${secretAnswers.map((answer) => headerOf(answer, "cache-control")).join("; ")}; hosts ${headerOf(covered[5] as RawAnswer, "cache-control")}`,
    },
  ];
}

/** A Host header chosen by an attacker. */
async function hosts(stage: Stage, people: People): Promise<Finding> {
  const foreign: Headers[] = [
    [["Host", "evil.example"]],
    [
      ["Host", "evil.example:80"],
      ["X-Forwarded-Host", "evil.example"],
    ],
  ];
  const named: Headers[] = [
    [
      ["Host", `127.0.0.1:${stage.port}`],
      ["X-Forwarded-Host", "evil.example"],
      ["Forwarded", "host=evil.example;proto=https"],
    ],
    [
      ["Host", `127.0.0.1:${stage.port}`],
      ["X-Original-URL", "/api/v1/hosts"],
      ["X-Rewrite-URL", "/api/v1/hosts"],
    ],
  ];
  const paths = ["/", "/docs", "/api/openapi.json", "/api/auth/setup", "/nothing", "/api/v1/hosts"];
  const refused = await inTurns(
    foreign.flatMap((headers) => paths.map((path) => ({ path, headers }))),
    (request) => stage.ask(request),
  );
  const answers = await inTurns(
    named.flatMap((headers) => paths.map((path) => ({ path, headers }))),
    (request) => stage.ask(request),
  );
  const next = sources();
  const throttled: number[] = [];
  for (let n = 0; n < 6; n += 1)
    throttled.push(
      (
        await stage.signIn("nobody@acme.example", "wrong phrase", "127.240.0.1", [
          ["X-Forwarded-For", next()],
          ["X-Real-IP", next()],
        ])
      ).status,
    );
  const absolute = await stage.ask({ path: "http://evil.example/api/v1/hosts", headers: [people.key] });
  return {
    claim:
      "a foreign Host appears in no answer, path and address headers are not trusted, and throttling is not evaded with X-Forwarded-For",
    held:
      [...refused, ...answers].every((answer) => !answer.whole.includes("evil.example")) &&
      refused.every(({ status }) => status === 421) &&
      answers.every((answer, at) => (at % paths.length === 5 ? answer.status === 401 : answer.status < 500)) &&
      throttled.at(-1) === 429 &&
      absolute.status < 500 &&
      headerOf(absolute, "location") === null,
    figure: `${refused.length + answers.length} answers name no other host; six failures with another X-Forwarded-For each: ${throttled.join(", ")}`,
  };
}

/** A few at a time: floods are a separate chapter. */
async function inTurns<T, R>(items: readonly T[], action: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 16)
    results.push(...(await Promise.all(items.slice(at, at + 16).map(action))));
  return results;
}
