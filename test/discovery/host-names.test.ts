// Names of hosts without a manual name: derived again when more is known about the host, and never the address of
// another host.

import { describe, expect, test } from "bun:test";
import { parseIp } from "../../src/base/ip.ts";
import type { AddressSighting } from "../../src/discovery/sightings.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { machineWith } from "../support/reconcile/machine.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { deviceAt, ethernet, address as onInterface, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { first, newSubnet, owner, tick } = appliance;
const scan = new ScanWriter(appliance);
const { hosts, holders } = inventoryOf(appliance);

const PI = (last: number) => `b8:27:eb:12:34:${last.toString(16).padStart(2, "0")}`;
const GUEST = "da:a1:19:00:00:07";
const seen = (last: number, mac: string | null, more: Partial<AddressSighting> = {}) =>
  seenAt(`10.91.20.${last}`, { mac_address: mac, ...more });
const names = async () => (await hosts()).map(({ name }) => name);
const only = async (): Promise<JsonRecord> => {
  const [host, ...others] = await hosts();
  expect(others).toEqual([]);
  return host as JsonRecord;
};
const put = async (path: string, record: JsonRecord) => {
  expect((await owner.put(`${path}/${record.id}`, record)).status).toBe(200);
  tick();
};
const settles = async (...sightings: AddressSighting[]) =>
  expect((await scan.addresses(...sightings)).sequence).toBeNull();
/** Hosts named after an address that they do not have. */
const misnamed = async () =>
  (await hosts()).filter((host) => parseIp(host.name) !== null && addressesOf(host).includes(host.name) === false);

describe("a host without a manual name", () => {
  test("is named by its system name, else by DNS, else by a MAC address with its vendor, else by its address", async () => {
    await scan.addresses(seen(13, null));
    expect(await names()).toEqual(["10.91.20.13"]);
    await scan.addresses(seen(13, PI(1)));
    expect(await names()).toEqual(["Raspberry Pi b8:27:eb:12:34:01"]);
    await scan.addresses(seen(13, PI(1), { hostname: "kiosk.example" }));
    expect(await names()).toEqual(["kiosk.example"]);
    await scan.devices(
      deviceAt("10.91.20.13", { sys_name: "kiosk-1" }, { mac_address: PI(1), hostname: "kiosk.example" }),
    );
    expect(await names()).toEqual(["kiosk-1"]);
    await scan.devices(deviceAt("10.91.20.13", { sys_name: null }, { mac_address: PI(1), hostname: "kiosk.example" }));
    expect(await names()).toEqual(["kiosk.example"]);
    await settles(seen(13, PI(1), { hostname: "kiosk.example" }));
  });

  test("has its MAC address alone as name if no vendor is known, as with random addresses", async () => {
    await scan.addresses(seen(13, GUEST));
    expect(await names()).toEqual([GUEST]);
    await settles(seen(13, GUEST));
  });

  test("is also named by MAC address if it is a device without a system name", async () => {
    const nameless = deviceAt("10.91.20.13", {
      interfaces: [ethernet(1, { mac_address: PI(1) })],
      addresses: [onInterface("10.91.20.13")],
    });
    await scan.devices(nameless);
    expect(await names()).toEqual(["Raspberry Pi b8:27:eb:12:34:01"]);
    expect((await scan.devices(nameless)).sequence).toBeNull();
    await settles(seen(13, PI(1)));
  });

  test("keeps its last DNS name while DNS does not respond or has no name, and then gets the next one", async () => {
    await scan.addresses(seen(13, PI(1), { hostname: "kiosk.example" }));
    await settles(seen(13, PI(1)), seen(13, PI(1), { hostname: null }));
    await scan.addresses(seen(13, PI(1), { hostname: "kiosk-2.example" }));
    expect(await names()).toEqual(["kiosk-2.example"]);
  });

  test("keeps the address or MAC address in its name as long as it has that address, even if it gains others", async () => {
    await scan.devices(deviceAt("10.91.20.13", { serial_number: "SER1300", addresses: [onInterface("10.91.20.13")] }));
    await scan.devices(
      deviceAt("10.91.20.12", {
        serial_number: "SER1300",
        addresses: [onInterface("10.91.20.12"), onInterface("10.91.20.13")],
      }),
    );
    expect(await names()).toEqual(["10.91.20.13"]);
    const card = (number: number) => ethernet(number, { mac_address: PI(number) });
    const both = deviceAt("10.91.20.12", {
      serial_number: "SER1300",
      interfaces: [card(2), card(1)],
      addresses: [onInterface("10.91.20.12", 1), onInterface("10.91.20.13", 2)],
    });
    await scan.devices(both);
    const [name] = await names();
    expect(name).toBe("Raspberry Pi b8:27:eb:12:34:02");
    await scan.devices({ ...both, device: { ...both.device, addresses: both.device.addresses?.toReversed() ?? [] } });
    await settles(seen(12, PI(1)), seen(13, PI(2)));
    await settles(seen(13, PI(2)), seen(12, PI(1)));
    expect(await names()).toEqual([name]);
  });

  test("is not named by a MAC address that responds for many", async () => {
    const proxied = Array.from({ length: 40 }, (_, number) => seen(100 + number, PI(1), { is_mac_shared: true }));
    await scan.addresses(...proxied);
    expect(new Set(await names())).toEqual(new Set(proxied.map(({ ip_address }) => ip_address)));
    await settles(...proxied);
  });
});

describe("a manual name", () => {
  for (const given of ["Kiosk in the hall", "10.91.20.99", PI(9)])
    test(`stays: ${given}`, async () => {
      await scan.addresses(seen(13, null));
      await put("hosts", { ...(await only()), name: given });
      await scan.addresses(seen(13, PI(1)));
      await scan.addresses(seen(13, PI(1), { hostname: "kiosk.example" }));
      await scan.addresses(seen(14, PI(1)));
      const { name, discovered } = await only();
      expect([name, discovered]).toEqual([given, undefined]);
      await settles(seen(14, PI(1)));
    });

  test("stays on a host that was entered manually by its address", async () => {
    await newSubnet({ cidr: "10.91.20.0/24" });
    await owner.post("hosts", {
      network_id: first.networkId,
      name: "10.91.20.13",
      ip_addresses: [{ ip_address: "10.91.20.13", mac_address: PI(1) }],
    });
    tick();
    await scan.addresses(seen(13, PI(1)));
    await scan.addresses(seen(12, PI(1)));
    expect(await names()).toEqual(["10.91.20.13"]);
  });
});

describe("a host whose address is now another host's", () => {
  test("is named by its MAC address while leases rotate", async () => {
    const macs = [PI(1), PI(2), GUEST];
    const rotated = (by: number) => macs.map((mac, index) => seen(11 + ((index + by) % 3), mac));
    // First without MAC addresses: a network behind a router.
    await scan.addresses(seen(11, null), seen(12, null), seen(13, null));
    const named = [GUEST, "Raspberry Pi b8:27:eb:12:34:01", "Raspberry Pi b8:27:eb:12:34:02"];
    for (let by = 0; by < 4; by += 1) {
      await scan.addresses(...rotated(by));
      expect(await names()).toEqual(named);
      await settles(...rotated(by));
    }
  });

  test("is named after an address that it still has, or after none", async () => {
    await scan.devices(deviceAt("10.91.20.11", { serial_number: "SER1100", addresses: [onInterface("10.91.20.11")] }));
    await scan.devices(
      deviceAt("10.91.20.11", {
        serial_number: "SER1100",
        addresses: [onInterface("10.91.20.11"), onInterface("10.91.20.12")],
      }),
    );
    appliance.clock.advance(3 * 86_400_000);
    // This machine, known elsewhere by its MAC address, takes first one address, then the other.
    await scan.addresses(seen(20, PI(1)));
    await scan.addresses(seen(11, PI(1)));
    expect(await holders()).toEqual([
      "10.91.20.12 10.91.20.12",
      "Raspberry Pi b8:27:eb:12:34:01 10.91.20.11 10.91.20.20",
    ]);
    await scan.addresses(seen(12, PI(1)));
    expect(await holders()).toEqual([
      "Raspberry Pi b8:27:eb:12:34:01 10.91.20.11 10.91.20.12 10.91.20.20",
      "Unnamed host",
    ]);
    // A lost address does not count as a sighting.
    const [gainer, loser] = await hosts();
    expect(loser?.last_seen_at < gainer?.last_seen_at).toBe(true);
  });

  test("never keeps that address as its name, for random moves of machines with and without names", async () => {
    const random = seededRandom(20_391);
    const machines = Array.from({ length: 12 }, (_, number) => ({
      mac: number % 3 === 0 ? `da:a1:19:00:01:0${number.toString(16)}` : PI(number),
      hostname: number % 4 === 0 ? `m-${number}.example` : undefined,
    }));
    for (let round = 0; round < 12; round += 1) {
      const leases = random.shuffled(machines.map((_, index) => 10 + index));
      const sweep = machines.map(({ mac, hostname }, index) =>
        seen(
          leases[index] as number,
          random.chance(0.2) && round === 0 ? null : mac,
          hostname === undefined ? {} : { hostname },
        ),
      );
      await scan.addresses(...random.shuffled(sweep));
      expect(await misnamed()).toEqual([]);
      await settles(...random.shuffled(round === 0 ? [] : sweep));
    }
  });
});

test("the appliance's own host follows the name of its machine, unless it was named manually", async () => {
  const machine = machineWith({ hostname: "noc-1" });
  await appliance.renew({ machine });
  const self = () => owner.post("discovery/self", { network_id: first.networkId });
  await self();
  machine.hostname = "noc-2";
  tick();
  await self();
  expect(await names()).toEqual(["noc-2"]);
  await put("hosts", { ...(await only()), name: "Inventory" });
  machine.hostname = "noc-3";
  await self();
  expect(await names()).toEqual(["Inventory"]);
});
