// Notification of waiters about commits, independent of other waiters.

import { describe, expect, test } from "bun:test";
import { RecentLines } from "../../src/base/recent-lines.ts";
import { CommitWatch } from "../../src/db/commit-watch.ts";
import { Commits, TELLING_INTERVAL_MS } from "../../src/db/commits.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

/** A ledger with a moving head, and time in milliseconds. */
function stage() {
  const timers = new ManualTimers();
  let now = 0;
  let head = 1;
  const parts = { timers, head: () => head, monotonicMs: () => now };
  const commits = new Commits({
    ...parts,
    log: { info() {}, warn() {}, error() {}, audit() {}, recent: new RecentLines() },
  });
  const watch = new CommitWatch({ ...parts, commits });
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
      for (let each = 0; each < ms; each += 1) {
        now += 1;
        timers.advance(1);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const STAYING = new AbortController().signal;

describe("a waiter for commits", () => {
  test("is notified at once after a quiet period, and then after the interval with everything since", async () => {
    const { watch, commit, pass, now } = stage();
    const told: number[] = [];
    const wait = (sequence: number) =>
      void watch.beyond(sequence, new AbortController().signal).then(() => told.push(now()));
    wait(1);
    commit();
    await pass(1);
    expect(told).toEqual([1]);
    wait(2);
    for (let each = 0; each < 5; each += 1) commit();
    await pass(TELLING_INTERVAL_MS - 2);
    expect(told).toEqual([1]);
    await pass(2);
    expect(told).toEqual([1, TELLING_INTERVAL_MS]);
    watch.close();
  });

  test.each([1, 3, 8, 32])("is notified every interval, however many (%d) wait repeatedly", async (pollers) => {
    const { timers, watch, commit, pass, now, head } = stage();
    const told: number[] = [];
    let isOver = false;
    const after = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));
    const follow = async () => {
      for (let known = head(); !isOver; known = head()) {
        await watch.beyond(known, new AbortController().signal);
        told.push(now());
        // Its own read.
        await after(3);
      }
    };
    const poll = async (readMs: number) => {
      for (let known = 0; !isOver; ) {
        const turn = watch.turn(known, STAYING);
        if (turn !== null) await turn;
        await after(readMs);
        known = head();
      }
    };
    void follow();
    for (let poller = 0; poller < pollers; poller += 1) void poll(2 + (poller % 7));
    for (let each = 0; each < 200; each += 1) {
      commit();
      await pass(6);
    }
    isOver = true;
    const gaps = told.slice(1).map((at, place) => at - (told[place] as number));
    expect(told.length).toBeGreaterThan(1_200 / TELLING_INTERVAL_MS - 4);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(TELLING_INTERVAL_MS + 10);
    watch.close();
  });

  test("is notified of the rest when its wait ends", async () => {
    const { watch, commit, pass } = stage();
    const first = watch.beyond(1, new AbortController().signal);
    commit();
    expect(await first).toBe("changed");
    const leaving = new AbortController();
    const second = watch.beyond(2, leaving.signal);
    commit();
    await pass(5);
    leaving.abort();
    expect(await second).toBe("changed");
    watch.close();
  });

  test("leaves no timer when it leaves during the interval or is notified", async () => {
    const { timers, watch, commit, pass } = stage();
    const first = watch.beyond(1, new AbortController().signal);
    commit();
    await first;
    const leaving = new AbortController();
    const turn = watch.turn(2, leaving.signal);
    expect(turn).not.toBeNull();
    leaving.abort();
    await turn;
    expect(timers.pendingCount).toBe(0);
    // A reader that lags behind does not wait for a turn.
    expect(watch.turn(1, STAYING)).toBeNull();
    await pass(TELLING_INTERVAL_MS);
    expect(watch.turn(2, STAYING)).toBeNull();
    watch.close();
  });
});
