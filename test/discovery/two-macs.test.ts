// Two MAC addresses at one IP address: both are listed regardless of the reporter, and the conflict shows their ports.
// A MAC address that has left, or is shared or virtual, causes no conflict. Through whole scans.

import { describe, expect, test } from "bun:test";
import type { ArpEntry, Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { arpEntry, routerAt } from "../support/reconcile/router.ts";
import { address, ethernet, mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, communityOf, runScan, newSubnet, clock, tick } = appliance;
const { holders, hosts } = inventoryOf(appliance);

const [STATION, INTRUDER] = ["00:1b:21:07:00:01", "b8:27:eb:07:00:02"] as const;
const VIRTUAL = "00:00:5e:00:01:0a";
const R1 = "10.0.0.1";
const R2 = "10.0.0.2";

/** A router with its neighbors. */
function addRouter(at: string, ...router: [readonly ArpEntry[], Partial<Device>?]): void {
  appliance.probes.addDevice(at, routerAt(at, ...router));
}

/** A switch that has learned MAC addresses, one at each port. */
function addSwitch(...learned: readonly string[]): void {
  addRouter("10.0.0.3", [], {
    sys_name: "acc-1",
    interfaces: [
      ethernet(1, { mac_address: mac(1, 3) }),
      ...learned.map((mac_address, index) =>
        ethernet(index + 2, { mac_address: null, forwarding: [{ mac_address, vlan_number: 20 }] }),
      ),
    ],
  });
}

async function start(): Promise<void> {
  await newSubnet({ cidr: "10.0.0.0/24" });
  await communityOf("public");
}
const scan = async (targets: readonly string[] = [...appliance.probes.devices.keys()]) => {
  clock.advance(60_000);
  await runScan({ kind: "snmp", targets });
};
const listConflicts = async (query = "") => (await owner.get(`conflicts?type=Address&${query}`)).data as JsonRecord[];
const macsInConflict = async () =>
  (await listConflicts()).flatMap(({ parties }) => parties.map((party: JsonRecord) => party.mac_address)).sort();
const versionCount = () =>
  (appliance.reader.db.query("SELECT count(*) AS count FROM history_versions").get() as { count: number }).count;
const at7 = async () => (await holders()).filter((each) => each.includes(" 10.0.0.7"));

describe("two MAC addresses at one address", () => {
  test("reported by two routers are found in one scan, each with its reporter, interface, port and start", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addSwitch(STATION, INTRUDER);
    await scan();
    expect(await listConflicts()).toEqual([]);
    addRouter(R2, [arpEntry(INTRUDER)]);
    await scan();
    const conflicts = await listConflicts();
    expect(conflicts.map(({ value }) => value)).toEqual(["10.0.0.7"]);
    const parties = conflicts.flatMap((conflict): JsonRecord[] => conflict.parties);
    const shown = parties.map(({ mac_address, port, seen_by, by }) => ({
      mac_address,
      port: `${port?.host.name} ${port?.name}`,
      by: by.type,
      seen: seen_by.map((each: JsonRecord) => `${each.kind} ${each.host?.name} ${each.interface?.name}`),
    }));
    expect(shown).toEqual([
      { mac_address: STATION, port: "acc-1 Gi0/2", by: "Discovery", seen: ["Neighbor router-1 Vl20"] },
      { mac_address: INTRUDER, port: "acc-1 Gi0/3", by: "Discovery", seen: ["Neighbor router-2 Vl20"] },
    ]);
    const [first, second] = parties.map(({ seen_by }) => seen_by[0].since);
    expect(first < second).toBe(true);
    expect((await owner.get("stations?known=false")).data).toEqual([]);
  });

  test("reported by one router are both found", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION), arpEntry(INTRUDER)]);
    await scan();
    expect(await macsInConflict()).toEqual([STATION, INTRUDER]);
  });

  test("are found if a server reports the address itself and a router reports another MAC address there", async () => {
    await start();
    addRouter("10.0.0.7", [], { sys_name: "server-7" });
    addRouter(R1, [arpEntry(INTRUDER)]);
    await scan();
    expect(await macsInConflict()).toEqual([mac(1, 7), INTRUDER]);
    expect(await at7()).toContain("server-7 10.0.0.7");
  });

  test("are found if the appliance itself sees one and a router the other", async () => {
    await start();
    appliance.probes.alive.set(R1, { mac_address: mac(1, 1) });
    appliance.probes.alive.set("10.0.0.7", { mac_address: STATION });
    addRouter(R1, [arpEntry(INTRUDER)]);
    clock.advance(60_000);
    await runScan({ kind: "full" });
    expect(await macsInConflict()).toEqual([STATION, INTRUDER]);
  });

  test("stop being in conflict when no device reports one of them any longer", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addRouter(R2, [arpEntry(INTRUDER)]);
    await scan();
    expect(await macsInConflict()).toEqual([STATION, INTRUDER]);
    tick();
    const during = clock.text();
    addRouter(R2, [arpEntry(STATION)]);
    await scan();
    expect(await listConflicts()).toEqual([]);
    expect(await listConflicts(`at=${during}`)).toHaveLength(1);
    expect(await at7()).toHaveLength(1);
  });

  test("are shown in thinned history as in the state that is retained, by all who saw them then", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addRouter(R2, [arpEntry(INTRUDER)]);
    addRouter("10.0.0.4", [arpEntry(INTRUDER)]);
    await scan();
    const seenAt = async (at: string) =>
      (await listConflicts(`at=${at}`)).flatMap(({ parties }) =>
        parties.flatMap((party: JsonRecord) => party.seen_by.map((each: JsonRecord) => each.host.name)),
      );
    const retained = await seenAt(clock.text());
    expect(retained).toEqual(["router-1", "router-2", "router-4"]);
    clock.advance(24 * 3_600_000);
    addRouter("10.0.0.4", []);
    await scan(["10.0.0.4"]);
    tick();
    const later = clock.text();
    expect(await seenAt(later)).toEqual(["router-1", "router-2"]);
    clock.advance(48 * 3_600_000);
    addRouter(R1, [], { sys_descr: "changed" });
    await scan([R1]);
    clock.advance(24 * 3_600_000);
    appliance.prune(clock.now(), "daily");
    expect((await owner.get(`conflicts?at=${later}`)).body.meta).toMatchObject({ resolution: "daily" });
    expect(await seenAt(later)).toEqual(retained);
  });

  test("have the same result in any order of responses, and a rescan of the unchanged network writes nothing", async () => {
    const states = new Set<string>();
    for (let seed = 1; seed <= 6; seed += 1) {
      await appliance.renew();
      await start();
      addRouter(R1, [arpEntry(STATION), arpEntry(mac(9, 9), "10.0.0.9")]);
      addRouter(R2, [arpEntry(INTRUDER), arpEntry(mac(9, 9), "10.0.0.8")]);
      addRouter("10.0.0.9", [arpEntry(mac(8, 8))], { sys_name: "server-9" });
      addSwitch(STATION, INTRUDER, mac(8, 8), mac(9, 9));
      const random = seededRandom(seed);
      const ordered = () => random.shuffled([...appliance.probes.devices.keys()]);
      await scan(ordered());
      const described = (await hosts()).map(({ name, ip_addresses }) =>
        [name, ...ip_addresses.map((each: JsonRecord) => `${each.ip_address} ${each.mac_address}`).sort()].join(" "),
      );
      states.add(described.sort().join("\n"));
      const before = versionCount();
      for (let times = 0; times < 2; times += 1) await scan(ordered().reverse());
      for (const target of ordered()) await scan([target]);
      expect(versionCount()).toBe(before);
    }
    expect([...states]).toHaveLength(1);
  });
});

describe("no conflict", () => {
  test("is a lease that moved, if the former machine has another address since", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addRouter(R2, [arpEntry(STATION)]);
    await scan();
    // Only one router is read again.
    addRouter(R1, [arpEntry(INTRUDER), arpEntry(STATION, "10.0.0.8")]);
    await scan([R1]);
    expect(await listConflicts()).toEqual([]);
    expect(await at7()).toHaveLength(1);
  });

  test("is a lease that moved, if the former machine is in no forwarding table and the other one is", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addRouter(R2, []);
    addSwitch(STATION);
    await scan();
    addSwitch(INTRUDER);
    addRouter(R2, [arpEntry(INTRUDER)]);
    await scan([R2, "10.0.0.3"]);
    expect(await listConflicts()).toEqual([]);
    const before = versionCount();
    await scan();
    expect(versionCount()).toBe(before);
  });

  test("is one MAC address at two hosts that report the address, as in a cluster", async () => {
    await start();
    for (const at of [R1, R2])
      addRouter(at, [], {
        interfaces: [ethernet(1, { mac_address: mac(1, Number(at.at(-1))) }), ethernet(2, { mac_address: mac(5, 5) })],
        addresses: [address(at), address("10.0.0.7", 2)],
      });
    addRouter("10.0.0.3", [arpEntry(mac(5, 5))]);
    await scan();
    expect(await at7()).toHaveLength(2);
    expect(await listConflicts()).toEqual([]);
  });

  test("is an anycast gateway that responds with its own MAC address", async () => {
    await start();
    for (const at of [R1, R2]) addRouter(at, [], { addresses: [address(at), address("10.0.0.7")] });
    addRouter("10.0.0.3", [arpEntry("02:aa:bb:cc:dd:01")]);
    await scan();
    expect(await at7()).toEqual(["router-1 10.0.0.1 10.0.0.7", "router-2 10.0.0.2 10.0.0.7"]);
    expect(await listConflicts()).toEqual([]);
  });

  /** Gateways with the same address on the same VLAN interface, each with its own MAC address and other addresses. */
  const addGateways = (arpOf: (own: string) => readonly ArpEntry[]) => {
    for (const at of [R1, R2]) {
      const own = mac(2, Number(at.at(-1)));
      addRouter(at, arpOf(own), {
        interfaces: [
          ethernet(1, { mac_address: mac(1, Number(at.at(-1))) }),
          ethernet(2, { if_name: "Vlan20", if_type: 136, mac_address: own }),
        ],
        addresses: [address(at), address("10.0.0.7", 2)],
      });
    }
  };
  test("is an anycast gateway whose routers list themselves in their ARP tables", async () => {
    await start();
    addGateways((own) => [{ ip_address: "10.0.0.7", mac_address: own, if_index: 2 }]);
    addRouter("10.0.0.3", [arpEntry("02:aa:bb:cc:dd:01")]);
    await scan();
    expect(await at7()).toHaveLength(2);
    expect(await listConflicts()).toEqual([]);
  });

  test("is an anycast gateway that no other device reports, unless one reports one of its MAC addresses", async () => {
    await start();
    addGateways(() => []);
    await scan();
    expect(await at7()).toHaveLength(2);
    expect(await listConflicts()).toEqual([]);
    const at = clock.text();
    tick();
    addRouter("10.0.0.3", [arpEntry(mac(2, 1))]);
    await scan();
    expect(await macsInConflict()).toEqual([mac(2, 1), mac(2, 2)]);
    expect(await listConflicts(`at=${at}`)).toEqual([]);
  });

  test.each([VIRTUAL, "00:00:0c:07:ac:05", "00:07:b4:00:0a:01"])(
    "and no host is a virtual address with %s that only ARP knows",
    async (virtual) => {
      await start();
      addRouter(R1, [arpEntry(virtual)]);
      addRouter(R2, [arpEntry(virtual)]);
      await scan();
      expect(await at7()).toEqual([]);
      expect(await hosts()).toHaveLength(2);
      // The router with the address has another MAC address on that interface, as with CARP.
      addRouter(R1, [], { addresses: [address(R1), address("10.0.0.7")] });
      addRouter("10.0.0.3", [], { addresses: [address("10.0.0.3"), address("10.0.0.7")] });
      await scan();
      expect(await at7()).toHaveLength(2);
      expect(await listConflicts()).toEqual([]);
    },
  );

  test("are equal addresses behind bridges of two container hosts", async () => {
    await start();
    for (const at of [R1, R2]) {
      const number = Number(at.at(-1));
      addRouter(at, [{ ip_address: "172.17.0.2", mac_address: `02:42:ac:11:00:0${number}`, if_index: 2 }], {
        interfaces: [
          ethernet(1, { mac_address: mac(1, number) }),
          ethernet(2, { if_name: "docker0", mac_address: `02:42:00:00:00:0${number}` }),
        ],
        addresses: [address(at), address("172.17.0.1", 2)],
      });
    }
    await scan();
    expect(await listConflicts()).toEqual([]);
  });

  test("is the MAC address of a router that responds for a machine seen elsewhere", async () => {
    await start();
    addRouter(R1, [arpEntry(STATION)]);
    addRouter(R2, [arpEntry(mac(1, 3))]);
    addRouter("10.0.0.3", []);
    await scan();
    expect(await at7()).toHaveLength(1);
    expect(await listConflicts()).toEqual([]);
  });
});

test("an address that a silent device reported stays its own, and is in no conflict with the machine that has it now", async () => {
  await start();
  addRouter("10.0.0.5", [], { sys_name: "master", addresses: [address("10.0.0.5"), address("10.0.0.7")] });
  addRouter("10.0.0.6", [], { sys_name: "backup" });
  addSwitch(mac(1, 5), mac(1, 6));
  await scan();
  addRouter("10.0.0.6", [], { addresses: [address("10.0.0.6"), address("10.0.0.7")], sys_name: "backup" });
  addRouter(R1, [arpEntry(mac(1, 6))]);
  addSwitch(mac(1, 6));
  appliance.probes.devices.delete("10.0.0.5");
  for (let times = 0; times < 2; times += 1) {
    await scan();
    expect(await at7()).toHaveLength(2);
    expect(await listConflicts()).toEqual([]);
  }
});
