// Input part of the proof: bad input and its effects. Sends requests generated from the appliance's OpenAPI document,
// hand-written requests, and abusive connections.

import { randomUUID } from "node:crypto";
import { OpenApiDocument } from "../../test/support/contract/openapi.ts";
import { PASSWORD } from "../../test/support/executable/executable.ts";
import { median } from "../quantiles.ts";
import { connectionFindings, until } from "./input/connections.ts";
import { type Footprint, InputFixture, MARKS, ok } from "./input/fixture.ts";
import { SECRET_MARK } from "./input/generate.ts";
import { hostileFindings } from "./input/hostile.ts";
import { runAll, type Tally } from "./input/property.ts";
import { type Effects, faults, NO_EFFECTS, type Sent } from "./input/response-checks.ts";
import type { WireResponse } from "./input/wire.ts";
import type { Finding, Part, Table } from "./part.ts";

/** Requests per operation and round. */
const RUNS_EACH = 12;
const FORMS = {
  short: { requests: 2_000, memoryMib: 96 },
  long: { requests: 100_000, memoryMib: 192 },
} as const;
/** Allowed increase of descriptors, for a started thread or a connection of the scanner. */
const DESCRIPTOR_ALLOWANCE = 8;
const THREAD_ALLOWANCE = 8;
/** Allowed increase of memory without new work. */
const QUARTER_GROWTH_MIB = 24;
/** Setup succeeds only once per appliance, and the tested one is already set up. */
const NEVER_SUCCEEDS: ReadonlySet<string> = new Set(["setUp"]);
/** Description of operations that are refused with two organizations. */
const WHOLE_APPLIANCE_TEXT = "Only while the appliance has one organization.";

export const input: Part = {
  name: "input",
  title: "Bad input",
  prove: async (context) => {
    const { form, executable, seed, say } = context;
    const { requests, memoryMib } = FORMS[form];
    const fixture = await InputFixture.open(executable, context.directory);
    try {
      const document = new OpenApiDocument(
        (await (await fetch(`${fixture.appliance.url}/api/openapi.json`)).json()) as Record<string, unknown>,
      );
      const findings: Finding[] = [checkerFinding(document)];
      say("hand-written requests");
      findings.push(...(await hostileFindings(fixture, document, form)));
      const connectionResults = await connectionFindings(fixture, context);
      findings.push(...connectionResults.findings);
      // Initializes everything that starts on first use.
      await runAll(fixture, document, { rounds: 1, runsEach: 1, seed: seed + 1_000_000, say: () => {} });
      const before = await settledFootprint(fixture, null);
      say("generated requests");
      const rounds = Math.ceil(requests / (document.operations.length * RUNS_EACH));
      const tally = await runAll(fixture, document, { rounds, runsEach: RUNS_EACH, seed, say });
      fixture.connection.close();
      const after = await settledFootprint(fixture, {
        ...before,
        memoryKib: before.memoryKib + memoryMib * 1_024,
        descriptors: before.descriptors + DESCRIPTOR_ALLOWANCE,
        threads: before.threads + THREAD_ALLOWANCE,
      });
      if (form === "long") findings.push(memoryFinding(tally));
      const single = await InputFixture.open(executable, context.directory, "one");
      try {
        say("requests for the entire appliance");
        const operations = document.operations.filter(({ operation }) =>
          (operation.description as string).includes(WHOLE_APPLIANCE_TEXT),
        );
        await runAll(single, document, { operations, rounds, runsEach: RUNS_EACH, seed, say, tally });
        findings.push(
          ...requestFindings(tally, document, requests),
          ...footprintFindings(before, after, memoryMib),
          ...(await shutdownFindings([fixture, single], executable)),
        );
        return { findings, tables: [statusTable(tally)], skipped: connectionResults.skipped };
      } finally {
        await single.close();
      }
    } finally {
      await fixture.close();
    }
  },
};

function requestFindings(tally: Tally, document: OpenApiDocument, target: number): Finding[] {
  const { requests, failures, statuses, refusals } = tally;
  const worst = failures
    .map(({ operation, faults, curl }) => `${operation}: ${faults.join("; ").slice(0, 400)}: ${curl.slice(0, 800)}`)
    .join(" | ");
  const names = document.operations.map(({ operation }) => operation.operationId as string);
  const has = (name: string, holds: (status: number) => boolean) => [...(statuses.get(name)?.keys() ?? [])].some(holds);
  const isDone = (name: string) => has(name, (status) => status < 300);
  const done = names.filter(isDone).length / names.length;
  const refused = names.filter((name) => has(name, (status) => status >= 400)).length / names.length;
  const notDone = names
    .filter((name) => !NEVER_SUCCEEDS.has(name) && !isDone(name))
    .map((name) => {
      const reported = [...(refusals.get(name) ?? [])].sort(([, a], [, b]) => b - a).slice(0, 3);
      return `${name} (${reported.map(([refusal, count]) => `${count} × ${refusal}`).join("; ")})`;
    });
  // With few drafts per operation, chance may prevent some operations from ever succeeding.
  const isReached = target > 10_000 ? notDone.length === 0 : done > 0.6;
  return [
    {
      claim:
        "No request gets a 5xx, an undocumented response, a secret or another organization's data, and no refused request changes anything",
      held: failures.length === 0 && requests >= target,
      figure:
        failures.length === 0
          ? `${requests} requests to ${statuses.size} operations`
          : `${requests} requests, ${failures.length} operations failed; the smallest failing requests: ${worst}`.slice(
              0,
              6_000,
            ),
    },
    {
      claim: "The requests reach their operations: some succeed, some are refused, and not only for credentials",
      held: isReached && refused > 0.95,
      figure: `${Math.round(done * 100)} % of the operations succeeded, ${Math.round(refused * 100)} % refused${target > 10_000 && notDone.length > 0 ? `; never succeeded: ${notDone.join(", ")}` : ""}`,
    },
  ];
}

/** Compares the last two quarters: lazy initialization and caches are complete, so memory has no reason to grow. */
function memoryFinding({ memoryKib }: Tally): Finding {
  const quarters = [0, 0.25, 0.5, 0.75].map((from) => {
    const quarter = memoryKib.slice(Math.floor(memoryKib.length * from), Math.ceil(memoryKib.length * (from + 0.25)));
    return Math.round(median(quarter) / 1_024);
  });
  const growthMib = (quarters[3] as number) - (quarters[2] as number);
  return {
    claim: `Memory grows by less than ${QUARTER_GROWTH_MIB} MiB from the third quarter of the requests to the last`,
    held: growthMib < QUARTER_GROWTH_MIB,
    figure: `medians of the quarters: ${quarters.join(", ")} MiB anonymous`,
  };
}

function footprintFindings(before: Footprint, after: Footprint, memoryMib: number): Finding[] {
  return [
    {
      claim: `Memory afterwards is within ${memoryMib} MiB of its initial size`,
      held: after.memoryKib <= before.memoryKib + memoryMib * 1_024,
      figure: `${Math.round(before.memoryKib / 1_024)} MiB anonymous before, ${Math.round(after.memoryKib / 1_024)} MiB after`,
    },
    {
      claim: "Descriptors and threads afterwards are as before",
      held:
        after.descriptors <= before.descriptors + DESCRIPTOR_ALLOWANCE &&
        after.threads <= before.threads + THREAD_ALLOWANCE,
      figure: `${before.descriptors} descriptors and ${before.threads} threads before, ${after.descriptors} and ${after.threads} after`,
    },
  ];
}

/** Checks that the original processes still serve, their logs contain no secret, and their data verify. */
async function shutdownFindings(fixtures: readonly InputFixture[], executable: string): Promise<Finding[]> {
  const results = await Array.fromAsync(fixtures, async (fixture) => {
    const { appliance, sandbox } = fixture;
    const isServing = fixture.isAlive() && (await ok(fixture.first.adminClient.get("/api/v1/ledger"))).sequence > 0;
    const { pid } = appliance;
    const { code, signal } = await appliance.stop();
    const verified = await sandbox.run(["verify", "--data", sandbox.data], { command: [executable] });
    return { isServing, pid, code, signal, verified, log: appliance.log };
  });
  const complaints = results.flatMap(({ log }) =>
    log.split("\n").filter((line) => /crashed|request_failed|unhandled_rejection|stream_failed/.test(line)),
  );
  const secrets = [SECRET_MARK, PASSWORD].filter((secret) => results.some(({ log }) => log.includes(secret)));
  return [
    {
      claim: "The original process still serves, and stops cleanly",
      held: results.every(({ isServing, code }) => isServing && code === 0),
      figure: results.map(({ pid, code, signal }) => `process ${pid}, ended with ${code ?? signal}`).join("; "),
    },
    {
      claim: "The data is intact afterwards: verify finds no problems",
      held: results.every(({ verified }) => verified.code === 0),
      figure: results
        .map(({ verified: { code, out, err } }) =>
          code === 0 ? (out.trim().split("\n").at(-1) ?? "") : out.slice(-500) + err.slice(-500),
        )
        .join("; "),
    },
    {
      claim: "The log contains no secret sent, and no internal error",
      held: secrets.length === 0 && complaints.length === 0,
      figure:
        complaints.length > 0
          ? `${complaints.length} complaints: ${complaints.slice(0, 3).join(" ").slice(0, 1_500)}`
          : secrets.length > 0
            ? "the log contains a secret"
            : `${results.reduce((sum, { log }) => sum + log.split("\n").length, 0)} lines`,
    },
  ];
}

/** Measures the footprint once it is within the limit, or after a timeout. */
async function settledFootprint(fixture: InputFixture, allowed: Footprint | null): Promise<Footprint> {
  let lowest = fixture.footprint();
  let quiet = 0;
  await until(() => {
    const now = fixture.footprint();
    if (allowed !== null)
      return (
        now.memoryKib <= allowed.memoryKib && now.descriptors <= allowed.descriptors && now.threads <= allowed.threads
      );
    quiet = now.memoryKib < lowest.memoryKib - 1_024 ? 0 : quiet + 1;
    if (now.memoryKib < lowest.memoryKib) lowest = now;
    return quiet > 40;
  });
  return fixture.footprint();
}

function statusTable({ statuses }: Tally): Table {
  const totals = new Map<number, number>();
  for (const counts of statuses.values())
    for (const [status, count] of counts) totals.set(status, (totals.get(status) ?? 0) + count);
  return {
    title: "Responses to generated requests, by status",
    columns: ["status", "responses"],
    rows: [...totals].sort(([a], [b]) => a - b).map((row) => row.map(String)),
  };
}

/** Checks forged responses with one fault each: a checker that misses one would prove nothing. */
function checkerFinding(document: OpenApiDocument): Finding {
  const id = randomUUID();
  const sent: Sent = { method: "GET", target: "/api/v1/tags?limit=1", org: "first" };
  const meta = {
    api_version: 1,
    server_version: "0",
    pagination: { total_count: 0, limit: 1, offset: 0, has_more: false },
  };
  const response = (status: number, body: unknown, headers: Record<string, string> = {}): WireResponse => ({
    status,
    headers: Object.entries({
      "content-type": "application/json",
      "x-request-id": id,
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-cache",
      ...headers,
    }).filter(([, value]) => value !== ""),
    body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    isLast: false,
  });
  const list = { success: true, data: [] as unknown[], meta };
  const refusal = {
    success: false,
    code: "validation_failed",
    error: "No.",
    params: { issues: [] },
    meta: { api_version: 1, server_version: "0" },
  };
  const transactions = [{ sequence: 1, request_id: id }];
  const missed: string[] = [];
  const reported = (forged: WireResponse, effects: Partial<Effects> = {}, request: Sent = sent) =>
    faults(document, request, forged, { ...NO_EFFECTS, ...effects });
  const posted: Sent = { ...sent, method: "POST", target: "/api/v1/tags" };
  const must = (name: string, found: readonly string[]) => found.length === 0 && missed.push(name);
  for (const [name, good] of [
    ["response", response(200, list)],
    ["refusal", response(400, refusal)],
  ] as const)
    if (reported(good).length > 0) missed.push(`a valid ${name} is reported: ${reported(good).join("; ")}`);
  must("a 500", reported(response(500, { ...refusal, code: "internal_error", params: { request_id: id } })));
  must("a 503", reported(response(503, { ...refusal, code: "shutting_down", params: {} })));
  must("a status outside the document", reported(response(404, { ...refusal, code: "entity_not_found" })));
  must("a code outside the document", reported(response(400, { ...refusal, code: "entity_stale" })));
  must("an extra field", reported(response(200, { ...list, parameters: 1 })));
  must("a missing field", reported(response(200, { success: true, data: [] })));
  must("no envelope", reported(response(400, "No.")));
  must("half a JSON text", reported(response(200, '{"success":')));
  must("no X-Request-Id", reported(response(200, list, { "x-request-id": "" })));
  must("a header injected by the request", reported(response(200, list, { "x-evil": "1" })));
  must("a secret", reported(response(400, { ...refusal, error: `${SECRET_MARK}-1` })));
  must("a password", reported(response(400, { ...refusal, error: `${PASSWORD} is wrong` })));
  must("an exception's text", reported(response(400, { ...refusal, error: "TypeError: x is not a function" })));
  must("another organization's data", reported(response(400, { ...refusal, error: MARKS.second })));
  must("a refused request that wrote", reported(response(400, refusal), { first: transactions }, posted));
  must("a read that wrote", reported(response(200, list), { first: transactions }));
  must("a write to another organization", reported(response(400, refusal), { second: transactions }, posted));
  must(
    "a refused request that changed data outside the ledger",
    reported(response(400, refusal), { otherChanges: ["keys"] }, posted),
  );
  must("a HEAD response with a body", reported(response(200, list), {}, { ...sent, method: "HEAD" }));
  return {
    claim: "The proof detects forged responses of every wrong kind",
    held: missed.length === 0,
    figure: missed.length === 0 ? "19 forged, 19 detected; 2 valid ones accepted" : `missed: ${missed.join(", ")}`,
  };
}
