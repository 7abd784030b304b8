// DNS rebinding: a page whose name resolves to the appliance has the same origin in the browser, and could sign in to a
// demo with its public password and read the data.

import { DEMO_PASSWORD } from "../../../src/demo/demo.ts";
import { DEMO_EMAIL } from "../../../src/demo/people.ts";
import { Sandbox } from "../../../test/support/executable/executable.ts";
import { LONG_HANG_MS } from "../../../test/support/measure/limits.ts";
import type { Finding, ProofContext } from "../part.ts";
import { texts } from "../string-list.ts";
import { type Header, jsonField, type RawRequest, type RawResponse, sendRaw, sessionOf } from "./raw-client.ts";

/** Host headers with the name of another site, including in disguise. */
const FOREIGN_HOSTS: ReadonlyArray<Headers> = [
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
const OWN_HOSTS: ReadonlyArray<Headers> = [
  [["Host", "127.0.0.1:PORT"]],
  [["Host", "[::1]:PORT"]],
  [["Host", "LocalHost.:PORT"]],
  [["Host", "demo.localhost"]],
];
/** Paths tested in addition to the operations. */
const PAGES = texts(`/ ¦ /hosts ¦ /docs ¦ /docs/scalar.js ¦ /handbook ¦ /openapi.json ¦ /nothing ¦ //x ¦
  /api/v2/hosts`);

type Headers = readonly Header[];

export async function proveRebinding(context: ProofContext): Promise<Finding[]> {
  const sandbox = new Sandbox(context.directory);
  try {
    const command = [context.executable];
    const demo = await sandbox.serve(["--demo"], { command, startDeadlineMs: LONG_HANG_MS });
    const port = Number(new URL(demo.url).port);
    const send = (request: RawRequest, headers: Headers) => {
      const hostHeaders = headers.map(([name, value]) => [name, value.replace("PORT", String(port))] as const);
      return sendRaw(port, { ...request, headers: [...hostHeaders, ...(request.headers ?? [])] });
    };
    const signIn: RawRequest = {
      method: "POST",
      path: "/api/auth/login",
      headers: [["Content-Type", "application/json"]],
      body: JSON.stringify({ email: DEMO_EMAIL, password: DEMO_PASSWORD }),
    };
    const ownResponses = await Promise.all(OWN_HOSTS.map((headers) => send(signIn, headers)));
    const cookie = ["Cookie", `session_id=${sessionOf(ownResponses[0] as RawResponse)}`] as const;
    const document = JSON.parse((await send({ path: "/api/openapi.json" }, OWN_HOSTS[0] as Headers)).text);
    const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x") })),
    );
    const requests = [...operations, ...PAGES.map((path) => ({ method: "GET", path }))];
    const wrong: string[] = [];
    for (const headers of FOREIGN_HOSTS) {
      const responses = [await send(signIn, headers)];
      for (const { method, path } of requests)
        responses.push(await send({ method, path, headers: [cookie, ["Accept", "text/html"]] }, headers));
      for (const response of responses)
        if (!isRefused(response)) wrong.push(`${headers[0]?.[1]}: ${response.status} ${response.text.slice(0, 100)}`);
    }
    return [
      {
        claim:
          "a page whose name was rebound to a demo cannot sign in or read anything: any path under a foreign host name returns 421, regardless of claimed proxies",
        held: wrong.length === 0 && ownResponses.every(({ status }) => status === 200),
        figure: `${FOREIGN_HOSTS.length} names at ${requests.length} paths, ${wrong.length} not refused${wrong.length === 0 ? "" : ` (${wrong.slice(0, 3).join(" | ")})`}; under ${OWN_HOSTS.length} names of the demo itself: ${ownResponses.map(({ status }) => status).join(", ")}`,
      },
    ];
  } finally {
    await sandbox.close();
  }
}

function isRefused(response: RawResponse): boolean {
  return (
    response.status === 421 &&
    jsonField(response, "code") === "host_not_allowed" &&
    sessionOf(response) === null &&
    !/evil/i.test(response.raw)
  );
}
