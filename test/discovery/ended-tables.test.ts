// Tables that an agent no longer serves: missed for a grace period, then treated as empty, which removes the dependent
// data.

import { beforeEach, describe, expect, test } from "bun:test";
import { openReadOnly } from "../../src/db/connection.ts";
import { type CheckedTable, checkedTables, walkChecked } from "../../src/db/row-checksum.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { EMPTY_TABLE_GRACE_PERIOD, GRACE_PERIOD } from "../../src/discovery/mib/missed.ts";
import { servedBefore } from "../../src/discovery/reconcile/served-data.ts";
import type { DeviceSighting, Finding } from "../../src/discovery/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, mac } from "../support/reconcile/sightings.ts";
import {
  dotted,
  hex,
  readsWith,
  rows,
  type SyntheticStep,
  tableOf,
  utf8,
} from "../support/reconcile/synthetic-reads.ts";

type Steps = Readonly<Record<string, SyntheticStep>>;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const appliance = applianceForEach();
const { clock, first, signedIn } = appliance;
const scan = new ScanWriter(appliance);

const port = (n: number) => ({ ifDescr: utf8(`Gi0/${n}`), ifType: 6, ifPhysAddress: hex(mac(n)), ifOperStatus: 1 });
const SYSTEM: SyntheticStep = { scalars: { sysName: utf8("sw-1"), sysObjectID: "1.3.6.1.4.1.9.1.516" } };
const BASE: Steps = { system: SYSTEM, if_table: tableOf({ 1: port(1), 2: port(2) }) };
const BRIDGE: SyntheticStep = { columns: { dot1dBasePortIfIndex: { 11: 1, 12: 2 } } };
const EMPTY: SyntheticStep = {};
const SILENT: SyntheticStep = { broken: ["*"] };

function sightingOf(steps: Steps): DeviceSighting {
  const { reader } = appliance;
  const before = servedBefore(reader, reader.recordN(first.networkId) as number, "10.0.0.2", null);
  const { arp: _heard, ...device } = deviceOf(readsWith({ ...BASE, ...steps }), before);
  return deviceAt("10.0.0.2", device);
}

/** @returns findings about incomplete tables */
async function partialFindings(sighting: DeviceSighting): Promise<Finding[]> {
  return (await scan.devices(sighting)).result.findings.filter(({ type }) => type === "Partial");
}

const readTables = (steps: Steps): Promise<Finding[]> => partialFindings(sightingOf(steps));

/** Repeats the read, with the last one this long after the first. */
async function readRepeatedly(steps: Steps, times: number, span: number): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    if (index > 0) clock.advance(Math.ceil(span / (times - 1)));
    await readTables(steps);
  }
}

/** Signs in again: sessions expire during the grace periods. */
const owner = () => signedIn(first.userId);
const entries = async (): Promise<JsonRecord[]> => (await (await owner()).get("if-entries?order_by=if_index")).data;
const vlans = async (): Promise<number[]> => (await entries()).map(({ vlan_ids }) => (vlan_ids ?? []).length);
const learned = async (): Promise<string[][]> =>
  (await entries()).map(({ fdb_macs }) => (fdb_macs ?? []).map((address: string) => address.slice(-2)));
const lldpName = async (): Promise<unknown> => (await entries())[0]?.lldp_sys_name;

const learnedAt = (port: number, macs: readonly number[]): SyntheticStep =>
  tableOf(Object.fromEntries(macs.map((n) => [dotted(mac(n)), { dot1dTpFdbPort: port, dot1dTpFdbStatus: 3 }])));
const learnedInVlan = (port: number, macs: readonly number[]): SyntheticStep =>
  tableOf(Object.fromEntries(macs.map((n) => [`10.${dotted(mac(n))}`, { dot1qTpFdbPort: port, dot1qTpFdbStatus: 3 }])));

describe("a table permanently missing from a firmware", () => {
  const staticVlans = (ports: number) => ({
    dot1q_vlan_static_table: tableOf({
      10: { dot1qVlanStaticName: utf8("users"), dot1qVlanStaticEgressPorts: new Uint8Array([0, ports]) },
    }),
  });
  const current = {
    dot1q_vlan_current_table: tableOf({
      "0.10": { dot1qVlanFdbId: 10, dot1qVlanCurrentEgressPorts: new Uint8Array([0, 0x20]) },
    }),
  };
  const before = { bridge: BRIDGE, ...staticVlans(0x20), ...current, dot1q_tp_fdb_table: learnedInVlan(11, [0x11]) };
  /** As before, but without dot1qVlanCurrentTable: the VLAN and the station have moved to the other port. */
  const after = { bridge: BRIDGE, ...staticVlans(0x10), dot1q_tp_fdb_table: learnedInVlan(12, [0x11]) };

  const vlanReason = (findings: readonly Finding[]) => findings.find(({ label }) => label === "sw-1: vlans")?.reason;

  beforeEach(async () => {
    await readTables(before);
    expect(await vlans()).toEqual([1, 0]);
  });

  test("freezes VLANs and stations for ten reads and seven days, then lets them follow the device", async () => {
    await readRepeatedly(after, 5, GRACE_PERIOD.age_ms - DAY);
    await readRepeatedly(after, 7, HOUR);
    expect([await vlans(), await learned()]).toEqual([
      [1, 0],
      [["11"], []],
    ]);
    clock.advance(DAY);
    await readTables(after);
    expect(await vlans()).toEqual([1, 0]);
    const findings = await readTables(after);
    expect([await vlans(), await learned(), findings]).toEqual([[0, 1], [[], ["11"]], []]);
  });

  test("is not permanent until ten reads", async () => {
    await readRepeatedly(after, GRACE_PERIOD.readings - 1, 5 * GRACE_PERIOD.age_ms);
    await readTables(after);
    expect(await vlans()).toEqual([1, 0]);
    await readTables(after);
    expect(await vlans()).toEqual([0, 1]);
  });

  test("is reported with the times at which it went missing and will count as empty", async () => {
    const currentReason = async () => vlanReason(await readTables(after));
    const first = await currentReason();
    const hosts = await (await owner()).get("hosts");
    const since = Date.parse(hosts.data[0].last_seen_at);
    const until = new Date(since + GRACE_PERIOD.age_ms).toISOString();
    const clause = `missing since ${new Date(since).toISOString()}; counts as empty from ${until} on`;
    const problem = "the device no longer serves dot1qVlanFdbId, dot1qVlanCurrentEgressPorts";
    expect(first).toBe(`${problem}; ${clause} and after 9 more readings without it`);
    expect(await currentReason()).toBe(`${problem}; ${clause} and after 8 more readings without it`);
    await readRepeatedly(after, 6, HOUR);
    expect(await currentReason()).toBe(`${problem}; ${clause} and after 1 more reading without it`);
    await readTables(after);
    expect(await currentReason()).toBe(`${problem}; ${clause}`);
  });

  test("restarts its period when the table reappears, and recovers at any time", async () => {
    await readRepeatedly(after, 9, GRACE_PERIOD.age_ms);
    await readTables({ ...after, ...current });
    await readRepeatedly({ ...after, ...staticVlans(0x10) }, 9, 2 * GRACE_PERIOD.age_ms);
    expect(await vlans()).toEqual([1, 1]);
    await readRepeatedly(after, 2, 0);
    expect(await vlans()).toEqual([0, 1]);
    await readTables({ ...after, ...current });
    expect(await vlans()).toEqual([1, 1]);
    await readRepeatedly(after, 3, HOUR);
    expect(await vlans()).toEqual([1, 1]);
  });

  test("is not assumed after reads in which the table timed out or was cut off", async () => {
    const silent = { ...after, dot1q_vlan_current_table: SILENT };
    const broken = { ...after, dot1q_vlan_current_table: { broken: ["dot1qVlanFdbId"] } };
    await readRepeatedly(silent, 12, 2 * GRACE_PERIOD.age_ms);
    await readRepeatedly(broken, 12, 2 * GRACE_PERIOD.age_ms);
    await readTables(after);
    await readTables(after);
    expect(await vlans()).toEqual([1, 0]);
  });

  test("leaves the ports without VLANs if no other table reports them", async () => {
    const pvids = { dot1q_port_vlan_table: { columns: { dot1qPvid: { 11: 10, 12: 10 } } } };
    await readTables({ ...before, ...pvids });
    const natives = async () => (await entries()).map(({ native_vlan_id }) => (native_vlan_id ?? null) !== null);
    expect(await natives()).toEqual([true, true]);
    const nothing = { bridge: BRIDGE, dot1q_tp_fdb_table: learnedInVlan(12, [0x11]) };
    await readRepeatedly(nothing, GRACE_PERIOD.readings, GRACE_PERIOD.age_ms);
    expect([await vlans(), await natives()]).toEqual([
      [1, 0],
      [true, true],
    ]);
    await readTables(nothing);
    expect([await vlans(), await natives()]).toEqual([
      [0, 0],
      [false, false],
    ]);
  });

  test("is treated as never served if it is dot1dBasePortTable", async () => {
    const without = { ...staticVlans(0x20), ...current, dot1q_tp_fdb_table: learnedInVlan(2, [0x11]) };
    await readRepeatedly(without, GRACE_PERIOD.readings, GRACE_PERIOD.age_ms);
    expect(await learned()).toEqual([["11"], []]);
    await readTables(without);
    expect(await learned()).toEqual([[], ["11"]]);
  });

  test("counts as missed once per read of a device, even if that is written in several commands", async () => {
    const sighting = sightingOf(after);
    expect(vlanReason(await partialFindings(sighting))).toEndWith("9 more readings without it");
    await partialFindings({ ...sighting, is_continued: true });
    expect(vlanReason(await partialFindings(sighting))).toEndWith("8 more readings without it");
  });

  test("leaves rows with valid checksums at every step of the period", async () => {
    const db = openReadOnly(appliance.databasePath);
    const table = checkedTables(db).find(({ name }) => name === "discovery_served") as CheckedTable;
    expect(table.columns).toContain("missed");
    for (let index = 0; index <= GRACE_PERIOD.readings; index += 1) {
      await readTables(after);
      clock.advance(DAY);
      const matches: boolean[] = [];
      for (const _ of walkChecked(db, table, (found) => matches.push(...found.map(({ isIntact }) => isIntact))));
      expect(matches).toEqual([true]);
    }
    db.$client.close();
  });
});

describe("the last neighbor on a port that stays up", () => {
  const phone = { chassisIdSubtype: 4, chassisId: hex("001b21998877"), portIdSubtype: 5, portId: utf8("p1") };
  const announced = { ...phone, sysName: utf8("phone") };
  const local = { lldp_local: { scalars: { chassisIdSubtype: 4, chassisId: hex(mac(1)) } } };
  const remote = { lldp_rem_table: tableOf({ "0.1.1": announced }) };
  const remoteV2 = { lldp_v2_rem_table: tableOf({ "0.1.1.1": announced }) };
  const localV2 = { lldp_v2_local: { scalars: { chassisIdSubtype: 4, chassisId: hex(mac(1)) } } };

  for (const [version, otherTables, neighbor] of [
    [1, local, remote],
    [2, localV2, remoteV2],
  ] as const) {
    test(`is removed after three reads and an hour with local system data and no neighbor, version ${version}`, async () => {
      await readTables({ ...otherTables, ...neighbor });
      expect(await lldpName()).toBe("phone");
      await readRepeatedly(otherTables, EMPTY_TABLE_GRACE_PERIOD.readings, EMPTY_TABLE_GRACE_PERIOD.age_ms);
      expect(await lldpName()).toBe("phone");
      expect(await readTables(otherTables)).toEqual([]);
      expect(await lldpName()).toBeUndefined();
      await readTables({ ...otherTables, ...neighbor });
      expect(await lldpName()).toBe("phone");
    });
  }

  test("stays within the first hour for any number of reads, and for two reads at any time", async () => {
    await readTables({ ...local, ...remote });
    await readRepeatedly(local, 20, 20 * 60_000);
    expect(await lldpName()).toBe("phone");
    await readTables({ ...local, ...remote });
    await readRepeatedly(local, 2, DAY);
    await readTables({ ...local, ...remote });
    expect(await lldpName()).toBe("phone");
  });

  test("is removed after the long period if the agent no longer serves LLDP-MIB", async () => {
    await readTables({ ...local, ...remote });
    await readRepeatedly({}, GRACE_PERIOD.readings, GRACE_PERIOD.age_ms);
    expect(await lldpName()).toBe("phone");
    await readTables({});
    expect(await lldpName()).toBeUndefined();
  });

  test("is also removed by CDP: soon if cdpGlobalRun is served, else after the long period", async () => {
    const running: SyntheticStep = { scalars: { cdpGlobalRun: 1 } };
    const cached = { cdp_cache_table: { ...running, columns: rows({ "1.1": { cdpCacheDeviceId: utf8("far") } }) } };
    const name = async () => (await entries())[0]?.cdp_device_id;
    for (const [emptied, gracePeriod] of [
      [running, EMPTY_TABLE_GRACE_PERIOD],
      [EMPTY, GRACE_PERIOD],
    ] as const) {
      await readTables(cached);
      await readRepeatedly({ cdp_cache_table: emptied }, gracePeriod.readings, gracePeriod.age_ms);
      expect(await name()).toBe("far");
      await readTables({ cdp_cache_table: emptied });
      expect(await name()).toBeUndefined();
    }
  });
});

describe("stations", () => {
  const bridgeWith = (macs: readonly number[]) => ({ bridge: BRIDGE, dot1q_tp_fdb_table: learnedInVlan(11, macs) });

  test("without VLAN are removed after three reads and an hour without dot1dTpFdbTable, while others are followed", async () => {
    await readTables({ ...bridgeWith([0x11]), dot1d_tp_fdb_table: learnedAt(11, [0x12]) });
    expect(await learned()).toEqual([["11", "12"], []]);
    await readRepeatedly(bridgeWith([0x13]), EMPTY_TABLE_GRACE_PERIOD.readings, EMPTY_TABLE_GRACE_PERIOD.age_ms);
    expect(await learned()).toEqual([["12", "13"], []]);
    await readTables(bridgeWith([0x13]));
    expect(await learned()).toEqual([["13"], []]);
  });

  test("are removed from an idle bridge, and after the long period from a device that is no longer a bridge", async () => {
    for (const [otherTables, gracePeriod] of [
      [{ bridge: BRIDGE }, EMPTY_TABLE_GRACE_PERIOD],
      [{}, GRACE_PERIOD],
    ] as const) {
      await readTables({ bridge: BRIDGE, dot1d_tp_fdb_table: learnedAt(11, [0x12]) });
      await readRepeatedly(otherTables, gracePeriod.readings, gracePeriod.age_ms);
      expect(await learned()).toEqual([["12"], []]);
      await readTables(otherTables);
      expect(await learned()).toEqual([[], []]);
    }
  });
});
