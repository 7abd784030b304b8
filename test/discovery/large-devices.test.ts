// Devices with more interfaces than one statement of the ledger inserts, which refer to each other.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac, numbered } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({});

async function portsOf(lag: number): Promise<number> {
  const entries = async (filter: string) =>
    (await appliance.owner.get(`if-entries?filter=${encodeURIComponent(filter)}&limit=1000`)).data;
  const [aggregate] = await entries(`if_index:${lag}`);
  return (await entries(`lag_id:${aggregate.id}`)).length;
}

test.each([1, 400, 900])("500 ports are members of an aggregate with ifIndex %i", async (lag) => {
  const ports = Array.from({ length: 500 }, (_, index) => 101 + index + (101 + index >= lag ? 1 : 0));
  const numbers = [...ports, lag].sort((a, b) => a - b);
  const interfaces = numbers.map((port) => ethernet(port, { mac_address: null }));
  const stacking = ports.map((if_index) => ({ if_index, lag_if_index: lag }));
  const { result } = await new ScanWriter(appliance).devices(deviceAt("10.0.0.2", { interfaces, stacking }));
  expect(result.records.if_entries).toMatchObject({ created: 501 });
  expect(await portsOf(lag)).toBe(500);
});

test("the ports of sixteen switches in one command are members of their own aggregates", async () => {
  const switches = Array.from({ length: 16 }, (_, device) => {
    const interfaces = Array.from({ length: 40 }, (_, port) => ethernet(port + 1, { mac_address: mac(port, device) }));
    const stacking = interfaces.slice(0, 39).map(({ if_index }) => ({ if_index, lag_if_index: 40 }));
    return numbered(device + 1, { sys_name: `sw-${device}`, interfaces, stacking });
  });
  const { result } = await new ScanWriter(appliance).devices(...switches);
  expect(result.records.if_entries).toMatchObject({ created: 640 });
});
