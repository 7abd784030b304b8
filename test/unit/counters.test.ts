// Counters that can be read by name.

import { describe, expect, test } from "bun:test";
import { Counters } from "../../src/base/counters.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { newApiKey } from "../support/appliance/factories.ts";

test("a counter starts at 0 for each label value, and a read is a snapshot", () => {
  const counters = new Counters();
  const writes = () => counters.read().find(({ name }) => name === "writes");
  expect(writes()).toEqual({
    name: "writes",
    type: "counter",
    help: expect.stringMatching(/^[A-Z].*\.$/),
    label: "outcome",
    values: { committed: 0, unchanged: 0, refused: 0, failed: 0 },
  });
  const before = writes();
  counters.counts.writes.committed += 2;
  expect(writes()?.values.committed).toBe(2);
  expect(before?.values.committed).toBe(0);
});

test("a gauge is evaluated when read, and absent until registered", () => {
  const counters = new Counters();
  const gauges = () => counters.read().filter(({ type }) => type === "gauge");
  expect(gauges()).toEqual([]);
  let heldBytes = 1;
  counters.gauge("bodies_held", () => heldBytes);
  heldBytes = 7;
  expect(gauges()).toMatchObject([{ name: "bodies_held", unit: "bytes", label: null, values: { "": 7 } }]);
});

test("names, labels and values are valid OpenMetrics, and each family has a description", () => {
  const families = new Counters().read();
  for (const { name, help, label, values } of families) {
    expect([name, label ?? ""].join(" ")).toMatch(/^[a-z][a-z_]* [a-z_]*$/);
    expect(help).toMatch(/^[A-Z].*\.$/);
    expect(Object.keys(values).length).toBeGreaterThan(0);
  }
  expect(new Set(families.map(({ name }) => name)).size).toBe(families.length);
});

describe("the appliance's metrics", () => {
  const appliance = applianceForEach();
  const requests = () => ({ ...appliance.counters.counts.requests });

  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    appliance.handle(new Request(`http://localhost${path}`, { method, headers }));

  test("count requests by outcome, once each", async () => {
    const key = { authorization: `Bearer ${newApiKey(appliance).key}` };
    const before = requests();
    for (const path of ["/api/v1/hosts", "/api/health", "/", "/docs"]) await send("GET", path, key);
    await send("GET", "/api/v1/hosts");
    await send("GET", "/api/v1/tags?limit=-1", key);
    await send("GET", "/nowhere", key);
    await send("DELETE", "/docs", key);
    expect(requests()).toEqual({ ...before, answered: before.answered + 4, refused: before.refused + 4 });
  });

  test("count log lines", async () => {
    const { log_lines } = appliance.counters.counts;
    const before = { ...log_lines };
    const lines = appliance.logLines.length;
    await appliance.owner.post("tags", { name: "a", color: "Red" });
    expect(appliance.logLines.length).toBeGreaterThan(lines);
    expect(log_lines).toEqual({ ...before, info: before.info + appliance.logLines.length - lines });
  });

  test("report the number of change followers", async () => {
    const streams = () => appliance.counters.read().find(({ name }) => name === "feed_streams")?.values[""];
    expect(streams()).toBe(0);
    const headers = { authorization: `Bearer ${newApiKey(appliance).key}`, accept: "text/event-stream" };
    const reader = (await send("GET", "/api/v1/changes", headers)).body?.getReader();
    await reader?.read();
    expect(streams()).toBe(1);
    await reader?.cancel();
    expect(streams()).toBe(0);
  });
});
