// Kernel tables from /proc: routes, local addresses and neighbors, for processes without netlink access.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Ip, parseIp } from "../../src/base/ip.ts";
import { grantsPrivilegesToAll, hasFileCapabilities } from "../../src/discovery/kernel/executable-privileges.ts";
import { KernelRefused } from "../../src/discovery/kernel/libc.ts";
import { findLimitations, limitationsOfExecutable } from "../../src/discovery/kernel/limitations.ts";
import { ProcRoutes } from "../../src/discovery/kernel/proc-routing.ts";
import { parseArpTable } from "../../src/discovery/kernel/proc-tables.ts";
import { inventoryAddresses } from "../../src/discovery/self/inventory-addresses.ts";
import { readProcAddresses } from "../../src/discovery/self/proc-addresses.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "netledger-proc-"));
  write(TABLES);
});
afterEach(() => rmSync(root, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function ip(text: string): Ip {
  const parsed = parseIp(text);
  if (parsed === null) throw new Error(`${text} is not an address`);
  return parsed;
}

const link = (name: string, ifIndex: number, type: number, flags: string, mac: string) => ({
  [`sys/class/net/${name}/ifindex`]: `${ifIndex}\n`,
  [`sys/class/net/${name}/type`]: `${type}\n`,
  [`sys/class/net/${name}/flags`]: `${flags}\n`,
  [`sys/class/net/${name}/address`]: `${mac}\n`,
});

const trieLeaf = (address: string, entry: string) => `        |-- ${address}\n           ${entry}`;

/**
 * eth0: 192.0.2.2/24 and .9/32, a more specific route around it, a tunnel, an unreachable block; lo: 198.51.100.1/32;
 * IPv6 on eth0.
 */
const TABLES = {
  "proc/net/route": [
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT",
    "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0",
    "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0",
    "eth0\t800200C0\tFE0200C0\t0003\t0\t0\t0\tF0FFFFFF\t0\t0\t0",
    "tun0\t0000080A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0",
    "*\t0000090A\t00000000\t0200\t0\t0\t0\t0000FFFF\t0\t0\t0",
    "*\t00000A0A\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0",
  ].join("\n"),
  "proc/net/ipv6_route": [
    "20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0",
    "20010db8000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000004 00000000 80200001     eth0",
    "ff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000003 00000000 00000001     eth0",
    "00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo",
  ].join("\n"),
  "proc/net/if_inet6": [
    "20010db8000000000000000000000002 04 40 00 80     eth0",
    "20010db80000000000000000000000aa 04 40 00 01     eth0",
    "20010db80000000000000000000000bb 04 40 00 08     eth0",
    "00000000000000000000000000000001 01 80 10 80       lo",
  ].join("\n"),
  "proc/net/fib_trie": [
    "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     +-- 192.0.2.0/24 2 0 2",
    trieLeaf("192.0.2.0", "/24 link UNICAST"),
    "Local:\n     +-- 127.0.0.0/8 2 0 2",
    trieLeaf("127.0.0.0", "/8 host LOCAL"),
    ...["127.0.0.1", "192.0.2.2", "192.0.2.9"].map((address) => trieLeaf(address, "/32 host LOCAL")),
    trieLeaf("192.0.2.255", "/32 link BROADCAST"),
    trieLeaf("198.51.100.1", "/32 host LOCAL"),
  ].join("\n"),
  ...link("eth0", 4, 1, "0x1003", "02:fc:00:00:00:01"),
  ...link("tun0", 5, 65_534, "0x1091", ""),
  ...link("lo", 1, 772, "0x9", "00:00:00:00:00:00"),
};

describe("routing by the tables of /proc", () => {
  const routeTo = (address: string) =>
    new ProcRoutes({ procRoot: join(root, "proc"), sysRoot: join(root, "sys") }).routeTo(ip(address));

  test.each([
    ["Local", "its local addresses, and all of 127.0.0.0/8", "192.0.2.2 198.51.100.1 127.9.9.9 2001:db8::2"],
    ["Routed", "behind a router, through a tunnel, by IPv6", "192.0.2.130 203.0.113.5 10.8.1.1 2001:db8::9"],
    ["None", "group and broadcast addresses", "224.0.0.1 192.0.2.255 255.255.255.255 ff02::1"],
    ["None", "unreachable and unrouted addresses", "10.10.0.1 fd00::1"],
  ])("uses the most specific route, %s: %s", (kind, _case, addresses) => {
    for (const address of addresses.split(" ")) expect([address, routeTo(address).kind]).toEqual([address, kind]);
  });

  test("leads directly to an on-link Ethernet station, from the machine's own address in that block", () => {
    const route = { kind: "Link", ifIndex: 4, mac: "02:fc:00:00:00:01", source: { text: "192.0.2.2" } };
    expect(routeTo("192.0.2.77")).toMatchObject(route);
  });

  test("treats an unrouted address as routed if rules refer to additional tables", () => {
    const routes = TABLES["proc/net/route"].split("\n").filter((line) => !line.includes("010200C0"));
    write({ "proc/net/route": routes.join("\n") });
    expect(routeTo("203.0.113.5").kind).toBe("None");
    const anotherTable = "\nId 51820:\n  |-- 0.0.0.0\n     /0 universe UNICAST\n";
    write({ "proc/net/fib_trie": TABLES["proc/net/fib_trie"] + anotherTable });
    expect(routeTo("203.0.113.5").kind).toBe("Routed");
  });
});

describe("the host's addresses by the tables of /proc", () => {
  const read = (running?: () => ReturnType<typeof import("node:os").networkInterfaces>) =>
    inventoryAddresses(
      readProcAddresses({
        procRoot: join(root, "proc"),
        sysRoot: join(root, "sys"),
        ...(running === undefined ? {} : { running }),
      }),
    ).map(({ ip_address, prefix_length, if_index }) => [ip_address, prefix_length, if_index]);
  const failing = () => {
    throw new Error("getifaddrs returned an error");
  };

  test("are IPv4 by the most specific link route that contains them, and IPv6 verbatim", () => {
    expect(read(failing)).toEqual([
      ["192.0.2.2", 24, 4],
      ["192.0.2.9", 24, 4],
      ["198.51.100.1", 32, 0],
      ["2001:db8::2", 64, 4],
    ]);
  });

  test("have the exact prefix length and interface if they are active, regardless of their label", () => {
    const entry = { netmask: "", family: "IPv4" as const, mac: "", internal: false };
    const running = () => ({
      eth0: [{ ...entry, address: "192.0.2.2", cidr: "192.0.2.2/24" }],
      "eth0:vip": [{ ...entry, address: "192.0.2.9", cidr: "192.0.2.9/32" }],
      lo: [{ ...entry, address: "198.51.100.1", cidr: "198.51.100.1/32" }],
    });
    expect(read(running)).toEqual([
      ["192.0.2.2", 24, 4],
      ["192.0.2.9", 32, 4],
      ["198.51.100.1", 32, 1],
      ["2001:db8::2", 64, 4],
    ]);
  });

  test("fail without the tables, instead of being empty", () => {
    rmSync(join(root, "proc/net/fib_trie"));
    expect(() => read(failing)).toThrow("ENOENT");
  });
});

test("neighbors in /proc/net/arp are resolving, permanent or in an unknown state", () => {
  const table = [
    "IP address       HW type     Flags       HW address            Mask     Device",
    "192.0.2.1        0x1         0x2         02:fc:00:00:00:05     *        eth0",
    "192.0.2.3        0x1         0x0         00:00:00:00:00:00     *        eth0",
    "192.0.2.4        0x1         0x6         02:fc:00:00:00:06     *        eth0",
    "192.0.2.5        0x20        0x2         80:00:00:48:fe:80:00:00:00:00:00:00:f4:52     *        ib0",
  ].join("\n");
  expect(parseArpTable(table, (name) => (name === "eth0" ? 4 : 0))).toEqual([
    { ip_address: "192.0.2.1", mac_address: "02:fc:00:00:00:05", ifIndex: 4, state: "Unknown", confirmedAgoMs: null },
    { ip_address: "192.0.2.3", mac_address: null, ifIndex: 4, state: "Resolving", confirmedAgoMs: null },
    { ip_address: "192.0.2.4", mac_address: "02:fc:00:00:00:06", ifIndex: 4, state: "Permanent", confirmedAgoMs: null },
  ]);
});

describe("privileges from the executable", () => {
  const status = (uid: number, permitted: string, ambient: string) =>
    `Name:\tnetledger\nUid:\t1000\t${uid}\t${uid}\t${uid}\nCapInh:\t0000000000000000\nCapPrm:\t${permitted}\nCapEff:\t0\nCapAmb:\t${ambient}\n`;

  test.each([
    ["all of root's", status(0, "000001ffffffffff", "0000000000000000"), false],
    ["granted by a service manager", status(998, "0000000000002000", "0000000000002000"), false],
    ["granted by the file only", status(998, "0000000000002000", "0000000000000000"), true],
    ["partly granted by the file", status(998, "0000000000003000", "0000000000002000"), true],
    ["none", status(998, "0000000000000000", "0000000000000000"), false],
  ])("are derived from capabilities: %s", (_, text, expected) => expect(hasFileCapabilities(text)).toBe(expected));

  test("are a limitation that names the executable and the remedy", () => {
    const [found] = limitationsOfExecutable("/usr/bin/netledger", () => true);
    expect(found?.code).toBe("executable_gives_rights");
    expect(found?.message).toMatch(/^\/usr\/bin\/netledger has .*setcap -r.*AmbientCapabilities=CAP_NET_RAW/);
    expect(limitationsOfExecutable("/usr/bin/netledger", () => false)).toEqual([]);
  });

  test("are absent if only owner and group may execute it, and include setuid and setgid if all may", () => {
    const path = join(root, "netledger");
    writeFileSync(path, "");
    const results = [0o755, 0o4750, 0o4755, 0o2755].map((mode) => {
      chmodSync(path, mode);
      return grantsPrivilegesToAll(path);
    });
    expect([...results, grantsPrivilegesToAll(join(root, "gone"))]).toEqual([false, false, true, true, false]);
  });
});

describe("restrictions of the machine", () => {
  const refuse = () => {
    throw new KernelRefused("no");
  };
  const permit = () => {};

  const hasEchoTool = async () => true;

  test("are empty if everything is permitted", async () => {
    expect(await findLimitations({ callLibc: permit, queryNetlink: permit, hasEchoTool })).toEqual([]);
  });

  test("are reported by the first missing capability: without libc there is no netlink either", async () => {
    const codes = async (callLibc: () => void) => {
      return (await findLimitations({ callLibc, queryNetlink: refuse, hasEchoTool })).map(({ code }) => code);
    };
    expect(await codes(permit)).toEqual(["netlink_refused"]);
    expect(await codes(refuse)).toEqual(["native_calls_refused"]);
  });

  test.each([
    [true, "Scans use fping or ping, and plain TCP, where"],
    [false, "Scans use plain TCP only, since neither fping nor ping works here, where"],
  ])("name the remaining scan methods if libc calls are refused (fping or ping works: %p)", async (works, expected) => {
    const [limitation] = await findLimitations({ callLibc: refuse, hasEchoTool: async () => works });
    expect(limitation?.message).toContain(expected);
    expect(limitation?.message).toContain(". Routes, neighbors and own addresses come from /proc, without");
  });
});
