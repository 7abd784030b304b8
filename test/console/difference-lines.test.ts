// Display order of differences.

import { expect, test } from "bun:test";
import { linesOf, withRestored } from "../../src/console/history/difference-lines.ts";

type Differences = Parameters<typeof linesOf>[0];

const changed = (entity_type: string, name: string, ...fields: readonly string[]) =>
  ({
    entity_type,
    id: name,
    name,
    fields: fields.map((field) => ({ field })),
  }) as unknown as Differences["changed"][number];
const entry = (entity_type: string, name: string) =>
  ({ entity_type, id: name, name }) as unknown as Differences["added"][number];

test("networks and hosts precede their parts, and ports with only forwarding changes come last", () => {
  const lines = linesOf({
    added: [entry("if_entry", "new port"), entry("host", "new host")],
    removed: [entry("subnet", "old subnet")],
    changed: [
      changed("if_entry", "uplink", "fdb_macs", "last_seen_at"),
      changed("if_entry", "went down", "oper_status", "fdb_macs"),
      changed("host", "renamed", "name"),
    ],
  });
  expect(lines.map(({ change, record }) => `${change} ${record.name}`).join()).toBe(
    "removed old subnet,added new host,changed renamed,added new port,changed went down,changed uplink",
  );
});

test("a record edited here stays in place, without fields, once it no longer differs", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => changed("host", name, "description"));
  if (a === undefined || b === undefined || c === undefined) throw new Error("expected three records");
  const differencesOf = (records: Differences["changed"], overrides: Partial<Differences> = {}) => ({
    added: [],
    removed: [],
    ...overrides,
    changed: records,
  });
  const restored = [
    { record: b, index: 1 },
    { record: a, index: 0 },
  ];
  const summaries = (diff: Differences) =>
    linesOf(withRestored(diff, restored)).map(({ change, record }) =>
      change === "changed" ? `${record.name} ${record.fields.length}` : `${change} ${record.name}`,
    );
  expect(summaries(differencesOf([c]))).toEqual(["a 0", "b 0", "c 1"]);
  expect(summaries(differencesOf([a, c]))).toEqual(["a 1", "b 0", "c 1"]);
  expect(summaries(differencesOf([]))).toEqual(["a 0", "b 0"]);
  // Later removals are listed as such.
  expect(summaries(differencesOf([c], { removed: [entry("host", "b")] }))).toEqual(["removed b", "a 0", "c 1"]);
  // A host without remaining differences has no dependent changes elsewhere: it stays before its children.
  const port = changed("if_entry", "port", "oper_status");
  expect(
    linesOf(withRestored(differencesOf([port]), [{ record: a, index: 0 }])).map(({ record }) => record.name),
  ).toEqual(["a", "port"]);
});
