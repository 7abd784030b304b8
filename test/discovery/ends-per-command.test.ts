// Ends per command: more than 10,000 would hold the writer for too long, so they take several transactions of one scan.

import { beforeEach, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { fakeDevice } from "../support/injected/fake-probes.ts";
import { address, ethernet, mac } from "../support/reconcile/sightings.ts";

// After any test, derived data matches the ledger.
const appliance = applianceForEach({}, () => expect(appliance.findingsOf()).toEqual([]));
const { newApiKey, newSubnet, communityOf, startScan, waitForScan } = appliance;

const HOUR_MS = 3_600_000;
const ENDS_MAX = 10_000;

let owner: typeof appliance.owner;
beforeEach(() => {
  // Otherwise the session would expire in the meantime.
  owner = appliance.anonymous.with({ authorization: `Bearer ${newApiKey({ permissions: "Owner" }).key}` });
});

async function scanAfter(hours: number, fields: JsonRecord): Promise<JsonRecord> {
  appliance.clock.advance(hours * HOUR_MS);
  const scan = await waitForScan((await startScan(fields, owner)).id, owner);
  expect(scan.status).toBe("Completed");
  return scan;
}
const count = async (path: string) => (await owner.get(`${path}?limit=0`)).body.meta.pagination.total_count;
/** Records that ended in each transaction of a scan that ended any. */
function endsOf({ outcome }: JsonRecord): number[] {
  const rows = appliance.reader.db
    .query(
      `SELECT count(*) FROM history_versions WHERE operation = 3 AND key & 2147483647 BETWEEN ?1 AND ?2
       GROUP BY key & 2147483647 ORDER BY key & 2147483647`,
    )
    .values(outcome.transactions.first, outcome.transactions.last) as Array<[number]>;
  return rows.map(([ends]) => ends);
}

test("expired hosts with more than 10,000 parts end in one scan, each as a whole", async () => {
  await newSubnet({ cidr: "10.0.0.0/22" });
  const asked = Array.from({ length: 15 }, (_, n) => 8_001 + n);
  const open = asked.map((number) => ({ number, protocol: "Tcp", service: null }) as const);
  for (let n = 0; n < 700; n += 1)
    appliance.probes.alive.set(`10.0.${n >> 8}.${n & 255 || 255}`, {
      mac_address: mac(n & 255, 256 + (n >> 8)),
      ports: { asked, open },
    });
  await scanAfter(0, { kind: "sweep" });
  const hosts = await count("hosts");
  expect(hosts).toBeGreaterThan(690);
  appliance.probes.alive.clear();
  await scanAfter(720, { kind: "sweep" });
  const last = await scanAfter(1, { kind: "sweep" });
  const ends = endsOf(last);
  expect(ends.length).toBeGreaterThan(1);
  expect(Math.max(...ends)).toBeLessThanOrEqual(ENDS_MAX);
  expect(ends.reduce((sum, each) => sum + each)).toBe(hosts * (2 + asked.length));
  expect([await count("hosts"), last.outcome.findings.Closed]).toEqual([0, hosts]);
});

test("leftovers of an earlier version end with the first complete read of their device, in one scan", async () => {
  await communityOf("public");
  const router = (interfaces: number, addresses: number) =>
    appliance.probes.devices.set("10.0.0.1", {
      community: "public",
      device: fakeDevice({
        sys_name: "core-1",
        serial_number: "SER100",
        interfaces: Array.from({ length: interfaces }, (_, n) => ethernet(n + 1, { mac_address: mac(0, n + 1) })),
        addresses: Array.from({ length: addresses }, (_, n) => address(`10.${n >> 8}.${n & 255}.1`)),
      }),
    });
  router(9_000, 1_500);
  const named = { kind: "snmp", targets: ["10.0.0.1"] };
  await scanAfter(0, named);
  expect([await count("if-entries"), await count("ip-addresses")]).toEqual([9_000, 1_500]);
  // An earlier version did not store the sizes of tables.
  appliance.inTransaction((tx) => tx.runAfterWrite(() => tx.db.$client.run("DELETE FROM discovery_reads")));
  router(10, 1);
  const ends = endsOf(await scanAfter(1, named));
  expect(ends.length).toBeGreaterThan(1);
  expect(Math.max(...ends)).toBeLessThanOrEqual(ENDS_MAX);
  expect([await count("if-entries"), await count("ip-addresses")]).toEqual([10, 1]);
});
