// Waits for page state: checked after every event in a page, not at fixed times.

import { expect } from "bun:test";
import { systemTimers } from "../../../src/base/timers.ts";
import { HANG_MS } from "../measure/limits.ts";

/** Poll interval for changes without a page event, such as a record written by another client. */
const UNNOTICED_MS = 25;

const waiting = new Set<() => void>();

/** Reports an event: an answer, a timer, a changed element. */
export function stirred(): void {
  const all = [...waiting];
  waiting.clear();
  for (const each of all) each();
}

/** Resolves after the next event and its immediate effects. */
function nextStir(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      cancel();
      waiting.delete(look);
      setImmediate(resolve);
    };
    const cancel = systemTimers.after(UNNOTICED_MS, look);
    waiting.add(look);
  });
}

/**
 * Polls until there is a result.
 * @param probe returns undefined until then; its exceptions end the wait
 * @param awaited describes the awaited condition in the timeout message
 */
export async function until<T>(probe: () => T | undefined | Promise<T | undefined>, awaited: () => string): Promise<T> {
  const late = AbortSignal.timeout(HANG_MS);
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (late.aborted) throw new Error(`waited ${HANG_MS} ms for ${awaited()}`);
    await nextStir();
  }
}

/**
 * Waits until a value read from a page is as expected, for effects shortly after an awaited event. Fails with the last
 * value.
 * @param expected a value, or a matcher of `expect`: `expect.stringContaining("Voice")`
 */
export async function settles<T>(read: () => Promise<T>, expected: T): Promise<void> {
  let last: T | undefined;
  await until(
    async () => {
      last = await read();
      return isAs(last, expected) ? true : undefined;
    },
    () => "a value",
  ).catch(() => undefined);
  expect<unknown>(last).toEqual(expected);
}

function isAs(value: unknown, expected: unknown): boolean {
  try {
    expect(value).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}
