// Conflicts in inconsistent networks: several machines at once, reporters that disappear, addresses entered by
// people, IPv6, aggregates and failovers. Through whole scans.

import { describe, expect, test } from "bun:test";
import type { ArpEntry, Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { arpEntry, routerAt } from "../support/reconcile/router.ts";
import { address, device, ethernet, mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, communityOf, runScan, newSubnet, newHost, clock, tick } = appliance;
const { holders, hosts } = inventoryOf(appliance);

const [STATION, INTRUDER, THIRD] = ["00:1b:21:07:00:01", "b8:27:eb:07:00:02", "dc:a6:32:07:00:03"] as const;
const [R1, R2, SW] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const IP = "10.0.0.7";

function add(at: string, ...router: [readonly ArpEntry[], Partial<Device>?]): void {
  appliance.probes.addDevice(at, routerAt(at, ...router));
}

async function start(): Promise<void> {
  await newSubnet({ cidr: "10.0.0.0/24" });
  await newSubnet({ cidr: "2001:db8::/64" });
  await communityOf("public");
}
const scan = async (targets: readonly string[] = [...appliance.probes.devices.keys()]) => {
  clock.advance(60_000);
  await runScan({ kind: "snmp", targets });
};
const conflicts = async (query = "") => (await owner.get(`conflicts?limit=0&${query}`)).data as JsonRecord[];
const shown = async () =>
  (await conflicts("type=Address")).map(({ value, parties }) => [
    value,
    ...parties.map((each: JsonRecord) => each.mac_address).sort(),
  ]);
const versions = () =>
  (appliance.reader.db.query("SELECT count(*) AS n FROM history_versions").get() as { n: number }).n;
const quiet = async () => {
  const before = versions();
  await scan();
  await scan([...appliance.probes.devices.keys()].reverse());
  expect(versions()).toBe(before);
};

describe("the MAC addresses at one address", () => {
  test("are found for IPv6, from the neighbor caches of two routers", async () => {
    await start();
    add(R1, [arpEntry(STATION, "2001:db8::7")]);
    add(R2, [arpEntry(INTRUDER, "2001:db8::7")]);
    await scan();
    expect(await shown()).toEqual([["2001:db8::7", STATION, INTRUDER]]);
    await quiet();
  });

  test("are found if there are three, reported by two routers and by the appliance", async () => {
    await start();
    add(R1, [arpEntry(STATION)]);
    add(R2, [arpEntry(INTRUDER), arpEntry(THIRD)]);
    await scan();
    expect(await shown()).toEqual([[IP, STATION, INTRUDER, THIRD]]);
    await quiet();
  });

  test("are found if one is that of a machine with another address, which it keeps", async () => {
    await start();
    add(R1, [arpEntry(STATION)]);
    add(R2, [arpEntry(INTRUDER), arpEntry(INTRUDER, "10.0.0.8")]);
    await scan();
    expect(await shown()).toEqual([[IP, STATION, INTRUDER]]);
    expect(await hosts()).toHaveLength(4);
    await quiet();
  });

  test("are found if one was entered by a user, with the user and the scan as reporters", async () => {
    await start();
    await newHost({ name: "printer", ip_addresses: [{ ip_address: IP, mac_address: STATION }] });
    add(R1, [arpEntry(INTRUDER)]);
    add(R2, [arpEntry(STATION)]);
    await scan();
    expect(await shown()).toEqual([[IP, STATION, INTRUDER]]);
    const [{ parties }] = (await conflicts("type=Address")) as [JsonRecord];
    expect(parties.map(({ by }: JsonRecord) => by.type).sort()).toEqual(["Discovery", "User"]);
    await quiet();
  });

  test("are found if a router's table breaks off after the second one", async () => {
    await start();
    add(R1, [arpEntry(STATION)]);
    const tables = { ...device().tables, arp: { state: "partial", problem: "no response" } as const };
    add(R2, [arpEntry(INTRUDER)], { tables });
    await scan();
    expect(await shown()).toEqual([[IP, STATION, INTRUDER]]);
  });

  test("are shown with the aggregate at which a server is, and the interface that a router has renamed", async () => {
    await start();
    add(SW, [], {
      sys_name: "acc-1",
      stacking: [{ if_index: 7, lag_if_index: 100 }],
      interfaces: [
        ethernet(1, { mac_address: mac(1, 3) }),
        ethernet(7, { if_name: "Gi0/7", mac_address: null }),
        ethernet(100, {
          if_name: "Po1",
          if_type: 161,
          mac_address: null,
          forwarding: [{ mac_address: STATION, vlan_number: 20 }],
        }),
        ethernet(8, { if_name: "Gi0/8", mac_address: null, forwarding: [{ mac_address: INTRUDER, vlan_number: 20 }] }),
      ],
    });
    add(R1, [arpEntry(STATION)]);
    add(R2, [arpEntry(INTRUDER)]);
    await scan();
    add(R2, [arpEntry(INTRUDER)], { interfaces: [ethernet(1, { if_name: "irb.20", mac_address: mac(1, 2) })] });
    await scan();
    const [{ parties }] = (await conflicts("type=Address")) as [JsonRecord];
    expect(parties.map((each: JsonRecord) => [each.port?.name, each.seen_by[0].interface.name]).sort()).toEqual([
      ["Gi0/8", "irb.20"],
      ["Po1", "Vl20"],
    ]);
  });

  test("stay in conflict after the router that reported one was deleted, and show its name", async () => {
    await start();
    add(R1, [arpEntry(STATION)]);
    add(R2, [arpEntry(INTRUDER)]);
    await scan();
    const router = (await hosts()).find(({ name }) => name === "router-2");
    await expectOk(owner.delete(`hosts/${router?.id}`));
    tick();
    const [{ parties }] = (await conflicts("type=Address")) as [JsonRecord];
    expect(parties.map((each: JsonRecord) => each.seen_by.map(({ host }: JsonRecord) => host?.name))).toEqual([
      ["router-1"],
      ["router-2"],
    ]);
  });
});

describe("no conflict", () => {
  test("is a virtual address that moved to the other router, which alone was read since", async () => {
    await start();
    const virtual = "00:00:5e:00:01:07";
    const master = (at: string) =>
      add(at, [], {
        interfaces: [
          ethernet(1, { mac_address: mac(1, Number(at.at(-1))) }),
          ethernet(2, { if_name: "VRRP-7", mac_address: virtual }),
        ],
        addresses: [address(at), address(IP, 2)],
      });
    master(R1);
    add(R2, []);
    await scan();
    master(R2);
    await scan([R2]);
    expect(await conflicts()).toEqual([]);
    add(R1, []);
    await scan();
    expect(await conflicts()).toEqual([]);
    expect((await holders()).filter((each) => each.includes(` ${IP}`))).toHaveLength(1);
  });

  test.each(["00:00:5e:00:02:07", "00:00:0c:9f:f0:05", "00:05:73:a0:00:05"])(
    "and no host is an IPv6 address of a virtual router, %s",
    async (virtual) => {
      await start();
      add(R1, [arpEntry(virtual, "2001:db8::1")]);
      add(R2, [arpEntry(virtual, "2001:db8::1")]);
      await scan();
      expect(await hosts()).toHaveLength(2);
      expect(await conflicts()).toEqual([]);
    },
  );

  test("is a lease that moved, if the appliance itself has since seen the former machine elsewhere", async () => {
    await start();
    add(R1, [arpEntry(STATION)]);
    await scan();
    appliance.probes.alive.set("10.0.0.9", { mac_address: STATION });
    add(R2, [arpEntry(INTRUDER)]);
    clock.advance(60_000);
    await runScan({ kind: "full", targets: ["10.0.0.9", R2] });
    expect(await shown()).toEqual([]);
  });

  test("is a lease that moved, if another router reports the former machine elsewhere, in any order of reads", async () => {
    for (const order of [
      [R2, SW],
      [SW, R2],
    ]) {
      await appliance.renew();
      await start();
      add(R1, [arpEntry(STATION)]);
      await scan();
      add(R2, [arpEntry(INTRUDER)]);
      add(SW, [arpEntry(STATION, "10.0.0.9")]);
      await scan(order);
      expect(await shown()).toEqual([]);
    }
  });

  test("is an address of IPv6 that a machine has besides its IPv4 address", async () => {
    await start();
    add(R1, [arpEntry(STATION), arpEntry(STATION, "2001:db8::7"), arpEntry(STATION, "2001:db8::8")]);
    add(R2, [arpEntry(STATION, "2001:db8::9")]);
    await scan();
    expect(await conflicts()).toEqual([]);
    expect(await hosts()).toHaveLength(3);
    await quiet();
  });
});
