// Commit notifications for every subscriber, independent of the others.

import { describe, expect, test } from "bun:test";
import { createLog } from "../../src/base/log.ts";
import { Commits, NOTIFY_INTERVAL_MS, type SubscriptionOptions } from "../../src/db/commits.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const EVERY_COMMIT = { intervalMs: 0 };

/** A ledger with ten transactions, on a manual clock. */
function setup() {
  const timers = new ManualTimers();
  const lines: string[] = [];
  const notifications: string[] = [];
  let now = 0;
  let head = 10;
  const log = createLog({ write: (line) => lines.push(line), format: "text", clock: { now: () => now } });
  const commits = new Commits({ head: () => head, timers, monotonicMs: () => now, log });
  return {
    commits,
    timers,
    lines,
    notifications,
    subscribe: (name: string, options?: SubscriptionOptions) =>
      commits.subscribe((newest) => notifications.push(`${name} ${newest}`), options),
    commit: () => {
      head += 1;
      commits.notify(head);
    },
    /** Commits like another process, which does not notify. */
    commitExternally: () => void (head += 1),
    pass: (ms: number) => {
      now += ms;
      timers.advance(ms);
    },
  };
}

describe("a subscriber to commits", () => {
  test("is notified of each later commit, in order, alongside other subscribers", () => {
    const { subscribe, commit, notifications } = setup();
    commit();
    subscribe("a", EVERY_COMMIT);
    commit();
    subscribe("b", EVERY_COMMIT);
    commit();
    expect(notifications).toEqual(["a 12", "a 13", "b 13"]);
  });

  test("is notified immediately after a quiet period, then at intervals, of everything since", () => {
    const { subscribe, commit, pass, notifications, timers } = setup();
    subscribe("a");
    for (let i = 0; i < 5; i += 1) commit();
    expect(notifications).toEqual(["a 11"]);
    pass(NOTIFY_INTERVAL_MS - 1);
    expect(notifications).toEqual(["a 11"]);
    pass(1);
    expect(notifications).toEqual(["a 11", "a 15"]);
    pass(NOTIFY_INTERVAL_MS);
    commit();
    expect(notifications).toEqual(["a 11", "a 15", "a 16"]);
    // Only the poll for commits of other processes remains.
    expect(timers.pendingCount).toBe(1);
  });

  test("does not affect others when it throws, is notified again, and its error is logged", () => {
    const { commits, subscribe, commit, notifications, lines } = setup();
    let calls = 0;
    commits.subscribe(() => {
      calls += 1;
      throw new Error("its own fault");
    }, EVERY_COMMIT);
    subscribe("b", EVERY_COMMIT);
    commit();
    commit();
    expect(notifications).toEqual(["b 11", "b 12"]);
    expect(calls).toBe(2);
    expect(lines.map((line) => /ERROR commit_listener_failed .*its own fault/.test(line))).toEqual([true, true]);
  });

  test("gets no notification after it unsubscribes, not even a pending one, and leaves no timer", () => {
    const { subscribe, commit, pass, notifications, timers } = setup();
    const unsubscribe = subscribe("a");
    commit();
    commit();
    unsubscribe();
    unsubscribe();
    pass(10_000);
    commit();
    expect(notifications).toEqual(["a 11"]);
    expect(timers.pendingCount).toBe(0);
  });

  test("may be unsubscribed by another one during a notification", () => {
    const { commits, subscribe, commit, notifications } = setup();
    let unsubscribe = () => {};
    commits.subscribe(() => unsubscribe(), EVERY_COMMIT);
    unsubscribe = subscribe("b", EVERY_COMMIT);
    commit();
    expect(notifications).toEqual([]);
  });

  test("is notified within a second of another process's commit", () => {
    const { subscribe, commitExternally, commit, pass, notifications } = setup();
    subscribe("a");
    subscribe("b", { isOwnOnly: true });
    commitExternally();
    commitExternally();
    expect(notifications).toEqual([]);
    pass(1_000);
    expect(notifications).toEqual(["a 12", "b 12"]);
    pass(1_000);
    commit();
    expect(notifications).toEqual(["a 12", "b 12", "a 13", "b 13"]);
  });

  test("triggers no polling if limited to this process", () => {
    const { subscribe, commitExternally, pass, timers, notifications } = setup();
    subscribe("b", { isOwnOnly: true });
    expect(timers.pendingCount).toBe(0);
    commitExternally();
    pass(10_000);
    expect(notifications).toEqual([]);
  });
});
