// Last place of machines that are at no port: in locate, search, hosts and subnets, now and in the past.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { ScanWriter, scanActor } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, seenAt } from "../support/reconcile/sightings.ts";

const appliance = applianceForEach();
const { owner, newSubnet } = appliance;
const scan = new ScanWriter(appliance);

const LAPTOP = mac(7, 9);
const IP = "10.0.0.7";
let subnet: JsonRecord;

/** @param ports MAC addresses by port */
const access = (ports: readonly (readonly string[])[], name = "acc-admin-1", fields: Partial<Device> = {}) => {
  const number = name.at(-1);
  return deviceAt(`10.0.0.${number}`, {
    sys_name: name,
    serial_number: `SER${number}`,
    interfaces: ports.map((macs, index) =>
      ethernet(index + 1, {
        mac_address: mac(index + 1, 20 + Number(number)),
        forwarding: macs.map((mac_address) => ({ mac_address, vlan_number: 1 })),
      }),
    ),
    addresses: [address(`10.0.0.${number}`)],
    ...fields,
  });
};
const locate = (query: string) => expectOk(owner.get(`locate?${query}`));
const list = async (path: string) => (await expectOk(owner.get(path))) as unknown as JsonRecord[];
const hostOf = async (ip: string) => (await list(`ip-addresses?filter=ip_address = "${ip}"`))[0]?.host_id;
const until = async (sequence: number | null) =>
  (await list(`transactions?limit=0`)).find((each) => each.sequence === sequence)?.at;

beforeEach(async () => {
  subnet = await newSubnet({ cidr: "10.0.0.0/28" });
  await scan.devices(access([[], [LAPTOP]]));
  await scan.addresses(seenAt(IP, { mac_address: LAPTOP }));
});

describe("the last place of a machine that is off", () => {
  test("is in locate, search, its host and its subnet, and is null while it is there", async () => {
    const place = async () => ({
      locate: (await locate(`mac=${LAPTOP}`)).last_seen,
      ip: (await locate(`ip=${IP}`)).last_seen,
      search: (await list(`search?q=${IP}`)).map(({ type, last_seen }) => [type, last_seen]),
      host: (await expectOk(owner.get(`hosts/${await hostOf(IP)}`))).last_seen ?? null,
      subnet: (await list(`subnets/${subnet.id}/addresses?limit=0`))[7]?.ip_addresses[0].last_seen,
    });
    const there = await place();
    expect(there).toMatchObject({ locate: null, ip: null, host: null, subnet: null });
    expect(there.search.map(([, seen]) => seen)).toEqual(there.search.map(() => null));
    appliance.clock.advance(60_000);
    const before = appliance.clock.text();
    const { sequence } = await scan.devices(access([[], []]));
    const [device] = await list('hosts?filter=name = "acc-admin-1"');
    const port = device?.interfaces[1];
    const last = {
      switch: { id: device?.id, name: "acc-admin-1" },
      port: { id: port.id, name: "Gi0/2" },
      until: await until(sequence),
    };
    const gone = await place();
    expect(gone).toMatchObject({ locate: last, ip: last, host: last, subnet: last });
    expect(gone.search).toContainEqual(["ip_address", last]);
    expect((await locate(`mac=${LAPTOP}`)).explanation).toEndWith(
      `It was last seen at Gi0/2 of acc-admin-1 until ${`${last.until}`.slice(0, 16).replace("T", " ")} UTC.`,
    );
    expect((await locate(`mac=${LAPTOP}&at=${before}`)).last_seen).toBeNull();
    const host = await expectOk(owner.get(`hosts/${await hostOf(IP)}?at=${before}`));
    expect(host.last_seen).toBeUndefined();
  });

  test("stays after its host and address were deleted, by its MAC address and its address", async () => {
    await scan.devices(access([[], []]));
    await expectOk(owner.delete(`hosts/${await hostOf(IP)}`));
    for (const query of [`mac=${LAPTOP}`, `ip=${IP}`])
      expect(await locate(query)).toMatchObject({ candidates: [], last_seen: { port: { name: "Gi0/2" } } });
    const [found] = await list(`search?q=${LAPTOP}&types=host`);
    expect(found ?? { last_seen: { port: { name: "Gi0/2" } } }).toMatchObject({
      last_seen: { port: { name: "Gi0/2" } },
    });
  });

  test("is found by the name of its host after that ended, by a short name and by its last address", async () => {
    const host = await expectOk(owner.get(`hosts/${await hostOf(IP)}`));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "laptop-7.lab.example" }));
    appliance.tick();
    const before = appliance.clock.text();
    appliance.tick();
    await expectOk(owner.delete(`hosts/${host.id}`));
    // The machine is still there, under no name.
    expect(await locate("hostname=laptop-7")).toMatchObject({ candidates: [], last_seen: null });
    await scan.devices(access([[], []]));
    for (const query of ["hostname=LAPTOP-7.lab.example", "hostname=laptop-7", `ip=${IP}`])
      expect(await locate(query)).toMatchObject({
        candidates: [],
        last_seen: { switch: { name: "acc-admin-1" }, port: { name: "Gi0/2" } },
      });
    expect((await locate("hostname=laptop-7")).explanation).toStartWith(
      "laptop-7 is unknown. It was last seen at Gi0/2",
    );
    for (const other of ["laptop", "laptop-77", "lab.example"])
      expect((await locate(`hostname=${other}`)).last_seen).toBeNull();
    expect(await locate(`hostname=laptop-7&at=${before}`)).toMatchObject({ last_seen: null });
  });

  test("is found by an address that a user entered, after its host ended", async () => {
    const camera = mac(8, 9);
    const entered = await appliance.newHost({
      name: "camera-8",
      ip_addresses: [{ ip_address: "10.0.0.8", mac_address: camera }],
    });
    await scan.devices(access([[camera], []]));
    await scan.devices(access([[], []]));
    await expectOk(owner.delete(`hosts/${entered.id}`));
    const place = { candidates: [], last_seen: { port: { name: "Gi0/1" } } };
    for (const query of ["ip=10.0.0.8", "hostname=camera-8", `mac=${camera}`])
      expect(await locate(query)).toMatchObject(place);
  });

  test("of a former address is none while the machine is elsewhere under another one", async () => {
    await scan.addresses(seenAt("10.0.0.9", { mac_address: LAPTOP }));
    await expectOk(owner.delete(`hosts/${await hostOf(IP)}`));
    await scan.devices(access([[LAPTOP], []]));
    expect(await locate(`ip=${IP}`)).toMatchObject({ candidates: [], last_seen: null });
  });

  test("of a host whose addresses ended before it is that of its last addresses", async () => {
    const host = await expectOk(owner.get(`hosts/${await hostOf(IP)}`));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "laptop-7" }));
    await scan.devices(access([[], []]));
    await expectOk(owner.delete(`ip-addresses/${host.ip_addresses[0].id}`));
    appliance.tick();
    expect((await locate("hostname=laptop-7")).last_seen).toMatchObject({ port: { name: "Gi0/2" } });
    expect((await expectOk(owner.get(`hosts/${host.id}`))).last_seen).toMatchObject({ port: { name: "Gi0/2" } });
    await expectOk(owner.delete(`hosts/${host.id}`));
    expect(await locate("hostname=laptop-7")).toMatchObject({
      candidates: [],
      last_seen: { port: { name: "Gi0/2" } },
    });
  });

  test("is out of reach like its host was", async () => {
    const host = await expectOk(owner.get(`hosts/${await hostOf(IP)}`));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "laptop-7" }));
    await scan.devices(access([[], []]));
    await expectOk(owner.delete(`hosts/${host.id}`));
    const { id: elsewhere } = await appliance.newNetwork();
    const viewer = (await appliance.newUser({ role: "Viewer", networkIds: [elsewhere] })).client;
    for (const query of ["hostname=laptop-7", `ip=${IP}`])
      expect(await expectOk(viewer.get(`locate?${query}`))).toMatchObject({ candidates: [], last_seen: null });
  });

  test.each([
    ["a Viewer of its network", true],
    ["an Owner who asks for its network", false],
  ])("is that in one network, however many others have the name and the address, for %s", async (_who, isLimited) => {
    const { networkId } = appliance.first;
    const host = await expectOk(owner.get(`hosts/${await hostOf(IP)}`));
    await expectOk(owner.put(`hosts/${host.id}`, { ...host, name: "laptop-7" }));
    await scan.devices(access([[], []]));
    await expectOk(owner.delete(`hosts/${host.id}`));
    const { id: network_id } = await appliance.newNetwork();
    await newSubnet({ network_id, cidr: "10.0.0.0/28" });
    for (let times = 0; times < 51; times += 1) {
      const { id } = await appliance.newHost({ name: "laptop-7", network_id });
      await expectOk(owner.delete(`hosts/${id}`));
    }
    const elsewhere = (command: "discovery.devices" | "discovery.addresses", ...sightings: object[]) => {
      appliance.tick();
      const bytes = new TextEncoder().encode(JSON.stringify({ scan_id: scan.scanId, network_id, sightings }));
      const author = { ...scanActor(appliance, scan.scanId), networkIds: [network_id] };
      return appliance.writes.run(command, { bytes }, author);
    };
    for (const number of [1, 2, 3, 4])
      await elsewhere("discovery.addresses", seenAt(IP, { mac_address: mac(number, 80) }));
    await elsewhere("discovery.devices", access([[mac(4, 80)]], "acc-other-3"));
    const client = isLimited ? (await appliance.newUser({ role: "Viewer", networkIds: [networkId] })).client : owner;
    for (const query of [`ip=${IP}`, "hostname=laptop-7"])
      expect(await expectOk(client.get(`locate?${query}${isLimited ? "" : `&network_id=${networkId}`}`))).toMatchObject(
        { candidates: [], last_seen: { port: { name: "Gi0/2" } } },
      );
  });

  test("is the newest one, at an edge port rather than an uplink, with the present name of the switch", async () => {
    const others = Array.from({ length: 12 }, (_, n) => mac(n, 50));
    await scan.devices(access([[LAPTOP, ...others]], "acc-admin-2"));
    await scan.devices(access([[], [], [LAPTOP]]));
    await scan.devices(access([[], [], []]), access([others], "acc-admin-2"));
    const [device] = await list('hosts?filter=name = "acc-admin-1"');
    await expectOk(owner.put(`hosts/${device?.id}`, { ...device, name: "acc-attic-1" }));
    expect((await locate(`mac=${LAPTOP}`)).last_seen).toMatchObject({
      switch: { name: "acc-attic-1" },
      port: { name: "Gi0/3" },
    });
  });

  test("is the port of an access point, however many stations it has", async () => {
    const guests = Array.from({ length: 8 }, (_, n) => mac(n, 50));
    const lldp = [{ sys_name: "ap-1", capabilities: ["Bridge", "WlanAccessPoint"] as const }];
    const { device, ...sighting } = access([[], [], [LAPTOP, ...guests]]);
    const [first, second, third] = device.interfaces ?? [];
    const interfaces = [first, second, { ...third, lldp }] as NonNullable<Device["interfaces"]>;
    await scan.devices({ ...sighting, device: { ...device, interfaces } });
    await scan.devices(access([[], [], guests]));
    expect((await locate(`mac=${LAPTOP}`)).last_seen).toMatchObject({ port: { name: "Gi0/3" } });
  });

  test("is shown although an uplink still has the MAC address", async () => {
    const core = access([[LAPTOP]], "acc-admin-2");
    const [port] = core.device.interfaces ?? [];
    const chassis_id = { subtype: "MacAddress", value: mac(1, 60) } as const;
    const lldp = [{ chassis_id, sys_name: "elsewhere", capabilities: ["Bridge", "Router"] as const }];
    await scan.devices({ ...core, device: { ...core.device, interfaces: [{ ...port, if_index: 1, lldp }] } });
    await scan.devices(access([[], []]));
    const { candidates, last_seen } = await locate(`mac=${LAPTOP}`);
    expect([candidates[0].port.role, last_seen.port.name]).toEqual(["Uplink", "Gi0/2"]);
  });
});

test("a switch, which is at no port itself, has no last place", async () => {
  const [device] = await list('hosts?filter=name = "acc-admin-1"');
  expect((await expectOk(owner.get(`hosts/${device?.id}`))).last_seen).toBeUndefined();
  expect((await list("search?q=acc-admin-1"))[0]).toMatchObject({ type: "host", last_seen: null });
});
