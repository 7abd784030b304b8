// Trust decisions of a sweep in network namespaces: silence, links, routers that respond for others, and forged
// replies. Requires root, and reports when skipped.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TEST_HANG_MS } from "../support/measure/limits.ts";
import {
  LAB,
  SWEEP_LAB_MISSING,
  SweepLab,
  type SweepOrder,
  type SweepReport,
  type SweepReports,
} from "../support/sweep/lab.ts";

const title =
  SWEEP_LAB_MISSING === null
    ? "in a network of namespaces"
    : `skipped ${SWEEP_LAB_MISSING}: in a network of namespaces`;

/** All wait for timeouts, so they run in parallel. */
const ORDERS = {
  silent: { cidrs: ["10.60.4.0/24"], options: { isDnsOn: false } },
  errors: { cidrs: ["10.61.0.0/27", "10.62.0.0/27"], options: { isDnsOn: false } },
  forged: { cidrs: ["10.63.0.0/29"], options: { isDnsOn: false, tcpPorts: [] } },
  forgedByTcp: { cidrs: ["10.63.0.0/29"], options: { isDnsOn: false, echoMethods: [] } },
  behind: { cidrs: [`${LAB.behind}/32`], options: { isDnsOn: false } },
  link: { cidrs: ["10.70.0.0/26"], options: { isDnsOn: false, tcpPorts: [22, 80] } },
  proxied: { cidrs: [LAB.proxied], options: { isDnsOn: false, tcpPorts: [80] } },
  kernel: { cidrs: ["10.70.0.0/28"], options: { isDnsOn: false, isArpOn: false, tcpPorts: [80] } },
  gone: { cidrs: [`${LAB.gone}/32`], options: { isDnsOn: false, isArpOn: false, tcpPorts: [80] } },
  six: { cidrs: ["fd70::/124"], options: { isDnsOn: false, tcpPorts: [80] } },
  withoutIcmp: {
    cidrs: ["10.70.0.0/29", `${LAB.behind}/32`],
    options: { isDnsOn: false, isArpOn: false, echoMethods: [], tcpPorts: [80] },
  },
  nowhere: { cidrs: ["192.0.2.0/29"], options: { isDnsOn: false } },
} satisfies Record<string, SweepOrder>;

describe.skipIf(SWEEP_LAB_MISSING !== null)(title, () => {
  let lab: SweepLab;
  let all: SweepReports;

  beforeAll(async () => {
    lab = await SweepLab.start();
    all = await lab.sweep(Object.values(ORDERS));
  });

  afterAll(async () => {
    await lab?.stop();
  });

  function report(name: keyof typeof ORDERS): SweepReport {
    const result = all.reports[Object.keys(ORDERS).indexOf(name)];
    if (!result) throw new Error(`no report for ${name}`);
    return result;
  }

  function hostsIn(name: keyof typeof ORDERS): [string, string][] {
    return report(name).sightings.map(({ ip_address, answered }) => [ip_address, answered.join(" ")]);
  }

  function macsIn(name: keyof typeof ORDERS): (string | null)[] {
    return report(name).sightings.map(({ mac_address }) => mac_address);
  }

  test("a silent network has no hosts", () => {
    expect(report("silent").sightings).toEqual([]);
    // Two echo requests and three ports each.
    expect(report("silent").stats).toMatchObject({ done: 254, found: 0, requests: 254 * 5, errors: {} });
  });

  test("router messages are not evidence of a host: neither unreachable hosts nor non-TCP refusals", () => {
    const { sightings, stats } = report("errors");
    expect(sightings).toEqual([]);
    expect(stats.errors.PortUnreachable).toBe(30 * 3);
    // A kernel does not report every one.
    expect(stats.errors.HostUnreachable).toBeGreaterThan(0);
  });

  test("an echo reply counts only from the probed address, with the sent payload", () => {
    expect(hostsIn("forged")).toEqual([[LAB.genuine, "Icmp"]]);
    expect(hostsIn("forgedByTcp")).toEqual([]);
  });

  test("a host that drops echo requests is found by a port, and probed for all ports", () => {
    const service = { name: "liar 1.0: Router of the lab", service_definition: "http" };
    expect(report("behind").sightings).toEqual([
      {
        ip_address: LAB.behind,
        mac_address: null,
        answered: ["Tcp"],
        ports: {
          asked: expect.arrayContaining([22, 80, 443]),
          open: [{ number: 80, protocol: "Tcp", service }],
          refused: expect.arrayContaining([22, 443]),
        },
      },
    ]);
    expect(report("behind").sightings[0]?.ports?.asked.length).toBeGreaterThanOrEqual(20);
  });

  test("on-link probing uses ARP: hosts have their MAC address, even if they drop other packets", () => {
    expect(hostsIn("link")).toEqual([
      [LAB.self, "Icmp Tcp"],
      [LAB.host, "Tcp Neighbor"],
      [LAB.arpOnly, "Neighbor"],
    ]);
    expect(macsIn("link")).toEqual([null, LAB.hostMac, LAB.hostMac]);
    expect(report("link").stats.methods).toContain("ARP");
  });

  test("a router with proxy ARP for a whole network creates no hosts", () => {
    expect(hostsIn("proxied")).toEqual([]);
    expect(report("proxied").stats.done).toBe(14);
  });

  test("without raw ARP the kernel's neighbor table is used, except unconfirmed entries", () => {
    expect(hostsIn("kernel")).toEqual([
      [LAB.self, "Icmp Tcp"],
      [LAB.host, "Tcp Neighbor"],
      [LAB.arpOnly, "Neighbor"],
    ]);
    expect(macsIn("kernel")).toEqual([null, LAB.hostMac, LAB.hostMac]);
    expect(hostsIn("gone")).toEqual([]);
  });

  test("IPv6 neighbors have their MAC address as well", () => {
    expect(hostsIn("six")).toEqual([
      ["fd70::1", "Icmp Tcp"],
      [LAB.hostV6, "Icmp Tcp Neighbor"],
    ]);
    expect(macsIn("six")).toEqual([null, LAB.hostMac]);
  });

  test("without ICMP, TCP finds hosts with ports, and is named in the report", () => {
    expect(hostsIn("withoutIcmp").map(([address]) => address)).toEqual(
      expect.arrayContaining([LAB.behind, LAB.self, LAB.host]),
    );
    expect(report("withoutIcmp").stats.methods).toBe("TCP");
  });

  test("addresses without a route are not probed", () => {
    expect(report("nowhere")).toMatchObject({ sightings: [], stats: { done: 6, requests: 0, errors: { NoRoute: 6 } } });
  });

  test(
    "a TCP self-connection is not an open port",
    async () => {
      const before = "echo 40000 40001 >/proc/sys/net/ipv4/ip_local_port_range";
      const { reports } = await lab.sweep([
        { before, cidrs: ["127.0.0.1/32"], options: { isDnsOn: false, echoMethods: [], tcpPorts: [40_000, 40_001] } },
      ]);
      expect(reports[0]?.sightings).toMatchObject([{ ip_address: "127.0.0.1", ports: { open: [] } }]);
    },
    TEST_HANG_MS,
  );

  test("no descriptor is leaked", () => expect(all.descriptorsAfter).toBeLessThanOrEqual(all.descriptorsBefore));
});
