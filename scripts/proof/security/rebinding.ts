// DNS rebinding: a page whose name resolves to the appliance has the same origin in the browser, and could sign in to a
// demo with its public password and read the data.

import { DEMO_EMAIL } from "../../../src/demo/cast.ts";
import { DEMO_PASSWORD } from "../../../src/demo/demo.ts";
import { Workplace } from "../../../test/support/executable/executable.ts";
import { LONG_HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, Proving } from "../part.ts";
import { askRaw, memberOf, type RawAnswer, type RawRequest, sessionOf } from "./raw-client.ts";

/** The page's own name in Host, and variants to disguise it. */
const NAMES: ReadonlyArray<Headers> = [
  [["Host", "evil.example"]],
  [["Host", "EVIL.example.:PORT"]],
  [["Host", "localhost.evil.example:PORT"]],
  [["Host", "127.0.0.1.evil.example"]],
  [["Host", "7f000001.evil.example:PORT"]],
  [
    ["Host", "evil.example:PORT"],
    ["X-Forwarded-Host", "localhost"],
    ["X-Forwarded-For", "127.0.0.1"],
    ["Forwarded", "host=localhost"],
  ],
];
const OWN: ReadonlyArray<Headers> = [
  [["Host", "127.0.0.1:PORT"]],
  [["Host", "[::1]:PORT"]],
  [["Host", "LocalHost.:PORT"]],
  [["Host", "demo.localhost"]],
];
/** In addition to the operations. */
const PAGES = [
  "/",
  "/hosts",
  "/docs",
  "/docs/scalar.js",
  "/handbook",
  "/openapi.json",
  "/nothing",
  "//x",
  "/api/v2/hosts",
];

type Headers = ReadonlyArray<readonly [string, string]>;

export async function proveRebinding(proving: Proving): Promise<Finding[]> {
  const place = new Workplace(proving.directory);
  try {
    const command = [proving.executable];
    const demo = await place.serve(["--demo"], { command, greetedWithinMs: LONG_HANG_MS });
    const port = Number(new URL(demo.url).port);
    const ask = (request: RawRequest, headers: Headers) => {
      const named = headers.map(([name, value]) => [name, value.replace("PORT", String(port))] as const);
      return askRaw(port, { ...request, headers: [...named, ...(request.headers ?? [])] });
    };
    const signIn: RawRequest = {
      method: "POST",
      path: "/api/auth/login",
      headers: [["Content-Type", "application/json"]],
      body: JSON.stringify({ email: DEMO_EMAIL, password: DEMO_PASSWORD }),
    };
    const own = await Promise.all(OWN.map((headers) => ask(signIn, headers)));
    const cookie = ["Cookie", `session_id=${sessionOf(own[0] as RawAnswer)}`] as const;
    const document = JSON.parse((await ask({ path: "/api/openapi.json" }, OWN[0] as Headers)).text);
    const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x") })),
    );
    const asked = [...operations, ...PAGES.map((path) => ({ method: "GET", path }))];
    const wrong: string[] = [];
    for (const headers of NAMES) {
      const answers = [await ask(signIn, headers)];
      for (const { method, path } of asked)
        answers.push(await ask({ method, path, headers: [cookie, ["Accept", "text/html"]] }, headers));
      for (const answer of answers)
        if (!isRefused(answer)) wrong.push(`${headers[0]?.[1]}: ${answer.status} ${answer.text.slice(0, 100)}`);
    }
    return [
      {
        claim:
          "a page whose name was rebound to a demo cannot sign in or read anything: any path under a foreign host name is 421, whatever proxies are claimed",
        held: wrong.length === 0 && own.every(({ status }) => status === 200),
        figure: `${NAMES.length} names at ${asked.length} paths, ${wrong.length} not refused${wrong.length === 0 ? "" : ` (${wrong.slice(0, 3).join(" | ")})`}; under ${OWN.length} names of its own: ${own.map(({ status }) => status).join(", ")}`,
      },
    ];
  } finally {
    await place.close();
  }
}

function isRefused(answer: RawAnswer): boolean {
  return (
    answer.status === 421 &&
    memberOf(answer, "code") === "host_not_allowed" &&
    sessionOf(answer) === null &&
    !/evil/i.test(answer.whole)
  );
}
