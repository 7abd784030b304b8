// Credential coverage after a prune: kept for all states that can still be restored, and nothing else.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Instant } from "../../src/base/instant.ts";
import { openWritable, type Sql } from "../../src/db/connection.ts";
import type { Resolution } from "../../src/db/pruned-history.ts";
import { keepRowSums } from "../../src/db/row-sums.ts";
import { type Pruned, pruneHistory } from "../../src/history/prune.ts";
import { planned, planSteps } from "../../src/history/prune-plan.ts";
import { verifyLedger } from "../../src/history/verify/verify.ts";
import { KINDS } from "../../src/records/resources.ts";
import { credentialCoverage } from "../../src/resources/credential-assignments/coverage.ts";
import { newAppliance, type TestAppliance } from "../support/appliance/appliance.ts";
import { made, newHost, newSubnet, transactionCount, type Wire } from "../support/appliance/factories.ts";
import { hostBody } from "../support/appliance/inventory.ts";
import { communityOf } from "../support/appliance/scans.ts";
import { restamp } from "../support/store/unguarded.ts";

const HOUR_MS = 3_600_000;
const day = (date: number, hour = 0): Instant => Date.UTC(2026, 10, date, hour);

/** Named for the day on which the coverage ended: the first on the day it began. */
const BRIEFLY = "10.2.0.1";
const ON_22 = "10.2.0.2";
const ON_23 = "10.2.0.3";
const ON_24 = "10.2.0.4";
const NEVER = "10.2.0.5";

/** An appliance with a host whose credential stopped covering one address after another. */
interface World {
  readonly appliance: TestAppliance;
  readonly host: Wire;
  /** Transaction that removed the last one. */
  readonly lastEnd: number;
}

let worlds: World[];
beforeEach(() => {
  worlds = [];
});
afterEach(async () => {
  for (const { appliance } of worlds) await appliance.close();
});

/**
 * 2026-11-21, 10:00: a host gets a credential; at 11:00 it loses an address. It loses another one on each of the next
 * three days, at 12:00. An hour after each loss it is renamed.
 */
async function newWorld(): Promise<World> {
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
    const { id } = host.ip_addresses.find((each: Wire) => each.ip_address === value);
    await made(owner.delete(`ip-addresses/${id}`));
    lastEnd = transactionCount(appliance);
    clock.advance(HOUR_MS);
    await made(owner.put(`hosts/${host.id}`, hostBody(host, { name: `without ${value}` })));
  }
  waitUntil(day(26));
  const world = { appliance, host, lastEnd };
  worlds.push(world);
  return world;
}

function withStore<T>({ appliance }: World, act: (db: Sql) => T): T {
  const db = openWritable(appliance.databasePath);
  try {
    return act(db);
  } finally {
    db.$client.close();
  }
}

function pruneBefore(world: World, date: number, keep: Resolution): Pruned {
  const { clock } = world.appliance;
  const pruned = withStore(world, (db) => {
    const order = { before: day(date), keep };
    const plan = planned(planSteps(db, order), () => {});
    const { report, ...done } = pruneHistory(db, KINDS, order, clock.now());
    expect(done).toEqual(plan);
    return { ...done, report };
  });
  clock.advance(HOUR_MS);
  return pruned;
}

/** Addresses with an ended coverage record. */
function ended(world: World): string[] {
  return addressesOf(world, "until IS NOT NULL");
}

/** Covered addresses. */
function covered(world: World): string[] {
  return addressesOf(world, "until IS NULL");
}

function addressesOf(world: World, where: string): string[] {
  const sql = `SELECT ip_address FROM credential_coverage WHERE ${where} ORDER BY 1`;
  return withStore(world, (db) => db.$client.query(sql).values() as Array<[string]>).map(([value]) => value);
}

function expectSound(world: World): void {
  expect(withStore(world, (db) => verifyLedger(db, KINDS).findings)).toEqual([]);
}

async function restored(world: World, at: Instant): Promise<string[]> {
  const { owner } = world.appliance;
  await made(owner.post(`hosts/${world.host.id}/restore`, { at: new Date(at).toISOString() }));
  expectSound(world);
  return covered(world);
}

async function lastEndReverted(world: World): Promise<string[]> {
  await made(world.appliance.owner.post(`transactions/${world.lastEnd}/revert`, {}));
  expectSound(world);
  return covered(world);
}

describe("pruning of ended coverage", () => {
  test("drops coverage that ended between two kept states, and keeps what held at one or ended later", async () => {
    const world = await newWorld();
    expect(ended(world)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
    expect(pruneBefore(world, 24, "daily").coverage).toBe(1);
    expect(ended(world)).toEqual([ON_22, ON_23, ON_24]);
    expect(covered(world)).toEqual([NEVER]);
    expectSound(world);
  });

  test("drops, if only the last state is kept, everything that had ended by then", async () => {
    const world = await newWorld();
    expect(pruneBefore(world, 24, "none").coverage).toBe(3);
    expect(ended(world)).toEqual([ON_24]);
    expect(covered(world)).toEqual([NEVER]);
    expectSound(world);
  });

  test("processes all of it, however much there is", async () => {
    const world = await newWorld();
    withStore(world, (db) => {
      keepRowSums(db);
      db.$client.run(
        `INSERT INTO credential_coverage (assignment_n, ip_address, since, until, origin)
         SELECT assignment_n, '10.3.0.' || key, since, until, origin
         FROM credential_coverage, json_each(?) WHERE ip_address = ?`,
        [JSON.stringify(new Array(6_000).fill(0)), ON_22],
      );
      restamp(db, credentialCoverage);
    });
    expect(pruneBefore(world, 24, "daily").coverage).toBe(1);
    expect(pruneBefore(world, 24, "none").coverage).toBe(6_002);
    expect(ended(world)).toEqual([ON_24]);
    expectSound(world);
  });

  test("drops more in a later prune that reaches further or keeps less", async () => {
    const world = await newWorld();
    const orders = [
      [22, "daily"],
      [24, "daily"],
      [23, "none"],
      [24, "monthly"],
      [25, "none"],
    ] as const;
    expect(orders.map(([date, keep]) => [pruneBefore(world, date, keep).coverage, ended(world)])).toEqual([
      [1, [ON_22, ON_23, ON_24]],
      [0, [ON_22, ON_23, ON_24]],
      [1, [ON_23, ON_24]],
      // The last state before the 23rd is retained as the end of the further thinned segment.
      [0, [ON_23, ON_24]],
      [2, []],
    ]);
    expect(covered(world)).toEqual([NEVER]);
    expectSound(world);
  });

  test("drops nothing if it ends before all data", async () => {
    const world = await newWorld();
    expect(pruneBefore(world, 20, "none")).toMatchObject({ coverage: 0, report: null });
    expect(ended(world)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
  });

  test("drops nothing if interrupted at the end", async () => {
    const world = await newWorld();
    withStore(world, (db) => {
      let isThinned = false;
      const cutOff = ({ step }: { step: string }) => {
        isThinned ||= step === "records rebuilt";
        if (isThinned) throw new Error("the plug was pulled");
      };
      const order = { before: day(25), keep: "none" } as const;
      expect(() => pruneHistory(db, KINDS, order, world.appliance.clock.now(), cutOff)).toThrow("the plug was pulled");
    });
    expect(ended(world)).toEqual([BRIEFLY, ON_22, ON_23, ON_24]);
    expectSound(world);
  });
});

describe("after a prune, credentials are sent", () => {
  const ALL = [ON_22, ON_23, ON_24, NEVER];
  test.each([
    ["the last state of the first day", day(22), ALL],
    ["a state in between, resolved to the preceding one", day(22, 12) + 1, ALL],
    ["the last state of the second day", day(23), ALL.slice(1)],
    ["the last state that the prune reached", day(24), ALL.slice(2)],
    ["a later state", day(24, 12) + 2 * HOUR_MS, [NEVER]],
  ])("to the host's addresses at that time, after a restore of %s", async (_state, at, addresses) => {
    const world = await newWorld();
    pruneBefore(world, 24, "daily");
    expect(await restored(world, at)).toEqual(addresses);
  });

  test("to the same addresses as without it, after a revert of later changes and after restores", async () => {
    const [pruned, whole] = [await newWorld(), await newWorld()];
    pruneBefore(pruned, 24, "daily");
    const broughtBack = async (world: World) => {
      const all = [await lastEndReverted(world)];
      for (const date of [25, 24, 23, 22]) all.push(await restored(world, day(date)));
      return all;
    };
    const found = await broughtBack(pruned);
    expect(found).toEqual(await broughtBack(whole));
    expect(found).toEqual([ALL.slice(2), ALL.slice(3), ALL.slice(2), ALL.slice(1), ALL]);
  });

  test("to the addresses of the only kept state", async () => {
    const world = await newWorld();
    pruneBefore(world, 24, "none");
    expect(await restored(world, day(24))).toEqual([ON_24, NEVER]);
  });
});
