// Throttling of failed sign-ins: callers that it delays, and callers that it must not delay.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  ATTEMPT_TIMEOUT_MS,
  ATTEMPT_WAIT_MS,
  ATTEMPTS_MAX_WAITING,
  KNOWN_GOOD_MS,
  MAX_WAIT_SECONDS,
  PAIR_FREE_FAILURES,
  QUIET_MS,
  SignInThrottle,
  SOURCE_FORGIVEN_EVERY_MS,
  SOURCE_FREE_FAILURES,
  THROTTLE_MAX_ENTRIES,
} from "../../src/sessions/sign-in-throttle.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const ADDRESS = "192.0.2.10";
const OTHER_ADDRESS = "198.51.100.7";
const ACCOUNT = "ada@example.org";

let now: number;
let timers: ManualTimers;
let throttle: SignInThrottle;

beforeEach(() => {
  now = Date.parse("2026-11-21T09:15:00.000Z");
  timers = new ManualTimers();
  throttle = new SignInThrottle({ now: () => now }, timers);
});

/** Seconds to wait, or 0 if the attempt is admitted, which then stays in progress. */
const wait = async (account = ACCOUNT, source = ADDRESS): Promise<number> =>
  (await throttle.enter(account, source))?.retryAfterSeconds ?? 0;

/** Makes one failed attempt immediately; throws if it must wait. */
async function failAttempt(account = ACCOUNT, source = ADDRESS): Promise<void> {
  const seconds = await wait(account, source);
  if (seconds > 0) throw new Error(`must wait ${seconds} s`);
  throttle.failed(account, source);
}

/** Makes failed attempts, each as soon as it is admitted. @returns the waits in seconds */
async function failRepeatedly(
  times: number,
  account: (index: number) => string = () => ACCOUNT,
  source = ADDRESS,
): Promise<number[]> {
  const waits: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const seconds = await wait(account(index), source);
    if (seconds > 0) {
      now += seconds * 1000;
      expect(await wait(account(index), source)).toBe(0);
    }
    throttle.failed(account(index), source);
    waits.push(seconds);
  }
  return waits;
}

/** Whether an attempt would be admitted now, without making it. */
async function isAdmitted(account = ACCOUNT, source = ADDRESS): Promise<boolean> {
  if ((await wait(account, source)) > 0) return false;
  throttle.abandoned(account, source);
  return true;
}

describe("one account from one address", () => {
  test("waits 1, 2, 4 … up to 900 seconds after three free failures", async () => {
    expect(await failRepeatedly(18)).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
  });

  test("gets the remaining time, rounded up", async () => {
    await failRepeatedly(6);
    expect(await wait()).toBe(4);
    now += 1;
    expect(await wait()).toBe(4);
    now += 999;
    expect(await wait()).toBe(3);
    now += 2999;
    expect(await wait()).toBe(1);
    now += 1;
    expect(await wait()).toBe(0);
  });

  test("does not wait longer after an early attempt", async () => {
    await failRepeatedly(8);
    const seconds = await wait();
    for (let round = 0; round < 100; round += 1) expect(await wait()).toBe(seconds);
    now += seconds * 1000;
    expect(await wait()).toBe(0);
  });

  test("is reset by a sign-in", async () => {
    await failRepeatedly(7);
    now += MAX_WAIT_SECONDS * 1000;
    expect(await wait()).toBe(0);
    throttle.succeeded(ACCOUNT, ADDRESS);
    for (let round = 0; round <= PAIR_FREE_FAILURES; round += 1) await failAttempt();
    expect(await wait()).toBe(1);
  });

  test("is forgotten after a quiet day, not before", async () => {
    await failRepeatedly(7);
    now += QUIET_MS - 1;
    await failAttempt();
    expect(await wait()).toBe(16);
    now += QUIET_MS;
    expect(await failRepeatedly(5)).toEqual([0, 0, 0, 0, 1]);
  });

  test("is the same in every spelling", async () => {
    for (const spelling of ["ada@example.org", "ADA@Example.ORG", " ada@example.org\n", "ａda@example.org"])
      await failAttempt(spelling);
    expect(await wait("Ada@example.org")).toBe(1);
  });

  test("does not wait longer if the clock is set back", async () => {
    await failRepeatedly(8);
    const seconds = await wait();
    now -= 10 * 3_600_000;
    expect(await wait()).toBeLessThanOrEqual(seconds);
    now += seconds * 1000;
    expect(await wait()).toBe(0);
  });
});

describe("a user who is not locked out", () => {
  test("signs in from another address", async () => {
    await failRepeatedly(20, () => ACCOUNT, OTHER_ADDRESS);
    expect(await wait(ACCOUNT, OTHER_ADDRESS)).toBe(MAX_WAIT_SECONDS);
    expect(await wait(ACCOUNT, ADDRESS)).toBe(0);
  });

  test("signs in despite failures of another account at the same address", async () => {
    await failRepeatedly(10);
    expect(await isAdmitted("grace@example.org")).toBe(true);
  });
});

describe("concurrent attempts", () => {
  type Outcome = "failed" | "succeeded" | "abandoned";

  /** Makes attempts concurrently, each verified in turn. @returns the wait of each in seconds, or 0 */
  const attemptConcurrently = (outcomes: readonly Outcome[], account: (index: number) => string = () => ACCOUNT) =>
    Promise.all(
      outcomes.map(async (outcome, index) => {
        const seconds = await wait(account(index));
        if (seconds === 0) throttle[outcome](account(index), ADDRESS);
        return seconds;
      }),
    );
  const times = (count: number, outcome: Outcome): Outcome[] => Array(count).fill(outcome);
  const accountAt = (index: number) => `user${index}@example.org`;
  const isOverloaded = async (account = ACCOUNT) => (await throttle.enter(account, ADDRESS))?.isOverloaded;

  test("all succeed with the correct password", async () => {
    const seconds = await attemptConcurrently(times(1 + ATTEMPTS_MAX_WAITING, "succeeded"));
    expect(seconds).toEqual(Array(1 + ATTEMPTS_MAX_WAITING).fill(0));
    expect(timers.pendingCount).toBe(0);
  });

  test("are limited, if they fail, to the number allowed in sequence without waiting", async () => {
    const seconds = await attemptConcurrently(times(100, "failed"));
    expect(seconds).toEqual([...Array(PAIR_FREE_FAILURES + 1).fill(0), ...Array(96).fill(1)]);
    expect(await wait()).toBe(1);
    expect(timers.pendingCount).toBe(0);
  });

  test("count as one failure if the pair already had to wait", async () => {
    await failRepeatedly(9);
    now += (await wait()) * 1000;
    expect(await attemptConcurrently(times(10, "failed"))).toEqual([0, ...Array(9).fill(64)]);
  });

  test("are processed in order: a sign-in between failures resets the count", async () => {
    const outcomes = [...times(3, "failed"), "succeeded" as const, ...times(5, "failed")];
    expect(await attemptConcurrently(outcomes)).toEqual([...Array(8).fill(0), 1]);
  });

  test("queue up to ten deep; more get Retry-After", async () => {
    expect(await wait()).toBe(0);
    const waiting = Array.from({ length: ATTEMPTS_MAX_WAITING }, () => wait());
    expect(await throttle.enter(ACCOUNT, ADDRESS)).toEqual({ retryAfterSeconds: 1, isOverloaded: true });
    throttle.failed(ACCOUNT, ADDRESS);
    expect(await waiting[0]).toBe(0);
    // Waiting callers keep their position, and the free slot admits one more.
    const last = wait();
    expect(await isOverloaded()).toBe(true);
    for (const next of [...waiting.slice(1), last]) {
      throttle.succeeded(ACCOUNT, ADDRESS);
      expect(await next).toBe(0);
    }
  });

  test("wait five seconds at most, and then free their slot", async () => {
    expect(await wait()).toBe(0);
    const waiting = Array.from({ length: ATTEMPTS_MAX_WAITING }, () => isOverloaded());
    timers.advance(ATTEMPT_WAIT_MS - 1);
    expect(await Promise.race([waiting[0], "still waiting"])).toBe("still waiting");
    timers.advance(1);
    expect(await Promise.all(waiting)).toEqual(Array(ATTEMPTS_MAX_WAITING).fill(true));
    const next = wait();
    throttle.abandoned(ACCOUNT, ADDRESS);
    expect(await next).toBe(0);
  });

  test("free their slot if nothing was verified", async () => {
    for (let round = 0; round < 5; round += 1)
      expect(await attemptConcurrently(times(10, "abandoned"))).toEqual(Array(10).fill(0));
    expect(await failRepeatedly(5)).toEqual([0, 0, 0, 0, 1]);
  });

  test("do not block the account permanently if they have no outcome", async () => {
    await failRepeatedly(6);
    now += (await wait()) * 1000;
    expect(await wait()).toBe(0);
    now += ATTEMPT_TIMEOUT_MS - 1;
    const waiting = isOverloaded();
    timers.advance(ATTEMPT_WAIT_MS);
    expect(await waiting).toBe(true);
    now += 1;
    expect(await wait()).toBe(0);
  });

  test("do not wait for each other on other accounts and from elsewhere", async () => {
    expect(await Promise.all([wait(), wait("grace@example.org"), wait(ACCOUNT, OTHER_ADDRESS)])).toEqual([0, 0, 0]);
  });

  test("are limited even on many accounts if they come from one address", async () => {
    const seconds = await attemptConcurrently(times(200, "failed"), accountAt);
    expect(seconds).toEqual([...Array(SOURCE_FREE_FAILURES + 1).fill(0), ...Array(169).fill(1)]);
  });

  test("succeed if correct and delay the others if wrong from an address without free failures left", async () => {
    for (let index = 0; index < SOURCE_FREE_FAILURES; index += 1) await failAttempt(`nobody${index}@example.org`);
    expect(await attemptConcurrently(times(8, "succeeded"), accountAt)).toEqual(Array(8).fill(0));
    const seconds = await attemptConcurrently(times(8, "failed"), (index) => `other${index}@example.org`);
    expect(seconds).toEqual([0, ...Array(7).fill(1)]);
  });
});

describe("an address that tries many accounts", () => {
  const spray = (times: number): Promise<number[]> => failRepeatedly(times, (index) => `user${index}@example.org`);

  test("waits increasingly after thirty failures", async () => {
    const waits = await spray(SOURCE_FREE_FAILURES + 6);
    expect(waits.slice(0, SOURCE_FREE_FAILURES + 1)).toEqual(Array(SOURCE_FREE_FAILURES + 1).fill(0));
    expect(waits.slice(SOURCE_FREE_FAILURES + 1)).toEqual([1, 2, 4, 8, 16]);
  });

  test("is limited to about thirty guesses an hour", async () => {
    await spray(60);
    const start = now;
    await spray(120);
    const perHour = 120 / ((now - start) / 3_600_000);
    expect(perHour).toBeGreaterThan(20);
    expect(perHour).toBeLessThan(40);
  });

  test("is not reset by signing in with its own account", async () => {
    await spray(SOURCE_FREE_FAILURES);
    expect(await wait("mallory@example.org")).toBe(0);
    throttle.succeeded("mallory@example.org", ADDRESS);
    await failAttempt("victim@example.org");
    expect(await wait("victim2@example.org")).toBe(1);
  });

  test("does not delay another address", async () => {
    await spray(50);
    expect(await isAdmitted("new@example.org", OTHER_ADDRESS)).toBe(true);
  });

  test("does not delay accounts that recently signed in from there, unlike others", async () => {
    expect(await wait(ACCOUNT)).toBe(0);
    throttle.succeeded(ACCOUNT, ADDRESS);
    await spray(40);
    expect(await isAdmitted(ACCOUNT)).toBe(true);
    expect(await isAdmitted("grace@example.org")).toBe(false);
    // Its own failures still count.
    for (let round = 0; round < 4; round += 1) await failAttempt(ACCOUNT);
    expect(await wait(ACCOUNT)).toBe(1);
  });

  test("delays accounts again that signed in from there long ago", async () => {
    expect(await wait(ACCOUNT)).toBe(0);
    throttle.succeeded(ACCOUNT, ADDRESS);
    now += KNOWN_GOOD_MS;
    for (let index = 0; index <= SOURCE_FREE_FAILURES; index += 1) await failAttempt(`user${index}@example.org`);
    expect(await wait(ACCOUNT)).toBe(1);
  });

  test("accumulates no delay for an office with occasional mistakes", async () => {
    for (let index = 0; index < 500; index += 1) {
      await failAttempt(`user${index}@example.org`);
      now += SOURCE_FORGIVEN_EVERY_MS;
    }
  });
});

describe("a source address", () => {
  const sameCount = async (first: string, second: string): Promise<boolean> => {
    for (let round = 0; round < 4; round += 1) await failAttempt(ACCOUNT, first);
    return (await wait(ACCOUNT, second)) === 1;
  };

  test.each([
    ["2001:db8:1:2::1", "2001:0DB8:0001:0002::1"],
    ["::ffff:192.0.2.10", "192.0.2.10"],
    ["fe80::1%eth0", "fe80::1%eth1"],
    ["unix:", "unix:"],
    ["", ""],
  ])("%j counts as %j", async (first, second) => expect(await sameCount(first, second)).toBe(true));

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    // Neighbors on one LAN, which is one /64.
    ["2001:db8:1:2::1", "2001:db8:1:2::2"],
    ["192.0.2.10", "192.0.2.11"],
    ["::ffff:192.0.2.10", "::ffff:192.0.2.11"],
    ["192.0.2.10", ""],
  ])("%j does not count as %j", async (first, second) => expect(await sameCount(first, second)).toBe(false));
});

describe("memory", () => {
  test("is limited: the least recently used of too many pairs is forgotten", async () => {
    const address = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    for (let round = 0; round < 3; round += 1) await failAttempt(ACCOUNT, ADDRESS);
    for (let round = 0; round < 4; round += 1) await failAttempt("untouched@example.org", OTHER_ADDRESS);
    await failAttempt(ACCOUNT, ADDRESS);
    for (let index = 0; index < THROTTLE_MAX_ENTRIES - 1; index += 1)
      await failAttempt("x@example.org", address(index));
    expect(await wait(ACCOUNT, ADDRESS)).toBe(1);
    expect(await wait("untouched@example.org", OTHER_ADDRESS)).toBe(0);
  });

  test("holds no pairs that were only checked, or signed in", async () => {
    for (let round = 0; round < 4; round += 1) await failAttempt();
    for (let index = 0; index < THROTTLE_MAX_ENTRIES + 1; index += 1) {
      const source = `10.0.${index >> 8}.${index & 255}`;
      expect(await wait("x@example.org", source)).toBe(0);
      if (index % 2 === 0) throttle.succeeded("x@example.org", source);
      else throttle.abandoned("x@example.org", source);
    }
    expect(await wait()).toBe(1);
  });
});
