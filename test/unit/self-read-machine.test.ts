// Snapshot of a machine: from files in a test directory, and of the machine that runs the test.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseIp } from "../../src/base/ip.ts";
import { isUuid } from "../../src/base/uuid.ts";
import type { MachinePort } from "../../src/discovery/self/machine.ts";
import { readMachine } from "../../src/discovery/self/read-machine.ts";
import type { KernelAddress } from "../../src/discovery/self/rtnetlink.ts";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "netledger-self-"));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

function readFixture(addresses: KernelAddress[] = []) {
  return readMachine({
    procRoot: join(root, "proc"),
    sysRoot: join(root, "sys"),
    etcRoot: join(root, "etc"),
    readAddresses: () => ({ addresses, isComplete: true }),
  });
}

function netInterface(name: string, attributes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).map(([attribute, text]) => [`sys/class/net/${name}/${attribute}`, `${text}\n`]),
  );
}

const ETH0 = {
  ifindex: "4",
  type: "1",
  flags: "0x1003",
  operstate: "up",
  address: "02:fc:00:00:00:01",
  speed: "1000",
  ifalias: "uplink to sw1",
  uevent: "INTERFACE=eth0\nIFINDEX=4",
};

const LO = { ifindex: "1", type: "772", flags: "0x9", operstate: "unknown", address: "00:00:00:00:00:00" };

describe("a simulated machine", () => {
  test("has the members of bonds and teams, and the interfaces of its VLANs, but no parents in bridges", async () => {
    const links = (...names: string[]) => Object.fromEntries(names.map((name) => [`${name}/ifindex`, "0"]));
    const port = (name: string, ifindex: number, fields: Record<string, string> = {}) =>
      netInterface(name, { ...ETH0, ifindex: String(ifindex), uevent: `INTERFACE=${name}`, ...fields });
    await write({
      ...port("eth0", 1, links("upper_bond0")),
      ...port("eth1", 2, links("upper_bond0")),
      ...port("bond0", 3, {
        "bonding/mode": "802.3ad 4",
        ...links("lower_eth0", "lower_eth1", "upper_br0", "upper_dmz"),
      }),
      ...port("br0", 4, { "bridge/stp_state": "0", ...links("lower_bond0", "lower_eth9") }),
      ...port("dmz", 5, { uevent: "DEVTYPE=vlan", ...links("lower_bond0") }),
      ...port("eth9", 6, links("upper_br0")),
      ...port("team0", 7, { uevent: "DEVTYPE=team", ...links("lower_eth8") }),
      ...port("eth8", 8, links("upper_team0")),
      // Its interface is in another network namespace.
      ...port("eth7.20", 9, { uevent: "DEVTYPE=vlan" }),
    });
    const { interfaces } = await readFixture();
    expect(
      interfaces.map(({ if_name, lag_if_index, parent_if_index }) => [if_name, lag_if_index, parent_if_index]),
    ).toEqual([
      ["eth0", 3, undefined],
      ["eth1", 3, undefined],
      ["bond0", undefined, undefined],
      ["br0", undefined, undefined],
      ["dmz", undefined, 3],
      ["eth9", undefined, undefined],
      ["team0", undefined, undefined],
      ["eth8", 7, undefined],
      ["eth7.20", undefined, undefined],
    ]);
  });

  test("is read completely", async () => {
    await write({
      "proc/sys/kernel/hostname": "edge-1\n",
      "proc/sys/kernel/ostype": "Linux\n",
      "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
      "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)\n",
      "proc/sys/kernel/arch": "x86_64\n",
      "proc/sys/net/ipv4/ip_local_port_range": "2000\t60999\n",
      "proc/net/tcp":
        "  sl  local_address rem_address   st …\n   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 616 1\n",
      "proc/net/udp":
        "   sl  local_address rem_address   st …\n    5: 00000000:00A1 00000000:0000 07 00000000:00000000 00:00000000\n    6: 00000000:07D0 00000000:0000 07 00000000:00000000 00:00000000\n",
      "proc/net/route":
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n" +
        "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n" +
        "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n",
      // Another default route of the same interface, and the kernel's standard unreachable route.
      "proc/net/ipv6_route":
        "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0\n" +
        "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n",
      "etc/machine-id": "0f1e2d3c4b5a69788796a5b4c3d2e1f0\n",
      "sys/class/dmi/id/sys_vendor": "Dell Inc.\n",
      "sys/class/dmi/id/product_name": "PowerEdge R640\n",
      "sys/class/dmi/id/product_serial": "ABC1234\n",
      ...netInterface("eth0", ETH0),
      ...netInterface("lo", LO),
    });
    const ip = parseIp("192.0.2.2");
    if (!ip) throw new Error("not an address");
    const address = { ip, prefixLength: 24, ifIndex: 4, peer: null, isTemporary: false, isDuplicate: false };
    const { machine_id: machineId, ...rest } = await readFixture([address]);
    expect(rest).toEqual({
      hostname: "edge-1",
      interfaces: [
        {
          if_index: 1,
          if_name: "lo",
          if_descr: "lo",
          if_alias: null,
          if_type: 24,
          mac_address: null,
          speed_bps: null,
          admin_status: "Up",
          oper_status: "Unknown",
        },
        {
          if_index: 4,
          if_name: "eth0",
          if_descr: "eth0",
          if_alias: "uplink to sw1",
          if_type: 6,
          mac_address: "02:fc:00:00:00:01",
          speed_bps: 1_000_000_000,
          admin_status: "Up",
          oper_status: "Up",
        },
      ],
      addresses: [{ ip_address: "192.0.2.2", prefix_length: 24, if_index: 4, cidr: "192.0.2.0/24" }],
      default_interfaces: ["eth0"],
      has_all_addresses: true,
      ports: [
        { number: 22, protocol: "Tcp", bound: [] },
        { number: 161, protocol: "Udp", bound: [] },
      ],
      sys_descr: "Linux 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01) x86_64",
      manufacturer: "Dell Inc.",
      model: "PowerEdge R640",
      serial_number: "ABC1234",
    });
    expect(isUuid(machineId ?? "")).toBe(true);
    expect(await readFixture()).toMatchObject({ machine_id: machineId });
  });

  test("has the default name and no data without any files", async () => {
    expect(await readFixture()).toEqual({
      hostname: "localhost",
      machine_id: null,
      interfaces: [],
      addresses: [],
      default_interfaces: [],
      has_all_addresses: true,
      ports: [],
      sys_descr: null,
      manufacturer: null,
      model: null,
      serial_number: null,
    });
  });

  test("is not treated as empty if an existing table cannot be read", async () => {
    await mkdir(join(root, "proc/net/tcp"), { recursive: true });
    await expect(readFixture()).rejects.toThrow("EISDIR");
  });

  test("is not treated as without addresses if the kernel does not respond", async () => {
    const readAddresses = () => {
      throw new Error("no rtnetlink");
    };
    const machine = readMachine({ procRoot: root, sysRoot: root, etcRoot: root, readAddresses });
    await expect(machine).rejects.toThrow("no rtnetlink");
  });

  test("takes its name from /etc if the kernel has none", async () => {
    await write({ "proc/sys/kernel/hostname": "(none)\n", "etc/hostname": "edge-2\n" });
    expect((await readFixture()).hostname).toBe("edge-2");
  });

  test("never reveals its machine id, only a derived value", async () => {
    const derived = new Set<string | null>();
    for (const machineId of ["0f1e2d3c4b5a69788796a5b4c3d2e1f0", "0f1e2d3c4b5a69788796a5b4c3d2e1f1"]) {
      await write({ "etc/machine-id": machineId });
      const { machine_id: derivedId } = await readFixture();
      expect(derivedId?.replaceAll("-", "")).not.toBe(machineId);
      derived.add(derivedId);
    }
    expect(derived.size).toBe(2);
  });

  test("has no machine id before one is assigned", async () => {
    for (const text of ["", "uninitialized\n", "0f1e2d3c"]) {
      await write({ "etc/machine-id": text });
      expect((await readFixture()).machine_id).toBeNull();
    }
  });

  test("has no manufacturer, model or serial number for DMI placeholders", async () => {
    const placeholders =
      "To be filled by O.E.M.,To Be Filled By O.E.M,Not Specified,None,Default string,0000000,0123456789," +
      "System Product Name,  ";
    for (const placeholder of placeholders.split(",")) {
      await write({
        "sys/class/dmi/id/sys_vendor": placeholder,
        "sys/class/dmi/id/product_name": `${placeholder}\n`,
        "sys/class/dmi/id/product_serial": placeholder,
      });
      expect(await readFixture()).toMatchObject({ manufacturer: null, model: null, serial_number: null });
    }
  });

  test("is identified by its device tree without DMI", async () => {
    await write({
      "sys/firmware/devicetree/base/model": "Raspberry Pi 4 Model B Rev 1.4\0",
      "sys/firmware/devicetree/base/serial-number": "10000000abcdef01\0",
    });
    expect(await readFixture()).toMatchObject({
      manufacturer: null,
      model: "Raspberry Pi 4 Model B Rev 1.4",
      serial_number: "10000000abcdef01",
    });
  });
});

describe("an interface", () => {
  async function readInterface(changes: Record<string, string>) {
    await write(netInterface("eth0", { ...ETH0, ...changes }));
    return (await readFixture()).interfaces[0];
  }

  test("has the driver's speed, in bits per second, or none", async () => {
    expect((await readInterface({ speed: "10" }))?.speed_bps).toBe(10_000_000);
    expect((await readInterface({ speed: "400000" }))?.speed_bps).toBe(400_000_000_000);
    for (const speed of ["-1", "4294967295", "65535", "0", ""])
      expect((await readInterface({ speed }))?.speed_bps).toBeNull();
  });

  test("has the operational states of RFC 2863", async () => {
    const states = ["up", "down", "testing", "unknown", "dormant", "notpresent", "lowerlayerdown", "newer"];
    const statuses = [];
    for (const operstate of states) statuses.push((await readInterface({ operstate }))?.oper_status);
    expect(statuses).toEqual("Up Down Testing Unknown Dormant NotPresent LowerLayerDown Unknown".split(" "));
  });

  test("is administratively down if not enabled, regardless of its other flags", async () => {
    expect((await readInterface({ flags: "0x1002" }))?.admin_status).toBe("Down");
    expect((await readInterface({ flags: "0x1043" }))?.admin_status).toBe("Up");
  });

  test("has no MAC address if its address is of another type", async () => {
    const addresses = {
      "02:FC:00:00:00:0A": "02:fc:00:00:00:0a",
      "00:00:00:00:00:00": null,
      "0a:01:00:02": null,
      "80:00:02:08:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:5a:9e:41": null,
      "": null,
    };
    for (const [address, mac] of Object.entries(addresses))
      expect((await readInterface({ address }))?.mac_address).toBe(mac);
  });

  test("has a type derived from its directories and driver, not its MTU", async () => {
    expect((await readInterface({ uevent: "DEVTYPE=vlan\nINTERFACE=eth0", mtu: "1500" }))?.if_type).toBe(135);
    expect((await readInterface({ uevent: "DEVTYPE=vlan\nINTERFACE=eth0", mtu: "9000" }))?.if_type).toBe(135);
    expect((await readInterface({ "bridge/bridge_id": "8000.02fc00000001" }))?.if_type).toBe(209);
  });

  test("is listed by index, without other entries and missing interfaces", async () => {
    await write({
      ...netInterface("b", { ...ETH0, ifindex: "10" }),
      ...netInterface("a", { ...ETH0, ifindex: "9" }),
      ...netInterface("gone", { operstate: "up" }),
      "sys/class/net/bonding_masters": "bond0\n",
    });
    expect((await readFixture()).interfaces.map((entry) => entry.if_name)).toEqual(["a", "b"]);
  });
});

describe("this machine", () => {
  const keyOf = (port: MachinePort) => JSON.stringify(port);

  /** Other programs on this machine open and close ports too, so one match in several attempts suffices. */
  async function eventually<T>(expected: T, attempt: () => Promise<T>): Promise<T> {
    let result = await attempt();
    for (let tries = 1; tries < 20 && !Bun.deepEquals(result, expected); tries += 1) result = await attempt();
    return result;
  }

  test("is read identically twice", async () => {
    expect(await eventually(true, async () => Bun.deepEquals(await readMachine(), await readMachine()))).toBe(true);
  });

  test("shows an opened port exactly while it is open", async () => {
    const expected = { appeared: ["the listener's port"], disappeared: ["the listener's port"] };
    const result = await eventually(expected, async () => {
      const before = new Set((await readMachine()).ports.map(keyOf));
      const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
      const own = keyOf({ number: listener.port, protocol: "Tcp", bound: ["127.0.0.1"] });
      const during = new Set((await readMachine()).ports.map(keyOf));
      listener.stop(true);
      const after = new Set((await readMachine()).ports.map(keyOf));
      const named = (keys: Set<string>) => [...keys].map((key) => (key === own ? "the listener's port" : key));
      return { appeared: named(during.difference(before)), disappeared: named(during.difference(after)) };
    });
    expect(result).toEqual(expected);
  });

  test("does not show a UDP client awaiting its response", async () => {
    const client = await Bun.udpSocket({ hostname: "127.0.0.1", port: 0 });
    const { ports } = await readMachine();
    client.close();
    expect(ports.filter((port) => port.protocol === "Udp" && port.number === client.port)).toEqual([]);
  });

  test("has the loopback interface, and every IPv4 address the runtime lists", async () => {
    const { addresses, interfaces } = await readMachine();
    const loopback = interfaces.filter((entry) => entry.if_name === "lo");
    expect(loopback).toMatchObject([{ if_index: 1, if_type: 24, mac_address: null }]);
    const runtimeEntries = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
    const expected = runtimeEntries
      .filter((entry) => entry.family === "IPv4" && !/^(127|169\.254)\./.test(entry.address))
      .map((entry) => entry.address);
    expect(addresses.map((entry) => entry.ip_address)).toEqual(expect.arrayContaining(expected));
  });
});
