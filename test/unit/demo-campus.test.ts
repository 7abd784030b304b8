// Fictitious network of the demo: consistent, with reserved addresses only, and a manufacturer for every device.

import { expect, test } from "bun:test";
import { cidrContains, parseCidr, parseIp } from "../../src/base/ip.ts";
import { vendorOf } from "../../src/base/vendors/vendor.ts";
import { Calendar } from "../../src/demo/calendar.ts";
import { Campus } from "../../src/demo/campus.ts";
import { CampusSnapshot } from "../../src/demo/device-report.ts";
import { CABLES, PORT_STORIES, SWITCHES } from "../../src/demo/equipment.ts";
import { SUBNETS } from "../../src/demo/places.ts";
import { demoProbes, SNMP_NAMES } from "../../src/demo/probes.ts";
import { STATIONS } from "../../src/demo/stations.ts";
import { USER_ACTIONS } from "../../src/demo/user-actions.ts";
import { community } from "../support/snmp/sessions.ts";

/** RFC 1918, RFC 3849, RFC 5737. */
const RESERVED_BLOCKS = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 192.0.2.0/24 198.51.100.0/24 2001:db8::/32".split(" ");

const calendar = new Calendar(Date.parse("2026-03-11T15:04:05.678Z"));
const campus = new Campus(calendar);

/** One timestamp between each two changes to the data, and one in each hour of a day. */
function instants(): number[] {
  const periods = [
    ...SWITCHES.flatMap(({ period, outage }) => [period, outage]),
    ...STATIONS.flatMap(({ attachments }) => attachments.map(({ period }) => period)),
    ...SUBNETS.map(({ period }) => period),
    ...PORT_STORIES.map(({ period }) => period),
  ];
  const edges = periods.flatMap((period) => [period?.from, period?.until]).filter((edge) => edge !== undefined);
  const hours = Array.from({ length: 24 }, (_, hour) => calendar.at("-1d 00:00") + hour * 3_600_000);
  return [calendar.at("-31d 08:00"), ...edges.map((edge) => calendar.at(edge) + 60_000), ...hours];
}

const portsOf = (name: string, instant: number) =>
  campus
    .switchesAt(instant)
    .filter((device) => device.name === name)
    .flatMap((device) => new CampusSnapshot(campus, instant).deviceOf(device).interfaces ?? [])
    .map(({ if_name }) => if_name);

test("a calendar time counts days back from the day of the start, in UTC", () => {
  expect(new Date(calendar.at("-3d 03:12")).toISOString()).toBe("2026-03-08T03:12:00.000Z");
  expect(calendar.hourOf(calendar.at("-30d 23:30"))).toBe(23.5);
  expect(calendar.weekdayOf(calendar.start)).toBe(new Date(calendar.start).getUTCDay());
  const period = { from: "-2d 08:00", until: "-1d 08:00" } as const;
  expect(calendar.isWithin(calendar.at("-2d 08:00"), period)).toBe(true);
  expect(calendar.isWithin(calendar.at("-1d 08:00"), period)).toBe(false);
});

test("the first scans are more than thirty days old, at any time of start", () => {
  const atMidnight = new Calendar(Date.UTC(2026, 2, 11, 0, 0));
  for (const action of USER_ACTIONS.filter(({ reason }) => reason === "First discovery"))
    expect(atMidnight.start - atMidnight.at(action.at)).toBeGreaterThan(30 * 86_400_000);
});

test("every cable, scenario and machine is at an existing port", () => {
  const first = calendar.at("-31d 08:00");
  const ports = new Map(SWITCHES.map(({ name }) => [name, new Set(portsOf(name, first))]));
  const usedPorts = [
    ...CABLES.flatMap(({ ends: [near, port, other, otherPort] }) => [
      [near, port],
      [other, otherPort],
    ]),
    ...PORT_STORIES.map(({ at }) => at),
    ...instants().flatMap((instant) => campus.stationsAt(instant).map(({ at }) => [at.switchName, at.port])),
  ];
  expect(usedPorts.filter(([name = "", port = ""]) => ports.get(name)?.has(port) !== true)).toEqual([]);
});

test("no MAC address, site address or port is shared at any timestamp", () => {
  for (const instant of instants()) {
    const snapshot = new CampusSnapshot(campus, instant);
    const devices = campus.switchesAt(instant).map((entry) => ({ site: entry.site, device: snapshot.deviceOf(entry) }));
    const stations = campus.stationsAt(instant);
    const macs = [
      ...devices.flatMap(({ device }) => (device.interfaces ?? []).map(({ mac_address }) => mac_address)),
      ...stations.map(({ mac }) => mac),
    ];
    expect(macs.length - new Set(macs).size).toBe(0);
    const addresses = [
      ...devices.flatMap(({ site, device }) => (device.addresses ?? []).map((ip) => `${site} ${ip.ip_address}`)),
      ...stations.flatMap(({ kind, addresses }) => addresses.map((address) => `${kind.site} ${address}`)),
    ];
    expect(addresses.filter((address, index) => addresses.indexOf(address) !== index)).toEqual([]);
    const cabled = CABLES.flatMap(({ ends: [near, port, other, otherPort] }) => [
      `${near} ${port}`,
      `${other} ${otherPort}`,
    ]);
    const allPorts = [...cabled, ...stations.map(({ at }) => `${at.switchName} ${at.port}`)];
    expect(allPorts.filter((port, index) => allPorts.indexOf(port) !== index)).toEqual([]);
  }
});

test("all addresses are reserved for documentation or private, and in a subnet of their site", () => {
  for (const instant of instants()) {
    for (const { kind, addresses } of campus.stationsAt(instant)) {
      for (const address of addresses) {
        const ip = parseIp(address);
        const isInBlock = (cidr: string) => {
          const block = parseCidr(cidr);
          return ip !== null && block !== null && cidrContains(block, ip);
        };
        expect([address, RESERVED_BLOCKS.some(isInBlock)]).toEqual([address, true]);
        const subnet = SUBNETS.find(
          ({ site, cidr, vlan, period }) =>
            site === kind.site && vlan === kind.vlan && isInBlock(cidr) && calendar.isWithin(instant, period ?? {}),
        );
        expect([address, subnet?.vlan]).toEqual([address, kind.vlan]);
      }
    }
  }
});

test("every MAC address has a real manufacturer", () => {
  const instant = calendar.start;
  const snapshot = new CampusSnapshot(campus, instant);
  const macs = [
    ...STATIONS.map(({ mac }) => mac),
    ...campus.switchesAt(instant).flatMap((entry) => snapshot.deviceOf(entry).bridge_address ?? []),
  ];
  expect(macs.filter((mac) => vendorOf(mac) === null)).toEqual([]);
});

test("both ends of a cable announce each other while both are up, and neither otherwise", () => {
  const neighborsOf = (name: string, instant: number) => {
    const device = campus.switchesAt(instant).find((entry) => entry.name === name);
    if (device === undefined) return null;
    const { interfaces = [] } = new CampusSnapshot(campus, instant).deviceOf(device);
    return interfaces.flatMap(({ lldp = [] }) => lldp.map(({ sys_name }) => sys_name)).sort();
  };
  expect(neighborsOf("acc-science-2", calendar.at("-6d 14:00"))).toEqual(["dist-science"]);
  expect(neighborsOf("acc-science-2", calendar.at("-6d 15:00"))).toBeNull();
  const remaining = neighborsOf("dist-science", calendar.at("-6d 15:00"));
  expect(neighborsOf("dist-science", calendar.at("-6d 14:00"))).toEqual(["acc-science-2", ...(remaining ?? [])].sort());
});

test("a credential trial gets a realistic response from the switch at that address only", async () => {
  const now = calendar.at("-1d 12:00");
  const probes = demoProbes({ campus, clock: { now: () => now }, delay: async () => {}, site: "campus" });
  const device = campus.switchesAt(now).find(({ site }) => site === "campus");
  const options = { maySend: () => true, onStep: () => {}, signal: new AbortController().signal };
  const tryAt = async (address: string, word: string) => {
    const tried = await probes.tryCredential(address, community(word), options);
    return Object.fromEntries(tried.map(({ step, outcome }) => [step, outcome]));
  };
  const ip = device?.address ?? "";
  const steps = ["agent", "authentication", "system", "interfaces", "addresses"];
  const passed = Object.fromEntries(steps.map((step) => [step, "Passed"]));
  expect(await tryAt(ip, SNMP_NAMES.campus)).toMatchObject(passed);
  expect(await tryAt(ip, "another")).toMatchObject({ agent: "Passed", authentication: "Failed", system: "NotTried" });
  expect(await tryAt("192.0.2.250", SNMP_NAMES.campus)).toMatchObject({ agent: "Unclear", authentication: "NotTried" });
  const { signal } = options;
  expect((await probes.reach(ip, signal)).answered).toEqual(["Icmp"]);
  expect((await probes.reach("192.0.2.250", signal)).answered).toEqual([]);
});
