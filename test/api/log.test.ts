// The log through the API: the last lines as they were written, for an Owner alone, and no secret in any of them.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import type { Wire } from "../support/appliance/factories.ts";

const appliance = applianceForEach();
const { anonymous, newApiKey, newUser, owner } = appliance;

const lines = async (query = ""): Promise<Wire[]> => (await owner.get(`log${query}`)).data;

describe("the last lines of the log", () => {
  test("are those that were written, oldest first", async () => {
    await anonymous.post("/api/auth/login", { email: "owner@first.example", password: "not the password" });
    appliance.log.info("scan_started", { kind: "a sweep" });
    const written = [...appliance.logLines];
    const told = await lines("?limit=1000");
    expect(told.map(({ text }) => text)).toEqual(written);
    expect(told.filter(({ at, text }) => !text.startsWith(at))).toEqual([]);
    expect(told.at(-1)).toMatchObject({ at: expect.any(String), level: "info", event: "scan_started" });
  });

  test("are so many, and of a level and above", async () => {
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

  test("are the last thousand, and fewer of long ones", async () => {
    for (let n = 0; n < 1_200; n += 1) appliance.log.info("n", { n });
    expect(await lines("?limit=1000")).toHaveLength(1_000);
    expect((await lines("?limit=1000")).at(0)?.text).toContain("n=20");
    for (let n = 0; n < 300; n += 1) appliance.log.info("long", { text: "x".repeat(7_000) });
    const long = await lines("?limit=1000");
    expect(long.length).toBeLessThan(150);
    expect(long.length).toBeGreaterThan(100);
  });

  test("hold no key and no password that somebody sent", async () => {
    const { key } = newApiKey({ permissions: "Owner" });
    await anonymous.get(`hosts?key=${key}`);
    await anonymous.post("/api/auth/login", { email: "owner@first.example", password: "hunter2 hunter2" });
    const text = JSON.stringify(await lines("?limit=1000"));
    expect(text).not.toContain(key.slice(8));
    expect(text).not.toContain("hunter2");
  });

  test("are told to an Owner who is signed in, while there is one organization", async () => {
    expect((await anonymous.get("log")).status).toBe(401);
    expect((await (await newUser({ role: "Admin" })).client.get("log")).body.code).toBe("auth_permission_denied");
    expect((await newApiKey({ permissions: "Owner" }).client.get("log")).body.code).toBe("auth_session_required");
    await appliance.newOrganization("Second");
    expect((await owner.get("log")).body.code).toBe("auth_permission_denied");
  });
});
