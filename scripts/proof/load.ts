// Load part of the proof: an hour's mixed load, compressed to ten minutes, at the highest rate within its limit; then
// overload and recovery.

import { join } from "node:path";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import { HANG_MS } from "../../test/support/measure/limits.ts";
import { type Running, startExecutable } from "../benchmark/executable.ts";
import { callApi } from "../benchmark/requests.ts";
import { type BuiltStore, buildStore } from "../benchmark/store.ts";
import { startSwitches } from "../benchmark/switches.ts";
import { proveFairness } from "./load/fairness.ts";
import { CAMPUS, changesSince, createFixture, headOf, LAB } from "./load/fixture.ts";
import type { FollowerReport } from "./load/followers.ts";
import type { Latencies, Report, Task } from "./load/generator.ts";
import { COMPRESSION, FOLLOWERS, INTERACTIVE, type Kind, LONG, type LoadFixture } from "./load/mix.ts";
import { bandsOf, descriptorsOf, isFlat, Watch } from "./load/watch.ts";
import type { Finding, Part, Proof, ProofContext, Table } from "./part.ts";

/** Limit of anonymous memory in MB, also under overload. */
const MEMORY_MB = 600;
/** Limit of memory growth in the second half of ten minutes, as a share: at 250 MB less than 3 MB per minute. */
const FLAT_SHARE = 0.05;
/** Limit of the write-ahead log in MB, which is truncated to 64 after a checkpoint. */
const WAL_MB = 128;
/** Time after an overload within which the former rate must regain its latency. */
const RECOVERY_MS = 10_000;
/** Allowed increase of descriptors after a run, for caches of threads. */
const DESCRIPTOR_ALLOWANCE = 16;
const CONNECTIONS = 128;
const HEALTH_EVERY_MS = 50;
/** Duration for which the appliance is suspended, and of the run around it. */
const [STALL_MS, STALLED_RUN_S] = [1_000, 4] as const;

interface Plan {
  /** Maximum time to a response or a refusal under overload. */
  readonly promptMs: number;
  /** Limit for interactive requests; long ones have none. Lenient in the short form, which runs on a shared machine. */
  readonly p99Ms: number;
  readonly hosts: number;
  readonly entriesPerHost: number;
  readonly versions: number;
  readonly switches: number;
  readonly ports: number;
  /**
   * Search for the highest rate: initial and maximum rate in requests per second, duration of a trial, trials per rate,
   * number of bisections, and whether followers and long requests are included.
   */
  readonly search: {
    readonly from: number;
    readonly maximum: number;
    readonly seconds: number;
    readonly attempts: number;
    readonly bisections: number;
    readonly withFollowers: boolean;
  };
  readonly holdS: number;
  /** Rates to hold, relative to the rate found: a trial of some seconds is luckier than a long run. */
  readonly rateShares: readonly number[];
  readonly sampleEveryMs: number;
  readonly overloads: readonly { readonly kind: Kind; readonly factor: number }[];
  readonly overloadS: number;
  readonly overloadConnections: number;
  readonly recoveryS: number;
  /**
   * Quantile that shows the recovery: of the few hundred requests in the short form, two late ones would be the 99th
   * percentile.
   */
  readonly recoveryQuantile: "p50Ms" | "p99Ms";
  readonly recoveredMs: number;
}

const PLANS: Readonly<Record<ProofContext["form"], Plan>> = {
  short: {
    promptMs: 10_000,
    p99Ms: 500,
    hosts: 100,
    entriesPerHost: 20,
    versions: 3,
    switches: 4,
    ports: 8,
    search: { from: 50, maximum: 400, seconds: 1, attempts: 1, bisections: 0, withFollowers: false },
    holdS: 6,
    rateShares: [0.6, 0.2],
    sampleEveryMs: 1_000,
    overloads: [
      { kind: "writes", factor: 10 },
      { kind: "mixed", factor: 10 },
      { kind: "floods", factor: 10 },
    ],
    overloadS: 2.5,
    overloadConnections: 1_000,
    recoveryS: 1.5,
    recoveryQuantile: "p50Ms",
    recoveredMs: 200,
  },
  long: {
    promptMs: 3_000,
    p99Ms: 50,
    hosts: 2_000,
    entriesPerHost: 50,
    versions: 5,
    switches: 20,
    ports: 24,
    search: { from: 100, maximum: 25_600, seconds: 15, attempts: 2, bisections: 3, withFollowers: true },
    holdS: 600,
    rateShares: [0.9, 0.75, 0.6],
    sampleEveryMs: 2_000,
    overloads: [
      { kind: "reads", factor: 3 },
      { kind: "reads", factor: 10 },
      { kind: "writes", factor: 3 },
      { kind: "writes", factor: 10 },
      { kind: "mixed", factor: 3 },
      { kind: "mixed", factor: 10 },
      { kind: "floods", factor: 3 },
    ],
    overloadS: 10,
    overloadConnections: 2_000,
    recoveryS: 5,
    recoveryQuantile: "p99Ms",
    recoveredMs: 50,
  },
};

export const load: Part = {
  name: "load",
  title: "Load and overload",
  prove: async (context) => {
    const plan = PLANS[context.form];
    const store = await buildStore(
      join(context.directory, "data"),
      [
        { network: CAMPUS, hosts: plan.hosts, entriesPerHost: plan.entriesPerHost, versions: plan.versions },
        { network: LAB, hosts: 1, entriesPerHost: 1, versions: 1 },
      ],
      context.say,
    );
    const snmpPort = await freeSnmpPort();
    const switches = await startSwitches(plan.switches, plan.ports, snmpPort);
    try {
      const running = await startExecutable(context.executable, store.directory, ["--snmp-port", String(snmpPort)]);
      try {
        const proof = await prove(context, plan, store, running);
        const { findings, table } = await proveFairness(context);
        return { findings: [...proof.findings, ...findings], tables: [...(proof.tables ?? []), table] };
      } finally {
        await running.stop();
      }
    } finally {
      await switches.stop();
    }
  },
};

async function prove(context: ProofContext, plan: Plan, store: BuiltStore, running: Running): Promise<Proof> {
  const fixture = await createFixture(running, store, plan.switches);
  const generator = new Generators(context, fixture);
  const load: Load = { context, plan, store, running, generator };
  const trials: Trial[] = [];
  const found = await search(load, trials);
  const sustained = await sustain(load, found, trials);
  const stalled = await stall(load, sustained.rate);
  const overloads = await overload(load, sustained.rate);
  await running.stop();
  const verified = Bun.spawnSync([context.executable, "verify", "--data", store.directory], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const verifyFinding: Finding = {
    claim: "after load and overload, verify finds the data intact",
    held: verified.exitCode === 0,
    figure: verified.exitCode === 0 ? `${headOf(store)} transactions` : verified.stdout.toString().slice(0, 500),
  };
  return {
    findings: [...sustained.findings, stalled, ...overloads.findings, verifyFinding],
    tables: [mixTable(sustained.rate), trialTable(plan, trials), ...sustained.tables, ...overloads.tables],
  };
}

/** Context of a load: target, plan and generator. */
interface Load {
  readonly context: ProofContext;
  readonly plan: Plan;
  readonly store: BuiltStore;
  readonly running: Running;
  readonly generator: Generators;
}

interface Followers {
  /** Collects the changes that each follower has seen up to a transaction. */
  readonly seenUntil: (last: number) => Promise<FollowerReport[]>;
  readonly stop: () => Promise<void>;
}

/** Trial of a rate, which may or may not be within the latency limit. */
interface Trial {
  readonly rate: number;
  readonly seconds: number;
  readonly report: Report;
}

/** Runs load generators in sequence, each in a separate process. */
class Generators {
  private readonly context: ProofContext;
  private readonly fixture: LoadFixture;
  private count = 0;

  constructor(context: ProofContext, fixture: LoadFixture) {
    this.context = context;
    this.fixture = fixture;
  }

  async run(
    task: Pick<Task, "kind" | "rate" | "seconds" | "withLong"> & { readonly connections?: number },
  ): Promise<Report> {
    this.count += 1;
    const file = join(this.context.directory, `load-${this.count}.json`);
    const fullTask: Task = {
      fixture: this.fixture,
      connections: CONNECTIONS,
      seed: this.context.seed + this.count,
      timeoutMs: HANG_MS,
      ...task,
    };
    await Bun.write(file, JSON.stringify(fullTask));
    return JSON.parse(await run(join(import.meta.dir, "load/generator.ts"), file)) as Report;
  }

  /** Starts the followers; the caller must always stop them. */
  async follow(after: number): Promise<Followers> {
    const file = join(this.context.directory, "followers.json");
    await Bun.write(file, JSON.stringify({ port: this.fixture.port, key: this.fixture.keys[0], after, ...FOLLOWERS }));
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "load/followers.ts"), file], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    return {
      seenUntil: async (last) => {
        child.stdin.write(`until ${last}\n`);
        await child.stdin.end();
        const output = await child.stdout.text();
        return JSON.parse(output.slice(output.indexOf("["))) as FollowerReport[];
      },
      stop: async () => {
        child.kill();
        await child.exited;
      },
    };
  }
}

/** Finds the highest rate within the latency limit for a short time: doubles it until a trial fails, then bisects. */
async function search({ context, plan, store, generator }: Load, trials: Trial[]): Promise<number> {
  const { from, maximum, seconds, attempts, bisections, withFollowers } = plan.search;
  // Warms up code and caches.
  await generator.run({ kind: "mixed", rate: from, seconds, withLong: false });
  const meetsLimit = async (rate: number) => {
    // A single failure may be due to other load on the machine.
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const report = await generator.run({ kind: "mixed", rate, seconds, withLong: withFollowers });
      trials.push({ rate, seconds, report });
      context.say(
        `${Math.round(rate)} requests per second: p50 ${report.served.p50Ms} ms, p99 ${report.served.p99Ms} ms, ${JSON.stringify(report.statuses)}`,
      );
      if (meetsTarget(plan, report)) return true;
    }
    return false;
  };
  const followers = withFollowers ? await generator.follow(headOf(store)) : null;
  try {
    let [good, bad] = [0, from];
    while (bad <= maximum && (await meetsLimit(bad))) [good, bad] = [bad, 2 * bad];
    for (let bisection = 0; bisection < bisections && good > 0 && bad <= maximum; bisection += 1) {
      const middle = Math.sqrt(good * bad);
      if (await meetsLimit(middle)) good = middle;
      else bad = middle;
    }
    return Math.max(1, good);
  } finally {
    await followers?.stop();
  }
}

function meetsTarget(plan: Plan, report: Report): boolean {
  return isClean(report) && report.served.p99Ms < plan.p99Ms;
}

/** Whether all due requests were sent and succeeded. */
function isClean({ unsent, unanswered, broken, statuses }: Report): boolean {
  return (
    unsent === 0 && unanswered === 0 && broken === 0 && Object.keys(statuses).every((status) => status.startsWith("2"))
  );
}

interface LoadResult {
  readonly rate: number;
  readonly findings: Finding[];
  readonly tables: Table[];
}

async function sustain(load: Load, found: number, trials: Trial[]): Promise<LoadResult> {
  const { context, plan, store, running } = load;
  const wal = `${dataFiles(store.directory).database}-wal`;
  const descriptorsBefore = descriptorsOf(running.pid);
  for (const [attempt, share] of plan.rateShares.entries()) {
    const rate = Math.max(1, Math.floor(found * share));
    const { watch, report, expected, seen } = await sustainOnce(load, rate, wal);
    trials.push({ rate, seconds: plan.holdS, report });
    context.say(
      `${rate} requests per second for ${plan.holdS} s: p50 ${report.served.p50Ms} ms, p99 ${report.served.p99Ms} ms, p99.9 ${report.served.p999Ms} ms, ${JSON.stringify(report.statuses)}`,
    );
    if (!meetsTarget(plan, report) && attempt < plan.rateShares.length - 1) continue;
    const { largest } = watch;
    const missed = seen.filter(({ problem, digest }) => problem !== null || digest !== expected.digest);
    const opened = descriptorsOf(running.pid) - descriptorsBefore;
    return {
      rate,
      findings: [
        {
          claim: `under a mixed load, 99 of 100 interactive requests are answered within ${plan.p99Ms} ms of their due time`,
          held: report.served.p99Ms < plan.p99Ms,
          figure: `${rate} requests per second for ${plan.holdS} s: ${describeLatencies(report.served)}`,
        },
        {
          claim: "under a mixed load, no request fails, is refused or remains unanswered",
          held: isClean(report),
          figure: `${report.sent} requests${isClean(report) ? "" : `; ${describeReport(report)}`}`,
        },
        {
          claim: "followers of changes see every version of every transaction once and in order",
          held: expected.versions > 0 && missed.length === 0 && seen.length === FOLLOWERS.polling + FOLLOWERS.events,
          figure: `${seen.length} followers, ${expected.versions} versions in ${expected.transactions} transactions${missed.length === 0 ? "" : `; ${JSON.stringify(missed)}`}`,
        },
        {
          claim: "a follower missing one version would be detected",
          held: changesSince(store, expected.after, 1).digest !== expected.digest,
          figure: `the digest of ${expected.versions - 1} versions differs`,
        },
        {
          claim: `under a mixed load, anonymous memory stays under ${MEMORY_MB} MB`,
          held: largest.memoryMb < MEMORY_MB,
          figure: `at most ${largest.memoryMb.toFixed(0)} MB`,
        },
        // Half a minute is too short for this check.
        ...(context.form === "long" ? [memoryFlatness(watch)] : []),
        {
          claim: `under a mixed load, the write-ahead log stays under ${WAL_MB} MB`,
          held: largest.walMb < WAL_MB,
          figure: `at most ${largest.walMb.toFixed(1)} MB`,
        },
        {
          claim: "a mixed load leaves no descriptor open",
          held: opened <= DESCRIPTOR_ALLOWANCE,
          figure: `${descriptorsBefore} before, ${descriptorsBefore + opened} afterwards, at most ${largest.descriptors} during the load`,
        },
      ],
      tables: [
        {
          title: `Milliseconds since a request's due time, at ${rate} interactive requests per second for ${plan.holdS} s`,
          columns: ["class", "requests", "p50", "p99", "p99.9", "longest"],
          rows: [
            ["all interactive", ...cells(report.served)],
            ...Object.entries(report.byClass).map(([name, latencies]) => [name, ...cells(latencies)]),
          ],
        },
        {
          title: "Long operations at the same time, in milliseconds",
          columns: ["class", "requests", "p50", "p99", "p99.9", "longest"],
          rows: Object.entries(report.long).map(([name, latencies]) => [name, ...cells(latencies)]),
        },
        {
          title: "The appliance during the load",
          columns: ["second", "anonymous memory, MB", "descriptors", "write-ahead log, MB"],
          rows: sampled(watch.samples).map(({ atS, memoryMb, descriptors, walMb }) => [
            atS.toFixed(0),
            memoryMb.toFixed(0),
            String(descriptors),
            walMb.toFixed(1),
          ]),
        },
      ],
    };
  }
  throw new Error("no rate was sustained");
}

/**
 * Judges memory by the band in which it oscillates with garbage collection: a regression line would depend on the phase
 * at the start and the end.
 */
function memoryFlatness({ samples }: Watch): Finding {
  const bands = bandsOf(samples);
  const [first, second] = bands.map(({ lowMb, highMb }) => `${lowMb.toFixed(0)} to ${highMb.toFixed(0)} MB`);
  return {
    claim: `over ten minutes, memory is flat: in the second half neither its lows nor its highs are ${100 * FLAT_SHARE} % above those of the first`,
    held: isFlat(bands, FLAT_SHARE),
    figure: `${first}, then ${second}`,
  };
}

/** Runs the load for its full time, and collects the changes that the followers see. */
async function sustainOnce({ plan, store, running, generator }: Load, rate: number, wal: string) {
  const after = headOf(store);
  const followers = await generator.follow(after);
  const watch = new Watch(running.pid, wal, plan.sampleEveryMs);
  try {
    const report = await generator.run({ kind: "mixed", rate, seconds: plan.holdS, withLong: true });
    watch.stop();
    // Followers also see writes of scans that end later: both sides are compared up to the last of them.
    await waitForScans(running, store);
    const expected = { after, ...changesSince(store, after) };
    return { watch, report, expected, seen: await followers.seenUntil(expected.last) };
  } finally {
    watch.stopTimer();
    await followers.stop();
  }
}

/** Checks that the measurement detects a period without responses, in which a closed loop would send no requests. */
async function stall({ plan, running, generator }: Load, rate: number): Promise<Finding> {
  const loaded = generator.run({ kind: "reads", rate, seconds: STALLED_RUN_S, withLong: false });
  await Bun.sleep((STALLED_RUN_S * 1_000) / 2);
  process.kill(running.pid, "SIGSTOP");
  try {
    await Bun.sleep(STALL_MS);
  } finally {
    process.kill(running.pid, "SIGCONT");
  }
  const { served } = await loaded;
  const stalledShare = STALL_MS / (STALLED_RUN_S * 1_000);
  return {
    claim: `an appliance stalled for ${STALL_MS / 1_000} s of ${STALLED_RUN_S} would be detected by its latency`,
    held: served.p99Ms > plan.p99Ms && served.p99Ms > 0.7 * STALL_MS,
    figure: `stopped by a signal, ${Math.round(100 * stalledShare)} of 100 requests due in that time: ${describeLatencies(served)}`,
  };
}

interface Overload {
  readonly name: string;
  readonly report: Report;
  readonly watch: Watch;
  readonly health: Health;
  readonly recoveredMs: number | null;
}

async function overload(load: Load, rate: number): Promise<Omit<LoadResult, "rate">> {
  const { plan, running } = load;
  const before = descriptorsOf(running.pid);
  const runs = await overloads(load, rate);
  const opened = (await settledDescriptors(running.pid, before + DESCRIPTOR_ALLOWANCE)) - before;
  const maximum = Math.max(...runs.map(({ watch }) => watch.largest.descriptors));
  return {
    findings: [
      ...overloadFindings(plan, runs),
      {
        claim: "an overload leaves no descriptor open",
        held: opened <= DESCRIPTOR_ALLOWANCE,
        figure: `${before} before, ${before + opened} afterwards, at most ${maximum} during the overload`,
      },
    ],
    tables: [overloadTable(plan, runs, rate)],
  };
}

async function overloads({ context, plan, store, running, generator }: Load, rate: number): Promise<Overload[]> {
  const wal = `${dataFiles(store.directory).database}-wal`;
  const runs: Overload[] = [];
  for (const { kind, factor } of plan.overloads) {
    const watch = new Watch(running.pid, wal, 250);
    const stopHealthWatch = watchHealth(running.port);
    const report = await generator.run({
      kind,
      rate: rate * factor,
      seconds: plan.overloadS,
      withLong: false,
      connections: plan.overloadConnections,
    });
    watch.stop();
    const health = await stopHealthWatch();
    const recoveredMs = await measureRecovery(plan, generator, rate);
    runs.push({ name: `${kind} × ${factor}`, report, watch, health, recoveredMs });
    context.say(
      `${kind} × ${factor}: ${describeReport(report)}; served ${describeLatencies(report.served)}; from sending ${describeLatencies(report.fromSending)}; memory ${watch.largest.memoryMb.toFixed(0)} MB; recovered ${recoveredMs === null ? "not" : `${(recoveredMs / 1_000).toFixed(1)} s`}`,
    );
  }
  return runs;
}

function overloadFindings(plan: Plan, runs: readonly Overload[]): Finding[] {
  const worst = (value: (run: Overload) => number) => Math.max(...runs.map(value));
  const sum = (value: (run: Overload) => number) => runs.reduce((total, run) => total + value(run), 0);
  const describeWhere = (isWrong: (run: Overload) => boolean) =>
    runs.filter(isWrong).map(({ name, report }) => `${name}: ${describeReport(report)}`);
  const unanswered = describeWhere(({ report }) => report.unanswered > 0 || report.broken > 0);
  const wrong = describeWhere(({ report }) => report.faults.length > 0);
  const refused = sum(({ report }) => report.refusals.count);
  const withoutRetryAfter = sum(({ report }) => report.withoutRetryAfter);
  const slowest = worst(({ report }) => report.fromSending.longestMs);
  const memoryMb = worst(({ watch }) => watch.largest.memoryMb);
  const walMb = worst(({ watch }) => watch.largest.walMb);
  const late = runs
    .filter(({ recoveredMs }) => recoveredMs === null || recoveredMs > RECOVERY_MS)
    .map(({ name }) => name);
  return [
    {
      claim: "above its capacity, the appliance refuses some requests at once",
      held: refused > 0,
      figure: `${refused} of ${sum(({ report }) => report.fromSending.count)} requests refused`,
    },
    {
      claim: "above its capacity, no request waits indefinitely: every one is answered or refused",
      held: unanswered.length === 0,
      figure:
        unanswered.length === 0 ? `${sum(({ report }) => report.fromSending.count)} requests` : unanswered.join("; "),
    },
    {
      claim: `above its capacity, every request is answered or refused within ${plan.promptMs / 1_000} s of being sent`,
      held: slowest < plan.promptMs,
      figure: `the slowest after ${Math.round(slowest)} ms`,
    },
    {
      claim: "above its capacity, the only responses are success, 429 and 503",
      held: wrong.length === 0,
      figure: wrong.length === 0 ? statusesOf(runs.map(({ report }) => report)) : wrong.join("; "),
    },
    {
      claim: "every refusal has a Retry-After",
      held: withoutRetryAfter === 0,
      figure: `${refused} refusals, ${withoutRetryAfter} without`,
    },
    {
      claim: "above its capacity, the health check is never refused",
      held: sum(({ health }) => health.failed) === 0 && sum(({ health }) => health.answered) > 0,
      figure: `${sum(({ health }) => health.answered)} answered, ${sum(({ health }) => health.failed)} not; the slowest after ${Math.round(worst(({ health }) => health.slowestMs))} ms`,
    },
    {
      claim: `above its capacity, anonymous memory stays under ${MEMORY_MB} MB`,
      held: memoryMb < MEMORY_MB,
      figure: `at most ${memoryMb.toFixed(0)} MB`,
    },
    {
      claim: `above its capacity, the write-ahead log stays under ${WAL_MB} MB`,
      held: walMb < WAL_MB,
      figure: `at most ${walMb.toFixed(1)} MB`,
    },
    {
      claim: `within ${RECOVERY_MS / 1_000} s after an overload, the former rate has its latency again`,
      held: late.length === 0,
      figure:
        late.length === 0
          ? `after ${(worst(({ recoveredMs }) => recoveredMs ?? 0) / 1_000).toFixed(1)} s at most`
          : `not after ${late.join(", ")}`,
    },
  ];
}

function overloadTable(plan: Plan, runs: readonly Overload[], rate: number): Table {
  return {
    title: `Above ${rate} requests per second, over ${plan.overloadConnections} connections for ${plan.overloadS} s each; milliseconds since sending`,
    columns: [
      "load",
      "served",
      "refused",
      "no free connection",
      "served p50",
      "served p99",
      "refused p50",
      "refused p99",
      "longest",
      "memory, MB",
      "recovered after, s",
    ],
    rows: runs.map(({ name, report, watch, recoveredMs }) => [
      name,
      String(report.served.count),
      String(report.refusals.count),
      String(report.unsent),
      String(report.accepted.p50Ms),
      String(report.accepted.p99Ms),
      String(report.refusals.p50Ms),
      String(report.refusals.p99Ms),
      String(Math.round(report.fromSending.longestMs)),
      watch.largest.memoryMb.toFixed(0),
      recoveredMs === null ? "—" : (recoveredMs / 1_000).toFixed(1),
    ]),
  };
}

interface Health {
  answered: number;
  failed: number;
  slowestMs: number;
}

/** Polls the health of the appliance. @returns a function that stops polling and returns the result */
function watchHealth(port: number): () => Promise<Health> {
  const health: Health = { answered: 0, failed: 0, slowestMs: 0 };
  let isOver = false;
  const polling = (async () => {
    while (!isOver) {
      const sentAt = performance.now();
      const response = await fetch(`http://127.0.0.1:${port}/api/health`, {
        signal: AbortSignal.timeout(HANG_MS),
      }).catch(() => null);
      if (response?.ok) health.answered += 1;
      else health.failed += 1;
      await response?.arrayBuffer().catch(() => null);
      health.slowestMs = Math.max(health.slowestMs, performance.now() - sentAt);
      await Bun.sleep(HEALTH_EVERY_MS);
    }
  })();
  return async () => {
    isOver = true;
    await polling;
    return health;
  };
}

/** Measures the time after an overload until a run is within the latency limit; null after a timeout. */
async function measureRecovery(plan: Plan, generator: Generators, rate: number): Promise<number | null> {
  const endedAt = performance.now();
  for (;;) {
    const elapsedMs = performance.now() - endedAt;
    const report = await generator.run({ kind: "mixed", rate, seconds: plan.recoveryS, withLong: false });
    if (isClean(report) && report.served[plan.recoveryQuantile] < plan.recoveredMs) return elapsedMs;
    if (elapsedMs > 2 * RECOVERY_MS) return null;
  }
}

async function waitForScans(running: Running, store: BuiltStore): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    const scans = await callApi<{ status: string }[]>(running, store, "GET", "/discovery/scans?limit=100");
    if (scans.every(({ status }) => status !== "Queued" && status !== "Running")) return;
    if (performance.now() > deadline) throw new Error("a scan did not end");
    await Bun.sleep(100);
  }
}

async function run(script: string, file: string): Promise<string> {
  const child = Bun.spawn([process.execPath, script, file], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const output = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error(`${script} ended with ${child.exitCode}`);
  return output;
}

function mixTable(rate: number): Table {
  return {
    title: `An hour of a busy network in ten minutes (× ${COMPRESSION}): requests`,
    columns: ["class", "share of interactive requests", "requests in that hour"],
    rows: [
      ...INTERACTIVE.map(({ name, share }) => [
        name,
        `${Math.round(share * 100)} %`,
        String(Math.round((share * rate * 3_600) / COMPRESSION)),
      ]),
      ...LONG.map(({ name, perHour }) => [name, "", String(perHour)]),
      ["followers of the changes", "", `${FOLLOWERS.polling} by long polling, ${FOLLOWERS.events} by events`],
    ],
  };
}

function trialTable(plan: Plan, trials: readonly Trial[]): Table {
  return {
    title: "Rates tested in sequence",
    columns: [
      "requests per second",
      "for, s",
      "p50, ms",
      "p99, ms",
      "p99.9, ms",
      `p99 below ${plan.p99Ms} ms, and only successful responses`,
    ],
    rows: trials.map(({ rate, seconds, report }) => [
      rate.toFixed(0),
      String(seconds),
      ...[report.served.p50Ms, report.served.p99Ms, report.served.p999Ms].map(String),
      meetsTarget(plan, report) ? "yes" : `no: ${describeReport(report)}`,
    ]),
  };
}

function describeLatencies({ p50Ms, p99Ms, p999Ms, longestMs }: Latencies): string {
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms, p99.9 ${p999Ms} ms, longest ${longestMs} ms`;
}

function describeReport({ sent, unsent, unanswered, broken, statuses, faults }: Report): string {
  return `${sent} sent (${JSON.stringify(statuses)}), ${unsent} without a free connection, ${unanswered} unanswered, ${broken} disconnected${faults.length === 0 ? "" : `; ${faults.join("; ")}`}`;
}

function statusesOf(reports: readonly Report[]): string {
  const total: Record<string, number> = {};
  for (const { statuses } of reports)
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count;
  return Object.entries(total)
    .map(([status, count]) => `${count} × ${status}`)
    .join(", ");
}

function cells({ count, p50Ms, p99Ms, p999Ms, longestMs }: Latencies): string[] {
  return [count, p50Ms, p99Ms, p999Ms, longestMs].map(String);
}

/** Selects about twenty of the samples. */
function sampled<T>(samples: readonly T[]): T[] {
  const step = Math.ceil(samples.length / 20);
  return samples.filter((_, n) => n % step === 0 || n === samples.length - 1);
}

/** Finds an unused UDP port on loopback: every switch uses it, on a separate address. */
async function freeSnmpPort(): Promise<number> {
  const socket = await Bun.udpSocket({ hostname: "127.0.0.1" });
  const { port } = socket;
  socket.close();
  return port;
}

/**
 * Counts the open descriptors once there are few enough, or after a timeout: closed connections take a moment to
 * disappear.
 */
async function settledDescriptors(pid: number, limit: number): Promise<number> {
  const until = performance.now() + HANG_MS;
  while (descriptorsOf(pid) > limit && performance.now() < until) await Bun.sleep(50);
  return descriptorsOf(pid);
}
