// Limit on connections with unfinished requests per address, on simulated connections.

import { describe, expect, test } from "bun:test";
import { type Cidr, parseCidr } from "../../src/base/ip.ts";
import { CONNECTIONS_LOOK_MS, UnfinishedRequests } from "../../src/http/unfinished-requests.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const LIMIT = 1_024;
const [OF_PLACE, OF_PROXY] = [128, 512];
const PORT = 8080;

interface Fields {
  readonly address?: string;
  readonly wasAnswered?: boolean;
  readonly sentAgoMs?: number;
  readonly heardAgoMs?: number;
}

class Machine {
  readonly timers = new ManualTimers();
  readonly answering = new Set<Request>();
  readonly logged: unknown[] = [];
  open: ReturnType<typeof connection>[] = [];
  /** Other open descriptors. */
  others = 40;
  isRefused = false;
  isListed = true;
  readonly unfinished: UnfinishedRequests;

  constructor({ isTls = false, limit = LIMIT, proxies = [] as string[] } = {}) {
    const connections = {
      acceptedAt: (port: number) => (port === PORT ? this.open : []),
      end: ({ descriptor }: { descriptor: number }) => {
        this.open = this.open.filter((each) => each.descriptor !== descriptor);
      },
      close: () => {},
    };
    this.unfinished = new UnfinishedRequests({
      descriptors: () =>
        this.isListed ? Array.from({ length: this.others + this.open.length }, (_, descriptor) => descriptor) : null,
      open: () => (this.isRefused ? null : connections),
      descriptorLimit: limit,
      server: {
        port: PORT,
        peerOf: (request) => {
          const port = Number(new URL(request.url).port);
          return this.open.find((each) => each.port === port) ?? null;
        },
      },
      isTls,
      answering: this.answering,
      trustedProxies: proxies.map((each) => parseCidr(each) as Cidr),
      timers: this.timers,
      log: { warn: (event: string, fields: object) => this.logged.push([event, fields]) } as never,
    });
  }

  add(count: number, fields: Fields = {}): void {
    for (let n = 0; n < count; n += 1) this.open.push(connection(fields));
  }

  /** Number of remaining connections after a check. */
  look(): number {
    this.timers.advance(CONNECTIONS_LOOK_MS);
    return this.open.length;
  }
}

let made = 0;
function connection({ address = "10.0.0.7", wasAnswered = false, sentAgoMs = 50, heardAgoMs = 50 }: Fields) {
  made += 1;
  return { descriptor: made, address, port: 1_000 + made, wasAnswered, sentAgoMs, heardAgoMs };
}

const IDLE: Fields = { wasAnswered: true, sentAgoMs: 500, heardAgoMs: 500 };
const BEGUN_AGAIN: Fields = { wasAnswered: true, sentAgoMs: 500, heardAgoMs: 400 };
const STREAMING: Fields = { wasAnswered: true, sentAgoMs: 10, heardAgoMs: 90_000 };

describe("for one address,", () => {
  test("incomplete requests may hold an eighth of the descriptors; the rest are ended", () => {
    const machine = new Machine();
    machine.add(OF_PLACE);
    expect(machine.look()).toBe(OF_PLACE);
    machine.add(300, BEGUN_AGAIN);
    expect(machine.look()).toBe(OF_PLACE);
  });

  test("those idle longest are ended first", () => {
    const machine = new Machine();
    machine.add(100, { sentAgoMs: 9_000, heardAgoMs: 9_000 });
    machine.add(OF_PLACE, { sentAgoMs: 20, heardAgoMs: 20 });
    machine.look();
    expect(machine.open.map(({ heardAgoMs }) => heardAgoMs)).toEqual(Array.from({ length: OF_PLACE }, () => 20));
  });

  test("requests awaiting an answer, being answered or idle between requests are left alone", () => {
    const machine = new Machine();
    machine.add(250, IDLE);
    machine.add(100, STREAMING);
    machine.add(200);
    for (const { port } of machine.open.slice(-200)) machine.answering.add(new Request(`http://localhost:${port}/`));
    expect(machine.look()).toBe(550);
    machine.answering.clear();
    expect(machine.look()).toBe(350 + OF_PLACE);
  });

  test("a TLS handshake alone does not count as an answer", () => {
    const machine = new Machine({ isTls: true });
    machine.add(300, { wasAnswered: true, sentAgoMs: 40, heardAgoMs: 40 });
    machine.add(50, STREAMING);
    expect(machine.look()).toBe(50 + OF_PLACE);
  });

  test("IPv6 counts by /64, and IPv4-mapped as IPv4", () => {
    const machine = new Machine();
    for (let n = 1; n <= 300; n += 1) machine.add(1, { address: `2001:db8:0:1::${n.toString(16)}` });
    for (let n = 1; n <= 100; n += 1) machine.add(1, { address: `2001:db8:0:2::${n.toString(16)}` });
    machine.add(100, { address: "::ffff:10.0.0.9" });
    machine.add(100, { address: "10.0.0.9" });
    expect(machine.look()).toBe(OF_PLACE + 100 + OF_PLACE);
  });

  test("others' connections do not count", () => {
    const machine = new Machine();
    for (let n = 1; n <= 5; n += 1) machine.add(100, { address: `10.0.1.${n}` });
    machine.add(200);
    expect(machine.look()).toBe(500 + OF_PLACE);
  });
});

test("a trusted proxy may hold half of the descriptors, an untrusted one counts like any address", () => {
  const machine = new Machine({ proxies: ["10.0.0.0/30"] });
  machine.add(700, { address: "10.0.0.2" });
  machine.add(200, { address: "10.0.0.9" });
  expect(machine.look()).toBe(OF_PROXY + OF_PLACE);
});

test("above three quarters of the descriptors, all unanswered connections count", () => {
  const machine = new Machine();
  machine.add(600, IDLE);
  expect(machine.look()).toBe(600);
  machine.add(200, IDLE);
  machine.add(20, STREAMING);
  machine.add(100, { ...IDLE, address: "10.0.0.9" });
  const [asked] = machine.open;
  machine.answering.add(new Request(`http://localhost:${asked?.port}/`));
  expect(machine.look()).toBe(1 + OF_PLACE + 100);
  expect(machine.open.filter(({ heardAgoMs }) => heardAgoMs === STREAMING.heardAgoMs)).toHaveLength(20);
  expect(machine.open).toContain(asked as (typeof machine.open)[number]);
});

test("a few are always allowed, however few descriptors there are", () => {
  const machine = new Machine({ limit: 64 });
  machine.others = 20;
  machine.add(30);
  expect(machine.look()).toBe(16);
});

test("without access to the kernel nothing is limited, and no further attempt is made", () => {
  const machine = new Machine();
  machine.isRefused = true;
  machine.add(300);
  expect([machine.look(), machine.timers.pendingCount]).toEqual([300, 0]);
});

test("a check that cannot list descriptors is made up for by the next one", () => {
  const machine = new Machine();
  machine.isListed = false;
  machine.add(300);
  expect(machine.look()).toBe(300);
  machine.isListed = true;
  expect(machine.look()).toBe(OF_PLACE);
});

test("ended connections are logged by address, at most once a second, and checks end with the stop", () => {
  const machine = new Machine();
  for (let n = 0; n < 3; n += 1) {
    machine.add(200);
    machine.look();
  }
  machine.timers.advance(1_000);
  expect(machine.logged).toEqual([["unfinished_requests_ended", { source: "10.0.0.7", ended: 600 - OF_PLACE }]]);
  machine.unfinished.stop();
  expect(machine.timers.pendingCount).toBe(0);
});
