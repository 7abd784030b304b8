// Waiting for what becomes of a page: looked at again whenever something has happened in one, not at fixed times.

import { expect } from "bun:test";
import { systemTimers } from "../../../src/base/timers.ts";
import { HANG_MS } from "../measure/limits.ts";

/** What changes without anything happening in a page, such as a record that another client writes. */
const UNNOTICED_MS = 25;

const waiting = new Set<() => void>();

/** Something has happened: an answer came, a timer went off, an element changed. */
export function stirred(): void {
  const all = [...waiting];
  waiting.clear();
  for (const each of all) each();
}

/** Until something has happened, and all that follows from it at once. */
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
 * Asks until there is an answer.
 * @param probe answers undefined while there is none; what it throws ends the wait
 * @param awaited says what was waited for in vain
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
 * Waits until what is read of a page is as expected: for what comes a moment after that which was waited for. Fails with
 * what it read last.
 * @param expected a value, or what `expect` matches: `expect.stringContaining("Voice")`
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
