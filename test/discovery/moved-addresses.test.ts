// Addresses that move between interfaces of a device: the entries, and the name and MAC address of the address, follow.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { machineInterface, machineWith } from "../support/reconcile/machine.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt } from "../support/reconcile/sightings.ts";
import { type AgentInterface, type AgentTables, snmpd } from "../support/reconcile/snmpd.ts";

const appliance = applianceForEach();
const { first, owner, tick } = appliance;
const scan = new ScanWriter(appliance);
const { entries, get } = inventoryOf(appliance);

const ROUTED: readonly AgentInterface[] = [
  { index: 1, name: "eth0", phys: "00:1b:21:0d:00:01" },
  { index: 2, name: "eth1", phys: "00:1b:21:0d:00:02" },
  { index: 3, name: "vpn0", type: 131 },
];
const MANAGEMENT = { "10.42.0.1": 1 };

const router = (addresses: AgentTables["addresses"], more: Partial<AgentTables> = {}) =>
  deviceAt(
    "10.42.0.1",
    snmpd({ name: "r-1", interfaces: ROUTED, addresses: { ...MANAGEMENT, ...addresses }, ...more }),
  );
const addresses = (): Promise<JsonRecord[]> => get("ip-addresses?order_by=ip_address&limit=0");
/** Address of each interface's entry. */
const addressByInterface = async () => {
  const byId = new Map((await addresses()).map(({ id, ip_address }) => [id, ip_address]));
  return Object.fromEntries(
    (await entries()).map(({ if_name, ip_address_id }) => [if_name, byId.get(ip_address_id) ?? ip_address_id]),
  );
};
const recordOf = async (address: string) =>
  (await addresses()).find(({ ip_address }) => ip_address === address) as JsonRecord;
const placeOf = async (address: string) => {
  const { name, mac_address } = await recordOf(address);
  return [name, mac_address];
};
const settles = async (sighting: ReturnType<typeof router>) =>
  expect((await scan.devices(sighting)).sequence).toBeNull();

describe("an address that moves to another interface", () => {
  test("takes the entries, its name and its MAC address along", async () => {
    await scan.devices(router({ "10.42.7.1": 2 }));
    expect([await addressByInterface(), await placeOf("10.42.7.1")]).toEqual([
      { eth0: "10.42.0.1", eth1: "10.42.7.1", vpn0: undefined },
      ["eth1", "00:1b:21:0d:00:02"],
    ]);
    await scan.devices(router({ "10.42.7.1": 3 }));
    expect([await addressByInterface(), await placeOf("10.42.7.1")]).toEqual([
      { eth0: "10.42.0.1", eth1: undefined, vpn0: "10.42.7.1" },
      ["vpn0", null],
    ]);
    await settles(router({ "10.42.7.1": 3 }));
    await scan.devices(router({ "10.42.7.1": 2 }));
    expect([await addressByInterface(), await placeOf("10.42.7.1")]).toEqual([
      { eth0: "10.42.0.1", eth1: "10.42.7.1", vpn0: undefined },
      ["eth1", "00:1b:21:0d:00:02"],
    ]);
  });

  test("is replaced by another address of the interface", async () => {
    await scan.devices(router({ "10.42.7.1": 2, "10.42.8.1": 2 }));
    await scan.devices(router({ "10.42.7.1": 3, "10.42.8.1": 2 }));
    expect(await addressByInterface()).toEqual({ eth0: "10.42.0.1", eth1: "10.42.8.1", vpn0: "10.42.7.1" });
  });

  test("takes its name and its MAC address along if it is one of several", async () => {
    await scan.devices(router({ "10.42.7.1": 2, "10.42.8.1": 2 }));
    await scan.devices(router({ "10.42.7.1": 2, "10.42.8.1": 3 }));
    expect(await addressByInterface()).toEqual({ eth0: "10.42.0.1", eth1: "10.42.7.1", vpn0: "10.42.8.1" });
    expect(await placeOf("10.42.8.1")).toEqual(["vpn0", null]);
  });

  test("swaps places with its counterpart", async () => {
    await scan.devices(router({ "10.42.7.1": 2, "10.42.8.1": 3 }));
    await scan.devices(router({ "10.42.7.1": 3, "10.42.8.1": 2 }));
    expect(await addressByInterface()).toEqual({ eth0: "10.42.0.1", eth1: "10.42.8.1", vpn0: "10.42.7.1" });
    expect([await placeOf("10.42.7.1"), await placeOf("10.42.8.1")]).toEqual([
      ["vpn0", null],
      ["eth1", "00:1b:21:0d:00:02"],
    ]);
    await settles(router({ "10.42.7.1": 3, "10.42.8.1": 2 }));
  });

  test("keeps them if the device responds at both of its addresses, in any order", async () => {
    const both = (ifIndex: number) => {
      const first = router({ "10.42.7.1": ifIndex });
      return [first, { ...first, ip_address: "10.42.7.1" }] as const;
    };
    await scan.devices(...both(1));
    for (const [ifIndex, name] of [
      [2, "eth1"],
      [1, "eth0"],
      [3, "vpn0"],
    ] as const) {
      await scan.devices(...both(ifIndex));
      const held = (await entries()).filter(({ ip_address_id }) => ip_address_id !== undefined);
      expect([(await placeOf("10.42.7.1"))[0], held.map(({ if_name }) => if_name)]).toEqual([
        name,
        [...new Set(["eth0", name])],
      ]);
      expect((await scan.devices(...both(ifIndex).toReversed())).sequence).toBeNull();
    }
  });

  test("is replaced by a new address of its interface once it disappears", async () => {
    await scan.devices(router({ "10.42.7.1": 2 }));
    await scan.devices(router({ "10.42.7.9": 2 }));
    expect((await addressByInterface()).eth1).toBe("10.42.7.9");
  });

  test("is named after ifDescr on an agent without ifName, and keeps its name while ifName cannot be read", async () => {
    const bare = (ifIndex: number) => router({ "10.42.7.1": ifIndex }, { hasNames: false });
    await scan.devices(bare(2));
    await scan.devices(bare(3));
    expect((await placeOf("10.42.7.1"))[0]).toBe("vpn0");
    const described = ROUTED.map((each) => ({ ...each, descr: `Port ${each.index}` }));
    await scan.devices(router({ "10.42.7.1": 2 }, { interfaces: described }));
    await settles(router({ "10.42.7.1": 2 }, { interfaces: described, broken: ["if_x_table"] }));
    expect((await placeOf("10.42.7.1"))[0]).toBe("eth1");
  });

  test("follows an interface that is created again under another number", async () => {
    const vpn = (index: number) => ({ interfaces: [...ROUTED.slice(0, 2), { index, name: "vpn0", type: 131 }] });
    await scan.devices(router({ "10.42.7.1": 3 }, vpn(3)));
    await scan.devices(router({ "10.42.7.1": 9 }, vpn(9)));
    expect(await addressByInterface()).toEqual({ eth0: "10.42.0.1", eth1: undefined, vpn0: "10.42.7.1" });
  });

  test("keeps the MAC address that a router sees there while its interface has none", async () => {
    await scan.devices(router({ "10.42.7.1": 3 }));
    const learned = { ip_address: "10.42.7.1", mac_address: "00:1b:21:0d:00:02", answered: [] };
    await scan.addresses(learned);
    expect(await placeOf("10.42.7.1")).toEqual(["vpn0", "00:1b:21:0d:00:02"]);
    // Another change of the device, so that it is compared again.
    await scan.devices(router({ "10.42.7.1": 3, "10.42.9.1": 2 }));
    expect((await scan.addresses(learned)).sequence).toBeNull();
    expect(await placeOf("10.42.7.1")).toEqual(["vpn0", "00:1b:21:0d:00:02"]);
  });
});

describe("the address of an interface entry", () => {
  test("is its first IPv4 one, even if it first had another", async () => {
    await scan.devices(router({ "fe80::21b:21ff:fe0d:2": 2 }));
    expect((await addressByInterface()).eth1).toBe("fe80::21b:21ff:fe0d:2");
    await scan.devices(router({ "fe80::21b:21ff:fe0d:2": 2, "2001:db8:42::1": 2 }));
    expect((await addressByInterface()).eth1).toBe("2001:db8:42::1");
    await scan.devices(router({ "fe80::21b:21ff:fe0d:2": 2, "2001:db8:42::1": 2, "10.42.7.9": 2 }));
    expect((await addressByInterface()).eth1).toBe("10.42.7.9");
  });

  test("is not a link-local IPv4 one if it has a global one", async () => {
    await scan.devices(router({ "169.254.3.9": 2, "2001:db8:42::1": 2 }));
    expect((await addressByInterface()).eth1).toBe("2001:db8:42::1");
  });

  test("stays while the interface has it, even if others come and go", async () => {
    await scan.devices(router({ "10.42.7.9": 2 }));
    await scan.devices(router({ "10.42.7.1": 2, "10.42.7.9": 2 }));
    expect((await addressByInterface()).eth1).toBe("10.42.7.9");
    await scan.devices(router({ "10.42.7.9": 2 }));
    expect((await addressByInterface()).eth1).toBe("10.42.7.9");
  });

  test("stays while the addresses cannot be read completely", async () => {
    await scan.devices(router({ "10.42.7.9": 2 }));
    await scan.devices(router({ "fe80::21b:21ff:fe0d:2": 2 }, { broken: ["ip_address_table"] }));
    expect((await addressByInterface()).eth1).toBe("10.42.7.9");
  });

  test("stays if set manually, and so does the name of the address", async () => {
    await scan.devices(router({ "10.42.7.1": 2, "10.42.8.1": 2 }));
    const { id } = await recordOf("10.42.8.1");
    const entry = (await entries())[1] as JsonRecord;
    const address = await recordOf("10.42.7.1");
    expect((await owner.put(`if-entries/${entry.id}`, { ...entry, ip_address_id: id })).status).toBe(200);
    tick();
    expect((await owner.put(`ip-addresses/${address.id}`, { ...address, name: "gateway" })).status).toBe(200);
    tick();
    const moved = router({ "10.42.7.1": 3, "10.42.8.1": 3 });
    await scan.devices(moved);
    expect((await addressByInterface()).eth1).toBe("10.42.8.1");
    const [named, other] = [await recordOf("10.42.7.1"), await recordOf("10.42.8.1")];
    expect([named.name, named.discovered, other.name]).toEqual(["gateway", undefined, "vpn0"]);
    await settles(moved);
  });
});

test("an address of the appliance's own machine moves with its entry and its name", async () => {
  const on = (if_index: number) => [{ ip_address: "192.0.2.4", prefix_length: 24, if_index, cidr: "192.0.2.0/24" }];
  const bridge = machineInterface({ if_index: 3, if_name: "br0", if_descr: "br0" });
  const machine = machineWith({ interfaces: [machineInterface({ if_index: 2 }), bridge], addresses: on(2) });
  await appliance.renew({ machine });
  const self = () => owner.post("discovery/self", { network_id: first.networkId });
  await self();
  machine.addresses = on(3);
  tick();
  await self();
  expect(await addressByInterface()).toEqual({ eth0: undefined, br0: "192.0.2.4" });
  expect((await recordOf("192.0.2.4")).name).toBe("br0");
});
