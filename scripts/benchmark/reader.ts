// A reader in a Worker: one request after the other until it is told to stop, and how long each took.

export interface ReaderReport {
  readonly reads: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly longestMs: number;
}

interface Task {
  readonly port: number;
  readonly paths: readonly string[];
  readonly key: string;
  /** Whether it asks for what was a second ago. */
  readonly isPast: boolean;
}

/** Requests that do not count: connection and code are cold. */
const WARM_UP = 200;

const port = globalThis as unknown as {
  postMessage(message: ReaderReport | "warm"): void;
  onmessage: (event: MessageEvent<Task | "stop">) => void;
};
let isStopped = false;

port.onmessage = (event) => {
  if (event.data === "stop") isStopped = true;
  else void read(event.data);
};

async function read(task: Task): Promise<void> {
  const took: number[] = [];
  const headers = { authorization: `Bearer ${task.key}` };
  for (let i = 0; !isStopped; i += 1) {
    const path = task.paths[i % task.paths.length] as string;
    const at = task.isPast ? `${path.includes("?") ? "&" : "?"}at=${new Date(Date.now() - 1_000).toISOString()}` : "";
    const started = performance.now();
    const answer = await fetch(`http://127.0.0.1:${task.port}${path}${at}`, { headers });
    await answer.bytes();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
    if (i === WARM_UP) port.postMessage("warm");
    if (i > WARM_UP) took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;
  port.postMessage({ reads: took.length, p50Ms: at(0.5), p99Ms: at(0.99), longestMs: at(1) });
}
