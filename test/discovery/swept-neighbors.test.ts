// Machines that a switch has announced as its neighbors before a sweep finds them.

import { beforeEach, expect, test } from "bun:test";
import type { LldpAnnouncement } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { address, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { communityOf, newSubnet, owner, probes, runScan } = appliance;

const [SWITCH, PHONE] = ["10.0.0.2", "10.0.0.7"];
const PHONE_MAC = mac(7, 9);
const announced: LldpAnnouncement = {
  chassis_id: { subtype: "MacAddress", value: PHONE_MAC },
  port_id: { subtype: "MacAddress", value: PHONE_MAC },
  capabilities: ["Bridge", "Telephone"],
};

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/24", accepts_credentials: true });
  await communityOf("public");
  probes.alive.set(SWITCH, {});
  probes.addDevice(SWITCH, {
    sys_name: "sw-1",
    addresses: [address(SWITCH)],
    interfaces: [ethernet(1, { lldp: [announced] })],
  });
  await runScan({ kind: "snmp", targets: [SWITCH] });
  probes.alive.set(PHONE, { mac_address: PHONE_MAC });
});

const sweep = () => runScan({ kind: "sweep", targets: ["10.0.0.0/24"] });
const list = async (path: string) => (await expectOk(owner.get(path))) as unknown as JsonRecord[];
const phone = async () => (await list("hosts")).find(({ name }) => name.includes(PHONE_MAC)) as JsonRecord;
const versions = async () =>
  [...(await list("hosts")), ...(await list("if-entries"))].map(({ id, updated_at }) => `${id} ${updated_at}`);

test("a phone is known as one, and linked to its port, once a sweep has found it", async () => {
  await sweep();
  const { id, device_type, device_type_source } = await phone();
  expect({ device_type, device_type_source }).toEqual({ device_type: "Phone", device_type_source: "Neighbors" });
  const [port] = await list("if-entries?filter=if_name = Gi0/1");
  expect(port?.neighbor).toMatchObject({ type: "Host", id });
});

test("an unchanged network has no new versions by a scan of the switch after the sweep, nor by another sweep", async () => {
  await sweep();
  const before = await versions();
  await runScan({ kind: "snmp", targets: [SWITCH] });
  await sweep();
  expect(await versions()).toEqual(before);
});
