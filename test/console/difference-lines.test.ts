// What differs, in the order in which it is read.

import { expect, test } from "bun:test";
import { linesOf } from "../../src/console/changes/difference-lines.ts";

type Differences = Parameters<typeof linesOf>[0];

const changed = (entity_type: string, name: string, ...fields: readonly string[]) =>
  ({ entity_type, name, fields: fields.map((field) => ({ field })) }) as unknown as Differences["changed"][number];
const whole = (entity_type: string, name: string) => ({ entity_type, name }) as unknown as Differences["added"][number];

test("networks and hosts stand before their parts, and ports that only forward to somebody else come last", () => {
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
