// Open-loop load generator: sends each request at its scheduled time, independent of earlier answers, in a separate
// process with its own pauses. Usage: generator.ts FILE with a Task; writes a Report to standard output.

import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { quantilesOf } from "../../quantiles.ts";
import { type Chance, COMPRESSION, classesOf, type Kind, LONG, type World } from "./mix.ts";

export interface Task {
  readonly world: World;
  readonly kind: Kind;
  /** Interactive requests per second, as a Poisson process. */
  readonly rate: number;
  readonly seconds: number;
  readonly connections: number;
  /** Whether to add the long requests. */
  readonly withLong: boolean;
  readonly seed: number;
  /** Timeout after which an answer counts as missed. */
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
  /** Interactive requests sent. */
  readonly sent: number;
  /** Due, but without a free connection until the end. */
  readonly unsent: number;
  /** Sent, but not answered in time. */
  readonly unanswered: number;
  /** Connections closed during a request. */
  readonly broken: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Answers of 429 and 503 without Retry-After. */
  readonly withoutRetryAfter: number;
  /** Samples of answers other than success, 429 or 503. */
  readonly faults: readonly string[];
  /** From the due time: the wait of a caller. Successes only. */
  readonly served: Latencies;
  readonly byClass: Readonly<Record<string, Latencies>>;
  readonly long: Readonly<Record<string, Latencies>>;
  /** From sending: the time of the appliance, including refusals. */
  readonly fromSending: Latencies;
  /** Successes only, from sending. */
  readonly accepted: Latencies;
  /** Refusals only, from sending. */
  readonly refusals: Latencies;
}

interface Due {
  readonly name: string;
  readonly isLong: boolean;
  readonly at: number;
  readonly bytes: Uint8Array;
}

interface Connection {
  readonly socket: { write(bytes: Uint8Array): number; end(): void };
  due: Due | null;
  sentAt: number;
  /** Bytes that did not fit into the socket's buffer. */
  unwritten: Uint8Array;
  status: number;
  hasRetryAfter: boolean;
  /** The server closes the connection after this answer. */
  isLast: boolean;
  head: Buffer;
  /** For a body with a length, the remaining bytes; -1 until the head is complete, -2 for chunked encoding. */
  left: number;
  tail: string;
  start: string;
}

const EMPTY = Buffer.alloc(0);
/** Limit of due requests without a connection: more would only use memory of this process. */
const BACKLOG_MAX = 20_000;
const FAULTS_TOLD = 5;

/** Runs the load of a task and measures the results. */
function generate(task: Task): Promise<Report> {
  return new Generator(task).run();
}

class Generator {
  private readonly task: Task;
  private readonly chance: Chance;
  private readonly free: Connection[] = [];
  private readonly all = new Set<Connection>();
  private readonly backlog: Due[] = [];
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
    for (let each = 0; each < this.task.connections; each += 1) this.open();
    const openBy = performance.now() + this.task.timeoutMs;
    while (this.all.size < this.task.connections && performance.now() < openBy) await Bun.sleep(5);

    await this.offer();
    // Requests without a connection until the end are dropped; sent ones are awaited.
    this.unsent += this.backlog.splice(0).filter(({ isLong }) => !isLong).length;
    const waitUntil = performance.now() + this.task.timeoutMs;
    const waiting = () => [...this.all].filter(({ due }) => due !== null);
    while (waiting().length > 0 && performance.now() < waitUntil) await Bun.sleep(5);
    const unanswered = waiting().length;
    this.isOver = true;
    for (const connection of this.all) connection.socket.end();
    return this.report(unanswered);
  }

  /** Sends requests when due, independent of answers. */
  private async offer(): Promise<void> {
    const { task, chance } = this;
    const classes = classesOf(task.kind);
    const total = classes.reduce((sum, { share }) => sum + share, 0);
    const began = performance.now();
    const end = began + task.seconds * 1_000;
    /** Next due times of the long requests. The first ones are spread over one interval. */
    const longDue = LONG.map((each) => {
      const everyMs = 3_600_000 / COMPRESSION / each.perHour;
      return { each, everyMs, at: began + Math.min(everyMs, task.seconds * 500) * chance() };
    });
    let nextAt = began - Math.log(1 - chance()) * (1_000 / task.rate);
    const enqueue = (due: Due) => {
      // Last in, first out: the buffers of the others stay out of the processor's cache.
      const connection = this.free.pop();
      if (connection !== undefined) this.dispatch(connection, due);
      else if (this.backlog.length < BACKLOG_MAX) this.backlog.push(due);
      else this.unsent += 1;
    };
    while (performance.now() < end) {
      const now = performance.now();
      while (nextAt <= now && nextAt < end) {
        let ball = chance() * total;
        const chosen = classes.find(({ share }) => (ball -= share) < 0) ?? classes[0];
        if (chosen !== undefined)
          enqueue({ name: chosen.name, isLong: false, at: nextAt, bytes: chosen.request(task.world, chance) });
        nextAt -= Math.log(1 - chance()) * (1_000 / task.rate);
      }
      for (const next of task.withLong ? longDue : []) {
        if (next.at > now) continue;
        enqueue({ name: next.each.name, isLong: true, at: next.at, bytes: next.each.request(task.world, chance) });
        next.at += next.everyMs;
      }
      await Bun.sleep(1);
    }
  }

  private report(unanswered: number): Report {
    const { sent, unsent, broken, statuses, withoutRetryAfter, faults } = this;
    const sortedOf = (times: ReadonlyMap<string, number[]>) =>
      Object.fromEntries([...times].map(([name, each]) => [name, latenciesOf(each)]));
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
      byClass: sortedOf(this.interactive),
      long: sortedOf(this.long),
      fromSending: latenciesOf(this.fromSending),
      accepted: latenciesOf(this.accepted),
      refusals: latenciesOf(this.refusals),
    };
  }

  private open(): void {
    void Bun.connect<{ connection: Connection }>({
      hostname: "127.0.0.1",
      port: this.task.world.port,
      socket: {
        open: (socket) => {
          // Replacement of a connection that closed just before the end.
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
            left: -1,
            tail: "",
            start: "",
          };
          socket.data = { connection };
          this.all.add(connection);
          this.give(connection);
        },
        data: (socket, chunk) => this.receive(socket.data.connection, chunk),
        drain: (socket) => this.flush(socket.data.connection),
        close: (socket) => this.gone(socket.data?.connection),
        error: () => {},
        connectError: () => {},
      },
    }).catch(() => {});
  }

  private give(connection: Connection): void {
    const due = this.backlog.shift();
    if (due === undefined) this.free.push(connection);
    else this.dispatch(connection, due);
  }

  private dispatch(connection: Connection, due: Due): void {
    connection.due = due;
    connection.sentAt = performance.now();
    connection.head = EMPTY;
    connection.left = -1;
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
    if (connection.left === -1) {
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
      connection.left =
        length === null ? (text.includes("\r\ntransfer-encoding: chunked") ? -2 : 0) : Number(length[1]);
      body = head.subarray(bodyStart);
      connection.start = body.toString("utf8", 0, 300);
    }
    if (connection.left === -2) {
      connection.tail = (connection.tail + body.toString("latin1", Math.max(0, body.length - 5))).slice(-5);
      if (connection.tail === "0\r\n\r\n") this.answered(connection);
      return;
    }
    connection.left -= body.length;
    if (connection.left <= 0) this.answered(connection);
  }

  private answered(connection: Connection): void {
    const { due, status } = connection;
    if (due === null) return;
    connection.due = null;
    connection.left = -1;
    connection.head = EMPTY;
    const now = performance.now();
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    const isRefusal = status === 429 || status === 503;
    if (isRefusal && !connection.hasRetryAfter) this.withoutRetryAfter += 1;
    if (!isRefusal && (status < 200 || status > 299) && this.faults.length < FAULTS_TOLD)
      this.faults.push(`${due.name}: ${status} ${connection.start}`);
    if (!due.isLong) {
      this.fromSending.push(now - connection.sentAt);
      (isRefusal ? this.refusals : this.accepted).push(now - connection.sentAt);
    }
    if (status >= 200 && status < 300) {
      const into = due.isLong ? this.long : this.interactive;
      const times = into.get(due.name) ?? [];
      times.push(now - due.at);
      into.set(due.name, times);
    }
    // Another one then replaces it.
    if (connection.isLast) connection.socket.end();
    else this.give(connection);
  }

  private gone(connection: Connection | undefined): void {
    if (connection === undefined) return;
    this.all.delete(connection);
    const place = this.free.indexOf(connection);
    if (place >= 0) this.free.splice(place, 1);
    if (connection.due !== null) this.broken += 1;
    if (!this.isOver) this.open();
  }
}

function latenciesOf(times: readonly number[]): Latencies {
  const quantile = quantilesOf(times, 0);
  const at = (share: number) => Math.round(quantile(share) * 100) / 100;
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999), longestMs: at(1) };
}

if (import.meta.main) {
  const task = (await Bun.file(process.argv[2] as string).json()) as Task;
  await Bun.write(Bun.stdout, JSON.stringify(await generate(task)));
  process.exit(0);
}
