// Capabilities that devices announce: bits of LLDP-MIB, LLDP-V2-MIB and CISCO-CDP-MIB as lists of names.

import { expect, test } from "bun:test";
import { CDP_STEP } from "../../src/discovery/mib/cdp.ts";
import {
  LLDP_LOCAL_STEP,
  LLDP_REMOTE_STEP,
  LLDP_V2_LOCAL_STEP,
  LLDP_V2_REMOTE_STEP,
} from "../../src/discovery/mib/lldp-steps.ts";
import type { SnmpValue } from "../../src/discovery/mib/reads.ts";
import { deviceWith, hex, type SyntheticStep, tableOf, utf8 } from "../support/reconcile/synthetic-reads.ts";

const PORT: Record<string, SyntheticStep> = {
  if_table: tableOf({ 1: { ifDescr: utf8("port 1"), ifType: 6, ifOperStatus: 1 } }),
  bridge: { columns: { dot1dBasePortIfIndex: { 1: 1 } } },
};
const NEIGHBOR = { chassisIdSubtype: 4, chassisId: hex("0000 5e00 5301".replaceAll(" ", "")), portIdSubtype: 7 };

function capabilitiesOf(bits: Record<string, SnmpValue>, version: 1 | 2 = 1) {
  const row = { ...NEIGHBOR, portId: utf8("1"), ...bits };
  const table =
    version === 1 ? { lldp_rem_table: tableOf({ "0.1.1": row }) } : { lldp_v2_rem_table: tableOf({ "0.1.1.1": row }) };
  const [port] = deviceWith({ ...PORT, ...table }).interfaces ?? [];
  return port?.lldp?.[0]?.capabilities;
}

const enabled = (bits: string) => capabilitiesOf({ sysCapEnabled: hex(bits) });

test("the OIDs are those of the MIBs", () => {
  expect(LLDP_LOCAL_STEP.scalars).toMatchObject({
    sysCapSupported: "1.0.8802.1.1.2.1.3.5.0",
    sysCapEnabled: "1.0.8802.1.1.2.1.3.6.0",
  });
  expect(LLDP_REMOTE_STEP.columns).toMatchObject({
    sysCapSupported: "1.0.8802.1.1.2.1.4.1.1.11",
    sysCapEnabled: "1.0.8802.1.1.2.1.4.1.1.12",
  });
  expect(LLDP_V2_LOCAL_STEP.scalars).toMatchObject({
    sysCapSupported: "1.3.111.2.802.1.1.13.1.3.5.0",
    sysCapEnabled: "1.3.111.2.802.1.1.13.1.3.6.0",
  });
  expect(LLDP_V2_REMOTE_STEP.columns).toMatchObject({
    sysCapSupported: "1.3.111.2.802.1.1.13.1.4.1.1.12",
    sysCapEnabled: "1.3.111.2.802.1.1.13.1.4.1.1.13",
  });
  expect(CDP_STEP.columns.cdpCacheCapabilities).toBe("1.3.6.1.4.1.9.9.23.1.2.1.1.9");
});

test("bit 0 of LLDP is the highest bit of the first octet, in one, two or four octets", () => {
  expect(enabled("80")).toEqual(["Other"]);
  expect(enabled("28")).toEqual(["Bridge", "Router"]);
  expect(enabled("2800")).toEqual(["Bridge", "Router"]);
  expect(enabled("28000000")).toEqual(["Bridge", "Router"]);
  expect(enabled("24")).toEqual(["Bridge", "Telephone"]);
  expect(enabled("30")).toEqual(["Bridge", "WlanAccessPoint"]);
  expect(enabled("01")).toEqual(["StationOnly"]);
  expect(enabled("42e0")).toEqual([
    "Repeater",
    "DocsisCableDevice",
    "CVlanComponent",
    "SVlanComponent",
    "TwoPortMacRelay",
  ]);
  expect(capabilitiesOf({ sysCapEnabled: hex("0100") }, 2)).toEqual(["StationOnly"]);
});

test("a copied TLV, whose lowest bit is bit 0, is recognized by bits that the MIB does not define", () => {
  expect(enabled("0014")).toEqual(["Bridge", "Router"]);
  expect(enabled("0024")).toEqual(["Bridge", "Telephone"]);
  expect(enabled("0080")).toEqual(["CVlanComponent"]);
});

test("enabled capabilities count, supported ones only if none is enabled", () => {
  expect(capabilitiesOf({ sysCapSupported: hex("24"), sysCapEnabled: hex("20") })).toEqual(["Bridge"]);
  expect(capabilitiesOf({ sysCapSupported: hex("24"), sysCapEnabled: hex("00") })).toEqual(["Bridge", "Telephone"]);
  expect(capabilitiesOf({ sysCapSupported: hex("01") })).toEqual(["StationOnly"]);
  expect(capabilitiesOf({ sysCapSupported: hex("00"), sysCapEnabled: hex("00") })).toBeUndefined();
  for (const invalid of [utf8(""), 20, "1.3", hex("2800000000")])
    expect(capabilitiesOf({ sysCapSupported: invalid, sysCapEnabled: invalid })).toBeUndefined();
});

test("a device's own capabilities are those it enables; null for none", () => {
  const own = (scalars: Record<string, SnmpValue>, step = "lldp_local") =>
    deviceWith({ [step]: { scalars: { chassisIdSubtype: 4, chassisId: hex("00005e005301"), ...scalars } } });
  expect(own({ sysCapEnabled: hex("28"), sysCapSupported: hex("3c") })).toMatchObject({
    capabilities: ["Bridge", "Router"],
  });
  expect(own({ sysCapEnabled: hex("20") }, "lldp_v2_local")).toMatchObject({ capabilities: ["Bridge"] });
  expect(own({ sysCapEnabled: hex("00") })).toMatchObject({ capabilities: null });
  expect(own({})).not.toHaveProperty("capabilities");
});

test("capabilities of CDP are a number of four octets, whose lowest bit is the router", () => {
  const cdp = (capabilities: SnmpValue) => {
    const row = {
      cdpCacheDeviceId: utf8("SEP001122"),
      cdpCacheDevicePort: utf8("Port 1"),
      cdpCacheCapabilities: capabilities,
    };
    const [port] = deviceWith({ ...PORT, cdp_cache_table: tableOf({ "1.1": row }) }).interfaces ?? [];
    return port?.cdp?.[0]?.capabilities;
  };
  expect(cdp(hex("00000029"))).toEqual(["Router", "Switch", "Igmp"]);
  expect(cdp(hex("00000490"))).toEqual(["Host", "Phone", "TwoPortMacRelay"]);
  expect(cdp(hex("00000002"))).toEqual(["TransparentBridge"]);
  expect(cdp(hex("00000000"))).toBeUndefined();
  expect(cdp(utf8("RSI"))).toBeUndefined();
});
