// Contradictory devices, indistinguishable devices and manual values: devices stay distinct, manual values are kept,
// and a rescan without changes writes nothing.

import { describe, expect, test } from "bun:test";
import type { LldpAnnouncement, TableReport } from "../../src/discovery/device.ts";
import { ANNOUNCEMENTS_MAX, FORWARDING_MAX } from "../../src/discovery/reconcile/record-interfaces.ts";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { findUnseen } from "../../src/discovery/reconcile/staleness.ts";
import type { DeviceSighting, OpenPort } from "../../src/discovery/sightings.ts";
import { linksOf } from "../../src/discovery/topology/find-links.ts";
import { CHILDREN_MAX } from "../../src/schemas/schemas.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { processorMs } from "../support/measure/processor-time.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, device, deviceAt, ethernet, mac, numbered, seenAt } from "../support/reconcile/sightings.ts";

const DAY_MS = 86_400_000;
const VIRTUAL = "00:00:5e:00:01:0a";

const appliance = applianceForEach();
const { clock, newSubnet, owner, tick } = appliance;
const scan = new ScanWriter(appliance);

const { get, hosts, entries, holders } = inventoryOf(appliance);
const first = async (list: Promise<JsonRecord[]>): Promise<JsonRecord> => (await list)[0] as JsonRecord;
const remove = async (path: string) => {
  expect((await owner.delete(path)).status).toBe(200);
  tick();
};
const resave = async (path: string, record: JsonRecord) => (await owner.put(`${path}/${record.id}`, record)).status;
const versionCount = () =>
  (appliance.reader.db.query("SELECT count(*) AS count FROM history_versions").get() as { count: number }).count;
const writtenBy = async (work: () => Promise<unknown>): Promise<number> => {
  const before = versionCount();
  await work();
  return versionCount() - before;
};
const linkNeighbors = async () => {
  for (const input of linksOf(appliance.reader, appliance.reader.recordN(appliance.first.networkId) as number).find())
    await scan.run("discovery.links", input);
};

const switchAt = (more: object = {}, at = "10.0.0.2") =>
  deviceAt(at, {
    sys_name: "sw-1",
    sys_location: "Rack 4",
    serial_number: "FOC1234X0AB",
    interfaces: [ethernet(1), ethernet(2)],
    addresses: [address("10.0.0.2")],
    ...more,
  });

describe("a manual value", () => {
  test("returns its field to scans when cleared, even if scans have reported other values in between", async () => {
    await scan.devices(switchAt());
    const host = await first(hosts());
    const at = clock.text();
    tick();
    expect(await resave("hosts", { ...host, sys_location: "Basement" })).toBe(200);
    await scan.devices(switchAt({ sys_location: "Rack 9" }));
    expect((await owner.post(`hosts/${host.id}/restore`, { at })).status).toBe(200);
    await scan.devices(switchAt({ sys_location: "Rack 9" }));
    const now = await first(hosts());
    expect(now.sys_location).toBe("Rack 9");
    expect(now.discovered).toBeUndefined();
  });

  test("does not result from a cascade on other records: the neighbor is found again, VLANs follow the device", async () => {
    const neighbor = {
      chassis_id: { subtype: "MacAddress", value: mac(1, 2) },
      port_id: { subtype: "InterfaceName", value: "Gi0/1" },
      sys_name: "sw-2",
    } as const;
    const near = (vlans: number[]) =>
      switchAt({
        interfaces: [ethernet(1, { vlans, lldp: [neighbor] }), ethernet(2)],
        vlans: vlans.map((number) => ({ number, name: null })),
      });
    const far = deviceAt("10.0.0.3", {
      sys_name: "sw-2",
      serial_number: "FOC9999X0ZZ",
      chassis_id: neighbor.chassis_id,
      interfaces: [ethernet(1, { mac_address: mac(1, 2) })],
      addresses: [address("10.0.0.3")],
    });
    await scan.devices(near([10, 20]), far);
    await linkNeighbors();
    const before = (await entries()).find(({ lldp_sys_name }) => lldp_sys_name === "sw-2");
    expect(before?.neighbor).toMatchObject({ type: "IfEntry" });
    await remove(`hosts/${(await hosts()).find(({ name }) => name === "sw-2")?.id}`);
    await remove(`vlans/${(await first(get("vlans?order_by=number"))).id}?cascade=true&ignore=true`);
    await scan.devices(near([10, 20, 30]), far);
    await linkNeighbors();
    const after = (await entries()).find(({ id }) => id === before?.id);
    expect(after?.discovered).toBeUndefined();
    expect(after?.neighbor).toMatchObject({ type: "IfEntry" });
    // VLAN 10 stays removed.
    expect(after?.vlan_ids).toHaveLength(2);
  });

  test("may be a manually created interface, even if the device reuses its number", async () => {
    await scan.devices(switchAt());
    const host = await first(hosts());
    const created = await owner.post("if-entries", { host_id: host.id, if_index: 101, if_descr: "reserved" });
    tick();
    const renumbered = switchAt({ interfaces: [ethernet(1, { if_index: 101, if_alias: "to core" }), ethernet(2)] });
    expect((await scan.devices(renumbered)).result.findings).toContainEqual(
      expect.objectContaining({ type: "Skipped", entity: "if_entry", id: created.data.id, label: "reserved" }),
    );
    expect((await entries()).map((entry) => [entry.if_index, entry.if_name ?? entry.if_descr, entry.if_alias])).toEqual(
      [
        [1, "Gi0/1", "to core"],
        [2, "Gi0/2", undefined],
        [101, "reserved", undefined],
      ],
    );
    expect((await scan.devices(renumbered)).sequence).toBeNull();
  });
});

describe("an ignored record", () => {
  test("stays deleted even if it was entered manually and seen by a scan since", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    await owner.post("vlans", { network_id: appliance.first.networkId, number: 20 });
    await owner.post("hosts", {
      network_id: appliance.first.networkId,
      name: "sw-1",
      ip_addresses: [{ ip_address: "10.0.0.2" }, { ip_address: "10.0.0.9" }],
      ports: [{ number: 161, protocol: "Udp" }],
    });
    const fullReport = switchAt({
      addresses: [address("10.0.0.2"), address("10.0.0.9", 2)],
      interfaces: [ethernet(1, { vlans: [20] }), ethernet(2)],
      vlans: [{ number: 20, name: "voice" }],
    });
    await scan.devices(fullReport);
    const host = await first(hosts());
    await remove(
      `ip-addresses/${host.ip_addresses.find(({ ip_address }: JsonRecord) => ip_address === "10.0.0.9").id}?ignore=true`,
    );
    await remove(`ports/${host.ports[0].id}?ignore=true`);
    await remove(`vlans/${(await first(get("vlans"))).id}?cascade=true&ignore=true`);
    await scan.devices(fullReport);
    const now = await first(hosts());
    expect([addressesOf(now), now.ports, await get("vlans")]).toEqual([["10.0.0.2"], [], []]);
    await remove(`subnets/${(await first(get("subnets"))).id}?cascade=true&ignore=true`);
    await scan.devices(fullReport);
    expect([addressesOf(await first(hosts())), await get("subnets")]).toEqual([[], []]);
  });

  test("does not return in parts as a subnet, and sightings in it create no host without an address", async () => {
    const nameless = deviceAt("10.9.9.9", { sys_descr: "thing" });
    const twoAddresses = switchAt({ addresses: [address("10.0.0.2"), address("10.0.0.9", 2)] });
    await scan.addresses(seenAt("10.9.8.8"));
    await scan.devices(nameless, twoAddresses);
    for (const subnet of await get("subnets")) await remove(`subnets/${subnet.id}?cascade=true&ignore=true`);
    for (let times = 0; times < 3; times += 1) {
      const { result } = await scan.devices(nameless, twoAddresses);
      expect(result.findings).toContainEqual(
        expect.objectContaining({ type: "Ignored", entity: "subnet", label: "10.9.9.9" }),
      );
      await scan.addresses(seenAt("10.9.8.8"));
    }
    expect(await hosts()).toHaveLength(3);
    expect(await get("subnets")).toEqual([]);
  });

  test("is matched by name as an interface: it stays deleted under another number, unlike a successor", async () => {
    const threeInterfaces = [1, 2, 3].map((number) => ethernet(number));
    await scan.devices(switchAt({ interfaces: threeInterfaces }));
    await remove(`if-entries/${(await entries())[1]?.id}?ignore=true`);
    await scan.devices(
      switchAt({ interfaces: threeInterfaces.map((entry) => ({ ...entry, if_index: entry.if_index + 10 })) }),
    );
    expect((await entries()).map(({ if_name }) => if_name)).toEqual(["Gi0/1", "Gi0/3"]);
    const successor = ethernet(2, { if_name: "Te1/1", if_descr: "TenGigabitEthernet1/1" });
    await scan.devices(switchAt({ interfaces: [threeInterfaces[0], successor, threeInterfaces[2]] }));
    expect((await entries()).map(({ if_name }) => if_name)).toEqual(["Gi0/1", "Te1/1", "Gi0/3"]);
  });

  test("is listed as ignored if it is a binding, and returns once no longer ignored", async () => {
    const sighting = seenAt("10.0.0.2", {
      ports: {
        asked: [22],
        open: [{ number: 22, protocol: "Tcp", service: { name: "OpenSSH", service_definition: "ssh" } }],
      },
    });
    await scan.addresses(sighting);
    const service = (await first(hosts())).services[0];
    const [binding] = service.bindings;
    expect((await owner.put(`services/${service.id}`, { ...service, bindings: [] })).status).toBe(200);
    const asked = { entity: "binding", record_id: binding.id };
    expect((await owner.post("discovery/ignored", asked)).status).toBe(200);
    tick();
    await scan.addresses(sighting);
    const [ignored] = await get("discovery/ignored?entity=binding");
    expect([(await first(hosts())).services[0].bindings, ignored?.label]).toEqual([[], "OpenSSH at 22/Tcp"]);
    await remove(`discovery/ignored/${ignored?.id}`);
    await scan.addresses(sighting);
    expect((await first(hosts())).services[0].bindings).toHaveLength(1);
  });
});

describe("an address that a device reports", () => {
  const reporting = switchAt({ addresses: [address("10.0.0.2"), address("10.0.0.9", 2)] });
  const enter = (name: string) =>
    owner.post("hosts", {
      network_id: appliance.first.networkId,
      name,
      serial_number: "ENTERED1",
      ip_addresses: [{ ip_address: "10.0.0.9" }],
    });
  const removeThere = async () => {
    const [{ id }] = (await get("ip-addresses?search=10.0.0.9")) as [JsonRecord];
    await remove(`ip-addresses/${id}`);
  };

  test("stays at the host where a user entered it after deleting it at the device", async () => {
    await scan.devices(reporting);
    await removeThere();
    await enter("printer");
    for (let times = 0; times < 2; times += 1) {
      tick();
      await scan.devices(reporting);
      expect(await holders()).toEqual(["printer 10.0.0.9", "sw-1 10.0.0.2"]);
    }
  });

  test("returns to the device if the person only deleted it, or gave it to a host that has lost it", async () => {
    await scan.devices(reporting);
    await removeThere();
    tick();
    await scan.devices(reporting);
    expect(await holders()).toEqual(["sw-1 10.0.0.2 10.0.0.9"]);
    await removeThere();
    await enter("printer");
    await remove(`hosts/${(await hosts()).find(({ name }) => name === "printer")?.id}`);
    await scan.devices(reporting);
    expect(await holders()).toEqual(["sw-1 10.0.0.2 10.0.0.9"]);
  });

  test("is at both hosts if a user entered it elsewhere and deleted nothing", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    await enter("printer");
    await scan.devices(reporting);
    expect(await holders()).toEqual(["printer 10.0.0.9", "sw-1 10.0.0.2 10.0.0.9"]);
  });
});

describe("devices that report the same identity", () => {
  test("keep their shared address as a pair of routers, regardless of the time between scans", async () => {
    const router = (number: number, at: string) =>
      deviceAt(at, {
        sys_name: `r-${number}`,
        serial_number: `SER${number}00`,
        interfaces: [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: VIRTUAL })],
        addresses: [address(`10.0.0.${number}`), address("10.0.0.1", 2)],
      });
    const scanAll = () => scan.devices(router(2, "10.0.0.1"), router(2, "10.0.0.2"), router(3, "10.0.0.3"));
    await scanAll();
    await scanAll();
    for (let weeks = 0; weeks < 2; weeks += 1) {
      clock.advance(7 * DAY_MS);
      expect(await writtenBy(scanAll)).toBe(0);
    }
  });

  test("are trusted for an address at which they respond, in any order, even after it moves", async () => {
    const moving = (ifIndex: number, at: string) =>
      deviceAt(at, {
        sys_name: "r-1",
        serial_number: "SER100",
        interfaces: [ethernet(1), ethernet(2)],
        addresses: [address("10.0.0.1", 1), address("10.0.0.2", ifIndex)],
      });
    const cloneAt = (at: string) => {
      const { device, ...others } = moving(1, at);
      return { ...others, device: { ...device, addresses: [address(at, 1), address("10.0.0.2", 1)] } };
    };
    const macs = async () => (await first(hosts())).ip_addresses.map(({ mac_address }: JsonRecord) => mac_address);
    await scan.devices(moving(1, "10.0.0.1"), moving(1, "10.0.0.2"));
    expect(await macs()).toEqual([mac(1), mac(1)]);
    await scan.devices(moving(2, "10.0.0.1"), moving(2, "10.0.0.2"));
    expect(await macs()).toEqual([mac(1), mac(2)]);
    // A clone mistaken for the device reports another MAC address for an address at which the clone does not respond.
    await scan.devices(cloneAt("10.0.0.3"), moving(2, "10.0.0.2"), moving(2, "10.0.0.1"));
    expect(await macs()).toEqual([mac(1), mac(2), mac(1)]);
    expect(await writtenBy(() => scan.devices(moving(2, "10.0.0.1"), moving(2, "10.0.0.2"), cloneAt("10.0.0.3")))).toBe(
      0,
    );
  });

  test("are named in the same scan if only the second has a name", async () => {
    const nameless = (more: object, at: string) =>
      deviceAt(at, { serial_number: "SER100", interfaces: [ethernet(1)], ...more });
    await scan.devices(nameless({}, "10.0.0.1"), nameless({ sys_name: "sw-1" }, "10.0.0.2"));
    expect((await hosts()).map((host) => [host.name, host.sys_name])).toEqual([["sw-1", "sw-1"]]);
  });

  test("keep their shared address as cluster members under one name", async () => {
    const member = (number: number, at: string) =>
      deviceAt(at, {
        sys_name: "fw",
        serial_number: `SER${number}00`,
        interfaces: [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: mac(2, number) })],
        addresses: [address(`10.0.0.${number}`), address("10.0.0.1", 2)],
      });
    const scanAll = async () => {
      await scan.devices(member(2, "10.0.0.1"));
      await scan.devices(member(3, "10.0.0.3"));
    };
    await scanAll();
    await scanAll();
    expect(await writtenBy(scanAll)).toBe(0);
    expect((await hosts()).map(addressesOf)).toEqual([
      ["10.0.0.1", "10.0.0.2"],
      ["10.0.0.1", "10.0.0.3"],
    ]);
  });

  test("are two hosts under different names in one scan, despite equal serial numbers and MAC addresses", async () => {
    const duplicate = (number: number) =>
      deviceAt(`10.0.0.${number}`, {
        sys_name: `twin-${number}`,
        sys_object_id: `1.3.6.1.4.1.${number}.1`,
        serial_number: "CLONED1",
        interfaces: [ethernet(1), ethernet(2)],
        addresses: [address(`10.0.0.${number}`)],
      });
    await scan.devices(duplicate(1), duplicate(2));
    expect(await holders()).toEqual(["twin-1 10.0.0.1", "twin-2 10.0.0.2"]);
    expect(await writtenBy(() => scan.devices(duplicate(2), duplicate(1)))).toBe(0);
    expect(await writtenBy(() => scan.devices(duplicate(2)))).toBe(0);
    // Unlike a device renamed between two scans.
    await scan.devices(deviceAt("10.0.0.1", { ...duplicate(1).device, sys_name: "renamed" }));
    expect((await hosts()).map(({ name }) => name)).toEqual(["renamed", "twin-2"]);
  });

  test("are two hosts with different MAC addresses in one scan, despite equal names and serial numbers", async () => {
    const member = (number: number) => numbered(number, { sys_name: "stack", serial_number: "CHASSIS1" });
    await scan.devices(member(1), member(2));
    expect(await hosts()).toHaveLength(2);
    expect(await writtenBy(() => scan.devices(member(2), member(1)))).toBe(0);
  });

  test("stay distinct under one name and inner address if their interfaces could not be read", async () => {
    const failed: TableReport = { state: "failed", problem: "no response within 5 s" };
    const router = (number: number, isComplete = true) =>
      deviceAt(`10.0.0.${number}`, {
        sys_name: "MikroTik",
        sys_location: `site ${number}`,
        ...(isComplete
          ? { interfaces: [ethernet(1, { mac_address: mac(1, number) })] }
          : { tables: { ...device().tables, interfaces: failed } }),
        addresses: [address(`10.0.0.${number}`), address("192.168.88.1")],
      });
    await scan.devices(router(11), router(12));
    expect(await writtenBy(() => scan.devices(router(12, false)))).toBe(0);
    expect(await holders("sys_location")).toEqual(["site 11 10.0.0.11 192.168.88.1", "site 12 10.0.0.12 192.168.88.1"]);
  });

  test("stay distinct if one is a NAT device whose inner address is the other's", async () => {
    await owner.post("subnets", { network_id: appliance.first.networkId, cidr: "192.168.1.0/24" });
    const printer = seenAt("192.168.1.1", { mac_address: mac(77, 7), hostname: "printer" });
    await scan.addresses(printer);
    await scan.devices(numbered(9, { sys_name: "cpe", addresses: [address("192.168.1.1")] }, "10.50.0.1"));
    await scan.addresses(printer);
    expect(await holders()).toEqual(["cpe 10.50.0.1 192.168.1.1", "printer 192.168.1.1"]);
  });

  test("are one host if only their address is known, even one shared by seventy others", async () => {
    const inner = "172.17.0.1";
    await scan.devices(
      ...Array.from({ length: 70 }, (_, index) =>
        numbered(index + 1, { sys_name: `h${index}`, addresses: [address(`10.0.0.${index + 1}`), address(inner)] }),
      ),
    );
    for (let times = 0; times < 3; times += 1) await scan.devices(deviceAt(inner, { sys_descr: "thing" }));
    expect((await owner.get("hosts?limit=1")).body.meta.pagination.total_count).toBe(71);
  });

  test("are processed completely with an unchanged report, even if another has just taken an address", async () => {
    const unchangedDevice = switchAt({ addresses: [address("10.0.0.2"), address("10.0.0.9", 2)] });
    await scan.devices(unchangedDevice);
    const other = numbered(9, { sys_name: "sw-1", serial_number: "OTHER99" });
    await scan.devices(other, unchangedDevice);
    expect(await writtenBy(() => scan.devices(other, unchangedDevice))).toBe(0);
  });

  test("lose their address to the device that responds there, once they have disappeared", async () => {
    const box = (number: number) => {
      const fields = { sys_name: `box-${number}`, serial_number: `SER${number}00`, addresses: [address("10.0.0.5")] };
      return numbered(number, fields, "10.0.0.5");
    };
    await scan.devices(box(1));
    for (let halfDays = 0; halfDays < 6; halfDays += 1) {
      await scan.devices(box(2));
      // From a scanner that sees no MAC addresses.
      await scan.addresses(seenAt("10.0.0.5"));
      clock.advance(DAY_MS / 2);
    }
    expect(await holders()).toEqual(["box-1", "box-2 10.0.0.5"]);
  });
});

describe("data about one machine from several sources", () => {
  test("yields one manufacturer for any probed address, and none for a virtual router", async () => {
    const pcAt = (at: string, seen: string) =>
      deviceAt(
        at,
        {
          sys_name: "pc",
          interfaces: [
            ethernet(1, { mac_address: "00:1b:21:00:00:01" }),
            ethernet(2, { mac_address: "00:0c:29:00:00:02" }),
          ],
          addresses: [address("10.0.0.2"), address("10.0.1.2", 2)],
        },
        { mac_address: seen },
      );
    const scanBoth = async () => {
      await scan.devices(pcAt("10.0.0.2", "00:1b:21:00:00:01"));
      await scan.devices(pcAt("10.0.1.2", "00:0c:29:00:00:02"));
    };
    await scanBoth();
    expect(await writtenBy(scanBoth)).toBe(0);
    await scan.devices(deviceAt("10.0.0.1", { sys_name: "r-1" }, { mac_address: VIRTUAL }));
    expect((await hosts()).map(({ manufacturer }) => manufacturer)).toEqual(["Intel Corporate", null]);
  });

  test("shows a neighbor of another device next to a host that has just responded, and overrides nothing", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    const scanAll = async () => {
      const seen = [seenAt("10.0.0.6", { mac_address: mac(6, 6) }), seenAt("10.0.0.7", { mac_address: mac(7, 7) })];
      const learned = [seenAt("10.0.0.6", { mac_address: mac(7, 7) }), seenAt("10.0.0.7", { mac_address: mac(8, 8) })];
      await scan.addresses(...seen, ...learned.map((neighbor) => ({ ...neighbor, answered: [] })));
    };
    await scanAll();
    expect((await hosts()).map(addressesOf)).toEqual([["10.0.0.6"], ["10.0.0.6", "10.0.0.7"], ["10.0.0.7"]]);
    expect(await writtenBy(scanAll)).toBe(0);
  });

  test("tracks a service on two ports by each port's response", async () => {
    const httpSighting = (...names: string[]) =>
      seenAt("10.0.0.2", {
        ports: {
          asked: [80, 443],
          open: names.map(
            (name, index): OpenPort => ({
              number: index === 0 ? 80 : 443,
              protocol: "Tcp",
              service: { name, service_definition: "http" },
            }),
          ),
        },
      });
    const services = async () =>
      (await first(hosts())).services.map((service: JsonRecord) => [service.name, service.bindings.length]).sort();
    await scan.addresses(httpSighting("nginx", "nginx"));
    await scan.addresses(httpSighting("nginx: Welcome", "nginx"));
    expect(await services()).toEqual([
      ["nginx", 1],
      ["nginx: Welcome", 1],
    ]);
    expect((await scan.addresses(httpSighting("nginx: Welcome", "nginx"))).sequence).toBeNull();
    await scan.addresses(httpSighting("nginx: Welcome", "nginx: Welcome"));
    expect(await services()).toEqual([["nginx: Welcome", 2]]);
    // Both at once: the same service under another name.
    const before = (await first(hosts())).services[0].id;
    await scan.addresses(httpSighting("Caddy", "Caddy"));
    expect(await services()).toEqual([["Caddy", 2]]);
    expect((await first(hosts())).services[0].id).toBe(before);
  });

  test("lets a manually entered host seen by scans become stale", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    await owner.post("hosts", {
      network_id: appliance.first.networkId,
      name: "entered",
      ip_addresses: [{ ip_address: "10.0.0.2" }],
    });
    await scan.addresses(seenAt("10.0.0.2"));
    clock.advance(DAY_MS);
    const unseen = [
      ...findUnseen(appliance.reader.db, appliance.reader.recordN(appliance.first.networkId) as number, clock.now()),
    ];
    expect(unseen.map(({ entity }) => entity)).toEqual(["host", "ip_address"]);
  });
});

describe("invalid names", () => {
  test("are sanitized", async () => {
    await newSubnet({ cidr: "10.0.0.0/24" });
    await scan.addresses(seenAt("10.0.0.2"));
    await scan.devices(
      switchAt({
        sys_name: "\u200b",
        interfaces: [ethernet(1, { if_name: "x".repeat(4_000) })],
        vlans: [
          { number: 5, name: "a\u2028b" },
          { number: 6, name: "\u200b" },
        ],
      }),
      deviceAt("10.0.0.3", {
        sys_name: `${"a".repeat(254)}😀`,
        serial_number: "SER3",
        interfaces: [ethernet(1, { mac_address: mac(1, 3), if_name: `${"b".repeat(254)}😀` })],
        addresses: [address("10.0.0.3")],
        vlans: [{ number: 7, name: `${"c".repeat(254)}😀` }],
      }),
    );
    const names: string[] = [];
    for (const host of await hosts()) {
      expect(await resave("hosts", host)).toBe(200);
      names.push(host.name, ...host.ip_addresses.map(({ name }: JsonRecord) => name));
    }
    for (const vlan of await get("vlans")) {
      expect(await resave("vlans", vlan)).toBe(200);
      names.push(vlan.name);
    }
    expect(names.every((name) => name.isWellFormed() && name.length <= 255)).toBe(true);
    expect(names).toContain("VLAN 6");
  });
});

describe("devices beyond the limits", () => {
  test("keep 10,000 interfaces and addresses, and report the rest", async () => {
    const count = CHILDREN_MAX + 500;
    const huge = deviceAt("10.0.0.2", {
      sys_name: "huge",
      interfaces: Array.from({ length: count }, (_, number) => ({ if_index: number + 1 })),
      addresses: Array.from({ length: count }, (_, number) =>
        address(`10.${number >> 8}.${number & 255}.2`, number + 1),
      ),
    });
    const { result } = await scan.devices(huge);
    expect(result.records).toMatchObject({
      if_entries: { created: CHILDREN_MAX },
      ip_addresses: { created: CHILDREN_MAX },
    });
    for (const kind of ["if_entries", "ip_addresses"])
      expect(result.findings).toContainEqual(
        expect.objectContaining({
          type: "Partial",
          label: `huge: ${kind}`,
          reason: `500 were left out: the limit is ${CHILDREN_MAX}`,
        }),
      );
    const { digest: _digest, ...repeated } = huge;
    expect((await scan.run("discovery.devices", { sightings: [repeated] })).sequence).toBeNull();
  });

  test("keep as many forwarding entries and neighbors as one transaction can write", async () => {
    const announced = Array.from(
      { length: ANNOUNCEMENTS_MAX + 5 },
      (_, number): LldpAnnouncement => ({ port_id: { subtype: "LocallyAssigned", value: String(number) } }),
    );
    const forwarding = Array.from({ length: FORWARDING_MAX + 5 }, (_, number) => ({
      mac_address: mac(number & 255, number >> 8),
      vlan_number: 1,
    }));
    const { result } = await scan.devices(
      switchAt({
        interfaces: [ethernet(1, { forwarding }), ethernet(2, { lldp: announced, forwarding: forwarding.slice(0, 3) })],
      }),
    );
    expect(result.records).toMatchObject({ fdb_entries: { created: FORWARDING_MAX } });
    expect(
      result.findings
        .filter(({ type }) => type === "Partial")
        .map(({ label, reason }) => [label, reason.split(" ")[0]]),
    ).toEqual([
      ["sw-1: fdb_entries", "8"],
      ["sw-1: neighbors", "5"],
    ]);
    expect((await entries())[1]?.more_neighbors).toHaveLength(ANNOUNCEMENTS_MAX - 1);
  });

  test("keep thousands of addresses, each named by other devices' tables, quickly", async () => {
    const count = 3_000;
    const many = Array.from({ length: count }, (_, number) =>
      address(`10.1.${number >> 8}.${number & 255}`, 1 + (number % 200)),
    );
    await scan.devices(
      deviceAt("10.1.0.0", {
        sys_name: "balancer",
        interfaces: Array.from({ length: 200 }, (_, number) => ethernet(number + 1)),
        addresses: many,
      }),
    );
    const tookMs = await processorMs(async () => {
      for (let start = 0; start < count; start += 500)
        await scan.addresses(
          ...many
            .slice(start, start + 500)
            .map((address) => seenAt(address.ip_address, { mac_address: mac(address.if_index), answered: [] })),
        );
    });
    // Individual checks against all fields of the host would take half a minute.
    expect(tookMs).toBeLessThan(8_000);
  });
});

describe("contradictory networks", () => {
  /** Faults of some machines, individually and combined. */
  const faults = [
    ["virtual address"],
    ["inner address"],
    ["one MAC address"],
    ["one name"],
    ["no name"],
    ["one serial number"],
    ["proxy"],
    ["one MAC address", "one name", "one serial number"],
    ["no name", "one serial number", "virtual address"],
  ] as const;

  for (const fault of faults) {
    test(`settle immediately: ${fault.join(", ")}`, async () => {
      const has = (part: string) => (fault as readonly string[]).includes(part);
      for (let seed = 1; seed <= 3; seed += 1) {
        await appliance.renew();
        await newSubnet({ cidr: "10.0.0.0/24" });
        const machines = Array.from({ length: 10 }, (_, number) => {
          const isFaulty = (number * 7 + seed) % 3 !== 0;
          const macs = [
            has("one MAC address") && isFaulty ? mac(1, 1) : mac(0, number + 20),
            has("virtual address") && isFaulty ? VIRTUAL : mac(1, number + 20),
          ];
          const inner = isFaulty
            ? [...(has("inner address") ? ["192.168.1.1"] : []), ...(has("virtual address") ? ["10.0.0.250"] : [])]
            : [];
          return {
            at: `10.0.0.${number + 1}`,
            number,
            isFaulty,
            macs,
            inner,
            seen: (number + seed) % 2 === 0 ? null : has("proxy") && isFaulty ? mac(0, 99) : (macs[0] as string),
          };
        });
        const devices: DeviceSighting[] = machines.slice(0, 6).map(({ at, number, isFaulty, macs, inner, seen }) =>
          deviceAt(
            at,
            {
              ...(has("no name") && isFaulty
                ? {}
                : { sys_name: has("one name") && isFaulty ? "switch-x" : `n-${number}` }),
              ...(has("one serial number") && isFaulty
                ? { serial_number: "SAME-SERIAL" }
                : number % 2 === 0
                  ? { serial_number: `SER-${number}` }
                  : {}),
              interfaces: macs.map((mac_address, index) => ethernet(index + 1, { mac_address })),
              addresses: [at, ...inner].map((ip_address, index) => address(ip_address, 1 + (index % 2))),
            },
            { mac_address: seen },
          ),
        );
        const sweep = machines.map(({ at, seen }) => seenAt(at, { mac_address: seen }));
        const learned = machines.map(({ at, macs }) => seenAt(at, { mac_address: macs[0] as string, answered: [] }));
        // In one scan, in command order.
        const scanInOrder = (isReversed: boolean) => {
          const order = <T>(items: readonly T[]): T[] => (isReversed ? items.toReversed() : [...items]);
          return scan.runAll([
            [
              "discovery.devices",
              { sightings: order(devices).map((sighting) => ({ ...sighting, digest: digestOf(sighting) })) },
            ],
            ["discovery.addresses", { sightings: order(sweep) }],
            ["discovery.addresses", { sightings: learned }],
          ]);
        };
        await scanInOrder(false);
        const written = [
          await writtenBy(() => scanInOrder(false)),
          await writtenBy(() => scanInOrder(true)),
          await writtenBy(() => scanInOrder(false)),
        ];
        expect({ seed, written }).toEqual({ seed, written: [0, 0, 0] });
      }
    });
  }
});
