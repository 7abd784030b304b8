// Followers of changes by long polling and by server-sent events, with the changes seen by each, in a separate process.
// Usage: followers.ts FILE with a Following; prints `ready`, reads `until N` from standard input, and writes the Seen
// of each as JSON.

import { HANG_MS } from "../../../test/support/measure/limits.ts";

interface Following {
  readonly port: number;
  readonly key: string;
  readonly after: number;
  readonly polling: number;
  readonly events: number;
}

/** Changes received by one follower. */
export interface Seen {
  readonly by: "long polling" | "events";
  readonly versions: number;
  readonly transactions: number;
  readonly last: number;
  /** Over `sequence:versions` of each transaction in received order: equal for all who saw the same. */
  readonly digest: string;
  readonly problem: string | null;
}

/** Timeout after which a follower has missed the end. */
const WAIT_S = 5;
const PAUSE_MS = 1_000;

/** Collects the versions of transactions, each of which arrives complete. */
export class SeenChanges {
  versions = 0;
  transactions = 0;
  last: number;
  private inLast = 0;
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
    this.inLast += 1;
  }

  /** Digest so far; nothing may be added afterwards. */
  digest(): string {
    this.close();
    return this.hasher.digest("hex");
  }

  private close(): void {
    if (this.inLast === 0) return;
    this.hasher.update(`${this.last}:${this.inLast}\n`);
    this.transactions += 1;
    this.inLast = 0;
  }
}

async function main(): Promise<void> {
  const task = (await Bun.file(process.argv[2] as string).json()) as Following;
  let until = Number.POSITIVE_INFINITY;
  const over = new AbortController();
  const isOver = (seen: SeenChanges) => seen.last >= until || over.signal.aborted;
  const followers = [
    ...Array.from({ length: task.polling }, () => follow(task, "long polling", isOver, over.signal)),
    ...Array.from({ length: task.events }, () => follow(task, "events", isOver, over.signal)),
  ];
  process.stdout.write("ready\n");
  for await (const line of console) {
    const [, sequence] = /^until (\d+)$/.exec(line) ?? [];
    if (sequence === undefined) continue;
    until = Number(sequence);
    break;
  }
  const timer = setTimeout(() => over.abort(), HANG_MS);
  const seen = await Promise.all(followers);
  clearTimeout(timer);
  await Bun.write(Bun.stdout, `${JSON.stringify(seen)}\n`);
  process.exit(0);
}

async function follow(
  task: Following,
  by: Seen["by"],
  isOver: (seen: SeenChanges) => boolean,
  signal: AbortSignal,
): Promise<Seen> {
  const seen = new SeenChanges(task.after);
  let problem: string | null = null;
  try {
    if (by === "events") await followEvents(task, seen, isOver, signal);
    else await poll(task, seen, isOver, signal);
  } catch (error) {
    problem = signal.aborted
      ? "did not come to the end in time"
      : error instanceof Error
        ? error.message
        : String(error);
  }
  const digest = seen.digest();
  return { by, versions: seen.versions, transactions: seen.transactions, last: seen.last, digest, problem };
}

async function poll(
  task: Following,
  seen: SeenChanges,
  isOver: (seen: SeenChanges) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let { after } = task;
  let mark = "";
  while (!isOver(seen)) {
    const answer = await fetch(
      `http://127.0.0.1:${task.port}/api/v1/changes?after=${after}&limit=1000&wait=${WAIT_S}${mark === "" ? "" : `&mark=${mark}`}`,
      { headers: { authorization: `Bearer ${task.key}` }, signal },
    );
    const text = await answer.text();
    if (answer.status === 429) {
      // Retries after the prescribed delay, like a well-behaved client.
      await Bun.sleep(PAUSE_MS * Number(answer.headers.get("retry-after")));
      continue;
    }
    if (!answer.ok) throw new Error(`${answer.status} ${text.slice(0, 200)}`);
    const { data, meta } = JSON.parse(text) as {
      data: { transaction: { sequence: number } }[];
      meta: { feed: { after: number; mark: string } };
    };
    for (const { transaction } of data) seen.add(transaction.sequence);
    after = meta.feed.after;
    mark = meta.feed.mark;
  }
}

/** One stream to its end: an interruption is a separate problem. */
async function followEvents(
  task: Following,
  seen: SeenChanges,
  isOver: (seen: SeenChanges) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const left = new AbortController();
  const answer = await fetch(`http://127.0.0.1:${task.port}/api/v1/changes?after=${task.after}&limit=1000`, {
    headers: { authorization: `Bearer ${task.key}`, accept: "text/event-stream" },
    signal: AbortSignal.any([signal, left.signal]),
  });
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status} ${(await answer.text()).slice(0, 200)}`);
  const decoder = new TextDecoder();
  let rest = "";
  // Polls as well: after the last change nothing arrives that would trigger a check.
  const look = setInterval(() => {
    if (isOver(seen)) left.abort();
  }, PAUSE_MS / 10);
  try {
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith("data: "))
          seen.add((JSON.parse(line.slice(6)) as { transaction: { sequence: number } }).transaction.sequence);
      }
    }
    throw new Error("the stream ended");
  } catch (error) {
    if (!left.signal.aborted) throw error;
  } finally {
    clearInterval(look);
  }
}

if (import.meta.main) await main();
