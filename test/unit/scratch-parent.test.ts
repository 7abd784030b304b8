// Parent of the tests' temporary folders: in memory only if it has space.

import { expect, test } from "bun:test";
import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { hasRoom, scratchParent } from "../support/measure/scratch-parent.ts";

const TMPFS = 0x0102_1994;

test("test data are in memory or in the temporary folder", () => {
  expect(["/dev/shm", tmpdir()]).toContain(scratchParent());
});

test("a full, on-disk or missing folder is not used as memory", () => {
  expect(hasRoom("/dev/shm", Number.POSITIVE_INFINITY)).toBe(false);
  expect(hasRoom("/proc", 0)).toBe(false);
  expect(hasRoom("/nonexistent", 0)).toBe(false);
  const isMemory = existsSync("/dev/shm") && statfsSync("/dev/shm").type === TMPFS;
  expect(hasRoom("/dev/shm", 0)).toBe(isMemory);
});
