// Fairness between users under a burst of writes: small writes of others are timed during concurrent bulks of one
// Member; then the Member exceeds the limit of queued writes.

import { join } from "node:path";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { type Running, startExecutable } from "../../benchmark/executable.ts";
import { type BuiltStore, buildStore } from "../../benchmark/store.ts";
import { median, quantilesOf } from "../../quantiles.ts";
import type { Finding, Proving, Table } from "../part.ts";
import type { Crowded, CrowdTask } from "./crowd.ts";
import { CAMPUS, newPerson } from "./world.ts";

interface Plan {
  readonly bulks: number;
  readonly hosts: number;
  /** Sequential bulks, to measure the duration of one. */
  readonly alone: number;
  /** Single hosts beyond a user's queue limit, and the bulks queued before them. */
  readonly singles: number;
  readonly behind: number;
}

const PLANS: Readonly<Record<Proving["form"], Plan>> = {
  short: { bulks: 16, hosts: 500, alone: 3, singles: 600, behind: 10 },
  long: { bulks: 48, hosts: 1_000, alone: 5, singles: 600, behind: 10 },
};

/** A write may wait for the running one, plus its own time. */
const BULKS_WAITED_FOR = 1.5;
/** Other writers, each with one write at a time. */
const OTHERS = 4;

export async function proveFairness(
  proving: Proving,
): Promise<{ readonly findings: Finding[]; readonly table: Table }> {
  const plan = PLANS[proving.form];
  const store = await buildStore(
    join(proving.directory, "fairness"),
    [{ network: CAMPUS, hosts: 10, entriesPerHost: 1, versions: 1 }],
    proving.say,
  );
  const running = await startExecutable(proving.executable, store.directory);
  try {
    return await measured(proving, plan, store, running);
  } finally {
    await running.stop();
  }
}

async function measured(
  proving: Proving,
  plan: Plan,
  store: BuiltStore,
  running: Running,
): Promise<{ readonly findings: Finding[]; readonly table: Table }> {
  const networkId = store.networkIds[CAMPUS] as string;
  const member = await newPerson(running, store, { name: "crowd", role: "Member", networkIds: [networkId] });
  const others = await Promise.all(
    Array.from({ length: OTHERS }, (_, n) =>
      newPerson(running, store, { name: `other-${n}`, role: "Admin", networkIds: [] }),
    ),
  );
  const task = { port: running.port, key: member.key, networkId, hosts: plan.hosts };

  const alone: number[] = [];
  for (let n = 0; n < plan.alone; n += 1) {
    const [bulk] = await (await crowd(proving, { ...task, bulks: 1, singles: 0, name: `alone-${n}` })).sent();
    if (bulk?.status !== 200) throw new Error(`a bulk was answered ${bulk?.status}`);
    alone.push(bulk.answeredAt - bulk.sentAt);
  }
  const bulkMs = median(alone);
  const { sent, beside } = await withWritersBeside(running, others, () =>
    crowd(proving, { ...task, bulks: plan.bulks, singles: 0, name: "crowd" }),
  );
  const answers = sent.map(({ answeredAt }) => answeredAt).sort((a, b) => a - b);
  const began = Math.min(...sent.map(({ sentAt }) => sentAt));
  const between = answers.slice(1).map((at, n) => at - (answers[n] as number));
  // Other load slows the bulks as well: the wait is compared with the duration of one of them there. The first counts
  // too: it runs while the bodies of the others arrive.
  const taken = [(answers[0] as number) - began, ...between];
  const ofOneMs = Math.max(bulkMs, proving.form === "short" ? Math.max(...taken) : median(taken));
  const written = sent.filter(({ status }) => status === 200).length;
  const at = quantilesOf(beside.map(({ ms }) => ms));
  const [p50, p99] = [at(0.5), at(0.99)];
  const figures = `${plan.bulks} bulks of ${plan.hosts} hosts in ${Math.round((answers.at(-1) as number) - began)} ms, one alone ${Math.round(bulkMs)} ms, ${Math.round(median(between))} ms between two`;
  proving.say(`${figures}; beside them ${beside.length} writes: p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms`);

  const more = await withWritersBeside(running, others, () =>
    crowd(proving, { ...task, bulks: plan.behind, singles: plan.singles, name: "more" }),
  );
  const refused = more.sent.filter(({ status }) => status === 429);
  const odd = more.sent.filter(({ status }) => status !== 200 && status !== 429);
  const refusedBeside = [...beside, ...more.beside].filter(({ status }) => status !== 200);
  proving.say(
    `${more.sent.length} writes at once: ${refused.length} refused; of ${beside.length + more.beside.length} beside them ${refusedBeside.length}`,
  );
  return {
    findings: [
      {
        claim: `next to one Member's concurrent bulks, another user's write waits for the running one only: 99 of 100 are answered within ${BULKS_WAITED_FOR} times the duration of one bulk`,
        held: beside.length >= plan.bulks && p99 < BULKS_WAITED_FOR * ofOneMs,
        figure: `${figures}; ${beside.length} writes beside them p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, ${(p99 / ofOneMs).toFixed(2)} times one bulk`,
      },
      {
        claim: "bulks that wait for each other are all written",
        held: written === plan.bulks,
        figure: `${written} of ${plan.bulks}`,
      },
      {
        claim: "writes above one user's queue limit are refused with 429 and Retry-After, and other users' are not",
        held:
          refused.length > 0 &&
          refused.every(({ hasRetryAfter }) => hasRetryAfter) &&
          odd.length === 0 &&
          refusedBeside.length === 0 &&
          more.beside.length > 0,
        figure: `${refused.length} of ${more.sent.length} refused${odd.length === 0 ? "" : `, ${odd.length} answered otherwise`}; of ${beside.length + more.beside.length} of others ${refusedBeside.length}`,
      },
    ],
    table: {
      title: `Another user's small writes next to ${plan.bulks} bulks of ${plan.hosts} hosts sent at once by one Member, in milliseconds`,
      columns: ["one bulk alone", "between two concurrent bulks", "concurrent writes", "p50", "p99", "longest"],
      rows: [
        [bulkMs, median(between), beside.length, p50, p99, Math.max(...beside.map(({ ms }) => ms))].map((each) =>
          String(Math.round(each)),
        ),
      ],
    },
  };
}

interface Beside {
  readonly status: number;
  readonly ms: number;
}

/** Writes during a burst from its first request to its last answer, each writer in sequence. */
async function withWritersBeside(
  running: Running,
  others: ReadonlyArray<{ readonly key: string }>,
  prepare: () => Promise<Crowd>,
): Promise<{ readonly sent: readonly Crowded[]; readonly beside: readonly Beside[] }> {
  const gathered: Array<Beside & { readonly at: number }> = [];
  const crowd = await prepare();
  const tags = await Promise.all(
    others.map(({ key }, n) =>
      ask(running, key, "POST", "tags", { name: `beside ${n} ${gathered.length} ${performance.now()}`, color: "Red" }),
    ),
  );
  let isOver = false;
  const writing = others.map(async ({ key }, writer) => {
    for (let n = 0; !isOver; n += 1) {
      const { id, name } = tags[writer]?.data ?? {};
      const at = performance.timeOrigin + performance.now();
      const { status } = await ask(running, key, "PUT", `tags/${id}`, {
        name,
        color: "Red",
        description: `write ${n}`,
      });
      gathered.push({ status, at, ms: performance.timeOrigin + performance.now() - at });
      // At evenly distributed moments within a bulk.
      await Bun.sleep(7 + 10 * writer);
    }
  });
  const sent = await crowd.sent();
  isOver = true;
  await Promise.all(writing);
  const [first, last] = [
    Math.min(...sent.map(({ sentAt }) => sentAt)),
    Math.max(...sent.map(({ answeredAt }) => answeredAt)),
  ];
  return { sent, beside: gathered.filter(({ at }) => at >= first && at < last) };
}

interface Crowd {
  /** Starts it, and waits for its end. */
  readonly sent: () => Promise<readonly Crowded[]>;
}

async function crowd(proving: Proving, task: CrowdTask): Promise<Crowd> {
  const file = join(proving.directory, "crowd.json");
  await Bun.write(file, JSON.stringify(task));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "crowd.ts"), file], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    // Otherwise Bun itself would queue the later ones.
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "2000" },
  });
  const said = child.stdout.getReader();
  const { value } = await said.read();
  if (!new TextDecoder().decode(value).startsWith("ready")) throw new Error("the crowd did not come");
  return {
    sent: async () => {
      child.stdin.write("go\n");
      await child.stdin.end();
      let text = "";
      for (let piece = await said.read(); !piece.done; piece = await said.read())
        text += new TextDecoder().decode(piece.value);
      await child.exited;
      return JSON.parse(text) as Crowded[];
    },
  };
}

async function ask(
  { port }: Running,
  key: string,
  method: string,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly data: { readonly id: string; readonly name: string } }> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, {
    method,
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(HANG_MS),
  });
  return { status: answer.status, data: ((await answer.json()) as { data: { id: string; name: string } }).data };
}
