// Objects that an agent served before: missed if empty now; never-served ones are not.

import { describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { deviceOf } from "../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import { type ServedBefore, servedOf } from "../../src/discovery/mib/served.ts";
import { handMadeDevices } from "../support/reconcile/hand-made-devices.ts";
import {
  dotted,
  type HandMadeStep,
  hex,
  readsWith,
  rows,
  tableOf,
  utf8,
} from "../support/reconcile/hand-made-reads.ts";
import { type Recorded, reducedReads } from "../support/reconcile/reduced-reads.ts";

type Steps = Readonly<Record<string, HandMadeStep>>;

const SYSTEM: HandMadeStep = { scalars: { sysName: utf8("sw-1"), sysObjectID: "1.3.6.1.4.1.9.1.516" } };
const port = (number: number, ifOperStatus: number) => ({
  ifDescr: utf8(`port ${number}`),
  ifSpeed: 1_000_000_000,
  ifOperStatus,
});
const IF_TABLE: HandMadeStep = tableOf({ 1: port(1, 1), 2: port(2, 2) });
const IF_X_TABLE: HandMadeStep = tableOf({ 1: { ifName: utf8("p1"), ifHighSpeed: 10_000 }, 2: { ifName: utf8("p2") } });
const WHOLE: Steps = { system: SYSTEM, if_table: IF_TABLE, if_x_table: IF_X_TABLE };

const after = (before: Steps, now: Steps): Device => deviceOf(readsWith(now), memory(before));
const memory = (steps: Steps): ServedBefore => {
  const reads = readsWith(steps);
  return { sys_object_id: deviceOf(reads).sys_object_id ?? null, columns: servedOf(reads) };
};

describe("a previously served table", () => {
  test("is reported missing by its columns, and no data are derived from it", () => {
    const device = after(WHOLE, { system: SYSTEM, if_table: IF_TABLE });
    for (const each of device.interfaces ?? []) expect(each).not.toContainAnyKeys(["if_name", "speed_bps"]);
    expect(device.interfaces?.map(({ oper_status }) => oper_status)).toEqual(["Up", "Down"]);
    expect(device.tables.interface_extensions).toEqual({
      state: "failed",
      problem: "the device no longer serves ifName, ifHighSpeed",
    });
    expect(device.broken).toEqual(["interface_extensions"]);
  });

  test("is not missing from an agent of another type, which has other tables", () => {
    const other = { ...SYSTEM, scalars: { ...SYSTEM.scalars, sysObjectID: "1.3.6.1.4.1.11.2.3" } };
    const device = after(WHOLE, { system: other, if_table: IF_TABLE });
    expect(device.interfaces?.[0]?.speed_bps).toBe(1_000_000_000);
    expect(device.tables.interface_extensions).toEqual({ state: "absent", problem: null });
  });

  test("is missing from an agent that no longer reports its type", () => {
    expect(after(WHOLE, { if_table: IF_TABLE }).broken).toEqual(["system", "interface_extensions"]);
  });

  test("is never missing from an unknown device", () => {
    expect(deviceOf(readsWith({ if_table: IF_TABLE }), null)).toEqual(deviceOf(readsWith({ if_table: IF_TABLE })));
  });
});

describe("a column", () => {
  const neighbor = { chassisIdSubtype: 4, chassisId: hex("001b21000009"), portIdSubtype: 5, portId: utf8("Gi0/9") };
  const lldp = (more: object): Steps => ({
    if_table: IF_TABLE,
    lldp_rem_table: tableOf({ "0.1.1": { ...neighbor, ...more } }),
  });

  test("that is optional per row is not missing while others are served", () => {
    const device = after(lldp({ sysDesc: utf8("an old switch") }), lldp({}));
    expect(device.interfaces?.[0]?.lldp).toHaveLength(1);
    expect(device.tables.lldp.problem).toBeNull();
  });

  test("that every row has is missing on its own", () => {
    const { portId: _id, ...without } = neighbor;
    const device = after(lldp({}), { if_table: IF_TABLE, lldp_rem_table: tableOf({ "0.1.1": without }) });
    expect(device.interfaces?.[0]).not.toHaveProperty("lldp");
    expect(device.tables.lldp.problem).toBe("the device no longer serves portId");
  });
});

describe("forwarding entries", () => {
  const [A, B] = ["001b21000001", "001b21000002"].map(dotted) as [string, string];
  const bridge = { columns: { dot1dBasePortIfIndex: { "1": 1, "2": 2 } } };
  const q = (port: number): HandMadeStep => tableOf({ [`1.${A}`]: { dot1qTpFdbPort: port, dot1qTpFdbStatus: 3 } });
  const d: HandMadeStep = tableOf({ [B]: { dot1dTpFdbPort: 1, dot1dTpFdbStatus: 3 } });
  const before = { if_table: IF_TABLE, bridge, dot1q_tp_fdb_table: q(1), dot1d_tp_fdb_table: d };
  const told = (device: Device) =>
    device.interfaces?.map(({ forwarding }) => forwarding?.map(({ mac_address }) => mac_address.slice(-1)));

  test("only in dot1dTpFdbTable are not removed if that is missing, and those of dot1qTpFdbTable are reported", () => {
    const device = after(before, { if_table: IF_TABLE, bridge, dot1q_tp_fdb_table: q(2) });
    expect(told(device)).toEqual([[], ["1"]]);
    expect(device.is_forwarding_partial).toBeTrue();
  });

  test("without dot1qTpFdbTable are not reported at all, since others have no VLAN", () => {
    expect(told(after(before, { if_table: IF_TABLE, bridge, dot1d_tp_fdb_table: d }))).toEqual([undefined, undefined]);
  });

  test("on unreported ports are neither reported nor counted as without an interface", () => {
    const device = after(before, { if_table: IF_TABLE, dot1q_tp_fdb_table: q(1), dot1d_tp_fdb_table: d });
    expect(told(device)).toEqual([undefined, undefined]);
    expect(device.tables.forwarding.problem).toBe("the device no longer serves dot1dBasePortIfIndex");
  });

  test("are removed from down links once no table has any", () => {
    expect(told(after(before, { if_table: IF_TABLE, bridge }))).toEqual([undefined, []]);
  });
});

describe("LLDP neighbors", () => {
  const remote = { chassisIdSubtype: 4, chassisId: hex("001b21000009"), portIdSubtype: 5, portId: utf8("Gi0/9") };
  const local: HandMadeStep = { scalars: { chassisIdSubtype: 4, chassisId: hex("001b21000001") } };
  const v1: HandMadeStep = tableOf({ "0.1.1": remote, "0.2.1": remote });
  const lldp = (device: Device) => device.interfaces?.map((each) => each.lldp?.length);

  test("are removed from down links once there are none, and stay on others", () => {
    const without = { if_table: IF_TABLE, lldp_local: local };
    expect(lldp(after({ ...without, lldp_rem_table: v1 }, without))).toEqual([undefined, 0]);
    const running: HandMadeStep = { scalars: { cdpGlobalRun: 1 } };
    const cdp = { ...running, columns: rows({ "1.1": { cdpCacheDeviceId: utf8("far") } }) };
    const device = after(
      { if_table: IF_TABLE, cdp_cache_table: cdp },
      { if_table: IF_TABLE, cdp_cache_table: running },
    );
    expect(device.interfaces?.map((each) => each.cdp)).toEqual([undefined, []]);
  });

  test("are version 2's after a device switched to it, and version 1's after it switched back", () => {
    const v2: HandMadeStep = tableOf({ "0.1.1.1": remote });
    const by = (lldp_rem_table: HandMadeStep, lldp_v2_rem_table: HandMadeStep): Steps => ({
      if_table: IF_TABLE,
      lldp_local: local,
      lldp_rem_table,
      lldp_v2_rem_table,
    });
    expect(lldp(after(by(v1, {}), by({}, v2)))).toEqual([1, 0]);
    expect(lldp(after(by({}, v2), by(v1, {})))).toEqual([1, 1]);
    expect(lldp(after(by(v1, {}), by({}, {})))).toEqual([undefined, 0]);
  });

  test("are not matched by incompletely read names", () => {
    const now = { if_table: IF_TABLE, lldp_rem_table: v1 };
    const device = after({ ...now, if_x_table: IF_X_TABLE }, now);
    expect(lldp(device)).toEqual([undefined, undefined]);
    expect(device.tables.lldp.problem).toStartWith("the interfaces of its neighbors are unknown");
  });
});

describe("a table not read because it depends on a missing one", () => {
  const all = handMadeDevices().get("a switch with a bridge for each VLAN") as Recorded;
  const before: ServedBefore = { sys_object_id: null, columns: servedOf(reducedReads(all, READING_PLAN, null)) };

  test("is missing as well: no port lost its VLANs, and no entry is forgotten", () => {
    const reads = reducedReads(all, READING_PLAN, { step: "vtp_vlan_table", what: "all", how: "absent" });
    expect(reads.has("vm_membership_table")).toBeFalse();
    const device = deviceOf(reads, before);
    const lists = ["vlans", "native_vlan", "forwarding"];
    for (const each of device.interfaces ?? []) expect(each).not.toContainAnyKeys(lists);
    expect(device.broken).toEqual(["forwarding", "vlans"]);
  });

  test("is not missing once no longer needed", () => {
    const q = tableOf({ [`1.${dotted("001b21000001")}`]: { dot1qTpFdbPort: 1, dot1qTpFdbStatus: 3 } });
    const step = READING_PLAN.filter(({ name }) => name === "dot1q_tp_fdb_table");
    const now = new Map([...all, ...readsWith({ dot1q_tp_fdb_table: q }, step)]);
    expect(deviceOf(reducedReads(now, READING_PLAN, null), before).broken).toBeUndefined();
  });
});
