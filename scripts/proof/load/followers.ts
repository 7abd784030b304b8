// Followers of changes by long polling and by server-sent events, in a separate process that records what each of them
// sees. Usage: followers.ts FILE with a `Following`; prints `ready`, reads `until N` from standard input, and writes a
// report per follower as JSON.

import { HANG_MS } from "../../../test/support/measure/limits.ts";

/** Task of the process. */
interface Following {
  readonly port: number;
  readonly key: string;
  readonly after: number;
  readonly polling: number;
  readonly events: number;
}

/** Changes received by one follower. */
export interface FollowerReport {
  readonly mode: "long polling" | "events";
  readonly versions: number;
  readonly transactions: number;
  readonly last: number;
  /** Digest of `sequence:versions` for each transaction in received order: equal for followers that saw the same. */
  readonly digest: string;
  readonly problem: string | null;
}

/** Time that a poll waits for changes. */
const WAIT_S = 5;
const PAUSE_MS = 1_000;

/** Collects the versions of transactions, each of which must arrive complete. */
export class ChangeCollector {
  versions = 0;
  transactions = 0;
  last: number;
  private versionsInLast = 0;
  private readonly hasher = new Bun.CryptoHasher("sha256");

  constructor(after: number) {
    this.last = after;
  }

  add(sequence: number): void {
    if (sequence !== this.last) {
      if (sequence < this.last) throw new Error(`transaction ${sequence} came after ${this.last}`);
      this.close();
      this.last = sequence;
    }
    this.versions += 1;
    this.versionsInLast += 1;
  }

  /** Computes the digest; nothing may be added afterwards. */
  digest(): string {
    this.close();
    return this.hasher.digest("hex");
  }

  private close(): void {
    if (this.versionsInLast === 0) return;
    this.hasher.update(`${this.last}:${this.versionsInLast}\n`);
    this.transactions += 1;
    this.versionsInLast = 0;
  }
}

async function main(): Promise<void> {
  const task = (await Bun.file(process.argv[2] as string).json()) as Following;
  let until = Number.POSITIVE_INFINITY;
  const timeout = new AbortController();
  const isOver = (seen: ChangeCollector) => seen.last >= until || timeout.signal.aborted;
  const followers = [
    ...Array.from({ length: task.polling }, () => follow(task, "long polling", isOver, timeout.signal)),
    ...Array.from({ length: task.events }, () => follow(task, "events", isOver, timeout.signal)),
  ];
  process.stdout.write("ready\n");
  for await (const line of console) {
    const [, sequence] = /^until (\d+)$/.exec(line) ?? [];
    if (sequence === undefined) continue;
    until = Number(sequence);
    break;
  }
  const timer = setTimeout(() => timeout.abort(), HANG_MS);
  const seen = await Promise.all(followers);
  clearTimeout(timer);
  await Bun.write(Bun.stdout, `${JSON.stringify(seen)}\n`);
  process.exit(0);
}

async function follow(
  task: Following,
  mode: FollowerReport["mode"],
  isOver: (seen: ChangeCollector) => boolean,
  signal: AbortSignal,
): Promise<FollowerReport> {
  const seen = new ChangeCollector(task.after);
  let problem: string | null = null;
  try {
    if (mode === "events") await followEvents(task, seen, isOver, signal);
    else await poll(task, seen, isOver, signal);
  } catch (error) {
    problem = signal.aborted ? "timed out before the end" : error instanceof Error ? error.message : String(error);
  }
  const digest = seen.digest();
  return { mode, versions: seen.versions, transactions: seen.transactions, last: seen.last, digest, problem };
}

async function poll(
  task: Following,
  seen: ChangeCollector,
  isOver: (seen: ChangeCollector) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let { after } = task;
  let mark = "";
  while (!isOver(seen)) {
    const response = await fetch(
      `http://127.0.0.1:${task.port}/api/v1/changes?after=${after}&limit=1000&wait=${WAIT_S}${mark === "" ? "" : `&mark=${mark}`}`,
      { headers: { authorization: `Bearer ${task.key}` }, signal },
    );
    const text = await response.text();
    if (response.status === 429) {
      // Retries after the requested delay, like a well-behaved client.
      await Bun.sleep(PAUSE_MS * Number(response.headers.get("retry-after")));
      continue;
    }
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
    const { data, meta } = JSON.parse(text) as {
      data: { transaction: { sequence: number } }[];
      meta: { feed: { after: number; mark: string } };
    };
    for (const { transaction } of data) seen.add(transaction.sequence);
    after = meta.feed.after;
    mark = meta.feed.mark;
  }
}

/** Follows a single stream: if it is interrupted, that is a problem. */
async function followEvents(
  task: Following,
  seen: ChangeCollector,
  isOver: (seen: ChangeCollector) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const finished = new AbortController();
  const response = await fetch(`http://127.0.0.1:${task.port}/api/v1/changes?after=${task.after}&limit=1000`, {
    headers: { authorization: `Bearer ${task.key}`, accept: "text/event-stream" },
    signal: AbortSignal.any([signal, finished.signal]),
  });
  if (!response.ok || response.body === null)
    throw new Error(`${response.status} ${(await response.text()).slice(0, 200)}`);
  const decoder = new TextDecoder();
  let rest = "";
  // Checked periodically: after the last change, nothing arrives that would trigger a check.
  const check = setInterval(() => {
    if (isOver(seen)) finished.abort();
  }, PAUSE_MS / 10);
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data: "))
          seen.add((JSON.parse(line.slice(6)) as { transaction: { sequence: number } }).transaction.sequence);
      }
    }
    throw new Error("the stream ended");
  } catch (error) {
    if (!finished.signal.aborted) throw error;
  } finally {
    clearInterval(check);
  }
}

if (import.meta.main) await main();
