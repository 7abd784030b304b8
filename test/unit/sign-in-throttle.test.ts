// How failed sign-ins slow down, whom they slow down, and whom they do not.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  ATTEMPT_TIMEOUT_MS,
  KNOWN_GOOD_MS,
  MAX_WAIT_SECONDS,
  PAIR_FREE_FAILURES,
  QUIET_MS,
  SignInThrottle,
  SOURCE_FORGIVEN_EVERY_MS,
  SOURCE_FREE_FAILURES,
  THROTTLE_MAX_ENTRIES,
} from "../../src/sign-in/sign-in-throttle.ts";

const HERE = "192.0.2.10";
const ELSEWHERE = "198.51.100.7";
const ACCOUNT = "ada@example.org";

let now: number;
let throttle: SignInThrottle;

beforeEach(() => {
  now = Date.parse("2026-11-21T09:15:00.000Z");
  throttle = new SignInThrottle({ now: () => now });
});

/** Seconds to wait, or 0 when the attempt may be made, which then is still running. */
const wait = (account = ACCOUNT, source = HERE): number => throttle.check(account, source)?.retryAfterSeconds ?? 0;

/** Makes one failed attempt at once; throws when it has to wait. */
function fail(account = ACCOUNT, source = HERE): void {
  const seconds = wait(account, source);
  if (seconds > 0) throw new Error(`must wait ${seconds} s`);
  throttle.failed(account, source);
}

/** Makes failed attempts as soon as each may be made; answers the waits before each, in seconds. */
function failPatiently(times: number, account: (index: number) => string = () => ACCOUNT, source = HERE): number[] {
  return Array.from({ length: times }, (_, index) => {
    const seconds = wait(account(index), source);
    if (seconds > 0) {
      now += seconds * 1000;
      expect(wait(account(index), source)).toBe(0);
    }
    throttle.failed(account(index), source);
    return seconds;
  });
}

/** Whether an attempt could be made now, without making it. */
function isFree(account = ACCOUNT, source = HERE): boolean {
  if (wait(account, source) > 0) return false;
  throttle.abandoned(account, source);
  return true;
}

describe("one account from one address", () => {
  test("waits 1, 2, 4 … up to 900 seconds after three failures that cost nothing", () => {
    expect(failPatiently(18)).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900]);
  });

  test("is told the time that is left, rounded up", () => {
    failPatiently(6);
    expect(wait()).toBe(4);
    now += 1;
    expect(wait()).toBe(4);
    now += 999;
    expect(wait()).toBe(3);
    now += 2999;
    expect(wait()).toBe(1);
    now += 1;
    expect(wait()).toBe(0);
  });

  test("does not wait longer for asking too early", () => {
    failPatiently(8);
    const seconds = wait();
    for (let round = 0; round < 100; round += 1) expect(wait()).toBe(seconds);
    now += seconds * 1000;
    expect(wait()).toBe(0);
  });

  test("starts anew after a sign-in", () => {
    failPatiently(7);
    now += MAX_WAIT_SECONDS * 1000;
    expect(wait()).toBe(0);
    throttle.succeeded(ACCOUNT, HERE);
    for (let round = 0; round <= PAIR_FREE_FAILURES; round += 1) fail();
    expect(wait()).toBe(1);
  });

  test("is forgotten after a quiet day, not before", () => {
    failPatiently(7);
    now += QUIET_MS - 1;
    fail();
    expect(wait()).toBe(16);
    now += QUIET_MS;
    expect(failPatiently(5)).toEqual([0, 0, 0, 0, 1]);
  });

  test("is one account in every spelling", () => {
    for (const spelling of ["ada@example.org", "ADA@Example.ORG", " ada@example.org\n", "ａda@example.org"])
      fail(spelling);
    expect(wait("Ada@example.org")).toBe(1);
  });

  test("does not wait longer because the clock was set back", () => {
    failPatiently(8);
    const seconds = wait();
    now -= 10 * 3_600_000;
    expect(wait()).toBeLessThanOrEqual(seconds);
    now += seconds * 1000;
    expect(wait()).toBe(0);
  });
});

describe("nobody is locked out", () => {
  test("from another address", () => {
    failPatiently(20, () => ACCOUNT, ELSEWHERE);
    expect(wait(ACCOUNT, ELSEWHERE)).toBe(MAX_WAIT_SECONDS);
    expect(wait(ACCOUNT, HERE)).toBe(0);
  });

  test("by failures of another account at the same address", () => {
    failPatiently(10);
    expect(isFree("grace@example.org")).toBe(true);
  });
});

describe("parallel attempts", () => {
  test("on a new pair are as many as in a row without waiting", () => {
    const passed = Array.from({ length: 100 }, () => wait()).filter((seconds) => seconds === 0);
    expect(passed).toHaveLength(PAIR_FREE_FAILURES + 1);
  });

  test("are one when the pair had to wait already", () => {
    failPatiently(9);
    now += wait() * 1000;
    expect(Array.from({ length: 10 }, () => wait())).toEqual([0, ...Array(9).fill(1)]);
    throttle.failed(ACCOUNT, HERE);
    expect(wait()).toBe(64);
  });

  test("that all fail cost as much as in a row", () => {
    for (let attempt = 0; attempt < 4; attempt += 1) expect(wait()).toBe(0);
    for (let attempt = 0; attempt < 4; attempt += 1) throttle.failed(ACCOUNT, HERE);
    expect(wait()).toBe(1);
  });

  test("stay reserved when one of them succeeds", () => {
    for (let attempt = 0; attempt < 4; attempt += 1) expect(wait()).toBe(0);
    throttle.succeeded(ACCOUNT, HERE);
    expect([wait(), wait()]).toEqual([0, 1]);
  });

  test("give their place back when nothing was verified", () => {
    for (let round = 0; round < 50; round += 1) {
      expect(wait()).toBe(0);
      throttle.abandoned(ACCOUNT, HERE);
    }
    expect(failPatiently(5)).toEqual([0, 0, 0, 0, 1]);
  });

  test("that nobody reported on do not close the account for ever", () => {
    failPatiently(6);
    now += wait() * 1000;
    expect(wait()).toBe(0);
    now += ATTEMPT_TIMEOUT_MS - 1;
    expect(wait()).toBe(1);
    now += 1;
    expect(wait()).toBe(0);
  });

  test("from one address on many accounts are bounded too", () => {
    const passed = Array.from({ length: 200 }, (_, index) => wait(`user${index}@example.org`)).filter(
      (seconds) => seconds === 0,
    );
    expect(passed).toHaveLength(SOURCE_FREE_FAILURES + 1);
  });
});

describe("one address that tries many accounts", () => {
  const spray = (times: number, source = HERE): number[] =>
    failPatiently(times, (index) => `user${index}@example.org`, source);

  test("waits longer and longer after thirty failures", () => {
    const waits = spray(SOURCE_FREE_FAILURES + 6);
    expect(waits.slice(0, SOURCE_FREE_FAILURES + 1)).toEqual(Array(SOURCE_FREE_FAILURES + 1).fill(0));
    expect(waits.slice(SOURCE_FREE_FAILURES + 1)).toEqual([1, 2, 4, 8, 16]);
  });

  test("settles at about thirty guesses an hour", () => {
    spray(60);
    const start = now;
    spray(120);
    const perHour = 120 / ((now - start) / 3_600_000);
    expect(perHour).toBeGreaterThan(20);
    expect(perHour).toBeLessThan(40);
  });

  test("cannot start anew by signing in with an account of its own", () => {
    spray(SOURCE_FREE_FAILURES);
    expect(wait("mallory@example.org")).toBe(0);
    throttle.succeeded("mallory@example.org", HERE);
    fail("victim@example.org");
    expect(wait("victim2@example.org")).toBe(1);
  });

  test("does not slow down another address", () => {
    spray(50);
    expect(isFree("new@example.org", ELSEWHERE)).toBe(true);
  });

  test("does not slow down who has signed in from there lately, but other accounts", () => {
    expect(wait(ACCOUNT)).toBe(0);
    throttle.succeeded(ACCOUNT, HERE);
    spray(40);
    expect(isFree(ACCOUNT)).toBe(true);
    expect(isFree("grace@example.org")).toBe(false);
    // Its own failures still count.
    for (let round = 0; round < 4; round += 1) fail(ACCOUNT);
    expect(wait(ACCOUNT)).toBe(1);
  });

  test("slows down again who has signed in from there long ago", () => {
    expect(wait(ACCOUNT)).toBe(0);
    throttle.succeeded(ACCOUNT, HERE);
    now += KNOWN_GOOD_MS;
    for (let index = 0; index <= SOURCE_FREE_FAILURES; index += 1) fail(`user${index}@example.org`);
    expect(wait(ACCOUNT)).toBe(1);
  });

  test("never adds up for an office that mistypes now and then", () => {
    for (let index = 0; index < 500; index += 1) {
      fail(`user${index}@example.org`);
      now += SOURCE_FORGIVEN_EVERY_MS;
    }
  });
});

describe("a source address", () => {
  const sameCount = (first: string, second: string): boolean => {
    for (let round = 0; round < 4; round += 1) fail(ACCOUNT, first);
    return wait(ACCOUNT, second) === 1;
  };

  test.each([
    ["2001:db8:1:2::1", "2001:0DB8:0001:0002::1"],
    ["::ffff:192.0.2.10", "192.0.2.10"],
    ["fe80::1%eth0", "fe80::1%eth1"],
    ["unix:", "unix:"],
    ["", ""],
  ])("%j counts as %j", (first, second) => {
    expect(sameCount(first, second)).toBe(true);
  });

  test.each([
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    // Neighbours on one LAN, which is one /64.
    ["2001:db8:1:2::1", "2001:db8:1:2::2"],
    ["192.0.2.10", "192.0.2.11"],
    ["::ffff:192.0.2.10", "::ffff:192.0.2.11"],
    ["192.0.2.10", ""],
  ])("%j does not count as %j", (first, second) => {
    expect(sameCount(first, second)).toBe(false);
  });
});

describe("memory", () => {
  test("is bounded: of too many pairs the longest untouched is forgotten", () => {
    const address = (index: number): string => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    for (let round = 0; round < 3; round += 1) fail(ACCOUNT, HERE);
    for (let round = 0; round < 4; round += 1) fail("untouched@example.org", ELSEWHERE);
    fail(ACCOUNT, HERE);
    for (let index = 0; index < THROTTLE_MAX_ENTRIES - 1; index += 1) fail("x@example.org", address(index));
    expect(wait(ACCOUNT, HERE)).toBe(1);
    expect(wait("untouched@example.org", ELSEWHERE)).toBe(0);
  });

  test("does not keep what only was checked, or signed in", () => {
    for (let round = 0; round < 4; round += 1) fail();
    for (let index = 0; index < THROTTLE_MAX_ENTRIES + 1; index += 1) {
      const source = `10.0.${index >> 8}.${index & 255}`;
      expect(wait("x@example.org", source)).toBe(0);
      if (index % 2 === 0) throttle.succeeded("x@example.org", source);
      else throttle.abandoned("x@example.org", source);
    }
    expect(wait()).toBe(1);
  });
});
