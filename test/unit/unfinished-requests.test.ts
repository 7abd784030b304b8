// Limit on connections with unfinished requests per address, on simulated connections.

import { describe, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import { INSPECT_INTERVAL_MS, UnfinishedRequests } from "../../src/http/unfinished-requests.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const LIMIT = 1_024;
const [LIMIT_PER_ADDRESS, LIMIT_PER_PROXY] = [128, 512];
const PORT = 8080;

interface Fields {
  readonly address?: string;
  readonly hasSentData?: boolean;
  readonly sentAgoMs?: number;
  readonly receivedAgoMs?: number;
}

class Machine {
  readonly timers = new ManualTimers();
  readonly answering = new Set<Request>();
  readonly logged: unknown[] = [];
  open: ReturnType<typeof connection>[] = [];
  /** Other open descriptors. */
  otherDescriptors = 40;
  isRefused = false;
  isListed = true;
  readonly unfinished: UnfinishedRequests;

  constructor({ isTls = false, limit = LIMIT, proxies = [] as string[] } = {}) {
    const connections = {
      acceptedAt: (port: number) => (port === PORT ? this.open : []),
      end: ({ descriptor }: { descriptor: number }) => {
        this.open = this.open.filter((entry) => entry.descriptor !== descriptor);
      },
      close: () => {},
    };
    this.unfinished = new UnfinishedRequests({
      descriptors: () =>
        this.isListed
          ? Array.from({ length: this.otherDescriptors + this.open.length }, (_, descriptor) => descriptor)
          : null,
      open: () => (this.isRefused ? null : connections),
      descriptorLimit: limit,
      server: {
        port: PORT,
        peerOf: (request) => {
          const port = Number(new URL(request.url).port);
          return this.open.find((entry) => entry.port === port) ?? null;
        },
      },
      isTls,
      awaitingResponse: this.answering,
      trustedProxies: proxies.map((cidr) => parseCidr(cidr) as Cidr),
      timers: this.timers,
      log: { warn: (event: string, fields: object) => this.logged.push([event, fields]) } as never,
    });
  }

  add(count: number, fields: Fields = {}): void {
    for (let n = 0; n < count; n += 1) this.open.push(connection(fields));
  }

  /** Runs a check. @returns the number of remaining connections */
  check(): number {
    this.timers.advance(INSPECT_INTERVAL_MS);
    return this.open.length;
  }
}

let lastDescriptor = 0;
function connection({ address = "10.0.0.7", hasSentData = false, sentAgoMs = 50, receivedAgoMs = 50 }: Fields) {
  lastDescriptor += 1;
  return {
    descriptor: lastDescriptor,
    address,
    port: 1_000 + lastDescriptor,
    hasSentData,
    sentAgoMs,
    receivedAgoMs,
  };
}

const IDLE: Fields = { hasSentData: true, sentAgoMs: 500, receivedAgoMs: 500 };
const RESUMED: Fields = { hasSentData: true, sentAgoMs: 500, receivedAgoMs: 400 };
const STREAMING: Fields = { hasSentData: true, sentAgoMs: 10, receivedAgoMs: 90_000 };

describe("the connections of one address", () => {
  test("may hold an eighth of the descriptors with incomplete requests; the rest are closed", () => {
    const machine = new Machine();
    machine.add(LIMIT_PER_ADDRESS);
    expect(machine.check()).toBe(LIMIT_PER_ADDRESS);
    machine.add(300, RESUMED);
    expect(machine.check()).toBe(LIMIT_PER_ADDRESS);
  });

  test("are closed by idle time, longest first", () => {
    const machine = new Machine();
    machine.add(100, { sentAgoMs: 9_000, receivedAgoMs: 9_000 });
    machine.add(LIMIT_PER_ADDRESS, { sentAgoMs: 20, receivedAgoMs: 20 });
    machine.check();
    expect(machine.open.map(({ receivedAgoMs }) => receivedAgoMs)).toEqual(
      Array.from({ length: LIMIT_PER_ADDRESS }, () => 20),
    );
  });

  test("are left open while awaiting a response, receiving one or idle between requests", () => {
    const machine = new Machine();
    machine.add(250, IDLE);
    machine.add(100, STREAMING);
    machine.add(200);
    for (const { port } of machine.open.slice(-200)) machine.answering.add(new Request(`http://localhost:${port}/`));
    expect(machine.check()).toBe(550);
    machine.answering.clear();
    expect(machine.check()).toBe(350 + LIMIT_PER_ADDRESS);
  });

  test("do not count a TLS handshake alone as a response", () => {
    const machine = new Machine({ isTls: true });
    machine.add(300, { hasSentData: true, sentAgoMs: 40, receivedAgoMs: 40 });
    machine.add(50, STREAMING);
    expect(machine.check()).toBe(50 + LIMIT_PER_ADDRESS);
  });

  test("are counted by /64 for IPv6, and as IPv4 if IPv4-mapped", () => {
    const machine = new Machine();
    for (let n = 1; n <= 300; n += 1) machine.add(1, { address: `2001:db8:0:1::${n.toString(16)}` });
    for (let n = 1; n <= 100; n += 1) machine.add(1, { address: `2001:db8:0:2::${n.toString(16)}` });
    machine.add(100, { address: "::ffff:10.0.0.9" });
    machine.add(100, { address: "10.0.0.9" });
    expect(machine.check()).toBe(LIMIT_PER_ADDRESS + 100 + LIMIT_PER_ADDRESS);
  });

  test("do not include those of other addresses", () => {
    const machine = new Machine();
    for (let n = 1; n <= 5; n += 1) machine.add(100, { address: `10.0.1.${n}` });
    machine.add(200);
    expect(machine.check()).toBe(500 + LIMIT_PER_ADDRESS);
  });
});

test("a trusted proxy may hold half of the descriptors; an untrusted one counts like any address", () => {
  const machine = new Machine({ proxies: ["10.0.0.0/30"] });
  machine.add(700, { address: "10.0.0.2" });
  machine.add(200, { address: "10.0.0.9" });
  expect(machine.check()).toBe(LIMIT_PER_PROXY + LIMIT_PER_ADDRESS);
});

test("above three quarters of the descriptors, all unanswered connections count", () => {
  const machine = new Machine();
  machine.add(600, IDLE);
  expect(machine.check()).toBe(600);
  machine.add(200, IDLE);
  machine.add(20, STREAMING);
  machine.add(100, { ...IDLE, address: "10.0.0.9" });
  const [awaiting] = machine.open;
  machine.answering.add(new Request(`http://localhost:${awaiting?.port}/`));
  expect(machine.check()).toBe(1 + LIMIT_PER_ADDRESS + 100);
  expect(machine.open.filter(({ receivedAgoMs }) => receivedAgoMs === STREAMING.receivedAgoMs)).toHaveLength(20);
  expect(machine.open).toContain(awaiting as (typeof machine.open)[number]);
});

test("a few connections are always allowed, no matter how few descriptors there are", () => {
  const machine = new Machine({ limit: 64 });
  machine.otherDescriptors = 20;
  machine.add(30);
  expect(machine.check()).toBe(16);
});

test("without access to the kernel nothing is limited, and no further attempt is made", () => {
  const machine = new Machine();
  machine.isRefused = true;
  machine.add(300);
  expect([machine.check(), machine.timers.pendingCount]).toEqual([300, 0]);
});

test("the next check compensates for one that could not list descriptors", () => {
  const machine = new Machine();
  machine.isListed = false;
  machine.add(300);
  expect(machine.check()).toBe(300);
  machine.isListed = true;
  expect(machine.check()).toBe(LIMIT_PER_ADDRESS);
});

test("closed connections are logged by address, at most once a second, and checks end on stop", () => {
  const machine = new Machine();
  for (let n = 0; n < 3; n += 1) {
    machine.add(200);
    machine.check();
  }
  machine.timers.advance(1_000);
  expect(machine.logged).toEqual([
    ["unfinished_requests_ended", { source: "10.0.0.7", ended: 600 - LIMIT_PER_ADDRESS }],
  ]);
  machine.unfinished.stop();
  expect(machine.timers.pendingCount).toBe(0);
});
