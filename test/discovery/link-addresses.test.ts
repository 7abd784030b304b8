// Link-layer addresses of interfaces: an IP address in ifPhysAddress is not a MAC address, and identifies no host.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";
import { type AgentInterface, type AgentTables, snmpd } from "../support/reconcile/snmpd.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { hosts, entries, get } = inventoryOf(appliance);

const reportAt = (address: string, tables: AgentTables) => deviceAt(address, snmpd(tables));
const macsOf = (tables: AgentTables) =>
  Object.fromEntries((snmpd(tables).interfaces ?? []).map((each) => [each.if_name, each.mac_address]));
const macOf = (port: Omit<AgentInterface, "index" | "name">, addresses: AgentTables["addresses"] = {}) =>
  macsOf({ interfaces: [{ index: 1, name: "port", ...port }], addresses }).port;

/** Two sites with the same inner addresses, behind one outer address each. */
const site = (number: number, tunnel: Omit<AgentInterface, "index" | "name">, inner: string): AgentTables => ({
  name: `site-${number}`,
  interfaces: [
    { index: 2, name: "eth0", phys: `00:1b:21:0a:00:0${number}` },
    { index: 5, name: "vpn0", ...tunnel },
  ],
  addresses: { [`10.40.0.${number}`]: 2, [inner]: 5 },
});

describe("two routers whose tunnels have the same inner address", () => {
  for (const [what, tunnel, inner] of [
    ["GRE", { type: 131, phys: "c0:a8:07:01:00:00" }, "192.168.7.1"],
    ["a tunnel of type other", { type: 1, phys: "c0:a8:07:01:00:00" }, "192.168.7.1"],
    ["IPv6 in IPv6", { type: 131, phys: "fd:53:6b:0a:00:07" }, "fd53:6b0a:7::1"],
    ["a tunnel of type other over IPv6", { type: 1, phys: "fd:53:6b:0a:00:07" }, "fd53:6b0a:7::1"],
    ["a tunnel that claims to be Ethernet", { type: 6, phys: "c0:a8:07:01:00:00" }, "192.168.7.1"],
    ["a tunnel with two bytes of the agent's memory", { type: 1, phys: "c0:a8:07:01:3b:9e" }, "192.168.7.1"],
    ["a tunnel without a local address", { type: 1, phys: "00:00:00:00:3b:9e" }, "192.168.7.1"],
    ["PPP with its peer's address", { type: 23, phys: "c0:a8:07:02:00:00" }, "192.168.7.1"],
  ] as const)
    test(`are two hosts, even over ${what}`, async () => {
      await scan.devices(reportAt("10.40.0.1", site(1, tunnel, inner)));
      await scan.devices(reportAt("10.40.0.2", site(2, tunnel, inner)));
      expect((await hosts()).map(({ name }) => name)).toEqual(["site-1", "site-2"]);
      const tunnels = (await entries()).filter(({ if_name }) => if_name === "vpn0");
      expect(tunnels.map(({ mac_address }) => mac_address)).toEqual([undefined, undefined]);
      const inside = (await get("ip-addresses")).filter(
        ({ ip_address }: { ip_address: string }) => ip_address === inner,
      );
      expect(inside.map(({ mac_address }: { mac_address: string }) => mac_address)).toEqual([null, null]);
    });
});

test("the tunnel address that an earlier version stored as a MAC address ends with the next scan", async () => {
  const phys = "c0:a8:07:01:00:00";
  const router = reportAt("10.40.0.1", site(1, { type: 131, phys }, "192.168.7.1"));
  const interfaces = (router.device.interfaces ?? []).map((each) =>
    each.if_name === "vpn0" ? { ...each, mac_address: phys } : each,
  );
  await scan.devices({ ...router, device: { ...router.device, interfaces } });
  const macs = async () => [
    (await entries())[1]?.mac_address,
    (await get("ip-addresses?order_by=ip_address"))[1].mac_address,
  ];
  expect(await macs()).toEqual([phys, phys]);
  await scan.devices(router);
  expect(await macs()).toEqual([undefined, null]);
  expect((await scan.devices(router)).sequence).toBeNull();
});

describe("an interface", () => {
  const CARD = "00:1b:21:0b:00:01";

  test("of a type with link-layer addresses keeps its MAC address, whatever its IP addresses are", () => {
    const addresses = { "10.40.0.1": 1, "192.168.7.1": 1, "2001:db8:7::1": 1 };
    for (const type of [1, 6, 53, 62, 71, 117, 127, 135, 136, 142, 161, 209])
      expect([type, macOf({ type, phys: CARD }, addresses)]).toEqual([type, CARD]);
  });

  test("of a type without link-layer addresses has no MAC address, whatever the agent reports", () => {
    for (const type of [22, 23, 24, 28, 108, 118, 131, 150])
      expect([type, macOf({ type, phys: CARD })]).toEqual([type, null]);
  });

  test("keeps a MAC address that only resembles an address of another device", () => {
    expect(macOf({ phys: "c0:a8:07:01:00:00" }, { "192.168.7.2": 1 })).toBe("c0:a8:07:01:00:00");
    expect(macOf({ phys: "c0:a8:07:01:00:07" }, { "192.168.7.1": 1 })).toBe("c0:a8:07:01:00:07");
    expect(macOf({ type: 1, phys: "fd:53:6b:0a:00:08" }, { "fd53:6b0a:7::1": 1 })).toBe("fd:53:6b:0a:00:08");
  });

  test("keeps its known MAC address while the addresses of its device cannot be read", async () => {
    const router = (broken: AgentTables["broken"] = []) =>
      reportAt("10.40.0.1", {
        name: "r-1",
        interfaces: [
          { index: 2, name: "eth0", phys: CARD },
          { index: 3, name: "wifi0", type: 1, phys: "2c:1b:21:0b:00:02" },
          { index: 5, name: "vpn0", type: 1, phys: "c0:a8:07:01:00:00" },
        ],
        addresses: broken.length > 0 ? {} : { "192.168.7.1": 5 },
        broken,
      });
    const macs = async () => (await entries()).map(({ mac_address }) => mac_address);
    await scan.devices(router());
    expect(await macs()).toEqual([CARD, "2c:1b:21:0b:00:02", undefined]);
    expect((await scan.devices(router(["ip_address_table"]))).sequence).toBeNull();
  });
});
