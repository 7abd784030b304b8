// Every registered operation, called by every type of caller, now and at other timestamps: the status matches the
// contract (handbook: security, "Roles"), a rejected request writes nothing, and no response contains data hidden from
// its caller.

import { afterAll, describe, expect, test } from "bun:test";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import type { ApiResponse } from "../support/appliance/client.ts";
import { refusal } from "../support/appliance/factories.ts";
import type { Case, SentRequest } from "../support/authorization/call-context.ts";
import { casesOf } from "../support/authorization/cases.ts";
import { expectedCode, gateCode, RIGHTS, type Right, STATUSES } from "../support/authorization/contract.ts";
import { type Caller, newAuthorizationFixture, SECRET_WORD } from "../support/authorization/fixture.ts";
import { leaksIn } from "../support/authorization/leaks.ts";
import { type Substitution, substitutions } from "../support/authorization/substitution.ts";

const fixture = await newAuthorizationFixture();
const { appliance, oracle, callers } = fixture;
afterAll(() => appliance.close());

const nameOf = ({ method, path }: RegisteredRoute) => `${method} ${path}`;

/** Sends a case and checks its outcome. */
async function outcome(caller: Caller, route: RegisteredRoute, right: Right, requested: Case): Promise<string[]> {
  const code = expectedCode(caller, route.method, right, requested);
  const isAdmitted = gateCode(caller, route.method, right) === null;
  const sent: SentRequest = {
    path: requested.path,
    body: requested.body,
    headers: requested.headers ?? {},
    ...(isAdmitted ? await requested.prepare?.() : {}),
  };
  // Seconds apart: otherwise throttles and timestamp names would affect the results.
  appliance.clock.advance(1_000);
  const before = oracle.head;
  const response = await caller.client.send(route.method, sent.path ?? requested.path, sent.body, { ...sent.headers });
  const title = `${caller.name}: ${requested.title} (${sent.path})`;
  const problems = leaksIn(
    fixture,
    requested.viewer === undefined || code !== null ? caller : { ...requested.viewer, refusal: null },
    sent,
    response,
  ).map((leak) => `${title} leaks ${leak}`);
  const status = code === null ? 200 : STATUSES[code];
  if (response.status !== status || (code !== null && response.body?.code !== code))
    problems.push(
      `${title} returned ${response.status} ${response.body?.code ?? ""}, not ${status} ${code ?? ""}: ${response.text.slice(0, 300)}`,
    );
  if (response.status >= 400 && oracle.head !== before) problems.push(`${title} was refused but wrote`);
  if (response.status === 401 && response.headers.get("www-authenticate") !== "Bearer")
    problems.push(`${title} returned 401 without WWW-Authenticate`);
  problems.push(...(await runChecks(title, requested, response)));
  return problems;
}

async function runChecks(title: string, requested: Case, response: ApiResponse): Promise<string[]> {
  try {
    if (response.status === 200) await requested.check?.(response);
    await requested.afterwards?.(response);
    return [];
  } catch (error) {
    return [`${title}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

describe("the authorization contract", () => {
  test("covers every registered operation, and agrees with its documentation", () => {
    const actual = Object.fromEntries(appliance.surface.routes.map((route) => [nameOf(route), route.operation.access]));
    const expected = Object.entries(RIGHTS).map(([name, { role, sessionOnly, isApplianceWide: ofWholeAppliance }]) => [
      name,
      role === "anyone"
        ? "anyone"
        : {
            role,
            ...(sessionOnly === true ? { sessionOnly } : {}),
            ...(ofWholeAppliance === true ? { ofWholeAppliance } : {}),
          },
    ]);
    expect(actual).toEqual(Object.fromEntries(expected));
  });
});

describe("the event stream of changes", () => {
  test("delivers to each caller the same versions as the paged feed", async () => {
    for (const caller of callers.filter((caller) => caller.refusal === null)) {
      const { data, body } = await caller.client.get("changes?limit=1000");
      const { text, headers } = await eventsUpTo(
        caller,
        data.at(-1)?.transaction.sequence ?? 0,
        body.meta.feed.has_more,
      );
      expect(leaksIn(fixture, caller, {}, { status: 200, headers, text, body: null, data: undefined })).toEqual([]);
      const actual = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ""));
      expect(actual).toEqual(data);
    }
  });

  test("refuses the callers that the paged feed refuses", async () => {
    for (const { client, refusal } of callers.filter((caller) => caller.refusal !== null)) {
      const response = await client.get("changes", { accept: "text/event-stream" });
      expect([response.status, response.body.code]).toEqual([401, refusal]);
    }
  });
});

/** Reads first: writes would make their lists longer. */
const routes = [...appliance.surface.routes].sort((a, b) => Number(a.method !== "GET") - Number(b.method !== "GET"));

describe.each(routes.map((route) => [nameOf(route), route] as const))("%s", (name, route) => {
  test("responds to each caller according to the contract, and leaks nothing out of reach", async () => {
    const right = RIGHTS[name] as Right;
    expect(right).toBeDefined();
    const problems: string[] = [];
    for (const caller of callers) {
      const cases = casesOf(fixture, caller, route);
      // A caller refused at the gate is refused for any request.
      const requested = gateCode(caller, route.method, right) === null ? cases : cases.slice(0, 3);
      for (const sample of requested) problems.push(...(await outcome(caller, route, right, sample)));
    }
    expect(problems).toEqual([]);
  });
});

test("each caller is offered exactly the operations they may use", async () => {
  for (const caller of callers.filter(({ refusal, isForeignPage }) => refusal === null && !isForeignPage)) {
    const permitted = routes
      .filter((route) => gateCode(caller, route.method, RIGHTS[nameOf(route)] as Right) === null)
      .map(({ operation }) => operation.operationId);
    expect([caller.name, (await caller.client.get("/api/auth/me")).data.permitted_operations]).toEqual([
      caller.name,
      permitted.sort(),
    ]);
  }
});

/** Callers without access to some records, in ascending order of permissions. */
const CONFINED = [
  "Viewer of near",
  "Member of near",
  "a key for near with the role Admin",
  "a key for near with the role Owner",
  "Owner of another organization",
];

describe("HEAD", () => {
  test("requires the same permissions as GET, and reveals no more", async () => {
    const problems: string[] = [];
    for (const route of routes.filter(({ method }) => method === "GET")) {
      const right = RIGHTS[nameOf(route)] as Right;
      for (const caller of callers.filter(({ name }) => ["nobody", ...CONFINED].includes(name))) {
        const cases = casesOf(fixture, caller, route);
        for (const requested of [cases[0], cases.find(({ code }) => code !== null)].filter(
          (requested) => requested !== undefined,
        )) {
          const code = expectedCode(caller, "GET", right, requested);
          const response = await caller.client.send("HEAD", requested.path, undefined, { ...requested.headers });
          const status = code === null ? 200 : STATUSES[code];
          // The body, which the socket omits, must be as harmless.
          if (response.status !== status)
            problems.push(
              `${caller.name}: HEAD ${requested.path} returned ${response.status} ${response.text}, not ${status}`,
            );
          problems.push(...leaksIn(fixture, caller, requested, response));
        }
      }
    }
    expect(problems).toEqual([]);
  });
});

/**
 * "A create may bring its own `id`; one that was ever used … is refused with 409": the only place where an id reveals
 * its use.
 */
const NEW_IDS: Readonly<Record<string, RegExp>> = { "POST /api/v1/hosts/bulk": /^body \/\d+\/id$/ };

describe.each(routes.map((route) => [nameOf(route), route] as const))("%s with an id out of reach", (name, route) => {
  test("gets the same response as an unused id, and writes nothing", async () => {
    const right = RIGHTS[name] as Right;
    const problems: string[] = [];
    for (const caller of callers.filter((caller) => CONFINED.includes(caller.name))) {
      for (const requested of casesOf(fixture, caller, route)) {
        if (
          expectedCode(caller, route.method, right, requested) !== null ||
          requested.path.includes(fixture.early) ||
          requested.path.includes(fixture.late)
        )
          continue;
        const sent = {
          path: requested.path,
          body: requested.body,
          headers: { ...requested.headers, "x-request-id": "same" },
          ...(await requested.prepare?.()),
        };
        for (const group of substitutions(fixture, caller, sent))
          problems.push(...(await differences(caller, route, requested, group)));
      }
    }
    expect(problems).toEqual([]);
  });
});

/** Differences between the responses to a group of ids, and leaks; the first id is unused. */
async function differences(
  caller: Caller,
  route: RegisteredRoute,
  requested: Case,
  group: readonly Substitution[],
): Promise<string[]> {
  const problems: string[] = [];
  const responses: string[] = [];
  const isNewId = NEW_IDS[nameOf(route)]?.test(group[0]?.location ?? "") === true;
  for (const { location, id, origin, request: sent } of isNewId ? group.slice(1) : group) {
    const before = oracle.head;
    const response = await caller.client.send(route.method, sent.path, sent.body, { ...sent.headers });
    const title = `${caller.name}: ${requested.title}, with ${origin} id in ${location}`;
    responses.push(
      JSON.stringify([response.status, [...response.headers].sort(), response.text.replaceAll(id, "<id>")]),
    );
    if (responses.at(-1) !== responses[0])
      problems.push(`${title}: ${responses.at(-1)?.slice(0, 400)} and not ${responses[0]?.slice(0, 400)}`);
    if (isNewId && response.body.code !== "entity_already_exists") problems.push(`${title} returned ${response.text}`);
    if (oracle.head !== before) problems.push(`${title} wrote`);
    problems.push(...leaksIn(fixture, caller, sent, response).map((leak) => `${title} leaks ${leak}`));
  }
  return problems;
}

describe("a creation", () => {
  test("with a used id reveals only that it is used, not where", async () => {
    const { near, far, foreign } = fixture.sites;
    const member = callers.find(({ name }) => name === "Member of near") as Caller;
    const responses = [];
    for (const id of [far.records.hosts?.id, far.deletedHostId, foreign.records.tags?.id, near.deletedHostId]) {
      const sent = { path: "/api/v1/hosts", body: { id, network_id: near.networkId, name: "zznear again" } };
      const response = await member.client.post(sent.path, sent.body, { "x-request-id": "same" });
      expect(leaksIn(fixture, member, sent, response)).toEqual([]);
      responses.push(response.text.replaceAll(id, "<id>"));
      expect(response).toMatchObject(refusal(409, "entity_already_exists", { entity: "host", field: "id", value: id }));
    }
    expect(new Set(responses).size).toBe(1);
  });
});

describe("secrets", () => {
  test("appear in no log line", () => {
    const secrets = [SECRET_WORD, PASSWORD, ...fixture.secrets];
    expect(appliance.logLines.length).toBeGreaterThan(1_000);
    expect(appliance.logLines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });
});

/** Output of the event stream up to a transaction; only its beginning for a caller who receives none. */
async function eventsUpTo(
  caller: Caller,
  sequence: number,
  hasMore: boolean,
): Promise<{ text: string; headers: Headers }> {
  expect(hasMore).toBe(false);
  const { headers } = caller.client as unknown as { headers: Record<string, string> };
  const controller = new AbortController();
  const response = await appliance.handle(
    new Request("http://localhost/api/v1/changes?limit=1000", {
      headers: { ...headers, accept: "text/event-stream" },
      signal: controller.signal,
    }),
  );
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(sequence === 0 ? "retry: " : `\nid: ${sequence}-`))
    text += decoder.decode((await reader.read()).value, { stream: true });
  controller.abort();
  await reader.cancel();
  return { text, headers: response.headers };
}
