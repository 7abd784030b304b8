// Pacing, timeouts and end of a sweep: slots, tokens, the poller, probes, and untrusted responses.

import { describe, expect, test } from "bun:test";
import { CONCURRENT_DEVICES } from "../../src/discovery/scans/probes.ts";
import { SCANS_RUNNING_MAX } from "../../src/discovery/scans/scan.ts";
import { roomForConnections } from "../../src/discovery/sweep/probe-methods.ts";
import { type Open, ProbeRound } from "../../src/discovery/sweep/probing.ts";
import { MAX_SILENT_ADDRESSES_PER_STATION, ProxyArpDetector } from "../../src/discovery/sweep/proxy-arp.ts";
import { Slots } from "../../src/discovery/sweep/slots.ts";
import { SocketPoller } from "../../src/discovery/sweep/socket-poller.ts";
import { TokenBucket } from "../../src/discovery/sweep/token-bucket.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

/** Runs all pending microtasks; no time passes. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}

describe("slots", () => {
  test("admit up to their limit concurrently, and others in order of arrival", async () => {
    const slots = new Slots(2);
    const entered: number[] = [];
    const releases: (() => void)[] = [];
    const work = [1, 2, 3, 4].map((number) =>
      slots.during(() => {
        entered.push(number);
        return new Promise<void>((resolve) => releases.push(resolve));
      }),
    );
    await settle();
    expect(entered).toEqual([1, 2]);
    releases[0]?.();
    await settle();
    expect(entered).toEqual([1, 2, 3]);
    for (const index of [1, 2, 3]) {
      releases[index]?.();
      await settle();
    }
    await Promise.all(work);
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  test("are freed after failing work", async () => {
    const slots = new Slots(1);
    expect(await slots.during(() => Promise.reject(new Error("broken"))).catch(String)).toBe("Error: broken");
    expect(await slots.during(() => Promise.resolve(7))).toBe(7);
  });

  test("reject waiting and later requests once closed", async () => {
    const slots = new Slots(1);
    await slots.acquire();
    const waiting = slots.acquire().catch(String);
    slots.end("over");
    expect(await waiting).toBe("over");
    expect(await slots.acquire().catch(String)).toBe("over");
  });
});

test("concurrent connections leave descriptors for the store and clients, over all permitted scans", () => {
  // Per sweep and its devices: connections to open ports, queried agents.
  const others = 64 + CONCURRENT_DEVICES;
  expect(SCANS_RUNNING_MAX * (roomForConnections(1_024) + others)).toBeLessThan(900);
  expect(roomForConnections(524_288)).toBeGreaterThan(512);
  expect(roomForConnections(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  expect(roomForConnections(64)).toBeGreaterThan(0);
});

describe("a token bucket", () => {
  function newBucket(ratePerSecond: number) {
    const timers = new ManualTimers();
    let now = 0;
    const bucket = new TokenBucket(ratePerSecond, () => now, timers);
    const pass = async (ms: number): Promise<void> => {
      for (let step = 0; step < ms; step += 1) {
        now += 1;
        timers.advance(1);
        await settle();
      }
    };
    return { bucket, timers, pass };
  }

  test("passes its rate, and never more than a short burst", async () => {
    const { bucket, pass } = newBucket(1_000);
    let passed = 0;
    for (let count = 0; count < 5_000; count += 1) void bucket.take().then(() => (passed += 1));
    await settle();
    expect(passed).toBe(20);
    await pass(1_000);
    expect(passed).toBeGreaterThanOrEqual(1_015);
    expect(passed).toBeLessThanOrEqual(1_020);
    await pass(500);
    expect(Math.abs(passed - 1_520)).toBeLessThanOrEqual(5);
  });

  test("accumulates no more than a short burst", async () => {
    const { bucket, pass } = newBucket(1_000);
    await pass(10_000);
    let passed = 0;
    for (let count = 0; count < 100; count += 1) void bucket.take().then(() => (passed += 1));
    await settle();
    expect(passed).toBe(20);
  });

  test("supports less than one per second, in order of arrival", async () => {
    const { bucket, pass } = newBucket(0.5);
    const passed: number[] = [];
    for (const number of [1, 2, 3]) void bucket.take().then(() => passed.push(number));
    await settle();
    expect(passed).toEqual([1]);
    await pass(2_010);
    expect(passed).toEqual([1, 2]);
    await pass(2_010);
    expect(passed).toEqual([1, 2, 3]);
  });

  test("rejects waiting requests when closed, and leaves no timer", async () => {
    const { bucket, timers } = newBucket(1);
    await bucket.take();
    const waiting = bucket.take().catch(String);
    expect(timers.pendingCount).toBe(1);
    bucket.end("over");
    expect(await waiting).toBe("over");
    expect(await bucket.take().catch(String)).toBe("over");
    expect(timers.pendingCount).toBe(0);
  });
});

describe("the receive poller", () => {
  test("polls often under traffic, less and less often when idle, and not at all without pending requests", () => {
    const timers = new ManualTimers();
    const poller = new SocketPoller(timers);
    let isBusy = false;
    let rounds = 0;
    const drain = (): boolean => {
      rounds += 1;
      return isBusy;
    };
    poller.add(drain);
    timers.advance(1_000);
    expect(rounds).toBeLessThan(140);
    expect(rounds).toBeGreaterThan(100);
    isBusy = true;
    timers.advance(8);
    const before = rounds;
    timers.advance(10);
    expect(rounds - before).toBe(10);
    poller.remove(drain);
    expect(timers.pendingCount).toBe(0);
  });

  test("supports removal of a source during a round", () => {
    const timers = new ManualTimers();
    const poller = new SocketPoller(timers);
    const once = (): boolean => {
      poller.remove(once);
      return true;
    };
    poller.add(once);
    timers.advance(5);
    expect(timers.pendingCount).toBe(0);
    poller.add(once);
    expect(timers.pendingCount).toBe(1);
  });
});

describe("a probe", () => {
  function newProbeRound() {
    const timers = new ManualTimers();
    const opens: Open<string>[] = [];
    const permits = { count: 0 };
    const permit = async (): Promise<void> => void (permits.count += 1);
    const round = new ProbeRound<string>({ timers, poller: new SocketPoller(timers), permit }, () => false);
    const send =
      (errno = 0) =>
      (open: Open<string>): number => {
        opens.push(open);
        return errno;
      };
    const pass = async (ms: number): Promise<void> => {
      await settle();
      timers.advance(ms);
      await settle();
    };
    return { timers, opens, permits, round, send, pass };
  }

  test("is retried without a response, and abandoned after the last attempt", async () => {
    const { timers, opens, permits, round, send, pass } = newProbeRound();
    const outcome = round.probe([100, 200], send());
    await pass(99);
    expect(opens).toHaveLength(1);
    await pass(1);
    expect(opens).toHaveLength(2);
    await pass(200);
    expect(await outcome).toEqual({ kind: "Silent" });
    expect(permits.count).toBe(2);
    expect(timers.pendingCount).toBe(0);
  });

  test("accepts a late response to the first attempt", async () => {
    const { timers, opens, round, send, pass } = newProbeRound();
    const outcome = round.probe([100, 200], send());
    await pass(150);
    opens[0]?.answer("late");
    opens[1]?.answer("second");
    expect(await outcome).toEqual({ kind: "Answered", answer: "late" });
    expect(timers.pendingCount).toBe(0);
  });

  test("reports the error if it cannot be sent, and is retried on a full buffer", async () => {
    const { opens, permits, round, send, pass } = newProbeRound();
    expect(await round.probe([100], send(101))).toEqual({ kind: "Failed", error: "NetworkUnreachable" });
    let attempts = 0;
    const outcome = round.probe([100], (open) => {
      attempts += 1;
      return attempts < 3 ? 105 : send()(open);
    });
    await pass(50);
    await pass(50);
    expect(attempts).toBe(3);
    opens[1]?.answer("there");
    expect(await outcome).toEqual({ kind: "Answered", answer: "there" });
    expect(permits.count).toBe(2);
  });

  test("is canceled with all others, and leaves no timer", async () => {
    const { timers, opens, round, send, pass } = newProbeRound();
    const outcomes = [round.probe([100], send()).catch(String), round.probe([100], send()).catch(String)];
    await pass(10);
    round.end("over");
    expect(await Promise.all(outcomes)).toEqual(["over", "over"]);
    expect(await round.probe([100], send()).catch(String)).toBe("over");
    expect(opens).toHaveLength(2);
    expect(timers.pendingCount).toBe(0);
  });

  test("is not sent if it waits for its permit at cancellation", async () => {
    const timers = new ManualTimers();
    const { promise, resolve } = Promise.withResolvers<void>();
    const round = new ProbeRound<string>(
      { timers, poller: new SocketPoller(timers), permit: () => promise },
      () => false,
    );
    let sent = 0;
    const outcome = round.probe([100], () => (sent += 1)).catch(String);
    round.end("over");
    resolve();
    expect(await outcome).toBe("over");
    expect(sent).toBe(0);
  });
});

describe("link-only addresses", () => {
  test("are accepted for a station with few of them, but not if it responds for all", () => {
    const proxyArp = new ProxyArpDetector<string>();
    for (let number = 1; number <= MAX_SILENT_ADDRESSES_PER_STATION; number += 1) proxyArp.add("few", `few ${number}`);
    for (let number = 1; number <= 300; number += 1) proxyArp.add("router", `router ${number}`);
    proxyArp.add("one", "one 1");
    expect([...proxyArp.credible()]).toEqual(["few 1", "few 2", "few 3", "few 4", "one 1"]);
  });
});
