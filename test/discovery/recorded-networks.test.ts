// Recorded and invented devices, each in a separate network, and all in one network scanned with random orders of
// responses: every device is one host regardless of the order, and a second scan writes nothing.

import { describe, expect, test } from "bun:test";
import { READING_PLAN } from "../../src/discovery/mib/plan.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { seedCount } from "../support/injected/seeds.ts";
import { inventedDevices } from "../support/reconcile/invented-devices.ts";
import { RecordedProbes } from "../support/reconcile/recorded-probes.ts";
import { fixtureNames, recordingNames, suiteRecordings } from "../support/reconcile/recorded-reads.ts";
import { RecordedSite, SITE_BLOCK, siteAddress } from "../support/reconcile/recorded-site.ts";
import { type RecordedSteps, recordedSteps } from "../support/reconcile/reduced-reads.ts";
import { differences } from "../support/reconcile/without-ids.ts";

/**
 * Second recordings of one machine, with its MAC addresses or serial number: in one network it would contradict itself.
 */
const RECORDED_TWICE: ReadonlySet<string> = new Set([
  "barracudaspamfirewall_email-sg",
  "mimosa",
  "netmanage",
  "swos_css106-1g-4p-1s",
  "zynos_xgs4600",
]);

const NOTHING_WRITTEN = { problem: null, transactions: null, records: {} };

interface Devices {
  readonly title: string;
  readonly names: readonly string[];
  readonly stepsOf: (name: string) => RecordedSteps;
  /** Number of orders in a quick run, and in a complete one. */
  readonly orders: readonly [few: number, all: number];
}

const invented = inventedDevices();
const SETS: readonly Devices[] = [
  {
    title: "invented devices",
    names: [...invented.keys()],
    stepsOf: (name) => invented.get(name) as RecordedSteps,
    orders: [8, 50],
  },
  { title: "the lab's devices", names: fixtureNames(), stepsOf: stepsOfRecording, orders: [8, 50] },
  {
    title: "recordings of real devices",
    names: recordingNames(),
    stepsOf: stepsOfRecording,
    orders: [1, 50],
  },
  // Reading hundreds of devices twice takes most of a minute: only with all seeds.
  ...Array.from({ length: seedCount(0, 1) }, () => ({
    title: "the suite's recordings",
    names: suiteRecordings().map(({ name }) => name),
    stepsOf: stepsOfRecording,
    // Hundreds of devices share a name: in their network, details still depend on the order of responses.
    orders: [1, 1] as const,
  })),
];

function stepsOfRecording(name: string): RecordedSteps {
  return recordedSteps(name, READING_PLAN);
}

for (const { title, names, stepsOf, orders } of SETS)
  describe.skipIf(names.length === 0)(`${title} (recordings are skipped without ../shared)`, () => {
    const answering = (some: readonly string[]) =>
      new Map(some.map((name, index) => [siteAddress(index), stepsOf(name)]));

    test("are one host each in separate networks, in which a second scan writes nothing", async () => {
      const site = await RecordedSite.open(new RecordedProbes(answering(names), seededRandom(1)));
      try {
        const networks = await site.networks(names.length);
        const wrong: JsonRecord = {};
        for (const [index, networkId] of networks.entries()) {
          const targets = [siteAddress(index)];
          const first = await site.scan(networkId, targets);
          const again = await site.scan(networkId, targets);
          const hosts = await hostsAt(site, networkId, targets);
          const actual = { ...first.outcome.hosts, hosts: new Set(hosts).size, ...pick(again.outcome) };
          const expected = { found: 1, devices: 1, unreached: 0, hosts: 1, ...NOTHING_WRITTEN };
          if (!Bun.deepEquals(actual, expected)) wrong[names[index] as string] = actual;
        }
        expect(wrong).toEqual({});
      } finally {
        await site.appliance.close();
      }
    });

    test("are one host each in a common network, regardless of the order of responses", async () => {
      const devices = answering(names.filter((name) => !RECORDED_TWICE.has(name)));
      const decoded = new Map();
      let first: string[][] | null = null;
      for (let seed = 1; seed <= seedCount(...orders); seed += 1) {
        const site = await RecordedSite.open(new RecordedProbes(devices, seededRandom(seed * 7_919), decoded));
        try {
          const [networkId = ""] = await site.networks(1);
          const { outcome } = await site.scan(networkId, [SITE_BLOCK]);
          expect(outcome.hosts).toMatchObject({ found: devices.size, devices: devices.size });
          const hosts = await hostsAt(site, networkId, [...devices.keys()]);
          expect(new Set(hosts).size).toBe(devices.size);
          const inventory = await site.inventory(networkId);
          first ??= inventory;
          expect(differences(first, inventory).slice(0, 10)).toEqual([]);
          const again = await site.scan(networkId, [SITE_BLOCK]);
          expect(pick(again.outcome)).toEqual(NOTHING_WRITTEN);
        } finally {
          await site.appliance.close();
        }
      }
    });
  });

function pick({ problem, transactions, records }: JsonRecord): JsonRecord {
  return { problem, transactions, records };
}

/** Ids of the hosts that have these addresses, one per address record. */
async function hostsAt(site: RecordedSite, networkId: string, addresses: readonly string[]): Promise<string[]> {
  const wanted = new Set(addresses);
  const all = await site.list("ip-addresses", networkId);
  return all.filter(({ ip_address }) => wanted.has(ip_address)).map(({ host_id }) => host_id);
}
