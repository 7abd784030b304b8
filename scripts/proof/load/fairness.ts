// Fairness between users under a burst of writes: times other users' small writes during concurrent bulk requests of
// one Member; then the Member exceeds the limit of queued writes.

import { join } from "node:path";
import { type Running, startExecutable } from "../../benchmark/executable.ts";
import { clientWith } from "../../benchmark/requests.ts";
import { type BuiltStore, campusStore } from "../../benchmark/store.ts";
import { median, quantilesOf } from "../../quantiles.ts";
import type { Finding, ProofContext, Table } from "../part.ts";
import type { BurstResult, BurstTask } from "./burst.ts";
import { CAMPUS, createUser } from "./fixture.ts";

interface Plan {
  readonly bulkWrites: number;
  readonly hosts: number;
  /** Number of sequential bulk requests, which measure the duration of one. */
  readonly soloBulkWrites: number;
  /** Number of single hosts, above a user's queue limit, and of bulk requests queued before them. */
  readonly singles: number;
  readonly queuedBulkWrites: number;
}

const PLANS: Readonly<Record<ProofContext["form"], Plan>> = {
  short: { bulkWrites: 16, hosts: 500, soloBulkWrites: 3, singles: 600, queuedBulkWrites: 10 },
  long: { bulkWrites: 48, hosts: 1_000, soloBulkWrites: 5, singles: 600, queuedBulkWrites: 10 },
};

/** Maximum wait of a write: the duration of the running bulk request, plus its own time. */
const WAIT_MAX_BULK_WRITES = 1.5;
/** Other writers, each with one write at a time. */
const OTHERS = 4;

export async function proveFairness(
  context: ProofContext,
): Promise<{ readonly findings: Finding[]; readonly table: Table }> {
  const plan = PLANS[context.form];
  const folder = join(context.directory, "fairness");
  const store = await campusStore(folder, { hosts: 10, entriesPerHost: 1 }, context.say);
  const running = await startExecutable(context.executable, store.directory);
  try {
    return await measure(context, plan, store, running);
  } finally {
    await running.stop();
  }
}

async function measure(
  context: ProofContext,
  plan: Plan,
  store: BuiltStore,
  running: Running,
): Promise<{ readonly findings: Finding[]; readonly table: Table }> {
  const networkId = store.networkIds[CAMPUS] as string;
  const member = await createUser(running, store, { name: "member", role: "Member", networkIds: [networkId] });
  const others = await Promise.all(
    Array.from({ length: OTHERS }, (_, n) =>
      createUser(running, store, { name: `other-${n}`, role: "Admin", networkIds: [] }),
    ),
  );
  const task = { port: running.port, key: member.key, networkId, hosts: plan.hosts };

  const soloBulkWrites: number[] = [];
  for (let n = 0; n < plan.soloBulkWrites; n += 1) {
    const [bulk] = await (await burst(context, { ...task, bulkWrites: 1, singles: 0, name: `alone-${n}` })).sent();
    if (bulk?.status !== 200) throw new Error(`a bulk returned ${bulk?.status}`);
    soloBulkWrites.push(bulk.answeredAt - bulk.sentAt);
  }
  const bulkMs = median(soloBulkWrites);
  const { sent, concurrent } = await withConcurrentWriters(running, others, () =>
    burst(context, { ...task, bulkWrites: plan.bulkWrites, singles: 0, name: "burst" }),
  );
  const answeredTimes = sent.map(({ answeredAt }) => answeredAt).sort((a, b) => a - b);
  const startedAt = Math.min(...sent.map(({ sentAt }) => sentAt));
  const between = answeredTimes.slice(1).map((at, n) => at - (answeredTimes[n] as number));
  // Other load slows the bulk requests down as well, so waits are compared with the duration of one of these. The first
  // counts too: it runs while the bodies of the others arrive.
  const durations = [(answeredTimes[0] as number) - startedAt, ...between];
  const oneBulkMs = Math.max(bulkMs, context.form === "short" ? Math.max(...durations) : median(durations));
  const written = sent.filter(({ status }) => status === 200).length;
  const quantile = quantilesOf(concurrent.map(({ ms }) => ms));
  const [p50, p99] = [quantile(0.5), quantile(0.99)];
  const figures = `${plan.bulkWrites} bulk writes of ${plan.hosts} hosts in ${Math.round((answeredTimes.at(-1) as number) - startedAt)} ms, one alone ${Math.round(bulkMs)} ms, ${Math.round(median(between))} ms apart`;
  context.say(
    `${figures}; ${concurrent.length} concurrent writes: p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms`,
  );

  const overflow = await withConcurrentWriters(running, others, () =>
    burst(context, { ...task, bulkWrites: plan.queuedBulkWrites, singles: plan.singles, name: "more" }),
  );
  const refused = overflow.sent.filter(({ status }) => status === 429);
  const unexpected = overflow.sent.filter(({ status }) => status !== 200 && status !== 429);
  const refusedConcurrent = [...concurrent, ...overflow.concurrent].filter(({ status }) => status !== 200);
  context.say(
    `${overflow.sent.length} writes at once: ${refused.length} refused; of ${concurrent.length + overflow.concurrent.length} concurrent writes ${refusedConcurrent.length}`,
  );
  return {
    findings: [
      {
        claim: `next to one Member's concurrent bulk writes, another user's write waits for the running one only: 99 of 100 are answered within ${WAIT_MAX_BULK_WRITES} times the duration of one bulk`,
        held: concurrent.length >= plan.bulkWrites && p99 < WAIT_MAX_BULK_WRITES * oneBulkMs,
        figure: `${figures}; ${concurrent.length} concurrent writes p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, ${(p99 / oneBulkMs).toFixed(2)} times one bulk`,
      },
      {
        claim: "queued bulk writes are all written",
        held: written === plan.bulkWrites,
        figure: `${written} of ${plan.bulkWrites}`,
      },
      {
        claim: "writes above one user's queue limit are refused with 429 and Retry-After, and other users' are not",
        held:
          refused.length > 0 &&
          refused.every(({ hasRetryAfter }) => hasRetryAfter) &&
          unexpected.length === 0 &&
          refusedConcurrent.length === 0 &&
          overflow.concurrent.length > 0,
        figure: `${refused.length} of ${overflow.sent.length} refused${unexpected.length === 0 ? "" : `, ${unexpected.length} failed otherwise`}; of ${concurrent.length + overflow.concurrent.length} writes of others ${refusedConcurrent.length}`,
      },
    ],
    table: {
      title: `Another user's small writes next to ${plan.bulkWrites} bulk writes of ${plan.hosts} hosts sent at once by one Member, in milliseconds`,
      columns: [
        "one bulk write alone",
        "between two concurrent bulk writes",
        "concurrent writes",
        "p50",
        "p99",
        "longest",
      ],
      rows: [
        [bulkMs, median(between), concurrent.length, p50, p99, Math.max(...concurrent.map(({ ms }) => ms))].map(
          (value) => String(Math.round(value)),
        ),
      ],
    },
  };
}

interface ConcurrentWrite {
  readonly status: number;
  readonly ms: number;
}

/** Runs a burst with other writers, and returns their writes between its first request and its last response. */
async function withConcurrentWriters(
  running: Running,
  others: ReadonlyArray<{ readonly key: string }>,
  prepare: () => Promise<Burst>,
): Promise<{ readonly sent: readonly BurstResult[]; readonly concurrent: readonly ConcurrentWrite[] }> {
  const writes: Array<ConcurrentWrite & { readonly at: number }> = [];
  const burst = await prepare();
  const clients = others.map(({ key }) => clientWith(running, { authorization: `Bearer ${key}` }));
  const tags = await Promise.all(
    clients.map((client, n) => client.post("tags", { name: `other ${n} ${performance.now()}`, color: "Red" })),
  );
  let isOver = false;
  const writing = clients.map(async (client, writer) => {
    for (let n = 0; !isOver; n += 1) {
      const { id, name } = tags[writer]?.data ?? {};
      const at = performance.timeOrigin + performance.now();
      const { status } = await client.put(`tags/${id}`, { name, color: "Red", description: `write ${n}` });
      writes.push({ status, at, ms: performance.timeOrigin + performance.now() - at });
      // Writes at evenly distributed moments within a bulk request.
      await Bun.sleep(7 + 10 * writer);
    }
  });
  const sent = await burst.sent();
  isOver = true;
  await Promise.all(writing);
  const first = Math.min(...sent.map(({ sentAt }) => sentAt));
  const last = Math.max(...sent.map(({ answeredAt }) => answeredAt));
  return { sent, concurrent: writes.filter(({ at }) => at >= first && at < last) };
}

interface Burst {
  /** Starts the burst and waits for its end. */
  readonly sent: () => Promise<readonly BurstResult[]>;
}

async function burst(context: ProofContext, task: BurstTask): Promise<Burst> {
  const file = join(context.directory, "burst.json");
  await Bun.write(file, JSON.stringify(task));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "burst.ts"), file], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    // By default, Bun itself would queue later requests.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "2000" },
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (!new TextDecoder().decode(value).startsWith("ready")) throw new Error("the burst process did not start");
  return {
    sent: async () => {
      child.stdin.write("go\n");
      await child.stdin.end();
      let text = "";
      for (let piece = await reader.read(); !piece.done; piece = await reader.read())
        text += new TextDecoder().decode(piece.value);
      await child.exited;
      return JSON.parse(text) as BurstResult[];
    },
  };
}
