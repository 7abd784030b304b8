// Log through the API: its last lines verbatim, for Owners only, without secrets.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";

const appliance = applianceForEach();
const { anonymous, newApiKey, newUser, owner } = appliance;

const lines = async (query = ""): Promise<JsonRecord[]> => (await owner.get(`log${query}`)).data;

describe("the log tail", () => {
  test("has the written lines, oldest first", async () => {
    await anonymous.post("/api/auth/login", { email: "owner@first.example", password: "not the password" });
    appliance.log.info("scan_started", { kind: "a sweep" });
    const written = [...appliance.logLines];
    const entries = await lines("?limit=1000");
    expect(entries.map(({ text }) => text)).toEqual(written);
    expect(entries.filter(({ at, text }) => !text.startsWith(at))).toEqual([]);
    expect(entries.at(-1)).toMatchObject({ at: expect.any(String), level: "info", event: "scan_started" });
  });

  test("is limited by count and minimum level", async () => {
    for (let n = 0; n < 5; n += 1) await owner.get(`vlans?offset=${n}`);
    appliance.log.warn("disk_nearly_full", { free: 7 });
    appliance.log.error("disk_full");
    await owner.get("hosts");
    expect(await lines("?limit=2")).toHaveLength(2);
    expect((await lines("?level=warn")).map(({ event }) => event)).toEqual(["disk_nearly_full", "disk_full"]);
    expect((await lines("?level=error&limit=1")).map(({ level, event }) => [level, event])).toEqual([
      ["error", "disk_full"],
    ]);
    for (const query of ["?limit=0", "?limit=1001", "?level=debug"])
      expect((await owner.get(`log${query}`)).body.code).toBe("validation_failed");
  });

  test("keeps a thousand lines, fewer of long ones", async () => {
    for (let n = 0; n < 1_200; n += 1) appliance.log.info("n", { n });
    expect(await lines("?limit=1000")).toHaveLength(1_000);
    expect((await lines("?limit=1000")).at(0)?.text).toContain("n=20");
    for (let n = 0; n < 300; n += 1) appliance.log.info("long", { text: "x".repeat(7_000) });
    const long = await lines("?limit=1000");
    expect(long.length).toBeLessThan(150);
    expect(long.length).toBeGreaterThan(100);
  });

  test("is followed without missing or repeating a line", async () => {
    appliance.log.info("n", { n: -1 });
    const start = (await owner.get("log?limit=1")).body.meta.log;
    expect(start).toMatchObject({ dropped: 0, is_restarted: false, has_more: false });
    let { after } = start;
    const entries: JsonRecord[] = [];
    const follow = async (query = "") => {
      const { data, body } = await owner.get(`log?after=${after}&mark=${encodeURIComponent(start.mark)}${query}`);
      entries.push(...data);
      after = body.meta.log.after;
      return body.meta.log;
    };
    const random = seededRandom(97);
    const first = appliance.logLines.length;
    for (let n = 0; n < 60; n += 1) {
      for (let lines = random.integer(9); lines > 0; lines -= 1) appliance.log.info("n", { n });
      expect(await follow(`&limit=${1 + random.integer(8)}`)).toMatchObject({ dropped: 0, is_restarted: false });
    }
    while ((await follow()).has_more);
    // A request's own log lines appear in the next one.
    expect(entries.map(({ text }) => text)).toEqual(appliance.logLines.slice(first, first + entries.length));
    expect(entries.length).toBeGreaterThan(appliance.logLines.length - first - 1);
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => start.after + 1 + index));
  });

  test("skips lines of other levels if limited to one", async () => {
    for (let n = 0; n < 6; n += 1) {
      appliance.log.info("n");
      if (n % 2 === 0) appliance.log.warn("w", { n });
    }
    const first = (await owner.get("log?after=0&level=warn&limit=2")).body;
    expect([first.data.length, first.meta.log.has_more, first.meta.log.after]).toEqual([
      2,
      true,
      first.data[1].sequence,
    ]);
    const rest = (await owner.get(`log?after=${first.meta.log.after}&level=warn&limit=2`)).body;
    expect([rest.data.length, rest.meta.log.has_more]).toEqual([1, false]);
    expect(rest.meta.log.after).toBeGreaterThan(rest.data[0].sequence);
  });

  test("reports dropped lines, and restarts of the appliance", async () => {
    expect((await owner.get("log?after=0&mark=")).body.meta.log).toMatchObject({ after: 0, mark: "" });
    appliance.log.info("first");
    const { after, mark } = (await owner.get("log")).body.meta.log;
    for (let n = 0; n < 1_300; n += 1) appliance.log.info("n", { n });
    const { data, meta } = (await owner.get(`log?after=${after}&mark=${encodeURIComponent(mark)}&limit=1000`)).body;
    expect(data).toHaveLength(1_000);
    expect(meta.log.dropped).toBe(data[0].sequence - after - 1);
    expect(meta.log.dropped).toBeGreaterThan(299);
    for (const query of [`after=${after}&mark=2026-01-01T00:00:00.000Z`, "after=9000000"]) {
      const again = (await owner.get(`log?${query}&limit=1000`)).body;
      expect(again.meta.log).toMatchObject({ is_restarted: true, mark, dropped: again.data[0].sequence - 1 });
    }
    expect((await owner.get("log?after=-1")).body.code).toBe("validation_failed");
  });

  test("contains no key or password from a request", async () => {
    const { key } = newApiKey({ permissions: "Owner" });
    await anonymous.get(`hosts?key=${key}`);
    await anonymous.post("/api/auth/login", { email: "owner@first.example", password: "hunter2 hunter2" });
    const text = JSON.stringify(await lines("?limit=1000"));
    expect(text).not.toContain(key.slice(8));
    expect(text).not.toContain("hunter2");
  });

  test("requires an Owner's session, and a single organization", async () => {
    expect((await anonymous.get("log")).status).toBe(401);
    expect((await (await newUser({ role: "Admin" })).client.get("log")).body.code).toBe("auth_permission_denied");
    expect((await newApiKey({ permissions: "Owner" }).client.get("log")).body.code).toBe("auth_session_required");
    await appliance.newOrganization("Second");
    expect((await owner.get("log")).body.code).toBe("auth_permission_denied");
  });
});
