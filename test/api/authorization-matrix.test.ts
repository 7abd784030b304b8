// Every registered operation, called by every type of caller, now and at other timestamps: the status matches the
// contract (handbook: security, "Roles"), a refused request writes nothing, and no answer contains data hidden from its
// caller.

import { afterAll, describe, expect, test } from "bun:test";
import type { RegisteredRoute } from "../../src/http/surface.ts";
import { PASSWORD } from "../support/appliance/appliance.ts";
import type { Answer } from "../support/appliance/client.ts";
import { refusal } from "../support/appliance/factories.ts";
import type { Case, Sent } from "../support/authorization/asking.ts";
import { casesOf } from "../support/authorization/cases.ts";
import { expectedCode, gateCode, RIGHTS, type Right, STATUSES } from "../support/authorization/contract.ts";
import { leaksIn } from "../support/authorization/leaks.ts";
import { type Substitution, substitutions } from "../support/authorization/substitution.ts";
import { type Caller, newAuthorizationWorld, SECRET_WORD } from "../support/authorization/world.ts";

const world = await newAuthorizationWorld();
const { appliance, oracle, callers } = world;
afterAll(() => appliance.close());

const nameOf = ({ method, path }: RegisteredRoute) => `${method} ${path}`;

/** Sends a case and checks its outcome. */
async function outcome(caller: Caller, route: RegisteredRoute, right: Right, asked: Case): Promise<string[]> {
  const code = expectedCode(caller, route.method, right, asked);
  const isLetIn = gateCode(caller, route.method, right) === null;
  const sent: Sent = {
    path: asked.path,
    body: asked.body,
    headers: asked.headers ?? {},
    ...(isLetIn ? await asked.fresh?.() : {}),
  };
  // Seconds apart: otherwise throttles and timestamp names would affect the results.
  appliance.clock.advance(1_000);
  const before = oracle.head;
  const answer = await caller.client.send(route.method, sent.path ?? asked.path, sent.body, { ...sent.headers });
  const title = `${caller.name}: ${asked.title} (${sent.path})`;
  const problems = leaksIn(
    world,
    asked.eyes === undefined || code !== null ? caller : { ...asked.eyes, refusal: null },
    sent,
    answer,
  ).map((leak) => `${title} leaks ${leak}`);
  const status = code === null ? 200 : STATUSES[code];
  if (answer.status !== status || (code !== null && answer.body?.code !== code))
    problems.push(
      `${title} answered ${answer.status} ${answer.body?.code ?? ""}, not ${status} ${code ?? ""}: ${answer.text.slice(0, 300)}`,
    );
  if (answer.status >= 400 && oracle.head !== before) problems.push(`${title} was refused and wrote all the same`);
  if (answer.status === 401 && answer.headers.get("www-authenticate") !== "Bearer")
    problems.push(`${title} answered 401 without WWW-Authenticate`);
  problems.push(...(await looked(title, asked, answer)));
  return problems;
}

async function looked(title: string, asked: Case, answer: Answer): Promise<string[]> {
  try {
    if (answer.status === 200) await asked.check?.(answer);
    await asked.afterwards?.(answer);
    return [];
  } catch (error) {
    return [`${title}: ${error instanceof Error ? error.message : String(error)}`];
  }
}

describe("the authorization contract", () => {
  test("covers every registered operation, and agrees with its documentation", () => {
    const told = Object.fromEntries(appliance.surface.routes.map((route) => [nameOf(route), route.operation.access]));
    const expected = Object.entries(RIGHTS).map(([name, { role, sessionOnly, ofWholeAppliance }]) => [
      name,
      role === "anyone"
        ? "anyone"
        : {
            role,
            ...(sessionOnly === true ? { sessionOnly } : {}),
            ...(ofWholeAppliance === true ? { ofWholeAppliance } : {}),
          },
    ]);
    expect(told).toEqual(Object.fromEntries(expected));
  });
});

describe("the event stream of changes", () => {
  test("delivers to each caller the same versions as the paged feed", async () => {
    for (const caller of callers.filter((each) => each.refusal === null)) {
      const { data, body } = await caller.client.get("changes?limit=1000");
      const { text, headers } = await eventsUpTo(
        caller,
        data.at(-1)?.transaction.sequence ?? 0,
        body.meta.feed.has_more,
      );
      expect(leaksIn(world, caller, {}, { status: 200, headers, text, body: null, data: undefined })).toEqual([]);
      const told = [...text.matchAll(/^data: (.*)$/gm)].map((match) => JSON.parse(match[1] ?? ""));
      expect(told).toEqual(data);
    }
  });

  test("refuses the callers that the paged feed refuses", async () => {
    for (const { client, refusal } of callers.filter((each) => each.refusal !== null)) {
      const answer = await client.get("changes", { accept: "text/event-stream" });
      expect([answer.status, answer.body.code]).toEqual([401, refusal]);
    }
  });
});

/** Reads first: later writes make them longer. */
const routes = [...appliance.surface.routes].sort((a, b) => Number(a.method !== "GET") - Number(b.method !== "GET"));

describe.each(routes.map((route) => [nameOf(route), route] as const))("%s", (name, route) => {
  test("answers each caller as the contract says, and leaks nothing out of reach", async () => {
    const right = RIGHTS[name] as Right;
    expect(right).toBeDefined();
    const problems: string[] = [];
    for (const caller of callers) {
      const cases = casesOf(world, caller, route);
      // A caller refused at the gate is refused for any request.
      const asked = gateCode(caller, route.method, right) === null ? cases : cases.slice(0, 3);
      for (const each of asked) problems.push(...(await outcome(caller, route, right, each)));
    }
    expect(problems).toEqual([]);
  });
});

test("each caller is offered exactly the operations that admit them", async () => {
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

/** Callers without access to some records, in ascending order of rights. */
const CONFINED = [
  "Viewer of near",
  "Member of near",
  "a key for near with the role Admin",
  "a key for near with the role Owner",
  "Owner of another organization",
];

describe("HEAD", () => {
  test("requires the same rights as GET, and reveals no more", async () => {
    const problems: string[] = [];
    for (const route of routes.filter(({ method }) => method === "GET")) {
      const right = RIGHTS[nameOf(route)] as Right;
      for (const caller of callers.filter(({ name }) => ["nobody", ...CONFINED].includes(name))) {
        const cases = casesOf(world, caller, route);
        for (const asked of [cases[0], cases.find(({ code }) => code !== null)].filter((each) => each !== undefined)) {
          const code = expectedCode(caller, "GET", right, asked);
          const answer = await caller.client.send("HEAD", asked.path, undefined, { ...asked.headers });
          const status = code === null ? 200 : STATUSES[code];
          // The body, which the socket omits, must be as harmless.
          if (answer.status !== status)
            problems.push(`${caller.name}: HEAD ${asked.path} answered ${answer.status} ${answer.text}, not ${status}`);
          problems.push(...leaksIn(world, caller, asked, answer));
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
  test("answers like an unused id, and writes nothing", async () => {
    const right = RIGHTS[name] as Right;
    const problems: string[] = [];
    for (const caller of callers.filter((each) => CONFINED.includes(each.name))) {
      for (const asked of casesOf(world, caller, route)) {
        if (
          expectedCode(caller, route.method, right, asked) !== null ||
          asked.path.includes(world.early) ||
          asked.path.includes(world.late)
        )
          continue;
        const sent = {
          path: asked.path,
          body: asked.body,
          headers: { ...asked.headers, "x-request-id": "same" },
          ...(await asked.fresh?.()),
        };
        for (const group of substitutions(world, caller, sent))
          problems.push(...(await differences(caller, route, asked, group)));
      }
    }
    expect(problems).toEqual([]);
  });
});

/** Differences between the ids of a group, and leaks; the first id is unused. */
async function differences(
  caller: Caller,
  route: RegisteredRoute,
  asked: Case,
  group: readonly Substitution[],
): Promise<string[]> {
  const problems: string[] = [];
  const answers: string[] = [];
  const isNewId = NEW_IDS[nameOf(route)]?.test(group[0]?.place ?? "") === true;
  for (const { place, id, whose, sent } of isNewId ? group.slice(1) : group) {
    const before = oracle.head;
    const answer = await caller.client.send(route.method, sent.path, sent.body, { ...sent.headers });
    const title = `${caller.name}: ${asked.title}, with ${whose} id in ${place}`;
    answers.push(JSON.stringify([answer.status, [...answer.headers].sort(), answer.text.replaceAll(id, "<id>")]));
    if (answers.at(-1) !== answers[0])
      problems.push(`${title}: ${answers.at(-1)?.slice(0, 400)} and not ${answers[0]?.slice(0, 400)}`);
    if (isNewId && answer.body.code !== "entity_already_exists") problems.push(`${title} answered ${answer.text}`);
    if (oracle.head !== before) problems.push(`${title} wrote`);
    problems.push(...leaksIn(world, caller, sent, answer).map((leak) => `${title} leaks ${leak}`));
  }
  return problems;
}

describe("a create", () => {
  test("with a used id says only that it is used, wherever it was", async () => {
    const { near, far, foreign } = world.places;
    const member = callers.find(({ name }) => name === "Member of near") as Caller;
    const answers = [];
    for (const id of [far.records.hosts?.id, far.goneHostId, foreign.records.tags?.id, near.goneHostId]) {
      const sent = { path: "/api/v1/hosts", body: { id, network_id: near.networkId, name: "zznear again" } };
      const answer = await member.client.post(sent.path, sent.body, { "x-request-id": "same" });
      expect(leaksIn(world, member, sent, answer)).toEqual([]);
      answers.push(answer.text.replaceAll(id, "<id>"));
      expect(answer).toMatchObject(refusal(409, "entity_already_exists", { entity: "host", field: "id", value: id }));
    }
    expect(new Set(answers).size).toBe(1);
  });
});

describe("secrets", () => {
  test("appear in no log line", () => {
    const secrets = [SECRET_WORD, PASSWORD, ...world.secrets];
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
