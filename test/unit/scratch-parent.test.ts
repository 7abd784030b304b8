// Parent directory of the tests' temporary directories: in memory only if there is enough space.

import { expect, test } from "bun:test";
import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { hasSpace, scratchParent } from "../support/measure/scratch-parent.ts";

const TMPFS = 0x0102_1994;

test("test data is in memory or in the temporary directory", () => {
  expect(["/dev/shm", tmpdir()]).toContain(scratchParent());
});

test("a full, on-disk or missing directory is not used as memory", () => {
  expect(hasSpace("/dev/shm", Number.POSITIVE_INFINITY)).toBe(false);
  expect(hasSpace("/proc", 0)).toBe(false);
  expect(hasSpace("/nonexistent", 0)).toBe(false);
  const isMemory = existsSync("/dev/shm") && statfsSync("/dev/shm").type === TMPFS;
  expect(hasSpace("/dev/shm", 0)).toBe(isMemory);
});
