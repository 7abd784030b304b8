// Devices in random order, divided randomly into scans: once every device has been read twice, the hosts are the same.

import { expect, test } from "bun:test";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import type { DeviceSighting } from "../../src/discovery/sightings.ts";
import { newAppliance } from "../support/appliance/appliance.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { type SeededRandom, seededRandom } from "../support/injected/seeded-random.ts";
import { seedCount } from "../support/injected/seeds.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac } from "../support/reconcile/sightings.ts";

/** Location in every report of one machine: its true identity. */
type Machine = readonly DeviceSighting[];

const card = (index: number, mac_address: string) => ethernet(index, { mac_address });
const own = (number: number) => card(9, mac(9, number));
const ownAddress = (number: number) => address(`10.0.0.${number}`, 9);
const chassis = (position: number, serial_number: string) =>
  ({ class: "StackMember", position, manufacturer: null, model: null, serial_number }) as const;

/** As net-snmp draws it at the first start of an image. */
const engineOf = (image: number) => `80001f8880e5a1b2c3d4e5f6${image}`;

/** Virtual machines with the NAT card of their hypervisor. */
const behindNat = (number: number, name: string, image = number): Machine => [
  deviceAt(`10.0.0.${number}`, {
    sys_name: name,
    engine_id: engineOf(image),
    sys_location: `machine ${number}`,
    interfaces: [card(1, "08:00:27:5d:3c:01"), own(number)],
    addresses: [address("10.0.2.15"), ownAddress(number)],
  }),
];

/** Virtual machines with a NAT card and one of a host-only net. */
const hostOnly = (number: number): Machine => [
  deviceAt(`10.0.0.${number}`, {
    sys_name: `box-${number}`,
    engine_id: engineOf(20),
    sys_location: `machine ${number}`,
    interfaces: [card(1, "08:00:27:5d:3c:01"), card(2, "08:00:27:5d:3c:02"), own(number)],
    addresses: [address("10.0.2.15"), address("192.168.56.10", 2), ownAddress(number)],
  }),
];

/** Firewalls with the MAC addresses of their cluster; the active one also responds at the cluster's address. */
const firewall = (number: number, isActive: boolean): Machine =>
  [`10.0.0.${number}`, ...(isActive ? ["10.1.0.1"] : [])].map((at) =>
    deviceAt(at, {
      sys_name: `fw-${number}`,
      sys_location: `machine ${number}`,
      serial_number: `FW0000${number}`,
      components: [chassis(1, `FW0000${number}`)],
      interfaces: [1, 2, 3, 4, 5].map((port) => card(port, `00:09:0f:09:00:0${port}`)).concat(own(number)),
      addresses: [...[1, 2, 3, 4, 5].map((port) => address(`10.${port}.0.1`, port)), ownAddress(number)],
    }),
  );

/** A stack of two. */
const stack = (number: number): Machine => [
  deviceAt(`10.0.0.${number}`, {
    sys_name: `stack-${number}`,
    sys_location: `machine ${number}`,
    serial_number: `ST${number}-01`,
    components: [chassis(1, `ST${number}-01`), chassis(2, `ST${number}-02`)],
    chassis_id: { subtype: "MacAddress", value: mac(9, number) },
    bridge_address: mac(9, number),
    interfaces: [card(1, mac(9, number)), own(number)],
    addresses: [ownAddress(number)],
  }),
];

/** Clones of one image: name and chassis id in common. */
const clone = (number: number): Machine => [
  deviceAt(`10.0.0.${number}`, {
    sys_name: "image",
    engine_id: engineOf(50),
    sys_location: `machine ${number}`,
    chassis_id: { subtype: "LocallyAssigned", value: "image" },
    interfaces: [own(number)],
    addresses: [ownAddress(number), address("172.17.0.1", 8)],
  }),
];

const MACHINES: readonly Machine[] = [
  behindNat(11, "nat-11"),
  behindNat(12, "nat-12"),
  // Clones that also share a network card.
  behindNat(13, "twin", 13),
  behindNat(14, "twin", 13),
  hostOnly(21),
  hostOnly(22),
  firewall(31, true),
  firewall(32, false),
  stack(41),
  stack(42),
  clone(51),
  clone(52),
];
const EXPECTED = MACHINES.map((machine) => machine[0]?.device.sys_location).sort();

const CUT_OFF = { state: "partial", problem: "cut off" } as const;

/** A read with truncated tables. */
function partial({ device, ...sighting }: DeviceSighting, random: SeededRandom): DeviceSighting {
  const broken = (["entity", "interfaces", "addresses"] as const).filter(() => random.integer(2) === 1);
  const tables = { ...device.tables, ...Object.fromEntries(broken.map((table) => [table, CUT_OFF])) };
  const someOf = <Row>(table: (typeof broken)[number], rows: readonly Row[] = []) =>
    broken.includes(table) ? rows.slice(0, random.integer(rows.length + 1)) : rows;
  const { serial_number, components, ...others } = device;
  const [interfaces, addresses] = [someOf("interfaces", device.interfaces), someOf("addresses", device.addresses)];
  const isRead = !broken.includes("entity") && serial_number !== undefined && components !== undefined;
  const entity = isRead ? { serial_number, components } : {};
  return { ...sighting, device: { ...others, ...entity, tables, interfaces, addresses, broken } };
}

for (let seed = 1; seed <= seedCount(12, 120); seed += 1)
  test(`order and division ${seed} yield the same hosts${seed % 2 === 0 ? ", even after partial reads" : ""}`, async () => {
    const appliance = await newAppliance();
    try {
      const random = seededRandom(seed * 7_919);
      const scan = new ScanWriter(appliance);
      const { hosts } = inventoryOf(appliance);
      // Each at one address: two partial reads of a machine may have nothing in common.
      const first =
        seed % 2 === 0 ? [MACHINES.flatMap(([each]) => (each === undefined ? [] : [partial(each, random)]))] : [];
      for (const pass of [...first, MACHINES.flat(), MACHINES.flat()]) {
        const sightings = random.shuffled(pass);
        while (sightings.length > 0) {
          const some = sightings.splice(0, 1 + random.integer(random.pick([1, 4, sightings.length])));
          // One scan in several commands.
          const commands = [some.splice(0, 1 + random.integer(some.length)), some].filter(({ length }) => length > 0);
          const [first, ...others] = commands.map((each) => {
            const digested = each.map((sighting) => ({ ...sighting, digest: digestOf(sighting) }));
            return ["discovery.devices", { sightings: digested }] as const;
          });
          if (first !== undefined) await scan.runAll([first, ...others]);
        }
      }
      const found = await hosts();
      expect(found.map(({ sys_location }) => sys_location).sort()).toEqual(EXPECTED);
      expect(found.map(stateOf).sort()).toEqual(MACHINES.map(expectedOf).sort());
    } finally {
      await appliance.close();
    }
  });

function stateOf(host: JsonRecord): string {
  return [host.sys_location, host.sys_name, ...addressesOf(host)].join(" ");
}

function expectedOf(machine: Machine): string {
  const [{ device }] = machine as readonly [DeviceSighting];
  const addresses = new Set([...(device.addresses ?? []), ...machine].map(({ ip_address }) => ip_address));
  return [device.sys_location, device.sys_name, ...[...addresses].sort()].join(" ");
}
