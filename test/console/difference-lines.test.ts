// Reading order of differences.

import { expect, test } from "bun:test";
import { linesOf, withWritten } from "../../src/console/changes/difference-lines.ts";

type Differences = Parameters<typeof linesOf>[0];

const changed = (entity_type: string, name: string, ...fields: readonly string[]) =>
  ({
    entity_type,
    id: name,
    name,
    fields: fields.map((field) => ({ field })),
  }) as unknown as Differences["changed"][number];
const whole = (entity_type: string, name: string) =>
  ({ entity_type, id: name, name }) as unknown as Differences["added"][number];

test("networks and hosts precede their parts, and ports with only forwarding changes come last", () => {
  const lines = linesOf({
    added: [whole("if_entry", "new port"), whole("host", "new host")],
    removed: [whole("subnet", "old subnet")],
    changed: [
      changed("if_entry", "uplink", "fdb_macs", "last_seen_at"),
      changed("if_entry", "went down", "oper_status", "fdb_macs"),
      changed("host", "renamed", "name"),
    ],
  });
  expect(lines.map(({ sort, record }) => `${sort} ${record.name}`)).toEqual([
    "removed old subnet",
    "added new host",
    "changed renamed",
    "added new port",
    "changed went down",
    "changed uplink",
  ]);
});

test("a record edited here stays in place, without fields, once it no longer differs", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => changed("host", name, "description"));
  if (a === undefined || b === undefined || c === undefined) throw new Error("there are three");
  const of = (records: Differences["changed"], more: Partial<Differences> = {}) => ({
    added: [],
    removed: [],
    ...more,
    changed: records,
  });
  const written = [
    { record: b, place: 1 },
    { record: a, place: 0 },
  ];
  const shown = (diff: Differences) =>
    linesOf(withWritten(diff, written)).map(({ sort, record }) =>
      sort === "changed" ? `${record.name} ${record.fields.length}` : `${sort} ${record.name}`,
    );
  expect(shown(of([c]))).toEqual(["a 0", "b 0", "c 1"]);
  expect(shown(of([a, c]))).toEqual(["a 1", "b 0", "c 1"]);
  expect(shown(of([]))).toEqual(["a 0", "b 0"]);
  // Later removals are listed as such.
  expect(shown(of([c], { removed: [whole("host", "b")] }))).toEqual(["removed b", "a 0", "c 1"]);
  // A host without remaining differences has no dependent changes elsewhere: it stays before its children.
  const port = changed("if_entry", "port", "oper_status");
  expect(linesOf(withWritten(of([port]), [{ record: a, place: 0 }])).map(({ record }) => record.name)).toEqual([
    "a",
    "port",
  ]);
});
