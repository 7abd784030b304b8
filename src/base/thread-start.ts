// Starts threads only where there is room for one: Bun ends the whole process when a thread finds no descriptor left.

import { closeSync, openSync } from "node:fs";
import { DomainError } from "./errors.ts";

/** What a thread opens at its start is a tenth of it; the rest is for connections that come in the same moment. */
export const DESCRIPTORS_PER_START = 96;

/**
 * @param open stands for opening any file; a test may let it fail
 * @throws DomainError rate_limit_exceeded where connections have taken all descriptors that the process may have
 */
export function startThread<T>(start: () => T, open: () => number = () => openSync("/dev/null", "r")): T {
  assertRoom(open);
  return start();
}

function assertRoom(open: () => number): void {
  const opened: number[] = [];
  try {
    while (opened.length < DESCRIPTORS_PER_START) opened.push(open());
  } catch (error) {
    // Where it fails for another reason, nothing is known of the room.
    if (!isOutOfDescriptors(error)) return;
    throw Object.assign(
      new DomainError(
        "rate_limit_exceeded",
        "Too many connections are open for this to be done now; try again in a few seconds.",
        { retry_after_seconds: 5 },
      ),
      { cause: error },
    );
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
