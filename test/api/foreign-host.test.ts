// Requests for an unknown host name, which are rejected on every path before any other processing, so that a site that
// rebinds its name to the appliance (DNS rebinding) gets nothing.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Console } from "../../src/http/console-pages.ts";
import { newAppliance, PASSWORD, type TestAppliance } from "../support/appliance/appliance.ts";

const PAGE = new Blob(["page"]);
const CONSOLE: Console = {
  pages: ["/", "/hosts"],
  file: async (name) => ({ name, type: "text/html", tag: '"1"', plain: PAGE, brotli: PAGE, gzip: PAGE }),
};

let appliance: TestAppliance;
beforeAll(async () => {
  appliance = await newAppliance({ hosts: { isLoopback: true, names: ["netledger.lan"] }, console: CONSOLE });
});
afterAll(() => appliance.close());

const OTHER_PATHS = [
  ..."/ /hosts /console/none /docs /docs/ /docs/scalar.js /openapi.json /api/openapi.json".split(" "),
  ..."/handbook /handbook/time /api /api/v1/nothing /nothing //evil.example/".split(" "),
];

test("every operation, page, file and unknown path is 421 for a foreign host name by any method", async () => {
  const operations = appliance.surface.routes.map(
    ({ method, path }) => [method, path.replaceAll(/:\w+/g, "x")] as const,
  );
  expect(operations.length).toBeGreaterThan(200);
  const requests = [
    ...operations,
    ...operations.flatMap(([method, path]) => (method === "GET" ? [["HEAD", path] as const] : [])),
    ...OTHER_PATHS.flatMap((path) =>
      ["GET", "HEAD", "POST", "OPTIONS", "PATCH"].map((method) => [method, path] as const),
    ),
  ];
  const accepted: string[] = [];
  for (const [method, path] of requests) {
    const headers = { host: "evil.example", accept: "text/html" };
    const response = await appliance.handle(new Request(`http://localhost${path}`, { method, headers }));
    const text = await response.text();
    const isRefused = method === "HEAD" || text.startsWith('{"success":false,"code":"host_not_allowed"');
    if (response.status !== 421 || !isRefused || text.includes("evil"))
      accepted.push(`${method} ${path}: ${response.status} ${text.slice(0, 80)}`);
  }
  expect(accepted).toEqual([]);
});

test("credentials and forwarded host headers make no difference", async () => {
  for (const headers of [
    { host: "evil.example", "x-forwarded-host": "localhost" },
    { host: "evil.example", forwarded: "host=localhost" },
    { host: "evil.example", origin: "http://localhost" },
  ])
    expect((await appliance.owner.get("hosts", headers)).status).toBe(421);
  for (const headers of [
    { host: "localhost", "x-forwarded-host": "evil.example" },
    { host: "netledger.lan:8080", "x-forwarded-host": "evil.example" },
    { host: "10.0.0.5" },
  ])
    expect((await appliance.owner.get("hosts", headers)).status).toBe(200);
});

test("a refused sign-in opens no session", async () => {
  const body = { email: "owner@first.example", password: PASSWORD };
  const response = await appliance.anonymous.post("/api/auth/login", body, { host: "evil.example" });
  expect([response.status, response.headers.get("set-cookie")]).toEqual([421, null]);
});
