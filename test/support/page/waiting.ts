// Waits for page state, checked after every event in a page instead of at fixed times.

import { expect } from "bun:test";
import { systemTimers } from "../../../src/base/timers.ts";
import { HANG_MS } from "../measure/limits.ts";

/** Poll interval for changes without a page event, such as a record written by another client. */
const POLL_MS = 25;

const waiters = new Set<() => void>();

/** Reports an event: a response, a timer, a changed element. */
export function notifyEvent(): void {
  const listeners = [...waiters];
  waiters.clear();
  for (const listener of listeners) listener();
}

/** Resolves after the next event and its immediate effects. */
function nextEvent(): Promise<void> {
  return new Promise((resolve) => {
    const onEvent = () => {
      cancel();
      waiters.delete(onEvent);
      setImmediate(resolve);
    };
    const cancel = systemTimers.after(POLL_MS, onEvent);
    waiters.add(onEvent);
  });
}

/**
 * Polls until there is a result.
 * @param probe returns undefined until then; its exceptions end the wait
 * @param describe describes the awaited condition in the timeout message
 */
export async function until<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  describe: () => string,
): Promise<T> {
  const timeout = AbortSignal.timeout(HANG_MS);
  for (;;) {
    const result = await probe();
    if (result !== undefined) return result;
    if (timeout.aborted) throw new Error(`waited ${HANG_MS} ms for ${describe()}`);
    await nextEvent();
  }
}

/**
 * Waits until a value read from a page is as expected, for effects shortly after an awaited event. Fails with the last
 * value.
 * @param expected a value, or a matcher of `expect`: `expect.stringContaining("Voice")`
 */
export async function expectEventually<T>(read: () => Promise<T>, expected: T): Promise<void> {
  let last: T | undefined;
  await until(
    async () => {
      last = await read();
      return matches(last, expected) ? true : undefined;
    },
    () => "a value",
  ).catch(() => undefined);
  expect<unknown>(last).toEqual(expected);
}

function matches(value: unknown, expected: unknown): boolean {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
