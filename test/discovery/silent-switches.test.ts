// MAC addresses in the forwarding tables of two switches of which one is gone. Through whole scans.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { arpEntry, routerAt } from "../support/reconcile/router.ts";
import { ethernet, mac } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { owner, communityOf, runScan, newSubnet, clock } = appliance;

const DAY_MS = 86_400_000;
const STATION = "00:1b:21:07:00:01";
const ROUTER = "10.0.0.1";
const [FORMER, NEW] = ["10.0.0.3", "10.0.0.4"] as const;

/** Adds a switch with the station at its second port. */
function addSwitch(at: typeof FORMER | typeof NEW): void {
  const number = Number(at.split(".")[3]);
  appliance.probes.addDevice(
    at,
    routerAt(at, [], {
      sys_name: `acc-${number}`,
      serial_number: `FOC${number}`,
      interfaces: [
        ethernet(1, { mac_address: mac(1, number) }),
        ethernet(2, { mac_address: null, forwarding: [{ mac_address: STATION, vlan_number: 20 }] }),
      ],
    }),
  );
}

/** Adds the router with switches in its ARP table. */
function addRouter(...switches: readonly string[]): void {
  const entries = switches.map((each) => arpEntry(mac(1, Number(each.split(".")[3])), each));
  appliance.probes.addDevice(ROUTER, routerAt(ROUTER, entries));
}

async function scan(...targets: readonly string[]): Promise<string> {
  clock.advance(60_000);
  await runScan({ kind: "snmp", targets });
  clock.advance(1_000);
  return clock.text();
}

const conflictsAt = async (at?: string) =>
  ((await owner.get(`conflicts?type=Mac${at === undefined ? "" : `&at=${at}`}`)).data as JsonRecord[]).map(
    ({ value, parties }) => [value, parties.map((party: JsonRecord) => party.host.name)],
  );

async function start(): Promise<void> {
  await newSubnet({ cidr: "10.0.0.0/24" });
  await communityOf("public");
}

test("a MAC address is in no conflict at a switch that was replaced under another name and address", async () => {
  await start();
  addRouter(FORMER);
  addSwitch(FORMER);
  await scan(ROUTER, FORMER);
  expect(await conflictsAt()).toEqual([]);

  addSwitch(NEW);
  const unknown = await scan(NEW);
  const both = [[STATION, ["acc-3", "acc-4"]]];
  expect(await conflictsAt()).toEqual(both);
  addRouter(NEW);
  const known = await scan(ROUTER, NEW);
  expect(await conflictsAt()).toEqual([]);

  // The former switch is back: what its table still has counts again.
  addRouter(FORMER, NEW);
  await scan(ROUTER);
  expect(await conflictsAt()).toEqual(both);
  expect([await conflictsAt(unknown), await conflictsAt(known)]).toEqual([both, []]);
});

test("a MAC address at two switches is in conflict while both are in ARP tables, and if neither ever was", async () => {
  await start();
  addSwitch(FORMER);
  addSwitch(NEW);
  await scan(FORMER, NEW);
  expect(await conflictsAt()).toHaveLength(1);
  addRouter(FORMER, NEW);
  await scan(ROUTER, FORMER, NEW);
  expect(await conflictsAt()).toHaveLength(1);
});

test("a MAC address is in no conflict at a switch whose address the ARP table has with another MAC address", async () => {
  await start();
  addRouter(FORMER, NEW);
  addSwitch(FORMER);
  addSwitch(NEW);
  await scan(ROUTER, FORMER, NEW);
  expect(await conflictsAt()).toHaveLength(1);
  const entries = [arpEntry("b8:27:eb:07:00:02", FORMER), arpEntry(mac(1, 4), NEW)];
  appliance.probes.addDevice(ROUTER, routerAt(ROUTER, entries));
  await scan(ROUTER);
  expect(await conflictsAt()).toEqual([]);
});

test("a MAC address stays in no conflict when the addresses of a switch that is gone expire", async () => {
  await start();
  addRouter(FORMER);
  addSwitch(FORMER);
  await scan(ROUTER, FORMER);
  addSwitch(NEW);
  addRouter(NEW);
  for (let day = 0; day < 33; day += 3) {
    clock.advance(3 * DAY_MS);
    await scan(ROUTER, NEW);
    expect(await conflictsAt()).toEqual([]);
  }
  const sightings = appliance.reader.db.query("SELECT ended_at FROM discovery_sightings WHERE mac_address = ?1");
  const ended = sightings.values(mac(1, 3)).flat();
  expect(ended).toEqual([expect.any(Number), expect.any(Number)]);
});
