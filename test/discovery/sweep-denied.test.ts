// Sweeps without direct access to the kernel, in network namespaces: fewer hosts, but no false ones. Requires root and
// a C compiler, and reports when skipped.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Denial, DenialWrapper } from "../support/executable/denial.ts";
import {
  LAB,
  SWEEP_LAB_MISSING,
  SweepLab,
  type SweepOrder,
  type SweepReport,
  type SweepReports,
} from "../support/sweep/lab.ts";

const wrapper = new DenialWrapper();
afterAll(() => wrapper.close());

const MISSING = SWEEP_LAB_MISSING ?? wrapper.missing;

const options = { isDnsOn: false };
const ORDERS = {
  silent: { cidrs: ["10.60.4.0/26"], options },
  errors: { cidrs: ["10.61.0.0/27", "10.62.0.0/27"], options },
  behind: { cidrs: [`${LAB.behind}/32`], options },
  link: { cidrs: ["10.70.0.0/26"], options: { ...options, tcpPorts: [22, 80] } },
  proxied: { cidrs: [LAB.proxied], options: { ...options, tcpPorts: [80] } },
  gone: { cidrs: [`${LAB.gone}/32`], options: { ...options, isArpOn: false, tcpPorts: [80] } },
  six: { cidrs: ["fd70::/124"], options: { ...options, tcpPorts: [80] } },
  nowhere: { cidrs: ["192.0.2.0/29"], options },
  broadcast: { cidrs: ["10.70.0.255/32", "224.0.0.1/32"], options },
} satisfies Record<string, SweepOrder>;

/** Hosts and the evidence for them, per network. */
const EXPECTED_HOSTS: Readonly<
  Record<Denial, Partial<Record<keyof typeof ORDERS, ReadonlyArray<readonly [string, string]>>>>
> = {
  mdwe: {
    behind: [[LAB.behind, "Tcp"]],
    link: [
      [LAB.self, "Tcp"],
      [LAB.host, "Tcp Neighbor"],
      [LAB.arpOnly, "Neighbor"],
    ],
    // The neighbor serves nothing over IPv6: its refusal could come from anyone.
    six: [["fd70::1", "Tcp"]],
  },
  netlink: {
    behind: [[LAB.behind, "Tcp"]],
    link: [
      [LAB.self, "Icmp Tcp"],
      [LAB.host, "Tcp Neighbor"],
      [LAB.arpOnly, "Neighbor"],
    ],
    six: [
      ["fd70::1", "Icmp Tcp"],
      [LAB.hostV6, "Icmp Tcp"],
    ],
  },
};

for (const denial of ["mdwe", "netlink"] as const) {
  describe.skipIf(MISSING !== null)(`without ${denial}${MISSING === null ? "" : ` (skipped ${MISSING})`}`, () => {
    let lab: SweepLab;
    let all: SweepReports;

    beforeAll(async () => {
      lab = await SweepLab.start((command) => wrapper.command(denial, command));
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

    for (const name of Object.keys(ORDERS) as Array<keyof typeof ORDERS>) {
      const expected = EXPECTED_HOSTS[denial][name] ?? [];
      test(`${name}: ${expected.length === 0 ? "finds no host" : "finds responding hosts, and no others"}`, () => {
        expect(
          report(name).sightings.map(({ ip_address, answered }) => [ip_address, answered.join(" ")] as const),
        ).toEqual([...expected]);
      });
    }

    test("on-link hosts have their MAC address", () => {
      expect(report("link").sightings.map(({ mac_address }) => mac_address)).toEqual([null, LAB.hostMac, LAB.hostMac]);
    });

    test("addresses without a route are not probed", () => {
      expect(report("nowhere").stats).toMatchObject({ requests: 0, errors: { NoRoute: 6 } });
    });

    test("an ambiguous refusal is not an error, and an open port is reported", () => {
      expect(report("behind").sightings[0]?.ports?.open.map(({ number }) => number)).toEqual([80]);
      expect(report("behind").sightings[0]?.ports?.asked).toEqual(expect.arrayContaining([22, 80, 443]));
    });

    test("no descriptor is leaked", () => expect(all.descriptorsAfter).toBeLessThanOrEqual(all.descriptorsBefore));
  });
}
