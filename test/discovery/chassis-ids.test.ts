// Chassis ids that do not identify a device: one per port (Open vSwitch, lldpad), and bridge addresses. Scanned, linked
// and shown on the map.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Device, LldpAnnouncement } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { address, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { communityOf, newSubnet, owner, probes, runScan } = appliance;

beforeEach(async () => {
  await newSubnet({ cidr: "10.0.0.0/24", accepts_credentials: true });
  await communityOf("public");
});

const [SWITCH, SERVER] = ["10.0.0.2", "10.0.0.7"];
const chassisOf = (value: string) => ({ subtype: "MacAddress", value }) as const;
const portOf = (value: string) => ({ subtype: "InterfaceName", value }) as const;

/** Adds a switch whose ports receive these announcements, in order, and scans everything. */
async function scanSwitch(...announcements: LldpAnnouncement[]): Promise<void> {
  const interfaces = announcements.map((each, index) => ethernet(index + 1, { lldp: [each] }));
  addDevice(SWITCH, { sys_name: "sw-1", chassis_id: chassisOf(mac(1)), interfaces });
  await runScan({ targets: ["10.0.0.0/24"] });
}

function addDevice(at: string, fields: Partial<Device>): void {
  probes.alive.set(at, {});
  probes.addDevice(at, { addresses: [address(at)], ...fields });
}

/** Names of the nodes, and links as `sw-1 Gi0/1 - hv-1 eth0`; without an interface at an end, its device alone. */
async function drawn(): Promise<{ readonly nodes: readonly string[]; readonly links: readonly string[] }> {
  const { nodes, links } = await expectOk(owner.get(`topology?network_id=${appliance.first.networkId}`));
  const nameOf = new Map(nodes.map(({ id, name }: JsonRecord) => [id, name]));
  const endOf = ({ node_id, if_entry }: JsonRecord) => [nameOf.get(node_id), if_entry?.name].filter(Boolean).join(" ");
  return {
    nodes: nodes.map(({ name }: JsonRecord) => name).sort(),
    links: links.map(({ ends }: JsonRecord) => ends.map(endOf).sort().toReversed().join(" - ")).sort(),
  };
}

/** Announcement of a port with a separate chassis id. */
const perPort = (number: number, fields: Partial<LldpAnnouncement> = {}): LldpAnnouncement => ({
  chassis_id: chassisOf(mac(number, 7)),
  port_id: portOf(`eth${number}`),
  sys_name: "hv-1",
  ...fields,
});

describe("a device with a chassis id per port", () => {
  test("is one node by its system name, or by that and its management address", async () => {
    await scanSwitch(perPort(0), perPort(1), perPort(2));
    expect((await drawn()).nodes).toEqual(["hv-1", "sw-1"]);
    await scanSwitch(perPort(0), perPort(1, { mgmt_addr: SERVER }), perPort(2, { mgmt_addr: SERVER }));
    expect((await drawn()).nodes).toEqual(["hv-1", "sw-1"]);
    const { nodes } = await expectOk(owner.get(`topology?network_id=${appliance.first.networkId}`));
    expect(nodes.find(({ name }: JsonRecord) => name === "hv-1").management_address).toBe(SERVER);
  });

  test("is several nodes under a factory default, and with several management addresses", async () => {
    await scanSwitch(perPort(0, { sys_name: "switch" }), perPort(1, { sys_name: "switch" }));
    expect((await drawn()).nodes).toEqual(["sw-1", "switch", "switch"]);
    await scanSwitch(perPort(0, { mgmt_addr: SERVER }), perPort(1, { mgmt_addr: "10.0.0.8" }), perPort(2));
    expect((await drawn()).nodes).toEqual(["hv-1", "hv-1", "hv-1", "sw-1"]);
  });

  test("has whole links once it is in the inventory, whatever chassis id its own agent reports", async () => {
    const ports = [0, 1].map((number) =>
      ethernet(number + 1, { if_name: `eth${number}`, mac_address: mac(number, 8), lldp: [] }),
    );
    addDevice(SERVER, { sys_name: "hv-1", chassis_id: chassisOf(mac(9, 8)), interfaces: ports });
    await scanSwitch(perPort(0), perPort(1, { mgmt_addr: SERVER }));
    expect(await drawn()).toEqual({
      nodes: ["hv-1", "sw-1"],
      links: ["sw-1 Gi0/1 - hv-1 eth0", "sw-1 Gi0/2 - hv-1 eth1"],
    });
    const [near] = (await expectOk(owner.get("if-entries?filter=if_name = Gi0/1"))) as unknown as [JsonRecord];
    expect(near.neighbor.type).toBe("IfEntry");
  });
});

test("a chassis id that is only the bridge address leads to the bridge, on both ends of the link", async () => {
  const port = ethernet(1, { if_name: "swp1", mac_address: mac(1, 8), lldp: [] });
  addDevice(SERVER, { sys_name: "br-1", bridge_address: mac(99, 8), interfaces: [port] });
  await scanSwitch({ chassis_id: chassisOf(mac(99, 8)), port_id: portOf("swp1") });
  expect(await drawn()).toEqual({ nodes: ["br-1", "sw-1"], links: ["sw-1 Gi0/1 - br-1 swp1"] });
  const [bridge] = (await expectOk(owner.get("hosts?filter=name = br-1"))) as unknown as [JsonRecord];
  expect(bridge.bridge_address).toBe(mac(99, 8));
});
