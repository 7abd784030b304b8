// Commit notifications for every subscriber, independent of the others.

import { describe, expect, test } from "bun:test";
import { createLog } from "../../src/base/log.ts";
import { Commits, type SubscriptionOptions, TELLING_INTERVAL_MS } from "../../src/db/commits.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const EACH = { intervalMs: 0 };

/** A ledger with ten transactions, on a manual clock. */
function stage() {
  const timers = new ManualTimers();
  const lines: string[] = [];
  const told: string[] = [];
  let now = 0;
  let head = 10;
  const log = createLog({ write: (line) => lines.push(line), format: "text", clock: { now: () => now } });
  const commits = new Commits({ head: () => head, timers, monotonicMs: () => now, log });
  return {
    commits,
    timers,
    lines,
    told,
    subscribe: (name: string, options?: SubscriptionOptions) =>
      commits.subscribe((newest) => told.push(`${name} ${newest}`), options),
    commit: () => {
      head += 1;
      commits.notify(head);
    },
    /** By a process that does not notify. */
    commitElsewhere: () => {
      head += 1;
    },
    pass: (ms: number) => {
      now += ms;
      timers.advance(ms);
    },
  };
}

describe("a subscriber to commits", () => {
  test("is notified of each in order, alongside others, from then on", () => {
    const { subscribe, commit, told } = stage();
    commit();
    subscribe("a", EACH);
    commit();
    subscribe("b", EACH);
    commit();
    expect(told).toEqual(["a 12", "a 13", "b 13"]);
  });

  test("is notified at once after a quiet period, then at intervals of everything since", () => {
    const { subscribe, commit, pass, told, timers } = stage();
    subscribe("a");
    for (let each = 0; each < 5; each += 1) commit();
    expect(told).toEqual(["a 11"]);
    pass(TELLING_INTERVAL_MS - 1);
    expect(told).toEqual(["a 11"]);
    pass(1);
    expect(told).toEqual(["a 11", "a 15"]);
    pass(TELLING_INTERVAL_MS);
    commit();
    expect(told).toEqual(["a 11", "a 15", "a 16"]);
    // Only the poll for commits of others remains.
    expect(timers.pendingCount).toBe(1);
  });

  test("that throws affects no other: all are notified, it is notified again, and the error is logged", () => {
    const { commits, subscribe, commit, told, lines } = stage();
    let calls = 0;
    commits.subscribe(() => {
      calls += 1;
      throw new Error("its own fault");
    }, EACH);
    subscribe("b", EACH);
    commit();
    commit();
    expect(told).toEqual(["b 11", "b 12"]);
    expect(calls).toBe(2);
    expect(lines.map((line) => /ERROR commit_listener_failed .*its own fault/.test(line))).toEqual([true, true]);
  });

  test("gets nothing after its end, not even pending notifications, and leaves no timer", () => {
    const { subscribe, commit, pass, told, timers } = stage();
    const end = subscribe("a");
    commit();
    commit();
    end();
    end();
    pass(10_000);
    commit();
    expect(told).toEqual(["a 11"]);
    expect(timers.pendingCount).toBe(0);
  });

  test("may end another one during a notification", () => {
    const { commits, subscribe, commit, told } = stage();
    let end = () => {};
    commits.subscribe(() => end(), EACH);
    end = subscribe("b", EACH);
    commit();
    expect(told).toEqual([]);
  });

  test("is notified within a second of another process's commit", () => {
    const { subscribe, commitElsewhere, commit, pass, told } = stage();
    subscribe("a");
    subscribe("b", { isOwnOnly: true });
    commitElsewhere();
    commitElsewhere();
    expect(told).toEqual([]);
    pass(1_000);
    expect(told).toEqual(["a 12", "b 12"]);
    pass(1_000);
    commit();
    expect(told).toEqual(["a 12", "b 12", "a 13", "b 13"]);
  });

  test("of this process only triggers no polling", () => {
    const { subscribe, commitElsewhere, pass, timers, told } = stage();
    subscribe("b", { isOwnOnly: true });
    expect(timers.pendingCount).toBe(0);
    commitElsewhere();
    pass(10_000);
    expect(told).toEqual([]);
  });
});
