// Open-loop load generator: sends each request at its scheduled time, independent of earlier responses, in a separate
// process with its own garbage collection. Usage: generator.ts FILE with a `Task`; prints a `Report`.

import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { quantilesOf } from "../../quantiles.ts";
import { type Chance, COMPRESSION, classesOf, type Kind, LONG, type LoadFixture } from "./mix.ts";

export interface Task {
  readonly fixture: LoadFixture;
  readonly kind: Kind;
  /** Interactive requests per second, as a Poisson process. */
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
  /** Whether to add the long requests. */
  readonly withLong: boolean;
  readonly seed: number;
  /** Timeout after which a request counts as unanswered. */
  readonly timeoutMs: number;
}

export interface Latencies {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly longestMs: number;
}

export interface Report {
  readonly seconds: number;
  /** Number of interactive requests sent. */
  readonly sent: number;
  /** Number of requests that were due, but found no free connection until the end. */
  readonly unsent: number;
  /** Number of requests without a response in time. */
  readonly unanswered: number;
  /** Number of connections closed during a request. */
  readonly broken: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Number of 429 and 503 responses without Retry-After. */
  readonly withoutRetryAfter: number;
  /** Samples of responses other than success, 429 or 503. */
  readonly faults: readonly string[];
  /** Latencies of successes from the due time, as experienced by a caller. */
  readonly served: Latencies;
  readonly byClass: Readonly<Record<string, Latencies>>;
  readonly long: Readonly<Record<string, Latencies>>;
  /** Latencies from sending, including refusals: what the appliance takes. */
  readonly fromSending: Latencies;
  /** Latencies of successes from sending. */
  readonly accepted: Latencies;
  /** Latencies of refusals from sending. */
  readonly refusals: Latencies;
}

interface DueRequest {
  readonly name: string;
  readonly isLong: boolean;
  readonly at: number;
  readonly bytes: Uint8Array;
}

interface Connection {
  readonly socket: { write(bytes: Uint8Array): number; end(): void };
  due: DueRequest | null;
  sentAt: number;
  /** Bytes that did not fit into the socket's buffer. */
  unwritten: Uint8Array;
  status: number;
  hasRetryAfter: boolean;
  /** Whether the server closes the connection after this response. */
  isLast: boolean;
  head: Buffer;
  /** Remaining bytes of a body with a length; -1 until the head is complete, -2 for chunked encoding. */
  remainingBytes: number;
  tail: string;
  start: string;
}

const EMPTY = Buffer.alloc(0);
/** Maximum of due requests without a connection: more would only use memory of this process. */
const BACKLOG_MAX = 20_000;
const FAULTS_MAX = 5;

class Generator {
  private readonly task: Task;
  private readonly chance: Chance;
  private readonly free: Connection[] = [];
  private readonly openConnections = new Set<Connection>();
  private readonly backlog: DueRequest[] = [];
  private readonly interactive: Map<string, number[]>;
  private readonly long = new Map<string, number[]>();
  private readonly fromSending: number[] = [];
  private readonly accepted: number[] = [];
  private readonly refusals: number[] = [];
  private readonly statuses: Record<string, number> = {};
  private readonly faults: string[] = [];
  private sent = 0;
  private unsent = 0;
  private broken = 0;
  private withoutRetryAfter = 0;
  private isOver = false;

  constructor(task: Task) {
    const random = seededRandom(task.seed);
    this.task = task;
    this.chance = () => random.integer(2 ** 32) / 2 ** 32;
    this.interactive = new Map(classesOf(task.kind).map(({ name }) => [name, []]));
  }

  async run(): Promise<Report> {
    for (let i = 0; i < this.task.connections; i += 1) this.open();
    const openBy = performance.now() + this.task.timeoutMs;
    while (this.openConnections.size < this.task.connections && performance.now() < openBy) await Bun.sleep(5);

    await this.sendDue();
    // Requests that found no connection are dropped; responses to sent ones are awaited.
    this.unsent += this.backlog.splice(0).filter(({ isLong }) => !isLong).length;
    const waitUntil = performance.now() + this.task.timeoutMs;
    const waiting = () => [...this.openConnections].filter(({ due }) => due !== null);
    while (waiting().length > 0 && performance.now() < waitUntil) await Bun.sleep(5);
    const unanswered = waiting().length;
    this.isOver = true;
    for (const connection of this.openConnections) connection.socket.end();
    return this.report(unanswered);
  }

  /** Sends requests when due, independent of responses. */
  private async sendDue(): Promise<void> {
    const { task, chance } = this;
    const classes = classesOf(task.kind);
    const total = classes.reduce((sum, { share }) => sum + share, 0);
    const startedAt = performance.now();
    const end = startedAt + task.seconds * 1_000;
    /** Next due times of the long requests; the first ones are spread over one interval. */
    const longDue = LONG.map((long) => {
      const everyMs = 3_600_000 / COMPRESSION / long.perHour;
      return { long, everyMs, at: startedAt + Math.min(everyMs, task.seconds * 500) * chance() };
    });
    let nextAt = startedAt - Math.log(1 - chance()) * (1_000 / task.rate);
    const enqueue = (due: DueRequest) => {
      // Last in, first out: the buffers of idle connections stay out of the CPU cache.
      const connection = this.free.pop();
      if (connection !== undefined) this.dispatch(connection, due);
      else if (this.backlog.length < BACKLOG_MAX) this.backlog.push(due);
      else this.unsent += 1;
    };
    while (performance.now() < end) {
      const now = performance.now();
      while (nextAt <= now && nextAt < end) {
        let threshold = chance() * total;
        const chosen = classes.find(({ share }) => (threshold -= share) < 0) ?? classes[0];
        if (chosen !== undefined)
          enqueue({ name: chosen.name, isLong: false, at: nextAt, bytes: chosen.request(task.fixture, chance) });
        nextAt -= Math.log(1 - chance()) * (1_000 / task.rate);
      }
      for (const next of task.withLong ? longDue : []) {
        if (next.at > now) continue;
        enqueue({ name: next.long.name, isLong: true, at: next.at, bytes: next.long.request(task.fixture, chance) });
        next.at += next.everyMs;
      }
      await Bun.sleep(1);
    }
  }

  private report(unanswered: number): Report {
    const { sent, unsent, broken, statuses, withoutRetryAfter, faults } = this;
    const summarize = (times: ReadonlyMap<string, number[]>) =>
      Object.fromEntries([...times].map(([name, values]) => [name, latenciesOf(values)]));
    return {
      seconds: this.task.seconds,
      sent,
      unsent,
      unanswered,
      broken,
      statuses,
      withoutRetryAfter,
      faults,
      served: latenciesOf([...this.interactive.values()].flat()),
      byClass: summarize(this.interactive),
      long: summarize(this.long),
      fromSending: latenciesOf(this.fromSending),
      accepted: latenciesOf(this.accepted),
      refusals: latenciesOf(this.refusals),
    };
  }

  private open(): void {
    void Bun.connect<{ connection: Connection }>({
      hostname: "127.0.0.1",
      port: this.task.fixture.port,
      socket: {
        open: (socket) => {
          // Replaces a connection that closed just before the end: no longer needed.
          if (this.isOver) return void socket.end();
          const connection: Connection = {
            socket: socket as never,
            due: null,
            sentAt: 0,
            unwritten: EMPTY,
            status: 0,
            hasRetryAfter: false,
            isLast: false,
            head: EMPTY,
            remainingBytes: -1,
            tail: "",
            start: "",
          };
          socket.data = { connection };
          this.openConnections.add(connection);
          this.assign(connection);
        },
        data: (socket, chunk) => this.receive(socket.data.connection, chunk),
        drain: (socket) => this.flush(socket.data.connection),
        close: (socket) => this.onClose(socket.data?.connection),
        error: () => {},
        connectError: () => {},
      },
    }).catch(() => {});
  }

  private assign(connection: Connection): void {
    const due = this.backlog.shift();
    if (due === undefined) this.free.push(connection);
    else this.dispatch(connection, due);
  }

  private dispatch(connection: Connection, due: DueRequest): void {
    connection.due = due;
    connection.sentAt = performance.now();
    connection.head = EMPTY;
    connection.remainingBytes = -1;
    connection.tail = "";
    connection.start = "";
    connection.unwritten = due.bytes;
    if (!due.isLong) this.sent += 1;
    this.flush(connection);
  }

  private flush(connection: Connection): void {
    if (connection.unwritten.length === 0) return;
    const written = Math.max(0, connection.socket.write(connection.unwritten));
    connection.unwritten = connection.unwritten.subarray(written);
  }

  private receive(connection: Connection, chunk: Buffer): void {
    let body: Buffer = chunk;
    if (connection.remainingBytes === -1) {
      const head = connection.head.length === 0 ? chunk : Buffer.concat([connection.head, chunk]);
      const bodyStart = head.indexOf("\r\n\r\n") + 4;
      if (bodyStart < 4) {
        connection.head = Buffer.from(head);
        return;
      }
      const text = head.toString("latin1", 0, bodyStart).toLowerCase();
      connection.status = Number(text.slice(9, 12));
      connection.hasRetryAfter = text.includes("\r\nretry-after:");
      connection.isLast = text.includes("\r\nconnection: close");
      const length = /\r\ncontent-length: *(\d+)/.exec(text);
      connection.remainingBytes =
        length === null ? (text.includes("\r\ntransfer-encoding: chunked") ? -2 : 0) : Number(length[1]);
      body = head.subarray(bodyStart);
      connection.start = body.toString("utf8", 0, 300);
    }
    if (connection.remainingBytes === -2) {
      connection.tail = (connection.tail + body.toString("latin1", Math.max(0, body.length - 5))).slice(-5);
      if (connection.tail === "0\r\n\r\n") this.onResponse(connection);
      return;
    }
    connection.remainingBytes -= body.length;
    if (connection.remainingBytes <= 0) this.onResponse(connection);
  }

  private onResponse(connection: Connection): void {
    const { due, status } = connection;
    if (due === null) return;
    connection.due = null;
    connection.remainingBytes = -1;
    connection.head = EMPTY;
    const now = performance.now();
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const isRefusal = status === 429 || status === 503;
    if (isRefusal && !connection.hasRetryAfter) this.withoutRetryAfter += 1;
    if (!isRefusal && (status < 200 || status > 299) && this.faults.length < FAULTS_MAX)
      this.faults.push(`${due.name}: ${status} ${connection.start}`);
    if (!due.isLong) {
      this.fromSending.push(now - connection.sentAt);
      (isRefusal ? this.refusals : this.accepted).push(now - connection.sentAt);
    }
    if (status >= 200 && status < 300) {
      const timesByName = due.isLong ? this.long : this.interactive;
      const times = timesByName.get(due.name) ?? [];
      times.push(now - due.at);
      timesByName.set(due.name, times);
    }
    // When it is closed, a new connection replaces it.
    if (connection.isLast) connection.socket.end();
    else this.assign(connection);
  }

  private onClose(connection: Connection | undefined): void {
    if (connection === undefined) return;
    this.openConnections.delete(connection);
    const index = this.free.indexOf(connection);
    if (index >= 0) this.free.splice(index, 1);
    if (connection.due !== null) this.broken += 1;
    if (!this.isOver) this.open();
  }
}

function latenciesOf(times: readonly number[]): Latencies {
  const quantile = quantilesOf(times, 0);
  const rounded = (share: number) => Math.round(quantile(share) * 100) / 100;
  const [p50Ms, p99Ms, p999Ms, longestMs] = [rounded(0.5), rounded(0.99), rounded(0.999), rounded(1)];
  return { count: times.length, p50Ms, p99Ms, p999Ms, longestMs };
}

if (import.meta.main) {
  const task = (await Bun.file(process.argv[2] as string).json()) as Task;
  await Bun.write(Bun.stdout, JSON.stringify(await new Generator(task).run()));
  process.exit(0);
}
