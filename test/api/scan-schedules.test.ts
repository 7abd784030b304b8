// Scheduled scans on a manual clock.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant, parseInstant } from "../../src/base/instant.ts";
import { RecentLines } from "../../src/base/recent-lines.ts";
import type { Timers } from "../../src/base/timers.ts";
import { SCANS_WAITING_MAX } from "../../src/discovery/scans/scan.ts";
import { type ScheduledScans, ScheduleRunner } from "../../src/discovery/scans/schedule-runner.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { startScan } from "../support/appliance/scans.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const HOUR_MS = 3_600_000;
const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

const appliance = applianceForEach({}, () => runner?.stop());
const {
  clock,
  communityOf,
  first,
  holdProbes,
  newApiKey,
  newNetwork,
  newSubnet,
  newUser,
  probes,
  timers,
  waitForScan,
} = appliance;
/** By API key: a session would expire within the simulated weeks. */
let apiClient: Client;
let runner: ScheduleRunner | null;
/** The longest wait so far. */
let longestMs: number;

beforeEach(async () => {
  apiClient = newApiKey().client;
  runner = null;
  longestMs = 0;
  await newSubnet({ cidr: "10.0.0.0/30" });
});

function createSchedule(fields: JsonRecord = {}): Promise<JsonRecord> {
  return expectOk(
    apiClient.post("discovery/schedules", {
      network_id: first.networkId,
      name: "nightly",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      kind: "sweep",
      ...fields,
    }),
  );
}

const createHourly = () => createSchedule({ cron: "0 * * * *", timezone: "UTC" });

/** Starts the schedule runner as the appliance does. */
async function start(scans: ScheduledScans = appliance.scans, base: Timers = timers): Promise<void> {
  const timers: Timers = {
    after: (ms, action) => {
      longestMs = Math.max(longestMs, ms);
      return base.after(ms, action);
    },
  };
  const { reader, writes, commits } = appliance;
  const line =
    (level: string) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      void appliance.logLines.push(`${level} ${event} ${JSON.stringify(fields)}`);
  runner = new ScheduleRunner({
    reader,
    writes,
    commits,
    scans,
    clock,
    timers,
    log: {
      info: line("INFO"),
      warn: line("WARN"),
      error: line("ERROR"),
      audit: line("INFO"),
      recent: new RecentLines(),
    },
  });
  runner.start();
  await settle();
}

async function stop(): Promise<void> {
  runner?.stop();
  await settle();
}

/** Yields until all pending work is done. */
async function settle(): Promise<void> {
  for (let count = 0; count < 30; count += 1) await nextTick();
}

/** Advances time to a timestamp in steps. */
async function advanceTo(text: string, stepMs = 10 * 60_000): Promise<void> {
  const until = parseInstant(text) as number;
  while (clock.now() < until) {
    timers.pass(Math.min(stepMs, until - clock.now()));
    await settle();
  }
}

/** Request times of scans, to the minute. */
async function runTimes(): Promise<string[]> {
  const { data } = await apiClient.get("discovery/scans?limit=0");
  return (data as JsonRecord[]).map(({ requested_at }) => requested_at.slice(0, 16));
}

describe("a schedule", () => {
  test("scans its network whenever due, and is named as the scan's origin", async () => {
    const { id } = await createSchedule({ kind: "snmp", targets: ["10.0.0.1"] });
    await start();
    await advanceTo("2026-11-22T01:29:59Z");
    expect(await runTimes()).toEqual([]);
    await advanceTo("2026-11-22T01:30:00Z");
    expect(await runTimes()).toEqual(["2026-11-22T01:30"]);
    const [scan] = (await apiClient.get("discovery/scans")).data as [JsonRecord];
    expect(scan).toMatchObject({
      kind: "snmp",
      targets: ["10.0.0.1"],
      commit: true,
      allow_large: false,
      schedule_id: id,
      requested_by: { type: "System", id: null, name: "schedule nightly" },
    });
    expect((await waitForScan(scan.id)).status).toBe("Completed");
    await advanceTo("2026-11-24T12:00:00Z");
    expect(await runTimes()).toEqual(["2026-11-22T01:30", "2026-11-23T01:30", "2026-11-24T01:30"]);
  });

  test("uses the network's credentials for an Admin's targets, and otherwise only in accepting subnets", async () => {
    const [subnet] = (await apiClient.get("subnets")).data as [JsonRecord];
    await expectOk(apiClient.put(`subnets/${subnet.id}`, { ...subnet, accepts_credentials: false }));
    await communityOf("public");
    await expectOk(
      apiClient.post("hosts", {
        network_id: first.networkId,
        name: "core",
        ip_addresses: [{ ip_address: "10.0.0.1" }],
      }),
    );
    const { id } = await createSchedule({ kind: "snmp", targets: ["10.0.0.1"] });
    await start();
    const probedAddresses = async (until: string) => {
      probes.queries.length = 0;
      await advanceTo(until, 24 * HOUR_MS);
      for (const scan of (await apiClient.get("discovery/scans?limit=0")).data as JsonRecord[])
        await waitForScan(scan.id);
      return probes.queries.map(({ address }) => address);
    };
    expect(await probedAddresses("2026-11-22T02:00:00Z")).toEqual(["10.0.0.1"]);
    await expectOk(
      apiClient.put(`discovery/schedules/${id}`, { name: "nightly", cron: "30 2 * * *", kind: "snmp", targets: null }),
    );
    await settle();
    expect(await probedAddresses("2026-11-23T02:00:00Z")).toEqual([]);
    expect(await runTimes()).toHaveLength(2);
  });

  test("follows its time zone: right after a spring gap, and once in a repeated hour", async () => {
    await advanceTo("2027-03-27T00:00:00Z", 30 * 24 * HOUR_MS);
    await createSchedule();
    await start();
    await advanceTo("2027-03-30T12:00:00Z");
    // 02:30 does not exist on the 28th in Berlin: right after the gap, at 03:00 summer time.
    expect(await runTimes()).toEqual(["2027-03-27T01:30", "2027-03-28T01:00", "2027-03-29T00:30", "2027-03-30T00:30"]);
    await stop();
    await advanceTo("2027-10-30T12:00:00Z", 30 * 24 * HOUR_MS);
    await start();
    const before = (await runTimes()).length;
    await advanceTo("2027-11-01T12:00:00Z");
    expect((await runTimes()).slice(before)).toEqual(["2027-10-31T00:30", "2027-11-01T01:30"]);
  });

  test("is caught up once if missed while the appliance was down, however often it was due", async () => {
    await createHourly();
    await start();
    await advanceTo("2026-11-21T11:30:00Z");
    expect(await runTimes()).toEqual(["2026-11-21T10:00", "2026-11-21T11:00"]);
    await stop();
    await advanceTo("2026-11-23T07:30:00Z", HOUR_MS);
    expect(await runTimes()).toHaveLength(2);
    await start();
    expect((await runTimes()).slice(2)).toEqual(["2026-11-23T07:30"]);
    await advanceTo("2026-11-23T08:10:00Z");
    expect((await runTimes()).slice(3)).toEqual(["2026-11-23T08:00"]);
    await stop();
    await start();
    expect(await runTimes()).toHaveLength(4);
  });

  test("is caught up once after a year, even if due every minute", async () => {
    await createSchedule({ cron: "* * * * *", timezone: "UTC" });
    await advanceTo("2027-11-21T09:00:30Z", 400 * 24 * HOUR_MS);
    await start();
    expect(await runTimes()).toEqual(["2027-11-21T09:00"]);
    await advanceTo("2027-11-21T09:01:00Z");
    expect(await runTimes()).toEqual(["2027-11-21T09:00", "2027-11-21T09:01"]);
  });

  test("is not caught up for a time that had passed when it was set", async () => {
    const { id } = await createSchedule({ cron: "0 3 * * *", timezone: "UTC" });
    await advanceTo("2026-11-22T02:00:00Z", 24 * HOUR_MS);
    await start();
    await expectOk(apiClient.put(`discovery/schedules/${id}`, { name: "nightly", cron: "0 1 * * *", kind: "sweep" }));
    await settle();
    expect(await runTimes()).toEqual([]);
    await advanceTo("2026-11-23T01:00:00Z");
    expect(await runTimes()).toEqual(["2026-11-23T01:00"]);
  });

  test("takes effect when created, changed, disabled, enabled and deleted", async () => {
    await start();
    const { id } = await createHourly();
    const change = (fields: JsonRecord) =>
      expectOk(
        apiClient.put(`discovery/schedules/${id}`, { name: "nightly", cron: "30 * * * *", kind: "sweep", ...fields }),
      );
    await advanceTo("2026-11-21T10:10:00Z");
    expect(await runTimes()).toEqual(["2026-11-21T10:00"]);
    await change({});
    await advanceTo("2026-11-21T11:10:00Z");
    expect((await runTimes()).slice(1)).toEqual(["2026-11-21T10:30"]);
    await change({ is_enabled: false });
    await advanceTo("2026-11-21T13:10:00Z");
    expect(await runTimes()).toHaveLength(2);
    await change({ is_enabled: true });
    await advanceTo("2026-11-21T13:40:00Z");
    expect((await runTimes()).slice(2)).toEqual(["2026-11-21T13:30"]);
    await expectOk(apiClient.delete(`discovery/schedules/${id}`));
    await advanceTo("2026-11-21T18:00:00Z");
    expect(await runTimes()).toHaveLength(3);
    expect(timers.count).toBe(0);
  });

  test("is skipped while its last scan runs or waits, and not caught up", async () => {
    await createHourly();
    await start();
    const held = holdProbes();
    await advanceTo("2026-11-21T12:30:00Z");
    await held.reached;
    expect(await runTimes()).toEqual(["2026-11-21T10:00"]);
    expect(
      appliance.logLines
        .filter((line) => line.includes("scheduled_scan_passed_over"))
        .map((line) => JSON.parse(line.slice(line.indexOf("{"))).due_at),
    ).toEqual(["2026-11-21T11:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
    held.release();
    await settle();
    await stop();
    await start();
    expect(await runTimes()).toHaveLength(1);
    await advanceTo("2026-11-21T13:00:00Z");
    expect((await runTimes()).slice(1)).toEqual(["2026-11-21T13:00"]);
  });

  test("waits its turn during another scan of the network, and runs once", async () => {
    await createHourly();
    await start();
    const held = holdProbes();
    const running = await startScan(appliance, { kind: "sweep" });
    await held.reached;
    await advanceTo("2026-11-21T11:30:00Z");
    expect(
      ((await apiClient.get("discovery/scans")).data as JsonRecord[]).map(
        ({ status, schedule_id }) => `${status} ${schedule_id === null}`,
      ),
    ).toEqual(["Running true", "Queued false"]);
    held.release();
    await waitForScan(running.id);
  });

  test("has a reserved slot when all others are taken", async () => {
    const { id } = await createHourly();
    await start();
    const held = holdProbes();
    await startScan(appliance, { kind: "sweep" });
    await held.reached;
    let isFull = false;
    while (!isFull) {
      const { client } = newApiKey({ userId: (await newUser({ role: "Admin" })).id });
      const responses = [1, 2, 3].map(() =>
        client.post("discovery/scans", { network_id: first.networkId, kind: "sweep" }),
      );
      isFull = (await Promise.all(responses)).some(({ status }) => status === 409);
    }
    await advanceTo("2026-11-21T10:10:00Z");
    const { data } = await apiClient.get("discovery/scans?status=Queued");
    expect((data as JsonRecord[]).map(({ schedule_id }) => schedule_id)).toEqual([
      ...Array(SCANS_WAITING_MAX).fill(null),
      id,
    ]);
    held.release();
  });

  test("is not retried after a lack of slots until the next start", async () => {
    await createHourly();
    const { writes } = appliance;
    const run = writes.run.bind(writes);
    writes.run = async (command, ...rest) => {
      if (command === "discovery.queue") throw new Error("no room");
      return run(command, ...rest);
    };
    await start();
    await advanceTo("2026-11-21T10:30:00Z");
    expect(appliance.logLines.filter((line) => line.includes("scheduled_scan_not_queued"))).toHaveLength(1);
    await stop();
    writes.run = run;
    await start();
    expect(await runTimes()).toEqual(["2026-11-21T10:30"]);
  });

  test("is waited for within the timer limit if due years ahead", async () => {
    await createSchedule({ cron: "0 0 29 2 *", timezone: "UTC" });
    await start();
    expect(timers.count).toBe(1);
    await advanceTo("2028-02-28T23:59:00Z", 20 * 24 * HOUR_MS);
    expect(await runTimes()).toEqual([]);
    await advanceTo("2028-02-29T00:00:00Z");
    expect(await runTimes()).toEqual(["2028-02-29T00:00"]);
    expect(longestMs).toBeLessThan(2 ** 31);
  });

  test("notices clock changes", async () => {
    await createSchedule({ cron: "0 3 * * *", timezone: "UTC" });
    await start();
    // The clock is set, not advanced: no timer fires.
    clock.advance(18 * HOUR_MS - 60_000);
    timers.pass(0);
    await settle();
    await advanceTo(formatInstant(clock.now() + 15 * 60_000));
    expect((await runTimes()).map((time) => time.slice(0, 13))).toEqual(["2026-11-22T03"]);
  });

  const MONTH_MS = 30 * 24 * HOUR_MS;

  test("continues immediately when a clock far ahead is corrected", async () => {
    await createHourly();
    // Independent of the clock, like those of a system.
    const timers = new ManualTimers();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += HOUR_MS / 6) {
        clock.advance(HOUR_MS / 6);
        timers.advance(HOUR_MS / 6);
        await settle();
      }
    };
    await start(appliance.scans, timers);
    clock.advance(MONTH_MS);
    await pass(HOUR_MS);
    const before = (await runTimes()).length;
    clock.advance(-MONTH_MS);
    await pass(3 * HOUR_MS);
    expect(await runTimes()).toHaveLength(before + 3);
  });

  test("continues after a start when a clock far ahead was corrected in the meantime", async () => {
    await createHourly();
    clock.advance(MONTH_MS);
    await start();
    await stop();
    expect(await runTimes()).toHaveLength(1);
    clock.advance(-MONTH_MS);
    await start();
    await advanceTo("2026-11-21T11:10:00Z");
    expect(await runTimes()).toHaveLength(3);
  });

  test("runs on time if created while the ledger was ahead of the clock", async () => {
    clock.advance(MONTH_MS);
    await expectOk(apiClient.post("networks", { name: "later", tags: [] }));
    clock.advance(-MONTH_MS);
    await createHourly();
    await start();
    await advanceTo("2026-11-21T10:10:00Z");
    expect(await runTimes()).toHaveLength(1);
  });

  test("runs once if the clock is set back a little", async () => {
    await createHourly();
    await start();
    await advanceTo("2026-11-21T10:00:01Z");
    expect(await runTimes()).toHaveLength(1);
    clock.advance(-5_000);
    await stop();
    await start();
    await advanceTo("2026-11-21T10:30:00Z");
    expect(await runTimes()).toHaveLength(1);
  });

  test("is independent for each network", async () => {
    const otherNetworkId = (await newNetwork()).id;
    const hourly = await createHourly();
    const halfHourly = await createSchedule({ network_id: otherNetworkId, cron: "0,30 * * * *", timezone: "UTC" });
    await start();
    await advanceTo("2026-11-21T10:40:00Z");
    const listed = async (network: string) =>
      ((await apiClient.get(`discovery/scans?network_id=${network}`)).data as JsonRecord[]).map(
        ({ schedule_id }) => schedule_id,
      );
    expect(await listed(first.networkId)).toEqual([hourly.id]);
    expect(await listed(otherNetworkId)).toEqual([halfHourly.id, halfHourly.id, halfHourly.id]);
  });
});
