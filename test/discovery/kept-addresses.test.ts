// Addresses that users edited or refer to and that move to another machine: manual data is kept and becomes stale, and
// the other machine gets the address.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { get, hosts } = inventoryOf(appliance);

const AT = "10.0.0.9";
const laptop = (number: number, at = AT) => seenAt(at, { mac_address: mac(1, number), hostname: `laptop-${number}` });
const replaced = (number: number) =>
  deviceAt(AT, {
    sys_name: "sw-1",
    serial_number: `SERIAL-${number}`,
    components: [{ class: "Chassis", position: 1, manufacturer: null, model: null, serial_number: `SERIAL-${number}` }],
    interfaces: [ethernet(1, { mac_address: mac(1, number) })],
    addresses: [address(AT)],
  });

/** Addresses of all hosts, by name of the host, with the names of addresses and whether they are stale. */
async function present(): Promise<string[]> {
  const lines = (await hosts()).flatMap((host) =>
    host.ip_addresses.map((each: JsonRecord) =>
      [
        host.serial_number ?? host.name,
        each.ip_address,
        each.name,
        ...(each.stale_since === undefined ? [] : ["stale"]),
      ]
        .filter((word) => word !== "")
        .join(" "),
    ),
  );
  return lines.sort();
}

async function only(at = AT): Promise<JsonRecord> {
  const found = ((await get(`ip-addresses?search=${at}`)) as JsonRecord[]).filter(
    ({ ip_address }) => ip_address === at,
  );
  expect(found).toHaveLength(1);
  return found[0] as JsonRecord;
}

async function write(fields: JsonRecord): Promise<JsonRecord> {
  const before = await only();
  appliance.tick();
  expect((await appliance.owner.put(`ip-addresses/${before.id}`, { ...before, ...fields })).status).toBe(200);
  appliance.tick();
  return before;
}

/** Nothing is in conflict, and an unchanged scan writes nothing. */
async function expectSettled(rescan: () => Promise<{ readonly sequence: number | null }>): Promise<void> {
  expect((await rescan()).sequence).toBeNull();
  expect(await get("conflicts")).toEqual([]);
}

describe("an address that a user named", () => {
  test("stays as stale when a lease moves it to another machine, and becomes current when it returns", async () => {
    await scan.addresses(laptop(1));
    const { id } = await write({ name: "reception" });
    await scan.addresses(laptop(1, "10.0.0.8"), laptop(2));
    expect(await present()).toEqual(["laptop-1 10.0.0.8", "laptop-1 10.0.0.9 reception stale", "laptop-2 10.0.0.9"]);
    await expectSettled(() => scan.addresses(laptop(1, "10.0.0.8"), laptop(2)));
    await scan.addresses(laptop(2, "10.0.0.7"), laptop(1));
    expect(await present()).toEqual(["laptop-1 10.0.0.8", "laptop-1 10.0.0.9 reception", "laptop-2 10.0.0.7"]);
    expect((await only()).id).toBe(id);
  });

  test("stays at replaced hardware, and its successor responds there from then on", async () => {
    await scan.devices(replaced(1));
    await write({ name: "uplink" });
    const { result } = await scan.devices(replaced(2));
    expect(await present()).toEqual(["SERIAL-1 10.0.0.9 uplink stale", "SERIAL-2 10.0.0.9 Gi0/1"]);
    expect(result.findings).toContainEqual(
      expect.objectContaining({
        type: "Skipped",
        reason: "is now at sw-1; it also remains at sw-1, where a user edited or refers to it",
      }),
    );
    await expectSettled(() => scan.devices(replaced(2)));
  });

  test("is not a sign of the machine that had it", async () => {
    await scan.addresses(laptop(1));
    await write({ name: "reception" });
    await scan.addresses(laptop(1, "10.0.0.8"), laptop(2));
    await scan.addresses(seenAt(AT));
    const found = (await hosts()).map(({ name, last_seen_at }) => [name, last_seen_at]);
    expect(found.sort()[1]?.[1] > found.sort()[0]?.[1]).toBe(true);
  });
});

describe("an address of another kind that users wrote", () => {
  test("stays with the MAC address that a user set", async () => {
    await scan.devices(replaced(1));
    await write({ mac_address: mac(7, 7) });
    await scan.devices(replaced(2));
    expect((await hosts()).map(({ ip_addresses: [each] }) => each?.mac_address)).toEqual([mac(7, 7), mac(1, 2)]);
  });

  test("stays if a user bound a service to it, and ends otherwise", async () => {
    await scan.devices(replaced(1));
    const before = await only();
    const [host] = (await hosts()) as [JsonRecord];
    const port = host.ports[0] as JsonRecord;
    const services = [
      ...host.services,
      {
        name: "ours",
        service_definition: "ssh",
        bindings: [{ type: "Port", port_id: port.id, ip_address_id: before.id }],
      },
    ];
    expect((await appliance.owner.put(`hosts/${host.id}`, { ...host, services })).status).toBe(200);
    appliance.tick();
    await scan.devices(replaced(2));
    expect(await present()).toEqual(["SERIAL-1 10.0.0.9 Gi0/1 stale", "SERIAL-2 10.0.0.9 Gi0/1"]);
    await scan.devices(replaced(3));
    expect(await present()).toEqual(["SERIAL-1 10.0.0.9 Gi0/1 stale", "SERIAL-3 10.0.0.9 Gi0/1"]);
  });
});
