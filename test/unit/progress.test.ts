// Progress of a command in its log.

import { expect, test } from "bun:test";
import { progressTo } from "../../src/cli/progress.ts";
import { TestClock } from "../support/appliance/appliance.ts";

function setup() {
  const lines: Array<[event: string, fields: unknown]> = [];
  const info = (event: string, fields: unknown) => void lines.push([event, fields]);
  const clock = new TestClock();
  return { lines, clock, report: progressTo({ info } as never, clock, "verifying") };
}

test("a command shorter than five seconds reports no progress", () => {
  const { lines, clock, report } = setup();
  for (let step = 1; step < 50; step += 1) {
    clock.advance(100);
    report({ step: "versions", done: step, total: 50 });
  }
  expect(lines).toEqual([]);
});

test("a longer command reports progress every five seconds, even if it changes more often", () => {
  const { lines, clock, report } = setup();
  for (let step = 1; step <= 120; step += 1) {
    clock.advance(100);
    report({ step: "versions", done: step, total: 200 });
  }
  expect(lines).toEqual([
    ["verifying", { step: "versions", done: 50, total: 200 }],
    ["verifying", { step: "versions", done: 100, total: 200 }],
  ]);
});

test("an unknown total is omitted, and reports continue after the clock was set back", () => {
  const { lines, clock, report } = setup();
  clock.advance(-60_000);
  report({ step: "hosts", done: 3, total: null });
  expect(lines).toEqual([["verifying", { step: "hosts", done: 3 }]]);
});
