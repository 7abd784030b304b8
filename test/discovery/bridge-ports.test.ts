// Device that stops serving the interfaces of its bridge ports: known forwarding entries stay on their ports.

import { describe, expect, test } from "bun:test";
import type { PortList } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { owner } = appliance;
const scan = new ScanWriter(appliance);

const LEARNED = mac(9, 9);
const ALL: readonly PortList[] = ["forwarding", "vlans", "native_vlan"];
const learned = { vlans: [10], native_vlan: 10, forwarding: [{ mac_address: LEARNED, vlan_number: 10 }] };
/** Bridge port 1 is interface 2; as an ifIndex it would be interface 1. */
const SERVED = { sys_object_id: "1.3.6.1.4.1.9.1.516", served: ["bridge.dot1dBasePortIfIndex"] };
const mapped = deviceAt("10.0.0.2", { sys_name: "sw-1", ...SERVED, interfaces: [ethernet(1), ethernet(2, learned)] });
const unmapped = (lists: readonly PortList[] = ALL, address = "10.0.0.2") =>
  deviceAt(address, { sys_name: "sw-1", assumed_lists: lists, interfaces: [ethernet(1, learned), ethernet(2)] });

const entries = async (): Promise<JsonRecord[]> => (await owner.get("if-entries?order_by=if_index")).data;
const portData = async () =>
  (await entries()).map((entry) => [
    entry.fdb_macs ?? [],
    (entry.vlan_ids ?? []).length,
    entry.native_vlan_id !== undefined,
  ]);
const MAPPED = [
  [[], 0, false],
  [[LEARNED], 1, true],
];
const UNMAPPED = [
  [[LEARNED], 1, true],
  [[], 0, false],
];

describe("a device that stops reporting dot1dBasePortTable", () => {
  test("keeps its previous mapping, and a finding reports it", async () => {
    await scan.devices(mapped);
    const { result } = await scan.devices(unmapped());
    expect(await portData()).toEqual(MAPPED);
    expect(result.records).toEqual({});
    const reason = "it no longer serves dot1dBasePortTable: its bridge ports are unknown, and known values stay";
    const partial = { type: "Partial" as const, entity: "host", id: expect.any(String), reason };
    expect(result.findings.filter(({ type }) => type === "Partial")).toEqual([
      { ...partial, label: "sw-1: forwarding" },
      { ...partial, label: "sw-1: vlans" },
    ]);
    // An unchanged report repeats the finding without a comparison.
    expect((await scan.devices(unmapped())).result.findings.filter(({ type }) => type === "Partial")).toHaveLength(2);
    expect(await portData()).toEqual(MAPPED);
  });

  test("is followed again once it reports the table", async () => {
    await scan.devices(mapped);
    await scan.devices(unmapped());
    await scan.devices(deviceAt("10.0.0.2", { ...mapped.device, interfaces: [ethernet(1, learned), ethernet(2)] }));
    expect(await portData()).toEqual(UNMAPPED);
  });

  test("keeps only data derived from bridge ports: VLANs indexed by interface follow", async () => {
    await scan.devices(mapped);
    await scan.devices(unmapped(["forwarding"]));
    expect(await portData()).toEqual([
      [[], 1, true],
      [[LEARNED], 0, false],
    ]);
  });
});

test("a device with a different agent is trusted, and no data of the previous agent is reported missing", async () => {
  await scan.devices(mapped);
  const other = {
    ...unmapped().device,
    serial_number: "S1",
    sys_object_id: "1.3.6.1.4.1.11.2.3",
    served: ["if_table.ifDescr"],
  };
  await scan.devices(deviceAt("10.0.0.2", other));
  expect(await portData()).toEqual(UNMAPPED);
  expect((await owner.get("hosts")).data).toHaveLength(1);
});

test("a device that never reported dot1dBasePortTable uses bridge ports as if_index, every time", async () => {
  await scan.devices(deviceAt("10.0.0.2", { ...unmapped().device, interfaces: [ethernet(1), ethernet(2, learned)] }));
  expect(await portData()).toEqual(MAPPED);
  const { result } = await scan.devices(unmapped());
  expect(await portData()).toEqual(UNMAPPED);
  expect(result.findings.filter(({ type }) => type === "Partial")).toEqual([]);
});
