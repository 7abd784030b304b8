// Schedules: times, type and targets of a network's scans, and next due times.

import { describe, expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, invalid, type JsonRecord, refusal } from "../support/appliance/factories.ts";
import { csvRecords } from "../support/contract/csv.ts";
import { networkReference } from "../support/contract/record-subject.ts";
import { describeRecords } from "../support/contract/record-suite.ts";

const PATH = "/api/v1/discovery/schedules";

const appliance = applianceForEach();
const { clock, first, owner, newApiKey, newNetwork, newSchedule, tick, watchWrites } = appliance;
const { versionsOf, writtenIn, newMember } = appliance;

describeRecords(
  {
    path: PATH,
    entity: "schedule",
    writeRole: "Admin",
    scope: "in a network",
    // Enabled schedules report their next due time, relative to now; responses about the past do not.
    body: (networkId, position) => ({
      network_id: networkId,
      name: `Night ${position}`,
      cron: "30 2 * * 1-5",
      timezone: "Europe/Berlin",
      kind: "full",
      targets: ["10.2.0.0/16", "192.0.2.7"],
      is_enabled: false,
    }),
    change: { field: "kind", to: (body) => (body.kind === "full" ? "sweep" : "full") },
    unique: "name",
    invalid: {
      body: {
        id: 1,
        network_id: "x",
        name: " ",
        cron: "60 2 * * *",
        timezone: "Mars/Phobos",
        kind: "all",
        targets: ["10.2.0.1/16", "10.2.0.0/16", "x"],
        is_enabled: "yes",
        next: null,
      },
      paths: ["/id", "/name", "/cron", "/timezone", "/kind", "/targets/0", "/targets/2", "/is_enabled", "/next"],
    },
    references: [networkReference()],
  },
  appliance,
);

const post = (body: JsonRecord) =>
  owner.post(PATH, { network_id: first.networkId, name: "Night", cron: "30 2 * * *", kind: "full", ...body });

describe("a schedule", () => {
  test("is in UTC, enabled and for the network's subnets by default", async () => {
    expect(await expectOk(post({}))).toMatchObject({ timezone: "UTC", targets: null, is_enabled: true });
  });

  test.each([
    ["  5\t4 * * * ", "5 4 * * *"],
    ["*/15 8-18 * JAN-MAR MON-FRI", "*/15 8-18 * JAN-MAR MON-FRI"],
    ["@Daily", "@daily"],
    ["0 0 29 2 *", "0 0 29 2 *"],
    ["0 3 * * 1#2", "0 3 * * 1#2"],
    ["0 3 L * *", "0 3 L * *"],
  ])("accepts the cron expression %j, normalized to %j", async (cron, canonical) => {
    expect(await expectOk(post({ cron }))).toMatchObject({ cron: canonical });
  });

  test.each([
    [""],
    ["* * * *"],
    ["0 * * * * *"],
    ["0 0 * * * 2027"],
    ["60 * * * *"],
    ["? ? * * *"],
    ["0 0 30 2 *"],
    ["0 0 31 4,6 *"],
    ["@reboot"],
    ["@fortnightly"],
    ["2026-11-21T09:15:00Z"],
    ["every night"],
    [`${"1,".repeat(130)}1 * * * *`],
    [5],
    [null],
  ])("rejects the cron expression %j", async (cron) => {
    const expectNothingWritten = watchWrites();
    const response = await post({ cron });
    expect(response).toMatchObject(invalid({ path: "/cron" }));
    expectNothingWritten();
  });

  test("explains why a cron expression is rejected", async () => {
    expect((await post({ cron: "0 0 30 2 *" })).body.error).toContain("must be a cron expression with a next run");
  });

  test.each([
    ["europe/berlin", "Europe/Berlin"],
    ["UTC", "UTC"],
    ["Asia/Calcutta", "Asia/Calcutta"],
    ["Etc/GMT+2", "Etc/GMT+2"],
  ])("accepts the time zone %s, normalized to %s", async (timezone, canonical) => {
    expect(await expectOk(post({ timezone }))).toMatchObject({ timezone: canonical });
  });

  test.each([["+02:00"], ["GMT+2"], ["Europe/Atlantis"], [""], ["local"], [2], [null]])(
    "rejects the time zone %j",
    async (timezone) => {
      expect(await post({ timezone })).toMatchObject(invalid({ path: "/timezone", value: timezone }));
    },
  );

  test("has canonical, distinct targets, at most 1,000 of them", async () => {
    expect(
      await expectOk(post({ targets: ["2001:DB8::1", "10.2.0.0/16", "2001:db8:0::1", "10.2.0.0/16"] })),
    ).toMatchObject({ targets: ["2001:db8::1", "10.2.0.0/16"] });
    for (const [targets, path] of [
      [[], "/targets"],
      [Array.from({ length: 1_001 }, (_, n) => `10.${n >> 8}.${n & 255}.1`), "/targets"],
      [["10.2.0.1/16"], "/targets/0"],
      [["010.2.0.1"], "/targets/0"],
      [["10.2.0.0/"], "/targets/0"],
      [["fe80::1%eth0"], "/targets/0"],
      ["10.2.0.0/16", "/targets"],
    ] as const) {
      expect(await post({ name: "x", targets })).toMatchObject(invalid({ path }));
    }
    expect(
      await expectOk(
        post({ name: "most", targets: Array.from({ length: 1_000 }, (_, n) => `10.${n >> 8}.${n & 255}.1`) }),
      ),
    ).toMatchObject({ name: "most" });
  });

  test.each([
    ["oversized targets", ["192.0.2.7", "10.0.0.0/8"], "/targets/1"],
    ["oversized IPv6 targets", ["2001:db8::/64"], "/targets/0"],
    ["non-host addresses", ["224.0.0.1"], "/targets/0"],
    ["more addresses than one scan allows", Array.from({ length: 17 }, (_, n) => `10.${n}.0.0/16`), "/targets/0"],
  ])("is refused with %s, as every scan of it would be", async (_case, targets, path) => {
    const refusedResponse = invalid({ path });
    const response = await post({ targets });
    expect(response).toMatchObject(refusedResponse);
    // A schedule lacks this option.
    expect(response.text).not.toContain("allow_large");
    const { id, name, cron, kind } = await newSchedule({});
    expect(await owner.put(`${PATH}/${id}`, { name, cron, kind, targets })).toMatchObject(refusedResponse);
  });

  test("returns to the network's subnets by null, and keeps its targets when they are omitted", async () => {
    const schedule = await newSchedule({ targets: ["10.2.0.0/16"] });
    const { name, cron, kind } = schedule;
    expect(await expectOk(owner.put(`${PATH}/${schedule.id}`, { name, cron, kind }))).toEqual(schedule);
    tick();
    expect(await expectOk(owner.put(`${PATH}/${schedule.id}`, { name, cron, kind, targets: null }))).toMatchObject({
      targets: null,
    });
    expect(versionsOf(schedule.id).at(-1)).toMatchObject({ operation: "Updated", changed: ["targets"] });
  });

  test("has a name unique within its network", async () => {
    const otherNetwork = await newNetwork();
    await newSchedule({ name: "Night" });
    await newSchedule({ name: "Night", network_id: otherNetwork.id });
    expect((await owner.get(`${PATH}?network_id=${otherNetwork.id}`)).body.meta.pagination.total_count).toBe(1);
  });

  test("blocks deletion of its network, and is deleted with it by a cascade", async () => {
    const network = await newNetwork();
    const schedule = await newSchedule({ network_id: network.id });
    expect(await owner.delete(`networks/${network.id}`)).toMatchObject(
      refusal(409, "entity_in_use", { dependants: { schedules: 1 } }),
    );
    await expectOk(owner.delete(`networks/${network.id}?cascade=true`));
    expect(writtenIn()).toMatchObject({ "Deleted network": 1, "Deleted schedule": 1 });
    expect((await owner.get(`${PATH}/${schedule.id}`)).status).toBe(404);
  });

  test("is restored, even after deletion", async () => {
    const schedule = await newSchedule({ cron: "30 2 * * *", targets: ["10.2.0.0/16"] });
    tick();
    const at = clock.text();
    tick();
    await expectOk(owner.put(`${PATH}/${schedule.id}`, { ...schedule, cron: "@hourly" }));
    await expectOk(owner.delete(`${PATH}/${schedule.id}`));
    expect((await expectOk(owner.post(`${PATH}/${schedule.id}/restore`, { at }))).actions).toMatchObject([
      { entity_type: "schedule", name: schedule.name, action: "Create" },
    ]);
    const restored = (await owner.get(`${PATH}/${schedule.id}`)).data;
    expect(restored).toEqual({ ...schedule, updated_at: restored.updated_at, valid_from: restored.valid_from });
    const member = await newMember();
    expect(await member.client.post(`${PATH}/${schedule.id}/restore`, { at })).toMatchObject(
      refusal(403, "auth_permission_denied"),
    );
  });
});

describe("the next run of a schedule", () => {
  const advanceTo = (text: string) => clock.advance(Date.parse(text) - clock.now());

  test("is relative to now in its time zone, in every response about the current state", async () => {
    // Sessions expire; keys do not.
    const { client } = newApiKey();
    advanceTo("2031-03-29T00:00:00.000Z");
    const schedule = await newSchedule({ timezone: "Europe/Berlin" }, client);
    expect(schedule.next_run_at).toBe("2031-03-29T01:30:00.000Z");
    for (const [now, next] of [
      ["2031-03-29T01:29:59.999Z", "2031-03-29T01:30:00.000Z"],
      // The clocks change from 2:00 to 3:00 that night.
      ["2031-03-29T01:30:00.000Z", "2031-03-30T01:00:00.000Z"],
      ["2031-03-30T01:00:00.000Z", "2031-03-31T00:30:00.000Z"],
    ] as const) {
      advanceTo(now);
      expect([now, (await client.get(`${PATH}/${schedule.id}`)).data.next_run_at]).toEqual([now, next]);
      expect((await client.get(PATH)).data[0].next_run_at).toBe(next);
      expect((await client.get(`${PATH}?limit=0`)).data[0].next_run_at).toBe(next);
      expect((await client.get(`${PATH}?order_by=name`)).data[0].next_run_at).toBe(next);
      expect(csvRecords((await client.get(`${PATH}/export/csv`)).text)[0]).toMatchObject({ next_run_at: next });
      // A due time writes nothing.
      expect(versionsOf(schedule.id)).toHaveLength(1);
    }
  });

  test("is null while the schedule is not enabled", async () => {
    const schedule = await newSchedule({ is_enabled: false });
    expect(schedule.next_run_at).toBeNull();
    const enabled = await expectOk(owner.put(`${PATH}/${schedule.id}`, { ...schedule, is_enabled: true }));
    expect(enabled.next_run_at).not.toBeNull();
    expect(versionsOf(schedule.id).at(-1)).toMatchObject({ changed: ["is_enabled"] });
  });

  test("is null in every response about the past, because those must not change later", async () => {
    const schedule = await newSchedule();
    const { id, name } = schedule as { id: string; name: string };
    tick();
    const past = clock.text();
    tick();
    await expectOk(owner.put(`${PATH}/${id}`, { ...schedule, cron: "@hourly" }));
    tick();
    expect((await owner.get(`${PATH}/${id}?at=${past}`)).data).toMatchObject({
      name,
      cron: "30 2 * * *",
      next_run_at: null,
    });
    expect((await owner.get(`${PATH}?at=${past}`)).data).toMatchObject([{ next_run_at: null }]);
    expect(csvRecords((await owner.get(`${PATH}/export/csv?at=${past}`)).text)[0]).toMatchObject({ next_run_at: "" });
    expect(
      (await owner.get(`${PATH}/${id}/history`)).data.map((version: JsonRecord) => version.record.next_run_at),
    ).toEqual([null, null]);
    const changes = (await owner.get("changes?limit=1000&types=schedule")).data;
    expect(changes.map((change: JsonRecord) => [change.operation, change.record.next_run_at])).toEqual([
      ["Created", null],
      ["Updated", null],
    ]);
    expect((await owner.get(`diff?from=${past}&types=schedule`)).data.changed).toMatchObject([
      { fields: [{ field: "cron", from: "30 2 * * *", to: "@hourly" }] },
    ]);
    expect((await expectOk(owner.delete(`${PATH}/${id}`))).next_run_at).toBeNull();
  });

  test("affects the ETag, but not If-Match", async () => {
    const schedule = await newSchedule({ cron: "* * * * *" });
    const schedulePath = `${PATH}/${schedule.id}`;
    const etag = (await owner.get(schedulePath)).headers.get("etag") as string;
    expect((await owner.get(schedulePath, { "if-none-match": etag })).status).toBe(304);
    clock.advance(60_000);
    expect(await owner.get(schedulePath, { "if-none-match": etag })).toMatchObject({ status: 200 });
    expect((await owner.put(schedulePath, { ...schedule, name: "renamed" }, { "if-match": etag })).status).toBe(200);
  });

  test("may be sent back, and is never stored", async () => {
    const schedule = await newSchedule();
    const expectNothingWritten = watchWrites();
    expect(
      await expectOk(owner.put(`${PATH}/${schedule.id}`, { ...schedule, next_run_at: "1999-01-01T00:00:00.000Z" })),
    ).toEqual(schedule);
    expectNothingWritten();
    const stored = appliance.reader.db.query<{ members: string }, []>("SELECT members FROM schedules").get()?.members;
    expect(stored).not.toContain("next_run_at");
  });
});

describe("the due times of an expression", () => {
  const fetchDue = (query: Record<string, string>, caller = owner) =>
    caller.get(`${PATH}/due?${new URLSearchParams(query)}`);

  test("are previewed in its time zone before a schedule uses it", async () => {
    // Sessions expire; keys do not.
    const { client } = newApiKey();
    clock.advance(Date.parse("2031-03-28T12:00:00.000Z") - clock.now());
    expect((await fetchDue({ cron: " 30  2 * * * ", timezone: "europe/berlin" }, client)).data).toEqual({
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      // The clocks change from 2:00 to 3:00 in the second night.
      due_at: [
        "2031-03-29T01:30:00.000Z",
        "2031-03-30T01:00:00.000Z",
        "2031-03-31T00:30:00.000Z",
        "2031-04-01T00:30:00.000Z",
        "2031-04-02T00:30:00.000Z",
      ],
    });
    expect((await fetchDue({ cron: "@hourly", count: "2" }, client)).data).toEqual({
      cron: "@hourly",
      timezone: "UTC",
      due_at: ["2031-03-28T13:00:00.000Z", "2031-03-28T14:00:00.000Z"],
    });
  });

  test("match those of its schedule", async () => {
    const { cron, timezone, next_run_at } = await newSchedule({ cron: "5 4 * * 0", timezone: "Asia/Tokyo" });
    expect((await fetchDue({ cron, timezone, count: "1" })).data.due_at).toEqual([next_run_at]);
  });

  test.each([
    [{}, ["/cron"]],
    [{ cron: "30 2 * *" }, ["/cron"]],
    [{ cron: "0 0 30 2 *", timezone: "+02:00", count: "0" }, ["/cron", "/timezone", "/count"]],
    [{ cron: "@daily", count: "21" }, ["/count"]],
  ] as const)("are refused with the error: %p", async (query, paths) => {
    const { status, body } = await fetchDue({ ...query } as Record<string, string>);
    expect([status, body.params.issues.map(({ path }: JsonRecord) => path)]).toEqual([400, [...paths]]);
  });
});
