// Work that a rescan of unchanged devices does not repeat: compiling statements, and parsing interfaces.

import { Database, type Statement } from "bun:sqlite";
import { expect, spyOn, test } from "bun:test";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { readRecording, readsOf } from "../support/reconcile/recorded-reads.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const writer = new ScanWriter(appliance);

test("a rescan compiles no statement of the previous scan again", async () => {
  const { query } = Database.prototype;
  const connections = new Map<Database, Map<string, Statement>>();
  const compiledAgain = new Set<string>();
  const spy = spyOn(Database.prototype, "query").mockImplementation(function (this: Database, sql: string) {
    const statement = query.call(this, sql) as Statement;
    const used = connections.get(this) ?? new Map<string, Statement>();
    if (used.has(sql) && used.get(sql) !== statement) compiledAgain.add(sql);
    connections.set(this, used.set(sql, statement));
    return statement;
  } as never);
  try {
    const sighting = deviceAt("192.0.2.1", deviceOf(readsOf(readRecording("switch-a"), READING_PLAN)));
    for (let scan = 0; scan < 3; scan += 1) {
      await writer.devices(sighting);
      await writer.neighborsOf(sighting);
    }
  } finally {
    spy.mockRestore();
  }
  expect(Math.max(...[...connections.values()].map((used) => used.size))).toBeGreaterThan(40);
  expect([...compiledAgain]).toEqual([]);
});

test("a rescan parses the interfaces of no unchanged device", async () => {
  const lengths: number[] = [];
  const { parse } = JSON;
  const spy = spyOn(JSON, "parse").mockImplementation((text: string) => {
    if (text.startsWith('[{"if_index":')) lengths.push(text.length);
    return parse(text);
  });
  try {
    const scan = async (ports: number) => {
      lengths.length = 0;
      const interfaces = Array.from({ length: ports }, (_, port) => ethernet(port + 1));
      await writer.devices(deviceAt("192.0.2.1", { interfaces }), deviceAt("192.0.2.2", { sys_name: "sw-2" }));
      return lengths.length;
    };
    expect([await scan(2), await scan(2), await scan(3), await scan(3)]).toEqual([1, 0, 1, 0]);
  } finally {
    spy.mockRestore();
  }
  expect(await inventoryOf(appliance).entries()).toHaveLength(3);
});
