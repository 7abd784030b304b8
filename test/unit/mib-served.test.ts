// Objects that an agent served before: reported missing if empty now, unlike objects never served.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import { type ServedBefore, servedOf } from "../../src/discovery/mib/served.ts";
import { type RecordedSteps, reducedReads } from "../support/reconcile/reduced-reads.ts";
import { syntheticDevices } from "../support/reconcile/synthetic-devices.ts";
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

const SYSTEM: SyntheticStep = { scalars: { sysName: utf8("sw-1"), sysObjectID: "1.3.6.1.4.1.9.1.516" } };
const IF_TABLE: SyntheticStep = tableOf({
  1: { ifDescr: utf8("port 1"), ifSpeed: 1_000_000_000, ifOperStatus: 1 },
  2: { ifDescr: utf8("port 2"), ifSpeed: 1_000_000_000, ifOperStatus: 2 },
});
const IF_X_TABLE: SyntheticStep = tableOf({
  1: { ifName: utf8("p1"), ifHighSpeed: 10_000 },
  2: { ifName: utf8("p2") },
});
const COMPLETE: Steps = { system: SYSTEM, if_table: IF_TABLE, if_x_table: IF_X_TABLE };

const deviceAfter = (previous: Steps, current: Steps): Device => deviceOf(readsWith(current), servedBefore(previous));
const servedBefore = (steps: Steps): ServedBefore => {
  const reads = readsWith(steps);
  return { sys_object_id: deviceOf(reads).sys_object_id ?? null, columns: servedOf(reads) };
};

describe("a previously served table", () => {
  test("is reported missing by its columns, and no data is derived from it", () => {
    const device = deviceAfter(COMPLETE, { system: SYSTEM, if_table: IF_TABLE });
    for (const port of device.interfaces ?? []) expect(port).not.toContainAnyKeys(["if_name", "speed_bps"]);
    expect(device.interfaces?.map(({ oper_status }) => oper_status)).toEqual(["Up", "Down"]);
    const problem = "the device no longer serves ifName, ifHighSpeed";
    expect(device.tables.interface_extensions).toEqual({ state: "failed", problem });
    expect(device.broken).toEqual(["interface_extensions"]);
  });

  test("is not missing from an agent of another type with other tables", () => {
    const other = { ...SYSTEM, scalars: { ...SYSTEM.scalars, sysObjectID: "1.3.6.1.4.1.11.2.3" } };
    const device = deviceAfter(COMPLETE, { system: other, if_table: IF_TABLE });
    expect(device.interfaces?.[0]?.speed_bps).toBe(1_000_000_000);
    expect(device.tables.interface_extensions).toEqual({ state: "absent", problem: null });
  });

  test("is missing from an agent that no longer reports its type", () => {
    expect(deviceAfter(COMPLETE, { if_table: IF_TABLE }).broken).toEqual(["system", "interface_extensions"]);
  });

  test("is never missing from an unknown device", () => {
    expect(deviceOf(readsWith({ if_table: IF_TABLE }), null)).toEqual(deviceOf(readsWith({ if_table: IF_TABLE })));
  });
});

describe("a column", () => {
  const neighbor = { chassisIdSubtype: 4, chassisId: hex("001b21000009"), portIdSubtype: 5, portId: utf8("Gi0/9") };
  const lldp = (extra: object): Steps => ({
    if_table: IF_TABLE,
    lldp_rem_table: tableOf({ "0.1.1": { ...neighbor, ...extra } }),
  });

  test("is not missing while others are served if it is optional per row", () => {
    const device = deviceAfter(lldp({ sysDesc: utf8("an old switch") }), lldp({}));
    expect(device.interfaces?.[0]?.lldp).toHaveLength(1);
    expect(device.tables.lldp.problem).toBeNull();
  });

  test("is missing individually if every row has it", () => {
    const { portId: _id, ...without } = neighbor;
    const device = deviceAfter(lldp({}), { if_table: IF_TABLE, lldp_rem_table: tableOf({ "0.1.1": without }) });
    expect(device.interfaces?.[0]).not.toHaveProperty("lldp");
    expect(device.tables.lldp.problem).toBe("the device no longer serves portId");
  });
});

test("an engine id that a credential may no longer see is not missing, unlike a name", () => {
  const scalars = { ...SYSTEM.scalars, snmpEngineID: hex("800007db03001b21000001") };
  const before = { ...COMPLETE, system: { scalars } };
  expect(deviceAfter(before, before).engine_id).toBe("800007db03001b21000001");
  const device = deviceAfter(before, COMPLETE);
  expect(device.engine_id).toBeUndefined();
  expect(device.broken).toBeUndefined();
  const { sysName: _name, ...unnamed } = scalars as Record<string, Uint8Array>;
  expect(deviceAfter(before, { ...COMPLETE, system: { scalars: unnamed } }).broken).toEqual(["system"]);
  const alone = { ...COMPLETE, system: { scalars: { snmpEngineID: hex("800007db03001b21000001") } } };
  expect(deviceOf(readsWith(alone)).tables.system.state).toBe("absent");
});

describe("forwarding entries", () => {
  const [A, B] = ["001b21000001", "001b21000002"].map(dotted) as [string, string];
  const bridge = { columns: { dot1dBasePortIfIndex: { "1": 1, "2": 2 } } };
  const dot1q = (port: number): SyntheticStep => tableOf({ [`1.${A}`]: { dot1qTpFdbPort: port, dot1qTpFdbStatus: 3 } });
  const dot1d: SyntheticStep = tableOf({ [B]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 } });
  const previous = { if_table: IF_TABLE, bridge, dot1q_tp_fdb_table: dot1q(1), dot1d_tp_fdb_table: dot1d };
  const forwardedMacs = (device: Device) =>
    device.interfaces?.map(({ forwarding }) => forwarding?.map(({ mac_address }) => mac_address.slice(-1)));

  test("are not removed if dot1dTpFdbTable alone is missing, and those of dot1qTpFdbTable are reported", () => {
    const device = deviceAfter(previous, { if_table: IF_TABLE, bridge, dot1q_tp_fdb_table: dot1q(2) });
    expect(forwardedMacs(device)).toEqual([[], ["1"]]);
    expect(device.is_forwarding_partial).toBeTrue();
  });

  test("are not reported at all without dot1qTpFdbTable, since others have no VLAN", () => {
    const device = deviceAfter(previous, { if_table: IF_TABLE, bridge, dot1d_tp_fdb_table: dot1d });
    expect(forwardedMacs(device)).toEqual([undefined, undefined]);
  });

  test("are neither reported nor counted as without an interface on unreported ports", () => {
    const device = deviceAfter(previous, {
      if_table: IF_TABLE,
      dot1q_tp_fdb_table: dot1q(1),
      dot1d_tp_fdb_table: dot1d,
    });
    expect(forwardedMacs(device)).toEqual([undefined, undefined]);
    expect(device.tables.forwarding.problem).toBe("the device no longer serves dot1dBasePortIfIndex");
  });

  test("are removed from down links once no table has any", () => {
    expect(forwardedMacs(deviceAfter(previous, { if_table: IF_TABLE, bridge }))).toEqual([undefined, []]);
  });
});

describe("LLDP neighbors", () => {
  const remote = { chassisIdSubtype: 4, chassisId: hex("001b21000009"), portIdSubtype: 5, portId: utf8("Gi0/9") };
  const local: SyntheticStep = { scalars: { chassisIdSubtype: 4, chassisId: hex("001b21000001") } };
  const v1: SyntheticStep = tableOf({ "0.1.1": remote, "0.2.1": remote });
  const lldp = (device: Device) => device.interfaces?.map((port) => port.lldp?.length);

  test("are removed from down links once there are none, and stay on others", () => {
    const without = { if_table: IF_TABLE, lldp_local: local };
    expect(lldp(deviceAfter({ ...without, lldp_rem_table: v1 }, without))).toEqual([undefined, 0]);
    const running: SyntheticStep = { scalars: { cdpGlobalRun: 1 } };
    const cdp = { ...running, columns: rows({ "1.1": { cdpCacheDeviceId: utf8("far") } }) };
    const previous = { if_table: IF_TABLE, cdp_cache_table: cdp };
    const device = deviceAfter(previous, { if_table: IF_TABLE, cdp_cache_table: running });
    expect(device.interfaces?.map((port) => port.cdp)).toEqual([undefined, []]);
  });

  test("come from version 2 after a device switches to it, and from version 1 after it switches back", () => {
    const v2: SyntheticStep = tableOf({ "0.1.1.1": remote });
    const steps: Steps = { if_table: IF_TABLE, lldp_local: local };
    const tables = (lldp_rem_table: SyntheticStep, lldp_v2_rem_table: SyntheticStep): Steps => {
      return { ...steps, lldp_rem_table, lldp_v2_rem_table };
    };
    expect(lldp(deviceAfter(tables(v1, {}), tables({}, v2)))).toEqual([1, 0]);
    expect(lldp(deviceAfter(tables({}, v2), tables(v1, {})))).toEqual([1, 1]);
    expect(lldp(deviceAfter(tables(v1, {}), tables({}, {})))).toEqual([undefined, 0]);
  });

  test("are not matched by incompletely read names", () => {
    const current = { if_table: IF_TABLE, lldp_rem_table: v1 };
    const device = deviceAfter({ ...current, if_x_table: IF_X_TABLE }, current);
    expect(lldp(device)).toEqual([undefined, undefined]);
    expect(device.tables.lldp.problem).toStartWith("the interfaces of its neighbors are unknown");
  });
});

describe("a table not read because it depends on a missing one", () => {
  const recorded = syntheticDevices().get("a switch with a bridge for each VLAN") as RecordedSteps;
  const previous: ServedBefore = { sys_object_id: null, columns: servedOf(reducedReads(recorded, READING_PLAN, null)) };

  test("is missing as well: no port loses its VLANs, and no entry is removed", () => {
    const reads = reducedReads(recorded, READING_PLAN, { step: "vtp_vlan_table", part: "all", mode: "absent" });
    expect(reads.has("vm_membership_table")).toBeFalse();
    const device = deviceOf(reads, previous);
    const lists = ["vlans", "native_vlan", "forwarding"];
    for (const port of device.interfaces ?? []) expect(port).not.toContainAnyKeys(lists);
    expect(device.broken).toEqual(["forwarding", "vlans"]);
  });

  test("is not missing once no longer needed", () => {
    const fdb = tableOf({ [`1.${dotted("001b21000001")}`]: { dot1qTpFdbPort: 1, dot1qTpFdbStatus: 3 } });
    const step = READING_PLAN.filter(({ name }) => name === "dot1q_tp_fdb_table");
    const current = new Map([...recorded, ...readsWith({ dot1q_tp_fdb_table: fdb }, step)]);
    expect(deviceOf(reducedReads(current, READING_PLAN, null), previous).broken).toBeUndefined();
  });
});
