// Input part of the proof: bad input and its effects. Requests generated from the appliance's OpenAPI document,
// hand-written requests, and abusive connections.

import { randomUUID } from "node:crypto";
import { OpenApiDocument } from "../../test/support/contract/openapi.ts";
import { type Finished, PASSWORD } from "../../test/support/executable/executable.ts";
import { crowdFindings, until } from "./input/crowd.ts";
import { SECRET_MARK } from "./input/generate.ts";
import { hostileFindings } from "./input/hostile.ts";
import { faults, type Happened, type Sent } from "./input/judge.ts";
import { askAll, type Tally } from "./input/property.ts";
import type { WireAnswer } from "./input/wire.ts";
import { type Footprint, InputWorld, MARKS, ok } from "./input/world.ts";
import type { Finding, Part, Table } from "./part.ts";

/** Per operation and round. */
const RUNS_EACH = 12;
const FORMS = {
  short: { requests: 2_000, memoryMib: 96 },
  long: { requests: 100_000, memoryMib: 192 },
} as const;
/** Allowed increase of descriptors: a started thread, a connection of the scanner. */
const DESCRIPTORS_MORE = 8;
const THREADS_MORE = 8;
/** Allowed increase of memory without new work. */
const QUARTER_MIB = 24;
/** An appliance is set up only once, and this one is: it cannot succeed here. */
const NEVER_DONE: ReadonlySet<string> = new Set(["setUp"]);
/** Document text of operations that are refused with two organizations. */
const OF_WHOLE_APPLIANCE = "Only while the appliance has one organization.";

export const input: Part = {
  name: "input",
  title: "Bad input",
  prove: async (proving) => {
    const { form, executable, seed, say } = proving;
    const { requests, memoryMib } = FORMS[form];
    const world = await InputWorld.open(executable, proving.directory);
    try {
      const document = new OpenApiDocument(
        (await (await fetch(`${world.appliance.url}/api/openapi.json`)).json()) as Record<string, unknown>,
      );
      const findings: Finding[] = [noticesFaults(document)];
      say("requests written by hand");
      findings.push(...(await hostileFindings(world, document, form)));
      const crowd = await crowdFindings(world, proving);
      findings.push(...crowd.findings);
      // Starts everything that starts on first use.
      await askAll(world, document, { rounds: 1, runsEach: 1, seed: seed + 1_000_000, say: () => {} });
      const before = await settled(world, null);
      say("requests made from the document");
      const rounds = Math.ceil(requests / (document.operations.length * RUNS_EACH));
      const tally = await askAll(world, document, { rounds, runsEach: RUNS_EACH, seed, say });
      world.connection.close();
      const after = await settled(world, {
        ...before,
        memoryKib: before.memoryKib + memoryMib * 1_024,
        descriptors: before.descriptors + DESCRIPTORS_MORE,
        threads: before.threads + THREADS_MORE,
      });
      if (form === "long") findings.push(flatness(tally));
      const alone = await InputWorld.open(executable, proving.directory, "one");
      try {
        say("requests about the whole appliance");
        const operations = document.operations.filter(({ operation }) =>
          (operation.description as string).includes(OF_WHOLE_APPLIANCE),
        );
        const tallies = [tally, await askAll(alone, document, { operations, rounds, runsEach: RUNS_EACH, seed, say })];
        findings.push(
          ...asFindings(summed(tallies), document, requests),
          ...footprints(before, after, memoryMib),
          ...(await theEnd([world, alone], executable)),
        );
        return { findings, tables: [statusTable(summed(tallies))], leftOut: crowd.leftOut };
      } finally {
        await alone.close();
      }
    } finally {
      await world.close();
    }
  },
};

function asFindings(tally: Tally, document: OpenApiDocument, wanted: number): Finding[] {
  const { asked, failures, statuses, refusals } = tally;
  const worst = failures
    .map(({ operation, faults, curl }) => `${operation}: ${faults.join("; ").slice(0, 400)}: ${curl.slice(0, 800)}`)
    .join(" | ");
  const names = document.operations.map(({ operation }) => operation.operationId as string);
  const share = (holds: (status: number) => boolean) =>
    names.filter((name) => [...(statuses.get(name)?.keys() ?? [])].some(holds)).length / names.length;
  const [done, refused] = [share((status) => status < 300), share((status) => status >= 400)];
  const notDone = names
    .filter((name) => !NEVER_DONE.has(name) && ![...(statuses.get(name)?.keys() ?? [])].some((status) => status < 300))
    .map((name) => {
      const told = [...(refusals.get(name) ?? [])].sort(([, a], [, b]) => b - a).slice(0, 3);
      return `${name} (${told.map(([refusal, count]) => `${count} × ${refusal}`).join("; ")})`;
    });
  // With few drafts per operation, some may miss by chance.
  const isReached = wanted > 10_000 ? notDone.length === 0 : done > 0.6;
  return [
    {
      claim:
        "No request gets a 5xx, an undocumented answer, a secret back or another organization's data, and no refused request changes anything",
      held: failures.length === 0 && asked >= wanted,
      figure:
        failures.length === 0
          ? `${asked} requests to ${statuses.size} operations`
          : `${asked} requests, ${failures.length} operations failed; the smallest requests that do: ${worst}`.slice(
              0,
              6_000,
            ),
    },
    {
      claim: "The requests reach their operations: some were done, some refused, and not only for credentials",
      held: isReached && refused > 0.95,
      figure: `${Math.round(done * 100)} % of the operations were done, ${Math.round(refused * 100)} % refused${wanted > 10_000 && notDone.length > 0 ? `; never done: ${notDone.join(", ")}` : ""}`,
    },
  ];
}

/** Sum over several appliances. */
function summed(tallies: readonly Tally[]): Tally {
  const added = <Key>(all: readonly ReadonlyMap<string, ReadonlyMap<Key, number>>[]) => {
    const sums = new Map<string, Map<Key, number>>();
    for (const each of all)
      for (const [operation, counts] of each) {
        const ofIts = sums.get(operation) ?? new Map<Key, number>();
        for (const [key, count] of counts) ofIts.set(key, (ofIts.get(key) ?? 0) + count);
        sums.set(operation, ofIts);
      }
    return sums;
  };
  return {
    asked: tallies.reduce((sum, { asked }) => sum + asked, 0),
    memoryKib: tallies.flatMap(({ memoryKib }) => memoryKib),
    statuses: added(tallies.map(({ statuses }) => statuses)),
    refusals: added(tallies.map(({ refusals }) => refusals)),
    failures: tallies.flatMap(({ failures }) => failures),
  };
}

/** Lazy initialization and caches are complete by then: memory has no reason left to grow. */
function flatness({ memoryKib }: Tally): Finding {
  const median = (from: number, to: number) =>
    memoryKib.slice(Math.floor(memoryKib.length * from), Math.ceil(memoryKib.length * to)).sort((a, b) => a - b)[
      Math.floor((memoryKib.length * (to - from)) / 2)
    ] as number;
  const quarters = [0, 0.25, 0.5, 0.75].map((from) => Math.round(median(from, from + 0.25) / 1_024));
  const growthMib = (quarters[3] as number) - (quarters[2] as number);
  return {
    claim: `Memory grows by less than ${QUARTER_MIB} MiB from the third quarter of the requests to the last`,
    held: growthMib < QUARTER_MIB,
    figure: `medians of the quarters: ${quarters.join(", ")} MiB anonymous`,
  };
}

function footprints(before: Footprint, after: Footprint, memoryMib: number): Finding[] {
  return [
    {
      claim: `Memory afterwards is within ${memoryMib} MiB of its initial size`,
      held: after.memoryKib <= before.memoryKib + memoryMib * 1_024,
      figure: `${Math.round(before.memoryKib / 1_024)} MiB anonymous before, ${Math.round(after.memoryKib / 1_024)} MiB after`,
    },
    {
      claim: "Descriptors and threads afterwards are as before",
      held:
        after.descriptors <= before.descriptors + DESCRIPTORS_MORE && after.threads <= before.threads + THREADS_MORE,
      figure: `${before.descriptors} descriptors and ${before.threads} threads before, ${after.descriptors} and ${after.threads} after`,
    },
  ];
}

/** The started processes still serve; their logs hold no secret; and their writes verify. */
async function theEnd(worlds: readonly InputWorld[], executable: string): Promise<Finding[]> {
  const ends: {
    isServing: boolean;
    pid: number;
    code: number | null;
    signal: string | null;
    verified: Finished;
    log: string;
  }[] = [];
  for (const world of worlds) {
    const { appliance, place } = world;
    const isServing = world.isAlive() && (await ok(world.first.keeper.get("/api/v1/ledger"))).sequence > 0;
    const { pid } = appliance;
    const { code, signal } = await appliance.stop();
    const verified = await place.run(["verify", "--data", place.data], { command: [executable] });
    ends.push({ isServing, pid, code, signal, verified, log: appliance.log });
  }
  const complaints = ends.flatMap(({ log }) =>
    log.split("\n").filter((line) => /crashed|request_failed|unhandled_rejection|stream_failed/.test(line)),
  );
  const secrets = [SECRET_MARK, PASSWORD].filter((secret) => ends.some(({ log }) => log.includes(secret)));
  return [
    {
      claim: "The original process still serves, and stops cleanly",
      held: ends.every(({ isServing, code }) => isServing && code === 0),
      figure: ends.map(({ pid, code, signal }) => `process ${pid}, ended with ${code ?? signal}`).join("; "),
    },
    {
      claim: "The data are intact afterwards: verify finds nothing",
      held: ends.every(({ verified }) => verified.code === 0),
      figure: ends
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
            ? "it holds a secret"
            : `${ends.reduce((sum, { log }) => sum + log.split("\n").length, 0)} lines`,
    },
  ];
}

/** Measured once it is within the limit, or after a timeout. */
async function settled(world: InputWorld, allowed: Footprint | null): Promise<Footprint> {
  let lowest = world.footprint();
  let quiet = 0;
  await until(() => {
    const now = world.footprint();
    if (allowed !== null)
      return (
        now.memoryKib <= allowed.memoryKib && now.descriptors <= allowed.descriptors && now.threads <= allowed.threads
      );
    quiet = now.memoryKib < lowest.memoryKib - 1_024 ? 0 : quiet + 1;
    if (now.memoryKib < lowest.memoryKib) lowest = now;
    return quiet > 40;
  });
  return world.footprint();
}

function statusTable({ statuses }: Tally): Table {
  const all = new Map<number, number>();
  for (const each of statuses.values())
    for (const [status, count] of each) all.set(status, (all.get(status) ?? 0) + count);
  return {
    title: "Answers to requests made from the document, by status",
    columns: ["status", "answers"],
    rows: [...all].sort(([a], [b]) => a - b).map(([status, count]) => [String(status), String(count)]),
  };
}

/** Forged answers with one fault each: a judge that misses one would prove nothing. */
function noticesFaults(document: OpenApiDocument): Finding {
  const id = randomUUID();
  const sent: Sent = { method: "GET", target: "/api/v1/tags?limit=1", whose: "first" };
  const meta = {
    api_version: 1,
    server_version: "0",
    pagination: { total_count: 0, limit: 1, offset: 0, has_more: false },
  };
  const answer = (status: number, body: unknown, headers: Record<string, string> = {}): WireAnswer => ({
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
  const nothing: Happened = { first: [], second: [], besides: [] };
  const its = [{ sequence: 1, request_id: id }];
  const missed: string[] = [];
  const told = (given: WireAnswer, seen: Partial<Happened> = {}, request: Sent = sent) =>
    faults(document, request, given, { ...nothing, ...seen });
  const posted: Sent = { ...sent, method: "POST", target: "/api/v1/tags" };
  const must = (name: string, found: readonly string[]) => found.length === 0 && missed.push(name);
  for (const [name, good] of [
    ["answer", answer(200, list)],
    ["refusal", answer(400, refusal)],
  ] as const)
    if (told(good).length > 0) missed.push(`a good ${name} is reported: ${told(good).join("; ")}`);
  must("a 500", told(answer(500, { ...refusal, code: "internal_error", params: { request_id: id } })));
  must("a 503", told(answer(503, { ...refusal, code: "shutting_down", params: {} })));
  must("a status outside the document", told(answer(404, { ...refusal, code: "entity_not_found" })));
  must("a code outside the document", told(answer(400, { ...refusal, code: "entity_stale" })));
  must("a field too many", told(answer(200, { ...list, more: 1 })));
  must("a field too few", told(answer(200, { success: true, data: [] })));
  must("no envelope", told(answer(400, "No.")));
  must("half a JSON text", told(answer(200, '{"success":')));
  must("no X-Request-Id", told(answer(200, list, { "x-request-id": "" })));
  must("a header of the request's making", told(answer(200, list, { "x-evil": "1" })));
  must("a secret", told(answer(400, { ...refusal, error: `${SECRET_MARK}-1` })));
  must("a password", told(answer(400, { ...refusal, error: `${PASSWORD} is wrong` })));
  must("an exception's text", told(answer(400, { ...refusal, error: "TypeError: x is not a function" })));
  must("another organization's data", told(answer(400, { ...refusal, error: MARKS.second })));
  must("a refused request that wrote", told(answer(400, refusal), { first: its }, posted));
  must("a question that wrote", told(answer(200, list), { first: its }));
  must("a write to another organization", told(answer(400, refusal), { second: its }, posted));
  must(
    "a refused request that changed what the ledger does not tell of",
    told(answer(400, refusal), { besides: ["keys"] }, posted),
  );
  must("a body of HEAD", told(answer(200, list), {}, { ...sent, method: "HEAD" }));
  return {
    claim: "The proof notices forged answers of every wrong kind",
    held: missed.length === 0,
    figure: missed.length === 0 ? "19 forged, 19 noticed; 2 good ones let through" : `missed: ${missed.join(", ")}`,
  };
}
