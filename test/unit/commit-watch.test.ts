// Commit notifications for waiting callers, each independent of the others.

import { describe, expect, test } from "bun:test";
import { RecentLines } from "../../src/base/recent-lines.ts";
import { CommitWatch } from "../../src/db/commit-watch.ts";
import { Commits, NOTIFY_INTERVAL_MS } from "../../src/db/commits.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

/** A ledger with a moving head, and time in milliseconds. */
function setup() {
  const timers = new ManualTimers();
  let now = 0;
  let head = 1;
  const dependencies = { timers, head: () => head, monotonicMs: () => now };
  const log = { info() {}, warn() {}, error() {}, audit() {}, recent: new RecentLines() };
  const commits = new Commits({ ...dependencies, log });
  const watch = new CommitWatch({ ...dependencies, commits });
  return {
    timers,
    watch,
    now: () => now,
    head: () => head,
    commit: () => {
      head += 1;
      commits.notify(head);
    },
    pass: async (ms: number) => {
      for (let i = 0; i < ms; i += 1) {
        now += 1;
        timers.advance(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const UNABORTED = new AbortController().signal;

describe("a waiter for commits", () => {
  test("is notified immediately after a quiet period, and then after the interval with everything since", async () => {
    const { watch, commit, pass, now } = setup();
    const notifiedAt: number[] = [];
    const wait = (sequence: number) =>
      void watch.waitBeyond(sequence, new AbortController().signal).then(() => notifiedAt.push(now()));
    wait(1);
    commit();
    await pass(1);
    expect(notifiedAt).toEqual([1]);
    wait(2);
    for (let i = 0; i < 5; i += 1) commit();
    await pass(NOTIFY_INTERVAL_MS - 2);
    expect(notifiedAt).toEqual([1]);
    await pass(2);
    expect(notifiedAt).toEqual([1, NOTIFY_INTERVAL_MS]);
    watch.close();
  });

  test.each([1, 3, 8, 32])("is notified every interval, even while %d others wait repeatedly", async (pollers) => {
    const { timers, watch, commit, pass, now, head } = setup();
    const notifiedAt: number[] = [];
    let isDone = false;
    const delay = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));
    const follow = async () => {
      for (let seen = head(); !isDone; seen = head()) {
        await watch.waitBeyond(seen, new AbortController().signal);
        notifiedAt.push(now());
        // The follower's own read.
        await delay(3);
      }
    };
    const poll = async (readMs: number) => {
      for (let seen = 0; !isDone; ) {
        const pause = watch.pollDelay(seen, UNABORTED);
        if (pause !== null) await pause;
        await delay(readMs);
        seen = head();
      }
    };
    void follow();
    for (let poller = 0; poller < pollers; poller += 1) void poll(2 + (poller % 7));
    for (let i = 0; i < 200; i += 1) {
      commit();
      await pass(6);
    }
    isDone = true;
    const gaps = notifiedAt.slice(1).map((time, index) => time - (notifiedAt[index] as number));
    expect(notifiedAt.length).toBeGreaterThan(1_200 / NOTIFY_INTERVAL_MS - 4);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(NOTIFY_INTERVAL_MS + 10);
    watch.close();
  });

  test("is notified of pending commits when its wait ends", async () => {
    const { watch, commit, pass } = setup();
    const first = watch.waitBeyond(1, new AbortController().signal);
    commit();
    expect(await first).toBe("changed");
    const controller = new AbortController();
    const second = watch.waitBeyond(2, controller.signal);
    commit();
    await pass(5);
    controller.abort();
    expect(await second).toBe("changed");
    watch.close();
  });

  test("leaves no timer when it aborts during the interval or is notified", async () => {
    const { timers, watch, commit, pass } = setup();
    const first = watch.waitBeyond(1, new AbortController().signal);
    commit();
    await first;
    const controller = new AbortController();
    const pause = watch.pollDelay(2, controller.signal);
    expect(pause).not.toBeNull();
    controller.abort();
    await pause;
    expect(timers.pendingCount).toBe(0);
    // A reader that lags behind does not wait.
    expect(watch.pollDelay(1, UNABORTED)).toBeNull();
    await pass(NOTIFY_INTERVAL_MS);
    expect(watch.pollDelay(2, UNABORTED)).toBeNull();
    watch.close();
  });
});
