// Scheduled scans on a manual clock.

import { beforeEach, describe, expect, test } from "bun:test";
import { formatInstant, parseInstant } from "../../src/base/instant.ts";
import { RecentLines } from "../../src/base/recent-lines.ts";
import type { Timers } from "../../src/base/timers.ts";
import { SCANS_WAITING_MAX } from "../../src/discovery/scans/scan.ts";
import { type ScheduledScans, ScheduleRunner } from "../../src/discovery/scans/schedule-runner.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Client } from "../support/appliance/client.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { asked } from "../support/appliance/scans.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const HOUR_MS = 3_600_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

const appliance = applianceForEach({}, () => runner?.stop());
const { clock, communityOf, first, holdBack, newApiKey, newNetwork, newSubnet, newUser, probes, timers, untilEnded } =
  appliance;
/** By API key: a session would expire within the simulated weeks. */
let by: Client;
let runner: ScheduleRunner | null;
/** The longest wait so far. */
let longestMs: number;

beforeEach(async () => {
  by = newApiKey().client;
  runner = null;
  longestMs = 0;
  await newSubnet({ cidr: "10.0.0.0/30" });
});

function schedule(fields: Wire = {}): Promise<Wire> {
  return made(
    by.post("discovery/schedules", {
      network_id: first.networkId,
      name: "nightly",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      kind: "sweep",
      ...fields,
    }),
  );
}

const hourly = () => schedule({ cron: "0 * * * *", timezone: "UTC" });

/** Starts schedules like the appliance. */
async function start(scans: ScheduledScans = appliance.scans, those: Timers = timers): Promise<void> {
  const timers: Timers = {
    after: (ms, action) => {
      longestMs = Math.max(longestMs, ms);
      return those.after(ms, action);
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
  await settled();
}

async function stop(): Promise<void> {
  runner?.stop();
  await settled();
}

/** Yields until all pending work is done. */
async function settled(): Promise<void> {
  for (let each = 0; each < 30; each += 1) await turn();
}

/** Advances time to a timestamp in steps. */
async function passTo(text: string, stepMs = 10 * 60_000): Promise<void> {
  const until = parseInstant(text) as number;
  while (clock.now() < until) {
    timers.pass(Math.min(stepMs, until - clock.now()));
    await settled();
  }
}

/** Request times of scans, to the minute. */
async function runs(): Promise<string[]> {
  const { data } = await by.get("discovery/scans?limit=0");
  return (data as Wire[]).map(({ requested_at }) => requested_at.slice(0, 16));
}

describe("a schedule", () => {
  test("scans its network whenever due, and is named as the scan's origin", async () => {
    const { id } = await schedule({ kind: "snmp", targets: ["10.0.0.1"] });
    await start();
    await passTo("2026-11-22T01:29:59Z");
    expect(await runs()).toEqual([]);
    await passTo("2026-11-22T01:30:00Z");
    expect(await runs()).toEqual(["2026-11-22T01:30"]);
    const [scan] = (await by.get("discovery/scans")).data as [Wire];
    expect(scan).toMatchObject({
      kind: "snmp",
      targets: ["10.0.0.1"],
      commit: true,
      allow_large: false,
      schedule_id: id,
      requested_by: { type: "System", id: null, name: "schedule nightly" },
    });
    expect((await untilEnded(scan.id)).status).toBe("Completed");
    await passTo("2026-11-24T12:00:00Z");
    expect(await runs()).toEqual(["2026-11-22T01:30", "2026-11-23T01:30", "2026-11-24T01:30"]);
  });

  test("uses the network's credentials for an Admin's targets, and otherwise in accepting subnets", async () => {
    const [subnet] = (await by.get("subnets")).data as [Wire];
    await made(by.put(`subnets/${subnet.id}`, { ...subnet, accepts_credentials: false }));
    await communityOf("public");
    await made(
      by.post("hosts", { network_id: first.networkId, name: "core", ip_addresses: [{ ip_address: "10.0.0.1" }] }),
    );
    const { id } = await schedule({ kind: "snmp", targets: ["10.0.0.1"] });
    await start();
    const asked = async (until: string) => {
      probes.asked.length = 0;
      await passTo(until, 24 * HOUR_MS);
      for (const scan of (await by.get("discovery/scans?limit=0")).data as Wire[]) await untilEnded(scan.id);
      return probes.asked.map(({ address }) => address);
    };
    expect(await asked("2026-11-22T02:00:00Z")).toEqual(["10.0.0.1"]);
    await made(
      by.put(`discovery/schedules/${id}`, { name: "nightly", cron: "30 2 * * *", kind: "snmp", targets: null }),
    );
    await settled();
    expect(await asked("2026-11-23T02:00:00Z")).toEqual([]);
    expect(await runs()).toHaveLength(2);
  });

  test("follows its time zone: right after a spring gap, and once in a repeated hour", async () => {
    await passTo("2027-03-27T00:00:00Z", 30 * 24 * HOUR_MS);
    await schedule();
    await start();
    await passTo("2027-03-30T12:00:00Z");
    // 02:30 does not exist on the 28th in Berlin: right after the gap, at 03:00 summer time.
    expect(await runs()).toEqual(["2027-03-27T01:30", "2027-03-28T01:00", "2027-03-29T00:30", "2027-03-30T00:30"]);
    await stop();
    await passTo("2027-10-30T12:00:00Z", 30 * 24 * HOUR_MS);
    await start();
    const before = (await runs()).length;
    await passTo("2027-11-01T12:00:00Z");
    expect((await runs()).slice(before)).toEqual(["2027-10-31T00:30", "2027-11-01T01:30"]);
  });

  test("missed while the appliance was down is caught up once, however often it was due", async () => {
    await hourly();
    await start();
    await passTo("2026-11-21T11:30:00Z");
    expect(await runs()).toEqual(["2026-11-21T10:00", "2026-11-21T11:00"]);
    await stop();
    await passTo("2026-11-23T07:30:00Z", HOUR_MS);
    expect(await runs()).toHaveLength(2);
    await start();
    expect((await runs()).slice(2)).toEqual(["2026-11-23T07:30"]);
    await passTo("2026-11-23T08:10:00Z");
    expect((await runs()).slice(3)).toEqual(["2026-11-23T08:00"]);
    await stop();
    await start();
    expect(await runs()).toHaveLength(4);
  });

  test("due every minute is caught up once after a year, too", async () => {
    await schedule({ cron: "* * * * *", timezone: "UTC" });
    await passTo("2027-11-21T09:00:30Z", 400 * 24 * HOUR_MS);
    await start();
    expect(await runs()).toEqual(["2027-11-21T09:00"]);
    await passTo("2027-11-21T09:01:00Z");
    expect(await runs()).toEqual(["2027-11-21T09:00", "2027-11-21T09:01"]);
  });

  test("is not caught up for a time that had passed when it was set", async () => {
    const { id } = await schedule({ cron: "0 3 * * *", timezone: "UTC" });
    await passTo("2026-11-22T02:00:00Z", 24 * HOUR_MS);
    await start();
    await made(by.put(`discovery/schedules/${id}`, { name: "nightly", cron: "0 1 * * *", kind: "sweep" }));
    await settled();
    expect(await runs()).toEqual([]);
    await passTo("2026-11-23T01:00:00Z");
    expect(await runs()).toEqual(["2026-11-23T01:00"]);
  });

  test("takes effect when created, changed, disabled, enabled and deleted", async () => {
    await start();
    const { id } = await hourly();
    const change = (fields: Wire) =>
      made(by.put(`discovery/schedules/${id}`, { name: "nightly", cron: "30 * * * *", kind: "sweep", ...fields }));
    await passTo("2026-11-21T10:10:00Z");
    expect(await runs()).toEqual(["2026-11-21T10:00"]);
    await change({});
    await passTo("2026-11-21T11:10:00Z");
    expect((await runs()).slice(1)).toEqual(["2026-11-21T10:30"]);
    await change({ is_enabled: false });
    await passTo("2026-11-21T13:10:00Z");
    expect(await runs()).toHaveLength(2);
    await change({ is_enabled: true });
    await passTo("2026-11-21T13:40:00Z");
    expect((await runs()).slice(2)).toEqual(["2026-11-21T13:30"]);
    await made(by.delete(`discovery/schedules/${id}`));
    await passTo("2026-11-21T18:00:00Z");
    expect(await runs()).toHaveLength(3);
    expect(timers.count).toBe(0);
  });

  test("is skipped while its last scan runs or waits, and not caught up", async () => {
    await hourly();
    await start();
    const held = holdBack();
    await passTo("2026-11-21T12:30:00Z");
    await held.reached;
    expect(await runs()).toEqual(["2026-11-21T10:00"]);
    expect(
      appliance.logLines
        .filter((line) => line.includes("scheduled_scan_passed_over"))
        .map((line) => JSON.parse(line.slice(line.indexOf("{"))).due_at),
    ).toEqual(["2026-11-21T11:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
    held.letGo();
    await settled();
    await stop();
    await start();
    expect(await runs()).toHaveLength(1);
    await passTo("2026-11-21T13:00:00Z");
    expect((await runs()).slice(1)).toEqual(["2026-11-21T13:00"]);
  });

  test("waits its turn during another scan of the network, and runs once", async () => {
    await hourly();
    await start();
    const held = holdBack();
    const running = await asked(appliance, { kind: "sweep" });
    await held.reached;
    await passTo("2026-11-21T11:30:00Z");
    expect(
      ((await by.get("discovery/scans")).data as Wire[]).map(
        ({ status, schedule_id }) => `${status} ${schedule_id === null}`,
      ),
    ).toEqual(["Running true", "Queued false"]);
    held.letGo();
    await untilEnded(running.id);
  });

  test("has a slot of its own when all others are taken", async () => {
    const { id } = await hourly();
    await start();
    const held = holdBack();
    await asked(appliance, { kind: "sweep" });
    await held.reached;
    let isFull = false;
    while (!isFull) {
      const { client } = newApiKey({ userId: (await newUser({ role: "Admin" })).id });
      const answers = [1, 2, 3].map(() =>
        client.post("discovery/scans", { network_id: first.networkId, kind: "sweep" }),
      );
      isFull = (await Promise.all(answers)).some(({ status }) => status === 409);
    }
    await passTo("2026-11-21T10:10:00Z");
    const { data } = await by.get("discovery/scans?status=Queued");
    expect((data as Wire[]).map(({ schedule_id }) => schedule_id)).toEqual([
      ...Array(SCANS_WAITING_MAX).fill(null),
      id,
    ]);
    held.letGo();
  });

  test("is not retried after a lack of slots until the next start", async () => {
    await hourly();
    const { writes } = appliance;
    const run = writes.run.bind(writes);
    writes.run = async (command, ...rest) => {
      if (command === "discovery.queue") throw new Error("no room");
      return run(command, ...rest);
    };
    await start();
    await passTo("2026-11-21T10:30:00Z");
    expect(appliance.logLines.filter((line) => line.includes("scheduled_scan_not_queued"))).toHaveLength(1);
    await stop();
    writes.run = run;
    await start();
    expect(await runs()).toEqual(["2026-11-21T10:30"]);
  });

  test("due years ahead is waited for within the timer limit", async () => {
    await schedule({ cron: "0 0 29 2 *", timezone: "UTC" });
    await start();
    expect(timers.count).toBe(1);
    await passTo("2028-02-28T23:59:00Z", 20 * 24 * HOUR_MS);
    expect(await runs()).toEqual([]);
    await passTo("2028-02-29T00:00:00Z");
    expect(await runs()).toEqual(["2028-02-29T00:00"]);
    expect(longestMs).toBeLessThan(2 ** 31);
  });

  test("notices clock changes", async () => {
    await schedule({ cron: "0 3 * * *", timezone: "UTC" });
    await start();
    // The clock is set, not advanced: no timer fires.
    clock.advance(18 * HOUR_MS - 60_000);
    timers.pass(0);
    await settled();
    await passTo(formatInstant(clock.now() + 15 * 60_000));
    expect((await runs()).map((each) => each.slice(0, 13))).toEqual(["2026-11-22T03"]);
  });

  const MONTH_MS = 30 * 24 * HOUR_MS;

  test("continues at once when a clock far ahead is corrected", async () => {
    await hourly();
    // Independent of the clock, like those of a system.
    const timers = new ManualTimers();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += HOUR_MS / 6) {
        clock.advance(HOUR_MS / 6);
        timers.advance(HOUR_MS / 6);
        await settled();
      }
    };
    await start(appliance.scans, timers);
    clock.advance(MONTH_MS);
    await pass(HOUR_MS);
    const before = (await runs()).length;
    clock.advance(-MONTH_MS);
    await pass(3 * HOUR_MS);
    expect(await runs()).toHaveLength(before + 3);
  });

  test("continues after a start when a clock far ahead was corrected in the meantime", async () => {
    await hourly();
    clock.advance(MONTH_MS);
    await start();
    await stop();
    expect(await runs()).toHaveLength(1);
    clock.advance(-MONTH_MS);
    await start();
    await passTo("2026-11-21T11:10:00Z");
    expect(await runs()).toHaveLength(3);
  });

  test("runs on time if created while the ledger was ahead of the clock", async () => {
    clock.advance(MONTH_MS);
    await made(by.post("networks", { name: "later", tags: [] }));
    clock.advance(-MONTH_MS);
    await hourly();
    await start();
    await passTo("2026-11-21T10:10:00Z");
    expect(await runs()).toHaveLength(1);
  });

  test("runs once if the clock is set back a little", async () => {
    await hourly();
    await start();
    await passTo("2026-11-21T10:00:01Z");
    expect(await runs()).toHaveLength(1);
    clock.advance(-5_000);
    await stop();
    await start();
    await passTo("2026-11-21T10:30:00Z");
    expect(await runs()).toHaveLength(1);
  });

  test("of each network is independent", async () => {
    const other = (await newNetwork()).id;
    const one = await hourly();
    const two = await schedule({ network_id: other, cron: "0,30 * * * *", timezone: "UTC" });
    await start();
    await passTo("2026-11-21T10:40:00Z");
    const listed = async (network: string) =>
      ((await by.get(`discovery/scans?network_id=${network}`)).data as Wire[]).map(({ schedule_id }) => schedule_id);
    expect(await listed(first.networkId)).toEqual([one.id]);
    expect(await listed(other)).toEqual([two.id, two.id, two.id]);
  });
});
