// Credential coverage after a prune: kept for all states that can still be restored, and for no others.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Instant } from "../../src/base/instant.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import type { Resolution } from "../../src/db/pruned-history.ts";
import { installRowSumTriggers } from "../../src/db/row-sums.ts";
import { type PruneResult, pruneHistory } from "../../src/history/prune.ts";
import { planSteps, runPlan } from "../../src/history/prune-plan.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { credentialCoverage } from "../../src/resources/credential-assignments/coverage.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import { expectOk, type JsonRecord, newHost, newSubnet, transactionCount } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { communityOf } from "../support/appliance/scans.ts";
import { recomputeChecksums } from "../support/store/tampering.ts";

const HOUR_MS = 3_600_000;
const day = (date: number, hour = 0): Instant => Date.UTC(2026, 10, date, hour);

/** Addresses, named for the day on which their coverage ended; that of the first ended on the day it began. */
const BRIEFLY = "10.2.0.1";
const ON_22 = "10.2.0.2";
const ON_23 = "10.2.0.3";
const ON_24 = "10.2.0.4";
const NEVER = "10.2.0.5";

/** An appliance with a host whose credential stopped covering one address after another. */
interface Fixture {
  readonly appliance: TestAppliance;
  readonly host: JsonRecord;
  /** Transaction that removed the last address. */
  readonly lastEnd: number;
}

let fixtures: Fixture[];
beforeEach(() => {
  fixtures = [];
});
afterEach(async () => {
  for (const { appliance } of fixtures) await appliance.close();
});

/**
 * 2026-11-21, 10:00: a host gets a credential; at 11:00 it loses an address. It loses another one on each of the next
 * three days, at 12:00. An hour after each loss it is renamed.
 */
async function newFixture(): Promise<Fixture> {
  const appliance = await newAppliance();
  const { clock, owner } = appliance;
  const waitUntil = (at: Instant) => clock.advance(at - clock.now());
  waitUntil(day(21, 10));
  await newSubnet(appliance, { cidr: "10.2.0.0/24" });
  const addresses = [BRIEFLY, ON_22, ON_23, ON_24, NEVER].map((ip_address) => ({ ip_address }));
  const host = await newHost(appliance, { name: "core", ip_addresses: addresses });
  const assigned = { assigned_network_ids: [], host_assignments: [{ host_id: host.id }] };
  await communityOf(appliance, "s3cret", assigned);
  let lastEnd = 0;
  const ends = [
    [BRIEFLY, day(21, 11)],
    [ON_22, day(22, 12)],
    [ON_23, day(23, 12)],
    [ON_24, day(24, 12)],
  ] as const;
  for (const [value, at] of ends) {
    waitUntil(at);
    const { id } = host.ip_addresses.find((address: JsonRecord) => address.ip_address === value);
    await expectOk(owner.delete(`ip-addresses/${id}`));
    lastEnd = transactionCount(appliance);
    clock.advance(HOUR_MS);
    await expectOk(owner.put(`hosts/${host.id}`, hostBody(host, { name: `without ${value}` })));
  }
  waitUntil(day(26));
  const fixture = { appliance, host, lastEnd };
  fixtures.push(fixture);
  return fixture;
}

function withStore<T>({ appliance }: Fixture, action: (db: Sql) => T): T {
  const db = openWritable(appliance.databasePath);
  try {
    return action(db);
  } finally {
    db.$client.close();
  }
}

function pruneBefore(fixture: Fixture, date: number, keep: Resolution): PruneResult {
  const { clock } = fixture.appliance;
  const pruned = withStore(fixture, (db) => {
    const request = { before: day(date), keep };
    const plan = runPlan(planSteps(db, request), () => {});
    const { report, ...done } = pruneHistory(db, KINDS, request, clock.now());
    expect(done).toEqual(plan);
    return { ...done, report };
  });
  clock.advance(HOUR_MS);
  return pruned;
}

/** Addresses with an ended coverage record. */
function endedAddresses(fixture: Fixture): string[] {
  return addressesOf(fixture, "until IS NOT NULL");
}

/** Covered addresses. */
function coveredAddresses(fixture: Fixture): string[] {
  return addressesOf(fixture, "until IS NULL");
}

function addressesOf(fixture: Fixture, where: string): string[] {
  const sql = `SELECT ip_address FROM credential_coverage WHERE ${where} ORDER BY 1`;
  return withStore(fixture, (db) => db.$client.query(sql).values() as Array<[string]>).map(([value]) => value);
}

function expectVerified(fixture: Fixture): void {
  expect(withStore(fixture, (db) => verifyLedger(db, KINDS).findings)).toEqual([]);
}

async function restoreAt(fixture: Fixture, at: Instant): Promise<string[]> {
  const { owner } = fixture.appliance;
  await expectOk(owner.post(`hosts/${fixture.host.id}/restore`, { at: new Date(at).toISOString() }));
  expectVerified(fixture);
  return coveredAddresses(fixture);
}

async function revertLastEnd(fixture: Fixture): Promise<string[]> {
  await expectOk(fixture.appliance.owner.post(`transactions/${fixture.lastEnd}/revert`, {}));
  expectVerified(fixture);
  return coveredAddresses(fixture);
}

describe("pruning of ended coverage", () => {
  test("drops coverage that ended between two kept states, and keeps what held at one or ended later", async () => {
    const fixture = await newFixture();
    expect(endedAddresses(fixture)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
    expect(pruneBefore(fixture, 24, "daily").coverage).toBe(1);
    expect(endedAddresses(fixture)).toEqual([ON_22, ON_23, ON_24]);
    expect(coveredAddresses(fixture)).toEqual([NEVER]);
    expectVerified(fixture);
  });

  test("drops, if only the last state is kept, everything that had ended by then", async () => {
    const fixture = await newFixture();
    expect(pruneBefore(fixture, 24, "none").coverage).toBe(3);
    expect(endedAddresses(fixture)).toEqual([ON_24]);
    expect(coveredAddresses(fixture)).toEqual([NEVER]);
    expectVerified(fixture);
  });

  test("processes all of it, however much there is", async () => {
    const fixture = await newFixture();
    withStore(fixture, (db) => {
      installRowSumTriggers(db);
      db.$client.run(
        `INSERT INTO credential_coverage (assignment_n, ip_address, since, until, origin)
         SELECT assignment_n, '10.3.0.' || key, since, until, origin
         FROM credential_coverage, json_each(?) WHERE ip_address = ?`,
        [JSON.stringify(new Array(6_000).fill(0)), ON_22],
      );
      recomputeChecksums(db, credentialCoverage);
    });
    expect(pruneBefore(fixture, 24, "daily").coverage).toBe(1);
    expect(pruneBefore(fixture, 24, "none").coverage).toBe(6_002);
    expect(endedAddresses(fixture)).toEqual([ON_24]);
    expectVerified(fixture);
  });

  test("drops more in a later prune that reaches further or keeps less", async () => {
    const fixture = await newFixture();
    const requests = [
      [22, "daily"],
      [24, "daily"],
      [23, "none"],
      [24, "monthly"],
      [25, "none"],
    ] as const;
    expect(
      requests.map(([date, keep]) => [pruneBefore(fixture, date, keep).coverage, endedAddresses(fixture)]),
    ).toEqual([
      [1, [ON_22, ON_23, ON_24]],
      [0, [ON_22, ON_23, ON_24]],
      [1, [ON_23, ON_24]],
      // The last state before the 23rd is retained as the end of the next thinned segment.
      [0, [ON_23, ON_24]],
      [2, []],
    ]);
    expect(coveredAddresses(fixture)).toEqual([NEVER]);
    expectVerified(fixture);
  });

  test("drops nothing if it ends before all data", async () => {
    const fixture = await newFixture();
    expect(pruneBefore(fixture, 20, "none")).toMatchObject({ coverage: 0, report: null });
    expect(endedAddresses(fixture)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
  });

  test("drops nothing if interrupted at the end", async () => {
    const fixture = await newFixture();
    withStore(fixture, (db) => {
      let isThinned = false;
      const cutOff = ({ step }: { step: string }) => {
        isThinned ||= step === "records rebuilt";
        if (isThinned) throw new Error("the plug was pulled");
      };
      const request = { before: day(25), keep: "none" } as const;
      expect(() => pruneHistory(db, KINDS, request, fixture.appliance.clock.now(), cutOff)).toThrow(
        "the plug was pulled",
      );
    });
    expect(endedAddresses(fixture)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
    expectVerified(fixture);
  });
});

describe("credentials sent after a prune", () => {
  const ALL = [ON_22, ON_23, ON_24, NEVER];
  test.each([
    ["the last state of the first day", day(22), ALL],
    ["a state in between, resolved to the preceding one", day(22, 12) + 1, ALL],
    ["the last state of the second day", day(23), ALL.slice(1)],
    ["the last state that the prune reached", day(24), ALL.slice(2)],
    ["a later state", day(24, 12) + 2 * HOUR_MS, [NEVER]],
  ])("go to the host's addresses at that time, after a restore of %s", async (_state, at, addresses) => {
    const fixture = await newFixture();
    pruneBefore(fixture, 24, "daily");
    expect(await restoreAt(fixture, at)).toEqual(addresses);
  });

  test("go to the same addresses as without it, after a revert of later changes and after restores", async () => {
    const [pruned, unpruned] = [await newFixture(), await newFixture()];
    pruneBefore(pruned, 24, "daily");
    const restoreAll = async (fixture: Fixture) => {
      const all = [await revertLastEnd(fixture)];
      for (const date of [25, 24, 23, 22]) all.push(await restoreAt(fixture, day(date)));
      return all;
    };
    const found = await restoreAll(pruned);
    expect(found).toEqual(await restoreAll(unpruned));
    expect(found).toEqual([ALL.slice(2), ALL.slice(3), ALL.slice(2), ALL.slice(1), ALL]);
  });

  test("go to the addresses of the only kept state", async () => {
    const fixture = await newFixture();
    pruneBefore(fixture, 24, "none");
    expect(await restoreAt(fixture, day(24))).toEqual([ON_24, NEVER]);
  });
});
