// Host identity across scans: devices that share a network card, an address or a name stay distinct, and a stack stays
// one host as long as one of its members remains.

import { describe, expect, spyOn, test } from "bun:test";
import type { Device } from "../../src/discovery/device.ts";
import { countsAt } from "../../src/discovery/reconcile/sign-counts.ts";
import type { DeviceSighting } from "../../src/discovery/sightings.ts";
import { endedHostsWith } from "../../src/resources/ignored/ended-hosts.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { addressesOf, inventoryOf } from "../support/reconcile/inventory.ts";
import { ScanWriter } from "../support/reconcile/scan-writer.ts";
import { address, deviceAt, ethernet, mac, numbered, seenAt } from "../support/reconcile/sightings.ts";
import { planOf } from "../support/store/prepared-statements.ts";

const appliance = applianceForEach();
const scan = new ScanWriter(appliance);
const { get, hosts, holders } = inventoryOf(appliance);

const NAT_CARD = { mac_address: "08:00:27:5d:3c:01" };
const HOST_ONLY_CARD = { mac_address: "08:00:27:5d:3c:02" };
const clusterMac = (port: number) => `00:09:0f:09:00:0${port}`;

/** Reads each device in a separate scan, repeatedly; expects them to be distinct hosts that keep their names. */
async function expectDistinct(devices: readonly DeviceSighting[]): Promise<void> {
  for (let times = 0; times < 3; times += 1)
    for (const sighting of devices) {
      await scan.devices(sighting);
      const present = new Set((await hosts()).map(({ sys_name }) => sys_name));
      expect(present.has(sighting.device.sys_name)).toBe(true);
    }
  expect((await hosts()).map(({ sys_name }) => sys_name)).toEqual(devices.map(({ device }) => device.sys_name));
  const created = appliance.reader.db.query("SELECT count(*) AS count FROM history_records WHERE kind = 7").get();
  expect(created).toEqual({ count: devices.length });
}

/** A virtual machine with a separate network card in addition. */
function virtualMachine(number: number, cards: ReadonlyArray<readonly [card: object, address: string]>) {
  return deviceAt(`10.0.0.${number}`, {
    sys_name: `vm-${number}`,
    interfaces: [
      ...cards.map(([card], index) => ethernet(index + 1, card)),
      ethernet(9, { mac_address: mac(1, number) }),
    ],
    addresses: [...cards.map(([, ip], index) => address(ip, index + 1)), address(`10.0.0.${number}`, 9)],
  });
}

/** A member of a cluster whose ports have the cluster's MAC addresses, except for one management port. */
function firewall(number: number, fields: Partial<Device> = {}) {
  const ports = [1, 2, 3, 4, 5];
  return deviceAt(`10.0.0.${number}`, {
    sys_name: `fw-${number}`,
    interfaces: [
      ...ports.map((port) => ethernet(port, { mac_address: clusterMac(port) })),
      ethernet(9, { mac_address: mac(1, number) }),
    ],
    addresses: [...ports.map((port) => address(`10.${port}.0.1`, port)), address(`10.0.0.${number}`, 9)],
    ...fields,
  });
}

describe("devices that share a network card", () => {
  test("stay distinct as virtual machines behind one NAT, and a third one does not take the first", () =>
    expectDistinct([2, 3, 4].map((number) => virtualMachine(number, [[NAT_CARD, "10.0.2.15"]]))));

  test("stay distinct as virtual machines with two host-only network cards in common", () =>
    expectDistinct(
      [2, 3, 4].map((number) =>
        virtualMachine(number, [
          [NAT_CARD, "10.0.2.15"],
          [HOST_ONLY_CARD, "192.168.56.10"],
        ]),
      ),
    ));

  test("stay distinct if they have no other network card, and respond through the ports of a NAT device", () =>
    expectDistinct(
      [2, 3, 4].map((number) =>
        deviceAt(`10.0.0.${number}`, {
          sys_name: `vm-${number}`,
          interfaces: [ethernet(1, NAT_CARD)],
          addresses: [address("10.0.2.15")],
        }),
      ),
    ));

  test("stay distinct as the members of a firewall cluster", () =>
    expectDistinct([2, 3].map((each) => firewall(each))));

  test("stay distinct as members of a firewall cluster with a common serial number and management card", () =>
    expectDistinct(
      [2, 3, 4].map((number) =>
        firewall(number, {
          serial_number: `FW0000${number}`,
          components: [chassis(1, `FW0000${number}`)],
          interfaces: [1, 2, 3, 4, 5, 9].map((port) => ethernet(port, { mac_address: clusterMac(port) })),
        }),
      ),
    ));

  test("stay distinct as clones of one image under one name", async () => {
    const clone = (number: number) => {
      const { device, ...others } = virtualMachine(number, [[NAT_CARD, "10.0.2.15"]]);
      return { ...others, device: { ...device, sys_name: "image", sys_location: `rack ${number}` } };
    };
    for (let times = 0; times < 2; times += 1) for (const number of [2, 3, 4]) await scan.devices(clone(number));
    expect((await holders("sys_location")).sort()).toEqual([
      "rack 2 10.0.0.2 10.0.2.15",
      "rack 3 10.0.0.3 10.0.2.15",
      "rack 4 10.0.0.4 10.0.2.15",
    ]);
  });

  test("are one host if the other network card was replaced, or the machine was renamed", async () => {
    const [before] = [virtualMachine(2, [[NAT_CARD, "10.0.2.15"]])];
    const { device } = before;
    await scan.devices(before);
    const replaced = { ...device, interfaces: [ethernet(1, NAT_CARD), ethernet(9, { mac_address: mac(1, 77) })] };
    await scan.devices({ ...before, device: replaced });
    await scan.devices({ ...before, device: { ...replaced, sys_name: "renamed" } });
    expect(await holders()).toEqual(["renamed 10.0.0.2 10.0.2.15"]);
  });
});

/** A stack member, by its number. */
interface Member {
  readonly position: number;
  readonly serial: string;
}

function chassis(position: number, serial_number: string) {
  return { class: "StackMember", position, manufacturer: null, model: null, serial_number } as const;
}

/** A stack with the serial number and the MAC addresses of its first member. */
function stack(members: readonly Member[], fields: Partial<Device> = {}) {
  const [first] = members as readonly [Member];
  const base = mac(1, Number(first.serial.slice(-2)));
  return deviceAt("10.0.0.2", {
    sys_name: "stack-1",
    serial_number: first.serial,
    components: members.map(({ position, serial }) => chassis(position, serial)),
    chassis_id: { subtype: "MacAddress", value: base },
    bridge_address: base,
    interfaces: [ethernet(1, { mac_address: base }), ethernet(2, { mac_address: base })],
    addresses: [address("10.0.0.2")],
    ...fields,
  });
}

describe("a stack", () => {
  const [a, b, c] = ["SERIAL-11", "SERIAL-22", "SERIAL-33"] as const;
  const whole = [
    { position: 1, serial: a },
    { position: 2, serial: b },
  ];

  test.each([
    ["its first member fails", [{ position: 2, serial: b }]],
    [
      "a new unit becomes its first member",
      [
        { position: 1, serial: c },
        { position: 2, serial: b },
      ],
    ],
    [
      "two chassis swap roles",
      [
        { position: 1, serial: b },
        { position: 2, serial: a },
      ],
    ],
  ])("is the same host when %s", async (_, members) => {
    await scan.devices(stack(whole));
    const [before] = await hosts();
    for (let times = 0; times < 2; times += 1) await scan.devices(stack(members));
    const [after, ...others] = await hosts();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ id: before?.id, serial_number: members[0]?.serial });
  });

  test("is the same host after all its members were replaced in turn", async () => {
    await scan.devices(stack(whole));
    const [before] = await hosts();
    await scan.devices(stack([{ position: 1, serial: c }, ...whole.slice(1)]));
    await scan.devices(
      stack([
        { position: 1, serial: c },
        { position: 2, serial: "SERIAL-44" },
      ]),
    );
    expect((await hosts()).map(({ id }) => id)).toEqual([before?.id]);
  });

  test("is another host with entirely new hardware, and takes over the address", async () => {
    await scan.devices(stack(whole));
    const [before] = await hosts();
    await scan.devices(
      stack([
        { position: 1, serial: c },
        { position: 2, serial: "SERIAL-44" },
      ]),
    );
    const now = await hosts();
    expect(now.map(({ id }) => id)).toContain(before?.id);
    expect(await holders("serial_number")).toEqual([a, `${c} 10.0.0.2`]);
  });

  test.each([["first"], ["last"]])(
    "does not follow a separated member that kept its network cards, read %s",
    async (when) => {
      const withCards = (name: string, at: string, members: readonly Member[]) =>
        deviceAt(at, {
          ...stack(members).device,
          sys_name: name,
          interfaces: members.map(({ serial }, index) =>
            ethernet(index + 1, { mac_address: mac(1, Number(serial.slice(-2))) }),
          ),
          addresses: [address(at)],
        });
      await scan.devices(withCards("stack-1", "10.0.0.2", whole));
      const [before] = await hosts();
      const now = [
        withCards("single", "10.0.0.3", [{ position: 1, serial: b }]),
        withCards("stack-1", "10.0.0.2", [
          { position: 1, serial: a },
          { position: 2, serial: c },
        ]),
      ];
      for (let times = 0; times < 2; times += 1)
        for (const sighting of when === "first" ? now : now.toReversed()) await scan.devices(sighting);
      const found = (await hosts()).map(({ id, sys_name }) => [sys_name, id === before?.id]);
      expect(found.sort()).toEqual([
        ["single", false],
        ["stack-1", true],
      ]);
    },
  );

  test("does not follow a member that moves to another stack or stands alone", async () => {
    const other = (members: readonly Member[]) => {
      const { device } = stack(members);
      return deviceAt("10.0.0.3", { ...device, sys_name: "stack-2", addresses: [address("10.0.0.3")] });
    };
    const alone = { position: 1, serial: b };
    await scan.devices(stack(whole));
    await scan.devices(other([{ position: 1, serial: c }]));
    const before = (await hosts()).map(({ id }) => id);
    await scan.devices(
      other([
        { position: 1, serial: c },
        { position: 2, serial: b },
      ]),
    );
    await scan.devices(stack(whole.slice(0, 1)));
    expect((await hosts()).map(({ id }) => id)).toEqual(before);
    expect(await holders("serial_number")).toEqual([`${a} 10.0.0.2`, `${c} 10.0.0.3`]);
    await scan.devices(other([{ position: 1, serial: c }]));
    const { device } = stack([alone]);
    await scan.devices(deviceAt("10.0.0.4", { ...device, sys_name: "single", addresses: [address("10.0.0.4")] }));
    expect((await holders("serial_number")).sort()).toEqual([`${a} 10.0.0.2`, `${b} 10.0.0.4`, `${c} 10.0.0.3`]);
  });
});

describe("a decision", () => {
  const machine = virtualMachine(2, [[NAT_CARD, "10.0.2.15"]]);
  /** The same network cards, with another name and address. */
  const double = deviceAt("10.0.0.3", { ...machine.device, sys_name: "vm-3", addresses: [address("10.0.0.3", 9)] });
  const identityOf = (id: string, query = "") => get(`hosts/${id}/identity${query}`);

  test("between two close scores is left open: two hosts, and a finding with both and the signs", async () => {
    await scan.devices(machine);
    const { result } = await scan.devices(double);
    const [first, second] = (await hosts()) as [JsonRecord, JsonRecord];
    expect(result.findings).toContainEqual({
      type: "Undecided",
      entity: "host",
      id: second.id,
      label: "vm-3",
      reason:
        "may be the same machine as vm-2: has the same 2 MAC addresses, but another system name and address; consolidate them if so",
      other_id: first.id,
    });
    // Only once: the decision is final.
    for (const sighting of [machine, double, machine]) {
      const { result: later } = await scan.devices(sighting);
      expect(later.findings.map(({ type }) => type)).not.toContain("Undecided");
    }
    expect((await identityOf(second.id)).decision).toBe(
      "Undecided, so a host of its own: vm-2 has the same 2 MAC addresses, but another system name and address (5 bits, of 7.8 required).",
    );
  });

  test("is explained with its signs, weights and the next best host, now and at an earlier instant", async () => {
    await scan.devices(machine);
    await scan.devices(double);
    const [first, second] = (await hosts()) as [JsonRecord, JsonRecord];
    const before = await identityOf(second.id);
    expect(before).toMatchObject({
      host_id: second.id,
      match_from: 7.8,
      undecided_from: 3,
      devices: [
        {
          ip_address: "10.0.0.3",
          basis: "New",
          signs: [],
          next: {
            host_id: first.id,
            name: "vm-2",
            score: 5,
            signs: [
              { sign: "cards", weight: 13, common: 2 },
              { sign: "system_name", weight: -4.3, common: 0, values: ["vm-3"], other_values: ["vm-2"] },
              { sign: "addresses", weight: -3.7, common: 0, values: ["10.0.0.3"], other_values: ["10.0.0.2"] },
            ],
          },
        },
      ],
    });
    const at = appliance.clock.text();
    appliance.tick();
    const named = { ...double, device: { ...double.device, serial_number: "SERIAL-1" } };
    await scan.devices(named);
    await scan.devices({ ...named, device: { ...named.device, sys_name: "other" } });
    expect((await identityOf(second.id)).devices).toMatchObject([
      { basis: "Signs", signs: [{ sign: "serial_numbers" }, { sign: "cards" }, { sign: "system_name" }] },
    ]);
    expect(await identityOf(second.id, `?at=${at}`)).toEqual(before);
    const entered = await appliance.newHost({ name: "entered" });
    expect(await identityOf(entered.id)).toMatchObject({
      decision: "No device has responded to SNMP as this host.",
      devices: [],
    });
  });

  test("on the same grounds as the last one is not stored again", async () => {
    const host = (container: number) =>
      numbered(2, {
        sys_name: "docker-1",
        interfaces: [
          ethernet(1, { mac_address: mac(1, 2) }),
          ethernet(container, { mac_address: `02:42:ac:11:00:${container}` }),
        ],
      });
    for (let container = 10; container < 20; container += 1) await scan.devices(host(container));
    const { count } = appliance.reader.db.query("SELECT count(*) AS count FROM discovery_identities").get() as {
      count: number;
    };
    // First as a new host, then as a known one.
    expect(count).toBe(2);
    const [{ id }] = (await hosts()) as [JsonRecord];
    expect((await identityOf(id)).devices).toMatchObject([{ basis: "Signs" }]);
  });

  test("counts unchanged reads only for the signs that the device has", async () => {
    for (let times = 0; times < 3; times += 1) await scan.devices(numbered(2, { sys_name: "sw-2" }));
    const counted = appliance.reader.db.query("SELECT sign, same FROM discovery_sign_counts").values();
    expect(counted.sort()).toEqual([
      ["addresses", 2],
      ["cards", 2],
      ["system_name", 2],
    ]);
  });

  test("is based on counts computed once per scan, regardless of concurrent scans", () => {
    const counted = appliance.inTransaction((tx) => {
      const queries = spyOn(tx.db.$client, "query");
      for (let commands = 0; commands < 5; commands += 1)
        for (const scanId of ["scan-1", "scan-2", "scan-3"]) countsAt(tx, 1, scanId);
      const texts = queries.mock.calls.filter(([sql]) => sql.includes("count(*) FROM hosts"));
      queries.mockRestore();
      return texts.length;
    });
    expect(counted).toBe(3);
  });

  test("stays when the weights change", async () => {
    const bare = (sys_location: string) => deviceAt("10.0.5.5", { sys_name: "switch-x", sys_location });
    await scan.devices(bare("rack 1"));
    // From here on, the name is hardly evidence.
    await scan.devices(...Array.from({ length: 70 }, (_, index) => numbered(index + 1, { sys_name: "switch-x" })));
    await scan.devices(bare("rack 2"));
    expect((await appliance.owner.get("hosts?limit=1")).body.meta.pagination.total_count).toBe(71);
  });
});

describe("a host that ended", () => {
  const DAY_MS = 86_400_000;
  const sw = numbered(2, { sys_name: "sw-2", serial_number: "SERIAL-2" });
  const remove = async (id: string) => {
    appliance.tick();
    expect((await appliance.owner.delete(`hosts/${id}`)).status).toBe(200);
    appliance.tick();
  };
  const only = async () => {
    const found = await hosts();
    expect(found).toHaveLength(1);
    return found[0] as JsonRecord;
  };

  test("returns under a new id with its lineage, by its signs, even under another name", async () => {
    await scan.devices(sw);
    const first = await only();
    await remove(first.id);
    await scan.devices({ ...sw, device: { ...sw.device, sys_name: "renamed" } });
    const second = await only();
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ name: "renamed", lineage_id: first.id });
    // And again, as its first incarnation.
    await remove(second.id);
    await scan.devices(sw);
    expect(await only()).toMatchObject({ name: "sw-2", lineage_id: first.id });
  });

  test("returns by its MAC address at another address, unlike the machine that has its old one", async () => {
    await scan.addresses(seenAt("10.0.0.5", { mac_address: mac(1, 5), hostname: "laptop" }));
    const first = await only();
    await remove(first.id);
    await scan.addresses(
      seenAt("10.0.0.5", { mac_address: mac(1, 6), hostname: "laptop" }),
      seenAt("10.0.0.9", { mac_address: mac(1, 5), hostname: "laptop" }),
    );
    const lineages = (await hosts()).map((host) => [addressesOf(host)[0], host.lineage_id]);
    expect(lineages.sort()).toEqual([
      ["10.0.0.5", null],
      ["10.0.0.9", first.id],
    ]);
  });

  const answered = { answered: ["Icmp"] as const };
  test.each<[string, Parameters<typeof seenAt>[1], string]>([
    ["without a MAC address", {}, "10.0.0.2"],
    ["with a MAC address of many", { mac_address: mac(1, 2) }, "10.0.0.2"],
    ["at another address", {}, "10.0.0.77"],
  ])("returns with its lineage although a sweep saw it first, %s", async (_how, seen, at) => {
    const many = [1, 2, 3, 4].map((port) => ethernet(port, { mac_address: mac(port, 2) }));
    const device = deviceAt("10.0.0.2", { ...sw.device, interfaces: many });
    await scan.devices(device);
    const first = await only();
    await remove(first.id);
    const ssh = { number: 22, protocol: "Tcp", service: { name: "OpenSSH", service_definition: "ssh" } } as const;
    await scan.addresses(seenAt(at, { ...answered, ...seen, ports: { asked: [22], open: [ssh] } }));
    const swept = await only();
    const { result } = await scan.devices({ ...device, ip_address: at });
    const again = await only();
    expect(again).toMatchObject({ name: "sw-2", lineage_id: first.id });
    expect(again.ports.map(({ number }: JsonRecord) => number).sort()).toEqual([161, 22]);
    expect(again.services.map(({ name }: JsonRecord) => name).sort()).toEqual(["OpenSSH", "SNMP"]);
    if (swept.lineage_id === null)
      expect(result.findings).toContainEqual(
        expect.objectContaining({ type: "Closed", id: swept.id, reason: "is the same device as sw-2" }),
      );
    expect((await scan.devices({ ...device, ip_address: at })).sequence).toBeNull();
  });

  test("returns with its lineage once its MAC address is seen, unless a user edited the record of an earlier sweep", async () => {
    const laptop = seenAt("10.0.0.5", { mac_address: mac(1, 5), hostname: "laptop" });
    for (const isWritten of [false, true]) {
      await scan.addresses(laptop);
      const first = await only();
      await remove(first.id);
      await scan.addresses(seenAt("10.0.0.5"));
      const swept = await only();
      expect(swept.lineage_id).toBeNull();
      if (isWritten) {
        expect((await appliance.owner.put(`hosts/${swept.id}`, { ...swept, description: "Lab" })).status).toBe(200);
        appliance.tick();
      }
      await scan.addresses(laptop);
      const again = await only();
      if (isWritten) expect(again).toMatchObject({ id: swept.id, lineage_id: null });
      else expect(again.lineage_id).toBe(first.lineage_id ?? first.id);
      expect(addressesOf(again)).toEqual(["10.0.0.5"]);
      if (!isWritten) await remove(again.id);
    }
  });

  test("is looked up by its signs, however many other hosts have ended", async () => {
    const plan = appliance.inTransaction((tx) => {
      const queries = spyOn(tx.db.$client, "query");
      endedHostsWith(tx, 1, ["serial:SERIAL-2"]);
      const texts = queries.mock.calls.map(([sql]) => sql);
      queries.mockRestore();
      return texts.flatMap((sql) => planOf(tx.db.$client, sql));
    });
    expect(plan).toContainEqual(expect.stringContaining("ended_hosts_by_sign (network_n=? AND <expr>=?)"));
    expect(plan.filter((step) => step.startsWith("SCAN e"))).toEqual([]);
  });

  test("does not return as other hardware of its name, nor after 90 days, nor while it is restored", async () => {
    await scan.devices(sw);
    const first = await only();
    await remove(first.id);
    await scan.devices(numbered(3, { sys_name: "sw-2", serial_number: "SERIAL-3" }));
    const other = await only();
    expect(other.lineage_id).toBeNull();
    await remove(other.id);
    expect((await appliance.owner.post(`hosts/${first.id}/restore`, { at: first.created_at })).status).toBe(200);
    await scan.devices(sw);
    expect(await only()).toMatchObject({ id: first.id, lineage_id: null });
    await remove(first.id);
    appliance.clock.advance(91 * DAY_MS);
    await scan.devices(sw);
    // The session has expired by now.
    const [late] = (await (await appliance.signedIn(appliance.first.userId)).get("hosts")).data;
    expect(late.lineage_id).toBeNull();
  });
});

test("new hardware is another host even after an upgrade, although its predecessor once had its name", async () => {
  const hardware = (number: number, sys_name: string) =>
    deviceAt("10.0.0.2", {
      sys_name,
      serial_number: `SERIAL-${number}`,
      interfaces: [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: mac(2, number) })],
      addresses: [address("10.0.0.2")],
    });
  await scan.devices(hardware(1, "sw-1"));
  const [first] = (await hosts()) as [JsonRecord];
  expect((await appliance.owner.put(`hosts/${first.id}`, { ...first, description: "by hand" })).status).toBe(200);
  await scan.devices(hardware(1, "sw-1-old"));
  appliance.inTransaction((tx) => tx.runAfterWrite(() => void tx.db.$client.run("DELETE FROM discovery_identities")));
  await scan.devices(hardware(2, "sw-1"));
  const found = (await hosts()).map(({ serial_number, description, split_from }) => ({
    serial_number,
    description,
    split_from,
  }));
  expect(found).toEqual([
    { serial_number: "SERIAL-2", description: null, split_from: undefined },
    { serial_number: "SERIAL-1", description: "by hand", split_from: undefined },
  ]);
});

test.each([["in one scan"], ["in turn"]])(
  "two switches that swap addresses and names, read %s, each have one",
  async (when) => {
    const swapped = (number: number, at: string, sys_name: string) => {
      const serial_number = `SERIAL-${number}`;
      const interfaces = [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: mac(2, number) })];
      const components = [chassis(1, serial_number)];
      return deviceAt(at, { sys_name, serial_number, components, interfaces, addresses: [address(at)] });
    };
    const read = async (...devices: DeviceSighting[]) => {
      if (when === "in one scan") await scan.devices(...devices);
      else for (const each of devices) await scan.devices(each);
    };
    await read(swapped(1, "10.0.0.2", "sw-1"), swapped(2, "10.0.0.3", "sw-2"));
    for (let times = 0; times < 2; times += 1)
      await read(swapped(2, "10.0.0.2", "sw-1"), swapped(1, "10.0.0.3", "sw-2"));
    expect((await holders("serial_number")).sort()).toEqual(["SERIAL-1 10.0.0.3", "SERIAL-2 10.0.0.2"]);
    expect(await get("conflicts")).toEqual([]);
  },
);

describe("a host that proves to be two machines", () => {
  const twin = (number: number, at = `10.0.0.${number}`) =>
    deviceAt(at, {
      sys_name: `twin-${number}`,
      serial_number: `SERIAL-${number}`,
      interfaces: [ethernet(1), ethernet(2)],
      addresses: [address(at)],
    });
  /** With the same serial number. */
  const alike = (number: number) => {
    const { device } = twin(number);
    return deviceAt(`10.0.0.${number}`, { ...device, serial_number: "CLONED-1" });
  };
  const named = async (name: string) => (await hosts()).find(({ sys_name }) => sys_name === name) as JsonRecord;
  /** Reads the twins alternately: the host's name changes. */
  const mixUp = async () => {
    await scan.devices(alike(1));
    const [first] = (await hosts()) as [JsonRecord];
    expect((await appliance.owner.put(`hosts/${first.id}`, { ...first, description: "by hand" })).status).toBe(200);
    await scan.devices(alike(2));
    expect((await hosts()).map(({ id, sys_name }) => [id, sys_name])).toEqual([[first.id, "twin-2"]]);
    return first.id;
  };
  /** A past response, without the ends of its versions, which are only known later. */
  const untilNow = (record: JsonRecord) => JSON.stringify(record).replaceAll(/"valid_to":(null|"[^"]*")/g, "");
  const expectSplit = async (id: string) => {
    expect(await named("twin-1")).toMatchObject({ id, description: "by hand" });
    expect((await named("twin-1")).split_from).toBeUndefined();
    expect(await named("twin-2")).toMatchObject({ split_from: id, lineage_id: null, description: null });
    expect(await hosts()).toHaveLength(2);
  };

  test.each([
    ["first", [1, 2]],
    ["last", [2, 1]],
  ])(
    "is split when both respond in one scan, and remains the machine that it was first, which responds %s",
    async (_, order) => {
      const id = await mixUp();
      const at = appliance.clock.text();
      appliance.tick();
      const before = await get(`hosts/${id}?at=${at}`);
      await scan.devices(...order.map((number) => alike(number)));
      await expectSplit(id);
      expect(await holders("sys_name")).toEqual(["twin-1 10.0.0.1", "twin-2 10.0.0.2"]);
      for (const numbers of [[1, 2], [2, 1], [2], [1]]) {
        await scan.devices(...numbers.map((number) => alike(number)));
        await expectSplit(id);
      }
      expect((await named("twin-2")).interfaces).toHaveLength(2);
      expect(untilNow(await get(`hosts/${id}?at=${at}`))).toBe(untilNow(before));
    },
  );

  test("is split as the machine that it was first, also if an earlier version mixed them up", async () => {
    const id = await mixUp();
    appliance.inTransaction((tx) => tx.runAfterWrite(() => void tx.db.$client.run("DELETE FROM discovery_identities")));
    await scan.devices(alike(2), alike(1));
    await expectSplit(id);
  });

  test.each([
    ["first", 1],
    ["last", 2],
  ])(
    "is split as the machine that it was first, though an earlier version mixed them up by less than a match, and the one that it was %s is read next",
    async (_, next) => {
      /** With a separate network card and chassis. */
      const whole = (number: number) => {
        const { device } = twin(number);
        const components = [chassis(1, `SERIAL-${number}`)];
        const interfaces = [ethernet(1, { mac_address: mac(1, number) }), ethernet(2, { mac_address: mac(2, number) })];
        return deviceAt(`10.0.0.${number}`, { ...device, components, interfaces });
      };
      const id = await mixUp();
      const { device } = whole(2);
      await scan.devices(deviceAt("10.0.0.2", { ...device, interfaces: alike(2).device.interfaces as [] }));
      await scan.devices(whole(2));
      expect(await hosts()).toHaveLength(1);
      appliance.inTransaction((tx) =>
        tx.runAfterWrite(() => void tx.db.$client.run("DELETE FROM discovery_identities")),
      );
      for (const number of next === 1 ? [1, 2, 1, 2] : [2, 1, 2, 1]) await scan.devices(whole(number));
      await expectSplit(id);
      expect(await holders("sys_name")).toEqual(["twin-1 10.0.0.1", "twin-2 10.0.0.2"]);
      expect((await get(`hosts/${id}/identity`)).devices).toMatchObject([{ ip_address: "10.0.0.1" }]);
    },
  );

  test("is split when they take turns at addresses of their own, each unchanged, with their interfaces", async () => {
    const id = await mixUp();
    const { device } = twin(2);
    const turns = [twin(1), deviceAt("10.0.0.2", { ...device, interfaces: [ethernet(1), ethernet(2), ethernet(5)] })];
    for (let times = 0; times < 4; times += 1) for (const sighting of turns) await scan.devices(sighting);
    await expectSplit(id);
    expect((await named("twin-1")).interfaces).toHaveLength(2);
    expect((await named("twin-2")).interfaces).toHaveLength(3);
  });

  test("is split when serial number and name change back three times within ten reads", async () => {
    const at = "10.0.0.9";
    await scan.devices(twin(1, at));
    const [{ id }] = (await hosts()) as [JsonRecord];
    for (const number of [2, 1, 2]) {
      await scan.devices(twin(number, at));
      expect(await hosts()).toHaveLength(1);
    }
    await scan.devices(twin(1, at));
    expect(await named("twin-2")).toMatchObject({ split_from: id });
    for (const number of [2, 1, 2, 2, 1]) {
      await scan.devices(twin(number, at));
      expect((await hosts()).map(({ sys_name }) => sys_name)).toEqual(["twin-1", "twin-2"]);
    }
    expect((await named("twin-1")).id).toBe(id);
  });

  test("is split by its reports, regardless of a manual name", async () => {
    const at = "10.0.0.9";
    await scan.devices(twin(1, at));
    const [first] = (await hosts()) as [JsonRecord];
    const named = { ...first, sys_name: "by hand" };
    expect((await appliance.owner.put(`hosts/${first.id}`, named)).status).toBe(200);
    for (const number of [2, 1, 2, 1, 2]) await scan.devices(twin(number, at));
    expect((await hosts()).map(({ sys_name, split_from }) => [sys_name, split_from])).toEqual([
      ["by hand", undefined],
      ["twin-2", first.id],
    ]);
  });

  test("is not split if it rarely changes, or changes only its name", async () => {
    const at = "10.0.0.9";
    for (const number of [1, 2, 1, 2, 1])
      for (let times = 0; times < 5; times += 1) await scan.devices(twin(number, at));
    expect(await hosts()).toHaveLength(1);
    for (const number of [3, 4, 3, 4, 3, 4]) {
      const { device } = twin(number, at);
      await scan.devices(deviceAt(at, { ...device, serial_number: "SERIAL-1" }));
    }
    expect(await hosts()).toHaveLength(1);
  });
});
